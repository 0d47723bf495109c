/* SPDX-License-Identifier: MIT */
/* The worker pool.  Jobs stand in one queue; a thread joins the first job
 * that has tasks left and room for it, takes tasks by the job's counters
 * until none is left, and leaves.  The last one to leave ends the job.  The
 * mutex is taken when a thread joins and leaves, never for a task.
 *
 * A worker that finds no job watches the bell for a while, and then sleeps;
 * so whoever starts a job must ring, but wake only those that it needs.
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

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/counters.h"
#include "src/array/pool.h"
#include "src/array/spin.h"
#include "src/array/stock.h"

struct rd_pool {
  pid_t pid;                        /* who opened it */
  unsigned nworkers;
  struct rd_stock stock;
  uint64_t spin_ns;
  atomic_uint bell;                 /* rises with each job that has come */
  atomic_uint nwatching;            /* workers that watch it */
  atomic_uint nurgent;              /* jobs that nobody has joined yet */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;           /* a job, or the end, for workers */
  pthread_cond_t finished;          /* a job, for those who wait for it */
  struct {
    bool closing;
    unsigned nstarted;              /* workers that run */
    unsigned nsleeping;             /* of these */
    struct rd_job *first, *last;
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

struct rd_scratch *
rd_pool_take_scratch (struct rd_pool *pool)
{
  return rd_stock_take (&pool->stock);
}

void
rd_pool_give_scratch (struct rd_pool *pool, struct rd_scratch *scratch)
{
  rd_stock_give (&pool->stock, scratch);
}

/* Whether another thread may work on a job. */
static bool
has_room_synced (const struct rd_job *job)
{
  return !job->synced.ended
    && (job->max_active == 0 || job->synced.nactive < job->max_active);
}

/* The job that a new one stands behind; NULL: none. */
static struct rd_job *
find_place_synced (const struct rd_pool *pool, const struct rd_job *job)
{
  struct rd_job *previous = NULL;
  if (!job->urgent)
    return pool->synced.last;
  for (struct rd_job *j = pool->synced.first; j && j->urgent;
       j = j->synced.following)
    previous = j;
  return previous;
}

static void
enqueue_synced (struct rd_pool *pool, struct rd_job *job)
{
  struct rd_job *previous = find_place_synced (pool, job);
  struct rd_job **link = previous ? &previous->synced.following
                                  : &pool->synced.first;
  if (job->urgent)
    atomic_fetch_add (&pool->nurgent, 1);
  job->synced.queued = true;
  job->synced.following = *link;
  *link = job;
  if (pool->synced.last == previous)
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

/* Whether a worker should leave its job to others, or to later. */
static bool
is_called_away (const struct rd_pool *pool, const struct rd_job *job)
{
  return !job->urgent
    && atomic_load_explicit (&pool->nurgent, memory_order_relaxed) > 0;
}

/* Do tasks until none is left or one fails; a worker, too, until something
 * urgent comes: *left then. */
static enum radio_status
do_tasks (const struct rd_pool *pool, struct rd_job *job, unsigned number,
          struct rd_scratch *scratch, bool *left)
{
  struct rd_taker taker = { number, 0 };
  uint64_t task;
  while (rd_shares_take (&job->shares, &taker, &task)) {
    RD_TRY (job->run (job, task, scratch));
    if (left && is_called_away (pool, job)) {
      *left = true;
      return RADIO_OK;
    }
  }
  return RADIO_OK;
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
  /* The job's owner may have it gone at once. */
  atomic_store_explicit (&job->finished, true, memory_order_release);
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

/* Do tasks on a worker, who may leave, in the scope that hangs below whoever
 * started the job, or in one of the caller's own. */
static enum radio_status
work (struct rd_pool *pool, struct rd_job *job, unsigned number, bool *left)
{
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))
  const uint64_t scope = !radio_profile_is_on () ? 0
    : left ? radio_scope_receive (&job->handoff, site_of (job))
    : radio_scope_begin (site_of (job));
  struct rd_scratch *scratch = rd_pool_take_scratch (pool);
  enum radio_status status = scratch
    ? do_tasks (pool, job, number, scratch, left) : RADIO_ERROR_MEMORY;
  rd_pool_give_scratch (pool, scratch);
  return rd_scope_end_with (status);
}

/* Be one of those who work on a job that has room. */
static unsigned
join_synced (struct rd_pool *pool, struct rd_job *job)
{
  if (job->urgent && job->synced.njoined == 0)
    atomic_fetch_sub (&pool->nurgent, 1);
  job->synced.nactive++;
  return job->synced.njoined++;
}

/* Those who end their tasks at one time leave in turn: sleeping until the
 * other has left takes longer than that does. */
static void
lock_soon (struct rd_pool *pool)
{
  for (int i = 0; i < 100; i++) {
    if (pthread_mutex_trylock (&pool->mutex) == 0)
      return;
    rd_relax ();
  }
  pthread_mutex_lock (&pool->mutex);
}

/* Work on a job that was joined, and leave it.  The mutex is held after
 * that.  The last to leave ends the job, unless it stays in the queue since
 * a worker was called away from it; after that it may be gone. */
static void
work_and_lock (struct rd_pool *pool, struct rd_job *job, unsigned number,
               bool is_worker)
{
  bool left = false;
  enum radio_status status = work (pool, job, number,
                                   is_worker ? &left : NULL);
  if (status != RADIO_OK)
    rd_shares_cancel (&job->shares);
  lock_soon (pool);
  note_failure_synced (job, status);
  if (!left)
    dequeue_synced (pool, job);
  if (--job->synced.nactive == 0 && !job->synced.queued)
    end_job_synced (pool, job);
}

static void
name_worker (unsigned number)
{
  char name[32];
  snprintf (name, sizeof name, "radio worker %u", number);
  radio_thread_name (name);
}

/* Look out for the bell; whether it rang or not, the queue must be looked at
 * once more before sleeping. */
static void
watch_synced (struct rd_pool *pool)
{
  unsigned heard = atomic_load (&pool->bell);
  atomic_fetch_add (&pool->nwatching, 1);
  pthread_mutex_unlock (&pool->mutex);
  struct rd_spin spin;
  rd_spin_begin (&spin, pool->spin_ns);
  while (atomic_load (&pool->bell) == heard && rd_spin_again (&spin))
    ;
  atomic_fetch_sub (&pool->nwatching, 1);
  pthread_mutex_lock (&pool->mutex);
}

static void
sleep_synced (struct rd_pool *pool)
{
  pool->synced.nsleeping++;
  pthread_cond_wait (&pool->arrived, &pool->mutex);
  pool->synced.nsleeping--;
}

static void *
run_worker (void *argument)
{
  struct rd_pool *pool = argument;
  pthread_mutex_lock (&pool->mutex);
  name_worker (++pool->synced.nstarted);
  bool has_watched = true;
  while (!pool->synced.closing) {
    struct rd_job *job = find_job_synced (pool);
    if (job) {
      unsigned number = join_synced (pool, job);
      pthread_mutex_unlock (&pool->mutex);
      work_and_lock (pool, job, number, true);
    } else if (has_watched)
      sleep_synced (pool);
    else
      watch_synced (pool);
    has_watched = !job && !has_watched;
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
rd_pool_open (const struct rd_pool_options *options,
              struct rd_pool **result)
{
  unsigned n = options->nthreads > 1 ? options->nthreads - 1 : 0;
  size_t nbytes = sizeof (struct rd_pool) + n * sizeof (pthread_t);
  struct rd_pool *pool = rd_calloc (1, nbytes);
  if (!pool)
    return rd_fail_memory (nbytes);
  pool->pid = getpid ();
  rd_stock_init (&pool->stock, options->keep_nbytes);
  pool->spin_ns = options->spin_ns;
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

void
rd_pool_close (struct rd_pool *pool)
{
  if (!pool || pool->pid != getpid ())
    return;
  pthread_mutex_lock (&pool->mutex);
  pool->synced.closing = true;
  atomic_fetch_add (&pool->bell, 1);
  pthread_cond_broadcast (&pool->arrived);
  pthread_mutex_unlock (&pool->mutex);
  for (unsigned i = 0; i < pool->nworkers; i++)
    pthread_join (pool->workers[i], NULL);
  rd_stock_free (&pool->stock);
  pthread_cond_destroy (&pool->finished);
  pthread_cond_destroy (&pool->arrived);
  pthread_mutex_destroy (&pool->mutex);
  rd_free (pool);
}

static void
reset_job (const struct rd_pool *pool, struct rd_job *job)
{
  job->handoff = (struct radio_handoff) { 0 };
  rd_shares_make (&job->shares, job->n, job->spread ? pool->nworkers + 1 : 1);
  atomic_store_explicit (&job->finished, false, memory_order_relaxed);
  job->synced.nactive = 0;
  job->synced.njoined = 0;
  job->synced.queued = false;
  job->synced.ended = false;
  job->synced.error.status = RADIO_OK;
  job->synced.following = NULL;
}

/* Make a job ready for the queue. */
static void
prepare_job (const struct rd_pool *pool, struct rd_job *job)
{
  reset_job (pool, job);
  if (!radio_profile_is_on ())
    return;
  if (job->parent)
    job->handoff = rd_handoff_again (job->parent);
  else
    radio_handoff_give (&job->handoff);
}

/* How many sleeping workers a job needs that is wanted by so many; those
 * who watch come by themselves. */
static unsigned
count_wakes_synced (const struct rd_pool *pool, uint64_t nwanted)
{
  unsigned nwatching = atomic_load (&pool->nwatching);
  uint64_t n = nwanted > nwatching ? nwanted - nwatching : 0;
  return (unsigned) rd_min_u64 (n, pool->synced.nsleeping);
}

/* Tell workers of a new job, the mutex being free, so that they do not run
 * into it. */
static void
ring (struct rd_pool *pool, unsigned nwakes)
{
  atomic_fetch_add (&pool->bell, 1);
  for (unsigned i = 0; i < nwakes; i++)
    pthread_cond_signal (&pool->arrived);
}

/* Threads that can work on a job at one time. */
static uint64_t
most_threads (const struct rd_job *job)
{
  return job->max_active ? rd_min_u64 (job->n, job->max_active) : job->n;
}

enum radio_status
rd_pool_start (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  prepare_job (pool, job);
  pthread_mutex_lock (&pool->mutex);
  enqueue_synced (pool, job);
  /* A job of no task has an end all the same. */
  uint64_t nwanted = rd_max_u64 (most_threads (job), 1);
  unsigned nwakes = count_wakes_synced (pool, nwanted);
  pthread_mutex_unlock (&pool->mutex);
  ring (pool, nwakes);
  return RADIO_OK;
}

static bool
is_finished (struct rd_job *job)
{
  return atomic_load_explicit (&job->finished, memory_order_acquire);
}

/* Wait for those who still work: the job is nearly done. */
static void
wait_finished (struct rd_pool *pool, struct rd_job *job)
{
  RD_SCOPE_WAIT ("wait for workers", RD_IN_QUEUE);
  struct rd_spin spin;
  rd_spin_begin (&spin, pool->spin_ns);
  while (!is_finished (job))
    if (!rd_spin_again (&spin))
      break;
  if (is_finished (job))
    return;
  RD_LOCK_SCOPE (&pool->mutex);
  while (!is_finished (job))
    pthread_cond_wait (&pool->finished, &pool->mutex);
}

/* Wait for a job that the caller has worked on, if there was room. */
static enum radio_status
finish (struct rd_pool *pool, struct rd_job *job)
{
  if (!is_finished (job))
    wait_finished (pool, job);
  if (job->handoff.parent && !job->parent)
    radio_handoff_release (&job->handoff);
  return rd_error_raise (&job->synced.error);
}

/* Work on a job if there is room. */
static void
help (struct rd_pool *pool, struct rd_job *job)
{
  pthread_mutex_lock (&pool->mutex);
  if (has_room_synced (job)) {
    unsigned number = join_synced (pool, job);
    pthread_mutex_unlock (&pool->mutex);
    work_and_lock (pool, job, number, false);
  }
  pthread_mutex_unlock (&pool->mutex);
}

void
rd_pool_help (struct rd_pool *pool, struct rd_job *job)
{
  if (rd_pool_check (pool) == RADIO_OK && !is_finished (job))
    help (pool, job);
}

enum radio_status
rd_pool_wait (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  help (pool, job);
  return finish (pool, job);
}

/* Do a job on the calling thread, without the queue. */
static enum radio_status
run_alone (struct rd_pool *pool, struct rd_job *job)
{
  reset_job (pool, job);
  enum radio_status status = work (pool, job, 0, NULL);
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
  prepare_job (pool, job);
  pthread_mutex_lock (&pool->mutex);
  enqueue_synced (pool, job);
  unsigned number = join_synced (pool, job);
  unsigned nwakes = count_wakes_synced (pool, most_threads (job) - 1);
  pthread_mutex_unlock (&pool->mutex);
  ring (pool, nwakes);
  work_and_lock (pool, job, number, false);
  pthread_mutex_unlock (&pool->mutex);
  return finish (pool, job);
}
