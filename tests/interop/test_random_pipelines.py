# SPDX-License-Identifier: MIT
"""Random operations: what is drawn is what numpy's own Philox draws for the
same seed, epoch and sample, whatever else a pipeline does; and it is
applied."""

import ctypes as c
import json
import random

import numpy as np
import pytest
from conftest import peer
from test_sampling import check_boxes

from radio_library import RadioError, Store, Volume, check, lib

lib.radio_pipeline_text.restype = c.c_char_p
lib.radio_pipeline_text.argtypes = [c.c_void_p]
lib.radio_pipeline_free.argtypes = [c.c_void_p]


def draw(text, seed, epoch, i):
    """The text of the pipeline that a random one is drawn to."""
    pipeline, drawn = c.c_void_p(), c.c_void_p()
    check(lib.radio_pipeline_parse(text.encode(), c.byref(pipeline)))
    try:
        check(lib.radio_pipeline_draw(
            pipeline, c.c_uint64(seed), c.c_uint64(epoch), c.c_uint64(i),
            c.byref(drawn)))
        return lib.radio_pipeline_text(drawn).decode()
    finally:
        lib.radio_pipeline_free(drawn)
        lib.radio_pipeline_free(pipeline)


def numbers(seed, epoch, i, place, kind, block=0):
    """Four numbers of numpy's generator, which counts before it draws."""
    counter = i + (place << 64) + (kind << 128) + (block << 192)
    bits = np.random.Philox(key=seed + (epoch << 64),
                            counter=(counter - 1) % 2**256)
    return np.random.Generator(bits).random(4)


def expected(seed, epoch, i):
    """PIPELINE as numpy draws it."""
    parts = []
    u = numbers(seed, epoch, i, 0, 0)
    axes = [axis for axis, n in zip("xyz", u[:3], strict=True) if n < 0.5]
    if axes:
        parts.append("flip " + ",".join(axes))
    u = numbers(seed, epoch, i, 0, 1)
    if u[0] < 0.5:
        parts.append(("linear", 1 + (-0.1 + 0.2 * u[1]), 0.0))
    u = numbers(seed, epoch, i, 1, 0)
    if u[0] < 0.75:
        turns = 1 + int(3 * u[1])
        parts.append("rot90 xz" + (f" {turns}" if turns > 1 else ""))
    parts.append("clamp 0,1")
    u = numbers(seed, epoch, i, 1, 1)
    if u[0] < 0.5:
        parts.append(("linear", 1.0, -3 + 6 * u[1]))
    u = numbers(seed, epoch, i, 2, 0)
    parts.append(("crop-or-pad 9 within", *u[:3]))
    u = numbers(seed, epoch, i, 2, 1)
    if u[0] < 0.5:
        parts.append(("gamma", 0.7 + (1.5 - 0.7) * u[1]))
    return parts


PIPELINE = ("random-flip | random-scale | random-rot90 xz p 0.75 | clamp 0,1 "
            "| random-shift 3 | random-crop 9 | random-gamma")


def test_what_is_drawn_is_what_numpy_draws():
    rng = np.random.default_rng(3)
    for _ in range(500):
        seed, epoch, i = (int(rng.integers(0, 2**int(n), dtype="u8"))
                          for n in rng.integers(1, 64, 3))
        got = draw(PIPELINE, seed, epoch, i)
        assert got == draw(PIPELINE, seed, epoch, i)
        steps = got.split(" | ")
        want = expected(seed, epoch, i)
        assert len(steps) == len(want), (got, want)
        for step, part in zip(steps, want, strict=True):
            if isinstance(part, str):
                assert step == part
                continue
            name, values = step.rsplit(" ", 1)
            assert name == part[0]
            assert np.allclose([float(v) for v in values.split(",")],
                               part[1:], rtol=1e-15, atol=1e-15)


