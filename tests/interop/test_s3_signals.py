# SPDX-License-Identifier: MIT
"""A signal interrupts removals and collections in S3, or another writer comes
between, at a request that a proxy in front of the gateway chooses."""

import re
import signal
import subprocess
import time

import pytest
from conftest import RADIO
from gateway_proxy import Proxy
from test_s3 import keys_of

BUCKET = "signals"


@pytest.fixture
def proxy(gateway):
    server = Proxy(gateway, False)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def s3(gateway):
    client = gateway.client()
    client.create_bucket(Bucket=BUCKET)
    return client


def is_removal(method, path):
    """Returns whether a request deletes an object other than a tombstone,
    which is deleted last."""
    return ".radio-gc" not in path and (
        method == "DELETE" or (method == "POST" and "delete" in path))


def end_at_removal(proxy, env, number, *args, below=""):
    """Sends the signal just before the first removal, of a path that contains
    below, is forwarded."""
    return end_at(proxy, env, number, lambda method, path: is_removal(
        method, path) and below in path, *args)


def end_at(proxy, env, number, is_it, *args):
    """Sends the signal just before such a request is forwarded."""
    env = {**env, "AWS_ENDPOINT_URL_S3": proxy.url}
    # A shell that runs this in the background ignores SIGINT, and then radio
    # does as well; a signal that Python handles has its default action in
    # child processes.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    act = subprocess.Popen([RADIO, *args], env=env, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    signal.signal(signal.SIGINT, usual)

    def before(method, path):
        if is_it(method, path):
            act.send_signal(number)
    proxy.before = before
    said = act.communicate(timeout=120)
    assert act.returncode == -number, (act.returncode, said)
    return said


def tombstones_of(s3):
    return [key for key in keys_of(s3, BUCKET) if ".radio-gc" in key]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_removal_leaves_no_tombstone(gateway, s3, proxy, radio,
                                                    tmp_path, number):
    """The leftovers do not prevent a copy to the same place.  Of two volumes
    that are removed at the same time, one or both have begun."""
    store, env = f"s3://{BUCKET}/rm-{number}", gateway.environment()
    local = tmp_path / "local.zarr"
    for name in ("ct/a", "ct/b"):
        radio("phantom", "-s", local, name, "--size", "64")
    radio("index", "-s", local)
    radio("cp", "-q", local, store, env=env)
    out, err = end_at_removal(proxy, env, number, "rm", "-s", store, "ct/a",
                              "ct/b")
    rows = radio("table", "-s", store, "ct", "--tsv", env=env).stdout
    begun = re.findall("(ct/.): removed, but not all of its data", err)
    assert begun and not out, err
    assert not tombstones_of(s3)
    assert [line.split()[0] for line in
            radio("ls", "-s", store, env=env).stdout.splitlines()
            if line.startswith("ct/")] == sorted({"ct/a", "ct/b"} - {*begun})
    # The rows of removed volumes are removed in spite of the signal.
    assert [line.split()[0] for line in rows.splitlines()[1:]] \
        == sorted({"ct/a", "ct/b"} - {*begun})
    radio("cp", "-q", local, store, "--skip-existing", env=env)
    radio("validate", "-s", store, env=env)
    assert not tombstones_of(s3)


def test_an_interrupted_move_leaves_no_row_of_what_is_gone(gateway, s3, proxy,
                                                           radio):
    """Volumes have both names, or the new one, and so do their rows."""
    store, env = f"s3://{BUCKET}/mv", gateway.environment()
    for name in ("ct/a", "ct/b"):
        radio("phantom", "-s", store, name, "--size", "64", env=env)
    radio("index", "-s", store, env=env)
    out, err = end_at_removal(proxy, env, signal.SIGTERM, "mv", "-s", store,
                              "ct", "mr", below="/mv/ct/")
    begun = re.findall("(ct/.): removed, but not all of its data", err)
    assert begun and not out, err
    listed = radio("ls", "-s", store, env=env).stdout.split()
    left = sorted({"ct/a", "ct/b"} - {*begun})
    assert [name for name in listed if name[:3] == "ct/"] == left
    for table, names in ("ct", left), ("mr", ["mr/a", "mr/b"]):
        rows = radio("table", "-s", store, table, "--tsv", env=env).stdout
        assert [line.split()[0] for line in rows.splitlines()[1:]] == names
    assert not tombstones_of(s3)


def test_an_edit_of_a_row_goes_with_the_volume_that_moves(gateway, s3, proxy,
                                                          radio):
    """It comes with the first removal, when the rows were copied."""
    store, env = f"s3://{BUCKET}/edit", gateway.environment()
    radio("phantom", "-s", store, "ct/a", "--size", "8", env=env)
    radio("index", "-s", store, env=env)
    radio("table", "-q", "-s", store, "--set", "qc", "ct", "ct/a=bad", env=env)
    edited = []

    def before(method, path):
        if is_removal(method, path) and "/edit/ct/" in path and not edited:
            edited.append(path)
            radio("table", "-q", "-s", store, "--set", "qc", "ct",
                  "ct/a=good", env=env)
    proxy.before = before
    radio("mv", "-s", store, "ct/a", "mr/b",
          env={**env, "AWS_ENDPOINT_URL_S3": proxy.url})
    assert edited
    rows = radio("table", "-s", store, "mr", "--tsv", env=env).stdout
    assert rows.splitlines()[1].endswith("\tgood")
    radio("index", "-s", store, "--check", env=env)


def test_an_interrupted_gc_leaves_no_tombstone(gateway, s3, proxy, radio):
    """It prints what it has removed; the next gc resumes."""
    store, env = f"s3://{BUCKET}/gc", gateway.environment()
    for size in ("40", "48", "64"):
        radio("phantom", "-s", store, "ct/a", "--size", size, "--overwrite",
              env=env)
    time.sleep(2.1)
    out, err = end_at_removal(proxy, env, signal.SIGTERM, "gc", "-s", store,
                              "--grace", "1")
    assert "removed 1 unused item," in out and "the next gc removes" in err
    assert not tombstones_of(s3)
    # The other level, and the two earlier chunks of the header array.
    said = radio("gc", "-s", store, "--grace", "1", env=env).stdout
    assert "removed 3 unused items," in said
    radio("validate", "-s", store, env=env)


@pytest.mark.parametrize("at", ["zarr.json", "/c/"])
def test_an_interrupted_export_leaves_no_part_of_a_file(gateway, s3, proxy,
                                                        radio, tmp_path, at):
    """While volumes are opened, and while the voxels of several are read."""
    local, store = tmp_path / "local.zarr", f"s3://{BUCKET}/export"
    env = gateway.environment()
    names = [f"ct/{i}" for i in range(4)]
    for name in names:
        radio("phantom", "-s", local, name, "--size", "16")
    radio("cp", "-q", local, store, "--skip-existing", env=env)

    def is_it(method, path):
        return re.search(f"/ct/[0-3]/.*{at}", path)
    out, err = end_at(proxy, env, signal.SIGINT, is_it, "export", "-s", store,
                      *names, "-o", f"{tmp_path}/out/", "--format", "nii")
    whole = radio("export", "-s", local, *names, "-o", f"{tmp_path}/whole/",
                  "--format", "nii")
    assert len(whole.stdout.splitlines()) == 4
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or file.read_bytes() == (
            tmp_path / "whole" / file.relative_to(tmp_path / "out")
        ).read_bytes()
    assert len(out.splitlines()) < 4
