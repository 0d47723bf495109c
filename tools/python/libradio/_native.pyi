# SPDX-License-Identifier: MIT
# cffi's objects have no static types.
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, name: str, onerror: Callable[..., Any],
                   error: object) -> Callable[[F], F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
