/* SPDX-License-Identifier: MIT */
/* The index: rows that follow the volumes, and columns of the user's that
 * stay. */
#include <config.h>

#include "tests/unit.h"

#include "tests/alloc-fail.h"

#include <radio/copy.h>
#include <radio/index.h>
#include <radio/ingest.h>
#include <radio/table.h>

#include "src/volume/index/rows.h"

static enum radio_status
copy_rows (struct radio_store *from, const char *const *from_paths,
           struct radio_store *to, const char *const *to_paths, size_t n,
           bool replace)
{
  const struct radio_index_copies_options options = { .replace = replace };
  return radio_store_index_copies (from, from_paths, to, to_paths, n, &options,
                                   NULL);
}

static struct radio_store *
make_store (void)
{
  struct radio_store *store;
  assert_ok (radio_store_open ("memory:", NULL, &store));
  return store;
}

static void
add_volume (struct radio_store *store, const char *path)
{
  const struct radio_phantom_options options = { .shape = { 4, 5, 6 } };
  assert_ok (radio_phantom (store, path, &options));
}

static void
assert_subject (const char *name, const char *subject, const char *session)
{
  const char *found;
  size_t nfound, n = rd_name_subject (name, &found, &nfound);
  assert_int_equal (n, strlen (subject));
  assert_memory_equal (name, subject, n);
  assert_int_equal (found != NULL, session != NULL);
  if (session) {
    assert_int_equal (nfound, strlen (session));
    assert_memory_equal (found, session, nfound);
  }
}

static void
a_name_says_whose_the_volume_is (void **state)
{
  (void) state;
  assert_subject ("sub-01_ses-2_task-rest_run-1", "sub-01", "ses-2");
  assert_subject ("sub-01", "sub-01", NULL);
  assert_subject ("sub-01_task-x", "sub-01", NULL);
  assert_subject ("tpl-MNI_res-1", "tpl-MNI", NULL);
  assert_subject ("BRATS_001", "BRATS_001", NULL);
  assert_subject ("p_7_ses-base_line_run-2", "p_7", "ses-base_line");
  assert_subject ("p7_run-2", "p7", NULL);
  assert_subject ("p7_ses-1", "p7", "ses-1");
  assert_subject ("_ses-1", "_ses-1", NULL);
  assert_subject ("p7_ses-", "p7_ses-", NULL);
}

/* The ids of a table, each with a blank after it. */
static void
assert_ids (struct radio_store *store, const char *path, const char *expected)
{
  struct radio_table *table;
  struct radio_strings ids = { 0 };
  char text[512] = "";
  enum radio_status status = radio_table_open (store, path, &table);
  if (status != RADIO_ERROR_NOT_FOUND) {
    assert_ok (status);
    assert_ok (radio_table_read_ids (table, &ids));
    radio_table_close (table);
  }
  for (uint64_t i = 0; i < ids.n; i++)
    snprintf (text + strlen (text), sizeof text - strlen (text), "%.*s ",
              (int) (ids.offsets[i + 1] - ids.offsets[i]),
              ids.bytes + ids.offsets[i]);
  radio_strings_free (&ids);
  assert_string_equal (text, expected);
}

static void
assert_cell (struct radio_store *store, const char *path, const char *column,
             uint64_t row, const char *expected)
{
  struct radio_table *table;
  struct radio_strings text;
  size_t number;
  assert_ok (radio_table_open (store, path, &table));
  assert_ok (radio_table_find_column (table, column, &number));
  assert_ok (radio_table_read_text (table, number, &text, NULL));
  size_t n = (size_t) (text.offsets[row + 1] - text.offsets[row]);
  assert_int_equal (n, strlen (expected));
  assert_memory_equal (text.bytes + text.offsets[row], expected, n);
  radio_strings_free (&text);
  radio_table_close (table);
}

