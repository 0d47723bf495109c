# SPDX-License-Identifier: MIT
"""Worker processes of multiprocessing in profiles: while one is recorded, each
that starts records itself, and is a rank of it.

A worker keeps its recording in a file, as a ring, so that nothing is lost when
it is killed, as those of a Pool are; one that ends in good order writes its
profile beside it.
"""
import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import spawn, util
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any, NamedTuple

from . import _arguments
from ._calls import NULL, owned, take
from ._functions import take_watch, watch
from ._native import ffi, lib

_RING_NBYTES = 4 << 20
_SHARED = Path("/dev/shm")
_ROOM_NBYTES = 256 << 20
_PREFIX = "radio-ranks-"

# In a process that was spawned: what its parent sent.
_sent: list["Ranks"] = []


class _Recording(NamedTuple):
    """That of a worker."""

    pid: int
    end: util.Finalize
    watches: bool
    """Whether it has the functions of Python."""


_recording: _Recording | None = None


def _folder() -> tuple[Path, int]:
    """Makes a folder for rings: in memory, where it has room.  Returns it, and
    a descriptor that holds its lock, so that others leave it alone."""
    temporary = Path(tempfile.gettempdir())
    for parent in {_SHARED, temporary}:
        _remove_left(parent)
    parent = temporary
    with suppress(OSError):
        if (os.access(_SHARED, os.W_OK)
                and shutil.disk_usage(_SHARED).free >= _ROOM_NBYTES):
            parent = _SHARED
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        # Before it is locked another process may take it for one that was left.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_removed = os.fstat(descriptor).st_nlink == 0
        except BlockingIOError:
            is_removed = True
        except OSError:
            is_removed = False      # there are no such locks, for others too
        if not is_removed:
            return folder, descriptor
        os.close(descriptor)


@functools.cache
def _remove_left(parent: Path) -> None:
    """Removes the folders of this user's processes that were killed: their
    locks are free.  A process looks for them once: that takes half a
    millisecond where there are 1,000 files, more than all else that a profile
    begins with."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY
                                 | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


class _StartMessage:
    """Starts the recording of a process that is spawned, as it is unpickled
    there with what multiprocessing sends."""

    def __init__(self, folder: Path, python: bool) -> None:
        self.folder, self.python = str(folder), python

    def __reduce__(self) -> tuple[Any, ...]:
        popen: Any = get_spawning_popen()
        # Of a process that is forked, by the server too, multiprocessing
        # clears what it has to do at its end, and then calls after_fork's.
        is_forked = popen is None or popen.method != "spawn"
        # A process whose path lacks the package is no rank, but must start.
        return exec, ("try:\n"
                      "    from libradio._ranks import arrive\n"
                      "except ImportError:\n"
                      "    pass\n"
                      "else:\n"
                      f"    arrive({self.folder!r}, {self.python!r},"
                      f" {is_forked!r})\n", {})


def arrive(folder: str, python: bool, is_forked: bool) -> None:
    """Called in a process that was spawned, or of a fork server, before it
    begins."""
    _sent.append(Ranks(Path(folder), python))
    if not is_forked:
        _sent[0].begin()


class Ranks:
    """The processes that start while a profile is recorded."""

    def __init__(self, folder: Path, python: bool) -> None:
        self.folder = folder
        self.python = python
        # Called in forked children, for as long as this is there.
        util.register_after_fork(self, Ranks.begin)

    def begin(self) -> None:
        """Begins recording in a worker."""
        global _recording
        if not self.folder.is_dir():
            return
        name = self.folder / str(os.getpid())
        options = ffi.new("struct radio_recorder_options *")
        options.whole_process = True
        options.ring_nbytes = _RING_NBYTES
        file = ffi.new("char[]", _arguments.file(f"{name}.ring"))
        options.ring_file = file
        recorder = ffi.new("struct radio_recorder **")
        if lib.radio_recorder_start(options, recorder) != lib.RADIO_OK:
            # Without room for the file only a good end is known.
            options.ring_file = NULL
            if lib.radio_recorder_start(options, recorder) != lib.RADIO_OK:
                return
        end_watch = (take_watch() or watch()) if self.python else None
        # After all others: these may still work.
        _recording = _Recording(os.getpid(), util.Finalize(
            None, _finish, (recorder[0], end_watch, f"{name}.json",
                            os.getpid()), exitpriority=-100), self.python)

    def collect(self) -> list[Any]:
        """Returns the profiles of the workers, in the order of their start,
        and removes what they left."""
        found: list[tuple[int, Any]] = []
        known = set()
        for suffix, read in [(".json", lib.radio_profile_read),
                             (".ring", lib.radio_profile_recover)]:
            for file in self.folder.glob(f"*{suffix}"):
                owner = owned("profile", lib.radio_profile_close)
                if file.stem in known or (read(_arguments.file(file), owner)
                                          != lib.RADIO_OK):
                    continue
                known.add(file.stem)
                info = ffi.new("struct radio_profile_info *")
                lib.radio_profile_get_info(owner[0], info, ffi.sizeof(info[0]))
                found.append((info.started_unix_ns, take(owner)))
        shutil.rmtree(self.folder, ignore_errors=True)
        return [each for _, each in sorted(found, key=lambda one: one[0])]


def _finish(recorder: Any, end_watch: Callable[[], None] | None, file: str,
            pid: int) -> None:
    """Writes a worker's profile."""
    if os.getpid() != pid:
        return
    profile = owned("profile", lib.radio_profile_close)
    if lib.radio_recorder_stop(recorder, profile) == lib.RADIO_OK:
        # The parent's profile may be complete, and the folder gone.
        lib.radio_profile_write(profile[0], _arguments.file(file), NULL)
    if end_watch is not None:
        end_watch()


def make_way(whole_process: bool, python: bool) -> None:
    """Ends the recording of this process as a rank, which is of it until now,
    if a profile of its own needs what only one can have."""
    if (_recording is not None and _recording.pid == os.getpid()
            and _recording.end.still_active()
            and (whole_process or (python and _recording.watches))):
        _recording.end()


def expect(python: bool) -> Callable[[], list[Any]]:
    """Lets workers that start from now on record themselves; returns what
    ends that and returns their profiles."""
    folder, descriptor = _folder()
    ranks: Ranks | None = Ranks(folder, python)
    plain = spawn.get_preparation_data

    def get_preparation_data(name: str) -> Any:
        data = plain(name)
        if ranks is not None:
            data["libradio"] = _StartMessage(ranks.folder, python)
        return data

    spawn.get_preparation_data = get_preparation_data

    def end() -> list[Any]:
        nonlocal ranks
        if ranks is None:
            return []
        profiles = ranks.collect()
        # Others may have wrapped it since.
        if spawn.get_preparation_data is get_preparation_data:
            spawn.get_preparation_data = plain
        # In this order: if that is interrupted, it is not closed twice.
        ranks = None
        os.close(descriptor)
        return profiles
    return end
