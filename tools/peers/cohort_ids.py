# SPDX-License-Identifier: MIT
"""Whose voxels the ids of a cohort give, in radio and in RadiObject: the table
of `tools/bench-peers cohorts`.

    cohort_ids.py --folder FOLDER --build BUILD

The same images are written by both: in a list sorted by subject, in one that is
not, with others appended that come before and between them, with one replaced,
and as a subset in a store of its own.  Then each id is asked for its voxels,
which are compared with those of its file.
"""

import argparse
import importlib.metadata
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import nibabel as nib
import numpy as np
import pandas as pd
import tiledb
from radiobject import RadiObject

NSUBJECTS = 40
NAPPENDED = 8
QUERY = "age >= 50"


class Images:
    """Images of subjects, each with voxels, an affine and a header of its
    own."""

    def __init__(self, folder):
        self.rng = np.random.default_rng(5)
        self.folder = folder
        self.subjects = [f"sub-{i:02}" for i in range(NSUBJECTS)]
        self.ages = {name: 30 + i for i, name in enumerate(self.subjects)}
        self.files = {name: self.write(name, "first")
                      for name in self.subjects}

    def write(self, name, folder):
        voxels = self.rng.integers(0, 1000, (16, 16, 16)).astype("i2")
        affine = np.diag([*self.rng.uniform(0.5, 2, 3), 1])
        affine[:3, 3] = self.rng.normal(size=3)
        image = nib.Nifti1Image(voxels, affine)
        image.header["descrip"] = f"scan of {name}"
        file = self.folder / folder / f"{name}_T1w.nii"
        file.parent.mkdir(exist_ok=True)
        nib.save(image, file)
        return file

    def order(self, is_sorted):
        """All but those that are appended later, in an order."""
        later = set(self.appended())
        names = [name for name in self.subjects if name not in later]
        return names if is_sorted else list(self.rng.permutation(names))

    def appended(self):
        return self.subjects[0::NSUBJECTS // NAPPENDED]

    def has_voxels(self, name, voxels):
        return np.array_equal(voxels, voxels_of(self.files[name]))

    def has_header(self, name, file):
        return file.read_bytes()[:352] == self.files[name].read_bytes()[:352]

    def rows(self, names):
        return pd.DataFrame({"obs_subject_id": names, "obs_id": names,
                             "age": [self.ages[name] for name in names]})


def voxels_of(file):
    return np.asarray(nib.load(file).dataobj)


def share(good, all):
    return f"{sum(good)} of {len(all)}"


class Radiobject:
    def __init__(self, images, folder):
        self.images, self.folder = images, folder

    def write(self, name, subjects):
        uri = str(self.folder / name)
        images = self.images
        RadiObject.from_niftis(
            uri, images={"T1w": [(images.files[s], s) for s in subjects]},
            obs_meta=images.rows(subjects))
        return uri

    def append(self, uri, subjects):
        RadiObject(uri).append(
            niftis=[(self.images.files[s], s) for s in subjects],
            obs_meta=self.images.rows(subjects))

    def subset(self, uri, name):
        copy = str(self.folder / name)
        RadiObject(uri).filter(QUERY).materialize(copy)
        return copy

    def volumes(self, uri):
        collection = RadiObject(uri).collection("T1w")
        rows = collection.obs.read()
        for name, subject in zip(rows["obs_id"], rows["obs_subject_id"]):
            yield subject, collection.loc[name]

    def own_voxels(self, uri):
        good = [self.images.has_voxels(subject, volume.to_numpy())
                for subject, volume in self.volumes(uri)]
        return share(good, good)

    def exports(self, uri):
        """Which files have the affine, and the header, of their subject's."""
        affines, headers = [], []
        file = self.folder / "out.nii"
        for subject, volume in self.volumes(uri):
            file.unlink(missing_ok=True)
            volume.to_nifti(file, compression=False)
            source = self.images.files[subject]
            affines.append(np.allclose(nib.load(file).affine,
                                       nib.load(source).affine, atol=1e-4))
            headers.append(self.images.has_header(subject, file))
        return share(affines, affines), share(headers, headers)

    def replace(self, uri, subject):
        """Writes an image again whose file has changed."""
        try:
            RadiObject(uri).append(niftis=[(self.images.files[subject],
                                            subject)])
        except (ValueError, KeyError, tiledb.TileDBError) as error:
            return f"refused: {str(error).splitlines()[0][:60]}"
        collection = RadiObject(uri).collection("T1w")
        found = collection.loc[f"{subject}_T1w"].to_numpy()
        new = self.images.has_voxels(subject, found)
        return (f"{'new' if new else 'other'} voxels; "
                f"{len(collection.obs.read())} rows, {len(collection)} "
                "volumes")

    def validate(self, uri):
        try:
            RadiObject(uri).validate()
        except ValueError as error:
            return f"fails: {str(error).split(':')[0]}"
        return "passes"

    def opens(self, uri):
        """Arrays and groups opened for a plane of a volume, which is read
        twice."""
        counted, real = [0], (tiledb.open, tiledb.Group)

        def count_open(*args, **keywords):
            counted[0] += 1
            return real[0](*args, **keywords)

        class CountedGroup(real[1]):
            def __init__(self, *args, **keywords):
                counted[0] += 1
                super().__init__(*args, **keywords)
        _, volume = next(self.volumes(uri))
        tiledb.open, tiledb.Group = count_open, CountedGroup
        try:
            volume.axial(3)
            volume.axial(4)
        finally:
            tiledb.open, tiledb.Group = real
        return f"{counted[0]} for 2 planes"


class Radio:
    def __init__(self, images, folder, radio):
        self.images, self.folder, self.radio = images, folder, radio

    def run(self, *args):
        return subprocess.run([self.radio, *map(str, args)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def write(self, name, subjects):
        store = self.folder / name
        self.append(store, subjects)
        return store

    def append(self, store, subjects):
        self.run("ingest", "-q", "-s", store, "-c", "T1w",
                 *(self.images.files[s] for s in subjects))
        table = self.folder / "rows.csv"
        self.images.rows(subjects)[["obs_id", "age"]].rename(
            columns={"obs_id": "subject"}).to_csv(table, index=False)
        self.run("index", "-s", store)
        self.run("table", "-q", "-s", store, "--import", table)

    def subset(self, store, name):
        copy = self.folder / name
        self.run("cp", "-q", store, copy, "--where", QUERY)
        return copy

    def exported(self, store):
        """Each subject, with the file that its volume was exported to."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.run("export", store, "--format", "nii", "-o", out)
        for row in json.loads(self.run("table", "-s", store, "--json",
                                       "T1w")):
            yield row["subject"], out / f"{row['volume']}.nii"

    def own_voxels(self, store):
        good = [self.images.has_voxels(subject, voxels_of(file))
                for subject, file in self.exported(store)]
        return share(good, good)

    def exports(self, store):
        found = [(np.array_equal(nib.load(file).affine,
                                 nib.load(self.images.files[s]).affine),
                  self.images.has_header(s, file))
                 for s, file in self.exported(store)]
        return (share([a for a, _ in found], found),
                share([b for _, b in found], found))

    def replace(self, store, subject):
        self.run("ingest", "-q", "-s", store, "-c", "T1w", "--overwrite",
                 self.images.files[subject])
        files = dict(self.exported(store))
        new = self.images.has_voxels(subject, voxels_of(files[subject]))
        return (f"{'new' if new else 'other'} voxels; {len(files)} rows, "
                f"{len(self.run('ls', '-s', store).split())} volumes")

    def validate(self, store):
        done = subprocess.run([self.radio, "validate", str(store)],
                              stdout=subprocess.DEVNULL)
        return "passes" if done.returncode == 0 else "fails"

    def opens(self, store):
        return "not counted"


def compare(images, peers):
    """Returns rows: what was done, and what each of the peers gives."""
    order = images.order(False)
    ordered = [peer.write("sorted", images.order(True)) for peer in peers]
    stores = [peer.write("mixed", order) for peer in peers]
    rows = [("ids that give their own voxels: list sorted by subject", [
        peer.own_voxels(store) for peer, store in zip(peers, ordered)])]
    rows.append(("list not sorted", [
        peer.own_voxels(store) for peer, store in zip(peers, stores)]))
    for peer, store in zip(peers, stores):
        peer.append(store, images.appended())
    rows.append((f"{NAPPENDED} appended, before and between the others", [
        peer.own_voxels(store) for peer, store in zip(peers, stores)]))
    subsets = [peer.subset(store, "subset")
               for peer, store in zip(peers, stores)]
    rows.append((f"subset (`{QUERY}`), in a store of its own", [
        peer.own_voxels(store) for peer, store in zip(peers, subsets)]))
    for what, checked in (("the store of the list that was not sorted",
                           stores), ("its subset", subsets)):
        rows.append((f"`validate` of {what}", [
            peer.validate(store) for peer, store in zip(peers, checked)]))
    sorted_subsets = [peer.subset(store, "sorted-subset")
                      for peer, store in zip(peers, ordered)]
    rows.append(("subset of the sorted list", [
        peer.own_voxels(store) for peer, store in zip(peers,
                                                      sorted_subsets)]))
    for what, stores in (("the sorted list", ordered), ("its subset",
                                                        sorted_subsets)):
        found = [peer.exports(store) for peer, store in zip(peers, stores)]
        rows.append((f"volumes of {what} with the affine of their file",
                     [affines for affines, _ in found]))
        rows.append(("the same with the header of their file, byte for byte",
                     [headers for _, headers in found]))
    subject = images.order(True)[3]
    images.files[subject] = images.write(subject, "second")
    rows.append(("an image that has changed, written again", [
        peer.replace(store, subject)
        for peer, store in zip(peers, ordered)]))
    rows.append(("arrays and groups opened to read an open volume", [
        peer.opens(store) for peer, store in zip(peers, ordered)]))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}"
                         for name in ("radiobject", "tiledb"))
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        images = Images(Path(folder))
        peers = []
        for make, args in (
                (Radiobject, ()),
                (Radio, ((options.build / "tools/radio").absolute(),))):
            own = Path(folder) / make.__name__.lower()
            own.mkdir()
            peers.append(make(images, own, *args))
        rows = compare(images, peers)
    print(f"| {NSUBJECTS} images, one a subject | {versions} | radio |")
    print("|---|---|---|")
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
