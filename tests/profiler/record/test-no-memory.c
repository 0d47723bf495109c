/* SPDX-License-Identifier: MIT */
/* Allocations that fail: starting returns an error; recording continues, and
 * losses are counted. */
#include <config.h>

#include <pthread.h>

#include "tests/alloc-fail.h"
#include "tests/profiler/record/history.h"

#include "profiler/record/recorder.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);

static const struct radio_counter bytes = { "bytes", "bytes" };

static void
ignore_slow_run (const struct radio_profile *profile, void *user_data)
{
  (void) profile;
  (void) user_data;
}

static void
check_starting (const struct radio_recorder_options *options)
{
  for (size_t nth = 1;; nth++) {
    struct radio_recorder *recorder;
    alloc_fail_nth (nth);
    enum radio_status status = radio_recorder_start (options, &recorder);
    bool failed = alloc_fail_end ();
    if (status == RADIO_OK)
      assert_ok (radio_recorder_stop (recorder, NULL));
    else {
      assert_int_equal (status, RADIO_ERROR_MEMORY);
      assert_null (recorder);
      assert_true (failed);
    }
    assert_false (radio_profile_is_on ());
    if (!failed)
      break;
  }
}

static void
starting_fails_or_succeeds_completely (void **state)
{
  const struct radio_slow_options slow = {
    .triggers = "a>1ms,b>2s cpu", .report = ignore_slow_run,
  };
  const struct radio_recorder_options options[] = {
    { .title = "title", .max_spans = 100 },
    { .title = "title", .ring_nbytes = 65536, .slow = &slow },
  };
  (void) state;
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    check_starting (&options[i]);
}

/* Twenty paths, some of which may be missing. */
static void
run_paths (struct history *h, struct radio_site sites[20])
{
  for (int i = 0; i < 20; i++) {
    uint64_t token = radio_scope_begin (&sites[i]);
    radio_scope_add (&bytes, 1);
    history_pass (h, 1);
    radio_scope_end (radio_scope_begin (&waits));
    radio_scope_instant (&b);
    radio_scope_end (token);
  }
}

static void
check_counted (const struct history *h)
{
  const struct rd_writer_state *writer = h->recorder->synced.writers.at[0];
  uint64_t calls = 0, skipped = 0;
  for (size_t i = 0; i < writer->nnodes; i++) {
    calls += writer->nodes[i]->calls;
    skipped += writer->nodes[i]->nskipped;
    assert_true (writer->nodes[i]->self <= writer->nodes[i]->total);
  }
  assert_int_equal (calls + skipped, 60);
}

static void
a_path_without_memory_counts_into_its_parent (void **state)
{
  static struct radio_site sites[20];
  (void) state;
  for (int i = 0; i < 20; i++)
    sites[i] = (struct radio_site) { "s", "test", "", "", 0, 0 };
  for (size_t nth = 1;; nth++) {
    struct history h;
    history_start (&h, NULL);
    alloc_fail_nth (nth);
    run_paths (&h, sites);
    bool failed = alloc_fail_end ();
    history_freeze (&h);
    check_counted (&h);
    history_release (&h);
    if (!failed)
      break;
  }
}

static pthread_barrier_t both;

/* The thread that starts it is recorded from then on, and stays. */
static void *
start_process (void *process)
{
  struct radio_recorder_options options = { .whole_process = true };
  history_start (process, &options);
  pthread_barrier_wait (&both);
  pthread_barrier_wait (&both);
  return NULL;
}

static void
a_thread_without_memory_is_counted_as_refused (void **state)
{
  struct history process;
  pthread_t thread;
  (void) state;
  pthread_barrier_init (&both, NULL, 2);
  assert_int_equal (pthread_create (&thread, NULL, start_process, &process),
                    0);
  pthread_barrier_wait (&both);
  alloc_fail_nth (1);
  uint64_t token = radio_scope_begin (&a);
  bool failed = alloc_fail_end ();
  assert_true (failed);
  assert_int_equal (token, 0);
  assert_int_equal (radio_scope_begin (&a), 0);
  assert_int_equal (process.recorder->synced.nrefused, 1);
  pthread_barrier_wait (&both);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&both);
  history_freeze (&process);
  history_release (&process);
}

static void
a_fact_without_memory_changes_nothing (void **state)
{
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_ok (radio_recorder_fact (recorder, "k", "old", RADIO_TEXT_PLAIN));
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status
      = radio_recorder_fact (recorder, "k", "new", RADIO_TEXT_NAME);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_string_equal (recorder->synced.facts.at[0].value, "old");
  }
  assert_string_equal (recorder->synced.facts.at[0].value, "new");
  assert_ok (radio_recorder_stop (recorder, NULL));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (starting_fails_or_succeeds_completely),
    cmocka_unit_test (a_path_without_memory_counts_into_its_parent),
    cmocka_unit_test (a_thread_without_memory_is_counted_as_refused),
    cmocka_unit_test (a_fact_without_memory_changes_nothing),
  };
  return run_recording_tests (tests);
}
