/* SPDX-License-Identifier: MIT */
/* Comparing the grids of two volumes.  Affines are compared by the distance
 * between the voxels of one index, which is largest at a corner of the grid,
 * since it is the length of an affine function of the index. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/operation/matrix.h"
#include "src/volume/grids.h"

/* Digits of a number in a message: of those that are compared, and of a
 * distance. */
#define NDIGITS 8
#define NDISTANCE_DIGITS 4

#define TEXT_NBYTES 512

/* How far apart voxels of a mask and its volume may lie, in voxels. */
#define MASK_TOLERANCE 1e-3

static uint64_t
axis_length (const struct radio_volume_info *info, char letter)
{
  const char *at = strchr (info->axes, letter);
  return at ? info->array.shape[at - info->axes] : 1;
}

void
rd_volume_grid_get (const struct radio_volume_info *info,
                    struct rd_volume_grid *grid)
{
  *grid = (struct rd_volume_grid) { .time_count = axis_length (info, 't') };
  for (size_t i = 0; i < 3; i++)
    grid->shape[i] = axis_length (info, "xyz"[i]);
  memcpy (grid->affine, info->affine, sizeof grid->affine);
  memcpy (grid->orientation, info->orientation, sizeof grid->orientation);
  snprintf (grid->unit, sizeof grid->unit, "%s", info->space_unit);
}

enum radio_status
rd_grids_check_shape (const struct rd_named_grid *a,
                      const struct rd_named_grid *other)
{
  const struct rd_volume_grid *x = a->grid, *y = other->grid;
  if (memcmp (x->shape, y->shape, sizeof x->shape) != 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: shape %" PRIu64 " x %" PRIu64
                    " x %" PRIu64 ", but %" PRIu64 " x %" PRIu64 " x %" PRIu64
                    " in %s", a->name, x->shape[0], x->shape[1], x->shape[2],
                    y->shape[0], y->shape[1], y->shape[2], other->name);
  if (x->time_count > 1 && y->time_count > 1
      && x->time_count != y->time_count)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: %" PRIu64 " points in time, but "
                    "%" PRIu64 " in %s", a->name, x->time_count,
                    y->time_count, other->name);
  return RADIO_OK;
}

enum radio_status
rd_grids_check_unit (const struct rd_named_grid *a,
                     const struct rd_named_grid *other)
{
  const char *x = a->grid->unit, *y = other->grid->unit;
  if (*x == '\0' || *y == '\0' || strcmp (x, y) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: unit %s, but %s in %s", a->name,
                  x, y, other->name);
}

/*------------------------------------------------------------------------
 * Affines
 *----------------------------------------------------------------------*/

/* Returns how far voxels of affine b lie from those of a, in voxels of a along
 * the axis where that is most. */
static double
distance (double inverse[3][4], double a[3][4], double b[3][4],
          const uint64_t shape[3])
{
  double farthest = 0;
  for (unsigned corner = 0; corner < 8; corner++) {
    double apart[3];
    for (size_t row = 0; row < 3; row++) {
      apart[row] = b[row][3] - a[row][3];
      for (size_t i = 0; i < 3; i++) {
        /* On an axis of length 1 the next voxel counts: the thickness of a
         * slice is part of its grid. */
        double last = shape[i] > 1 ? (double) (shape[i] - 1) : 1;
        if (corner >> i & 1)
          apart[row] += (b[row][i] - a[row][i]) * last;
      }
    }
    for (size_t row = 0; row < 3; row++) {
      double d = fabs (inverse[row][0] * apart[0] + inverse[row][1] * apart[1]
                       + inverse[row][2] * apart[2]);
      if (!(d <= farthest))
        farthest = d;
      if (isnan (d))
        return d;
    }
  }
  return farthest;
}

/* Writes a number with the given digits. */
static void
write_number (char text[RD_NUMBER_NBYTES], double number, int ndigits)
{
  if (!isfinite (number)) {
    snprintf (text, RD_NUMBER_NBYTES, "%s", isnan (number) ? "NaN"
              : number < 0 ? "-infinity" : "infinity");
    return;
  }
  if (number != 0) {
    double scale = pow (10, ndigits - 1 - floor (log10 (fabs (number))));
    double rounded = round (number * scale) / scale;
    number = isfinite (rounded) ? rounded : number;
  }
  rd_number_exact (number == 0 ? 0 : number, text);
}

static void
add_number (char text[TEXT_NBYTES], const char *before, double number)
{
  char digits[RD_NUMBER_NBYTES];
  size_t n = strlen (text);
  write_number (digits, number, NDIGITS);
  snprintf (text + n, TEXT_NBYTES - n, "%s%s", before, digits);
}

static void
add_text (char text[TEXT_NBYTES], const char *more)
{
  size_t n = strlen (text);
  snprintf (text + n, TEXT_NBYTES - n, "%s", more);
}

static void
add_three (char text[TEXT_NBYTES], const char *between,
           const double numbers[3])
{
  for (size_t i = 0; i < 3; i++)
    add_number (text, i > 0 ? between : "", numbers[i]);
}

static void
add_differing (char text[TEXT_NBYTES], const char *what, const char *between,
               const double a[3], const double b[3])
{
  add_text (text, what);
  add_three (text, between, a);
  add_text (text, ", not ");
  add_three (text, between, b);
}

