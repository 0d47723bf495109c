# SPDX-License-Identifier: MIT
"""Stores: mappings of paths to volumes, and their errors."""
import inspect
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from images import voxels

import libradio
import libradio.zarr
from libradio._calls import check
from libradio._native import ffi, lib
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
    for path in ["ct/none", "a\0b", "../x", ""]:
        assert store.get(path) is None and store.get(path, 7) == 7
    assert store.get("ct/head").shape == (64, 48, 32)
    assert store.paths("mr") == ["mr/brain"]
    assert store.find("head") == "ct/head"
    assert {store: 1}[store] == 1 and store == store


def test_what_is_no_volume_is_not_in_it(in_examples):
    group = '{"zarr_format": 3, "node_type": "group"}'
    for path in ["ct/broken", "x/group"]:
        folder = in_examples / "examples.zarr" / path
        folder.mkdir(parents=True)
        (folder / "zarr.json").write_text(group)
    store = libradio.open("examples.zarr")
    level = next((in_examples / "examples.zarr/ct/head").glob("0-*")).name
    assert list(store) == ["ct/broken", "ct/head", "mr/brain"]
    for path in ["x/group", "x", "ct", "", f"ct/head/{level}"]:
        assert path not in store and store.get(path, 7) == 7
        with pytest.raises(libradio.NotFoundError):
            store.find(path)
        with pytest.raises(KeyError) as caught:
            store[path]
        assert caught.value.errno == errno.ENOENT
        assert str(caught.value).startswith({
            "ct": "path: 'ct' is a collection of 2 volumes; use paths('ct'), or"
                  " 'ct/NAME'",
            "x": f"{store.uri}/x: there is no zarr.json",
            "": f"path: '' is the root of {store.uri}: zarr.json: not an",
        }.get(path, f"path: '{path}' is not a volume: {path}"))
    # A document below a collection is that of a volume.
    assert "ct/broken" in store
    with pytest.raises(libradio.FormatError, match="not an OME-Zarr image"):
        store.get("ct/broken")
    # Someone else's image by itself is the only volume, without a name.
    file = in_examples / "examples.zarr/ct/head/zarr.json"
    document = json.loads(file.read_text())
    del document["attributes"]["radio"]
    file.write_text(json.dumps(document))
    image = libradio.open("examples.zarr/ct/head")
    assert list(image) == [""] and "" in image
    assert image.get("").shape == (64, 48, 32)
    assert level not in image and image.get(level) is None
    # Of others' trees broken documents are none.
    (in_examples / "tree/broken").mkdir(parents=True)
    (in_examples / "tree/zarr.json").write_text(group)
    (in_examples / "tree/broken/zarr.json").write_text("{")
    tree = libradio.open("tree")
    assert "broken" not in tree and tree.get("broken") is None


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
    for options, wrong in [(5, "s3: is of type int"),
                           ({"region": 5}, "s3: region: .* of type int"),
                           ({"hedge_percent": "5"}, "hedge_percent: .* str")]:
        with pytest.raises(TypeError, match=wrong):
            libradio.open("s3://bucket/x", s3=options)
    for opens in [libradio.open, libradio.open_file]:
        with pytest.raises(ValueError, match="is empty"):
            opens("")
        with pytest.raises(TypeError):
            opens(3)
    for use in [lambda: store[5], lambda: store["ct/head"].apply(None)]:
        with pytest.raises(TypeError, match="use a str"):
            use()


