/* SPDX-License-Identifier: MIT */
/* Findings of bottlenecks: each has a profile that triggers it, and one that
 * narrowly does not. */
#include <config.h>

#include "tests/profiler/model/found.h"

static void
a_category_that_takes_half_of_the_time_bounds (void **state)
{
  (void) state;
  static const char *const pairs[][2] = {
    { "decode", "bound-by-decode" }, { "disk", "bound-by-files" },
    { "network", "bound-by-network" }, { "encode", "bound-by-encode" },
    { "place", "bound-by-place" }, { "metadata", "bound-by-metadata" },
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    assert_found (BUILD_TWO (pairs[i][0], 30, 20, "user", 50, 0),
                  pairs[i][1], RADIO_FINDING_HINT, "50 ms of the threads' "
                  "100 ms (50 %), 50 ms of it in 'one'");
    assert_not_found (BUILD_TWO (pairs[i][0], 30, 19, "user", 51, 0),
                      pairs[i][1]);
  }
}

static void
three_quarters_are_a_problem (void **state)
{
  (void) state;
  assert_found (BUILD_TWO ("decode", 75, 0, "place", 25, 0),
                "bound-by-decode", RADIO_FINDING_PROBLEM, "(75 %)");
  assert_found (BUILD_TWO ("decode", 74, 0, "place", 26, 0),
                "bound-by-decode", RADIO_FINDING_HINT, "(74 %)");
}

static void
the_programs_own_scopes_bound_nothing (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("user", 100, 0, "user", 0, 0);
  build_finish (profile);
  assert_int_equal (profile->info.nfindings, 0);
  radio_profile_close (profile);
}

static void
bound_by_decode_gives_the_rate_and_the_threads (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("decode", 300, 0, "user", 0, 0);
  build_count (profile, 1, "bytes decoded", "bytes", 600000000);
  build_fact (profile, "ncpus", "8", false);
  assert_found (profile, "bound-by-decode", RADIO_FINDING_PROBLEM,
                "; 600 MB at 2 GB/s a thread; 3 threads busy at a time on "
                "8 CPUs");
}

/*------------------------------------------------------------------------
 * Requests
 *----------------------------------------------------------------------*/

/* Returns a profile of two requests that overlap and together are in flight
 * for `ms' of 100 ms, while a thread works for `work_ms'. */
static struct radio_profile *
build_requests (uint64_t ms, uint64_t work_ms)
{
  struct radio_profile *profile = build_new ("requests");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "user");
  uint32_t get = build_edge_node (profile, read, "GET", "network",
                                  RADIO_EDGE_ASYNC);
  profile->info.wall_ns = 100 * MS;
  build_span (profile, RD_NO_INDEX, get, 0, 10 * MS, (ms - 10) * MS);
  build_span (profile, RD_NO_INDEX, get, 0, 20 * MS, (ms - 10) * MS);
  build_count (profile, get, "bytes fetched", "bytes", 5000000);
  build_times (profile, read, 1, 100 * MS, 0, work_ms * MS, 0);
  return profile;
}

static void
requests_bound_when_threads_have_little_to_do (void **state)
{
  (void) state;
  assert_found (build_requests (50, 49), "bound-by-network",
                RADIO_FINDING_HINT, "in flight in 50 ms of 100 ms, while "
                "threads worked 49 % of it; 2 'GET' of 40 ms each; 5 MB at "
                "100 MB/s");
  assert_found (build_requests (80, 10), "bound-by-network",
                RADIO_FINDING_PROBLEM, "80 ms of 100 ms");
  assert_not_found (build_requests (49, 10), "bound-by-network");
  assert_not_found (build_requests (80, 50), "bound-by-network");
}

