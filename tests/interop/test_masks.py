# SPDX-License-Identifier: MIT
"""Pipelines that name other volumes: statistics within a mask against numpy,
and the grids of volumes of a store and of files."""

import json

import numpy
import pytest

from radio_library import RadioError, Store, Volume


@pytest.fixture
def cohort(radio, np, nib, tmp_path):
    """A store with an image and its mask, and their arrays (x, y, z)."""
    rng = np.random.default_rng(3)
    image = rng.normal(100, 40, (30, 24, 18)).astype("f4")
    mask = (rng.random(image.shape) < 0.3).astype("u1") * 7
    store = tmp_path / "s.zarr"
    affine = np.diag([1, 2, 3, 1.])
    for collection, array in ("mr", image), ("seg", mask):
        (tmp_path / collection).mkdir()
        file = tmp_path / collection / "a.nii"
        nib.save(nib.Nifti1Image(array, affine), file)
        radio("ingest", "-s", store, "-c", collection, "--tiling", "8,8,8",
              file)
    return store, image, mask


def read(volume, text):
    with volume.apply(text) as derived:
        return derived.read([0] * 3, derived.shape(), numpy.float32).T


@pytest.mark.parametrize("moves", [
    "", "flip x | reorient SLP | ", "crop 3:25,:,2:16 | ", "pad 4 by 1000 | ",
    "pad 2 reflect | ", "crop-or-pad 36 wrap | ", "resample 1.7 | ",
    "resample 2,2,2 cubic smooth | ",
    "linear 2,3 | crop-or-pad 20 | clamp 50,400 | "])
def test_znorm_of_a_mask_is_numpys(np, cohort, moves):
    """The operations that move the image move its mask, by nearest."""
    path, _, _ = cohort
    with Store(path) as store, Volume(store, "mr/a") as image, \
         Volume(store, "seg/a") as mask:
        values = read(image, moves + "linear 1,0").astype("f8")
        mask_moves = " | ".join(
            step.replace(" cubic smooth", "").replace(" by 1000", "")
            + (" nearest" if "resample" in step else "")
            for step in moves.split(" | ")
            if step and not step.startswith(("linear", "clamp")))
        within = read(mask, (mask_moves or "crop :,:,:") + " | linear 1,0") != 0
        got = read(image, moves + "znorm of mask seg")
    assert 0 < within.sum() < within.size
    want = (values - values[within].mean()) / values[within].std()
    assert np.allclose(got, want, atol=2e-5)


def test_the_statistic_of_a_mask_is_kept_by_both_levels(
        radio, np, nib, cohort, tmp_path):
    path, image, mask = cohort
    text = "znorm of mask seg"
    with Store(path) as store, Volume(store, "mr/a") as volume:
        first = read(volume, text)
        with volume.apply(text) as derived:
            assert derived.passes() == 0
        # Another mask of the same name.
        file = tmp_path / "seg" / "a.nii"
        nib.save(nib.Nifti1Image((mask == 0).astype("f8"),
                                 np.diag([1, 2, 3, 1.])), file)
        radio("ingest", "-s", path, "-c", "seg", "--overwrite", file)
        with volume.apply(text) as derived:
            assert derived.passes() == 1
        second = read(volume, text)
    rest = image[mask == 0].astype("f8")
    assert np.allclose(second, (image - rest.mean()) / rest.std(), atol=1e-5)
    assert not np.allclose(first, second, atol=1e-3)


