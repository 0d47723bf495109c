/* SPDX-License-Identifier: MIT */
/* Comparing profiles: paths are paired, changes are found, and noise is called
 * noise. */
#include <config.h>

#include "tests/profiler/build.h"

/* Returns a profile of runs: root > a, each run with its total. */
static struct radio_profile *
new_runs (const uint64_t *totals, size_t n, const char *child)
{
  struct radio_profile *profile = build_new ("runs");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "operation");
  uint32_t below = build_node (profile, root, child, "decode");
  profile->info.parts = RADIO_PARTS_RUNS;
  for (size_t i = 0; i < n; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = totals[i] };
    uint32_t index;
    struct radio_profile_share all = { 1, totals[i], totals[i] / 2, 0, 0 };
    struct radio_profile_share half = { 4, totals[i] / 2, totals[i] / 2, 0, 0 };
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &all));
    assert_ok (rd_profile_add_share (profile, below, index, &half));
  }
  build_finish (profile);
  return profile;
}

static const struct radio_difference *
find_path (const struct radio_comparison *comparison, const char *name)
{
  for (size_t i = 0; i < radio_comparison_count (comparison); i++)
    if (strcmp (radio_comparison_get (comparison, i)->name, name) == 0)
      return radio_comparison_get (comparison, i);
  fail_msg ("no path '%s'", name);
  return NULL;
}

/* Compares two profiles, closes them, and returns a path.  Its name was the
 * comparison's. */
static struct radio_difference
compare_path (struct radio_profile *before, struct radio_profile *after,
              const char *name)
{
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (before, after, &comparison));
  struct radio_difference path = *find_path (comparison, name);
  path.name = NULL;
  radio_comparison_close (comparison);
  radio_profile_close (before);
  radio_profile_close (after);
  return path;
}

static const uint64_t slow[] = { 1000, 1020, 1010, 990, 1000 };
static const uint64_t fast[] = { 700, 720, 710, 690, 705 };
static const uint64_t slow_again[] = { 1005, 995, 1015, 1010, 985 };

static struct radio_difference
compare_runs (const uint64_t *before, const uint64_t *after)
{
  return compare_path (new_runs (before, 5, "a"), new_runs (after, 5, "a"),
                       "root");
}

static void
runs_that_differ_by_noise_are_unchanged (void **state)
{
  (void) state;
  struct radio_difference root = compare_runs (slow, slow_again);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  assert_true (root.delta_low_ns < 0 && root.delta_high_ns > 0);
}

static void
faster_and_slower_are_reported_with_their_interval (void **state)
{
  (void) state;
  struct radio_difference root = compare_runs (slow, fast);
  assert_int_equal (root.change, RADIO_CHANGE_FASTER);
  assert_int_equal (root.total_change, RADIO_CHANGE_FASTER);
  assert_int_equal (root.total_before_ns, 1004);      /* means */
  assert_int_equal (root.median_before_ns, 1000);
  assert_int_equal (root.median_after_ns, 705);
  assert_int_equal (root.self_after_ns, 352);
  assert_int_equal (root.calls_after, 1);
  assert_true (root.delta_low_ns < -295 && root.delta_high_ns > -295);
  assert_true (root.delta_high_ns < 0);
  root = compare_runs (fast, slow);
  assert_int_equal (root.change, RADIO_CHANGE_SLOWER);
  assert_true (root.delta_low_ns > 0);
}

/* Two processes of one program differ by some percent, however even their runs
 * are. */
static void
runs_without_any_spread_differ_by_more_than_the_floor (void **state)
{
  (void) state;
  static const uint64_t even[] = { 1000, 1000, 1000, 1000, 1000 };
  static const uint64_t near[] = { 1040, 1040, 1040, 1040, 1040 };
  static const uint64_t other[] = { 1060, 1060, 1060, 1060, 1060 };
  struct radio_difference root = compare_runs (even, even);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  root = compare_runs (even, near);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  assert_int_equal (root.delta_low_ns, 40);
  root = compare_runs (even, other);
  assert_int_equal (root.change, RADIO_CHANGE_SLOWER);
  root = compare_runs (other, even);
  assert_int_equal (root.change, RADIO_CHANGE_FASTER);
}

