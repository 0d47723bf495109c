# SPDX-License-Identifier: MIT
"""Profiles: where the time of a piece of code goes, in Python's scopes, in the
library's threads and in requests to S3."""
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from . import _arguments, _calls
from ._calls import NULL, check, owned, take, text
from ._functions import check_unwatched, check_version, watch
from ._native import ffi, lib
from .errors import ArgumentError, ExistsError, ForkedError

if TYPE_CHECKING:
    import pandas

__all__ = ["Change", "Comparison", "Finding", "Parts", "Profile", "Weight",
           "profile"]

Weight: TypeAlias = Literal["note", "hint", "problem"]
"""How much a finding matters: information, a possible improvement, or most of
the time."""

_WEIGHTS: dict[int, Weight] = {
    lib.RADIO_FINDING_NOTE: "note",
    lib.RADIO_FINDING_HINT: "hint",
    lib.RADIO_FINDING_PROBLEM: "problem"}


Parts: TypeAlias = Literal["runs", "ranks"]
"""Of a joined profile: runs of one operation, one after the other, or
processes at the same time."""

_PARTS: dict[Any, int] = {
    "runs": lib.RADIO_PARTS_RUNS, "ranks": lib.RADIO_PARTS_RANKS}

_EDGES = {
    lib.RADIO_EDGE_CALL: "call", lib.RADIO_EDGE_HANDOFF: "thread",
    lib.RADIO_EDGE_ASYNC: "request", lib.RADIO_EDGE_PHASE: "phase",
    lib.RADIO_EDGE_INSTANT: "event"}

_TIMES = ("total_ns", "self_ns", "work_ns", "wait_ns", "queue_ns",
          "starved_ns", "min_ns", "max_ns")

# Of Profile.to_pandas; counters are before the last three.
_COLUMNS = ("path", "name", "category", "parent", "edge", "calls", *_TIMES,
            "function", "file", "line")


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
    Where frames or HTML are not shown, it is the tree as text: JupyterLab has
    no frames in a notebook that it does not trust.
    """

    __slots__ = ("__weakref__", "_pointer")

    def __init__(self, pointer: Any = None) -> None:
        """Not called by users: see ``profile``."""
        self._pointer = pointer

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
        owner = owned("profile", lib.radio_profile_close)
        check(lib.radio_profile_read(_arguments.file(path, "path"), owner))
        return Profile(take(owner))

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("cannot pickle a profile; save it as .json, and read"
                        " that by libradio.Profile.read")

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
        options.redact = _arguments.flag(redact, "redact")
        options.utf8 = True
        check(lib.radio_profile_write(
            self._get(), _arguments.file(path, "path"), options))

    def tree(self, columns: int | None = None) -> str:
        """Returns the tree as ``radio profile show`` prints it, in this many
        columns; None: the terminal's."""
        options = ffi.new("struct radio_profile_write_options *")
        options.format = lib.RADIO_PROFILE_TEXT
        options.columns = (
            columns and _arguments.whole(columns, "columns", 1, 2 ** 32 - 1)
            or shutil.get_terminal_size().columns)
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

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns a row for each node of the tree, parents first: its path,
        the number of its parent, calls, times, counters including those of
        descendants, and its source.  A path is the names joined by
        "/", where a "/" in a name is "\\/", and a "\\" is "\\\\": no two scopes
        have the same but for their categories.

        >>> import libradio
        >>> with libradio.profile() as p, libradio.scope("read"):
        ...     voxels = libradio.open_file("head.nii.gz").numpy()
        >>> nodes = p.to_pandas()
        >>> nodes.loc[nodes.path == "read", "calls"].tolist()
        [1]
        """
        import pandas

        profile, info = self._get(), self._info()
        counters = self._counters(info.ncounters)
        rows: list[dict[str, Any]] = []
        for i in range(info.nnodes):
            node = lib.radio_profile_get_node(profile, i)
            is_root = node.parent == lib.RADIO_NO_PARENT
            name = text(node.name)
            rows.append({
                "path": _join_path(
                    None if is_root else rows[node.parent]["path"], name),
                "name": name, "category": text(node.category),
                "parent": -1 if is_root else node.parent,
                "edge": _EDGES[node.edge], "calls": node.calls,
                **{time: getattr(node, time) for time in _TIMES},
                **{column: lib.radio_profile_counter(
                    profile, i, counter, True)
                   for column, counter in counters.items()},
                "function": text(node.function), "file": text(node.file),
                "line": node.line})
        return pandas.DataFrame(rows, columns=[*_COLUMNS[:-3], *counters,
                                               *_COLUMNS[-3:]])

    def _counters(self, n: int) -> dict[str, bytes]:
        """Returns the columns of counters, and the library's names of these:
        one that is a column's has its unit, too."""
        columns: dict[str, bytes] = {}
        unit = ffi.new("char **")
        for i in range(n):
            name = ffi.string(lib.radio_profile_counter_name(
                self._get(), i, unit))
            column = name.decode("utf-8", "surrogateescape")
            columns[f"{column} ({text(unit[0])})" if column in _COLUMNS
                    else column] = name
        return columns

    def diff(self, later: "Profile") -> "Comparison":
        """Compares it with a later profile, path by path, as ``radio diff``
        does: what changed, apart from what is noise.

        >>> import libradio
        >>> def record() -> libradio.Profile:
        ...     with libradio.profile() as p, libradio.scope("read"):
        ...         libradio.open_file("head.nii.gz").numpy()
        ...     return p
        >>> before = record().merge(record() for _ in range(3))
        >>> changes = before.diff(before.merge([record()]))
        >>> changes["read"].change in ("noise", "faster", "slower")
        True
        """
        return Comparison(self, _profile(later, "later"))

    def merge(self, others: Iterable["Profile"], parts: Parts = "runs"
              ) -> "Profile":
        """Joins it with others: repeated runs of one operation, whose times a
        comparison can then separate from noise, or processes that ran at
        once."""
        profiles = [self, *_arguments.several(others, "others",
                                              "a list of profiles")]
        joined = Profile()
        joined._pointer = _join([_profile(each, "others")._get()
                                 for each in profiles], parts)
        return joined

    def __repr__(self) -> str:
        return ("<libradio.Profile, not complete>" if self._pointer is None
                else self.tree())

    def _repr_html_(self) -> str | None:
        """Returns the page in a frame, for notebooks."""
        return (None if self._pointer is None
                else self._frame(None, self.tree()))

    def _frame(self, before: "Profile | None", fallback: str) -> str:
        options = ffi.new("struct radio_profile_write_options *")
        options.format = lib.RADIO_PROFILE_HTML
        options.before = NULL if before is None else before._get()
        return frame(self._write(options), fallback)


