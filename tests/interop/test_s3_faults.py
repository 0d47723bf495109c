# SPDX-License-Identifier: MIT
"""A gateway that fails at random: Debian's haproxy in front of the real one
closes the connection of 2 % of the requests and answers 6 % with SlowDown; or
it stops responding to 3 %, and leaves their connections open.  (All eight
attempts of one of the 5,000 requests fail in one run of 100,000.)"""

import concurrent.futures
import json
import random
import re
import shutil
import socket
import subprocess

import pytest
from conftest import missing, peer
from gateway import free_ports, wait_until
from test_s3 import keys_of, level_of, uploads_of

CONF = """
global
  stats socket {folder}/stats.sock level admin
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend s3
  bind 127.0.0.1:{port}
{rules}
  default_backend gateway
backend gateway
  server rgw 127.0.0.1:{gateway}
"""
LOUD = """
  http-request reject if { rand(100) lt 2 }
  http-request return status 503 content-type application/xml string \
"<Error><Code>SlowDown</Code></Error>" if { rand(98) lt 6 }
"""
# A counter for drops, which no other statistic shows.
SILENT = """
  stick-table type integer size 1 store gpc0
  http-request set-var(txn.mute) rand(100)
  http-request track-sc0 int(1)
  acl is_mute var(txn.mute) -m int lt 3
  acl is_counted sc0_inc_gpc0 gt 0
  http-request silent-drop if is_mute is_counted
"""
ALL_SILENT = "  http-request silent-drop"
NBOXES = 1000
NINGESTS = 20


class Haproxy:
    def __init__(self, folder, gateway, rules=LOUD):
        self.folder, self.port = folder, free_ports(1)[0]
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/bin")
        if not program:
            missing("haproxy")
        conf = folder / "haproxy.cfg"
        conf.write_text(CONF.format(folder=folder, port=self.port,
                                    rules=rules.strip("\n"),
                                    gateway=gateway.port))
        self.process = subprocess.Popen(
            [program, "-f", conf, "-db"], stdout=subprocess.DEVNULL,
            stderr=(folder / "haproxy.log").open("wb"))
        self.stats()

    def ask(self, what):
        where = str(self.folder / "stats.sock")

        def answers():
            with socket.socket(socket.AF_UNIX) as s:
                return s.connect_ex(where) == 0

        wait_until(answers, (self.folder / "haproxy.log").read_text)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(where)
            s.sendall(what.encode() + b"\n")
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def stats(self):
        """Returns the requests, and those with no response or an error."""
        said = self.ask("show stat json")
        for row in json.loads(said):
            found = {f["field"]["name"]: f["value"]["value"] for f in row}
            if found["svname"] == "FRONTEND":
                return found
        raise AssertionError(said)

    def ndropped(self):
        """Returns the number of requests that it dropped silently."""
        said = re.search("gpc0=([0-9]+)", self.ask("show table s3"))
        return int(said[1]) if said else 0

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def proxy(gateway, tmp_path_factory):
    server = Haproxy(tmp_path_factory.mktemp("haproxy"), gateway)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def bad_env(gateway, proxy):
    return gateway.environment(
        AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{proxy.port}")


@pytest.fixture(scope="module")
def bucket(gateway):
    gateway.client().create_bucket(Bucket="faults")
    return "faults"


@pytest.fixture(scope="module")
def head(gateway, bucket, radio, np, nib, tmp_path_factory):
    """Returns a store, its array, and all values of that."""
    store, env = f"s3://{bucket}/boxes", gateway.environment()
    out = tmp_path_factory.mktemp("head") / "whole.nii"
    radio("phantom", "-s", store, "ct/head", "--size", "150,140,130", env=env)
    radio("export", "-s", store, "ct/head", "-o", out, env=env)
    whole = np.asanyarray(nib.load(out).dataobj.get_unscaled()).T
    level = level_of(gateway.client(), bucket, "boxes/ct/head")
    return store, f"ct/head/{level}", whole


def read_boxes(store, array, whole, n, **s3):
    """Reads random boxes by eight threads with a store each; checks all
    values."""
    from radio_library import Store
    np = peer("numpy")

    def read(seed):
        rng = random.Random(seed)
        with Store(store, threads=1, **s3) as opened:
            for _ in range(n // 8):
                size = [rng.randint(1, 64) for _ in whole.shape]
                start = [rng.randrange(n - s + 1)
                         for n, s in zip(whole.shape, size)]
                got = opened.read_array(array, start, size, whole.dtype)
                want = whole[tuple(slice(a, a + n)
                                   for a, n in zip(start, size))]
                assert np.array_equal(got, want)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))


