/* SPDX-License-Identifier: MIT */
/* Scopes that end with amounts, and calls that may block but do not: the hot
 * path of fetches and tiles has the same results as the general one. */
#include <config.h>

#include "tests/profiler/record/history.h"

#include "profiler/counters.h"
#include "profiler/model/profile.h"
#include "profiler/record/recorder.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_counter rows = { "rows", "count" };
static const struct radio_counter asked = { "asked", "bytes" };
static const struct radio_counter fetched = { "fetched", "bytes" };
static const struct rd_counter_set set = {
  .counters = { &rows, &asked, &fetched }, .text_key = "key",
};

static uint64_t
value_of (const struct rd_node *node, const struct radio_counter *counter)
{
  for (unsigned i = 0; i < node->ntallies; i++)
    if (node->tallies[i].counter == counter)
      return node->tallies[i].value;
  return 0;
}

static uint64_t
nbytes_of (struct history *h, size_t span)
{
  return rd_span_extra (history_span (h, span))->nbytes;
}

/*------------------------------------------------------------------------
 * Amounts
 *----------------------------------------------------------------------*/

static void
end_with (uint64_t token, uint64_t nrows, uint64_t nasked, uint64_t nfetched)
{
  const struct rd_counting counting = {
    .token = token,
    .set = &set,
    .amounts = { nrows, nasked, nfetched },
  };
  rd_scope_end_counting (&counting);
}

static void
amounts_belong_to_the_scope_that_ends (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  for (uint64_t i = 1; i <= 3; i++) {
    uint64_t inner = radio_scope_begin (&b);
    history_pass (&h, 10);
    end_with (inner, 1, 100 * i, 500 - 100 * i);
  }
  radio_scope_end (outer);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a/b");
  assert_times (node, 30, 30, 30, 0);
  assert_int_equal (value_of (node, &rows), 3);
  assert_int_equal (value_of (node, &asked), 600);
  assert_int_equal (value_of (node, &fetched), 900);
  assert_int_equal (nbytes_of (&h, 0), 400);
  assert_int_equal (nbytes_of (&h, 1), 300);
  assert_int_equal (nbytes_of (&h, 2), 300);
  assert_int_equal (history_node (&h, "a")->ntallies, 0);
  assert_int_equal (nbytes_of (&h, 3), 0);
  history_release (&h);
}

static void
end_with_tile (uint64_t token, uint64_t tile, uint64_t stored_nbytes)
{
  struct rd_counting counting = { .token = token, .set = &set };
  rd_counting_tile (&counting, tile, stored_nbytes);
  rd_scope_end_counting (&counting);
}

static void
check_tile (struct history *h, size_t span, uint64_t tile,
            uint32_t stored_nbytes)
{
  const struct rd_log_extra *extra = rd_span_extra (history_span (h, span));
  assert_int_equal (extra->flags, RD_LOG_TILE);
  assert_int_equal (extra->tile, tile);
  assert_int_equal (extra->stored_nbytes, stored_nbytes);
}

/* In the hot path and in slow ones; the next span has no tile. */
static void
a_tile_belongs_to_the_scope_that_ends (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  end_with_tile (radio_scope_begin (&a), 0, 0);
  end_with (radio_scope_begin (&a), 1, 2, 3);
  uint64_t token = radio_scope_begin (&a);
  radio_scope_add (&asked, 9);
  end_with_tile (token, 123, UINT64_C (1) << 40);
  history_leaf (&h, &a, 1);
  token = radio_scope_begin (&a);
  radio_scope_begin (&b);
  end_with_tile (token, 7, 70);
  end_with_tile (radio_scope_begin (&waits), 8, 80);
  history_leaf (&h, &waits, 1);
  history_freeze (&h);
  check_tile (&h, 0, 0, 0);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->flags, 0);
  check_tile (&h, 2, 123, UINT32_MAX);
  assert_int_equal (nbytes_of (&h, 2), 9);
  assert_false (rd_span_has_extra (history_span (&h, 3)));
  assert_int_equal (rd_span_extra (history_span (&h, 4))->flags,
                    RD_LOG_OPEN);
  check_tile (&h, 5, 7, 70);
  check_tile (&h, 6, 8, 80);
  assert_int_equal (rd_span_extra (history_span (&h, 7))->flags, 0);
  history_release (&h);
}

