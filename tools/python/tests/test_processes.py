# SPDX-License-Identifier: MIT
"""Children, however they are started, after the parent has read; pickles."""
import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest
import workers

import libradio
from libradio import _handles

pytestmark = pytest.mark.filterwarnings(
    # Python 3.12 warns of any fork beside threads; these tests are of that.
    "ignore:This process .* is multi-threaded:DeprecationWarning")


def in_child(function):
    """Runs a function in a forked child; fails with what it raised."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        with os.fdopen(start, "w") as pipe:
            try:
                function()
            except BaseException:
                pipe.write(traceback.format_exc())
        os._exit(0)
    os.close(start)
    with os.fdopen(end) as pipe:
        error = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert error == ""


def test_everything_opens_itself_again_in_a_forked_child(examples, head):
    array = head[1]
    store = libradio.open(examples / "examples.zarr")
    volume = store["ct/head"]
    derived = volume.apply("clamp 10,50")
    file = libradio.open_file(examples / "head.nii.gz")
    everything = [volume, derived, file]
    before = [each.numpy() for each in everything]

    def check():
        for each, want in zip(everything, before):
            assert np.array_equal(each.numpy(), want)
        assert "ct/head" in store and len(store) == 2
        assert volume.stats().count == array.size
        assert volume.validate().tile_count > 0
        # A grandchild, too.
        in_child(lambda: workers.read_sample(volume, 0))

    in_child(check)
    assert np.array_equal(volume.numpy(), array)


def test_children_read_from_a_web_server(server, head):
    volume = libradio.open(server.url)["ct/head"]
    assert np.array_equal(volume.numpy(), head[1])
    for _ in range(3):
        in_child(lambda: np.array_equal(volume.numpy(), head[1]) or 1 / 0)
    assert np.array_equal(volume.numpy(), head[1])


def test_a_child_may_be_the_first_to_read_or_drop_it(examples, head):
    store = libradio.open(examples / "examples.zarr")
    things = [store, store["ct/head"]]
    in_child(lambda: np.array_equal(things[1].numpy(), head[1]) or 1 / 0)
    in_child(things.clear)
    store["ct/head"].close()
    in_child(store.close)
    assert np.array_equal(things[1].numpy(), head[1])


def test_volumes_of_a_closed_store_open_themselves_again(examples, head):
    with libradio.open(examples / "examples.zarr") as store:
        volume = store["ct/head"]
    in_child(lambda: np.array_equal(volume.numpy(), head[1]) or 1 / 0)


def test_closed_volumes_stay_closed_in_a_child(examples):
    with libradio.open(examples / "examples.zarr") as store:
        with store["ct/head"] as volume:
            pass

    def check():
        for use in [lambda: volume[0], lambda: list(store)]:
            with pytest.raises(libradio.ClosedError):
                use()

    in_child(check)


def test_children_are_forked_while_other_threads_read(examples, head):
    volume = libradio.open(examples / "examples.zarr")["ct/head"]
    stop = threading.Event()

    def read():
        while not stop.is_set():
            volume.numpy()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            in_child(
                lambda: np.array_equal(volume.numpy(), head[1]) or 1 / 0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_store_in_memory_is_an_error_in_a_child():
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(np.zeros((4, 4, 4), "uint8"), store, "a/b")
    volume.numpy()

    def check():
        for use in [volume.numpy, lambda: list(store)]:
            with pytest.raises(libradio.ForkedError, match="memory"):
                use()

    in_child(check)
    for thing in [store, volume]:
        with pytest.raises(TypeError, match="memory"):
            pickle.dumps(thing)


def test_what_is_closed_while_it_is_opened_again_stays_closed():
    handle = _handles.Handle("a", lambda: handle.close() or "opened")
    assert handle.get() == "opened"
    assert handle._current is None
    with pytest.raises(libradio.ClosedError):
        handle.get()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_read_what_the_parent_reads(examples, method):
    store = libradio.open(examples / "examples.zarr", threads=2)
    volumes = [store["ct/head"], store["ct/head"].apply("flip x"),
               libradio.open_file(examples / "head.nii.gz")]
    tasks = [(volume, seed) for volume in volumes for seed in range(12)]
    want = [workers.read_sample(*task) for task in tasks]
    context = multiprocessing.get_context(method)
    with context.Pool(8) as pool:
        got = pool.starmap_async(workers.read_sample, tasks).get(timeout=120)
        assert got == want
        paths = pool.apply_async(workers.list_store, (store,)).get(120)
        assert paths == (list(store), list(store))


def test_pickles_are_places_without_secrets(examples, head):
    secrets = {"access_key": "AKIA-KEY", "secret_key": "THE-SECRET",
               "session_token": "THE-TOKEN"}
    store = libradio.open("s3://bucket/study", threads=3, s3={
        "endpoint": "http://localhost:1", **secrets})
    data = pickle.dumps(store)
    for secret in secrets.values():
        assert secret.encode() not in data
    assert b"http://localhost:1" in data
    assert pickle.loads(data).uri == "s3://bucket/study"

    volume = libradio.open(examples / "examples.zarr")["ct/head"]
    for thing in [pickle.loads(pickle.dumps(volume)), copy.deepcopy(volume)]:
        assert np.array_equal(thing.numpy(), head[1])
    derived = pickle.loads(pickle.dumps(volume.apply("flip x")))
    assert np.array_equal(derived.numpy(), head[1][::-1])
    # One store is opened for many volumes of one pickle.
    one, two = pickle.loads(pickle.dumps([volume, volume.apply("flip x")]))
    assert one._source.store is two._source.source.store


def test_urls_with_a_query_are_neither_pickled_nor_shown(server, head):
    url = server.url.replace("examples.zarr", "head.nii.gz")
    with libradio.open_file(f"{url}?X-Amz-Signature=SECRET") as volume:
        assert volume.path == url and "SECRET" not in repr(volume)
        for thing in [volume, volume.apply("flip x")]:
            with pytest.raises(TypeError, match="query") as caught:
                pickle.dumps(thing)
            assert "SECRET" not in str(caught.value)
        in_child(lambda: np.array_equal(volume.numpy(), head[1]) or 1 / 0)
    with pytest.raises(libradio.ClosedError) as closed:
        volume.numpy()
    assert "SECRET" not in str(closed.value)
    with libradio.open_file(url) as volume:
        assert np.array_equal(pickle.loads(pickle.dumps(volume)).numpy(),
                              head[1])


def test_what_is_gone_when_it_is_unpickled_is_an_error_at_its_first_use(
        in_examples):
    data = pickle.dumps(libradio.open("examples.zarr")["ct/head"])
    volume = pickle.loads(data)
    (in_examples / "examples.zarr").rename("moved.zarr")
    with pytest.raises(FileNotFoundError):
        volume.numpy()


def test_pickles_of_another_version_are_refused(examples, monkeypatch):
    volume = libradio.open(examples / "examples.zarr")["ct/head"]
    version = _handles.PICKLE_VERSION
    monkeypatch.setattr(_handles, "PICKLE_VERSION", 7)
    # One with other classes, too.
    data = pickle.dumps(volume).replace(b"Place", b"Thing")
    monkeypatch.setattr(_handles, "PICKLE_VERSION", version)
    with pytest.raises(pickle.UnpicklingError, match="version 7"):
        pickle.loads(data)
    # Of the first version, as Place ("a", None, 0, 0, None).
    with pytest.raises(pickle.UnpicklingError, match="version 1"):
        pickle.loads(b"clibradio._handles\nrestore\n(I1\nclibradio.store\n"
                     b"_Place\nVa\nNI0\nI0\nNtR.")


def test_exceptions_go_from_process_to_process():
    error = libradio.NotFoundError("ct/none: is not there")
    error.errno = 2
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is libradio.NotFoundError
    assert (str(again), again.errno) == (str(error), 2)


def test_a_process_that_reads_imports_no_more_than_that(head):
    code = """
import pickle, sys
volume = pickle.load(sys.stdin.buffer)
assert volume[0, 0, 0].shape == ()
print(*{"concurrent.futures", "html", "libradio._ranks", "logging",
        "multiprocessing", "zarr"}.intersection(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True,
                          input=pickle.dumps(head[0]), stdout=subprocess.PIPE)
    assert done.stdout == b"\n"
