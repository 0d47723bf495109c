# SPDX-License-Identifier: MIT
"""Images in their files at URLs, of a web server (nginx) and of S3 (Ceph's
gateway, directly and through a proxy that fails): read as from the disk,
exactly as nibabel reads them, by few requests."""

import gzip
import json
import os
import random
import re
from pathlib import Path

import pytest
from gateway import ACCESS_KEY, SECRET_KEY, REGION
from radio_library import RadioError, Volume
from test_files import (bgzf, check_boxes, check_boxes_by_threads, random_box,
                        variants)
from test_http import web  # noqa: F401  a fixture
from test_s3_faults import Haproxy

IMAGE = "ch2.nii.gz"
BUCKET = "images"
FORMS = ["a.nii", "a.nii.gz", "members.nii.gz", "bgzf.nii.gz"]


@pytest.fixture(scope="module")
def files(web, templates):
    """Returns the folder on the web server with a real image in each form."""
    folder = web.folder / "www"
    packed = next(f for f in templates if f.name == IMAGE).read_bytes()
    content = gzip.decompress(packed)
    (folder / "a.nii").write_bytes(content)
    (folder / "a.nii.gz").write_bytes(packed)
    (folder / "members.nii.gz").write_bytes(b"".join(
        gzip.compress(content[i:i + 700_000], 1)
        for i in range(0, len(content), 700_000)))
    (folder / "bgzf.nii.gz").write_bytes(bgzf(content))
    return folder


@pytest.fixture(scope="module")
def array(nib, np, files):
    return np.asanyarray(
        nib.load(files / "a.nii").dataobj.get_unscaled()).T


@pytest.fixture(scope="module")
def bucket(gateway, files):
    """Returns the URI of a bucket with the same files."""
    client = gateway.client()
    client.create_bucket(Bucket=BUCKET)
    for name in FORMS:
        client.put_object(Bucket=BUCKET, Key=f"sub 1/{name}",
                          Body=(files / name).read_bytes())
    return f"s3://{BUCKET}/sub 1"


def credentials(endpoint):
    return {"endpoint": endpoint.encode(), "region": REGION.encode(),
            "access_key": ACCESS_KEY.encode(),
            "secret_key": SECRET_KEY.encode()}


@pytest.mark.parametrize("form", FORMS)
def test_random_boxes_over_http_equal_nibabel(np, web, array, form):
    with Volume.of_file(web.url(form), point_gap_nbytes=1 << 20) as volume:
        check_boxes(np, volume, array, 200, 1)


def test_every_type_order_and_form_is_read_over_http(
        nib, np, web, files):
    n = 0
    for file, data in variants(nib, np, files):
        with Volume.of_file(web.url(file.name)) as volume:
            check_boxes(np, volume, data.T, 10, n)
        n += 1
    assert n > 30


@pytest.mark.parametrize("form", FORMS)
def test_random_boxes_in_s3_equal_nibabel_through_a_failing_proxy(
        np, gateway, bucket, array, tmp_path, form):
    proxy = Haproxy(tmp_path, gateway)
    try:
        where = credentials(f"http://127.0.0.1:{proxy.port}")
        with Volume.of_file(f"{bucket}/{form}", 1 << 20, **where) as volume:
            check_boxes(np, volume, array, 200, 2)
        found = proxy.stats()
        assert found["hrsp_5xx"] + found["dreq"] > 3, found
    finally:
        proxy.stop()


def test_threads_read_one_url_at_once(np, web, array):
    with Volume.of_file(web.url("a.nii.gz"), 300_000) as volume:
        check_boxes_by_threads(np, volume, array)


def nbytes_of(lines):
    return sum(int(line.split()[-1]) for line in lines)


def test_few_requests_are_made(web, radio, files, array, tmp_path):
    whole = files / "a.nii.gz"
    for form in FORMS:
        url = web.url(form)
        assert len(web.requests(lambda: radio("info", url))) == 1
    lines = web.requests(lambda: radio(
        "slice", web.url("a.nii"), "-i", "90", "-o", tmp_path / "p.nii"))
    assert len(lines) == 2 and nbytes_of(lines) < 60_000, lines
    lines = web.requests(lambda: radio(
        "roi", web.url("a.nii"), "--at", "90,90,90", "--size", "32", "-o",
        tmp_path / "b.nii"))
    assert len(lines) == 2, lines
    for form in FORMS[1:]:
        with Volume.of_file(web.url(form), 500_000) as volume:
            n = len(array)
            size = [1, *array.shape[1:]]
            # All before the last plane, by no byte more than once.
            lines = web.requests(
                lambda: volume.read([n - 1, 0, 0], size, array.dtype))
            assert nbytes_of(lines) < 1.01 * (files / form).stat().st_size
            # One plane, from a point of entry.
            for z in 20, 120, 60:
                lines = web.requests(
                    lambda z=z: volume.read([z, 0, 0], size, array.dtype))
                assert len(lines) == 1, lines
                assert nbytes_of(lines) < whole.stat().st_size / 4, lines


