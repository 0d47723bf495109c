/* SPDX-License-Identifier: MIT */
/* Runs of the benchmark: one run of a row, and the loop over all. */
#ifndef RD_TOOLS_BENCH_RUN_H
#define RD_TOOLS_BENCH_RUN_H

#include "tools/bench/layout.h"
#include "tools/bench/limits.h"

/* Measures every chosen row of every layout, in rounds: each round does some
 * runs of each, so that a disturbance does not affect one of them alone.  The
 * machine's limits are measured in every round as well.  Ctrl-C ends it early.
 * Returns an exit status; prints errors. */
int rd_bench_measure (struct rd_bench *bench, struct rd_limits *limits);

/* The seconds that a row of a layout would take at the limits of the machine:
 * decoding on all threads, and touching the destination for the first time.
 * 0: unknown. */
double rd_bench_limit_s (const struct rd_bench *bench,
                         const struct rd_limits *limits,
                         const struct rd_layout *layout, size_t row);

#endif /* RD_TOOLS_BENCH_RUN_H */
