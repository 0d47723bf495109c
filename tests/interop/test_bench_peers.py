# SPDX-License-Identifier: MIT
"""Tests the volumes, the arithmetic and the tables of tools/bench-peers.  Its
smoke run measures the stores themselves."""

import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[2] / "tools" / "peers"
sys.path.insert(0, str(PEERS))

READS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128"]


@pytest.fixture(scope="module")
def modules(np):
    import goals
    import report
    import stores
    import volumes
    return goals, report, stores, volumes


def reads(name, times, nbytes=1, rounds=3, **more):
    """Returns records of a store: n rounds, each a little slower."""
    return [{"kind": "reads", "round": r, "name": name,
             "stored_nbytes": nbytes,
             "times_s": {k: [v * (1 + r / 10)] for k, v in times.items()},
             **more} for r in range(rounds)]


def scaled(name, **what):
    return {"kind": "scaling", "round": 0, "name": name, **what}


def all_at(seconds):
    return dict.fromkeys(READS, seconds)


def test_the_large_volume_is_made_of_the_head_in_all_symmetries(modules, np):
    volumes = modules[3]
    head = np.arange(108 * 256 * 256, dtype="<i4").reshape(108, 256, 256)
    large = volumes.lay_out(head)
    assert large.shape == (304, 512, 512)
    blocks = [large[z, y:y + 256, x:x + 256]
              for z in (0, 108, 216) for y in (0, 256) for x in (0, 256)]
    for block in blocks:
        assert (np.sort(block, axis=None) == head[0].reshape(-1)).all()
    assert len({block.tobytes() for block in blocks}) == 8
    # No block is next to its own copy.
    for a, b in ((0, 1), (0, 2), (1, 3), (2, 3)):
        assert (blocks[a] != blocks[b]).any()


def test_ratios_are_computed_per_round(modules):
    report = modules[1]
    slow = [{"kind": "reads", "round": r, "name": "a",
             "times_s": {"full": [8 * (r + 1), 1000, 0]}} for r in range(3)]
    mine = [{"kind": "reads", "round": r, "name": "b",
             "times_s": {"full": [2 * (r + 1)]}} for r in (2, 1, 5)]
    results = report.Results(slow + mine)
    assert results.rounds("a", "full") == {0: 8, 1: 16, 2: 24}
    assert results.ratio("a", "b", "full") == (4, 4, 4)
    assert results.ratio("b", "a", "axial") is None
    assert results.seconds("a", "full") == 16
    assert results.seconds("a", "write_s") is None


def test_a_pair_s_figures_come_from_the_medians_of_its_rounds(modules):
    report = modules[1]
    results = report.Results([
        {"kind": "scaling", "round": r, "name": "p",
         "ratios": [0.5 + r / 10, 0.1, 9]} for r in range(3)])
    assert results.pairs("p", lambda r: 10 * r) == pytest.approx((6, 5, 7))
    assert results.pairs("q", lambda r: r) is None


def test_memory_is_the_maximum(modules):
    report = modules[1]
    results = report.Results([
        scaled("memory-small", rows={"full": {"beside_nbytes": 5},
                                     "axial": {"beside_nbytes": 9}}),
        scaled("memory-fast", rows={"full": {"beside_nbytes": 7}}),
        scaled("memory-axial-small", rows={"full": {"beside_nbytes": 8}})])

    def most(names, *rows):
        return results.memory(names, rows, "beside_nbytes")
    both = ["memory-small", "memory-fast"]
    assert most(both, "full") == 7 and most(both, "full", "axial") == 9
    assert most(both, "box32") is None
    assert most(["memory-axial-small"], "full", "axial") == 8


class Plain:
    """A store that saves its values as an .npy file, with one possible
    error."""

    reversed = False

    def __init__(self, lost=False):
        self.lost = lost

    def write(self, values, path, threads):
        import numpy
        values = values.copy()
        values[1, 2, 3] += self.lost
        with open(path, "wb") as file:
            numpy.save(file, values)

    def ingest(self, file, path, threads):
        import numpy
        self.write(numpy.load(file), path, threads)

    def open(self, path, threads):
        import numpy
        import stores
        values = numpy.load(path)
        return lambda start, size, flat: \
            values[stores.selection(start, size, flat)]


