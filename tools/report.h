/* SPDX-License-Identifier: MIT */
/* Output of figures: tables of aligned columns, histograms of bars, and the
 * lines of written volumes. */
#ifndef RD_REPORT_H
#define RD_REPORT_H

#include "tools/tool.h"

struct rd_table {
  size_t ncolumns;
  const char *alignment;      /* a letter a column: 'l' or 'r' */
  char **cells;               /* row by row; the first one has the titles */
  size_t ncells, capacity;
  size_t *widths;             /* of the columns, on a terminal */
};

/* Adds a cell, a copy of text; rows fill from left to right.  False without
 * memory, after an error. */
bool rd_table_add (struct rd_table *table, const char *text);

/* Adds a row of cells. */
bool rd_table_add_row (struct rd_table *table, const char *const *cells);

/* Prints all rows; the titles are bold on a terminal. */
void rd_table_print (const struct rd_table *table, FILE *file);

void rd_table_clear (struct rd_table *table);

/* Lines of the printed histogram; each joins several bins. */
#define RD_HISTOGRAM_NLINES 16

/* Prints the bars, in blocks of an eighth where the locale is UTF-8 and in
 * '#' elsewhere. */
void rd_histogram_print (FILE *file, const struct radio_stats *stats);

/* A bar for part of a whole, at most RD_BAR_WIDTH columns; never empty unless
 * part is 0. */
#define RD_BAR_WIDTH 40
#define RD_BAR_NBYTES (3 * (RD_BAR_WIDTH + 1) + 1)
const char *rd_histogram_bar (uint64_t part, uint64_t whole, bool utf8,
                              char text[RD_BAR_NBYTES]);

/* Volumes that a command has written. */
struct rd_written {
  size_t nwritten, nskipped, nfailed;
  uint64_t source_nbytes, stored_nbytes;
};

void rd_written_add (struct rd_written *written,
                     const struct radio_ingest_result *result);

/* Prints the line of one, below those of others: path_width is the widest
 * path's, in columns. */
void rd_written_print (const char *path, size_t path_width,
                       const struct radio_ingest_result *result);

/* Prints the line of all.  The rate is of nbytes, followed by did: " read", or
 * "". */
void rd_written_print_sum (const struct rd_written *written, double seconds,
                           uint64_t nbytes, const char *did);

#endif /* RD_REPORT_H */
