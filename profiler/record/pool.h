/* SPDX-License-Identifier: MIT */
/* The chunks of all logs of a recorder: bounded, and faulted in before a
 * scope writes to them, since the first touch of a page costs more than many
 * scopes. */
#ifndef RD_POOL_H
#define RD_POOL_H

#include "profiler/record/record.h"

/* A pool for max_spans spans at most, of which those with an extra count
 * twice; some of it is faulted in at once.  NULL: no memory for that
 * many. */
struct rd_pool *rd_pool_new (size_t max_spans);

/* NULL is legal. */
void rd_pool_free (struct rd_pool *pool);

/* Slots in each chunk; 2 at least, unless there may be only one span. */
size_t rd_pool_chunk_slots (const struct rd_pool *pool);

/* An unused chunk for a writer that has nchunks.  NULL: there is none, or
 * those left are kept for writers that have next to nothing.  Thread-safe.
 */
struct rd_chunk *rd_pool_take (struct rd_pool *pool, size_t nchunks);

/* Give back a list of chunks.  Thread-safe. */
void rd_pool_give (struct rd_pool *pool, struct rd_chunk *chunks);

#endif /* RD_POOL_H */
