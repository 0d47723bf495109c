/* SPDX-License-Identifier: MIT */
/* Making room in a full log. */
#ifndef RD_COMPACT_H
#define RD_COMPACT_H

#include "profiler/record/log.h"

/* Drop at least half of the writer's spans, all of whose chunks are full:
 * the shortest, but not the first few of each node.  Raises the thresholds
 * of the nodes accordingly, gives chunks that became empty back to the pool,
 * and leaves the writer at the end of what was kept. */
void rd_log_compact (struct rd_writer_state *writer, size_t chunk_slots);

#endif /* RD_COMPACT_H */
