# SPDX-License-Identifier: MIT
"""Volumes: images with their geometry, read as NumPy arrays."""
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _arguments, _calls, _dtypes, _out
from ._calls import NULL, check
from ._handles import (
    Closable, Handle, context, context_options, pickled,
)
from ._native import ffi, lib
from .errors import ArgumentError, ChecksumError
from .selection import Selection, select, whole_number

__all__ = ["ArrayOrder", "Box", "Check", "Indices", "Stats", "Volume",
           "open_file"]

Indices: TypeAlias = Sequence[SupportsIndex] | NDArray[np.integer[Any]]
"""A whole number for each axis."""

Box: TypeAlias = tuple[Indices, Indices]
"""The first voxel and the number of voxels, along x, y, z (and t, c)."""

# NIfTI's order of axes: its fifth and further ones are called c, v and w.
_NIFTI_AXES = "xyztcvw"
_STORED: int = lib.RADIO_STORED
_COMPLETE = slice(None)


class Opened:
    """An open volume and the facts that each read needs, in array order."""

    __slots__ = ("dtype", "file_call", "info", "order", "owner", "places",
                 "pointer", "shape", "zyx_shape")

    def __init__(self, pointer: Any, owner: Any, file_call: Any = None
                 ) -> None:
        self.pointer = pointer
        self.owner = owner          # what must be open as long
        # Gets a file's warnings, from any read.  At its close are none, but of
        # points of entry that are kept, which is not asked for.
        self.file_call = file_call
        self.info = info = ffi.new("struct radio_volume_info *")
        lib.radio_volume_get_info(pointer, info, ffi.sizeof(info[0]))
        axes = _calls.text(info.axes)
        array = info.array
        self.zyx_shape = tuple(array.shape[0:array.rank])
        self.dtype = _dtypes.from_code(array.dtype, array.item_nbytes)
        # The array axis of each of NIfTI's, and the place of each array axis.
        self.order = tuple(sorted(range(array.rank),
                                  key=lambda i: _NIFTI_AXES.index(axes[i])))
        self.places = tuple(int(i) for i in np.argsort(self.order))
        self.shape = tuple(self.zyx_shape[i] for i in self.order)

    def finish(self, status: int, call: Any) -> None:
        """As _calls.finish; passes on warnings about the file, too."""
        _calls.finish(status, call)
        self.warn()

    def warn(self) -> None:
        if self.file_call is not None:
            _calls.warn_of(self.file_call)


def _axes(opened: Opened) -> str:
    axes = _calls.text(opened.info.axes)
    return "".join(axes[i] for i in opened.order)


class Source(Protocol):
    """Where a volume is, to open it in any process."""

    @property
    def name(self) -> str: ...
    def open(self) -> Opened: ...


def without_query(uri: str) -> str:
    """Returns a URL as it may be shown: presigned ones have a secret query."""
    is_url = uri.lower().startswith(("http://", "https://"))
    return uri.partition("?")[0] if is_url else uri


@dataclass(frozen=True, repr=False)
class InFile:
    """An image in its file, or at a URL."""

    uri: str
    threads: int
    memory: int
    cache: int | None

    @property
    def name(self) -> str:
        return without_query(self.uri)

    def __repr__(self) -> str:
        # Without the query, which may be a secret.
        return f"InFile({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name != self.uri:
            raise TypeError(f"cannot pickle {self.name}: its URL has a query,"
                            " which may be a secret; open it in each process")
        return pickled(InFile, self.uri, self.threads, self.memory, self.cache)

    def open(self) -> Opened:
        opened = self.open_for(_calls.new_call())
        opened.warn()
        return opened

    def open_for(self, call: Any) -> Opened:
        """The same, whose warnings call gets."""
        owner = context(self.threads, self.memory, self.cache)
        options = ffi.new("struct radio_file_options *")
        options.warning = _calls.LINE
        options.user_data = call
        volume = _calls.owned("volume", lib.radio_volume_close)
        check(lib.radio_volume_open_file(owner, _arguments.file(self.uri),
                                         options, volume))
        return Opened(_calls.take(volume), owner, call)


