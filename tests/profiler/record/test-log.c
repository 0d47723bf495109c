/* SPDX-License-Identifier: MIT */
/* The log: the members of a span, and which spans a full log keeps. */
#include <config.h>

#include "tests/profiler/record/history.h"

#include "profiler/counters.h"
#include "profiler/record/notes.h"
#include "profiler/record/recorder.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (rare, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);

static void
a_span_has_times_node_and_parent (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_pass (&h, 10);
  history_leaf (&h, &b, 20);
  history_leaf (&h, &b, 30);
  radio_scope_end (outer);
  history_freeze (&h);
  const struct rd_log_span *first = history_span (&h, 0);
  const struct rd_log_span *second = history_span (&h, 1);
  const struct rd_log_span *parent = history_span (&h, 2);
  assert_string_equal (history_span_name (&h, first), "b");
  assert_string_equal (history_span_name (&h, parent), "a");
  assert_int_equal (first->begin, 1010);
  assert_int_equal (rd_span_duration (first), 20);
  assert_int_equal (second->begin, 1030);
  assert_int_equal (rd_span_duration (parent), 60);
  assert_int_equal (rd_span_parent (first), rd_span_sequence (parent));
  assert_int_equal (rd_span_parent (second), rd_span_sequence (parent));
  assert_int_equal (rd_span_parent (parent), 0);
  assert_int_not_equal (rd_span_sequence (first), rd_span_sequence (second));
  assert_int_equal (history_nspans (&h), 3);
  history_release (&h);
}

static void
the_tree_is_the_same_without_a_log (void **state)
{
  struct radio_recorder_options options = { .tree_only = true };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 100; i++)
    history_leaf (&h, &a, 10);
  history_leaf (&h, &waits, 10);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->total, 1000);
  assert_int_equal (history_node (&h, "a")->drops, 0);
  assert_int_equal (history_node (&h, "waits")->wait, 10);
  assert_int_equal (history_nspans (&h), 0);
  history_release (&h);
}

/* Counts the first writer's logged spans by the name of their node. */
static size_t
count_logged (struct history *h, const char *name)
{
  const struct rd_log_span *span;
  struct history_place place = { 0 };
  size_t n = 0;
  while ((span = history_next_span (h, &place)) != NULL)
    n += strcmp (history_span_name (h, span), name) == 0;
  return n;
}

/* Runs of two paths, some with bytes or waiting, of durations that differ from
 * one to the next, and an instant. */
static void
record_runs (struct history *h, const struct radio_recorder_options *options)
{
  uint32_t random = 11;
  history_start (h, options);
  for (int i = 0; i < 5000; i++) {
    random = random * 1664525 + 1013904223;
    history_leaf (h, i % 3 ? &a : &waits, (random >> 8) % (1u << i % 20));
    if (i % 100 == 0)
      radio_scope_instant (&rare);
  }
  history_freeze (h);
}

static void
assert_same_runs (struct history *h, struct history *of, const char *name)
{
  const struct rd_node *node = history_node (h, name);
  const struct rd_node *same = history_node (of, name);
  assert_int_equal (node->calls, same->calls);
  assert_times (node, same->total, same->self, same->work, same->wait);
  assert_int_equal (node->min, same->min);
  assert_int_equal (node->max, same->max);
  assert_memory_equal (node->octaves, same->octaves, sizeof node->octaves);
  assert_int_equal (node->calls, count_logged (h, name) + node->drops);
}

static void
the_tree_is_the_same_with_a_log_of_any_size (void **state)
{
  const size_t most[] = { 20000, 4000, 1000, 100, 1 };
  const struct radio_recorder_options bare = { .tree_only = true };
  struct history tree, h;
  (void) state;
  record_runs (&tree, &bare);
  for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
    struct radio_recorder_options options = { .max_spans = most[i] };
    record_runs (&h, &options);
    assert_same_runs (&h, &tree, "a");
    assert_same_runs (&h, &tree, "waits");
    assert_same_runs (&h, &tree, "rare");
    history_release (&h);
  }
  history_release (&tree);
}

