# SPDX-License-Identifier: MIT
"""The matrix of arrays that radio and its peers exchange.

data type x rank x codecs x sharding x key encoding x fill value has tens of
thousands of points; cases() draws a seeded sample in which each value of each
axis meets nearly every value of every other axis at least once.
"""

import math
import random

import numpy as np

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64", "float16", "float32", "float64", "complex64",
          "complex128"]

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
CRC32C = {"name": "crc32c"}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
ZSTD_SUM = {"name": "zstd", "configuration": {"level": 1, "checksum": True}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def blosc(cname, shuffle, typesize, blocksize=0, clevel=5):
    return {"name": "blosc", "configuration": {
        "cname": cname, "clevel": clevel, "shuffle": shuffle,
        "typesize": typesize, "blocksize": blocksize}}


def tails(itemsize):
    """Returns the bytes->bytes parts of codec chains."""
    yield "none", []
    yield "zstd", [ZSTD]
    yield "zstd-sum", [ZSTD_SUM]
    yield "gzip", [GZIP]
    yield "crc32c", [CRC32C]
    yield "zstd+crc32c", [ZSTD, CRC32C]
    yield "gzip+zstd", [GZIP, ZSTD]
    for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy"):
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            yield f"blosc-{cname}-{shuffle}", [
                blosc(cname, shuffle, itemsize)]
    yield "blosc-blocks", [blosc("lz4", "shuffle", itemsize, 256)]
    yield "blosc-0", [blosc("lz4", "shuffle", itemsize, 0, 0)]


SHARDING = ["none", "end", "start", "nested", "outer-crc32c"]
KEYS = [("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")]


def fills(name):
    """Returns fill values as JSON."""
    if name == "bool":
        return [False, True]
    if name.startswith("complex"):
        return [[0.0, 0.0], ["NaN", "-Infinity"], [1.5, -2.5]]
    if name.startswith("float"):
        return [0.0, "NaN", "Infinity", "-Infinity", -1.5]
    info = np.iinfo(name)
    return [0, int(info.min), int(info.max), 1]


class Case:
    """One array: its metadata, and its values."""

    def __init__(self, rng, dtype, sharding):
        self.dtype, self.sharding = dtype, sharding
        self.itemsize = np.dtype(dtype).itemsize
        self.rank = rng.randint(1, 5)
        edge = {1: 90, 2: 30, 3: 14, 4: 8, 5: 6}[self.rank]
        self.shape = [rng.randint(1, edge) for _ in range(self.rank)]
        self.inner = [rng.randint(1, max(1, n // 2)) for n in self.shape]
        grow = 1 if sharding == "none" else 3 if sharding != "nested" else 2
        self.middle = [n * rng.randint(1, 2) for n in self.inner]
        self.chunk = [n * rng.randint(1, grow) for n in
                      (self.middle if sharding == "nested" else self.inner)]
        self.tail_name, self.tail = rng.choice(list(tails(self.itemsize)))
        self.head = [] if rng.random() < 0.6 else [{
            "name": "transpose", "configuration": {
                "order": rng.sample(range(self.rank), self.rank)}}]
        self.bytes = rng.choice([LITTLE, BIG])
        self.encoding, self.separator = rng.choice(KEYS)
        self.fill = rng.choice(fills(dtype))
        self.names = rng.choice([None, [f"d{i}" for i in range(self.rank)]])
        self.values = self.draw(np.random.default_rng(rng.getrandbits(32)))

    def draw(self, rng):
        n = math.prod(self.shape)
        size = np.dtype(self.dtype).itemsize
        if self.dtype == "bool":
            flat = rng.integers(0, 2, n).astype(bool)
        else:
            flat = np.frombuffer(rng.bytes(n * size), self.dtype).copy()
            low = rng.integers(0, 9, n)
            if not np.issubdtype(flat.dtype, np.complexfloating):
                flat[: n // 2] = low[: n // 2]
        values = flat.reshape(self.shape)
        fill = self.fill_value()
        # Some whole chunks are only fill values, and must read as such.
        values[tuple(slice(0, m) for m in self.chunk)] = fill
        return values

    def fill_value(self):
        def number(v):
            return float(v.replace("Infinity", "inf")) \
                if isinstance(v, str) else v
        if isinstance(self.fill, list):
            return complex(number(self.fill[0]), number(self.fill[1]))
        return number(self.fill)

    def leaf(self):
        return [*self.head, self.bytes, *self.tail]

    def codecs(self):
        index = [LITTLE, CRC32C]

        def sharded(shape, codecs, where="end"):
            return {"name": "sharding_indexed", "configuration": {
                "chunk_shape": shape, "codecs": codecs,
                "index_codecs": index, "index_location": where}}
        if self.sharding == "none":
            return self.leaf()
        if self.sharding == "nested":
            return [sharded(self.middle,
                            [sharded(self.inner, self.leaf(), "start")])]
        if self.sharding == "outer-crc32c":
            return [sharded(self.inner, self.leaf()), CRC32C]
        return [sharded(self.inner, self.leaf(), self.sharding)]

    def document(self):
        return {
            "zarr_format": 3, "node_type": "array", "shape": self.shape,
            "data_type": self.dtype,
            "chunk_grid": {"name": "regular", "configuration": {
                "chunk_shape": self.chunk}},
            "chunk_key_encoding": {"name": self.encoding, "configuration": {
                "separator": self.separator}},
            "fill_value": self.fill, "codecs": self.codecs(),
            **({"dimension_names": self.names} if self.names else {}),
        }

    def __repr__(self):
        return (f"{self.dtype} shape={self.shape} chunk={self.chunk} "
                f"inner={self.inner} {self.codecs()} "
                f"{self.encoding}{self.separator} fill={self.fill}")


def cases(count, seed, plain_shards=False):
    """Yields each data type with each kind of sharding, repeatedly.

    With plain_shards no case has a transpose inside shards, which some
    releases of tensorstore read wrongly.
    """
    rng = random.Random(seed)
    pairs = [(d, s) for d in DTYPES for s in SHARDING]
    for i in range(count):
        case = Case(rng, *pairs[i % len(pairs)])
        if plain_shards and case.sharding != "none":
            case.head = []
        yield case


def same(a, b):
    """Returns whether two arrays are equal bit for bit."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return (a.dtype == b.dtype and a.shape == b.shape
            and a.tobytes() == b.tobytes())
