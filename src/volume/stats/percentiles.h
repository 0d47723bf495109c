/* SPDX-License-Identifier: MIT */
/* Percentiles, as numpy.percentile computes them. */
#ifndef RD_PERCENTILES_H
#define RD_PERCENTILES_H

#include <radio/stats.h>

/* Each percentile is between two order statistics. */
#define RD_NRANKS (2 * RADIO_STATS_NPERCENTILES)

/* The ranks (0 is the smallest of count values) that the percentiles of
 * struct radio_stats need, in ascending order.  count > 0. */
void rd_percentile_ranks (uint64_t count, uint64_t ranks[RD_NRANKS]);

/* The percentiles from those ranks and their values, interpolated by
 * numpy's default method, to the last bit. */
void rd_percentile_values (uint64_t count, const uint64_t ranks[RD_NRANKS],
                           const double values[RD_NRANKS],
                           double percentile[RADIO_STATS_NPERCENTILES]);

#endif /* RD_PERCENTILES_H */
