# SPDX-License-Identifier: MIT
"""The page of a real recording of a local read, in a real browser: after
zooming, searching, brushing, choosing a metric or transforming the tree, its
numbers equal those computed in Python from radio's JSON of the same
recording."""

import collections
import json
import re
import subprocess
from pathlib import Path

import pytest

import profile_numbers as expected
from conftest import BUILD, missing, run_radio
from document_reader import Document
from pages import (TIMELINE_AXIS_PX, TIMELINE_GAP_PX, TIMELINE_GUTTER_PX,
                   TIMELINE_ROW_PX, browser, busiest_span, choose_metric,
                   local_read, made_read, number, opened, rows_by_path,
                   search, shown_tooltip, state, text_of, wait_for_address,
                   write_page)
from profile_document import ProfileDocument

__all__ = ["browser", "local_read", "opened"]          # fixtures

ICICLE_ROW_PX = 26
EDGES = ("", "other thread", "request", "phase", "instant")


def labelled(path):
    """Returns a path in the form of rows_by_path."""
    return tuple((site.name, EDGES[edge] if i else "")
                 for i, (site, edge) in enumerate(path))


def check_tree(page, tree, metric_id="wall", all_paths=True):
    """Checks the rows of the tree view, each with all its numbers."""
    shown = rows_by_path(page, "tree")
    metrics = {one.id: one for one in tree.metrics()}
    metric = metrics[metric_id]
    total, calls = tree.columns["total"], tree.columns["calls"]
    # Nodes that did not run are shown if something below them did.
    ran = {path[:depth] for path in tree.paths
           if all_paths or total[path] > 0 or calls[path] > 0
           for depth in range(1, len(path) + 1)}
    paths = {labelled(path): path for path in tree.paths if path in ran}
    assert set(shown) == set(paths)
    for key, path in paths.items():
        row = shown[key]
        assert number(row["total"][1]) == total[path]
        assert number(row["self"][1]) == tree.columns["self"][path]
        for name in ("work", "cpu", "starved", "wait"):
            if name in row or name in metrics:
                below = metrics[name].total[path] if name in metrics else 0
                assert number(row[name][1]) == pytest.approx(below, abs=1)
        assert ("cpu" in row) == ("starved" in metrics)
        assert number(row["calls"][0]) == calls[path]
        assert row["mean"][0] == expected.time_text(
            total[path] / calls[path] if calls[path] else 0)
        assert row["share"][0] == expected.share_text(
            metric.total[path], metric.sum)
        if "metric" in row:
            assert number(row["metric"][1]) == pytest.approx(
                metric.total[path], abs=1)


def upside_down(tree, metric):
    """Returns, for each path of names from a leaf up, the leaf's own value."""
    sums = collections.Counter()
    for path, value in metric.own.items():
        names = tuple((site.name, "") for site, _ in reversed(path))
        for depth in range(1, len(names) + 1):
            sums[names[:depth]] += value
    return sums


def check_bottom_up(page, tree):
    shown = rows_by_path(page, "bottomup")
    sums = upside_down(tree, tree.metric("wall"))
    whole = sum(value for path, value in sums.items() if len(path) == 1)
    assert {path for path, value in sums.items() if value} <= set(shown)
    for path, row in shown.items():
        assert number(row["total"][1]) == sums[path]
    assert whole == sum(number(row["total"][1])
                        for path, row in shown.items() if len(path) == 1)


def durations(document, begin, end):
    """Returns, for each name, the durations of its spans within a stretch."""
    found = collections.defaultdict(list)
    for span in document.spans:
        if expected.is_within(span, begin, end):
            found[document.name(span.node)].append(span.duration)
    return {name: sorted(times) for name, times in found.items()}


