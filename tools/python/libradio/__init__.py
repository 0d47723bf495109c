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
from typing import Any as _Any

from . import errors
from .errors import *
from .interchange import MonaiReader, as_nibabel, as_sitk, as_torchio
from .profiling import Change, Comparison, Finding, Profile, profile
from .scopes import count, gauge, scope, step
from .store import Store, open
from .volume import Check, Stats, Volume, open_file
from .writing import (
    Collected, Ingested, copy, from_numpy, gc, ingest, phantom, remove,
)

__all__ = [
    "Change", "Check", "Collected", "Comparison", "Finding", "Ingested",
    "MonaiReader", "Profile", "Stats", "Store", "Volume", "as_nibabel",
    "as_sitk", "as_torchio", "copy", "count", "from_numpy", "gauge", "gc",
    "ingest", "open", "open_file", "phantom", "profile", "remove", "scope",
    "step",
]
__all__ += errors.__all__


def load_ipython_extension(shell: _Any) -> None:
    """Called by IPython for ``%load_ext libradio``: %%radio in the first line
    of a cell then records it and shows its profile."""
    from ._magic import register
    register(shell)
