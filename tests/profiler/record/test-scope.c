/* SPDX-License-Identifier: MIT */
/* The tree's arithmetic on constructed histories of one thread. */
#include <config.h>

#include "tests/profiler/record/history.h"

#include "profiler/record/recorder.h"
#include "profiler/record/tree.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (c, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_counter bytes = { "bytes", "bytes" };
static const struct radio_counter rows = { "rows", "count" };

static void
self_is_total_less_the_children (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_pass (&h, 10);
  history_leaf (&h, &b, 20);
  history_pass (&h, 5);
  history_leaf (&h, &c, 7);
  history_pass (&h, 1);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 43, 16, 16, 0);
  assert_times (history_node (&h, "a/b"), 20, 20, 20, 0);
  assert_times (history_node (&h, "a/c"), 7, 7, 7, 0);
  assert_int_equal (history_node (&h, "a")->calls, 1);
  history_release (&h);
}

static void
runs_of_one_path_add_up_with_their_extremes (void **state)
{
  static const uint64_t ticks[] = { 7, 3, 1000, 12, 3 };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (size_t i = 0; i < 5; i++)
    history_leaf (&h, &a, ticks[i]);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (node->calls, 5);
  assert_int_equal (node->total, 1025);
  assert_int_equal (node->min, 3);
  assert_int_equal (node->max, 1000);
  history_release (&h);
}

static void
a_recursive_scope_is_a_path_of_its_own (void **state)
{
  struct history h;
  uint64_t tokens[3];
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 3; i++) {
    tokens[i] = radio_scope_begin (&a);
    history_pass (&h, 10);
  }
  for (int i = 2; i >= 0; i--)
    radio_scope_end (tokens[i]);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 30, 10, 10, 0);
  assert_times (history_node (&h, "a/a"), 20, 10, 10, 0);
  assert_times (history_node (&h, "a/a/a"), 10, 10, 10, 0);
  history_release (&h);
}

#define BOTH RADIO_SCOPE ("outer"); RADIO_SCOPE ("inner")

static void
one_line_may_have_two_scopes (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  {
    BOTH;
    history_pass (&h, 5);
  }
  history_freeze (&h);
  assert_times (history_node (&h, "outer"), 5, 0, 0, 0);
  assert_times (history_node (&h, "outer/inner"), 5, 5, 5, 0);
  assert_int_equal (history_node (&h, "outer")->opens, 0);
  history_release (&h);
}

static void
the_same_name_under_two_parents_is_two_nodes (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 2; i++) {
    uint64_t outer = radio_scope_begin (i ? &b : &a);
    history_leaf (&h, &c, 10 + (uint64_t) i);
    radio_scope_end (outer);
  }
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a/c")->total, 10);
  assert_int_equal (history_node (&h, "b/c")->total, 11);
  history_release (&h);
}

static void
children_in_any_order_find_their_nodes (void **state)
{
  static struct radio_site sites[200];
  struct history h;
  unsigned calls[200] = { 0 };
  uint32_t random = 1;
  char names[200][16];
  (void) state;
  for (int i = 0; i < 200; i++) {
    snprintf (names[i], sizeof names[i], "s%d", i);
    sites[i] = (struct radio_site) { names[i], "test", "", "", 0, 0 };
  }
  history_start (&h, NULL);
  for (int i = 0; i < 20000; i++) {
    random = random * 1664525 + 1013904223;
    calls[random >> 16 & 127]++;
    history_leaf (&h, &sites[random >> 16 & 127], 1);
  }
  history_freeze (&h);
  for (int i = 0; i < 128; i++)
    assert_int_equal (history_node (&h, names[i])->calls, calls[i]);
  assert_null (history_find (&h, 0, "s128"));
  history_release (&h);
}

static void
a_scope_left_open_ends_with_the_outer_one_as_open (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_pass (&h, 1);
  assert_true (radio_scope_begin (&b) != 0);
  history_pass (&h, 2);
  assert_true (radio_scope_begin (&c) != 0);
  history_pass (&h, 3);
  radio_scope_end (outer);
  history_leaf (&h, &b, 4);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 6, 1, 1, 0);
  assert_times (history_node (&h, "a/b"), 5, 2, 2, 0);
  assert_times (history_node (&h, "a/b/c"), 3, 3, 3, 0);
  assert_int_equal (history_node (&h, "a")->opens, 0);
  assert_int_equal (history_node (&h, "a/b")->opens, 1);
  assert_int_equal (history_node (&h, "a/b/c")->opens, 1);
  assert_int_equal (history_node (&h, "b")->total, 4);
  history_release (&h);
}

