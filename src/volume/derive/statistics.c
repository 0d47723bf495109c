/* SPDX-License-Identifier: MIT */
/* Statistics that a pipeline needs: of the whole volume, as the operations
 * before deliver it.  Each is a pass over a volume that has these alone, unless
 * the context keeps it. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/array/parts.h"
#include "src/array/linear.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "src/volume/derive/derive.h"
#include "src/volume/image-header.h"
#include "src/volume/stats/kept-stats.h"
#include "src/volume/stream.h"

/* Statistics are of finite values.  A constant has no deviation, however sums
 * are rounded. */
static void
set_statistics (const struct rd_step *step, const struct radio_stats *stats,
                const struct rd_stats_more *more,
                struct rd_step_statistics *result)
{
  bool has_values = !isnan (more->low);
  bool is_constant = !(more->low < more->high);
  *result = (struct rd_step_statistics) {
    .has_infinite = stats->inf_count > 0,
  };
  if (!has_values)
    return;
  result->mean = is_constant ? more->low : stats->mean;
  result->std = is_constant ? 0 : stats->std;
  result->low = more->low;
  result->high = more->high;
  if (step->from == RD_FROM_PERCENTILES) {
    result->low = more->percentiles[0];
    result->high = more->percentiles[1];
  }
  /* Without a minus before 0, which depends on the order of values. */
  result->low += 0.0;
  result->high += 0.0;
}

/* Computes the statistic of the last of n steps, where its mask (or NULL) is
 * not 0. */
