# SPDX-License-Identifier: MIT
"""Four processes ingest one list into a store at once, and one of them is
killed at a random place: no row of a volume that was committed is lost, none is
there twice, and the killed part is repeated alone.

RADIO_TESTS_ROUNDS sets how often each is done (default: once); each round
prints the place of the kill.
"""

import hashlib
import json
import os
import random
import subprocess
import time

import pytest
from conftest import RADIO, run_radio
from gateway import ACCESS_KEY, REGION, SECRET_KEY
from radio_library import Store

ROUNDS = int(os.environ.get("RADIO_TESTS_ROUNDS", 1))
NVOLUMES, NPARTS = 200, 4
BUCKET = "killed"


@pytest.fixture(scope="module")
def images(np, nib, tmp_path_factory):
    """A folder of 100 subjects with two images each, all different, and what
    describes the subjects; with the digest of each volume's voxels."""
    root, digests = tmp_path_factory.mktemp("images") / "bids", {}
    rng = np.random.default_rng(5)
    lines = ["participant_id\tage"]
    for i in range(NVOLUMES // 2):
        folder = root / f"sub-{i:03}" / "anat"
        folder.mkdir(parents=True)
        lines.append(f"sub-{i:03}\t{20 + i % 60}")
        for kind in "T1w", "mask":
            voxels = rng.integers(0, 100, (5, 6, 4)).astype("i2")
            name = f"sub-{i:03}_{kind}.nii.gz"
            nib.save(nib.Nifti1Image(voxels, np.eye(4)), folder / name)
            digests[f"{kind}/sub-{i:03}"] = digest(voxels)
    (root / "participants.tsv").write_text("\n".join(lines) + "\n")
    return root, digests


def digest(voxels):
    return hashlib.sha256(voxels.tobytes()).hexdigest()


def rows(store, table, env):
    return json.loads(run_radio("table", "-s", store, "--json", table,
                                env=env).stdout)


def check_rows(store, env):
    """Each volume has one row, and each subject its age.  Returns the
    volumes."""
    listed = run_radio("ls", "-s", store, env=env).stdout.split()
    ids = [row["volume"] for table in ("T1w", "mask")
           for row in rows(store, table, env)]
    assert sorted(ids) == sorted(listed) and len(ids) == len(set(ids))
    said = run_radio("index", "-s", store, "--check", env=env).stdout
    assert "; 0 rows without a volume" in said, said
    subjects = rows(store, "subjects", env)
    ages = {row["subject"]: row["age"] for row in subjects}
    assert len(ages) == len(subjects)
    assert all(ages[name.split("/")[1]] == 20 + int(name[-3:]) % 60
               for name in listed)
    return listed


def begin(store, env, images, part, *more):
    # A line for each volume, when it is committed.
    return subprocess.Popen(
        ["stdbuf", "-oL", RADIO, "ingest", "-s", store, "--layout", "bids",
         "--part", f"{part}/{NPARTS}", *more, images],
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_round(np, images, store, env, options, seed):
    root, digests = images
    chosen = random.Random(seed)
    killed = chosen.randrange(NPARTS)
    nlines = chosen.randrange(NVOLUMES // NPARTS + 1)
    delay_s = chosen.random() * 0.05
    print(f"round {seed}: part {killed + 1} is killed {delay_s:.3f} s after "
          f"volume {nlines}")
    writers = [begin(store, env, root, k + 1) for k in range(NPARTS)]
    for _ in range(nlines):
        writers[killed].stdout.readline()
    time.sleep(delay_s)
    writers[killed].kill()
    ends = [writer.communicate() for writer in writers]
    for k, writer in enumerate(writers):
        assert k == killed or writer.returncode == 0, ends[k]
    run_radio("index", "-s", store, env=env)
    assert len(check_rows(store, env)) >= (
        NVOLUMES - NVOLUMES // NPARTS + nlines)
    again = begin(store, env, root, killed + 1, "--skip-existing")
    assert again.communicate()[1] == "" and again.returncode == 0
    assert sorted(check_rows(store, env)) == sorted(digests)
    with Store(store, **options) as opened:
        for name, wanted in digests.items():
            with opened.open_volume(name) as volume:
                voxels = volume.read([0, 0, 0], volume.shape(), np.int16)
            assert digest(voxels.T) == wanted, name
    # Nothing of the killed one is taken for a volume.
    said = run_radio("validate", "-q", "-s", store, env=env)
    assert said.stderr == ""


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_killed_writer_loses_no_row_on_a_disk(np, images, tmp_path, seed):
    run_round(np, images, str(tmp_path / "s.zarr"), None, {}, seed)


@pytest.fixture(scope="module")
def bucket(gateway):
    gateway.client().create_bucket(Bucket=BUCKET)
    return gateway


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_killed_writer_loses_no_row_in_s3(np, images, gateway, bucket,
                                            seed):
    options = {"endpoint": gateway.url().encode(),
               "access_key": ACCESS_KEY.encode(),
               "secret_key": SECRET_KEY.encode(), "region": REGION.encode()}
    run_round(np, images, f"s3://{BUCKET}/s{seed}.zarr",
              gateway.environment(), options, seed)
