# SPDX-License-Identifier: MIT
"""Pipelines against numpy and nibabel: generated pipelines of generated images,
read from a file and from a store, whole and in boxes at every border, are the
operations one after the other, to the last bit."""

import itertools
import json
import os
import random
import subprocess

import pytest
from conftest import RADIO
from document_reader import Document

from radio_library import RadioError, Store, Volume

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
         "float32", "float64"]
WIDE = {"int32", "uint32", "int64", "uint64", "float64"}


def run_radio(*args):
    return subprocess.run([RADIO, *map(str, args)], check=True,
                          capture_output=True, text=True).stdout


class Model:
    """What an image becomes, by numpy: an array x, y, z[, t]."""

    def __init__(self, np, stored, slope=1, inter=0):
        self.np = np
        self.array = stored
        self.slope, self.inter = slope, inter
        self.type = np.float64 if stored.dtype.name in WIDE else np.float32
        self.computes = False

    def scaled(self):
        if self.computes:
            return self.array
        if self.slope == 1 and self.inter == 0:
            return self.array.astype(self.type)
        wide = self.array.astype(self.np.float64)
        return (wide * self.slope + self.inter).astype(self.type)

    def values(self, function):
        with self.np.errstate(all="ignore"):
            self.array = function(self.scaled(), self.type)
        self.computes = True
        assert self.array.dtype == self.type

    def linear(self, a, b):
        self.values(lambda v, t: v * t(a) + t(b))

    def clamp(self, low, high):
        where = self.np.where
        self.values(lambda v, t: where(v < t(low), t(low), where(
            v > t(high), t(high), v)))

    def rescale(self, a, b, low, high):
        factor = (b - a) / (high - low) if high > low else 0
        self.values(lambda v, t: (v - t(low)) * t(factor) + t(a))

    def pad(self, widths, mode, value):
        widths = widths + [(0, 0)] * (self.array.ndim - 3)
        if mode == "value":
            if not self.computes:
                value = round((value - self.inter) / self.slope)
            self.array = self.np.pad(self.array, widths,
                                     constant_values=value)
        else:
            self.array = self.np.pad(self.array, widths, mode)


def make_image(np, nib, rng, folder, scales=True):
    """Writes an image of any type and shape; returns its file and model."""
    seed = np.random.default_rng(rng.getrandbits(32))
    shape = [rng.choice([1, 2, 3, 7, 12, 19]) for _ in range(3)]
    if rng.random() < 0.2:
        shape.append(3)
    dtype = np.dtype(rng.choice(TYPES))
    if dtype.kind == "f":
        data = (seed.normal(0, 100, shape)).astype(dtype)
        if rng.random() < 0.5:
            data[seed.random(shape) < 0.1] = np.nan
    else:
        low = 0 if dtype.kind == "u" else -100
        data = seed.integers(low, 100, shape).astype(dtype)
    if rng.random() < 0.1:
        data[...] = 7
    axes = list(itertools.permutations(range(3)))
    affine = np.zeros((4, 4))
    for i, j in enumerate(rng.choice(axes)):
        affine[i, j] = rng.choice([-1, 1]) * rng.choice([0.5, 1, 2.25])
    affine[:3, :3] += seed.uniform(-0.05, 0.05, (3, 3)).astype(np.float32)
    affine[:3, 3] = seed.uniform(-50, 50, 3).astype(np.float32)
    affine[3, 3] = 1
    order = rng.choice("<>")
    header = nib.Nifti1Header(endianness=order)
    header.set_data_dtype(dtype)
    header.set_data_shape(shape)
    slope, inter = 1, 0
    if scales and dtype.kind != "f" and rng.random() < 0.3:
        slope, inter = rng.choice([(2, -10), (0.5, 3), (-1, 0)])
    image = nib.Nifti1Image(data.astype(dtype.newbyteorder(order)), affine,
                            header)
    file = folder / f"image.nii{rng.choice(['', '.gz'])}"
    image.header.set_slope_inter(slope, inter)
    nib.save(image, file)
    if slope != 1 or inter != 0:
        # nibabel divides by the slope when it saves.
        stored = np.asanyarray(nib.load(file).dataobj.get_unscaled())
        data = stored.astype(dtype)
    return file, Model(np, data, slope, inter)


def add_crop(rng, model):
    ranges = []
    for n in model.array.shape[:3]:
        start = rng.randrange(n)
        ranges.append((start, rng.randint(start + 1, n)))
    model.array = model.array[tuple(slice(*r) for r in ranges)]
    return "crop " + ",".join(f"{a}:{b}" for a, b in ranges)


