# SPDX-License-Identifier: MIT
"""A gateway that fails at random: Debian's haproxy stands in front of the
real one, hangs up on 3 % of the requests and answers 17 % with SlowDown."""

import concurrent.futures
import json
import random
import shutil
import subprocess
import time

import pytest
from conftest import missing
from gateway import free_ports
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
  http-request reject if {{ rand(100) lt 3 }}
  http-request return status 503 content-type application/xml string \
"<Error><Code>SlowDown</Code></Error>" if {{ rand(97) lt 17 }}
  default_backend gateway
backend gateway
  server rgw 127.0.0.1:{gateway}
"""
NBOXES = 1000
NINGESTS = 20


class Haproxy:
    def __init__(self, folder, gateway):
        self.folder, self.port = folder, free_ports(1)[0]
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/bin")
        if not program:
            missing("haproxy")
        conf = folder / "haproxy.cfg"
        conf.write_text(CONF.format(folder=folder, port=self.port,
                                    gateway=gateway.port))
        self.process = subprocess.Popen(
            [program, "-f", conf, "-db"], stdout=subprocess.DEVNULL,
            stderr=(folder / "haproxy.log").open("wb"))
        self.stats()

    def stats(self):
        """Requests, and those that got no or a bad answer."""
        import socket
        for _ in range(100):
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect(str(self.folder / "stats.sock"))
                    break
                except OSError:
                    time.sleep(0.05)
        else:
            raise AssertionError((self.folder / "haproxy.log").read_text())
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.folder / "stats.sock"))
            s.sendall(b"show stat json\n")
            said = b"".join(iter(lambda: s.recv(65536), b""))
        for row in json.loads(said):
            found = {f["field"]["name"]: f["value"]["value"] for f in row}
            if found["svname"] == "FRONTEND":
                return found
        raise AssertionError(said)

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


def test_a_thousand_boxes_are_read_through_faults(
        gateway, proxy, bad_env, bucket, radio, np, nib, tmp_path,
        monkeypatch):
    """All of them right, in time, by eight threads of one store each."""
    from radio_library import Store
    for name, value in bad_env.items():
        monkeypatch.setenv(name, value)
    store = f"s3://{bucket}/boxes"
    radio("phantom", "-s", store, "ct/head", "--size", "150,140,130",
          env=gateway.environment())
    out = tmp_path / "whole.nii"
    radio("export", "-s", store, "ct/head", "-o", out,
          env=gateway.environment())
    whole = np.asanyarray(nib.load(out).dataobj.get_unscaled()).T
    level = level_of(gateway.client(), bucket, "boxes/ct/head")
    before = proxy.stats()

    def read(seed):
        rng = random.Random(seed)
        with Store(store, threads=1) as opened:
            for _ in range(NBOXES // 8):
                size = [rng.randint(1, 64) for _ in whole.shape]
                start = [rng.randrange(n - s + 1)
                         for n, s in zip(whole.shape, size)]
                got = opened.read_array(f"ct/head/{level}", start,
                                        size, whole.dtype)
                want = whole[tuple(slice(a, a + n)
                                   for a, n in zip(start, size))]
                assert np.array_equal(got, want)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))
    after = proxy.stats()
    requests = after["req_tot"] - before["req_tot"]
    slowed = after["hrsp_5xx"] - before["hrsp_5xx"]
    assert requests > NBOXES and slowed > 0.08 * requests


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
