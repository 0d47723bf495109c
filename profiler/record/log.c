/* SPDX-License-Identifier: MIT */
/* Logging spans into chunks, and making room in a full log. */
#include <config.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/record/log.h"
#include "profiler/record/notes.h"
#include "profiler/record/tree.h"

/*------------------------------------------------------------------------
 * Compaction: keeps the longest spans, and the first few of each node, so
 * that every path can be inspected.  Durations are compared by their
 * logarithm, in quarters of octaves; one pass counts, a second one moves the
 * spans that stay to the front.  Since no more than half stays, each span is
 * visited some two times on average before it goes.
 *----------------------------------------------------------------------*/

#define NBUCKETS 256

struct compaction {
  size_t nslots;
  size_t nlogged;             /* nodes with spans in the log */
  size_t keep_first;          /* of each node */
  size_t counts[NBUCKETS];    /* slots of the others, by duration */
  unsigned bucket;            /* the shortest that is kept... */
  size_t left;                /* ... and how many slots of it */
};

/* Buckets are in the order of their durations. */
static unsigned
bucket_of (uint64_t duration)
{
  if (duration < 4)
    return (unsigned) duration;
  unsigned octave = 63 - (unsigned) __builtin_clzll (duration);
  return octave * 4 + (unsigned) (duration >> (octave - 2) & 3) - 4;
}

static struct rd_node *
node_of_span (const struct rd_writer_state *writer,
              const struct rd_log_span *span)
{
  return writer->nodes[rd_span_node (span)];
}

static void
reset_firsts (struct rd_writer_state *writer)
{
  for (size_t i = 0; i < writer->nnodes; i++)
    writer->nodes[i]->nfirst = 0;
}

/* True if a span is among the first of its node; called once for each, in
 * the order of the log. */
static bool
is_first (struct rd_node *node, const struct compaction *plan)
{
  if (node->nfirst >= plan->keep_first)
    return false;
  node->nfirst++;
  return true;
}

/* Everything kept takes half of the log at most.  Its first spans fill a
 * quarter, if they have no extras. */
static void
plan_compaction (struct rd_writer_state *writer, struct compaction *plan)
{
  size_t nfirst = 0;          /* slots of first spans */
  reset_firsts (writer);
  for (struct rd_log_chunk *c = writer->log.first; c; c = c->next) {
    plan->nslots += c->nslots;
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      plan->nlogged += node_of_span (writer, span)->nfirst++ == 0;
      i += rd_span_nslots (span);
    }
  }
  plan->keep_first = plan->nslots / 4 / plan->nlogged;
  if (plan->keep_first > RD_KEEP_FIRST)
    plan->keep_first = RD_KEEP_FIRST;
  reset_firsts (writer);
  for (struct rd_log_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      size_t nslots = rd_span_nslots (span);
      if (is_first (node_of_span (writer, span), plan))
        nfirst += nslots;
      else
        plan->counts[bucket_of (rd_span_duration (span))] += nslots;
      i += nslots;
    }
  plan->left = plan->nslots / 2 - nfirst;
  plan->bucket = NBUCKETS - 1;
  while (plan->counts[plan->bucket] <= plan->left)
    plan->left -= plan->counts[plan->bucket--];
}

/* Moves the spans that stay to the front of the list of chunks, which may be
 * where they are.  Returns the chunk where they end. */
static struct rd_log_chunk *
move_kept_spans (struct rd_writer_state *writer, struct compaction *plan,
                 size_t chunk_slots)
{
  /* The end of the spans that were moved: never beyond the span to be moved,
   * since spans that fitted into a chunk there do so here. */
  struct rd_log_chunk *to = writer->log.first;
  size_t nfilled = 0;
  struct rd_text_sweep sweep;
  rd_text_sweep_begin (&sweep, &writer->texts);
  for (struct rd_log_chunk *c = writer->log.first; c; c = c->next) {
    size_t nslots = c->nslots;
    for (size_t i = 0, n; i < nslots; i += n) {
      const struct rd_log_span *span = &c->slots[i].span;
      struct rd_node *node = node_of_span (writer, span);
      n = rd_span_nslots (span);
      unsigned bucket = bucket_of (rd_span_duration (span));
      bool is_kept = is_first (node, plan) || bucket > plan->bucket;
      if (!is_kept && bucket == plan->bucket && plan->left >= n) {
        plan->left -= n;
        is_kept = true;
      }
      if (!is_kept) {
        node->nlogged--;
        rd_node_drop (writer, node, rd_span_duration (span));
        if (rd_span_extra (span)->flags & RD_LOG_TEXT)
          rd_texts_disown (&writer->texts, rd_span_extra (span)->text);
        rd_text_sweep_drop (&sweep, rd_span_sequence (span));
        continue;
      }
      if (nfilled + n > chunk_slots) {
        to->nslots = nfilled;
        to = to->next;
        nfilled = 0;
      }
      for (size_t k = 0; k < n; k++)
        to->slots[nfilled++] = c->slots[i + k];
    }
  }
  rd_text_sweep_end (&sweep);
  writer->log_next = to->slots + nfilled;
  writer->log_end = to->slots + chunk_slots;
  return to;
}

