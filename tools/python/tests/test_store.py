# SPDX-License-Identifier: MIT
"""Stores: mappings of paths to volumes, and their errors."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import libradio
from libradio.errors import RadioError


@pytest.fixture
def store(examples):
    with libradio.open(examples / "examples.zarr") as store:
        yield store


def test_it_is_a_mapping(store):
    assert list(store) == ["ct/head", "mr/brain"] and len(store) == 2
    assert {path: volume.shape for path, volume in store.items()} == {
        "ct/head": (64, 48, 32), "mr/brain": (20, 16, 12, 3)}
    for path in ["ct/head", "mr/brain"]:
        assert path in store
    for path in ["ct", "head", "ct/none", "none", "", "/", "../x", "a\0b",
                 "\udcff", 3, None]:
        assert path not in store
    for path in ["ct/none", "a\0b", "../x"]:
        assert store.get(path) is None and store.get(path, 7) == 7
    assert store.get("ct/head").shape == (64, 48, 32)
    assert store.paths("mr") == ["mr/brain"]
    assert store.find("head") == "ct/head"
    assert {store: 1}[store] == 1 and store == store


def test_what_is_not_there_is_the_exception_of_python(store, tmp_path):
    with pytest.raises(KeyError) as caught:
        store["ct/none"]
    assert isinstance(caught.value, libradio.NotFoundError)
    assert "ct/none" in str(caught.value)
    with pytest.raises(FileNotFoundError) as caught:
        libradio.open(tmp_path / "none")
    assert "No such file" in str(caught.value)
    with pytest.raises(libradio.NotFoundError, match="did you mean"):
        store.find("heat")
    with pytest.raises(KeyError):
        store.paths("none")


def test_arguments_that_are_wrong_are_value_or_type_errors(store):
    for path in ["a\0b", "\udcff"]:
        with pytest.raises(ValueError):
            store[path]
    with pytest.raises(NotImplementedError, match="ftp"):
        libradio.open("ftp://host/x")
    with pytest.raises(TypeError, match="'colour'; there are endpoint"):
        libradio.open("s3://bucket/x", s3={"colour": 1})
    with pytest.raises(ValueError, match="'odd': use one of auto, path"):
        libradio.open("s3://bucket/x", s3={"addressing": "odd"})
    for opens in [libradio.open, libradio.open_file]:
        with pytest.raises(ValueError, match="is empty"):
            opens("")
        with pytest.raises(TypeError):
            opens(3)
    for use in [lambda: store[5], lambda: store["ct/head"].apply(None)]:
        with pytest.raises(TypeError, match="use a str"):
            use()
    with pytest.raises(OverflowError):
        libradio.open("memory:", create=True, threads=-1)


def test_limits_are_memory_errors(tmp_path):
    with libradio.open(tmp_path / "s", create=True, memory=1 << 20) as store:
        with pytest.raises(MemoryError) as caught:
            libradio.from_numpy(np.zeros((512, 512, 64), "float64"), store,
                                "a/b", tiling="512,512,64")
        assert isinstance(caught.value, libradio.LimitError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_is_the_exception_of_python(in_examples):
    (in_examples / "examples.zarr/zarr.json").chmod(0)
    with pytest.raises(PermissionError):
        libradio.open("examples.zarr")


def test_every_exception_is_one_of_radios():
    for name in libradio.errors.__all__:
        if name.endswith("Error"):
            kind = getattr(libradio, name)
            assert issubclass(kind, RadioError)
            assert str(kind("THING: is wrong")) == "THING: is wrong"


def test_it_is_closed_once_and_for_all(examples):
    store = libradio.open(examples / "examples.zarr")
    volume = store["ct/head"]
    store.close()
    assert store.closed and "closed" in repr(store)
    for use in [lambda: store["ct/head"], lambda: list(store),
                lambda: "ct/head" in store, lambda: store.find("head")]:
        with pytest.raises(libradio.ClosedError, match="is closed"):
            use()
    memory = libradio.open("memory:", create=True)
    memory.close()
    with pytest.raises(libradio.ClosedError, match="^memory: is closed"):
        list(memory)
    # Its volumes stay.
    assert volume[1, 2, 3] == volume.numpy()[1, 2, 3]


def test_a_store_that_is_removed_is_an_error(in_examples, head):
    store = libradio.open("examples.zarr")
    volume = store["ct/head"]
    shutil.rmtree("examples.zarr")
    with pytest.raises(libradio.NotFoundError):
        volume.validate()
    with pytest.raises(KeyError):
        store["ct/head"]


def test_relative_folders_stay_where_they_were(in_examples, monkeypatch):
    store = libradio.open("examples.zarr")
    monkeypatch.chdir("/")
    assert store.uri == str(in_examples / "examples.zarr")
    assert "ct/head" in store


def test_what_has_the_same_options_shares_a_context(examples):
    from libradio._handles import context
    one = context(1, 0, None)
    assert context(1, 0, None) is one
    assert context(1, 0, 0) is not one


SCRIPT = """
import threading, sys, libradio, numpy
store = libradio.open(sys.argv[1])
volume = store["ct/head"]
{}
"""

ENDS = {
    "volumes before their store": "del volume; del store",
    "stores before their volumes": "del store; volume[0]; del volume",
    "nothing is closed": "keep = [store, volume, volume.apply('flip x')]",
    "all in a circle": "keep = [store, volume]; keep.append(keep); del keep",
    "threads read": """
def read():
    while True:
        volume.numpy(); volume[1:, 2, ::3]
for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
volume.numpy()
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends_in_good_order(examples, end):
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(ENDS[end]),
                           examples / "examples.zarr"], timeout=60,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
