# SPDX-License-Identifier: MIT
"""Measures operations of pipelines, and what other programs need for the same.

Everything is in one process and warm: each round runs each operation once by
each program, so that a temporary slowdown of the machine affects all alike.
Before it is timed, each result is compared with NumPy's (of resampling: with
SciPy's); one that differs is reported and not measured.  The ratios are of the
times in the same round: their median, and the middle half.

All have the voxels in memory, and results are new memory, unless a row or a
column says otherwise: radio also reads them from their uncompressed file, which
is in the page cache.
"""

import argparse
import concurrent.futures
import importlib
import importlib.metadata
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REUSED, MEMCPY, READ = "radio, reused", "memcpy", "read, then NumPy"
FILE = "radio, from the file"
HERE = Path(__file__).resolve().parent
PROGRAMS = {"numpy": "numpy", "scipy": "scipy", "SimpleITK": "SimpleITK",
            "monai": "monai", "torchio": "torchio", "medrs": "medrs"}
TITLES = {"numpy": "NumPy", "scipy": "SciPy", "monai": "MONAI",
          "torchio": "TorchIO"}


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers ops")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--size", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--summary", type=Path)
    options = parser.parse_args()
    options.size = options.size or (48 if options.quick else 256)
    options.rounds = options.rounds or (2 if options.quick else 7)
    return options


def load(threads):
    """Imports the programs that are there, with as many threads."""
    found = {}
    for name, module in PROGRAMS.items():
        try:
            found[name] = importlib.import_module(module)
        except ImportError:
            print(f"bench-peers ops: {name} is left out: it is not "
                  "installed here", flush=True)
    if "scipy" in found:
        importlib.import_module("scipy.ndimage")
    if "SimpleITK" in found:
        found["SimpleITK"].ProcessObject.SetGlobalDefaultNumberOfThreads(
            threads)
    if "monai" in found or "torchio" in found:
        importlib.import_module("torch").set_num_threads(threads)
    return found


class Radio:
    """A volume, and reads of it with pipelines."""

    def __init__(self, library, volume):
        self.library, self.volume = library, volume

    def reader(self, text, shape, out=None):
        """Returns a function that reads the result, into out if given."""
        library = self.library
        volume = self.volume.apply(text) if text else self.volume
        box = library.Box.of((0,) * len(shape), shape)
        c, number = library.c, library.DTYPES.index("float32")

        # What ctypes takes to convert arguments is not what is measured.
        def arguments(to):
            return (volume.handle, c.byref(box), number,
                    c.c_void_p(to.ctypes.data), c.c_size_t(to.nbytes), None)

        known = None if out is None else arguments(out)

        def read():
            to = np.empty(shape, np.float32) if out is None else out
            library.check(library.lib.radio_volume_read(
                *(known or arguments(to))))
            return to
        return read


def write_image(file, array):
    """Writes a NIfTI-1 image of spacing 1; array is z, y, x."""
    header = np.zeros(1, np.dtype({
        "names": ["size", "dim", "type", "bits", "pixdim", "offset", "slope",
                  "sform", "rows", "magic"],
        "formats": ["<i4", ("<i2", 8), "<i2", "<i2", ("<f4", 8), "<f4",
                    "<f4", "<i2", ("<f4", 12), "S4"],
        "offsets": [0, 40, 70, 72, 76, 108, 112, 254, 280, 344],
        "itemsize": 352}))
    header["size"], header["type"], header["bits"] = 348, 16, 32
    header["dim"] = [3, *reversed(array.shape), 1, 1, 1, 1]
    header["pixdim"], header["offset"], header["slope"] = 1, 352, 1
    header["sform"], header["magic"] = 1, b"n+1"
    header["rows"] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]
    with open(file, "wb") as stream:
        stream.write(header.tobytes())
        stream.write(np.ascontiguousarray(array, "<f4").tobytes())


