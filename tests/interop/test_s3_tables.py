# SPDX-License-Identifier: MIT
"""Tables in S3: processes that commit at the same time lose nothing."""

import multiprocessing

import pytest
import tables
from gateway import ACCESS_KEY, REGION, SECRET_KEY
from radio_library import Store

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
