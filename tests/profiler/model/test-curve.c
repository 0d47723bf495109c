/* SPDX-License-Identifier: MIT */
/* The curve of a sweep, computed from its tree: its points, its numbers, its
 * finding, and its place in a page. */
#include <config.h>

#include "profiler/model/curve.h"
#include "tests/profiler/files/sink.h"
#include "tests/profiler/model/found.h"

/* Adds a box of the sweep.  A read below it delivers the bytes, as in the
 * command's sweeps. */
static uint32_t
build_box (struct radio_profile *profile, const char *name, size_t nruns,
           uint64_t nbytes)
{
  uint32_t box = build_node (profile, RD_NO_INDEX, name, "operation");
  uint32_t read = build_node (profile, box, "read", "operation");
  build_times (profile, box, nruns, nruns * MS, 0, 0, 0);
  build_times (profile, read, nruns, nruns * MS, nruns * MS, 0, 0);
  build_count (profile, read, "bytes delivered", "bytes", nruns * nbytes);
  return box;
}

static void
build_share (struct radio_profile *profile, uint32_t node, uint32_t part,
             uint64_t ns)
{
  struct radio_profile_share share = { 1, ns, 0, 0, 0 };
  assert_ok (rd_profile_add_share (profile, node, part, &share));
}

/* Four runs of a box of 8000 bytes (1, 2, 3 and 10 ms, in another order) and
 * one of 1000 bytes (0.5 ms), the large one first. */
static struct radio_profile *
build_sweep (const char *operation)
{
  static const uint64_t ms[] = { 3, 10, 1, 2 };
  struct radio_profile *profile = build_new ("sweep");
  uint32_t large = build_box (profile, "box 20", 4, 8000);
  uint32_t small = build_box (profile, "box 10", 4, 1000);
  build_lane (profile, "main");
  build_fact (profile, "operation", operation, false);
  profile->info.parts = RADIO_PARTS_RUNS;
  profile->info.wall_ns = 18 * MS;
  for (size_t i = 0; i < 4; i++) {
    const struct rd_profile_part part = { .name = "run", .wall_ns = 5 * MS };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    build_share (profile, large, index, ms[i] * MS);
    build_share (profile, small, index, MS / 2);
  }
  return profile;
}

static void
points_have_medians_and_quartiles_by_growing_size (void **state)
{
  (void) state;
  struct radio_profile *profile = build_sweep ("sweep");
  struct rd_curve curve;
  build_finish (profile);
  assert_ok (rd_profile_curve (profile, &curve));
  assert_int_equal (curve.n, 2);
  assert_string_equal (profile->nodes.at[curve.at[0].node].name, "box 10");
  assert_int_equal (curve.at[0].nbytes, 1000);
  assert_int_equal (curve.at[0].median_ns, MS / 2);
  assert_int_equal (curve.at[1].nbytes, 8000);
  assert_int_equal (curve.at[1].nruns, 4);
  assert_int_equal (curve.at[1].median_ns, 2500000);
  assert_int_equal (curve.at[1].low_ns, 1750000);
  assert_int_equal (curve.at[1].high_ns, 4750000);
  radio_profile_close (profile);
}

static void
the_finding_has_the_numbers_of_the_curve (void **state)
{
  (void) state;
  assert_found (build_sweep ("sweep"), "time-by-size", RADIO_FINDING_NOTE,
                "box 10 (1 kB) 500 us, 2 MB/s; box 20 (8 kB) 2.5 ms, 3.2 "
                "MB/s; 8 x the bytes take 5 x the time (medians)");
}

static void
only_a_sweep_of_runs_has_a_curve (void **state)
{
  (void) state;
  struct radio_profile *ranks = build_sweep ("sweep");
  ranks->info.parts = RADIO_PARTS_RANKS;
  assert_not_found (ranks, "time-by-size");
  assert_not_found (build_sweep ("slice"), "time-by-size");
}

/* A foreign file may have more roots than the command has sizes. */
static void
points_beyond_those_of_the_command_are_left_out (void **state)
{
  (void) state;
  struct radio_profile *profile = build_sweep ("sweep");
  for (unsigned i = 0; i < 2 * RD_CURVE_MAX_POINTS; i++) {
    char name[16];
    snprintf (name, sizeof name, "more %u", i);
    uint32_t box = build_box (profile, name, 1, 500 + i);
    build_share (profile, box, 0, MS);
  }
  struct rd_curve curve;
  build_finish (profile);
  assert_ok (rd_profile_curve (profile, &curve));
  assert_int_equal (curve.n, RD_CURVE_MAX_POINTS);
  for (size_t i = 1; i < curve.n; i++)
    assert_true (curve.at[i - 1].nbytes <= curve.at[i].nbytes);
  radio_profile_close (profile);
}

/* It comes after the part that a script hides, and before the views. */
static void
a_page_shows_the_curve_with_and_without_its_script (void **state)
{
  (void) state;
  struct radio_profile *profile = build_sweep ("sweep");
  build_finish (profile);
  char *page = sink_write (profile, RADIO_PROFILE_HTML, NULL).text;
  const char *fixed = strstr (page, "</main>");
  const char *curve = strstr (page, "<section id=\"curve\"");
  const char *app = strstr (page, "<div id=\"app\"");
  assert_true (fixed && curve && app && fixed < curve && curve < app);
  assert_non_null (strstr (curve, "points=\"42,128 298,"));
  assert_non_null (strstr (curve, ">box 20</th><td>8.00\302\240kB</td>"
                                  "<td>4</td><td>2.50\302\240ms</td>"
                                  "<td>1.75\302\240ms to 4.75\302\240ms</td>"
                                  "<td>3.20\302\240MB/s</td>"));
  assert_non_null (strstr (curve, "<td>500\302\240\302\265s</td>"));
  free (page);
  radio_profile_close (profile);
}

static void
other_pages_show_no_curve (void **state)
{
  (void) state;
  struct radio_profile *profile = build_sweep ("slice");
  build_finish (profile);
  char *page = sink_write (profile, RADIO_PROFILE_HTML, NULL).text;
  assert_null (strstr (page, "id=\"curve\""));
  free (page);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (points_have_medians_and_quartiles_by_growing_size),
    cmocka_unit_test (the_finding_has_the_numbers_of_the_curve),
    cmocka_unit_test (only_a_sweep_of_runs_has_a_curve),
    cmocka_unit_test (points_beyond_those_of_the_command_are_left_out),
    cmocka_unit_test (a_page_shows_the_curve_with_and_without_its_script),
    cmocka_unit_test (other_pages_show_no_curve),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