static enum radio_status
compute (struct radio_volume *root, struct radio_volume *mask,
         const struct rd_step *steps, size_t n, struct rd_read_stop *stop,
         struct rd_step_statistics *result)
{
  const struct rd_step *step = &steps[n - 1];
  struct radio_volume *owned RD_CLEANUP (rd_cleanup_volume) = NULL;
  struct radio_volume *before = root;
  struct radio_stats stats = { 0 };
  struct rd_stats_more more = { .nonzero = step->nonzero, .no_usual = true };
  if (step->from == RD_FROM_PERCENTILES) {
    more.npercents = 2;
    more.percents[0] = step->from_low;
    more.percents[1] = step->from_high;
  }
  RD_SCOPE ("statistics", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", root->path);
  if (n > 1) {
    RD_TRY (rd_derive_volume (root, steps, n - 1, &owned));
    before = owned;
  }
  if (mask) {
    struct radio_volume *moved RD_CLEANUP (rd_cleanup_volume) = NULL;
    RD_TRY (rd_derive_mask (mask, steps, n - 1, &moved));
    RD_TRY (rd_masked_stats (before, moved, stop, &more, &stats));
  } else
    RD_TRY (rd_stats_array (before->array, before->info.scl_slope,
                            before->info.scl_inter, stop, &more, &stats));
  set_statistics (step, &stats, &more, result);
  return RADIO_OK;
}

/* Returns a kept percentile; NaN if it is not kept. */
static double
kept_percentile (const struct rd_kept_figures *figures, double percent)
{
  if (percent == 0 || percent == 100)
    return percent == 0 ? figures->low : figures->high;
  for (size_t i = 0; i < RD_KEPT_NPERCENTS; i++)
    if (rd_kept_percents[i] == percent)
      return figures->percentiles[i];
  return NAN;
}

/* Sets *found if the statistic of a step is kept in the volume that it is the
 * first operation of. */
static enum radio_status
find_in_volume (struct radio_volume *root, const struct rd_step *step,
                struct rd_read_stop *stop, struct rd_step_statistics *result,
                bool *found)
{
  struct rd_kept_stats kept;
  enum rd_kept_state state;
  RD_TRY (rd_kept_stats_get (root, stop, &kept, &state));
  if (state != RD_KEPT_CURRENT)
    return RADIO_OK;
  const struct rd_kept_figures *figures = step->nonzero ? &kept.nonzero
                                                        : &kept.all;
  const struct radio_stats stats = {
    .mean = figures->mean, .std = figures->std,
    .inf_count = figures->inf_count,
  };
  const struct rd_stats_more more = {
    .percentiles = { kept_percentile (figures, step->from_low),
                     kept_percentile (figures, step->from_high) },
    .low = figures->low, .high = figures->high,
  };
  bool has_values = !isnan (figures->low);
  *found = !has_values
           || (step->from == RD_FROM_PERCENTILES
               ? !isnan (more.percentiles[0]) && !isnan (more.percentiles[1])
               : step->operation != RD_OP_ZNORM
                 || (!isnan (stats.mean) && !isnan (stats.std)));
  if (*found)
    set_statistics (step, &stats, &more, result);
  return RADIO_OK;
}

/* True of an operation that only changes the order of voxels. */
static bool
is_permutation (const struct rd_step *step)
{
  return step->operation == RD_OP_FLIP || step->operation == RD_OP_ROT90
         || step->operation == RD_OP_REORIENT;
}

/* Copies n steps without those that do not change the statistic of the last
 * one, which the copy does not own: where no voxels are left out, added or
 * interpolated, nor get noise by their places, their order does not matter.  So
 * all orders have one statistic, to the last bit. */
static size_t
reduce (const struct rd_step *steps, size_t n, struct rd_step *reduced)
{
  bool is_whole = true;
  size_t nreduced = 0;
  for (size_t i = 0; i < n; i++)
    is_whole = is_whole && steps[i].operation != RD_OP_NOISE
               && (!rd_step_is_spatial (&steps[i])
                   || is_permutation (&steps[i]));
  for (size_t i = 0; i < n; i++)
    if (!is_whole || !is_permutation (&steps[i]))
      reduced[nreduced++] = steps[i];
  return nreduced;
}

/* Appends what identifies a file's content as it is now, and the header, which
 * may be in another file.  Content that changed since the file was opened is
 * known by its handle, too. */
static enum radio_status
add_file (struct rd_buffer *key, const struct radio_volume *volume)
{
  const struct radio_array *array = volume->array;
  const struct rd_buffer *header = &volume->meta.prefix;
  struct rd_file_identity now;
  const char tag[] = "file";
  RD_TRY (rd_buffer_append (key, tag, sizeof tag));
  if (!rd_linear_is_unchanged (array, &now))
    RD_TRY (rd_buffer_append (key, &array->number, sizeof array->number));
  RD_TRY (rd_buffer_append (key, &now, sizeof now));
  return rd_buffer_append (key, header->data, header->nbytes);
}

/* Appends what identifies the array of a volume: radio's own levels have names
 * that are never used again; other arrays are known by their handles, and
 * memory, which its owner may write to, by the pipelines that were applied to
 * it, too. */
static enum radio_status
add_volume (struct rd_buffer *key, const struct radio_volume *volume)
{
  const struct radio_array *array = volume->array;
  const char *uri = array->store->io->uri;
  char number[48] = " ";
  if (array->linear && array->linear->memory) {
    snprintf (number, sizeof number, "memory #%" PRIu64 " %" PRIu64,
              array->number, atomic_load (&volume->napplied));
    return rd_buffer_append (key, number, strlen (number));
  }
  if (array->linear)
    return add_file (key, volume);
  if (!array->is_complete)
    snprintf (number, sizeof number, "#%" PRIu64 " ", array->number);
  RD_TRY (rd_buffer_append (key, uri, strlen (uri)));
  RD_TRY (rd_buffer_append (key, "/", 1));
  RD_TRY (rd_buffer_append (key, array->path, strlen (array->path)));
  return rd_buffer_append (key, number, strlen (number));
}

/* Appends the text of steps, with the grids that `like' found: its name may be
 * that of another file, or volume, the next time. */
static enum radio_status
add_steps (struct rd_buffer *key, const struct rd_step *steps, size_t n)
{
  char *text RD_FREE = rd_steps_text (steps, n);
  if (!text)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_buffer_append (key, text, strlen (text)));
  for (size_t i = 0; i < n; i++)
    if (steps[i].operation == RD_OP_LIKE)
      RD_TRY (rd_grid_text (&steps[i], key));
  return RADIO_OK;
}

/* Makes the key of the statistic of the last of n steps: the volume, the mask,
 * and the steps without what the last does with it. */
static enum radio_status
make_key (const struct radio_volume *root, const struct radio_volume *mask,
          const struct rd_step *steps, size_t n, struct rd_buffer *key)
{
  struct rd_step last = steps[n - 1];
  last.a = last.b = 0;
  key->nbytes = 0;
  RD_TRY (add_volume (key, root));
  if (mask)
    RD_TRY (add_volume (key, mask));
  if (n > 1)
    RD_TRY (add_steps (key, steps, n - 1));
  RD_TRY (rd_buffer_append (key, " | ", 3));
  return add_steps (key, &last, 1);
}

static enum radio_status find (struct radio_volume *root,
                               const struct rd_step *steps, size_t n,
                               struct rd_read_stop *stop, bool may_compute,
                               struct rd_step_statistics *result,
                               bool *found);

