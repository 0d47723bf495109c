/* SPDX-License-Identifier: MIT */
/* Clocks: rates, anchors, and the accuracy of the counter. */
#include <config.h>

#include <math.h>
#include <time.h>

#include "tests/unit.h"

#include "profiler/record/clock.h"

static uint64_t
read_ticks (void *user_data)
{
  return *(uint64_t *) user_data;
}

static void
a_rate_of_one_is_exact (void **state)
{
  struct rd_rate rate = { 1, 0 };
  (void) state;
  assert_int_equal (rd_rate_ns (&rate, 0), 0);
  assert_int_equal (rd_rate_ns (&rate, INT64_MAX), INT64_MAX);
  assert_int_equal (rd_rate_ticks (&rate, 12345), 12345);
}

static void
a_tests_clock_has_its_own_rate (void **state)
{
  static const struct { uint64_t per_us, ticks, ns; } cases[] = {
    { 1000, 77, 77 }, { 3000, 3000, 1000 }, { 2500, 250000, 100000 },
    { 25, 100, 4000 }, { 1, 7, 7000 },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t now = 0;
    struct rd_clock clock = { .read = read_ticks, .user_data = &now,
                              .ticks_per_us = cases[i].per_us };
    struct rd_rate rate;
    rd_clock_rate (&clock, &rate);
    uint64_t ns = rd_rate_ns (&rate, cases[i].ticks);
    assert_in_range (ns, cases[i].ns - 1, cases[i].ns);
    assert_int_equal (rd_rate_ticks (&rate, cases[i].ns), cases[i].ticks);
  }
}

static void
conversion_to_nanoseconds_is_monotonic (void **state)
{
  struct rd_rate rate = { 0, UINT64_C (7083549724304467820) };  /* 0.384 */
  uint64_t before = 0;
  (void) state;
  for (uint64_t ticks = 0; ticks < 10000; ticks++) {
    uint64_t ns = rd_rate_ns (&rate, ticks);
    assert_true (ns >= before && ns <= before + 1);
    before = ns;
  }
}

static void
a_tests_clock_replaces_all_clocks (void **state)
{
  uint64_t now = 4000;
  struct rd_clock clock = { .read = read_ticks, .user_data = &now,
                            .ticks_per_us = 2000 };
  struct rd_anchor anchor;
  (void) state;
  rd_clock_anchor (&clock, &anchor);
  assert_int_equal (rd_clock_now (&clock), 4000);
  assert_int_equal (anchor.ticks, 4000);
  assert_int_equal (anchor.ns, 2000);
  assert_int_equal (rd_clock_cpu_ns (&clock), 0);
}

