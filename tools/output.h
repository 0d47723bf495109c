/* SPDX-License-Identifier: MIT */
/* Files that commands write: suffixes checked early, and what was written
 * told at the end. */
#ifndef RD_OUTPUT_TOOL_H
#define RD_OUTPUT_TOOL_H

#include "tools/names.h"

/* Whether a file's name ends so. */
bool rd_has_suffix (const char *file, const char *suffix);

/* Whether the suffix is one of .nii, .nii.gz, .npy, and with png .png, and
 * fits to --scaled; false after telling. */
bool rd_output_check (struct rd_args *args, const char *file, bool png,
                      bool scaled);

/* Export a volume or array, or a box of it (NULL: all), and tell it.
 * Returns an exit status, after complaining. */
int rd_output_volume (const struct rd_target *target,
                      const struct radio_box *box, const char *file,
                      const struct radio_export_options *options);
int rd_output_array (const struct rd_target *target,
                     const struct radio_box *box, const char *file,
                     const struct radio_export_options *options);

/* Print "wrote FILE: DETAILS, SIZE". */
void rd_output_tell (const char *file, const char *details);

#endif /* RD_OUTPUT_TOOL_H */
