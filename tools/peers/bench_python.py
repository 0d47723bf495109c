# SPDX-License-Identifier: MIT
"""Measures what zarr-python needs with its pipelines, zarrs' and libradio's,
tensorstore, and the library's own function in C, on the same arrays: on a disk,
and in S3 over a link with latency.

Everything is in one process and warm: each round reads the same box or plane
by each program, so that a temporary slowdown of the machine affects all alike,
and each round another one.  What is read first is compared.  Ratios are of the
times in the same round: their median, and the middle half.  Peak memory is of
a process of its own, for a read of all.  What recording costs is measured by
loops of the same reads in turns, which are profiled or not.
"""

import argparse
import contextlib
import functools
import itertools
import json
import multiprocessing
import random
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import libradio
import numpy as np
import zarr

from bench_ops import make_array
from python_peers import (
    C, PROGRAMS, RADIO, S3, Direct, Disk, layouts, linked, make_stores,
    open_array, upload,
)
from python_table import READS, RECORDED, report

SIZES = [48, 128, 256]
# A cell ends after this many rounds, or this long but three rounds at least.
ROUNDS, LEAST_ROUNDS = 25, 3
SECONDS = {"disk": 1.0, "S3": 2.0}
NCALLS = 400
# Of the loops that are recorded or not.
NLOOPS, LOOP_SECONDS = 40, 0.05


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers python")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--quick", action="store_true",
                        help="a small volume, two rounds")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--rounds", type=int,
                        help="as many, however long they take")
    parser.add_argument("--no-s3", action="store_true")
    parser.add_argument("--delay-ms", type=float, default=15,
                        help="of the link, each way")
    parser.add_argument("--port", type=int,
                        help="of a gateway that runs (tests/interop)")
    options = parser.parse_args()
    options.sizes = options.sizes or ([48] if options.quick else SIZES)
    if options.quick and options.rounds is None:
        options.rounds = 2
    return options


