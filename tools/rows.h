/* SPDX-License-Identifier: MIT */
/* Keeping the rows of volumes in step with volumes that a command writes or
 * removes. */
#ifndef RD_TOOLS_ROWS_H
#define RD_TOOLS_ROWS_H

#include "tools/tool.h"

/* Volumes whose rows are to be written, in a store that has tables. */
struct rd_row_changes {
  struct radio_store *store;
  const char *name;           /* the store's, for messages */
  bool makes_tables;          /* also in a store without tables */
  bool failed;                /* some rows were not written */
  char **paths;               /* of volumes; owned */
  size_t n, capacity;
};

/* Adds a volume; after every 256 of them their rows are written.  Errors are
 * printed, and kept. */
void rd_row_changes_add (struct rd_row_changes *changes, const char *path);

/* Writes the rows of those that were added since.  What cannot be written is
 * not lost: the error names radio index.  Returns an exit status, which is also
 * of those written before. */
int rd_row_changes_write (struct rd_row_changes *changes);

void rd_row_changes_clear (struct rd_row_changes *changes);

#endif /* RD_TOOLS_ROWS_H */
