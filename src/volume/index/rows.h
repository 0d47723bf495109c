/* SPDX-License-Identifier: MIT */
/* Rows of volumes: the derived columns of each, and their ids. */
#ifndef RD_INDEX_ROWS_H
#define RD_INDEX_ROWS_H

#include <radio/table.h>
#include <radio/volume.h>

#include "src/base/buffer.h"
#include "src/table/texts.h"

/* The strings of a list, which stay its own. */
static inline struct radio_strings
rd_list_strings (const struct rd_text_list *list)
{
  return (struct radio_strings) { list->n, list->offsets,
                                  (char *) list->bytes.data };
}

RD_DEFINE_CLEANUP (table, struct radio_table, radio_table_close);
RD_DEFINE_CLEANUP (edit, struct radio_table_edit, radio_table_edit_free);

/* Reads the ids of a table, the levels of its rows, unless levels is NULL, and
 * the number of its head; no ids and 0 if the table is missing.  There are no
 * levels if it has no such column of text. */
enum radio_status rd_index_read_ids (struct radio_store *store,
                                     const char *path,
                                     struct radio_strings *ids,
                                     struct radio_strings *levels,
                                     uint64_t *head) RADIO_USE_RESULT;

/* As radio_store_index_volumes, of paths of one collection, but only while its
 * table's newest head is this one: else RADIO_ERROR_EXISTS, *is_overtaken, and
 * nothing was written. */
enum radio_status rd_index_paths_at (struct radio_store *store,
                                     const char *const *paths, size_t n,
                                     uint64_t head, bool *is_overtaken)
  RADIO_USE_RESULT;

/* The number of derived columns. */
#define RD_ROW_NCOLUMNS 16

/* Rows in columns, with their ids. */
struct rd_rows {
  struct rd_text_list ids;
  struct rd_text_list texts[RD_ROW_NCOLUMNS];     /* of columns of text */
  struct rd_buffer values[RD_ROW_NCOLUMNS];   /* int64_t or double, of others */
  struct rd_buffer valid[RD_ROW_NCOLUMNS];    /* bool */
};

/* Adds the row of a volume, by its path in the store. */
enum radio_status rd_rows_add (struct rd_rows *rows, const char *path,
                               const struct radio_volume *volume)
  RADIO_USE_RESULT;

/* The levels of the rows, "" of one without a level; they stay the rows'. */
struct radio_strings rd_rows_levels (const struct rd_rows *rows);

/* Adds to an edit that all derived columns of the rows are set. */
enum radio_status rd_rows_set (const struct rd_rows *rows,
                               struct radio_table_edit *edit)
  RADIO_USE_RESULT;

/* Finds the rows of the table at a path whose derived columns have other values
 * than these rows; found is called with the path of each, in the order of these
 * rows, and radio_error_message says which value it is. */
typedef enum radio_status rd_stale_fn (const char *path, void *user_data);
enum radio_status rd_rows_find_stale (const struct rd_rows *rows,
                                      struct radio_store *store,
                                      const char *path, rd_stale_fn *found,
                                      void *user_data) RADIO_USE_RESULT;

/* Empties the rows. */
void rd_rows_free (struct rd_rows *rows);
#define RD_ROWS_SCOPE RD_CLEANUP (rd_rows_free)

/* The subject that a volume's name begins with, its length; and the session,
 * "ses-2", of *nsession bytes, NULL without one. */
size_t rd_name_subject (const char *name, const char **session,
                        size_t *nsession);

#endif /* RD_INDEX_ROWS_H */
