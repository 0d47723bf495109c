/* SPDX-License-Identifier: MIT */
/* Logging spans into chunks that fill up. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/record/compact.h"
#include "profiler/record/log.h"
#include "profiler/record/pool.h"
#include "profiler/record/tree.h"

bool
rd_array_grow (void *array_at, size_t *capacity, size_t n, size_t limit,
               size_t element_nbytes)
{
  void *old, *grown;
  if (n < *capacity)
    return true;
  if (n >= limit)
    return false;
  size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
  if (wanted > limit)
    wanted = limit;
  if (wanted > SIZE_MAX / element_nbytes)
    return false;
  memcpy (&old, array_at, sizeof old);
  grown = realloc (old, wanted * element_nbytes);
  if (!grown)
    return false;
  memcpy (array_at, &grown, sizeof grown);
  *capacity = wanted;
  return true;
}

static size_t
chunk_slots (const struct rd_writer_state *writer)
{
  return rd_pool_chunk_slots (writer->recorder->pool);
}

static void
leave_chunk (struct rd_writer_state *writer)
{
  struct rd_log *log = &writer->log;
  if (log->last) {
    log->last->nslots = (size_t) (writer->log_next - log->last->slots);
    log->nappended += log->last->nslots;
  }
}

/* Each node is looked at once in a while; that costs a span next to
 * nothing, since chunks are long. */
#define CONSIDER_EACH 64

static void
begin_chunk (struct rd_writer_state *writer, struct rd_chunk *chunk)
{
  struct rd_log *log = &writer->log;
  leave_chunk (writer);
  if (log->last)
    log->last->next = chunk;
  else
    log->first = chunk;
  log->last = chunk;
  log->nchunks++;
  writer->log_next = chunk->slots;
  writer->log_end = chunk->slots + chunk_slots (writer);
  rd_tree_consider (writer, chunk_slots (writer) / CONSIDER_EACH + 1);
}

static bool
take_chunk (struct rd_writer_state *writer)
{
  struct rd_chunk *chunk
    = rd_pool_take (writer->recorder->pool, writer->log.nchunks);
  if (chunk)
    begin_chunk (writer, chunk);
  return chunk != NULL;
}

static bool
has_room (const struct rd_writer_state *writer, size_t nslots)
{
  return (size_t) (writer->log_end - writer->log_next) >= nslots;
}

/* Room for so many slots, by taking a chunk or by dropping what is
 * shortest. */
static bool
make_room (struct rd_writer_state *writer, size_t nslots)
{
  if (!writer->recorder->pool || nslots > chunk_slots (writer))
    return false;
  if (take_chunk (writer))
    return true;
  if (!writer->log.last)
    return false;
  leave_chunk (writer);
  rd_log_compact (writer, chunk_slots (writer));
  return has_room (writer, nslots) || take_chunk (writer);
}

static void
write_span (union rd_log_slot *slot, const struct rd_node *node,
            const struct rd_log_run *run)
{
  slot->span = (struct rd_log_span) {
    .begin = run->begin,
    .duration_more = run->duration | (run->extra ? RD_SPAN_HAS_EXTRA : 0),
    .sequence_node = run->sequence << 16 | node->number,
    .parent_epoch = run->parent << 16,
  };
  if (run->extra)
    slot[1].extra = *run->extra;
}

/* Making room may raise the threshold. */
union rd_log_slot *
rd_log_take (struct rd_writer_state *writer, struct rd_node *node,
             uint64_t duration, size_t nslots)
{
  if (duration < node->threshold
      || (!has_room (writer, nslots) && !make_room (writer, nslots))
      || duration < node->threshold) {
    rd_node_drop (writer, node, duration);
    return NULL;
  }
  union rd_log_slot *slot = writer->log_next;
  writer->log_next += nslots;
  node->nlogged++;
  return slot;
}

bool
rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
               const struct rd_log_run *run)
{
  union rd_log_slot *slot = rd_log_take (writer, node, run->duration,
                                         run->extra ? 2 : 1);
  if (slot)
    write_span (slot, node, run);
  return slot != NULL;
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
rd_log_settle (struct rd_writer_state *writer)
{
  struct rd_log *log = &writer->log;
  if (log->last)
    log->last->nslots = (size_t) (writer->log_next - log->last->slots);
}

static size_t
count_spans (const struct rd_chunk *chunk)
{
  size_t n = 0;
  for (size_t i = 0; i < chunk->nslots; n++)
    i += rd_span_nslots (&chunk->slots[i].span);
  return n;
}

size_t
rd_log_count (const struct rd_log *log)
{
  size_t n = 0;
  for (const struct rd_chunk *c = log->first; c; c = c->next)
    n += count_spans (c);
  return n;
}

void
rd_log_clear (struct rd_log *log)
{
  *log = (struct rd_log) { .first = NULL };
}
