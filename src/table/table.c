/* SPDX-License-Identifier: MIT */
/* Tables, open for reading: the newest generation, and its columns. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/element/convert.h"
#include "src/table/heads.h"
#include "src/table/table.h"
#include "profiler/counters.h"

#define NAMES_NBYTES 200

void
radio_table_close (struct radio_table *table)
{
  if (!table || atomic_fetch_sub (&table->nrefs, 1) != 1)
    return;
  for (size_t i = 0; table->kept && i <= table->frame->n; i++)
    rd_column_free (table->kept[i]);
  rd_free (table->kept);
  pthread_mutex_destroy (&table->mutex);
  rd_dataframe_close (table->frame);
  rd_free (table->path);
  rd_free (table);
}

struct radio_table *
rd_table_ref (struct radio_table *table)
{
  atomic_fetch_add (&table->nrefs, 1);
  return table;
}

static enum radio_status
new_table (const char *path, struct radio_table **result)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table
    = rd_calloc (1, sizeof *table);
  if (!table)
    return rd_fail_memory (sizeof *table);
  atomic_init (&table->nrefs, 1);
  pthread_mutex_init (&table->mutex, NULL);
  table->path = rd_strdup (path);
  if (!table->path)
    return rd_fail_memory (strlen (path) + 1);
  *result = RD_STEAL (table);
  return RADIO_OK;
}

static enum radio_status
fail_unwritten (const char *path)
{
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: nothing was written to this "
                  "table yet", path);
}

/* Opens the generation of the newest head that was found. */
static enum radio_status
open_newest (struct radio_store *store, const char *path,
             const struct rd_newest *newest, struct radio_table **result)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  if (newest->head.number == 0)
    return newest->is_lost ? rd_heads_fail_lost (path)
                           : fail_unwritten (path);
  RD_TRY (rd_heads_check_newest (store, path, newest));
  RD_FREE char *generation = rd_key_join (path, newest->head.generation);
  if (!generation)
    return RADIO_ERROR_MEMORY;
  RD_TRY (new_table (path, &table));
  table->head = newest->head;
  table->is_repeated = newest->is_repeated;
  enum radio_status status = rd_dataframe_open (
    store, generation, newest->generation, true, &table->frame);
  if (status == RADIO_OK) {
    *result = RD_STEAL (table);
    return RADIO_OK;
  }
  if (status == RADIO_ERROR_MEMORY || !newest->is_repeated)
    return status;
  /* The document in a hint or head may be wrong. */
  RD_NEWEST_SCOPE struct rd_newest read = { 0 };
  RD_TRY (rd_heads_find (store, path, false, &read));
  return open_newest (store, path, &read, result);
}

static enum radio_status
open_table (struct radio_store *store, const char *path,
            struct radio_table **result)
{
  RD_NEWEST_SCOPE struct rd_newest newest = { 0 };
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  RD_TRY (rd_pool_check (store->context->pool));
  RD_TRY (rd_path_check (path, false));
  RD_TRY (rd_heads_find (store, path, true, &newest));
  if (!newest.folder)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such table in %s", path,
                    store->io->uri);
  if (!newest.is_frame)
    return open_newest (store, path, &newest, result);
  RD_TRY (new_table (path, &table));
  RD_TRY (rd_dataframe_open (store, path, newest.folder, false,
                             &table->frame));
  *result = RD_STEAL (table);
  return RADIO_OK;
}

enum radio_status
radio_table_open (struct radio_store *store, const char *path,
                  struct radio_table **table)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (table);
  RD_SCOPE ("open table", RD_IN_OPERATION);
  RD_NOTE_NAME ("table", path);
  return rd_scope_end_with (open_table (store, path, table));
}

static enum radio_status
open_written (struct radio_store *store, const char *path,
              struct radio_table **table)
{
  RD_NEWEST_SCOPE struct rd_newest newest = { 0 };
  RD_TRY (rd_heads_find (store, path, true, &newest));
  if (newest.head.number > 0)
    return open_newest (store, path, &newest, table);
  return newest.is_lost ? rd_heads_fail_lost (path) : RADIO_OK;
}

