/* SPDX-License-Identifier: MIT */
/* The thread pool: jobs in one queue, workers, and a pool of scratches.  A
 * thread joins the first job that has tasks left and is not full, takes tasks
 * by the job's atomic counters until none is left, and leaves.  The last one
 * to leave ends the job.  The mutex is taken when a thread joins and leaves,
 * never for a task.
 *
 * A worker that finds no job spins for a while and then sleeps; starting a job
 * wakes only as many sleeping workers as it needs besides the spinning ones.
 *
 * A thread that waits for a job works on that job first, so a task may run
 * jobs of its own: the tasks that a thread still waits for are being done by
 * running threads, and those wait only for jobs further down. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/now.h"
#include "src/base/thread.h"
#include "profiler/counters.h"
#include "src/array/pool.h"

struct idle_scratch {
  struct rd_scratch scratch;        /* first: users have a pointer to it */
  struct idle_scratch *following;
};

struct rd_pool {
  pid_t pid;                        /* of the process that opened it */
  atomic_uint nworkers;
  uint64_t spin_ns;
  atomic_uint nqueued;              /* jobs ever queued; wraps */
  atomic_uint nspinning;            /* workers that watch nqueued */
  atomic_uint nurgent;              /* urgent jobs that no thread has joined */
  _Atomic uint64_t alarm_ns;        /* UINT64_MAX: none */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;           /* a job, or the end, for workers */
  pthread_cond_t finished;          /* a job, for threads that wait for it */
  struct {
    bool closing;
    unsigned nstarted;              /* workers that run */
    unsigned nsleeping;             /* of these */
    struct rd_job *first, *last;
    rd_alarm_fn *on_alarm;
    void *user_data;
  } synced;

  /* Scratches not in use: as many as threads ever worked at the same time.
   * The last one returned is taken first, being the likeliest to be in the
   * processor's caches. */
  size_t keep_nbytes;
  pthread_mutex_t scratch_mutex;    /* guards the list */
  struct idle_scratch *scratches;
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
  pthread_mutex_lock (&pool->scratch_mutex);
  struct idle_scratch *idle = pool->scratches;
  if (idle)
    pool->scratches = idle->following;
  pthread_mutex_unlock (&pool->scratch_mutex);
  if (!idle)
    idle = rd_calloc (1, sizeof *idle);
  if (!idle) {
    rd_fail_memory (sizeof *idle);
    return NULL;
  }
  return &idle->scratch;
}

void
rd_pool_give_scratch (struct rd_pool *pool, struct rd_scratch *scratch)
{
  if (!scratch)
    return;
  rd_scratch_trim (scratch, pool->keep_nbytes);
  struct idle_scratch *idle = (struct idle_scratch *) scratch;
  RD_LOCK_SCOPE (&pool->scratch_mutex);
  idle->following = pool->scratches;
  pool->scratches = idle;
}

static inline void
pause_cpu (void)
{
#ifdef __x86_64__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile ("yield");
#endif
}

/* Spins for a moment; false when the time is up. */
static bool
spin_until (uint64_t end_ns)
{
  if (rd_now_ns () >= end_ns)
    return false;
  for (int i = 0; i < 8; i++)
    pause_cpu ();
  return true;
}

/* Divides a job's tasks equally into n parts, or as many as there can be. */
static void
fill_task_queue (struct rd_task_queue *tasks, uint64_t ntasks, unsigned n)
{
  uint64_t most = rd_min_u64 (ntasks, RD_QUEUE_MAX_PARTS);
  tasks->nparts = (unsigned) rd_max_u64 (rd_min_u64 (n, most), 1);
  uint64_t each = ntasks / tasks->nparts, nlarger = ntasks % tasks->nparts;
  uint64_t next = 0;
  for (unsigned i = 0; i < tasks->nparts; i++) {
    struct rd_queue_part *part = &tasks->parts[i];
    atomic_store_explicit (&part->next, next, memory_order_relaxed);
    next += each + (i < nlarger);
    part->end = next;
  }
}

