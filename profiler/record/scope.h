/* SPDX-License-Identifier: MIT */
/* Frames: scopes while they are open.  For scopes that come over from
 * another thread, which open a frame with a little more about it, and for
 * those that end by other means than radio_scope_end. */
#ifndef RD_SCOPE_H
#define RD_SCOPE_H

#include "profiler/record/record.h"

struct rd_tap_ends;

/* Open a frame at a node (of rd_tree_child) on the entered writer.  shared
 * is what the new scope's parent has, here or elsewhere, or NULL; it is
 * entered.  What the site's kind asks for is done.  The frame's id is its
 * token.  NULL: too deep; the innermost node counts it as skipped.  If it
 * is_told, taps are to be told when the writer was left. */
struct rd_frame *rd_frame_open (struct rd_writer_state *writer,
                                struct rd_node *node,
                                struct rd_shared *shared);

/* The innermost frame ends now without having been closed; on the entered
 * writer, or when nobody writes it any more.  As for rd_frame_end, ends may
 * be NULL. */
void rd_frame_abandon (struct rd_writer_state *writer,
                       struct rd_tap_ends *ends);

/* Something without duration, below the innermost scope.  False: it could
 * not be recorded. */
bool rd_frame_instant (struct rd_writer_state *writer,
                       const struct radio_site *site);

/* For scope.c: the child of a frame's path, which will be guessed from now
 * on; NULL as rd_tree_child, or where there is no room for its frame. */
struct rd_node *rd_frame_child (struct rd_writer_state *writer,
                                struct rd_frame *parent,
                                const struct radio_site *site);

/* End the frame with this token, and those in it as open.  False: there is
 * none.  ends gets those that taps were told of; NULL: there are no taps. */
bool rd_frame_end (struct rd_writer_state *writer, uint64_t token,
                   uint64_t now, struct rd_tap_ends *ends);

/* The same on the entered writer, which is left here; then taps are told. */
bool rd_frame_end_and_tell (struct rd_writer_state *writer, uint64_t token,
                            uint64_t now);

/* Read what the thread has run.  Returns the time after that. */
uint64_t rd_frame_read_cpu (struct rd_writer_state *writer, uint64_t now);

/* The time, once it is known what the thread has run. */
static inline uint64_t
rd_frame_refresh_cpu (struct rd_writer_state *writer)
{
  uint64_t now = rd_clock_now (&writer->clock);
  if (__builtin_expect (now >= writer->cpu.fresh_until, 0))
    return rd_frame_read_cpu (writer, now);
  return now;
}

/* Note what the thread had run at a moment, since when it ran. */
static inline void
rd_frame_note_cpu (struct rd_writer_state *writer, struct rd_frame *frame,
                   uint64_t moment)
{
  rd_frame_mark (frame, RD_FRAME_BLOCKING);
  frame->waited_before = writer->waited;
  frame->cpu_begin = writer->cpu.above + moment - writer->waited;
}

/* A frame of a scope that may block.  Returns the time. */
static inline uint64_t
rd_frame_begin_blocking (struct rd_writer_state *writer,
                         struct rd_frame *frame)
{
  uint64_t now = rd_frame_refresh_cpu (writer);
  rd_frame_note_cpu (writer, frame, now);
  return now;
}

/* It is open, did nothing but run, and may block from now on. */
static inline void
rd_frame_blocks (struct rd_writer_state *writer, struct rd_frame *frame)
{
  rd_frame_refresh_cpu (writer);
  rd_frame_note_cpu (writer, frame, frame->begin);
}

/* Whether a frame is of a call that may have blocked, for all it said. */
static inline bool
rd_frame_could_wait (const struct rd_frame *frame)
{
  return (frame->special & (RD_FRAME_BLOCKING | RD_FRAME_RUNNING)) != 0;
}

/* Whether a scope that may block is to be asked what its thread ran, having
 * had so many ticks for itself. */
static inline bool
rd_frame_may_have_waited (const struct rd_writer_state *writer,
                          uint64_t own)
{
  return own >= writer->cpu.least_wait;
}

#endif /* RD_SCOPE_H */
