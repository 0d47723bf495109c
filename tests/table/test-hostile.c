/* SPDX-License-Identifier: MIT */
/* Tables with documents that break the rules: each gives an error that names
 * the fault, or an older generation, and none makes the reader allocate by its
 * claims. */
#include <config.h>

#include "src/array/context.h"
#include "src/base/json.h"
#include "src/table/heads.h"
#include "src/table/tables.h"
#include "tests/alloc-fail.h"
#include "tests/table/cells.h"

#define PATH RADIO_TABLE_SUBJECTS
#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define NODES "consolidated_metadata|metadata|"
#define GROUP "{\"zarr_format\": 3, \"node_type\": \"group\"}"

/* Sets a member of a document, by its path, whose names '|' separates. */
static void
set_member (struct json_object *document, const char *path, const char *json)
{
  char name[64];
  struct json_object *value;
  for (;;) {
    size_t n = strcspn (path, "|");
    snprintf (name, sizeof name, "%.*s", (int) n, path);
    if (path[n] == '\0')
      break;
    document = rd_json_member (document, name);
    assert_non_null (document);
    path += n + 1;
  }
  assert_ok (rd_json_parse (json, strlen (json), "test", &value));
  json_object_object_add (document, name, value);
}

static void
change_document (struct radio_store *store, const char *key,
                 const char *member, const char *json)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  struct json_object *document;
  assert_ok (rd_io_read_all (store->io, key, 1 << 20, &text));
  assert_ok (rd_json_parse ((char *) text.data, text.nbytes, key,
                            &document));
  set_member (document, member, json);
  size_t nbytes;
  const char *changed = rd_document_text (document, &nbytes);
  assert_ok (rd_io_put (store->io, key, changed, nbytes, RD_PUT_REPLACE));
  json_object_put (document);
}

static struct radio_store *
open_store (char generation[RD_KEY_NBYTES])
{
  static const int64_t ages[] = { 5, 6, 7 };
  static const bool valid[] = { true, false, true };
  const struct radio_store_options options = { .create = true };
  RD_STRINGS_FREE struct radio_strings ids = split ("a,b,c");
  const struct radio_cells cells = {
    .column = "age", .type = RADIO_COLUMN_INTEGER, .values = ages,
    .dtype = RADIO_INT64, .valid = valid,
  };
  struct radio_table_edit *edit;
  struct radio_store *store;
  struct rd_newest newest;
  assert_ok (radio_store_open ("memory:", &options, &store));
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "a,b,c"));
  assert_ok (radio_table_edit_set (edit, &ids, &cells));
  assert_ok (set_text (edit, "a,b,c", "site", "x,y,y"));
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
  assert_ok (rd_heads_find (store, PATH, false, &newest));
  snprintf (generation, RD_KEY_NBYTES, PATH "/%s/zarr.json",
            newest.head.generation);
  rd_newest_free (&newest);
  /* Readers would not need that document. */
  change_document (store, PATH "/zarr.json",
                   "attributes|radio|latest|document", "null");
  return store;
}

static enum radio_status
read_all (struct radio_store *store)
{
  struct radio_table *table;
  struct radio_table_info info;
  struct radio_strings text = { 0 };
  enum radio_status status = radio_table_open (store, PATH, &table);
  if (status != RADIO_OK)
    return status;
  radio_table_get_info (table, &info);
  status = radio_table_read_ids (table, &text);
  radio_strings_free (&text);
  for (size_t i = 0; i < info.column_count && status == RADIO_OK; i++) {
    status = radio_table_read_text (table, i, &text, NULL);
    radio_strings_free (&text);
  }
  radio_table_close (table);
  return status;
}

/* The result of validating the table. */
static enum radio_status
take_fault (void *user_data)
{
  (void) user_data;
  return RADIO_OK;
}

static bool
is_sound (struct radio_store *store)
{
  bool sound;
  assert_ok (rd_table_check (store, PATH, take_fault, NULL, &sound));
  return sound;
}

