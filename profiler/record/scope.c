/* SPDX-License-Identifier: MIT */
/* The hot path: a scope's begin and end.
 *
 * Reading the clock twice is most of the cost, and the rest is kept to a
 * handful of cache lines: the writer's first, the frame's, the node's first
 * and the log's; the durations of a node's runs are read from the log when
 * the recorder stops.  All other cases (a new path, a parent that other
 * threads share, a scope that waits) go to cold functions, and to frame.c. */
#include <config.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "profiler/record/frame.h"
#include "profiler/record/log.h"
#include "profiler/record/notes.h"
#include "profiler/record/process.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define likely(x) __builtin_expect (!!(x), 1)
#define unlikely(x) __builtin_expect (!!(x), 0)
#define COLD __attribute__ ((__noinline__, __cold__))
#define HOT __attribute__ ((__aligned__ (64)))

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

/* The child of a path that began last, or the one that followed it the last
 * time; else NULL. */
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

/* On the entered writer, which is left here. */
COLD static uint64_t
begin_slow (struct rd_writer_state *writer, const struct radio_site *site)
{
  struct rd_frame *parent = writer->top;
  struct rd_frame *frame = NULL;
  struct rd_node *node = rd_frame_child (writer, parent, site);
  if (node)
    frame = rd_frame_open (writer, node, parent->shared);
  uint64_t token = frame ? rd_frame_token (frame) : 0;
  bool is_tapped = frame && frame->is_tapped;
  rd_writer_leave (writer);
  if (is_tapped)
    rd_tap_begin (site);
  return token;
}

/* This thread has no writer, or the recorder of the one it has stopped. */
COLD static uint64_t
begin_first (const struct radio_site *site)
{
  struct rd_writer_state *writer;
  while ((writer = rd_writer_current ()) != NULL)
    if (rd_writer_enter (writer))
      return begin_slow (writer, site);
  return 0;
}

/* Puts a frame on the stack, without the time. */
static inline __attribute__ ((__always_inline__)) struct rd_frame *
push_frame (struct rd_writer_state *writer, struct rd_node *node)
{
  struct rd_frame *frame = writer->top + 1;
  uint64_t id = writer->next_id;
  writer->next_id = id + RD_ID_STEP;
  frame->node = node;
  frame->covered = 0;
  frame->id = id;
  writer->top = frame;
  return frame;
}

/* For scopes that wait, and those that may, which are many. */
static __attribute__ ((__noinline__)) uint64_t
begin_waiting (struct rd_writer_state *writer, struct rd_node *node)
{
  if (node->kind != RADIO_SCOPE_BLOCKING || rd_writer_has_taps (writer))
    return begin_slow (writer, node->site);
  struct rd_frame *frame = push_frame (writer, node);
  uint64_t token = frame->id;
  frame->begin = rd_frame_begin_blocking (writer, frame);
  rd_writer_leave (writer);
  return token;
}

/* The source of a scope's begin. */
enum begin {
  BEGIN_BY_CLOCK,
  BEGIN_BY_COUNTER,           /* the counter alone */
  BEGIN_AT_LAST_END,          /* the clock if nothing ended before */
};

enum kind {
  KIND_OF_SITE,
  KIND_RUNNING,               /* BLOCKING, but see rd_scope_begin_running */
};

/* On the entered writer, which is left here. */
static inline __attribute__ ((__always_inline__)) uint64_t
begin_entered (struct rd_writer_state *writer, const struct radio_site *site,
               enum begin begin, enum kind kind)
{
  struct rd_frame *parent = writer->top;
  struct rd_node *node = guess_child (parent->node, site);
  if (unlikely (!node) || unlikely (parent->fenced))
    return begin_slow (writer, site);
  /* A running scope needs a reading of the CPU clock for its end. */
  bool runs = kind == KIND_RUNNING
    ? likely (writer->cpu.fresh_until != 0)
    : likely (node->kind == RADIO_SCOPE_WORK);
  if (!runs)
    return begin_waiting (writer, node);
  struct rd_frame *frame = push_frame (writer, node);
  uint64_t token = frame->id;
  if (kind == KIND_RUNNING)
    rd_frame_mark (frame, RD_FRAME_RUNNING);
  if (begin == BEGIN_AT_LAST_END
      && likely (writer->last_end > parent->begin)
      && likely (parent > writer->frames))
    frame->begin = writer->last_end;
  else
    frame->begin = rd_frame_check_gap (writer, frame,
                                       begin == BEGIN_BY_COUNTER
                                       ? rd_counter_read ()
                                       : rd_clock_now (&writer->clock));
  rd_writer_leave (writer);
  return token;
}

