/* SPDX-License-Identifier: MIT */
/* The other findings: transfers, memory, the recorder, parts, and the order
 * of all. */
#include <config.h>

#include "tests/profiler/model/found.h"

/*------------------------------------------------------------------------
 * Transfers
 *----------------------------------------------------------------------*/

static struct radio_profile *
build_counts (const char *one, uint64_t n, const char *other, uint64_t m)
{
  struct radio_profile *profile = build_new ("counts");
  uint32_t node = build_node (profile, RD_NO_INDEX, "GET", "network");
  build_times (profile, node, 7, 0, 0, 0, 0);
  build_count (profile, node, one, "count", n);
  build_count (profile, node, other, "count", m);
  return profile;
}

static void
retries_are_reported (void **state)
{
  (void) state;
  assert_found (build_counts ("retries", 1, "requests", 100), "retries",
                RADIO_FINDING_HINT, "1 retry of 100 requests (1 %)");
  assert_found (build_counts ("retries", 1, "requests", 101), "retries",
                RADIO_FINDING_NOTE, "1 retry of 101 requests");
  assert_not_found (build_counts ("retries", 0, "requests", 100),
                    "retries");
}

static void
errors_are_a_problem (void **state)
{
  (void) state;
  assert_found (build_counts ("errors", 3, "requests", 100), "errors",
                RADIO_FINDING_PROBLEM,
                "3 errors, most in 'GET' (3 of its 7 calls)");
  assert_not_found (build_counts ("errors", 0, "requests", 100), "errors");
}

static void
a_cache_that_seldom_helps_is_reported (void **state)
{
  (void) state;
  assert_found (build_counts ("cache hits", 9, "cache misses", 11),
                "cache-misses", RADIO_FINDING_HINT,
                "9 of 20 lookups hit the cache (45 %)");
  assert_not_found (build_counts ("cache hits", 10, "cache misses", 10),
                    "cache-misses");
  assert_not_found (build_counts ("cache hits", 0, "cache misses", 19),
                    "cache-misses");
}

static void
a_cache_that_cold_runs_drop_is_not_reported (void **state)
{
  (void) state;
  static const char *const colds[] = {
    "cold", "meant to be cold, but was not all",
  };
  for (size_t i = 0; i < 2; i++) {
    struct radio_profile *profile
      = build_counts ("cache hits", 9, "cache misses", 11);
    build_fact (profile, "cache", colds[i], false);
    assert_not_found (profile, "cache-misses");
  }
  struct radio_profile *warm
    = build_counts ("cache hits", 9, "cache misses", 11);
  build_fact (warm, "cache", "warm", false);
  assert_found (warm, "cache-misses", RADIO_FINDING_HINT,
                "9 of 20 lookups hit the cache (45 %)");
}

/* Reading files takes work and wait, besides other work. */
static struct radio_profile *
build_disk (uint64_t work_ms, uint64_t wait_ms, uint64_t other_ms)
{
  struct radio_profile *profile =
    BUILD_TWO ("disk", work_ms, wait_ms, "user", other_ms, 0);
  build_count (profile, 1, "bytes fetched", "bytes", 1000);
  return profile;
}

static void
reading_for_microseconds_is_neither_cold_nor_warm (void **state)
{
  (void) state;
  struct radio_profile *profile = build_disk (1, 0, 0);
  profile->nodes.at[1].work_ns -= 1;
  assert_not_found (profile, "warm-files");
  assert_found (build_disk (1, 0, 0), "warm-files", RADIO_FINDING_NOTE,
                "of the 1 ms in reading files");
}

/* As of slow runs and killed processes: the wait may be for anything. */
static void
waiting_alone_is_no_evidence_of_cold_files (void **state)
{
  (void) state;
  assert_not_found (build_disk (0, 100, 0), "cold-files");
  assert_not_found (build_disk (0, 100, 0), "warm-files");
  struct radio_profile *profile = build_disk (0, 100, 0);
  build_fact (profile, "bytes read from disks", "1000", false);
  assert_found (profile, "cold-files", RADIO_FINDING_NOTE, "100 ms");
}

