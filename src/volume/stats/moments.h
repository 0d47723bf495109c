/* SPDX-License-Identifier: MIT */
/* Mean and deviation of values that come in blocks: each block in two
 * passes, which is as exact as it gets, and blocks joined by the formula of
 * Chan, Golub and LeVeque, so that a large mean does not swallow a small
 * deviation. */
#ifndef RD_MOMENTS_H
#define RD_MOMENTS_H

#include <radio/base.h>

struct rd_moments {
  uint64_t count;
  double min, max;            /* undefined as long as count is 0 */
  double mean;
  double squares;             /* sum of (value - mean)^2 */
};

/* Take in finite values. */
void rd_moments_add (struct rd_moments *moments, const double *values,
                     size_t n);

/* Join what was taken in separately; the result is in `moments'. */
void rd_moments_join (struct rd_moments *moments,
                      const struct rd_moments *other);

/* Of the population; NaN when there was no value. */
double rd_moments_std (const struct rd_moments *moments);

#endif /* RD_MOMENTS_H */
