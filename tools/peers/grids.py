# SPDX-License-Identifier: MIT
"""Finds which grid each program resamples to: those of radio's `resample' and
`to', `corner' and `centre'.

Random images are resampled linearly by each program and by radio; a grid is the
same if shape, affine and all voxels are.  Ends with status 1 if a program has
another grid than FOUND says, from which radio(1) has it.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

SHAPES = [(41, 23, 17), (40, 26, 13), (12, 8, 20)]
SPACINGS = [2.0, 1.3, 0.7, 0.5]
GRIDS = ["resample corner", "resample centre", "to corner", "to centre"]
SAME, PLACES, SOME, NONE = "same", "same, another size", "some", "-"

# Of GRIDS.  "same, another size": the voxels that both have are the same.
# "some": in some cases alone, as if the field of view is a whole number of new
# voxels.  TorchIO's Resize has the grid of Resample where its size falls short
# of the one wanted by rounding, padded by a voxel.
FOUND = {
    "SciPy zoom, grid_mode": (SOME, NONE, SAME, NONE),
    "SciPy zoom": (NONE, NONE, NONE, SAME),
    "SimpleITK Resample, same origin": (NONE, PLACES, NONE, SOME),
    "MONAI Spacing": (NONE, PLACES, NONE, SOME),
    "MONAI Spacing, scale_extent": (SOME, NONE, SOME, NONE),
    "MONAI Resize": (SOME, NONE, SAME, NONE),
    "MONAI Resize, align_corners": (NONE, NONE, NONE, SAME),
    "MONAI Zoom": (SOME, NONE, SAME, NONE),
    "TorchIO Resample": (SOME, NONE, SOME, NONE),
    "TorchIO Resize": (SOME, NONE, SOME, NONE),
}


def scaled(affine, first, step):
    """The affine of a grid with its first voxel there, and these steps."""
    result = affine.copy()
    result[:3, :3] = affine[:3, :3] * step
    result[:3, 3] = affine[:3, 3] + affine[:3, :3] @ first
    return result


def of_scipy(data, affine, spacing):
    ndimage = importlib.import_module("scipy.ndimage")
    size = [round(n / spacing) for n in data.shape]
    for grid_mode in True, False:
        out = ndimage.zoom(data, np.divide(size, data.shape), order=1,
                           mode="nearest", grid_mode=grid_mode)
        n, s = np.array(data.shape), np.array(size)
        # zoom has no affine; these are its documented ones.
        step = n / s if grid_mode else (n - 1) / (s - 1)
        first = (step - 1) / 2 if grid_mode else np.zeros(3)
        yield ("SciPy zoom" + ", grid_mode" * grid_mode, out,
               scaled(affine, first, step))


def of_simpleitk(data, affine, spacing):
    sitk = importlib.import_module("SimpleITK")
    image = sitk.GetImageFromArray(data.T)
    filter_ = sitk.ResampleImageFilter()
    filter_.SetInterpolator(sitk.sitkLinear)
    filter_.SetUseNearestNeighborExtrapolator(True)
    # Without places beyond the outer half of the edge voxels, which get the
    # nearest voxel.
    filter_.SetSize([int(np.ceil((n - 0.5) / spacing)) for n in data.shape])
    filter_.SetOutputSpacing([spacing] * 3)
    out = sitk.GetArrayFromImage(filter_.Execute(image)).T
    yield ("SimpleITK Resample, same origin", out,
           scaled(affine, np.zeros(3), spacing))


def of_monai(data, affine, spacing):
    mt = importlib.import_module("monai.transforms")
    torch = importlib.import_module("torch")
    tensor = importlib.import_module("monai.data").MetaTensor(
        torch.from_numpy(data)[None], affine=torch.tensor(affine))
    size = [round(n / spacing) for n in data.shape]
    for name, step in (
            ("Spacing", mt.Spacing((spacing,) * 3)),
            ("Spacing, scale_extent", mt.Spacing((spacing,) * 3,
                                                 scale_extent=True)),
            ("Resize", mt.Resize(size, mode="trilinear")),
            ("Resize, align_corners", mt.Resize(size, mode="trilinear",
                                                align_corners=True)),
            ("Zoom", mt.Zoom(1 / spacing, mode="trilinear",
                             keep_size=False))):
        out = step(tensor)
        yield f"MONAI {name}", out[0].numpy(), out.affine.numpy()


def of_torchio(data, affine, spacing):
    torch = importlib.import_module("torch")
    tio = importlib.import_module("torchio")
    image = tio.ScalarImage(tensor=torch.from_numpy(data)[None],
                            affine=affine)
    size = tuple(round(n / spacing) for n in data.shape)
    for name, step in (("Resample", tio.Resample(spacing)),
                       ("Resize", tio.Resize(size))):
        out = step(image)
        yield f"TorchIO {name}", out.data[0].numpy(), np.asarray(out.affine)


def of_radio(radio, file, grid, spacing, size):
    nib = importlib.import_module("nibabel")
    name, how = grid.split()
    text = f"{spacing}" if name == "resample" else ",".join(map(str, size))
    out = file.with_name("out.nii")
    subprocess.run([radio, "export", file, "--apply", f"{name} {text} {how}",
                    "-o", out, "--overwrite"], check=True,
                   stdout=subprocess.DEVNULL)
    image = nib.load(out)
    return np.array(image.dataobj), image.affine


def compare(mine, out, affine):
    """Returns SAME, PLACES or NONE."""
    values, grid = mine
    if not np.allclose(grid, affine, atol=1e-4):
        return NONE
    both = tuple(slice(min(a, b)) for a, b in zip(values.shape, out.shape))
    if np.abs(values[both] - out[both]).max() > 1e-3:
        return NONE
    return SAME if values.shape == out.shape else PLACES


def find(radio, folder, shapes):
    """Returns {program: for each grid what each case has}."""
    nib = importlib.import_module("nibabel")
    found, missing = {}, []
    rng = np.random.default_rng(1)
    affine = np.diag([1.0, 1, 1, 1])
    affine[:3, 3] = 3, 5, -7
    for shape in shapes:
        data = rng.normal(0, 10, shape).astype(np.float32)
        file = folder / "image.nii"
        nib.save(nib.Nifti1Image(data, affine), file)
        for spacing in SPACINGS:
            for program in of_scipy, of_simpleitk, of_monai, of_torchio:
                if program in missing:
                    continue
                try:
                    results = list(program(data, affine, spacing))
                except ImportError as error:
                    missing.append(program)
                    print(f"bench-peers grids: {error.name} is left out: it "
                          "is not installed here", file=sys.stderr)
                    continue
                for name, out, grid in results:
                    cases = found.setdefault(name, [[] for _ in GRIDS])
                    for k, which in enumerate(GRIDS):
                        mine = of_radio(radio, file, which, spacing,
                                        out.shape)
                        cases[k].append(compare(mine, out, grid))
    return found


def whole(cases):
    """Returns what is true of all cases."""
    if all(case == SAME for case in cases):
        return SAME
    if all(case != NONE for case in cases):
        return PLACES
    return SOME if SAME in cases else NONE


def main():
    parser = argparse.ArgumentParser(prog="bench-peers grids")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = find(options.build / "tools" / "radio", Path(folder),
                     SHAPES[-1:] if options.quick else SHAPES)
    print("| program | " + " | ".join(GRIDS) + " |")
    print("|---|" + "---|" * len(GRIDS))
    others = []
    for name, columns in found.items():
        results = tuple(map(whole, columns))
        print(f"| {name} | " + " | ".join(results) + " |")
        if results != FOUND[name]:
            others.append(name)
    if others:
        sys.exit("bench-peers grids: another grid than FOUND has: "
                 + ", ".join(others))


if __name__ == "__main__":
    main()
