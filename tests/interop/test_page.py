# SPDX-License-Identifier: MIT
"""Opens the page in a real browser, with its network off, and compares what it
shows with the profile's data, by mouse, by keyboard, and for screen
readers."""

import base64
import json
import re

import pytest

from frame_work import movements, quantile, show, traced, work_of_frames
from many_spans import many_spans
from conftest import run_radio
from pages import (browser, drawn_text, local_read, made_read, number,
                   open_all, opened, read_document, read_page, recording,
                   reload, rows, search, state, text_of, wait_for_address,
                   write_page)
from profile_document import ProfileDocument

# Fixtures that tests import by name.
__all__ = ["browser", "local_read", "opened", "read_document", "read_page",
           "recording"]

VIEWS = ("timeline", "icicle", "tree", "bottomup", "sandwich", "functions",
         "facts")
HOSTILE = ("</script><script>window.hacked=1</script>",
           "<img src=x onerror=window.hacked=2>", "\"'`&amp;<b>",
           "\u202egpj.exe", "\u05e9\u05dc\u05d5\u05dd", "a\u0001b", "",
           "{{7*7}}", "__proto__", "\U0001f9e0" * 40, "x" * 3000)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_opens_without_errors(opened, read_page, view, dark):
    page = opened(read_page, fragment=f"#view={view}", dark=dark)
    page.wait_drawn()
    shown = page.evaluate("""[...document.querySelectorAll(
      '[role=tabpanel]')].filter(one => !one.hidden).map(one => one.id)""")
    assert shown == [f"view-{view}"]
    assert page.evaluate("getComputedStyle(document.documentElement)"
                         ".colorScheme") == ("dark" if dark else "light")


def test_a_second_writer_s_profile_is_decoded_exactly(opened, read_document,
                                                      read_page):
    page = opened(read_page)
    got = page.evaluate("""(spans => ['id', 'begin', 'duration', 'submitted',
      'wait', 'parent', 'node', 'bytes', 'lane'].map(name =>
        Array.from(spans[name])))(radio.profile.spans)""")
    expected = [[i + 1, s["begin"], s["duration"], s["begin"] - s["queue"],
                 s["wait"], 0 if s["parent"] is None else s["parent"] + 1,
                 s["node"], s["nbytes"], s["lane"]]
                for i, s in enumerate(read_document.spans)]
    by_id = sorted(zip(*got))
    assert [list(one) for one in by_id] == sorted(expected)


def test_an_uncompressed_block_shows_the_same(opened, tmp_path, read_page):
    plain = write_page(made_read(), tmp_path, encoding="none")
    assert rows(opened(plain)) == rows(opened(read_page))


def test_the_tree_shows_the_profile_s_numbers(opened, read_document,
                                              read_page):
    page = opened(read_page)
    open_all(page)
    shown = rows(page)
    nodes = read_document.nodes
    assert len(shown) == len(nodes)
    for i, node in enumerate(nodes):
        row = shown[str(i)]
        assert row["name"] == node["name"]
        assert number(row["total"][1]) == node["total_ns"]
        assert number(row["self"][1]) == node["self_ns"]
        assert number(row["calls"][0]) == node["calls"]
        below = [k for k in range(len(nodes)) if is_below(nodes, k, i)]
        assert number(row["work"][1]) == sum(nodes[k]["work_ns"]
                                             for k in below)
        assert number(row["wait"][1]) == sum(nodes[k]["wait_ns"]
                                             for k in below)
        assert row["level"] == str(depth(nodes, i) + 1)


def depth(nodes, node):
    return 0 if nodes[node]["parent"] < 0 else \
        1 + depth(nodes, nodes[node]["parent"])


def is_below(nodes, node, top):
    while node >= 0:
        if node == top:
            return True
        node = nodes[node]["parent"]
    return False


def test_bytes_and_rates_follow_from_counters(opened, read_document,
                                              read_page):
    page = opened(read_page)
    open_all(page)
    shown = rows(page)
    decode = next(i for i, n in enumerate(read_document.nodes)
                  if n["name"] == "decode")
    nbytes = read_document.values[decode, read_document.counters.index(
        ("bytes decoded", "bytes"))]
    total = read_document.nodes[decode]["total_ns"]
    assert number(shown[str(decode)]["bytes"][1].split(":")[1]) == nbytes
    assert shown[str(decode)]["bytes"][1].startswith("bytes decoded")
    rate = float(shown[str(decode)]["rate"][0])
    assert rate == pytest.approx(nbytes * 1e3 / total, rel=0.006)
    assert shown["0"]["bytes"][1].startswith("bytes delivered")


def test_the_summary_shows_the_profile_s_figures(opened, read_document,
                                                 read_page):
    page = opened(read_page)
    info = read_document.whole()
    titles = dict(page.evaluate("""
      [...document.querySelectorAll('.figure')].map(one =>
        [one.querySelector('dt').textContent, one.title])"""))
    assert number(titles["wall"]) == info["wall_ns"]
    assert number(titles["work"]) == info["work_ns"]
    assert number(titles["wait"]) == info["wait_ns"]
    assert number(titles["bytes delivered"]) == 3 * 1_048_576
    assert "12 of " in page.evaluate(
        "document.querySelector('.findings').textContent")


@pytest.mark.parametrize("cpu_ns", [None, 41_000_000, 999_000_000])
def test_both_summaries_count_threads_busy_alike(opened, tmp_path, cpu_ns):
    made = made_read()
    if cpu_ns:
        made.facts.append(("cpu ns", str(cpu_ns), 0))
    page = opened(write_page(made, tmp_path))
    info = made.whole()
    busy = min(info["work_ns"], cpu_ns or info["work_ns"]) / info["wall_ns"]
    assert page.evaluate("""[...document.querySelectorAll('.figure')].find(
      one => one.querySelector('dt').textContent === 'work')
      .querySelector('small').textContent""") == f"{busy:.2f} threads busy"
    assert page.evaluate("""[...document.querySelectorAll('#static tr')].find(
      one => one.querySelector('th').textContent === 'threads busy')
      .querySelector('td').textContent""") == f"{busy:.2f}"


