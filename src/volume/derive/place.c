/* SPDX-License-Identifier: MIT */
/* Operations that sample an image at any places in space: moved by an affine
 * map, or on the grid of another volume.  Where axes stay parallel they are
 * sampled one by one, and what is outside is padding; else voxels are
 * gathered. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/operation/matrix.h"
#include "src/volume/derive/derive.h"

/* The grid of a result. */
struct target {
  uint64_t size[3];                   /* x, y, z */
  double affine[3][4];
  double spacing[3];
};

/* Rounding leaves so much of what should be a whole number. */
#define ROUNDING 1e-9

/* Rounds what is whole but for the last bits, so that quarters of a turn and
 * grids that fit pick voxels as they are. */
static void
round_matrix (double matrix[3][4])
{
  for (int i = 0; i < 12; i++) {
    double *entry = &matrix[i / 4][i % 4];
    if (fabs (*entry - rint (*entry)) < ROUNDING)
      *entry = rint (*entry) + 0.0;
  }
}

/* Finds the axis of the source along each of a result; false if axes are
 * turned. */
static bool
find_axes (double matrix[3][4], size_t axis_of[3])
{
  for (size_t j = 0; j < 3; j++) {
    size_t n = 0, m = 0;
    for (size_t i = 0; i < 3; i++) {
      if (matrix[i][j] != 0) {
        axis_of[j] = i;
        n++;
      }
      m += matrix[j][i] != 0;
    }
    if (n != 1 || m != 1)
      return false;
  }
  return true;
}

/* Limits outputs to those inside of the source: from *first on.  False if there
 * is none. */
static bool
limit_axis (struct rd_sampled_axis *along, uint64_t *first)
{
  double n = (double) along->source_size, size = (double) along->size;
  double a = (-0.5 - along->offset) / along->scale;
  double b = (n - 0.5 - along->offset) / along->scale;
  double begin = along->scale > 0 ? ceil (a) : floor (b) + 1;
  double end = along->scale > 0 ? ceil (b) : floor (a) + 1;
  begin = fmax (begin, 0);
  end = fmin (end, size);
  if (!(begin < end))
    return false;
  *first = (uint64_t) begin;
  along->size = rd_min_u64 ((uint64_t) end, along->size) - *first;
  along->offset += along->scale * begin;
  return true;
}

/* Samples axes one by one. */
static enum radio_status
sample_axes (struct derivation *d, const struct rd_step *step,
             const struct target *target, double matrix[3][4])
{
  struct rd_sampled_axis along[3];
  uint64_t first[3] = { 0 };
  bool is_inside[3];
  RD_TRY (rd_derive_axes (d, step->interpolation, along));
  for (size_t j = 0; j < 3; j++) {
    along[j].size = target->size[j];
    along[j].scale = matrix[j][j];
    along[j].offset = matrix[j][3];
    is_inside[j] = limit_axis (&along[j], &first[j]);
    if (!is_inside[j])
      along[j].size = 1;
  }
  /* A 2-D image is outside of another plane. */
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] >= d->grid.rank && !is_inside[j]) {
      along[0].size = 1;
      first[0] = 0;
      is_inside[0] = false;
    }
  RD_TRY (rd_derivation_sample (d, step->interpolation, along));
  struct rd_fill *fill = NULL;
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = target->size[j], before = first[j];
    size_t axis = d->axes[j];
    if (axis >= d->grid.rank)
      continue;
    uint64_t inside = is_inside[j] ? along[j].size : 0;
    if (inside == n)
      continue;
    if (!fill) {
      fill = &d->fills[d->nfills++];
      RD_TRY (rd_derivation_fill (d, step->value, fill));
    }
    if (!is_inside[j])
      RD_TRY (rd_grid_crop (&d->grid, axis, 0, 0));
    RD_TRY (rd_grid_pad (&d->grid, axis, before, n - before - inside,
                         RD_PAD_VALUE, d->nfills));
  }
  return RADIO_OK;
}

/* Makes the element of what is outside, of the type that the stage delivers. */
static enum radio_status
set_outside (const struct derivation *d, double value,
             struct rd_gather *gather)
{
  enum radio_dtype dtype = d->source->doc->type.dtype;
  struct rd_fill fill;
  if (d->source->doc->type.item_nbytes > sizeof fill.stored)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "the image is of %s of %zu bytes, "
                    "which is not moved", radio_dtype_name (dtype),
                    d->source->doc->type.item_nbytes);
  if (!d->computes && rd_interpolation_picks (gather->interpolation)) {
    RD_TRY (rd_derivation_fill (d, value, &fill));
    memcpy (gather->outside, fill.stored, sizeof fill.stored);
    return RADIO_OK;
  }
  const float narrow = (float) value;
  if (rd_row_compute_type (dtype) == RADIO_FLOAT32)
    memcpy (gather->outside, &narrow, sizeof narrow);
  else
    memcpy (gather->outside, &value, sizeof value);
  return RADIO_OK;
}

/* Makes the coefficients of splines, with what they need beyond the image. */
static enum radio_status
make_coefficients (struct derivation *d)
{
  struct rd_sampled_axis along[3];
  RD_TRY (rd_derive_axes (d, RD_INTERPOLATE_LINEAR, along));
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] < d->grid.rank) {
      along[j].makes_coefficients = true;
      along[j].size += 2 * RD_GATHER_MARGIN;
      along[j].offset = -RD_GATHER_MARGIN;
    }
  return rd_derivation_sample (d, RD_INTERPOLATE_LINEAR, along);
}

