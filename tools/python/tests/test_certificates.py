# SPDX-License-Identifier: MIT
"""https: which certificates are trusted."""
import shutil
import subprocess
import sys

import numpy as np
import pytest
from server import Server

import libradio


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a key and its self-signed certificate."""
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
        yield server.url


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


# Mounts the folder of the first argument where libcurl has the system's
# certificates, for the command that follows alone.
MOUNT = """
mount --bind "$1" /etc/ssl/certs || exit 77
shift
exec "$@"
"""

SCRIPT = """
import sys, libradio
try:
    libradio.open(sys.argv[1])["ct/head"]
    print("read")
except Exception as error:
    print(error)
"""


def test_those_of_ssl_cert_file_alone(url, certificate, tmp_path, monkeypatch):
    """The system's folder of them is not trusted beside it."""
    system, other = tmp_path / "system", tmp_path / "other.pem"
    system.mkdir()
    shutil.copy(certificate.with_suffix(".crt"), system / "server.pem")
    subprocess.run(["openssl", "rehash", system], check=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-days", "2", "-subj", "/CN=other", "-keyout", "/dev/null",
                    "-out", other], check=True, capture_output=True)
    shutil.copy(other, system / "ca-certificates.crt")

    def read_with_system():
        done = subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh",
             system, sys.executable, "-c", SCRIPT, url],
            capture_output=True, text=True)
        if done.returncode:
            pytest.skip("no folder can be mounted in a namespace:"
                        f" {done.stderr.strip()}")
        return done.stdout

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    by_default = read_with_system()
    if "certificate" in by_default:
        pytest.skip("libcurl has no folder of certificates, or another")
    assert by_default == "read\n"
    monkeypatch.setenv("SSL_CERT_FILE", str(other))
    assert "certificate" in read_with_system()
