/* SPDX-License-Identifier: MIT */
/* Spread of measurements, and imbalance of parts. */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "profiler/model/builder.h"
#include "profiler/model/spread.h"
#include "profiler/model/sum.h"

/*------------------------------------------------------------------------
 * The interval of a difference of medians.  Times of runs are skewed and
 * have outliers, so means mislead, and with few runs Welch's test on means
 * calls noise a change far too often when the two sides have different
 * numbers of runs.  The variance of a median is estimated without assuming a
 * distribution, from two order statistics around it:
 *
 *  R. M. Price, D. G. Bonett: Estimating the variance of the sample median,
 *   Journal of Statistical Computation and Simulation 68 (2001), 295-305;
 *   D. G. Bonett, R. M. Price: Statistical inference for a linear function
 *   of medians, Psychological Methods 7 (2002), 370-383.
 *
 * They take the quantile of the normal distribution; here it is Student's,
 * with the degrees of freedom of Welch and Satterthwaite, which holds what it
 * promises from 3 runs on (tests/profiler/model/test-compare.c simulates
 * it).
 *
 * With fewer than some ten runs the order statistics are the smallest and
 * the largest one, and a single run that something disturbed would make the
 * interval as wide as its own distance.  Two rules take care of that: a run
 * that lies alone, far from all others, counts as the one next to it; and
 * where all runs of one side are beyond all of the other, by more than the
 * other scatters, the interval is that of the differences of any two runs,
 * which does not hold 0.
 *----------------------------------------------------------------------*/

/* An outlier is a run that is ALONE times as far from the next one as all
 * others are from each other, if there are enough runs. */
#define ALONE 4
#define ALONE_MIN_RUNS 4

/* Two runs are beyond two others by chance far too often. */
#define APART_MIN_RUNS 3

/* The chance of at most k heads in n throws of a coin. */
static double
binomial_tail (size_t n, size_t k)
{
  double log_term = -(double) n * log (2);
  double sum = 0;
  for (size_t i = 0; i <= k; i++) {
    sum += exp (log_term);
    log_term += log ((double) (n - i) / (double) (i + 1));
  }
  return sum;
}

