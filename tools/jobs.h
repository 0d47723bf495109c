/* SPDX-License-Identifier: MIT */
/* Jobs that a few threads do at the same time, reported in their order. */
#ifndef RD_TOOLS_JOBS_H
#define RD_TOOLS_JOBS_H

#include <pthread.h>

#include "tools/tool.h"

struct rd_jobs {
  size_t n;
  size_t nthreads;            /* at most; from 1 */

  /* Does job i, on any of the threads, without the lock. */
  void (*run) (void *data, size_t i);
  /* Called with the lock held when job i has ended; false: no further jobs
   * are started. */
  bool (*end) (void *data, size_t i);
  /* Called with the lock held for each job that ended, in their order. */
  void (*report) (void *data, size_t i);
  void *data;

  pthread_mutex_t mutex;
  struct {
    size_t nstarted, nreported;
    bool is_stopped;
    bool *has_ended;
  } synced;
};

/* Runs all jobs; the calling thread is one of the threads.  False without
 * memory, after an error. */
bool rd_jobs_run (struct rd_jobs *jobs);

/* The number of threads that were asked for; 0: one for each processor. */
size_t rd_jobs_nthreads (unsigned nthreads);

#endif /* RD_TOOLS_JOBS_H */
