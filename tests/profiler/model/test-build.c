/* SPDX-License-Identifier: MIT */
/* Building profiles: stored values, derived values, and refused input. */
#include <config.h>

#include <math.h>

#include "tests/profiler/build.h"

static void
equal_strings_are_one (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  char copy[] = "decode";
  const char *one = rd_profile_string (profile, "decode");
  assert_ptr_equal (rd_profile_string (profile, copy), one);
  assert_ptr_not_equal (one, copy);
  assert_string_equal (rd_profile_string (profile, NULL), "");
  radio_profile_close (profile);
}

static void
many_strings_keep_their_contents (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  const char *kept[1000];
  for (size_t i = 0; i < 1000; i++) {
    char text[200];
    memset (text, 'x', sizeof text);
    snprintf (text + i % 150, 50, "%zu", i);
    kept[i] = rd_profile_string (profile, text);
  }
  for (size_t i = 0; i < 1000; i++) {
    char number[20];
    snprintf (number, sizeof number, "%zu", i);
    assert_string_equal (kept[i] + i % 150, number);
  }
  radio_profile_close (profile);
}

/* Pairs of the input and the stored text. */
static void
bad_utf8_and_control_characters_are_replaced (void **state)
{
  (void) state;
#define FFFD "\xef\xbf\xbd"
  static const char *const pairs[][2] = {
    { "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
      "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
    { "a\nb\tc\x7f" "d", "a" FFFD "b" FFFD "c" FFFD "d" },
    { "\xc2\x85x", FFFD "x" },                  /* a C1 control */
    { "\xc2\xa0x", "\xc2\xa0x" },               /* the first after them */
    { "\xff\xfe", FFFD FFFD },
    { "\xc0\xaf", FFFD FFFD },                  /* overlong '/' */
    { "\xe0\x80\xaf", FFFD FFFD FFFD },
    { "\xed\xa0\x80", FFFD FFFD FFFD },         /* a surrogate */
    { "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD },        /* U+110000 */
    { "\xe2\x82", FFFD FFFD },                  /* cut off */
    { "\xf0\x9f\x98", FFFD FFFD FFFD },
    { "\xe2\x82z", FFFD FFFD "z" },
  };
  struct radio_profile *profile = build_new ("x");
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    assert_string_equal (rd_profile_string (profile, pairs[i][0]),
                         pairs[i][1]);
  radio_profile_close (profile);
}

static void
a_node_is_found_by_the_name_it_was_given (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "ro\not", "operation");
  uint32_t child = build_node (profile, root, "child", "disk");
  assert_int_equal (rd_profile_find_node (profile, RD_NO_INDEX, "ro\not",
                                          "operation", RADIO_EDGE_CALL),
                    root);
  assert_int_equal (rd_profile_find_node (profile, root, "child", "disk",
                                          RADIO_EDGE_CALL), child);
  radio_profile_close (profile);
}

static void
nodes_differ_by_parent_name_category_and_edge (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "a", "b");
  assert_int_equal (rd_profile_find_node (profile, root, "a", "b",
                                          RADIO_EDGE_CALL), RD_NO_INDEX);
  assert_int_equal (rd_profile_find_node (profile, RD_NO_INDEX, "b", "b",
                                          RADIO_EDGE_CALL), RD_NO_INDEX);
  assert_int_equal (rd_profile_find_node (profile, RD_NO_INDEX, "a", "a",
                                          RADIO_EDGE_CALL), RD_NO_INDEX);
  assert_int_equal (rd_profile_find_node (profile, RD_NO_INDEX, "a", "b",
                                          RADIO_EDGE_ASYNC), RD_NO_INDEX);
  build_edge_node (profile, RD_NO_INDEX, "a", "b", RADIO_EDGE_ASYNC);
  radio_profile_close (profile);
}

