# SPDX-License-Identifier: MIT
"""Profiles: what they record of threads, scopes and requests, and how they
show themselves."""
import asyncio
import base64
import gc
import html
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import spawn
from pathlib import Path

import nibabel
import numpy as np
import pytest
import workers
from images import voxels
from IPython.testing.globalipapp import start_ipython
from IPython.utils.capture import capture_output

import libradio
from libradio import _ranks, scopes


@pytest.fixture
def tree(tmp_path):
    """A function that returns the tree of a profile as a mapping of paths,
    such as "scope/read", to (calls, edge, counters)."""
    def read(profile):
        file = tmp_path / "tree.json"
        profile.save(file)
        document = json.loads(file.read_text())
        nodes, strings = document["nodes"], document["strings"]
        paths, found = [], {}
        for i, parent in enumerate(nodes["parent"]):
            name = strings[nodes["name"][i]]
            paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
            found[paths[-1]] = nodes["calls"][i], nodes["edge"][i], {}
        values, names = document["values"], document["counters"]["name"]
        for node, counter, value in zip(values["node"], values["counter"],
                                        values["value"]):
            found[paths[node]][2][names[counter]] = value
        return found
    return read


def test_scopes_of_python_and_of_the_library_are_one_tree(head, tree):
    volume, array = head
    with libradio.profile("boxes") as p:
        for i in range(3):
            with libradio.step(i), libradio.scope("box"):
                libradio.count("voxels", np.int64(512))
                libradio.count("nbytes", 7, "bytes")
                libradio.gauge("left", 3 - i)
                assert (volume[:8, :8, :8] == array[:8, :8, :8]).all()
    found = tree(p)
    assert found["step"][0] == found["step/box"][0] == 3
    assert found["step/box"][2] == {"voxels": 3 * 512, "nbytes": 21}
    assert found["step/box/read"][0] == 3
    assert p.tree(80).startswith("radio profile: boxes\n")
    assert max(map(len, p.tree(80).splitlines())) <= 80


def test_threads_of_the_library_are_below_the_call(examples, tree, tmp_path):
    for i in range(3):
        image = nibabel.Nifti1Image(voxels((32, 32, 16), "int16"), np.eye(4))
        nibabel.save(image, tmp_path / f"{i}.nii")
    store = libradio.open("memory:", create=True, threads=2)
    with libradio.profile() as p, libradio.scope("ingest all"):
        libradio.ingest([tmp_path / f"{i}.nii" for i in range(3)], store)
    found = tree(p)
    # By threads of the package, whose handoff has edge 1.
    assert found["ingest all/file"][:2] == (3, 1)
    assert found["ingest all/file/ingest"][0] == 3
    assert not [path for path in found if path.startswith("file")]


def test_requests_are_below_the_scope(server, tree):
    with libradio.profile() as p, libradio.scope("remote"):
        store = libradio.open(server.url)
        store["ct/head"].numpy()
    requests = [path for path, (calls, edge, _) in tree(p).items()
                if edge == 2]
    assert requests
    assert all(path.startswith("remote/") for path in requests)


def test_other_threads_are_recorded_by_default(head, tree):
    def read():
        with libradio.scope("there"):
            head[0].axial(3)

    for whole_process in [True, False]:
        with libradio.profile(whole_process=whole_process) as p:
            with libradio.scope("here"):
                thread = threading.Thread(target=read)
                thread.start()
                thread.join()
        assert ("there/read" in tree(p)) == whole_process
        assert "here" in tree(p)


def test_several_record_at_once_each_its_thread(head, tree):
    barrier = threading.Barrier(2)

    def record(name):
        with libradio.profile(whole_process=False) as p:
            barrier.wait(60)
            with libradio.scope(name):
                head[0].axial(1)
            barrier.wait(60)
        return p

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(record, ["one", "other"])
    assert set(tree(one)) & {"one", "other"} == {"one"}
    assert set(tree(other)) & {"one", "other"} == {"other"}