/* Takes a task for the n-th thread of a job; false when none is left.
 * *nempty counts the parts that this thread found empty. */
static inline bool
take_task (struct rd_task_queue *tasks, unsigned n, unsigned *nempty,
           uint64_t *task)
{
  for (; *nempty < tasks->nparts; ++*nempty) {
    struct rd_queue_part *part = &tasks->parts[(n + *nempty) % tasks->nparts];
    *task = atomic_fetch_add_explicit (&part->next, 1, memory_order_relaxed);
    if (*task < part->end)
      return true;
  }
  return false;
}

/* True when another thread may work on a job. */
static bool
has_room_synced (const struct rd_job *job)
{
  return !job->synced.ended
    && (job->max_active == 0 || job->synced.nactive < job->max_active);
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

/* Keeps the first failure of a job. */
static void
record_failure_synced (struct rd_job *job, enum radio_status status)
{
  if (status != RADIO_OK && job->synced.error.status == RADIO_OK)
    rd_error_save (&job->synced.error, status);
}

static bool
is_alarm_due (const struct rd_pool *pool)
{
  uint64_t at_ns = atomic_load_explicit (&pool->alarm_ns,
                                         memory_order_relaxed);
  return at_ns != UINT64_MAX && rd_now_ns () >= at_ns;
}

/* Does tasks until none is left or one fails.  A worker (handoff and preempted
 * are not NULL) also stops for an urgent job or the alarm, sets *preempted, and
 * has a scope below the one of the thread that started the job. */
static enum radio_status
do_tasks (struct rd_pool *pool, struct rd_job *job, unsigned number,
          const struct radio_handoff *handoff, bool *preempted)
{
  static const struct radio_site tasks_site = {
    "tasks", RD_IN_OPERATION, "rd_pool_run", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  const struct radio_site *site = job->site ? job->site : &tasks_site;
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))
  const uint64_t scope = !radio_profile_is_on () ? 0
    : handoff ? radio_scope_receive (handoff, site)
    : radio_scope_begin (site);
  struct rd_scratch *scratch = rd_pool_take_scratch (pool);
  enum radio_status status = scratch ? RADIO_OK : RADIO_ERROR_MEMORY;
  unsigned nempty = 0;
  uint64_t task;
  while (status == RADIO_OK
         && take_task (&job->tasks, number, &nempty, &task)) {
    status = job->run (job, task, scratch);
    if (preempted && status == RADIO_OK && !job->urgent
        && (atomic_load_explicit (&pool->nurgent, memory_order_relaxed) > 0
            || is_alarm_due (pool))) {
      *preempted = true;
      break;
    }
  }
  rd_pool_give_scratch (pool, scratch);
  return rd_scope_end_with (status);
}

/* Counts the caller among a job's threads; returns its number there. */
static unsigned
join_synced (struct rd_pool *pool, struct rd_job *job)
{
  if (job->urgent && job->synced.njoined == 0)
    atomic_fetch_sub (&pool->nurgent, 1);
  job->synced.nactive++;
  return job->synced.njoined++;
}

/* Works on a job that was joined, and leaves it; returns with the mutex held.
 * The last thread to leave ends the job, unless it stays in the queue because
 * a worker was preempted; after that the job may be gone.  handoff: the job's
 * as it was when a worker joined, or NULL. */