/* Makes the kernels of a derived array that wait for statistics; those are
 * found, or also computed.  *found is false if one is not. */
static enum radio_status
complete (struct rd_derived *derived, struct rd_read_stop *stop,
          bool may_compute, bool *found)
{
  const struct rd_statistics *statistics = derived->data;
  *found = true;
  for (size_t i = 0; statistics && i < statistics->n && *found; i++) {
    const struct rd_statistic *one = &statistics->list[i];
    struct rd_step_statistics result;
    RD_TRY (find (statistics->root, statistics->steps, one->step + 1, stop,
                  may_compute, &result, found));
    if (*found)
      rd_row_kernels (&statistics->steps[one->step], &result,
                      derived->program.kernels + one->kernel);
  }
  return RADIO_OK;
}

/* True of a step that does not decrease, or does not increase, from one value
 * to a greater one, as each of its roundings does not. */
static bool
is_monotonic (const struct rd_step *step)
{
  return step->operation == RD_OP_LINEAR || step->operation == RD_OP_CLAMP
         || step->operation == RD_OP_RESCALE || step->operation == RD_OP_WINDOW
         || step->operation == RD_OP_ZNORM || step->operation == RD_OP_SATURATE;
}

/* True of a step that needs the extremes of its input, and nothing else. */
static bool
is_of_extremes (const struct rd_step *step)
{
  return step->operation == RD_OP_RESCALE
         && (step->from == RD_FROM_EXTREMES
             || (step->from == RD_FROM_PERCENTILES && step->from_low == 0
                 && step->from_high == 100));
}

/* Finds the extremes that the last of n steps needs, if those of the volume are
 * known: monotonic steps turn those into these, to the last bit.  Not with
 * infinite values, which extremes exclude: they may have become finite. */
static enum radio_status
find_by_extremes (struct radio_volume *root, const struct rd_step *steps,
                  size_t n, struct rd_read_stop *stop,
                  struct rd_step_statistics *result, bool *found)
{
  static const struct rd_step rescale = { .operation = RD_OP_RESCALE };
  struct radio_volume *before RD_CLEANUP (rd_cleanup_volume) = NULL;
  struct rd_step_statistics whole;
  bool is_known;
  if (!is_of_extremes (&steps[n - 1]))
    return RADIO_OK;
  for (size_t i = 0; i + 1 < n; i++)
    if (!is_monotonic (&steps[i]))
      return RADIO_OK;
  RD_TRY (find (root, &rescale, 1, stop, false, &whole, &is_known));
  if (!is_known || whole.has_infinite)
    return RADIO_OK;
  RD_TRY (rd_derive_volume (root, steps, n - 1, &before));
  struct rd_derived *derived = before->array->derived;
  RD_TRY (complete (derived, stop, false, &is_known));
  if (!is_known)
    return RADIO_OK;
  double a = rd_row_value (&derived->program, 0, whole.low);
  double b = rd_row_value (&derived->program, 0, whole.high);
  *found = isfinite (a) && isfinite (b);
  const struct radio_stats none = { 0 };
  const struct rd_stats_more more = {
    .low = fmin (a, b), .high = fmax (a, b),
    .percentiles = { fmin (a, b), fmax (a, b) },
  };
  if (*found)
    set_statistics (&steps[n - 1], &none, &more, result);
  return RADIO_OK;
}

/* Finds the statistic of the last of n steps, in the context or in the
 * volume; computes it if it is in neither and `may_compute'. */
static enum radio_status
find (struct radio_volume *root, const struct rd_step *steps, size_t n,
      struct rd_read_stop *stop, bool may_compute,
      struct rd_step_statistics *result, bool *found)
{
  struct rd_kept_list *kept = &root->array->store->context->kept;
  struct rd_buffer key RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer key_after RD_BUFFER_SCOPE = { 0 };
  struct radio_volume *mask RD_CLEANUP (rd_cleanup_volume) = NULL;
  struct rd_step *reduced RD_FREE = rd_calloc (n, sizeof *reduced);
  _Static_assert (sizeof *result <= RD_KEPT_NBYTES, "a fact");
  if (!reduced)
    return rd_fail_memory (n * sizeof *reduced);
  if (steps[n - 1].name)
    RD_TRY (rd_open_mask (root, steps[n - 1].name, &mask));
  n = reduce (steps, n, reduced);
  RD_TRY (make_key (root, mask, reduced, n, &key));
  *found = rd_kept_find (kept, &key, result, sizeof *result);
  if (*found)
    return RADIO_OK;
  if (n == 1 && !mask)
    RD_TRY (find_in_volume (root, reduced, stop, result, found));
  if (n > 1)
    RD_TRY (find_by_extremes (root, reduced, n, stop, result, found));
  if (!*found && may_compute) {
    RD_TRY (compute (root, mask, reduced, n, stop, result));
    *found = true;
  }
  if (!*found)
    return RADIO_OK;
  /* A file may have changed while it was read. */
  RD_TRY (make_key (root, mask, reduced, n, &key_after));
  if (key.nbytes == key_after.nbytes
      && memcmp (key.data, key_after.data, key.nbytes) == 0)
    rd_kept_add (kept, &key, result, sizeof *result);
  return RADIO_OK;
}

