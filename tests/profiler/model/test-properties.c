/* SPDX-License-Identifier: MIT */
/* Properties that every history has, checked on random ones: threads that nest
 * scopes and hand work on, recursion, work that ends late, dropped spans,
 * clocks that jump.  Each is compared with sums computed here, one by one. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

#define NHISTORIES 40
#define NLANES 4
#define MAX_DEPTH 12

static uint64_t
next_random (uint64_t *random)
{
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

/*------------------------------------------------------------------------
 * Random histories
 *----------------------------------------------------------------------*/

/* The scopes that are open on a lane. */
struct open_span {
  uint32_t id, node;
  uint64_t end_ns;
};

struct thread {
  struct open_span stack[MAX_DEPTH];
  size_t depth;
  uint64_t now_ns;
};

/* Returns the node for a scope of one of six names below another node, which
 * may have the same name: recursion. */
static uint32_t
node_below (struct radio_profile *profile, uint32_t above, uint64_t which,
            enum radio_edge edge)
{
  static const char *const names[] = {
    "read", "tiles", "decode", "fetch", "place", "plan",
  };
  const char *name = names[which % 6];
  uint32_t node = rd_profile_find_node (profile, above, name, "user", edge);
  return node == RD_NO_INDEX
         ? build_edge_node (profile, above, name, "user", edge) : node;
}

/* Adds a span on a thread: below the innermost open one, or, if none is open,
 * perhaps as a handoff of any earlier span, which may have ended. */
static void
add_random_span (struct radio_profile *profile, struct thread *thread,
                 uint32_t lane, uint64_t *random)
{
  uint32_t parent = 0, above = RD_NO_INDEX;
  enum radio_edge edge = RADIO_EDGE_CALL;
  uint64_t most = 100000;
  thread->now_ns += next_random (random) % 500;
  while (thread->depth > 0
         && thread->stack[thread->depth - 1].end_ns <= thread->now_ns)
    thread->depth--;
  if (thread->depth > 0) {
    const struct open_span *open = &thread->stack[thread->depth - 1];
    parent = open->id;
    above = open->node;
    most = open->end_ns - thread->now_ns;
  } else if (profile->spans.n > 0 && next_random (random) % 2) {
    const struct rd_span *giver =
      &profile->spans.at[next_random (random) % profile->spans.n];
    if (giver->begin_ns <= thread->now_ns) {
      parent = giver->id;
      above = giver->node;
      edge = RADIO_EDGE_HANDOFF;
    }
  }
  if (parent && profile->nodes.at[above].depth > 20)
    return;
  uint32_t node = node_below (profile, above, next_random (random), edge);
  uint64_t duration = next_random (random) % (most + 1);
  uint32_t id = build_span (profile, lane, node, parent, thread->now_ns,
                            duration);
  build_last (profile)->wait_ns = 0;
  if (thread->depth < MAX_DEPTH && duration > 0)
    thread->stack[thread->depth++] = (struct open_span) {
      id, node, thread->now_ns + duration,
    };
  else
    thread->now_ns += duration;
  if (next_random (random) % 4 == 0)
    build_count (profile, node, next_random (random) % 2 ? "tiles" : "bytes",
                 "count", next_random (random) % 1000);
}

static struct radio_profile *
build_history (uint64_t seed, size_t nspans)
{
  struct radio_profile *profile = build_new ("random");
  struct thread threads[NLANES] = { { .depth = 0 } };
  uint64_t random = seed * 2654435761u + 1;
  for (uint32_t i = 0; i < NLANES; i++) {
    char name[16];
    snprintf (name, sizeof name, "thread %u", (unsigned) i);
    build_lane (profile, name);
  }
  for (size_t i = 0; i < nspans; i++) {
    uint32_t lane = (uint32_t) next_random (&random) % NLANES;
    add_random_span (profile, &threads[lane], lane, &random);
  }
  build_finish (profile);
  return profile;
}

/*------------------------------------------------------------------------
 * Properties
 *----------------------------------------------------------------------*/

static bool
is_below (const struct radio_profile *profile, size_t node, size_t above)
{
  while (node != above && node != RADIO_NO_PARENT)
    node = profile->nodes.at[node].parent;
  return node == above;
}

/* The work of all nodes adds up to the profile's, and that of a tree to its
 * root's; no self time exceeds the total. */
static void
assert_sums (const struct radio_profile *profile)
{
  uint64_t work = 0, wait = 0, calls = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    uint64_t tree = 0, tiles = 0;
    for (size_t j = i; j < profile->nodes.n; j++) {
      if (!is_below (profile, j, i))
        continue;
      tree += profile->nodes.at[j].work_ns;
      tiles += radio_profile_counter (profile, j, "tiles", false);
    }
    assert_int_equal (node->tree_work_ns, tree);
    assert_int_equal (radio_profile_counter (profile, i, "tiles", true),
                      tiles);
    assert_true (node->self_ns <= node->total_ns);
    assert_true (node->min_ns <= node->max_ns);
    work += node->work_ns;
    wait += node->wait_ns;
    calls += node->calls;
  }
  assert_int_equal (profile->info.work_ns, work);
  assert_int_equal (profile->info.wait_ns, wait);
  assert_int_equal (profile->info.scope_count, calls);
}

