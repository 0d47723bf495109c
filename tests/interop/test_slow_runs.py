# SPDX-License-Identifier: MIT
"""Profiles of slow runs (RADIO_PROFILE_SLOW): of a hundred reads from a web
server that answers one of them late, that one is written, and no other but
those that were as slow since the machine stood still."""

import http.server
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import run_radio
from document_reader import ASYNC, PHASE, Document, rows

NREADS = 100
LATE = 57                       # the read whose answer is late...
LATE_S = 3                      # ... by this, of which half is too slow

# Each read is one request, since neither tiles nor connections' first answers
# are kept between the reads.
PROGRAM = """
import sys
import time
import numpy as np
from radio_library import NO_CACHE, Store, lib, check
check(lib.radio_profile_from_env())
with Store(sys.argv[1], cache_nbytes=NO_CACHE, threads=2) as store:
    with store.open_volume("ct/head") as volume:
        print("opened", flush=True)
        for i in range(int(sys.argv[2])):
            input()
            begin = time.monotonic()
            volume.read([0, 0, 0], [8, 8, 8], np.int16)
            print(time.monotonic() - begin, flush=True)
check(lib.radio_profile_finish_env(None))
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves files, or ranges of them.  All attempts at what is late are."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        file = self.server.folder / self.path.lstrip("/")
        with self.server.lock:
            late_s = self.server.late_s
            self.server.seen.append(self.path)
        time.sleep(late_s)
        if not file.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        data, asked = file.read_bytes(), self.headers.get("Range")
        whole = len(data)
        if asked:
            first, last = asked.split("=")[1].split("-")
            first = int(first) if first else whole - int(last)
            last = min(int(last) if last and asked[6] != "-" else whole - 1,
                       whole - 1)
            data = data[first:last + 1]
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{whole}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET


@pytest.fixture
def server(tmp_path):
    run_radio("phantom", "-s", tmp_path / "www" / "study.zarr", "ct/head",
              "--size", "64,64,64")
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads = True
    serving.folder, serving.late_s = tmp_path / "www", 0
    serving.lock, serving.seen = threading.Lock(), []
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving
    serving.shutdown()
    thread.join()
    serving.server_close()


def record(server, folder, **environment):
    """Reads from the server, once as late as it may be; returns the keys of
    that read's requests, and how many reads took as long, also others on a
    machine that stood still."""
    url = f"http://127.0.0.1:{server.server_port}/study.zarr"
    late, nslow = [], 0
    with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, url, str(NREADS)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent),
                 **environment}) as program:
        assert program.stdout.readline() == "opened\n"
        for i in range(NREADS):
            with server.lock:
                server.seen.clear()
                server.late_s = LATE_S if i == LATE else 0
            program.stdin.write("\n")
            program.stdin.flush()
            took_s = float(program.stdout.readline())
            nslow += took_s > LATE_S / 2
            if i == LATE:
                assert took_s > LATE_S / 2
                late = [path.removeprefix("/study.zarr/")
                        for path in server.seen]
        program.stdin.close()
        assert program.wait(timeout=60) == 0
    assert late
    return late, nslow


def test_one_late_answer_of_a_hundred_gives_one_profile(server, tmp_path):
    late, nslow = record(server, tmp_path,
                         RADIO_PROFILE=str(tmp_path / "all.json"),
                         RADIO_PROFILE_SLOW=f"read > {LATE_S / 2}s")
    written = list(tmp_path.glob("read-*.json"))
    assert 1 <= len(written) <= nslow
    assert {p.name for p in tmp_path.iterdir()} == {
        "all.json", *(p.name for p in written), "www"}
    assert len(list(tmp_path.glob("read-*-1.json"))) == 1
    # The longest is the late one, unless the machine stood still for longer.
    slow = max(written, key=lambda p: Document(p).nodes[0]["total_ns"])
    run, whole = Document(slow), Document(tmp_path / "all.json")
    assert run.nodes[0]["name"] == "read" and run.nodes[0]["calls"] == 1
    assert run.nodes[0]["total_ns"] > LATE_S / 2 * 1e9
    assert dict(zip(*list(whole.raw["facts"].values())[:2]))[
        "slow runs written"] == str(len(written))
    assert sum(node["calls"] for node in whole.nodes
               if node["name"] == "read") == NREADS

    # The request, its key and its phases, of which one has the time.
    [get] = [i for i, node in enumerate(run.nodes) if node["edge"] == ASYNC]
    assert run.nodes[get]["calls"] == len(set(late)) == 1
    keys = [run.strings[note["value"]] for note in rows(run.raw["notes"])
            if run.strings[note["key"]] == "key" and note["node"] == get]
    assert set(keys) == set(late)
    phases = [node for node in run.nodes
              if node["edge"] == PHASE and node["parent"] == get]
    assert max(node["total_ns"] for node in phases) > LATE_S / 2 * 1e9
    shown = run_radio("profile", "show", slow).stdout
    assert "A slow run" in shown and late[0].split("/")[-1] in shown
    assert "most of it in 'first byte'" in " ".join(shown.split())


def test_without_a_profile_only_slow_runs_are_written(server, tmp_path):
    _, nslow = record(server, tmp_path, RADIO_PROFILE="",
                      RADIO_PROFILE_SLOW=f"read>{LATE_S / 2}s")
    written = [p for p in tmp_path.iterdir() if p.name != "www"]
    assert 1 <= len(written) <= nslow
    [slow] = tmp_path.glob("read-*-1.html")
    assert "A slow run" in run_radio("profile", "show", slow).stdout
