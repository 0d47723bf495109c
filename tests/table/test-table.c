/* SPDX-License-Identifier: MIT */
/* Tables are read as they were written: every type, missing values, categories
 * and attributes; and edits change what they say and nothing else. */
#include <config.h>

#include <math.h>

#include "src/array/context.h"
#include "src/table/texts.h"
#include "tests/io/deferred.h"
#include "tests/table/cells.h"

#define PATH RADIO_TABLE_SUBJECTS
#define LENGTH(array) (sizeof (array) / sizeof *(array))

static struct radio_store *
open_store (void)
{
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  assert_ok (radio_store_open ("memory:", &options, &store));
  return store;
}

/* The way that stores on a network take. */
static struct radio_store *
open_deferred (void)
{
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (rd_io_memory_open (&io));
  assert_ok (rd_io_deferred_open (io, 1, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  return store;
}

static struct radio_table_edit *
begin (struct radio_store *store)
{
  struct radio_table_edit *edit;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  return edit;
}

static struct radio_table_result
commit (struct radio_table_edit *edit)
{
  struct radio_table_result result;
  assert_ok (radio_table_edit_commit (edit, &result));
  radio_table_edit_free (edit);
  return result;
}

static void
set (struct radio_table_edit *edit, const char *ids,
     const struct radio_cells *cells)
{
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  assert_ok (radio_table_edit_set (edit, &strings, cells));
}

static struct radio_column_info
get_column (struct radio_table *table, const char *name)
{
  struct radio_column_info info;
  size_t number;
  assert_ok (radio_table_find_column (table, name, &number));
  assert_ok (radio_table_get_column (table, number, &info));
  assert_string_equal (info.name, name);
  return info;
}

static void
check_every_type (struct radio_store *store)
{
  static const bool bools[] = { true, false, true };
  static const bool valid[] = { true, false, true };
  static const uint16_t ages[] = { 40, 0, 65535 };
  static const float weights[] = { 70.5f, NAN, -0.0f };
  struct radio_table_edit *edit = begin (store);
  struct radio_table *table;
  struct radio_table_info info;
  assert_ok (add_rows (edit, "a,b,c"));
  set (edit, "a,b,c", &(struct radio_cells) {
    .column = "left", .type = RADIO_COLUMN_BOOL, .values = bools,
    .dtype = RADIO_BOOL });
  set (edit, "a,b,c", &(struct radio_cells) {
    .column = "smoker", .type = RADIO_COLUMN_BOOL, .values = bools,
    .dtype = RADIO_BOOL, .valid = valid });
  set (edit, "a,b,c", &(struct radio_cells) {
    .column = "age", .type = RADIO_COLUMN_INTEGER, .values = ages,
    .dtype = RADIO_UINT16, .valid = valid,
    .attributes_json = "{\"Units\": \"years\"}" });
  set (edit, "a,b,c", &(struct radio_cells) {
    .column = "weight", .type = RADIO_COLUMN_FLOAT, .values = weights,
    .dtype = RADIO_FLOAT32 });
  set (edit, "a,b,c", &(struct radio_cells) {
    .column = "empty", .type = RADIO_COLUMN_TEXT });
  assert_ok (set_text (edit, "a,b,c", "site", "B,-,A"));
  assert_int_equal (commit (edit).head, 1);

  assert_ok (radio_table_open (store, PATH, &table));
  radio_table_get_info (table, &info);
  assert_int_equal (info.row_count, 3);
  assert_int_equal (info.column_count, 6);
  assert_int_equal (info.head, 1);
  assert_string_equal (info.index_name, "subject");
  assert_column (table, NULL, "a,b,c");
  assert_column (table, "left", "true,false,true");
  assert_column (table, "smoker", "true,-,true");
  assert_column (table, "age", "40,-,65535");
  assert_column (table, "weight", "70.5,-,-0");
  assert_column (table, "empty", "-,-,-");
  assert_column (table, "site", "B,-,A");
  assert_int_equal (get_column (table, "age").dtype, RADIO_UINT16);
  assert_string_equal (get_column (table, "age").attributes_json,
                       "{\"Units\":\"years\"}");
  assert_false (get_column (table, "left").may_be_missing);
  assert_int_equal (get_column (table, "weight").dtype, RADIO_FLOAT32);
  assert_true (get_column (table, "site").is_categorical);
  assert_int_equal (get_column (table, "site").category_count, 2);

  /* Into the caller's memory. */
  double doubles[3];
  bool is_there[3];
  int32_t codes[3];
  size_t number;
  assert_ok (radio_table_find_column (table, "age", &number));
  assert_ok (radio_table_read (table, number, RADIO_FLOAT64, doubles,
                               sizeof doubles, is_there));
  assert_memory_equal (is_there, valid, sizeof valid);
  assert_true (doubles[0] == 40 && isnan (doubles[1]) && doubles[2] == 65535);
  assert_fails (radio_table_read (table, number, RADIO_INT64, doubles,
                                  sizeof doubles, NULL),
                RADIO_ERROR_RANGE, "no value in row 1");
  assert_fails (radio_table_read (table, number, RADIO_INT8, doubles,
                                  sizeof doubles, is_there),
                RADIO_ERROR_RANGE, "does not fit");
  assert_fails (radio_table_read (table, number, RADIO_INT64, doubles, 16,
                                  is_there),
                RADIO_ERROR_ARGUMENT, "16 bytes");
  int16_t shorts[3];
  assert_ok (radio_table_find_column (table, "weight", &number));
  assert_fails (radio_table_read (table, number, RADIO_INT16, shorts,
                                  sizeof shorts, is_there),
                RADIO_ERROR_RANGE, "does not fit");
  assert_ok (radio_table_find_column (table, "site", &number));
  assert_ok (radio_table_read_codes (table, number, codes, sizeof codes));
  assert_int_equal (codes[0], 1);
  assert_int_equal (codes[1], -1);
  assert_int_equal (codes[2], 0);
  assert_fails (radio_table_find_column (table, "sites", &number),
                RADIO_ERROR_NOT_FOUND, "no column 'sites'");
  radio_table_close (table);
  radio_store_close (store);
}

static void
every_type_is_read_as_written (void **state)
{
  (void) state;
  check_every_type (open_store ());
  check_every_type (open_deferred ());
}

static void
edits_change_what_they_say_by_id (void **state)
{
  (void) state;
  struct radio_store *store = open_store ();
  struct radio_table_edit *edit = begin (store);
  static const int64_t big[] = { INT64_C (1) << 40 }, ages[] = { 1, 2, 3 };
  assert_ok (add_rows (edit, "a,b,c"));
  assert_ok (set_integers (edit, "c,a,b", "age", ages));
  assert_ok (set_text (edit, "a,c", "site", "x,y"));
  commit (edit);
  assert_newest (store, PATH, "age", "2,3,1");
  assert_newest (store, PATH, "site", "x,-,y");

  /* A row that is there is not added again, one that is not is ignored. */
  edit = begin (store);
  assert_ok (add_rows (edit, "b,d"));
  assert_ok (set_integers (edit, "d", "age", big));
  assert_ok (set_text (edit, "z", "site", "q"));
  struct radio_table_result result = commit (edit);
  assert_int_equal (result.head, 2);
  assert_int_equal (result.added_count, 1);
  assert_newest (store, PATH, NULL, "a,b,c,d");
  assert_newest (store, PATH, "age", "2,3,1,1099511627776");
  assert_newest (store, PATH, "site", "x,-,y,-");

  edit = begin (store);
  RD_STRINGS_FREE struct radio_strings gone = split ("z,b");
  assert_ok (radio_table_edit_remove_rows (edit, &gone));
  assert_ok (radio_table_edit_rename (edit, "site", "scanner"));
  result = commit (edit);
  assert_int_equal (result.removed_count, 1);
  assert_newest (store, PATH, NULL, "a,c,d");
  assert_newest (store, PATH, "scanner", "x,y,-");

  edit = begin (store);
  assert_ok (radio_table_edit_drop (edit, "scanner"));
  commit (edit);
  edit = begin (store);
  assert_ok (radio_table_edit_drop (edit, "scanner"));
  assert_fails (radio_table_edit_commit (edit, NULL), RADIO_ERROR_NOT_FOUND,
                "no column 'scanner'");
  radio_table_edit_free (edit);
  radio_store_close (store);
}

static void
assert_categories (struct radio_store *store, const char *column,
                   const char *expected)
{
  struct radio_table *table;
  RD_STRINGS_FREE struct radio_strings categories = { 0 };
  RD_STRINGS_FREE struct radio_strings wanted = split (expected);
  size_t number;
  assert_ok (radio_table_open (store, PATH, &table));
  assert_ok (radio_table_find_column (table, column, &number));
  assert_ok (radio_table_read_categories (table, number, &categories));
  assert_int_equal (categories.n, *expected ? wanted.n : 0);
  for (uint64_t i = 0; i < categories.n; i++)
    assert_true (rd_slice_equal (rd_string (&categories, i),
                                 rd_string (&wanted, i)));
  radio_table_close (table);
}

/* Else the id of a subject who withdrew stays in each later generation. */
static void
text_of_removed_rows_and_replaced_values_is_gone (void **state)
{
  (void) state;
  struct radio_store *store = open_store ();
  struct radio_table_edit *edit = begin (store);
  RD_STRINGS_FREE struct radio_strings ids = split ("a,b,c,d");
  RD_STRINGS_FREE struct radio_strings sexes = split ("M,F,M,n");
  const struct radio_cells sex = {
    .column = "sex", .type = RADIO_COLUMN_TEXT, .text = &sexes,
    .attributes_json = "{\"Levels\": {\"F\": \"female\", \"M\": 1}}",
  };
  assert_ok (add_rows (edit, "a,b,c,d"));
  assert_ok (set_text (edit, "a,b,c,d", "name", "q,p,q,r"));
  assert_ok (radio_table_edit_set (edit, &ids, &sex));
  commit (edit);
  assert_categories (store, "name", "p,q,r");

  edit = begin (store);
  RD_STRINGS_FREE struct radio_strings gone = split ("b");
  assert_ok (radio_table_edit_remove_rows (edit, &gone));
  commit (edit);
  assert_categories (store, "name", "q,r");
  assert_newest (store, PATH, "name", "q,q,r");
  assert_categories (store, "sex", "F,M,n");

  edit = begin (store);
  assert_ok (set_text (edit, "d", "name", "q"));
  assert_ok (set_text (edit, "d", "sex", "-"));
  commit (edit);
  assert_categories (store, "name", "q");
  assert_newest (store, PATH, "name", "q,q,q");
  assert_categories (store, "sex", "F,M");
  assert_newest (store, PATH, "sex", "M,M,-");

  edit = begin (store);
  RD_STRINGS_FREE struct radio_strings all = split ("a,c,d");
  assert_ok (radio_table_edit_remove_rows (edit, &all));
  assert_ok (add_rows (edit, "e"));
  commit (edit);
  assert_categories (store, "name", "");
  assert_newest (store, PATH, "name", "-");
  radio_store_close (store);
}

static void
an_edit_that_changes_nothing_writes_nothing (void **state)
{
  (void) state;
  struct radio_store *store = open_store ();
  assert_ok (commit_cell (store, PATH, "a", "site", "x"));
  struct radio_table_edit *edit = begin (store);
  assert_ok (add_rows (edit, "a"));
  assert_ok (set_text (edit, "a", "site", "x"));
  assert_int_equal (commit (edit).head, 0);
  radio_store_close (store);
}

static void
a_column_changes_its_type_only_on_request (void **state)
{
  (void) state;
  static const int64_t numbers[] = { 7 };
  struct radio_store *store = open_store ();
  RD_STRINGS_FREE struct radio_strings id = split ("c");
  struct radio_cells cells = {
    .column = "zip", .type = RADIO_COLUMN_INTEGER, .values = numbers,
    .dtype = RADIO_INT64,
  };
  struct radio_table_edit *edit = begin (store);
  assert_ok (add_rows (edit, "a,b,c,d"));
  assert_ok (set_text (edit, "a,b,d", "zip", "12,x,-3"));
  commit (edit);
  edit = begin (store);
  assert_ok (radio_table_edit_set (edit, &id, &cells));
  assert_fails (radio_table_edit_commit (edit, NULL), RADIO_ERROR_EXISTS,
                "'zip' is of type text, not integer");
  radio_table_edit_free (edit);
  struct radio_table_result result;
  cells.change_type = true;
  cells.refuse_loss = true;
  edit = begin (store);
  assert_ok (radio_table_edit_set (edit, &id, &cells));
  assert_fails (radio_table_edit_commit (edit, NULL), RADIO_ERROR_EXISTS,
                "1 value of the column 'zip' would be lost");
  radio_table_edit_free (edit);
  cells.refuse_loss = false;
  edit = begin (store);
  assert_ok (radio_table_edit_set (edit, &id, &cells));
  assert_ok (radio_table_edit_commit (edit, &result));
  radio_table_edit_free (edit);
  assert_int_equal (result.lost_count, 1);
  assert_newest (store, PATH, "zip", "12,-,7,-3");
  radio_store_close (store);
}

static void
text_is_parsed_back_as_a_float_prints_it (void **state)
{
  (void) state;
  static const double numbers[] = { INFINITY, -INFINITY, 0.5, 7 };
  struct radio_store *store = open_store ();
  RD_STRINGS_FREE struct radio_strings all = split ("a,b,c,d");
  RD_STRINGS_FREE struct radio_strings last = split ("d");
  const struct radio_cells floats = {
    .column = "x", .type = RADIO_COLUMN_FLOAT, .values = numbers,
    .dtype = RADIO_FLOAT64, .change_type = true,
  };
  struct radio_cells cell = floats;
  cell.values = numbers + 3;
  struct radio_table_edit *edit = begin (store);
  assert_ok (add_rows (edit, "a,b,c,d,e,f"));
  assert_ok (radio_table_edit_set (edit, &all, &floats));
  commit (edit);
  assert_newest (store, PATH, "x", "inf,-inf,0.5,7,-,-");
  edit = begin (store);
  assert_ok (set_text (edit, "e,f", "y", "nan,infinite"));
  commit (edit);
  /* To text, and back. */
  for (int i = 0; i < 2; i++) {
    RD_STRINGS_FREE struct radio_strings seven = split ("7");
    struct radio_cells text = {
      .column = "x", .type = RADIO_COLUMN_TEXT, .text = &seven,
      .change_type = true,
    };
    edit = begin (store);
    assert_ok (radio_table_edit_set (edit, &last, i == 0 ? &text : &cell));
    if (i == 1)
      cell.column = "y";
    if (i == 1)
      assert_ok (radio_table_edit_set (edit, &last, &cell));
    commit (edit);
    assert_newest (store, PATH, "x", "inf,-inf,0.5,7,-,-");
  }
  assert_newest (store, PATH, "y", "-,-,-,7,-,-");
  radio_store_close (store);
}

static void
names_that_no_column_may_have_are_refused (void **state)
{
  (void) state;
  static const char *const names[][2] = {
    { "a/b", "use 'a_b'" }, { "__x", "use 'x'" }, { ".", "use 'column'" },
    { "", "use 'column'" }, { "zarr.json", "use 'zarr_json'" },
    { "_index", "use 'index'" }, { "a\nb", "use 'a_b'" },
  };
  for (size_t i = 0; i < LENGTH (names); i++)
    assert_fails (radio_column_name_check (names[i][0]),
                  RADIO_ERROR_ARGUMENT, names[i][1]);
  assert_ok (radio_column_name_check ("odd name, with ö"));
}

static void
many_values_and_long_texts_are_kept (void **state)
{
  (void) state;
  /* More values than categories, in chunks that are cut by their bytes. */
  static char text[3 << 20], ids[3000 * 6 + 1];
  const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  struct radio_store *store = open_store ();
  struct radio_table_edit *edit = begin (store);
  struct rd_text_list long_texts = { 0 };
  RD_STRINGS_FREE struct radio_strings values = { 0 };
  size_t n = 0;
  for (int i = 0; i < 3000; i++)
    n += (size_t) snprintf (ids + n, sizeof ids - n, "%s%d", i ? "," : "", i);
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = letters[(i * i / 7) % 26];
  for (size_t i = 0; i < 3000; i++)
    assert_ok (rd_text_list_add (&long_texts, (struct rd_slice) { text + i,
                                                              i }));
  assert_ok (rd_text_list_end (&long_texts, &values));
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  assert_ok (radio_table_edit_add_rows (edit, &strings));
  const struct radio_cells cells = {
    .column = "notes", .type = RADIO_COLUMN_TEXT, .text = &values,
  };
  assert_ok (radio_table_edit_set (edit, &strings, &cells));
  commit (edit);

  struct radio_table *table;
  RD_STRINGS_FREE struct radio_strings back = { 0 };
  assert_ok (radio_table_open (store, PATH, &table));
  assert_false (get_column (table, "notes").is_categorical);
  assert_ok (radio_table_read_text (table, 0, &back, NULL));
  assert_int_equal (back.n, values.n);
  assert_memory_equal (back.offsets, values.offsets,
                       3001 * sizeof *back.offsets);
  assert_memory_equal (back.bytes, values.bytes,
                       (size_t) values.offsets[3000]);
  assert_fails (radio_table_read_ahead (table, (size_t[]) { 0 }, SIZE_MAX),
                RADIO_ERROR_MEMORY, "memory");
  radio_table_close (table);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_type_is_read_as_written),
    cmocka_unit_test (edits_change_what_they_say_by_id),
    cmocka_unit_test (text_of_removed_rows_and_replaced_values_is_gone),
    cmocka_unit_test (an_edit_that_changes_nothing_writes_nothing),
    cmocka_unit_test (a_column_changes_its_type_only_on_request),
    cmocka_unit_test (text_is_parsed_back_as_a_float_prints_it),
    cmocka_unit_test (names_that_no_column_may_have_are_refused),
    cmocka_unit_test (many_values_and_long_texts_are_kept),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
