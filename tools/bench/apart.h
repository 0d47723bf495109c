/* SPDX-License-Identifier: MIT */
/* Something done in a process of its own, and the most memory that it held
 * at one time.  The process is forked and runs no other program, so two of
 * them differ by what they did alone. */
#ifndef RD_BENCH_APART_H
#define RD_BENCH_APART_H

#include "tools/tool.h"

/* What is done; a number may come back.  Returns an exit status, after
 * complaining. */
typedef int rd_apart_fn (void *data, uint64_t *number);

struct rd_apart {
  uint64_t number;            /* what fn left there, at first 0 */
  uint64_t peak_nbytes;       /* resident at one time, the program included */
};

/* To be called while there is one thread.  Returns an exit status, after
 * complaining. */
int rd_apart_run (rd_apart_fn *fn, void *data, struct rd_apart *result);

#endif /* RD_BENCH_APART_H */