def pad_words(rng, model):
    mode = rng.choice(["value", "edge", "reflect", "wrap"])
    value = rng.randint(0, 20) * model.slope + model.inter
    if model.computes:
        value = rng.uniform(-5, 5)
    words = f"by {value}" if mode == "value" else mode
    return mode, value, words


def add_pad(rng, model):
    if model.array.size > 100_000:
        return add_crop(rng, model)
    widths = [(rng.choice([0, 0, 1, 2, 9]), rng.choice([0, 0, 1, 3, 20]))
              for _ in range(3)]
    mode, value, words = pad_words(rng, model)
    model.pad(widths, mode, value)
    return ("pad " + ",".join(f"{a}:{b}" for a, b in widths) + " " + words)


def add_crop_or_pad(rng, model):
    size = [rng.choice([1, 3, 8, 13]) for _ in range(3)]
    at = None
    if rng.random() < 0.5:
        at = [rng.randint(1 - s, n - 1)
              for s, n in zip(size, model.array.shape)]
    mode, value, words = pad_words(rng, model)
    widths = []
    for i, (s, n) in enumerate(zip(size, model.array.shape)):
        first = at[i] if at else (n - s) // 2 if n >= s else -((s - n) // 2)
        start, end = max(first, 0), min(first + s, n)
        model.array = model.array[(slice(None),) * i + (slice(start, end),)]
        widths.append((start - first, first + s - end))
    model.pad(widths, mode, value)
    return ("crop-or-pad " + ",".join(map(str, size))
            + (" at " + ",".join(map(str, at)) if at else "") + " " + words)


def add_flip(rng, model):
    axes = rng.sample(range(3), rng.randint(1, 3))
    model.array = model.np.flip(model.array, axes)
    return "flip " + ",".join("xyz"[i] for i in axes)


def add_rot90(rng, model):
    a, b = rng.sample(range(3), 2)
    k = rng.randint(1, 3)
    model.array = model.np.rot90(model.array, k, (a, b))
    return f"rot90 {'xyz'[a]}{'xyz'[b]} {k}"


def add_linear(rng, model):
    a, b = rng.uniform(-3, 3), rng.uniform(-50, 50)
    model.linear(a, b)
    return f"linear {a!r},{b!r}"


def add_clamp(rng, model):
    low, high = sorted((rng.uniform(-80, 80), rng.uniform(-80, 80)))
    model.clamp(low, high)
    return f"clamp {low!r},{high!r}"


def add_rescale(rng, model):
    a, b = rng.uniform(-3, 3), rng.uniform(-3, 3)
    low, high = sorted((rng.uniform(-80, 80), rng.uniform(-80, 80)))
    model.rescale(a, b, low, high)
    return f"rescale {a!r},{b!r} from {low!r},{high!r}"


def add_window(rng, model):
    name, low, high = rng.choice([("soft", -160, 240), ("bone", -500, 1300),
                                  ("0.5,9", -4, 5)])
    model.clamp(low, high)
    model.rescale(0, 1, low, high)
    return f"window {name}"


SPATIAL = [add_crop, add_pad, add_crop_or_pad, add_flip, add_rot90]
POINTWISE = [add_linear, add_clamp, add_rescale, add_window]


def finite(model):
    """What a statistic is of: finite values, as float64."""
    np = model.np
    values = model.array.astype(np.float64)
    if not model.computes:
        values = values * model.slope + model.inter
    return values[np.isfinite(values)]


def add_rescale_extremes(rng, model):
    values = finite(model)
    model.rescale(-1, 3, values.min(), values.max())
    return "rescale -1,3"


def add_rescale_percentiles(rng, model):
    low, high = rng.choice([(1, 99), (0.5, 50), (12.25, 100), (0, 7)])
    model.rescale(0, 1, *model.np.percentile(finite(model), [low, high]))
    return f"rescale 0,1 from p{low},p{high}"


def add_znorm(rng, model):
    nonzero = rng.random() < 0.5
    values = finite(model)
    if nonzero:
        values = values[values != 0]
    mean, std = (values.mean(), values.std()) if values.size else (0, 0)
    if values.size and values.min() == values.max():
        mean, std = values.min(), 0
    factor = 1 / std if std > 0 else 0
    model.values(lambda v, t: (v - t(mean)) * t(factor))
    return "znorm of nonzero" if nonzero else "znorm"


