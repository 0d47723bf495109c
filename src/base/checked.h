/* SPDX-License-Identifier: MIT */
/* Size arithmetic that cannot wrap: a file's header can claim 2^63 voxels.
 * rd_*_overflows return true when the result does NOT fit, as the compiler
 * built-ins do, and leave *result unusable then. */
#ifndef RD_CHECKED_H
#define RD_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool
rd_mul_overflows (uint64_t a, uint64_t b, uint64_t *result)
{
  return __builtin_mul_overflow (a, b, result);
}

static inline bool
rd_add_overflows (uint64_t a, uint64_t b, uint64_t *result)
{
  return __builtin_add_overflow (a, b, result);
}

/* a * b and a + b for sizes that only serve as bounds: they stop at the
 * largest number, which every limit refuses. */
static inline uint64_t
rd_mul_sat (uint64_t a, uint64_t b)
{
  uint64_t product;
  return rd_mul_overflows (a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t
rd_add_sat (uint64_t a, uint64_t b)
{
  uint64_t sum;
  return rd_add_overflows (a, b, &sum) ? UINT64_MAX : sum;
}

/* a / b, rounded up; b > 0.  Cannot wrap. */
static inline uint64_t
rd_div_up (uint64_t a, uint64_t b)
{
  return a / b + (a % b != 0);
}

static inline uint64_t
rd_min_u64 (uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static inline uint64_t
rd_max_u64 (uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* The absolute value, which is also that of INT64_MIN. */
static inline uint64_t
rd_abs_i64 (int64_t a)
{
  return a < 0 ? -(uint64_t) a : (uint64_t) a;
}

/* Below 0, 0 or above 0, as qsort's callers want it. */
static inline int
rd_compare_u64 (uint64_t a, uint64_t b)
{
  return (a > b) - (a < b);
}

#endif /* RD_CHECKED_H */
