/* SPDX-License-Identifier: MIT */
/* Joining runs and ranks: sums, parts, logs, texts. */
#include <config.h>

#include "tests/profiler/build.h"

#define SECOND 1000000000

/* Returns a run in which a read takes `total', half of it in decode, on two
 * threads. */
static struct radio_profile *
new_run (uint64_t total, uint64_t started_s)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t decode = build_edge_node (profile, read, "decode", "decode",
                                     RADIO_EDGE_HANDOFF);
  uint32_t main_lane = build_lane (profile, "main");
  uint32_t worker = build_lane (profile, "worker 1");
  uint32_t id = build_span (profile, main_lane, read, 0, 0, total);
  build_span (profile, worker, decode, id, total / 4, total / 2);
  build_count (profile, decode, "tiles", "count", 3);
  build_note (profile, 0, read, "file", "a.nii", true);
  build_note (profile, id, read, "file", "a.nii", true);
  build_sample (profile, "held", total / 4, 1);
  profile->info.started_unix_ns = started_s * SECOND;
  profile->info.wall_ns = total;
  profile->info.scope_count = 2;
  profile->info.scope_cost_ns = 10;
  profile->nodes.at[read].alloc_peak_nbytes = total;
  profile->nodes.at[read].alloc_count = 1;
  build_finish (profile);
  return profile;
}

/* Closes the sources. */
static struct radio_profile *
join (struct radio_profile **profiles, size_t n,
      enum radio_profile_parts parts)
{
  struct radio_profile *joined = NULL;
  assert_ok (radio_profile_join (profiles, n, parts, &joined));
  for (size_t i = 0; i < n; i++)
    radio_profile_close (profiles[i]);
  return joined;
}

static struct radio_profile *
join_two (enum radio_profile_parts parts)
{
  struct radio_profile *runs[] = { new_run (1000, 100), new_run (3000, 102) };
  return join (runs, 2, parts);
}

static void
numbers_of_equal_paths_are_added_up (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RUNS);
  const struct radio_profile_node *read = radio_profile_get_node (joined, 0);
  const struct radio_profile_node *decode = radio_profile_get_node (joined, 1);
  assert_int_equal (joined->info.nnodes, 2);
  assert_int_equal (read->calls, 2);
  assert_int_equal (read->total_ns, 4000);
  assert_int_equal (read->self_ns, 2000);
  assert_int_equal (read->work_ns, 4000);
  assert_int_equal (read->min_ns, 1000);
  assert_int_equal (read->max_ns, 3000);
  assert_int_equal (read->alloc_peak_nbytes, 3000);
  assert_int_equal (read->alloc_count, 2);
  assert_int_equal (decode->total_ns, 2000);
  assert_int_equal (decode->edge, RADIO_EDGE_HANDOFF);
  assert_int_equal (decode->histogram[8] + decode->histogram[10], 2);
  assert_int_equal (radio_profile_counter (joined, 0, "tiles", true), 6);
  radio_profile_close (joined);
}

static void
runs_add_up_their_time_and_ranks_end_with_the_last (void **state)
{
  (void) state;
  struct radio_profile *runs = join_two (RADIO_PARTS_RUNS);
  struct radio_profile *ranks = join_two (RADIO_PARTS_RANKS);
  assert_int_equal (runs->info.wall_ns, 4000);
  assert_int_equal (ranks->info.wall_ns, (uint64_t) 2 * SECOND + 3000);
  assert_int_equal (runs->info.work_ns, 6000);
  assert_int_equal (ranks->info.work_ns, 6000);
  assert_int_equal (ranks->info.started_unix_ns, (uint64_t) 100 * SECOND);
  assert_int_equal (runs->info.scope_count, 4);
  assert_int_equal (runs->info.overhead_ns, 40);
  radio_profile_close (runs);
  radio_profile_close (ranks);
}

static void
a_long_rank_may_end_after_one_that_began_later (void **state)
{
  (void) state;
  struct radio_profile *ranks[] = {
    new_run ((uint64_t) 5 * SECOND, 100), new_run (SECOND, 102)
  };
  struct radio_profile *joined = join (ranks, 2, RADIO_PARTS_RANKS);
  assert_int_equal (joined->info.wall_ns, (uint64_t) 5 * SECOND);
  radio_profile_close (joined);
}

