/* SPDX-License-Identifier: MIT */
/* Frames that have children elsewhere: on other threads, or requests.
 *
 * A shared is made of a frame when its scope is first handed over, and lives
 * as long as it has references: of the frame, of handoffs, of children that
 * run.  From then on every child of the frame enters and leaves through it,
 * those of the frame's own thread too; the frame's self time is its own less
 * the time during which at least one of them ran.  The clock is read under
 * the mutex, and never goes back there, so events are in the order of their
 * times and the union is exact however much the threads' clocks differ.
 *
 * Its use by scope.c and frame.c, with the writer entered (busy):
 *   begin  if the frame below has a shared, via is a reference to it, and
 *          begin = rd_shared_enter (...); else the clock, and via is NULL;
 *   end    if frame->shared or frame->via is not NULL, rd_shared_finish
 *          returns the end and the time covered; else the clock and
 *          `covered'.
 */
#ifndef RD_SHARED_H
#define RD_SHARED_H

#include "profiler/record/record.h"

/* A reference to the shared of the innermost frame, made on first use; NULL
 * without memory.  The frame keeps a reference of its own.  Outside
 * of all scopes, where nothing is to be covered, each call makes another
 * shared, which no frame keeps. */
struct rd_shared *rd_shared_take (struct rd_writer_state *writer);

struct rd_shared *rd_shared_ref (struct rd_shared *shared);

/* NULL is legal. */
void rd_shared_unref (struct rd_shared *shared);

/* A child begins to run under shared, which its frame->via refers to, or is a
 * request without a frame.  Returns the time. */
uint64_t rd_shared_enter (struct rd_shared *shared);

/* How a frame ended. */
struct rd_ending {
  uint64_t end;               /* not before its begin */
  uint64_t covered;           /* of its interval, by the union of children */
  bool late;                  /* its parent, elsewhere, had ended before */
};

/* The frame ends, and leaves the shared that it entered.  Drops both
 * references, and sets the frame's shared and via to NULL. */
void rd_shared_finish (struct rd_writer_state *writer,
                       struct rd_frame *frame, struct rd_ending *ending);

/* The same for a request; the reference is the caller's.  It ends not before
 * `begin'.  Returns true if it is late. */
bool rd_shared_leave_request (struct rd_shared *shared, uint64_t begin,
                              uint64_t *end);

/* True if the frame ended by itself: not because recording did. */
bool rd_shared_has_ended (struct rd_shared *shared);

/* Ends the open requests of a recorder (see handoff.c) at this time, as open.
 * Called with its mutex held, when it stops, after the frames were closed.
 * The handles stay, and refer to the recorder, until they are ended. */
void rd_async_stop (struct radio_recorder *recorder, uint64_t now);

#endif /* RD_SHARED_H */
