/* SPDX-License-Identifier: MIT */
/* Comparing profiles: noise is classified as noise, changes are found, and
 * paths are paired.  Simulations are seeded. */
#include <config.h>

#include <math.h>

#include "tests/profiler/build.h"

#include "profiler/model/spread.h"

/* Returns a uniform number between 0 and 1, both excluded. */
static double
next_uniform (uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  uint64_t bits = (*state * 0x2545f4914f6cdd1d) >> 11;
  return ((double) bits + 0.5) / 9007199254740992.0;
}

static double
next_normal (uint64_t *state)
{
  double radius = sqrt (-2 * log (next_uniform (state)));
  return radius * cos (6.283185307179586 * next_uniform (state));
}

/* Times of runs around 10 ms, from different distributions. */
typedef double noise_fn (uint64_t *state);

static double
normal (uint64_t *state)
{
  return 1e7 + 2e5 * next_normal (state);
}

static double
skewed (uint64_t *state)
{
  return 1e7 * exp (0.5 * next_normal (state));
}

static double
with_outliers (uint64_t *state)
{
  double factor = next_uniform (state) < 0.1 ? 3 : 1;
  return factor * (1e7 + 2e5 * next_normal (state));
}

/* Most runs take equal time; every seventh is disturbed by other load. */
static double
disturbed (uint64_t *state)
{
  double extra = next_uniform (state) < 0.15 ? -log (next_uniform (state)) : 0;
  return 1e7 + 1e5 * next_normal (state) + 5e6 * extra;
}

static struct rd_spread
sample (noise_fn *noise, size_t n, double factor, uint64_t *state)
{
  uint64_t values[100], room[100];
  for (size_t i = 0; i < n; i++)
    values[i] = (uint64_t) (factor * noise (state));
  return rd_spread_of (values, n, room);
}

/* Returns how often in 1000 trials two sets of runs, the second slower by a
 * factor, are classified as different. */
static unsigned
count_changes_of (noise_fn *noise, size_t n, size_t m, double factor,
                  double alpha)
{
  unsigned count = 0;
  uint64_t state = 88172645463325252;
  for (unsigned i = 0; i < 1000; i++) {
    struct rd_spread before = sample (noise, n, 1, &state);
    struct rd_spread after = sample (noise, m, factor, &state);
    double low, high;
    rd_spread_interval (&before, &after, alpha, &low, &high);
    count += low > 0 || high < 0;
  }
  return count;
}

static unsigned
count_changes (noise_fn *noise, size_t n, size_t m, double factor)
{
  return count_changes_of (noise, n, m, factor, 0.05);
}

/* 95 % confidence allows 5 %; 7.5 % leaves room for the scatter of 1000 trials
 * (0.7 %) and for inexact estimates. */
static void
noise_is_classified_as_noise (void **state)
{
  (void) state;
  static noise_fn *const noises[] = {
    normal, skewed, with_outliers, disturbed
  };
  static const size_t sizes[][2] = {
    { 3, 3 }, { 3, 4 }, { 4, 4 }, { 5, 5 }, { 7, 7 }, { 10, 10 }, { 20, 20 },
    { 100, 100 }, { 3, 10 }, { 10, 3 }, { 5, 50 }, { 3, 100 },
  };
  for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
    for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
      unsigned n = count_changes (noises[i], sizes[j][0], sizes[j][1], 1);
      if (n > 75)
        fail_msg ("noise %zu, %zu and %zu runs: %u of 1000 called a change",
                  i, sizes[j][0], sizes[j][1], n);
    }
}

/* The same for the probability of one of ten paths: 0.5 %. */
static void
noise_is_noise_in_one_of_many_paths (void **state)
{
  (void) state;
  static noise_fn *const noises[] = {
    normal, skewed, with_outliers, disturbed
  };
  static const size_t sizes[] = { 3, 5, 10, 20, 100 };
  for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
    for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
      unsigned n = count_changes_of (noises[i], sizes[j], sizes[j], 1, 0.005);
      if (n > 15)
        fail_msg ("noise %zu, %zu runs: %u of 1000 called a change", i,
                  sizes[j], n);
    }
  assert_in_range (count_changes_of (normal, 20, 20, 1.05, 0.005), 950, 1000);
}

