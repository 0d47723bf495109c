/* SPDX-License-Identifier: MIT */
/* Stages: the operations on one array are put together to an array that is read
 * from it; an interpolation takes that as its source, and begins the next
 * stage.  Interpolations along axes that follow each other are joined. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/error.h"
#include "src/volume/derive/derive.h"

void
rd_derivation_clear (struct derivation *d)
{
  rd_grid_clear (&d->grid);
  if (d->owns_source)
    radio_array_close (d->source);
  rd_free (d->kernels);
  rd_free (d->fills);
  rd_free (d->statistics);
  d->owns_source = false;
  d->kernels = NULL;
  d->fills = NULL;
  d->statistics = NULL;
}

uint64_t
rd_derivation_length (const struct derivation *d, size_t j)
{
  return d->axes[j] < d->grid.rank ? d->grid.axes[d->axes[j]].size : 1;
}

enum radio_status
rd_derivation_begin (struct derivation *d, struct radio_array *source)
{
  size_t n = d->n;
  d->source = source;
  d->owns_source = source != d->root->array;
  d->nkernels = d->nfills = 0;
  RD_TRY (rd_grid_init (&d->grid, source->doc->rank, source->doc->shape));
  d->kernels = rd_calloc (2 * n, sizeof *d->kernels);
  d->fills = rd_calloc (n, sizeof *d->fills);
  if (!d->kernels || !d->fills)
    return rd_fail_memory (2 * n * sizeof *d->kernels);
  size_t nbytes = sizeof *d->statistics + n * sizeof *d->statistics->list;
  d->statistics = rd_calloc (1, nbytes);
  if (!d->statistics)
    return rd_fail_memory (nbytes);
  d->statistics->root = d->root;
  d->statistics->steps = d->steps;
  return RADIO_OK;
}

enum radio_status
rd_derivation_open (struct derivation *d, struct radio_array **array)
{
  struct radio_array *source = d->source;
  const struct rd_array_doc *from = source->doc;
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  enum radio_dtype compute = rd_row_compute_type (from->type.dtype);
  const struct rd_type type = d->computes ? rd_type_of (compute) : from->type;
  uint64_t shape[RADIO_MAX_RANK], tile[RADIO_MAX_RANK];
  for (size_t i = 0; i < d->grid.rank; i++) {
    shape[i] = d->grid.axes[i].size;
    tile[i] = from->tile_shape[d->grid.axes[i].source];
  }
  RD_TRY (rd_derived_document (from, &type, shape, tile, &document));
  RD_TRY (rd_array_doc_parse (document, d->root->path, &doc));
  struct rd_derived *derived = rd_calloc (1, sizeof *derived);
  if (!derived)
    return rd_fail_memory (sizeof *derived);
  derived->source = source;
  derived->owns_source = d->owns_source;
  d->owns_source = false;
  derived->grid = d->grid;
  d->grid = (struct rd_grid) { 0 };
  derived->nfills = d->nfills;
  derived->fills = RD_STEAL (d->fills);
  derived->computes = d->computes;
  derived->program = (struct rd_row_program) {
    .from = from->type.dtype, .compute = compute,
    .slope = d->slope, .inter = d->inter,
    .saturates = d->saturates, .nkernels = d->nkernels,
    .kernels = RD_STEAL (d->kernels),
  };
  d->nstatistics += d->statistics->n;
  if (d->statistics->n > 0) {
    derived->complete = rd_statistics_complete;
    derived->data = RD_STEAL (d->statistics);
    derived->free_data = rd_free;
  }
  return rd_derived_open (derived, RD_STEAL (doc), array);
}

/* Opens the sampled array whose source is a stage's, which is taken. */
static enum radio_status
open_sampled (const struct derivation *d, struct rd_sampled *made,
              const uint64_t *shape, struct radio_array **array)
{
  struct rd_sampled *sampled RD_CLEANUP (rd_cleanup_sampled) = made;
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  const struct rd_array_doc *from = sampled->source->doc;
  uint64_t tile[RADIO_MAX_RANK];
  memcpy (tile, from->tile_shape, sizeof tile);
  for (size_t k = 0; k < 3; k++) {
    size_t axis = sampled->axes[k];
    if (axis >= from->rank)
      continue;
    /* Of what one tile of the source makes. */
    double n = (double) tile[axis] / fabs (sampled->along[k].scale);
    tile[axis] = n < 1 ? 1 : n < (double) shape[axis] ? (uint64_t) n
                                                      : shape[axis];
  }
  RD_TRY (rd_derived_document (from, &from->type, shape, tile, &document));
  RD_TRY (rd_array_doc_parse (document, d->root->path, &doc));
  return rd_sampled_open (RD_STEAL (sampled), RD_STEAL (doc), array);
}

/* Brings what a gather has of x, y, z into the order of the sampled axes; those
 * that a 2-D image lacks are before them. */
