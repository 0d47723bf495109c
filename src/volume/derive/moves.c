/* SPDX-License-Identifier: MIT */
/* Operations that move voxels as they are: each changes the stage's grid, and
 * the affine, so that a voxel keeps its place in space. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/element/convert.h"
#include "src/volume/derive/derive.h"

/* Fails unless the image has an axis, which an operation changes. */
static enum radio_status
need_axis (const struct derivation *d, size_t j)
{
  if (d->axes[j] < d->grid.rank)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the image is 2-D and has no axis %c",
                  (int) ("xyz"[j]));
}

void
rd_derivation_move_origin (struct derivation *d, size_t j, double start)
{
  for (size_t i = 0; i < 3; i++)
    d->affine[i][3] += d->affine[i][j] * start;
}

static enum radio_status
crop_axis (struct derivation *d, size_t j, uint64_t start, uint64_t n)
{
  if (start == 0 && n == rd_derivation_length (d, j))
    return RADIO_OK;
  RD_TRY (need_axis (d, j));
  rd_derivation_move_origin (d, j, (double) start);
  return rd_grid_crop (&d->grid, d->axes[j], start, n);
}

enum radio_status
rd_derive_cropped (struct derivation *d, const struct rd_step *step)
{
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = rd_derivation_length (d, j), start = (uint64_t) step->first[j];
    uint64_t end = step->has_end[j] ? (uint64_t) step->second[j] : n;
    if (start > 0 && start >= n)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%c: %" PRIu64 " is out of range "
                      "(0-%" PRIu64 ")", (int) ("xyz"[j]), start,
                      n > 0 ? n - 1 : 0);
    if (end > n)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%c: the end %" PRIu64 " is out "
                      "of range (1-%" PRIu64 ")", (int) ("xyz"[j]), end, n);
    RD_TRY (crop_axis (d, j, start, end - start));
  }
  return RADIO_OK;
}

static enum radio_status
fail_fill (const struct derivation *d, double value)
{
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s (stored x %g + %g) cannot hold "
                  "%g; use another value, or an operation on values before, "
                  "as 'linear 1,0'",
                  radio_dtype_name (d->source->doc->type.dtype), d->slope,
                  d->inter, value);
}

enum radio_status
rd_derivation_fill (const struct derivation *d, double value,
                    struct rd_fill *fill)
{
  enum radio_dtype dtype = d->source->doc->type.dtype;
  double slope = rd_volume_is_colour (d->root) ? 1 : d->slope;
  double inter = rd_volume_is_colour (d->root) ? 0 : d->inter;
  *fill = (struct rd_fill) { .value = value, .first_kernel = d->nkernels };
  if (d->computes)
    return RADIO_OK;
  if (dtype == RADIO_RAW)
    return value == 0 ? RADIO_OK : fail_fill (d, value);
  double stored = (value - inter) / slope;
  if (rd_dtype_is_integer (dtype)) {
    if (!(fabs (stored - rint (stored)) <= 1e-6))
      return fail_fill (d, value);
    stored = rint (stored);
  }
  enum radio_dtype part = dtype == RADIO_COMPLEX64 ? RADIO_FLOAT32
    : dtype == RADIO_COMPLEX128 ? RADIO_FLOAT64 : dtype;
  if (rd_convert_find (RADIO_FLOAT64, part) ((unsigned char *) &stored,
                                             fill->stored, 1))
    return fail_fill (d, value);
  if (part != dtype)
    return RADIO_OK;
  const struct rd_row_program program = {
    .from = dtype, .compute = rd_row_compute_type (dtype), .slope = slope,
    .inter = inter,
  };
  const struct rd_row_map map = { &program, RADIO_FLOAT64, NULL };
  const struct rd_rows one = {
    .from = fill->stored, .to = (unsigned char *) &fill->value, .n = 1,
    .nrows = 1,
  };
  return rd_row_map_run (&map, &one);
}

/* Pads an axis; the first that a step pads makes the step's fill, which is the
 * one after nfills others. */
static enum radio_status
pad_axis (struct derivation *d, const struct rd_step *step, size_t nfills,
          size_t j, uint64_t before, uint64_t after)
{
  if (before == 0 && after == 0)
    return RADIO_OK;
  RD_TRY (need_axis (d, j));
  if (step->mode == RD_PAD_VALUE && d->nfills == nfills)
    RD_TRY (rd_derivation_fill (d, step->value, &d->fills[d->nfills++]));
  rd_derivation_move_origin (d, j, -(double) before);
  return rd_grid_pad (&d->grid, d->axes[j], before, after, step->mode,
                      d->nfills);
}

