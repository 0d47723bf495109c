/* SPDX-License-Identifier: MIT */
/* Sums of the times, counts and bytes of profiles: they saturate. */
#ifndef RD_SUM_H
#define RD_SUM_H

#include "src/base/checked.h"

/* The largest time, count or sum in a profile: it may be taken as signed. */
#define RD_MAX_VALUE ((uint64_t) INT64_MAX)

/* a + b, or the largest value. */
static inline uint64_t
rd_sum (uint64_t a, uint64_t b)
{
  uint64_t sum;
  return rd_add_overflows (a, b, &sum) ? RD_MAX_VALUE
                                       : rd_min_u64 (sum, RD_MAX_VALUE);
}

/* a - b, or 0. */
static inline uint64_t
rd_subtract (uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

#endif /* RD_SUM_H */
