/* SPDX-License-Identifier: MIT */
/* Statistics of measurements: summaries, confidence intervals, ratios of
 * series measured apart, and reproducible random numbers. */
#ifndef RD_TOOLS_PROFILE_SAMPLES_H
#define RD_TOOLS_PROFILE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A summary of n values.  All 0 without values. */
struct rd_summary {
  size_t n;
  double mean, median, min, max;
  double std;                 /* of a sample (n - 1); 0 of a single value */
  double low, high;           /* quartiles: half of the values lie between */
};

/* Sort the values, and describe them. */
void rd_summarize (double *values, size_t n, struct rd_summary *summary);

/* The value below which a fraction (0 to 1) of sorted values lies, between
 * two of them in proportion, as numpy has it.  0 when there are none. */
double rd_quantile (const double *sorted, size_t n, double fraction);

/* The interval that holds the median of the population of the sorted values
 * with at least 95 % confidence, for any distribution: two of the values,
 * chosen by the binomial distribution (the sign test turned round).  False
 * with fewer than 6, which cannot say. */
bool rd_median_interval (const double *sorted, size_t n, double *low,
                         double *high);

/* The next number of a sequence that its first state decides (Vigna's
 * SplitMix64). */
uint64_t rd_random (uint64_t *state);

/* The next number of 0 to n - 1, each as likely as any other; 0 when n is
 * 0. */
uint64_t rd_random_below (uint64_t *state, uint64_t n);

/* The ratio of the values of b to those of a, and an interval that holds it
 * with 95 % confidence, whatever the distribution of the values, if b's is
 * a's times a number (Hodges and Lehmann's estimate; Mann and Whitney's test
 * turned round). */
struct rd_shift {
  double ratio;
  double low, high;           /* both 0 when too few to say: with 3 and 3 */
};

/* All values are above 0.  False without memory. */
bool rd_shift_of (const double *a, size_t na, const double *b, size_t nb,
                  struct rd_shift *shift);

/* How many of the na * nb ordered ratios may be cut off at either end; 0:
 * none, there are too few. */
size_t rd_shift_cut (size_t na, size_t nb);

#endif /* RD_TOOLS_PROFILE_SAMPLES_H */
