/* SPDX-License-Identifier: MIT */
/* Tables of subjects and of volumes: columns of one type each, with missing
 * values, and an id for each row.
 *
 * A store of radio's has its tables below "tables": "tables/subjects", and
 * "tables/volumes/COLLECTION" for each collection.  A table's content is its
 * newest generation, which never changes; an edit writes another one, merged
 * by id with other writers' edits meanwhile.  A generation is a data frame in
 * AnnData's format, and any such group opens as a table too. */
#ifndef RADIO_TABLE_H
#define RADIO_TABLE_H

#include <radio/base.h>
#include <radio/dtype.h>
#include <radio/store.h>
#include <radio/strings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The table of subjects, and the folder of those of volumes. */
#define RADIO_TABLE_SUBJECTS "tables/subjects"
#define RADIO_TABLE_VOLUMES "tables/volumes"

/* The most columns of a table. */
#define RADIO_TABLE_MAX_COLUMNS 10000

/* A generation of a table, open for reading.  It may be used by several
 * threads at once. */
struct radio_table;

/* Opens the newest generation of the table at a path below the store's root,
 * or the data frame that is there.  Reads no column.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such table, or none was committed to it);
 * RADIO_ERROR_FORMAT (not a table; a document that breaks the rules: the
 * message names it and the member); RADIO_ERROR_UNSUPPORTED (a newer version
 * or an encoding of columns that this library does not know);
 * RADIO_ERROR_LIMIT (more than RADIO_TABLE_MAX_COLUMNS columns); those of
 * reading. */
RADIO_API enum radio_status
radio_table_open (struct radio_store *store, const char *path,
                  struct radio_table **table) RADIO_USE_RESULT;

/* Releases a table.  NULL is legal. */
RADIO_API void radio_table_close (struct radio_table *table);

/* Properties of a table.  The pointers are valid as long as the handle.  A
 * result: later versions may add members at its end. */
struct radio_table_info {
  const char *path;
  const char *generation;             /* its name, "t-5f3a91c7"; "" of a data
                                         frame that is no radio table */
  uint64_t head;                      /* its number, from 1; 0 of such a one */
  uint64_t row_count;
  size_t column_count;                /* without the ids */
  const char *index_name;             /* the name of the column of ids */
  const char *attributes_json;        /* of the generation, without those that
                                         the format defines; "{}" */
};

/* Fills info.  Never fails. */
RADIO_API void radio_table_get_info (const struct radio_table *table,
                                     struct radio_table_info *info,
                                     size_t info_nbytes);
#define radio_table_get_info(table, info) \
  radio_table_get_info (table, info, sizeof (struct radio_table_info))

/* The types of columns. */
enum radio_column_type {
  RADIO_COLUMN_BOOL = 0,
  RADIO_COLUMN_INTEGER,
  RADIO_COLUMN_FLOAT,                 /* a missing value is NaN */
  RADIO_COLUMN_TEXT,
};

/* Returns the type as a word: "bool", "integer", "float", "text".  Static
 * storage; never NULL. */
RADIO_API const char *radio_column_type_name (enum radio_column_type type);

/* Properties of a column.  The pointers are valid as long as the table.  A
 * result: later versions may add members at its end. */
struct radio_column_info {
  const char *name;
  enum radio_column_type type;        /* of categories, if it has them */
  enum radio_dtype dtype;             /* as stored; RADIO_STORED of text */
  bool may_be_missing;                /* false: no value is missing */
  bool is_categorical;                /* stored as codes of categories */
  bool is_ordered;                    /* and these have an order */
  uint64_t category_count;            /* 0 if it has none */
  const char *attributes_json;        /* such as BIDS's Levels, Units and
                                         Description; "{}" */
};

/* Describes a column by its number, in the table's order, from 0.
 * Errors: RADIO_ERROR_ARGUMENT (no such number). */
RADIO_API enum radio_status
radio_table_get_column (const struct radio_table *table, size_t number,
                        struct radio_column_info *info,
                        size_t info_nbytes) RADIO_USE_RESULT;
#define radio_table_get_column(table, number, info) \
  radio_table_get_column (table, number, info, \
                          sizeof (struct radio_column_info))

/* Finds a column's number.
 * Errors: RADIO_ERROR_NOT_FOUND (the message lists names that there are). */
RADIO_API enum radio_status
radio_table_find_column (const struct radio_table *table, const char *name,
                         size_t *number) RADIO_USE_RESULT;

