# SPDX-License-Identifier: MIT
"""zarr-python sped up: its arrays read and written by this library.

>>> import libradio.zarr, numpy, zarr
>>> with libradio.zarr.use():
...     array = zarr.open_array("plain.zarr", mode="r")
>>> numpy.shape(array[10:20, ::2])
(10, 16)

Only this module and its parts import zarr-python, which has to be 3.1.6 or
later.
"""
import asyncio
import functools
import itertools
import json
import math
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakValueDictionary, ref

import numpy as np
import zarr
import zarr.abc.codec
import zarr.core.codec_pipeline
import zarr.core.sync
from numpy.typing import NDArray
from zarr.abc.store import Store
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata import ArrayV3Metadata
from zarr.registry import register_pipeline
from zarr.storage import StorePath

from . import _arguments, _calls, _dtypes
from ._calls import check
from ._handles import pickled
from ._native import ffi, lib
from ._zarr_selections import Chunk, Grid, Points, find_grid, find_points
from ._zarr_stores import Root, find_root
from .errors import (
    LimitError, NotFoundError, RadioError, RadioWarning, UnsupportedError,
)
from .store import Place

__all__ = ["CodecPipeline", "use"]

# The fastest of zarr's own, for what the library does not do.
_Other: type[zarr.abc.codec.CodecPipeline] = getattr(
    zarr.core.codec_pipeline, "FusedCodecPipeline",
    zarr.core.codec_pipeline.BatchedCodecPipeline)

# Elements that lie apart are read with what is between them, into memory of
# this size at most.
_PART_NBYTES = 64 << 20
_MAX_REQUESTS = 4096

# Reads of more are passed to another thread, so that zarr's can go on.
_QUICK_NBYTES = 1 << 20
# The same while that has nothing else to do: there and back takes a tenth of a
# read of 32 MiB.
_ALONE_NBYTES = 64 << 20


def use(*, strict: bool = False, memory: int = 0) -> Any:
    """Lets zarr-python read and write the arrays that are opened from now on
    by this library; in a ``with`` statement, those that are opened within it.

    strict: what the library does not support raises UnsupportedError, and what
    needs more memory LimitError.  Else it is done by zarr's own pipeline, after
    a warning.  memory: bound of the library's memory in bytes besides results,
    0: 1 GiB; a write needs some times a chunk, or a shard, for each thread.

    A program that cannot be changed, and processes that it spawns, find it in
    the environment, ``ZARR_CODEC_PIPELINE__PATH=libradio.zarr.CodecPipeline``,
    or in zarr's configuration file.

    >>> import libradio.zarr, numpy, zarr
    >>> with libradio.zarr.use(strict=True):
    ...     numpy.shape(zarr.open_array("plain.zarr", mode="r")[0, :4])
    (4,)
    """
    return zarr.config.set({
        "codec_pipeline.path": f"{__name__}.{CodecPipeline.__name__}",
        "codec_pipeline.strict": _arguments.flag(strict, "strict"),
        "codec_pipeline.memory": _arguments.whole(memory, "memory")})


def _regular_chunk_shape(metadata: Any) -> tuple[int, ...] | None:
    """None if chunks are of several shapes."""
    shape: tuple[int, ...] | None
    if isinstance(metadata, ArrayV3Metadata):
        shape = getattr(metadata.chunk_grid, "chunk_shape", None)
    else:
        shape = metadata.chunks
    return shape


# Stores over a network, while an array is open that uses their connections.
_shared: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _share(root: Root, threads: int, memory: int) -> Any:
    key = (os.getpid(), root.uri, threads, memory,
           *sorted((root.s3 or {}).items()))
    store = _shared.get(key)
    if store is None:
        store = _shared[key] = Place(root.uri, root.s3, threads, memory,
                                     0).open()
    return store


class _Array:
    """An array that is open."""

    __slots__ = ("dtype", "pointer", "store", "tile_shape")

    def __init__(self, store: Any, path: str, document: bytes) -> None:
        owner = _calls.owned("array", lib.radio_array_close)
        check(lib.radio_array_open_document(
            store.pointer, _arguments.chars(path, "path"), document,
            len(document), owner))
        self.pointer = _calls.take(owner)
        self.store = store          # open as long
        info = ffi.new("struct radio_array_info *")
        lib.radio_array_get_info(self.pointer, info)
        if info.dtype == lib.RADIO_STRING:
            raise UnsupportedError("its elements are strings")
        self.dtype = _dtypes.from_code(info.dtype, info.item_nbytes)
        self.tile_shape = list(info.tile_shape[0:info.rank])


