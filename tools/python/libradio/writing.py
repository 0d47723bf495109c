# SPDX-License-Identifier: MIT
"""Volumes written to stores, copied and removed."""
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from reprlib import repr as shown
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arguments, _calls, _dtypes
from ._calls import NULL, check
from ._native import ffi, lib
from .errors import ArgumentError, RadioWarning
from .scopes import Handoff
from .store import Store, check_store
from .volume import InFile, Volume, check_volume, without_query

__all__ = ["Collected", "Existing", "Files", "Ingested", "Labels", "Progress",
           "Spacing", "copy", "from_numpy", "gc", "ingest", "phantom", "remove"]

Existing: TypeAlias = Literal["error", "skip", "replace"]
"""What is done if the volume exists."""

Labels: TypeAlias = bool | Mapping[int, str]
"""True: the voxels are labels, as in a mask; or the labels' names."""

Progress: TypeAlias = bool | Callable[[int, int], object]
"""Called on the calling thread with the bytes done and those in all; what it
raises ends the operation.  True: a bar of tqdm, which must be installed."""

Spacing: TypeAlias = (Sequence[float] | NDArray[np.floating[Any]]
                      | NDArray[np.integer[Any]])
"""The distance of voxels along each axis."""

_File: TypeAlias = str | os.PathLike[str]
Files: TypeAlias = _File | Iterable[_File] | Mapping[str, _File]
"""A file, several, or a mapping of volumes' paths to files."""

T = TypeVar("T")

_EXISTING: dict[Any, int] = {
    "error": lib.RADIO_EXISTING_ERROR, "skip": lib.RADIO_EXISTING_SKIP,
    "replace": lib.RADIO_EXISTING_REPLACE}
_AT_ONCE = 32
_POLL_S = 0.1
_SLAB_NBYTES = 16 << 20


@dataclass(frozen=True)
class Ingested:
    """What became of a file."""

    path: str
    """Of the volume."""
    skipped: bool
    """It was there."""
    source_nbytes: int
    """Of header and voxels, decompressed."""
    stored_nbytes: int
    """Of the shards that were written."""


@dataclass(frozen=True)
class Collected:
    """What ``gc`` removed."""

    removed_count: int
    removed_nbytes: int
    busy_count: int
    """Kept, since their writer is alive, or may be."""
    repaired_count: int
    """Documents written again that were missing or stale."""


def _set_ingest(options: Any, tiling: str | None, codec: str | None,
                existing: Existing, strip: bool, labels: Labels) -> list[Any]:
    """Sets the members; returns what must live until they were used."""
    kept: list[Any] = []

    def keep(text: str, name: str) -> Any:
        kept.append(ffi.new("char[]", _arguments.chars(text, name)))
        return kept[-1]

    if tiling is not None:
        options.tiling = keep(tiling, "tiling")
    if codec is not None:
        options.codec = keep(codec, "codec")
    options.existing = _existing(existing)
    options.strip = _arguments.flag(strip, "strip")
    options.is_labels = _are_labels(labels)
    if isinstance(labels, Mapping):
        names = {_arguments.whole(value, "labels", -2 ** 63, 2 ** 63 - 1): name
                 for value, name in labels.items()}
        rows = ffi.new("struct radio_label[]", len(names))
        kept.append(rows)
        for row, value in zip(rows, sorted(names)):
            row.value = value
            row.name = keep(names[value], f"labels: {value}")
        options.labels = rows
        options.nlabels = len(names)
    return kept


def _are_labels(labels: Any) -> bool:
    if isinstance(labels, Mapping):
        return True
    if labels is None or isinstance(labels, (int, np.bool_)):
        return bool(labels)
    raise _arguments.wrong_type(labels, "labels", "True, or a mapping of values"
                                " to names")


def _opened(store: Store, name: str = "store") -> Any:
    check_store(store, name)
    return store._handle.get()


def _existing(name: str) -> int:
    return _arguments.choice(name, "existing", _EXISTING)


# Ingesting files.