static void
amounts_add_to_earlier_counts_of_the_scope (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&a);
  radio_scope_add (&fetched, 7);
  radio_scope_add (&rows, 2);
  end_with (token, 1, 20, 30);
  token = radio_scope_begin (&a);
  end_with (token, 1, 20, 30);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (value_of (node, &rows), 4);
  assert_int_equal (value_of (node, &asked), 40);
  assert_int_equal (value_of (node, &fetched), 67);
  assert_int_equal (nbytes_of (&h, 0), 37);
  assert_int_equal (nbytes_of (&h, 1), 30);
  history_release (&h);
}

static void
scopes_left_open_inside_get_no_amounts (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_begin (&b);
  history_pass (&h, 5);
  end_with (outer, 1, 2, 3);
  history_freeze (&h);
  assert_int_equal (value_of (history_node (&h, "a"), &fetched), 3);
  assert_int_equal (history_node (&h, "a/b")->ntallies, 0);
  assert_int_equal (history_node (&h, "a/b")->opens, 1);
  assert_int_equal (nbytes_of (&h, 0), 0);
  assert_int_equal (nbytes_of (&h, 1), 3);
  history_release (&h);
}

static void
a_token_that_ended_adds_nothing (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a), inner = radio_scope_begin (&b);
  end_with (inner, 1, 2, 3);
  end_with (inner, 1, 2, 3);
  end_with (0, 1, 2, 3);
  radio_scope_end (outer);
  end_with (outer, 1, 2, 3);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a/b")->calls, 1);
  assert_int_equal (value_of (history_node (&h, "a/b"), &rows), 1);
  assert_int_equal (history_node (&h, "a")->ntallies, 0);
  assert_int_equal (history_node (&h, "")->ntallies, 0);
  history_release (&h);
  end_with (outer, 1, 2, 3);
}

/* With the processor's counter, which only the hot path reads. */
static void
amounts_are_the_same_with_the_real_clock (void **state)
{
  struct history h = { .recorder = NULL };
  (void) state;
  assert_ok (radio_recorder_start (NULL, &h.recorder));
  uint64_t outer = radio_scope_begin (&a);
  for (uint64_t i = 0; i < 1000; i++) {
    uint64_t call = radio_scope_begin (&blocks);
    radio_scope_text ("key", i % 2 ? "one" : "two", RADIO_TEXT_NAME);
    end_with (call, 1, 10, 20 + i);
    uint64_t inner = radio_scope_begin (&b);
    end_with (inner, 2, 3, 0);
  }
  radio_scope_end (outer);
  history_freeze (&h);
  const struct rd_node *call = history_node (&h, "a/blocks");
  const struct rd_node *inner = history_node (&h, "a/b");
  assert_int_equal (call->calls, 1000);
  assert_int_equal (value_of (call, &rows), 1000);
  assert_int_equal (value_of (call, &fetched), 20000 + 999 * 500);
  assert_int_equal (call->work + call->wait, call->self);
  assert_true (call->notes[0].varies);
  assert_int_equal (value_of (inner, &asked), 3000);
  assert_int_equal (inner->calls, 1000);
  assert_int_equal (inner->self, inner->total);
  assert_int_equal (history_nspans (&h), 2001);
  for (uint64_t i = 0; i < 1000; i++) {
    assert_int_equal (nbytes_of (&h, 2 * i), 20 + i);
    assert_int_equal (nbytes_of (&h, 2 * i + 1), 3);
  }
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (node->self, node->total - call->total - inner->total);
  history_release (&h);
}