/* Returns a run with this peak in all, which leaves `live' at a node of this
 * name. */
static struct radio_profile *
new_holder (const char *name, uint64_t peak, uint64_t live)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t node = build_node (profile, RD_NO_INDEX, name, "operation");
  profile->nodes.at[node].calls = 1;
  profile->nodes.at[node].alloc_peak_nbytes = peak;
  profile->nodes.at[node].alloc_live_nbytes = live;
  profile->info.alloc_peak_nbytes = peak;
  build_finish (profile);
  return profile;
}

static struct radio_profile *
join_holders (enum radio_profile_parts parts)
{
  struct radio_profile *holders[] = { new_holder ("read", 100, 60),
                                      new_holder ("write", 90, 80),
                                      new_holder ("read", 70, 50) };
  return join (holders, 3, parts);
}

static void
runs_hold_memory_one_after_the_other (void **state)
{
  (void) state;
  struct radio_profile *joined = join_holders (RADIO_PARTS_RUNS);
  assert_int_equal (joined->info.alloc_peak_nbytes, 100);
  assert_int_equal (joined->info.alloc_live_nbytes, 50);
  assert_int_equal (joined->nodes.at[0].alloc_peak_nbytes, 100);
  assert_int_equal (joined->nodes.at[0].alloc_live_nbytes, 50);
  assert_int_equal (joined->nodes.at[1].alloc_peak_nbytes, 90);
  assert_int_equal (joined->nodes.at[1].alloc_live_nbytes, 0);
  radio_profile_close (joined);
}

static void
ranks_hold_memory_at_the_same_time (void **state)
{
  (void) state;
  struct radio_profile *joined = join_holders (RADIO_PARTS_RANKS);
  assert_int_equal (joined->info.alloc_peak_nbytes, 260);
  assert_int_equal (joined->info.alloc_live_nbytes, 190);
  assert_int_equal (joined->nodes.at[0].alloc_peak_nbytes, 170);
  assert_int_equal (joined->nodes.at[0].alloc_live_nbytes, 110);
  radio_profile_close (joined);
}

static void
each_part_has_its_share_of_each_node (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RANKS);
  struct radio_profile_share share;
  uint64_t wall, work;
  assert_int_equal (joined->info.nparts, 2);
  assert_int_equal (joined->info.parts, RADIO_PARTS_RANKS);
  assert_string_equal (radio_profile_part (joined, 1, &wall, &work),
                       "rank 1");
  assert_int_equal (wall, 3000);
  assert_int_equal (work, 4500);
  radio_profile_node_part (joined, 1, 0, &share);
  assert_int_equal (share.total_ns, 500);
  radio_profile_node_part (joined, 1, 1, &share);
  assert_int_equal (share.total_ns, 1500);
  assert_int_equal (share.calls, 1);
  radio_profile_close (joined);
}

static void
runs_follow_each_other_in_the_same_lanes (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RUNS);
  assert_int_equal (joined->lanes.n, 2);
  assert_string_equal (joined->lanes.at[1].name, "worker 1");
  assert_int_equal (joined->spans.n, 4);
  assert_int_equal (joined->spans.at[1].begin_ns, 1000);
  assert_int_equal (joined->spans.at[3].begin_ns, 1750);
  assert_int_equal (joined->samples.at[1].time_ns, 1750);
  assert_string_equal (radio_profile_part (joined, 0, NULL, NULL), "run 1");
  radio_profile_close (joined);
}

static void
a_run_begins_after_the_late_spans_of_the_one_before (void **state)
{
  (void) state;
  struct radio_profile *late = build_new ("late");
  uint32_t node = build_node (late, RD_NO_INDEX, "read", "operation");
  build_span (late, build_lane (late, "main"), node, 0, 0, 5000);
  late->info.wall_ns = 1000;
  build_finish (late);
  struct radio_profile *runs[] = { late, new_run (1000, 100) };
  struct radio_profile *joined = join (runs, 2, RADIO_PARTS_RUNS);
  assert_int_equal (joined->spans.at[1].begin_ns, 5000);
  assert_int_equal (joined->spans.at[1].duration_ns, 1000);
  radio_profile_close (joined);
}

