# SPDX-License-Identifier: MIT
"""Operations that interpolate against SciPy and SimpleITK: generated images,
whole and in boxes at every border, by one thread and by several."""

import random
import subprocess

import pytest
from conftest import RADIO, peer
from test_pipelines import (POINTWISE, SPATIAL, boxes, make_image, run_radio)

from radio_library import Store, Volume


@pytest.fixture(scope="session")
def ndimage():
    return peer("scipy.ndimage")


@pytest.fixture(scope="session")
def sitk():
    return peer("SimpleITK")


def positions(np, n, size, grid):
    """Where the voxels of `to SIZE' are along an axis of n."""
    if grid == "corner":
        return (np.arange(size) + 0.5) * (n / size) - 0.5
    return np.arange(size) * ((n - 1) / (size - 1) if size > 1 else 1)


def vote(np, values, places, widths):
    """The most frequent label of each voxel, the smallest of several."""
    spans = []
    for n, at, width in zip(values.shape, places, widths):
        width = max(width, 1)
        first = np.clip(np.ceil(at - width / 2).astype(int), 0, n - 1)
        last = np.clip(np.ceil(at + width / 2).astype(int) - 1, 0, n - 1)
        spans.append(list(zip(first, last + 1)))
    out = np.empty([len(s) for s in spans] + list(values.shape[3:]),
                   values.dtype)
    for i in np.ndindex(*out.shape):
        part = values[tuple(slice(*s[k]) for s, k in zip(spans, i))
                      + i[3:]].ravel()
        labels, counts = np.unique(part, return_counts=True)
        out[i] = labels[counts.argmax()]
    return out


def sample(np, ndimage, model, places, how, widths):
    """Does to a model what an operation does that samples x, y, z."""
    if how in ("nearest", "majority"):
        values = model.array
        if how == "majority":
            model.array = vote(np, values, places, widths)
            return
        at = [np.clip(np.floor(p + 0.5).astype(int), 0, n - 1)
              for p, n in zip(places, values.shape)]
        model.array = values[np.ix_(*at)]
        return
    values = model.scaled().astype(np.float64)
    order = {"linear": 1, "cubic": 3}[how]
    where = np.meshgrid(*places, indexing="ij")
    lead = values.reshape(values.shape[:3] + (-1,))
    parts = []
    for i in range(lead.shape[3]):
        known = np.nan_to_num(lead[..., i])
        part = ndimage.map_coordinates(known, where, order=order,
                                       mode="nearest")
        # NaN goes to what has a weight of it, even a small one.
        lost = ndimage.map_coordinates(
            np.isnan(lead[..., i]).astype(float), where, order=1,
            mode="nearest") > 0
        part[lost] = np.nan
        parts.append(part)
    shape = where[0].shape + values.shape[3:]
    model.array = np.stack(parts, -1).reshape(shape).astype(model.type)
    model.computes = True


def add_to(np, ndimage, rng, model):
    size = [rng.choice([1, 2, 5, 11, n, 2 * n]) for n in model.array.shape[:3]]
    how = rng.choice(["linear", "nearest", "cubic", "majority"])
    has_nan = model.array.dtype.kind == "f" and np.isnan(model.array).any()
    if has_nan and how in ("cubic", "majority"):
        how = "linear"
    grid = rng.choice(["corner", "centre"])
    places = [positions(np, n, s, grid)
              for n, s in zip(model.array.shape, size)]
    widths = [(p[1] - p[0] if len(p) > 1 else n if grid == "corner" else 1)
              for p, n in zip(places, model.array.shape)]
    if how == "majority":
        # At borders of voxels the last bit decides.
        places = [p - 1e-9 for p in places]
    sample(np, ndimage, model, places, how, widths)
    return f"to {','.join(map(str, size))} {how} {grid}"


def assert_near(np, got, want, within):
    assert got.dtype == want.dtype and got.shape == want.shape
    if want.dtype.kind != "f":
        assert np.array_equal(got, want)
        return
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.nanmax(np.abs(got.astype(float) - want), initial=0) <= within


def check_boxes(np, volume, whole, rng, n=12):
    """Boxes have the bits of the whole."""
    for start, size in boxes(rng, whole.shape, n):
        got = volume.read(start, size, whole.dtype)
        part = whole[tuple(slice(s, s + k) for s, k in zip(start, size))]
        assert got.tobytes() == part.tobytes(), (start, size)


@pytest.mark.parametrize("seed", range(40))
def test_generated_pipelines_equal_scipy(np, nib, ndimage, tmp_path, seed):
    rng = random.Random(seed + 1000)
    file, model = make_image(np, nib, rng, tmp_path)
    steps = [rng.choice(SPATIAL + POINTWISE)(rng, model)
             for _ in range(rng.choice([0, 1, 2]))]
    known = model.scaled()
    reach = float(np.nanmax(np.abs(known), initial=1e-3))
    steps.append(add_to(np, ndimage, rng, model))
    steps += [rng.choice(SPATIAL)(rng, model)
              for _ in range(rng.choice([0, 1, 2]))]
    if rng.random() < 0.5:
        model.linear(2, 3)
        reach = 2 * reach + 3
        steps.append("linear 2,3")
    text = " | ".join(steps)
    want = model.array.T
    whole = [0] * want.ndim, want.shape
    with Volume.of_file(file) as volume, volume.apply(text) as derived:
        first = derived.read(*whole, want.dtype)
        assert_near(np, first, want, 1e-6 * reach)
        check_boxes(np, derived, first, rng)
    store = tmp_path / "s.zarr"
    run_radio("ingest", "-s", store, "-c", "a", "--tiling", "4,4,4", file)
    for threads in 1, 2, 8:
        with Store(store, threads=threads) as opened, \
             Volume(opened, "a/image") as volume, \
             volume.apply(text) as derived:
            check_boxes(np, derived, first, rng)


