# SPDX-License-Identifier: MIT
"""NumPy's basic indexing: which box an index selects, and how the result lies
in it."""
import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Selection", "select", "whole_number"]


class Selection(NamedTuple):
    """The box of an index, and how to get from it to the result."""

    start: tuple[int, ...]
    """Of the box, on each axis."""

    size: tuple[int, ...]
    """Of the box, on each axis."""

    steps: tuple[int, ...]
    """The step on each axis, 1 where it has no slice; may be negative."""

    view: tuple[Any, ...]
    """Index that makes the result of the box, as NumPy does."""

    is_scalar: bool
    """True if the result is one element, not an array of none axes."""

    @property
    def has_gaps(self) -> bool:
        """True if the box has elements that the result has not."""
        return any(abs(step) != 1 for step in self.steps)

    def in_box(self, result: NDArray[Any]) -> NDArray[Any]:
        """Returns the result's memory with the axes of the box, each in its
        direction: the inverse of view, if there are no gaps."""
        index: list[Any] = []
        for item in self.view:
            if item is None:
                index.append(0)
            elif isinstance(item, int):
                index.append(None)
            else:
                index.append(item)
        memory: NDArray[Any] = result[tuple(index)]
        return memory

    def result_shape(self) -> tuple[int, ...]:
        """Returns the shape of the result."""
        shape: list[int] = []
        axis = 0
        for item in self.view:
            if item is None:
                shape.append(1)
                continue
            if not isinstance(item, int):
                step = abs(self.steps[axis])
                shape.append((self.size[axis] + step - 1) // step)
            axis += 1
        return tuple(shape)


_WHOLE = slice(None)
_REVERSED = slice(None, None, -1)


def select(index: Any, shape: tuple[int, ...]) -> Selection:
    """Returns what an index selects of an array of that shape, with NumPy's
    exceptions for one that cannot be."""
    items = index if isinstance(index, tuple) else (index,)
    rank = len(shape)
    given = 0
    has_ellipsis = False
    for item in items:
        if item is Ellipsis:
            if has_ellipsis:
                raise IndexError("an index can only have a single ellipsis"
                                 " ('...')")
            has_ellipsis = True
        elif item is not None:
            given += 1
    if given > rank:
        raise IndexError(f"too many indices: the volume is {rank}-dimensional,"
                         f" but {given} were indexed")
    is_scalar = given == rank == len(items)
    if not has_ellipsis:
        items = (*items, Ellipsis)

    start: list[int] = []
    size: list[int] = []
    steps: list[int] = []
    view: list[Any] = []
    for item in items:
        axis = len(start)
        if item is Ellipsis:
            whole = shape[axis:rank - given]
            start += [0] * len(whole)
            size += whole
            steps += [1] * len(whole)
            view += [_WHOLE] * len(whole)
            continue
        if item is None:
            view.append(None)
            continue
        given -= 1
        length = shape[axis]
        if isinstance(item, slice):
            is_scalar = False
            first, stop, step = item.indices(length)
            count = len(range(first, stop, step))
            extent = (count - 1) * abs(step) + 1 if count else 0
            if step < 0 and count:
                first -= extent - 1
            # Past the end of an axis nothing starts, not even an empty box.
            start.append(first if count else 0)
            size.append(extent)
            if step == 1 or count <= 1:
                steps.append(1)
                view.append(_WHOLE)
            else:
                steps.append(step)
                view.append(_REVERSED if step == -1
                            else slice(None, None, step))
            continue
        i = whole_number(item)
        if not -length <= i < length:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with"
                             f" size {length}")
        start.append(i + length if i < 0 else i)
        size.append(1)
        steps.append(1)
        view.append(0)
    return Selection(tuple(start), tuple(size), tuple(steps), tuple(view),
                     is_scalar)


def whole_number(item: Any, name: str = "") -> int:
    """Returns an index of one voxel; raises NumPy's IndexError for others."""
    if not isinstance(item, (bool, np.bool_)):
        try:
            return operator.index(item)
        except TypeError:
            pass
    named = f"{name}: " if name else ""
    raise IndexError(f"{named}only integers, slices (`:`), ellipsis (`...`),"
                     " and numpy.newaxis (`None`) select voxels of a volume,"
                     f" not {type(item).__name__}; read a box, and index that")
