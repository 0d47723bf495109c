# SPDX-License-Identifier: MIT
"""zarr-python sped up: its arrays read and written by this library.

>>> import libradio.zarr, numpy, zarr
>>> with libradio.zarr.use():
...     array = zarr.open_array("plain.zarr", mode="r")
>>> numpy.shape(array[10:20, ::2])
(10, 16)

This module alone imports zarr-python, of which it needs 3.1.6 or later.
"""
import asyncio
import functools
import itertools
import json
import math
import os
import urllib.parse
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import (
    Callable, Collection, Iterable, Iterator, Sequence,
)
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias
from weakref import WeakValueDictionary, ref

import numpy as np
import zarr
import zarr.abc.codec
import zarr.core.codec_pipeline
from numpy.typing import NDArray
from zarr.abc.store import Store
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata import ArrayV3Metadata
from zarr.registry import register_pipeline
from zarr.storage import FsspecStore, LocalStore, ObjectStore, StorePath

from . import _calls, _dtypes
from ._calls import check
from ._handles import PICKLE_VERSION, restore
from ._native import ffi, lib
from .errors import LimitError, NotFoundError, RadioWarning, UnsupportedError
from .store import S3Options, _Place

__all__ = ["CodecPipeline", "use"]

# The fastest of zarr's own, for what the library does not do.
_Other: type[zarr.abc.codec.CodecPipeline] = getattr(
    zarr.core.codec_pipeline, "FusedCodecPipeline",
    zarr.core.codec_pipeline.BatchedCodecPipeline)

# A chunk of a read, as zarr passes it: its key, its properties, what is
# selected of it, where that is in the result, and whether it is all.
_Chunk: TypeAlias = tuple[Any, Any, Any, Any, bool]

# Elements that lie apart are read with what is between them, into memory of
# this size at most.
_PART_NBYTES = 64 << 20
_MAX_REQUESTS = 4096

# Reads of more are passed to another thread, so that zarr's can go on.
_QUICK_NBYTES = 1 << 20


def use(*, strict: bool = False) -> Any:
    """Lets zarr-python read and write the arrays that are opened from now on
    by this library; in a ``with`` statement, those that are opened within it.

    strict: what the library does not support raises UnsupportedError.  Else
    it is done by zarr's own pipeline, after a warning.

    >>> import libradio.zarr, numpy, zarr
    >>> with libradio.zarr.use(strict=True):
    ...     numpy.shape(zarr.open_array("plain.zarr", mode="r")[0, :4])
    (4,)
    """
    return zarr.config.set({
        "codec_pipeline.path": f"{__name__}.{CodecPipeline.__name__}",
        "codec_pipeline.strict": strict})


class _Grid(NamedTuple):
    """Elements at equal distances: their first index, number and distance on
    each axis of the array, and the axes that the result lacks."""

    starts: list[int]
    counts: list[int]
    steps: list[int]
    lacks: list[bool]

    @property
    def end(self) -> list[int]:
        """Behind the last of them, on each axis."""
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


def _find_grid(batch: Sequence[_Chunk], first: Sequence[int],
               last: Sequence[int], chunk_shape: Sequence[int],
               dropped: tuple[int, ...]) -> _Grid | None:
    """Returns the elements that chunks, from first to last, select; None if
    they are no grid.  Zarr passes chunks in C order, and of each what is
    selected on every axis: so the first and the last tell all."""
    grid = _Grid([], [], [], [])
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


class _Points(NamedTuple):
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


def _find_points(chunk: _Chunk, at: Sequence[int], chunk_shape: Sequence[int],
                 dropped: tuple[int, ...]) -> _Points | None:
    """Returns the elements that a chunk selects; None if zarr passes them in
    another way than those that are known: a mesh as of numpy.ix_, or a list for
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
    points = _Points(indexes, is_mesh, kept, chunk[3])
    if not all(points.shape) or (
            not is_mesh and len({len(each) for each in indexes}) > 1):
        return None
    return points


def _regular_chunk_shape(metadata: Any) -> tuple[int, ...] | None:
    """None if chunks are of several shapes."""
    shape: tuple[int, ...] | None
    if isinstance(metadata, ArrayV3Metadata):
        shape = getattr(metadata.chunk_grid, "chunk_shape", None)
    else:
        shape = metadata.chunks
    return shape


class _Root(NamedTuple):
    """The root of zarr's store, as the library opens it."""

    uri: str
    s3: S3Options | None = None

    @property
    def is_local(self) -> bool:
        return "://" not in self.uri

    @property
    def is_in_s3(self) -> bool:
        return self.s3 is not None


