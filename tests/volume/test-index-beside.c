/* SPDX-License-Identifier: MIT */
/* An index beside another process that replaces or removes volumes and writes
 * their rows, or that collects garbage: at any operation where that works, rows
 * are right at the end. */
#include <config.h>

#include "tests/table/cells.h"
#include "tests/volume/beside.h"

#include <radio/index.h>
#include <radio/ingest.h>

#include "src/table/heads.h"

static enum radio_status
make_volume (struct radio_store *store, const char *path, uint64_t length)
{
  const struct radio_phantom_options options = {
    .shape = { length, 4, 4 },
    .ingest = { .existing = RADIO_EXISTING_REPLACE },
  };
  return radio_phantom (store, path, &options);
}

static enum radio_status
replace_volume (struct radio_store *store)
{
  static const char *const path = "ct/b";
  RD_TRY (make_volume (store, path, 7));
  return radio_store_index_volumes (store, &path, 1, NULL);
}

static enum radio_status
remove_volume (struct radio_store *store)
{
  static const char *const path = "ct/b";
  RD_TRY (radio_store_remove (store, path));
  return radio_store_index_volumes (store, &path, 1, NULL);
}

static enum radio_status
add_volume (struct radio_store *store)
{
  static const char *const path = "ct/d";
  RD_TRY (make_volume (store, path, 7));
  return radio_store_index_volumes (store, &path, 1, NULL);
}

static void
index_all (struct radio_store *store, void *user_data)
{
  (void) user_data;
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
}

static void
index_some (struct radio_store *store, void *user_data)
{
  static const char *const paths[] = { "ct/a", "ct/b", "ct/c" };
  (void) user_data;
  assert_ok (radio_store_index_volumes (store, paths, 3, NULL));
}

/* One volume has an outdated row, and one has none. */
static void
prepare (struct bucket *bucket)
{
  static const char *const paths[] = { "ct/a", "ct/b" };
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  assert_ok (make_volume (store, "ct/a", 4));
  assert_ok (make_volume (store, "ct/b", 4));
  assert_ok (radio_store_index_volumes (store, paths, 2, NULL));
  assert_ok (make_volume (store, "ct/a", 5));
  assert_ok (make_volume (store, "ct/c", 4));
  radio_store_close (store);
}

/* Nothing is left to be written. */
static void
assert_right (struct bucket *bucket)
{
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  struct radio_index_result result;
  assert_ok (radio_store_index (store, "ct", NULL, &result));
  assert_int_equal (result.written_count, 0);
  assert_int_equal (result.no_row_count + result.no_volume_count, 0);
  radio_store_close (store);
}

static void
work_everywhere (bucket_other_fn *other,
                 void (*run) (struct radio_store *store, void *user_data))
{
  uint64_t nops = 1;
  for (uint64_t start = 1; start <= nops; start++) {
    struct bucket *bucket = bucket_make (NULL);
    const struct bucket_plan plan = {
      bucket, other, start, BUCKET_NEVER, BUCKET_NEVER, 0
    };
    prepare (bucket);
    bucket_beside (&plan, run, NULL, &nops);
    assert_right (bucket);
    bucket_free (bucket);
  }
  assert_true (nops > 10);
}

static void
rows_of_replaced_volumes_are_right (void **state)
{
  (void) state;
  work_everywhere (replace_volume, index_all);
}

static void
removed_volumes_get_no_row (void **state)
{
  (void) state;
  work_everywhere (remove_volume, index_some);
}

static void
new_volumes_keep_their_row (void **state)
{
  (void) state;
  work_everywhere (add_volume, index_all);
}

#define TABLE RADIO_TABLE_VOLUMES "/ct"

static enum radio_status
collect (struct radio_store *store)
{
  return radio_store_gc (store, false, NULL);
}

static void
commit_first (struct radio_store *store, void *user_data)
{
  (void) user_data;
  assert_ok (commit_cell (store, TABLE, "ct/a", "site", "x"));
}

/* All groups of a table are there, also where the collector found those of a
 * writer that had died, and removed them beside the first one that did not. */
static void
a_collector_leaves_all_groups_of_a_first_writer (void **state)
{
  static const char *const groups[] = {
    "tables", RADIO_TABLE_VOLUMES, TABLE, TABLE "/heads",
  };
  uint64_t nops = 2, nstops = 0;
  (void) state;
  bool has_stopped = true;
  for (uint64_t stop = 1; has_stopped; stop++, nstops++)
    for (uint64_t resume = 1; resume <= nops; resume++) {
      struct bucket *bucket = bucket_make (NULL);
      const struct bucket_plan plan = {
        bucket, collect, 1, stop, resume, 10 * BUCKET_GRACE_S
      };
      struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
      assert_ok (rd_heads_make_above (store, TABLE));
      assert_ok (rd_heads_make (store, TABLE));
      radio_store_close (store);
      has_stopped = bucket_beside (&plan, commit_first, NULL, &nops);
      store = bucket_open (bucket, true, NULL, NULL);
      for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        enum radio_node node;
        assert_ok (radio_store_node (store, groups[i], &node));
      }
      assert_newest (store, TABLE, "site", "x");
      radio_store_close (store);
      bucket_free (bucket);
    }
  assert_true (nstops > 5 && nops > 10);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_of_replaced_volumes_are_right),
    cmocka_unit_test (removed_volumes_get_no_row),
    cmocka_unit_test (new_volumes_keep_their_row),
    cmocka_unit_test (a_collector_leaves_all_groups_of_a_first_writer),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
