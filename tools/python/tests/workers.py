# SPDX-License-Identifier: MIT
"""What child processes do in tests."""
import zlib

import numpy as np

import libradio


def read_sample(volume, seed):
    """Returns a number that follows from a box of the volume."""
    rng = np.random.default_rng(seed)
    at = [int(rng.integers(0, n - 7)) for n in volume.shape[:3]]
    box = volume[tuple(slice(i, i + 8) for i in at)]
    return zlib.crc32(np.ascontiguousarray(box))


def read_in_scope(volume, k):
    """Reads a plane in a scope of its own."""
    with libradio.scope("worker's"):
        return volume.axial(k).shape


def read_and_record(volume, k, python=False, whole_process=True):
    """Reads a plane in a scope, and another one in a profile of its own."""
    read_in_scope(volume, k)
    with (libradio.profile(python=python, whole_process=whole_process) as p,
          libradio.scope("of its own")):
        volume.axial(k)
    return "of its own" in p.tree(), "worker's" in p.tree()


def wait_for(event):
    """Has a scope, and stays until the event is set, or it is killed."""
    with libradio.scope("worker's"):
        pass
    event[0].set()
    event[1].wait(600)


def wait_in_scope(event):
    """The same in a scope that is open."""
    with libradio.scope("waits"):
        wait_for(event)


def list_store(store):
    """Returns the paths of a store, and those whose volume can be read."""
    return list(store), [path for path in store if store[path][0].size]
