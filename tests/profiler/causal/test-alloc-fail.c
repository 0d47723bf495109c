/* SPDX-License-Identifier: MIT */
/* When memory runs out, recording continues and loses data; collecting fails
 * with a status and leaks nothing. */
#include <config.h>

#include "tests/alloc-fail.h"
#include "tests/profiler/causal/stage.h"

#include "src/base/alloc.h"

SITE (read);
SITE (tiles);
SITE (decode);
SITE (get);
SITE (body);

static const struct radio_counter bytes = { "bytes", "bytes" };

static struct stage stage;

static void
play_far (const struct radio_handoff *handoff)
{
  uint64_t token = radio_scope_receive (handoff, &tiles_site);
  uint64_t inside = radio_scope_begin (&decode_site);
  stage.now += 5;
  radio_scope_add (&bytes, 10);
  radio_scope_text ("file", "a name", RADIO_TEXT_NAME);
  radio_scope_end (inside);
  radio_scope_end (token);
}

static void
play_request (void)
{
  struct radio_async *async = radio_async_begin (&get_site);
  radio_async_phase (async, &body_site);
  radio_async_add (async, &bytes, 10);
  radio_async_text (async, "key", "value", RADIO_TEXT_PLAIN);
  stage.now += 5;
  radio_async_end (async);
}

/* Uses everything that allocates. */
static void
play (void)
{
  struct radio_handoff handoff;
  uint64_t token = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  radio_gauge_set (&bytes, 5);
  rd_free (rd_malloc (100));
  stage_on (&stage, 1);
  play_far (&handoff);
  stage_on (&stage, 0);
  play_request ();
  radio_handoff_release (&handoff);
  radio_scope_end (token);
}

static void
check (const struct radio_profile *profile, bool complete)
{
  uint64_t total = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    assert_true (node->self_ns <= node->total_ns);
    assert_int_equal (node->calls, 1);
    total += node->self_ns;
  }
  assert_true (total <= 10);
  if (!complete)
    return;
  assert_int_equal (profile->nodes.n, 5);
  assert_int_equal (total, 10);
  assert_int_equal (profile->samples.n, 1);
  assert_int_equal (profile->notes.n, 4);
  assert_int_equal (profile->info.alloc_count, 1);
}

static bool
play_with_failure (size_t nth)
{
  struct radio_recorder_options options = { .max_spans = 64 };
  stage_open (&stage, &options, 0);
  alloc_fail_nth (nth);
  play ();
  bool failed = alloc_fail_end ();
  struct radio_profile *profile = stage_close (&stage);
  check (profile, !failed);
  radio_profile_close (profile);
  return failed;
}

static void
recording_continues_without_memory (void **state)
{
  (void) state;
  size_t nth = 1;
  while (play_with_failure (nth))
    nth++;
  assert_true (nth > 15);
}

static bool
collect_with_failure (size_t nth)
{
  struct radio_recorder_options options = { .max_spans = 64 };
  struct radio_profile *profile = NULL;
  stage_open (&stage, &options, 0);
  play ();
  alloc_fail_nth (nth);
  enum radio_status status = radio_recorder_stop (stage.recorder, &profile);
  bool failed = alloc_fail_end ();
  stage_leave (&stage);
  if (status == RADIO_OK)
    check (profile, true);
  else
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  assert_int_equal (profile == NULL, status != RADIO_OK);
  radio_profile_close (profile);
  return failed;
}

static void
collecting_fails_cleanly_without_memory (void **state)
{
  (void) state;
  size_t nth = 1;
  while (collect_with_failure (nth))
    nth++;
  assert_true (nth > 20);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (recording_continues_without_memory),
    cmocka_unit_test (collecting_fails_cleanly_without_memory),
  };
  return run_recording_tests (tests);
}
