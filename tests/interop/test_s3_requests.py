# SPDX-License-Identifier: MIT
"""Counts the requests that reads of S3 take, in front of the gateway: the kind
of each, in order of arrival."""

import json
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tables
from conftest import peer
from gateway import ACCESS_KEY, REGION, SECRET_KEY
from gateway_proxy import Proxy
from radio_library import NO_CACHE, RadioError, Store

VOLUME = "ct/head"
BUCKET = "requests"
SHAPE = (180, 190, 200)


def kind(method, path, headers):
    """Returns the kind of object requested; kinds depend on each other in
    order."""
    if method != "GET":
        return method
    if "list-type=2" in path:
        return "list"
    if path.endswith("/zarr.json"):
        node = path.split("study.zarr")[1].removesuffix("zarr.json")
        return {"/": "root", "/ct/": "collection",
                f"/{VOLUME}/": "document"}.get(node, "level")
    span = headers.get("Range")
    return "index" if span and span.startswith("bytes=-") else "data"


class Count:
    """The requests since the last call."""

    def __init__(self, gateway):
        self.proxy = Proxy(gateway, False)

    def kinds(self):
        seen = [kind(method, path, headers)
                for method, path, headers, _ in self.proxy.seen]
        self.proxy.seen.clear()
        return seen

    def stop(self):
        self.proxy.shutdown()
        self.proxy.server_close()


@pytest.fixture(scope="module")
def count(gateway):
    server = Count(gateway)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def store(gateway, radio):
    """Returns a volume of one shard."""
    gateway.client().create_bucket(Bucket=BUCKET)
    store = f"s3://{BUCKET}/study.zarr"
    radio("phantom", "-s", store, VOLUME, "--size",
          ",".join(map(str, reversed(SHAPE))), env=gateway.environment())
    return store


@pytest.fixture
def kinds(gateway, radio, count):
    """Returns the kinds of requests of a command."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)

    def of(*args):
        count.kinds()
        radio(*args, env=env)
        return count.kinds()
    return of


@pytest.mark.parametrize("cut, nmost", [
    (["slice", "--axis", "axial", "-i", "90"], 1),
    (["slice", "--axis", "coronal", "-i", "90"], 4),
    (["slice", "--axis", "sagittal", "-i", "90"], 4),
    (["roi", "--at", "100,90,80", "--size", "64"], 4),
])
def test_a_cold_read_takes_two_round_trips(kinds, store, tmp_path, cut,
                                           nmost):
    """Reads the document, which has the lengths of the tiles, and then the
    data in parallel."""
    seen = kinds(cut[0], "-s", store, VOLUME, *cut[1:], "-o",
                 tmp_path / "cut.nii")
    assert seen[0] == "document", seen
    assert 1 <= len(seen[1:]) <= nmost and set(seen[1:]) == {"data"}, seen


def test_a_warm_read_takes_one_round_trip(count, store):
    """Needs no index, nor tiles that were read before."""
    np = peer("numpy")
    rng = random.Random(5)
    how = {"endpoint": count.proxy.url, "access_key": ACCESS_KEY,
           "secret_key": SECRET_KEY, "region": REGION}
    words = {name: text.encode() for name, text in how.items()}
    count.kinds()
    with Store(store, cache_nbytes=NO_CACHE, **words) as opened:
        with opened.open_volume(VOLUME) as volume:
            assert count.kinds() == ["document"]
            volume.read([0, 0, 0], [64] * 3, np.int16)
            assert set(count.kinds()) == {"data"}
            for _ in range(20):
                start = [rng.randrange(n - 63) for n in SHAPE]
                volume.read(start, [64] * 3, np.int16)
                seen = count.kinds()
                assert 1 <= len(seen) <= 4 and set(seen) == {"data"}, seen
            volume.plane("axial", 70, np.int16)
            assert count.kinds() == ["data"]


@pytest.fixture
def tiles(gateway, count, radio, store):
    """Returns a volume of which each tile is a request, and where they are."""
    store = store.replace("study", "tiles/study")
    radio("phantom", "-s", store, VOLUME, "--size", "64,64,64", "--tiling",
          "16,16,16", "--overwrite", env=gateway.environment())
    how = {"endpoint": count.proxy.url, "access_key": ACCESS_KEY,
           "secret_key": SECRET_KEY, "region": REGION}
    words = {name: text.encode() for name, text in how.items()}
    starts = [(z, y, x) for z in range(4, 64, 16) for y in range(4, 64, 16)
              for x in range(4, 64, 16)]
    with Store(store, threads=2, cache_nbytes=NO_CACHE, **words) as opened:
        with opened.open_volume(VOLUME) as volume:
            whole = volume.read([0] * 3, [64] * 3, "int16")
            yield volume, whole, starts
    count.proxy.before = lambda *_: None


SIZE = [8, 8, 8]


def test_one_thread_keeps_64_reads_in_flight(count, tiles):
    """No request is answered before the last of 64 has come."""
    np = peer("numpy")
    volume, whole, starts = tiles
    together = threading.Barrier(64)
    count.kinds()
    count.proxy.before = lambda *_: together.wait(60)
    reads = [volume.start_read(start, SIZE, np.int16) for start in starts]
    for (z, y, x), read in zip(starts, reads, strict=True):
        assert np.array_equal(read.wait(), whole[z:z + 8, y:y + 8, x:x + 8])
    assert count.kinds() == ["data"] * 64


def test_reads_in_flight_are_cancelled_or_end_by_their_deadline(count,
                                                                tiles):
    """All of 64 have been requested, and none is answered, when half of them
    are cancelled and the others' deadlines are over."""
    np = peer("numpy")
    volume, whole, starts = tiles
    opened = threading.Event()
    all_came = threading.Barrier(33)     # those without a deadline, and this

    def hold(*_):
        if not opened.is_set():
            try:
                all_came.wait(60)
            except threading.BrokenBarrierError:
                pass
            opened.wait(60)

    count.kinds()
    count.proxy.before = hold
    reads = [volume.start_read(start, SIZE, np.int16) for start in starts[:32]]
    all_came.wait(60)
    all_came.abort()
    late = [volume.start_read(start, SIZE, np.int16, deadline_ms=200)
            for start in starts[32:]]
    for read in reads:
        read.cancel()
        with pytest.raises(RadioError, match="the read was cancelled"):
            read.wait()
    for read in late:
        with pytest.raises(RadioError, match="not done after 200 ms"):
            read.wait()
    opened.set()
    for z, y, x in starts[:3]:
        again = volume.start_read((z, y, x), SIZE, np.int16).wait()
        assert np.array_equal(again, whole[z:z + 8, y:y + 8, x:x + 8])


