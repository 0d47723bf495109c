/* SPDX-License-Identifier: MIT */
/* Every allocation of building, joining, cutting and so on fails once:
 * the failure is reported, and nothing leaks. */
#include <config.h>

#include "tests/alloc-fail.h"
#include "tests/profiler/build.h"

/* A step under test, with the profile it may start from. */
typedef enum radio_status step_fn (struct radio_profile *source);

static void
fail_each_allocation (step_fn *step, struct radio_profile *source)
{
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = step (source);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nth > 3);
      return;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
}

static enum radio_status
add_tree (struct radio_profile *profile)
{
  uint32_t node, counter, part;
  for (unsigned i = 0; i < 40; i++) {
    char name[20];
    snprintf (name, sizeof name, "n%u", i);
    struct radio_profile_node one = {
      .name = name, .category = "decode", .work_ns = 1000, .calls = 1,
      .total_ns = 1000, .self_ns = 1000,
      .parent = i ? i - 1 : RADIO_NO_PARENT,
    };
    RD_TRY (rd_profile_add_node (profile, &one, &node));
  }
  struct rd_profile_part run = { .name = "run" };
  struct radio_profile_share share = { 1, 1, 1, 0, 0 };
  RD_TRY (rd_profile_add_part (profile, &run, &part));
  RD_TRY (rd_profile_add_share (profile, node, part, &share));
  RD_TRY (rd_profile_add_counter (profile, "errors", "count", &counter));
  return rd_profile_add_value (profile, node, counter, 7);
}

static enum radio_status
add_log (struct radio_profile *profile)
{
  struct rd_lane lane = { .name = "main" };
  struct rd_span spans[] = {
    { .id = 1, .lane = RD_NO_INDEX, .duration_ns = 10 },
    { .id = 2, .lane = RD_NO_INDEX, .begin_ns = 5, .duration_ns = 10 },
    { .id = 3, .lane = 0, .begin_ns = 50, .duration_ns = 10 },
  };
  struct rd_note note = { .span = 1, .key = "file", .value = "a.nii" };
  struct rd_sample sample = { .time_ns = 5, .value = 1 };
  RD_TRY (rd_profile_add_lane (profile, &lane, NULL));
  for (size_t i = 0; i < 3; i++)
    RD_TRY (rd_profile_add_span (profile, &spans[i]));
  RD_TRY (rd_profile_add_note (profile, &note));
  RD_TRY (rd_profile_add_gauge (profile, "held", "bytes", &sample.gauge));
  RD_TRY (rd_profile_add_sample (profile, &sample));
  return rd_profile_add_fact (profile, "host", "scanner", true);
}

static enum radio_status
build (struct radio_profile *source)
{
  (void) source;
  RD_PROFILE_SCOPE struct radio_profile *profile = NULL;
  RD_TRY (rd_profile_new (&profile));
  RD_TRY (add_tree (profile));
  RD_TRY (add_log (profile));
  return rd_profile_finalize (profile);
}

static enum radio_status
join_runs (struct radio_profile *source)
{
  struct radio_profile *const two[] = { source, source };
  RD_PROFILE_SCOPE struct radio_profile *joined = NULL;
  return radio_profile_join (two, 2, RADIO_PARTS_RUNS, &joined);
}

static enum radio_status
join_ranks (struct radio_profile *source)
{
  struct radio_profile *const two[] = { source, source };
  RD_PROFILE_SCOPE struct radio_profile *joined = NULL;
  return radio_profile_join (two, 2, RADIO_PARTS_RANKS, &joined);
}

static enum radio_status
compare (struct radio_profile *source)
{
  struct radio_comparison *comparison = NULL;
  RD_TRY (radio_profile_compare (source, source, &comparison));
  radio_comparison_close (comparison);
  return RADIO_OK;
}

static enum radio_status
redact (struct radio_profile *source)
{
  RD_PROFILE_SCOPE struct radio_profile *redacted = NULL;
  return rd_profile_redact (source, "key", 3, &redacted);
}

static void
building_without_memory_fails_cleanly (void **state)
{
  (void) state;
  fail_each_allocation (build, NULL);
}

static void
joining_without_memory_fails_cleanly (void **state)
{
  (void) state;
  struct radio_profile *specimen = build_specimen ();
  fail_each_allocation (join_runs, specimen);
  fail_each_allocation (join_ranks, specimen);
  radio_profile_close (specimen);
}

static void
comparing_without_memory_fails_cleanly (void **state)
{
  (void) state;
  struct radio_profile *specimen = build_specimen ();
  fail_each_allocation (compare, specimen);
  radio_profile_close (specimen);
}

/* SHA-256 allocates inside its own library, which the failures do not
 * reach. */
static enum radio_status
cut (struct radio_profile *source)
{
  RD_PROFILE_SCOPE struct radio_profile *run = NULL;
  RD_TRY (rd_profile_of_run (source, 2, &run));
  return rd_profile_finalize (run);
}

static void
cutting_a_run_without_memory_fails_cleanly (void **state)
{
  struct radio_profile *specimen = build_specimen ();
  (void) state;
  fail_each_allocation (cut, specimen);
  radio_profile_close (specimen);
}

static void
redacting_without_memory_fails_cleanly (void **state)
{
  (void) state;
  struct radio_profile *specimen = build_specimen ();
  fail_each_allocation (redact, specimen);
  radio_profile_close (specimen);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (building_without_memory_fails_cleanly),
    cmocka_unit_test (joining_without_memory_fails_cleanly),
    cmocka_unit_test (comparing_without_memory_fails_cleanly),
    cmocka_unit_test (redacting_without_memory_fails_cleanly),
    cmocka_unit_test (cutting_a_run_without_memory_fails_cleanly),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