static void
no_waiting_indicates_warm_files (void **state)
{
  (void) state;
  assert_found (build_disk (91, 9, 0), "warm-files", RADIO_FINDING_NOTE,
                "only 9 ms of the 100 ms in reading files was waiting");
  assert_not_found (build_disk (90, 10, 0), "warm-files");
}

static void
reading_that_takes_little_is_neither (void **state)
{
  (void) state;
  struct radio_profile *profile = build_disk (0, 5, 95);
  build_fact (profile, "bytes read from disks", "1000", false);
  assert_found (profile, "cold-files", RADIO_FINDING_NOTE, "5 ms");
  profile = build_disk (0, 5, 96);
  build_fact (profile, "bytes read from disks", "1000", false);
  assert_not_found (profile, "cold-files");
}

static void
writing_files_is_neither_cold_nor_warm (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("disk", 0, 100, "user", 0, 0);
  build_count (profile, 1, "bytes written", "bytes", 1000);
  assert_not_found (profile, "cold-files");
}

/*------------------------------------------------------------------------
 * Memory
 *----------------------------------------------------------------------*/

static struct radio_profile *
build_churn (uint64_t calls, uint64_t nallocs, uint64_t ntiles)
{
  struct radio_profile *profile = build_new ("churn");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t inner = build_node (profile, read, "open", "operation");
  build_times (profile, read, calls, 0, 0, 0, 0);
  build_times (profile, inner, 1000 * calls, 0, 0, 0, 0);
  profile->nodes.at[inner].alloc_count = nallocs;
  profile->nodes.at[inner].alloc_nbytes = 64 * nallocs;
  profile->info.alloc_peak_nbytes = 128;
  build_count (profile, read, "tiles", "count", ntiles);
  return profile;
}

static void
many_allocations_per_operation_are_reported (void **state)
{
  (void) state;
  assert_found (build_churn (5, 1000, 0), "allocation-churn",
                RADIO_FINDING_HINT, "1000 allocations of 64 kB in 5 "
                "operations (200 each) and 0 tiles, where at most 128 B "
                "were allocated at a time; most in 'open'");
  assert_not_found (build_churn (5, 999, 0), "allocation-churn");
  assert_not_found (build_churn (6, 1000, 0), "allocation-churn");
  /* For a program that only uses the recorder. */
  assert_not_found (build_churn (0, 5000, 0), "allocation-churn");
}

static void
allocations_explained_by_tiles_are_not_churn (void **state)
{
  (void) state;
  assert_found (build_churn (1, 5000, 5000), "allocation-churn",
                RADIO_FINDING_HINT, "5000 tiles");
  assert_not_found (build_churn (1, 5000, 5001), "allocation-churn");
}

/* Between runs the file stays open, with its caches. */
static void
memory_held_between_runs_is_only_noted (void **state)
{
  (void) state;
  struct radio_profile *profile = build_churn (1, 10, 0);
  profile->nodes.at[1].alloc_live_nbytes = 65536;
  profile->nodes.at[1].alloc_nbytes = 131072;
  profile->info.parts = RADIO_PARTS_RUNS;
  assert_found (profile, "memory-held", RADIO_FINDING_NOTE,
                "open handles and their caches, or a leak");
}

static void
memory_that_is_never_released_is_reported (void **state)
{
  (void) state;
  for (uint64_t less = 0; less <= 1; less++) {
    struct radio_profile *profile = build_churn (1, 10, 0);
    profile->nodes.at[1].alloc_live_nbytes = 65536 - less;
    profile->nodes.at[1].alloc_nbytes = 131072;
    if (less == 0)
      assert_found (profile, "memory-held", RADIO_FINDING_HINT,
                    "65.5 kB of 131 kB allocated were not released when the "
                    "recording ended, 65.5 kB of it from 'open'");
    else
      assert_not_found (profile, "memory-held");
  }
}

/*------------------------------------------------------------------------
 * The recorder
 *----------------------------------------------------------------------*/