def test_decorated_functions_are_scopes(tree):
    @libradio.scope("fib")
    def fib(n):
        """Docs."""
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert (fib.__name__, fib.__doc__, fib(5)) == ("fib", "Docs.", 5)
    with libradio.profile() as p:
        assert fib(3) == 2
    assert tree(p)["fib"][0] == 1
    assert tree(p)["fib/fib"][0] == 2
    assert tree(p)["fib/fib/fib"][0] == 2
    with pytest.raises(TypeError, match="is a generator"):
        @libradio.scope("generate")
        def generate():
            yield
    for wrong in [5, ValueError, staticmethod(fib), classmethod(fib)]:
        with pytest.raises(TypeError, match="use a function or a method"):
            libradio.scope("wrong")(wrong)

    class Called:
        def __call__(self, n):
            return n

        async def wait(self):
            await asyncio.sleep(0)

    class Awaited(Called):
        async def __call__(self, n):
            return n

    with libradio.profile() as p:
        assert libradio.scope("called")(Called())(3) == 3
        assert libradio.scope("part")(partial(fib, 1))() == 1
        libradio.scope("builtin")(sorted)([3])
        for wait in [libradio.scope("awaited")(Awaited())(3),
                     libradio.scope("bound")(Called().wait)(),
                     libradio.scope("partial")(partial(Awaited.__call__,
                                                       None))(3)]:
            asyncio.run(wait)
    assert {path: edge for path, (_, edge, _) in tree(p).items()} == {
        "called": 0, "part": 0, "part/fib": 0, "builtin": 0, "awaited": 2,
        "bound": 2, "partial": 2}


def test_a_scope_object_can_be_used_again(tree):
    again = libradio.scope("again")
    with libradio.profile() as p:
        for _ in range(2):
            with again, again:
                pass
    assert tree(p)["again"][0] == tree(p)["again/again"][0] == 2


def test_scopes_of_coroutines_overlap(tree):
    @libradio.scope("coroutine")
    async def wait(barrier):
        await barrier.wait()

    async def both():
        barrier = asyncio.Barrier(2)
        with libradio.scope("loop"):
            async with libradio.scope("around"):
                await asyncio.gather(wait(barrier), wait(barrier))

    with libradio.profile() as p:
        asyncio.run(both())
    found = tree(p)
    assert found["loop/around"][:2] == (1, 2)
    assert [calls for path, (calls, edge, _) in found.items()
            if path.endswith("coroutine") and edge == 2] == [2]


def test_with_statements_that_coroutines_end_in_another_order_are_warned_of():
    async def hold(name, begins, ends):
        await begins.wait()
        with libradio.scope(name):
            began[name].set()
            await ends.wait()
        ended[name].set()

    async def interleave():
        for each in [began, ended]:
            each.update(a=asyncio.Event(), b=asyncio.Event())
        now = asyncio.Event()
        now.set()
        # a begins, b begins, a ends, b ends.
        await asyncio.gather(hold("a", now, began["b"]),
                             hold("b", began["a"], ended["a"]))

    began, ended = {}, {}
    with libradio.profile() as p:
        with pytest.warns(libradio.RadioWarning,
                          match="scope a: ended before one") as caught:
            asyncio.run(interleave())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with libradio.scope("c"), libradio.scope("d"):
                pass
            scope = libradio.scope("passed on")
            scope.__enter__()
            thread = threading.Thread(target=scope.__exit__,
                                      args=(None, None, None))
            thread.start()
            thread.join()
            with libradio.scope("e"):
                pass
    assert [each.filename for each in caught] == [__file__]
    assert "left-scopes" in [finding.id for finding in p.findings]


def test_what_fails_is_marked(tree):
    with pytest.raises(ZeroDivisionError):
        with libradio.profile() as p, libradio.scope("outer"):
            try:
                with libradio.scope("inner"):
                    raise KeyError
            except KeyError:
                pass
            1 // 0
    assert tree(p)["outer/inner"][2] == {"failures": 1}
    assert tree(p)["outer"][2] == {"failures": 1}
    assert "failed: KeyError" in p.tree(200)
    assert "ZeroDivisionError: integer division or modulo" in p.tree(200)

    async def fail():
        async with libradio.scope("request"):
            raise KeyError

    with libradio.profile() as p:
        with pytest.raises(KeyError):
            asyncio.run(fail())
    assert tree(p)["request"][1:] == (2, {"failures": 1})


def test_findings():
    with libradio.profile() as p, libradio.scope("good"):
        with pytest.raises(KeyError), libradio.scope("bad"):
            raise KeyError
    finding, = [each for each in p.findings if each.id == "failures"]
    assert finding.weight in ("note", "hint", "problem")
    assert finding.path == ("good", "bad")
    assert str(finding).startswith("Operations failed: ")


