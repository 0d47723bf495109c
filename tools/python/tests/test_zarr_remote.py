# SPDX-License-Identifier: MIT
"""Arrays of zarr-python's over a network, read and written by the library."""
import itertools
import json
import pickle

import numpy as np
import obstore.store
import pytest
import zarr
from server import Server
from test_processes import in_child
from test_zarr import SHARDS, check_selections, fallen_back, make, opened
from zarr.storage import FsspecStore, ObjectStore

import libradio
import libradio.zarr

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture
def site(tmp_path):
    """A web server of a folder, which says no versions of its files."""
    with Server(tmp_path) as server:
        server.url = server.url.removesuffix("/examples.zarr")
        yield server


def by_obstore(url):
    return ObjectStore(obstore.store.HTTPStore(
        url, client_options={"allow_http": True}), read_only=True)


def by_fsspec(url):
    return FsspecStore.from_url(url, read_only=True)


# Few requests: each goes through servers in Python, or of many parts.
SIZES = {"zstd": {"chunks": SHARDS}, "plain shards": {}}


@pytest.mark.parametrize("client", [by_obstore, by_fsspec])
@pytest.mark.parametrize("name", SIZES)
def test_arrays_on_a_web_server(tmp_path, site, client, name):
    elements = make(tmp_path / "a b/c", name, **SIZES[name])
    array = opened(client(f"{site.url}/a%20b"), path="c", mode="r")
    check_selections(array, elements, 8)
    in_child(lambda: check_selections(array, elements, 3))
    other = zarr.open_array(tmp_path / "a b/c")
    for _ in range(2):
        elements = elements[::-1]
        other[...] = elements
        other[3:5, 2] = elements[3:5, 2] = 77
        assert np.array_equal(array[...], elements)
    for file in (tmp_path / "a b/c/c").iterdir():
        file.rename(tmp_path / f"away {file.name}")
    assert not array[...].any()


def test_clients_with_options_that_the_library_lacks(tmp_path, site):
    elements = make(tmp_path / "a")
    url = f"{site.url}/a"
    for store, match in [
            (FsspecStore.from_url(url, {"headers": {"X-A": "b"}}), "headers"),
            (ObjectStore(obstore.store.HTTPStore(url, client_options={
                "allow_http": True, "default_headers": {"X-A": "b"}})),
             "default_headers")]:
        got, line = fallen_back(
            opened(store, strict=False, mode="r"), lambda a: a[...])
        assert np.array_equal(got, elements)
        assert match in line


def test_a_warning_has_no_signature(tmp_path):
    make(tmp_path / "a")
    store = FsspecStore.from_url("http://127.0.0.1/a?sig=SECRET", {
        "headers": {"X-A": "b"}})
    source = libradio.zarr._Source(zarr.open_array(tmp_path / "a").metadata,
                                   store, strict=False, memory=0)
    with pytest.warns(libradio.RadioWarning, match="127.0.0.1/a") as caught:
        source.report("c/0", "the client has options")
    assert "SECRET" not in str(caught[0].message)


numbers = itertools.count()


@pytest.fixture
def bucket(gateway):
    name = f"zarr{next(numbers)}"
    gateway.client().create_bucket(Bucket=name)
    return name


def s3_by_obstore(gateway, bucket, virtual=False, **more):
    from gateway import ACCESS_KEY, REGION, SECRET_KEY
    endpoint = gateway.url(virtual=virtual)
    if virtual:
        endpoint = endpoint.replace("//", f"//{bucket}.")
    options = {"prefix": "some/where", "endpoint": endpoint,
               "region": REGION, "access_key_id": ACCESS_KEY,
               "secret_access_key": SECRET_KEY,
               "virtual_hosted_style_request": virtual,
               "client_options": {"allow_http": True}, **more}
    return ObjectStore(obstore.store.S3Store(bucket, **options))


def s3_by_fsspec(gateway, bucket, **more):
    from gateway import ACCESS_KEY, REGION, SECRET_KEY
    options = {"key": ACCESS_KEY, "secret": SECRET_KEY,
               "endpoint_url": gateway.url(),
               "client_kwargs": {"region_name": REGION},
               "config_kwargs": {"s3": {"addressing_style": "path"}}, **more}
    return FsspecStore.from_url(f"s3://{bucket}/some/where", options)


