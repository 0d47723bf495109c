/* SPDX-License-Identifier: MIT */
/* System calls that may block: when the thread's CPU clock is read, and the
 * assumptions when it is not.  The test sets the clocks. */
#include <config.h>

#include <time.h>

#include "tests/profile-tree.h"

#include "profiler/record/recorder.h"

static struct {
  uint64_t now, cpu_ns;
  unsigned nreads;            /* of the CPU clock */
} times;

static uint64_t
read_now (void *user_data)
{
  (void) user_data;
  return times.now;
}

static uint64_t
read_cpu_ns (void *user_data)
{
  (void) user_data;
  times.nreads++;
  return times.cpu_ns;
}

/* As on a real machine: 20 us and 1 ms; a tick is a nanosecond. */
static struct radio_recorder *
begin (void)
{
  const struct rd_recorder_setup setup = {
    .clock = {
      .read = read_now, .read_cpu_ns = read_cpu_ns,
      .least_wait_ns = 20000, .cpu_fresh_ns = 1000000,
    },
    .scope_cost_ns = 1,
  };
  struct radio_recorder *recorder;
  times.now = 1000;
  times.cpu_ns = 0;
  times.nreads = 0;
  assert_ok (rd_recorder_start (NULL, &setup, &recorder));
  return recorder;
}

static const struct radio_site call_site = {
  "call", "disk", "", "", 1, RADIO_SCOPE_BLOCKING
};
static const struct radio_site wait_site = {
  "wait", "queue", "", "", 1, RADIO_SCOPE_WAIT
};

/* Time passes, and the thread runs for some of it. */
static void
pass (uint64_t us, uint64_t run_us)
{
  times.now += us * 1000;
  times.cpu_ns += run_us * 1000;
}

static void
scope (const struct radio_site *site, uint64_t us, uint64_t run_us)
{
  uint64_t token = radio_scope_begin (site);
  assert_true (token != 0);
  pass (us, run_us);
  radio_scope_end (token);
}

/* All of the node's time is one or the other. */
static void
end (struct radio_recorder *recorder, uint64_t work_us, uint64_t wait_us)
{
  struct radio_profile *profile = tree_end (recorder);
  const struct radio_profile_node *call
    = tree_node (profile, "call", RADIO_EDGE_CALL);
  assert_int_equal (call->work_ns, work_us * 1000);
  assert_int_equal (call->wait_ns, wait_us * 1000);
  assert_int_equal (call->self_ns, (work_us + wait_us) * 1000);
  radio_profile_close (profile);
}

static void
a_long_call_is_detected_by_the_clock (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  scope (&call_site, 100, 30);
  assert_int_equal (times.nreads, 2);
  end (recorder, 30, 70);
}

static void
short_calls_are_work_and_do_not_read_the_clock (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  for (int i = 0; i < 50; i++)
    scope (&call_site, 19, 0);
  assert_int_equal (times.nreads, 1);
  end (recorder, 50 * 19, 0);
}

static void
a_long_call_among_short_ones_reads_the_clock_once (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  for (int i = 0; i < 10; i++) {
    scope (&call_site, 10, 10);
    pass (5, 5);
  }
  scope (&call_site, 200, 60);
  assert_int_equal (times.nreads, 2);
  end (recorder, 100 + 60, 140);
}

static void
an_old_reading_is_not_used (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  scope (&call_site, 10, 10);
  pass (2000, 500);
  scope (&call_site, 100, 20);
  assert_int_equal (times.nreads, 3);
  end (recorder, 10 + 20, 80);
}

static void
known_waits_since_the_reading_are_taken_away (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  scope (&call_site, 10, 10);
  scope (&wait_site, 300, 0);
  pass (40, 40);
  scope (&call_site, 100, 25);
  end (recorder, 10 + 25, 75);
}

/* The thread was off its processor unasked since the reading: the next long
 * call is taken to have waited, but for no longer than it took. */
static void
time_lost_before_a_call_counts_within_it_at_most (void **state)
{
  (void) state;
  struct radio_recorder *recorder = begin ();
  scope (&call_site, 10, 10);
  pass (500, 0);
  scope (&call_site, 100, 100);
  end (recorder, 10, 100);
}

static void
a_call_of_a_real_thread_has_work_and_wait (void **state)
{
  (void) state;
  struct radio_recorder *recorder = tree_begin ();
  uint64_t token = radio_scope_begin (&call_site);
  const struct timespec pause = { 0, 2000000 };
  nanosleep (&pause, NULL);
  radio_scope_end (token);
  struct radio_profile *profile = tree_end (recorder);
  const struct radio_profile_node *call
    = tree_node (profile, "call", RADIO_EDGE_CALL);
  assert_true (call->wait_ns >= 1000000);
  assert_int_equal (call->work_ns + call->wait_ns, call->self_ns);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_long_call_is_detected_by_the_clock),
    cmocka_unit_test (short_calls_are_work_and_do_not_read_the_clock),
    cmocka_unit_test (a_long_call_among_short_ones_reads_the_clock_once),
    cmocka_unit_test (an_old_reading_is_not_used),
    cmocka_unit_test (known_waits_since_the_reading_are_taken_away),
    cmocka_unit_test (time_lost_before_a_call_counts_within_it_at_most),
    cmocka_unit_test (a_call_of_a_real_thread_has_work_and_wait),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