/* Two spans of a lane nest or are disjoint. */
static void
assert_lanes_nest (const struct radio_profile *profile)
{
  const struct rd_span *spans = profile->spans.at;
  for (size_t i = 0; i < profile->spans.n; i++)
    for (size_t j = i + 1; j < profile->spans.n
                           && spans[j].lane == spans[i].lane; j++) {
      uint64_t end = spans[i].begin_ns + spans[i].duration_ns;
      assert_true (spans[j].begin_ns >= spans[i].begin_ns);
      if (spans[j].begin_ns < end)
        assert_true (spans[j].begin_ns + spans[j].duration_ns <= end);
    }
}

static void
assert_is_read_back (const struct radio_profile *profile)
{
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  struct radio_profile *copy = NULL;
  assert_ok (sink_parse (sink.text, sink.nbytes, &copy));
  assert_same_profile (profile, copy);
  radio_profile_close (copy);
  free (sink.text);
}

static void
sums_hold_in_every_history (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    struct radio_profile *profile = build_history (seed, 150);
    assert_sums (profile);
    assert_lanes_nest (profile);
    radio_profile_close (profile);
  }
}

static void
every_history_is_read_back_as_it_was_written (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    struct radio_profile *profile = build_history (seed, 100);
    assert_is_read_back (profile);
    radio_profile_close (profile);
  }
}

/*------------------------------------------------------------------------
 * Spans that were dropped, clocks that jump
 *----------------------------------------------------------------------*/

/* Returns a copy with the same tree and with the log modified by `spoil'.  Ids
 * stay. */
static struct radio_profile *
copy_with (const struct radio_profile *source, uint64_t seed,
           bool (*spoil) (struct rd_span *span, uint64_t random))
{
  struct radio_profile *copy = build_new ("spoilt");
  uint64_t random = seed;
  for (size_t i = 0; i < source->nodes.n; i++)
    assert_ok (rd_profile_add_node (copy, &source->nodes.at[i], NULL));
  for (size_t i = 0; i < source->lanes.n; i++)
    assert_ok (rd_profile_add_lane (copy, &source->lanes.at[i], NULL));
  for (size_t i = 0; i < source->spans.n; i++) {
    struct rd_span span = source->spans.at[i];
    if (spoil (&span, next_random (&random)))
      assert_ok (rd_profile_add_span (copy, &span));
  }
  assert_ok (rd_profile_finalize (copy));
  return copy;
}

static bool
drop_some (struct rd_span *span, uint64_t random)
{
  (void) span;
  return random % 3 > 0;
}

/* Moves a span by up to a second, in either direction. */
static bool
jump (struct rd_span *span, uint64_t random)
{
  uint64_t by = random % 1000000000;
  if (random % 7 == 0)
    span->begin_ns += by;
  else if (random % 7 == 1)
    span->begin_ns -= by < span->begin_ns ? by : span->begin_ns;
  else if (random % 7 == 2)
    span->duration_ns = by;
  return true;
}

static void
dropped_spans_change_no_number_of_the_tree (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    struct radio_profile *whole = build_history (seed, 120);
    struct radio_profile *part = copy_with (whole, seed, drop_some);
    assert_true (part->spans.n < whole->spans.n);
    assert_int_equal (part->nodes.n, whole->nodes.n);
    assert_memory_equal (&part->nodes.at[0].calls, &whole->nodes.at[0].calls,
                         sizeof (uint64_t));
    assert_int_equal (part->info.work_ns, whole->info.work_ns);
    assert_int_equal (part->info.scope_count, whole->info.scope_count);
    assert_lanes_nest (part);
    assert_is_read_back (part);
    radio_profile_close (part);
    radio_profile_close (whole);
  }
}

static void
lanes_nest_although_clocks_jump (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    struct radio_profile *whole = build_history (seed, 120);
    struct radio_profile *spoilt = copy_with (whole, seed, jump);
    assert_int_equal (spoilt->spans.n, whole->spans.n);
    assert_lanes_nest (spoilt);
    assert_is_read_back (spoilt);
    radio_profile_close (spoilt);
    radio_profile_close (whole);
  }
}

/* Every history can be written in each format. */
static void
every_format_is_written_although_clocks_jump (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct radio_profile *whole = build_history (seed, 120);
    struct radio_profile *spoilt = copy_with (whole, seed, jump);
    for (int i = RADIO_PROFILE_JSON; i <= RADIO_PROFILE_SVG; i++) {
      struct sink sink = sink_write (spoilt, (enum radio_profile_format) i,
                                     NULL);
      assert_true (sink.nbytes > 0);
      free (sink.text);
    }
    radio_profile_close (spoilt);
    radio_profile_close (whole);
  }
}

/*------------------------------------------------------------------------
 * Joins
 *----------------------------------------------------------------------*/

