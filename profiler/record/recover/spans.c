/* SPDX-License-Identifier: MIT */
/* The spans of an image that are sound: each has a checksum, and they are in
 * the order in which they ended.  Others are dropped.  The figures of their
 * paths have their runs without the log. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/record/recover/recover.h"

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
      || !rd_image_is_time (image, span->begin)
      || (span->parent_epoch & RD_SPAN_CHECK) != rd_span_check (span))
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
 * Spans out of order
 *----------------------------------------------------------------------*/

struct walk {
  const struct image *image;
  const struct rd_writer_state *to;
  uint64_t latest;            /* end of the last span that was kept */
  bool has_latest;
};

/* True if a span ends before the last one, or after the next one (NULL: none),
 * and these two are in order. */
static bool
is_disordered (struct walk *walk, const struct rd_log_span *span,
               const struct rd_log_span *next)
{
  const uint64_t end = end_of (span), margin = walk->image->margin;
  const uint64_t after = next ? end_of (next) : walk->to->last_end;
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

static void
drop_disordered (struct image *image, const struct rd_writer_state *to)
{
  struct walk walk = { .image = image, .to = to };
  for (struct rd_log_chunk *c = to->log.first; c; c = c->next) {
    const size_t nslots = c->nslots;
    const struct rd_log_chunk *next = c->next;
    c->nslots = 0;
    while (next && next->nslots == 0)
      next = next->next;
    for (size_t i = 0, n; i < nslots; i += n) {
      const union rd_log_slot *slot = &c->slots[i];
      n = rd_span_nslots (&slot->span);
      const struct rd_log_span *after = i + n < nslots ? &slot[n].span
                                        : next ? &next->slots->span : NULL;
      if (is_disordered (&walk, &slot->span, after)) {
        image->faults |= RD_FAULT_ORDER;
        continue;
      }
      memmove (&c->slots[c->nslots], slot, n * sizeof *slot);
      c->nslots += n;
    }
  }
}

/*------------------------------------------------------------------------
 * Spans that are missing
 *----------------------------------------------------------------------*/

/* The number of spans that the log had, which its first chunk and the writer
 * know; 0: that is damaged. */
static uint64_t
count_had (const struct image *image, const struct pair *pair)
{
  const struct rd_log *log = &pair->from->log;
  const struct rd_log_chunk *first = RESOLVE (image, log->first, 1);
  uint64_t n = first ? log->nspans - first->nbefore : 0;
  return n <= image->nchunks * image->header->chunk_slots ? n : 0;
}

/* True if the thread may have ended between its change of that number and that
 * of its log.  Requests are written by any thread. */
static bool
is_in_flight (const struct image *image, const struct pair *pair)
{
  return pair->to == image->recorder->synced.async_writer
         || atomic_load_explicit (&pair->from->busy, memory_order_relaxed) != 0;
}

enum radio_status
rd_image_check_spans (struct image *image, const struct pair *pair)
{
  struct rd_writer_state *to = pair->to;
  uint64_t nfound = 0;
  if (image->has_limits && to != image->recorder->synced.async_writer)
    drop_disordered (image, to);
  for (const struct rd_log_chunk *c = to->log.first; c; c = c->next) {
    to->log_next = to->log_end = c->slots + c->nslots;
    for (size_t i = 0; i < c->nslots; nfound++) {
      const struct rd_log_span *span = &c->slots[i].span;
      /* Else the latest end is known without the log. */
      if (!image->has_limits)
        rd_image_note_time (image, end_of (span));
      i += rd_span_nslots (span);
    }
  }
  uint64_t nlost = rd_subtract (count_had (image, pair), nfound);
  nlost -= nlost > 0 && is_in_flight (image, pair);
  if (nlost > 0 && image->faults == 0)
    image->faults = RD_FAULT_LIST;
  image->nlost += nlost;
  return RADIO_OK;
}
