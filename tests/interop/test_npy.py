# SPDX-License-Identifier: MIT
"""NumPy's files as volumes: each element where numpy has it, with the geometry
that was given, and files that are no such images refused."""

import io
import zipfile

import pytest

TYPES = ["?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">u8",
         "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16"]
SHAPES = [(5, 4), (7, 6, 5), (5, 1, 3, 4), (3, 4, 2, 3, 2), (1, 1, 1)]


def filled(np, rng, dtype, shape):
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 2 if dtype.kind == "b" else 200,
                       np.prod(shape) * 2)
    if dtype.kind == "c":
        values = raw[::2] + 1j * raw[1::2] / 4
    else:
        values = raw[::2] / (4 if dtype.kind == "f" else 1)
    return values.astype(dtype).reshape(shape)


def exported(np, radio, store, name, folder):
    radio("export", "-s", store, name, "--overwrite", "-o", folder / "o.npy")
    return np.load(folder / "o.npy")


def test_every_type_order_and_shape_comes_back(radio, np, nib, tmp_path):
    rng = np.random.default_rng(3)
    want = {}
    for i, dtype in enumerate(TYPES):
        for k, shape in enumerate(SHAPES):
            array = filled(np, rng, dtype, shape)
            name = f"a{i}-{k}"
            order = np.asfortranarray if (i + k) % 2 else np.ascontiguousarray
            version = [None, (2, 0), (3, 0)][(i + k) % 3]
            with open(tmp_path / f"{name}.npy", "wb") as file:
                np.lib.format.write_array(file, order(array), version)
            want[name] = array
    store = tmp_path / "s.zarr"
    radio("ingest", "-q", "-s", store, "--spacing", "0.5,2,3",
          *(tmp_path / f"{name}.npy" for name in want))
    radio("validate", "-s", store)
    for name, array in want.items():
        radio("export", "-s", store, name, "-o", tmp_path / f"{name}.nii")
        image = nib.load(tmp_path / f"{name}.nii")
        got = np.asanyarray(image.dataobj)
        if array.ndim == 2:
            array = array[..., None]
        assert got.shape == array.shape
        assert np.array_equal(got, array), name
        assert image.header.get_zooms()[:3] == (0.5, 2, 3)
        assert image.header["sform_code"] == 0


def test_a_large_array_is_written_in_slabs(radio, np, tmp_path):
    values = np.arange(96 * 130 * 700, dtype=">i4").reshape(96, 130, 700)
    store = tmp_path / "s.zarr"
    for order in "C", "F":
        np.save(tmp_path / "a.npy", np.asarray(values, order=order))
        radio("ingest", "-q", "-s", store, "--overwrite", "--spacing", "1,1,1",
              "--codec", "fast", tmp_path / "a.npy")
        assert np.array_equal(exported(np, radio, store, "a", tmp_path),
                              values)


def test_the_affine_is_numpys_text(radio, np, nib, tmp_path):
    affine = np.array([[0, -0.5, 0.25, 10], [0.75, 0, 0, -20.5],
                       [0, 0, 3, 1e-3], [0, 0, 0, 1]])
    np.save(tmp_path / "a.npy", np.zeros((4, 3, 2), "u1"))
    store = tmp_path / "s.zarr"
    for text in affine, affine[:3]:
        np.savetxt(tmp_path / "a.txt", text)
        radio("ingest", "-s", store, "--overwrite", "--affine",
              tmp_path / "a.txt", tmp_path / "a.npy")
        radio("export", "-s", store, "a", "--overwrite", "-o",
              tmp_path / "a.nii")
        got = nib.load(tmp_path / "a.nii")
        assert np.allclose(got.affine, affine, atol=1e-6)
        assert np.allclose(got.header.get_zooms(),
                           np.sqrt((affine[:3, :3] ** 2).sum(axis=0)))
    for text in "1 2 3", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 2", "a b c", "", \
            "1 " * 17, "x " * 40:
        (tmp_path / "a.txt").write_text(text)
        failed = radio("ingest", "-s", store, "--affine", tmp_path / "a.txt",
                       tmp_path / "a.npy", status=1)
        assert "not an affine; give 3 rows" in failed.stderr