def boxes(rng, shape, n):
    """The whole, and boxes that touch the borders or are thin."""
    yield [0] * len(shape), list(shape)
    for _ in range(n):
        start = [rng.choice([0, size - 1, rng.randrange(size)])
                 for size in shape]
        yield start, [rng.choice([1, size - s, rng.randint(1, size - s)])
                      for size, s in zip(shape, start)]


def check_reads(np, volume, model, rng, n=12):
    want = model.array.T
    for start, size in boxes(rng, want.shape, n):
        got = volume.read(start, size, want.dtype)
        part = want[tuple(slice(s, s + k) for s, k in zip(start, size))]
        assert np.array_equal(got, part, equal_nan=want.dtype.kind == "f"), (
            start, size)


@pytest.mark.parametrize("seed", range(40))
def test_generated_pipelines_equal_numpy(np, nib, tmp_path, seed):
    rng = random.Random(seed)
    file, model = make_image(np, nib, rng, tmp_path)
    kinds = rng.choice([SPATIAL, POINTWISE, SPATIAL + POINTWISE])
    steps = [rng.choice(kinds)(rng, model)
             for _ in range(rng.choice([1, 2, 3, 6]))]
    text = " | ".join(steps)
    with Volume.of_file(file) as volume:
        with volume.apply(text) as derived:
            check_reads(np, derived, model, rng)
        # A volume with a pipeline takes another one.
        derived = volume
        for step in steps:
            applied = derived.apply(step)
            if derived is not volume:
                derived.__exit__()
            derived = applied
    with derived:
        check_reads(np, derived, model, rng, 3)
    store = tmp_path / "s.zarr"
    run_radio("ingest", "-s", store, "-c", "a", "--tiling", "4,4,4", file)
    for threads in 1, 3:
        with Store(store, threads=threads) as opened, \
             Volume(opened, "a/image") as volume, \
             volume.apply(text) as derived:
            check_reads(np, derived, model, rng)


@pytest.mark.parametrize("seed", range(8))
def test_one_read_is_the_operations_written_one_after_the_other(
        np, nib, tmp_path, seed):
    rng = random.Random(seed + 100)
    file, model = make_image(np, nib, rng, tmp_path)
    # The padding of a stored type is a stored value.
    steps = [rng.choice(SPATIAL + POINTWISE)(rng, model) for _ in range(5)]
    at_once = tmp_path / "once.nii"
    run_radio("export", file, "--apply", " | ".join(steps), "-o", at_once)
    for i, step in enumerate(steps):
        out = tmp_path / f"{i}.nii"
        run_radio("export", file, "--apply", step, "-o", out)
        file = out
    first, last = nib.load(at_once), nib.load(file)
    assert np.array_equal(first.dataobj, last.dataobj, equal_nan=True)
    assert np.array_equal(np.asanyarray(first.dataobj.get_unscaled()),
                          model.array, equal_nan=model.computes)
    assert np.allclose(first.affine, last.affine, atol=1e-3)


@pytest.mark.parametrize("seed", range(24))
def test_statistics_are_of_what_the_operations_before_deliver(
        np, nib, tmp_path, seed):
    rng = random.Random(seed + 200)
    file, model = make_image(np, nib, rng, tmp_path)
    kind = [add_znorm, add_rescale_extremes, add_rescale_percentiles][seed % 3]
    steps = [rng.choice(SPATIAL + POINTWISE)(rng, model)
             for _ in range(rng.choice([0, 1, 3]))]
    steps.append(kind(rng, model))
    steps += [rng.choice(SPATIAL)(rng, model) for _ in range(2)]
    text = " | ".join(steps)
    store = tmp_path / "s.zarr"
    run_radio("ingest", "-s", store, "-c", "a", "--tiling", "4,4,4", file)
    want, results = model.array.T, []
    whole = [0] * want.ndim, want.shape
    with Volume.of_file(file) as volume, volume.apply(text) as derived:
        results.append(derived.read(*whole, want.dtype))
    for threads in 1, 3:
        with Store(store, threads=threads) as opened, \
             Volume(opened, "a/image") as volume, \
             volume.apply(text) as derived:
            results.append(derived.read(*whole, want.dtype))
    for got in results:
        assert np.array_equal(got, results[0], equal_nan=True)
        if kind is add_znorm:
            # numpy sums in another order.
            within = 1e-6 if want.dtype == np.float32 else 1e-12
            assert np.allclose(got, want, rtol=within, atol=within,
                               equal_nan=True)
        else:
            assert np.array_equal(got, want, equal_nan=True)


