# SPDX-License-Identifier: MIT
"""The tables of `bench-peers python`, and its aims."""

import math
import os
from statistics import fmean, median, quantiles

import zarr

from python_peers import C, OTHERS, OURS, PROGRAMS, RADIO
from timing import table

READS = ["whole", "box", "axial", "coronal"]
COLUMNS = [*READS, "write"]
RECORDED = ["not recorded", "recorded", "with Python's functions"]


def ratios(times):
    """Returns how many times as long the better of fused and zarrs takes as
    ours, or what is there of them, in each round; the better is that of the
    medians."""
    others = [times[other] for other in OTHERS if other in times]
    if not others or OURS not in times:
        return []
    best = min(others, key=median)
    return [theirs / ours for theirs, ours in zip(best, times[OURS])]


def spread(values):
    """Returns the median, and the middle half of the values."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return f"{median(values):.2f} ({low:.2f}-{high:.2f})"


def mean(values):
    return math.exp(fmean(map(math.log, values)))


def ms(seconds):
    return f"{seconds * 1e3:.3g}"


def cells(results):
    """Returns (place, size, store, what), and its times, of all cells."""
    return [((result["place"], result["size"], result["store"], what), times)
            for result in results for what, times in result["times_s"].items()]


def ratio_cell(times):
    if not times:
        return ""
    found = ratios(times)
    return " / ".join([ms(median(times[OURS])), *([spread(found)] if found
                                                  else [])])


def ratio_table(results):
    return table(["array", *COLUMNS], [
        [f"{result['place']}, {result['size']}^3, {result['store']}",
         *[ratio_cell(result["times_s"].get(what)) for what in COLUMNS]]
        for result in results])


def peer_table(results, peaks):
    """Of the largest arrays on the disk."""
    largest = max(result["size"] for result in results)
    rows = []
    for result in results:
        if (result["place"], result["size"]) != ("disk", largest):
            continue
        store, times = result["store"], result["times_s"]
        rows += [[store, program,
                  *[ms(median(times[what][program])) if what in times else ""
                    for what in COLUMNS],
                  f"{peaks[store][program]:.2f}" if store in peaks else ""]
                 for program in PROGRAMS if program in times["whole"]]
    return table(["array", "program", *COLUMNS, "peak / result"], rows)


def call_table(calls):
    rows = []
    for size, found in calls.items():
        for what, times in found.items():
            ours, c = median(times["libradio"]), median(times[C])
            rows.append([f"{size}^3, {what}", f"{c * 1e6:.1f}",
                         f"{ours * 1e6:.1f}", f"{(ours - c) * 1e6:.1f}",
                         spread([a / b for a, b in zip(times["libradio"],
                                                       times[C])])])
    return table(["read", "C, us", "libradio, us", "more, us",
                  "libradio / C"], rows)


def recording_table(recording):
    """Of the largest volume."""
    rows = []
    for what, times in recording.items():
        plain, *others = (times.get(recorded) for recorded in RECORDED)
        rows.append([what, f"{median(plain) * 1e6:.1f}",
                     *[spread([a / b for a, b in zip(other, plain)])
                       if other else "" for other in others]])
    return table(["read", f"{RECORDED[0]}, us",
                  *[f"{recorded}, by that" for recorded in RECORDED[1:]]],
                 rows)


def aims(record):
    found = cells(record["results"])
    largest = max(size for (_, size, _, _), _ in found)
    rows = []

    def add(aim, wanted, value, form, is_met):
        rows.append([aim, wanted, form.format(value),
                     "yes" if is_met else "**no**"])

    for what, other, least in [("whole", "zarr, fused", 5),
                               ("whole", "zarr, zarrs", 3),
                               ("box", "zarr, zarrs", 5)]:
        for (place, size, store, cell), times in found:
            if ((place, size, store, cell) == ("disk", largest, RADIO, what)
                    and other in times):
                value = median(a / b for a, b in zip(times[other],
                                                     times[OURS]))
                add(f"radio's array, {what}, of {other}'s time",
                    f"{least} x", value, "{:.2f} x", value >= least)
    more = [(median(a - b for a, b in zip(times[OURS], times[C])), key)
            for key, times in found
            if key[0] == "disk" and key[2] == RADIO]
    value, key = max(more)
    add(f"radio's arrays on the disk, more than C (at most: {key[1]}^3,"
        f" {key[3]})", "0.4 ms", value * 1e3, "{:.2f} ms", value <= 4e-4)
    for kind, wanted, least in [("reads", "1.5 x", 1.5),
                                ("writes", "1 x", 1)]:
        here = [(median(ratios(times)), key) for key, times in found
                if key[2] != RADIO and (key[3] == "write") == (kind == "writes")
                and ratios(times)]
        if not here:
            continue
        value = mean([each for each, _ in here])
        add(f"arrays of others, {kind}, geometric mean", wanted, value,
            "{:.2f} x", value >= least)
        slower = sorted((value, key) for value, key in here if value < 0.95)
        add(f"arrays of others, {kind}: slower by more than 5 %, of"
            f" {len(here)}", "0", len(slower), "{}", not slower)
        rows += [[f"{key[0]}, {key[1]}^3, {key[2]}, {key[3]}", "",
                  f"{value:.2f} x", ""] for value, key in slower]
    calls = record["calls"]
    value, key = max((median(a - b for a, b in zip(times["libradio"],
                                                   times[C])), what)
                     for each in calls.values() for what, times in each.items()
                     if what in ("a voxel", "8^3"))
    add(f"a call, more than C (at most: {key})", "10 us", value * 1e6,
        "{:.1f} us", value <= 1e-5)
    value = median(a / b for a, b in zip(calls[largest]["whole"]["libradio"],
                                         calls[largest]["whole"][C]))
    add("whole read into NumPy, by C", "1.03", value, "{:.3f}", value <= 1.03)
    value, what = max((median(a / b for a, b in zip(times[RECORDED[1]],
                                                    times[RECORDED[0]])), what)
                      for what, times in record["recording"].items())
    add(f"reads that are recorded (at most: {what})", "1.03", value, "{:.3f}",
        value <= 1.03)
    if RADIO in record["peaks"]:
        value = record["peaks"][RADIO][OURS]
        add("peak memory of a whole read, of the result's", "1", value,
            "{:.2f}", value <= 1.05)
    return table(["aim", "wanted", "measured", "reached"], rows)


def report(record, seconds):
    results = record["results"]
    counts = [len(times[OURS]) for _, times in cells(results)]
    return "\n".join([
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the"
        f" end, {seconds / 60:.0f} min; int16, {min(counts)} to"
        f" {max(counts)} rounds; zarr {zarr.__version__}. A box is of a"
        " quarter of each axis, as chunks are; S3 is Ceph's gateway on the same"
        f" machine, {record['one_way_ms']:g} ms away each way.", "",
        aims(record), "",
        "zarr-python by libradio, in ms / the time of the better of fused and"
        " zarrs, by libradio's (the middle half of the rounds):", "",
        ratio_table(results), "",
        "The largest arrays on the disk, by program, in ms; C is the library's"
        " own function, with the array open:", "",
        peer_table(results, record["peaks"]), "",
        "A volume read by the package, and by the function in C:", "",
        call_table(record["calls"]), "",
        "The largest volume read in loops, recorded or not (the middle half of"
        " the loops):", "",
        recording_table(record["recording"])])
