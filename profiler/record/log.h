/* SPDX-License-Identifier: MIT */
/* The log of one writer: single spans, in chunks of the span memory that all
 * writers of a recorder share.  When that is used up, the writer that needs
 * more drops its shortest spans, all but the first few of each node, and from
 * then on does not log spans as short as these; or, if the log is a ring, it
 * drops those in its oldest chunk.  All of it is called between
 * rd_writer_enter and rd_writer_leave (or, for the writer of requests, under
 * the recorder's mutex). */
#ifndef RD_LOG_H
#define RD_LOG_H

#include "profiler/record/record.h"

/* Spans of each node that a compaction keeps, however short. */
#define RD_KEEP_FIRST 8

/* A run to be logged. */
struct rd_log_run {
  uint64_t begin, duration;
  uint64_t sequence;
  uint64_t parent;            /* its sequence; 0: none */
  const struct rd_log_extra *extra;     /* or NULL */
};

/* Logs a run of a node.  False: dropped, and counted so on the node. */
bool rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
                    const struct rd_log_run *run);

/* Finds nslots slots for a run of this duration, which are to be written and
 * then committed.  NULL: dropped, and counted so. */
union rd_log_slot *rd_log_take (struct rd_writer_state *writer,
                                struct rd_node *node, uint64_t duration,
                                size_t nslots);

/* Makes a span that was written into the next slots a part of the log; or does
 * nothing, if slot is NULL. */
static inline __attribute__ ((__always_inline__)) void
rd_log_commit (struct rd_writer_state *writer, union rd_log_slot *slot,
               size_t nslots)
{
  rd_commit ();
  if (__builtin_expect (slot != NULL, 1))
    writer->log_next = slot + nslots;
}

/* A position in the log; changes with every span that is logged. */
uint64_t rd_log_mark (const struct rd_writer_state *writer);

/* Sets the last chunk's count, when nothing is logged any more. */
void rd_log_finish (struct rd_writer_state *writer);

/* Copies the slots of a chunk to their place in the snapshot, if that wants
 * them and has not got them yet.  Afterwards it does not read the chunk. */
void rd_log_copy_chunk (const struct radio_recorder *recorder,
                        struct rd_log_chunk *chunk);

/* Empties the log, whose chunks are not returned. */
void rd_log_clear (struct rd_writer_state *writer);

/* True if the writer's last chunk has nslots slots left. */
static inline bool
rd_log_has_room (const struct rd_writer_state *writer, size_t nslots)
{
  return (size_t) (writer->log_end - writer->log_next) >= nslots;
}

/*------------------------------------------------------------------------
 * Span memory: the chunks of all logs of a recorder.  It is bounded, and
 * faulted in before a scope writes to it, since the first touch of a page
 * costs more than many scopes.
 *----------------------------------------------------------------------*/

/* Memory for max_spans spans at most, of which those with an extra count
 * twice; some of it is faulted in at once.  arena: its ring, which has room for
 * that many; or NULL.  NULL: no memory for that many. */
struct rd_span_memory *rd_span_memory_new (size_t max_spans,
                                           struct rd_arena *arena);

/* NULL is legal. */
void rd_span_memory_free (struct rd_span_memory *memory);

/* Slots in each chunk; 2 at least, unless there may be only one span. */
size_t rd_span_memory_chunk_slots (const struct rd_span_memory *memory);

/* An unused chunk for a writer that has nchunks.  NULL: none is left, or
 * only those reserved for writers that have next to nothing.
 * Thread-safe. */
struct rd_log_chunk *rd_span_memory_take (struct rd_span_memory *memory,
                                          size_t nchunks);

/* Returns a list of chunks to the memory.  Thread-safe. */
void rd_span_memory_give (struct rd_span_memory *memory,
                          struct rd_log_chunk *chunks);

#endif /* RD_LOG_H */
