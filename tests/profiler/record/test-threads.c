/* SPDX-License-Identifier: MIT */
/* Real threads: they start, work, are stopped in the middle, and end. */
#include <config.h>

#include <pthread.h>
#include <sched.h>

#include "tests/profiler/record/history.h"

#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/recorder.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (c, RADIO_SCOPE_WORK);
SITE (blocks, RADIO_SCOPE_BLOCKING);

#define NTHREADS 4

static pthread_t
start_thread (void *(*fn) (void *), void *arg)
{
  pthread_t thread;
  assert_int_equal (pthread_create (&thread, NULL, fn, arg), 0);
  return thread;
}

static struct radio_recorder *
start_process (bool fences)
{
  struct radio_recorder_options options = { .whole_process = true,
                                            .max_spans = 100000 };
  struct rd_recorder_setup setup = { .fences = fences };
  struct radio_recorder *recorder;
  assert_ok (rd_recorder_start (&options, &setup, &recorder));
  return recorder;
}

/* All writers' calls of a root node, and their opens. */
static uint64_t
count_calls (struct radio_recorder *recorder, const char *path,
             uint64_t *opens)
{
  struct history h = { .recorder = recorder };
  uint64_t n = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_node *node = history_find (&h, i, path);
    n += node ? node->calls : 0;
    if (opens)
      *opens += node ? node->opens : 0;
  }
  return n;
}

/*------------------------------------------------------------------------
 * Attaching
 *----------------------------------------------------------------------*/

static void *
run_scopes (void *arg)
{
  int n = *(int *) arg;
  for (int i = 0; i < n; i++) {
    uint64_t outer = radio_scope_begin (&a);
    radio_scope_end (radio_scope_begin (&b));
    radio_scope_end (outer);
  }
  return NULL;
}

/* The writer of each thread has all of its scopes, and no others. */
static void
check_each_writer (struct radio_recorder *recorder, uint64_t n)
{
  struct history h = { .recorder = recorder };
  assert_int_equal (recorder->synced.writers.n, NTHREADS + 1);
  for (size_t i = 0; i <= NTHREADS; i++) {
    const struct rd_node *node = history_find (&h, i, "a");
    const struct rd_node *child = history_find (&h, i, "a/b");
    assert_int_equal (node->calls, n);
    assert_int_equal (child->calls, n);
    assert_int_equal (node->self, node->total - child->total);
    assert_int_equal (recorder->synced.writers.at[i]->sessions.n, 1);
  }
}

/* No thread ends before all have run, so each has a writer of its own. */
struct group {
  pthread_barrier_t all_ran;
  int n;
};

static void *
run_with_others (void *arg)
{
  struct group *group = arg;
  run_scopes (&group->n);
  pthread_barrier_wait (&group->all_ran);
  return NULL;
}

static void
all_threads_of_a_recorded_process_are_in_the_tree (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  pthread_t threads[NTHREADS];
  struct group group = { .n = 1000 };
  (void) state;
  pthread_barrier_init (&group.all_ran, NULL, NTHREADS + 1);
  for (int i = 0; i < NTHREADS; i++)
    threads[i] = start_thread (run_with_others, &group);
  run_with_others (&group);
  for (int i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  pthread_barrier_destroy (&group.all_ran);
  rd_recorder_freeze (recorder);
  check_each_writer (recorder, 1000);
  rd_recorder_release (recorder);
}

static void
other_threads_are_not_in_one_threads_recorder (void **state)
{
  struct radio_recorder *recorder;
  int n = 10;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  pthread_join (start_thread (run_scopes, &n), NULL);
  radio_scope_end (radio_scope_begin (&a));
  rd_recorder_freeze (recorder);
  assert_int_equal (recorder->synced.writers.n, 1);
  assert_int_equal (count_calls (recorder, "a", NULL), 1);
  rd_recorder_release (recorder);
}

/*------------------------------------------------------------------------
 * Stopping in the middle
 *----------------------------------------------------------------------*/

struct runner {
  atomic_bool goes_on;
  atomic_uint_fast64_t ntokens[2];      /* tokens of a and b that were not 0 */
};

static const struct radio_counter ncounted = { "n", "count" };

/* Counts each token before the next scope begins. */
static void *
run_until_stopped (void *arg)
{
  struct runner *runner = arg;
  while (atomic_load (&runner->goes_on)) {
    uint64_t outer = radio_scope_begin (&a);
    atomic_fetch_add (&runner->ntokens[0], outer != 0);
    for (int i = 0; i < 3; i++) {
      uint64_t inner = radio_scope_begin (&b);
      atomic_fetch_add (&runner->ntokens[1], inner != 0);
      radio_scope_add (&ncounted, 1);
      radio_scope_end (inner);
    }
    radio_scope_instant (&c);
    radio_scope_end (outer);
  }
  return NULL;
}

/* Calls of a site in all writers' trees. */
static uint64_t
count_site (const struct radio_recorder *recorder,
            const struct radio_site *site)
{
  uint64_t n = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t k = 1; k < writer->nnodes; k++)
      if (writer->nodes[k]->site == site)
        n += writer->nodes[k]->calls;
  }
  return n;
}

