/* SPDX-License-Identifier: MIT */
/* The spans of an image that are sound.  A span has no checksum, but its path
 * knows how many it has in the log, and the time of all of its runs.  So a span
 * that is damaged is dropped, and its run goes into the figures of its path, as
 * if it had left the ring: numbers of runs and times are exact; of runs that
 * were dropped, minimum, maximum and histogram are those of their mean. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/record/recover/recover.h"
#include "profiler/record/tree.h"

#define KNOWN_FLAGS                                                     \
  (RD_LOG_LATE | RD_LOG_OPEN | RD_LOG_ASYNC | RD_LOG_REMOTE_PARENT      \
   | RD_LOG_TILE | RD_LOG_TEXT)

static uint64_t
end_of (const struct rd_log_span *span)
{
  return span->begin + rd_span_duration (span);
}

static bool
is_extra (const struct image *image, const struct rd_log_extra *extra,
          uint64_t duration)
{
  return (extra->flags & 0xff & ~(unsigned) KNOWN_FLAGS) == 0
         && extra->wait <= duration
         && rd_log_starved (extra) <= duration - extra->wait
         && (!(extra->flags & RD_LOG_REMOTE_PARENT)
             || extra->parent_writer < image->npairs);
}

bool
rd_image_is_span (const struct image *image, const struct pair *pair,
                  const union rd_log_slot *slot, size_t nslots)
{
  const struct rd_log_span *span = &slot->span;
  const struct rd_writer_state *to = pair->to;
  const uint64_t start = image->header->start.ticks;
  const uint64_t duration = rd_span_duration (span);
  const uint32_t number = rd_span_node (span);
  const uint64_t sequence = rd_span_sequence (span);
  if (rd_span_nslots (span) > nslots || number >= to->nnodes
      || !to->nodes[number]->site || sequence == 0
      || sequence >= to->next_id >> 16 || duration >= MAX_TICKS
      || !rd_image_is_time (image, span->begin))
    return false;
  if (image->has_limits
      && ((int64_t) (span->begin + image->margin - start) < 0
          || (int64_t) (image->now + image->margin - end_of (span)) < 0))
    return false;
  const struct rd_log_extra *extra = rd_span_extra (span);
  bool is_remote = (extra->flags & RD_LOG_REMOTE_PARENT) != 0;
  return is_extra (image, extra, duration)
         && (is_remote || rd_span_parent (span) < sequence);
}

/*------------------------------------------------------------------------
 * Dropping spans
 *----------------------------------------------------------------------*/

/* The spans of a path. */
struct found {
  size_t n;
  uint64_t ticks, most;       /* of all; of the longest */
  bool is_false;              /* some are not the path's runs: drop those... */
  bool is_one;                /* ... or one... */
  uint64_t from_ticks;        /* ... of at least, or exactly, this duration */
};

struct walk {
  struct image *image;
  const struct pair *pair;
  const struct rd_log_span *next;       /* the one after; NULL: none */
  uint64_t latest;            /* end of the last span that was kept */
  bool has_latest;
  struct found *found;        /* by number of the node */
};

/* True if a span ends before the last one, or after the next one, and these two
 * are in order. */
static bool
is_disordered (struct walk *walk, const struct rd_log_span *span)
{
  const struct rd_writer_state *to = walk->pair->to;
  const uint64_t end = end_of (span), margin = walk->image->margin;
  const uint64_t after = walk->next ? end_of (walk->next) : to->last_end;
  bool is_early = walk->has_latest
                  && (int64_t) (walk->latest - end) > (int64_t) margin;
  bool is_late = (int64_t) (end - after) > (int64_t) margin;
  bool is_between = !walk->has_latest
                    || (int64_t) (after - walk->latest) >= 0;
  if ((is_early || is_late) && is_between)
    return true;
  walk->latest = end;
  walk->has_latest = true;
  return false;
}

