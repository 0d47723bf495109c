/* SPDX-License-Identifier: MIT */
/* The flow arrows of a Chrome trace: their source, their target, and times at
 * which every reader finds the right spans. */
#include <config.h>

#include "tests/profiler/trace/capture.h"

/* A read on one thread, and a tile of it on another. */
struct history {
  struct radio_profile *profile;
  uint32_t main_lane, worker;
  uint32_t read, plan, tile, decode;
};

static struct history
begin_history (void)
{
  struct history h = { .profile = build_new ("flow") };
  h.main_lane = build_lane (h.profile, "main");
  h.worker = build_lane (h.profile, "worker 1");
  h.read = build_node (h.profile, RD_NO_INDEX, "read", "operation");
  h.plan = build_node (h.profile, h.read, "plan", "metadata");
  h.tile = build_edge_node (h.profile, h.read, "tile", "decode",
                            RADIO_EDGE_HANDOFF);
  h.decode = build_node (h.profile, h.tile, "blosc", "decode");
  return h;
}

static uint32_t
add_tile (struct history *h, uint32_t lane, uint32_t parent,
          uint64_t submitted, uint64_t begin, uint64_t duration)
{
  uint32_t id = build_span (h->profile, lane, h->tile, parent, begin,
                            duration);
  build_last (h->profile)->submitted_ns = submitted;
  return id;
}

static struct json_object *
trace_of (struct history *h)
{
  build_finish (h->profile);
  struct json_object *trace = capture_json (h->profile,
                                            RADIO_PROFILE_CHROME, false);
  radio_profile_close (h->profile);
  return trace;
}

static void
assert_no_arrow (struct json_object *trace)
{
  static const char *const phases[] = { "s", "t", "f" };
  for (size_t i = 0; i < 3; i++) {
    struct json_object *events = chrome_events (trace, phases[i]);
    assert_int_equal (json_object_array_length (events), 0);
    json_object_put (events);
  }
  json_object_put (trace);
}

static void
assert_arrow (struct json_object *trace, size_t n, uint64_t from_tid,
              uint64_t from_ns, uint64_t to_tid, uint64_t to_ns)
{
  struct json_object *from = chrome_event (trace, "s", "handed on", n);
  struct json_object *to = chrome_event (trace, "f", "handed on", n);
  assert_int_equal (json_u64 (from, "tid"), from_tid);
  assert_int_equal (json_ns (from, "ts"), from_ns);
  assert_int_equal (json_u64 (to, "tid"), to_tid);
  assert_int_equal (json_ns (to, "ts"), to_ns);
  assert_string_equal (json_text (from, "id"), json_text (to, "id"));
  assert_string_equal (json_text (from, "cat"), json_text (to, "cat"));
  assert_string_equal (json_text (to, "bp"), "e");
}

static void
work_handed_on_has_an_arrow_from_where_it_was_submitted (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  add_tile (&h, h.worker, read, 40, 50, 20);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 40, 1001, 50);
  json_object_put (trace);
}

static void
an_arrow_starts_before_its_submitters_next_scope (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  build_span (h.profile, h.main_lane, h.plan, read, 10, 20);
  add_tile (&h, h.worker, read, 40, 50, 20);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 9, 1001, 50);
  json_object_put (trace);
}

static void
an_arrow_ends_before_the_workers_next_scope (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 53, 100);
  uint32_t tile = add_tile (&h, h.worker, read, 50, 50, 20);
  build_span (h.profile, h.worker, h.decode, tile, 55, 5);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 53, 1001, 53);
  json_object_put (trace);

  h = begin_history ();
  read = build_span (h.profile, h.main_lane, h.read, 0, 56, 100);
  tile = add_tile (&h, h.worker, read, 50, 50, 20);
  build_span (h.profile, h.worker, h.decode, tile, 55, 5);
  assert_no_arrow (trace_of (&h));
}

static void
an_arrow_starts_at_the_begin_if_a_child_begins_there (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 30, 100);
  build_span (h.profile, h.main_lane, h.plan, read, 30, 5);
  uint32_t tile = add_tile (&h, h.worker, read, 40, 50, 20);
  build_span (h.profile, h.worker, h.decode, tile, 50, 20);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 30, 1001, 50);
  json_object_put (trace);
}

static void
an_arrow_is_within_a_submitter_that_has_ended (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  add_tile (&h, h.worker, read, 150, 200, 20);
  build_last (h.profile)->flags = RD_SPAN_LATE;
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 99, 1001, 200);
  json_object_put (trace);
}

static void
each_arrow_has_an_id_of_its_own (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  for (uint64_t i = 0; i < 20; i++)
    add_tile (&h, h.worker, read, 10, 20 + 2 * i, 1);
  struct json_object *trace = trace_of (&h);
  struct json_object *starts = chrome_events (trace, "s");
  size_t n = json_object_array_length (starts);
  assert_int_equal (n, 20);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal (
        json_text (json_object_array_get_idx (starts, i), "id"),
        json_text (json_object_array_get_idx (starts, j), "id"));
  json_object_put (starts);
  json_object_put (trace);
}