_CHANGES = {
    lib.RADIO_CHANGE_NONE: "noise", lib.RADIO_CHANGE_FASTER: "faster",
    lib.RADIO_CHANGE_SLOWER: "slower", lib.RADIO_CHANGE_NEW: "new",
    lib.RADIO_CHANGE_GONE: "gone", lib.RADIO_CHANGE_UNKNOWN: "one run"}
_BASES = {
    lib.RADIO_BASIS_WALL: "wall", lib.RADIO_BASIS_CPU: "cpu",
    lib.RADIO_BASIS_NONE: "none"}
_LEAST_SHARE = 0.01


@dataclass(frozen=True)
class Change:
    """What became of a path; times are means of a run, of the wall or of
    CPUs, as the comparison's basis."""

    path: str
    """As in ``Profile.to_pandas``."""
    change: str
    """For the scope itself: "noise", "faster", "slower", "new", "gone",
    "one run" (the noise is unknown), "unclear"; or if it is noise, for its
    descendants: "faster below", "slower below"."""
    before_ns: int
    after_ns: int
    low_ns: int
    """The change of the median total is at least this, and at most high_ns,
    with 95 % confidence for all paths together; both are 0 if unknown."""
    high_ns: int
    calls_before: int
    calls_after: int


class Comparison:
    """What changed from one profile to a later one, by path; see
    ``Profile.diff``.  Notebooks show the page of the later one, with what
    changed."""

    __slots__ = ("_after", "_before", "_changes", "basis", "conditions")

    basis: str
    """The times that are compared: "wall"; "cpu", since the conditions differ
    or CPUs were lacking; or "none": then all is unclear."""
    conditions: list[tuple[str, str, str]]
    """What differs between the recordings: name, before, after."""

    def __init__(self, before: Profile, after: Profile) -> None:
        """Not called by users: see ``Profile.diff``."""
        self._before, self._after = before, after
        owner = owned("comparison", lib.radio_comparison_close)
        check(lib.radio_profile_compare(before._get(), after._get(), owner))
        compared = take(owner)
        info = ffi.new("struct radio_comparison_info *")
        lib.radio_comparison_get_info(compared, info, ffi.sizeof(info[0]))
        self.basis = _BASES[info.basis]
        found = [lib.radio_comparison_condition(compared, i)
                 for i in range(info.nconditions)]
        self.conditions = [(text(each.name), text(each.before),
                            text(each.after)) for each in found]
        paths: list[str] = []
        self._changes: list[Change] = []
        for i in range(lib.radio_comparison_count(compared)):
            each = lib.radio_comparison_get(compared, i)
            paths.append(_join_path(
                None if each.parent == lib.RADIO_NO_PARENT
                else paths[each.parent], text(each.name)))
            # A path that ran on several threads is followed by its parts.
            if not each.is_split:
                self._changes.append(_change(paths[-1], each, info))

    def __getitem__(self, path: str) -> Change:
        """The change of a path, such as "step/read"; of a scope "step/read" it
        is r"step\\/read", as in ``Profile.to_pandas``."""
        found = [each for each in self if each.path == path]
        if not found:
            raise KeyError(path)
        if len(found) > 1:
            raise ArgumentError(f"{path}: {len(found)} scopes of different"
                                " categories have this path; iterate over all")
        return found[0]

    def __iter__(self) -> Iterator[Change]:
        """The changes of all paths, parents first."""
        return iter(self._changes)

    def __len__(self) -> int:
        """The number of paths of both."""
        return len(self._changes)

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns a row for each path."""
        import pandas

        return pandas.DataFrame([vars(each) for each in self],
                                columns=[each.name for each in fields(Change)])

    def __repr__(self) -> str:
        """The paths that take a hundredth of the time, or more."""
        lines = [f"differs: {name}: {before} -> {after}"
                 for name, before, after in self.conditions]
        times = "CPU ms of a run" if self.basis == "cpu" else "ms of a run"
        lines.append(f"{'before':>12} {'after':>12} {'delta':>12}"
                     f"  {'change':<12}  {times}")
        whole = max((max(each.before_ns, each.after_ns) for each in self),
                    default=0)
        hidden = 0
        for each in self:
            if max(each.before_ns, each.after_ns) < _LEAST_SHARE * whole:
                hidden += 1
                continue
            lines.append(
                f"{each.before_ns / 1e6:12.3f} {each.after_ns / 1e6:12.3f}"
                f" {(each.after_ns - each.before_ns) / 1e6:+12.3f}"
                f"  {each.change:<12}  {each.path}")
        if hidden:
            lines.append(f"and {hidden} paths below 1 %")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Returns the page of the later one in a frame, for notebooks."""
        return self._after._frame(self._before, repr(self))