/* Reads a column of booleans or numbers into the caller's memory: row_count
 * elements of type dtype, into which values are converted as by
 * radio_array_read (RADIO_STORED: info.dtype); nbytes is the buffer's size.
 * valid has room for row_count values: false where one is missing, whose
 * element is then 0, or NaN if dtype is a float.  valid may be NULL: then a
 * missing value is an error unless dtype is a float.
 *
 * Errors: RADIO_ERROR_ARGUMENT (no such number; a column of text, which
 * radio_table_read_text reads; a buffer too small), RADIO_ERROR_RANGE (a value
 * does not fit into dtype, or is missing and valid is NULL),
 * RADIO_ERROR_NOT_FOUND (the generation was removed meanwhile: open the table
 * again), RADIO_ERROR_FORMAT (a code out of range, lengths that differ),
 * RADIO_ERROR_CHECKSUM, RADIO_ERROR_LIMIT, those of reading.  After an error
 * the buffers' content is undefined. */
RADIO_API enum radio_status
radio_table_read (struct radio_table *table, size_t number,
                  enum radio_dtype dtype, void *values, size_t nbytes,
                  bool *valid) RADIO_USE_RESULT;

/* Reads a column as text: of another type as radio prints it (true, 12, 0.5;
 * numbers read back exactly).  text is filled with row_count strings, which the
 * caller frees by radio_strings_free.  valid is as above, but may always be
 * NULL; a missing value is the empty string.
 * Errors: as radio_table_read. */
RADIO_API enum radio_status
radio_table_read_text (struct radio_table *table, size_t number,
                       struct radio_strings *text, bool *valid)
  RADIO_USE_RESULT;

/* Reads the ids of the rows, in their order.  No two are equal.
 * Errors: as radio_table_read; RADIO_ERROR_FORMAT (a missing id, or two
 * equal ones). */
RADIO_API enum radio_status
radio_table_read_ids (struct radio_table *table, struct radio_strings *ids)
  RADIO_USE_RESULT;

/* Reads n columns by their numbers, and the ids, at the same time, which over a
 * network takes one round trip and not one for each.  Each is kept in memory
 * until radio_table_read, radio_table_read_text or radio_table_read_ids has
 * taken it, or the table is closed.  columns NULL: all; n is ignored then.
 * Errors: as radio_table_read. */
RADIO_API enum radio_status
radio_table_read_ahead (struct radio_table *table, const size_t *columns,
                        size_t n) RADIO_USE_RESULT;

/* Reads the categories of a column, in their order, as text.
 * Errors: as radio_table_read; RADIO_ERROR_ARGUMENT (it has none). */
RADIO_API enum radio_status
radio_table_read_categories (struct radio_table *table, size_t number,
                             struct radio_strings *categories)
  RADIO_USE_RESULT;

/* Reads the number of each row's category, -1 where the value is missing, into
 * row_count elements.
 * Errors: as radio_table_read; RADIO_ERROR_ARGUMENT (it has none). */
RADIO_API enum radio_status
radio_table_read_codes (struct radio_table *table, size_t number,
                        int32_t *codes, size_t nbytes) RADIO_USE_RESULT;

/* A table found by radio_table_list.  Valid during the callback.  Later
 * versions may add members at the end. */
struct radio_table_entry {
  const char *path;                   /* "tables/volumes/ct" */
  const char *collection;             /* "ct"; NULL of other tables */
};

/* Called for each table; anything but RADIO_OK ends the listing and is
 * returned. */
typedef enum radio_status
radio_table_entry_fn (const struct radio_table_entry *entry, void *user_data);

/* Lists the tables of a store; of one without tables none.
 * Errors: RADIO_ERROR_EXISTS ("tables" is a collection of volumes: the message
 * says to move it), those of listing. */
RADIO_API enum radio_status
radio_table_list (struct radio_store *store, radio_table_entry_fn *callback,
                  void *user_data) RADIO_USE_RESULT;

/* Changes to a table that are committed together: a list of operations, done
 * in the order in which they were given.  Used by one thread at a time. */
struct radio_table_edit;

/* Begins an edit of the table at a path ("tables/subjects",
 * "tables/volumes/COLLECTION"); nothing is read or written before
 * radio_table_edit_commit.
 * Errors: RADIO_ERROR_ARGUMENT (not the path of a table). */
RADIO_API enum radio_status
radio_table_edit_new (struct radio_store *store, const char *path,
                      struct radio_table_edit **edit) RADIO_USE_RESULT;

/* Releases an edit; what was not committed is forgotten.  NULL is legal. */
RADIO_API void radio_table_edit_free (struct radio_table_edit *edit);

/* Cells of one column.  Zero-filled members are defaults. */
struct radio_cells {
  const char *column;
  enum radio_column_type type;

  /* The values, in the order of the ids: of type dtype, n * its size bytes; or
   * text, if type is RADIO_COLUMN_TEXT (dtype is not used then).  dtype is
   * RADIO_BOOL for booleans, else any integer or float type.  NULL both: all
   * are missing. */
  const void *values;
  enum radio_dtype dtype;
  const struct radio_strings *text;

