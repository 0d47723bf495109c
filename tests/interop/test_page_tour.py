# SPDX-License-Identifier: MIT
"""All views of a page of two real recordings, used in a real browser as users
do: by mouse and by keyboard, from match to match, back and forth, and exported
as links, texts and pictures."""

import base64
import collections
import re
import struct
import time
import zlib
from xml.etree import ElementTree

import pytest

import profile_numbers as expected
from document_reader import Document
from pages import (AXE_RUN, TIMELINE_AXIS_PX, TIMELINE_GAP_PX,
                   TIMELINE_GUTTER_PX, TIMELINE_ROW_PX, axe, browser,
                   choose_metric, hold_labels, local_read, number, opened,
                   read_document, read_page, reload, search, state, text_of,
                   wait_for_address)

# Fixtures that tests import by name.
__all__ = ["axe", "browser", "local_read", "opened", "read_document",
           "read_page"]

VIEWS = ("diff", "timeline", "icicle", "tree", "bottomup", "sandwich",
         "functions", "tiles", "runs", "facts")
CANVASES = {"diff", "timeline", "icicle", "sandwich", "tiles", "runs"}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="session")
def changes_page(local_read):
    return local_read.compared_with_another()


@pytest.fixture(scope="session")
def ranks_page(local_read):
    path = local_read.page.with_name("ranks.html")
    local_read.merge(path)
    return path


@pytest.fixture(scope="session")
def document(changes_page):
    """Returns the page's own profile, without the one to compare with."""
    return Document(changes_page.with_name("more.json"))


def evidence(document, view):
    """Returns texts that a view must show, from the JSON."""
    tree = expected.whole(document)
    root, = (path for path in tree.paths if len(path) == 1)
    metric = tree.metric("wall")
    wall = metric.total[root]
    mean = wall / tree.columns["calls"][root]
    owns = {}
    for path in tree.paths:
        owns[path[-1][0]] = owns.get(path[-1][0], 0) + metric.own[path]
    return {
        "diff": ["run took", "new", "gone", "slower"],
        "timeline": [expected.time_text(document.info["wall_ns"]) + " seen"]
        + [lane["name"] for lane in document.lanes],
        "icicle": [f"read {expected.time_text(wall)} \u00b7 "
                   + expected.share_text(wall, metric.sum)],
        "tree": [expected.time_text(metric.total[path])
                 for path in tree.paths if len(path) == 2][:1]
        + [expected.time_text(wall)],
        "bottomup": [expected.time_text(max(owns.values()))],
        "sandwich": [f"{expected.time_text(wall)} of wall, "
                     + expected.share_of_all_text(
                         wall, metric.sum, " of roots\u2019 time")
                     + ", from 1 place"],
        "functions": [expected.time_text(mean)],
        "tiles": [expected.bytes_text(tree.metric(f"c:bytes {what}").sum)
                  for what in ("asked", "fetched", "decoded", "delivered")],
        "runs": [expected.time_text(part["wall_ns"])
                 for part in document.parts],
        "facts": [expected.count_text(document.info["scope_count"]),
                  expected.time_text(document.info["overhead_ns"]),
                  expected.count_text(len(document.nodes))],
    }[view]


