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

/* Log a run.  False: dropped, and counted so on the node. */
bool rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
                    uint64_t begin, uint64_t duration, uint64_t sequence,
                    uint64_t parent);

/* What else is to be said of the span that was logged last. */
void rd_log_add_extra (struct rd_writer_state *writer,
                       const struct rd_log_extra *extra);

/* Make an array's capacity at least n + 1, up to limit elements.  False:
 * it is at the limit, or no memory. */
bool rd_array_grow (void *array_at, size_t *capacity, size_t n, size_t limit,
                    size_t element_nbytes);

/* RD_ARRAY's next element, not initialised, or NULL. */
#define RD_ARRAY_ADD(array, limit)                                      \
  (rd_array_grow (&(array)->at, &(array)->capacity, (array)->n, (limit), \
                  sizeof *(array)->at)                                  \
   ? &(array)->at[(array)->n++] : NULL)

#endif /* RD_LOG_H */
