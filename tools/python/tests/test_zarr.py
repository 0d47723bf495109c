# SPDX-License-Identifier: MIT
"""Arrays of zarr-python's, read by the library: as its own pipeline does."""
import asyncio
import copy
import gc
import json
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import workers
import zarr
from hypothesis import given, settings, strategies as st
from images import voxels
from test_processes import in_child
from zarr.codecs import (
    BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec,
    TransposeCodec, ZstdCodec,
)

import libradio
import libradio.zarr

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")

SHAPE, CHUNKS, SHARDS = (20, 13, 17), (4, 5, 3), (8, 10, 9)

LAYOUTS = {
    "plain": {"compressors": None},
    "zstd": {"compressors": ZstdCodec(level=1, checksum=True)},
    "blosc": {"compressors": BloscCodec(cname="lz4", shuffle="shuffle")},
    "gzip": {"compressors": GzipCodec(level=1)},
    "crc32c": {"compressors": [ZstdCodec(), Crc32cCodec()]},
    "transposed": {"filters": TransposeCodec(order=(2, 0, 1))},
    "big-endian": {"serializer": BytesCodec(endian="big")},
    "shards": {"shards": SHARDS},
    "plain shards": {"shards": SHARDS, "compressors": None},
    "shards, index first": {"chunks": SHARDS, "compressors": None,
                            "serializer": ShardingCodec(
                                chunk_shape=CHUNKS, index_location="start",
                                codecs=[BytesCodec(), ZstdCodec()])},
    "dots": {"chunk_key_encoding": {"name": "default", "separator": "."}},
    "v2 keys": {"chunk_key_encoding": {"name": "v2", "separator": "."}},
    "v2 folders": {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
}

TYPES = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32",
         "float64", "complex64"]


def make(place, name="plain", dtype="int16", path=None, **more):
    """Makes an array by zarr's own pipeline; returns its elements."""
    options = {"shape": SHAPE, "chunks": CHUNKS, "dtype": dtype,
               **LAYOUTS[name], **more}
    array = zarr.create_array(place, name=path, **options)
    elements = np.ascontiguousarray(voxels(array.shape, dtype))
    array[...] = elements
    return elements


def opened(place, strict=True, mode="r+", **more):
    """Opens an array that the library must read, or may."""
    with libradio.zarr.use(strict=strict):
        return zarr.open_array(place, mode=mode, **more)


def one_item(rng, length):
    if rng.random() < 0.3:
        return rng.randrange(-length, length)
    start, stop = (rng.choice([None, rng.randint(-length - 2, length + 2)])
                   for _ in range(2))
    return slice(start, stop, rng.choice([None, None, 1, 2, 3, 5, 11]))


def an_index(rng, shape):
    given = rng.randint(0, len(shape))
    items = [one_item(rng, n) for n in shape[:given]]
    if rng.random() < 0.3:
        items.insert(given, ...)
    return tuple(items)


