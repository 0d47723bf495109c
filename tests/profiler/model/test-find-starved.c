/* SPDX-License-Identifier: MIT */
/* Findings where other processes had the CPUs: what must be said, and what
 * must not, since it would be true of the clock only. */
#include <config.h>

#include "tests/profiler/model/found.h"

/* 100 ms of work in two scopes of a category, of which a part was without a
 * CPU. */
static struct radio_profile *
build_starved (const char *category, uint64_t starved_ms)
{
  struct radio_profile *profile = BUILD_TWO (category, 80, 0, "user", 20, 0);
  profile->nodes.at[1].starved_ns = starved_ms * MS;
  build_fact (profile, "ncpus", "2", false);
  return profile;
}

/* A scope of a category that waits, and another one that works, of which a part
 * was without a CPU. */
static struct radio_profile *
build_beside_waits (const char *category, uint64_t wait_ms, uint64_t work_ms,
                    uint64_t starved_ms)
{
  struct radio_profile *profile
    = BUILD_TWO (category, 0, wait_ms, "user", work_ms, 0);
  profile->nodes.at[2].starved_ns = starved_ms * MS;
  return profile;
}

/* 75.2 % of the time was decoding, of which 10.5 % had a CPU. */
static void
decoding_without_a_cpu_does_not_bound (void **state)
{
  (void) state;
  struct radio_profile *profile
    = BUILD_TWO ("decode", 752, 0, "user", 248, 0);
  profile->nodes.at[1].starved_ns = 673 * MS;
  profile->nodes.at[2].starved_ns = 200 * MS;
  build_fact (profile, "ncpus", "2", false);
  build_count (profile, 1, "bytes decoded", "bytes", 158000000);
  build_finish (profile);
  assert_null (find_finding (profile, "bound-by-decode"));
  const struct radio_finding *first = radio_profile_finding (profile, 0);
  assert_string_equal (first->id, "starved");
  assert_int_equal (first->weight, RADIO_FINDING_PROBLEM);
  assert_string_equal (first->evidence,
                       "for 873 ms of their 1 s of work (87.3 %) threads "
                       "could run but had no CPU, 673 ms of it in 'one'; "
                       "other processes used the 2 CPUs: wall times include "
                       "that, times on CPUs do not");
  radio_profile_close (profile);
}

static void
every_category_is_starved_alike (void **state)
{
  (void) state;
  static const char *const pairs[][2] = {
    { "decode", "bound-by-decode" }, { "disk", "bound-by-files" },
    { "network", "bound-by-network" }, { "encode", "bound-by-encode" },
    { "place", "bound-by-place" }, { "metadata", "bound-by-metadata" },
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    assert_not_found (build_starved (pairs[i][0], 50), pairs[i][1]);
    assert_found (build_starved (pairs[i][0], 50), "starved",
                  RADIO_FINDING_PROBLEM, "50 ms of their 100 ms");
    assert_found (build_starved (pairs[i][0], 49), pairs[i][1],
                  RADIO_FINDING_HINT,
                  "31 ms of the threads' 51 ms on CPUs and waiting (60.8 %)");
  }
}

/* A fifth is said, half of it takes the place of all other causes. */
static void
starvation_is_reported_from_a_fifth_on (void **state)
{
  (void) state;
  assert_found (build_starved ("user", 20), "starved", RADIO_FINDING_HINT,
                "20 ms of their 100 ms of work (20 %)");
  assert_not_found (build_starved ("user", 19), "starved");
  struct radio_profile *brief = BUILD_TWO ("user", 12, 0, "user", 0, 0);
  brief->nodes.at[1].starved_ns = 10 * MS - 1;
  assert_not_found (brief, "starved");
}

/* 23 of 33 ms of work beside 1.59 s of waiting for a server are little. */
static void
short_starvation_beside_long_waits_hides_nothing (void **state)
{
  (void) state;
  assert_not_found (build_beside_waits ("network", 1590, 33, 23), "starved");
  assert_found (build_beside_waits ("network", 1590, 33, 23),
                "bound-by-network", RADIO_FINDING_PROBLEM, "1.59 s");
  assert_found (build_beside_waits ("network", 80, 100, 90), "starved",
                RADIO_FINDING_PROBLEM,
                "90 ms of their 180 ms of work and waiting (50 %)");
}

