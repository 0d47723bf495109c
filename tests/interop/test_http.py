# SPDX-License-Identifier: MIT
"""Stores served by a web server: Debian's nginx package."""

import contextlib
import getpass
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import tables
from conftest import missing
from gateway import free_ports, listens, wait_until

CONF = """
user {user};
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format lines '$request_method $uri $http_range $status $body_bytes_sent';
  access_log {folder}/access.log lines;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4;
  scgi_temp_path {folder}/t5;
  gzip on; gzip_types *; gzip_min_length 1;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/www;
  }}
}}
"""


class Web:
    """nginx on loopback, which serves the folder www."""
    nmarks = 0

    def __init__(self, folder):
        self.folder, self.port = folder, free_ports(1)[0]
        (folder / "www").mkdir()
        conf = folder / "nginx.conf"
        conf.write_text(CONF.format(
            folder=folder, port=self.port, user=getpass.getuser()))
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/bin")
        if not program:
            missing("nginx")
        self.process = subprocess.Popen(
            [program, "-c", conf, "-e", folder / "error.log"])
        try:
            wait_until(lambda: listens(self.port),
                       (self.folder / "error.log").read_text)
        except AssertionError:
            self.stop()
            raise

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def lines(self):
        return (self.folder / "access.log").read_text().splitlines()

    def mark(self):
        """Makes a request, and returns how many were logged before it, which
        are all: the only worker logs each as it ends its response."""
        self.nmarks += 1
        name = f"mark-{self.nmarks}"
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(self.url(name), timeout=240).close()

        def found():
            return [i for i, line in enumerate(self.lines())
                    if line.split()[1] == "/" + name]

        wait_until(found, lambda: self.lines()[-20:])
        return found()[0]

    def requests(self, act):
        """Returns the requests of an action."""
        begin = self.mark() + 1
        act()
        end = self.mark()
        return self.lines()[begin:end]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    server = Web(tmp_path_factory.mktemp("web"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def stores(web, radio, templates):
    """Returns the same store on disk and on the server."""
    local = web.folder / "www" / "study.zarr"
    radio("ingest", "-s", local, "-c", "mr", templates[0])
    radio("phantom", "-s", local, "ct/head", "--size", "200,190,180")
    return str(local), web.url("study.zarr")


VOLUME = "ct/head"


@pytest.mark.parametrize("cut", [
    ["slice", "--axis", "axial", "-i", "90"],
    ["slice", "--axis", "sagittal", "-i", "7"],
    ["roi", "--at", "33,45,57", "--size", "64"],
    ["export"],
])
def test_http_reads_equal_disk_reads(radio, stores, tmp_path, cut):
    got = []
    for i, store in enumerate(stores):
        out = tmp_path / f"{i}.nii"
        radio(cut[0], "-s", store, VOLUME, *cut[1:], "-o", out)
        got.append(out.read_bytes())
    assert got[0] == got[1]


def test_a_url_of_a_volume_is_a_volume(radio, stores):
    facts = [json.loads(radio("info", "--json", f"{store}/{VOLUME}").stdout)
             for store in stores]
    for found in facts:
        del found["path"], found["stored_nbytes"], found["ratio"]
    assert facts[0] == facts[1]
    said = radio("info", f"{stores[1]}/{VOLUME}").stdout
    assert "MB raw" in said and "stored, ratio" not in said


def test_statistics_and_checks_work_over_http(radio, stores):
    said = [radio("stats", "-s", store, VOLUME).stdout for store in stores]
    assert said[0] == said[1]


def test_few_requests_are_made(web, radio, stores, tmp_path):
    """A read takes two round trips: the volume's document and the tiles; and
    no request that could be avoided."""
    def cut():
        radio("roi", "-s", stores[1], VOLUME, "--at", "100,90,80",
              "--size", "64", "-o", tmp_path / "box.nii")
    lines = web.requests(cut)
    assert all(line.split()[-2] in ("200", "206") for line in lines), lines
    assert lines[0].split()[1].endswith(f"{VOLUME}/zarr.json"), lines
    shards = [line for line in lines if "/c/" in line]
    assert len(shards) <= 4 and len(lines) == len(shards) + 1, lines
    whole = f"{stores[1]}/{VOLUME}"
    lines = web.requests(lambda: radio("info", whole))
    assert len(lines) == 1, lines


def test_requests_show_in_a_profile(radio, stores, tmp_path):
    out = tmp_path / "p.json"
    radio("profile", "slice", "-s", stores[1], VOLUME, "--runs", "2", "-o",
          out)
    document = json.loads(out.read_text())
    names = set(document["nodes"]["name"])
    said = json.dumps(document)
    for name in ("fetch", "queued", "first byte", "transfer"):
        assert f'"{name}"' in said, names


def test_missing_objects_are_reported_with_their_url(
        radio, web, stores, tmp_path):
    (tmp_path / "x.nii").touch()
    done = radio("info", "-s", stores[1], "ct/none", status=1)
    assert f"ct/none: no such volume in {stores[1]}" in done.stderr
    for command in (["info", "ct/none"], ["ls"]):
        done = radio(*command, "-s", web.url("none.zarr"), status=1)
        assert f"no store at '{web.url('none.zarr')}'" in done.stderr
    done = radio("ls", "-s", stores[1], status=1)
    assert "cannot be listed" in done.stderr
    done = radio("rm", "-s", stores[1], VOLUME, status=1)
    assert "read-only" in done.stderr
    for done in (radio("ingest", "-s", stores[1], tmp_path / "x.nii",
                       status=1),
                 radio("phantom", "-s", stores[1], "x", status=1)):
        assert "read-only" in done.stderr


def test_a_password_in_a_url_is_not_printed(radio, web, tmp_path):
    url = web.url("study.zarr").replace("://", "://me:secret@")
    for act in (["info", "-s", url, VOLUME], ["info", f"{url}/{VOLUME}"],
                ["phantom", "-s", url, "x", "--size", "4"]):
        done = radio(*act, status=1, env={
            **os.environ, "RADIO_PROFILE": str(tmp_path / "p.json")})
        assert "must not contain a user" in done.stderr
        assert "secret" not in done.stderr + done.stdout
        assert "secret" not in (tmp_path / "p.json").read_text()


def test_an_unreachable_server_is_reported_soon(radio):
    begin = time.monotonic()
    done = radio("info", "-s", f"http://127.0.0.1:{free_ports(1)[0]}/x",
                 "ct/a", status=1)
    assert "onnect" in done.stderr and done.stderr.count("\n") == 1
    assert time.monotonic() - begin < 60


def test_a_missing_chunk_ends_a_read(radio, web, stores, tmp_path):
    """The library also checks whether the volume was removed meanwhile, on
    another thread than that of responses, which would wait for itself."""
    lost = web.folder / "www" / "lost.zarr"
    shutil.copytree(web.folder / "www" / "study.zarr", lost)
    group = json.loads((lost / VOLUME / "zarr.json").read_text())
    del group["consolidated_metadata"]
    (lost / VOLUME / "zarr.json").write_text(json.dumps(group))
    level = next((lost / VOLUME).glob("0-*/c")).parent
    document = json.loads((level / "zarr.json").read_text())
    document["chunk_grid"]["configuration"]["chunk_shape"] = [50, 50, 50]
    document["codecs"] = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "gzip", "configuration": {"level": 1}}]
    (level / "zarr.json").write_text(json.dumps(document))
    shutil.rmtree(level / "c")
    done = radio("slice", "-s", web.url("lost.zarr"), VOLUME, "-i", "3", "-o",
                 tmp_path / "x.nii", status=1)
    assert "this one was lost" in done.stderr and "lost.zarr" in done.stderr


