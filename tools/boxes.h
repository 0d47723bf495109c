/* SPDX-License-Identifier: MIT */
/* Boxes on the command line, in NIfTI order with named axes:
 * --x 10:74 --y : --z 100:164, or --at X,Y,Z --size 64. */
#ifndef RD_BOXES_H
#define RD_BOXES_H

#include "tools/options.h"

#define RD_BOX_OPTIONS                                                  \
  { RD_OPTION_X, "x", "RANGE",                                          \
    "voxels along x: 10:74 is 10 to 73, 10: from 10,\n"                 \
    ":74 up to 73, 10 only that one, : all (default)" },                \
  { RD_OPTION_Y, "y", "RANGE", "voxels along y" },                      \
  { RD_OPTION_Z, "z", "RANGE", "voxels along z" },                      \
  { RD_OPTION_T, "t", "RANGE", "points in time of a 4-D image" },       \
  { RD_OPTION_C, "c", "RANGE", "channels" },                            \
  { RD_OPTION_AT, "at", "X,Y,Z", "the box's first voxel; with --size" },\
  { RD_OPTION_SIZE, "size", "N|X,Y,Z",                                  \
    "the box's size in voxels; without --at it is centred" }

struct rd_range {
  bool given, has_start, has_end;
  uint64_t start, end;
};

/* The axes x, y, z, t, c. */
#define RD_BOX_NAXES 5

struct rd_box_options {
  struct rd_range ranges[RD_BOX_NAXES];
  bool has_at, has_size;
  uint64_t at[3], size[3];
};

/* Parses "10:74", ":", "10:", ":74" or "10".  NULL, or why it is invalid. */
const char *rd_range_parse (const char *text, struct rd_range *range);

/* Handles one of the options above: 1, 0 for any other, -1 after a usage
 * error. */
int rd_box_take (struct rd_args *args, int id, struct rd_box_options *box);

/* True if any was given; and if they are consistent (false after a usage
 * error). */
bool rd_box_given (const struct rd_box_options *box);
bool rd_box_consistent (struct rd_args *args,
                        const struct rd_box_options *box);

/* Resolves the box in an array whose axes are named by one letter each,
 * slowest first ("zyx").  Returns an exit status; prints errors. */
int rd_box_resolve (const struct rd_box_options *options, const char *axes,
                    const uint64_t *shape, struct radio_box *box);

/* Names the axes of an array: by its dimension names or, where it has none,
 * as the last of "tczyx".  '?' is an axis without a known name. */
void rd_array_axes (const struct radio_array_info *info,
                    char axes[RADIO_MAX_RANK + 1]);

#endif /* RD_BOXES_H */
