/* SPDX-License-Identifier: MIT */
/* The tree of one writer: nodes by parent and site, their counters, and the
 * accounts of the memory that they hold.  But for accounts, all of it is
 * called between rd_writer_enter and rd_writer_leave (or, for the writer of
 * requests, under the recorder's mutex). */
#ifndef RD_TREE_H
#define RD_TREE_H

#include "profiler/record/record.h"

/* A node with more calls than this, and a mean below recorder->throttle_below,
 * logs only runs that are this many times longer than the mean. */
#define RD_THROTTLE_CALLS 100000
#define RD_THROTTLE_LONG 64

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

/* The octave of a duration.  Its logarithm is the exponent of a
 * floating-point number, which processors compute faster than they count
 * zeros.  It counts in units, which are a tick at most and a power of two in
 * nanoseconds: so the octaves are those of nanoseconds, and no duration is
 * outside of them. */
static inline size_t
rd_octave_of (const struct rd_writer_state *writer, uint64_t duration)
{
  double units = (double) (int64_t) duration * writer->octave_scale;
  uint64_t bits;
  units = units > 0.5 ? units : 0.5;
#ifdef __SSE2__
  __asm__ ("" : "+x" (units));  /* a maximum, rather than a jump */
#endif
  __builtin_memcpy (&bits, &units, sizeof bits);
  return (size_t) (bits >> 52) - 1022;
}

/* The bucket of a profile's histogram that an octave belongs to. */
unsigned rd_octave_bucket (const struct rd_writer_state *writer,
                           size_t octave);

/* Puts the last run into its node's octaves. */
static inline void
rd_octaves_add_pending (struct rd_writer_state *writer)
{
  size_t octave = rd_octave_of (writer, writer->pending_duration);
  writer->pending_node->octaves[octave]++;
}

/* Adds a run that is not in the log, or no longer, to its node's extremes and
 * octaves.  Those of runs in the log are computed when the recorder stops.
 *
 * The octaves get a run when the next one ends: the address of a store must
 * not depend on a clock that was only just read.  Processors delay the next
 * reading until they know it, which would make a scope half as long again. */
static inline void
rd_node_add_unlogged (struct rd_writer_state *writer, struct rd_node *node,
                      uint64_t duration, uint64_t ndrops)
{
  rd_octaves_add_pending (writer);
  writer->pending_node = node;
  writer->pending_duration = duration;
  writer->pending_unlogged = node->unlogged + duration;
  rd_commit ();
  node->drops += ndrops;
  rd_commit ();
  node->unlogged = writer->pending_unlogged;
  if (__builtin_expect (duration < node->min, 0))
    node->min = duration;
  if (__builtin_expect (duration > node->max, 0))
    node->max = duration;
}

/* Counts a run now, since the log does not keep it, or not for ever.  In a
 * killed process the last such run counts if the node's drops do: they are the
 * runs in its octaves and the pending one, and change last (see
 * recover/recover.c). */
static inline void
rd_node_drop (struct rd_writer_state *writer, struct rd_node *node,
              uint64_t duration)
{
  rd_node_add_unlogged (writer, node, duration, 1);
}

/* Counts a run that the log keeps; the log of a ring for a while. */
static inline void
rd_node_log (struct rd_writer_state *writer, struct rd_node *node,
             uint64_t duration)
{
  if (node->is_in_ring) {
    rd_node_drop (writer, node, duration);
    writer->log.nspans++;
  } else
    node->nlogged++;
}

/* Finds those of the next n nodes, in turn, that are tiny and frequent, and
 * stops logging all but their long runs. */
void rd_tree_throttle (struct rd_writer_state *writer, size_t n);

/* Adds a run, which is then logged or dropped.  self is its self time before
 * its children on the same thread are subtracted (it has none, if it has no
 * thread). */
static inline void
rd_node_add_run (struct rd_node *node, uint64_t duration, uint64_t self)
{
  node->total += duration;
  node->self_adjust += self - duration;
}

/* A node's tally of a counter, made if it is new; NULL without memory. */
struct rd_tally *rd_node_tally (struct rd_node *node,
                                const struct radio_counter *counter);

/* Adds to a counter of a node, which may be its i-th.  Returns the tally,
 * NULL without memory. */
static inline const struct rd_tally *
rd_node_count (struct rd_node *node, const struct radio_counter *counter,
               uint64_t value, size_t i)
{
  struct rd_tally *tally;
  if (__builtin_expect (i < node->ntallies
                        && node->tallies[i].counter == counter, 1))
    tally = &node->tallies[i];
  else
    tally = rd_node_tally (node, counter);
  if (__builtin_expect (tally != NULL, 1))
    tally->value = rd_sum (tally->value, value);
  return tally;
}

/* Sums of a set stay below this, so that none wraps. */
#define RD_MAX_SET_SUM (UINT64_C (1) << 62)

/* Adds amounts of a set that is new to the node, or that are huge. */
void rd_node_add_set_slow (struct rd_node *node,
                           const struct rd_counter_set *set,
                           const uint64_t *amounts);

/* Adds to the counters of a set: to the sums alone, if it is the node's last
 * set; else returns false, and changes nothing. */
static inline __attribute__ ((__always_inline__)) bool
rd_node_add_same_set (struct rd_node *node, const struct rd_counter_set *set,
                      const uint64_t *amounts)
{
  uint64_t sums[RD_NAMOUNTS], all = 0;
  for (size_t i = 0; i < RD_NAMOUNTS; i++) {
    sums[i] = node->sums[i] + amounts[i];
    all |= sums[i] | amounts[i];
  }
  if (__builtin_expect (node->set != set || all >= RD_MAX_SET_SUM, 0))
    return false;
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    node->sums[i] = sums[i];
  return true;
}

/* The same for any set. */
static inline void
rd_node_add_set (struct rd_node *node, const struct rd_counter_set *set,
                 const uint64_t *amounts)
{
  if (!rd_node_add_same_set (node, set, amounts))
    rd_node_add_set_slow (node, set, amounts);
}

/* Makes the root of a new writer.  False: no memory. */
bool rd_tree_init (struct rd_writer_state *writer);

/* Computes the values that the hot path leaves out.  No scope runs any more,
 * and the log is finished. */
void rd_tree_finish (struct rd_writer_state *writer);

void rd_tree_free (struct rd_writer_state *writer);

/*------------------------------------------------------------------------
 * Accounts of memory
 *----------------------------------------------------------------------*/

/* A new account with one reference; whole may be NULL.  NULL without
 * memory. */
struct rd_account *rd_account_new (struct rd_account *whole);

/* NULL is legal. */
void rd_account_unref (struct rd_account *account);

#endif /* RD_TREE_H */