static void
work_and_lock (struct rd_pool *pool, struct rd_job *job, unsigned number,
               const struct radio_handoff *handoff)
{
  bool preempted = false;
  enum radio_status status = do_tasks (pool, job, number, handoff,
                                       handoff ? &preempted : NULL);
  for (unsigned i = 0; status != RADIO_OK && i < job->tasks.nparts; i++)
    atomic_store (&job->tasks.parts[i].next, job->tasks.parts[i].end);

  /* Threads that end their tasks together leave one after the other: spinning
   * until another has left is shorter than sleeping. */
  bool is_locked = false;
  for (int i = 0; i < 100 && !is_locked; i++) {
    is_locked = pthread_mutex_trylock (&pool->mutex) == 0;
    if (!is_locked)
      pause_cpu ();
  }
  if (!is_locked)
    pthread_mutex_lock (&pool->mutex);
  record_failure_synced (job, status);
  if (!preempted)
    dequeue_synced (pool, job);
  else if (radio_profile_is_on ())
    job->handoff = radio_handoff_again (&job->handoff);
  if (--job->synced.nactive > 0 || job->synced.queued)
    return;

  /* Call the job's end without the mutex: it may take long, and start other
   * jobs. */
  job->synced.ended = true;
  if (job->detached) {
    status = rd_error_raise (&job->synced.error);
    pthread_mutex_unlock (&pool->mutex);
    (void) job->end (job, status);
    pthread_mutex_lock (&pool->mutex);
    return;
  }
  if (job->end) {
    status = job->synced.error.status;
    pthread_mutex_unlock (&pool->mutex);
    status = job->end (job, status);
    pthread_mutex_lock (&pool->mutex);
    record_failure_synced (job, status);
  }
  /* The job's owner may free it at once. */
  atomic_store_explicit (&job->finished, true, memory_order_release);
  pthread_cond_broadcast (&pool->finished);
}

/* Calls on_alarm without the mutex, if its time has come. */
static bool
ring_synced (struct rd_pool *pool)
{
  if (!is_alarm_due (pool))
    return false;
  atomic_store (&pool->alarm_ns, UINT64_MAX);
  rd_alarm_fn *on_alarm = pool->synced.on_alarm;
  void *user_data = pool->synced.user_data;
  pthread_mutex_unlock (&pool->mutex);
  on_alarm (user_data);
  pthread_mutex_lock (&pool->mutex);
  return true;
}

/* Sleeps until a job arrives, or the alarm's time comes. */
static void
sleep_synced (struct rd_pool *pool)
{
  uint64_t at_ns = atomic_load (&pool->alarm_ns);
  const struct timespec at = {
    .tv_sec = (time_t) (at_ns / 1000000000),
    .tv_nsec = (long) (at_ns % 1000000000),
  };
  pool->synced.nsleeping++;
  if (at_ns == UINT64_MAX)
    pthread_cond_wait (&pool->arrived, &pool->mutex);
  else
    pthread_cond_timedwait (&pool->arrived, &pool->mutex, &at);
  pool->synced.nsleeping--;
}

static void *
run_worker (void *argument)
{
  struct rd_pool *pool = argument;
  char name[32];
  bool has_spun = true;
  pthread_mutex_lock (&pool->mutex);
  snprintf (name, sizeof name, "radio worker %u", ++pool->synced.nstarted);
  radio_thread_name (name);
  while (!pool->synced.closing) {
    if (ring_synced (pool))
      continue;
    struct rd_job *job = pool->synced.first;
    while (job && !has_room_synced (job))
      job = job->synced.following;
    if (job) {
      unsigned number = join_synced (pool, job);
      const struct radio_handoff handoff = job->handoff;
      pthread_mutex_unlock (&pool->mutex);
      work_and_lock (pool, job, number, &handoff);
    } else if (has_spun) {
      sleep_synced (pool);
    } else {
      /* Look at the queue once more before sleeping, job or not. */
      unsigned seen = atomic_load (&pool->nqueued);
      atomic_fetch_add (&pool->nspinning, 1);
      pthread_mutex_unlock (&pool->mutex);
      uint64_t end_ns = pool->spin_ns > 0 ? rd_now_ns () + pool->spin_ns : 0;
      while (atomic_load (&pool->nqueued) == seen && spin_until (end_ns))
        ;
      atomic_fetch_sub (&pool->nspinning, 1);
      pthread_mutex_lock (&pool->mutex);
    }
    has_spun = !job && !has_spun;
  }
  pthread_mutex_unlock (&pool->mutex);
  return NULL;
}

/* Starts a worker, with the mutex or before others know the pool.  Returns an
 * errno. */
static int
start_worker (struct rd_pool *pool)
{
  int errnum = rd_start_thread (&pool->workers[pool->nworkers], run_worker,
                                pool);
  if (errnum == 0)
    pool->nworkers++;
  return errnum;
}

