# SPDX-License-Identifier: MIT
"""The page's views of tiles, runs and changes in a real browser: their numbers
equal those of the profile, read as docs/profile-format.md describes it, and
those of `radio diff'."""

import base64
import itertools
import json
import re
import zlib

import pytest

from conftest import run_radio
from document_reader import signed, varints
from pages import (AXE_RUN, axe, browser, number, opened, search, state,
                   write_page)
from profile_document import ProfileDocument
from test_page import HOSTILE

__all__ = ["axe", "browser", "opened"]         # fixtures


def columns(block):
    data = base64.b64decode(block["data"])
    if block["encoding"] == "deflate":
        data = zlib.decompress(data, wbits=-15)
    return list(varints(data, block["count"])) if block["count"] else []


def numbers_of_tiles(document):
    """Returns (begin, duration, tile, stored) of the spans that refer to a
    tile."""
    spans, tiles = columns(document["spans"]), columns(document["tiles"])
    begins, at = [], 0
    for count in document["lanes"]["span_count"]:
        time = 0
        for i in range(at, at + count):
            time += spans[0][i]
            begins.append(time)
        at += count
    found, span, tile = [], -1, 0
    for skipped, step, stored in zip(*tiles):
        span += 1 + skipped
        tile += signed(step)
        found.append((begins[span], spans[1][span], tile, stored))
    return found


