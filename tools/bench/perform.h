/* SPDX-License-Identifier: MIT */
/* One run of a row of the benchmark. */
#ifndef RD_BENCH_PERFORM_H
#define RD_BENCH_PERFORM_H

#include "tools/bench/layout.h"

/* What a run took and gave. */
struct rd_outcome {
  double seconds;
  uint64_t nbytes;
};

/* Do run i of a row.  What is timed is what a caller pays: taking the memory,
 * the call, giving the memory back; of rows that open something, also
 * closing it.  Returns an exit status, after complaining. */
int rd_bench_perform (struct rd_bench *bench, struct rd_layout *layout,
                      size_t row, uint64_t i, struct rd_outcome *outcome);

/* Why a row cannot be measured of a layout; NULL: it can. */
const char *rd_bench_hindrance (const struct rd_layout *layout, size_t row);

#endif /* RD_BENCH_PERFORM_H */