def read_exported(nib, file, text, out):
    run_radio("export", file, "--apply", text, "-o", out)
    return nib.load(out)


@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("grid_mode", [True, False])
def test_to_is_scipys_zoom(np, nib, ndimage, tmp_path, how, grid_mode):
    """grid_mode keeps the corners, the default the centres of both ends."""
    data = np.random.default_rng(1).normal(0, 50, (9, 16, 13))
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    size = (18, 11, 20)
    want = ndimage.zoom(
        data, np.divide(size, data.shape), mode="nearest",
        grid_mode=grid_mode,
        order={"nearest": 0, "linear": 1, "cubic": 3}[how])
    got = read_exported(
        nib, file, f"to 18,11,20 {how} {'corner' if grid_mode else 'centre'}",
        tmp_path / "o.nii")
    assert got.shape == want.shape
    if how != "nearest":
        assert np.abs(got.get_fdata() - want).max() < 1e-6 * np.ptp(data)
        return
    # Ties depend on the last bit.
    assert (got.get_fdata() == want).mean() > 0.9


@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("spacing", ["2.03", "0.83,1.7,0.51", "0.47,:,2.1"])
@pytest.mark.parametrize("grid", ["corner", "centre"])
def test_resample_is_simpleitks(np, nib, sitk, tmp_path, how, spacing, grid):
    """The result's own grid, given to SimpleITK, has the same values: so
    spacing, size and origin are those of the voxels."""
    rng = np.random.default_rng(2)
    data = rng.normal(0, 50, (61, 57, 63)).astype(np.float32)
    affine = np.eye(4)
    affine[:3, :3] = [[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]]
    affine[:3, :3] *= [0.9, 1.1, 1.3]
    affine[:3, 3] = [-20, 30, 7]
    file, out = tmp_path / "a.nii", tmp_path / "o.nii"
    nib.save(nib.Nifti1Image(data, affine), file)
    got = read_exported(nib, file, f"resample {spacing} {how} {grid}", out)
    wanted = [float(s) if s != ":" else z for s, z in zip(
        (spacing.split(",") * 3)[:3], (0.9, 1.1, 1.3))]
    assert np.allclose(got.header.get_zooms(), wanted, atol=1e-6)
    assert got.shape == tuple(
        int(np.floor(n * z / s + 0.5))
        for n, z, s in zip(data.shape, (0.9, 1.1, 1.3), wanted))
    ours, source = sitk.ReadImage(str(out)), sitk.ReadImage(str(file))
    kind = {"nearest": sitk.sitkNearestNeighbor, "linear": sitk.sitkLinear,
            "cubic": sitk.sitkBSpline}[how]
    theirs = sitk.Resample(source, ours, sitk.Transform(), kind, 0.0)
    want = sitk.GetArrayFromImage(theirs).T
    # ITK mirrors at borders, and has nothing beyond half a voxel.
    edge = 14 if how == "cubic" else 1
    inner = tuple(
        slice(int(np.ceil(edge * z / s)) + 1,
              n - int(np.ceil(edge * z / s)) - 1)
        for n, z, s in zip(got.shape, (0.9, 1.1, 1.3), wanted))
    difference = np.abs(got.get_fdata() - want)[inner]
    assert difference.size > 0
    if how == "nearest":
        assert (difference == 0).mean() > 0.99
    else:
        # float32 affines.
        assert difference.max() < 1e-5 * np.ptp(data)


def test_landmarks_stay(np, nib, ndimage, tmp_path):
    """The middle of a blob is at the same place in space."""
    affine = np.array([[0, -0.7, 0.1, 30], [1.1, 0, 0, -20],
                       [0, 0.1, 2, 5], [0, 0, 0, 1]])
    shape = np.array((60, 70, 40))
    centre = np.array([27.3, 33.9, 18.4])
    index = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"))
    distance = ((index - centre[:, None, None, None])
                / np.array([6, 7, 4])[:, None, None, None])
    data = np.exp(-(distance ** 2).sum(0) / 2).astype(np.float32)
    data[data < 1e-6] = 0
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, affine), file)

    def landmark(image):
        values = image.get_fdata()
        return nib.affines.apply_affine(
            image.affine, ndimage.center_of_mass(values))

    want = landmark(nib.load(file))
    for i, text in enumerate([
            "resample 1", "resample 1 centre", "resample 0.6,1.5,3 cubic",
            "to 50,61,35", "to 50,61,35 centre", "to 90 cubic",
            "crop 3:,2:,1: | rot90 xz | resample 1.3",
            "resample 1.3 | reorient LPS | crop :,4:,3:",
            "reorient RAS | resample 2,1,1 | flip z | to 44 | pad 3"]):
        got = landmark(read_exported(nib, file, text, tmp_path / f"{i}.nii"))
        assert np.abs(got - want).max() < 0.01, text


def test_what_is_refused_has_one_line(np, nib, tmp_path):
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(np.zeros((4, 5, 6), np.uint8), np.eye(4)), file)
    for text, message in [
            ("resample 0", "byte 9, '0': expected a spacing"),
            ("resample 1,-1,1", "byte 11, '-1': expected a spacing"),
            ("resample nan", "byte 9, 'nan': expected a spacing"),
            ("to 0", "byte 3, '0': expected a shape"),
            ("resample 1e-9", "resample: the result has 1.2e+29 voxels, more "
             "than 2^63 - 1")]:
        done = subprocess.run([RADIO, "info", file, "--apply", text],
                              capture_output=True, text=True)
        assert done.returncode in (1, 2) and message in done.stderr
        assert done.stderr.count("\n") == 1
