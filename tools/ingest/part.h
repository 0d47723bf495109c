/* SPDX-License-Identifier: MIT */
/* The part of a list that one of several processes takes: --part K/N, or as
 * the environment of a batch system or of MPI says. */
#ifndef RD_TOOLS_INGEST_PART_H
#define RD_TOOLS_INGEST_PART_H

#include "tools/options.h"

struct rd_part {
  uint64_t index, count;      /* count 0: all of the list */
};

/* Parses the value of the option that was just returned: "K/N" with K from 1
 * to N, or "auto".  False after a usage error. */
bool rd_part_take (struct rd_args *args, struct rd_part *part);

/* True if the i-th of a list, from 0, is in the part.  Parts have each index
 * once, and differ by one in length at most. */
bool rd_part_has (const struct rd_part *part, uint64_t i);

#endif /* RD_TOOLS_INGEST_PART_H */
