/* SPDX-License-Identifier: MIT */
/* The worker pool.  Jobs stand in one queue; a thread joins the first job
 * that has tasks left and room for it, takes tasks by the job's counter
 * until none is left, and leaves.  The last one to leave ends the job.  The
 * mutex is taken when a thread joins and leaves, never for a task.
 *
 * A thread that waits for a job works on that job first, so a task may run
 * jobs of its own: whatever a waiter still waits for is in the hands of
 * threads that are running, and those wait only for jobs further down. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "profiler/base/cleanup.h"
#include "profiler/counters.h"
#include "profiler/handoff.h"
#include "src/array/pool.h"

struct stock {
  struct rd_scratch scratch;        /* first, so that it is found again */
  struct stock *following;
};

struct rd_pool {
  pid_t pid;                        /* who opened it */
  unsigned nworkers;
  size_t keep_nbytes;               /* by each scratch in the stock */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;           /* a job, or the end, for workers */
  pthread_cond_t finished;          /* a job, for those who wait for it */
  struct {
    bool closing;
    unsigned nstarted;              /* workers that run */
    struct rd_job *first, *last;
    struct stock *stock;
  } synced;
  pthread_t workers[];
};

enum radio_status
rd_pool_check (const struct rd_pool *pool)
{
  if (pool->pid == getpid ())
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORKED, "the handle was opened before fork: "
                  "open it again in the child process");
}

/* Take a scratch from the stock; NULL when it is empty. */
static struct stock *
take_stock_synced (struct rd_pool *pool)
{
  struct stock *stock = pool->synced.stock;
  if (stock)
    pool->synced.stock = stock->following;
  return stock;
}

struct rd_scratch *
rd_pool_take_scratch (struct rd_pool *pool)
{
  pthread_mutex_lock (&pool->mutex);
  struct stock *stock = take_stock_synced (pool);
  pthread_mutex_unlock (&pool->mutex);
  if (!stock)
    stock = rd_calloc (1, sizeof *stock);
  if (!stock) {
    rd_fail_memory (sizeof *stock);
    return NULL;
  }
  return &stock->scratch;
}

void
rd_pool_give_scratch (struct rd_pool *pool, struct rd_scratch *scratch)
{
  if (!scratch)
    return;
  rd_scratch_trim (scratch, pool->keep_nbytes);
  struct stock *stock = (struct stock *) scratch;
  RD_LOCK_SCOPE (&pool->mutex);
  stock->following = pool->synced.stock;
  pool->synced.stock = stock;
}

/* Whether another thread may work on a job. */
static bool
has_room_synced (const struct rd_job *job)
{
  return !job->synced.ended
    && (job->max_active == 0 || job->synced.nactive < job->max_active);
}

static void
enqueue_synced (struct rd_pool *pool, struct rd_job *job)
{
  job->synced.queued = true;
  if (pool->synced.last)
    pool->synced.last->synced.following = job;
  else
    pool->synced.first = job;
  pool->synced.last = job;
}

static void
dequeue_synced (struct rd_pool *pool, struct rd_job *job)
{
  if (!job->synced.queued)
    return;
  struct rd_job *previous = NULL;
  for (struct rd_job *j = pool->synced.first; j != job;
       j = j->synced.following)
    previous = j;
  if (previous)
    previous->synced.following = job->synced.following;
  else
    pool->synced.first = job->synced.following;
  if (pool->synced.last == job)
    pool->synced.last = previous;
  job->synced.queued = false;
}

static struct rd_job *
find_job_synced (const struct rd_pool *pool)
{
  struct rd_job *job = pool->synced.first;
  while (job && !has_room_synced (job))
    job = job->synced.following;
  return job;
}

/* Do tasks until none is left or one fails. */
static enum radio_status
do_tasks (struct rd_job *job, struct rd_scratch *scratch)
{
  for (;;) {
    uint64_t task = atomic_fetch_add_explicit (&job->next, 1,
                                               memory_order_relaxed);
    if (task >= job->n)
      return RADIO_OK;
    RD_TRY (job->run (job, task, scratch));
  }
}