static uint64_t
end_of (struct history *h, size_t span)
{
  const struct rd_log_span *at = history_span (h, span);
  return at->begin + rd_span_duration (at);
}

static void
check_following_scopes (bool portable)
{
  struct history h = { .recorder = NULL };
  const struct radio_recorder_options how = { .portable_clock = portable };
  assert_ok (radio_recorder_start (&how, &h.recorder));
  radio_scope_end (radio_scope_begin (&b));
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_end (rd_scope_begin_next (&b));
  end_with (rd_scope_begin_next (&b), 1, 2, 3);
  radio_scope_end (outer);
  radio_scope_end (rd_scope_begin_next (&b));
  history_freeze (&h);
  assert_true (history_span (&h, 1)->begin >= history_span (&h, 3)->begin);
  assert_int_equal (history_span (&h, 2)->begin, end_of (&h, 1));
  assert_true (history_span (&h, 4)->begin > end_of (&h, 3));
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (node->self,
                    node->total - history_node (&h, "a/b")->total);
  history_release (&h);
}

/* But not if the last one ended before the outer scope began, nor without an
 * outer scope. */
static void
a_following_scope_begins_at_the_last_end (void **state)
{
  (void) state;
  check_following_scopes (false);
  check_following_scopes (true);
}

/* A set's values first have sums of their own; alternating sets lose none. */
static void
alternating_sets_on_a_scope_add_up (void **state)
{
  static const struct rd_counter_set other = {
    .counters = { NULL, &fetched, NULL, &rows },
  };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (uint64_t i = 0; i < 6; i++) {
    const struct rd_counting counting = {
      .token = radio_scope_begin (&a),
      .set = i % 2 ? &set : &other,
      .amounts = { i % 2, 10 + i, i % 2, 1 - i % 2 },
    };
    rd_scope_end_counting (&counting);
  }
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (value_of (node, &rows), 6);
  assert_int_equal (value_of (node, &asked), 11 + 13 + 15);
  assert_int_equal (value_of (node, &fetched), 10 + 12 + 14 + 3);
  assert_int_equal (nbytes_of (&h, 5), 15);
  history_release (&h);
}

static void
a_text_at_the_end_is_kept_by_span_and_node (void **state)
{
  static const char *const names[] = { "one", "one", "two" };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (size_t i = 0; i < 3; i++) {
    const struct rd_counting counting = {
      .token = radio_scope_begin (i == 1 ? &waits : &blocks),
      .set = &set, .amounts = { 1 }, .text = names[i],
    };
    rd_scope_end_counting (&counting);
  }
  history_freeze (&h);
  const struct rd_writer_state *writer = h.recorder->synced.writers.at[0];
  assert_int_equal (writer->texts.n, 3);
  for (size_t i = 0; i < 3; i++) {
    const struct rd_log_text *text = &writer->texts.at[i];
    assert_string_equal (text->key, "key");
    assert_string_equal (text->value->at, names[i]);
    assert_int_equal (text->kind, RADIO_TEXT_NAME);
    assert_int_equal (text->sequence,
                      rd_span_sequence (history_span (&h, i)));
  }
  assert_true (history_node (&h, "blocks")->notes[0].varies);
  assert_false (history_node (&h, "waits")->notes[0].varies);
  history_release (&h);
}

static void
end_with_text (const struct rd_counter_set *counters, const char *text)
{
  const struct rd_counting counting = {
    .token = radio_scope_begin (&a),
    .set = counters, .amounts = { 1, 2, 3 }, .text = text,
  };
  rd_scope_end_counting (&counting);
}

/* Alternating keys with one text share no value; the first runs of the path
 * take another code path than later ones. */
