/* SPDX-License-Identifier: MIT */
/* Reports of measurements and ranks: figures as text, conditions, ratios and
 * verdicts. */
#include <config.h>

#include <math.h>

#include "tests/tools/capture.h"
#include "tests/tools/made-profiles.h"
#include "tests/unit.h"

#include "tools/bench/paired.h"
#include "tools/json.h"
#include "tools/profile/report.h"
#include "tools/profile/subject.h"

static void
milliseconds_have_four_figures (void **state)
{
  (void) state;
  char text[32];
  assert_string_equal (rd_text_ms (0, text), "0.0000");
  assert_string_equal (rd_text_ms (0.0000421, text), "0.0421");
  assert_string_equal (rd_text_ms (0.00042134, text), "0.4213");
  assert_string_equal (rd_text_ms (0.0042134, text), "4.213");
  assert_string_equal (rd_text_ms (0.042134, text), "42.13");
  assert_string_equal (rd_text_ms (0.42134, text), "421.3");
  assert_string_equal (rd_text_ms (4.2134, text), "4213");
  assert_string_equal (rd_text_ms (42134, text), "42134000");
}

static void
milliseconds_that_round_up_keep_four_figures (void **state)
{
  (void) state;
  char text[32];
  assert_string_equal (rd_text_ms (0.00099996, text), "1.000");
  assert_string_equal (rd_text_ms (0.0099996, text), "10.00");
  assert_string_equal (rd_text_ms (0.99996, text), "1000");
}

static void
rates_have_three_figures (void **state)
{
  (void) state;
  char text[32];
  assert_string_equal (rd_text_rate (524288, 0.001, text), "524");
  assert_string_equal (rd_text_rate (52428, 0.001, text), "52.4");
  assert_string_equal (rd_text_rate (5242, 0.001, text), "5.24");
  assert_string_equal (rd_text_rate (9996, 0.001, text), "10.0");
}

static void
no_time_and_no_bytes_have_no_rate (void **state)
{
  (void) state;
  char text[32];
  assert_string_equal (rd_text_rate (5, 0, text), "-");
  assert_string_equal (rd_text_rate (0, 1, text), "-");
}

static void
conditions_with_equal_keys_replace_each_other (void **state)
{
  (void) state;
  struct rd_conditions c = { 0 };
  assert_int_equal (rd_conditions_add (&c, "a", "1", RADIO_TEXT_PLAIN), 0);
  assert_int_equal (rd_conditions_add_u64 (&c, "b", UINT64_MAX), 0);
  assert_int_equal (rd_conditions_add (&c, "a", "2", RADIO_TEXT_NAME), 0);
  assert_int_equal (c.n, 2);
  assert_string_equal (rd_conditions_find (&c, "a"), "2");
  assert_string_equal (rd_conditions_find (&c, "b"), "18446744073709551615");
  assert_null (rd_conditions_find (&c, "c"));
  rd_conditions_clear (&c);
}

static void
redacted_conditions_hold_no_names (void **state)
{
  (void) state;
  struct rd_conditions c = { 0 };
  struct json_object *all = json_object_new_object ();
  struct json_object *redacted = json_object_new_object ();
  assert_int_equal (rd_conditions_add (&c, "volume", "ct/doe",
                                       RADIO_TEXT_NAME), 0);
  assert_int_equal (rd_conditions_add (&c, "axis", "axial",
                                       RADIO_TEXT_PLAIN), 0);
  rd_conditions_put (all, &c, false);
  rd_conditions_put (redacted, &c, true);
  assert_true (json_object_object_get_ex (all, "volume", NULL));
  assert_false (json_object_object_get_ex (redacted, "volume", NULL));
  assert_true (json_object_object_get_ex (redacted, "axis", NULL));
  json_object_put (all);
  json_object_put (redacted);
  rd_conditions_clear (&c);
}

static void
a_timing_as_json_has_its_rate (void **state)
{
  (void) state;
  struct rd_timing timing = {
    .name = "a", .seconds = { .n = 2, .median = 0.5, .mean = 0.75 },
    .nbytes = 4000000,
  };
  struct json_object *object = rd_timing_json (&timing), *value;
  assert_true (json_object_object_get_ex (object, "mb_per_s", &value));
  assert_true (json_object_get_double (value) == 8);
  assert_true (json_object_object_get_ex (object, "mean_s", &value));
  assert_true (json_object_get_double (value) == 0.75);
  json_object_put (object);
}

static void
series_of (struct rd_series *series, const double *values, size_t n)
{
  assert_true (rd_series_open (series, "x", n));
  memcpy (series->values, values, n * sizeof *values);
}

