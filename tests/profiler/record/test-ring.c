/* SPDX-License-Identifier: MIT */
/* A log that is a ring: it has the last spans, and the tree has all runs. */
#include <config.h>

#include <stdio.h>

#include "profiler/counters.h"
#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/recorder.h"
#include "tests/profiler/record/history.h"

SITE (outer, RADIO_SCOPE_WORK);
SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);

#define RING_NBYTES 65536     /* 2,048 spans */

static const struct radio_counter bytes = { "bytes", "bytes" };
static const struct radio_recorder_options ring = {
  .ring_nbytes = RING_NBYTES
};

/* Plain spans, those that waited and those that moved bytes, below another. */
static void
record_runs (struct history *h, const struct radio_recorder_options *options)
{
  uint32_t random = 11;
  history_start (h, options);
  uint64_t token = radio_scope_begin (&outer);
  for (int i = 0; i < 20000; i++) {
    random = random * 1664525 + 1013904223;
    uint64_t ticks = 1 + (random >> 8) % (1u << i % 20);
    if (i % 3 == 0) {
      history_leaf (h, &waits, ticks);
      continue;
    }
    uint64_t inner = radio_scope_begin (i % 3 == 1 ? &a : &b);
    if (i % 3 == 1)
      radio_scope_add (&bytes, ticks);
    history_pass (h, ticks);
    radio_scope_end (inner);
  }
  radio_scope_end (token);
  history_freeze (h);
}

static void
the_tree_is_that_of_a_twin_without_a_log (void **state)
{
  static const char *const paths[] = {
    "outer", "outer/a", "outer/b", "outer/waits"
  };
  const struct radio_recorder_options bare = { .tree_only = true };
  struct history tree, h;
  (void) state;
  record_runs (&tree, &bare);
  record_runs (&h, &ring);
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    const struct rd_node *node = history_node (&h, paths[i]);
    const struct rd_node *same = history_node (&tree, paths[i]);
    assert_int_equal (node->calls, same->calls);
    assert_times (node, same->total, same->self, same->work, same->wait);
    assert_int_equal (node->min, same->min);
    assert_int_equal (node->max, same->max);
    assert_memory_equal (node->octaves, same->octaves,
                         sizeof node->octaves);
    assert_int_equal (node->ntallies, same->ntallies);
    if (node->ntallies > 0)
      assert_int_equal (node->tallies[0].value, same->tallies[0].value);
  }
  history_release (&tree);
  history_release (&h);
}

/* But for the chunk that is being filled again. */
static void
the_log_is_exactly_the_last_spans (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, &ring);
  for (uint64_t i = 1; i <= 50000; i++)
    history_leaf (&h, &a, i);
  history_freeze (&h);
  size_t n = history_nspans (&h);
  assert_in_range (n, RING_NBYTES / 32 / 2, RING_NBYTES / 32);
  for (size_t i = 0; i < n; i++)
    assert_int_equal (rd_span_duration (history_span (&h, i)),
                      50000 - n + i + 1);
  assert_int_equal (history_node (&h, "a")->drops, 50000 - n);
  assert_int_equal (history_node (&h, "a")->threshold, 0);
  const struct rd_log *log = &h.recorder->synced.writers.at[0]->log;
  assert_int_equal (log->retired_until, history_span (&h, 0)->begin);
  history_release (&h);
}

static void
end_with_text (const char *text)
{
  static const struct radio_counter count = { "n", "count" };
  static const struct rd_counter_set set = {
    .counters = { &count, &bytes, &bytes }, .text_key = "key",
  };
  const struct rd_counting counting = {
    .token = radio_scope_begin (&b),
    .set = &set, .amounts = { 1, 2, 3 }, .text = text,
  };
  rd_scope_end_counting (&counting);
}

/* More texts than a recorder keeps, each another: in spans' extras, and beside
 * them. */