# Members of obstore's configuration: the library's options of S3, and what
# does not change what is read and written.
_OBSTORE_S3 = {
    "access_key_id": "access_key", "secret_access_key": "secret_key",
    "session_token": "session_token", "token": "session_token",
    "region": "region", "default_region": "region",
    "endpoint": "endpoint", "aws_endpoint_url_s3": "endpoint"}
_OBSTORE_OTHERS = {"bucket", "skip_signature", "virtual_hosted_style_request",
                   "conditional_put", "copy_if_not_exists", "disable_tagging",
                   "disable_bulk_delete", "unsigned_payload",
                   "checksum_algorithm"}
_OBSTORE_CLIENT = {"allow_http", "timeout", "connect_timeout", "user_agent",
                   "pool_idle_timeout", "pool_max_idle_per_host",
                   "http1_only", "http2_only"}


def _find_root(store: Any) -> _Root:
    """Returns where a store of zarr's is.  One whose options the library
    lacks is not supported: it would not read the same."""
    kind = type(store).__name__
    if type(store) is LocalStore:
        return _Root(os.fspath(store.root))
    if type(store) is FsspecStore:
        kind += f" of {type(store.fs).__name__}"
        if kind.endswith(" HTTPFileSystem"):
            return _http_of_fsspec(store.fs, store.path)
        if kind.endswith(" S3FileSystem"):
            return _s3_of_fsspec(store.fs, store.path.strip("/"))
    elif type(store) is ObjectStore:
        inner = store.store
        kind += f" of {type(inner).__name__}"
        if kind.endswith(" LocalStore") and inner.prefix is not None:
            return _Root(os.fspath(inner.prefix))
        if kind.endswith(" HTTPStore"):
            _lack("obstore's client", inner.client_options, _OBSTORE_CLIENT)
            return _http(inner.url)
        if kind.endswith(" S3Store"):
            return _s3_of_obstore(inner)
    raise UnsupportedError(f"it is in a {kind}")


def _lack(what: str, options: Any, known: Collection[str]) -> None:
    """Refuses options that the library has not."""
    for name in options or ():
        if name not in known:
            raise UnsupportedError(f"{what} has the option '{name}'")


def _http(url: str) -> _Root:
    return _Root(urllib.parse.quote(url, safe="/:%~!$&'()*+,;=@[]"))


def _http_of_fsspec(fs: Any, url: str) -> _Root:
    _lack("fsspec's client", {**fs.kwargs, **fs.client_kwargs}, ())
    if not fs.get_client.__module__.startswith("fsspec."):
        raise UnsupportedError("fsspec has a client of its own")
    return _http(url)


def _s3_of_obstore(inner: Any) -> _Root:
    config = inner.config
    _lack("obstore's S3", config, [*_OBSTORE_S3, *_OBSTORE_OTHERS])
    _lack("obstore's client", inner.client_options, _OBSTORE_CLIENT)
    if inner.credential_provider is not None:
        raise UnsupportedError("obstore's credentials are from a function")
    s3: dict[str, str | int | bool] = {
        ours: config[theirs] for theirs, ours in _OBSTORE_S3.items()
        if theirs in config}
    # It has these variables that AWS's clients have not.
    if "endpoint" not in s3 and "AWS_ENDPOINT" in os.environ:
        s3["endpoint"] = os.environ["AWS_ENDPOINT"]
    s3["anonymous"] = _is_true(config.get(
        "skip_signature", os.environ.get("AWS_SKIP_SIGNATURE")))
    bucket = config["bucket"]
    s3["addressing"] = "path"
    if _is_true(config.get("virtual_hosted_style_request")):
        s3["addressing"] = "virtual"
        # With the bucket's name, that the library adds.
        scheme, _, host = str(s3.get("endpoint", "")).partition("://")
        if host:
            s3["endpoint"] = f"{scheme}://{host.removeprefix(bucket + '.')}"
    return _Root("/".join(["s3:/", bucket, *filter(None, [inner.prefix])]), s3)


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes", "on", "y", "t")


