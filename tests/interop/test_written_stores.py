# SPDX-License-Identifier: MIT
"""The stores that `radio ingest` writes open in other Zarr software."""

import base64
import gzip
import itertools
import json
import warnings

import pytest
from conftest import missing, peer

TILINGS = ["balanced", "axial", "isotropic", "24,40,7"]
CODECS = ["small", "medium", "fast", "none"]
# One of each type, orientation and size among the templates.
CHOSEN = ["ch2", "inia19-t1-brain", "AICHAmc", "JHU-WhiteMatter-labels-2mm"]


def level_of(group):
    document = json.loads((group / "zarr.json").read_text())
    return document["attributes"]["ome"]["multiscales"][0]["datasets"][0][
        "path"]


@pytest.mark.parametrize("tiling,codec", itertools.product(TILINGS, CODECS))
def test_every_tiling_and_codec_reads_equal(
        radio, nib, np, zarr, ts, templates, tmp_path, tiling, codec):
    store = tmp_path / "s.zarr"
    files = [f for f in templates
             if f.name.removesuffix(".nii.gz") in CHOSEN]
    radio("ingest", "-s", store, "--tiling", tiling, "--codec", codec, *files)
    for file in files:
        group = store / "images" / file.name.removesuffix(".nii.gz")
        want = np.asanyarray(nib.load(file).dataobj.get_unscaled()).T
        level = level_of(group)
        got = zarr.open_group(group, mode="r")[level][...]
        assert got.dtype == want.dtype.newbyteorder("="), file
        assert np.array_equal(got, want), file
        spec = {"driver": "zarr3", "kvstore": {
            "driver": "file", "path": str(group / level)}}
        got = ts.open(spec).result().read().result()
        assert np.array_equal(got, want), file


def make_image(nib, np, file, shape, dtype, **fields):
    rng = np.random.default_rng(len(shape))
    data = rng.integers(0, 200, shape).astype(dtype)
    image = nib.Nifti1Image(data, np.diag([-2.0, 1.5, 3.0, 1.0]))
    image.header.set_xyzt_units("mm", "sec")
    for name, value in fields.items():
        image.header[name] = value
    nib.save(image, file)


@pytest.fixture(scope="module")
def odd_store(radio, nib, np, tmp_path_factory):
    """Returns images of every rank, a windowed one, and colours."""
    folder = tmp_path_factory.mktemp("odd")
    make_image(nib, np, folder / "two.nii", (30, 20), "i2")
    make_image(nib, np, folder / "three.nii", (30, 20, 10), "f4",
               cal_min=10, cal_max=150)
    make_image(nib, np, folder / "four.nii", (12, 11, 10, 5), "u1")
    make_image(nib, np, folder / "five.nii", (9, 8, 7, 3, 2), "f8")
    rgb = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])
    colours = np.random.default_rng(1).integers(
        0, 256, (14, 13, 12, 3), dtype="u1").view(rgb)[..., 0]
    nib.save(nib.Nifti1Image(colours, np.eye(4)), folder / "colour.nii")
    store = folder / "s.zarr"
    radio("ingest", "-s", store, *sorted(folder.glob("*.nii")))
    return store


def groups_of(*stores):
    for store in stores:
        yield from sorted(p for p in (store / "images").iterdir()
                          if p.is_dir())


def test_yaozarrs_accepts_every_volume(odd_store, template_store):
    yaozarrs = peer("yaozarrs")
    for group in groups_of(odd_store, template_store):
        document = json.loads((group / "zarr.json").read_text())
        yaozarrs.validate_ome_object(document["attributes"]["ome"])
        yaozarrs.validate_zarr_store(str(group))


def test_ome_zarr_models_accepts_every_volume(zarr, odd_store,
                                              template_store):
    models = peer("ome_zarr_models.v05")
    for group in groups_of(odd_store, template_store):
        models.Image.from_zarr(zarr.open_group(group, mode="r"))