static struct radio_profile *
build_overhead (double cost_ns)
{
  struct radio_profile *profile = BUILD_TWO ("user", 100, 0, "user", 0, 0);
  profile->info.scope_count = 100000;
  profile->info.scope_cost_ns = cost_ns;
  return profile;
}

static void
overhead_is_reported_from_3_percent_on (void **state)
{
  (void) state;
  assert_found (build_overhead (30), "profiler-overhead",
                RADIO_FINDING_HINT, "100000 scopes of 30 ns are 3 ms, 3 % of "
                "the threads' CPU time; 'one' has 4 of them");
  assert_not_found (build_overhead (29.9), "profiler-overhead");
  assert_found (build_overhead (100), "profiler-overhead",
                RADIO_FINDING_PROBLEM, "10 %");
}

/* The program's scopes know nothing of them: beside 100 ms of work. */
static void
the_recorders_threads_are_a_part_of_its_cost (void **state)
{
  (void) state;
  struct radio_profile *profile = build_overhead (30);
  assert_ok (rd_profile_add_number (profile, RD_FACT_OWN_NS, 100 * MS));
  assert_found (profile, "profiler-overhead", RADIO_FINDING_PROBLEM,
                "100000 scopes of 30 ns are 3 ms, its own threads 100 ms: "
                "together 51.5 % of the threads' CPU time; 'one'");
}

/* The rest of the wall time is waiting: what the recorder's own threads did
 * then delayed nothing. */
static void
overhead_beside_hardly_any_work_is_no_problem (void **state)
{
  (void) state;
  enum { NONE, HINT, PROBLEM };
  static const struct {
    uint64_t work_ms, wall_ms, own_ms;
    int found;
  } cases[] = {
    { 1, 1410, 13, NONE }, { 1, 1410, 140, NONE }, { 1, 1410, 141, HINT },
    { 1, 1000000, 10, NONE }, { 1, 1000, 99, NONE }, { 1, 1000, 100, HINT },
    { 9, 1000, 100, HINT }, { 10, 1000, 100, PROBLEM },
    { 1, 130, 2, NONE }, { 1, 30, 2, NONE }, { 1, 30, 3, HINT },
    { 1, 10, 1, PROBLEM },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_profile *profile
      = BUILD_TWO ("user", cases[i].work_ms, 0, "user", 0, 0);
    profile->info.wall_ns = cases[i].wall_ms * MS;
    assert_ok (rd_profile_add_number (profile, RD_FACT_OWN_NS,
                                      cases[i].own_ms * MS));
    if (cases[i].found == NONE)
      assert_not_found (profile, "profiler-overhead");
    else if (cases[i].found == HINT)
      assert_found (profile, "profiler-overhead", RADIO_FINDING_HINT,
                    "of the program's");
    else
      assert_found (profile, "profiler-overhead", RADIO_FINDING_PROBLEM,
                    "of the threads' CPU time");
  }
}

static struct radio_profile *
build_log (uint64_t ndropped, size_t nspans)
{
  struct radio_profile *profile = build_new ("log");
  uint32_t node = build_node (profile, RD_NO_INDEX, "tile", "user");
  uint32_t lane = build_lane (profile, "main");
  for (size_t i = 0; i < nspans; i++)
    build_span (profile, lane, node, 0, 10 * i, 5);
  profile->nodes.at[node].dropped_count = ndropped;
  return profile;
}

static void
dropped_spans_are_reported (void **state)
{
  (void) state;
  struct radio_profile *throttled = build_log (30, 10);
  build_fact (throttled, "paths logged in part", "2", false);
  assert_found (throttled, "log-incomplete", RADIO_FINDING_NOTE,
                "30 of 40 spans were not kept (75 %), most of them of "
                "'tile'; of 2 paths, short and frequent, only long runs "
                "are logged; the call tree");
  assert_found (build_log (1, 10), "log-incomplete", RADIO_FINDING_NOTE,
                "of 'tile'; the call tree");
  assert_not_found (build_log (0, 10), "log-incomplete");
}