static void
a_thousand_nodes_are_found_again (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  for (uint32_t i = 1; i <= 1000; i++) {
    char name[20];
    snprintf (name, sizeof name, "n%u", i / 2);
    assert_int_equal (build_node (profile, i % 2 ? root : i / 2, name, ""),
                      i);
  }
  for (uint32_t i = 1; i <= 1000; i++) {
    char name[20];
    snprintf (name, sizeof name, "n%u", i / 2);
    assert_int_equal (rd_profile_find_node (profile, i % 2 ? root : i / 2,
                                            name, "", RADIO_EDGE_CALL), i);
  }
  radio_profile_close (profile);
}

static void
a_duplicate_node_is_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_node (profile, RD_NO_INDEX, "a", "b");
  struct radio_profile_node node = {
    .name = "a", .category = "b", .parent = RADIO_NO_PARENT
  };
  assert_fails (rd_profile_add_node (profile, &node, NULL),
                RADIO_ERROR_FORMAT, "node 1 'a' (b) is the same as node 0");
  radio_profile_close (profile);
}

static void
a_parent_that_comes_later_is_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  struct radio_profile_node node = { .name = "a", .parent = 0 };
  assert_fails (rd_profile_add_node (profile, &node, NULL),
                RADIO_ERROR_FORMAT, "node 0 'a' is below node 0");
  radio_profile_close (profile);
}

static void
an_invalid_edge_is_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  struct radio_profile_node node = {
    .name = "a", .parent = RADIO_NO_PARENT, .edge = (enum radio_edge) 17
  };
  assert_fails (rd_profile_add_node (profile, &node, NULL),
                RADIO_ERROR_FORMAT, "edge 17 is unknown");
  radio_profile_close (profile);
}

static void
a_tree_has_a_greatest_depth (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  struct radio_profile_node node = { .name = "a", .parent = RADIO_NO_PARENT };
  for (size_t i = 0; i < RD_MAX_NODE_DEPTH; i++) {
    assert_ok (rd_profile_add_node (profile, &node, NULL));
    node.parent = i;
  }
  assert_int_equal (profile->nodes.at[RD_MAX_NODE_DEPTH - 1].depth,
                    RD_MAX_NODE_DEPTH - 1);
  assert_fails (rd_profile_add_node (profile, &node, NULL),
                RADIO_ERROR_FORMAT, "levels deep");
  assert_ok (rd_profile_finalize (profile));
  radio_profile_close (profile);
}

static void
counters_of_equal_names_and_units_are_one (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t a, b, c;
  assert_ok (rd_profile_add_counter (profile, "bytes", "bytes", &a));
  assert_ok (rd_profile_add_counter (profile, "rows", "count", &b));
  assert_ok (rd_profile_add_counter (profile, "bytes", "bytes", &c));
  assert_int_equal (a, c);
  assert_int_not_equal (a, b);
  assert_int_equal (profile->counters.n, 2);
  radio_profile_close (profile);
}

/* In whatever order two parts of a profile have them. */
static void
counters_of_one_name_and_two_units_are_two (void **state)
{
  (void) state;
  struct radio_profile *profiles[2], *joined;
  for (int i = 0; i < 2; i++) {
    profiles[i] = build_new ("x");
    uint32_t root = build_node (profiles[i], RD_NO_INDEX, "root", "");
    build_count (profiles[i], root, "rows", i == 0 ? "count" : "bytes",
                 i == 0 ? 1 : 20);
    build_count (profiles[i], root, "rows", i == 0 ? "bytes" : "count",
                 i == 0 ? 20 : 1);
    build_finish (profiles[i]);
    assert_int_equal (profiles[i]->counters.n, 2);
    assert_int_equal (radio_profile_counter (profiles[i], 0, "rows", false),
                      i == 0 ? 1 : 20);
  }
  assert_int_equal (radio_profile_counter (profiles[0], 0, "rows (bytes)",
                                           false), 20);
  assert_int_equal (radio_profile_counter (profiles[1], 0, "rows (count)",
                                           false), 1);
  assert_ok (radio_profile_join (profiles, 2, RADIO_PARTS_RANKS, &joined));
  assert_int_equal (joined->counters.n, 2);
  assert_int_equal (radio_profile_counter (joined, 0, "rows", false), 2);
  assert_int_equal (radio_profile_counter (joined, 0, "rows (bytes)", false),
                    40);
  radio_profile_close (joined);
  for (int i = 0; i < 2; i++)
    radio_profile_close (profiles[i]);
}