static void
a_full_log_keeps_the_longest_and_counts_the_rest (void **state)
{
  struct radio_recorder_options options = { .max_spans = 1000 };
  struct history h;
  uint32_t random = 7;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 20000; i++) {
    random = random * 1664525 + 1013904223;
    history_leaf (&h, &a, i % 1000 == 999 ? 1000000 : random >> 24);
  }
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  size_t n = history_nspans (&h), nlong = 0;
  assert_int_equal (node->calls, 20000);
  assert_int_equal (node->drops, 20000 - n);
  assert_in_range (n, 20, 1000);
  for (size_t i = 0; i < n; i++)
    nlong += rd_span_duration (history_span (&h, i)) == 1000000;
  assert_int_equal (nlong, 20);
  history_release (&h);
}

static void
a_compacted_log_has_each_span_once_and_in_order (void **state)
{
  struct radio_recorder_options options = { .max_spans = 500 };
  struct history h;
  uint32_t random = 3;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 5000; i++) {
    random = random * 1664525 + 1013904223;
    history_leaf (&h, &a, random >> 20);
  }
  history_freeze (&h);
  for (size_t i = 1; i < history_nspans (&h); i++)
    assert_true (rd_span_sequence (history_span (&h, i - 1))
                 < rd_span_sequence (history_span (&h, i)));
  history_release (&h);
}

static void
a_full_log_keeps_the_first_few_of_each_path (void **state)
{
  struct radio_recorder_options options = { .max_spans = 640 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 3; i++)
    history_leaf (&h, &rare, 1);
  for (int i = 0; i < 5000; i++)
    history_leaf (&h, &a, 100 + (uint64_t) i);
  history_leaf (&h, &b, 2);
  for (int i = 0; i < 5000; i++)
    history_leaf (&h, &a, 6000 + (uint64_t) i);
  history_freeze (&h);
  assert_int_equal (count_logged (&h, "rare"), 3);
  assert_int_equal (count_logged (&h, "b"), 1);
  assert_int_equal (history_node (&h, "rare")->drops, 0);
  size_t nfirst = 0;
  for (size_t i = 0; i < history_nspans (&h); i++) {
    uint64_t duration = rd_span_duration (history_span (&h, i));
    nfirst += duration >= 100 && duration < 100 + RD_KEEP_FIRST;
  }
  assert_int_equal (nfirst, RD_KEEP_FIRST);
  history_release (&h);
}

static void
equal_durations_keep_half_of_the_log (void **state)
{
  struct radio_recorder_options options = { .max_spans = 1000 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 10000; i++)
    history_leaf (&h, &a, 50);
  history_freeze (&h);
  assert_in_range (history_nspans (&h), 300, 1000);
  history_release (&h);
}

static const struct radio_counter bytes = { "bytes", "bytes" };
static const struct radio_counter more_bytes = { "more bytes", "bytes" };
static const struct radio_counter rows = { "rows", "count" };

/* A leaf with as many bytes as ticks. */
static void
count_leaf (struct history *h, const struct radio_site *site, uint64_t ticks)
{
  uint64_t token = radio_scope_begin (site);
  radio_scope_add (&bytes, ticks / 2);
  radio_scope_add (&rows, 1);
  history_pass (h, ticks);
  radio_scope_add (&bytes, ticks - ticks / 2);
  radio_scope_end (token);
}

/* Plain spans, those that waited and those that moved bytes. */
static void
make_spans (struct history *h, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++) {
    uint64_t ticks = i * 7919 % 5000 + 1;
    if (i % 3 == 1)
      count_leaf (h, &b, ticks);
    else
      history_leaf (h, i % 3 ? &a : &waits, ticks);
  }
}

static void
check_span (struct history *h, const struct rd_log_span *span)
{
  const struct rd_log_extra *extra = rd_span_extra (span);
  const char *name = history_span_name (h, span);
  uint64_t duration = rd_span_duration (span);
  assert_int_equal (rd_span_has_extra (span), strcmp (name, "a") != 0);
  assert_int_equal (extra->wait, strcmp (name, "waits") ? 0 : duration);
  assert_int_equal (extra->nbytes, strcmp (name, "b") ? 0 : duration);
  assert_int_equal (extra->submitted, 0);
  assert_int_equal (extra->flags, 0);
}

