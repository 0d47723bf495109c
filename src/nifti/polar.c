/* SPDX-License-Identifier: MIT */
/* Polar decomposition of 3x3 matrices by one-sided Jacobi rotations
 * (Hestenes): the columns of m are turned against each other until they are
 * orthogonal.  Small singular values come out with full relative accuracy,
 * which a decomposition of m^T m would lose. */
#include <config.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "src/nifti/polar.h"

/* Convergence is quadratic: 6 to 8 sweeps are usual. */
#define MAX_SWEEPS 60

static double
column_product (double m[3][3], size_t p, size_t q)
{
  return m[0][p] * m[0][q] + m[1][p] * m[1][q] + m[2][p] * m[2][q];
}

static void
rotate_columns (double m[3][3], size_t p, size_t q, double c, double s)
{
  for (size_t i = 0; i < 3; i++) {
    double a = m[i][p], b = m[i][q];
    m[i][p] = c * a - s * b;
    m[i][q] = s * a + c * b;
  }
}

/* Make columns p and q of u orthogonal, turning v along; false when they
 * were so already. */
static int
orthogonalize (double u[3][3], double v[3][3], size_t p, size_t q)
{
  double alpha = column_product (u, p, p);
  double beta = column_product (u, q, q);
  double gamma = column_product (u, p, q);
  if (fabs (gamma) <= DBL_EPSILON * sqrt (alpha * beta))
    return 0;
  double zeta = (beta - alpha) / (2 * gamma);
  double t = copysign (1, zeta) / (fabs (zeta) + hypot (1, zeta));
  double c = 1 / hypot (1, t);
  rotate_columns (u, p, q, c, c * t);
  rotate_columns (v, p, q, c, c * t);
  return 1;
}

size_t
rd_polar3 (double m[3][3], double rotation[3][3])
{
  double u[3][3], v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
  memcpy (u, m, sizeof u);
  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++)
    if (!(orthogonalize (u, v, 0, 1) | orthogonalize (u, v, 0, 2)
          | orthogonalize (u, v, 1, 2)))
      break;

  double sigma[3], greatest = 0;
  for (size_t k = 0; k < 3; k++) {
    sigma[k] = sqrt (column_product (u, k, k));
    greatest = fmax (greatest, sigma[k]);
  }
  size_t rank = 0;
  memset (rotation, 0, 9 * sizeof rotation[0][0]);
  for (size_t k = 0; k < 3; k++) {
    if (sigma[k] <= greatest * 3 * DBL_EPSILON)
      continue;
    rank++;
    for (size_t i = 0; i < 3; i++)
      for (size_t j = 0; j < 3; j++)
        rotation[i][j] += u[i][k] / sigma[k] * v[j][k];
  }
  return rank;
}
