# SPDX-License-Identifier: MIT
"""A proxy in front of the gateway whose 404s are those of any web server."""

import json

import pytest
from gateway_proxy import Handler, Proxy


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
