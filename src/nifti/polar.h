/* SPDX-License-Identifier: MIT */
/* The rotation within a 3x3 matrix. */
#ifndef RD_NIFTI_POLAR_H
#define RD_NIFTI_POLAR_H

#include <stddef.h>

/* The orthogonal factor of the polar decomposition of m: P Q^T of the
 * singular value decomposition P S Q^T, without those directions whose
 * singular value is lost in rounding (below the greatest, times 3 epsilon).
 * Returns the rank, 3 for an ordinary matrix.  All of m must be finite. */
size_t rd_polar3 (double m[3][3], double rotation[3][3]);

#endif /* RD_NIFTI_POLAR_H */
