# SPDX-License-Identifier: MIT
# The part that pyproject.toml cannot say: the compiled modules, of which one
# wheel serves CPython 3.11 and all later versions.
import sys
from pathlib import Path

from setuptools import Extension, setup

# Builds have no current folder in their path.
sys.path.insert(0, str(Path(__file__).parent))
from build_native import link  # noqa: E402

setup(
    cffi_modules=["build_native.py:ffi"],
    ext_modules=[Extension(
        "libradio._scopes", ["scopes.c"], py_limited_api=True,
        define_macros=[("Py_LIMITED_API", "0x030B0000")], **link())],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