static void
counters_are_limited (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  enum radio_status status = RADIO_OK;
  for (unsigned i = 0; status == RADIO_OK && i < 2 * RD_MAX_KEYS; i++) {
    char name[20];
    snprintf (name, sizeof name, "c%u", i);
    status = rd_profile_add_counter (profile, name, "count", NULL);
  }
  assert_fails (status, RADIO_ERROR_UNSUPPORTED, "counters");
  assert_int_equal (profile->counters.n, RD_MAX_KEYS);
  assert_ok (rd_profile_add_counter (profile, "c0", "count", NULL));
  radio_profile_close (profile);
}

static void
values_add_up_on_their_node_and_above (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  build_count (profile, root, "a", "bytes", 1);
  uint32_t child = build_node (profile, root, "child", "");
  uint32_t leaf = build_node (profile, child, "leaf", "");
  build_count (profile, leaf, "a", "bytes", 10);
  build_count (profile, leaf, "b", "count", 7);
  build_count (profile, leaf, "a", "bytes", 20);
  build_finish (profile);
  assert_int_equal (radio_profile_counter (profile, root, "a", false), 1);
  assert_int_equal (radio_profile_counter (profile, root, "a", true), 31);
  assert_int_equal (radio_profile_counter (profile, child, "a", false), 0);
  assert_int_equal (radio_profile_counter (profile, child, "a", true), 30);
  assert_int_equal (radio_profile_counter (profile, leaf, "b", true), 7);
  assert_int_equal (radio_profile_counter (profile, leaf, "c", true), 0);
  assert_int_equal (radio_profile_counter (profile, 99, "a", true), 0);
  radio_profile_close (profile);
}

static void
work_and_wait_add_up_over_the_tree (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  uint32_t a = build_node (profile, root, "a", "");
  uint32_t b = build_node (profile, a, "b", "");
  uint32_t c = build_node (profile, root, "c", "");
  build_times (profile, root, 1, 100, 10, 8, 2);
  build_times (profile, a, 1, 50, 20, 15, 5);
  build_times (profile, b, 3, 30, 30, 30, 0);
  build_times (profile, c, 1, 40, 40, 1, 39);
  build_finish (profile);
  assert_int_equal (profile->nodes.at[root].tree_work_ns, 54);
  assert_int_equal (profile->nodes.at[root].tree_wait_ns, 46);
  assert_int_equal (profile->nodes.at[a].tree_work_ns, 45);
  assert_int_equal (profile->nodes.at[b].tree_wait_ns, 0);
  assert_int_equal (profile->info.work_ns, 54);
  assert_int_equal (profile->info.wait_ns, 46);
  assert_int_equal (profile->info.scope_count, 6);
  radio_profile_close (profile);
}

static void
sums_saturate_instead_of_wrapping (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  uint32_t child = build_node (profile, root, "child", "");
  profile->nodes.at[root].work_ns = INT64_MAX;
  profile->nodes.at[child].work_ns = INT64_MAX - 1;
  build_count (profile, root, "a", "bytes", UINT64_MAX);
  build_count (profile, child, "a", "bytes", UINT64_MAX);
  build_finish (profile);
  assert_int_equal (profile->nodes.at[root].tree_work_ns, INT64_MAX);
  assert_int_equal (profile->info.work_ns, INT64_MAX);
  assert_int_equal (radio_profile_counter (profile, root, "a", true),
                    INT64_MAX);
  radio_profile_close (profile);
}

static void
times_above_2_to_63_are_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_node (profile, RD_NO_INDEX, "root", "");
  profile->nodes.at[0].queue_ns = (uint64_t) 1 << 63;
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "node 0 'root': queue_ns");
  radio_profile_close (profile);
}

