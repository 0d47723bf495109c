/* SPDX-License-Identifier: MIT */
/* How long a thread was runnable without having a CPU: the kernel's own
 * account of it, which is exact, while the difference of a clock and a CPU
 * clock holds sleep, too.  And if it slept at all, which is known by its
 * voluntary context switches.  A reading takes about a microsecond. */
#ifndef RD_RUN_QUEUE_H
#define RD_RUN_QUEUE_H

#include <sys/types.h>

#include "profiler/record/clock.h"

/* The account of one thread. */
struct rd_run_queue {
  enum { RD_RUN_QUEUE_CLOSED, RD_RUN_QUEUE_OPEN, RD_RUN_QUEUE_NONE } state;
  int fd;
  dev_t device;               /* of the file, which is known by these: a */
  ino_t file;                 /* program may close what it did not open */
  uint64_t ns;                /* at the last reading */
  uint64_t nslices;           /* the times that it got a CPU, then */
  uint64_t nsleeps;           /* and gave it up, when that had changed */
};

/* Nanoseconds since the last reading, and a new one; 0 of the first, and where
 * the system does not know.  *has_slept: the thread gave up its CPU since then,
 * or this is the first reading.  Opens the calling thread's account if none is
 * open; an open one may be read by any thread. */
uint64_t rd_run_queue_read (struct rd_run_queue *queue,
                            const struct rd_clock *clock, bool *has_slept);

/* Forgets the thread. */
void rd_run_queue_close (struct rd_run_queue *queue);

#endif /* RD_RUN_QUEUE_H */
