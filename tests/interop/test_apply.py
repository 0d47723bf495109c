# SPDX-License-Identifier: MIT
"""radio apply: what it writes opens in other programs with numpy's values and
with an affine that keeps landmarks in their places, whatever killed the runs
before, and in S3."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import RADIO, missing, peer
from test_ingest_faults import peak_rss_nbytes

# Of tests/interop/requirements-napari.txt.
NAPARI = Path(sys.prefix) / "napari"

PIPELINE = "reorient LAS | pad 2:3,0,1 edge | flip y | clamp -50,60"


def applied(np, nib, image):
    """The result of the pipeline by nibabel and numpy: x, y, z."""
    ornt = nib.orientations
    turn = ornt.ornt_transform(ornt.io_orientation(image.affine),
                               ornt.axcodes2ornt("LAS"))
    stored = np.asanyarray(image.as_reoriented(turn).dataobj)
    padded = np.pad(stored, [(2, 3), (0, 0), (1, 1)], "edge")[:, ::-1]
    return np.clip(padded.astype("f4"), -50, 60)


@pytest.fixture(scope="module")
def cohort(np, nib, tmp_path_factory):
    """Returns files of images in different orientations, with the place of a
    bright voxel in each."""
    folder = tmp_path_factory.mktemp("cohort")
    rng = np.random.default_rng(21)
    files = {}
    for i, codes in enumerate(["RAS", "LPS", "PIR", "SAR", "ASL", "IPL"]):
        shape = rng.integers(30, 90, 3)
        data = rng.integers(-100, 50, shape).astype("i2")
        at = rng.integers(8, shape - 8)
        data[tuple(at)] = 3000
        affine = np.eye(4)
        turn = nib.orientations.axcodes2ornt(codes)
        for j, (axis, sign) in enumerate(turn):
            affine[int(axis), j] = sign * rng.uniform(0.5, 3)
            affine[int(axis), 3] = rng.uniform(-90, 90)
        affine[:3, :3] += np.float32(rng.uniform(-0.01, 0.01, (3, 3)))
        file = folder / f"sub-{i}.nii{'.gz' if i % 2 else ''}"
        affine[:3] = affine[:3].astype("f4")
        nib.save(nib.Nifti1Image(data, affine), file)
        files[file] = affine @ [*at, 1]
    return files


def level(zarr, store, path):
    group = zarr.open_group(store, mode="r")[path]
    return group[group.attrs["ome"]["multiscales"][0]["datasets"][0]["path"]]


def test_other_programs_open_what_is_written(radio, np, nib, zarr, cohort,
                                             tmp_path):
    store = tmp_path / "out.zarr"
    files = list(cohort)
    radio("apply", PIPELINE, *files[:3], "--to", store, "-c", "ct")
    radio("ingest", "-s", tmp_path / "in.zarr", "-c", "ct", *files[3:])
    radio("apply", PIPELINE, tmp_path / "in.zarr", "--to", store)
    yaozarrs, models = peer("yaozarrs"), peer("ome_zarr_models.v05.image")
    for file in files:
        name = file.name.split(".")[0]
        want = applied(np, nib, nib.load(file))
        got = level(zarr, store, f"ct/{name}")[...].transpose(2, 1, 0)
        assert got.dtype == np.float32 and np.array_equal(got, want)
        out = tmp_path / f"{name}.nii.gz"
        radio("export", "-s", store, f"ct/{name}", "-o", out)
        image = nib.load(out)
        assert np.array_equal(image.get_fdata(), want)
        assert "".join(nib.aff2axcodes(image.affine)) == "LPS"
        yaozarrs.validate_zarr_store(str(store / "ct" / name))
        models.Image.from_zarr(zarr.open_group(store / "ct" / name, mode="r"))
    said = radio("validate", "-s", store).stdout
    assert f"{len(files)} checked, 0 bad" in said


@pytest.mark.parametrize("pipeline", [
    "reorient RAS | crop 2:,3:,1:", "crop-or-pad 70,64,50 | flip x,z",
    "rot90 xz 3 | pad 4,0:2,1 | reorient SPL", "rot90 xy | crop 5:,:,:24"])
def test_landmarks_are_found_again(radio, np, nib, cohort, tmp_path, pipeline):
    """A bright voxel keeps its place in space within 0.01 mm."""
    store, nfound = tmp_path / "out.zarr", 0
    radio("apply", pipeline, *cohort, "--to", store, "-c", "ct")
    for file, place in cohort.items():
        name = file.name.split(".")[0]
        out = tmp_path / f"{name}.nii"
        radio("export", "-s", store, f"ct/{name}", "-o", out)
        image = nib.load(out)
        found = np.argwhere(np.asanyarray(image.dataobj) == 3000)
        if len(found):
            nfound += 1
            got = image.affine @ [*found[0], 1]
            assert np.abs(got - place).max() < 0.01
    assert nfound >= 2


@pytest.fixture(scope="module")
def blobs(np, nib, tmp_path_factory):
    """Returns a file of two blobs in an oblique image, and their places."""
    turn, _ = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))
    affine = np.eye(4)
    affine[:3, :3] = (turn @ np.diag([0.8, 1.25, 1.9])).astype("f4")
    affine[:3, 3] = np.float32([-31.5, 12.25, 40])
    shape = np.array([90, 62, 44])
    centres = np.array([[26.3, 30.2, 17.6], [63.8, 27.7, 25.1]])
    index = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    data = sum(np.exp(-(((index - c) / [5, 4, 2.5]) ** 2).sum(-1) / 2)
               for c in centres).astype("f4")
    data[data < 1e-6] = 0
    file = tmp_path_factory.mktemp("blobs") / "two.nii.gz"
    image = nib.Nifti1Image(data, affine)
    image.header.set_xyzt_units("mm")
    nib.save(image, file)
    return file, nib.affines.apply_affine(affine, centres)


def two_centres(np, values):
    """The middles of two blobs in voxels, by the places nearest to each."""
    ndimage = peer("scipy.ndimage")
    labels, n = ndimage.label(values > 0.3 * values.max())
    assert n == 2
    rough = np.array(ndimage.center_of_mass(values, labels, [1, 2]))
    index = np.stack(np.indices(values.shape), -1)
    nearest = 1 + (((index - rough[0]) ** 2).sum(-1)
                   > ((index - rough[1]) ** 2).sum(-1))
    return np.array(ndimage.center_of_mass(values, nearest, [1, 2]))


def order_of(np, found, wanted):
    """The places found, in the order of those wanted."""
    return found if np.abs(found[0] - wanted[0]).max() < np.abs(
        found[1] - wanted[0]).max() else found[::-1]


def napari_layer(np, path, out):
    """What napari's reader makes of an image: voxels, and metadata."""
    if not NAPARI.exists():
        missing("napari's reader")
    subprocess.run([sys.executable, Path(__file__).with_name(
        "napari_layer.py"), path, out], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(NAPARI)})
    return np.load(out), json.loads(Path(f"{out}.json").read_text())