def ingest(files: Files, store: Store, *,
           collection: str | None = None, layout: str | None = None,
           tiling: str | None = None, codec: str | None = None,
           existing: Existing = "error", strip: bool = False,
           labels: Labels = False,
           progress: Progress = False) -> list[Ingested]:
    """Ingests NIfTI images: a file, several at once, or a mapping of the
    volumes' paths to files; local ones, or at URLs, as for ``open_file``.

    Without a mapping a volume's path follows from the file's name: its stem in
    collection; or as layout says, "bids", "msd", "nnunet" or a pattern, such as
    "{subject}/{collection}.nii.gz"; or else that of BIDS, or images/STEM.

    tiling: "balanced", "axial", "isotropic", or "X,Y,Z".  codec: "small",
    "medium", "fast", "none", or a JSON list.  strip: blank the header's texts.
    The first file that fails ends it; volumes that were complete stay.
    progress counts the bytes of local files.

    >>> import libradio
    >>> store = libradio.open("memory:", create=True)
    >>> libradio.ingest("head.nii.gz", store, collection="ct")[0].path
    'ct/head'
    """
    named = list(_name(files, collection, layout, labels))
    opened = _opened(store)
    place = store._place

    def ingest_one(path: str, file: bytes, labels: Labels,
                   call: Any) -> Ingested:
        options = ffi.new("struct radio_ingest_options *")
        kept = _set_ingest(options, tiling, codec, existing, strip, labels)
        options.progress = _calls.PROGRESS
        options.warning = _calls.LINE
        options.user_data = call
        result = ffi.new("struct radio_ingest_result *")
        size = ffi.sizeof(result[0])
        if _is_url(file):
            image = InFile(os.fsdecode(file), place.threads, place.memory,
                           place.cache).open_for(call)
            check(lib.radio_ingest_volume(opened.pointer, image.pointer,
                                          _arguments.chars(path, "files"),
                                          options, result, size))
        else:
            check(lib.radio_ingest(opened.pointer, file,
                                   _arguments.chars(path, "files"), options,
                                   result, size))
        del kept
        return Ingested(path, result.skipped, result.source_nbytes,
                        result.stored_nbytes)

    return _run([partial(ingest_one, *each) for each in named],
                [_nbytes(file) for _, file, _ in named], progress)


def _is_url(file: bytes) -> bool:
    return b"://" in file


def _nbytes(file: bytes) -> int:
    """Returns a file's size; 0 if it is not known, as for a URL."""
    try:
        return 0 if _is_url(file) else os.stat(file).st_size
    except OSError:
        return 0        # ingesting it reports the error


def _name(files: Any, collection: str | None, layout: str | None,
          labels: Labels
          ) -> Iterator[tuple[str, bytes, Labels]]:
    """Returns each volume's path, its file, and its labels."""
    if isinstance(files, Mapping):
        for name, value in [("collection", collection), ("layout", layout)]:
            if value is not None:
                raise ArgumentError(f"{name}: {shown(value)} and a mapping of"
                                    " paths to files: use one of them")
        for path, file in files.items():
            yield path, _arguments.file(file, "files"), labels
        return
    if isinstance(files, (str, bytes, os.PathLike)):
        files = [files]
    opened = NULL
    if layout is not None:
        owner = _calls.owned("layout", lib.radio_layout_close)
        check(lib.radio_layout_open(_arguments.chars(layout, "layout"), owner))
        opened = _calls.take(owner)
    folder = (NULL if collection is None
              else _arguments.chars(collection, "collection"))
    seen: dict[str, Any] = {}
    for file in _arguments.several(files, "files", "files, or a mapping of"
                                   " paths to files"):
        encoded = _arguments.file(file, "files")
        path, its_labels = _name_one(without_query(os.fsdecode(encoded)),
                                     opened, folder, labels)
        if path in seen:
            one, other = [without_query(os.fsdecode(each))
                          for each in (file, seen[path])]
            raise ArgumentError(f"{one}: becomes {path}, as {other} does; use"
                                " a mapping of paths to files")
        seen[path] = file
        yield path, encoded, its_labels


