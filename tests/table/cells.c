/* SPDX-License-Identifier: MIT */
/* Small tables of tests. */
#include <config.h>

#include "src/table/texts.h"
#include "tests/table/cells.h"

#define MAX_CELLS 4096

struct radio_strings
split (const char *text)
{
  struct rd_text_list texts = { 0 };
  struct radio_strings strings;
  while (*text) {
    size_t n = strcspn (text, ",");
    assert_ok (rd_text_list_add (&texts, (struct rd_slice) { text, n }));
    text += n + (text[n] == ',');
  }
  assert_ok (rd_text_list_end (&texts, &strings));
  return strings;
}

enum radio_status
add_rows (struct radio_table_edit *edit, const char *ids)
{
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  return radio_table_edit_add_rows (edit, &strings);
}

enum radio_status
set_text (struct radio_table_edit *edit, const char *ids, const char *column,
          const char *values)
{
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  RD_STRINGS_FREE struct radio_strings text = split (values);
  bool valid[MAX_CELLS];
  for (size_t i = 0; i < text.n && i < MAX_CELLS; i++)
    valid[i] = !rd_slice_equal (rd_string (&text, i),
                                (struct rd_slice) { "-", 1 });
  const struct radio_cells cells = {
    .column = column, .type = RADIO_COLUMN_TEXT, .text = &text,
    .valid = valid,
  };
  return radio_table_edit_set (edit, &strings, &cells);
}

enum radio_status
set_integers (struct radio_table_edit *edit, const char *ids,
              const char *column, const int64_t *values)
{
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  const struct radio_cells cells = {
    .column = column, .type = RADIO_COLUMN_INTEGER, .values = values,
    .dtype = RADIO_INT64,
  };
  return radio_table_edit_set (edit, &strings, &cells);
}

enum radio_status
commit_cell (struct radio_store *store, const char *path, const char *id,
             const char *column, const char *value)
{
  struct radio_table_edit *edit;
  enum radio_status status = radio_table_edit_new (store, path, &edit);
  if (status != RADIO_OK)
    return status;
  status = add_rows (edit, id);
  if (status == RADIO_OK)
    status = set_text (edit, id, column, value);
  if (status == RADIO_OK)
    status = radio_table_edit_commit (edit, NULL);
  radio_table_edit_free (edit);
  return status;
}

void
assert_column (struct radio_table *table, const char *column,
               const char *values)
{
  RD_STRINGS_FREE struct radio_strings text = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer joined = { 0 };
  bool valid[MAX_CELLS];
  size_t number = 0;
  memset (valid, true, sizeof valid);
  if (column) {
    assert_ok (radio_table_find_column (table, column, &number));
    assert_ok (radio_table_read_text (table, number, &text, valid));
  } else
    assert_ok (radio_table_read_ids (table, &text));
  assert_true (text.n < MAX_CELLS);
  for (size_t i = 0; i < text.n; i++) {
    struct rd_slice at = rd_string (&text, i);
    if (!valid[i])
      at = (struct rd_slice) { "-", 1 };
    assert_ok (rd_buffer_append (&joined, ",", i > 0));
    assert_ok (rd_buffer_append (&joined, at.at, at.n));
  }
  assert_ok (rd_buffer_append (&joined, "", 1));
  assert_string_equal ((const char *) joined.data, values);
}

void
assert_newest (struct radio_store *store, const char *path,
               const char *column, const char *values)
{
  struct radio_table *table;
  assert_ok (radio_table_open (store, path, &table));
  assert_column (table, column, values);
  radio_table_close (table);
}