static void
order_gather (const struct derivation *d, const size_t axes[3], size_t rank,
              struct rd_gather *gather)
{
  const struct rd_gather from = *gather;
  size_t letters[3], nmissing = 0;
  for (size_t j = 0; j < 3; j++) {
    bool is_missing = d->axes[j] >= rank;
    letters[is_missing ? nmissing++ : rd_find_axis (axes, d->axes[j])] = j;
  }
  for (size_t k = 0; k < 3; k++) {
    gather->size[k] = from.size[letters[k]];
    for (size_t i = 0; i < 3; i++)
      gather->matrix[k][i] = from.matrix[letters[k]][letters[i]];
    gather->matrix[k][3] = from.matrix[letters[k]][3];
  }
}

enum radio_status
rd_derivation_need_real (const struct derivation *d)
{
  enum radio_dtype dtype = d->source->doc->type.dtype;
  bool is_colour = rd_volume_is_colour (d->root);
  if (!is_colour && (rd_dtype_is_integer (dtype) || rd_dtype_is_float (dtype)))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the image is of %s; only real numbers "
                  "have operations on values",
                  is_colour ? "colours" : radio_dtype_name (dtype));
}

/* Has values computed of which others can be interpolated. */
static enum radio_status
need_values (struct derivation *d)
{
  enum radio_dtype dtype = d->source->doc->type.dtype;
  if (rd_volume_is_colour (d->root))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the image is of colours; only real "
                    "numbers are interpolated; use nearest");
  d->has_computed = true;
  d->computes = d->nkernels > 0 || d->nfills > 0
                || dtype != rd_row_compute_type (dtype) || d->slope != 1
                || d->inter != 0;
  return RADIO_OK;
}

/* Moves the affine to the sampled grid. */
static void
move_grid (struct derivation *d, const struct rd_sampled_axis along[3])
{
  for (size_t j = 0; j < 3; j++) {
    rd_derivation_move_origin (d, j, along[j].offset);
    for (size_t i = 0; i < 3; i++)
      d->affine[i][j] *= along[j].scale;
    if (d->axes[j] < d->grid.rank)
      d->spacing[d->axes[j]] *= along[j].scale;
  }
}

/* True if an axis of the stage is all of the source's, or a part of it, forward
 * or backward. */
static bool
is_plain (const struct rd_grid_axis *axis)
{
  const struct rd_segment *segment = &axis->segments[0];
  return axis->nsegments == 1 && segment->fill == 0
         && (segment->step != 0 || segment->n == 1);
}

/* True if outputs are at elements. */
static bool
is_at_elements (const struct rd_sampled_axis *along)
{
  return fabs (along->scale) == 1 && along->offset == rint (along->offset);
}

/* True if the stage's source is sampled, and can be sampled at once at the
 * places along x, y, z: one interpolation does what two would do. */
static bool
can_join (const struct derivation *d, enum rd_interpolation interpolation,
          const struct rd_sampled_axis along[3])
{
  const struct rd_sampled *first = d->source->sampled;
  if (!first || first->gathers || first->adds_noise || d->nkernels > 0
      || d->nfills > 0
      || interpolation == RD_INTERPOLATE_MAJORITY)
    return false;
  bool is_same = first->interpolation == interpolation;
  for (size_t k = 0; k < 3; k++) {
    const struct rd_sampled_axis *axis = &first->along[k];
    if (along[k].sigma > 0 || along[k].makes_coefficients
        || axis->makes_coefficients
        || (axis->sigma > 0 && rd_interpolation_picks (interpolation)))
      return false;
    if (!is_same && first->axes[k] < d->grid.rank && !is_at_elements (axis))
      return false;
  }
  if (rd_interpolation_picks (first->interpolation)
      != rd_interpolation_picks (interpolation))
    return false;
  for (size_t i = 0; i < d->grid.rank; i++)
    if (!is_plain (&d->grid.axes[i]))
      return false;
  return true;
}

/* Samples the source of the sampled array that the stage is of, at the places
 * that the stage's are in it. */
static enum radio_status
join (struct derivation *d, enum rd_interpolation interpolation,
      const struct rd_sampled_axis along[3])
{
  struct rd_sampled *first = d->source->sampled;
  size_t rank = d->grid.rank, from[RADIO_MAX_RANK];
  uint64_t shape[RADIO_MAX_RANK];
  struct rd_sampled *sampled RD_CLEANUP (rd_cleanup_sampled)
    = rd_calloc (1, sizeof *sampled);
  if (!sampled)
    return rd_fail_memory (sizeof *sampled);
  *sampled = *first;
  sampled->source = NULL;
  sampled->interpolation = interpolation;
  for (size_t i = 0; i < rank; i++) {
    const struct rd_segment *segment = &d->grid.axes[i].segments[0];
    double sign = segment->step < 0 ? -1 : 1, start = (double) segment->start;
    from[i] = d->grid.axes[i].source;
    shape[from[i]] = d->grid.axes[i].size;
    size_t j = rd_find_axis (d->axes, i);
    size_t k = rd_find_axis (first->axes, from[i]);
    if (j == 3 || k == 3)
      continue;
    struct rd_sampled_axis *axis = &sampled->along[k];
    axis->offset += axis->scale * (start + sign * along[j].offset);
    axis->scale *= sign * along[j].scale;
    axis->size = shape[from[i]] = along[j].size;
    axis->interpolation = interpolation;
  }
  RD_TRY (rd_grid_check_shape (rank, shape));
  sampled->source = first->source;
  first->source = NULL;
  struct radio_array *array;
  rd_derivation_clear (d);
  RD_TRY (open_sampled (d, RD_STEAL (sampled), shape, &array));
  d->nsamplings--;
  d->computes = d->computes || !rd_interpolation_picks (interpolation);
  RD_TRY (rd_derivation_begin (d, array));
  for (size_t i = 0; i < rank; i++) {
    size_t k = i;
    while (d->grid.axes[k].source != from[i])
      k++;
    rd_grid_swap (&d->grid, i, k);
  }
  return RADIO_OK;
}

