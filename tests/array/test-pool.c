/* SPDX-License-Identifier: MIT */
/* The worker pool: each task once, failures, ends, nested jobs, bounds on
 * the number of threads, forks. */
#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

#include "profiler/model/profile.h"
#include "src/array/pool.h"
#include "src/base/now.h"

/* Kept by each scratch of these pools. */
#define KEEP_NBYTES ((size_t) 8 << 20)

/* A job that counts how often each task was done. */
struct counting {
  struct rd_job job;
  struct rd_pool *pool;
  atomic_uint *done;
  atomic_uint nends;
  atomic_uint nactive, most_active;
  uint64_t failing;                   /* this task fails */
  enum radio_status end_status;       /* what its end returns */
  enum radio_status seen;             /* the status that its end got */
  unsigned depth;                     /* of jobs within tasks */
};

static enum radio_status
count_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct counting *counting = (struct counting *) job;
  assert_non_null (scratch);
  atomic_fetch_add (&counting->done[task], 1);
  if (task == counting->failing)
    return rd_fail (RADIO_ERROR_FORMAT, "task %u failed", (unsigned) task);
  return RADIO_OK;
}

static enum radio_status
note_end (struct rd_job *job, enum radio_status status)
{
  struct counting *counting = (struct counting *) job;
  atomic_fetch_add (&counting->nends, 1);
  counting->seen = status;
  if (counting->end_status != RADIO_OK)
    return rd_fail (counting->end_status, "the end failed");
  return RADIO_OK;
}

static void
counting_open (struct counting *counting, struct rd_pool *pool, uint64_t n)
{
  memset (counting, 0, sizeof *counting);
  counting->job.run = count_task;
  counting->job.end = note_end;
  counting->job.n = n;
  counting->pool = pool;
  counting->failing = UINT64_MAX;
  counting->done = calloc (n ? n : 1, sizeof *counting->done);
  assert_non_null (counting->done);
}

static uint64_t
count_done_once (const struct counting *counting)
{
  uint64_t n = 0;
  for (uint64_t i = 0; i < counting->job.n; i++) {
    assert_true (counting->done[i] <= 1);
    n += counting->done[i];
  }
  return n;
}

static struct rd_pool *
open_spinning_pool (unsigned nthreads, uint64_t spin_ns)
{
  struct rd_pool *pool = NULL;
  const struct rd_pool_options options = {
    .nthreads = nthreads, .keep_nbytes = KEEP_NBYTES, .spin_ns = spin_ns,
  };
  assert_ok (rd_pool_open (&options, &pool));
  return pool;
}

static struct rd_pool *
open_pool (unsigned nthreads)
{
  return open_spinning_pool (nthreads, 20000);
}

static void
every_task_is_done_once (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 16; nthreads++) {
    struct rd_pool *pool = open_pool (nthreads);
    for (uint64_t n = 0; n < 300; n += 1 + n / 4) {
      struct counting counting;
      counting_open (&counting, pool, n);
      counting.job.spread = (n + nthreads) % 2;
      assert_ok (rd_pool_run (pool, &counting.job));
      assert_int_equal (count_done_once (&counting), n);
      assert_int_equal (counting.nends, 1);
      free (counting.done);
    }
    rd_pool_close (pool);
  }
}

static void
run_ten_thousand_jobs (uint64_t spin_ns)
{
  struct rd_pool *pool = open_spinning_pool (4, spin_ns);
  struct counting counting;
  counting_open (&counting, pool, 5);
  for (unsigned i = 1; i <= 10000; i++) {
    assert_ok (rd_pool_run (pool, &counting.job));
    assert_int_equal (counting.nends, i);
  }
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal (counting.done[i], 10000);
  free (counting.done);
  rd_pool_close (pool);
}

#define HOUR_NS ((uint64_t) 3600 * 1000000000)

/* Workers sleep at once, soon, or never: then only the pool's end stops their
 * spinning. */
static void
ten_thousand_jobs_in_a_row_all_end (void **state)
{
  (void) state;
  run_ten_thousand_jobs (0);
  run_ten_thousand_jobs (20000);
  run_ten_thousand_jobs (HOUR_NS);
}

/* Processor time of the process. */
static double
used_seconds (void)
{
  struct timespec used;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double) used.tv_sec + 1e-9 * (double) used.tv_nsec;
}

