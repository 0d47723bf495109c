# SPDX-License-Identifier: MIT
"""Checksums of data written over TLS: a proxy that terminates TLS in front of
the gateway compares them with the bodies, and forwards all requests."""

import base64
import re

import pytest
from conftest import peer
from gateway_proxy import SUM, Proxy
from test_s3 import uploads_of


@pytest.fixture(params=[True], ids=["tls"])
def proxy(gateway, request):
    server = Proxy(gateway, request.param)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def bucket(gateway):
    gateway.client().create_bucket(Bucket="sums")
    return "sums"


def write(radio, gateway, proxy, store, **more):
    """Writes several objects of one part, and one of several parts."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=proxy.url,
                              AWS_CA_BUNDLE=str(gateway.ca_file), **more)
    radio("phantom", "-s", store, "ct/head", "--size", "256,256,200",
          "--codec", "none", env=env)
    radio("validate", "-s", store, env=gateway.environment())
    puts = [seen for seen in proxy.seen if seen[0] == "PUT"]
    assert sum("partNumber=" in path for _, path, _, _ in puts) >= 2
    assert not uploads_of(gateway.client(), store.split("/")[2])
    return puts


def sums_of(puts):
    return [headers.get(SUM) for _, _, headers, _ in puts]


def test_each_body_has_a_signed_checksum(gateway, bucket, radio, proxy):
    crc32c = peer("google_crc32c")
    puts = write(radio, gateway, proxy, f"s3://{bucket}/tls")
    of_parts = {}
    for _, path, headers, body in puts:
        value = crc32c.value(body).to_bytes(4, "big")
        assert headers[SUM] == base64.b64encode(value).decode()
        assert headers["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD"
        assert f";{SUM};" in headers["authorization"]
        number = re.search("partNumber=([0-9]+)", path)
        if number:
            of_parts[int(number[1])] = headers[SUM]
    posts = [seen for seen in proxy.seen if seen[0] == "POST"]
    begun = next(h for _, path, h, _ in posts if path.endswith("uploads="))
    assert begun["x-amz-checksum-algorithm"] == "CRC32C"
    ended = next(b for _, path, _, b in posts if "uploadId=" in path)
    sent = re.findall(b"<PartNumber>([0-9]+)</PartNumber>.*?"
                      b"<ChecksumCRC32C>(.*?)</ChecksumCRC32C>", ended)
    assert {int(n): text.decode() for n, text in sent} == of_parts


def test_checksums_stop_if_the_gateway_rejects_them(gateway, bucket, radio,
                                                    proxy):
    proxy.refuses = True
    sums = sums_of(write(radio, gateway, proxy, f"s3://{bucket}/refused"))
    assert any(sums)
    first = sums.index(None)
    # Requests in flight at that time may have one.
    assert not any(sums[first + 8:]) and sum(map(bool, sums)) <= 8


def test_no_checksums_are_sent_if_disabled(gateway, bucket, radio, proxy):
    puts = write(radio, gateway, proxy, f"s3://{bucket}/off",
                 AWS_REQUEST_CHECKSUM_CALCULATION="WHEN_REQUIRED")
    assert not any(sums_of(puts))


@pytest.mark.parametrize("proxy", [False], ids=["http"], indirect=True)
def test_without_tls_the_digest_is_signed_instead(
        gateway, bucket, radio, proxy):
    puts = write(radio, gateway, proxy, f"s3://{bucket}/http")
    assert not any(sums_of(puts))
    assert all(len(headers["x-amz-content-sha256"]) == 64
               for _, _, headers, _ in puts)
