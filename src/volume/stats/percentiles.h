/* SPDX-License-Identifier: MIT */
/* Percentiles, as numpy.percentile computes them. */
#ifndef RD_PERCENTILES_H
#define RD_PERCENTILES_H

#include "src/volume/stats/stats.h"

/* The percentages of struct radio_stats. */
extern const double rd_stats_percents[RADIO_STATS_NPERCENTILES];

/* The most percentiles at once, and the order statistics that they need: each
 * is between two. */
#define RD_MAX_PERCENTILES (RADIO_STATS_NPERCENTILES + RD_STATS_MAX_PERCENTS)
#define RD_MAX_RANKS (2 * RD_MAX_PERCENTILES)

/* The 2 * n ranks (0 is the smallest of count values) that n percentiles need,
 * in ascending order.  count > 0. */
void rd_percentile_ranks (uint64_t count, const double *percents, size_t n,
                          uint64_t *ranks);

/* The percentiles from those ranks and their values, interpolated by
 * numpy's default method, to the last bit. */
void rd_percentile_values (uint64_t count, const double *percents, size_t n,
                           const uint64_t *ranks, const double *values,
                           double *percentiles);

#endif /* RD_PERCENTILES_H */
