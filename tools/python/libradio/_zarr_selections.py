# SPDX-License-Identifier: MIT
"""What is selected of an array, from the chunks that zarr-python passes: a
grid of elements, or points."""
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# A chunk of a read, as zarr passes it: its key, its properties, what is
# selected of it, where that is in the result, and whether it is all.
Chunk: TypeAlias = tuple[Any, Any, Any, Any, bool]


class Grid(NamedTuple):
    """Elements at equal distances: their first index, number and distance on
    each axis of the array, and the axes that the result lacks."""

    starts: list[int]
    counts: list[int]
    steps: list[int]
    lacks: list[bool]

    @property
    def end(self) -> list[int]:
        """After the last of them, on each axis."""
        return [start + (count - 1) * step + 1 for start, count, step
                in zip(self.starts, self.counts, self.steps)]

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Without the axes that the result lacks."""
        return tuple([count for count, lacks in zip(self.counts, self.lacks)
                      if not lacks])

    def with_all_axes(self, memory: NDArray[Any]) -> NDArray[Any]:
        """Returns the result's memory with the axes that it lacks."""
        if not any(self.lacks):
            return memory
        index = tuple(None if lacks else slice(None) for lacks in self.lacks)
        view: NDArray[Any] = memory[index]
        return view


def find_grid(batch: Sequence[Chunk], first: Sequence[int],
              last: Sequence[int], chunk_shape: Sequence[int],
              dropped: tuple[int, ...]) -> Grid | None:
    """Returns the elements that chunks, from first to last, select; None if
    they are no grid.  Zarr passes chunks in C order, each with its selection
    on every axis: so the first and the last determine all."""
    grid = Grid([], [], [], [])
    nchunks = 1
    for axis, (one, other, i, j, length) in enumerate(zip(
            batch[0][2], batch[-1][2], first, last, chunk_shape)):
        if isinstance(one, slice) and isinstance(other, slice):
            start, stop, step = one.indices(length)
            start_last, stop_last, step_last = other.indices(length)
            if (step < 1 or step_last != step or stop <= start
                    or stop_last <= start_last):
                return None
            low = i * length + start
            high = (j * length + start_last
                    + (stop_last - 1 - start_last) // step * step)
            lacks = axis in dropped
        elif isinstance(one, (int, np.integer)) and one == other:
            low, high = i * length + int(one), j * length + int(one)
            step, lacks = 1, True
        else:
            return None
        count = (high - low) // step + 1
        if (high - low) % step or count < 1 or (lacks and count > 1):
            return None
        grid.starts.append(low)
        grid.counts.append(count)
        grid.steps.append(step if count > 1 else 1)
        grid.lacks.append(lacks)
        nchunks *= count if step >= length else j - i + 1
    return grid if nchunks == len(batch) else None


class Points(NamedTuple):
    """Elements of a chunk: their indexes in the array, on each axis."""

    indexes: list[NDArray[np.intp]]
    is_mesh: bool
    """All combinations; else the n-th indexes are of the n-th element."""
    kept: Any
    """Selects the axes that the result has."""
    place: Any
    """Where they are in the result."""

    @property
    def shape(self) -> list[int]:
        lengths = [len(each) for each in self.indexes]
        return lengths if self.is_mesh else lengths[:1]

    def groups(self, tile_shape: Sequence[int],
               most: int) -> Iterator[tuple[NDArray[np.intp], ...]]:
        """Groups their numbers in indexes, on each axis of a mesh, so that the
        box around a group's elements has no tile without any in a row, and
        most elements at most, unless it is of one tile."""
        tiles = [each // length for each, length
                 in zip(self.indexes, tile_shape)]
        if self.is_mesh:
            axes = [_cut(each, 1) for each in tiles]
            for group in itertools.product(*axes):
                yield from _halve_group(self.indexes, group, most)
            return
        key = np.zeros(len(tiles[0]), np.intp)
        for each in tiles:
            lowest = each.min()
            key = key * (each.max() - lowest + 1) + each - lowest
        for one in _cut(key, 0):
            yield (one,)


def _cut(values: NDArray[np.intp], most: int) -> list[NDArray[np.intp]]:
    """Sorts numbers of values, and cuts where they differ by more."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order]) > most) + 1)


def _halve_group(indexes: list[NDArray[np.intp]],
                 group: tuple[NDArray[np.intp], ...], most: int
                 ) -> Iterator[tuple[NDArray[np.intp], ...]]:
    size = math.prod(int(each[part[-1]] - each[part[0]]) + 1
                     for each, part in zip(indexes, group))
    axis = next((axis for axis, part in enumerate(group) if len(part) > 1),
                None)
    if size <= most or axis is None:
        yield group
        return
    middle = len(group[axis]) // 2
    for half in [group[axis][:middle], group[axis][middle:]]:
        yield from _halve_group(
            indexes, (*group[:axis], half, *group[axis + 1:]), most)


def find_points(chunk: Chunk, at: Sequence[int], chunk_shape: Sequence[int],
                dropped: tuple[int, ...]) -> Points | None:
    """Returns the elements that a chunk selects; None if zarr passes them in
    another way than those that are known: a mesh like numpy.ix_, or a list for
    each axis."""
    indexes, lacks = [], set(dropped)
    is_mesh = len(at) == 1
    if not isinstance(chunk[2], tuple) or len(chunk[2]) != len(at):
        return None
    for axis, (one, i, length) in enumerate(zip(chunk[2], at, chunk_shape)):
        if isinstance(one, slice):
            inside = np.arange(*one.indices(length))
            is_mesh = True
        elif isinstance(one, (int, np.integer)):
            inside = np.array([one])
            lacks.add(axis)
            is_mesh = True
        elif isinstance(one, np.ndarray) and one.dtype.kind in "iub":
            is_mesh = is_mesh or one.ndim > 1
            # A mask of an array of one axis is passed as it is.
            inside = np.flatnonzero(one) if one.dtype == bool else one.ravel()
        else:
            return None
        indexes.append(i * length + inside.astype(np.intp))
    kept = tuple([0 if axis in lacks else slice(None)
                  for axis in range(len(at))]) if is_mesh else ...
    points = Points(indexes, is_mesh, kept, chunk[3])
    if not all(points.shape) or (
            not is_mesh and len({len(each) for each in indexes}) > 1):
        return None
    return points
