# SPDX-License-Identifier: MIT
"""A proxy in front of the gateway that damages the first response to each
request of a kind: all commands pass, since the second response is right; and
one whose 404s are those of any web server."""

import contextlib
import json

import pytest
from gateway_proxy import Handler, Proxy

STORE = "s3://firsts/study.zarr"


def cut(body):
    return body[:len(body) * 2 // 3]


def zero(body):
    return body[:len(body) // 2] + bytes(len(body) - len(body) // 2)


def flip(body):
    """Changes a bit of the first '>' or ':', without which it is no XML and
    no JSON."""
    at = min(i for i in (body.find(b">"), body.find(b":")) if i >= 0)
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


class Damager(Handler):
    def answer(self, status, headers, body):
        server = self.server
        request = (self.command, self.path, self.headers["Range"])
        if self.command == "GET" and status in (200, 206) and body \
                and request not in server.known \
                and server.is_wanted(self.path):
            server.known.add(request)
            body = server.damage(body)
        super().answer(status, headers, body)


@contextlib.contextmanager
def damager(gateway, is_wanted, damage):
    server = Proxy(gateway, False, Damager)
    server.known, server.is_wanted, server.damage = set(), is_wanted, damage
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def noise(gateway, radio, np, tmp_path_factory):
    """Ingests an image with a tile of zeros; returns its values."""
    gateway.client().create_bucket(Bucket="firsts")
    noise = np.random.default_rng(4).integers(1, 1000, (40, 40, 40), np.int16)
    noise[:16, :16, :16] = 0
    folder = tmp_path_factory.mktemp("noise")
    np.save(folder / "a.npy", noise)
    radio("ingest", "-s", STORE, "-c", "ct", "--tiling", "8,8,8",
          "--spacing", "1,1,1", folder / "a.npy", env=gateway.environment())
    return noise


COMMANDS = {
    "ls": ["ls", "-s", STORE],
    "ls -l": ["ls", "-l", "-s", STORE],
    "info": ["info", "-s", STORE, "ct/a"],
    "stats": ["stats", "-s", STORE, "ct/a"],
    "validate": ["validate", "-s", STORE],
    "export": ["export", "-s", STORE, "ct/a", "-o", "back.npy"],
    "cp": ["cp", "-s", STORE, "ct", "copy.zarr"],
    "gc": ["gc", "-s", STORE],
    "ingest": ["ingest", "-s", STORE, "-c", "ct", "--spacing", "1,1,1",
               "b.npy"],
    "rm": ["rm", "-s", STORE, "ct/b"],
}


def check_commands(gateway, radio, np, noise, folder, is_wanted, damage):
    """Runs all commands with damaged responses and with right ones; returns
    those that got a damaged one."""
    np.save(folder / "b.npy", noise)
    damaged = set()
    for name, words in COMMANDS.items():
        env = gateway.environment()
        keywords = {"cwd": folder}
        want = radio(*words, env=env, **keywords).stdout \
            if name in ("ls", "ls -l", "info", "stats") else None
        with damager(gateway, is_wanted, damage) as server:
            done = radio(*words, env=gateway.environment(
                AWS_ENDPOINT_URL_S3=server.url), **keywords)
            damaged |= {name} if server.known else set()
        if want:
            assert done.stdout == want, name
        elif name == "validate":
            assert "1 checked, 0 bad" in done.stdout
        elif name == "export":
            assert np.array_equal(np.load(folder / "back.npy"), noise)
    radio("export", "-s", folder / "copy.zarr", "ct/a", "-o",
          folder / "copied.npy")
    assert np.array_equal(np.load(folder / "copied.npy"), noise)
    assert radio("ls", "-s", STORE, env=gateway.environment()).stdout \
        == radio("ls", "-s", folder / "copy.zarr").stdout
    return damaged


@pytest.mark.parametrize("damage", [cut, zero, flip])
def test_a_damaged_first_listing_is_requested_again(gateway, radio, np, noise,
                                                    tmp_path, damage):
    damaged = check_commands(gateway, radio, np, noise, tmp_path,
                             lambda path: "list-type=2" in path, damage)
    assert damaged >= {"ls", "ls -l", "validate", "cp", "gc", "rm"}


@pytest.mark.parametrize("damage", [cut, zero, flip])
def test_a_damaged_first_document_is_requested_again(gateway, radio, np,
                                                     noise, tmp_path, damage):
    damaged = check_commands(gateway, radio, np, noise, tmp_path,
                             lambda path: path.endswith("zarr.json"), damage)
    assert damaged == set(COMMANDS)


class Htmler(Handler):
    def answer(self, status, headers, body):
        if status == 404 or self.server.is_web:
            status, headers = 404, [("Content-Type", "text/html")]
            body = b"<html>404 Not Found</html>" \
                if self.command != "HEAD" else b""
        super().answer(status, headers, body)


NO_CODE = "the server answers 404 without an S3 code; check the endpoint"


@pytest.fixture(params=[False, True])
def web(gateway, request):
    """Answers as a web server to what is missing, or to everything."""
    server = Proxy(gateway, False, Htmler)
    server.is_web = request.param
    yield server
    server.shutdown()
    server.server_close()


def test_a_404_of_a_web_server_is_no_missing_object(gateway, radio, np, web):
    """A foreign array's missing chunk would be all fill value."""
    client, bucket = gateway.client(), f"web-{web.is_web:d}"
    client.create_bucket(Bucket=bucket)
    array = {
        "zarr_format": 3, "node_type": "array", "shape": [4, 4, 4],
        "data_type": "uint8", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular",
                       "configuration": {"chunk_shape": [2, 4, 4]}},
        "chunk_key_encoding": {"name": "default",
                               "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {}}]}
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    for key, body in [("zarr.json", json.dumps(group).encode()),
                      ("a/zarr.json", json.dumps(array).encode()),
                      ("a/c/0/0/0", bytes(range(32)))]:
        client.put_object(Bucket=bucket, Key="f/" + key, Body=body)
    store = f"s3://{bucket}/f"
    env = gateway.environment(AWS_ENDPOINT_URL_S3=web.url)
    right = radio("stats", "--json", f"{store}/a", env=gateway.environment())
    assert '"mean": 7.75' in right.stdout
    commands = [["stats", f"{store}/a"]]
    if web.is_web:
        commands += [["validate", "-s", store], ["ls", "-s", store],
                     ["info", f"{store}/a"]]
    for command in commands:
        done = radio(*command, env=env, status=1)
        assert NO_CODE in done.stderr, command
        assert "radio ingest" not in done.stderr
