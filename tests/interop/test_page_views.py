# SPDX-License-Identifier: MIT
"""The page's views in a real browser: narrowed to a stretch of time, to lanes,
by transforms, their numbers equal those of the profile's spans."""

import re
from xml.etree import ElementTree

import pytest

from pages import (AXE_RUN, axe, browser, choose_metric, drawn_text,
                   made_read, number, open_all, opened, read_document,
                   read_page, recording, rows, state, text_of, write_page)
from profile_document import ProfileDocument

# Fixtures that tests import by name.
__all__ = ["axe", "browser", "opened", "read_document", "read_page",
           "recording"]


def clipped(document, begin, end):
    """Returns total and calls of each node in a stretch of time."""
    found = {}
    for span in document.spans:
        low = max(begin, span["begin"])
        high = min(end, span["begin"] + span["duration"])
        if high > low:
            total, calls = found.get(span["node"], (0, 0))
            found[span["node"]] = total + high - low, calls + 1
    return found


@pytest.mark.parametrize("begin, end", [(0, 60_000_000),
                                        (6_000_000, 9_000_000),
                                        (20_300_000, 41_000_000)])
def test_a_stretch_of_time_has_the_numbers_of_its_spans(
        opened, read_document, read_page, begin, end):
    page = opened(read_page, fragment=f"#view=tree&range={begin}-{end}")
    open_all(page)
    shown = rows(page)
    expected = clipped(read_document, begin, end)
    assert {int(node) for node in shown} == set(expected)
    for node, (total, calls) in expected.items():
        assert number(shown[str(node)]["total"][1]) == total
        assert number(shown[str(node)]["calls"][0]) == calls
    assert "partial" in page.evaluate(
        "document.querySelector('.chips').textContent")


def test_the_whole_time_of_a_real_recording_is_its_tree(opened, recording):
    path, document = recording
    nodes = document["nodes"]
    page = opened(path, fragment="#view=tree&range=0-999999999999999")
    sums = page.evaluate("""(shape => ['calls', 'total', 'self', 'work',
      'wait'].map(name => Array.from(shape[name])))(radio.model.shape())""")
    assert page.evaluate("radio.model.shape() !== radio.model.whole")
    if document["info"]["dropped_count"]:
        return
    assert sums[0] == nodes["calls"]
    columns = ("total_ns", "self_ns", "work_ns", "wait_ns")
    for got, name in zip(sums[1:], columns):
        # The recorder rounds each node's ticks, the log each span's.
        assert got == pytest.approx(nodes[name], rel=0.01, abs=100_000), name


