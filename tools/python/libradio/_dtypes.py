# SPDX-License-Identifier: MIT
"""NumPy's types and the library's."""
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _arguments
from ._native import lib

_NAMES: dict[int, str] = {
    lib.RADIO_BOOL: "bool",
    lib.RADIO_INT8: "int8",
    lib.RADIO_INT16: "int16",
    lib.RADIO_INT32: "int32",
    lib.RADIO_INT64: "int64",
    lib.RADIO_UINT8: "uint8",
    lib.RADIO_UINT16: "uint16",
    lib.RADIO_UINT32: "uint32",
    lib.RADIO_UINT64: "uint64",
    lib.RADIO_FLOAT16: "float16",
    lib.RADIO_FLOAT32: "float32",
    lib.RADIO_FLOAT64: "float64",
    lib.RADIO_COMPLEX64: "complex64",
    lib.RADIO_COMPLEX128: "complex128",
}
_CODES = {name: code for code, name in _NAMES.items()}
# NumPy has none of its own: ml_dtypes brings it.
_CODES["bfloat16"] = lib.RADIO_BFLOAT16


def from_code(code: int, item_nbytes: int) -> np.dtype[Any]:
    """Returns the type of an array's elements; that of raw bits is void."""
    if code == lib.RADIO_RAW:
        return np.dtype((np.void, item_nbytes))
    return np.dtype(_NAMES[code])


def to_code(dtype: np.dtype[Any], name: str) -> int:
    """Returns the library's type of elements in memory; name is that of the
    argument that has the type."""
    code: int | None = _CODES.get(dtype.name)
    if code is None:
        raise TypeError(f"{name}: {dtype}: voxels have no such type; use one"
                        " of integers, floats or complex numbers")
    if not dtype.isnative:
        raise TypeError(f"{name}: {dtype.str}: voxels are delivered in the"
                        " machine's byte order; use"
                        f" {dtype.newbyteorder('=').str}")
    return code


def converts(stored: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Whether a read delivers dtype, with the values that NumPy's cast has."""
    return dtype == stored or (
        dtype.name in _CODES and dtype.isnative
        and (dtype.kind == "c") == (stored.kind == "c")
        and np.can_cast(stored, dtype))


def requested(dtype: DTypeLike | None, stored: np.dtype[Any],
              scaled: bool) -> np.dtype[Any]:
    """Returns the type that a read delivers."""
    if dtype is None:
        return np.dtype(np.float32) if scaled else stored
    return _arguments.dtype(dtype)
