# SPDX-License-Identifier: MIT
"""Measures tilings and codecs on several real images, as a basis for the
defaults.

The images are the scan from which the CT of the other stores is made, as it is
and as floats, and MR images and atlases of Debian's package mricron-data.
"""

import math
from pathlib import Path
from statistics import median

import nibabel as nib
import numpy as np

import report

SCAN = (108, 256, 256)          # a corner of the CT is the original scan
TEMPLATES = Path("/usr/share/mricron/templates")
TILINGS = ["balanced", "axial", "isotropic", "64,64,8", "64,64,64"]
CODECS = ["small", "medium", "fast"]
READS = ["full", "axial", "coronal", "sagittal", "box32", "box64"]
COLUMNS = ["ingest-nii"] + READS


def cut(folder, large, dtype):
    """Writes the scan by itself, if it is missing."""
    file = folder / f"scan-{dtype}.nii"
    if not file.exists():
        values = np.load(large, mmap_mode="r")[tuple(map(slice, SCAN))]
        nib.save(nib.Nifti1Image(values.astype(dtype).T,
                                 np.diag([0.957, 0.957, 1.5, 1.0])), file)
    return file


def find(folder, large):
    """Returns (name, description, file) of the images found; large: the CT, as
    .npy."""
    images = [
        ("ct", "CT", cut(folder, large, "int16")),
        ("ct-float", "the CT as floats", cut(folder, large, "float32")),
        ("mr", "MR, T1", TEMPLATES / "ch2better.nii.gz"),
        ("mr-float", "MR, T1, a monkey's", TEMPLATES /
         "inia19-t1-brain.nii.gz"),
        ("atlas", "atlas", TEMPLATES / "aal.nii.gz"),
        ("atlas-int16", "atlas of a monkey", TEMPLATES /
         "inia19-NeuroMaps.nii.gz")]
    return [image for image in images if image[2].exists()]


def measure(bench, r, file, codec):
    """Measures one round of an image in every tiling."""
    got = bench.bench("-s", bench.folder / "radio-beside", file, "--seed", r,
                      "--warmup", 1,
                      "--tiling", ",".join(TILINGS), "--codec", codec,
                      "--rows", ",".join(COLUMNS), "--destination", "numpy")
    return {"shape": got["shape"], "dtype": got["dtype"],
            "raw_nbytes": got["raw_nbytes"], "layouts": [
                {"tiling": layout["tiling"], "codec": layout["codec"],
                 "tile": layout["tile"],
                 "stored_nbytes": layout["stored_nbytes"],
                 "seconds": {row["row"]: median(row["times_s"])
                             for row in layout["rows"] if "times_s" in row}}
                for layout in got["layouts"]]}


def by_layout(records):
    """Returns {(tiling, codec): its parts of the records, one per round}."""
    found = {(t, c): [] for t in TILINGS for c in CODECS}
    for record in sorted(records, key=lambda r: r["round"]):
        for layout in record["layouts"]:
            found[layout["tiling"], layout["codec"]].append(layout)
    return {layout: rounds for layout, rounds in found.items() if rounds}


def seconds(rounds, row):
    values = [r["seconds"][row] for r in rounds if row in r["seconds"]]
    return median(values) if values else None


def mean_ratio(rounds, base):
    """Returns how many times longer reads take than with the base layout: the
    geometric mean over the rows, the median of the rounds."""
    means = []
    for mine, other in zip(rounds, base):
        logs = [math.log(mine["seconds"][row] / other["seconds"][row])
                for row in READS if row in mine["seconds"]]
        means.append(math.exp(sum(logs) / len(logs)))
    return median(means)


def title(tiling, codec):
    text = f"{tiling} {codec}"
    return f"**{text}**" if text == "balanced medium" else text


def of_image(records):
    """Returns the table of an image: a line for each layout."""
    layouts = by_layout(records)
    rows = []
    for (tiling, codec), rounds in layouts.items():
        tile = "x".join(map(str, reversed(rounds[0]["tile"])))
        rows.append([title(tiling, codec), tile,
                     f"{rounds[-1]['stored_nbytes'] / 1e6:.2f}"]
                    + [report.ms(seconds(rounds, c)) for c in COLUMNS]
                    + [f"{mean_ratio(rounds, layouts['balanced', codec]):.2f}"
                       ])
    return report.table(["ms", "tile, z first", "MB"] + COLUMNS
                        + ["by balanced"], rows)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(by_image):
    """Summarizes all images: sizes and times relative to the balanced tiling
    with the same codec."""
    rows = []
    for tiling in TILINGS:
        cells = []
        for codec in CODECS:
            sizes, times = [], []
            for records in by_image.values():
                layouts = by_layout(records)
                mine, base = layouts[tiling, codec], layouts["balanced",
                                                             codec]
                sizes.append(mine[0]["stored_nbytes"]
                             / base[0]["stored_nbytes"])
                times.append(mean_ratio(mine, base))
            cells += [f"{geometric_mean(sizes):.2f}",
                      f"{geometric_mean(times):.2f}"]
        rows.append([tiling] + cells)
    return report.table(["by balanced"] + [f"{c}, {what}" for c in CODECS
                                           for what in ("MB", "ms")], rows)


def presets(by_image):
    """Summarizes all images in the balanced tiling: each preset relative to
    medium."""
    rows = []
    for codec in CODECS:
        sizes, reads, ingests = [], [], []
        for records in by_image.values():
            layouts = by_layout(records)
            mine, base = (layouts["balanced", c] for c in (codec, "medium"))
            sizes.append(mine[0]["stored_nbytes"] / base[0]["stored_nbytes"])
            reads.append(mean_ratio(mine, base))
            ingests.append(seconds(mine, "ingest-nii")
                           / seconds(base, "ingest-nii"))
        rows.append([codec] + [f"{geometric_mean(v):.2f}"
                               for v in (sizes, reads, ingests)])
    return report.table(["by medium", "MB", "reads", "ingest"], rows)


def text(by_image, titles):
    """by_image: {name: its records}"""
    records = [r for of_one in by_image.values() for r in of_one]
    parts = [f"Of {report.commits(records)}.", summary(by_image),
             presets(by_image)]
    for name, records in by_image.items():
        shape = " x ".join(map(str, records[0]["shape"]))
        size = records[0]["raw_nbytes"] / 1e6
        parts += [f"#### {titles[name]}, {records[0]['dtype']}, {shape}, "
                  f"{size:.1f} MB; rounds: "
                  f"{len({r['round'] for r in records})}",
                  of_image(records)]
    return "\n\n".join(parts) + "\n"
