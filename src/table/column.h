/* SPDX-License-Identifier: MIT */
/* A column in memory, and new ones made of it.  Columns are not changed:
 * whatever sets cells makes another. */
#ifndef RD_TABLE_COLUMN_H
#define RD_TABLE_COLUMN_H

#include <radio/table.h>

#include "src/base/json.h"
#include "src/table/texts.h"

/* The most rows of a table that radio writes, and bytes of one cell's text. */
#define RD_TABLE_MAX_ROWS ((size_t) 1 << 22)
#define RD_CELL_MAX_NBYTES ((size_t) 1 << 20)

struct rd_column {
  char *name;
  enum radio_column_type type;
  enum radio_dtype dtype;     /* of values; RADIO_STORED of text */
  size_t n;
  unsigned char *values;      /* of dtype; NULL: text.  A missing one is 0, or
                                 NaN of floats */
  struct radio_strings text;  /* a missing one may have any */
  bool *valid;                /* NULL: none is missing */
  struct rd_column *categories;       /* the order in which they were stored;
                                         NULL: it has none */
  bool *had_rows;             /* of each category: a row of the stored column
                                 has it; NULL: of none that was read */
  bool is_ordered;
  struct json_object *attributes;     /* its own; NULL: none */
};

void rd_column_free (struct rd_column *column);
RD_DEFINE_CLEANUP (column, struct rd_column, rd_column_free);

/* Makes a column of n numbers that are 0; of text without strings. */
enum radio_status rd_column_new (const char *name, enum radio_column_type type,
                                 enum radio_dtype dtype, size_t n,
                                 struct rd_column **column) RADIO_USE_RESULT;

static inline bool
rd_column_is_valid (const struct rd_column *column, size_t row)
{
  return column->valid == NULL || column->valid[row];
}

/* The bytes of a value: of its text, or of its element. */
static inline struct rd_slice
rd_column_bytes (const struct rd_column *column, size_t row)
{
  size_t nbytes = radio_dtype_nbytes (column->dtype);
  if (!column->values)
    return rd_string (&column->text, row);
  return (struct rd_slice) { (const char *) column->values + row * nbytes,
                             nbytes };
}

/* Takes NaN for missing: makes valid if there is any, and drops it if no value
 * is missing. */
enum radio_status rd_column_find_missing (struct rd_column *column)
  RADIO_USE_RESULT;

/* Makes a column of a caller's n cells, checked. */
enum radio_status rd_column_of_cells (const struct radio_cells *cells,
                                      size_t n, struct rd_column **column)
  RADIO_USE_RESULT;

/* Makes a column of n rows of another one, by their numbers; RD_NOT_THERE: the
 * value is missing. */
enum radio_status rd_column_take (const struct rd_column *column,
                                  const size_t *rows, size_t n,
                                  struct rd_column **taken) RADIO_USE_RESULT;

/* Makes a column with cells set: in row i that of number from[i] in cells, if
 * that is not RD_NOT_THERE.  Both have one type; the dtype becomes one that
 * holds all values.  RADIO_ERROR_RANGE: no dtype does. */
enum radio_status rd_column_set (const struct rd_column *column,
                                 const struct rd_column *cells,
                                 const size_t *from, struct rd_column **set)
  RADIO_USE_RESULT;

/* Makes a column of another type; values that cannot be converted are
 * missing. */
enum radio_status rd_column_convert (const struct rd_column *column,
                                     enum radio_column_type type,
                                     struct rd_column **converted)
  RADIO_USE_RESULT;

#define RD_PRINT_NBYTES 40

/* The text of a value; buffer is for numbers. */
struct rd_slice rd_column_print (const struct rd_column *column, size_t row,
                                 char buffer[RD_PRINT_NBYTES]);

/* The text of all values; of text it is taken out of the column. */
enum radio_status rd_column_take_text (struct rd_column *column,
                                       struct radio_strings *text)
  RADIO_USE_RESULT;

/* True if two columns have the same name, type, values, and attributes. */
bool rd_column_equals (const struct rd_column *a, const struct rd_column *b);

/* Finds the type of columns of a dtype; false if columns cannot have it. */
bool rd_column_type_of (enum radio_dtype dtype, enum radio_column_type *type);

/* Returns the dtype that values of a type have if none is given. */
enum radio_dtype rd_column_dtype (enum radio_column_type type);

#endif /* RD_TABLE_COLUMN_H */
