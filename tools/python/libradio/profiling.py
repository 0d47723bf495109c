# SPDX-License-Identifier: MIT
"""Profiles: where the time of a piece of code goes, in Python's scopes, in the
library's threads and in requests to S3."""
import html
import os
import shutil
import sys
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

from . import _calls
from ._calls import NULL, check, text
from ._native import ffi, lib
from .errors import ArgumentError, ExistsError, ForkedError

__all__ = ["Finding", "Profile", "Weight", "profile"]

Weight: TypeAlias = Literal["note", "hint", "problem"]
"""How much a finding matters: information, a possible improvement, or most of
the time."""

_WEIGHTS: dict[int, Weight] = {
    lib.RADIO_FINDING_NOTE: "note",
    lib.RADIO_FINDING_HINT: "hint",
    lib.RADIO_FINDING_PROBLEM: "problem"}


@dataclass(frozen=True)
class Finding:
    """A conclusion from the data, with its numbers."""

    id: str
    """For programs: it stays the same."""
    weight: Weight
    title: str
    evidence: str
    path: tuple[str, ...]
    """The scopes down to where it is; empty if it is about the whole."""

    def __str__(self) -> str:
        return f"{self.title}: {self.evidence}"


class Profile:
    """A finished profile, which notebooks show as its page; see ``profile``.

    It is shown in a frame that reaches neither the network nor the notebook.
    Where HTML is not shown, it is the tree as text.
    """

    __slots__ = ("__weakref__", "_pointer")

    def __init__(self, pointer: Any = None) -> None:
        """Not called by users: see ``profile``."""
        self._pointer = pointer and ffi.gc(pointer, lib.radio_profile_close)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Profile":
        """Reads a profile that was saved as JSON or as a page, by Python, by
        the command or by a program in C.

        >>> import libradio
        >>> with libradio.profile() as p:
        ...     voxels = libradio.open_file("head.nii.gz").numpy()
        >>> p.save("read.json")
        >>> libradio.Profile.read("read.json").tree() == p.tree()
        True
        """
        pointer = ffi.new("struct radio_profile **")
        check(lib.radio_profile_read(_calls.file(path), pointer))
        return Profile(pointer[0])

    def _get(self) -> Any:
        if self._pointer is None:
            raise ArgumentError("the profile is not complete yet; use it after"
                                " its with statement")
        return self._pointer

    def save(self, path: str | os.PathLike[str], *,
             redact: bool = False) -> None:
        """Writes it to a file, whose suffix says how: .html, .json,
        .trace.json (Perfetto), .speedscope.json, .pb.gz (pprof), .folded,
        .svg, .txt, .pt.trace.json or .tensorboard.

        redact: names of files, volumes and subjects, the command line and the
        host become pseudonyms.
        """
        options = ffi.new("struct radio_profile_write_options *")
        options.redact = redact
        options.utf8 = True
        check(lib.radio_profile_write(self._get(), _calls.file(path), options))

    def tree(self, columns: int | None = None) -> str:
        """Returns the tree as ``radio profile show`` prints it, in so many
        columns; None: those of the terminal."""
        options = ffi.new("struct radio_profile_write_options *")
        options.format = lib.RADIO_PROFILE_TEXT
        options.columns = columns or shutil.get_terminal_size().columns
        options.utf8 = True
        return self._write(options).removesuffix("\n")

    def _write(self, options: Any) -> str:
        call = _calls.new_call()
        try:
            check(lib.radio_profile_write_to(self._get(), options,
                                             _calls.BYTES, call))
            return _calls.take_bytes(call).decode("utf-8", "replace")
        finally:
            lib.python_clear(call)

    @property
    def findings(self) -> list[Finding]:
        """What follows from the data, the most important first."""
        profile = self._get()
        info = self._info()
        found = [lib.radio_profile_finding(profile, i)
                 for i in range(info.nfindings)]
        return [Finding(text(each.id), _WEIGHTS[each.weight],
                        text(each.title), text(each.evidence),
                        self._path(each.node)) for each in found]

    def _info(self) -> Any:
        info = ffi.new("struct radio_profile_info *")
        lib.radio_profile_get_info(self._get(), info, ffi.sizeof(info[0]))
        return info

    def _path(self, node: int) -> tuple[str, ...]:
        names: list[str] = []
        found = lib.radio_profile_get_node(self._get(), node)
        while found != NULL:
            names.append(text(found.name))
            found = lib.radio_profile_get_node(self._get(), found.parent)
        return tuple(reversed(names))

    def __repr__(self) -> str:
        return ("<libradio.Profile, not complete>" if self._pointer is None
                else self.tree())

    def _repr_html_(self) -> str | None:
        """Returns the page in a frame, for notebooks."""
        if self._pointer is None:
            return None
        options = ffi.new("struct radio_profile_write_options *")
        options.format = lib.RADIO_PROFILE_HTML
        return frame(self._write(options))


