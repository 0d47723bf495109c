/* SPDX-License-Identifier: MIT */
/* Parts of the benchmark: lists on the command line, places, destinations,
 * threads that start together. */
#include <config.h>

#include <stdatomic.h>
#include <string.h>

#include "tests/unit.h"

#include "tools/bench/layout.h"
#include "tools/bench/limits.h"
#include "tools/profile/samples.h"

static const struct rd_command command = { .name = "bench" };
static const struct rd_option tiling = { .name = "tiling" };

static void
expect_words (const char *list, size_t n, const char *const *words)
{
  struct rd_args args = { .command = &command, .option = &tiling,
                          .value = list };
  struct rd_list found = { 0 };
  assert_true (rd_list_add (&args, &found));
  assert_int_equal (found.n, n);
  for (size_t i = 0; i < n; i++)
    assert_string_equal (found.at[i], words[i]);
  rd_list_clear (&found);
}

static void
lists_are_split_at_commas (void **state)
{
  (void) state;
  const char *const one[] = { "balanced" };
  const char *const two[] = { "small", "fast" };
  expect_words ("balanced", 1, one);
  expect_words ("small,fast", 2, two);
}

static void
three_numbers_are_one_tiling (void **state)
{
  (void) state;
  const char *const mixed[] = { "axial", "32,32,8", "64,64,1", "isotropic" };
  const char *const short_of_one[] = { "32,8" };
  expect_words ("axial,32,32,8,64,64,1,isotropic", 4, mixed);
  /* The parser of tilings refuses it later. */
  expect_words ("32,8", 1, short_of_one);
}

static void
a_list_of_json_is_one_codec (void **state)
{
  (void) state;
  const char *const json[] = { "[{\"name\":\"bytes\"},{\"name\":\"zstd\"}]" };
  const char *const last[] = { "fast", "[1,2]" };
  expect_words (json[0], 1, json);
  expect_words ("fast,[1,2]", 2, last);
}

static void
several_options_add_up (void **state)
{
  (void) state;
  struct rd_args args = { .command = &command, .option = &tiling,
                          .value = "a,b" };
  struct rd_list words = { 0 };
  assert_true (rd_list_add (&args, &words));
  args.value = "c";
  assert_true (rd_list_add (&args, &words));
  assert_int_equal (words.n, 3);
  assert_string_equal (words.at[2], "c");
  rd_list_clear (&words);
  assert_int_equal (words.n, 0);
}

static void
numbers_of_threads_are_split_at_commas (void **state)
{
  (void) state;
  struct rd_args args = { .command = &command, .option = &tiling,
                          .value = "1,2" };
  struct rd_counts counts = { 0 };
  assert_true (rd_counts_parse (&args, &counts));
  args.value = "1024";
  assert_true (rd_counts_parse (&args, &counts));
  assert_int_equal (counts.n, 3);
  assert_int_equal (counts.at[0], 1);
  assert_int_equal (counts.at[1], 2);
  assert_int_equal (counts.at[2], 1024);
}

static void
rows_are_chosen_by_their_names (void **state)
{
  (void) state;
  bool chosen[RD_NROWS];
  for (size_t i = 0; i < RD_NROWS; i++) {
    struct rd_args args = { .command = &command, .option = &tiling,
                          .value = rd_rows[i].name };
    assert_true (rd_rows_parse (&args, chosen));
    for (size_t k = 0; k < RD_NROWS; k++)
      assert_int_equal (chosen[k], k == i);
  }
}

/* The places of two runs differ, and do not depend on earlier measurements. */
static void
each_run_of_each_row_has_places_of_its_own (void **state)
{
  (void) state;
  enum { NRUNS = 40 };
  uint64_t seen[RD_NROWS * NRUNS * 2];
  size_t n = 0;
  for (size_t row = 0; row < RD_NROWS; row++)
    for (uint64_t i = 0; i < NRUNS; i++)
      for (uint64_t seed = 0; seed < 2; seed++) {
        uint64_t random = rd_row_state (row, seed, i);
        seen[n++] = rd_random (&random);
      }
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++)
      assert_true (seen[i] != seen[k]);
}