/* The upper quantile of the normal distribution, 0 < p < 1/2. */
static double
normal_quantile (double p)
{
  double low = 0, high = 40;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    if (erfc (middle / sqrt (2)) / 2 > p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static int
compare_values (const void *a, const void *b)
{
  return rd_compare_u64 (*(const uint64_t *) a, *(const uint64_t *) b);
}

struct rd_spread
rd_spread_of (uint64_t *values, size_t n)
{
  qsort (values, n, sizeof *values, compare_values);
  double low = (double) values[(n - 1) / 2], high = (double) values[n / 2];
  struct rd_spread spread = {
    .n = n,
    .median = low + (high - low) / 2,
    .min = (double) values[0],
    .max = (double) values[n - 1],
  };
  if (n < 2)
    return spread;

  if (n >= ALONE_MIN_RUNS) {
    double second = (double) values[1], second_last = (double) values[n - 2];
    if (spread.max - second_last > ALONE * (second_last - spread.min))
      spread.max = second_last;
    else if (second - spread.min > ALONE * (spread.max - second))
      spread.min = second;
  }

  /* The c-th and the c-th last value are as far apart as 2 z standard errors
   * of the median. */
  double rounded = floor ((double) (n + 1) / 2 - sqrt ((double) n) + 0.5);
  size_t c = rounded < 1 ? 1 : (size_t) rounded;
  double z = normal_quantile (binomial_tail (n, c - 1));
  double error = (fmin ((double) values[n - c], spread.max)
                  - fmax ((double) values[c - 1], spread.min)) / (2 * z);
  spread.variance = error * error;
  return spread;
}

/* The 97.5 % quantile of Student's t distribution.  Between the rows
 * it is almost linear in 1 / degrees. */
static double
student_quantile (double degrees)
{
  static const struct {
    double degrees, quantile;
  } rows[] = {
    { 1, 12.7062 }, { 2, 4.3027 }, { 3, 3.1824 }, { 4, 2.7764 },
    { 5, 2.5706 }, { 6, 2.4469 }, { 7, 2.3646 }, { 8, 2.3060 },
    { 9, 2.2622 }, { 10, 2.2281 }, { 12, 2.1788 }, { 15, 2.1314 },
    { 20, 2.0860 }, { 30, 2.0423 }, { 60, 2.0003 }, { 120, 1.9799 },
    { 1e9, 1.9600 },
  };
  size_t n = sizeof rows / sizeof rows[0];
  size_t i = 1;
  while (i < n - 1 && rows[i].degrees < degrees)
    i++;
  double from = 1 / rows[i - 1].degrees, to = 1 / rows[i].degrees;
  double at = (from - 1 / degrees) / (from - to);
  at = at < 0 ? 0 : at > 1 ? 1 : at;
  return rows[i - 1].quantile
         + at * (rows[i].quantile - rows[i - 1].quantile);
}

/* True if all of one side are above all of the other, by more than the
 * smaller of the two ranges. */
static bool
are_apart (const struct rd_spread *below, const struct rd_spread *above)
{
  double gap = above->min - below->max;
  double range = fmin (below->max - below->min, above->max - above->min);
  return below->n >= APART_MIN_RUNS && above->n >= APART_MIN_RUNS
         && gap > 0 && gap > range;
}

void
rd_spread_interval (const struct rd_spread *before,
                    const struct rd_spread *after, double *low, double *high)
{
  double delta = after->median - before->median, half = 0;
  double sum = before->variance + after->variance;
  if (sum > 0) {
    double inverse
      = before->variance * before->variance / (double) (before->n - 1)
        + after->variance * after->variance / (double) (after->n - 1);
    half = student_quantile (sum * sum / inverse) * sqrt (sum);
  }
  *low = delta - half;
  *high = delta + half;
  bool holds_0 = *low <= 0 && *high >= 0;
  if (!holds_0 || (!are_apart (before, after) && !are_apart (after, before)))
    return;
  *low = after->min - before->max;
  *high = after->max - before->min;
}

/*------------------------------------------------------------------------
 * Imbalance between the parts of a profile
 *----------------------------------------------------------------------*/

static uint64_t
total_of (const struct radio_profile *profile, size_t node, size_t part)
{
  return rd_profile_share (profile, node, part).total_ns;
}

/* The k-th smallest total, from 1, without memory to sort them in: the
 * smallest number that k of them do not exceed. */
static uint64_t
kth_total (const struct radio_profile *profile, size_t node, size_t k)
{
  size_t n;
  const struct rd_part_share *shares = rd_profile_shares (profile, node, &n);
  uint64_t low = 0, high = RD_MAX_VALUE;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    size_t count = profile->parts.n - n;      /* they have nothing of it */
    for (size_t i = 0; i < n; i++)
      count += shares[i].share.total_ns <= middle;
    if (count >= k)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* A part that takes less than this longer than the others does not delay
 * them: this, and a hundredth of the longest part. */
#define MIN_LAG_NS 1000000
#define MIN_LAG_SHARE 100

static bool
is_straggler (const struct radio_profile *profile, size_t node, size_t part)
{
  size_t n = profile->parts.n;
  if (n < 2)
    return false;
  uint64_t low = kth_total (profile, node, (n + 1) / 2);
  uint64_t high = n % 2 ? low : kth_total (profile, node, n / 2 + 1);
  uint64_t median = low + (high - low) / 2;
  uint64_t lag = total_of (profile, node, part) - median;

  uint64_t min_other = RD_MAX_VALUE, max_other = 0, longest = 0;
  for (size_t i = 0; i < n; i++) {
    longest = rd_max_u64 (longest, profile->parts.at[i].wall_ns);
    if (i == part)
      continue;
    min_other = rd_min_u64 (min_other, total_of (profile, node, i));
    max_other = rd_max_u64 (max_other, total_of (profile, node, i));
  }
  return lag > median / 2 && lag >= MIN_LAG_NS
         && lag >= longest / MIN_LAG_SHARE && lag > max_other - min_other;
}

static void
find_imbalance (const struct radio_profile *profile, size_t node,
                struct radio_imbalance *imbalance)
{
  if (node >= profile->nodes.n)
    return;
  double sum = 0;
  size_t n = profile->parts.n;
  imbalance->min_ns = RD_MAX_VALUE;
  for (size_t i = 0; i < n; i++) {
    uint64_t total = total_of (profile, node, i);
    sum += (double) total;
    if (total > imbalance->max_ns)
      imbalance->slowest = i;
    imbalance->max_ns = rd_max_u64 (imbalance->max_ns, total);
    imbalance->min_ns = rd_min_u64 (imbalance->min_ns, total);
  }
  if (!(sum > 0))
    return;
  imbalance->mean_ns = (uint64_t) (sum / (double) n);
  imbalance->imbalance = (double) imbalance->max_ns / (sum / (double) n);
  imbalance->straggler = is_straggler (profile, node, imbalance->slowest);
}

void
(radio_profile_imbalance) (const struct radio_profile *profile, size_t node,
                           struct radio_imbalance *imbalance,
                           size_t imbalance_nbytes)
{
  struct radio_imbalance full = { 0 };
  find_imbalance (profile, node, &full);
  rd_fill_result (imbalance, imbalance_nbytes, &full, sizeof full);
}
