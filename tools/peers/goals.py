# SPDX-License-Identifier: MIT
"""What was to be reached, and what was: the rows of the project's aims.

Each answer is a row of a table: what, against whom, to reach, reached, and
whether it is.  A ratio is how many times faster radio is.
"""

from math import exp, log
from statistics import median

import stores

READS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128"]
SMALL, MEDIUM = "radio-balanced-small", "radio-balanced-medium"
FAST, AXIAL = "radio-balanced-fast", "radio-axial-small"

# Stores of planes: nobody is measured against them on their own plane.
PLANE_WISE = ["tiledb-axial", "radiobject", "ts-axial", "blosc2"]


def verdict(reached, wanted):
    return "yes" if reached >= wanted else "**no**"


def title(name):
    return stores.find(name).title


def told(ratio):
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}-{ratio[2]:.2f})"


def peers_of(results):
    return [n for n in results.names
            if not n.startswith(("radio-", "python-"))]


def best(results, what, among):
    """The fastest of some stores at something; None."""
    timed = [(results.seconds(n, what), n) for n in among
             if results.seconds(n, what)]
    return min(timed)[1] if timed else None


def geometric_mean(values):
    return exp(sum(map(log, values)) / len(values)) if values else 0


def size(results, name, most, dtype):
    nbytes = results.nbytes(name)
    if nbytes is None:
        return []
    return [[f"{name[6:]}, {dtype}: size on disk", "", f"{most} MB at most",
             f"{nbytes / 1e6:.1f} MB", verdict(most, nbytes / 1e6)]]


def one(results, mine, other, what, wanted, dtype):
    ratio = other and results.ratio(other, mine, what)
    if not ratio:
        return []
    return [[f"{mine[6:]}, {dtype}: {what.removesuffix('_s')}",
             title(other), f"{wanted} x", told(ratio),
             verdict(ratio[0], wanted)]]


def small(results, dtype):
    rows = size(results, SMALL, {"int16": 68, "float32": 79}[dtype], dtype)
    rows += one(results, SMALL, "blosc2", "full", 1.5, dtype)
    wanted = {"axial": 1.5, "coronal": 2.5, "sagittal": 2.5, "box32": 3,
              "box64": 2.5, "box128": 2}
    for what, ratio in wanted.items():
        rows += one(results, SMALL, "ts-shard", what, ratio, dtype)
    return rows


def rivals(results, what):
    """Who counts in a column: all but plane-wise stores on their plane."""
    return [n for n in peers_of(results)
            if what != "axial" or n not in PLANE_WISE]


def columns(results, mine):
    """Each column's ratio to the best of the others."""
    found = {}
    for what in READS:
        other = best(results, what, rivals(results, what))
        ratio = other and results.ratio(other, mine, what)
        if ratio:
            found[what] = (other, ratio)
    return found


def every_column(results, mine, least, mean, dtype):
    found = columns(results, mine)
    if not found:
        return []
    rows = [[f"{mine[6:]}, {dtype}: {what}", f"best: {title(other)}",
             f"{least} x", told(ratio), verdict(ratio[0], least)]
            for what, (other, ratio) in found.items()]
    means = geometric_mean([r[0] for _, r in found.values()])
    rows.append([f"{mine[6:]}, {dtype}: geometric mean",
                 "best of each column", f"{mean} x", f"{means:.2f}",
                 verdict(means, mean)])
    ratios = [results.ratio("blosc2-nnunet", mine, w) for w in READS]
    means = geometric_mean([r[0] for r in ratios if r])
    if means:
        rows.append([f"{mine[6:]}, {dtype}: geometric mean",
                     title("blosc2-nnunet"), f"{mean} x", f"{means:.2f}",
                     verdict(means, mean)])
    return rows


def medium(results, dtype):
    rows = every_column(results, MEDIUM, 1, 2, dtype)
    rows += one(results, MEDIUM, "blosc2-nnunet", "write_s", 4, dtype)
    if dtype == "int16":
        rows = size(results, MEDIUM, 80, dtype) + rows
    return rows


def fast(results, dtype):
    rows = every_column(results, FAST, 2, 3.5, dtype)
    if dtype == "int16":
        rows = size(results, FAST, 86, dtype) + rows
    return rows


def axial(results, dtype):
    rows = size(results, AXIAL, 69, dtype) if dtype == "int16" else []
    for other in ("blosc2", "ts-axial"):
        rows += one(results, AXIAL, other, "axial", 1.5, dtype)
        rows += one(results, AXIAL, other, "full", 1, dtype)
    return rows