static bool
is_false (struct walk *walk, const struct rd_log_span *span)
{
  struct found *found = &walk->found[rd_span_node (span)];
  const uint64_t duration = rd_span_duration (span);
  if (!found->is_false || duration < found->from_ticks)
    return false;
  if (!found->is_one)
    return true;
  found->is_false = duration != found->from_ticks;
  return !found->is_false;
}

/* Drops the spans for which this is true.  Returns their number. */
static size_t
drop_spans (struct walk *walk,
            bool (*drops) (struct walk *, const struct rd_log_span *))
{
  struct rd_writer_state *to = walk->pair->to;
  size_t ndropped = 0;
  for (struct rd_log_chunk *c = to->log.first; c; c = c->next) {
    const size_t nslots = c->nslots;
    const struct rd_log_chunk *next = c->next;
    c->nslots = 0;
    while (next && next->nslots == 0)
      next = next->next;
    for (size_t i = 0, n; i < nslots; i += n) {
      const union rd_log_slot *slot = &c->slots[i];
      n = rd_span_nslots (&slot->span);
      walk->next = i + n < nslots ? &slot[n].span
                   : next ? &next->slots->span : NULL;
      if (drops (walk, &slot->span)) {
        ndropped++;
        continue;
      }
      memmove (&c->slots[c->nslots], slot, n * sizeof *slot);
      c->nslots += n;
    }
  }
  return ndropped;
}

static void
count_spans (struct walk *walk)
{
  const struct rd_writer_state *to = walk->pair->to;
  memset (walk->found, 0, to->nnodes * sizeof *walk->found);
  for (const struct rd_log_chunk *c = to->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      struct found *found = &walk->found[rd_span_node (span)];
      found->n++;
      found->ticks += rd_span_duration (span);
      found->most = rd_max_u64 (found->most, rd_span_duration (span));
      i += rd_span_nslots (span);
    }
}

/*------------------------------------------------------------------------
 * The runs of paths
 *----------------------------------------------------------------------*/

/* The runs and ticks that a path has in the log, by its own figures, above
 * those that were found. */
struct missing {
  int64_t n, ticks;
};

static struct missing
missing_of (const struct rd_node *node, const struct found *found)
{
  return (struct missing) {
    (int64_t) (node->nlogged - found->n),
    (int64_t) (node->total - node->unlogged - found->ticks)
  };
}

/* True if the thread may have ended between its change of a path's figures and
 * that of its log.  Of requests, which any thread writes, each path may be
 * that. */
static bool
is_in_flight (const struct image *image, const struct pair *pair,
              const struct rd_node *node)
{
  size_t depth;
  if (pair->to == image->recorder->synced.async_writer
      || node->edge == RADIO_EDGE_INSTANT)
    return true;
  if (atomic_load_explicit (&pair->from->busy, memory_order_relaxed) == 0
      || !rd_image_depth (image, pair, &depth))
    return false;
  const struct rd_frame *top = &pair->from->frames[depth];
  return rd_image_own_node (image, pair, top->node) == node
         || (depth < RD_MAX_DEPTH
             && rd_image_own_node (image, pair, top[1].node) == node);
}

/* True if the log has all runs of each path, but for one at most that was
 * ending. */
static bool
is_whole (const struct walk *walk)
{
  const struct rd_writer_state *to = walk->pair->to;
  bool has_one = false;
  if (walk->image->faults != 0)
    return false;
  for (size_t i = 0; i < to->nnodes; i++) {
    const struct rd_node *node = to->nodes[i];
    struct missing missing = missing_of (node, &walk->found[i]);
    if (!node->site || (missing.n == 0 && missing.ticks == 0))
      continue;
    if (has_one || missing.n < 0 || missing.n > 1 || missing.ticks < 0
        || !is_in_flight (walk->image, walk->pair, node))
      return false;
    has_one = true;
  }
  return true;
}

/* True if a path's own figures are possible. */
static bool
has_figures (const struct image *image, const struct rd_node *node)
{
  uint64_t ticks = node->total - node->unlogged;
  return node->nlogged <= image->nchunks * image->header->chunk_slots
         && ticks < MAX_TICKS && (node->nlogged > 0 || ticks == 0);
}

