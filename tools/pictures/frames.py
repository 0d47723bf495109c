# SPDX-License-Identifier: MIT
"""Measures the performance of large pages for docs/performance.md, in a real
browser without a network, and prints its table: the time until they are open,
and the CPU time of the main thread: of a frame during panning and zooming, and
from a brush until a view is redrawn.

usage: frames.py RADIO FOLDER NAME...

RADIO: the command; FOLDER: where tools/pictures/make recorded; NAME: a profile
there (NAME.json), or made-COUNT: a generated one with COUNT spans, kept there.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "interop"))
import chromium
from frame_work import change, movements, quantile, show, traced, \
    traced_act, work_of_frames
from many_spans import many_spans

REPEATS = 3
# Views that depend on a brush in the timeline.
BRUSHED = ("icicle", "bottomup", "tree", "sandwich", "functions", "tiles",
           "runs")
ALL = "all, one after the other"

DRAWN = """new Promise((done) => {
  const look = () => !(window.radio && document.querySelector('canvas'))
    ? setTimeout(look, 1) : requestAnimationFrame(
      () => requestAnimationFrame(() => done(performance.now())));
  look();
})"""


def make_page(radio, folder, name):
    """Makes the page of a recording, or of a generated profile."""
    page, source = folder / f"{name}.html", folder / f"{name}.json"
    if name.startswith("made-") and not source.exists():
        count = int(name.removeprefix("made-"))
        source.write_text(json.dumps(many_spans(numpy, count)))
    subprocess.run([radio, "profile", "convert", "--overwrite", source, page],
                   check=True, stdout=subprocess.DEVNULL)
    return page


def measure_frames(browser, path):
    """Returns the number of spans and the cells of the table's column."""
    found, loads = {}, []
    for _ in range(REPEATS):
        page = browser.open(path, fragment="#view=timeline")
        loads.append(page.evaluate(DRAWN))
        count = page.evaluate("radio.profile.spans.count")
        end = page.evaluate("Math.floor(radio.profile.end)")
        for view, name, act, first in movements(end):
            show(page, {"view": view, **first})
            found.setdefault(f"{view}, {name}", []).append(
                work_of_frames(traced(page, view, act)))
        page.close()
    cells = {"opens after": spread(loads, quantile(loads, 0.5), 0)}
    for name, times in found.items():
        cells[name] = spread([quantile(one, 0.95) for one in times],
                             quantile(sum(times, []), 0.95), 1)
    return count, cells


def spread(values, middle, ndigits):
    return (f"{middle:.{ndigits}f} ms ({min(values):.{ndigits}f} to "
            f"{max(values):.{ndigits}f})")


def brush(end, share):
    """Returns a stretch that was not selected before."""
    return {"range": f"{int(end * share)}-{int(end * (share + 0.6))}"}


def work_of(page, changes):
    return sum(work_of_frames(traced_act(page, lambda: change(page,
                                                              changes))))


def measure_brush(browser, path):
    page = browser.open(path, fragment="#view=timeline")
    page.evaluate(DRAWN)
    end = page.evaluate("radio.profile.end")
    has = page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                        ".map((one) => one.id.slice(4))")
    views = [view for view in BRUSHED if view in has]
    found = {view: [] for view in (*views, ALL)}
    for view in views:
        show(page, {"view": view})
    for i in range(REPEATS):
        for k, view in enumerate(views):
            show(page, {"view": view, "range": ""})
            found[view].append(work_of(page, brush(
                end, 0.05 + 0.03 * i + 0.002 * k)))
        show(page, {"view": "timeline", "range": ""})
        found[ALL].append(work_of(page, brush(end, 0.07 + 0.03 * i))
                          + sum(work_of(page, {"view": view})
                                for view in views))
    page.close()
    return {f"redrawn after a brush of 60 %: {view}":
            spread(times, quantile(times, 0.5), 0)
            for view, times in found.items()}


def main():
    radio, folder, *names = sys.argv[1:]
    paths = [make_page(radio, Path(folder).resolve(), name) for name in names]
    heads, columns = [""], []
    with chromium.Chromium.start() as browser:
        for path in paths:
            count, cells = measure_frames(browser, path)
            columns.append(cells | measure_brush(browser, path))
            heads.append(f"{count:,} spans"
                         + (", made" if path.stem.startswith("made-") else ""))
    names = sorted(dict.fromkeys(name for cells in columns for name in cells),
                   key=lambda name: name.endswith(ALL))
    for row in (heads, ["---"] + ["---:"] * len(columns), *(
            [name, *(cells.get(name, "-") for cells in columns)]
            for name in names)):
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