class _Kept(NamedTuple):
    """An array that stays open, of this process."""

    key: tuple[Any, ...]
    shape: list[int]
    array: _Array

    def holds(self, end: list[int]) -> bool:
        return all(n <= most for n, most in zip(end, self.shape))


# The sources that keep a folder open, from one read to the next: the last ones
# that opened theirs, since each takes a descriptor.
_MAX_FOLDERS = 16
_have_folders: deque[ref["_Source"]] = deque()


def _identify(folder: str) -> tuple[int, ...] | None:
    """Returns values that distinguish a folder from another in its place."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


class _Source:
    """The array of a pipeline: where it is, and how the library opens it."""

    def __init__(self, metadata: Any, store: Store,
                 strict: bool, memory: int) -> None:
        self.metadata = metadata
        self.store: Any = store
        self.chunk_shape = _regular_chunk_shape(metadata)
        self.strict, self.memory = strict, memory
        self.reported: set[str] = set()
        self.kept: Any = None       # from one read to the next
        self.folder: _Kept | None = None
        self.text: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(_Source, self.metadata, self.store, self.strict,
                       self.memory)

    @cached_property
    def root(self) -> Root:
        """Of its store.  Raises UnsupportedError."""
        return find_root(self.store)

    @property
    def has_known_keys(self) -> bool:
        """Whether ``locate`` knows its keys of chunks."""
        return (isinstance(self.metadata, ArrayV3Metadata)
                and self.metadata.chunk_key_encoding.name in ("default",
                                                              "v2"))

    def find_obstacle(self) -> str | None:
        """Returns why the library does not read and write it."""
        if not isinstance(self.metadata, ArrayV3Metadata):
            return "it is of Zarr version 2"
        try:
            self.root
        except UnsupportedError as error:
            return str(error)
        if not self.has_known_keys:
            return ("its keys are "
                    f"'{self.metadata.chunk_key_encoding.name}'")
        if not self.chunk_shape:
            return "it has no axes, or chunks of different shapes"
        return None

    def report(self, key: str, reason: str) -> None:
        """Warns that zarr does it by itself, or refuses it.  The array is
        named: Python shows a line once."""
        # Without a query, which may be a signature.
        name = re.sub(r"\?[^\s,)>]*", "", str(self.store))
        if self.has_known_keys and (path := self.locate(key)[0]):
            name += f"/{path}"
        if self.strict:
            raise UnsupportedError(
                f"'{name}' is not supported by libradio.zarr: {reason}")
        if reason not in self.reported:
            self.reported.add(reason)
            warnings.warn(f"libradio.zarr: '{name}' is left to zarr-python:"
                          f" {reason}", RadioWarning, stacklevel=2)

    def locate(self, key: str) -> tuple[str, list[int]]:
        """Returns the path of the array and the coordinates of a chunk."""
        encoding = self.metadata.chunk_key_encoding
        has_prefix = encoding.name == "default"
        names = key.split("/")
        n = (len(self.metadata.shape) + has_prefix
             if encoding.separator == "/" else 1)
        numbers = "/".join(names[-n:]).split(encoding.separator)
        return ("/".join(names[:-n]),
                [int(number) for number in numbers[has_prefix:]])

    def find_points(self, batch: Sequence[Chunk], dropped: tuple[int, ...]
                    ) -> list[Points] | None:
        """Returns what each chunk selects, or None."""
        found = []
        for chunk in batch:
            _, at = self.locate(chunk[0].path)
            points = find_points(chunk, at, self.chunk_shape or (), dropped)
            if points is None:
                return None
            found.append(points)
        return found

    def find_grid(self, batch: Sequence[Chunk],
                  dropped: tuple[int, ...]) -> tuple[str, Grid | None]:
        """Returns the path of the array, and what chunks select of it."""
        path, first = self.locate(batch[0][0].path)
        _, last = self.locate(batch[-1][0].path)
        return path, find_grid(batch, first, last, self.chunk_shape or (),
                               dropped)

    def open(self, path: str, end: list[int], writes: bool) -> _Array:
        """Opens the array as its metadata say, with room up to end: zarr
        knows its shape.  What other processes wrote before is read."""
        threads = zarr.config.get("threading.max_workers", None) or 0
        root = self.root
        if root.is_local:
            folder = os.path.abspath(os.path.join(root.uri, path))
            return (self.open_in(folder, end, threads) if writes
                    else self.open_again(folder, end, threads))
        # Shard indexes are cached, if a stale one is detected.
        key = os.getpid(), path, threads
        if (isinstance(self.kept, _Kept) and self.kept.key == key
                and not writes and self.kept.holds(end)):
            return self.kept.array
        shape = end if writes else self.round_up(end)
        store = _share(root, threads, self.memory)
        array = _Array(store, path, self.document(shape))
        self.kept = (_Kept(key, shape, array)
                     if root.is_in_s3 and not writes else store)
        return array

    def round_up(self, end: list[int]) -> list[int]:
        """Returns the shape of all chunks that metadata or a read know."""
        return [-(-max(n, m) // length) * length for n, m, length
                in zip(end, self.metadata.shape, self.chunk_shape or ())]

    def open_in(self, folder: str, shape: list[int], threads: int) -> _Array:
        """Opens the array in its folder."""
        store = Place(folder, None, threads, self.memory, 0).open(
            sync=False)             # zarr does not, either
        self.kept = store.context   # the threads
        return _Array(store, "", self.document(shape))

    def open_again(self, folder: str, end: list[int],
                   threads: int) -> _Array:
        """The same, for a read; what is open is used, unless another folder is
        there now.  The library keeps the indexes of shards, as long as their
        files are the same."""
        key = os.getpid(), folder, threads, _identify(folder)
        kept = self.folder
        if kept is not None and kept.key == key and kept.holds(end):
            return kept.array
        shape = self.round_up(end)
        array = self.open_in(folder, shape, threads)
        if key[-1] == _identify(folder):
            self.folder = _Kept(key, shape, array)
            _have_folders.append(ref(self))
            while len(_have_folders) > _MAX_FOLDERS:
                oldest = _have_folders.popleft()()
                if oldest is not None and oldest is not self:
                    oldest.folder = None
        return array

    def document(self, shape: list[int]) -> bytes:
        """Returns the array's zarr.json, with another shape."""
        if self.text is None:
            members = self.metadata.to_dict()
            for name in ["attributes", "dimension_names", "shape"]:
                members.pop(name, None)
            # All NaN are "NaN" there.
            if (bits := _nan_bits(self.metadata.fill_value)) is not None:
                members["fill_value"] = bits
            self.text = json.dumps({**members, "shape": None})
        return f"{self.text.removesuffix('null}')}{shape}}}".encode()