/* The first failure is the job's. */
static void
note_failure_synced (struct rd_job *job, enum radio_status status)
{
  if (status != RADIO_OK && job->synced.error.status == RADIO_OK)
    rd_error_save (&job->synced.error, status);
}

/* Call the job's end without the mutex: it may take long, and start other
 * jobs. */
static void
end_job_synced (struct rd_pool *pool, struct rd_job *job)
{
  job->synced.ended = true;
  if (job->end) {
    enum radio_status status = job->synced.error.status;
    pthread_mutex_unlock (&pool->mutex);
    status = job->end (job, status);
    pthread_mutex_lock (&pool->mutex);
    note_failure_synced (job, status);
  }
  job->synced.finished = true;
  pthread_cond_broadcast (&pool->finished);
}

static const struct radio_site tasks_site = {
  "tasks", RD_IN_OPERATION, "rd_pool_run", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static const struct radio_site *
site_of (const struct rd_job *job)
{
  return job->site ? job->site : &tasks_site;
}

/* Do tasks on a worker, in the scope that hangs below whoever started the
 * job, or in one of the caller's own. */
static enum radio_status
work (struct rd_pool *pool, struct rd_job *job, bool is_worker)
{
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))
  const uint64_t scope = !radio_profile_is_on () ? 0
    : is_worker ? radio_scope_receive (&job->handoff, site_of (job))
    : radio_scope_begin (site_of (job));
  struct rd_scratch *scratch = rd_pool_take_scratch (pool);
  enum radio_status status = scratch ? do_tasks (job, scratch)
                                     : RADIO_ERROR_MEMORY;
  rd_pool_give_scratch (pool, scratch);
  return status;
}

/* Work on a job that has room.  The mutex is held before and after, not
 * meanwhile.  The last to leave ends the job; after that it may be gone. */
static void
work_synced (struct rd_pool *pool, struct rd_job *job, bool is_worker)
{
  job->synced.nactive++;
  pthread_mutex_unlock (&pool->mutex);
  enum radio_status status = work (pool, job, is_worker);
  if (status != RADIO_OK)
    atomic_store (&job->next, job->n);
  pthread_mutex_lock (&pool->mutex);
  note_failure_synced (job, status);
  dequeue_synced (pool, job);
  if (--job->synced.nactive == 0)
    end_job_synced (pool, job);
}

static void
name_worker (unsigned number)
{
  char name[32];
  snprintf (name, sizeof name, "radio worker %u", number);
  radio_thread_name (name);
}

static void *
run_worker (void *argument)
{
  struct rd_pool *pool = argument;
  pthread_mutex_lock (&pool->mutex);
  name_worker (++pool->synced.nstarted);
  while (!pool->synced.closing) {
    struct rd_job *job = find_job_synced (pool);
    if (job)
      work_synced (pool, job, true);
    else
      pthread_cond_wait (&pool->arrived, &pool->mutex);
  }
  pthread_mutex_unlock (&pool->mutex);
  return NULL;
}

/* Signals are for the program's own threads. */
static int
start_workers (struct rd_pool *pool, unsigned n)
{
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  int errnum = 0;
  while (errnum == 0 && pool->nworkers < n) {
    errnum = pthread_create (&pool->workers[pool->nworkers], NULL,
                             run_worker, pool);
    if (errnum == 0)
      pool->nworkers++;
  }
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return errnum;
}