static void
a_broken_frame_is_an_error_that_names_it (void **state)
{
  (void) state;
  static const struct {
    const char *member, *json;
    enum radio_status status;
    const char *part;
  } cases[] = {
    { "attributes|column-order", "[\"none\"]", RADIO_ERROR_FORMAT,
      "'none', which does not exist" },
    { "attributes|column-order", "[\"age\", \"site\", \"age\"]",
      RADIO_ERROR_FORMAT, "names 'age' twice" },
    { "attributes|column-order", "[\"../age\"]", RADIO_ERROR_FORMAT,
      "'../age' is not the name of a column" },
    { "attributes|column-order", "[\"age/values\"]", RADIO_ERROR_FORMAT,
      "'age/values' is not the name of a column" },
    { "attributes|column-order", "[7]", RADIO_ERROR_FORMAT, "column-order" },
    { "attributes|column-order", "{}", RADIO_ERROR_FORMAT, "column-order" },
    { "attributes|_index", "\"none\"", RADIO_ERROR_FORMAT,
      "'none', which does not exist" },
    { "attributes|encoding-type", "\"anndata\"", RADIO_ERROR_FORMAT,
      "and is not a table" },
    { NODES "age/mask|shape", "[2]", RADIO_ERROR_FORMAT,
      "has 2 values, and the table 3 rows" },
    { NODES "site/codes|shape", "[9223372036854775807]", RADIO_ERROR_FORMAT,
      "values, and the table 3 rows" },
    { NODES "subject|shape", "[4611686018427387904]", RADIO_ERROR_LIMIT,
      "4611686018427387904 rows" },
    { NODES "site/codes|data_type", "\"float32\"", RADIO_ERROR_FORMAT,
      "endian is missing" },
    { NODES "site/categories|shape", "[1]", RADIO_ERROR_FORMAT,
      "has the code 1 of 1 categories" },
    { NODES "site/categories", GROUP, RADIO_ERROR_FORMAT,
      "a group, not an array" },
    { NODES "age|attributes|encoding-type", "\"awkward-array\"",
      RADIO_ERROR_UNSUPPORTED, "a column of the encoding 'awkward-array'" },
    { NODES "age/values|shape", "[3, 1]", RADIO_ERROR_FORMAT, "age/values" },
    { NODES "site|attributes", "{}", RADIO_ERROR_FORMAT, "encoding-type" },
    { "attributes", "{}", RADIO_ERROR_FORMAT, "encoding-type" },
  };
  for (size_t i = 0; i < LENGTH (cases); i++) {
    char key[RD_KEY_NBYTES];
    struct radio_store *store = open_store (key);
    assert_ok (read_all (store));
    change_document (store, key, cases[i].member, cases[i].json);
    alloc_fail_above (16 << 20);
    enum radio_status status = read_all (store);
    assert_false (alloc_fail_end ());
    assert_int_equal (status, cases[i].status);
    if (!strstr (radio_error_message (), cases[i].part))
      fail_msg ("%s: %s", cases[i].member, radio_error_message ());
    /* No one edits it either, since what would be lost is not known. */
    assert_int_equal (commit_cell (store, PATH, "d", "site", "q"), status);
    radio_store_close (store);
  }
}

