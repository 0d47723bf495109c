/* SPDX-License-Identifier: MIT */
/* The imbalance of a node's time over ranks. */
#include <config.h>

#include "tests/profiler/build.h"

/* Returns the imbalance of one node with these totals, one for each rank. */
static struct radio_imbalance
measure (const uint64_t *totals, size_t n)
{
  struct radio_profile *profile = build_new ("ranks");
  uint32_t node = build_node (profile, RD_NO_INDEX, "read", "operation");
  profile->info.parts = RADIO_PARTS_RANKS;
  for (size_t i = 0; i < n; i++) {
    struct rd_profile_part part = { .name = "rank" };
    struct radio_profile_share share = { 1, totals[i], 0, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, node, index, &share));
  }
  build_finish (profile);
  struct radio_imbalance imbalance;
  radio_profile_imbalance (profile, node, &imbalance);
  radio_profile_close (profile);
  return imbalance;
}

#define MEASURE(...)                                                    \
  measure ((const uint64_t[]) { __VA_ARGS__ },                          \
           sizeof ((const uint64_t[]) { __VA_ARGS__ })                  \
           / sizeof (uint64_t))

/* The same in microseconds. */
static struct radio_imbalance
measure_us (const uint64_t *totals, size_t n)
{
  uint64_t ns[8];
  assert_true (n <= 8);
  for (size_t i = 0; i < n; i++)
    ns[i] = 1000 * totals[i];
  return measure (ns, n);
}

#define MEASURE_US(...)                                                 \
  measure_us ((const uint64_t[]) { __VA_ARGS__ },                       \
              sizeof ((const uint64_t[]) { __VA_ARGS__ })               \
              / sizeof (uint64_t))

static void
even_ranks_have_an_imbalance_of_one (void **state)
{
  (void) state;
  struct radio_imbalance even = MEASURE (100, 100, 100, 100);
  assert_int_equal (even.mean_ns, 100);
  assert_int_equal (even.min_ns, 100);
  assert_int_equal (even.max_ns, 100);
  assert_true (even.imbalance == 1);
  assert_false (even.straggler);
}

static void
imbalance_is_the_slowest_over_the_mean (void **state)
{
  (void) state;
  struct radio_imbalance uneven = MEASURE (100, 200, 400, 100);
  assert_int_equal (uneven.mean_ns, 200);
  assert_int_equal (uneven.slowest, 2);
  assert_int_equal (uneven.min_ns, 100);
  assert_true (uneven.imbalance == 2);
}

static void
a_straggler_is_slower_by_half_and_by_more_than_the_others_spread (
  void **state)
{
  (void) state;
  /* In us: the median of all four is 10100, and 1.5 of it 15150. */
  assert_true (MEASURE_US (10000, 10200, 9800, 15200).straggler);
  assert_false (MEASURE_US (10000, 10200, 9800, 15100).straggler);
  /* The others lie between 5000 and 15000 themselves. */
  assert_false (MEASURE_US (5000, 10000, 15000, 10000, 19500).straggler);
  assert_true (MEASURE_US (5000, 10000, 15000, 10000, 20100).straggler);
}

static void
a_straggler_is_slower_by_a_millisecond_at_least (void **state)
{
  (void) state;
  assert_false (MEASURE_US (10, 10, 10, 1009).straggler);
  assert_true (MEASURE_US (10, 10, 10, 1010).straggler);
}

static void
two_slow_ranks_are_no_stragglers (void **state)
{
  (void) state;
  assert_false (MEASURE_US (10000, 10000, 10000, 30000, 30000).straggler);
}

static void
one_rank_is_no_straggler (void **state)
{
  (void) state;
  struct radio_imbalance one = MEASURE (100);
  assert_false (one.straggler);
  assert_true (one.imbalance == 1);
}

static void
ranks_without_time_have_no_imbalance (void **state)
{
  (void) state;
  struct radio_imbalance none = MEASURE (0, 0, 0);
  assert_true (none.imbalance == 0);
  assert_int_equal (none.mean_ns, 0);
  assert_int_equal (none.min_ns, 0);
}

static void
a_missing_node_has_no_imbalance (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct radio_imbalance imbalance;
  radio_profile_imbalance (profile, 9999, &imbalance);
  assert_true (imbalance.imbalance == 0);
  assert_int_equal (imbalance.max_ns, 0);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (even_ranks_have_an_imbalance_of_one),
    cmocka_unit_test (imbalance_is_the_slowest_over_the_mean),
    cmocka_unit_test (
      a_straggler_is_slower_by_half_and_by_more_than_the_others_spread),
    cmocka_unit_test (a_straggler_is_slower_by_a_millisecond_at_least),
    cmocka_unit_test (two_slow_ranks_are_no_stragglers),
    cmocka_unit_test (one_rank_is_no_straggler),
    cmocka_unit_test (ranks_without_time_have_no_imbalance),
    cmocka_unit_test (a_missing_node_has_no_imbalance),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