static void
a_profile_without_a_log_is_not_incomplete (void **state)
{
  (void) state;
  assert_not_found (build_log (30, 0), "log-incomplete");
}

static void
open_scopes_are_reported (void **state)
{
  (void) state;
  struct radio_profile *profile = build_log (0, 3);
  build_last (profile)->flags = RD_SPAN_OPEN;
  assert_found (profile, "open-scopes", RADIO_FINDING_NOTE,
                "1 scope had not ended when the recording did, the "
                "outermost in 'tile'");
  assert_not_found (build_log (0, 3), "open-scopes");
}

/*------------------------------------------------------------------------
 * Parts
 *----------------------------------------------------------------------*/

/* root > GET, with a time for each part.  GET's self time explains the
 * root's. */
static struct radio_profile *
build_parts (enum radio_profile_parts parts, const uint64_t *ms, size_t n)
{
  struct radio_profile *profile = build_new ("parts");
  uint32_t root = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t get = build_node (profile, root, "GET", "user");
  profile->info.parts = parts;
  for (size_t i = 0; i < n; i++) {
    char name[32];
    snprintf (name, sizeof name, "part %zu", i);
    struct rd_profile_part part = { .name = name, .wall_ns = ms[i] * MS };
    struct radio_profile_share all = { 1, ms[i] * MS, 0, 0, 0 };
    struct radio_profile_share own = { 1, ms[i] * MS, ms[i] * MS, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &all));
    assert_ok (rd_profile_add_share (profile, get, index, &own));
  }
  return profile;
}

#define BUILD_PARTS(parts, ...)                                         \
  build_parts (parts, (const uint64_t[]) { __VA_ARGS__ },               \
               sizeof ((const uint64_t[]) { __VA_ARGS__ })              \
               / sizeof (uint64_t))
#define RANKS(...) BUILD_PARTS (RADIO_PARTS_RANKS, __VA_ARGS__)
#define RUNS(...) BUILD_PARTS (RADIO_PARTS_RUNS, __VA_ARGS__)

static void
ranks_whose_times_vary_are_reported (void **state)
{
  (void) state;
  assert_found (RANKS (80, 120, 80, 120), "imbalance", RADIO_FINDING_HINT,
                "'read' took 120 ms in part 1, 100 ms on average over 4 "
                "(1.2 x), 80 ms in the fastest; 20 ms of the excess in "
                "'GET'");
  assert_not_found (RANKS (81, 119, 81, 119), "imbalance");
}

static void
a_straggler_is_named (void **state)
{
  (void) state;
  assert_found (RANKS (100, 100, 100, 160), "straggler", RADIO_FINDING_HINT,
                "160 ms in part 3");
  assert_found (RANKS (100, 100, 100, 400), "straggler",
                RADIO_FINDING_PROBLEM, "400 ms in part 3");
  assert_not_found (RANKS (100, 100, 160, 160), "straggler");
}

static void
a_first_run_that_was_slower_is_a_warm_up (void **state)
{
  (void) state;
  assert_found (RUNS (150, 100, 101, 99), "warm-up", RADIO_FINDING_NOTE,
                "150 ms in run 1, a median of 100 ms in the 3 others (1.5 "
                "x)");
  assert_not_found (RUNS (149, 100, 101, 99), "warm-up");
  assert_not_found (RUNS (150, 100, 151, 99), "warm-up");
  assert_not_found (RUNS (150, 100), "warm-up");
  /* Half of the first run's excess it had no CPU. */
  struct radio_profile *starved = RUNS (150, 100, 101, 99);
  starved->parts.at[0].starved_ns = 25 * MS;
  assert_not_found (starved, "warm-up");
  starved = RUNS (150, 100, 101, 99);
  starved->parts.at[0].starved_ns = 24 * MS;
  assert_found (starved, "warm-up", RADIO_FINDING_NOTE, "150 ms in run 1");
}