def nearest_rank(values, percent):
    return values[max(0, -(-percent * len(values) // 100) - 1)]


def check_functions(page, document, tree, begin=0, end=1 << 62):
    page.click_on("#tab-functions")
    shown = dict(page.evaluate("""[...document.querySelectorAll(
      '.functions tr[data-site]')].map(row => [
        row.querySelector('bdi').textContent, Object.fromEntries([
          ['calls', row.querySelector('td').textContent],
          ...[...row.querySelectorAll('td[data-column]')].map(cell =>
            [cell.dataset.column, cell.title.split(' ns')[0]
              .split('\u00a0ns')[0]])])])"""))
    times = durations(document, begin, end)
    assert set(shown) == set(times)
    for name, row in shown.items():
        paths = [path for path in tree.paths if path[-1][0].name == name]
        outer = [path for path in paths
                 if all(site.name != name for site, _ in path[:-1])]
        wanted = {
            "calls": sum(tree.columns["calls"][path] for path in paths),
            "total": sum(tree.columns["total"][path] for path in outer),
            "self": sum(tree.columns["self"][path] for path in paths),
            "work": sum(tree.columns["work"][path] for path in paths),
            "wait": sum(tree.columns["wait"][path] for path in paths),
            "p50": nearest_rank(times[name], 50),
            "p90": nearest_rank(times[name], 90),
            "p99": nearest_rank(times[name], 99),
        }
        wanted["mean"] = wanted["total"] / wanted["calls"]
        for column, value in wanted.items():
            assert number(row[column]) == pytest.approx(value, abs=1), column


def base_of(metric):
    """Returns the base of a metric's percentages."""
    return "roots\u2019 time" if metric.id == "wall" else metric.label


def check_sandwich(page, tree, metric):
    """Checks the sandwich view of the selected scope."""
    page.click_on("#tab-sandwich")
    name = text_of(page, "aside h2 bdi")
    outer = [path for path in tree.paths if path[-1][0].name == name
             and all(site.name != name for site, _ in path[:-1])
             and (tree.columns["calls"][path] or tree.columns["total"][path])]
    value = sum(metric.total[path] for path in outer)
    places = f"{len(outer)} place" + "s" * (len(outer) != 1)
    assert text_of(page, "#view-sandwich .tools") == (
        f"{name}{expected.unit_text(value, metric.unit)} of {metric.label}, "
        + expected.share_of_all_text(value, metric.sum,
                                     " of " + base_of(metric))
        + f", from {places}")


def icicle_box(page):
    return page.evaluate("""(at => [at.x, at.y, at.width])(document
      .querySelector('.icicle canvas').getBoundingClientRect())""")


def check_icicle(page, tree, metric, within=()):
    """Checks the tooltip at both ends of every box that is wide enough;
    within: the path that is zoomed into."""
    widths = tree.widths(metric)
    low, high = widths.get(within, (0, 1))
    x, y, width = icicle_box(page)
    found = 0
    for path, (begin, end) in widths.items():
        begin = max(0, (begin - low) / (high - low) * width)
        end = min(width, (end - low) / (high - low) * width)
        if end - begin < 5:
            continue
        found += 1
        for at in (begin + 1.5, end - 1.5):
            page.mouse("mouseMoved", x + at, y + ICICLE_ROW_PX
                       * (len(path) - 0.5))
            title, lines = shown_tooltip(page)
            assert (title, lines[metric.label]) == (
                path[-1][0].name,
                expected.unit_text(metric.total[path], metric.unit))
        check_percentages(tree, metric, path, lines)
    assert found > 1
    return found


def check_percentages(tree, metric, path, lines):
    value = metric.total[path]
    assert lines["of " + base_of(metric)] == expected.share_of_all_text(
        value, metric.sum)
    if len(path) > 1:
        assert lines["of the operation"] == expected.share_of_all_text(
            value, metric.total[path[:1]])
    if len(path) > 2:
        assert lines["of its parent"] == expected.share_of_all_text(
            value, metric.total[path[:-1]])


def test_every_metric_has_the_json_s_numbers_on_every_path(opened,
                                                           local_read):
    page = opened(local_read.page, fragment="#view=tree")
    tree = expected.whole(local_read.document)
    metrics = tree.metrics()
    assert page.evaluate("[...document.querySelector('.choice select')"
                         ".options].map(one => [one.value, one.text])") \
        == [[one.id, one.label] for one in metrics]
    assert len(metrics) > 8
    # Goes from one to the next by key, and back to the first.
    for metric in metrics:
        assert state(page, "metric") == metric.id
        check_tree(page, tree, metric.id)
        page.press("m")
    assert state(page, "metric") == "wall"


def test_every_metric_gives_the_icicle_its_widths(opened, local_read):
    page = opened(local_read.page, fragment="#view=icicle")
    tree = expected.whole(local_read.document)
    for metric in tree.metrics():
        choose_metric(page, metric.id)
        page.wait_drawn()
        widths = tree.widths(metric)
        if sum(end - begin > 0.01 for begin, end in widths.values()) > 3:
            check_icicle(page, tree, metric)


def test_the_icicle_zoomed_into_a_scope_has_the_json_s_percentages(
        opened, local_read):
    page = opened(local_read.page, fragment="#view=icicle")
    page.wait_drawn()
    tree = expected.whole(local_read.document)
    metric = tree.metric("wall")
    widths = tree.widths(metric)
    # The caller of the widest.
    zoomed = max((path for path in tree.paths if len(path) == 3),
                 key=lambda one: widths[one][1] - widths[one][0])[:-1]
    x, y, width = icicle_box(page)
    page.click(x + sum(widths[zoomed]) / 2 * width, y + 1.5 * ICICLE_ROW_PX)
    page.wait_drawn()
    assert page.evaluate("[...document.querySelectorAll('.crumbs button')]"
                         ".map(one => one.textContent)") \
        == ["all"] + [one.name for one, _ in zoomed]
    assert check_icicle(page, tree, metric, within=zoomed) \
        >= 1 + len(zoomed)


def seen(page):
    """Returns the stretch that the timeline shows, once it is in the
    address."""
    wait_for_address(page)
    return tuple(map(int, state(page, "seen").split("-")))


def middles_of_spans(document):
    """Returns the vertical position of each span below the timeline's top, by
    its id: lanes are as high as their spans nest, those of requests come last,
    and consecutive threads whose names differ only in numbers share a lane."""
    found, top, lanes = {}, TIMELINE_AXIS_PX + TIMELINE_GAP_PX, []
    names = {lane["name"] for lane in document.lanes}
    for i in sorted(range(len(document.lanes)),
                    key=lambda i: document.lanes[i]["is_async"]):
        one, spans = document.lanes[i], [span for span in document.spans
                                         if span.lane == i]
        if not spans:
            continue
        plain = re.sub(r" \d+$", "", one["name"])
        name = plain if plain in names else one["name"]
        free = [held for other, held in lanes if name == other and max(
            span.begin + span.duration for span in held) <= spans[0].begin]
        if free and not one["is_async"]:
            free[0] += spans
        else:
            lanes.append((name, spans))
    for _, spans in lanes:
        ends, rows = [], 0
        for span in spans:
            while ends and ends[-1] <= span.begin:
                ends.pop()
            found[span.id] = top + (len(ends) + 0.5) * TIMELINE_ROW_PX
            ends.append(span.begin + span.duration)
            rows = max(rows, len(ends))
        top += rows * TIMELINE_ROW_PX + TIMELINE_GAP_PX
    return found


def check_timeline(page, document, begin, end):
    """Checks that the longest visible spans are drawn where the JSON has
    them."""
    left, top, right = page.evaluate("""(at => [at.left, at.top, at.right])(
      document.querySelector('.timeline canvas').getBoundingClientRect())""")
    middles = middles_of_spans(document)
    left += TIMELINE_GUTTER_PX
    per_ns = (right - left) / (end - begin)
    wide = []
    for span in document.spans:
        x0 = left + (span.begin - begin) * per_ns
        x1 = x0 + span.duration * per_ns
        if x1 - x0 > 12 and x0 < right - 12 and x1 > left + 12:
            wide.append((max(x0, left), min(x1, right), span))
    wide.sort(key=lambda one: one[0] - one[1])
    assert wide
    for x0, x1, span in wide[:12]:
        for x in (x0 + 4, x1 - 4):
            page.mouse("mouseMoved", x, top + middles[span.id])
            title, lines = shown_tooltip(page)
            assert (title, lines["took"], lines["began at"]) == (
                document.name(span.node), expected.time_text(span.duration),
                expected.time_text(span.begin))


def test_the_timeline_zoomed_has_spans_where_the_json_has_them(opened,
                                                               local_read):
    document = local_read.document
    page = opened(local_read.page, fragment="#view=timeline")
    page.wait_drawn()
    whole = document.info["wall_ns"]
    check_timeline(page, document, 0, whole)
    x, y, width, height = page.evaluate("""(at => [at.x, at.y, at.width,
      at.height])(document.querySelector('.timeline canvas')
      .getBoundingClientRect())""")
    # Zooms at the pointer by the wheel: the point under it stays fixed.
    at = 0.1
    pointer = x + TIMELINE_GUTTER_PX + at * (width - TIMELINE_GUTTER_PX)
    page.mouse("mouseWheel", pointer, y + height / 2, deltaX=0, deltaY=-600)
    begin, end = seen(page)
    assert end - begin == pytest.approx(whole / 1.002 ** 600, abs=3)
    assert begin + at * (end - begin) == pytest.approx(
        at * whole, abs=whole / width)
    page.wait_drawn()
    check_timeline(page, document, begin, end)
    # Zooms by key, into the middle.
    page.evaluate("document.querySelector('.timeline canvas').focus()")
    page.press("+")
    inner = seen(page)
    assert inner[1] - inner[0] == pytest.approx((end - begin) / 2, abs=3)
    assert sum(inner) == pytest.approx(begin + end, abs=3)
    page.wait_drawn()
    check_timeline(page, document, *inner)


def brush(page, document, begin, end):
    """Drags on the timeline's axis between two fractions of the busiest
    span, where all sorts of scopes ran."""
    page.wait_drawn()
    busiest, whole = busiest_span(document), document.info["wall_ns"]
    begin, end = ((busiest.begin + at * busiest.duration) / whole
                  for at in (begin, end))
    x, y, width = page.evaluate("""(at => [at.x, at.y, at.width])(document
      .querySelector('.timeline canvas').getBoundingClientRect())""")
    left, room = x + TIMELINE_GUTTER_PX, width - TIMELINE_GUTTER_PX
    page.drag(left + begin * room, y + 12, left + end * room, y + 12)
    brushed = tuple(map(int, state(page, "range").split("-")))
    assert brushed == pytest.approx((begin * whole, end * whole),
                                    abs=2 * whole / room)
    return brushed


@pytest.mark.parametrize("share", [(0.02, 0.3), (0.25, 0.85)])
def test_a_brushed_stretch_has_the_json_s_numbers_in_every_view(
        opened, local_read, share):
    document = local_read.document
    page = opened(local_read.page, fragment="#view=timeline")
    begin, end = brush(page, document, *share)
    tree = expected.stretch(document, begin, end)
    assert text_of(page, ".chip").startswith(
        f"{expected.time_text(end - begin)} from "
        f"{expected.time_text(begin)}")
    check_tree(page, tree, all_paths=False)
    check_bottom_up(page, tree)
    check_functions(page, document, tree, begin, end)
    check_sandwich(page, tree, tree.metric("wall"))
    page.click_on("#tab-icicle")
    page.wait_drawn()
    check_icicle(page, tree, tree.metric("wall"))


def test_a_brushed_stretch_has_the_json_s_work_wait_and_calls(opened,
                                                              local_read):
    document = local_read.document
    page = opened(local_read.page, fragment="#view=timeline")
    begin, end = brush(page, document, 0.1, 0.6)
    tree = expected.stretch(document, begin, end)
    for metric in tree.metrics():
        choose_metric(page, metric.id)
        check_tree(page, tree, metric.id, all_paths=False)


def test_each_lane_of_a_stretch_has_the_json_s_numbers(opened, local_read):
    document = local_read.document
    end = document.info["wall_ns"] // 2
    for lane in range(len(document.lanes)):
        page = opened(local_read.page,
                      fragment=f"#view=tree&range=0-{end}&lanes={lane}")
        check_tree(page, expected.stretch(document, 0, end, {lane}),
                   all_paths=False)


QUERIES = {"tiles": lambda name: "tiles" in name,
           "T": lambda name: "t" in name.lower(),
           "decode": lambda name: "decode" in name,
           "/^(fetch|place)$/": lambda name: name in ("fetch", "place"),
           "/e/": lambda name: "e" in name,
           "no such scope": lambda name: False}


def check_answer(page, tree, metric, matches):
    count = sum(matches(path[-1][0].name) for path in tree.paths)
    answer = page.evaluate("document.querySelector('output').value")
    if count == 0:
        assert answer == "no match"
        return
    parts = re.fullmatch(r"(\d+) match(?:es)?, (.*) of (.*)", answer)
    assert int(parts[1]) == count
    assert parts[3] == ("roots\u2019 time" if metric.id == "wall"
                        else metric.label)
    share = tree.matched_share(metric, matches)
    if parts[2] == "<\u20090.1\u00a0%":
        assert 0 < share < 0.001
    else:
        assert float(parts[2].removesuffix("\u00a0%")) == pytest.approx(
            100 * share, abs=0.0501 if share < 0.9995 else 0.5)


@pytest.mark.parametrize("query", QUERIES)
def test_the_share_that_a_search_finds_is_the_json_s_union(
        opened, local_read, query):
    page = opened(local_read.page, fragment="#view=tree")
    search(page, query)
    assert state(page, "query") == query
    tree = expected.whole(local_read.document)
    for metric in tree.metrics():
        choose_metric(page, metric.id)
        check_answer(page, tree, metric, QUERIES[query])


def test_the_share_that_a_search_finds_follows_the_brush(opened, local_read):
    page = opened(local_read.page, fragment="#view=timeline")
    search(page, "fetch")
    page.press("Escape")
    assert state(page, "query") == ""
    search(page, "fetch")
    begin, end = brush(page, local_read.document, 0.3, 0.7)
    tree = expected.stretch(local_read.document, begin, end)
    for metric in ("wall", "work"):
        choose_metric(page, metric)
        # The tree keeps all paths, also those that did not run then.
        answer = page.evaluate("document.querySelector('output').value")
        share = tree.matched_share(tree.metric(metric),
                                   lambda name: "fetch" in name)
        found = re.search(r"(<\s)?([\d.]+)\u00a0%", answer)
        if found and found[1]:
            assert 0 < share < 0.001
            continue
        assert (float(found[2]) if found else 0) == pytest.approx(
            100 * share, abs=0.0501)


def select_by_key(page, name, nth=1):
    """Goes down the tree by keyboard to the nth scope of a name."""
    page.evaluate("document.querySelector('.tree [tabindex=\"0\"]').focus()")
    page.press("Home")
    for _ in range(100):
        nth -= page.evaluate("document.activeElement.querySelector('bdi')"
                             ".textContent") == name
        if nth == 0:
            return
        if page.evaluate("document.activeElement.ariaExpanded") == "false":
            page.press("ArrowRight")
        page.press("ArrowDown")
    raise AssertionError(f"there is no {name}")


def press_button(page, label):
    """Presses a button of the details, by keyboard alone."""
    page.evaluate("document.querySelector('aside').focus()")
    for _ in range(40):
        page.press("Tab")
        if page.evaluate("document.activeElement.textContent") == label:
            page.press("Enter")
            return
    raise AssertionError(f"Tab does not come to {label}")


CHIPS = {"Focus": "Focus on:", "Hide": "Hide:",
         "Merge into caller": "Merge into caller:",
         "Collapse recursion": "Collapse recursion of:"}


def check_transform(page, document, kind, name, nth=1):
    """Applies a transform by keyboard, checks all numbers, removes it by
    mouse."""
    select_by_key(page, name, nth)
    press_button(page, kind)
    tree = expected.whole(document)
    wanted = next(path[-1][0] for path in tree.paths
                  if path[-1][0].name == name)
    left = expected.transformed(tree, kind, wanted)
    assert text_of(page, ".chip") == f"{CHIPS[kind]} {name}\u00d7"
    check_tree(page, left)
    check_bottom_up(page, left)
    page.click_on("#tab-icicle")
    page.wait_drawn()
    for metric in ("wall", "calls"):
        choose_metric(page, metric)
        page.wait_drawn()
        check_boxes_are_those_of(page, left, metric)
    page.click_on(".chip button")
    assert page.evaluate("document.querySelector('.chip')") is None
    choose_metric(page, "wall")
    check_tree(page, tree)


def check_boxes_are_those_of(page, tree, metric_id):
    metric = tree.metric(metric_id)
    wide = [path for path, (begin, end) in tree.widths(metric).items()
            if end - begin > 0.01]
    if len(wide) > 3:
        check_icicle(page, tree, metric)


@pytest.mark.parametrize("kind, name", [
    ("Focus", "tiles"), ("Focus", "place"), ("Hide", "tiles"),
    ("Hide", "fetch"), ("Merge into caller", "tiles"),
    ("Merge into caller", "fetch")])
def test_a_transform_set_by_keyboard_has_the_json_s_numbers(
        opened, local_read, kind, name):
    page = opened(local_read.page, fragment="#view=tree")
    check_transform(page, local_read.document, kind, name)


@pytest.fixture(scope="module")
def recursion(tmp_path_factory):
    """Returns a recording of recursive scopes, requests and threads."""
    program = BUILD / "tests" / "profiler" / "view" / "record-names"
    if not program.exists():
        missing(f"{program} (make check builds it)")
    folder = tmp_path_factory.mktemp("recursion")
    page, data = folder / "page.html", folder / "data.json"
    subprocess.run([program, page, data, "alpha", "beta", "gamma"],
                   check=True, timeout=300)
    return page, Document(data)


@pytest.mark.parametrize("kind, name, nth", [
    ("Collapse recursion", "beta", 2), ("Collapse recursion", "gamma", 2),
    ("Merge into caller", "beta", 1), ("Focus", "beta", 1)])
def test_a_transform_of_a_recursion_has_the_json_s_numbers(
        opened, recursion, kind, name, nth):
    page = opened(recursion[0], fragment="#view=tree")
    check_transform(page, recursion[1], kind, name, nth)


def test_transforms_combine_and_are_removed_one_by_one(opened, local_read):
    page = opened(local_read.page, fragment="#view=tree")
    tree = expected.whole(local_read.document)
    sites = {path[-1][0].name: path[-1][0] for path in tree.paths}
    left = tree
    for kind, name in (("Focus", "tiles"), ("Hide", "fetch"),
                       ("Merge into caller", "place")):
        select_by_key(page, name)
        press_button(page, kind)
        left = expected.transformed(left, kind, sites[name])
        check_tree(page, left)
    assert page.evaluate("document.querySelectorAll('.chip').length") == 3
    page.click_on(".chip:nth-child(2) button")
    left = tree
    for kind, name in (("Focus", "tiles"), ("Merge into caller", "place")):
        left = expected.transformed(left, kind, sites[name])
    check_tree(page, left)


def test_a_stretch_that_is_transformed_has_the_json_s_numbers(opened,
                                                              local_read):
    page = opened(local_read.page, fragment="#view=timeline")
    begin, end = brush(page, local_read.document, 0.1, 0.8)
    page.click_on("#tab-tree")
    select_by_key(page, "tiles")
    press_button(page, "Focus")
    tree = expected.stretch(local_read.document, begin, end)
    wanted = next(path[-1][0] for path in tree.paths
                  if path[-1][0].name == "tiles")
    check_tree(page, expected.transformed(tree, "Focus", wanted),
               all_paths=False)


def means_of_runs(document, is_by_cpu):
    """Returns, for each path without regard to threads, the mean of its totals
    in the runs: of its time on CPUs with that of all below it, or of wall
    time; (name, whether it is a request): number."""
    table = document.raw["shares"]
    parents = document.raw["nodes"]["parent"]
    sums = collections.Counter()

    def key(node):
        path = []
        while node >= 0:
            edge = document.nodes[node]["edge"]
            path.append((document.nodes[node]["name"],
                         0 if edge == 1 or parents[node] < 0 else edge))
            node = parents[node]
        return tuple(reversed(path))

    for node in range(len(document.nodes)):
        sums[key(node)] += 0
    for node, total, work, starved in zip(
            table["node"], table["total_ns"], table["work_ns"],
            table["starved_ns"]):
        if not is_by_cpu:
            sums[key(node)] += total
        while is_by_cpu and node >= 0:
            sums[key(node)] += work - starved
            node = parents[node]
    return {path: int(total / len(document.parts) + 0.5)
            for path, total in sums.items()}


def test_changes_have_the_json_s_numbers_of_both_recordings(
        opened, local_read, local_changes):
    page = opened(local_changes, fragment="#view=diff")
    recordings = [local_read.page, local_changes.with_name("more.json")]
    said = json.loads(run_radio("diff", *recordings, "--json").stdout)
    before, after = (means_of_runs(one, said["basis"] == "cpu") for one in (
        local_read.document, Document(recordings[1])))
    shown = page.evaluate(
        "[...document.querySelectorAll('.diff tr[data-path]')].map(row =>"
        " [row.querySelector('th button').title,"
        "  ...[...row.querySelectorAll('td')].slice(1, 3).map(cell =>"
        "    cell.title)])")
    found = collections.Counter((name, number(was) if was else None,
                                 number(now) if now else None)
                                for name, was, now in shown
                                if number(was or "0") + number(now or "0"))
    wanted = collections.Counter(
        (" \u203a ".join(name for name, _ in path), before.get(path),
         after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path, 0) + after.get(path, 0) > 0)
    assert found == wanted
    whole = [sum(one[path] for path in one if len(path) == 1)
             for one in (before, after)]
    change = expected.change_text(expected.time_text, *whole)
    assert change in text_of(page, ".diff p:has(> .diff-whole)")
    # The head has the same figures of the comparable basis.
    if said["basis"] != "none":
        name = "a run: wall" if said["basis"] == "wall" else "on CPUs"
        assert heads(page)[name] == change


def test_changes_list_the_conditions_that_radio_diff_does(opened, tmp_path):
    header = Path(__file__).parents[2] / "profiler/model/profile.h"
    facts = re.findall(r'define RD_FACT_\w+ "(.*?)"', header.read_text())
    assert len(facts) > 30
    facts += ["command", "runs", "warmup", "seed", "made by", "host", "codec",
              "my ns", "page faults of mine", "bytes read ahead", "clock",
              "slow runs", "runs not recorded"]
    for i, name in enumerate(("before", "after")):
        made = made_read()
        made.facts = [(fact, str(i + 1), 0) for fact in facts]
        write_page(made, tmp_path, name)
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    said = json.loads(run_radio("diff", *both, "--json").stdout)
    wanted = [one["name"] for one in said["conditions"]]
    assert {"host", "my ns", "bytes of the ring"} < set(wanted)
    assert not {"pid", "slow runs written", "ring begins ns"} & set(wanted)
    run_radio("diff", *both, "-o", tmp_path / "changes.html")
    page = opened(tmp_path / "changes.html", fragment="#view=diff")
    assert page.evaluate(
        "[...document.querySelectorAll('.diff-conditions li')]"
        ".map(one => one.querySelector('bdi')?.textContent)"
        ".filter(Boolean)") == wanted
    # Other CPUs: times on these are compared, and not called wall.
    assert said["basis"] == "cpu"
    metric = "document.querySelector('.bar-of-tools option').textContent"
    assert page.evaluate(metric) == "CPU time"
    page.evaluate("radio.state.set({ view: 'tree' })")
    assert page.evaluate(metric) == "wall"
    page.evaluate("radio.state.set({ view: 'diff' })")
    assert page.evaluate(metric) == "CPU time"


def heads(page):
    """Returns the figures of the page's head, without their notes."""
    return dict(page.evaluate("""[...document.querySelectorAll('.figure')]
      .map(one => [one.querySelector('dt').textContent,
                   one.querySelector('dd').firstChild.textContent])"""))


def test_the_head_of_changes_has_each_figure_of_a_run_before_and_after(
        opened, local_read, local_changes):
    page = opened(local_changes)
    both = [local_read.document, Document(local_changes.with_name(
        "more.json"))]
    found = heads(page)
    for name, key in (("a run: wall", "wall_ns"), ("work", "work_ns"),
                      ("no CPU", "starved_ns"), ("wait", "wait_ns")):
        means = [one.info[key] / len(one.parts) for one in both]
        assert sum(means) == 0 or found[name] == expected.change_text(
            expected.time_text, *means)
    assert found["scopes"] == expected.change_text(
        expected.count_text,
        *(one.info["scope_count"] / len(one.parts) for one in both))
    assert found["delivered"] == expected.change_text(
        expected.bytes_text,
        *(expected.whole(one).metric("c:bytes delivered").sum
          / len(one.parts) for one in both))
    # Narrowed to a part, the figures are of this profile alone.
    page.evaluate("radio.state.set({ range: '0-1000' })")
    assert "a run: wall" not in heads(page)


def test_changes_begin_with_the_answer_and_its_interval(
        opened, local_read, local_changes):
    page = opened(local_changes, fragment="")
    said = json.loads(run_radio(
        "diff", local_read.page, local_changes.with_name("more.json"),
        "--json").stdout)
    paths = [one for one in said["paths"] if not one["split"]]
    [root] = [one for one in paths if one["depth"] == 0]
    shown = page.evaluate("document.querySelector('.diff').innerText")
    answer = re.sub(r"^Waits are \w+: .*?\. (?=[A-Z])", "",
                    shown.lstrip().split("\n")[0])
    assert answer.startswith({
        "slower": "Slower: a run took ", "faster": "Faster: a run took ",
        "unclear": "Unclear: a run took ",
        "noise": "No change beyond noise: the median run took ",
        "one run": "Unclear: a run took " if said["basis"] == "none"
                   else "Noise unknown: a run took "}[
            "unclear" if root["unclear"] and root["total_change"] == "noise"
            else root["total_change"]])
    if root["total_change"] != "one run":
        assert " to ".join(expected.signed_text(root[f"delta_{side}_ns"])
                           for side in ("low", "high")) in answer
    own = "self_cpu" if said["basis"] == "cpu" else "self"
    changed = [one for one in paths if one["change"] in ("slower", "faster")]
    if changed:
        most = max(changed, key=lambda one: abs(
            one[f"{own}_after_ns"] - one[f"{own}_before_ns"]))
        assert f"{most['name']} " in answer
    # The two recordings have other names.
    names = page.evaluate("[...document.querySelectorAll("
                          "'.diff .tile-controls bdi')]"
                          ".map(one => one.textContent)")
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("nthreads, share", [(1, 1), (3, 1), (3, 0.2)])
def test_changes_and_radio_diff_have_the_wall_time_beside_sums(
        opened, tmp_path, nthreads, share):
    """Also where threads together take less than the wall time."""
    for name, ms in (("before", 40), ("after", 50)):
        made = ProfileDocument("serve", wall_ns=ms * 1_000_000)
        for i in range(nthreads):
            made.span(made.lane(f"thread {i}"), "serve", "operation", 0,
                      int(ms * share * 1_000_000))
        write_page(made, tmp_path, name)
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    changes = tmp_path / "changes.html"
    said = run_radio("diff", *both, "-o", changes).stdout
    page = opened(changes, fragment="#view=diff")
    answer = text_of(page, ".diff p:has(> .diff-whole)")
    assert heads(page)["wall"] == "40.0 \u2192 50.0\u00a0ms"
    if nthreads == 1:
        assert "\n40.00 ms -> 50.00 ms (+25.0 %)" in said
        assert "summed" not in said and "summed" not in answer
    else:
        sums = ("120.0", "150.0", "120 \u2192 150") if share == 1 \
            else ("24.00", "30.00", "24.0 \u2192 30.0")
        assert "\nwall time 40.00 ms -> 50.00 ms (+25.0 %); summed over " \
            f"threads {sums[0]} ms -> {sums[1]} ms (+25.0 %)" in said
        assert f"a run took {sums[2]}\u00a0ms summed over threads, " in answer
    whole = json.loads(run_radio("diff", *both, "--json").stdout)
    assert (whole["wall_before_ns"], whole["wall_after_ns"]) == (40e6, 50e6)


def write_runs(folder, name, times_us, lack_us=0, waits_us=(), facts=()):
    """Writes a profile of runs of one operation that take these times: in each
    it had no CPU for a time, and waited for another."""
    made, begin = ProfileDocument("read", parts="runs"), 0
    made.facts = [(key, value, 0) for key, value in facts]
    lane = made.lane("main")
    for part, us in enumerate(times_us):
        ns = 1000 * us
        wait = 1000 * (waits_us[part] if waits_us else 0)
        made.span(lane, "read", "operation", begin, ns, wait=wait)
        made.shares.append((0, part, 1, ns, ns, ns - wait, 1000 * lack_us))
        made.parts.append((f"run {part + 1}", ns, ns - wait, 0,
                           1000 * lack_us))
        begin += ns
    if lack_us > 0:
        lack_ns = 1000 * lack_us * len(times_us)
        made.given["starved_ns"] = lack_ns
        made.node("read", "operation", starved_ns=lack_ns)
    write_page(made, folder, name)


@pytest.mark.parametrize("after_us, change", [
    (2010, "within noise"), (2300, "unclear"), (4000, "longer"),
    (1000, "shorter")])
def test_waits_are_judged_as_by_radio_diff(opened, tmp_path, after_us,
                                           change):
    """Threads lacked CPUs, so CPU times are compared, which have no waits."""
    for name, us in (("before", 2000), ("after", after_us)):
        waits = [us + us * (3 * i % 8) // 800 for i in range(8)]
        write_runs(tmp_path, name, [9000 + one for one in waits], 3000, waits)
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    said = run_radio("diff", *both, "-o", tmp_path / "changes.html").stdout
    [read] = json.loads(run_radio("diff", *both, "--json").stdout)["paths"]
    medians = expected.change_text(expected.time_text, read["wait_before_ns"],
                                   read["wait_after_ns"])
    page = opened(tmp_path / "changes.html", fragment="#view=diff")
    low, high = (expected.signed_text(read[f"wait_{side}_ns"])
                 for side in ("low", "high"))
    assert read["wait_low_ns"] < read["wait_high_ns"]
    assert f"prolongs, too: {medians} ({low} to {high}), {change}" \
        in page.evaluate(
            "document.querySelector('.diff-conditions').textContent")
    assert f" ms with 95 % confidence, {change.removeprefix('within ')}\n" \
        in said
    # Nothing changed on CPUs.
    assert text_of(page, ".diff-whole").startswith(
        {"longer": f"Waits are longer: {medians}. ",
         "shorter": f"Waits are shorter: {medians}. "}.get(change, "")
        + "No change beyond noise: ")


def test_an_interval_is_beside_the_medians_that_it_is_of(opened, tmp_path):
    """The means differ by more than the interval holds, for one long run."""
    for side, us, longest_us in (("before", 5000, 5000),
                                 ("after", 7000, 90_000)):
        write_runs(tmp_path, side, [longest_us] + [
            us + 7 * part % 11 for part in range(1, 16)])
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    changes = tmp_path / "changes.html"
    run_radio("diff", *both, "-o", changes)
    [read] = json.loads(run_radio("diff", *both, "--json").stdout)["paths"]
    mean = read["self_after_ns"] - read["self_before_ns"]
    median = read["median_after_ns"] - read["median_before_ns"]
    assert read["self_low_ns"] < median < read["self_high_ns"] < mean
    low, high = (expected.signed_text(read[f"self_{one}_ns"])
                 for one in ("low", "high"))
    page = opened(changes, fragment="#view=diff")
    answer = text_of(page, ".diff p:has(> .diff-whole)")
    medians = expected.change_text(expected.time_text,
                                   read["median_before_ns"],
                                   read["median_after_ns"])
    assert f"; the median one {medians}, a difference of {low} to {high} " \
        "with 95\u00a0% confidence. " in answer
    assert f"read slower, median {expected.signed_text(median)} " \
        f"({low} to {high}). " in answer


def test_what_processes_of_one_program_differ_by_is_unclear(opened, tmp_path):
    for side, us in (("before", 5000), ("after", 5500)):
        write_runs(tmp_path, side, [us + 7 * part % 8 for part in range(8)])
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    changes = tmp_path / "changes.html"
    said = run_radio("diff", *both, "-o", changes).stdout
    assert "'read' changed by less than the 15 %" in said
    page = opened(changes, fragment="#view=diff")
    answer = text_of(page, ".diff p:has(> .diff-whole)")
    assert answer.startswith("Unclear: a run took ")
    assert "Processes of one program differ by up to 15.0\u00a0%" in answer


@pytest.mark.parametrize("facts", [
    [], [("made by", '{"program":"radio"}')], [("made by", "name-1234")]],
    ids=["other", "repeatable", "redacted"])
@pytest.mark.parametrize("cpus", [("a", "a"), ("a", "b")],
                         ids=["alike", "unfair"])
def test_the_advice_is_that_of_radio_diff(opened, tmp_path, facts, cpus):
    for side, us, cpu in zip(("before", "after"), (5000, 5500), cpus):
        write_runs(tmp_path, side, [us + 7 * part % 8 for part in range(8)],
                   facts=[*facts, ("CPU", cpu)])
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    changes = tmp_path / "changes.html"
    said = run_radio("diff", *both, "-o", changes).stdout
    advice, = re.findall(r" differ by: (.*)", said)
    assert ("--against" in advice) == any("{" in fact[1] for fact in facts)
    page = opened(changes, fragment="#view=diff")
    assert f"\u00a0%: {advice}." in text_of(page,
                                            ".diff p:has(> .diff-whole)")


def test_single_runs_have_the_advice_of_radio_diff(opened, tmp_path):
    for side, us in (("before", 5000), ("after", 9000)):
        write_runs(tmp_path, side, [us])
    both = [tmp_path / "before.json", tmp_path / "after.json"]
    changes = tmp_path / "changes.html"
    said = run_radio("diff", *both, "-o", changes).stdout
    advice, = re.findall(r" distinguished from noise: (.*)", said)
    answer = text_of(opened(changes, fragment="#view=diff"),
                     ".diff p:has(> .diff-whole)")
    assert answer.startswith("Noise unknown: a run took ")
    assert f"so the noise is unknown; {advice}." in answer


@pytest.fixture(scope="session")
def local_changes(local_read):
    return local_read.compared_with_another()


def test_the_head_has_the_json_s_figures(opened, local_read):
    page = opened(local_read.page)
    tree = expected.whole(local_read.document)
    info = local_read.document.info
    figures = heads(page)
    assert figures["wall"] == expected.time_text(info["wall_ns"])
    assert figures["work"] == expected.time_text(info["work_ns"])
    assert figures["wait"] == expected.time_text(info["wait_ns"])
    assert figures["scopes"] == expected.count_text(info["scope_count"])
    assert figures["bytes delivered"] == expected.bytes_text(
        tree.metric("c:bytes delivered").sum)
    titles = page.evaluate("[...document.querySelectorAll('.findings li')]"
                           ".map(one => one.querySelector('.link, strong')"
                           ".textContent)")
    assert titles == local_read.document.raw["findings"]["title"]