static void
ranks_begin_by_their_clocks_in_lanes_of_their_own (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RANKS);
  assert_int_equal (joined->lanes.n, 4);
  assert_string_equal (joined->lanes.at[0].name, "rank 0: main");
  assert_string_equal (joined->lanes.at[3].name, "rank 1: worker 1");
  assert_int_equal (joined->lanes.at[3].part, 1);
  assert_int_equal (joined->spans.at[0].begin_ns, 0);
  assert_int_equal (joined->spans.at[2].begin_ns, (uint64_t) 2 * SECOND);
  radio_profile_close (joined);
}

static void
equal_lanes_of_one_run_stay_separate (void **state)
{
  (void) state;
  struct radio_profile *runs[2];
  for (size_t i = 0; i < 2; i++) {
    runs[i] = build_new ("x");
    uint32_t node = build_node (runs[i], RD_NO_INDEX, "read", "operation");
    for (size_t j = 0; j < 3; j++) {
      uint32_t lane = build_lane (runs[i], "worker");
      runs[i]->lanes.at[lane].os_tid = 7;
      build_span (runs[i], lane, node, 0, 0, 100);
    }
    build_finish (runs[i]);
  }
  struct radio_profile *joined = join (runs, 2, RADIO_PARTS_RUNS);
  assert_int_equal (joined->lanes.n, 3);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal (joined->spans.at[i].begin_ns, i % 2 * 100);
  radio_profile_close (joined);
}

static void
ids_are_new_and_parents_follow (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RANKS);
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < i; j++)
      assert_int_not_equal (joined->spans.at[i].id, joined->spans.at[j].id);
  for (size_t i = 0; i < 4; i += 2) {
    const struct rd_span *read = &joined->spans.at[i];
    assert_int_equal (read->parent, 0);
    assert_int_equal (read[1].parent, read->id);
  }
  radio_profile_close (joined);
}

static void
texts_go_with_their_spans (void **state)
{
  (void) state;
  struct radio_profile *joined = join_two (RADIO_PARTS_RUNS);
  assert_int_equal (joined->notes.n, 3);
  assert_int_equal (joined->notes.at[0].span, 0);
  assert_false (joined->notes.at[0].varies);
  for (size_t i = 1; i < 3; i++) {
    const struct rd_note *note = &joined->notes.at[i];
    assert_int_equal (note->span, joined->spans.at[i - 1].id);
    assert_true (note->is_name);
  }
  radio_profile_close (joined);
}

static void
a_text_that_differs_is_marked_as_varying (void **state)
{
  (void) state;
  struct radio_profile *runs[3];
  for (size_t i = 0; i < 3; i++) {
    runs[i] = build_new ("x");
    build_node (runs[i], RD_NO_INDEX, "read", "operation");
    build_note (runs[i], 0, 0, "file", i == 2 ? "b" : "a", false);
    build_note (runs[i], 0, 0, "codec", "zstd", false);
    build_finish (runs[i]);
  }
  struct radio_profile *joined = join (runs, 3, RADIO_PARTS_RUNS);
  assert_int_equal (joined->notes.n, 2);
  assert_string_equal (joined->notes.at[0].key, "codec");
  assert_false (joined->notes.at[0].varies);
  assert_string_equal (joined->notes.at[1].value, "a");
  assert_true (joined->notes.at[1].varies);
  radio_profile_close (joined);
}

