/* SPDX-License-Identifier: MIT */
/* What a full log keeps: the longest spans, and the first few of each node,
 * so that every path can be looked at.  Durations are told apart by their
 * logarithm, in quarters of octaves; one pass counts, a second one moves
 * what stays to the front.  Since no more than half stays, a span is looked
 * at some two times on the average before it goes, whatever comes. */
#include <config.h>

#include "profiler/record/compact.h"
#include "profiler/record/pool.h"
#include "profiler/record/tree.h"

#define NBUCKETS 256

struct plan {
  size_t nslots;
  size_t nlogged;             /* nodes with spans in the log */
  size_t keep_first;          /* of each node */
  size_t counts[NBUCKETS];    /* slots of the others, by duration */
  unsigned bucket;            /* the shortest that is kept... */
  size_t left;                /* ... of which so many slots */
};

/* The order of the durations is that of their buckets. */
static unsigned
bucket_of (uint64_t duration)
{
  if (duration < 4)
    return (unsigned) duration;
  unsigned octave = 63 - (unsigned) __builtin_clzll (duration);
  return octave * 4 + (unsigned) (duration >> (octave - 2) & 3) - 4;
}

/* The shortest duration of a bucket. */
static uint64_t
bucket_begin (unsigned bucket)
{
  if (bucket < 4)
    return bucket;
  return (uint64_t) (4 + bucket % 4) << (bucket / 4 - 1);
}

static struct rd_node *
node_of (const struct rd_writer_state *writer,
         const struct rd_log_span *span)
{
  return writer->nodes[rd_span_node (span)];
}

static void
forget_firsts (struct rd_writer_state *writer)
{
  for (size_t i = 0; i < writer->nnodes; i++)
    writer->nodes[i]->nfirst = 0;
}

static void
count_nodes (struct rd_writer_state *writer, struct plan *plan)
{
  forget_firsts (writer);
  for (struct rd_chunk *c = writer->log.first; c; c = c->next) {
    plan->nslots += c->nslots;
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      plan->nlogged += node_of (writer, span)->nfirst++ == 0;
      i += rd_span_nslots (span);
    }
  }
}

/* Whether a span is among the first of its node; asked once for each, in
 * the order of the log. */
static bool
is_first (struct rd_node *node, const struct plan *plan)
{
  if (node->nfirst >= plan->keep_first)
    return false;
  node->nfirst++;
  return true;
}

/* Count the slots of a chunk's spans; those of first ones are returned. */
static size_t
count_slots (struct rd_writer_state *writer, const struct rd_chunk *chunk,
             struct plan *plan)
{
  size_t nfirst = 0;
  for (size_t i = 0; i < chunk->nslots;) {
    const struct rd_log_span *span = &chunk->slots[i].span;
    size_t nslots = rd_span_nslots (span);
    if (is_first (node_of (writer, span), plan))
      nfirst += nslots;
    else
      plan->counts[bucket_of (rd_span_duration (span))] += nslots;
    i += nslots;
  }
  return nfirst;
}

/* All that is kept takes half of the log at most: the first ones are as
 * many as fill a quarter, if they have no extras. */
static void
make_plan (struct rd_writer_state *writer, struct plan *plan)
{
  size_t nfirst = 0;
  count_nodes (writer, plan);
  plan->keep_first = plan->nslots / 4 / plan->nlogged;
  if (plan->keep_first > RD_KEEP_FIRST)
    plan->keep_first = RD_KEEP_FIRST;
  forget_firsts (writer);
  for (struct rd_chunk *c = writer->log.first; c; c = c->next)
    nfirst += count_slots (writer, c, plan);
  plan->left = plan->nslots / 2 - nfirst;
  plan->bucket = NBUCKETS - 1;
  while (plan->counts[plan->bucket] <= plan->left)
    plan->left -= plan->counts[plan->bucket--];
}

static bool
is_kept (struct rd_node *node, const struct rd_log_span *span,
         struct plan *plan)
{
  if (is_first (node, plan))
    return true;
  unsigned bucket = bucket_of (rd_span_duration (span));
  if (bucket == plan->bucket && plan->left >= rd_span_nslots (span)) {
    plan->left -= rd_span_nslots (span);
    return true;
  }
  return bucket > plan->bucket;
}

/* Where spans are moved to: never beyond where they come from, since what
 * fitted into a chunk there does so here. */
struct target {
  struct rd_chunk *chunk;
  size_t n;                   /* slots of it that are filled */
  size_t chunk_slots;
};

static void
move_span (struct target *to, const union rd_log_slot *from)
{
  union rd_log_slot span = from[0], extra;
  size_t nslots = rd_span_nslots (&span.span);
  if (nslots > 1)
    extra = from[1];
  if (to->n + nslots > to->chunk_slots) {
    to->chunk->nslots = to->n;
    to->chunk = to->chunk->next;
    to->n = 0;
  }
  to->chunk->slots[to->n++] = span;
  if (nslots > 1)
    to->chunk->slots[to->n++] = extra;
}

/* Move what stays of a chunk, which may be the one that it goes to. */
static void
move_chunk (struct rd_writer_state *writer, const struct rd_chunk *chunk,
            struct plan *plan, struct rd_text_sweep *sweep,
            struct target *to)
{
  size_t nslots = chunk->nslots;
  for (size_t i = 0, n; i < nslots; i += n) {
    const struct rd_log_span *span = &chunk->slots[i].span;
    struct rd_node *node = node_of (writer, span);
    n = rd_span_nslots (span);
    if (is_kept (node, span, plan))
      move_span (to, &chunk->slots[i]);
    else {
      node->nlogged--;
      rd_node_drop (writer, node, rd_span_duration (span));
      writer->texts.nown -= (rd_span_extra (span)->flags & RD_LOG_TEXT) != 0;
      rd_text_sweep_drop (sweep, rd_span_sequence (span));
    }
  }
}

/* Move what stays to the front of the list of chunks; the chunk where it
 * ends. */
static struct rd_chunk *
move_spans (struct rd_writer_state *writer, struct plan *plan,
            size_t chunk_slots)
{
  struct target to = { writer->log.first, 0, chunk_slots };
  struct rd_text_sweep sweep;
  rd_text_sweep_begin (&sweep, &writer->texts);
  for (struct rd_chunk *c = writer->log.first; c; c = c->next)
    move_chunk (writer, c, plan, &sweep, &to);
  rd_text_sweep_end (&sweep);
  writer->log_next = to.chunk->slots + to.n;
  writer->log_end = to.chunk->slots + chunk_slots;
  return to.chunk;
}

/* A node that has not had its first few yet is logged all the same. */
static void
raise_thresholds (struct rd_writer_state *writer, const struct plan *plan)
{
  uint64_t *threshold = &writer->log.threshold;
  uint64_t raised = bucket_begin (plan->bucket + 1);
  if (raised > *threshold)
    *threshold = raised;
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (!node->throttled && node->nfirst >= plan->keep_first)
      node->threshold = *threshold;
  }
}

void
rd_log_compact (struct rd_writer_state *writer, size_t chunk_slots)
{
  struct rd_log *log = &writer->log;
  struct plan plan = { .nslots = 0 };
  make_plan (writer, &plan);
  forget_firsts (writer);
  log->last = move_spans (writer, &plan, chunk_slots);
  raise_thresholds (writer, &plan);
  if (log->last->next)
    rd_pool_give (writer->recorder->pool, log->last->next);
  log->last->next = NULL;
  log->nchunks = 0;
  for (struct rd_chunk *c = log->first; c; c = c->next)
    log->nchunks++;
}