static void
a_scope_open_at_the_stop_ends_there_as_open (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_pass (&h, 5);
  history_leaf (&h, &b, 7);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_times (node, 12, 5, 5, 0);
  assert_int_equal (node->calls, 1);
  assert_int_equal (node->opens, 1);
  const struct rd_log_span *span = history_span (&h, 1);
  assert_int_equal (rd_span_extra (span)->flags, RD_LOG_OPEN);
  history_release (&h);
  radio_scope_end (outer);
}

static void
a_token_counts_once (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  uint64_t inner = radio_scope_begin (&b);
  history_pass (&h, 1);
  radio_scope_end (inner);
  history_pass (&h, 1);
  radio_scope_end (inner);
  uint64_t next = radio_scope_begin (&b);
  history_pass (&h, 1);
  radio_scope_end (inner);
  history_pass (&h, 1);
  radio_scope_end (next);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a/b")->calls, 2);
  assert_int_equal (history_node (&h, "a/b")->total, 3);
  assert_int_equal (history_node (&h, "a")->total, 4);
  history_release (&h);
}

static void
zero_and_tokens_of_other_recorders_are_ignored (void **state)
{
  struct history first, second;
  (void) state;
  history_start (&first, NULL);
  uint64_t stale = radio_scope_begin (&a);
  history_freeze (&first);
  history_release (&first);
  history_start (&second, NULL);
  radio_scope_end (0);
  radio_scope_end (stale);
  uint64_t token = radio_scope_begin (&b);
  history_pass (&second, 1);
  radio_scope_end (0);
  radio_scope_end (stale);
  radio_scope_end (UINT64_MAX);
  history_pass (&second, 1);
  radio_scope_end (token);
  history_freeze (&second);
  assert_times (history_node (&second, "b"), 2, 2, 2, 0);
  assert_int_equal (history_node (&second, "b")->opens, 0);
  history_release (&second);
}

static void
scopes_too_deep_count_into_the_deepest (void **state)
{
  static uint64_t tokens[300];
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 300; i++) {
    tokens[i] = radio_scope_begin (&a);
    history_pass (&h, 1);
  }
  for (int i = 299; i >= 0; i--)
    radio_scope_end (tokens[i]);
  history_leaf (&h, &b, 9);
  history_freeze (&h);
  const struct rd_writer_state *writer = h.recorder->synced.writers.at[0];
  assert_int_equal (writer->nnodes, 1 + 256 + 1);     /* root and b */
  const struct rd_node *deepest = writer->nodes[256];
  assert_int_equal (deepest->nskipped, 300 - 256);
  assert_int_equal (deepest->self, 300 - 255);
  assert_int_equal (history_node (&h, "a")->total, 300);
  assert_int_equal (history_node (&h, "b")->total, 9);
  history_release (&h);
}

static void
waiting_is_not_work (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_pass (&h, 10);
  uint64_t wait = radio_scope_begin (&waits);
  history_pass (&h, 20);
  history_leaf (&h, &b, 5);
  radio_scope_end (wait);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 35, 10, 10, 0);
  assert_times (history_node (&h, "a/waits"), 25, 20, 0, 20);
  assert_times (history_node (&h, "a/waits/b"), 5, 5, 5, 0);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->wait, 20);
  history_release (&h);
}

static void
a_system_call_waits_while_its_thread_did_not_run (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 2; i++) {
    uint64_t token = radio_scope_begin (&blocks);
    history_pass (&h, 100);
    atomic_fetch_add (&h.cpu_ns, 30);
    radio_scope_end (token);
  }
  uint64_t token = radio_scope_begin (&blocks);
  history_pass (&h, 10);
  atomic_fetch_add (&h.cpu_ns, 12);     /* clocks differ a little */
  radio_scope_end (token);
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 210, 210, 70, 140);
  history_release (&h);
}

static void
waits_inside_a_system_call_are_not_counted_twice (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&blocks);
  history_leaf (&h, &waits, 50);
  history_pass (&h, 30);
  atomic_fetch_add (&h.cpu_ns, 20);
  radio_scope_end (token);
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 80, 30, 20, 10);
  assert_times (history_node (&h, "blocks/waits"), 50, 50, 0, 50);
  history_release (&h);
}

