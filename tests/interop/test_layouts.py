# SPDX-License-Identifier: MIT
"""Data sets by their layouts: masks that other programs take as labels, and
volumes with the voxels of the files that they are named after."""

import json

import pytest
from conftest import peer


@pytest.fixture
def nnunet(np, nib, tmp_path):
    """A data set of nnU-Net, its files and their arrays by volume."""
    rng = np.random.default_rng(5)
    root, volumes = tmp_path / "Dataset042_Liver", {}
    for folder in "imagesTr", "imagesTs", "labelsTr":
        (root / folder).mkdir(parents=True)
    for case, part in ("a_1", "Tr"), ("b", "Tr"), ("c_0000", "Ts"):
        for number, channel in enumerate(["CT", "PET"]):
            array = rng.integers(-1000, 1000, (9, 8, 7)).astype("i2")
            nib.save(nib.Nifti1Image(array, np.diag([1, 2, 3, 1])),
                     root / f"images{part}" / f"{case}_{number:04}.nii.gz")
            volumes[f"{channel}/{case}"] = array
        if part == "Tr":
            array = rng.integers(0, 3, (9, 8, 7)).astype("u1")
            nib.save(nib.Nifti1Image(array, np.diag([1, 2, 3, 1])),
                     root / "labelsTr" / f"{case}.nii.gz")
            volumes[f"labels/{case}"] = array
    (root / "dataset.json").write_text(json.dumps({
        "channel_names": {"0": "CT", "1": "PET"}, "numTraining": 2,
        "labels": {"background": 0, "Leber (größer)": 1, "tumour": 2},
        "file_ending": ".nii.gz"}))
    return root, volumes


def test_each_volume_of_nnunet_has_the_voxels_of_its_file(
        radio, zarr, np, nnunet, tmp_path):
    root, volumes = nnunet
    store = tmp_path / "s.zarr"
    # Parts in an order of their own, as jobs run.
    for part in "3/3", "1/3", "2/3":
        radio("ingest", "-s", store, "--layout", "nnunet", "--part", part, root)
    assert radio("ls", "-s", store).stdout.split() == sorted(volumes)
    opened = zarr.open_group(store, mode="r")
    for name, array in volumes.items():
        level = opened[name].attrs["ome"]["multiscales"][0]["datasets"][0]
        assert np.array_equal(opened[f"{name}/{level['path']}"][:], array.T)


def test_masks_are_labels_to_other_programs(radio, zarr, nnunet, tmp_path):
    root, _ = nnunet
    store = tmp_path / "s.zarr"
    radio("ingest", "-q", "-s", store, "--layout", "nnunet", root)
    yaozarrs, models = peer("yaozarrs"), peer("ome_zarr_models.v05.image_label")
    for case in "a_1", "b":
        mask = models.ImageLabel.from_zarr(
            zarr.open_group(store / "labels" / case, mode="r"))
        properties = mask.ome_attributes.image_label.properties
        assert [p.label_value for p in properties] == [0, 1, 2]
        document = json.loads(
            (store / "labels" / case / "zarr.json").read_text())
        ome = document["attributes"]["ome"]
        assert [p["name"] for p in ome["image-label"]["properties"]] \
            == ["background", "Leber (größer)", "tumour"]
        yaozarrs.validate_ome_object(ome)
        yaozarrs.validate_zarr_store(str(store / "labels" / case))
