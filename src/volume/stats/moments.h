/* SPDX-License-Identifier: MIT */
/* Extremes, mean and standard deviation. */
#ifndef RD_MOMENTS_H
#define RD_MOMENTS_H

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

/* Values that are summed directly: few enough for the rounding error to be
 * negligible and for the second pass to find them in the cache. */
#define RD_MOMENTS_BLOCK 1024

/* Add finite values, in blocks: the bits of the result depend on where a call
 * begins, unless each but the last has a multiple of RD_MOMENTS_BLOCK. */
void rd_moments_add (struct rd_moments *moments, const double *values,
                     size_t n);

/* Merge the moments of other values into `moments'. */
void rd_moments_join (struct rd_moments *moments,
                      const struct rd_moments *other);

/* The population's standard deviation; NaN without values. */
double rd_moments_std (const struct rd_moments *moments);

#endif /* RD_MOMENTS_H */
