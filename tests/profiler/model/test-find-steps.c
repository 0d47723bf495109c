/* SPDX-License-Identifier: MIT */
/* Numbered steps: the first and slow ones against the median. */
#include <config.h>

#include "tests/profiler/model/found.h"

#include <radio/profile.h>

/* n steps of 10 ms, each with 4 ms in "read"; one takes more, in "read". */
static struct radio_profile *
build_steps (size_t n, size_t slow, uint64_t more_ms)
{
  struct radio_profile *profile = build_new ("training");
  uint32_t lane = build_lane (profile, "main");
  uint32_t step = build_node (profile, RD_NO_INDEX, "step",
                              RADIO_STEP_CATEGORY);
  uint32_t read = build_node (profile, step, "read", "disk");
  uint64_t now = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t more = i == slow ? more_ms * MS : 0;
    uint32_t id = build_span (profile, lane, step, 0, now, 10 * MS + more);
    build_last (profile)->tile = 1 + i;
    build_span (profile, lane, read, id, now + MS, 4 * MS + more);
    now += 10 * MS + more;
  }
  return profile;
}

static void
a_slow_step_is_reported_with_its_cause (void **state)
{
  (void) state;
  assert_found (build_steps (100, 57, 20), "slow-steps", RADIO_FINDING_HINT,
                "step 57 took 30 ms, 3 x the median of 10 ms (100 steps); "
                "'read' took 19.8 ms more than on average");
  assert_not_found (build_steps (100, 57, 20), "first-step");
  assert_not_found (build_steps (100, 57, 9), "slow-steps");

  /* Another step was slow, but not as slow. */
  struct radio_profile *profile = build_steps (100, 57, 20);
  profile->spans.at[2 * 31].duration_ns += 12 * MS;
  assert_found (profile, "slow-steps", RADIO_FINDING_HINT,
                "step 57 took 30 ms, 3 x the median of 10 ms (100 steps); "
                "'read' took 19.8 ms more than on average; 1 more took over 2 "
                "x the median");
}

/* 100 steps, in each of which the thread waits for 6 of 10 ms while 8 others
 * load.  Step 57 takes more: itself, or since the first nslow of these do. */
static struct radio_profile *
build_loading (uint64_t own_ms, uint64_t load_ms, size_t nslow)
{
  enum { NLOADERS = 8, NSTEPS = 100 };
  struct radio_profile *profile = build_new ("training");
  uint32_t lane = build_lane (profile, "main"), loaders[NLOADERS];
  for (size_t k = 0; k < NLOADERS; k++)
    loaders[k] = build_lane (profile, "loader");
  uint32_t step = build_node (profile, RD_NO_INDEX, "step",
                              RADIO_STEP_CATEGORY);
  uint32_t wait = build_node (profile, step, "wait for batch", "queue");
  uint32_t load = build_edge_node (profile, step, "load", "user",
                                   RADIO_EDGE_HANDOFF);
  uint64_t now = 0;
  for (size_t i = 0; i < NSTEPS; i++) {
    uint64_t own = i == 57 ? own_ms * MS : 0;
    uint64_t longer = i == 57 ? load_ms * MS : 0;
    uint32_t id = build_span (profile, lane, step, 0, now,
                              10 * MS + own + longer);
    build_last (profile)->tile = 1 + i;
    build_span (profile, lane, wait, id, now + MS, 6 * MS + longer);
    build_last (profile)->wait_ns = 6 * MS + longer;
    for (size_t k = 0; k < NLOADERS; k++)
      build_span (profile, loaders[k], load, id, now + MS,
                  6 * MS + (k < nslow ? longer : 0));
    now += 10 * MS + own + longer;
  }
  return profile;
}

static void
what_threads_did_at_once_is_no_cause_by_its_sum (void **state)
{
  (void) state;
  assert_found (build_loading (50, 0, 0), "slow-steps", RADIO_FINDING_HINT,
                "step 57 took 60 ms, 6 x the median of 10 ms (100 steps); "
                "'step' took 49.5 ms more than on average");
}

static void
what_a_step_waited_for_is_its_cause (void **state)
{
  (void) state;
  assert_found (build_loading (0, 36, 1), "slow-steps", RADIO_FINDING_HINT,
                "'load' took 35.6 ms more than on average");
  assert_found (build_loading (0, 36, 8), "slow-steps", RADIO_FINDING_HINT,
                "'load' took 285 ms more than on average, on several threads "
                "together");
}

static void
a_step_without_a_cpu_is_reported_so (void **state)
{
  (void) state;
  for (int i = 0; i < 2; i++) {
    struct radio_profile *profile = build_steps (100, 57, 20);
    profile->spans.at[2 * 57 + 1].starved_ns = (i ? 15 : 5) * MS;
    assert_found (profile, "slow-steps", RADIO_FINDING_HINT,
                  i ? "19.8 ms more than on average, and had no CPU for 15 ms"
                    : "19.8 ms more than on average");
  }
}

static void
the_first_step_is_reported_as_such (void **state)
{
  (void) state;
  assert_found (build_steps (100, 0, 20), "first-step", RADIO_FINDING_NOTE,
                "step 0 took 30 ms, 3 x the median of 10 ms (100 steps)");
  assert_not_found (build_steps (100, 0, 20), "slow-steps");
}