/* Times that follow each other are alike: an autoregressive process. */
static unsigned
count_changes_of_slow_noise (double r)
{
  unsigned count = 0;
  uint64_t state = 88172645463325252;
  for (unsigned i = 0; i < 1000; i++) {
    struct rd_spread spreads[2];
    double low, high;
    for (int k = 0; k < 2; k++) {
      uint64_t values[40], room[40];
      double value = next_normal (&state) / sqrt (1 - r * r);
      for (size_t j = 0; j < 40; j++) {
        value = r * value + next_normal (&state);
        values[j] = (uint64_t) (1e7 + 2e5 * value);
      }
      spreads[k] = rd_spread_of (values, 40, room);
    }
    rd_spread_interval (&spreads[0], &spreads[1], 0.05, &low, &high);
    count += low > 0 || high < 0;
  }
  return count;
}

/* Counted as independent they were called in 14 % and 30 %. */
static void
runs_that_follow_each_other_say_less (void **state)
{
  (void) state;
  assert_in_range (count_changes_of_slow_noise (0.3), 0, 80);
  assert_in_range (count_changes_of_slow_noise (0.6), 0, 120);
}

/* Many runs must not make the test insensitive either. */
static void
with_many_runs_about_5_percent_are_false_alarms (void **state)
{
  (void) state;
  unsigned n = count_changes (normal, 100, 100, 1);
  assert_in_range (n, 20, 75);
}

static void
a_change_that_is_well_above_the_noise_is_found (void **state)
{
  (void) state;
  assert_in_range (count_changes (normal, 5, 5, 1.2), 950, 1000);
  assert_in_range (count_changes (normal, 10, 10, 1.06), 900, 1000);
  assert_in_range (count_changes (normal, 100, 100, 1.02), 950, 1000);
  assert_in_range (count_changes (with_outliers, 20, 20, 1.06), 900, 1000);
}

/* The median of n normal values has a standard error of sqrt (pi / 2) sigma /
 * sqrt (n). */
static void
the_variance_of_a_median_is_estimated_well (void **state)
{
  (void) state;
  uint64_t random = 4711;
  double sum = 0;
  for (unsigned i = 0; i < 500; i++)
    sum += sqrt (sample (normal, 100, 1, &random).variance);
  double expected = 2e5 * sqrt (3.14159265 / 2) / 10;
  assert_true (sum / 500 > 0.9 * expected && sum / 500 < 1.1 * expected);
}

static void
a_median_is_the_middle_value (void **state)
{
  (void) state;
  uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 100, 2 }, one[] = { 7 };
  assert_true (rd_spread_of (odd, 3, NULL).median == 5);
  assert_true (rd_spread_of (even, 4, NULL).median == 3);
  assert_true (rd_spread_of (one, 1, NULL).median == 7);
  assert_true (rd_spread_of (one, 1, NULL).variance == 0);
}

/* The error of n values 0, 10, 20... is the range between the c-th and the
 * c-th last, (n + 1 - 2 c) * 10, divided by 2 z; c is (n + 1) / 2 - sqrt (n)
 * rounded to the nearest integer, halves upwards: 1.35 for 7, 1.67 for 8, 4.5
 * for 16. */
