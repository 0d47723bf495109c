/* SPDX-License-Identifier: MIT */
/* Scopes that are left without an end, a thread that another recorder has for
 * a while, children of fork, and a clock that jumps. */
#include <config.h>

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/profiler/record/history.h"

#include "profiler/model/profile.h"
#include "profiler/record/recorder.h"
#include "src/base/sanitizers.h"

SITE (outer, RADIO_SCOPE_WORK);
SITE (inner, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_profile_node *
find_node (const struct radio_profile *profile, const char *name)
{
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, name) == 0)
      return &profile->nodes.at[i];
  fail_msg ("no node %s", name);
  return NULL;
}

static const struct radio_finding *
find_finding (const struct radio_profile *profile, const char *id)
{
  for (size_t i = 0; i < profile->info.nfindings; i++)
    if (strcmp (radio_profile_finding (profile, i)->id, id) == 0)
      return radio_profile_finding (profile, i);
  return NULL;
}

/* The only texts are those of left scopes: one of the span, one of the node. */
static void
assert_left (const struct radio_profile *profile, const char *name,
             const char *end)
{
  const struct radio_finding *finding = find_finding (profile, "left-scopes");
  const struct radio_profile_node *node = find_node (profile, name);
  assert_string_equal (
    rd_profile_find_fact (profile, "scopes left without an end"), "1");
  assert_non_null (finding);
  assert_ptr_equal (&profile->nodes.at[finding->node], node);
  assert_null (find_finding (profile, "open-scopes"));
  assert_int_equal (node->open_count, 1);
  assert_int_equal (profile->notes.n, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal (profile->notes.at[i].key, "left");
    assert_string_equal (profile->notes.at[i].value, end);
  }
}

static jmp_buf place;

static __attribute__ ((__noinline__)) void
leave_by_longjmp (struct history *h)
{
  RADIO_SCOPE ("jumps");
  history_pass (h, 5);
  longjmp (place, 1);
}

static void
a_scope_left_by_longjmp_ends_with_the_one_around_it (void **state)
{
  static struct history h;
  struct radio_profile *profile;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&outer);
  if (setjmp (place) == 0)
    leave_by_longjmp (&h);
  history_pass (&h, 2);
  radio_scope_end (token);
  history_leaf (&h, &inner, 1);
  assert_ok (radio_recorder_stop (h.recorder, &profile));
  assert_left (profile, "jumps", "until the scope around it ended");
  assert_int_equal (find_node (profile, "jumps")->total_ns, 7);
  assert_int_equal (find_node (profile, "outer")->open_count, 0);
  assert_int_equal (find_node (profile, "inner")->parent, RADIO_NO_PARENT);
  radio_profile_close (profile);
}

static void *
exit_thread (void *arg)
{
  struct history *h = arg;
  (void) radio_scope_begin (&inner);
  history_pass (h, 3);
  pthread_exit (NULL);
}

static void *
wait_to_be_cancelled (void *arg)
{
  struct history *h = arg;
  (void) radio_scope_begin (&inner);
  history_pass (h, 3);
  while (pause () == -1)
    continue;
  return NULL;
}

static void
a_scope_left_by_the_end_of_its_thread_ends_with_it (void **state)
{
  (void) state;
  for (int cancels = 0; cancels < 2; cancels++) {
    struct history h;
    struct radio_profile *profile;
    pthread_t thread;
    struct radio_recorder_options options = { .whole_process = true };
    history_start (&h, &options);
    assert_int_equal (pthread_create (&thread, NULL,
                                      cancels ? wait_to_be_cancelled
                                              : exit_thread, &h), 0);
    if (cancels)
      pthread_cancel (thread);
    pthread_join (thread, NULL);
    history_pass (&h, 100);
    if (atomic_load (&h.now) == 1103) {         /* it had begun */
      assert_ok (radio_recorder_stop (h.recorder, &profile));
      assert_left (profile, "inner", "until its thread ended");
      assert_int_equal (find_node (profile, "inner")->total_ns, 3);
      radio_profile_close (profile);
    } else
      assert_ok (radio_recorder_stop (h.recorder, NULL));
  }
}

/* Its own time is long enough for the account of the run queue, which is read
 * by system calls: the request must not end the thread in there. */
static void *
spin_to_be_cancelled (void *arg)
{
  (void) arg;
  for (;;) {
    struct timespec begin, now;
    clock_gettime (CLOCK_MONOTONIC, &begin);
    uint64_t token = radio_scope_begin (&inner);
    do
      clock_gettime (CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000
           + now.tv_nsec - begin.tv_nsec < 120000);
    radio_scope_end (token);
    pthread_testcancel ();
  }
  return NULL;
}

