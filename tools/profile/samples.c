/* SPDX-License-Identifier: MIT */
/* Statistics of measurements.  Times have long tails, so medians and ranks
 * are relied on; mean and deviation are for those who expect them. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/profile/samples.h"
#include "tools/tool.h"

/* The chance on either side of an interval that holds 95 %. */
#define TAIL 0.025

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

double
rd_quantile (const double *sorted, size_t n, double fraction)
{
  if (n == 0)
    return 0;
  double place = fraction * (double) (n - 1);
  size_t below = (size_t) place;
  if (below + 1 >= n)
    return sorted[n - 1];
  double part = place - (double) below;
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

void
rd_summarize (double *values, size_t n, struct rd_summary *summary)
{
  memset (summary, 0, sizeof *summary);
  if (n == 0)
    return;
  qsort (values, n, sizeof *values, compare_doubles);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++)
    sum += values[i];
  double mean = sum / (double) n;
  for (size_t i = 0; i < n; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  *summary = (struct rd_summary) {
    .n = n,
    .mean = mean,
    .median = rd_quantile (values, n, 0.5),
    .min = values[0],
    .max = values[n - 1],
    .std = n > 1 ? sqrt (squares / (double) (n - 1)) : 0,
    .low = rd_quantile (values, n, 0.25),
    .high = rd_quantile (values, n, 0.75),
  };
}

bool
rd_median_interval (const double *sorted, size_t n, double *low,
                    double *high)
{
  /* The number of values that may be cut off at either end: the largest k for
   * which fewer than k of n tosses of a coin are heads with a chance of at
   * most TAIL.  Beyond 1000 tosses 2^-n comes near the smallest double, and
   * the normal distribution is as good. */
  size_t k = 0;
  if (n > 1000) {
    k = (size_t) ((double) n / 2 - 1.96 * sqrt ((double) n) / 2);
  } else {
    double chance = ldexp (1, -(int) n), sum = chance;
    for (; k <= n && sum <= TAIL; k++) {
      chance *= (double) (n - k) / (double) (k + 1);
      sum += chance;
    }
    if (k > n)
      k = 0;
  }
  if (k == 0)
    return false;
  *low = sorted[k - 1];
  *high = sorted[n - k];
  return true;
}

uint64_t
rd_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t
rd_random_below (uint64_t *state, uint64_t n)
{
  if (n == 0)
    return 0;
  /* Values above the last whole multiple of n would favour low ones. */
  uint64_t surplus = (UINT64_MAX % n + 1) % n;
  uint64_t value;
  do
    value = rd_random (state);
  while (value > UINT64_MAX - surplus);
  return value % n;
}

/*------------------------------------------------------------------------
 * The ratio of two series that were measured apart
 *----------------------------------------------------------------------*/

/* Up to this number of each, the exact distribution is counted; for more, the
 * normal one is as good. */
#define MOST_EXACT 20
#define MOST_U (MOST_EXACT * MOST_EXACT + 1)

static size_t
exact_cut (size_t na, size_t nb)
{
  double ways[MOST_U] = { 1 }, all = 0, sum = 0;
  /* The number of orders of na and nb values of which u pairs are the wrong
   * way round, by counts for one value less; ways[u] is for the numbers that
   * were made last.  (The coefficients of the Gaussian binomial: multiply by
   * 1 - q^(nb + i), divide by 1 - q^i.) */
  for (size_t i = 1; i <= na; i++) {
    for (size_t u = na * nb; u >= nb + i; u--)
      ways[u] -= ways[u - nb - i];
    for (size_t u = i; u <= na * nb; u++)
      ways[u] += ways[u - i];
  }
  for (size_t u = 0; u <= na * nb; u++)
    all += ways[u];
  size_t cut = 0;
  while (cut <= na * nb && (sum += ways[cut]) <= TAIL * all)
    cut++;
  return cut;
}

size_t
rd_shift_cut (size_t na, size_t nb)
{
  if (na == 0 || nb == 0)
    return 0;
  if (na <= MOST_EXACT && nb <= MOST_EXACT)
    return exact_cut (na, nb);
  double pairs = (double) na * (double) nb;
  double deviation = sqrt (pairs * (double) (na + nb + 1) / 12);
  double cut = pairs / 2 - 1.96 * deviation - 0.5;
  return cut > 0 ? (size_t) cut : 0;
}

bool
rd_shift_of (const double *a, size_t na, const double *b, size_t nb,
             struct rd_shift *shift)
{
  memset (shift, 0, sizeof *shift);
  size_t n;
  if (__builtin_mul_overflow (na, nb, &n))
    return false;
  RD_FREE double *ratios = calloc (n + 1, sizeof *ratios);
  if (ratios == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    ratios[i] = log (b[i % nb]) - log (a[i / nb]);
  qsort (ratios, n, sizeof *ratios, compare_doubles);
  if (n > 0)
    shift->ratio = exp (rd_quantile (ratios, n, 0.5));
  size_t cut = rd_shift_cut (na, nb);
  if (cut > 0) {
    shift->low = exp (ratios[cut - 1]);
    shift->high = exp (ratios[n - cut]);
  }
  return true;
}