/* Drops at least half of the writer's spans, all of whose chunks are full:
 * the shortest, but not the first few of each node, whose thresholds then
 * rise.  Returns empty chunks to the span memory, and leaves the writer at
 * the end of the spans that stay. */
static void
compact_log (struct rd_writer_state *writer, size_t chunk_slots)
{
  struct rd_log *log = &writer->log;
  struct compaction plan = { .nslots = 0 };
  plan_compaction (writer, &plan);
  reset_firsts (writer);
  log->last = move_kept_spans (writer, &plan, chunk_slots);

  /* The shortest duration of the next bucket. */
  unsigned next = plan.bucket + 1;
  uint64_t shortest = next < 4 ? next
                               : (uint64_t) (4 + next % 4) << (next / 4 - 1);
  log->threshold = rd_max_u64 (log->threshold, shortest);
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (node->nfirst >= plan.keep_first)
      node->threshold = rd_max_u64 (node->threshold, log->threshold);
  }
  if (log->last->next)
    rd_span_memory_give (writer->recorder->span_memory, log->last->next);
  log->last->next = NULL;
  log->nchunks = 0;
  for (struct rd_log_chunk *c = log->first; c; c = c->next)
    log->nchunks++;
}

/*------------------------------------------------------------------------
 * The ring: its runs are in the figures of their nodes since they ended, so the
 * oldest chunk is used again as it is.
 *----------------------------------------------------------------------*/

/* The last span of a full chunk.  The second word of an extra, its wait, never
 * has the bit by which a span says that it has one. */
static const struct rd_log_span *
last_span (const struct rd_log_chunk *chunk)
{
  const union rd_log_slot *last = &chunk->slots[chunk->nslots - 1];
  bool is_extra = chunk->nslots > 1 && rd_span_has_extra (&last[-1].span);
  return is_extra ? &last[-1].span : &last->span;
}

/* Spans of one writer end in order. */
static void
leave_ring (struct rd_writer_state *writer, const struct rd_log_chunk *chunk)
{
  const struct rd_log_span *last = chunk->nslots > 0 ? last_span (chunk) : NULL;
  if (last)
    writer->log.retired_until = last->begin + rd_span_duration (last);
  for (size_t i = 0; i < chunk->nslots && writer->texts.nown > 0;) {
    const struct rd_log_span *span = &chunk->slots[i].span;
    if (rd_span_extra (span)->flags & RD_LOG_TEXT)
      rd_texts_disown (&writer->texts, rd_span_extra (span)->text);
    i += rd_span_nslots (span);
  }
}

/*------------------------------------------------------------------------
 * Appending
 *----------------------------------------------------------------------*/

/* Slots for each node that is checked for throttling: all nodes are, once in
 * a while, at next to no cost per span, since chunks are long. */
#define SLOTS_PER_NODE 64

/* Called when the last chunk, if there is one, is full. */
static void
leave_chunk (struct rd_writer_state *writer)
{
  rd_log_finish (writer);
  if (writer->log.last)
    writer->log.nappended += writer->log.last->nslots;
}

/* Appends an empty chunk, after leave_chunk. */
static void
append_chunk (struct rd_writer_state *writer, struct rd_log_chunk *chunk,
              size_t chunk_slots)
{
  struct rd_log *log = &writer->log;
  chunk->nbefore = log->nspans;
  writer->log_next = chunk->slots;
  writer->log_end = chunk->slots + chunk_slots;
  rd_commit ();
  if (log->last)
    log->last->next = chunk;
  else
    log->first = chunk;
  rd_commit ();
  log->last = chunk;
  log->nchunks++;
  rd_tree_throttle (writer, chunk_slots / SLOTS_PER_NODE + 1);
}