def test_an_image_and_its_mask_share_what_is_spatial():
    for i in range(100):
        image = draw(PIPELINE, 1, 2, i).split(" | ")
        mask = draw("random-flip | random-rot90 xz p 0.75 | random-crop 9",
                    1, 2, i).split(" | ")
        assert [s for s in image
                if s.split()[0] in ("flip", "rot90", "crop-or-pad")] == mask


def drawn_affine(seed, epoch, i, degrees, scale, shift):
    """The inverse of SciPy's rotation of a scaled image, then shifted; the
    first operation on the grid."""
    rotation = peer("scipy.spatial.transform").Rotation
    most = [np.broadcast_to(part, 3) for part in (degrees, scale, shift)]
    angles, factors, shifts = (
        (2 * numbers(seed, epoch, i, 0, 0, 1 + k)[:3] - 1) * most[k]
        for k in range(3))
    turn = rotation.from_euler("xyz", angles, degrees=True).as_matrix()
    moved = np.eye(4)
    moved[:3, :3] = turn * (1 + factors)
    moved[:3, 3] = shifts
    return np.linalg.inv(moved)


def test_an_affine_is_the_inverse_of_scipys_rotation_of_a_scaled_image():
    ndone = 0
    for i in range(200):
        words = draw("random-affine degrees 10,0,170 shift 3,20,0 scale 0.5 "
                     "cubic by -3 p 0.75 | random-flip p 0", 5, 1, i).split()
        assert (words[0] == "affine") == (numbers(5, 1, i, 0, 0)[0] < 0.75)
        if words[0] != "affine":
            continue
        ndone += 1
        assert " ".join(words[2:]) == "cubic about centre by -3"
        got = np.array(words[1].split(","), float).reshape(3, 4)
        want = drawn_affine(5, 1, i, (10, 0, 170), 0.5, (3, 20, 0))[:3]
        assert np.allclose(got, want, rtol=1e-13, atol=1e-13)
    assert 100 < ndone < 195
    default = draw("random-affine p 1", 9, 0, 0)
    assert default == draw("random-affine scale 0.1 shift 0 degrees 10 p 1",
                           9, 0, 0)


def test_an_image_and_its_mask_are_moved_by_one_affine(nib, radio, tmp_path):
    ndimage = peer("scipy.ndimage")
    rng = np.random.default_rng(8)
    shape = (30, 26, 22)
    image = ndimage.gaussian_filter(rng.normal(size=shape), 1).astype("f4")
    mask = (image > 0.02).astype("u1") * 3
    affine = np.array([[0, -0.9, 0.1, 30], [1.1, 0, 0, -20], [0, 0.2, 1.6, 9],
                       [0, 0, 0, 1]])
    words = "random-affine degrees 40 scale 0.2 shift 5"
    got = []
    for name, data, text in (
            ("image", image, words + " by -2 p 1 | random-scale"),
            ("mask", mask, words + " nearest p 1")):
        file = tmp_path / f"{name}.nii"
        nib.save(nib.Nifti1Image(data, affine), file)
        radio("export", file, "--apply", text, "--draw", "11,2,7",
              "-o", tmp_path / f"{name}-out.nii")
        got.append(np.asarray(nib.load(tmp_path / f"{name}-out.nii").dataobj))
    affine = nib.load(file).affine.astype(float)
    u = numbers(11, 2, 7, 0, 1)
    factor = 1 + (-0.1 + 0.2 * u[1]) if u[0] < 0.5 else 1
    centre = np.eye(4)
    centre[:3, 3] = (affine @ [*((np.array(shape) - 1) / 2), 1])[:3]
    matrix = (np.linalg.inv(affine) @ centre
              @ drawn_affine(11, 2, 7, 40, 0.2, 5) @ np.linalg.inv(centre)
              @ affine)
    want = ndimage.affine_transform(image.astype(float), matrix, order=1,
                                    mode="nearest")
    where = np.einsum("ij,jabc->iabc", matrix[:3, :3], np.indices(shape))
    where += matrix[:3, 3, None, None, None]
    size = np.array(shape)[:, None, None, None]
    inside = np.all((where > -0.49) & (where < size - 0.51), 0)
    outside = np.any((where < -0.51) | (where > size - 0.49), 0)
    assert inside.sum() > 3000 and outside.sum() > 1000
    assert np.abs(got[0][inside] - factor * want[inside]).max() < 1e-5
    assert np.allclose(got[0][outside], -2 * factor, rtol=1e-6)
    # Of two voxels that are equally near either is right.
    clear = np.all(np.abs(where - np.floor(where) - 0.5) > 1e-3, 0)
    clear &= inside | outside
    voxels = np.clip(np.floor(where + 0.5).astype(int), 0, size - 1)
    picked = np.where(outside, 0, mask[tuple(voxels)])
    assert np.array_equal(got[1][clear], picked[clear])