enum radio_status
rd_pool_need_worker (struct rd_pool *pool)
{
  RD_TRY (rd_pool_check (pool));
  RD_LOCK_SCOPE (&pool->mutex);
  int errnum = pool->nworkers > 0 ? 0 : start_worker (pool);
  if (errnum == 0)
    return RADIO_OK;
  rd_fail_errno (errnum, "cannot start a worker thread");
  return RADIO_ERROR_IO;
}

enum radio_status
rd_pool_open (const struct rd_pool_options *options,
              struct rd_pool **result)
{
  unsigned n = options->nthreads > 1 ? options->nthreads - 1 : 0;
  /* One may be started later. */
  size_t nbytes = sizeof (struct rd_pool)
    + rd_max_u64 (n, 1) * sizeof (pthread_t);
  struct rd_pool *pool = rd_calloc (1, nbytes);
  if (!pool)
    return rd_fail_memory (nbytes);
  pool->pid = getpid ();
  pool->keep_nbytes = options->keep_nbytes;
  pool->spin_ns = options->spin_ns;
  pthread_mutex_init (&pool->mutex, NULL);
  pthread_mutex_init (&pool->scratch_mutex, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&pool->arrived, &monotonic);
  pthread_condattr_destroy (&monotonic);
  pthread_cond_init (&pool->finished, NULL);
  atomic_init (&pool->alarm_ns, UINT64_MAX);

  int errnum = 0;
  while (errnum == 0 && pool->nworkers < n)
    errnum = start_worker (pool);

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
  atomic_fetch_add (&pool->nqueued, 1);
  pthread_cond_broadcast (&pool->arrived);
  pthread_mutex_unlock (&pool->mutex);
  for (unsigned i = 0; i < pool->nworkers; i++)
    pthread_join (pool->workers[i], NULL);
  while (pool->scratches) {
    struct idle_scratch *idle = pool->scratches;
    pool->scratches = idle->following;
    rd_scratch_free (&idle->scratch);
    rd_free (idle);
  }
  pthread_cond_destroy (&pool->finished);
  pthread_cond_destroy (&pool->arrived);
  pthread_mutex_destroy (&pool->scratch_mutex);
  pthread_mutex_destroy (&pool->mutex);
  rd_free (pool);
}

static void
reset_job (const struct rd_pool *pool, struct rd_job *job)
{
  job->handoff = (struct radio_handoff) { 0 };
  fill_task_queue (&job->tasks, job->n,
                   job->spread ? pool->nworkers + 1 : 1);
  atomic_store_explicit (&job->finished, false, memory_order_relaxed);
  job->synced.nactive = 0;
  job->synced.njoined = 0;
  job->synced.queued = false;
  job->synced.ended = false;
  job->synced.error.status = RADIO_OK;
  job->synced.following = NULL;
}

/* Queues a job and wakes workers for it; the caller may join it at once, and
 * its number there is returned. */
static unsigned
submit (struct rd_pool *pool, struct rd_job *job, bool joins)
{
  reset_job (pool, job);
  if (radio_profile_is_on ()) {
    if (job->parent)
      job->handoff = radio_handoff_again (job->parent);
    else
      radio_handoff_give (&job->handoff);
  }

  pthread_mutex_lock (&pool->mutex);
  struct rd_job *previous = job->urgent ? NULL : pool->synced.last;
  if (job->urgent) {
    for (struct rd_job *j = pool->synced.first; j && j->urgent;
         j = j->synced.following)
      previous = j;
    atomic_fetch_add (&pool->nurgent, 1);
  }
  struct rd_job **link = previous ? &previous->synced.following
                                  : &pool->synced.first;
  job->synced.queued = true;
  job->synced.following = *link;
  *link = job;
  if (pool->synced.last == previous)
    pool->synced.last = job;
  unsigned number = joins ? join_synced (pool, job) : 0;

  /* Spinning workers need not be woken.  A job without tasks still needs a
   * thread to call its end. */
  uint64_t nwanted = rd_max_u64 (job->n, 1);
  if (job->max_active > 0)
    nwanted = rd_min_u64 (nwanted, job->max_active);
  nwanted -= joins;
  unsigned nspinning = atomic_load (&pool->nspinning);
  uint64_t nwakes = nwanted > nspinning ? nwanted - nspinning : 0;
  nwakes = rd_min_u64 (nwakes, pool->synced.nsleeping);
  pthread_mutex_unlock (&pool->mutex);

  /* Without the mutex, which the workers take first. */
  atomic_fetch_add (&pool->nqueued, 1);
  for (uint64_t i = 0; i < nwakes; i++)
    pthread_cond_signal (&pool->arrived);
  return number;
}