/* Waits until each thread has recorded scopes of each site. */
static void
wait_for_scopes (struct runner *runner, uint64_t n)
{
  uint64_t until = atomic_load (&runner->ntokens[1]) + n;
  while (atomic_load (&runner->ntokens[1]) < until)
    sched_yield ();
}

static void
check_consistent (struct radio_recorder *recorder)
{
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    uint64_t roots = 0, selves = 0;
    assert_ptr_equal (writer->top, writer->frames);
    for (size_t k = 1; k < writer->nnodes; k++) {
      const struct rd_node *node = writer->nodes[k];
      roots += node->parent == writer->nodes[0] ? node->total : 0;
      selves += node->self;
      assert_true (node->self <= node->total);
    }
    assert_int_equal (roots, selves);
  }
}

static void
stop_while_threads_run (bool fences)
{
  struct runner runner = { .goes_on = true };
  uint64_t ncalls[2] = { 0 };
  pthread_t threads[NTHREADS];
  for (int i = 0; i < NTHREADS; i++)
    threads[i] = start_thread (run_until_stopped, &runner);
  for (int i = 0; i < 8; i++) {
    struct radio_recorder *recorder = start_process (fences);
    wait_for_scopes (&runner, 100);
    rd_recorder_freeze (recorder);
    check_consistent (recorder);
    ncalls[0] += count_site (recorder, &a);
    ncalls[1] += count_site (recorder, &b);
    rd_recorder_release (recorder);
  }
  atomic_store (&runner.goes_on, false);
  for (int i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  assert_false (radio_profile_is_on ());
  /* Each scope with a token is recorded exactly once. */
  assert_int_equal (ncalls[0], atomic_load (&runner.ntokens[0]));
  assert_int_equal (ncalls[1], atomic_load (&runner.ntokens[1]));
  assert_true (ncalls[1] >= 8 * 100);
}

static void
recorders_stop_while_threads_are_in_scopes (void **state)
{
  (void) state;
  stop_while_threads_run (false);
}

static void
recorders_stop_without_membarrier (void **state)
{
  (void) state;
  stop_while_threads_run (true);
}

struct meeting {
  pthread_barrier_t barrier;
};

static void *
stay_in_a_scope (void *arg)
{
  struct meeting *meeting = arg;
  uint64_t outer = radio_scope_begin (&a);
  uint64_t inner = radio_scope_begin (&b);
  pthread_barrier_wait (&meeting->barrier);
  pthread_barrier_wait (&meeting->barrier);
  radio_scope_end (inner);
  radio_scope_end (outer);
  return NULL;
}

static void
open_scopes_of_other_threads_end_at_the_stop (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  struct meeting meeting;
  (void) state;
  pthread_barrier_init (&meeting.barrier, NULL, 2);
  pthread_t thread = start_thread (stay_in_a_scope, &meeting);
  pthread_barrier_wait (&meeting.barrier);
  rd_recorder_freeze (recorder);
  uint64_t opens = 0;
  assert_int_equal (count_calls (recorder, "a", &opens), 1);
  assert_int_equal (count_calls (recorder, "a/b", &opens), 1);
  assert_int_equal (opens, 2);
  check_consistent (recorder);
  rd_recorder_release (recorder);
  pthread_barrier_wait (&meeting.barrier);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&meeting.barrier);
}

static void *
stop_it (void *arg)
{
  enum radio_status status = radio_recorder_stop (arg, NULL);
  return (void *) (uintptr_t) status;
}

static void
another_thread_may_stop_a_threads_recorder (void **state)
{
  struct radio_recorder *recorder, *next;
  void *status;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  uint64_t token = radio_scope_begin (&a);
  pthread_join (start_thread (stop_it, recorder), &status);
  assert_int_equal ((uintptr_t) status, RADIO_OK);
  radio_scope_end (token);
  assert_int_equal (radio_scope_begin (&a), 0);
  assert_ok (radio_recorder_start (NULL, &next));
  assert_int_not_equal (radio_scope_begin (&a), 0);
  assert_ok (radio_recorder_stop (next, NULL));
}

