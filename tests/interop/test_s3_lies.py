# SPDX-License-Identifier: MIT
"""A proxy in front of the gateway that lies: of the responses with a range a
fifth contradicts the request or the object, and 15 % have a changed bit.  Each
read has the right values all the same, since another response is right."""

import random
import re

import pytest
from gateway_proxy import Handler, Proxy
from test_s3 import level_of

NREADS = 120
LIES, FLIPS = 0.20, 0.15
# Three responses that are alike are believed, even about a shard's size: so
# that many lies of one kind would be.
MOST_IN_A_ROW = 2


def lie(rng, status, headers, body):
    """Returns a response that is not true, in one of four ways."""
    kind = rng.choice(["status", "length", "range", "etag"])
    if kind == "status":
        headers.pop("content-range", None)
        return 200, headers, body
    if kind == "length":
        return status, headers, body[:-1]
    if kind == "etag":
        return status, {**headers, "etag": f'"{rng.randrange(9)}"'}, body
    first, last, total = map(int, re.findall("[0-9]+",
                                             headers["content-range"]))
    beside = rng.choice([(1, 1, 1), (0, 0, 1), (0, 1, 1), (0, 0, -1)])
    first, last, total = (a + b for a, b in zip((first, last, total), beside))
    return status, {**headers, "content-range":
                    f"bytes {first}-{last}/{total}"}, body


class Liar(Handler):
    """Lies by the request and how often it came, not by time."""

    def answer(self, status, headers, body):
        server = self.server
        headers = {name.lower(): value for name, value in headers}
        if status == 206:
            request = (self.path, self.headers["Range"])
            n, nbad = server.known.get(request, (0, 0))
            rng = random.Random(f"{request} {n}")
            odds = rng.random() if nbad < MOST_IN_A_ROW else 1
            is_bad = odds < LIES + FLIPS
            server.known[request] = n + 1, nbad + 1 if is_bad else 0
            server.counts[("lie" if odds < LIES else "flip") if is_bad
                          else "good"] += 1
            if odds < LIES:
                status, headers, body = lie(rng, status, headers, body)
            elif is_bad:
                at = rng.randrange(len(body))
                changed = body[at] ^ 1 << rng.randrange(8)
                body = body[:at] + bytes([changed]) + body[at + 1:]
        super().answer(status, list(headers.items()), body)


@pytest.fixture(scope="module")
def liar(gateway):
    server = Proxy(gateway, False, Liar)
    server.known, server.counts = {}, {"lie": 0, "flip": 0, "good": 0}
    yield server
    server.shutdown()
    server.server_close()


def test_reads_through_lies_and_flips_are_all_right(
        gateway, liar, radio, np, nib, monkeypatch, tmp_path):
    from radio_library import NO_CACHE, Store
    gateway.client().create_bucket(Bucket="lies")
    store, env = "s3://lies/study.zarr", gateway.environment()
    radio("phantom", "-s", store, "ct/head", "--size", "130,120,110",
          "--tiling", "32,32,32", env=env)
    radio("export", "-s", store, "ct/head", "-o", tmp_path / "all.nii",
          env=env)
    whole = np.asanyarray(
        nib.load(tmp_path / "all.nii").dataobj.get_unscaled()).T
    level = level_of(gateway.client(), "lies", "study.zarr/ct/head")
    for name, value in gateway.environment(
            AWS_ENDPOINT_URL_S3=liar.url).items():
        monkeypatch.setenv(name, value)
    rng = random.Random(19)
    # Ten reads each with one handle, which caches the shards' indexes.
    for _ in range(NREADS // 10):
        with Store(store, cache_nbytes=NO_CACHE, threads=2) as opened:
            for _ in range(10):
                size = [rng.randint(1, 40) for _ in whole.shape]
                start = [rng.randrange(n - s + 1)
                         for n, s in zip(whole.shape, size)]
                got = opened.read_array(f"ct/head/{level}", start, size,
                                        whole.dtype)
                want = whole[tuple(slice(a, a + n)
                                   for a, n in zip(start, size))]
                assert np.array_equal(got, want)
    bad, good = liar.counts["lie"] + liar.counts["flip"], liar.counts["good"]
    assert bad > 0.2 * (bad + good) and liar.counts["flip"] > 20


def test_a_validation_through_lies_and_flips_finds_no_damage(gateway, liar,
                                                             radio):
    gateway.client().create_bucket(Bucket="valid")
    store = "s3://valid/study.zarr"
    radio("phantom", "-s", store, "ct/head", "--size", "130,120,110",
          "--tiling", "32,32,32", env=gateway.environment())
    for _ in range(NREADS // 10):
        done = radio("validate", "-q", "-s", store, env=gateway.environment(
            AWS_ENDPOINT_URL_S3=liar.url))
        assert "1 checked, 0 bad; 80 tiles" in done.stdout


class FirstLiar(Handler):
    """The first response with a range of each object has another ETag, as if
    it was of another object; all others are true."""

    def answer(self, status, headers, body):
        lies = status == 206 and self.path not in self.server.known
        if lies:
            self.server.known.add(self.path)
            headers = [(name, '"of another"' if name.lower() == "etag"
                        else value) for name, value in headers]
        if lies and self.server.cuts:
            # Its body ends early, so that it is requested again.
            body = body[:-1]
            headers = [(name, value) for name, value in headers
                       if name.lower() != "connection"]
            self.close_connection = True
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        else:
            super().answer(status, headers, body)


@pytest.mark.parametrize("cuts", [False, True])
def test_a_first_response_of_another_object_is_not_believed(
        gateway, radio, np, cuts, tmp_path):
    """What it says is compared with by all later responses."""
    bucket = f"first-{cuts:d}"
    gateway.client().create_bucket(Bucket=bucket)
    store, env = f"s3://{bucket}/study.zarr", gateway.environment()
    noise = np.random.default_rng(1).integers(-1000, 1000, (144, 144, 144),
                                              np.int16)
    np.save(tmp_path / "noise.npy", noise)
    radio("ingest", "-s", store, "-c", "ct", "--spacing", "1,1,1",
          tmp_path / "noise.npy", env=env)
    for command in (["export", "-s", store, "ct/noise", "-o",
                     tmp_path / "back.npy"],
                    ["validate", "-q", "-s", store],
                    ["cp", "-s", store, "ct", tmp_path / "copy.zarr"]):
        server = Proxy(gateway, False, FirstLiar)
        server.known, server.cuts = set(), cuts
        try:
            radio(*command, env=gateway.environment(
                AWS_ENDPOINT_URL_S3=server.url))
            assert server.known
        finally:
            server.shutdown()
            server.server_close()
    assert np.array_equal(np.load(tmp_path / "back.npy"), noise)
    radio("export", "-s", tmp_path / "copy.zarr", "ct/noise", "-o",
          tmp_path / "copied.npy")
    assert np.array_equal(np.load(tmp_path / "copied.npy"), noise)
