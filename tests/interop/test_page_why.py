# SPDX-License-Identifier: MIT
"""Why a run was slow, in the page: a run, a rank, a step or a request beside
the median one."""

import json
import re

import pytest

from pages import (AXE_RUN, axe, browser, drawn_text, opened, state,
                   text_of, write_page)
from profile_document import ProfileDocument, block

# Fixtures that tests import by name.
__all__ = ["axe", "browser", "opened"]

MS = 1_000_000
RUNS = 5


def add_run(made, begin, more):
    """A read of 60 ms, and more in lz4; returns its times by node."""
    lane = made.lanes and 0 or made.lane("main")
    read = made.span(lane, "read", "operation", begin, 60 * MS + more)
    decode = made.span(lane, "decode", "decode", begin + 5 * MS,
                       50 * MS + more, read, nbytes=1 << 20)
    blosc = made.span(lane, "blosc", "decode", begin + 6 * MS,
                      48 * MS + more, decode)
    made.span(lane, "lz4", "decode", begin + 7 * MS, 46 * MS + more, blosc)
    # Self times.
    return [60 * MS + more, 10 * MS], [50 * MS + more, 2 * MS], \
        [48 * MS + more, 2 * MS], [46 * MS + more, 46 * MS + more]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Five runs, in the fourth of which lz4 had no CPU for 47 ms."""
    made = ProfileDocument("runs", parts="runs")
    begin = 0
    for part in range(RUNS):
        more = 47 * MS if part == 3 else 0
        for node, (total, own) in enumerate(add_run(made, begin, more)):
            made.shares.append((node, part, 1, total, own, own,
                                more if node == 3 else 0))
        made.parts.append((f"run {part + 1}", 60 * MS + more, 60 * MS + more,
                           0, more))
        begin += 60 * MS + more
    document = made.document()
    document["nodes"]["starved_ns"] = [0, 0, 0, 47 * MS]
    return write_page(json.dumps(document), tmp_path_factory.mktemp("runs"))


def sentence(page):
    return text_of(page, ".why .diff-whole").replace("\u00a0", " ")


def press_button(page, name, within="body"):
    page.evaluate("[...document.querySelectorAll(%s + ' button')].find(one => "
                  "one.textContent === %s).click()"
                  % (json.dumps(within), json.dumps(name)))
    page.wait_drawn()


def test_a_slow_run_is_explained_by_two_clicks(opened, runs):
    page = opened(runs, fragment="#view=runs")
    press_button(page, "run 4", ".runs-view")
    press_button(page, "Why is it slow?", ".runs-view")
    assert (state(page, "view"), state(page, "why")) == ("why", "p3")
    assert sentence(page) == (
        "run 4 took 107 ms, 47.0 ms more than the median one, run 1. "
        "47.0 ms of 47.0 ms: decode \u203a blosc \u203a lz4, without a CPU.")
    cells = page.evaluate("""[...document.querySelector('.why tbody tr').cells]
      .map(one => one.textContent.replace('\u00a0', ' '))""")
    assert cells == ["blosc \u203a lz4", "93.0 ms", "46.0 ms", "+47.0 ms", "",
                     "+47.0 ms", "", "1", ""]
    heads = page.evaluate("""[...document.querySelectorAll('.why thead th')]
      .map(one => one.textContent)""")
    assert heads == ["path", "this one", "median", "difference",
                     "self, on CPUs", "self, no CPU", "self, wait", "calls",
                     "bytes"]


def test_the_slowest_is_first_and_keys_choose_others(opened, runs):
    page = opened(runs, fragment="#view=why")
    assert sentence(page).startswith("run 4 took")
    page.evaluate("document.querySelector('.why .strip canvas').focus()")
    page.press("ArrowRight")
    assert state(page, "why") == "p4"
    assert sentence(page) == ("run 5 took 60.0 ms, 0 ns more than the median "
                              "one, run 1.")
    press_button(page, "The slowest", ".why")
    assert sentence(page).startswith("run 4 took")
    press_button(page, "Only this one, in all views", ".why")
    assert state(page, "range") == "180000000-287000000"


def head(page):
    """Returns the figures of the head by their names."""
    return dict(page.evaluate("""[...document.querySelectorAll('.figure')]
      .map(one => [one.querySelector('dt').textContent,
                   one.querySelector('dd').textContent
                     .replaceAll('\u00a0', ' ')])"""))


def test_the_head_follows_what_the_views_are_narrowed_to(opened, runs):
    page = opened(runs, fragment="#view=tree")
    whole = head(page)
    assert whole["wall"] == "347 ms" and "only" not in whole
    press = "radio.state.set(%s)"
    page.evaluate(press % "{ range: '180000000-287000000' }")
    assert head(page) == {
        "only": "run 4", "wall": "107 ms", "work": "107 ms0.56 threads busy",
        "on CPUs": "60.0 ms", "no CPU": "47.0 ms",
        "wait": "0 ns", "scopes": "4"}
    # Of another stretch the log does not know what had no CPU.
    page.evaluate(press % "{ range: '180000000-190000000' }")
    assert head(page) == {
        "only": "10.0 ms from 180 ms", "wall": "10.0 ms",
        "work": "10.0 ms1.00 threads working", "wait": "0 ns", "scopes": "4"}
    assert page.evaluate(
        "document.querySelectorAll('.figures.narrowed').length") == 1
    page.press("Escape")
    assert head(page) == whole


def test_the_bar_of_the_threads_follows_too(opened, runs):
    page = opened(runs, fragment="#view=timeline")
    legend = """[...document.querySelectorAll('.threads-time li')]
      .map(one => one.textContent.replaceAll('\u00a0', ' '))"""
    assert page.evaluate(legend)[0] == "Of the threads\u2019 347 ms:"
    page.evaluate("radio.state.set({ range: '0-60000000' })")
    assert page.evaluate(legend) == [
        "Of the threads\u2019 60.0 ms in this part:", "decode 83.3 %",
        "operation 16.7 %"]


def test_tree_functions_and_details_divide_work_by_cpus(opened, runs):
    heads = """[...document.querySelectorAll('.tree thead th')]
      .filter(one => one.offsetParent).map(one => one.textContent)"""
    page = opened(runs, fragment="#view=tree&metric=starved&node=3")
    assert page.evaluate(heads)[:8] == [
        "scope", "total", "% of no CPU", "self", "work", "on CPUs", "no CPU",
        "wait"]
    cells = """[...%s].map(one => one.textContent.replace('\u00a0', ' '))"""
    assert page.evaluate(cells % "document.querySelector('[data-node=\"0\"]')"
                         ".querySelectorAll('[data-column=cpu],"
                         "[data-column=starved]')") == ["300 ms", "47.0 ms"]
    assert page.evaluate("""[...document.querySelectorAll('aside dt')]
      .filter(one => one.textContent.startsWith('of it, '))
      .map(one => one.textContent + ' '
        + one.nextSibling.textContent.replace('\u00a0', ' '))""") == [
            "of it, on CPUs 230 ms", "of it, no CPU 47.0 ms"]
    page.press("6")
    assert page.evaluate(heads)[4:7] == ["work", "on CPUs", "no CPU"]
    page = opened(runs, fragment="#view=tree&range=0-60000000")
    assert "no CPU" not in page.evaluate(heads)


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    """Two runs of a main thread and a worker, which did most of the one run's
    fetches each."""
    made = ProfileDocument("threads", parts="runs")
    main, worker = made.lane("main"), made.lane("worker")
    for part, (own, other) in enumerate(((9, 1), (2, 6))):
        begin = 20 * MS * part
        read = made.span(main, "read", "operation", begin,
                         (12 if part == 0 else 9) * MS)
        for lane, took in ((main, own), (worker, other)):
            tiles = made.span(lane, "tiles", "operation", begin + MS,
                              took * MS, read, edge=int(lane != main))
            made.span(lane, "fetch", "disk", begin + MS, took * MS, tiles)
        for node, total, self_ns in ((0, 12 - 3 * part, 2), (1, own, 0),
                                     (2, own, own), (3, other, 0),
                                     (4, other, other)):
            made.shares.append((node, part, 1, total * MS, self_ns * MS,
                                self_ns * MS, 0))
        made.parts.append((f"run {part + 1}", (12 - 3 * part) * MS, 12 * MS,
                           0, 0))
    return write_page(made, tmp_path_factory.mktemp("threads"))


def test_causes_of_several_threads_are_no_parts_of_the_difference(opened,
                                                                 tmp_path):
    made = ProfileDocument("threads", parts="runs")
    main, worker = made.lane("main"), made.lane("worker")
    for part, took in enumerate((10, 4)):
        begin = 20 * MS * part
        read = made.span(main, "read", "operation", begin, took * MS)
        for lane in (main, worker):
            made.span(lane, "fetch", "disk", begin, took * MS, read,
                      edge=int(lane != main))
        made.shares.append((0, part, 1, took * MS, 0, 0, 0))
        for node in (1, 2):
            made.shares.append((node, part, 1, took * MS, took * MS,
                                took // 2 * MS, 0))
        made.parts.append((f"run {part + 1}", took * MS, took * MS, 0, 0))
    page = opened(write_page(made, tmp_path), fragment="#view=why")
    # Both waited for 3 ms more and worked for 3 ms more: of 6 ms, that is 12.
    said = sentence(page)
    assert said.count("6.00 ms more, of all threads together: read \u203a "
                      "fetch, ") == 2
    assert "of 6.00 ms" not in said


def test_what_threads_did_for_a_path_is_one_until_split(opened, threads):
    page = opened(threads, fragment="#view=why")
    paths = """[...document.querySelectorAll('.why tbody tr')].map(row =>
      [row.querySelector('bdi').textContent, row.cells[3].textContent
        .replace('\u00a0', ' ')])"""
    assert "fetch, on a CPU" in sentence(page) or \
        "fetch, working" in sentence(page)
    assert page.evaluate(paths) == [
        ["tiles \u203a fetch", "+2.00 ms"], ["read", "+3.00 ms"],
        ["read \u203a tiles", "+2.00 ms"]]
    drawn = [text for text, _ in drawn_text(page, "why .icicle")]
    assert not any(text.startswith("gone") for text in drawn)
    whole = sentence(page)
    press_button(page, "By thread", ".why")
    assert state(page, "bythread") == "1" and sentence(page) == whole
    assert sorted(page.evaluate(paths)) == [
        ["read", "+3.00 ms"], ["read \u203a tiles", "+7.00 ms"],
        ["read \u203a tiles", "\u22125.00 ms"],
        ["tiles \u203a fetch", "+7.00 ms"],
        ["tiles \u203a fetch", "\u22125.00 ms"]]
    assert page.evaluate("document.querySelectorAll('.why .edge').length") == 2
    press_button(page, "By thread", ".why")
    assert len(page.evaluate(paths)) == 3


@pytest.mark.parametrize("document", ["steps", "runs", "threads"])
def test_a_letter_leads_there_whatever_its_number(opened, request, document):
    page = opened(request.getfixturevalue(document), fragment="#view=tree")
    page.press("y")
    assert state(page, "view") == "why"
    page.press("r")
    assert state(page, "view") == "facts"
    title = page.evaluate("document.getElementById('tab-why').title")
    assert title.endswith("Key y")


def made_steps(slow=7):
    """Twenty steps from 100 on, of which one waited for a request; a
    worker's load is their child."""
    made = ProfileDocument("steps")
    main, worker = made.lane("main"), made.lane("worker")
    requests = made.lane("requests 1", 1)
    for i in range(20):
        begin, more = 100 * MS * i, 40 * MS if i == slow else 0
        step = made.span(main, "step", "step", begin, 10 * MS + more)
        made.span(main, "wait", "queue", begin + MS, 8 * MS + more, step,
                  wait=8 * MS + more)
        load = made.span(worker, "load", "user", begin + MS, 8 * MS + more,
                         step, edge=1, wait=4 * MS + more)
        for _ in range(3 if i == slow else 1):
            made.span(requests, "GET", "network", begin + 2 * MS,
                      5 * MS + more, load, edge=2)
            requests = requests if i != slow else made.lane("requests", 1)
    document = made.document()
    document["tiles"] = block(
        [[0] + [1] * 19, [200] + [2] * 19, [0] * 20], 20, "deflate")
    return document


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """Their page, of a recording that does not know which had no CPU."""
    document = made_steps()
    document["nodes"]["starved_ns"] = [MS, 0, 0, 0]
    return write_page(json.dumps(document), tmp_path_factory.mktemp("steps"))