static void
a_cost_that_is_not_a_number_is_refused (void **state)
{
  (void) state;
  static const double bad[] = { -1, NAN, INFINITY, 1e300 };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct radio_profile *profile = build_new ("x");
    profile->info.scope_cost_ns = bad[i];
    assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                  "scope_cost_ns");
    radio_profile_close (profile);
  }
}

static void
values_with_invalid_indices_are_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  struct radio_profile_share share = { 1, 1, 1, 0, 0 };
  build_node (profile, RD_NO_INDEX, "root", "");
  assert_fails (rd_profile_add_value (profile, 0, 0, 1), RADIO_ERROR_FORMAT,
                "counter 0");
  assert_fails (rd_profile_add_value (profile, 1, 0, 1), RADIO_ERROR_FORMAT,
                "node 1");
  assert_fails (rd_profile_add_share (profile, 0, 0, &share),
                RADIO_ERROR_FORMAT, "part 0");
  radio_profile_close (profile);
}

static void
lanes_notes_and_samples_need_valid_references (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_part_lane (profile, "main", 1);
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "lane 0 is of part 1");
  radio_profile_close (profile);

  profile = build_new ("x");
  build_note (profile, 0, 5, "file", "a", true);
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "'file' is of node 5");
  radio_profile_close (profile);

  profile = build_new ("x");
  struct rd_sample sample = { .gauge = 2 };
  assert_ok (rd_profile_add_sample (profile, &sample));
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "sample 0 is of gauge 2");
  radio_profile_close (profile);
}

/* Returns a profile of 3000 nodes, each second one below the node before, and
 * 3000 counters.  Each node has a value of one counter. */
static struct radio_profile *
build_sparse (void)
{
  struct radio_profile *profile = build_new ("sparse");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  for (uint32_t i = 0; i < 3000; i++) {
    char name[20];
    snprintf (name, sizeof name, "%u", i);
    uint32_t parent = i % 2 ? (uint32_t) profile->nodes.n - 1 : root;
    build_count (profile, build_node (profile, parent, name, ""), name,
                 "count", i + 1);
  }
  build_finish (profile);
  return profile;
}

static void
a_sparse_table_takes_memory_for_its_values_only (void **state)
{
  (void) state;
  struct radio_profile *profile = build_sparse ();
  assert_int_equal (profile->values.n, 3000);
  assert_int_equal (profile->running.n, 3000);
  assert_int_equal (rd_profile_value (profile, 3000, 2999), 3000);
  assert_int_equal (rd_profile_value (profile, 2999, 2999), 0);
  assert_int_equal (rd_profile_tree_value (profile, 2999, 2999), 3000);
  assert_int_equal (rd_profile_tree_value (profile, 0, 2999), 3000);
  assert_int_equal (rd_profile_tree_value (profile, 2998, 2999), 0);
  radio_profile_close (profile);
}

/* In trees of any shape, the running sums of a node equal the sum of its and
 * its descendants' values, walked one by one. */
static void
sums_of_random_trees_equal_those_of_a_walk (void **state)
{
  (void) state;
  enum { NNODES = 300, NCOUNTERS = 5 };
  static const char *const counters[NCOUNTERS] = { "a", "b", "c", "d", "e" };
  uint64_t expected[NNODES][NCOUNTERS] = { { 0 } };
  uint64_t random = 1;
  struct radio_profile *profile = build_new ("random");
  for (uint32_t i = 0; i < NNODES; i++) {
    char name[20];
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint32_t parent = i == 0 || random >> 61 == 0
                      ? RD_NO_INDEX : (uint32_t) (random >> 33) % i;
    snprintf (name, sizeof name, "%u", i);
    build_node (profile, parent, name, "");
    for (uint64_t j = random >> 20 & 3; j > 0; j--) {
      size_t counter = (random >> (8 * j)) % NCOUNTERS;
      uint64_t value = random >> 40 & 0xff;
      build_count (profile, i, counters[counter], "count", value);
      for (size_t at = i; at != RADIO_NO_PARENT;
           at = profile->nodes.at[at].parent)
        expected[at][counter] += value;
    }
  }
  build_finish (profile);
  for (size_t i = 0; i < NNODES; i++)
    for (size_t j = 0; j < NCOUNTERS; j++)
      assert_int_equal (radio_profile_counter (profile, i, counters[j], true),
                        expected[i][j]);
  radio_profile_close (profile);
}