static void
a_text_of_a_run_with_bytes_is_in_its_extra (void **state)
{
  static const struct rd_counter_set other = {
    .counters = { &rows, &asked, &fetched }, .text_key = "other",
  };
  static const char *const names[] = { "one", "one", "two", "two", "two" };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (size_t i = 0; i < 40; i++)
    end_with_text (i % 2 ? &other : &set, names[i % 5]);
  history_freeze (&h);
  const struct rd_writer_state *writer = h.recorder->synced.writers.at[0];
  assert_int_equal (writer->texts.n + writer->texts.nown, 40);
  assert_in_range (writer->texts.nown, 30, 40);
  assert_in_range (writer->texts.nbytes / sizeof "one", 4, 34);
  for (size_t i = writer->texts.n; i < 40; i++) {
    const struct rd_log_extra *extra = rd_span_extra (history_span (&h, i));
    assert_int_equal (extra->flags, RD_LOG_TEXT);
    assert_int_equal (extra->nbytes, 3);
    assert_string_equal (extra->text->at, names[i % 5]);
    assert_string_equal (extra->text->own_key, i % 2 ? "other" : "key");
  }
  history_release (&h);
}

static void
a_profile_has_the_texts_of_all_runs (void **state)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  char text[16];
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  for (int i = 0; i < 100; i++) {
    snprintf (text, sizeof text, "%d", i / 10);
    end_with_text (&set, text);
  }
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (profile->spans.n, 100);
  size_t n = 0;
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span == 0)
      continue;
    snprintf (text, sizeof text, "%u", (note->span - 1) / 10);
    assert_string_equal (note->key, "key");
    assert_string_equal (note->value, text);
    assert_true (note->is_name);
    const struct rd_span *span = &profile->spans.at[note->span - 1];
    assert_int_equal (span->submitted_ns, span->begin_ns);
    n++;
  }
  assert_int_equal (n, 100);
  radio_profile_close (profile);
}

static void
texts_in_extras_are_dropped_with_their_spans (void **state)
{
  struct radio_recorder_options options = { .max_spans = 128 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 2000; i++)
    end_with_text (&set, i % 2 ? "value" : "another");
  history_freeze (&h);
  const struct rd_writer_state *writer = h.recorder->synced.writers.at[0];
  size_t nspans = history_nspans (&h);
  assert_in_range (nspans, 1, 128);
  assert_int_equal (writer->texts.n + writer->texts.nown, nspans);
  assert_int_equal (writer->texts.dropped_count, 0);
  history_release (&h);
}

/* Chunks of few spans, so that each kind of span reaches the end of one. */
static void
spans_that_need_a_new_chunk_lose_nothing (void **state)
{
  struct radio_recorder_options options = { .max_spans = 1024 };
  struct history h;
  uint64_t nbytes = 0;
  (void) state;
  history_start (&h, &options);
  for (uint64_t i = 0; i < 400; i++) {
    uint64_t token = radio_scope_begin (i % 3 ? &a : &b);
    history_pass (&h, 1);
    end_with (token, 0, i % 3, i % 7);
  }
  history_freeze (&h);
  assert_int_equal (history_nspans (&h), 400);
  for (size_t i = 0; i < 400; i++)
    nbytes += nbytes_of (&h, i) == (i % 3 > i % 7 ? i % 3 : i % 7);
  assert_int_equal (nbytes, 400);
  history_release (&h);
}