static bool
take_chunk (struct rd_writer_state *writer, size_t chunk_slots)
{
  struct rd_log_chunk *chunk
    = rd_span_memory_take (writer->recorder->span_memory,
                           writer->log.nchunks);
  if (!chunk)
    return false;
  leave_chunk (writer);
  append_chunk (writer, chunk, chunk_slots);
  return true;
}

void
rd_log_copy_chunk (const struct radio_recorder *recorder,
                   struct rd_log_chunk *chunk)
{
  unsigned wanted = RD_COPY_WANTED;
  if (atomic_compare_exchange_strong (&chunk->copying, &wanted,
                                      RD_COPY_UNDER_WAY)) {
    size_t place = (uintptr_t) chunk->slots - (uintptr_t) recorder->header;
    memcpy (recorder->snapshot + place, chunk->slots,
            chunk->nwanted * sizeof *chunk->slots);
    atomic_store (&chunk->copying, RD_COPY_NONE);
  }
  while (atomic_load (&chunk->copying) != RD_COPY_NONE)
    rd_clock_rest ();
}

/* Uses the oldest chunk, which is full, again as the last one. */
static void
turn_ring (struct rd_writer_state *writer, size_t chunk_slots)
{
  struct rd_log *log = &writer->log;
  struct rd_log_chunk *chunk = log->first;
  rd_log_copy_chunk (writer->recorder, chunk);
  leave_chunk (writer);
  log->first = chunk->next;
  if (!log->first)
    log->last = NULL;
  log->nchunks--;
  rd_commit ();
  leave_ring (writer, chunk);
  chunk->next = NULL;
  chunk->nslots = 0;
  append_chunk (writer, chunk, chunk_slots);
}

/* Makes room for nslots, by another chunk, by using the oldest one again, or
 * by compaction, which may raise the node's threshold. */
static bool
make_room_in_log (struct rd_writer_state *writer, size_t nslots)
{
  if (!writer->recorder->span_memory)
    return false;
  size_t chunk_slots
    = rd_span_memory_chunk_slots (writer->recorder->span_memory);
  if (nslots > chunk_slots)
    return false;
  if (take_chunk (writer, chunk_slots))
    return true;
  if (!writer->log.last)
    return false;
  if (writer->recorder->ring_nbytes > 0) {
    turn_ring (writer, chunk_slots);
    return true;
  }
  leave_chunk (writer);
  compact_log (writer, chunk_slots);
  return rd_log_has_room (writer, nslots)
         || take_chunk (writer, chunk_slots);
}

union rd_log_slot *
rd_log_take (struct rd_writer_state *writer, struct rd_node *node,
             uint64_t duration, size_t nslots)
{
  if (duration < node->threshold
      || (!rd_log_has_room (writer, nslots)
          && !make_room_in_log (writer, nslots))
      || duration < node->threshold) {
    rd_node_drop (writer, node, duration);
    return NULL;
  }
  rd_node_log (writer, node, duration);
  return writer->log_next;
}

bool
rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
               const struct rd_log_run *run)
{
  union rd_log_slot *slot = rd_log_take (writer, node, run->duration,
                                         run->extra ? 2 : 1);
  if (!slot)
    return false;
  slot->span = (struct rd_log_span) {
    .begin = run->begin,
    .duration_more = run->duration | (run->extra ? RD_SPAN_HAS_EXTRA : 0),
    .sequence_node = run->sequence << 16 | node->number,
    .parent_epoch = run->parent << 16,
  };
  if (node->is_in_ring)
    rd_span_seal (&slot->span);
  if (run->extra)
    slot[1].extra = *run->extra;
  rd_log_commit (writer, slot, run->extra ? 2 : 1);
  return true;
}

uint64_t
rd_log_mark (const struct rd_writer_state *writer)
{
  const struct rd_log *log = &writer->log;
  return log->last
         ? log->nappended + (uint64_t) (writer->log_next - log->last->slots)
         : 0;
}

void
rd_log_finish (struct rd_writer_state *writer)
{
  struct rd_log *log = &writer->log;
  if (log->last)
    log->last->nslots = (size_t) (writer->log_next - log->last->slots);
}

void
rd_log_clear (struct rd_writer_state *writer)
{
  rd_log_finish (writer);
  for (struct rd_log_chunk *c = writer->log.first;
       c && writer->texts.nown > 0; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      if (rd_span_extra (span)->flags & RD_LOG_TEXT)
        rd_texts_disown (&writer->texts, rd_span_extra (span)->text);
      i += rd_span_nslots (span);
    }
  writer->log = (struct rd_log) { .first = NULL };
  writer->log_next = writer->log_end = NULL;
}