static void
every_volume_gets_a_row_with_what_it_is (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_index_result result;
  add_volume (store, "ct/sub-1_ses-a");
  add_volume (store, "ct/sub-2");
  add_volume (store, "seg/sub-1_ses-a");
  assert_ok (radio_store_index (store, NULL, NULL, &result));
  assert_int_equal (result.volume_count, 3);
  assert_int_equal (result.no_row_count, 3);
  assert_int_equal (result.written_count, 3);
  assert_int_equal (result.subject_count, 2);
  assert_ids (store, "tables/volumes/ct", "ct/sub-1_ses-a ct/sub-2 ");
  assert_ids (store, "tables/volumes/seg", "seg/sub-1_ses-a ");
  assert_ids (store, "tables/subjects", "sub-1 sub-2 ");
  static const char *const cells[][2] = {
    { "subject", "sub-1" }, { "session", "ses-a" }, { "shape_x", "6" },
    { "shape_y", "5" }, { "shape_z", "4" }, { "shape_t", "" },
    { "spacing_z", "48" }, { "type", "int16" }, { "source_name", "phantom" },
    { "orientation", "RAS" },
  };
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
    assert_cell (store, "tables/volumes/ct", cells[i][0], 0, cells[i][1]);
  /* Nothing is left to be done. */
  assert_ok (radio_store_index (store, NULL, NULL, &result));
  assert_int_equal (result.written_count, 0);
  assert_int_equal (result.no_row_count, 0);
  radio_store_close (store);
}

static void
set_text (struct radio_store *store, const char *path, const char *id,
          const char *column, const char *value)
{
  struct radio_table_edit *edit;
  int64_t id_ends[] = { 0, (int64_t) strlen (id) };
  int64_t value_ends[] = { 0, (int64_t) strlen (value) };
  const struct radio_strings ids = { 1, id_ends, (char *) (uintptr_t) id };
  const struct radio_strings text = {
    1, value_ends, (char *) (uintptr_t) value
  };
  const struct radio_cells cells = {
    .column = column, .type = RADIO_COLUMN_TEXT, .text = &text,
    .change_type = true,
  };
  assert_ok (radio_table_edit_new (store, path, &edit));
  assert_ok (radio_table_edit_set (edit, &ids, &cells));
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
}

static void
rows_follow_volumes_and_user_columns_stay (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_index_result result;
  const char *const paths[] = { "ct/b", "ct/none", "seg/a", "ct/b" };
  add_volume (store, "ct/a");
  add_volume (store, "ct/c");
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
  set_text (store, "tables/volumes/ct", "ct/a", "site", "Jena");
  set_text (store, "tables/volumes/ct", "ct/a", "subject", "typed by hand");
  add_volume (store, "ct/b");
  add_volume (store, "seg/a");
  assert_ok (radio_store_remove (store, "ct/c"));
  assert_ok (radio_store_index_volumes (store, paths, 4, &result));
  assert_int_equal (result.volume_count, 2);
  assert_int_equal (result.written_count, 3);
  assert_ids (store, "tables/volumes/ct", "ct/a ct/c ct/b ");
  assert_ids (store, "tables/volumes/seg", "seg/a ");
  const char *const removed[] = { "ct/c" };
  assert_ok (radio_store_index_volumes (store, removed, 1, &result));
  assert_int_equal (result.no_volume_count, 1);
  assert_ids (store, "tables/volumes/ct", "ct/a ct/b ");
  assert_ok (radio_store_index (store, "ct", NULL, NULL));
  assert_cell (store, "tables/volumes/ct", "site", 0, "Jena");
  assert_cell (store, "tables/volumes/ct", "subject", 0, "a");
  /* A collection whose volumes are gone. */
  assert_ok (radio_store_remove (store, "seg/a"));
  assert_ok (radio_store_index (store, NULL, NULL, &result));
  assert_int_equal (result.no_volume_count, 1);
  assert_ids (store, "tables/volumes/seg", "");
  assert_ids (store, "tables/subjects", "a c b ");
  radio_store_close (store);
}

static enum radio_status
on_fault (enum radio_index_fault fault, const char *path, void *user_data)
{
  char *text = user_data;
  snprintf (text + strlen (text), 256 - strlen (text), "%d %s; ", (int) fault,
            path);
  return RADIO_OK;
}