enum radio_status
rd_table_open_written (struct radio_store *store, const char *path,
                       struct radio_table **table)
{
  RD_SCOPE ("open table", RD_IN_OPERATION);
  RD_NOTE_NAME ("table", path);
  *table = NULL;
  return rd_scope_end_with (open_written (store, path, table));
}

void
(radio_table_get_info) (const struct radio_table *table,
                        struct radio_table_info *info, size_t info_nbytes)
{
  const struct rd_dataframe *frame = table->frame;
  const struct radio_table_info full = {
    .path = table->path,
    .generation = table->head.generation,
    .head = table->head.number,
    .row_count = frame->nrows,
    .column_count = frame->n,
    .index_name = frame->index.name,
    .attributes_json = frame->attributes_json,
  };
  rd_fill_result (info, info_nbytes, &full, sizeof full);
}

static enum radio_status
check_number (const struct radio_table *table, size_t number)
{
  if (number < table->frame->n)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: column %zu; the table has %zu",
                  table->path, number, table->frame->n);
}

enum radio_status
(radio_table_get_column) (const struct radio_table *table, size_t number,
                          struct radio_column_info *info, size_t info_nbytes)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (info);
  RD_TRY (check_number (table, number));
  const struct rd_field *field = &table->frame->fields[number];
  const struct radio_column_info full = {
    .name = field->name,
    .type = field->type,
    .dtype = field->dtype,
    .may_be_missing = field->encoding != RD_ENCODING_ARRAY
                      || field->type == RADIO_COLUMN_FLOAT,
    .is_categorical = field->encoding == RD_ENCODING_CATEGORICAL,
    .is_ordered = field->is_ordered,
    .category_count = field->category_count,
    .attributes_json = field->attributes_json,
  };
  rd_fill_result (info, info_nbytes, &full, sizeof full);
  return RADIO_OK;
}

enum radio_status
radio_table_find_column (const struct radio_table *table, const char *name,
                         size_t *number)
{
  char names[NAMES_NBYTES];
  size_t used = 0;
  RD_NOT_NULL (table);
  RD_NOT_NULL (name);
  RD_NOT_NULL (number);
  const struct rd_dataframe *frame = table->frame;
  names[0] = '\0';
  for (size_t i = 0; i < frame->n; i++) {
    const char *column = frame->fields[i].name;
    if (strcmp (column, name) == 0) {
      *number = i;
      return RADIO_OK;
    }
    size_t n = strlen (column);
    if (used + n + 3 < sizeof names)
      used += (size_t) snprintf (names + used, sizeof names - used, "%s%s",
                                 used ? ", " : "", column);
  }
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no column '%s'; there are: %s",
                  table->path, name, names);
}

/*------------------------------------------------------------------------
 * Reading
 *----------------------------------------------------------------------*/

/* A chunk that is not there was removed with its generation, or lost. */
static enum radio_status
explain (const struct radio_table *table, enum radio_status status)
{
  struct rd_error error;
  bool exists;
  if (status == RADIO_OK || table->head.number == 0)
    return status;
  rd_error_save (&error, status);
  if (rd_store_node_exists (table->frame->store, table->frame->path, &exists)
      == RADIO_OK && !exists) {
    if (table->is_repeated)
      atomic_store (&table->frame->store->was_misled, true);
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: the generation %s was removed "
                    "meanwhile; open the table again, or recover what remains "
                    "by 'radio index --recover' if it was lost",
                    table->path, table->head.generation);
  }
  return rd_error_raise (&error);
}

/* Takes a column that was read ahead, by its number, or the ids. */
static struct rd_column *
take_kept (struct radio_table *table, size_t number)
{
  RD_LOCK_SCOPE (&table->mutex);
  return table->kept ? RD_STEAL (table->kept[number]) : NULL;
}

static enum radio_status
read_column (struct radio_table *table, size_t number,
             struct rd_column **column)
{
  RD_TRY (check_number (table, number));
  const struct rd_field *field = &table->frame->fields[number];
  RD_NOTE_NAME ("column", field->name);
  *column = take_kept (table, number);
  return *column ? RADIO_OK
                 : explain (table, rd_dataframe_read (table->frame, field,
                                                      column));
}

