/* SPDX-License-Identifier: MIT */
/* How many times faster one layout is than the first one, round by round. */
#ifndef RD_BENCH_RATIO_H
#define RD_BENCH_RATIO_H

#include "tools/bench/layout.h"
#include "tools/bench/paired.h"

/* The median of the times of the first layout by those of this one in the
 * same round, and the interval that holds it.  Median 0: there is nothing to
 * compare.  Returns an exit status, after complaining. */
int rd_bench_ratio (const struct rd_bench *bench,
                    const struct rd_layout *layout, size_t row,
                    struct rd_ratio *ratio);

/* "1.87x"; "same" when the interval has 1 in it; "-" for no ratio. */
const char *rd_bench_ratio_text (const struct rd_ratio *ratio,
                                 char text[32]);

#endif /* RD_BENCH_RATIO_H */
