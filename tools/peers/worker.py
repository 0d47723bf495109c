# SPDX-License-Identifier: MIT
"""Runs one store in a process of its own: writes, ingests, or reads it.

The task is JSON on the command line; the output is one line of JSON.  As in
radio bench a row is measured for some 0.1 s, 50 runs at most, after two
warm-up runs; each run allocates a new array and frees it while the clock runs.
"""

import gc
import json
import os
import shutil
import sys
import time
import zlib
from pathlib import Path

import numpy as np

import places
import stores

SLICE_S = 0.1
MOST_RUNS = 50
NWARM = 2
FLAT = ("axial", "coronal", "sagittal", "scroll")


def disk_nbytes(path):
    path = Path(path)
    if path.is_file():
        return path.stat().st_size
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def checksum(store, got, size):
    """Returns a checksum of the voxels in z, y, x order, whatever their
    shape."""
    got = np.asarray(got)
    if store.reversed:
        got = got.reshape(size[::-1]).transpose(2, 1, 0)
    return zlib.crc32(np.ascontiguousarray(got).tobytes())


def perform(store, read, row, shape, seed, i):
    """Returns the seconds of one run per plane or region."""
    start, size = places.region(row, shape, seed, i)
    flat = row in FLAT
    if row != "scroll":
        begin = time.perf_counter()
        read(start, size, flat)
        return time.perf_counter() - begin
    plane = (1,) + tuple(size[1:])
    begin = time.perf_counter()
    for k in range(size[0]):
        read((start[0] + k,) + tuple(start[1:]), plane, True)
    return (time.perf_counter() - begin) / size[0]


def time_row(store, task, read, row):
    shape, seed = task["shape"], task["seed"]

    def run(i):
        if row != "scroll" or not store.fresh_for_scroll:
            return perform(store, read, row, shape, seed, i)
        fresh = store.open_to_scroll(task["path"], task["threads"])
        seconds = perform(store, fresh, row, shape, seed, i)
        store.close(fresh)
        return seconds
    last = run(0)
    if last < 1:
        last = run(1)
    n = min(max(int(SLICE_S / last), 1), MOST_RUNS)
    # Uses other places than the warm-up, which a store may have cached.
    return [run(NWARM + i) for i in range(n)]


def check(store, task, read):
    """Returns a checksum of the first place of each checked row."""
    sums = {}
    for row in task["checked"]:
        start, size = places.region(row, task["shape"], task["seed"], 0)
        if row == "scroll":
            size = (1,) + tuple(size[1:])
        got = read(start, size, row in FLAT)
        sums[row] = checksum(store, got, size)
    return sums


def read_all(store, task):
    read = store.open(task["path"], task["threads"])
    sums = check(store, task, read)
    gc.collect()
    times = {row: time_row(store, task, read, row) for row in task["rows"]}
    return {"times_s": times, "checksums": sums,
            "stored_nbytes": disk_nbytes(task["path"])}


def write(store, task):
    values = np.load(task["array"])
    return repeat(store, task, lambda path, threads:
                  store.write(values, path, threads))


def ingest(store, task):
    return repeat(store, task, lambda path, threads:
                  store.ingest(task["file"], path, threads))


def repeat(store, task, act):
    """Only the last repetition is timed: those before warm up.  Its output is
    read back after the clock has stopped."""
    seconds = 0
    for _ in range(task["times"]):
        remove(task["path"])
        begin = time.perf_counter()
        act(task["path"], task["threads"])
        seconds = time.perf_counter() - begin
    read = store.open(task["path"], task["threads"])
    return {"seconds": seconds, "stored_nbytes": disk_nbytes(task["path"]),
            "checksums": check(store, {**task, "checked": ["full"],
                                       "seed": 0}, read)}


def main():
    task = json.loads(sys.argv[1])
    store = stores.find(task["store"])
    phases = {"read": read_all, "write": write, "ingest": ingest}
    result = phases[task["phase"]](store, task)
    print(json.dumps({"store": store.name, **result}))


if __name__ == "__main__":
    main()