enum radio_status
rd_pool_open (unsigned nthreads, size_t keep_nbytes,
              struct rd_pool **result)
{
  unsigned n = nthreads > 1 ? nthreads - 1 : 0;
  size_t nbytes = sizeof (struct rd_pool) + n * sizeof (pthread_t);
  struct rd_pool *pool = rd_calloc (1, nbytes);
  if (!pool)
    return rd_fail_memory (nbytes);
  pool->pid = getpid ();
  pool->keep_nbytes = keep_nbytes;
  pthread_mutex_init (&pool->mutex, NULL);
  pthread_cond_init (&pool->arrived, NULL);
  pthread_cond_init (&pool->finished, NULL);
  int errnum = start_workers (pool, n);
  /* Fewer threads than wanted are slower, not wrong; none is a failure. */
  if (n > 0 && pool->nworkers == 0) {
    rd_pool_close (pool);
    rd_fail_errno (errnum, "cannot start a worker thread");
    return RADIO_ERROR_IO;
  }
  *result = pool;
  return RADIO_OK;
}

static void
free_stock (struct stock *stock)
{
  while (stock) {
    struct stock *following = stock->following;
    rd_scratch_free (&stock->scratch);
    rd_free (stock);
    stock = following;
  }
}

void
rd_pool_close (struct rd_pool *pool)
{
  if (!pool || pool->pid != getpid ())
    return;
  pthread_mutex_lock (&pool->mutex);
  pool->synced.closing = true;
  pthread_cond_broadcast (&pool->arrived);
  pthread_mutex_unlock (&pool->mutex);
  for (unsigned i = 0; i < pool->nworkers; i++)
    pthread_join (pool->workers[i], NULL);
  free_stock (pool->synced.stock);
  pthread_cond_destroy (&pool->finished);
  pthread_cond_destroy (&pool->arrived);
  pthread_mutex_destroy (&pool->mutex);
  rd_free (pool);
}

static void
reset_job (struct rd_job *job)
{
  job->handoff = (struct radio_handoff) { 0 };
  atomic_store_explicit (&job->next, 0, memory_order_relaxed);
  job->synced.nactive = 0;
  job->synced.queued = false;
  job->synced.ended = false;
  job->synced.finished = false;
  job->synced.error.status = RADIO_OK;
  job->synced.following = NULL;
}

enum radio_status
rd_pool_start (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  reset_job (job);
  if (radio_profile_is_on ()) {
    if (job->parent)
      job->handoff = rd_handoff_again (job->parent);
    else
      radio_handoff_give (&job->handoff);
  }
  RD_LOCK_SCOPE (&pool->mutex);
  enqueue_synced (pool, job);
  if (job->n > 1 && job->max_active != 1)
    pthread_cond_broadcast (&pool->arrived);
  else
    pthread_cond_signal (&pool->arrived);
  return RADIO_OK;
}

static void
wait_finished_synced (struct rd_pool *pool, struct rd_job *job)
{
  RD_SCOPE_WAIT ("wait for workers", RD_IN_QUEUE);
  while (!job->synced.finished)
    pthread_cond_wait (&pool->finished, &pool->mutex);
}

enum radio_status
rd_pool_wait (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  pthread_mutex_lock (&pool->mutex);
  if (has_room_synced (job))
    work_synced (pool, job, false);
  if (!job->synced.finished)
    wait_finished_synced (pool, job);
  pthread_mutex_unlock (&pool->mutex);
  if (job->handoff.parent && !job->parent)
    radio_handoff_release (&job->handoff);
  return rd_error_raise (&job->synced.error);
}

/* Do a job on the calling thread, without the queue. */
static enum radio_status
run_alone (struct rd_pool *pool, struct rd_job *job)
{
  reset_job (job);
  enum radio_status status = work (pool, job, false);
  if (!job->end)
    return status;
  note_failure_synced (job, status);
  note_failure_synced (job, job->end (job, status));
  return rd_error_raise (&job->synced.error);
}

enum radio_status
rd_pool_run (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  if (job->n <= 1 || job->max_active == 1 || pool->nworkers == 0)
    return run_alone (pool, job);
  RD_TRY (rd_pool_start (pool, job));
  return rd_pool_wait (pool, job);
}