static void
runs_whose_times_vary_are_reported (void **state)
{
  (void) state;
  assert_found (RUNS (500, 100, 90, 110), "runs-scatter",
                RADIO_FINDING_HINT, "90 ms to 110 ms over 3 runs after "
                "the first, a range of 20 % of their median of 100 ms");
  assert_not_found (RUNS (500, 100, 91, 110), "runs-scatter");
}

static void
ranks_do_not_warm_up_and_runs_have_no_stragglers (void **state)
{
  (void) state;
  assert_not_found (RANKS (300, 100, 100, 100), "warm-up");
  assert_not_found (RUNS (300, 100, 100, 100), "straggler");
}

/* root alone, with a time in us for each part. */
static struct radio_profile *
build_short (enum radio_profile_parts parts, const uint64_t *us, size_t n)
{
  struct radio_profile *profile = build_new ("short");
  uint32_t root = build_node (profile, RD_NO_INDEX, "read", "operation");
  profile->info.parts = parts;
  for (size_t i = 0; i < n; i++) {
    struct rd_profile_part part = { .name = "part", .wall_ns = us[i] * 1000 };
    struct radio_profile_share all = { 1, us[i] * 1000, us[i] * 1000, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &all));
  }
  return profile;
}

#define BUILD_SHORT(parts, ...)                                         \
  build_short (parts, (const uint64_t[]) { __VA_ARGS__ },               \
               sizeof ((const uint64_t[]) { __VA_ARGS__ })              \
               / sizeof (uint64_t))

static void
differences_of_microseconds_are_not_reported (void **state)
{
  (void) state;
  assert_not_found (BUILD_SHORT (RADIO_PARTS_RANKS, 10, 10, 900),
                    "straggler");
  assert_not_found (BUILD_SHORT (RADIO_PARTS_RANKS, 100, 300, 100, 300),
                    "imbalance");
  assert_found (BUILD_SHORT (RADIO_PARTS_RANKS, 100, 100, 4000),
                "straggler", RADIO_FINDING_PROBLEM, "4 ms");
  assert_not_found (BUILD_SHORT (RADIO_PARTS_RUNS, 33, 10, 10, 10),
                    "warm-up");
  assert_not_found (BUILD_SHORT (RADIO_PARTS_RUNS, 20, 10, 50, 30),
                    "runs-scatter");
}

/* A node that takes a small part of a long time. */
static void
an_imbalance_of_less_than_1_percent_is_ignored (void **state)
{
  (void) state;
  struct radio_profile *profile = RANKS (10, 10, 40);
  profile->info.wall_ns = 3000 * MS;
  assert_not_found (profile, "straggler");
  profile = RANKS (10, 10, 40);
  profile->info.wall_ns = 1000 * MS;
  assert_found (profile, "straggler", RADIO_FINDING_PROBLEM, "40 ms");
}

static void
a_range_of_many_medians_is_reported_as_a_factor (void **state)
{
  (void) state;
  assert_found (RUNS (5, 10, 10, 650), "runs-scatter", RADIO_FINDING_HINT,
                "a range of 64 x their median of 10 ms");
}

/*------------------------------------------------------------------------
 * The process
 *----------------------------------------------------------------------*/

static void
a_failure_comes_before_all_else (void **state)
{
  (void) state;
  struct radio_profile *profile = build_counts ("errors", 3, "retries", 4);
  profile->info.wall_ns = 12 * MS;
  build_fact (profile, "failed", "ct/a: tile 0,1,2: checksum", true);
  build_finish (profile);
  const struct radio_finding *first = radio_profile_finding (profile, 0);
  assert_string_equal (first->id, "failed");
  assert_int_equal (first->weight, RADIO_FINDING_PROBLEM);
  assert_string_equal (first->evidence,
                       "within 12 ms: ct/a: tile 0,1,2: checksum");
  radio_profile_close (profile);
  assert_not_found (build_counts ("errors", 3, "retries", 4), "failed");
}

/* A read that calls a fetch, with the number of failures in 5 calls of
 * each. */