def check_selections(array, elements, n, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        index = an_index(rng, elements.shape)
        got, want = array[index], elements[index]
        assert np.shape(got) == want.shape, index
        assert np.array_equal(got, want), index
        assert got.dtype == want.dtype


@pytest.mark.parametrize("name", LAYOUTS)
def test_selections_are_numpys(tmp_path, name):
    elements = make(tmp_path / "a", name)
    array = opened(tmp_path / "a")
    assert type(array.async_array.codec_pipeline) is libradio.zarr.CodecPipeline
    check_selections(array, elements, 60)


@pytest.mark.parametrize("dtype", TYPES)
def test_all_types_and_ranks(tmp_path, dtype):
    for rank in [1, 2, 5]:
        shape = (7, 6, 5, 4, 3)[:rank]
        elements = make(tmp_path / str(rank), "shards", dtype, shape=shape,
                        chunks=(2,) * rank, shards=(4,) * rank)
        check_selections(opened(tmp_path / str(rank)), elements, 20, rank)


def test_results_of_both_byte_orders(tmp_path):
    elements = voxels(SHAPE, ">i2")
    with libradio.zarr.use(strict=True):
        array = zarr.create_array(tmp_path / "a", shape=SHAPE, chunks=CHUNKS,
                                  dtype=">i2", compressors=None)
    array[...] = elements
    assert array[...].dtype == ">i2"
    check_selections(array, elements, 10)
    check_selections(opened(tmp_path / "a"), elements.astype("<i2"), 10)


def test_results_in_fortran_order_are_read_in_place(tmp_path):
    elements = make(tmp_path / "a", "shards")
    with zarr.config.set({"array.order": "F"}):
        array = opened(tmp_path / "a")
    assert array[...].flags.f_contiguous
    check_selections(array, elements, 20)


def test_elements_far_apart_are_read_in_little_memory(tmp_path, monkeypatch):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    monkeypatch.setattr(libradio.zarr, "_PART_NBYTES", 100)
    monkeypatch.setattr(libradio.zarr, "_MAX_REQUESTS", 3)
    monkeypatch.setattr(libradio.zarr, "_QUICK_NBYTES", 50)
    check_selections(array, elements, 100)


def test_out_and_the_async_interface(tmp_path):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    out = zarr.core.buffer.cpu.NDBuffer.from_numpy_array(
        np.zeros((5, 13, 17), "int16"))
    array.get_basic_selection((slice(2, 7),), out=out)
    assert np.array_equal(out.as_numpy_array(), elements[2:7])

    async def read():
        return await asyncio.gather(*(
            array.async_array.getitem((i, slice(None), slice(1, 9, 2)))
            for i in range(20)))

    for got, want in zip(asyncio.run(read()), elements[:, :, 1:9:2]):
        assert np.array_equal(got, want)


def test_it_is_the_level_of_a_volume(examples, head):
    group = opened_group(examples / "examples.zarr/ct/head")
    array, = (each for _, each in group.arrays() if each.ndim == 3)
    assert np.array_equal(array[...], head[1].T)
    assert np.array_equal(array[3, 4:9], head[1].T[3, 4:9])


def opened_group(place):
    with libradio.zarr.use(strict=True):
        return zarr.open_group(place, mode="r")


@pytest.mark.parametrize("name", ["plain", "shards"])
@pytest.mark.parametrize(("dtype", "fill"), [
    ("int16", 0), ("int16", -7), ("float32", np.nan), ("float32", -np.inf),
    ("float64", -0.0), ("complex64", 1 - 2j), ("bool", True)])
def test_missing_chunks_have_the_fill_value(tmp_path, name, dtype, fill):
    place = tmp_path / "a"
    zarr.create_array(place, shape=SHAPE, chunks=CHUNKS, dtype=dtype,
                      fill_value=fill, **LAYOUTS[name])
    want = zarr.open_array(place, mode="r")
    array = opened(place)
    assert array[...].tobytes() == want[...].tobytes()
    zarr.open_array(place)[5:9, 2, 3] = 1
    assert array[...].tobytes() == want[...].tobytes()
    assert array[3:17:2, 2].tobytes() == want[3:17:2, 2].tobytes()


@pytest.mark.parametrize("name", ["plain", "plain shards", "zstd"])
def test_what_others_write_is_read(tmp_path, name):
    elements = make(tmp_path / "a", name)
    array, other = opened(tmp_path / "a"), zarr.open_array(tmp_path / "a")
    assert np.array_equal(array[...], elements)
    for i in range(4):
        elements = elements[::-1]
        other[...] = elements
        assert np.array_equal(array[...], elements)
        other[3:5, 2, i] = elements[3:5, 2, i] = 77
        assert np.array_equal(array[2:7], elements[2:7])


def test_arrays_are_resized(tmp_path):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    assert np.array_equal(array[...], elements)
    array.resize((31, 13, 29))
    want = np.zeros((31, 13, 29), "int16")
    want[:20, :, :17] = elements
    assert np.array_equal(array[...], want)
    array[25:, :, 20:] = want[25:, :, 20:] = 5
    assert np.array_equal(array[...], want)
    array.resize((9, 3, 5))
    assert np.array_equal(array[...], want[:9, :3, :5])


@pytest.mark.parametrize("name", ["plain", "shards"])
def test_arrays_are_replaced_under_an_open_one(tmp_path, name):
    make(tmp_path / "a", name)
    old = opened(tmp_path / "a")
    assert old[0].any()
    shutil.rmtree(tmp_path / "a")
    elements = make(tmp_path / "a", "gzip", "float32", shape=(9, 8),
                    chunks=(5, 5))
    new = opened(tmp_path / "a")
    assert np.array_equal(new[...], elements)
    elements = make(tmp_path / "a", name, overwrite=True)
    assert np.array_equal(opened(tmp_path / "a")[...], elements)
    assert np.array_equal(old[...], elements)
    make(tmp_path / "b", name)
    zarr.open_array(tmp_path / "b")[...] = elements[::-1]
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "b").rename(tmp_path / "a")
    assert np.array_equal(old[...], elements[::-1])