/* The writer's attention is not 0. */
COLD static uint64_t
begin_checked (struct rd_writer_state *writer, unsigned attention,
               const struct radio_site *site, enum begin begin,
               enum kind kind)
{
  if (!rd_writer_enter_checked (writer, attention))
    return begin_first (site);
  if (rd_writer_has_taps (writer))
    return begin_slow (writer, site);
  if (begin == BEGIN_BY_COUNTER)
    begin = BEGIN_BY_CLOCK;
  return begin_entered (writer, site, begin, kind);
}

static inline __attribute__ ((__always_inline__)) uint64_t
begin_fast (const struct radio_site *site, enum begin begin,
            enum kind kind)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  if (unlikely (!writer))
    return begin_first (site);
  unsigned attention = rd_writer_enter_quickly (writer);
  if (unlikely (attention != 0))
    return begin_checked (writer, attention, site, begin, kind);
  return begin_entered (writer, site, begin, kind);
}

HOT uint64_t
radio_scope_begin (const struct radio_site *site)
{
  return begin_fast (site, BEGIN_BY_COUNTER, KIND_OF_SITE);
}

HOT uint64_t
rd_scope_begin_next (const struct radio_site *site)
{
  return begin_fast (site, BEGIN_AT_LAST_END, KIND_OF_SITE);
}

HOT uint64_t
rd_scope_begin_running (const struct radio_site *site)
{
  return begin_fast (site, BEGIN_BY_COUNTER, KIND_RUNNING);
}

/*------------------------------------------------------------------------
 * Within a scope
 *----------------------------------------------------------------------*/

/* Adds to a counter of a frame, which may be its node's i-th. */
static inline __attribute__ ((__always_inline__)) void
add_to_frame (struct rd_frame *frame, const struct radio_counter *counter,
              uint64_t value, size_t i)
{
  const struct rd_tally *tally = rd_node_count (frame->node, counter, value,
                                                i);
  if (tally && tally->slot < RD_NSLOTS) {
    rd_frame_mark (frame, RD_FRAME_COUNTED);
    rd_run_bytes_add (&frame->bytes, tally, value);
  }
}

/* True if the frame is a scope's, not the root's. */
static inline bool
is_open (const struct rd_writer_state *writer, const struct rd_frame *frame)
{
  return likely (frame > writer->frames);
}

/* There is no writer, or its attention is not 0.  Returns the entered writer,
 * or NULL. */
COLD static struct rd_writer_state *
enter_checked (struct rd_writer_state *writer, unsigned attention)
{
  if (writer && rd_writer_enter_checked (writer, attention))
    return writer;
  writer = rd_writer_current ();
  return writer && rd_writer_enter (writer) ? writer : NULL;
}

/* Returns the thread's writer, entered, or NULL. */
static inline __attribute__ ((__always_inline__)) struct rd_writer_state *
enter_current (void)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  unsigned attention = likely (writer != NULL)
                       ? rd_writer_enter_quickly (writer)
                       : 0;
  if (likely (writer != NULL) && likely (attention == 0))
    return writer;
  return enter_checked (writer, attention);
}

void
radio_scope_add (const struct radio_counter *counter, uint64_t value)
{
  struct rd_writer_state *writer = likely (counter != NULL)
                                   ? enter_current () : NULL;
  if (unlikely (!writer))
    return;
  if (is_open (writer, writer->top))
    add_to_frame (writer->top, counter, value, 0);
  else
    writer->noutside++;
  rd_writer_leave (writer);
}

/* Marks the frame for its end to clear, even if no counter is added to. */
static void
set_tile (struct rd_frame *frame, uint64_t tile, uint32_t stored_nbytes)
{
  rd_frame_mark (frame, RD_FRAME_COUNTED);
  frame->flags = RD_LOG_TILE;
  frame->tile = tile;
  frame->stored_nbytes = stored_nbytes;
}

void
rd_scope_tile (const struct radio_counter *counter, uint64_t nbytes,
               uint64_t tile, uint64_t stored_nbytes)
{
  struct rd_writer_state *writer = enter_current ();
  if (unlikely (!writer))
    return;
  struct rd_frame *frame = writer->top;
  if (is_open (writer, frame)) {
    set_tile (frame, tile, rd_stored_nbytes (stored_nbytes));
    add_to_frame (frame, &rd_count_tiles, 1, 0);
    add_to_frame (frame, counter, nbytes, 1);
  }
  rd_writer_leave (writer);
}