static void
single_runs_have_an_unknown_change (void **state)
{
  (void) state;
  struct radio_profile *a = build_specimen (), *b = build_specimen ();
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  assert_int_equal (radio_comparison_count (comparison), a->nodes.n);
  for (size_t i = 0; i < a->nodes.n; i++) {
    const struct radio_difference *path =
      radio_comparison_get (comparison, i);
    assert_int_equal (path->change, RADIO_CHANGE_UNKNOWN);
    assert_int_equal (path->before, path->after);
    assert_int_equal (path->total_before_ns,
                      a->nodes.at[path->before].total_ns);
    assert_int_equal (path->depth, a->nodes.at[path->before].depth);
    assert_int_equal (path->delta_low_ns, 0);
    assert_int_equal (path->delta_high_ns, 0);
  }
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

static void
paths_of_one_side_are_new_or_gone (void **state)
{
  (void) state;
  struct radio_profile *a = new_runs (slow, 5, "lz4");
  struct radio_profile *b = new_runs (fast, 5, "zstd");
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  assert_int_equal (radio_comparison_count (comparison), 3);
  const struct radio_difference *gone = find_path (comparison, "lz4");
  const struct radio_difference *new = find_path (comparison, "zstd");
  assert_int_equal (gone->change, RADIO_CHANGE_GONE);
  assert_int_equal (gone->after, RADIO_NO_PARENT);
  assert_int_equal (gone->total_before_ns, 502);
  assert_int_equal (gone->total_after_ns, 0);
  assert_int_equal (new->change, RADIO_CHANGE_NEW);
  assert_int_equal (new->before, RADIO_NO_PARENT);
  assert_int_equal (new->calls_after, 4);
  assert_int_equal (new->parent, 0);
  assert_int_equal (new->depth, 1);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

/* Returns runs of a root; the first few have a path below it. */
static struct radio_profile *
new_runs_some_with (size_t n, size_t npresent, const char *category)
{
  struct radio_profile *profile = build_new ("runs");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "operation");
  uint32_t wait = UINT32_MAX;
  if (npresent > 0)
    wait = build_node (profile, root, "wait", category);
  profile->info.parts = RADIO_PARTS_RUNS;
  for (size_t i = 0; i < n; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = 1000 };
    struct radio_profile_share share = { 1, 1000, 500, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &share));
    if (i < npresent)
      assert_ok (rd_profile_add_share (profile, wait, index, &share));
  }
  build_finish (profile);
  return profile;
}

static enum radio_change
change_of_wait (struct radio_profile *before, struct radio_profile *after)
{
  return compare_path (before, after, "wait").change;
}

/* If 3 of 10 runs have a path, chance puts all of them on one given side of 5
 * with 5/10 x 4/9 x 3/8 = 8 %; 4 of them with 2.4 %. */
static void
paths_of_a_few_runs_of_one_side_are_noise (void **state)
{
  (void) state;
  static const struct {
    size_t n, npresent, nother;
    bool belongs;
  } rows[] = {
    { 20, 1, 20, false }, { 20, 10, 20, false }, { 20, 11, 20, true },
    { 20, 20, 20, true }, { 5, 3, 5, false }, { 5, 4, 5, true },
    { 2, 1, 2, false }, { 2, 2, 2, true }, { 20, 19, 1, false },
    { 1, 1, 20, true },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t n = rows[i].n, npresent = rows[i].npresent;
    enum radio_change new = change_of_wait (
      new_runs_some_with (rows[i].nother, 0, "disk"),
      new_runs_some_with (n, npresent, "disk"));
    enum radio_change gone = change_of_wait (
      new_runs_some_with (n, npresent, "disk"),
      new_runs_some_with (rows[i].nother, 0, "disk"));
    assert_int_equal (new, rows[i].belongs ? RADIO_CHANGE_NEW
                                           : RADIO_CHANGE_NONE);
    assert_int_equal (gone, rows[i].belongs ? RADIO_CHANGE_GONE
                                            : RADIO_CHANGE_NONE);
  }
}

