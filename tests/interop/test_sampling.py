# SPDX-License-Identifier: MIT
"""Operations that interpolate against SciPy and SimpleITK: generated images,
whole and in boxes at every border, by one thread and by several."""

import random
import subprocess

import pytest
from conftest import RADIO, peer
from test_pipelines import (POINTWISE, SPATIAL, boxes, make_image, run_radio)

from radio_library import RadioError, Store, Volume


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
        if width <= 1:
            first = last = np.clip(np.floor(at + 0.5).astype(int), 0, n - 1)
        else:
            # At borders of voxels the last bit decides.
            first = np.ceil(at - 1e-9 - width / 2).astype(int)
            last = np.ceil(at - 1e-9 + width / 2).astype(int) - 1
            first, last = (np.clip(a, 0, n - 1) for a in (first, last))
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
    size = [rng.choice([1, 2, 5, 11, n, 2 * n, 2 * n - 1])
            for n in model.array.shape[:3]]
    how = rng.choice(["linear", "nearest", "cubic", "majority"])
    has_nan = model.array.dtype.kind == "f" and np.isnan(model.array).any()
    if has_nan and how in ("cubic", "majority"):
        how = "linear"
    grid = rng.choice(["corner", "centre"])
    places = [positions(np, n, s, grid)
              for n, s in zip(model.array.shape, size)]
    widths = [(p[1] - p[0] if len(p) > 1 else n if grid == "corner" else 1)
              for p, n in zip(places, model.array.shape)]
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


@pytest.mark.parametrize("seed", range(10))
def test_one_read_with_an_interpolation_is_the_steps_one_after_the_other(
        np, nib, ndimage, tmp_path, seed):
    """To the last bit, also in boxes at every border, from a store."""
    rng = random.Random(seed + 2000)
    file, model = make_image(np, nib, rng, tmp_path)
    store = tmp_path / "s.zarr"
    run_radio("ingest", "-s", store, "-c", "a", "--tiling", "4,4,4", file)
    steps = [rng.choice(SPATIAL + POINTWISE)(rng, model) for _ in range(2)]
    steps.append(add_to(np, ndimage, rng, model))
    steps += [rng.choice(SPATIAL + POINTWISE)(rng, model) for _ in range(2)]
    for i, step in enumerate(steps):
        out = tmp_path / f"{i}.nii"
        run_radio("export", file, "--apply", step, "-o", out)
        file = out
    with Volume.of_file(file) as volume:
        last = volume.read([0] * model.array.ndim, model.array.T.shape,
                           model.array.dtype)
    with Store(store, threads=2) as opened, \
         Volume(opened, "a/image") as volume, \
         volume.apply(" | ".join(steps)) as derived:
        check_boxes(np, derived, last, rng)


def read_exported(nib, file, text, out):
    out.unlink(missing_ok=True)
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