/* Each run keeps its own; of runs that become a rank, it is their sum. */
static void
parts_have_their_own_work_and_usage (void **state)
{
  (void) state;
  struct radio_profile *runs[2], *joined, *ranks;
  for (size_t i = 0; i < 2; i++) {
    runs[i] = build_new ("part");
    build_node (runs[i], RD_NO_INDEX, "a", "c");
    build_times (runs[i], 0, 1, 100, 100, 90 + i, 10 - i);
    runs[i]->nodes.at[0].starved_ns = 50 + i;
    build_fact (runs[i], "page faults", i ? "7" : "9", false);
    build_fact (runs[i], "page faults from disks", i ? "1" : "0", false);
    build_fact (runs[i], "bytes read from disks", i ? "512" : "0", false);
    build_fact (runs[i], "bytes resident at most", i ? "10" : "30", false);
    build_finish (runs[i]);
  }
  assert_ok (radio_profile_join (runs, 2, RADIO_PARTS_RUNS, &joined));
  for (size_t i = 0; i < 2; i++) {
    struct radio_profile_share share;
    const struct rd_profile_part *part = &joined->parts.at[i];
    radio_profile_node_part (joined, 0, i, &share);
    assert_int_equal (share.work_ns, 90 + i);
    assert_int_equal (share.starved_ns, 50 + i);
    assert_int_equal (part->starved_ns, 50 + i);
    assert_int_equal (part->usage.minor_fault_count, i ? 7 : 9);
    assert_int_equal (part->usage.major_fault_count, i);
    assert_int_equal (part->usage.block_input_nbytes, 512 * i);
  }
  assert_int_equal (joined->info.starved_ns, 101);
  assert_string_equal (rd_profile_find_fact (joined,
                                             "bytes resident at most"), "30");

  struct radio_profile *both[2] = { joined, runs[0] };
  assert_ok (radio_profile_join (both, 2, RADIO_PARTS_RANKS, &ranks));
  assert_int_equal (ranks->parts.at[0].starved_ns, 101);
  assert_int_equal (ranks->parts.at[0].usage.minor_fault_count, 16);
  assert_int_equal (ranks->parts.at[0].usage.block_input_nbytes, 512);
  assert_string_equal (rd_profile_find_fact (ranks,
                                             "bytes resident at most"), "60");
  radio_profile_close (ranks);
  radio_profile_close (joined);
  for (size_t i = 0; i < 2; i++)
    radio_profile_close (runs[i]);
}

/* It is unknown for one of two, which was killed. */
static void
cpu_time_that_is_unknown_for_some_is_a_lower_bound (void **state)
{
  (void) state;
  struct radio_profile *runs[2], *joined;
  for (size_t i = 0; i < 2; i++)
    runs[i] = build_new ("part");
  build_fact (runs[0], "cpu ns", "30", false);
  build_fact (runs[1], "cpu at least ns", "12", false);
  build_fact (runs[1], "cpu not known because", "killed", false);
  for (size_t i = 0; i < 2; i++)
    build_finish (runs[i]);
  assert_ok (radio_profile_join (runs, 2, RADIO_PARTS_RUNS, &joined));
  assert_null (rd_profile_find_fact (joined, "cpu ns"));
  assert_string_equal (rd_profile_find_fact (joined, "cpu at least ns"), "42");
  assert_string_equal (rd_profile_find_fact (joined, "cpu not known because"),
                       "killed");
  radio_profile_close (joined);
  for (size_t i = 0; i < 2; i++)
    radio_profile_close (runs[i]);
}

static void
facts_of_each_part_alone_are_added_up (void **state)
{
  (void) state;
  static const char *const keys[] = {
    "cpu ns", "machine cpu ns", "recorded ns", "recorded cpu ns",
    "recorded without disks ns", "steal ns", "throttled ns",
    "page faults",
    "page faults from disks", "disk wait of others ns",
    "disk pressure of others ns",
    "bytes read from disks", "scopes not recorded", "paths logged in part",
    "events dropped in signal handlers",
    "threads recorded by another recorder", "recorded by another recorder ns",
    "scopes left without an end", "clock jumped",
    "counts and texts outside of scopes", "texts not kept",
    "counter values not kept", "gauge samples not kept",
    "threads not recorded",
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    struct radio_profile *runs[3], *joined;
    for (size_t j = 0; j < 3; j++)
      runs[j] = build_new ("part");
    build_fact (runs[0], keys[i], "100000000000", false);
    build_fact (runs[2], keys[i], "23", false);
    for (size_t j = 0; j < 3; j++)
      build_finish (runs[j]);
    assert_ok (radio_profile_join (runs, 3, RADIO_PARTS_RUNS, &joined));
    assert_string_equal (rd_profile_find_fact (joined, keys[i]),
                         "100000000023");
    for (size_t j = 0; j < 3; j++)
      radio_profile_close (runs[j]);
    radio_profile_close (joined);
  }
}