def test_counts_that_are_lost_are_said_to_be():
    async def request():
        async with libradio.scope("request"):
            libradio.count("n")

    with libradio.profile() as p:
        libradio.count("n")
        asyncio.run(request())
    finding, = p.findings
    assert finding.id == "outside-scopes"
    assert finding.evidence.startswith("2 events were lost, counts")


def test_nodes_as_a_table(head, tree):
    with libradio.profile() as p, libradio.scope("outer"):
        for _ in range(2):
            with libradio.scope("inner"):
                libradio.count("patches", 3)
    table = p.to_pandas().set_index("path")
    assert [*table.index] == [*tree(p)] == ["outer", "outer/inner"]
    assert [*table.calls] == [1, 2]
    # Including those of descendants.
    assert [*table.patches] == [6, 6]
    assert [*table.parent] == [-1, 0]
    outer, inner = table.total_ns
    assert outer - table.self_ns["outer"] == inner == table.self_ns[1:].item()
    assert [*table.edge] == ["call", "call"]
    assert table.file["outer"] == __file__
    with libradio.profile() as p, libradio.scope("outer"):
        libradio.count("path", 7)
        libradio.count("rows", 2)
        libradio.count("rows", 8, "bytes")
    named = p.to_pandas()
    assert [*named.path] == ["outer"] and [*named["path (count)"]] == [7]
    assert [*named["rows"]] == [2] and [*named["rows (bytes)"]] == [8]
    with libradio.profile() as empty:
        pass
    assert len(empty.to_pandas()) == len(empty.diff(empty).to_pandas()) == 0
    assert [*empty.to_pandas()] == [
        each for each in named if "path (" not in each and "rows" not in each]
    changes = empty.diff(empty).to_pandas()
    assert [*changes] == [*p.diff(p).to_pandas()]
    assert changes.query("change == 'slower'").empty


def work(*names):
    """Records scopes below one, each with the same work."""
    with libradio.profile("p") as p, libradio.scope("all"):
        for name in names:
            with libradio.scope(name):
                for _ in range(40000):
                    pass
    return p


def test_runs_are_merged_and_compared():
    before, *others = [work("same") for _ in range(8)]
    before = before.merge(others)
    assert before.to_pandas().calls.tolist() == [8, 8]
    # Equal times, whatever they are.
    assert [each.change for each in before.diff(before)] == ["noise"] * 2
    after = work("same", "added").merge(
        work("same", "added") for _ in range(7))
    changes = before.diff(after)
    assert [each.path for each in changes] == ["all", "all/same", "all/added"]
    assert len(changes) == 3
    added = changes["all/added"]
    assert (added.change, added.calls_before, added.calls_after) == (
        "new", 0, 1)
    assert added.before_ns == 0 < added.after_ns
    assert re.search(r" \+\d+\.\d+  new +all/added$", repr(changes), re.M)
    assert changes.to_pandas().path.tolist() == [
        each.path for each in changes]
    with pytest.raises(KeyError):
        changes["all/other"]
    # The page has both.
    page = html.unescape(changes._repr_html_())
    assert page.count('type="application/json"') == 2
    assert f"<pre>{changes!r}</pre>" in page
    with pytest.raises(KeyError):
        changes["nothing"]


def test_names_with_slashes_are_no_paths():
    with libradio.profile() as p:
        with libradio.scope("a/b"), libradio.scope("c"):
            pass
        with libradio.scope("a"), libradio.scope("b"):
            pass
        with libradio.scope("a\\"), libradio.scope("b"):
            pass
    paths = [r"a\/b", r"a\/b/c", "a", "a/b", "a\\\\", "a\\\\/b"]
    nodes = p.to_pandas()
    assert nodes.path.tolist() == paths
    assert nodes.name.tolist() == ["a/b", "c", "a", "b", "a\\", "b"]
    changes = p.diff(p)
    assert [each.path for each in changes] == paths
    assert changes.to_pandas().path.tolist() == paths
    assert changes[r"a\/b/c"].calls_after == 1
    assert changes["a/b"] == list(changes)[3]
    with pytest.raises(KeyError):
        changes["a/b/c"]


