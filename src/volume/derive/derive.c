/* SPDX-License-Identifier: MIT */
/* Volumes with a pipeline: each operation changes the grid, the affine and the
 * kernels, which are then put together to an array that is read from the
 * source's, and to a header that describes it. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/element/convert.h"
#include "src/volume/derive/derive.h"

/* Operations of a pipeline that need a statistic. */
#define MAX_STATISTICS 64

static void
clear_stage (struct derivation *d)
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

/* Fails unless the image has an axis, which an operation changes. */
static enum radio_status
need_axis (const struct derivation *d, size_t j)
{
  if (d->axes[j] < d->grid.rank)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the image is 2-D and has no axis %c",
                  (int) ("xyz"[j]));
}

/* The first voxel along an axis is now the one that was at `start'. */
static void
move_origin (struct derivation *d, size_t j, double start)
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
  move_origin (d, j, (double) start);
  return rd_grid_crop (&d->grid, d->axes[j], start, n);
}

static enum radio_status
crop (struct derivation *d, const struct rd_step *step)
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
                  "%g; pad after an operation on values, as 'linear 1,0'",
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

static enum radio_status
pad_axis (struct derivation *d, const struct rd_step *step, size_t j,
          uint64_t before, uint64_t after)
{
  if (before == 0 && after == 0)
    return RADIO_OK;
  RD_TRY (need_axis (d, j));
  move_origin (d, j, -(double) before);
  return rd_grid_pad (&d->grid, d->axes[j], before, after, step->mode,
                      d->nfills);
}

static enum radio_status
begin_padding (struct derivation *d, const struct rd_step *step)
{
  if (step->mode != RD_PAD_VALUE)
    return RADIO_OK;
  return rd_derivation_fill (d, step->value, &d->fills[d->nfills++]);
}

static enum radio_status
pad (struct derivation *d, const struct rd_step *step)
{
  RD_TRY (begin_padding (d, step));
  for (size_t j = 0; j < 3; j++)
    RD_TRY (pad_axis (d, step, j, (uint64_t) step->first[j],
                      (uint64_t) step->second[j]));
  return RADIO_OK;
}

static enum radio_status
crop_or_pad (struct derivation *d, const struct rd_step *step)
{
  RD_TRY (begin_padding (d, step));
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
    RD_TRY (pad_axis (d, step, j, before, size - before - kept));
  }
  return RADIO_OK;
}

