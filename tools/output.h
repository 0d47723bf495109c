/* SPDX-License-Identifier: MIT */
/* Files that commands write: suffixes checked early, and a line printed about
 * each file written. */
#ifndef RD_OUTPUT_TOOL_H
#define RD_OUTPUT_TOOL_H

#include "tools/names.h"

/* True if the name of a file has this suffix. */
bool rd_has_suffix (const char *file, const char *suffix);

/* Checks that the suffix is one of .nii, .nii.gz, .npy, and with png .png, and
 * can hold scaled values; false after a usage error. */
bool rd_output_check (struct rd_args *args, const char *file, bool png,
                      bool scaled);

/* Export a volume or array, or a box of it (NULL: all), and print a line about
 * it.  Return an exit status; print errors. */
int rd_output_volume (const struct rd_target *target,
                      const struct radio_box *box, const char *file,
                      const struct radio_export_options *options);
int rd_output_array (const struct rd_target *target,
                     const struct radio_box *box, const char *file,
                     const struct radio_export_options *options);

/* Prints "wrote FILE: DETAILS, SIZE". */
void rd_output_print (const char *file, const char *details);

#endif /* RD_OUTPUT_TOOL_H */
