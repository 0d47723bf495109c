# SPDX-License-Identifier: MIT
"""The views that do not draw the whole tree: they follow the metric, the
search and transforms, or say that they do not; and the address records it."""

import json
from pathlib import Path

import pytest

from conftest import run_radio
from pages import browser, made_read, opened, state, write_page

# Fixtures that tests import by name.
__all__ = ["browser", "opened"]


@pytest.fixture(scope="module")
def changes(tmp_path_factory):
    """Returns two made profiles, the second with twice as many planes."""
    folder = tmp_path_factory.mktemp("changes")
    for name, nreads in (("before", 2), ("after", 4)):
        write_page(made_read(seed=nreads, nreads=nreads), folder, name)
    page = folder / "changes.html"
    run_radio("diff", folder / "before.json", folder / "after.json", "-o",
              page)
    return page


@pytest.mark.parametrize("width", [1440, 390])
def test_findings_say_that_they_are_of_the_whole_beside_a_part(
        opened, changes, width):
    page = opened(changes.with_name("after.html"), width=width)

    def marks():
        # Each has it beside its title, or all have it above where the screen
        # is narrow.
        return page.evaluate(
            "[...document.querySelectorAll('.findings li')].map(one => "
            "one.checkVisibility() && (one.innerText + getComputedStyle("
            "one.closest('.findings'), '::before').content)"
            ".includes('whole recording'))")

    assert marks() and not any(marks())
    for part in ({"range": "20000000-40000000"}, {"lanes": "0"}):
        change(page, range="", lanes="")
        assert not any(marks())
        change(page, **part)
        shown = page.evaluate(
            "[...document.querySelectorAll('.findings li')].filter(one => "
            "one.checkVisibility()).length")
        assert sum(marks()) == shown > 0
    # What narrows the tree alone leaves the head as it is.
    change(page, range="", lanes="",
           transforms=f"f{node_named(page, 'decode')}")
    assert not any(marks())
    page = opened(changes, fragment="#view=timeline&range=20000000-40000000")
    assert all(marks())


def whole(page):
    return page.evaluate("document.querySelector('.diff-whole').textContent")


def listed(page, kind="tr[data-path]"):
    return page.evaluate(
        "Array.from(document.querySelectorAll(%s), one => "
        "one.querySelector('bdi').textContent)" % json.dumps(".diff " + kind))


def change(page, **values):
    page.evaluate("radio.state.set(%s, { step: true })" % json.dumps(values))
    page.wait_drawn()


def go_back(page):
    page.evaluate("new Promise(done => { addEventListener('popstate', () => "
                  "setTimeout(done), { once: true }); history.back(); })")
    page.wait_drawn()


def node_named(page, name):
    return page.evaluate("radio.profile.names.indexOf(%s)"
                         % json.dumps(name))


def test_changes_follow_the_metric_and_the_transforms(opened, changes):
    page = opened(changes, fragment="#view=diff&metric=calls")
    assert "calls of a run " in whole(page)
    change(page, metric="c:bytes decoded")
    assert "bytes decoded of a run " in whole(page) and "MB" in whole(page)
    assert "spread of runs was not recorded" in page.evaluate(
        "document.querySelector('.diff').innerText")
    change(page, metric="wall")
    assert "decode" in listed(page)
    change(page, transforms=f"h{node_named(page, 'decode')}")
    assert "decode" not in listed(page) and "tiles" in listed(page)
    change(page, transforms=f"f{node_named(page, 'decode')}")
    assert set(listed(page)) == {"decode", "blosc lz4"}
    change(page, range="0-1000000")
    assert "all the time and all lanes" in page.evaluate(
        "document.querySelector('.bar-of-tools').textContent")


def test_the_search_covers_changes(opened, changes):
    page = opened(changes, fragment="#view=diff&query=decode")
    matches = listed(page, "tr.match")
    assert matches and set(matches) == {"decode"}
    assert "decode" not in listed(page, "tr.faint")
    answer = page.evaluate("document.querySelector('.search output').value")
    assert answer.startswith(f"{len(matches)} match")
    assert answer.endswith("of roots\u2019 time")
    found = set()
    for _ in matches:
        page.press("n")
        found.add(state(page, "path"))
    assert len(found) == len(matches) and -1 not in found
    assert page.evaluate("document.querySelector('.diff tr.selected bdi')"
                         ".textContent") == "decode"


def test_the_address_and_back_restore_changes(opened, changes):
    page = opened(changes, fragment="#view=diff&path=2&into=1")
    chosen = page.evaluate(
        "document.querySelector('.diff-choice strong').textContent")
    first = whole(page)
    page.click_on(".diff .tile-controls button")
    assert (state(page, "swap"), state(page, "into")) == ("1", -1)
    assert whole(page) != first
    go_back(page)
    assert (state(page, "swap"), state(page, "into")) == ("", 1)
    assert whole(page) == first
    assert page.evaluate("document.querySelector('.diff-choice strong')"
                         ".textContent") == chosen
    page.press("m")
    assert "metric=" in page.evaluate("location.hash")
    go_back(page)
    assert state(page, "metric") == "wall"


@pytest.mark.parametrize("view", ["facts", "timeline"])
def test_unused_controls_of_a_view_are_disabled_and_explained(
        opened, changes, view):
    page = opened(changes.with_name("after.html"), fragment="#view=tree")
    change(page, view=view)
    disabled = "document.querySelector('.bar-of-tools %s').disabled"
    assert page.evaluate(disabled % "select")
    assert not page.evaluate(disabled % "input")
    assert page.evaluate("document.querySelector('.bar-of-tools "
                         "[role=status]').textContent") != ""
    change(page, view="tree")
    assert not page.evaluate(disabled % "select")
    assert page.evaluate("document.querySelector('.bar-of-tools "
                         "[role=status]').textContent") == ""


def test_a_page_that_was_saved_shows_its_profile_again(browser, opened,
                                                       changes, tmp_path):
    page = opened(changes, fragment="#view=diff")
    text = page.evaluate("'<!DOCTYPE html>' + "
                         "document.documentElement.outerHTML")
    saved = Path(tmp_path) / "saved.html"
    saved.write_text(text, encoding="utf-8")
    # The policy blocks the saved inline styles; the script redraws the view.
    again = browser.open(saved, fragment="#view=diff")
    again.wait("window.radio")
    assert whole(again) == whole(page)
    assert again.evaluate("document.querySelectorAll('#app > main').length") \
        == 1
    assert again.evaluate("document.querySelectorAll('style').length") == 2
    assert again.requests() == []
    again.close()
