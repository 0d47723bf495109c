# SPDX-License-Identifier: MIT
"""Tables are exchanged both ways with anndata: values, types, missing values,
categories and their order; and zarr-python opens the store without a
warning."""

import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import tables
from conftest import missing, peer, run_radio
from radio_library import RadioError, Store

SUBJECTS = "tables/subjects"

# Of tests/interop/requirements-pandas3.txt.
PANDAS3 = Path(sys.prefix) / "pandas3"

# Runs tests by pandas 3.
RUN = """if True:
    import sys, pandas, pytest
    assert pandas.__version__.startswith("3."), pandas.__version__
    sys.exit(pytest.main(sys.argv[1:]))"""


@pytest.fixture(scope="module")
def anndata():
    module = peer("anndata")
    module.settings.allow_write_nullable_strings = True
    return module


def read(store, path):
    return tables.Table(store, path)


def open_frame(root, generation, path=SUBJECTS):
    import anndata.io
    import zarr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group = zarr.open_group(root, mode="r")
        node = group[f"{path}/{generation}"]
    return anndata.io.read_elem(node)


def check_same(frame, table):
    """A frame of pandas and a table that was read have the same values."""
    import pandas as pd
    assert list(frame.index) == table.ids
    assert list(frame.columns) == list(table.columns)
    for name, column in table.columns.items():
        series = frame[name]
        assert list(~series.isna()) == list(column.valid), name
        for value, other, valid in zip(series, column.values, column.valid):
            assert not valid or value == other, name
        if column.categories is not None:
            assert isinstance(series.dtype, pd.CategoricalDtype)
            assert [str(c) for c in series.cat.categories] \
                == column.categories
            assert series.cat.ordered == column.is_ordered


def make_frame(pd, np, rng, n):
    def some(values, missing):
        return [missing if rng.random() < 0.2 else rng.choice(values)
                for _ in range(n)]

    words = ["", "a", "\u00fc", "sub-01", "x" * 200, " y "]
    frame = pd.DataFrame(index=pd.Index([f"s{i}" for i in range(n)],
                                        name=rng.choice([None, "subject"])))
    for dtype in ["int8", "uint8", "int16", "uint16", "int32", "uint32",
                  "int64", "uint64"]:
        limits = np.iinfo(dtype)
        values = [limits.min, limits.max, 0, 1]
        frame[dtype] = np.array([rng.choice(values) for _ in range(n)], dtype)
        frame["nullable " + dtype] = pd.array(
            some(values, None), dtype=dtype.replace("ui", "UI").replace(
                "int", "Int") if dtype[0] == "i" else "U" + dtype[1:].replace(
                "int", "Int"))
    for dtype in ["float32", "float64"]:
        frame[dtype] = np.array(some([1.5, -0.0, np.inf, 3e-5], np.nan),
                                dtype)
    frame["bool"] = np.array([rng.random() < 0.5 for _ in range(n)], bool)
    frame["nullable bool"] = pd.array(some([True, False], None),
                                      dtype="boolean")
    frame["text"] = np.array([rng.choice(words) for _ in range(n)], object)
    frame["nullable text"] = pd.array(some(words, None), dtype="string")
    frame["categories"] = pd.Categorical(some(["b", "a"], None),
                                         categories=["c", "b", "a"])
    frame["ordered"] = pd.Categorical(some(["lo", "hi"], None),
                                      categories=["lo", "mid", "hi"],
                                      ordered=True)
    frame["numbers"] = pd.Categorical(some([3, 1], None), categories=[3, 1])
    frame["odd name, with \u00fc"] = np.arange(n)
    return frame


@pytest.mark.parametrize("n", [0, 1, 50])
def test_radio_reads_what_anndata_wrote(anndata, np, tmp_path, n):
    import anndata.io
    import pandas as pd
    import zarr
    frame = make_frame(pd, np, random.Random(n), n)
    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    anndata.io.write_elem(root, "obs", frame)
    table = read(Store(tmp_path / "x.zarr"), "obs")
    check_same(frame, table)
    assert table.index_name == (frame.index.name or "_index")
    for name, column in table.columns.items():
        dtype = str(frame[name].dtype).lower().replace("boolean", "bool")
        if column.type != "text" and column.categories is None:
            assert column.dtype == dtype
    # A frame that another program wrote is not edited.
    with pytest.raises(RadioError, match="not the path of a table"):
        tables.commit(Store(tmp_path / "x.zarr"), "obs", ["a"], {})


