/* SPDX-License-Identifier: MIT */
/* Checks of pairs, statistics of groups and splits of tables fail cleanly:
 * without memory, beyond the limit, and with wrong arguments. */
#include <config.h>

#include "tests/unit.h"

#include <radio/radio.h>

#include "tests/alloc-fail.h"

static const char *const subjects[] = { "s1", "s2_ses-a", "s2_ses-b" };

static struct radio_store *
make_store (void)
{
  struct radio_store *store;
  const struct radio_phantom_options options = { .shape = { 9, 8, 7 } };
  assert_ok (radio_store_open ("memory:", NULL, &store));
  for (size_t i = 0; i < 3; i++) {
    char path[32];
    snprintf (path, sizeof path, "ct/%s", subjects[i]);
    assert_ok (radio_phantom (store, path, &options));
    snprintf (path, sizeof path, "seg/%s", subjects[i]);
    if (i < 2)
      assert_ok (radio_phantom (store, path, &options));
  }
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
  return store;
}

/* Goes through every allocation of a call. */
#define assert_survives(call)                                                 \
  for (size_t nth_ = 1;; nth_ += EXHAUSTIVE_STEP) {                            \
    alloc_fail_nth (nth_);                                                    \
    enum radio_status result_ = call;                                         \
    if (!alloc_fail_end ()) {                                                 \
      assert_ok (result_);                                                    \
      break;                                                                  \
    }                                                                         \
    if (result_ != RADIO_OK)                                                  \
      assert_int_equal (result_, RADIO_ERROR_MEMORY);                         \
  }

static enum radio_status
count_fault (const struct radio_pair_fault *fault, void *user_data)
{
  ++*(unsigned *) user_data;
  return strcmp (fault->message, "seg: no volume of s2 ses-b; ct has "
                 "ct/s2_ses-b") == 0 ? RADIO_OK : RADIO_ERROR_IO;
}

static void
a_check_without_memory_fails_cleanly (void **state)
{
  (void) state;
  static const char *const names[] = { "ct", "seg" };
  struct radio_store *store = make_store ();
  struct radio_pairs_result result;
  unsigned nfaults = 0;
  const struct radio_pairs_options options = {
    .collections = names, .ncollections = 2, .complete = names,
    .ncomplete = 2, .report = count_fault, .user_data = &nfaults,
  };
  assert_ok (radio_store_check_pairs (store, &options, &result));
  assert_int_equal (nfaults, 1);
  assert_int_equal (result.pair_count, 2);
  assert_int_equal (result.volume_count, 5);
  assert_survives (radio_store_check_pairs (store, &options, &result));
  radio_store_close (store);
}

static void
wrong_arguments_of_a_check_are_errors (void **state)
{
  (void) state;
  static const char *const none = "none";
  struct radio_store *store = make_store ();
  struct radio_pairs_options options = { .masks = &none, .nmasks = 1 };
  assert_fails (radio_store_check_pairs (store, &options, NULL),
                RADIO_ERROR_ARGUMENT, "none: not among the collections");
  options = (struct radio_pairs_options) { .tolerance = -1 };
  assert_fails (radio_store_check_pairs (store, &options, NULL),
                RADIO_ERROR_ARGUMENT, "tolerance");
  options = (struct radio_pairs_options) { .collections = &none,
                                           .ncollections = 1 };
  assert_fails (radio_store_check_pairs (store, &options, NULL),
                RADIO_ERROR_NOT_FOUND, "none");
  assert_true (radio_is_pair ("sub-1_ses-2_T1w", "sub-1_ses-2_desc-x"));
  assert_false (radio_is_pair ("sub-1_run-1_T1w", "sub-1_run-2_T1w"));
  radio_store_close (store);
}

/* The store whose volumes are opened, with their masks. */
static struct radio_store *opened;

static enum radio_status
open_pair (size_t i, struct radio_volume **volume, struct radio_volume **mask,
           void *user_data)
{
  char path[32];
  (void) user_data;
  snprintf (path, sizeof path, "ct/%s", subjects[i]);
  enum radio_status status = radio_volume_open (opened, path, volume);
  snprintf (path, sizeof path, "seg/%s", subjects[i]);
  return status ? status : radio_volume_open (opened, path, mask);
}

static enum radio_status
take_figures (const struct radio_group_figures *figures, void *user_data)
{
  *(uint64_t *) user_data += figures->stats->count;
  return RADIO_OK;
}

static void
statistics_of_a_group_without_memory_fail_cleanly (void **state)
{
  (void) state;
  static const int64_t labels[] = { -1000, 0, 7 };
  static const double percents[] = { 0.5, 99.5 };
  struct radio_store *store = opened = make_store ();
  uint64_t count = 0;
  struct radio_group_options options = {
    .percents = percents, .npercents = 2, .nbins = 5, .low = -1, .high = 1,
  };
  assert_ok (radio_group_stats (2, open_pair, &options, take_figures,
                                &count));
  assert_in_range (count, 1, 2 * 9 * 8 * 7);
  options.labels = labels;
  options.nlabels = 3;
  assert_survives (radio_group_stats (2, open_pair, &options, take_figures,
                                      &count));
  options.low = 2;
  assert_fails (radio_group_stats (2, open_pair, &options, take_figures,
                                   &count),
                RADIO_ERROR_ARGUMENT, "the range of bins");
  options.low = -1;
  options.npercents = RADIO_GROUP_MAX_PERCENTS + 1;
  assert_fails (radio_group_stats (2, open_pair, &options, take_figures,
                                   &count),
                RADIO_ERROR_ARGUMENT, "percentiles");
  options.npercents = 2;
  options.percents = NULL;
  assert_fails (radio_group_stats (2, open_pair, &options, take_figures,
                                   &count),
                RADIO_ERROR_ARGUMENT, "percents is NULL, but npercents is 2");
  options.labels = NULL;
  assert_fails (radio_group_stats (2, open_pair, &options, take_figures,
                                   &count),
                RADIO_ERROR_ARGUMENT, "labels is NULL, but nlabels is 3");
  assert_ok (radio_group_stats (0, open_pair, NULL, take_figures, &count));
  radio_store_close (store);
}

static void
a_split_without_memory_fails_cleanly (void **state)
{
  (void) state;
  static const double fractions[] = { 0.5, 0.5 }, wrong[] = { 0.5, 0.4 };
  struct radio_store *store = make_store ();
  struct radio_table *table;
  uint32_t parts[2] = { 9, 9 };
  struct radio_split_options options = {
    .fractions = fractions, .part_count = 2, .is_exact = true,
  };
  assert_ok (radio_table_open (store, RADIO_TABLE_SUBJECTS, &table));
  assert_survives (radio_table_split (table, &options, parts, sizeof parts));
  assert_int_equal (parts[0] + parts[1], 1);
  assert_fails (radio_table_split (table, &options, parts, 4),
                RADIO_ERROR_ARGUMENT, "fewer parts");
  options.stratify = "none";
  assert_fails (radio_table_split (table, &options, parts, sizeof parts),
                RADIO_ERROR_NOT_FOUND, "none");
  options.fractions = wrong;
  assert_fails (radio_table_split (table, &options, parts, sizeof parts),
                RADIO_ERROR_ARGUMENT, "sum");
  radio_table_close (table);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_check_without_memory_fails_cleanly),
    cmocka_unit_test (wrong_arguments_of_a_check_are_errors),
    cmocka_unit_test (statistics_of_a_group_without_memory_fail_cleanly),
    cmocka_unit_test (a_split_without_memory_fails_cleanly),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
