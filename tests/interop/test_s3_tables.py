# SPDX-License-Identifier: MIT
"""Tables in S3: processes that commit at the same time lose nothing, and each
command that works by tables does what it does on a disk."""

import json
import multiprocessing
import re
import time
from pathlib import Path

import pytest
import tables
from gateway import ACCESS_KEY, REGION, SECRET_KEY
from radio_library import Store
from test_s3 import keys_of

PATH = "tables/volumes/ct"
PROCESSES, COMMITS = 4, 4


@pytest.fixture(scope="module")
def store_of(gateway):
    gateway.client().create_bucket(Bucket="tables")
    return ("s3://tables/study.zarr",
            {"endpoint": gateway.url().encode(),
             "access_key": ACCESS_KEY.encode(),
             "secret_key": SECRET_KEY.encode(), "region": REGION.encode()})


def write_rows(uri, options, process):
    store = Store(uri, create=True, **options)
    for i in range(COMMITS):
        tables.commit(store, PATH, [f"ct/{process}-{i}", "ct/all"],
                      {"number": ("integer", [process, i]),
                       f"own{process}": ("text", [f"{i}", None])})


def test_processes_that_commit_at_once_lose_nothing(store_of):
    uri, options = store_of
    Store(uri, create=True, **options)
    # Not by fork, which the library's threads would not survive.
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=write_rows, args=(uri, options, i))
               for i in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    table = tables.Table(Store(uri, **options), PATH)
    assert sorted(table.ids) == sorted(
        ["ct/all"] + [f"ct/{p}-{i}" for p in range(PROCESSES)
                      for i in range(COMMITS)])
    assert len(set(table.ids)) == len(table.ids)
    assert table.head == PROCESSES * COMMITS
    rows = dict(zip(table.ids, table.columns["number"].values))
    for p in range(PROCESSES):
        own = dict(zip(table.ids, table.columns[f"own{p}"].values))
        for i in range(COMMITS):
            assert rows[f"ct/{p}-{i}"] == p
            assert own[f"ct/{p}-{i}"] == str(i)


WHERE = ["--where", 'age > 60 and site == "a"']


@pytest.fixture(scope="module")
def stores(store_of, gateway, radio, tmp_path_factory):
    """Returns a store on the disk and one in S3 of the same volumes, and what
    runs a command on both and compares what it prints."""
    folder = tmp_path_factory.mktemp("bids")
    env = gateway.environment()
    tables.make_bids(radio, folder)
    names = [str(folder / "s.zarr"), "s3://tables/commands.zarr"]
    for name in names:
        tables.ingest_bids(radio, folder, name, env=env)

    def run(command, *args, status=0):
        said = [radio(command, "-s", name, *args, env=env, status=status)
                for name in names]
        texts = [re.sub("[0-9.]+ s$", "", (done.stdout + done.stderr)
                        .replace(name, "STORE"), flags=re.M)
                 for done, name in zip(said, names)]
        assert texts[0] == texts[1]
        return texts[0]
    run.names, run.env = names, env
    return run


@pytest.mark.parametrize("command", [
    ["ls"], ["ls", "-l"], ["ls", "--json"], ["validate"], ["info"],
    ["stats", "--json"], ["stats", "--by", "site"], ["stats", "--pool"],
    ["table", "--tsv"], ["table", "--json"],
])
def test_a_query_gives_the_same_in_s3_as_on_a_disk(stores, command):
    if command[0] == "table":
        assert "sub-1" in stores(*command, "subjects", *WHERE)
    else:
        found = stores(*command, *WHERE)
        assert "sub-1" in found or command[0] == "stats"


def test_what_a_query_selects_is_read_from_s3_as_from_a_disk(stores, radio,
                                                             tmp_path):
    for command in ["export"], ["roi", "--x", "1:3", "--y", "0:2"]:
        read = []
        for name in stores.names:
            folder = tmp_path / f"{command[0]}-{len(read)}"
            radio(*command, "-s", name, *WHERE, "-o", f"{folder}/",
                  env=stores.env)
            read.append({path.relative_to(folder): path.read_bytes()
                         for path in folder.rglob("*") if path.is_file()})
        assert read[0] == read[1] and len(read[0]) == 2
        assert all("sub-1" in str(path) for path in read[0])
    report = radio("profile", "full", "-s", stores.names[1], *WHERE, "-o",
                   tmp_path / "p.json", env=stores.env).stdout
    assert "sub-1" in report and "sub-2" not in report


