# SPDX-License-Identifier: MIT
"""Prints what napari's reader makes of an image, and saves its voxels.  In a
process of its own: napari is in a folder of its own, since it brings a plugin
of pytest that needs all of it."""

import json
import sys

import numpy as np
from napari_ome_zarr import napari_get_reader

path, out = sys.argv[1:]
(levels, shown, kind), = napari_get_reader(path)(path)
np.save(out, np.asarray(levels[0]))
with open(f"{out}.json", "w", encoding="utf-8") as file:
    json.dump({
        "kind": kind, "levels": len(levels), "scale": shown["scale"],
        "labels": shown["axis_labels"], "units": shown["units"],
        "affine": np.asarray(shown["affine"].affine_matrix).tolist(),
    }, file)