#define ROUNDS 4

/* Marks paths with more spans than runs, or whose spans take longer than they
 * did.  If one span is false, it takes at least as long as all are longer; in
 * the last round all spans of the path are. */
static bool
mark_false (struct walk *walk, bool is_last)
{
  const struct rd_writer_state *to = walk->pair->to;
  bool has_false = false;
  for (size_t i = 0; i < to->nnodes; i++) {
    const struct rd_node *node = to->nodes[i];
    struct found *found = &walk->found[i];
    struct missing missing = missing_of (node, found);
    if (!node->site || !has_figures (walk->image, node))
      continue;
    uint64_t above = missing.ticks < 0 ? (uint64_t) -missing.ticks : 0;
    found->is_one = missing.n == -1 && missing.ticks <= 0 && !is_last;
    found->is_false = missing.n < 0 || above > walk->image->margin
                      || found->most > node->total - node->unlogged;
    found->from_ticks = missing.n < -1 || is_last ? 0 : above;
    has_false |= found->is_false;
  }
  return has_false;
}

/* Adds the runs of spans that were dropped, as long as their mean. */
static void
add_missing (struct image *image, const struct rd_writer_state *to,
             struct rd_node *node, const struct found *found)
{
  struct missing missing = missing_of (node, found);
  if (!node->site || (missing.n == 0 && missing.ticks == 0))
    return;
  if (!has_figures (image, node) || missing.n < 0) {
    image->faults |= RD_FAULT_SUM;
    return;
  }
  if (missing.n == 0 || missing.ticks < 0)
    image->faults |= RD_FAULT_SUM;
  node->unlogged += (uint64_t) missing.ticks;
  if (missing.n == 0)
    return;
  uint64_t n = (uint64_t) missing.n;
  uint64_t mean = missing.ticks > 0 ? (uint64_t) missing.ticks / n : 0;
  node->octaves[rd_octave_of (to, mean)] += n;
  node->drops += n;
  node->min = rd_min_u64 (node->min, mean);
  node->max = rd_max_u64 (node->max, mean);
  image->nlost += n;
}

static void
complete_runs (struct walk *walk)
{
  struct image *image = walk->image;
  const struct rd_writer_state *to = walk->pair->to;
  bool is_of_thread = to != image->recorder->synced.async_writer;
  if (image->has_limits && is_of_thread
      && drop_spans (walk, is_disordered) > 0)
    image->faults |= RD_FAULT_ORDER;
  count_spans (walk);
  if (is_whole (walk))
    return;
  if (image->faults == 0)
    image->faults = RD_FAULT_SUM;
  for (int i = 1; i <= ROUNDS && mark_false (walk, i == ROUNDS); i++) {
    image->faults |= RD_FAULT_SUM;
    drop_spans (walk, is_false);
    count_spans (walk);
  }
  for (size_t i = 0; i < to->nnodes; i++)
    add_missing (image, to, to->nodes[i], &walk->found[i]);
}

enum radio_status
rd_image_complete_runs (struct image *image, const struct pair *pair)
{
  struct rd_writer_state *to = pair->to;
  RD_FREE_PLAIN struct found *found = calloc (to->nnodes, sizeof *found);
  if (!found)
    return rd_fail_memory (to->nnodes * sizeof *found);
  struct walk walk = { .image = image, .pair = pair, .found = found };
  complete_runs (&walk);
  for (size_t i = 0; i < to->nnodes; i++)
    to->nodes[i]->nlogged = 0;
  /* Else the latest end is known without the log. */
  for (const struct rd_log_chunk *c = to->log.first; c; c = c->next) {
    to->log_next = to->log_end = c->slots + c->nslots;
    for (size_t i = 0; i < c->nslots && !image->has_limits;) {
      const struct rd_log_span *span = &c->slots[i].span;
      rd_image_note_time (image, end_of (span));
      i += rd_span_nslots (span);
    }
  }
  return RADIO_OK;
}