def test_each_statistic_is_computed_once(radio, np, nib, tmp_path):
    """After a long text, too; else each took the passes of those before
    again."""
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(np.arange(8., dtype="f4").reshape(2, 2, 2),
                             np.eye(4)), file)
    text = " | ".join(["linear 1,0"] * 1500 + ["znorm"] * 24)
    profile = tmp_path / "p.json"
    radio("stats", file, "--apply", text,
          env={**os.environ, "RADIO_PROFILE": str(profile)})
    assert sum(node["calls"] for node in Document(profile).nodes
               if node["name"] == "statistics") == 24


def test_info_says_how_many_passes_statistics_take(np, nib, tmp_path):
    data = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    text = run_radio("info", file, "--apply",
                     "rescale 0,1 from 0,9|znorm|flip x  | rescale 0,1")
    assert "rescale 0,1 from 0,9 | znorm | flip x | rescale 0,1\n" in text
    assert "2 over the whole volume, for statistics" in text
    text = run_radio("info", file, "--apply", "window bone")
    assert "whole volume" not in text


@pytest.mark.parametrize("codec", ["medium", "none"])
def test_kept_statistics_are_numpys_until_another_program_writes(
        radio, np, nib, zarr, tmp_path, codec):
    rng = np.random.default_rng(7)
    data = rng.normal(30, 9, (40, 36, 20)).astype("f4")
    data[data < 25] = 0
    file, store = tmp_path / "a.nii", tmp_path / "s.zarr"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    radio("ingest", "-s", store, "-c", "mr", "--codec", codec, file)
    text = "flip x | znorm of nonzero"
    plain = json.loads(radio("stats", "-s", store, "--json", "mr/a").stdout)
    kept = json.loads(
        radio("stats", "-s", store, "--json", "--keep", "mr/a").stdout)
    assert plain == kept
    [document] = store.glob("mr/a/0-*/statistics.json")
    document = json.loads(document.read_text())
    wide = data.astype("f8")
    for name, values in ("all", wide.ravel()), ("nonzero", wide[wide != 0]):
        figures = document[name]
        assert figures["count"] == values.size
        assert figures["min"] == values.min() and \
            figures["max"] == values.max()
        assert np.isclose(figures["mean"], values.mean(), rtol=1e-13)
        assert np.isclose(figures["std"], values.std(), rtol=1e-13)
        assert len(figures["percentiles"]) == 13
        for percent, value in figures["percentiles"].items():
            assert value == np.percentile(values, float(percent))

    def info():
        return json.loads(radio("info", "-s", store, "--json", "mr/a",
                                "--apply", text).stdout)
    assert info()["passes"] == 0 and info()["statistics_count"] == 1
    assert "kept in the volume" in radio(
        "info", "-s", store, "mr/a", "--apply", text).stdout
    assert radio("validate", "-s", store).returncode == 0

    level = zarr.open_group(store, mode="r+")["mr/a"]
    level = level[level.attrs["ome"]["multiscales"][0]["datasets"][0]["path"]]
    assert np.array_equal(level[:], data.T)
    level[3, 4, 5] = 99
    data[5, 4, 3] = 99
    assert info()["passes"] == 1
    if codec == "none":
        return
    wide = data.astype("f8")
    rest = wide[wide != 0]
    want = (wide - rest.mean()) / rest.std()
    with Store(store) as opened, Volume(opened, "mr/a") as volume, \
         volume.apply(text) as derived:
        got = derived.read([0] * 3, data.T.shape, np.float32)
    assert np.allclose(got, want[::-1].T, atol=1e-5)


def codes():
    for axes in itertools.permutations(["RL", "AP", "SI"]):
        for letters in itertools.product(*axes):
            yield "".join(letters)


def test_the_48_orientations_are_nibabels(np, nib, tmp_path):
    rng = random.Random(3)
    n = 0
    for code in codes():
        file, model = make_image(np, nib, rng, tmp_path, scales=False)
        image = nib.load(file)
        turn = nib.orientations.ornt_transform(
            nib.io_orientation(image.affine),
            nib.orientations.axcodes2ornt(tuple(code)))
        want = image.as_reoriented(turn)
        out = tmp_path / f"{code}.nii"
        run_radio("export", file, "--apply", f"reorient {code}", "-o", out)
        got = nib.load(out)
        assert nib.aff2axcodes(got.affine) == tuple(code)
        assert np.array_equal(got.dataobj, want.dataobj, equal_nan=True)
        assert np.allclose(got.affine, want.affine, atol=1e-4)
        assert np.allclose(got.header.get_zooms(), want.header.get_zooms())
        n += 1
    assert n == 48


