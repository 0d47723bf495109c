# SPDX-License-Identifier: MIT
"""Print tests/nifti/vectors.h: what nibabel makes of affines and quaternions.

    python3 tests/nifti/make-vectors.py >tests/nifti/vectors.h
"""

import nibabel
import numpy as np
from nibabel.orientations import aff2axcodes

HEAD = """/* SPDX-License-Identifier: MIT */
/* nibabel's results for random affines (signed permutations with noise,
 * oblique, flipped, sheared) and quaternions.  Printed by make-vectors.py. */
#ifndef RD_TESTS_NIFTI_VECTORS_H
#define RD_TESTS_NIFTI_VECTORS_H
"""


def rotation(rng):
    w, x, y, z = (q := rng.normal(size=4)) / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y*y + z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)],
        [2 * (x*y + w*z), 1 - 2 * (x*x + z*z), 2 * (y*z - w*x)],
        [2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2 * (x*x + y*y)]])


def matrix(rng, kind):
    zooms = rng.uniform(.3, 5, 3)
    r = rotation(rng)
    if kind == 0:
        r = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
        r = r + rng.normal(scale=.15, size=(3, 3))
    elif kind == 1:
        r = r * rng.choice([-1, 1], 3)
    elif kind == 2:
        r = r + rng.normal(scale=.3, size=(3, 3))
    return np.round(r * zooms, 6)


def orientations():
    rng = np.random.default_rng(20)
    print("\nstatic const struct {\n  double matrix[9];\n"
          "  const char *letters;\n} orientation_vectors[] = {")
    for k in range(200):
        affine = np.eye(4)
        affine[:3, :3] = matrix(rng, k % 4)
        v = [f"{x:.6f}" for x in affine[:3, :3].ravel()]
        print("  { { " + ", ".join(v[:5]) + ",\n      " + ", ".join(v[5:])
              + ' }, "' + "".join(aff2axcodes(affine)) + '" },')
    print("};")


def quaternion(rng, k):
    if k == 0:
        return np.array([0, .6, .8, 0])
    if k == 1:
        return np.array([0, 0, 1, 0.])
    if k == 2:
        return np.array([1, 0, 0, 0.])
    q = rng.normal(size=4)
    return q / np.linalg.norm(q) * np.sign(q[0])


def quaternions():
    rng = np.random.default_rng(21)
    print("\nstatic const struct {\n  double pixdim[4], quatern[3], "
          "qoffset[3];\n  double affine[3][4];\n} quaternion_vectors[] = {")
    for k in range(20):
        h = nibabel.Nifti1Header()
        h.set_data_shape((4, 5, 6))
        h["quatern_b"], h["quatern_c"], h["quatern_d"] = quaternion(rng, k)[1:]
        h["pixdim"][0] = rng.choice([-1, 1])
        h["pixdim"][1:4] = rng.uniform(.5, 4, 3)
        offset = rng.uniform(-100, 100, 3).astype("f4")
        h["qoffset_x"], h["qoffset_y"], h["qoffset_z"] = offset
        h["qform_code"] = 1
        rows = [h["pixdim"][:4],
                [h["quatern_b"], h["quatern_c"], h["quatern_d"]], offset,
                *h.get_qform()[:3]]
        text = [", ".join(f"{x:.9g}" for x in row) for row in rows]
        print("  { { %s },\n    { %s },\n    { %s },\n    { { %s },\n"
              "      { %s },\n      { %s } } }," % tuple(text))
    print("};")


print(HEAD, end="")
orientations()
quaternions()
print("\n#endif /* RD_TESTS_NIFTI_VECTORS_H */")