@pytest.mark.parametrize("phase", ["write", "ingest"])
def test_written_stores_are_verified(np, tmp_path, phase):
    import checks
    import worker
    file = tmp_path / "volume.npy"
    np.save(file, np.arange(3 * 4 * 5, dtype="<i2").reshape(3, 4, 5))
    task = {"array": file, "file": file, "path": tmp_path / "made",
            "times": 2, "threads": 1, "shape": [3, 4, 5]}
    act = {"write": worker.write, "ingest": worker.ingest}[phase]
    held = checks.Checks(file)
    whole = act(Plain(), task)
    held.compare("it", whole["checksums"])
    assert whole["seconds"] > 0 and list(whole["checksums"]) == ["full"]
    with pytest.raises(SystemExit, match="it returns other voxels .* full"):
        held.compare("it", act(Plain(lost=True), task)["checksums"])


def test_ratios_of_a_pair_are_of_the_same_rounds():
    import scaling
    layouts = [{"rows": [{"row": "open", "runs_of_a_round": 1,
                          "times_s": [1, 1, 1]},
                         {"row": "full", "runs_of_a_round": n,
                          "times_s": times}]}
               for n, times in ((2, [2, 4, 1, 1]), (3, [6, 99, 1, 2, 2, 2]))]
    assert scaling.ratios({"layouts": layouts}, "full") == [2, 2]


def images_of(image, seconds, nbytes):
    """Returns records of an image; every layout has the given time and
    size."""
    import images
    return [{"kind": "images", "round": r, "name": f"{image}-{codec}",
             "image": image, "shape": [3, 4, 5], "dtype": "uint8",
             "raw_nbytes": 60, "layouts": [
                 {"tiling": tiling, "codec": codec, "tile": [1, 2, 3],
                  "stored_nbytes": nbytes * (1 + tiling.count("64")),
                  "seconds": {row: (r + 1) * seconds
                              * (1 + tiling.count("64"))
                              for row in images.COLUMNS}}
                 for tiling in images.TILINGS]}
            for r in range(2) for codec in images.CODECS]


def test_layouts_are_compared_with_balanced(modules):
    import images
    by_image = {"ct": images_of("ct", 0.1, 7), "mr": images_of("mr", 9, 3)}
    rows = images.summary(by_image).splitlines()[2:]
    cells = {line.split("|")[1].strip(): line.split("|")[2:-1]
             for line in rows}
    assert list(cells) == images.TILINGS
    for tiling, values in cells.items():
        wanted = {0: 1, 2: 3, 3: 4}[tiling.count("64")]
        assert [float(v) for v in values] == 6 * [wanted]
    assert images.presets(by_image).splitlines()[2:] == [
        f"| {codec} | 1.00 | 1.00 | 1.00 |" for codec in images.CODECS]


def test_every_image_has_a_line_for_each_layout(modules):
    import images
    text = images.text({"ct": images_of("ct", 0.1, 7)}, {"ct": "CT"})
    assert "#### CT, uint8, 3 x 4 x 5, 0.0 MB; rounds: 2" in text
    lines = text.partition("####")[2].splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(images.TILINGS) * len(images.CODECS)
    assert len({line.count("|") for line in table}) == 1
    assert "| **balanced medium** | 3x2x1 |" in text


def test_the_best_of_a_column_excludes_plane_wise_stores(modules):
    goals, report = modules[:2]
    results = report.Results(
        reads("radio-balanced-medium", all_at(1.0))
        + reads("blosc2", {**all_at(9.0), "axial": 0.1})
        + reads("ts-shard", all_at(3.0))
        + reads("python-balanced-medium", all_at(0.5)))
    assert goals.columns(results) == dict.fromkeys(READS, "ts-shard")
    rows = goals.every_column(results, "radio-balanced-medium", 1, 2, "int16")
    assert [row[3][:4] for row in rows] == 8 * ["3.00"] + ["not "]


def test_the_geometric_mean_is_one(modules):
    goals = modules[0]
    assert goals.geometric_mean([2, 8]) == pytest.approx(4)
    assert goals.geometric_mean([]) == 0


