# SPDX-License-Identifier: MIT
"""What a program adds to profiles: scopes, steps, counts and gauges.

While nothing records they do nothing, for 0.2 to 0.4 us.
"""
import inspect
import sys
from collections.abc import Callable
from functools import partial, wraps
from operator import index
from threading import get_ident
from typing import (
    Any, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, cast,
)

from . import _scopes
from ._arguments import choice, instance, wrong_type
from ._calls import warn
from ._native import ffi, lib
from .errors import ArgumentError

__all__ = ["Unit", "count", "gauge", "scope", "step"]

P = ParamSpec("P")
T = TypeVar("T")

Unit: TypeAlias = Literal["count", "bytes", "flop"]
"""What is counted: things, bytes, or arithmetic operations."""

_UNITS = {unit: unit for unit in ("count", "bytes", "flop")}
_LARGEST = 2**63 - 1
# Profiles have no number of a later one.
_LAST_STEP = 2**53 - 1

# Recorders know sites and counters by their addresses: these stay.
_sites: dict[tuple[str, str], int] = {}
_counters: dict[tuple[str, str], int] = {}


def _site(name: str, category: str) -> int:
    try:
        site = _sites.get((name, category))
    except TypeError:           # it is of a type without a hash
        site = None
    return _make_site(name, category) if site is None else site


def _make_site(name: str, category: str) -> int:
    instance(name, "name", str, "a str")
    frame = sys._getframe(3)
    code = frame.f_code
    return _sites.setdefault(
        (name, category),
        _scopes.site(name, category, code.co_qualname, code.co_filename,
                     max(0, frame.f_lineno or 0)))


def _first(name: str, value: SupportsIndex, unit: str) -> tuple[int, int]:
    """Returns the value and the counter, which is made; called when it is not
    known, or the value is no number: a mistake is one also while nothing
    records."""
    number = _whole(value, "value")
    try:
        instance(name, "name", str, "a str")
        choice(unit, "unit", _UNITS)
    except (TypeError, ArgumentError) as error:
        raise error from None
    return number, _counters.setdefault((name, unit),
                                        _scopes.counter(name, unit))