def kept(array):
    """Returns what stays open from one read to the next."""
    return array.async_array.codec_pipeline._source.folder.array


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", ["shards", "plain shards",
                                  "shards, index first"])
def test_shards_that_others_replace_are_read(tmp_path, name, in_place):
    versions = [make(tmp_path / "a", name)]
    versions.append(versions[0][::-1, :, ::-1].copy())
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    zarr.open_array(tmp_path / "b")[...] = versions[1]
    shards = [{file: (tmp_path / each / file).read_bytes()
               for file in keys(tmp_path / each)} for each in "ab"]
    array = opened(tmp_path / "a")
    assert np.array_equal(array[...], versions[0])
    first = kept(array)
    for i in range(6):
        if i % 3 == 0:
            time.sleep(0.06)        # longer than times of files are the same
            array[3, 2]             # so from now on the indexes are kept
        for file, data in shards[(i + 1) % 2].items():
            if in_place:
                (tmp_path / "a" / file).write_bytes(data)
            else:
                (tmp_path / "new").write_bytes(data)
                (tmp_path / "new").rename(tmp_path / "a" / file)
        for _ in range(2):
            assert np.array_equal(array[...], versions[(i + 1) % 2])
            assert np.array_equal(array[9:, 2, 3], versions[(i + 1) % 2]
                                  [9:, 2, 3])
    (tmp_path / "a" / file).unlink()
    assert not array[-1, -1, -1]
    assert kept(array) is first


def test_large_reads_leave_the_loop_to_others(tmp_path, monkeypatch):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    passed = []

    async def to_thread(function, *arguments):
        passed.append(function.__name__)
        return function(*arguments)

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    monkeypatch.setattr(libradio.zarr, "_QUICK_NBYTES", 100)
    assert np.array_equal(array[...], elements)
    array[...] = elements
    assert passed == ["keeps", "run"]       # of the write
    monkeypatch.setattr(libradio.zarr, "_ALONE_NBYTES", elements.nbytes - 1)
    assert np.array_equal(array[...], elements)
    assert passed[2:] == ["run"]
    monkeypatch.undo()
    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    monkeypatch.setattr(libradio.zarr, "_QUICK_NBYTES", 100)

    async def read():
        return await array.async_array.getitem(...)

    async def read_twice():
        return await asyncio.gather(read(), read())

    assert np.array_equal(asyncio.run(read()), elements)
    assert passed[3:] == ["run"]
    for got in zarr.core.sync.sync(read_twice()):
        assert np.array_equal(got, elements)
    assert passed[4:] == ["run"] * 2


