/* SPDX-License-Identifier: MIT */
/* Frames, the scopes while they are open, off the hot path: for scopes that
 * are received from another thread, and for those that end by other means
 * than radio_scope_end.  And taps, which show scopes to other tools. */
#ifndef RD_FRAME_H
#define RD_FRAME_H

#include "profiler/record/record.h"

/*------------------------------------------------------------------------
 * Taps: USDT probes for perf and bpftrace, ITT tasks for VTune, NVTX ranges
 * for Nsight, as the library was built; called only by recorders that were
 * started with `taps'.  Scopes of one thread, properly nested, on the thread
 * itself.
 *
 * They call foreign code, which may take its time, record scopes of its own,
 * or stop the recorder.  So they are called when the writer was left and
 * nothing is locked, and the writer is not touched afterwards.  Scopes that a
 * tap records are recorded (within the scope that begins, or beside the one
 * that ended), but do not call taps.
 *----------------------------------------------------------------------*/

/* Frames that ended, the innermost first, for rd_tap_end. */
struct rd_tap_ends {
  size_t n;
  const struct radio_site *sites[RD_MAX_DEPTH];
};

void rd_tap_begin (const struct radio_site *site);
void rd_tap_end (const struct rd_tap_ends *ends);
void rd_tap_instant (const struct radio_site *site);

/*------------------------------------------------------------------------
 * Frames
 *----------------------------------------------------------------------*/

/* Opens a frame at a node (of rd_tree_child) on the entered writer.  shared
 * is that of the new scope's parent, here or elsewhere, or NULL; it is
 * entered.  The frame begins as its site's kind requires, and its id is its
 * token.  NULL: too deep; the innermost node counts it as skipped.  If it
 * is_tapped, rd_tap_begin is due when the writer was left. */
struct rd_frame *rd_frame_open (struct rd_writer_state *writer,
                                struct rd_node *node,
                                struct rd_shared *shared);

/* Ends the innermost frame, as open, since recording stops (nothing writes the
 * writer any more) or, on the entered writer, its thread ends.  ends may be
 * NULL. */
void rd_frame_abandon (struct rd_writer_state *writer, bool thread_ends,
                       struct rd_tap_ends *ends);

/* The child of a frame's path, which becomes the first guess of scope.c.
 * NULL: as rd_tree_child, or there is no room for its frame. */
struct rd_node *rd_frame_child (struct rd_writer_state *writer,
                                struct rd_frame *parent,
                                const struct radio_site *site);

/* Ends the frame with this token, and those in it as open, leaves the entered
 * writer, and calls taps.  False: there is no such frame. */
bool rd_frame_end (struct rd_writer_state *writer, uint64_t token,
                   uint64_t now);

/* Splits the time of the innermost frame, of a writer whose thread does not
 * write it any more, by what its account was at a moment (rd_recorder_observe):
 * what is neither CPU time nor without a CPU was sleep.  From then to the
 * frame's end the thread is taken to go on as it was seen: it runs, sleeps or
 * waits for a CPU; or sleeps, if its process is_stopped, then also from its
 * last event on if that was after the moment.  Else no effect if the thread
 * began or ended a scope since.  Returns until when it is known if the thread
 * ran: the moment, or its last event. */
uint64_t rd_frame_observe (struct rd_writer_state *writer, uint64_t moment,
                       uint64_t end, bool is_stopped);

/* The calling thread has just got the entered writer: reads its accounts, where
 * the writer was another thread's, whose last scope may have ended just now.
 * Else its first scope does. */
void rd_frame_begin_thread (struct rd_writer_state *writer);

/* Reads the thread's CPU time, at a moment that was just read. */
void rd_frame_read_cpu (struct rd_writer_state *writer, uint64_t now);

/* The same for a frame of kind BLOCKING that begins after that.  Returns the
 * time after that. */
uint64_t rd_frame_begin_at_cpu (struct rd_writer_state *writer,
                                struct rd_frame *frame, uint64_t now);

/* A frame begins: if long after the last event of its thread, the time since
 * then is read from the run queue for the frame below.  Returns the time after
 * that. */
uint64_t rd_frame_read_gap (struct rd_writer_state *writer,
                            struct rd_frame *frame, uint64_t now);

static inline uint64_t
rd_frame_check_gap (struct rd_writer_state *writer, struct rd_frame *frame,
                    uint64_t now)
{
  if (__builtin_expect (now - writer->last_end >= writer->long_own, 0))
    return rd_frame_read_gap (writer, frame, now);
  return now;
}

/* Notes the thread's CPU time at a moment, since when it ran. */
static inline void
rd_frame_note_cpu (struct rd_writer_state *writer, struct rd_frame *frame,
                   uint64_t moment)
{
  rd_frame_mark (frame, RD_FRAME_BLOCKING);
  frame->waited_before = writer->waited;
  frame->cpu_begin = writer->cpu.above + moment - writer->waited;
}

/* Begins a frame of kind BLOCKING.  Returns the time. */
static inline uint64_t
rd_frame_begin_blocking (struct rd_writer_state *writer,
                         struct rd_frame *frame)
{
  uint64_t now = rd_clock_now (&writer->clock);
  now = rd_frame_check_gap (writer, frame, now);
  if (__builtin_expect (now >= writer->cpu.fresh_until, 0))
    return rd_frame_begin_at_cpu (writer, frame, now);
  rd_frame_note_cpu (writer, frame, now);
  return now;
}

/* True if a frame is of a call that may have blocked, and did not report
 * that it ran. */
static inline bool
rd_frame_could_wait (const struct rd_frame *frame)
{
  return (frame->special & (RD_FRAME_BLOCKING | RD_FRAME_RUNNING)) != 0;
}

/* True if a scope that could wait spent enough ticks of its own for a reading
 * of the CPU clock. */
static inline bool
rd_frame_may_have_waited (const struct rd_writer_state *writer,
                          uint64_t own)
{
  return own >= writer->cpu.least_wait;
}

#endif /* RD_FRAME_H */
