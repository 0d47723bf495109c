# SPDX-License-Identifier: MIT
"""Lists a hundred thousand volumes: the memory that the command takes, as a
whole process, and the requests.

In S3 they are a server's that makes up the pages of its listings; locally they
are folders whose documents are links to a few files."""

import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import urllib.parse
from pathlib import Path

import pytest
from conftest import RADIO, missing

N = 100_000
NCOLLECTIONS = 20
COLLECTIONS = [f"c{i:02d}" for i in range(NCOLLECTIONS)]
NAMES = [f"sub-{i:06d}" for i in range(N // NCOLLECTIONS)]
OBJECTS = ("0-0123abcd/c/0/0/0", "0-0123abcd/zarr.json", "nifti/c/0",
           "nifti/zarr.json", "zarr.json")
PAGE = 1000
GROUP = {"zarr_format": 3, "node_type": "group"}
ROOT = {**GROUP, "attributes": {"radio": {"version": "1.0"}}}
PEAK_NBYTES = 64 << 20


def peak_nbytes(tmp_path, *command, env=None):
    """Runs a command that prints to a file; returns the peak resident memory
    of its process, and its lines.  By time: a process that is forked from this
    one would inherit its peak."""
    report, out = tmp_path / "peak", tmp_path / "out"
    if not shutil.which("time"):
        missing("Debian's time")
    with out.open("wb") as file:
        subprocess.run([shutil.which("time"), "-f", "%M", "-o", report,
                        *command], stdout=file, check=True, env=env)
    return int(report.read_text()) << 10, out.read_text().split()


def expected():
    return [f"{collection}/{name}" for collection in COLLECTIONS
            for name in NAMES]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        self.server.seen.append(self.path)
        if "list-type" in query:
            return self.answer(200, self.page(query).encode())
        if path.endswith("/zarr.json"):
            document = ROOT if path.count("/") == 3 else GROUP
            return self.answer(200, json.dumps(document).encode())
        return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_HEAD = do_GET

    def page(self, query):
        prefix = query["prefix"]
        begin = int(query.get("continuation-token", 0))
        if "delimiter" in query:
            items = [f"<CommonPrefixes><Prefix>{prefix}{c}/</Prefix>"
                     "</CommonPrefixes>" for c in COLLECTIONS]
            more = ""
        else:
            n = len(NAMES) * len(OBJECTS)
            items = [f"<Contents><Key>{prefix}{NAMES[i // len(OBJECTS)]}/"
                     f"{OBJECTS[i % len(OBJECTS)]}</Key><Size>1000</Size>"
                     "</Contents>" for i in range(begin, min(n, begin + PAGE))]
            more = ("<IsTruncated>true</IsTruncated><NextContinuationToken>"
                    f"{begin + PAGE}</NextContinuationToken>"
                    if begin + PAGE < n else "")
        return f"<ListBucketResult>{more}{''.join(items)}</ListBucketResult>"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


def test_a_listing_in_s3_takes_bounded_memory(tmp_path):
    """A request for each page, and for each collection's document."""
    server = Server()
    env = {**os.environ, "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY":
           "S", "AWS_ENDPOINT_URL_S3":
           f"http://127.0.0.1:{server.server_address[1]}"}
    peak, lines = peak_nbytes(tmp_path, RADIO, "ls", "-s", "s3://b/many.zarr",
                              env=env)
    server.shutdown()
    server.server_close()
    assert lines == expected()
    npages = -(-len(NAMES) * len(OBJECTS) // PAGE)
    assert len(server.seen) == 2 + NCOLLECTIONS * (1 + npages)
    assert peak < PEAK_NBYTES, peak
    print(f"peak RSS {peak / 2**20:.0f} MiB")


@pytest.fixture
def folder(tmp_path):
    """Returns a folder in memory, where a disk would take minutes to make the
    volumes."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or os.statvfs(memory).f_favail < 3 * N:
        pytest.skip(f"{memory} has no room for {3 * N} files")
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


def test_a_listing_of_folders_takes_bounded_memory(folder, tmp_path):
    (folder / "zarr.json").write_text(json.dumps(ROOT))
    for collection in COLLECTIONS:
        (folder / collection).mkdir()
        document = folder / collection / "zarr.json"
        document.write_text(json.dumps(GROUP))
        for name in NAMES:
            volume = f"{folder}/{collection}/{name}"
            os.mkdir(volume)
            os.link(document, f"{volume}/zarr.json")
    peak, lines = peak_nbytes(tmp_path, RADIO, "ls", "-s", folder)
    assert lines == expected()
    assert peak < PEAK_NBYTES, peak
    print(f"peak RSS {peak / 2**20:.0f} MiB")
