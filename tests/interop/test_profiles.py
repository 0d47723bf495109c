# SPDX-License-Identifier: MIT
"""Other programs agree with radio on profiles: the contents that they show of
a file written by radio are compared with radio's own document of the same
profile, read by document_reader.py.

Constructed profiles have every known edge case; real recordings confirm that
the common case works."""

import collections
import json
import os
import re
import subprocess
import xml.etree.ElementTree

import pytest

import profile_readers as readers
from document_reader import (
    ASYNC, HANDOFF, INSTANT, Document, self_by_name, total_by_name)

SUFFIXES = {"chrome": ".trace.json", "speedscope": ".speedscope.json",
            "folded": ".folded", "pprof": ".pb.gz", "svg": ".svg"}
CONSTRUCTED = ["plain-1", "odd-1", "ranks", "runs", "specimen"]
REAL = ["read", "ingest"]
SHOWN = ["plain-1", "odd-1", "specimen"]       # for slow readers
KINDS = ["calls", "wall", "work", "wait", "bytes", "requests", "no_cpu"]

# Events of one nanosecond are separated by offsets of less than a quarter.
SHIFT_NS = 0.25


class Profile:
    """One profile in every format."""

    def __init__(self, json_file):
        self.document = Document(json_file)
        self.name = json_file.name.removesuffix(".json")
        self.files = {format: json_file.with_name(self.name + suffix)
                      for format, suffix in SUFFIXES.items()}

    def __getitem__(self, format):
        return self.files[format]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("profiles")


def construct(folder):
    maker = readers.BUILD / "tests" / "profiler" / "trace" / "make-histories"
    if not maker.exists():
        readers.missing(f"{maker} (make check builds it)")
    subprocess.run([maker, folder], check=True, capture_output=True)


def record(radio, folder):
    """Records an ingest, and a read of many tiles, with the command; again
    where the calling thread, on a busy machine, left nothing to the workers."""
    store = folder / "study.zarr"
    image = folder / "head.nii.gz"
    radio("phantom", "-s", store, "--size", "160,160,96", "head")
    radio("export", "-s", store, "head", "-o", image)
    for name in REAL:
        file = folder / f"{name}.json"
        for i in range(50):
            command = ["stats", "phantoms/head"] if name == "read" else \
                ["ingest", "-c", f"c{i}", image]
            file.unlink(missing_ok=True)
            radio(*command, "-s", store, "--threads", 3,
                  env={**os.environ, "RADIO_PROFILE": str(file)})
            if HANDOFF in edges(Document(file)):
                break


def edges(document):
    return {node["edge"] for node in document.nodes}


class Profiles(dict):
    """Profiles by name, made on first use."""

    def __init__(self, radio, folder):
        super().__init__()
        self.radio, self.folder = radio, folder

    def __missing__(self, name):
        file = self.folder / f"{name}.json"
        if not file.exists() and name in REAL:
            record(self.radio, self.folder)
        elif not file.exists():
            construct(self.folder)
        profile = self[name] = Profile(file)
        self.radio("profile", "convert", file, *profile.files.values())
        return profile


@pytest.fixture(scope="session")
def profiles(radio, folder):
    return Profiles(radio, folder)


@pytest.fixture(params=CONSTRUCTED + REAL)
def profile(request, profiles):
    return profiles[request.param]


def assert_close(found, expected, slack):
    """Checks that sums by key agree; zeros may be missing on either side."""
    for key in found.keys() | expected.keys():
        difference = abs(found.get(key, 0) - expected.get(key, 0))
        assert difference <= slack, (key, found.get(key), expected.get(key))


def load_strictly(file):
    def refuse(constant):
        raise ValueError(constant)
    return json.loads(file.read_text(encoding="utf-8"),
                      parse_constant=refuse)


# ---------------------------------------------------------------------------
# The documents themselves
# ---------------------------------------------------------------------------

