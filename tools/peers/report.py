# SPDX-License-Identifier: MIT
"""Writes the tables of docs/measurements.md and docs/performance.md.

A ratio is how many times faster radio is: the other's median divided by
radio's, round by round; the tables show the median of the rounds, the minimum
and the maximum.
"""

import importlib.metadata
import json
import math
import os
import platform
from pathlib import Path
from statistics import median

import goals
import stores
from timing import line, table

COLUMNS = ["full", "axial", "coronal", "sagittal", "box32", "box64",
           "box128", "scroll"]
PACKAGES = ["blosc2", "h5py", "medrs", "nibabel", "numpy", "radiobject",
            "tensorstore", "tiledb", "zarr", "zarrs"]


# Recorded with the times since radio uses its cache for scrolling through
# ctypes, too.
SCROLLED_ALIKE = {"scrolled": "alike"}


def is_outdated(record):
    """Returns whether the record is of radio through ctypes, scrolling without
    its cache: then it is measured again, and the later record counts."""
    return (record["name"].startswith("python-")
            and "scroll" in record.get("times_s", {})
            and "scrolled" not in record)


def load(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Results:
    """The results for one type of voxels."""

    def __init__(self, records):
        self.records = records
        self.names = list(dict.fromkeys(r["name"] for r in records))

    def of(self, name, kind="reads"):
        return [r for r in self.records
                if r["name"] == name and r["kind"] == kind]

    @staticmethod
    def times_in(record, what):
        if what in ("write_s", "ingest_s", "malloc_full_s"):
            return record.get(what, [])
        if what == "scroll" and is_outdated(record):
            return []
        return record.get("times_s", {}).get(what, [])

    def rounds(self, name, what):
        """Returns the median of each round, by its number."""
        kind = "writes" if what in ("write_s", "ingest_s") else "reads"
        return {r["round"]: median(self.times_in(r, what))
                for r in self.of(name, kind) if self.times_in(r, what)}

    def seconds(self, name, what):
        """Returns the median of the rounds; None where it was not measured."""
        values = self.rounds(name, what).values()
        return median(values) if values else None

    def spread(self, name):
        """Returns the interquartile range of each row's rounds relative to its
        median, and the median of that over the rows."""
        spreads = []
        for what in COLUMNS:
            values = sorted(self.rounds(name, what).values())
            if len(values) > 2:
                n = len(values) - 1
                low, high = values[n // 4], values[n - n // 4]
                spreads.append((high - low) / median(values))
        return median(spreads) if spreads else None

    def nbytes(self, name):
        sizes = [r["stored_nbytes"] for r in self.of(name)
                 if "stored_nbytes" in r]
        return sizes[-1] if sizes else None

    def ratios(self, other, mine, what):
        """Returns the ratios of the rounds that both have, by their number."""
        a, b = self.rounds(other, what), self.rounds(mine, what)
        return {r: a[r] / b[r] for r in a if r in b}

    def ratio(self, other, mine, what):
        return goals.middle(self.ratios(other, mine, what).values())

    def limit(self, name, row):
        """Returns the fraction of the machine's limit."""
        return goals.middle(
            r["bench"]["rows"][row]["limit_s"]
            / r["bench"]["rows"][row]["median_s"]
            for r in self.of(name) if "bench" in r
            and "limit_s" in r["bench"]["rows"].get(row, {}))

    def by_decoding(self, name, row):
        """Returns the time of a row relative to decoding its tiles on all
        processors."""
        found = []
        for r in self.of(name):
            more = r.get("bench", {}).get("rows", {}).get(row, {})
            if more.get("counted_nbytes") and r["bench"]["decode_all"]:
                decoded = (more["nbytes"] * more["decoded_nbytes"]
                           / more["counted_nbytes"])
                found.append(more["median_s"] * r["bench"]["decode_all"]
                             / decoded)
        return goals.middle(found)

    def opening(self, name):
        """Returns the additional time of a plane if the volume is opened
        first."""
        first, plane = (self.rounds(name, w)
                        for w in ("first-plane", "axial"))
        return goals.middle(first[r] - plane[r] for r in first if r in plane)

    def amplification(self, name, row):
        """Returns the bytes decoded per byte delivered."""
        found = [r["bench"]["rows"][row] for r in self.of(name)
                 if "bench" in r and r["bench"]["rows"].get(row, {})
                 .get("counted_nbytes")]
        if not found:
            return None
        return (sum(f["decoded_nbytes"] for f in found)
                / sum(f["counted_nbytes"] for f in found))

    def pairs(self, name, of):
        """Returns the ratios of a pair, a round's median each."""
        return goals.middle(of(median(r["ratios"]))
                            for r in self.of(name, "scaling"))

    def memory(self, names, rows, what):
        """Returns the maximum over these rows; None where none was
        measured."""
        found = [r["rows"][row][what] for name in names
                 for r in self.of(name, "scaling")
                 for row in rows if row in r["rows"]]
        return max(found) if found else None

    def inflate_ratio(self, name):
        """Returns the time to ingest the .nii.gz relative to bare inflate, per
        round."""
        return [median(r["ingest_s"]) / r["inflate_s"]
                for r in self.of(name, "writes") if "inflate_s" in r]


def ms(seconds):
    if seconds is None:
        return ""
    value = 1000 * seconds
    digits = max(0, 2 - int(math.floor(math.log10(value)))) if value else 0
    return f"{value:.{min(digits, 3)}f}"


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def title_of(name):
    if name.startswith("radio-"):
        _, tiling, codec = name.split("-")
        return f"**radio {tiling} {codec}**"
    return stores.find(name).title


def ordered(results):
    """Returns radio's own layouts first, then through Python, then the
    others."""
    def place(name):
        return (not name.startswith("radio-"),
                not name.startswith("python-"), results.names.index(name))
    return sorted(results.names, key=place)


def absolute(results):
    rows = []
    for name in ordered(results):
        size = results.nbytes(name)
        if size is None:
            continue
        rows.append([title_of(name), f"{size / 1e6:.1f}",
                     ms(results.seconds(name, "write_s"))]
                    + [ms(results.seconds(name, c)) for c in COLUMNS]
                    + [percent(results.spread(name))])
    return table(["ms", "MB", "write"] + COLUMNS + ["spread"], rows)


def ratios(results, mine):
    """Returns how many times faster one layout is than each other store."""
    rows = []
    for name in ordered(results):
        if name.startswith(("radio-", "python-")):
            continue
        cells = []
        for column in ["write_s"] + COLUMNS:
            ratio = results.ratio(name, mine, column)
            cells.append(f"{ratio[0]:.2f}" if ratio else "")
        if any(cells):
            rows.append([title_of(name)] + cells)
    return table([f"time relative to {title_of(mine)}", "write"] + COLUMNS,
                 rows)


def ingests(results):
    rows = []
    for name in ordered(results):
        seconds = results.seconds(name, "ingest_s")
        if seconds is None:
            continue
        inflate = results.inflate_ratio(name)
        rows.append([title_of(name), ms(seconds),
                     f"{median(inflate):.2f}" if inflate else ""])
    return table(["from .nii.gz to a store", "ms", "by a bare inflate"],
                 rows)


def limits(results):
    rows = []
    for name in ordered(results):
        if not name.startswith("radio-"):
            continue
        cells = []
        for row in COLUMNS:
            more = results.amplification(name, row)
            share = results.limit(name, row)
            cells.append(f"{more:.1f}x, {percent(share[0])}"
                         if more and share else "")
        rows.append([title_of(name)] + cells
                    + [ms(results.seconds(name, "malloc_full_s"))])
    return table(["decoded, of limit"] + COLUMNS + ["full, malloc"], rows)


def cpuinfo(text):
    """Returns the properties of the first processor in /proc/cpuinfo."""
    found = {}
    for line in text.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        found[key.strip()] = value.strip()
    return found


# The instruction sets that select the loops of radio and of its libraries, on
# x86 and on ARM.
INSTRUCTIONS = {"flags": ["avx2", "avx512f", "sha_ni"],
                "Features": ["asimd", "sha2"]}


def instructions(info):
    for key, wanted in INSTRUCTIONS.items():
        if key in info:
            has = info[key].split()
            there = [name for name in wanted if name in has]
            missing = [name for name in wanted if name not in has]
            return ", ".join(
                f"{how} {' and '.join(names)}" for how, names in (
                    ("with", there), ("without", missing)) if names)
    return "of unknown instructions"


def machine(options):
    info = cpuinfo(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    mode = "?"
    if huge.exists():
        mode = huge.read_text().partition("[")[2].partition("]")[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (f"{info.get('model name', platform.machine())} "
            f"{instructions(info)}, {os.cpu_count()} processors, "
            f"{memory / 2**30:.0f} GiB, "
            f"Linux {platform.release().partition('-')[0]}, "
            f"transparent huge pages: {mode}; {options.threads} threads "
            "for everybody")


def commits(records):
    """Returns the commits that were measured; old records have none."""
    found = dict.fromkeys(f"commit {r['commit']}" if "commit" in r
                          else "a commit that is not known"
                          for r in records)
    return " and ".join(found)


def versions(radio, records):
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    return (f"{radio} of {commits(records)}; "
            f"Python {platform.python_version()}, "
            + ", ".join(found))


def round_counts(records):
    """Returns, for each kind, the rounds of everything that was measured, or
    the minimum and the maximum of them."""
    found = []
    for kind in ("reads", "writes", "scaling"):
        rounds = {}
        for r in records:
            if r["kind"] == kind:
                rounds.setdefault(r["name"], set()).add(r["round"])
        counts = sorted(map(len, rounds.values()))
        if counts:
            found.append(f"{kind} " + " to ".join(
                map(str, sorted({counts[0], counts[-1]}))))
    return ", ".join(found)


def of_dtype(dtype, records, shape):
    results = Results(records)
    size = "x".join(map(str, shape))
    parts = [f"### {dtype}, {size}; rounds: {round_counts(records)}",
             absolute(results), ratios(results, "radio-balanced-medium")]
    if any(r["kind"] == "writes" for r in records):
        parts.append(ingests(results))
    parts.append(limits(results))
    return "\n\n".join(parts)


def count_aims(verdicts):
    """Returns the counts in words."""
    counts = []
    for word, what in (("yes", "are reached"), ("**no**", "are not")):
        found = [v for v in verdicts if v.startswith(word)]
        unsure = sum(v != word for v in found)
        counts.append(f"{len(found)} {what}"
                      + (f" ({unsure} within the spread)" if unsure else ""))
    counts.append(f"{verdicts.count('')} were not measured")
    return f"Of {len(verdicts)} aims " + ", ".join(counts) + "."


def aims(answers):
    """Writes the missed aims first."""
    titles = ["what", "against", "to reach", "reached", ""]
    parts = ["### What was to be reached",
             count_aims([row[-1] for row in answers])]
    for heading, chosen in (
            ("Not reached, not for certain, or not measured:",
             [row for row in answers if row[-1] != "yes"]),
            ("Reached in every round:",
             [row for row in answers if row[-1] == "yes"])):
        if chosen:
            parts += [heading, table(titles, chosen, "---")]
    return "\n\n".join(parts)


def text(records, shapes, options, radio):
    everything = [r for of_one in records.values() for r in of_one]
    parts = [f"Machine: {machine(options)}.",
             f"Versions: {versions(radio, everything)}."]
    if not options.quick:
        parts.append(aims(goals.answers(
            {d: Results(r) for d, r in records.items()})))
    parts += [of_dtype(d, r, shapes[d]) for d, r in records.items()]
    return "\n\n".join(parts) + "\n"


def summary(records, options):
    """Returns the ratios for one type of voxels, with the machine."""
    return "\n\n".join([
        f"Machine: {machine(options)}.",
        ratios(Results(records), "radio-balanced-medium")]) + "\n"


# The ratios that README.md shows.
README_PEERS = ["blosc2-nnunet", "ts-shard", "tiledb-64"]
README_COLUMNS = [("full", "whole"), ("axial", "axial"),
                  ("coronal", "coronal"), ("sagittal", "sagittal"),
                  ("box32", "32³"), ("box64", "64³"), ("box128", "128³")]


def short(ratio):
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def readme(results, mine="radio-balanced-medium"):
    """Returns the table; None where a value was not measured."""
    rows = []
    for name in README_PEERS:
        ratios_of = [results.ratio(name, mine, c) for c, _ in README_COLUMNS]
        if all(ratios_of):
            rows.append([stores.find(name).title]
                        + [short(r[0]) for r in ratios_of])
    if len(rows) < len(README_PEERS):
        return None
    return table([""] + [title for _, title in README_COLUMNS], rows)


def put(path, name, body, indent=""):
    """Replaces the text between a page's markers, which are indented."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    body = "".join(indent + line + "\n" if line else "\n"
                   for line in body.splitlines())
    page = path.read_text(encoding="utf-8")
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"bench-peers: {path} has no markers of {name}")
    head, _, rest = page.partition(begin)
    tail = rest.partition(end)[2]
    path.write_text(head + begin + "\n" + body + "\n" + indent + end + tail,
                    encoding="utf-8")