def _name_one(name: str, layout: Any, collection: Any, labels: Labels
              ) -> tuple[str, Labels]:
    file = os.fsencode(name)
    if layout == NULL:
        path = ffi.new("char **")
        check(lib.radio_ingest_path(file, collection, path))
        return _calls.take_text(path[0]), labels
    result = ffi.new("struct radio_layout_file *")
    check(lib.radio_layout_name(layout, file, collection, result,
                                ffi.sizeof(result[0])))
    if not _are_labels(labels):
        rows = [result.labels[i] for i in range(result.nlabels)]
        names = {row.value: _calls.text(row.name) for row in rows}
        labels = names or bool(result.is_labels)
    return _calls.take_text(result.path), labels


def _run(works: Sequence[Callable[[Any], T]], sizes: Sequence[int],
         progress: Progress) -> list[T]:
    """Runs works on threads, each with the user_data of its callbacks, while
    this one shows how much of sizes is done.  The first error, or a signal,
    ends all; warnings of all are given before."""
    calls = [_calls.new_call() for _ in works]
    try:
        results = _run_calls(works, calls, sizes, progress)
    except BaseException:
        # More informative than a warning that a filter makes an error.
        with suppress(RadioWarning):
            _calls.warn(_take_lines(calls))
        raise
    _calls.warn(_take_lines(calls))
    return results


def _take_lines(calls: Sequence[Any]) -> list[str]:
    return [line for call in calls for line in _calls.take_lines(call)]


def _run_calls(works: Sequence[Callable[[Any], T]], calls: Sequence[Any],
               sizes: Sequence[int], progress: Progress) -> list[T]:
    # It brings logging: most processes, as loaders' workers, only read.
    from concurrent.futures import (
        FIRST_EXCEPTION, ThreadPoolExecutor, wait,
    )
    with (_shown(progress) as show, Handoff("file") as handoff,
          ThreadPoolExecutor(min(_AT_ONCE, len(works) or 1)) as pool):
        futures = [pool.submit(handoff.run, _run_one, work, call)
                   for work, call in zip(works, calls)]
        pending = set(futures)
        try:
            while pending:
                ended, pending = wait(pending, _POLL_S, FIRST_EXCEPTION)
                for future in ended:
                    future.result()
                show(sum(nbytes if future.done()
                         else min(nbytes, _done_nbytes(call))
                         for call, nbytes, future
                         in zip(calls, sizes, futures)), sum(sizes))
        finally:
            for call, future in zip(calls, futures):
                future.cancel()
                lib.python_stop(call)
    return [future.result() for future in futures]


def _run_one(work: Callable[[Any], T], call: Any) -> T:
    with _calls.ended_by(call):
        return work(call)


def _done_nbytes(call: Any) -> int:
    done = ffi.new("uint64_t[2]")
    lib.python_get_progress(call, done, done + 1)
    return int(done[0])