static void
texts_are_dropped_with_their_spans (void **state)
{
  struct radio_recorder_options options = { .max_spans = 128 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (uint64_t i = 0; i < 2000; i++) {
    uint64_t token = radio_scope_begin (&a);
    radio_scope_text ("key", "value", RADIO_TEXT_PLAIN);
    history_pass (&h, i < 100 ? 10 : 1);
    end_with (token, 1, 2, 3);
  }
  history_freeze (&h);
  const struct rd_writer_state *writer = h.recorder->synced.writers.at[0];
  size_t nspans = history_nspans (&h);
  assert_in_range (nspans, 1, 128);
  assert_int_equal (history_node (&h, "a")->drops, 2000 - nspans);
  assert_int_equal (writer->texts.n, nspans);
  assert_int_equal (value_of (history_node (&h, "a"), &fetched), 6000);
  history_release (&h);
}

/* Values too large for a profile become its largest. */
static void
counters_saturate_at_the_largest_value (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 3; i++) {
    uint64_t token = radio_scope_begin (&a);
    radio_scope_add (&fetched, UINT64_MAX);
    radio_scope_add (&fetched, UINT64_MAX / 2);
    radio_scope_add (&asked, RD_MAX_VALUE - 1);
    radio_scope_add (&rows, UINT64_C (1) << 62);
    radio_scope_end (token);
    token = radio_scope_begin (&b);
    end_with (token, UINT64_MAX, i, UINT64_MAX - 1);
  }
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (value_of (node, &fetched), RD_MAX_VALUE);
  assert_int_equal (value_of (node, &asked), RD_MAX_VALUE);
  assert_int_equal (value_of (node, &rows), RD_MAX_VALUE);
  node = history_node (&h, "b");
  assert_int_equal (value_of (node, &rows), RD_MAX_VALUE);
  assert_int_equal (value_of (node, &asked), 3);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal (nbytes_of (&h, i), RD_MAX_VALUE);
  history_release (&h);
}

/* Also of a request, and in sums over several threads or paths. */
static void
a_profile_of_huge_counts_can_be_read (void **state)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  uint64_t token = radio_scope_begin (&a);
  struct radio_async *async = radio_async_begin (&b);
  radio_async_add (async, &fetched, UINT64_MAX);
  radio_async_add (async, &fetched, 1);
  radio_async_end (async);
  end_with (radio_scope_begin (&b), UINT64_MAX, UINT64_MAX, UINT64_MAX);
  end_with (token, 1, UINT64_MAX, 1);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (radio_profile_counter (profile, 0, "fetched", true),
                    RD_MAX_VALUE);
  assert_int_equal (radio_profile_counter (profile, 0, "fetched", false), 1);
  assert_int_equal (radio_profile_counter (profile, 0, "rows", true),
                    RD_MAX_VALUE);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Calls that may block
 *----------------------------------------------------------------------*/

static void
call (struct history *h, uint64_t ticks, uint64_t ran)
{
  uint64_t token = radio_scope_begin (&blocks);
  history_pass (h, ticks);
  atomic_fetch_add (&h->cpu_ns, ran);
  radio_scope_end (token);
}

static void
a_short_blocking_call_counts_as_work (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000000);
  call (&h, 19, 0);
  call (&h, 19, 0);
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 38, 38, 38, 0);
  history_release (&h);
}

static void
a_longer_call_waits_while_its_thread_did_not_run (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000000);
  call (&h, 20, 5);
  call (&h, 100, 100);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "blocks");
  assert_times (node, 120, 120, 105, 15);
  assert_int_equal (rd_span_extra (history_span (&h, 0))->wait, 15);
  history_release (&h);
}

/* The time of inner scopes is not its own. */
static void
a_long_call_is_short_without_its_inner_calls (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000000);
  uint64_t token = radio_scope_begin (&blocks);
  for (int i = 0; i < 10; i++)
    history_leaf (&h, &b, 10);
  history_pass (&h, 15);
  end_with (token, 1, 2, 3);
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 115, 15, 15, 0);
  history_release (&h);
}

static void
cpu_time_is_read_once_while_it_is_fresh (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000);
  for (int i = 0; i < 50; i++)
    call (&h, 10, 10);
  assert_int_equal (atomic_load (&h.ncpu_reads), 1);
  history_pass (&h, 1000);
  call (&h, 10, 10);
  assert_int_equal (atomic_load (&h.ncpu_reads), 2);
  call (&h, 30, 30);
  assert_int_equal (atomic_load (&h.ncpu_reads), 3);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "blocks")->wait, 0);
  history_release (&h);
}