def _join_path(parent: str | None, name: str) -> str:
    name = name.replace("\\", "\\\\").replace("/", "\\/")
    return name if parent is None else f"{parent}/{name}"


def _change(path: str, each: Any, info: Any) -> Change:
    is_by_cpu = info.basis == lib.RADIO_BASIS_CPU
    change = _CHANGES[each.change]
    if change == "one run" and info.basis == lib.RADIO_BASIS_NONE:
        change = "unclear"
    elif change == "noise":
        below = _CHANGES[each.total_change]
        if below in ("faster", "slower"):
            change = f"{below} below"
        elif each.is_unclear:
            change = "unclear"
    return Change(
        path, change,
        each.cpu_before_ns if is_by_cpu else each.total_before_ns,
        each.cpu_after_ns if is_by_cpu else each.total_after_ns,
        each.delta_low_ns, each.delta_high_ns,
        each.calls_before, each.calls_after)


def _join(pointers: list[Any], parts: Parts) -> Any:
    joined = owned("profile", lib.radio_profile_close)
    check(lib.radio_profile_join(
        pointers, len(pointers), _arguments.choice(parts, "parts", _PARTS),
        joined))
    return take(joined)


def frame(page: str, fallback: str) -> str:
    """Returns HTML that shows a page by itself: its scripts run, but have no
    part in the notebook's, and its own policy keeps it from the network.

    JupyterLab takes frames out of notebooks that are not trusted, and leaves
    what is in them: the fallback, as text."""
    import html
    return ('<iframe sandbox="allow-scripts allow-downloads"'
            ' allow="clipboard-write" title="Profile"'
            ' style="width: 100%; height: 640px; border: 0; resize: vertical"'
            f' srcdoc="{html.escape(page)}">'
            f'<pre>{html.escape(fallback)}</pre></iframe>')


def _profile(value: Any, name: str) -> Profile:
    """Raises TypeError unless it is one."""
    _arguments.instance(value, name, Profile, "a libradio.Profile")
    profile: Profile = value
    return profile


class _Recorder:
    """A recorder, and what begins and ends with it.  It ends once, also if a
    signal comes meanwhile."""

    __slots__ = ("end_ranks", "end_watch", "pid", "pointer")

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.pointer = owned("recorder", _discard)
        # Both may be called again.
        self.end_watch: Callable[[], None] | None = None
        self.end_ranks: Callable[[], list[Any]] | None = None

    def end(self, profile: Any = NULL) -> tuple[int, list[Any]]:
        """Sets *profile; returns the status of that, and the profiles of the
        workers."""
        workers: list[Any] = []
        if os.getpid() != self.pid:
            return lib.RADIO_ERROR_FORKED, workers
        try:
            status = lib.python_stop_recorder(self.pointer, profile)
        finally:
            try:
                if self.end_watch is not None:
                    self.end_watch()
            finally:
                if self.end_ranks is not None:
                    workers = self.end_ranks()
        return status, workers


