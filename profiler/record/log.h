/* SPDX-License-Identifier: MIT */
/* The log of one writer: what is kept of single spans, in chunks from a pool
 * that all writers of a recorder share.  When the pool is used up, the
 * writer that wants more drops its shortest spans, all but the first few of
 * each node, and from then on does not log spans as short as these.  All of
 * it between rd_writer_enter and rd_writer_leave (or, for the writer of
 * requests, under the recorder's mutex). */
#ifndef RD_LOG_H
#define RD_LOG_H

#include "profiler/record/record.h"

/* Spans of each node that a compaction keeps, however short. */
#define RD_KEEP_FIRST 8

/* A run that is to be logged. */
struct rd_log_run {
  uint64_t begin, duration;
  uint64_t sequence;
  uint64_t parent;            /* its sequence; 0: none */
  const struct rd_log_extra *extra;     /* NULL: there is nothing to say */
};

/* Log a run of a node.  False: dropped, and counted so on the node. */
bool rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
                    const struct rd_log_run *run);

/* Room for a run of this duration, in so many slots; NULL: dropped, and
 * counted so. */
union rd_log_slot *rd_log_take (struct rd_writer_state *writer,
                                struct rd_node *node, uint64_t duration,
                                size_t nslots);

/* Where the log is; changes with every span that is logged. */
uint64_t rd_log_mark (const struct rd_writer_state *writer);

/* The last chunk's count, when nothing is logged any more. */
void rd_log_settle (struct rd_writer_state *writer);

/* Spans in the log, once it is settled. */
size_t rd_log_count (const struct rd_log *log);

/* Nothing is in it any more; the chunks themselves are the pool's. */
void rd_log_clear (struct rd_log *log);

/* Make room for one more of n elements, up to limit in all.  False: there
 * are that many, or no memory. */
bool rd_array_grow (void *array_at, size_t *capacity, size_t n, size_t limit,
                    size_t element_nbytes);

/* RD_ARRAY's next element, not initialised, or NULL. */
#define RD_ARRAY_ADD(array, limit)                                      \
  (rd_array_grow (&(array)->at, &(array)->capacity, (array)->n, (limit), \
                  sizeof *(array)->at)                                  \
   ? &(array)->at[(array)->n++] : NULL)

#endif /* RD_LOG_H */
