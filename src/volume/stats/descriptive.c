/* SPDX-License-Identifier: MIT */
/* Moments in one pass over the data; numpy.percentile's default method,
 * "linear"; edges as numpy.linspace computes them. */
#include <config.h>

#include <math.h>

#include "src/volume/stats/descriptive.h"

/* Values that are summed directly: few enough for the rounding error to be
 * negligible and for the second pass to find them in the cache. */
#define BLOCK_COUNT 1024

static struct rd_moments
moments_of_block (const double *values, size_t n)
{
  struct rd_moments m = { .count = n, .min = values[0], .max = values[0] };
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += values[i];
    m.min = values[i] < m.min ? values[i] : m.min;
    m.max = values[i] > m.max ? values[i] : m.max;
  }
  m.mean = sum / (double) n;
  for (size_t i = 0; i < n; i++) {
    double d = values[i] - m.mean;
    m.squares += d * d;
  }
  return m;
}

void
rd_moments_join (struct rd_moments *moments, const struct rd_moments *other)
{
  if (other->count == 0)
    return;
  if (moments->count == 0) {
    *moments = *other;
    return;
  }
  double na = (double) moments->count, nb = (double) other->count;
  double d = other->mean - moments->mean;
  moments->mean += d * (nb / (na + nb));
  moments->squares += other->squares + d * d * (na * (nb / (na + nb)));
  moments->count += other->count;
  if (other->min < moments->min)
    moments->min = other->min;
  if (other->max > moments->max)
    moments->max = other->max;
}

void
rd_moments_add (struct rd_moments *moments, const double *values, size_t n)
{
  while (n > 0) {
    size_t count = n < BLOCK_COUNT ? n : BLOCK_COUNT;
    struct rd_moments block = moments_of_block (values, count);
    rd_moments_join (moments, &block);
    values += count;
    n -= count;
  }
}

double
rd_moments_std (const struct rd_moments *moments)
{
  if (moments->count == 0)
    return NAN;
  return sqrt (moments->squares / (double) moments->count);
}

static const double percents[RADIO_STATS_NPERCENTILES] = {
  1, 5, 25, 50, 75, 95, 99,
};

/* The position of a percentile among the ordered values, and the ranks on
 * either side of it. */
static double
virtual_index (uint64_t count, int i, uint64_t *below, uint64_t *above)
{
  double at = (double) (count - 1) * (percents[i] / 100);
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
rd_quantile_ranks (uint64_t count, uint64_t ranks[RD_NRANKS])
{
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++) {
    uint64_t below, above;
    virtual_index (count, i, &below, &above);
    insert_rank (ranks, 2 * i, below);
    insert_rank (ranks, 2 * i + 1, above);
  }
}

static double
value_of_rank (const uint64_t *ranks, const double *values, uint64_t rank)
{
  size_t i = 0;
  while (i + 1 < RD_NRANKS && ranks[i] != rank)
    i++;
  return values[i];
}

void
rd_quantile_values (uint64_t count, const uint64_t ranks[RD_NRANKS],
                    const double values[RD_NRANKS],
                    double percentile[RADIO_STATS_NPERCENTILES])
{
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++) {
    uint64_t below, above;
    double at = virtual_index (count, i, &below, &above);
    double low = value_of_rank (ranks, values, below);
    double high = value_of_rank (ranks, values, above);
    double d = high - low, share = at - floor (at);
    /* numpy starts from the nearer end, which keeps the result monotone. */
    percentile[i] = d == 0 ? low
                    : share < 0.5 ? low + d * share : high - d * (1 - share);
  }
}

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
