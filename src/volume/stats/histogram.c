/* SPDX-License-Identifier: MIT */
/* Edges as numpy.linspace computes them. */
#include <config.h>

#include <math.h>

#include "src/volume/stats/histogram.h"

void
rd_bins_set (struct rd_bins *bins, double low, double high)
{
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  bins->width = high - low;
  bins->edges[0] = low;
  bins->edges[RADIO_STATS_NBINS] = high;
  double step = bins->width / RADIO_STATS_NBINS;
  for (int i = 1; i < RADIO_STATS_NBINS; i++) {
    double share = (double) i / RADIO_STATS_NBINS;
    /* From the most negative to the largest number the width is infinite,
     * and every edge has to be mixed from both ends. */
    if (isinf (bins->width))
      bins->edges[i] = low * (1 - share) + high * share;
    else
      bins->edges[i] = step != 0 ? i * step + low
                                 : share * bins->width + low;
  }
}