@pytest.mark.parametrize("pipeline", [
    "resample 1.1", "resample 0.9,1,1.4 cubic centre | reorient LPS",
    "reorient SAR | to 50,100,70 | crop 2:,3:,1:",
    "crop 4:,2:60,1: | rot90 yz | resample 1.3 | pad 2 edge"])
def test_landmarks_are_found_again_by_each_program(
        radio, np, nib, zarr, blobs, tmp_path, pipeline):
    """By nibabel, by zarr-python with the affine of radio info, within 0.01 mm;
    and by napari's reader, which knows spacings alone, so that it has them as
    far from each other."""
    file, places = blobs
    store, out = tmp_path / "s.zarr", tmp_path / "o.nii.gz"
    radio("apply", pipeline, file, "--to", store, "-c", "x")
    radio("export", "-s", store, "x/two", "-o", out)
    image = nib.load(out)
    centres = two_centres(np, image.get_fdata())
    found = nib.affines.apply_affine(image.affine, centres)
    assert np.abs(order_of(np, found, places) - places).max() < 0.01
    facts = json.loads(radio("info", "--json", "-s", store, "x/two").stdout)
    affine = np.vstack([facts["affine"], [0, 0, 0, 1]])
    voxels = level(zarr, store, "x/two")[...]
    centres = two_centres(np, voxels)[:, ::-1]
    found = nib.affines.apply_affine(affine, centres)
    assert np.abs(order_of(np, found, places) - places).max() < 0.01

    layer, shown = napari_layer(np, store / "x" / "two", tmp_path / "l.npy")
    assert shown["kind"] == "image" and shown["levels"] == 1
    assert shown["labels"] == ["z", "y", "x"]
    assert shown["units"] == ["millimeter"] * 3
    assert np.allclose(shown["scale"], image.header.get_zooms()[::-1])
    assert np.array_equal(layer, voxels)
    matrix = shown["affine"] @ np.diag([*shown["scale"], 1])
    found = nib.affines.apply_affine(matrix, two_centres(np, layer))
    assert abs(np.linalg.norm(found[0] - found[1])
               - np.linalg.norm(places[0] - places[1])) < 0.01


