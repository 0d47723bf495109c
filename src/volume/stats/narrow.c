/* SPDX-License-Identifier: MIT */
/* Statistics of types of 8 and 16 bits: count how often each value occurs,
 * then work on the table. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/volume/stats/bins.h"
#include "src/volume/stats/quantile.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"

/* The values that occur, finite ones ascending, and how often. */
struct table {
  size_t n;
  double *values;
  uint64_t *counts;
  uint64_t total;             /* sum of counts */
};

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

static void
add_infinite (struct radio_stats *stats, double value, uint64_t count)
{
  stats->inf_count += count;
  if (!(stats->min <= value))
    stats->min = value;
  if (!(stats->max >= value))
    stats->max = value;
}

/* Turn keys into scaled values in ascending order (a negative slope turns
 * the order round), and count what is not finite. */
static void
make_table (const struct counting *counting, double slope, double inter,
            struct table *table, struct radio_stats *stats)
{
  size_t nkeys = rd_values_key_count (counting->dtype);
  for (size_t i = 0; i < nkeys; i++) {
    size_t key = slope < 0 ? nkeys - 1 - i : i;
    uint64_t count = counting->counts[key] + counting->counts[nkeys + key];
    if (count == 0)
      continue;
    double value = rd_values_of_key (counting->dtype, key) * slope + inter;
    stats->count += count;
    if (isnan (value))
      stats->nan_count += count;
    else if (isinf (value))
      add_infinite (stats, value, count);
    else {
      table->values[table->n] = value;
      table->counts[table->n++] = count;
      table->total += count;
    }
  }
}

/* The mean is improved by the mean of what differs from it, which takes
 * away what rounding left. */
static void
set_moments (const struct table *table, struct radio_stats *stats)
{
  double total = (double) table->total, sum = 0, rest = 0, squares = 0;
  for (size_t i = 0; i < table->n; i++)
    sum += table->values[i] * (double) table->counts[i];
  double mean = sum / total;
  for (size_t i = 0; i < table->n; i++)
    rest += (table->values[i] - mean) * (double) table->counts[i];
  mean += rest / total;
  for (size_t i = 0; i < table->n; i++) {
    double d = table->values[i] - mean;
    squares += d * d * (double) table->counts[i];
  }
  stats->mean = mean;
  stats->std = sqrt (squares / total);
}

static void
set_percentiles (const struct table *table, struct radio_stats *stats)
{
  uint64_t ranks[RD_NRANKS], nbelow = 0;
  double ranked[RD_NRANKS];
  rd_quantile_ranks (table->total, ranks);
  for (size_t i = 0, at = 0; i < RD_NRANKS; i++) {
    while (ranks[i] - nbelow >= table->counts[at])
      nbelow += table->counts[at++];
    ranked[i] = table->values[at];
  }
  rd_quantile_values (table->total, ranks, ranked, stats->percentile);
}

static void
set_histogram (const struct table *table, struct radio_stats *stats)
{
  struct rd_bins bins;
  rd_bins_set (&bins, table->values[0], table->values[table->n - 1]);
  for (size_t i = 0; i < table->n; i++)
    stats->histogram[rd_bins_index (&bins, table->values[i])]
      += table->counts[i];
  stats->bin_low = bins.edges[0];
  stats->bin_high = bins.edges[RADIO_STATS_NBINS];
}

static void
finish (const struct table *table, struct radio_stats *stats)
{
  if (table->n == 0)
    return;
  if (!(stats->min <= table->values[0]))
    stats->min = table->values[0];
  if (!(stats->max >= table->values[table->n - 1]))
    stats->max = table->values[table->n - 1];
  set_moments (table, stats);
  set_percentiles (table, stats);
  set_histogram (table, stats);
}

enum radio_status
rd_stats_narrow (enum radio_dtype dtype, double slope, double inter,
                 rd_scan_fn *scan, void *source, struct radio_stats *stats)
{
  size_t nkeys = rd_values_key_count (dtype);
  RD_FREE uint64_t *counts = rd_calloc (2 * nkeys, sizeof *counts);
  RD_FREE double *values = rd_malloc (nkeys * sizeof *values);
  RD_FREE uint64_t *occurring = rd_malloc (nkeys * sizeof *occurring);
  if (!counts || !values || !occurring)
    return rd_fail_memory (rd_stats_nbytes (dtype));
  struct counting counting = { dtype, counts };
  RD_TRY (scan (source, count_elements, &counting));
  struct table table = { .values = values, .counts = occurring };
  rd_stats_clear (stats);
  make_table (&counting, slope, inter, &table, stats);
  finish (&table, stats);
  return RADIO_OK;
}