@dataclass(frozen=True)
class _Transfer(ABC):
    """A read into the result's memory, or a write from there."""

    source: _Source
    key: str
    """Of its first chunk."""
    path: str
    """Of the array."""
    memory: NDArray[Any]
    writes: ClassVar[bool] = False

    @property
    @abstractmethod
    def end(self) -> list[int]:
        """After the last element, on each axis."""

    def run(self) -> bool:
        """False if the library does not support the array."""
        try:
            self.transfer(self.source.open(self.path, self.end,
                                           self.writes))
        except (LimitError, NotFoundError, UnsupportedError) as error:
            if self.source.strict:
                raise
            self.source.report(self.key, str(error))
            return False
        return True

    @abstractmethod
    def transfer(self, array: _Array) -> None: ...

    def is_native(self, array: _Array) -> bool:
        """False if the memory has the other byte order."""
        dtype = self.memory.dtype
        if dtype.newbyteorder("=") != array.dtype:
            raise UnsupportedError(f"its {array.dtype} are {dtype} in memory")
        return dtype.isnative


def _is_alone() -> bool:
    """Whether this is of the only synchronous call of zarr's that there is."""
    loop = asyncio.get_running_loop()
    return (loop is zarr.core.sync.loop[0]
            and len(asyncio.all_tasks(loop)) == 1)