@dataclass(frozen=True)
class Derived:
    """A volume with a pipeline."""

    source: Source
    pipeline: str

    @property
    def name(self) -> str:
        return self.source.name

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(Derived, self.source, self.pipeline)

    def open(self) -> Opened:
        return self.open_on(self.source.open())

    def open_on(self, opened: Opened) -> Opened:
        volume = _calls.owned("volume", lib.radio_volume_close)
        check(lib.radio_volume_apply(opened.pointer, _parse(self.pipeline),
                                     volume))
        return Opened(_calls.take(volume), opened.owner, opened.file_call)


def _parse(text: str) -> Any:
    pipeline = _calls.owned("pipeline", lib.radio_pipeline_free)
    check(lib.radio_pipeline_parse(_arguments.chars(text, "pipeline"),
                                   pipeline))
    return _calls.take(pipeline)


@dataclass(frozen=True)
class Stats:
    """Statistics of a volume's values."""

    count: int
    """Elements, those below included."""
    nan_count: int
    """NaN: not in any other figure."""
    inf_count: int
    """Infinite: in min and max only."""
    min: float
    max: float
    mean: float
    std: float
    """Of the population."""
    percentiles: dict[int, float]
    """Of 1, 5, 25, 50, 75, 95 and 99 %, as numpy.percentile."""


@dataclass(frozen=True)
class Check:
    """What ``Volume.validate`` read."""

    tile_count: int
    """Tiles read and decoded."""
    missing_count: int
    """Tiles that are not stored, since all their voxels are zero."""
    stored_nbytes: int
    """Bytes in the store; 0 if it cannot be listed."""


