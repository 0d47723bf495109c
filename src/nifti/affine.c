/* SPDX-License-Identifier: MIT */
/* From voxels to the patient: the affine of a header, and which way its
 * axes run. */
#include <config.h>

#include <math.h>
#include <string.h>

#include <radio/volume.h>

#include "src/nifti/nifti.h"
#include "src/nifti/polar.h"

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

/* Rotation of the unit quaternion a + b i + c j + d k, where a follows from
 * the others, as nifti1.h has it. */
static void
rotation_of_quaternion (const double bcd[3], double r[3][3])
{
  double b = bcd[0], c = bcd[1], d = bcd[2];
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
  const double rotation[3][3] = {
    { a * a + b * b - c * c - d * d, 2 * (b * c - a * d),
      2 * (b * d + a * c) },
    { 2 * (b * c + a * d), a * a + c * c - b * b - d * d,
      2 * (c * d - a * b) },
    { 2 * (b * d - a * c), 2 * (c * d + a * b),
      a * a + d * d - c * c - b * b },
  };
  memcpy (r, rotation, sizeof rotation);
}

void
rd_nifti_qform (const struct rd_nifti *nifti, double affine[3][4])
{
  double r[3][3];
  rotation_of_quaternion (nifti->quatern, r);
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

/* The affine without its columns' lengths; false when a number is not
 * finite. */
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

/* The voxel axes, from the one that is closest to an anatomical axis to the
 * one that is least; of equals the first first. */
static void
rank_columns (double r[3][3], size_t order[3])
{
  for (size_t k = 0; k < 3; k++)
    order[k] = k;
  for (size_t k = 1; k < 3; k++)
    for (size_t i = k;
         i > 0 && strength (r, order[i]) > strength (r, order[i - 1]); i--) {
      size_t held = order[i];
      order[i] = order[i - 1];
      order[i - 1] = held;
    }
}

/* numpy.allclose (column, 0): nothing is left of it. */
static bool
column_vanishes (double r[3][3], size_t column)
{
  for (size_t i = 0; i < 3; i++)
    if (fabs (r[i][column]) > 1e-8)
      return false;
  return true;
}

/* Give each voxel axis an anatomical axis of its own, as nibabel does: the
 * clearest chooses first. */
static bool
assign_axes (double r[3][3], size_t world[3], bool rises[3])
{
  size_t order[3];
  rank_columns (r, order);
  for (size_t k = 0; k < 3; k++) {
    size_t j = order[k], best = 0;
    if (column_vanishes (r, j))
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

void
rd_orientation (double affine[3][4], char letters[4], size_t axis_of[3])
{
  static const char rising[] = "RAS", falling[] = "LPI";
  static const enum radio_plane plane_across[] = {
    RADIO_SAGITTAL, RADIO_CORONAL, RADIO_AXIAL
  };
  size_t world[3];
  bool rises[3];
  double m[3][3], r[3][3];
  if (!directions (affine, m) || rd_polar3 (m, r) < 3
      || !assign_axes (r, world, rises))
    for (size_t j = 0; j < 3; j++) {
      world[j] = j;
      rises[j] = true;
    }
  for (size_t j = 0; j < 3; j++) {
    letters[j] = (rises[j] ? rising : falling)[world[j]];
    axis_of[plane_across[world[j]]] = j;
  }
  letters[3] = '\0';
}