/* A thread's waiting for others follows from their times. */
static void
waiting_for_other_threads_is_no_change (void **state)
{
  (void) state;
  assert_int_equal (change_of_wait (new_runs_some_with (20, 20, "queue"),
                                    new_runs_some_with (20, 0, "queue")),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_wait (new_runs_some_with (20, 0, "queue"),
                                    new_runs_some_with (20, 20, "queue")),
                    RADIO_CHANGE_NONE);
}

/* A tree of paths, each below one before it; the last has no name. */
struct made_path {
  uint32_t parent;
  const char *name, *category;
  enum radio_edge edge;
  uint64_t total_ns, self_ns;
};

/* Returns 10 runs of them, that differ by less than 1 %. */
static struct radio_profile *
new_runs_of (const struct made_path *paths)
{
  struct radio_profile *profile = build_new ("runs");
  size_t n = 0;
  for (; paths[n].name; n++)
    build_edge_node (profile, n == 0 ? RD_NO_INDEX : paths[n].parent,
                     paths[n].name, paths[n].category, paths[n].edge);
  profile->info.parts = RADIO_PARTS_RUNS;
  for (uint64_t i = 0; i < 10; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = 10000 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    for (uint32_t k = 0; k < n; k++) {
      uint64_t jitter = paths[k].total_ns * (i * 7 % 10) / 1000;
      struct radio_profile_share share = {
        1, paths[k].total_ns + jitter, paths[k].self_ns, 0, 0
      };
      assert_ok (rd_profile_add_share (profile, k, index, &share));
    }
  }
  build_finish (profile);
  return profile;
}

static enum radio_change
change_of_total (const struct made_path *before, const struct made_path *after)
{
  struct radio_difference root
    = compare_path (new_runs_of (before), new_runs_of (after), "study");
  assert_true (root.delta_low_ns > 0 || root.delta_high_ns < 0);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  return root.total_change;
}

/* A thread that began late is no change of the program, though it is waited
 * for; one that has more to do is. */
static void
a_wait_for_other_threads_changes_no_total (void **state)
{
  (void) state;
  struct made_path before[] = {
    { 0, "study", "operation", RADIO_EDGE_CALL, 10000, 6000 },
    { 0, "label", "decode", RADIO_EDGE_HANDOFF, 3000, 3000 },
    { 0, "join", "io", RADIO_EDGE_CALL, 4000, 0 },
    { 2, "wait", "queue", RADIO_EDGE_CALL, 4000, 4000 },
    { 0, NULL, NULL, RADIO_EDGE_CALL, 0, 0 }
  };
  struct made_path late[5], more[5];
  memcpy (late, before, sizeof late);
  late[0].total_ns += 3000;
  late[2].total_ns += 3000;
  late[3].total_ns = late[3].self_ns = 7000;
  assert_int_equal (change_of_total (before, late), RADIO_CHANGE_NONE);
  assert_int_equal (change_of_total (late, before), RADIO_CHANGE_NONE);
  memcpy (more, late, sizeof more);
  more[1].total_ns = more[1].self_ns = 6000;
  assert_int_equal (change_of_total (before, more), RADIO_CHANGE_SLOWER);
  assert_int_equal (change_of_total (more, before), RADIO_CHANGE_FASTER);
  /* Another path that is faster explains no slower total. */
  more[1].total_ns = more[1].self_ns = 1000;
  assert_int_equal (change_of_total (before, more), RADIO_CHANGE_NONE);
}

/* Many small changes, none of which is called, are one of the total; what waits
 * on another thread is no part of it. */
static void
a_total_may_change_without_a_path_below (void **state)
{
  enum { NSMALL = 40 };
  struct made_path before[NSMALL + 4], after[NSMALL + 4];
  char names[NSMALL + 3][8];
  (void) state;
  before[0] = (struct made_path) {
    0, "study", "operation", RADIO_EDGE_CALL, NSMALL * 100, 0
  };
  before[1] = (struct made_path) {
    0, "label", "decode", RADIO_EDGE_HANDOFF, 3000, 0
  };
  before[2] = (struct made_path) {
    1, "wait", "queue", RADIO_EDGE_CALL, 3000, 3000
  };
  for (uint32_t i = 3; i < NSMALL + 3; i++) {
    snprintf (names[i], sizeof names[i], "%u", (unsigned) i);
    before[i] = (struct made_path) {
      0, names[i], "decode", RADIO_EDGE_CALL, 100, 100
    };
  }
  before[NSMALL + 3] = (struct made_path) { .name = NULL };
  memcpy (after, before, sizeof after);
  for (uint32_t i = 3; i < NSMALL + 3; i++)
    after[i].total_ns = after[i].self_ns = 120;
  after[0].total_ns = NSMALL * 120;
  after[1].total_ns = after[2].total_ns = after[2].self_ns
    = before[2].self_ns + NSMALL * 20;
  assert_int_equal (change_of_total (before, after), RADIO_CHANGE_SLOWER);
}