static void
the_portable_clock_is_clock_monotonic (void **state)
{
  struct rd_clock clock;
  struct rd_rate rate;
  struct timespec t;
  (void) state;
  rd_clock_choose (&clock, true);
  assert_false (clock.tsc);
  rd_clock_rate (&clock, &rate);
  assert_int_equal (rate.whole, 1);
  assert_int_equal (rate.fraction, 0);
  uint64_t before = rd_clock_now (&clock);
  clock_gettime (CLOCK_MONOTONIC, &t);
  uint64_t between = (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
  assert_true (before <= between && between <= rd_clock_now (&clock));
}

/* The thread may be preempted between the two clocks of an anchor: the best of
 * several measurements counts; with a wrong rate all are wrong.  The rate is
 * that of the process, whose first anchor may be inaccurate too: that matters
 * the less the older it is, so each try waits longer than the one before. */
#define TRIES 8

static double
error_of_rate (const struct rd_clock *clock, uint64_t wait_ns)
{
  struct rd_anchor start, stop;
  struct rd_rate rate, between;
  rd_clock_anchor (clock, &start);
  do
    rd_clock_anchor (clock, &stop);
  while (stop.ns - start.ns < wait_ns);
  rd_clock_rate (clock, &rate);
  rd_clock_rate_between (clock, &start, &stop, &between);
  uint64_t real_ns = stop.ns - start.ns;
  uint64_t ticks = stop.ticks - start.ticks;
  assert_in_range (rd_rate_ns (&between, ticks), real_ns - 2, real_ns + 2);
  return fabs ((double) rd_rate_ns (&rate, ticks) / (double) real_ns - 1);
}

/* The error of a wrong rate is far more than 2 %. */
static void
the_counter_agrees_with_the_system_clock (void **state)
{
  struct rd_clock clock;
  double error = 1;
  (void) state;
  if (!rd_clock_has_tsc ())
    skip ();
  rd_clock_choose (&clock, false);
  assert_true (clock.tsc);
  for (int i = 0; i < TRIES && error > 0.02; i++)
    error = fmin (error, error_of_rate (&clock, UINT64_C (12000000) << i));
  assert_true (error <= 0.02);
}

static double
error_of_short_recording (const struct rd_clock *clock)
{
  struct rd_anchor start, stop;
  struct rd_rate rate, between;
  rd_clock_rate (clock, &rate);
  rd_clock_anchor (clock, &start);
  rd_clock_anchor (clock, &stop);
  stop.ns = start.ns;           /* as bad as anchors can be */
  rd_clock_rate_between (clock, &start, &stop, &between);
  return fabs (rd_rate_ns_per_tick (&between) / rd_rate_ns_per_tick (&rate)
               - 1);
}

static void
a_short_recording_has_the_rate_of_the_process (void **state)
{
  struct rd_clock clock;
  double error = 1;
  (void) state;
  if (!rd_clock_has_tsc ())
    skip ();
  rd_clock_choose (&clock, false);
  for (int i = 0; i < TRIES && !(error < 0.1); i++)
    error = fmin (error, error_of_short_recording (&clock));
  assert_true (error < 0.1);
}

/* As where the machine was suspended, or moved to another: the counter goes
 * back, stands, or is ahead. */
static void
a_counter_that_jumped_has_its_first_rate (void **state)
{
  struct rd_clock clock;
  struct rd_anchor start, stop;
  struct rd_rate first, rate;
  (void) state;
  if (!rd_clock_has_tsc ())
    skip ();
  rd_clock_choose (&clock, false);
  rd_clock_rate (&clock, &first);
  rd_clock_anchor (&clock, &start);
  uint64_t second = rd_rate_ticks (&first, 1000000000);
  static const double jumps[] = { -5, -1, -0.5, 0, 0.5, 100 };
  for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
    stop.ns = start.ns + 1000000000;
    stop.ticks = start.ticks + second
                 + (uint64_t) (int64_t) (jumps[i] * (double) second);
    bool agrees = rd_clock_rate_between (&clock, &start, &stop, &rate);
    assert_int_equal (agrees, i == 3);
    double change = rd_rate_ns_per_tick (&rate)
                    / rd_rate_ns_per_tick (&first);
    assert_true (fabs (change - 1) < 0.1);
  }
}

static void
cpu_time_grows_with_work (void **state)
{
  struct rd_clock clock;
  (void) state;
  rd_clock_choose (&clock, false);
  uint64_t before = rd_clock_cpu_ns (&clock);
  for (volatile int i = 0; i < 1000000; i++)
    continue;
  assert_true (rd_clock_cpu_ns (&clock) > before);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_rate_of_one_is_exact),
    cmocka_unit_test (a_tests_clock_has_its_own_rate),
    cmocka_unit_test (conversion_to_nanoseconds_is_monotonic),
    cmocka_unit_test (a_tests_clock_replaces_all_clocks),
    cmocka_unit_test (the_portable_clock_is_clock_monotonic),
    cmocka_unit_test (the_counter_agrees_with_the_system_clock),
    cmocka_unit_test (a_short_recording_has_the_rate_of_the_process),
    cmocka_unit_test (a_counter_that_jumped_has_its_first_rate),
    cmocka_unit_test (cpu_time_grows_with_work),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