static void
add_affine (char text[TEXT_NBYTES], double affine[3][4])
{
  for (size_t i = 0; i < 12; i++)
    add_number (text, i == 0 ? "[[" : i % 4 == 0 ? "], [" : ", ",
                affine[i / 4][i % 4]);
  add_text (text, "]]");
}

static void
add_differing_affines (char text[TEXT_NBYTES], double a[3][4], double b[3][4])
{
  add_text (text, "; affine ");
  add_affine (text, a);
  add_text (text, ", not ");
  add_affine (text, b);
}

/* An affine as spacing, directions and origin. */
struct parts {
  double spacing[3], direction[3][3], origin[3];
};

static void
split_affine (double affine[3][4], struct parts *parts)
{
  for (size_t i = 0; i < 3; i++) {
    parts->spacing[i] = sqrt (affine[0][i] * affine[0][i]
                              + affine[1][i] * affine[1][i]
                              + affine[2][i] * affine[2][i]);
    for (size_t row = 0; row < 3; row++)
      parts->direction[i][row] = affine[row][i] / parts->spacing[i];
    parts->origin[i] = affine[i][3];
  }
}

static void
join_affine (const struct parts *spacing, const struct parts *direction,
             const struct parts *origin, double affine[3][4])
{
  for (size_t row = 0; row < 3; row++) {
    for (size_t i = 0; i < 3; i++)
      affine[row][i] = direction->direction[i][row] * spacing->spacing[i];
    affine[row][3] = origin->origin[row];
  }
}

/* Describes the parts of two affines, of x and y, that differ by more than the
 * tolerance; together small differences may be too large, and then that is all
 * numbers. */
static void
describe (const struct rd_volume_grid *x, double xs[3][4],
          const struct rd_volume_grid *y, double ys[3][4],
          double inverse[3][4], double tolerance, char text[TEXT_NBYTES])
{
  struct parts a, b;
  double mixed[3][4];
  split_affine (xs, &a);
  split_affine (ys, &b);
  join_affine (&a, &b, &b, mixed);
  if (distance (inverse, ys, mixed, y->shape) > tolerance)
    add_differing (text, "; spacing ", " x ", a.spacing, b.spacing);
  join_affine (&b, &a, &b, mixed);
  if (distance (inverse, ys, mixed, y->shape) > tolerance) {
    if (strcmp (x->orientation, y->orientation) != 0) {
      add_text (text, "; orientation ");
      add_text (text, x->orientation);
      add_text (text, ", not ");
      add_text (text, y->orientation);
    } else
      for (size_t i = 0; i < 3; i++) {
        struct parts one = b;
        memcpy (one.direction[i], a.direction[i], sizeof one.direction[i]);
        join_affine (&b, &one, &b, mixed);
        if (!(distance (inverse, ys, mixed, y->shape) > tolerance))
          continue;
        char axis[] = "; x along ";
        axis[2] = "xyz"[i];
        add_differing (text, axis, ", ", a.direction[i], b.direction[i]);
      }
  }
  join_affine (&b, &b, &a, mixed);
  if (distance (inverse, ys, mixed, y->shape) > tolerance)
    add_differing (text, "; origin ", ", ", a.origin, b.origin);
  if (*text == '\0')
    add_differing_affines (text, xs, ys);
}

static bool
is_finite (double affine[3][4])
{
  for (size_t i = 0; i < 12; i++)
    if (!isfinite (affine[i / 4][i % 4]))
      return false;
  return true;
}

/* True if all numbers are equal, or neither is one. */
static bool
is_same (double a[3][4], double b[3][4])
{
  for (size_t i = 0; i < 12; i++) {
    double p = a[i / 4][i % 4], q = b[i / 4][i % 4];
    if (p != q && !(isnan (p) && isnan (q)))
      return false;
  }
  return true;
}

enum radio_status
rd_grids_check_affine (const struct rd_named_grid *a,
                       const struct rd_named_grid *other, double tolerance)
{
  const struct rd_volume_grid *x = a->grid, *y = other->grid;
  double xs[3][4], ys[3][4], inverse[3][4];
  char text[TEXT_NBYTES] = "", far[RD_NUMBER_NBYTES];
  memcpy (xs, x->affine, sizeof xs);
  memcpy (ys, y->affine, sizeof ys);
  if (is_same (xs, ys))
    return RADIO_OK;
  if (!is_finite (xs) || !rd_matrix_invert (ys, inverse)) {
    add_differing_affines (text, xs, ys);
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not on the grid of %s: %s",
                    a->name, other->name, text + 2);
  }
  double apart = distance (inverse, ys, xs, y->shape);
  if (apart <= tolerance)
    return RADIO_OK;
  describe (x, xs, y, ys, inverse, tolerance, text);
  write_number (far, apart, NDISTANCE_DIGITS);
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: up to %s voxels off the grid of "
                  "%s: %s", a->name, far, other->name, text + 2);
}

enum radio_status
rd_grids_check_mask (const struct radio_volume_info *mask,
                     const struct radio_volume_info *volume)
{
  struct rd_volume_grid a, b;
  rd_volume_grid_get (mask, &a);
  rd_volume_grid_get (volume, &b);
  const struct rd_named_grid grid = { mask->path, &a };
  const struct rd_named_grid other = { volume->path, &b };
  RD_TRY (rd_grids_check_shape (&grid, &other));
  RD_TRY (rd_grids_check_unit (&grid, &other));
  return rd_grids_check_affine (&grid, &other, MASK_TOLERANCE);
}
