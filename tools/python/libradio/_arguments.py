# SPDX-License-Identifier: MIT
"""What users give, as the library takes it; an error names the argument and
the value that is wrong."""
import operator
import os
from collections.abc import Iterable, Mapping
from reprlib import repr as shown
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from .errors import ArgumentError

T = TypeVar("T")


def wrong_type(value: object, name: str, wanted: str) -> TypeError:
    """Returns the exception for a value of a type that is never right."""
    return TypeError(f"{name}: {shown(value)} is of type"
                     f" {type(value).__name__}; use {wanted}")


def instance(value: object, name: str, kind: type, wanted: str) -> None:
    """Raises TypeError unless a value is of a class."""
    if not isinstance(value, kind):
        raise wrong_type(value, name, wanted)


def flag(value: object, name: str) -> bool:
    """Returns what is True or False, or a number instead."""
    if not isinstance(value, (bool, np.bool_, int)):
        raise wrong_type(value, name, "True or False")
    return bool(value)


def whole(value: Any, name: str, least: int = 0,
          most: int = 2 ** 64 - 1) -> int:
    """Returns a whole number within limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong_type(value, name, "a whole number") from None
    if number < least:
        raise ArgumentError(f"{name}: {number}: use {least} or more")
    if number > most:
        raise ArgumentError(f"{name}: {number}: use {most} or less")
    return number


def wholes(values: Any, name: str) -> tuple[int, ...]:
    """Returns whole numbers, one for each axis."""
    try:
        return tuple([operator.index(value) for value in values])
    except TypeError:
        raise wrong_type(values, name, "a whole number for each axis"
                         ) from None


def numbers(values: Any, name: str) -> list[float]:
    """Returns several numbers."""
    try:
        return [float(value) for value in values]
    except TypeError:
        raise wrong_type(values, name, "a sequence of numbers") from None
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None


def several(values: Iterable[T], name: str, wanted: str) -> list[T]:
    """Returns the values of an iterable as a list."""
    try:
        found = iter(values)
    except TypeError:
        raise wrong_type(values, name, wanted) from None
    return list(found)


def choice(value: object, name: str, values: Mapping[Any, T]) -> T:
    """Returns what a word stands for."""
    if not isinstance(value, str) or value not in values:
        raise ArgumentError(f"{name}: {shown(value)}: use one of"
                            f" {', '.join(values)}")
    return values[value]


def chars(value: str, name: str, is_secret: bool = False) -> bytes:
    """Returns a string for the library, in UTF-8."""
    text = "a secret" if is_secret else shown(value)
    if not isinstance(value, str):
        raise wrong_type(value, name, "a str")
    if "\0" in value:
        raise ArgumentError(f"{name}: {text}: a NUL is in no name")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: {text}: cannot be written in UTF-8"
                            ) from None


def file(value: str | os.PathLike[str], name: str = "file") -> bytes:
    """Returns the name of a file for the library."""
    try:
        encoded = os.fsencode(value)
    except TypeError:
        raise wrong_type(value, name, "a str or a path") from None
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: {shown(value)}: no file has that name"
                            ) from None
    if b"\0" in encoded:
        raise ArgumentError(f"{name}: {shown(value)}: a NUL is in no name")
    return encoded


def place(value: str | os.PathLike[str], name: str = "file") -> str:
    """Returns a URL, or the absolute path of a local file or folder."""
    text = os.fsdecode(file(value, name))
    if not text:
        raise ArgumentError(f"{name}: is empty; the current folder is '.'")
    return text if "://" in text else os.path.abspath(text)


def dtype(value: DTypeLike) -> np.dtype[Any]:
    """Returns NumPy's type."""
    try:
        return np.dtype(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"dtype: {error}") from None