enum radio_status
rd_derive_padded (struct derivation *d, const struct rd_step *step)
{
  size_t nfills = d->nfills;
  for (size_t j = 0; j < 3; j++)
    RD_TRY (pad_axis (d, step, nfills, j, (uint64_t) step->first[j],
                      (uint64_t) step->second[j]));
  return RADIO_OK;
}

enum radio_status
rd_derive_cropped_or_padded (struct derivation *d, const struct rd_step *step)
{
  size_t nfills = d->nfills;
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = rd_derivation_length (d, j), size = (uint64_t) step->second[j];
    uint64_t start = 0, before = 0;
    if (step->has_at && step->first[j] >= 0)
      start = (uint64_t) step->first[j];
    else if (step->has_at)
      before = (uint64_t) -step->first[j];
    else if (n >= size && step->has_within)
      start = rd_min_u64 (n - size, (uint64_t) (step->within[j]
                                                * (double) (n - size + 1)));
    else if (n >= size)
      start = (n - size) / 2;
    else
      before = (size - n) / 2;
    if (start >= n || before >= size)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%c: the result lies outside of "
                      "the image of %" PRIu64 " voxels",
                      (int) ("xyz"[j]), n);
    uint64_t kept = rd_min_u64 (n - start, size - before);
    RD_TRY (crop_axis (d, j, start, kept));
    RD_TRY (pad_axis (d, step, nfills, j, before, size - before - kept));
  }
  return RADIO_OK;
}

static enum radio_status
flip (struct derivation *d, size_t j)
{
  uint64_t n = rd_derivation_length (d, j);
  RD_TRY (need_axis (d, j));
  if (n > 0)
    rd_derivation_move_origin (d, j, (double) (n - 1));
  for (size_t i = 0; i < 3; i++)
    d->affine[i][j] = -d->affine[i][j];
  d->is_turned = true;
  return rd_grid_flip (&d->grid, d->axes[j]);
}

enum radio_status
rd_derivation_swap (struct derivation *d, size_t j, size_t k)
{
  RD_TRY (need_axis (d, j));
  RD_TRY (need_axis (d, k));
  for (size_t i = 0; i < 3; i++) {
    double held = d->affine[i][j];
    d->affine[i][j] = d->affine[i][k];
    d->affine[i][k] = held;
  }
  double held = d->spacing[d->axes[j]];
  d->spacing[d->axes[j]] = d->spacing[d->axes[k]];
  d->spacing[d->axes[k]] = held;
  d->is_turned = true;
  rd_grid_swap (&d->grid, d->axes[j], d->axes[k]);
  return RADIO_OK;
}

enum radio_status
rd_derive_rotated (struct derivation *d, const struct rd_step *step)
{
  size_t from = (size_t) step->plane[0], to = (size_t) step->plane[1];
  for (int i = 0; i < step->turns; i++) {
    RD_TRY (flip (d, to));
    RD_TRY (rd_derivation_swap (d, from, to));
  }
  return RADIO_OK;
}

/* True if two letters name the two directions of one axis, or one of them. */
static bool
same_axis (char a, char b)
{
  static const char letters[] = "RLAPSI";
  return (strchr (letters, a) - letters) / 2
         == (strchr (letters, b) - letters) / 2;
}

enum radio_status
rd_derive_reoriented (struct derivation *d, const struct rd_step *step)
{
  char letters[4];
  size_t axis_of[3];
  if (d->root->info.orientation[0] == '\0'
      || !rd_orientation (d->affine, letters, axis_of))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the orientation is unknown: the "
                    "affine is missing, singular or not finite");
  for (size_t j = 0; j < 3; j++) {
    size_t k = j;
    while (!same_axis (letters[k], step->letters[j]))
      k++;
    bool is_reversed = letters[k] != step->letters[j];
    if (k != j) {
      RD_TRY (rd_derivation_swap (d, j, k));
      letters[k] = letters[j];
    }
    if (is_reversed)
      RD_TRY (flip (d, j));
  }
  return RADIO_OK;
}

enum radio_status
rd_derive_flipped (struct derivation *d, const struct rd_step *step)
{
  for (size_t j = 0; j < 3; j++)
    if (step->axes[j])
      RD_TRY (flip (d, j));
  return RADIO_OK;
}