def test_the_shards_of_kept_statistics_are_checked_at_once(gateway, radio,
                                                           count, store):
    """No end of a shard is answered before those of all are requested."""
    store = store.replace("study", "kept/study")
    env = gateway.environment()
    radio("phantom", "-s", store, VOLUME, "--size", "400,400,240", env=env)
    radio("stats", "-s", store, VOLUME, "--keep", env=env)
    listed = gateway.client().list_objects_v2(Bucket=BUCKET, Prefix="kept/")
    nshards = sum("/c/" in entry["Key"] and VOLUME in entry["Key"]
                  and "nifti" not in entry["Key"]
                  for entry in listed["Contents"])
    assert nshards > 2
    together = threading.Barrier(nshards)

    def hold(method, path):
        if "/c/" in path:
            together.wait(60)

    count.kinds()
    count.proxy.before = hold
    said = radio("info", "-s", store, VOLUME, "--apply",
                 "clamp 0,400 | rescale 0,1",
                 env=gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url))
    count.proxy.before = lambda *_: None
    assert "the statistics are kept" in said.stdout, said.stdout
    seen = count.kinds()
    assert seen.count("index") == nshards, seen


def test_info_takes_two_requests(kinds, store):
    for volume in (["-s", store, VOLUME], [f"{store}/{VOLUME}"]):
        assert kinds("info", *volume) == ["document", "list"]


def test_a_listing_takes_a_request_for_each_page(kinds, store):
    """A page has a thousand objects."""
    assert kinds("ls", "-s", store) == ["root", "list", "collection", "list"]
    assert kinds("ls", "-l", "-s", store) == ["root", "list", "collection",
                                              "list", "document"]


def shard_requests(count):
    """Returns the paths of shards requested by HEAD, and the listings."""
    seen = [(method, path) for method, path, _, _ in count.proxy.seen]
    heads = [path for method, path in seen
             if method == "HEAD" and "/c/" in path]
    lists = [path for _, path in seen if "list-type=2" in path]
    return heads, lists


