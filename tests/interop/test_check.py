# SPDX-License-Identifier: MIT
"""radio check: faults planted in pairs of images and masks are found, each
once, and nothing else; grids are as nibabel has them."""

import json
import struct
import subprocess

import pytest
from conftest import RADIO, run_radio

SHAPE = (12, 10, 8)


def check(store, *args):
    """Returns the faults, as kind and paths, and their messages."""
    done = subprocess.run([RADIO, "check", "-s", store, "--json", *args],
                          capture_output=True, text=True)
    assert not done.stderr
    faults = json.loads(done.stdout)
    assert done.returncode == (1 if faults else 0)
    return {(f["fault"], f["path"], f["other"]): f["message"] for f in faults}


@pytest.fixture
def affine(np):
    """A grid that is oblique, and not of equal spacing."""
    c, s = np.cos(0.3), np.sin(0.3)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) \
        @ np.diag([-0.75, 1.5, 3])
    matrix[:3, 3] = 90.25, -126, 72.5
    return matrix


class Cohort:
    """Images and masks in a folder, each of one grid unless that is changed
    before they are ingested."""

    def __init__(self, np, nib, folder, affine):
        self.np, self.nib = np, nib
        self.folder, self.affine = folder, affine

    def write(self, collection, name, affine=None, array=None, unit=2,
              slope=None):
        np, nib = self.np, self.nib
        file = self.folder / collection / f"{name}.nii"
        file.parent.mkdir(parents=True, exist_ok=True)
        if array is None:
            kind = "u1" if collection == "seg" else "i2"
            array = np.arange(np.prod(SHAPE)).reshape(SHAPE) % 3
            array = array.astype(kind)
        image = nib.Nifti1Image(array, self.affine if affine is None
                                else affine)
        image.header["xyzt_units"] = unit
        if collection == "seg":
            image.header["intent_code"] = 1002
        nib.save(image, file)
        if slope:
            data = bytearray(file.read_bytes())
            data[112:116] = struct.pack("<f", slope)
            file.write_bytes(data)

    def pair(self, name, **keywords):
        self.write("ct", name)
        self.write("seg", name, **keywords)

    def ingest(self, store):
        run_radio("ingest", "-q", "-s", store, "--pattern",
                  "{collection}/{subject}.nii", self.folder)


@pytest.fixture
def cohort(np, nib, tmp_path, affine):
    return Cohort(np, nib, tmp_path / "files", affine)


def moved(np, affine, voxels):
    """The affine of a grid that is moved by that many of its voxels."""
    result = affine.copy()
    result[:3, 3] += affine[:3, :3] @ voxels
    return result


