# SPDX-License-Identifier: MIT
"""The programs of `bench-peers python`, the arrays that they read and write,
and where these are: on the disk, or in S3 over a link with latency."""

import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import libradio
import libradio.zarr
import numpy as np
import zarr
from libradio import _calls
from libradio._native import ffi, lib
from libradio.store import Place
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
from zarr.storage import LocalStore, ObjectStore

HERE = Path(__file__).resolve().parent
PIPELINES = {
    "zarr, default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarr, fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarr, zarrs": "zarrs.ZarrsCodecPipeline",
    "zarr, libradio": "libradio.zarr.CodecPipeline",
}
OURS, OTHERS = "zarr, libradio", ["zarr, fused", "zarr, zarrs"]
C = "C"
PROGRAMS = [*PIPELINES, "tensorstore", C]
RADIO = "radio, medium"
BUCKET = "bench"


def layouts(size):
    """Returns the arrays that zarr makes: a chunk is a quarter as long as the
    volume, a shard holds all."""
    chunk = (max(1, size // 4),) * 3
    shard = tuple(4 * n for n in chunk)
    zstd = ZstdCodec(level=3)
    blosc = BloscCodec(cname="lz4", shuffle="shuffle")
    return {
        "zstd 3": {"chunks": chunk, "compressors": zstd},
        "blosc lz4": {"chunks": chunk, "compressors": blosc},
        "gzip 5": {"chunks": chunk, "compressors": GzipCodec(level=5)},
        "zstd 3, a shard": {"chunks": chunk, "shards": shard,
                            "compressors": zstd},
        "blosc lz4, a shard": {"chunks": chunk, "shards": shard,
                               "compressors": blosc},
    }


def make_stores(folder, values):
    """Returns the path below the folder of each array, all with these
    values."""
    paths = {}
    zarr.create_group(folder)
    with libradio.open(folder / "radio.zarr", create=True) as store:
        libradio.from_numpy(values.T, store, "ct/a")
    group = zarr.open_group(folder / "radio.zarr/ct/a", mode="r")
    level, = (name for name, each in group.arrays() if each.ndim == 3)
    paths[RADIO] = f"radio.zarr/ct/a/{level}"
    for i, (name, layout) in enumerate(layouts(len(values)).items()):
        paths[name] = f"{i}.zarr"
        array = zarr.create_array(folder / paths[name], shape=values.shape,
                                  dtype=values.dtype, **layout)
        array[...] = values
    return paths


class Disk:
    """A folder."""

    name = "disk"

    def __init__(self, folder):
        self.folder = folder

    def zarr_store(self, direct=False):
        """What zarr opens; direct: without the link's latency."""
        return LocalStore(self.folder)

    def tensorstore(self, path):
        return {"driver": "file", "path": str(self.folder / path)}

    def radio_store(self):
        return Place(str(self.folder), None, 0, 0, 0).open(sync=False)


class S3:
    """A bucket of Ceph's gateway, over a link."""

    name = "S3"

    def __init__(self, folder, port, link_port):
        from gateway import ACCESS_KEY, REGION, SECRET_KEY
        self.folder = folder.name
        self.ports = link_port, port
        self.options = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY,
                        "region": REGION}
        for name, value in [("ACCESS_KEY_ID", ACCESS_KEY),
                            ("SECRET_ACCESS_KEY", SECRET_KEY)]:
            os.environ[f"AWS_{name}"] = value

    def zarr_store(self, direct=False):
        import obstore.store
        options = self.options
        return ObjectStore(obstore.store.S3Store(
            BUCKET, prefix=self.folder, region=options["region"],
            endpoint=f"http://127.0.0.1:{self.ports[direct]}",
            access_key_id=options["access_key"],
            secret_access_key=options["secret_key"],
            virtual_hosted_style_request=False,
            client_options={"allow_http": True}))

    def tensorstore(self, path):
        return {"driver": "s3", "bucket": BUCKET,
                "endpoint": f"http://127.0.0.1:{self.ports[0]}",
                "path": f"{self.folder}/{path}/",
                "aws_region": self.options["region"]}

    def radio_store(self):
        return Place(f"s3://{BUCKET}/{self.folder}", {
            **self.options, "addressing": "path",
            "endpoint": f"http://127.0.0.1:{self.ports[0]}"}, 0, 0, 0).open()


@contextlib.contextmanager
def linked(port, one_way_ms):
    """Yields the port of a link to a gateway's, which is started if port is
    None; None where the gateway is not installed.  The link has a process of
    its own, as a Python program would wait for ours."""
    sys.path.append(os.fspath(HERE.parents[1] / "tests" / "interop"))
    from gateway import Absent, Gateway
    with contextlib.ExitStack() as stack:
        if port is None:
            try:
                gateway = Gateway(Path(
                    stack.enter_context(tempfile.TemporaryDirectory())))
            except Absent as what:
                print(f"bench-peers python: S3 is left out: {what} is not"
                      " installed", file=sys.stderr)
                yield None
                return
            stack.callback(gateway.stop)
            port = gateway.port
        link = stack.enter_context(subprocess.Popen(
            [sys.executable, HERE / "delay.py", str(port), str(one_way_ms)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        stack.callback(link.stdin.close)
        yield port, int(link.stdout.readline())


def upload(port, folder):
    """Puts a folder's files into the bucket, below the folder's name."""
    from gateway import Endpoint
    endpoint = Endpoint()
    endpoint.port = port
    client = endpoint.client()
    client.create_bucket(Bucket=BUCKET)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            key = f"{folder.name}/{file.relative_to(folder).as_posix()}"
            client.put_object(Bucket=BUCKET, Key=key, Body=file.read_bytes())


class Zarr:
    """zarr-python with one of the pipelines."""

    def __init__(self, program, place, path):
        module, _, name = PIPELINES[program].rpartition(".")
        if not hasattr(importlib.import_module(module), name):
            raise ImportError(PIPELINES[program])
        with zarr.config.set({"codec_pipeline.path": PIPELINES[program],
                              "codec_pipeline.strict": program == OURS}):
            self.array = zarr.open_array(place.zarr_store(), path=path,
                                         mode="r+")

    def reader(self, index):
        return lambda: self.array[index]

    def write(self, values):
        self.array[...] = values


class Tensorstore:
    """Waits for what it reads and writes, as the others do."""

    def __init__(self, place, path):
        tensorstore = importlib.import_module("tensorstore")
        self.array = tensorstore.open({
            "driver": "zarr3", "kvstore": place.tensorstore(path),
            "recheck_cached_data": "open"}).result()

    def reader(self, index):
        return lambda: self.array[index].read().result()

    def write(self, values):
        self.array.write(values).result()


class Direct:
    """The C function, called through cffi with arguments that are there; the
    memory is new, as the others' is."""

    def __init__(self, place, path):
        self.store = place.radio_store()
        result = ffi.new("struct radio_array **")
        _calls.check(lib.radio_array_open(self.store.pointer, path.encode(),
                                          result))
        self.array = ffi.gc(result[0], lib.radio_array_close)
        info = ffi.new("struct radio_array_info *")
        lib.radio_array_get_info(self.array, info)
        self.shape = tuple(info.shape[0:info.rank])

    def reader(self, index):
        box, shape = as_box(index, self.shape)
        array, read, stored = self.array, lib.radio_array_read, lib.RADIO_STORED
        empty, from_buffer, null = np.empty, ffi.from_buffer, ffi.NULL

        def call():
            memory = empty(shape, "int16")
            if read(array, box, stored, from_buffer(memory), memory.nbytes,
                    null):
                raise SystemExit("bench-peers python: the library cannot read")
            return memory
        return call

    def write(self, values):
        _calls.check(lib.radio_array_write(
            self.array, _calls.box((0,) * values.ndim, values.shape),
            _calls.address(values), values.nbytes))


def as_box(index, shape):
    """Returns the box of an index of slices and numbers, and the shape of the
    result."""
    index = () if index == (...,) else index
    index = [*index, *[slice(None)] * (len(shape) - len(index))]
    parts = [each.indices(n)[:2] if isinstance(each, slice)
             else (each, each + 1) for each, n in zip(index, shape)]
    return (_calls.box([a for a, _ in parts], [b - a for a, b in parts]),
            tuple(b - a for (a, b), each in zip(parts, index)
                  if isinstance(each, slice)))


def open_array(program, place, path):
    """Returns an array that is read and written; None if the program is not
    here."""
    try:
        if program in PIPELINES:
            return Zarr(program, place, path)
        return {C: Direct, "tensorstore": Tensorstore}[program](place, path)
    except ImportError:
        return None