static void
an_arrow_starts_before_it_ends_in_the_file (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.worker, h.read, 0, 0, 100);
  add_tile (&h, h.main_lane, read, 50, 50, 20);
  struct json_object *trace = trace_of (&h);
  struct json_object *events = json_at (trace, "traceEvents");
  size_t start = 0, end = 0;
  for (size_t i = 0; i < json_object_array_length (events); i++) {
    char phase = json_text (json_object_array_get_idx (events, i), "ph")[0];
    start = phase == 's' ? i : start;
    end = phase == 'f' ? i : end;
  }
  assert_true (start > 0 && end > start);
  json_object_put (trace);
}

static void
requests_have_arrows_and_their_phases_have_none (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t get = build_edge_node (h.profile, h.read, "GET", "network",
                                  RADIO_EDGE_ASYNC);
  uint32_t body = build_edge_node (h.profile, get, "body", "network",
                                   RADIO_EDGE_PHASE);
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  uint32_t id = build_span (h.profile, RD_NO_INDEX, get, read, 10, 50);
  build_span (h.profile, RD_NO_INDEX, body, id, 30, 30);
  struct json_object *trace = trace_of (&h);
  struct json_object *starts = chrome_events (trace, "s");
  assert_int_equal (json_object_array_length (starts), 1);
  json_object_put (starts);
  uint64_t row = json_u64 (chrome_event (trace, "X", "GET", 0), "tid");
  assert_arrow (trace, 0, 1000, 10, row, 10);
  json_object_put (trace);
}

static void
work_within_its_submitter_on_one_thread_has_no_arrow (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  add_tile (&h, h.main_lane, read, 10, 20, 30);
  assert_no_arrow (trace_of (&h));
}

static void
work_after_its_submitter_on_one_thread_has_an_arrow (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  add_tile (&h, h.main_lane, read, 10, 200, 30);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 10, 1000, 200);
  json_object_put (trace);
}

static void
a_call_has_no_arrow (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 0, 100);
  build_span (h.profile, h.main_lane, h.plan, read, 10, 20);
  assert_no_arrow (trace_of (&h));
}

/* The log keeps the longest: a parent can be missing. */
static void
work_whose_submitter_was_dropped_has_no_arrow (void **state)
{
  (void) state;
  struct history h = begin_history ();
  add_tile (&h, h.worker, 0, 40, 50, 20);
  build_finish (h.profile);
  h.profile->spans.at[0].parent = 4711;
  struct json_object *trace = capture_json (h.profile,
                                            RADIO_PROFILE_CHROME, false);
  radio_profile_close (h.profile);
  chrome_event (trace, "X", "tile", 0);
  assert_no_arrow (trace);
}

/* The clock of the worker's processor lags. */
static void
an_arrow_that_would_go_back_in_time_is_left_out (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 100, 100);
  add_tile (&h, h.worker, read, 20, 20, 30);
  assert_no_arrow (trace_of (&h));
}

static void
an_arrow_waits_for_a_submitter_that_began_a_little_later (void **state)
{
  (void) state;
  struct history h = begin_history ();
  uint32_t read = build_span (h.profile, h.main_lane, h.read, 0, 22, 100);
  add_tile (&h, h.worker, read, 20, 20, 30);
  struct json_object *trace = trace_of (&h);
  assert_arrow (trace, 0, 1000, 22, 1001, 22);
  json_object_put (trace);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (work_handed_on_has_an_arrow_from_where_it_was_submitted),
    cmocka_unit_test (an_arrow_starts_before_its_submitters_next_scope),
    cmocka_unit_test (an_arrow_ends_before_the_workers_next_scope),
    cmocka_unit_test (an_arrow_starts_at_the_begin_if_a_child_begins_there),
    cmocka_unit_test (an_arrow_is_within_a_submitter_that_has_ended),
    cmocka_unit_test (each_arrow_has_an_id_of_its_own),
    cmocka_unit_test (an_arrow_starts_before_it_ends_in_the_file),
    cmocka_unit_test (requests_have_arrows_and_their_phases_have_none),
    cmocka_unit_test (work_within_its_submitter_on_one_thread_has_no_arrow),
    cmocka_unit_test (work_after_its_submitter_on_one_thread_has_an_arrow),
    cmocka_unit_test (a_call_has_no_arrow),
    cmocka_unit_test (work_whose_submitter_was_dropped_has_no_arrow),
    cmocka_unit_test (an_arrow_that_would_go_back_in_time_is_left_out),
    cmocka_unit_test (
      an_arrow_waits_for_a_submitter_that_began_a_little_later),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