def test_scopes_of_other_categories_are_others():
    with libradio.profile() as p:
        for scope in [libradio.scope("step"), libradio.step(1)]:
            with scope:
                pass
    changes = p.diff(p)
    assert [each.path for each in changes] == ["step", "step"]
    with pytest.raises(libradio.ArgumentError, match="step: 2 scopes of"):
        changes["step"]


def test_processes_are_merged_as_ranks(tmp_path):
    joined = work("a").merge([work("b")], parts="ranks")
    joined.save(tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    assert document["info"]["parts"] == "ranks"
    assert len(document["parts"]["name"]) == 2
    with pytest.raises(libradio.ArgumentError, match="parts: 'x': use one of"):
        joined.merge([], parts="x")


def ranks(profile, tmp_path):
    """Returns the number of a profile's parts, if these are ranks."""
    profile.save(tmp_path / "ranks.json")
    document = json.loads((tmp_path / "ranks.json").read_text())
    assert document["info"]["parts"] == "ranks"
    return len(document["parts"]["name"])


@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_are_ranks(head, tree, tmp_path, method, monkeypatch):
    # Apart from those of other programs.
    monkeypatch.setattr(_ranks, "_SHARED", tmp_path)
    monkeypatch.setattr(_ranks, "_ROOM_NBYTES", 0)
    context = multiprocessing.get_context(method)
    with libradio.profile() as p, libradio.scope("parent's"):
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            shapes = [*pool.map(partial(workers.read_in_scope, head[0]),
                                range(6))]
    assert shapes == [(64, 48)] * 6
    found = tree(p)
    assert found["parent's"][0] == 1
    assert found["worker's"][0] == found["worker's/read"][0] == 6
    assert 2 <= ranks(p, tmp_path) <= 3
    assert [*tmp_path.glob("radio-ranks-*")] == []
    # Those that start later are not.
    with libradio.profile(whole_process=False) as p, libradio.scope("alone"):
        process = context.Process(target=workers.read_in_scope,
                                  args=(head[0], 0))
        process.start()
        process.join()
    assert process.exitcode == 0
    assert [*tree(p)] == ["alone"]


needs_monitoring = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="sys.monitoring is in Python 3.12")


@pytest.mark.parametrize("python", [
    False, pytest.param(True, marks=needs_monitoring)])
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")
def test_workers_may_record_profiles_of_their_own(head, tmp_path, method,
                                                  python, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(workers.__file__))
    context = multiprocessing.get_context(method)
    with libradio.profile(python=python) as p:
        with context.Pool(1) as pool:
            got = pool.starmap(workers.read_and_record,
                               [(head[0], 3, python)] * 2)
    assert got == [(True, False)] * 2
    assert "worker's" in p.tree() and "of its own" not in p.tree()
    with libradio.profile(python=python):
        with context.Pool(1) as pool:
            got = pool.starmap(workers.read_and_record,
                               [(head[0], 3, python, False)] * 2)
    assert got == [(True, False)] * 2
    # Where workers are no ranks.
    with libradio.profile(python=python, whole_process=False):
        with context.Pool(1) as pool:
            assert pool.starmap(workers.read_and_record,
                                [(head[0], 3, python)]) == [(True, False)]


@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("work", [workers.wait_for, workers.wait_in_scope])
def test_workers_that_are_killed_or_go_on_are_ranks(tree, tmp_path, work):
    context = multiprocessing.get_context("fork")
    events = [(context.Event(), context.Event()) for _ in range(2)]
    with libradio.profile() as p, libradio.scope("parent's"):
        processes = [context.Process(target=work, args=(each,))
                     for each in events]
        for process, (ready, _) in zip(processes, events):
            process.start()
            assert ready.wait(600)
        processes[0].kill()
        processes[0].join()
    assert ranks(p, tmp_path) == 3
    nested = work is workers.wait_in_scope
    assert tree(p)["waits/worker's" if nested else "worker's"][0] == 2
    # An idle worker causes no finding.
    found = [finding.id for finding in p.findings]
    assert ("recovered" in found) == nested
    events[1][1].set()
    processes[1].join()
    assert processes[1].exitcode == 0


# Records until its standard input ends, and then leaves the profile as it is.
RECORDS = """
import sys
from pathlib import Path
import libradio
from libradio import _ranks
_ranks._SHARED, _ranks._ROOM_NBYTES = Path(sys.argv[1]), 0
profile = libradio.profile()
profile.__enter__()
print("records", flush=True)
sys.stdin.read()
"""


