/* SPDX-License-Identifier: MIT */
/* Statistics of the voxels of several volumes together, or of those that a mask
 * chooses. */
#ifndef RD_STATS_GROUP_H
#define RD_STATS_GROUP_H

#include "tools/options.h"
#include "tools/stats/figures.h"

#define RD_MAX_LABELS 256

/* The groups and figures that the options ask for. */
struct rd_group_request {
  bool is_given;              /* any of them */
  bool pool;                  /* all volumes together */
  const char *by;             /* the same for each value of this column */
  const char *mask;           /* a collection of masks */
  int64_t labels[RD_MAX_LABELS];
  double percents[RADIO_GROUP_MAX_PERCENTS];
  struct radio_group_options options;
};

#define RD_GROUP_OPTIONS                                                \
  { RD_OPTION_POOL, "pool", NULL,                                       \
    "of all voxels of the volumes together" },                          \
  { RD_OPTION_BY, "by", "COLUMN",                                       \
    "of those of each value of a column, as site" },                    \
  { RD_OPTION_MASK, "mask", "COLLECTION",                               \
    "of voxels where the mask of the same subject and\n"                \
    "session there is above 0" },                                       \
  { RD_OPTION_LABEL, "label", "N,...",                                  \
    "of each of these labels of the mask instead" },                    \
  { RD_OPTION_IGNORE_LABEL, "ignore-label", "N",                        \
    "without voxels of this label" },                                   \
  { RD_OPTION_PERCENTILES, "percentiles", "P,...",                      \
    "these percentiles, as 0.5,99.5" },                                 \
  { RD_OPTION_BINS, "bins", "N", "a histogram of N bins of --range" },  \
  { RD_OPTION_RANGE, "range", "LO,HI", "the range of all bins" }

/* Takes one of these options: 1, 0 for any other, -1 after a usage error. */
int rd_group_take (struct rd_args *args, int id,
                   struct rd_group_request *request);

/* Checks that options go together; false after a usage error. */
bool rd_group_consistent (struct rd_args *args,
                          struct rd_group_request *request);

/* Prints the statistics of the volumes that the operands name.  Returns an exit
 * status; prints errors. */
int rd_group_run (struct rd_args *args,
                  const struct rd_group_request *request);

#endif /* RD_STATS_GROUP_H */
