# SPDX-License-Identifier: MIT
"""TensorBoard reads the folder that radio writes: the scalars are a profile's
figures, and the trace has a name that its PyTorch plug-in looks for."""

import json
import re
import struct
import subprocess
import sys

import pytest

from conftest import run_radio
from document_reader import Document

# Of torch-tb-profiler 0.4.3: torch_tb_profiler.consts.WORKER_PATTERN.
WORKER = re.compile(r"^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Returns a folder with a profile of four runs as JSON and a folder."""
    folder = tmp_path_factory.mktemp("tensorboard")
    store = folder / "s.zarr"
    run_radio("phantom", "-s", store, "ct/one", "--size", "64,64,64")
    run_radio("profile", "slice", "-s", store, "ct/one", "--runs", "4",
              "-o", folder / "a.json", "-o", folder / "a.tensorboard")
    return folder


def scalars(folder):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(one.step, one.value, one.wall_time)
                  for one in events.Scalars(tag)]
            for tag in events.Tags()["scalars"]}


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def test_tensorboard_reads_the_figures(recorded):
    document = Document(recorded / "a.json")
    found = scalars(recorded / "a.tensorboard")
    started = document.info["started_unix_ns"] / 1e9
    for name in ("wall", "work", "wait"):
        [(step, value, time)] = found[f"radio/{name}_seconds"]
        assert step == 0 and abs(time - started) < 1e-3
        assert value == single(document.info[f"{name}_ns"] / 1e9)
    assert found["radio/no_cpu_seconds"][0][1] \
        == single(document.info.get("starved_ns", 0) / 1e9)
    by_category = {}
    for node in document.nodes:
        name = node["category"]
        by_category[name] = by_category.get(name, 0) + node["work_ns"]
    for name, work_ns in by_category.items():
        if work_ns:
            assert found[f"work_seconds/{name}"][0][1] == single(work_ns / 1e9)
    assert [(step, value) for step, value, _ in found["run/wall_seconds"]] \
        == [(i, single(part["wall_ns"] / 1e9))
            for i, part in enumerate(document.parts)]
    assert len(document.parts) == 4
    data = json.loads((recorded / "a.json").read_text())
    sums = dict.fromkeys(data["counters"]["name"], 0)
    for value, counter in zip(data["values"]["value"],
                              data["values"]["counter"]):
        sums[data["counters"]["name"][counter]] += value
    for name, value in sums.items():
        assert found[f"counters/{name}"][0][1] == single(value)


def test_the_trace_is_where_the_plug_in_looks(recorded):
    names = {file.name for file in (recorded / "a.tensorboard").iterdir()}
    traces = [name for name in names if WORKER.match(name)]
    assert len(names) == 2 and len(traces) == 1
    trace = json.loads((recorded / "a.tensorboard" / traces[0]).read_text())
    assert trace["schemaVersion"] == 1
    assert any(event["ph"] == "X" and event["cat"] == "cpu_op"
               for event in trace["traceEvents"])


# Prints the plug-in's table of operators: name, calls, total and self time in
# microseconds; and the time of its overview.
PLUG_IN = """
import json, sys
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
data = RunProfileData.parse("w", None, sys.argv[1], sys.argv[2])
profile = RunGenerator("w", None, data).generate_run_profile()
print(json.dumps([
    [[row["name"], row["calls"], row["host_total_duration"],
      row["host_self_duration"]]
     for row in profile.operation_table_by_name["data"]],
    profile.overview["performance"][0]["value"]]))
"""


def test_pytorchs_plug_in_sums_the_scopes(recorded, tmp_path):
    """It complains of spans that do not nest, also by a nanosecond."""
    pytest.importorskip("torch_tb_profiler")
    [trace] = (recorded / "a.tensorboard").glob("*.pt.trace.json")
    done = subprocess.run([sys.executable, "-c", PLUG_IN, trace, tmp_path],
                          capture_output=True, text=True, check=True)
    assert "Error" not in done.stderr
    rows, overview_us = json.loads(done.stdout)
    nodes = {}
    for node in Document(recorded / "a.json").nodes:
        calls, total_ns, self_ns = nodes.get(node["name"], (0, 0, 0))
        nodes[node["name"]] = (calls + node["calls"],
                               total_ns + node["total_ns"],
                               self_ns + node["self_ns"])
    assert {row[0]: row[1] for row in rows} \
        == {name: node[0] for name, node in nodes.items()}
    for name, _, total_us, self_us in rows:
        assert abs(total_us - nodes[name][1] / 1e3) <= 1
        assert abs(self_us - nodes[name][2] / 1e3) <= 1
    assert overview_us >= nodes["read plane"][1] / 1e3 - 1


def test_a_damaged_event_file_is_noticed(recorded, tmp_path):
    """TensorBoard checks the checksums, so the test above has."""
    pytest.importorskip("tensorboard")
    for file in (recorded / "a.tensorboard").glob("events.*"):
        data = bytearray(file.read_bytes())
        data[-6] ^= 1
        (tmp_path / file.name).write_bytes(data)
    whole = scalars(recorded / "a.tensorboard")["run/wall_seconds"]
    assert scalars(tmp_path)["run/wall_seconds"] == whole[:-1]
