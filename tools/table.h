/* SPDX-License-Identifier: MIT */
/* Tables of aligned columns, as wide as their widest cell. */
#ifndef RD_TABLE_H
#define RD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RD_TABLE_MAX_COLUMNS 12

struct rd_table {
  size_t ncolumns;
  const char *alignment;      /* a letter a column: 'l' or 'r' */
  char **cells;               /* row by row; the first one has the titles */
  size_t ncells, capacity;
};

/* Add a cell, a copy of text; rows fill from left to right.  False (after
 * complaining) without memory. */
bool rd_table_add (struct rd_table *table, const char *text);

/* Print all rows; the titles are bold on a terminal. */
void rd_table_print (const struct rd_table *table, FILE *file);

void rd_table_clear (struct rd_table *table);

#endif /* RD_TABLE_H */
