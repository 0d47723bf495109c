# SPDX-License-Identifier: MIT
"""Computes the places that radio bench reads, independently.

tools/bench/rows.c and tools/profile/samples.c define them: each run of a row
has a state of its own from seed, row and number, and SplitMix64 derives random
numbers from it.  So other stores read exactly the same boxes.
"""

MASK = (1 << 64) - 1
ROWS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128",
        "scroll", "loader", "open-store", "open", "first-plane",
        "cold-plane", "export", "ingest-nii", "ingest-gz"]
SCROLL_PLANES = 32

# The plane's axis of a volume (z, y, x), for a diagonal affine.
PLANE_AXIS = {"axial": 0, "coronal": 1, "sagittal": 2}


class Random:
    """SplitMix64, as rd_random and rd_random_below."""

    def __init__(self, row, seed, i):
        self.state = (seed * 1000000007 + ROWS.index(row) * 1000003 + i) & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        surplus = (MASK % n + 1) % n
        while True:
            value = self.next()
            if value <= MASK - surplus:
                return value % n


def box(row, shape, seed, i):
    """Returns start of run i of a row of boxes, and its size, in array
    order."""
    size = int(row.removeprefix("box"))
    random = Random(row, seed, i)
    start = [random.below(n - size + 1) for n in reversed(shape)]
    return tuple(reversed(start)), (size,) * 3


def plane(row, shape, seed, i):
    """Returns axis and index of run i of a row of planes."""
    axis = PLANE_AXIS[row]
    return axis, Random(row, seed, i).below(shape[axis])


def scroll(shape, seed, i):
    """Returns the first of the axial planes that run i reads in order, and
    their number."""
    n = min(SCROLL_PLANES, shape[0])
    return Random("scroll", seed, i).below(shape[0] - n + 1), n


def region(row, shape, seed, i):
    """Returns start and size of the region that run i of a row reads."""
    if row == "full":
        return (0,) * len(shape), tuple(shape)
    if row == "scroll":
        first, n = scroll(shape, seed, i)
        return (first, 0, 0), (n,) + tuple(shape[1:])
    if row.startswith("box"):
        return box(row, shape, seed, i)
    axis, index = plane(row, shape, seed, i)
    start, size = [0] * 3, list(shape)
    start[axis], size[axis] = index, 1
    return tuple(start), tuple(size)


def decoded_voxels(row, shape, tile, seed, i):
    """Returns the voxels of all tiles that run i of a row decodes."""
    def touched(start, size):
        n = 1
        for s, k, t in zip(start, size, tile):
            n *= (-(-(s + k) // t) - s // t) * t
        return n
    start, size = region(row, shape, seed, i)
    if row != "scroll":
        return touched(start, size)
    # At the second plane the reader expects more: from there on each tile is
    # decoded once, and kept until the planes have left it.
    first = touched(start, (1,) + size[1:])
    again = size[0] > 1 and start[0] // tile[0] == (start[0] + 1) // tile[0]
    return touched(start, size) + (first if again else 0)
