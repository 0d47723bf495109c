# SPDX-License-Identifier: MIT
"""What child processes do in tests."""
import zlib

import numpy as np


def read_sample(volume, seed):
    """Returns a number that follows from a box of the volume."""
    rng = np.random.default_rng(seed)
    at = [int(rng.integers(0, n - 7)) for n in volume.shape[:3]]
    box = volume[tuple(slice(i, i + 8) for i in at)]
    return zlib.crc32(np.ascontiguousarray(box))


def list_store(store):
    """Returns the paths of a store, and those whose volume can be read."""
    return list(store), [path for path in store if store[path][0].size]