static struct radio_profile *
build_failures (uint64_t nreads, uint64_t nfetches)
{
  struct radio_profile *profile = build_new ("failures");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t fetch = build_node (profile, read, "fetch", "disk");
  build_times (profile, read, 5, 9 * MS, 0, 0, 0);
  build_times (profile, fetch, 5, 9 * MS, 9 * MS, 9 * MS, 0);
  build_count (profile, read, "failures", "count", nreads);
  build_count (profile, fetch, "failures", "count", nfetches);
  build_note (profile, 0, read, "failed", "not supported", false);
  build_note (profile, 0, fetch, "failed", "permission denied", false);
  return profile;
}

static void
the_innermost_failed_operation_is_reported (void **state)
{
  (void) state;
  assert_found (build_failures (2, 2), "failures", RADIO_FINDING_HINT,
                "2 of 5 'fetch' failed: permission denied");
  assert_found (build_failures (1, 0), "failures", RADIO_FINDING_HINT,
                "1 of 5 'read' failed: not supported");
  assert_not_found (build_failures (0, 0), "failures");
  struct radio_profile *several = build_failures (0, 3);
  several->notes.at[1].varies = true;
  assert_found (several, "failures", RADIO_FINDING_HINT,
                "3 of 5 'fetch' failed: permission denied, and other errors");
}

static void
an_answer_that_something_is_not_there_is_no_failure (void **state)
{
  (void) state;
  struct radio_profile *lacked = build_new ("lacked");
  uint32_t list = build_node (lacked, RD_NO_INDEX, "list", "operation");
  build_times (lacked, list, 1, 9 * MS, 0, 0, 0);
  build_count (lacked, list, "failures", "count", 1);
  build_note (lacked, 0, list, "failed", "not found", false);
  assert_not_found (lacked, "failures");
}

static void
the_message_of_a_failure_points_to_the_operation (void **state)
{
  (void) state;
  struct radio_profile *profile = build_failures (1, 1);
  build_fact (profile, "failed", "no access to ct/a", true);
  build_finish (profile);
  const struct radio_finding *first = radio_profile_finding (profile, 0);
  assert_string_equal (first->id, "failed");
  assert_string_equal (radio_profile_get_node (profile, first->node)->name,
                       "fetch");
  assert_null (find_finding (profile, "failures"));
  radio_profile_close (profile);
}

/* 100 ms of work by the clock, with the CPU time of the process. */
static struct radio_profile *
build_ran (const char *cpu_ns)
{
  struct radio_profile *profile = BUILD_TWO ("user", 60, 0, "decode", 40, 0);
  if (cpu_ns)
    build_fact (profile, "cpu ns", cpu_ns, false);
  build_fact (profile, "ncpus", "2", false);
  return profile;
}

static void
work_without_a_cpu_is_reported (void **state)
{
  (void) state;
  assert_found (build_ran ("25000000"), "threads-off-cpu",
                RADIO_FINDING_HINT,
                "of 100 ms counted as work the process had 25 ms of CPU time "
                "(25 %): otherwise scopes slept, or the system or other "
                "processes used the 2 CPUs; work");
  assert_found (build_ran ("79000000"), "threads-off-cpu",
                RADIO_FINDING_HINT, "79 ms of CPU time (79 %)");
  assert_not_found (build_ran ("80000000"), "threads-off-cpu");
  assert_not_found (build_ran ("900000000"), "threads-off-cpu");
  assert_not_found (build_ran ("damaged"), "threads-off-cpu");
  assert_not_found (build_ran (NULL), "threads-off-cpu");
}

static void
sleeping_scopes_are_not_work_on_one_thread (void **state)
{
  (void) state;
  assert_found (build_ran ("99000000"), "bound-by-one-thread",
                RADIO_FINDING_HINT, "99 ms of work in 100 ms");
  assert_not_found (build_ran ("25000000"), "bound-by-one-thread");
}

/*------------------------------------------------------------------------
 * Limits
 *----------------------------------------------------------------------*/

static struct radio_profile *
build_limit (const char *fact, const char *number)
{
  struct radio_profile *profile = build_new ("limits");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  build_fact (profile, fact, number, false);
  return profile;
}

