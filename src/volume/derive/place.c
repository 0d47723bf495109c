/* SPDX-License-Identifier: MIT */
/* Operations that sample an image at any places in space: moved by an affine
 * map, or on the grid of another volume. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "src/operation/matrix.h"
#include "src/volume/derive/derive.h"

/* The grid of a result. */
struct target {
  uint64_t size[3];                   /* x, y, z */
  double affine[3][4];
  double spacing[3];
};

/* Samples the image on a grid, whose places in space are mapped to the image's
 * by `map', or are the image's if that is NULL. */
static enum radio_status
place (struct derivation *d, const struct rd_step *step,
       const struct target *target, double map[3][4])
{
  struct rd_placement placement;
  double matrix[3][4], inverse[3][4];
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
  RD_TRY (rd_derivation_placement (d, step->interpolation, &placement));
  rd_matrix_multiply (inverse, matrix, placement.matrix);
  memcpy (placement.size, target->size, sizeof placement.size);
  rd_placement_cut (&placement, step->value);
  RD_TRY (rd_derivation_place (d, &placement));
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