def test_recordings_have_the_tested_features(profiles):
    for name in REAL:
        document = profiles[name].document
        assert len(document.spans) > 20
        assert sum(document.tree("work").values()) > 0
        assert sum(document.tree("bytes").values()) > 0
        assert HANDOFF in edges(document), "no handoff to a worker"


def test_json_is_strict(profile):
    for format in ("chrome", "speedscope"):
        load_strictly(profile[format])


def test_folded_stacks_sum_up_to_the_tree(profile):
    found = collections.Counter()
    for line in profile["folded"].read_text(encoding="utf-8").split("\n")[:-1]:
        stack, _, count = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(count)
    expected = collections.Counter()
    for path, value in profile.document.tree().items():
        expected[folded(path)] += value
    assert found == expected


def folded(path):
    """Returns a path as folded stacks write names: no separators, no
    counts."""
    return tuple(re.sub(r" (\d+)$", r"_\1", name.replace(";", ","))
                 or "(no name)" for name in path)


# ---------------------------------------------------------------------------
# speedscope
# ---------------------------------------------------------------------------

@pytest.fixture(scope="session")
def speedscope(profiles):
    """Returns what the application shows of a file; one browser serves all
    files of a kind of profile."""
    def of(name, format):
        if name not in results:
            group = REAL if name in REAL else SHOWN
            formats = [f for f in SUFFIXES if f != "svg"]    # a picture
            files = [profiles[n][f] for n in group for f in formats]
            shown = readers.speedscope(files)
            for n in group:
                results[n] = {f: shown[profiles[n][f].name] for f in formats}
        return results[name][format]
    results = {}
    return of


FACTOR = {"nanoseconds": 1, "microseconds": 1000, "none": 1}


def saved_tree(saved, profile):
    """Returns self time by path, in ns, from speedscope's export of a
    profile."""
    names = [frame["name"] for frame in saved["shared"]["frames"]]
    sums = collections.Counter()
    factor = FACTOR[profile["unit"]]
    if profile["type"] == "sampled":
        for stack, weight in zip(profile["samples"], profile["weights"]):
            sums[tuple(names[i] for i in stack)] += weight * factor
        return sums
    stack, last = [], 0
    for event in profile["events"]:
        if stack:
            sums[tuple(stack)] += (event["at"] - last) * factor
        last = event["at"]
        if event["type"] == "O":
            stack.append(names[event["frame"]])
        else:
            assert stack.pop() == names[event["frame"]]
    assert not stack
    return sums


def nanoseconds(text):
    """Parses "1.23ms (45%)"; returns the value and its precision."""
    number, unit = re.match(r"([0-9.]+)(ns|µs|ms|s) ", text).groups()
    size = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    return float(number) * size, 0.006 * size


def assert_sandwich(table, tree, slack):
    """Checks that each row shown has the times of a frame of its name; paths
    are of names, or of tuples that begin with one."""
    selfs, totals = self_by_name(tree), total_by_name(tree)
    frames = collections.defaultdict(lambda: [(0, 0)])
    for key in totals:
        name = key if isinstance(key, str) else key[0]
        frames[name].append((totals[key], selfs[key]))
    for total, own, name in table:
        (total, total_exact), (own, own_exact) = map(nanoseconds, (total, own))
        assert any(abs(total - frame_total) <= total_exact + slack
                   and abs(own - frame_self) <= own_exact + slack
                   for frame_total, frame_self in frames[name]), \
            (name, total, own, frames[name])
    assert len(table) >= min(len(+totals), 10)


def lanes_with_spans(document):
    return [i for i, lane in enumerate(document.lanes) if lane["span_count"]]


@pytest.mark.parametrize("name", SHOWN + REAL)
def test_speedscope_shows_its_own_format(profiles, speedscope, name):
    document = profiles[name].document
    result = speedscope(name, "speedscope")
    assert result["errors"] == []
    saved = result["saved"]
    lanes = lanes_with_spans(document)
    assert len(saved["profiles"]) == len(lanes) + 1
    for lane, profile in zip(lanes, saved["profiles"]):
        assert profile["name"] == document.lanes[lane]["name"]
        assert_close(saved_tree(saved, profile), document.lane_tree(lane), 0)
    assert_close(saved_tree(saved, saved["profiles"][-1]), document.tree(), 0)
    for lane, table in zip(lanes, result["sandwiches"]):
        assert_sandwich(table, document.lane_tree(lane, Document.place), 0)


