/* SPDX-License-Identifier: MIT */
/* Products and inverses of affine maps, by cofactors. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/operation/matrix.h"

/* Maps whose columns are closer to a plane than this are singular. */
#define LEAST_VOLUME 1e-9

void
rd_matrix_multiply (double a[3][4], double b[3][4], double result[3][4])
{
  double product[3][4];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j]
                      + a[i][2] * b[2][j] + (j == 3 ? a[i][3] : 0);
  memcpy (result, product, sizeof product);
}

static double
cofactor (double m[3][4], int i, int j)
{
  int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
  return m[a][c] * m[b][d] - m[a][d] * m[b][c];
}

bool
rd_matrix_invert (double matrix[3][4], double result[3][4])
{
  double volume = 1, determinant = 0, inverse[3][4];
  for (int j = 0; j < 3; j++) {
    volume *= hypot (hypot (matrix[0][j], matrix[1][j]), matrix[2][j]);
    determinant += matrix[0][j] * cofactor (matrix, 0, j);
  }
  for (int i = 0; i < 3; i++)
    if (!isfinite (matrix[i][3]))
      return false;
  if (!(fabs (determinant) > LEAST_VOLUME * volume) || !isfinite (volume))
    return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      inverse[i][j] = cofactor (matrix, j, i) / determinant;
  for (int i = 0; i < 3; i++)
    inverse[i][3] = -(inverse[i][0] * matrix[0][3]
                      + inverse[i][1] * matrix[1][3]
                      + inverse[i][2] * matrix[2][3]);
  if (result)
    memcpy (result, inverse, sizeof inverse);
  return true;
}
