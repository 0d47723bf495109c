# SPDX-License-Identifier: MIT
"""Interpolations that follow each other are one: of the image itself, at the
places that their maps give together.  The model multiplies 4 x 4 matrices."""

import json
import random
import subprocess

import pytest
from conftest import RADIO
from test_sampling import (check_all, check_boxes, ndimage,  # noqa: F401
                           places_of, positions, read_exported, sitk, turned)

from radio_library import Volume

ORDER = {"linear": 1, "cubic": 3}
SHAPE = (41, 37, 29)


class Chain:
    """What a pipeline has made of an image's grid so far."""

    def __init__(self, np, data, affine):
        self.np, self.data = np, data
        self.affine = affine              # of the grid
        self.place = np.eye(4)            # of its voxels in the image
        self.fields = []                  # (place in a grid, its shape)
        self.shape = data.shape
        self.steps = []

    def move(self, text, map_, shape):
        """The new grid's voxels are where map_ says in the one before."""
        self.steps.append(text)
        self.place = self.place @ map_
        self.fields = [(field @ map_, size) for field, size in self.fields]
        self.shape = tuple(int(n) for n in shape)

    def cut(self, text, map_, shape):
        """The same; what is outside of the grid before is a value."""
        before = self.shape
        self.move(text, map_, shape)
        self.fields.append((map_, before))

    def transform(self, map_, words):
        """The operation affine."""
        text = ",".join(repr(float(v)) for v in map_[:3].ravel())
        world = map_.copy()
        if "about centre" in words:
            middle = self.affine @ [*((self.np.array(self.shape) - 1) / 2), 1]
            world[:3, 3] += middle[:3] - map_[:3, :3] @ middle[:3]
        inverse = self.np.linalg.inv(self.affine)
        self.cut(f"affine {text} {words}", inverse @ world @ self.affine,
                 self.shape)

    def like(self, file, image, words):
        self.cut(f"like {file} {words}",
                 self.np.linalg.inv(self.affine) @ image.affine, image.shape)
        self.affine = image.affine

    def to(self, size, grid, words):
        map_ = self.np.eye(4)
        for axis, (n, s) in enumerate(zip(self.shape, size)):
            at = positions(self.np, n, s, grid)
            map_[axis, axis], map_[axis, 3] = at[1] - at[0], at[0]
        self.turn(f"to {','.join(map(str, size))} {grid} {words}", map_, size)

    def turn(self, text, map_, shape):
        self.move(text, map_, shape)
        self.affine = self.affine @ map_

    def shuffle(self, rng):
        """A flip, a crop or a turn, or none of them."""
        map_, shape = self.np.eye(4), list(self.shape)
        kind = rng.choice(["flip", "crop", "turn", "none"])
        if kind == "flip":
            map_[0, 0], map_[0, 3] = -1, shape[0] - 1
            self.turn("flip x", map_, shape)
        elif kind == "crop":
            map_[1, 3] = 3
            shape[1] -= 3
            self.turn("crop :,3:,:", map_, shape)
        elif kind == "turn":
            self.turn("rot90 xz | flip x", map_[[2, 1, 0, 3]],
                      shape[::-1])

    def want(self, ndimage, how, value, continues=False):
        """The voxels, and those that are outside.  Splines along axes continue
        beyond the edges."""
        np = self.np
        where = places_of(np, self.place, self.shape)
        outside = np.zeros(self.shape, bool)
        for field, size in self.fields:
            at = places_of(np, field, self.shape)
            end = np.array(size)[:, None, None, None] - 0.5
            outside |= ((at < -0.5) | (at >= end)).any(0)
        if not continues:
            last = np.array(self.data.shape)[:, None, None, None] - 1
            where = np.clip(where, 0, last)
        if how == "nearest":
            got = self.data[tuple(np.floor(where + 0.5).astype(int))]
        else:
            got = ndimage.map_coordinates(self.data.astype(float), where,
                                          mode="nearest", order=ORDER[how])
        return np.where(outside, value, got), outside

    def text(self):
        return " | ".join(self.steps)


def make_image(np, nib, folder, kind, data=None):
    rng = np.random.default_rng(5)
    if data is None:
        data = rng.normal(0, 50, SHAPE).astype(np.float32)
    affine = (turned(np, rng) if kind == "turned" else np.eye(4)) @ np.diag(
        [0.9, 1.1, 1.7, 1])
    affine[:3, 3] = [-20, 12, 30]
    file = folder / "image.nii"
    nib.save(nib.Nifti1Image(data, affine), file)
    return file, data, nib.load(file).affine