static void
ratios_are_taken_round_by_round (void **state)
{
  (void) state;
  /* The base drifts tenfold; each round is slower by 2 %. */
  const double base[] = { 1, 2, 3, 5, 8, 10, 4 };
  const double value[] = { 1.02, 2.04, 3.06, 5.1, 8.16, 10.2, 4.08 };
  struct rd_series a, b;
  struct rd_ratio ratio;
  series_of (&a, value, 7);
  series_of (&b, base, 7);
  assert_int_equal (rd_ratio_of (&a, &b, &ratio), 0);
  assert_true (fabs (ratio.median - 1.02) < 1e-12);
  assert_true (fabs (ratio.low - 1.02) < 1e-12);
  assert_true (fabs (ratio.high - 1.02) < 1e-12);
  /* The series keep their order. */
  assert_true (a.values[3] == 5.1 && b.values[5] == 10);
  rd_series_clear (&a);
  rd_series_clear (&b);
}

static void
rounds_with_a_base_of_zero_are_left_out (void **state)
{
  (void) state;
  const double base[] = { 0, 2, 2 }, value[] = { 1, 4, 4 };
  struct rd_series a, b;
  struct rd_ratio ratio;
  series_of (&a, value, 3);
  series_of (&b, base, 3);
  assert_int_equal (rd_ratio_of (&a, &b, &ratio), 0);
  assert_true (ratio.median == 2);
  assert_true (ratio.low == 0 && ratio.high == 0);
  rd_series_clear (&a);
  rd_series_clear (&b);
}

static void
a_bar_is_met_or_missed_only_beyond_doubt (void **state)
{
  (void) state;
  const struct rd_ratio below = { 1.01, 1.00, 1.03 };
  const struct rd_ratio about = { 1.02, 1.00, 1.04 };
  const struct rd_ratio above = { 1.05, 1.04, 1.06 };
  const struct rd_ratio nothing = { 1.0, 0, 0 };
  assert_int_equal (rd_classify (&below, 1.03), RD_MET);
  assert_int_equal (rd_classify (&about, 1.03), RD_UNCLEAR);
  assert_int_equal (rd_classify (&above, 1.03), RD_MISSED);
  assert_int_equal (rd_classify (&nothing, 1.03), RD_UNCLEAR);
  assert_string_equal (rd_verdict_name (RD_UNCLEAR), "unclear");
}

/* Returns a subject that needs no store. */
static struct rd_subject
subject_of (size_t rank, const char *axes, uint64_t length)
{
  static char name[] = "ct/a";
  struct rd_subject subject = { .target.name = name };
  subject.info.axes = axes;
  subject.info.nifti_type = "int16";
  subject.info.array.rank = rank;
  subject.info.array.item_nbytes = 2;
  for (size_t i = 0; i < rank; i++)
    subject.info.array.shape[i] = length + i;
  for (size_t i = 0; i < 3; i++) {
    const char *letter = strchr (axes, "xyz"[i]);
    subject.axis_of[i] = letter ? (size_t) (letter - axes) : rank;
  }
  return subject;
}

static void
random_boxes_are_everywhere_and_inside (void **state)
{
  (void) state;
  struct rd_subject subject = subject_of (3, "zyx", 6);
  const uint64_t size[3] = { 3, 2, 1 };
  uint64_t random = 1, seen[3] = { 0 };
  for (int i = 0; i < 1000; i++) {
    struct radio_box box;
    assert_int_equal (rd_subject_box (&subject, size, NULL, &random, &box),
                      0);
    assert_int_equal (box.rank, 3);
    for (size_t axis = 0; axis < 3; axis++) {
      assert_int_equal (box.size[axis], axis + 1);
      assert_true (box.start[axis] + box.size[axis]
                   <= subject.info.array.shape[axis]);
      seen[axis] |= UINT64_C (1) << box.start[axis];
    }
  }
  for (size_t axis = 0; axis < 3; axis++)
    assert_int_equal (seen[axis], 0x3f);
}

static void
equal_seeds_give_equal_boxes (void **state)
{
  (void) state;
  struct rd_subject subject = subject_of (3, "zyx", 100);
  const uint64_t size[3] = { 9, 9, 9 };
  uint64_t one = 5, other = 5;
  for (int i = 0; i < 20; i++) {
    struct radio_box a, b;
    assert_int_equal (rd_subject_box (&subject, size, NULL, &one, &a), 0);
    assert_int_equal (rd_subject_box (&subject, size, NULL, &other, &b), 0);
    assert_memory_equal (&a, &b, sizeof a);
  }
}

static void
fixed_boxes_are_at_the_given_place (void **state)
{
  (void) state;
  struct rd_subject subject = subject_of (4, "tzyx", 10);
  const uint64_t size[3] = { 4, 5, 6 }, at[3] = { 1, 2, 3 };
  uint64_t random = 0;
  struct radio_box box;
  assert_int_equal (rd_subject_box (&subject, size, at, &random, &box), 0);
  const uint64_t start[4] = { 0, 3, 2, 1 }, sizes[4] = { 1, 6, 5, 4 };
  assert_memory_equal (box.start, start, sizeof start);
  assert_memory_equal (box.size, sizes, sizeof sizes);
  assert_int_equal (rd_subject_nbytes (&subject, &box), 2 * 4 * 5 * 6);
}

