/* SPDX-License-Identifier: MIT */
/* Findings on the limits of arithmetic: each has a profile that triggers it,
 * and one that narrowly does not. */
#include <config.h>

#include "tests/profiler/model/found.h"

/* Returns a profile of 50 ms of "one" on two threads that may move 10 GB/s and
 * compute 40 GFLOP/s together. */
static struct radio_profile *
build_arithmetic (uint64_t nbytes, uint64_t flop)
{
  struct radio_profile *profile = BUILD_TWO ("place", 50, 0, "user", 50, 0);
  build_lane (profile, "worker");
  build_fact (profile, "limit memory bytes/s", "9000000000, 10000000000",
              false);
  build_fact (profile, "limit flop/s", "40000000000", false);
  build_fact (profile, "limit memory bytes/s, 1 thread", "7", false);
  build_fact (profile, "limit flop/s, 1 thread", "7", false);
  build_count (profile, 1, "bytes converted", "bytes", nbytes / 2);
  build_count (profile, 1, "bytes delivered", "bytes", nbytes / 2);
  build_count (profile, 1, "flop of clamp", "flop", flop / 2);
  build_count (profile, 1, "flop of linear", "flop", flop / 2);
  return profile;
}

static void
arithmetic_is_bound_by_the_limit_that_is_nearer (void **state)
{
  (void) state;
  assert_found (build_arithmetic (125000000, 100000000), "bound-by-memory",
                RADIO_FINDING_HINT, "'one' read and wrote 125 MB at 2.5 GB/s "
                "a thread, 50 % of 5 GB/s, and computed 2 GFLOP/s, 10 % of "
                "20: what a thread was measured to reach, 2 at a time; "
                "0.8 flop/B");
  assert_not_found (build_arithmetic (125000000, 100000000),
                    "bound-by-compute");
  assert_found (build_arithmetic (120000000, 100000000), "bound-by-neither",
                RADIO_FINDING_NOTE, "48 % of 5 GB/s");
  assert_found (build_arithmetic (125000000, 600000000), "bound-by-compute",
                RADIO_FINDING_HINT, "60 % of 20");
  assert_found (build_arithmetic (125000000, 490000000), "bound-by-memory",
                RADIO_FINDING_HINT, "49 % of 20");
  assert_not_found (build_arithmetic (125000000, 0), "bound-by-memory");
  /* Faster than memory can be: it was in a cache. */
  assert_found (build_arithmetic (280000000, 100000000), "bound-by-neither",
                RADIO_FINDING_NOTE, "112 % of 5 GB/s");
}

static void
limits_that_were_not_measured_bound_nothing (void **state)
{
  (void) state;
  struct radio_profile *profile = BUILD_TWO ("place", 50, 0, "user", 50, 0);
  build_count (profile, 1, "bytes delivered", "bytes", 1000000000);
  build_count (profile, 1, "flop", "flop", 1000000000);
  build_finish (profile);
  assert_null (find_finding (profile, "bound-by-memory"));
  assert_null (find_finding (profile, "bound-by-compute"));
  radio_profile_close (profile);
}

/* A run of an operation: times in ms. */
struct run {
  const char *name;
  uint64_t pages_ms, read_ms, copying_ms;
  uint64_t flop;
};

static void
add_run (struct radio_profile *profile, const struct run *run)
{
  uint32_t root = build_node (profile, RD_NO_INDEX, run->name, "operation");
  uint32_t size = build_node (profile, root, "256", "operation");
  uint32_t pages = build_node (profile, size, "fault in", "memory");
  uint32_t read = build_node (profile, size, "read", "operation");
  uint32_t place = build_node (profile, read, run->name, "place");
  uint64_t read_ns = run->read_ms * MS, pages_ns = run->pages_ms * MS;
  build_times (profile, root, 1, read_ns + pages_ns, 0, 0, 0);
  build_times (profile, size, 1, read_ns + pages_ns, 0, 0, 0);
  build_times (profile, pages, 1, pages_ns, pages_ns, pages_ns, 0);
  build_times (profile, read, 1, read_ns, 0, 0, 0);
  build_times (profile, place, 1, read_ns, read_ns, read_ns, 0);
  build_count (profile, size, "bytes of input", "bytes", 60000000);
  build_count (profile, size, "bytes touched", "bytes", 100000000);
  build_count (profile, size, "ns of copying as much", "count",
               run->copying_ms * MS);
  build_count (profile, place, "flop", "flop", run->flop);
  profile->info.wall_ns += read_ns + pages_ns;
}

static struct radio_profile *
build_runs (const struct run *runs, size_t n)
{
  struct radio_profile *profile = build_new ("runs");
  build_lane (profile, "main");
  build_fact (profile, "limit memory bytes/s, 1 thread", "1", false);
  build_fact (profile, "limit flop/s, 1 thread", "1000000000", false);
  for (size_t i = 0; i < n; i++)
    add_run (profile, &runs[i]);
  return profile;
}

