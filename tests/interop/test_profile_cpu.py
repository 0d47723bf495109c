# SPDX-License-Identifier: MIT
"""The work on CPUs in profiles of commands that mostly wait for the disk, for
locks and for each other, beside the CPU time of the process, which the kernel
counts: what slept is no work.  Idle, and with loops that want all CPUs."""

import contextlib
import os
import subprocess

import pytest
from document_reader import Document

N = 100

# Each command on what those before it left.
COMMANDS = {
    "ingest": ["ingest", "-s", "{store}", "-c", "c", "{images}"],
    "cp": ["cp", "-s", "{store}", "--to", "{copy}", "c"],
    "validate": ["validate", "-s", "{store}"],
    "slice": ["slice", "-s", "{store}", "c/head-000", "-o", "{out}.png"],
    "roi": ["roi", "-s", "{store}", "c/head-000", "--x", "3:9", "-o",
            "{out}.npy"],
    "stats": ["stats", "-s", "{store}", "c/head-000"],
    "export": ["export", "-s", "{store}", "c/head-000", "-o",
               "{out}.nii.gz"],
    "ls": ["ls", "-l", "-s", "{store}"],
    "rm": ["rm", "-s", "{copy}", "c"],
    "gc": ["gc", "-s", "{copy}"],
}


@contextlib.contextmanager
def busy_loops(n):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
             for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.fixture(scope="module", params=[0, 6])
def recorded(radio, np, nib, tmp_path_factory, request):
    """Returns the profile of each command by its name."""
    folder = tmp_path_factory.mktemp("cpu")
    images = folder / "images"
    images.mkdir()
    voxels = np.random.default_rng(1).integers(0, 999, (24, 24, 12), "i2")
    for i in range(N):
        nib.save(nib.Nifti1Image(voxels + i, np.eye(4)),
                 images / f"head-{i:03d}.nii.gz")
    names = {"store": folder / "study.zarr", "copy": folder / "copy.zarr",
             "images": images, "out": folder / "out"}
    profiles = {}
    with busy_loops(request.param):
        for name, command in COMMANDS.items():
            file = folder / f"{name}.json"
            radio(*(word.format(**names) for word in command),
                  env={**os.environ, "RADIO_PROFILE": str(file)})
            profiles[name] = Document(file)
    return profiles


@pytest.mark.parametrize("command", COMMANDS)
def test_work_on_cpus_is_what_the_process_ran(recorded, command):
    info = recorded[command].info
    facts = recorded[command].raw["facts"]
    facts = dict(zip(facts["key"], facts["value"]))
    cpu_ns = int(facts["cpu ns"])
    # Of all CPUs, in steps of 10 ms; the recorder does not know whose it was.
    steal_ns = int(facts.get("steal ns", 0)) + 20_000_000
    on_cpus_ns = info["work_ns"] - info.get("starved_ns", 0)
    print(command, f"{on_cpus_ns / 1e6:.1f} ms on CPUs of "
          f"{info['work_ns'] / 1e6:.1f} ms work, cpu {cpu_ns / 1e6:.1f} ms, "
          f"steal {steal_ns / 1e6:.0f} ms")
    assert on_cpus_ns < 1.25 * cpu_ns + steal_ns