@pytest.fixture
def link(web, monkeypatch):
    """A link to the web server that delays by 10 ms each way."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools/peers"))
    from delay import Link
    link = Link(web.port, 0.01)
    yield link
    link.stop()


@pytest.mark.parametrize("form", FORMS)
def test_requests_through_a_delay_are_few(np, link, array, form):
    """One for the header, one for a box; some for a box of a .nii.gz, of the
    bytes from a point of entry on."""
    url = f"http://127.0.0.1:{link.port}/{form}"
    with Volume.of_file(url, point_gap_nbytes=500_000) as volume:
        assert link.take_counts()[0] == 1
        volume.read([len(array) - 1, 0, 0], [1, *array.shape[1:]],
                    array.dtype)
        link.take_counts()
        rng = random.Random(9)
        counts = []
        for _ in range(60):
            start, size = random_box(rng, array.shape)
            want = array[tuple(slice(s, s + n) for s, n in zip(start, size))]
            assert np.array_equal(volume.read(start, size, array.dtype), want)
            counts.append(link.take_counts()[0])
    # Those of a .nii.gz are sent together; a box may be in the history of
    # the one before.
    assert counts == [1] * 60 if form == "a.nii" else max(counts) <= 4


def test_members_are_inflated_in_parallel_as_they_arrive(
        nib, np, web, radio, files, tmp_path):
    """Of a file of 20 MB, in windows, each byte is requested once, by as many
    requests as in order; what is damaged fails as it does in order."""
    rng = np.random.default_rng(5)
    data = rng.integers(0, 200, (260, 300, 270), np.uint8)
    data[:, ::2] = 7
    size = [1, 300, 260]
    plain = nib.Nifti1Image(data, np.eye(4)).to_bytes()
    packed = bgzf(plain)
    file = files / "large.nii.gz"
    file.write_bytes(packed)
    url = web.url(file.name)
    profile = tmp_path / "p.json"
    env = {**os.environ, "RADIO_PROFILE": str(profile)}
    lines = web.requests(lambda: radio(
        "slice", url, "-i", "269", "-o", tmp_path / "p.npy", "--threads", "2",
        env=env))
    assert np.array_equal(np.load(tmp_path / "p.npy").squeeze(),
                          data[:, :, 269])
    assert nbytes_of(lines) < 1.01 * len(packed)
    assert len(lines) <= len(packed) // (1 << 20) + 4, lines
    recorded = json.loads(profile.read_text())
    nodes, strings = recorded["nodes"], recorded["strings"]
    ninflated = sum(calls for name, calls in zip(nodes["name"], nodes["calls"])
                    if strings[name] == "inflate")
    assert ninflated > 8

    # A member in the middle is damaged, or says that its output is longer, or
    # that it is itself, which matters only to those who believe it.
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC"
    starts = [m.start() for m in re.finditer(re.escape(head), packed)]
    middle = starts[len(starts) // 2]
    for at in middle - 4, middle - 8, middle + 2000, middle + 16:
        bad = bytearray(packed)
        bad[at] ^= 0x5a
        file.write_bytes(bad)
        with Volume.of_file(url) as volume:
            for z in 269, 0, 60, 269:
                if z < 100 or at == middle + 16:
                    got = volume.read([z, 0, 0], size, np.uint8)[0]
                    assert np.array_equal(got, data[:, :, z].T)
                else:
                    with pytest.raises(RadioError, match="damaged"):
                        volume.read([z, 0, 0], size, np.uint8)
    # Other members follow that do not say it; and the file ends early.
    half = starts[len(starts) // 2 + 1]
    done = len(gzip.decompress(packed[:half]))
    file.write_bytes(packed[:half] + gzip.compress(plain[done:], 1))
    with Volume.of_file(url) as volume:
        check_boxes(np, volume, data.T, 20, 6)
    file.write_bytes(packed[:half])
    with Volume.of_file(url) as volume:
        with pytest.raises(RadioError, match="ends before"):
            volume.read([269, 0, 0], size, np.uint8)
        got = volume.read([60, 0, 0], size, np.uint8)[0]
        assert np.array_equal(got, data[:, :, 60].T)


CUTS = [
    ["slice", "--axis", "axial", "-i", "90"],
    ["slice", "--axis", "coronal", "-i", "100"],
    ["roi", "--at", "33,45,57", "--size", "64"],
    ["export"],
]


def test_every_command_prints_and_writes_the_same_as_of_a_file(
        radio, web, files, gateway, bucket, tmp_path):
    store = tmp_path / "s.zarr"
    radio("ingest", "-s", store, "-c", "mr", files / "a.nii.gz")
    env = gateway.environment()
    for form in FORMS:
        places = [str(files / form), web.url(form), f"{bucket}/{form}"]
        got = []
        for place in [*places, store / "mr" / "a"]:
            said = [radio("stats", place, env=env).stdout.split("\n", 1)[1]]
            facts = json.loads(radio("info", "--json", place, env=env).stdout)
            for name in ("path", "stored_nbytes", "ratio", "tiling", "codec",
                         "tile_shape", "shard_shape", "chunk_shape", "codecs",
                         "source", "source_name", "source_sha256"):
                facts.pop(name, None)
            said.append(facts)
            for i, cut in enumerate(CUTS):
                out = tmp_path / f"{i}.nii"
                radio(cut[0], place, *cut[1:], "-o", out, "--overwrite",
                      env=env)
                said.append(out.read_bytes())
            got.append(said)
        for said in got[1:]:
            assert said[0] == got[0][0] and said[2:] == got[0][2:]
        assert got[1][1] == got[0][1] and got[2][1] == got[0][1]
        for place in places:
            assert place in radio("ls", place, env=env).stdout
            assert "a.nii" in radio("ls", "-l", web.url(form)).stdout \
                or form != "a.nii"
            assert "ok" in radio("validate", place, env=env).stdout.lower()


def test_a_suffix_distinguishes_files_from_stores(radio, web, files):
    done = radio("info", web.url("none.nii"), status=1)
    assert "none.nii: no such object" in done.stderr
    done = radio("info", web.url("none"), status=1)
    assert "no zarr.json" in done.stderr or "no such" in done.stderr
    done = radio("info", web.url("a.nii/"), status=1)
    assert "zarr.json" in done.stderr or "no such" in done.stderr


def test_presigned_urls_work_and_are_shown_without_their_signature(
        radio, gateway, bucket, array, np, tmp_path):
    url = gateway.client().generate_presigned_url(
        "get_object", Params={"Bucket": BUCKET, "Key": "sub 1/a.nii.gz"})
    assert "Signature" in url
    env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    secret = url.split("Signature=")[1].split("&")[0]
    for i, args in enumerate((
            ["info", url], ["slice", url, "-o", tmp_path / "s.png"],
            ["export", url, "-o", tmp_path / "a.nii"], ["ls", "-l", url],
            ["stats", "--json", url],
            ["profile", "slice", url, "--runs", "1", "-o",
             tmp_path / "5.json"])):
        out = tmp_path / f"{i}.json"
        done = radio(*args, env={**env, "RADIO_PROFILE": str(out)})
        assert secret not in done.stdout + done.stderr
        assert "a.nii.gz" in out.read_text()
        assert secret not in out.read_text()
    with Volume.of_file(url) as volume:
        check_boxes(np, volume, array, 20, 7)
    wrong = url.replace(secret, "wrong" + secret)
    done = radio("info", wrong, status=1, env=env)
    assert "denies access (status 403)" in done.stderr
    assert secret not in done.stderr
    with pytest.raises(RadioError) as found:
        Volume.of_file(wrong)
    assert secret not in str(found.value)


def test_options_of_s3_are_those_of_stores(radio, gateway, bucket):
    gateway.client().put_object_acl(Bucket=BUCKET, Key="sub 1/a.nii",
                                    ACL="public-read")
    env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    env["AWS_ENDPOINT_URL_S3"] = gateway.url()
    radio("info", f"{bucket}/a.nii", env={**env, "RADIO_S3": "anonymous"})
    done = radio("info", f"{bucket}/a.nii.gz", status=1,
                 env={**env, "RADIO_S3": "anonymous"})
    assert "a.nii.gz" in done.stderr and "AccessDenied" in done.stderr
    done = radio("info", f"{bucket}/none.nii", status=1,
                 env=gateway.environment())
    assert "none.nii" in done.stderr and done.stderr.count("\n") == 1
