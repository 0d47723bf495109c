/* SPDX-License-Identifier: MIT */
/* How many bytes a node moved: it counts the same ones as asked for, fetched,
 * decoded and delivered, so one counter says it, not their sum. */
#ifndef RD_MOVED_H
#define RD_MOVED_H

#include "profiler/model/profile.h"

struct rd_move {
  const char *counter;
  const char *word;
};

/* What says best what an operation did, first. */
#define RD_NMOVES 7
extern const struct rd_move rd_moves[RD_NMOVES];

/* By the first of these counters that the node has (inclusive: or any below
 * it), else by the largest one of unit "bytes"; 0: none. */
uint64_t rd_moved (const struct radio_profile *profile, size_t node,
                   bool inclusive);

#endif /* RD_MOVED_H */
