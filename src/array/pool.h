/* SPDX-License-Identifier: MIT */
/* The thread pool of a context: jobs of numbered tasks, which are done by idle
 * workers and by the thread that waits for the job.  A job of one task that
 * is run (not started) stays on the calling thread. */
#ifndef RD_POOL_H
#define RD_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <radio/profile.h>

#include "src/base/error.h"
#include "src/codec/scratch.h"

struct rd_pool;
struct rd_job;

/* Does one task with the scratch of the thread that took it.  Any failure
 * stops the job: tasks not yet taken are dropped. */
typedef enum radio_status rd_task_fn (struct rd_job *job, uint64_t task,
                                      struct rd_scratch *scratch);

/* Called once, on the thread that ended the last task of the job, failed or
 * not, outside of the job's scope and before waiters wake up; its failure
 * becomes the job's.  May be NULL.  `status' is the job's until then. */
typedef enum radio_status rd_job_end_fn (struct rd_job *job,
                                         enum radio_status status);

/* Waits for a condition, maybe a moment only, in which case it may do something
 * else without the mutex. */
typedef void rd_job_wait_fn (struct rd_job *job, pthread_cond_t *cond,
                             pthread_mutex_t *mutex);

/* A work-stealing queue: the tasks of a job that are not taken yet, in a part
 * for each of the first threads.  A thread takes from its own part first, then
 * from the others'. */
#define RD_QUEUE_MAX_PARTS 8

struct rd_queue_part {                /* mostly in its own cache line */
  _Atomic uint64_t next;
  uint64_t end;
  char padding[48];
};

struct rd_task_queue {
  unsigned nparts;
  struct rd_queue_part parts[RD_QUEUE_MAX_PARTS];
};

/* A job belongs to its caller (often on the stack, or the first member of a
 * larger struct) and must stay until it was waited for. */
struct rd_job {
  rd_task_fn *run;
  rd_job_end_fn *end;
  rd_job_wait_fn *wait;             /* for the other threads; or NULL */
  uint64_t n;                       /* tasks 0 to n-1 */
  unsigned max_active;              /* concurrent threads, for jobs whose
                                       tasks take much memory; 0: all */
  bool spread;                      /* each thread begins in a part of its
                                       own, for tasks that contend with their
                                       neighbours; else in order */
  bool urgent;                      /* taken before those that are not, which
                                       workers leave after their task */
  bool detached;                    /* no thread waits for it: its end is the
                                       pool's last access, and gets the job's
                                       status and message; it has a parent */

  /* In profiles: the scope of each thread that works on the job (NULL:
   * "tasks"), below the starting thread's scope or below `parent', which is
   * released after the wait. */
  const struct radio_site *site;
  const struct radio_handoff *parent;

  /* Private to the pool. */
  struct radio_handoff handoff;
  struct rd_task_queue tasks;
  atomic_bool finished;             /* the pool's last access */
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
  unsigned nthreads;          /* the caller's included: one worker less */
  size_t keep_nbytes;         /* kept by each idle scratch */

  /* How long an idle thread spins before it sleeps, since waking it takes
   * longer than a small job.  0 where threads are more than processors. */
  uint64_t spin_ns;
};

enum radio_status rd_pool_open (const struct rd_pool_options *options,
                                struct rd_pool **pool) RADIO_USE_RESULT;

/* Stops the workers; no job may be left.  Does nothing in a child of the
 * process that opened the pool, where there are no workers. */
void rd_pool_close (struct rd_pool *pool);

/* RADIO_ERROR_FORKED in a child process: its copy of the pool has no threads,
 * and locks may be held for ever. */
enum radio_status rd_pool_check (const struct rd_pool *pool)
  RADIO_USE_RESULT;

/* Makes sure that there is a worker, also in a pool of one thread, for detached
 * jobs. */
enum radio_status rd_pool_need_worker (struct rd_pool *pool)
  RADIO_USE_RESULT;

/* Queues a job and returns.  With nthreads of 1 it is done by the thread that
 * waits for it.  RADIO_ERROR_FORKED in a child. */
enum radio_status rd_pool_start (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* Queues a detached job.  In a child process it never ends. */
void rd_pool_post (struct rd_pool *pool, struct rd_job *job);

/* Has a function called by a worker, busy ones between two tasks, when the time
 * by rd_now_ns has come.  A pool has one function, which is called once, at the
 * earliest of the times that were set since it was called; it sets the next
 * one.  There must be a worker. */
typedef void rd_alarm_fn (void *user_data);
void rd_pool_set_alarm (struct rd_pool *pool, uint64_t at_ns,
                        rd_alarm_fn *on_alarm, void *user_data);

/* Works on a started job, unless it is full, until no task of it is left, but
 * does not wait for the other threads. */
void rd_pool_help (struct rd_pool *pool, struct rd_job *job);

/* Works on a started job until no task is left, waits for its end, and returns
 * its status (the message becomes the caller's). */
enum radio_status rd_pool_wait (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* Starts and waits.  A job of one task, or one that only one thread may work
 * on, is done by the caller alone. */
enum radio_status rd_pool_run (struct rd_pool *pool, struct rd_job *job)
  RADIO_USE_RESULT;

/* Runs a job on threads of its own, of which the caller is one: for tasks that
 * mostly wait for a network, for which a pool has too few threads. */
enum radio_status rd_pool_run_apart (unsigned nthreads, struct rd_job *job)
  RADIO_USE_RESULT;

/* Takes an idle scratch, or makes one, for one thread; NULL without memory
 * (the message is set). */
struct rd_scratch *rd_pool_take_scratch (struct rd_pool *pool);

/* Returns a scratch to the pool; NULL is legal. */
void rd_pool_give_scratch (struct rd_pool *pool, struct rd_scratch *scratch);

#endif /* RD_POOL_H */
