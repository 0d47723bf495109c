/* SPDX-License-Identifier: MIT */
/* Logging spans into chunks that fill up. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/record/compact.h"
#include "profiler/record/log.h"
#include "profiler/record/pool.h"

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
chunk_spans (const struct rd_writer_state *writer)
{
  return rd_pool_chunk_spans (writer->recorder->pool);
}

static void
leave_chunk (struct rd_writer_state *writer)
{
  struct rd_log *log = &writer->log;
  if (log->last) {
    log->last->nspans = chunk_spans (writer);
    log->nappended += log->last->nspans;
  }
}

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
  writer->log_next = chunk->spans;
  writer->log_end = chunk->spans + chunk_spans (writer);
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

/* Room for one more, by taking a chunk or by dropping what is shortest. */
static bool
make_room (struct rd_writer_state *writer)
{
  if (take_chunk (writer))
    return true;
  if (!writer->log.last)
    return false;
  leave_chunk (writer);
  rd_log_compact (writer, chunk_spans (writer));
  return writer->log_next < writer->log_end || take_chunk (writer);
}

bool
rd_log_append_slowly (struct rd_writer_state *writer, struct rd_node *node,
                      uint64_t begin, uint64_t duration, uint64_t sequence,
                      uint64_t parent)
{
  bool has_room = writer->log_next < writer->log_end
                  || (writer->recorder->pool && make_room (writer));
  if (!has_room || duration < node->threshold) {
    node->drops++;
    return false;
  }
  rd_span_set (writer->log_next++, node, begin, duration, sequence, parent);
  return true;
}

bool
rd_log_append (struct rd_writer_state *writer, struct rd_node *node,
               uint64_t begin, uint64_t duration, uint64_t sequence,
               uint64_t parent)
{
  if (duration >= node->threshold && writer->log_next < writer->log_end) {
    rd_span_set (writer->log_next++, node, begin, duration, sequence,
                 parent);
    return true;
  }
  if (duration >= node->threshold)
    return rd_log_append_slowly (writer, node, begin, duration, sequence,
                                 parent);
  node->drops++;
  return false;
}

void
rd_log_add_extra (struct rd_writer_state *writer,
                  const struct rd_log_extra *extra)
{
  struct rd_log_extra *e = RD_ARRAY_ADD (&writer->log.extras, SIZE_MAX);
  if (e)
    *e = *extra;
}

uint64_t
rd_log_mark (const struct rd_writer_state *writer)
{
  const struct rd_log *log = &writer->log;
  return log->last
         ? log->nappended + (uint64_t) (writer->log_next - log->last->spans)
         : 0;
}

void
rd_log_settle (struct rd_writer_state *writer)
{
  struct rd_log *log = &writer->log;
  if (log->last)
    log->last->nspans = (size_t) (writer->log_next - log->last->spans);
}

size_t
rd_log_count (const struct rd_log *log)
{
  size_t n = 0;
  for (const struct rd_chunk *c = log->first; c; c = c->next)
    n += c->nspans;
  return n;
}

void
rd_log_free (struct rd_log *log)
{
  free (log->extras.at);
  *log = (struct rd_log) { .first = NULL };
}