/* The ids become the values of a column of which the second is missing. */
static void
a_missing_id_is_an_error_whatever_its_text (void **state)
{
  (void) state;
  char key[RD_KEY_NBYTES], from[RD_KEY_NBYTES], to[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  RD_NEWEST_SCOPE struct rd_newest newest;
  RD_BUFFER_SCOPE struct rd_buffer chunk = { 0 };
  assert_ok (rd_heads_find (store, PATH, false, &newest));
  struct json_object *nodes = rd_json_member (
    rd_json_member (newest.generation, "consolidated_metadata"), "metadata");
  change_document (store, key, NODES "age/values", json_object_to_json_string (
    rd_json_member (nodes, "subject")));
  change_document (store, key, "attributes|_index", "\"age\"");
  snprintf (from, sizeof from, PATH "/%s/subject/c/0",
            newest.head.generation);
  snprintf (to, sizeof to, PATH "/%s/age/values/c/0", newest.head.generation);
  assert_ok (rd_io_read_all (store->io, from, 1 << 20, &chunk));
  assert_ok (rd_io_put (store->io, to, chunk.data, chunk.nbytes,
                        RD_PUT_REPLACE));
  assert_fails (read_all (store), RADIO_ERROR_FORMAT, "age: row 1 has no id");
  radio_store_close (store);
}

static void
a_claim_of_many_rows_takes_no_memory (void **state)
{
  (void) state;
  char key[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  change_document (store, key, "attributes|column-order", "[]");
  change_document (store, key, NODES "subject|shape", "[1000000000000]");
  alloc_fail_above (64 << 20);
  enum radio_status status = read_all (store);
  assert_false (alloc_fail_end ());
  assert_int_equal (status, RADIO_ERROR_LIMIT);
  radio_store_close (store);
}

/* A head that is damaged is an error; one whose generation is gone, or a hint
 * that is wrong, is passed over. */
static void
damaged_heads_and_wrong_hints_do_not_hide_the_table (void **state)
{
  (void) state;
  static const char folder[] = PATH "/zarr.json";
  static const char head[] = PATH "/heads/0000000004/zarr.json";
  char key[RD_KEY_NBYTES];
  uint64_t nwritten;
  struct radio_store *store = open_store (key);
  assert_ok (commit_cell (store, PATH, "d", "site", "z"));
  assert_newest (store, PATH, "site", "x,y,y,z");
  change_document (store, folder, "attributes|radio|latest",
                   "{\"head\": 2, \"table\": \"t-00000000\"}");
  assert_newest (store, PATH, "site", "x,y,y,z");
  change_document (store, folder, "attributes|radio|latest",
                   "{\"head\": 77, \"table\": \"../x\"}");
  assert_newest (store, PATH, "site", "x,y,y,z");
  change_document (store, folder, "attributes|radio|latest", "\"x\"");
  assert_newest (store, PATH, "site", "x,y,y,z");
  /* So high a number is of no head, and would leave none for edits. */
  change_document (store, folder, "attributes|radio|latest",
                   "{\"head\": 9999999999, \"table\": \"t-00000000\"}");
  assert_newest (store, PATH, "site", "x,y,y,z");
  assert_ok (rd_tables_recover (store, &nwritten));
  assert_int_equal (nwritten, 0);
  assert_ok (commit_cell (store, PATH, "d", "site", "w"));
  assert_newest (store, PATH, "site", "x,y,y,w");
  assert_ok (commit_cell (store, PATH, "d", "site", "z"));
  change_document (store, folder, "attributes|radio|latest", "null");
  change_document (store, head, "attributes|radio|table", "\"t-00000000\"");
  assert_newest (store, PATH, "site", "x,y,y,w");
  /* The next number is one that no head has. */
  assert_ok (rd_tables_recover (store, &nwritten));
  assert_ok (commit_cell (store, PATH, "e", "site", "w"));
  assert_newest (store, PATH, "site", "x,y,y,w,w");
  change_document (store, PATH "/heads/0000000006/zarr.json",
                   "attributes|radio|table", "\"../../ct\"");
  change_document (store, folder, "attributes|radio|latest", "null");
  assert_fails (read_all (store), RADIO_ERROR_FORMAT,
                "attributes.radio.table is '../../ct'");
  radio_store_close (store);
}

/* A folder of heads/ without a document is no head, whatever its number. */
static void
numbers_without_heads_are_passed_over (void **state)
{
  (void) state;
  char key[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  struct radio_table_edit *edit;
  struct radio_table_result result;
  struct radio_gc_result gc;
  assert_ok (rd_io_put (store->io, PATH "/heads/9999999999/x", "x", 1,
                        RD_PUT_REPLACE));
  assert_newest (store, PATH, "site", "x,y,y");
  /* Also a writer that looks for others' heads. */
  store->io->grace_s = 3600;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "d"));
  assert_ok (radio_table_edit_commit (edit, &result));
  radio_table_edit_free (edit);
  assert_int_equal (result.head, 2);
  assert_int_equal (result.merge_count, 0);
  assert_ok (radio_store_gc (store, false, &gc));
  assert_true (is_sound (store));
  radio_store_close (store);
}

#define LOST "finish copying the store, or recover what remains by 'radio " \
             "index --recover'"

/* Removes the newest generation. */
static void
remove_newest (struct radio_store *store)
{
  RD_NEWEST_SCOPE struct rd_newest newest;
  char path[RD_KEY_NBYTES];
  assert_ok (rd_heads_find (store, PATH, false, &newest));
  snprintf (path, sizeof path, PATH "/%s", newest.head.generation);
  assert_ok (store->io->ops->remove_tree (store->io, path));
}

/* The hint repeats the document of a generation that was lost.  Over a network
 * the first that reads a column finds out.  An edit would hide it, should it
 * come, with or without a change. */
static void
a_lost_generation_is_passed_over_but_by_edits (void **state)
{
  (void) state;
  for (int i = 0; i < 2; i++) {
    char key[RD_KEY_NBYTES];
    struct radio_store *store = open_store (key);
    struct rd_io_ops ops = *store->io->ops;
    const struct rd_io_ops *const old = store->io->ops;
    RD_NEWEST_SCOPE struct rd_newest newest = { 0 };
    uint64_t nwritten;
    assert_ok (commit_cell (store, PATH, "d", "site", "z"));
    remove_newest (store);
    assert_false (is_sound (store));
    if (i == 1) {
      ops.is_blocking = false;
      store->io->ops = &ops;
      assert_fails (read_all (store), RADIO_ERROR_NOT_FOUND,
                    "open the table again, or recover what remains by 'radio "
                    "index --recover'");
    }
    assert_newest (store, PATH, "site", "x,y,y");
    store->io->ops = old;
    assert_fails (commit_cell (store, PATH, "a", "site", "x"),
                  RADIO_ERROR_FORMAT, LOST);
    assert_fails (commit_cell (store, PATH, "e", "site", "w"),
                  RADIO_ERROR_FORMAT, LOST);
    assert_ok (rd_tables_recover (store, &nwritten));
    assert_int_equal (nwritten, 1);
    assert_newest (store, PATH, "site", "x,y,y");
    assert_true (is_sound (store));
    assert_ok (rd_heads_find (store, PATH, false, &newest));
    assert_int_equal (newest.head.number, 3);
    rd_newest_free (&newest);
    radio_store_close (store);
  }
}

static void
remove_generations (struct radio_store *store, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    remove_newest (store);
}

static void
remove_heads (struct radio_store *store, unsigned n)
{
  (void) n;
  assert_ok (store->io->ops->remove_tree (store->io, PATH "/heads"));
}

static void
add_lost_heads (struct radio_store *store, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    bool is_ours;
    struct rd_head head = { .number = 3 + i };
    snprintf (head.generation, sizeof head.generation, "t-%08x", i);
    assert_ok (rd_head_put (store, PATH, &head, NULL, NULL, &is_ours));
  }
}

