/* SPDX-License-Identifier: MIT */
/* Tables in text files, CSV (RFC 4180) and TSV, with a row of names first:
 * read with the types of their columns inferred, and written. */
#ifndef RADIO_CSV_H
#define RADIO_CSV_H

#include <radio/base.h>
#include <radio/strings.h>
#include <radio/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A text table in memory.  Used by one thread at a time. */
struct radio_csv;

/* A column's type instead of the inferred one.  Frozen: it stands in arrays. */
struct radio_csv_type {
  const char *column;
  enum radio_column_type type;
};

struct radio_csv_options {
  /* The character between cells.  0: a tab if the first line has one outside
   * of quotes, else a comma if it has one, else a semicolon if it has one, else
   * a comma. */
  char separator;

  /* A BIDS sidecar: a JSON object with an object for some columns, which
   * becomes the column's attributes (Levels, Units, Description, ...).  Format
   * says the type ("string", "label", "index": text, "integer", "number",
   * "boolean"), else Levels make it text.  NULL: sidecar_file. */
  const char *sidecar_json;

  /* The file of it.  NULL: the table's with the suffix .json, if there is one;
   * "": none. */
  const char *sidecar_file;

  /* Types that are known, by name. */
  const struct radio_csv_type *types;
  size_t type_count;

  /* The text and what is made of it may take this much; 0: 1 GiB. */
  uint64_t memory_limit_nbytes;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Reads a file.  "-" is the standard input, which has no sidecar.
 *
 * Cells may be quoted by '"', which is doubled within them; a quote within a
 * cell that does not begin with one is a character.  Lines end in LF, CR LF or
 * CR; empty ones are skipped; a byte order mark is dropped.  A cell that is
 * empty or n/a, quoted or not, is missing.  Cells are data: one that begins
 * with '=' is text like any other.
 *
 * A column is bool if all of its values are true or false (True, TRUE, ...);
 * integer if all are whole numbers within 64 bits; float if all are decimal
 * numbers, NaN, inf or -inf; else text.  Blanks around such a value do not
 * count.  A column of whole numbers of which one has a zero in front (007) or
 * does not fit is text, so that it is not changed; and so is one without any
 * value.
 *
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT (the message names line
 * and column: a row of more or fewer cells than names; a quote that is not
 * closed, or text after a closing one; text that is not UTF-8; a NUL; no names,
 * an empty name, one name twice; a value that does not have the type that was
 * given; a sidecar that is no such object), RADIO_ERROR_ARGUMENT (a type of a
 * column that is not there), RADIO_ERROR_LIMIT (more than
 * RADIO_TABLE_MAX_COLUMNS columns, or memory), RADIO_ERROR_IO,
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_csv_open (const char *file, const struct radio_csv_options *options,
                struct radio_csv **csv) RADIO_USE_RESULT;

/* The same of nbytes of text, which are copied; name is for messages.
 * sidecar_file is used only if it is neither NULL nor "".
 * Errors: as radio_csv_open. */
RADIO_API enum radio_status
radio_csv_parse (const char *text, size_t nbytes, const char *name,
                 const struct radio_csv_options *options,
                 struct radio_csv **csv) RADIO_USE_RESULT;

/* Releases a text table.  NULL is legal. */
RADIO_API void radio_csv_close (struct radio_csv *csv);

/* A result: later versions may add members at its end. */
struct radio_csv_info {
  uint64_t row_count;                 /* without the names */
  size_t column_count;
  char separator;
};

/* Fills info.  Never fails. */
RADIO_API void radio_csv_get_info (const struct radio_csv *csv,
                                   struct radio_csv_info *info,
                                   size_t info_nbytes);
#define radio_csv_get_info(csv, info) \
  radio_csv_get_info (csv, info, sizeof (struct radio_csv_info))

/* A column.  The pointers are valid as long as the handle.  A result: later
 * versions may add members at its end. */
struct radio_csv_column {
  const char *name;
  enum radio_column_type type;
  uint64_t missing_count;
  const char *attributes_json;        /* of the sidecar; "{}" */
};

/* Describes a column by its number, from 0.
 * Errors: RADIO_ERROR_ARGUMENT (no such number). */
RADIO_API enum radio_status
radio_csv_get_column (const struct radio_csv *csv, size_t number,
                      struct radio_csv_column *column, size_t column_nbytes)
  RADIO_USE_RESULT;
#define radio_csv_get_column(csv, number, column) \
  radio_csv_get_column (csv, number, column, sizeof (struct radio_csv_column))

/* Gives a column a type instead of the one that was given or inferred.
 * Errors: RADIO_ERROR_ARGUMENT (no such number, no such type),
 * RADIO_ERROR_FORMAT (a value that does not have the type, with its line; the
 * column keeps the type that it has). */
RADIO_API enum radio_status
radio_csv_set_type (struct radio_csv *csv, size_t number,
                    enum radio_column_type type) RADIO_USE_RESULT;

/* Finds a column's number.
 * Errors: RADIO_ERROR_NOT_FOUND (the message lists the names). */
RADIO_API enum radio_status
radio_csv_find_column (const struct radio_csv *csv, const char *name,
                       size_t *number) RADIO_USE_RESULT;

/* Reads the cells of a column as they are, such as ids; a missing one is "".
 * The caller frees text by radio_strings_free.
 * Errors: RADIO_ERROR_ARGUMENT (no such number), RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_csv_read_text (const struct radio_csv *csv, size_t number,
                     struct radio_strings *text) RADIO_USE_RESULT;

/* Reads a column in its type, as radio_table_edit_set takes it: sets the
 * column's name, its type, int64, double or bool values or text, which of them
 * are present, and its attributes (NULL: none); other members are zero.  The
 * data belongs to the handle, and is valid until the next call of this function
 * or radio_csv_close.
 * Errors: RADIO_ERROR_ARGUMENT (no such number), RADIO_ERROR_LIMIT,
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_csv_read (struct radio_csv *csv, size_t number,
                struct radio_cells *cells) RADIO_USE_RESULT;

/* Called with pieces of text in order.  Anything but RADIO_OK ends the writing,
 * which returns it. */
typedef enum radio_status radio_csv_write_fn (const char *text, size_t nbytes,
                                              void *user_data);

/* Writes a table as text: a line of names, the first one that of the ids, and a
 * line for each row, all ended by LF.  columns are n numbers of columns in the
 * order wanted; NULL: all.  rows are row_count numbers of rows; NULL: all.  A
 * missing value is n/a; a cell is quoted if it has the separator, a quote, CR
 * or LF, and if it is empty or the text n/a (which are read as missing all the
 * same).  All other values are read back as they were.
 * Errors: RADIO_ERROR_ARGUMENT (no such column or row, an invalid separator),
 * those of radio_table_read_text, of write. */
RADIO_API enum radio_status
radio_table_write_csv (struct radio_table *table, char separator,
                       const size_t *columns, size_t n,
                       const uint64_t *rows, uint64_t row_count,
                       radio_csv_write_fn *write, void *user_data)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CSV_H */