@contextmanager
def _shown(progress: Progress
           ) -> Iterator[Callable[[int, int], object]]:
    """Returns the function to be called with bytes done, and in all."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    elif not isinstance(progress, (bool, np.bool_)):
        raise _arguments.wrong_type(progress, "progress",
                                    "True or a function")
    else:
        from tqdm.auto import tqdm
        with tqdm(unit="B", unit_scale=True, unit_divisor=1000) as bar:
            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)
            yield show


# Volumes from memory.

def from_numpy(array: ArrayLike, store: Store, path: str, *,
               affine: ArrayLike | None = None, like: Volume | None = None,
               spacing: Spacing | None = None,
               tiling: str | None = None, codec: str | None = None,
               existing: Existing = "error",
               labels: Labels = False) -> Volume:
    """Writes an array with the axes x, y, z (t, c) as a volume.

    affine: from voxels to millimetres to the right, the front and the head.
    like: a volume with the same geometry, which also gives the header if the
    shape is its.  spacing: along each axis; with affine or like it must agree
    with that along x, y, z.  bool is stored as uint8.

    >>> import libradio, numpy
    >>> store = libradio.open("memory:", create=True)
    >>> mask = numpy.zeros((8, 8, 4), bool)
    >>> libradio.from_numpy(mask, store, "mask/a", labels={1: "liver"})
    <libradio.Volume 'mask/a', 8 x 8 x 4, uint8>
    """
    opened = _opened(store)             # stays open until all is written
    voxels = np.asarray(array)
    if not voxels.dtype.isnative:
        voxels = voxels.astype(voxels.dtype.newbyteorder("="))
    if voxels.ndim not in (3, 4, 5):
        raise ArgumentError(f"array: has {voxels.ndim} axes; use 3 to 5: x, y,"
                            " z, t, c")
    if affine is not None and like is not None:
        raise ArgumentError("affine and like: use one of them")
    if like is not None:
        check_volume(like, "like")
    # Array order: t, c, z, y, x.
    order = {3: (2, 1, 0), 4: (3, 2, 1, 0), 5: (3, 4, 2, 1, 0)}[voxels.ndim]
    elements = voxels.transpose(order)
    options = ffi.new("struct radio_create_options *")
    options.rank = elements.ndim
    options.shape[0:elements.ndim] = elements.shape
    options.dtype = _dtypes.to_code(voxels.dtype, "array")
    if affine is not None:
        options.affine = _affine(affine)
    if spacing is not None:
        steps = _arguments.numbers(spacing, "spacing")
        if len(steps) != voxels.ndim:
            raise ArgumentError(f"spacing: {len(steps)} numbers for"
                                f" {voxels.ndim} axes")
        # 0 is an axis without a spacing in C.
        if not all(0 < step < np.inf for step in steps):
            raise ArgumentError(f"spacing: {steps}: use lengths above 0")
        _check_spacing(steps, affine, like)
        options.spacing[0:voxels.ndim] = [steps[i] for i in order]
    kept: list[Any] = _set_ingest(options.ingest, tiling, codec, existing,
                                  False, labels)
    if like is not None:
        kept.append(like._handle.get())
        options.like = kept[-1].pointer
    call = _calls.new_call()
    options.ingest.warning = _calls.LINE
    options.ingest.user_data = call
    writer = _calls.owned("writer", lib.radio_volume_abort)
    try:
        check(lib.radio_volume_create(
            opened.pointer, _arguments.chars(path, "path"), options, writer))
        # NULL is a volume that was there and is kept.
        if writer[0] != NULL:
            _write(writer[0], elements)
            _calls.finish(lib.python_commit_volume(writer), call)
    except BaseException:
        ffi.release(writer)     # at once: traces keep it
        raise
    return store._open_volume(opened, path)


def _affine(affine: ArrayLike) -> list[list[float]]:
    try:
        matrix = np.asarray(affine, np.float64)
    except (TypeError, ValueError):
        raise _arguments.wrong_type(affine, "affine", "an array of 4 x 4"
                                    ) from None
    if matrix.shape not in ((3, 4), (4, 4)):
        raise ArgumentError(f"affine: has the shape {matrix.shape}; use"
                            " (4, 4)")
    if matrix.shape == (4, 4) and (matrix[3] != (0, 0, 0, 1)).any():
        raise ArgumentError(f"affine: its last row is {matrix[3].tolist()};"
                            " use 0, 0, 0, 1")
    rows: list[list[float]] = matrix[:3].tolist()
    return rows


def _check_spacing(spacing: list[float], affine: ArrayLike | None,
                   like: Volume | None) -> None:
    """Raises if it would not be used along x, y, z."""
    if affine is not None:
        known = np.linalg.norm(np.asarray(affine, np.float64)[:3, :3], axis=0)
    elif like is not None:
        known = np.array(like.spacing[:3])
    else:
        return
    if not np.allclose(spacing[:3], known, rtol=1e-4, atol=0):
        raise ArgumentError(f"spacing: {spacing[:3]} along x, y, z, but"
                            f" {known.tolist()} of"
                            f" {'like' if affine is None else 'affine'}; use"
                            " one of them")


def _write(writer: Any, elements: np.ndarray[Any, np.dtype[Any]]) -> None:
    """Writes all slabs, x fastest, then y, z, t, c."""
    leads = elements.shape[:-3]
    depth, *plane = elements.shape[-3:]
    plane_nbytes = plane[0] * plane[1] * elements.itemsize
    step = max(1, _SLAB_NBYTES // max(1, plane_nbytes))
    # Of t, c the first is faster.
    for lead in np.ndindex(*leads[::-1]):
        lead = lead[::-1]
        for z in range(0, depth, step):
            slab = elements[(*lead, slice(z, z + step))]
            size = (*(1 for _ in lead), *slab.shape)
            strides = (*(0 for _ in lead), *slab.strides)
            check(lib.radio_volume_write_slab(
                writer, _calls.box((*lead, z, 0, 0), size),
                _calls.address(slab), slab.nbytes,
                ffi.new("int64_t[]", strides)))


def phantom(store: Store, path: str, *,
            shape: tuple[int, int, int] = (256, 256, 128), seed: int = 0,
            tiling: str | None = None, codec: str | None = None,
            existing: Existing = "error") -> Volume:
    """Writes a synthetic head CT, the same on every machine.  shape: the
    numbers of voxels on x, y and z."""
    size = _arguments.wholes(shape, "shape")
    if len(size) != 3 or min(size) < 1:
        raise ArgumentError(f"shape: {size}: use three numbers of voxels, of x,"
                            " y and z")
    options = ffi.new("struct radio_phantom_options *")
    options.shape = [_arguments.whole(n, "shape") for n in size[::-1]]
    options.seed = _arguments.whole(seed, "seed")
    kept = _set_ingest(options.ingest, tiling, codec, existing, False, False)
    opened = _opened(store)
    options.ingest.progress = _calls.PROGRESS

    def make_it(call: Any) -> None:
        options.ingest.user_data = call
        check(lib.radio_phantom(opened.pointer,
                                _arguments.chars(path, "path"), options))

    _run([make_it], [0], False)
    del kept
    return store._open_volume(opened, path)


# Volumes of stores.

def copy(store: Store, path: str, to: Store, to_path: str | None = None, *,
         existing: Existing = "error", strip: bool = False) -> Volume:
    """Copies a volume that radio wrote, byte for byte; what was written is
    read back and compared.  A volume that is there and is the same is no
    error.  strip: blank what its documents say of where the image is from."""
    from_name = _arguments.chars(path, "path")
    name = path if to_path is None else to_path
    to_name = _arguments.chars(name, "to_path")
    source, target = _opened(store), _opened(to, "to")
    options = ffi.new("struct radio_copy_options *")
    options.existing = _existing(existing)
    options.strip = _arguments.flag(strip, "strip")
    options.progress = _calls.PROGRESS

    def copy_it(call: Any) -> None:
        options.user_data = call
        result = ffi.new("struct radio_copy_result *")
        check(lib.radio_volume_copy(
            source.pointer, from_name, target.pointer, to_name, options,
            result, ffi.sizeof(result[0])))

    _run([copy_it], [0], False)
    return to._open_volume(target, name)


def remove(store: Store, path: str) -> None:
    """Removes a volume: it vanishes at once, then its data."""
    opened = _opened(store)
    _calls.finish(lib.radio_store_remove(
        opened.pointer, _arguments.chars(path, "path")), opened.call)


def gc(store: Store, *, dry_run: bool = False) -> Collected:
    """Removes what no volume names: data of writers that died, and of volumes
    that were replaced.  dry_run: only counts it."""
    opened = _opened(store)
    result = ffi.new("struct radio_gc_result *")
    _calls.finish(lib.radio_store_gc(
        opened.pointer, _arguments.flag(dry_run, "dry_run"), result,
        ffi.sizeof(result[0])), opened.call)
    return Collected(result.removed_count, result.removed_nbytes,
                     result.busy_count, result.repaired_count)