/* A worker that did not sleep would use as much as the nap takes. */
static void
an_idle_pool_uses_no_processor (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (3);
  struct counting counting;
  counting_open (&counting, pool, 5);
  assert_ok (rd_pool_run (pool, &counting.job));
  const struct timespec nap = { .tv_nsec = 300000000 };
  double before = used_seconds ();
  nanosleep (&nap, NULL);
  assert_true (used_seconds () - before < 0.15);
  free (counting.done);
  rd_pool_close (pool);
}

/* A job whose threads wait until all of them have begun. */
struct meeting {
  struct rd_job job;
  atomic_uint nhere;
  unsigned nwanted;
  _Atomic uint64_t firsts[4];         /* the first task of each */
};

static enum radio_status
meet (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct meeting *meeting = (struct meeting *) job;
  (void) scratch;
  unsigned i = atomic_fetch_add (&meeting->nhere, 1);
  if (i < meeting->nwanted)
    meeting->firsts[i] = task;
  while (meeting->nhere < meeting->nwanted)
    sched_yield ();
  return RADIO_OK;
}

static void
threads_begin_apart_where_a_job_is_spread (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (4);
  for (int spread = 0; spread < 2; spread++) {
    struct meeting meeting = {
      .job = { .run = meet, .n = 400, .spread = spread }, .nwanted = 4,
    };
    assert_ok (rd_pool_run (pool, &meeting.job));
    assert_int_equal (meeting.nhere, 400);
    uint64_t sum = 0;
    for (size_t i = 0; i < 4; i++)
      sum += meeting.firsts[i];
    assert_int_equal (sum, spread ? 0 + 100 + 200 + 300 : 0 + 1 + 2 + 3);
  }
  rd_pool_close (pool);
}

static void
started_jobs_go_on_side_by_side (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++) {
    struct rd_pool *pool = open_pool (nthreads);
    struct counting counting[8];
    for (size_t i = 0; i < 8; i++) {
      counting_open (&counting[i], pool, i);
      assert_ok (rd_pool_start (pool, &counting[i].job));
    }
    for (size_t i = 8; i-- > 0;) {
      assert_ok (rd_pool_wait (pool, &counting[i].job));
      assert_int_equal (count_done_once (&counting[i]), i);
      assert_int_equal (counting[i].nends, 1);
      free (counting[i].done);
    }
    rd_pool_close (pool);
  }
}

/* Jobs of one task, which record when they were done. */
struct in_turn {
  struct rd_job job;
  atomic_uint *nbegun;
  atomic_bool *gate;                  /* waits until it is open */
  unsigned turn;
};

static enum radio_status
take_turn (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct in_turn *in_turn = (struct in_turn *) job;
  (void) task;
  (void) scratch;
  in_turn->turn = atomic_fetch_add (in_turn->nbegun, 1);
  while (!*in_turn->gate)
    sched_yield ();
  return RADIO_OK;
}

static void
wait_for_count (const atomic_uint *n, unsigned wanted)
{
  while (*n < wanted)
    usleep (100);
}

static void
urgent_jobs_are_taken_before_others (void **state)
{
  (void) state;
  static const bool urgent[5] = { false, false, true, false, true };
  static const unsigned turns[5] = { 0, 3, 1, 4, 2 };
  struct rd_pool *pool = open_pool (2);
  struct in_turn jobs[5];
  atomic_uint nbegun = 0;
  atomic_bool gate = false;
  for (size_t i = 0; i < 5; i++) {
    jobs[i] = (struct in_turn) {
      .job = { .run = take_turn, .n = 1, .urgent = urgent[i] },
      .nbegun = &nbegun, .gate = &gate,
    };
    assert_ok (rd_pool_start (pool, &jobs[i].job));
    wait_for_count (&nbegun, 1);
  }
  gate = true;
  wait_for_count (&nbegun, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_ok (rd_pool_wait (pool, &jobs[i].job));
    assert_int_equal (jobs[i].turn, turns[i]);
  }
  rd_pool_close (pool);
}

/* The first task of the other job begins before the urgent one comes, all
 * others after it. */
