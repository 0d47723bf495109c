/* SPDX-License-Identifier: MIT */
/* Boxes on the command line: parsed strictly, checked against the image. */
#include <config.h>

#include "tests/unit.h"

#include "tools/options.h"

static const uint64_t shape[] = { 30, 20, 10 };   /* z, y, x */

static void
a_range_has_a_start_and_an_end_that_may_be_left_out (void **state)
{
  (void) state;
  struct rd_range r;
  assert_null (rd_range_parse ("10:74", &r));
  assert_true (r.given && r.has_start && r.has_end);
  assert_int_equal (r.start, 10);
  assert_int_equal (r.end, 74);
  assert_null (rd_range_parse (":", &r));
  assert_true (r.given && !r.has_start && !r.has_end);
  assert_null (rd_range_parse ("5:", &r));
  assert_true (r.has_start && !r.has_end && r.start == 5);
  assert_null (rd_range_parse (":5", &r));
  assert_true (!r.has_start && r.has_end && r.start == 0 && r.end == 5);
}

static void
one_position_is_a_range_of_one (void **state)
{
  (void) state;
  struct rd_range r;
  assert_null (rd_range_parse ("7", &r));
  assert_int_equal (r.start, 7);
  assert_int_equal (r.end, 8);
}

static void
a_wrong_range_is_explained_and_not_taken (void **state)
{
  (void) state;
  static const struct { const char *text, *part; } bad[] = {
    { "", "no range" }, { "-5:", "negative" }, { ":-1", "negative" },
    { "5:5", "END must be greater" },
    { "9:3", "END must be greater" },
    { ":0", "END must be greater" }, { "a:b", "START:END" },
    { "1:2:3", "START:END" }, { "1,2", "START:END" }, { " 1:2", "START" },
    { "18446744073709551616:", "out of range" },
    { ":18446744073709551616", "out of range" },
    { "99999999999999999999", "out of range" },
    { "18446744073709551615", "out of range" },
    { "111111111111111111111111111111:2", "out of range" },
    { "1:111111111111111111111111111111", "out of range" },
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rd_range r = { .start = 77 };
    const char *wrong = rd_range_parse (bad[i].text, &r);
    if (wrong == NULL || strstr (wrong, bad[i].part) == NULL)
      fail_msg ("'%s': %s", bad[i].text, wrong ? wrong : "(taken)");
    assert_int_equal (r.start, 77);
  }
}

static void
parse (struct rd_box_options *options, size_t axis, const char *text)
{
  assert_null (rd_range_parse (text, &options->ranges[axis]));
}

static void
ranges_go_to_the_axes_of_their_letters (void **state)
{
  (void) state;
  struct rd_box_options options = { 0 };
  struct radio_box box;
  parse (&options, 0, "2:5");
  parse (&options, 2, "29");
  assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box), 0);
  assert_int_equal (box.rank, 3);
  assert_int_equal (box.start[0], 29);
  assert_int_equal (box.size[0], 1);
  assert_int_equal (box.start[1], 0);
  assert_int_equal (box.size[1], 20);
  assert_int_equal (box.start[2], 2);
  assert_int_equal (box.size[2], 3);
}

static void
time_and_channel_have_ranges_too (void **state)
{
  (void) state;
  static const uint64_t five[] = { 6, 3, 30, 20, 10 };
  struct rd_box_options options = { 0 };
  struct radio_box box;
  parse (&options, 3, "4:");
  parse (&options, 4, "1");
  assert_int_equal (rd_box_resolve (&options, "a", "tczyx", five, &box), 0);
  assert_int_equal (box.start[0], 4);
  assert_int_equal (box.size[0], 2);
  assert_int_equal (box.start[1], 1);
  assert_int_equal (box.size[1], 1);
  assert_int_equal (box.size[4], 10);
}

static void
a_range_outside_the_image_is_refused (void **state)
{
  (void) state;
  static const char *const bad[] = { "5:11", "10:", "10", ":11", "99:100" };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rd_box_options options = { 0 };
    struct radio_box box;
    parse (&options, 0, bad[i]);
    assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box),
                      RD_EXIT_FAILED);
  }
}

