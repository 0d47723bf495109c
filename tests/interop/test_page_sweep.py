# SPDX-License-Identifier: MIT
"""The curve of a sweep, in the page of a real one: its place, its numbers, and
that a saved page keeps it."""

import statistics

import pytest

import profile_numbers as expected
from conftest import run_radio
from document_reader import Document
from pages import AXE_RUN, axe, browser, curve_rows, opened

__all__ = ["axe", "browser", "opened"]   # fixtures

SIZES = (8, 16, 32)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Returns the page, and its profile as JSON."""
    page = tmp_path_factory.mktemp("sweep") / "sweep.html"
    data = page.with_suffix(".json")
    run_radio("profile", "sweep", "--phantom=64", "--runs=5",
              "--sizes=" + ",".join(map(str, SIZES)), "-o", page, "-o", data)
    return page, data


def places(page):
    """Returns the page's parts in order, from the top."""
    return page.evaluate("""[...document.querySelectorAll(
      '.findings, #curve, [role=tablist]')].sort((a, b) =>
        a.getBoundingClientRect().y - b.getBoundingClientRect().y)
      .map(one => one.id || one.role || one.className)""")


def test_the_curve_is_between_findings_and_views(opened, sweep):
    page = opened(sweep[0])
    assert places(page) == ["findings", "curve", "tablist"]
    assert page.evaluate("document.querySelectorAll('#curve svg').length") \
        == 2


def test_without_a_script_the_curve_is_there(browser, sweep):
    page = browser.open(sweep[0], script=False)
    document = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    found = page.call("DOM.querySelector", nodeId=document,
                      selector="#curve svg")["nodeId"]
    assert page.call("DOM.getBoxModel", nodeId=found)["model"]["height"] > 100


def test_the_curve_has_the_json_s_numbers(opened, sweep):
    page = opened(sweep[0])
    document = Document(sweep[1])
    shown = curve_rows(page)
    assert len(shown) == len(SIZES)
    for n, (name, size, runs, median, quartiles, rate) in zip(SIZES, shown):
        node, = (i for i, one in enumerate(document.nodes)
                 if one["name"] == f"box {n}")
        times = [one["total_ns"] / one["calls"] for one in document.shares
                 if one["node"] == node and one["calls"] > 0]
        low, middle, high = statistics.quantiles(times, n=4,
                                                 method="inclusive")
        assert name == f"box {n}"
        assert size == expected.bytes_text(2 * n ** 3)
        assert runs == str(len(times)) == "5"
        assert median == expected.time_text(round(middle))
        assert quartiles == (f"{expected.time_text(round(low))} to "
                             f"{expected.time_text(round(high))}")
        assert rate == expected.bytes_text(
            2 * n ** 3 * 1e9 / round(middle)) + "/s"


def test_a_sweep_s_page_that_was_saved_has_its_curve_once(browser, opened,
                                                          sweep, tmp_path):
    page = opened(sweep[0])
    saved = tmp_path / "saved.html"
    saved.write_text(page.evaluate("'<!DOCTYPE html>' + "
                                   "document.documentElement.outerHTML"),
                     encoding="utf-8")
    again = browser.open(saved)
    again.wait("window.radio")
    assert curve_rows(again) == curve_rows(page)
    assert places(again) == places(page)
    again.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_sweep_s_page_passes_axe(opened, sweep, axe, dark):
    page = opened(sweep[0], dark=dark)
    page.evaluate(axe + ";0")
    found = page.evaluate(AXE_RUN)
    assert found["violations"] == []
    assert found["passed"] > 20
