/* SPDX-License-Identifier: MIT */
/* Operations that interpolate along axes: the places that they ask for in the
 * grid before. */
#include <config.h>

#include <inttypes.h>
#include <math.h>

#include "src/base/error.h"
#include "src/volume/derive/derive.h"

/* Samples an axis at a distance of `scale' voxels.  The corner of the first
 * voxel is kept, or its centre. */
static void
set_scale (struct rd_placement *placement, size_t j, double scale,
           bool is_centred)
{
  placement->matrix[j][j] = scale;
  placement->matrix[j][3] = is_centred ? 0 : (scale - 1) / 2;
}

static enum radio_status
fail_size (size_t j, double size)
{
  return rd_fail (RADIO_ERROR_LIMIT, "%c: %.4g voxels, more than 2^62; use a "
                  "larger spacing", (int) ("xyz"[j]), size);
}

/* Sets the smoothing of an axis, in its elements. */
static enum radio_status
set_sigma (struct rd_placement *placement, size_t j, double sigma)
{
  double radius = rd_smooth_radius (sigma);
  if (!(radius <= (double) RD_SMOOTH_MAX_RADIUS))
    return rd_fail (RADIO_ERROR_LIMIT, "%c: smoothing by %.4g voxels reaches "
                    "%.4g voxels, more than %" PRIu64, (int) ("xyz"[j]), sigma,
                    radius, RD_SMOOTH_MAX_RADIUS);
  placement->sigma[j] = sigma;
  return RADIO_OK;
}

/* Smooths axes that shrink so that what the new voxels cannot hold is gone: a
 * voxel is taken for a Gaussian of its width at half maximum, and a new voxel
 * becomes one that is larger by the scale (Cardoso et al., "Scale factor point
 * spread function matching", MICCAI 2015). */
static enum radio_status
smooth_shrunk (struct rd_placement *placement)
{
  for (size_t j = 0; j < 3; j++) {
    double k = placement->matrix[j][j];
    if (k > 1)
      RD_TRY (set_sigma (placement, j, sqrt ((k * k - 1) / (8 * log (2.0)))));
  }
  return RADIO_OK;
}

/* Interpolates along the axes; the affine follows. */
static enum radio_status
place_along (struct derivation *d, const struct rd_placement *placement)
{
  RD_TRY (rd_derivation_place (d, placement));
  for (size_t j = 0; j < 3; j++) {
    double scale = placement->matrix[j][j];
    rd_derivation_move_origin (d, j, placement->matrix[j][3]);
    for (size_t i = 0; i < 3; i++)
      d->affine[i][j] *= scale;
    if (d->axes[j] < d->grid.rank)
      d->spacing[d->axes[j]] *= scale;
  }
  return RADIO_OK;
}

enum radio_status
rd_derive_smoothed (struct derivation *d, const struct rd_step *step)
{
  struct rd_placement placement;
  RD_TRY (rd_derivation_placement (d, RD_INTERPOLATE_LINEAR, &placement));
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] < d->grid.rank && step->spacing[j] > 0)
      RD_TRY (set_sigma (&placement, j,
                         step->spacing[j] / d->spacing[d->axes[j]]));
  return place_along (d, &placement);
}

enum radio_status
rd_derive_resampled (struct derivation *d, const struct rd_step *step)
{
  struct rd_placement placement;
  RD_TRY (rd_derivation_placement (d, step->interpolation, &placement));
  for (size_t j = 0; j < 3; j++) {
    size_t axis = d->axes[j];
    if (axis >= d->grid.rank || step->spacing[j] <= 0)
      continue;
    double n = (double) placement.size[j], before = d->spacing[axis];
    double size = floor (n * before / step->spacing[j] + 0.5);
    if (!(size <= 0x1p62))
      return fail_size (j, size);
    set_scale (&placement, j, step->spacing[j] / before, step->is_centred);
    placement.size[j] = (uint64_t) size;
    if (size < 1) {
      /* One voxel in the middle of the field of view. */
      placement.size[j] = 1;
      placement.matrix[j][3] = (n - 1) / 2;
    }
  }
  if (step->smooths)
    RD_TRY (smooth_shrunk (&placement));
  RD_TRY (place_along (d, &placement));
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] < d->grid.rank && step->spacing[j] > 0)
      d->spacing[d->axes[j]] = step->spacing[j];
  return RADIO_OK;
}

enum radio_status
rd_derive_shaped (struct derivation *d, const struct rd_step *step)
{
  struct rd_placement placement;
  RD_TRY (rd_derivation_placement (d, step->interpolation, &placement));
  for (size_t j = 0; j < 3; j++) {
    if (d->axes[j] >= d->grid.rank || step->second[j] <= 0)
      continue;
    double n = (double) placement.size[j], size = (double) step->second[j];
    placement.size[j] = (uint64_t) step->second[j];
    /* A single voxel has no distance between the first and the last. */
    if (!step->is_centred || n == 1)
      set_scale (&placement, j, n / size, false);
    else if (size > 1)
      set_scale (&placement, j, (n - 1) / (size - 1), true);
  }
  if (step->smooths)
    RD_TRY (smooth_shrunk (&placement));
  return place_along (d, &placement);
}

size_t
rd_count_interpolations (const struct radio_array *array)
{
  size_t n = 0;
  while (array->derived || array->sampled) {
    const struct rd_sampled *sampled = array->sampled;
    bool counts = sampled && !sampled->adds_noise;
    for (size_t k = 0; k < 3 && counts; k++)
      counts = !sampled->along[k].makes_coefficients;
    n += counts;
    array = sampled ? sampled->source : array->derived->source;
  }
  return n;
}