static void
limits_that_were_reached_are_reported (void **state)
{
  (void) state;
  assert_found (build_limit ("scopes not recorded", "70000"),
                "limits-reached", RADIO_FINDING_HINT,
                "70000 scopes were counted into their parent");
  assert_found (build_limit ("threads not recorded", "1"), "limits-reached",
                RADIO_FINDING_HINT, "1 thread was not recorded");
  assert_found (build_limit ("counter values not kept", "5"),
                "limits-reached", RADIO_FINDING_HINT, "5 values were not");
  assert_found (build_limit ("texts not kept", "1"), "limits-reached",
                RADIO_FINDING_NOTE, "1 text was not kept");
  assert_found (build_limit ("gauge samples not kept", "9"),
                "limits-reached", RADIO_FINDING_NOTE, "9 samples were not");
  assert_not_found (build_limit ("texts not kept", "0"), "limits-reached");
  struct radio_profile *profile = build_limit ("texts not kept", "2");
  build_fact (profile, "threads not recorded", "3", false);
  assert_found (profile, "limits-reached", RADIO_FINDING_HINT,
                "3 threads were not recorded; 2 texts were not kept");
}

static void
a_ring_without_a_file_is_reported_with_the_cause (void **state)
{
  (void) state;
  const char *why = "/dev/shm/radio-ring-7: No space left on device";
  struct radio_profile *profile = build_limit ("no file of the ring", why);
  build_fact (profile, "bytes of the ring", "67108864", false);
  assert_found (profile, "ring-without-file", RADIO_FINDING_HINT,
                "/dev/shm/radio-ring-7: No space left on device: a kill would "
                "have left nothing to recover of the ring of 67.1 MB; ");
  assert_not_found (build_limit ("bytes of the ring", "67108864"),
                    "ring-without-file");
}

/*------------------------------------------------------------------------
 * All together
 *----------------------------------------------------------------------*/

/* Nearly everything at once. */
static struct radio_profile *
build_mess (void)
{
  struct radio_profile *profile = RUNS (500, 100, 50, 150);
  uint32_t disk = build_node (profile, 0, "pread", "disk");
  build_times (profile, disk, 10, 700 * MS, 700 * MS, 10 * MS, 690 * MS);
  build_count (profile, disk, "bytes fetched", "bytes", 80000000);
  build_count (profile, disk, "bytes asked", "bytes", 10000000);
  build_count (profile, disk, "bytes decoded", "bytes", 80000000);
  build_count (profile, disk, "bytes delivered", "bytes", 1000000);
  build_count (profile, disk, "retries", "count", 7);
  build_count (profile, disk, "errors", "count", 7);
  build_count (profile, disk, "cache misses", "count", 70);
  profile->nodes.at[disk].alloc_count = 10000;
  profile->nodes.at[disk].alloc_nbytes = 1000000;
  profile->nodes.at[disk].alloc_live_nbytes = 1000000;
  profile->nodes.at[disk].open_count = 1;
  profile->info.scope_cost_ns = 1000000;
  return profile;
}

static void
at_most_eight_are_reported_the_most_important_first (void **state)
{
  (void) state;
  struct radio_profile *profile = build_mess ();
  build_finish (profile);
  assert_int_equal (profile->info.nfindings, 8);
  for (size_t i = 1; i < 8; i++)
    assert_true (radio_profile_finding (profile, i)->weight
                 <= radio_profile_finding (profile, i - 1)->weight);
  assert_int_equal (radio_profile_finding (profile, 0)->weight,
                    RADIO_FINDING_PROBLEM);
  assert_non_null (find_finding (profile, "errors"));
  assert_non_null (find_finding (profile, "bound-by-files"));
  assert_non_null (find_finding (profile, "read-amplification"));
  assert_null (radio_profile_finding (profile, 8));
  radio_profile_close (profile);
}

static void
an_empty_profile_has_no_findings (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("nothing");
  build_finish (profile);
  assert_int_equal (profile->info.nfindings, 0);
  radio_profile_close (profile);
}