static void
the_cause_is_the_program_itself_if_it_has_more_threads_than_cpus (
  void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 50);
  build_lane (profile, "worker");
  build_lane (profile, "worker 2");
  build_fact (profile, "steal ns", "30000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "other processes, or this one's other threads, used the 2 "
                "CPUs, a hypervisor took 30 ms");
}

/* As of NumPy or OpenMP: 50 ms on CPUs were recorded. */
static void
the_cause_may_be_threads_without_scopes (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 50);
  build_fact (profile, "cpu ns", "74000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; other processes used the 2 CPUs");
  profile = build_starved ("user", 50);
  build_fact (profile, "cpu ns", "75000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "other processes, or this one's other threads, used the 2 "
                "CPUs");
}

/* As a container's, which threads that others did not hinder wait for. */
static void
a_quota_that_withheld_cpus_is_named (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 50);
  build_fact (profile, "throttled ns", "45000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; a quota of CPU time withheld CPUs for 45 ms: wall");
}

static void
others_have_the_cpus_only_for_what_a_quota_does_not_explain (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 50);
  build_fact (profile, "throttled ns", "44000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; a quota of CPU time withheld CPUs for 44 ms; for the "
                "rest other processes used the CPUs: wall");
  profile = build_starved ("user", 50);
  build_lane (profile, "worker");
  build_lane (profile, "worker 2");
  build_fact (profile, "throttled ns", "20000000", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "for 20 ms; for the rest other processes, or this one's other "
                "threads, used the CPUs: wall");
  profile = build_starved ("user", 50);
  build_fact (profile, "throttled ns", "9999999", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; other processes used the 2 CPUs: wall");
  profile = build_starved ("user", 50);
  build_fact (profile, "ncpus", "1", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; other processes used the only CPU: wall");
}

/* A run does not know that, but its process does. */
static void
a_slow_run_may_have_had_no_cpu_by_a_quota (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 50);
  build_fact (profile, RD_FACT_SLOW_TRIGGER, "one > 1 ms", false);
  assert_found (profile, "starved", RADIO_FINDING_PROBLEM,
                "'one'; other processes used the 2 CPUs, or a quota of CPU "
                "time withheld them: wall");
}

/* Rates are those of threads that run. */
static void
rates_are_of_the_time_on_cpus (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("decode", 40);
  build_count (profile, 1, "bytes decoded", "bytes", 80000000);
  assert_found (profile, "bound-by-decode", RADIO_FINDING_HINT,
                "80 MB at 2 GB/s a thread; 0.6 threads busy");
}

static void
one_thread_that_is_starved_leaves_no_cpus_unused (void **state)
{
  (void) state;
  assert_found (build_starved ("user", 19), "bound-by-one-thread",
                RADIO_FINDING_HINT, "81 ms of work in 100 ms");
  assert_not_found (build_starved ("user", 20), "bound-by-one-thread");
}

static void
waiting_for_starved_threads_is_no_queue (void **state)
{
  (void) state;
  assert_not_found (build_beside_waits ("queue", 200, 100, 60),
                    "bound-by-queueing");
  assert_found (build_beside_waits ("queue", 200, 100, 0),
                "bound-by-queueing", RADIO_FINDING_HINT, "66.7 %");
}

/* Where the kernel does not report starvation, nothing bounds. */
static void
a_process_without_cpu_time_is_bound_by_nothing_that_is_known (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("decode", 80, 0, "user", 20, 0);
  build_fact (profile, "cpu ns", "25000000", false);
  assert_not_found (profile, "bound-by-decode");
  profile = BUILD_TWO ("decode", 80, 0, "user", 20, 0);
  build_fact (profile, "cpu ns", "95000000", false);
  assert_found (profile, "bound-by-decode", RADIO_FINDING_PROBLEM, "80 %");
}

/* The time that a process slept is not starvation. */
static void
starvation_is_no_sleep (void **state)
{
  (void) state;
  struct radio_profile *profile = build_starved ("user", 70);
  build_fact (profile, "cpu ns", "29000000", false);
  assert_not_found (profile, "threads-off-cpu");
  profile = build_starved ("user", 70);
  build_fact (profile, "cpu ns", "15000000", false);
  assert_found (profile, "threads-off-cpu", RADIO_FINDING_HINT,
                "of 30 ms counted as work the process had 15 ms of CPU time "
                "(50 %): otherwise scopes slept, or the system had the CPU; "
                "work times");
}

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