@pytest.mark.parametrize("name", ["crc32c", "shards", "gzip"])
def test_damage_is_an_error(tmp_path, name):
    make(tmp_path / "a", name, compressors=[ZstdCodec(), Crc32cCodec()])
    for file in (tmp_path / "a").rglob("c/*/*/*"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0x10
        file.write_bytes(data)
    array = opened(tmp_path / "a")
    # Zarr's own checksums raise ValueError, too.
    with pytest.raises(ValueError) as info:
        array[...]
    assert isinstance(info.value, libradio.RadioError)
    assert "c/" in str(info.value)


def fallen_back(array, read):
    """Returns what is read, with the one warning that it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = read(array)
        assert np.array_equal(read(array), result)
    lines = [str(each.message) for each in caught
             if each.category is libradio.RadioWarning]
    assert len(lines) == 1, lines
    return result, lines[0]


def test_points_are_read_from_the_tiles_that_have_them(tmp_path, monkeypatch):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    sizes = []
    read = libradio.zarr._read_boxes

    def spy(array, boxes):
        read(array, boxes)
        sizes.extend(memory.shape for _, memory in boxes)

    monkeypatch.setattr(libradio.zarr, "_read_boxes", spy)
    # In chunks of 4 x 5 x 3; the first and the last tile of a shard.
    got = array.vindex[[1, 0, 7], [2, 2, 9], [8, 1, 8]]
    assert np.array_equal(got, elements[[1, 0, 7], [2, 2, 9], [8, 1, 8]])
    assert sorted(sizes) == [(1, 1, 1)] * 3
    sizes.clear()
    got = array.oindex[[2, 17, 1], 3, [0, 1]]
    assert np.array_equal(got, elements[np.ix_([2, 17, 1], [3], [0, 1])][:, 0])
    assert sorted(sizes) == [(1, 1, 2), (2, 1, 2)]
    # In little memory, and in several calls.
    monkeypatch.setattr(libradio.zarr, "_PART_NBYTES", 100)
    monkeypatch.setattr(libradio.zarr, "_MAX_REQUESTS", 3)
    rng = np.random.default_rng(1)
    for _ in range(10):
        mask = rng.random(SHAPE) < rng.random()
        assert np.array_equal(array.vindex[mask], elements[mask])
        lists = [rng.integers(-n, n, rng.integers(1, 2 * n)) for n in SHAPE]
        assert np.array_equal(array.oindex[tuple(lists)],
                              elements[np.ix_(*lists)])
        assert np.array_equal(array.oindex[lists[0], 2:9, -1],
                              elements[lists[0], 2:9, -1])
    assert np.array_equal(array.oindex[mask[:, 0, 0], :, 3:],
                          elements[mask[:, 0, 0], :, 3:])
    assert np.array_equal(array.blocks[0, 1], elements[0:8, 10:13])


def test_points_of_another_byte_order_and_rank_one(tmp_path):
    with libradio.zarr.use(strict=True):
        array = zarr.create_array(tmp_path / "a", shape=(50,), chunks=(7,),
                                  dtype=">i2")
    array[...] = elements = np.arange(50).astype(">i2")
    lists = [41, 0, -1, 3, 3]
    mask = elements % 3 == 1
    for each in [lists, mask]:
        assert np.array_equal(array.oindex[each], elements[each])
        assert np.array_equal(array.vindex[each], elements[each])
    assert array.vindex[lists].dtype == ">i2"
    assert np.array_equal(array[mask], elements[mask])


def unsupported():
    from zarr.storage import MemoryStore
    text = np.array(["a", "bc", "d"], dtype=object)
    yield ("MemoryStore", MemoryStore(), {})
    yield ("version 2", None, {"zarr_format": 2})
    yield ("strings", None, {"data": text.astype("T")})
    yield ("datetime64", None, {"data": np.array([1, 2], "M8[s]")})


@pytest.mark.parametrize("what", [0, 1, 2, 3])
@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_what_is_not_supported_is_left_to_zarr(tmp_path, what):
    match, store, options = list(unsupported())[what]
    place = store or tmp_path / "a"
    options = {"data": np.arange(30).reshape(5, 6), "chunks": "auto",
               **options}
    want = zarr.create_array(place, **options)[...]
    got, line = fallen_back(opened(place, strict=False), lambda a: a[...])
    assert np.array_equal(got, want)
    assert match in line and line.startswith("libradio.zarr: '")
    with pytest.raises(libradio.UnsupportedError, match=match):
        opened(place)[...]


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_each_array_that_is_left_to_zarr_has_a_warning(tmp_path):
    """By Python's own rule: a line is shown once."""
    group = zarr.create_group(tmp_path / "g")
    data = np.array([1, 2, 3], "M8[s]")
    for name in "ab":
        group.create_array(name, data=data, chunks=(1,))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for name in "aab":
            assert (opened(tmp_path / "g", strict=False, path=name)[...]
                    == data).all()
    lines = [str(each.message) for each in caught
             if each.category is libradio.RadioWarning]
    assert [f"/g/{name}' is left" in line
            for name, line in zip("ab", lines, strict=True)] == [True] * 2


def test_local_folders_by_fsspec(tmp_path):
    from zarr.storage import FsspecStore
    pytest.importorskip("fsspec")
    elements = make(tmp_path / "a")
    array = opened(FsspecStore.from_url(f"file://{tmp_path}/a"))
    check_selections(array, elements, 5)
    other = opened(FsspecStore(array.store.fs, path=f"file://{tmp_path}/a"))
    check_selections(other, elements, 5)
    array[...] = elements[::-1]
    assert np.array_equal(zarr.open_array(tmp_path / "a")[...],
                          elements[::-1])


def test_arrays_without_a_document_are_left_to_zarr(tmp_path):
    elements = make(tmp_path / "a")
    array = opened(tmp_path / "a", strict=False)
    strict = opened(tmp_path / "a")
    (tmp_path / "a/zarr.json").unlink()
    got, line = fallen_back(array, lambda a: a[...])
    assert np.array_equal(got, elements)
    assert "zarr.json" in line
    with pytest.raises(libradio.NotFoundError, match=r"zarr\.json"):
        strict[...]


def test_it_is_used_within_a_with_statement_or_from_then_on(tmp_path):
    make(tmp_path / "a")
    pipeline = libradio.zarr.CodecPipeline

    def is_used():
        array = zarr.open_array(tmp_path / "a")
        return type(array.async_array.codec_pipeline) is pipeline

    assert not is_used()
    with libradio.zarr.use():
        assert is_used()
    assert not is_used()
    before = dict(zarr.config.get("codec_pipeline"))
    try:
        libradio.zarr.use()
        assert is_used()
    finally:
        zarr.config.set(codec_pipeline=before)


def test_programs_find_it_by_the_environment(tmp_path):
    make(tmp_path / "a")
    code = ("import sys, zarr; array = zarr.open_array(sys.argv[1]);"
            "print(type(array.async_array.codec_pipeline), array[3, 4, 5])")
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a"], check=True, text=True,
        capture_output=True, env={**os.environ, "ZARR_CODEC_PIPELINE__PATH":
                                  "libradio.zarr.CodecPipeline"})
    assert "libradio.zarr.CodecPipeline" in done.stdout