/* A recorder whose CPU clock was read once, when the thread had run for 50 of
 * 90 ticks. */
static void
start_with_a_reading (struct history *h)
{
  history_start_saving (h, NULL, 20, 1000);
  history_pass (h, 90);
  atomic_fetch_add (&h->cpu_ns, 50);
  uint64_t token = rd_scope_begin_running (&blocks);
  radio_scope_end (token);
  assert_int_equal (atomic_load (&h->ncpu_reads), 1);
}

/* Records a call of which the thread runs `ran' ticks, then reports, and of
 * further `ticks' runs `ran_then'. */
static void
running_call (struct history *h, uint64_t ran, void (*report) (void),
              uint64_t ticks, uint64_t ran_then)
{
  uint64_t token = rd_scope_begin_running (&blocks);
  history_pass (h, ran);
  atomic_fetch_add (&h->cpu_ns, ran);
  if (report)
    report ();
  history_pass (h, ticks);
  atomic_fetch_add (&h->cpu_ns, ran_then);
  end_with (token, 1, 2, 3);
}

static void
end_running (struct history *h, uint64_t nreads, uint64_t work,
             uint64_t wait)
{
  assert_int_equal (atomic_load (&h->ncpu_reads), nreads);
  history_freeze (h);
  assert_times (history_node (h, "blocks"), work + wait, work + wait, work,
                wait);
  history_release (h);
}

static void
a_short_running_call_never_reads_cpu_time (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  history_pass (&h, 5000);
  running_call (&h, 0, NULL, 19, 0);
  running_call (&h, 19, NULL, 0, 0);
  end_running (&h, 1, 38, 0);
}

static void
a_long_call_reported_as_run_does_not_read_cpu_time (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  running_call (&h, 500, rd_scope_ran, 40, 0);
  running_call (&h, 500, rd_scope_ran, 0, 0);
  end_running (&h, 1, 1040, 0);
}

static void
a_call_reported_as_blocking_waits_from_then_on (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  history_pass (&h, 5000);
  running_call (&h, 300, rd_scope_blocks, 100, 20);
  end_running (&h, 3, 320, 80);
}

/* As a busy machine takes it at the end of a system call. */
static void
a_cpu_lost_at_a_reading_is_not_run (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  history_pass (&h, 5000);
  uint64_t token = rd_scope_begin_running (&blocks);
  atomic_store (&h.lost, 1000);
  rd_scope_blocks ();
  history_pass (&h, 100);
  atomic_fetch_add (&h.cpu_ns, 60);
  end_with (token, 1, 2, 3);
  end_running (&h, 3, 60, 1040);
}

static void
report_both (void)
{
  rd_scope_ran ();
  rd_scope_blocks ();
  rd_scope_ran ();
}

static void
a_call_that_blocks_after_it_ran_waits (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  running_call (&h, 30, report_both, 100, 20);
  end_running (&h, 2, 50, 80);
}

/* The first call ran all the time, and so did the thread since the CPU clock
 * was read; the second one did not. */
static void
a_long_call_without_report_reads_cpu_time_at_its_end (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  history_pass (&h, 3000);
  atomic_fetch_add (&h.cpu_ns, 3000);
  running_call (&h, 60, NULL, 0, 0);
  running_call (&h, 0, NULL, 70, 15);
  end_running (&h, 3, 75, 55);
}

/* Not running for longer than the call took: all of the call is wait, and
 * nothing of the next one. */
static void
earlier_time_off_cpu_counts_in_one_call_at_most (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  history_pass (&h, 7000);
  running_call (&h, 25, NULL, 0, 0);
  running_call (&h, 30, NULL, 0, 0);
  end_running (&h, 3, 30, 25);
}