/* Returns the profile of one run of 100 ms of reading. */
static struct radio_profile *
build_run (uint64_t pages_ms, uint64_t copying_ms, uint64_t mflop)
{
  const struct run run = { "clamp", pages_ms, 100, copying_ms,
                           mflop * 1000000 };
  return build_runs (&run, 1);
}

/* The fact of memory is of no cache, and is not used. */
static void
operations_are_compared_with_copies_of_their_size (void **state)
{
  (void) state;
  assert_found (build_run (0, 80, 10), "bound-by-memory", RADIO_FINDING_HINT,
                "clamp 80/10 %");
  assert_found (build_run (0, 50, 50), "bound-by-memory", RADIO_FINDING_HINT,
                "50 %");
  assert_found (build_run (0, 49, 50), "bound-by-compute", RADIO_FINDING_HINT,
                "clamp 50/49 %");
  assert_found (build_run (0, 49, 49), "bound-by-neither", RADIO_FINDING_NOTE,
                "clamp 49/49 %");
  assert_found (build_run (0, 111, 49), "bound-by-neither",
                RADIO_FINDING_NOTE, "clamp 111/49 %");
}

static void
voxels_that_are_not_read_are_not_copied (void **state)
{
  (void) state;
  struct radio_profile *profile = build_run (0, 80, 0);
  build_count (profile, 4, "bytes fetched", "bytes", 10000000);
  assert_found (profile, "bound-by-neither", RADIO_FINDING_NOTE,
                "clamp 40/0 %");
}

static void
new_pages_that_take_half_of_a_run_bound_it (void **state)
{
  (void) state;
  struct radio_profile *profile = build_run (100, 80, 0);
  build_finish (profile);
  assert_non_null (find_finding (profile, "bound-by-memory"));
  assert_non_null (find_finding (profile, "bound-by-pages"));
  radio_profile_close (profile);
  assert_found (build_run (100, 80, 0), "bound-by-pages", RADIO_FINDING_HINT,
                "clamp 50 %");
  assert_not_found (build_run (98, 80, 0), "bound-by-pages");
}

/* However many they are. */
static void
operations_with_one_limit_are_listed_together (void **state)
{
  (void) state;
  static const struct run runs[] = {
    { "clamp", 0, 100, 80, 0 }, { "flip", 0, 100, 70, 0 },
    { "gamma", 0, 100, 5, 60000000 },
  };
  assert_found (build_runs (runs, 3), "bound-by-memory", RADIO_FINDING_HINT,
                "clamp 80/0 %, flip 70/0 %");
  assert_found (build_runs (runs, 3), "bound-by-compute", RADIO_FINDING_HINT,
                "gamma 60/5 %");
  /* All that radio profile op all has are named. */
  static const char *const all[] = {
    "read", "linear", "clamp", "rescale", "window", "gamma", "znorm", "noise",
    "saturate", "crop", "pad", "crop-or-pad", "flip", "rot90", "reorient",
    "resample", "to", "smooth", "affine",
  };
  enum { NALL = sizeof all / sizeof *all };
  struct run each[NALL];
  for (int i = 0; i < NALL; i++)
    each[i] = (struct run) { all[i], 0, 100, 10, 20000000 };
  assert_found (build_runs (each, NALL), "bound-by-neither",
                RADIO_FINDING_NOTE, "affine 10/20 %; else");
  struct run many[60];
  char names[60][8];
  for (int i = 0; i < 60; i++) {
    snprintf (names[i], sizeof names[i], "op%d", i);
    many[i] = (struct run) { names[i], 0, 100, 80, 0 };
  }
  assert_found (build_runs (many, 60), "bound-by-memory", RADIO_FINDING_HINT,
                " more");
}

/* Also in a file that has as many as this, each larger than the one before. */
static void
the_largest_of_many_sizes_is_found_at_once (void **state)
{
  (void) state;
  enum { NSIZES = 30000 };
  struct radio_profile *profile = build_runs (NULL, 0);
  uint32_t root = build_node (profile, RD_NO_INDEX, "clamp", "operation");
  for (uint64_t i = 1; i <= NSIZES; i++) {
    char name[16];
    snprintf (name, sizeof name, "%d", (int) i);
    uint32_t size = build_node (profile, root, name, "operation");
    build_times (profile, size, 1, i * 1000, i * 1000, i * 1000, 0);
    build_count (profile, size, "bytes touched", "bytes", 1000);
    build_count (profile, size, "ns of copying as much", "count",
                 i < NSIZES ? i * 100 : i * 800);
  }
  profile->info.wall_ns = 1000 * MS;
  assert_found (profile, "bound-by-memory", RADIO_FINDING_HINT,
                "clamp 80/0 %");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (arithmetic_is_bound_by_the_limit_that_is_nearer),
    cmocka_unit_test (limits_that_were_not_measured_bound_nothing),
    cmocka_unit_test (operations_are_compared_with_copies_of_their_size),
    cmocka_unit_test (voxels_that_are_not_read_are_not_copied),
    cmocka_unit_test (new_pages_that_take_half_of_a_run_bound_it),
    cmocka_unit_test (operations_with_one_limit_are_listed_together),
    cmocka_unit_test (the_largest_of_many_sizes_is_found_at_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