def test_a_copy_checks_each_shard_once(gateway, count, radio, tmp_path):
    """The check follows the write; objects that exist before it and around
    publishing are listed."""
    local, store = tmp_path / "local.zarr", f"s3://{BUCKET}/copy/study.zarr"
    radio("phantom", "-s", local, VOLUME, "--size", "384,384,300")
    nshards = len(list(local.glob(f"{VOLUME}/0-*/c/*/*/*")))
    assert nshards > 2
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    count.kinds()
    radio("cp", "-q", local, store, env=env)
    heads, lists = shard_requests(count)
    assert len(heads) == len(set(heads)) == nshards, heads
    assert len(lists) <= 6, lists


@pytest.fixture
def small(gateway, count, radio, store, tmp_path):
    """Returns a store of small volumes, what runs commands on it, and what
    counts the requests for a volume."""
    for name in ("a", "b", "c"):
        radio("phantom", "-s", tmp_path / "local.zarr", f"ct/{name}", "--size",
              "16")
        radio("export", "-s", tmp_path / "local.zarr", f"ct/{name}", "-o",
              tmp_path / f"{name}.nii")
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    root = f"s3://{BUCKET}/{tmp_path.name}/study.zarr"

    def run(command, *args, **how):
        count.proxy.seen.clear()
        return radio(command, "-s", root, *args, env=env, **how)

    def methods(name):
        return sorted(method for method, path, _, body in count.proxy.seen
                      if f"ct/{name}/" in path or f"ct%2F{name}%2F" in path
                      or f"ct/{name}/".encode() in body)
    return run, methods


def test_a_small_volume_takes_eight_requests(small, count, tmp_path):
    """Asks if something is there, puts five objects, and reads the header
    array again; nothing is asked for twice."""
    run, methods = small
    run("ingest", "-q", "-c", "ct", tmp_path / "a.nii")
    run("ingest", "-q", "-c", "ct", tmp_path / "b.nii", tmp_path / "c.nii")
    # The first level's document is put twice, under the condition.
    assert sorted(map(methods, "bc")) == [["GET"] * 3 + ["PUT"] * 5,
                                          ["GET"] * 3 + ["PUT"] * 6]
    assert not any(".radio-probe-" in path
                   for _, path, _, _ in count.proxy.seen)


def test_a_collection_of_garbage_reads_three_objects_a_volume(small, count,
                                                              tmp_path):
    """The document and the header array; the collection is listed once."""
    run, methods = small
    files = [tmp_path / f"{name}.nii" for name in ("a", "b", "c")]
    run("ingest", "-q", "-c", "ct", *files)
    run("gc")
    for name in ("a", "b", "c"):
        assert methods(name) == ["GET"] * 3
    lists = [path for _, path, _, _ in count.proxy.seen
             if "list-type=2" in path]
    assert len([path for path in lists if "ct%2F&" in path + "&"]) == 1, lists


def test_a_removal_takes_eight_requests(small, tmp_path):
    """Reads the document, announces and removes, and checks afterwards; the
    objects are removed many by one request."""
    run, methods = small
    files = [tmp_path / f"{name}.nii" for name in ("a", "b", "c")]
    run("ingest", "-q", "-c", "ct", *files)
    done = run("rm", "ct/b", "ct/c")
    assert done.stdout.split() == ["removed", "ct/b", "removed", "ct/c"]
    for name in ("b", "c"):
        assert methods(name) == (["DELETE"] * 2 + ["GET"] * 3 + ["POST"] * 2
                                 + ["PUT"])
    assert not methods("a")
    assert run("ls").stdout.split() == ["ct/a"]


def test_a_removal_looks_for_names_that_are_no_volumes(small, tmp_path):
    """Those are looked for after the others were removed."""
    run, _ = small
    files = [tmp_path / f"{name}.nii" for name in ("a", "b", "c")]
    run("ingest", "-q", "-c", "ct", *files)
    done = run("rm", "ct/bb", "ct/c", status=1)
    assert done.stdout.split() == ["removed", "ct/c"]
    assert "ct/bb: no such volume in " in done.stderr
    assert "did you mean ct/b" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert run("rm", "ct").stdout.split() == ["removed", "ct/a", "removed",
                                              "ct/b"]