def gaussian(seed, n):
    """Box and Muller's numbers of numpy's Philox."""
    u = np.random.Generator(np.random.Philox(key=seed)).random(n + n % 2)
    radius = np.sqrt(-2 * np.log(1 - u[::2]))
    z = np.empty(len(u))
    z[::2] = radius * np.cos(2 * np.pi * u[1::2])
    z[1::2] = radius * np.sin(2 * np.pi * u[1::2])
    return z[:n]


@pytest.mark.parametrize("dtype", ["i2", "f8"])
def test_noise_is_numpys_in_every_box_by_any_threads(radio, nib, tmp_path,
                                                     dtype):
    data = np.random.default_rng(5).integers(-99, 99, (21, 19, 17, 3))
    file, store = tmp_path / "a.nii", tmp_path / "s.zarr"
    nib.save(nib.Nifti1Image(data.astype(dtype), np.eye(4)), file)
    radio("ingest", "-s", store, "-c", "ct", "--tiling", "8,8,8", file)
    compute = np.float32 if dtype == "i2" else np.float64
    # Voxels count as they are stored, x fastest, in the grid of the operation.
    turned = np.rot90(data, axes=(0, 1))[2:]
    noise = gaussian(77, turned.size).reshape(turned.T.shape).T
    want = np.flip(turned + 2.5 * noise, 2).T.astype(compute)
    text = "rot90 xy | crop 2:,:,: | noise 2.5 seed 77 | flip z"
    # Libraries differ in the last bits of log, sin and cos.
    most = 4 * np.finfo(compute).eps * (np.abs(want) + 20)
    with Volume.of_file(file) as volume, volume.apply(text) as noisy:
        whole = noisy.read([0] * 4, want.shape, compute)
    assert np.all(np.abs(whole - want) <= most)
    if dtype == "i2":
        assert (whole != want).mean() < 1e-3
    norm = (want - want.mean(dtype="f8")) / want.std(dtype="f8")
    for threads in 1, 3:
        with Store(store, threads=threads) as opened, \
             Volume(opened, "ct/a") as volume, volume.apply(text) as noisy:
            check_boxes(np, noisy, whole, random.Random(1))
        with Store(store, threads=threads) as opened, \
             Volume(opened, "ct/a") as volume, \
             volume.apply(text + " | znorm") as normed:
            got = normed.read([0] * 4, want.shape, compute)
        assert np.abs(got - norm).max() < 1e-5


def test_random_noise_draws_its_deviation_and_its_seed():
    for i in range(100):
        u = numbers(3, 1, i, 0, 1)
        words = draw("random-noise 2,5 p 0.75", 3, 1, i).split()
        if u[0] >= 0.75:
            assert words[0] == "crop"
            continue
        assert words[::2] == ["noise", "seed"]
        assert float(words[1]) == pytest.approx(2 + 3 * u[1], rel=1e-15)
        assert int(words[3]) == int(u[2] * 2**53)
    assert draw("random-noise p 1", 1, 1, 1).startswith("noise 0.1 seed ")


def test_noise_is_normally_distributed():
    stats = peer("scipy.stats")
    assert stats.kstest(gaussian(5, 40000), "norm").pvalue > 0.01