def test_a_thousand_boxes_are_read_through_faults(
        proxy, bad_env, head, monkeypatch):
    """All are correct and on time, by eight threads with a store each."""
    for name, value in bad_env.items():
        monkeypatch.setenv(name, value)
    store, array, whole = head
    before = proxy.stats()
    read_boxes(store, array, whole, NBOXES)
    after = proxy.stats()
    requests = after["req_tot"] - before["req_tot"]
    slowed = after["hrsp_5xx"] - before["hrsp_5xx"]
    assert requests > NBOXES and slowed > 0.03 * requests


def test_twenty_ingests_through_faults_lose_nothing(
        gateway, bad_env, bucket, radio, templates, tmp_path):
    store = f"s3://{bucket}/ingests"
    file = templates[0]
    for i in range(NINGESTS):
        radio("ingest", "-s", store, "-c", f"c{i}", file, env=bad_env)
    env = gateway.environment()
    said = radio("validate", "-s", store, env=env)
    assert said.stdout.count("c1") >= 1
    s3 = gateway.client()
    keys = keys_of(s3, bucket, "ingests/")
    assert not uploads_of(s3, bucket)
    for i in range(NINGESTS):
        assert any(key.startswith(f"ingests/c{i}/") for key in keys)
    out = tmp_path / "back.nii"
    name = next(k for k in keys if k.startswith("ingests/c7/")).split("/")[2]
    radio("export", "-s", store, f"c7/{name}", "-o", out, env=env)
    import gzip
    assert out.read_bytes() == gzip.decompress(file.read_bytes())


def is_silent(gateway, folder):
    """Returns whether haproxy may drop a connection silently: this needs
    privileges that not every system grants."""
    server = Haproxy(folder, gateway, ALL_SILENT)
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(1)
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            s.recv(1)
    except TimeoutError:
        return True
    except OSError:
        pass
    finally:
        server.stop()
    return False


@pytest.fixture(scope="module")
def mute(gateway, tmp_path_factory):
    if not is_silent(gateway, tmp_path_factory.mktemp("silent")):
        missing("rights for haproxy to drop connections silently")
    server = Haproxy(tmp_path_factory.mktemp("mute"), gateway, SILENT)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def mute_env(gateway, mute):
    return gateway.environment(
        AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{mute.port}",
        RADIO_S3="first-byte-timeout=2s")


def test_boxes_are_read_through_silent_drops(mute, mute_env, head,
                                             monkeypatch):
    for name, value in mute_env.items():
        monkeypatch.setenv(name, value)
    store, array, whole = head
    before = mute.ndropped()
    read_boxes(store, array, whole, 400, first_byte_timeout_ms=2000)
    assert mute.ndropped() > before


def test_ingests_through_silent_drops_lose_nothing(gateway, mute, mute_env,
                                                   bucket, radio, templates,
                                                   tmp_path):
    """Repeats until some of the requests were dropped."""
    import gzip
    store, file, before = f"s3://{bucket}/mute", templates[0], mute.ndropped()
    for i in range(40):
        radio("ingest", "-s", store, "-c", f"c{i}", file, env=mute_env)
        if i >= 3 and mute.ndropped() > before:
            break
    assert mute.ndropped() > before
    env, s3 = gateway.environment(), gateway.client()
    radio("validate", "-s", store, env=env)
    assert not uploads_of(s3, bucket)
    keys, out = keys_of(s3, bucket, "mute/"), tmp_path / "back.nii"
    for j in range(i + 1):
        name = next(k for k in keys
                    if k.startswith(f"mute/c{j}/")).split("/")[2]
        radio("export", "-s", store, f"c{j}/{name}", "-o", out, env=env)
        assert out.read_bytes() == gzip.decompress(file.read_bytes())
        out.unlink()
