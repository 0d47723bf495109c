/* SPDX-License-Identifier: MIT */
/* The worker pool of a context: jobs of numbered tasks, which idle workers
 * and whoever waits for the job take by an atomic counter.  A job of one
 * task that is run (not started) never leaves the calling thread. */
#ifndef RD_POOL_H
#define RD_POOL_H

#include <stdatomic.h>

#include <radio/profile.h>

#include "src/base/error.h"
#include "src/array/shares.h"
#include "src/codec/scratch.h"

struct rd_pool;
struct rd_job;

/* Do one task with the scratch of the thread that took it.  Any failure
 * stops the job: tasks not yet taken are dropped. */
typedef enum radio_status rd_task_fn (struct rd_job *job, uint64_t task,
                                      struct rd_scratch *scratch);

/* Called once, on the thread that ended the last task of the job, failed or
 * not, outside of the job's scope and before waiters wake up; its failure
 * becomes the job's.  May be NULL.  `status' is the job's until then. */
typedef enum radio_status rd_job_end_fn (struct rd_job *job,
                                         enum radio_status status);

/* A job belongs to its caller (often on the stack, or the first member of a
 * larger struct) and must stay until it was waited for. */
struct rd_job {
  rd_task_fn *run;
  rd_job_end_fn *end;
  uint64_t n;                       /* tasks 0 to n-1 */
  unsigned max_active;              /* threads at one time, for jobs whose
                                       tasks take much memory; 0: all */
  bool spread;                      /* each thread begins at a place of its
                                       own, since neighbours get into each
                                       other's way; else in order */
  bool urgent;                      /* taken before those that are not,
                                       which workers leave for it after the
                                       task that they are at */

  /* In profiles: the scope of each thread that works on the job (NULL:
   * "tasks"), below the scope of whoever starts it or, where that is not who
   * it is done for, below a parent that is released after the wait. */
  const struct radio_site *site;
  const struct radio_handoff *parent;

  /* The pool's own from here on. */
  struct radio_handoff handoff;
  struct rd_shares shares;
  atomic_bool finished;             /* the pool's last word */
  struct {
    unsigned nactive;               /* threads that work on it */
    unsigned njoined;               /* or did */
    bool queued;
    bool ended;                     /* end is being or was called */
    struct rd_error error;          /* the first failure */
    struct rd_job *following;       /* in the pool's queue */
  } synced;
};

struct rd_pool_options {
  unsigned nthreads;          /* with the caller's: one worker less */
  size_t keep_nbytes;         /* that a scratch nobody uses keeps */

  /* How long a thread that has nothing to do looks out for more before it
   * sleeps: waking takes longer than a small job.  0 where threads are more
   * than processors. */
  uint64_t spin_ns;
};

enum radio_status rd_pool_open (const struct rd_pool_options *options,
                                struct rd_pool **pool) RADIO_USE_RESULT;

/* Stop the workers; no job may be left.  In a child of the process that
 * opened the pool there are no workers: what they held is left as it is. */
void rd_pool_close (struct rd_pool *pool);

/* RADIO_ERROR_FORKED in a child: its copy of the pool has no threads, and
 * locks that nobody will release. */
enum radio_status rd_pool_check (const struct rd_pool *pool)
  RADIO_USE_RESULT;

/* Put a job into the queue and return.  With nthreads of 1 it is done by
 * whoever waits for it.  RADIO_ERROR_FORKED in a child. */
enum radio_status rd_pool_start (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* Work on a started job, where there is room, until no task of it is left,
 * and do not wait for those who still do theirs. */
void rd_pool_help (struct rd_pool *pool, struct rd_job *job);

/* Work on a started job until no task is left, wait for its end, and return
 * its status (the message becomes the caller's). */
enum radio_status rd_pool_wait (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* Start and wait.  A job of one task, or one that only one thread may work
 * on, is done by the caller alone. */
enum radio_status rd_pool_run (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* A scratch of the pool's stock, for work outside of jobs; given back with
 * rd_pool_give_scratch.  NULL without memory (the message is set). */
struct rd_scratch *rd_pool_take_scratch (struct rd_pool *pool);
void rd_pool_give_scratch (struct rd_pool *pool, struct rd_scratch *scratch);

#endif /* RD_POOL_H */
