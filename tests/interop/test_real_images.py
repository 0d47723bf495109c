# SPDX-License-Identifier: MIT
"""Real images (mricron-data) are read back exactly as nibabel reads them."""

import gzip
import json
import random

from radio_library import Store


def stem(file):
    return file.name.removesuffix(".nii.gz")


def test_every_template_is_exported_byte_for_byte(
        radio, templates, template_store, tmp_path):
    for file in templates:
        out = tmp_path / f"{stem(file)}.nii"
        radio("export", "-s", template_store, stem(file), "-o", out)
        assert out.read_bytes() == gzip.decompress(file.read_bytes()), file
        out.unlink()


def test_planes_equal_nibabel(nib, np, templates, template_store):
    rng = random.Random(1)
    with Store(template_store) as store:
        for file in templates:
            image = nib.load(file)
            voxels = np.asanyarray(image.dataobj.get_unscaled())
            closest = list(nib.io_orientation(image.affine)[:, 0])
            with store.open_volume(f"images/{stem(file)}") as volume:
                for name, world in (("sagittal", 0), ("coronal", 1),
                                    ("axial", 2)):
                    axis = closest.index(world)
                    for _ in range(3):
                        i = rng.randrange(voxels.shape[axis])
                        want = voxels.take(i, axis).T
                        got = volume.plane(name, i, voxels.dtype)
                        assert np.array_equal(got, want), (file, name, i)


def test_random_boxes_equal_nibabel(nib, np, templates, template_store):
    rng = random.Random(2)
    with Store(template_store) as store:
        for file in templates:
            voxels = np.asanyarray(nib.load(file).dataobj.get_unscaled())
            array = voxels.T
            with store.open_volume(f"images/{stem(file)}") as volume:
                for _ in range(5):
                    start = [rng.randrange(n) for n in array.shape]
                    size = [rng.randint(1, min(64, n - s))
                            for n, s in zip(array.shape, start)]
                    want = array[tuple(slice(s, s + n)
                                       for s, n in zip(start, size))]
                    got = volume.read(start, size, array.dtype)
                    assert np.array_equal(got, want), (file, start, size)


def test_scaled_reads_equal_nibabel(nib, np, templates, template_store):
    with Store(template_store) as store:
        for file in templates:
            image = nib.load(file)
            want = image.get_fdata(dtype=np.float64).T
            with store.open_volume(f"images/{stem(file)}") as volume:
                got = volume.read([0] * want.ndim, want.shape, np.float64,
                                  "float64", scaled=True)
            assert np.allclose(got, want, rtol=1e-12, atol=0), file


def test_stats_equal_numpy(radio, nib, np, templates, template_store):
    for file in templates:
        values = nib.load(file).get_fdata(dtype=np.float64)
        out = radio("stats", "-s", template_store, stem(file), "--json")
        stats = json.loads(out.stdout)
        assert stats["count"] == values.size
        assert stats["min"] == values.min(), file
        assert stats["max"] == values.max(), file
        assert np.isclose(stats["mean"], values.mean(), rtol=1e-9), file
        assert np.isclose(stats["std"], values.std(), rtol=1e-9), file
        points = [1, 5, 25, 50, 75, 95, 99]
        got = [stats["percentiles"][str(p)] for p in points]
        assert np.allclose(got, np.percentile(values, points), rtol=1e-9)
        counts, _ = np.histogram(values, 64)
        assert stats["histogram"]["counts"] == counts.tolist(), file


def test_npy_equals_nibabel(radio, nib, np, templates, template_store,
                            tmp_path):
    for file in templates[:6]:
        out = tmp_path / f"{stem(file)}.npy"
        radio("export", "-s", template_store, stem(file), "-o", out)
        got = np.load(out)
        want = np.asanyarray(nib.load(file).dataobj.get_unscaled())
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.flags.f_contiguous
        assert np.array_equal(got, want), file


def test_a_roi_keeps_its_world_position(radio, nib, np, templates,
                                        template_store, tmp_path):
    """The cropped image's header maps its voxels to the same world
    positions."""
    rng = random.Random(3)
    for file in templates[:8]:
        image = nib.load(file)
        start = [rng.randrange(n - 8) for n in image.shape[:3]]
        out = tmp_path / f"{stem(file)}-roi.nii.gz"
        radio("roi", "-s", template_store, stem(file), "--at",
              ",".join(map(str, start)), "--size", "8", "-o", out)
        got = nib.load(out)
        cut = image.slicer[tuple(slice(s, s + 8) for s in start)]
        assert np.allclose(got.affine, cut.affine, atol=1e-3), file
        assert np.array_equal(got.dataobj.get_unscaled(),
                              np.asanyarray(cut.dataobj)
                              if cut.dataobj is not None and
                              image.dataobj.slope in (None, 1)
                              else image.dataobj.get_unscaled()[
                                  tuple(slice(s, s + 8) for s in start)])
