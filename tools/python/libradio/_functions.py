# SPDX-License-Identifier: MIT
"""Functions of Python in profiles, by sys.monitoring."""
import os
import sys
from collections.abc import Callable

from . import _scopes
from .errors import ExistsError, UnsupportedError


def check_version() -> None:
    """Raises if this Python has no sys.monitoring."""
    if sys.version_info < (3, 12):
        raise UnsupportedError("python=True: needs Python 3.12 or later, this"
                               f" is {sys.version.split()[0]}; use"
                               " libradio.scope")


def _claim_functions() -> None:
    """Puts functions that NamedTuple and dataclass have made for classes of
    this package, which are in no file, into that of their class."""
    package = __name__.partition(".")[0]
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if module.__name__.partition(".")[0] != package or file is None:
            continue
        for kind in [*vars(module).values()]:
            if not isinstance(kind, type) or kind.__module__ != module.__name__:
                continue
            for made in vars(kind).values():
                function = getattr(made, "__func__", made)
                code = getattr(function, "__code__", None)
                if code is not None and code.co_filename == "<string>":
                    function.__code__ = code.replace(co_filename=file)


# The process that watches functions, and what ends that; forked children have
# both from their parent.
_watch: tuple[int, Callable[[], None]] | None = None


def take_watch() -> Callable[[], None] | None:
    """Makes the watch that a forked child has of its parent its own; returns
    what ends it."""
    global _watch
    if _watch is None:
        return None
    _watch = os.getpid(), _watch[1]
    return _watch[1]


def _watched_error() -> ExistsError:
    return ExistsError("python=True: another profile records the functions of"
                       " Python; end that first")


if sys.version_info >= (3, 12):
    # One for profilers, and two that are free for all.
    _TOOLS = sys.monitoring.PROFILER_ID, 3, 4

    def check_unwatched() -> None:
        """Raises if another profile watches functions, but a parent's, which
        no longer does in a forked child."""
        if _watch is not None and _watch[0] != os.getpid():
            _watch[1]()
        if any(sys.monitoring.get_tool(tool) == "libradio"
               for tool in _TOOLS):
            raise _watched_error()

    def watch() -> Callable[[], None]:
        """Begins scopes for all functions; returns what ends that, to be
        called once the recorder has stopped."""
        global _watch
        monitoring = sys.monitoring
        events = monitoring.events
        callbacks: dict[int, Callable[..., object]] = {
            events.PY_START: _scopes.function_begin,
            events.PY_RESUME: _scopes.function_begin,
            events.PY_THROW: _scopes.function_throw,
            events.PY_RETURN: _scopes.function_end,
            events.PY_YIELD: _scopes.function_end,
            events.PY_UNWIND: _scopes.function_unwind}
        for tool in _TOOLS:
            if monitoring.get_tool(tool) is None:
                break
        else:
            raise ExistsError("python=True: other tools watch the functions of"
                              " Python; end one of them")
        _claim_functions()
        try:
            # Functions of this package are between each call and its scopes.
            _scopes.watch(os.path.dirname(__file__) + os.sep,
                          monitoring.DISABLE)
        except RuntimeError:
            raise _watched_error() from None

        # Also of what has begun in part, or ended.
        def end() -> None:
            global _watch
            if _watch is None or _watch[1] is not end:
                return
            if monitoring.get_tool(tool) == "libradio":
                monitoring.set_events(tool, 0)
                for event in callbacks:
                    monitoring.register_callback(tool, event, None)
                monitoring.free_tool_id(tool)
            _scopes.forget()
            _watch = None

        _watch = os.getpid(), end
        try:
            monitoring.use_tool_id(tool, "libradio")
            for event, callback in callbacks.items():
                monitoring.register_callback(tool, event, callback)
            monitoring.set_events(tool, sum(callbacks))
            monitoring.restart_events()
        except BaseException:
            end()
            raise
        return end
else:
    def check_unwatched() -> None:
        """Raises."""
        check_version()

    def watch() -> Callable[[], None]:
        """Raises."""
        check_version()
        raise AssertionError