static void
a_check_lists_both_differences_and_writes_nothing (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  char text[256] = "";
  const struct radio_index_options options = {
    .check = true, .report = on_fault, .user_data = text,
  };
  struct radio_index_result result;
  add_volume (store, "ct/a");
  add_volume (store, "seg/a");
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_ok (radio_store_remove (store, "seg/a"));
  add_volume (store, "ct/b");
  for (int i = 0; i < 2; i++) {
    text[0] = '\0';
    assert_ok (radio_store_index (store, NULL, &options, &result));
    assert_string_equal (text, "0 ct/b; 1 ct/a; 1 seg/a; ");
    assert_int_equal (result.written_count, 0);
  }
  assert_ids (store, "tables/volumes/ct", "ct/a ");
  radio_store_close (store);
}

/* A store with volumes of one subject, whose rows have cells of the user's. */
static struct radio_store *
make_described (void)
{
  struct radio_store *store = make_store ();
  add_volume (store, "ct/sub-1_ses-a");
  add_volume (store, "ct/sub-1_ses-b");
  add_volume (store, "ct/sub-2");
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
  set_text (store, "tables/volumes/ct", "ct/sub-1_ses-a", "qc", "good");
  set_text (store, "tables/volumes/ct", "ct/sub-2", "qc", "bad");
  set_text (store, "tables/subjects", "sub-1", "sex", "F");
  set_text (store, "tables/subjects", "sub-2", "sex", "M");
  return store;
}

static void
copy_volume (struct radio_store *from, const char *path,
             struct radio_store *to, const char *to_path)
{
  assert_ok (radio_volume_copy (from, path, to, to_path, NULL, NULL));
}

static void
the_rows_of_copies_have_the_columns_of_the_user (void **state)
{
  (void) state;
  struct radio_store *from = make_described (), *to = make_store ();
  static const char *const paths[] = { "ct/sub-2", "ct/sub-1_ses-b",
                                       "ct/sub-1_ses-a" };
  static const char *const names[] = { "pet/sub-9", "ct/sub-1_ses-b",
                                       "ct/sub-1_ses-a" };
  for (size_t i = 0; i < 3; i++)
    copy_volume (from, paths[i], to, names[i]);
  assert_ok (copy_rows (from, paths, to, names, 3, false));
  assert_ids (to, "tables/volumes/ct", "ct/sub-1_ses-a ct/sub-1_ses-b ");
  assert_cell (to, "tables/volumes/ct", "qc", 0, "good");
  assert_cell (to, "tables/volumes/ct", "qc", 1, "");
  assert_cell (to, "tables/volumes/pet", "qc", 0, "bad");
  assert_cell (to, "tables/volumes/pet", "subject", 0, "sub-9");
  assert_ids (to, "tables/subjects", "sub-1 sub-9 ");
  assert_cell (to, "tables/subjects", "sex", 0, "F");
  assert_cell (to, "tables/subjects", "sex", 1, "M");

  /* Existing values stay, unless replacing was asked for. */
  set_text (to, "tables/volumes/pet", "pet/sub-9", "qc", "other");
  assert_ok (copy_rows (from, paths, to, names, 3, false));
  assert_cell (to, "tables/volumes/pet", "qc", 0, "other");
  assert_ok (copy_rows (from, paths, to, names, 3, true));
  assert_cell (to, "tables/volumes/pet", "qc", 0, "bad");
  radio_store_close (from);
  radio_store_close (to);
}

