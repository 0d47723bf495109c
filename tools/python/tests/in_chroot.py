# SPDX-License-Identifier: MIT
"""What sh tools/check-python --wheel runs in a Debian without compilers: the
lines of the project's README.md, and https with certificates where each
distribution has them."""
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
from server import Server

import libradio

HERE = Path(__file__).parent


def run_readme():
    """Runs them; returns the image that they ingest."""
    with libradio.open("phantoms.zarr", create=True) as store:
        libradio.phantom(store, "ct/head", shape=(64, 48, 32))
        store["ct/head"].export("sub-01_T1w.nii.gz")
        head = store["ct/head"].numpy()
    block, = re.findall(r"^```python\n(.*?)^```",
                        (HERE / "README.md").read_text(),
                        re.DOTALL | re.MULTILINE)
    names = {}
    exec(block, names)
    np.testing.assert_array_equal(names["box"], head[16:32, :, 10])
    return head


def read(url):
    with libradio.open(url) as store:
        return store["ct/head"].numpy()


def read_over_tls(url, head):
    """Reads with the certificate in each place, and in none."""
    certificate = (HERE / "server.crt").read_text()
    places = [Path(place) for place in re.findall(
        r'"(/etc/[^"]+)"', (HERE / "certificates.c").read_text())]
    assert len(places) > 4
    for place in places:
        place.unlink(missing_ok=True)
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(certificate)
        np.testing.assert_array_equal(read(url), head)
        place.unlink()
        print("read by the certificates in", place)
    try:
        read(url)
    except OSError as error:
        assert "SSL_CERT_FILE" in str(error), error
        print(error)
    else:
        raise AssertionError("read without certificates")
    os.environ["SSL_CERT_FILE"] = str(HERE / "server.crt")
    np.testing.assert_array_equal(read(url), head)


def main():
    found = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]
    assert not found, found
    head = run_readme()
    os.rename("phantoms.zarr", "examples.zarr")
    with Server(os.getcwd(), HERE / "server.pem") as server:
        read_over_tls(server.url, head)
    print("passed by CPython", sys.version.split()[0])


main()