def test_threads_children_and_pickles(tmp_path):
    elements = make(tmp_path / "a", "shards")
    array = opened(tmp_path / "a")
    wants = [workers.read_sample(elements, seed) for seed in range(32)]

    def check():
        for seed, want in enumerate(wants[:8]):
            assert workers.read_sample(array, seed) == want

    check()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(workers.read_sample, [array] * 32,
                             range(32))) == wants
    for _ in range(3):
        in_child(check)
    for other in [pickle.loads(pickle.dumps(array)), copy.deepcopy(array)]:
        assert other == array
        assert np.array_equal(other[...], elements)
        assert other.async_array.codec_pipeline._source.strict
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        got = pool.starmap_async(workers.read_sample,
                                 [(array, seed) for seed in range(8)])
        assert got.get(120) == wants[:8]


def test_few_folders_stay_open(tmp_path):
    elements = make(tmp_path / "a", "shards")
    before = os.listdir("/proc/self/fd")
    arrays = [opened(tmp_path / "a") for _ in range(40)]
    for array in [*arrays, *arrays[::3]]:
        assert np.array_equal(array[...], elements)
    assert len(os.listdir("/proc/self/fd")) <= len(before) + 18
    del array
    arrays.clear()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= len(before) + 2


def keys(place):
    """Returns the chunks that are stored."""
    return sorted(str(file.relative_to(place)) for file in place.rglob("*")
                  if file.is_file() and file.name != "zarr.json")


