# SPDX-License-Identifier: MIT
"""Tiled 3-D radiology volumes in Zarr stores, as NumPy arrays.

>>> import libradio
>>> volume = libradio.open("examples.zarr")["ct/head"]
>>> volume[:, :, 10].shape          # x, y; only the tiles of the plane are read
(64, 48)
>>> volume.numpy("float32", scaled=True).flags.f_contiguous
True

Axes are NIfTI's: x, y, z, then t, c.  x is fastest in memory: arrays are in
Fortran order.  ``volume.zyx`` has the order of arrays in C.
"""
from . import errors
from .errors import *
from .interchange import as_nibabel, as_sitk
from .store import Store, open
from .volume import Check, Stats, Volume, open_file
from .writing import (
    Collected, Ingested, copy, from_numpy, gc, ingest, phantom, remove,
)

__all__ = [
    "Check", "Collected", "Ingested", "Stats", "Store", "Volume",
    "as_nibabel", "as_sitk", "copy", "from_numpy", "gc", "ingest", "open",
    "open_file", "phantom", "remove",
]
__all__ += errors.__all__