def an_index(what, size, rng):
    box = max(1, size // 4)
    at = tuple(int(rng.integers(0, size - box + 1)) for _ in range(3))
    return {"whole": (...,),
            "box": tuple(slice(i, i + box) for i in at),
            "axial": (at[0],), "coronal": (slice(None), at[1])}[what]


def turn(programs, number):
    """Each round has another order, since some leave threads that spin for a
    while, and slow down what follows."""
    return random.Random(number).sample([*programs], len(programs))


def seconds_of(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def measure(options, place, programs, prepare, check):
    """Returns {program: seconds of each round}.  prepare makes what a program
    does in a round; check takes what it returned in the first, which is not
    counted."""
    times = {program: [] for program in programs}
    began = time.perf_counter()
    for number in itertools.count():
        for program in turn(programs, number):
            seconds, got = seconds_of(prepare(program, number))
            if number:
                times[program].append(seconds)
            else:
                check(program, number, got)
                began = time.perf_counter()
        elapsed = time.perf_counter() - began
        if number >= (options.rounds or ROUNDS) or (
                options.rounds is None and number >= LEAST_ROUNDS
                and elapsed > SECONDS[place.name]):
            return times


def measure_reads(options, place, arrays, values):
    """Returns {what: {program: times}}."""
    results = {}
    for what in READS:
        rng = np.random.default_rng(2)
        indexes = [an_index(what, len(values), rng)
                   for _ in range((options.rounds or ROUNDS) + 1)]

        def prepare(program, number):
            return arrays[program].reader(indexes[number])

        def check(program, number, got):
            if not np.array_equal(got, values[indexes[number]]):
                raise SystemExit(f"bench-peers python: {program} reads other"
                                 f" voxels: {what}")
        results[what] = measure(options, place, arrays, prepare, check)
    return results


def measure_writes(options, place, programs, layout, values):
    """The same of whole arrays that are written, each to a new one."""
    direct = place.zarr_store(direct=True)

    def prepare(program, number):
        zarr.create_array(direct, name="written", shape=values.shape,
                          dtype=values.dtype, overwrite=True, **layout)
        array = open_array(program, place, "written")
        # Connects.
        array.reader((0, 0, slice(0, 1)))()
        return functools.partial(array.write, values)

    def check(program, number, got):
        if not np.array_equal(zarr.open_array(direct, path="written")[...],
                              values):
            raise SystemExit(f"bench-peers python: {program} writes other"
                             " voxels")
    return {"write": measure(options, place, programs, prepare, check)}


def measure_calls(folder, values):
    """Returns {what: {"C" or "libradio": times}} of reads of a volume by the
    package, and by the function in C."""
    results = {}
    with libradio.open(folder / "radio.zarr", cache=0) as store:
        volume = store["ct/a"]
        # The first of its levels, which are named by number.
        path = min(each.name for each in (folder / "radio.zarr/ct/a").iterdir()
                   if each.is_dir())
        array = Direct(Disk(folder / "radio.zarr/ct/a"), path)
        n = len(values)
        for what, index, most in [
                ("a voxel", (slice(1, 2),) * 3, NCALLS),
                ("8^3", (slice(8),) * 3, NCALLS),
                ("a plane", (n // 2,), NCALLS),
                ("whole", (...,), NCALLS // 10)]:
            calls = {C: array.reader(index),
                     "libradio": functools.partial(
                         volume.zyx.__getitem__, index)}
            times = {program: [] for program in calls}
            for number in range(most):
                for program in turn(calls, number):
                    times[program].append(seconds_of(calls[program])[0])
            results[what] = times
    return results


def measure_recording(options, folder, size):
    """Returns {what: {as in RECORDED: seconds a read, of each loop}}.  What
    is recorded is read by a function of Python, and a profile begins before
    the loop."""
    results = {}
    profiles = {RECORDED[0]: contextlib.nullcontext,
                RECORDED[1]: libradio.profile}
    if hasattr(sys, "monitoring"):
        profiles[RECORDED[2]] = functools.partial(libradio.profile,
                                                  python=True)
    with libradio.open(folder / "radio.zarr", cache=0) as store:
        volume = store["ct/a"]
        for what, index in [("8^3", (slice(8),) * 3), ("64^3",
                            (slice(64),) * 3), ("a plane", (size // 2,)),
                            ("whole", (...,))]:
            def read(index=index):
                return volume.zyx[index]

            def loop(nreads, read=read):
                for _ in range(nreads):
                    read()
            nreads = max(1, int(LOOP_SECONDS / min(
                seconds_of(read)[0] for _ in range(5))))
            times = {recorded: [] for recorded in profiles}
            for number in range(options.rounds or NLOOPS):
                for recorded in turn(profiles, number):
                    with profiles[recorded]():
                        seconds, _ = seconds_of(functools.partial(loop,
                                                                  nreads))
                    times[recorded].append(seconds / nreads)
            results[what] = times
    return results


def memory_nbytes(member):
    """Returns a member of this process's status in Linux."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.partition(f"{member}:")[2].split()[0])


def peak(program, folder, path):
    """Returns the memory that a read of all takes, by the result's; in a
    process that has read nothing before."""
    warnings.simplefilter("ignore")
    array = open_array(program, Disk(folder), path)
    array.reader((0, 0, slice(0, 1)))()
    # Sets the peak to what is used now, which an import may have exceeded.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = memory_nbytes("VmRSS")
    result = array.reader((...,))()
    return (memory_nbytes("VmHWM") - before) / result.nbytes


def measure_peaks(folder, paths, programs):
    """Returns {store: {program: peak}}.  The processes are forked from one
    that has only imported what they use."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["libradio.zarr"])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        return {store: {
            program: pool.submit(peak, program, folder, path).result()
            for program in programs} for store, path in paths.items()}


def main():
    options = parse()
    # zarrs warns of each array that it leaves to zarr's own pipeline.
    warnings.simplefilter("ignore")
    began = time.monotonic()
    results, peaks, calls, here = [], {}, {}, {}
    recording = {}
    with (tempfile.TemporaryDirectory(dir=options.folder) as temp,
          contextlib.nullcontext() if options.no_s3
          else linked(options.port, options.delay_ms) as ports):
        for size in options.sizes:
            values = make_array((size,) * 3).astype("int16")
            folder = Path(temp) / str(size)
            paths = make_stores(folder, values)
            calls[size] = measure_calls(folder, values)
            places = [Disk(folder)]
            if ports:
                upload(ports[0], folder)
                places.append(S3(folder, *ports))
            for place, store in itertools.product(places, paths):
                print(f"{place.name}, {size}^3, {store}", file=sys.stderr)
                arrays = {program: open_array(program, place, paths[store])
                          for program in PROGRAMS}
                arrays = here = {program: array for program, array
                                 in arrays.items() if array is not None}
                found = measure_reads(options, place, arrays, values)
                if store != RADIO:
                    found |= measure_writes(options, place, arrays,
                                            layouts(size)[store], values)
                results.append({"place": place.name, "size": size,
                                "store": store, "times_s": found})
            if size == max(options.sizes):
                recording = measure_recording(options, folder, size)
                peaks = measure_peaks(folder, paths, here)
    for program in sorted({*PROGRAMS} - {*here}):
        print(f"bench-peers python: {program} is left out: it is not installed"
              " here", file=sys.stderr)
    record = {"results": results, "calls": calls,
              "recording": recording, "peaks": peaks,
              "one_way_ms": options.delay_ms}
    with open(options.folder / "python.json", "w", encoding="utf-8") as file:
        json.dump(record, file)
    print(report(record, time.monotonic() - began))


if __name__ == "__main__":
    main()