static enum radio_status
flip (struct derivation *d, size_t j)
{
  uint64_t n = rd_derivation_length (d, j);
  RD_TRY (need_axis (d, j));
  if (n > 0)
    move_origin (d, j, (double) (n - 1));
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

static enum radio_status
rotate (struct derivation *d, const struct rd_step *step)
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

static enum radio_status
reorient (struct derivation *d, const struct rd_step *step)
{
  char letters[4];
  size_t axis_of[3];
  if (d->root->info.orientation[0] == '\0'
      || !rd_orientation (d->affine, letters, axis_of))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the orientation is unknown: there "
                    "is no affine, or it is singular or not finite");
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

/* Begins with no operation on an array. */
static enum radio_status
begin_stage (struct derivation *d, struct radio_array *source)
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

/* Opens the array; the source, grid, kernels and fills go to it. */
static enum radio_status
open_array (struct derivation *d, struct radio_array **array)
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

/* Fails unless values are real numbers. */
static enum radio_status
need_real (const struct derivation *d)
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
    move_origin (d, j, along[j].offset);
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
  clear_stage (d);
  RD_TRY (open_sampled (d, RD_STEAL (sampled), shape, &array));
  d->nsamplings--;
  d->computes = d->computes || !rd_interpolation_picks (interpolation);
  RD_TRY (begin_stage (d, array));
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
  RD_TRY (open_array (d, &sampled->source));
  clear_stage (d);
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
  return begin_stage (d, array);
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
static enum radio_status
add_noise (struct derivation *d, const struct rd_step *step)
{
  const struct rd_noise noise = { step->a, step->seed };
  struct rd_sampled_axis along[3];
  RD_TRY (need_real (d));
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

/* Begins to compute, or adds another operation on values. */
static enum radio_status
add_kernels (struct derivation *d, size_t i)
{
  const struct rd_step *step = &d->steps[i];
  RD_TRY (need_real (d));
  d->computes = d->has_computed = true;
  d->saturates = d->saturates || step->operation == RD_OP_SATURATE;
  if (rd_step_needs_statistics (step)) {
    struct rd_statistics *statistics = d->statistics;
    struct radio_volume *mask RD_CLEANUP (rd_cleanup_volume) = NULL;
    if (step->name)
      RD_TRY (rd_open_mask (d->root, step->name, &mask));
    /* Each takes a pass, after the passes of those before. */
    if (d->nstatistics + statistics->n >= MAX_STATISTICS)
      return rd_fail (RADIO_ERROR_LIMIT, "more than %d operations that need a "
                      "statistic of the whole volume", MAX_STATISTICS);
    statistics->list[statistics->n++]
      = (struct rd_statistic) { i, d->nkernels++ };
    return RADIO_OK;
  }
  d->nkernels += rd_row_kernels (step, NULL, d->kernels + d->nkernels);
  return RADIO_OK;
}

/* Chooses the interpolation of a step whose text says none: labels are not
 * mixed. */
static enum radio_status
choose_interpolation (const struct derivation *d, const struct rd_step *step,
                      enum rd_interpolation *chosen)
{
  bool is_placed = step->operation == RD_OP_LIKE
                   || step->operation == RD_OP_AFFINE;
  *chosen = !d->root->info.is_labels ? RD_INTERPOLATE_LINEAR
            : is_placed              ? RD_INTERPOLATE_NEAREST
                                     : RD_INTERPOLATE_MAJORITY;
  if (!step->smooths || *chosen == RD_INTERPOLATE_LINEAR)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the image is of labels, which smooth "
                  "would mix; leave it out, or say linear to do so");
}

static enum radio_status
move_voxels (struct derivation *d, struct rd_step *step)
{
  switch (step->operation) {
  case RD_OP_CROP: return crop (d, step);
  case RD_OP_PAD: return pad (d, step);
  case RD_OP_CROP_OR_PAD: return crop_or_pad (d, step);
  case RD_OP_ROT90: return rotate (d, step);
  case RD_OP_REORIENT: return reorient (d, step);
  case RD_OP_RESAMPLE: return rd_derive_resampled (d, step);
  case RD_OP_TO: return rd_derive_shaped (d, step);
  case RD_OP_SMOOTH: return rd_derive_smoothed (d, step);
  case RD_OP_AFFINE: return rd_derive_moved (d, step);
  case RD_OP_LIKE: return rd_derive_like (d, step);
  default:
    for (size_t j = 0; j < 3; j++)
      if (step->axes[j])
        RD_TRY (flip (d, j));
    return RADIO_OK;
  }
}

/* The step is as its text says, but for what is found when it is applied. */
static enum radio_status
apply_step (struct derivation *d, size_t i)
{
  struct rd_step *step = &d->steps[i];
  enum rd_interpolation asked = step->interpolation;
  if (step->operation == RD_OP_NOISE)
    return add_noise (d, step);
  if (!rd_step_is_spatial (step))
    return add_kernels (d, i);
  d->is_spatial = true;
  if (asked == RD_INTERPOLATE_DEFAULT)
    RD_TRY (choose_interpolation (d, step, &step->interpolation));
  enum radio_status status = move_voxels (d, step);
  step->interpolation = asked;
  return status;
}

/* The path of a volume that is the root of its store is empty. */
static const char *
name_of (const struct radio_volume *root)
{
  return *root->path ? root->path : root->array->store->io->uri;
}

/* Does n operations with the root. */
static enum radio_status
derive (struct derivation *d, struct radio_volume *root,
        struct rd_step *steps, size_t n)
{
  const struct radio_volume_info *info = &root->info;
  d->root = root;
  for (size_t j = 0; j < 3; j++)
    d->axes[j] = rd_volume_axis (root, "xyz"[j]);
  memcpy (d->affine, info->affine, sizeof d->affine);
  memcpy (d->spacing, info->spacing, sizeof d->spacing);
  d->slope = info->scl_slope;
  d->inter = info->scl_inter;
  d->steps = steps;
  d->n = n;
  RD_TRY (begin_stage (d, root->array));
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = apply_step (d, i);
    if (status != RADIO_OK)
      return rd_fail_in (status, "%s: operation %zu of the pipeline, %s",
                         name_of (root), i + 1,
                         rd_operation_name (steps[i].operation));
  }
  enum radio_status status = rd_grid_check (&d->grid);
  return status == RADIO_OK ? status
                            : rd_fail_in (status, "%s", name_of (root));
}