static void
phases_of_requests_are_not_counted_twice (void **state)
{
  (void) state;
  struct radio_profile *profile = build_requests (49, 10);
  uint32_t phase = build_edge_node (profile, 1, "body", "network",
                                    RADIO_EDGE_PHASE);
  build_span (profile, RD_NO_INDEX, phase, 1, 10 * MS, 39 * MS);
  build_finish (profile);
  assert_null (find_finding (profile, "bound-by-network"));
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Threads
 *----------------------------------------------------------------------*/

static void
threads_that_mostly_wait_for_each_other_are_reported (void **state)
{
  (void) state;
  assert_found (BUILD_TWO ("queue", 0, 60, "user", 40, 0),
                "bound-by-queueing", RADIO_FINDING_HINT,
                "60 ms of their 100 ms (60 %), 60 ms of it in 'one'");
  assert_not_found (BUILD_TWO ("queue", 0, 59, "user", 41, 0),
                    "bound-by-queueing");
}

static void
a_caller_that_waits_for_one_worker_is_no_queue (void **state)
{
  (void) state;
  assert_not_found (BUILD_TWO ("queue", 0, 100, "decode", 100, 0),
                    "bound-by-queueing");
}

static struct radio_profile *
build_one_thread (uint64_t work_ms, uint64_t wall_ms, const char *ncpus)
{
  struct radio_profile *profile = BUILD_TWO ("user", work_ms, 0, "user", 0, 0);
  profile->info.wall_ns = wall_ms * MS;
  if (ncpus)
    build_fact (profile, "ncpus", ncpus, false);
  return profile;
}

/* Returns a profile of two threads that work all the time, but have a CPU for
 * half of it. */
static struct radio_profile *
build_starved (void)
{
  struct radio_profile *profile = build_one_thread (200, 100, "2");
  build_fact (profile, RD_FACT_CPU_NS, "100000000", false);
  return profile;
}

static void
work_on_one_thread_is_reported_if_there_are_more_cpus (void **state)
{
  (void) state;
  assert_found (build_one_thread (100, 100, "8"), "bound-by-one-thread",
                RADIO_FINDING_HINT, "1 thread of 1 busy at a time on 8 "
                "CPUs, so 87.5 % of them was unused");
  assert_found (build_one_thread (70, 100, "2"), "bound-by-one-thread",
                RADIO_FINDING_HINT, "70 ms of work in 100 ms");
  assert_not_found (build_one_thread (69, 100, "2"), "bound-by-one-thread");
  assert_not_found (build_one_thread (131, 100, "2"),
                    "bound-by-one-thread");
  assert_not_found (build_one_thread (100, 100, "1"), "bound-by-one-thread");
  assert_not_found (build_one_thread (100, 100, NULL),
                    "bound-by-one-thread");
  assert_not_found (build_starved (), "bound-by-one-thread");
  /* Three threads of which each sleeps for most of the time are not one. */
  assert_not_found (BUILD_TWO ("user", 100, 100, "disk", 10, 90),
                    "bound-by-one-thread");
  assert_not_found (build_one_thread (100, 100, "4, 8"),
                    "bound-by-one-thread");
}

/* Nor where others had what it did not use. */
static void
cpus_of_other_processes_are_not_unused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_one_thread (100, 100, "2");
  build_fact (profile, RD_FACT_MACHINE_NS, "170000000", false);
  assert_not_found (profile, "bound-by-one-thread");
  profile = build_one_thread (100, 100, "2");
  build_fact (profile, RD_FACT_MACHINE_NS, "150000000", false);
  assert_found (profile, "bound-by-one-thread", RADIO_FINDING_HINT, "50 %");
  /* Over a longer time, including what was outside of scopes. */
  profile = build_one_thread (100, 100, "2");
  build_fact (profile, RD_FACT_MACHINE_NS, "170000000", false);
  build_fact (profile, RD_FACT_RECORDED_NS, "200000000", false);
  assert_found (profile, "bound-by-one-thread", RADIO_FINDING_HINT, "50 %");
}

/* A profile of a slow run does not know what was read from disks. */
static void
files_that_no_thread_waited_for_are_not_the_disk (void **state)
{
  (void) state;
  assert_not_found (BUILD_TWO ("disk", 100, 0, "user", 0, 0),
                    "bound-by-disk");
  assert_found (BUILD_TWO ("disk", 100, 0, "user", 0, 0), "bound-by-files",
                RADIO_FINDING_PROBLEM, "100 ms");
  struct radio_profile *unknown = BUILD_TWO ("disk", 20, 80, "user", 0, 0);
  build_count (unknown, 1, "bytes written", "bytes", 1);
  assert_found (unknown, "bound-by-files", RADIO_FINDING_PROBLEM,
                "100 ms of it in 'one'; it is not known if disks were read");
  assert_not_found (BUILD_TWO ("disk", 20, 80, "user", 0, 0),
                    "bound-by-disk");
}

static void
short_work_needs_no_second_thread (void **state)
{
  (void) state;
  assert_found (build_one_thread (10, 10, "2"), "bound-by-one-thread",
                RADIO_FINDING_HINT, "10 ms of work in 10 ms");
  assert_not_found (build_one_thread (9, 9, "2"), "bound-by-one-thread");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_category_that_takes_half_of_the_time_bounds),
    cmocka_unit_test (three_quarters_are_a_problem),
    cmocka_unit_test (the_programs_own_scopes_bound_nothing),
    cmocka_unit_test (bound_by_decode_gives_the_rate_and_the_threads),
    cmocka_unit_test (requests_bound_when_threads_have_little_to_do),
    cmocka_unit_test (phases_of_requests_are_not_counted_twice),
    cmocka_unit_test (threads_that_mostly_wait_for_each_other_are_reported),
    cmocka_unit_test (a_caller_that_waits_for_one_worker_is_no_queue),
    cmocka_unit_test (work_on_one_thread_is_reported_if_there_are_more_cpus),
    cmocka_unit_test (cpus_of_other_processes_are_not_unused),
    cmocka_unit_test (files_that_no_thread_waited_for_are_not_the_disk),
    cmocka_unit_test (short_work_needs_no_second_thread),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
