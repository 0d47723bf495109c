# SPDX-License-Identifier: MIT
"""Volumes that are written, copied and removed."""
import shutil
import warnings
from pathlib import Path

import nibabel
import numpy as np
import pytest
from images import TYPES, voxels

import libradio


@pytest.fixture
def store(tmp_path):
    with libradio.open(tmp_path / "s.zarr", create=True) as store:
        yield store


@pytest.mark.parametrize("dtype", [*TYPES, "bool", ">i2"])
def test_arrays_of_every_type_and_layout_come_back(store, dtype):
    for i, shape in enumerate([(5, 6, 7), (4, 5, 3, 2), (3, 4, 5, 2, 3)]):
        array = voxels(shape, dtype, i)
        for k, layout in enumerate([array, np.ascontiguousarray(array),
                                    array[::-1, :, ::-1]]):
            volume = libradio.from_numpy(layout, store, f"a/{i}-{k}")
            assert np.array_equal(volume.numpy(), layout)


def test_geometry_is_kept(store):
    affine = np.array([[0, -1.5, 0, 3], [2, 0, 0, -4], [0, 0, 2.5, 5.25],
                       [0, 0, 0, 1]])
    array = voxels((4, 5, 6), "uint8")
    volume = libradio.from_numpy(array, store, "a/b", affine=affine)
    assert np.array_equal(volume.affine, affine)
    assert volume.axcodes == ("A", "L", "S")
    like = libradio.from_numpy(array + 1, store, "a/c", like=volume,
                               labels={1: "liver", 2: "spleen"})
    assert like.header == volume.header
    series = libradio.from_numpy(voxels((4, 5, 6, 2), "int16"), store, "a/d",
                                 spacing=(1, 2, 3, 4))
    assert series.spacing == (1, 2, 3, 4)
    channels = libradio.from_numpy(voxels((4, 5, 6, 2, 3), "int16"), store,
                                   "a/e", spacing=(1, 2, 3, 4, 1))
    assert channels.spacing == (1, 2, 3, 4, 1)
    for options in [{"affine": affine}, {"like": volume}]:
        timed = libradio.from_numpy(voxels((4, 5, 6, 2), "int16"), store,
                                    "a/f", spacing=(2, 1.5, 2.5, 0.75),
                                    existing="replace", **options)
        assert timed.spacing == (2, 1.5, 2.5, 0.75)
        assert np.array_equal(timed.affine, affine)
    with pytest.raises(libradio.ArgumentError, match="of like"):
        libradio.from_numpy(array, store, "a/g", like=volume,
                            spacing=(1, 1, 1))


def test_voxels_are_labels_if_they_are_said_to_be(store):
    array = np.ones((4, 5, 6), "uint8")

    def is_labels(labels):
        libradio.from_numpy(array, store, "a/b", labels=labels,
                            existing="replace")
        return "image-label" in Path(store.uri, "a/b/zarr.json").read_text()

    for labels in [True, np.True_, 1, {}, {1: "liver"}]:
        assert is_labels(labels)
    for labels in [False, np.False_, 0, None]:
        assert not is_labels(labels)
    for labels in ["liver", ["liver"], {1: 7}]:
        with pytest.raises(TypeError):
            is_labels(labels)


def test_large_arrays_are_written_by_slabs(store, monkeypatch):
    monkeypatch.setattr("libradio.writing._SLAB_NBYTES", 1000)
    array = voxels((20, 19, 18, 2, 3), "int16")
    volume = libradio.from_numpy(array, store, "a/b")
    assert np.array_equal(volume.numpy(), array)


