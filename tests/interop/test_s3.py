# SPDX-License-Identifier: MIT
"""Stores in S3: Ceph's gateway, as packaged by Debian.

Compares radio's results there with those on disk, and with other clients and
stores: botocore, obstore, zarr-python, tensorstore.
"""

import concurrent.futures
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest
from conftest import BUILD, RADIO, peer
from gateway import ACCESS_KEY, REGION, SECRET_KEY, wait_until

VOLUME = "ct/head"
# All characters that a key may contain and a signature must encode.
ODD_KEYS = [
    "plain", "a b", "a+b", "a=b&c", "e.~!'()*", "@$,;:x", "100%25",
    "q?x=1", "h#x", "\u00e4\u00f6\u00fc", "\u65e5\u672c/\U0001f9e0",
    "%2F", "a\\b", '"quoted"', "<tag>&amp;", "x" * 200,
]


@pytest.fixture(scope="module")
def s3(gateway):
    return gateway.client()


@pytest.fixture(scope="module")
def bucket(s3):
    s3.create_bucket(Bucket="cohort")
    return "cohort"


@pytest.fixture(scope="module")
def env(gateway):
    return gateway.environment()


@pytest.fixture(scope="module")
def on(radio, env):
    """Returns a function that runs the command with the gateway's address."""
    def run(*args, status=0, **more):
        return radio(*args, status=status, env={**env, **more})
    return run


@pytest.fixture(scope="module")
def stores(on, bucket, templates, tmp_path_factory):
    """Returns the same images on disk and in the bucket."""
    local = tmp_path_factory.mktemp("s3") / "study.zarr"
    remote = f"s3://{bucket}/deep/study.zarr"
    for store in (local, remote):
        on("ingest", "-s", store, "-c", "mr", templates[0])
        on("phantom", "-s", store, VOLUME, "--size", "200,190,180")
    return str(local), remote


def keys_of(s3, bucket, prefix=""):
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix=prefix)
    return {entry["Key"]: entry["Size"] for page in pages
            for entry in page.get("Contents", [])}


def uploads_of(s3, bucket):
    return s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])


@pytest.mark.parametrize("how", ["path", "virtual", "tls", "virtual-tls"])
def test_the_s3_store_passes_the_conformance_tests(gateway, s3, how):
    """Runs the conformance tests in a bucket of its own, with path-style and
    virtual-hosted addresses, in plain text and over TLS."""
    program = BUILD / "tests" / "io" / "test-s3-conformance"
    bucket = f"conform-{how}"
    s3.create_bucket(Bucket=bucket)
    is_virtual = "virtual" in how
    url = gateway.url(secure="tls" in how, virtual=is_virtual)
    words = {"ENDPOINT": url, "BUCKET": bucket, "REGION": REGION,
             "ACCESS_KEY": ACCESS_KEY, "SECRET_KEY": SECRET_KEY,
             "CA_FILE": str(gateway.ca_file),
             "ADDRESSING": "virtual" if is_virtual else "path"}
    env = {**os.environ, **{f"RADIO_TESTS_S3_{name}": value
                            for name, value in words.items()}}
    done = subprocess.run([program], capture_output=True, text=True,
                          timeout=300, env=env)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "SKIP" not in said, said
    assert not keys_of(s3, bucket) and not uploads_of(s3, bucket)


@pytest.mark.parametrize("cut", [
    ["slice", "--axis", "axial", "-i", "90"],
    ["slice", "--axis", "sagittal", "-i", "7"],
    ["roi", "--at", "33,45,57", "--size", "64"],
    ["export"],
])
def test_s3_reads_equal_disk_reads(on, stores, tmp_path, cut):
    got = []
    for i, store in enumerate(stores):
        out = tmp_path / f"{i}.nii"
        on(cut[0], "-s", store, VOLUME, *cut[1:], "-o", out)
        got.append(out.read_bytes())
    assert got[0] == got[1]