static void
extras_move_with_their_spans (void **state)
{
  (void) state;
  for (size_t max = 2; max < 2000; max += max / 5 + 1) {
    struct radio_recorder_options options = { .max_spans = max };
    struct history h;
    history_start (&h, &options);
    make_spans (&h, 5000);
    history_freeze (&h);
    size_t n = history_nspans (&h), nslots = 0;
    for (size_t i = 0; i < n; i++) {
      check_span (&h, history_span (&h, i));
      nslots += rd_span_nslots (history_span (&h, i));
    }
    assert_in_range (nslots, max / 8, max);
    assert_int_equal (n + history_node (&h, "a")->drops
                      + history_node (&h, "b")->drops
                      + history_node (&h, "waits")->drops, 5000);
    history_release (&h);
  }
}

/* Every other span has an extra, in chunks of an odd size. */
static void
a_span_is_in_one_chunk_with_its_extra (void **state)
{
  struct radio_recorder_options options = { .max_spans = 64 * 7 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (uint64_t i = 0; i < 200; i++)
    if (i % 2)
      count_leaf (&h, &b, i + 1);
    else
      history_leaf (&h, &a, i + 1);
  history_freeze (&h);
  assert_int_equal (history_nspans (&h), 200);
  for (uint64_t i = 0; i < 200; i++) {
    const struct rd_log_span *span = history_span (&h, i);
    assert_int_equal (rd_span_duration (span), i + 1);
    assert_int_equal (rd_span_extra (span)->nbytes, i % 2 ? i + 1 : 0);
  }
  history_release (&h);
}

static void
a_span_has_the_bytes_of_its_largest_counter (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_add (&more_bytes, 5);
  count_leaf (&h, &b, 10);
  uint64_t token = radio_scope_begin (&b);
  radio_scope_add (&more_bytes, 12);
  radio_scope_add (&bytes, 7);
  radio_scope_add (&more_bytes, 1);
  radio_scope_end (token);
  history_leaf (&h, &b, 3);
  radio_scope_end (outer);
  history_freeze (&h);
  static const uint64_t wanted[] = { 10, 13, 0, 5 };
  for (size_t i = 0; i < 4; i++)
    assert_int_equal (rd_span_extra (history_span (&h, i))->nbytes,
                      wanted[i]);
  assert_int_equal (history_node (&h, "a/b")->ntallies, 3);
  assert_times (history_node (&h, "a"), 13, 0, 0, 0);
  assert_times (history_node (&h, "a/b"), 13, 13, 13, 0);
  history_release (&h);
}

/* A leaf with a tile, whose number is the duration. */
static void
tile_leaf (struct history *h, const struct radio_site *site, uint64_t ticks)
{
  uint64_t token = radio_scope_begin (site);
  rd_scope_tile (&bytes, 4 * ticks, ticks - 1, 3 * ticks);
  history_pass (h, ticks);
  radio_scope_end (token);
}

static void
check_tile (struct history *h, const struct rd_log_span *span)
{
  const struct rd_log_extra *extra = rd_span_extra (span);
  uint64_t ticks = rd_span_duration (span);
  bool has_tile = strcmp (history_span_name (h, span), "b") == 0;
  assert_int_equal (extra->flags, has_tile ? RD_LOG_TILE : 0);
  assert_int_equal (extra->nbytes, has_tile ? 4 * ticks : 0);
  if (has_tile) {
    assert_int_equal (extra->tile, ticks - 1);
    assert_int_equal (extra->stored_nbytes, 3 * ticks);
  }
}

/* Also scopes that wait, which end on another path; and no span has the tile
 * of an earlier one. */
static void
a_span_has_its_own_tile (void **state)
{
  (void) state;
  for (size_t max = 50; max < 9000; max *= 5) {
    struct radio_recorder_options options = { .max_spans = max };
    struct history h;
    history_start (&h, &options);
    for (uint64_t i = 0; i < 2000; i++) {
      uint64_t ticks = i * 7919 % 5000 + 1;
      if (i % 3)
        tile_leaf (&h, &b, ticks);
      else
        history_leaf (&h, &a, ticks);
    }
    history_freeze (&h);
    for (size_t i = 0; i < history_nspans (&h); i++)
      check_tile (&h, history_span (&h, i));
    assert_int_equal (history_node (&h, "b")->ntallies, 2);
    assert_int_equal (history_node (&h, "b")->tallies[0].value, 1333);
    history_release (&h);
  }
}

static void
a_tile_of_a_scope_that_waits_is_kept (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  tile_leaf (&h, &waits, 100);
  history_leaf (&h, &waits, 50);
  history_freeze (&h);
  const struct rd_log_extra *extra = rd_span_extra (history_span (&h, 0));
  assert_int_equal (extra->flags, RD_LOG_TILE);
  assert_int_equal (extra->tile, 99);
  assert_int_equal (extra->stored_nbytes, 300);
  assert_int_equal (extra->wait, 100);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->flags, 0);
  history_release (&h);
}

