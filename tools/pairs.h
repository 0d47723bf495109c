/* SPDX-License-Identifier: MIT */
/* Options of comparing the volumes of the same subjects and sessions, as check
 * and validate do. */
#ifndef RD_TOOLS_PAIRS_H
#define RD_TOOLS_PAIRS_H

#include "tools/options.h"

struct rd_pairs {
  struct radio_pairs_options options;
  const char **masks, **complete;     /* the lists in options; owned */
};

#define RD_PAIRS_OPTIONS                                                \
  { RD_OPTION_COMPLETE, "complete", "LIST",                             \
    "collections, as ct,seg, that must have volumes of\n"               \
    "the same subjects, sessions and runs" },                           \
  { RD_OPTION_MASKS, "masks", "LIST",                                   \
    "collections of masks, besides those of labels" },                  \
  { RD_OPTION_TOLERANCE, "tolerance", "VOXELS",                         \
    "how far apart voxels may lie (default: 0.001)" }

/* Takes one of these options: 1, 0 for any other, -1 after an error. */
int rd_pairs_take (struct rd_args *args, int id, struct rd_pairs *pairs);

void rd_pairs_clear (struct rd_pairs *pairs);

#endif /* RD_TOOLS_PAIRS_H */
