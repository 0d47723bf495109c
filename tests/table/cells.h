/* SPDX-License-Identifier: MIT */
/* Small tables of tests: lists of strings, cells set, and a column as text. */
#ifndef RD_TESTS_CELLS_H
#define RD_TESTS_CELLS_H

#include <radio/table.h>

#include "tests/unit.h"

/* Strings of a text, separated by ','; freed by radio_strings_free. */
struct radio_strings split (const char *text);

/* Adds rows of ids. */
enum radio_status add_rows (struct radio_table_edit *edit, const char *ids);

/* Sets cells of text, "a,b,c"; those that are "-" are missing. */
enum radio_status set_text (struct radio_table_edit *edit, const char *ids,
                            const char *column, const char *values);

/* Sets cells of integers. */
enum radio_status set_integers (struct radio_table_edit *edit,
                                const char *ids, const char *column,
                                const int64_t *values);

/* Commits an edit of one cell of text; its row is added if it is missing. */
enum radio_status commit_cell (struct radio_store *store, const char *path,
                               const char *id, const char *column,
                               const char *value);

/* The table has these rows, and a column (NULL: its ids) these values: "a,b,c",
 * those that are missing as "-". */
void assert_column (struct radio_table *table, const char *column,
                    const char *values);

/* The same of the newest generation. */
void assert_newest (struct radio_store *store, const char *path,
                    const char *column, const char *values);

#endif /* RD_TESTS_CELLS_H */