/* As ranks of one host saw the same of it; the host of one is not known. */
static void
the_time_of_a_machine_counts_once_for_its_ranks (void **state)
{
  static const struct {
    const char *host, *value;
  } of[] = {
    { "a", "100" }, { "b", "20" }, { "a", "90" }, { NULL, "3" }, { "a", "101" },
  };
  enum { N = sizeof of / sizeof of[0] };
  static const char *const keys[] = {
    RD_FACT_MACHINE_NS, RD_FACT_STEAL_NS, RD_FACT_QUOTA_NS, RD_FACT_DISK_WAIT,
    RD_FACT_DISK_PRESSURE, RD_FACT_RECORDED_NS, RD_FACT_NO_DISK_NS
  };
  (void) state;
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
    for (int is_runs = 0; is_runs < 2; is_runs++) {
      struct radio_profile *parts[N], *joined;
      for (size_t i = 0; i < N; i++) {
        parts[i] = build_new ("part");
        build_fact (parts[i], keys[k], of[i].value, false);
        if (of[i].host)
          build_fact (parts[i], "host", of[i].host, true);
        build_finish (parts[i]);
      }
      assert_ok (radio_profile_join (parts, N, is_runs ? RADIO_PARTS_RUNS
                                                       : RADIO_PARTS_RANKS,
                                     &joined));
      assert_string_equal (rd_profile_find_fact (joined, keys[k]),
                           is_runs ? "314" : "124");
      for (size_t i = 0; i < N; i++)
        radio_profile_close (parts[i]);
      radio_profile_close (joined);
    }
}

/* A clock is the machine's: the fastest of it that was seen. */
static void
the_clock_is_the_mean_of_all_parts (void **state)
{
  (void) state;
  for (int is_runs = 0; is_runs < 2; is_runs++) {
    enum radio_profile_parts kind = is_runs ? RADIO_PARTS_RUNS
                                            : RADIO_PARTS_RANKS;
    struct radio_profile *parts[3] = {
      build_new ("a"), build_new ("b"), build_new ("c")
    };
    struct radio_profile *two, *three;
    build_fact (parts[0], RD_FACT_CLOCK, "2100", false);
    build_fact (parts[1], RD_FACT_CLOCK, "2600", false);
    build_fact (parts[2], RD_FACT_CLOCK, "3400", false);
    for (size_t i = 0; i < 3; i++)
      build_finish (parts[i]);
    assert_ok (radio_profile_join (parts, 2, kind, &two));
    assert_string_equal (rd_profile_find_fact (two, RD_FACT_CLOCK), "2350");
    struct radio_profile *again[2] = { two, parts[2] };
    assert_ok (radio_profile_join (again, 2, kind, &three));
    assert_string_equal (rd_profile_find_fact (three, RD_FACT_CLOCK), "2700");
    for (size_t i = 0; i < 3; i++)
      radio_profile_close (parts[i]);
    radio_profile_close (two);
    radio_profile_close (three);
  }
}

static void
facts_are_kept_once_or_listed (void **state)
{
  (void) state;
  struct radio_profile *runs[12];
  for (size_t i = 0; i < 12; i++) {
    char host[20];
    snprintf (host, sizeof host, "h%zu", i);
    runs[i] = build_new ("x");
    build_fact (runs[i], "operation", "slice", false);
    build_fact (runs[i], "host", host, true);
    build_fact (runs[i], "ncpus", i % 2 ? "2" : "4", false);
    if (i == 5)
      build_fact (runs[i], "extra", "only here", false);
    build_finish (runs[i]);
  }
  struct radio_profile *joined = join (runs, 12, RADIO_PARTS_RANKS);
  assert_string_equal (rd_profile_find_fact (joined, "operation"), "slice");
  assert_string_equal (rd_profile_find_fact (joined, "ncpus"), "4, 2");
  assert_string_equal (rd_profile_find_fact (joined, "host"),
                       "h0, h1, h2, h3, h4, h5, h6, h7, ...");
  assert_string_equal (rd_profile_find_fact (joined, "extra"), "only here");
  assert_int_equal (joined->facts.n, 4);
  assert_true (joined->facts.at[1].is_name);
  radio_profile_close (joined);
}