def a_map(np, numbers, kind):
    """Of space: a small turn, or scales along the axes."""
    if kind == "parallel":
        map_ = np.diag([*numbers.uniform(0.7, 1.3, 3), 1])
    else:
        turn = numbers.normal(0, 0.2, (3, 3))
        q, _ = np.linalg.qr(np.eye(3) + turn - turn.T)
        map_ = np.eye(4)
        map_[:3, :3] = q @ np.diag(np.sign(np.diag(q)))
        map_[:3, :3] *= numbers.uniform(0.8, 1.2, 3)
    map_[:3, 3] = numbers.uniform(-4, 4, 3)
    return map_


def make_chain(np, nib, folder, rng, chain, words, kind):
    numbers = np.random.default_rng(rng.randrange(1000))
    for i in range(3):
        step = rng.choice(["affine", "like", "to"]) if i else "affine"
        if step == "affine":
            chain.transform(a_map(np, numbers, kind), words
                            + rng.choice(["", " about centre"]))
        elif step == "to":
            chain.to([rng.choice([19, 33, 46]) for _ in range(3)],
                     rng.choice(["corner", "centre"]), words.split()[0])
        else:
            file = folder / f"like{i}.nii"
            size = [rng.choice([23, 34, 44]) for _ in range(3)]
            scale = np.diag([*np.divide(chain.shape, size), 1])
            nib.save(nib.Nifti1Image(
                np.zeros(size, np.uint8),
                a_map(np, numbers, kind) @ chain.affine @ scale), file)
            chain.like(file, nib.load(file), words)
        chain.shuffle(rng)


def count_interpolations(store, text):
    done = subprocess.run(
        [RADIO, "info", "-s", store, "a/image", "--json", "--apply", text],
        capture_output=True, text=True, check=True)
    info = json.loads(done.stdout)
    return (info[0] if isinstance(info, list) else info)["interpolation_count"]


@pytest.mark.parametrize("kind", ["turned", "parallel", "mixed"])
@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("seed", range(2))
def test_chains_are_scipys_at_the_composed_places(
        np, nib, ndimage, tmp_path, kind, how, seed):  # noqa: F811
    """In boxes and planes at every border, by files and stores, by 1 to 8
    threads."""
    rng = random.Random(f"{kind} {how} {seed}")
    file, data, affine = make_image(np, nib, tmp_path, kind)
    chain = Chain(np, data, affine)
    if kind != "turned" and rng.random() < 0.5:
        # Its edges continue where an affine does not cut them.
        chain.to([28, 30, 33], "centre", how)
    make_chain(np, nib, tmp_path, rng, chain, f"{how} by -7",
               "turned" if kind == "mixed" else kind)
    text = chain.text()
    want, outside = chain.want(ndimage, how, -7,
                               (how, kind) == ("cubic", "parallel"))
    assert not outside.all()
    check_all(np, tmp_path, file, text, want,
              0 if how == "nearest" else 1e-5 * np.ptp(data))
    assert count_interpolations(tmp_path / "s.zarr", text) == 1
    got = read_exported(nib, file, text, tmp_path / "o.nii")
    assert np.allclose(got.affine, chain.affine, atol=1e-4)


@pytest.mark.parametrize("how", ["nearest", "linear", "cubic"])
def test_chains_are_simpleitks_composite_transforms(
        np, nib, sitk, tmp_path, how):  # noqa: F811
    """Resampled, turned, turned again and brought to another grid."""
    rng = np.random.default_rng(8)
    file, data, affine = make_image(np, nib, tmp_path, "turned")
    chain = Chain(np, data, affine)
    chain.to([50, 40, 45], "corner", how)
    maps = [a_map(np, rng, "turned") for _ in range(2)]
    for map_ in maps:
        chain.transform(map_, how)
    other = tmp_path / "like.nii"
    nib.save(nib.Nifti1Image(np.zeros((33, 31, 35), np.uint8),
                             chain.affine @ np.diag([1.4, 1.2, 1.3, 1])),
             other)
    chain.like(other, nib.load(other), how)
    lps, transform = np.diag([-1, -1, 1, 1]), sitk.CompositeTransform(3)
    # The last one that is added is applied first: to places of the result.
    for map_ in maps:
        itk = lps @ map_ @ lps
        one = sitk.AffineTransform(3)
        one.SetMatrix(itk[:3, :3].ravel())
        one.SetTranslation(itk[:3, 3])
        transform.AddTransform(one)
    kind = {"nearest": sitk.sitkNearestNeighbor,
            "linear": sitk.sitkLinear, "cubic": sitk.sitkBSpline}[how]
    theirs = sitk.GetArrayFromImage(sitk.Resample(
        sitk.ReadImage(str(file)), sitk.ReadImage(str(other)), transform,
        kind, 0.0)).T
    image = read_exported(nib, file, chain.text(), tmp_path / "o.nii")
    assert np.allclose(image.affine, nib.load(other).affine, atol=1e-5)
    # ITK's splines mirror the image at its borders.
    where = places_of(np, chain.place, chain.shape)
    edge = 10 if how == "cubic" else 0
    inside = ((where >= edge) & (where <= np.array(
        data.shape)[:, None, None, None] - 1 - edge)).all(0)
    for field, size in chain.fields:
        at = places_of(np, field, chain.shape)
        inside &= ((at >= 0) & (at <= np.array(
            size)[:, None, None, None] - 1)).all(0)
    assert inside.sum() > 500
    near = np.abs(image.get_fdata() - theirs) <= 1e-5 * np.ptp(data)
    # Ties of nearest depend on the last bit.
    assert near[inside].mean() > 0.999


