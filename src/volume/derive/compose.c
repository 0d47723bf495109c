/* SPDX-License-Identifier: MIT */
/* Interpolations, composed: where the source of a stage is itself sampled by
 * the same interpolation, and voxels were only moved since, the places of both
 * are multiplied, and the image is interpolated once.  Where axes stay parallel
 * they are sampled one by one, and what is outside is padding; else voxels are
 * gathered. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/operation/matrix.h"
#include "src/volume/derive/derive.h"

/* The largest rounding error of a value that should be a whole number. */
#define ROUNDING 1e-9

/* Rounds numbers that are whole up to the last bits, so that quarter turns
 * and matching grids pick voxels as they are. */
static void
round_matrix (double matrix[3][4])
{
  for (int i = 0; i < 12; i++) {
    double *entry = &matrix[i / 4][i % 4];
    if (fabs (*entry - rint (*entry)) < ROUNDING)
      *entry = rint (*entry) + 0.0;
  }
}

/* Has outputs placed where `map' brings them first. */
static void
place_through (struct rd_placement *placement, double map[3][4])
{
  rd_matrix_multiply (placement->matrix, map, placement->matrix);
  round_matrix (placement->matrix);
  for (size_t i = 0; i < placement->nfields; i++) {
    double (*matrix)[4] = placement->fields[i].matrix;
    rd_matrix_multiply (matrix, map, matrix);
    round_matrix (matrix);
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

/* The same; false also if a field of view is turned, or if the image has not
 * both axes that are exchanged. */
static bool
is_parallel (const struct derivation *d, struct rd_placement *placement,
             size_t axis_of[3])
{
  size_t axis_of_field[3];
  for (size_t i = 0; i < placement->nfields; i++)
    if (!find_axes (placement->fields[i].matrix, axis_of_field))
      return false;
  if (!find_axes (placement->matrix, axis_of))
    return false;
  for (size_t j = 0; j < 3; j++)
    if (axis_of[j] != j && d->axes[j] >= d->grid.rank)
      return false;
  return true;
}

/*------------------------------------------------------------------------
 * Joining
 *----------------------------------------------------------------------*/

/* Finds where the voxels of the stage are in its source; false if some are
 * repeated, or padding with another value than the fill for outside. */
static bool
find_moves (const struct derivation *d, double map[3][4])
{
  memset (map, 0, 3 * sizeof *map);
  for (size_t j = 0; j < 3; j++) {
    const struct rd_segment *inner = NULL;
    double before = 0;
    map[j][j] = 1;
    if (d->axes[j] >= d->grid.rank)
      continue;
    const struct rd_grid_axis *axis = &d->grid.axes[d->axes[j]];
    for (size_t i = 0; i < axis->nsegments; i++) {
      const struct rd_segment *segment = &axis->segments[i];
      bool is_element = segment->fill == 0;
      if (is_element && (inner || (segment->step == 0 && segment->n > 1)))
        return false;
      if (is_element)
        inner = segment;
      else if (segment->fill != d->outside)
        return false;
      else if (!inner)
        before += (double) segment->n;
    }
    if (!inner)
      return false;
    double step = inner->step < 0 ? -1 : 1;
    size_t i = rd_find_axis (d->axes, axis->source);
    map[j][j] = 0;
    map[i][j] = step;
    map[i][3] = (double) inner->start - step * before;
  }
  return true;
}

/* True if outputs are at elements, as they are of smoothing. */
static bool
is_at_elements (const struct rd_placement *placement)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      double entry = placement->matrix[i][j];
      if (j == 3 ? entry != rint (entry) : entry != 0 && fabs (entry) != 1)
        return false;
    }
  return true;
}

static bool
smooths (const struct rd_placement *placement)
{
  return placement->sigma[0] > 0 || placement->sigma[1] > 0
         || placement->sigma[2] > 0;
}

/* Places a result on the source of the stage's source; false if one
 * interpolation cannot do what both do. */
static bool
join (const struct derivation *d, struct rd_placement *placement)
{
  struct rd_placement joined = d->placed;
  bool picks = rd_interpolation_picks (placement->interpolation);
  double map[3][4];
  size_t axis_of[3];
  if (!d->is_placed || d->nkernels > 0 || smooths (placement)
      || rd_interpolation_picks (joined.interpolation) != picks
      || (joined.interpolation != placement->interpolation
          && (picks || joined.has_coefficients || !is_at_elements (&joined)))
      || (picks && smooths (&joined)) || !find_moves (d, map))
    return false;
  /* A pipeline has no NaN. */
  if (joined.nfields > 0 && placement->nfields > 0
      && joined.value != placement->value)
    return false;
  if (joined.nfields + placement->nfields > RD_GATHER_MAX_FIELDS)
    return false;
  rd_matrix_multiply (map, placement->matrix, map);
  place_through (&joined, map);
  if (!rd_matrix_invert (joined.matrix, NULL))
    return false;
  if (joined.nfields == 0)
    joined.value = placement->value;
  memcpy (joined.fields + joined.nfields, placement->fields,
          placement->nfields * sizeof *joined.fields);
  joined.nfields += placement->nfields;
  joined.interpolation = placement->interpolation;
  memcpy (joined.size, placement->size, sizeof joined.size);
  if (smooths (&joined) && !is_parallel (d, &joined, axis_of))
    return false;
  *placement = joined;
  return true;
}