static struct radio_profile *
build_files (uint64_t work_ms, uint64_t wait_ms, const char *block_nbytes)
{
  struct radio_profile *profile
    = BUILD_TWO ("disk", work_ms, wait_ms, "user", 0, 0);
  build_count (profile, 1, "bytes fetched", "bytes", 8000000);
  if (block_nbytes)
    build_fact (profile, "bytes read from disks", block_nbytes, false);
  return profile;
}

/* "Bound by the disk" and "Files were cold", with no block read. */
static void
without_a_block_read_no_disk_bounds_and_nothing_is_cold (void **state)
{
  (void) state;
  assert_not_found (build_files (20, 80, "0"), "bound-by-disk");
  assert_not_found (build_files (20, 80, "0"), "cold-files");
  assert_not_found (build_files (20, 80, "0"), "warm-files");
  assert_found (build_files (20, 80, "0"), "bound-by-files",
                RADIO_FINDING_PROBLEM, "; 0 B were read from disks");
  assert_found (build_files (95, 5, "0"), "warm-files", RADIO_FINDING_NOTE,
                "only 5 ms of the 100 ms");
  /* Nor where so little was read that it cannot have taken so long, as a page
   * fault of the program's own. */
  assert_found (build_files (20, 80, "19999"), "bound-by-files",
                RADIO_FINDING_PROBLEM, "; 20 kB were read from disks");
  assert_found (build_files (20, 80, "20000"), "bound-by-disk",
                RADIO_FINDING_PROBLEM, "; 20 kB were read from disks");
  struct radio_profile *writing = build_files (20, 80, "0");
  build_count (writing, 1, "bytes written", "bytes", 1);
  assert_found (writing, "bound-by-disk", RADIO_FINDING_PROBLEM, "100 ms");
}

static void
blocks_read_are_the_evidence_of_cold_files (void **state)
{
  (void) state;
  assert_found (build_files (90, 10, "4000000"), "cold-files",
                RADIO_FINDING_NOTE, "4 MB were read from disks for 8 MB "
                "fetched from files, and 10 ms of the 100 ms in reading was "
                "waiting (10 %)");
  assert_not_found (build_files (10, 90, "3999999"), "cold-files");
  assert_not_found (build_files (91, 9, "8000000"), "cold-files");
  assert_not_found (build_files (95, 5, "800000"), "warm-files");
  assert_found (build_files (50, 50, "8000000"), "bound-by-disk",
                RADIO_FINDING_PROBLEM, "8 MB were read from disks");
  assert_found (build_files (51, 49, "8000000"), "bound-by-files",
                RADIO_FINDING_PROBLEM, "8 MB were read from disks");
}

/*------------------------------------------------------------------------
 * The recorder, and ranks
 *----------------------------------------------------------------------*/

/* 7.8 % of the work by the clock was 41.5 % of the CPU time. */
static void
the_recorders_cost_is_a_part_of_the_cpu_time (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("user", 100, 0, "user", 0, 0);
  profile->nodes.at[1].starved_ns = 812 * MS / 10;
  profile->info.scope_count = 100000;
  profile->info.scope_cost_ns = 78;
  assert_found (profile, "profiler-overhead", RADIO_FINDING_PROBLEM,
                "7.8 ms, 41.5 % of the threads' CPU time");
}

/* Ranks with a root of their own each, of which the last may have another. */
static struct radio_profile *
build_ranks (const uint64_t ms[4], uint64_t alone_ms, uint64_t starved_ms)
{
  struct radio_profile *profile = build_new ("ranks");
  uint32_t train = build_node (profile, RD_NO_INDEX, "train", "user");
  uint32_t gather = build_node (profile, RD_NO_INDEX, "gather", "user");
  uint64_t sum = 0;
  profile->info.parts = RADIO_PARTS_RANKS;
  for (uint32_t i = 0; i < 4; i++) {
    char name[] = "rank 0";
    name[5] = (char) ('0' + i);
    struct rd_profile_part part = {
      .name = name, .wall_ns = (ms[i] + (i == 3 ? alone_ms : 0)) * MS,
      .work_ns = ms[i] * MS, .starved_ns = i == 3 ? starved_ms * MS : 0
    };
    struct radio_profile_share share = { 1, ms[i] * MS, ms[i] * MS, 0, 0 };
    struct radio_profile_share alone = {
      1, alone_ms * MS, alone_ms * MS, 0, 0
    };
    assert_ok (rd_profile_add_part (profile, &part, NULL));
    assert_ok (rd_profile_add_share (profile, train, i, &share));
    if (i == 3 && alone_ms > 0)
      assert_ok (rd_profile_add_share (profile, gather, i, &alone));
    sum += ms[i] * MS;
  }
  build_times (profile, train, 4, sum, sum, sum, 0);
  build_times (profile, gather, alone_ms > 0, alone_ms * MS, alone_ms * MS,
               alone_ms * MS, 0);
  return profile;
}

