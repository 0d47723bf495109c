/* SPDX-License-Identifier: MIT */
/* The tree of one writer: nodes by parent and site.  All of it between
 * rd_writer_enter and rd_writer_leave (or, for the writer of requests, under
 * the recorder's mutex). */
#ifndef RD_TREE_H
#define RD_TREE_H

#include "profiler/record/record.h"

/* Paths that one writer keeps; what would be beyond counts into its
 * parent. */
#define RD_MAX_NODES 65536

/* The child of a parent, made if it is new.  NULL: no memory or too many;
 * then the parent counts it as skipped. */
struct rd_node *rd_tree_child (struct rd_writer_state *writer,
                               struct rd_node *parent,
                               const struct radio_site *site,
                               enum radio_edge edge);

/* The stand-in for a node of another writer of the same recorder, below this
 * one's root. */
struct rd_node *rd_tree_stand_in (struct rd_writer_state *writer,
                                  struct rd_node *foreign);

/* Add a run to a node's figures: calls, total, self, min, max, histogram.
 * The log is not touched. */
static inline void
rd_node_add_run (const struct rd_writer_state *writer, struct rd_node *node,
                 uint64_t duration, uint64_t self)
{
  uint64_t ns = rd_rate_ns (&writer->rate, duration);
  unsigned bucket = 63 - (unsigned) __builtin_clzll (ns | 1);
  if (__builtin_expect (bucket >= RADIO_HISTOGRAM_BUCKETS, 0))
    bucket = RADIO_HISTOGRAM_BUCKETS - 1;
  node->calls++;
  node->total += duration;
  node->self += self;
  if (duration < node->min)
    node->min = duration;
  if (duration > node->max)
    node->max = duration;
  node->histogram[bucket]++;
}

/* Add to a counter of a node.  Returns the tally, NULL without memory. */
struct rd_tally *rd_node_count (struct rd_node *node,
                                const struct radio_counter *counter,
                                uint64_t value);

/* Make the root of a new writer.  False: no memory. */
bool rd_tree_init (struct rd_writer_state *writer);

/* Work out what the hot path left open, when nothing runs any more. */
void rd_tree_settle (struct rd_writer_state *writer);

void rd_tree_free (struct rd_writer_state *writer);

#endif /* RD_TREE_H */