/* Returns 10 runs of a root with work that its own thread and others share,
 * differently in each run. */
static struct radio_profile *
new_shared_runs (uint64_t seed, uint64_t tile_ns)
{
  struct radio_profile *profile = build_new ("shared");
  uint32_t root = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t own = build_node (profile, root, "tile", "decode");
  uint32_t other = build_edge_node (profile, root, "tile", "decode",
                                    RADIO_EDGE_HANDOFF);
  profile->info.parts = RADIO_PARTS_RUNS;
  for (uint64_t i = 0; i < 10; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = 10000 };
    uint64_t n = (i * 7 + seed) % 9, jitter = i * 3 % 10;
    struct radio_profile_share all = { 1, 10000 + jitter, 1000 + jitter, 0,
                                       0 };
    struct radio_profile_share mine = { n, n * tile_ns, n * tile_ns, 0, 0 };
    struct radio_profile_share others = {
      10 - n, (10 - n) * tile_ns + jitter, (10 - n) * tile_ns + jitter, 0, 0
    };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &all));
    if (n > 0)
      assert_ok (rd_profile_add_share (profile, own, index, &mine));
    assert_ok (rd_profile_add_share (profile, other, index, &others));
  }
  build_finish (profile);
  return profile;
}

/* Which thread takes a tile is chance: a tile that takes 10 % longer is found
 * in the sum, which none of its parts shows. */
static void
paths_are_summed_over_threads_first (void **state)
{
  (void) state;
  struct radio_profile *a = new_shared_runs (0, 1000);
  struct radio_profile *b = new_shared_runs (4, 1100);
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  assert_int_equal (radio_comparison_count (comparison), 4);
  const struct radio_difference *tile = radio_comparison_get (comparison, 1);
  assert_string_equal (tile->name, "tile");
  assert_false (tile->is_split);
  assert_int_equal (tile->change, RADIO_CHANGE_SLOWER);
  assert_int_equal (tile->calls_before, 10);
  for (size_t i = 2; i < 4; i++) {
    const struct radio_difference *part
      = radio_comparison_get (comparison, i);
    assert_true (part->is_split);
    assert_int_equal (part->parent, 1);
    assert_int_equal (part->depth, 2);
    assert_int_equal (part->change, RADIO_CHANGE_NONE);
  }
  assert_int_equal (a->nodes.at[radio_comparison_get (comparison, 3)
                                  ->before].edge, RADIO_EDGE_HANDOFF);
  /* The root did not change itself. */
  const struct radio_difference *root = radio_comparison_get (comparison, 0);
  assert_int_equal (root->change, RADIO_CHANGE_NONE);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

/* How processes are distinguished: in containers all have the number 1. */
enum processes { UNKNOWN, PIDS, CONTAINERS };

/* Returns runs of several processes, two of each, whose times differ by
 * process. */
static struct radio_profile *
new_rounds (const uint64_t *totals, size_t n, enum processes by)
{
  struct radio_profile *profile = build_new ("rounds");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "operation");
  profile->info.parts = RADIO_PARTS_RUNS;
  for (size_t i = 0; i < 2 * n; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = totals[i / 2],
                                    .pid = by == PIDS ? 100 + i / 2
                                           : by == CONTAINERS,
                                    .process = by == CONTAINERS
                                               ? 900 + i / 2 : 0 };
    struct radio_profile_share share = { 1, totals[i / 2] + i % 2,
                                         totals[i / 2] + i % 2, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &share));
  }
  build_finish (profile);
  return profile;
}