static void
workers_leave_a_job_for_an_urgent_one_and_come_back (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (2);
  atomic_uint nbegun = 0;
  atomic_bool gate = false;
  struct in_turn other = {
    .job = { .run = take_turn, .n = 100 }, .nbegun = &nbegun, .gate = &gate,
  };
  struct in_turn urgent = {
    .job = { .run = take_turn, .n = 1, .urgent = true },
    .nbegun = &nbegun, .gate = &gate,
  };
  assert_ok (rd_pool_start (pool, &other.job));
  wait_for_count (&nbegun, 1);
  assert_ok (rd_pool_start (pool, &urgent.job));
  gate = true;
  wait_for_count (&nbegun, 101);
  assert_ok (rd_pool_wait (pool, &urgent.job));
  assert_int_equal (urgent.turn, 1);
  assert_ok (rd_pool_wait (pool, &other.job));
  assert_int_equal (nbegun, 101);
  rd_pool_close (pool);
}

/* Its second run was queued when the first one had ended. */
static void
a_job_that_waits_again_is_queued_again (void **state)
{
  (void) state;
  RADIO_SITE (site, "other", "test", RADIO_SCOPE_WORK);
  struct rd_pool *pool = open_pool (2);
  struct radio_recorder_options options = { .whole_process = true };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  atomic_uint nbegun = 0;
  atomic_bool gate = false;
  struct in_turn other = {
    .job = { .run = take_turn, .n = 2, .site = &site },
    .nbegun = &nbegun, .gate = &gate,
  };
  struct in_turn urgent = {
    .job = { .run = take_turn, .n = 1, .urgent = true },
    .nbegun = &nbegun, .gate = &gate,
  };
  assert_ok (radio_recorder_start (&options, &recorder));
  assert_ok (rd_pool_start (pool, &other.job));
  wait_for_count (&nbegun, 1);
  assert_ok (rd_pool_start (pool, &urgent.job));
  gate = true;
  wait_for_count (&nbegun, 3);
  assert_ok (rd_pool_wait (pool, &urgent.job));
  assert_ok (rd_pool_wait (pool, &other.job));
  rd_pool_close (pool);
  assert_ok (radio_recorder_stop (recorder, &profile));
  const struct rd_span *first = NULL;
  unsigned nagain = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    const char *name = profile->nodes.at[span->node].name;
    if (strcmp (name, "other") != 0)
      continue;
    /* This thread, which waits, may have joined the job when its last task was
     * taken: that run was not queued. */
    if (first && span->submitted_ns != span->begin_ns) {
      assert_in_range (span->submitted_ns,
                       first->begin_ns + first->duration_ns, UINT64_MAX);
      nagain++;
    }
    first = first ? first : span;
  }
  assert_int_equal (nagain, 1);
  radio_profile_close (profile);
}

static void
no_task_is_lost_where_workers_come_and_go (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 5; nthreads++) {
    struct rd_pool *pool = open_pool (nthreads);
    for (unsigned round = 0; round < 500; round++) {
      struct counting jobs[6];
      for (size_t i = 0; i < 6; i++) {
        counting_open (&jobs[i], pool, i % 3 == 0 ? 60 : i % 3);
        jobs[i].job.urgent = i % 3 == 1;
        jobs[i].job.max_active = (round + i) % 3;
        assert_ok (rd_pool_start (pool, &jobs[i].job));
      }
      for (size_t i = 0; i < 6; i++) {
        assert_ok (rd_pool_wait (pool, &jobs[i].job));
        assert_int_equal (count_done_once (&jobs[i]), jobs[i].job.n);
        assert_int_equal (jobs[i].nends, 1);
        free (jobs[i].done);
      }
    }
    rd_pool_close (pool);
  }
}

static void
a_helper_does_the_remaining_tasks_and_does_not_wait (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 3; nthreads++) {
    struct rd_pool *pool = open_pool (nthreads);
    struct counting counting;
    counting_open (&counting, pool, 1000);
    assert_ok (rd_pool_start (pool, &counting.job));
    rd_pool_help (pool, &counting.job);
    assert_ok (rd_pool_wait (pool, &counting.job));
    rd_pool_help (pool, &counting.job);
    assert_int_equal (count_done_once (&counting), 1000);
    assert_int_equal (counting.nends, 1);
    free (counting.done);
    rd_pool_close (pool);
  }
  struct rd_pool *pool = open_pool (2);
  atomic_uint nbegun = 0;
  atomic_bool gate = false;
  struct in_turn held = {
    .job = { .run = take_turn, .n = 1 }, .nbegun = &nbegun, .gate = &gate,
  };
  assert_ok (rd_pool_start (pool, &held.job));
  wait_for_count (&nbegun, 1);
  rd_pool_help (pool, &held.job);
  gate = true;
  assert_ok (rd_pool_wait (pool, &held.job));
  rd_pool_close (pool);
}

