/* SPDX-License-Identifier: MIT */
/* speedscope's format: lanes as balanced events, the tree as weighted
 * stacks. */
#include <config.h>

#include "tests/profiler/trace/capture.h"

static struct json_object *
element (struct json_object *array, size_t i)
{
  assert_true (i < json_object_array_length (array));
  return json_object_array_get_idx (array, i);
}

static struct json_object *
profile_of (struct json_object *file, size_t i)
{
  return element (json_at (file, "profiles"), i);
}

static const char *
frame_name (struct json_object *file, uint64_t frame)
{
  struct json_object *frames =
    json_at (json_at (file, "shared"), "frames");
  return json_text (element (frames, frame), "name");
}

static struct json_object *
captured (struct radio_profile *profile)
{
  struct json_object *file =
    capture_json (profile, RADIO_PROFILE_SPEEDSCOPE, false);
  radio_profile_close (profile);
  return file;
}

/* Events as "O read 0, C read 10, ". */
static void
assert_events (struct json_object *file, size_t i, const char *expected)
{
  char text[2048] = "";
  size_t n = 0;
  struct json_object *events = json_at (profile_of (file, i), "events");
  for (size_t j = 0; j < json_object_array_length (events); j++) {
    struct json_object *event = element (events, j);
    n += (size_t) snprintf (
      text + n, sizeof text - n, "%s %s %llu, ", json_text (event, "type"),
      frame_name (file, json_u64 (event, "frame")),
      (unsigned long long) json_u64 (event, "at"));
  }
  assert_string_equal (text, expected);
}

/* Stacks as "a;b 12, ". */
static void
assert_stacks (struct json_object *profile, struct json_object *file,
               const char *expected)
{
  char text[2048] = "";
  size_t n = 0;
  struct json_object *samples = json_at (profile, "samples");
  struct json_object *weights = json_at (profile, "weights");
  assert_int_equal (json_object_array_length (samples),
                    json_object_array_length (weights));
  for (size_t j = 0; j < json_object_array_length (samples); j++) {
    struct json_object *stack = element (samples, j);
    for (size_t k = 0; k < json_object_array_length (stack); k++)
      n += (size_t) snprintf (
        text + n, sizeof text - n, "%s%s", k ? ";" : "",
        frame_name (file, json_object_get_uint64 (element (stack, k))));
    n += (size_t) snprintf (
      text + n, sizeof text - n, " %llu, ",
      (unsigned long long) json_object_get_uint64 (element (weights, j)));
  }
  assert_string_equal (text, expected);
}

static struct radio_profile *
build_two_threads (void)
{
  struct radio_profile *profile = build_new ("two");
  uint32_t lane = build_lane (profile, "main");
  uint32_t other = build_lane (profile, "worker 1");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t plan = build_node (profile, read, "plan", "metadata");
  uint32_t tile = build_edge_node (profile, read, "tile", "decode",
                                   RADIO_EDGE_HANDOFF);
  uint32_t id = build_span (profile, lane, read, 0, 0, 100);
  build_span (profile, lane, plan, id, 10, 20);
  build_span (profile, other, tile, id, 40, 30);
  build_finish (profile);
  return profile;
}

static void
the_file_identifies_its_format (void **state)
{
  (void) state;
  struct json_object *file = captured (build_two_threads ());
  assert_string_equal (
    json_text (file, "$schema"),
    "https://www.speedscope.app/file-format-schema.json");
  char exporter[64];
  snprintf (exporter, sizeof exporter, "radio@%s", radio_version ());
  assert_string_equal (json_text (file, "exporter"), exporter);
  assert_string_equal (json_text (file, "name"), "two");
  assert_int_equal (json_u64 (file, "activeProfileIndex"), 0);
  json_object_put (file);
}

static void
each_lane_is_a_profile_of_events_and_the_tree_one_more (void **state)
{
  (void) state;
  struct json_object *file = captured (build_two_threads ());
  assert_int_equal (json_object_array_length (json_at (file, "profiles")),
                    3);
  static const char *const names[] = { "main", "worker 1",
                                       "call tree, self time" };
  static const char *const types[] = { "evented", "evented", "sampled" };
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal (json_text (profile_of (file, i), "name"), names[i]);
    assert_string_equal (json_text (profile_of (file, i), "type"), types[i]);
    assert_string_equal (json_text (profile_of (file, i), "unit"),
                         "nanoseconds");
    assert_int_equal (json_u64 (profile_of (file, i), "startValue"), 0);
  }
  json_object_put (file);
}

static void
events_are_in_the_order_of_time_and_nested (void **state)
{
  (void) state;
  struct json_object *file = captured (build_two_threads ());
  assert_events (file, 0,
                 "O read 0, O plan 10, C plan 30, C read 100, ");
  assert_events (file, 1, "O tile 40, C tile 70, ");
  json_object_put (file);
}

