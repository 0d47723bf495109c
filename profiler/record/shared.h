/* SPDX-License-Identifier: MIT */
/* Frames that have children elsewhere: on other threads, or requests.
 *
 * A shared is made of a frame when its scope is first handed on, and lives
 * as long as anybody refers to it: the frame, handoffs, children that run.
 * From then on every child of the frame enters and leaves through it, those
 * of the frame's own thread too, and the time during which at least one of
 * them ran is what the frame's self time lacks.  The clock is read under the
 * mutex, and never goes back there, so events come in the order of their
 * times and the union is exact whatever the threads' clocks differ by.
 *
 * The seam with scope.c:
 *   begin  if the frame below has a shared, begin = rd_shared_enter (...),
 *          which sets frame->via; else the clock, and via is NULL;
 *   end    if frame->shared or frame->via is not NULL, rd_shared_finish
 *          gives the end and what was covered; else the clock and `covered'.
 * The writer is entered (busy) during all of these.
 */
#ifndef RD_SHARED_H
#define RD_SHARED_H

#include "profiler/record/record.h"

/* A reference to the shared of the innermost frame, made if there is none
 * yet; NULL without memory.  The frame keeps a reference of its own; outside
 * of all scopes, where nothing is to be covered, each call makes another
 * shared, which no frame keeps. */
struct rd_shared *rd_shared_take (struct rd_writer_state *writer);

struct rd_shared *rd_shared_ref (struct rd_shared *shared);

/* NULL is legal. */
void rd_shared_unref (struct rd_shared *shared);

/* A child begins to run under shared: sets frame->via, which holds a
 * reference, and returns when. */
uint64_t rd_shared_enter (struct rd_writer_state *writer,
                          struct rd_shared *shared, struct rd_frame *frame);

/* How a frame ended. */
struct rd_ending {
  uint64_t end;               /* not before its begin */
  uint64_t covered;           /* of its interval, by the union of children */
  bool late;                  /* its parent, elsewhere, had ended before */
};

/* The frame ends, and leaves the shared that it went through.  Both
 * references are dropped; the frame's shared and via are NULL then. */
void rd_shared_finish (struct rd_writer_state *writer,
                       struct rd_frame *frame, struct rd_ending *ending);

/* The same two for a child without a frame, a request; the references are
 * the caller's.  It ends not before `begin'.  Returns whether it is late. */
uint64_t rd_shared_enter_request (struct rd_shared *shared);
bool rd_shared_leave_request (struct rd_shared *shared, uint64_t begin,
                              uint64_t *end);

/* Whether the frame ended, by itself: not because recording did. */
bool rd_shared_has_ended (struct rd_shared *shared);

/* What the end of a received scope does beside rd_shared_finish, after the
 * node was updated and the frame popped: the frame below on this thread
 * lacks the time, though the scope is no child of it, and a thread that was
 * attached for the scope is detached. */
void rd_received_end (struct rd_writer_state *writer, struct rd_frame *frame,
                      uint64_t duration);

#endif /* RD_SHARED_H */
