# SPDX-License-Identifier: MIT
"""tools/bench-peers python: what it reads and writes is compared before, and
its tables have every array and program."""
import json
import os
import subprocess
import sys


def test_every_array_and_program_is_measured_and_shown(checkout, gateway,
                                                       tmp_path):
    done = subprocess.run(
        [sys.executable, checkout / "tools/peers/bench_python.py", "--folder",
         tmp_path, "--quick", "--sizes=12", "--delay-ms=0",
         f"--port={gateway.port}"], check=False, capture_output=True,
        text=True, timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    aims, ratios, peers, calls, recording = [
        [line.strip("| ").split(" | ") for line in part.splitlines()[2:]]
        for part in done.stdout.split("\n\n") if part.startswith("| ")]
    measured = [row for row in aims if row[1].strip()]
    assert len(measured) >= 4
    assert all(row[-1] in ("yes", "**no**") for row in measured)
    assert len({row[0] for row in ratios}) == len(ratios) == 12
    assert {row[0].partition(", ")[0] for row in ratios} == {"disk", "S3"}
    programs = {row[1] for row in peers}
    assert {"zarr, default", "zarr, libradio", "C"} <= programs
    assert len({row[0] for row in peers}) == 6
    assert len(peers) == 6 * len(programs)
    for row in peers:
        assert all(float(cell) > 0 for cell in row[2:6])
        assert (row[6].strip() == "") == (row[0] == "radio, medium")
    assert len(calls) == 4
    assert [row[0] for row in recording] == ["8^3", "64^3", "a plane", "whole"]
    assert all(float(row[2].split()[0]) > 0.2 for row in recording)
    results = json.loads((tmp_path / "python.json").read_text())["results"]
    times = [each for result in results for what in result["times_s"].values()
             for each in what.values()]
    assert len(times) == len(programs) * 2 * (6 * 4 + 5)
    assert {len(each) for each in times} == {2}
