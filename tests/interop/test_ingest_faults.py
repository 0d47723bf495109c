# SPDX-License-Identifier: MIT
"""Ingest under faults: killed, two at once, a full disk, little memory."""

import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest
from conftest import RADIO, missing


def listed(radio, store):
    if not (store / "zarr.json").exists():
        return []
    out = json.loads(radio("ls", "-s", store, "--json").stdout)
    return [entry["path"] for entry in out]


def test_50_random_kills_lose_nothing_committed(radio, templates, tmp_path):
    files = [f for f in templates if f.stat().st_size < 1_500_000]
    store = tmp_path / "s.zarr"
    command = [RADIO, "ingest", "-s", store, "--overwrite", *files]
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.monotonic() - begin
    shutil.rmtree(store)
    rng = random.Random(9)
    committed, kills = set(), 0
    while kills < 50:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            # It has ended before: the machine is less busy than it was.
            assert process.wait(rng.uniform(0, whole)) == 0
            whole = time.monotonic() - begin
        except subprocess.TimeoutExpired:
            process.kill()
            kills += process.wait() == -signal.SIGKILL
        now = set(listed(radio, store))
        assert committed <= now, "a committed volume was lost"
        committed = now
        if now:
            radio("validate", "-s", store)
    radio("ingest", "-s", store, "--overwrite", *files)
    assert len(listed(radio, store)) == len(files)
    radio("validate", "-s", store)
    radio("gc", "-s", store)
    levels = list(store.glob("images/*/0-*"))
    assert len(levels) == len(files), "gc left what no volume names"
    assert not [p for p in store.rglob("*") if ".tmp" in p.name]


def test_two_processes_ingest_into_one_store(radio, templates, tmp_path):
    store = tmp_path / "s.zarr"
    files = templates[:12]
    halves = [files[:6], files[6:]]
    running = [subprocess.Popen([RADIO, "ingest", "-s", store, *half],
                                stderr=subprocess.PIPE) for half in halves]
    for process in running:
        assert process.wait() == 0, process.stderr.read()
    assert len(listed(radio, store)) == 12
    radio("validate", "-s", store)


@pytest.mark.parametrize("how", [[], ["--overwrite"]])
def test_two_processes_ingest_the_same_name(radio, templates, tmp_path, how):
    """Both succeed, and one of the two volumes remains complete."""
    file = next(f for f in templates if f.name == "ch2bet.nii.gz")
    for i in range(5):
        store = tmp_path / f"{i}.zarr"
        command = [RADIO, "ingest", "-s", store, *how, file]
        running = [subprocess.Popen(command, stderr=subprocess.PIPE)
                   for _ in range(2)]
        for process in running:
            error = process.stderr.read().decode()
            assert process.wait() == 0 or (
                not how and "exists already" in error), error
        assert listed(radio, store) == ["images/ch2bet"]
        radio("validate", "-s", store)


def test_overwriting_leaves_one_of_the_two(radio, nib, np, tmp_path):
    """With different voxels under one name the result is never a mixture."""
    values = [np.full((40, 41, 42), v, "i2") for v in (1, 2)]
    for i, v in enumerate(values):
        folder = tmp_path / str(i)
        folder.mkdir()
        nib.save(nib.Nifti1Image(v, np.eye(4)), folder / "x.nii.gz")
    store = tmp_path / "s.zarr"
    for _ in range(10):
        running = [subprocess.Popen([RADIO, "ingest", "-s", store,
                                     "--overwrite", tmp_path / i / "x.nii.gz"])
                   for i in "01"]
        assert [p.wait() for p in running] == [0, 0]
        radio("validate", "-s", store)
        radio("export", "-s", store, "x", "-o", tmp_path / "x.npy",
              "--overwrite")
        got = np.load(tmp_path / "x.npy")
        assert any(np.array_equal(got, v) for v in values)


def peak_rss_nbytes(report, *command):
    """Runs a command, and returns the peak resident memory of its process.

    Measured by time(1), since a process started from here directly would
    inherit the peak of this one.
    """
    if not os.path.exists("/usr/bin/time"):
        missing("Debian's time")
    subprocess.run(["/usr/bin/time", "-f", "%M", "-o", report, *command],
                   check=True, capture_output=True)
    return int(report.read_text()) * 1024


def test_a_float32_ct_is_ingested_within_256_mib(nib, np, ct_i16, tmp_path):
    image = nib.Nifti1Image(ct_i16.astype("f4").transpose(2, 1, 0),
                            np.diag([0.957, 0.957, 1.5, 1]))
    nib.save(image, tmp_path / "ct.nii.gz")
    peak = peak_rss_nbytes(tmp_path / "time", RADIO, "ingest", "-s",
                           tmp_path / "s.zarr", tmp_path / "ct.nii.gz")
    assert peak < 256 << 20, peak
    print(f"peak RSS {peak / 2**20:.0f} MiB")


