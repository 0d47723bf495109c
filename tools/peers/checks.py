# SPDX-License-Identifier: MIT
"""Compares a store's voxels with numpy's, by checksums."""

import zlib

import numpy as np

import places
import stores


class Checks:
    """Expected checksums, from a volume in an .npy file."""

    def __init__(self, path):
        self.path = path
        self.known = {}

    def expected(self, row, seed=0):
        """Returns the checksum of the first place of a row."""
        if (row, seed) not in self.known:
            values = np.load(self.path, mmap_mode="r")
            start, size = places.region(row, values.shape, seed, 0)
            box = np.ascontiguousarray(
                values[stores.selection(start, size, False)])
            self.known[row, seed] = zlib.crc32(box.tobytes())
        return self.known[row, seed]

    def compare(self, what, sums, seed=0):
        """Ends the run at a difference, since times of a store that returns
        wrong voxels are worthless."""
        wrong = [row for row, found in sums.items()
                 if found != self.expected(row, seed)]
        if wrong:
            raise SystemExit(f"bench-peers: {what} returns other voxels than "
                             f"numpy: {', '.join(wrong)}")