class Trips:
    """Answers requests, or those of paths that match, in trips of known
    sizes: none of a trip is answered before all of it were made, so that they
    do not depend on each other."""

    def __init__(self, count, sizes, of=""):
        self.proxy, self.sizes, self.seen = count.proxy, list(sizes), []
        self.of = of
        self.lock = threading.Lock()
        self.arrived = 0
        self.barriers = [threading.Barrier(size) for size in sizes]

    def __enter__(self):
        self.proxy.seen.clear()
        self.proxy.before = self.hold
        return self

    def __exit__(self, *_):
        self.proxy.before = lambda *_: None
        self.proxy.seen.clear()

    def hold(self, method, path):
        if not re.search(self.of, path):
            return
        with self.lock:
            at = self.arrived
            self.arrived += 1
            self.seen.append(f"{method} {path}")
            trip = 0
            while trip < len(self.sizes) and at >= self.sizes[trip]:
                at -= self.sizes[trip]
                trip += 1
        # More requests than were expected are answered, and counted.
        if trip < len(self.sizes):
            self.barriers[trip].wait(20)

    def check(self):
        assert len(self.seen) == sum(self.sizes), self.seen
        assert len(set(self.seen)) == len(self.seen), self.seen


SUBJECTS = tables.SUBJECTS


@pytest.fixture(scope="module")
def cohort(gateway, radio, store, tmp_path_factory):
    """Returns a store of two subjects, in two collections, with tables."""
    store = store.replace("study", "cohort/study")
    folder = tmp_path_factory.mktemp("cohort")
    tables.make_bids(radio, folder)
    tables.ingest_bids(radio, folder, store, env=gateway.environment())
    return store


@pytest.fixture
def opened(gateway, count, cohort):
    how = {"endpoint": count.proxy.url, "access_key": ACCESS_KEY,
           "secret_key": SECRET_KEY, "region": REGION}
    words = {name: text.encode() for name, text in how.items()}
    with Store(cohort, cache_nbytes=NO_CACHE, **words) as opened:
        # Connects, and finds the region.
        with opened.open_volume("T1w/sub-1"):
            yield opened


def test_a_query_takes_three_round_trips(opened, count):
    """The root, the document of the tables and the list of collections; of
    each of three tables the document, which repeats that of the generation,
    and the list of heads; and all columns: the ids of both collections and of
    the subjects, the subject of each volume and site with their categories,
    and age."""
    with Trips(count, [3, 3 * 2, 2 + 1 + 2 * 2 + 1 + 2]) as trips:
        ids = tables.select(opened, 'age > 60 and site == "a"')
        trips.check()
    assert ids == ["T1w/sub-1", "mask/sub-1"]


def test_a_listing_by_a_query_takes_four_round_trips(gateway, radio, count,
                                                     cohort):
    """The query needs three, as above.  At the same time the store's root is
    listed, the documents of both collections are read, and these are listed;
    their volumes are opened after both."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    columns = 2 + 1 + 2 * 2 + 1
    for long in ((), ("-l",)):
        with Trips(count, [3, 3 * 2 + 1, columns + 2, 2] + [2] * len(long)
                   ) as trips:
            listed = radio("ls", *long, "-s", cohort, "--where", "age > 60",
                           env=env).stdout
            trips.check()
        assert [line.split()[0] for line in listed.splitlines()
                if "/" in line] == ["T1w/sub-1", "mask/sub-1"]


def test_a_listing_of_a_collection_by_a_query_takes_three_round_trips(
        gateway, radio, count, cohort):
    """Its document and its volumes are listed while tables are read."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    with Trips(count, [3, 2 * 2 + 1, 1 + 1 + 2 + 1 + 1]) as trips:
        listed = radio("ls", "T1w", "-s", cohort, "--where", "age > 60",
                       env=env).stdout
        trips.check()
    assert listed.split() == ["T1w/sub-1"]


@pytest.fixture
def stale(gateway, radio, cohort):
    """The same store, whose hints are those of before an edit of each table:
    the newest heads repeat what the hints do not."""
    env, client = gateway.environment(), gateway.client()
    bucket, folder = cohort.removeprefix("s3://").split("/", 1)
    keys = [f"{folder}/tables/{name}/zarr.json"
            for name in ("subjects", "volumes/T1w", "volumes/mask")]

    def read():
        return [client.get_object(Bucket=bucket, Key=key)["Body"].read()
                for key in keys]

    def write(texts):
        for key, text in zip(keys, texts):
            client.put_object(Bucket=bucket, Key=key, Body=text)

    old = read()
    for table, row in (("subjects", "sub-1"), ("T1w", "T1w/sub-1"),
                       ("mask", "mask/sub-1")):
        radio("table", "-s", cohort, "--set", "more", table, f"{row}=1",
              env=env)
        radio("table", "-s", cohort, "--drop", "more", table, env=env)
    new = read()
    assert all(a != b for a, b in zip(old, new))
    write(old)
    yield cohort
    write(new)


