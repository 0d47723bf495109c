/* SPDX-License-Identifier: MIT */
/* Statistics of blocks of elements.  Types of 8 and 16 bits: count how often
 * each value occurs, then work on the table.  Types of 32 and 64 bits: the
 * first pass over the data computes extremes, mean and deviation, and begins
 * to select order statistics; the second fills the histogram, whose bins the
 * first one has determined, and continues selecting, as do further passes if
 * necessary. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/volume/stats/histogram.h"
#include "src/volume/stats/moments.h"
#include "src/volume/stats/percentiles.h"
#include "src/volume/stats/select.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"

/* Elements that are converted at a time: they fit into the L1 cache. */
#define BLOCK_COUNT 512

/* Keys of up to these bits are counted in a table. */
#define MAX_NARROW_NBITS 16

uint64_t
rd_stats_nbytes (enum radio_dtype dtype, size_t npercents)
{
  unsigned nbits = rd_values_key_nbits (dtype);
  if (nbits <= MAX_NARROW_NBITS)
    return ((uint64_t) 1 << nbits) * 4 * sizeof (uint64_t);
  return rd_select_nbytes (2 * (RADIO_STATS_NPERCENTILES + npercents));
}

enum radio_status
rd_stats_check (enum radio_dtype dtype)
{
  if (rd_dtype_is_complex (dtype) || radio_dtype_nbytes (dtype) == 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "the type is %s; only real numbers have statistics",
                    radio_dtype_name (dtype));
  return RADIO_OK;
}

static void
extend_range (struct radio_stats *stats, double min, double max)
{
  if (!(stats->min <= min))
    stats->min = min;
  if (!(stats->max >= max))
    stats->max = max;
}

/* The values that occur, finite ones ascending, and how often. */
struct table {
  size_t n;
  double *values;
  uint64_t *counts;
  uint64_t total;             /* sum of counts */
};

/* The percentiles that are wanted: those of radio_stats, then those of more.
 */
struct percentiles {
  size_t n;
  double percents[RD_MAX_PERCENTILES];
  double values[RD_MAX_PERCENTILES];
};

static void
set_percentiles (struct percentiles *percentiles,
                 const struct rd_stats_more *more)
{
  percentiles->n = RADIO_STATS_NPERCENTILES + (more ? more->npercents : 0);
  memcpy (percentiles->percents, rd_stats_percents, sizeof rd_stats_percents);
  if (more)
    memcpy (percentiles->percents + RADIO_STATS_NPERCENTILES, more->percents,
            more->npercents * sizeof *more->percents);
}

static void
get_percentiles (const struct percentiles *percentiles,
                 struct radio_stats *stats, struct rd_stats_more *more)
{
  memcpy (stats->percentile, percentiles->values, sizeof stats->percentile);
  if (more)
    memcpy (more->percentiles, percentiles->values + RADIO_STATS_NPERCENTILES,
            more->npercents * sizeof *more->percentiles);
}

static void
set_extremes (struct radio_stats *stats, struct rd_stats_more *more,
              double low, double high)
{
  extend_range (stats, low, high);
  if (more) {
    more->low = low;
    more->high = high;
  }
}

/* The sink of the single pass. */
struct counting {
  enum radio_dtype dtype;
  uint64_t *counts;           /* two tables, see rd_values_count */
};

static void
count_elements (void *sink, const void *elements, size_t n)
{
  struct counting *counting = sink;
  rd_values_count (counting->dtype, elements, n, counting->counts);
}

/* Convert keys to scaled values in ascending order (a negative slope
 * reverses it), and count those that are not finite. */
static void
fill_table (const struct counting *counting, double slope, double inter,
            bool nonzero, struct table *table, struct radio_stats *stats)
{
  size_t nkeys = (size_t) 1 << rd_values_key_nbits (counting->dtype);
  for (size_t i = 0; i < nkeys; i++) {
    size_t key = slope < 0 ? nkeys - 1 - i : i;
    uint64_t count = counting->counts[key] + counting->counts[nkeys + key];
    if (count == 0)
      continue;
    double value = rd_values_of_key (counting->dtype, key) * slope + inter;
    if (nonzero && value == 0)
      continue;
    stats->count += count;
    if (isnan (value))
      stats->nan_count += count;
    else if (isinf (value)) {
      stats->inf_count += count;
      extend_range (stats, value, value);
    } else {
      table->values[table->n] = value;
      table->counts[table->n++] = count;
      table->total += count;
    }
  }
}

