# SPDX-License-Identifier: MIT
"""Images that are no usual volume: CIFTI and NIfTI of more than five
dimensions, OME-Zarr of two, channels without time, and bool fill values."""

import json

import pytest
from conftest import peer


def test_cifti_and_seven_dimensions_come_back(radio, nib, np, zarr, tmp_path):
    axes = (nib.cifti2.SeriesAxis(0, 0.72, 6),
            nib.cifti2.BrainModelAxis.from_surface(
                np.arange(9000), 9000, "cortex_left"))
    rng = np.random.default_rng(1)
    series = rng.normal(size=(6, 9000)).astype("f4")
    nib.save(nib.Cifti2Image(series, axes), tmp_path / "a.dtseries.nii")
    seven = rng.integers(-9, 9, (5, 4, 3, 2, 3, 2, 2)).astype("i2")
    nib.save(nib.Nifti1Image(seven, np.eye(4)), tmp_path / "seven.nii")
    six = rng.normal(size=(40, 3, 2, 1, 5, 2))
    nib.save(nib.Nifti2Image(six, np.eye(4)), tmp_path / "six.nii")
    store = tmp_path / "s.zarr"
    done = radio("ingest", "-s", store, tmp_path / "a.dtseries.nii",
                 tmp_path / "seven.nii", tmp_path / "six.nii")
    assert "6 dimensions: stored as an array without OME" in done.stderr
    assert len(done.stderr.splitlines()) == 3
    radio("validate", "-s", store)
    for name, rank in ("a.dtseries", 6), ("seven", 7), ("six", 6):
        source = tmp_path / f"{name}.nii"
        back = tmp_path / f"back-{name}.nii"
        radio("export", "-s", store, name, "-o", back)
        assert back.read_bytes() == source.read_bytes()
        want = np.asanyarray(nib.Nifti1Image.from_filename(source).dataobj
                             if name == "seven" else
                             nib.Nifti2Image.from_filename(source).dataobj)
        info = radio("info", "-s", store, name).stdout
        assert (" x ".join(map(str, want.shape)) + " ("
                + ", ".join("xyztcvw"[:rank]) + ")") in info
        group = zarr.open_group(store / "images" / name, mode="r")
        assert "ome" not in group.attrs
        level = group[group.attrs["radio"]["level"]]
        assert level.ndim == rank
        assert np.array_equal(level[...], want.T)
        assert level.metadata.dimension_names == tuple("wvctzyx"[-rank:])
        radio("export", "-s", store, name, "-o", tmp_path / f"{name}.npy")
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), want)
    # Not one tile for each element.
    level = zarr.open_group(store / "images" / "a.dtseries", mode="r")
    level = level[level.attrs["radio"]["level"]]
    assert level.chunks[0] * level.chunks[1] >= 8000
    # A copy, a replacement and gc keep the level that the document names.
    copy = tmp_path / "copy.zarr"
    radio("cp", store, copy)
    radio("ingest", "-q", "-s", store, "--overwrite", tmp_path / "seven.nii")
    for one in store, copy:
        radio("gc", "-s", one)
        radio("validate", "-s", one)
    box = tmp_path / "box.nii"
    radio("roi", "-s", store, "seven", "--x", "1:3", "--t", "1", "-o", box)
    assert np.array_equal(np.asanyarray(nib.load(box).dataobj),
                          seven[1:3, :, :, 1:2])