def test_a_hint_that_is_old_costs_one_round_trip(gateway, radio, count,
                                                 stale):
    """Those of the tests above, and the newest head of each table."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    query = ("-s", stale, "--where", "age > 60")
    columns = 2 + 1 + 2 * 2 + 1
    with Trips(count, [3, 3 * 2 + 1, 3 + 2, columns + 2]) as trips:
        listed = radio("ls", *query, env=env).stdout
        trips.check()
    assert listed.split() == ["T1w/sub-1", "mask/sub-1"]
    with Trips(count, [3, 2 * 2 + 1, 2 + 1, 1 + 1 + 2 + 1]) as trips:
        listed = radio("ls", "T1w", *query, env=env).stdout
        trips.check()
    assert listed.split() == ["T1w/sub-1"]


def test_heads_of_many_edits_are_listed_from_the_hint_on(gateway, radio, count,
                                                         cohort):
    """A thousand are a page: of more, only those from some below the hint's on
    are listed, in one more round trip, however many there are."""
    store, env = cohort.replace("cohort/study", "edits"), \
        gateway.environment()
    client, folder = gateway.client(), "edits.zarr/tables/subjects/"
    radio("phantom", "-s", store, "ct/a", "--size", "8", env=env)
    radio("index", "-s", store, env=env)
    for i in range(2):
        radio("table", "-s", store, "--set", "n", "subjects", f"a={i}",
              env=env)

    def head(number):
        return f"{folder}heads/{number:010}/zarr.json"

    def get(key):
        return client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    text = get(head(3))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: client.put_object(
            Bucket=BUCKET, Key=head(i), Body=text), range(4, 1011)))
    radio("table", "-s", store, "--set", "n", "subjects", "a=7", env=env)
    assert get(head(1011))
    count.proxy.seen.clear()
    proxied = {**env, "AWS_ENDPOINT_URL_S3": count.proxy.url}
    with Trips(count, [2, 1, 2]) as trips:
        shown = radio("table", "-s", store, "--tsv", env=proxied).stdout
        trips.check()
    assert shown.split() == ["subject", "n", "a", "7"]
    # A writer lists so, too, also when it looks for others' heads.
    count.proxy.seen.clear()
    radio("table", "-s", store, "--set", "n", "subjects", "a=8", env=proxied)
    lists = [path for _, path, _, _ in count.proxy.seen
             if "list-type=2" in path]
    assert any("0000001012" in path for path in lists), lists
    assert not any("continuation-token" in path for path in lists), lists
    count.proxy.seen.clear()
    # A hint that is old, of no head, or missing.
    hint, key = json.loads(get(f"{folder}zarr.json")), f"{folder}zarr.json"
    latest = hint["attributes"]["radio"]["latest"]
    for number in 1000, 5, 4000, None:
        latest["head"] = number
        if number is None:
            del hint["attributes"]["radio"]["latest"]
        client.put_object(Bucket=BUCKET, Key=key, Body=json.dumps(hint))
        assert radio("table", "-s", store, "--tsv", env=env).stdout.split() \
            == ["subject", "n", "a", "8"]


def test_a_collection_by_its_url_is_no_store_for_a_query(gateway, radio,
                                                         count, cohort):
    """The document there, which is looked at twice, that of tables and their
    list, which are missing; no volume is looked at."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    count.kinds()
    for command in "ls", "info":
        done = radio(command, f"{cohort}/T1w/", "--where", "age > 60",
                     env=env, status=1)
        assert not done.stdout and len(done.stderr.splitlines()) == 1
        assert f"'radio {command} -s {cohort} T1w'" in done.stderr
        assert len(count.kinds()) <= 5