static void
what_was_said_of_replaced_voxels_is_forgotten (void **state)
{
  (void) state;
  struct radio_store *from = make_described (), *to = make_store ();
  static const char *const none = "ct/sub-1_ses-b", *const good
    = "ct/sub-1_ses-a", *const path = "ct/sub-2", *const mr = "mr/sub-2",
    *const seg = "seg/sub-2";
  /* qc is missing in the row of none, and stays unless it is replaced. */
  copy_volume (from, path, to, none);
  assert_ok (copy_rows (from, &path, to, &none, 1, false));
  for (int replace = 0; replace < 2; replace++) {
    assert_ok (copy_rows (from, &none, to, &none, 1, replace));
    assert_cell (to, "tables/volumes/ct", "qc", 0, replace ? "" : "bad");
  }

  /* Within a store also what the volume's table has no column of, or no row;
   * another store's columns stay. */
  set_text (to, "tables/volumes/ct", none, "note", "x");
  assert_ok (copy_rows (from, &none, to, &none, 1, true));
  assert_cell (to, "tables/volumes/ct", "note", 0, "x");
  add_volume (from, mr);
  add_volume (from, seg);
  assert_ok (radio_store_index_volumes (from, &mr, 1, NULL));
  set_text (from, "tables/volumes/mr", mr, "note", "x");
  assert_ok (copy_rows (from, &path, from, &mr, 1, true));
  assert_cell (from, "tables/volumes/mr", "note", 0, "");
  assert_cell (from, "tables/volumes/mr", "qc", 0, "bad");
  assert_ok (copy_rows (from, &seg, from, &mr, 1, true));
  assert_cell (from, "tables/volumes/mr", "qc", 0, "");
  assert_cell (from, "tables/volumes/mr", "type", 0, "int16");
  assert_ok (copy_rows (from, &none, from, &good, 1, true));
  assert_cell (from, "tables/volumes/ct", "qc", 0, "");
  assert_cell (from, "tables/volumes/ct", "qc", 2, "bad");
  assert_cell (from, "tables/subjects", "sex", 0, "F");
  radio_store_close (from);
  radio_store_close (to);
}

static void
a_subject_that_is_there_keeps_its_row (void **state)
{
  (void) state;
  struct radio_store *from = make_described (), *to = make_store ();
  static const char *const path = "ct/sub-2", *const seg = "seg/sub-1",
                    *const other = "ct/sub-1_ses-c", *const new = "ct/sub-4";
  copy_volume (from, path, from, other);
  assert_ok (copy_rows (from, &path, from, &other, 1, true));
  assert_ids (from, "tables/subjects", "sub-1 sub-2 ");
  assert_cell (from, "tables/subjects", "sex", 0, "F");
  copy_volume (from, path, from, new);
  assert_ok (copy_rows (from, &path, from, &new, 1, true));
  assert_cell (from, "tables/subjects", "sex", 2, "M");

  /* Nor are cells filled that are missing there. */
  add_volume (to, "ct/sub-1");
  add_volume (to, "ct/sub-3");
  assert_ok (radio_store_index (to, NULL, NULL, NULL));
  set_text (to, "tables/subjects", "sub-3", "sex", "M");
  copy_volume (from, path, to, seg);
  for (int replace = 0; replace < 2; replace++) {
    assert_ok (copy_rows (from, &path, to, &seg, 1, replace));
    assert_cell (to, "tables/subjects", "sex", 0, "");
  }
  assert_cell (to, "tables/volumes/seg", "qc", 0, "bad");
  radio_store_close (from);
  radio_store_close (to);
}

static void
what_is_edited_while_a_volume_moves_goes_with_it (void **state)
{
  (void) state;
  struct radio_store *store = make_described ();
  static const char *const from[] = { "ct/sub-1_ses-a", "ct/sub-2" };
  static const char *const to[] = { "mr/sub-1_ses-a", "mr/sub-2" };
  struct radio_table *before;
  assert_ok (radio_table_open (store, "tables/volumes/ct", &before));
  for (size_t i = 0; i < 2; i++)
    copy_volume (store, from[i], store, to[i]);
  assert_ok (copy_rows (store, from, store, to, 2, true));
  /* Others edit the old rows, also in a column that is new, and a new row. */
  set_text (store, "tables/volumes/ct", from[0], "qc", "later");
  set_text (store, "tables/volumes/ct", from[1], "note", "late");
  set_text (store, "tables/volumes/mr", to[1], "qc", "mine");
  for (size_t i = 0; i < 2; i++)
    assert_ok (radio_store_remove_copied (store, from[i], to[i]));
  for (int i = 0; i < 2; i++) {
    assert_ok (radio_store_index_moved (store, &before, 1, from, to, 2));
    assert_ids (store, "tables/volumes/ct", "ct/sub-1_ses-b ");
    assert_ids (store, "tables/volumes/mr", "mr/sub-1_ses-a mr/sub-2 ");
    assert_cell (store, "tables/volumes/mr", "qc", 0, "later");
    assert_cell (store, "tables/volumes/mr", "qc", 1, "mine");
    assert_cell (store, "tables/volumes/mr", "note", 0, "");
    assert_cell (store, "tables/volumes/mr", "note", 1, "late");
    /* Rows that are gone by now say nothing. */
  }
  radio_table_close (before);
  radio_store_close (store);
}