def test_labels_go_back_like_their_volume(radio, np, nib, tmp_path):
    rng = np.random.default_rng(5)
    image = nib.Nifti1Image(rng.integers(-9, 99, (9, 8, 7)).astype("i2"),
                            np.diag([0.5, -2, 3, 1]))
    image.header["descrip"] = b"the scan"
    image.header["scl_slope"], image.header["scl_inter"] = 2, -1000
    nib.save(image, tmp_path / "ct.nii")
    store = tmp_path / "s.zarr"
    radio("ingest", "-s", store, tmp_path / "ct.nii")
    labels = rng.integers(0, 4, (9, 8, 7)).astype("u1")
    np.save(tmp_path / "labels.npy", labels)
    radio("ingest", "-s", store, "-c", "seg", "--like", "ct",
          tmp_path / "labels.npy")
    radio("export", "-s", store, "labels", "-o", tmp_path / "back.nii")
    back = nib.load(tmp_path / "back.nii")
    assert np.array_equal(np.asanyarray(back.dataobj), labels)
    assert np.array_equal(back.affine, image.affine)
    assert back.header["descrip"] == b"the scan"
    skipped = radio("ingest", "-s", store, "-c", "seg", "--like", "ct",
                    "--skip-existing", tmp_path / "labels.npy")
    assert "skipped" in skipped.stdout
    failed = radio("ingest", "-s", store, "-c", "seg", "--like", "ct",
                   tmp_path / "labels.npy", status=1)
    assert "seg/labels exists already" in failed.stderr


def refused(radio, tmp_path, content, *options):
    (tmp_path / "bad.npy").write_bytes(content)
    failed = radio("ingest", "-s", tmp_path / "s.zarr", *options,
                   tmp_path / "bad.npy", status=1)
    assert len(failed.stderr.splitlines()) == 1
    return failed.stderr


def test_files_that_are_no_images_are_refused(radio, np, tmp_path):
    def npy(array, **keywords):
        file = io.BytesIO()
        np.save(file, array, **keywords)
        return file.getvalue()

    good = npy(np.zeros((4, 3, 2), "<i2"))
    objects = npy(np.array([[{}, 1]], dtype=object), allow_pickle=True)
    fields = npy(np.zeros((2, 2), [("R", "u1"), ("G", "u1")]))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.npy", good)
    for content, text in [
        (objects, "Python objects"), (fields, "structured"),
        (npy(np.zeros((2, 2), "f2")), "NIfTI has no type '<f2'"),
        (npy(np.zeros((2, 2), "U3")), "NIfTI has no type '<U3'"),
        (npy(np.zeros((2, 2), "M8[s]")), "NIfTI has no type '<M8[s]'"),
        (npy(np.zeros(4)), "1 dimension, not 2 to 5"),
        (npy(np.float64(4)), ": 0 dimensions"),
        (npy(np.zeros((1,) * 6)), "6 dimensions, not 2 to 5"),
        (npy(np.zeros((3, 0))), "no elements (axis 1 is 0)"),
        (archive.getvalue(), ".npz archive"), (b"", "not a .npy file"),
        (good[:-1], "cut short"), (good[:50], "header is cut short"),
        (good.replace(b"\x01\x00", b"\x09\x00", 1), "version 9.0"),
        (good.replace(b"(4, 3, 2)", b"(4, 3,-2)"), "not a tuple of numbers"),
        (good.replace(b"(4, 3, 2)", b"(" + b"9" * 19 + b",2)"), "cut short"),
        (good.replace(b"False", b"Maybe"), "neither True nor False"),
        (good.replace(b"'shape'", b"'shepa'"), "unknown member 'shepa'"),
    ]:
        assert text in refused(radio, tmp_path, content, "--spacing", "1,1,1")
    assert "has no geometry; give --spacing" in refused(radio, tmp_path, good)
    assert radio("ls", "-s", tmp_path / "s.zarr").stdout == ""


@pytest.mark.parametrize("options, text", [
    (["--spacing", "1,2"], "'1,2' is not X,Y,Z"),
    (["--spacing", "1,2,0"], "'1,2,0' is not X,Y,Z"),
    (["--spacing", "1,1,1", "--like", "ct"], "exclude each other"),
])
def test_a_wrong_geometry_is_a_usage_error(radio, tmp_path, options, text):
    failed = radio("ingest", "-s", tmp_path / "s.zarr", *options,
                   tmp_path / "a.npy", status=2)
    assert text in failed.stderr


def test_a_geometry_is_for_npy_only(radio, tmp_path):
    failed = radio("ingest", "-s", tmp_path / "s.zarr", "--spacing", "1,1,1",
                   tmp_path / "a.nii", status=2)
    assert "--spacing is for .npy files, none was given" in failed.stderr