def test_means_use_only_complete_rounds(modules):
    goals, report = modules[:2]
    other = reads("a", all_at(8.0), rounds=4)
    del other[1]["times_s"]["box64"]
    results = report.Results(other + reads("b", all_at(1.0))
                             + reads("b", all_at(2.0), rounds=1))
    others = dict.fromkeys(READS, "a")
    # Only rounds 0 and 2 count; in round 0 the last record does.
    assert goals.mean_ratio(results, "b", others) == pytest.approx((6, 4, 8))
    others["axial"] = "c"
    assert goals.mean_ratio(results, "b", others) is None
    others["axial"] = None
    assert goals.mean_ratio(results, "b", others) is None


@pytest.mark.parametrize("ratios, result, verdict", [
    ([3, 2, 4], "3.00 (2.00 to 4.00)", "yes"),
    ([1.9, 2, 4], "2.00 (1.90 to 4.00)", "yes, within the spread"),
    ([1.9, 1, 4], "1.90 (1.00 to 4.00)", "**no**, within the spread"),
    ([1.9, 1, 1.9], "1.90 (1.00 to 1.90)", "**no**"),
    ([2], "2.00", "yes"),
    ([], "not measured", "")])
def test_the_median_decides_and_a_range_across_the_aim_is_shown(
        modules, ratios, result, verdict):
    goals = modules[0]
    assert goals.times("it", "another", 2, goals.middle(ratios)) == [
        "it", "another", "2 x", result, verdict]
    upside_down = goals.share_of_time("it", "another", 0.5, goals.middle(
        1 / ratio for ratio in ratios))
    assert upside_down[-1] == verdict


def everything(report, speed):
    """Returns results of every store; radio is faster by the factor speed."""
    records = []
    for codec in ("small", "medium", "fast"):
        for tiling in ("balanced", "axial"):
            name = f"radio-{tiling}-{codec}"
            bench = {"decode_all": 1e6,
                     "rows": {"full": {"limit_s": speed / 20,
                                       "median_s": 1.0},
                              "box32": {"nbytes": 1000, "median_s":
                                        0.02 / speed, "counted_nbytes": 100,
                                        "decoded_nbytes": 200}}}
            records += reads(name, {**all_at(1 / speed), "scroll": 1 / speed,
                                    "first-plane": 1.01 / speed},
                             60_000_000, bench=bench)
            records.append({"kind": "writes", "round": 0, "name": name,
                            "write_s": [1 / speed], "ingest_s": [1 / speed],
                            "inflate_s": 0.05})
    for name in ("tiledb-axial", "tiledb-64", "radiobject", "ts-shard",
                 "ts-axial", "blosc2", "blosc2-nnunet", "h5"):
        records += reads(name, all_at(1.0))
        records.append({"kind": "writes", "round": 0, "name": name,
                        "write_s": [1.0], "ingest_s": [1.0]})
    records += reads("ts-cache", {"scroll": 1.0})
    for name in ("full-small", "full-medium", "full-fast", "ingest-small",
                 "ingest-medium"):
        records.append(scaled(f"threads-{name}", ratios=[2 / speed, 9, 0]))
    for name in ("size-box64", "store-open", "store-open-store"):
        records.append(scaled(name, ratios=[4 / speed, 0, 9]))
    rows = {row: {"beside_nbytes": 2e8 / speed, "peak_nbytes": 2e8 / speed}
            for row in READS + ["ingest-gz"]}
    for name in ("small", "axial-small", "ingest"):
        records.append(scaled(f"memory-{name}", rows=rows))
    return report.Results(records)