def tiles_of_boxes(document, tile, size):
    """Returns the positions of tiles that boxes of a size overlap, by the
    boxes' starts."""
    found, strings, notes = set(), document["strings"], document["notes"]
    for span, key, value in zip(notes["span"], notes["key"], notes["value"]):
        if span > 0 and strings[key] == "box start":
            starts = map(int, strings[value].split(","))
            found.update(itertools.product(*(
                range(start // n, (start + size - 1) // n + 1)
                for start, n in zip(starts, tile))))
    return found


def counted(document, name):
    """Returns a counter's sum over the tree."""
    at = document["counters"]["name"].index(name)
    return sum(value for value, counter in zip(
        document["values"]["value"], document["values"]["counter"])
        if counter == at)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Returns a volume of 5 x 7 x 3 tiles, three shards, named after a
    person."""
    folder = tmp_path_factory.mktemp("store") / "s.zarr"
    run_radio("phantom", "-s", folder, "ct/jane-doe", "--size", "70,100,90",
              "--tiling", "14,15,30")
    return folder


@pytest.fixture(scope="module")
def boxes(store):
    """Returns four reads of boxes, as a page and as JSON."""
    page, data = store.parent / "roi.html", store.parent / "roi.json"
    run_radio("profile", "roi", "-s", store, "ct/jane-doe", "--roi", "32",
              "--runs", "4", "-o", page, "-o", data)
    return page, json.loads(data.read_text())


@pytest.fixture(scope="module")
def planes(store):
    """Returns five reads of planes: other tiles, and other paths."""
    data = store.parent / "slice.json"
    run_radio("profile", "slice", "-s", store, "ct/jane-doe", "--runs", "5",
              "-o", data)
    return data


def bytes_shown(page):
    return dict(page.evaluate(
        "Array.from(document.querySelectorAll('.tile-bytes tr'), row =>"
        " [row.querySelector('th').textContent,"
        "  row.querySelector('td').title])"))


def test_bytes_are_those_of_the_profile(opened, boxes):
    path, document = boxes
    page = opened(path, fragment="#view=tiles")
    shown = bytes_shown(page)
    assert list(shown) == ["requested", "fetched", "decoded", "delivered"]
    for name, text in shown.items():
        counter = "asked" if name == "requested" else name
        assert number(text) == counted(document, "bytes " + counter) > 0
    ratio = counted(document, "bytes decoded") \
        / counted(document, "bytes delivered")
    assert f"{ratio:.2f}"[:3] in page.evaluate(
        "document.querySelector('.tile-bytes dd').textContent")


def test_tiles_are_those_that_the_spans_name(opened, boxes):
    path, document = boxes
    found = numbers_of_tiles(document)
    assert len(found) == counted(document, "tiles")
    page = opened(path, fragment="#view=tiles&tilesby=count")
    text = page.evaluate("document.querySelector('.tiles').innerText")
    # 90 x 100 x 70 voxels in tiles of 30 x 15 x 14.
    touched = tiles_of_boxes(document, (30, 15, 14), 32)
    assert len(touched) >= len({tile for _, _, tile, _ in found})
    assert f"{len(touched)} of 105 tiles touched" in text
    assert "by 4 operations" in text
    assert ("The array has 70 \u00d7 100 \u00d7 90 voxels, a tile 14 \u00d7 15 "
            "\u00d7 30 (x, y, z).") in text
    assert re.search(r"\nx\u00a0\d+.*, y\u00a0\d+.*, z\u00a0\d+", page.evaluate(
        "'\\n' + document.querySelector('.tiles td.text').innerText"))
    times = {}
    for _, duration, tile, _ in found:
        count, time = times.get(tile, (0, 0))
        times[tile] = count + 1, time + duration
    rows = page.evaluate(
        "Array.from(document.querySelectorAll('.tiles .parts tbody tr'),"
        " row => Array.from(row.querySelectorAll('td[title]'),"
        "  cell => cell.title))")
    shown = [(number(row[1]), number(row[2])) for row in rows]
    assert len(shown) == 8
    assert all(one in times.values() for one in shown)
    assert max(count for count, _ in times.values()) == shown[0][0]


def test_tiles_follow_the_search(opened, boxes):
    path, document = boxes
    page = opened(path, fragment="#view=tiles")
    whole = bytes_shown(page)
    names = [document["strings"][i] for i in document["nodes"]["name"]]
    assert "tiles" in names and "fetch" in names
    # All tiles are decoded below "tiles", none in "plan" or elsewhere.
    search(page, "tiles")
    page.wait("radio.state.get('query') === 'tiles'")
    shown = bytes_shown(page)
    assert number(shown["decoded"]) == number(whole["decoded"])
    assert "searched for" in page.evaluate(
        "document.querySelector('.tiles').innerText")
    search(page, "plan")
    page.wait("radio.state.get('query') === 'plan'")
    assert "decoded" not in bytes_shown(page)
    page.press("Enter")
    assert names[state(page, "node")] == "plan"


def test_hidden_tiles_take_the_theme_when_shown(opened, boxes):
    page = opened(boxes[0], fragment="#view=tiles&theme=light")
    page.wait_drawn()
    legend = """[...document.querySelectorAll('.tile-legend .swatch')]
      .map(one => one.style.background)"""
    light = page.evaluate(legend)
    page.click_on("#tab-tree")
    page.evaluate("radio.state.set({ theme: 'dark' })")
    page.evaluate("radio.state.set({ tile: 1 })")
    page.click_on("#tab-tiles")
    assert page.evaluate(legend) == light[::-1]


def test_tiles_are_selected_by_keyboard_and_mouse(opened, boxes):
    page = opened(boxes[0], fragment="#view=tiles")
    page.evaluate("document.querySelector('.projections canvas').focus()")
    seen = set()
    for key in ["ArrowRight", "ArrowUp"] * 6:
        page.press(key)
        seen.add(state(page, "tile"))
    assert len(seen - {-1}) > 1
    page.click_on(".tiles .parts tbody tr:first-child th button")
    tile = state(page, "tile")
    details = page.evaluate("document.querySelector('.tile-chosen').innerText")
    assert details.startswith("Tile ")
    again = opened(boxes[0], fragment=f"#view=tiles&tile={tile}")
    assert again.evaluate(
        "document.querySelector('.tile-chosen').innerText") == details
    page.click_on(".tile-chosen button")
    assert state(page, "view") == "timeline"
    assert state(page, "span") >= 0


def test_a_selected_run_limits_the_numbers(opened, boxes):
    path, document = boxes
    walls = document["parts"]["wall_ns"]
    page = opened(path, fragment="#view=runs")
    runs = [[one for one in numbers_of_tiles(document)
             if sum(walls[:i]) <= one[0] < sum(walls[:i + 1])]
            for i in range(4)]
    # The run with the fewest cache hits.
    i = max(range(4), key=lambda i: len(runs[i]))
    inside = runs[i]
    page.click_on(f".runs-view tbody tr:nth-child({i + 1}) button")
    assert state(page, "range") == f"{sum(walls[:i])}-{sum(walls[:i + 1])}"
    page.evaluate("document.querySelector('#tab-tiles').click()")
    text = page.evaluate("document.querySelector('.tiles').innerText")
    touched = int(re.search(r"(\d+) of 105 tiles touched", text)[1])
    assert touched >= len({tile for _, _, tile, _ in inside}) > 0
    assert "by 1 operation in the chosen stretch" in text
    shown = bytes_shown(page)
    assert number(shown["requested"]) == sum(one[3] for one in inside)
    assert number(shown["decoded"]) == len(inside) * 30 * 15 * 14 * 2
    assert number(shown["delivered"]) == 32 ** 3 * 2


def test_runs_show_their_times(opened, boxes):
    path, document = boxes
    page = opened(path, fragment="#view=runs")
    titles = page.evaluate(
        "Array.from(document.querySelectorAll('.runs-view td.bar'),"
        " cell => cell.title)")
    assert [number(one) for one in titles] == document["parts"]["wall_ns"]
    page.evaluate("document.querySelector('.runs-view canvas').focus()")
    page.press("ArrowRight")
    page.press("ArrowRight")
    walls = document["parts"]["wall_ns"]
    assert state(page, "range") == f"{walls[0]}-{walls[0] + walls[1]}"
    page.click_on(".runs-head button")
    assert state(page, "range") == ""


def rows_of_changes(page):
    return page.evaluate(
        "Array.from(document.querySelectorAll('.diff tr[data-path]'), row =>"
        " [Number(row.dataset.path),"
        "  row.querySelector('bdi').textContent,"
        "  ...Array.from(row.querySelectorAll('td'), cell =>"
        "    cell.title || cell.textContent)])")


def check_changes(page, before, after):
    said = json.loads(run_radio("diff", before, after, "--json").stdout)
    rows = rows_of_changes(page)
    paths = [one for one in said["paths"] if not one["split"]]
    what = "cpu" if said["basis"] == "cpu" else "total"
    # Those of both that took nothing are left out.
    listed = [one for one in paths if one["change"] in ("new", "gone")
              or one[what + "_before_ns"] + one[what + "_after_ns"] > 0]
    assert len(rows) == min(100, len(listed)) > 5
    for at, name, change, was, now, *_ in rows:
        path = paths[at]
        assert name == path["name"]
        # A value missing on one side is a dash; rare paths are noise.
        for shown, ns in ((was, path[what + "_before_ns"]),
                          (now, path[what + "_after_ns"])):
            assert (0 if shown == "\u2013" else number(shown)) == ns
        assert (was == "\u2013") <= (path["change"] in ("new", "noise"))
        assert (now == "\u2013") <= (path["change"] in ("gone", "noise"))
        # A path may have changed by those below it alone.
        assert path["change"] in change \
            or f"{path['total_change']} below" in change
    text = page.evaluate("document.querySelector('.diff').innerText")
    for kind in ("slower", "faster", "new", "gone"):
        n = sum(one["change"] == kind for one in paths)
        assert f"{n} {kind}" in text
    for condition in said["conditions"]:
        assert condition["name"] + ": " in text
    assert ("different operations" in text) != said["same_operation"]


def test_changes_are_those_of_radio_diff(opened, boxes, store, tmp_path):
    more = tmp_path / "more.json"
    run_radio("profile", "roi", "-s", store, "ct/jane-doe", "--roi", "60",
              "--runs", "5", "-o", more)
    before = store.parent / "roi.json"
    path = tmp_path / "changes.html"
    run_radio("diff", before, more, "-o", path)
    page = opened(path, fragment="")
    assert state(page, "view") == "diff"
    check_changes(page, before, more)
    page.click_on(".diff .tile-controls button")
    check_changes(page, more, before)
    page.evaluate("document.querySelector('.diff canvas').focus()")
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert page.evaluate("document.querySelector('.diff-choice strong')") \
        is not None
    page.evaluate("document.querySelector('.diff [type=checkbox]').click()")
    assert state(page, "normalise") == "1"
    assert "scaled by" in page.evaluate(
        "document.querySelector('.diff').innerText")


def drop(page, name, text):
    page.evaluate("""((name, text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data,
        bubbles: true, cancelable: true }));
    })(%s, %s)""" % (json.dumps(name), json.dumps(text)))


@pytest.mark.parametrize("suffix", [".json", ".html"])
def test_a_dropped_profile_is_compared(opened, boxes, planes, tmp_path,
                                       suffix):
    before = planes
    if suffix == ".html":
        before = tmp_path / "before.html"
        run_radio("profile", "convert", planes, before)
    page = opened(boxes[0], fragment="#view=timeline")
    drop(page, HOSTILE[0] + suffix, before.read_text())
    page.wait("document.querySelector('.diff tr[data-path]')")
    assert state(page, "view") == "diff"
    check_changes(page, planes, boxes[0])
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("text, said", [
    ("not a profile", "damaged or cut short"),
    ("<html>hello</html>", "has no profile"),
    ('{"format": "radio-profile", "version": 7}', "version 7")])
def test_a_dropped_file_that_is_no_profile_is_rejected(opened, boxes, text,
                                                       said):
    page = opened(boxes[0], fragment="#view=diff")
    assert "radio diff" in page.evaluate(
        "document.querySelector('.diff').innerText")
    drop(page, "some.json", text)
    page.wait("document.querySelector('.diff [role=status]').textContent"
              f".includes({json.dumps(said)})")


def test_names_of_volumes_do_no_harm(opened, tmp_path):
    made = ProfileDocument("volumes")
    lane = made.lane("main")
    for i, name in enumerate(HOSTILE):
        made.span(lane, "read", "operation", 100 * i, 50)
        shapes = {"volume": name, "array shape": f"64,64,{64 + i}",
                  "tile shape": "8,16,16", "shard shape": "64,64,64",
                  "box start": "1,2,3", "box shape": "9,9,9"}
        made.notes += [(i + 1, 0, key, value, 0)
                       for key, value in shapes.items()]
    page = opened(write_page(made, tmp_path), fragment="#view=tiles")
    assert page.evaluate(
        "document.querySelectorAll('.tile-controls option').length") \
        >= len(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('.tiles img').length") \
        == 0
    page.evaluate("radio.state.set({ volume: 3 })")
    text = page.evaluate("document.querySelector('.tiles').innerText")
    assert re.search(r"of [0-9,]+ tiles touched", text)


def test_a_redacted_page_names_no_volume(opened, store, tmp_path):
    for name, arguments in [
            ("tiles", ["profile", "roi", "-s", store, "ct/jane-doe",
                       "--roi", "32", "--runs", "2"]),
            ("diff", ["diff", store.parent / "roi.json",
                      store.parent / "roi.json"])]:
        path = tmp_path / f"{name}.html"
        run_radio(*arguments, "--redact", "-o", path)
        assert "jane" not in path.read_text()
        page = opened(path, fragment=f"#view={name}")
        text = page.evaluate("document.body.innerText")
        assert "jane" not in text and "name-" in text


@pytest.fixture(scope="module")
def changes(store, boxes, planes):
    """Returns a page of two profiles of different operations."""
    path = store.parent / "changes.html"
    run_radio("diff", planes, store.parent / "roi.json", "-o", path)
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", ["tiles", "runs", "diff"])
def test_tiles_runs_and_changes_pass_axe(opened, boxes, changes, axe, view,
                                         dark):
    path = changes if view == "diff" else boxes[0]
    page = opened(path, fragment=f"#view={view}", dark=dark)
    page.evaluate(axe + ";0")
    page.wait_drawn()
    selectors = {"tiles": ".tiles .parts th button",
                 "runs": ".runs-view tbody tr:nth-child(2) button",
                 "diff": ".diff tr[data-path]"}
    for _ in range(2):
        found = page.evaluate(AXE_RUN)
        assert found["violations"] == []
        assert found["passed"] > 20
        # Again with one of the rows chosen.
        page.evaluate(f"document.querySelector('{selectors[view]}').click()")
        page.wait_drawn()
