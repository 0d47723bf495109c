/* SPDX-License-Identifier: MIT */
/* What `export' and `roi' share: a box of a volume that goes into a file. */
#ifndef RD_BOX_FILE_H
#define RD_BOX_FILE_H

#include "tools/boxes.h"
#include "tools/names.h"

struct rd_box_file {
  const char *file;
  struct rd_box_options box;
  struct radio_export_options options;
};

extern const struct rd_option rd_box_file_options[];

/* Take the options above and the operand VOLUME; false after telling a
 * mistake. */
bool rd_box_file_parse (struct rd_args *args, struct rd_box_file *wanted);

/* Export the box, or all where none is given, of a volume.  Returns an exit
 * status, after complaining. */
int rd_box_file_export (const struct rd_box_file *wanted,
                        const struct rd_target *target);

#endif /* RD_BOX_FILE_H */