#define RANKS(alone, starved, ...) \
  build_ranks ((const uint64_t[4]) { __VA_ARGS__ }, alone, starved)

static void
what_one_rank_does_alone_makes_no_straggler (void **state)
{
  (void) state;
  assert_not_found (RANKS (900, 0, 100, 100, 100, 100), "straggler");
  assert_not_found (RANKS (900, 0, 100, 100, 100, 100), "imbalance");
  assert_found (RANKS (900, 0, 100, 100, 100, 200), "straggler",
                RADIO_FINDING_HINT, "'train' took 200 ms in rank 3");
}

static void
a_rank_that_lacked_cpus_is_no_imbalance_of_work (void **state)
{
  (void) state;
  assert_found (RANKS (0, 100, 100, 100, 100, 300), "straggler",
                RADIO_FINDING_NOTE, "; its threads had no CPU for 100 ms "
                "of their 300 ms of work");
  struct radio_profile *profile = RANKS (0, 100, 100, 100, 100, 300);
  build_finish (profile);
  assert_string_equal (find_finding (profile, "straggler")->title,
                       "One rank lacked CPUs more than the others");
  radio_profile_close (profile);
  profile = RANKS (0, 99, 100, 100, 100, 300);
  build_finish (profile);
  const struct radio_finding *finding = find_finding (profile, "straggler");
  assert_int_equal (finding->weight, RADIO_FINDING_PROBLEM);
  assert_null (strstr (finding->evidence, "no CPU"));
  radio_profile_close (profile);
  /* All lacked them alike. */
  profile = RANKS (0, 100, 100, 100, 100, 300);
  for (int i = 0; i < 3; i++)
    profile->parts.at[i].starved_ns = 100 * MS;
  build_finish (profile);
  assert_int_equal (find_finding (profile, "straggler")->weight,
                    RADIO_FINDING_PROBLEM);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (decoding_without_a_cpu_does_not_bound),
    cmocka_unit_test (every_category_is_starved_alike),
    cmocka_unit_test (starvation_is_reported_from_a_fifth_on),
    cmocka_unit_test (short_starvation_beside_long_waits_hides_nothing),
    cmocka_unit_test (
      the_cause_is_the_program_itself_if_it_has_more_threads_than_cpus),
    cmocka_unit_test (the_cause_may_be_threads_without_scopes),
    cmocka_unit_test (a_quota_that_withheld_cpus_is_named),
    cmocka_unit_test (
      others_have_the_cpus_only_for_what_a_quota_does_not_explain),
    cmocka_unit_test (a_slow_run_may_have_had_no_cpu_by_a_quota),
    cmocka_unit_test (rates_are_of_the_time_on_cpus),
    cmocka_unit_test (one_thread_that_is_starved_leaves_no_cpus_unused),
    cmocka_unit_test (waiting_for_starved_threads_is_no_queue),
    cmocka_unit_test (
      a_process_without_cpu_time_is_bound_by_nothing_that_is_known),
    cmocka_unit_test (starvation_is_no_sleep),
    cmocka_unit_test (
      without_a_block_read_no_disk_bounds_and_nothing_is_cold),
    cmocka_unit_test (blocks_read_are_the_evidence_of_cold_files),
    cmocka_unit_test (the_recorders_cost_is_a_part_of_the_cpu_time),
    cmocka_unit_test (what_one_rank_does_alone_makes_no_straggler),
    cmocka_unit_test (a_rank_that_lacked_cpus_is_no_imbalance_of_work),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