static void
lanes_end_where_the_recording_ends (void **state)
{
  (void) state;
  struct json_object *file = captured (build_two_threads ());
  assert_int_equal (json_u64 (profile_of (file, 0), "endValue"), 100);
  assert_int_equal (json_u64 (profile_of (file, 1), "endValue"), 100);
  json_object_put (file);
}

static void
a_span_after_the_wall_time_moves_the_end (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("late");
  uint32_t lane = build_lane (profile, "main");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "");
  build_span (profile, lane, read, 0, 50, 100);
  profile->info.wall_ns = 120;
  build_finish (profile);
  struct json_object *file = captured (profile);
  assert_int_equal (json_u64 (profile_of (file, 0), "endValue"), 150);
  json_object_put (file);
}

static void
stacks_cross_threads_and_weigh_their_self_time (void **state)
{
  (void) state;
  struct json_object *file = captured (build_two_threads ());
  struct json_object *tree = profile_of (file, 2);
  assert_stacks (tree, file, "read 50, read;plan 20, read;tile 30, ");
  assert_int_equal (json_u64 (tree, "endValue"), 100);
  json_object_put (file);
}

static void
stacks_come_in_the_order_of_the_tree (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("order");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t b = build_node (profile, RD_NO_INDEX, "b", "");
  uint32_t c = build_node (profile, a, "c", "");
  uint32_t d = build_node (profile, b, "d", "");
  uint32_t e = build_node (profile, c, "e", "");
  uint32_t f = build_node (profile, a, "f", "");
  const uint32_t nodes[] = { a, b, c, d, e, f };
  for (size_t i = 0; i < 6; i++)
    build_times (profile, nodes[i], 1, 10, 1, 1, 0);
  build_finish (profile);
  struct json_object *file = captured (profile);
  assert_stacks (profile_of (file, 0), file,
                 "a 1, a;c 1, a;c;e 1, a;f 1, b 1, b;d 1, ");
  json_object_put (file);
}

static void
nodes_without_self_time_are_not_stacks (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("zero");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t b = build_node (profile, a, "b", "");
  build_times (profile, a, 1, 5, 0, 0, 0);
  build_times (profile, b, 1, 5, 5, 5, 0);
  build_finish (profile);
  struct json_object *file = captured (profile);
  assert_stacks (profile_of (file, 0), file, "a;b 5, ");
  json_object_put (file);
}

static void
equal_places_are_one_frame_and_others_are_not (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("frames");
  struct radio_profile_node node = {
    .name = "f", .category = "user", .file = "a.c", .line = 7,
    .parent = RADIO_NO_PARENT
  };
  uint32_t top, below;
  assert_ok (rd_profile_add_node (profile, &node, &top));
  node.parent = top;
  assert_ok (rd_profile_add_node (profile, &node, &below));
  node.parent = below;
  node.line = 8;
  assert_ok (rd_profile_add_node (profile, &node, NULL));
  node.category = "other";
  node.file = "";
  assert_ok (rd_profile_add_node (profile, &node, NULL));
  build_finish (profile);
  struct json_object *file = captured (profile);
  struct json_object *frames =
    json_at (json_at (file, "shared"), "frames");
  assert_int_equal (json_object_array_length (frames), 3);
  assert_false (json_object_object_get_ex (element (frames, 0), "file",
                                           NULL));
  assert_string_equal (json_text (element (frames, 1), "file"), "a.c");
  assert_int_equal (json_u64 (element (frames, 1), "line"), 7);
  assert_int_equal (json_u64 (element (frames, 2), "line"), 8);
  json_object_put (file);
}

static void
instants_are_no_frames_of_a_lane (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("instant");
  uint32_t lane = build_lane (profile, "main");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "");
  uint32_t hit = build_edge_node (profile, read, "hit", "",
                                  RADIO_EDGE_INSTANT);
  uint32_t id = build_span (profile, lane, read, 0, 0, 10);
  build_span (profile, lane, hit, id, 4, 0);
  build_finish (profile);
  struct json_object *file = captured (profile);
  assert_events (file, 0, "O read 0, C read 10, ");
  json_object_put (file);
}

static void
spans_without_duration_are_balanced (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("zero");
  uint32_t lane = build_lane (profile, "main");
  uint32_t a = build_node (profile, RD_NO_INDEX, "a", "");
  uint32_t b = build_node (profile, a, "b", "");
  uint32_t id = build_span (profile, lane, a, 0, 5, 0);
  build_span (profile, lane, b, id, 5, 0);
  build_span (profile, lane, a, 0, 5, 3);
  build_finish (profile);
  struct json_object *file = captured (profile);
  const struct json_object *events =
    json_at (profile_of (file, 0), "events");
  assert_int_equal (json_object_array_length (events), 6);
  json_object_put (file);
}

