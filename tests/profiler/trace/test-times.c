/* SPDX-License-Identifier: MIT */
/* Events of the same nanosecond are set apart in nesting order, by less than
 * rounding shows, and a reader that sorts begins and ends as floating-point
 * numbers finds the nesting. */
#include <config.h>

#include "src/base/alloc.h"
#include "profiler/export/chrome.h"
#include "tests/profiler/trace/capture.h"
#include "tests/profiler/trace/history.h"

/* A profile of one lane whose spans all are of nodes "f0", "f1", ... */
static struct radio_profile *
begin_lane (uint32_t *lane)
{
  struct radio_profile *profile = build_new ("times");
  *lane = build_lane (profile, "main");
  return profile;
}

static uint32_t
add (struct radio_profile *profile, uint32_t parent, uint64_t begin,
     uint64_t duration)
{
  char name[16];
  snprintf (name, sizeof name, "f%u", (unsigned) profile->spans.n);
  uint32_t above = parent ? profile->spans.at[parent - 1].node : RD_NO_INDEX;
  uint32_t node = build_node (profile, above, name, "");
  return build_span (profile, 0, node, parent, begin, duration);
}

/* Asserts the shifts of spans in the order of their ids. */
static void
assert_shifts (struct radio_profile *profile,
               const struct rd_shift *expected)
{
  struct rd_shift *shifts;
  build_finish (profile);
  assert_ok (rd_shifts_make (profile, &shifts));
  for (size_t i = 0; i < profile->spans.n; i++) {
    uint32_t id = profile->spans.at[i].id;
    assert_int_equal (shifts[i].begin_ps, expected[id - 1].begin_ps);
    assert_int_equal (shifts[i].end_ps, expected[id - 1].end_ps);
  }
  rd_free (shifts);
  radio_profile_close (profile);
}

static void
an_isolated_event_keeps_its_time (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = add (profile, 0, 0, 10);
  add (profile, id, 1, 8);
  assert_shifts (profile, (struct rd_shift[]) { { 0, 0 }, { 0, 0 } });
}

static void
a_child_that_ends_with_its_parent_ends_a_little_before (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = add (profile, 0, 0, 10);
  add (profile, id, 1, 9);
  assert_shifts (profile, (struct rd_shift[]) { { 0, 0 }, { 0, -100 } });
}

static void
a_span_that_touches_the_next_ends_a_little_before (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  add (profile, 0, 0, 10);
  add (profile, 0, 10, 10);
  assert_shifts (profile, (struct rd_shift[]) { { 0, -100 }, { 0, 0 } });
}

static void
spans_that_begin_together_keep_their_time (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = add (profile, 0, 5, 10);
  add (profile, id, 5, 3);
  assert_shifts (profile, (struct rd_shift[]) { { 0, 0 }, { 0, 0 } });
}

static void
a_span_without_duration_gets_a_small_one (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = add (profile, 0, 5, 10);
  add (profile, id, 5, 0);
  add (profile, id, 5, 3);
  /* Longer ones come first: the second span lies within the third. */
  assert_shifts (profile, (struct rd_shift[]) { { 0, 0 }, { 0, 100 },
                                                { 0, 0 } });
}

static void
many_events_share_the_available_room (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = 0;
  for (size_t i = 0; i < 200; i++)
    id = add (profile, id, i, 1000 - i);
  build_finish (profile);
  struct rd_shift *shifts;
  assert_ok (rd_shifts_make (profile, &shifts));
  for (size_t i = 0; i < 200; i++) {
    assert_in_range (-shifts[i].end_ps, 0, 248);
    assert_true (i == 0 || shifts[i].end_ps < shifts[i - 1].end_ps);
  }
  rd_free (shifts);
  radio_profile_close (profile);
}

