/* SPDX-License-Identifier: MIT */
/* The progress bar and the histogram's bars: lines of a width. */
#include <config.h>

#include <locale.h>

#include "tests/unit.h"

#include "tools/progress.h"
#include "tools/report.h"
#include "tools/text.h"

static char line[RD_PROGRESS_NBYTES];

static void
a_line_has_the_progress_the_rate_and_the_time_left (void **state)
{
  (void) state;
  rd_progress_line ("ct/a", 25000000, 100000000, 0.5, "read", 100, line);
  assert_non_null (strstr (line, "  25 %  50.0 MB/s read  1.50 s left  ct/a"));
  assert_int_equal (line[0], '[');
}

static void
a_count_has_no_rate (void **state)
{
  (void) state;
  rd_progress_line ("ct/a", 1, 4, 1, NULL, 100, line);
  assert_null (strstr (line, "B/s"));
  assert_non_null (strstr (line, "  25 %  3.00 s left  ct/a"));
}

static void
the_beginning_promises_nothing (void **state)
{
  (void) state;
  rd_progress_line ("ct/a", 1, 100, 0.01, "read", 100, line);
  assert_null (strstr (line, "left"));
  rd_progress_line ("ct/a", 0, 0, 5, "read", 100, line);
  assert_non_null (strstr (line, "   0 %  ct/a"));
}

static void
no_line_is_wider_than_the_terminal (void **state)
{
  (void) state;
  if (setlocale (LC_CTYPE, "C.UTF-8") == NULL)
    skip ();
  static const char label[] =
    "\xe8\x84\xb3\xe8\x84\xb3\xe8\x84\xb3\xe8\x84\xb3\xe8\x84\xb3/a-very-"
    "long-name-that-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and";
  for (size_t width = 0; width < 400; width++)
    for (uint64_t done = 0; done <= 10; done += 5) {
      rd_progress_line (label, done, 10, 100, "read", width, line);
      assert_true (rd_text_columns (line) <= width);
    }
}

static void
more_than_all_is_all (void **state)
{
  (void) state;
  rd_progress_line ("a", 11, 10, 1, NULL, 80, line);
  assert_non_null (strstr (line, " 100 %"));
  assert_null (strstr (line, ".]"));
}

static void
a_bar_is_as_long_as_its_part (void **state)
{
  (void) state;
  char bar[RD_BAR_NBYTES];
  assert_string_equal (rd_histogram_bar (0, 100, false, bar), "");
  assert_int_equal (strlen (rd_histogram_bar (50, 100, false, bar)),
                    RD_BAR_WIDTH / 2);
  assert_int_equal (strlen (rd_histogram_bar (100, 100, false, bar)),
                    RD_BAR_WIDTH);
  assert_string_equal (rd_histogram_bar (0, 0, true, bar), "");
}

static void
a_bar_of_blocks_ends_in_eighths (void **state)
{
  (void) state;
  char bar[RD_BAR_NBYTES];
  /* 1/64 of 40 columns is five eighths of one. */
  assert_string_equal (rd_histogram_bar (1, 64, true, bar), "\xe2\x96\x8b");
  assert_string_equal (rd_histogram_bar (1, 40, true, bar), "\xe2\x96\x88");
  assert_int_equal (strlen (rd_histogram_bar (9, 9, true, bar)),
                    3 * RD_BAR_WIDTH);
}

static void
values_above_zero_are_drawn (void **state)
{
  (void) state;
  char bar[RD_BAR_NBYTES];
  assert_string_equal (rd_histogram_bar (1, UINT64_MAX, false, bar), "#");
  assert_string_equal (rd_histogram_bar (1, UINT64_MAX, true, bar),
                       "\xe2\x96\x8f");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_line_has_the_progress_the_rate_and_the_time_left),
    cmocka_unit_test (a_count_has_no_rate),
    cmocka_unit_test (the_beginning_promises_nothing),
    cmocka_unit_test (no_line_is_wider_than_the_terminal),
    cmocka_unit_test (more_than_all_is_all),
    cmocka_unit_test (a_bar_is_as_long_as_its_part),
    cmocka_unit_test (a_bar_of_blocks_ends_in_eighths),
    cmocka_unit_test (values_above_zero_are_drawn),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