static void
sums_of_trees_saturate_and_siblings_stay_exact (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("huge");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  uint32_t children[5];
  for (uint32_t i = 0; i < 5; i++) {
    char name[] = { (char) ('a' + i), '\0' };
    children[i] = build_node (profile, root, name, "");
    build_count (profile, children[i], "n", "count",
                 i < 4 ? INT64_MAX : 7);
  }
  build_finish (profile);
  assert_int_equal (radio_profile_counter (profile, root, "n", true),
                    INT64_MAX);
  assert_int_equal (radio_profile_counter (profile, root, "n", false), 0);
  assert_int_equal (radio_profile_counter (profile, children[2], "n", true),
                    INT64_MAX);
  assert_int_equal (radio_profile_counter (profile, children[4], "n", true),
                    7);
  radio_profile_close (profile);
}

static void
facts_with_equal_keys_replace_each_other (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_fact (profile, "a", "1", false);
  build_fact (profile, "b", "2", false);
  build_fact (profile, "a", "3", true);
  build_finish (profile);
  const char *key;
  assert_int_equal (profile->info.nfacts, 2);
  assert_string_equal (radio_profile_fact (profile, 0, &key), "3");
  assert_string_equal (key, "a");
  assert_string_equal (rd_profile_find_fact (profile, "b"), "2");
  assert_null (rd_profile_find_fact (profile, "c"));
  assert_null (radio_profile_fact (profile, 2, &key));
  radio_profile_close (profile);
}

static void
a_profile_without_parts_is_one_part (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
  build_times (profile, root, 2, 100, 60, 50, 10);
  profile->info.wall_ns = 120;
  build_finish (profile);
  uint64_t wall, work;
  struct radio_profile_share share;
  assert_string_equal (radio_profile_part (profile, 0, &wall, &work),
                       "run 1");
  assert_int_equal (wall, 120);
  assert_int_equal (work, 50);
  assert_null (radio_profile_part (profile, 1, &wall, &work));
  radio_profile_node_part (profile, root, 0, &share);
  assert_int_equal (share.calls, 2);
  assert_int_equal (share.total_ns, 100);
  assert_int_equal (share.self_ns, 60);
  radio_profile_node_part (profile, root, 1, &share);
  assert_int_equal (share.calls, 0);
  radio_profile_close (profile);
}

static void
parts_of_an_invalid_kind_are_refused (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  struct rd_profile_part part = { .name = "p" };
  assert_ok (rd_profile_add_part (profile, &part, NULL));
  assert_ok (rd_profile_add_part (profile, &part, NULL));
  assert_fails (rd_profile_finalize (profile), RADIO_ERROR_FORMAT,
                "neither runs nor ranks");
  radio_profile_close (profile);
}

static void
accessors_return_null_beyond_the_end (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_finish (profile);
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  assert_int_equal (info.nnodes, 0);
  assert_int_equal (info.nparts, 1);
  assert_int_equal (info.nfindings, 0);
  assert_null (radio_profile_get_node (profile, 0));
  assert_null (radio_profile_counter_name (profile, 0, NULL));
  assert_null (radio_profile_finding (profile, 0));
  radio_profile_close (profile);
  radio_profile_close (NULL);
}