static void
finish_table (const struct table *table, struct radio_stats *stats,
              struct rd_stats_more *more)
{
  if (table->n == 0)
    return;
  const double *values = table->values;
  set_extremes (stats, more, values[0], values[table->n - 1]);

  /* Adding the mean of the differences to the mean removes its rounding
   * error. */
  double total = (double) table->total, sum = 0, rest = 0, squares = 0;
  for (size_t i = 0; i < table->n; i++)
    sum += values[i] * (double) table->counts[i];
  double mean = sum / total;
  for (size_t i = 0; i < table->n; i++)
    rest += (values[i] - mean) * (double) table->counts[i];
  mean += rest / total;
  for (size_t i = 0; i < table->n; i++) {
    double d = values[i] - mean;
    squares += d * d * (double) table->counts[i];
  }
  stats->mean = mean;
  stats->std = sqrt (squares / total);

  uint64_t ranks[RD_MAX_RANKS], nbelow = 0;
  double ranked[RD_MAX_RANKS];
  struct percentiles wanted;
  set_percentiles (&wanted, more);
  rd_percentile_ranks (table->total, wanted.percents, wanted.n, ranks);
  for (size_t i = 0, at = 0; i < 2 * wanted.n; i++) {
    while (ranks[i] - nbelow >= table->counts[at])
      nbelow += table->counts[at++];
    ranked[i] = values[at];
  }
  rd_percentile_values (table->total, wanted.percents, wanted.n, ranks,
                        ranked, wanted.values);
  get_percentiles (&wanted, stats, more);

  struct rd_bins bins;
  rd_bins_set (&bins, values[0], values[table->n - 1]);
  for (size_t i = 0; i < table->n; i++)
    stats->histogram[rd_bins_index (&bins, values[i])] += table->counts[i];
  stats->bin_low = bins.edges[0];
  stats->bin_high = bins.edges[RADIO_STATS_NBINS];
}

static enum radio_status
compute_narrow (enum radio_dtype dtype, double slope, double inter,
                rd_scan_fn *scan, void *source, struct rd_stats_more *more,
                struct radio_stats *stats)
{
  size_t nkeys = (size_t) 1 << rd_values_key_nbits (dtype);
  RD_FREE uint64_t *counts = rd_calloc (2 * nkeys, sizeof *counts);
  RD_FREE double *values = rd_malloc (nkeys * sizeof *values);
  RD_FREE uint64_t *occurring = rd_malloc (nkeys * sizeof *occurring);
  if (!counts || !values || !occurring)
    return rd_fail_memory (rd_stats_nbytes (dtype, 0));
  struct counting counting = { dtype, counts };
  struct table table = { .values = values, .counts = occurring };
  RD_TRY (scan (source, count_elements, &counting));
  fill_table (&counting, slope, inter, more && more->nonzero, &table, stats);
  finish_table (&table, stats, more);
  return RADIO_OK;
}

/* The sink of all passes over wide elements. */
struct wide {
  enum radio_dtype dtype;
  double slope, inter;
  struct radio_stats *stats;
  struct rd_moments moments;
  size_t npending;            /* values that are not yet in the moments */
  double pending[RD_MOMENTS_BLOCK];
  struct rd_select *select;
  struct rd_bins bins;
  bool nonzero;               /* leave zeros out */
  bool first_pass;            /* count elements and compute moments */
  bool binning;               /* fill the histogram */
};

/* Adds values to the moments in full blocks, wherever those of the source
 * end. */
static void
add_moments (struct wide *wide, const double *values, size_t n)
{
  while (n > 0) {
    size_t room = RD_MOMENTS_BLOCK - wide->npending;
    size_t count = n < room ? n : room;
    memcpy (wide->pending + wide->npending, values, count * sizeof *values);
    wide->npending += count;
    values += count;
    n -= count;
    if (wide->npending < RD_MOMENTS_BLOCK)
      return;
    rd_moments_add (&wide->moments, wide->pending, wide->npending);
    wide->npending = 0;
  }
}

