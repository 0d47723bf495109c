/* SPDX-License-Identifier: MIT */
/* Threads that the writer of an image lends for parallel work. */
#ifndef RD_CREW_H
#define RD_CREW_H

#include <stddef.h>
#include <stdint.h>

#include <radio/base.h>

typedef enum radio_status rd_crew_task_fn (void *data, uint64_t task);

/* The owner's own begins with this. */
struct rd_crew {
  unsigned nthreads;          /* that may work at one time */
  size_t most_nbytes;         /* of memory for that */

  /* Does tasks 0 to n-1, on any threads and in any order, and wait for them.
   * The first failure is returned, and ends it. */
  enum radio_status (*run) (const struct rd_crew *crew, uint64_t n,
                            rd_crew_task_fn *task, void *data);
};

#endif /* RD_CREW_H */