# The aims for each type of voxels, and the stores to compare with.
BEST, FAMILY = "best of the others", "TileDB or RadiObject"
NNUNET, SHARDS = "blosc2 as nnU-Net has it", "tensorstore, shards, blosc-zstd"
INFLATE, DECODING = "a bare inflate", "decoding its tiles on all processors"
MEMORY = "memory beside the destination of "
AIMS = {
    "balanced-small": [
        ("size on disk", ""), ("full", "blosc2 b2nd defaults"),
        *((what, SHARDS) for what in READS[1:]), ("ingest", INFLATE),
        ("box32", DECODING), ("full", "the machine's limit"),
        ("full, all threads", "one thread"),
        ("ingest of the .nii, all threads", "one thread")],
    "balanced-medium": [
        *((what, BEST) for what in READS), ("write", NNUNET),
        ("geometric mean", "best of each column"), ("geometric mean", NNUNET),
        *((what, FAMILY) for what in READS), ("ingest", BEST),
        ("ingest", INFLATE), ("scroll", "tensorstore, shards, cache on"),
        ("box32", DECODING), ("open and a plane", "the plane alone"),
        ("full", "the machine's limit"), ("full, all threads", "one thread"),
        ("ingest of the .nii, all threads", "one thread"),
        ("memory of an ingest, in all", "")],
    "balanced-fast": [
        *((what, BEST) for what in READS),
        ("geometric mean", "best of each column"), ("geometric mean", NNUNET),
        ("box32", DECODING), ("full", "the machine's limit"),
        ("full, all threads", "one thread")],
    "axial-small": [
        ("axial", "blosc2 b2nd defaults"), ("full", "blosc2 b2nd defaults"),
        ("axial", "tensorstore zstd 3, 1x512x512"),
        ("full", "tensorstore zstd 3, 1x512x512"),
        (MEMORY + "the whole", ""), (MEMORY + "a plane", ""),
        (MEMORY + "a box", "")],
    "balanced": [(MEMORY + "the whole", ""), (MEMORY + "a plane", ""),
                 (MEMORY + "a box", "")]}
OF_ONE_DTYPE = {
    "int16": [
        ("balanced-medium", "size on disk", ""),
        ("balanced-fast", "size on disk", ""),
        ("axial-small", "size on disk", ""),
        ("balanced-medium", "box64 of 16 GB", "of 68 MB"),
        ("balanced-medium", "opening one of 10,000 volumes", "of 10"),
        ("balanced-medium", "the same with the store", "of 10")],
    "float32": []}


def aims():
    """Returns all aims, sorted: what, and against which store."""
    found = [(f"{layout}, {dtype}: {what}", against)
             for dtype in OF_ONE_DTYPE
             for layout, asked in AIMS.items() for what, against in asked]
    found += [(f"{layout}, {dtype}: {what}", against)
              for dtype, asked in OF_ONE_DTYPE.items()
              for layout, what, against in asked]
    return sorted(found)


def asked(rows):
    """Returns the same for answers; after a colon comes the best store."""
    return sorted((row[0], row[1].partition(":")[0]) for row in rows)


def test_every_aim_is_answered_and_can_be_missed(modules):
    goals, report = modules[:2]
    met = goals.answers({"int16": everything(report, 20),
                         "float32": everything(report, 20)})
    missed = goals.answers({"int16": everything(report, 0.5)})
    assert len(set(aims())) == len(aims())
    assert asked(met) == aims()
    assert {row[-1] for row in met} == {"yes"}
    assert all(len(row) == 5 for row in met)
    # Only the sizes on disk are as they were.
    assert {row[0] for row in missed if row[-1] == "yes"} == {
        "balanced-small, int16: size on disk",
        "balanced-medium, int16: size on disk",
        "balanced-fast, int16: size on disk",
        "axial-small, int16: size on disk"}


def test_aims_that_were_not_measured_are_listed(modules):
    goals, report = modules[:2]
    nothing = report.Results([])
    rows = goals.answers({"int16": nothing, "float32": nothing})
    assert asked(rows) == aims()
    assert {tuple(row[3:]) for row in rows} == {("not measured", "")}
    assert report.readme(nothing) is None


def test_results_are_renamed_when_their_identity_changes(tmp_path):
    import prepared
    results = tmp_path / "results-int16.jsonl"

    def count_aside(**identity):
        if not results.exists():
            results.write_text("[]\n")
        prepared.Prepared(tmp_path).update("int16", identity, results)
        return len(list(tmp_path.glob("results-int16-old*.jsonl")))
    assert count_aside(build="a") == 1       # their identity was unknown
    assert count_aside(build="a") == count_aside(build="a", store="9 MB") == 1
    assert count_aside(build="a") == 1       # a store was removed
    assert results.exists()
    assert count_aside(build="a", store="8 MB") == 2
    assert not results.exists()
    assert count_aside(build="b", store="8 MB") == 3
    known = prepared.Prepared(tmp_path)
    assert known.is_of("int16", build="b", store="8 MB", other="any")
    assert not known.is_of("int16", build="a", store="8 MB")
    assert not known.is_of("int16", build="b", store="9 MB")
    assert known.is_of("float32", build="a")


