# SPDX-License-Identifier: MIT
"""The timeline of many lanes and of many spans: what is folded, the minimap,
and the critical path."""

import json
import random

import pytest

from conftest import run_radio
from frame_work import traced_act
from many_spans import many_spans
from pages import (axe, AXE_RUN, browser, drawn_text, local_read, opened,
                   read_document, read_page, reload, state, text_of,
                   wait_for_address, write_page)
from profile_document import ProfileDocument

# Fixtures that tests import by name.
__all__ = ["axe", "browser", "local_read", "opened", "read_document",
           "read_page"]


def made_lanes(nthreads, nrequests, depth=4, nidle=0):
    """Returns a profile of threads that call several scopes deep, of which
    some hardly run, and of rows of requests."""
    rng = random.Random(nthreads)
    made = ProfileDocument("many lanes")
    threads = [made.lane("main")] + [made.lane(f"worker {i + 1}")
                                     for i in range(nthreads - 1)]
    requests = [made.lane(f"requests {i + 1}", 1) for i in range(nrequests)]
    read = made.span(threads[0], "read", "operation", 0, 100_000_000)
    for i, lane in enumerate(threads):
        n = 1 if i >= nthreads - nidle else 12
        for k in range(n):
            begin = 8_000_000 * k + rng.randrange(1_000_000)
            took = 500_000 if n == 1 else 6_000_000
            span = read
            for level in range(depth - (i == 0)):
                span = made.span(
                    lane, ("tiles", "decode", "blosc lz4", "place")[level % 4],
                    ("operation", "decode", "decode", "place")[level % 4],
                    begin, took, span, edge=int(level == 0 and i > 0))
                begin, took = begin + took // 8, took * 3 // 4
    for i, lane in enumerate(requests):
        for k in range(10):
            get = made.span(lane, "get", "network", 9_000_000 * k
                            + 100_000 * i, 7_000_000, read, edge=2)
            made.span(lane, "first byte", "network", 9_000_000 * k
                      + 100_000 * i, 3_000_000, get, edge=3)
    return made


HEIGHT = """document.querySelector('.timeline .spacer').offsetHeight
  + document.querySelector('.timeline canvas').offsetHeight"""


def folded(page):
    """Returns the names of the lanes that are bands."""
    return page.evaluate("""radio.tabs.current().lanes.lanes
      .filter(one => one.isFolded).map(one => one.name)""")


@pytest.mark.parametrize("nthreads, nrequests, nidle", [
    (65, 0, 0), (33, 32, 20), (4, 61, 0), (1, 64, 0)])
def test_65_lanes_open_within_600_pixels(opened, tmp_path, nthreads,
                                         nrequests, nidle):
    made = made_lanes(nthreads, nrequests, nidle=nidle)
    page = opened(write_page(made, tmp_path), fragment="#view=timeline")
    page.wait_drawn()
    assert page.evaluate(HEIGHT) <= 600
    names = folded(page)
    # Idle threads and requests are folded before other threads.
    if nidle > 0:
        assert "worker 32" in names
    if nrequests > 0:
        assert "requests 1" in names
    assert ("worker 1" in names) == (nthreads > 4)
    # The thread of the operation stays open.
    assert "main" not in names
    texts = [text for text, _ in drawn_text(page)]
    assert "main" in texts
    assert "tiles" in texts
    # A click on a sign unfolds its lanes, the key folds all.
    page.press("F")
    assert folded(page) == []
    assert page.evaluate(HEIGHT) > 600
    page.press("F")
    assert len(folded(page)) == 65
    reload(page)
    assert len(folded(page)) == 65
    page.back()
    page.wait("radio.state.get('folds') === '-'")
    assert folded(page) == []


def test_low_bands_are_numbered_as_far_as_there_is_room(opened, tmp_path):
    page = opened(write_page(made_lanes(65, 0), tmp_path),
                  fragment="#view=timeline")
    numbers = [int(text) for text, _ in drawn_text(page) if text.isdigit()]
    assert len(numbers) > 20
    assert numbers == sorted(set(numbers))
    lanes = page.evaluate("""radio.tabs.current().lanes.lanes
      .map(one => [one.name, one.top])""")
    tops = {name: top for name, top in lanes}
    at = [tops[f"worker {number}"] for number in numbers]
    assert min(b - a for a, b in zip(at, at[1:])) >= 14


