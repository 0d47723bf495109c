# SPDX-License-Identifier: MIT
"""Real images (mricron-data) are read back exactly as nibabel reads them, and
every command gives the same for the file and for the volume of a store."""

import gzip
import json
import random

from conftest import peer
from radio_library import Store, Volume
from test_files import check_boxes, printed


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


def test_a_thousand_boxes_of_each_file_equal_nibabel(nib, np, templates):
    for file in templates:
        data = np.asanyarray(nib.load(file).dataobj.get_unscaled())
        with Volume.of_file(file, point_gap_nbytes=1 << 19) as volume:
            check_boxes(np, volume, data.T, 1000, 11)


PIPELINE = "reorient LPS | resample 2 linear | crop 3:40,:,2: | rescale 0,1"
PRINTING = [["info"], ["info", "--apply", PIPELINE], ["stats"],
            ["stats", "--raw"], ["stats", "--apply", PIPELINE]]
WRITING = [["slice", "axial.npy"], ["slice", "axial.png"],
           ["slice", "coronal.png", "--axis", "coronal", "-i", "17"],
           ["slice", "sagittal.nii", "--axis", "sagittal"],
           ["slice", "applied.png", "--apply", PIPELINE],
           ["roi", "box.nii.gz", "--at", "20,31,12", "--size", "24"],
           ["roi", "box.npy", "--x", "7:", "--scaled"],
           ["export", "whole.nii"],
           ["export", "whole.npy", "--apply", PIPELINE]]


def test_every_command_gives_the_same_of_a_file_and_of_its_volume(
        radio, templates, template_store, tmp_path):
    images = peer("PIL.Image")
    names = [f"images/{stem(file)}" for file in templates]
    volumes = ["-s", template_store, *names]
    for command, *options in PRINTING:
        of_files, of_volumes = (
            printed(radio, command, *options, *operands)
            for operands in (templates, volumes))
        assert len(of_files) == len(templates) and of_files == of_volumes
    for file, name in zip(templates, names):
        for command, out, *options in WRITING:
            written = []
            for operands in [file], ["-s", template_store, name]:
                radio(command, *operands, *options, "-o", tmp_path / out,
                      "--overwrite")
                if out.endswith(".png"):    # its title has the name
                    with images.open(tmp_path / out) as picture:
                        written.append((picture.size, picture.tobytes()))
                else:
                    written.append((tmp_path / out).read_bytes())
            assert written[0] == written[1], (file, command, out)
    radio("validate", *templates)
    radio("validate", *volumes)
    # What is applied, of the same names.
    for to, operands in ("a", templates), ("b", volumes):
        radio("apply", PIPELINE, *operands, "--to", tmp_path / to, "-c", "x",
              "--codec", "fast")
    of_files, of_volumes = (
        radio("stats", "--json", "-s", tmp_path / to, "x").stdout
        for to in "ab")
    assert of_files == of_volumes
    of_files, of_volumes = (
        [{k: v for k, v in one.items() if k != "source_name"} for one in
         json.loads(radio("info", "--json", "-s", tmp_path / to, "x").stdout)]
        for to in "ab")
    assert of_files == of_volumes


def test_a_file_is_measured_and_profiled_as_its_volume_is(
        radio, templates, template_store, tmp_path):
    """Also as a pipeline makes it, whose canonical text they name."""
    file = next(f for f in templates if "2mm" in f.name)
    out = tmp_path / "p.json"
    for operands in [file], ["-s", template_store, f"images/{stem(file)}"]:
        for applied in [], ["--apply", "crop :64,:,:|clamp  0,9"]:
            for command in "full", "slice", "roi", "sweep":
                radio("profile", command, *operands, *applied, "--runs", "1",
                      "-o", out, "--overwrite")
                facts = json.loads(out.read_text())["facts"]
                facts = dict(zip(facts["key"], facts["value"]))
                assert facts.get("pipeline") == (
                    "crop :64,:,: | clamp 0,9" if applied else None)
            found = json.loads(radio(
                "bench", *operands, *applied, "--rows", "full,box64",
                "--rounds", "1", "--runs", "1", "--warmup", "1", "--threads",
                "1", "--json").stdout)
            assert found.get("pipeline") == facts.get("pipeline")
            assert found["shape"][0] == (64 if applied else 91)
            for layout in found["layouts"]:
                assert [row["row"] for row in layout["rows"]] == [
                    "full", "box64"]
