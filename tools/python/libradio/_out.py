# SPDX-License-Identifier: MIT
"""The arrays and tensors that users give to be filled."""
import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _arguments
from ._calls import address


def writable(out: Any) -> NDArray[Any]:
    """Returns the memory of out as an array, without a copy."""
    if isinstance(out, np.ndarray):
        array = out
    elif hasattr(out, "__array_interface__"):
        array = np.asarray(out)
    elif hasattr(out, "__dlpack__"):
        array = _tensor_memory(out)
    else:
        try:
            array = np.asarray(memoryview(out))
        except TypeError:
            raise TypeError(f"out: {type(out).__name__} has no memory to read"
                            " into; use a NumPy array or a tensor") from None
    if not array.flags.writeable:
        raise ValueError("out: the array is read-only")
    check_overlap(array)
    return array


def check_overlap(out: NDArray[Any]) -> None:
    """Raises if elements may share memory, as in numpy.broadcast_arrays and in
    sliding windows: what is in it then would be a matter of chance."""
    if not out.flags.forc and _may_overlap(out.shape, out.strides,
                                           out.itemsize):
        raise ValueError(f"out: elements of the array share memory (the"
                         f" shape {out.shape}, the strides {out.strides});"
                         " use one with memory for each")


def _may_overlap(shape: Sequence[int], strides: Sequence[int],
                 item_nbytes: int) -> bool:
    nbytes = item_nbytes        # of the axes with smaller strides
    for stride, n in sorted((abs(stride), n) for stride, n
                            in zip(strides, shape) if n > 1):
        if stride < nbytes:
            return True
        nbytes += stride * (n - 1)
    return False


def check_apart(results: Sequence[NDArray[Any]]) -> None:
    """Raises if arrays of one type share memory with each other."""
    ranges = sorted((*_bounds(array), i) for i, array in enumerate(results)
                    if array.size)
    first, end = 0, 0
    for n, (low, high, _) in enumerate(ranges):
        if low >= end:
            _check_ranges(results, ranges[first:n])
            first = n
        end = max(end, high)
    _check_ranges(results, ranges[first:])


def _bounds(array: NDArray[Any]) -> tuple[int, int]:
    """Returns the address of the first byte, and that after the last."""
    low = high = int(array.__array_interface__["data"][0])
    if array.flags.forc:
        return low, high + array.nbytes
    for stride, n in zip(array.strides, array.shape):
        low += min(0, stride * (n - 1))
        high += max(0, stride * (n - 1))
    return low, high + array.itemsize


def _check_ranges(results: Sequence[NDArray[Any]],
                  ranges: Sequence[tuple[int, int, int]]) -> None:
    """Raises if arrays share memory; each range overlaps another, which need
    not mean that, as with batch[..., i]."""
    if len(ranges) < 2 or _are_planes(results, ranges):
        return
    for n, (_, high, i) in enumerate(ranges):
        for low, _, j in islice(ranges, n + 1, None):
            if low >= high:
                break
            if np.shares_memory(results[i], results[j]):
                raise ValueError(f"out: the arrays of boxes {min(i, j)} and"
                                 f" {max(i, j)} share memory; use one with"
                                 " memory for each")


def _are_planes(results: Sequence[NDArray[Any]],
                ranges: Sequence[tuple[int, int, int]]) -> bool:
    """Whether the arrays are planes of one whose elements are apart: they have
    the same strides, and their distances have a common divisor."""
    first, _, i = ranges[0]
    shape, strides = results[i].shape, results[i].strides
    distances = [low - first for low, _, _ in ranges]
    distance = math.gcd(*distances)
    return (all(results[i].shape == shape and results[i].strides == strides
                for _, _, i in ranges)
            and len(set(distances)) == len(distances)
            and not _may_overlap((*shape, distances[-1] // distance + 1),
                                 (*strides, distance), results[i].itemsize))


def _tensor_memory(out: Any) -> NDArray[Any]:
    # Of tensors that give DLPack of before 1.0 NumPy makes read-only arrays.
    view: Any = np.asarray if hasattr(out, "__array__") else np.from_dlpack
    array, again = view(out), view(out)
    if address(array) != address(again):
        raise TypeError(f"out: {type(out).__name__} gives copies of its"
                        " elements, not its memory; use a NumPy array or a"
                        " tensor")
    result: NDArray[Any] = array
    return result


def check_shape(out: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raises if out has another shape than the result."""
    if out.shape != shape:
        raise ValueError(f"out: has the shape {out.shape}, but the result has"
                         f" {shape}")


def check_dtype(out: np.dtype[Any], dtype: DTypeLike | None) -> None:
    """Raises if out is not of the type that is asked for."""
    wanted = out if dtype is None else _arguments.dtype(dtype)
    if wanted != out:
        raise TypeError(f"out: is of {out}, but dtype is {wanted}")
