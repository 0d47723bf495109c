/* SPDX-License-Identifier: MIT */
/* The log: its order, refused spans, and the rows of requests, which are
 * compared with trying every row. */
#include <config.h>

#include "profiler/model/builder.h"
#include "tests/profiler/build.h"

/* Returns a profile with one node, for requests. */
static struct radio_profile *
new_with_requests (uint32_t *node)
{
  struct radio_profile *profile = build_new ("requests");
  *node = build_edge_node (profile, RD_NO_INDEX, "GET", "network",
                           RADIO_EDGE_ASYNC);
  return profile;
}

static void
spans_are_by_lane_then_time_then_longer_first (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t b = build_node (profile, a, "b", "");
  uint32_t one = build_lane (profile, "one");
  uint32_t two = build_lane (profile, "two");
  build_span (profile, two, b, 2, 5, 5);
  build_span (profile, two, a, 0, 5, 5);
  build_span (profile, one, a, 0, 50, 5);
  build_span (profile, one, b, 5, 10, 3);
  build_span (profile, one, a, 0, 10, 9);
  build_finish (profile);
  static const uint32_t ids[] = { 5, 4, 3, 2, 1 };
  for (size_t i = 0; i < 5; i++)
    assert_int_equal (profile->spans.at[i].id, ids[i]);
  radio_profile_close (profile);
}

static void
a_child_that_rounding_moves_past_its_parent_is_cut (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t b = build_node (profile, a, "b", "");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, a, 0, 10, 10);
  build_span (profile, lane, b, 1, 12, 9);
  build_span (profile, lane, a, 0, 20, 5);
  build_finish (profile);
  assert_int_equal (profile->spans.at[1].duration_ns, 8);
  assert_int_equal (profile->spans.at[2].duration_ns, 5);
  radio_profile_close (profile);
}

static void
a_span_that_is_its_own_parent_is_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, a, 3, 0, 10);
  build_span (profile, lane, a, 1, 1, 8);
  build_span (profile, lane, a, 2, 2, 6);
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "among its own parents");
  radio_profile_close (profile);
}

static void
a_parent_that_the_log_dropped_is_no_error (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, a, 0, 0, 10);
  build_last (profile)->parent = 77;
  assert_ok (rd_profile_finalize (profile));
  assert_int_equal (profile->spans.at[0].parent, 77);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Ids
 *----------------------------------------------------------------------*/

/* Returns a profile of n spans; span i has the id first + i * step. */
static struct radio_profile *
new_with_ids (uint32_t n, uint32_t first, uint32_t step)
{
  struct radio_profile *profile = build_new ("ids");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t lane = build_lane (profile, "main");
  for (uint32_t i = 0; i < n; i++) {
    build_span (profile, lane, a, 0, 10 * (uint64_t) i, 5);
    build_last (profile)->id = first + i * step;
  }
  return profile;
}

/* Asserts that every span is found by its id, and none by other ids. */
static void
assert_ids_are_found (uint32_t n, uint32_t first, uint32_t step)
{
  struct radio_profile *profile = new_with_ids (n, first, step);
  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  assert_ok (rd_span_ids_make (profile, &ids));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id = first + i * step;
    assert_int_equal (rd_span_ids_find (&ids, profile, id), i);
    if (step > 1)
      assert_int_equal (rd_span_ids_find (&ids, profile, id + 1),
                        RD_NO_INDEX);
  }
  assert_int_equal (rd_span_ids_find (&ids, profile, 0), RD_NO_INDEX);
  assert_int_equal (rd_span_ids_find (&ids, profile, first + n * step),
                    RD_NO_INDEX);
  assert_int_equal (rd_span_ids_find (&ids, profile, UINT32_MAX),
                    RD_NO_INDEX);
  /* Either way the index has at most four slots a span, and a few more. */
  assert_true (ids.nslots <= 4 * (size_t) n + 16);
  radio_profile_close (profile);
}

static void
spans_are_found_by_ids_near_and_far_apart (void **state)
{
  (void) state;
  assert_ids_are_found (0, 1, 1);
  assert_ids_are_found (1, 1, 1);
  assert_ids_are_found (1000, 1, 1);
  assert_ids_are_found (1000, 7, 2);
  assert_ids_are_found (1000, 900, 3);
  assert_ids_are_found (1000, 5, 4000000);
  assert_ids_are_found (3, UINT32_MAX - 7, 2);
}

