# SPDX-License-Identifier: MIT
"""Handles of the library, which open themselves again after a fork.

A handle is closed when the last call that uses it has returned: a thread that
closes a store cannot take it from under another one.
"""
import os
import pickle
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar
from weakref import WeakValueDictionary

from ._arguments import whole
from ._calls import check, owned, take, watch_signals
from ._native import ffi, lib
from .errors import ClosedError

T = TypeVar("T")


class Handle(Generic[T]):
    """Something open, in this process or in the one that it was forked from."""

    __slots__ = ("_current", "_is_closed", "_name", "_open")
    _current: tuple[int, T] | None

    def __init__(self, name: str, open: Callable[[], T],
                 opened: T | None = None) -> None:
        """open is called when it is needed and opened is None."""
        self._name = name
        self._open = open
        self._is_closed = False
        self._current = None if opened is None else (os.getpid(), opened)

    def get(self) -> T:
        """Returns it, opened by this process."""
        # Read before it is asked whether it is closed: close() sets them in the
        # other order, so what is not closed is not opened a second time.
        current = self._current
        if self._is_closed:
            raise ClosedError(f"{self._name}: is closed; open it again")
        if current is not None and current[0] == os.getpid():
            return current[1]
        opened = self.get_closed()
        if self._is_closed:
            # By another thread, meanwhile.
            self._current = None
        return opened

    def get_closed(self) -> T:
        """The same for what was opened from it, and outlives it."""
        current = self._current
        # In a child locks may be held for ever by threads that it does not
        # have; the library's close functions leave them alone there.
        if current is None or current[0] != os.getpid():
            # Of threads that open it at once the last one's stays.
            current = self._current = os.getpid(), self._open()
        return current[1]

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        self._is_closed = True
        self._current = None


class Closable(Generic[T]):
    """What users close: by ``with``, ``close`` or the collector."""

    __slots__ = ()
    _handle: Handle[T]

    def close(self) -> None:
        """Closes it, when calls that are under way have ended; volumes of a
        store that are open stay usable."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._handle.is_closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_contexts: WeakValueDictionary[tuple[int, int, int, int | None], Any]
_contexts = WeakValueDictionary()


def context(threads: int, memory: int, cache: int | None) -> Any:
    """Returns the context of these options, which all have in common that are
    opened with the same ones: threads, a bound of memory, and a cache."""
    watch_signals()
    key = os.getpid(), threads, memory, cache
    found = _contexts.get(key)
    if found is not None:
        return found
    options = ffi.new("struct radio_context_options *")
    options.nthreads = threads
    options.memory_limit_nbytes = memory
    options.cache_nbytes = (0 if cache is None
                            else cache or lib.RADIO_NO_CACHE)
    owner = owned("context", lib.radio_context_close)
    check(lib.radio_context_open(options, owner))
    opened = take(owner)
    _contexts[key] = opened
    return opened


def context_options(threads: int, memory: int, cache: int | None
                    ) -> tuple[int, int, int | None]:
    """Returns the options of a context, checked."""
    return (whole(threads, "threads", most=2 ** 32 - 1),
            whole(memory, "memory"),
            None if cache is None else whole(cache, "cache"))


PICKLE_VERSION = 2


def pickled(make: type, *arguments: Any) -> tuple[Any, ...]:
    """Returns what ``__reduce__`` does.  The class is named by texts: one that
    another version does not have must not be looked for before the version."""
    return restore, (PICKLE_VERSION, make.__module__, make.__qualname__,
                     *arguments)


def restore(version: int, *rest: Any) -> Any:
    """Makes what was pickled; it opens itself at its first use."""
    if version != PICKLE_VERSION:
        raise pickle.UnpicklingError(
            f"a pickle of libradio in version {version}: this libradio reads"
            f" version {PICKLE_VERSION}; use the same in all processes")
    module, name, *arguments = rest
    return attrgetter(name)(import_module(module))(*arguments)
