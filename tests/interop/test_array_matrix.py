# SPDX-License-Identifier: MIT
"""Arrays are exchanged both ways with zarr-python and tensorstore."""

import json
import random

import matrix
from radio_library import RadioError, Store

COUNT = 560
# zarr-python takes a tenth of a second for each case.
FEWER = 280


def write_with_zarr(zarr, case, folder):
    """Opens radio's own metadata document with zarr-python, and writes the
    chunks."""
    folder.mkdir()
    (folder / "zarr.json").write_text(json.dumps(case.document()))
    zarr.open_array(folder, mode="r+")[...] = case.values


def write_with_tensorstore(ts, case, folder):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file",
                                           "path": str(folder)},
            "metadata": case.document()}
    array = ts.open(spec, create=True).result()
    array.write(case.values).result()


def read_with_tensorstore(ts, folder):
    spec = {"driver": "zarr3",
            "kvstore": {"driver": "file", "path": str(folder)}}
    return ts.open(spec).result().read().result()


def check_radio_reads(case, folder):
    """Checks a read of the whole, and one of a random box."""
    rng = random.Random(repr(case))
    with Store(folder) as store:
        whole = store.read_array("", [0] * case.rank, case.shape, case.dtype)
        assert matrix.same(whole, case.values), case
        start = [rng.randrange(n) for n in case.shape]
        size = [rng.randint(1, n - s) for n, s in zip(case.shape, start)]
        box = store.read_array("", start, size, case.dtype)
    want = case.values[tuple(slice(s, s + n) for s, n in zip(start, size))]
    assert matrix.same(box, want), case


def test_radio_reads_arrays_of_zarr_python(zarr, tmp_path):
    for i, case in enumerate(matrix.cases(FEWER, 11)):
        if "snappy" in case.tail_name:
            continue            # zarr-python is built without it
        folder = tmp_path / f"{i}.zarr"
        write_with_zarr(zarr, case, folder)
        check_radio_reads(case, folder)


def test_radio_reads_arrays_of_tensorstore(ts, tmp_path):
    for i, case in enumerate(matrix.cases(COUNT, 12, True)):
        if case.sharding == "outer-crc32c":
            continue            # tensorstore has no codecs around shards
        folder = tmp_path / f"{i}.zarr"
        write_with_tensorstore(ts, case, folder)
        check_radio_reads(case, folder)


def write_with_radio(case, folder):
    with Store(folder, create=True) as store:
        store.write_array("a", case.values, case.chunk, case.dtype,
                          case.codecs(), case.fill, case.encoding,
                          case.separator, case.names, {"k": [1, "two"]})


def test_zarr_python_reads_arrays_of_radio(zarr, tmp_path):
    for i, case in enumerate(matrix.cases(FEWER, 13)):
        if "snappy" in case.tail_name:
            continue
        folder = tmp_path / f"{i}.zarr"
        write_with_radio(case, folder)
        array = zarr.open_array(folder / "a", mode="r")
        assert matrix.same(array[...], case.values), case
        assert array.attrs["k"] == [1, "two"]
        if case.names:
            assert list(array.metadata.dimension_names) == case.names


def test_tensorstore_reads_arrays_of_radio(ts, tmp_path):
    for i, case in enumerate(matrix.cases(COUNT, 14, True)):
        if case.sharding == "outer-crc32c":
            continue
        folder = tmp_path / f"{i}.zarr"
        write_with_radio(case, folder)
        got = read_with_tensorstore(ts, folder / "a")
        assert matrix.same(got, case.values), case


def test_radio_reads_its_own_arrays(tmp_path):
    for i, case in enumerate(matrix.cases(COUNT, 15)):
        folder = tmp_path / f"{i}.zarr"
        write_with_radio(case, folder)
        check_radio_reads(case, folder / "a")


def test_raw_bits_round_trip(np, zarr, tmp_path):
    """r<N> is what zarr-python calls a void type."""
    values = np.frombuffer(np.random.default_rng(5).bytes(7 * 9 * 3),
                           "V3").reshape(7, 9)
    folder = tmp_path / "raw.zarr"
    with Store(folder, create=True) as store:
        store.write_array("a", values, [4, 4], "r24",
                          [{"name": "bytes"}, matrix.ZSTD], [0, 0, 0])
        got = store.read_array("a", [0, 0], [7, 9], "V3")
    assert got.tobytes() == values.tobytes()
    document = json.loads((folder / "a" / "zarr.json").read_text())
    assert document["data_type"] == "r24"


def test_ranks_up_to_eight(zarr, np, tmp_path):
    values = np.arange(2 * 3 * 2 * 3 * 2 * 1 * 2 * 3, dtype="i4").reshape(
        2, 3, 2, 3, 2, 1, 2, 3)
    folder = tmp_path / "eight.zarr"
    array = zarr.create_array(folder, shape=values.shape,
                              chunks=(1, 2, 1, 2, 2, 1, 1, 2),
                              shards=(2, 2, 2, 2, 2, 1, 2, 2), dtype="i4")
    array[...] = values
    with Store(folder) as store:
        got = store.read_array("", [0] * 8, values.shape, "i4")
    assert np.array_equal(got, values)


def test_consolidated_groups_open_at_any_depth(zarr, np, tmp_path):
    root = zarr.open_group(tmp_path / "g.zarr", mode="w")
    values = np.arange(60, dtype="u2").reshape(3, 4, 5)
    root.create_group("a/b").create_array("c", data=values, chunks=(2, 2, 2))
    for consolidate in (False, True):
        if consolidate:
            zarr.consolidate_metadata(tmp_path / "g.zarr")
        with Store(tmp_path / "g.zarr") as store:
            got = store.read_array("a/b/c", [0, 0, 0], [3, 4, 5], "u2")
        assert np.array_equal(got, values)


def test_unsupported_features_are_rejected_by_name(tmp_path):
    case = next(matrix.cases(1, 1))
    changes = {
        "zfpy": {"codecs": [matrix.LITTLE, {"name": "zfpy"}]},
        "rectilinear": {"chunk_grid": {"name": "rectilinear"}},
        "float8_e4m3": {"data_type": "float8_e4m3"},
        "frobnicate": {"frobnicate": {"must_understand": True}},
        "storage transformer": {"storage_transformers": [{"name": "x"}]},
    }
    for word, change in changes.items():
        folder = tmp_path / f"{word}.zarr"
        folder.mkdir()
        (folder / "zarr.json").write_text(
            json.dumps(case.document() | change))
        try:
            with Store(folder) as store:
                store.read_array("", [0] * case.rank, case.shape, case.dtype)
        except RadioError as error:
            assert word in str(error), error
        else:
            raise AssertionError(f"{word} was accepted")