@pytest.mark.parametrize("dtype, shape", [
    (">i2", (101, 97, 131)), ("|u1", (163, 3, 1201)), ("<f8", (67, 71, 73)),
    ("<f4", (151, 173, 167)), ("<i4", (1301, 1, 131))])
def test_large_files_in_all_orders_equal_numpy(np, nib, tmp_path, dtype,
                                               shape):
    """Images of more planes than a run has, and than stay in caches."""
    rng = random.Random(shape[0])
    data = np.random.default_rng(1).integers(0, 99, shape).astype(dtype)
    file = tmp_path / "a.nii"
    header = nib.Nifti1Header(endianness=">" if dtype[0] == ">" else "<")
    header.set_data_dtype(data.dtype)
    nib.save(nib.Nifti1Image(data, np.eye(4), header), file)
    with Volume.of_file(file) as volume:
        for code in rng.sample(list(codes()), 8):
            turn = nib.orientations.ornt_transform(
                nib.io_orientation(np.eye(4)),
                nib.orientations.axcodes2ornt(tuple(code)))
            model = Model(np, nib.apply_orientation(
                data.astype(data.dtype.newbyteorder("=")), turn))
            text = f"reorient {code}"
            if rng.random() < 0.3:
                model.linear(2, 3)
                text += " | linear 2,3"
            with volume.apply(text) as derived:
                check_reads(np, derived, model, rng, 4)


@pytest.mark.parametrize("axes", ["zyx", "yx", "tczyx"])
def test_images_of_other_programs_have_pipelines(
        np, nib, zarr, tmp_path, axes):
    shape = (2, 3, 4, 5, 6)[-len(axes):]
    data = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    store = tmp_path / "a.zarr"
    group = zarr.open_group(store, mode="w", zarr_format=3)
    array = group.create_array("0", shape=shape, chunks=shape, dtype="uint16")
    array[...] = data
    kinds = {"t": "time", "c": "channel"}
    scale = [float(2 + i) for i in range(len(axes))]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{
        "axes": [{"name": a, "type": kinds.get(a, "space")} for a in axes],
        "datasets": [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": scale}]}]}]}
    out = tmp_path / "o.nii"
    run_radio("export", store, "--apply", "rot90 xy | crop 1:,:,:", "-o", out)
    image = nib.load(out)
    want = np.rot90(data, 1, (len(axes) - 1, len(axes) - 2))[..., 1:]
    if axes == "tczyx":
        want = want.swapaxes(0, 1)          # NIfTI has t before c
    assert np.array_equal(np.squeeze(image.dataobj), np.squeeze(want.T))
    # The new x runs against the old y, and begins at its last but one.
    y, x = scale[-2:]
    assert image.header.get_zooms()[:2] == (y, x)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run_radio("info", store, "--apply", "reorient RAS")
    assert "reorient: the orientation is unknown" in failure.value.stderr
    if axes == "yx":
        with pytest.raises(subprocess.CalledProcessError) as failure:
            run_radio("info", store, "--apply", "pad 0,0,1")
        assert "the image is 2-D and has no axis z" in failure.value.stderr


def test_gamma_keeps_the_sign(np, nib, tmp_path):
    data = np.linspace(-4, 4, 60, dtype=np.float32).reshape(3, 4, 5)
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    with Volume.of_file(file) as volume, \
         volume.apply("gamma 0.7") as derived:
        got = derived.read([0] * 3, data.T.shape, np.float32)
    want = np.copysign(np.abs(data.astype(float)) ** 0.7, data)
    assert np.allclose(got.T, want, rtol=1e-7)


def test_bfloat16_is_rounded_as_by_ml_dtypes(np, nib, tmp_path):
    import ml_dtypes
    draw = np.random.default_rng(3)
    bits = draw.integers(0, 2**32, (31, 32, 33), np.uint32)
    bits[::2, :, ::3] &= 0xffff8000
    values = bits.view(np.float32)
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(values, np.eye(4)), file)
    with Volume.of_file(file) as volume, \
         volume.apply("flip x | linear 1.25,-3") as derived, \
         np.errstate(over="ignore", invalid="ignore"):
        for read, want in (
                (volume, values),
                (derived, values[::-1] * np.float32(1.25) - np.float32(3))):
            got = read.read([0] * 3, values.T.shape, np.uint16, "bfloat16").T
            want = want.astype(ml_dtypes.bfloat16)
            nan = np.isnan(want.astype(np.float32))
            assert np.array_equal(got[~nan], want.view(np.uint16)[~nan])
            assert (got[nan] & 0x7fff > 0x7f80).all()


@pytest.mark.parametrize("dtype", TYPES + ["uint64", "bool"])
def test_integers_round_to_even_and_saturate_only_by_the_operation(
        np, nib, tmp_path, dtype):
    values = np.array([0, 0.5, 1, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e3,
                       -1e3, 7e4, 5e9, -5e9, 1e19, 2e19, -1e19, np.inf,
                       -np.inf, np.nan]).reshape(20, 1, 1)
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(values, np.eye(4)), file)
    to = np.dtype(dtype)
    with Volume.of_file(file) as volume, \
         volume.apply("linear 1,0") as exact, \
         volume.apply("saturate") as saturated:
        for i, value in enumerate(values.ravel()):
            box = [0, 0, i], [1, 1, 1]
            if to.kind == "f":
                want = fits = value.astype(to)
                inside = True
            else:
                info = np.iinfo(to) if dtype != "bool" else None
                low, high = (info.min, info.max) if info else (0, 1)
                whole = np.rint(value)
                inside = bool(np.isfinite(value)) and (
                    low <= int(whole) <= high)
                fits = (0 if np.isnan(value) else high if whole > 0 else low)
                want = int(whole) if inside else fits
            got = saturated.read(*box, to, dtype).ravel()[0]
            assert np.array_equal(got, want, equal_nan=to.kind == "f")
            if inside:
                assert np.array_equal(exact.read(*box, to, dtype).ravel()[0],
                                      want, equal_nan=to.kind == "f")
            else:
                with pytest.raises(RadioError, match="does not fit into"):
                    exact.read(*box, to, dtype)


