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
#include "profiler/record/slow.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

static bool
is_deepest (const struct rd_writer_state *writer,
            const struct rd_frame *frame)
{
  return frame == &writer->frames[RD_MAX_DEPTH];
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
  /* One with a trigger is never guessed, so that it is opened here. */
  if (node && node->trigger == 0) {
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

/*------------------------------------------------------------------------
 * The run queue, and sleep in scopes that are not marked as waiting
 *----------------------------------------------------------------------*/

/* Time without a CPU, as a part of a frame's own time; outside of all scopes
 * it is that of no thread. */
static void
add_off_cpu (struct rd_writer_state *writer, struct rd_frame *frame,
             uint64_t starved, uint64_t slept)
{
  if (starved + slept == 0 || frame == writer->frames)
    return;
  frame->starved += starved;
  frame->slept += slept;
  rd_frame_mark (frame, RD_FRAME_SPECIAL);
}

/* Reads the CPU clock.  Returns for how long the thread did not run since the
 * last reading, without a scope that waited, and not for want of a CPU. */
static uint64_t
read_sleep (struct rd_writer_state *writer, uint64_t now)
{
  bool was_read = writer->cpu.fresh_until != 0;
  uint64_t expected = writer->cpu.above + now - writer->waited;
  uint64_t slept = rd_subtract (expected, read_cpu (writer, now));
  if (!was_read || slept < writer->cpu.least_wait)
    return 0;
  writer->waited += slept;
  writer->cpu.above += slept;
  return slept;
}

/* Readings of one moment: another one, if it took as long as a gap. */
#define MAX_READINGS 3

/* Reads the run queue, for the innermost frame, and if the thread slept its CPU
 * clock, too, unless the frame's end does so.  end: when the frame ended: what
 * was lost after that is of the frame below; or 0.
 *
 * A thread is most likely to lose its CPU at the end of a system call, so in
 * here: then the reading is not of the moment that the clock showed, which a
 * loss of 10 ms would make of 10 ms of sleep, or the contrary.  Returns the
 * moment that the accounts are of. */
static uint64_t
read_account (struct rd_writer_state *writer, struct rd_frame *frame,
              uint64_t end, bool reads_sleep)
{
  bool has_slept = false;
  uint64_t moment = rd_clock_now (&writer->clock);
  for (int i = 0;; i++) {
    bool is_slept;
    uint64_t ns = rd_run_queue_read (&writer->queue, &writer->clock,
                                     &is_slept);
    uint64_t starved = ns ? rd_rate_ticks (&writer->rate, ns) : 0;
    uint64_t late = end ? rd_min_u64 (starved, moment - end) : 0;
    has_slept |= is_slept;
    writer->waited += starved;
    add_off_cpu (writer, frame, starved - late, 0);
    if (late > 0)
      add_off_cpu (writer, frame - 1, late, 0);
    if (rd_frame_could_wait (frame))
      frame->waited_before += late;
    uint64_t now = rd_clock_now (&writer->clock);
    if (now - moment <= writer->long_own || i == MAX_READINGS - 1)
      break;
    moment = now;
  }
  if (has_slept && reads_sleep)
    add_off_cpu (writer, frame, 0, read_sleep (writer, moment));
  return moment;
}

/* Splits the time from the thread's last event to a moment by its account. */
static void
observe_until (struct rd_writer_state *writer, struct rd_frame *frame,
               uint64_t moment)
{
  const struct rd_rate *rate = &writer->rate;
  const struct rd_run_account *account = &writer->observed;
  uint64_t starved = rd_rate_ticks (rate, rd_subtract (account->starved_ns,
                                                       writer->queue.ns));
  uint64_t ran = rd_rate_ticks (rate, account->cpu_ns);
  bool is_known = writer->cpu.fresh_until != 0;
  /* The CPU clock of a thread that never read it began with the thread. */
  uint64_t expected = is_known ? writer->cpu.above + moment - writer->waited
                               : moment - rd_max_u64 (frame->begin,
                                                      writer->last_end);
  uint64_t off = rd_subtract (expected, ran);
  if (is_known && account->state == RD_RUN_WAITS
      && account->nsleeps == writer->queue.nsleeps)
    starved = rd_max_u64 (starved, off);
  uint64_t slept = rd_subtract (off, starved);
  bool is_sleep = frame->node->kind != RADIO_SCOPE_WAIT
                  && !rd_frame_could_wait (frame)
                  && slept >= writer->cpu.least_wait;
  add_off_cpu (writer, frame, starved, is_sleep ? slept : 0);
}

uint64_t
rd_frame_observe (struct rd_writer_state *writer, uint64_t moment,
                  uint64_t end, bool is_stopped)
{
  const struct rd_run_account *account = &writer->observed;
  struct rd_frame *frame = writer->top;
  enum rd_run_state state = is_stopped ? RD_RUN_SLEEPS : account->state;
  if (account->until != 0) {
    moment = account->until;
    state = is_stopped ? state : RD_RUN_UNKNOWN;
  }
  uint64_t since = rd_max_u64 (frame->begin, writer->last_end);
  if (frame == writer->frames || account->state == RD_RUN_UNKNOWN)
    return since;
  if ((int64_t) (moment - since) >= 0)
    observe_until (writer, frame, moment);
  else if (is_stopped)
    moment = since;
  else
    return since;
  if ((int64_t) (end - moment) > 0)
    add_off_cpu (writer, frame, state == RD_RUN_WAITS ? end - moment : 0,
                 state == RD_RUN_SLEEPS ? end - moment : 0);
  return moment;
}

/* A scope that mostly runs has no CPU time noted at its begin: it is that of
 * the last reading, as if the thread had run since. */
static void
note_cpu_before (struct rd_writer_state *writer, struct rd_frame *frame)
{
  if (rd_frame_could_wait (frame) && !(frame->special & RD_FRAME_BLOCKING))
    rd_frame_note_cpu (writer, frame, frame->begin);
}

uint64_t
rd_frame_read_gap (struct rd_writer_state *writer, struct rd_frame *frame,
                   uint64_t now)
{
  struct rd_frame *below = frame - 1;
  uint64_t since = rd_max_u64 (writer->last_end,
                               below > writer->frames ? below->begin : 0);
  int64_t gap = (int64_t) (now - since);
  if (gap < (int64_t) writer->long_own)
    return now;
  note_cpu_before (writer, below);
  for (int i = 0; i < MAX_READINGS; i++) {
    uint64_t moment = read_account (writer, below, 0, true);
    now = rd_clock_now (&writer->clock);
    if (now - moment <= writer->long_own)
      break;
  }
  return now;
}

void
rd_frame_begin_thread (struct rd_writer_state *writer)
{
  if (writer->last_end != 0 && writer->long_own != INT64_MAX)
    (void) read_account (writer, writer->frames, 0, true);
}

void
rd_frame_read_cpu (struct rd_writer_state *writer, uint64_t now)
{
  read_cpu (writer, now);
}

uint64_t
rd_frame_begin_at_cpu (struct rd_writer_state *writer, struct rd_frame *frame,
                       uint64_t now)
{
  uint64_t ran = read_cpu (writer, now);
  uint64_t after = rd_clock_now (&writer->clock);
  if (after - now > writer->long_own)
    after = rd_frame_read_gap (writer, frame, after);
  rd_frame_mark (frame, RD_FRAME_BLOCKING);
  frame->waited_before = writer->waited;
  frame->cpu_begin = ran;
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
  if (node->trigger != 0) {
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    if (rd_slow_needs_cpu (writer->recorder->slow, node->trigger))
      frame->cpu_begin_ns = rd_clock_cpu_ns (&writer->clock);
  }
  if (node->kind == RADIO_SCOPE_BLOCKING)
    rd_frame_begin_blocking (writer, frame);
  else
    rd_frame_check_gap (writer, frame, rd_clock_now (&writer->clock));
  writer->top = frame;
  if (shared) {
    frame->via = rd_shared_ref (shared);
    frame->via_cover = shared->cover;
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->begin = rd_shared_enter (shared);
  } else
    frame->begin = rd_clock_now (&writer->clock);
  if (writer->first_begin == 0) {
    writer->first = (struct rd_cpu_mark) {
      frame->begin, rd_clock_process_cpu_ns (&writer->clock)
    };
    writer->first_begin = frame->begin;
  }
  if (rd_writer_has_taps (writer) && !rd_this_thread.is_in_tap) {
    rd_frame_mark (frame, RD_FRAME_SPECIAL);
    frame->is_tapped = true;
  }
  return frame;
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* The time without a CPU in a WAIT scope, or in a BLOCKING one the time when
 * the thread did not run, less that of scopes inside.  own: its duration less
 * all that its thread did inside; moment: of the last account. */
static uint64_t
blocked_of (struct rd_writer_state *writer, struct rd_frame *frame,
            uint64_t duration, uint64_t own, uint64_t moment)
{
  if (frame->node->kind == RADIO_SCOPE_WAIT)
    return own;
  /* Another thread takes a system call that is still open to be waiting. */
  if (!rd_writer_is_mine (writer))
    return own;
  if (!rd_frame_may_have_waited (writer, own))
    return 0;
  uint64_t ran = rd_subtract (read_cpu (writer, moment), frame->cpu_begin);
  uint64_t inside = rd_subtract (writer->waited - frame->waited_before,
                                 frame->starved + frame->slept);
  return rd_min_u64 (rd_subtract (duration, ran + inside), own);
}

/* Splits a frame's own time into work, of which *starved was without a CPU, and
 * the wait that is returned.  The time that shorter scopes before it, or in it,
 * were without a CPU, or slept, may exceed that: it counts in the frame
 * below. */
static uint64_t
split_own (struct rd_writer_state *writer, struct rd_frame *frame,
           uint64_t duration, uint64_t own, uint64_t *starved)
{
  bool may_wait = frame->node->kind == RADIO_SCOPE_WAIT
                  || rd_frame_could_wait (frame);
  uint64_t moment = frame->begin + duration;
  note_cpu_before (writer, frame);
  /* Another thread has observed the account. */
  if (own >= writer->long_own && rd_writer_is_mine (writer)) {
    moment = read_account (writer, frame, moment, !may_wait);
    rd_frame_mark (&writer->frames[1], RD_FRAME_SPECIAL);
  }
  uint64_t off = may_wait ? blocked_of (writer, frame, duration, own, moment)
                          : own;
  *starved = rd_min_u64 (frame->starved, off);
  uint64_t wait = off - *starved;
  uint64_t slept = rd_min_u64 (frame->slept, wait);
  add_off_cpu (writer, frame - 1, frame->starved - *starved,
               frame->slept - slept);
  if (!may_wait)
    return slept;
  /* It was before a reading of the CPU clock, though it is added to `waited'
   * after that. */
  writer->waited += wait - slept;
  if (rd_frame_could_wait (frame))
    writer->cpu.above += wait - slept;
  return wait;
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

/* Reads the CPU time of the process where an outermost scope ended, or a long
 * one of a ring, whose own thread for that (beat.c) may have no CPU: seldom,
 * since the reading locks the processors that the other threads run on, and may
 * take 10 us.  So of the last scopes at most a hundredth of the recorded time,
 * and the longest spacing, is lacking. */
#define MIN_SPACING 10        /* in writer->long_own */
#define MAX_SPACING 1000
#define SPACINGS 100          /* in the time since the writer's first scope */

static bool
is_marked (const struct rd_writer_state *writer, uint64_t now)
{
  uint64_t since = now - writer->last.ticks;
  return since / MAX_SPACING < writer->long_own
    && (since / MIN_SPACING < writer->long_own
        || since < (now - writer->first_begin) / SPACINGS);
}

/* Returns the scope's end.  Where a kernel updates a thread's CPU time it sees
 * that its slice is used up, and takes its CPU: so that happens within the
 * scope, or what a busy machine takes would be of no scope. */
static uint64_t
mark_last (struct rd_writer_state *writer, uint64_t now)
{
  if (is_marked (writer, now))
    return now;
  uint64_t cpu_ns = rd_clock_process_cpu_ns (&writer->clock);
  now = rd_max_u64 (rd_clock_now (&writer->clock), now);
  writer->last = (struct rd_cpu_mark) { now, cpu_ns };
  return now;
}

/* By its own time, on its own thread, where the process may be killed. */
static bool
is_long_in_ring (const struct rd_writer_state *writer,
                 const struct rd_frame *frame, uint64_t now)
{
  return writer->recorder->header
         && rd_subtract (now - frame->begin, frame->covered)
            >= writer->long_own
         && rd_writer_is_mine (writer);
}

/* Marks a scope that was left without its end, which another one is. */
static void
mark_left (struct rd_writer_state *writer, struct rd_frame *frame,
           const char *end)
{
  const struct rd_log_text text = {
    .sequence = rd_frame_sequence (frame), .kind = RADIO_TEXT_PLAIN,
    .key = RD_NOTE_LEFT,
  };
  writer->nleft++;
  rd_texts_add (&writer->texts, frame->node, !writer->recorder->tree_only,
                &text, end);
}

/* left_until: what ended a scope that was left without its end; or NULL. */
static void
end_innermost (struct rd_writer_state *writer, uint64_t now, bool is_open,
               const char *left_until, struct rd_tap_ends *ends)
{
  struct rd_frame *frame = writer->top;
  struct rd_node *node = frame->node;
  struct rd_log_extra extra = {
    .nbytes = rd_run_bytes_take (&frame->bytes)
  };
  bool is_outermost = frame == &writer->frames[1] && !frame->received;
  if (is_outermost || is_long_in_ring (writer, frame, now))
    now = mark_last (writer, now);
  if (is_open) {
    extra.flags |= RD_LOG_OPEN;
    node->opens++;
  }
  if (left_until)
    mark_left (writer, frame, left_until);

  /* The parent is the frame below, or one elsewhere. */
  uint64_t parent = rd_frame_sequence (frame - 1);
  if (frame->received) {
    extra.submitted = frame->submitted;
    node->queue += rd_subtract (frame->begin, frame->submitted);
    parent = frame->via_cover ? frame->via_cover->sequence : 0;
    extra.parent_writer = frame->via_cover ? frame->via_cover->writer : 0;
    extra.flags |= RD_LOG_REMOTE_PARENT;
  } else {
    extra.flags |= frame->flags;
    extra.tile = frame->tile;
    extra.stored_nbytes = frame->stored_nbytes;
  }

  /* self: less the union of the children; own: less all that the thread did
   * inside; children: the part of that inside the run's children. */
  uint64_t covered = frame->covered, children = covered - frame->elsewhere;
  struct rd_ending ending = { now, children, false };
  if (frame->shared || frame->via)
    rd_shared_finish (writer, frame, &ending);
  uint64_t duration = rd_subtract (ending.end, frame->begin);
  if ((int64_t) duration < (int64_t) covered)   /* as in scope.c */
    duration = covered;
  uint64_t self = rd_subtract (duration, ending.covered);
  uint64_t own = duration - covered;
  writer->last_end = frame->begin + duration;
  if (ending.late) {
    extra.flags |= RD_LOG_LATE;
    node->lates++;
  }

  uint64_t starved;
  extra.wait = split_own (writer, frame, duration, own, &starved);
  extra.flags |= rd_log_pack_starved (starved);
  rd_node_add_run (node, duration, self + children);
  node->own_above_self += own - self;
  node->wait += extra.wait;
  node->starved += starved;
  const struct rd_log_run logged = {
    .begin = frame->begin,
    .duration = duration,
    .sequence = rd_frame_sequence (frame),
    .parent = parent,
    .extra = extra.flags || extra.wait || extra.nbytes ? &extra : NULL,
  };
  if (ends && frame->is_tapped)
    ends->sites[ends->n++] = node->site;
  const uint64_t cpu_begin_ns = frame->cpu_begin_ns;
  pop_frame (writer, frame, duration);
  rd_commit ();
  if (!rd_log_append (writer, node, &logged))
    rd_texts_drop_last (&writer->texts, logged.sequence);
  else if (node->trigger != 0 && !is_open)
    rd_slow_check (writer, node, logged.sequence, logged.begin, duration,
                   cpu_begin_ns);
}

void
rd_frame_abandon (struct rd_writer_state *writer, bool thread_ends,
                  struct rd_tap_ends *ends)
{
  end_innermost (writer, rd_clock_now (&writer->clock), true,
                 thread_ends ? "until its thread ended" : NULL, ends);
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
    end_innermost (writer, now, true, "until the scope around it ended",
                   ends);
  end_innermost (writer, now, false, NULL, ends);
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
