/* SPDX-License-Identifier: MIT */
/* Scopes off the hot path: the first of their path, waiting, shared with
 * other threads, received from one, with bytes, left open. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "profiler/record/frame.h"
#include "profiler/record/log.h"
#include "profiler/record/notes.h"
#include "profiler/record/shared.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

static bool
is_deepest (const struct rd_writer_state *writer,
            const struct rd_frame *frame)
{
  return frame == &writer->frames[RD_MAX_DEPTH - 1];
}

struct rd_node *
rd_frame_child (struct rd_writer_state *writer, struct rd_frame *parent,
                const struct radio_site *site)
{
  struct rd_node *latest = parent->node->latest_child;
  if (is_deepest (writer, parent)) {
    parent->node->nskipped++;
    return NULL;
  }
  if (latest->site == site)
    return latest;
  struct rd_node *node = rd_tree_child (writer, parent->node, site,
                                        RADIO_EDGE_CALL);
  if (node) {
    if (latest != &writer->root)
      latest->successor = node;
    parent->node->latest_child = node;
  }
  return node;
}

/* The thread's CPU time, in ticks. */
static uint64_t
read_cpu (struct rd_writer_state *writer, uint64_t now)
{
  uint64_t ran = rd_rate_ticks (&writer->rate,
                                rd_clock_cpu_ns (&writer->clock));
  writer->cpu.fresh_until = now + writer->cpu.fresh_for;
  writer->cpu.above = ran - now + writer->waited;
  return ran;
}

uint64_t
rd_frame_read_cpu (struct rd_writer_state *writer, uint64_t now)
{
  read_cpu (writer, now);
  uint64_t after = rd_clock_now (&writer->clock);
  writer->cpu.above -= after - now;
  return after;
}