/* As in a copy whose table's document came before its last head: an edit would
 * take the head's number. */
static void
a_hint_of_a_head_that_is_missing_stops_edits (void **state)
{
  (void) state;
  char key[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  RD_NEWEST_SCOPE struct rd_newest newest;
  uint64_t nwritten;
  assert_ok (commit_cell (store, PATH, "d", "site", "z"));
  assert_ok (store->io->ops->remove_tree (store->io,
                                          PATH "/heads/0000000002"));
  assert_newest (store, PATH, "site", "x,y,y");
  assert_false (is_sound (store));
  assert_fails (commit_cell (store, PATH, "e", "site", "w"),
                RADIO_ERROR_FORMAT, LOST);
  assert_ok (rd_tables_recover (store, &nwritten));
  assert_int_equal (nwritten, 1);
  assert_ok (commit_cell (store, PATH, "e", "site", "w"));
  assert_newest (store, PATH, "site", "x,y,y,w");
  assert_true (is_sound (store));
  assert_ok (rd_heads_find (store, PATH, false, &newest));
  assert_int_equal (newest.head.number, 4);
  radio_store_close (store);
}

/* As in a copy of a store that was interrupted: what no one may take for a
 * table without rows, since that would become the newest.  With the hint, or an
 * old head, it is recovered, else it begins again; no number is used again. */
static void
a_lost_table_is_an_error_until_it_is_recovered (void **state)
{
  (void) state;
  static const struct {
    void (*lose) (struct radio_store *store, unsigned n);
    unsigned n;
    const char *left;
    uint64_t head;
  } cases[] = {
    { remove_generations, 2, NULL, 3 },
    { remove_heads, 0, "x,y,y,z", 3 },
    { add_lost_heads, 10, "x,y,y,z", 13 },
  };
  for (size_t i = 0; i < 3; i++) {
    char key[RD_KEY_NBYTES];
    struct radio_store *store = open_store (key);
    struct radio_gc_result gc;
    struct radio_table *table;
    struct radio_table_info info;
    uint64_t nwritten;
    assert_ok (commit_cell (store, PATH, "d", "site", "z"));
    cases[i].lose (store, cases[i].n);
    assert_fails (read_all (store), RADIO_ERROR_FORMAT, LOST);
    assert_fails (commit_cell (store, PATH, "e", "site", "w"),
                  RADIO_ERROR_FORMAT, LOST);
    assert_false (is_sound (store));
    assert_ok (radio_store_gc (store, false, &gc));
    assert_int_equal (gc.removed_count, 0);
    assert_ok (rd_tables_recover (store, &nwritten));
    assert_int_equal (nwritten, 1);
    assert_ok (radio_table_open (store, PATH, &table));
    radio_table_get_info (table, &info);
    assert_int_equal (info.head, cases[i].head);
    radio_table_close (table);
    if (cases[i].left)
      assert_newest (store, PATH, "site", cases[i].left);
    else
      assert_int_equal (info.row_count, 0);
    assert_ok (rd_tables_recover (store, &nwritten));
    assert_int_equal (nwritten, 0);
    radio_store_close (store);
  }
}

/* A hint repeats something else than a generation's document. */
static void
a_hint_that_misleads_is_no_hint (void **state)
{
  (void) state;
  char key[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  change_document (store, PATH "/zarr.json",
                   "attributes|radio|latest|document", "{\"x\": 1}");
  assert_newest (store, PATH, "site", "x,y,y");
  assert_false (is_sound (store));
  struct radio_table_edit *edit;
  struct radio_table_result result;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "a"));
  assert_ok (radio_table_edit_commit (edit, &result));
  radio_table_edit_free (edit);
  /* No generation is written for it. */
  assert_int_equal (result.head, 0);
  assert_true (is_sound (store));
  radio_store_close (store);
}

