# SPDX-License-Identifier: MIT
"""A cohort of many small volumes, and what tables of it cost: the rows of
tools/bench/cohorts.

    cohorts.py make FOLDER NSUBJECTS
    cohorts.py measure RADIO READ_COHORT FOLDER NROUNDS PEERS

make writes a BIDS folder of five images for each subject (16^3 voxels, one
tile) and its participants.tsv.  measure ingests it into a store and prints a
table; each command runs on its own, so its start counts.  PEERS is the Python
that has RadiObject and pybids (cohort_peers.py), and may be missing.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import nibabel as nib
import numpy as np
import pandas

import cohort_remote
from timing import cell, timed

IMAGES = [("ses-1", "T1w"), ("ses-1", "T2w"), ("ses-1", "mask"),
          ("ses-2", "T1w"), ("ses-2", "T2w")]
QUERY = 'age > 60 and site == "site 3"'


def make(folder, nsubjects):
    """Writes the images by their bytes: nibabel would take minutes."""
    rng = np.random.default_rng(1)
    voxels = rng.integers(0, 1000, (16, 16, 16)).astype("i2")
    image = bytearray(nib.Nifti1Image(voxels, np.eye(4)).to_bytes())
    lines = ["participant_id\tage\tsex\tsite\tscore"]
    for i in range(nsubjects):
        subject = f"sub-{i:05}"
        lines.append(f"{subject}\t{rng.integers(18, 90)}\t{'MF'[i % 2]}\t"
                     f"site {i % 7}\t{rng.normal()!r}")
        for number, (session, suffix) in enumerate(IMAGES):
            # Another voxel, and an affine of its own (srow_x to srow_z).
            image[352:360] = struct.pack("<q", 10 * i + number)
            image[280:328] = rng.normal(size=12).astype("<f4").tobytes()
            path = (folder / subject / session / "anat"
                    / f"{subject}_{session}_{suffix}.nii")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
    (folder / "participants.tsv").write_text("\n".join(lines) + "\n")


def nbytes_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*")
               if path.is_file())


def peer_rows(python, bids, folder, nrounds):
    """The rows of RadiObject and pybids on the same cohort."""
    missing = "not measured (`sh tools/bench-peers cohorts` installs it)"
    names = (("radiobject", "RadiObject", "`from_niftis`"),
             ("pybids", "pybids", "`BIDSLayout`"))
    found = {}
    if Path(python).exists():
        script = Path(__file__).with_name("cohort_peers.py")
        done = subprocess.run([python, script, bids, folder, str(nrounds)],
                              stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        found = json.loads(lines[-1]) if done.returncode == 0 else {}
        missing = "failed"
    for key, name, make in names:
        peer = found.get(key)
        version = f" {peer['version']}" if peer else ""
        yield (f"{name}{version}: {make} of all, s", "",
               cell(peer["ingest"], 1, 1) if peer else missing)
        yield (f"{name}{version}: open, query of two columns, open a volume, "
               "ms", "", cell(peer["select"], 1e3, 1) if peer else missing)


def measure(radio, read_cohort, folder, nrounds, peers):
    store, bids = folder / "s.zarr", folder / "bids"

    def run(*args):
        done = subprocess.run([radio, *map(str, args)], check=True,
                              stdout=subprocess.PIPE, text=True)
        return done.stdout
    rows = []
    shutil.rmtree(store, ignore_errors=True)
    seconds = timed(lambda: run("ingest", "-q", "-s", store, "--layout",
                                "bids", bids), 1)
    rows.append(("ingest of all, with tables, s", "", cell(seconds, 1, 1)))

    def index():
        shutil.rmtree(store / "tables")
        run("index", "-s", store)
    rows.append(("`radio index` from nothing, s", "10",
                 cell(timed(index, 3), 1, 1)))
    rows.append(("`radio index` when nothing changed, s", "",
                 cell(timed(lambda: run("index", "-s", store), 3), 1, 1)))
    run("table", "-s", store, "--import", bids / "participants.tsv")

    # All of T1w as text, in one table with the subjects' columns.
    text = folder / "T1w.tsv"
    text.write_text(run("table", "-s", store, "--tsv", "T1w"))
    frame = pandas.read_csv(text, sep="\t").merge(
        pandas.read_csv(bids / "participants.tsv", sep="\t"),
        left_on="subject", right_on="participant_id")
    whole = folder / "whole.tsv"
    frame.to_csv(whole, sep="\t", index=False)
    done = subprocess.run(
        [read_cohort, str(nrounds), str(store), QUERY, str(text)], check=True,
        stdout=subprocess.PIPE, text=True).stdout
    own = dict(line.split(" ", 1) for line in done.splitlines())
    wanted = len(frame.query(QUERY))
    pandas_query = timed(lambda: pandas.read_csv(whole, sep="\t").query(QUERY),
                         nrounds)
    pandas_text = timed(lambda: pandas.read_csv(text, sep="\t"), nrounds)

    def quartiles(name):
        middle, low, high = map(float, own[name].split())
        return f"{middle:.1f} ({low:.1f}-{high:.1f})"
    rows.append(("open store and tables, query of two columns, open a volume, "
                 "ms", "50", quartiles("select")))
    rows.append((f"pandas: read_csv and query of T1w alone ({len(frame):,} "
                 "rows), ms", "", cell(pandas_query, 1e3, 1)))
    rows.append(("`radio ls --where`, ms", "200", cell(timed(
        lambda: run("ls", "-s", store, "--where", QUERY), nrounds), 1e3, 0)))
    rows.append((f"text of T1w ({text.stat().st_size / 1e6:.1f} MB), read "
                 "whole, ms", "", quartiles("text")))
    rows.append(("the same by pandas.read_csv, ms", "",
                 cell(pandas_text, 1e3, 1)))
    assert int(own["count"]) >= wanted > 0

    rows += peer_rows(peers, bids, folder, nrounds)
    rows += cohort_remote.rows(radio, read_cohort, folder, make, QUERY, text,
                               nrounds)

    # What one more volume writes beside its own.
    before = nbytes_below(store / "tables")
    own_before = nbytes_below(store / "T1w")
    more = folder / "more" / "sub-99999" / "anat"
    more.mkdir(parents=True, exist_ok=True)
    shutil.copy(bids / "sub-00000/ses-1/anat/sub-00000_ses-1_T1w.nii",
                more / "sub-99999_T1w.nii")
    seconds = timed(lambda: run("ingest", "-q", "-s", store, more), 1)
    rows.append(("one more volume: tables written, MiB", "2",
                 cell([nbytes_below(store / "tables") - before], 2 ** -20,
                      2)))
    rows.append(("the same, s", "", cell(seconds, 1, 2)))
    assert nbytes_below(store / "T1w") > own_before
    count = len(run("ls", "-s", store).splitlines())
    print(f"| {count:,} volumes | aim | |\n|---|---:|---:|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        os.environ.pop("RADIO_STORE", None)
        measure(sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]),
                sys.argv[6])