static struct radio_difference
compare_rounds (const uint64_t *before, const uint64_t *after,
                enum processes by)
{
  return compare_path (new_rounds (before, 6, by),
                       new_rounds (after, 6, by), "root");
}

static enum radio_change
change_of_rounds (const uint64_t *before, const uint64_t *after,
                  enum processes by)
{
  return compare_rounds (before, after, by).change;
}

/* Processes of one program differed by up to 14 %, each beyond the spread of
 * its runs: so of one process each such a change is unclear. */
static void
an_operation_changes_by_more_than_processes_differ (void **state)
{
  (void) state;
  static const struct {
    uint64_t percent;
    enum radio_change of_one, of_many;
    bool is_unclear;
  } rows[] = {
    { 104, RADIO_CHANGE_NONE, RADIO_CHANGE_SLOWER, false },
    { 110, RADIO_CHANGE_NONE, RADIO_CHANGE_SLOWER, true },
    { 90, RADIO_CHANGE_NONE, RADIO_CHANGE_FASTER, true },
    { 120, RADIO_CHANGE_SLOWER, RADIO_CHANGE_SLOWER, false },
    { 80, RADIO_CHANGE_FASTER, RADIO_CHANGE_FASTER, false },
  };
  static const uint64_t before[] = { 1000, 1002, 999, 1001, 998, 1000 };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint64_t after[6];
    for (int k = 0; k < 6; k++)
      after[k] = before[k] * rows[i].percent / 100;
    struct radio_difference one = compare_rounds (before, after, UNKNOWN);
    struct radio_difference many = compare_rounds (before, after, PIDS);
    assert_int_equal (one.total_change, rows[i].of_one);
    assert_int_equal (one.is_unclear, rows[i].is_unclear);
    assert_int_equal (many.total_change, rows[i].of_many);
    assert_false (many.is_unclear);
  }
}

/* Most runs find in a cache what a few have to decode, and then all decode a
 * part: the median rises, but the mean falls. */
static void
what_mean_and_median_oppose_is_no_change (void **state)
{
  (void) state;
  static const uint64_t seldom[] = { 10, 10, 10, 10, 10, 2900 };
  static const uint64_t often[] = { 180, 181, 182, 180, 179, 180 };
  static const uint64_t always[] = { 900, 901, 902, 900, 899, 900 };
  assert_int_equal (change_of_rounds (seldom, often, UNKNOWN),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_rounds (often, seldom, UNKNOWN),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_rounds (seldom, always, UNKNOWN),
                    RADIO_CHANGE_SLOWER);
}

/* With several processes their spread is known, so smaller changes are found,
 * and larger ones may be noise. */
static void
runs_of_several_processes_count_as_rounds (void **state)
{
  (void) state;
  static const uint64_t even[] = { 1000, 1002, 999, 1001, 998, 1000 };
  static const uint64_t more[] = { 1030, 1031, 1029, 1032, 1030, 1028 };
  static const uint64_t wild[] = { 1000, 1200, 900, 1100, 1300, 1000 };
  static const uint64_t wilder[] = { 1100, 1300, 950, 1200, 1400, 1000 };
  assert_int_equal (change_of_rounds (even, more, PIDS),
                    RADIO_CHANGE_SLOWER);
  assert_int_equal (change_of_rounds (even, more, UNKNOWN),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_rounds (wild, wilder, PIDS),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_rounds (even, more, CONTAINERS),
                    RADIO_CHANGE_SLOWER);
  /* Six values in an order that looks correlated: but all are beyond all of
   * the others. */
  static const uint64_t few[] = { 4030, 4020, 4040, 4035, 4025, 4030 };
  static const uint64_t slower[] = { 4320, 4322, 4325, 4330, 4480, 4490 };
  assert_int_equal (change_of_rounds (few, slower, PIDS),
                    RADIO_CHANGE_SLOWER);
  assert_int_equal (change_of_rounds (wild, wilder, CONTAINERS),
                    RADIO_CHANGE_NONE);
}

/* Returns runs whose threads lacked CPUs, and waited for a disk: the caller
 * 200 ns, its helper more; and the caller for that. */
