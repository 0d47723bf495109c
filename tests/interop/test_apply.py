# SPDX-License-Identifier: MIT
"""radio apply: what it writes opens in other programs with numpy's values and
with an affine that keeps landmarks in their places, whatever killed the runs
before, and in S3."""

import json
import random
import subprocess
import time

import pytest
from conftest import RADIO, peer

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
            break
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
