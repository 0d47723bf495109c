# SPDX-License-Identifier: MIT
"""radio bench ops: every operation is measured, its parts add up to the whole,
and page faults are where they are said to be, as the kernel counts them."""

import csv
import json
import math
import re
import resource
from pathlib import Path

import pytest

from conftest import run_radio

PARTS = ["allocate", "fault in", "plan", "convert", "operate"]
SHORT = ["--rounds=2", "--runs=2", "--warmup=1"]


def bench(*arguments):
    return json.loads(run_radio("bench", "ops", "--json", *arguments).stdout)


def known_operations():
    """Returns the operations that the parser of pipelines names."""
    error = run_radio("info", "--apply=nosuch", "none.nii", status=2).stderr
    names = re.search("use one of ([-a-z0-9, ]*)", error)[1]
    return set(names.strip().split(", "))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    table = tmp_path_factory.mktemp("ops") / "ops.csv"
    return bench("--sizes=32", *SHORT, "--csv", table), table


def test_every_operation_is_measured(small):
    rows = small[0]["rows"]
    assert [r for r in rows if "skipped" in r] == []
    names = {r["operation"] for r in rows if r["kind"] == "volume"}
    # Those that are left out need a second volume, or a seed.
    left_out = known_operations() - names
    assert {name for name in left_out
            if not name.startswith("random-")} <= {"like"}
    assert names - known_operations() == {"read"}
    assert {(r["operation"], r["size"]) for r in rows
            if r["kind"] == "plane"} == {
                (name, size) for name in ("read", "scale")
                for size in (512, 1024, 2048)}
    for row in rows:
        if row["pipeline"]:
            assert row["pipeline"].split()[0] in (row["operation"], "linear")


def test_the_parts_add_up_to_the_mean(small):
    for row in small[0]["rows"]:
        parts = row["breakdown"]
        assert set(parts) == {"whole_s", "page_faults", *PARTS}
        assert math.isclose(sum(parts[p] for p in PARTS), parts["whole_s"],
                            rel_tol=1e-6)
        assert math.isclose(parts["whole_s"], row["mean_s"], rel_tol=1e-6)
        assert all(parts[p] >= -1e-9 for p in PARTS)
        if row["operation"] == "read":
            assert parts["operate"] == 0


def test_figures_are_those_of_the_times(small):
    for row in small[0]["rows"]:
        times = sorted(row["times_s"])
        assert row["n"] == len(times) == 4
        assert row["min_s"] == times[0] and row["max_s"] == times[-1]
        assert math.isclose(row["mean_s"], sum(times) / 4)
        assert math.isclose(row["median_s"], (times[1] + times[2]) / 2)
        assert row["input_nbytes"] == 4 * (
            row["size"] ** 3 if row["kind"] == "volume" else row["size"] ** 2)