/* Gathers voxels. */
static enum radio_status
gather_voxels (struct derivation *d, const struct rd_step *step,
               const struct target *target, double matrix[3][4])
{
  struct rd_gather gather = { .interpolation = step->interpolation };
  struct rd_sampled_axis along[3];
  RD_TRY (rd_derive_axes (d, step->interpolation, along));
  if (step->interpolation == RD_INTERPOLATE_CUBIC
      && d->axes[2] >= d->grid.rank)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the image is 2-D; turn it by linear "
                    "or nearest");
  memcpy (gather.matrix, matrix, sizeof gather.matrix);
  for (size_t j = 0; j < 3; j++)
    gather.size[j] = along[j].source_size;
  RD_TRY (rd_derivation_need (d, step->interpolation));
  RD_TRY (set_outside (d, step->value, &gather));
  if (step->interpolation == RD_INTERPOLATE_CUBIC)
    RD_TRY (make_coefficients (d));
  return rd_derivation_gather (d, target->size, &gather);
}

/* Samples the image on a grid, whose places in space are mapped to the image's
 * by `map', or are the image's if that is NULL. */
static enum radio_status
place (struct derivation *d, const struct rd_step *step,
       const struct target *target, double map[3][4])
{
  double matrix[3][4], inverse[3][4];
  size_t axis_of[3];
  memcpy (matrix, target->affine, sizeof matrix);
  if (*d->root->info.orientation == '\0'
      || !rd_matrix_invert (d->affine, inverse))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the image's affine is singular or "
                    "not finite");
  if (!rd_matrix_invert (matrix, NULL))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the affine of '%s' is singular or "
                    "not finite", step->name ? step->name : "the result");
  if (map)
    rd_matrix_multiply (map, matrix, matrix);
  rd_matrix_multiply (inverse, matrix, matrix);
  round_matrix (matrix);
  bool is_parallel = find_axes (matrix, axis_of);
  for (size_t j = 0; j < 3; j++)
    if (is_parallel && axis_of[j] != j && d->axes[2] >= d->grid.rank)
      is_parallel = false;
  if (!is_parallel)
    RD_TRY (gather_voxels (d, step, target, matrix));
  else {
    for (size_t j = 0; j < 3; j++)
      while (axis_of[j] != j) {
        /* The source's axis of another place goes to its own. */
        size_t k = axis_of[j];
        double row[4];
        RD_TRY (rd_derivation_swap (d, j, k));
        memcpy (row, matrix[j], sizeof row);
        memcpy (matrix[j], matrix[k], sizeof row);
        memcpy (matrix[k], row, sizeof row);
        (void) find_axes (matrix, axis_of);
      }
    RD_TRY (sample_axes (d, step, target, matrix));
  }
  memcpy (d->affine, target->affine, sizeof d->affine);
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] < d->grid.rank)
      d->spacing[d->axes[j]] = target->spacing[j];
  return RADIO_OK;
}

enum radio_status
rd_derive_moved (struct derivation *d, const struct rd_step *step)
{
  struct target target;
  double map[3][4];
  memcpy (map, step->matrix, sizeof map);
  memcpy (target.affine, d->affine, sizeof target.affine);
  for (size_t j = 0; j < 3; j++) {
    size_t axis = d->axes[j];
    target.size[j] = rd_derivation_length (d, j);
    target.spacing[j] = axis < d->grid.rank ? d->spacing[axis] : 1;
  }
  if (step->is_about_centre) {
    double centre[3];
    for (size_t i = 0; i < 3; i++) {
      centre[i] = d->affine[i][3];
      for (size_t j = 0; j < 3; j++)
        centre[i] += d->affine[i][j] * ((double) target.size[j] - 1) / 2;
    }
    for (size_t i = 0; i < 3; i++) {
      map[i][3] += centre[i];
      for (size_t j = 0; j < 3; j++)
        map[i][3] -= map[i][j] * centre[j];
    }
  }
  return place (d, step, &target, map);
}

/* Keeps the grid of the volume that a step names. */
static enum radio_status
find_grid (const struct derivation *d, struct rd_step *step)
{
  struct radio_volume *like RD_CLEANUP (rd_cleanup_volume) = NULL;
  RD_TRY (rd_open_grid (d->root, step->name, &like));
  for (size_t j = 0; j < 3; j++) {
    size_t axis = rd_volume_axis (like, "xyz"[j]);
    bool has_axis = axis < like->info.array.rank;
    uint64_t size = has_axis ? like->info.array.shape[axis] : 1;
    if (size > INT64_MAX)
      return rd_fail (RADIO_ERROR_LIMIT, "'%s' has %" PRIu64 " voxels along %c",
                      step->name, size, (int) ("xyz"[j]));
    step->second[j] = (int64_t) size;
    step->spacing[j] = has_axis ? like->info.spacing[axis] : 1;
  }
  /* Where its own is not usable, info has another one. */
  if (*like->info.orientation == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "the affine of '%s' is singular or "
                    "not finite", step->name);
  memcpy (step->matrix, like->info.affine, sizeof step->matrix);
  step->has_grid = true;
  return RADIO_OK;
}

enum radio_status
rd_derive_like (struct derivation *d, struct rd_step *step)
{
  struct target target;
  if (!step->has_grid)
    RD_TRY (find_grid (d, step));
  for (size_t j = 0; j < 3; j++) {
    target.size[j] = (uint64_t) step->second[j];
    target.spacing[j] = step->spacing[j];
    if (d->axes[j] >= d->grid.rank && target.size[j] > 1)
      return rd_fail (RADIO_ERROR_ARGUMENT, "the image is 2-D, '%s' is not",
                      step->name);
  }
  memcpy (target.affine, step->matrix, sizeof target.affine);
  d->has_grid = true;
  return place (d, step, &target, NULL);
}