# Each public function, with the arguments that have no defaults.
FUNCTIONS = {
    "libradio.MonaiReader": "",
    "libradio.Profile.read": "path='none.json'",
    "libradio.as_nibabel": "volume=volume",
    "libradio.as_sitk": "volume=volume",
    "libradio.as_torchio": "volume=volume",
    "libradio.copy": "store=store, path='ct/head', to=store, to_path='a/b'",
    "libradio.count": "name='a'",
    "libradio.from_numpy": "array=array, store=store, path='a/b'",
    "libradio.gauge": "name='a', value=1",
    "libradio.gc": "store=store",
    "libradio.ingest": "files=['head.nii.gz'], store=store",
    "libradio.open": "uri='examples.zarr'",
    "libradio.open_file": "file='head.nii.gz'",
    "libradio.phantom": "store=store, path='a/b'",
    "libradio.profile": "",
    "libradio.remove": "store=store, path='a/b'",
    "libradio.scope": "name='a'",
    "libradio.step": "number=1",
    "libradio.zarr.use": "",
    "profile.diff": "later=profile",
    "profile.merge": "others=[]",
    "profile.save": "path='a.json'",
    "profile.tree": "",
    "store.__getitem__": "path='ct/head'",
    "store.find": "name='head'",
    "store.paths": "",
    "volume.__array__": "",
    "volume.apply": "pipeline='flip x'",
    "volume.axial": "k=0",
    "volume.box": "at=(0, 0, 0), size=(1, 1, 1)",
    "volume.coronal": "k=0",
    "volume.export": "file='a.nii'",
    "volume.histogram": "",
    "volume.numpy": "",
    "volume.read_many": "boxes=[((0, 0, 0), (1, 1, 1))]",
    "volume.sagittal": "k=0",
    "volume.stats": "",
    "volume.validate": "",
}


@pytest.fixture
def names(in_examples):
    """What the arguments of FUNCTIONS are named by."""
    with libradio.open("examples.zarr") as store:
        with libradio.profile() as profile:
            pass
        yield {"libradio": libradio, "store": store, "profile": profile,
               "volume": store["ct/head"],
               "array": np.zeros((4, 4, 4), "uint8")}


def test_all_functions_have_arguments_to_test(names):
    public = {f"libradio.{name}" for name in libradio.__all__}
    for name in ["store", "volume", "profile"]:
        public |= {f"{name}.{method}" for method, function
                   in inspect.getmembers(type(names[name]), callable)
                   if not method.startswith("_")}
    classes = {f"libradio.{name}" for name in libradio.__all__
               if isinstance(getattr(libradio, name), type)}
    # Mappings of Python's, and what has no arguments that may be wrong.
    others = {"store.close", "store.get", "store.items", "store.keys",
              "store.values", "volume.close", "profile.read",
              "profile.to_pandas"}
    assert public - classes - others <= set(FUNCTIONS)


def options(names, function):
    """Returns a function, its arguments, and the names of all its options."""
    called = eval(function, names)
    return (called, eval(f"dict({FUNCTIONS[function]})", names), [
        name for name, option in inspect.signature(called).parameters.items()
        if option.kind is not option.VAR_KEYWORD])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_types_name_the_option(names, function):
    called, arguments, found = options(names, function)
    for name in found:
        for wrong in [object(), [object()]]:
            if name == "copy" and function == "volume.__array__":
                continue        # NumPy's own
            with pytest.raises((TypeError, ValueError, IndexError)) as caught:
                called(**{**arguments, name: wrong})
            assert re.match(rf"{name}\b", str(caught.value)), (name, wrong)
            if name != "array":     # it has a wrong shape, too
                assert re.search("object|list", str(caught.value)), name
    assert list(names["store"]) == ["ct/head", "mr/brain"]