/* Takes the stage as the source of a sampled array, along x, y, z or, if gather
 * is not NULL, by its matrix; with noise unless that is NULL. */
static enum radio_status
sample (struct derivation *d, enum rd_interpolation interpolation,
        const struct rd_sampled_axis along[3], const struct rd_gather *gather,
        const struct rd_noise *noise)
{
  size_t rank = d->grid.rank, n = 0;
  uint64_t shape[RADIO_MAX_RANK];
  for (size_t i = 0; i < rank; i++)
    shape[i] = d->grid.axes[i].size;
  struct rd_sampled *sampled RD_CLEANUP (rd_cleanup_sampled)
    = rd_calloc (1, sizeof *sampled);
  if (!sampled)
    return rd_fail_memory (sizeof *sampled);
  sampled->interpolation = interpolation;
  sampled->axes[0] = sampled->axes[1] = sampled->axes[2] = rank;
  for (size_t i = rank; i-- > 0;) {
    size_t j = rd_find_axis (d->axes, i);
    if (j == 3)
      continue;
    shape[i] = along[j].size;
    sampled->axes[2 - n] = i;
    sampled->along[2 - n++] = along[j];
  }
  RD_TRY (rd_grid_check_shape (rank, shape));
  RD_TRY (rd_derivation_open (d, &sampled->source));
  rd_derivation_clear (d);
  if (gather) {
    sampled->gathers = true;
    sampled->gather = *gather;
    sampled->gather.type = sampled->source->doc->type;
    order_gather (d, sampled->axes, rank, &sampled->gather);
  }
  sampled->adds_noise = noise != NULL;
  if (noise)
    sampled->noise = *noise;
  struct radio_array *array;
  RD_TRY (open_sampled (d, RD_STEAL (sampled), shape, &array));
  d->computes = d->computes || !rd_interpolation_picks (interpolation);
  if (d->computes) {
    d->slope = 1;
    d->inter = 0;
  }
  return rd_derivation_begin (d, array);
}

enum radio_status
rd_derivation_need (struct derivation *d, enum rd_interpolation interpolation)
{
  if (++d->nsamplings > RD_MAX_SAMPLINGS)
    return rd_fail (RADIO_ERROR_LIMIT, "more than %d interpolations one after "
                    "another", RD_MAX_SAMPLINGS);
  RD_TRY (rd_grid_check (&d->grid));
  RD_TRY (rd_interpolate_check (interpolation, d->source->doc->type.dtype));
  if (interpolation == RD_INTERPOLATE_NEAREST
      || (interpolation == RD_INTERPOLATE_MAJORITY
          && !rd_volume_is_colour (d->root)))
    return RADIO_OK;
  return need_values (d);
}

enum radio_status
rd_derivation_sample (struct derivation *d,
                      enum rd_interpolation interpolation,
                      const struct rd_sampled_axis along[3])
{
  RD_TRY (rd_derivation_need (d, interpolation));
  RD_TRY (can_join (d, interpolation, along)
          ? join (d, interpolation, along)
          : sample (d, interpolation, along, NULL, NULL));
  move_grid (d, along);
  return RADIO_OK;
}

enum radio_status
rd_derivation_gather (struct derivation *d, const uint64_t size[3],
                      const struct rd_gather *gather)
{
  struct rd_sampled_axis along[3];
  for (size_t j = 0; j < 3; j++)
    along[j] = (struct rd_sampled_axis) {
      .source_size = rd_derivation_length (d, j), .size = size[j], .scale = 1,
    };
  return sample (d, gather->interpolation, along, gather, NULL);
}

/* Noise depends on the place of each voxel, so it is added to an array whose
 * voxels are picked one by one. */
enum radio_status
rd_derive_noised (struct derivation *d, const struct rd_step *step)
{
  const struct rd_noise noise = { step->a, step->seed };
  struct rd_sampled_axis along[3];
  RD_TRY (rd_derivation_need_real (d));
  RD_TRY (rd_derivation_need (d, RD_INTERPOLATE_LINEAR));
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = rd_derivation_length (d, j);
    along[j] = (struct rd_sampled_axis) {
      .source_size = n, .size = n, .scale = 1,
      .interpolation = RD_INTERPOLATE_NEAREST,
    };
  }
  return sample (d, RD_INTERPOLATE_NEAREST, along, NULL, &noise);
}