def test_times_without_a_cpu_are_those_of_spans(opened, tmp_path):
    document = made_steps()
    # The eighth load, after 40 spans of the main thread and seven loads; it
    # waited for all but 4 ms.
    document["starved"] = block([[40 + 7], [30 * MS]], 1, "deflate")
    document["nodes"]["starved_ns"] = [0, 0, 30 * MS, 0]
    page = opened(write_page(json.dumps(document), tmp_path),
                  fragment="#view=why&range=700000000-750000000")
    assert "self, no CPU" in text_of(page, ".why thead")
    assert "does not know" not in text_of(page, ".why")
    assert head(page)["no CPU"].startswith("4.00 ms")


def test_the_finding_of_slow_steps_leads_to_why(opened, steps):
    page = opened(steps)
    press_button(page, "Some steps are slow", ".findings")
    assert state(page, "view") == "why"
    assert page.evaluate("document.querySelector('.evidence').className"
                         ).startswith("diff-whole")
    shown = sentence(page)
    assert shown.startswith("step 107 took 50.0 ms, 40.0 ms more than the "
                            "median one, step 100. ")
    assert re.search(r"step \u203a load \u203a GET, waiting\.", shown)
    assert shown.endswith(" 3 instead of 1 requests.")
    assert "The log does not know which spans had no CPU." \
        in page.evaluate("document.querySelector('.why').innerText")