static void
few_steps_say_nothing (void **state)
{
  (void) state;
  assert_not_found (build_steps (7, 3, 20), "slow-steps");
  assert_not_found (build_steps (1, 0, 20), "first-step");
}

/* The log has the longest half of the steps: the median is then at most the end
 * of its octave, in the tree. */
static void
steps_that_the_log_dropped_count (void **state)
{
  (void) state;
  struct radio_profile *profile = build_steps (100, 57, 40);
  profile->nodes.at[0].calls += 900;
  profile->nodes.at[0].histogram[20] += 900;
  assert_found (profile, "slow-steps", RADIO_FINDING_HINT,
                "step 57 took 50 ms, more than 23.8 x the median of "
                "2.1 ms (1000 steps)");
}

/* Builds a ring that lost this many earlier steps; the first of those kept is
 * slow. */
static struct radio_profile *
build_ring (uint64_t nlost)
{
  struct radio_profile *profile = build_steps (100, 0, 40);
  build_fact (profile, "bytes of the ring", "4096", false);
  profile->nodes.at[0].calls += nlost;
  profile->nodes.at[0].histogram[20] += nlost;
  return profile;
}

static void
the_first_step_in_a_ring_is_a_later_one (void **state)
{
  (void) state;
  assert_found (build_ring (0), "first-step", RADIO_FINDING_NOTE,
                "step 0 took 50 ms");
  assert_not_found (build_ring (900), "first-step");
  assert_found (build_ring (900), "slow-steps", RADIO_FINDING_HINT,
                "step 0 took 50 ms, 5 x the median of 10 ms (the last 100 of "
                "1000 steps)");
}

/* Two loops of 20 steps, of 10 ms in 'train' and of 1 ms in 'validate'; the
 * shorter one has more steps, and the step 5 of each takes 40 ms. */
static void
each_loop_has_its_slow_steps (void **state)
{
  (void) state;
  static const char *const names[] = { "train", "validate" };
  struct radio_profile *profile = build_new ("training");
  uint32_t lane = build_lane (profile, "main");
  uint64_t now = 0;
  for (int k = 0; k < 2; k++) {
    uint32_t loop = build_node (profile, RD_NO_INDEX, names[k], "user");
    uint32_t step = build_node (profile, loop, "step", RADIO_STEP_CATEGORY);
    uint64_t usual = k ? 1 * MS : 10 * MS;
    for (uint64_t i = 0; i < (k ? 30 : 20); i++) {
      uint64_t took = i == 5 ? 40 * MS : usual;
      build_span (profile, lane, step, 0, now, took);
      build_last (profile)->tile = 1 + i;
      now += took;
    }
  }
  build_finish (profile);
  const char *expected[] = { "step 5 of 'validate' took 40 ms, 40 x",
                             "step 5 of 'train' took 40 ms, 4 x" };
  size_t nfound = 0;
  for (size_t i = 0; i < profile->info.nfindings; i++) {
    const struct radio_finding *finding = radio_profile_finding (profile, i);
    if (strcmp (finding->id, "slow-steps") == 0) {
      assert_true (nfound < 2);
      assert_non_null (strstr (finding->evidence, expected[nfound++]));
    }
  }
  assert_int_equal (nfound, 2);
  radio_profile_close (profile);
}

/* Work that a step hands to another thread is its own, even if it ends
 * later; what runs beside it is not. */
static void
a_step_has_what_it_caused_on_other_threads (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("training");
  uint32_t lane = build_lane (profile, "main");
  uint32_t worker = build_lane (profile, "worker");
  uint32_t other = build_lane (profile, "other");
  uint32_t step = build_node (profile, RD_NO_INDEX, "step",
                              RADIO_STEP_CATEGORY);
  uint32_t load = build_edge_node (profile, step, "load", "user",
                                   RADIO_EDGE_HANDOFF);
  uint32_t spin = build_node (profile, RD_NO_INDEX, "spin", "user");
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t took = i == 7 ? 80 * MS : 10 * MS;
    uint32_t id = build_span (profile, lane, step, 0, i * 100 * MS, took);
    build_last (profile)->tile = 1 + i;
    build_span (profile, worker, load, id, i * 100 * MS, took);
    build_span (profile, other, spin, 0, i * 100 * MS,
                i == 7 ? 99 * MS : 1 * MS);
  }
  assert_found (profile, "slow-steps", RADIO_FINDING_HINT, "'load' took");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_step_is_reported_with_its_cause),
    cmocka_unit_test (what_threads_did_at_once_is_no_cause_by_its_sum),
    cmocka_unit_test (what_a_step_waited_for_is_its_cause),
    cmocka_unit_test (a_step_without_a_cpu_is_reported_so),
    cmocka_unit_test (the_first_step_is_reported_as_such),
    cmocka_unit_test (few_steps_say_nothing),
    cmocka_unit_test (steps_that_the_log_dropped_count),
    cmocka_unit_test (the_first_step_in_a_ring_is_a_later_one),
    cmocka_unit_test (each_loop_has_its_slow_steps),
    cmocka_unit_test (a_step_has_what_it_caused_on_other_threads),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