static void
a_reused_destination_is_the_same_memory (void **state)
{
  (void) state;
  struct rd_destination d = { .kind = RD_DESTINATION_REUSED };
  void *large = rd_destination_take (&d, 5000000);
  assert_non_null (large);
  rd_destination_return (&d, large);
  assert_ptr_equal (rd_destination_take (&d, 100), large);
  assert_false (rd_destination_faults (&d, UINT64_MAX));
  rd_destination_clear (&d);
}

static void
fresh_destinations_are_two (void **state)
{
  (void) state;
  for (int kind = RD_DESTINATION_FRESH; kind <= RD_DESTINATION_NUMPY;
       kind++) {
    struct rd_destination d = { .kind = (enum rd_destination_kind) kind };
    char *a = rd_destination_take (&d, 9000000);
    char *b = rd_destination_take (&d, 9000000);
    assert_true (a && b && a != b);
    a[8999999] = b[8999999] = 1;
    rd_destination_return (&d, a);
    rd_destination_return (&d, b);
    assert_true (rd_destination_faults (&d, 100000000));
    assert_false (rd_destination_faults (&d, 1000000));
    rd_destination_clear (&d);
  }
}

struct crowd {
  atomic_uint here;
  unsigned n;
  atomic_uint calls[4];
};

/* Returns only when all other threads have entered it too. */
static int
meet (void *data, unsigned i)
{
  struct crowd *crowd = data;
  atomic_fetch_add (&crowd->calls[i], 1);
  atomic_fetch_add (&crowd->here, 1);
  while (atomic_load (&crowd->here) < crowd->n)
    ;
  return RD_EXIT_OK;
}

static void
threads_of_a_group_run_at_the_same_time (void **state)
{
  (void) state;
  for (unsigned n = 1; n <= 4; n++) {
    struct crowd crowd = { .n = n };
    double seconds = -1;
    assert_int_equal (rd_run_together (n, meet, &crowd, &seconds), RD_EXIT_OK);
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal (atomic_load (&crowd.calls[i]), i < n);
    assert_true (seconds >= 0);
  }
}

/* Tiles of 8 elements across: 2 s per GB to decode, 1 s per GB to reorder, of
 * which rows that want one of 8 elements take an eighth. */
static void
the_limit_counts_decoding_and_reordering (void **state)
{
  (void) state;
  struct rd_layout layout = { .raw_nbytes = 0 };
  struct radio_array_info *info = &layout.subject.info.array;
  info->rank = 3;
  info->tile_shape[0] = 8;
  info->tile_shape[1] = info->tile_shape[2] = 32;
  struct rd_decode_rates rates = { .whole = 1e9 / 3, .thin = 1e9 / 2.125 };
  assert_float_equal (rd_limits_decode_s (&layout, &rates, 1e9, 1e9), 3,
                      1e-9);
  assert_float_equal (rd_limits_decode_s (&layout, &rates, 8e9, 1e9), 17,
                      1e-9);
  /* Noise may make thin boxes seem the slower ones. */
  rates.thin = 1e9 / 3.5;
  assert_float_equal (rd_limits_decode_s (&layout, &rates, 8e9, 1e9), 24,
                      1e-9);
}

static int
fail_second (void *data, unsigned i)
{
  (void) data;
  return i == 1 ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static void
a_thread_that_fails_fails_the_group (void **state)
{
  (void) state;
  double seconds;
  assert_int_equal (rd_run_together (3, fail_second, NULL, &seconds),
                    RD_EXIT_FAILED);
  assert_int_equal (rd_run_together (1, fail_second, NULL, &seconds),
                    RD_EXIT_OK);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_are_split_at_commas),
    cmocka_unit_test (three_numbers_are_one_tiling),
    cmocka_unit_test (a_list_of_json_is_one_codec),
    cmocka_unit_test (several_options_add_up),
    cmocka_unit_test (numbers_of_threads_are_split_at_commas),
    cmocka_unit_test (rows_are_chosen_by_their_names),
    cmocka_unit_test (each_run_of_each_row_has_places_of_its_own),
    cmocka_unit_test (a_reused_destination_is_the_same_memory),
    cmocka_unit_test (fresh_destinations_are_two),
    cmocka_unit_test (threads_of_a_group_run_at_the_same_time),
    cmocka_unit_test (
      the_limit_counts_decoding_and_reordering),
    cmocka_unit_test (a_thread_that_fails_fails_the_group),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
