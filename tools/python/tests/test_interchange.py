# SPDX-License-Identifier: MIT
"""Images of nibabel and SimpleITK equal those that are made from the files."""
import nibabel
import numpy as np
import pytest
import SimpleITK
from images import TYPES, voxels
from nibabel.nifti1 import Nifti1Extension

import libradio

AFFINE = [[-0.5, 0.1, 0, 3], [0.1, 0.75, 0, -4], [0, 0, 2.5, 5], [0, 0, 0, 1]]
RGB = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])


def image(dtype="int16", shape=(7, 6, 5), kind=nibabel.Nifti1Image):
    return kind(voxels(shape, dtype), AFFINE, dtype=dtype)


def scaled():
    result = image()
    result.header.set_slope_inter(0.1, -3)
    return result


def in_other_units():
    result = image(shape=(7, 6, 5, 4))
    result.header.set_xyzt_units("micron", "msec")
    result.header["pixdim"][4] = 500
    return result


def with_extension():
    result = image("float32")
    result.header.extensions.append(Nifti1Extension("comment", b"a comment"))
    result.header["descrip"] = b"described"
    return result


def big_endian():
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(">i2")
    return nibabel.Nifti1Image(voxels((7, 6, 5), "int16"), AFFINE, header)


def colours(shape=(7, 6, 5)):
    pixels = np.ascontiguousarray(voxels((*shape, 3), "uint8")).view(RGB)
    return nibabel.Nifti1Image(pixels[..., 0], AFFINE)


IMAGES = {
    **{dtype: lambda dtype=dtype: image(dtype) for dtype in TYPES},
    "scaled": scaled,
    "extension": with_extension,
    "big-endian": big_endian,
    "nifti-2": lambda: image(kind=nibabel.Nifti2Image),
    "series": lambda: image(shape=(7, 6, 5, 4)),
    "units": in_other_units,
    "one time": lambda: image(shape=(7, 6, 5, 1)),
    "plane": lambda: image(shape=(7, 6)),
    "channels": lambda: image(shape=(4, 5, 3, 2, 3)),
    "colours": colours,
    "coloured plane": lambda: colours((7, 6)),
    "pair": lambda: image(kind=nibabel.Nifti1Pair),
    "nifti-2 pair": lambda: image(kind=nibabel.Nifti2Pair),
}


@pytest.mark.parametrize("name", IMAGES)
def test_nibabels_images_are_those_of_the_file(tmp_path, name):
    file = tmp_path / ("a.hdr" if "pair" in name else "a.nii.gz")
    nibabel.save(IMAGES[name](), file)
    store = libradio.open("memory:", create=True)
    libradio.ingest({"a/b": file}, store)
    want = nibabel.load(file)
    for volume in [store["a/b"], libradio.open_file(file)]:
        got = libradio.as_nibabel(volume)
        assert type(got) is type(want)
        assert got.header.binaryblock == want.header.binaryblock
        assert got.header.extensions == want.header.extensions
        assert np.array_equal(got.affine, want.affine)
        assert nibabel.is_proxy(got.dataobj)
        assert got.shape == want.shape
        for index in [..., (2, slice(1, 3)), (slice(None, None, -2), 1), 2,
                      (..., 0), (None, 1), (0,) * len(want.shape)]:
            one, other = got.dataobj[index], want.dataobj[index]
            assert one.dtype == other.dtype.newbyteorder("=")
            assert np.array_equal(one, other)
        for dtype in [None, "float32", "float64"]:
            if dtype is None or "colour" not in name and "complex" not in name:
                one = np.asarray(got.dataobj, dtype)
                other = np.asarray(want.dataobj, dtype)
                assert one.dtype == other.dtype.newbyteorder("=")
                assert np.array_equal(one, other)
        shape = (got.shape[0], -1)
        assert np.array_equal(got.dataobj.copy().reshape(shape)[3:],
                              want.dataobj.copy().reshape(shape)[3:])
        with pytest.raises(ValueError, match="reshape"):
            got.dataobj.reshape((2, 3))
        if "colour" not in name and "complex" not in name:
            assert np.array_equal(got.get_fdata(), want.get_fdata())
        nibabel.save(got, tmp_path / "again.nii")
        again = nibabel.load(tmp_path / "again.nii")
        if "colour" not in name:
            # nibabel chooses another scaling when it saves.
            assert np.allclose(again.dataobj, want.dataobj, atol=1e-4)


