# SPDX-License-Identifier: MIT
"""validate and rm over HTTP, from a server of this process that can do
something before a request, and refuse one."""

import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest
from conftest import RADIO


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for header in headers:
            self.send_header(*header)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        if self.server.before:
            status = self.server.before(self.path)
            if status:
                return self.answer(status)
        file = self.server.folder / self.path.lstrip("/")
        if not file.is_file():
            return self.answer(404)
        data = file.read_bytes()
        if self.server.change:
            data = self.server.change(self.path, data)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)",
                              self.headers.get("Range", ""))
        if not wanted:
            return self.answer(200, data)
        first, last = wanted.groups()
        begin = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last) + 1, len(data)) if first and last else len(data)
        self.answer(206, data[begin:end], [
            ("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")])

    do_HEAD = do_GET

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, radio):
    """Serves a store with the volume ct/a."""
    radio("phantom", "-s", tmp_path / "s.zarr", "ct/a", "--size", "40")
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.folder, web.before, web.change = tmp_path, None, None
    web.url = f"http://127.0.0.1:{web.server_port}/s.zarr"
    threading.Thread(target=web.serve_forever).start()
    yield web
    web.shutdown()
    web.server_close()


def validate(server, *names):
    done = subprocess.run([RADIO, "validate", "--json", "-s", server.url,
                           *names], capture_output=True, text=True)
    return done, json.loads(done.stdout) if done.stdout else None


def test_a_volume_over_http_is_checked(server):
    done, volume = validate(server, "ct/a")
    assert done.returncode == 0, done.stderr
    assert volume["state"] == "ok" and volume["tile_count"] > 0
    assert not done.stderr
    shard = next(p for p in server.folder.glob("s.zarr/ct/a/0-*/c/**/*")
                 if p.is_file())
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 1
    shard.write_bytes(data)
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (1, "bad"), done.stderr
    assert volume["damaged_count"] == 1 and volume["messages"]


def test_a_missing_name_over_http_is_an_error(server):
    done, volume = validate(server, "ct/none")
    assert done.returncode == 1 and volume is None
    assert done.stderr.count("\n") == 1


def test_documents_that_are_no_json_are_bad(server):
    """As a proxy answers with a page of its own."""
    server.change = lambda path, data: (
        b"<html>" if path.endswith("zarr.json") else data)
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (1, "bad"), done.stderr
    assert "ct/a/zarr.json: invalid JSON" in done.stderr
    done, items = validate(server)
    assert done.returncode == 1
    assert [(item["kind"], item["state"]) for item in items] \
        == [("group", "bad")]
    assert "cannot be listed" in done.stderr


class Flip:
    """Changes a character of the header in the documents of ct/a, and a byte
    of the header's array, in the first n responses of each."""

    def __init__(self, n):
        self.left = {}
        self.n = n

    def __call__(self, path, data):
        found = re.search(rb'"nifti": *"', data)
        if "/nifti/" in path and not path.endswith("zarr.json"):
            at = 200
        elif path.endswith("ct/a/zarr.json") and found:
            at = found.end() + 150
        else:
            return data
        left = self.left.setdefault(path, self.n)
        self.left[path] = left - 1
        if left <= 0:
            return data
        letter = b"B" if data[at:at + 1] != b"B" else b"C"
        return data[:at] + letter + data[at + 1:]