@pytest.fixture
def writes(monkeypatch):
    """The shapes that the library writes."""
    shapes = []
    transfer = libradio.zarr._Write.transfer

    def spy(self, array):
        transfer(self, array)
        shapes.append(self.memory.shape)

    monkeypatch.setattr(libradio.zarr._Write, "transfer", spy)
    return shapes


@pytest.mark.parametrize("name", LAYOUTS)
def test_whole_chunks_are_written_by_the_library(tmp_path, name, writes):
    elements = make(tmp_path / "want", name)
    shutil.copytree(tmp_path / "want", tmp_path / "got")
    array, want = opened(tmp_path / "got"), zarr.open_array(tmp_path / "want")
    for values in [np.zeros_like(elements), elements[::-1, ::-1]]:
        for each in [array, want]:
            each[...] = values
        assert np.array_equal(want[...], values)
        other = zarr.open_array(tmp_path / "got", mode="r")
        assert np.array_equal(other[...], values)
        assert keys(tmp_path / "got") == keys(tmp_path / "want")
    assert writes == [elements.shape] * 2
    # The chunks in the middle are whole, those around them are not.
    values = np.arange(15 * 13 * 17).reshape(15, 13, 17)
    for each in [array, want]:
        each[3:18] = values
    assert np.array_equal(other[...], want[...])
    rows = 8 if "shards" in LAYOUTS[name] or name.startswith("shards") else 12
    assert writes[2:] == [(rows, 13, 17)]


@pytest.mark.parametrize("name", ["plain", "shards", "shards, index first"])
@pytest.mark.parametrize("shape", [(20, 13, 17), (8, 10, 9), (17, 10, 17),
                                   (16, 9, 11), (1, 1, 1), (19, 13, 18)])
def test_elements_past_the_end_are_kept_as_by_zarr(tmp_path, name, shape,
                                                   writes):
    places = [tmp_path / "want", tmp_path / "got"]
    arrays = []
    for place in places:
        make(place, name, fill_value=3)
        arrays.append(opened(place) if arrays else zarr.open_array(place))
    for array in arrays:
        array.resize(shape)
        array[...] = np.full(shape, 9)
        array.resize((24, 20, 18))
    want, got = [array[...] for array in arrays]
    assert np.array_equal(got, want)
    assert keys(places[1]) == keys(places[0])
    past = want.copy()
    past[tuple([slice(n) for n in shape])] = 3
    keeps = name != "plain" and shape not in [(20, 13, 17), (8, 10, 9)]
    assert (past != 3).any() == keeps
    assert writes == [shape] * (not keeps)


def test_chunks_larger_than_the_memory(tmp_path):
    zarr.create_array(tmp_path / "a", shape=(1 << 20,), chunks=(1 << 20,),
                      dtype="u1")
    values = np.random.default_rng(0).integers(0, 99, 1 << 20, "u1")
    with libradio.zarr.use(strict=True, memory=1 << 20):
        small = zarr.open_array(tmp_path / "a")
    with pytest.raises(libradio.LimitError, match="memory in Python"):
        small[...] = values
    with libradio.zarr.use(strict=True, memory=64 << 20):
        large = zarr.open_array(tmp_path / "a")
    large[...] = values
    assert np.array_equal(pickle.loads(pickle.dumps(large))[...], values)
    with pytest.raises(libradio.ArgumentError, match="memory: -1: use 0"):
        libradio.zarr.use(memory=-1)
    # As by the environment.
    with libradio.zarr.use(), zarr.config.set({"codec_pipeline.memory": 2e9}):
        with pytest.raises(TypeError, match="codec_pipeline.memory: 2000000"):
            zarr.open_array(tmp_path / "a")


