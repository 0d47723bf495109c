# SPDX-License-Identifier: MIT
"""Ctrl-C ends a call in good order."""
import os
import signal
import sys
import threading
from multiprocessing import spawn

import numpy as np
import pytest

import libradio
from libradio import _calls, _ranks, profiling, writing


def test_a_read_that_waits_for_a_server_is_interrupted(server, head):
    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = "/c/"
    for read in [volume.numpy, lambda: volume[3],
                 lambda: volume.read_many([((0, 0, 0), (8, 8, 8))])]:
        with pytest.raises(KeyboardInterrupt):
            read()
    server.interrupts = None
    server.proceed.set()
    assert np.array_equal(volume.numpy(), head[1])


def test_an_export_is_interrupted_and_leaves_no_file(server, tmp_path):
    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = "/c/"
    with pytest.raises(KeyboardInterrupt):
        volume.export(tmp_path / "a.nii")
    assert list(tmp_path.iterdir()) == []


def test_the_exception_is_that_of_the_handler(server):
    class Alarm(Exception):
        pass

    def handle(number, frame):
        raise Alarm

    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = "/c/"
    before = signal.signal(signal.SIGINT, handle)
    try:
        with pytest.raises(Alarm):
            volume.numpy()
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_that_raise_nothing_let_it_go_on(server, head):
    def handle(number, frame):
        server.interrupts = None
        server.proceed.set()

    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = "/c/"
    before = signal.signal(signal.SIGINT, handle)
    try:
        assert np.array_equal(volume.numpy(), head[1])
    finally:
        signal.signal(signal.SIGINT, before)


class Interrupting:
    """The library, of which one function is interrupted as it returns."""

    def __init__(self, lib, name):
        self._lib, self._name = lib, name

    def __getattr__(self, name):
        function = getattr(self._lib, name)
        if name != self._name:
            return function

        def interrupted(*arguments):
            function(*arguments)
            raise KeyboardInterrupt
        return interrupted


def open_in(folder):
    """Returns the files of this process that are open in a folder."""
    return [file for each in sorted(os.listdir("/proc/self/fd"))
            if (file := os.path.realpath(f"/proc/self/fd/{each}")
                ).startswith(str(folder))]


@pytest.mark.parametrize("name", ["radio_recorder_start", "radio_recorder_fact",
                                  "python_stop_recorder"])
@pytest.mark.parametrize("python", [False, True])
def test_a_profile_that_is_interrupted_ends(monkeypatch, tmp_path, name,
                                            python):
    if python and sys.version_info < (3, 12):
        pytest.skip("needs sys.monitoring")
    monkeypatch.setattr(_ranks, "_SHARED", tmp_path)
    monkeypatch.setattr(_ranks, "_ROOM_NBYTES", 0)
    plain = spawn.get_preparation_data
    with monkeypatch.context() as patch:
        patch.setattr(profiling, "lib", Interrupting(profiling.lib, name))
        p = libradio.profile(python=python)
        with pytest.raises(KeyboardInterrupt):
            with p:
                raise ValueError
    assert spawn.get_preparation_data is plain
    assert [*tmp_path.iterdir()] == [] == open_in(tmp_path)
    with libradio.profile(python=python) as q, libradio.scope("later"):
        pass
    assert "later" in q.tree()


def test_a_volume_that_is_interrupted_leaves_nothing(monkeypatch, tmp_path):
    with libradio.open(tmp_path / "a.zarr", create=True) as store:
        voxels = np.zeros((8, 8, 8), np.uint8)
        libradio.from_numpy(voxels, store, "ct/a")
        files, before = {*tmp_path.rglob("*")}, open_in(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(writing, "lib",
                          Interrupting(writing.lib, "radio_volume_create"))
            with pytest.raises(KeyboardInterrupt) as caught:
                libradio.from_numpy(voxels, store, "ct/a", existing="replace")
        assert {*tmp_path.rglob("*")} == files
        assert open_in(tmp_path) == before
        del caught              # traces keep what they show open
        libradio.from_numpy(voxels, store, "ct/a", existing="replace")


def head_of(server):
    return server.url.replace("examples.zarr", "head.nii.gz")


SHARDS, HEAD, DOCUMENT = "/c/", "head.nii.gz", "zarr.json"
CALLS = {
    "stats": (SHARDS, lambda volume, server: volume.stats()),
    "histogram": (SHARDS, lambda volume, server: volume.histogram()),
    "histogram in a range": (
        SHARDS, lambda volume, server: volume.histogram(8, (0, 9))),
    "stats of a pipeline": (
        SHARDS, lambda volume, server: volume.apply("znorm").stats()),
    "validate": (SHARDS, lambda volume, server: volume.validate()),
    "open a volume": (
        DOCUMENT, lambda volume, server: libradio.open(server.url)["ct/head"]),
    "find": (
        DOCUMENT,
        lambda volume, server: libradio.open(server.url).find("ct/head")),
    "open a file": (
        HEAD, lambda volume, server: libradio.open_file(head_of(server))),
    "ingest": (HEAD, lambda volume, server: libradio.ingest(
        head_of(server), libradio.open("memory:", create=True))),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_waits_for_a_server_is_interrupted(server, head, name):
    volume = libradio.open(server.url)["ct/head"]
    server.interrupts, call = CALLS[name]
    # The server answers after this: without an interrupt never.
    with pytest.raises(KeyboardInterrupt):
        call(volume, server)
    server.interrupts = None
    server.proceed.set()
    assert np.array_equal(volume.numpy(), head[1])
    call(volume, server)


def test_signals_of_one_call_are_one_exception():
    _calls._raised[:] = [KeyboardInterrupt("first"), KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt, match="first"):
        _calls.check(0)
    _calls.check(0)
    # A profile is complete before.
    with pytest.raises(KeyboardInterrupt, match="second"):
        with libradio.profile() as p:
            _calls._raised.append(KeyboardInterrupt("second"))
    assert p.findings == []
    _calls.check(0)


def test_a_phantom_that_is_interrupted_leaves_no_volume(tmp_path):
    store = libradio.open(tmp_path / "a", create=True)
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        # Of 16 GB, which are not made.
        libradio.phantom(store, "a/b", shape=(2000, 2000, 2000))
    assert list(store) == []