def test_many_volumes_are_read_at_once_as_one_after_the_other(
        gateway, store_of, radio, np, nib, tmp_path):
    """Voxels of neighbours are read at the same time; what is printed and
    written, and in which order, and what is said of a damaged one, is as on a
    disk, where they are read in turn."""
    rng, env, client = np.random.default_rng(3), gateway.environment(), \
        gateway.client()
    for i in range(40):
        for kind in "ct", "seg":
            file = tmp_path / "files" / kind / f"v{i:02}.nii"
            file.parent.mkdir(parents=True, exist_ok=True)
            array = rng.integers(0, 4 if kind == "seg" else 999, (9, 8, 7))
            # Two types, and two scalings of one of them.
            image = nib.Nifti1Image(array.astype(
                "u1" if kind == "seg" else "u2" if i % 5 == 4 else "i2"),
                np.eye(4))
            if kind == "ct" and i % 3 == 2:
                image.header.set_slope_inter(2, -1)
            nib.save(image, file)
    names = [str(tmp_path / "s.zarr"), "s3://tables/many.zarr"]
    radio("ingest", "-q", "-s", names[0], "--pattern",
          "{collection}/{subject}.nii", tmp_path / "files")
    radio("cp", "-q", names[0], names[1], env=env)

    def both(*args, status=0):
        """What a command prints and writes, which both stores have in
        common."""
        texts, files = [], []
        for i, name in enumerate(names):
            out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
            words = [str(out) + "/" if arg is None else arg for arg in args]
            done = radio(args[0], "-s", name, *words[1:], env=env,
                         status=status)
            texts.append((done.stdout + done.stderr).replace(
                str(out), "OUT").replace(name, "STORE"))
            files.append({path.relative_to(out): path.read_bytes()
                          for path in out.rglob("*") if path.is_file()})
        assert texts[0] == texts[1] and files[0] == files[1]
        return texts[0], files[0]

    pooled = ["stats", "--json", "--pool", "--percentiles", "0.5,50,99.5"]
    ways = [pooled + ["ct"],
            pooled + ["--mask", "seg", "--label", "1,3", "ct"],
            pooled + ["--mask", "seg", "--threads", "1", "ct"],
            pooled + ["--mask", "seg", "--memory", "4M", "ct"],
            ["stats", "--json", "--by", "subject", "--mask", "seg", "ct"]]
    said = [both(*way)[0] for way in ways]
    assert said[2] == said[3]
    text, files = both("export", "ct", "--format", "nii", "-o", None)
    assert len(files) == 40
    assert [line.split()[1] for line in text.splitlines()] \
        == [f"OUT/ct/v{i:02}.nii:" for i in range(40)]
    for i in range(40):
        name = f"ct/v{i:02}.nii"
        assert files[Path(name)] == (tmp_path / "files" / name).read_bytes()

    # One is damaged: all others are exported, and it is named alone.
    local = next(file for file in Path(names[0]).glob("ct/v17/0-*/c/**/*")
                 if file.is_file())
    key = f"many.zarr/{local.relative_to(names[0])}"
    data = bytearray(local.read_bytes())
    data[len(data) // 3] ^= 255
    local.write_bytes(data)
    client.put_object(Bucket="tables", Key=key, Body=bytes(data))
    for way in ways:
        text, _ = both(*way, status=1)
        errors = [line for line in text.splitlines()
                  if line.startswith("radio:")]
        assert len(errors) == 1 and "ct/v17" in errors[0]
    text, files = both("export", "ct", "--format", "nii", "-o", None,
                       status=1)
    assert len(files) == 39 and Path("ct/v17.nii") not in files
    assert [line for line in text.splitlines() if line.startswith("radio:")
            and "ct/v17" in line] == [text.splitlines()[-1]]


def test_a_copy_with_pseudonyms_is_the_same_in_s3(gateway, stores, radio,
                                                  tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    key.chmod(0o600)
    said = []
    for copy in tmp_path / "copy.zarr", "s3://tables/pseudonyms.zarr":
        radio("cp", "-q", stores.names[1], copy, "--subjects-key", key, *WHERE,
              "--columns", "age", env=stores.env)
        radio("validate", copy, env=stores.env)
        said.append([radio(*args, "-s", copy, env=stores.env).stdout
                     for args in (["ls"], ["table", "--tsv"],
                                  ["table", "T1w", "--tsv"])])
    assert said[0] == said[1] and "sub-1" not in "".join(said[0])
    client = gateway.client()
    keys = keys_of(client, "tables", "pseudonyms.zarr/")
    assert not [key for key in keys if "sub-1" in key or b"sub-1" in
                client.get_object(Bucket="tables", Key=key)["Body"].read()]


def test_nothing_is_left_in_s3_of_a_subject_who_withdrew(gateway, store_of,
                                                         radio):
    """As on a disk (test_tables.py), after the grace time."""
    store, env = "s3://tables/withdrawn.zarr", gateway.environment()
    for subject in "sub-a", "sub-secret":
        radio("phantom", "-s", store, f"ct/{subject}", "--size", "8", env=env)
    radio("index", "-s", store, env=env)
    radio("rm", "-s", store, "--subject", "sub-secret", "--yes", env=env)
    radio("table", "-s", store, "--remove", "subjects", "sub-secret", env=env)
    time.sleep(2.1)
    radio("gc", "-s", store, "--generations", "1", "--grace", "1", env=env)
    client = gateway.client()
    keys = keys_of(client, "tables", "withdrawn.zarr/")
    assert len([key for key in keys if "/t-" in key
                and re.search("t-[0-9a-f]*/zarr.json", key)]) == 2
    assert not [key for key in keys if "secret" in key or b"secret" in
                client.get_object(Bucket="tables", Key=key)["Body"].read()]
    for name in "subjects", "ct":
        assert "secret" not in radio("table", "-s", store, name, "--json",
                                     env=env).stdout
    radio("index", "-s", store, "--check-values", env=env)


def test_what_a_query_does_not_find_is_the_same_in_s3(stores):
    assert "^" in stores("ls", "--where", "aeg > 3", status=2)
    assert "no such volume" in stores("ls", "none", *WHERE, status=1)


def test_edits_by_queries_give_the_same_in_s3_as_on_a_disk(stores, gateway,
                                                           radio, tmp_path):
    stores("check")
    stores("split", "-q", "--folds", "2", "--exact", "--seed", "3")
    stores("table", "--tsv", "subjects")
    stores("table", "-q", "--set", "age", "subjects", "sub-2=70")
    assert "70" in stores("table", "--tsv", "subjects", *WHERE[:1], "age > 61")
    stores("mv", "-q", "T1w/sub-2", "t1/sub-2")
    assert stores("ls", "t1", "--where", "age == 70") == "t1/sub-2\n"
    # From the bucket to the disk, with its rows.
    copy, env = tmp_path / "copy.zarr", gateway.environment()
    radio("cp", "-q", "s3://tables/commands.zarr", copy, "--where",
          "age == 70", env=env)
    assert radio("ls", "-s", copy).stdout.split() == ["mask/sub-2", "t1/sub-2"]
    assert "sub-1" not in radio("table", "-s", copy, "--tsv").stdout
    assert radio("index", "-s", copy, "--check").returncode == 0
    stores("rm", "--yes", "--where", "age == 70")
    assert stores("ls") == "T1w/sub-1\nmask/sub-1\n"
    stores("index", "--check")


def test_a_table_that_never_had_a_head_is_collected(gateway, store_of, radio):
    """As a writer leaves one that dies before its first head."""
    store, env = "s3://tables/headless.zarr", gateway.environment()
    for name in "ct/a", "mr/a":
        radio("phantom", "-s", store, name, "--size", "8", env=env)
    radio("index", "-s", store, env=env)
    client, folder = gateway.client(), "headless.zarr/tables/volumes/ct/"
    for key in keys_of(client, "tables", folder):
        if "/heads/0" in key or "/t-" in key:
            client.delete_object(Bucket="tables", Key=key)
    assert len(keys_of(client, "tables", folder)) == 2
    # Its document names a head, which another program may be copying.
    time.sleep(2.1)
    radio("gc", "-s", store, "--grace", "1", env=env)
    assert len(keys_of(client, "tables", folder)) == 2
    key = folder + "zarr.json"
    text = client.get_object(Bucket="tables", Key=key)["Body"].read()
    document = json.loads(text)
    del document["attributes"]["radio"]["latest"]
    client.put_object(Bucket="tables", Key=key, Body=json.dumps(document))
    radio("gc", "-s", store, env=env)
    assert len(keys_of(client, "tables", folder)) == 2
    time.sleep(2.1)
    radio("gc", "-s", store, "--grace", "1", env=env)
    assert not keys_of(client, "tables", folder)
    assert keys_of(client, "tables", folder.replace("ct", "mr"))
    radio("index", "-s", store, env=env)
    assert "ct/a" in radio("table", "-s", store, "ct", env=env).stdout