/*------------------------------------------------------------------------
 * Along axes
 *----------------------------------------------------------------------*/

/* Limits the outputs along an axis to those inside of all fields of view; false
 * if there are none. */
static bool
limit_axis (struct rd_placement *placement, size_t j, uint64_t *first,
            uint64_t *n)
{
  double begin = 0, end = (double) placement->size[j];
  for (size_t i = 0; i < placement->nfields; i++) {
    struct rd_gather_field *field = &placement->fields[i];
    size_t axis_of[3];
    (void) find_axes (field->matrix, axis_of);
    size_t k = axis_of[j];
    double scale = field->matrix[k][j], offset = field->matrix[k][3];
    double a = (-0.5 - offset) / scale;
    double b = ((double) field->size[k] - 0.5 - offset) / scale;
    begin = fmax (begin, scale > 0 ? ceil (a) : floor (b) + 1);
    end = fmin (end, scale > 0 ? ceil (b) : floor (a) + 1);
  }
  if (!(begin < end))
    return false;
  *first = (uint64_t) begin;
  *n = rd_min_u64 ((uint64_t) end, placement->size[j]) - *first;
  return true;
}

/* Pads an axis of the stage to n voxels, with the fill for outside. */
static enum radio_status
pad_outside (struct derivation *d, double value, size_t j, uint64_t before,
             uint64_t n)
{
  size_t axis = d->axes[j];
  uint64_t inside = d->grid.axes[axis].size;
  if (d->outside == 0) {
    struct rd_fill *fill = &d->fills[d->nfills++];
    RD_TRY (rd_derivation_fill (d, value, fill));
    d->outside = d->nfills;
  }
  return rd_grid_pad (&d->grid, axis, before, n - before - inside,
                      RD_PAD_VALUE, d->outside);
}

/* Brings the axes of the stage into the order of the result, each along the one
 * of the source. */
static void
order_stage (struct derivation *d, const size_t axis_of[3])
{
  for (size_t j = 0; j < 3; j++) {
    size_t k = j;
    if (d->axes[j] >= d->grid.rank)
      continue;
    while (d->grid.axes[d->axes[k]].source != d->axes[axis_of[j]])
      k++;
    rd_grid_swap (&d->grid, d->axes[j], d->axes[k]);
  }
}