def test_the_objects_are_the_files(s3, bucket, stores):
    """Except for the names of levels, which are random."""
    def shape(names):
        return sorted((len(n.split("/")), n.split("/")[-1], nbytes)
                      for n, nbytes in names.items()
                      if not n.endswith("zarr.json"))
    local, remote = stores
    prefix = remote.split("/", 3)[3] + "/"
    objects = {key[len(prefix):]: n
               for key, n in keys_of(s3, bucket, prefix).items()}
    files = {os.path.relpath(os.path.join(folder, name), local):
             os.path.getsize(os.path.join(folder, name))
             for folder, _, names in os.walk(local) for name in names
             if not name.startswith(".")}
    assert shape(objects) == shape(files)


def test_the_command_prints_the_same_for_both(on, stores):
    for act in ("stats", "validate"):
        # The last line of validate has a time.
        said = [on(act, "-s", s, VOLUME).stdout.partition(" read in")[0]
                for s in stores]
        assert said[0] == said[1]
    facts = [json.loads(on("info", "-s", s, VOLUME, "--json").stdout)
             for s in stores]
    for found in facts:
        # Names of levels have equal lengths, but their documents do not.
        del found["stored_nbytes"], found["ratio"]
    assert facts[0] == facts[1]
    names = [[line.split()[0] for line in on("ls", "-s", s).stdout.split("\n")
              if "/" in line.split(" ")[0]] for s in stores]
    assert names[0] == names[1] and len(names[0]) == 2


def object_store(gateway, bucket, prefix):
    obstore = peer("obstore")
    return obstore.store.S3Store(
        bucket, prefix=prefix, endpoint=gateway.url(),
        access_key_id=ACCESS_KEY, secret_access_key=SECRET_KEY,
        region=REGION, virtual_hosted_style_request=False,
        client_options={"allow_http": True})


def whole(on, store, volume, folder, np, nib):
    out = folder / "whole.nii"
    on("export", "-s", store, volume, "-o", out)
    return np.asanyarray(nib.load(out).dataobj.get_unscaled()).T


def level_of(s3, bucket, group):
    body = s3.get_object(Bucket=bucket, Key=f"{group}/zarr.json")["Body"]
    document = json.loads(body.read())
    return document["attributes"]["ome"]["multiscales"][0]["datasets"][0][
        "path"]


def test_zarr_python_reads_stores_of_radio(gateway, s3, on, bucket, stores,
                                           zarr, np, nib, tmp_path):
    from zarr.storage import ObjectStore
    group = f"deep/study.zarr/{VOLUME}"
    place = object_store(gateway, bucket, group)
    got = zarr.open_group(ObjectStore(place, read_only=True), mode="r")
    got = got[level_of(s3, bucket, group)][...]
    assert np.array_equal(
        got, whole(on, stores[1], VOLUME, tmp_path, np, nib))


