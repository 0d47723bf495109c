# SPDX-License-Identifier: MIT
"""tools/bench-peers ops: what it measures is compared before, and its table
has every operation; and grids: others' are those that it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BUILD

PEERS = Path(__file__).parents[2] / "tools" / "peers"


@pytest.fixture(scope="module")
def bench_ops(np):
    sys.path.insert(0, str(PEERS))
    try:
        import bench_ops as module
        yield module
    finally:
        sys.path.remove(str(PEERS))


def test_every_operation_is_measured_and_shown(np, tmp_path):
    summary = tmp_path / "page.md"
    summary.write_text("a\n<!-- bench-ops: begin -->\nold\n"
                       "<!-- bench-ops: end -->\nb\n")
    done = subprocess.run(
        [sys.executable, PEERS / "bench_ops.py", "--build", BUILD, "--folder",
         tmp_path, "--quick", "--size=24", "--summary", summary], check=False,
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    page = summary.read_text()
    assert page.startswith("a\n") and page.endswith("b\n")
    assert "old" not in page and ", load " in page
    rows = json.loads((tmp_path / "ops.json").read_text())
    assert [row["name"] for row in rows if "resample" not in row["name"]] == [
        "znorm", "rescale", "clamp", "flip x", "crop",
        "three operations fused", "reorient", "scale in place, 64 x 64"]
    for row in rows:
        assert f"| {row['name']}" in page
        assert row["differing"] == {}
        assert {len(times) for times in row["times_s"].values()} == {2}
        assert len(row["times_s"]) >= 2


def test_grids_of_scipy_and_simpleitk_are_as_documented(np, tmp_path):
    """With torch, by hand, those of MONAI and TorchIO, too."""
    done = subprocess.run(
        [sys.executable, PEERS / "grids.py", "--build", BUILD, "--folder",
         tmp_path, "--quick"], check=False, capture_output=True, text=True,
        timeout=300, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("SciPy zoom, grid_mode | some | - | same | - |",
                 "SciPy zoom | - | - | - | same |",
                 "SimpleITK Resample, same origin | - | same, another size |"):
        assert f"| {line}" in done.stdout


def test_another_result_is_not_measured(np, bench_ops, capsys):
    def fail():
        raise ValueError("no")
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    row = bench_ops.Row("clamp", 1, {
        "radio": lambda: values + np.float32(1e-4),
        "same": lambda: values[None], "other": lambda: values + 1,
        "short": lambda: values[1:], "failing": fail},
        expected=lambda: values)
    row.compare()
    assert set(row.functions) == set(row.times) == {"radio", "same"}
    assert set(row.differing) == {"other", "short", "failing"}
    assert "clamp: other is not measured" in capsys.readouterr().out


def test_ratios_are_of_the_same_round(np, bench_ops):
    row = bench_ops.Row("clamp", 8_000_000, {})
    row.times = {"radio": [1.0, 2.0, 4.0], "numpy": [2.0, 8.0, 4.0],
                 "medrs": [1.5, 3.0, 6.0], bench_ops.REUSED: [2.0, 1.0, 1.0],
                 bench_ops.MEMCPY: [1.0, 1.0, 0.5],
                 bench_ops.FILE: [3.0, 5.0, 4.0]}
    assert row.ratios("numpy") == [2.0, 4.0, 1.0]
    table = bench_ops.report(None, [row])
    assert "| clamp | 2e+03 | 4 | 4e+03 | 0.50 (0.50 to 1.00) | 1.50 " \
        "| NumPy 2.00 (1.00 to 4.00); medrs 1.50 (1.50 to 1.50) |" in table