static void
a_column_of_another_type_is_left_out_and_said_so (void **state)
{
  (void) state;
  struct radio_store *from = make_described (), *to = make_store ();
  struct radio_table_edit *edit;
  static const char *const path = "ct/sub-1_ses-a";
  int64_t ends[] = { 0, 14 };
  const struct radio_strings id = { 1, ends, (char *) (uintptr_t) path };
  const struct radio_cells cells = {
    .column = "qc", .type = RADIO_COLUMN_INTEGER,
    .values = &(int64_t) { 7 }, .dtype = RADIO_INT64,
  };
  set_text (from, "tables/volumes/ct", path, "note", "x");
  copy_volume (from, path, to, path);
  assert_ok (radio_store_index_volumes (to, &path, 1, NULL));
  assert_ok (radio_table_edit_new (to, "tables/volumes/ct", &edit));
  assert_ok (radio_table_edit_set (edit, &id, &cells));
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
  assert_fails (copy_rows (from, &path, to, &path, 1, true),
                RADIO_ERROR_EXISTS, "the column 'qc', of another type");
  assert_cell (to, "tables/volumes/ct", "qc", 0, "7");
  assert_cell (to, "tables/volumes/ct", "note", 0, "x");
  radio_store_close (from);
  radio_store_close (to);
}

/* Goes through allocations of a call that changes nothing when it is repeated:
 * through each seventh, since there are thousands.  A prime, so that those that
 * alternate are all met. */
#define assert_survives(call)                                                 \
  for (size_t nth = 1;; nth += 7 * EXHAUSTIVE_STEP) {                         \
    alloc_fail_nth (nth);                                                     \
    enum radio_status result_ = (call);                                       \
    bool has_failed_ = alloc_fail_end ();                                     \
    if (!has_failed_) {                                                       \
      assert_ok (result_);                                                    \
      break;                                                                  \
    }                                                                         \
    if (result_ != RADIO_OK)                                                  \
      assert_int_equal (result_, RADIO_ERROR_MEMORY);                         \
  }

static void
a_lack_of_memory_loses_no_row (void **state)
{
  (void) state;
  struct radio_store *from = make_described (), *to = make_store ();
  static const char *const paths[] = { "ct/sub-1_ses-a", "ct/sub-2" };
  for (size_t i = 0; i < 2; i++)
    copy_volume (from, paths[i], to, paths[i]);
  assert_survives (copy_rows (from, paths, to, paths, 2, true));
  assert_ids (to, "tables/volumes/ct", "ct/sub-1_ses-a ct/sub-2 ");
  assert_cell (to, "tables/volumes/ct", "qc", 1, "bad");
  assert_cell (to, "tables/subjects", "sex", 0, "F");
  assert_ok (radio_store_remove (to, "ct/sub-2"));
  add_volume (to, "seg/sub-3");
  assert_survives (radio_store_index (to, NULL, NULL, NULL));
  assert_ids (to, "tables/volumes/ct", "ct/sub-1_ses-a ");
  assert_ids (to, "tables/volumes/seg", "seg/sub-3 ");
  assert_cell (to, "tables/volumes/ct", "qc", 0, "good");
  radio_store_close (from);
  radio_store_close (to);
}