def test_another_build_makes_stores_again(tmp_path):
    import prepared
    assert not prepared.Prepared(tmp_path).is_made("store", "a")
    prepared.Prepared(tmp_path).made("store", "a")
    assert prepared.Prepared(tmp_path).is_made("store", "a")
    assert not prepared.Prepared(tmp_path).is_made("store", "b")


def test_a_build_is_identified_by_its_programs(tmp_path):
    import prepared
    nothing = prepared.build_of(tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "radio").write_text("one")
    one = prepared.build_of(tmp_path)
    (tmp_path / "tools" / "radio").write_text("two")
    assert len({nothing, one, prepared.build_of(tmp_path)}) == 3


@pytest.fixture
def bench(modules, np, tmp_path):
    """A bench without prepared stores and results, with pages of its own."""
    import argparse
    import os
    from bench import Bench
    page = "".join(f"<!-- {name}: begin -->\nold\n<!-- {name}: end -->\n"
                   for name in ("bench-peers", "bench-images",
                                "bench-ratios", "bench-readme"))
    for name in ("page.md", "README.md"):
        (tmp_path / name).write_text(page)
    (tmp_path / "data").mkdir()
    for dtype in ("int16", "float32"):
        np.save(tmp_path / "data" / f"{dtype}.npy", np.zeros((2, 3, 4)))
    return Bench(argparse.Namespace(
        folder=tmp_path, build=Path(os.environ["RADIO_TESTS_BUILDDIR"]),
        quick=False, rounds=1, threads=2, seconds=0, dtype=None,
        docs=tmp_path / "page.md",
        summary=tmp_path / "page.md", readme=tmp_path / "README.md"))


def test_unprepared_stores_are_not_measured(bench):
    for step in (bench.reads, bench.writes, bench.scaling):
        with pytest.raises(SystemExit, match="int16 was not prepared yet"):
            step()
    Path(bench.path("int16", "radio-balanced-medium")).mkdir(parents=True)
    bench.prepared.update("int16", {"build": "another"},
                          bench.results("int16"))
    with pytest.raises(SystemExit, match="by another build"):
        bench.reads()


def test_pages_cover_all_types_of_voxels(modules, bench, tmp_path, capsys):
    page = tmp_path / "page.md"
    old = page.read_text()
    with pytest.raises(SystemExit, match="nothing of int16"):
        bench.report()
    for record in everything(modules[1], 20).records:
        bench.keep("int16", record)
    with pytest.raises(SystemExit, match="nothing of float32"):
        bench.report()
    bench.options.dtype = ["int16"]
    docs, summary = bench.options.docs, bench.options.summary
    readme = bench.options.readme
    bench.report()
    assert "### int16, 2x3x4" in capsys.readouterr().out
    assert page.read_text() == (tmp_path / "README.md").read_text() == old
    bench.options.dtype, bench.options.docs = None, docs
    bench.options.summary, bench.options.readme = summary, readme
    for record in everything(modules[1], 20).records:
        bench.keep("float32", record)
    bench.report()
    assert "### int16" in page.read_text()
    assert "### float32" in page.read_text()
    summary = page.read_text().partition("bench-ratios: begin")[2]
    assert "| time relative to **radio balanced medium**" in summary
    assert "| blosc2 as nnU-Net" in (tmp_path / "README.md").read_text()


def test_the_machine_lists_the_relevant_instruction_sets(modules):
    report = modules[1]
    info = report.cpuinfo("processor : 0\nmodel name\t: A B @ 2 GHz\n"
                          "flags\t\t: fpu avx2 sha_ni\n\n"
                          "processor : 1\nflags : none\n")
    assert info["model name"] == "A B @ 2 GHz"
    assert report.instructions(info) == "with avx2 and sha_ni, without avx512f"
    assert report.instructions({"flags": "fpu"}) == (
        "without avx2 and avx512f and sha_ni")
    assert report.instructions({"Features": "asimd sha2"}) == (
        "with asimd and sha2")
    assert report.instructions({}) == "of unknown instructions"


def test_measured_commits_are_listed(modules):
    report = modules[1]
    assert report.commits([{"commit": "b"}, {"commit": "b"}]) == "commit b"
    assert report.commits([{"commit": "b"}, {}, {"commit": "a-dirty"}]) == (
        "commit b and a commit that is not known and commit a-dirty")