/* Samples a source, which is taken, axis by axis. */
static enum radio_status
sample_axes (struct derivation *d, struct radio_array *source,
             struct rd_placement *placement, const size_t axis_of[3])
{
  struct rd_sampled_axis along[3];
  struct radio_array *array;
  uint64_t first[3] = { 0 }, n[3], size[3];
  double map[3][4] = { { 0 } };
  bool is_inside[3];
  size_t rank = source->doc->rank;
  memcpy (size, placement->size, sizeof size);
  for (size_t j = 0; j < 3; j++)
    is_inside[j] = limit_axis (placement, j, &first[j], &n[j]);
  /* A 2-D image is outside of another plane. */
  for (size_t j = 0; j < 3; j++)
    if (d->axes[j] >= rank && !is_inside[j])
      is_inside[0] = false;
  for (size_t j = 0; j < 3; j++) {
    size_t i = axis_of[j];
    if (!is_inside[j]) {
      first[j] = 0;
      n[j] = 1;
    }
    double scale = placement->matrix[i][j];
    along[i] = (struct rd_sampled_axis) {
      .source_size = placement->source_size[i], .size = n[j],
      .scale = scale,
      .offset = placement->matrix[i][3] + scale * (double) first[j],
      .interpolation = placement->interpolation,
      .sigma = placement->sigma[i],
    };
    map[j][i] = 1;
    map[j][3] = (double) first[j];
  }
  RD_TRY (rd_derivation_sample (d, source, placement->interpolation, along,
                                NULL, NULL, &array));
  RD_TRY (rd_derivation_continue (d, array, placement->interpolation));
  place_through (placement, map);
  order_stage (d, axis_of);
  for (size_t j = 0; j < 3; j++) {
    if (d->axes[j] >= rank)
      continue;
    if (!is_inside[j])
      RD_TRY (rd_grid_crop (&d->grid, d->axes[j], 0, 0));
    if (!is_inside[j] || n[j] < size[j])
      RD_TRY (pad_outside (d, placement->value, j, first[j], size[j]));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Gathered
 *----------------------------------------------------------------------*/

/* Makes the element for voxels outside, of the type that the stage delivers. */
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

/* Replaces a source by the coefficients of its spline, with what they need
 * beyond the image. */
static enum radio_status
make_coefficients (const struct derivation *d,
                   const struct rd_placement *placement,
                   struct radio_array **source)
{
  struct rd_sampled_axis along[3];
  size_t rank = (*source)->doc->rank;
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = placement->source_size[j];
    bool has_axis = d->axes[j] < rank;
    along[j] = (struct rd_sampled_axis) {
      .source_size = n, .size = n + (has_axis ? 2 * RD_GATHER_MARGIN : 0),
      .scale = 1, .offset = has_axis ? -RD_GATHER_MARGIN : 0,
      .interpolation = RD_INTERPOLATE_LINEAR,
      .makes_coefficients = has_axis,
    };
  }
  return rd_derivation_sample (d, *source, RD_INTERPOLATE_LINEAR, along, NULL,
                               NULL, source);
}

/* Gathers voxels of a source, which is taken. */
static enum radio_status
gather_voxels (struct derivation *d, struct radio_array *source,
               struct rd_placement *placement, struct rd_gather *gather)
{
  struct rd_sampled_axis along[3];
  struct radio_array *array;
  memcpy (gather->matrix, placement->matrix, sizeof gather->matrix);
  memcpy (gather->size, placement->source_size, sizeof gather->size);
  gather->nfields = placement->nfields;
  memcpy (gather->fields, placement->fields, sizeof gather->fields);
  for (size_t j = 0; j < 3; j++)
    along[j] = (struct rd_sampled_axis) {
      .source_size = placement->source_size[j], .size = placement->size[j],
      .scale = 1,
    };
  if (gather->interpolation == RD_INTERPOLATE_CUBIC
      && !placement->has_coefficients) {
    RD_TRY (make_coefficients (d, placement, &source));
    placement->has_coefficients = true;
  }
  RD_TRY (rd_derivation_sample (d, source, gather->interpolation, along,
                                gather, NULL, &array));
  return rd_derivation_continue (d, array, placement->interpolation);
}

/*------------------------------------------------------------------------
 * Either
 *----------------------------------------------------------------------*/

enum radio_status
rd_derivation_placement (const struct derivation *d,
                         enum rd_interpolation interpolation,
                         struct rd_placement *placement)
{
  *placement = (struct rd_placement) { .interpolation = interpolation };
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = rd_derivation_length (d, j);
    if (n == 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "the image is empty: there is "
                      "nothing to interpolate");
    placement->matrix[j][j] = 1;
    placement->size[j] = placement->source_size[j] = n;
  }
  return RADIO_OK;
}

void
rd_placement_cut (struct rd_placement *placement, double value)
{
  struct rd_gather_field *field = &placement->fields[placement->nfields++];
  round_matrix (placement->matrix);
  memcpy (field->matrix, placement->matrix, sizeof field->matrix);
  memcpy (field->size, placement->source_size, sizeof field->size);
  placement->value = value;
}

enum radio_status
rd_derivation_place (struct derivation *d,
                     const struct rd_placement *wanted)
{
  struct rd_placement placement = *wanted;
  struct rd_gather gather = { .interpolation = wanted->interpolation };
  struct radio_array *source;
  size_t axis_of[3];
  RD_TRY (rd_derivation_need (d, wanted->interpolation));
  bool is_joined = join (d, &placement);
  bool is_along = is_parallel (d, &placement, axis_of)
                  && !placement.has_coefficients;
  if (!is_along) {
    if (wanted->interpolation == RD_INTERPOLATE_CUBIC
        && d->axes[2] >= d->grid.rank)
      return rd_fail (RADIO_ERROR_ARGUMENT, "the image is 2-D; turn it by "
                      "linear or nearest");
    RD_TRY (set_outside (d, placement.value, &gather));
  }
  if (is_joined) {
    source = RD_STEAL (d->source->sampled->source);
    rd_derivation_clear (d);
    d->nsamplings--;
  } else
    RD_TRY (rd_derivation_end (d, &source));
  RD_TRY (is_along ? sample_axes (d, source, &placement, axis_of)
                   : gather_voxels (d, source, &placement, &gather));
  d->is_placed = wanted->interpolation != RD_INTERPOLATE_MAJORITY;
  d->placed = placement;
  return RADIO_OK;
}
