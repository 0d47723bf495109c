# SPDX-License-Identifier: MIT
"""Every operation has the same bits by each level of instructions, by one to
eight threads, of any tiling, from memory and in memory of any layout, and in
place."""

import hashlib
import json
import os
import random
import subprocess
import sys

import ctypes as c
import numpy as np
import pytest
from conftest import RADIO

from radio_library import RadioError, Store, Volume, lib

LEVELS = ["scalar", "neon", "sse2", "avx2"]
SIZE = 24
TILINGS = {"whole": "balanced", "small": "8,4,5"}
# What the examples of the operations leave out.
MORE = [f"to 31,17,40 {how} {grid}{smooth}"
        for how in ("linear", "cubic", "nearest", "majority")
        for grid in ("corner", "centre")
        for smooth in ("", " smooth") if how in ("linear", "cubic")
        or not smooth]
MORE += [f"affine 0.9,-0.3,0.1,2,0.3,0.9,0,0,0.2,0,1,0 about centre {how}"
         for how in ("cubic", "nearest")]
MORE += [f"resample 0.8 {how} | affine 0.9,-0.3,0.1,2,0.3,0.9,0,0,0.2,0,1,0 "
         f"about centre {how} | flip x | affine 0.9,0.3,0,0,-0.3,0.9,0,0,0,0,"
         f"1,0 {how}" for how in ("linear", "cubic", "nearest")]
MORE += ["pad 3,5:1,2 reflect | rot90 xz | crop 1:,:,2:",
         "linear 2,1 | clamp -20,300 | rescale 0,1 | gamma 0.6 | flip x",
         "rescale -1,1 from p2,p98 | resample 1.4 | znorm | reorient SAR"]


def pipelines():
    """An example of each operation that has one, and MORE."""
    text = c.create_string_buffer(128)
    lib.radio_pipeline_example.restype = c.c_char_p
    for i in range(100):
        if not lib.radio_pipeline_example(c.c_size_t(i), c.c_uint64(SIZE),
                                          text):
            break
        yield text.value.decode()
    yield from MORE


def read_all(volume, text):
    with volume.apply(text) as derived:
        return derived.read([0] * 3, derived.shape(), np.float32,
                            "float32")


def digests(folder):
    """Returns {pipeline: {digest: what gave it}}, for a level's process."""
    found = {}
    for name in TILINGS:
        for threads in range(1, 9):
            with Store(f"{folder}/{name}.zarr", threads=threads) as store, \
                 Volume(store, "a/image") as volume:
                for text in pipelines():
                    digest = hashlib.sha256(read_all(volume, text)).hexdigest()
                    found.setdefault(text, {}).setdefault(
                        digest, f"{threads} threads, {name}")
    with Volume.of_file(f"{folder}/image.nii") as file:
        for text in pipelines():
            digest = hashlib.sha256(read_all(file, text)).hexdigest()
            found[text].setdefault(digest, "the file")
        for threads in range(1, 9):
            add_memory(found, folder, file, threads)
    return found


def add_memory(found, folder, file, threads):
    """The same from memory, and in place where that is possible."""
    rng = random.Random(threads)
    data = np.load(f"{folder}/image.npy")
    for text in pipelines():
        _, view = layouts(data.shape, rng, data.dtype)
        view[...] = data
        with Volume.of_memory(view, file, threads) as volume:
            digest = hashlib.sha256(read_all(volume, text)).hexdigest()
            found[text].setdefault(digest, f"memory, {threads} threads")
            if data.dtype != np.float32:
                continue
            with volume.apply(text) as derived:
                try:
                    derived.read_into([0] * 3, view)
                except RadioError as error:
                    assert not is_in_place(text), (text, str(error))
                    assert view.tobytes() == data.tobytes()
                    continue
            assert is_in_place(text)
            digest = hashlib.sha256(view.tobytes()).hexdigest()
            found[text].setdefault(digest, f"in place, {threads} threads")


def is_in_place(text):
    return all(step.split()[0] in ("linear", "clamp", "rescale", "window",
                                   "gamma", "znorm", "saturate")
               for step in text.split(" | "))


@pytest.fixture(scope="module", params=["int16", "float32", "float64"])
def folder(request, nib, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param)
    rng = np.random.default_rng(4)
    data = rng.normal(20, 90, (SIZE, SIZE + 3, SIZE - 2)).astype(request.param)
    if data.dtype.kind == "f":
        data[3, 4, 5:9] = np.nan
    affine = np.diag([1.1, 0.9, 1.3, 1])
    nib.save(nib.Nifti1Image(data, affine), path / "image.nii")
    np.save(path / "image.npy", data.T)
    for name, tiling in TILINGS.items():
        subprocess.run([RADIO, "ingest", "-q", "-s", path / f"{name}.zarr",
                        "-c", "a", "--tiling", tiling, path / "image.nii"],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def test_levels_threads_and_tilings_have_equal_bits(folder):
    results = {}
    for level in LEVELS:
        env = {**os.environ, "RADIO_SIMD": level}
        has = subprocess.run([RADIO, "info", folder / "image.nii"],
                             capture_output=True, env=env, check=False)
        if has.returncode:            # not on this machine
            continue
        done = subprocess.run(
            [sys.executable, __file__, folder], capture_output=True, text=True,
            env=env, check=False)
        assert done.returncode == 0, done.stderr
        results[level] = json.loads(done.stdout)
    assert len(results) >= 2
    first = results["scalar"]
    assert len(first) >= 17 + len(MORE)
    for level, found in results.items():
        for text, by_digest in found.items():
            assert len(by_digest) == 1, (level, text, by_digest)
            assert set(by_digest) == set(first[text]), (level, text)


def layouts(shape, rng, dtype=np.float32):
    """Empty arrays of a shape: with gaps, axes in another order, reversed."""
    order = rng.sample(range(len(shape)), len(shape))
    wide = [shape[i] + rng.choice([0, 1, 7]) for i in order]
    array = np.full(wide, 77, dtype)
    view = array[tuple(slice(shape[i]) for i in order)]
    view = view.transpose(np.argsort(order))
    if rng.random() < 0.5:
        axis = rng.randrange(len(shape))
        view = np.flip(view, axis)
    return array, view


def test_results_are_written_with_any_strides(folder):
    """And nothing between them."""
    rng = random.Random(6)
    with Store(f"{folder}/small.zarr", threads=3) as store, \
         Volume(store, "a/image") as of_store, \
         Volume.of_file(f"{folder}/image.nii") as of_file:
        for text in pipelines():
            want = read_all(of_file, text)
            for volume in of_store, of_file:
                start = [rng.randrange(n) for n in want.shape]
                size = [rng.randint(1, n - s)
                        for n, s in zip(want.shape, start)]
                part = want[tuple(slice(s, s + k)
                                  for s, k in zip(start, size))]
                array, view = layouts(size, rng)
                with volume.apply(text) as derived:
                    derived.read_into(start, view)
                assert view.tobytes() == part.tobytes(), (text, start, size)
                view[...] = 77
                assert (array == 77).all(), text


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1])))