static void
counters_stay_where_they_were_added (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  radio_scope_add (&rows, 1);           /* outside of all scopes: lost */
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_add (&bytes, 5);
  uint64_t inner = radio_scope_begin (&b);
  radio_scope_add (&bytes, 7);
  radio_scope_add (&rows, 2);
  radio_scope_add (&bytes, 1);
  radio_scope_end (inner);
  radio_scope_end (outer);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a/b");
  assert_int_equal (node->ntallies, 2);
  assert_int_equal (node->tallies[0].value, 8);
  assert_int_equal (node->tallies[1].value, 2);
  assert_int_equal (history_node (&h, "a")->tallies[0].value, 5);
  assert_int_equal (history_node (&h, "")->ntallies, 0);
  assert_int_equal (h.recorder->synced.writers.at[0]->noutside, 1);
  assert_int_equal (rd_span_extra (history_span (&h, 0))->nbytes, 8);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->nbytes, 5);
  history_release (&h);
}

/* The same bytes are requested, fetched and delivered: not three times as
 * many. */
static void
a_run_has_the_bytes_of_its_largest_counter (void **state)
{
  static const struct radio_counter asked = { "asked", "bytes" };
  static const struct radio_counter fetched = { "fetched", "bytes" };
  struct history h;
  (void) state;
  history_start (&h, NULL);
  for (uint64_t i = 0; i < 2; i++) {
    uint64_t token = radio_scope_begin (&a);
    radio_scope_add (&rows, 1000);
    radio_scope_add (&asked, 5);
    radio_scope_add (&fetched, 7 + i);
    radio_scope_add (&asked, 4 * i);
    radio_scope_add (&bytes, 1);
    radio_scope_end (token);
  }
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->ntallies, 4);
  assert_int_equal (rd_span_extra (history_span (&h, 0))->nbytes, 7);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->nbytes, 9);
  history_release (&h);
}

static void
more_counters_of_bytes_than_a_run_remembers_do_no_harm (void **state)
{
  static const char *const names[] = {
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11",
  };
  enum { NNAMES = sizeof names / sizeof names[0] };
  struct radio_counter counters[NNAMES];
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&a);
  for (size_t i = 0; i < NNAMES; i++) {
    counters[i] = (struct radio_counter) { names[i], "bytes" };
    radio_scope_add (&counters[i], 10 * i);
  }
  radio_scope_end (token);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (node->ntallies, NNAMES);
  for (size_t i = 0; i < NNAMES; i++)
    assert_int_equal (node->tallies[i].value, 10 * i);
  assert_int_equal (rd_span_extra (history_span (&h, 0))->nbytes,
                    10 * (RD_NSLOTS - 1));
  history_release (&h);
}

static void
a_reused_frame_is_cleared (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&a);
  radio_scope_add (&bytes, 5);
  radio_scope_end (token);
  history_leaf (&h, &waits, 3);
  history_leaf (&h, &a, 4);
  history_freeze (&h);
  assert_false (rd_span_has_extra (history_span (&h, 2)));
  assert_times (history_node (&h, "a"), 4, 4, 4, 0);
  history_release (&h);
}

static void
an_instant_is_a_node_without_duration (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t token = radio_scope_begin (&a);
  history_pass (&h, 4);
  radio_scope_instant (&b);
  history_pass (&h, 4);
  radio_scope_instant (&b);
  radio_scope_end (token);
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a/b");
  assert_int_equal (node->edge, RADIO_EDGE_INSTANT);
  assert_int_equal (node->calls, 2);
  assert_times (node, 0, 0, 0, 0);
  assert_times (history_node (&h, "a"), 8, 8, 8, 0);
  assert_int_equal (history_span (&h, 0)->begin, 1004);
  assert_int_equal (history_span (&h, 1)->begin, 1008);
  history_release (&h);
}

static void
fill_histogram (const struct history *h, const struct rd_node *node,
                uint64_t histogram[RADIO_HISTOGRAM_BUCKETS])
{
  memset (histogram, 0, RADIO_HISTOGRAM_BUCKETS * sizeof *histogram);
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    histogram[rd_octave_bucket (h->recorder->synced.writers.at[0], i)]
      += node->octaves[i];
}