def test_the_finding_of_a_slow_first_step_leads_to_it(opened, tmp_path):
    page = opened(write_page(json.dumps(made_steps(slow=0)), tmp_path))
    press_button(page, "The first step was slower", ".findings")
    assert sentence(page).startswith("step 100 took 50.0 ms, 40.0 ms more")


def test_a_finding_leads_to_its_own_one_of_two_loops(opened, tmp_path):
    made = ProfileDocument("two loops")
    main = made.lane("main")
    for loop, nsteps, at in (("train", 40, 0), ("check", 20, 1000 * MS)):
        around = made.span(main, loop, "user", at, 900 * MS)
        for i in range(nsteps):
            slow = 40 * MS if loop == "check" and i == 7 else 0
            made.span(main, "step", "step", at, 10 * MS + slow, around)
            at += 10 * MS + slow
    page = opened(write_page(made, tmp_path))
    press_button(page, "Some steps are slow", ".findings")
    assert sentence(page).startswith("step #8 took 50.0 ms, ")
    assert page.evaluate("""(one => [one.selectedOptions[0].textContent,
      ...[...one.options].map(({ textContent }) => textContent).sort()])(
      document.querySelector('.why select'))""") == [
          "runs of check \u203a step", "runs of check \u203a step",
          "runs of train \u203a step"]


