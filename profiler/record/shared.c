/* SPDX-License-Identifier: MIT */
/* The exact union of the intervals of a frame's children, on any thread, in
 * constant memory.
 *
 * A frame that ends holds two mutexes, its own shared's and then that of the
 * one that it entered, so that it ends for both at one time.  The second
 * belongs to an older frame, so threads cannot deadlock.
 */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/record/shared.h"
#include "profiler/record/writer.h"

static struct rd_shared *
new_shared (const struct rd_writer_state *writer, const struct rd_frame *frame)
{
  struct rd_shared *shared = malloc (sizeof *shared);
  if (!shared)
    return NULL;
  *shared = (struct rd_shared) {
    .recorder = writer->recorder, .cover = &shared->own,
  };
  struct rd_arena *arena = writer->recorder->arena;
  if (arena)
    shared->cover = rd_arena_alloc (arena, _Alignof (struct rd_cover),
                                    sizeof *shared->cover);
  if (!shared->cover) {
    free (shared);
    return NULL;
  }
  *shared->cover = (struct rd_cover) {
    .node = frame->node,
    .writer = writer->number,
    .sequence = rd_frame_sequence (frame),
    .covered = frame->covered - frame->elsewhere,
    .latest = frame->begin,
  };
  rd_recorder_ref (writer->recorder);
  atomic_init (&shared->nrefs, 1);
  pthread_mutex_init (&shared->mutex, NULL);
  return shared;
}

struct rd_shared *
rd_shared_take (struct rd_writer_state *writer)
{
  struct rd_frame *frame = writer->top;
  if (frame == writer->frames)
    return new_shared (writer, frame);
  if (!frame->shared) {
    frame->shared = new_shared (writer, frame);
    if (!frame->shared)
      return NULL;
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->cover = frame->shared->cover;
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
  struct rd_arena *arena = shared->recorder->arena;
  if (shared->cover != &shared->own && rd_arena_is_here (arena))
    rd_arena_release (arena, shared->cover, sizeof *shared->cover);
  rd_recorder_unref (shared->recorder);
  free (shared);
}

/* The clock, which never goes back; called with the mutex held. */
static uint64_t
read_clock (struct rd_shared *shared)
{
  shared->cover->latest = rd_max_u64 (shared->cover->latest,
                               rd_clock_now (&shared->recorder->clock));
  return shared->cover->latest;
}

uint64_t
rd_shared_enter (struct rd_shared *shared)
{
  RD_LOCK_SCOPE (&shared->mutex);
  uint64_t now = read_clock (shared);
  if (shared->cover->nactive++ == 0)
    shared->cover->cover_begin = now;
  return now;
}

/* A child ends; called with the mutex held.  True if its parent had ended. */
static bool
leave_shared (struct rd_shared *shared, uint64_t end)
{
  shared->cover->latest = end;
  if (--shared->cover->nactive == 0)
    shared->cover->covered += end - shared->cover->cover_begin;
  return shared->cover->ended;
}

bool
rd_shared_leave_request (struct rd_shared *shared,
                         uint64_t begin,
                         uint64_t *end)
{
  RD_LOCK_SCOPE (&shared->mutex);
  uint64_t now = read_clock (shared);
  *end = rd_max_u64 (now, begin);
  return leave_shared (shared, *end);
}

bool
rd_shared_has_ended (struct rd_shared *shared)
{
  RD_LOCK_SCOPE (&shared->mutex);
  return shared->cover->ended;
}

static pthread_mutex_t *
lock_of (struct rd_shared *shared)
{
  return shared ? rd_lock_mutex (&shared->mutex) : NULL;
}

void
rd_shared_finish (struct rd_writer_state *writer,
                  struct rd_frame *frame,
                  struct rd_ending *ending)
{
  struct rd_shared *own = frame->shared, *via = frame->via;
  pthread_mutex_t *own_mutex = lock_of (own);
  pthread_mutex_t *via_mutex = lock_of (via);
  uint64_t end = rd_max_u64 (rd_clock_now (&writer->clock), frame->begin);
  if (own)
    end = rd_max_u64 (end, own->cover->latest);
  if (via)
    end = rd_max_u64 (end, via->cover->latest);
  ending->end = end;
  ending->covered = frame->covered - frame->elsewhere;
  if (own)
    ending->covered = own->cover->covered
                      + (own->cover->nactive > 0
                         ? end - own->cover->cover_begin : 0);
  ending->late = via && leave_shared (via, end);
  if (own) {
    own->cover->latest = end;
    /* A frame that ends because recording stops has not ended before its
     * children: open frames of other threads are closed in any order. */
    own->cover->ended = !(atomic_load_explicit (&writer->attention,
                                         memory_order_relaxed)
                   & RD_ATTEND_STOPPED);
  }
  rd_cleanup_unlock (&via_mutex);
  rd_cleanup_unlock (&own_mutex);
  frame->shared = frame->via = NULL;
  frame->cover = frame->via_cover = NULL;
  rd_shared_unref (own);
  rd_shared_unref (via);
}
