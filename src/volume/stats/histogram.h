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

#endif /* RD_HISTOGRAM_H */
