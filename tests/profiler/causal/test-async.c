/* SPDX-License-Identifier: MIT */
/* Requests and their phases, with figures computed by hand. */
#include <config.h>

#include "tests/profiler/causal/stage.h"

SITE_IN (read, "operation");
SITE_IN (get, "network");
SITE_IN (connect, "network");
SITE_IN (body, "network");
SITE_IN (decode, "decode");

static const struct radio_counter bytes = { "bytes fetched", "bytes" };
static const struct radio_counter asked = { "bytes asked", "bytes" };
static const struct radio_counter retries = { "retries", "count" };

STAGE_FIXTURE

static void
assert_times (const struct radio_profile *profile, const char *path,
              uint64_t total, uint64_t self)
{
  const struct radio_profile_node *node = stage_node (profile, path);
  assert_int_equal (node->total_ns, total);
  assert_int_equal (node->self_ns, self);
}

static const struct rd_span *
find_span (const struct radio_profile *profile, const char *path)
{
  uint32_t node = (uint32_t) stage_index (profile, path);
  for (size_t i = 0; i < profile->spans.n; i++) {
    if (profile->spans.at[i].node == node)
      return &profile->spans.at[i];
  }
  fail_msg ("no span of %s", path);
  return NULL;
}

static void
concurrent_requests_cover_their_union (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);        /* 0-100 */
  stage_pass (&stage, 10);
  struct radio_async *one = radio_async_begin (&get_site);      /* 10-40 */
  stage_pass (&stage, 10);
  struct radio_async *two = radio_async_begin (&get_site);      /* 20-70 */
  stage_pass (&stage, 20);
  radio_async_end (one);
  stage_pass (&stage, 30);
  radio_async_end (two);
  stage_pass (&stage, 30);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 100, 40);
  assert_int_equal (stage_node (profile, "read")->work_ns, 100);
  assert_times (profile, "read/get", 80, 80);
  const struct radio_profile_node *get = stage_node (profile, "read/get");
  assert_int_equal (get->edge, RADIO_EDGE_ASYNC);
  assert_int_equal (get->calls, 2);
  assert_int_equal (get->work_ns + get->wait_ns, 0);
  assert_int_equal (get->min_ns, 30);
  assert_int_equal (get->max_ns, 50);
  assert_int_equal (profile->info.work_ns, 100);
  radio_profile_close (profile);
}

static void
each_phase_ends_the_one_before (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  struct radio_async *async = radio_async_begin (&get_site);
  stage_pass (&stage, 5);
  radio_async_phase (async, &connect_site);     /* 5-25 */
  stage_pass (&stage, 20);
  stage_on (&stage, 1);
  radio_async_phase (async, &body_site);        /* 25-65 */
  stage_pass (&stage, 40);
  stage_on (&stage, 2);
  radio_async_end (async);
  stage_on (&stage, 0);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read/get", 65, 5);
  assert_times (profile, "read/get/connect", 20, 20);
  assert_times (profile, "read/get/body", 40, 40);
  assert_int_equal (stage_node (profile, "read/get/body")->edge,
                    RADIO_EDGE_PHASE);
  assert_times (profile, "read", 65, 0);
  const struct rd_span *get = find_span (profile, "read/get");
  const struct rd_span *body = find_span (profile, "read/get/body");
  assert_int_equal (body->parent, get->id);
  assert_int_equal (body->begin_ns, 25);
  assert_int_equal (body->lane, get->lane);
  assert_true (profile->lanes.at[get->lane].is_async);
  assert_int_equal (get->parent, find_span (profile, "read")->id);
  radio_profile_close (profile);
}

static void
a_phase_may_repeat (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  struct radio_async *async = radio_async_begin (&get_site);
  for (int i = 0; i < 3; i++) {
    radio_async_phase (async, &connect_site);
    stage_pass (&stage, 10);
    radio_async_phase (async, &body_site);
    stage_pass (&stage, 1);
  }
  radio_async_end (async);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (stage_node (profile, "read/get/connect")->calls, 3);
  assert_times (profile, "read/get/connect", 30, 30);
  assert_times (profile, "read/get/body", 3, 3);
  assert_times (profile, "read/get", 33, 0);
  radio_profile_close (profile);
}

static void
counters_and_texts_belong_to_the_request (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  struct radio_async *async = radio_async_begin (&get_site);
  radio_async_add (async, &bytes, 4096);
  radio_async_add (async, &asked, 4000);
  radio_async_add (async, &bytes, 4);
  radio_async_add (async, &retries, 1);
  radio_async_text (async, "key", "ct/sub-01", RADIO_TEXT_NAME);
  radio_async_end (async);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  size_t get = stage_index (profile, "read/get");
  assert_int_equal (radio_profile_counter (profile, get, "bytes fetched",
                                           false), 4100);
  assert_int_equal (radio_profile_counter (profile, get, "retries", false),
                    1);
  assert_int_equal (radio_profile_counter (profile, 0, "bytes fetched",
                                           true), 4100);
  const struct rd_span *span = find_span (profile, "read/get");
  assert_int_equal (span->nbytes, 4100);        /* the larger of the two */
  assert_int_equal (profile->notes.n, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal (profile->notes.at[i].key, "key");
    assert_string_equal (profile->notes.at[i].value, "ct/sub-01");
    assert_true (profile->notes.at[i].is_name);
    assert_int_equal (profile->notes.at[i].node, get);
  }
  assert_int_equal (profile->notes.at[0].span, 0);
  assert_int_equal (profile->notes.at[1].span, span->id);
  radio_profile_close (profile);
}

