/* SPDX-License-Identifier: MIT */
/* All writers' logs into the profile's one: spans with ids of their own, and
 * parents wherever these ran. */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/record/collect.h"

/* What it takes to make spans of one writer's log. */
struct walk {
  struct rd_collection *collection;
  const struct rd_writer_state *writer;
  const uint32_t *lanes;      /* of the writer's sessions; NULL: requests */
};

uint64_t
rd_collect_time (const struct rd_collection *collection, uint64_t ticks)
{
  uint64_t since = ticks > collection->origin
    ? ticks - collection->origin
    : 0;
  return rd_rate_ns (&collection->recorder->rate, since);
}

/* The lane of the thread that had the writer; the last session that began
 * before the span. */
static uint32_t
lane_of (const struct walk *walk, uint64_t sequence)
{
  const struct rd_session *sessions = walk->writer->sessions.at;
  size_t low = 0, high = walk->writer->sessions.n;
  if (!walk->lanes || high == 0)
    return RD_NO_INDEX;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (sessions[middle].first <= sequence)
      low = middle;
    else
      high = middle;
  }
  return walk->lanes[low];
}

static const struct rd_node *
node_of (const struct walk *walk, const struct rd_log_span *span)
{
  return walk->writer->nodes[rd_span_node (span)];
}

static enum radio_status
parent_of (const struct walk *walk, const struct rd_log_span *span,
           const struct rd_log_extra *extra, uint32_t *parent)
{
  uint64_t sequence = rd_span_parent (span);
  bool is_remote = (extra->flags & RD_LOG_REMOTE_PARENT) != 0;
  *parent = 0;
  if (sequence == 0)
    return RADIO_OK;
  return rd_ids_give (&walk->collection->ids,
                      is_remote ? extra->parent_writer
                                : walk->writer->number,
                      sequence, parent);
}

static uint32_t
flags_of (const struct rd_log_extra *extra)
{
  return (extra->flags & RD_LOG_OPEN ? RD_SPAN_OPEN : 0)
         | (extra->flags & RD_LOG_LATE ? RD_SPAN_LATE : 0);
}

static enum radio_status
add_span (struct walk *walk, const struct rd_log_span *span)
{
  struct rd_collection *collection = walk->collection;
  uint64_t sequence = rd_span_sequence (span);
  const struct rd_log_extra *extra = rd_span_extra (span);
  if (node_of (walk, span)->folded)
    return RADIO_OK;
  uint64_t begin = rd_collect_time (collection, span->begin);
  uint64_t end = rd_collect_time (collection, span->begin
                                              + rd_span_duration (span));
  bool has_tile = (extra->flags & RD_LOG_TILE) != 0;
  bool has_text = (extra->flags & RD_LOG_TEXT) != 0;
  struct rd_span new = {
    .begin_ns = begin,
    .duration_ns = end - begin,
    .submitted_ns = !has_tile && !has_text && extra->submitted
      ? rd_min_u64 (rd_collect_time (collection, extra->submitted), begin)
      : begin,
    .wait_ns = rd_rate_ns (&collection->recorder->rate, extra->wait),
    .id = (uint32_t) (collection->profile->spans.n + 1),
    .node = node_of (walk, span)->index,
    .lane = lane_of (walk, sequence),
    .flags = flags_of (extra),
    .nbytes = extra->nbytes,
    .tile = has_tile ? extra->tile + 1 : 0,
    .stored_nbytes = has_tile ? extra->stored_nbytes : 0,
  };
  RD_TRY (parent_of (walk, span, extra, &new.parent));
  return rd_profile_add_span (collection->profile, &new);
}

/* A span gets the id that is one more than its place in the profile, where
 * those of folded nodes have none. */
static enum radio_status
give_id (struct walk *walk, const struct rd_log_span *span)
{
  uint32_t id;
  if (node_of (walk, span)->folded)
    return RADIO_OK;
  return rd_ids_give (&walk->collection->ids, walk->writer->number,
                      rd_span_sequence (span), &id);
}

static enum radio_status
walk_log (struct walk *walk,
          enum radio_status (*visit) (struct walk *,
                                      const struct rd_log_span *))
{
  const struct rd_chunk *chunk = walk->writer->log.first;
  for (; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < chunk->nslots;) {
      const struct rd_log_span *span = &chunk->slots[i].span;
      RD_TRY (visit (walk, span));
      i += rd_span_nslots (span);
    }
  }
  return RADIO_OK;
}

static enum radio_status
walk_logs (struct rd_collection *collection,
           enum radio_status (*visit) (struct walk *,
                                       const struct rd_log_span *))
{
  const struct radio_recorder *recorder = collection->recorder;
  const uint32_t *lanes = collection->lanes;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    struct walk walk = {
      .collection = collection,
      .writer = writer,
      .lanes = writer == recorder->synced.async_writer ? NULL : lanes,
    };
    lanes += writer->sessions.n;
    RD_TRY (walk_log (&walk, visit));
  }
  return RADIO_OK;
}

enum radio_status
rd_collect_log (struct rd_collection *collection)
{
  RD_TRY (walk_logs (collection, give_id));
  return walk_logs (collection, add_span);
}
