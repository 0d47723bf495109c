# SPDX-License-Identifier: MIT
"""Commands that move, remove, replace, copy, index and edit the same volumes at
the same time: every volume that was committed and not removed is there with its
voxels and a note of its row, and the tables agree with the volumes once they
are indexed.

RADIO_TESTS_ROUNDS sets the number of rounds on a disk and in S3 (default: 1).
"""

import fcntl
import hashlib
import json
import os
import pty
import random
import re
import signal
import subprocess
import time

import pytest
from conftest import RADIO, run_radio
from gateway import ACCESS_KEY, REGION, SECRET_KEY
from radio_library import Store

ROUNDS = int(os.environ.get("RADIO_TESTS_ROUNDS", 1))
NAMES = [f"sub-{i}" for i in range(4)]
NCOMMANDS = 10                  # at the same time
BUCKET = "at-once"


def digest(voxels):
    return hashlib.sha256(voxels.tobytes()).hexdigest()


@pytest.fixture(scope="module")
def bucket(gateway):
    gateway.client().create_bucket(Bucket=BUCKET)


class Study:
    """A store, what was committed to it, and what may be gone."""

    def __init__(self, np, nib, folder, store, env, options, seed):
        self.np, self.nib, self.folder = np, nib, folder
        self.store, self.env, self.options = store, env, options
        self.random, self.nfiles = random.Random(seed), 0
        self.contents = {name: set() for name in NAMES}    # digests
        self.digests = {}       # of each file

    def file(self, name):
        """A file with other voxels than any before."""
        self.nfiles += 1
        voxels = self.np.random.default_rng(self.nfiles).integers(
            0, 99, (4, 5, 3)).astype("i2")
        path = self.folder / f"f{self.nfiles}" / f"{name}.nii.gz"
        path.parent.mkdir()
        self.nib.save(self.nib.Nifti1Image(voxels, self.np.eye(4)), path)
        self.contents[name].add(digest(voxels))
        self.digests[path] = digest(voxels)
        return path

    def run(self, *args, status=0):
        return run_radio(args[0], "-s", self.store, *args[1:], env=self.env,
                         status=status)

    def begin(self, *args):
        return subprocess.Popen(
            [RADIO, args[0], "-s", self.store, *map(str, args[1:])],
            env=self.env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def choose(self):
        """Arguments of a command, and the subject that it is about."""
        name = self.random.choice(NAMES)
        here, there = self.random.sample(["ct", "mr"], 2)
        where = ("--where", f'subject == "{name}"')
        kind = self.random.choices(
            ["move", "moves", "remove", "query", "replace", "set", "index",
             "gc", "copy"], [4, 2, 1, 1, 3, 4, 2, 1, 1])[0]
        over = ["--overwrite"] * (self.random.random() < 0.3)
        return kind, name, {
            "move": ("mv", *over, f"{here}/{name}", f"{there}/{name}"),
            "moves": ("mv", *over, here, there),
            "remove": ("rm", f"{here}/{name}"),
            "query": ("rm", here, *where, "--yes"),
            "replace": ("ingest", "-q", "--overwrite", "-c", here,
                        self.file(name) if kind == "replace" else ""),
            "set": ("table", "-q", "--set", "note", here,
                    f"{here}/{name}={self.random.randrange(10**6)}"),
            "index": ("index",),
            "gc": ("gc",),
            "copy": ("cp", "-q", "--overwrite", self.store,
                     self.folder / "copy.zarr", *where),
        }[kind]

    def volumes(self):
        """The voxels of each volume, and the note of its row."""
        found = {name: {} for name in NAMES}
        notes = {}
        listed = self.run("ls").stdout.split()
        for table in "ct", "mr":
            said, error = self.begin("table", "--json", table).communicate()
            assert said or "no such table" in error, error
            for row in json.loads(said or "[]"):
                assert row["volume"] not in notes
                notes[row["volume"]] = row.get("note")
        assert sorted(notes) == sorted(listed)
        with Store(self.store, **self.options) as opened:
            for path in listed:
                with opened.open_volume(path) as volume:
                    voxels = volume.read([0, 0, 0], volume.shape(),
                                         self.np.int16)
                found[path.split("/")[1]][digest(voxels.T)] = notes[path]
        return found


def check_subject(study, name, before, after, commands, text):
    """Of one subject: commands are those that may have changed it."""
    for kind, args, _, out in commands:
        # What is removed, or replaced by a move, may be gone.
        if "--overwrite" in args and args[0] == "mv" or re.search(
                f"^removed ../{name}$", out, re.M):
            return
    replaced = [digest for kind, _, digest, _ in commands if digest]
    if replaced:
        assert {*replaced} & {*after}, (name, text)
        return
    assert {*after} == {*before}, (name, text)
    said = {"-1"} | {args[-1].split("=")[1] for kind, args, _, _ in commands
                     if kind == "set"}
    assert {str(note) for note in after.values()} <= said, (name, after, text)


def run_round(study):
    for name in NAMES:
        study.run("ingest", "-q", "-c", "ct", study.file(name))
    study.run("index")
    study.run("table", "-q", "--set", "note", "ct",
              *(f"ct/{name}=-1" for name in NAMES))
    before = study.volumes()
    chosen = [study.choose() for _ in range(NCOMMANDS)]
    begun = [study.begin(*args) for _, _, args in chosen]
    ended = [process.communicate(timeout=120) for process in begun]
    text = "\n".join(
        f"{process.returncode} {' '.join(map(str, args))}\n  {out}{err}"
        for (_, _, args), process, (out, err) in zip(chosen, begun, ended))
    assert {process.returncode for process in begun} <= {0, 1}, text
    study.run("index")
    said = study.run("index", "--check").stdout
    assert "; 0 rows without a volume" in said, (said, text)
    assert study.run("validate", "-q").stderr == "", text
    after = study.volumes()
    for name in NAMES:
        # What is there was ingested, and is whole.
        assert {*after[name]} <= {*study.contents[name]}, (name, text)
        commands = []
        for (kind, its, args), process, (out, _) in zip(chosen, begun, ended):
            if its == name or kind in ("moves", "query"):
                done = kind == "replace" and process.returncode == 0
                commands.append((kind, args,
                                 study.digests[args[-1]] if done else None,
                                 out))
        check_subject(study, name, before[name], after[name], commands, text)
    return text


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_nothing_is_lost_on_a_disk(np, nib, tmp_path, seed):
    print(run_round(Study(np, nib, tmp_path, str(tmp_path / "s.zarr"), None,
                          {}, seed)))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_nothing_is_lost_in_s3(np, nib, tmp_path, gateway, bucket, seed):
    options = {"endpoint": gateway.url().encode(),
               "access_key": ACCESS_KEY.encode(),
               "secret_key": SECRET_KEY.encode(), "region": REGION.encode()}
    print(run_round(Study(np, nib, tmp_path, f"s3://{BUCKET}/{seed}.zarr",
                          gateway.environment(), options, seed)))


def test_a_volume_that_is_replaced_during_the_question_is_kept(np, nib,
                                                               tmp_path):
    study = Study(np, nib, tmp_path, str(tmp_path / "s.zarr"), None, {}, 0)
    for name in NAMES[:2]:
        study.run("ingest", "-q", "-c", "ct", study.file(name))
    study.run("index")
    ours, theirs = pty.openpty()
    asks = subprocess.Popen(
        [RADIO, "rm", "-s", study.store, "ct", "--where", "nbytes > 0"],
        stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 1000)
    path = study.file(NAMES[0])
    study.run("ingest", "-q", "--overwrite", "-c", "ct", path)
    os.write(ours, b"y\n")
    out = asks.communicate(timeout=120)[0]
    said = os.read(ours, 1000).decode()
    os.close(ours)
    assert asks.returncode == 1 and f"removed ct/{NAMES[1]}" in out
    assert f"ct/{NAMES[0]}: it was replaced since" in said, said
    assert {*study.volumes()[NAMES[0]]} == {study.digests[path]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_move_that_a_signal_ends_is_resumed(tmp_path, number):
    """Each volume has its old name, both or the new one, and a row for each
    with the user's cells.  In S3: test_s3_signals.py."""
    store = tmp_path / "s.zarr"
    for name in "abc":
        run_radio("phantom", "-s", store, f"ct/{name}", "--size", "8")
    run_radio("index", "-s", store)
    run_radio("table", "-q", "-s", store, "--set", "qc", "ct", "ct/a=1",
              "ct/b=2", "ct/c=3")

    def cells():
        return {row["volume"]: row["qc"] for table in ("ct", "mr")
                for row in json.loads(run_radio(
                    "table", "-s", store, table, "--json").stdout)}

    # It waits for the last one's lock, once the others are removed.
    lock = os.open(store / "ct/c", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # As in test_s3_signals.py: also where SIGINT is ignored by the tests.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    moves = subprocess.Popen([RADIO, "mv", "-s", store, "ct", "mr"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    signal.signal(signal.SIGINT, usual)
    while any((store / f"ct/{name}").exists() for name in "ab"):
        assert moves.poll() is None
        time.sleep(0.01)
    moves.send_signal(number)
    os.close(lock)
    out, err = moves.communicate(timeout=120)
    assert moves.returncode == -number
    assert err.endswith("radio: interrupted: volumes have the old name, or "
                        "both; the same command with --overwrite moves the "
                        "rest\n"), err
    run_radio("index", "-s", store, "--check-values")
    left = run_radio("ls", "-s", store, "ct").stdout.split()
    assert left in ([], ["ct/c"])
    assert cells() == {"mr/a": 1, "mr/b": 2, "mr/c": 3,
                       **{name: 3 for name in left}}
    if left:
        run_radio("mv", "-s", store, "--overwrite", "ct", "mr")
    run_radio("index", "-s", store, "--check-values")
    run_radio("validate", "-q", "-s", store)
    assert cells() == {"mr/a": 1, "mr/b": 2, "mr/c": 3}