def turned(np, rng, scales=(1, 1, 1)):
    """A rotation with scales, and a shift."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    map_ = np.eye(4)
    map_[:3, :3] = q @ np.diag(scales)
    map_[:3, 3] = rng.uniform(-3, 3, 3)
    return map_


def make_brain(np, nib, folder, dtype="float32"):
    """Smooth noise with an affine that is oblique."""
    rng = np.random.default_rng(5)
    data = rng.normal(0, 50, (41, 37, 29)).astype(dtype)
    affine = turned(np, rng) @ np.diag([0.9, 1.1, 1.7, 1])
    affine[:3, 3] = [-20, 12, 30]
    file = folder / "image.nii"
    image = nib.Nifti1Image(data, affine)
    nib.save(image, file)
    return file, data, nib.load(file).affine


def test_large_files_are_sampled_by_blocks_to_the_same_bits(
        np, nib, tmp_path):
    """A block has 4 MiB for each thread; what a store has is one block."""
    data = np.random.default_rng(9).normal(0, 50, (160, 240, 151))
    file, store = tmp_path / "image.nii", tmp_path / "s.zarr"
    nib.save(nib.Nifti1Image(data.astype("f4"), np.eye(4)), file)
    run_radio("ingest", "-s", store, "-c", "a", file)
    with Store(store) as opened, Volume(opened, "a/image") as whole, \
         Volume.of_file(file) as blocks:
        for text in ("resample 1.3", "to 43,200,97 cubic", "noise 5",
                     "linear 2,1 | resample 2,1,1 | clamp -50,50"):
            with whole.apply(text) as volume:
                shape = volume.shape()
                want = volume.read([0] * 3, shape, np.float32)
            with blocks.apply(text) as volume:
                got = volume.read([0] * 3, shape, np.float32)
            assert got.tobytes() == want.tobytes(), text
        with blocks.apply("resample 2") as volume:
            halved = volume.read([0] * 3, [76, 120, 80], np.float32)
    means = data[:, :, :150].reshape(80, 2, 120, 2, 75, 2).mean((1, 3, 5))
    assert np.abs(halved[:75] - means.T).max() < 1e-4


def sample_at(np, ndimage, data, where, how, value):
    """An image at positions x, y, z; a value outside of its voxels."""
    shape = np.array(data.shape)[:, None, None, None]
    outside = ((where < -0.5) | (where >= shape - 0.5)).any(0)
    where = np.clip(where, 0, shape - 1)
    if how == "nearest":
        at = np.floor(where + 0.5).astype(int)
        got = data[tuple(at)]
    else:
        got = ndimage.map_coordinates(
            data.astype(float), where, mode="nearest",
            order={"linear": 1, "cubic": 3}[how])
    return np.where(outside, value, got)


def assert_near_inside(np, got, theirs, data, how, where):
    """ITK's splines mirror the image at its borders; what is outside is a
    matter of the last bit."""
    shape = np.array(data.shape)[:, None, None, None]
    edge = 10 if how == "cubic" else -1
    inside = ((where >= edge) & (where <= shape - 1 - edge)).all(0)
    near = np.abs(got - theirs) <= 1e-5 * np.ptp(data)
    assert not inside.any() or near[inside].mean() > 0.999


def places_of(np, matrix, shape):
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"))
    return (np.einsum("ij,jxyz->ixyz", matrix[:3, :3], grid)
            + matrix[:3, 3][:, None, None, None])


def check_all(np, tmp_path, file, text, want, within):
    """A file and a store, boxes, and threads."""
    rng = random.Random(text)
    want = want.T
    with Volume.of_file(file) as volume, volume.apply(text) as derived:
        first = derived.read([0] * 3, want.shape, np.float32)
        bad = np.abs(first - want) > within
        # At the image's border the last bit decides what is outside.
        assert bad.mean() < 1e-4, np.abs(first - want).max()
        check_boxes(np, derived, first, rng)
        # Planes, of which some are within the outer half of an edge alone.
        for axis, n in enumerate(want.shape):
            for i in range(n):
                start, size = [0] * 3, list(want.shape)
                start[axis], size[axis] = i, 1
                got = derived.read(start, size, np.float32)
                assert got.tobytes() == first.take([i], axis).tobytes()
    store = tmp_path / "s.zarr"
    if not store.exists():
        run_radio("ingest", "-s", store, "-c", "a", "--tiling", "8,8,8", file)
    for threads in 1, 3, 8:
        with Store(store, threads=threads) as opened, \
             Volume(opened, "a/image") as volume, \
             volume.apply(text) as derived:
            check_boxes(np, derived, first, rng)
    return first


@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
def test_affine_is_scipys_and_simpleitks(
        np, nib, ndimage, sitk, tmp_path, how):
    file, data, affine = make_brain(np, nib, tmp_path)
    rng = np.random.default_rng(6)
    for centre in "", " about centre":
        map_ = turned(np, rng, (1.1, 0.8, 1))
        words = ",".join(repr(float(v)) for v in map_[:3].ravel())
        text = f"affine {words} {how} by -7{centre}"
        world = map_.copy()
        middle = affine @ [*((np.array(data.shape) - 1) / 2), 1]
        if centre:
            world[:3, 3] += middle[:3] - map_[:3, :3] @ middle[:3]
        matrix = np.linalg.inv(affine) @ world @ affine
        want = sample_at(np, ndimage, data, places_of(np, matrix, data.shape),
                         how, -7)
        got = check_all(np, tmp_path, file, text, want,
                        0 if how == "nearest" else 1e-6 * np.ptp(data))
        # ITK's space has x and y reversed.
        source = sitk.ReadImage(str(file))
        lps = np.diag([-1, -1, 1, 1])
        itk = lps @ world @ lps
        transform = sitk.AffineTransform(3)
        transform.SetMatrix(itk[:3, :3].ravel())
        transform.SetTranslation(itk[:3, 3])
        kind = {"nearest": sitk.sitkNearestNeighbor,
                "linear": sitk.sitkLinear, "cubic": sitk.sitkBSpline}[how]
        theirs = sitk.GetArrayFromImage(
            sitk.Resample(source, source, transform, kind, -7.0))
        assert_near_inside(
            np, got.T, theirs.T, data, how,
            places_of(np, matrix, data.shape))


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int16"])
@pytest.mark.parametrize("case", [
    "turned", "backward", "along x", "still", "flat", "far"])
def test_long_rows_have_the_bits_of_short_ones(
        np, nib, ndimage, tmp_path, dtype, case):
    """Also where rows do not move along an axis, or end at the last voxel."""
    rng = np.random.default_rng(9)
    shape = (150, 23, 1 if case == "flat" else 19)
    data = rng.integers(0, 200, shape).astype(dtype)
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    map_ = np.eye(4)
    if case in ("turned", "flat", "far"):
        c, s = np.cos(0.1), np.sin(0.1)
        map_[:2, :2] = [[c, -s], [s, c]]
        map_[:2, 3] = [3.3, -5.1]
    elif case == "backward":
        map_[0, 0], map_[0, 3] = -0.9, 140
    elif case == "along x":
        map_[0, 0], map_[1, 0] = 0.7, 0.01
    if case == "far":
        map_[0, 0] = 1e9
    words = ",".join(repr(float(v)) for v in map_[:3].ravel())
    wide = "float32" if dtype in ("uint8", "int16") else dtype
    for how in "nearest", "linear", "cubic":
        got_type = dtype if how == "nearest" else wide
        with Volume.of_file(file) as volume, \
             volume.apply(f"affine {words} {how} by 3") as derived:
            whole = derived.read([0] * 3, shape[::-1], got_type)
            check_boxes(np, derived, whole, random.Random(1), 20)
            slow = np.stack([derived.read(
                [0, 0, x], [*shape[:0:-1], 1], got_type)[..., 0]
                for x in range(shape[0])], -1)
            assert slow.tobytes() == whole.tobytes()
        if case != "far":
            want = sample_at(np, ndimage, data,
                             places_of(np, map_, data.shape), how, 3).T
            near = np.abs(whole.astype(float) - want) <= 1e-5 * 200
            # What is at a border depends on the last bit.
            assert near.mean() > (0.99 if how == "nearest" else 0.999)


def test_quarters_of_a_turn_pick_voxels(np, nib, tmp_path):
    """Also NaN: a voxel of weight 0 does not count."""
    data = np.random.default_rng(1).normal(size=(9, 9, 5)).astype(np.float32)
    data[4, 4, 2] = np.nan
    data[0, 3, 1] = np.inf
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    turn = "affine 6e-17,-1,0,0,1,6e-17,0,0,0,0,1,0 about centre"
    for how in "linear", "nearest", "cubic":
        got = read_exported(nib, file, f"{turn} {how}", tmp_path / "o.nii")
        assert np.array_equal(got.dataobj, np.rot90(data, -1), equal_nan=True)


@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("kind", ["oblique", "sheared", "parallel", "turned",
                                  "apart"])
def test_like_is_the_grid_of_another(
        np, nib, ndimage, sitk, tmp_path, how, kind):
    file, data, affine = make_brain(np, nib, tmp_path)
    rng = np.random.default_rng(7)
    shape = (23, 30, 17)
    if kind == "oblique":
        other = turned(np, rng) @ np.diag([1.2, 0.9, 1.6, 1])
        other[:3, 3] = affine[:3, 3]
    elif kind == "sheared":
        other = affine @ turned(np, rng, (1.3, 0.9, 1.2))
    elif kind == "apart":
        other = affine.copy()
        other[:3, 3] += 500
    else:
        # x against z, y reversed.
        voxels = np.array([[0, 0, 1.37, 2.3], [0, -0.71, 0, 29.2],
                           [0.83, 0, 0, -4.4], [0, 0, 0, 1]])
        if kind == "parallel":
            voxels = np.diag([1.37, 0.71, 0.83, 1])
            voxels[:3, 3] = [-3.3, 20.2, 0.4]
        other = affine @ voxels
    like = tmp_path / "like.nii"
    nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), other), like)
    other = nib.load(like).affine
    matrix = np.linalg.inv(affine) @ other
    want = sample_at(np, ndimage, data, places_of(np, matrix, shape), how, 3)
    # In float32 affines right angles are not exact.
    check_all(np, tmp_path, file, f"like {like} {how} by 3", want,
              (0 if how == "nearest" else 3e-6) * np.ptp(data))
    got = read_exported(nib, file, f"like {like} {how} by 3",
                        tmp_path / "o.nii")
    assert np.allclose(got.affine, other, atol=1e-5)
    assert np.allclose(got.header.get_zooms(),
                       nib.load(like).header.get_zooms())
    if kind == "sheared":
        return                        # ITK refuses the file
    kinds = {"nearest": sitk.sitkNearestNeighbor, "linear": sitk.sitkLinear,
             "cubic": sitk.sitkBSpline}
    theirs = sitk.GetArrayFromImage(sitk.Resample(
        sitk.ReadImage(str(file)), sitk.ReadImage(str(like)),
        sitk.Transform(), kinds[how], 3.0)).T
    assert_near_inside(np, got.get_fdata(), theirs, data, how,
                       places_of(np, matrix, shape))


def test_like_names_a_volume_of_the_store_or_a_file(np, nib, tmp_path):
    store = tmp_path / "s.zarr"
    for name, shape in ("a", (9, 8, 7)), ("b", (5, 4, 3)), ("c", (3, 3, 3)):
        nib.save(nib.Nifti1Image(np.ones(shape, np.int16), np.eye(4)),
                 tmp_path / f"{name}.nii")
    run_radio("ingest", "-s", store, "-c", "x", tmp_path / "a.nii",
              tmp_path / "b.nii")
    for like, shape in ("x/b", "5 x 4 x 3"), (tmp_path / "c.nii", "3 x 3 x 3"):
        text = run_radio("info", "-s", store, "x/a", "--apply",
                         f"like {like} nearest")
        assert shape in text and f"like {like} nearest\n" in text
    done = subprocess.run(
        [RADIO, "info", "-s", store, "x/a", "--apply", "like x/d"],
        capture_output=True, text=True)
    assert done.returncode == 1 and "operation 1 of the pipeline, like: " in (
        done.stderr)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("grid", ["corner", "centre"])
def test_smooth_is_scipys_gaussian(np, nib, ndimage, tmp_path, grid):
    data = np.random.default_rng(9).normal(0, 50, (31, 20, 17))
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.diag([0.5, 1, 2, 1])), file)
    want = ndimage.gaussian_filter(data, [3, 1.5, 0.75], mode="nearest")
    got = read_exported(nib, file, "smooth 1.5", tmp_path / "o.nii")
    assert np.abs(got.get_fdata() - want).max() < 1e-9 * np.ptp(data)
    want = ndimage.gaussian_filter(data, [0, 2, 0], mode="nearest")
    got = read_exported(nib, file, "smooth :,2,:", tmp_path / "o.nii")
    assert np.abs(got.get_fdata() - want).max() < 1e-9 * np.ptp(data)
    # The width of a voxel is taken for its width at half maximum.
    size = (10, 20, 30)
    sigma = [np.sqrt((k * k - 1) / (8 * np.log(2))) if k > 1 else 0
             for k in ((n / s if grid == "corner" else (n - 1) / (s - 1))
                       for n, s in zip(data.shape, size))]
    smoothed = ndimage.gaussian_filter(data, sigma, mode="nearest")
    where = np.stack(np.meshgrid(
        *[positions(np, n, s, grid) for n, s in zip(data.shape, size)],
        indexing="ij"))
    for how, order in ("linear", 1), ("cubic", 3):
        want = ndimage.map_coordinates(smoothed, where, order=order,
                                       mode="nearest")
        got = read_exported(nib, file, f"to 10,20,30 {how} {grid} smooth",
                            tmp_path / "o.nii")
        difference = np.abs(got.get_fdata() - want)
        if how == "linear":
            assert difference.max() < 1e-6 * np.ptp(data)
        # At borders SciPy's prefilter continues the smoothed image, not the
        # image.
        shape = np.array(data.shape)[:, None, None, None]
        inside = ((where >= 7.5) & (where <= shape - 8.5)).all(0)
        assert inside.any()
        assert difference[inside].max() < 1e-4 * np.ptp(data)


def test_cubic_has_the_error_that_is_stated(np, nib, ndimage, tmp_path):
    """Of signs, which are far from what a cut prefilter gets right."""
    signs = np.random.default_rng(7).choice([-1., 1.], (48, 48, 48))
    file = tmp_path / "i.nii"
    nib.save(nib.Nifti1Image(signs, np.eye(4)), file)
    for shifts, bound in ((.5, 0, 0), 2.8e-7), ((.5, .5, .5), 2e-6):
        matrix = ",".join(f"{','.join('01'[i == j] for j in range(3))},{shift}"
                          for i, shift in enumerate(shifts))
        got = read_exported(nib, file, f"affine {matrix} cubic",
                            tmp_path / "o.nii")
        want = ndimage.shift(signs, np.multiply(shifts, -1), order=3,
                             mode="nearest")
        difference = np.abs(got.get_fdata() - want)[16:-16, 16:-16, 16:-16]
        assert difference.max() <= bound


@pytest.mark.parametrize("seed", range(12))
def test_interpolations_after_another_are_one(
        np, nib, ndimage, tmp_path, seed):
    """Of the image itself, at the places that the grids have in it."""
    rng = random.Random(seed)
    file, data, _ = make_brain(np, nib, tmp_path)
    how = rng.choice(["linear", "cubic", "nearest"])
    blur = how != "nearest" and rng.random() < 0.5
    grid = rng.choice(["corner", "centre"])
    values, steps = data.astype(float), []
    if blur:
        values = ndimage.gaussian_filter(values, [1 / 0.9, 1 / 1.1, 1 / 1.7],
                                         mode="nearest")
        steps.append("smooth 1")
    # Where the voxels are, and the axis of the image along each.
    places = [np.arange(n, dtype=float) for n in data.shape]
    axes = [0, 1, 2]
    for _ in range(3):
        size = [rng.choice([8, 15, 30, 44]) for _ in range(3)]
        at = [positions(np, len(p), s, grid) for p, s in zip(places, size)]
        # Beyond the ends of a grid the places go on as they do in it.
        places = [p[0] + a * (p[1] - p[0]) for p, a in zip(places, at)]
        steps.append(f"to {','.join(map(str, size))} {how} {grid}")
        if rng.random() < 0.5:
            places[0] = places[0][::-1]
            steps.append("flip x")
        if rng.random() < 0.5:
            places[1] = places[1][3:]
            steps.append("crop :,3:,:")
        if rng.random() < 0.5:
            places[0], places[2] = places[2], places[0]
            axes[0], axes[2] = axes[2], axes[0]
            steps += ["rot90 xz", "flip x"]
    where = [None] * 3
    for axis, p in zip(axes, places):
        where[axis] = p if how == "cubic" else np.clip(
            p, 0, data.shape[axis] - 1)
    grids = np.meshgrid(*where, indexing="ij")
    if how == "nearest":
        want = data[tuple(np.floor(g + 0.5).astype(int) for g in grids)]
    else:
        want = ndimage.map_coordinates(values, grids, mode="nearest",
                                       order={"linear": 1, "cubic": 3}[how])
    order = [axes.index(axis) for axis in range(3)]
    want = np.moveaxis(want, range(3), order)
    text = " | ".join(steps)
    got = read_exported(nib, file, text, tmp_path / "o.nii").get_fdata()
    assert got.shape == want.shape
    near = np.abs(got - want) <= 1e-5 * np.ptp(data)
    if how == "nearest":
        assert near.mean() > 0.8              # ties
    elif how == "cubic" and blur:
        # Prefilters continue other edges.
        near = np.abs(got - want) <= 0.02 * np.ptp(data)
        assert near.all()
    else:
        assert near.all()
    with Volume.of_file(file) as volume, volume.apply(text) as derived:
        whole = derived.read([0] * 3, want.T.shape, np.float32)
        check_boxes(np, derived, whole, rng)


@pytest.mark.parametrize("how", ["linear", "cubic"])
@pytest.mark.parametrize("blur", [0, 5])
def test_what_is_beyond_the_image_continues_its_edges(
        np, nib, ndimage, tmp_path, how, blur):
    """A spline or a Gaussian reaches far beyond them."""
    rng = np.random.default_rng(3)
    data = rng.normal(size=(24, 5, 4)).astype("f4")
    nib.save(nib.Nifti1Image(data, np.eye(4)), tmp_path / "a.nii")
    text = f"resample 10,1,1 {how} centre | resample 0.5,1,1 {how} corner"
    # The middle of the first voxel of the second grid is 4.75 before that of
    # the image, and its last one is beyond the other end.
    values = data.astype(float)
    if blur:
        text = f"smooth {blur},:,: | {text}"
        wide = np.pad(data.astype(float), [(60, 60), (0, 0), (0, 0)], "edge")
        values = ndimage.gaussian_filter1d(wide, blur, 0)[20:-20]
    else:
        values = np.pad(values, [(40, 40), (0, 0), (0, 0)], "edge")
    got = read_exported(nib, tmp_path / "a.nii", text,
                        tmp_path / "o.nii").get_fdata()
    at = -4.75 + 0.5 * np.arange(len(got)) + 40
    grids = np.meshgrid(at, np.arange(5), np.arange(4), indexing="ij")
    want = ndimage.map_coordinates(values, grids, mode="nearest",
                                   order={"linear": 1, "cubic": 3}[how])
    assert len(got) > 30
    assert np.abs(got - want).max() <= 1e-5 * np.ptp(data)


def test_a_single_voxel_has_a_spacing(np, nib, tmp_path):
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(np.arange(30, dtype="f4").reshape(5, 6, 1),
                             np.diag([1, 1, 2, 1])), file)
    image = read_exported(nib, file, "to 5,6,4 centre", tmp_path / "o.nii")
    assert np.allclose(image.affine, [[1, 0, 0, 0], [0, 1, 0, 0],
                                      [0, 0, 0.5, -0.75], [0, 0, 0, 1]])
    assert (image.get_fdata() == nib.load(file).get_fdata()).all()


@pytest.mark.parametrize("first, second", [
    ("to 20,37,29", "to 41,37,29 cubic"), ("to 41,37,15 cubic", "to 20"),
    ("to 20 nearest", "to 41"), ("to 20,37,29", "smooth 2"),
    ("to 20", "clamp -1,1 | to 41"), ("to 20", "pad 1 edge | to 41"),
    ("smooth 1", "to 20 majority"),
    ("affine 0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,0 about centre",
     "to 20 nearest")])
def test_other_interpolations_are_of_the_result_before(
        np, nib, tmp_path, first, second):
    file, _, _ = make_brain(np, nib, tmp_path)
    read_exported(nib, file, first, tmp_path / "first.nii")
    want = read_exported(nib, tmp_path / "first.nii", second,
                         tmp_path / "want.nii")
    got = read_exported(nib, file, f"{first} | {second}",
                        tmp_path / "got.nii")
    assert np.allclose(got.affine, want.affine, atol=1e-4)
    assert np.allclose(got.get_fdata(), want.get_fdata(), atol=2e-3)


def test_asynchronous_reads_end_early(np, nib, tmp_path):
    file, data, _ = make_brain(np, nib, tmp_path)
    size = [29, 37, 41]
    with Volume.of_file(file) as volume, \
         volume.apply("to 41,37,29 cubic | smooth 2 | flip x") as derived:
        want = derived.read([0] * 3, size, np.float32)
        read = derived.start_read([0] * 3, size, np.float32)
        read.wait()
        assert np.array_equal(read.out, want)
    with Volume.of_file(file) as volume, \
         volume.apply("to 3000,3000,300 cubic") as derived:
        read = derived.start_read([0] * 3, [9, 3000, 3000], np.float32,
                                  deadline_ms=20)
        with pytest.raises(RadioError, match="not done after 20 ms"):
            read.wait()
        read = derived.start_read([0] * 3, [9, 3000, 3000], np.float32)
        read.cancel()
        with pytest.raises(RadioError, match="cancelled"):
            read.wait()


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

    like = tmp_path / "like.nii"
    nib.save(nib.Nifti1Image(
        np.zeros((70, 60, 80), np.uint8),
        [[1, 0.2, 0, -30], [-0.2, 1.1, 0, -25], [0, 0, 1.2, 0],
         [0, 0, 0, 1]]), like)
    want = landmark(nib.load(file))
    for i, text in enumerate([
            "resample 1", "resample 1 centre", "resample 0.6,1.5,3 cubic",
            "to 50,61,35", "to 50,61,35 centre", "to 90 cubic",
            "crop 3:,2:,1: | rot90 xz | resample 1.3",
            "resample 1.3 | reorient LPS | crop :,4:,3:",
            f"like {like}", f"like {like} cubic | flip x", "smooth 1.2",
            "reorient RAS | resample 2,1,1 | flip z | to 44 | pad 3"]):
        got = landmark(read_exported(nib, file, text, tmp_path / f"{i}.nii"))
        assert np.abs(got - want).max() < 0.01, text


def write_rows(np, nib, file, data, rows=None, spacing=None):
    """An image with any affine (sform), or by spacings alone: nibabel refuses
    some."""
    nib.save(nib.Nifti1Image(data, np.diag([2, 3, 4, 1])), file)
    content = bytearray(file.read_bytes())
    content[252:256] = bytes([0, 0, spacing is None, 0])
    if rows is not None:
        content[280:328] = np.array(rows, "<f4").tobytes()
    if spacing is not None:
        content[80:92] = np.array(spacing, "<f4").tobytes()
    file.write_bytes(content)


@pytest.mark.parametrize("rows, spacing, is_usable", [
    ([[0] * 4] * 3, None, False),
    ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 5]], None, False),
    ([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]], None, False),
    ([["nan", 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], None, False),
    ([[1, 0, 0, 0], [0, 1, 0, "inf"], [0, 0, 1, 0]], None, False),
    ([[1, 0.5, 0, 0], [0.7, -1, 0, 0], [0, 2, 1, 0]], None, True),
    ([[1e-38, 0, 0, 0], [0, 1e-38, 0, 0], [0, 0, 1e-38, 0]], None, True),
    (None, [0, 0, 0], True), (None, ["nan", -2, "inf"], True)])
def test_what_needs_no_affine_is_done_without_one(
        np, nib, tmp_path, rows, spacing, is_usable):
    """Affines that are singular, not finite or sheared, and spacings of 0."""
    data = np.random.default_rng(1).normal(size=(4, 5, 6)).astype("f4")
    good, odd = tmp_path / "good.nii", tmp_path / "odd.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), good)
    write_rows(np, nib, odd, data, rows, spacing)
    for text in ("to 7,3,9 cubic", "flip x | pad 1,2,3 edge | rot90 yz",
                 "to 8 majority | linear 2,1"):
        want = read_exported(nib, good, text, tmp_path / "want.nii")
        with Volume.of_file(odd) as volume, volume.apply(text) as derived:
            got = derived.read([0] * 3, want.shape[::-1], want.dataobj.dtype)
        assert np.array_equal(got.T, want.dataobj)
    for text in ("reorient LPS", f"like {good}",
                 "affine 1,0.1,0,1,0,1,0,0,0,0,1,0 cubic"):
        with Volume.of_file(odd) as volume:
            if is_usable:
                with volume.apply(text) as derived:
                    derived.read([0] * 3, derived.shape(), np.float32)
            else:
                with pytest.raises(RadioError, match="singular or not fin"):
                    volume.apply(text)
    for text in "resample 1", "resample 1.5 centre smooth", "smooth 1":
        with Volume.of_file(odd) as volume, volume.apply(text) as derived:
            got = derived.read([0] * 3, derived.shape(), np.float32)
            assert np.isfinite(got).all()


def test_what_is_refused_has_one_line(np, nib, tmp_path):
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(np.zeros((4, 5, 6), np.uint8), np.eye(4)), file)
    # Its affine is not finite, so radio info has another one.
    lost = tmp_path / "lost.nii"
    image = nib.Nifti1Image(np.zeros((4, 5, 6), np.uint8), np.eye(4))
    image.header["srow_x"] = np.nan
    nib.save(image, lost)
    content = bytearray(lost.read_bytes())
    content[280:284] = np.float32(np.nan).tobytes()
    content[252:254] = b"\0\0"
    lost.write_bytes(content)
    done = subprocess.run([RADIO, "info", lost, "--apply", f"like {file}"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert "the image's affine is singular or not finite" in done.stderr
    for text, message in [
            ("resample 0", "byte 9, '0': expected a spacing"),
            ("resample 1,-1,1", "byte 11, '-1': expected a spacing"),
            ("resample nan", "byte 9, 'nan': expected a spacing"),
            ("to 0", "byte 3, '0': expected a shape"),
            ("smooth 1e7", "smooth: x: smoothing by 1e+07 voxels reaches"),
            ("affine 1,0,0,0,0,1,0,0,1,1,0,0", "byte 7, '1,0,0,0,0,1,0,0,1,1,"
             "0,0': the matrix is singular"),
            ("affine 1,0,0,0,0,1,0,0,0,0,nan,0", "byte 27, 'nan': expected a "
             "number"),
            ("resample 1 nearest smooth", "byte 19, 'smooth': nearest takes "
             "voxels as they are"),
            ("like /nowhere.nii", "like: /nowhere.nii"),
            ("like https://host/a.nii?sig=SECRET", "byte 5: a URL with a "
             "query, which may be secret"),
            (f"like {lost}", f"the affine of '{lost}' is singular or not"),
            (" | ".join(["znorm"] * 65), "operation 65 of the pipeline, "
             "znorm: more than 64 operations that need a statistic"),
            ("resample 1e-9", "resample: the result has 1.2e+29 voxels, more "
             "than 2^63 - 1")]:
        done = subprocess.run([RADIO, "info", file, "--apply", text],
                              capture_output=True, text=True)
        assert done.returncode in (1, 2) and message in done.stderr
        assert done.stderr.count("\n") == 1 and "SECRET" not in done.stderr