def test_steps_have_their_numbers_where_there_is_room(opened, steps):
    seen = "#view=timeline&seen=%d-%d"
    page = opened(steps, fragment=seen % (300 * MS, 400 * MS))
    assert "step 103" in [text for text, _ in drawn_text(page)]
    page = opened(steps, fragment=seen % (0, 1500 * MS))
    names = [text for text, _ in drawn_text(page)]
    # The slow one, and none of those that are narrower than their number.
    assert "107" in names and "103" not in names
    assert "step" not in " ".join(names)
    page = opened(steps, fragment="#view=why")
    ends = [text for text, _ in drawn_text(page, "strip")]
    assert "step 100" in ends and "step 119" in ends


def test_causes_on_one_thread_are_parts_of_the_difference(opened, tmp_path):
    """They were said to be of all threads together, where a new scope takes
    the place of its caller's own time."""
    made = ProfileDocument("one thread")
    lane, at = made.lane("main"), 0
    for i in range(10):
        more = 90 * MS if i == 7 else 0
        step = made.span(lane, "step", "step", at, 10 * MS + more)
        body = made.span(lane, "body", "user", at, 9 * MS + more, step)
        if more:
            made.span(lane, "slow part", "user", at, 9 * MS + more, body,
                      wait=60 * MS)
        at += 10 * MS + more
    page = opened(write_page(made, tmp_path), fragment="#view=why")
    assert sentence(page) == (
        "step #8 took 100 ms, 90.0 ms more than the median one, step #1. "
        "60.0 ms of 90.0 ms: step \u203a body \u203a slow part, waiting. "
        "39.0 ms of 90.0 ms: step \u203a body \u203a slow part, on a CPU.")