def test_a_build_has_the_commit_of_its_source(tmp_path):
    import shutil
    import subprocess

    import prepared
    if not shutil.which("git"):
        pytest.skip("git is missing")
    assert prepared.commit_of(tmp_path) is None
    (tmp_path / "Makefile").write_text(
        f"srcdir = .\nabs_top_srcdir = {tmp_path / 'source'}\n")
    (tmp_path / "source").mkdir()
    git = ["git", "-C", tmp_path / "source", "-c", "user.name=a",
           "-c", "user.email=a@example.com"]
    assert prepared.commit_of(tmp_path) is None
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "One"],
                   check=True)
    wanted = subprocess.run([*git, "rev-parse", "--short", "HEAD"],
                            check=True, capture_output=True, text=True)
    assert prepared.commit_of(tmp_path) == wanted.stdout.strip()


def test_rounds_of_each_kind_are_listed(modules):
    report = modules[1]
    records = reads("a", {}, rounds=3) + reads("b", {}, rounds=2)
    records += [{"kind": "writes", "round": r, "name": n}
                for r in range(2) for n in "ab"] + [scaled("p")]
    assert report.round_counts(records) == "reads 2 to 3, writes 2, scaling 1"
    assert report.round_counts(records[:3]) == "reads 3"


def test_missed_aims_come_first(modules):
    report = modules[1]
    rows = [["a", "", "", "", verdict] for verdict in (
        "yes", "**no**", "yes, within the spread", "", "yes",
        "**no**, within the spread", "yes, within the spread")]
    text = report.aims(rows)
    assert ("Of 7 aims 4 are reached (2 within the spread), 2 are not (1 "
            "within the spread), 1 were not measured.") in text
    missing, reached = text.split("Reached in every round:")
    assert missing.count("| a |") == 5 and reached.count("| a |") == 2
    assert "| yes |" not in missing and "| yes |" in reached
    assert "Not reached" not in report.aims([rows[0]])
    assert "Reached in" not in report.aims([rows[1]])


def test_tables_have_a_cell_for_every_title(modules):
    report = modules[1]
    results = everything(report, 2)
    for text in (report.absolute(results), report.ingests(results),
                 report.ratios(results, "radio-balanced-medium"),
                 report.limits(results)):
        lines = text.splitlines()
        assert len(lines) > 3
        assert len({line.count("|") for line in lines}) == 1


def test_times_have_three_figures(modules):
    report = modules[1]
    assert [report.ms(s) for s in (0.123456, 0.0123456, 0.00123456,
                                   0.000123456, 1.23456, None)] == [
        "123", "12.3", "1.23", "0.123", "1235", ""]


def test_only_text_between_the_markers_is_replaced(modules, tmp_path):
    report = modules[1]
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n")
    report.put(page, "x", "new\n")
    report.put(page, "x", "newer\n")
    assert page.read_text() == (
        "a\n<!-- x: begin -->\n\nnewer\n\n<!-- x: end -->\nb\n")
    with pytest.raises(SystemExit, match="no markers"):
        report.put(page, "y", "new\n")
    assert "newer" in page.read_text()


def test_the_readme_table_keeps_its_indent(modules, tmp_path):
    report = modules[1]
    page = tmp_path / "README.md"
    page.write_text("* a\n\n  <!-- x: begin -->\n  <!-- x: end -->\n\n* b\n")
    table = report.readme(everything(report, 20))
    for _ in range(2):
        report.put(page, "x", table, "  ")
    lines = page.read_text().splitlines()
    assert lines[:2] == ["* a", ""] and lines[-2:] == ["", "* b"]
    assert all(line.startswith("  ") for line in lines[2:-2] if line)
    assert lines.count("  <!-- x: end -->") == 1
    assert "  | blosc2 as nnU-Net has it |" + 7 * " 20 |" in lines


