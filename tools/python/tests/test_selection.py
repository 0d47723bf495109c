# SPDX-License-Identifier: MIT
"""Indexing against NumPy: generated selections, over all types."""
import random
from collections import namedtuple

import numpy as np
import pytest
from images import TYPES, voxels

import libradio

SELECTIONS = 10_000
SHAPES = [(11, 7, 5), (6, 1, 9), (5, 4, 3, 4), (4, 3, 5, 2, 3)]


@pytest.fixture(scope="module")
def cases():
    """Volumes of all types, each with its array."""
    store = libradio.open("memory:", create=True)
    result = []
    for dtype in TYPES:
        for shape in SHAPES:
            array = voxels(shape, dtype, len(result))
            volume = libradio.from_numpy(array, store, f"c/v{len(result)}",
                                         tiling="4,4,4")
            result.append((volume, array))
    return result


def one_item(rng, length):
    if rng.random() < 0.4:
        return rng.randrange(-length, length)

    def end():
        return rng.choice([None, rng.randint(-length - 2, length + 2)])

    step = rng.choice([None, None, 1, -1, 2, -2, 3, -5])
    return slice(end(), end(), step)


def an_index(rng, shape):
    given = rng.randint(0, len(shape))
    items = [one_item(rng, n) for n in shape[:given]]
    if rng.random() < 0.3:
        # An ellipsis stands for the axes after the first ones.
        first = rng.randint(0, given)
        last = [one_item(rng, n) for n in shape[len(shape) - given + first:]]
        items = [*items[:first], ..., *last]
    while rng.random() < 0.2:
        items.insert(rng.randint(0, len(items)), None)
    if len(items) == 1 and rng.random() < 0.5:
        return items[0]
    return tuple(items)


def test_selections_are_numpys(cases):
    rng = random.Random(23)
    for i in range(SELECTIONS):
        volume, array = cases[i % len(cases)]
        if i % 3 == 0:
            volume, array = volume.zyx, in_array_order(array)
        index = an_index(rng, array.shape)
        want = array[index]
        got = volume[index]
        assert got.dtype == want.dtype and got.shape == want.shape, index
        assert np.array_equal(got, want), index
        assert type(got) is type(want), index


def in_array_order(array):
    return (array.T if array.ndim < 5 else array.transpose(3, 4, 2, 1, 0))


def test_results_have_x_fastest(cases):
    for volume, array in cases:
        if array.ndim == 3:
            assert volume[...].flags.f_contiguous
            assert volume[1:3, ::-1, ::2].flags.f_contiguous
            assert volume.zyx[...].flags.c_contiguous
            # One allocation: not a view of a larger array.
            assert volume[::2].base is None


@pytest.mark.parametrize("index", [
    64, -65, (0, 48), (0, 0, 0, 0), (..., ...), True, np.bool_(1), 1.0, "x",
    [1, 2], np.array([1, 2]), (0, [1]), np.zeros((64, 48, 32), bool)])
def test_what_numpy_refuses_or_copies_by_lists_is_an_index_error(head, index):
    with pytest.raises(IndexError):
        head[0][index]


def test_numpys_other_exceptions(head):
    with pytest.raises(ValueError, match="step"):
        head[0][::0]
    with pytest.raises(TypeError):
        head[0][1.5:]


def test_what_is_like_an_integer_selects(head):
    volume, array = head
    assert volume[np.int64(3), np.uint8(4), np.array(-5)] == array[3, 4, -5]
    voxel = namedtuple("Voxel", "x y z")(3, 4, -5)
    assert volume[voxel] == array[voxel]
