/* SPDX-License-Identifier: MIT */
/* The curve of a sweep, from its tree. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "profiler/model/curve.h"
#include "profiler/model/vector.h"

static int
compare_values (const void *a, const void *b)
{
  return rd_compare_u64 (*(const uint64_t *) a, *(const uint64_t *) b);
}

/* The value below which k quarters of sorted ones lie, between two in
 * proportion. */
static uint64_t
quartile (const uint64_t *sorted, size_t n, unsigned k)
{
  size_t at = (n - 1) * k / 4, part = (n - 1) * k % 4;
  if (part == 0)
    return sorted[at];
  double step = (double) (sorted[at + 1] - sorted[at]);
  return sorted[at] + (uint64_t) (step * (double) part / 4 + 0.5);
}

static void
add_point (struct rd_curve *curve, const struct radio_profile *profile,
           size_t node, uint64_t *times)
{
  /* The times of a read in each run that has any. */
  size_t nshares, n = 0;
  const struct rd_part_share *shares = rd_profile_shares (profile, node,
                                                          &nshares);
  for (size_t i = 0; i < nshares; i++)
    if (shares[i].share.calls > 0)
      times[n++] = shares[i].share.total_ns / shares[i].share.calls;
  /* The command counts the bytes of operations. */
  uint64_t nbytes = radio_profile_counter (profile, node, "bytes of input",
                                           false);
  uint64_t touched = radio_profile_counter (profile, node, "bytes touched",
                                            false);
  if (nbytes == 0)
    nbytes = radio_profile_counter (profile, node, rd_count_delivered.name,
                                    true);
  uint64_t calls = rd_max_u64 (profile->nodes.at[node].calls, 1);
  if (nbytes == 0 || n == 0)
    return;
  qsort (times, n, sizeof *times, compare_values);
  struct rd_curve_point point = {
    .node = node,
    .nbytes = nbytes / calls,
    .touched_nbytes = touched / calls,
    .nruns = n,
    .median_ns = quartile (times, n, 2),
    .low_ns = quartile (times, n, 1),
    .high_ns = quartile (times, n, 3),
  };
  /* Put a point where it belongs; more than there is room for are none of
   * the command's. */
  if (curve->n == RD_CURVE_MAX_POINTS)
    return;
  size_t at = curve->n++;
  for (; at > 0 && curve->at[at - 1].nbytes > point.nbytes; at--)
    curve->at[at] = curve->at[at - 1];
  curve->at[at] = point;
}

/* Adds the points below a parent, if the fact says so of the recordings. */
static enum radio_status
make_curve (const struct radio_profile *profile, const char *operation,
            size_t parent, struct rd_curve *curve)
{
  RD_FREE_PLAIN void *memory = NULL;
  curve->n = 0;

  /* The commands add this fact to their recordings. */
  const char *fact = rd_profile_find_fact (profile, "operation");
  if (fact == NULL || strcmp (fact, operation) != 0
      || profile->info.parts != RADIO_PARTS_RUNS)
    return RADIO_OK;
  RD_TRY (rd_new_array (profile->parts.n, sizeof (uint64_t), &memory));
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (profile->nodes.at[i].parent == parent)
      add_point (curve, profile, i, memory);
  return RADIO_OK;
}

enum radio_status
rd_profile_curve (const struct radio_profile *profile, struct rd_curve *curve)
{
  return make_curve (profile, "sweep", RADIO_NO_PARENT, curve);
}

enum radio_status
rd_profile_curve_of (const struct radio_profile *profile, size_t root,
                     struct rd_curve *curve)
{
  return make_curve (profile, "ops", root, curve);
}
