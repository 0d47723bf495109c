# SPDX-License-Identifier: MIT
"""Compares results with the project's aims: the rows of a table.

Each answer is a row: what, against which store, aim, result, and whether the
aim is reached.  A ratio is how many times faster radio is.  An aim that was
not measured has a row, too.
"""

from math import exp, log
from statistics import median

import scaling
import stores

READS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128"]
SMALL, MEDIUM = "radio-balanced-small", "radio-balanced-medium"
FAST, AXIAL = "radio-balanced-fast", "radio-axial-small"
PRESETS = [SMALL, MEDIUM, FAST]

# Stores of planes: left out of comparisons on their own plane.
PLANE_WISE = ["tiledb-axial", "radiobject", "ts-axial", "blosc2"]
TILEDB = ["tiledb-axial", "tiledb-64", "radiobject", "radiobject-iso"]
NOT_MEASURED = "not measured"


# Figures: the median of the rounds, the minimum and the maximum.

def middle(values):
    """Returns the median and range; None where there are no values."""
    values = list(values)
    return (median(values), min(values), max(values)) if values else None


def exactly(value):
    return None if value is None else (value,) * 3


def as_range(figure, form="{:.2f}", unit=""):
    """Returns the median, with the range if there are several rounds."""
    value, least, most = map(form.format, figure)
    if figure[1] == figure[2]:
        return value + unit
    return f"{value} ({least} to {most}){unit}"


def verdict(figure, met):
    """The median decides.  The text says if some rounds alone would have
    decided otherwise."""
    decided, *others = map(met, figure)
    text = "yes" if decided else "**no**"
    return text + ", within the spread" if len(set(others)) > 1 else text


def answer(what, against, wanted, figure, met, text):
    if figure is None:
        return [what, against, wanted, NOT_MEASURED, ""]
    return [what, against, wanted, text(figure), verdict(figure, met)]


def times(what, against, least, ratio):
    """Returns an answer for a minimum ratio of speeds."""
    return answer(what, against, f"{least} x", ratio,
                  lambda x: x >= least, as_range)


def share_of_time(what, against, most, ratio):
    return answer(what, against, f"{most} of its time at most", ratio,
                  lambda x: x <= most, as_range)


def megabytes(what, nbytes, most):
    return answer(what, "", f"{most} MB at most", exactly(nbytes),
                  lambda n: n <= most * 1e6,
                  lambda figure: f"{figure[0] / 1e6:.1f} MB")


# The stores to compare with.

def title(name):
    return stores.find(name).title


def peers_of(results):
    return [n for n in results.names
            if not n.startswith(("radio-", "python-"))]


def best(results, what, among):
    """Returns the fastest of some stores at something; None if there is
    none."""
    timed = [(results.seconds(n, what), n) for n in among
             if results.seconds(n, what)]
    return min(timed)[1] if timed else None


def competitors(results, what):
    """Returns the stores that count in a column: all but plane-wise stores on
    their plane."""
    return [n for n in peers_of(results)
            if what != "axial" or n not in PLANE_WISE]


def geometric_mean(values):
    return exp(sum(map(log, values)) / len(values)) if values else 0


def mean_ratio(results, mine, others):
    """Returns the mean over all reads, in the rounds that have them all;
    others: {what: the store to compare with}."""
    found = [results.ratios(other, mine, what) if other else {}
             for what, other in others.items()]
    rounds = set.intersection(*map(set, found))
    return middle(geometric_mean([ratios[r] for ratios in found])
                  for r in sorted(rounds))


# The aims.

def name_of(mine, dtype, what):
    return f"{mine.removeprefix('radio-')}, {dtype}: {what}"


def size(results, mine, most, dtype):
    return [megabytes(name_of(mine, dtype, "size on disk"),
                      results.nbytes(mine), most)]


def one(results, mine, other, what, wanted, dtype, among=""):
    """among: the group of which other is the best, where it was chosen."""
    against = ": ".join(filter(None, [among, other and title(other)]))
    return [times(name_of(mine, dtype, what.removesuffix("_s")), against,
                  wanted, other and results.ratio(other, mine, what))]


def small(results, dtype):
    rows = size(results, SMALL, {"int16": 68, "float32": 79}[dtype], dtype)
    rows += one(results, SMALL, "blosc2", "full", 1.5, dtype)
    wanted = {"axial": 1.5, "coronal": 2.5, "sagittal": 2.5, "box32": 3,
              "box64": 2.5, "box128": 2}
    for what, ratio in wanted.items():
        rows += one(results, SMALL, "ts-shard", what, ratio, dtype)
    return rows


def columns(results):
    """Returns the best of the others in each column; None if missing."""
    return {what: best(results, what, competitors(results, what))
            for what in READS}