def texts_of(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == SVG + "svg"
    return " ".join("".join(one.itertext()) for one in root.iter(SVG + "text"))


def check_shown(page, document, view):
    """Checks that the view is shown, has its numbers and, if it draws, is
    drawn."""
    page.wait_drawn()
    assert state(page, "view") == view
    assert page.evaluate("""[...document.querySelectorAll('[role=tabpanel]')]
      .filter(one => one.checkVisibility()).map(one => one.id)""") \
        == ["view-" + view]
    assert page.evaluate("""[...document.querySelectorAll('[role=tab]')]
      .filter(one => one.ariaSelected === 'true').map(one => one.id)""") \
        == ["tab-" + view]
    shown = texts_of(page.evaluate("radio.picture()"))
    for text in evidence(document, view):
        assert text in shown, text
    if view in CANVASES:
        assert page.evaluate(f"""[...document.querySelectorAll(
          '#view-{view} canvas')].every(one => new Set(new Uint32Array(
            one.getContext('2d').getImageData(0, 0, one.width, one.height)
              .data.buffer)).size > 3)""")


@pytest.mark.parametrize("view", VIEWS)
def test_a_click_on_its_tab_opens_a_view(opened, changes_page, document,
                                         view):
    other = "facts" if view != "facts" else "tree"
    page = opened(changes_page, fragment=f"#view={other}")
    page.click_on("#tab-" + view)
    check_shown(page, document, view)


@pytest.mark.parametrize("view", VIEWS)
def test_its_key_opens_a_view(opened, changes_page, document, view):
    other = "facts" if view != "facts" else "runs"
    page = opened(changes_page, fragment=f"#view={other}")
    title = page.evaluate(f"document.querySelector('#tab-{view}').title")
    # The tenth view has a letter, since digit keys end at nine.
    key = "123456789r"[VIEWS.index(view)]
    assert title.endswith(". Key " + key)
    page.press(key)
    check_shown(page, document, view)


def test_an_arrow_opens_the_next_tab(opened, changes_page, document):
    page = opened(changes_page, fragment="#view=why")
    focus(page, "#tab-why")
    page.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-facts"
    check_shown(page, document, "facts")


def check_rows_are_searched(page, view, query):
    """Checks that rows with a text are marked and announced, and that the
    search wraps around."""
    rows = page.evaluate(f"""[...document.querySelectorAll(
      '#view-{view} tbody tr')].map(one => [...one.cells].map(cell =>
        cell.textContent.toLowerCase()))""")
    wanted = [i for i, cells in enumerate(rows)
              if any(query in text for text in cells)]
    assert wanted and len(wanted) < len(rows)
    search(page, query)
    page.press("Tab")
    assert page.evaluate(f"""[...document.querySelectorAll(
      '#view-{view} tbody tr')].flatMap((one, i) =>
        one.classList.contains('match') ? [i] : [])""") == wanted
    assert text_of(page, ".search output").split()[0] == str(len(wanted))
    for at in (*wanted, wanted[0]):
        page.press("n")
        assert page.evaluate(f"""[...document.querySelectorAll(
          '#view-{view} tbody tr')].findIndex(one =>
            one.classList.contains('selected'))""") == at


def test_the_rows_of_the_recording_are_searched(opened, changes_page):
    page = opened(changes_page, fragment="#view=facts")
    check_rows_are_searched(page, "facts", "scope")


def test_ranks_open_by_click_and_key_with_their_numbers(opened, ranks_page):
    page = opened(ranks_page, fragment="#view=tree")
    page.click_on("#tab-parts")
    by_click = text_of(page, "#view-parts")
    page.press("2")
    assert state(page, "view") != "parts"
    key = page.evaluate("document.querySelector('#tab-parts').title.at(-1)")
    page.press(key)
    assert state(page, "view") == "parts"
    assert text_of(page, "#view-parts") == by_click
    check_rows_are_searched(page, "parts", "rank 1")
    walls = Document(ranks_page.with_suffix(".json")).parts
    assert len(walls) == 2
    titles = page.evaluate("[...document.querySelectorAll("
                           "'#view-parts td[title]')].map(one => one.title)")
    assert {one["wall_ns"] for one in walls} <= set(map(number, titles))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_ranks_pass_axe(opened, ranks_page, axe, dark):
    page = opened(ranks_page, fragment="#view=parts", dark=dark)
    page.evaluate(axe + ";0")
    # Again with a row that is searched for.
    for query in ("", "rank 1"):
        page.evaluate(f"radio.state.set({{ query: '{query}' }})")
        page.wait_drawn()
        assert state(page, "view") == "parts"
        found = page.evaluate(AXE_RUN)
        assert found["violations"] == []
        assert found["passed"] > 20


def test_threads_busy_of_ranks_are_those_of_one(opened, ranks_page):
    page = opened(ranks_page, fragment="#view=parts")
    merged = Document(ranks_page.with_suffix(".json"))
    cpu = int(page.evaluate("radio.profile.facts.find(({ key }) =>"
                            " key === 'cpu ns').value"))
    info = merged.info
    ran = (info["work_ns"] - info["starved_ns"] if info["starved_ns"]
           else min(info["work_ns"], cpu))
    busy = ran / sum(one["wall_ns"] for one in merged.parts)
    wanted = f"{busy:.2f}"
    assert page.evaluate('''[...document.querySelectorAll('.figure')].find(
      one => one.querySelector('dt').textContent === 'work')
      .querySelector('small').textContent''') == wanted + " threads busy"
    assert page.evaluate('''[...document.querySelectorAll('#static tr')].find(
      one => one.querySelector('th').textContent === 'threads busy')
      .querySelector('td').textContent''') == wanted


# ---------------------------------------------------------------------------
# The address
# ---------------------------------------------------------------------------

def at(page, selector, x, y):
    """Returns a point of an element, by a fraction of its width and pixels
    from its top."""
    box = page.evaluate(f"(b => [b.x, b.y, b.width])(document.querySelector("
                        f"'{selector}').getBoundingClientRect())")
    return box[0] + x * box[2], box[1] + y


def focus(page, selector):
    page.evaluate(f"document.querySelector('{selector}').focus()")


def go_through_diff(page):
    page.click_on(".diff [type=checkbox]")
    page.evaluate("""(field => { field.value = 'new';
      field.dispatchEvent(new Event('change')); })(
      document.querySelector('.diff select'))""")
    return {"normalise": "1", "changes": "new"}


def go_through_timeline(page):
    page.mouse("mouseWheel", *at(page, ".timeline canvas", 0.3, 60),
               deltaX=0, deltaY=-400)
    wait_for_address(page)
    begin, end = map(int, state(page, "seen").split("-"))
    # Most of the visible time is of this operation of the first lane.
    span, low, high = page.evaluate(f"""(profile => {{
      const {{ begin, duration, lane }} = profile.spans;
      return [...begin.keys()]
        .filter(i => lane[i] === 0 && profile.parentOf(i) < 0)
        .map(i => [i, Math.max({begin}, begin[i]),
                   Math.min({end}, begin[i] + duration[i])])
        .reduce((a, b) => b[2] - b[1] > a[2] - a[1] ? b : a);
    }})(radio.profile)""")
    middle = (low + high) / 2
    x, y = at(page, ".timeline canvas", 0,
              TIMELINE_AXIS_PX + TIMELINE_GAP_PX + TIMELINE_ROW_PX / 2)
    right, _ = at(page, ".timeline canvas", 1, 0)
    left = x + TIMELINE_GUTTER_PX
    page.click(left + (middle - begin) / (end - begin) * (right - left), y)
    assert state(page, "span") == span
    page.press("c")
    return {"critical": "1"}


def go_through_icicle(page):
    page.click(*at(page, "#view-icicle canvas", 0.2, 39))
    page.press("i")
    page.press("u")
    page.press("u")
    focus(page, "#view-icicle canvas")
    page.press("ArrowUp")
    page.press("Enter")
    assert state(page, "zoom") > 0
    return {"flip": "1", "up": ""}


def go_through_table(page, view):
    page.click_on(f"#view-{view} th:nth-child(3) button")
    page.evaluate(f"document.querySelector('#view-{view} [tabindex=\"0\"]')"
                  ".focus()")
    page.press("ArrowDown")
    assert text_of(page, f"#view-{view} .selected bdi") \
        == text_of(page, "aside h2 bdi")


def go_through_tree(page):
    go_through_table(page, "tree")
    return {"sort": "share"}


def go_through_bottomup(page):
    go_through_table(page, "bottomup")
    return {"sort": "share"}


def go_through_sandwich(page):
    focus(page, ".sandwich canvas")
    page.press("ArrowDown")
    page.press("Enter")
    assert "of work" in text_of(page, "#view-sandwich .tools")
    return {}


def go_through_functions(page):
    page.click_on("#view-functions th:nth-last-child(3) button")
    page.click_on("#view-functions tbody tr:nth-child(2)")
    return {"order": "p90"}


def go_through_tiles(page):
    page.evaluate("""(field => { field.value = 'bytes';
      field.value ||= field.options[1].value;
      field.dispatchEvent(new Event('change')); })(
      document.querySelector('.tile-controls select'))""")
    page.click_on(".tiles .parts tbody tr:nth-child(2) button")
    assert state(page, "tile") >= 0
    assert state(page, "tilesby") != "count"
    return {}


def go_through_runs(page):
    page.click_on(".runs-view tbody tr:nth-child(2) button")
    return {"range": state(page, "range")}


def go_through_facts(page):
    # A disabled control does not react to its key either.
    assert page.evaluate("document.querySelector('.choice select').disabled")
    page.press("m")
    assert state(page, "metric") == "work"
    search(page, "scope")
    return {"query": "scope"}


def shown(page):
    """Returns everything visible that the address records."""
    # A row below the pointer looks different, once the pointer has moved.
    page.mouse("mouseMoved", 0, 0)
    page.wait("radio.state.pending === null")
    page.wait_drawn()
    page.wait_drawn()
    picture = re.sub(r"c\d+\b(?=[\")])", "c", page.evaluate("radio.picture()"))
    return (page.evaluate("location.hash"), picture,
            *(page.evaluate(f"document.querySelector('{selector}').innerText")
              for selector in ("aside", ".chips", ".search output")),
            page.evaluate("document.querySelector('.choice select').value"))


def test_a_key_that_is_held_down_ends_in_the_address(opened, changes_page):
    # Browsers warn at more than 200 changes of it in 10 seconds.
    page = opened(changes_page, fragment="#view=timeline&span=0")
    focus(page, ".timeline canvas")
    for _ in range(150):
        page.press(".")
        page.press(",")
    page.press(".")
    assert state(page, "span") == 1
    page.wait("location.hash.includes('span=1')")


def assert_same(now, before):
    """Compares part by part, since a difference of pictures is long."""
    for one, other in zip(now, before):
        for line, wanted in zip(one.split("\n"), other.split("\n")):
            assert line == wanted
    assert now == before


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_s_state_survives_reload_link_and_back(opened, changes_page,
                                                      view):
    other = "facts" if view != "facts" else "tree"
    page = opened(changes_page, fragment=f"#view={other}")
    choose_metric(page, "work")
    page.click_on("#tab-" + view)
    page.wait_drawn()
    changed = globals()["go_through_" + view](page)
    for key, value in changed.items():
        assert state(page, key) == value
    before = shown(page)
    assert state(page, "view") == view
    reload(page)
    assert_same(shown(page), before)
    page.click_on("#tab-" + other)
    assert shown(page)[1] != before[1]
    page.back()
    page.wait(f"radio.state.get('view') === '{view}'")
    assert_same(shown(page), before)
    assert_same(shown(opened(changes_page, fragment=before[0])), before)


@pytest.mark.parametrize("view", ["tree", "bottomup"])
def test_rows_that_were_opened_by_hand_are_in_the_address(
        opened, changes_page, view):
    page = opened(changes_page, fragment=f"#view={view}")
    shown_rows = f"""[...document.querySelectorAll(
      '#view-{view} tr[data-node]')].map(one => one.dataset.node)"""
    before = page.evaluate(shown_rows)
    page.evaluate(f"""[...document.querySelectorAll(
      '#view-{view} tr[aria-expanded] .marker')].at(-1).click()""")
    after = page.evaluate(shown_rows)
    assert after != before
    page.wait("radio.state.pending === null")
    reload(page)
    assert page.evaluate(shown_rows) == after
    page.evaluate("radio.state.set({ transforms: 'h1' })")


@pytest.mark.parametrize("view", ["tree", "bottomup"])
def test_rows_that_were_opened_together_are_in_the_address(
        opened, read_page, view):
    # A recording may have no two rows beside each other that open.
    page = opened(read_page, fragment=f"#view={view}")
    # Chooses the row with the most siblings and something below.
    beside = page.evaluate(f"""(rows => {{
      const groups = new Map();
      rows.forEach((row, i) => {{
        const above = rows.slice(0, i).findLast(one =>
          Number(one.ariaLevel) < Number(row.ariaLevel));
        groups.set(above, [...groups.get(above) ?? [],
                           ...row.ariaExpanded ? [row.dataset.node] : []]);
      }});
      return [...groups.values()].reduce((a, b) =>
        b.length > a.length ? b : a);
    }})([...document.querySelectorAll('#view-{view} tr[data-node]')])""")
    assert len(beside) > 1
    for node in beside:
        page.evaluate(f"""(row => row.ariaExpanded === 'true'
          && row.querySelector('.marker').click())(
          document.querySelector('#view-{view} [data-node="{node}"]'))""")
    focus(page, f'#view-{view} [data-node="{beside[0]}"]')
    expanded = f"""[...document.querySelectorAll(
      '#view-{view} tr[aria-expanded=true]')].map(one => one.dataset.node)"""
    before = page.evaluate(expanded)
    page.press("*")
    after = page.evaluate(expanded)
    assert set(beside) <= set(after) - set(before)
    page.wait("radio.state.pending === null")
    reload(page)
    assert page.evaluate(expanded) == after


def test_a_selected_caller_stays_selected_after_a_reload(opened, changes_page):
    page = opened(changes_page, fragment="#view=bottomup")
    selected = """(row => [row.ariaLevel, row.dataset.node])(
      document.querySelector('#view-bottomup .selected'))"""
    page.evaluate("document.querySelector('#view-bottomup [tabindex=\"0\"]')"
                  ".focus()")
    page.press("Home")
    # An operation has no callers, and may have most self time.
    while page.evaluate("document.activeElement.ariaExpanded") is None:
        row = page.evaluate(selected)
        page.press("ArrowDown")
        assert page.evaluate(selected) != row
    for key in ("ArrowRight", "ArrowRight"):
        page.press(key)
    before = page.evaluate(selected)
    assert before[0] == "2"
    page.wait("radio.state.pending === null")
    reload(page)
    assert page.evaluate(selected) == before
    # The same tree as a picture.
    page.press("3")
    page.wait("radio.state.get('view') === 'icicle'")
    page.press("u")
    focus(page, "#view-icicle canvas")
    page.press("ArrowDown")
    before = shown(page)
    reload(page)
    assert_same(shown(page), before)


# ---------------------------------------------------------------------------
# From match to match
# ---------------------------------------------------------------------------

MATCHES = re.compile("tiles|place")


def check_selected(page, view):
    """Checks that the details, and the view's own mark if any, show a
    match."""
    name = text_of(page, "aside h2 bdi")
    assert MATCHES.search(name)
    if view in ("tree", "bottomup", "functions"):
        assert text_of(page, f"#view-{view} .selected bdi") == name
        assert page.evaluate(f"""((row, box) => row.bottom > box.top
          && row.top < box.bottom)(...['.selected', '.scroll'].map(one =>
            document.querySelector('#view-{view} ' + one)
              .getBoundingClientRect()))""")
    elif view == "sandwich":
        assert text_of(page, "#view-sandwich b") == name


def test_n_goes_to_each_match_in_changes_too(opened, changes_page, document):
    page = opened(changes_page, fragment="#view=diff")
    paths = {path: is_there for path, name, is_there in page.evaluate("""
      [...document.querySelectorAll('.diff tr[data-path]')].map(row =>
        [Number(row.dataset.path), row.querySelector('bdi').textContent,
         row.querySelectorAll('td')[1].title !== ''])""")
             if MATCHES.search(name)}
    search(page, f"/{MATCHES.pattern}/")
    page.press("Tab")
    seen, nodes = set(), set()
    for _ in paths:
        page.press("n")
        seen.add(state(page, "path"))
        assert MATCHES.search(text_of(page, ".diff tr.selected bdi"))
        # Some paths were removed and have no node.
        if paths[state(page, "path")]:
            check_selected(page, "diff")
            nodes.add(state(page, "node"))
    assert seen == set(paths)
    # A path is that of all threads, and selects the first of its nodes.
    parents = document.raw["nodes"]["parent"]

    def path_of(i):
        edge = document.nodes[i]["edge"]
        own = document.nodes[i]["name"], edge if edge > 1 else 0
        return own if parents[i] < 0 else (path_of(parents[i]), own)

    matches = [i for i, node in enumerate(document.nodes)
               if MATCHES.search(node["name"])]
    assert nodes <= set(matches)
    assert {path_of(i) for i in nodes} == {path_of(i) for i in matches}


@pytest.mark.parametrize("view", [
    one for one in VIEWS if one not in ("diff", "timeline", "tiles", "facts")])
def test_n_goes_from_match_to_match_in_every_view(opened, changes_page,
                                                  document, view):
    page = opened(changes_page, fragment=f"#view={view}")
    search(page, f"/{MATCHES.pattern}/")
    page.press("Tab")
    nodes = {i: expected.site(document, i)
             for i, node in enumerate(document.nodes)
             if MATCHES.search(node["name"])}
    # Functions has one row for all scopes of a name and category.
    wanted = set(nodes.values()) if view == "functions" else set(nodes)
    seen = []
    for _ in wanted:
        page.press("n")
        seen.append(state(page, "node"))
        check_selected(page, view)
    assert len(set(seen)) == len(wanted) > 1
    assert wanted == {nodes[node] if view == "functions" else node
                      for node in seen}
    page.press("n")
    assert state(page, "node") == seen[0]
    for node in reversed(seen):
        page.press("N", shift=True)
        assert state(page, "node") == node
    assert state(page, "view") == view


def test_enter_and_the_arrows_go_from_match_to_match(opened, changes_page):
    page = opened(changes_page, fragment="#view=tree")
    # Those of the calling thread, and those of workers.
    search(page, "tiles")
    page.press("Enter")
    first = state(page, "node")
    page.press("Enter")
    second = state(page, "node")
    assert first != second
    page.press("Enter", shift=True)
    assert state(page, "node") == first
    page.click_on("[aria-label='Next match']")
    assert state(page, "node") == second
    page.click_on("[aria-label='Match before']")
    assert state(page, "node") == first


@pytest.mark.parametrize("view", ["tree", "bottomup"])
def test_a_link_with_a_search_has_its_matches_in_the_table(
        opened, changes_page, document, view):
    names = {node["name"] for node in document.nodes}
    lightest = min(names, key=lambda name: sum(
        node["total_ns"] for node in document.nodes if node["name"] == name))
    for name in (lightest, "place"):
        page = opened(changes_page, fragment=f"#view={view}&query="
                      + name.replace(" ", "+"))
        matches = page.evaluate(f"[...document.querySelectorAll('#view-{view}"
                                " .match bdi')].map(one => one.textContent)")
        count = int(text_of(page, "output").split()[0])
        assert matches and all(name in one for one in matches)
        if view == "tree":
            assert len(matches) == count


def test_n_goes_through_the_json_s_spans_on_the_timeline(
        opened, changes_page, document):
    page = opened(changes_page, fragment="#view=timeline")
    search(page, f"/{MATCHES.pattern}/")
    page.press("Tab")
    begins = sorted(span.begin for span in document.spans
                    if MATCHES.search(document.name(span.node)))
    # One for each tile that the boxes overlap, and more.
    assert len(begins) > 25
    seen = []
    for _ in begins[:25]:
        page.press("n")
        seen.append(page.evaluate("radio.profile.spans.begin["
                                  "radio.state.get('span')]"))
        check_selected(page, "timeline")
    assert seen == begins[:25]
    for begin in reversed(begins[:24]):
        page.press("N", shift=True)
        assert page.evaluate("radio.profile.spans.begin["
                             "radio.state.get('span')]") == begin


def test_n_stays_in_the_narrowed_timeline(opened, changes_page, document):
    spans = sorted((span for span in document.spans
                    if document.name(span.node) in ("read", "tiles",
                                                    "place")),
                   key=lambda span: (span.begin, -span.duration))
    # The busiest worker, which the calling thread's reads outlast, from a
    # third of its spans to two thirds.
    lanes = collections.Counter(
        span.lane for span in spans
        if document.lanes[span.lane]["name"] != "main")
    lane, n = lanes.most_common(1)[0]
    begins = [span.begin for span in spans if span.lane == lane]
    begin, end = begins[n // 3], begins[2 * n // 3]
    inside = [span for span in spans if expected.is_within(span, begin, end)]
    wanted = [span.begin for span in inside if span.lane == lane]
    assert 1 < len(wanted) < min(n, len(inside))
    page = opened(changes_page, fragment="#view=timeline"
                  f"&range={begin}-{end}&lanes={lane}")
    search(page, "/^(read|tiles|place)$/")
    page.press("Tab")
    for begin in (*wanted, wanted[0]):
        page.press("n")
        assert page.evaluate("radio.profile.spans.begin["
                             "radio.state.get('span')]") == begin


# ---------------------------------------------------------------------------
# Elsewhere: links, texts, pictures
# ---------------------------------------------------------------------------

def pasted(page):
    """Returns the clipboard's text, as pasted into a field."""
    page.evaluate("""(field => { field.className = 'pasted';
      document.body.append(field); field.focus(); })(
      document.createElement('textarea')), 0""")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="v", modifiers=2,
              commands=["paste"])
    text = page.evaluate("document.querySelector('.pasted').value")
    page.evaluate("document.querySelector('.pasted').remove()")
    return text


def press_by_text(page, text):
    """Clicks on the button with this text."""
    page.evaluate(f"""[...document.querySelectorAll('#app button')].find(one =>
      one.textContent === '{text}').dataset.wanted = ''""")
    page.click_on("[data-wanted]")
    page.evaluate("delete document.querySelector('[data-wanted]')"
                  ".dataset.wanted")


@pytest.mark.parametrize("view", VIEWS)
def test_a_copied_link_opens_the_same_view(opened, changes_page, view):
    page = opened(changes_page,
                  fragment=f"#view={view}&query=tiles&metric=calls")
    before = shown(page)
    hold_labels(page)
    press_by_text(page, "Copy link")
    page.wait("[...document.querySelectorAll('.share button')].some(one =>"
              " one.textContent === 'Copied')")
    link = pasted(page)
    assert link.startswith(f"file://{changes_page}#")
    assert_same(shown(opened(changes_page,
                             fragment=link[link.index("#"):])), before)


def rows_of_stack(document, path):
    """Returns name, total, self and calls from the root down to a path."""
    tree = expected.whole(document)
    return [(path[depth - 1][0].name,
             expected.time_text(tree.columns["total"][path[:depth]]),
             expected.time_text(tree.columns["self"][path[:depth]]),
             expected.count_text(tree.columns["calls"][path[:depth]]))
            for depth in range(1, len(path) + 1)]


@pytest.mark.parametrize("view", ["timeline", "tree", "diff"])
def test_a_copied_stack_has_the_json_s_numbers(opened, changes_page,
                                               document, view):
    deepest = max(range(len(document.nodes)),
                  key=lambda i: len(document.stack(i)))
    path = expected.path_of(document, deepest)
    page = opened(changes_page, fragment=f"#view={view}&node={deepest}")
    hold_labels(page)
    press_by_text(page, "Copy stack")
    page.wait("document.querySelector('aside').innerText.includes('Copied')")
    assert pasted(page) == "".join(
        f"{'  ' * depth}{name}  {total}, {calls} call"
        f"{'s' * (calls != '1')}\n"
        for depth, (name, total, _, calls)
        in enumerate(rows_of_stack(document, path)))
    press_by_text(page, "Copy as Markdown")
    page.wait("document.querySelector('aside').innerText.match(/Copied/g)"
              "?.length === 2 || [...document.querySelectorAll('.deeds button"
              "')].at(-1).textContent === 'Copied'")
    assert pasted(page).split("\n") == [
        "| scope | total | self | calls |", "|:--|--:|--:|--:|",
        *(f"| {chr(0xa0) * 2 * depth}{name} | {total} | {own} | {calls} |"
          for depth, (name, total, own, calls)
          in enumerate(rows_of_stack(document, path))), ""]


def saved(page, folder, kind, view):
    """Returns the file that the button saves, once it exists."""
    file = folder / f"roi-60-x-60-x-60-{view}.{kind.lower()}"
    press_by_text(page, "Save " + kind)
    deadline = time.monotonic() + 240
    while not file.exists() or file.stat().st_size == 0:
        assert time.monotonic() < deadline, \
            f"{file} is not there, but {list(folder.iterdir())}"
        time.sleep(0.02)
    return file.read_bytes()


def png_size(data):
    """Returns the size of a PNG; checks its chunks, and that its pixels
    inflate to that size."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    offset, kinds, packed = 8, [], b""
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset:offset + 8])
        body = data[offset + 8:offset + 8 + length]
        check, = struct.unpack(">I", data[offset + 8 + length:][:4])
        assert check == zlib.crc32(kind + body)
        packed += body if kind == b"IDAT" else b""
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        kinds.append(kind)
        offset += 12 + length
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND" and depth == 8
    channels = {2: 3, 6: 4}[colour]
    assert len(zlib.decompress(packed)) == height * (1 + width * channels)
    return width, height


COMPARE = """(async (png, svg) => {
  const pixels = async (url, width, height) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width ?? image.naturalWidth;
    canvas.height = height ?? image.naturalHeight;
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  };
  const a = await pixels(png);
  const b = await pixels(svg, a.width, a.height);
  const colours = new Set(new Uint32Array(a.data.buffer));
  let differing = 0;
  for (let i = 0; i < a.data.length; i += 4)
    if ([0, 1, 2].some((k) => Math.abs(a.data[i + k] - b.data[i + k]) > 24))
      differing++;
  return { colours: colours.size, differing: differing * 4 / a.data.length };
})(%s, %s)"""


@pytest.fixture
def blank(browser, tmp_path):
    """Opens a page without a policy, which may show pictures."""
    path = tmp_path / "blank.html"
    path.write_text("<!DOCTYPE html><title>blank</title>")
    pages = []

    def go():
        pages.append(browser.open(path))
        return pages[-1]

    yield go
    for page in pages:
        page.close()


@pytest.mark.parametrize("view", VIEWS)
def test_saved_pictures_show_the_view_s_numbers(
        opened, browser, blank, changes_page, document, tmp_path, view):
    folder = tmp_path / "saved"
    folder.mkdir()
    browser.call("Browser.setDownloadBehavior", behavior="allow",
                 downloadPath=str(folder))
    page = opened(changes_page, fragment=f"#view={view}")
    page.wait_drawn()
    svg = saved(page, folder, "SVG", view)
    texts = texts_of(svg)
    for text in [document.info["title"], *evidence(document, view)]:
        assert text in texts
    assert not re.search(r"NaN|undefined|Infinity|<script|href=\"(?!data)",
                         re.sub("base64,[^\"]*", "", svg.decode()))
    root = ElementTree.fromstring(svg)
    size = float(root.get("width")), float(root.get("height"))
    png = saved(page, folder, "PNG", view)
    assert png_size(png) == pytest.approx([2 * one for one in size], abs=1)
    urls = [f"'data:image/{kind};base64,{base64.b64encode(data).decode()}'"
            for kind, data in (("png", png), ("svg+xml", svg))]
    compared = blank().evaluate(COMPARE % tuple(urls))
    assert compared["colours"] > 10
    assert compared["differing"] < 0.001
