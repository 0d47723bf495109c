/* SPDX-License-Identifier: MIT */
/* Moments in one pass over the data. */
#include <config.h>

#include <math.h>

#include "src/volume/stats/moments.h"

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
    size_t count = n < RD_MOMENTS_BLOCK ? n : RD_MOMENTS_BLOCK;
    struct rd_moments block = {
      .count = count, .min = values[0], .max = values[0],
    };
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
      sum += values[i];
      block.min = values[i] < block.min ? values[i] : block.min;
      block.max = values[i] > block.max ? values[i] : block.max;
    }
    block.mean = sum / (double) count;
    for (size_t i = 0; i < count; i++) {
      double d = values[i] - block.mean;
      block.squares += d * d;
    }
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