static void
paths_of_only_some_parts_are_kept (void **state)
{
  (void) state;
  struct radio_profile *one = build_new ("one");
  struct radio_profile *two = build_new ("two");
  uint32_t root = build_node (one, RD_NO_INDEX, "root", "");
  build_times (one, build_node (one, root, "a", ""), 1, 10, 10, 10, 0);
  build_finish (one);
  build_times (two, build_node (two, RD_NO_INDEX, "b", ""), 1, 5, 5, 5, 0);
  root = build_node (two, RD_NO_INDEX, "root", "");
  build_times (two, build_node (two, root, "c", ""), 1, 20, 20, 20, 0);
  build_finish (two);
  struct radio_profile *both[] = { one, two };
  struct radio_profile *joined = join (both, 2, RADIO_PARTS_RUNS);
  struct radio_profile_share share;
  assert_int_equal (joined->nodes.n, 4);
  uint32_t c = rd_profile_find_node (joined, 0, "c", "", RADIO_EDGE_CALL);
  radio_profile_node_part (joined, c, 0, &share);
  assert_int_equal (share.calls, 0);
  radio_profile_node_part (joined, c, 1, &share);
  assert_int_equal (share.total_ns, 20);
  assert_string_equal (joined->info.title, "one and 1 more");
  radio_profile_close (joined);
}

static void
joined_profiles_keep_their_parts (void **state)
{
  (void) state;
  struct radio_profile *pair[] = { join_two (RADIO_PARTS_RANKS),
                                   new_run (500, 101) };
  struct radio_profile *joined = join (pair, 2, RADIO_PARTS_RANKS);
  struct radio_profile_share share;
  assert_int_equal (joined->info.nparts, 3);
  assert_string_equal (radio_profile_part (joined, 2, NULL, NULL), "rank 2");
  assert_string_equal (joined->lanes.at[3].name, "rank 1: worker 1");
  assert_string_equal (joined->lanes.at[4].name, "rank 2: main");
  radio_profile_node_part (joined, 0, 1, &share);
  assert_int_equal (share.total_ns, 3000);
  radio_profile_node_part (joined, 0, 2, &share);
  assert_int_equal (share.total_ns, 500);
  radio_profile_close (joined);
}

static void
a_rank_that_was_joined_second_gets_a_new_number (void **state)
{
  (void) state;
  struct radio_profile *pair[] = { new_run (500, 101),
                                   join_two (RADIO_PARTS_RANKS) };
  struct radio_profile *joined = join (pair, 2, RADIO_PARTS_RANKS);
  assert_string_equal (joined->lanes.at[0].name, "rank 0: main");
  assert_string_equal (joined->lanes.at[2].name, "rank 1: main");
  assert_string_equal (joined->lanes.at[5].name, "rank 2: worker 1");
  radio_profile_close (joined);
}

static void
runs_become_one_rank (void **state)
{
  (void) state;
  struct radio_profile *pair[] = { join_two (RADIO_PARTS_RUNS),
                                   new_run (500, 101) };
  struct radio_profile *joined = join (pair, 2, RADIO_PARTS_RANKS);
  struct radio_profile_share share;
  assert_int_equal (joined->info.nparts, 2);
  radio_profile_node_part (joined, 0, 0, &share);
  assert_int_equal (share.calls, 2);
  assert_int_equal (share.total_ns, 4000);
  radio_profile_close (joined);
}

/* A job of several processes, repeated. */
static void
ranks_become_one_run (void **state)
{
  (void) state;
  struct radio_profile *pair[2];
  for (uint64_t i = 0; i < 2; i++) {
    pair[i] = join_two (RADIO_PARTS_RANKS);
    for (size_t k = 0; k < 2; k++) {
      pair[i]->parts.at[k].pid = 1;
      pair[i]->parts.at[k].process = 10 * (i + 1) + k;
    }
  }
  struct radio_profile *joined = join (pair, 2, RADIO_PARTS_RUNS);
  struct radio_profile_share share;
  assert_int_equal (joined->info.nparts, 2);
  assert_string_equal (joined->parts.at[1].name, "run 2");
  assert_int_equal (joined->parts.at[1].wall_ns,
                    (uint64_t) 2 * SECOND + 3000);
  assert_int_equal (joined->parts.at[1].process, 20);
  assert_int_equal (joined->info.wall_ns, 2 * joined->parts.at[1].wall_ns);
  radio_profile_node_part (joined, 0, 1, &share);
  assert_int_equal (share.calls, 2);
  assert_int_equal (share.total_ns, 4000);
  radio_profile_close (joined);
}