def test_tensorstore_reads_stores_of_radio(gateway, s3, on, bucket, stores, ts,
                                           np, nib, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    group = f"deep/study.zarr/{VOLUME}"
    got = ts.open({"driver": "zarr3", "kvstore": {
        "driver": "s3", "bucket": bucket, "endpoint": gateway.url(),
        "aws_region": REGION,
        "path": f"{group}/{level_of(s3, bucket, group)}/"}}).result()
    assert np.array_equal(
        got.read().result(), whole(on, stores[1], VOLUME, tmp_path, np, nib))


def test_radio_reads_stores_of_zarr_python(gateway, env, bucket, zarr, np,
                                           monkeypatch):
    from radio_library import Store
    from zarr.storage import ObjectStore
    values = np.random.default_rng(3).integers(
        -999, 999, (40, 50, 60)).astype("i2")
    place = object_store(gateway, bucket, "theirs")
    zarr.create_array(ObjectStore(place), name="a", data=values,
                      chunks=(10, 10, 20), shards=(20, 30, 60))
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with Store(f"s3://{bucket}/theirs") as store:
        got = store.read_array("a", [3, 4, 5], [30, 40, 50], values.dtype)
    assert np.array_equal(got, values[3:33, 4:44, 5:55])


def test_keys_of_any_characters_are_read(gateway, s3, on, bucket, stores):
    """Reads a store below each prefix, put there by another client."""
    prefix = stores[1].split("/", 3)[3] + "/"
    for odd in ODD_KEYS:
        for key in keys_of(s3, bucket, prefix):
            s3.copy_object(Bucket=bucket, CopySource=f"{bucket}/{key}",
                           Key=f"odd/{odd}/{key[len(prefix):]}")
        said = on("info", "-s", f"s3://{bucket}/odd/{odd}", VOLUME).stdout
        assert "200 x 190 x 180" in said, odd


def test_requests_show_in_a_profile_and_secrets_do_not(on, stores, tmp_path):
    out = tmp_path / "p.json"
    on("profile", "slice", "-s", stores[1], VOLUME, "--runs", "2", "-o", out)
    said = out.read_text()
    for name in ("fetch", "queued", "first byte", "transfer"):
        assert f'"{name}"' in said
    for secret in (SECRET_KEY, ACCESS_KEY, "Signature", "AWS4-HMAC"):
        assert secret not in said


def test_wrong_keys_are_reported_but_not_printed(on, stores):
    secret = "thisis/notthe+secret"
    done = on("info", "-s", stores[1], VOLUME, status=1,
              AWS_SECRET_ACCESS_KEY=secret)
    assert done.stderr.count("\n") == 1
    assert secret not in done.stderr and SECRET_KEY not in done.stderr
    done = on("info", "-s", stores[1], VOLUME, status=1,
              AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="",
              AWS_EC2_METADATA_DISABLED="true", HOME="/nonexistent")
    assert "credentials" in done.stderr


def test_the_caller_s_certificates_apply_to_roles_too(gateway, bucket,
                                                      monkeypatch, tmp_path):
    """The gateway rejects an unknown token: the test only checks that the
    request reaches it."""
    from radio_library import RadioError, Store
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        monkeypatch.delenv(name)
    token = tmp_path / "token"
    token.write_text("nobody's")
    secure = gateway.url(secure=True)
    for name, value in {
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
            "AWS_ROLE_ARN": "arn:aws:iam::0:role/r", "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL_STS": secure, "AWS_ENDPOINT_URL_S3": secure,
            "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    trusted = {"ca_file": os.fsencode(gateway.ca_file)}
    for how, said in (({}, "ertificate"), (trusted, "answered with status")):
        with (Store(f"s3://{bucket}/x", **how) as store,
              pytest.raises(RadioError, match=f"STS.*{said}")):
            store.read_array("a", [0], [1], "u1")


def test_missing_objects_are_reported_with_their_address(on, bucket, stores):
    done = on("info", "-s", stores[1], "ct/none", status=1)
    assert "ct/none" in done.stderr and stores[1] in done.stderr
    done = on("info", "-s", "s3://nobucket/x", "ct/none", status=1)
    assert "s3://nobucket/x" in done.stderr
    done = on("info", "-s", f"s3://{bucket}/nothing", "a/b", status=1)
    assert "no store at" in done.stderr


@pytest.fixture
def small(on, bucket):
    """Returns a store of three small volumes, for one test."""
    store = f"s3://{bucket}/small/{time.monotonic_ns()}/study.zarr"
    for volume in ("ct/a", "ct/b", "mr/c"):
        on("phantom", "-s", store, volume, "--size", "16")
    return store


def test_a_volume_is_removed_by_its_full_address(on, small):
    done = on("rm", f"{small}/ct/a", f"{small}/mr/c/")
    assert done.stdout == "removed ct/a\nremoved mr/c\n"
    assert on("ls", "-s", small).stdout == "ct/b\n"
    on("validate", "-s", small, "ct/b")


def test_a_volume_below_the_bucket_itself_is_removed(on, s3):
    s3.create_bucket(Bucket="bare")
    on("phantom", "-s", "s3://bare", "ct/a", "--size", "16")
    assert on("rm", "s3://bare/ct/a").stdout == "removed ct/a\n"
    assert on("ls", "-s", "s3://bare").stdout == ""


def test_a_damaged_volume_is_removed_by_its_full_address(
        on, s3, bucket, small):
    key = f"{small.split('/', 3)[3]}/ct/a/zarr.json"
    s3.put_object(Bucket=bucket, Key=key, Body=b"{ damaged")
    assert on("rm", f"{small}/ct/a").stdout == "removed ct/a\n"
    assert on("ls", "-s", small).stdout == "ct/b\nmr/c\n"


def test_only_volumes_are_removed(on, s3, bucket, small):
    prefix = small.split("/", 3)[3]
    level = level_of(s3, bucket, f"{prefix}/ct/a")
    s3.copy_object(Bucket=bucket, Key="lone/zarr.json",
                   CopySource=f"{bucket}/{prefix}/ct/a/zarr.json")
    before = keys_of(s3, bucket)
    for address, said in (
            (f"{small}/ct/none", "no zarr.json, so neither"),
            (f"{small}/ct/a/{level}", "an array, not a volume"),
            (small, "no group is above it"),
            (f"s3://{bucket}/lone", "no group is above it"),
            ("s3://nobucket/ct/a", "s3://nobucket/ct/a")):
        done = on("rm", address, status=1)
        assert said in done.stderr and address in done.stderr
        assert done.stderr.count("\n") == 1
    assert keys_of(s3, bucket) == before


def test_a_collection_is_removed_by_its_address(on, small, bucket):
    copy = f"s3://{bucket}/collections"
    on("cp", small, copy)
    before = on("ls", "-s", copy).stdout.splitlines()
    assert "ct/a" in before and "mr/c" in before
    assert on("rm", f"{copy}/ct").stdout.count("removed ct/") == sum(
        path.startswith("ct/") for path in before)
    assert on("ls", "-s", copy).stdout.splitlines() == [
        path for path in before if not path.startswith("ct/")]
    assert on("ls", f"{copy}/mr").stdout == f"{copy}/mr/c\n"
    assert on("ls", f"{copy}/*/c").stdout == f"{copy}/mr/c\n"


def test_full_addresses_are_read_and_copied_as_paths_are(
        on, small, tmp_path):
    for act in (["info"], ["validate"], ["stats"]):
        on(*act, f"{small}/ct/a")
    for act in (["export", "-o"], ["slice", "-i", "3", "-o"],
                ["roi", "--size", "8", "-o"]):
        on(*act[:1], f"{small}/ct/a", *act[1:], tmp_path / f"{act[0]}.nii")
    copy = tmp_path / "copy.zarr"
    on("cp", f"{small}/ct", f"{small}/mr/c", copy)
    assert on("ls", "-s", copy).stdout == "ct/a\nct/b\nmr/c\n"
    on("cp", f"{small}/ct/b", copy, "--name", "xr/d")
    on("validate", "-s", copy, "xr/d")


def test_no_store_is_made_within_a_store(on, s3, bucket, small, tmp_path):
    local = tmp_path / "a.zarr"
    on("phantom", "-s", local, "ct/a", "--size", "8")
    before = keys_of(s3, bucket)
    for inside in ("new", "ct/new", "none/new", "ct"):
        done = on("cp", local, f"{small}/{inside}", status=1)
        assert f"{small}/{inside}: in the store {small}; " in done.stderr
        assert done.stderr.count("\n") == 1
    assert keys_of(s3, bucket) == before
    on("cp", local, small, "--overwrite")


def test_a_copy_resumes_during_garbage_collection(on, s3, bucket, small,
                                                  tmp_path):
    """An earlier copy left data that are old enough to be collected."""
    local = tmp_path / "a.zarr"
    on("phantom", "-s", local, "ct/z", "--size", "64", "--tiling", "16,16,16")
    key = f"{small.split('/', 3)[3]}/ct/z/zarr.json"
    done = threading.Event()

    def collect():
        while not done.is_set():
            on("gc", "-s", small, "--grace", "5")

    # A copy must not take as long as the grace period.
    for _ in range(2):
        on("cp", local, small, "--overwrite")
        s3.delete_object(Bucket=bucket, Key=key)
        time.sleep(6.1)
        done.clear()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            acts = [pool.submit(collect) for _ in range(2)]
            try:
                on("cp", local, small)
            finally:
                done.set()
            for act in acts:
                act.result()
        on("validate", "-s", small, "ct/z")
        assert not [k for k in keys_of(s3, bucket) if ".radio-gc" in k]


def test_a_volume_is_replaced_and_removed(on, s3, bucket, templates):
    store, file = f"s3://{bucket}/rewritten", templates[0]
    on("ingest", "-s", store, "-c", "mr", file)
    before = keys_of(s3, bucket, "rewritten/mr/")
    name = next(iter(before)).split("/")[2]
    done = on("ingest", "-s", store, "-c", "mr", file, status=1)
    assert "exists already" in done.stderr
    on("ingest", "-s", store, "-c", "mr", "--skip-existing", file)
    assert keys_of(s3, bucket, "rewritten/mr/") == before
    on("ingest", "-s", store, "-c", "mr", "--overwrite", file)
    after = keys_of(s3, bucket, "rewritten/mr/")
    shards = [{key for key in keys if f"/{name}/0-" in key}
              for keys in (before, after)]
    assert shards[0] and shards[0] < shards[1]
    on("rm", "-s", store, f"mr/{name}")
    assert f"rewritten/mr/{name}/zarr.json" not in keys_of(s3, bucket)
    assert name not in on("ls", "-s", store).stdout
    # The levels may belong to another writer until they are old enough.
    time.sleep(2.1)
    on("gc", "-s", store, "--grace", "1")
    assert not keys_of(s3, bucket, f"rewritten/mr/{name}/")


def test_a_killed_ingest_leaves_nothing_half_visible(on, s3, env, bucket,
                                                     ct_file):
    """Kills at random moments; gc finds the leftovers once the grace period is
    over."""
    store = f"s3://{bucket}/killed"
    rng = random.Random(7)
    on("phantom", "-s", store, "a/whole", "--size", "16")
    for i in range(6):
        act = subprocess.Popen(
            [RADIO, "ingest", "-s", store, "-c", f"c{i}", ct_file], env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 1.2))
        act.send_signal(signal.SIGKILL)
        act.wait(timeout=30)
    names = [line.split()[0] for line in
             on("ls", "-s", store).stdout.splitlines() if "/" in line]
    for name in names:
        on("validate", "-s", store, name)
    assert "a/whole" in names

    def leftovers():
        on("gc", "-s", store, "--grace", "1")
        return uploads_of(s3, bucket) + [
            key for key in keys_of(s3, bucket, "killed/")
            if not key.endswith("zarr.json")
            and "/".join(key.split("/")[1:3]) not in names]

    # The gateway may end a request long after its client is dead.
    time.sleep(2.1)
    wait_until(lambda: not leftovers(), leftovers)


def test_the_bytes_of_removed_uploads_are_reported(on, s3, bucket, small):
    """Covers a key that the gateway returns percent-encoded."""
    prefix = small.split("/", 3)[3]
    for key, nbytes in ((f"{prefix}/ct/x/c/0", 3000000),
                        (f"{prefix}/ct/a b+c/c/1", 2000000)):
        upload = s3.create_multipart_upload(Bucket=bucket, Key=key)
        s3.upload_part(Bucket=bucket, Key=key, UploadId=upload["UploadId"],
                       PartNumber=1, Body=bytes(nbytes))
    time.sleep(2.1)
    for act in (["--dry-run"], []):
        said = on("gc", "-s", small, "--grace", "1", *act).stdout
        assert " 2 unused items" in said and "5.0 MB" in said, said
    assert not uploads_of(s3, bucket)
    assert " 0 unused items" in on("gc", "-s", small, "--grace", "1").stdout


@pytest.fixture(scope="session")
def ct_file(ct_i16, np, nib, tmp_path_factory):
    file = tmp_path_factory.mktemp("ct") / "ct.nii"
    nib.save(nib.Nifti1Image(ct_i16[:96].T, np.eye(4)), file)
    return file
