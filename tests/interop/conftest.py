# SPDX-License-Identifier: MIT
"""Fixtures shared by the interop tests: the command, and the peers.

The tests of a peer that is not installed are skipped, with its name; where CI
is set they fail instead, since the set-up there has the peers.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
BUILD = Path(os.environ["RADIO_TESTS_BUILDDIR"])
# Not by libtool's script, which takes twice the time of a short command.
RADIO = BUILD / "tools" / ".libs" / "radio"
if RADIO.exists():
    os.environ["LD_LIBRARY_PATH"] = ":".join(
        [str(BUILD / ".libs"), *filter(None, [os.getenv("LD_LIBRARY_PATH")])])
else:
    RADIO = BUILD / "tools" / "radio"
TEMPLATES = Path("/usr/share/mricron/templates")
CRANIUM = Path("/usr/share/doc/invesalius-examples/examples/Cranium.inv3")


def missing(what):
    """Skips a test for a missing dependency; fails it in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is missing")


def peer(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return missing(f"Python's {name}")


@pytest.fixture(scope="session")
def np():
    return peer("numpy")


@pytest.fixture(scope="session")
def nib():
    return peer("nibabel")


@pytest.fixture(scope="session")
def zarr():
    return peer("zarr")


@pytest.fixture(scope="session")
def ts():
    return peer("tensorstore")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """With several workers, one worker runs all tests of a file, since
    fixtures are per worker; and a single worker runs all files that use the
    gateway, so that only one gateway is started.  These take the longest, so
    they begin first."""
    for item in items:
        group = "gateway" if "gateway" in item.fixturenames \
            else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: "gateway" not in item.fixturenames)


def run_radio(*args, status=0, **keywords):
    """Runs the command and checks its exit status."""
    done = subprocess.run([RADIO, *map(str, args)], capture_output=True,
                          text=True, timeout=300, **keywords)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


@pytest.fixture(scope="session")
def radio():
    return run_radio


@pytest.fixture(scope="session")
def templates():
    files = sorted(TEMPLATES.glob("*.nii.gz"))
    return files or missing("Debian's mricron-data")


@pytest.fixture(scope="session")
def template_store(radio, templates, tmp_path_factory):
    """Returns a store with all of mricron-data."""
    store = tmp_path_factory.mktemp("templates") / "study.zarr"
    radio("ingest", "-s", store, *templates)
    return store


@pytest.fixture(scope="session")
def ct_head(np):
    """Returns a real CT, int16, of 108x256x256."""
    import tarfile
    if not CRANIUM.exists():
        missing("Debian's invesalius-examples")
    with tarfile.open(CRANIUM) as tar:
        member = next(m for m in tar.getmembers()
                      if m.name.endswith("matrix.dat"))
        raw = tar.extractfile(member).read()
    return np.frombuffer(raw, "<i2").reshape(108, 256, 256)


@pytest.fixture(scope="session")
def ct_i16(np, ct_head):
    """Returns a 304x512x512 int16 CT made from a real one of 108x256x256.

    Each quadrant and block of planes is a different symmetry of the square, so
    that the noise stays real and codecs do not find the copies.
    """
    head = ct_head

    def turned(k):
        a = head.transpose(0, 2, 1) if k & 1 else head
        a = a[:, ::-1] if k & 2 else a
        return a[:, :, ::-1] if k & 4 else a

    blocks = [np.block([[turned(k), turned(k + 1)],
                        [turned(k + 2), turned(k + 3)]])
              for k in (0, 2, 4)]
    return np.ascontiguousarray(np.concatenate(blocks)[:304])


@pytest.fixture(scope="session")
def gateway(tmp_path_factory):
    """Returns Ceph's object gateway, for all tests of S3; or the server that
    tools/check-s3-servers names."""
    from gateway import Absent, Gateway
    from s3_servers import SERVERS
    kind = SERVERS.get(os.environ.get("RADIO_TESTS_S3_SERVER"), Gateway)
    try:
        server = kind(tmp_path_factory.mktemp("s3"))
    except Absent as what:
        missing(what)
    yield server
    server.stop()