@pytest.mark.parametrize("client", [s3_by_obstore, s3_by_fsspec])
@pytest.mark.parametrize("name", SIZES)
def test_arrays_in_s3(gateway, bucket, monkeypatch, client, name):
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]:
        monkeypatch.setenv(variable, "that of others")
    store = client(gateway, bucket)
    elements = make(store, name, path="a/b", **SIZES[name])
    array = opened(store, path="a/b")
    check_selections(array, elements, 8)
    # What others write is found by the versions of objects.
    other = zarr.open_array(store, path="a/b")
    for _ in range(2):
        elements = elements[::-1].copy()
        other[...] = elements
        other[3:5, 2] = elements[3:5, 2] = 77
        assert np.array_equal(array[...], elements)
    # Whole chunks by the library, parts by zarr's own.
    elements = elements[:, ::-1].copy()
    array[...] = elements
    assert np.array_equal(other[...], elements)
    array[7:, 3] = elements[7:, 3] = 5
    array[:8] = elements[:8] = 0
    assert np.array_equal(other[...], elements)
    assert np.array_equal(array[...], elements)
    array.resize((31, 13, 17))
    array[20:] = 9
    assert (array[20:] == 9).all()
    in_child(lambda: np.array_equal(array[:20], elements) or 1 / 0)
    again = pickle.loads(pickle.dumps(array))
    assert np.array_equal(again[:20], elements)
    # Of shards zarr keeps what is behind the end.
    array.resize((18, 13, 17))
    array[...] = elements[:18].copy()
    array.resize((20, 13, 17))
    want = elements[18:] if "shards" in name else 0 * elements[18:]
    assert np.array_equal(array[18:], want) and want.any() == ("shards" in name)


def replace_store(array, store):
    """Replaces what the library takes for the array's store."""
    array.async_array.codec_pipeline._source.store = store


def test_addresses_of_both_styles_and_anonymous_requests(gateway, bucket):
    store = s3_by_obstore(gateway, bucket)
    elements = make(store, chunks=SHARDS)
    array = opened(store, mode="r")
    # Zarr's client may not find the name of a host below localhost.
    replace_store(array, s3_by_obstore(gateway, bucket, virtual=True))
    assert np.array_equal(array[...], elements)
    array = opened(s3_by_fsspec(gateway, bucket, config_kwargs={}), mode="r")
    assert np.array_equal(array[...], elements)
    gateway.client().put_bucket_policy(Bucket=bucket, Policy=json.dumps({
        "Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{bucket}/*"}]}))
    for client, options in [
            (s3_by_obstore, {"skip_signature": True, "access_key_id": "x"}),
            (s3_by_fsspec, {"anon": True, "key": None, "secret": None})]:
        array = opened(client(gateway, bucket, **options), mode="r",
                       zarr_format=3)
        assert np.array_equal(array[...], elements)


def test_options_of_s3_that_the_library_lacks(gateway, bucket):
    elements = make(s3_by_obstore(gateway, bucket))
    for store, match in [
            (s3_by_obstore(gateway, bucket, request_payer=True),
             "request_payer"),
            (s3_by_fsspec(gateway, bucket, requester_pays=True), "session"),
            (s3_by_fsspec(gateway, bucket, s3_additional_kwargs={
                "ServerSideEncryption": "AES256"}), "ServerSideEncryption")]:
        got, line = fallen_back(
            opened(store, strict=False, mode="r"), lambda a: a[...])
        assert np.array_equal(got, elements)
        assert match in line


def test_wrong_credentials_are_an_error_without_them(gateway, bucket):
    make(s3_by_obstore(gateway, bucket))
    array = opened(s3_by_obstore(gateway, bucket), mode="r")
    # As if they had been withdrawn since.
    replace_store(array, s3_by_obstore(gateway, bucket,
                                       secret_access_key="ANOTHER-SECRET"))
    with pytest.raises(libradio.AccessError) as info:
        array[...]
    assert "SECRET" not in str(info.value)
    root = array.async_array.codec_pipeline._source.root
    assert root.s3["secret_key"] not in repr(root)
