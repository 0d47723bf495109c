# SPDX-License-Identifier: MIT
"""https: which certificates are trusted."""
import subprocess
import threading

import numpy as np
import pytest
from server import Server

import libradio


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file of a key, and of its certificate, which nobody else signed."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", file, "-out",
                    file.with_suffix(".crt")], check=True, capture_output=True)
    with open(file, "a") as to:
        to.write(file.with_suffix(".crt").read_text())
    return file


@pytest.fixture
def url(examples, certificate):
    with Server(examples, certificate) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def read(url):
    with libradio.open(url) as store:
        return store["ct/head"][...]


def test_those_of_ssl_cert_file(url, certificate, head, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))
    np.testing.assert_array_equal(read(url), head[1])


@pytest.mark.parametrize("value", [None, ""])
def test_else_those_of_the_system(url, value, monkeypatch):
    if value is None:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    else:
        monkeypatch.setenv("SSL_CERT_FILE", value)
    with pytest.raises(PermissionError, match="certificate"):
        read(url)


def test_a_missing_file_is_an_error(url, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/none.pem")
    with pytest.raises(OSError, match=r"/none\.pem.*SSL_CERT_FILE"):
        read(url)