static void
the_first_failure_ends_the_job_and_reaches_the_caller (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++) {
    struct rd_pool *pool = open_pool (nthreads);
    for (uint64_t failing = 0; failing < 40; failing += 13) {
      struct counting counting;
      counting_open (&counting, pool, 100000);
      counting.failing = failing;
      char message[32];
      snprintf (message, sizeof message, "task %u failed",
                (unsigned) failing);
      rd_fail (RADIO_ERROR_IO, "something older");
      assert_fails (rd_pool_run (pool, &counting.job), RADIO_ERROR_FORMAT,
                    message);
      assert_true (count_done_once (&counting) < 100000);
      assert_int_equal (counting.seen, RADIO_ERROR_FORMAT);
      free (counting.done);
    }
    rd_pool_close (pool);
  }
}

static void
a_failing_end_fails_the_job (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (2);
  for (uint64_t n = 0; n < 9; n++) {
    struct counting counting;
    counting_open (&counting, pool, n);
    counting.end_status = RADIO_ERROR_NO_SPACE;
    assert_fails (rd_pool_run (pool, &counting.job), RADIO_ERROR_NO_SPACE,
                  "the end failed");
    assert_int_equal (counting.seen, RADIO_OK);
    free (counting.done);
  }
  rd_pool_close (pool);
}

static void
the_tasks_failure_goes_before_that_of_the_end (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (2);
  for (uint64_t n = 1; n < 9; n++) {
    struct counting counting;
    counting_open (&counting, pool, n);
    counting.failing = n - 1;
    counting.end_status = RADIO_ERROR_NO_SPACE;
    assert_fails (rd_pool_run (pool, &counting.job), RADIO_ERROR_FORMAT,
                  "failed");
    assert_int_equal (counting.nends, 1);
    free (counting.done);
  }
  rd_pool_close (pool);
}

/* Each task runs a job of its own, down to depth 0. */
static enum radio_status
nest_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct counting *outer = (struct counting *) job;
  (void) scratch;
  atomic_fetch_add (&outer->done[task], 1);
  if (outer->depth == 0)
    return RADIO_OK;
  struct counting inner;
  counting_open (&inner, outer->pool, 4);
  inner.job.run = nest_task;
  inner.depth = outer->depth - 1;
  enum radio_status status = rd_pool_run (inner.pool, &inner.job);
  uint64_t n = count_done_once (&inner);
  free (inner.done);
  return n == 4 ? status : rd_fail (RADIO_ERROR_FORMAT, "a task is missing");
}

static void
tasks_may_run_jobs_of_their_own (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 5; nthreads += 2) {
    struct rd_pool *pool = open_pool (nthreads);
    for (unsigned i = 0; i < 5; i++) {
      struct counting counting;
      counting_open (&counting, pool, 4);
      counting.job.run = nest_task;
      counting.depth = 4;
      assert_ok (rd_pool_run (pool, &counting.job));
      assert_int_equal (count_done_once (&counting), 4);
      free (counting.done);
    }
    rd_pool_close (pool);
  }
}

static enum radio_status
watch_active (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct counting *counting = (struct counting *) job;
  unsigned now = atomic_fetch_add (&counting->nactive, 1) + 1;
  unsigned most = counting->most_active;
  while (most < now
         && !atomic_compare_exchange_weak (&counting->most_active, &most,
                                           now))
    ;
  sched_yield ();
  enum radio_status status = count_task (job, task, scratch);
  atomic_fetch_sub (&counting->nactive, 1);
  return status;
}

static void
no_more_threads_than_allowed_work_on_a_job (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (6);
  for (unsigned max = 1; max <= 4; max++) {
    struct counting counting;
    counting_open (&counting, pool, 500);
    counting.job.run = watch_active;
    counting.job.max_active = max;
    assert_ok (rd_pool_run (pool, &counting.job));
    assert_int_equal (count_done_once (&counting), 500);
    assert_in_range (counting.most_active, 1, max);
    free (counting.done);
  }
  rd_pool_close (pool);
}

