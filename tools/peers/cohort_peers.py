# SPDX-License-Identifier: MIT
"""What RadiObject and pybids take for the cohort of tools/peers/cohorts.py, as
a JSON object: of each measurement its seconds.

    cohort_peers.py BIDS FOLDER NROUNDS

Runs in the environment of requirements-cohorts.txt.  RadiObject has a
collection for each session, since it has one volume of a subject in each.
"""

import importlib.metadata
import json
import shutil
import sys
from pathlib import Path

import nibabel as nib
import pandas as pd

from timing import timed

IMAGES = [("ses-1", "T1w"), ("ses-1", "T2w"), ("ses-1", "mask"),
          ("ses-2", "T1w"), ("ses-2", "T2w")]


def measure_radiobject(bids, folder, nrounds):
    from radiobject import RadiObject
    uri = folder / "radiobject"
    shutil.rmtree(uri, ignore_errors=True)
    rows = pd.read_csv(bids / "participants.tsv", sep="\t").rename(
        columns={"participant_id": "obs_subject_id"})
    rows["obs_id"] = rows["obs_subject_id"]
    images = {f"{suffix}_{session}": [
        (bids / s / session / "anat" / f"{s}_{session}_{suffix}.nii", s)
        for s in rows["obs_subject_id"]] for session, suffix in IMAGES}
    wanted = rows[(rows["age"] > 60) & (rows["site"] == "site 3")]

    def read_one():
        found = RadiObject(str(uri)).filter("age > 60 and site == 'site 3'")
        assert len(found) == len(wanted)
        collection = found.collection("T1w_ses-1")
        return collection.loc[collection.obs_ids[0]].shape
    return {"ingest": timed(lambda: RadiObject.from_niftis(
                str(uri), images=images, obs_meta=rows), 1),
            "select": timed(read_one, nrounds)}


def measure_pybids(bids, folder, nrounds):
    from bids import BIDSLayout
    layouts = []
    database = folder / "pybids"
    shutil.rmtree(database, ignore_errors=True)
    seconds = timed(lambda: layouts.append(BIDSLayout(
        bids, validate=False, database_path=database)), 1)

    def read_one():
        layout = BIDSLayout(bids, validate=False, database_path=database)
        rows = pd.read_csv(bids / "participants.tsv", sep="\t").query(
            'age > 60 and site == "site 3"')
        files = layout.get(subject=[s[4:] for s in rows["participant_id"]],
                           suffix="T1w", extension=".nii",
                           return_type="filename")
        assert len(files) == 2 * len(rows)
        return nib.load(files[0]).shape
    return {"ingest": seconds, "select": timed(read_one, nrounds)}


def main():
    bids, folder, nrounds = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    found = {}
    for name, measure in (("radiobject", measure_radiobject),
                          ("pybids", measure_pybids)):
        found[name] = measure(bids, folder, int(nrounds))
        found[name]["version"] = importlib.metadata.version(name)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