static void
duplicate_ids_are_refused_near_and_far_apart (void **state)
{
  (void) state;
  static const uint32_t steps[] = { 1, 4000000 };
  for (size_t i = 0; i < 2; i++) {
    struct radio_profile *profile = new_with_ids (500, 1, steps[i]);
    profile->spans.at[499].id = profile->spans.at[3].id;
    assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                  "spans 3 and 499 have the same id");
    radio_profile_close (profile);
  }
}

/* Asserts that a span modified by `spoil' is refused with a message that
 * contains `part'. */
static void
assert_refused (void (*spoil) (struct rd_span *span), const char *part)
{
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, a, 0, 0, 10);
  build_span (profile, lane, a, 1, 5, 2);
  spoil (build_last (profile));
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT, part);
  radio_profile_close (profile);
}

static void
spoil_node (struct rd_span *span)
{
  span->node = 1;
}

static void
spoil_lane (struct rd_span *span)
{
  span->lane = 1;
}

static void
spoil_end (struct rd_span *span)
{
  span->duration_ns = UINT64_MAX;
}

static void
spoil_id (struct rd_span *span)
{
  span->id = 1;
}

static void
drop_id (struct rd_span *span)
{
  span->id = 0;
}

static void
spoil_nbytes (struct rd_span *span)
{
  span->nbytes = UINT64_MAX;
}

static void
inconsistent_spans_are_refused (void **state)
{
  (void) state;
  assert_refused (spoil_node, "span 2 is of node 1");
  assert_refused (spoil_lane, "span 2 is in lane 1");
  assert_refused (spoil_end, "span 2 ends later than 2^63 ns");
  assert_refused (spoil_id, "have the same id 1");
  assert_refused (drop_id, "has the id 0");
  assert_refused (spoil_nbytes, "span 2 has more than 2^63 bytes");
}

static void
a_lane_has_a_greatest_depth (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t lane = build_lane (profile, "main");
  for (uint64_t i = 0; i <= RD_MAX_NODE_DEPTH; i++)
    build_span (profile, lane, a, 0, i, 10000);
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "levels deep in lane 0");
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Rows
 *----------------------------------------------------------------------*/

static void
requests_that_follow_each_other_share_a_row (void **state)
{
  (void) state;
  uint32_t get;
  struct radio_profile *profile = new_with_requests (&get);
  build_span (profile, RD_NO_INDEX, get, 0, 0, 10);
  build_span (profile, RD_NO_INDEX, get, 0, 10, 10);
  build_finish (profile);
  assert_int_equal (profile->lanes.n, 1);
  assert_string_equal (profile->lanes.at[0].name, "requests 1");
  assert_true (profile->lanes.at[0].is_async);
  radio_profile_close (profile);
}

static void
requests_at_one_time_do_not_share_a_row_even_if_they_would_nest (
  void **state)
{
  (void) state;
  uint32_t get;
  struct radio_profile *profile = new_with_requests (&get);
  build_span (profile, RD_NO_INDEX, get, 0, 0, 100);
  build_span (profile, RD_NO_INDEX, get, 0, 10, 20);
  build_span (profile, RD_NO_INDEX, get, 0, 50, 100);
  build_finish (profile);
  assert_int_equal (profile->lanes.n, 2);
  assert_int_equal (profile->spans.at[0].lane, 0);
  assert_int_equal (profile->spans.at[1].lane, 1);
  assert_int_equal (profile->spans.at[2].lane, 1);
  radio_profile_close (profile);
}

static void
phases_are_in_the_row_of_their_request (void **state)
{
  (void) state;
  uint32_t get;
  struct radio_profile *profile = new_with_requests (&get);
  uint32_t phase = build_edge_node (profile, get, "body", "network",
                                    RADIO_EDGE_PHASE);
  uint32_t main_lane = build_lane (profile, "main");
  uint32_t one = build_span (profile, RD_NO_INDEX, get, 0, 0, 100);
  uint32_t two = build_span (profile, RD_NO_INDEX, get, 0, 50, 100);
  build_span (profile, RD_NO_INDEX, phase, two, 50, 40);
  build_span (profile, RD_NO_INDEX, phase, one, 60, 40);
  build_span (profile, RD_NO_INDEX, phase, two, 90, 60);
  build_finish (profile);
  assert_int_equal (profile->lanes.n, 3);
  assert_string_equal (profile->lanes.at[main_lane].name, "main");
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    uint32_t request = span->parent ? span->parent : span->id;
    assert_int_equal (span->lane, request == one ? 1 : 2);
  }
  radio_profile_close (profile);
}

