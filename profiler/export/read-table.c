/* SPDX-License-Identifier: MIT */
/* Reading tables: columns of equal length into rows of structs. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/export/read.h"

/* Where a value stands, for messages. */
struct cell {
  const char *where;
  const struct rd_table *table;
  const struct rd_column *column;
  size_t row;
};

static enum radio_status
fail_cell (const struct cell *cell, struct json_object *value,
           const char *wanted)
{
  char what[128];
  snprintf (what, sizeof what, "%s.%s[%zu]", cell->table->name,
            cell->column->name, cell->row);
  return rd_json_not (value, what, wanted, cell->where);
}

static bool
get_number (struct json_object *value, uint64_t most, uint64_t *number)
{
  if (!json_object_is_type (value, json_type_int)
      || json_object_get_int64 (value) < 0)
    return false;
  *number = json_object_get_uint64 (value);
  return *number <= most;
}

static uint64_t
largest (const struct rd_column *column)
{
  if (column->most > 0)
    return column->most;
  switch (column->kind) {
  case RD_COLUMN_BOOL: return 1;
  case RD_COLUMN_U32: return UINT32_MAX;
  case RD_COLUMN_REF:
  case RD_COLUMN_REF32: return UINT32_MAX - 1;
  default: return UINT64_MAX;
  }
}

static void
store_number (const struct rd_column *column, uint64_t number, void *at)
{
  switch (column->kind) {
  case RD_COLUMN_BOOL: *(bool *) at = number != 0; break;
  case RD_COLUMN_U32:
  case RD_COLUMN_REF32: *(uint32_t *) at = (uint32_t) number; break;
  case RD_COLUMN_REF: *(size_t *) at = (size_t) number; break;
  default: *(uint64_t *) at = number; break;
  }
}

static bool
is_reference (const struct rd_column *column)
{
  return column->kind == RD_COLUMN_REF || column->kind == RD_COLUMN_REF32;
}

static enum radio_status
read_number (const struct cell *cell, struct json_object *value, void *at)
{
  uint64_t number;
  if (is_reference (cell->column)
      && json_object_is_type (value, json_type_int)
      && json_object_get_int64 (value) == -1) {
    store_number (cell->column, UINT64_MAX, at);
    return RADIO_OK;
  }
  if (!get_number (value, largest (cell->column), &number)) {
    char wanted[64];
    snprintf (wanted, sizeof wanted, "a whole number of %d to %" PRIu64,
              is_reference (cell->column) ? -1 : 0, largest (cell->column));
    return fail_cell (cell, value, wanted);
  }
  store_number (cell->column, number, at);
  return RADIO_OK;
}

static enum radio_status
read_string (const struct cell *cell, struct json_object *value,
             const struct rd_read_strings *strings, const char **text)
{
  uint64_t index;
  if (!get_number (value, UINT32_MAX, &index) || index >= strings->n)
    return fail_cell (cell, value, "one of the strings' indexes");
  *text = strings->texts[index];
  return RADIO_OK;
}

static enum radio_status
read_cell (const struct cell *cell, struct json_object *value,
           const struct rd_read_strings *strings, unsigned char *row)
{
  void *at = row + cell->column->offset;
  const char *text;
  if (cell->column->kind == RD_COLUMN_TEXT)
    RD_TRY (rd_json_text (value, cell->column->name, cell->where, &text));
  else if (cell->column->kind == RD_COLUMN_STRING)
    RD_TRY (read_string (cell, value, strings, &text));
  else
    return read_number (cell, value, at);
  /* Of the members some are char *, some const char *. */
  memcpy (at, &text, sizeof text);
  return RADIO_OK;
}

/* A column; its length must be that of the table's first one. */
static enum radio_status
get_column (struct json_object *object, const struct rd_table *table,
            size_t i, const char *where, struct json_object **column)
{
  struct json_object *first;
  RD_TRY (rd_json_array (object, table->columns[0].name, where, &first));
  RD_TRY (rd_json_array (object, table->columns[i].name, where, column));
  if (json_object_array_length (*column) != json_object_array_length (first))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has %zu entries, %s has %zu",
                    where, table->columns[i].name,
                    json_object_array_length (*column),
                    table->columns[0].name,
                    json_object_array_length (first));
  return RADIO_OK;
}

static enum radio_status
read_column (struct json_object *column, struct cell *cell,
             const struct rd_read_strings *strings, unsigned char *rows)
{
  size_t n = json_object_array_length (column);
  for (cell->row = 0; cell->row < n; cell->row++)
    RD_TRY (read_cell (cell, json_object_array_get_idx (column, cell->row),
                       strings,
                       rows + cell->row * cell->table->row_nbytes));
  return RADIO_OK;
}

enum radio_status
rd_read_table (struct json_object *document, const struct rd_table *table,
               const struct rd_read_strings *strings, const char *where,
               void **rows, size_t *n)
{
  struct json_object *object, *column;
  *rows = NULL;
  *n = 0;
  if (rd_json_member (document, table->name) == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (document, table->name, where, &object));
  RD_TRY (get_column (object, table, 0, where, &column));
  size_t nrows = json_object_array_length (column);
  RD_FREE_PLAIN unsigned char *made = calloc (nrows + 1, table->row_nbytes);
  if (made == NULL)
    return rd_fail_memory (nrows * table->row_nbytes);
  for (size_t i = 0; i < table->ncolumns; i++) {
    struct cell cell = { where, table, &table->columns[i], 0 };
    RD_TRY (get_column (object, table, i, where, &column));
    RD_TRY (read_column (column, &cell, strings, made));
  }
  *rows = RD_STEAL (made);
  *n = nrows;
  return RADIO_OK;
}

enum radio_status
rd_read_members (struct json_object *object, const struct rd_table *table,
                 const char *where, void *row)
{
  for (size_t i = 0; i < table->ncolumns; i++) {
    const struct rd_column *column = &table->columns[i];
    struct json_object *value = rd_json_member (object, column->name);
    uint64_t number;
    if (value == NULL)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s.%s is missing", where,
                      table->name, column->name);
    RD_TRY (rd_json_u64 (value, column->name, where, &number));
    store_number (column, number, (unsigned char *) row + column->offset);
  }
  return RADIO_OK;
}