@pytest.mark.parametrize("name", ["plane", "colours", "coloured plane"])
def test_what_is_indexed_is_read_alone(tmp_path, monkeypatch, name):
    nibabel.save(IMAGES[name](), tmp_path / "a.nii")
    voxels = libradio.as_nibabel(libradio.open_file(tmp_path / "a.nii"))
    monkeypatch.delattr(libradio.Volume, "numpy")       # reads the whole
    assert voxels.dataobj[2, 3].shape == voxels.shape[2:]


def without_shear(made):
    """SimpleITK takes no other matrices."""
    made.set_sform(None)
    made.set_qform([[-0.5, 0, 0, 3], [0, 0.75, 0, -4], [0, 0, 2.5, 5],
                    [0, 0, 0, 1]])
    return made


def read_both(made, file):
    nibabel.save(made, file)
    return (libradio.as_sitk(libradio.open_file(file)),
            SimpleITK.ReadImage(str(file)))


@pytest.mark.parametrize("name", [
    "uint8", "int16", "uint16", "int32", "float32", "float64", "scaled",
    "series", "units", "colours"])
def test_sitks_images_are_those_of_the_file(tmp_path, name):
    file = tmp_path / "a.nii.gz"
    got, want = read_both(without_shear(IMAGES[name]()), file)
    assert got.GetSize() == want.GetSize()
    assert got.GetPixelIDTypeAsString() == want.GetPixelIDTypeAsString()
    assert np.allclose(got.GetSpacing(), want.GetSpacing())
    if name == "units":
        assert np.allclose(got.GetSpacing(), (0.5e-3, 0.75e-3, 2.5e-3, 0.5))
    assert np.allclose(got.GetOrigin(), want.GetOrigin())
    assert np.allclose(got.GetDirection(), want.GetDirection())
    one, other = map(SimpleITK.GetArrayFromImage, (got, want))
    if name == "scaled":
        assert np.allclose(one, other, rtol=1e-6)
    else:
        assert np.array_equal(one, other)


def test_sitks_images_differ_from_files_as_is_documented(tmp_path):
    file = tmp_path / "a.nii"
    got, want = read_both(without_shear(image(shape=(7, 6))), file)
    assert (got.GetSize(), want.GetSize()) == ((7, 6, 1), (7, 6))
    got, want = read_both(without_shear(image(shape=(7, 6, 5, 1))), file)
    assert (got.GetSize(), want.GetSize()) == ((7, 6, 5, 1), (7, 6, 5))

    made = image()
    made.set_qform(np.diag([1, -2, 3, 1]), 1)
    made.set_sform(np.diag([2, 2, 3, 1]), 2)
    got, want = read_both(made, file)
    assert (got.GetDirection()[4], want.GetDirection()[4]) == (-1, 1)
    assert (got.GetSpacing(), want.GetSpacing()) == ((2, 2, 3), (1, 2, 3))

    got, want = read_both(nibabel.Nifti1Image(voxels((4, 4, 4), "uint8"),
                                              None), file)
    assert got.GetDirection() == (-1, 0, 0, 0, -1, 0, 0, 0, 1)
    assert want.GetDirection() == (1, 0, 0, 0, 1, 0, 0, 0, 1)

    data = bytearray(file.read_bytes())
    data[112:120] = np.array([0, 5], "<f4").tobytes()
    file.write_bytes(data)
    got = SimpleITK.GetArrayFromImage(
        libradio.as_sitk(libradio.open_file(file)))
    want = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(file)))
    assert np.array_equal(got + 5, want)


@pytest.mark.parametrize("affine", [
    np.diag([0, 2, 3, 1]), [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0],
                            [0, 0, 0, 1]]])
def test_an_affine_without_an_inverse_is_refused_for_sitk(affine):
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(voxels((4, 5, 3), "uint8"), store, "a/b",
                                 affine=affine)
    with pytest.raises(libradio.UnsupportedError, match="no inverse"):
        libradio.as_sitk(volume)


def test_volumes_without_a_header_or_with_more_axes_are_refused():
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(voxels((4, 5, 3, 2, 3), "uint8"), store,
                                 "a/b")
    with pytest.raises(libradio.UnsupportedError, match="5 axes"):
        libradio.as_sitk(volume)