/* Returns the node in one profile with the path of a node of another. */
static uint32_t
same_path (const struct radio_profile *in, const struct radio_profile *of,
           size_t i)
{
  const struct radio_profile_node *node = &of->nodes.at[i];
  uint32_t parent = node->parent == RADIO_NO_PARENT
                    ? RD_NO_INDEX : same_path (in, of, node->parent);
  return rd_profile_find_node (in, parent, node->name, node->category,
                               node->edge);
}

/* Each path of the joined profile has the sums of the sources, and each of its
 * parts has the values of one source. */
static void
assert_is_sum (const struct radio_profile *joined,
               struct radio_profile *const *sources, size_t n)
{
  uint64_t calls = 0, all_calls = 0, tiles = 0, all_tiles = 0;
  size_t nspans = 0;
  for (size_t s = 0; s < n; s++) {
    nspans += sources[s]->spans.n;
    for (size_t i = 0; i < sources[s]->nodes.n; i++) {
      const struct radio_profile_node *node = &sources[s]->nodes.at[i];
      struct radio_profile_share share;
      uint32_t at = same_path (joined, sources[s], i);
      assert_int_not_equal (at, RD_NO_INDEX);
      radio_profile_node_part (joined, at, s, &share);
      assert_int_equal (share.calls, node->calls);
      assert_int_equal (share.total_ns, node->total_ns);
      assert_int_equal (share.self_ns, node->self_ns);
      calls += node->calls;
      tiles += radio_profile_counter (sources[s], i, "tiles", false);
    }
  }
  for (size_t i = 0; i < joined->nodes.n; i++) {
    all_calls += joined->nodes.at[i].calls;
    all_tiles += radio_profile_counter (joined, i, "tiles", false);
  }
  assert_int_equal (all_calls, calls);
  assert_int_equal (all_tiles, tiles);
  assert_int_equal (joined->spans.n, nspans);
}

/* A span's parent is of the node above, or on another thread. */
static void
assert_parents_are_kept (const struct radio_profile *joined)
{
  for (size_t i = 0; i < joined->spans.n; i++) {
    const struct rd_span *span = &joined->spans.at[i];
    const struct rd_span *parent = NULL;
    for (size_t j = 0; span->parent && j < joined->spans.n; j++)
      if (joined->spans.at[j].id == span->parent)
        parent = &joined->spans.at[j];
    if (span->parent == 0)
      continue;
    assert_non_null (parent);
    assert_int_equal (joined->nodes.at[span->node].parent, parent->node);
  }
}

static void
joined_histories_have_the_sums_of_their_parts (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    enum radio_profile_parts parts = seed % 2 ? RADIO_PARTS_RUNS
                                              : RADIO_PARTS_RANKS;
    struct radio_profile *sources[3], *joined = NULL;
    for (uint64_t i = 0; i < 3; i++)
      sources[i] = build_history (3 * seed + i, 60);
    assert_ok (radio_profile_join (sources, 3, parts, &joined));
    assert_is_sum (joined, sources, 3);
    assert_sums (joined);
    assert_lanes_nest (joined);
    assert_parents_are_kept (joined);
    assert_is_read_back (joined);
    radio_profile_close (joined);
    for (size_t i = 0; i < 3; i++)
      radio_profile_close (sources[i]);
  }
}

static void
a_profile_does_not_differ_from_itself (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < NHISTORIES; seed++) {
    struct radio_profile *profile = build_history (seed, 100);
    struct radio_comparison *comparison = NULL;
    assert_ok (radio_profile_compare (profile, profile, &comparison));
    size_t nsplit = 0, nsingle = 0;
    for (size_t i = 0; i < radio_comparison_count (comparison); i++) {
      const struct radio_difference *path
        = radio_comparison_get (comparison, i);
      nsplit += path->is_split;
      nsingle += !path->is_split;
      assert_int_equal (path->change, path->is_split ? RADIO_CHANGE_NONE
                                                     : RADIO_CHANGE_UNKNOWN);
      assert_int_equal (path->before, path->after);
      assert_int_equal (path->cpu_before_ns, path->cpu_after_ns);
      assert_int_equal (path->total_before_ns, path->total_after_ns);
      assert_int_equal (path->self_before_ns, path->self_after_ns);
      assert_int_equal (path->calls_before, path->calls_after);
    }
    /* Nodes that differ by threads only are one path. */
    assert_true (nsingle <= profile->nodes.n);
    assert_true (nsingle + nsplit >= profile->nodes.n);
    radio_comparison_close (comparison);
    radio_profile_close (profile);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sums_hold_in_every_history),
    cmocka_unit_test (every_history_is_read_back_as_it_was_written),
    cmocka_unit_test (dropped_spans_change_no_number_of_the_tree),
    cmocka_unit_test (lanes_nest_although_clocks_jump),
    cmocka_unit_test (every_format_is_written_although_clocks_jump),
    cmocka_unit_test (joined_histories_have_the_sums_of_their_parts),
    cmocka_unit_test (a_profile_does_not_differ_from_itself),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
