# SPDX-License-Identifier: MIT
"""What the tests share: a folder with a store and files, which the examples
of docstrings and of README.md work in."""
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import nibabel
import numpy as np
import pytest
import zarr
from images import voxels
from server import Server

import libradio

# A shell that runs this in the background ignores SIGINT, and then Python does
# as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Of the programs that tests start only Python has to load the sanitizers: by
# the program of tools/check-python --sanitize.
if sanitized := os.environ.get("RADIO_TESTS_PYTHON"):
    sys.executable = sanitized
    multiprocessing.set_executable(sanitized)
    del os.environ["LD_PRELOAD"]


def sleeps(thread):
    """Whether a thread of this process sleeps, or has ended."""
    try:
        stat = Path(thread, "stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "SZX"


def wait_for_threads():
    """Waits until no other thread runs, for ten seconds at most."""
    deadline = time.monotonic() + 10
    own = str(threading.get_native_id())
    threads = Path("/proc/self/task")
    while (not all(each.name == own or sleeps(each)
                   for each in threads.iterdir())
           and time.monotonic() < deadline):
        time.sleep(0.001)


# AddressSanitizer of gcc 12 and clang 14 leaves its allocator locked for ever
# in a child that is forked while another thread allocates or ends.
if sanitized:
    os.register_at_fork(before=wait_for_threads)


def needs_gateway(item):
    """The notebook's place asks for it by its name."""
    return not {"gateway", "place"}.isdisjoint(item.fixturenames)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker runs all tests of a file, since fixtures are per worker; and
    one runs all that use the gateway, which is started once.  These take the
    longest, so they begin first."""
    items.sort(key=lambda item: not needs_gateway(item))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(
            "gateway" if needs_gateway(item) else item.path.name))
        if (sanitized and item.name ==
                "test_children_are_forked_while_other_threads_read"):
            item.add_marker(pytest.mark.skip(
                reason="AddressSanitizer's allocator hangs in such children"))


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """A folder with the store, and the files, of the examples."""
    folder = tmp_path_factory.mktemp("examples")
    head = voxels((64, 48, 32), "int16")
    affine = np.diag([1.0, 1.5, 2.5, 1.0])
    for name in ["head.nii.gz", "sub-01_T1w.nii.gz"]:
        nibabel.save(nibabel.Nifti1Image(head, affine), folder / name)
    with libradio.open(folder / "examples.zarr", create=True) as store:
        libradio.ingest(folder / "head.nii.gz", store, collection="ct")
        libradio.from_numpy(voxels((20, 16, 12, 3), "float32"), store,
                            "mr/brain", spacing=(1, 1, 2, 0.5))
    plain = zarr.create_array(folder / "plain.zarr", shape=(64, 32),
                              chunks=(16, 16), dtype="int16")
    plain[...] = head[:, :32, 0]
    return folder


@pytest.fixture
def in_examples(examples, tmp_path, monkeypatch):
    """A copy of it, as the current folder."""
    folder = tmp_path / "examples"
    shutil.copytree(examples, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def head(examples):
    """An int16 volume of 64 x 48 x 32, and its voxels."""
    store = libradio.open(examples / "examples.zarr")
    array = np.asarray(nibabel.load(examples / "head.nii.gz").dataobj)
    return store["ct/head"], array


@pytest.fixture
def server(examples):
    with Server(examples) as server:
        yield server


@pytest.fixture(scope="session")
def gateway(checkout, tmp_path_factory):
    """Ceph's object gateway, as in tests/interop."""
    sys.path.append(str(checkout / "tests/interop"))
    from gateway import Absent, Gateway
    try:
        server = Gateway(tmp_path_factory.mktemp("s3"))
    except Absent as what:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"{what} is not installed")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def checkout():
    """The checkout that the tests are of, or the tarball's folder."""
    root = Path(os.environ.get("RADIO_TESTS_SRCDIR",
                               Path(__file__).resolve().parents[3]))
    if not (root / "src/libradio.map").is_file():
        pytest.skip("the library's sources are not here; name their folder in"
                    " RADIO_TESTS_SRCDIR")
    return root