static void
the_texts_are_those_of_the_last_spans (void **state)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  char text[24];
  size_t nown = 0, nbeside = 0;
  (void) state;
  assert_ok (radio_recorder_start (&ring, &recorder));
  uint64_t token = radio_scope_begin (&outer);
  radio_scope_text ("key", "outer", RADIO_TEXT_PLAIN);
  for (int i = 0; i < 90000; i++) {
    snprintf (text, sizeof text, "%d", i);
    end_with_text (text);
    uint64_t inner = radio_scope_begin (&a);
    radio_scope_text ("key", text, RADIO_TEXT_PLAIN);
    radio_scope_end (inner);
  }
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span == 0)
      continue;
    const char *name = profile->nodes.at[note->node].name;
    if (strcmp (name, "outer") == 0)
      assert_string_equal (note->value, "outer");
    else
      assert_in_range (atoi (note->value), 88900, 89999);
    nown += strcmp (name, "b") == 0;
    nbeside += strcmp (name, "a") == 0;
  }
  assert_in_range (nown, 300, 1024);
  assert_in_range (nbeside, 300, 1024);
  assert_null (rd_profile_find_fact (profile, RD_FACT_TEXTS));
  radio_profile_close (profile);
}

static void
a_profile_says_how_much_the_ring_holds (void **state)
{
  static const struct radio_recorder_options *const options[] = {
    &ring, NULL
  };
  (void) state;
  for (size_t i = 0; i < 2; i++) {
    struct radio_recorder *recorder;
    struct radio_profile *profile;
    const struct radio_finding *finding;
    bool found = false;
    assert_ok (radio_recorder_start (options[i], &recorder));
    for (int j = 0; j < 20000; j++)
      radio_scope_end (radio_scope_begin (&a));
    assert_ok (radio_recorder_stop (recorder, &profile));
    for (size_t j = 0; (finding = radio_profile_finding (profile, j)); j++)
      found |= strcmp (finding->id, "log-ring") == 0;
    assert_int_equal (found, i == 0);
    assert_int_equal (rd_profile_find_fact (profile, RD_FACT_RING) != NULL,
                      i == 0);
    radio_profile_close (profile);
  }
}

static void
options_that_contradict_are_refused (void **state)
{
  struct radio_recorder *recorder;
  struct radio_recorder_options options = { .ring_nbytes = 65535 };
  (void) state;
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_ARGUMENT, "too small (65535)");
  options.ring_nbytes = RING_NBYTES;
  options.max_spans = 1;
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_ARGUMENT, "beside max_spans");
  options.max_spans = 0;
  options.tree_only = true;
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_ARGUMENT, "beside tree_only");
  options.tree_only = false;
  options.ring_file = "";
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_ARGUMENT, "ring_file is empty; name a file");
}

/* It waits for no other thread. */
static void
a_thread_copies_what_a_snapshot_wants_before_it_uses_it_again (void **state)
{
  (void) state;
  struct history h;
  history_start (&h, &ring);
  for (int i = 0; i < 2000; i++)
    history_leaf (&h, &a, 7);
  struct radio_recorder *recorder = h.recorder;
  struct rd_log_chunk *chunk = recorder->synced.writers.at[0]->log.first;
  const size_t nbytes = 32 * sizeof *chunk->slots;
  unsigned char *copy = calloc (1, (size_t) recorder->header->nbytes);
  unsigned char *before = malloc (nbytes);
  assert_non_null (copy);
  assert_non_null (before);
  memcpy (before, chunk->slots, nbytes);
  const unsigned char *copied
    = copy + ((uintptr_t) chunk->slots - (uintptr_t) recorder->header);
  recorder->snapshot = copy;
  chunk->nwanted = 32;
  atomic_store (&chunk->copying, RD_COPY_WANTED);
  for (int i = 0; i < 2000; i++)
    history_leaf (&h, &b, 9);
  assert_int_equal (atomic_load (&chunk->copying), RD_COPY_NONE);
  assert_memory_equal (copied, before, nbytes);
  assert_memory_not_equal (chunk->slots, before, nbytes);
  history_freeze (&h);
  history_release (&h);
  free (before);
  free (copy);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_tree_is_that_of_a_twin_without_a_log),
    cmocka_unit_test (the_log_is_exactly_the_last_spans),
    cmocka_unit_test (the_texts_are_those_of_the_last_spans),
    cmocka_unit_test (a_profile_says_how_much_the_ring_holds),
    cmocka_unit_test (options_that_contradict_are_refused),
    cmocka_unit_test (
      a_thread_copies_what_a_snapshot_wants_before_it_uses_it_again),
  };
  return run_recording_tests (tests);
}
