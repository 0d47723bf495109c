/* SPDX-License-Identifier: MIT */
/* Files that the command itself writes: checked before long work, and
 * published whole or not at all. */
#ifndef RD_NEW_FILE_H
#define RD_NEW_FILE_H

#include "src/base/atomic-file.h"
#include "tools/tool.h"

/* A file that is being written: its content appears under the name with
 * rd_new_file_end. */
struct rd_new_file {
  const char *name;           /* outlives it */
  bool overwrite;
  struct rd_atomic_file atomic;
  FILE *stream;
};

/* Checks that a file can be made there: no file exists, unless it may be
 * overwritten, and its folder can be written.  Returns an exit status, after
 * printing errors. */
int rd_new_file_check (const char *name, bool overwrite);

/* Begins a file whose name and overwrite are set.  Returns an exit status,
 * after printing errors; on failure there is nothing to end. */
int rd_new_file_open (struct rd_new_file *file);

/* Puts the file in its place, or removes it if its writer failed with this
 * errno (0: it did not).  Returns an exit status, after printing errors. */
int rd_new_file_end (struct rd_new_file *file, int errnum);

#endif /* RD_NEW_FILE_H */
