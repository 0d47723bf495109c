/* SPDX-License-Identifier: MIT */
/* Scopes that are out of the ordinary: the first of their path, waiting,
 * shared with other threads, received from one, with bytes, left open. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "profiler/record/log.h"
#include "profiler/record/scope.h"
#include "profiler/record/shared.h"
#include "profiler/record/tap.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

static bool
is_last (const struct rd_writer_state *writer, const struct rd_frame *frame)
{
  return frame == &writer->frames[RD_MAX_DEPTH - 1];
}

static void
guess_next_time (struct rd_writer_state *writer, struct rd_node *parent,
                 struct rd_node *child)
{
  struct rd_node *latest = parent->latest_child;
  if (latest != &writer->root)
    latest->successor = child;
  parent->latest_child = child;
}

struct rd_node *
rd_frame_child (struct rd_writer_state *writer, struct rd_frame *parent,
                const struct radio_site *site)
{
  if (is_last (writer, parent)) {
    parent->node->nskipped++;
    return NULL;
  }
  if (parent->node->latest_child->site == site)
    return parent->node->latest_child;
  struct rd_node *node
    = rd_tree_child (writer, parent->node, site, RADIO_EDGE_CALL);
  if (node)
    guess_next_time (writer, parent->node, node);
  return node;
}

/* What the thread has run, by its clock, in ticks. */
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

static void
begin_kind (struct rd_writer_state *writer, struct rd_frame *frame)
{
  if (frame->node->kind == RADIO_SCOPE_WAIT)
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
  else if (frame->node->kind == RADIO_SCOPE_BLOCKING)
    rd_frame_begin_blocking (writer, frame);
}