def test_a_header_that_came_wrong_is_requested_again(server, radio, tmp_path):
    radio("export", "-s", tmp_path / "s.zarr", "ct/a", "-o",
          tmp_path / "good.nii")
    server.change = flip = Flip(1)
    done = subprocess.run([RADIO, "export", "-s", server.url, "ct/a", "-o",
                           tmp_path / "flipped.nii"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert any(left <= 0 for left in flip.left.values())
    assert (tmp_path / "flipped.nii").read_bytes() \
        == (tmp_path / "good.nii").read_bytes()
    server.change = flip = Flip(1)
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (0, "ok"), done.stderr
    assert len(flip.left) == 2


def test_a_header_that_stays_wrong_is_bad(server):
    server.change = Flip(1000)
    done, volume = validate(server, "ct/a")
    assert done.returncode == 1
    assert "but nifti_crc32c is" in done.stderr


def test_a_levels_document_that_came_wrong_is_requested_again(server):
    times = []

    def change(path, data):
        if "/0-" in path and path.endswith("zarr.json"):
            times.append(path)
            if len(times) == 1:
                return data.replace(b'"int16"', b'"uint8"')
        return data

    server.change = change
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (0, "ok"), done.stderr
    assert len(times) == 2
    level = next(server.folder.glob("s.zarr/ct/a/0-*/zarr.json"))
    level.write_text(level.read_text().replace('"int16"', '"uint8"'))
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (1, "bad")
    assert "data_type differs from the copy" in done.stderr


def test_sizes_over_http_are_unknown(server):
    listed = subprocess.run([RADIO, "ls", "-l", "-s", server.url, "ct/a"],
                            capture_output=True, text=True)
    assert (listed.returncode, listed.stderr) == (0, "")
    row, total = listed.stdout.splitlines()[1:]
    assert row.split()[0] == "ct/a" and row.split()[-2:] == ["-", "-"]
    assert total == "1 volume, 128 kB raw"
    listed = subprocess.run([RADIO, "ls", "-l", "--json", "-s", server.url,
                             "ct/a"], capture_output=True, text=True)
    volume, = json.loads(listed.stdout)
    assert volume["stored_nbytes"] is None and volume["ratio"] is None


def test_a_url_of_a_nifti_file_names_what_is_wrong_in_it(server):
    (server.folder / "a.nii").write_bytes(bytes(400))
    url = server.url.rpartition("/")[0] + "/a.nii"
    done = subprocess.run([RADIO, "info", url], capture_output=True,
                          text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert url + ": not a NIfTI image: its first 4 bytes are 00 00 00 00" \
        in done.stderr


@pytest.mark.parametrize("part", ["ct/a/zarr.json", "/c/0/0/0"])
def test_a_volume_that_the_server_denies_is_not_checked(server, part):
    server.before = lambda path: 403 if path.endswith(part) else None
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (4, "not checked"), (
        done.stderr)
    assert "403" in volume["messages"][0]


def test_a_replaced_volume_is_checked_again(server, radio):
    """Its shards are removed after its document was read."""
    store, sizes = server.folder / "s.zarr", ["32"]

    def before(path):
        if "/c/" in path and "/0-" in path and sizes:
            radio("phantom", "-s", store, "ct/a", "--overwrite", "--size",
                  sizes.pop())
            radio("gc", "-s", store)
    server.before = before
    done, volume = validate(server, "ct/a")
    assert (done.returncode, volume["state"]) == (0, "replaced"), done.stderr
    assert not done.stderr and not sizes


def test_many_urls_are_looked_up_at_the_same_time(server):
    """The first request for each waits for those for all; each of them is
    removed, which a web server cannot, and reported in their order."""
    names = [f"ct/{name}" for name in "dcbae"]
    for name in names[:3] + names[4:]:
        shutil.copytree(server.folder / "s.zarr/ct/a",
                        server.folder / "s.zarr" / name)
    names.insert(2, "ct/none")
    everyone = threading.Barrier(len(names), timeout=20)
    seen = set()

    def wait(path):
        name = path.removeprefix("/s.zarr/").removesuffix("/zarr.json")
        if name in names and name not in seen:
            seen.add(name)
            everyone.wait()

    server.before = wait
    done = subprocess.run([RADIO, "rm", *(f"{server.url}/{name}"
                                          for name in names)],
                          capture_output=True, text=True)
    assert not everyone.broken
    assert done.returncode == 1
    # The URL without a node is reported when it is looked up, before anything
    # is removed.
    named = [line.split(": ")[1] for line in done.stderr.splitlines()]
    names.remove("ct/none")
    assert named == [f"{server.url}/{name}" for name in ["ct/none", *names]]
