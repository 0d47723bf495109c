/* SPDX-License-Identifier: MIT */
/* Stages: the operations on one array are put together to an array that is read
 * from it; an interpolation takes that as its source, and begins the next
 * stage. */
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
  d->nkernels = d->nfills = d->outside = 0;
  d->is_placed = false;
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

enum radio_status
rd_derivation_end (struct derivation *d, struct radio_array **array)
{
  RD_TRY (rd_derivation_open (d, array));
  rd_derivation_clear (d);
  return RADIO_OK;
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
  d->is_mixed = true;
  return need_values (d);
}

static void
order_row (const double from[4], const size_t letters[3], double to[4])
{
  for (size_t i = 0; i < 3; i++)
    to[i] = from[letters[i]];
  to[3] = from[3];
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
    order_row (from.matrix[letters[k]], letters, gather->matrix[k]);
    for (size_t i = 0; i < from.nfields; i++) {
      gather->fields[i].size[k] = from.fields[i].size[letters[k]];
      order_row (from.fields[i].matrix[letters[k]], letters,
                 gather->fields[i].matrix[k]);
    }
  }
}

/* Opens the sampled array whose source is made's, which is taken. */
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
    /* The elements that one tile of the source becomes. */
    double n = (double) tile[axis] / fabs (sampled->along[k].scale);
    tile[axis] = n < 1 ? 1 : n < (double) shape[axis] ? (uint64_t) n
                                                      : shape[axis];
  }
  RD_TRY (rd_derived_document (from, &from->type, shape, tile, &document));
  RD_TRY (rd_array_doc_parse (document, d->root->path, &doc));
  return rd_sampled_open (RD_STEAL (sampled), RD_STEAL (doc), array);
}

enum radio_status
rd_derivation_sample (const struct derivation *d, struct radio_array *source,
                      enum rd_interpolation interpolation,
                      const struct rd_sampled_axis along[3],
                      const struct rd_gather *gather,
                      const struct rd_noise *noise,
                      struct radio_array **array)
{
  size_t rank = source->doc->rank, n = 0;
  uint64_t shape[RADIO_MAX_RANK];
  struct rd_sampled *sampled RD_CLEANUP (rd_cleanup_sampled)
    = rd_calloc (1, sizeof *sampled);
  if (!sampled) {
    radio_array_close (source);
    return rd_fail_memory (sizeof *sampled);
  }
  sampled->source = source;
  sampled->interpolation = interpolation;
  sampled->operation = d->operation;
  sampled->axes[0] = sampled->axes[1] = sampled->axes[2] = rank;
  memcpy (shape, source->doc->shape, sizeof shape);
  for (size_t i = rank; i-- > 0;) {
    size_t j = rd_find_axis (d->axes, i);
    if (j == 3)
      continue;
    shape[i] = along[j].size;
    sampled->axes[2 - n] = i;
    sampled->along[2 - n++] = along[j];
  }
  RD_TRY (rd_grid_check_shape (rank, shape));
  if (gather) {
    sampled->gathers = true;
    sampled->gather = *gather;
    sampled->gather.type = source->doc->type;
    order_gather (d, sampled->axes, rank, &sampled->gather);
    rd_gather_limit (&sampled->gather);
  }
  sampled->adds_noise = noise != NULL;
  if (noise)
    sampled->noise = *noise;
  return open_sampled (d, RD_STEAL (sampled), shape, array);
}

enum radio_status
rd_derivation_continue (struct derivation *d, struct radio_array *array,
                        enum rd_interpolation interpolation)
{
  d->computes = d->computes || !rd_interpolation_picks (interpolation);
  if (d->computes) {
    d->slope = 1;
    d->inter = 0;
  }
  return rd_derivation_begin (d, array);
}

/* Noise depends on the place of each voxel, so it is added to an array whose
 * voxels are picked one by one. */
enum radio_status
rd_derive_noised (struct derivation *d, const struct rd_step *step)
{
  const struct rd_noise noise = { step->a, step->seed };
  struct rd_sampled_axis along[3];
  struct radio_array *array;
  RD_TRY (rd_derivation_need_real (d));
  RD_TRY (rd_derivation_need (d, RD_INTERPOLATE_LINEAR));
  for (size_t j = 0; j < 3; j++) {
    uint64_t n = rd_derivation_length (d, j);
    along[j] = (struct rd_sampled_axis) {
      .source_size = n, .size = n, .scale = 1,
      .interpolation = RD_INTERPOLATE_NEAREST,
    };
  }
  RD_TRY (rd_derivation_end (d, &array));
  RD_TRY (rd_derivation_sample (d, array, RD_INTERPOLATE_NEAREST, along, NULL,
                                &noise, &array));
  return rd_derivation_continue (d, array, RD_INTERPOLATE_NEAREST);
}