/* Steps from this number on have none, as -1: readers whose numbers are doubles
 * would show others. */
#define END_OF_STEPS ((uint64_t) 1 << 53)

/* A step's number takes the place of a tile's. */
uint64_t
radio_step_begin (const struct radio_site *site, uint64_t number)
{
  uint64_t token = radio_scope_begin (site);
  struct rd_writer_state *writer = token != 0 ? enter_current () : NULL;
  if (!writer)
    return token;
  if (rd_frame_token (writer->top) == token && number < END_OF_STEPS)
    set_tile (writer->top, number, 0);
  rd_writer_leave (writer);
  return token;
}

/* Records that the innermost scope, if it is BLOCKING and has no CPU time
 * noted yet, blocks from now on, or did not block. */
static void
report_blocking (bool blocks)
{
  struct rd_writer_state *writer = enter_current ();
  if (unlikely (!writer))
    return;
  struct rd_frame *frame = writer->top;
  if (is_open (writer, frame) && frame->node->kind == RADIO_SCOPE_BLOCKING
      && !(frame->special & RD_FRAME_BLOCKING)) {
    frame->special &= (unsigned char) ~RD_FRAME_RUNNING;
    if (blocks) {
      /* The thread ran from its begin to now. */
      uint64_t now = rd_clock_now (&writer->clock);
      if (now >= writer->cpu.fresh_until)
        rd_frame_read_cpu (writer, now);
      rd_frame_note_cpu (writer, frame, frame->begin);
    }
  }
  rd_writer_leave (writer);
}

void
rd_scope_blocks (void)
{
  if (radio_profile_is_on ())
    report_blocking (true);
}

void
rd_scope_ran (void)
{
  if (radio_profile_is_on ())
    report_blocking (false);
}

void
radio_scope_instant (const struct radio_site *site)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  bool calls_tap = false;
  struct rd_node *node = rd_tree_child (writer, writer->top->node, site,
                                        RADIO_EDGE_INSTANT);
  if (node) {
    const struct rd_log_run run = {
      .begin = rd_clock_now (&writer->clock),
      .sequence = rd_writer_next_sequence (writer),
      .parent = rd_frame_sequence (writer->top),
    };
    rd_node_add_run (node, 0, 0);
    rd_log_append (writer, node, &run);
    calls_tap = rd_writer_has_taps (writer) && !rd_this_thread.is_in_tap;
  }
  rd_writer_leave (writer);
  if (calls_tap)
    rd_tap_instant (site);
}

void
radio_scope_text (const char *key,
                  const char *value,
                  enum radio_text_kind kind)
{
  bool is_noted = key && value && radio_profile_is_on ();
  struct rd_writer_state *writer = is_noted ? enter_current () : NULL;
  if (!writer)
    return;
  struct rd_frame *frame = writer->top;
  const struct rd_log_text text = {
    .sequence = rd_frame_sequence (frame), .kind = kind, .key = key
  };
  if (is_open (writer, frame)) {
    /* The frame's end may have to drop the text. */
    rd_frame_mark (frame, RD_FRAME_NOTED);
    rd_texts_add (&writer->texts, frame->node, !writer->recorder->tree_only,
                  &text, value);
  } else
    writer->noutside++;
  rd_writer_leave (writer);
}

