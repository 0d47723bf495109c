/* SPDX-License-Identifier: MIT */
/* How much longer one thing takes than another, when the two were measured
 * apart, so that no run of one belongs to a run of the other. */
#ifndef RD_BENCH_SHIFT_H
#define RD_BENCH_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif /* RD_BENCH_SHIFT_H */
