# SPDX-License-Identifier: MIT
"""The exceptions: one for each status of the library.

Each is also one of Python's own, so that ``except FileNotFoundError`` and
``except KeyError`` work as elsewhere; an OSError has an errno.  Their text is
the library's line: it names the file or key, the place in it, and the wrong
value.
"""
from errno import EACCES, EEXIST, EIO, ENOENT, ENOSPC, ETIMEDOUT
from typing import Any, NoReturn, TypeVar

from ._native import ffi, lib

__all__ = [
    "AccessError", "ArgumentError", "CancelledError", "ChecksumError",
    "ClosedError", "DeadlineError", "ExistsError", "ForkedError",
    "FormatError", "InputOutputError", "LimitError", "NoSpaceError",
    "NotFoundError", "OutOfMemoryError", "RadioError", "RadioWarning",
    "RangeError", "UnsupportedError",
]


class RadioError(Exception):
    """The base of all exceptions that the library raises."""

    def __str__(self) -> str:
        # KeyError would quote the line, OSError would not print it.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # The errno of an OSError is not among its arguments.
        errno = getattr(self, "errno", None)
        state = {**self.__dict__, **({} if errno is None
                                     else {"errno": errno})}
        return type(self), self.args, state


class ArgumentError(RadioError, ValueError):
    """An argument that is never right, such as an illegal path."""


class NotFoundError(RadioError, KeyError, FileNotFoundError):
    """The file, volume or store does not exist."""


class ExistsError(RadioError, FileExistsError):
    """Something of that name is there already."""


class FormatError(RadioError, ValueError):
    """The data are damaged, cut short, or of another format."""


class UnsupportedError(RadioError, NotImplementedError):
    """The data, or the store, need a feature that the library lacks."""


class ChecksumError(RadioError, OSError, ValueError):
    """Bytes have changed since they were written."""

    damage: tuple[str, ...] = ()
    """Of ``Volume.validate``: a line for each damaged tile."""


class InputOutputError(RadioError, OSError):
    """The system or the network failed; a retry may help."""


class NoSpaceError(RadioError, OSError):
    """The disk or the quota is full."""


class AccessError(RadioError, PermissionError):
    """Permission denied."""


class OutOfMemoryError(RadioError, MemoryError):
    """Out of memory."""


class LimitError(RadioError, MemoryError):
    """More memory is needed than ``memory=`` of the store allows."""


class RangeError(RadioError, OverflowError):
    """A value does not fit into the type that was asked for."""


class CancelledError(RadioError):
    """The operation was cancelled."""


class ForkedError(RadioError, RuntimeError):
    """It cannot be opened again in a forked child: a store in memory."""


class DeadlineError(RadioError, TimeoutError):
    """The operation was not done in time."""


class ClosedError(RadioError, ValueError):
    """The store or volume was closed before."""


class RadioWarning(UserWarning):
    """Something worth knowing that is not an error."""


BY_STATUS: dict[int, type[RadioError]] = {
    lib.RADIO_ERROR_ARGUMENT: ArgumentError,
    lib.RADIO_ERROR_NOT_FOUND: NotFoundError,
    lib.RADIO_ERROR_EXISTS: ExistsError,
    lib.RADIO_ERROR_FORMAT: FormatError,
    lib.RADIO_ERROR_UNSUPPORTED: UnsupportedError,
    lib.RADIO_ERROR_CHECKSUM: ChecksumError,
    lib.RADIO_ERROR_IO: InputOutputError,
    lib.RADIO_ERROR_NO_SPACE: NoSpaceError,
    lib.RADIO_ERROR_PERMISSION: AccessError,
    lib.RADIO_ERROR_MEMORY: OutOfMemoryError,
    lib.RADIO_ERROR_LIMIT: LimitError,
    lib.RADIO_ERROR_RANGE: RangeError,
    lib.RADIO_ERROR_CANCELLED: CancelledError,
    lib.RADIO_ERROR_FORKED: ForkedError,
    lib.RADIO_ERROR_TIMEOUT: DeadlineError,
}


# Where the system was not asked, or gave no reason.
_ERRNO: dict[type[RadioError], int] = {
    NotFoundError: ENOENT, ExistsError: EEXIST, AccessError: EACCES,
    NoSpaceError: ENOSPC, DeadlineError: ETIMEDOUT,
}


E = TypeVar("E", bound=RadioError)


def with_errno(error: E, number: int = 0) -> E:
    """Gives an error that is an OSError its errno: the system's, or that of its
    class."""
    if isinstance(error, OSError):
        error.errno = number or _ERRNO.get(type(error), EIO)
    return error


def raise_status(status: int) -> NoReturn:
    """Raises the exception of a call that this thread made last."""
    line = ffi.string(lib.radio_error_message()).decode("utf-8", "replace")
    raise with_errno(BY_STATUS.get(status, RadioError)(line),
                     lib.radio_error_errno())
