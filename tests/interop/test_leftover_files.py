# SPDX-License-Identifier: MIT
"""Commands that end while they write a file leave nothing beside it; where a
complete file's temporary file cannot be removed, they warn and succeed."""

import os
import signal
import subprocess

import pytest
from conftest import BUILD, RADIO, missing

LIBRARY = BUILD / ".libs" / "libfail-calls.so"


COMMANDS = pytest.mark.parametrize("command, file", [
    (["export"], "a.npy"), (["export"], "a.nii"), (["export"], "a.nii.gz"),
    (["roi", "--at", "2,2,2", "--size", "8"], "a.npy"),
    (["slice"], "a.png"), (["slice"], "a.npy")])


def run_command(command, env):
    """A shell that runs this in the background ignores SIGINT, and then radio
    does as well; a signal that Python handles has its default action in child
    processes."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              env={**os.environ, **env})
    finally:
        signal.signal(signal.SIGINT, usual)


@pytest.mark.parametrize("lacks_nameless", [False, True])
@pytest.mark.parametrize("how", ["kill", "term", "int"])
@COMMANDS
def test_an_ended_command_leaves_nothing(radio, tmp_path, command, file, how,
                                         lacks_nameless):
    """What it writes has no name, so that not even SIGKILL leaves it; on file
    systems without such files the first signal lets the command remove it."""
    if not LIBRARY.exists():
        missing(LIBRARY.name)
    if how == "kill" and lacks_nameless:
        return
    store, output = tmp_path / "s.zarr", tmp_path / file
    radio("phantom", "-s", store, "ct/a", "--size", "16")
    for begins, call in [(None, "create"), (b"old", "create"),
                         (b"old", "fsync")]:
        if begins:
            output.write_bytes(begins)
        done = run_command(
            [RADIO, *command, "-s", store, "a", "-o", output, "--overwrite"],
            {"LD_PRELOAD": str(LIBRARY), "FAIL_HOW": how, "FAIL_NTH": "1",
             "FAIL_CALLS": call,
             **({"FAIL_NAMELESS": "1"} if lacks_nameless else {})})
        assert done.returncode == -getattr(signal, f"SIG{how.upper()}")
        assert ({path.name for path in tmp_path.iterdir()}
                == {"s.zarr", file} if begins else {"s.zarr"})
        # A file that is complete when the signal comes may be the new one.
        if begins and (call == "create" or how == "kill"):
            assert output.read_bytes() == begins
        assert not done.stderr


@pytest.mark.parametrize("how", ["eio", None])
@COMMANDS
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
             "FAIL_NAMELESS": "1",
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
