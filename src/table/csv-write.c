/* SPDX-License-Identifier: MIT */
/* Writing tables as text.  Lines are gathered, so that the caller's function is
 * called for some kilobytes at a time. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "src/table/csv.h"
#include "src/table/texts.h"

#define PIECE_NBYTES ((size_t) 64 << 10)

struct output {
  struct rd_buffer text;
  char separator;
  radio_csv_write_fn *write;
  void *user_data;
};

static enum radio_status
flush (struct output *output)
{
  size_t n = output->text.nbytes;
  output->text.nbytes = 0;
  return n == 0 ? RADIO_OK : output->write ((const char *) output->text.data,
                                            n, output->user_data);
}

/* A cell that would be read as something else is quoted. */
static bool
needs_quotes (const struct output *output, const char *cell, size_t nbytes)
{
  if (nbytes == 0 || (nbytes == 3 && memcmp (cell, "n/a", 3) == 0))
    return true;
  for (size_t i = 0; i < nbytes; i++)
    if (cell[i] == output->separator || cell[i] == '"' || cell[i] == '\n'
        || cell[i] == '\r')
      return true;
  /* Would be dropped as a byte order mark. */
  return nbytes >= 3 && memcmp (cell, "\xef\xbb\xbf", 3) == 0;
}

static enum radio_status
put_cell (struct output *output, const char *cell, size_t nbytes)
{
  struct rd_buffer *text = &output->text;
  if (!needs_quotes (output, cell, nbytes))
    return rd_buffer_append (text, cell, nbytes);
  RD_TRY (rd_buffer_append (text, "\"", 1));
  for (const char *end = cell + nbytes; cell < end;) {
    const char *quote = memchr (cell, '"', (size_t) (end - cell));
    const char *next = quote ? quote + 1 : end;
    RD_TRY (rd_buffer_append (text, cell, (size_t) (next - cell)));
    if (quote)
      RD_TRY (rd_buffer_append (text, "\"", 1));
    cell = next;
  }
  return rd_buffer_append (text, "\"", 1);
}

/* Ends a cell; after the last one of a line it is the line's end. */
static enum radio_status
end_cell (struct output *output, bool is_last)
{
  RD_TRY (rd_buffer_append (&output->text,
                            is_last ? "\n" : &output->separator, 1));
  return output->text.nbytes >= PIECE_NBYTES ? flush (output) : RADIO_OK;
}

static enum radio_status
put_row (struct output *output, const struct rd_csv_output *columns, size_t n,
         uint64_t row)
{
  for (size_t i = 0; i < n; i++) {
    const struct radio_strings *text = columns[i].text;
    if (columns[i].valid && !columns[i].valid[row])
      RD_TRY (rd_buffer_append (&output->text, "n/a", 3));
    else {
      struct rd_slice cell = rd_string (text, row);
      RD_TRY (put_cell (output, cell.at, cell.n));
    }
    RD_TRY (end_cell (output, i + 1 == n));
  }
  return RADIO_OK;
}

enum radio_status
rd_csv_write (const struct rd_csv_output *columns, size_t n,
              const uint64_t *rows, uint64_t nrows, char separator,
              radio_csv_write_fn *write, void *user_data)
{
  struct output output = { .separator = separator, .write = write,
                           .user_data = user_data };
  RD_TRY (rd_buffer_reserve (&output.text, PIECE_NBYTES));
  enum radio_status status = RADIO_OK;
  for (size_t i = 0; i < n && status == RADIO_OK; i++) {
    status = put_cell (&output, columns[i].name, strlen (columns[i].name));
    if (status == RADIO_OK)
      status = end_cell (&output, i + 1 == n);
  }
  for (uint64_t row = 0; row < nrows && status == RADIO_OK; row++)
    status = put_row (&output, columns, n, rows ? rows[row] : row);
  if (status == RADIO_OK)
    status = flush (&output);
  rd_buffer_free (&output.text);
  return status;
}

/* The columns of a table, read. */
struct contents {
  size_t n;
  struct rd_csv_output *columns;
  struct radio_strings *text;
  bool *valid;
};

static void
free_contents (struct contents *contents)
{
  for (size_t i = 0; contents->text && i < contents->n; i++)
    radio_strings_free (&contents->text[i]);
  rd_free (contents->text);
  rd_free (contents->columns);
  rd_free (contents->valid);
}

enum radio_status
radio_table_write_csv (struct radio_table *table, char separator,
                       const size_t *columns, size_t n,
                       const uint64_t *rows, uint64_t row_count,
                       radio_csv_write_fn *write, void *user_data)
{
  RD_NOT_NULL (table);
  RD_NOT_NULL (write);
  struct radio_table_info info;
  radio_table_get_info (table, &info);
  if (separator == '\0' || !rd_csv_may_separate (separator))
    return rd_fail (RADIO_ERROR_ARGUMENT, "separator is 0x%02x; a tab or a "
                    "comma is usual", (unsigned) (unsigned char) separator);
  if (!columns)
    n = info.column_count;
  for (uint64_t i = 0; rows && i < row_count; i++)
    if (rows[i] >= info.row_count)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: row %" PRIu64 "; the table "
                      "has %" PRIu64, info.path, rows[i], info.row_count);
  RD_CLEANUP (free_contents) struct contents contents = { .n = n + 1 };
  size_t nrows = (size_t) info.row_count;
  contents.columns = rd_calloc (n + 1, sizeof *contents.columns);
  contents.text = rd_calloc (n + 1, sizeof *contents.text);
  contents.valid = n < SIZE_MAX / (nrows + 1)
    ? rd_calloc (n * nrows + 1, sizeof (bool)) : NULL;
  if (!contents.columns || !contents.text || !contents.valid)
    return rd_fail_memory (n * nrows);
  RD_TRY (radio_table_read_ahead (table, columns, n));
  RD_TRY (radio_table_read_ids (table, &contents.text[0]));
  contents.columns[0] = (struct rd_csv_output) {
    info.index_name, &contents.text[0], NULL,
  };
  for (size_t i = 0; i < n; i++) {
    size_t number = columns ? columns[i] : i;
    bool *valid = contents.valid + i * nrows;
    struct radio_column_info column;
    RD_TRY (radio_table_get_column (table, number, &column));
    RD_TRY (radio_table_read_text (table, number, &contents.text[i + 1],
                                   valid));
    contents.columns[i + 1] = (struct rd_csv_output) {
      column.name, &contents.text[i + 1], valid,
    };
  }
  return rd_csv_write (contents.columns, n + 1, rows, rows ? row_count : nrows,
                       separator, write, user_data);
}