/* Makes the header of what is read. */
static enum radio_status
set_header (const struct derivation *d, struct radio_volume *volume)
{
  const struct rd_volume_meta *from = &d->root->meta;
  struct rd_volume_meta *meta = &volume->meta;
  const struct rd_array_doc *doc = volume->array->doc;
  struct rd_buffer *prefix = &meta->prefix;
  if (d->is_spatial) {
    struct rd_nifti_grid grid = { .has_affine = true };
    memcpy (grid.shape, doc->shape, sizeof grid.shape);
    memcpy (grid.affine, d->affine, sizeof grid.affine);
    for (size_t j = 0; j < 3; j++)
      grid.spacing[j] = d->axes[j] < doc->rank ? d->spacing[d->axes[j]] : 1;
    /* Method 1 of the standard has no origin to move. */
    if (!d->has_grid
        && strcmp (d->root->info.affine_source, "pixdim") == 0)
      grid.has_affine = d->is_turned
                        && d->root->info.orientation[0] != '\0';
    RD_TRY (rd_nifti_grid_header (&from->nifti, &from->prefix, &grid,
                                  prefix));
  } else
    RD_TRY (rd_buffer_append (prefix, from->prefix.data,
                              from->prefix.nbytes));
  RD_TRY (rd_nifti_parse (prefix->data, prefix->nbytes, volume->path,
                          &meta->nifti));
  if (d->has_computed) {
    RD_TRY (rd_nifti_set_type (&meta->nifti, doc->type.dtype, prefix));
    RD_TRY (rd_nifti_parse (prefix->data, prefix->nbytes, volume->path,
                            &meta->nifti));
  }
  if (meta->nifti.rank == doc->rank
      && memcmp (meta->nifti.shape, doc->shape,
                 doc->rank * sizeof *doc->shape) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "the image's NIfTI header cannot "
                  "hold the result");
}

/* Describes the result: the header's affine is as exact as the header. */
static void
set_info (const struct derivation *d, struct radio_volume *volume)
{
  const struct radio_volume_info *from = &d->root->info;
  struct radio_volume_info *info = &volume->info;
  rd_volume_fill_info (volume);
  info->space_unit = from->space_unit;
  info->time_unit = from->time_unit;
  info->source_name = from->source_name;
  info->source_nbytes = from->source_nbytes;
  info->source_sha256 = from->source_sha256;
  info->derived_pipeline = from->derived_pipeline;
  info->derived_sha256 = from->derived_sha256;
  info->missing_nbytes = from->missing_nbytes;
  info->is_labels = from->is_labels;
  info->tiling = from->tiling;
  info->codec = from->codec;
  info->pipeline = volume->pipeline->text;
  if (!d->has_computed) {
    info->window_low = from->window_low;
    info->window_high = from->window_high;
  }
  memcpy (info->spacing, d->spacing, sizeof info->spacing);
  if (strcmp (info->affine_source, "pixdim") == 0)
    return;
  /* Without a minus before 0. */
  for (size_t i = 0; i < 12; i++)
    info->affine[i / 4][i % 4] = d->affine[i / 4][i % 4] + 0.0;
  rd_volume_orient (volume, from->orientation[0] != '\0');
}