void
radio_gauge_set (const struct radio_counter *gauge, int64_t value)
{
  struct rd_writer_state *writer
    = radio_profile_is_on () ? rd_writer_current () : NULL;
  if (!writer || !rd_writer_enter (writer))
    return;
  if (!writer->recorder->tree_only) {
    const struct rd_log_sample sample = {
      rd_clock_now (&writer->clock), value,
      rd_samples_gauge (&writer->samples, gauge)
    };
    rd_samples_add (&writer->samples, &sample);
  }
  rd_writer_leave (writer);
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* Ends a scope of a writer that is not current any more. */
COLD static void
end_elsewhere (uint64_t token)
{
  struct rd_writer_state *writer = rd_this_thread.mine;
  for (; writer; writer = writer->next_mine)
    if (rd_writer_enter (writer)) {
      uint64_t now = rd_clock_now (&writer->clock);
      if (rd_frame_end (writer, token, now))
        return;
    }
}

/* On the entered writer, which is left here. */
COLD static void
end_slow (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  if (!rd_frame_end (writer, token, now))
    end_elsewhere (token);
}

/* Drops the texts of a frame whose span is not in the log. */
static void
drop_texts (struct rd_writer_state *writer, const struct rd_frame *frame)
{
  if (frame->special & RD_FRAME_NOTED)
    rd_texts_drop_last (&writer->texts, rd_frame_sequence (frame));
}

/* The log's next cache lines are new, and the measured program leaves little
 * room in the caches: prefetching some spans ahead is in time. */
#define PREFETCH_SLOTS 6

/* Writes the span of a frame that ended, except its extra, which takes a
 * second slot. */
static inline __attribute__ ((__always_inline__)) void
write_span (union rd_log_slot *slot, const struct rd_frame *frame,
            uint64_t token, uint64_t duration, size_t nslots)
{
  __builtin_prefetch (slot + PREFETCH_SLOTS, 1);
  slot->span.begin = frame->begin;
  slot->span.duration_more = duration | (nslots > 1 ? RD_SPAN_HAS_EXTRA : 0);
  slot->span.sequence_node = token + frame->node->tag;
  slot->span.parent_epoch = (frame - 1)->id;
  if (frame->node->is_in_ring)
    rd_span_seal (&slot->span);
}

/* Writes the span of a frame that ended into the log; there is room.  Returns
 * its slot, for rd_log_commit; NULL: dropped. */
static inline __attribute__ ((__always_inline__)) union rd_log_slot *
log_with_room (struct rd_writer_state *writer, const struct rd_frame *frame,
               uint64_t token, uint64_t duration, size_t nslots)
{
  struct rd_node *node = frame->node;
  union rd_log_slot *slot = writer->log_next;
  if (duration < node->threshold) {
    rd_node_drop (writer, node, duration);
    return NULL;
  }
  rd_node_log (writer, node, duration);
  write_span (slot, frame, token, duration, nslots);
  return slot;
}

/* The same; there may be no room. */
static union rd_log_slot *
log_run (struct rd_writer_state *writer, const struct rd_frame *frame,
         uint64_t token, uint64_t duration, size_t nslots)
{
  if (rd_log_has_room (writer, nslots))
    return log_with_room (writer, frame, token, duration, nslots);
  union rd_log_slot *slot = rd_log_take (writer, frame->node, duration,
                                         nslots);
  if (slot)
    write_span (slot, frame, token, duration, nslots);
  return slot;
}

/* True if by the clock a frame was as long as its children, and not so long
 * that the run queue has to be read, and there is room to log it, or no need
 * to: mostly so, and then its end calls no function, and saves no registers
 * for that. */
static inline __attribute__ ((__always_inline__)) bool
can_end_fast (const struct rd_writer_state *writer,
              const struct rd_frame *frame, uint64_t duration,
              size_t nslots)
{
  return likely (duration - frame->covered < writer->long_own)
         && (likely (rd_log_has_room (writer, nslots))
             || duration < frame->node->threshold);
}

/* Takes the frame off the stack. */
static inline __attribute__ ((__always_inline__)) void
pop_frame (struct rd_writer_state *writer, struct rd_frame *frame,
           uint64_t now, uint64_t duration)
{
  writer->top = frame - 1;
  writer->last_end = now;
  (frame - 1)->covered += duration;
  frame->node->total += duration;
}

/* The duration of a frame that ends now.  A parent is at least as long as its
 * children, even if the clock, which is read without fences, is off by a few
 * ticks: so total is self and children, exactly. */
static inline uint64_t
duration_of (const struct rd_frame *frame, uint64_t now)
{
  uint64_t duration = now - frame->begin;
  return (int64_t) duration < (int64_t) frame->covered ? frame->covered
                                                       : duration;
}

/* True if a marked frame has only bytes and texts, was not long, and did not
 * wait though it could have. */
static inline bool
is_simple (const struct rd_writer_state *writer, const struct rd_frame *frame,
           uint64_t now)
{
  if (unlikely (frame->special & RD_FRAME_SPECIAL))
    return false;
  int64_t difference = (int64_t) (now - frame->begin - frame->covered);
  uint64_t own = difference > 0 ? (uint64_t) difference : 0;
  return likely (own < writer->long_own)
         && (!rd_frame_could_wait (frame)
             || likely (!rd_frame_may_have_waited (writer, own)));
}

/* Zeroes the rare members of a simple frame, except bytes and tile. */
static inline void
clear_simple (struct rd_frame *frame)
{
  if (frame->special & RD_FRAME_BLOCKING)
    frame->cpu_begin = frame->waited_before = 0;
  frame->special = 0;
}

/* For a frame that is marked, or cannot end fast. */
static __attribute__ ((__noinline__)) void
end_marked (struct rd_writer_state *writer, struct rd_frame *frame,
            uint64_t token, uint64_t now)
{
  if (!is_simple (writer, frame, now)) {
    end_slow (writer, token, now);
    return;
  }
  const struct rd_log_extra extra = {
    .tile = frame->tile,
    .nbytes = rd_run_bytes_take (&frame->bytes),
    .stored_nbytes = frame->stored_nbytes,
    .flags = frame->flags,
  };
  frame->tile = frame->stored_nbytes = frame->flags = 0;
  const size_t nslots = extra.nbytes != 0 || extra.flags != 0 ? 2 : 1;
  const uint64_t duration = duration_of (frame, now);
  pop_frame (writer, frame, now, duration);
  union rd_log_slot *slot = log_run (writer, frame, token, duration,
                                        nslots);
  if (!slot)
    drop_texts (writer, frame);
  else if (nslots > 1)
    slot[1].extra = extra;
  rd_log_commit (writer, slot, nslots);
  clear_simple (frame);
  rd_writer_leave (writer);
}

/* On the entered writer, which is left here. */
static inline __attribute__ ((__always_inline__)) void
end_entered (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  const uint64_t duration = now - frame->begin;
  if (likely (frame->id == token)
      && likely (can_end_fast (writer, frame, duration, 1))) {
    pop_frame (writer, frame, now, duration);
    rd_log_commit (writer, log_with_room (writer, frame, token, duration, 1),
                   1);
    rd_writer_leave (writer);
  } else if (rd_frame_token (frame) == token)
    end_marked (writer, frame, token, now);
  else
    end_slow (writer, token, now);
}

/* The writer's attention is not 0. */
COLD static void
end_checked (struct rd_writer_state *writer, unsigned attention,
             uint64_t token)
{
  uint64_t now = rd_clock_now (&writer->clock);
  if (!rd_writer_enter_checked (writer, attention))
    end_elsewhere (token);
  else if (rd_writer_has_taps (writer))
    end_slow (writer, token, now);
  else
    end_entered (writer, token, now);
}

HOT void
radio_scope_end (uint64_t token)
{
  uint64_t now = rd_counter_read ();
  struct rd_writer_state *writer = rd_this_thread.current;
  if (unlikely (!writer)) {
    end_elsewhere (token);
    return;
  }
  unsigned attention = rd_writer_enter_quickly (writer);
  if (unlikely (attention != 0)) {
    end_checked (writer, attention, token);
    return;
  }
  end_entered (writer, token, now);
}

/*------------------------------------------------------------------------
 * An end with amounts
 *----------------------------------------------------------------------*/

/* Adds the text of a scope that ends; to the log only if the span is. */
static void
add_text (struct rd_writer_state *writer, struct rd_frame *frame,
          const struct rd_counting *counting, bool logs)
{
  const struct rd_log_text text = {
    .sequence = rd_frame_sequence (frame),
    .kind = RADIO_TEXT_NAME,
    .key = counting->set->text_key,
  };
  rd_texts_add (&writer->texts, frame->node, logs, &text, counting->text);
}

/* The scope is not the innermost one, or is special, or has bytes already.
 * On the entered writer, which is left here. */
COLD static void
end_counting_slow (struct rd_writer_state *writer,
                   const struct rd_counting *counting, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  while (frame > writer->frames && rd_frame_token (frame) != counting->token)
    frame--;
  if (frame > writer->frames) {
    if (counting->has_tile)
      set_tile (frame, counting->tile, counting->stored_nbytes);
    for (size_t i = 0; i < RD_NAMOUNTS; i++)
      if (counting->amounts[i] > 0)
        add_to_frame (frame, counting->set->counters[i],
                      counting->amounts[i], i);
    if (counting->text) {
      rd_frame_mark (frame, RD_FRAME_NOTED);
      add_text (writer, frame, counting, !writer->recorder->tree_only);
    }
  }
  end_slow (writer, counting->token, now);
}

/* The bytes of the span: the larger one of its numbers of bytes. */
static inline uint64_t
nbytes_of (const struct rd_counting *counting)
{
  return rd_min_u64 (rd_max_u64 (counting->amounts[RD_AMOUNT_BYTES],
                                 counting->amounts[RD_AMOUNT_MORE_BYTES]),
                     RD_MAX_VALUE);
}

/* Slots of the span of a scope whose frame has no bytes and no tile. */
static inline size_t
nslots_of (const struct rd_counting *counting)
{
  return nbytes_of (counting) != 0 || counting->has_tile ? 2 : 1;
}

static inline __attribute__ ((__always_inline__)) void
write_extra (union rd_log_slot *slot, const struct rd_counting *counting)
{
  slot->extra = (struct rd_log_extra) {
    .tile = counting->tile,
    .nbytes = nbytes_of (counting),
    .stored_nbytes = counting->stored_nbytes,
    .flags = counting->has_tile ? RD_LOG_TILE : 0,
  };
}

/* Keeps the text of a scope that ended, whose span is in this slot, or NULL:
 * in the span's extra, if there is one without a tile. */
static void
write_text (struct rd_writer_state *writer, struct rd_frame *frame,
            const struct rd_counting *counting, union rd_log_slot *slot,
            size_t nslots)
{
  if (!slot || nslots < 2 || counting->has_tile) {
    add_text (writer, frame, counting, slot != NULL);
    return;
  }
  const struct rd_text_value *text
    = rd_texts_own (&writer->texts, frame->node, counting->set->text_key,
                    counting->text);
  if (text) {
    slot[1].extra.text = text;
    slot[1].extra.flags = RD_LOG_TEXT;
  }
}

/* For a scope with a text, or that could have blocked, or that cannot end
 * fast, or has another set of counters than its node had.  On the entered
 * writer, which is left here. */
static __attribute__ ((__noinline__)) void
end_counting_marked (struct rd_writer_state *writer,
                     const struct rd_counting *counting, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  if (unlikely (rd_frame_token (frame) != counting->token)
      || unlikely (frame->special & RD_FRAME_COUNTED)
      || unlikely (!is_simple (writer, frame, now))) {
    end_counting_slow (writer, counting, now);
    return;
  }
  const uint64_t duration = duration_of (frame, now);
  const size_t nslots = nslots_of (counting);
  rd_node_add_set (frame->node, counting->set, counting->amounts);
  pop_frame (writer, frame, now, duration);
  union rd_log_slot *slot = log_run (writer, frame, counting->token,
                                        duration, nslots);
  if (!slot)
    drop_texts (writer, frame);
  else if (nslots > 1)
    write_extra (&slot[1], counting);
  if (counting->text)
    write_text (writer, frame, counting, slot, nslots);
  rd_log_commit (writer, slot, nslots);
  clear_simple (frame);
  rd_writer_leave (writer);
}

/* On the entered writer, which is left here. */
static inline __attribute__ ((__always_inline__)) void
end_counting_entered (struct rd_writer_state *writer,
                      const struct rd_counting *counting, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  const uint64_t duration = now - frame->begin;
  const size_t nslots = nslots_of (counting);
  if (unlikely (frame->id != counting->token)
      || unlikely (counting->text != NULL)
      || unlikely (!can_end_fast (writer, frame, duration, nslots))
      || unlikely (!rd_node_add_same_set (frame->node, counting->set,
                                          counting->amounts))) {
    end_counting_marked (writer, counting, now);
    return;
  }
  pop_frame (writer, frame, now, duration);
  union rd_log_slot *slot = log_with_room (writer, frame, counting->token,
                                         duration, nslots);
  if (likely (slot != NULL) && likely (nslots > 1))
    write_extra (&slot[1], counting);
  rd_log_commit (writer, slot, nslots);
  rd_writer_leave (writer);
}

/* As end_checked, or there is no writer. */
COLD static void
end_counting_checked (struct rd_writer_state *writer, unsigned attention,
                      const struct rd_counting *counting)
{
  if (!writer || !rd_writer_enter_checked (writer, attention)) {
    end_elsewhere (counting->token);
    return;
  }
  uint64_t now = rd_clock_now (&writer->clock);
  if (rd_writer_has_taps (writer))
    end_counting_slow (writer, counting, now);
  else
    end_counting_entered (writer, counting, now);
}

HOT void
rd_scope_end_counting (const struct rd_counting *counting)
{
  uint64_t now = rd_counter_read ();
  struct rd_writer_state *writer = rd_this_thread.current;
  unsigned attention = likely (writer != NULL)
                       ? rd_writer_enter_quickly (writer)
                       : 0;
  if (likely (writer != NULL) && likely (attention == 0))
    end_counting_entered (writer, counting, now);
  else
    end_counting_checked (writer, attention, counting);
}