static void
the_order_of_the_variance_is_rounded_to_nearest (void **state)
{
  (void) state;
  static const struct {
    size_t n, c;
    double z;                 /* of the binomial tail up to c - 1 */
  } rows[] = {
    { 7, 1, 2.417559 }, { 8, 2, 1.809892 }, { 16, 5, 1.769486 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint64_t values[16];
    size_t n = rows[i].n;
    for (size_t j = 0; j < n; j++)
      values[j] = 10 * j;
    double error = 10 * (double) (n + 1 - 2 * rows[i].c) / (2 * rows[i].z);
    double variance = rd_spread_of (values, n, NULL).variance;
    if (fabs (sqrt (variance) - error) > 1e-4 * error)
      fail_msg ("%zu values: the error is %g instead of %g", n,
                sqrt (variance), error);
  }
}

/* With 3 runs: c = 1, z = 1.1503 (of 1/8), so the error is the range / 2.3007;
 * equal on both sides gives 4 degrees of freedom, t = 2.7764. */
static void
the_interval_agrees_with_the_formula (void **state)
{
  (void) state;
  uint64_t a[] = { 100, 110, 120 }, b[] = { 200, 210, 220 };
  struct rd_spread before = rd_spread_of (a, 3, NULL);
  struct rd_spread after = rd_spread_of (b, 3, NULL);
  double expected = 2.7764 * sqrt (2) * 20 / (2 * 1.150349);
  double low, high;
  rd_spread_interval (&before, &after, 0.05, &low, &high);
  assert_true (fabs (100 - low - expected) < 1e-3 * expected);
  assert_true (fabs (high - 100 - expected) < 1e-3 * expected);
}

static void
interval_of (const uint64_t *before, size_t n, const uint64_t *after,
             size_t m, double ends[2])
{
  uint64_t a[16], b[16];
  assert_true (n <= 16 && m <= 16);
  memcpy (a, before, n * sizeof a[0]);
  memcpy (b, after, m * sizeof b[0]);
  struct rd_spread spreads[] = {
    rd_spread_of (a, n, NULL), rd_spread_of (b, m, NULL)
  };
  rd_spread_interval (&spreads[0], &spreads[1], 0.05, &ends[0], &ends[1]);
}

static void
one_outlier_does_not_hide_a_change (void **state)
{
  (void) state;
  static const uint64_t before[] = { 100, 102, 101, 99, 5000 };
  static const uint64_t after[] = { 1700, 1690, 1710, 1705, 1695 };
  double ends[2];
  interval_of (before, 5, after, 5, ends);
  assert_true (ends[0] > 1500 && ends[1] < 1700);
  interval_of (after, 5, before, 5, ends);
  assert_true (ends[1] < -1500);
  /* Nor does one that is far below the others. */
  static const uint64_t late[] = { 1700, 1690, 1710, 1705, 3 };
  static const uint64_t later[] = { 1800, 1790, 1810, 1805, 1800 };
  interval_of (late, 5, later, 5, ends);
  assert_true (ends[0] > 0);
}

static void
two_outliers_are_not_ignored (void **state)
{
  (void) state;
  static const uint64_t before[] = { 100, 102, 101, 5000, 5100 };
  static const uint64_t after[] = { 1700, 1690, 1710, 1705, 1695 };
  double ends[2];
  interval_of (before, 5, after, 5, ends);
  assert_true (ends[0] < 0 && ends[1] > 0);
}

/* 3 runs, one of them an outlier: the formula's interval is 40 times as wide
 * as the change, yet no run of one side is near those of the other. */
static void
runs_beyond_all_of_the_other_side_are_a_change (void **state)
{
  (void) state;
  static const uint64_t before[] = { 100, 110, 120 };
  static const uint64_t after[] = { 1700, 1800, 5000 };
  double ends[2];
  interval_of (before, 3, after, 3, ends);
  assert_true (ends[0] == 1700 - 120 && ends[1] == 5000 - 100);
  interval_of (after, 3, before, 3, ends);
  assert_true (ends[0] == 100 - 5000 && ends[1] == 120 - 1700);
}

/* More doubt needs more distance: 3 and 3 runs are sorted by chance once in
 * 20. */
static void
few_runs_of_many_paths_must_be_far_apart (void **state)
{
  (void) state;
  uint64_t a[] = { 100, 110, 120 }, near[] = { 150, 250, 900 };
  uint64_t far[] = { 1700, 1800, 5000 };
  struct rd_spread before = rd_spread_of (a, 3, NULL);
  struct rd_spread other = rd_spread_of (near, 3, NULL);
  double low, high;
  rd_spread_interval (&before, &other, 0.05, &low, &high);
  assert_true (low == 150 - 120);
  rd_spread_interval (&before, &other, 0.005, &low, &high);
  assert_true (low < 0 && high > 0);
  other = rd_spread_of (far, 3, NULL);
  rd_spread_interval (&before, &other, 0.005, &low, &high);
  assert_true (low == 1700 - 120);
}

static void
runs_that_differ_by_less_than_their_spread_are_not (void **state)
{
  (void) state;
  static const uint64_t before[] = { 100, 110, 120 };
  static const uint64_t after[] = { 130, 140, 190 };
  static const uint64_t two[] = { 1700, 5000 };
  double ends[2];
  interval_of (before, 3, after, 3, ends);
  assert_true (ends[0] < 0 && ends[1] > 0);
  interval_of (before, 2, two, 2, ends);
  assert_true (ends[0] < 0 && ends[1] > 0);
}

/*------------------------------------------------------------------------
 * Paths
 *----------------------------------------------------------------------*/

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

static const uint64_t slow[] = { 1000, 1020, 1010, 990, 1000 };
static const uint64_t fast[] = { 700, 720, 710, 690, 705 };
static const uint64_t slow_again[] = { 1005, 995, 1015, 1010, 985 };

static void
compare_runs (const uint64_t *before, const uint64_t *after,
              struct radio_difference *root)
{
  struct radio_profile *a = new_runs (before, 5, "a");
  struct radio_profile *b = new_runs (after, 5, "a");
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  *root = *radio_comparison_get (comparison, 0);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
}

static void
runs_that_differ_by_noise_are_unchanged (void **state)
{
  (void) state;
  struct radio_difference root;
  compare_runs (slow, slow_again, &root);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  assert_true (root.delta_low_ns < 0 && root.delta_high_ns > 0);
}

static void
faster_and_slower_are_reported_with_their_interval (void **state)
{
  (void) state;
  struct radio_difference root;
  compare_runs (slow, fast, &root);
  assert_int_equal (root.change, RADIO_CHANGE_FASTER);
  assert_int_equal (root.total_change, RADIO_CHANGE_FASTER);
  assert_int_equal (root.total_before_ns, 1004);      /* means */
  assert_int_equal (root.median_before_ns, 1000);
  assert_int_equal (root.median_after_ns, 705);
  assert_int_equal (root.self_after_ns, 352);
  assert_int_equal (root.calls_after, 1);
  assert_true (root.delta_low_ns < -295 && root.delta_high_ns > -295);
  assert_true (root.delta_high_ns < 0);
  compare_runs (fast, slow, &root);
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
  struct radio_difference root;
  compare_runs (even, even, &root);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  compare_runs (even, near, &root);
  assert_int_equal (root.change, RADIO_CHANGE_NONE);
  assert_int_equal (root.delta_low_ns, 40);
  compare_runs (even, other, &root);
  assert_int_equal (root.change, RADIO_CHANGE_SLOWER);
  compare_runs (other, even, &root);
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
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (before, after, &comparison));
  enum radio_change change = find_path (comparison, "wait")->change;
  radio_comparison_close (comparison);
  radio_profile_close (before);
  radio_profile_close (after);
  return change;
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

/* Whether a thread waits for others, and how long, follows from theirs. */
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
  struct radio_profile *a = new_runs_of (before), *b = new_runs_of (after);
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  const struct radio_difference *root = radio_comparison_get (comparison, 0);
  enum radio_change change = root->total_change;
  assert_true (root->delta_low_ns > 0 || root->delta_high_ns < 0);
  assert_int_equal (root->change, RADIO_CHANGE_NONE);
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
  return change;
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
    after[i].total_ns = after[i].self_ns = 110;
  after[0].total_ns = NSMALL * 110;
  after[1].total_ns = after[2].total_ns = after[2].self_ns
    = before[2].self_ns + NSMALL * 10;
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

/* Returns runs of several processes, two of each, whose times differ by
 * process. */
static struct radio_profile *
new_rounds (const uint64_t *totals, size_t n, bool has_pids)
{
  struct radio_profile *profile = build_new ("rounds");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "operation");
  profile->info.parts = RADIO_PARTS_RUNS;
  for (size_t i = 0; i < 2 * n; i++) {
    struct rd_profile_part part = { .name = "run", .wall_ns = totals[i / 2],
                                    .pid = has_pids ? 100 + i / 2 : 0 };
    struct radio_profile_share share = { 1, totals[i / 2] + i % 2,
                                         totals[i / 2] + i % 2, 0, 0 };
    uint32_t index;
    assert_ok (rd_profile_add_part (profile, &part, &index));
    assert_ok (rd_profile_add_share (profile, root, index, &share));
  }
  build_finish (profile);
  return profile;
}

