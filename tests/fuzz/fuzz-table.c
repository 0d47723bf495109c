/* SPDX-License-Identifier: MIT */
/* Hostile documents of tables: the input is that of a generation whose chunks
 * are there.  It is an error, or what is read has the rows that it says. */
#include <config.h>

#include <string.h>

#include <radio/table.h>

#include "tests/fuzz/fuzz.h"

#include "src/array/context.h"
#include "src/table/heads.h"

#define PATH RADIO_TABLE_SUBJECTS
#define FOLDER "{\"zarr_format\": 3, \"node_type\": \"group\", " \
  "\"attributes\": {\"radio\": {\"version\": \"1.1\", " \
  "\"kind\": \"table\"}}}"

/* A store that stays open, the key of the table's document, and that as it was
 * written. */
static struct radio_store *store;
static char key[RD_KEY_NBYTES];
static struct json_object *document;

static void
set (struct radio_table_edit *edit, const struct radio_strings *ids,
     const struct radio_cells *cells)
{
  FUZZ_CHECK (radio_table_edit_set (edit, ids, cells) == RADIO_OK);
}

static void
open_store (void)
{
  static const int64_t offsets[] = { 0, 1, 2, 3 };
  static const bool valid[] = { true, false, true };
  static const int16_t ages[] = { 5, 0, 7 };
  static const double weights[] = { 1.5, -0.0, 3 };
  const struct radio_strings ids = { 3, (int64_t *) offsets, (char *) "abc" };
  const struct radio_context_options how = {
    .nthreads = 1, .memory_limit_nbytes = (uint64_t) 64 << 20,
  };
  struct radio_context *context;
  struct radio_table_edit *edit;
  struct rd_newest newest;
  if (store)
    return;
  FUZZ_CHECK (radio_context_open (&how, &context) == RADIO_OK);
  const struct radio_store_options options = {
    .create = true, .context = context,
  };
  FUZZ_CHECK (radio_store_open ("memory:", &options, &store) == RADIO_OK);
  radio_context_close (context);
  FUZZ_CHECK (radio_table_edit_new (store, PATH, &edit) == RADIO_OK);
  FUZZ_CHECK (radio_table_edit_add_rows (edit, &ids) == RADIO_OK);
  set (edit, &ids, &(struct radio_cells) {
    .column = "age", .type = RADIO_COLUMN_INTEGER, .values = ages,
    .dtype = RADIO_INT16, .valid = valid });
  set (edit, &ids, &(struct radio_cells) {
    .column = "weight", .type = RADIO_COLUMN_FLOAT, .values = weights,
    .dtype = RADIO_FLOAT64 });
  set (edit, &ids, &(struct radio_cells) {
    .column = "site", .type = RADIO_COLUMN_TEXT, .text = &ids,
    .valid = valid });
  FUZZ_CHECK (radio_table_edit_commit (edit, NULL) == RADIO_OK);
  radio_table_edit_free (edit);
  FUZZ_CHECK (rd_heads_find (store, PATH, false, &newest) == RADIO_OK);
  snprintf (key, sizeof key, PATH "/%s/zarr.json", newest.head.generation);
  document = json_object_get (newest.generation);
  /* Without a hint, which repeats that document. */
  FUZZ_CHECK (rd_io_put (store->io, PATH "/zarr.json", FOLDER,
                         sizeof FOLDER - 1, RD_PUT_REPLACE) == RADIO_OK);
  rd_newest_free (&newest);
}

static void
read_columns (struct radio_table *table)
{
  struct radio_table_info info;
  struct radio_strings text = { 0 };
  radio_table_get_info (table, &info);
  if (radio_table_read_ids (table, &text) == RADIO_OK)
    FUZZ_CHECK (text.n == info.row_count);
  radio_strings_free (&text);
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_column_info column;
    FUZZ_CHECK (radio_table_get_column (table, i, &column) == RADIO_OK);
    if (radio_table_read_text (table, i, &text, NULL) == RADIO_OK)
      FUZZ_CHECK (text.n == info.row_count);
    radio_strings_free (&text);
    if (column.is_categorical
        && radio_table_read_categories (table, i, &text) == RADIO_OK)
      FUZZ_CHECK (text.n == column.category_count);
    radio_strings_free (&text);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct radio_table *table;
  open_store ();
  FUZZ_CHECK (rd_io_put (store->io, key, data, nbytes, RD_PUT_REPLACE)
              == RADIO_OK);
  if (radio_table_open (store, PATH, &table) != RADIO_OK)
    return 0;
  read_columns (table);
  radio_table_close (table);
  return 0;
}

/* The document as it was written; with each of its columns alone, which
 * mutations then meet more often. */
size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const char *const columns[] = { NULL, "age", "weight", "site" };
  if (i >= sizeof columns / sizeof *columns)
    return 0;
  open_store ();
  if (columns[i]) {
    struct json_object *order = json_object_new_array ();
    json_object_array_add (order, json_object_new_string (columns[i]));
    json_object_object_add (rd_json_member (document, "attributes"),
                            "column-order", order);
  }
  const char *text
    = json_object_to_json_string_ext (document, JSON_C_TO_STRING_PLAIN);
  return fuzz_text_seed (&text, 1, 0, out, room);
}