def test_masks_that_do_not_fit_are_refused(radio, np, nib, cohort, tmp_path):
    path, image, mask = cohort
    others = {"empty": (np.zeros_like(mask), np.diag([1, 2, 3, 1.])),
              "small": (mask[1:], np.diag([1, 2, 3, 1.])),
              "turned": (mask, np.diag([-1, 2, 3, 1.])),
              "far": (mask, np.diag([1, 2, 3, 1.]) + [
                  [0, 0, 0, 500], *[[0] * 4] * 3]),
              "complex": (mask.astype("c8"), np.diag([1, 2, 3, 1.]))}
    for name, (array, affine) in others.items():
        file = tmp_path / "seg" / "a.nii"
        nib.save(nib.Nifti1Image(array, affine), file)
        radio("ingest", "-s", path, "-c", name, file)
    messages = {"empty": "0 everywhere", "small": "another shape",
                "turned": "is LAS, the image RAS",
                "far": "500 voxels off the grid of mr/a: .* by radio apply "
                "'like mr/a'",
                "none": "none/a: no such volume in",
                "complex": "not of real numbers"}
    with Store(path) as store, Volume(store, "mr/a") as volume:
        for name, message in messages.items():
            with pytest.raises(RadioError, match=message):
                read(volume, f"znorm of mask {name}")
    # Of files, the mask is a file, too.
    files = tmp_path / "mr" / "a.nii", tmp_path / "seg" / "b.nii"
    nib.save(nib.Nifti1Image(mask, np.diag([1, 2, 3, 1.])), files[1])
    with Volume.of_file(files[0]) as volume:
        got = read(volume, f"znorm of mask {files[1]}")
    within = image[mask != 0].astype("f8")
    assert np.allclose(got, (image - within.mean()) / within.std(), atol=1e-5)


def test_grids_of_stores_and_files(radio, np, nib, cohort, tmp_path):
    """By a name in the image's collection, by a path into a store, by a
    file's."""
    path, image, _ = cohort
    file, grid = tmp_path / "mr" / "a.nii", tmp_path / "mr" / "grid.nii"
    affine = np.array([[2, 0, 0, 3], [0, 2, 0, -1], [0, 0, 2.5, 4],
                       [0, 0, 0, 1.]])
    nib.save(nib.Nifti1Image(np.zeros((11, 12, 13), "u1"), affine), grid)
    radio("ingest", "-s", path, "-c", "mr", grid)
    with Store(path) as store, Volume(store, "mr/a") as volume:
        got = [read(volume, f"like {name}")
               for name in ("grid", "mr/grid", grid, path / "mr" / "grid")]
        with pytest.raises(RadioError, match="mr/nothing"):
            read(volume, "like nothing")
    with Volume.of_file(file) as volume:
        got += [read(volume, f"like {name}")
                for name in (grid, path / "mr" / "grid")]
        with pytest.raises(RadioError, match="nothing"):
            read(volume, f"like {tmp_path}/nothing")
    assert got[0].shape == (11, 12, 13)
    for array in got[1:]:
        assert np.array_equal(array, got[0])
    facts = json.loads(radio("info", "--json", file, "--apply",
                             f"like {path}/mr/grid").stdout)
    assert np.allclose(facts["affine"], affine[:3])


def test_a_statistic_is_of_the_grid_and_not_of_its_name(
        np, nib, cohort, tmp_path):
    path, image, _ = cohort
    grid = tmp_path / "grid.nii"
    text = f"like {grid} nearest | rescale 0,1"
    with Store(path) as store, Volume(store, "mr/a") as volume:
        for start in 0, 7, 0:
            affine = np.diag([1, 2, 3, 1.])
            affine[2, 3] = 3 * start
            nib.save(nib.Nifti1Image(np.zeros((30, 24, 3), "u1"), affine),
                     grid)
            part = image[..., start:start + 3].astype("f8")
            want = (part - part.min()) / (part.max() - part.min())
            with volume.apply(text) as derived:
                # The grid is that of the file when it was applied.
                nib.save(nib.Nifti1Image(np.zeros((2, 2, 2), "u1"),
                                         np.eye(4)), grid)
                got = derived.read([0] * 3, [3, 24, 30], np.float32).T
            assert np.allclose(got, want, atol=1e-6)


@pytest.mark.parametrize("text, how", [
    ("resample 2,4,5", "majority"), ("resample 0.7", "nearest"),
    ("to 9,40,18", "majority"), ("to 9,40,18 centre", "majority"),
    ("like {grid}", "nearest"),
    ("affine 0.8,0.6,0,1,-0.6,0.8,0,0,0,0,1,0 about centre", "nearest"),
    ("random-affine p 1", "nearest")])