/* Without an earlier reading, the CPU clock is read at its begin. */
static void
the_first_running_call_reads_cpu_time (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000);
  running_call (&h, 10, NULL, 90, 0);
  end_running (&h, 2, 10, 90);
}

/* A report counts for the call, not for outer scopes, nor for the next scope
 * on the same frame. */
static void
a_report_ends_with_its_call (void **state)
{
  struct history h;
  (void) state;
  start_with_a_reading (&h);
  uint64_t outer = radio_scope_begin (&a);
  rd_scope_ran ();
  rd_scope_blocks ();
  radio_scope_end (outer);
  running_call (&h, 1, NULL, 0, 0);     /* on a path that is not guessed */
  running_call (&h, 0, rd_scope_ran, 50, 50);
  running_call (&h, 0, NULL, 50, 10);
  end_running (&h, 2, 61, 40);
}

/* The frame had a call of another kind before. */
static void
a_reused_frame_forgets_that_it_could_block (void **state)
{
  struct history h;
  (void) state;
  history_start_saving (&h, NULL, 20, 1000000);
  for (int i = 0; i < 3; i++) {
    call (&h, 5, 0);
    history_leaf (&h, &a, 500);
    history_leaf (&h, &waits, 70);
    call (&h, 5, 0);
    history_leaf (&h, &waits, 7);
  }
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 30, 30, 30, 0);
  assert_times (history_node (&h, "a"), 1500, 1500, 1500, 0);
  assert_times (history_node (&h, "waits"), 231, 231, 0, 231);
  history_release (&h);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (amounts_belong_to_the_scope_that_ends),
    cmocka_unit_test (a_tile_belongs_to_the_scope_that_ends),
    cmocka_unit_test (amounts_add_to_earlier_counts_of_the_scope),
    cmocka_unit_test (scopes_left_open_inside_get_no_amounts),
    cmocka_unit_test (a_token_that_ended_adds_nothing),
    cmocka_unit_test (amounts_are_the_same_with_the_real_clock),
    cmocka_unit_test (alternating_sets_on_a_scope_add_up),
    cmocka_unit_test (a_text_at_the_end_is_kept_by_span_and_node),
    cmocka_unit_test (a_text_of_a_run_with_bytes_is_in_its_extra),
    cmocka_unit_test (a_profile_has_the_texts_of_all_runs),
    cmocka_unit_test (texts_in_extras_are_dropped_with_their_spans),
    cmocka_unit_test (a_following_scope_begins_at_the_last_end),
    cmocka_unit_test (spans_that_need_a_new_chunk_lose_nothing),
    cmocka_unit_test (texts_are_dropped_with_their_spans),
    cmocka_unit_test (counters_saturate_at_the_largest_value),
    cmocka_unit_test (a_profile_of_huge_counts_can_be_read),
    cmocka_unit_test (a_short_blocking_call_counts_as_work),
    cmocka_unit_test (a_longer_call_waits_while_its_thread_did_not_run),
    cmocka_unit_test (a_long_call_is_short_without_its_inner_calls),
    cmocka_unit_test (cpu_time_is_read_once_while_it_is_fresh),
    cmocka_unit_test (a_short_running_call_never_reads_cpu_time),
    cmocka_unit_test (a_long_call_reported_as_run_does_not_read_cpu_time),
    cmocka_unit_test (a_call_reported_as_blocking_waits_from_then_on),
    cmocka_unit_test (a_cpu_lost_at_a_reading_is_not_run),
    cmocka_unit_test (a_call_that_blocks_after_it_ran_waits),
    cmocka_unit_test (a_long_call_without_report_reads_cpu_time_at_its_end),
    cmocka_unit_test (earlier_time_off_cpu_counts_in_one_call_at_most),
    cmocka_unit_test (the_first_running_call_reads_cpu_time),
    cmocka_unit_test (a_report_ends_with_its_call),
    cmocka_unit_test (a_reused_frame_forgets_that_it_could_block),
  };
  return run_recording_tests (tests);
}