def test_arguments_that_are_wrong_are_errors(store):
    array = np.zeros((4, 4, 4), "uint8")
    for options in [{"affine": np.zeros((2, 2))}, {"affine": np.ones((4, 4))},
                    {"affine": np.zeros((4, 4)) + np.nan},
                    {"spacing": (1, 2)}, {"spacing": (0, 1, 1)},
                    {"spacing": (1, np.nan, 1)}, {"spacing": (1, 1, np.inf)},
                    {"spacing": (-1, 1, 1)}, {"tiling": "odd"},
                    {"codec": "odd"},
                    {"affine": np.eye(4), "spacing": (1, 2, 1)},
                    {"existing": "odd"}]:
        with pytest.raises(libradio.ArgumentError):
            libradio.from_numpy(array, store, "a/b", **options)
    with pytest.raises(libradio.ArgumentError):
        libradio.from_numpy(array, store, "../b")
    with pytest.raises(libradio.ArgumentError):
        libradio.from_numpy(array[0, 0], store, "a/b")
    with pytest.raises(TypeError):
        libradio.from_numpy(np.array([[["text"]]]), store, "a/b")
    with pytest.raises(NotImplementedError):
        libradio.from_numpy(array.astype("float16"), store, "a/b")
    for use in [lambda: libradio.ingest("a.nii", "s.zarr"),
                lambda: libradio.from_numpy(array, "s.zarr", "a/b"),
                lambda: libradio.phantom("s.zarr", "a/b"),
                lambda: libradio.copy(store, "a/b", "s.zarr"),
                lambda: libradio.remove("s.zarr", "a/b"),
                lambda: libradio.gc("s.zarr"),
                lambda: libradio.from_numpy(array, store, "a/b",
                                            like=array)]:
        with pytest.raises(TypeError, match="is of type (str|ndarray)"):
            use()
    for shape in [(4, 4), (4, 4, 4, 4)]:
        with pytest.raises(libradio.ArgumentError, match="shape"):
            libradio.phantom(store, "a/b", shape=shape)
    assert len(store) == 0
    assert libradio.gc(store).removed_count == 0


def test_volumes_that_were_written_outlive_a_store_in_memory():
    array = voxels((4, 4, 4), "uint8")
    with libradio.open("memory:", create=True) as store:
        volumes = [libradio.from_numpy(array, store, "a/b"),
                   libradio.copy(store, "a/b", store, "a/c"),
                   libradio.phantom(store, "a/d", shape=(4, 4, 4))]
    for volume in volumes[:2]:
        assert np.array_equal(volume.numpy(), array)
    assert volumes[2].numpy().shape == (4, 4, 4)


def test_what_exists_is_kept_skipped_or_replaced(store):
    one, two = voxels((4, 4, 4), "uint8"), voxels((4, 4, 4), "uint8", 1)
    libradio.from_numpy(one, store, "a/b")
    with pytest.raises(FileExistsError):
        libradio.from_numpy(two, store, "a/b")
    libradio.from_numpy(two, store, "a/b", existing="skip")
    assert np.array_equal(store["a/b"].numpy(), one)
    libradio.from_numpy(two, store, "a/b", existing="replace")
    assert np.array_equal(store["a/b"].numpy(), two)


def test_files_are_ingested(examples, store):
    head = examples / "head.nii.gz"
    shown = []
    results = libradio.ingest([head, examples / "sub-01_T1w.nii.gz"], store,
                              progress=lambda *each: shown.append(each))
    assert [each.path for each in results] == ["images/head", "T1w/sub-01"]
    assert not results[0].skipped and results[0].stored_nbytes > 0
    total = head.stat().st_size * 2
    assert shown and shown[-1] == (total, total)
    array = np.asarray(nibabel.load(head).dataobj)
    assert np.array_equal(store["T1w/sub-01"].numpy(), array)
    again = libradio.ingest({"images/head": head}, store, existing="skip")
    assert again[0].skipped
    named = libradio.ingest(bytes(head), store, layout="{subject}.nii.gz",
                            collection="ct")
    assert named[0].path == "ct/head"
    for name in ["collection", "layout"]:
        with pytest.raises(libradio.ArgumentError,
                           match=f"{name}: 'ct' and a mapping"):
            libradio.ingest({"a/b": head}, store, **{name: "ct"})
    assert "a/b" not in store


def test_files_at_urls_are_ingested(server, examples, store):
    url = server.url.replace("examples.zarr", "head.nii.gz")
    result, = libradio.ingest(f"{url}?a=b", store)
    assert result.path == "images/head"
    local = libradio.ingest({"a/b": examples / "head.nii.gz"}, store)
    assert result.source_nbytes == local[0].source_nbytes
    one, other = store["images/head"], store["a/b"]
    assert one.header == other.header
    assert np.array_equal(one.numpy(), other.numpy())
    with pytest.raises(libradio.NotFoundError, match="none.nii"):
        libradio.ingest(url.replace("head", "none"), store)


