/* SPDX-License-Identifier: MIT */
/* Jobs that a few threads do at the same time, reported in their order. */
#ifndef RD_TOOLS_JOBS_H
#define RD_TOOLS_JOBS_H

#include <pthread.h>

#include "tools/options.h"
#include "tools/tool.h"

struct rd_jobs {
  size_t n;
  size_t nthreads;            /* at most; from 1 */

  uint64_t limit_nbytes;      /* of the jobs' reservations together */

  /* Does job i, on any of the threads, without the lock. */
  void (*run) (void *data, size_t i);
  /* Called with the lock held when job i has ended; false: no further jobs
   * are started.  May be NULL. */
  bool (*end) (void *data, size_t i);
  /* Called with the lock held for each job that ended, in their order. */
  void (*report) (void *data, size_t i);
  void *data;

  pthread_mutex_t mutex;
  pthread_cond_t released;
  struct {
    size_t nstarted, nreported;
    size_t nreserving;        /* jobs that have reserved memory */
    uint64_t reserved_nbytes;
    bool is_stopped;
    bool *has_ended;
  } synced;
};

/* Runs all jobs; the calling thread is one of the threads.  False without
 * memory, after an error. */
bool rd_jobs_run (struct rd_jobs *jobs);

/* As many as a store has connections, or volumes are published together. */
#define RD_JOBS_MAX_THREADS 64

/* Called by a job, at most once, before it takes much memory: waits until the
 * other jobs leave as much of the limit.  One may have more than that. */
void rd_jobs_reserve (struct rd_jobs *jobs, uint64_t nbytes);
void rd_jobs_release (struct rd_jobs *jobs, uint64_t nbytes);

/* The number of threads for jobs that work on volumes of a store: those that
 * were asked for; else one for each processor, or with a store on a
 * network, where jobs mostly wait, one for each connection. */
size_t rd_jobs_nthreads (const struct rd_args *args, const char *store);

/* The same for nodes that operands named. */
struct rd_nodes;
size_t rd_nodes_nthreads (const struct rd_args *args,
                          const struct rd_nodes *nodes);

/* The memory limit of the command. */
uint64_t rd_jobs_limit_nbytes (const struct rd_args *args);

#endif /* RD_TOOLS_JOBS_H */