static void
nothing_is_joined_as_nothing (void **state)
{
  (void) state;
  struct radio_profile *ranks = join_two (RADIO_PARTS_RANKS);
  struct radio_profile *joined = NULL;
  assert_fails (radio_profile_join (&ranks, 0, RADIO_PARTS_RANKS, &joined),
                RADIO_ERROR_ARGUMENT, "no profiles");
  assert_fails (radio_profile_join (&ranks, 1, RADIO_PARTS_NONE, &joined),
                RADIO_ERROR_ARGUMENT, "as runs or as ranks");
  assert_null (joined);
  radio_profile_close (ranks);
}

static void
null_is_refused (void **state)
{
  (void) state;
  struct radio_profile *none = NULL, *joined = NULL;
  struct radio_comparison *comparison = NULL;
  assert_fails (radio_profile_join (NULL, 1, RADIO_PARTS_RUNS, &joined),
                RADIO_ERROR_ARGUMENT, "radio_profile_join: profiles is NULL");
  assert_fails (radio_profile_join (&none, 1, RADIO_PARTS_RUNS, &joined),
                RADIO_ERROR_ARGUMENT, "profiles[0] is NULL");
  struct radio_profile *ranks = join_two (RADIO_PARTS_RANKS);
  assert_fails (radio_profile_join (&ranks, 1, RADIO_PARTS_RANKS, NULL),
                RADIO_ERROR_ARGUMENT, "radio_profile_join: joined is NULL");
  assert_fails (radio_profile_compare (NULL, ranks, &comparison),
                RADIO_ERROR_ARGUMENT, "radio_profile_compare: before is NULL");
  assert_fails (radio_profile_compare (ranks, NULL, &comparison),
                RADIO_ERROR_ARGUMENT, "radio_profile_compare: after is NULL");
  assert_fails (radio_profile_compare (ranks, ranks, NULL),
                RADIO_ERROR_ARGUMENT, "comparison is NULL");
  assert_null (joined);
  assert_null (comparison);
  radio_profile_close (ranks);
}

static void
joining_pair_by_pair_is_joining_all_at_once (void **state)
{
  (void) state;
  struct radio_profile *all[] = { new_run (1000, 1), new_run (2000, 2),
                                  new_run (4000, 3) };
  struct radio_profile *flat = NULL, *nested = NULL, *pair = NULL;
  assert_ok (radio_profile_join (all, 3, RADIO_PARTS_RUNS, &flat));
  assert_ok (radio_profile_join (all, 2, RADIO_PARTS_RUNS, &pair));
  struct radio_profile *two[] = { pair, all[2] };
  assert_ok (radio_profile_join (two, 2, RADIO_PARTS_RUNS, &nested));
  assert_int_equal (flat->nodes.n, nested->nodes.n);
  assert_int_equal (flat->shares.n, nested->shares.n);
  assert_memory_equal (flat->shares.at, nested->shares.at,
                       flat->shares.n * sizeof *flat->shares.at);
  for (size_t i = 0; i < flat->spans.n; i++) {
    const struct rd_span *x = &flat->spans.at[i];
    const struct rd_span *y = &nested->spans.at[i];
    assert_int_equal (x->begin_ns, y->begin_ns);
    assert_int_equal (x->duration_ns, y->duration_ns);
    assert_int_equal (x->lane, y->lane);
  }
  for (size_t i = 0; i < 3; i++)
    assert_string_equal (flat->parts.at[i].name, nested->parts.at[i].name);
  for (size_t i = 0; i < 3; i++)
    radio_profile_close (all[i]);
  radio_profile_close (flat);
  radio_profile_close (pair);
  radio_profile_close (nested);
}

static void
a_large_random_profile_joined_with_itself_is_doubled (void **state)
{
  (void) state;
  struct radio_profile *one = build_random (3, 4000, 4), *joined = NULL;
  struct radio_profile *twice[] = { one, one };
  assert_ok (radio_profile_join (twice, 2, RADIO_PARTS_RANKS, &joined));
  assert_int_equal (joined->info.nspans, 2 * one->info.nspans);
  assert_int_equal (joined->info.work_ns, 2 * one->info.work_ns);
  for (size_t i = 0; i < one->nodes.n; i++) {
    assert_int_equal (joined->nodes.at[i].total_ns,
                      2 * one->nodes.at[i].total_ns);
    assert_int_equal (joined->nodes.at[i].min_ns, one->nodes.at[i].min_ns);
  }
  radio_profile_close (joined);
  radio_profile_close (one);
}

