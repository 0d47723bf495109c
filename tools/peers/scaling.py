# SPDX-License-Identifier: MIT
"""Compares radio with itself: one thread and two, a small volume and a large
one, a store of few volumes and one of many, and measures its memory.

radio bench measures each pair in turn in one process, at the same places with
the same seed; the result is a ratio for each round.
"""

import json
import os
import shutil
from statistics import median

import nibabel as nib
import numpy as np

ROUNDS = 3                      # pairs of each call
READS, INGESTS = 5, 2           # of the whole, per side of a pair
SHARD = 64                      # planes per shard of such volumes
PLANES = 2 * SHARD + 2          # of the small volume: 68 MB; one of 64 MiB is
                                # a single shard of another shape
LARGE_PLANES = 478 * SHARD      # of 512 x 512 int16: 16 GB
FEW, MANY = 10, 10000
QUICK_LARGE_PLANES, QUICK_MANY = 8 * SHARD, 200
SPACING = np.diag([1.0, 1.0, 1.0, 1.0])

CODECS = ["small", "medium", "fast"]
INGESTED = ["small", "medium"]


def ratios(result, row):
    """Returns the second layout's times relative to the first's, per round."""
    def rounds(layout):
        found = next(r for r in layout["rows"] if r["row"] == row)
        n = found["runs_of_a_round"]
        times = found["times_s"]
        return [median(times[i:i + n]) for i in range(0, len(times), n)]
    first, second = map(rounds, result["layouts"])
    return [b / a for a, b in zip(first, second)]


class Scaling:
    """Makes the stores to measure in a folder, and measures them."""

    def __init__(self, bench):
        self.bench = bench
        self.folder = bench.folder / "scaling"

    # Preparation.

    def make(self):
        self.folder.mkdir(parents=True)
        quick = self.bench.options.quick
        print("making a large volume and a store of many")
        self.make_large(QUICK_LARGE_PLANES if quick else LARGE_PLANES)
        self.make_many(QUICK_MANY if quick else MANY)

    def ingest(self, store, *files):
        self.bench.run_radio("ingest", "-s", self.folder / store, "-c", "ct",
                             *files)
        for file in files:
            file.unlink()

    def make_large(self, nplanes):
        """Makes a small volume; and a large sparse one of zeros, whose shards
        are then replaced by links to those of the small one, so that all its
        tiles have real data."""
        values = np.load(self.bench.data("int16", ".npy"), mmap_mode="r")
        wide = [-(-512 // n) for n in values.shape[1:]]
        small = np.tile(values[:PLANES], [1] + wide)[:, :512, :512].T
        image = nib.Nifti1Image(small, SPACING)
        nib.save(image, self.folder / "head.nii")
        self.ingest("small", self.folder / "head.nii")
        image.header.set_data_shape(small.shape[:2] + (nplanes,))
        image.header["vox_offset"] = offset = 352
        with open(self.folder / "head.nii", "wb") as file:
            image.header.write_to(file)
            # Unwritten parts are zeros and take no disk space.
            file.truncate(offset + small[..., 0].nbytes * nplanes)
        self.ingest("large", self.folder / "head.nii")
        self.link_shards()

    def shards(self, store):
        """Returns the files of its full shards, from the first one on."""
        level = next((self.folder / store / "ct" / "head").glob("0-*"))
        about = json.loads((level / "zarr.json").read_text())
        shape = about["chunk_grid"]["configuration"]["chunk_shape"]
        if shape != [SHARD, 512, 512]:
            raise SystemExit(f"bench-peers: a shard of {store} is {shape} "
                             f"voxels, not {SHARD} planes: correct SHARD in "
                             "tools/peers/scaling.py")
        return [level / "c" / str(k) / "0" / "0"
                for k in range(about["shape"][0] // SHARD)]

    def link_shards(self):
        real = self.shards("small")
        for k, shard in enumerate(self.shards("large")):
            shard.unlink()
            os.link(real[k % len(real)], shard)

    def make_many(self, many):
        """Makes a few tiny volumes; and many, whose files are links to those
        of one of them."""
        voxels = np.arange(32**3, dtype="<i2").reshape((32,) * 3)
        files = [self.folder / f"v{i:05}.nii" for i in range(FEW)]
        for file in files:
            nib.save(nib.Nifti1Image(voxels, SPACING), file)
        self.ingest("few", *files)
        shutil.copytree(self.folder / "few", self.folder / "many")
        collection = self.folder / "many" / "ct"
        for i in range(FEW, many):
            shutil.copytree(collection / "v00000", collection / f"v{i:05}",
                            copy_function=os.link)

    # Measurements: each returns the record to keep.

    def pair(self, row, seed, *arguments):
        got = self.bench.radio_json(
            "bench", "--rounds", ROUNDS, "--seed", seed, "--rows", row,
            "--destination", "numpy", *arguments)
        return {"ratios": ratios(got, row)}

    def threads(self, r, dtype, codec):
        store = self.bench.path(dtype, f"radio-balanced-{codec}")
        return self.pair("full", r, "-s", store, "ct/head", "--runs", READS,
                         "--threads", f"1,{self.bench.options.threads}")

    def ingest_threads(self, r, dtype, codec):
        beside = self.bench.path(dtype, "radio-beside")
        return self.pair("ingest-nii", r, "-s", beside, "--codec", codec,
                         self.bench.data(dtype, ".nii"), "--runs", INGESTS,
                         "--threads", f"1,{self.bench.options.threads}")

    def sizes(self, r):
        """Measures warm reads: each shard's index was read before."""
        volumes = [self.folder / name / "ct" / "head"
                   for name in ("small", "large")]
        return self.pair("box64", r, *volumes, "--warmup", 1000)

    def stores(self, r, row):
        volumes = [self.folder / name / "ct" / f"v{FEW // 2:05}"
                   for name in ("few", "many")]
        return self.pair(row, r, *volumes)

    def memory(self, r, *arguments):
        program = self.bench.radio.parent / "bench" / "bench-memory"
        got = self.bench.radio_json("--seed", r, "--threads",
                                    self.bench.options.threads, *arguments,
                                    program=program)
        return {"rows": {row["row"]: row for row in got["rows"]}}

    def read_memory(self, r, dtype, tiling, codec):
        store = self.bench.path(dtype, f"radio-{tiling}-{codec}")
        return self.memory(r, "-s", store, "ct/head")

    def ingest_memory(self, r, dtype):
        return self.memory(r, "-s", self.bench.path(dtype, "radio-beside"),
                           self.bench.data(dtype, ".nii.gz"), "--rows",
                           "ingest-gz")

    def tasks(self, dtype):
        """Returns (name, function, its arguments after the round's number)."""
        made = [c for c in CODECS if ("balanced", c) in self.bench.layouts]
        found = [(f"threads-full-{codec}", self.threads, dtype, codec)
                 for codec in made]
        found += [(f"threads-ingest-{codec}", self.ingest_threads, dtype,
                   codec) for codec in INGESTED if codec in made]
        found += [(f"memory-{codec}", self.read_memory, dtype, "balanced",
                   codec) for codec in made]
        if ("axial", "small") in self.bench.layouts:
            found.append(("memory-axial-small", self.read_memory, dtype,
                          "axial", "small"))
        found.append(("memory-ingest", self.ingest_memory, dtype))
        if dtype == "int16":
            found += [("size-box64", self.sizes),
                      ("store-open", self.stores, "open"),
                      ("store-open-store", self.stores, "open-store")]
        return found