@pytest.mark.parametrize("order", "<>")
def test_an_axis_too_long_for_nifti_1_makes_nifti_2(np, nib, tmp_path, order):
    """Each field of the header is as nibabel converts it."""
    rng = np.random.default_rng(8)
    data = rng.integers(-99, 99, (7, 3, 2, 2), np.int16)
    header = nib.Nifti1Header(endianness=order)
    header.set_data_dtype(np.int16)
    image = nib.Nifti1Image(data, None, header)
    made = image.header
    made.set_xyzt_units("mm", "sec")
    made.set_intent("f test", (3.5, 7), "an intent")
    made["pixdim"][1:5] = 2, 3, 4, 1.5
    for field, value in (("descrip", b"d" * 80), ("aux_file", b"a" * 23),
                         ("slice_duration", 0.25), ("toffset", 2.5),
                         ("cal_min", -9), ("cal_max", 70)):
        made[field] = value
    image.set_sform([[2, 0, 0, -3], [0, 3, 0, 4], [0, 0, 4, 5], [0, 0, 0, 1]],
                    code=3)
    made.set_slope_inter(2, 1)
    file, out = tmp_path / "a.nii", tmp_path / "out.nii"
    nib.save(image, file)
    run_radio("export", file, "-o", out, "--apply", "pad 40000,0,0 by 1")
    got = nib.load(out)
    want = nib.Nifti2Header.from_header(nib.load(file).header)
    stored = nib.load(file).dataobj.get_unscaled()
    assert isinstance(got, nib.Nifti2Image)
    assert got.header.endianness == order
    assert got.shape == (80007, 3, 2, 2)
    moved = got.affine.copy()
    moved[:3, 3] += moved[:3, :3] @ [40000, 0, 0]
    assert np.array_equal(moved, nib.load(file).affine)
    for field in want.keys():
        if field in ("dim", "magic", "vox_offset", "srow_x", "qform_code",
                     "qoffset_x", "qoffset_y", "qoffset_z", "quatern_b",
                     "quatern_c", "quatern_d"):
            continue
        assert np.array_equal(got.header[field], want[field],
                              equal_nan=field[:3] == "scl"), field
    voxels = got.dataobj.get_unscaled()
    assert np.array_equal(voxels[40000:40007], stored)
    run_radio("export", file, "-o", tmp_path / "out.npy", "--apply",
              "pad 40000,0,0 by 1 | linear 2,1")
    assert np.array_equal(np.load(tmp_path / "out.npy")[40000:40007],
                          2 * (2 * stored.astype(np.float32) + 1) + 1)
