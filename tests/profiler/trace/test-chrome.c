/* SPDX-License-Identifier: MIT */
/* Chrome's trace events: spans, names, instants, gauges and arguments. */
#include <config.h>

#include "tests/profiler/trace/capture.h"

static struct json_object *
captured (struct radio_profile *profile, bool arguments)
{
  struct json_object *trace =
    capture_json (profile, RADIO_PROFILE_CHROME, arguments);
  radio_profile_close (profile);
  return trace;
}

static size_t
count_events (struct json_object *trace, const char *phase)
{
  struct json_object *events = chrome_events (trace, phase);
  size_t n = json_object_array_length (events);
  json_object_put (events);
  return n;
}

static bool
has (struct json_object *object, const char *key)
{
  return json_object_object_get_ex (object, key, NULL);
}

/* Begins a profile of one span on one lane; a test may add to it before it
 * calls end_simple. */
static struct radio_profile *
begin_simple (uint32_t *lane, uint32_t *read)
{
  struct radio_profile *profile = build_new ("simple");
  build_fact (profile, "pid", "4242", false);
  *lane = build_lane (profile, "main");
  *read = build_node (profile, RD_NO_INDEX, "read", "operation");
  build_span (profile, *lane, *read, 0, 1234567, 1002003);
  return profile;
}

static struct radio_profile *
end_simple (struct radio_profile *profile)
{
  build_finish (profile);
  return profile;
}

static struct json_object *
simple_trace (bool arguments)
{
  uint32_t lane, read;
  return captured (end_simple (begin_simple (&lane, &read)), arguments);
}

static void
a_span_is_one_complete_event_in_microseconds (void **state)
{
  (void) state;
  struct json_object *trace = simple_trace (false);
  assert_int_equal (count_events (trace, "X"), 1);
  struct json_object *event = chrome_event (trace, "X", "read", 0);
  assert_string_equal (json_object_to_json_string (json_at (event, "ts")),
                       "1234.567");
  assert_string_equal (json_object_to_json_string (json_at (event, "dur")),
                       "1002.003");
  assert_string_equal (json_text (event, "cat"), "operation");
  assert_int_equal (json_u64 (event, "pid"), 4242);
  assert_int_equal (json_u64 (event, "tid"), 1000);
  assert_false (has (event, "args"));
  json_object_put (trace);
}

/* PyTorch's readers know steps by a name; 0 is a number, too. */
static void
a_step_has_its_number (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("steps");
  uint32_t lane = build_lane (profile, "main");
  uint32_t step = build_node (profile, RD_NO_INDEX, "step", "step");
  build_span (profile, lane, step, 0, 0, 10);
  build_last (profile)->tile = 1;
  build_span (profile, lane, step, 0, 20, 10);
  build_last (profile)->tile = 58;
  build_finish (profile);
  struct json_object *kineto
    = capture_json (profile, RADIO_PROFILE_KINETO, true);
  struct json_object *trace = captured (profile, true);
  for (size_t i = 0; i < 2; i++) {
    const char *number = i ? "57" : "0";
    struct json_object *event = chrome_event (trace, "X", "step", i);
    assert_string_equal (json_text (json_at (event, "args"), "step"), number);
  }
  assert_non_null (chrome_event (kineto, "X", "ProfilerStep#0", 0));
  assert_non_null (chrome_event (kineto, "X", "ProfilerStep#57", 0));
  json_object_put (kineto);
  json_object_put (trace);
}

/* A process that is unknown gets a number that none of Linux has. */
static void
a_process_without_a_number_gets_one (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("unknown");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, build_node (profile, RD_NO_INDEX, "read", ""), 0,
              0, 10);
  build_finish (profile);
  struct json_object *trace = captured (profile, false);
  assert_int_equal (json_u64 (chrome_event (trace, "X", "read", 0), "pid"),
                    4194304);
  json_object_put (trace);
}

/* Each with "ts" and "baseTimeNanoseconds" gives the moment on the real-time
 * clock; in PyTorch's form the base is a multiple of 7,889,238 s. */