class ArrayOrder:
    """A volume indexed in array order: v.zyx[z, y, x] is v[x, y, z]."""

    __slots__ = ("_volume",)

    def __init__(self, volume: "Volume") -> None:
        self._volume = volume

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of voxels along each axis, the slowest first."""
        return self._volume._handle.get().zyx_shape

    def __getitem__(self, index: Any) -> Any:
        opened = self._volume._handle.get()
        return _read(opened, select(index, opened.zyx_shape), None)


class Volume(Closable[Opened]):
    """An image with its geometry.

    Indexing reads voxels, as they are stored, in NIfTI's order of axes: x, y,
    z, then t, c.  It takes what NumPy's basic indexing takes.  Results are
    Fortran-ordered: x is fastest in memory.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> volume.shape, volume.dtype
    ((64, 48, 32), dtype('int16'))
    >>> volume[10:20, :, -1].shape
    (10, 48)
    >>> int(volume[32, 24, 16]) == int(volume.zyx[16, 24, 32])
    True

    Threads may share a volume.  In a forked child it opens itself again, and
    it pickles as the place where it is.
    """

    __slots__ = ("__weakref__", "_handle", "_source")

    def __init__(self, source: Source, opened: Opened | None = None) -> None:
        """Not called by users: see ``Store`` and ``open_file``."""
        self._source = source
        self._handle = Handle(source.name, source.open, opened)

    # What it is.

    @property
    def path(self) -> str:
        """Its path in the store, or its file."""
        return self._source.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of voxels along x, y, z, then t, c where it has them."""
        return self._handle.get().shape

    @property
    def axes(self) -> str:
        """The letters of the axes of ``shape``: "xyz", "xyzt", "xyzc"."""
        return _axes(self._handle.get())

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(lib.radio_box_count(
            _calls.box((0,) * self.ndim, self.shape)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that is stored."""
        return self._handle.get().dtype

    @property
    def affine(self) -> NDArray[np.float64]:
        """From voxel x, y, z to lengths to the right, the front and the head,
        in ``units`` (millimetres if unknown): a new array of 4 x 4."""
        info = self._handle.get().info
        affine = np.eye(4)
        affine[:3] = [list(row) for row in info.affine]
        return affine

    @property
    def spacing(self) -> tuple[float, ...]:
        """The distance of voxels along each axis of ``shape``, in ``units``."""
        opened = self._handle.get()
        return tuple(opened.info.spacing[i] for i in opened.order)

    @property
    def units(self) -> tuple[str, str]:
        """Of space and time: ("millimeter", "second"); "" if unknown."""
        info = self._handle.get().info
        return _calls.text(info.space_unit), _calls.text(info.time_unit)

    @property
    def axcodes(self) -> tuple[str | None, ...]:
        """The direction of x, y and z, as nibabel.aff2axcodes: ("R", "A",
        "S"); None if unknown."""
        codes = _calls.text(self._handle.get().info.orientation)
        return tuple(codes) if codes else (None, None, None)

    @property
    def scaling(self) -> tuple[float, float]:
        """NIfTI's slope and intercept, of ``scaled=True``; (1, 0): none."""
        info = self._handle.get().info
        return info.scl_slope, info.scl_inter

    @property
    def header(self) -> bytes:
        """NIfTI's header and extensions, all bytes before the voxels; b"" if
        it has none."""
        info = self._handle.get().info
        return bytes(ffi.buffer(info.header, info.header_nbytes)
                     if info.header_nbytes else b"")

    @property
    def pipeline(self) -> str:
        """The text of the operations that are applied; "" if none are."""
        return _calls.text(self._handle.get().info.pipeline)

    def __repr__(self) -> str:
        if self._handle.is_closed:
            return f"<libradio.Volume {self.path!r}, closed>"
        shape = " x ".join(str(n) for n in self.shape)
        return f"<libradio.Volume {self.path!r}, {shape}, {self.dtype}>"

    # Reading.

    def __getitem__(self, index: Any) -> Any:
        opened = self._handle.get()
        return _read(opened, select(index, opened.shape), opened.order)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def zyx(self) -> ArrayOrder:
        """The same volume, indexed in array order: z, y, x, with t and c
        before them.  Results are in C order: x is fastest there, too."""
        return ArrayOrder(self)

    def numpy(self, dtype: DTypeLike | None = None, *, scaled: bool = False,
              out: Any = None, apply: str | None = None) -> NDArray[Any]:
        """Reads the whole volume.

        dtype is the type of the result, None: that of out, the stored one, or
        float32 if scaled.  Integers that do not fit raise RangeError.  scaled:
        slope * stored + intercept.  out: an array of the result's shape, with
        any strides, that is filled and returned; what is no NumPy array must
        share its memory with one, as tensors do.  apply: a pipeline, such as
        "crop 10:74,:,: | znorm"; radio(1) lists the operations.

        >>> import libradio, numpy
        >>> volume = libradio.open("examples.zarr")["ct/head"]
        >>> out = numpy.empty(volume.shape, "float32")
        >>> volume.numpy(scaled=True, out=out) is out
        True
        >>> volume.numpy(apply="crop 0:8,0:8,0:8").shape
        (8, 8, 8)
        """
        if apply is not None:
            _arguments.instance(apply, "apply", str, "a str")
            with self.apply(apply) as derived:
                return derived.numpy(dtype, scaled=scaled, out=out)
        opened = self._handle.get()
        result: NDArray[Any] = _read(opened, select((), opened.shape),
                                     opened.order, dtype, scaled, out)
        return result

    def __array__(self, dtype: DTypeLike | None = None,
                  copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a volume is read into new memory; use copy=None")
        if dtype is None or _dtypes.converts(self.dtype,
                                             _arguments.dtype(dtype)):
            return self.numpy(dtype)
        # NumPy's rules, by which values that do not fit wrap.
        return self.numpy().astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        if options.pop("copy", None) is False:
            raise BufferError("a volume is read into new memory")
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0     # kDLCPU

    def box(self, at: Indices, size: Indices, *,
            dtype: DTypeLike | None = None, scaled: bool = False,
            out: Any = None) -> NDArray[Any]:
        """Reads a box: its first voxel and its size along x, y, z (t, c);
        dtype, scaled and out are as for ``numpy``.

        >>> import libradio
        >>> volume = libradio.open("examples.zarr")["ct/head"]
        >>> volume.box(at=(8, 8, 8), size=(4, 4, 2)).shape
        (4, 4, 2)
        """
        opened = self._handle.get()
        result: NDArray[Any] = _read(
            opened, _select_box(at, size, opened.shape), opened.order, dtype,
            scaled, out)
        return result

    def read_many(self, boxes: Iterable[Box], *,
                  dtype: DTypeLike | None = None, scaled: bool = False,
                  out: Iterable[Any] | None = None) -> list[NDArray[Any]]:
        """Reads several boxes (at, size) at once, which share the threads.
        out: an array for each of them, or one whose first axis is theirs.

        >>> import libradio, numpy
        >>> volume = libradio.open("examples.zarr")["ct/head"]
        >>> batch = numpy.empty((2, 4, 4, 4), "int16")
        >>> boxes = [((0, 0, 0), (4, 4, 4)), ((8, 8, 8), (4, 4, 4))]
        >>> len(volume.read_many(boxes, out=batch))
        2
        """
        opened = self._handle.get()
        selections = [
            _select_box(*_pair(box, "boxes"), opened.shape)
            for box in _arguments.several(boxes, "boxes", "a list of boxes")]
        if out is None:
            kind = _dtypes.requested(dtype, opened.dtype, scaled)
            results = [np.empty(selection.size, kind, "F")
                       for selection in selections]
        else:
            if isinstance(out, np.ndarray):
                _out.check_overlap(out)
            results = [_out.writable(each) for each in _arguments.several(
                out, "out", "an array for each box")]
            if len(results) != len(selections):
                raise ValueError(f"out: {len(results)} arrays for"
                                 f" {len(selections)} boxes")
            for selection, result in zip(selections, results):
                _out.check_shape(result, selection.size)
            kinds = {result.dtype for result in results}
            if len(kinds) > 1:
                raise TypeError("out: the arrays differ in type")
            kind = kinds.pop() if kinds else opened.dtype
            _out.check_dtype(kind, dtype)
            if not isinstance(out, np.ndarray):
                _out.check_apart(results)
        requests = ffi.new("struct radio_request[]", len(results))
        kept = []
        for request, selection, result in zip(requests, selections, results):
            target = result.transpose(opened.places)
            strides = ffi.new("int64_t[]", target.strides)
            kept.append(strides)
            request.box = _calls.box(
                [selection.start[i] for i in opened.places], target.shape)[0]
            request.buffer = _calls.address(target)
            request.nbytes = target.nbytes
            request.strides = strides
        call = _calls.new_call()
        options = _options(call, scaled)
        opened.finish(lib.radio_volume_read_many(
            opened.pointer, requests, len(results),
            _code(opened, kind, scaled, out), options), call)
        return results

    def axial(self, k: SupportsIndex, *, t: int = 0, c: int = 0,
              dtype: DTypeLike | None = None, scaled: bool = False,
              out: Any = None) -> NDArray[Any]:
        """Reads the plane with index k on the axis that runs from foot to
        head, in stored order and direction; its axes are the other two of
        ``shape``.  A negative k counts from the end.

        >>> import libradio
        >>> volume = libradio.open("examples.zarr")["ct/head"]
        >>> volume.axial(-1).shape, volume.sagittal(0).shape
        ((64, 48), (48, 32))
        """
        return self._plane(lib.RADIO_AXIAL, k, t, c, dtype, scaled, out)

    def coronal(self, k: SupportsIndex, *, t: int = 0, c: int = 0,
                dtype: DTypeLike | None = None, scaled: bool = False,
                out: Any = None) -> NDArray[Any]:
        """The same on the axis that runs from back to front."""
        return self._plane(lib.RADIO_CORONAL, k, t, c, dtype, scaled, out)

    def sagittal(self, k: SupportsIndex, *, t: int = 0, c: int = 0,
                 dtype: DTypeLike | None = None, scaled: bool = False,
                 out: Any = None) -> NDArray[Any]:
        """The same on the axis that runs from left to right."""
        return self._plane(lib.RADIO_SAGITTAL, k, t, c, dtype, scaled, out)

    def _plane(self, plane: int, k: SupportsIndex, t: int, c: int,
               dtype: DTypeLike | None, scaled: bool,
               out: Any) -> NDArray[Any]:
        opened = self._handle.get()
        rank = len(opened.shape)
        across = opened.info.plane_axis[plane]
        axes = _axes(opened)
        index: list[Any] = [_COMPLETE if axis in "xyz" else 0 for axis in axes]
        k = whole_number(k, "k")
        if across < rank:
            index[opened.places[across]] = k
        elif k not in (0, -1):
            raise IndexError(f"plane {k} is out of bounds: a 2-D image is one"
                             " plane")
        for axis, value in (("t", t), ("c", c)):
            i = whole_number(value, axis)
            if axis in axes:
                index[axes.index(axis)] = i
            elif i not in (0, -1):
                raise IndexError(f"{axis}={i} is out of bounds: the volume has"
                                 f" the axes {axes}")
        result: NDArray[Any] = _read(
            opened, select(tuple(index), opened.shape), opened.order, dtype,
            scaled, out)
        return result

    def apply(self, pipeline: str) -> "Volume":
        """Returns this volume with a pipeline: shape, affine, type and voxels
        are those of the results, computed as they are read."""
        source = Derived(self._source, pipeline)
        return Volume(source, source.open_on(self._handle.get()))

    # The whole of it.

    def stats(self, *, raw: bool = False) -> Stats:
        """Returns statistics of all values: scaled ones, or those stored."""
        result = _stats(self._handle.get(), _arguments.flag(raw, "raw"))
        percents = (1, 5, 25, 50, 75, 95, 99)
        return Stats(result.count, result.nan_count, result.inf_count,
                     result.min, result.max, result.mean, result.std,
                     dict(zip(percents, result.percentile)))

    def histogram(self, bins: int = 64,
                  range: tuple[float, float] | None = None, *,
                  raw: bool = False
                  ) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Returns the counts of equal bins and their edges, as
        numpy.histogram: of finite values; range None: from min to max."""
        bins = _arguments.whole(bins, "bins", 1)
        raw = _arguments.flag(raw, "raw")
        ends = None if range is None else _arguments.numbers(range, "range")
        if ends is not None and len(ends) != 2:
            raise ArgumentError(f"range: {range}: use (LOW, HIGH)")
        opened = self._handle.get()
        low, high = _edges(*(ends or _finite_range(opened, raw)))
        call = _calls.new_call()
        counts = np.zeros(bins, np.uint64)
        # The group's function closes the handles that it opens.
        pipeline = _parse("crop :,:,:")
        call.volume = opened.pointer
        call.pipeline = pipeline
        call.bins = ffi.from_buffer("uint64_t[]", counts)
        call.nbins = bins
        options = ffi.new("struct radio_group_options *")
        options.raw = raw
        options.nbins = bins
        options.low, options.high = low, high
        opened.finish(lib.radio_group_stats(
            1, _calls.OPEN_VOLUME, options, _calls.COPY_BINS, call), call)
        return counts, np.linspace(low, high, bins + 1)

    def export(self, file: str | os.PathLike[str], *, box: Box | None = None,
               scaled: bool = False, overwrite: bool = False) -> None:
        """Writes the volume, or a box of it, to a .nii, .nii.gz or .npy file,
        which appears when it is complete.  Whole, as NIfTI, it has the bytes
        of the image that was ingested."""
        opened = self._handle.get()
        area = NULL
        if box is not None:
            selection = _select_box(*_pair(box, "box"), opened.shape)
            area = _calls.box([selection.start[i] for i in opened.places],
                              [selection.size[i] for i in opened.places])
        call = _calls.new_call()
        options = ffi.new("struct radio_export_options *")
        options.overwrite = _arguments.flag(overwrite, "overwrite")
        options.scaled = _arguments.flag(scaled, "scaled")
        options.warning = _calls.LINE
        options.user_data = call
        opened.finish(lib.radio_volume_export(
            opened.pointer, area, _arguments.file(file), options), call)

    def validate(self) -> Check:
        """Reads every tile, and compares all voxels with the checksum of the
        image that was ingested.  Raises ChecksumError, whose ``damage`` has a
        line for each damaged tile."""
        opened = self._handle.get()
        call = _calls.new_call()
        result = ffi.new("struct radio_check *")
        status = lib.radio_volume_validate(
            opened.pointer, result, _calls.LINE, call, ffi.sizeof(result[0]))
        try:
            check(status)
        except ChecksumError as error:
            error.damage = tuple(_calls.take_lines(call))
            raise
        finally:
            lib.python_clear(call)
        opened.warn()
        return Check(result.tile_count, result.missing_count,
                     result.stored_nbytes)

    # Its life.

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(Volume, self._source)


def check_volume(value: object, name: str) -> None:
    """Raises TypeError unless a value is a volume."""
    _arguments.instance(value, name, Volume, "a volume of libradio's")


def open_file(file: str | os.PathLike[str], *, threads: int = 0,
              memory: int = 0, cache: int | None = None) -> Volume:
    """Opens an image in its file, .nii, .nii.gz, or .hdr with .img, or at a
    URL, as a volume; threads, memory and cache are as for ``open``.

    >>> import libradio
    >>> with libradio.open_file("head.nii.gz") as volume:
    ...     volume.shape
    (64, 48, 32)
    """
    source = InFile(_arguments.place(file),
                    *context_options(threads, memory, cache))
    return Volume(source, source.open())


def _stats(opened: Opened, raw: bool) -> Any:
    result = ffi.new("struct radio_stats *")
    check(lib.radio_volume_stats(opened.pointer, raw, result,
                                 ffi.sizeof(result[0])))
    opened.warn()
    return result


def _finite_range(opened: Opened, raw: bool) -> tuple[float, float]:
    result = _stats(opened, raw)
    return result.bin_low, result.bin_high


def _edges(low: float, high: float) -> tuple[float, float]:
    """Returns what numpy.histogram makes of a range."""
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _pair(box: Any, name: str) -> tuple[Any, Any]:
    """Returns the first voxel and the size of a box."""
    try:
        at, size = box
    except (TypeError, ValueError):
        raise _arguments.wrong_type(box, name, "(at, size)") from None
    return at, size


def _select_box(at: Indices, size: Indices,
                shape: tuple[int, ...]) -> Selection:
    start = _arguments.wholes(at, "at")
    extent = _arguments.wholes(size, "size")
    if len(start) != len(shape) or len(extent) != len(shape):
        raise ArgumentError(f"box at {start} of {extent}: the volume has"
                            f" {len(shape)} axes")
    for i, n, length in zip(start, extent, shape):
        if i < 0 or n < 0 or i + n > length:
            raise IndexError(f"box at {start} of {extent} is not inside of the"
                             f" volume's {shape}")
    return select(tuple(slice(i, i + n) for i, n in zip(start, extent)), shape)


def _code(opened: Opened, dtype: np.dtype[Any], scaled: bool,
          out: Any) -> int:
    if dtype == opened.dtype and not scaled:
        return _STORED
    return _dtypes.to_code(dtype, "dtype" if out is None else "out")


def _options(call: Any, scaled: bool) -> Any:
    options = ffi.new("struct radio_read_options *")
    options.scaled = _arguments.flag(scaled, "scaled")
    options.warning = _calls.LINE
    options.user_data = call
    return options


def _read(opened: Opened, selection: Selection,
          order: tuple[int, ...] | None, dtype: DTypeLike | None = None,
          scaled: bool = False, out: Any = None) -> Any:
    """Reads a selection whose axes are NIfTI's, or the array's if order is
    None.  Results have x fastest in memory."""
    layout: Literal["C", "F"] = "C" if order is None else "F"
    if out is None:
        result = np.empty(selection.result_shape(),
                          _dtypes.requested(dtype, opened.dtype, scaled),
                          layout)
    else:
        result = _out.writable(out)
        _out.check_shape(result, selection.result_shape())
        _out.check_dtype(result.dtype, dtype)
    code = _code(opened, result.dtype, scaled, out)
    if selection.has_gaps:
        # Every voxel of the box is read, and those wanted are kept.
        box = np.empty(selection.size, result.dtype, layout)
        _fill(opened, selection, order, box, code, scaled)
        result[...] = box[selection.view]
    else:
        _fill(opened, selection, order, selection.in_box(result), code,
              scaled)
    if out is not None:
        return out
    return result[()] if selection.is_scalar else result


def _fill(opened: Opened, selection: Selection,
          order: tuple[int, ...] | None, box: NDArray[Any], code: int,
          scaled: bool) -> None:
    """Reads the box of a selection into memory with its axes."""
    start = selection.start
    if order is not None:
        box = box.transpose(opened.places)
        start = tuple([start[i] for i in opened.places])
    call = _calls.new_call()
    options = _options(call, scaled)
    if box.size == 0:
        return
    if box.flags.c_contiguous:
        buffer = ffi.from_buffer(box)
    else:
        buffer = _calls.address(box)
        strides = ffi.new("int64_t[]", box.strides)
        options.strides = strides
    opened.finish(lib.radio_volume_read(
        opened.pointer, _calls.box(start, box.shape), code, buffer, box.nbytes,
        options), call)