def test_twelve_planted_faults_are_found_and_nothing_else(np, cohort, affine,
                                                          tmp_path):
    def spacing(axis):
        scales = np.ones(4)
        scales[axis] = 1.01
        return affine @ np.diag(scales)

    shear = affine.copy()
    shear[:3, 1] += 0.02 * affine[:3, 0]
    flipped = moved(np, affine @ np.diag([-1, 1, 1, 1]), [0, 0, 0])
    flipped[:3, 3] = (affine @ [SHAPE[0] - 1, 0, 0, 1])[:3]
    fractions = np.zeros(SHAPE, "f4")
    fractions[3, 4, 5] = 0.5
    wholes = np.full(SHAPE, -1, "f4")

    # Pairs without a fault: a mask of floats that are integers, and an origin
    # and a spacing that differ by less than 0.001 of a voxel.
    cohort.pair("good")
    cohort.pair("good_ses-2_run-1")
    cohort.pair("whole", array=wholes)
    cohort.pair("near", affine=moved(np, affine, [1e-4, -1e-4, 1e-4]))
    near = affine.copy()
    near[:3, 2] *= 1 + 1e-4 / SHAPE[2]
    cohort.pair("scaled", affine=near)

    cohort.pair("a-shape", array=np.zeros((12, 10, 7), "u1"))
    for i, name in enumerate(["b-x", "c-y", "d-z"]):
        cohort.pair(name, affine=spacing(i))
    cohort.pair("e-shear", affine=shear)
    cohort.pair("f-flip", affine=flipped)
    cohort.pair("g-origin", affine=moved(np, affine, [0, 0.5, 0]))
    cohort.pair("h-unit", unit=3)
    cohort.pair("i-float", array=fractions)
    cohort.write("ct", "j-subject")
    cohort.pair("k_ses-1")
    cohort.write("seg", "k_ses-2")
    cohort.pair("m_ses-1_run-1")
    cohort.write("ct", "m_ses-1_run-2")
    cohort.pair("l-scaling", slope=0.5)
    store = tmp_path / "s.zarr"
    cohort.ingest(store)

    found = check(store, "--complete", "ct,seg", "ct", "seg")
    expected = {("shape", "seg/a-shape", "ct/a-shape"),
                *(("affine", f"seg/{name}", f"ct/{name}")
                  for name in ("b-x", "c-y", "d-z", "e-shear", "f-flip",
                               "g-origin")),
                ("unit", "seg/h-unit", "ct/h-unit"),
                ("integers", "seg/i-float", None),
                ("integers", "seg/l-scaling", None),
                ("missing", "seg", "ct/j-subject"),
                ("missing", "ct", "seg/k_ses-2"),
                ("missing", "seg", "ct/m_ses-1_run-2")}
    assert set(found) == expected and len(expected) == 13
    for name in ("good", "good_ses-2_run-1", "whole", "near", "scaled"):
        assert not any(name in message for message in found.values())

    # Each line has both values.
    def line(name):
        return next(m for (_, path, _), m in found.items() if path == name)

    assert line("seg/a-shape") \
        == "seg/a-shape: shape 12 x 10 x 7, but 12 x 10 x 8 in ct/a-shape"
    assert "spacing 0.75 x 1.515 x 3, not 0.75 x 1.5 x 3" in line("seg/c-y")
    assert "orientation RAS, not LAS; origin" in line("seg/f-flip")
    assert "0.5 voxels off" in line("seg/g-origin")
    assert "unit micrometer, but millimeter in ct/h-unit" in line("seg/h-unit")
    assert "1 value that is no integer, the first 0.5 at x,y,z 3,4,5" \
        in line("seg/i-float")

    # validate finds the same after the volumes, which are sound.
    done = subprocess.run([RADIO, "validate", "-s", store, "--json",
                           "--complete", "ct,seg", "ct", "seg"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    items = json.loads(done.stdout)
    pairs = [item for item in items if item["kind"] == "pair"]
    assert {(item["fault"], item["path"], item["other"]): item["messages"]
            for item in pairs} == {key: [message]
                                   for key, message in found.items()}
    assert len(pairs) == len(found) and items[-len(pairs):] == pairs
    assert {item["state"] for item in items[:-len(pairs)]} == {"ok"}
    assert sorted(done.stderr.splitlines()) \
        == sorted(f"radio: {message}" for message in found.values())

    # Of what a query, a pattern or a path selects, and only if asked for.
    def validate(*args, status=0):
        done = subprocess.run([RADIO, "validate", "-q", *args],
                              capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout.splitlines()[-1] + done.stderr

    assert "pair" not in validate("-s", store)
    assert "; 13 pairs compared, 0 faults" in validate(
        "-s", store, "--tolerance", "99", "--where",
        'not subject in ("a-shape", "h-unit", "i-float", "l-scaling")')
    assert "; 1 pair compared, 1 fault" in validate(
        "-s", store, "--pairs", "?t/h-*", "seg/h-unit", status=1)
    said = validate(f"{store}/seg", f"{store}/ct", "--pairs", status=1)
    assert f"radio: {store}/ct/h-unit: unit millimeter" in said
    assert "not among the collections" in validate(
        "-s", store, "--masks", "seg", "ct", status=1)

    # A tolerance that all but the grossest pass, and collections in any order.
    found = check(store, "--tolerance", "3", "seg", "ct")
    assert {kind for kind, _, _ in found} == {"shape", "unit", "affine",
                                              "integers"}
    assert [path for kind, path, _ in found if kind == "affine"] \
        == ["ct/f-flip"]


def test_random_affines_are_as_far_apart_as_nibabel_says(np, nib, cohort,
                                                         tmp_path):
    """The farthest voxel, by both files' affines."""
    rng = np.random.default_rng(5)
    axes = [np.arange(n) for n in SHAPE]
    voxels = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    store = tmp_path / "s.zarr"
    for i in range(40):
        matrix = np.eye(4)
        matrix[:3] = rng.normal(0, 2, (3, 4))
        other = matrix.copy()
        other[:3] += rng.normal(0, 10.0 ** rng.integers(-6, 0), (3, 4))
        cohort.write("ct", f"p{i}", affine=matrix)
        cohort.write("seg", f"p{i}", affine=other)
    cohort.ingest(store)
    found = check(store)
    apart = {}
    for i in range(40):
        a, b = (nib.load(cohort.folder / c / f"p{i}.nii").affine
                for c in ("ct", "seg"))
        there = nib.affines.apply_affine(np.linalg.inv(a) @ b, voxels)
        apart[f"seg/p{i}"] = np.abs(there - voxels).max()
    assert {path for _, path, _ in found} \
        == {path for path, d in apart.items() if d > 1e-3}
    assert 5 < len(found) < 40
    for (_, path, _), message in found.items():
        said = float(message.split("up to ")[1].split()[0])
        assert said == pytest.approx(apart[path], rel=1e-3)