def test_the_csv_has_the_figures_of_the_json(small):
    with open(small[1], encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(small[0]["rows"])
    for written, row in zip(table, small[0]["rows"]):
        for key in ("operation", "pipeline", "kind", "dtype"):
            assert written[key] == row[key]
        assert int(written["size"]) == row["size"]
        assert float(written["median_s"]) == row["median_s"]
        for part in PARTS:
            assert (float(written[part.replace(" ", "_") + "_s"])
                    == row["breakdown"][part])
        assert math.isclose(float(written["mb_per_s"]), row["input_nbytes"]
                            / 1e6 / row["median_s"], rel_tol=1e-9)


def test_the_printed_parts_are_those_of_the_csv(tmp_path):
    file = tmp_path / "ops.csv"
    printed = run_radio("bench", "ops", "--ops=clamp", "--sizes=16", *SHORT,
                        "--csv", file).stdout
    titles, *rows = [re.split(r"  +", line.strip()) for line
                     in printed.split("\n\n")[2].splitlines()]
    assert titles == ["size", "mean ms", *PARTS]
    with open(file, encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    for row, figures in zip(rows, table, strict=True):
        assert row[0] == figures["operation"]
        for text, part in zip(row[3:], PARTS, strict=True):
            share = (float(figures[part.replace(" ", "_") + "_s"])
                     / float(figures["mean_s"]))
            assert math.isclose(float(text.split()[0]), 100 * share,
                                rel_tol=0.06, abs_tol=0.06)


def test_types_and_threads_are_measured_apart():
    rows = bench("--ops=flip", "--ops=clamp -1,5 | crop 2:6,:,0:3",
                 "--sizes=8,16", "--types=uint8,float64", "--threads=1,2",
                 *SHORT)["rows"]
    assert len(rows) == 3 * 2 * 2 * 2
    assert {(r["dtype"], r["output_dtype"]) for r in rows} == {
        ("uint8", "float32"), ("float64", "float64")}
    for row in rows:
        item = {"uint8": 4, "float64": 8}[row["dtype"]]
        n = row["size"] ** 3
        if "crop" in row["operation"]:
            n = 4 * row["size"] * 3
        assert row["output_nbytes"] == n * item


def count_faults(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    rows = bench("--ops=clamp", "--sizes=256", "--rounds=1", "--warmup=1",
                 "--threads=1", *arguments)["rows"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    return rows, after - before


def has_small_pages():
    """Returns whether memory that is not asked to be so is in small pages."""
    file = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return not file.exists() or "[always]" not in file.read_text()


def test_pages_are_faulted_in_where_it_is_said():
    if not has_small_pages():
        pytest.skip("the kernel gives huge pages unasked")
    pages = 4 * 256 ** 3 / resource.getpagesize()
    few, faults_of_few = count_faults("--runs=1")
    _, faults_of_many = count_faults("--runs=5")
    for row in few:
        faults = row["breakdown"]["page_faults"]
        assert 0.98 * pages < faults["fault in"] < 1.1 * pages
        assert faults["allocate"] + faults["read"] < 0.1 * pages
    # The kernel's count of the process: four more runs of two cases.
    more = faults_of_many - faults_of_few
    assert 0.9 * 8 * pages < more < 1.2 * 8 * pages


def test_memory_that_is_reused_is_not_faulted_in():
    if not has_small_pages():
        pytest.skip("the kernel gives huge pages unasked")
    pages = 4 * 256 ** 3 / resource.getpagesize()
    few, faults_of_few = count_faults("--runs=1", "--destination=reused")
    _, faults_of_many = count_faults("--runs=5", "--destination=reused")
    for row in few:
        assert sum(row["breakdown"]["page_faults"].values()) < 0.05 * pages
    assert faults_of_many - faults_of_few < pages


def test_a_volume_that_memory_cannot_hold_is_reported():
    rows = bench("--ops=clamp", "--sizes=8,4096", *SHORT)["rows"]
    left_out = [r for r in rows if "skipped" in r]
    assert [r["size"] for r in rows] == [8, 8, 4096, 4096]
    assert [r["size"] for r in left_out] == [4096, 4096]
    assert all(re.search(r"it takes 1.4 TB of memory, and [0-9.]+ [kMG]B are "
                         "left; give smaller --sizes", r["skipped"])
               for r in left_out)


def test_an_operation_that_a_size_cannot_have_is_reported():
    rows = bench("--ops=crop 0:20,:,:", "--sizes=16,32", *SHORT)["rows"]
    assert [(r["size"], "skipped" in r) for r in rows] == [
        (16, False), (16, True), (32, False), (32, False)]
    assert "out of range (1-16)" in rows[1]["skipped"]


@pytest.mark.parametrize("arguments, message", [
    (["--ops=nosuch"], "unknown operation 'nosuch'; use some of scale,"),
    (["--ops=clamp 5"], "pipeline, byte 6"),
    (["--sizes=7"], "--sizes: '7' is not a list"),
    (["--sizes=8,"], "--sizes: '8,' is not a list"),
    (["--types=float33"], "--types: 'float33' is not a list of types"),
    (["--types=complex64"], "--types: 'complex64' is not a list of types"),
    (["image.nii"], "image.nii"),
])
def test_mistakes_are_usage_errors(arguments, message):
    assert message in run_radio("bench", "ops", *arguments, status=2).stderr


@pytest.mark.parametrize("name", ["flip", "clamp -5,5 | rot90 xz", "all"])
def test_a_profile_of_an_operation_has_its_scopes_and_limits(name, tmp_path):
    data = tmp_path / "op.json"
    found = json.loads(run_radio(
        "profile", "op", name, "--size=32", "--runs=2", "--types=int16",
        "--threads=1", "--json", "-o", data).stdout)
    roots = [s["name"] for s in found["scopes"] if s["parent"] is None]
    wanted = [name]
    if name == "all":
        wanted = [r["operation"] for r in bench(
            "--sizes=32", "--rounds=1", "--runs=1")["rows"]
            if r["kind"] == "volume"][1:]
    assert roots == ["read", *wanted]
    assert found["time"]["n"] == 2
    # Each run allocates, faults in, reads and releases.
    for i, scope in enumerate(found["scopes"]):
        if scope["parent"] is None:
            assert scope["calls"] == 2
            below, = [s for s in found["scopes"] if s["parent"] == i]
            assert below["name"] == "32"
            assert below["counters"]["bytes of input"] == 2 * 2 * 32 ** 3
            # The limit that it is compared with.
            assert below["counters"]["ns of copying as much"] > 0
    assert sum(s["name"] == "fault in" for s in found["scopes"]) == len(roots)
    facts = json.loads(data.read_text())["facts"]
    facts = dict(zip(facts["key"], facts["value"]))
    assert int(facts["limit memory bytes/s"]) > 0
    assert facts["pipeline"] == name
    assert facts["volume"] == "32 x 32 x 32 int16"