/* A store whose table has a column with a chunk that is cut. */
static struct radio_store *
open_damaged_ages (void)
{
  char key[RD_KEY_NBYTES], chunk[RD_KEY_NBYTES];
  struct radio_store *store = open_store (key);
  snprintf (chunk, sizeof chunk, "%.*s/age/values/c/0",
            (int) (strlen (key) - strlen ("/zarr.json")), key);
  assert_ok (rd_io_put (store->io, chunk, "", 0, RD_PUT_REPLACE));
  return store;
}

/* All other edits would lose its values. */
static void
a_damaged_column_can_be_dropped (void **state)
{
  (void) state;
  struct radio_store *store = open_damaged_ages ();
  struct radio_table_edit *edit;
  assert_int_not_equal (commit_cell (store, PATH, "a", "site", "q"), RADIO_OK);
  /* Not if its values are asked for before. */
  for (int i = 0; i < 2; i++) {
    assert_ok (radio_table_edit_new (store, PATH, &edit));
    assert_ok (add_rows (edit, "d"));
    if (i == 0)
      assert_ok (radio_table_edit_rename (edit, "age", "years"));
    assert_ok (radio_table_edit_drop (edit, i == 0 ? "years" : "age"));
    enum radio_status status = radio_table_edit_commit (edit, NULL);
    assert_true ((status == RADIO_OK) == (i == 1));
    radio_table_edit_free (edit);
  }
  assert_newest (store, PATH, "site", "x,y,y,-");
  assert_true (is_sound (store));
  radio_store_close (store);
}

