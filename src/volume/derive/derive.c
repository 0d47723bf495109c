/* SPDX-License-Identifier: MIT */
/* Volumes with a pipeline: each operation changes the grid, the affine and the
 * kernels, which are then put together to an array that is read from the
 * source's, and to a header that describes it. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/base/error.h"
#include "src/volume/derive/derive.h"

/* Operations of a pipeline that need a statistic. */
#define MAX_STATISTICS 64

/* Begins to compute, or adds another operation on values. */
static enum radio_status
add_kernels (struct derivation *d, size_t i)
{
  const struct rd_step *step = &d->steps[i];
  RD_TRY (rd_derivation_need_real (d));
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
  bool is_labels = d->root->info.is_labels && !d->is_mixed;
  *chosen = !is_labels   ? RD_INTERPOLATE_LINEAR
            : is_placed  ? RD_INTERPOLATE_NEAREST
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
  case RD_OP_CROP: return rd_derive_cropped (d, step);
  case RD_OP_PAD: return rd_derive_padded (d, step);
  case RD_OP_CROP_OR_PAD: return rd_derive_cropped_or_padded (d, step);
  case RD_OP_ROT90: return rd_derive_rotated (d, step);
  case RD_OP_REORIENT: return rd_derive_reoriented (d, step);
  case RD_OP_RESAMPLE: return rd_derive_resampled (d, step);
  case RD_OP_TO: return rd_derive_shaped (d, step);
  case RD_OP_SMOOTH: return rd_derive_smoothed (d, step);
  case RD_OP_AFFINE: return rd_derive_moved (d, step);
  case RD_OP_LIKE: return rd_derive_like (d, step);
  default: return rd_derive_flipped (d, step);
  }
}

/* The step is as its text says, except members set when it is applied. */
static enum radio_status
apply_step (struct derivation *d, size_t i)
{
  struct rd_step *step = &d->steps[i];
  enum rd_interpolation asked = step->interpolation;
  d->operation = step->operation;
  if (step->operation == RD_OP_NOISE)
    return rd_derive_noised (d, step);
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
  RD_TRY (rd_derivation_begin (d, root->array));
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

/* Makes the header of the derived image. */
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
    if (d->root->info.is_labels && d->is_mixed)
      rd_nifti_clear_intent (&meta->nifti, prefix);
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
  info->is_labels = from->is_labels && !d->is_mixed;
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
  struct derivation d RD_CLEANUP (rd_derivation_clear) = { 0 };
  struct radio_volume *derived RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *derived);
  if (!derived)
    return rd_fail_memory (sizeof *derived);
  RD_TRY (make_pipeline (steps, n, &derived->pipeline));
  derived->path = rd_strdup (root->path);
  if (!derived->path)
    return rd_fail_memory (strlen (root->path) + 1);
  RD_TRY (derive (&d, root, derived->pipeline->steps, n));
  RD_TRY (rd_derivation_open (&d, &derived->array));
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
  struct radio_volume *root = first ? volume->root : volume;
  atomic_fetch_add (&root->napplied, 1);
  for (size_t i = 0; i < pipeline->n; i++)
    if (rd_step_is_random (&pipeline->steps[i]))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: operation %zu of the pipeline "
                      "is random; draw it by radio_pipeline_draw or --draw",
                      name_of (volume), i + 1);
  if (!first)
    return rd_derive_volume (root, pipeline->steps, pipeline->n, result);
  size_t n = first->n + pipeline->n;
  if (n > RADIO_PIPELINE_MAX_STEPS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu operations, more than %d",
                    volume->path, n, RADIO_PIPELINE_MAX_STEPS);
  struct rd_step *steps RD_FREE = rd_calloc (n, sizeof *steps);
  if (!steps)
    return rd_fail_memory (n * sizeof *steps);
  memcpy (steps, first->steps, first->n * sizeof *steps);
  memcpy (steps + first->n, pipeline->steps, pipeline->n * sizeof *steps);
  return rd_derive_volume (root, steps, n, result);
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