def read_all(radio, store, folder):
    folder.mkdir()
    files = {}
    for path in radio("ls", "-s", store).stdout.split():
        file = folder / f"{path.replace('/', '_')}.nii"
        radio("export", "-s", store, path, "-o", file)
        files[path] = file.read_bytes()
    return files


def test_a_cohort_killed_at_random_is_resumed(radio, tmp_path):
    source, rng = tmp_path / "in.zarr", random.Random(21)
    for i in range(8):
        radio("phantom", "-s", source, f"ct/v{i}", "--seed", i, "--size",
              f"{90 + i},100,{80 - i}", "--codec", "none")
    command = [RADIO, "apply", "-q", PIPELINE + " | znorm", source, "--to"]
    start = time.monotonic()
    subprocess.run([*command, tmp_path / "whole.zarr"], check=True)
    whole_s = time.monotonic() - start
    store, nkilled = tmp_path / "killed.zarr", 0
    for _ in range(60):
        run = subprocess.Popen([*command, store], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        time.sleep(rng.uniform(0, whole_s / 2))
        run.kill()
        run.communicate()
        if run.returncode == 0:
            if nkilled >= 2:
                break
            # The machine is less busy than it was: again, in less time.
            shutil.rmtree(store)
            whole_s /= 2
            nkilled = 0
            continue
        nkilled += 1
        if (store / "zarr.json").exists():
            # Whatever is visible is whole.
            radio("validate", "-q", "-s", store)
    assert nkilled >= 2
    radio("apply", PIPELINE + " | znorm", source, "--to", store)
    said = radio("apply", PIPELINE + " | znorm", source, "--to", store).stdout
    assert "0 volumes; 8 skipped" in said
    radio("gc", "-s", store)
    for path in store.glob("ct/*"):
        if path.is_dir():
            assert len(list(path.glob("0-*"))) == 1
    assert read_all(radio, tmp_path / "whole.zarr", tmp_path / "a") \
        == read_all(radio, store, tmp_path / "b")


def test_results_in_s3_are_those_on_disk(radio, gateway, cohort, tmp_path):
    gateway.client().create_bucket(Bucket="applied")
    env = gateway.environment()
    remote, local = "s3://applied/out.zarr", tmp_path / "out.zarr"
    source = "s3://applied/in.zarr"
    radio("ingest", "-s", source, "-c", "ct", *cohort, env=env)
    radio("apply", PIPELINE, source, "--to", remote, "-c", "las", env=env)
    radio("apply", PIPELINE, source, "--to", local, "-c", "las", env=env)
    said = radio("apply", PIPELINE, source, "--to", remote, "-c", "las",
                 "--json", env=env).stdout
    assert {v["outcome"] for v in json.loads(said)} == {"skipped"}
    for file in cohort:
        name = file.name.split(".")[0]
        outs = [tmp_path / f"{i}.nii" for i in range(2)]
        for store, out in zip((remote, local), outs, strict=True):
            radio("export", "-s", store, f"las/{name}", "-o", out,
                  "--overwrite", env=env)
        assert outs[0].read_bytes() == outs[1].read_bytes()


def test_files_applied_at_once_stay_within_the_memory_limit(
        np, nib, tmp_path):
    """Resident, with the program itself, its threads and its libraries, whose
    size is measured by a run on a single voxel."""
    rng = np.random.default_rng(4)
    data = rng.integers(-1000, 1000, (256, 256, 160)).astype("i2")
    data[::2] = 0
    first = tmp_path / "0.nii.gz"
    with gzip.open(first, "wb", 1) as out:
        out.write(nib.Nifti1Image(data, np.eye(4)).to_bytes())
    files = [tmp_path / f"{i}.nii.gz" for i in range(6)]
    for file in files[1:]:
        os.link(first, file)
    tiny = tmp_path / "tiny.nii.gz"
    nib.save(nib.Nifti1Image(data[:1, :1, :1], np.eye(4)), tiny)

    def peak(*names):
        return peak_rss_nbytes(
            tmp_path / "time", RADIO, "apply", "rescale 0,1", *names, "--to",
            tmp_path / "out.zarr", "-c", "x", "--memory", "64M",
            "--threads=8")

    beside = peak(tiny)
    most = peak(*files)
    print(f"peak RSS {most / 2**20:.0f} MiB, {beside / 2**20:.0f} of a voxel")
    assert most - beside < 64 << 20