def test_a_shard_that_zarr_python_rewrote_is_read_by_its_own_index(
        radio, nib, np, zarr, web, tmp_path):
    """Neither checksums nor sizes show that tiles of one length were moved."""
    voxels = np.random.default_rng(7).integers(0, 999, (32,) * 3, "i2")
    nib.save(nib.Nifti1Image(voxels, np.eye(4)), tmp_path / "a.nii")
    store = web.folder / "www/rewritten.zarr"
    radio("ingest", "-s", store, "--tiling", "8,8,8", "--codec", "none",
          tmp_path / "a.nii")
    [level] = (store / "images/a").glob("0-*")
    [shard] = (file for file in level.glob("c/**/*") if file.is_file())
    before = shard.read_bytes()
    zarr.open_array(level, mode="r+")[3, 2, 1] = voxels[1, 2, 3] = 1000
    after = shard.read_bytes()
    assert after != before and len(after) == len(before)
    for i, url in enumerate([store, web.url(store.name)]):
        out = tmp_path / f"{i}.npy"
        radio("export", "-s", url, "images/a", "-o", out)
        assert np.array_equal(np.load(out), voxels), url


@pytest.fixture(scope="module")
def cohorts(web, radio, tmp_path_factory):
    """Returns a store with tables, on disk and on the server, where that of
    the subjects has a hint of its first head alone, which is the third."""
    folder = tmp_path_factory.mktemp("bids")
    local = web.folder / "www" / "cohort.zarr"
    tables.make_bids(radio, folder)
    tables.ingest_bids(radio, folder, local)
    radio("ingest", "-q", "-s", local, "-c", "bare",
          folder / "sub-1/anat/sub-1_T1w.nii")
    shutil.rmtree(local / "tables/volumes/bare")
    hint = local / "tables/subjects/zarr.json"
    old = hint.read_text()
    for age in "62", "63":
        radio("table", "-q", "-s", local, "--set", "age", "subjects",
              f"sub-1={age}")
    hint.write_text(old)
    return str(local), web.url(local.name)


