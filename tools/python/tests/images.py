# SPDX-License-Identifier: MIT
"""Voxels for tests."""
import numpy as np

TYPES = ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64",
         "uint64", "float32", "float64", "complex64", "complex128"]


def voxels(shape, dtype, seed=0):
    """Numbers that any type has, none of them twice in a row."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 100, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values += 1j * rng.integers(0, 100, shape)
    return np.asfortranarray(values)
