# SPDX-License-Identifier: MIT
# The part that pyproject.toml cannot say: the compiled module, of which one
# wheel serves CPython 3.11 and all later versions.
from setuptools import setup

setup(
    cffi_modules=["build_native.py:ffi"],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