static void
a_request_of_a_handoff_was_queued (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 15);
  stage_on (&stage, 3);
  struct radio_async *async = radio_async_receive (&handoff, &get_site);
  stage_pass (&stage, 10);
  radio_async_end (async);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (stage_node (profile, "read/get")->queue_ns, 15);
  assert_int_equal (find_span (profile, "read/get")->submitted_ns, 0);
  assert_times (profile, "read", 25, 15);
  radio_profile_close (profile);
}

static void
a_request_that_outlives_its_parent_is_late (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  stage_pass (&stage, 10);
  struct radio_async *async = radio_async_begin (&get_site);
  stage_pass (&stage, 10);
  radio_scope_end (top);
  stage_pass (&stage, 80);
  radio_async_end (async);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 20, 10);
  assert_times (profile, "read/get", 90, 90);
  assert_int_equal (stage_node (profile, "read/get")->late_count, 1);
  assert_int_equal (find_span (profile, "read/get")->flags, RD_SPAN_LATE);
  assert_int_equal (profile->info.wall_ns, 100);
  radio_profile_close (profile);
}

static void
requests_running_at_the_stop_are_open (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  struct radio_async *async = radio_async_begin (&get_site);
  stage_pass (&stage, 10);
  radio_async_phase (async, &body_site);
  stage_pass (&stage, 10);
  struct radio_profile *profile = NULL;
  assert_ok (radio_recorder_stop (stage.recorder, &profile));
  stage_pass (&stage, 10);
  radio_async_phase (async, &connect_site);
  radio_async_add (async, &bytes, 1);
  radio_async_text (async, "key", "value", RADIO_TEXT_PLAIN);
  radio_async_end (async);
  radio_scope_end (top);
  stage_leave (&stage);
  assert_times (profile, "read/get", 20, 10);
  assert_times (profile, "read/get/body", 10, 10);
  assert_int_equal (profile->info.open_count, 3);
  assert_int_equal (profile->info.late_count, 0);
  assert_int_equal (profile->nodes.n, 3);
  assert_int_equal (profile->notes.n, 0);
  radio_profile_close (profile);
}

static void
open_requests_are_ended_without_a_profile (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  struct radio_async *first = radio_async_begin (&get_site);
  struct radio_async *second = radio_async_begin (&get_site);
  assert_ok (radio_recorder_stop (stage.recorder, NULL));
  radio_async_end (second);
  radio_async_end (first);
  radio_scope_end (top);
  stage_leave (&stage);
}

static void
scopes_continue_during_a_request (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);        /* 0-60 */
  struct radio_async *async = radio_async_begin (&get_site);    /* 0-40 */
  stage_pass (&stage, 10);
  uint64_t near = radio_scope_begin (&decode_site);     /* 10-50 */
  stage_pass (&stage, 30);
  radio_async_end (async);
  stage_pass (&stage, 10);
  radio_scope_end (near);
  stage_pass (&stage, 10);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 60, 10);
  assert_int_equal (stage_node (profile, "read")->work_ns, 20);
  assert_times (profile, "read/decode", 40, 40);
  radio_profile_close (profile);
}

static void
no_request_begins_without_a_recorder (void **state)
{
  (void) state;
  stage_on (&stage, 1);
  struct radio_async *async = radio_async_begin (&get_site);
  assert_null (async);
  radio_async_phase (async, &body_site);
  radio_async_add (async, &bytes, 1);
  radio_async_text (async, "key", "value", RADIO_TEXT_PLAIN);
  radio_async_end (async);
  radio_profile_close (stage_close (&stage));
  assert_null (radio_async_begin (&get_site));
}

static void
a_request_outside_all_scopes_is_a_root (void **state)
{
  (void) state;
  struct radio_async *async = radio_async_begin (&get_site);
  stage_pass (&stage, 10);
  radio_async_end (async);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "get", 10, 10);
  assert_int_equal (profile->spans.n, 1);
  assert_int_equal (profile->spans.at[0].parent, 0);
  assert_int_equal (profile->info.wall_ns, 10);
  radio_profile_close (profile);
}

#define TEST(name) cmocka_unit_test_setup (name, open_stage)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (concurrent_requests_cover_their_union),
    TEST (each_phase_ends_the_one_before),
    TEST (a_phase_may_repeat),
    TEST (counters_and_texts_belong_to_the_request),
    TEST (a_request_of_a_handoff_was_queued),
    TEST (a_request_that_outlives_its_parent_is_late),
    TEST (requests_running_at_the_stop_are_open),
    TEST (open_requests_are_ended_without_a_profile),
    TEST (scopes_continue_during_a_request),
    TEST (no_request_begins_without_a_recorder),
    TEST (a_request_outside_all_scopes_is_a_root),
  };
  return run_recording_tests (tests);
}