/* A value that does not fit becomes the largest one. */
static void
a_tile_of_more_than_4_GiB_is_logged_as_4_GiB (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&b);
  rd_scope_tile (&bytes, 1, UINT64_MAX - 1, (uint64_t) 1 << 33);
  history_pass (&h, 5);
  radio_scope_end (token);
  rd_scope_tile (&bytes, 1, 2, 3);        /* outside of all scopes: ignored */
  history_freeze (&h);
  const struct rd_log_extra *extra = rd_span_extra (history_span (&h, 0));
  assert_true (extra->tile == UINT64_MAX - 1);
  assert_int_equal (extra->stored_nbytes, UINT32_MAX);
  history_release (&h);
}

/* Whatever the log drops: the tree counts all, and of the slow and the first
 * steps the log has the numbers. */
static void
a_million_steps_take_the_memory_of_a_thousand_spans (void **state)
{
  struct radio_recorder_options options = { .max_spans = 1000 };
  struct history h;
  uint64_t nslow = 0, nfirst = 0;
  (void) state;
  history_start (&h, &options);
  for (uint64_t i = 0; i < 1000000; i++) {
    RADIO_STEP (i + 1);
    history_pass (&h, i % 99999 == 50000 ? 5000 + i : 100);
  }
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "step");
  assert_int_equal (node->calls, 1000000);
  assert_string_equal (node->site->category, RADIO_STEP_CATEGORY);
  for (size_t i = 0; i < history_nspans (&h); i++) {
    const struct rd_log_span *span = history_span (&h, i);
    const struct rd_log_extra *extra = rd_span_extra (span);
    assert_int_equal (extra->flags, RD_LOG_TILE);
    nfirst += extra->tile <= RD_KEEP_FIRST;
    if (rd_span_duration (span) > 5000) {
      assert_int_equal (rd_span_duration (span), 5000 + extra->tile - 1);
      nslow++;
    }
  }
  assert_int_equal (nslow, 10);
  assert_int_equal (nfirst, RD_KEEP_FIRST);
  assert_in_range (history_nspans (&h), 18, 1000);
  history_release (&h);
}

/* Readers whose numbers are doubles have all that are kept. */
static void
a_step_of_a_huge_number_has_none (void **state)
{
  static const uint64_t numbers[] = {
    0, ((uint64_t) 1 << 53) - 1, (uint64_t) 1 << 53, INT64_MAX, UINT64_MAX,
  };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (size_t i = 0; i < 5; i++) {
    RADIO_STEP (numbers[i]);
    history_pass (&h, 100);
  }
  history_freeze (&h);
  assert_int_equal (history_nspans (&h), 5);
  for (size_t i = 0; i < 5; i++) {
    const struct rd_log_span *span = history_span (&h, i);
    bool is_numbered = (rd_span_extra (span)->flags & RD_LOG_TILE) != 0;
    assert_int_equal (is_numbered, i < 2);
    if (is_numbered)
      assert_int_equal (rd_span_extra (span)->tile, numbers[i]);
  }
  history_release (&h);
}

/* A leaf whose text, set while it runs, is its duration. */
static void
leaf_with_duration_text (struct history *h, uint64_t ticks)
{
  char text[24];
  snprintf (text, sizeof text, "%u", (unsigned) ticks);
  uint64_t token = radio_scope_begin (&a);
  radio_scope_text ("ticks", text, RADIO_TEXT_PLAIN);
  history_pass (h, ticks);
  radio_scope_end (token);
}

/* The only text of a span. */
static const char *
text_of (const struct rd_texts *texts, const struct rd_log_span *span)
{
  const char *found = NULL;
  for (size_t i = 0; i < texts->n; i++)
    if (texts->at[i].sequence == rd_span_sequence (span)) {
      assert_null (found);
      found = texts->at[i].value->at;
    }
  return found;
}

/* More texts than a writer keeps.  A scope that is open meanwhile, and gets a
 * text now and then, keeps its own. */