static void
an_empty_profile_is_a_file_too (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("");
  build_finish (profile);
  struct json_object *file = captured (profile);
  assert_stacks (profile_of (file, 0), file, "");
  json_object_put (file);
}

static void
the_specimen_is_balanced_in_each_lane (void **state)
{
  (void) state;
  struct json_object *file = captured (build_specimen ());
  struct json_object *profiles = json_at (file, "profiles");
  for (size_t i = 0; i + 1 < json_object_array_length (profiles); i++) {
    struct json_object *events = json_at (element (profiles, i), "events");
    uint64_t stack[64], at = 0;
    size_t depth = 0;
    for (size_t j = 0; j < json_object_array_length (events); j++) {
      struct json_object *event = element (events, j);
      assert_true (json_u64 (event, "at") >= at);
      at = json_u64 (event, "at");
      if (json_text (event, "type")[0] == 'O')
        stack[depth++] = json_u64 (event, "frame");
      else
        assert_int_equal (stack[--depth], json_u64 (event, "frame"));
    }
    assert_int_equal (depth, 0);
    assert_true (at <= json_u64 (element (profiles, i), "endValue"));
  }
  json_object_put (file);
}

/* n requests at one time, of which the first ones take longest. */
static struct radio_profile *
build_requests (size_t n)
{
  struct radio_profile *profile = build_new ("requests");
  uint32_t lane = build_lane (profile, "main");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "");
  uint32_t get = build_edge_node (profile, read, "GET", "network",
                                  RADIO_EDGE_ASYNC);
  uint32_t body = build_edge_node (profile, get, "body", "network",
                                   RADIO_EDGE_PHASE);
  uint32_t id = build_span (profile, lane, read, 0, 0, 4 * n);
  for (size_t i = 0; i < n; i++) {
    uint32_t request = build_span (profile, RD_NO_INDEX, get, id, i, 3 * n);
    build_span (profile, RD_NO_INDEX, body, request, i + 1, 10);
  }
  build_finish (profile);
  return profile;
}

/* A menu of thousands of profiles cannot be used: rows of requests are 32
 * profiles at most, and nothing of the others' time is lost. */
static void
rows_of_requests_are_32_profiles_at_most (void **state)
{
  (void) state;
  static const size_t counts[] = { 32, 33, 1000 };
  for (size_t i = 0; i < 3; i++) {
    size_t n = counts[i];
    struct json_object *file = captured (build_requests (n));
    size_t nprofiles = json_object_array_length (json_at (file, "profiles"));
    assert_int_equal (nprofiles, 1 + 32 + 1);
    struct json_object *last = profile_of (file, 32);
    assert_string_equal (json_text (profile_of (file, 31), "type"),
                         "evented");
    assert_string_equal (json_text (last, "type"),
                         n > 32 ? "sampled" : "evented");
    char name[64], stacks[96];
    size_t nadded = n - 31;
    snprintf (name, sizeof name, "%zu more rows of requests, added up",
              nadded);
    snprintf (stacks, sizeof stacks, "read;GET %zu, read;GET;body %zu, ",
              nadded * (3 * n - 10), nadded * 10);
    if (n > 32) {
      assert_string_equal (json_text (last, "name"), name);
      assert_stacks (last, file, stacks);
    }
    assert_string_equal (json_text (profile_of (file, 33), "name"),
                         "call tree, self time");
    json_object_put (file);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_file_identifies_its_format),
    cmocka_unit_test (each_lane_is_a_profile_of_events_and_the_tree_one_more),
    cmocka_unit_test (events_are_in_the_order_of_time_and_nested),
    cmocka_unit_test (lanes_end_where_the_recording_ends),
    cmocka_unit_test (a_span_after_the_wall_time_moves_the_end),
    cmocka_unit_test (stacks_cross_threads_and_weigh_their_self_time),
    cmocka_unit_test (stacks_come_in_the_order_of_the_tree),
    cmocka_unit_test (nodes_without_self_time_are_not_stacks),
    cmocka_unit_test (equal_places_are_one_frame_and_others_are_not),
    cmocka_unit_test (instants_are_no_frames_of_a_lane),
    cmocka_unit_test (spans_without_duration_are_balanced),
    cmocka_unit_test (an_empty_profile_is_a_file_too),
    cmocka_unit_test (the_specimen_is_balanced_in_each_lane),
    cmocka_unit_test (rows_of_requests_are_32_profiles_at_most),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