def test_odd_images_equal_nibabel(nib, np, zarr, odd_store):
    for group in groups_of(odd_store):
        image = nib.load(odd_store.parent / f"{group.name}.nii")
        data = np.asanyarray(image.dataobj)
        if data.dtype.names:
            data = np.stack([data[n] for n in data.dtype.names], -1)
        want = data.T
        if group.name == "two":
            want = want[None]
        if group.name == "five":
            want = want.swapaxes(0, 1)      # c, t -> t, c
        got = zarr.open_group(group, mode="r")[level_of(group)][...]
        assert np.array_equal(got, want), group


def test_odd_images_are_exported_byte_for_byte(radio, odd_store, tmp_path):
    for group in groups_of(odd_store):
        out = tmp_path / f"{group.name}.nii"
        radio("export", "-s", odd_store, group.name, "-o", out)
        source = odd_store.parent / f"{group.name}.nii"
        assert out.read_bytes() == source.read_bytes(), group


def test_tile_lengths_are_those_of_the_indexes(np, odd_store,
                                               template_store):
    """Decodes attributes.radio.tile_lengths by Python's libraries, as format.md
    says, and compares them with the shards' own indexes."""
    numcodecs, crc32c = peer("numcodecs"), peer("google_crc32c")
    nfound = 0
    for group in groups_of(odd_store, template_store):
        document = json.loads((group / "zarr.json").read_text())
        text = document["attributes"]["radio"].get("tile_lengths")
        if text is None:
            continue
        nfound += 1
        encoded = base64.b64decode(text, validate=True)
        body, crc = encoded[:-4], int.from_bytes(encoded[-4:], "little")
        assert crc32c.value(body) == crc
        lengths = np.frombuffer(numcodecs.Blosc().decode(body), "<u4")
        level = group / level_of(group)
        array = json.loads((level / "zarr.json").read_text())
        shard = array["chunk_grid"]["configuration"]["chunk_shape"]
        tile = array["codecs"][0]["configuration"]["chunk_shape"]
        ntiles = int(np.prod([a // b for a, b in zip(shard, tile)]))
        grid = [-(-a // b) for a, b in zip(array["shape"], shard)]
        assert len(lengths) == ntiles * int(np.prod(grid))
        for i, place in enumerate(np.ndindex(*grid)):
            data = level.joinpath("c", *map(str, place)).read_bytes()
            index = np.frombuffer(data[-4 - 16 * ntiles:-4], "<u8")
            offsets, sizes = index.reshape(-1, 2).T
            stored = offsets != 2**64 - 1
            mine = lengths[i * ntiles:(i + 1) * ntiles]
            assert np.array_equal(mine, np.where(stored, sizes, 0))
            ends = np.cumsum(mine.astype("u8"))
            assert np.array_equal((ends - mine)[stored], offsets[stored])
    assert nfound > 5


def test_the_nifti_array_is_the_file_before_its_voxels(
        zarr, templates, template_store):
    for file in templates:
        group = template_store / "images" / file.name.removesuffix(".nii.gz")
        header = zarr.open_group(group, mode="r")["nifti"][...].tobytes()
        assert gzip.decompress(file.read_bytes()).startswith(header)
        assert len(header) >= 352


def test_scale_and_orientation_follow_the_header(nib, np, templates,
                                                 template_store):
    words = {"L": "right-to-left", "R": "left-to-right",
             "P": "anterior-to-posterior", "A": "posterior-to-anterior",
             "I": "superior-to-inferior", "S": "inferior-to-superior"}
    for file in templates:
        image = nib.load(file)
        group = template_store / "images" / file.name.removesuffix(".nii.gz")
        ome = json.loads((group / "zarr.json").read_text())[
            "attributes"]["ome"]["multiscales"][0]
        [transform] = ome["datasets"][0]["coordinateTransformations"]
        assert np.allclose(transform["scale"],
                           image.header.get_zooms()[::-1]), file
        codes = nib.aff2axcodes(image.affine)[::-1]
        got = [axis["orientation"]["value"] for axis in ome["axes"]]
        assert got == [words[c] for c in codes], file


def test_arrays_of_zarr_python_are_described(radio, zarr, np, tmp_path):
    """info, stats and export accept any array, of any rank and type."""
    values = np.random.default_rng(0).standard_normal((4, 5, 6, 7))
    zarr.create_array(tmp_path / "a.zarr", data=values, chunks=(2, 2, 3, 4),
                      shards=(4, 4, 6, 8))
    info = json.loads(radio("info", tmp_path / "a.zarr", "--json").stdout)
    assert info["dtype"] == "float64"
    stats = json.loads(radio("stats", tmp_path / "a.zarr", "--json").stdout)
    assert np.isclose(stats["mean"], values.mean())
    radio("export", tmp_path / "a.zarr", "-o", tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), values)


def test_a_foreign_ome_zarr_image_opens(radio, zarr, np, tmp_path):
    group = zarr.open_group(tmp_path / "o.zarr", mode="w")
    values = np.arange(2 * 3 * 4, dtype="u2").reshape(2, 3, 4)
    group.create_array("0", data=values, chunks=(1, 2, 2),
                       dimension_names=("z", "y", "x"))
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{
        "axes": [{"name": n, "type": "space", "unit": "millimeter"}
                 for n in "zyx"],
        "datasets": [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": [3.0, 2.0, 1.0]}]}]}]}
    info = json.loads(radio("info", tmp_path / "o.zarr", "--json").stdout)
    assert info["dtype"] == "uint16"
    radio("export", tmp_path / "o.zarr", "-o", tmp_path / "o.npy")
    assert np.array_equal(np.load(tmp_path / "o.npy"), values.T)


def test_a_flipped_bit_is_always_found(radio, np, template_store, tmp_path):
    """Flips 200 random bits of a shard, one at a time: in a tile an export
    finds it; one in the index, which an export does not need, a
    validation."""
    import random
    import shutil
    store = tmp_path / "s.zarr"
    name = "JHU-WhiteMatter-labels-2mm"
    shutil.copytree(template_store / "images" / name, store / "images" / name)
    for document in ("zarr.json", "images/zarr.json"):
        shutil.copy(template_store / document, store / document)
    [shard] = [p for p in (store / "images" / name).glob("0-*/c/*/*/*")
               if p.is_file()] or [missing("a single shard")]
    level = json.loads((shard.parents[3] / "zarr.json").read_text())
    tile = level["codecs"][0]["configuration"]["chunk_shape"]
    whole = level["chunk_grid"]["configuration"]["chunk_shape"]
    ntiles = int(np.prod([a // b for a, b in zip(whole, tile)]))
    data = bytearray(shard.read_bytes())
    index_at = len(data) - 16 * ntiles - 4
    rng = random.Random(7)
    for _ in range(200):
        bit = rng.randrange(len(data) * 8)
        data[bit // 8] ^= 1 << bit % 8
        shard.write_bytes(data)
        if bit // 8 < index_at:
            done = radio("export", "-s", store, name, "-o",
                         tmp_path / "x.npy", "--overwrite", status=1)
            assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        else:
            done = radio("validate", "-s", store, name, status=1)
        assert "c/0/0/0" in done.stderr, done.stderr
        data[bit // 8] ^= 1 << bit % 8
    shard.write_bytes(data)
    radio("validate", "-s", store, name)


def test_copies_of_documents_by_zarr_python_are_compared(
        radio, zarr, tmp_path):
    store = tmp_path / "s.zarr"
    for name in ("ct/a", "mr/b"):
        radio("phantom", "-s", store, name, "--size", "16")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(store)
    states = json.loads(radio("validate", "-s", store, "--json").stdout)
    assert [volume["state"] for volume in states] == ["ok", "ok"]
    # zarr-python finds the level that was replaced, and reads zeros of it.
    radio("phantom", "-s", store, "ct/a", "--size", "16", "--overwrite")
    radio("gc", "-s", store)
    root = zarr.open_group(store, mode="r")
    level = next(iter(name for name in root["ct/a"] if name != "nifti"))
    assert not (store / "ct/a" / level).exists()
    done = radio("validate", "-s", store, "--json")
    assert "have it written again" in done.stderr
    assert [(volume["path"], volume["kind"], volume["state"])
            for volume in json.loads(done.stdout)] == [
        ("ct/a", "volume", "ok"), ("mr/b", "volume", "ok"),
        (str(store), "group", "stale")]