static void
both_forms_have_the_real_time_clock (void **state)
{
  (void) state;
  static const struct {
    enum radio_profile_format format;
    const char *unit, *base, *ts;
  } rows[] = {
    { RADIO_PROFILE_CHROME, "ns", "1700000000000000000", "1234.567" },
    /* 1700000000 = 215 x 7889238 + 3813830. */
    { RADIO_PROFILE_KINETO, "ms", "1696186170000000000",
      "3813830001234.567" },
  };
  for (size_t i = 0; i < 2; i++) {
    uint32_t lane, read;
    struct radio_profile *profile = begin_simple (&lane, &read);
    profile->info.started_unix_ns = UINT64_C (1700000000000000000);
    end_simple (profile);
    struct json_object *trace = capture_json (profile, rows[i].format, false);
    radio_profile_close (profile);
    assert_string_equal (json_text (trace, "displayTimeUnit"), rows[i].unit);
    assert_string_equal (
      json_object_to_json_string (json_at (trace, "baseTimeNanoseconds")),
      rows[i].base);
    struct json_object *event = chrome_event (trace, "X", "read", 0);
    assert_string_equal (json_object_to_json_string (json_at (event, "ts")),
                         rows[i].ts);
    assert_string_equal (json_object_to_json_string (json_at (event, "dur")),
                         "1002.003");
    event = chrome_event (trace, "M", "thread_name", 0);
    assert_int_equal (json_ns (event, "ts"),
                      i ? UINT64_C (3813830000000000) : 0);
    json_object_put (trace);
  }
}

static void
every_event_has_a_time_and_a_process (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_specimen (), true);
  struct json_object *events = json_at (trace, "traceEvents");
  for (size_t i = 0; i < json_object_array_length (events); i++) {
    struct json_object *event = json_object_array_get_idx (events, i);
    json_at (event, "ts");
    assert_true (json_u64 (event, "pid") > 0);
    if (json_text (event, "ph")[0] == 'M')
      assert_int_equal (json_ns (event, "ts"), 0);
    else
      json_ns (event, "ts");
  }
  json_object_put (trace);
}

static void
nothing_has_arguments_unless_requested (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_specimen (), false);
  struct json_object *events = chrome_events (trace, "X");
  assert_true (json_object_array_length (events) > 10);
  for (size_t i = 0; i < json_object_array_length (events); i++)
    assert_false (has (json_object_array_get_idx (events, i), "args"));
  json_object_put (events);
  json_object_put (trace);
}

static void
the_tail_has_the_origin_of_the_trace (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  profile->info.starved_ns = 7;
  struct json_object *trace = captured (profile, false);
  assert_string_equal (json_text (trace, "displayTimeUnit"), "ns");
  struct json_object *other = json_at (trace, "otherData");
  assert_string_equal (json_text (other, "title"), "a specimen");
  assert_string_equal (json_text (other, "program"), "test");
  assert_string_equal (json_text (other, "clock"), "tsc");
  assert_string_equal (json_text (other, "started_unix_ns"),
                       "1700000000000000000");
  assert_string_equal (json_text (other, "dropped_spans"), "3");
  assert_string_equal (json_text (other, "no_cpu_ns"), "7");
  json_object_put (trace);
}

/*------------------------------------------------------------------------
 * Names and numbers
 *----------------------------------------------------------------------*/

static void
processes_and_threads_have_names_and_places (void **state)
{
  (void) state;
  struct json_object *trace = simple_trace (false);
  struct json_object *name = chrome_event (trace, "M", "thread_name", 0);
  assert_string_equal (json_text (json_at (name, "args"), "name"), "main");
  assert_int_equal (json_u64 (name, "tid"), 1000);
  name = chrome_event (trace, "M", "process_name", 0);
  assert_string_equal (json_text (json_at (name, "args"), "name"), "simple");
  json_u64 (json_at (chrome_event (trace, "M", "thread_sort_index", 0),
                     "args"), "sort_index");
  json_u64 (json_at (chrome_event (trace, "M", "process_sort_index", 0),
                     "args"), "sort_index");
  json_object_put (trace);
}

static void
a_process_without_a_title_is_named_like_the_program (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("");
  build_finish (profile);
  struct json_object *trace = captured (profile, false);
  struct json_object *name = chrome_event (trace, "M", "process_name", 0);
  assert_string_equal (json_text (json_at (name, "args"), "name"), "test");
  json_object_put (trace);
}