static void
a_thread_is_not_cancelled_within_the_recorder (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = 65536
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  (void) state;
  assert_ok (radio_recorder_start (&options, &recorder));
  for (int i = 0; i < 200; i++) {
    pthread_t thread;
    void *result;
    assert_int_equal (pthread_create (&thread, NULL, spin_to_be_cancelled,
                                      NULL), 0);
    usleep ((unsigned) i * 37 % 1500);
    assert_int_equal (pthread_cancel (thread), 0);
    assert_int_equal (pthread_join (thread, &result), 0);
    assert_ptr_equal (result, PTHREAD_CANCELED);
  }
  /* One that is busy for ever stops for no one. */
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    assert_int_equal (atomic_load (&recorder->synced.writers.at[i]->busy), 0);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_null (find_finding (profile, "left-scopes"));
  radio_profile_close (profile);
}

/* POSIX defines no such cancellation of a library's function, and neither do
 * sanitizers of theirs; but the recorder does not wait for what the thread will
 * not end. */
static void *
scope_to_be_cancelled (void *arg)
{
  (void) arg;
  for (uint64_t i = 0;; i++) {
    uint64_t token = radio_scope_begin (&outer);
    radio_scope_end (radio_scope_begin (&inner));
    radio_scope_end (token);
    /* Once all that this takes is allocated: malloc would keep its lock. */
    if (i == 0)
      pthread_setcanceltype (PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  }
  return NULL;
}

static void
a_thread_cancelled_within_the_recorder_does_not_hang_it (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .tree_only = true
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  (void) state;
  if (RD_HAS_TSAN || RD_HAS_ASAN)
    skip ();
  assert_ok (radio_recorder_start (&options, &recorder));
  for (int i = 0; i < 200; i++) {
    pthread_t thread;
    assert_int_equal (pthread_create (&thread, NULL, scope_to_be_cancelled,
                                      NULL), 0);
    usleep ((unsigned) i * 37 % 1500);
    assert_int_equal (pthread_cancel (thread), 0);
    assert_int_equal (pthread_join (thread, NULL), 0);
  }
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_in_range (find_node (profile, "inner")->calls, 1, UINT64_MAX);
  radio_profile_close (profile);
}

static void
a_scope_open_at_the_stop_is_not_left (void **state)
{
  struct history h;
  struct radio_profile *profile;
  (void) state;
  history_start (&h, NULL);
  (void) radio_scope_begin (&outer);
  assert_ok (radio_recorder_stop (h.recorder, &profile));
  assert_null (find_finding (profile, "left-scopes"));
  assert_non_null (find_finding (profile, "open-scopes"));
  assert_int_equal (profile->notes.n, 0);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Recorders within recorders
 *----------------------------------------------------------------------*/

/* Stops a thread's own recorder, which has the inner scope once, and misses
 * nothing of the thread. */
static void
stop_own (struct history *own)
{
  struct radio_profile *profile;
  assert_ok (radio_recorder_stop (own->recorder, &profile));
  assert_int_equal (find_node (profile, "inner")->calls, 1);
  assert_null (rd_profile_find_fact (
    profile, "threads recorded by another recorder"));
  radio_profile_close (profile);
}

static void
a_nested_recorder_leaves_a_fact_in_the_outer_profile (void **state)
{
  struct history whole, own;
  struct radio_profile *profile;
  struct radio_recorder_options options = { .whole_process = true };
  (void) state;
  history_start (&whole, &options);
  uint64_t token = radio_scope_begin (&outer);
  history_pass (&whole, 10);
  for (int i = 0; i < 2; i++) {
    history_start (&own, NULL);
    history_leaf (&own, &inner, 7);
    history_pass (&whole, 30);
    stop_own (&own);
    history_pass (&whole, 1);
  }
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (whole.recorder, &profile));
  assert_int_equal (profile->nodes.n, 1);
  assert_int_equal (find_node (profile, "outer")->total_ns, 72);
  assert_string_equal (rd_profile_find_fact (
    profile, "threads recorded by another recorder"), "2");
  assert_string_equal (rd_profile_find_fact (
    profile, "recorded by another recorder ns"), "60");
  const struct radio_finding *finding
    = find_finding (profile, "recorded-elsewhere");
  assert_non_null (finding);
  assert_non_null (strstr (finding->evidence, "2 times, for 60"));
  radio_profile_close (profile);
}

/* The thread is the outer one's when the inner recorder ends. */
static void
a_recorder_of_the_process_may_begin_within_a_threads_own (void **state)
{
  struct history whole, own;
  struct radio_profile *profile;
  struct radio_recorder_options options = { .whole_process = true };
  (void) state;
  history_start (&own, NULL);
  uint64_t token = radio_scope_begin (&outer);
  history_start (&whole, &options);
  history_leaf (&own, &inner, 7);
  history_pass (&whole, 30);
  radio_scope_end (token);
  stop_own (&own);
  history_pass (&whole, 4);
  history_leaf (&whole, &inner, 5);
  assert_ok (radio_recorder_stop (whole.recorder, &profile));
  assert_int_equal (profile->nodes.n, 1);
  assert_int_equal (find_node (profile, "inner")->total_ns, 5);
  assert_string_equal (rd_profile_find_fact (
    profile, "threads recorded by another recorder"), "1");
  assert_string_equal (rd_profile_find_fact (
    profile, "recorded by another recorder ns"), "30");
  assert_non_null (find_finding (profile, "recorded-elsewhere"));
  radio_profile_close (profile);
}

/* In whichever order they end. */
static void
an_outer_recorder_may_end_before_a_threads_own (void **state)
{
  struct history whole, own;
  struct radio_profile *profile;
  struct radio_recorder_options options = { .whole_process = true };
  (void) state;
  history_start (&own, NULL);
  history_start (&whole, &options);
  history_pass (&whole, 30);
  assert_ok (radio_recorder_stop (whole.recorder, &profile));
  assert_int_equal (profile->nodes.n, 0);
  assert_string_equal (rd_profile_find_fact (
    profile, "recorded by another recorder ns"), "30");
  radio_profile_close (profile);
  history_leaf (&own, &inner, 7);
  stop_own (&own);
}

/*------------------------------------------------------------------------
 * fork
 *----------------------------------------------------------------------*/

/* Does what docs/profile.md says of a child.  Returns the number of the line
 * that fails, or 0. */
static int
check_child (struct radio_recorder *parents, uint64_t parents_token,
             struct radio_handoff *handoff, struct radio_async *async)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile;
#define CHECK(condition) if (!(condition)) return __LINE__ % 255 + 1
  CHECK (!radio_profile_is_on ());
  CHECK (radio_scope_begin (&inner) == 0);
  radio_scope_end (parents_token);
  radio_async_end (async);
  CHECK (radio_recorder_stop (parents, &profile) == RADIO_ERROR_FORKED);
  CHECK (radio_recorder_start (NULL, &recorder) == RADIO_OK);
  uint64_t token = radio_scope_receive (handoff, &inner);
  CHECK (token != 0);
  radio_scope_end (parents_token);
  radio_scope_end (token);
  radio_handoff_release (handoff);
  CHECK (radio_recorder_stop (recorder, &profile) == RADIO_OK);
  CHECK (profile->nodes.n == 1 && profile->nodes.at[0].calls == 1);
  CHECK (profile->nodes.at[0].open_count == 0);
  CHECK (profile->nodes.at[0].parent == RADIO_NO_PARENT);
  radio_profile_close (profile);
  CHECK (!radio_profile_is_on ());
  return 0;
}