def make_array(shape):
    """Returns smooth values with noise, from -1000 to 2000 or so."""
    rng = np.random.default_rng(1)
    axes = [np.sin(np.linspace(0, 9 + i, n, dtype=np.float32))
            for i, n in enumerate(shape)]
    smooth = np.float32(400) * (axes[0][:, None, None] + axes[1][:, None]
                                + axes[2])
    return smooth + rng.normal(300, 40, shape).astype(np.float32)


def copy_by(threads, to, of):
    """Returns a function that copies by a number of threads."""
    pool = concurrent.futures.ThreadPoolExecutor(threads)
    cuts = [len(of) * i // threads for i in range(threads + 1)]

    def copy():
        list(pool.map(lambda i: np.copyto(to[cuts[i]:cuts[i + 1]],
                                          of[cuts[i]:cuts[i + 1]]),
                      range(threads)))
        return to
    return copy


def as_array(result):
    """Returns the voxels of any program's result."""
    if hasattr(result, "GetPixelIDValue"):
        return importlib.import_module("SimpleITK").GetArrayFromImage(result)
    return np.asarray(result, np.float32)


class Row:
    """An operation, the functions that do it, and the times of each."""

    def __init__(self, name, nbytes, functions, expected=None, base="radio",
                 tolerance=1e-4, aim=""):
        self.name, self.nbytes, self.aim = name, nbytes, aim
        self.functions, self.base = functions, base
        self.expected, self.tolerance = expected, tolerance
        self.times = {name: [] for name in functions}
        self.differing = {}
        self.times_a_run = 1

    def compare(self):
        """Removes the functions whose result is another one."""
        wanted = as_array(self.expected())
        scale = float(np.abs(wanted).max()) or 1
        for name, function in list(self.functions.items()):
            try:
                got = as_array(function())
                got = got.reshape(got.shape[-wanted.ndim:])
                error = (float(np.abs(got - wanted).max()) / scale
                         if got.shape == wanted.shape
                         else f"shape {got.shape}")
            except Exception as problem:  # of any of the programs
                error = f"{type(problem).__name__}: {problem}"[:100]
            if isinstance(error, str) or error > self.tolerance:
                self.differing[name] = error
                print(f"bench-peers ops: {self.name}: {name} is not "
                      f"measured, its result differs: {error}", flush=True)
                del self.functions[name]
                del self.times[name]

    def run(self, number):
        """Each round begins with another program, since some leave threads
        that spin for a while."""
        names = list(self.functions)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            function = self.functions[name]
            start = time.perf_counter()
            function()
            self.times[name].append(time.perf_counter() - start)

    def ratios(self, name):
        return [b / a for a, b in zip(self.times[self.base],
                                      self.times[name])]


def of_programs(programs, array):
    """Returns {row: {program: function}} of the operations on values and on
    the grid, in the words of each program."""
    rows = {name: {} for name in ("znorm", "rescale", "clamp", "flip x",
                                  "crop")}
    n = array.shape[0]
    mean, std = float(array.mean(dtype="f8")), float(array.std(dtype="f8"))
    low, high = float(array.min()), float(array.max())
    part = (slice(n // 8, n - n // 8),) * 3
    size = n - n // 8 * 2

    def put(program, **functions):
        for name, function in functions.items():
            rows[name.replace("flip", "flip x")][program] = function
    put("numpy",
        znorm=lambda: (array - np.float32(mean)) * np.float32(1 / std),
        rescale=lambda: (array - np.float32(low))
        * np.float32(1 / (high - low)),
        clamp=lambda: np.clip(array, np.float32(-200), np.float32(400)),
        flip=lambda: np.ascontiguousarray(array[:, :, ::-1]),
        crop=lambda: np.ascontiguousarray(array[part]))
    if "SimpleITK" in programs:
        sitk = programs["SimpleITK"]
        image = sitk.GetImageFromArray(array)
        put("SimpleITK",
            znorm=lambda: sitk.Normalize(image),
            rescale=lambda: sitk.RescaleIntensity(image, 0, 1),
            clamp=lambda: sitk.Clamp(image, lowerBound=-200, upperBound=400),
            flip=lambda: sitk.Flip(image, [True, False, False]),
            crop=lambda: sitk.RegionOfInterest(image, [size] * 3,
                                               [n // 8] * 3))
    if "medrs" in programs:
        medrs = programs["medrs"]
        image_of = medrs.MedicalImage(array)
        put("medrs",
            znorm=lambda: medrs.z_normalization(image_of).to_numpy(),
            rescale=lambda: medrs.rescale_intensity(
                image_of, (0.0, 1.0)).to_numpy(),
            clamp=lambda: medrs.clamp(image_of, -200.0, 400.0).to_numpy(),
            flip=lambda: image_of.flip([2]).to_numpy(),
            crop=lambda: medrs.crop_or_pad(image_of, [size] * 3).to_numpy())
    if "monai" in programs:
        import monai.transforms as mt
        import torch
        tensor = torch.from_numpy(array)[None]
        steps = {
            "znorm": mt.NormalizeIntensity(),
            "rescale": mt.ScaleIntensity(0, 1),
            "clamp": mt.ScaleIntensityRange(-200, 400, -200, 400, clip=True),
            "flip": mt.Flip(2),
            "crop": mt.Compose([mt.CenterSpatialCrop([size] * 3),
                                lambda t: t.contiguous()]),
        }
        put("monai", **{name: (lambda step=step: step(tensor))
                        for name, step in steps.items()})
    if "torchio" in programs:
        import torch
        tio = programs["torchio"]
        subject = tio.ScalarImage(tensor=torch.from_numpy(array)[None])
        steps = {
            "znorm": tio.ZNormalization(),
            "rescale": tio.RescaleIntensity((0, 1)),
            "clamp": tio.Clamp(-200, 400),
            "flip": tio.Flip(axes=(2,)),
            "crop": tio.Crop(n // 8),
        }
        put("torchio", **{name: (lambda step=step: step(subject).data)
                          for name, step in steps.items()})
    return rows


def pointwise_rows(options, programs, radio, file, array):
    n = options.size
    part = n - n // 8 * 2
    texts = {"znorm": "znorm", "rescale": "rescale 0,1",
             "clamp": "clamp -200,400", "flip x": "flip x",
             "crop": "crop " + ",".join([f"{n // 8}:{n - n // 8}"] * 3)}
    to = np.zeros(array.shape, np.float32)
    found = []
    for name, functions in of_programs(programs, array).items():
        shape = (part,) * 3 if name == "crop" else array.shape
        into = to.reshape(-1)[:part ** 3].reshape(shape) \
            if name == "crop" else to
        mine = {"radio": radio.reader(texts[name], shape),
                FILE: file.reader(texts[name], shape),
                REUSED: radio.reader(texts[name], shape, into),
                MEMCPY: copy_by(
                    options.threads, np.zeros(shape, np.float32),
                    np.ones(shape, np.float32))}
        row = Row(name, array.nbytes, {**mine, **functions},
                  expected=functions["numpy"],
                  aim="2 x the best, 0.7 of memcpy reused")
        copy = row.functions.pop(MEMCPY)
        row.compare()
        row.functions[MEMCPY] = copy
        found.append(row)
    return found


def resample_rows(options, programs, radio, file, array):
    """Linear, on the grid that keeps the field of view."""
    found = []
    for spacing in (2, 1.3):
        size = round(options.size / spacing)
        shape = (size,) * 3
        first = (spacing - 1) / 2
        try:
            mine = radio.reader(f"resample {spacing}", shape)
        except radio.library.RadioError as error:
            print(f"bench-peers ops: resample is not measured: {error}")
            return found
        functions = {"radio": mine, FILE: file.reader(f"resample {spacing}",
                                                      shape)}
        if "scipy" in programs:
            ndimage = programs["scipy"].ndimage
            functions["scipy"] = lambda f=first, s=spacing, shape=shape: \
                ndimage.affine_transform(
                    array, [s] * 3, offset=[f] * 3, output_shape=shape,
                    order=1, mode="nearest", prefilter=False)
        if "SimpleITK" in programs:
            sitk = programs["SimpleITK"]
            resampler = sitk.ResampleImageFilter()
            resampler.SetInterpolator(sitk.sitkLinear)
            resampler.SetSize([size] * 3)
            resampler.SetOutputSpacing([spacing] * 3)
            resampler.SetOutputOrigin([first] * 3)
            resampler.SetUseNearestNeighborExtrapolator(True)
            image = sitk.GetImageFromArray(array)
            functions["SimpleITK"] = lambda r=resampler, i=image: r.Execute(i)
        if len(functions) < 3:
            continue
        expected = functions.get("scipy") or functions["radio"]
        row = Row(f"resample {spacing}", array.nbytes, functions,
                  expected=expected, tolerance=1e-3,
                  aim="400 MB/s, 3 x SimpleITK")
        row.compare()
        found.append(row)
    return found


def fused_rows(options, radio, array):
    """Fused operations and reordered axes, relative to the plain read."""
    low, high = -200, 400
    to = np.zeros(array.shape, np.float32)
    plain = radio.reader("", array.shape, to)
    fused = radio.reader(f"linear 2,5 | clamp {low},{high} | rescale 0,1 from "
                         f"{low},{high}", array.shape, to)

    def passes():
        plain()
        np.multiply(to, np.float32(2), out=to)
        np.add(to, np.float32(5), out=to)
        np.clip(to, np.float32(low), np.float32(high), out=to)
        np.subtract(to, np.float32(low), out=to)
        np.multiply(to, np.float32(1 / (high - low)), out=to)
        return to
    rows = [Row("three operations fused", array.nbytes,
                {"plain read": plain, "radio": fused,
                 READ: passes}, base="plain read",
                aim="1.15 of the read; NumPy 3 x fused"),
            Row("reorient", array.nbytes,
                {"plain read": plain,
                 "radio": radio.reader("reorient LPS", array.shape, to),
                 "radio, permuted": radio.reader("reorient SAR", array.shape,
                                                 to)},
                base="plain read", aim="1.3 of the read")]
    if not np.allclose(fused().copy(), passes(), atol=1e-5):
        raise SystemExit("bench-peers ops: fused operations differ")
    return rows


def plane_rows(options, library):
    """Scaling of planes in place."""
    found = []
    for size in (64,) if options.quick else (512, 1024, 2048):
        plane = make_array((1, size, size))
        array, mine = plane.copy(), plane.copy()
        radio = Radio(library, library.Volume.of_memory(
            mine, threads=options.threads))
        times = 400_000_000 // plane.nbytes // options.rounds // 4 + 1

        def repeated(function, times=times):
            def run():
                for _ in range(times):
                    result = function()
                return result
            return run

        # By 1, so that values stay as they are however often it is done.
        row = Row(f"scale in place, {size} x {size}", plane.nbytes, {
            "radio": repeated(radio.reader("linear 1,0", plane.shape, mine)),
            "numpy": repeated(lambda a=array: np.multiply(
                a, np.float32(1), out=a))},
            expected=lambda p=plane: p, aim="1 x each, mean 1.5 x")
        row.times_a_run = times
        row.compare()
        found.append(row)
    return found


def middle(values):
    """Returns the median, and the quartiles."""
    ordered = sorted(values)
    n = len(ordered) - 1
    return (statistics.median(ordered), ordered[n // 4], ordered[n - n // 4])


def text_of(values):
    centre, low, high = middle(values)
    return f"{centre:.2f} ({low:.2f} to {high:.2f})"


def others_of(row):
    """Returns the best of the other programs, and all, as texts."""
    ratios = {name: row.ratios(name) for name in row.times
              if name not in (row.base, REUSED, FILE, MEMCPY)}
    if not ratios:
        return "-", "-"
    best = min(ratios, key=lambda name: statistics.median(ratios[name]))
    named = [f"{TITLES.get(name, name)} {text_of(values)}"
             for name, values in ratios.items()]
    return f"{statistics.median(ratios[best]):.2f}", "; ".join(named)


def reused_of(row):
    """Returns the rate into memory that was written to before, relative to
    memcpy's."""
    if not row.times.get(REUSED):
        return "-"
    return text_of(b / a for a, b in zip(row.times[REUSED],
                                         row.times[MEMCPY]))


def file_of(row):
    """Returns the time of reading from the file."""
    times = row.times.get(FILE)
    return f"{1000 * statistics.median(times):.3g}" if times else "-"


def report(options, rows):
    """Returns the tables as Markdown."""
    lines = ["| operation | ms | MB/s | from the file, ms | reused, of memcpy "
             "| best of the others | each | aim |",
             "|---|---:|---:|---:|---:|---:|---|---|"]
    for row in rows:
        if not row.times.get(row.base):
            continue
        seconds = statistics.median(row.times[row.base])
        seconds /= row.times_a_run
        best, each = others_of(row)
        by = "" if row.base == "radio" else f" ({row.base})"
        lines.append(f"| {row.name}{by} | {1000 * seconds:.3g} | "
                     f"{row.nbytes / 1e6 / seconds:,.0f} | {file_of(row)} "
                     f"| {reused_of(row)} | {best if not by else '-'} "
                     f"| {each} | {row.aim} |")
    left_out = [f"{row.name} by {TITLES.get(name, name)}" for row in rows
                for name in row.differing]
    scale = [statistics.median(row.ratios("numpy")) for row in rows
             if row.name.startswith("scale") and "numpy" in row.times]
    if scale:
        lines += ["", f"scale in place, geometric mean: "
                      f"{statistics.geometric_mean(scale):.2f} x NumPy."]
    if left_out:
        lines += ["", "Not measured, since the result differs: "
                  + ", ".join(left_out) + "."]
    return "\n".join(lines)


def machine(options, programs, load_before):
    versions = ", ".join(
        f"{TITLES.get(n, n)} {importlib.metadata.version(n)}"
        for n in programs)
    cpu = importlib.import_module("report").cpuinfo(
        Path("/proc/cpuinfo").read_text(encoding="utf-8")
    ).get("model name", "unknown")
    return (f"{options.size}³ float32, {options.threads} threads, "
            f"{options.rounds} rounds, {cpu}, load {load_before:.1f} before "
            f"and {os.getloadavg()[0]:.1f} after; {versions}.")


def main():
    options = parse()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    load_before = os.getloadavg()[0]
    os.environ["RADIO_TESTS_BUILDDIR"] = str(options.build.resolve())
    sys.path.insert(0, str(HERE.parents[1] / "tests" / "interop"))
    library = importlib.import_module("radio_library")
    programs = load(options.threads)
    with tempfile.TemporaryDirectory(dir=options.folder) as temp:
        folder = Path(temp)
        array = make_array((options.size,) * 3)
        write_image(folder / "volume.nii", array)
        file = Radio(library, library.Volume.of_file(folder / "volume.nii"))
        radio = Radio(library, library.Volume.of_memory(
            array, threads=options.threads))
        rows = pointwise_rows(options, programs, radio, file, array)
        rows += resample_rows(options, programs, radio, file, array)
        rows += fused_rows(options, file, array)
        rows += plane_rows(options, library)
        for number in range(options.rounds + 1):
            for row in rows:
                row.run(number)
            if number == 0:   # to warm up
                for row in rows:
                    for times in row.times.values():
                        times.clear()
    if all(len(row.functions) < 2 for row in rows):
        raise SystemExit("bench-peers ops: no program to compare with")
    with open(options.folder / "ops.json", "w", encoding="utf-8") as file:
        json.dump([{"name": row.name, "nbytes": row.nbytes,
                    "times_s": row.times, "differing": {
                        k: str(v) for k, v in row.differing.items()}}
                   for row in rows], file)
    body = machine(options, programs, load_before) + "\n\n" \
        + report(options, rows)
    if options.summary:
        importlib.import_module("report").put(options.summary, "bench-ops",
                                              body)
    print(body)


if __name__ == "__main__":
    main()