def tiledb(results, dtype):
    """The default layout against the best of TileDB's in each column."""
    rows = []
    family = ["tiledb-axial", "tiledb-64", "radiobject"]
    for what in READS:
        rows += one(results, MEDIUM, best(results, what, family), what, 10,
                    dtype)
    return rows


def ingest(results, dtype):
    other = best(results, "ingest_s", peers_of(results))
    rows = one(results, MEDIUM, other, "ingest_s", 2.5, dtype)
    for name, most in ((MEDIUM, 1.25), (SMALL, 1.6)):
        ratios = results.inflate_ratio(name)
        if ratios:
            rows.append([f"{name[6:]}, {dtype}: ingest", "a bare inflate",
                         f"{most} of its time at most",
                         f"{median(ratios):.2f} ({min(ratios):.2f}-"
                         f"{max(ratios):.2f})",
                         verdict(most, median(ratios))])
    return rows


def scroll(results, dtype):
    return one(results, MEDIUM, "ts-cache", "scroll", 3, dtype)


def limit(results, dtype):
    rows = []
    for name in (SMALL, MEDIUM, FAST):
        share = results.limit(name, "full")
        if share:
            rows.append([f"{name[6:]}, {dtype}: full",
                         "the machine's limit", "0.8 of it", f"{share:.2f}",
                         verdict(share, 0.8)])
    return rows


def small_reads(results, dtype):
    rows = []
    ratio = results.by_decoding(MEDIUM, "box32")
    if ratio:
        rows.append([f"{MEDIUM[6:]}, {dtype}: box32",
                     "decoding its tiles on all processors",
                     "1.3 of its time at most", f"{ratio:.2f}",
                     verdict(1.3, ratio)])
    first = results.seconds(MEDIUM, "first-plane")
    plane = results.seconds(MEDIUM, "axial")
    if first and plane:
        rows.append([f"{MEDIUM[6:]}, {dtype}: open and a plane",
                     "the plane alone", "1 ms more at most",
                     f"{1000 * (first - plane):.2f} ms",
                     verdict(0.001, first - plane)])
    return rows


def threads(results, dtype):
    """How many times faster all threads are than one."""
    rows = []
    for what in ("full", "ingest"):
        for codec in ("small", "medium", "fast"):
            ratio = results.pairs(f"threads-{what}-{codec}", lambda r: 1 / r)
            if ratio:
                name = "full" if what == "full" else "ingest of the .nii"
                rows.append([f"balanced-{codec}, {dtype}: {name}, all "
                             "threads", "one thread", "1.8 x", told(ratio),
                             verdict(ratio[0], 1.8)])
    return rows


def sizes(results, dtype):
    """What it costs that the volume is large, or the store."""
    rows = []
    for name, what, against, most in (
            ("size-box64", "box64 of 16 GB", "of 68 MB", 1.1),
            ("store-open", "opening one of 10,000 volumes", "of 10", 1.5),
            ("store-open-store", "the same with the store", "of 10", 1.5)):
        ratio = results.pairs(name, lambda r: r)
        if ratio:
            rows.append([f"balanced-medium, {dtype}: {what}", against,
                         f"{most} of its time at most", told(ratio),
                         verdict(most, ratio[0])])
    return rows


def megabytes(what, nbytes, most):
    return [what, "", f"{most} MB at most", f"{nbytes / 1e6:.1f} MB",
            verdict(most, nbytes / 1e6)]


def memory(results, dtype):
    """Of the worst codec, place and round."""
    rows = []
    for title, kinds in (("the whole", ["full"]),
                         ("a plane", ["axial", "coronal", "sagittal"]),
                         ("a box", ["box32", "box64", "box128"])):
        nbytes = results.memory(kinds, "beside_nbytes")
        if nbytes:
            rows.append(megabytes(f"{dtype}: memory beside the destination "
                                  f"of {title}", nbytes, 32))
    nbytes = results.memory(["ingest-gz"], "peak_nbytes")
    if nbytes and dtype == "float32":
        rows.append(megabytes(f"balanced-medium, {dtype}: memory of an "
                              "ingest, in all", nbytes, 85))
    return rows


def answers(by_dtype):
    rows = []
    for answer in (small, medium, fast, axial, tiledb, ingest, scroll,
                   small_reads, limit, threads, sizes, memory):
        for dtype, results in by_dtype.items():
            rows += answer(results, dtype)
    return rows
