# SPDX-License-Identifier: MIT
"""Images of TorchIO and MONAI equal those that are made from the files.  Run by
sh tools/check-python --torch, since torch is large."""
import pickle
import warnings

import nibabel
import numpy as np
import pytest
from test_interchange import IMAGES, image, without_shear

import libradio

torch = pytest.importorskip("torch")
torchio = pytest.importorskip("torchio")
monai_transforms = pytest.importorskip("monai.transforms")

REAL = ["uint8", "int8", "int16", "uint16", "int32", "uint32", "float32",
        "float64", "scaled", "extension", "big-endian", "series", "units"]


def volumes_of(made, file):
    """Saves an image; returns the volumes of it in a store and in the file."""
    nibabel.save(made, file)
    store = libradio.open("memory:", create=True)
    libradio.ingest({"a/b": file}, store)
    return store, [store["a/b"], libradio.open_file(file)]


@pytest.mark.parametrize("name", [*REAL, "colours"])
def test_torchios_images_are_those_of_the_file(tmp_path, name):
    file = tmp_path / "a.nii.gz"
    _, volumes = volumes_of(without_shear(IMAGES[name]()), file)
    want = torchio.ScalarImage(file)
    for volume in volumes:
        got = libradio.as_torchio(volume)
        assert type(got) is torchio.ScalarImage
        assert got.data.dtype == want.data.dtype
        if name == "scaled":
            assert torch.allclose(got.data, want.data, rtol=1e-6)
        else:
            assert torch.equal(got.data, want.data)
        assert np.allclose(got.affine, want.affine, atol=1e-6)
    assert type(libradio.as_torchio(volume, labels=True)) is torchio.LabelMap


def test_volumes_with_more_axes_are_refused_for_torchio():
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(np.zeros((4, 5, 3, 2, 3), "uint8"), store,
                                 "a/b")
    with pytest.raises(libradio.UnsupportedError, match="5 axes"):
        libradio.as_torchio(volume)


def equal(one, other):
    one, other = np.asarray(one), np.asarray(other)
    # MONAI has NaN for images without channels.
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def check_loaded(got, want):
    assert got.dtype == want.dtype
    assert torch.equal(got.as_tensor(), want.as_tensor())
    assert torch.equal(got.affine, want.affine)
    assert got.meta.keys() == want.meta.keys()
    for key in set(want.meta) - {"filename_or_obj"}:
        assert equal(got.meta[key], want.meta[key]), key


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("name", [*REAL, "nifti-2", "one time", "plane"])
def test_monais_images_are_those_of_the_file(tmp_path, name, channels):
    file = tmp_path / "a.nii.gz"
    store, _ = volumes_of(IMAGES[name](), file)
    load = monai_transforms.LoadImage
    with warnings.catch_warnings():
        # MONAI would warn of a reader that is not its own.
        warnings.simplefilter("error", UserWarning)
        in_store = load(reader=libradio.MonaiReader(store),
                        ensure_channel_first=channels)
        in_file = load(reader=libradio.MonaiReader(),
                       ensure_channel_first=channels)
    want = load(reader="NibabelReader", ensure_channel_first=channels)(file)
    check_loaded(in_store("a/b"), want)
    check_loaded(in_file(file), want)


def test_options_of_monais_reader_and_several_images(tmp_path):
    files = [tmp_path / f"{i}.nii.gz" for i in range(2)]
    store = libradio.open(tmp_path / "store", create=True)
    for i, file in enumerate(files):
        made = image()
        nibabel.save(nibabel.Nifti1Image(np.asarray(made.dataobj) + i,
                                         made.affine), file)
        libradio.ingest({f"a/{i}": file}, store)
    load = monai_transforms.LoadImage
    want = load(reader="NibabelReader", as_closest_canonical=True)(files)
    reader = libradio.MonaiReader(store, as_closest_canonical=True)
    for each in [reader, pickle.loads(pickle.dumps(reader))]:
        check_loaded(load(reader=each)(["a/0", "a/1"]), want)


def test_volumes_without_a_header_are_read_by_monai():
    store = libradio.open("memory:", create=True)
    values = np.arange(60, dtype="int64").reshape(3, 4, 5)
    affine = np.diag([1, 2, 3, 1.0])
    libradio.from_numpy(values, store, "a/b", affine=affine)
    got = monai_transforms.LoadImage(reader=libradio.MonaiReader(store),
                                     dtype=np.int64)("a/b")
    assert np.array_equal(got.as_tensor(), values)
    assert np.array_equal(got.affine, affine)
