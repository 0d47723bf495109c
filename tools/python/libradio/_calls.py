# SPDX-License-Identifier: MIT
"""Calls into the library: their result, signals, and lines of warnings."""
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._native import ffi, lib
from .errors import OutOfMemoryError, RadioWarning, raise_status

NULL = ffi.NULL

# What a handler of a signal raised while the library worked.  Signals are
# handled on the main thread alone, and only there are they looked for.
_raised: list[BaseException] = []


def _keep_error(kind: Any, error: BaseException, trace: Any) -> bool:
    _raised.append(error)
    return True


@ffi.def_extern(name="python_check_signals", onerror=_keep_error, error=True)
def _check_signals() -> bool:
    # The interpreter calls handlers of signals that have arrived as it enters
    # this function; their exception goes to _keep_error.
    return False


CANCEL = ffi.addressof(lib, "python_cancel")
STOPPED = ffi.addressof(lib, "python_is_stopped")
LINE = ffi.addressof(lib, "python_line")
BYTES = ffi.addressof(lib, "python_bytes")
ENTRY = ffi.addressof(lib, "python_entry")
PROGRESS = ffi.addressof(lib, "python_progress")
OPEN_VOLUME = ffi.addressof(lib, "python_open_volume")
COPY_BINS = ffi.addressof(lib, "python_copy_bins")


def _is_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def new_call() -> Any:
    """Returns the user_data of a call's callbacks, for finish()."""
    return ffi.new("struct python_call *")


# Of the main thread's calls that have no callbacks of their own.
_MAIN_CALL = ffi.new("struct python_call *")


def watch_signals() -> None:
    """Lets all that reads on this thread look for signals, if it is the main
    one, which in a forked child may be another than in its parent."""
    if _is_main_thread():
        lib.radio_thread_set_cancel(CANCEL, _MAIN_CALL)


@contextmanager
def ended_by(call: Any) -> Iterator[None]:
    """Ends what this thread reads when another one calls python_stop."""
    lib.radio_thread_set_cancel(STOPPED, call)
    try:
        yield
    finally:
        lib.radio_thread_set_cancel(NULL, NULL)


def _raise_signal() -> None:
    """Raises what a handler of a signal raised: of several signals the
    first."""
    if _raised and _is_main_thread():
        error = _raised[0]
        # A later call is not interrupted.
        _raised.clear()
        raise error


def check(status: int) -> None:
    """Raises what a handler of a signal raised, or the exception of a call
    that failed."""
    _raise_signal()
    if status != 0:
        raise_status(status)


def owned(kind: str, close: Callable[[Any], object]) -> Any:
    """Returns a pointer that the library sets to what it opens, a struct
    radio_KIND, and that closes it: an exception of a signal, which may come as
    the call returns, leaves nothing open."""
    return ffi.gc(ffi.new(f"struct radio_{kind} **"),
                  lambda owner: close(owner[0]))


def take(owner: Any) -> Any:
    """Returns what was opened, which stays open while it or owner is used.
    """
    return ffi.gc(owner[0], lambda _: owner)


def take_bytes(call: Any) -> bytes:
    """Returns the bytes that callbacks have kept."""
    nbytes = ffi.new("size_t *")
    taken = lib.python_take(call, nbytes)
    try:
        text: bytes = ffi.buffer(taken, nbytes[0])[:] if taken else b""
    finally:
        lib.python_free(taken)
    if call.lacks_memory:
        raise OutOfMemoryError("lines of the library: out of memory")
    return text


def take_lines(call: Any) -> list[str]:
    """Returns the lines that callbacks have kept."""
    return [line.decode("utf-8", "replace")
            for line in take_bytes(call).split(b"\0")[:-1]]


def finish(status: int, call: Any) -> None:
    """Raises what a handler of a signal raised, or the exception of a call
    that failed; and warns of the lines that it left."""
    try:
        check(status)
    except BaseException:
        lib.python_clear(call)
        raise
    warn_of(call)


def warn_of(call: Any) -> None:
    """Warns of the lines that callbacks have kept."""
    if call.text:
        warn(take_lines(call))


def warn(lines: Iterable[str]) -> None:
    """Warns of lines, at the user's line of code."""
    for line in lines:
        warnings.warn(line, RadioWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """Returns the stacklevel of the user's line, for the function that calls
    this one."""
    level, frame = 1, sys._getframe(1)
    package = __name__.partition(".")[0] + "."
    # Code that exec() runs may have no __name__.
    while (frame.f_back and
           str(frame.f_globals.get("__name__")).startswith(package)):
        level, frame = level + 1, frame.f_back
    return level


def text(pointer: Any) -> str:
    """Returns a string of the library."""
    value: bytes = ffi.string(pointer)
    return value.decode("utf-8", "surrogateescape")


def box(start: Sequence[int], size: Sequence[int]) -> Any:
    """Returns a box in array order."""
    return ffi.new("struct radio_box *", (len(size), start, size))


def address(array: np.ndarray[Any, Any]) -> Any:
    """Returns where the first element of an array is."""
    return ffi.cast("void *", array.__array_interface__["data"][0])


def take_text(pointer: Any) -> str:
    """Returns a string that the caller frees by free()."""
    try:
        return text(pointer)
    finally:
        lib.python_free(pointer)


watch_signals()