def test_anndata_reads_what_radio_wrote(anndata, tmp_path):
    rng = random.Random(1)
    n = 400
    ids = [f"sub-{i:03}" for i in range(n)]

    def some(values):
        return [None if rng.random() < 0.2 else rng.choice(values)
                for _ in range(n)]

    columns = {
        "age": ("integer", some([0, 40, -2**63, 2**63 - 1])),
        "count": ("integer", list(range(n))),
        "weight": ("float", some([70.5, 1e300, -0.0])),
        "smoker": ("bool", some([True, False])),
        "left": ("bool", [i % 3 == 0 for i in range(n)]),
        "site": ("text", some(["b", "a", "\u00fc", ""])),
        "notes": ("text", some([f"note {i}" for i in range(300)])),
        "all": ("text", [f"note {i}" for i in range(n)]),
        "none": ("text", [None] * n),
    }
    store = Store(tmp_path / "x.zarr", create=True)
    tables.commit(store, SUBJECTS, ids, columns,
                  {"age": {"Units": "years", "Levels": {"1": "a"}}})
    table = read(store, SUBJECTS)
    frame = open_frame(tmp_path / "x.zarr", table.generation)
    check_same(frame, table)
    assert table.columns["age"].attributes["Units"] == "years"
    assert frame.index.name == "subject"
    assert {name: str(frame[name].dtype) for name in columns} == {
        "age": "Int64", "count": "int64", "weight": "float64",
        "smoker": "boolean", "left": "bool", "site": "category",
        "notes": "string", "all": "object", "none": "category"}