static void
take_elements (void *sink, const void *elements, size_t n)
{
  struct wide *wide = sink;
  struct radio_stats *stats = wide->stats;
  double values[BLOCK_COUNT];
  uint64_t keys[BLOCK_COUNT];
  size_t item_nbytes = radio_dtype_nbytes (wide->dtype);
  const unsigned char *at = elements;
  while (n > 0) {
    size_t count = n < BLOCK_COUNT ? n : BLOCK_COUNT;
    rd_values_load (wide->dtype, at, count, values, keys);
    if (wide->slope != 1 || wide->inter != 0)
      for (size_t i = 0; i < count; i++)
        values[i] = values[i] * wide->slope + wide->inter;

    /* Move finite values and their keys to the front. */
    size_t nfinite = 0, nomitted = 0;
    for (size_t i = 0; i < count; i++) {
      double value = values[i];
      if (wide->nonzero && value == 0)
        nomitted++;
      else if (isfinite (value)) {
        values[nfinite] = value;
        keys[nfinite++] = keys[i];
      }
      else if (wide->first_pass && isnan (value))
        stats->nan_count++;
      else if (wide->first_pass) {
        stats->inf_count++;
        extend_range (stats, value, value);
      }
    }
    rd_select_add (wide->select, keys, nfinite);
    if (wide->first_pass) {
      stats->count += count - nomitted;
      add_moments (wide, values, nfinite);
    }
    if (wide->binning)
      for (size_t i = 0; i < nfinite; i++)
        stats->histogram[rd_bins_index (&wide->bins, values[i])]++;
    at += count * item_nbytes;
    n -= count;
  }
}

static enum radio_status
compute_wide (enum radio_dtype dtype, double slope, double inter,
              rd_scan_fn *scan, void *source, struct rd_stats_more *more,
              struct radio_stats *stats)
{
  RD_CLEANUP (rd_cleanup_select) struct rd_select *select = NULL;
  struct percentiles wanted;
  set_percentiles (&wanted, more);
  size_t nranks = 2 * wanted.n;
  RD_TRY (rd_select_open (rd_values_key_nbits (dtype), nranks, &select));
  struct wide wide = { .dtype = dtype, .slope = slope, .inter = inter,
                       .stats = stats, .select = select,
                       .nonzero = more && more->nonzero,
                       .first_pass = true };
  RD_TRY (scan (source, take_elements, &wide));
  rd_moments_add (&wide.moments, wide.pending, wide.npending);
  const struct rd_moments *moments = &wide.moments;
  uint64_t count = moments->count;
  if (count == 0)
    return RADIO_OK;
  set_extremes (stats, more, moments->min, moments->max);
  stats->mean = moments->mean;
  stats->std = rd_moments_std (moments);
  rd_bins_set (&wide.bins, moments->min, moments->max);
  stats->bin_low = wide.bins.edges[0];
  stats->bin_high = wide.bins.edges[RADIO_STATS_NBINS];
  wide.first_pass = false;
  wide.binning = true;

  /* Ranks of values as ranks of keys, which a negative slope reverses; they
   * stay ascending. */
  uint64_t ranks[RD_MAX_RANKS], key_ranks[RD_MAX_RANKS];
  rd_percentile_ranks (count, wanted.percents, wanted.n, ranks);
  for (size_t i = 0; i < nranks; i++)
    key_ranks[i] = slope < 0 ? count - 1 - ranks[nranks - 1 - i] : ranks[i];
  RD_TRY (rd_select_want (select, key_ranks, nranks));
  do {
    RD_TRY (scan (source, take_elements, &wide));
    if (!rd_select_done (select))
      RD_TRY (rd_select_narrow (select));
    wide.binning = false;
  } while (!rd_select_done (select));

  double ranked[RD_MAX_RANKS];
  for (size_t i = 0; i < nranks; i++) {
    size_t at = slope < 0 ? nranks - 1 - i : i;
    ranked[i] = rd_values_of_key (dtype, rd_select_key (select, at)) * slope
                + inter;
  }
  rd_percentile_values (count, wanted.percents, wanted.n, ranks, ranked,
                        wanted.values);
  get_percentiles (&wanted, stats, more);
  return RADIO_OK;
}

enum radio_status
rd_stats_compute (enum radio_dtype dtype, double slope, double inter,
                  rd_scan_fn *scan, void *source, struct rd_stats_more *more,
                  struct radio_stats *stats)
{
  RD_TRY (rd_stats_check (dtype));
  /* Without elements: NaN, zeros, and numpy's edges of 0 and 1. */
  struct radio_stats result = {
    .min = NAN, .max = NAN, .mean = NAN, .std = NAN, .bin_high = 1,
  };
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++)
    result.percentile[i] = NAN;
  for (size_t i = 0; more && i < more->npercents; i++)
    more->percentiles[i] = NAN;
  if (more)
    more->low = more->high = NAN;
  if (rd_values_key_nbits (dtype) <= MAX_NARROW_NBITS)
    RD_TRY (compute_narrow (dtype, slope, inter, scan, source, more,
                            &result));
  else
    RD_TRY (compute_wide (dtype, slope, inter, scan, source, more, &result));
  *stats = result;
  return RADIO_OK;
}
