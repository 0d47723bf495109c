# SPDX-License-Identifier: MIT
"""The taps compile against the headers of the tools that they call, as far as
a package has them; the stubs of tests/profiler/record/taps are checked so.
bpftrace sees the scopes of a process that runs, where the kernel lets it."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

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


def ittnotify_headers():
    """The folder of Intel's header, from the crate that tools/check fetches."""
    found = sorted(SOURCE.glob("build/crates/ittapi-sys-*/c-library/include"))
    return found[-1] if found else pytest.skip("ittapi-sys is missing")


@pytest.mark.parametrize("headers", [ittnotify_headers, lambda: STUBS],
                         ids=["real", "stub"])
def test_ittnotify_compiles(headers):
    compile_tap("-DRD_WITH_ITTNOTIFY=1", headers())


def compile_tap(define, headers):
    compiler = shutil.which(os.environ.get("CC", "cc")) or pytest.skip("no cc")
    subprocess.run([compiler, "-std=gnu11", "-fsyntax-only", "-Wall",
                    "-Wextra", "-Werror", f"-I{BUILD}", f"-I{SOURCE}",
                    f"-I{SOURCE}/include", "-isystem", headers, define,
                    SOURCE / "profiler" / "record" / "tap.c"], check=True)


# Runs scopes after a line of input.
PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.radio_scope_begin.restype = ctypes.c_uint64
library.radio_scope_end.argtypes = [ctypes.c_uint64]
class Site(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p)
                for name in ("name", "category", "function", "file")] + [
                ("line", ctypes.c_uint), ("kind", ctypes.c_int)]
site = Site(b"tapped", b"user", b"f", b"f.py", 1, 0)
library.radio_profile_from_env()
print("loaded", flush=True)
sys.stdin.readline()
for _ in range(1000):
    library.radio_scope_end(library.radio_scope_begin(ctypes.byref(site)))
"""


def test_bpftrace_counts_the_scopes_of_a_process(tmp_path):
    bpftrace = shutil.which("bpftrace") or pytest.skip("no bpftrace")
    library = BUILD / ".libs" / "libradio.so.1"
    if not library.exists():
        pytest.skip("no shared library")
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, library], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "RADIO_PROFILE": str(tmp_path / "p.json"),
             "RADIO_PROFILE_TAPS": "1"})
    assert program.stdout.readline() == b"loaded\n"
    script = "".join(
        f"usdt:{library.resolve()}:radio:scope__{what} "
        f"/str(arg0) == \"tapped\"/ {{ @{what} = count(); }} "
        for what in ("begin", "end"))
    tracer = subprocess.Popen(
        [bpftrace, "-p", str(program.pid), "-e",
         'BEGIN { printf("ready\\n"); } ' + script],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in tracer.stdout:
        lines.append(line)
        if line == "ready\n":
            break
    # Also if it cannot trace: then it has ended.
    program.communicate(b"\n", timeout=60)
    said, _ = tracer.communicate(timeout=60)
    said = "".join(lines) + said
    if tracer.returncode != 0 or "ready" not in said:
        pytest.skip("bpftrace cannot trace here: " + said.strip()[-200:])
    assert "@begin: 1000\n" in said and "@end: 1000\n" in said