static void
a_range_of_a_missing_axis_is_refused (void **state)
{
  (void) state;
  struct rd_box_options options = { 0 };
  struct radio_box box;
  parse (&options, 3, ":");
  assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box),
                    RD_EXIT_FAILED);
}

static void
at_and_size_are_in_nifti_order (void **state)
{
  (void) state;
  struct rd_box_options options = {
    .has_at = true, .has_size = true, .at = { 1, 2, 3 }, .size = { 4, 5, 6 }
  };
  struct radio_box box;
  assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box), 0);
  assert_int_equal (box.start[2], 1);
  assert_int_equal (box.start[1], 2);
  assert_int_equal (box.start[0], 3);
  assert_int_equal (box.size[2], 4);
  assert_int_equal (box.size[1], 5);
  assert_int_equal (box.size[0], 6);
}

static void
a_size_alone_is_centred (void **state)
{
  (void) state;
  struct rd_box_options options = { .has_size = true, .size = { 4, 4, 5 } };
  struct radio_box box;
  assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box), 0);
  assert_int_equal (box.start[2], 3);
  assert_int_equal (box.start[1], 8);
  assert_int_equal (box.start[0], 12);
}

static void
a_box_beyond_the_image_is_refused (void **state)
{
  (void) state;
  struct radio_box box;
  struct rd_box_options large = { .has_size = true, .size = { 11, 1, 1 } };
  assert_int_equal (rd_box_resolve (&large, "a", "zyx", shape, &box),
                    RD_EXIT_FAILED);
  struct rd_box_options far = { .has_at = true, .has_size = true,
                                .at = { 9, 0, 0 }, .size = { 2, 1, 1 } };
  assert_int_equal (rd_box_resolve (&far, "a", "zyx", shape, &box),
                    RD_EXIT_FAILED);
  far.at[0] = UINT64_MAX;
  assert_int_equal (rd_box_resolve (&far, "a", "zyx", shape, &box),
                    RD_EXIT_FAILED);
  far.at[0] = 8;
  assert_int_equal (rd_box_resolve (&far, "a", "zyx", shape, &box), RD_EXIT_OK);
}

static void
no_options_are_the_whole_image (void **state)
{
  (void) state;
  struct rd_box_options options = { 0 };
  struct radio_box box;
  assert_false (rd_box_given (&options));
  assert_int_equal (rd_box_resolve (&options, "a", "zyx", shape, &box), 0);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal (box.start[i], 0);
    assert_int_equal (box.size[i], shape[i]);
  }
}

static void
axes_come_from_dimension_names_else_from_the_rank (void **state)
{
  (void) state;
  char axes[RADIO_MAX_RANK + 1];
  static const char *const names[] = { "T", "depth", NULL, "x" };
  struct radio_array_info info = { .rank = 4, .dimension_names = names };
  rd_array_axes (&info, axes);
  assert_string_equal (axes, "t??x");
  info.dimension_names = NULL;
  rd_array_axes (&info, axes);
  assert_string_equal (axes, "czyx");
  info.rank = 7;
  rd_array_axes (&info, axes);
  assert_string_equal (axes, "??tczyx");
  info.rank = 1;
  rd_array_axes (&info, axes);
  assert_string_equal (axes, "x");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_range_has_a_start_and_an_end_that_may_be_left_out),
    cmocka_unit_test (one_position_is_a_range_of_one),
    cmocka_unit_test (a_wrong_range_is_explained_and_not_taken),
    cmocka_unit_test (ranges_go_to_the_axes_of_their_letters),
    cmocka_unit_test (time_and_channel_have_ranges_too),
    cmocka_unit_test (a_range_outside_the_image_is_refused),
    cmocka_unit_test (a_range_of_a_missing_axis_is_refused),
    cmocka_unit_test (at_and_size_are_in_nifti_order),
    cmocka_unit_test (a_size_alone_is_centred),
    cmocka_unit_test (a_box_beyond_the_image_is_refused),
    cmocka_unit_test (no_options_are_the_whole_image),
    cmocka_unit_test (axes_come_from_dimension_names_else_from_the_rank),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