struct rd_frame *
rd_frame_open (struct rd_writer_state *writer, struct rd_node *node,
               struct rd_shared *shared)
{
  struct rd_frame *frame = writer->top + 1;
  if (is_deepest (writer, writer->top)) {
    writer->top->node->nskipped++;
    return NULL;
  }
  frame->node = node;
  frame->covered = 0;
  frame->id = writer->next_id;
  writer->next_id += RD_ID_STEP;
  if (node->kind == RADIO_SCOPE_WAIT)
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
  else if (node->kind == RADIO_SCOPE_BLOCKING)
    rd_frame_begin_blocking (writer, frame);
  writer->top = frame;
  if (shared)
    frame->begin = rd_shared_enter (writer, shared, frame);
  else
    frame->begin = rd_clock_now (&writer->clock);
  if (writer->first_begin == 0)
    writer->first_begin = frame->begin;
  if (rd_writer_has_taps (writer) && !rd_this_thread.is_in_tap) {
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->is_tapped = true;
  }
  return frame;
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* A run that ended. */
struct ended_run {
  uint64_t duration;
  uint64_t self;              /* less the union of its children */
  uint64_t own;               /* less all that its thread did inside */
  uint64_t children;          /* the part of it inside its children */
  struct rd_log_extra extra;
  uint64_t parent;            /* its sequence */
};

static uint64_t
subtract (uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* Waiting time: in a BLOCKING scope, the time when the thread did not run,
 * less the waits of scopes inside. */
static uint64_t
wait_of (struct rd_writer_state *writer, struct rd_frame *frame,
         const struct ended_run *run)
{
  if (frame->node->kind == RADIO_SCOPE_WAIT)
    return run->own;
  if (!rd_frame_could_wait (frame))
    return 0;
  /* Only the thread itself can read its CPU clock: another one takes a system
   * call that is still open to be waiting. */
  if (!rd_writer_is_mine (writer))
    return run->own;
  if (!(frame->special & RD_FRAME_BLOCKING))
    rd_frame_note_cpu (writer, frame, frame->begin);
  if (!rd_frame_may_have_waited (writer, run->own))
    return 0;
  uint64_t now = frame->begin + run->duration;
  uint64_t ran = subtract (read_cpu (writer, now), frame->cpu_begin);
  uint64_t other = ran + (writer->waited - frame->waited_before);
  uint64_t blocked = rd_min_u64 (subtract (run->duration, other), run->own);
  /* It was before the reading, though it is added to `waited' after it. */
  writer->cpu.above += blocked;
  return blocked;
}

/* Sets the end of the run, and how much of it others cover. */
static void
finish_times (struct rd_writer_state *writer, struct rd_frame *frame,
              uint64_t now, struct ended_run *run)
{
  uint64_t covered = frame->covered;
  struct rd_ending ending = { now, covered - frame->elsewhere, false };
  if (frame->shared || frame->via)
    rd_shared_finish (writer, frame, &ending);
  run->duration = subtract (ending.end, frame->begin);
  if (run->duration < covered)          /* as duration_of in scope.c */
    run->duration = covered;
  run->self = subtract (run->duration, ending.covered);
  run->own = run->duration - covered;
  run->children = covered - frame->elsewhere;
  writer->last_end = frame->begin + run->duration;
  if (ending.late) {
    run->extra.flags |= RD_LOG_LATE;
    frame->node->lates++;
  }
}

/* Sets the parent, the frame below or one elsewhere, and the members of the
 * extra that depend on it. */
static void
find_parent (struct rd_frame *frame, struct ended_run *run)
{
  run->parent = rd_frame_sequence (frame - 1);
  if (!frame->received) {
    run->extra.flags |= frame->flags;
    run->extra.tile = frame->tile;
    run->extra.stored_nbytes = frame->stored_nbytes;
    return;
  }
  run->extra.submitted = frame->submitted;
  frame->node->queue += subtract (frame->begin, frame->submitted);
  run->parent = frame->via ? frame->via->sequence : 0;
  run->extra.parent_writer = frame->via ? frame->via->writer : 0;
  run->extra.flags |= RD_LOG_REMOTE_PARENT;
}

/* Adds the run to its node and the log. */
static void
add_run (struct rd_writer_state *writer, const struct rd_frame *frame,
         const struct ended_run *run)
{
  struct rd_node *node = frame->node;
  const struct rd_log_extra *extra = &run->extra;
  const struct rd_log_run logged = {
    .begin = frame->begin,
    .duration = run->duration,
    .sequence = rd_frame_sequence (frame),
    .parent = run->parent,
    .extra = extra->flags || extra->wait || extra->nbytes ? extra : NULL,
  };
  rd_node_add_run (node, run->duration, run->self + run->children);
  node->own_above_self += run->own - run->self;
  node->wait += extra->wait;
  writer->waited += extra->wait;
  if (!rd_log_append (writer, node, &logged))
    rd_texts_drop_last (&writer->texts, logged.sequence);
}

/* Takes the frame off the stack, and zeroes its rare members.  The time of a
 * received scope is covered in the frame below on this thread, though it is
 * no child of it. */
static void
pop_frame (struct rd_writer_state *writer, struct rd_frame *frame,
           uint64_t duration)
{
  struct rd_frame *below = frame - 1;
  writer->top = below;
  if (!frame->received)
    below->covered += duration;
  else if (below > writer->frames) {
    below->covered += duration;
    below->elsewhere += duration;
    rd_frame_mark (below, RD_FRAME_SPECIAL);
  }
  if (frame->attached)
    rd_writer_pop (writer);
  if (frame->special)
    memset ((char *) frame + offsetof (struct rd_frame, special), 0,
            sizeof *frame - offsetof (struct rd_frame, special));
  frame->fenced = is_deepest (writer, frame);
}

static void
end_innermost (struct rd_writer_state *writer, uint64_t now, bool is_open,
               struct rd_tap_ends *ends)
{
  struct rd_frame *frame = writer->top;
  struct ended_run run = {
    .extra.nbytes = rd_run_bytes_take (&frame->bytes)
  };
  if (is_open) {
    run.extra.flags |= RD_LOG_OPEN;
    frame->node->opens++;
  }
  find_parent (frame, &run);
  finish_times (writer, frame, now, &run);
  run.extra.wait = wait_of (writer, frame, &run);
  add_run (writer, frame, &run);
  if (ends && frame->is_tapped)
    ends->sites[ends->n++] = frame->node->site;
  pop_frame (writer, frame, run.duration);
}

void
rd_frame_abandon (struct rd_writer_state *writer, struct rd_tap_ends *ends)
{
  end_innermost (writer, rd_clock_now (&writer->clock), true, ends);
}

static bool
end_frame (struct rd_writer_state *writer, uint64_t token, uint64_t now,
           struct rd_tap_ends *ends)
{
  const struct rd_frame *frame = writer->top;
  while (frame > writer->frames && rd_frame_token (frame) != token)
    frame--;
  if (frame == writer->frames)
    return false;
  while (writer->top > frame)
    end_innermost (writer, now, true, ends);
  end_innermost (writer, now, false, ends);
  return true;
}

/* Apart, for its stack frame is large. */
static __attribute__ ((__noinline__)) bool
end_frame_with_taps (struct rd_writer_state *writer, uint64_t token,
                     uint64_t now)
{
  struct rd_tap_ends ends;
  ends.n = 0;
  bool found = end_frame (writer, token, now, &ends);
  rd_writer_leave (writer);
  rd_tap_end (&ends);
  return found;
}

bool
rd_frame_end (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  if (rd_writer_has_taps (writer))
    return end_frame_with_taps (writer, token, now);
  bool found = end_frame (writer, token, now, NULL);
  rd_writer_leave (writer);
  return found;
}