def every_column(results, mine, least, mean, dtype):
    rows = []
    found = columns(results)
    for what, other in found.items():
        rows += one(results, mine, other, what, least, dtype,
                    "best of the others")
    nnunet = dict.fromkeys(READS, "blosc2-nnunet")
    for against, others in (("best of each column", found),
                            (title("blosc2-nnunet"), nnunet)):
        rows.append(times(name_of(mine, dtype, "geometric mean"), against,
                          mean, mean_ratio(results, mine, others)))
    return rows


def medium(results, dtype):
    rows = size(results, MEDIUM, 80, dtype) if dtype == "int16" else []
    rows += every_column(results, MEDIUM, 1, 2, dtype)
    return rows + one(results, MEDIUM, "blosc2-nnunet", "write_s", 4, dtype)


def fast(results, dtype):
    rows = size(results, FAST, 86, dtype) if dtype == "int16" else []
    return rows + every_column(results, FAST, 2, 3.5, dtype)


def axial(results, dtype):
    rows = size(results, AXIAL, 69, dtype) if dtype == "int16" else []
    for other in ("blosc2", "ts-axial"):
        rows += one(results, AXIAL, other, "axial", 1.5, dtype)
        rows += one(results, AXIAL, other, "full", 1, dtype)
    return rows


def tiledb(results, dtype):
    """Compares the default layout with the best of TileDB in each column."""
    rows = []
    for what in READS:
        rows += one(results, MEDIUM, best(results, what, TILEDB), what, 10,
                    dtype, "TileDB or RadiObject")
    return rows


def ingest(results, dtype):
    other = best(results, "ingest_s", peers_of(results))
    rows = one(results, MEDIUM, other, "ingest_s", 2.5, dtype,
               "best of the others")
    for mine, most in ((MEDIUM, 1.25), (SMALL, 1.6)):
        rows.append(share_of_time(
            name_of(mine, dtype, "ingest"), "a bare inflate", most,
            middle(results.inflate_ratio(mine))))
    return rows


def scroll(results, dtype):
    return one(results, MEDIUM, "ts-cache", "scroll", 3, dtype)


def limit(results, dtype):
    return [answer(name_of(mine, dtype, "full"), "the machine's limit",
                   "0.8 of it", results.limit(mine, "full"),
                   lambda share: share >= 0.8, as_range) for mine in PRESETS]


def small_reads(results, dtype):
    rows = [share_of_time(name_of(mine, dtype, "box32"),
                          "decoding its tiles on all processors", 1.3,
                          results.by_decoding(mine, "box32"))
            for mine in PRESETS]
    rows.append(answer(
        name_of(MEDIUM, dtype, "open and a plane"), "the plane alone",
        "1 ms more at most", results.opening(MEDIUM), lambda s: s <= 0.001,
        lambda figure: as_range([1000 * s for s in figure], unit=" ms")))
    return rows


def threads(results, dtype):
    """Compares all threads with one."""
    rows = []
    for what, label, codecs in (
            ("full", "full", scaling.CODECS),
            ("ingest", "ingest of the .nii", scaling.INGESTED)):
        for codec in codecs:
            rows.append(times(
                f"balanced-{codec}, {dtype}: {label}, all threads",
                "one thread", 1.8,
                results.pairs(f"threads-{what}-{codec}", lambda r: 1 / r)))
    return rows


def sizes(results, dtype):
    """Measures the cost of a large volume, and of a large store."""
    if dtype != "int16":
        return []
    return [share_of_time(f"balanced-medium, {dtype}: {what}", against, most,
                          results.pairs(name, lambda r: r))
            for name, what, against, most in (
                ("size-box64", "box64 of 16 GB", "of 68 MB", 1.1),
                ("store-open", "opening one of 10,000 volumes", "of 10",
                 1.5),
                ("store-open-store", "the same with the store", "of 10",
                 1.5))]


def memory(results, dtype):
    """Takes the worst codec, place and round."""
    rows = []
    for of, names in (("balanced", [f"memory-{c}" for c in scaling.CODECS]),
                      ("axial-small", ["memory-axial-small"])):
        for what, kinds in (("the whole", ["full"]),
                            ("a plane", ["axial", "coronal", "sagittal"]),
                            ("a box", ["box32", "box64", "box128"])):
            rows.append(megabytes(
                f"{of}, {dtype}: memory beside the destination of {what}",
                results.memory(names, kinds, "beside_nbytes"), 32))
    rows.append(megabytes(
        f"balanced-medium, {dtype}: memory of an ingest, in all",
        results.memory(["memory-ingest"], ["ingest-gz"], "peak_nbytes"), 85))
    return rows


def answers(by_dtype):
    rows = []
    for aim in (small, medium, fast, axial, tiledb, ingest, scroll,
                small_reads, limit, threads, sizes, memory):
        for dtype, results in by_dtype.items():
            rows += aim(results, dtype)
    return rows