/*------------------------------------------------------------------------
 * The ends of threads
 *----------------------------------------------------------------------*/

static void *
leave_open (void *arg)
{
  (void) arg;
  assert_int_not_equal (radio_scope_begin (&a), 0);
  assert_int_not_equal (radio_scope_begin (&b), 0);
  return NULL;
}

static void
scopes_left_open_end_with_their_thread (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  (void) state;
  for (int i = 0; i < 3; i++)
    pthread_join (start_thread (leave_open, NULL), NULL);
  rd_recorder_freeze (recorder);
  uint64_t opens = 0;
  assert_int_equal (count_calls (recorder, "a", NULL), 3);
  assert_int_equal (count_calls (recorder, "a/b", &opens), 3);
  assert_int_equal (opens, 3);
  assert_null (history_find (&(struct history) { .recorder = recorder }, 1,
                             "b"));
  rd_recorder_release (recorder);
}

static void *
name_and_run (void *arg)
{
  char name[32];
  snprintf (name, sizeof name, "loader %d", *(int *) arg);
  radio_thread_name (name);
  radio_scope_end (radio_scope_begin (&a));
  return NULL;
}

static void
ten_thousand_threads_reuse_one_writer (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  char name[32];
  (void) state;
  radio_scope_end (radio_scope_begin (&b));
  for (int i = 0; i < 10000; i++)
    pthread_join (start_thread (name_and_run, &i), NULL);
  rd_recorder_freeze (recorder);
  assert_int_equal (recorder->synced.writers.n, 2);
  assert_int_equal (count_calls (recorder, "a", NULL), 10000);
  const struct rd_writer_state *writer = recorder->synced.writers.at[1];
  assert_int_equal (writer->nnodes, 2);
  assert_int_equal (writer->sessions.n, 10000);
  for (size_t i = 0; i < 10000; i += 99) {
    snprintf (name, sizeof name, "loader %zu", i);
    assert_string_equal (writer->sessions.at[i].name, name);
    assert_int_equal (writer->sessions.at[i].first, i + 1);
  }
  rd_recorder_release (recorder);
}

/* They sleep, or have no CPU, in a scope that begins just after the last one's
 * end; a clock that starts again does not lag. */
static void *
sleep_in_a_scope (void *arg)
{
  struct history *h = arg;
  uint64_t token = radio_scope_begin (&a);
  history_work (h, 300, 500);
  history_sleep (h, 2000);
  radio_scope_end (token);
  return NULL;
}

static void
threads_that_follow_each_other_have_accounts_of_their_own (void **state)
{
  static const struct radio_recorder_options options = {
    .whole_process = true
  };
  struct history h;
  (void) state;
  history_start_starving (&h, &options, 100);
  for (int i = 0; i < 3; i++)
    pthread_join (start_thread (sleep_in_a_scope, &h), NULL);
  history_freeze (&h);
  assert_int_equal (h.recorder->synced.writers.n, 2);
  const struct rd_node *node = history_find (&h, 1, "a");
  assert_non_null (node);
  assert_times (node, 3 * 2800, 3 * 2800, 3 * 800, 3 * 2000);
  assert_int_equal (node->starved, 3 * 500);
  history_release (&h);
}

#define RUNS_EACH 8

static void *
name_and_run_often (void *arg)
{
  for (int i = 0; i < RUNS_EACH; i++)
    name_and_run (arg);
  return NULL;
}

/* A writer of a ring forgets threads whose spans have left it. */
static void
threads_that_left_a_ring_leave_nothing (void **state)
{
  const struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = 65536,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  uint64_t nbytes = 0;
  size_t nlogged = 0;
  char name[32];
  (void) state;
  assert_ok (radio_recorder_start (&options, &recorder));
  radio_scope_end (radio_scope_begin (&b));
  for (int i = 0; i < 2000; i++) {
    pthread_join (start_thread (name_and_run_often, &i), NULL);
    if (i == 1000)
      nbytes = recorder->header->nbytes;
  }
  assert_int_equal (recorder->synced.writers.n, 2);
  assert_in_range (recorder->synced.writers.at[1]->sessions.n, 200, 800);
  assert_int_equal (recorder->header->nbytes, nbytes);
  assert_ok (radio_recorder_stop (recorder, &profile));

  /* All runs are counted, and each of the last spans is its thread's. */
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, "a") == 0)
      assert_int_equal (profile->nodes.at[i].calls, 2000 * RUNS_EACH);
  for (size_t i = profile->spans.n; i-- > 0;) {
    const struct rd_span *span = &profile->spans.at[i];
    if (strcmp (profile->nodes.at[span->node].name, "b") == 0)
      continue;
    snprintf (name, sizeof name, "loader %zu", 1999 - nlogged++ / RUNS_EACH);
    assert_string_equal (profile->lanes.at[span->lane].name, name);
  }
  assert_in_range (nlogged, 1500, 2048);
  radio_profile_close (profile);
}

