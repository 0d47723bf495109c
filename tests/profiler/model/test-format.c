/* SPDX-License-Identifier: MIT */
/* Human-readable numbers. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "profiler/model/format.h"

#define assert_text(human, expected) \
  assert_string_equal ((human).text, expected)

static void
numbers_have_three_digits_that_count (void **state)
{
  (void) state;
  assert_text (rd_format_number (0), "0");
  assert_text (rd_format_number (0.004), "0");
  assert_text (rd_format_number (0.25), "0.25");
  assert_text (rd_format_number (2.444), "2.44");
  assert_text (rd_format_number (2.5), "2.5");
  assert_text (rd_format_number (64), "64");
  assert_text (rd_format_number (64.25), "64.3");
  assert_text (rd_format_number (9.999), "10");
  assert_text (rd_format_number (99.96), "100");
  assert_text (rd_format_number (1234.4), "1234");
}

static void
no_number_is_too_large_to_print (void **state)
{
  (void) state;
  assert_text (rd_format_number (1e16), "over 9e15");
  assert_text (rd_format_number (INFINITY), "over 9e15");
  assert_text (rd_format_number (NAN), "over 9e15");
}

static void
times_have_the_unit_that_fits (void **state)
{
  (void) state;
  assert_text (rd_format_ns (0), "0 ns");
  assert_text (rd_format_ns (999), "999 ns");
  assert_text (rd_format_ns (1000), "1 us");
  assert_text (rd_format_ns (35500), "35.5 us");
  assert_text (rd_format_ns (812345678), "812 ms");
  assert_text (rd_format_ns (999600), "1 ms");
  assert_text (rd_format_ns (83000000000), "83 s");
  assert_text (rd_format_ns (1234000000000), "1234 s");
}

static void
bytes_have_the_unit_that_fits (void **state)
{
  (void) state;
  assert_text (rd_format_nbytes (1), "1 B");
  assert_text (rd_format_nbytes (1500), "1.5 kB");
  assert_text (rd_format_nbytes (134217728), "134 MB");
  assert_text (rd_format_nbytes (INT64_MAX), "9223 PB");
}

static void
a_percentage_of_nothing_is_zero (void **state)
{
  (void) state;
  assert_text (rd_format_percent (1, 40), "2.5 %");
  assert_text (rd_format_percent (2, 2), "100 %");
  assert_text (rd_format_percent (1, 0), "0 %");
}

static void
more_than_twice_the_whole_is_printed_as_a_factor (void **state)
{
  (void) state;
  assert_text (rd_format_percent (199, 100), "199 %");
  assert_text (rd_format_percent (2, 1), "2 x");
  assert_text (rd_format_percent (63.8, 1), "63.8 x");
}

static void
one_is_singular (void **state)
{
  (void) state;
  assert_text (rd_format_count (0, "thread", "threads"), "0 threads");
  assert_text (rd_format_count (1, "retry", "retries"), "1 retry");
  assert_text (rd_format_count (2, "retry", "retries"), "2 retries");
  assert_text (rd_format_count (UINT64_MAX, "scope was", "scopes were"),
               "18446744073709551615 scopes were");
}

static void
rates_are_bytes_per_second (void **state)
{
  (void) state;
  assert_text (rd_format_rate (1200, 1000), "1.2 GB/s");
  assert_text (rd_format_rate (5000000, 2000000000), "2.5 MB/s");
  assert_text (rd_format_rate (5, 0), "0 B/s");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (numbers_have_three_digits_that_count),
    cmocka_unit_test (no_number_is_too_large_to_print),
    cmocka_unit_test (times_have_the_unit_that_fits),
    cmocka_unit_test (bytes_have_the_unit_that_fits),
    cmocka_unit_test (a_percentage_of_nothing_is_zero),
    cmocka_unit_test (more_than_twice_the_whole_is_printed_as_a_factor),
    cmocka_unit_test (one_is_singular),
    cmocka_unit_test (rates_are_bytes_per_second),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
