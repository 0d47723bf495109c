/* SPDX-License-Identifier: MIT */
/* The tree of one writer: nodes by parent and site.  All of it between
 * rd_writer_enter and rd_writer_leave (or, for the writer of requests, under
 * the recorder's mutex). */
#ifndef RD_TREE_H
#define RD_TREE_H

#include "profiler/record/record.h"

/* Paths that one writer keeps; what would be beyond counts into its
 * parent. */
#define RD_MAX_NODES 65536    /* spans have 16 bits for it */

/* A node that was called more often than this, with a mean below
 * recorder->throttle_below, is not logged any more. */
#define RD_THROTTLE_CALLS 100000
#define RD_CONSIDER_EVERY 16384 /* hits of a bucket of its histogram */

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

/* The histogram's bucket of a duration: the logarithm of its nanoseconds is
 * the exponent of a floating-point number, which processors are quicker to
 * give than to count zeros. */
static inline unsigned
rd_bucket_of (const struct rd_writer_state *writer, uint64_t duration)
{
  const double longest = 0x1p+47;
  double ns = (double) (int64_t) duration * writer->ns_per_tick;
  uint64_t bits;
  ns = ns > 1 ? ns : 1;
  ns = ns < longest ? ns : longest;
  __builtin_memcpy (&bits, &ns, sizeof bits);
  return (unsigned) (bits >> 52) - 1023;
}

/* Put the last run into its node's histogram.  The node is returned if it is
 * to be considered, else NULL. */
static inline struct rd_node *
rd_histogram_add_pending (struct rd_writer_state *writer)
{
  struct rd_node *node = writer->pending_node;
  unsigned bucket = rd_bucket_of (writer, writer->pending_duration);
  uint64_t n = ++node->histogram[bucket];
  return __builtin_expect (n % RD_CONSIDER_EVERY == 0, 0) ? node : NULL;
}

/* Add a run to a node's figures, apart from its self time: that is what its
 * children on the same thread leave.  The node to be considered, or NULL.
 *
 * The histogram gets a run when the next one ends.  Where a store goes must
 * not depend on a clock that was only just read: processors let the next
 * reading wait until they know, which would make a scope half as long
 * again. */
static inline struct rd_node *
rd_node_add_time (struct rd_writer_state *writer, struct rd_node *node,
                  uint64_t duration)
{
  struct rd_node *considered = rd_histogram_add_pending (writer);
  writer->pending_node = node;
  writer->pending_duration = duration;
  node->total += duration;
  if (__builtin_expect (duration < node->min, 0))
    node->min = duration;
  if (__builtin_expect (duration > node->max, 0))
    node->max = duration;
  return considered;
}

/* Look whether a node is tiny and frequent, and then log it no more. */
void rd_node_consider (struct rd_writer_state *writer, struct rd_node *node);

/* Add a run with what is self time of it, not counting what its children on
 * the same thread (there are none, if it has no thread) take away. */
static inline void
rd_node_add_run (struct rd_writer_state *writer, struct rd_node *node,
                 uint64_t duration, uint64_t self)
{
  struct rd_node *considered = rd_node_add_time (writer, node, duration);
  if (considered)
    rd_node_consider (writer, considered);
  node->self_adjust += self - duration;
}

/* How often a node was called, while it runs. */
uint64_t rd_node_calls (const struct rd_node *node);

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