def test_both_ways_with_pandas_3(tmp_path):
    if not PANDAS3.exists():
        missing("pandas 3")
    done = subprocess.run(
        [sys.executable, "-c", RUN, "-q", "-p", "no:cacheprovider",
         "--basetemp", tmp_path / "tests", __file__, "-k",
         "anndata_wrote or radio_wrote or stays_as_it_is or declared_stay "
         "or real_cohort"],
        env={**os.environ, "PYTHONPATH": str(PANDAS3)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout, done.stdout


def make_real_cohort(np, nib, templates, ct, root):
    """Writes a BIDS folder of small templates, a part of a CT with two masks,
    and 500 participants, most of them without an image; values are missing."""
    rng = random.Random(22)
    subjects = []
    for i, file in enumerate(f for f in templates
                             if f.stat().st_size < 100_000):
        subjects.append(f"sub-t{i}")
        image = root / subjects[-1] / "anat" / f"{subjects[-1]}_T1w.nii.gz"
        image.parent.mkdir(parents=True)
        image.symlink_to(file)
    subjects.append("sub-ct")
    (root / "sub-ct/ct").mkdir(parents=True)
    ct = ct[::2, 64:192:2, 64:192:2].T
    for name, array in (("ct", ct), ("bone", (ct > 300).astype("u1")),
                        ("body", (ct > -500).astype("u1"))):
        nib.save(nib.Nifti1Image(array, np.diag([-1, 1, 2, 1])),
                 root / f"sub-ct/ct/sub-ct_{name}.nii.gz")
    subjects += [f"sub-{i:03}" for i in range(500 - len(subjects))]
    rng.shuffle(subjects)

    def some(*values):
        return rng.choice([*values, "n/a"])

    rows = [[subject, some(*range(18, 90)), some(61.5, 80.25, 1e-3),
             some("true", "false"), some("a", "b c", "\u00fc"),
             some(f"seen in {i}", f"left in {i}")]
            for i, subject in enumerate(subjects)]
    head = ["participant_id", "age", "weight", "smoker", "site", "note"]
    (root / "participants.tsv").write_text("".join(
        "\t".join(map(str, row)) + "\n" for row in [head, *rows]))


def test_a_real_cohort_is_read_by_zarr_python_anndata_and_pandas(
        radio, anndata, zarr, np, nib, templates, ct_head, tmp_path):
    import anndata.io
    import pandas as pd
    root, path = tmp_path / "bids", tmp_path / "s.zarr"
    make_real_cohort(np, nib, templates, ct_head, root)
    radio("ingest", "-q", "-s", path, "--layout", "bids", "--table",
          root / "participants.tsv", root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group = zarr.open_group(path, mode="r")
        nodes = dict(group.members(max_depth=None))
    # Every voxel is that of its file.
    files = sorted(root.rglob("*.nii.gz"))
    for file in files:
        name = file.name.removesuffix(".nii.gz")
        subject, suffix = name.split("_")
        image = nodes[f"{suffix}/{subject}"]
        level = image.attrs["ome"]["multiscales"][0]["datasets"][0]["path"]
        assert np.array_equal(image[level][...].T,
                              np.asanyarray(nib.load(file).dataobj).squeeze())
    # The tables are those of anndata, and of pandas where they came from.
    store, frames = Store(path), {}
    for name in ("subjects", "volumes/T1w", "volumes/ct", "volumes/bone",
                 "volumes/body"):
        table = read(store, f"tables/{name}")
        frames[name] = open_frame(path, table.generation, f"tables/{name}")
        check_same(frames[name], table)
    assert sum(len(frame) for frame in frames.values()) == 500 + len(files)
    wanted = pd.read_csv(root / "participants.tsv", sep="\t", index_col=0,
                         float_precision="round_trip")
    # Those with images come first, as they are ingested.
    assert len(frames["subjects"]) == len(wanted) == 500
    found = frames["subjects"].loc[wanted.index]
    assert list(found.columns) == list(wanted.columns)
    for name in wanted:
        assert list(found[name].isna()) == list(wanted[name].isna())
        assert list(found[name].dropna()) == list(wanted[name].dropna())
    # What anndata writes of them is read again.
    other = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    for name, frame in frames.items():
        anndata.io.write_elem(other, name.replace("/", "-"), frame)
        check_same(frame, read(Store(tmp_path / "x.zarr"),
                               name.replace("/", "-")))
    assert "0 faults" in radio("check", "-s", path, "--masks", "bone,body",
                               "--complete", "ct,bone,body", "ct", "bone",
                               "body").stdout


def test_tensorstore_reads_codes(ts, np, tmp_path):
    store = Store(tmp_path / "x.zarr", create=True)
    tables.commit(store, SUBJECTS, ["a", "b", "c"],
                  {"site": ("text", ["y", None, "x"]),
                   "age": ("integer", [1, None, 3])})
    folder = tmp_path / "x.zarr" / SUBJECTS / read(store, SUBJECTS).generation
    for name, values in [("site/codes", [1, -1, 0]),
                         ("age/values", [1, 0, 3]),
                         ("age/mask", [False, True, False])]:
        array = ts.open({"driver": "zarr3", "kvstore": {
            "driver": "file", "path": str(folder / name)}}).result()
        assert array.read().result().tolist() == values


def test_repeated_ids_are_refused(anndata, tmp_path):
    import anndata.io
    import pandas as pd
    import zarr
    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    anndata.io.write_elem(root, "obs", pd.DataFrame(index=["a", "b", "a"]))
    with pytest.raises(RadioError, match="'a' is there twice, again in row 2"):
        read(Store(tmp_path / "x.zarr"), "obs")


def test_a_frame_of_anndata_stays_as_it_is_through_an_edit(anndata, np,
                                                           tmp_path):
    """Its types and categories are written again as they were."""
    import anndata.io
    import pandas as pd
    import zarr
    frame = make_frame(pd, np, random.Random(3), 50)
    store = Store(tmp_path / "x.zarr", create=True)
    tables.commit(store, SUBJECTS, ["s0"], {})
    before = read(store, SUBJECTS).generation
    root = zarr.open_group(tmp_path / "x.zarr", mode="a")
    with zarr.config.set({"array.write_empty_chunks": True}):
        anndata.io.write_elem(root, f"{SUBJECTS}/{before}", frame)
    tables.commit(store, SUBJECTS, ["new"], {"added": ("integer", [7])})
    table = read(store, SUBJECTS)
    check_same(open_frame(tmp_path / "x.zarr", table.generation), table)
    again = open_frame(tmp_path / "x.zarr", table.generation)
    for name in frame:
        if str(frame[name].dtype) == "category":
            assert list(again[name].cat.categories) \
                == list(frame[name].cat.categories)
            assert again[name].cat.ordered == frame[name].cat.ordered
        for a, b in zip(frame[name], again[name]):
            assert (pd.isna(a) and pd.isna(b)) or a == b
    assert list(again["added"][:-1].isna()) == [True] * 50
    assert again["added"].iloc[-1] == 7


def test_categories_that_a_user_declared_stay(anndata, tmp_path):
    """Those that rows had go with their last row; an order stays."""
    import anndata.io
    import pandas as pd
    import zarr
    frame = pd.DataFrame(index=pd.Index(["a", "b", "c"], name="subject"))
    for name, ordered in [("free", False), ("grade", True)]:
        frame[name] = pd.Categorical(["lo", "hi", "mid"], ordered=ordered,
                                     categories=["lo", "mid", "hi", "max"])
    frame["number"] = pd.Categorical([3, 1, 2], categories=[3, 2, 1, 9])
    store = Store(tmp_path / "x.zarr", create=True)
    tables.commit(store, SUBJECTS, ["a"], {})
    root = zarr.open_group(tmp_path / "x.zarr", mode="a")
    path = f"{SUBJECTS}/{read(store, SUBJECTS).generation}"
    with zarr.config.set({"array.write_empty_chunks": True}):
        anndata.io.write_elem(root, path, frame)
    tables.commit(store, SUBJECTS, ["b"], {"free": ("text", ["lo"]),
                                           "grade": ("text", ["lo"]),
                                           "number": ("integer", [3])})
    table = read(store, SUBJECTS)
    again = open_frame(tmp_path / "x.zarr", table.generation)
    check_same(again, table)
    assert list(again["free"].cat.categories) == ["lo", "mid", "max"]
    assert list(again["grade"].cat.categories) == ["lo", "mid", "hi", "max"]
    assert again["grade"].cat.ordered
    assert list(again["number"]) == [3, 3, 2]
    assert list(again["number"].cat.categories) == [3, 2, 9]
    # A copy has the order, too.
    run_radio("phantom", "-s", tmp_path / "x.zarr", "ct/c", "--size", "8")
    run_radio("cp", tmp_path / "x.zarr", tmp_path / "y.zarr")
    copied = open_frame(tmp_path / "y.zarr",
                        read(Store(tmp_path / "y.zarr"), SUBJECTS).generation)
    assert list(copied["free"].cat.categories) == ["mid"]
    assert list(copied["grade"]) == ["mid"]
    assert list(copied["grade"].cat.categories) == ["lo", "mid", "hi", "max"]
    assert copied["grade"].cat.ordered
    # A value that the order does not have ends it: bytes would make another.
    tables.commit(store, SUBJECTS, ["a"], {"grade": ("text", ["worst"])})
    table = read(store, SUBJECTS)
    again = open_frame(tmp_path / "x.zarr", table.generation)
    assert list(again["grade"]) == ["worst", "lo", "mid"]
    assert list(again["grade"].cat.categories) == ["lo", "mid", "worst"]
    assert not again["grade"].cat.ordered


def test_nothing_is_left_of_a_subject_who_withdrew(radio, np, tmp_path):
    """No array, attribute or name of the store has its id, its file's name or
    the value that only its row had, also not in compressed chunks."""
    import zarr
    root = tmp_path / "x.zarr"
    for subject in ["sub-a", "sub-secret", "sub-z"]:
        for kind in ["ct", "seg"]:
            radio("phantom", "-s", root, f"{kind}/{subject}", "--size", "8")
    radio("index", "-s", root)
    radio("table", "-s", root, "--set", "name", "subjects", "sub-a=x",
          "sub-secret=secret name")
    radio("table", "-s", root, "--set", "note", "ct", "ct/sub-secret=secret",
          "ct/sub-z=y")
    radio("stats", "--keep", "-s", root, "ct", "seg")

    def find():
        found = [str(path) for path in root.rglob("*")
                 if "secret" in path.name
                 or path.is_file() and b"secret" in path.read_bytes()]
        for name, node in zarr.open_group(root, mode="r").members(None):
            if isinstance(node, zarr.Array) and node.dtype.kind in "OUT":
                found += [name for value in node[:] if "secret" in str(value)]
        return found

    assert find()
    radio("rm", "-s", root, "--subject", "sub-secret", "--yes")
    radio("table", "-s", root, "--remove", "subjects", "sub-secret")
    radio("gc", "-s", root, "--generations", "1")
    assert find() == []
    radio("validate", "-q", "-s", root)
    assert read(Store(root), SUBJECTS).ids == ["sub-a", "sub-z"]