def test_draws_have_their_distributions():
    n = 4000
    counts, shifts, turns = np.zeros(3), [], np.zeros(4)
    for i in range(n):
        for step in draw("random-flip | random-shift 1 p 1 "
                         "| random-rot90 p 0.3", 7, 0, i).split(" | "):
            words = step.split()
            if words[0] == "flip":
                counts += [a in words[1] for a in "xyz"]
            elif words[0] == "linear":
                shifts.append(float(words[1].split(",")[1]))
            else:
                turns[int(words[2]) if len(words) > 2 else 1] += 1
    # Five standard deviations of a binomial or uniform distribution.
    assert np.all(np.abs(counts - n / 2) < 5 * np.sqrt(n / 4))
    assert np.all(np.abs(turns[1:] - n / 10) < 5 * np.sqrt(n * 0.09))
    assert len(shifts) == n and abs(np.mean(shifts)) < 5 / np.sqrt(3 * n)
    assert -1 <= min(shifts) < -0.99 and 0.99 < max(shifts) < 1


def test_nothing_drawn_is_the_image_itself():
    assert draw("random-flip p 0", 0, 0, 0) == "crop :,:,:"
    assert draw("flip x", 0, 0, 0) == "flip x"
    with pytest.raises(RadioError, match="'5': expected"):
        draw("random-flip p 5", 0, 0, 0)


def test_each_volume_of_a_cohort_has_its_own_draw(radio, tmp_path):
    store, result = tmp_path / "a.zarr", tmp_path / "b.zarr"
    for name in "abcdef":
        radio("phantom", "-s", store, f"ct/{name}", "--size", "9")
    want = [draw(PIPELINE, 4, 3, 2 + i) for i in range(6)]
    assert len(set(want)) == 6
    said = radio("info", "-s", store, "ct", "--apply", PIPELINE, "--draw",
                 "4,3,2", "--json").stdout
    assert [one["pipeline"] for one in json.loads(said)] == want
    apply = ["apply", PIPELINE, "-s", store, "ct", "--to", result, "--draw",
             "4,3,2"]
    radio(*apply)
    said = radio("info", "-s", result, "ct", "--json").stdout
    assert [one["derived"]["pipeline"] for one in json.loads(said)] == want
    # Killed and run again: volumes that are there have the same draw.
    radio("rm", "-s", result, "ct/b", "ct/e")
    assert "2 volumes, " in (said := radio(*apply).stdout)
    assert "4 skipped" in said
    said = radio("info", "-s", result, "ct", "--json").stdout
    assert [one["derived"]["pipeline"] for one in json.loads(said)] == want
    done = radio("info", "-s", store, "ct", "--draw", "4", status=2)
    assert "--draw: no pipeline to draw" in done.stderr


def test_the_command_draws(radio, nib, tmp_path):
    data = np.random.default_rng(1).integers(0, 99, (20, 21, 22)).astype("i2")
    file = tmp_path / "a.nii"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    pipeline = "random-flip p 0.9 | random-crop 8,8,30"
    done = radio("export", file, "--apply", pipeline, "-o", tmp_path / "b.nii",
                 status=1)
    assert "operation 1 of the pipeline is random; draw it" in done.stderr
    radio("export", file, "--apply", pipeline, "--draw", "5,1,2", "-o",
          tmp_path / "b.nii")
    u, v = numbers(5, 1, 2, 0, 0), numbers(5, 1, 2, 1, 0)
    for axis in range(3):
        if u[axis] < 0.9:
            data = np.flip(data, axis)
    x, y = int(v[0] * 13), int(v[1] * 14)
    want = np.pad(data[x:x + 8, y:y + 8], [(0, 0), (0, 0), (4, 4)])
    assert np.array_equal(nib.load(tmp_path / "b.nii").dataobj, want)
    radio("apply", pipeline, file, "--draw", "5,1,2", "--to",
          tmp_path / "s.zarr", "-c", "ct")
    said = radio("info", "-s", tmp_path / "s.zarr", "ct/a").stdout
    assert "crop-or-pad 8,8,30 within" in said