def _is_quick(transfer: _Transfer) -> bool:
    """Whether another thread is no faster, and no one waits for this one."""
    nbytes = transfer.memory.nbytes
    return transfer.source.root.is_local and (
        nbytes <= _QUICK_NBYTES
        or (nbytes <= _ALONE_NBYTES and not transfer.writes and _is_alone()))


async def _run(transfer: _Transfer) -> bool:
    if _is_quick(transfer):
        return transfer.run()
    return await asyncio.to_thread(transfer.run)


@dataclass(frozen=True)
class _OfGrid(_Transfer):
    grid: Grid

    @property
    def end(self) -> list[int]:
        return self.grid.end


class _Write(_OfGrid):
    writes = True

    def past_end(self) -> list[tuple[list[int], list[int]]]:
        """Returns boxes of what the array's end cuts off the chunks: their
        start and size."""
        boxes = []
        start, end = self.grid.starts, self.end
        whole = [-(-n // length) * length for n, length
                 in zip(end, self.source.chunk_shape or ())]
        for axis, (n, most) in enumerate(zip(end, whole)):
            if n < most:
                low = [*start[:axis], n, *start[axis + 1:]]
                high = [*end[:axis], *whole[axis:]]
                boxes.append((low, [i - j for i, j in zip(high, low)]))
        return boxes

    def keeps(self, boxes: list[tuple[list[int], list[int]]]) -> bool:
        """Whether something other than the fill value is stored there, or
        whether that is not known."""
        try:
            array = self.source.open(self.path, self.end, False)
            fill = np.asarray(self.source.metadata.fill_value,
                              array.dtype).tobytes()
            most = max(1, _PART_NBYTES // max(1, array.dtype.itemsize))
            for low, size in boxes:
                for part in _halve([(0, n) for n in size], [1] * len(size),
                                   most):
                    box = np.empty([n for _, n in part], array.dtype)
                    _read_boxes(array, [([i + j for i, (j, _)
                                          in zip(low, part)], box)])
                    if box.tobytes() != fill * box.size:
                        return True
        except RadioError:
            return True
        return False

    def transfer(self, array: _Array) -> None:
        memory = np.ascontiguousarray(
            self.grid.with_all_axes(self.memory),
            None if self.is_native(array) else array.dtype)
        check(lib.radio_array_write(
            array.pointer, _calls.box(self.grid.starts, memory.shape),
            _calls.address(memory), memory.nbytes))


class _Read(_OfGrid):
    def transfer(self, array: _Array) -> None:
        grid = self.grid
        view = grid.with_all_axes(self.memory)
        is_native = self.is_native(array)
        if is_native and max(grid.steps, default=1) == 1:
            _read_boxes(array, [(grid.starts, view)])
            return
        boxes: list[tuple[list[int], NDArray[Any]]] = []
        copies: list[tuple[NDArray[Any], NDArray[Any]]] = []
        nbytes = 0
        for part in self.parts(array):
            target = view[tuple([slice(i, i + n) for i, n in part])]
            start = [first + i * step for first, (i, _), step
                     in zip(grid.starts, part, grid.steps)]
            size = [(n - 1) * step + 1 for (_, n), step
                    in zip(part, grid.steps)]
            if is_native and target.shape == tuple(size):
                boxes.append((start, target))
            else:
                box = np.empty(size, array.dtype)
                boxes.append((start, box))
                copies.append((target, box[tuple([slice(None, None, step)
                                                  for step in grid.steps])]))
                nbytes += box.nbytes
            if nbytes > _PART_NBYTES or len(boxes) == _MAX_REQUESTS:
                _read_and_copy(array, boxes, copies)
                nbytes = 0
        _read_and_copy(array, boxes, copies)

    def parts(self, array: _Array) -> Iterator[list[tuple[int, int]]]:
        """Cuts the grid into parts, each the first element's number and the
        number of elements on each axis.  No tile is between the elements of a
        part, and the box around them is not too large."""
        axes = [[(i, 1) for i in range(count)] if step > tile
                else [(0, count)]
                for count, step, tile in zip(self.grid.counts, self.grid.steps,
                                             array.tile_shape)]
        most = max(1, _PART_NBYTES // max(1, array.dtype.itemsize))
        for part in itertools.product(*axes):
            yield from _halve(list(part), self.grid.steps, most)


@dataclass(frozen=True)
class _ReadPoints(_Transfer):
    """What is selected by lists of indexes, or by masks."""

    chunks: list[Points]

    @property
    def end(self) -> list[int]:
        return [max(int(each.max()) for each in axis) + 1
                for axis in zip(*(points.indexes for points in self.chunks))]

    def transfer(self, array: _Array) -> None:
        self.is_native(array)       # raises, if they are of another type
        boxes: list[tuple[list[int], NDArray[Any]]] = []
        copies: list[Callable[[], None]] = []
        most = max(1, _PART_NBYTES // max(1, array.dtype.itemsize))
        nbytes = 0

        def read() -> None:
            nonlocal nbytes
            if boxes:
                _read_boxes(array, boxes)
            for copy in copies:
                copy()
            boxes.clear()
            copies.clear()
            nbytes = 0

        for points in self.chunks:
            values = np.empty(points.shape, array.dtype)
            for group in points.groups(array.tile_shape, most):
                parts = ([each[part] for each, part
                          in zip(points.indexes, group)] if points.is_mesh
                         else [each[group[0]] for each in points.indexes])
                start = [int(part.min()) for part in parts]
                box = np.empty([int(part.max()) - low + 1 for part, low
                                in zip(parts, start)], array.dtype)
                inside = [part - low for part, low in zip(parts, start)]
                boxes.append((start, box))
                nbytes += box.nbytes
                copies.append(functools.partial(
                    _put, values, _mesh(group), box,
                    _mesh(inside) if points.is_mesh else tuple(inside)))
                if nbytes > _PART_NBYTES or len(boxes) == _MAX_REQUESTS:
                    read()
            copies.append(functools.partial(_put, self.memory, points.place,
                                            values, points.kept))
        read()


def _mesh(numbers: Sequence[NDArray[np.intp]]) -> tuple[Any, ...]:
    """As numpy.ix_, by slices where that is the same, which are faster."""
    index = [slice(int(each[0]), int(each[-1]) + 1)
             if (np.diff(each) == 1).all() else each for each in numbers]
    if sum(not isinstance(each, slice) for each in index) > 1:
        return np.ix_(*numbers)
    return tuple(index)


def _put(to: NDArray[Any], at: Any, of: NDArray[Any], which: Any) -> None:
    to[at] = of[which]


def _halve(part: list[tuple[int, int]], steps: list[int],
           most: int) -> Iterator[list[tuple[int, int]]]:
    size = math.prod((n - 1) * step + 1 for (_, n), step in zip(part, steps))
    axis = next((axis for axis, (_, n) in enumerate(part) if n > 1), None)
    if size <= most or axis is None:
        yield part
        return
    i, n = part[axis]
    for half in [(i, n // 2), (i + n // 2, n - n // 2)]:
        yield from _halve([*part[:axis], half, *part[axis + 1:]], steps, most)


def _nan_bits(fill: Any) -> Any:
    """Returns a fill value with NaN as a document has it by its bits, or
    None."""
    scalar = np.asarray(fill)
    if scalar.dtype.kind not in "fc" or not np.isnan(scalar):
        return None
    native = scalar.astype(scalar.dtype.newbyteorder("="))
    parts = native.reshape(1).view(np.real(native).dtype)
    digits = 2 * parts.itemsize
    texts = [f"0x{int(each):0{digits}x}"
             for each in parts.view(f"u{parts.itemsize}")]
    return texts if scalar.dtype.kind == "c" else texts[0]


def _has_other_nans(elements: NDArray[Any], fill: Any) -> bool:
    """Whether there are NaN of other bits than those of a fill value that is
    NaN.  To zarr these are equal, so that it does not store a chunk of them;
    to the library they are not."""
    if elements.dtype.kind not in "fc" or not np.isnan(fill):
        return False
    if elements.dtype.kind == "c":
        return True
    native = elements.dtype.newbyteorder("=")
    nans = elements[np.isnan(elements)].astype(native, copy=False)
    bits = np.dtype(f"u{native.itemsize}")
    return bool((nans.view(bits) != np.asarray(fill, native).view(bits)).any())


def _read_and_copy(array: _Array,
                   boxes: list[tuple[list[int], NDArray[Any]]],
                   copies: list[tuple[NDArray[Any], NDArray[Any]]]) -> None:
    if boxes:
        _read_boxes(array, boxes)
    for target, elements in copies:
        target[...] = elements
    boxes.clear()
    copies.clear()


def _read_boxes(array: _Array,
                boxes: Sequence[tuple[list[int], NDArray[Any]]]) -> None:
    """Reads boxes, of which the start and the memory are given."""
    requests = ffi.new("struct radio_request[]", len(boxes))
    kept = []
    for i, (start, memory) in enumerate(boxes):
        request = requests[i]
        request.box = _calls.box(start, memory.shape)[0]
        request.buffer = _calls.address(memory)
        request.nbytes = memory.nbytes
        if not memory.flags.c_contiguous:
            kept.append(ffi.new("int64_t[]", memory.strides))
            request.strides = kept[-1]
    _calls.check(lib.radio_array_read_many(
        array.pointer, requests, len(boxes), lib.RADIO_STORED, _calls.NULL))


async def _has_past_end(write: _Write, batch: Sequence[Chunk]) -> bool:
    """Whether chunks that a write replaces have elements past the array's
    end: they are there again if it grows."""
    boxes = write.past_end()
    if not boxes:
        return False
    root = write.source.root
    places = [chunk[0] for chunk in batch if chunk[4] and any(
        isinstance(one, slice) and one.indices(length)[1] < length
        for one, length in zip(chunk[2], write.source.chunk_shape or ()))]
    is_stored = (
        any(os.path.exists(os.path.join(root.uri, place.path))
            for place in places) if root.is_local
        else any(await asyncio.gather(*(place.exists() for place in places))))
    return is_stored and await asyncio.to_thread(write.keeps, boxes)


def _make_other(codecs: Iterable[Any],
                metadata: Any) -> zarr.abc.codec.CodecPipeline:
    """Returns zarr's own pipeline for an array."""
    other = _Other.from_codecs(codecs)
    if _Other is zarr.core.codec_pipeline.BatchedCodecPipeline:
        return other
    return other.evolve_from_array_spec(ArraySpec(
        shape=(_regular_chunk_shape(metadata)
               or (1,) * len(metadata.shape)),
        dtype=metadata.dtype, fill_value=metadata.fill_value,
        config=ArrayConfig.from_dict({}),
        prototype=default_buffer_prototype()))


class CodecPipeline(zarr.abc.codec.CodecPipeline):
    """Reads chunks, and writes whole ones, by the library; what it does not
    support, and parts of chunks, by zarr's own pipeline.  See ``use``."""

    def __init__(self, other: zarr.abc.codec.CodecPipeline,
                 source: _Source | None = None) -> None:
        """Not called by users."""
        self._other = other
        self._source = source

    @classmethod
    def from_codecs(cls, codecs: Iterable[Any]) -> Self:
        """Of what has no place of its own, as the chunks of a shard."""
        return cls(_Other.from_codecs(codecs))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any,
                                      store: Store) -> Self:
        """Of an array."""
        codecs: Iterable[Any]
        if isinstance(array_metadata, ArrayV3Metadata):
            codecs = array_metadata.codecs
        else:
            codecs = [V2Codec(filters=array_metadata.filters,
                              compressor=array_metadata.compressor)]
        return cls(_make_other(codecs, array_metadata),
                   _Source(array_metadata, store,
                           bool(zarr.config.get("codec_pipeline.strict",
                                                False)),
                           _arguments.whole(
                               zarr.config.get("codec_pipeline.memory", 0),
                               "codec_pipeline.memory")))

    def evolve_from_array_spec(self, array_spec: Any) -> Self:
        """The same, for chunks of these properties."""
        return type(self)(self._other.evolve_from_array_spec(array_spec),
                          self._source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodecPipeline) and self._other == other._other

    def __hash__(self) -> int:
        return hash(self._other)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(type(self), self._other, self._source)

    def __iter__(self) -> Iterator[Any]:
        other: Any = self._other
        yield from other

    # What it does by itself.

    async def read(self, batch_info: Iterable[Chunk], out: Any,
                   drop_axes: tuple[int, ...] = ()) -> Any:
        """Reads chunks into out."""
        batch = list(batch_info)
        read = self._find_read(batch, out, drop_axes)
        if read is not None and await _run(read):
            return ({"status": "present"},) * len(batch)
        return await self._other.read(batch, out, drop_axes)

    def _find_read(self, batch: Sequence[Chunk], out: Any,
                   dropped: tuple[int, ...]) -> _Transfer | None:
        """Returns what the library reads instead of the chunks."""
        source = self._source
        if source is None or not batch:
            return None
        getter, spec = batch[0][:2]
        if not isinstance(getter, StorePath):
            return None             # a chunk of a shard that zarr has read
        key: str = getter.path
        obstacle = source.find_obstacle()
        if not getattr(spec.config, "read_missing_chunks", True):
            obstacle = "missing chunks are errors"
        if obstacle is not None:
            source.report(key, obstacle)
            return None
        path, grid = source.find_grid(batch, dropped)
        memory = out.as_ndarray_like()
        if not isinstance(memory, np.ndarray):
            source.report(key, "the result is not in NumPy's memory")
            return None
        if not memory.flags.writeable:
            return None             # zarr raises what it raises elsewhere
        if grid is not None and memory.shape == grid.result_shape:
            return _Read(source, key, path, memory, grid)
        points = source.find_points(batch, dropped)
        if points is None:
            source.report(key, "what is selected is no box and no points")
            return None
        return _ReadPoints(source, key, path, memory, points)

    async def write(self, batch_info: Iterable[Chunk], value: Any,
                    drop_axes: tuple[int, ...] = ()) -> None:
        """Writes chunks from value: those that are whole by the library."""
        batch = list(batch_info)
        write = self._find_write(batch, value, drop_axes)
        # Of shards zarr writes what is selected, and keeps the rest.
        if (write is not None and self._other.supports_partial_encode
                and await _has_past_end(write, batch)):
            write = None
            # The fused pipeline replaces shards that are whole, in stores
            # over a network; the default one never does.
            batch = [(*chunk[:4], False) for chunk in batch]
        if write is not None and await _run(write):
            batch = [chunk for chunk in batch if not chunk[4]]
        if batch:
            await self._other.write(batch, value, drop_axes)

    def _find_write(self, batch: Sequence[Chunk], value: Any,
                    dropped: tuple[int, ...]) -> "_Write | None":
        """Returns what the library writes instead of whole chunks."""
        whole = [chunk for chunk in batch if chunk[4]]
        source = self._source
        if source is None or not whole or not isinstance(whole[0][0],
                                                         StorePath):
            return None
        key: str = whole[0][0].path
        config = whole[0][1].config
        memory = value.as_ndarray_like()
        if (config.write_empty_chunks or source.store.read_only
                or not isinstance(memory, np.ndarray) or memory.ndim == 0):
            return None             # by zarr's rules
        obstacle = source.find_obstacle()
        if obstacle is not None:
            source.report(key, obstacle)
            return None
        path, grid = source.find_grid(whole, dropped)
        if (grid is None or max(grid.steps) > 1
                or not (source.root.is_local or source.root.is_in_s3)):
            return None
        part = memory[tuple([slice(one.start, other.stop) for one, other
                             in zip(whole[0][3], whole[-1][3])])]
        if part.shape != grid.result_shape or _has_other_nans(
                part, whole[0][1].fill_value):
            return None
        return _Write(source, key, path, part, grid)

    # What is zarr's.

    async def decode(self, chunk_bytes_and_specs: Iterable[tuple[Any, Any]]
                     ) -> Iterable[Any]:
        """Decodes chunks that were read."""
        return await self._other.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Iterable[tuple[Any, Any]]
                     ) -> Iterable[Any]:
        """Encodes chunks that will be written."""
        return await self._other.encode(chunk_arrays_and_specs)

    @property
    def supports_partial_decode(self) -> bool:
        """Whether parts of a chunk are decoded."""
        return self._other.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Whether parts of a chunk are encoded."""
        return self._other.supports_partial_encode

    def validate(self, **properties: Any) -> None:
        """Checks the codecs for an array."""
        self._other.validate(**properties)

    def compute_encoded_size(self, byte_length: int, array_spec: Any) -> int:
        """Returns the size of a chunk of byte_length bytes once encoded."""
        return self._other.compute_encoded_size(byte_length, array_spec)


register_pipeline(CodecPipeline)