def test_a_wrong_header_takes_no_memory(nib, np, tmp_path, radio):
    """The header claims 2 TB; the process stays small and reports the
    error."""
    header = nib.Nifti1Header()
    header.set_data_dtype("i2")
    header.set_data_shape((10000, 10000, 10000))
    header["magic"] = b"n+1"
    header["vox_offset"] = 352
    (tmp_path / "liar.nii").write_bytes(header.binaryblock + bytes(4 + 1000))
    done = subprocess.run(
        [RADIO, "ingest", "-s", tmp_path / "s.zarr", tmp_path / "liar.nii"],
        capture_output=True, text=True, preexec_fn=lambda:
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20)))
    assert done.returncode == 1
    assert "liar.nii" in done.stderr and len(
        done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.fixture
def small_disk(tmp_path):
    """Returns a real file system of 3 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m",
                              "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small tmpfs is not allowed here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_loses_nothing(radio, templates, small_disk):
    store = small_disk / "s.zarr"
    small = next(f for f in templates if f.name == "aal.nii.gz")
    large = next(f for f in templates if f.name == "ch2better.nii.gz")
    radio("ingest", "-s", store, small)
    done = radio("ingest", "-s", store, large, status=1)
    assert "o space left" in done.stderr, done.stderr
    assert listed(radio, store) == ["images/aal"]
    radio("validate", "-s", store)
    radio("gc", "-s", store)
    # The space of the failed writer is free again.
    radio("ingest", "-s", store, "-c", "again", small)


def fill(folder):
    """Takes all that is left of a disk."""
    with open(folder / "filler", "wb", buffering=0) as file:
        for nbytes in 65536, 1:
            try:
                while True:
                    file.write(bytes(nbytes))
            except OSError as error:
                assert error.errno == errno.ENOSPC


@pytest.mark.parametrize("args", [
    ["table", "--set", "site", "subjects", "a=other"],
    ["table", "--remove", "subjects", "a"], ["table", "--drop", "site"],
    ["split", "--folds", "2"], ["mv", "ct/a", "ct/z"], ["mv", "ct", "mr"],
    ["cp", "ct/a", "--name", "ct/copy", "--to", "s.zarr"],
    ["cp", "ct", "--to", "c.zarr"]], ids=lambda args: "_".join(args[:2]))
def test_a_command_on_a_full_disk_says_so_and_changes_nothing(
        radio, small_disk, args):
    store = small_disk / "s.zarr"
    for name in "ct/a", "ct/b":
        radio("phantom", "-s", store, name, "--size", "8")
    radio("index", "-s", store)
    radio("table", "-q", "-s", store, "--set", "site", "subjects", "a=x")

    def state():
        radio("validate", "-q", "-s", store)
        return [radio(*args, "-s", store).stdout for args in (
            ["ls"], ["table", "--tsv"], ["table", "ct", "--tsv"],
            ["index", "--check-values"])]

    before = state()
    fill(small_disk)
    done = radio(*args, "-s", store, status=1, cwd=small_disk)
    for line in done.stderr.splitlines():
        assert re.match(
            r"radio: .*(tables|ct|mr|c\.zarr)/.*: cannot write: No space left "
            "on device$|radio: ct/b and all after it keep their names$", line)
    assert "No space left" in done.stderr
    (small_disk / "filler").unlink()
    assert state() == before
    radio("gc", "-s", store)
    # What was begun is not in the way.
    radio(*args, "-s", store, cwd=small_disk)
    radio("index", "-s", store, "--check-values")


def test_a_removal_on_a_full_disk_leaves_rows_that_index_removes(radio,
                                                                 small_disk):
    store = small_disk / "s.zarr"
    for name in "ct/a", "ct/b":
        radio("phantom", "-s", store, name, "--size", "8")
    radio("index", "-s", store)
    fill(small_disk)
    # It frees less than a generation of the table takes.
    done = radio("rm", "-s", store, "ct/a", status=1)
    assert done.stdout == "removed ct/a\n"
    assert re.search("rows of tables were not written: .*: No space left on "
                     "device; repair them by 'radio index'\n$", done.stderr)
    (small_disk / "filler").unlink()
    assert radio("ls", "-s", store).stdout == "ct/b\n"
    radio("index", "-s", store)
    radio("index", "-s", store, "--check-values")


def test_no_permission_is_one_clear_line(templates, tmp_path):
    store = tmp_path / "s.zarr"
    store.mkdir(mode=0o755)
    copy = tmp_path / "image.nii.gz"
    shutil.copy(templates[0], copy)
    for folder in [*tmp_path.parents]:
        if folder.owner() == "root" and folder.stat().st_mode & 0o5 == 0:
            folder.chmod(folder.stat().st_mode | 0o5)
    tmp_path.chmod(0o755)

    def drop_root():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    if os.geteuid() != 0:
        store.chmod(0o555)
    done = subprocess.run([RADIO, "ingest", "-s", store, copy],
                          capture_output=True, text=True,
                          preexec_fn=drop_root)
    assert done.returncode == 1
    assert "ermission denied" in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