static void
a_child_of_fork_records_nothing_but_what_it_starts (void **state)
{
  struct history h;
  struct radio_profile *profile;
  struct radio_handoff handoff;
  int status;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&outer);
  radio_handoff_give (&handoff);
  struct radio_async *async = radio_async_begin (&inner);
  pid_t child = fork ();
  if (child == 0) {
    alarm (20);
    _exit (check_child (h.recorder, token, &handoff, async));
  }
  assert_true (child > 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
  radio_async_end (async);
  radio_handoff_release (&handoff);
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (h.recorder, &profile));
  assert_int_equal (find_node (profile, "outer")->calls, 1);
  assert_int_equal (find_node (profile, "inner")->calls, 1);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * A clock that jumps
 *----------------------------------------------------------------------*/

/* By more than any duration in the log may be, in scopes of each way to
 * end. */
static void
a_clock_that_jumps_far_does_no_harm (void **state)
{
  static const struct radio_site *const sites[] = {
    &inner, &waits, &blocks, NULL, NULL
  };
  (void) state;
  for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
    struct history h;
    struct radio_profile *profile;
    history_start (&h, NULL);
    history_leaf (&h, &outer, 10);
    struct radio_async *async = NULL;
    struct radio_handoff handoff;
    radio_handoff_give (&handoff);
    uint64_t token = 0;
    if (sites[i])
      token = radio_scope_begin (sites[i]);
    else if (i == 3)
      token = radio_scope_receive (&handoff, &inner);
    else
      async = radio_async_begin (&inner);
    history_pass (&h, (UINT64_C (1) << 63) + 5);
    radio_scope_end (token);
    radio_async_end (async);
    radio_handoff_release (&handoff);
    history_leaf (&h, &outer, 10);
    assert_ok (radio_recorder_stop (h.recorder, &profile));
    assert_int_equal (profile->spans.n, 3);
    assert_int_equal (profile->nodes.n, 2);
    assert_int_equal (find_node (profile, "outer")->calls, 2);
    radio_profile_close (profile);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_scope_left_by_longjmp_ends_with_the_one_around_it),
    cmocka_unit_test (a_scope_left_by_the_end_of_its_thread_ends_with_it),
    cmocka_unit_test (a_thread_is_not_cancelled_within_the_recorder),
    cmocka_unit_test (a_thread_cancelled_within_the_recorder_does_not_hang_it),
    cmocka_unit_test (a_scope_open_at_the_stop_is_not_left),
    cmocka_unit_test (a_nested_recorder_leaves_a_fact_in_the_outer_profile),
    cmocka_unit_test (
      a_recorder_of_the_process_may_begin_within_a_threads_own),
    cmocka_unit_test (an_outer_recorder_may_end_before_a_threads_own),
    cmocka_unit_test (a_child_of_fork_records_nothing_but_what_it_starts),
    cmocka_unit_test (a_clock_that_jumps_far_does_no_harm),
  };
  return run_recording_tests (tests);
}