static enum radio_change
change_of_rounds (const uint64_t *before, const uint64_t *after,
                  bool has_pids)
{
  struct radio_profile *a = new_rounds (before, 6, has_pids);
  struct radio_profile *b = new_rounds (after, 6, has_pids);
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (a, b, &comparison));
  enum radio_change change = radio_comparison_get (comparison, 0)->change;
  radio_comparison_close (comparison);
  radio_profile_close (a);
  radio_profile_close (b);
  return change;
}

/* Of several processes it is known how much they differ, so that smaller
 * changes are found, and larger ones may be noise. */
static void
runs_of_several_processes_count_as_rounds (void **state)
{
  (void) state;
  static const uint64_t even[] = { 1000, 1002, 999, 1001, 998, 1000 };
  static const uint64_t more[] = { 1030, 1031, 1029, 1032, 1030, 1028 };
  static const uint64_t wild[] = { 1000, 1200, 900, 1100, 1300, 1000 };
  static const uint64_t wilder[] = { 1100, 1300, 950, 1200, 1400, 1000 };
  assert_int_equal (change_of_rounds (even, more, true),
                    RADIO_CHANGE_SLOWER);
  assert_int_equal (change_of_rounds (even, more, false),
                    RADIO_CHANGE_NONE);
  assert_int_equal (change_of_rounds (wild, wilder, true),
                    RADIO_CHANGE_NONE);
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
    cmocka_unit_test (noise_is_classified_as_noise),
    cmocka_unit_test (noise_is_noise_in_one_of_many_paths),
    cmocka_unit_test (runs_that_follow_each_other_say_less),
    cmocka_unit_test (few_runs_of_many_paths_must_be_far_apart),
    cmocka_unit_test (with_many_runs_about_5_percent_are_false_alarms),
    cmocka_unit_test (a_change_that_is_well_above_the_noise_is_found),
    cmocka_unit_test (the_variance_of_a_median_is_estimated_well),
    cmocka_unit_test (a_median_is_the_middle_value),
    cmocka_unit_test (the_order_of_the_variance_is_rounded_to_nearest),
    cmocka_unit_test (the_interval_agrees_with_the_formula),
    cmocka_unit_test (one_outlier_does_not_hide_a_change),
    cmocka_unit_test (two_outliers_are_not_ignored),
    cmocka_unit_test (runs_beyond_all_of_the_other_side_are_a_change),
    cmocka_unit_test (runs_that_differ_by_less_than_their_spread_are_not),
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
    cmocka_unit_test (runs_of_several_processes_count_as_rounds),
    cmocka_unit_test (paths_are_listed_as_a_tree),
    cmocka_unit_test (empty_profiles_have_no_paths),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
