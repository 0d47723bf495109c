/* SPDX-License-Identifier: MIT */
/* The hot path: a scope's begin and end.
 *
 * Reading the clock twice is most of the cost, and the rest is kept to a
 * handful of cache lines: the writer's first, the frame's, the node's first
 * and one of its histogram, and the log's.  Whatever is out of the ordinary
 * (a new path, a parent that other threads share, a scope that waits) goes
 * to cold functions, and to frame.c. */
#include <config.h>

#include "profiler/record/log.h"
#include "profiler/record/scope.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define likely(x) __builtin_expect (!!(x), 1)
#define unlikely(x) __builtin_expect (!!(x), 0)
#define COLD __attribute__ ((__noinline__, __cold__))

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

/* The child of a path that began last, or the one that followed it then;
 * else NULL. */
static inline struct rd_node *
guess_child (struct rd_node *parent, const struct radio_site *site)
{
  struct rd_node *node = parent->latest_child;
  if (likely (node->site == site))
    return node;
  node = node->successor;
  if (unlikely (node->site != site))
    return NULL;
  parent->latest_child = node;
  return node;
}

/* The writer is entered, and left here. */
COLD static uint64_t
begin_rarely (struct rd_writer_state *writer, const struct radio_site *site)
{
  struct rd_frame *parent = writer->top;
  struct rd_frame *frame = NULL;
  struct rd_node *node = rd_frame_child (writer, parent, site);
  if (node)
    frame = rd_frame_open (writer, node, parent->shared);
  uint64_t token = frame ? frame->id : 0;
  rd_writer_leave (writer);
  return token;
}

/* This thread has no writer, or the recorder of the one it has stopped. */
COLD static uint64_t
begin_anew (const struct radio_site *site)
{
  struct rd_writer_state *writer;
  while ((writer = rd_writer_current ()) != NULL)
    if (rd_writer_enter (writer))
      return begin_rarely (writer, site);
  return 0;
}

/* On the entered writer, which is left here.  Reads the counter alone if
 * is_tsc. */
static inline __attribute__ ((__always_inline__)) uint64_t
begin_entered (struct rd_writer_state *writer, const struct radio_site *site,
               bool is_tsc)
{
  struct rd_frame *parent = writer->top;
  struct rd_node *node = guess_child (parent->node, site);
  if (unlikely (!node) || unlikely (parent->fenced))
    return begin_rarely (writer, site);
  struct rd_frame *frame = parent + 1;
  uint64_t id = writer->next_id;
  writer->next_id = id + RD_ID_STEP;
  frame->node = node;
  frame->covered = 0;
  frame->id = id;
  writer->top = frame;
  frame->begin = is_tsc ? rd_counter_read () : rd_clock_now (&writer->clock);
  rd_writer_leave (writer);
  return id;
}

/* The writer has something to heed; it may be busy already. */
COLD static uint64_t
begin_heeding (struct rd_writer_state *writer, const struct radio_site *site)
{
  if (!rd_writer_enter (writer))
    return begin_anew (site);
  if (rd_writer_has_taps (writer))
    return begin_rarely (writer, site);
  return begin_entered (writer, site, false);
}

uint64_t
radio_scope_begin (const struct radio_site *site)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  if (unlikely (!writer))
    return begin_anew (site);
  if (unlikely (rd_writer_enter_quickly (writer) != 0))
    return begin_heeding (writer, site);
  return begin_entered (writer, site, true);
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* A scope of a writer that is not current any more: one below on the stack,
 * or one that the thread was taken from. */
COLD static void
end_elsewhere (uint64_t token)
{
  struct rd_writer_state *writer = rd_this_thread.mine;
  for (; writer; writer = writer->next_mine)
    if (rd_writer_enter (writer)) {
      bool found = rd_frame_end (writer, token,
                                 rd_clock_now (&writer->clock));
      rd_writer_leave (writer);
      if (found)
        return;
    }
}

/* The writer is entered, and left here. */
COLD static void
end_rarely (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  bool found = rd_frame_end (writer, token, now);
  rd_writer_leave (writer);
  if (!found)
    end_elsewhere (token);
}

/* The log has no room, or a node is to be considered. */
COLD static void
log_rarely (struct rd_writer_state *writer, const struct rd_frame *frame,
            uint64_t duration, struct rd_node *considered)
{
  if (considered)
    rd_node_consider (writer, considered);
  rd_log_append (writer, frame->node, frame->begin, duration,
                 rd_frame_sequence (frame), rd_frame_sequence (frame - 1));
  rd_writer_leave (writer);
}

/* On the entered writer, which is left here. */
static inline void
log_frame (struct rd_writer_state *writer, const struct rd_frame *frame,
           uint64_t duration, struct rd_node *considered)
{
  struct rd_node *node = frame->node;
  struct rd_log_span *span = writer->log_next;
  if (unlikely (considered != NULL)
      || (unlikely (span == writer->log_end)
          && likely (duration >= node->threshold))) {
    log_rarely (writer, frame, duration, considered);
    return;
  }
  if (unlikely (duration < node->threshold))
    node->drops++;
  else {
    writer->log_next = span + 1;
    span->begin = frame->begin;
    span->duration = duration;
    span->sequence_node = frame->id + node->tag;
    span->parent_epoch = (frame - 1)->id;
  }
  rd_writer_leave (writer);
}

/* On the entered writer, which is left here.  A parent is as long as its
 * children at least, even if the clock, which is read without fences, should
 * say otherwise by a few ticks: so total is self and children, exactly. */
static inline __attribute__ ((__always_inline__)) void
end_entered (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  if (unlikely (frame->id != token) || unlikely (frame->special)) {
    end_rarely (writer, token, now);
    return;
  }
  uint64_t covered = frame->covered;
  uint64_t duration = now - frame->begin;
  if (unlikely ((int64_t) (duration - covered) < 0))
    duration = covered;
  writer->top = frame - 1;
  writer->last_end = now;
  (frame - 1)->covered += duration;
  struct rd_node *considered
    = rd_node_add_time (writer, frame->node, duration);
  log_frame (writer, frame, duration, considered);
}

/* The writer has something to heed; it may be busy already. */
COLD static void
end_heeding (struct rd_writer_state *writer, uint64_t token)
{
  uint64_t now = rd_clock_now (&writer->clock);
  if (!rd_writer_enter (writer))
    end_elsewhere (token);
  else if (rd_writer_has_taps (writer))
    end_rarely (writer, token, now);
  else
    end_entered (writer, token, now);
}

void
radio_scope_end (uint64_t token)
{
  uint64_t now = rd_counter_read ();
  struct rd_writer_state *writer = rd_this_thread.current;
  if (unlikely (!writer)) {
    end_elsewhere (token);
    return;
  }
  if (unlikely (rd_writer_enter_quickly (writer) != 0)) {
    end_heeding (writer, token);
    return;
  }
  end_entered (writer, token, now);
}

/*------------------------------------------------------------------------
 * Within a scope
 *----------------------------------------------------------------------*/

void
radio_scope_add (const struct radio_counter *counter, uint64_t value)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  rd_frame_count (writer, counter, value);
  rd_writer_leave (writer);
}

void
radio_scope_instant (const struct radio_site *site)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  rd_frame_instant (writer, site);
  rd_writer_leave (writer);
}