static void
colours_are_read_whole (void **state)
{
  (void) state;
  struct rd_subject subject = subject_of (4, "czyx", 3);
  const uint64_t size[3] = { 2, 2, 2 };
  uint64_t random = 0;
  struct radio_box box;
  subject.info.nifti_type = "rgb24";
  assert_int_equal (rd_subject_box (&subject, size, NULL, &random, &box), 0);
  assert_int_equal (box.size[0], 3);
  assert_int_equal (box.start[0], 0);
}

static void
each_rank_has_a_row (void **state)
{
  (void) state;
  struct capture capture;
  struct radio_profile *profile = make_ranks ();
  capture_begin (&capture);
  assert_int_equal (rd_ranks_print (profile), RD_EXIT_OK);
  capture_end (&capture);
  assert_says (&capture, "rank 0    2.000    2.000            50 %\n");
  assert_says (&capture, "rank 2    4.000    4.000           100 %\n");
  radio_profile_close (profile);
}

/* decode: mean (1 + 1 + 3 + 1) / 4 = 1.5 ms, 3 / 1.5 = 2. */
static void
a_straggler_is_named (void **state)
{
  (void) state;
  struct capture capture;
  struct radio_profile *profile = make_ranks ();
  capture_begin (&capture);
  assert_int_equal (rd_imbalance_print (profile), RD_EXIT_OK);
  capture_end (&capture);
  assert_says (&capture, "read / decode");
  assert_says (&capture, "1.500   3.000   2.00  rank 2 (straggler)\n");
  assert_says (&capture, "2.500   4.000   1.60  rank 2 (straggler)\n");
  radio_profile_close (profile);
}

/* Two programs: what one of them alone does is no lag of it. */
static void
a_path_of_one_rank_alone_is_no_imbalance (void **state)
{
  (void) state;
  struct capture capture;
  struct radio_profile *joined = NULL, *ranks[] = {
    make_run (4000, 1000, "write", 2900), make_run (4000, 1000, NULL, 0)
  };
  assert_ok (radio_profile_join (ranks, 2, RADIO_PARTS_RANKS, &joined));
  capture_begin (&capture);
  assert_int_equal (rd_imbalance_print (joined), RD_EXIT_OK);
  capture_end (&capture);
  assert_says (&capture, "no path that all have is uneven");
  assert_says_not (&capture, "straggler");
  struct json_object *uneven = rd_imbalance_json (joined);
  assert_int_equal (json_object_array_length (uneven), 0);
  json_object_put (uneven);
  radio_profile_close (joined);
  for (int i = 0; i < 2; i++)
    radio_profile_close (ranks[i]);
}

static void
even_ranks_are_reported_as_even (void **state)
{
  (void) state;
  struct capture capture;
  struct radio_profile *profile = make_runs (4, RADIO_PARTS_RANKS, 2000,
                                             1000, 0, NULL);
  capture_begin (&capture);
  assert_int_equal (rd_imbalance_print (profile), RD_EXIT_OK);
  capture_end (&capture);
  assert_says (&capture, "no path that all have is uneven");
  radio_profile_close (profile);
}

static void
paths_are_written_from_the_root (void **state)
{
  (void) state;
  struct radio_profile *profile = make_run (2000, 1000, "fetch", 100);
  char *path = rd_profile_path (profile, 2);
  assert_string_equal (path, "read / fetch");
  free (path);
  path = rd_profile_path (profile, 0);
  assert_string_equal (path, "read");
  free (path);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (milliseconds_have_four_figures),
    cmocka_unit_test (milliseconds_that_round_up_keep_four_figures),
    cmocka_unit_test (rates_have_three_figures),
    cmocka_unit_test (no_time_and_no_bytes_have_no_rate),
    cmocka_unit_test (conditions_with_equal_keys_replace_each_other),
    cmocka_unit_test (redacted_conditions_hold_no_names),
    cmocka_unit_test (a_timing_as_json_has_its_rate),
    cmocka_unit_test (ratios_are_taken_round_by_round),
    cmocka_unit_test (rounds_with_a_base_of_zero_are_left_out),
    cmocka_unit_test (a_bar_is_met_or_missed_only_beyond_doubt),
    cmocka_unit_test (random_boxes_are_everywhere_and_inside),
    cmocka_unit_test (equal_seeds_give_equal_boxes),
    cmocka_unit_test (fixed_boxes_are_at_the_given_place),
    cmocka_unit_test (colours_are_read_whole),
    cmocka_unit_test (each_rank_has_a_row),
    cmocka_unit_test (a_straggler_is_named),
    cmocka_unit_test (a_path_of_one_rank_alone_is_no_imbalance),
    cmocka_unit_test (even_ranks_are_reported_as_even),
    cmocka_unit_test (paths_are_written_from_the_root),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