  /* For each value whether there is one; NULL: all that are not NaN. */
  const bool *valid;

  /* Attributes of the column, a JSON object: each member replaces the one that
   * the column has, null removes it.  NULL: they stay. */
  const char *attributes_json;

  /* If the column exists with another type: give it the new one.  Its other
   * values are converted where they can be (any to text, bool to integer,
   * integer to float, text that is such a value), and are missing where not.
   * False: the commit fails. */
  bool change_type;

  /* Leave a cell that has a value.  False: it is replaced. */
  bool keep_existing;

  /* Fail if a value would be lost: if a missing one replaces it, or if
   * change_type cannot convert it. */
  bool refuse_loss;

  /* For a new column of text: its categories in order, all different.  The
   * column has no order if a value is not among them.  NULL: no order. */
  const struct radio_strings *categories;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[5];
};

/* Adds rows that are not there yet, at the end, with all values missing.  The
 * strings are copied.
 * Errors: RADIO_ERROR_ARGUMENT (an empty or a repeated id, one that is not
 * UTF-8, has a NUL, or more than 1024 bytes). */
RADIO_API enum radio_status
radio_table_edit_add_rows (struct radio_table_edit *edit,
                           const struct radio_strings *ids) RADIO_USE_RESULT;

/* Removes rows; those that are not there are ignored.
 * Errors: as radio_table_edit_add_rows. */
RADIO_API enum radio_status
radio_table_edit_remove_rows (struct radio_table_edit *edit,
                              const struct radio_strings *ids)
  RADIO_USE_RESULT;

/* Sets cells of one column, which is added at the end if it is not there; rows
 * that are not there are ignored (add them first).  Everything is copied.
 * Errors: RADIO_ERROR_ARGUMENT (as above; a name that no column may have: the
 * message suggests one; values that do not have the type; text that is not
 * UTF-8). */
RADIO_API enum radio_status
radio_table_edit_set (struct radio_table_edit *edit,
                      const struct radio_strings *ids,
                      const struct radio_cells *cells) RADIO_USE_RESULT;

/* Drops a column; one that is not there when the edit is committed is an
 * error.
 * Errors: RADIO_ERROR_ARGUMENT (as above). */
RADIO_API enum radio_status
radio_table_edit_drop (struct radio_table_edit *edit, const char *column)
  RADIO_USE_RESULT;

/* Renames a column, which keeps its place.
 * Errors: RADIO_ERROR_ARGUMENT (as above). */
RADIO_API enum radio_status
radio_table_edit_rename (struct radio_table_edit *edit, const char *column,
                         const char *new_name) RADIO_USE_RESULT;

/* A result: later versions may add members at its end. */
struct radio_table_result {
  uint64_t head;                      /* the number of the head that holds the
                                         edit; 0 if nothing had to change */
  uint64_t row_count;                 /* of the table now */
  uint64_t added_count;               /* rows */
  uint64_t removed_count;
  uint64_t merge_count;               /* generations of other writers that it
                                         was merged with */
  uint64_t lost_count;                /* values that are missing now: replaced
                                         by missing ones, or not convertible to
                                         the new type of their column */
};

/* Commits an edit: reads the newest generation, applies the edit to it, writes
 * the result as a new generation, and names it in the next head.  If another
 * writer has taken that number, begins again with what that one wrote: no edit
 * is lost, and of two edits of one cell the later stands.  The table is made if
 * it is missing.  A kill at any time leaves the table as it was or with all of
 * the edit.  If nothing would change, nothing is written.  The edit may be
 * committed again.  result may be NULL.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (a column to drop or rename is not there);
 * RADIO_ERROR_EXISTS (a column of another type, see change_type, or of the new
 * name; a value would be lost, see refuse_loss; or "tables" is a collection of
 * volumes); RADIO_ERROR_FORMAT (the newest generation is damaged, or missing
 * as in a copy that is not complete: see recover of radio_index_options);
 * RADIO_ERROR_LIMIT (too many columns, or the table exceeds the memory limit),
 * those of reading and writing, RADIO_ERROR_CANCELLED (by the store's
 * callback). */
RADIO_API enum radio_status
radio_table_edit_commit (struct radio_table_edit *edit,
                         struct radio_table_result *result,
                         size_t result_nbytes) RADIO_USE_RESULT;
#define radio_table_edit_commit(edit, result) \
  radio_table_edit_commit (edit, result, sizeof (struct radio_table_result))

/* Checks the name of a column: a Zarr node's name (not empty, without '/', not
 * only dots, not beginning with "__", not "zarr.json"), not "_index", valid
 * UTF-8 of at most 200 bytes without control characters.
 * Errors: RADIO_ERROR_ARGUMENT (the message suggests a name to use). */
RADIO_API enum radio_status radio_column_name_check (const char *name)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_TABLE_H */