def renamed(tree, empty):
    """Returns the tree with the names that a reader gives to empty ones."""
    sums = collections.Counter()
    for path, value in tree.items():
        sums[tuple(name or empty for name in path)] += value
    return sums


def chrome_lanes(trace):
    """Returns tid -> lane, by the sort indexes."""
    return {event["tid"]: event["args"]["sort_index"]
            for event in trace["traceEvents"]
            if event["name"] == "thread_sort_index"}


@pytest.mark.parametrize("name", SHOWN + REAL)
def test_speedscope_shows_chrome_traces(profiles, speedscope, name):
    document = profiles[name].document
    trace = load_strictly(profiles[name]["chrome"])
    result = speedscope(name, "chrome")
    assert result["errors"] == []
    saved = result["saved"]
    lanes = chrome_lanes(trace)
    assert len(saved["profiles"]) == len(lanes_with_spans(document))
    for profile, table in zip(saved["profiles"], result["sandwiches"]):
        tid = int(re.search(r"\(tid (\d+)\)$", profile["name"])[1])
        lane = lanes[tid]
        assert f", {document.lanes[lane]['name']} (tid" in profile["name"]
        tree = renamed(document.lane_tree(lane), "(unnamed)")
        slack = 1 + SHIFT_NS * len(document.lane_spans(lane))
        assert_close(saved_tree(saved, profile), tree, slack)
        assert_sandwich(table, tree, slack)


@pytest.mark.parametrize("name", SHOWN + REAL)
def test_speedscope_shows_pprof(profiles, speedscope, name):
    document = profiles[name].document
    result = speedscope(name, "pprof")
    assert result["errors"] == []
    saved = result["saved"]
    profile, = saved["profiles"]
    assert profile["unit"] == "nanoseconds"
    assert_close(saved_tree(saved, profile),
                 renamed(document.tree(), "(unknown)"), 0)


# Without odd-1: speedscope takes U+2028 for the end of a line.
@pytest.mark.parametrize("name", ["plain-1", "specimen"] + REAL)
def test_speedscope_shows_folded_stacks(profiles, speedscope, name):
    document = profiles[name].document
    result = speedscope(name, "folded")
    assert result["errors"] == []
    profile, = result["saved"]["profiles"]
    expected = collections.Counter()
    for path, value in document.tree().items():
        expected[folded(path)] += value
    assert_close(saved_tree(result["saved"], profile), expected, 0)


# ---------------------------------------------------------------------------
# pprof
# ---------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_pprof_prints_the_same_numbers(profile, kind, tmp_path):
    tree = profile.document.tree(kind)
    found = readers.pprof_top(profile["pprof"], kind, tmp_path)
    flat, cum = self_by_name(tree), total_by_name(tree)
    names = {name for name in cum if name.strip() == name != ""}
    for name in names:
        assert found[name] == (flat[name], cum[name]), name
    if not profile.name.startswith("odd"):
        assert found.keys() == names


def test_pprof_shows_wall_time_by_default(profile, tmp_path):
    text = readers.run(readers.program("go"), "tool", "pprof", "-top",
                       "-symbolize=none", profile["pprof"],
                       env={**os.environ, "PPROF_TMPDIR": str(tmp_path)})
    assert "\nType: wall\n" in "\n" + text


# ---------------------------------------------------------------------------
# Pictures
# ---------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, LEAST = 1180, 2                  # pixels: of all, and of a frame