@pytest.mark.parametrize("function, name, wrong, text", [
    ("libradio.open", "threads", -1, "threads: -1: use 0 or more"),
    ("libradio.open", "threads", "2", "threads: '2' is of type str"),
    ("libradio.open", "memory", -1, "memory: -1: use 0 or more"),
    ("libradio.open", "memory", 2 ** 70, f"memory: {2 ** 70}: use"),
    ("libradio.open", "cache", -1, "cache: -1: use 0 or more"),
    ("libradio.open", "create", "yes", "create: 'yes' is of type str"),
    ("libradio.open", "uri", "", "uri: is empty"),
    ("libradio.open", "uri", "a\0b", "uri: 'a.x00b': a NUL"),
    ("libradio.open_file", "cache", 0.5, "cache: 0.5 is of type float"),
    ("libradio.open_file", "file", "\ud800", "file: '.ud800': no file"),
    ("libradio.phantom", "seed", -1, "seed: -1: use 0 or more"),
    ("libradio.phantom", "shape", (4, 4, 2 ** 70), "shape: .*: use .* or less"),
    ("libradio.phantom", "shape", (4, 0, 4), "shape: .4, 0, 4.: use three"),
    ("libradio.phantom", "path", "a\0b", "path: 'a.x00b': a NUL"),
    ("libradio.from_numpy", "labels", {"1": "x"}, "labels: '1' is of type st"),
    ("libradio.from_numpy", "labels", {1: 2}, "labels: 1: 2 is of type int"),
    ("libradio.from_numpy", "labels", {2 ** 70: "x"}, "labels: .* or less"),
    ("libradio.from_numpy", "labels", "liver", "labels: 'liver' is of type"),
    ("libradio.from_numpy", "array", np.array([[[None]]]), "array: object: "),
    ("libradio.from_numpy", "affine", "x", "affine: 'x' is of type str"),
    ("libradio.from_numpy", "spacing", (1, 2), "spacing: 2 numbers for 3"),
    ("libradio.from_numpy", "spacing", "abc", "spacing: could not convert"),
    ("libradio.from_numpy", "existing", "odd", "existing: 'odd': use one of "),
    ("libradio.ingest", "progress", 5, "progress: 5 is of type int; use True"),
    ("libradio.ingest", "files", [5], "files: 5 is of type int"),
    ("libradio.ingest", "files", {3: "a.nii"}, "files: 3 is of type int"),
    ("libradio.as_nibabel", "volume", 5, "volume: 5 is of type int"),
    ("libradio.profile", "max_spans", -1, "max_spans: -1: use 0 or more"),
    ("libradio.profile", "title", "a\0b", "title: 'a.x00b': a NUL"),
    ("libradio.gauge", "unit", "m", "unit: 'm': use one of count, bytes"),
    ("profile.tree", "columns", -1, "columns: -1: use 1 or more"),
    ("profile.merge", "parts", "odd", "parts: 'odd': use one of runs, ranks"),
    ("volume.box", "at", (0.5, 0, 0), "at: .*; use a whole number for each"),
    ("volume.box", "dtype", "odd", "dtype: .*odd"),
    ("volume.box", "dtype", ">f4", "dtype: >f4: .*byte order"),
    ("volume.box", "out", np.zeros((1, 1, 1), "M8[s]"), "out: datetime64.s."),
    ("volume.read_many", "boxes", [(1, 2, 3)], "boxes: .1, 2, 3. is of type"),
    ("volume.histogram", "bins", 0, "bins: 0: use 1 or more"),
    ("volume.histogram", "range", 5, "range: 5 is of type int"),
    ("volume.histogram", "range", (1, 2, 3), "range: .1, 2, 3.: use"),
    ("volume.axial", "k", 1.5, "k: only integers"),
    ("volume.axial", "t", "0", "t: only integers"),
    ("store.__getitem__", "path", "", "path: '' is the root of"),
])
def test_wrong_values_are_named_with_their_option(names, function, name, wrong,
                                                  text):
    called, arguments, _ = options(names, function)
    with pytest.raises((TypeError, ValueError, LookupError),
                       match=f"^{text}"):
        called(**{**arguments, name: wrong})


def test_secrets_are_in_no_message():
    for wrong in ["very\0secret", "very\ud800secret"]:
        with pytest.raises(ValueError, match="s3: secret_key: ") as caught:
            libradio.open("s3://bucket/x", s3={"secret_key": wrong})
        assert "very" not in str(caught.value)
    with pytest.raises(ValueError, match="s3: hedge_percent: -1: is out of"):
        libradio.open("s3://bucket/x", s3={"hedge_percent": -1})


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


def test_errors_of_the_system_have_its_number(store, tmp_path):
    for use, number in [
            (lambda: store["ct/none"], errno.ENOENT),
            (lambda: store.find("none"), errno.ENOENT),
            (lambda: libradio.open(tmp_path / "none"), errno.ENOENT),
            (lambda: libradio.phantom(store, "ct/head", shape=(4, 4, 4)),
             errno.EEXIST)]:
        with pytest.raises(OSError) as caught:
            use()
        assert caught.value.errno == number