struct where {
  struct rd_job job;
  pthread_t thread;
  sigset_t blocked;
  atomic_bool is_noted;
};

static enum radio_status
note_thread (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct where *where = (struct where *) job;
  (void) task;
  (void) scratch;
  where->thread = pthread_self ();
  pthread_sigmask (SIG_SETMASK, NULL, &where->blocked);
  where->is_noted = true;
  return RADIO_OK;
}

static void
a_job_of_one_task_stays_on_the_caller (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (4);
  for (unsigned i = 0; i < 100; i++) {
    struct where where = { .job = { .run = note_thread, .n = 1 } };
    assert_ok (rd_pool_run (pool, &where.job));
    assert_true (pthread_equal (where.thread, pthread_self ()));
  }
  rd_pool_close (pool);
}

static void
workers_take_no_signals_and_the_caller_still_does (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (2);
  struct where caller = { .job = { .run = note_thread, .n = 1 } };
  struct where worker = { .job = { .run = note_thread, .n = 1 } };
  assert_ok (rd_pool_run (pool, &caller.job));
  assert_true (pthread_equal (caller.thread, pthread_self ()));
  assert_int_equal (sigismember (&caller.blocked, SIGINT), 0);
  /* The caller does not wait, which it might do by running it. */
  assert_ok (rd_pool_start (pool, &worker.job));
  while (!worker.is_noted)
    usleep (1000);
  assert_ok (rd_pool_wait (pool, &worker.job));
  assert_false (pthread_equal (worker.thread, pthread_self ()));
  assert_int_equal (sigismember (&worker.blocked, SIGINT), 1);
  rd_pool_close (pool);
}

struct caller {
  struct rd_pool *pool;
  pthread_t thread;
  uint64_t ndone;
};

static void *
call_often (void *argument)
{
  struct caller *caller = argument;
  for (unsigned i = 0; i < 200; i++) {
    struct counting counting;
    counting_open (&counting, caller->pool, 7);
    if (rd_pool_run (caller->pool, &counting.job) == RADIO_OK)
      caller->ndone += count_done_once (&counting);
    free (counting.done);
  }
  return NULL;
}

static void
many_callers_share_a_pool (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (3);
  struct caller callers[6];
  for (size_t i = 0; i < 6; i++) {
    callers[i] = (struct caller) { .pool = pool };
    assert_int_equal (pthread_create (&callers[i].thread, NULL, call_often,
                                      &callers[i]), 0);
  }
  for (size_t i = 0; i < 6; i++) {
    pthread_join (callers[i].thread, NULL);
    assert_int_equal (callers[i].ndone, 1400);
  }
  rd_pool_close (pool);
}

/* Returns the exit status of a forked child. */
static int
use_in_child (struct rd_pool *pool, struct counting *counting)
{
  if (rd_pool_run (pool, &counting->job) != RADIO_ERROR_FORKED)
    return 1;
  if (rd_pool_start (pool, &counting->job) != RADIO_ERROR_FORKED)
    return 2;
  if (rd_pool_wait (pool, &counting->job) != RADIO_ERROR_FORKED)
    return 3;
  if (!strstr (radio_error_message (), "fork"))
    return 4;
  if (counting->nends != 0)
    return 5;
  rd_pool_close (pool);
  return 0;
}

static void
a_forked_child_gets_an_error_and_does_not_hang (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (4);
  for (uint64_t n = 1; n < 4; n++) {
    struct counting counting;
    counting_open (&counting, pool, n);
    pid_t child = fork ();
    assert_true (child >= 0);
    if (child == 0) {
      alarm (20);
      _exit (use_in_child (pool, &counting));
    }
    int status;
    assert_int_equal (waitpid (child, &status, 0), child);
    assert_true (WIFEXITED (status));
    assert_int_equal (WEXITSTATUS (status), 0);
    assert_ok (rd_pool_run (pool, &counting.job));
    free (counting.done);
  }
  rd_pool_close (pool);
}