def _s3_of_fsspec(fs: Any, place: str) -> _Root:
    _lack("s3fs", fs.kwargs, ["profile"])
    _lack("s3fs", fs.s3_additional_kwargs, ())
    _lack("s3fs's client", fs.client_kwargs, ["endpoint_url", "region_name"])
    _lack("s3fs's configuration", fs.config_kwargs,
          ["s3", "connect_timeout", "read_timeout", "retries",
           "max_pool_connections", "tcp_keepalive"])
    style = fs.config_kwargs.get("s3", {})
    _lack("s3fs's configuration", style, ["addressing_style"])
    if fs.requester_pays or fs.version_aware or not (
            fs.session is None or fs._session_is_owned):
        raise UnsupportedError("s3fs has a session, or options of its own")
    options = {
        "access_key": fs.key, "secret_key": fs.secret,
        "session_token": fs.token, "anonymous": bool(fs.anon),
        "endpoint": fs.endpoint_url or fs.client_kwargs.get("endpoint_url"),
        "region": fs.client_kwargs.get("region_name"),
        "profile": fs.kwargs.get("profile"),
        "addressing": style.get("addressing_style", "auto")}
    return _Root(f"s3://{place}", {name: value for name, value
                                   in options.items() if value is not None})


# Stores over a network, while an array is open that uses their connections.
_shared: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _share(root: _Root, threads: int) -> Any:
    key = (os.getpid(), root.uri, threads,
           *sorted((root.s3 or {}).items()))
    store = _shared.get(key)
    if store is None:
        store = _shared[key] = _Place(root.uri, root.s3, threads, 0, 0).open()
    return store