@pytest.mark.parametrize("fill", [0.0, -0.0, np.nan, 3.0])
def test_chunks_of_the_fill_value(tmp_path, fill, writes):
    for name in ["plain", "shards"]:
        for empty in [False, True]:
            places = [tmp_path / f"{name}{empty}{i}" for i in range(2)]
            for i, place in enumerate(places):
                with libradio.zarr.use(strict=True) if i else (
                        zarr.config.set({})):
                    array = zarr.create_array(
                        place, shape=(8, 10, 9), chunks=CHUNKS,
                        shards=(8, 10, 9) if name == "shards" else None,
                        dtype="float32", fill_value=fill,
                        config={"write_empty_chunks": empty})
                values = np.full((8, 10, 9), fill, "float32")
                values[4:, 5:] = 1
                array[...] = values
            assert keys(places[0]) == keys(places[1])
            for place in places:
                got = zarr.open_array(place, mode="r")[...]
                assert got.tobytes() == values.tobytes()
    assert writes == [(8, 10, 9)] * 2      # empty chunks by zarr's own


@pytest.mark.parametrize("dtype", ["float32", ">f8", "complex64"])
def test_all_nans_are_a_fill_value_that_is_nan(tmp_path, dtype):
    # What 0 / 0 gives on this machine has other bits than numpy.nan.
    values = np.full((8, 10, 9), -np.float64(np.nan)).astype(dtype)
    values[6:, 6:, 7:] = 1
    for place in [tmp_path / "zarr", tmp_path / "ours"]:
        with libradio.zarr.use() if place.name == "ours" else (
                zarr.config.set({})):
            zarr.create_array(place, shape=values.shape, chunks=CHUNKS,
                              dtype=dtype, fill_value=np.nan)[...] = values
    assert keys(tmp_path / "ours") == keys(tmp_path / "zarr")
    assert keys(tmp_path / "ours") == ["c/1/1/2"]
    assert np.array_equal(opened(tmp_path / "ours")[...], values,
                          equal_nan=True)


@pytest.mark.parametrize(("dtype", "fill"), [
    ("float32", "0xffc00000"), ("float64", "0x7ff8000000000001"),
    ("float16", "0x7e01"), ("complex64", ["0xffc00000", "0x7fc00007"]),
    ("complex128", ["0x7ff8000000000001", 2.0])])
def test_fill_values_are_nan_by_their_bits(tmp_path, dtype, fill, writes):
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype=dtype)
    document = json.loads((tmp_path / "a/zarr.json").read_text())
    document["fill_value"] = fill
    (tmp_path / "a/zarr.json").write_text(json.dumps(document))
    array = opened(tmp_path / "a")
    want = zarr.open_array(tmp_path / "a", mode="r")[...]
    assert array[...].tobytes() == want.tobytes()
    array[...] = want
    assert not keys(tmp_path / "a")
    assert len(writes) == (not dtype.startswith("complex"))


def test_memory_that_is_read_only_is_not_written(tmp_path):
    make(tmp_path / "a")
    array = opened(tmp_path / "a")
    memory = np.zeros(SHAPE, "int16")
    memory.flags.writeable = False
    out = zarr.core.buffer.cpu.NDBuffer.from_numpy_array(memory)
    for index in [(slice(None),) * 3, (slice(2, 4),) * 3]:
        with pytest.raises(ValueError, match="read-only|shape"):
            array.get_basic_selection(index, out=out)
    assert not memory.any()


def test_arrays_that_are_read_only_are_not_written(tmp_path, writes):
    elements = make(tmp_path / "a")
    array = opened(tmp_path / "a", mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0
    assert np.array_equal(array[...], elements) and writes == []


def test_threads_and_children_write_different_chunks(tmp_path):
    elements = make(tmp_path / "a")
    array = opened(tmp_path / "a")
    array[...] = 0

    def write(i):
        array[4 * i:4 * i + 4] = elements[4 * i:4 * i + 4]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    in_child(lambda: write(4))
    assert np.array_equal(array[...], elements)


@st.composite
def layouts(draw):
    """Options of any array."""
    rank = draw(st.integers(1, 4))
    chunks = draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank))
    shape = [draw(st.integers(1, 3 * n + 1)) for n in chunks]
    dtype = draw(st.sampled_from(TYPES))
    values = st.sampled_from([0, 1] if dtype == "bool" else [0, 1, 77])
    fill = draw(values)
    if np.dtype(dtype).kind in "fc":
        fill = draw(st.sampled_from([fill, np.nan, np.inf]))
    shards = [n * draw(st.integers(1, 3)) for n in chunks]
    return {
        "shape": tuple(shape), "chunks": tuple(chunks), "dtype": dtype,
        "shards": tuple(shards) if draw(st.booleans()) else None,
        "fill_value": fill, "overwrite": True,
        "compressors": draw(st.sampled_from(
            [None, ZstdCodec(), [GzipCodec(), Crc32cCodec()],
             BloscCodec(cname="lz4", shuffle="bitshuffle")])),
        "filters": (TransposeCodec(order=draw(st.permutations(range(rank))))
                    if draw(st.booleans()) else None),
        "config": {"write_empty_chunks": draw(st.booleans()),
                   "order": draw(st.sampled_from("CF"))},
    }, values