/* Makes the pipeline of some steps. */
static enum radio_status
make_pipeline (const struct rd_step *steps, size_t n,
               struct radio_pipeline **result)
{
  struct radio_pipeline *pipeline RD_CLEANUP (rd_cleanup_pipeline)
    = rd_calloc (1, sizeof *pipeline);
  if (!pipeline)
    return rd_fail_memory (sizeof *pipeline);
  pipeline->steps = rd_calloc (n, sizeof *pipeline->steps);
  if (!pipeline->steps)
    return rd_fail_memory (n * sizeof *pipeline->steps);
  pipeline->n = n;
  RD_TRY (rd_steps_copy (steps, n, pipeline->steps));
  pipeline->text = rd_steps_text (steps, n);
  if (!pipeline->text)
    return RADIO_ERROR_MEMORY;
  *result = RD_STEAL (pipeline);
  return RADIO_OK;
}

enum radio_status
rd_derive_volume (struct radio_volume *root, const struct rd_step *steps,
                  size_t n, struct radio_volume **result)
{
  struct derivation d RD_CLEANUP (clear_stage) = { 0 };
  struct radio_volume *derived RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *derived);
  if (!derived)
    return rd_fail_memory (sizeof *derived);
  RD_TRY (make_pipeline (steps, n, &derived->pipeline));
  derived->path = rd_strdup (root->path);
  if (!derived->path)
    return rd_fail_memory (strlen (root->path) + 1);
  RD_TRY (derive (&d, root, derived->pipeline->steps, n));
  RD_TRY (open_array (&d, &derived->array));
  struct rd_volume_meta *meta = &derived->meta;
  memcpy (meta->axes, root->meta.axes, sizeof meta->axes);
  memcpy (meta->scale, d.spacing, sizeof meta->scale);
  meta->has_nifti = root->meta.has_nifti;
  if (meta->has_nifti) {
    enum radio_status status = set_header (&d, derived);
    if (status != RADIO_OK)
      return rd_fail_in (status, "%s", name_of (root));
  }
  set_info (&d, derived);
  derived->info.statistics_count = d.nstatistics;
  derived->info.interpolation_count = rd_count_interpolations (derived->array);
  atomic_fetch_add (&root->nothers, 1);
  derived->root = root;
  *result = RD_STEAL (derived);
  return RADIO_OK;
}

/* A volume with a pipeline is derived again, from its root. */
static enum radio_status
apply (struct radio_volume *volume, const struct radio_pipeline *pipeline,
       struct radio_volume **result)
{
  const struct radio_pipeline *first = volume->pipeline;
  for (size_t i = 0; i < pipeline->n; i++)
    if (rd_step_is_random (&pipeline->steps[i]))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: operation %zu of the pipeline "
                      "is random; draw it by radio_pipeline_draw or --draw",
                      name_of (volume), i + 1);
  if (!first)
    return rd_derive_volume (volume, pipeline->steps, pipeline->n, result);
  size_t n = first->n + pipeline->n;
  if (n > RADIO_PIPELINE_MAX_STEPS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu operations, more than %d",
                    volume->path, n, RADIO_PIPELINE_MAX_STEPS);
  struct rd_step *steps RD_FREE = rd_calloc (n, sizeof *steps);
  if (!steps)
    return rd_fail_memory (n * sizeof *steps);
  memcpy (steps, first->steps, first->n * sizeof *steps);
  memcpy (steps + first->n, pipeline->steps, pipeline->n * sizeof *steps);
  return rd_derive_volume (volume->root, steps, n, result);
}

enum radio_status
radio_volume_apply (struct radio_volume *volume,
                    const struct radio_pipeline *pipeline,
                    struct radio_volume **derived)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (pipeline);
  RD_NOT_NULL (derived);
  RD_SCOPE ("apply pipeline", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  return rd_scope_end_with (apply (volume, pipeline, derived));
}
