/* SPDX-License-Identifier: MIT */
/* What a scope costs: nanoseconds of one, beside a bare pair of readings of
 * the timer in the same rounds. */
#ifndef RD_BENCH_SCOPES_H
#define RD_BENCH_SCOPES_H

#include "tools/bench/paired.h"

enum {
  RD_BENCH_BARE,              /* two readings of the timer, nothing else */
  RD_BENCH_OFF,               /* a scope while nothing records */
  RD_BENCH_TREE,              /* recorded in the tree */
  RD_BENCH_LOG,               /* in tree and log */
  RD_BENCH_NSERIES,
};

/* Nanoseconds of one, less those of the empty loop; a value a round. */
struct rd_bench_scopes {
  struct rd_series series[RD_BENCH_NSERIES];
  const char *timer;          /* "rdtsc", "cntvct" or "clock_gettime" */
};

/* Scopes of one measurement: few enough that none is dropped from the log or
 * throttled. */
#define RD_BENCH_NSCOPES 20000

/* Returns an exit status, after complaining; to be cleared in any case. */
int rd_bench_scopes (size_t nrounds, struct rd_bench_scopes *bench);
void rd_bench_scopes_clear (struct rd_bench_scopes *bench);

#endif /* RD_BENCH_SCOPES_H */
