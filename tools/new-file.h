/* SPDX-License-Identifier: MIT */
/* Files that the command itself writes: looked for before long work, and
 * there as a whole or not at all. */
#ifndef RD_NEW_FILE_H
#define RD_NEW_FILE_H

#include "tools/tool.h"

/* A file that is being written: what stream takes appears under the name
 * when rd_new_file_end says so. */
struct rd_new_file {
  const char *name;           /* outlives it */
  bool overwrite;
  char *target;               /* the name, links resolved */
  char *temporary;            /* a hidden name beside that */
  FILE *stream;
};

/* Whether a file can be made there: none is there unless it may be
 * overwritten, and its folder can be written.  Returns an exit status, after
 * complaining. */
int rd_new_file_check (const char *name, bool overwrite);

/* Begin: name and overwrite are set.  Returns an exit status, after
 * complaining; on failure there is nothing to end. */
int rd_new_file_open (struct rd_new_file *file);

/* Put the file in its place, or throw it away, where its writer failed with
 * this errno (0: it did not).  Returns an exit status, after complaining. */
int rd_new_file_end (struct rd_new_file *file, int errnum);

#endif /* RD_NEW_FILE_H */