static void
histogram_bounds_are_powers_of_two (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  history_leaf (&h, &a, 0);
  history_leaf (&h, &a, 1);
  for (unsigned i = 1; i < 50; i++) {
    history_leaf (&h, &a, UINT64_C (1) << i);
    history_leaf (&h, &a, (UINT64_C (2) << i) - 1);
  }
  history_freeze (&h);
  const struct rd_node *node = history_node (&h, "a");
  assert_int_equal (node->calls, 100);
  uint64_t histogram[RADIO_HISTOGRAM_BUCKETS];
  fill_histogram (&h, node, histogram);
  for (unsigned i = 0; i < RADIO_HISTOGRAM_BUCKETS - 1; i++)
    assert_int_equal (histogram[i], 2);
  assert_int_equal (histogram[RADIO_HISTOGRAM_BUCKETS - 1], 6);
  history_release (&h);
}

/* The definition of a bucket: the logarithm of the nanoseconds, rounded
 * down. */
static unsigned
bucket_of (const struct rd_rate *rate, uint64_t ticks)
{
  double ns = (double) ticks * rd_rate_ns_per_tick (rate);
  unsigned bucket = 0;
  while (ns >= 2 && bucket < RADIO_HISTOGRAM_BUCKETS - 1) {
    ns /= 2;
    bucket++;
  }
  return bucket;
}

static void
the_histogram_is_in_nanoseconds_for_any_tick (void **state)
{
  static const uint64_t per_us[] = { 1, 3, 24, 999, 1000, 1001, 2450, 999999 };
  (void) state;
  for (size_t i = 0; i < sizeof per_us / sizeof per_us[0]; i++) {
    uint64_t wanted[RADIO_HISTOGRAM_BUCKETS] = { 0 };
    uint64_t histogram[RADIO_HISTOGRAM_BUCKETS];
    struct history h;
    history_start_at (&h, NULL, per_us[i]);
    for (uint64_t ticks = 0; ticks < UINT64_C (1) << 60;
         ticks += ticks / 7 + 1) {
      history_leaf (&h, &a, ticks);
      wanted[bucket_of (&h.recorder->rate, ticks)]++;
    }
    history_freeze (&h);
    fill_histogram (&h, history_node (&h, "a"), histogram);
    assert_memory_equal (histogram, wanted, sizeof wanted);
    history_release (&h);
  }
}

static void
a_clock_that_goes_back_gives_no_negative_times (void **state)
{
  struct history h;
  (void) state;
  history_start (&h, NULL);
  uint64_t outer = radio_scope_begin (&a);
  history_leaf (&h, &b, 10);
  history_pass (&h, (uint64_t) -7);
  radio_scope_end (outer);
  uint64_t other = radio_scope_begin (&c);
  history_pass (&h, (uint64_t) -2);
  radio_scope_end (other);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 10, 0, 0, 0);
  assert_times (history_node (&h, "c"), 0, 0, 0, 0);
  history_release (&h);
}

static void
taps_change_nothing_in_the_tree (void **state)
{
  struct radio_recorder_options options = { .taps = true };
  struct history h;
  (void) state;
  history_start (&h, &options);
  for (int i = 0; i < 3; i++) {
    uint64_t outer = radio_scope_begin (&a);
    history_leaf (&h, &b, 3);
    radio_scope_instant (&c);
    if (i == 1)
      radio_scope_begin (&c);
    history_pass (&h, 4);
    radio_scope_end (outer);
  }
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 21, 8, 8, 0);
  assert_times (history_node (&h, "a/b"), 9, 9, 9, 0);
  assert_int_equal (history_node (&h, "a/b")->calls, 3);
  history_release (&h);
}

/*------------------------------------------------------------------------
 * Random histories against a model that keeps every interval
 *----------------------------------------------------------------------*/

struct model_frame {
  uint64_t token, begin, children;
  int path;
};

static void
count_run (uint64_t totals[], uint64_t selves[], struct model_frame stack[],
           int depth, uint64_t now)
{
  const struct model_frame *frame = &stack[depth];
  uint64_t duration = now - frame->begin;
  totals[frame->path] += duration;
  selves[frame->path] += duration - frame->children;
  stack[depth - 1].children += duration;
}

/* Paths are numbered in base 4: the digits of the sites, outermost first. */
static const char *
path_name (int path, char name[32])
{
  static const char *const names[] = { "", "a", "b", "waits" };
  char digits[8];
  int n = 0;
  for (; path; path /= 4)
    digits[n++] = (char) (path % 4);
  name[0] = '\0';
  while (n--) {
    strcat (name, names[(int) digits[n]]);
    if (n)
      strcat (name, "/");
  }
  return name;
}