/* Makes room for columns that are read ahead. */
static enum radio_status
need_kept (struct radio_table *table)
{
  size_t n = table->frame->n + 1;
  RD_LOCK_SCOPE (&table->mutex);
  if (!table->kept)
    table->kept = rd_calloc (n, sizeof *table->kept);
  return table->kept ? RADIO_OK : rd_fail_memory (n * sizeof *table->kept);
}

static bool
is_kept (struct radio_table *table, size_t number)
{
  RD_LOCK_SCOPE (&table->mutex);
  return table->kept[number] != NULL;
}

static enum radio_status
read_ahead (struct radio_table *table, const size_t *columns, size_t n)
{
  struct rd_dataframe *frame = table->frame;
  size_t failed, nreads = 0;
  uint64_t nmost;
  if (rd_add_overflows (n, 1, &nmost))
    return rd_fail_memory (SIZE_MAX);
  RD_FREE struct rd_field_read *reads = rd_calloc (nmost, sizeof *reads);
  if (!reads)
    return rd_fail_memory (rd_mul_sat (nmost, sizeof *reads));
  RD_TRY (need_kept (table));
  for (size_t i = 0; i <= n; i++) {
    size_t number = i == n ? frame->n : columns ? columns[i] : i;
    if (i < n)
      RD_TRY (check_number (table, number));
    if (!is_kept (table, number))
      reads[nreads++] = (struct rd_field_read) {
        .frame = frame,
        .field = i == n ? &frame->index : &frame->fields[number],
      };
  }
  RD_TRY (explain (table, rd_dataframe_read_many (reads, nreads, &failed)));
  RD_LOCK_SCOPE (&table->mutex);
  for (size_t i = 0; i < nreads; i++) {
    size_t number = reads[i].field == &frame->index
                    ? frame->n : (size_t) (reads[i].field - frame->fields);
    if (!table->kept[number])
      table->kept[number] = RD_STEAL (reads[i].column);
    rd_field_read_clear (&reads[i]);
  }
  return RADIO_OK;
}

enum radio_status
radio_table_read_ahead (struct radio_table *table, const size_t *columns,
                        size_t n)
{
  RD_NOT_NULL (table);
  RD_SCOPE ("read ahead", RD_IN_OPERATION);
  RD_NOTE_NAME ("table", table->path);
  return rd_scope_end_with (read_ahead (table, columns,
                                        columns ? n : table->frame->n));
}

static void
copy_valid (const struct rd_column *column, bool *valid)
{
  for (size_t i = 0; i < column->n && valid; i++)
    valid[i] = rd_column_is_valid (column, i);
}

static enum radio_status
read_values (struct radio_table *table, size_t number, enum radio_dtype dtype,
             void *values, size_t nbytes, bool *valid)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  enum radio_column_type type;
  RD_TRY (check_number (table, number));
  const struct rd_field *field = &table->frame->fields[number];
  if (field->type == RADIO_COLUMN_TEXT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the column '%s' is text; read "
                    "it by radio_table_read_text", table->path, field->name);
  if (dtype == RADIO_STORED)
    dtype = field->dtype;
  rd_convert_fn *convert = rd_convert_find (field->dtype, dtype);
  if (!convert || !rd_column_type_of (dtype, &type))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the column '%s' is %s, which is "
                    "never %s", table->path, field->name,
                    radio_dtype_name (field->dtype), radio_dtype_name (dtype));
  size_t item = radio_dtype_nbytes (dtype), n = table->frame->nrows;
  if (n > 0 && (!values || nbytes / item < n))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the buffer has %zu bytes, and "
                    "%zu rows need %zu each", table->path,
                    values ? nbytes : 0, n, item);
  RD_TRY (read_column (table, number, &column));
  /* NaN, which is a missing float, is no integer. */
  size_t stored = radio_dtype_nbytes (column->dtype);
  for (size_t i = 0; i < n && column->valid; i++)
    if (!column->valid[i])
      memset (column->values + i * stored, 0, stored);
  if (convert (column->values, values, n))
    return rd_fail (RADIO_ERROR_RANGE, "%s: a value of the column '%s' (%s) "
                    "does not fit into %s", table->path, field->name,
                    radio_dtype_name (field->dtype), radio_dtype_name (dtype));
  copy_valid (column, valid);
  if (!column->valid)
    return RADIO_OK;
  const double nan = NAN;
  for (size_t i = 0; i < n; i++) {
    if (column->valid[i])
      continue;
    if (type == RADIO_COLUMN_FLOAT)
      rd_convert_find (RADIO_FLOAT64, dtype) (
        (const unsigned char *) &nan, (unsigned char *) values + i * item, 1);
    else if (!valid)
      return rd_fail (RADIO_ERROR_RANGE, "%s: the column '%s' has no value in "
                      "row %zu; pass valid to read it", table->path,
                      field->name, i);
  }
  return RADIO_OK;
}