def image(zarr, np, folder, axes, shape):
    """Writes another program's OME-Zarr image, by zarr-python."""
    types = {"t": "time", "c": "channel"}
    group = zarr.create_group(folder, attributes={"ome": {
        "version": "0.5", "multiscales": [{
            "name": "image",
            "axes": [{"name": a, "type": types.get(a, "space")}
                     for a in axes],
            "datasets": [{"path": "0", "coordinateTransformations": [
                {"type": "scale", "scale": [1.0] * (len(axes) - 2)
                 + [0.5, 0.25]}]}]}]}})
    values = np.arange(np.prod(shape), dtype="i2").reshape(shape)
    group.create_array("0", data=values, chunks=tuple(
        (n + 1) // 2 for n in shape), dimension_names=tuple(axes))
    return values


def ome_of(folder):
    document = json.loads((folder / "zarr.json").read_text())
    return document["attributes"]["ome"]


def edit(folder, change):
    path = folder / "zarr.json"
    document = json.loads(path.read_text())
    change(document["attributes"]["ome"])
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("axes,shape", [("yx", (30, 40)), ("cyx", (3, 30, 40)),
                                        ("tyx", (2, 30, 40)),
                                        ("tcyx", (2, 3, 30, 40))])
def test_flat_images_of_others_are_one_plane(radio, nib, np, zarr, tmp_path,
                                             axes, shape):
    yaozarrs = peer("yaozarrs")
    folder = tmp_path / "flat.zarr"
    values = image(zarr, np, folder, axes, shape)
    yaozarrs.validate_ome_object(ome_of(folder))
    radio("export", folder, "-o", tmp_path / "a.nii")
    radio("export", folder, "-o", tmp_path / "a.npy")
    nii = np.asanyarray(nib.load(tmp_path / "a.nii").dataobj)
    npy = np.load(tmp_path / "a.npy")
    # x, y, z, t, c: z, and t where there is c, have one element.
    want = values.T
    if axes == "tcyx":
        want = values.transpose(3, 2, 0, 1)
    want = want[:, :, None]
    if axes == "cyx":
        want = want[:, :, :, None]
    assert np.array_equal(nii, want)
    assert npy.shape == nii.shape and np.array_equal(npy, nii)
    assert np.allclose(nib.load(tmp_path / "a.nii").header.get_zooms()[:2],
                       (0.25, 0.5))
    radio("slice", folder, "-o", tmp_path / "plane.npy", *(
        ["--channel", "1"] if "c" in axes else []))
    radio("validate", folder)
    info = json.loads(radio("info", "--json", folder).stdout)
    assert info["orientation"] is None


def test_channels_without_time_have_equal_ranks(radio, nib, np, zarr,
                                                tmp_path):
    folder = tmp_path / "c.zarr"
    values = image(zarr, np, folder, "czyx", (2, 5, 6, 7))
    for suffix in "nii", "npy":
        radio("export", folder, "-o", tmp_path / f"a.{suffix}")
    want = values.T[:, :, :, None]
    assert np.array_equal(nib.load(tmp_path / "a.nii").dataobj, want)
    assert np.array_equal(np.load(tmp_path / "a.npy"), want)


def no_scale(ome):
    ome["multiscales"][0]["datasets"][0]["coordinateTransformations"] = [
        {"type": "translation", "translation": [1, 1, 1]}]


def empty(ome):
    ome["multiscales"][0]["datasets"][0]["coordinateTransformations"] = []


def early(ome):
    ome["multiscales"][0]["datasets"][0]["coordinateTransformations"].insert(
        0, {"type": "translation", "translation": [1, 1, 1]})


def double(ome):
    ome["multiscales"][0]["datasets"][0]["coordinateTransformations"] *= 2


def colour(ome):
    ome["omero"] = {"channels": [{"color": 255, "window": {
        "min": 0, "max": 1, "start": 0, "end": 1}}]}


@pytest.mark.parametrize("change,words", [
    (no_scale, "has 0 scales"), (empty, "has 0 scales"),
    (early, "before its scale"), (double, "has 2 scales"), (colour, "color")])
def test_what_ome_zarr_calls_invalid_is_refused(radio, np, zarr, tmp_path,
                                                change, words):
    yaozarrs = peer("yaozarrs")
    folder = tmp_path / "bad.zarr"
    image(zarr, np, folder, "zyx", (4, 5, 6))
    yaozarrs.validate_ome_object(ome_of(folder))
    radio("info", folder)
    edit(folder, change)
    with pytest.raises(ValueError):
        yaozarrs.validate_ome_object(ome_of(folder))
    assert words in radio("info", folder, status=1).stderr


@pytest.mark.parametrize("fill", [0, 1])
def test_a_bool_fill_value_may_be_a_number(radio, np, zarr, tmp_path, fill):
    folder = tmp_path / "b.zarr"
    zarr.create_array(folder, shape=(6, 5), chunks=(3, 5), dtype="bool",
                      fill_value=False)
    path = folder / "zarr.json"
    document = json.loads(path.read_text())
    document["fill_value"] = fill
    path.write_text(json.dumps(document))
    want = zarr.open_array(folder, mode="r")[...]
    assert want.all() == bool(fill)
    radio("export", folder, "-o", tmp_path / "b.npy")
    assert np.array_equal(np.load(tmp_path / "b.npy"), want)
