/* SPDX-License-Identifier: MIT */
/* Statistics of types of 32 and 64 bits.  The first run over the data finds
 * extremes, mean and deviation, and begins to select; the second fills the
 * histogram, whose bins the first one told; selecting goes on in it, and
 * in further runs if it has to. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/volume/stats/bins.h"
#include "src/volume/stats/moments.h"
#include "src/volume/stats/quantile.h"
#include "src/volume/select.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"

/* Elements that are converted at a time: what fits into the first cache. */
#define BLOCK_COUNT 512

struct wide {
  enum radio_dtype dtype;
  double slope, inter;
  struct radio_stats *stats;
  struct rd_moments moments;
  struct rd_select *select;
  struct rd_bins bins;
  bool binning;               /* this run fills the histogram */
  bool counting;              /* this run counts what is not finite */
};

static void
add_infinite (struct radio_stats *stats, double value)
{
  stats->inf_count++;
  if (!(stats->min <= value))
    stats->min = value;
  if (!(stats->max >= value))
    stats->max = value;
}

/* Move finite values and their keys to the front; returns their number. */
static size_t
keep_finite (struct wide *wide, double *values, uint64_t *keys, size_t n)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    double value = values[i];
    if (isfinite (value)) {
      values[kept] = value;
      keys[kept++] = keys[i];
    }
    else if (wide->counting && isnan (value))
      wide->stats->nan_count++;
    else if (wide->counting)
      add_infinite (wide->stats, value);
  }
  return kept;
}

static void
take_block (struct wide *wide, double *values, uint64_t *keys, size_t n)
{
  if (wide->slope != 1 || wide->inter != 0)
    for (size_t i = 0; i < n; i++)
      values[i] = values[i] * wide->slope + wide->inter;
  n = keep_finite (wide, values, keys, n);
  rd_select_add (wide->select, keys, n);
  if (wide->counting)
    rd_moments_add (&wide->moments, values, n);
  if (wide->binning)
    for (size_t i = 0; i < n; i++)
      wide->stats->histogram[rd_bins_index (&wide->bins, values[i])]++;
}

static void
take_elements (void *sink, const void *elements, size_t n)
{
  struct wide *wide = sink;
  double values[BLOCK_COUNT];
  uint64_t keys[BLOCK_COUNT];
  size_t item_nbytes = radio_dtype_nbytes (wide->dtype);
  const unsigned char *at = elements;
  if (wide->counting)
    wide->stats->count += n;
  while (n > 0) {
    size_t count = n < BLOCK_COUNT ? n : BLOCK_COUNT;
    rd_values_load (wide->dtype, at, count, values, keys);
    take_block (wide, values, keys, count);
    at += count * item_nbytes;
    n -= count;
  }
}

/* A rank among the values, as a rank among the keys, which a negative slope
 * orders the other way round; ranks stay ascending. */
static void
ranks_of_keys (const struct wide *wide, uint64_t ranks[RD_NRANKS])
{
  uint64_t count = wide->moments.count, straight[RD_NRANKS];
  rd_quantile_ranks (count, straight);
  for (size_t i = 0; i < RD_NRANKS; i++)
    ranks[i] = wide->slope < 0 ? count - 1 - straight[RD_NRANKS - 1 - i]
                               : straight[i];
}

static void
set_percentiles (const struct wide *wide)
{
  uint64_t ranks[RD_NRANKS];
  double ranked[RD_NRANKS];
  rd_quantile_ranks (wide->moments.count, ranks);
  for (size_t i = 0; i < RD_NRANKS; i++) {
    size_t at = wide->slope < 0 ? RD_NRANKS - 1 - i : i;
    double value = rd_values_of_key (wide->dtype,
                                     rd_select_key (wide->select, at));
    ranked[i] = value * wide->slope + wide->inter;
  }
  rd_quantile_values (wide->moments.count, ranks, ranked,
                      wide->stats->percentile);
}

/* What the first run found out. */
static void
set_moments (struct wide *wide)
{
  const struct rd_moments *moments = &wide->moments;
  struct radio_stats *stats = wide->stats;
  if (!(stats->min <= moments->min))
    stats->min = moments->min;
  if (!(stats->max >= moments->max))
    stats->max = moments->max;
  stats->mean = moments->mean;
  stats->std = rd_moments_std (moments);
  rd_bins_set (&wide->bins, moments->min, moments->max);
  stats->bin_low = wide->bins.edges[0];
  stats->bin_high = wide->bins.edges[RADIO_STATS_NBINS];
}

enum radio_status
rd_stats_wide (enum radio_dtype dtype, double slope, double inter,
               rd_scan_fn *scan, void *source, struct radio_stats *stats)
{
  RD_CLEANUP (rd_cleanup_select) struct rd_select *select = NULL;
  RD_TRY (rd_select_open (rd_values_key_nbits (dtype), RD_NRANKS, &select));
  struct wide wide = { .dtype = dtype, .slope = slope, .inter = inter,
                       .stats = stats, .select = select, .counting = true };
  rd_stats_clear (stats);
  RD_TRY (scan (source, take_elements, &wide));
  if (wide.moments.count == 0)
    return RADIO_OK;
  set_moments (&wide);
  uint64_t ranks[RD_NRANKS];
  ranks_of_keys (&wide, ranks);
  RD_TRY (rd_select_want (select, ranks, RD_NRANKS));
  wide.counting = false;
  wide.binning = true;
  do {
    RD_TRY (scan (source, take_elements, &wide));
    if (!rd_select_done (select))
      RD_TRY (rd_select_narrow (select));
    wide.binning = false;
  } while (!rd_select_done (select));
  set_percentiles (&wide);
  return RADIO_OK;
}