static void
scratches_are_reused_and_big_ones_trimmed (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (1);
  struct rd_scratch *scratch = rd_pool_take_scratch (pool);
  assert_non_null (scratch);
  assert_ok (rd_buffer_reserve (&scratch->tile, 1000));
  assert_ok (rd_buffer_reserve (&scratch->fetched, (size_t) 64 << 20));
  rd_pool_give_scratch (pool, scratch);
  struct rd_scratch *again = rd_pool_take_scratch (pool);
  assert_ptr_equal (again, scratch);
  assert_true (again->tile.capacity >= 1000);
  assert_int_equal (again->fetched.capacity, 0);
  struct rd_scratch *other = rd_pool_take_scratch (pool);
  assert_ptr_not_equal (other, scratch);
  rd_pool_give_scratch (pool, other);
  rd_pool_give_scratch (pool, again);
  rd_pool_close (pool);
}

/* A job whose tasks go on until the alarm has rung. */
struct alarmed {
  struct rd_job job;
  atomic_bool has_rung;
  _Atomic uint64_t rung_ns;
};

static void
ring (void *user_data)
{
  struct alarmed *alarmed = user_data;
  alarmed->rung_ns = rd_now_ns ();
  alarmed->has_rung = true;
}

static enum radio_status
wait_for_alarm (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  (void) task, (void) scratch;
  usleep (1000);
  return ((struct alarmed *) job)->has_rung
         ? rd_fail (RADIO_ERROR_CANCELLED, "it rang") : RADIO_OK;
}

static void
an_alarm_wakes_an_idle_pool_at_the_earliest_time (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (3);
  struct alarmed alarmed = { 0 };
  for (int round = 0; round < 3; round++) {
    uint64_t at_ns = rd_now_ns () + 20000000;
    alarmed.has_rung = false;
    rd_pool_set_alarm (pool, at_ns + UINT64_C (60000000000), ring, &alarmed);
    rd_pool_set_alarm (pool, at_ns, ring, &alarmed);
    rd_pool_set_alarm (pool, UINT64_MAX, ring, &alarmed);
    while (!alarmed.has_rung)
      usleep (1000);
    assert_true (alarmed.rung_ns >= at_ns);
  }
  rd_pool_close (pool);
}

static void
a_busy_worker_rings_the_alarm_between_two_tasks (void **state)
{
  (void) state;
  struct rd_pool *pool = open_pool (2);
  struct alarmed alarmed = {
    .job = { .run = wait_for_alarm, .n = UINT32_MAX },
  };
  assert_ok (rd_pool_start (pool, &alarmed.job));
  rd_pool_set_alarm (pool, rd_now_ns () + 5000000, ring, &alarmed);
  assert_fails (rd_pool_wait (pool, &alarmed.job), RADIO_ERROR_CANCELLED,
                "it rang");
  rd_pool_close (pool);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_task_is_done_once),
    cmocka_unit_test (ten_thousand_jobs_in_a_row_all_end),
    cmocka_unit_test (an_idle_pool_uses_no_processor),
    cmocka_unit_test (threads_begin_apart_where_a_job_is_spread),
    cmocka_unit_test (started_jobs_go_on_side_by_side),
    cmocka_unit_test (urgent_jobs_are_taken_before_others),
    cmocka_unit_test (workers_leave_a_job_for_an_urgent_one_and_come_back),
    cmocka_unit_test (a_job_that_waits_again_is_queued_again),
    cmocka_unit_test (no_task_is_lost_where_workers_come_and_go),
    cmocka_unit_test (a_helper_does_the_remaining_tasks_and_does_not_wait),
    cmocka_unit_test (the_first_failure_ends_the_job_and_reaches_the_caller),
    cmocka_unit_test (a_failing_end_fails_the_job),
    cmocka_unit_test (the_tasks_failure_goes_before_that_of_the_end),
    cmocka_unit_test (tasks_may_run_jobs_of_their_own),
    cmocka_unit_test (no_more_threads_than_allowed_work_on_a_job),
    cmocka_unit_test (a_job_of_one_task_stays_on_the_caller),
    cmocka_unit_test (workers_take_no_signals_and_the_caller_still_does),
    cmocka_unit_test (many_callers_share_a_pool),
    cmocka_unit_test (a_forked_child_gets_an_error_and_does_not_hang),
    cmocka_unit_test (scratches_are_reused_and_big_ones_trimmed),
    cmocka_unit_test (an_alarm_wakes_an_idle_pool_at_the_earliest_time),
    cmocka_unit_test (a_busy_worker_rings_the_alarm_between_two_tasks),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
