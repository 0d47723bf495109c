/* SPDX-License-Identifier: MIT */
/* The interval of a difference of medians: noise is classified as noise, and
 * changes are found.  Simulations are seeded. */
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
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
