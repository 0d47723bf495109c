# SPDX-License-Identifier: MIT
"""Ctrl-C ends a call in good order."""
import signal

import numpy as np
import pytest

import libradio


def test_a_read_that_waits_for_a_server_is_interrupted(server, head):
    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = True
    for read in [volume.numpy, lambda: volume[3],
                 lambda: volume.read_many([((0, 0, 0), (8, 8, 8))])]:
        with pytest.raises(KeyboardInterrupt):
            read()
    server.interrupts = False
    server.proceed.set()
    assert np.array_equal(volume.numpy(), head[1])


def test_an_export_is_interrupted_and_leaves_no_file(server, tmp_path):
    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        volume.export(tmp_path / "a.nii")
    assert list(tmp_path.iterdir()) == []


def test_the_exception_is_that_of_the_handler(server):
    class Alarm(Exception):
        pass

    def handle(number, frame):
        raise Alarm

    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = True
    before = signal.signal(signal.SIGINT, handle)
    try:
        with pytest.raises(Alarm):
            volume.numpy()
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_that_raise_nothing_let_it_go_on(server, head):
    def handle(number, frame):
        server.interrupts = False
        server.proceed.set()

    volume = libradio.open(server.url)["ct/head"]
    server.interrupts = True
    before = signal.signal(signal.SIGINT, handle)
    try:
        assert np.array_equal(volume.numpy(), head[1])
    finally:
        signal.signal(signal.SIGINT, before)
