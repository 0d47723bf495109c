# SPDX-License-Identifier: MIT
"""Stores in S3, each opened as its authors recommend it.

Run as a program, it serves one store in a process of its own: each line of
standard input is a task in JSON, and each line of output has seconds and a
checksum in JSON.  So the start-up of a client is not measured.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import places
import stores

ROWS = ("axial", "coronal", "box64", "full")


class Remote:
    """A layout that was written to a folder and uploaded to the bucket."""

    def __init__(self, name, title=None):
        self.layout = stores.find(name)
        self.name = name
        self.title = title or self.layout.title

    @property
    def reversed(self):
        return self.layout.reversed


class TileDB(Remote):
    def open(self, url, bucket, prefix):
        import tiledb
        context = tiledb.Ctx({
            "vfs.s3.endpoint_override": url.removeprefix("http://"),
            "vfs.s3.scheme": "http", "vfs.s3.region": os.environ["AWS_REGION"],
            "vfs.s3.use_virtual_addressing": "false",
            "sm.tile_cache_size": "0"})
        array = tiledb.open(f"s3://{bucket}/{prefix}", "r", ctx=context)

        def read(start, size, flat):
            return array[self.layout.select(start, size, flat)]["voxels"]
        return read


class Zarr(Remote):
    def open(self, url, bucket, prefix):
        import obstore
        import zarr
        place = obstore.store.S3Store(
            bucket, prefix=prefix, endpoint=url,
            region=os.environ["AWS_REGION"],
            access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
            virtual_hosted_style_request=False,
            client_options={"allow_http": True})
        array = zarr.open_array(zarr.storage.ObjectStore(
            place, read_only=True), mode="r")
        return lambda start, size, flat: array[
            stores.selection(start, size, flat)]


class TensorStore(Remote):
    def open(self, url, bucket, prefix):
        import tensorstore as ts
        array = ts.open({"driver": "zarr3", "recheck_cached_data": "open",
                         "kvstore": {
                             "driver": "s3", "bucket": bucket,
                             "endpoint": url, "path": f"{prefix}/",
                             "aws_region": os.environ["AWS_REGION"]}},
                        context=ts.Context({"cache_pool": {
                            "total_bytes_limit": 0}})).result()
        return lambda start, size, flat: array[
            stores.selection(start, size, flat)].read().result()


class Radio(Remote):
    """radio through ctypes, without a cache of decoded tiles."""

    def __init__(self, codec, tiling="balanced"):
        words = codec if tiling == "balanced" else f"{codec}, {tiling}"
        self.layout = stores.Store(f"radio-{tiling}-{codec}",
                                   f"**radio {words}**")
        self.name, self.title = self.layout.name, self.layout.title

    def open(self, url, bucket, prefix):
        root = Path(__file__).resolve().parents[2]
        sys.path.insert(0, os.fspath(root / "tests" / "interop"))
        import radio_library as radio
        store = radio.Store(f"s3://{bucket}/{prefix}",
                            cache_nbytes=radio.NO_CACHE)
        volume = store.open_volume("ct/head")
        dtype = np.dtype(os.environ["RADIO_BENCH_DTYPE"])
        planes = list(radio.Volume.PLANES)

        def read(start, size, flat):
            if not flat:
                return volume.read(start, size, dtype)
            axis = next(i for i in range(3) if size[i] == 1)
            return volume.plane(planes[axis], start[axis], dtype)
        read.opened = [volume, store]
        return read


STORES = [
    Radio("medium"), Radio("small"), Radio("medium", "isotropic"),
    TensorStore("ts-shard"), TensorStore("ts-64"),
    Zarr("zarr-shard"), Zarr("zarr-64"),
    TileDB("tiledb-axial"), TileDB("tiledb-64"),
]


def find(name):
    return next(store for store in STORES if store.name == name)


def checksum(store, got, size):
    from worker import checksum as checksum_of
    return checksum_of(store.layout, got, size)


def read_many(store, read, task, shape):
    """Reads as many boxes as a task has, by several threads at once, as the
    loader of a training does.  Returns the seconds, and a sum of their
    checksums."""
    boxes = [places.region("box64", shape, task["seed"], i)
             for i in range(task["boxes"])]
    with ThreadPoolExecutor(task["readers"]) as pool:
        begin = time.perf_counter()
        found = list(pool.map(lambda box: read(*box, False), boxes))
        seconds = time.perf_counter() - begin
    return seconds, sum(checksum(store, got, box[1])
                        for got, box in zip(found, boxes))


def main():
    """Each task names a row and one of its runs."""
    name, url, bucket, prefix = sys.argv[1:]
    store, read = find(name), None
    shape = json.loads(os.environ["RADIO_BENCH_SHAPE"])
    # Loads lazy imports before the clock runs.
    import worker  # noqa: F401
    if store.layout.module:
        __import__(store.layout.module)
    print("ready", flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        start, size = places.region(task["row"], shape, task["seed"],
                                    task["i"])
        begin = time.perf_counter()
        if read is None or task["reopen"]:
            read = store.open(url, bucket, prefix)
        if task.get("boxes"):
            seconds, total = read_many(store, read, task, shape)
        else:
            got = read(start, size, task["row"] != "full"
                       and not task["row"].startswith("box"))
            seconds = time.perf_counter() - begin
            total = checksum(store, got, size)
        print(json.dumps({"seconds": seconds, "sum": total}), flush=True)


if __name__ == "__main__":
    main()