static void
too_many_events_stay_within_their_nanosecond (void **state)
{
  (void) state;
  uint32_t lane;
  struct radio_profile *profile = begin_lane (&lane);
  uint32_t id = 0;
  for (size_t i = 0; i < 2000; i++)
    id = add (profile, id, i, 10000 - i);
  build_finish (profile);
  struct rd_shift *shifts;
  assert_ok (rd_shifts_make (profile, &shifts));
  for (size_t i = 0; i < 2000; i++)
    assert_in_range (-shifts[i].end_ps, 0, 248);
  rd_free (shifts);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * A reader that goes by floating-point numbers
 *----------------------------------------------------------------------*/

/* A begin or an end, as a reader of JSON sees it. */
struct edge {
  double us;
  double length;
  size_t event;
  bool is_end;
};

static int
compare_edges (const void *pa, const void *pb)
{
  const struct edge *a = pa, *b = pb;
  if (a->us != b->us)
    return a->us < b->us ? -1 : 1;
  if (a->is_end != b->is_end)
    return a->is_end ? 1 : -1;
  if (a->length != b->length)
    return a->length > b->length ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

/* Lists all edges of one thread in order, and returns their number. */
static size_t
list_edges (struct json_object *events, uint64_t tid, struct edge *edges)
{
  size_t n = 0;
  for (size_t i = 0; i < json_object_array_length (events); i++) {
    struct json_object *event = json_object_array_get_idx (events, i);
    if (json_u64 (event, "tid") != tid)
      continue;
    double ts = json_object_get_double (json_at (event, "ts"));
    double dur = json_object_get_double (json_at (event, "dur"));
    edges[n++] = (struct edge) { ts, dur, i, false };
    edges[n++] = (struct edge) { ts + dur, dur, i, true };
  }
  qsort (edges, n, sizeof *edges, compare_edges);
  return n;
}

/* Asserts that every end is that of the innermost span. */
static void
assert_balanced (const struct edge *edges, size_t n)
{
  size_t stack[256], depth = 0;
  for (size_t i = 0; i < n; i++)
    if (!edges[i].is_end) {
      assert_true (depth < 256);
      stack[depth++] = edges[i].event;
    } else {
      assert_true (depth > 0);
      assert_int_equal (stack[--depth], edges[i].event);
    }
  assert_int_equal (depth, 0);
}

static void
assert_balanced_threads (struct radio_profile *profile)
{
  struct json_object *trace = capture_json (profile, RADIO_PROFILE_CHROME,
                                            false);
  struct json_object *events = chrome_events (trace, "X");
  size_t room = 2 * json_object_array_length (events) + 1;
  struct edge *edges = calloc (room, sizeof *edges);
  assert_non_null (edges);
  for (size_t i = 0; i < profile->lanes.n; i++) {
    uint64_t tid = json_u64 (chrome_event (trace, "M", "thread_name", i),
                             "tid");
    assert_balanced (edges, list_edges (events, tid, edges));
  }
  free (edges);
  json_object_put (events);
  json_object_put (trace);
  radio_profile_close (profile);
}

static void
sorting_floating_point_numbers_finds_the_nesting (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 20; seed++)
    assert_balanced_threads (history_random (seed, false));
  assert_balanced_threads (build_specimen ());
}

/* Returns the log of a profile as a clock with ticks of 2 us would record it:
 * most events coincide. */
static struct radio_profile *
coarse_copy (const struct radio_profile *profile)
{
  struct radio_profile *copy = build_new ("coarse");
  for (size_t i = 0; i < profile->nodes.n; i++)
    assert_ok (rd_profile_add_node (copy, &profile->nodes.at[i], NULL));
  for (size_t i = 0; i < profile->lanes.n; i++)
    build_lane (copy, profile->lanes.at[i].name);
  for (size_t i = 0; i < profile->spans.n; i++) {
    struct rd_span span = profile->spans.at[i];
    uint64_t end = (span.begin_ns + span.duration_ns) / 2000 * 2000;
    span.begin_ns = span.begin_ns / 2000 * 2000;
    span.submitted_ns = span.begin_ns;
    span.duration_ns = end - span.begin_ns;
    assert_ok (rd_profile_add_span (copy, &span));
  }
  assert_ok (rd_profile_finalize (copy));
  return copy;
}

static void
a_coarse_clock_leaves_the_nesting_too (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct radio_profile *profile = build_random (seed, 300, 2);
    assert_balanced_threads (coarse_copy (profile));
    radio_profile_close (profile);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_isolated_event_keeps_its_time),
    cmocka_unit_test (a_child_that_ends_with_its_parent_ends_a_little_before),
    cmocka_unit_test (a_span_that_touches_the_next_ends_a_little_before),
    cmocka_unit_test (spans_that_begin_together_keep_their_time),
    cmocka_unit_test (a_span_without_duration_gets_a_small_one),
    cmocka_unit_test (many_events_share_the_available_room),
    cmocka_unit_test (too_many_events_stay_within_their_nanosecond),
    cmocka_unit_test (sorting_floating_point_numbers_finds_the_nesting),
    cmocka_unit_test (a_coarse_clock_leaves_the_nesting_too),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