def test_commands_open_the_volumes_of_a_query_at_the_same_time(
        gateway, radio, count, cohort, tmp_path):
    """After the listing by the query: info reads all documents and lists what
    is stored; export reads all documents, and the voxels of all; stats reads
    the other column, all documents, and the voxels of all; nothing is read
    twice."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    listing = [3, 3 * 2 + 1, 2 + 1 + 2 * 2 + 1 + 2, 2]
    where = ("-s", cohort, "--where", "age > 60")
    with Trips(count, listing + [2, 2]) as trips:
        shown = radio("info", *where, env=env).stdout
        trips.check()
    assert shown.count("volume") == 2
    with Trips(count, listing + [2, 2]) as trips:
        done = radio("export", *where, "-o", f"{tmp_path}/", env=env)
        trips.check()
    assert [line.split()[1] for line in done.stdout.splitlines()] == [
        f"{tmp_path}/{name}/sub-1.nii.gz:" for name in ("T1w", "mask")]
    with Trips(count, listing + [2, 2, 2]) as trips:
        radio("stats", *where, "--by", "site", env=env)
        trips.check()
    of_tables = [seen for seen in trips.seen if "tables" in seen]
    assert len(set(of_tables)) == len(of_tables), sorted(of_tables)
    assert all("sub-1/zarr.json" in seen
               for seen in trips.seen[sum(listing) + 2:][:2]), trips.seen


def test_pairs_of_collections_are_listed_at_the_same_time(gateway, radio,
                                                          count, cohort):
    """The store's root, what is in it, both collections, and all documents."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    with Trips(count, [1, 3, 1, 2, 4]) as trips:
        radio("check", "-s", cohort, env=env)
        trips.check()
    with Trips(count, [1, 2, 2, 4]) as trips:
        radio("check", "-s", cohort, "mask", "T1w", env=env)
        trips.check()


def test_a_copy_reads_the_rows_of_all_tables_in_two_round_trips(
        gateway, radio, count, cohort, tmp_path):
    """Opens all three; and reads their ids and the user's columns."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    with Trips(count, [3 * 2, 2 + 1 + 1 + 2 + 2],
               of="tables(/|%2F)(subjects|volumes)") as trips:
        radio("cp", "-q", cohort, tmp_path / "copy.zarr", env=env)
        trips.check()
    assert (radio("table", "-s", tmp_path / "copy.zarr", "--tsv").stdout.split()
            == SUBJECTS.replace("participant_id", "subject").split())


def test_a_listing_by_a_query_requests_nothing_twice(gateway, radio, count,
                                                     cohort):
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    count.kinds()
    for long in ((), ("-l",)):
        radio("ls", *long, "-s", cohort, "--where", "age > 60", env=env)
        seen = [(method, path) for method, path, _, _ in count.proxy.seen]
        count.kinds()
        assert len(set(seen)) == len(seen), sorted(seen)
        documents = [path for _, path in seen if "sub-" in path]
        assert len(documents) == (2 if long else 0), documents


def test_a_table_and_its_columns_take_two_round_trips(
        gateway, radio, count, cohort):
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    # Those of smoker are its values and a mask.
    with Trips(count, [2, 1 + 1 + 2 + 2]) as trips:
        shown = radio("table", "-s", cohort, "--tsv", env=env).stdout
        trips.check()
    assert shown.split() == SUBJECTS.replace("participant_id",
                                             "subject").split()


def test_rows_of_a_table_by_a_query_take_four_round_trips(
        gateway, radio, count, cohort):
    """Finds and opens the table, reads its ids and what the query names, and
    then all columns."""
    env = gateway.environment(AWS_ENDPOINT_URL_S3=count.proxy.url)
    with Trips(count, [3, 2, 2, 1 + 1 + 2 + 2]) as trips:
        shown = radio("table", "-s", cohort, "--tsv", "--where", "age > 60",
                      env=env).stdout
    assert len(trips.seen) == sum(trips.sizes), trips.seen
    assert [line.split()[0] for line in shown.splitlines()] == ["subject",
                                                                "sub-1"]


def test_a_move_lets_the_server_copy_what_it_does_not_read(radio, gateway,
                                                           count, kinds, store):
    env = gateway.environment()
    radio("phantom", "-s", store, "moved/a%20 b", "--size", "64,64,64", env=env)
    radio("index", "-s", store, env=env)
    sources, lengths = [], []
    own = count.kinds

    def keep():
        for method, path, headers, _ in count.proxy.seen:
            if method == "PUT":
                sources.append(headers.get("x-amz-copy-source"))
            if method == "HEAD" and "/moved/" in path and "/c/" in path:
                lengths.append(path)
        return own()
    count.kinds = keep
    seen = kinds("mv", "-s", store, "moved/a%20 b", "there/c")
    count.kinds = own
    source = [source for source in sources if source]
    assert len(source) == 1 and "/moved/a%2520%20b/0-" in source[0]
    radio("validate", "-s", store, "there/c", env=env)
    radio("index", "-s", store, "--check", env=env)
    assert "moved/" not in radio("ls", "-s", store, env=env).stdout
    # Of the shard its length is read once, and the columns of the tables.
    assert "index" not in seen and len(lengths) == 1, lengths