static void
phases_whose_request_was_dropped_have_rows_too (void **state)
{
  (void) state;
  uint32_t get;
  struct radio_profile *profile = new_with_requests (&get);
  uint32_t phase = build_edge_node (profile, get, "body", "network",
                                    RADIO_EDGE_PHASE);
  build_span (profile, RD_NO_INDEX, phase, 0, 0, 10);
  build_span (profile, RD_NO_INDEX, phase, 0, 5, 10);
  profile->spans.at[0].parent = profile->spans.at[1].parent = 9;
  assert_ok (rd_profile_finalize (profile));
  assert_int_equal (profile->lanes.n, 2);
  radio_profile_close (profile);
}

static uint64_t
end_of (const struct rd_span *span)
{
  return span->begin_ns + span->duration_ns;
}

/* Returns the largest number of simultaneous requests, counted at each one's
 * begin. */
static size_t
most_at_once (const struct rd_span *spans, size_t n)
{
  size_t most = 0;
  for (size_t i = 0; i < n; i++) {
    size_t now = 0;
    for (size_t j = 0; j < n; j++)
      now += spans[j].begin_ns <= spans[i].begin_ns
             && spans[i].begin_ns < end_of (&spans[j]);
    most = now > most ? now : most;
  }
  return most;
}

/* Returns the first row in which no span overlaps span i.  Earlier spans have
 * their rows. */
static uint32_t
try_every_row (const struct rd_span *spans, const uint32_t *rows, size_t i)
{
  for (uint32_t row = 0;; row++) {
    bool is_free = true;
    for (size_t j = 0; j < i; j++)
      is_free &= rows[j] != row || end_of (&spans[j]) <= spans[i].begin_ns;
    if (is_free)
      return row;
  }
}

static uint64_t
next_random (uint64_t *state)
{
  *state = *state * 6364136223846793005 + 1442695040888963407;
  return *state >> 33;
}

#define NREQUESTS 160

static void
rows_are_those_found_by_trying_every_row (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    uint32_t get;
    uint64_t random = seed;
    uint32_t rows[NREQUESTS];
    struct rd_span spans[NREQUESTS];
    struct radio_profile *profile = new_with_requests (&get);
    uint64_t begin = 0;
    for (size_t i = 0; i < NREQUESTS; i++) {
      begin += 1 + next_random (&random) % 20;
      build_span (profile, RD_NO_INDEX, get, 0, begin,
                  1 + next_random (&random) % (20 * seed));
      spans[i] = *build_last (profile);
      rows[i] = try_every_row (spans, rows, i);
    }
    build_finish (profile);
    assert_int_equal (profile->lanes.n, most_at_once (spans, NREQUESTS));
    for (size_t i = 0; i < NREQUESTS; i++) {
      const struct rd_span *span = &profile->spans.at[i];
      assert_int_equal (span->lane, rows[span->id - 1]);
    }
    radio_profile_close (profile);
  }
}

static void
random_threads_keep_their_order (void **state)
{
  (void) state;
  struct radio_profile *profile = build_random (7, 5000, 3);
  assert_int_equal (profile->info.nspans, 5000);
  assert_int_equal (profile->info.nlanes, 3);
  uint64_t work = 0;
  for (size_t i = 0; i < profile->nodes.n; i++)
    work += profile->nodes.at[i].self_ns;
  assert_int_equal (work, profile->info.work_ns);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (spans_are_by_lane_then_time_then_longer_first),
    cmocka_unit_test (a_child_that_rounding_moves_past_its_parent_is_cut),
    cmocka_unit_test (a_span_that_is_its_own_parent_is_refused),
    cmocka_unit_test (a_parent_that_the_log_dropped_is_no_error),
    cmocka_unit_test (spans_are_found_by_ids_near_and_far_apart),
    cmocka_unit_test (
      duplicate_ids_are_refused_near_and_far_apart),
    cmocka_unit_test (inconsistent_spans_are_refused),
    cmocka_unit_test (a_lane_has_a_greatest_depth),
    cmocka_unit_test (requests_that_follow_each_other_share_a_row),
    cmocka_unit_test (
      requests_at_one_time_do_not_share_a_row_even_if_they_would_nest),
    cmocka_unit_test (phases_are_in_the_row_of_their_request),
    cmocka_unit_test (phases_whose_request_was_dropped_have_rows_too),
    cmocka_unit_test (rows_are_those_found_by_trying_every_row),
    cmocka_unit_test (random_threads_keep_their_order),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
