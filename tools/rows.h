/* SPDX-License-Identifier: MIT */
/* Keeping the rows of volumes in step with volumes that a command writes or
 * removes. */
#ifndef RD_TOOLS_ROWS_H
#define RD_TOOLS_ROWS_H

#include <radio/index.h>

#include "tools/tool.h"

/* Volumes whose rows are to be written, in a store that has tables. */
struct rd_row_changes {
  struct radio_store *store;
  const char *name;           /* the store's, for messages */
  bool makes_tables;          /* also in a store without tables */
  struct radio_index_copies_options copies;       /* how rows go with them */
  bool failed;                /* some rows were not written */
  char **paths;               /* of volumes; owned */
  struct radio_store *from;   /* that they were copied from; NULL: none */
  char **from_paths;          /* of each of them; owned */
  size_t n, capacity;

  /* Copies are the ends of moves, whose sources were removed; and the tables
   * before the rows were copied, which stay open. */
  bool ends_moves;
  struct radio_table *const *before;
  size_t nbefore;
};

/* Adds a volume; after every 256 of them their rows are written.  Errors are
 * printed, and kept. */
void rd_row_changes_add (struct rd_row_changes *changes, const char *path);

/* Adds a copy of a volume of another store or of the same, which stays open:
 * the user's columns go with it, and a store without tables gets those that the
 * other one has. */
void rd_row_changes_add_copy (struct rd_row_changes *changes,
                              const char *path, struct radio_store *from,
                              const char *from_path);

/* The same for a volume whose removal failed or was cancelled, if it is gone:
 * only a part of its data is left then. */
void rd_row_changes_add_gone (struct rd_row_changes *changes,
                              const char *path);

/* Writes the rows of those that were added since.  What cannot be written is
 * not lost: the error names radio index, or radio table for a column that has
 * another type there.  Returns an exit status, which is also
 * of those written before. */
int rd_row_changes_write (struct rd_row_changes *changes);

void rd_row_changes_clear (struct rd_row_changes *changes);

#endif /* RD_TOOLS_ROWS_H */