enum radio_status
rd_statistics_complete (struct rd_derived *derived, struct rd_read_stop *stop)
{
  bool found;
  return complete (derived, stop, true, &found);
}

/* Reading of a file. */
struct file_reads {
  uint64_t nbytes;
  double times;               /* how often it is inflated */
};

static enum radio_status
add_stream (const struct rd_stream *stream, struct file_reads *reads)
{
  struct rd_inflation inflation;
  RD_TRY (rd_stream_inflation (stream, &inflation));
  reads->nbytes = rd_add_sat (reads->nbytes, inflation.nbytes);
  reads->times += rd_inflation_times (&inflation);
  return RADIO_OK;
}

/* Adds what a pass for the last of n steps reads of the file. */
static enum radio_status
add_pass (struct radio_volume *root, const struct rd_step *steps, size_t n,
          struct file_reads *reads)
{
  struct radio_volume *owned RD_CLEANUP (rd_cleanup_volume) = NULL;
  struct rd_step *reduced RD_FREE = rd_calloc (n, sizeof *reduced);
  static const struct rd_stats_more least = { .no_usual = true };
  struct rd_stream stream;
  if (!reduced)
    return rd_fail_memory (n * sizeof *reduced);
  n = reduce (steps, n, reduced);
  if (n > 1)
    RD_TRY (rd_derive_volume (root, reduced, n - 1, &owned));
  RD_TRY (rd_stats_plan (owned ? owned->array : root->array, &least, NULL,
                         &stream));
  return add_stream (&stream, reads);
}

/* Counts the passes and, unless reads is NULL, adds what they read of the
 * file. */
static enum radio_status
count_passes (struct radio_volume *volume, size_t *npasses,
              struct file_reads *reads)
{
  const struct radio_pipeline *pipeline = volume->pipeline;
  *npasses = 0;
  for (size_t i = 0; pipeline && i < pipeline->n; i++) {
    struct rd_step_statistics result;
    bool found;
    if (!rd_step_needs_statistics (&pipeline->steps[i]))
      continue;
    RD_TRY (find (volume->root, pipeline->steps, i + 1, NULL, false, &result,
                  &found));
    *npasses += !found;
    if (reads && !found)
      RD_TRY (add_pass (volume->root, pipeline->steps, i + 1, reads));
  }
  return RADIO_OK;
}

enum radio_status
radio_volume_passes (struct radio_volume *volume, size_t *passes)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (passes);
  RD_SCOPE ("count passes", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  size_t npasses;
  enum radio_status status = count_passes (volume, &npasses, NULL);
  if (status == RADIO_OK)
    *passes = npasses;
  return rd_scope_end_with (status);
}

static enum radio_status
find_reads (struct radio_volume *volume, const struct radio_box *box,
            uint64_t *nbytes, double *times)
{
  const struct rd_linear *linear = rd_array_root (volume->array)->linear;
  struct rd_stream stream = rd_stream_of (volume->array);
  struct file_reads reads = { 0 };
  size_t npasses;
  if (box) {
    RD_TRY (rd_array_check_box (volume->array, box));
    stream.box = *box;
  }
  if (!linear || linear->memory)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: not an image in its file",
                    volume->path);
  rd_image_order (volume, stream.order);
  RD_TRY (count_passes (volume, &npasses, &reads));
  RD_TRY (add_stream (&stream, &reads));
  *nbytes = reads.nbytes;
  *times = reads.times;
  return RADIO_OK;
}

enum radio_status
radio_volume_file_reads (struct radio_volume *volume,
                         const struct radio_box *box, uint64_t *nbytes,
                         double *times)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (nbytes);
  RD_NOT_NULL (times);
  RD_SCOPE ("count passes", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  return rd_scope_end_with (find_reads (volume, box, nbytes, times));
}
