/* SPDX-License-Identifier: MIT */
/* numpy.percentile's default method, "linear". */
#include <config.h>

#include <math.h>

#include "src/volume/stats/percentiles.h"

const double rd_stats_percents[RADIO_STATS_NPERCENTILES] = {
  1, 5, 25, 50, 75, 95, 99,
};

/* The position of a percentile among the ordered values, and the ranks on
 * either side of it. */
static double
virtual_index (uint64_t count, double percent, uint64_t *below,
               uint64_t *above)
{
  double at = (double) (count - 1) * (percent / 100);
  *below = (uint64_t) floor (at);
  *above = *below + 1 < count ? *below + 1 : *below;
  return at;
}

/* Insert a rank into n sorted ones. */
static void
insert_rank (uint64_t *ranks, size_t n, uint64_t rank)
{
  for (; n > 0 && ranks[n - 1] > rank; n--)
    ranks[n] = ranks[n - 1];
  ranks[n] = rank;
}

void
rd_percentile_ranks (uint64_t count, const double *percents, size_t n,
                     uint64_t *ranks)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t below, above;
    virtual_index (count, percents[i], &below, &above);
    insert_rank (ranks, 2 * i, below);
    insert_rank (ranks, 2 * i + 1, above);
  }
}

static double
value_of_rank (const uint64_t *ranks, const double *values, size_t nranks,
               uint64_t rank)
{
  size_t i = 0;
  while (i + 1 < nranks && ranks[i] != rank)
    i++;
  return values[i];
}

void
rd_percentile_values (uint64_t count, const double *percents, size_t n,
                      const uint64_t *ranks, const double *values,
                      double *percentiles)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t below, above;
    double at = virtual_index (count, percents[i], &below, &above);
    double low = value_of_rank (ranks, values, 2 * n, below);
    double high = value_of_rank (ranks, values, 2 * n, above);
    double d = high - low, share = at - floor (at);
    /* numpy starts from the nearer end, which keeps the result monotone. */
    percentiles[i] = d == 0 ? low
                     : share < 0.5 ? low + d * share : high - d * (1 - share);
  }
}
