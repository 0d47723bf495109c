# SPDX-License-Identifier: MIT
"""tools/bench-peers starts: all workers of a parent that has read before send
its samples, by each method and over each network (on a disk: see
test_processes.py); and faults are counted."""
import os
import signal
import sys
import time
from multiprocessing import active_children, get_context
from types import SimpleNamespace

import numpy as np
import pytest
from server import Server

import libradio

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")
METHODS = ["fork", "forkserver", "spawn"]


@pytest.fixture(scope="module")
def starts(checkout):
    sys.path.append(str(checkout / "tools/peers"))
    import worker_starts
    return worker_starts


@pytest.fixture(scope="module")
def store(starts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("starts")
    return folder, starts.make_store(folder)


def check(starts, where, method, place, level):
    result = starts.run_parent("libradio", where, method, place, level, 1, 120)
    assert result["counts"] == {starts.EQUAL: starts.WORKERS}, result


@pytest.mark.parametrize("method", METHODS)
def test_workers_of_a_store_on_a_web_server(starts, store, method):
    folder, level = store
    with Server(folder) as server:
        place = server.url.replace("examples.zarr", "starts.zarr")
        check(starts, "http", method, place, level)


@pytest.mark.parametrize("method", METHODS)
def test_workers_of_a_store_in_s3(starts, store, gateway, monkeypatch, method):
    folder, level = store
    bucket = f"starts-{method}"
    gateway.client().create_bucket(Bucket=bucket)
    for name, value in gateway.environment().items():
        monkeypatch.setenv(name, value)
    place = f"s3://{bucket}"
    with (libradio.open(folder / "starts.zarr") as source,
          libradio.open(place, create=True) as target):
        libradio.copy(source, starts.PATH, target)
    check(starts, "S3", method, place, level)


class Faulty:
    """An array that fails in children, in another way in each of four."""

    def __init__(self):
        self.shape = (32, 32, 32)
        self.parent = os.getpid()
        self.ways = get_context("fork").Value("i", 0)

    def __getitem__(self, index):
        if os.getpid() != self.parent:
            with self.ways:
                self.ways.value += 1
                way = self.ways.value
            if way == 1:
                time.sleep(1000)
            if way == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            if way == 3:
                raise ValueError("the reason")
            if way == 4:
                return np.ones((16, 16, 16), "u1")
        return np.zeros((16, 16, 16), "u1")


def test_faults_of_workers_are_counted(starts, monkeypatch):
    array = Faulty()
    want = [starts.sample(array, seed) for seed in range(starts.WORKERS)]
    before = set(active_children())
    starting = iter([0])

    def monotonic():
        """The time is up once all others than the one that hangs ended."""
        if next(starting, None) == 0:
            return 0
        while len(set(active_children()) - before) > 1:
            time.sleep(0.01)
        return 1000

    monkeypatch.setattr(starts, "time", SimpleNamespace(monotonic=monotonic))
    outcomes, line = starts.start_workers(get_context("fork"), [], array, want,
                                          1000)
    assert sorted(outcomes) == sorted(
        [starts.HUNG, starts.ENDED, starts.RAISED, starts.OTHER]
        + [starts.EQUAL] * (starts.WORKERS - 4))
    assert line == "ValueError: the reason"
