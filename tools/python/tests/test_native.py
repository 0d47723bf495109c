# SPDX-License-Identifier: MIT
"""The compiled module has all of the library."""
import re

from libradio._native import ffi, lib


def test_every_public_function_is_declared(checkout):
    text = (checkout / "src/libradio.map").read_text()
    names = re.findall(r"^ +(radio_\w+);", text, re.MULTILINE)
    assert len(names) > 150
    assert [name for name in names if not hasattr(lib, name)] == []


def test_every_status_has_an_exception(checkout):
    from libradio.errors import BY_STATUS
    names = [name for name in dir(lib) if name.startswith("RADIO_ERROR_")]
    assert {getattr(lib, name) for name in names} == set(BY_STATUS)
    assert len(set(BY_STATUS.values())) == len(names)


def test_every_type_has_numpys(checkout):
    from libradio._dtypes import from_code, to_code
    for code in range(lib.RADIO_BOOL, lib.RADIO_RAW):
        dtype = from_code(code, 0)
        assert dtype.itemsize == lib.radio_dtype_nbytes(code)
        assert dtype.name == ffi.string(lib.radio_dtype_name(code)).decode()
        assert to_code(dtype, "dtype") == code
