# SPDX-License-Identifier: MIT
"""Measures what zarr-python needs with its pipelines, zarrs' and libradio's,
and tensorstore, on the same stores on a disk.

Everything is in one process and warm: each round reads the same box or plane
by each program, so that a temporary slowdown of the machine affects all alike,
and each round another one.  What is read first is compared.  Peak memory is of
a process of its own, for a read of all.
"""

import argparse
import importlib
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import libradio
import libradio.zarr
import numpy as np
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

from bench_ops import make_array

PIPELINES = {
    "zarr, default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarr, fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarr, zarrs": "zarrs.ZarrsCodecPipeline",
    "zarr, libradio": "libradio.zarr.CodecPipeline",
}
OURS, OTHERS = "zarr, libradio", ["zarr, fused", "zarr, zarrs"]
RADIO = "radio, medium"
READS = ["whole", "box", "axial", "coronal"]


def layouts(size):
    """Returns the arrays that zarr makes: a chunk is a quarter as long as the
    volume, a shard holds all, as of 256 and 64."""
    chunk = (max(1, size // 4),) * 3
    return {
        "zstd 3": {"chunks": chunk, "compressors": ZstdCodec(level=3)},
        "blosc lz4, shards": {
            "chunks": chunk, "shards": tuple(4 * n for n in chunk),
            "compressors": BloscCodec(cname="lz4", shuffle="shuffle")},
        "gzip 5": {"chunks": chunk, "compressors": GzipCodec(level=5)},
    }


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers python")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--size", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--peak", nargs=2, metavar=("PROGRAM", "PLACE"))
    options = parser.parse_args()
    options.size = options.size or (48 if options.quick else 256)
    options.rounds = options.rounds or (2 if options.quick else 15)
    return options


def open_array(program, place):
    """Returns something that is indexed as an array; None if the program is
    not here."""
    if program == "tensorstore":
        try:
            tensorstore = importlib.import_module("tensorstore")
        except ImportError:
            return None
        return Tensorstore(tensorstore.open({
            "driver": "zarr3", "kvstore": {"driver": "file",
                                           "path": str(place)}}).result())
    module, _, name = PIPELINES[program].rpartition(".")
    try:
        if not hasattr(importlib.import_module(module), name):
            return None
    except ImportError:
        return None
    with zarr.config.set({"codec_pipeline.path": PIPELINES[program],
                          "codec_pipeline.strict": program == OURS}):
        return zarr.open_array(place)


class Tensorstore:
    """Waits for what it reads and writes, as the others do."""

    def __init__(self, store):
        self.store = store

    def __getitem__(self, index):
        return self.store[index].read().result()

    def __setitem__(self, index, values):
        self.store[index].write(values).result()


def an_index(what, size, rng):
    box = max(1, size // 4)
    at = tuple(int(rng.integers(0, size - box + 1)) for _ in range(3))
    return {"whole": (...,),
            "box": tuple(slice(i, i + box) for i in at),
            "axial": (at[0],), "coronal": (slice(None), at[1])}[what]


def make_stores(folder, values):
    """Returns the folder of each array, all with these values."""
    places = {}
    with libradio.open(folder / "radio.zarr", create=True) as store:
        libradio.from_numpy(values.T, store, "ct/a")
    group = zarr.open_group(folder / "radio.zarr/ct/a", mode="r")
    level, = (name for name, each in group.arrays() if each.ndim == 3)
    places[RADIO] = folder / "radio.zarr/ct/a" / level
    for i, (name, layout) in enumerate(layouts(len(values)).items()):
        places[name] = folder / f"{i}.zarr"
        array = zarr.create_array(places[name], shape=values.shape,
                                  dtype=values.dtype, **layout)
        array[...] = values
    return places


def measure_reads(arrays, values, rounds):
    """Returns {(what, program): seconds of each round}."""
    rng = np.random.default_rng(2)
    times = {}
    for number in range(rounds + 1):
        for what in READS:
            index = an_index(what, len(values), rng)
            for program in turn(arrays, number):
                start = time.perf_counter()
                got = arrays[program][index]
                seconds = time.perf_counter() - start
                if number == 0:
                    assert np.array_equal(got, values[index]), (program, what)
                else:
                    times.setdefault((what, program), []).append(seconds)
    return times


def measure_writes(arrays, make, values, rounds):
    """The same of whole arrays that are written, each to a new one."""
    times = {}
    for number in range(rounds + 1):
        for program in turn(arrays, number):
            array = open_array(program, make())
            start = time.perf_counter()
            array[...] = values
            seconds = time.perf_counter() - start
            if number == 0:
                assert np.array_equal(array[...], values), program
            else:
                times.setdefault(("write", program), []).append(seconds)
    return times


def turn(programs, number):
    """Each round begins with another program, since some leave threads that
    spin for a while."""
    names = list(programs)
    first = number % len(names)
    return names[first:] + names[:first]


def peak(program, place):
    """Prints the memory that a read of all takes, by the result's."""
    array = open_array(program, place)
    array[0, 0, 0]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = array[...]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) * 1024 / result.nbytes)


def measure_peak(program, place):
    done = subprocess.run(
        [sys.executable, __file__, "--peak", program, place], check=True,
        capture_output=True, text=True, env={**os.environ,
                                             "PYTHONDONTWRITEBYTECODE": "1"})
    return float(done.stdout)


def ratios(times):
    """Returns how many times as long the better of fused and zarrs takes, or
    what is there of them."""
    found = []
    for what in [*READS, "write"]:
        others = [statistics.median(times[what, other]) for other in OTHERS
                  if (what, other) in times]
        if others and (what, OURS) in times:
            found.append(min(others) / statistics.median(times[what, OURS]))
    return found


def peak_of(peaks, store, program):
    found = peaks.get((store, program))
    return "" if found is None else f"{found:.2f}"


def report(options, results, peaks):
    lines = [f"{options.size}^3 int16, a box of a quarter of each axis, median"
             f" of {options.rounds} rounds in ms, {os.cpu_count()} processors,"
             f" load {os.getloadavg()[0]:.1f}; zarr {zarr.__version__}.", "",
             "| store | program | whole | box | axial | coronal | write |"
             " peak / result |", "|---|---|--:|--:|--:|--:|--:|--:|"]
    for store, times in results.items():
        for program in [*PIPELINES, "tensorstore"]:
            if ("whole", program) not in times:
                continue
            cells = [f"{statistics.median(times[what, program]) * 1e3:.3g}"
                     if (what, program) in times else ""
                     for what in [*READS, "write"]]
            lines.append(f"| {store} | {program} | {' | '.join(cells)} |"
                         f" {peak_of(peaks, store, program)} |")
    all_ratios = [each for times in results.values()
                  for each in ratios(times)]
    if all_ratios:
        mean = math.exp(statistics.fmean(map(math.log, all_ratios)))
        lines += ["", "The better of fused and zarrs takes"
                  f" {mean:.2f} x the time of libradio's pipeline in the"
                  f" geometric mean, {min(all_ratios):.2f} x at least."]
    return "\n".join(lines)


def main():
    options = parse()
    if options.peak:
        peak(*options.peak)
        return
    values = make_array((options.size,) * 3).astype("int16")
    results, peaks = {}, {}
    with tempfile.TemporaryDirectory(dir=options.folder) as temp:
        folder = Path(temp)
        for store, place in make_stores(folder, values).items():
            arrays = {program: open_array(program, place)
                      for program in [*PIPELINES, "tensorstore"]}
            arrays = {program: array for program, array in arrays.items()
                      if array is not None}
            results[store] = measure_reads(arrays, values, options.rounds)
            layout = layouts(options.size).get(store)
            if layout:
                results[store] |= measure_writes(
                    arrays, lambda: zarr.create_array(
                        folder / "written.zarr", shape=values.shape,
                        dtype=values.dtype, overwrite=True, **layout
                    ).store_path.store.root, values, options.rounds)
            for program in arrays:
                if store == RADIO or not options.quick:
                    peaks[store, program] = measure_peak(program, place)
    missing = {*PIPELINES, "tensorstore"} - {
        program for _, program in peaks}
    for program in sorted(missing):
        print(f"bench-peers python: {program} is left out: it is not installed"
              " here", flush=True)
    with open(options.folder / "python.json", "w", encoding="utf-8") as file:
        json.dump([{"store": store, "what": what, "program": program,
                    "times_s": seconds} for store, times in results.items()
                   for (what, program), seconds in times.items()], file)
    print(report(options, results, peaks))


if __name__ == "__main__":
    main()
