/* SPDX-License-Identifier: MIT */
/* Descriptive statistics: moments, percentiles and histogram bins, the last
 * two as numpy computes them. */
#ifndef RD_DESCRIPTIVE_H
#define RD_DESCRIPTIVE_H

#include <radio/stats.h>

/* Mean and deviation of values that come in blocks: each block in two
 * passes, for accuracy, and blocks merged by the formula of Chan, Golub and
 * LeVeque, so that a large mean does not swallow a small deviation. */
struct rd_moments {
  uint64_t count;
  double min, max;            /* undefined as long as count is 0 */
  double mean;
  double squares;             /* sum of (value - mean)^2 */
};

/* Add finite values. */
void rd_moments_add (struct rd_moments *moments, const double *values,
                     size_t n);

/* Merge the moments of other values into `moments'. */
void rd_moments_join (struct rd_moments *moments,
                      const struct rd_moments *other);

/* The population's standard deviation; NaN without values. */
double rd_moments_std (const struct rd_moments *moments);

/* Each percentile is between two order statistics. */
#define RD_NRANKS (2 * RADIO_STATS_NPERCENTILES)

/* The ranks (0 is the smallest of count values) that the percentiles of
 * struct radio_stats need, in ascending order.  count > 0. */
void rd_quantile_ranks (uint64_t count, uint64_t ranks[RD_NRANKS]);

/* The percentiles from those ranks and their values, interpolated by
 * numpy's default method, to the last bit. */
void rd_quantile_values (uint64_t count, const uint64_t ranks[RD_NRANKS],
                         const double values[RD_NRANKS],
                         double percentile[RADIO_STATS_NPERCENTILES]);

/* The bins of a histogram, as numpy.histogram has them: equal in width, each
 * closed at its low edge and open at its high one, the last closed at
 * both. */
struct rd_bins {
  double edges[RADIO_STATS_NBINS + 1];
  double width;               /* of all bins together; may be 0 or infinite */
};

/* Set bins from low to high, both finite; if they are equal, from 0.5 below
 * to 0.5 above. */
void rd_bins_set (struct rd_bins *bins, double low, double high);

/* The bin of a value between low and high. */
static inline size_t
rd_bins_index (const struct rd_bins *bins, double value)
{
  /* The quotient may be off by one, since edges are rounded differently;
   * the edges decide. */
  double at = (value - bins->edges[0]) / bins->width * RADIO_STATS_NBINS;
  size_t i = 0;
  if (at > 0 && at < RADIO_STATS_NBINS)
    i = (size_t) at;
  else if (at >= RADIO_STATS_NBINS)
    i = RADIO_STATS_NBINS - 1;
  while (i > 0 && value < bins->edges[i])
    i--;
  while (i < RADIO_STATS_NBINS - 1 && value >= bins->edges[i + 1])
    i++;
  return i;
}

#endif /* RD_DESCRIPTIVE_H */
