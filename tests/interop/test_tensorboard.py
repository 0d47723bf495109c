# SPDX-License-Identifier: MIT
"""TensorBoard reads the folder that radio writes: the scalars are a profile's
figures, and the trace has a name that its PyTorch plug-in looks for."""

import json
import re
import struct

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
    assert any(event["ph"] == "X" and event["cat"] == "user_annotation"
               for event in trace["traceEvents"])


def test_a_damaged_event_file_is_noticed(recorded, tmp_path):
    """TensorBoard checks the checksums, so the test above has."""
    pytest.importorskip("tensorboard")
    for file in (recorded / "a.tensorboard").glob("events.*"):
        data = bytearray(file.read_bytes())
        data[-6] ^= 1
        (tmp_path / file.name).write_bytes(data)
    whole = scalars(recorded / "a.tensorboard")["run/wall_seconds"]
    assert scalars(tmp_path)["run/wall_seconds"] == whole[:-1]
