/* SPDX-License-Identifier: MIT */
/* The bins of histograms, as numpy.histogram has them. */
#ifndef RD_HISTOGRAM_H
#define RD_HISTOGRAM_H

#include <radio/stats.h>

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

/* Bins of a range that is given: any number of them, as numpy.histogram with
 * its argument range has them. */
struct rd_range_bins {
  size_t n;
  double low, high;           /* finite, low below high */
  uint64_t *counts;
};

/* Adds a value that occurs so often, unless it is outside of the range. */
static inline void
rd_range_bins_add (const struct rd_range_bins *bins, double value,
                   uint64_t count)
{
  if (!(value >= bins->low && value <= bins->high))
    return;
  /* The quotient may be off by one, as above. */
  double step = (bins->high - bins->low) / (double) bins->n;
  double at = (value - bins->low) / (bins->high - bins->low)
              * (double) bins->n;
  size_t last = bins->n - 1;
  size_t i = at < (double) last ? (size_t) at : last;
  if (i > 0 && value < (double) i * step + bins->low)
    i--;
  else if (i < last && value >= (double) (i + 1) * step + bins->low)
    i++;
  bins->counts[i] += count;
}

#endif /* RD_HISTOGRAM_H */
