/* SPDX-License-Identifier: MIT */
/* Files that commands write: checked before long work, published whole or not
 * at all, and a line printed about each. */
#ifndef RD_OUTPUT_TOOL_H
#define RD_OUTPUT_TOOL_H

#include "src/base/atomic-file.h"
#include "tools/names.h"

/* True if the name of a file has this suffix. */
bool rd_has_suffix (const char *file, const char *suffix);

/* Checks that the suffix is one of .nii, .nii.gz, .npy, and with png .png, and
 * can hold scaled values; false after a usage error. */
bool rd_output_check (struct rd_args *args, const char *file, bool png,
                      bool scaled);

/* Export a volume or array, or a box of it (NULL: all).  *details, allocated,
 * is what rd_output_print is to be given.  Return an exit status; print
 * errors. */
int rd_output_volume (const struct rd_target *target,
                      const struct radio_box *box, const char *file,
                      const struct radio_export_options *options,
                      char **details);
int rd_output_array (const struct rd_target *target,
                     const struct radio_box *box, const char *file,
                     const struct radio_export_options *options,
                     char **details);

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

/* Prints "wrote FILE: DETAILS, SIZE". */
void rd_output_print (const char *file, const char *details);

#endif /* RD_OUTPUT_TOOL_H */