def expected_frames(document):
    """Returns (name, width) of all frames."""
    nodes = document.nodes
    sums = [node["self_ns"] for node in nodes]
    for i in range(len(nodes) - 1, -1, -1):
        if nodes[i]["parent"] >= 0:
            sums[nodes[i]["parent"]] += sums[i]
    whole = sum(node["self_ns"] for node in nodes)
    return [(node["name"] or "(no name)", value * WIDTH / whole)
            for node, value in zip(nodes, sums)]


def test_a_picture_is_xml_with_the_numbers_of_the_tree(profile):
    root = xml.etree.ElementTree.parse(profile["svg"]).getroot()
    assert root.tag == f"{SVG}svg"
    assert {child.tag.removeprefix(SVG) for child in root.iter()} <= {
        "svg", "style", "g", "rect", "text", "title"}
    found = []
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title").text
        width = float(group.find(f"{SVG}rect").get("width"))
        assert 0 < width <= WIDTH
        if group.get("class") != "merged":
            assert width >= LEAST
            found.append((title[:title.rindex(": ")], width))
    # Lengths have two digits after the point.
    left = expected_frames(profile.document)
    for name, width in found:
        closest = min((one for one in left if one[0] == name),
                      key=lambda one: abs(one[1] - width))
        assert abs(closest[1] - width) <= 0.02
        left.remove(closest)
    assert all(width < LEAST + 0.02 for _, width in left)


# ---------------------------------------------------------------------------
# Perfetto
# ---------------------------------------------------------------------------

STATS = """select name, value from stats
           where value > 0 and severity in ('error', 'data_loss')"""
SLICES = """select t.tid, s.ts, s.dur, s.name from slice s
            join thread_track tt on s.track_id = tt.id
            join thread t using (utid)"""
COUNT = "select count(*) from slice"
THREADS = """select t.tid, t.name, p.name from thread t
             join process p using (upid)"""
PROCESSES = """select p.pid, t.tid, s.ts, s.dur, s.name from slice s
               join thread_track tt on s.track_id = tt.id
               join thread t using (utid) join process p using (upid)"""
FLOWS = """select st.tid, o.ts, o.name, it.tid, i.ts, i.name from flow f
           join slice o on o.id = f.slice_out
           join thread_track ot on o.track_id = ot.id
           join thread st on st.utid = ot.utid
           join slice i on i.id = f.slice_in
           join thread_track itt on i.track_id = itt.id
           join thread it on it.utid = itt.utid"""
COUNTERS = """select t.name, c.ts, cast(c.value as int) from counter c
              join counter_track t on c.track_id = t.id"""


def expected_flows(document):
    """Returns who passed work to whom on another lane: (spans, certain?).
    Where something else begins in the same nanosecond, readers may differ."""
    begins = collections.Counter(
        (s.lane, s.begin) for s in document.spans)
    for span in document.spans:
        parent = document.by_id.get(span.parent)
        if document.nodes[span.node]["edge"] not in (HANDOFF, ASYNC) \
                or parent is None:
            continue
        if parent.lane == span.lane \
                and span.begin <= parent.begin + parent.duration:
            continue
        if parent.begin > span.begin + span.duration:
            continue
        certain = begins[parent.lane, parent.begin] == 1 \
            and begins[span.lane, span.begin] == 1
        yield parent, span, certain


def test_perfetto_has_every_slice_and_arrow(profile):
    document = profile.document
    trace = load_strictly(profile["chrome"])
    stats, count, slices, threads, flows, counters = readers.perfetto(
        profile["chrome"], STATS, COUNT, SLICES, THREADS, FLOWS, COUNTERS)
    assert stats == []
    assert int(count[0][0]) == len(document.spans)

    tid = {lane: tid for tid, lane in chrome_lanes(trace).items()}
    name = [node["name"] or "[No name]" for node in document.nodes]
    assert sorted((int(t), int(ts), int(dur), n)
                  for t, ts, dur, n in slices) == sorted(
        (tid[s.lane], s.begin, s.duration, name[s.node])
        for s in document.spans)

    is_ranks = document.info["parts"] == "ranks"
    for i, lane in enumerate(document.lanes):
        part = document.parts[lane["part"]]["name"]
        thread = lane["name"].removeprefix(f"{part}: ") if is_ranks \
            else lane["name"]
        process = part if is_ranks else document.info["title"] \
            or document.info["program"]
        assert [str(tid[i]), thread, process] in threads

    expected = list(expected_flows(document))
    assert len(flows) == len(expected)
    found = {tuple(flow) for flow in flows}
    for parent, span, certain in expected:
        if certain:
            assert (str(tid[parent.lane]), str(parent.begin),
                    name[parent.node], str(tid[span.lane]), str(span.begin),
                    name[span.node]) in found

    assert sorted((n, int(ts), int(v)) for n, ts, v in counters) == sorted(
        (f"{gauge} {unit}", time, value)
        for gauge, unit, time, value in gauge_values(document))