enum radio_status
radio_table_read (struct radio_table *table, size_t number,
                  enum radio_dtype dtype, void *values, size_t nbytes,
                  bool *valid)
{
  RD_NOT_NULL (table);
  RD_SCOPE ("read column", RD_IN_OPERATION);
  return rd_scope_end_with (read_values (table, number, dtype, values, nbytes,
                                         valid));
}

static enum radio_status
read_text (struct radio_table *table, size_t number,
           struct radio_strings *text, bool *valid)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  RD_TRY (read_column (table, number, &column));
  copy_valid (column, valid);
  return rd_column_take_text (column, text);
}

enum radio_status
radio_table_read_text (struct radio_table *table, size_t number,
                       struct radio_strings *text, bool *valid)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (text);
  RD_SCOPE ("read column", RD_IN_OPERATION);
  return rd_scope_end_with (read_text (table, number, text, valid));
}

static enum radio_status
read_ids (struct radio_table *table, struct radio_strings *ids)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column
    = take_kept (table, table->frame->n);
  enum radio_status status = RADIO_OK;
  if (!column)
    status = explain (table, rd_dataframe_read (
      table->frame, &table->frame->index, &column));
  if (status == RADIO_OK)
    status = rd_dataframe_take_ids (table->frame, column, ids);
  return status != RADIO_ERROR_NOT_FOUND && rd_dataframe_is_damaged (status)
         ? rd_dataframe_fail_unreadable (status) : status;
}

enum radio_status
radio_table_read_ids (struct radio_table *table, struct radio_strings *ids)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (ids);
  RD_SCOPE ("read ids", RD_IN_OPERATION);
  return rd_scope_end_with (read_ids (table, ids));
}

static enum radio_status
check_categorical (const struct radio_table *table, size_t number)
{
  RD_TRY (check_number (table, number));
  const struct rd_field *field = &table->frame->fields[number];
  if (field->categories)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the column '%s' has no "
                  "categories", table->path, field->name);
}

static enum radio_status
read_categories (struct radio_table *table, size_t number,
                 struct radio_strings *categories)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  RD_TRY (check_categorical (table, number));
  const struct rd_field *field = &table->frame->fields[number];
  RD_TRY (explain (table, rd_dataframe_read_array (table->frame, field->name,
                                               field->categories, &column)));
  return rd_column_take_text (column, categories);
}

enum radio_status
radio_table_read_categories (struct radio_table *table, size_t number,
                             struct radio_strings *categories)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (categories);
  RD_SCOPE ("read column", RD_IN_OPERATION);
  return rd_scope_end_with (read_categories (table, number, categories));
}

static enum radio_status
read_codes (struct radio_table *table, size_t number, int32_t *codes,
            size_t nbytes)
{
  RD_TRY (check_categorical (table, number));
  if (nbytes / sizeof *codes < table->frame->nrows)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the buffer has %zu bytes, and "
                    "%zu rows need 4 each", table->path, nbytes,
                    table->frame->nrows);
  return explain (table, rd_dataframe_read_codes (
    table->frame, &table->frame->fields[number], codes));
}

enum radio_status
radio_table_read_codes (struct radio_table *table, size_t number,
                        int32_t *codes, size_t nbytes)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (codes);
  RD_SCOPE ("read column", RD_IN_OPERATION);
  return rd_scope_end_with (read_codes (table, number, codes, nbytes));
}

enum radio_status
rd_table_read_stored (struct radio_table *const *tables,
                      struct rd_field_read *reads, size_t n)
{
  size_t failed;
  for (size_t i = 0; i < n; i++)
    reads[i].as_stored = true;
  enum radio_status status = rd_dataframe_read_many (reads, n, &failed);
  return failed < n ? explain (tables[failed], status) : status;
}
