/* SPDX-License-Identifier: MIT */
/* The bins of a histogram, as numpy.histogram has them: equal in width, each
 * closed at its low edge and open at its high one, the last closed at
 * both. */
#ifndef RD_BINS_H
#define RD_BINS_H

#include <radio/stats.h>

struct rd_bins {
  double edges[RADIO_STATS_NBINS + 1];
  double width;               /* of all bins together; maybe 0 or infinite */
};

/* Bins from low to high, both finite; where they are equal, from half below
 * to half above. */
void rd_bins_set (struct rd_bins *bins, double low, double high);

/* The bin of a value between low and high. */
static inline size_t
rd_bins_index (const struct rd_bins *bins, double value)
{
  /* The quotient is off by one at most, as an edge is rounded otherwise than
   * it; the edges decide. */
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

#endif /* RD_BINS_H */