enum radio_status
rd_pool_start (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  (void) submit (pool, job, false);
  return RADIO_OK;
}

void
rd_pool_post (struct rd_pool *pool, struct rd_job *job)
{
  job->detached = true;
  if (pool->pid == getpid ())
    (void) submit (pool, job, false);
}

void
rd_pool_set_alarm (struct rd_pool *pool, uint64_t at_ns, rd_alarm_fn *on_alarm,
                   void *user_data)
{
  RD_LOCK_SCOPE (&pool->mutex);
  if (at_ns >= atomic_load (&pool->alarm_ns))
    return;
  pool->synced.on_alarm = on_alarm;
  pool->synced.user_data = user_data;
  atomic_store (&pool->alarm_ns, at_ns);
  pthread_cond_signal (&pool->arrived);
}

static bool
is_finished (struct rd_job *job)
{
  return atomic_load_explicit (&job->finished, memory_order_acquire);
}

/* Waits for the last tasks of a job that the caller has worked on, unless it
 * was full. */
static enum radio_status
finish_job (struct rd_pool *pool, struct rd_job *job)
{
  if (!is_finished (job)) {
    RD_SCOPE_WAIT ("wait for workers", RD_IN_QUEUE);
    uint64_t end_ns = pool->spin_ns > 0 ? rd_now_ns () + pool->spin_ns : 0;
    while (!is_finished (job) && spin_until (end_ns))
      ;
    if (!is_finished (job)) {
      RD_LOCK_SCOPE (&pool->mutex);
      while (!is_finished (job))
        if (job->wait)
          job->wait (job, &pool->finished, &pool->mutex);
        else
          pthread_cond_wait (&pool->finished, &pool->mutex);
    }
  }
  if (job->handoff.parent && !job->parent)
    radio_handoff_release (&job->handoff);
  return rd_error_raise (&job->synced.error);
}

/* Works on a job unless it is full. */
static void
help (struct rd_pool *pool, struct rd_job *job)
{
  pthread_mutex_lock (&pool->mutex);
  if (has_room_synced (job)) {
    unsigned number = join_synced (pool, job);
    pthread_mutex_unlock (&pool->mutex);
    work_and_lock (pool, job, number, NULL);
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
  return finish_job (pool, job);
}

enum radio_status
rd_pool_run (struct rd_pool *pool, struct rd_job *job)
{
  RD_TRY (rd_pool_check (pool));
  if (job->n > 1 && job->max_active != 1 && pool->nworkers > 0) {
    unsigned number = submit (pool, job, true);
    work_and_lock (pool, job, number, NULL);
    pthread_mutex_unlock (&pool->mutex);
    return finish_job (pool, job);
  }
  reset_job (pool, job);
  enum radio_status status = do_tasks (pool, job, 0, NULL, NULL);
  if (!job->end)
    return status;
  record_failure_synced (job, status);
  record_failure_synced (job, job->end (job, status));
  return rd_error_raise (&job->synced.error);
}

enum radio_status
rd_pool_run_apart (unsigned nthreads, struct rd_job *job)
{
  const struct rd_pool_options options = {
    .nthreads = (unsigned) rd_min_u64 (nthreads, job->n),
  };
  struct rd_pool *pool;
  RD_TRY (rd_pool_open (&options, &pool));
  enum radio_status status = rd_pool_run (pool, job);
  rd_pool_close (pool);
  return status;
}