def test_dragging_on_the_axis_narrows_all_views(opened, read_document,
                                                read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    x, y, width = page.evaluate("""(b => [b.x, b.y, b.width])(document
      .querySelector('.timeline canvas').getBoundingClientRect())""")
    page.drag(x + 250, y + 12, x + 450, y + 12)
    begin, end = map(int, state(page, "range").split("-"))
    per_pixel = 58_000_000 / (width - 150)
    assert begin == pytest.approx(100 * per_pixel, abs=2 * per_pixel)
    assert end == pytest.approx(300 * per_pixel, abs=2 * per_pixel)
    page.press("3")
    expected = clipped(read_document, begin, end)
    shown = rows(page)
    assert number(shown["0"]["total"][1]) == expected[0][0]
    chips = "document.querySelectorAll('.chip').length"
    assert page.evaluate(chips) == 1
    page.click_on(".chip button")
    assert state(page, "range") == ""
    assert page.evaluate(chips) == 0
    page.evaluate("history.back()")
    page.wait("radio.state.get('range') !== ''")


def click_on_first_lane(page):
    page.wait_drawn()
    x, y = page.evaluate("""(b => [b.x, b.y])(document
      .querySelector('.timeline canvas').getBoundingClientRect())""")
    page.click(x + 20, y + 24 + 6 + 9)


def test_a_click_on_a_lane_s_name_keeps_only_that_lane(opened, read_document,
                                                       read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    click_on_first_lane(page)
    assert state(page, "lanes") == "0"
    calls = page.evaluate("Array.from(radio.model.shape().calls)")
    for node, n in enumerate(calls):
        assert n == sum(s["lane"] == 0 and s["node"] == node
                        for s in read_document.spans)
    click_on_first_lane(page)
    assert state(page, "lanes") == ""


def test_transforms_are_removable_chips(opened, read_document, read_page):
    page = opened(read_page)
    decode = next(i for i, n in enumerate(read_document.nodes)
                  if n["name"] == "decode")
    page.evaluate(f"radio.state.set({{ node: {decode} }})")
    page.evaluate("[...document.querySelectorAll('.deeds button')]"
                  ".find(one => one.textContent === 'Focus').click()")
    page.wait_drawn()
    roots = [row for row in rows(page).values() if row["level"] == "1"]
    total = sum(n["total_ns"] for n in read_document.nodes
                if n["name"] == "decode")
    assert [row["name"] for row in roots] == ["decode"]
    assert number(roots[0]["total"][1]) == total
    assert "Focus on" in page.evaluate(
        "document.querySelector('.chip').innerText")
    page.click_on(".chip button")
    assert state(page, "transforms") == ""
    assert len(rows(page)) > 2


@pytest.mark.parametrize("metric", ["wall", "work", "calls",
                                    "c:bytes decoded"])
def test_bottom_up_has_each_scope_s_own_numbers(opened, read_document,
                                                read_page, metric):
    page = opened(read_page, fragment="#view=bottomup")
    page.evaluate(f"radio.state.set({{ metric: '{metric}' }})")
    nodes = read_document.nodes
    if metric.startswith("c:"):
        at = read_document.counters.index((metric[2:], "bytes"))
        own = [read_document.values.get((i, at), 0)
               for i in range(len(nodes))]
    else:
        own = [n[{"wall": "self_ns", "work": "work_ns",
                  "calls": "calls"}[metric]] for n in nodes]
    shown = page.evaluate("""[...document.querySelectorAll(
      '#view-bottomup tr[aria-level="1"]')].map(row => [
        row.querySelector('bdi').textContent,
        row.querySelector('[data-column=total]').title,
        row.querySelector('[data-column=share]').textContent,
        row.querySelector('[data-column=metric]')?.title ?? ''])""")
    assert len(shown) == len({n["name"] for n in nodes})
    # The whole: for wall, in which threads overlap, the sum of the roots.
    whole = nodes[0]["total_ns"] if metric == "wall" else sum(own)
    for name, total, share, extra in shown:
        here = [i for i, n in enumerate(nodes) if n["name"] == name]
        assert number(total) == sum(nodes[i]["self_ns"] for i in here)
        value = sum(own[i] for i in here)
        if value * 1000 >= whole:
            assert float(share.rstrip("\u00a0%")) == pytest.approx(
                100 * value / whole, rel=0.01, abs=0.051)
        if extra:
            assert number(extra) == value


@pytest.mark.parametrize("metric", ["c:requests", "allocs"])
def test_a_stretch_of_time_shows_its_metric(opened, tmp_path, metric):
    made = made_read()
    made.counters.append(("requests", "count"))
    made.values[0, len(made.counters) - 1] = 6
    made.sum_up()
    made.nodes[0]["alloc_count"] = 12
    made.sum_up = lambda: None
    page = opened(write_page(made, tmp_path),
                  fragment=f"#view=tree&metric={metric}")
    chips = "document.querySelector('.chips').textContent"
    assert page.evaluate(chips) == ""
    page.evaluate("radio.state.set({ range: '0-30000000' })")
    name = "requests" if metric == "c:requests" else "allocations"
    assert f"the log has no {name} for a part: shown by wall" \
        in page.evaluate(chips)
    page.evaluate("radio.state.set({ metric: 'work' })")
    assert "the log has no" not in page.evaluate(chips)


def test_bars_of_functions_have_one_scale(opened, read_page):
    """Those of concurrent threads were as long as their operation's."""
    page = opened(read_page, fragment="#view=functions")
    shown = page.evaluate("""[...document.querySelectorAll(
      '.functions [data-column=total]')].map(one =>
        [one.title, one.style.getPropertyValue('--share')])""")
    totals = [number(title) for title, _ in shown]
    assert len(totals) > 4
    assert [float(share.rstrip("%")) for _, share in shown] == pytest.approx(
        [100 * total / max(totals) for total in totals], abs=0.006)


def test_percentages_of_a_view_have_one_base_that_is_named(opened, read_page):
    page = opened(read_page)
    for view in ("tree", "bottomup"):
        page.evaluate(f"radio.state.set({{ view: '{view}' }})")
        for metric, label in (("wall", "roots\u2019 time"),
                              ("c:bytes decoded", "bytes decoded")):
            choose_metric(page, metric)
            heads = page.evaluate(f"""[...document.querySelectorAll(
              '#view-{view} thead th')].map(one => one.textContent)""")
            assert "% of " + label in heads
            assert page.evaluate("""[...document.querySelectorAll('td.bar')]
              .every(one => getComputedStyle(one).backgroundPositionX
                === '0%')""")
    page.evaluate("radio.state.set({ view: 'icicle', metric: 'wall' })")
    assert "% of roots\u2019 time" in text_of(page, "#view-icicle .tools")
    page.evaluate("radio.state.set({ view: 'timeline' })")
    assert text_of(page, ".legend li").startswith("Of the threads\u2019 ")


def test_a_box_of_the_icicle_is_as_wide_as_its_percentage(opened, tmp_path):
    made = ProfileDocument("concurrent")
    lanes = [made.lane("main"), made.lane("worker 1")]
    read = made.span(lanes[0], "read", "operation", 0, 1_000_000)
    made.span(lanes[0], "plan", "metadata", 0, 300_000, read)
    join = made.span(lanes[0], "join", "queue", 300_000, 700_000, read)
    for lane in lanes:
        made.span(lane, "tiles", "operation", 300_000, 600_000, join,
                  edge=int(lane == lanes[1]))
    page = opened(write_page(made, tmp_path), fragment="#view=icicle")
    page.wait_drawn()
    # Two threads share the width of their caller.
    drawn = page.evaluate("""(pane => {
      const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
      const drawn = [];
      let width = 0;
      Object.assign(CanvasRenderingContext2D.prototype, {
        fillRect(...box) { width = box[2]; fillRect.apply(this, box); },
        fillText(text) { drawn.push([text, width / this.canvas.clientWidth]); }
      });
      pane.dispatchEvent(new Event('scroll'));
      return new Promise(done => requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          Object.assign(CanvasRenderingContext2D.prototype,
                        { fillRect, fillText });
          done(drawn);
        })));
    })(document.querySelector('.icicle'))""")
    percents = [(float(found[1]), width) for text, width in drawn
                if (found := re.search(r"\u00b7 ([0-9.]+)\u00a0%", text))]
    assert [percent for percent, _ in percents] == [100, 70, 30]
    assert sum(text == "tiles" for text, _ in drawn) == 2
    for percent, width in percents:
        assert percent / 100 == pytest.approx(width, abs=0.005)


def test_failures_are_marked_in_tree_icicle_and_details(opened, tmp_path):
    made = made_read()
    plan = next(i for i, n in enumerate(made.nodes) if n["name"] == "plan")
    made.counters.append(("failures", "count"))
    made.values[plan, len(made.counters) - 1] = 2
    made.notes += [(0, plan, "failed", "not found", 0)]
    page = opened(write_page(made, tmp_path))
    label = "! 2 of 3 failed: not found"
    assert page.evaluate("[...document.querySelectorAll('.tree .failed')]"
                         ".map(one => [one.closest('tr').dataset.node,"
                         " one.textContent])") == [[str(plan), label]]
    page.evaluate(f"radio.state.set({{ node: {plan} }})")
    assert page.evaluate("document.querySelector('aside .failed')"
                         ".textContent") == label
    page.evaluate("radio.state.set({ node: 0 })")
    assert page.evaluate("document.querySelector('aside .failed')") is None
    page.evaluate(f"radio.state.set({{ view: 'icicle', zoom: {plan} }})")
    page.wait_drawn()
    texts = [text for text, _ in drawn_text(page, "icicle")]
    assert "! plan" in texts and "! read plane" not in texts


def test_lanes_are_chosen_and_all_is_widened_by_key(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    spans = page.evaluate("""[1, 2].map(lane =>
      radio.profile.spans.lane.indexOf(lane))""")
    page.evaluate("document.querySelector('.timeline canvas').focus()")
    for span, key, lanes in ((spans[0], "l", "1"), (spans[1], "L", "1,2"),
                             (spans[0], "L", "2"), (spans[1], "L", "")):
        page.evaluate(f"radio.state.set({{ span: {span} }})")
        page.press(key, shift=key == "L")
        assert state(page, "lanes") == lanes
    page.press("l")
    for view in ("tree", "functions", "facts"):
        page.evaluate("radio.state.set({ range: '0-30000000' })")
        page.click_on("#tab-" + view)
        page.evaluate(f"document.querySelector('#view-{view} [tabindex]')"
                      ".focus()")
        page.press("Escape")
        assert (state(page, "range"), state(page, "lanes")) == ("", "")


def test_a_key_that_is_held_down_does_not_fill_the_history(opened,
                                                           read_page):
    page = opened(read_page, fragment="#view=icicle")
    before = page.evaluate("history.length")
    page.evaluate("""['m', 'c', 'i', 'u', '2'].forEach(key => {
      for (let i = 0; i < 60; i++)
        document.body.dispatchEvent(new KeyboardEvent('keydown', {
          key, repeat: i > 0, bubbles: true, cancelable: true }));
    })""")
    assert page.evaluate("history.length") - before < 6


def test_the_address_is_complete_when_the_page_closes(opened, read_page):
    page = opened(read_page)
    assert page.evaluate("""(() => {
      for (const query of ['a', 'ab', 'abc'])
        radio.state.set({ query });
      dispatchEvent(new Event('pagehide'));
      return location.hash;
    })()""").endswith("query=abc")


@pytest.mark.parametrize("view, key, wheel", [
    ("timeline", "seen", {}), ("icicle", "stretch", {"modifiers": 2})])
def test_a_new_address_overrides_pending_changes(opened, read_page, view, key,
                                                 wheel):
    page = opened(read_page, fragment=f"#view={view}")
    page.wait_drawn()
    page.evaluate(f"""new Promise(done => {{
      document.querySelector('#view-{view} canvas').dispatchEvent(
        new WheelEvent('wheel', {{ deltaY: -50, cancelable: true,
                                   ctrlKey: {str(bool(wheel)).lower()} }}));
      radio.state.set({{ {key}: '10000000-20000000' }});
      setTimeout(done, 600);
    }})""")
    assert state(page, key) == "10000000-20000000"


def test_the_copied_stack_is_that_of_the_stretch(opened, read_document,
                                                 read_page):
    page = opened(read_page, fragment="#view=tree&range=0-20000000")
    page.evaluate("navigator.clipboard.writeText = async text => "
                  "{ window.copied = text; }")
    node = next(i for i, one in enumerate(read_document.nodes)
                if one["name"] == "decode")
    page.evaluate(f"radio.state.set({{ node: {node} }})")
    page.evaluate("""[...document.querySelectorAll('.deeds button')].find(one =>
      one.textContent === 'Copy stack').click()""")
    page.wait("window.copied")
    calls = clipped(read_document, 0, 20_000_000)[node][1]
    assert calls < read_document.nodes[node]["calls"]
    assert f", {calls} calls" in page.evaluate("window.copied")


def test_the_sandwich_counts_the_places_of_the_stretch(opened, tmp_path):
    made = ProfileDocument("places")
    lane = made.lane("main")
    for i, name in enumerate(("a", "b", "c")):
        span = made.span(lane, name, "user", 1000 * i, 900)
        made.span(lane, "leaf", "user", 1000 * i + 100, 500, span)
    page = opened(write_page(made, tmp_path),
                  fragment="#view=sandwich&node=1")
    tools = "document.querySelector('#view-sandwich .tools').textContent"
    assert "from 3 places" in page.evaluate(tools)
    page.evaluate("radio.state.set({ range: '0-1950' })")
    assert "from 2 places" in page.evaluate(tools)


def test_the_lane_of_a_worker_has_widths_and_percentages(
        opened, read_document, read_page):
    page = opened(read_page, fragment="#view=icicle&lanes=1&node=0")
    page.wait_drawn()
    spans = [one for one in read_document.spans if one["lane"] == 1]
    tiles = sum(one["duration"] for one in spans
                if read_document.nodes[one["node"]]["name"] == "tiles")
    assert page.evaluate("radio.model.metric().sum") == tiles > 0
    texts = {text.split()[0] for text, _ in drawn_text(page, "icicle")}
    assert {"read", "tiles", "decode"} <= texts
    lines = page.evaluate("""Object.fromEntries(
      [...document.querySelectorAll('aside dt')].map(one =>
        [one.textContent, one.nextSibling.textContent]))""")
    assert lines["of roots\u2019 time"] == "100\u00a0%"


def test_moving_through_the_timeline_makes_no_canvases(opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.wait_drawn()
    page.evaluate("""window.made = 0, document.createElement = (own =>
      function (tag, ...more) {
        window.made += tag === 'canvas';
        return own.call(this, tag, ...more);
      })(document.createElement)""")
    x, y = page.middle(".timeline canvas")
    for _ in range(3):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-150)
        page.wait_drawn()
    page.wait("radio.state.get('seen') !== ''")
    assert page.evaluate("window.made") == 0


def test_functions_lead_to_their_longest_run(opened, read_document,
                                             read_page):
    page = opened(read_page, fragment="#view=functions")
    page.evaluate("""[...document.querySelectorAll('.functions tbody tr')]
      .find(one => one.innerText.startsWith('blosc lz4')).click()""")
    page.evaluate("document.querySelector('.runs li button').click()")
    span = state(page, "span")
    longest = max(s["duration"] for s in read_document.spans
                  if read_document.nodes[s["node"]]["name"] == "blosc lz4")
    assert page.evaluate(f"radio.profile.spans.duration[{span}]") == longest
    assert state(page, "view") == "timeline"


def test_the_critical_path_is_shown_and_takes_the_operation_s_time(
        opened, read_page):
    page = opened(read_page, fragment="#view=timeline")
    page.press("c")
    page.wait_drawn()
    text = page.evaluate("document.querySelector('.path-sum').innerText")
    assert text.startswith("Critical path, 18.0\u00a0ms")
    percentages = [float(one) for one in re.findall(r"([\d.]+)\u00a0%", text)]
    assert 90 < sum(percentages) <= 100.5
    page.press("c")
    assert page.evaluate("document.querySelector('.path-sum').hidden")


def test_n_goes_from_span_to_span_on_the_timeline(opened, read_document,
                                                  read_page):
    page = opened(read_page, fragment="#view=timeline&query=first+byte")
    page.evaluate("document.activeElement.blur()")
    begins = sorted(s["begin"] for s in read_document.spans
                    if read_document.nodes[s["node"]]["name"] == "first byte")
    seen = []
    for _ in begins:
        page.press("n")
        seen.append(page.evaluate(
            "radio.profile.spans.begin[radio.state.get('span')]"))
    assert seen == begins
    page.press("N", shift=True)
    assert page.evaluate("radio.profile.spans.begin["
                         "radio.state.get('span')]") == begins[-2]


@pytest.mark.parametrize("view", ["timeline", "icicle", "tree", "sandwich",
                                  "functions", "facts"])
def test_a_view_is_saved_as_a_picture(opened, read_page, view):
    page = opened(read_page, fragment=f"#view={view}")
    page.wait_drawn()
    svg = ElementTree.fromstring(page.evaluate("radio.picture()"))
    name = "{http://www.w3.org/2000/svg}"
    assert svg.tag == name + "svg"
    texts = " ".join(one.text or "" for one in svg.iter(name + "text"))
    assert "radio slice ct/sub-01" in texts
    expected = "clock" if view == "facts" else "read plane"
    assert expected in texts
    width, height, kind = page.evaluate("""radio.png().then(blob =>
      createImageBitmap(blob).then(({ width, height }) =>
        [width, height, blob.type]))""")
    assert kind == "image/png"
    assert (width, height) == pytest.approx(
        (2 * float(svg.get("width")), 2 * float(svg.get("height"))), abs=2)


def test_hostile_names_do_not_break_a_picture(opened, tmp_path):
    made = ProfileDocument("a ]]> <b> & \x01 title")
    lane = made.lane("l")
    made.span(lane, "</text><script>\x02'\"", "user", 0, 1000)
    page = opened(write_page(made, tmp_path))
    for view in ("tree", "icicle", "timeline"):
        page.evaluate(f"radio.state.set({{ view: '{view}' }})")
        page.wait_drawn()
        svg = ElementTree.fromstring(page.evaluate("radio.picture()"))
        assert not [one for one in svg.iter() if "script" in one.tag]


def test_a_question_mark_lists_the_keys_of_every_view(opened, read_page):
    page = opened(read_page)
    page.press("?")
    text = page.evaluate("document.querySelector('dialog[open]').innerText")
    for label in page.evaluate("[...document.querySelectorAll("
                               "'[role=tab]')].map(one => one.textContent)"):
        assert label in text
    keys = page.evaluate("""Object.fromEntries(
      [...document.querySelectorAll('dialog section')].map(one =>
        [one.querySelector('h2').textContent,
         [...one.querySelectorAll('kbd')].map(key => key.textContent)]))""")
    assert {*"+-adwslL", "\u2190", "\u2192"} <= set(keys["Timeline"])
    assert {"Enter", "Space", "Home", "End"} <= set(keys["Tree"])
    assert "Backspace" in keys["Icicle"]
    assert page.evaluate("document.activeElement.textContent") == "Close"
    # Browsers warn about autofocus where an element has the focus already.
    assert page.evaluate("document.querySelector('[autofocus]')") is None
    page.press("Escape")
    assert page.evaluate("document.querySelector('dialog[open]')") is None


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_views_pass_axe(opened, read_page, axe, dark):
    page = opened(read_page, dark=dark)
    page.evaluate(axe + ";0")
    for view in page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                              ".map(one => one.id.slice(4))"):
        page.evaluate(f"radio.state.set({{ view: '{view}', node: 1, "
                      "query: 'read', range: '0-30000000' })")
        page.wait_drawn()
        found = page.evaluate(AXE_RUN)
        assert found["violations"] == [], view
        assert found["passed"] > 20
    faint = "#333" if dark else "#ddd"
    page.evaluate(f"document.querySelector('#app h1').style.color = '{faint}'")
    assert [one[0] for one in page.evaluate(AXE_RUN)["violations"]] \
        == ["color-contrast"]