def test_what_is_secret_is_not_shown(server):
    place = libradio.store.Place("s3://b/x", {"secret_key": "SECRET"}, 0, 0,
                                 None)
    url = server.url.replace("examples.zarr", "head.nii.gz")
    volume = libradio.open_file(f"{url}?sig=SECRET")
    for each in [place, volume, volume._source]:
        assert "SECRET" not in repr(each)
    assert url in repr(volume._source)


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
    for use in [lambda: list(store), lambda: len(store), store.paths,
                lambda: store.find("head"), lambda: libradio.gc(store)]:
        with pytest.raises(libradio.NotFoundError,
                           match="examples.zarr: the store's folder was rem"):
            use()
    assert "ct/head" not in store and store.get("ct/head") is None
    # Another one in its place is another one.
    with libradio.open("examples.zarr", create=True) as empty:
        assert list(empty) == [] and len(empty) == 0
        assert libradio.gc(empty).removed_count == 0
    with pytest.raises(libradio.NotFoundError, match="was removed"):
        list(store)


def reads_of(volume):
    return [volume.numpy, lambda: volume[3], volume.stats, volume.validate,
            lambda: volume.histogram(8, (0, 9)),
            lambda: volume.apply("flip x").numpy(),
            lambda: volume.read_many([((0, 0, 0), (8, 8, 8))])]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_store_is_removed_under_an_open_volume(in_examples, is_replaced):
    """Also one of another shape and type is there then."""
    volumes = [libradio.open("examples.zarr", cache=0)["ct/head"]
               for _ in range(8)]
    shutil.rmtree("examples.zarr")
    if is_replaced:
        with libradio.open("examples.zarr", create=True) as store:
            libradio.from_numpy(voxels((9, 8, 7), "float64"), store, "ct/head")
    for i, volume in enumerate(volumes[:-1]):
        # Each the first that is read.
        with pytest.raises(libradio.NotFoundError, match="open it again"):
            reads_of(volume)[i]()
        assert volume.shape == (64, 48, 32)
    with pytest.raises(libradio.NotFoundError):
        volumes[-1].export("a.nii")
    assert not (in_examples / "a.nii").exists()
    if is_replaced:
        again = libradio.open("examples.zarr")["ct/head"]
        assert np.array_equal(again.numpy(), voxels((9, 8, 7), "float64"))


def test_a_store_is_removed_while_threads_read(in_examples, head):
    volume = libradio.open("examples.zarr", cache=0)["ct/head"]
    wrong, has_read = [], threading.Event()

    def read():
        try:
            for _ in range(100):
                if not np.array_equal(volume.numpy(), head[1]):
                    wrong.append("voxels differ")
                has_read.set()
        except libradio.NotFoundError:
            pass
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    has_read.wait(60)
    shutil.rmtree("examples.zarr")
    for thread in threads:
        thread.join()
    assert wrong == []