/* Asserts the tids of a trace's thread_name events, in order. */
static void
assert_tids (struct radio_profile *profile, const uint64_t *tids, size_t n)
{
  build_finish (profile);
  struct json_object *trace = captured (profile, false);
  for (size_t i = 0; i < n; i++)
    assert_int_equal (
      json_u64 (chrome_event (trace, "M", "thread_name", i), "tid"),
      tids[i]);
  json_object_put (trace);
}

static void
lanes_keep_the_numbers_of_their_threads_if_they_can (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("tids");
  static const uint64_t os_tids[] = { 77, 0, 77, 1, 0, (uint64_t) 1 << 40 };
  for (size_t i = 0; i < 6; i++) {
    uint32_t lane = build_lane (profile, "x");
    profile->lanes.at[lane].os_tid = os_tids[i];
  }
  static const uint64_t tids[] = {
    77, 4194304 + 1, 4194304 + 2, 1, 4194304 + 4, 4194304 + 5
  };
  assert_tids (profile, tids, 6);
}

static struct radio_profile *
build_joined (enum radio_profile_parts parts)
{
  struct radio_profile *profiles[2], *joined;
  for (size_t i = 0; i < 2; i++) {
    uint32_t lane, read;
    profiles[i] = end_simple (begin_simple (&lane, &read));
  }
  assert_ok (radio_profile_join (profiles, 2, parts, &joined));
  for (size_t i = 0; i < 2; i++)
    radio_profile_close (profiles[i]);
  return joined;
}

static void
each_rank_is_a_process (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_joined (RADIO_PARTS_RANKS),
                                        false);
  for (size_t i = 0; i < 2; i++) {
    struct json_object *event = chrome_event (trace, "X", "read", i);
    /* Two hosts may have the same number. */
    uint64_t pid = i == 0 ? 4242 : 4194304 + 1;
    assert_int_equal (json_u64 (event, "pid"), pid);
    event = chrome_event (trace, "M", "process_name", i);
    assert_int_equal (json_u64 (event, "pid"), pid);
    assert_string_equal (json_text (json_at (event, "args"), "name"),
                         i ? "rank 1" : "rank 0");
    event = chrome_event (trace, "M", "thread_name", i);
    assert_string_equal (json_text (json_at (event, "args"), "name"),
                         "main");
  }
  json_object_put (trace);
}

/* Some readers identify a thread by its tid alone. */
static void
threads_of_two_ranks_differ_in_their_numbers_too (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_joined (RADIO_PARTS_RANKS),
                                        false);
  assert_int_equal (json_u64 (chrome_event (trace, "X", "read", 0), "tid"),
                    1000);
  assert_int_equal (json_u64 (chrome_event (trace, "X", "read", 1), "tid"),
                    4194304 + 1);
  json_object_put (trace);
}

static void
runs_follow_each_other_on_one_thread (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_joined (RADIO_PARTS_RUNS),
                                        false);
  struct json_object *first = chrome_event (trace, "X", "read", 0);
  struct json_object *second = chrome_event (trace, "X", "read", 1);
  assert_int_equal (json_u64 (second, "pid"), 4242);
  assert_int_equal (json_u64 (second, "tid"), json_u64 (first, "tid"));
  assert_true (json_ns (second, "ts")
               >= json_ns (first, "ts") + json_ns (first, "dur"));
  json_object_put (trace);
}

/*------------------------------------------------------------------------
 * Other events
 *----------------------------------------------------------------------*/

static void
instants_are_on_their_thread (void **state)
{
  (void) state;
  uint32_t lane, read;
  struct radio_profile *profile = begin_simple (&lane, &read);
  uint32_t hit = build_edge_node (profile, read, "cache hit", "metadata",
                                  RADIO_EDGE_INSTANT);
  build_span (profile, lane, hit, 1, 1234568, 0);
  struct json_object *trace = captured (end_simple (profile), false);
  struct json_object *event = chrome_event (trace, "i", "cache hit", 0);
  assert_string_equal (json_text (event, "s"), "t");
  assert_int_equal (json_ns (event, "ts"), 1234568);
  assert_int_equal (json_u64 (event, "tid"), 1000);
  assert_false (has (event, "dur"));
  json_object_put (trace);
}

