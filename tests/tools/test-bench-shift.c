/* SPDX-License-Identifier: MIT */
/* The ratio of two independent measurements and its interval, compared with
 * the published table of the Mann-Whitney test, with brute-force counting, and
 * with the coverage that the interval promises. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "tools/profile/samples.h"

/* Critical values of U, two-sided, 5 %: that many pairs may be inverted, so
 * the cut is one more.  -1: no critical value. */
static void
cuts_are_those_of_the_published_table (void **state)
{
  (void) state;
  static const struct {
    size_t na, nb;
    int u;
  } table[] = {
    { 1, 1, -1 },   { 1, 20, -1 },  { 2, 7, -1 },   { 2, 8, 0 },
    { 2, 20, 2 },   { 3, 3, -1 },   { 3, 4, -1 },   { 3, 5, 0 },
    { 3, 20, 8 },   { 4, 4, 0 },    { 4, 20, 14 },  { 5, 5, 2 },
    { 5, 10, 8 },   { 6, 6, 5 },    { 7, 7, 8 },    { 8, 8, 13 },
    { 8, 15, 29 },  { 9, 9, 17 },   { 10, 10, 23 }, { 12, 12, 37 },
    { 15, 15, 64 }, { 18, 20, 112 },{ 20, 20, 127 },
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    assert_int_equal (rd_shift_cut (table[i].na, table[i].nb),
                      table[i].u + 1);
    assert_int_equal (rd_shift_cut (table[i].nb, table[i].na),
                      table[i].u + 1);
  }
}

/* Counts the inverted pairs when the values of one sample are at the places of
 * the set bits. */
static size_t
wrong_pairs (unsigned bits, size_t n)
{
  size_t sum = 0, others = 0;
  for (size_t i = 0; i < n; i++)
    if (bits >> i & 1)
      sum += others;
    else
      others++;
  return sum;
}

static size_t
cut_by_counting (size_t na, size_t nb)
{
  size_t ways[101] = { 0 }, all = 0, sum = 0, cut = 0;
  for (unsigned bits = 0; bits < 1u << (na + nb); bits++)
    if ((size_t) __builtin_popcount (bits) == na) {
      ways[wrong_pairs (bits, na + nb)]++;
      all++;
    }
  while ((sum += ways[cut]) * 40 <= all)
    cut++;
  return cut;
}

static void
cuts_are_those_of_counting_all_orders (void **state)
{
  (void) state;
  for (size_t na = 1; na <= 7; na++)
    for (size_t nb = 1; nb <= 7; nb++)
      assert_int_equal (rd_shift_cut (na, nb), cut_by_counting (na, nb));
}

static void
cuts_of_large_samples_continue_those_of_small_ones (void **state)
{
  (void) state;
  for (size_t n = 15; n <= 20; n++) {
    double pairs = (double) (n * n);
    double near = pairs / 2 - 1.96 * sqrt (pairs * (double) (2 * n + 1) / 12);
    assert_true (fabs ((double) rd_shift_cut (n, n) - near) < 1.5);
  }
  assert_true (rd_shift_cut (21, 21) > rd_shift_cut (20, 20));
  assert_true (rd_shift_cut (21, 21) < 21 * 21 / 2);
}

static void
nothing_and_too_few_have_no_interval (void **state)
{
  (void) state;
  const double a[] = { 1, 2, 3 }, b[] = { 2, 4, 6 };
  struct rd_shift shift;
  assert_true (rd_shift_of (a, 0, b, 0, &shift));
  assert_true (shift.ratio == 0 && shift.low == 0 && shift.high == 0);
  assert_true (rd_shift_of (a, 3, b, 3, &shift));
  assert_true (fabs (shift.ratio - 2) < 1e-9);
  assert_true (shift.low == 0 && shift.high == 0);
}

static void
a_plain_ratio_is_found (void **state)
{
  (void) state;
  const double a[] = { 1, 1.1, 1.2, 1.3, 1.4 };
  const double b[] = { 3.6, 3.3, 3, 4.2, 3.9 };
  struct rd_shift shift;
  assert_true (rd_shift_of (a, 5, b, 5, &shift));
  assert_true (fabs (shift.ratio - 3) < 1e-9);
  assert_true (shift.low < 3 && shift.high > 3 && shift.low > 2);
}

static void
swapping_the_samples_inverts_the_ratio (void **state)
{
  (void) state;
  const double a[] = { 1, 1.7, 1.2, 1.3, 1.4, 2 };
  const double b[] = { 3.6, 3.1, 3, 4.2, 3.9 };
  struct rd_shift ab, ba;
  assert_true (rd_shift_of (a, 6, b, 5, &ab));
  assert_true (rd_shift_of (b, 5, a, 6, &ba));
  assert_true (fabs (ab.ratio * ba.ratio - 1) < 1e-9);
  assert_true (fabs (ab.low * ba.high - 1) < 1e-9);
  assert_true (fabs (ab.high * ba.low - 1) < 1e-9);
}

/* One measurement that was disturbed moves a mean anywhere. */
static void
one_outlier_changes_little (void **state)
{
  (void) state;
  const double a[] = { 1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06 };
  const double b[] = { 1, 1.01, 1.02, 1.03, 1.04, 1.05, 1000 };
  struct rd_shift shift;
  assert_true (rd_shift_of (a, 7, b, 7, &shift));
  assert_true (shift.ratio > 0.99 && shift.ratio < 1.02);
  assert_true (shift.low < 1 && shift.high < 1.1);
}

/* Draws times: a minimum, and a long tail. */
static void
draw (double *values, size_t n, double factor, uint64_t *random)
{
  for (size_t i = 0; i < n; i++) {
    double u = (double) (rd_random (random) >> 11) / 9007199254740992.0;
    values[i] = factor * (1 - 0.3 * log (1 - u));
  }
}

static void
intervals_cover_the_ratio_at_the_stated_rate (void **state)
{
  (void) state;
  static const size_t sizes[][2] = { { 4, 4 }, { 7, 7 }, { 5, 12 },
                                     { 25, 30 } };
  uint64_t random = 1;
  for (size_t k = 0; k < 4; k++) {
    size_t na = sizes[k][0], nb = sizes[k][1], held = 0;
    for (int i = 0; i < 2000; i++) {
      double a[32], b[32];
      struct rd_shift shift;
      draw (a, na, 1, &random);
      draw (b, nb, 1.25, &random);
      assert_true (rd_shift_of (a, na, b, nb, &shift));
      held += shift.low <= 1.25 && shift.high >= 1.25;
    }
    /* 95 % or a little more; 2000 are uncertain by one. */
    assert_in_range (held, 1880, 1980);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (cuts_are_those_of_the_published_table),
    cmocka_unit_test (cuts_are_those_of_counting_all_orders),
    cmocka_unit_test (cuts_of_large_samples_continue_those_of_small_ones),
    cmocka_unit_test (nothing_and_too_few_have_no_interval),
    cmocka_unit_test (a_plain_ratio_is_found),
    cmocka_unit_test (swapping_the_samples_inverts_the_ratio),
    cmocka_unit_test (one_outlier_changes_little),
    cmocka_unit_test (intervals_cover_the_ratio_at_the_stated_rate),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