def test_few_lanes_are_not_folded(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    assert folded(page) == []
    assert text_of(page, ".tools").count("Fold") == 1


def test_lanes_are_folded_by_key_and_unfolded_by_click(opened, tmp_path):
    page = opened(write_page(made_lanes(4, 2), tmp_path),
                  fragment="#view=timeline")
    lane = page.evaluate("radio.profile.lanes.findIndex(one =>"
                         " one.name === 'worker 2')")
    span = page.evaluate(f"radio.profile.spans.lane.indexOf({lane})")
    page.evaluate(f"radio.state.set({{ span: {span} }})")
    page.press("f")
    assert folded(page) == ["worker 2"]
    page.wait_drawn()
    x, y, top, bottom = page.evaluate("""(({ x, y }, { top, bottom }) =>
      [x, y, top, bottom])(document.querySelector('.timeline canvas')
        .getBoundingClientRect(), radio.tabs.current().lanes.lanes.find(one =>
          one.isFolded))""")
    assert bottom - top < 20
    # A click on a band selects the deepest scope there, which is marked.
    seen = page.evaluate("""(view => { const { spans, names } = radio.profile;
      const i = spans.node.findIndex((node, i) => spans.lane[i] === %d
        && names[node] === 'place');
      return [i, view.x(spans.begin[i] + spans.duration[i] / 2)]; })(
        radio.tabs.current())""" % lane)
    page.click(x + seen[1], y + (top + bottom) / 2)
    assert state(page, "span") == seen[0]
    page.click(x + 9, y + (top + bottom) / 2)
    assert folded(page) == []


FRAME = """(({ left, right, width }, canvas) => [left - canvas.left, width])(
  document.querySelector('.minimap .frame').getBoundingClientRect(),
  document.querySelector('.minimap canvas').getBoundingClientRect())"""


def test_the_minimap_frames_what_is_seen_and_moves_it(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    assert page.evaluate("document.querySelector('.frame').hidden")
    end = page.evaluate("radio.profile.end")
    x, y, width = page.evaluate("""(b => [b.x, b.y + b.height / 2, b.width])(
      document.querySelector('.minimap canvas').getBoundingClientRect())""")
    wide = width - 150
    # Beside the frame a drag marks what is to be seen.
    page.drag(x + 150 + wide / 4, y, x + 150 + wide / 2, y)
    wait_for_address(page)
    begin, to = map(int, state(page, "seen").split("-"))
    assert begin == pytest.approx(end / 4, rel=0.02)
    assert to == pytest.approx(end / 2, rel=0.02)
    left, framed = page.evaluate(FRAME)
    assert left - 150 == pytest.approx(wide / 4, abs=3)
    assert framed == pytest.approx(wide / 4, abs=3)
    # Within it a drag moves it, and a click centres it.
    page.drag(x + 150 + wide * 3 / 8, y, x + 150 + wide * 5 / 8, y)
    wait_for_address(page)
    begin, to = map(int, state(page, "seen").split("-"))
    assert begin == pytest.approx(end / 2, rel=0.02)
    page.click(x + 150 + wide / 4, y)
    wait_for_address(page)
    begin, to = map(int, state(page, "seen").split("-"))
    assert (begin + to) / 2 == pytest.approx(end / 4, rel=0.02)
    page.press("0") if page.evaluate(
        "document.querySelector('.timeline canvas').focus(), true") else None
    assert page.evaluate("document.querySelector('.frame').hidden")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_folded_timeline_passes_axe(opened, tmp_path, axe, dark):
    page = opened(write_page(made_lanes(33, 32), tmp_path),
                  fragment="#view=timeline&seen=0-20000000&critical=1",
                  dark=dark)
    page.wait_drawn()
    page.evaluate(axe + ";0")
    found = page.evaluate(AXE_RUN)
    assert found["violations"] == []
    assert found["passed"] > 20


def test_the_critical_path_of_many_spans_leaves_time_to_draw(
        np, opened, tmp_path, record_property):
    document = many_spans(np, 1_100_000, rooted=True)
    page = opened(write_page(json.dumps(document), tmp_path),
                  fragment="#view=timeline")
    wait_for_address(page)

    def find():
        page.press("c")
        page.wait("radio.tabs.current().found")

    tasks = [(one["tdur"] / 1000, one["dur"] / 1000)
             for one in traced_act(page, find)
             if one["name"] == "RunTask" and "tdur" in one]
    longest, work = max(tasks)[0], sum(cpu for cpu, _ in tasks)
    record_property("ms_longest", max(took for _, took in tasks))
    print(f"critical path: {work:.0f} ms, longest task {longest:.0f} ms")
    # The machine may be slow or busy: no task takes a great part of all.
    assert longest < work / 3
    assert text_of(page, ".path-sum").startswith("Critical path, ")
    assert page.evaluate("radio.tabs.current().found.spans.length") > 100_000


def test_sizes_of_volumes_begin_with_x_in_the_details(opened, local_read):
    page = opened(local_read.page, fragment="#view=tree")
    node = page.evaluate("radio.profile.notes.find(one =>"
                         " one.span === 0 && one.key === 'tile shape').node")
    page.evaluate(f"radio.state.set({{ node: {node} }})")
    lines = page.evaluate("""Object.fromEntries(
      [...document.querySelectorAll('aside dt')].map(one =>
        [one.textContent, one.nextSibling.textContent]))""")
    assert lines["tile shape"] == "14, 15, 30"
    assert lines["array shape"] == "70, 100, 90"


def test_the_picture_has_most_of_a_narrow_screen(opened, read_page):
    page = opened(read_page, fragment="#view=timeline", width=390, height=844)
    page.wait_drawn()
    left, width = page.evaluate("(({ left, width }) => [left, width])("
                                "radio.tabs.current().viewport())")
    assert left + width <= 366
    assert width > 0.7 * (left + width)
    assert "main" in [text for text, _ in drawn_text(page)]


def test_the_search_is_beside_the_tabs(opened, local_read):
    page = opened(local_read.page, fragment="#view=timeline", width=1280)
    tops = page.evaluate("""['[role=tablist]', '.search'].map(one =>
      document.querySelector(one).getBoundingClientRect())
      .map(({ top, bottom }) => (top + bottom) / 2)""")
    assert abs(tops[0] - tops[1]) < 8


def starved_document():
    """Returns a document that has all figures of the head."""
    made = made_lanes(3, 0)
    made.given.update(alloc_peak_nbytes=388_000, wait_ns=19_800_000)
    made.facts = [("cpu ns", "24800000", 0)]
    made.nodes[0]["alloc_peak_nbytes"] = 388_000
    document = made.document()
    document["nodes"]["starved_ns"] = [11_300_000] + [0] * (
        len(made.nodes) - 1)
    document["info"]["starved_ns"] = 11_300_000
    document["nodes"]["wait_ns"][0] = 19_800_000
    document["counters"] = {"name": ["bytes delivered"], "unit": ["bytes"]}
    document["values"] = {"node": [0], "counter": [0], "value": [3_150_000]}
    return json.dumps(document)


def check_figures(page, names, most_px=30):
    # A scroll bar takes room, too.
    page.evaluate("document.body.style.marginInlineEnd = '16px', 0")
    shown = text_of(page, "header .figures")
    for name in names:
        assert name in shown
    assert page.evaluate("document.querySelector('header .figures')"
                         ".offsetHeight") < most_px


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_the_figures_are_one_line(opened, tmp_path, width):
    page = opened(write_page(starved_document(), tmp_path), width=width)
    check_figures(page, ("on CPUs", "no CPU", "allocated", "bytes delivered",
                         "scopes"))


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_the_figures_of_changes_are_one_line_or_two(opened, tmp_path, width):
    write_page(starved_document(), tmp_path, "a")
    path = tmp_path / "changes.html"
    run_radio("diff", tmp_path / "a.json", tmp_path / "a.json", "-o", path)
    page = opened(path, width=width)
    check_figures(page, ("wall", "work", "on CPUs", "no CPU", "wait",
                         "delivered", "allocated", "scopes"),
                  50 if width == 1024 else 30)
    assert width < 1440 or page.evaluate(
        "(one => one.scrollWidth <= one.clientWidth)("
        "document.querySelector('header .figures'))")
