# SPDX-License-Identifier: MIT
"""Measures the performance of large pages for docs/architecture.md, in a real
browser without a network: the time until they are open, and the CPU time of
the main thread: of a frame during panning and zooming, and from a brush until
a view is redrawn.

usage: frames.py RADIO FOLDER NAME [REPEATS]

RADIO: the command; FOLDER: where tools/pictures/make recorded; NAME: a profile
there (NAME.json), or made-COUNT: a generated one with COUNT spans.
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
    if name.startswith("made-"):
        count = int(name.removeprefix("made-"))
        source.write_text(json.dumps(many_spans(numpy, count)))
    subprocess.run([radio, "profile", "convert", "--overwrite", source, page],
                   check=True, stderr=subprocess.DEVNULL)
    return page


def measure_frames(browser, path, repeats):
    found, loads = {}, []
    for _ in range(repeats):
        page = browser.open(path, fragment="#view=timeline")
        loads.append(page.evaluate(DRAWN))
        count = page.evaluate("radio.profile.spans.count")
        end = page.evaluate("Math.floor(radio.profile.end)")
        for view, name, act, first in movements(end):
            show(page, {"view": view, **first})
            found.setdefault(f"{view}, {name}", []).append(
                work_of_frames(traced(page, view, act)))
        page.close()
    print(f"{path.stem}: {count} spans, {path.stat().st_size / 1e6:.2f} MB, "
          f"open after {quantile(loads, 0.5):.0f} ms ({min(loads):.0f} to "
          f"{max(loads):.0f}); work a frame, ms:")
    for name, times in found.items():
        every = sum(times, [])
        p50, p95 = (quantile(every, share) for share in (0.5, 0.95))
        each = [quantile(one, 0.95) for one in times]
        print(f"  {name:24} p50 {p50:5.1f}  p95 {p95:5.1f} ({min(each):.1f} "
              f"to {max(each):.1f})  max {max(every):5.1f}  of {len(every)}")


def brush(end, share):
    """Returns a stretch that was not selected before."""
    return {"range": f"{int(end * share)}-{int(end * (share + 0.6))}"}


def work_of(page, changes):
    return sum(work_of_frames(traced_act(page, lambda: change(page,
                                                              changes))))


def measure_brush(browser, path, repeats):
    page = browser.open(path, fragment="#view=timeline")
    page.evaluate(DRAWN)
    end = page.evaluate("radio.profile.end")
    has = page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                        ".map((one) => one.id.slice(4))")
    views = [view for view in BRUSHED if view in has]
    found = {view: [] for view in (*views, ALL)}
    for view in views:
        show(page, {"view": view})
    for i in range(repeats):
        for k, view in enumerate(views):
            show(page, {"view": view, "range": ""})
            found[view].append(work_of(page, brush(
                end, 0.05 + 0.03 * i + 0.002 * k)))
        show(page, {"view": "timeline", "range": ""})
        found[ALL].append(work_of(page, brush(end, 0.07 + 0.03 * i))
                          + sum(work_of(page, {"view": view})
                                for view in views))
    page.close()
    print(f"{path.stem}: milliseconds from a brush of 60 % until drawn:")
    for view, times in found.items():
        print(f"  {view:24} median {quantile(times, 0.5):5.0f} "
              f"({min(times):.0f} to {max(times):.0f})")


def main():
    radio, folder, name, *rest = sys.argv[1:]
    repeats = int(rest[0]) if rest else REPEATS
    path = make_page(radio, Path(folder).resolve(), name)
    with chromium.Chromium.start() as browser:
        measure_frames(browser, path, repeats)
        measure_brush(browser, path, repeats)


if __name__ == "__main__":
    main()