static void
gauges_are_counters_also_below_zero (void **state)
{
  (void) state;
  uint32_t lane, read;
  struct radio_profile *profile = begin_simple (&lane, &read);
  build_sample (profile, "in flight", 2000, 3);
  build_sample (profile, "in flight", 1000, -4);
  struct json_object *trace = captured (end_simple (profile), false);
  struct json_object *first = chrome_event (trace, "C", "in flight", 0);
  assert_int_equal (json_ns (first, "ts"), 1000);
  assert_int_equal (json_object_get_int64 (
                      json_at (json_at (first, "args"), "count")), -4);
  struct json_object *next = chrome_event (trace, "C", "in flight", 1);
  assert_int_equal (json_u64 (json_at (next, "args"), "count"), 3);
  json_object_put (trace);
}

static void
requests_that_overlap_are_on_rows_of_their_own (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_specimen (), false);
  struct json_object *first = chrome_event (trace, "X", "GET", 0);
  struct json_object *second = chrome_event (trace, "X", "GET", 1);
  assert_true (json_u64 (first, "tid") != json_u64 (second, "tid"));
  assert_int_equal (
    json_u64 (chrome_event (trace, "X", "connect", 0), "tid"),
    json_u64 (first, "tid"));
  json_object_put (trace);
}

/* Returns true if two intervals nest or are disjoint. */
static bool
nest (struct json_object *a, struct json_object *b)
{
  uint64_t a0 = json_ns (a, "ts"), a1 = a0 + json_ns (a, "dur");
  uint64_t b0 = json_ns (b, "ts"), b1 = b0 + json_ns (b, "dur");
  return a1 <= b0 || b1 <= a0 || (a0 >= b0 && a1 <= b1)
         || (b0 >= a0 && b1 <= a1);
}

static void
every_two_spans_of_a_thread_nest (struct radio_profile *profile)
{
  struct json_object *trace = captured (profile, false);
  struct json_object *events = chrome_events (trace, "X");
  size_t n = json_object_array_length (events);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) {
      struct json_object *a = json_object_array_get_idx (events, i);
      struct json_object *b = json_object_array_get_idx (events, j);
      if (json_u64 (a, "tid") == json_u64 (b, "tid"))
        assert_true (nest (a, b));
    }
  json_object_put (events);
  json_object_put (trace);
}

static void
spans_of_a_thread_nest_in_the_specimen (void **state)
{
  (void) state;
  every_two_spans_of_a_thread_nest (build_specimen ());
}

static void
spans_of_a_thread_nest_in_random_profiles (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 5; seed++)
    every_two_spans_of_a_thread_nest (build_random (seed, 200, 3));
}

/* Clocks of two processors that differ by more than a span is long. */
static void
a_child_that_ends_long_after_its_parent_is_cut (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("skew");
  uint32_t lane = build_lane (profile, "main");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "");
  uint32_t plan = build_node (profile, read, "plan", "");
  uint32_t id = build_span (profile, lane, read, 0, 100, 10);
  build_span (profile, lane, plan, id, 105, 1000);
  build_span (profile, lane, read, 0, 110, 10);
  build_finish (profile);
  /* The model cuts too; the exporter cuts what a broken model passes. */
  profile->spans.at[1].duration_ns = 1000;
  struct json_object *trace = captured (profile, false);
  assert_int_equal (json_ns (chrome_event (trace, "X", "plan", 0), "dur"),
                    5);
  json_object_put (trace);
}

/*------------------------------------------------------------------------
 * Arguments
 *----------------------------------------------------------------------*/

static struct json_object *
arguments_of (struct json_object *trace, const char *name)
{
  return json_at (chrome_event (trace, "X", name, 0), "args");
}

static void
arguments_are_texts_bytes_and_times_of_the_run (void **state)
{
  (void) state;
  struct json_object *trace = captured (build_specimen (), true);
  struct json_object *get = arguments_of (trace, "GET");
  assert_string_equal (json_text (get, "object"),
                       "ct/Doe^Jane.zarr/c/0/0/0");
  assert_int_equal (json_u64 (get, "bytes"), 1 << 20);
  assert_int_equal (json_u64 (get, "queued_ns"), 100000);
  struct json_object *pread = arguments_of (trace, "pread");
  assert_int_equal (json_u64 (pread, "wait_ns"), 100000);
  assert_int_equal (json_u64 (pread, "no_cpu_ns"), 40000);
  assert_false (has (arguments_of (trace, "read"), "no_cpu_ns"));
  assert_false (has (pread, "queued_ns"));
  assert_int_equal (json_u64 (arguments_of (trace, "radio"), "open"), 1);
  struct json_object *last = chrome_event (trace, "X", "tile", 3);
  assert_int_equal (json_u64 (json_at (last, "args"), "late"), 1);
  json_object_put (trace);
}