static void
a_full_log_drops_texts_with_their_spans (void **state)
{
  struct radio_recorder_options options = { .max_spans = 1000 };
  struct history h;
  uint32_t random = 5;
  (void) state;
  history_start (&h, &options);
  uint64_t outer = radio_scope_begin (&rare);
  for (int i = 0; i < 100000; i++) {
    random = random * 1664525 + 1013904223;
    leaf_with_duration_text (&h, random >> 20);
    if (i % 20000 == 0)
      radio_scope_text ("outer", "still here", RADIO_TEXT_PLAIN);
  }
  radio_scope_end (outer);
  history_freeze (&h);
  const struct rd_texts *texts = &h.recorder->synced.writers.at[0]->texts;
  size_t nspans = history_nspans (&h);
  uint64_t nbytes = 0;
  assert_int_equal (texts->dropped_count, 0);
  assert_int_equal (texts->n, nspans - 1 + 5);
  for (size_t i = 0; i + 1 < nspans; i++) {
    const struct rd_log_span *span = history_span (&h, i);
    const char *text = text_of (texts, span);
    assert_non_null (text);
    assert_int_equal (strtoul (text, NULL, 10), rd_span_duration (span));
  }
  for (size_t i = 0; i < texts->n; i++)
    nbytes += texts->at[i].value->nbytes;
  assert_in_range (texts->nbytes, 1, nbytes + RD_NRECENT * 8);
  history_release (&h);
}

static void
equal_texts_share_one_value_while_needed (void **state)
{
  /* The last value of a key is cached by the key's address: these two do
   * not evict each other. */
  static const char keys[2][8] = { "odd", "even" };
  struct radio_recorder_options options = { .max_spans = 100 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 1000; i++) {
    uint64_t token = radio_scope_begin (&a);
    radio_scope_text (keys[0], i % 2 ? "one" : "other", RADIO_TEXT_PLAIN);
    radio_scope_text (keys[1], "the same", RADIO_TEXT_PLAIN);
    radio_scope_end (token);
  }
  struct rd_texts *texts = &h.recorder->synced.writers.at[0]->texts;
  size_t n = texts->n;
  assert_in_range (n, 2, 200);
  for (size_t i = 0; i < n; i += 2) {
    uint64_t sequence = texts->at[i].sequence;
    assert_string_equal (texts->at[i].value->at,
                         sequence % 2 ? "other" : "one");
    assert_string_equal (texts->at[i + 1].value->at, "the same");
    assert_ptr_equal (texts->at[i + 1].value, texts->at[1].value);
  }
  assert_int_equal (texts->at[1].value->nrefs, n / 2 + 1);
  for (size_t i = n; i > 0; i -= 2)
    rd_texts_drop_last (texts, texts->at[i - 1].sequence);
  assert_int_equal (texts->n, 0);
  assert_in_range (texts->nbytes, sizeof "one" + sizeof "the same",
                   sizeof "other" + sizeof "the same");
  history_freeze (&h);
  history_release (&h);
}

static void
the_smallest_logs_hold_as_many_spans_as_allowed (void **state)
{
  (void) state;
  for (size_t max = 1; max < 40; max++) {
    struct radio_recorder_options options = { .max_spans = max };
    struct history h;
    history_start (&h, &options);
    for (uint64_t i = 0; i < 200; i++)
      history_leaf (&h, &a, i * 37 % 101);
    history_freeze (&h);
    size_t n = history_nspans (&h);
    assert_in_range (n, 0, max);
    assert_int_equal (history_node (&h, "a")->drops, 200 - n);
    assert_int_equal (history_node (&h, "a")->calls, 200);
    history_release (&h);
  }
}

static void
tiny_and_frequent_paths_are_no_longer_logged (void **state)
{
  struct radio_recorder_options options = { .max_spans = 400000 };
  struct history h;
  (void) state;
  history_start (&h, &options);         /* a scope costs 1 ns */
  for (int i = 0; i < 150000; i++)
    history_leaf (&h, &a, 15);
  for (int i = 0; i < 150000; i++)
    history_leaf (&h, &b, 25);
  history_freeze (&h);
  const struct rd_node *tiny = history_node (&h, "a");
  assert_true (tiny->throttled);
  assert_in_range (tiny->drops, 1, 50000);
  assert_int_equal (tiny->calls, 150000);
  assert_int_equal (tiny->total, 150000 * 15);
  assert_false (history_node (&h, "b")->throttled);
  assert_int_equal (history_node (&h, "b")->drops, 0);
  history_release (&h);
}

