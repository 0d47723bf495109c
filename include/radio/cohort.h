/* SPDX-License-Identifier: MIT */
/* Cohorts: the volumes and subjects of a store by the rows of its tables
 * (radio/table.h), and views of them: selections by a query.
 *
 * A cohort holds the generations of the tables that were the newest when each
 * was needed first, so all its views agree.  The tables say what was indexed;
 * the documents are authoritative: a volume without a row is in no view, and
 * opening one that was removed meanwhile fails as not found (radio/index.h
 * repairs both).
 *
 * A query is a text such as
 *
 *   age >= 18 and site in ("A", "B") and not has(seg)
 *
 * as the section QUERIES of radio(1) defines.  A value that is missing makes a
 * condition unknown, as in SQL, and rows whose condition is unknown are not
 * selected, nor by its negation.  Integers compare exactly, also with floats;
 * text by its bytes. */
#ifndef RADIO_COHORT_H
#define RADIO_COHORT_H

#include <radio/base.h>
#include <radio/dtype.h>
#include <radio/store.h>
#include <radio/strings.h>
#include <radio/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tables of a store.  It may be used by several threads at once; their
 * selections are made one after the other. */
struct radio_cohort;

/* Rows of one cohort that were selected, in an order that does not depend on
 * how: by collection, and in a collection as in its table.  A view never
 * changes, and any number of threads may use it without a lock.  It holds the
 * cohort, and 8 bytes for each row. */
struct radio_view;

/* Opens the cohort of a store, which stays open as long as needed.  Finds its
 * tables, and reads none.  Where nothing can be listed, over HTTP, the table of
 * a collection is looked for when that is named (by collection of
 * radio_select_options, or in a query by has ()), and rows are ordered by when
 * their collection was.
 * Errors: RADIO_ERROR_EXISTS ("tables" is a collection of volumes), those of
 * listing. */
RADIO_API enum radio_status
radio_cohort_open (struct radio_store *store, struct radio_cohort **cohort)
  RADIO_USE_RESULT;

/* Releases a cohort; its views stay valid.  NULL is legal. */
RADIO_API void radio_cohort_close (struct radio_cohort *cohort);

/* Returns whether the store has tables, as radio_cohort_open found. */
RADIO_API bool radio_cohort_has_tables (const struct radio_cohort *cohort);

/* Opens the table of a collection, or with NULL that of subjects, in the
 * generation that the views of the cohort have; it is read as any other, and
 * closed by radio_table_close, before or after the cohort.  A selection that
 * was made before has opened it.
 * Errors: RADIO_ERROR_NOT_FOUND (no such table, or nothing was written to it),
 * those of radio_table_open. */
RADIO_API enum radio_status
radio_cohort_table (struct radio_cohort *cohort, const char *collection,
                    struct radio_table **table) RADIO_USE_RESULT;

/* Zero-filled members are defaults: all volumes that have a row. */
struct radio_select_options {
  const char *where;                  /* a query; NULL: all rows */
  const char *collection;             /* only its volumes; NULL: of all */
  bool subjects;                      /* select subjects instead of volumes */

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[5];
};

/* Selects rows.  Reads the ids, and the columns that the query names, from the
 * collection's table, or from all, and from the table of subjects, each once
 * for a cohort.  A name is looked up in the tables of the selected volumes and
 * in the table of subjects; one that only other collections have is missing
 * everywhere.  options may be NULL.
 *
 * error_at may be NULL.  After an error at a place in the query it is set to
 * the number of bytes before that place, else to SIZE_MAX.
 *
 * Errors: RADIO_ERROR_ARGUMENT (a query that is wrong: the message says at
 * which byte, what was expected there, and names that are similar);
 * RADIO_ERROR_LIMIT (a query of more than 1 MiB, more than 200 open
 * parentheses, or more memory than the limit); RADIO_ERROR_UNSUPPORTED (volumes
 * of all collections, where nothing can be listed); RADIO_ERROR_NOT_FOUND (no
 * table of subjects, of volumes, or of the collection's; a generation was
 * removed meanwhile: open the cohort again); those of radio_table_open and of
 * radio_table_read. */
RADIO_API enum radio_status
radio_cohort_select (struct radio_cohort *cohort,
                     const struct radio_select_options *options,
                     struct radio_view **view, size_t *error_at)
  RADIO_USE_RESULT;

/* Checks a query without its columns, which a selection looks for.
 * Errors: RADIO_ERROR_ARGUMENT, RADIO_ERROR_LIMIT, RADIO_ERROR_MEMORY, and
 * error_at, as radio_cohort_select has. */
RADIO_API enum radio_status
radio_query_check (const char *where, size_t *error_at) RADIO_USE_RESULT;

/* Releases a view.  NULL is legal. */
RADIO_API void radio_view_free (struct radio_view *view);

/* Returns the number of rows. */
RADIO_API uint64_t radio_view_count (const struct radio_view *view);

/* Returns the id of row i, from 0: the path of a volume, "ct/sub-01", or a
 * subject's id; NULL if there is no such row.  Takes constant time.  Valid as
 * long as the view. */