def frame(page: str) -> str:
    """Returns HTML that shows a page by itself: its scripts run, but have no
    part in the notebook's, and its own policy keeps it from the network."""
    return ('<iframe sandbox="allow-scripts allow-downloads"'
            ' title="Profile" style="width: 100%; height: 640px; border: 0;'
            ' resize: vertical" srcdoc="' + html.escape(page) + '"></iframe>')


class _Recording(Profile):
    """A profile that its with statement records."""

    __slots__ = ("_options", "_pid", "_recorder")

    def __init__(self, options: Any) -> None:
        super().__init__()
        self._options = options
        self._pid = 0
        self._recorder: Any = None

    def __enter__(self) -> Self:
        if self._options is None:
            raise ArgumentError("a profile records once; call libradio.profile"
                                " again")
        recorder = ffi.new("struct radio_recorder **")
        options, title = self._options
        status = lib.radio_recorder_start(options, recorder)
        if status == lib.RADIO_ERROR_EXISTS:
            raise ExistsError("another profile is being recorded; end that"
                              " first")
        check(status)
        del title
        self._options = None
        self._pid = os.getpid()
        self._recorder = recorder[0]
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 error: BaseException | None, trace: object) -> None:
        if os.getpid() != self._pid:
            # A forked child came here: the profile is its parent's.
            if kind is None:
                raise ForkedError("the profile is of the process that this one"
                                  " was forked from")
            return
        recorder, self._recorder = self._recorder, None
        if kind is not None:
            line = f"{kind.__name__}: {error}".partition("\n")[0]
            lib.radio_recorder_fact(
                recorder, b"failed", line.encode("utf-8", "replace")
                .replace(b"\0", b" "), lib.RADIO_TEXT_NAME)
        pointer = ffi.new("struct radio_profile **")
        status = lib.radio_recorder_stop(recorder, pointer)
        if kind is None:
            check(status)
        self._pointer = ffi.gc(pointer[0], lib.radio_profile_close)


def profile(title: str | None = None, *, max_spans: int = 0,
            whole_process: bool = True) -> _Recording:
    """Records what runs in a with statement: the library's calls, its threads
    and requests, and the program's own ``scope``, ``step`` and ``count``.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> with libradio.profile("two boxes") as p:
    ...     with libradio.scope("boxes"):
    ...         boxes = volume[:8, :8, :8], volume[8:, :8, :8]
    >>> p.save("boxes.html")
    >>> print(p.tree(80))                              # doctest: +ELLIPSIS
    radio profile: two boxes
    ...
    ... boxes
    ...

    A notebook shows ``p`` as a page, and after ``%load_ext libradio`` also
    each cell that begins with ``%%radio``.

    title: None: the program's name.  max_spans: the longest that the log
    keeps, 0: 1,048,576, in some 32 MiB; the tree has all.  whole_process: False
    leaves out what other threads of the program do, so that several can record
    at once; one records all.
    """
    options = ffi.new("struct radio_recorder_options *")
    options.whole_process = whole_process
    options.max_spans = max_spans
    name = os.path.basename(sys.argv[0]) if title is None else title
    kept = ffi.new("char[]", _calls.chars(name or "python"))
    options.title = kept
    return _Recording((options, kept))