static void
numbers_at_their_limits_do_no_harm (void **state)
{
  (void) state;
  static const char *const counters[] = {
    "bytes asked", "bytes fetched", "bytes decoded", "bytes delivered",
    "tiles", "requests", "retries", "errors", "cache hits", "cache misses",
  };
  struct radio_profile *profile = RUNS (1, 2, 3, 4);
  for (uint32_t i = 0; i < 2; i++) {
    struct radio_profile_node *node = &profile->nodes.at[i];
    node->calls = node->total_ns = node->self_ns = INT64_MAX;
    node->work_ns = node->wait_ns = node->open_count = INT64_MAX;
    node->alloc_count = node->alloc_nbytes = INT64_MAX;
    node->alloc_live_nbytes = node->dropped_count = INT64_MAX;
    for (size_t j = 0; j < sizeof counters / sizeof counters[0]; j++)
      build_count (profile, i, counters[j], "count", INT64_MAX);
  }
  profile->info.scope_cost_ns = 1e9;
  build_fact (profile, "ncpus", "999999999999999999999999", false);
  build_finish (profile);
  for (size_t i = 0; i < profile->info.nfindings; i++)
    assert_true (strlen (radio_profile_finding (profile, i)->evidence) > 0);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (retries_are_reported),
    cmocka_unit_test (errors_are_a_problem),
    cmocka_unit_test (a_cache_that_seldom_helps_is_reported),
    cmocka_unit_test (a_cache_that_cold_runs_drop_is_not_reported),
    cmocka_unit_test (reading_for_microseconds_is_neither_cold_nor_warm),
    cmocka_unit_test (waiting_alone_is_no_evidence_of_cold_files),
    cmocka_unit_test (no_waiting_indicates_warm_files),
    cmocka_unit_test (reading_that_takes_little_is_neither),
    cmocka_unit_test (writing_files_is_neither_cold_nor_warm),
    cmocka_unit_test (many_allocations_per_operation_are_reported),
    cmocka_unit_test (allocations_explained_by_tiles_are_not_churn),
    cmocka_unit_test (memory_held_between_runs_is_only_noted),
    cmocka_unit_test (memory_that_is_never_released_is_reported),
    cmocka_unit_test (overhead_is_reported_from_3_percent_on),
    cmocka_unit_test (the_recorders_threads_are_a_part_of_its_cost),
    cmocka_unit_test (overhead_beside_hardly_any_work_is_no_problem),
    cmocka_unit_test (dropped_spans_are_reported),
    cmocka_unit_test (a_profile_without_a_log_is_not_incomplete),
    cmocka_unit_test (open_scopes_are_reported),
    cmocka_unit_test (ranks_whose_times_vary_are_reported),
    cmocka_unit_test (a_straggler_is_named),
    cmocka_unit_test (a_first_run_that_was_slower_is_a_warm_up),
    cmocka_unit_test (runs_whose_times_vary_are_reported),
    cmocka_unit_test (ranks_do_not_warm_up_and_runs_have_no_stragglers),
    cmocka_unit_test (differences_of_microseconds_are_not_reported),
    cmocka_unit_test (an_imbalance_of_less_than_1_percent_is_ignored),
    cmocka_unit_test (a_range_of_many_medians_is_reported_as_a_factor),
    cmocka_unit_test (a_failure_comes_before_all_else),
    cmocka_unit_test (the_innermost_failed_operation_is_reported),
    cmocka_unit_test (an_answer_that_something_is_not_there_is_no_failure),
    cmocka_unit_test (the_message_of_a_failure_points_to_the_operation),
    cmocka_unit_test (work_without_a_cpu_is_reported),
    cmocka_unit_test (sleeping_scopes_are_not_work_on_one_thread),
    cmocka_unit_test (limits_that_were_reached_are_reported),
    cmocka_unit_test (a_ring_without_a_file_is_reported_with_the_cause),
    cmocka_unit_test (
      at_most_eight_are_reported_the_most_important_first),
    cmocka_unit_test (an_empty_profile_has_no_findings),
    cmocka_unit_test (numbers_at_their_limits_do_no_harm),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
