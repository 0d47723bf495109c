# SPDX-License-Identifier: MIT
"""A killed ingest of a thousand files with a flight recorder: what it did until
then is read from the ring's file, and agrees with the store."""

import fcntl
import os
import signal
import subprocess
import time

from conftest import RADIO
from document_reader import Document

N = 1000
NBEFORE = 20                    # volumes that are there when it is killed


def test_a_killed_ingest_is_read_from_its_ring(radio, np, nib, tmp_path):
    images, store = tmp_path / "images", tmp_path / "study.zarr"
    ring, recovered = tmp_path / "ring", tmp_path / "recovered.json"
    images.mkdir()
    nib.save(nib.Nifti1Image(np.arange(256, dtype="i2").reshape(8, 8, 4),
                             np.eye(4)), images / "head-0000.nii.gz")
    for i in range(1, N):
        os.link(images / "head-0000.nii.gz", images / f"head-{i:04d}.nii.gz")
    # It cannot end before it is killed: it waits for this volume's lock.
    held = store / f"c/head-{N // 2:04d}"
    held.mkdir(parents=True)
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ingest = subprocess.Popen(
        [RADIO, "ingest", "-q", "-s", store, "-c", "c", images],
        env={**os.environ, "RADIO_PROFILE": str(tmp_path / "never.json"),
             "RADIO_PROFILE_RING": "4M", "RADIO_PROFILE_RING_FILE": str(ring)})
    while len(list(store.glob("c/*/zarr.json"))) < NBEFORE:
        assert ingest.poll() is None
        time.sleep(0.01)
    ingest.send_signal(signal.SIGKILL)
    assert ingest.wait() == -signal.SIGKILL
    os.close(lock)
    assert not (tmp_path / "never.json").exists()
    nvolumes = len(list(store.glob("c/*/zarr.json")))

    radio("profile", "recover", ring, "-o", recovered)
    document = Document(recovered)
    facts = document.raw["facts"]
    facts = dict(zip(facts["key"], facts["value"]))
    assert "ingest -q -s" in facts["command"]
    nodes = [node for i, node in enumerate(document.nodes)
             if document.path(i)[-3:] == ("ingest", "commit", "publish")]
    # A document is published within such a scope.
    nbegun = sum(node["calls"] for node in nodes)
    nended = nbegun - sum(node["open_count"] for node in nodes)
    print(f"{nvolumes} volumes, {nended} of {nbegun} published")
    assert nended <= nvolumes <= nbegun
