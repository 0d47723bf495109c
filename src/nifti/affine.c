/* SPDX-License-Identifier: MIT */
/* The affine of a header from voxels to patient coordinates, and the
 * anatomical orientation of its axes. */
#include <config.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include <radio/volume.h>

#include "src/nifti/nifti.h"

double
rd_nifti_spacing (const struct rd_nifti *nifti, size_t axis)
{
  double spacing = fabs (nifti->pixdim[axis]);
  return spacing > 0 && isfinite (spacing) ? spacing : 1;
}

static bool
all_finite (const double *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite (values[i]))
      return false;
  return true;
}

void
rd_nifti_qform (const struct rd_nifti *nifti, double affine[3][4])
{
  /* The rotation of the unit quaternion a + b i + c j + d k, where a follows
   * from the others, as nifti1.h has it. */
  double b = nifti->quatern[0], c = nifti->quatern[1], d = nifti->quatern[2];
  double a = 1 - (b * b + c * c + d * d);
  if (a < 1e-7) {
    /* A turn by 180 degrees, or rounding: a is 0, the rest a unit. */
    double scale = 1 / sqrt (b * b + c * c + d * d);
    b *= scale;
    c *= scale;
    d *= scale;
    a = 0;
  } else
    a = sqrt (a);
  const double r[3][3] = {
    { a * a + b * b - c * c - d * d, 2 * (b * c - a * d),
      2 * (b * d + a * c) },
    { 2 * (b * c + a * d), a * a + c * c - b * b - d * d,
      2 * (c * d - a * b) },
    { 2 * (b * d - a * c), 2 * (c * d + a * b),
      a * a + d * d - c * c - b * b },
  };
  double qfac = nifti->pixdim[0] < 0 ? -1 : 1;
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++)
      affine[i][j] = r[i][j] * rd_nifti_spacing (nifti, j + 1)
                     * (j == 2 ? qfac : 1);
    affine[i][3] = nifti->qoffset[i];
  }
}

bool
rd_nifti_has_sform (const struct rd_nifti *nifti)
{
  return nifti->sform_code > 0 && all_finite (nifti->srow[0], 4)
         && all_finite (nifti->srow[1], 4) && all_finite (nifti->srow[2], 4);
}

bool
rd_nifti_has_qform (const struct rd_nifti *nifti)
{
  return nifti->qform_code > 0 && all_finite (nifti->quatern, 3)
         && all_finite (nifti->qoffset, 3);
}

void
rd_nifti_affine (const struct rd_nifti *nifti, double affine[3][4],
                 const char **source)
{
  if (rd_nifti_has_sform (nifti)) {
    memcpy (affine, nifti->srow, sizeof nifti->srow);
    *source = "sform";
    return;
  }
  if (rd_nifti_has_qform (nifti)) {
    rd_nifti_qform (nifti, affine);
    *source = "qform";
    return;
  }
  memset (affine, 0, 12 * sizeof affine[0][0]);
  for (size_t i = 0; i < 3; i++)
    affine[i][i] = rd_nifti_spacing (nifti, i + 1);
  *source = "pixdim";
}

/*------------------------------------------------------------------------
 * Polar decomposition
 *
 * By one-sided Jacobi rotations (Hestenes): the columns of m are rotated
 * until they are orthogonal.  Small singular values keep full relative
 * accuracy, which a decomposition of m^T m would lose.
 *----------------------------------------------------------------------*/

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

/* Makes columns p and q of u orthogonal and rotates v likewise; false when
 * they are orthogonal already. */
static bool
orthogonalize (double u[3][3], double v[3][3], size_t p, size_t q)
{
  double alpha = column_product (u, p, p);
  double beta = column_product (u, q, q);
  double gamma = column_product (u, p, q);
  if (fabs (gamma) <= DBL_EPSILON * sqrt (alpha * beta))
    return false;
  double zeta = (beta - alpha) / (2 * gamma);
  double t = copysign (1, zeta) / (fabs (zeta) + hypot (1, zeta));
  double c = 1 / hypot (1, t);
  rotate_columns (u, p, q, c, c * t);
  rotate_columns (v, p, q, c, c * t);
  return true;
}

size_t
rd_polar3 (double m[3][3], double rotation[3][3])
{
  double u[3][3], v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
  memcpy (u, m, sizeof u);
  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    bool rotated = orthogonalize (u, v, 0, 1);
    rotated |= orthogonalize (u, v, 0, 2);
    rotated |= orthogonalize (u, v, 1, 2);
    if (!rotated)
      break;
  }

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

/*------------------------------------------------------------------------
 * Orientation
 *----------------------------------------------------------------------*/

/* Normalizes the affine's columns; false when a number is not finite. */
static bool
directions (double affine[3][4], double m[3][3])
{
  for (size_t j = 0; j < 3; j++) {
    /* Scaled by its greatest member first, so that squares neither
     * overflow nor vanish. */
    double most = fmax (fabs (affine[0][j]),
                        fmax (fabs (affine[1][j]), fabs (affine[2][j])));
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
      if (!isfinite (affine[i][j]))
        return false;
      m[i][j] = most > 0 ? affine[i][j] / most : 0;
      sum += m[i][j] * m[i][j];
    }
    for (size_t i = 0; i < 3 && sum > 0; i++)
      m[i][j] /= sqrt (sum);
  }
  return true;
}

static double
strength (double r[3][3], size_t column)
{
  double most = 0;
  for (size_t i = 0; i < 3; i++)
    most = fmax (most, r[i][column] * r[i][column]);
  return most;
}

/* Assigns each voxel axis an anatomical axis of its own, as nibabel does:
 * from the voxel axis that is closest to an anatomical axis to the one that
 * is least; of equals the first first. */
static bool
assign_axes (double r[3][3], size_t world[3], bool rises[3])
{
  size_t order[3] = { 0, 1, 2 };
  for (size_t k = 1; k < 3; k++)
    for (size_t i = k;
         i > 0 && strength (r, order[i]) > strength (r, order[i - 1]); i--) {
      size_t held = order[i];
      order[i] = order[i - 1];
      order[i - 1] = held;
    }
  for (size_t k = 0; k < 3; k++) {
    size_t j = order[k], best = 0;
    /* numpy.allclose (column, 0). */
    if (fabs (r[0][j]) <= 1e-8 && fabs (r[1][j]) <= 1e-8
        && fabs (r[2][j]) <= 1e-8)
      return false;
    for (size_t i = 1; i < 3; i++)
      if (fabs (r[i][j]) > fabs (r[best][j]))
        best = i;
    world[j] = best;
    rises[j] = r[best][j] > 0;
    memset (r[best], 0, sizeof r[best]);
  }
  return true;
}

bool
rd_orientation (double affine[3][4], char letters[4], size_t axis_of[3])
{
  static const char rising[] = "RAS", falling[] = "LPI";
  static const enum radio_plane plane_across[] = {
    RADIO_SAGITTAL, RADIO_CORONAL, RADIO_AXIAL
  };
  size_t world[3];
  bool rises[3];
  double m[3][3], r[3][3];
  bool is_known = directions (affine, m) && rd_polar3 (m, r) == 3
                  && assign_axes (r, world, rises);
  memset (letters, 0, 4);
  for (size_t j = 0; j < 3; j++) {
    if (is_known)
      letters[j] = (rises[j] ? rising : falling)[world[j]];
    axis_of[plane_across[is_known ? world[j] : j]] = j;
  }
  return is_known;
}
