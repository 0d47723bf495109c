# SPDX-License-Identifier: MIT
"""The page of radio bench ops: a curve for each operation, with its numbers,
and the sizes at which it leaves the caches; and that of radio profile op: what
bounds each operation."""

import json
import math
import re

import pytest

import profile_numbers as expected
from conftest import run_radio
from document_reader import Document
from pages import (AXE_RUN, axe, browser, curve_rows, opened,
                   write_page)

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


def test_a_volume_in_memory_is_no_file(tmp_path):
    """It was: "Files were in the page cache"."""
    path = tmp_path / "op.json"
    run_radio("profile", "op", "flip", "--size=64", "--runs=2", "-o", path)
    document = Document(path)
    fetched = [one["category"] for one in document.nodes
               if one["name"] == "fetch"]
    assert fetched and set(fetched) == {"place"}
    assert not {"warm-files", "cold-files", "bound-by-disk",
                "bound-by-files"} & set(document.raw["findings"]["id"])


def test_the_page_of_operations_passes_axe(opened, measured, axe):
    page = opened(measured[0])
    page.evaluate(axe + ";0")
    assert page.evaluate(AXE_RUN)["violations"] == []


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """Returns the profile of an operation as JSON."""
    data = tmp_path_factory.mktemp("op") / "op.json"
    run_radio("profile", "op", "clamp", "--size=64", "--runs=2", "--threads=1",
              "-o", data)
    return data


def with_rates(profiled, memory, compute):
    """The profile as if copying as much, and as much arithmetic at the best
    rate, took these fractions of the reads: the measured rates are of a
    machine that may be busy."""
    document = Document(profiled)
    raw, nodes = document.raw, document.nodes
    raw["nodes"]["starved_ns"] = [0] * len(nodes)
    raw.pop("starved", None)
    size_ns = {}
    for i, node in enumerate(nodes):
        if node["name"] == "64":
            size_ns[i] = node["total_ns"] - sum(
                n["total_ns"] for n in nodes
                if n["parent"] == i and n["name"] == "fault in")
    names, values = raw["counters"]["name"], raw["values"]
    for i, node in enumerate(values["node"]):
        if names[values["counter"][i]] == "ns of copying as much":
            values["value"][i] = int(memory * size_ns[node])
    flop = sum(node["counters"]["flop of clamp", "flop"] for node in nodes)
    assert flop == 2 * 2 * 64 ** 3
    size, = (i for i in size_ns
             if nodes[nodes[i]["parent"]]["name"] == "clamp")
    for i, key in enumerate(raw["facts"]["key"]):
        if key.startswith("limit flop/s"):
            raw["facts"]["value"][i] = str(int(
                flop * 1e9 / size_ns[size] / compute))
    return json.dumps(raw)


@pytest.mark.parametrize("bound, memory, compute, first, second", [
    ("Bound by memory", 0.8, 0.1, 80, 10),
    ("Bound by computing", 0.2, 0.7, 70, 20),
    ("Bound by neither memory nor arithmetic", 0.1, 0.3, 10, 30)])
def test_the_page_says_what_bounds_an_operation(
        opened, profiled, tmp_path, bound, memory, compute, first, second):
    page = opened(write_page(with_rates(profiled, memory, compute), tmp_path))
    said = [(text, found) for text in page.evaluate(
        "[...document.querySelectorAll('.findings li')]"
        ".map(one => one.textContent)")
        if (found := re.search(r"clamp (\d+)/(\d+)\s%", text))]
    assert len(said) == 1 and bound in said[0][0], said
    percents = [int(n) for n in said[0][1].groups()]
    assert abs(percents[0] - first) < 2, said
    assert abs(percents[1] - second) < 2, said