def test_the_heaviest_siblings_come_first_by_any_column(opened, read_page):
    page = opened(read_page)
    for column in ("total", "self", "work", "calls", "mean"):
        page.evaluate(f"radio.state.set({{ sort: '{column}' }})")
        values = page.evaluate("""
          (({ total, self, treeWork: work, calls }) =>
            [...document.querySelectorAll('[aria-level="2"]')].map(row =>
              ({ total, self, work, calls, mean: total.map((ns, i) =>
                ns / calls[i]) })[radio.state.get('sort')][row.dataset.node])
          )(radio.profile)""")
        assert len(values) > 2
        assert values == sorted(values, reverse=True)
        assert page.evaluate("""document.querySelector(
          '[aria-sort=descending]').textContent""").startswith(column)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    made = ProfileDocument(HOSTILE[0])
    lane = made.lane(HOSTILE[1])
    parent = None
    for i, name in enumerate(HOSTILE):
        parent = made.span(lane, name, name, i, 1000 - 2 * i, parent,
                           counters={name or "x": 5})
    made.facts = [(name or "k", name, 1) for name in HOSTILE]
    made.notes = [(1, 0, name, name, 0) for name in HOSTILE]
    made.notes += [(0, 0, name, name, 1) for name in HOSTILE]
    made.gauges = [(HOSTILE[1], "count")]
    made.samples = [(1, 0, 1)]
    return write_page(made, tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_names_are_text_everywhere(opened, hostile_page, view):
    page = opened(hostile_page, fragment=f"#view={view}&span=0&node=0")
    page.wait_drawn()
    for selector in ("#view-tree [data-node='1']", ".timeline canvas"):
        if page.evaluate(f"Boolean(document.querySelector({selector!r}))"):
            page.mouse("mouseMoved", *page.middle(selector))
    assert page.evaluate("window.hacked === undefined")
    assert page.evaluate("document.images.length") == 0
    # The two packed scripts, their loader, and the data.
    assert page.evaluate("document.scripts.length") == 4
    assert page.evaluate("document.querySelector('h1').textContent") \
        == HOSTILE[0]


def test_hostile_names_are_shown_as_they_are(opened, hostile_page):
    page = opened(hostile_page)
    open_all(page)
    shown = [row["name"] for row in rows(page).values()]
    assert shown == [(name or "(no name)").replace("\1", "\ufffd")
                     for name in HOSTILE]


def test_without_a_script_the_summary_can_be_read(opened, read_page,
                                                  read_document):
    page = opened(read_page, script=False)
    text = page.call("DOM.getDocument")["root"]["nodeId"]
    main = page.call("DOM.querySelector", nodeId=text, selector="#static")
    html = page.call("DOM.getOuterHTML", nodeId=main["nodeId"])["outerHTML"]
    box = page.call("DOM.getBoxModel", nodeId=main["nodeId"])["model"]
    assert box["height"] > 200
    for node in read_document.nodes:
        assert f"<bdi>{node['name']}</bdi>" in html
    assert "blosc lz4" in html and "radio slice ct/sub-01" in html


def shown_in_print(page, selector):
    """Returns the visibility of an element, and its width."""
    return page.evaluate(f"""(one => one?.checkVisibility()
      ? Math.max(one.scrollWidth, one.getBoundingClientRect().width) : 0)(
        document.querySelector({json.dumps(selector)}))""")


@pytest.mark.parametrize("view", VIEWS)
def test_in_print_the_view_follows_the_summary(opened, read_page, view):
    # The width of A4 without margins.
    page = opened(read_page, fragment=f"#view={view}&theme=dark", width=718)
    page.wait_drawn()
    assert shown_in_print(page, "#static") == 0
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint')), 0")
    for selector in ("#static", f"#tab-{view}", f"#view-{view}"):
        assert 0 < shown_in_print(page, selector) <= 718, selector
    other = "#tab-tree" if view == "facts" else "#tab-facts"
    for selector in ("#static .facts", ".search", "#app aside", other,
                     "#app header", f"#view-{view} canvas"):
        assert bool(shown_in_print(page, selector)) \
            == selector.startswith("#static"), selector
    assert page.evaluate("getComputedStyle(document.body).color") \
        == "rgb(26, 32, 39)"
    table = f"#view-{view} table"
    if page.evaluate(f"document.querySelector('{table}') !== null"):
        assert 150 < shown_in_print(page, table) <= 718
    else:
        assert shown_in_print(page, ".paper") > 600
        assert "read plane" in page.evaluate(
            "document.querySelector('.paper').textContent")
    assert page.evaluate("document.querySelector('#static')"
                         ".getBoundingClientRect().bottom <= document"
                         ".querySelector('#app').getBoundingClientRect().top")
    # Printing fires the events of its begin and end again.
    pdf = base64.b64decode(page.call("Page.printToPDF", paperWidth=8.27,
                                     paperHeight=11.69)["data"])
    assert pdf.startswith(b"%PDF") and len(re.findall(
        rb"/Type\s*/Page\b", pdf)) >= 2
    page.evaluate("dispatchEvent(new Event('afterprint')), 0")
    assert page.evaluate("document.querySelector('.paper')") is None
    assert state(page, "theme") == "dark"
    assert "theme=dark" in page.evaluate("location.hash")


def test_the_tree_works_by_keyboard(opened, read_page):
    page = opened(read_page)
    focused = "document.activeElement.dataset.node"
    page.evaluate("document.querySelector('.tree [tabindex=\"0\"]').focus()")
    assert page.evaluate(focused) == "0"
    page.press("ArrowLeft")
    assert len(rows(page)) == 1
    page.press("ArrowRight")
    first = [node for node, row in rows(page).items() if row["level"] == "2"]
    page.press("ArrowRight")
    assert page.evaluate(focused) == first[0]
    page.press("ArrowDown")
    page.press("ArrowUp")
    assert page.evaluate(focused) == first[0]
    page.press("Enter")
    expanded = page.evaluate(
        "document.activeElement.getAttribute('aria-expanded')")
    page.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute("
                         "'aria-expanded')") != expanded
    page.press("End")
    assert page.evaluate(focused) == list(rows(page))[-1]
    page.press("Home")
    assert page.evaluate(focused) == "0"
    assert state(page, "node") == 0


def test_tabs_and_views_work_by_keyboard(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    page.evaluate("document.querySelector('#tab-icicle').focus()")
    page.press("ArrowRight")
    assert state(page, "view") == "tree"
    assert page.evaluate("document.activeElement.id") == "tab-tree"
    page.press("1")
    assert state(page, "view") == "timeline"
    page.press("/")
    page.type("decode")
    assert state(page, "query") == "decode"
    assert state(page, "view") == "timeline"


def test_everything_can_be_reached_by_tab(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    seen = set()
    for _ in range(60):
        page.press("Tab")
        seen.add(page.evaluate(
            "document.activeElement.tagName + ' ' + "
            "(document.activeElement.id || document.activeElement.className "
            "|| document.activeElement.type)"))
    assert {"BUTTON tab-icicle", "INPUT search"} <= seen
    assert any(one.startswith("CANVAS") for one in seen)
    assert any(one.startswith("SELECT") for one in seen)


def icicle_box(page):
    """Returns left, top and width of the icicle in the window."""
    return page.evaluate("""(at => [at.x, at.y, at.width])(document
      .querySelector('.icicle canvas').getBoundingClientRect())""")


def test_the_icicle_zooms_by_click_and_back_by_escape(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    page.wait_drawn()
    x, y, width = icicle_box(page)
    page.click(x + 10, y + 26 + 13)
    inner = state(page, "zoom")
    assert page.evaluate(f"radio.profile.tree.depths[{inner}]") == 1
    heaviest = page.evaluate("radio.profile.tree.sorted(0, "
                             "radio.profile.total)[0]")
    assert inner == heaviest
    assert f"zoom={inner}" in page.evaluate("location.hash")
    page.evaluate("document.querySelector('.icicle canvas').focus()")
    page.press("Escape")
    assert state(page, "zoom") == 0
    page.press("Escape")
    assert state(page, "zoom") == -1


def test_the_icicle_works_by_keyboard(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    page.evaluate("document.querySelector('.icicle canvas').focus()")
    page.press("ArrowDown")
    children = page.evaluate("radio.profile.tree.sorted(0, "
                             "radio.profile.total)")
    assert state(page, "node") == children[0]
    page.press("ArrowRight")
    assert state(page, "node") == children[1]
    page.press("Enter")
    assert state(page, "zoom") == children[1]
    page.press("ArrowUp")
    assert state(page, "node") == 0


def test_a_tooltip_describes_the_box_under_the_pointer(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    page.wait_drawn()
    x, y, width = icicle_box(page)
    page.mouse("mouseMoved", x + width / 2, y + 13)
    text = page.evaluate("document.querySelector('.tooltip').innerText")
    assert text.startswith("read plane")
    assert "54.0" in text and "bytes delivered" in text
    page.mouse("mouseMoved", x + width / 2, y - 60)
    assert page.evaluate("document.querySelector('.tooltip').hidden")


def test_back_and_reload_keep_what_was_shown(opened, read_page):
    page = opened(read_page)
    page.click_on("#tab-icicle")
    page.evaluate("radio.state.set({ metric: 'work', query: 'decode' })")
    page.click_on("#tab-timeline")
    page.evaluate("history.back()")
    page.wait("radio.state.get('view') === 'icicle'")
    assert state(page, "query") == "decode"
    reload(page)
    assert state(page, "view") == "icicle"
    assert state(page, "metric") == "work"
    assert page.evaluate("document.querySelector('select').value") == "work"
    assert page.evaluate("document.querySelector('input').value") == "decode"


def test_the_share_matched_is_a_union(opened, read_document, read_page):
    page = opened(read_page)
    page.evaluate("radio.state.set({ metric: 'work' })")
    nodes = read_document.nodes
    whole = sum(n["work_ns"] for n in nodes)
    for query, names in (("decode", {"decode"}), ("o", None),
                         ("/^(decode|blosc lz4)$/", {"decode", "blosc lz4"}),
                         ("nothing", set())):
        page.evaluate(f"radio.state.set({{ query: {json.dumps(query)} }})")
        hit = [i for i, n in enumerate(nodes)
               if (n["name"] in names if names is not None
                   else "o" in n["name"])]
        under = {k for k in range(len(nodes)) for i in hit
                 if is_below(nodes, k, i)}
        share = 100 * sum(nodes[k]["work_ns"] for k in under) / whole
        answer = page.evaluate("document.querySelector('output').value")
        if hit:
            assert answer.startswith(f"{len(hit)} match")
            found = float(re.search(r"([\d.]+)\s*%", answer)[1])
            assert found == pytest.approx(share, abs=0.051)
        else:
            assert answer == "no match"


def test_n_goes_from_match_to_match(opened, read_document, read_page):
    page = opened(read_page)
    page.evaluate("radio.state.set({ query: 'decode' })")
    page.evaluate("document.activeElement.blur()")
    matches = {i for i, n in enumerate(read_document.nodes)
               if n["name"] == "decode"}
    seen = []
    for _ in range(len(matches)):
        page.press("n")
        seen.append(state(page, "node"))
    assert set(seen) == matches
    page.press("n")
    assert state(page, "node") == seen[0]
    page.press("N", shift=True)
    assert state(page, "node") == seen[-1]
    assert page.evaluate("document.querySelector('tr.selected bdi')"
                         ".textContent") == "decode"


def test_an_invalid_expression_is_reported(opened, read_page):
    page = opened(read_page)
    page.evaluate("radio.state.set({ query: '/(/' })")
    assert page.evaluate("document.querySelector('output').value") \
        == "not a regular expression"
    assert page.evaluate("document.querySelector('input').ariaInvalid") \
        == "true"


def seen_text(page):
    return [text for text, _ in drawn_text(page)]


def milliseconds_seen(page):
    text = next(one for one in seen_text(page) if one.endswith("seen"))
    number, unit = text.replace("\u00a0", " ").split(" ")[:2]
    return float(number) * {"ms": 1, "\u00b5s": 1e-3, "s": 1e3,
                            "ns": 1e-6}[unit]


def test_the_timeline_names_lanes_and_scopes(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    texts = seen_text(page)
    for name in ("main", "worker 1", "worker 3", "requests 2", "read plane",
                 "requests in flight"):
        assert any(one.startswith(name[:8]) for one in texts), name
    assert texts.index("main") < texts.index("worker 1") \
        < texts.index("requests 1") < texts.index("requests in flight")


def test_the_timeline_zooms_by_wheel_and_moves_by_dragging(opened,
                                                           read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    whole = milliseconds_seen(page)
    assert whole == pytest.approx(58, abs=0.5)
    x, y = page.middle(".timeline canvas")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-500)
    zoomed = milliseconds_seen(page)
    assert zoomed == pytest.approx(whole / 1.002 ** 500, rel=0.02)
    before = dict(drawn_text(page))["25\u00a0ms"]
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x - 80, y, button="left", buttons=1)
    page.mouse("mouseMoved", x - 160, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 160, y, button="left", clickCount=1)
    assert milliseconds_seen(page) == pytest.approx(zoomed, rel=0.01)
    after = dict(drawn_text(page))["25\u00a0ms"]
    assert after == pytest.approx(before - 160, abs=1.5)
    assert state(page, "span") == -1
    page.evaluate("document.querySelector('.timeline canvas').focus()")
    page.press("0")
    assert milliseconds_seen(page) == pytest.approx(whole)
    page.press("+")
    assert milliseconds_seen(page) == pytest.approx(whole / 2, rel=0.02)
    page.press("-")
    assert milliseconds_seen(page) == pytest.approx(whole, rel=0.02)


def touch(page, kind, *places):
    page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[
        {"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)])


def pinch(page, x, y, before, after):
    """Moves two fingers; before and after: their distances from the middle."""
    def ends(half):
        return (x - half, y), (x + half, y)

    touch(page, "touchStart", ends(before)[0])
    touch(page, "touchStart", *ends(before))
    for step in range(1, 21):
        touch(page, "touchMove", *ends(before + (after - before) * step / 20))
    touch(page, "touchEnd")
    page.wait_drawn()


def test_the_timeline_works_by_touch(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    whole = milliseconds_seen(page)
    x, y = page.middle(".timeline canvas")
    pinch(page, x + 75, y, 80, 240)
    assert milliseconds_seen(page) == pytest.approx(whole / 3, rel=0.25)
    wait_for_address(page)
    begin, end = map(int, state(page, "seen").split("-"))
    assert (begin + end) / 2 == pytest.approx(29_000_000, rel=0.1)
    pinch(page, x + 75, y, 240, 60)
    assert milliseconds_seen(page) > 0.9 * whole
    assert state(page, "span") == -1


def icicle_window(page):
    wait_for_address(page)
    begin, end = map(int, state(page, "stretch").split("-"))
    return begin / 1e9, end / 1e9


def test_the_icicle_works_by_touch(opened, read_page):
    page = opened(read_page, fragment="#view=icicle")
    page.wait_drawn()
    x, y, width = icicle_box(page)
    middle = x + width / 2
    pinch(page, middle, y + 39, 80, 240)
    begin, end = icicle_window(page)
    assert end - begin == pytest.approx(1 / 3, rel=0.25)
    assert (begin + end) / 2 == pytest.approx(0.5, abs=0.02)
    touch(page, "touchStart", (middle, y + 39))
    for step in range(1, 21):
        touch(page, "touchMove", (middle - 10 * step, y + 39))
    touch(page, "touchEnd")
    moved, _ = icicle_window(page)
    assert moved - begin == pytest.approx(200 / width * (end - begin),
                                          rel=0.15)
    assert state(page, "zoom") == -1
    again = opened(read_page, fragment=page.evaluate("location.hash"))
    assert icicle_window(again)[0] == moved
    pinch(again, middle, y + 39, 240, 40)
    wait_for_address(again)
    assert state(again, "stretch") == ""


def test_the_icicle_moves_under_the_mouse(opened, read_page):
    page = opened(read_page,
                  fragment="#view=icicle&stretch=200000000-400000000")
    page.wait_drawn()
    x, y, width = icicle_box(page)
    middle = x + width / 2
    node = state(page, "node")
    page.mouse("mousePressed", middle, y + 13, button="left", clickCount=1)
    for at in (40, 80):
        page.mouse("mouseMoved", middle - at, y + 13, button="left",
                   buttons=1)
    page.mouse("mouseReleased", middle - 80, y + 13, button="left",
               clickCount=1)
    begin, end = icicle_window(page)
    assert begin == pytest.approx(0.2 + 80 / width * 0.2, abs=1e-6)
    assert end - begin == pytest.approx(0.2, abs=1e-6)
    assert (state(page, "node"), state(page, "zoom")) == (node, -1)
    # The element under a position follows what is drawn there.
    page.mouse("mouseMoved", middle, y + 39)
    child = page.evaluate("document.querySelector('.tooltip .title')"
                          ".textContent")
    page.click(middle, y + 39)
    assert page.evaluate("radio.profile.names[radio.state.get('zoom')]") \
        == child
    assert state(page, "stretch") == ""


def test_a_span_links_to_its_caller_on_another_thread(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    span = page.evaluate("""(({ spans, names, parentOf }) =>
      [...spans.node.keys()].find(i => names[spans.node[i]] === 'tiles'
        && spans.lane[i] === 2))(radio.profile)""")
    page.evaluate(f"radio.state.set({{ span: {span} }})")
    page.wait_drawn()
    page.evaluate("document.querySelector('.timeline canvas').focus()")
    page.press("p")
    parent = state(page, "span")
    assert page.evaluate(f"radio.profile.spans.lane[{parent}]") == 0
    assert page.evaluate("radio.profile.names[radio.state.get('node')]") \
        == "read plane"
    page.press(".")
    assert state(page, "span") == parent + 1
    page.press("Escape")
    assert state(page, "span") == -1


def test_a_selected_run_shows_its_own_numbers(opened, read_document,
                                              read_page):
    page = opened(read_page, fragment="#view=timeline&span=1")
    span = sorted((s for s in read_document.spans if s["lane"] == 0),
                  key=lambda s: (s["begin"], -s["duration"]))[1]
    text = page.evaluate("document.querySelector('aside').innerText")
    name = read_document.nodes[span["node"]]["name"]
    assert name in text and "This run" in text and "read plane" in text
    assert "120\u00a0\u00b5s" in text and span["duration"] == 120_000
    announced = page.evaluate(
        "document.querySelector('[aria-live=polite].unseen').textContent")
    assert announced == f"{name}, 360\u00a0\u00b5s, 3 calls"


def test_a_click_on_a_span_selects_it(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    x, y, width, height = page.evaluate("""(b => [b.x, b.y, b.width,
      b.height])(document.querySelector('.timeline canvas')
      .getBoundingClientRect())""")
    page.click(x + 150 + 20, y + 24 + 6 + 9)
    assert state(page, "span") == 0
    assert page.evaluate("document.querySelector('aside h2').textContent") \
        == "read plane"


def test_roles_and_names_are_there(opened, read_page):
    page = opened(read_page)
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = [(n["role"]["value"], n.get("name", {}).get("value", ""))
             for n in nodes if not n.get("ignored") and "role" in n]
    roles = {role for role, _ in named}
    assert {"treegrid", "tab", "tablist", "tabpanel", "row", "gridcell",
            "columnheader", "rowheader", "search", "heading", "main",
            "complementary", "searchbox"} <= roles
    for role, name in named:
        if role in ("button", "tab", "searchbox", "combobox", "treegrid",
                    "Canvas", "application", "columnheader", "row"):
            assert name.strip() != "", role
    rows_there = [n for n in nodes if n.get("role", {}).get("value") == "row"
                  and any(p["name"] == "level" for p in n["properties"])]
    assert len(rows_there) >= 4


def test_ids_are_unique_and_references_hold(opened, read_page):
    page = opened(read_page)
    assert page.evaluate("""(ids => ids.length === new Set(ids).size)(
      [...document.querySelectorAll('[id]')].map(one => one.id))""")
    assert page.evaluate("""[...document.querySelectorAll(
      '[aria-controls], [aria-labelledby]')].every(one =>
        document.getElementById(one.getAttribute('aria-controls')
          ?? one.getAttribute('aria-labelledby')))""")


# The subject of a finding may be no scope, or another view shows it better,
# if the page has that view.
EVIDENCE = {
    "first-step": ["why"], "slow-steps": ["why"],
    "read-amplification": ["tiles"], "fetch-amplification": ["tiles"],
    "threads-off-cpu": ["timeline"], "bound-by-one-thread": ["timeline"],
    "bound-by-queueing": ["timeline"], "imbalance": ["parts", "timeline"],
    "straggler": ["parts", "timeline"], "warm-up": ["runs"],
    "runs-scatter": ["runs"], "profiler-overhead": ["facts"],
    "limits-reached": ["facts"], "outside-scopes": ["facts"],
    "log-incomplete": ["facts"],
    "log-ring": ["timeline"], "recovered": ["facts"],
    "ring-damaged": ["facts"], "ring-without-file": ["facts"],
    "open-scopes": ["facts"], "left-scopes": ["facts"],
    "recorded-elsewhere": ["facts"], "clock-jumped": ["facts"],
}


def check_evidence(page):
    """Checks for each finding that its title leads to what it is about,
    scrolls there and marks it."""
    found = page.evaluate("radio.profile.findings")
    tabs = page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                         ".map(one => one.id.slice(4))")
    for i, one in enumerate(found):
        page.evaluate("radio.state.set({ view: 'bottomup', node: -1 }), "
                      "scrollTo(0, 0)")
        led = page.evaluate(f"""(one => (one?.click(), one != null))(document
          .querySelectorAll('.findings li')[{i}]
          .querySelector('button.link'))""")
        view = next((view for view in EVIDENCE.get(one["id"], [])
                     if view in tabs),
                    "tree" if one["node"] >= 0 else "bottomup")
        assert state(page, "view") == view, one
        assert led == (view != "bottomup"), one
        if one["node"] >= 0:
            assert state(page, "node") == one["node"]
        if view == "tree":
            assert page.evaluate("document.querySelector('tr.selected')"
                                 ".dataset.node") == str(one["node"])
        if led:
            page.wait_drawn()
            assert page.evaluate(MARKED_AND_SEEN), one


def test_findings_lead_to_their_evidence(opened, recording):
    check_evidence(opened(recording[0], width=1024, height=700))


@pytest.mark.parametrize("width, height", [(1440, 900), (390, 844)])
@pytest.mark.parametrize("node", [-1, 1])
def test_every_kind_of_finding_leads_to_its_evidence(
        opened, local_read, tmp_path, node, width, height):
    page = tmp_path / "page.html"
    ids = [*EVIDENCE, "bound-by-decode", "cache-misses", "time-by-size"]
    replace_findings(local_read.page.read_text(), page, ids, node)
    shown = opened(page, width=width, height=height)
    assert len(shown.evaluate("radio.profile.findings")) == len(ids)
    shown.evaluate("radio.state.set({ tilesby: 'count' })")
    check_evidence(shown)
    # Waste is read where it is drawn.
    assert state(shown, "tilesby") == "waste"


# Whether one element of the current view is marked, and within the window.
MARKED_AND_SEEN = """((all, panel) => {
  const { top, bottom } = all[0]?.getBoundingClientRect() ?? {};
  return all.length === 1 && panel.contains(all[0]) && bottom > 40
    && top < innerHeight - 40
    && (bottom - top > innerHeight || top >= 0 && bottom <= innerHeight);
})(document.querySelectorAll('.evidence'),
   document.querySelector('[role=tabpanel]:not([hidden])'))"""


def page_with_findings(folder, n, failed=False, node=-1):
    """Writes a page with made findings, in place of radio's own."""
    made = made_read()
    if failed:
        made.facts.append(("failed", "ct/a: no tile", 1))
    document = made.document()
    document["findings"] = {
        "id": [f"made-{i}" for i in range(n)], "weight": [1] * n,
        "node": [node] * n, "title": [f"Finding {i}" for i in range(n)],
        "evidence": ["from 5.6 ms to 12 us (79.1 %), 10.7 x, " * 4] * n}
    path = write_page(json.dumps(document), folder)
    replace_text(path.read_text(), path, document["findings"])
    return path


def replace_findings(text, path, ids, node):
    """Writes a page with findings of these kinds."""
    n = len(ids)
    replace_text(text, path, {
        "id": ids, "weight": [1] * n, "node": [node] * n, "title": ids,
        "evidence": ["made"] * n})


def replace_text(text, path, findings):
    begin = text.index('"findings"', text.index('id="radio-profile"'))
    end = text.index("}", begin) + 1
    path.write_text(text[:begin] + '"findings": '
                    + json.dumps(findings) + text[end:])


SHOWN_FINDINGS = """[...document.querySelectorAll('.findings li')]
  .filter(one => one.checkVisibility()).length"""


@pytest.mark.parametrize("width, height, most_top", [
    (1440, 900, 240), (1024, 700, 240), (390, 844, 360)])
@pytest.mark.parametrize("part", ["", "&range=20000000-40000000&lanes=0"])
@pytest.mark.parametrize("n, failed", [(5, False), (5, True), (0, True)])
def test_the_view_begins_high_on_the_screen(opened, tmp_path, n, failed, part,
                                            width, height, most_top):
    page = opened(page_with_findings(tmp_path, n, failed), width=width,
                  height=height, fragment="#view=timeline" + part)
    assert page.evaluate(SHOWN_FINDINGS) == min(n, 2 if failed else 3)
    assert page.evaluate("document.querySelector('.views')"
                         ".getBoundingClientRect().top") < most_top
    # Nothing is wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width, height, most_top", [
    (1440, 900, 240), (1024, 700, 240), (390, 844, 360)])
def test_a_query_can_be_read_beside_its_answer(opened, tmp_path, width,
                                               height, most_top):
    page = opened(page_with_findings(tmp_path, 5), width=width, height=height,
                  fragment="#view=tree&query=decode&range=0-20000000")
    page.wait("document.querySelector('.search output').value")
    assert page.evaluate("document.querySelector('.search input')"
                         ".clientWidth") > 70
    assert page.evaluate("document.querySelector('.views')"
                         ".getBoundingClientRect().top") < most_top
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def place_in(page, *selectors):
    """Returns the text and the top of the first of each."""
    return [page.evaluate(f"""(one => [one.textContent,
      one.getBoundingClientRect().top])(document.querySelector('{each}'))""")
            for each in selectors]


@pytest.mark.parametrize("width, height, most_top", [
    (1440, 900, 240), (1024, 700, 240), (390, 844, 360)])
def test_the_answer_of_a_diff_stands_above_findings_of_the_second(
        opened, tmp_path, width, height, most_top):
    for name, nreads, seconds in (("before", 2, 0), ("after", 4, 7)):
        made = made_read(seed=nreads, nreads=nreads)
        made.given["started_unix_ns"] = (1790000000 + seconds) * 10**9
        if name == "before":
            made.facts.append(("failed", "ct/a: no tile", 1))
        write_page(made, tmp_path, name)
    path = tmp_path / "changes.html"
    run_radio("diff", tmp_path / "before.json", tmp_path / "after.json",
              "-o", path)
    replace_findings(path.read_text(), path, [f"made {i}" for i in range(5)],
                     0)
    page = opened(path, fragment="", width=width, height=height)
    (title, _), (failed, _), (_, view), (answer, top), (_, tree), \
        (heading, findings), (_, details) = place_in(
            page, "header .title", "header .warning p", ".views",
            ".diff-whole", ".diff canvas", ".findings h2", "aside")
    assert view < most_top
    assert view < top < tree < findings
    # Beside the details, or before them.
    assert (details < findings) == (width > 960)
    assert "14:13:20.000 \u2192 14:13:27.000" in title
    assert failed == "2026-09-21 14:13:20.000 failed: ct/a: no tile"
    assert " \u2192 " in answer
    assert heading == "Findings of the second recording, 14:13:27.000"
    assert page.evaluate(SHOWN_FINDINGS) == 5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The views of one recording name it.
    page.click_on("#tab-tree")
    assert "in the second recording" in text_of(page, "aside h2")
    assert page.evaluate("document.querySelector('.bar-of-tools [role=status]'"
                         ").innerText") == "Of the second recording."
    for view in ("timeline", "tree", "functions", "runs", "facts"):
        if page.evaluate(f"radio.tabs.has('{view}')"):
            page.evaluate(f"radio.state.set({{ view: '{view}' }})")
            page.wait_drawn()
            assert page.evaluate(
                "document.documentElement.scrollWidth") <= width, view


@pytest.mark.parametrize("view", ["timeline", "tree", "functions", "diff"])
def test_buttons_are_44_pixels_on_a_touch_screen(opened, tmp_path, view):
    page = opened(page_with_findings(tmp_path, 5, True, node=0),
                  fragment=f"#view={view}", width=390, height=844)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    reload(page)
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    page.click_on(".menu")
    small = page.evaluate("""[...document.querySelectorAll(
      'button, select, input, .marker')].filter(one => one.checkVisibility())
      .map(one => [one.textContent, one.getBoundingClientRect()])
      .filter(([, box]) => box.width < 44 || box.height < 44)
      .map(([text, box]) => `${text} ${box.width} x ${box.height}`)""")
    assert small == []
    page.click_on(".menu")
    assert page.evaluate("scrollTo(0, 0), document.querySelector('.views')"
                         ".getBoundingClientRect().top") < 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("height", [900, 500])
def test_the_list_of_keys_opens_at_its_top(opened, read_page, height):
    page = opened(read_page, width=700, height=height)
    for _ in range(2):
        page.press("?")
        page.wait_drawn()
        assert page.evaluate("""(help => help.scrollTop === 0 && [...help
          .querySelectorAll('h2, button')].slice(0, 2).every(one =>
            one.getBoundingClientRect().top
              >= help.getBoundingClientRect().top))(
          document.querySelector('dialog'))""")
        page.press("End")
        page.press("Escape")


def test_the_time_of_the_threads_heads_the_timeline(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    assert page.evaluate("""document.querySelector('.breakdown')
      .getBoundingClientRect().bottom <= document.querySelector(
        '.timeline canvas').getBoundingClientRect().top""")
    page.press("3")
    assert not page.evaluate(
        "document.querySelector('.breakdown').checkVisibility()")


@pytest.mark.parametrize("n", [0, 3, 5])
def test_findings_unfold_in_place(opened, tmp_path, n):
    page = opened(page_with_findings(tmp_path, n))
    assert page.evaluate(SHOWN_FINDINGS) == min(n, 3)
    heights = ("[...document.querySelectorAll('.findings li')].map(one =>"
               " one.getBoundingClientRect().height)")
    if n > 0:
        evidence = text_of(page, ".findings li p")
        assert evidence.startswith("from 5.6\u00a0ms to 12\u00a0\u00b5s "
                                   "(79.1\u00a0%), 10.7\u00a0\u00d7,")
        page.call("Emulation.setDeviceMetricsOverride", width=600,
                  height=800, deviceScaleFactor=1, mobile=False)
        folded = page.evaluate(heights)
        page.click_on(".findings li .fold")
        assert page.evaluate(heights)[0] > 2 * folded[0]
        assert page.evaluate(heights)[1:] == folded[1:]
        page.click_on(".findings li .fold")
        assert page.evaluate(heights) == folded
    fold = "document.querySelector('.findings .all')"
    assert page.evaluate(f"{fold} !== null") == (n > 3)
    if n > 3:
        page.click_on(".findings .all")
        assert page.evaluate(SHOWN_FINDINGS) == n
        page.click_on(".findings .all")
        assert page.evaluate(SHOWN_FINDINGS) == 3


def test_the_mark_of_evidence_ends_with_the_next_act(opened, tmp_path):
    page = opened(page_with_findings(tmp_path, 2, node=0))
    page.click_on(".findings li .link")
    assert page.evaluate(MARKED_AND_SEEN)
    page.press("Escape")
    assert page.evaluate("document.querySelector('.evidence')") is None


def test_long_texts_are_cut_at_a_word(opened, tmp_path):
    made = ProfileDocument("words")
    lane = made.lane("main")
    for i in range(6):
        made.span(lane, "decode blosc lz4 without dictionaries", "decode",
                  500 * i * (i + 1), 1000 * (i + 1))
    page = opened(write_page(made, tmp_path), fragment="#view=timeline")
    page.wait_drawn()
    words = "decode blosc lz4 without dictionaries".split()
    texts = {text for text, _ in drawn_text(page) if text.startswith("dec")}
    assert len(texts) > 2
    assert texts <= {" ".join(words)} | {
        " ".join(words[:n]) + "\u2026" for n in range(1, 5)}


@pytest.mark.parametrize("kind, label", [("runs", "Runs"),
                                         ("ranks", "Ranks")])
def test_parts_are_named(opened, tmp_path, kind, label):
    made = made_read()
    made.given["parts"] = kind
    made.parts = [(f"{kind[:-1]} {i}", 10_000_000 * (i + 1), 8_000_000 * i, 0)
                  for i in range(4)]
    made.shares = [(0, i, 1, 4_000_000 * (i + 1), 0) for i in range(4)]
    view = "runs" if kind == "runs" else "parts"
    page = opened(write_page(made, tmp_path), fragment=f"#view={view}")
    text = page.evaluate(f"document.querySelector('#view-{view}').innerText")
    assert page.evaluate(f"document.querySelector('#tab-{view}').textContent") \
        == label
    for i in range(4):
        assert f"{kind[:-1]} {i}" in text
    assert "median 25.0\u00a0ms" in text
    assert "16.0\u00a0ms" in page.evaluate(
        "document.querySelector('aside .parts').innerText")


def test_a_tree_without_spans_has_no_timeline(opened, tmp_path):
    made = ProfileDocument("tree only")
    made.node("read", "operation", calls=2, total_ns=500, self_ns=500,
              work_ns=500)
    page = opened(write_page(made, tmp_path), fragment="#view=timeline")
    assert page.evaluate("document.querySelector('#tab-timeline')") is None
    page.click_on("#tab-tree")
    assert list(rows(page)) == ["0"]


def test_an_empty_profile_makes_a_page(opened, tmp_path):
    page = opened(write_page(ProfileDocument("nothing"), tmp_path))
    assert rows(page) == {}
    assert "Time of the threads" not in page.evaluate(
        "document.querySelector('#app').innerText")
    for view in ("icicle", "facts"):
        page.click_on(f"#tab-{view}")
        page.wait_drawn()


def test_a_failure_is_the_first_finding(opened, tmp_path):
    made = ProfileDocument("failed")
    made.node("read", "operation", calls=1, total_ns=10**6)
    made.facts = [("failed", "ct/a: tile 1,2,3: checksum mismatch", 1)]
    page = opened(write_page(made, tmp_path))
    assert page.evaluate(
        "[...document.querySelectorAll('.findings li:first-child :is(.link, "
        "strong, p)')].map(one => one.textContent).join(' ')"
    ).replace("\u00a0", " ") == (
        "It failed within 0 ns: ct/a: tile 1,2,3: checksum mismatch")
    # It is there once.
    assert page.evaluate("document.querySelector('#app').innerText"
                         ".split('checksum mismatch').length") == 2


def test_a_long_text_does_not_fill_the_details(opened, tmp_path):
    made = ProfileDocument("long texts")
    made.node("n" * 4000, "operation", calls=1, total_ns=10**6)
    made.notes = [(0, 0, "key", "long " * 2000, 0)]
    page = opened(write_page(made, tmp_path), fragment="#node=0")
    for text, selector in (("nnnn", "aside h2"), ("long", "dl.details dd")):
        heights = page.evaluate(
            f"[...document.querySelectorAll('{selector}')]"
            f".filter((one) => one.textContent.startsWith('{text}'))"
            ".map((one) => one.clientHeight)")
        assert len(heights) == 1 and heights[0] < 250


def test_many_siblings_are_shown_in_steps(opened, tmp_path):
    made = ProfileDocument("siblings")
    root = made.node("root", "operation", calls=1, total_ns=10**6)
    for i in range(2500):
        made.node(f"child {i}", "user", root, calls=1, total_ns=1 + i)
    page = opened(write_page(made, tmp_path))
    assert len(rows(page)) == 101
    page.evaluate("[...document.querySelectorAll('.tree tbody button')]"
                  ".at(-1).click()")
    assert 1000 <= len(rows(page)) <= 1200


def test_a_match_beyond_the_rows_of_a_table_is_reached(opened, tmp_path):
    made = ProfileDocument("siblings")
    root = made.node("root", "operation", calls=1, total_ns=10**6)
    for i in range(1000):
        name = "needle" if i in (3, 500) else f"child {i}"
        made.node(f"{name} {i}", "user", root, calls=1, total_ns=1 + i,
                  self_ns=1 + i)
    before = write_page(made, tmp_path, "before")
    page = opened(before)
    for view, row in (("tree", "data-node"), ("bottomup", "data-node"),
                      ("functions", "data-site")):
        page.click_on("#tab-" + view)
        search(page, "needle")
        page.press("Tab")
        for name in ("needle 500", "needle 3"):
            page.press("n")
            assert text_of(page, "aside h2") == name
            assert page.evaluate(f"""(row => row.querySelector('bdi')
              .textContent)(document.querySelector(
                '#view-{view} [{row}].selected'))""") == name
            assert page.evaluate(f"""document.querySelectorAll(
              '#view-{view} [{row}]').length""") < 120


def test_a_match_beyond_the_rows_of_changes_is_reached(opened, tmp_path):
    for name, took in (("before", 2), ("after", 3)):
        made = ProfileDocument("siblings")
        root = made.node("root", "operation", calls=1, total_ns=10**6)
        for i in range(300):
            made.node("needle" if i == 5 else f"child {i}", "user", root,
                      calls=1, total_ns=took * i, self_ns=took * i)
        (tmp_path / (name + ".json")).write_text(made.json())
    path = tmp_path / "changes.html"
    run_radio("diff", tmp_path / "before.json", tmp_path / "after.json",
              "-o", path)
    page = opened(path, fragment="#view=diff")
    rows_shown = "document.querySelectorAll('.diff [data-path]').length"
    assert page.evaluate(rows_shown) == 100
    search(page, "needle")
    page.press("Tab")
    page.press("n")
    assert text_of(page, ".diff tr.selected bdi") == "needle"
    page.evaluate("[...document.querySelectorAll('.diff button')].at(-1)"
                  ".click()")
    # But for "child 0", which took nothing in both.
    assert page.evaluate(rows_shown) == 300
    assert text_of(page, ".diff tr.selected bdi") == "needle"


def test_a_real_recording_s_page_shows_its_numbers(opened, recording):
    path, document = recording
    page = opened(path)
    open_all(page)
    shown, nodes = rows(page), document["nodes"]
    assert len(shown) == len(nodes["name"])
    for i, row in ((int(key), row) for key, row in shown.items()):
        assert row["name"] == document["strings"][nodes["name"][i]]
        assert number(row["total"][1]) == nodes["total_ns"][i]
        assert number(row["self"][1]) == nodes["self_ns"][i]
        assert number(row["calls"][0]) == nodes["calls"][i]
    work = [number(row["work"][1]) for row in shown.values()
            if row["level"] == "1"]
    assert sum(work) == document["info"]["work_ns"]
    assert page.evaluate("radio.profile.spans.count") \
        == document["spans"]["count"]
    text = page.evaluate("document.querySelector('.findings')?.textContent "
                         "?? ''")
    for title in document["findings"]["title"]:
        assert title in text


@pytest.mark.parametrize("view", (*VIEWS, "runs", "diff"))
def test_a_real_recording_opens_in_every_view(opened, recording, view):
    page = opened(recording[0], fragment=f"#view={view}")
    page.wait_drawn()
    assert page.evaluate(f"!document.getElementById('view-{view}').hidden")


@pytest.fixture(scope="module", params=[100_000, 1_000_000],
                ids=["100k", "1M"])
def many_page(np, request, tmp_path_factory):
    """Returns a page with many spans on each of 16 threads, up to six deep."""
    document = many_spans(np, request.param)
    page = write_page(json.dumps(document), tmp_path_factory.mktemp("many"))
    return page, document["spans"]["count"], document["info"]["wall_ns"]


def test_many_spans_open_pan_and_zoom(opened, many_page, record_property):
    # Times are only recorded, since the machine may be busy.  The timeouts
    # detect hangs.
    path, count, wall = many_page
    page = opened(path, fragment="#view=timeline")
    assert page.evaluate("radio.profile.spans.count") == count
    record_property("ms_until_open", page.evaluate("performance.now()"))
    for view, name, act, first in movements(wall):
        show(page, {"view": view, **first})
        frames = work_of_frames(traced(page, view, act))
        # A busy machine handles several steps in one frame.
        assert len(frames) > 1, name
        for share in (0.5, 0.95, 1):
            record_property(f"ms_a_frame_{view}_{name}_p{100 * share:.0f}",
                            round(quantile(frames, share), 1))
        print(f"{view}, {name}: {quantile(frames, 0.95):.1f} ms a frame p95")