def test_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(_ranks, "_SHARED", tmp_path)
    monkeypatch.setattr(_ranks, "_ROOM_NBYTES", 0)
    monkeypatch.setattr(_ranks.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "radio-ranks-file").touch()
    (tmp_path / "radio-ranks-link").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    kept = set(tmp_path.iterdir())
    processes, folders = [], []
    for _ in range(3):
        processes.append(subprocess.Popen(
            [sys.executable, "-c", RECORDS, tmp_path], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert processes[-1].stdout.readline() == "records\n"
        made = set(tmp_path.iterdir()) - kept
        assert made.issuperset(folders) and len(made) == len(folders) + 1
        folders += made - set(folders)
    processes[0].kill()
    processes[0].wait()
    processes[1].communicate("", timeout=600)
    with libradio.profile():
        found = set(tmp_path.iterdir()) - kept
        assert found & set(folders) == {folders[2]} and len(found) == 2
    assert set(tmp_path.iterdir()) == {*kept, folders[2]}
    processes[2].communicate("", timeout=600)
    # A process looks for them once; with its cache cleared it is another one.
    with libradio.profile():
        assert folders[2] in tmp_path.iterdir()
    _ranks._remove_left.cache_clear()
    with libradio.profile():
        assert folders[2] not in tmp_path.iterdir()
    assert set(tmp_path.iterdir()) == kept


def outer(volume, n):
    return [inner(volume, i) for i in range(n)]


def inner(volume, i):
    if i == 2:
        raise KeyError(i)
    return volume.axial(i)


def numbers():
    # Without a try statement CPython 3.13 closes it without a word.
    try:
        yield 1
        yield 2
    finally:
        pass


@needs_monitoring
def test_functions_of_python_are_above_the_library(head, tree):
    with libradio.profile(python=True) as p:
        outer(head[0], 2)
        with libradio.scope("between"):
            assert sum(numbers()) == 3
            assert head[0][:2, 1].shape == (2, 32)
        thread = threading.Thread(target=outer, args=(head[0], 1))
        thread.start()
        thread.join()
    found = tree(p)
    assert found["outer"][0] == 1
    assert found["outer/inner"][0] == found["outer/inner/read"][0] == 2
    # Begin, and after each yield.
    assert found["between/numbers"][0] == 3
    assert [calls for path, (calls, *_) in found.items()
            if path.endswith("/Thread.run/outer/inner/read")] == [1]
    # The package's own are left out, also those that are made of a class.
    assert not [path for path in found if "axial" in path]
    assert not [path for path in found if "lambda" in path]
    table = p.to_pandas().set_index("path")
    assert table.file["outer"] == __file__
    assert table.category["outer"] == "python"
    # All tools are released.
    assert [sys.monitoring.get_tool(i) for i in (2, 3, 4)] == [None] * 3
    with libradio.profile() as p:
        outer(head[0], 1)
    assert "outer" not in tree(p)
    # What begins and ends a recording is not the program's.
    with libradio.profile(python=True) as p:
        sum(numbers())
    assert list(tree(p)) == ["numbers"]


@needs_monitoring
def test_functions_that_raise_end(head, tree):
    def close():
        generator = numbers()
        next(generator)
        generator.close()

    async def sleep():
        await asyncio.sleep(0)

    for _ in range(2):
        with libradio.profile(python=True) as p:
            with libradio.scope("fails"), pytest.raises(KeyError):
                outer(head[0], 3)
            with libradio.scope("after"):
                close()
                asyncio.run(sleep())
        found = tree(p)
        assert found["fails/outer/inner"][0] == 3
        name = f"{close.__qualname__}"
        assert found[f"after/{name}/numbers"][0] == 2
        assert "after" in found
        assert p.to_pandas().name.str.endswith(".sleep").any()
        assert "scopes were open" not in p.tree(200)


@needs_monitoring
def test_one_profile_watches_functions():
    with libradio.profile(python=True, whole_process=False):
        def record():
            with pytest.raises(libradio.ExistsError, match="end that first"):
                with libradio.profile(python=True, whole_process=False):
                    pass
            with libradio.profile(whole_process=False):
                pass
        with ThreadPoolExecutor(1) as pool:
            pool.submit(record).result()
    # One that is refused leaves nothing in the other's tree.
    with libradio.profile(python=True, whole_process=False) as p:
        with pytest.raises(libradio.ExistsError):
            libradio.profile(python=True).__enter__()
    assert not p.to_pandas().path.str.contains("mkdtemp").any()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there it works")
def test_functions_need_a_later_python():
    with pytest.raises(libradio.UnsupportedError, match="needs Python 3.12"):
        libradio.profile(python=True)


def test_bad_arguments():
    for call, error in [
            (lambda: libradio.scope(3), TypeError),
            (lambda: libradio.scope("a\0b"), ValueError),
            (lambda: libradio.step(-1), libradio.ArgumentError),
            (lambda: libradio.step("1"), TypeError),
            (lambda: libradio.step(2**53), libradio.ArgumentError),
            (lambda: libradio.step(2**64), libradio.ArgumentError),
            (lambda: libradio.count("a", -1), libradio.ArgumentError),
            (lambda: libradio.count("a", 1, "m"), libradio.ArgumentError),
            (lambda: libradio.gauge("a", 1, "m"), libradio.ArgumentError),
            (lambda: libradio.count(3), TypeError),
            (lambda: libradio.count("a", 1.5), TypeError)]:
        with pytest.raises(error):
            call()
    with libradio.profile(), libradio.scope("a"):
        libradio.count("large", 2**70)
        libradio.gauge("low", -2**70)
        with pytest.raises(libradio.ArgumentError, match="unit: 'm': use one"):
            libradio.count("long", 1, "m")
        with pytest.raises(TypeError, match="name: 3 is of type int"):
            libradio.count(3)
    with libradio.profile() as p:
        pass
    for use in [lambda: p.diff(3), lambda: p.merge([3])]:
        with pytest.raises(TypeError, match="(later|others): 3 is of type int"):
            use()
    with pytest.raises(TypeError, match="cannot pickle a profile"):
        pickle.dumps(p)


def test_a_profile_that_is_not_complete():
    p = libradio.profile()
    for use in [p.tree, lambda: p.findings, lambda: p.save("a.html")]:
        with pytest.raises(libradio.ArgumentError, match="not complete"):
            use()
    assert repr(p) == "<libradio.Profile, not complete>"
    assert p._repr_html_() is None
    with pytest.raises(libradio.ArgumentError, match="has not begun"):
        p.__exit__(None, None, None)
    with p:
        with pytest.raises(libradio.ExistsError, match="another profile"):
            with libradio.profile():
                pass
    with pytest.raises(libradio.ArgumentError, match="records once"):
        p.__enter__()
    tree = p.tree()
    with pytest.raises(libradio.ArgumentError, match="has ended"):
        p.__exit__(None, None, None)
    # What was raised before is more important.
    p.__exit__(KeyError, KeyError("a"), None)
    assert p.tree() == tree


def test_threads_may_share_a_scope(tree):
    shared, nthreads = libradio.scope("shared"), 4
    together = threading.Barrier(nthreads)

    def run():
        for _ in range(20):
            together.wait()
            with shared, shared:
                together.wait()
    with libradio.profile() as p:
        threads = [threading.Thread(target=run) for _ in range(nthreads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {path: calls for path, (calls, *_) in tree(p).items()} == {
        "shared": 80, "shared/shared": 80}


def test_tasks_may_share_a_scope(monkeypatch):
    shared, ended = libradio.scope("shared"), []
    monkeypatch.setattr(scopes._scopes, "request",
                        lambda site: int(asyncio.current_task().get_name()))
    monkeypatch.setattr(
        scopes._scopes, "request_end",
        lambda request, failure: ended.append(
            (request, int(asyncio.current_task().get_name()))))

    async def run(begun, ends):
        async with shared:
            begun.set()
            await ends.wait()

    async def main():
        begun = [asyncio.Event() for _ in range(2)]
        ends = [asyncio.Event() for _ in range(2)]
        tasks = []
        for i in range(2):
            tasks.append(asyncio.create_task(run(begun[i], ends[i]),
                                             name=str(i + 1)))
            await begun[i].wait()
        for task, end in zip(tasks, ends):
            end.set()
            await task
    asyncio.run(main())
    assert ended == [(1, 1), (2, 2)]


def test_a_profile_that_is_dropped_ends(tree):
    python = sys.version_info >= (3, 12)
    dropped = libradio.profile(python=python)
    dropped.__enter__()
    plain = spawn.get_preparation_data
    del dropped
    gc.collect()
    assert spawn.get_preparation_data is not plain
    with libradio.profile(python=python) as p, libradio.scope("later"):
        pass
    assert "later" in tree(p)


@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_the_profile_to_its_parent(tree):
    with libradio.profile() as p, libradio.scope("parent"):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with libradio.scope("child"):
                    p.__exit__(None, None, None)
            except libradio.ForkedError:
                code = 0
            os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    assert [*tree(p)] == ["parent"]


def test_files(head, tmp_path):
    with libradio.profile("secret") as p:
        head[0].axial(0)
    for suffix in [".html", ".json", ".trace.json", ".speedscope.json",
                   ".folded", ".pb.gz", ".svg", ".txt"]:
        p.save(tmp_path / f"p{suffix}")
        assert (tmp_path / f"p{suffix}").stat().st_size > 0
    for suffix in [".html", ".json"]:
        again = libradio.Profile.read(tmp_path / f"p{suffix}")
        assert again.tree(100) == p.tree(100)
        assert again.findings == p.findings
    with pytest.raises(libradio.ArgumentError):
        p.save(tmp_path / "p.pdf")
    with pytest.raises(libradio.NotFoundError):
        libradio.Profile.read(tmp_path / "nothing.json")
    p.save(tmp_path / "r.json", redact=True)
    assert "ct/head" in (tmp_path / "p.json").read_text()
    assert "ct/head" not in (tmp_path / "r.json").read_text()


def test_the_frame_has_the_page(head, tmp_path):
    with libradio.profile("a \"title\" & <more>") as p:
        head[0].axial(0)
    p.save(tmp_path / "p.html")
    frame = p._repr_html_()
    sandbox, = re.findall(r' sandbox="([^"]*)"', frame)
    # With these its scripts would be the notebook's.
    assert "allow-scripts" in sandbox
    assert "allow-same-origin" not in sandbox and "top" not in sandbox
    (page, text), = re.findall(
        r' srcdoc="([^"]*)"><pre>([^<]*)</pre></iframe>$', frame)
    assert html.unescape(page) == (tmp_path / "p.html").read_text()
    # What is left where frames are taken out.
    assert html.unescape(text) == p.tree()


def test_the_frame_in_a_browser(checkout, head, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "tests/interop")
    import chromium
    if chromium.find() is None:
        assert "CI" not in os.environ
        pytest.skip("chromium is not installed")
    with libradio.profile() as p, libradio.scope("shown"):
        head[0].numpy()
    notebook = tmp_path / "notebook.html"
    notebook.write_text("<!DOCTYPE html><title>notebook</title><body>"
                        + p._repr_html_())
    with chromium.Chromium.start() as browser:
        page = browser.open(notebook)
        assert page.evaluate("document.body.innerText").strip() == ""
        browser.call("Target.setAutoAttach", session=page.session,
                     autoAttach=True, waitForDebuggerOnStart=False,
                     flatten=True)
        sessions = {e["params"]["sessionId"] for e in browser.events
                    if e["method"] == "Target.attachedToTarget"
                    and e["params"]["targetInfo"]["type"] == "iframe"}
        frame = chromium.Page(browser, page.target, sessions.pop())
        frame.call("Runtime.enable")
        frame.call("Log.enable")
        frame.wait("document.querySelector('[role=tab]')")
        theme = "document.documentElement.dataset.theme"
        assert frame.evaluate(theme) == "light"
        # JupyterLab has a theme of its own, beside the system's.
        for scheme in ["dark", "light"]:
            page.evaluate(f"document.body.style.colorScheme = '{scheme}'")
            frame.wait(f"{theme} === '{scheme}'")
        page.evaluate("document.body.style.colorScheme = ''")
        page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark"}])
        frame.wait(f"{theme} === 'dark'")
        # Views change, though there is no address to keep them in.
        chosen = "document.querySelector('[role=tab][aria-selected=true]')"
        for name in ["Icicle", "Tree"]:
            frame.evaluate("[...document.querySelectorAll('[role=tab]')].find"
                           f"(tab => tab.textContent === '{name}').click()")
            assert frame.evaluate(chosen + ".textContent") == name
        assert "shown" in frame.evaluate("document.body.innerText")
        labels = frame.evaluate("[...document.querySelectorAll('button')].map("
                                "button => button.textContent)")
        # It has no address, but a clipboard.
        assert "Copy link" not in labels
        assert frame.evaluate(
            "document.featurePolicy.allowsFeature('clipboard-write')")
        errors = [e for e in browser.events
                  if e["method"] in ("Runtime.exceptionThrown",
                                     "Log.entryAdded")]
        assert errors == []
        # The notebook is out of its reach.
        with pytest.raises(chromium.Failure):
            frame.evaluate("parent.document.title")
        picture = page.call("Page.captureScreenshot")["data"]
        assert len(base64.b64decode(picture)) > 10000


@pytest.fixture(scope="module")
def shell():
    shell = start_ipython()
    shell.run_line_magic("load_ext", "libradio")
    shell.run_cell("import libradio")
    return shell


def test_a_cell_shows_its_profile(shell, head, tree, monkeypatch):
    shell.user_ns["volume"] = head[0]
    with capture_output() as shown:
        result = shell.run_cell("%%radio p\n%time x = volume.axial(3)\nx.shape")
    p = result.result
    assert result.success and p is shell.user_ns["p"]
    assert "read" in tree(p)
    assert [each.data["text/plain"] for each in shown.outputs] == ["(64, 48)"]
    # A notebook asks for more than this terminal.
    formats = shell.display_formatter.formatters
    monkeypatch.setattr(formats["text/html"], "enabled", True)
    assert formats["text/html"](p) == p._repr_html_()
    assert formats["text/plain"](p) == p.tree()


def test_a_cell_that_fails_leaves_its_profile(shell):
    # Of blank lines before the first IPython counts none.
    for blank in ["", "\n", "\n\n\n"]:
        with capture_output() as shown:
            result = shell.run_cell(f"%%radio p\n{blank}x = 1\n1 // 0")
        assert isinstance(result.error_in_exec, ZeroDivisionError)
        assert "----> 2 1 // 0" in shown.stdout
        assert "ZeroDivisionError" in shell.user_ns["p"].tree()
    for name in ["3", "class", "p q"]:
        with capture_output():
            result = shell.run_cell(f"%%radio {name}\nx = 1")
        assert isinstance(result.error_in_exec, libradio.ArgumentError)


def test_a_profile_has_the_number_of_its_cell(shell):
    for _ in range(2):
        with capture_output() as shown:
            result = shell.run_cell("%%radio p\ndef fail():\n    1 // 0",
                                    store_history=True)
        number = result.execution_count
        assert f"In [{number}]" in shell.user_ns["p"].tree()
        with capture_output() as shown:
            shell.run_cell("fail()", store_history=True)
        assert f"Cell In[{number}], line 2" in shown.stdout
        assert f"Cell In[{number + 1}], line 1" in shown.stdout


def test_a_cell_has_the_old_value_of_its_name(shell):
    with capture_output():
        shell.run_cell("p = 1")
        assert shell.run_cell("%%radio p\nq = p + 1").success
    assert shell.user_ns["q"] == 2
    assert isinstance(shell.user_ns["p"], libradio.Profile)


@needs_monitoring
def test_functions_of_a_cell_are_its_own(shell, tree):
    with capture_output():
        assert shell.run_cell(
            "%%radio --python p\ndef f(): pass\nf()").success
    assert [*tree(shell.user_ns["p"])] == ["<module>", "<module>/f"]


def test_a_cell_that_awaits_is_refused(shell):
    for cell in ["import asyncio\nawait asyncio.sleep(0)", "x = 1\n"
                 "async for i in x:\n    pass"]:
        with capture_output():
            result = shell.run_cell("%%radio\n" + cell)
        assert isinstance(result.error_in_exec, libradio.UnsupportedError)
        assert "the cell awaits; use" in str(result.error_in_exec)


def test_values_are_shown_as_in_other_cells(shell):
    for cell, count in [("1 + 1", 1), ("1 + 1;", 0), ("1 + 1;  # why", 0),
                        ("1 + 1  # a;", 1), ("x = 1", 0)]:
        with capture_output() as shown:
            assert shell.run_cell("%%radio\n" + cell).success
        assert len(shown.outputs) == count
