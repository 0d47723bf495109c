# SPDX-License-Identifier: MIT
"""Compares the signatures of requests with those of botocore, AWS's own
client, which has no code in common with radio.  The program
tests/io/sign-requests signs."""

import datetime
import json
import random
import subprocess
from urllib.parse import quote

import pytest
from conftest import BUILD, missing, peer

NREQUESTS = 800
ODD_KEYS = [
    "dir//x", "a/../b", "/lead", "trail/", "./a", "a b+c=d&e.~!'()*@$,;:x",
    "schädel/größe.json", "脳/断面", "\U0001f9e0", "%41%2f", "a?b#c",
    "c/0/0/0", "zarr.json", "", "\x01\x7f", "[x]{y}|\\^`\"<>",
]
ALPHABET = ("abcXYZ0189-._~/!'()*@$,;:&=+ %?#[]\\\"<>^`{|}é脳\U0001f9e0\t")
HEADER_NAMES = [
    "x-amz-meta-a", "x-amz-meta-a-b", "X-Amz-Meta-A0", "x-amz-meta-ab",
    "range", "Content-Type", "If-None-Match", "x-amz-acl", "Expect",
    "User-Agent", "Transfer-Encoding", "X-Amzn-Trace-Id", "content-length",
    "x-amz-checksum-crc32c", "Connection",
]
QUERY_NAMES = ["prefix", "uploads", "list-type", "a", "a-b", "a/b", "A", "a.",
               "uploadId", "partNumber", "start-after", "x-id", "é", "a b"]


def text(rng, most):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(0, most)))


def header_value(rng):
    """Returns words with runs of blanks within and around them."""
    blanks = ["", " ", "  ", "\t", " \t  "]
    words = [rng.choice(["a", "bytes=0-9", "*", "é", "x,y", '"z"', "="])
             for _ in range(rng.randint(0, 4))]
    value = rng.choice(blanks)
    for word in words:
        value += word + rng.choice(blanks)
    return value


def make_request(rng):
    key = rng.choice(ODD_KEYS) if rng.random() < 0.4 else text(rng, 40)
    host = rng.choice(["bucket.s3.eu-central-1.amazonaws.com",
                       "127.0.0.1:8000", "minio.local:9000", "[::1]:8080"])
    request = {
        "method": rng.choice(["GET", "HEAD", "PUT", "POST", "DELETE"]),
        "host": host,
        "key": key,
        "query": [[rng.choice(QUERY_NAMES),
                   None if rng.random() < 0.2 else text(rng, 12)]
                  for _ in range(rng.choice([0, 0, 1, 2, 3, 8]))],
        "headers": [[rng.choice(HEADER_NAMES), header_value(rng)]
                    for _ in range(rng.choice([0, 1, 2, 4, 8]))],
        "access_key": "AKIA" + "".join(rng.choices("ABC234567", k=16)),
        "secret_key": "".join(rng.choices("aZ09+/=", k=rng.choice([40, 80]))),
        "region": rng.choice(["us-east-1", "eu-central-1", "default"]),
        "service": rng.choice(["s3", "s3express"]),
        "now_s": rng.randint(0, 4102444800),
    }
    if rng.random() < 0.3:
        request["session_token"] = "".join(rng.choices("aZ09+/=", k=400))
    if rng.random() < 0.3:
        request["payload"] = "UNSIGNED-PAYLOAD"
    else:
        request["body"] = text(rng, 30)
    return request


def sign_by_radio(requests):
    program = BUILD / "tests" / "io" / "sign-requests"
    if not program.exists():
        missing("tests/io/sign-requests")
    done = subprocess.run(
        [program], input="".join(json.dumps(r) + "\n" for r in requests),
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return [dict(line.split(": ", 1) for line in a) for a in answers]


def sign_by_botocore(request, monkeypatch):
    auth = peer("botocore.auth")
    awsrequest = peer("botocore.awsrequest")
    credentials = peer("botocore.credentials")
    now = datetime.datetime.fromtimestamp(request["now_s"],
                                          datetime.timezone.utc)
    monkeypatch.setattr(auth, "get_current_datetime", lambda: now)
    # An unsigned payload is allowed only over https.
    unsigned = "payload" in request
    url = ("https" if unsigned else "http") + "://" + request["host"] + "/"
    made = awsrequest.AWSRequest(
        method=request["method"],
        url=url + quote(request["key"].encode(), safe="/-._~"),
        data=request.get("body", "").encode(),
        params=[(n, "" if v is None else v) for n, v in request["query"]])
    if unsigned:
        made.context["client_config"] = type(
            "Config", (), {"s3": {"payload_signing_enabled": False}})
    for name, value in request["headers"]:
        made.headers.add_header(name, value)
    made.headers["Host"] = request["host"]
    signer = auth.S3SigV4Auth(
        credentials.Credentials(request["access_key"], request["secret_key"],
                                request.get("session_token")),
        request["service"], request["region"])
    signer.add_auth(made)
    return made.headers


def test_random_requests_are_signed_as_botocore_signs_them(monkeypatch):
    rng = random.Random(20130524)
    requests = [make_request(rng) for _ in range(NREQUESTS)]
    for request, mine in zip(requests, sign_by_radio(requests)):
        theirs = sign_by_botocore(request, monkeypatch)
        assert mine["x-amz-date"] == theirs["X-Amz-Date"], request
        assert (mine["x-amz-content-sha256"]
                == theirs["X-Amz-Content-SHA256"]), request
        assert (mine.get("x-amz-security-token")
                == theirs["X-Amz-Security-Token"]), request
        # botocore has a blank after each comma.
        assert (mine["authorization"]
                == theirs["Authorization"].replace(", ", ",")), request


@pytest.mark.parametrize("key", ODD_KEYS)
def test_odd_keys_are_signed_as_botocore_signs_them(key, monkeypatch):
    request = make_request(random.Random(key))
    request["key"] = key
    mine = sign_by_radio([request])[0]
    theirs = sign_by_botocore(request, monkeypatch)
    assert (mine["authorization"]
            == theirs["Authorization"].replace(", ", ","))