def test_labels_are_picked_and_not_mixed(
        radio, np, nib, cohort, tmp_path, text, how):
    """An image says that it is of labels by intent_code 1002."""
    _, _, mask = cohort
    text = text.format(grid=tmp_path / "grid.nii")
    nib.save(nib.Nifti1Image(np.zeros((9, 8, 7), "u1"), np.array(
        [[2, .1, 0, 1], [-.1, 2, 0, 2], [0, 0, 5, 3], [0, 0, 0, 1.]])),
             tmp_path / "grid.nii")
    results = {}
    for intent in "none", "label":
        image = nib.Nifti1Image(mask, np.diag([1, 2, 3, 1.]))
        image.header.set_intent(intent)
        file = tmp_path / f"{intent}.nii"
        nib.save(image, file)
        for name, words in ("bare", text), ("named", f"{text} {how}"), \
                ("linear", f"{text} linear"):
            if "random" in text:
                words = words.replace(" p 1", "") + " p 1"
            out = tmp_path / f"{intent}-{name}.nii"
            radio("export", file, "--apply", words, "--draw", "1,2,3",
                  "-o", out)
            results[intent, name] = np.asanyarray(nib.load(out).dataobj)
        facts = json.loads(radio("info", "--json", file).stdout)
        assert facts.get("is_labels", False) == (intent == "label")
    for name in "bare", "named":
        got = results["label", name]
        assert got.dtype == np.uint8
        assert np.array_equal(got, results["none", "named"])
    for intent, name in ("label", "linear"), ("none", "bare"):
        assert np.array_equal(results[intent, name],
                              results["none", "linear"])
        assert results[intent, name].dtype == np.float32
    assert set(np.unique(results["label", "bare"])) == {0, 7}


@pytest.mark.parametrize("text, is_labels", [
    ("flip x | resample 2,4,5 | crop 1:,:,:", True), ("linear 1,0", True),
    ("smooth 1", False), ("noise 1", False), ("resample 2 linear", False)])
def test_what_was_mixed_is_no_labels(radio, np, nib, cohort, tmp_path, text,
                                     is_labels):
    """Nor is it in the file that is written, nor for operations that follow."""
    _, _, mask = cohort
    image = nib.Nifti1Image(mask, np.diag([1, 2, 3, 1.]))
    image.header.set_intent("label")
    file, out = tmp_path / "a.nii", tmp_path / "out.nii"
    nib.save(image, file)

    def info(*args):
        return json.loads(radio("info", "--json", *args).stdout)
    assert info(file, "--apply", text).get("is_labels", False) == is_labels
    radio("export", file, "--apply", text, "-o", out)
    assert info(out).get("is_labels", False) == is_labels
    how = "majority" if is_labels else "linear"
    values = []
    for words in f"{text} | to 7,9,8", f"{text} | to 7,9,8 {how}":
        radio("export", file, "--apply", words, "-o", out, "--overwrite")
        values.append(np.asanyarray(nib.load(out).dataobj))
    assert np.array_equal(*values)


def test_labels_of_other_programs(radio, np, zarr, tmp_path):
    """OME-Zarr's image-label, and the type bool."""
    rng = np.random.default_rng(1)
    for name, dtype, attributes in ("plain", "u1", {}), \
            ("label", "u1", {"image-label": {"version": "0.5"}}), \
            ("bool", "?", {}):
        group = zarr.create_group(tmp_path / name, attributes={"ome": {
            "version": "0.5", "multiscales": [{
                "axes": [{"name": n, "type": "space"} for n in "zyx"],
                "datasets": [{"path": "0", "coordinateTransformations": [
                    {"type": "scale", "scale": [1.0, 1.0, 1.0]}]}]}],
            **attributes}})
        array = rng.random((9, 8, 7)) < 0.5
        group.create_array("0", shape=array.shape, dtype=dtype)[:] = array
        facts = json.loads(radio("info", "--json", tmp_path / name, "--apply",
                                 "to 5").stdout)
        assert facts.get("is_labels", False) == (name != "plain")
        assert (facts["dtype"] == "float32") == (name == "plain")
    done = radio("info", tmp_path / "label", "--apply", "to 5 smooth",
                 status=1)
    assert "the image is of labels" in done.stderr
