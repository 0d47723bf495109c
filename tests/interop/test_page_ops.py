# SPDX-License-Identifier: MIT
"""The page of radio bench ops: a curve for each operation, with its numbers,
and the sizes at which it leaves the caches."""

import math

import pytest

import profile_numbers as expected
from conftest import run_radio
from document_reader import Document
from pages import AXE_RUN, axe, browser, curve_rows, opened

__all__ = ["axe", "browser", "opened"]   # fixtures

SIZES = (8, 16, 96)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Returns the page, and its profile as JSON."""
    page = tmp_path_factory.mktemp("ops") / "ops.html"
    data = page.with_suffix(".json")
    run_radio("bench", "ops", "--ops=clamp,flip", "--rounds=3", "--runs=1",
              "--threads=1", "--sizes=" + ",".join(map(str, SIZES)), "-o",
              page, "-o", data)
    return page, data


def test_each_operation_has_a_curve_and_rows(opened, measured):
    page = opened(measured[0])
    assert page.evaluate("""[...document.querySelectorAll('#curve svg')].map(
      one => [one.getAttribute('aria-label'),
              one.querySelectorAll('circle').length])""") == [
        [name, 3] for name in ("read", "clamp", "flip")]
    assert [row[:3] for row in curve_rows(page)] == [
        [f"{name} {n}", expected.bytes_text(4 * n ** 3), "3"]
        for name in ("read", "clamp", "flip") for n in SIZES]


def test_caches_are_marked_at_their_sizes(opened, measured):
    page = opened(measured[0])
    table = Document(measured[1]).raw["facts"]
    facts = dict(zip(table["key"], table["value"]))
    sizes = [4 * n ** 3 for n in SIZES]
    wanted = []
    for name, key in (("L1", "L1d"), ("L2", "L2"), ("L3", "L3")):
        # Input and output are of the same size.
        nbytes = int(facts.get(f"{key} cache bytes", 0)) / 2
        if sizes[0] < nbytes < sizes[-1]:
            part = math.log(nbytes / sizes[0]) / math.log(
                sizes[-1] / sizes[0])
            wanted.append([name, 42 + round(part * (298 - 42))])
    shown = page.evaluate("""[...document.querySelector('#curve svg')
      .querySelectorAll('line')].map(one => [
        one.nextElementSibling.textContent, Number(one.getAttribute('x1'))])
      """)
    assert shown == wanted


def test_the_page_of_operations_passes_axe(opened, measured, axe):
    page = opened(measured[0])
    page.evaluate(axe + ";0")
    assert page.evaluate(AXE_RUN)["violations"] == []