def test_events_of_pytorch_join_with_those_of_a_recording(
        radio, folder, profiles, tmp_path):
    """PyTorch's traces have the numbers of the system for processes and
    threads, and count from a multiple of 7889238 s (ChromeTraceBaseTime of
    Kineto): the events of both are put into one file as they are."""
    document = profiles["read"].document
    out = tmp_path / "radio.pt.trace.json"
    radio("profile", "convert", folder / "read.json", out)
    trace = load_strictly(out)
    base = trace["baseTimeNanoseconds"]
    started = document.info["started_unix_ns"]
    assert base % (7889238 * 10**9) == 0
    assert 0 <= started - base < 7889238 * 10**9
    pid = document.parts[0]["pid"]
    begin = started - base - 1_000_000
    duration = document.info["wall_ns"] + 2_000_000
    step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5",
            "pid": pid, "tid": pid + 1_000_000, "ts": begin / 1000,
            "dur": duration / 1000, "args": {"External id": 1}}
    joined = tmp_path / "joined.json"
    joined.write_text(json.dumps({
        "schemaVersion": 1, "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base,
        "traceEvents": [step, *trace["traceEvents"]]}))
    stats, slices = readers.perfetto(joined, STATS, PROCESSES)
    assert stats == []
    assert {int(p) for p, *_ in slices} == {pid}
    [outer] = [(int(ts), int(dur)) for _, _, ts, dur, name in slices
               if name == "ProfilerStep#5"]
    # Numbers so large are exact to about a nanosecond as doubles.
    found = sorted((int(ts), int(dur), name)
                   for _, _, ts, dur, name in slices
                   if name != "ProfilerStep#5")
    expected = sorted((s.begin + started - base, s.duration,
                       document.nodes[s.node]["name"])
                      for s in document.spans)
    assert len(found) == len(expected)
    for (ts, dur, _), (begin, duration, _) in zip(found, expected):
        assert abs(ts - begin) <= 2 and abs(dur - duration) <= 2
        assert outer[0] <= ts and ts + dur <= outer[0] + outer[1]


def gauge_values(document):
    units = {gauge["name"]: gauge["unit"] for gauge in document.gauges}
    for name, time, value in document.samples():
        yield name, units[name], time, value


def test_perfettos_page_shows_the_threads(profiles):
    document = profiles["read"].document
    lanes = [lane["name"] for lane in document.lanes[:3]]
    shown = readers.perfetto_page(profiles["read"]["chrome"], *lanes)
    assert "Perfetto" in shown["title"]
    assert shown["errors"] == []


# ---------------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------------

def test_arguments_are_in_perfettos_table(radio, folder, profiles, tmp_path):
    document = profiles["specimen"].document
    out = tmp_path / "arguments.trace.json"
    radio("profile", "convert", "--arguments", folder / "specimen.json", out)
    stats, found = readers.perfetto(
        out, STATS, """select s.ts, a.int_value from slice s
                       join args a using (arg_set_id)
                       where a.key = 'args.bytes'""")
    assert stats == []
    assert sorted((int(ts), int(value)) for ts, value in found) == sorted(
        (s.begin, s.nbytes) for s in document.spans
        if s.nbytes and document.nodes[s.node]["edge"] != INSTANT)
