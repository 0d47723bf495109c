# SPDX-License-Identifier: MIT
"""Copies: other readers find the source's data in them, and a web server can
be the source."""

import filecmp
from pathlib import Path

import pytest
from test_http import Web


@pytest.fixture(scope="module")
def source(radio, templates, tmp_path_factory):
    store = tmp_path_factory.mktemp("from") / "study.zarr"
    radio("ingest", "-s", store, "-c", "mr", templates[0])
    radio("phantom", "-s", store, "ct/head", "--size", "200,190,180")
    return store


def files(folder):
    return sorted(p.relative_to(folder) for p in Path(folder).rglob("*")
                  if p.is_file())


def assert_same(a, b):
    names = files(a)
    assert names and names == files(b)
    assert filecmp.cmpfiles(a, b, names, shallow=False) == (names, [], [])


def level(group):
    return group[group.attrs["ome"]["multiscales"][0]["datasets"][0]["path"]]


def test_zarr_python_reads_a_copy_as_it_reads_the_source(
        radio, zarr, np, source, tmp_path):
    copy = tmp_path / "copy.zarr"
    radio("cp", source, copy)
    found = []
    for path in radio("ls", "-s", source).stdout.split():
        arrays = [level(zarr.open_group(store, mode="r")[path])[...]
                  for store in (source, copy)]
        assert np.array_equal(*arrays)
        found.append(path)
    assert len(found) == 2
    assert_same(source, copy)


def test_tensorstore_reads_a_renamed_copy(radio, zarr, np, ts, source,
                                          tmp_path):
    copy = tmp_path / "copy.zarr"
    radio("cp", source / "ct/head", copy, "--name", "xr/other")
    folder = next((copy / "xr/other").glob("0-*"))
    got = ts.open({"driver": "zarr3", "kvstore": f"file://{folder}/"},
                  read=True).result().read().result()
    want = level(zarr.open_group(source, mode="r")["ct/head"])[...]
    assert np.array_equal(got, want)


@pytest.fixture(scope="module")
def web(source, tmp_path_factory):
    server = Web(tmp_path_factory.mktemp("web"))
    (server.folder / "www" / "study.zarr").symlink_to(source)
    yield server
    server.stop()


def test_volumes_are_copied_from_a_web_server(radio, web, source, tmp_path):
    copy = tmp_path / "copy.zarr"
    url = web.url("study.zarr")
    mr = next(p for p in radio("ls", "-s", source).stdout.split()
              if p.startswith("mr/"))
    radio("cp", "-s", url, "ct/head", mr, "--to", copy)
    assert_same(source, copy)
    radio("cp", f"{url}/ct/head", copy, "--name", "ct/again")
    assert_same(source / "ct/head", copy / "ct/again")
    assert "3 checked, 0 bad" in radio("validate", "-s", copy).stdout


def test_a_copy_from_a_web_server_needs_the_volume_s_name(
        radio, web, tmp_path):
    url = web.url("study.zarr")
    for act in ([url], ["-s", url, "ct"]):
        done = radio("cp", *act, "--to", tmp_path / "none.zarr", status=1)
        assert "cannot be listed" in done.stderr
        assert done.stderr.count("\n") == 1
    done = radio("cp", f"{url}/ct", tmp_path / "none.zarr", status=1)
    assert "cannot be listed" in done.stderr
    done = radio("cp", "-s", url, "ct/none", tmp_path / "none.zarr", status=1)
    assert "ct/none: no such volume in " in done.stderr
    assert not (tmp_path / "none.zarr").exists()


def test_a_full_url_names_the_copy_as_its_store_does(
        radio, web, source, tmp_path):
    """The folders of the URL are percent-encoded, the names are not."""
    odd = web.folder / "www" / "a b"
    radio("cp", source / "ct/head", odd / "100%.zarr", "--name", "c t/h%41")
    copy = tmp_path / "copy.zarr"
    radio("cp", web.url("a%20b/100%25.zarr/c%20t/h%2541/"), copy)
    assert radio("ls", "-s", copy).stdout == "c t/h%41\n"
    assert_same(source / "ct/head", copy / "c t/h%41")


def test_a_volume_without_a_parent_group_needs_a_name(radio, web, source,
                                                      tmp_path):
    (web.folder / "www" / "lone").symlink_to(source / "ct/head")
    copy = tmp_path / "copy.zarr"
    done = radio("cp", web.url("lone"), copy, status=1)
    assert "--name COLLECTION/NAME" in done.stderr
    radio("cp", web.url("lone"), copy, "--name", "ct/head")
    assert_same(source / "ct/head", copy / "ct/head")


def test_the_search_for_the_parent_store_is_bounded(radio, web, source,
                                                    tmp_path):
    """Each step is a round trip."""
    folder = web.folder / "www" / "tower"
    path = "tower"
    for _ in range(20):
        folder.mkdir()
        (folder / "zarr.json").write_text(
            '{"zarr_format": 3, "node_type": "group"}')
        folder /= "up"
        path += "/up"
    folder.symlink_to(source / "ct/head")
    said = []
    lines = web.requests(lambda: said.append(
        radio("cp", web.url(path), tmp_path / "c.zarr", status=1).stderr))
    assert "more than 8 groups are above it" in said[0]
    assert "--store" in said[0] and said[0].count("\n") == 1
    assert len(lines) == 9, lines


def test_nothing_is_copied_to_a_web_server(radio, web, source):
    done = radio("cp", source, web.url("study.zarr"), "--overwrite", status=1)
    assert "read-only" in done.stderr


def test_a_copy_from_a_web_server_resumes(radio, web, source, tmp_path):
    """Verifies objects that exist already; reads only the indexes of
    shards."""
    copy = tmp_path / "copy.zarr"
    url = web.url("study.zarr")
    act = ["cp", "-s", url, "ct/head", "--to", copy]
    first = web.requests(lambda: radio(*act))
    (copy / "ct/head/zarr.json").unlink()
    said = []
    second = web.requests(lambda: said.append(radio(*act).stdout))
    assert " 0 B sent, " in said[0]
    assert_same(source / "ct/head", copy / "ct/head")
    nshards = len(list((source / "ct/head").glob("0-*/c/*/*/*")))
    asked = [line for line in second if "/c/" in line and "GET" in line]
    assert len(asked) == nshards, (first, second)


def test_damage_on_a_web_server_is_reported(radio, web, source, tmp_path):
    bad = web.folder / "www" / "bad.zarr"
    radio("cp", source, bad)
    shard = next((bad / "ct/head").glob("0-*/c/*/*/*"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 4
    shard.write_bytes(data)
    copy = tmp_path / "copy.zarr"
    done = radio("cp", "-s", web.url("bad.zarr"), "ct/head", "--to", copy,
                 status=1)
    assert "crc32c" in done.stderr and shard.name in done.stderr
    assert radio("ls", "-s", copy).stdout == ""
    assert not list(copy.glob("ct/*/0-*"))