def run_steps(np, nib, file, steps, folder):
    """The result of each operation by itself, of the one before."""
    for i, step in enumerate(steps):
        read_exported(nib, file, step, folder / f"step{i}.nii")
        file = folder / f"step{i}.nii"
    return nib.load(file)


@pytest.mark.parametrize("how", ["nearest", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_one_interpolation_is_the_steps_within_the_stated_bound(
        np, nib, ndimage, tmp_path, how, seed):  # noqa: F811
    """They differ by no more than the image's own voxels around, within a voxel
    of the grid between; not at all where these rise evenly."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 50, SHAPE).astype(np.float32)
    rising = sum(k * x for k, x in zip(
        (3.0, -2.0, 5.0), np.meshgrid(*map(np.arange, SHAPE),
                                      indexing="ij"))).astype(np.float32)
    for data in noise, rising:
        file, _, affine = make_image(np, nib, tmp_path, "turned", data)
        chain = Chain(np, data, affine)
        first = (chain.transform if seed else
                 lambda m, w: chain.to([31, 40, 25], "corner", how))
        first(a_map(np, rng, "turned"), f"{how} about centre")
        chain.turn("flip x", np.array(
            [[-1, 0, 0, chain.shape[0] - 1], [0, 1, 0, 0], [0, 0, 1, 0],
             [0, 0, 0, 1]]), chain.shape)
        # Of the grid between: where its voxels are, and how far apart.
        between = chain.place
        chain.transform(a_map(np, rng, "turned"), f"{how} about centre")
        fused = read_exported(nib, file, chain.text(), tmp_path / "o.nii")
        steps = run_steps(np, nib, file, chain.steps, tmp_path)
        assert np.allclose(fused.affine, steps.affine, atol=1e-4)
        difference = np.abs(fused.get_fdata() - steps.get_fdata())
        # A voxel of the result is of those around it between, they are of
        # those around them.
        reach = np.ceil(np.abs(between[:3, :3]).sum(1)).astype(int) + 1
        width = tuple(2 * reach + 1)
        span = (ndimage.maximum_filter(data, width, mode="nearest")
                - ndimage.minimum_filter(data, width, mode="nearest"))
        where = places_of(np, chain.place, chain.shape)
        near = tuple(np.clip(np.rint(w).astype(int), 0, n - 1)
                     for w, n in zip(where, data.shape))
        inside = np.ones(chain.shape, bool)
        for field, size in chain.fields + [(chain.place, data.shape)]:
            at = places_of(np, field, chain.shape)
            inside &= ((at >= 2) & (at <= np.array(
                size)[:, None, None, None] - 3)).all(0)
        assert inside.mean() > 0.2
        bound = span[near] + 1e-3
        if data is rising and how == "linear":
            bound = 1e-5 * np.ptp(data) + 0 * bound
        assert (difference <= bound)[inside].all(), difference[inside].max()
        # Three voxels beyond a border both are the value.
        outside = np.zeros(chain.shape, bool)
        for field, size in chain.fields:
            at = places_of(np, field, chain.shape)
            outside |= ((at < -3) | (at > np.array(
                size)[:, None, None, None] + 2)).any(0)
        assert (difference[outside] == 0).all()
        assert (fused.get_fdata()[outside] == 0).all()


TURN = "affine 0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,0 about centre"
BACK = "affine 0.8,-0.6,0,0,0.6,0.8,0,0,0,0,1,0 about centre"
QUARTER = "affine 0,1,0,0,-1,0,0,0,0,0,1,0 about centre"


@pytest.mark.parametrize("pipeline, count", [
    (f"{TURN} | {BACK}", 1), (f"to 20 | {TURN}", 1), (f"{TURN} | to 20", 1),
    (f"{TURN} cubic | {BACK} cubic", 1),
    (f"{TURN} nearest | flip x | {BACK} nearest", 1),
    (f"resample 1.3 cubic | crop 2:,:,: | {TURN} cubic", 1),
    ("to 20 smooth | to 30 | resample 1.1", 1),
    # Another word, another value outside, or anything but moves between.
    (f"to 20 nearest | {TURN}", 2), (f"{TURN} by 1 | {BACK}", 2),
    (f"{TURN} | clamp 0,1 | {BACK}", 2), (f"{TURN} | pad 1 | {BACK}", 2),
    (f"{TURN} | smooth 1 | {BACK}", 3), (f"{TURN} | noise 1 | {BACK}", 2),
    (f"{TURN} | to 20 smooth", 2),
    # A Gaussian along axes that are turned afterwards.
    (f"smooth 1 | {TURN}", 2), (f"to 20 smooth | {TURN}", 2),
    (f"smooth 1 | {QUARTER}", 1), ("smooth 1 | resample 1.3 cubic", 1),
    (f"to 20 majority | {TURN} nearest", 2)])
def test_interpolations_are_counted(np, nib, tmp_path, pipeline, count):
    file, _, _ = make_image(np, nib, tmp_path, "parallel")
    store = tmp_path / "s.zarr"
    subprocess.run([RADIO, "ingest", "-q", "-s", store, "-c", "a", file],
                   check=True)
    assert count_interpolations(store, pipeline) == count


def test_a_turn_and_its_reverse_give_the_voxels_back(np, nib, tmp_path):
    """But for those that the grid between has cut."""
    file, data, _ = make_image(np, nib, tmp_path, "parallel")
    for how in "nearest", "linear", "cubic":
        got = read_exported(nib, file, f"{TURN} {how} by 3 | {BACK} {how} by 3",
                            tmp_path / "o.nii").get_fdata()
        kept = got != 3
        assert 0.5 < kept.mean() < 0.95 and kept[10:30, 9:28].all()
        assert np.abs(got - data)[kept].max() < 1e-5 * np.ptp(data)


def test_many_steps_are_two_where_grids_are_too_many(
        np, nib, ndimage, tmp_path):  # noqa: F811
    """A voxel is cut by at most 16 grids in one interpolation."""
    file, data, affine = make_image(np, nib, tmp_path, "turned")
    chain = Chain(np, data, affine)
    step = np.eye(4)
    step[:2, :2] = [[np.cos(0.01), -np.sin(0.01)],
                    [np.sin(0.01), np.cos(0.01)]]
    for _ in range(16):
        chain.transform(step, "linear by -7 about centre")
    want, _ = chain.want(ndimage, "linear", -7)
    check_all(np, tmp_path, file, chain.text(), want, 1e-5 * np.ptp(data))
    assert count_interpolations(tmp_path / "s.zarr", chain.text()) == 1
    chain.transform(step, "linear by -7 about centre")
    assert count_interpolations(tmp_path / "s.zarr", chain.text()) == 2
    with Volume.of_file(file) as volume, \
         volume.apply(chain.text()) as derived:
        whole = derived.read([0] * 3, data.T.shape, np.float32)
        check_boxes(np, derived, whole, random.Random(1))


def test_2d_images_are_composed(np, nib, ndimage, tmp_path):  # noqa: F811
    data = np.random.default_rng(2).normal(0, 50, (40, 30)).astype("f4")
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    turn = "affine 0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,0"
    got = read_exported(
        nib, file, f"{turn} | to 60,50,: | flip x | affine 1.1,0,0,1,0,0.9,0,"
        "2,0,0,1,0", tmp_path / "o.nii").get_fdata()
    # Positions in mm, from the last grid back.
    x, y = np.meshgrid(np.arange(60), np.arange(50), indexing="ij")
    x, y = (59 - x + 0.5) * 40 / 60 - 0.5, (y + 0.5) * 30 / 50 - 0.5
    x, y = 1.1 * x + 1, 0.9 * y + 2
    inside = (x >= -0.5 + 1 / 6) & (x < 39.5 - 1 / 6) & (y < 29.3)
    x, y = 0.8 * x + 0.6 * y, -0.6 * x + 0.8 * y
    inside &= (x >= 0) & (x <= 39) & (y >= 0) & (y <= 29)
    want = ndimage.map_coordinates(data, [x, y], order=1, mode="nearest")
    assert inside.sum() > 300
    assert np.abs(got.squeeze() - want)[inside].max() < 1e-5 * np.ptp(data)