/* Returns a rank with 700 scopes that no other rank has. */
static struct radio_profile *
new_rank_of_its_own (unsigned rank)
{
  struct radio_profile *profile = build_new ("rank");
  for (unsigned i = 0; i < 700; i++) {
    char name[32];
    snprintf (name, sizeof name, "%u of %u", i, rank);
    uint32_t node = build_node (profile, RD_NO_INDEX, name, "");
    build_times (profile, node, 1, rank + 1, rank + 1, rank + 1, 0);
  }
  build_finish (profile);
  return profile;
}

/* 56,000 nodes by 80 ranks; each node has values in one rank. */
static void
many_ranks_that_have_little_in_common_are_joined (void **state)
{
  (void) state;
  struct radio_profile *ranks[80];
  for (unsigned i = 0; i < 80; i++)
    ranks[i] = new_rank_of_its_own (i);
  struct radio_profile *joined = join (ranks, 80, RADIO_PARTS_RANKS);
  assert_int_equal (joined->info.nnodes, 56000);
  assert_int_equal (joined->shares.n, 56000);
  for (size_t i = 0; i < 56000; i += 699) {
    size_t n, rank = i / 700;
    struct radio_profile_share share;
    const struct rd_part_share *all = rd_profile_shares (joined, i, &n);
    assert_int_equal (n, 1);
    assert_int_equal (all->part, rank);
    radio_profile_node_part (joined, i, rank, &share);
    assert_int_equal (share.total_ns, rank + 1);
    radio_profile_node_part (joined, i, (rank + 1) % 80, &share);
    assert_int_equal (share.calls, 0);
  }
  radio_profile_close (joined);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (numbers_of_equal_paths_are_added_up),
    cmocka_unit_test (
      runs_add_up_their_time_and_ranks_end_with_the_last),
    cmocka_unit_test (a_long_rank_may_end_after_one_that_began_later),
    cmocka_unit_test (runs_hold_memory_one_after_the_other),
    cmocka_unit_test (ranks_hold_memory_at_the_same_time),
    cmocka_unit_test (each_part_has_its_share_of_each_node),
    cmocka_unit_test (runs_follow_each_other_in_the_same_lanes),
    cmocka_unit_test (a_run_begins_after_the_late_spans_of_the_one_before),
    cmocka_unit_test (ranks_begin_by_their_clocks_in_lanes_of_their_own),
    cmocka_unit_test (equal_lanes_of_one_run_stay_separate),
    cmocka_unit_test (ids_are_new_and_parents_follow),
    cmocka_unit_test (texts_go_with_their_spans),
    cmocka_unit_test (a_text_that_differs_is_marked_as_varying),
    cmocka_unit_test (parts_have_their_own_work_and_usage),
    cmocka_unit_test (cpu_time_that_is_unknown_for_some_is_a_lower_bound),
    cmocka_unit_test (facts_of_each_part_alone_are_added_up),
    cmocka_unit_test (the_time_of_a_machine_counts_once_for_its_ranks),
    cmocka_unit_test (the_clock_is_the_mean_of_all_parts),
    cmocka_unit_test (facts_are_kept_once_or_listed),
    cmocka_unit_test (paths_of_only_some_parts_are_kept),
    cmocka_unit_test (joined_profiles_keep_their_parts),
    cmocka_unit_test (a_rank_that_was_joined_second_gets_a_new_number),
    cmocka_unit_test (runs_become_one_rank),
    cmocka_unit_test (ranks_become_one_run),
    cmocka_unit_test (nothing_is_joined_as_nothing),
    cmocka_unit_test (null_is_refused),
    cmocka_unit_test (joining_pair_by_pair_is_joining_all_at_once),
    cmocka_unit_test (a_large_random_profile_joined_with_itself_is_doubled),
    cmocka_unit_test (many_ranks_that_have_little_in_common_are_joined),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
