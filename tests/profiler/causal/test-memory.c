/* SPDX-License-Identifier: MIT */
/* Memory on the nodes of the tree: the owner of a block, and its release by
 * any thread at any time. */
#include <config.h>

#include "tests/profiler/causal/stage.h"

#include "src/base/alloc.h"

SITE (read);
SITE (decode);
SITE (tiles);

STAGE_FIXTURE

static void *
take (size_t nbytes)
{
  void *block = rd_malloc (nbytes);
  assert_non_null (block);
  return block;
}

static void
assert_memory (const struct radio_profile_node *node, uint64_t count,
               uint64_t nbytes, uint64_t peak, uint64_t live)
{
  assert_int_equal (node->alloc_count, count);
  assert_int_equal (node->alloc_nbytes, nbytes);
  assert_int_equal (node->alloc_peak_nbytes, peak);
  assert_int_equal (node->alloc_live_nbytes, live);
}

static void
assert_memory_of_all (const struct radio_profile *profile, uint64_t count,
                      uint64_t nbytes, uint64_t peak, uint64_t live)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  assert_int_equal (info.alloc_count, count);
  assert_int_equal (info.alloc_nbytes, nbytes);
  assert_int_equal (info.alloc_peak_nbytes, peak);
  assert_int_equal (info.alloc_live_nbytes, live);
}

static void
a_block_belongs_to_the_innermost_scope (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  void *outer = take (100);
  uint64_t inside = radio_scope_begin (&decode_site);
  void *first = take (30), *second = take (40);
  rd_free (first);
  void *third = take (20);
  rd_free (second);
  rd_free (third);
  radio_scope_end (inside);
  rd_free (outer);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 1, 100, 100, 0);
  assert_memory (stage_node (profile, "read/decode"), 3, 90, 70, 0);
  assert_memory_of_all (profile, 4, 190, 170, 0);
  radio_profile_close (profile);
}

static void
blocks_never_released_are_live (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  void *leak = take (64);
  rd_free (take (1));
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 2, 65, 65, 64);
  assert_memory_of_all (profile, 2, 65, 65, 64);
  radio_profile_close (profile);
  rd_free (leak);
}

static void
another_scope_may_release_a_block (void **state)
{
  (void) state;
  uint64_t token = radio_scope_begin (&read_site);
  void *block = take (10);
  radio_scope_end (token);
  token = radio_scope_begin (&decode_site);
  rd_free (block);
  radio_scope_end (token);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 1, 10, 10, 0);
  assert_memory (stage_node (profile, "decode"), 0, 0, 0, 0);
  radio_profile_close (profile);
}

static void
another_thread_may_release_a_block (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  void *first = take (10), *second = take (20);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  rd_free (first);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  rd_free (second);
  void *third = take (5);
  radio_scope_end (far);
  stage_on (&stage, 0);
  rd_free (third);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 2, 30, 30, 0);
  assert_memory (stage_node (profile, "read/tiles"), 1, 5, 5, 0);
  assert_memory_of_all (profile, 3, 35, 30, 0);
  radio_profile_close (profile);
}

static void
peaks_of_one_node_on_two_threads_add_up (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t tokens[2];
  void *blocks[2];
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  for (unsigned i = 0; i < 2; i++) {
    stage_on (&stage, i + 1);
    tokens[i] = radio_scope_receive (&handoff, &tiles_site);
    blocks[i] = take (50);
  }
  for (unsigned i = 0; i < 2; i++) {
    stage_on (&stage, i + 1);
    rd_free (blocks[i]);
    radio_scope_end (tokens[i]);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read/tiles"), 2, 100, 100, 0);
  assert_memory_of_all (profile, 2, 100, 100, 0);
  radio_profile_close (profile);
}

static void
no_node_has_a_higher_peak_than_the_whole (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  for (unsigned i = 1; i <= 3; i++) {
    stage_on (&stage, i);
    uint64_t far = radio_scope_receive (&handoff, &tiles_site);
    rd_free (take (50));
    radio_scope_end (far);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read/tiles"), 3, 150, 50, 0);
  radio_profile_close (profile);
}

static void
a_block_may_outlive_its_recorder (void **state)
{
  (void) state;
  void *blocks[100];
  uint64_t top = radio_scope_begin (&read_site);
  for (size_t i = 0; i < 100; i++)
    blocks[i] = take (i + 1);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory_of_all (profile, 100, 5050, 5050, 5050);
  radio_profile_close (profile);
  for (size_t i = 0; i < 100; i++)
    rd_free (blocks[i]);
}

static void
another_recorder_does_not_count_a_block (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  void *block = take (10);
  radio_scope_end (top);
  radio_profile_close (stage_close (&stage));
  stage_open (&stage, NULL, 0);
  top = radio_scope_begin (&read_site);
  rd_free (block);
  rd_free (take (3));
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 1, 3, 3, 0);
  assert_memory_of_all (profile, 1, 3, 3, 0);
  radio_profile_close (profile);
}

static void
memory_from_before_is_not_counted (void **state)
{
  (void) state;
  radio_profile_close (stage_close (&stage));
  void *block = take (10);
  stage_open (&stage, NULL, 0);
  uint64_t top = radio_scope_begin (&read_site);
  rd_free (block);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory_of_all (profile, 0, 0, 0, 0);
  radio_profile_close (profile);
}

static void
a_resized_block_belongs_to_the_resizing_scope (void **state)
{
  (void) state;
  uint64_t token = radio_scope_begin (&read_site);
  void *block = take (10);
  radio_scope_end (token);
  token = radio_scope_begin (&decode_site);
  block = rd_realloc (block, 1000);
  assert_non_null (block);
  radio_scope_end (token);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 1, 10, 10, 0);
  assert_memory (stage_node (profile, "decode"), 1, 1000, 1000, 1000);
  assert_memory_of_all (profile, 2, 1010, 1000, 1000);
  radio_profile_close (profile);
  rd_free (block);
}

static void
memory_outside_all_scopes_counts_in_the_total_only (void **state)
{
  (void) state;
  void *block = take (10);
  uint64_t top = radio_scope_begin (&read_site);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory (stage_node (profile, "read"), 0, 0, 0, 0);
  assert_memory_of_all (profile, 1, 10, 10, 10);
  radio_profile_close (profile);
  rd_free (block);
}

static void
a_thread_that_is_not_recorded_is_not_counted (void **state)
{
  (void) state;
  stage_on (&stage, 1);
  rd_free (take (10));
  stage_on (&stage, 0);
  struct radio_profile *profile = stage_close (&stage);
  assert_memory_of_all (profile, 0, 0, 0, 0);
  radio_profile_close (profile);
}

#define TEST(name) cmocka_unit_test_setup (name, open_stage)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (a_block_belongs_to_the_innermost_scope),
    TEST (blocks_never_released_are_live),
    TEST (another_scope_may_release_a_block),
    TEST (another_thread_may_release_a_block),
    TEST (peaks_of_one_node_on_two_threads_add_up),
    TEST (no_node_has_a_higher_peak_than_the_whole),
    TEST (a_block_may_outlive_its_recorder),
    TEST (another_recorder_does_not_count_a_block),
    TEST (memory_from_before_is_not_counted),
    TEST (a_resized_block_belongs_to_the_resizing_scope),
    TEST (memory_outside_all_scopes_counts_in_the_total_only),
    TEST (a_thread_that_is_not_recorded_is_not_counted),
  };
  return run_recording_tests (tests);
}
