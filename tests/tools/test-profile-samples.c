/* SPDX-License-Identifier: MIT */
/* The statistics of measurements, compared with numpy and scipy, and with
 * brute-force counting. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "tools/profile/samples.h"

static void
assert_near (double a, double b)
{
  if (!(fabs (a - b) <= 1e-9 * (1 + fabs (b))))
    fail_msg ("%.17g is not %.17g", a, b);
}

/* numpy: mean, median, std (ddof=1), percentile 25 and 75. */
static void
a_summary_equals_that_of_numpy (void **state)
{
  (void) state;
  double values[] = { 3.5, 1.25, 9, 2, 2, 7.75, 4 };
  struct rd_summary s;
  rd_summarize (values, 7, &s);
  assert_int_equal (s.n, 7);
  assert_near (s.mean, 4.214285714285714);
  assert_near (s.median, 3.5);
  assert_near (s.min, 1.25);
  assert_near (s.max, 9);
  assert_near (s.std, 3.0153377762303686);
  assert_near (s.low, 2);
  assert_near (s.high, 5.875);
}

static void
the_median_of_an_even_number_is_between (void **state)
{
  (void) state;
  double values[] = { 4, 1, 3, 2 };
  struct rd_summary s;
  rd_summarize (values, 4, &s);
  assert_near (s.median, 2.5);
  assert_near (s.low, 1.75);
  assert_near (s.high, 3.25);
}

static void
one_value_has_no_spread (void **state)
{
  (void) state;
  double value = 5;
  struct rd_summary s;
  rd_summarize (&value, 1, &s);
  assert_near (s.mean, 5);
  assert_near (s.median, 5);
  assert_near (s.std, 0);
  assert_near (s.low, 5);
}

static void
no_value_gives_zeros (void **state)
{
  (void) state;
  struct rd_summary s = { .mean = 1 };
  rd_summarize (NULL, 0, &s);
  assert_int_equal (s.n, 0);
  assert_near (s.mean, 0);
  assert_near (rd_quantile (NULL, 0, 0.5), 0);
}

static void
quantiles_reach_both_ends (void **state)
{
  (void) state;
  const double sorted[] = { 1, 2, 3, 4, 5 };
  assert_near (rd_quantile (sorted, 5, 0), 1);
  assert_near (rd_quantile (sorted, 5, 1), 5);
  assert_near (rd_quantile (sorted, 5, 0.99), 4.96);
}

static void
fewer_than_six_values_give_no_interval (void **state)
{
  (void) state;
  const double sorted[] = { 1, 2, 3, 4, 5, 6 };
  double low, high;
  for (size_t n = 0; n < 6; n++)
    assert_false (rd_median_interval (sorted, n, &low, &high));
  assert_true (rd_median_interval (sorted, 6, &low, &high));
  assert_near (low, 1);
  assert_near (high, 6);
}

/* Orders from the usual tables of the sign test (as Conover's): n and the
 * rank from either end. */
static void
intervals_have_the_ranks_of_the_tables (void **state)
{
  (void) state;
  static const struct {
    size_t n, rank;
  } table[] = { { 8, 1 }, { 9, 2 }, { 10, 2 }, { 15, 4 }, { 20, 6 },
                { 25, 8 }, { 30, 10 }, { 50, 18 }, { 100, 40 } };
  double sorted[100];
  for (size_t i = 0; i < 100; i++)
    sorted[i] = (double) i + 1;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    double low, high;
    assert_true (rd_median_interval (sorted, table[i].n, &low, &high));
    assert_near (low, (double) table[i].rank);
    assert_near (high, (double) (table[i].n + 1 - table[i].rank));
  }
}

/* By simulation: about 95 % of samples whose median is 0 have an interval that
 * contains it, never clearly fewer. */
static void
intervals_cover_the_median_at_the_stated_rate (void **state)
{
  (void) state;
  uint64_t random = 42;
  for (size_t n = 6; n <= 41; n += 7) {
    size_t held = 0, tries = 4000;
    for (size_t t = 0; t < tries; t++) {
      double values[41], low, high;
      struct rd_summary s;
      for (size_t i = 0; i < n; i++) {
        double u = (double) (rd_random (&random) >> 11) / 9007199254740992.0;
        /* A long tail on one side, as times have; its median is 0. */
        values[i] = -log (1 - u) - log (2);
      }
      rd_summarize (values, n, &s);
      assert_true (rd_median_interval (values, n, &low, &high));
      held += low <= 0 && 0 <= high;
    }
    /* 4000 tries of 95 % stay within 1.2 % nearly always. */
    assert_true ((double) held / (double) tries > 0.938);
  }
}

static void
large_samples_use_the_normal_distribution (void **state)
{
  (void) state;
  double *sorted = malloc (3000 * sizeof *sorted);
  double low, high;
  assert_non_null (sorted);
  for (size_t i = 0; i < 3000; i++)
    sorted[i] = (double) i + 1;
  /* The switch from one method to the other causes no jump. */
  assert_true (rd_median_interval (sorted, 1000, &low, &high));
  assert_near (low, 469);
  assert_near (high, 532);
  assert_true (rd_median_interval (sorted, 1001, &low, &high));
  assert_near (low, 469);
  assert_true (rd_median_interval (sorted, 3000, &low, &high));
  assert_near (low, 1446);
  free (sorted);
}

/* The first numbers of the reference implementation for the state 0. */
static void
random_numbers_are_those_of_splitmix64 (void **state)
{
  (void) state;
  uint64_t random = 0;
  assert_true (rd_random (&random) == 0xe220a8397b1dcdafu);
  assert_true (rd_random (&random) == 0x6e789e6aa1b965f4u);
  assert_true (rd_random (&random) == 0x06c45d188009454fu);
}

static void
random_numbers_below_are_below_and_even (void **state)
{
  (void) state;
  uint64_t random = 7;
  size_t counts[5] = { 0 };
  for (size_t i = 0; i < 50000; i++) {
    uint64_t n = rd_random_below (&random, 5);
    assert_true (n < 5);
    counts[n]++;
  }
  for (size_t i = 0; i < 5; i++)
    assert_in_range (counts[i], 9600, 10400);
  assert_int_equal (rd_random_below (&random, 1), 0);
  assert_int_equal (rd_random_below (&random, 0), 0);
  /* Half of all 64-bit numbers are refused here, and it still ends. */
  assert_true (rd_random_below (&random, (UINT64_MAX >> 1) + 2)
               <= (UINT64_MAX >> 1) + 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_summary_equals_that_of_numpy),
    cmocka_unit_test (the_median_of_an_even_number_is_between),
    cmocka_unit_test (one_value_has_no_spread),
    cmocka_unit_test (no_value_gives_zeros),
    cmocka_unit_test (quantiles_reach_both_ends),
    cmocka_unit_test (fewer_than_six_values_give_no_interval),
    cmocka_unit_test (intervals_have_the_ranks_of_the_tables),
    cmocka_unit_test (intervals_cover_the_median_at_the_stated_rate),
    cmocka_unit_test (large_samples_use_the_normal_distribution),
    cmocka_unit_test (random_numbers_are_those_of_splitmix64),
    cmocka_unit_test (random_numbers_below_are_below_and_even),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