RADIO_API const char *radio_view_id (const struct radio_view *view,
                                     uint64_t i);

/* Returns the number of row i in its table, from 0, in the generation that
 * radio_cohort_table opens; UINT64_MAX if there is no such row. */
RADIO_API uint64_t radio_view_row (const struct radio_view *view, uint64_t i);

/* Finds the row of an id, in logarithmic time; false: it is not in the view.
 * i may be NULL. */
RADIO_API bool radio_view_find (const struct radio_view *view, const char *id,
                                uint64_t *i);

/* Make a view of the rows that are in a or b; in a and not in b.
 * Errors: RADIO_ERROR_ARGUMENT (views of two cohorts; one of subjects and one
 * of volumes), RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_view_union (const struct radio_view *a, const struct radio_view *b,
                  struct radio_view **view) RADIO_USE_RESULT;
RADIO_API enum radio_status
radio_view_difference (const struct radio_view *a, const struct radio_view *b,
                       struct radio_view **view) RADIO_USE_RESULT;

/* Properties of a column in a view.  A result: later versions may add members
 * at its end. */
struct radio_view_column {
  enum radio_column_type type;
  enum radio_dtype dtype;             /* as stored, or one that the values of
                                         several collections have in common;
                                         RADIO_STORED of text */
  bool of_subjects;                   /* it is of the table of subjects */
};

/* Finds a column by its name: in the table of the volumes, or in the table of
 * subjects, whose values their volumes then have.  If both have the name, it is
 * "volume.NAME" or "subject.NAME", as in a query, but never quoted.  "subject"
 * is a volume's subject.  In rows of a collection whose table lacks the column
 * all values are missing.  Reads the column, which the cohort then keeps.
 *
 * Errors: RADIO_ERROR_ARGUMENT (no such column: the message has names that are
 * similar; both tables have it; columns of the collections that have the name
 * do not compare with each other), RADIO_ERROR_NOT_FOUND (the generation was
 * removed meanwhile: open the cohort again), those of radio_table_read. */
RADIO_API enum radio_status
radio_view_get_column (const struct radio_view *view, const char *column,
                       struct radio_view_column *info, size_t info_nbytes)
  RADIO_USE_RESULT;
#define radio_view_get_column(view, column, info) \
  radio_view_get_column (view, column, info, \
                         sizeof (struct radio_view_column))

/* Reads a column of booleans or numbers into the caller's memory, in the order
 * of the view's rows: radio_view_count elements of type dtype, into which
 * values are converted as by radio_array_read (RADIO_STORED: info.dtype);
 * nbytes is the buffer's size.  valid has room for as many values: false where
 * one is missing, whose element is then 0, or NaN if dtype is a float.  valid
 * may be NULL: then a missing value is an error unless dtype is a float.
 *
 * Errors: as radio_view_get_column; RADIO_ERROR_ARGUMENT (a column of text,
 * which radio_view_read_text reads; a buffer too small), RADIO_ERROR_RANGE (a
 * value does not fit into dtype, or is missing and valid is NULL),
 * RADIO_ERROR_LIMIT.  After an error the buffers' content is undefined. */
RADIO_API enum radio_status
radio_view_read (const struct radio_view *view, const char *column,
                 enum radio_dtype dtype, void *values, size_t nbytes,
                 bool *valid) RADIO_USE_RESULT;

/* Reads a column as text: of another type as radio prints it (true, 12, 0.5;
 * numbers read back exactly).  text is filled with radio_view_count strings,
 * which the caller frees by radio_strings_free.  valid is as above, but may
 * always be NULL; a missing value is the empty string.
 * Errors: as radio_view_read. */
RADIO_API enum radio_status
radio_view_read_text (const struct radio_view *view, const char *column,
                      struct radio_strings *text, bool *valid)
  RADIO_USE_RESULT;

/* Sets *key to a number of an id that depends on nothing but it and the seed.
 * A sample of N rows is the N with the smallest keys, so it is the same on
 * every machine and in any order, and adding rows replaces as few as can be.
 * It is the first 8 bytes of SHA-256, most significant first, of the seed in
 * decimal, a colon and the id.
 * Errors: RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_sample_key (uint64_t seed, const char *id, uint64_t *key)
  RADIO_USE_RESULT;

/* The bytes of a pseudonym, and the NUL at its end. */
#define RADIO_PSEUDONYM_NBYTES 17

/* Writes the pseudonym of an id, which depends only on the id and the key, and
 * can be computed only with the key: the first 16 digits of HMAC-SHA-256 (RFC
 * 2104) of the id's bytes, in lower-case hexadecimal.  Two of a million ids
 * have the same pseudonym with a probability of 3e-8.
 * Errors: RADIO_ERROR_ARGUMENT (a key of less than 16 bytes),
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_pseudonym (const void *key, size_t key_nbytes, const char *id,
                 char pseudonym[RADIO_PSEUDONYM_NBYTES]) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_COHORT_H */
