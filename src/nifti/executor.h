/* SPDX-License-Identifier: MIT */
/* Runs the parallel tasks of a writer of images on its owner's threads. */
#ifndef RD_EXECUTOR_H
#define RD_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include <radio/base.h>

typedef enum radio_status rd_executor_task_fn (void *data, uint64_t task);

/* The first member of the owner's own struct. */
struct rd_executor {
  unsigned nthreads;          /* maximum that work at one time */
  size_t most_nbytes;         /* of memory that the tasks may take */

  /* Runs tasks 0 to n-1, on any threads and in any order, and waits for
   * them.  Returns the first failure, which may leave tasks undone. */
  enum radio_status (*run) (const struct rd_executor *executor, uint64_t n,
                            rd_executor_task_fn *task, void *data);
};

#endif /* RD_EXECUTOR_H */