/* The spans of a node that are as long as this. */
static size_t
count_long (struct history *h, uint64_t ticks)
{
  const struct rd_log_span *span;
  struct history_place place = { 0 };
  size_t n = 0;
  while ((span = history_next_span (h, &place)) != NULL)
    n += rd_span_duration (span) == ticks;
  return n;
}

/* In a log with room, in a full one, and in a ring whose time it is in. */
static void
a_long_run_of_a_throttled_path_is_logged (void **state)
{
  const struct radio_recorder_options logs[] = {
    { .max_spans = 0 }, { .max_spans = 150000 },
    { .ring_nbytes = 4 * 1024 * 1024 }
  };
  (void) state;
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    struct history h;
    history_start (&h, &logs[i]);
    for (int j = 0; j < 300000; j++) {
      history_leaf (&h, &a, j == 50000 ? 60000 : j == 250000 ? 70000 : 1);
      if (j % 2)
        history_leaf (&h, &b, 25);
    }
    history_freeze (&h);
    assert_true (history_node (&h, "a")->throttled);
    assert_in_range (count_logged (&h, "a"), 1, 200000);
    assert_int_equal (count_long (&h, 70000), 1);
    if (logs[i].ring_nbytes == 0)
      assert_int_equal (count_long (&h, 60000), 1);
    history_release (&h);
  }
}

/* Its runs that are long enough to be logged fill the log: then they make
 * room as others do. */
static void
a_throttled_path_of_many_long_runs_stays_within_the_log (void **state)
{
  struct radio_recorder_options options = { .max_spans = 200000 };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 150000; i++)
    history_leaf (&h, &a, 1);
  for (uint64_t i = 0; i < 300000; i++)
    history_leaf (&h, &a, 1000 + i % 1000);
  history_leaf (&h, &a, 1000000);
  history_freeze (&h);
  assert_true (history_node (&h, "a")->throttled);
  assert_int_equal (history_node (&h, "a")->calls, 450001);
  assert_in_range (history_nspans (&h), 1, 200000);
  assert_int_equal (count_long (&h, 1000000), 1);
  history_release (&h);
}

static void
a_log_too_large_for_memory_is_refused (void **state)
{
  struct radio_recorder_options options = { .max_spans = SIZE_MAX / 2 };
  struct radio_recorder *recorder;
  (void) state;
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_MEMORY, "spans");
  assert_null (recorder);
  assert_false (radio_profile_is_on ());
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_span_has_times_node_and_parent),
    cmocka_unit_test (the_tree_is_the_same_without_a_log),
    cmocka_unit_test (the_tree_is_the_same_with_a_log_of_any_size),
    cmocka_unit_test (a_full_log_keeps_the_longest_and_counts_the_rest),
    cmocka_unit_test (a_compacted_log_has_each_span_once_and_in_order),
    cmocka_unit_test (a_full_log_keeps_the_first_few_of_each_path),
    cmocka_unit_test (equal_durations_keep_half_of_the_log),
    cmocka_unit_test (extras_move_with_their_spans),
    cmocka_unit_test (a_span_is_in_one_chunk_with_its_extra),
    cmocka_unit_test (a_span_has_the_bytes_of_its_largest_counter),
    cmocka_unit_test (a_span_has_its_own_tile),
    cmocka_unit_test (a_tile_of_a_scope_that_waits_is_kept),
    cmocka_unit_test (a_tile_of_more_than_4_GiB_is_logged_as_4_GiB),
    cmocka_unit_test (a_million_steps_take_the_memory_of_a_thousand_spans),
    cmocka_unit_test (a_step_of_a_huge_number_has_none),
    cmocka_unit_test (a_full_log_drops_texts_with_their_spans),
    cmocka_unit_test (equal_texts_share_one_value_while_needed),
    cmocka_unit_test (the_smallest_logs_hold_as_many_spans_as_allowed),
    cmocka_unit_test (tiny_and_frequent_paths_are_no_longer_logged),
    cmocka_unit_test (a_long_run_of_a_throttled_path_is_logged),
    cmocka_unit_test (a_throttled_path_of_many_long_runs_stays_within_the_log),
    cmocka_unit_test (a_log_too_large_for_memory_is_refused),
  };
  return run_recording_tests (tests);
}
