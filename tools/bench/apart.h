/* SPDX-License-Identifier: MIT */
/* Work done in a process of its own, whose peak memory is measured.  The
 * process is forked and runs no other program, so two of them differ by their
 * work alone. */
#ifndef RD_BENCH_APART_H
#define RD_BENCH_APART_H

#include "tools/tool.h"

/* The work; it may return a number.  Returns an exit status; prints errors.
 */
typedef int rd_apart_fn (void *data, uint64_t *number);

struct rd_apart {
  uint64_t number;            /* set by fn; 0 at first */
  uint64_t peak_nbytes;       /* resident at one time, the program included */
};

/* To be called while there is one thread.  Returns an exit status; prints
 * errors. */
int rd_apart_run (rd_apart_fn *fn, void *data, struct rd_apart *result);

#endif /* RD_BENCH_APART_H */