static void
samples_are_in_the_order_of_time (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("x");
  build_sample (profile, "a", 30, 3);
  build_sample (profile, "b", 10, 1);
  build_sample (profile, "a", 20, -2);
  build_finish (profile);
  assert_int_equal (profile->samples.at[0].time_ns, 10);
  assert_int_equal (profile->samples.at[1].value, -2);
  assert_int_equal (profile->samples.at[2].time_ns, 30);
  radio_profile_close (profile);
}

static void
the_specimen_is_consistent (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  assert_int_equal (info.wall_ns, 10000000);
  assert_int_equal (info.late_count, 1);
  assert_int_equal (info.open_count, 1);
  assert_int_equal (info.dropped_count, 3);
  assert_int_equal (info.nlanes, 4);
  uint64_t sum = 0;
  for (size_t i = 0; i < info.nnodes; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    assert_true (node->self_ns <= node->total_ns);
    sum += node->work_ns;
  }
  assert_int_equal (sum, info.work_ns);
  radio_profile_close (profile);
}

/* Names are repaired, and known ones are found by what they became: two
 * counters of one name could not be read back. */
static void
a_counter_with_a_damaged_name_is_one (void **state)
{
  static const char *const names[] = { "a\001", "a\002", "a\377", "a\001" };
  (void) state;
  struct radio_profile *profile = build_new ("profile");
  uint32_t node = build_node (profile, RD_NO_INDEX, "one", "user"), at;
  for (size_t i = 0; i < 4; i++) {
    assert_ok (rd_profile_add_counter (profile, names[i], "x\001", &at));
    assert_int_equal (at, 0);
    build_count (profile, node, names[i], "x\001", 5);
  }
  assert_int_equal (profile->counters.n, 1);
  assert_string_equal (profile->counters.at[0].name, "a\xef\xbf\xbd");
  build_finish (profile);
  assert_int_equal (radio_profile_counter (profile, node, "a\xef\xbf\xbd",
                                           false), 20);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (equal_strings_are_one),
    cmocka_unit_test (many_strings_keep_their_contents),
    cmocka_unit_test (bad_utf8_and_control_characters_are_replaced),
    cmocka_unit_test (a_node_is_found_by_the_name_it_was_given),
    cmocka_unit_test (nodes_differ_by_parent_name_category_and_edge),
    cmocka_unit_test (a_thousand_nodes_are_found_again),
    cmocka_unit_test (a_duplicate_node_is_refused),
    cmocka_unit_test (a_parent_that_comes_later_is_refused),
    cmocka_unit_test (an_invalid_edge_is_refused),
    cmocka_unit_test (a_tree_has_a_greatest_depth),
    cmocka_unit_test (counters_of_equal_names_and_units_are_one),
    cmocka_unit_test (counters_of_one_name_and_two_units_are_two),
    cmocka_unit_test (counters_are_limited),
    cmocka_unit_test (values_add_up_on_their_node_and_above),
    cmocka_unit_test (work_and_wait_add_up_over_the_tree),
    cmocka_unit_test (sums_saturate_instead_of_wrapping),
    cmocka_unit_test (times_above_2_to_63_are_refused),
    cmocka_unit_test (a_cost_that_is_not_a_number_is_refused),
    cmocka_unit_test (values_with_invalid_indices_are_refused),
    cmocka_unit_test (lanes_notes_and_samples_need_valid_references),
    cmocka_unit_test (
      a_sparse_table_takes_memory_for_its_values_only),
    cmocka_unit_test (sums_of_random_trees_equal_those_of_a_walk),
    cmocka_unit_test (
      sums_of_trees_saturate_and_siblings_stay_exact),
    cmocka_unit_test (facts_with_equal_keys_replace_each_other),
    cmocka_unit_test (a_profile_without_parts_is_one_part),
    cmocka_unit_test (parts_of_an_invalid_kind_are_refused),
    cmocka_unit_test (accessors_return_null_beyond_the_end),
    cmocka_unit_test (samples_are_in_the_order_of_time),
    cmocka_unit_test (the_specimen_is_consistent),
    cmocka_unit_test (a_counter_with_a_damaged_name_is_one),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
