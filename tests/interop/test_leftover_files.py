# SPDX-License-Identifier: MIT
"""A file is complete, but its temporary file cannot be removed: the command
warns and succeeds."""

import os
import subprocess

import pytest
from conftest import BUILD, RADIO, missing

LIBRARY = BUILD / ".libs" / "libfail-calls.so"


@pytest.mark.parametrize("how", ["eio", None])
@pytest.mark.parametrize("command, file", [
    (["export"], "a.npy"), (["export"], "a.nii"), (["export"], "a.nii.gz"),
    (["roi", "--at", "2,2,2", "--size", "8"], "a.npy"),
    (["slice"], "a.png"), (["slice"], "a.npy")])
def test_a_leftover_is_a_warning(radio, tmp_path, command, file, how):
    """On file systems where a name cannot be given only if it is absent, other
    than by a second link."""
    if not LIBRARY.exists():
        missing(LIBRARY.name)
    store, output, log = (tmp_path / name for name in ("s.zarr", file, "log"))
    radio("phantom", "-s", store, "ct/a", "--size", "16")
    radio(*command, "-s", store, "a", "-o", tmp_path / f"right-{file}")
    done = subprocess.run(
        [RADIO, *command, "-s", store, "a", "-o", output],
        capture_output=True, text=True,
        env={**os.environ, "LD_PRELOAD": str(LIBRARY), "FAIL_CALLS": "unlink",
             "FAIL_LOG": str(log), "FAIL_NOREPLACE": "1", "FAIL_NTH": "1",
             **({"FAIL_HOW": how} if how else {})})
    assert done.returncode == 0, done.stderr
    assert log.stat().st_size == 1
    assert (output.read_bytes()
            == (tmp_path / f"right-{file}").read_bytes())
    left = list(tmp_path.glob(".radio-*"))
    if how:
        assert len(left) == 1 and left[0].name in done.stderr
        assert done.stderr.startswith("radio: warning: ")
        assert done.stderr.count("\n") == 1
    else:
        assert not left and not done.stderr
