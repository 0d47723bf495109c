/* SPDX-License-Identifier: MIT */
/* Affine maps of space: matrices of 3 x 4, whose last column is added. */
#ifndef RD_MATRIX_H
#define RD_MATRIX_H

#include <stdbool.h>

/* Computes a after b: the map that first does b.  result may be either. */
void rd_matrix_multiply (double a[3][4], double b[3][4], double result[3][4]);

/* Inverts a map; result may be NULL.  False if the map is singular (its
 * determinant is less than 1e-9 of the product of its columns' lengths) or not
 * finite. */
bool rd_matrix_invert (double matrix[3][4], double result[3][4]);

#endif /* RD_MATRIX_H */
