# SPDX-License-Identifier: MIT
"""Arrays of strings are exchanged both ways with zarr-python."""

import json
import random

import matrix
import pytest
from radio_library import RadioError, Store

VLEN = {"name": "vlen-utf8"}
TAILS = [[], [matrix.ZSTD], [matrix.GZIP], [matrix.CRC32C],
         [matrix.blosc("lz4", "noshuffle", 1)],
         [matrix.blosc("zstd", "bitshuffle", 1)],
         [matrix.GZIP, matrix.ZSTD, matrix.CRC32C]]
CASES = 60


def draw_text(rng):
    pieces = ["", "a", "sub-01", "\u00fc", "\u20ac", "\U0001f9e0", " ", "\0",
              "n/a", "\n", '"', "x" * 300]
    return "".join(rng.choices(pieces, k=rng.choice([0, 1, 2, 5])))


class Case:
    """zarr-python 3.1 writes transposed strings in the order that they have in
    its memory, and does not read them back as they were."""

    def __init__(self, np, rng, may_transpose):
        self.rank = rng.randint(1, 3)
        self.shape = [rng.randint(1, 12) for _ in range(self.rank)]
        self.tile = [rng.randint(1, n) for n in self.shape]
        self.is_sharded = rng.random() < 0.5
        self.chunk = [n * rng.randint(1, 3) for n in self.tile] \
            if self.is_sharded else self.tile
        head = [] if not may_transpose or rng.random() < 0.7 else [{
            "name": "transpose", "configuration": {
                "order": rng.sample(range(self.rank), self.rank)}}]
        self.codecs = [*head, VLEN, *rng.choice(TAILS)]
        if self.is_sharded:
            self.codecs = [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": self.tile, "codecs": self.codecs,
                "index_codecs": [matrix.LITTLE, matrix.CRC32C],
                "index_location": rng.choice(["start", "end"])}}]
        self.fill = rng.choice(["", "", "fill \u00fc"])
        self.values = np.empty(self.shape, object)
        for at in np.ndindex(*self.shape):
            self.values[at] = draw_text(rng)
        # Chunks of nothing but the fill value are not stored.
        self.values[tuple(slice(0, n) for n in self.chunk)] = self.fill

    def document(self):
        return {
            "zarr_format": 3, "node_type": "array", "shape": self.shape,
            "data_type": "string", "fill_value": self.fill,
            "chunk_grid": {"name": "regular", "configuration": {
                "chunk_shape": self.chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {
                "separator": "/"}},
            "codecs": self.codecs}


def make_cases(np, seed, may_transpose=True):
    rng = random.Random(seed)
    return [Case(np, rng, may_transpose) for _ in range(CASES)], rng


def test_radio_reads_strings_of_zarr_python(zarr, np, tmp_path):
    cases, rng = make_cases(np, 21, False)
    for i, case in enumerate(cases):
        folder = tmp_path / f"{i}.zarr"
        folder.mkdir()
        (folder / "zarr.json").write_text(json.dumps(case.document()))
        zarr.open_array(folder, mode="r+")[...] = case.values
        start = [rng.randrange(n) for n in case.shape]
        size = [rng.randint(1, n - s) for n, s in zip(case.shape, start)]
        box = tuple(slice(s, s + n) for s, n in zip(start, size))
        with Store(folder) as store:
            whole = store.read_strings("", [0] * case.rank, case.shape)
            part = store.read_strings("", start, size)
        assert (whole == case.values).all(), case.document()
        assert (part == case.values[box]).all(), case.document()


def test_zarr_python_reads_strings_of_radio(zarr, np, tmp_path):
    cases, _ = make_cases(np, 22)
    for i, case in enumerate(cases):
        folder = tmp_path / f"{i}.zarr"
        with Store(folder, create=True) as store:
            store.write_array("a", case.values, case.chunk, "string",
                              case.codecs, case.fill)
        array = zarr.open_array(folder / "a", mode="r")
        got = array[...]
        assert array.fill_value == case.fill
        assert (got == case.values).all(), case.document()


@pytest.mark.parametrize("options", [{}, {"shards": (400,)}])
def test_strings_that_zarr_python_chunks_by_itself(zarr, np, options, radio,
                                                   tmp_path):
    """Its own codecs and chunks, and the command on them."""
    values = np.array([f"sub-{i:04}" for i in range(1000)], object)
    zarr.create_array(tmp_path / "a.zarr", shape=1000, chunks=(100,),
                      dtype="str", **options)[:] = values
    with Store(tmp_path / "a.zarr") as store:
        assert (store.read_strings("", [0], [1000]) == values).all()
    shown = radio("info", tmp_path / "a.zarr").stdout
    assert "string" in shown and "vlen-utf8, zstd" in shown
    assert "raw" not in shown
    facts = json.loads(radio("info", "--json", tmp_path / "a.zarr").stdout)
    assert facts["dtype"] == "string" and "raw_nbytes" not in facts
    radio("validate", tmp_path / "a.zarr")
    refused = radio("export", tmp_path / "a.zarr", "-o", tmp_path / "a.npy",
                    status=1)
    assert "an array of strings" in refused.stderr
    assert not (tmp_path / "a.npy").exists()


def test_validate_names_a_chunk_of_strings_that_is_wrong(zarr, np, radio,
                                                         tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=4, chunks=(2,), dtype="str",
                      compressors=None)[:] = np.array(list("abcd"), object)
    chunk = tmp_path / "a.zarr" / "c" / "1"
    chunk.write_bytes(chunk.read_bytes()[:-1] + b"\xff")
    done = radio("validate", tmp_path / "a.zarr", status=1)
    assert "byte 0 of string 1 (0xff) is not UTF-8" in \
        done.stdout + done.stderr
    with Store(tmp_path / "a.zarr") as store:
        assert list(store.read_strings("", [0], [2])) == ["a", "b"]
        with pytest.raises(RadioError, match="c/1: vlen-utf8"):
            store.read_strings("", [1], [2])
