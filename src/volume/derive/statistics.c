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
#include "src/base/error.h"
#include "src/volume/derive/derive.h"
#include "src/volume/stats/stats.h"

/* Statistics are of finite values.  A constant has no deviation, however sums
 * are rounded. */
static void
set_statistics (const struct rd_step *step, const struct radio_stats *stats,
                const struct rd_stats_more *more,
                struct rd_step_statistics *result)
{
  bool has_values = !isnan (more->low);
  bool is_constant = !(more->low < more->high);
  *result = (struct rd_step_statistics) { 0 };
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
}

/* Computes the statistic of the last of n steps. */
static enum radio_status
compute (struct radio_volume *root, const struct rd_step *steps, size_t n,
         struct rd_read_stop *stop, struct rd_step_statistics *result)
{
  const struct rd_step *step = &steps[n - 1];
  struct radio_volume *owned RD_CLEANUP (rd_cleanup_volume) = NULL;
  struct radio_volume *before = root;
  struct radio_stats stats = { 0 };
  struct rd_stats_more more = {
    .nonzero = step->nonzero,
    .percents = { step->from_low, step->from_high },
  };
  if (step->from != RD_FROM_PERCENTILES)
    more.percents[0] = more.percents[1] = 50;
  RD_SCOPE ("statistics", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", root->path);
  if (n > 1) {
    RD_TRY (rd_derive_volume (root, steps, n - 1, &owned));
    before = owned;
  }
  RD_TRY (rd_stats_array (before->array, before->info.scl_slope,
                          before->info.scl_inter, stop, &more, &stats));
  set_statistics (step, &stats, &more, result);
  return RADIO_OK;
}

/* Makes the key of the statistic of the last of n steps, for rd_free: the
 * array, and the steps without what the last does with it.  Radio's own levels
 * have names that are never used again; other arrays are known by their
 * handles. */
static char *
make_key (const struct radio_array *array, const struct rd_step *steps,
          size_t n)
{
  struct rd_step last = steps[n - 1];
  last.a = last.b = 0;
  char number[32] = "";
  if (!array->is_complete || array->linear)
    snprintf (number, sizeof number, "#%" PRIu64, array->number);
  char *before RD_FREE = rd_steps_text (steps, n - 1);
  char *text RD_FREE = rd_steps_text (&last, 1);
  if (!before || !text)
    return NULL;
  const char *uri = array->store->io->uri;
  size_t nbytes = strlen (uri) + strlen (array->path) + strlen (number)
                  + strlen (before) + strlen (text) + 6;
  char *key = rd_malloc (nbytes);
  if (key)
    snprintf (key, nbytes, "%s/%s%s %s | %s", uri, array->path, number,
              before, text);
  return key;
}

static enum radio_status
find_or_compute (struct radio_volume *root, const struct rd_step *steps,
                 size_t n, struct rd_read_stop *stop,
                 struct rd_step_statistics *result)
{
  struct rd_kept_list *kept = &root->array->store->context->kept;
  char *key RD_FREE = make_key (root->array, steps, n);
  _Static_assert (sizeof *result <= RD_KEPT_NBYTES, "a fact");
  if (!key)
    return rd_fail_memory (0);
  if (rd_kept_find (kept, key, result, sizeof *result))
    return RADIO_OK;
  RD_TRY (compute (root, steps, n, stop, result));
  rd_kept_add (kept, key, result, sizeof *result);
  return RADIO_OK;
}

enum radio_status
rd_statistics_complete (struct rd_derived *derived, struct rd_read_stop *stop)
{
  const struct rd_statistics *statistics = derived->data;
  for (size_t i = 0; i < statistics->n; i++) {
    const struct rd_statistic *one = &statistics->list[i];
    struct rd_step_statistics found;
    RD_TRY (find_or_compute (statistics->root, statistics->steps,
                             one->step + 1, stop, &found));
    rd_row_kernels (&statistics->steps[one->step], &found,
                    derived->program.kernels + one->kernel);
  }
  return RADIO_OK;
}