static struct radio_profile *
new_waiting_runs (uint64_t helper_ns)
{
  enum { NRUNS = 8 };
  static const char *const names[] = { "study", "wait", "label" };
  static const char *const categories[] = { "operation", "queue", "disk" };
  const struct radio_profile_share shares[] = {
    { 1, 1000 + helper_ns, 500, 300, 200 },
    { 1, 500 + helper_ns, 500 + helper_ns, 0, 0 },
    { 1, 300 + helper_ns, 300 + helper_ns, 300, 200 },
  };
  const uint64_t waits[] = { 200, 500 + helper_ns, helper_ns };
  struct radio_profile *profile = build_new ("waiting");
  profile->info.parts = RADIO_PARTS_RUNS;
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t node = build_edge_node (profile, k > 0 ? 0 : RD_NO_INDEX,
                                     names[k], categories[k],
                                     k == 2 ? RADIO_EDGE_HANDOFF
                                            : RADIO_EDGE_CALL);
    build_times (profile, node, NRUNS, NRUNS * shares[k].total_ns,
                 NRUNS * shares[k].self_ns, NRUNS * shares[k].work_ns,
                 NRUNS * waits[k]);
    profile->nodes.at[node].starved_ns = NRUNS * shares[k].starved_ns;
  }
  for (int i = 0; i < NRUNS; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = 1000 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    for (uint32_t k = 0; k < 3; k++)
      assert_ok (rd_profile_add_share (profile, k, index, &shares[k]));
  }
  build_finish (profile);
  return profile;
}