struct rd_frame *
rd_frame_open (struct rd_writer_state *writer, struct rd_node *node,
               struct rd_shared *shared)
{
  struct rd_frame *frame = writer->top + 1;
  if (is_last (writer, writer->top)) {
    writer->top->node->nskipped++;
    return NULL;
  }
  frame->node = node;
  frame->covered = 0;
  frame->id = writer->next_id;
  writer->next_id += RD_ID_STEP;
  begin_kind (writer, frame);
  writer->top = frame;
  if (shared)
    frame->begin = rd_shared_enter (writer, shared, frame);
  else
    frame->begin = rd_clock_now (&writer->clock);
  if (writer->first_begin == 0)
    writer->first_begin = frame->begin;
  if (rd_writer_has_taps (writer) && !rd_tap_is_inside ()) {
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->is_told = true;
  }
  return frame;
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* A run that ended, with all that is to be said of it. */
struct run {
  uint64_t duration;
  uint64_t self;              /* less the union of its children */
  uint64_t own;               /* less all that its thread did inside */
  uint64_t children;          /* that part of it that its children did */
  struct rd_log_extra extra;
  uint64_t parent;            /* its sequence */
};

static uint64_t
less (uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* What the thread did not run, less what scopes inside waited for. */
static uint64_t
blocked_time (struct rd_writer_state *writer, const struct rd_frame *frame,
              const struct run *run)
{
  if (!rd_frame_may_have_waited (writer, run->own))
    return 0;
  uint64_t now = frame->begin + run->duration;
  uint64_t ran = less (read_cpu (writer, now), frame->cpu_begin);
  uint64_t other = ran + (writer->waited - frame->waited_before);
  uint64_t blocked = rd_min_u64 (less (run->duration, other), run->own);
  /* It was before the reading, though it is added to `waited' after it. */
  writer->cpu.above += blocked;
  return blocked;
}

/* A system call that is still open when another thread asks is taken to be
 * waiting: what it ran only its own thread could say. */
static uint64_t
wait_of (struct rd_writer_state *writer, struct rd_frame *frame,
         const struct run *run)
{
  if (frame->node->kind == RADIO_SCOPE_WAIT)
    return run->own;
  if (!rd_frame_could_wait (frame))
    return 0;
  if (!rd_writer_is_mine (writer))
    return run->own;
  if (!(frame->special & RD_FRAME_BLOCKING))
    rd_frame_note_cpu (writer, frame, frame->begin);
  return blocked_time (writer, frame, run);
}

/* When it ended, and what of it others cover. */
static void
finish_times (struct rd_writer_state *writer, struct rd_frame *frame,
              uint64_t now, struct run *run)
{
  uint64_t covered = frame->covered;
  struct rd_ending ending = { now, covered - frame->elsewhere, false };
  if (frame->shared || frame->via)
    rd_shared_finish (writer, frame, &ending);
  run->duration = less (ending.end, frame->begin);
  if (run->duration < covered)          /* as in end_quickly */
    run->duration = covered;
  run->self = less (run->duration, ending.covered);
  run->own = run->duration - covered;
  run->children = covered - frame->elsewhere;
  writer->last_end = frame->begin + run->duration;
  if (ending.late) {
    run->extra.flags |= RD_LOG_LATE;
    frame->node->lates++;
  }
}

/* Which span is the parent: the frame below, or one elsewhere. */
static void
find_parent (struct rd_frame *frame, struct run *run)
{
  run->parent = rd_frame_sequence (frame - 1);
  if (!frame->received) {
    run->extra.flags |= frame->flags;
    run->extra.tile = frame->tile;
    run->extra.stored_nbytes = frame->stored_nbytes;
    return;
  }
  run->extra.submitted = frame->submitted;
  frame->node->queue += less (frame->begin, frame->submitted);
  run->parent = frame->via ? frame->via->sequence : 0;
  run->extra.parent_writer = frame->via ? frame->via->writer : 0;
  run->extra.flags |= RD_LOG_REMOTE_PARENT;
}

static void
log_run (struct rd_writer_state *writer, const struct rd_frame *frame,
         const struct run *run)
{
  const struct rd_log_extra *extra = &run->extra;
  const struct rd_log_run logged = {
    .begin = frame->begin,
    .duration = run->duration,
    .sequence = rd_frame_sequence (frame),
    .parent = run->parent,
    .extra = extra->flags || extra->wait || extra->nbytes ? extra : NULL,
  };
  if (!rd_log_append (writer, frame->node, &logged))
    rd_texts_drop_last (&writer->texts, logged.sequence);
}

static void
add_run (struct rd_writer_state *writer, const struct rd_frame *frame,
         const struct run *run)
{
  struct rd_node *node = frame->node;
  rd_node_add_run (node, run->duration, run->self + run->children);
  node->own_above_self += run->own - run->self;
  node->wait += run->extra.wait;
  writer->waited += run->extra.wait;
  log_run (writer, frame, run);
}

/* Take the frame off the stack, and leave its rare members zero. */
static void
pop (struct rd_writer_state *writer, struct rd_frame *frame,
     uint64_t duration)
{
  writer->top = frame - 1;
  if (frame->received)
    rd_received_end (writer, frame, duration);
  else
    (frame - 1)->covered += duration;
  if (frame->special)
    memset ((char *) frame + offsetof (struct rd_frame, special), 0,
            sizeof *frame - offsetof (struct rd_frame, special));
  frame->fenced = is_last (writer, frame);
}

static void
end_innermost (struct rd_writer_state *writer, uint64_t now, bool is_open,
               struct rd_tap_ends *ends)
{
  struct rd_frame *frame = writer->top;
  struct run run = { .extra.nbytes = rd_run_bytes_take (&frame->bytes) };
  if (is_open) {
    run.extra.flags |= RD_LOG_OPEN;
    frame->node->opens++;
  }
  find_parent (frame, &run);
  finish_times (writer, frame, now, &run);
  run.extra.wait = wait_of (writer, frame, &run);
  add_run (writer, frame, &run);
  if (ends && frame->is_told)
    ends->sites[ends->n++] = frame->node->site;
  pop (writer, frame, run.duration);
}

static bool
has_frame (const struct rd_writer_state *writer, uint64_t token)
{
  const struct rd_frame *frame = writer->top;
  while (frame > writer->frames && rd_frame_token (frame) != token)
    frame--;
  return frame > writer->frames;
}

bool
rd_frame_end (struct rd_writer_state *writer, uint64_t token, uint64_t now,
              struct rd_tap_ends *ends)
{
  if (!has_frame (writer, token))
    return false;
  while (rd_frame_token (writer->top) != token)
    end_innermost (writer, now, true, ends);
  end_innermost (writer, now, false, ends);
  return true;
}

/* Apart, for its frame is large. */
static __attribute__ ((__noinline__)) bool
end_and_tell (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  struct rd_tap_ends ends;
  ends.n = 0;
  bool found = rd_frame_end (writer, token, now, &ends);
  rd_writer_leave (writer);
  rd_tap_end (&ends);
  return found;
}

bool
rd_frame_end_and_tell (struct rd_writer_state *writer, uint64_t token,
                       uint64_t now)
{
  if (rd_writer_has_taps (writer))
    return end_and_tell (writer, token, now);
  bool found = rd_frame_end (writer, token, now, NULL);
  rd_writer_leave (writer);
  return found;
}

void
rd_frame_abandon (struct rd_writer_state *writer, struct rd_tap_ends *ends)
{
  end_innermost (writer, rd_clock_now (&writer->clock), true, ends);
}

/*------------------------------------------------------------------------
 * Within a scope
 *----------------------------------------------------------------------*/

bool
rd_frame_instant (struct rd_writer_state *writer,
                  const struct radio_site *site)
{
  struct rd_node *node = rd_tree_child (writer, writer->top->node, site,
                                        RADIO_EDGE_INSTANT);
  if (!node)
    return false;
  const struct rd_log_run run = {
    .begin = rd_clock_now (&writer->clock),
    .sequence = rd_writer_next_sequence (writer),
    .parent = rd_frame_sequence (writer->top),
  };
  rd_node_add_run (node, 0, 0);
  rd_log_append (writer, node, &run);
  return true;
}