/* Replacing all values needs none of the old ones. */
static void
a_damaged_column_can_be_replaced (void **state)
{
  (void) state;
  static const int64_t ages[] = { 7, 8, 9, 10 };
  static const char *const ids[] = { "a,b", "a,b,c", "b,d,c,a", "a,b,c" };
  for (size_t i = 0; i < LENGTH (ids); i++) {
    struct radio_store *store = open_damaged_ages ();
    struct radio_table_edit *edit;
    assert_ok (radio_table_edit_new (store, PATH, &edit));
    assert_ok (add_rows (edit, "d"));
    /* Not if some remain, or have another type. */
    if (i == 1)
      assert_ok (set_text (edit, ids[i], "age", "x,y,z"));
    else
      assert_ok (set_integers (edit, ids[i], "age", ages));
    enum radio_status status = radio_table_edit_commit (edit, NULL);
    radio_table_edit_free (edit);
    if (i < 2) {
      assert_true (status == RADIO_ERROR_FORMAT
                   || status == RADIO_ERROR_CHECKSUM);
      assert_non_null (strstr (radio_error_message (), "; replace all values "
                               "of the column 'age' at once, or remove it by "
                               "'radio table --drop'"));
      assert_false (is_sound (store));
    } else {
      assert_int_equal (status, RADIO_OK);
      assert_newest (store, PATH, "age", i == 2 ? "10,7,9,8" : "7,8,9,-");
      assert_newest (store, PATH, "site", "x,y,y,-");
      assert_true (is_sound (store));
    }
    radio_store_close (store);
  }
}

static enum radio_status
work (void)
{
  const struct radio_store_options options = { .create = true };
  struct radio_store *store = NULL;
  struct radio_table_edit *edit = NULL;
  enum radio_status status = radio_store_open ("memory:", &options, &store);
  if (status != RADIO_OK)
    return status;
  status = radio_table_edit_new (store, PATH, &edit);
  static const int64_t offsets[] = { 0, 1, 2 };
  const struct radio_strings ids = { 2, (int64_t *) offsets, (char *) "ab" };
  static const bool valid[] = { true, false };
  static const int32_t numbers[] = { 1, 2 };
  const struct radio_cells number = {
    .column = "n", .type = RADIO_COLUMN_INTEGER, .values = numbers,
    .dtype = RADIO_INT32, .valid = valid, .attributes_json = "{\"a\": 1}",
  };
  const struct radio_cells text = {
    .column = "t", .type = RADIO_COLUMN_TEXT, .text = &ids, .valid = valid,
  };
  if (status == RADIO_OK)
    status = radio_table_edit_add_rows (edit, &ids);
  if (status == RADIO_OK)
    status = radio_table_edit_set (edit, &ids, &number);
  if (status == RADIO_OK)
    status = radio_table_edit_set (edit, &ids, &text);
  for (int i = 0; i < 2 && status == RADIO_OK; i++) {
    status = radio_table_edit_commit (edit, NULL);
    if (status == RADIO_OK)
      status = radio_table_edit_rename (edit, i ? "u" : "t", i ? "t" : "u");
  }
  if (status == RADIO_OK)
    status = read_all (store);
  radio_table_edit_free (edit);
  radio_store_close (store);
  return status;
}

static void
every_allocation_may_fail (void **state)
{
  (void) state;
  const uint64_t nlive = rd_alloc_live_count ();
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    alloc_fail_nth (nth);
    enum radio_status status = work ();
    bool has_failed = alloc_fail_end ();
    assert_int_equal (rd_alloc_live_count (), nlive);
    if (!has_failed) {
      assert_ok (status);
      break;
    }
    /* The hint, which may be missing, is all that need not be written. */
    assert_true (status == RADIO_ERROR_MEMORY || status == RADIO_OK);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_broken_frame_is_an_error_that_names_it),
    cmocka_unit_test (a_missing_id_is_an_error_whatever_its_text),
    cmocka_unit_test (a_claim_of_many_rows_takes_no_memory),
    cmocka_unit_test (damaged_heads_and_wrong_hints_do_not_hide_the_table),
    cmocka_unit_test (numbers_without_heads_are_passed_over),
    cmocka_unit_test (a_lost_generation_is_passed_over_but_by_edits),
    cmocka_unit_test (a_hint_of_a_head_that_is_missing_stops_edits),
    cmocka_unit_test (a_lost_table_is_an_error_until_it_is_recovered),
    cmocka_unit_test (a_hint_that_misleads_is_no_hint),
    cmocka_unit_test (a_damaged_column_can_be_dropped),
    cmocka_unit_test (a_damaged_column_can_be_replaced),
    cmocka_unit_test (every_allocation_may_fail),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