def table_of(page, first):
    """Returns {the first cell of each row: the others} of the table whose
    title row begins with first."""
    lines = [line.strip() for line in page.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    rows = {}
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = cells[1:]
    return rows


def test_the_readme_has_the_figures_of_the_page(modules):
    report = modules[1]
    root = PEERS.parents[1]
    page = (root / "docs" / "measurements.md").read_text(encoding="utf-8")
    int16 = page[page.index("### int16"):]
    measured = table_of(int16, "| time relative to **radio balanced medium")
    columns = next(iter(measured.values()))
    shown = table_of((root / "README.md").read_text(encoding="utf-8"),
                     "|  | whole |")
    titles = shown.pop("")
    assert titles == [title for _, title in report.README_COLUMNS]
    assert len(shown) == 1 + len(report.README_PEERS)
    shown.pop("---")
    for store, cells in shown.items():
        for (column, _), cell in zip(report.README_COLUMNS, cells):
            ratio = float(measured[store][columns.index(column)])
            # Numbers below ten have one decimal, others none.
            rounding = 0.06 if ratio < 9.95 else 0.51
            assert float(cell) == pytest.approx(ratio, abs=rounding), (
                store, column)


def test_a_crop_is_read_from_the_file_itself(modules, bench, np, nib):
    stores = modules[2]
    pytest.importorskip("medrs")
    values = np.arange(5 * 6 * 7, dtype="<i2").reshape(5, 6, 7)
    for name in ("medrs-nii", "medrs-gz"):
        store, path = stores.find(name), bench.path("int16", name)
        nib.save(nib.Nifti1Image(values.T, np.eye(4)), path)
        assert path.endswith(f"int16{store.file}")
        got = store.open(path, 1)((1, 2, 3), (2, 3, 4), False)
        assert (got.T == values[1:3, 2:5, 3:7]).all()


def test_radiobject_uses_cubic_tiles_if_configured(modules, np, tmp_path):
    stores = modules[2]
    pytest.importorskip("radiobject")
    tiledb = pytest.importorskip("tiledb")
    values = np.arange(2 * 70 * 80, dtype="<i2").reshape(2, 70, 80)
    # The default comes first, since chunking is a setting of the module.
    for name, tile in (("radiobject", [80, 70, 1]),
                       ("radiobject-iso", [64, 64, 2])):
        store, path = stores.find(name), str(tmp_path / name)
        store.write(values, path, 1)
        domain = tiledb.ArraySchema.load(path).domain
        assert [domain.dim(i).tile for i in range(3)] == tile
        got = store.open(path, 1)((0, 1, 2), (2, 3, 4), False)
        assert (got.T == values[:, 1:4, 2:6]).all()


def test_scrolling_through_ctypes_uses_the_cache_of_radio_bench(
        modules, monkeypatch):
    import radio_library
    stores = modules[2]
    events = []

    class Store:
        def __init__(self, path, threads, cache_nbytes):
            events.append(cache_nbytes)

        def open_volume(self, path):
            return self

        def __exit__(self, *_):
            events.append("closed")
    monkeypatch.setattr(radio_library, "Store", Store)
    monkeypatch.setenv("RADIO_BENCH_DTYPE", "int16")
    through = stores.Radio("balanced", "medium")
    through.open("a", 1)
    assert through.fresh_for_scroll
    through.close(through.open_to_scroll("a", 1))
    assert events == [radio_library.NO_CACHE, 0, "closed", "closed"]


def test_scrolling_without_the_cache_is_measured_again(
        modules, bench, monkeypatch):
    report = modules[1]
    old = reads("python-balanced-medium", {"scroll": 2.0, "full": 1.0},
                rounds=1)
    results = report.Results(old)
    assert results.seconds("python-balanced-medium", "scroll") is None
    assert results.seconds("python-balanced-medium", "full") == 1
    new = [{**record, **report.SCROLLED_ALIKE} for record in old]
    assert report.Results(new).seconds("python-balanced-medium",
                                       "scroll") == 2
    measured = []
    monkeypatch.setattr(bench, "end", float("inf"))
    for record in old + reads("ts-shard", {"scroll": 1.0}, rounds=1):
        bench.keep("int16", record)
    turns = [(name, lambda *what: measured.append(what), name)
             for name in ("python-balanced-medium", "ts-shard", "blosc2")]
    bench.each_round("int16", "reads", turns)
    assert measured == [("int16", 0, "python-balanced-medium"),
                        ("int16", 0, "blosc2")]


def test_store_names_are_unique(modules):
    stores = modules[2]
    assert len(stores.BY_NAME) == len(stores.STORES)
    assert set(stores.QUICK) <= set(stores.BY_NAME)
