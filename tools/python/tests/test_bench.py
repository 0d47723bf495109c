# SPDX-License-Identifier: MIT
"""tools/bench-peers python: what it reads and writes is compared before, and
its table has every store and program."""
import json
import os
import subprocess
import sys


def test_every_store_and_program_is_measured_and_shown(checkout, tmp_path):
    done = subprocess.run(
        [sys.executable, checkout / "tools/peers/bench_python.py", "--folder",
         tmp_path, "--quick", "--size=24"], check=False, capture_output=True,
        text=True, timeout=300, env={**os.environ,
                                     "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()
            if line.startswith("| ")][1:]
    programs = {row[1] for row in rows}
    assert {"zarr, default", "zarr, libradio"} <= programs
    stores = {row[0] for row in rows}
    assert len(stores) == 4 and len(rows) == 4 * len(programs)
    for row in rows:
        assert all(float(cell) > 0 for cell in row[2:6])
        assert (row[6] == "") == (row[0] == "| radio, medium")
    records = json.loads((tmp_path / "python.json").read_text())
    assert len(records) == len(programs) * (4 * 4 + 3)
    assert {len(record["times_s"]) for record in records} == {2}
