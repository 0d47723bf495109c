# SPDX-License-Identifier: MIT
"""The places that radio bench reads, worked out anew.

tools/bench/rows.c and tools/profile/samples.c say how: each run of a row has
a state of its own that seed, row and number decide, and SplitMix64 makes
numbers of it.  So other stores read the very same boxes.
"""

MASK = (1 << 64) - 1
ROWS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128",
        "scroll", "loader", "open-store", "open", "first-plane",
        "cold-plane", "export", "ingest-nii", "ingest-gz"]
SCROLL_PLANES = 32

# Axes of a volume (z, y, x) whose planes these are, for an affine that is
# diagonal.
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
    """Start of run i of a row of boxes, and its size, in array order."""
    size = int(row.removeprefix("box"))
    random = Random(row, seed, i)
    start = [random.below(n - size + 1) for n in reversed(shape)]
    return tuple(reversed(start)), (size,) * 3


def plane(row, shape, seed, i):
    """Axis and index of run i of a row of planes."""
    axis = PLANE_AXIS[row]
    return axis, Random(row, seed, i).below(shape[axis])


def scroll(shape, seed, i):
    """The first of the axial planes that run i reads in order, and their
    number."""
    n = min(SCROLL_PLANES, shape[0])
    return Random("scroll", seed, i).below(shape[0] - n + 1), n


def region(row, shape, seed, i):
    """Start and size of what run i of a row reads."""
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
    """Voxels of the tiles that run i of a row decodes, tiles whole."""
    def touched(start, size):
        n = 1
        for s, k, t in zip(start, size, tile):
            n *= (-(-(s + k) // t) - s // t) * t
        return n
    start, size = region(row, shape, seed, i)
    if row != "scroll":
        return touched(start, size)
    # The second plane tells that more follow: from there on each tile is
    # decoded once, and kept until the planes have left it.
    first = touched(start, (1,) + size[1:])
    again = size[0] > 1 and start[0] // tile[0] == (start[0] + 1) // tile[0]
    return touched(start, size) + (first if again else 0)
