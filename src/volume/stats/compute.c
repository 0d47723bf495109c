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

/* The percentiles of radio_stats that are wanted. */
static size_t
count_usual (const struct rd_stats_more *more)
{
  return more && more->no_usual ? 0 : RADIO_STATS_NPERCENTILES;
}

static size_t
count_percentiles (const struct rd_stats_more *more)
{
  return count_usual (more) + (more ? more->npercents : 0);
}

uint64_t
rd_stats_nbytes (enum radio_dtype dtype, const struct rd_stats_more *more)
{
  unsigned nbits = rd_values_key_nbits (dtype);
  size_t npercentiles = count_percentiles (more);
  if (nbits <= RD_MAX_NARROW_NBITS)
    return ((uint64_t) 1 << nbits) * 4 * sizeof (uint64_t);
  return npercentiles ? rd_select_nbytes (2 * npercentiles) : 0;
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

/* A value, and how often it occurs. */
struct value {
  double value;
  uint64_t count;
};

/* The finite values that occur, ascending; one may occur in several places that
 * follow each other. */
struct table {
  size_t n;
  struct value *values;
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
  size_t nusual = count_usual (more);
  percentiles->n = count_percentiles (more);
  memcpy (percentiles->percents, rd_stats_percents,
          nusual * sizeof *rd_stats_percents);
  if (more)
    memcpy (percentiles->percents + nusual, more->percents,
            more->npercents * sizeof *more->percents);
}

static void
get_percentiles (const struct percentiles *percentiles,
                 struct radio_stats *stats, struct rd_stats_more *more)
{
  size_t nusual = count_usual (more);
  memcpy (stats->percentile, percentiles->values,
          nusual * sizeof *stats->percentile);
  if (more)
    memcpy (more->percentiles, percentiles->values + nusual,
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

void
rd_counts_add (void *sink, const void *elements, size_t n)
{
  const struct rd_counts *counts = sink;
  rd_values_count (counts->dtype, elements, n, counts->counts);
}

/* Appends the values of a table of counts, scaled, in ascending order (a
 * negative slope reverses it), and counts those that are not finite. */
static void
fill_table (const struct rd_counts *counting, bool nonzero,
            struct table *table, struct radio_stats *stats)
{
  size_t nkeys = (size_t) 1 << rd_values_key_nbits (counting->dtype);
  for (size_t i = 0; i < nkeys; i++) {
    size_t key = counting->slope < 0 ? nkeys - 1 - i : i;
    uint64_t count = counting->counts[key] + counting->counts[nkeys + key];
    if (count == 0)
      continue;
    double value = rd_values_of_key (counting->dtype, key) * counting->slope
                   + counting->inter;
    if (nonzero && value == 0)
      continue;
    stats->count += count;
    if (isnan (value))
      stats->nan_count += count;
    else if (isinf (value)) {
      stats->inf_count += count;
      extend_range (stats, value, value);
    } else {
      table->values[table->n] = (struct value) { value, count };
      table->n++;
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
  const struct value *values = table->values;
  set_extremes (stats, more, values[0].value, values[table->n - 1].value);

  /* Adding the mean of the differences to the mean removes its rounding
   * error. */
  double total = (double) table->total, sum = 0, rest = 0, squares = 0;
  for (size_t i = 0; i < table->n; i++)
    sum += values[i].value * (double) values[i].count;
  double mean = sum / total;
  for (size_t i = 0; i < table->n; i++)
    rest += (values[i].value - mean) * (double) values[i].count;
  mean += rest / total;
  for (size_t i = 0; i < table->n; i++) {
    double d = values[i].value - mean;
    squares += d * d * (double) values[i].count;
  }
  stats->mean = mean;
  stats->std = sqrt (squares / total);

  uint64_t ranks[RD_MAX_RANKS], nbelow = 0;
  double ranked[RD_MAX_RANKS];
  struct percentiles wanted;
  set_percentiles (&wanted, more);
  rd_percentile_ranks (table->total, wanted.percents, wanted.n, ranks);
  for (size_t i = 0, at = 0; i < 2 * wanted.n; i++) {
    while (ranks[i] - nbelow >= values[at].count)
      nbelow += values[at++].count;
    ranked[i] = values[at].value;
  }
  rd_percentile_values (table->total, wanted.percents, wanted.n, ranks,
                        ranked, wanted.values);
  get_percentiles (&wanted, stats, more);

  struct rd_bins bins;
  rd_bins_set (&bins, values[0].value, values[table->n - 1].value);
  for (size_t i = 0; i < table->n; i++) {
    stats->histogram[rd_bins_index (&bins, values[i].value)]
      += values[i].count;
    if (more && more->bins)
      rd_range_bins_add (more->bins, values[i].value, values[i].count);
  }
  stats->bin_low = bins.edges[0];
  stats->bin_high = bins.edges[RADIO_STATS_NBINS];
}

/* Sets what statistics are without elements: NaN, zeros, and numpy's edges of 0
 * and 1. */
static void
clear_stats (struct radio_stats *stats, struct rd_stats_more *more)
{
  *stats = (struct radio_stats) {
    .min = NAN, .max = NAN, .mean = NAN, .std = NAN, .bin_high = 1,
  };
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++)
    stats->percentile[i] = NAN;
  for (size_t i = 0; more && i < more->npercents; i++)
    more->percentiles[i] = NAN;
  if (more)
    more->low = more->high = NAN;
}

static int
compare_values (const void *p, const void *q)
{
  const struct value *a = p, *b = q;
  return (a->value > b->value) - (a->value < b->value);
}

enum radio_status
rd_stats_of_counts (const struct rd_counts *counts, size_t n,
                    struct rd_stats_more *more, struct radio_stats *stats)
{
  size_t nvalues = 0;
  for (size_t i = 0; i < n; i++)
    nvalues += (size_t) 1 << rd_values_key_nbits (counts[i].dtype);
  RD_FREE struct value *values = rd_calloc (nvalues + 1, sizeof *values);
  if (values == NULL)
    return rd_fail_memory ((nvalues + 1) * sizeof *values);
  struct table table = { .values = values };
  clear_stats (stats, more);
  for (size_t i = 0; i < n; i++)
    fill_table (&counts[i], more && more->nonzero, &table, stats);
  if (n > 1 && table.n > 0)
    qsort (values, table.n, sizeof *values, compare_values);
  finish_table (&table, stats, more);
  return RADIO_OK;
}

static enum radio_status
compute_narrow (enum radio_dtype dtype, double slope, double inter,
                rd_scan_fn *scan, void *source, struct rd_stats_more *more,
                struct radio_stats *stats)
{
  size_t nkeys = (size_t) 1 << rd_values_key_nbits (dtype);
  RD_FREE uint64_t *counts = rd_calloc (2 * nkeys, sizeof *counts);
  if (counts == NULL)
    return rd_fail_memory (rd_stats_nbytes (dtype, more));
  struct rd_counts counting = { dtype, slope, inter, counts };
  RD_TRY (scan (source, rd_counts_add, &counting));
  return rd_stats_of_counts (&counting, 1, more, stats);
}

struct rd_wide_stats {
  enum radio_dtype dtype;
  double slope, inter;
  struct radio_stats *stats;
  struct rd_stats_more *more;
  struct rd_moments moments;
  size_t npending;            /* values that are not yet in the moments */
  double pending[RD_MOMENTS_BLOCK];
  struct rd_select *select;   /* NULL: no percentiles are wanted */
  struct rd_bins bins;
  bool nonzero;               /* leave zeros out */
  bool first_pass;            /* count elements and compute moments */
  bool binning;               /* fill the histogram */
  struct percentiles wanted;
  uint64_t ranks[RD_MAX_RANKS];
};

/* Adds values to the moments in full blocks, independent of the source's
 * blocks. */
static void
add_moments (struct rd_wide_stats *wide, const double *values, size_t n)
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

void
rd_wide_add (void *sink, const void *elements, size_t n)
{
  struct rd_wide_stats *wide = sink;
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
    if (wide->select)
      rd_select_add (wide->select, keys, nfinite);
    if (wide->first_pass) {
      stats->count += count - nomitted;
      add_moments (wide, values, nfinite);
      if (wide->more && wide->more->bins)
        for (size_t i = 0; i < nfinite; i++)
          rd_range_bins_add (wide->more->bins, values[i], 1);
    }
    if (wide->binning)
      for (size_t i = 0; i < nfinite; i++)
        stats->histogram[rd_bins_index (&wide->bins, values[i])]++;
    at += count * item_nbytes;
    n -= count;
  }
}

void
rd_wide_close (struct rd_wide_stats *wide)
{
  if (wide == NULL)
    return;
  rd_select_close (wide->select);
  rd_free (wide);
}

RD_DEFINE_CLEANUP (wide, struct rd_wide_stats, rd_wide_close);

enum radio_status
rd_wide_open (enum radio_dtype dtype, double slope, double inter,
              struct rd_stats_more *more, struct radio_stats *stats,
              struct rd_wide_stats **result)
{
  RD_CLEANUP (rd_cleanup_wide) struct rd_wide_stats *wide
    = rd_calloc (1, sizeof *wide);
  if (wide == NULL)
    return rd_fail_memory (sizeof *wide);
  wide->dtype = dtype;
  wide->slope = slope;
  wide->inter = inter;
  wide->stats = stats;
  wide->more = more;
  wide->nonzero = more && more->nonzero;
  wide->first_pass = true;
  clear_stats (stats, more);
  set_percentiles (&wide->wanted, more);
  if (wide->wanted.n > 0)
    RD_TRY (rd_select_open (rd_values_key_nbits (dtype), 2 * wide->wanted.n,
                            &wide->select));
  *result = RD_STEAL (wide);
  return RADIO_OK;
}

/* Sets what the first pass has found, and the ranks of percentiles. */
static enum radio_status
end_first_pass (struct rd_wide_stats *wide, bool *is_done)
{
  struct radio_stats *stats = wide->stats;
  rd_moments_add (&wide->moments, wide->pending, wide->npending);
  const struct rd_moments *moments = &wide->moments;
  uint64_t count = moments->count, key_ranks[RD_MAX_RANKS];
  wide->first_pass = false;
  *is_done = count == 0;
  if (*is_done)
    return RADIO_OK;
  set_extremes (stats, wide->more, moments->min, moments->max);
  stats->mean = moments->mean;
  stats->std = rd_moments_std (moments);
  *is_done = wide->select == NULL;
  if (*is_done)
    return RADIO_OK;
  rd_bins_set (&wide->bins, moments->min, moments->max);
  stats->bin_low = wide->bins.edges[0];
  stats->bin_high = wide->bins.edges[RADIO_STATS_NBINS];
  wide->binning = true;

  /* Ranks of values as ranks of keys, which a negative slope reverses; they
   * stay ascending. */
  size_t nranks = 2 * wide->wanted.n;
  const uint64_t *ranks = wide->ranks;
  rd_percentile_ranks (count, wide->wanted.percents, wide->wanted.n,
                       wide->ranks);
  for (size_t i = 0; i < nranks; i++)
    key_ranks[i] = wide->slope < 0 ? count - 1 - ranks[nranks - 1 - i]
                                   : ranks[i];
  return rd_select_want (wide->select, key_ranks, nranks);
}

enum radio_status
rd_wide_end_pass (struct rd_wide_stats *wide, bool *is_done)
{
  double ranked[RD_MAX_RANKS];
  struct percentiles *wanted = &wide->wanted;
  size_t nranks = 2 * wanted->n;
  if (wide->first_pass)
    return end_first_pass (wide, is_done);
  *is_done = wide->moments.count == 0;
  if (*is_done)
    return RADIO_OK;
  wide->binning = false;
  if (!rd_select_done (wide->select))
    RD_TRY (rd_select_narrow (wide->select));
  *is_done = rd_select_done (wide->select);
  if (!*is_done)
    return RADIO_OK;
  for (size_t i = 0; i < nranks; i++) {
    size_t at = wide->slope < 0 ? nranks - 1 - i : i;
    uint64_t key = rd_select_key (wide->select, at);
    ranked[i] = rd_values_of_key (wide->dtype, key) * wide->slope
                + wide->inter;
  }
  rd_percentile_values (wide->moments.count, wanted->percents, wanted->n,
                        wide->ranks, ranked, wanted->values);
  get_percentiles (wanted, wide->stats, wide->more);
  return RADIO_OK;
}

static enum radio_status
compute_wide (enum radio_dtype dtype, double slope, double inter,
              rd_scan_fn *scan, void *source, struct rd_stats_more *more,
              struct radio_stats *stats)
{
  RD_CLEANUP (rd_cleanup_wide) struct rd_wide_stats *wide = NULL;
  bool is_done = false;
  RD_TRY (rd_wide_open (dtype, slope, inter, more, stats, &wide));
  while (!is_done) {
    RD_TRY (scan (source, rd_wide_add, wide));
    RD_TRY (rd_wide_end_pass (wide, &is_done));
  }
  return RADIO_OK;
}

enum radio_status
rd_stats_compute (enum radio_dtype dtype, double slope, double inter,
                  rd_scan_fn *scan, void *source, struct rd_stats_more *more,
                  struct radio_stats *stats)
{
  RD_TRY (rd_stats_check (dtype));
  struct radio_stats result;
  if (rd_values_key_nbits (dtype) <= RD_MAX_NARROW_NBITS)
    RD_TRY (compute_narrow (dtype, slope, inter, scan, source, more,
                            &result));
  else
    RD_TRY (compute_wide (dtype, slope, inter, scan, source, more, &result));
  *stats = result;
  return RADIO_OK;
}
