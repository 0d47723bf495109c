/* SPDX-License-Identifier: MIT */
/* The benchmark's loop. */
#ifndef RD_BENCH_RUN_H
#define RD_BENCH_RUN_H

#include "tools/bench/layout.h"
#include "tools/bench/limits.h"

/* Measure every chosen row of every layout, in rounds: each round does some
 * runs of each, so that what slows the machine for a while does not hit one
 * of them alone.  The machine's limits are measured in every round as well.
 * Ctrl-C ends it early.  Returns an exit status, after complaining. */
int rd_bench_measure (struct rd_bench *bench, struct rd_limits *limits);

/* The seconds that the machine itself would need for what a row of a layout
 * did: decoding on all threads at once, and touching the destination for
 * the first time.  0: not known. */
double rd_bench_limit_s (const struct rd_bench *bench,
                         const struct rd_limits *limits,
                         const struct rd_layout *layout, size_t row);

#endif /* RD_BENCH_RUN_H */
