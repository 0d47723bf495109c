/* SPDX-License-Identifier: MIT */
/* The exact union of the intervals of a frame's children, wherever they ran,
 * in constant memory.
 *
 * A frame that ends holds two mutexes, its own shared's and then the one
 * that it went through, so that it ends for both at one time.  The second
 * belongs to a frame that is older, so threads cannot wait in a circle.
 */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/record/shared.h"
#include "profiler/record/writer.h"

static struct rd_shared *
make (const struct rd_writer_state *writer, const struct rd_frame *frame)
{
  struct rd_shared *shared = malloc (sizeof *shared);
  if (!shared)
    return NULL;
  rd_recorder_ref (writer->recorder);
  *shared = (struct rd_shared) {
    .recorder = writer->recorder,
    .node = frame->node,
    .writer = writer->number,
    .sequence = rd_frame_sequence (frame),
    .covered = frame->covered - frame->elsewhere,
    .latest = frame->begin,
  };
  atomic_init (&shared->nrefs, 1);
  pthread_mutex_init (&shared->mutex, NULL);
  return shared;
}

struct rd_shared *
rd_shared_take (struct rd_writer_state *writer)
{
  struct rd_frame *frame = writer->top;
  if (frame == writer->frames)
    return make (writer, frame);
  if (!frame->shared) {
    frame->shared = make (writer, frame);
    if (!frame->shared)
      return NULL;
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->fenced = true;
  }
  return rd_shared_ref (frame->shared);
}

struct rd_shared *
rd_shared_ref (struct rd_shared *shared)
{
  atomic_fetch_add_explicit (&shared->nrefs, 1, memory_order_relaxed);
  return shared;
}

void
rd_shared_unref (struct rd_shared *shared)
{
  if (!shared
      || atomic_fetch_sub_explicit (&shared->nrefs, 1,
                                    memory_order_acq_rel) != 1)
    return;
  pthread_mutex_destroy (&shared->mutex);
  rd_recorder_unref (shared->recorder);
  free (shared);
}

/* The clock where the mutex is held: it never goes back. */
static uint64_t
read_clock (struct rd_shared *shared, const struct rd_clock *clock)
{
  shared->latest = rd_max_u64 (shared->latest, rd_clock_now (clock));
  return shared->latest;
}

static uint64_t
enter (struct rd_shared *shared, const struct rd_clock *clock)
{
  RD_LOCK_SCOPE (&shared->mutex);
  uint64_t now = read_clock (shared, clock);
  if (shared->nactive++ == 0)
    shared->cover_begin = now;
  return now;
}

uint64_t
rd_shared_enter (struct rd_writer_state *writer,
                 struct rd_shared *shared,
                 struct rd_frame *frame)
{
  frame->via = rd_shared_ref (shared);
  rd_frame_mark (frame, RD_FRAME_SPECIAL);
  return enter (shared, &writer->clock);
}

uint64_t
rd_shared_enter_request (struct rd_shared *shared)
{
  return enter (shared, &shared->recorder->clock);
}

/* A child left; the mutex is held.  True if its parent had ended. */
static bool
leave (struct rd_shared *shared, uint64_t end)
{
  shared->latest = end;
  if (--shared->nactive == 0)
    shared->covered += end - shared->cover_begin;
  return shared->ended;
}

/* What was covered until the frame ended; the mutex is held. */
static uint64_t
covered_until (const struct rd_shared *shared, uint64_t end)
{
  return shared->covered
         + (shared->nactive > 0 ? end - shared->cover_begin : 0);
}

bool
rd_shared_leave_request (struct rd_shared *shared,
                         uint64_t begin,
                         uint64_t *end)
{
  RD_LOCK_SCOPE (&shared->mutex);
  uint64_t now = read_clock (shared, &shared->recorder->clock);
  *end = rd_max_u64 (now, begin);
  return leave (shared, *end);
}

bool
rd_shared_has_ended (struct rd_shared *shared)
{
  RD_LOCK_SCOPE (&shared->mutex);
  return shared->ended;
}

static pthread_mutex_t *
lock_of (struct rd_shared *shared)
{
  return shared ? rd_lock_mutex (&shared->mutex) : NULL;
}

/* Both mutexes are held. */
static void
finish (struct rd_frame *frame, uint64_t now, struct rd_ending *ending)
{
  struct rd_shared *own = frame->shared, *via = frame->via;
  uint64_t end = rd_max_u64 (now, frame->begin);
  if (own)
    end = rd_max_u64 (end, own->latest);
  if (via)
    end = rd_max_u64 (end, via->latest);
  ending->end = end;
  ending->covered = own ? covered_until (own, end)
                        : frame->covered - frame->elsewhere;
  ending->late = via && leave (via, end);
  if (own)
    own->latest = end;
}

/* A frame that ends because all recording does has not ended before its
 * children: what is open in others is closed in any order. */
static bool
ends_by_itself (const struct rd_writer_state *writer)
{
  return !(atomic_load_explicit (&writer->attention, memory_order_relaxed)
           & RD_ATTEND_STOPPED);
}

void
rd_shared_finish (struct rd_writer_state *writer,
                  struct rd_frame *frame,
                  struct rd_ending *ending)
{
  struct rd_shared *own = frame->shared, *via = frame->via;
  pthread_mutex_t *held = lock_of (own);
  pthread_mutex_t *then_held = lock_of (via);
  finish (frame, rd_clock_now (&writer->clock), ending);
  if (own)
    own->ended = ends_by_itself (writer);
  rd_cleanup_unlock (&then_held);
  rd_cleanup_unlock (&held);
  rd_shared_unref (own);
  rd_shared_unref (via);
  frame->shared = frame->via = NULL;
}

void
rd_received_end (struct rd_writer_state *writer,
                 struct rd_frame *frame,
                 uint64_t duration)
{
  struct rd_frame *below = frame - 1;
  if (below > writer->frames) {
    below->covered += duration;
    below->elsewhere += duration;
    rd_frame_mark (below, RD_FRAME_SPECIAL);
  }
  if (frame->attached)
    rd_writer_pop (writer);
}
