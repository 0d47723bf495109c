# SPDX-License-Identifier: MIT
"""The taps compile against the headers of the tools that they call, as far as
a package has them; the stubs of tests/profiler/record/taps are checked so."""

import importlib.util
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STUBS = SOURCE / "tests" / "profiler" / "record" / "taps"


def nvtx_headers():
    """The folder of NVIDIA's headers, from the package nvidia-nvtx-cu12."""
    pytest.importorskip("nvidia", reason="nvidia-nvtx-cu12 is missing")
    found = importlib.util.find_spec("nvidia.nvtx")
    return pathlib.Path(next(iter(found.submodule_search_locations))) \
        / "include"


@pytest.mark.parametrize("headers", [nvtx_headers, lambda: STUBS],
                         ids=["real", "stub"])
def test_nvtx_compiles(headers):
    compile_tap("-DRD_WITH_NVTX=1", headers())


def test_ittnotify_compiles():
    compile_tap("-DRD_WITH_ITTNOTIFY=1", STUBS)


def compile_tap(define, headers):
    compiler = shutil.which(os.environ.get("CC", "cc")) or pytest.skip("no cc")
    subprocess.run([compiler, "-std=gnu11", "-fsyntax-only", "-Wall",
                    "-Wextra", "-Werror", f"-I{BUILD}", f"-I{SOURCE}",
                    f"-I{SOURCE}/include", "-isystem", headers, define,
                    SOURCE / "profiler" / "record" / "tap.c"], check=True)
