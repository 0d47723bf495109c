/* SPDX-License-Identifier: MIT */
/* What a full log keeps: the longest spans, and the first few of each node,
 * so that every path can be looked at.  Durations are told apart by their
 * logarithm, in quarters of octaves; one pass counts, a second one moves
 * what stays to the front.  Since no more than half stays, a span is looked
 * at some two times on the average before it goes, whatever comes. */
#include <config.h>

#include "profiler/record/compact.h"
#include "profiler/record/pool.h"

#define NBUCKETS 256

struct plan {
  size_t nspans;
  size_t nlogged;             /* nodes with spans in the log */
  size_t keep_first;          /* of each node */
  size_t counts[NBUCKETS];    /* of the others, by duration */
  unsigned bucket;            /* the shortest that is kept... */
  size_t left;                /* ... of which so many */
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
  for (struct rd_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nspans; i++) {
      plan->nspans++;
      plan->nlogged += node_of (writer, &c->spans[i])->nfirst++ == 0;
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

/* The first ones take a quarter of the log at most, and all together a
 * half. */
static void
make_plan (struct rd_writer_state *writer, struct plan *plan)
{
  size_t nfirst = 0;
  count_nodes (writer, plan);
  plan->keep_first = plan->nspans / 4 / plan->nlogged;
  if (plan->keep_first > RD_KEEP_FIRST)
    plan->keep_first = RD_KEEP_FIRST;
  forget_firsts (writer);
  for (struct rd_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nspans; i++)
      if (is_first (node_of (writer, &c->spans[i]), plan))
        nfirst++;
      else
        plan->counts[bucket_of (c->spans[i].duration)]++;
  plan->left = plan->nspans / 2 - nfirst;
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
  unsigned bucket = bucket_of (span->duration);
  if (bucket == plan->bucket && plan->left > 0) {
    plan->left--;
    return true;
  }
  return bucket > plan->bucket;
}

/* Extras stand in the order of their spans: `from' those that are still to
 * be passed, `to' those that stay. */
static void
move_extra (struct rd_log *log, size_t *from, size_t *to, uint64_t sequence,
            bool keep)
{
  if (*from == log->extras.n || log->extras.at[*from].sequence != sequence)
    return;
  if (keep)
    log->extras.at[(*to)++] = log->extras.at[*from];
  ++*from;
}

/* Move what stays to the front of the list of chunks; the chunk where it
 * ends. */
static struct rd_chunk *
move_spans (struct rd_writer_state *writer, struct plan *plan,
            size_t chunk_spans)
{
  struct rd_log *log = &writer->log;
  struct rd_chunk *to = log->first;
  struct rd_text_sweep sweep;
  size_t n = 0, extra_from = 0, extra_to = 0;
  rd_text_sweep_begin (&sweep, &writer->texts);
  for (struct rd_chunk *c = log->first; c; c = c->next) {
    size_t nspans = c->nspans;          /* c may be `to' */
    for (size_t i = 0; i < nspans; i++) {
      struct rd_log_span span = c->spans[i];
      struct rd_node *node = node_of (writer, &span);
      bool keep = is_kept (node, &span, plan);
      move_extra (log, &extra_from, &extra_to, rd_span_sequence (&span),
                  keep);
      if (!keep) {
        node->drops++;
        rd_text_sweep_drop (&sweep, rd_span_sequence (&span));
        continue;
      }
      if (n == chunk_spans) {
        to = to->next;
        n = 0;
      }
      to->spans[n++] = span;
    }
  }
  log->extras.n = extra_to;
  rd_text_sweep_end (&sweep);
  writer->log_next = to->spans + n;
  writer->log_end = to->spans + chunk_spans;
  return to;
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
rd_log_compact (struct rd_writer_state *writer, size_t chunk_spans)
{
  struct rd_log *log = &writer->log;
  struct plan plan = { .nspans = 0 };
  make_plan (writer, &plan);
  forget_firsts (writer);
  log->last = move_spans (writer, &plan, chunk_spans);
  raise_thresholds (writer, &plan);
  if (log->last->next)
    rd_pool_give (writer->recorder->pool, log->last->next);
  log->last->next = NULL;
  log->nchunks = 0;
  for (struct rd_chunk *c = log->first; c; c = c->next)
    log->nchunks++;
}