static void *
have_a_name_of_the_system (void *arg)
{
  (void) arg;
  pthread_setname_np (pthread_self (), "system name");
  radio_scope_end (radio_scope_begin (&a));
  return NULL;
}

static void
an_unnamed_thread_has_the_systems_name (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  (void) state;
  pthread_join (start_thread (have_a_name_of_the_system, NULL), NULL);
  rd_recorder_freeze (recorder);
  const struct rd_writer_state *writer = recorder->synced.writers.at[1];
  assert_string_equal (writer->sessions.at[0].name, "system name");
  assert_int_not_equal (writer->sessions.at[0].os_tid, 0);
  rd_recorder_release (recorder);
}

static void *
have_a_long_name (void *arg)
{
  char name[100] = "";
  for (size_t i = 0; i + 1 < sizeof name; i += 2)
    memcpy (name + i, "\xc3\xa9", 2);
  (void) arg;
  name[98] = '\0';
  radio_thread_name (name);
  radio_scope_end (radio_scope_begin (&a));
  return NULL;
}

static void
a_long_name_is_cut_at_a_whole_character (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  (void) state;
  pthread_join (start_thread (have_a_long_name, NULL), NULL);
  rd_recorder_freeze (recorder);
  const struct rd_writer_state *writer = recorder->synced.writers.at[1];
  assert_int_equal (strlen (writer->sessions.at[0].name), 62);
  rd_recorder_release (recorder);
}

/* It runs 700 of 1000 ticks. */
static void *
end_in_a_call (void *arg)
{
  struct history *h = arg;
  radio_scope_begin (&blocks);
  history_pass (h, 1000);
  h->cpu_ns += 700;
  return NULL;
}

static void
time_run_in_a_call_left_open_is_work (void **state)
{
  struct radio_recorder_options options = { .whole_process = true };
  struct history h;
  (void) state;
  history_start (&h, &options);
  pthread_join (start_thread (end_in_a_call, &h), NULL);
  history_freeze (&h);
  const struct rd_node *node = history_find (&h, 1, "blocks");
  assert_non_null (node);
  assert_int_equal (node->opens, 1);
  assert_times (node, 1000, 1000, 700, 300);
  history_release (&h);
}

static void *
end_after_the_stop (void *arg)
{
  struct meeting *meeting = arg;
  radio_scope_begin (&a);
  pthread_barrier_wait (&meeting->barrier);
  pthread_barrier_wait (&meeting->barrier);
  return NULL;
}

static void
a_thread_may_end_long_after_its_recorder (void **state)
{
  struct radio_recorder *recorder = start_process (false);
  struct meeting meeting;
  (void) state;
  pthread_barrier_init (&meeting.barrier, NULL, 2);
  pthread_t thread = start_thread (end_after_the_stop, &meeting);
  pthread_barrier_wait (&meeting.barrier);
  assert_ok (radio_recorder_stop (recorder, NULL));
  pthread_barrier_wait (&meeting.barrier);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&meeting.barrier);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (all_threads_of_a_recorded_process_are_in_the_tree),
    cmocka_unit_test (other_threads_are_not_in_one_threads_recorder),
    cmocka_unit_test (recorders_stop_while_threads_are_in_scopes),
    cmocka_unit_test (recorders_stop_without_membarrier),
    cmocka_unit_test (open_scopes_of_other_threads_end_at_the_stop),
    cmocka_unit_test (another_thread_may_stop_a_threads_recorder),
    cmocka_unit_test (scopes_left_open_end_with_their_thread),
    cmocka_unit_test (
      time_run_in_a_call_left_open_is_work),
    cmocka_unit_test (ten_thousand_threads_reuse_one_writer),
    cmocka_unit_test (threads_that_left_a_ring_leave_nothing),
    cmocka_unit_test (
      threads_that_follow_each_other_have_accounts_of_their_own),
    cmocka_unit_test (an_unnamed_thread_has_the_systems_name),
    cmocka_unit_test (a_long_name_is_cut_at_a_whole_character),
    cmocka_unit_test (a_thread_may_end_long_after_its_recorder),
  };
  return run_recording_tests (tests);
}