def _discard(recorder: Any, is_finalizing: Callable[[], bool]
             = sys.is_finalizing) -> None:
    if not is_finalizing():
        lib.radio_recorder_stop(recorder, NULL)


class _Recording(Profile):
    """A profile that its with statement records."""

    __slots__ = ("_options", "_python", "_recorder")

    def __init__(self, options: Any, python: bool) -> None:
        super().__init__()
        self._options = options
        self._python = python
        self._recorder: _Recorder | None = None

    def __enter__(self) -> Self:
        if self._options is None:
            raise ArgumentError("a profile records once; call libradio.profile"
                                " again")
        # Most processes record nothing: they import neither this nor html.
        from ._ranks import expect, make_way
        recorder = _Recorder()
        options, title = self._options
        try:
            make_way(bool(options.whole_process), self._python)
            status = lib.radio_recorder_start(options, recorder.pointer)
            if status == lib.RADIO_ERROR_EXISTS:
                raise ExistsError("another profile is being recorded; end that"
                                  " first")
            check(status)
            del title
            # Before anything runs that the other profile would show.
            if self._python:
                check_unwatched()
            if options.whole_process:
                recorder.end_ranks = expect(self._python)
            # The last: what is called here is no function of the user's.
            if self._python:
                recorder.end_watch = watch()
            self._recorder = recorder
            self._options = None
        except BaseException:
            recorder.end()
            raise
        return self

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing
                ) -> None:
        # Else one that is never left would record until the process ends.  A
        # weakref.finalize calls functions of Python that would be recorded.
        if self._recorder is not None and not is_finalizing():
            self._recorder.end()

    def __exit__(self, kind: type[BaseException] | None,
                 error: BaseException | None, trace: object) -> None:
        recorder = self._recorder
        if recorder is None:
            if kind is None:
                raise ArgumentError("the profile is not being recorded: its"
                                    " with statement has ended, or has not"
                                    " begun")
            return
        if os.getpid() != recorder.pid:
            # A forked child came here: the profile is its parent's.
            if kind is None:
                raise ForkedError("the profile is of the process that this one"
                                  " was forked from")
            return
        try:
            self._recorder = None
            if kind is not None:
                line = f"{kind.__name__}: {error}".partition("\n")[0]
                lib.radio_recorder_fact(
                    recorder.pointer[0], b"failed",
                    line.encode("utf-8", "replace").replace(b"\0", b" "),
                    lib.RADIO_TEXT_NAME)
            owner = owned("profile", lib.radio_profile_close)
            status, workers = recorder.end(owner)
            if status == lib.RADIO_OK:
                self._pointer = take(owner)
                if workers:
                    self._pointer = _join([self._pointer, *workers], "ranks")
        finally:
            # If a signal came before the end.
            recorder.end()
        # Signals may have come while it read what workers left, too.
        check(status if kind is None else lib.RADIO_OK)


def profile(title: str | None = None, *, python: bool = False,
            max_spans: int = 0, whole_process: bool = True) -> _Recording:
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

    Processes that ``multiprocessing`` starts meanwhile, for ``Pool``, for
    ``ProcessPoolExecutor`` or a loader, record themselves and are ranks of the
    profile beside the program's own; a worker that has a profile of its own,
    until that begins.

    A notebook shows ``p`` as a page, and after ``%load_ext libradio`` also
    each cell that begins with ``%%radio``.

    title: None: the program's name.  python: functions of Python are scopes,
    too, but for those of this package; of generators and coroutines, each part
    between two yields is a call.  Needs Python 3.12; costs 40 ns a call.
    max_spans: the longest that the log keeps, 0: 1,048,576, in some 32 MiB; the
    tree has all.  whole_process: False leaves out what other threads of the
    program do, so that each thread can record one; only one records all.
    """
    is_python = _arguments.flag(python, "python")
    if is_python:
        check_version()
    options = ffi.new("struct radio_recorder_options *")
    options.whole_process = _arguments.flag(whole_process, "whole_process")
    options.max_spans = _arguments.whole(max_spans, "max_spans")
    name = os.path.basename(sys.argv[0]) if title is None else title
    kept = ffi.new("char[]", _arguments.chars(name, "title") or b"python")
    options.title = kept
    return _Recording((options, kept), is_python)
