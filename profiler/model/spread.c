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
 * promises from 3 runs on (tests/profiler/model/test-spread.c simulates
 * it).
 *
 * Runs that follow each other share conditions, so a slow one is followed by
 * another, and n of them say less than n independent ones.  They count as
 * n (1 - r) / (1 + r), where r is their serial correlation, as those of an
 * autoregressive process do:
 *
 *  G. V. Bayley, J. M. Hammersley: The "effective" number of independent
 *   observations in an autocorrelated time series, Supplement to the Journal
 *   of the Royal Statistical Society 8 (1946), 184-197.
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

/* The number of independent runs that say as much as these. */
static double
count_independent (const uint64_t *values, const struct rd_spread *spread)
{
  double products = 0, squares = 0, last = 0;
  for (size_t i = 0; i < spread->n; i++) {
    double value = fmin (fmax ((double) values[i], spread->min), spread->max);
    double distance = value - spread->median;
    products += last * distance;
    squares += distance * distance;
    last = distance;
  }
  double r = squares > 0 ? products / squares : 0;
  double n = (double) spread->n;
  return r > 0 ? fmax (2, n * (1 - r) / (1 + r)) : n;
}

struct rd_spread
rd_spread_of (uint64_t *values, size_t n, uint64_t *room)
{
  if (room)
    memcpy (room, values, n * sizeof *values);
  qsort (values, n, sizeof *values, compare_values);
  double low = (double) values[(n - 1) / 2], high = (double) values[n / 2];
  struct rd_spread spread = {
    .n = n,
    .nindependent = (double) n,
    .median = low + (high - low) / 2,
    .mean = low,
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
  if (room)
    spread.nindependent = count_independent (room, &spread);
  spread.mean = 0;
  for (size_t i = 0; i < n; i++)
    spread.mean += fmin (fmax ((double) values[i], spread.min), spread.max)
                   / (double) n;

  /* The c-th and the c-th last value are as far apart as 2 z standard errors
   * of the median. */
  double rounded = floor ((double) (n + 1) / 2 - sqrt ((double) n) + 0.5);
  size_t c = rounded < 1 ? 1 : (size_t) rounded;
  double z = normal_quantile (binomial_tail (n, c - 1));
  double error = (fmin ((double) values[n - c], spread.max)
                  - fmax ((double) values[c - 1], spread.min)) / (2 * z);
  spread.variance = error * error * (double) n / spread.nindependent;
  return spread;
}

/* More degrees of freedom count as these: 2 % wider than needed. */
#define MOST_DEGREES 100

/* The probability that Student's t with a whole number of degrees lies within
 * sqrt (degrees) tan (angle) of 0: M. Abramowitz, I. A. Stegun, Handbook of
 * Mathematical Functions, 26.7.3 and 26.7.4. */
static double
student_within (int degrees, double angle)
{
  double cosine = cos (angle), term = degrees % 2 ? cosine : 1, sum = 0;
  for (int i = degrees % 2 ? 1 : 0; i <= degrees - 2; i += 2) {
    sum += term;
    term *= cosine * cosine * (i + 1) / (i + 2);
  }
  return degrees % 2 ? (angle + sin (angle) * sum) / acos (0)
                     : sin (angle) * sum;
}

/* The value that |t| exceeds with probability alpha.  Between whole numbers of
 * degrees it is almost linear in 1 / degrees. */
static double
student_quantile (double degrees, double alpha)
{
  double ends[2];
  degrees = fmin (fmax (degrees, 1), MOST_DEGREES);
  int whole = (int) degrees;
  for (int k = 0; k < 2; k++) {
    double low = 0, high = acos (0);
    for (int i = 0; i < 50; i++) {
      double middle = (low + high) / 2;
      if (student_within (whole + k, middle) < 1 - alpha)
        low = middle;
      else
        high = middle;
    }
    ends[k] = sqrt (whole + k) * tan (low);
  }
  double at = (1. / whole - 1 / degrees) / (1. / whole - 1. / (whole + 1));
  return ends[0] + at * (ends[1] - ends[0]);
}

/* True if all of one side are above all of the other, by more than the
 * smaller of the two ranges.  So few runs that chance alone sorts them like
 * this must be farther apart: a range is k times too small by chance with the
 * probability 1 / k^2. */
static bool
are_apart (const struct rd_spread *below, const struct rd_spread *above,
           double alpha)
{
  double gap = above->min - below->max, chance = 2;
  double range = fmin (below->max - below->min, above->max - above->min);
  for (int i = 1; i <= (int) below->nindependent && chance > 1e-9; i++)
    chance *= i / (floor (above->nindependent) + i);
  return below->nindependent >= APART_MIN_RUNS
         && above->nindependent >= APART_MIN_RUNS && gap > 0
         && gap > range * fmax (1, sqrt (chance / 2 / alpha));
}

void
rd_spread_interval (const struct rd_spread *before,
                    const struct rd_spread *after, double alpha, double *low,
                    double *high)
{
  double delta = after->median - before->median, half = 0;
  double sum = before->variance + after->variance;
  if (sum > 0) {
    double inverse
      = before->variance * before->variance / (before->nindependent - 1)
        + after->variance * after->variance / (after->nindependent - 1);
    half = student_quantile (sum * sum / inverse, alpha) * sqrt (sum);
  }
  *low = delta - half;
  *high = delta + half;
  bool holds_0 = *low <= 0 && *high >= 0;
  if (!holds_0 || (!are_apart (before, after, alpha)
                   && !are_apart (after, before, alpha)))
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