# More by hand: RADIO_TESTS_EXAMPLES=2000, which are others each time.
EXAMPLES = int(os.environ.get("RADIO_TESTS_EXAMPLES", 0))


@settings(max_examples=EXAMPLES or 25, deadline=None, database=None,
          derandomize=not EXAMPLES)
@given(layouts(), st.data())
def test_any_writes_and_reads_are_zarrs(tmp_path_factory, layout, data):
    options, values = layout
    places = [tmp_path_factory.mktemp("a") / "a" for _ in range(2)]
    want = zarr.create_array(places[0], **options)
    with libradio.zarr.use(strict=True):
        got = zarr.create_array(places[1], **options)

    def an_index():
        return tuple(slice(*sorted(data.draw(st.tuples(
            st.integers(-n, n), st.integers(-n, n)), label="slice")),
            data.draw(st.sampled_from([None, 2, 3]))) if data.draw(
                st.integers(0, 3)) else data.draw(st.integers(-n, n - 1))
            for n in options["shape"])

    def lists(n, least, most):
        return st.lists(st.integers(-n, n - 1), min_size=least, max_size=most)

    def a_mesh():
        return tuple(data.draw(st.one_of(
            lists(n, 1, 6), st.integers(-n, n - 1), st.just(slice(None)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)))
            for n in options["shape"])

    def points():
        number = data.draw(st.integers(1, 9))
        return tuple(data.draw(lists(n, number, number))
                     for n in options["shape"])

    def a_selection():
        """Returns how an array is indexed, and by what."""
        how = data.draw(st.sampled_from(["", "", "oindex", "vindex", "mask"]))
        if how == "mask":
            seed = data.draw(st.integers(0, 99))
            mask = np.random.default_rng(seed).random(options["shape"])
            return "vindex", mask < data.draw(st.sampled_from([0.1, 0.9]))
        return how, {"": an_index, "oindex": a_mesh, "vindex": points}[how]()

    def indexed(array, how):
        return getattr(array, how) if how else array

    for _ in range(data.draw(st.integers(1, 4))):
        if not data.draw(st.integers(0, 2)):
            options["shape"] = tuple(data.draw(st.integers(1, n + 6))
                                     for n in options["shape"])
            for each in [want, got]:
                each.resize(options["shape"])
        how, index = data.draw(st.sampled_from(
            [("", ()), ("", (...,)), a_selection()]))
        shape = np.shape(indexed(want, how)[index])
        # The last value of an element that is there twice is not defined.
        is_one = how or data.draw(st.booleans())
        value = (data.draw(values) if is_one else np.resize(
            np.array(data.draw(st.lists(values, min_size=1, max_size=7)),
                     options["dtype"]), shape))
        for each in [want, got]:
            indexed(each, how)[index] = value
        assert keys(places[0]) == keys(places[1])
        for how, index in [("", ()), ("", an_index()), a_selection()]:
            expected = indexed(want, how)[index]
            result = indexed(got, how)[index]
            assert np.array_equal(result, expected, equal_nan=True)
            assert np.shape(result) == np.shape(expected)
            assert np.array_equal(indexed(zarr.open_array(places[1]), how)
                                  [index], expected, equal_nan=True)