def test_any_span_can_be_asked_why(opened, steps):
    page = opened(steps, fragment="#view=timeline")
    span = page.evaluate("radio.profile.spans.node.findLastIndex(one => "
                         "radio.profile.names[one] === 'GET')")
    page.evaluate(f"""radio.state.set({{ span: {span},
      node: radio.profile.spans.node[{span}] }})""")
    press_button(page, "Why is it slow?", "aside")
    assert state(page, "why") == f"s{span}"
    assert sentence(page).startswith("GET #")
    assert page.evaluate("""[...document.querySelectorAll('.why option')]
      .map(one => one.textContent)""") == ["runs of step", "runs of GET"]


def test_what_the_log_dropped_is_marked(opened, tmp_path):
    document = made_steps()
    document["nodes"]["dropped_count"] = [7, 0, 9, 0]
    document["info"]["dropped_count"] = 16
    page = opened(write_page(json.dumps(document), tmp_path),
                  fragment="#view=why")
    assert "than the median one in the log, step 100." in sentence(page)
    assert page.evaluate("""[...document.querySelectorAll('.why th bdi')]
      .map(one => one.textContent).filter(one => one.endsWith('?')).sort()"""
                         ) == ["step ?", "step \u203a load ?"]
    assert "The log lacks 16 spans" in text_of(page, ".why")


def test_ranks_are_compared_too(opened, tmp_path):
    made = ProfileDocument("ranks", parts="ranks")
    for part in range(4):
        lane = made.lane("main", 0, part)
        took = 100 * MS if part == 2 else 10 * MS
        made.span(lane, "solve", "user", 0, took, nbytes=8)
        made.shares.append((0, part, 1, took, took, took // 2, took // 4))
        made.parts.append((f"rank {part}", took, took, 0, took // 4))
    page = opened(write_page(made, tmp_path), fragment="#view=parts")
    press_button(page, "rank 2", "#view-parts")
    assert sentence(page).startswith(
        "rank 2 took 100 ms, 90.0 ms more than the median one, rank 0. ")
    press_button(page, "Only this one, in all views", ".why")
    assert state(page, "lanes") == "2"


@pytest.mark.parametrize("why", ["p9", "s99999", "n77", "x", "p-1"])
def test_an_address_that_names_nothing_shows_the_slowest(opened, runs, why):
    page = opened(runs, fragment=f"#view=why&why={why}")
    assert sentence(page).startswith("run 4 took")


@pytest.mark.parametrize("width", [390, 1440])
def test_the_view_is_accessible(opened, runs, steps, axe, width):
    for page, fragment in ((runs, "#view=why"), (steps, "#view=why"),
                           (runs, "#view=tree&range=180000000-287000000")):
        for dark in (False, True):
            shown = opened(page, fragment=fragment, width=width, dark=dark)
            shown.evaluate(axe + "; 0")
            found = shown.evaluate(AXE_RUN)
            assert found["violations"] == [] and found["passed"] > 10