static void
a_move_without_memory_loses_no_edit (void **state)
{
  (void) state;
  struct radio_store *store = make_described ();
  static const char *const from = "ct/sub-2", *const to = "mr/sub-2";
  struct radio_table *before;
  assert_ok (radio_table_open (store, "tables/volumes/ct", &before));
  copy_volume (store, from, store, to);
  assert_ok (copy_rows (store, &from, store, &to, 1, true));
  set_text (store, "tables/volumes/ct", from, "qc", "later");
  assert_ok (radio_store_remove_copied (store, from, to));
  assert_survives (radio_store_index_moved (store, &before, 1, &from, &to, 1));
  assert_ids (store, "tables/volumes/ct", "ct/sub-1_ses-a ct/sub-1_ses-b ");
  assert_cell (store, "tables/volumes/mr", "qc", 0, "later");
  radio_table_close (before);
  radio_store_close (store);
  assert_int_equal (rd_alloc_live_count (), 0);
}

/* Whichever derived column has another value, or is of another type or missing,
 * also where memory lacks. */
static void
a_check_of_values_finds_rows_that_are_not_the_volumes (void **state)
{
  (void) state;
  static const char *const columns[] = {
    "level", "shape_t", "spacing_y", "session", "source_sha256",
  };
  struct radio_store *store = make_store ();
  char text[256] = "";
  const struct radio_index_options options = {
    .check = true, .check_values = true, .report = on_fault,
    .user_data = text,
  };
  const struct radio_index_options silent = {
    .check = true, .check_values = true,
  };
  struct radio_index_result result;
  add_volume (store, "ct/a");
  add_volume (store, "ct/b");
  assert_ok (radio_store_index (store, NULL, NULL, NULL));
  assert_ok (radio_store_index (store, NULL, &options, &result));
  assert_string_equal (text, "");
  assert_int_equal (result.stale_count, 0);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    if (i > 0)
      set_text (store, "tables/volumes/ct", "ct/b", columns[i], "7");
    else {
      struct radio_table_edit *edit;
      assert_ok (radio_table_edit_new (store, "tables/volumes/ct", &edit));
      assert_ok (radio_table_edit_drop (edit, columns[i]));
      assert_ok (radio_table_edit_commit (edit, NULL));
      radio_table_edit_free (edit);
    }
    text[0] = '\0';
    assert_ok (radio_store_index (store, NULL, &options, &result));
    assert_non_null (strstr (text, "3 ct/b; "));
    assert_int_equal (result.stale_count, strstr (text, "ct/a") ? 2 : 1);
    assert_non_null (strstr (radio_error_message (), columns[i]));
    if (i == 1)
      assert_survives (radio_store_index (store, NULL, &silent, NULL));
    assert_ok (radio_store_index (store, NULL, NULL, NULL));
    assert_ok (radio_store_index (store, NULL, &options, &result));
    assert_int_equal (result.stale_count, 0);
  }
  radio_store_close (store);
  assert_int_equal (rd_alloc_live_count (), 0);
}

static void
wrong_arguments_are_errors (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  static const char *const paths[] = { "a", "a/b/c", "/a" };
  for (size_t i = 0; i < 3; i++)
    assert_fails (radio_store_index_volumes (store, &paths[i], 1, NULL),
                  RADIO_ERROR_ARGUMENT, "not COLLECTION/NAME");
  assert_fails (radio_store_index (store, "ct", NULL, NULL),
                RADIO_ERROR_NOT_FOUND, "ct");
  assert_ok (radio_store_index_volumes (store, NULL, 0, NULL));
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_name_says_whose_the_volume_is),
    cmocka_unit_test (every_volume_gets_a_row_with_what_it_is),
    cmocka_unit_test (rows_follow_volumes_and_user_columns_stay),
    cmocka_unit_test (a_check_lists_both_differences_and_writes_nothing),
    cmocka_unit_test (a_check_of_values_finds_rows_that_are_not_the_volumes),
    cmocka_unit_test (the_rows_of_copies_have_the_columns_of_the_user),
    cmocka_unit_test (what_was_said_of_replaced_voxels_is_forgotten),
    cmocka_unit_test (a_subject_that_is_there_keeps_its_row),
    cmocka_unit_test (what_is_edited_while_a_volume_moves_goes_with_it),
    cmocka_unit_test (a_column_of_another_type_is_left_out_and_said_so),
    cmocka_unit_test (a_lack_of_memory_loses_no_row),
    cmocka_unit_test (a_move_without_memory_loses_no_edit),
    cmocka_unit_test (wrong_arguments_are_errors),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