/* The log is complete: the bytes of its spans are those of the nodes. */
static void
check_bytes_of_spans (struct history *h)
{
  uint64_t in_spans = 0, in_nodes = 0;
  for (size_t i = 0; i < history_nspans (h); i++)
    in_spans += rd_span_extra (history_span (h, i))->nbytes;
  const struct rd_writer_state *writer = h->recorder->synced.writers.at[0];
  for (size_t i = 0; i < writer->nnodes; i++)
    if (writer->nodes[i]->ntallies)
      in_nodes += writer->nodes[i]->tallies[0].value;
  assert_true (in_nodes > 0);
  assert_int_equal (in_spans, in_nodes);
}

static void
random_histories_agree_with_a_model (void **state)
{
  static const struct radio_site *const sites[] = { NULL, &a, &b, &waits };
  static uint64_t totals[1024], selves[1024], counted[1024];
  struct model_frame stack[6] = { { 0 } };
  struct history h;
  uint32_t random = 12345;
  int depth = 0;
  (void) state;
  history_start (&h, NULL);
  for (int i = 0; i < 20000; i++) {
    random = random * 1664525 + 1013904223;
    history_pass (&h, random >> 24);
    if (depth < 5 && (depth == 0 || random & 0x10000)) {
      int site = 1 + (int) (random >> 8 & 0xff) % 3;
      int path = stack[depth].path * 4 + site;
      uint64_t now = atomic_load (&h.now);
      depth++;
      stack[depth] = (struct model_frame) {
        radio_scope_begin (sites[site]), now, 0, path
      };
    } else {
      count_run (totals, selves, stack, depth, atomic_load (&h.now));
      radio_scope_end (stack[depth--].token);
    }
    if (random >> 18 & 1) {
      radio_scope_add (&bytes, random >> 20);
      counted[stack[depth].path] += random >> 20;
    }
  }
  for (; depth > 0; depth--) {
    count_run (totals, selves, stack, depth, atomic_load (&h.now));
    radio_scope_end (stack[depth].token);
  }
  history_freeze (&h);
  uint64_t roots = 0, all = 0;
  for (int path = 1; path < 1024; path++) {
    char name[32];
    struct rd_node *node = history_find (&h, 0, path_name (path, name));
    if (totals[path] == 0)
      continue;
    assert_non_null (node);
    assert_int_equal (node->total, totals[path]);
    assert_int_equal (node->self, selves[path]);
    assert_int_equal (node->work + node->wait, selves[path]);
    assert_int_equal (path % 4 == 3 ? node->work : node->wait, 0);
    assert_int_equal (node->ntallies ? node->tallies[0].value : 0,
                      counted[path]);
    roots += path < 4 ? node->total : 0;
    all += node->self;
  }
  assert_int_equal (roots, all);
  check_bytes_of_spans (&h);
  history_release (&h);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (self_is_total_less_the_children),
    cmocka_unit_test (runs_of_one_path_add_up_with_their_extremes),
    cmocka_unit_test (a_recursive_scope_is_a_path_of_its_own),
    cmocka_unit_test (one_line_may_have_two_scopes),
    cmocka_unit_test (the_same_name_under_two_parents_is_two_nodes),
    cmocka_unit_test (children_in_any_order_find_their_nodes),
    cmocka_unit_test (a_scope_left_open_ends_with_the_outer_one_as_open),
    cmocka_unit_test (a_scope_open_at_the_stop_ends_there_as_open),
    cmocka_unit_test (a_token_counts_once),
    cmocka_unit_test (zero_and_tokens_of_other_recorders_are_ignored),
    cmocka_unit_test (scopes_too_deep_count_into_the_deepest),
    cmocka_unit_test (waiting_is_not_work),
    cmocka_unit_test (a_system_call_waits_while_its_thread_did_not_run),
    cmocka_unit_test (waits_inside_a_system_call_are_not_counted_twice),
    cmocka_unit_test (counters_stay_where_they_were_added),
    cmocka_unit_test (a_run_has_the_bytes_of_its_largest_counter),
    cmocka_unit_test (more_counters_of_bytes_than_a_run_remembers_do_no_harm),
    cmocka_unit_test (a_reused_frame_is_cleared),
    cmocka_unit_test (an_instant_is_a_node_without_duration),
    cmocka_unit_test (histogram_bounds_are_powers_of_two),
    cmocka_unit_test (the_histogram_is_in_nanoseconds_for_any_tick),
    cmocka_unit_test (a_clock_that_goes_back_gives_no_negative_times),
    cmocka_unit_test (taps_change_nothing_in_the_tree),
    cmocka_unit_test (random_histories_agree_with_a_model),
  };
  return run_recording_tests (tests);
}