static void
a_span_without_details_has_no_arguments (void **state)
{
  (void) state;
  struct json_object *trace = simple_trace (true);
  assert_false (has (chrome_event (trace, "X", "read", 0), "args"));
  json_object_put (trace);
}

static void
numbers_that_a_double_does_not_hold_are_texts (void **state)
{
  (void) state;
  static const struct {
    uint64_t nbytes;
    const char *json;
  } cases[] = {
    { (uint64_t) 1 << 53, "9007199254740992" },
    { ((uint64_t) 1 << 53) + 1, "\"9007199254740993\"" },
    { INT64_MAX, "\"9223372036854775807\"" },
  };
  for (size_t i = 0; i < 3; i++) {
    uint32_t lane, read;
    struct radio_profile *profile = begin_simple (&lane, &read);
    build_last (profile)->nbytes = cases[i].nbytes;
    struct json_object *trace = captured (end_simple (profile), true);
    assert_string_equal (
      json_object_to_json_string (json_at (arguments_of (trace, "read"),
                                           "bytes")), cases[i].json);
    json_object_put (trace);
  }
}

static void
texts_go_to_their_own_span_only (void **state)
{
  (void) state;
  uint32_t lane, read;
  struct radio_profile *profile = begin_simple (&lane, &read);
  uint32_t other = build_span (profile, lane, read, 0, 5000000, 10);
  build_span (profile, lane, read, 0, 6000000, 10);
  build_note (profile, other, read, "codec", "zstd", false);
  build_note (profile, other, read, "axis", "z", false);
  build_note (profile, 0, read, "file", "first.nii", true);
  struct json_object *trace = captured (end_simple (profile), true);
  assert_false (has (chrome_event (trace, "X", "read", 0), "args"));
  struct json_object *args = json_at (chrome_event (trace, "X", "read", 1),
                                      "args");
  assert_string_equal (json_text (args, "codec"), "zstd");
  assert_string_equal (json_text (args, "axis"), "z");
  assert_int_equal (json_object_object_length (args), 2);
  assert_false (has (chrome_event (trace, "X", "read", 2), "args"));
  json_object_put (trace);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_span_is_one_complete_event_in_microseconds),
    cmocka_unit_test (a_step_has_its_number),
    cmocka_unit_test (a_process_without_a_number_gets_one),
    cmocka_unit_test (both_forms_have_the_real_time_clock),
    cmocka_unit_test (every_event_has_a_time_and_a_process),
    cmocka_unit_test (nothing_has_arguments_unless_requested),
    cmocka_unit_test (the_tail_has_the_origin_of_the_trace),
    cmocka_unit_test (processes_and_threads_have_names_and_places),
    cmocka_unit_test (a_process_without_a_title_is_named_like_the_program),
    cmocka_unit_test (lanes_keep_the_numbers_of_their_threads_if_they_can),
    cmocka_unit_test (each_rank_is_a_process),
    cmocka_unit_test (threads_of_two_ranks_differ_in_their_numbers_too),
    cmocka_unit_test (runs_follow_each_other_on_one_thread),
    cmocka_unit_test (instants_are_on_their_thread),
    cmocka_unit_test (gauges_are_counters_also_below_zero),
    cmocka_unit_test (requests_that_overlap_are_on_rows_of_their_own),
    cmocka_unit_test (spans_of_a_thread_nest_in_the_specimen),
    cmocka_unit_test (spans_of_a_thread_nest_in_random_profiles),
    cmocka_unit_test (a_child_that_ends_long_after_its_parent_is_cut),
    cmocka_unit_test (arguments_are_texts_bytes_and_times_of_the_run),
    cmocka_unit_test (a_span_without_details_has_no_arguments),
    cmocka_unit_test (numbers_that_a_double_does_not_hold_are_texts),
    cmocka_unit_test (texts_go_to_their_own_span_only),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