WHERE = ["--where", "age > 62 and has(mask)"]


@pytest.mark.parametrize("command", [
    ["ls", "T1w", *WHERE], ["ls", "T1w"], ["ls", "T1w", "--subject", "sub-2"],
    ["ls", "mask", "--head", "1"], ["ls", "T1w", "--sample", "1", "--seed",
                                    "3"],
    ["info", "T1w/sub-1", "mask", *WHERE], ["info", "T1w/*", *WHERE],
    ["table", "--tsv", *WHERE], ["table", "T1w", "--tsv", *WHERE],
    ["table", "mask", "--json", "--head", "1"],
    ["stats", "T1w", "mask", *WHERE], ["stats", "T1w", "--by", "site"],
    ["stats", "T1w", "--mask", "mask", "--subject", "sub-1"],
    ["check", "T1w", "mask"],
])
def test_a_selection_over_http_is_that_of_the_disk(radio, cohorts, command):
    said = [radio(command[0], "-s", store, *command[1:]).stdout
            for store in cohorts]
    for line in "stored ", "ratio ":
        said = [re.sub(f"^{line}.*\n", "", text, flags=re.M)
                for text in said]
    if command[0] == "info":
        said = [re.sub(r"(MB|kB|B) raw.*", r"\1 raw", text) for text in said]
    assert said[0] == said[1] != ""


def test_what_is_selected_over_http_is_read_and_copied(radio, cohorts,
                                                       tmp_path):
    read = []
    for i, store in enumerate(cohorts):
        folder, copy = tmp_path / f"{i}", tmp_path / f"{i}.zarr"
        radio("export", "-s", store, "T1w", *WHERE, "-o", f"{folder}/")
        radio("cp", "-q", f"{store}/T1w", f"{store}/mask", copy, *WHERE)
        radio("validate", copy)
        read.append([{path.relative_to(folder): path.read_bytes()
                      for path in folder.rglob("*.nii.gz")},
                     radio("ls", "-s", copy).stdout,
                     radio("table", "-s", copy, "--tsv").stdout,
                     radio("table", "-s", copy, "T1w", "--tsv").stdout])
    assert read[0] == read[1] and len(read[0][0]) == 1
    assert read[0][1] == "T1w/sub-1\nmask/sub-1\n" and "63" in read[0][2]
    done = radio("validate", "-s", cohorts[1], "T1w", *WHERE)
    assert "1 checked, 0 bad" in done.stdout
    report = radio("profile", "full", "-s", cohorts[1], "T1w", *WHERE,
                   "-o", tmp_path / "p.json").stdout
    assert "sub-1" in report and "sub-2" not in report


def test_what_nothing_lists_over_http_is_said(radio, cohorts):
    url = cohorts[1]
    for command in (["ls", *WHERE], ["ls", "bare"], ["info", *WHERE],
                    ["index", "T1w", "--check"]):
        done = radio(command[0], "-s", url, *command[1:], status=1)
        assert "cannot be listed" in done.stderr and not done.stdout
        assert done.stderr.count("\n") == 1
    done = radio("ls", "-s", url, "T1w", "--where", "has(masc)", status=2)
    assert "'masc'; there are: T1w" in done.stderr
    done = radio("ls", "-s", url, "T1w", "--where", "aeg > 3", status=2)
    assert "did you mean age" in done.stderr
