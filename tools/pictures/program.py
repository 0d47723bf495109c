# SPDX-License-Identifier: MIT
"""A typical user program, for docs/side-by-side.md: it reads patches, planes
and the whole of a volume that is not in the page cache, and processes each a
little in numpy.

usage: program.py STORE VOLUME  (RADIO_TESTS_BUILDDIR: a build of radio)

radio records it when RADIO_PROFILE is set; pyinstrument records it when it
runs the program.
"""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "interop"))
from radio_library import Store, check, lib


def drop_from_page_cache(folder):
    for path in filter(Path.is_file, Path(folder).rglob("*")):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def normalise(patch):
    return (patch - patch.mean(dtype=np.float32)) / patch.std(
        dtype=np.float32)


def train(volume, shape, rng):
    """Reads random patches, as a training does."""
    for _ in range(32):
        start = [int(rng.integers(0, n - 64 + 1)) for n in shape]
        normalise(volume.read(start, (64, 64, 64), np.int16))


def review(volume, shape):
    """Reads every eighth plane of each direction, in a window."""
    for plane, n in zip(("axial", "coronal", "sagittal"), shape):
        for index in range(0, n, 8):
            pixels = volume.plane(plane, index, np.int16)
            np.clip((pixels + 160) / 400 * 255, 0, 255).astype(np.uint8)


def measure(volume, shape):
    """Computes the histogram of the whole."""
    voxels = volume.read((0, 0, 0), shape, np.int16)
    return np.histogram(voxels, bins=256)


def main():
    store_path, name = sys.argv[1:]
    drop_from_page_cache(store_path)
    check(lib.radio_profile_from_env())
    shape = (108, 256, 256)
    with Store(store_path) as store, store.open_volume(name) as volume:
        train(volume, shape, np.random.default_rng(0))
        review(volume, shape)
        measure(volume, shape)


main()