def test_older_tables_are_warned_of_once(server):
    """On a web server the rows of a table are the list of its collection."""
    folder = server.url.rpartition("/")[0] + "/table.zarr"
    local = server.folder / "table.zarr"
    with libradio.open(local, create=True) as store:
        for name in ["ct/a", "ct/b"]:
            libradio.phantom(store, name, shape=(4, 4, 4))
            result = ffi.new("struct radio_index_result *")
            check(lib.radio_store_index(
                store._handle.get().pointer, ffi.NULL, ffi.NULL, result,
                ffi.sizeof(result[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert libradio.open(folder).paths("ct") == ["ct/a", "ct/b"]
    # As in a copy of the store that was interrupted; of long documents the
    # hint repeats none.
    file = local / "tables/volumes/ct/zarr.json"
    document = json.loads(file.read_text())
    hint = document["attributes"]["radio"]["latest"]
    del hint["document"]
    file.write_text(json.dumps(document))
    shutil.rmtree(file.parent / hint["table"])
    shutil.rmtree(max((file.parent / "heads").glob("0*")))
    store = libradio.open(folder)
    with pytest.warns(libradio.RadioWarning, match="an older one") as caught:
        assert store.paths("ct") == ["ct/a"]
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.paths("ct") == ["ct/a"]
        with pytest.raises(libradio.RadioWarning):
            libradio.open(folder).paths("ct")


def test_relative_folders_stay_where_they_were(in_examples, monkeypatch):
    store = libradio.open("examples.zarr")
    monkeypatch.chdir("/")
    assert store.uri == str(in_examples / "examples.zarr")
    assert "ct/head" in store


def test_stores_with_the_same_options_share_a_context(examples):
    from libradio._handles import context
    one = context(1, 0, None)
    assert context(1, 0, None) is one
    assert context(1, 0, 0) is not one


SCRIPT = """
import atexit, os, signal, sys, threading, warnings
{}
import libradio, numpy
store = libradio.open(sys.argv[1])
volume = store["ct/head"]
has_read = threading.Event()

def read(times=10 ** 9):
    for _ in range(times):
        volume.numpy(); volume[1:, 2, ::3]; volume.stats()
        has_read.set()

def begin(*times, daemon=True):
    for _ in range(4):
        threading.Thread(target=read, args=times, daemon=daemon).start()
    has_read.wait()

{}
"""

# What runs before libradio is imported, and after; the exit status, and the
# last line of standard error.
ENDS = {
    "volumes before their store": ("", "del volume; del store", 0, ""),
    "stores before their volumes": (
        "", "del store; volume[0]; del volume", 0, ""),
    "nothing is closed": (
        "", "keep = [store, volume, volume.apply('flip x')]", 0, ""),
    "all in a circle": (
        "", "keep = [store, volume]; keep.append(keep); del keep", 0, ""),
    "threads read": ("", "begin()", 0, ""),
    "threads read that are waited for": ("", "begin(20, daemon=False)", 0, ""),
    "sys.exit while threads read": ("", "begin(); sys.exit(3)", 3, ""),
    "os._exit while threads read": ("", "begin(); os._exit(4)", 4, ""),
    "an exception while threads read": (
        "", "begin(); raise RuntimeError('wrong')", 1, "RuntimeError: wrong"),
    "an exception while threads that are waited for read": (
        "", "begin(20, daemon=False); raise RuntimeError('wrong')", 1,
        "RuntimeError: wrong"),
    "Ctrl-C while threads read": (
        "", "signal.signal(signal.SIGINT, signal.default_int_handler); begin()"
        "; os.kill(os.getpid(), signal.SIGINT); threading.Event().wait()",
        -2, "KeyboardInterrupt"),
    "atexit that was registered before": (
        "atexit.register(lambda: volume[0].sum() or os._exit(9))", "begin()",
        0, ""),
    "atexit that was registered after": (
        "", "atexit.register(store.close); atexit.register(read, 3); begin()",
        0, ""),
    "a finalizer reads": (
        "", "class Late:\n  __del__ = lambda self: volume.numpy()\n"
        "late = Late(); late.itself = late; begin()", 0, ""),
    "a profile is open": (
        "", "profile = libradio.profile(); profile.__enter__(); begin()", 0,
        ""),
    "a profile of functions is open in a scope": (
        "", "scope = libradio.scope('all'); scope.__enter__(); profile ="
        " libradio.profile(python=sys.version_info >= (3, 12));"
        " profile.__enter__(); begin()", 0, ""),
    "stores are opened and closed": (
        "", "def use():\n  while True:\n    with libradio.open(sys.argv[1]) as"
        " s: len(s); s['ct/head'][3]\n"
        "threading.Thread(target=use, daemon=True).start(); begin()", 0, ""),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends_in_good_order(examples, end):
    before, after, status, line = ENDS[end]
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(before, after),
                           examples / "examples.zarr"], timeout=120,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (
        status, [line] if line else [])