class _Array:
    """An array that is open."""

    __slots__ = ("dtype", "has_shards", "pointer", "store", "tile_shape")

    def __init__(self, store: Any, path: str, document: bytes) -> None:
        result = ffi.new("struct radio_array **")
        check(lib.radio_array_open_document(
            store.pointer, _calls.chars(path), document, len(document),
            result))
        self.pointer = ffi.gc(result[0], lib.radio_array_close)
        self.store = store          # open as long
        info = ffi.new("struct radio_array_info *")
        lib.radio_array_get_info(self.pointer, info)
        if info.dtype == lib.RADIO_STRING:
            raise UnsupportedError("its elements are strings")
        self.dtype = _dtypes.from_code(info.dtype, info.item_nbytes)
        self.has_shards = bool(info.sharded)
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
    """Returns what tells a folder from another one at its place."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


class _Source:
    """The array of a pipeline: where it is, and how the library opens it."""

    def __init__(self, metadata: Any, store: Store,
                 strict: bool | None = None) -> None:
        self.metadata = metadata
        self.store: Any = store
        self.chunk_shape = _regular_chunk_shape(metadata)
        self.strict = (bool(zarr.config.get("codec_pipeline.strict", False))
                       if strict is None else strict)
        self.reported: set[str] = set()
        self.kept: Any = None       # from one read to the next
        self.folder: _Kept | None = None
        self.text: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Source, (self.metadata, self.store, self.strict)

    @cached_property
    def root(self) -> _Root:
        """Of its store.  Raises UnsupportedError."""
        return _find_root(self.store)

    def find_obstacle(self) -> str | None:
        """Returns why the library does not read and write it."""
        if not isinstance(self.metadata, ArrayV3Metadata):
            return "it is of Zarr version 2"
        try:
            self.root
        except UnsupportedError as error:
            return str(error)
        if self.metadata.chunk_key_encoding.name not in ("default", "v2"):
            return ("its keys are "
                    f"'{self.metadata.chunk_key_encoding.name}'")
        if not self.chunk_shape:
            return "it has no axes, or chunks of different shapes"
        return None

    def report(self, key: str, reason: str) -> None:
        """Warns that zarr does it by itself, or refuses it."""
        line = f"zarr: '{key}' is not supported by libradio: {reason}"
        if self.strict:
            raise UnsupportedError(line)
        if reason not in self.reported:
            self.reported.add(reason)
            warnings.warn(line, RadioWarning, stacklevel=2)

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

    def find_points(self, batch: Sequence[_Chunk], dropped: tuple[int, ...]
                    ) -> list[_Points] | None:
        """Returns what each chunk selects, or None."""
        found = []
        for chunk in batch:
            _, at = self.locate(chunk[0].path)
            points = _find_points(chunk, at, self.chunk_shape or (), dropped)
            if points is None:
                return None
            found.append(points)
        return found

    def find_grid(self, batch: Sequence[_Chunk],
                  dropped: tuple[int, ...]) -> tuple[str, _Grid | None]:
        """Returns the path of the array, and what chunks select of it."""
        path, first = self.locate(batch[0][0].path)
        _, last = self.locate(batch[-1][0].path)
        return path, _find_grid(batch, first, last, self.chunk_shape or (),
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
        # The indexes of shards are kept, where it is told if they are old.
        key = os.getpid(), path, threads
        if (isinstance(self.kept, _Kept) and self.kept.key == key
                and not writes and self.kept.holds(end)):
            return self.kept.array
        shape = end if writes else self.round_up(end)
        store = _share(root, threads)
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
        store = _Place(folder, None, threads, 0, 0).open(
            sync=False)             # zarr does not, either
        self.kept = store.context   # the threads
        return _Array(store, "", self.document(shape))

    def open_again(self, folder: str, end: list[int],
                   threads: int) -> _Array:
        """The same, for a read; what is open is used, unless another folder is
        there now.  An array with shards keeps their indexes, which may be old,
        so that only its store is used."""
        key = os.getpid(), folder, threads, _identify(folder)
        kept = self.folder
        if kept is not None and kept.key == key:
            if kept.array.has_shards:
                return _Array(kept.array.store, "", self.document(end))
            if kept.holds(end):
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
        """Behind the last element, on each axis."""

    def run(self) -> bool:
        """False if the library does not support the array."""
        try:
            self.transfer(self.source.open(self.path, self.end,
                                           self.writes))
        except (LimitError, NotFoundError, UnsupportedError) as error:
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


async def _run(transfer: _Transfer) -> bool:
    """Runs a quick one here, since another thread is not sooner."""
    if (transfer.source.root.is_local
            and transfer.memory.nbytes <= _QUICK_NBYTES):
        return transfer.run()
    return await asyncio.to_thread(transfer.run)


@dataclass(frozen=True)
class _OfGrid(_Transfer):
    grid: _Grid

    @property
    def end(self) -> list[int]:
        return self.grid.end


class _Write(_OfGrid):
    writes = True

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

    chunks: list[_Points]

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
    call = _calls.new_call()
    options = ffi.new("struct radio_read_options *")
    options.cancel = _calls.cancel()
    options.user_data = call
    _calls.finish(lib.radio_array_read_many(
        array.pointer, requests, len(boxes), lib.RADIO_STORED, options), call)


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
                   _Source(array_metadata, store))

    def evolve_from_array_spec(self, array_spec: Any) -> Self:
        """The same, for chunks of these properties."""
        return type(self)(self._other.evolve_from_array_spec(array_spec),
                          self._source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodecPipeline) and self._other == other._other

    def __hash__(self) -> int:
        return hash(self._other)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (PICKLE_VERSION, type(self), self._other, self._source)

    def __iter__(self) -> Iterator[Any]:
        other: Any = self._other
        yield from other

    # What it does by itself.

    async def read(self, batch_info: Iterable[_Chunk], out: Any,
                   drop_axes: tuple[int, ...] = ()) -> Any:
        """Reads chunks into out."""
        batch = list(batch_info)
        read = self._find_read(batch, out, drop_axes)
        if read is not None and await _run(read):
            return ({"status": "present"},) * len(batch)
        return await self._other.read(batch, out, drop_axes)

    def _find_read(self, batch: Sequence[_Chunk], out: Any,
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
        if grid is not None and memory.shape == grid.result_shape:
            return _Read(source, key, path, memory, grid)
        points = source.find_points(batch, dropped)
        if points is None:
            source.report(key, "what is selected is no box and no points")
            return None
        return _ReadPoints(source, key, path, memory, points)

    async def write(self, batch_info: Iterable[_Chunk], value: Any,
                    drop_axes: tuple[int, ...] = ()) -> None:
        """Writes chunks from value: those that are whole by the library."""
        batch = list(batch_info)
        write = self._find_write(batch, value, drop_axes)
        if write is not None and await _run(write):
            batch = [chunk for chunk in batch if not chunk[4]]
        if batch:
            await self._other.write(batch, value, drop_axes)

    def _find_write(self, batch: Sequence[_Chunk], value: Any,
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
        if part.shape != grid.result_shape:
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
