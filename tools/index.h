/* SPDX-License-Identifier: MIT */
/* Keeping the rows of volumes in step with volumes that a command writes or
 * removes. */
#ifndef RD_TOOLS_INDEX_H
#define RD_TOOLS_INDEX_H

#include "tools/tool.h"

/* Volumes whose rows are to be written, in a store that has tables. */
struct rd_row_changes {
  char **paths;               /* of volumes; owned */
  size_t n, capacity;
  bool makes_tables;          /* also in a store without tables */
};

/* Rows are written at the latest after this many volumes. */
#define RD_ROW_CHANGES_MAX 256

/* Adds a volume.  False without memory, after an error. */
bool rd_row_changes_add (struct rd_row_changes *changes, const char *path);

/* Writes the rows of those that were added, and forgets them; name is the
 * store's.  What cannot be written is not lost: the error names radio index.
 * Returns an exit status. */
int rd_row_changes_write (struct rd_row_changes *changes,
                          struct radio_store *store, const char *name);

void rd_row_changes_clear (struct rd_row_changes *changes);

#endif /* RD_TOOLS_INDEX_H */
