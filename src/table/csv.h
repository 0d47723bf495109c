/* SPDX-License-Identifier: MIT */
/* Text tables inside: cells as places in their text, and writing columns of
 * strings. */
#ifndef RD_CSV_H
#define RD_CSV_H

#include <radio/csv.h>

#include "src/base/buffer.h"

struct rd_csv_column {
  const char *name;                   /* in the text */
  enum radio_column_type type;
  uint64_t missing_count;
  char *attributes;                   /* a JSON object, or NULL */
};

struct radio_csv {
  char *name;                         /* of the file, for messages */
  struct rd_buffer text;              /* cells are separated by NUL */
  struct rd_buffer cells;             /* uint32_t: where each begins, row by
                                         row, the names first */
  struct rd_buffer lines;             /* uint32_t: the line of each row */
  size_t ncolumns;
  uint64_t nrows;
  char separator;
  uint64_t limit_nbytes;
  struct rd_csv_column *columns;

  /* Set by radio_csv_read. */
  void *values;
  bool *valid;
  struct radio_strings strings;
};

/* Returns a cell of a row; the names are row 0. */
static inline const char *
rd_csv_cell (const struct radio_csv *csv, uint64_t row, size_t column)
{
  const uint32_t *cells = (const void *) csv->cells.data;
  return (const char *) csv->text.data + cells[row * csv->ncolumns + column];
}

/* True if a character can stand between cells. */
static inline bool
rd_csv_may_separate (char c)
{
  return c != '"' && c != '\n' && c != '\r' && (unsigned char) c < 0x80;
}

/* Sets the types and attributes of columns. */
enum radio_status rd_csv_set_types (struct radio_csv *csv,
                                    const struct radio_csv_options *options,
                                    const char *sidecar, size_t sidecar_nbytes)
  RADIO_USE_RESULT;

/* RADIO_ERROR_LIMIT if nbytes more than the text and its cells are too much. */
enum radio_status rd_csv_allows (const struct radio_csv *csv, uint64_t nbytes)
  RADIO_USE_RESULT;

/* A column that is written. */
struct rd_csv_output {
  const char *name;
  const struct radio_strings *text;
  const bool *valid;                  /* NULL: all */
};

/* Writes nrows rows of columns of strings, by their numbers; without rows the
 * first ones. */
enum radio_status rd_csv_write (const struct rd_csv_output *columns, size_t n,
                                const uint64_t *rows, uint64_t nrows,
                                char separator,
                                radio_csv_write_fn *write, void *user_data)
  RADIO_USE_RESULT;

#endif /* RD_CSV_H */