def test_files_that_fail_are_errors(examples, store, tmp_path):
    with pytest.raises(libradio.NotFoundError, match="none.nii"):
        libradio.ingest(tmp_path / "none.nii", store)
    broken = tmp_path / "broken.nii"
    broken.write_bytes(b"no image" * 100)
    with pytest.raises(libradio.FormatError, match="broken.nii"):
        libradio.ingest([broken], store)
    with pytest.raises(libradio.ArgumentError, match="becomes images/head"):
        libradio.ingest([examples / "head.nii.gz"] * 2, store)
    with pytest.raises(FileExistsError):
        libradio.ingest({"a/b": examples / "head.nii.gz"}, store)
        libradio.ingest({"a/b": examples / "head.nii.gz"}, store)


def test_stripped_headers_are_warned_of(store, tmp_path):
    image = nibabel.Nifti1Image(voxels((4, 4, 4), "uint8"), np.eye(4))
    image.header["descrip"] = b"someone"
    nibabel.save(image, tmp_path / "a.nii")
    with pytest.warns(libradio.RadioWarning, match="descrip"):
        libradio.ingest({"a/b": tmp_path / "a.nii"}, store, strip=True)
    assert b"someone" not in store["a/b"].header


@pytest.mark.parametrize("action", ["default", "error"])
def test_warnings_come_also_if_the_ingest_fails(store, tmp_path, action):
    image = nibabel.Nifti1Image(voxels((4, 4, 4), "uint8"), np.eye(4))
    image.header["descrip"] = b"someone"
    nibabel.save(image, tmp_path / "a.nii")

    def fail(done, total):
        # So it fails when the file is complete.
        if "a/b" in store:
            raise RuntimeError("enough")

    with warnings.catch_warnings(record=action == "default") as caught:
        warnings.simplefilter(action)
        with pytest.raises(RuntimeError, match="enough"):
            libradio.ingest({"a/b": tmp_path / "a.nii"}, store, strip=True,
                            progress=fail)
    if caught is not None:
        assert ["descrip" in str(each.message) for each in caught] == [True]


def test_an_error_of_progress_ends_it(examples, store):
    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        libradio.ingest(examples / "head.nii.gz", store, progress=fail)


def test_volumes_are_copied_and_removed(examples, store):
    source = libradio.open(examples / "examples.zarr")
    copied = libradio.copy(source, "ct/head", store, "x/y")
    assert copied.header == source["ct/head"].header
    assert np.array_equal(copied.numpy(), source["ct/head"].numpy())
    again = libradio.copy(source, "ct/head", store, "x/y")
    assert again.header == copied.header
    with pytest.raises(FileExistsError):
        libradio.copy(source, "mr/brain", store, "x/y")
    with pytest.raises(KeyError):
        libradio.copy(source, "ct/none", store)
    libradio.remove(store, "x/y")
    assert "x/y" not in store
    with pytest.raises(KeyError):
        libradio.remove(store, "x/y")


@pytest.mark.parametrize("shape", [(), (5,), (4, 4, 4, 4), (0, 8, 8),
                                   (4, -1, 4)])
def test_phantoms_have_three_axes(store, shape):
    with pytest.raises(libradio.ArgumentError, match="of x, y and z"):
        libradio.phantom(store, "a/b", shape=shape)


def test_data_without_a_volume_are_collected(store):
    libradio.phantom(store, "a/b", shape=np.array([24, 20, 16]), seed=3)
    array = store["a/b"].numpy()
    assert array.shape == (24, 20, 16) and array.std() > 0
    level, = Path(store.uri, "a/b").glob("0-*")
    left = level.with_name("0-00000000")
    shutil.copytree(level, left)
    assert libradio.gc(store, dry_run=True).removed_count == 1
    assert left.exists()
    assert libradio.gc(store).removed_nbytes > 0
    assert not left.exists()