def _whole(value: SupportsIndex, name: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise wrong_type(value, name, "a whole number") from None


class _Span:
    """Something with a begin and an end on one thread, which threads may
    share."""

    __slots__ = ("_site",)
    _site: int

    def _begin(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object
                 ) -> None:
        is_in_order = _scopes.end(
            self, None if kind is None else _failure(kind))
        # An interrupt may have come as another one began or ended.
        if not is_in_order and (kind is None or issubclass(kind, Exception)):
            _warn_of_order(self._site)


def _warn_of_order(site: int) -> None:
    # Others may add names meanwhile.
    name = next(name for (name, _), each in [*_sites.items()] if each == site)
    warn([f"scope {name}: ended before one that began in it, which ends here,"
          " too; use `async with` in coroutines that take turns"])


def _failure(kind: type[BaseException]) -> str | None:
    # A generator that is closed, and an iterator that ends, have not failed.
    return (None if issubclass(kind, (GeneratorExit, StopIteration,
                                      StopAsyncIteration))
            else kind.__name__)


def _pop(requests: dict[object, list[int]]) -> int:
    """Takes the last one of this task, or of another one if it has none: a
    generator may begin in one and end in another.  0: there is none."""
    task = _task()
    if task not in requests:
        task = next(iter(requests), None)
    stack = requests.get(task, [0])
    last = stack.pop()
    if not stack:
        requests.pop(task, None)
    return last


def _task() -> object:
    """Returns what runs now: asyncio's task, or the thread."""
    asyncio = sys.modules.get("asyncio")
    try:
        task = asyncio and asyncio.current_task()
    except RuntimeError:        # the event loop is another package's
        task = None
    return task or get_ident()


class scope(_Span):
    """A named section of code, which profiles show as a node of the tree, with
    what it calls below it: of a ``with`` statement, or of each call of a
    function that it decorates.

    >>> import libradio
    >>> @libradio.scope("largest")
    ... def largest(volume: libradio.Volume) -> int:
    ...     with libradio.scope("read"):
    ...         return int(volume.numpy().max())
    >>> largest(libradio.open_file("head.nii.gz")) > 0
    True

    ``async with``, and coroutines, are requests: they may overlap, so what
    runs in them is not below them, and ``count`` does not count there.  A
    ``with`` statement has one stack of scopes for each thread: around an
    ``await`` the scopes of other tasks come below its own, and are ended by
    its end, with a warning, if theirs is later.  A scope that an exception
    leaves is marked as failed.

    Profiles keep names, so let them be few: of a loop, use ``step``.
    """

    __slots__ = ("_requests",)

    def __init__(self, name: str) -> None:
        self._site = _site(name, "user")
        # Of each task: they may share a scope, too.
        self._requests: dict[object, list[int]] = {}

    def _begin(self) -> None:
        _scopes.begin(self, self._site)

    async def __aenter__(self) -> Self:
        self._requests.setdefault(_task(), []).append(
            _scopes.request(self._site))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object
                        ) -> None:
        request = _pop(self._requests)
        if request:
            _scopes.request_end(
                request, None if kind is None else _failure(kind))

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Returns the function with a scope around each of its calls."""
        site = self._site
        # Its type stays P -> T, whatever is asked of it.
        given: Any = function
        if (not callable(given)
                or isinstance(given, (type, staticmethod, classmethod))):
            raise wrong_type(
                function, "function", "a function or a method, below"
                " @staticmethod and @classmethod")
        # Of an object that can be called, what is called.
        called = (given if inspect.isroutine(given)
                  or isinstance(given, partial)
                  else type(given).__call__)
        if (inspect.isgeneratorfunction(called)
                or inspect.isasyncgenfunction(called)):
            raise TypeError(f"{getattr(function, '__qualname__', function)}: is"
                            " a generator, which runs in parts; use `with`"
                            " inside its loop")
        if inspect.iscoroutinefunction(called):
            @wraps(function)
            async def in_request(*args: P.args, **kwargs: P.kwargs) -> Any:
                async with _again(site):
                    return await cast(Any, function)(*args, **kwargs)
            return cast(Callable[P, T], in_request)

        @wraps(function)
        def in_scope(*args: P.args, **kwargs: P.kwargs) -> T:
            if not _scopes.is_on():
                return function(*args, **kwargs)
            with _again(site):
                return function(*args, **kwargs)
        return in_scope


def _again(site: int) -> scope:
    """Returns another scope of the same name, for another call."""
    made = scope.__new__(scope)
    made._site = site
    made._requests = {}
    return made


class step(_Span):
    """An iteration of a loop, by its number: profiles compare the first ones
    and the slowest with the others, and show why they were slow.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> with libradio.profile() as p:
    ...     for i in range(10):
    ...         with libradio.step(i):
    ...             plane = volume.axial(i)
    >>> "step" in p.tree()
    True
    """

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = _whole(number, "number")
        if self._number < 0:
            raise ArgumentError(f"step {number}: count from 0 or 1 on")
        if self._number > _LAST_STEP:
            raise ArgumentError(f"step {number}: use {_LAST_STEP} or less")
        self._site = _site("step", "step")

    def _begin(self) -> None:
        _scopes.step(self, self._site, self._number)


def count(name: str, value: int = 1, unit: Unit = "count") -> None:
    """Adds to a sum that the innermost scope of this thread keeps; outside of
    all scopes it is lost, and the profile says so.

    >>> import libradio
    >>> with libradio.scope("filter"):
    ...     libradio.count("patches", 32)
    """
    try:
        amount, counter = index(value), _counters[name, unit]
    except (KeyError, TypeError):
        amount, counter = _first(name, value, unit)
    if amount < 0:
        raise ArgumentError(f"count {name}: {value}: a sum only grows; use"
                            " gauge for what also falls")
    if _scopes.is_on():
        _scopes.add(counter, min(amount, _LARGEST))


def gauge(name: str, value: int, unit: Unit = "count") -> None:
    """Notes the current value of something, such as batches in a queue, for
    the timeline."""
    try:
        level, counter = index(value), _counters[name, unit]
    except (KeyError, TypeError):
        level, counter = _first(name, value, unit)
    if _scopes.is_on():
        _scopes.gauge(counter, max(-_LARGEST, min(level, _LARGEST)))


class Handoff:
    """Puts what threads of this package do below the scope that it is for."""

    def __init__(self, name: str) -> None:
        self._site = ffi.cast("struct radio_site *", _site(name, "user"))
        self._handoff = ffi.new("struct radio_handoff *")

    def __enter__(self) -> Self:
        lib.radio_handoff_give(self._handoff)
        return self

    def __exit__(self, *exception: object) -> None:
        lib.radio_handoff_release(self._handoff)

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls work in a scope on this thread."""
        token = lib.radio_scope_receive(self._handoff, self._site)
        try:
            return work(*args, **kwargs)
        finally:
            lib.radio_scope_end(token)