static void
waits_are_those_of_all_threads_but_for_others (void **state)
{
  (void) state;
  struct radio_profile *a = new_waiting_runs (400);
  struct radio_profile *b = new_waiting_runs (900);
  struct radio_comparison *comparison = NULL;
  struct radio_comparison_info info;
  assert_ok (radio_profile_compare (a, b, &comparison));
  radio_comparison_get_info (comparison, &info);
  assert_int_equal (info.basis, RADIO_BASIS_CPU);
  const struct radio_difference *study = radio_comparison_get (comparison, 0);
  assert_int_equal (study->wait_before_ns, 600);
  assert_int_equal (study->wait_after_ns, 1100);
  assert_int_equal (study->wait_change, RADIO_CHANGE_SLOWER);
  /* Runs that do not scatter leave no doubt. */
  assert_int_equal (study->wait_low_ns, 500);
  assert_int_equal (study->wait_high_ns, 500);
  assert_int_equal (study->total_change, RADIO_CHANGE_NONE);
  assert_int_equal (find_path (comparison, "label")->wait_after_ns, 0);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

/* For two roots of 100 ns each, and below the first a path on another thread.
 * part: that of the second root's lane; negative: the second root is in the
 * first's lane. */
static bool
is_summed (int part, enum radio_profile_parts parts, uint64_t wall_ns,
           uint64_t dropped_count)
{
  struct radio_profile *a = build_new ("a"), *b = build_new ("b");
  struct radio_comparison *comparison = NULL;
  struct radio_comparison_info info;
  uint32_t read = build_node (b, RD_NO_INDEX, "read", "");
  uint32_t write = build_node (b, RD_NO_INDEX, "write", "");
  uint32_t decode = build_edge_node (b, read, "decode", "",
                                     RADIO_EDGE_HANDOFF);
  uint32_t main_lane = build_lane (b, "main");
  uint32_t worker = build_lane (b, "worker");
  uint32_t second = part < 0 ? main_lane
                    : build_part_lane (b, "other", (uint32_t) part);
  for (int i = 0; i < 2 && parts != RADIO_PARTS_NONE; i++) {
    struct rd_profile_part one = { .name = "one", .wall_ns = wall_ns };
    uint32_t index;
    assert_ok (rd_profile_add_part (b, &one, &index));
  }
  b->info.parts = parts;
  b->info.wall_ns = wall_ns;
  b->info.dropped_count = dropped_count;
  uint32_t span = build_span (b, main_lane, read, 0, 0, 100);
  build_span (b, second, write, 0, 100, 100);
  build_span (b, worker, decode, span, 10, 50);
  build_finish (a);
  build_finish (b);
  assert_ok (radio_profile_compare (a, b, &comparison));
  radio_comparison_get_info (comparison, &info);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
  return info.is_summed;
}

/* By the log, whatever they took; where it lacks spans, by that. */
static void
roots_on_several_threads_are_a_sum_over_threads (void **state)
{
  (void) state;
  assert_false (is_summed (-1, RADIO_PARTS_NONE, 1000, 0));
  assert_false (is_summed (-1, RADIO_PARTS_NONE, 197, 0));
  assert_true (is_summed (0, RADIO_PARTS_NONE, 1000, 0));
  assert_false (is_summed (1, RADIO_PARTS_RUNS, 1000, 0));
  assert_true (is_summed (1, RADIO_PARTS_RANKS, 1000, 0));
  assert_true (is_summed (-1, RADIO_PARTS_NONE, 197, 1));
  assert_false (is_summed (-1, RADIO_PARTS_NONE, 198, 1));
}

static void
paths_are_listed_as_a_tree (void **state)
{
  (void) state;
  struct radio_profile *a = build_new ("a"), *b = build_new ("b");
  uint32_t root = build_node (a, RD_NO_INDEX, "root", "");
  uint32_t one = build_node (a, root, "one", "");
  build_node (a, root, "two", "");
  build_node (a, one, "three", "");
  build_finish (a);
  uint32_t other = build_node (b, RD_NO_INDEX, "other", "");
  root = build_node (b, RD_NO_INDEX, "root", "");
  build_node (b, other, "one", "");
  one = build_node (b, root, "one", "");
  build_node (b, one, "four", "");
  build_finish (b);
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  static const char *const names[] = {
    "root", "one", "three", "four", "two", "other", "one"
  };
  static const size_t parents[] = {
    RADIO_NO_PARENT, 0, 1, 1, 0, RADIO_NO_PARENT, 5
  };
  assert_int_equal (radio_comparison_count (comparison), 7);
  for (size_t i = 0; i < 7; i++) {
    const struct radio_difference *path =
      radio_comparison_get (comparison, i);
    assert_string_equal (path->name, names[i]);
    assert_int_equal (path->parent, parents[i]);
  }
  assert_null (radio_comparison_get (comparison, 7));
  radio_comparison_close (comparison);
  radio_comparison_close (NULL);
  radio_profile_close (a);
  radio_profile_close (b);
}

static void
empty_profiles_have_no_paths (void **state)
{
  (void) state;
  struct radio_profile *a = build_new ("a"), *b = build_specimen ();
  build_finish (a);
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, a, &comparison));
  assert_int_equal (radio_comparison_count (comparison), 0);
  radio_comparison_close (comparison);
  assert_ok (radio_profile_compare (a, b, &comparison));
  assert_int_equal (radio_comparison_count (comparison), b->nodes.n);
  assert_int_equal (radio_comparison_get (comparison, 0)->change,
                    RADIO_CHANGE_NEW);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (runs_that_differ_by_noise_are_unchanged),
    cmocka_unit_test (faster_and_slower_are_reported_with_their_interval),
    cmocka_unit_test (runs_without_any_spread_differ_by_more_than_the_floor),
    cmocka_unit_test (single_runs_have_an_unknown_change),
    cmocka_unit_test (paths_of_one_side_are_new_or_gone),
    cmocka_unit_test (paths_of_a_few_runs_of_one_side_are_noise),
    cmocka_unit_test (waiting_for_other_threads_is_no_change),
    cmocka_unit_test (a_wait_for_other_threads_changes_no_total),
    cmocka_unit_test (a_total_may_change_without_a_path_below),
    cmocka_unit_test (paths_are_summed_over_threads_first),
    cmocka_unit_test (an_operation_changes_by_more_than_processes_differ),
    cmocka_unit_test (what_mean_and_median_oppose_is_no_change),
    cmocka_unit_test (runs_of_several_processes_count_as_rounds),
    cmocka_unit_test (waits_are_those_of_all_threads_but_for_others),
    cmocka_unit_test (roots_on_several_threads_are_a_sum_over_threads),
    cmocka_unit_test (paths_are_listed_as_a_tree),
    cmocka_unit_test (empty_profiles_have_no_paths),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
