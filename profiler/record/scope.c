/* SPDX-License-Identifier: MIT */
/* The hot path: a scope's begin and end.
 *
 * Reading the clock twice is most of the cost, and the rest is kept to a
 * handful of cache lines: the writer's first, the frame's, the node's first
 * and the log's; how long a node's runs were is made of the log when the
 * recorder stops.  Whatever is out of the ordinary (a new path, a parent that
 * other threads share, a scope that waits) goes to cold functions, and to
 * frame.c. */
#include <config.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "profiler/record/log.h"
#include "profiler/record/scope.h"
#include "profiler/record/tap.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define likely(x) __builtin_expect (!!(x), 1)
#define unlikely(x) __builtin_expect (!!(x), 0)
#define COLD __attribute__ ((__noinline__, __cold__))
#define HOT __attribute__ ((__aligned__ (64)))

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

/* The child of a path that began last, or the one that followed it then;
 * else NULL. */
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

/* The writer is entered, and left here. */
COLD static uint64_t
begin_rarely (struct rd_writer_state *writer, const struct radio_site *site)
{
  struct rd_frame *parent = writer->top;
  struct rd_frame *frame = NULL;
  struct rd_node *node = rd_frame_child (writer, parent, site);
  if (node)
    frame = rd_frame_open (writer, node, parent->shared);
  uint64_t token = frame ? rd_frame_token (frame) : 0;
  bool is_told = frame && frame->is_told;
  rd_writer_leave (writer);
  if (is_told)
    rd_tap_begin (site);
  return token;
}

/* This thread has no writer, or the recorder of the one it has stopped. */
COLD static uint64_t
begin_anew (const struct radio_site *site)
{
  struct rd_writer_state *writer;
  while ((writer = rd_writer_current ()) != NULL)
    if (rd_writer_enter (writer))
      return begin_rarely (writer, site);
  return 0;
}

/* Put a frame on the stack, without the time. */
static inline __attribute__ ((__always_inline__)) struct rd_frame *
push (struct rd_writer_state *writer, struct rd_node *node)
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

/* A scope that waits, or that may: the latter are many. */
static __attribute__ ((__noinline__)) uint64_t
begin_waiting (struct rd_writer_state *writer, struct rd_node *node)
{
  if (node->kind != RADIO_SCOPE_BLOCKING || rd_writer_has_taps (writer))
    return begin_rarely (writer, node->site);
  struct rd_frame *frame = push (writer, node);
  uint64_t token = frame->id;
  frame->begin = rd_frame_begin_blocking (writer, frame);
  rd_writer_leave (writer);
  return token;
}

/* What the time of a scope's begin is taken from. */
enum begin {
  BEGIN_BY_CLOCK,
  BEGIN_BY_COUNTER,           /* the counter alone */
  BEGIN_AT_LAST_END,          /* the counter where nothing ended before */
};

/* What is known of a scope's kind. */
enum kind {
  KIND_OF_SITE,
  KIND_RUNNING,               /* BLOCKING, but see rd_scope_begin_running */
};

/* Whether a node's scope begins as those do that only run.  There must be a
 * reading of the CPU clock that its end can start from. */
static inline __attribute__ ((__always_inline__)) bool
begins_running (const struct rd_writer_state *writer,
                const struct rd_node *node, enum kind kind)
{
  return kind == KIND_RUNNING ? likely (writer->cpu.fresh_until != 0)
                              : likely (node->kind == RADIO_SCOPE_WORK);
}

static inline __attribute__ ((__always_inline__)) uint64_t
begin_time (const struct rd_writer_state *writer,
            const struct rd_frame *parent, enum begin begin)
{
  if (begin == BEGIN_BY_CLOCK)
    return rd_clock_now (&writer->clock);
  if (begin == BEGIN_AT_LAST_END && likely (writer->last_end > parent->begin)
      && likely (parent > writer->frames))
    return writer->last_end;
  return rd_counter_read ();
}

/* On the entered writer, which is left here. */
static inline __attribute__ ((__always_inline__)) uint64_t
begin_entered (struct rd_writer_state *writer, const struct radio_site *site,
               enum begin begin, enum kind kind)
{
  struct rd_frame *parent = writer->top;
  struct rd_node *node = guess_child (parent->node, site);
  if (unlikely (!node) || unlikely (parent->fenced))
    return begin_rarely (writer, site);
  if (!begins_running (writer, node, kind))
    return begin_waiting (writer, node);
  struct rd_frame *frame = push (writer, node);
  uint64_t token = frame->id;
  if (kind == KIND_RUNNING)
    rd_frame_mark (frame, RD_FRAME_RUNNING);
  frame->begin = begin_time (writer, parent, begin);
  rd_writer_leave (writer);
  return token;
}

/* The writer has something to heed; it may be busy already. */
COLD static uint64_t
begin_heeding (struct rd_writer_state *writer, const struct radio_site *site,
               enum kind kind)
{
  if (!rd_writer_enter (writer))
    return begin_anew (site);
  if (rd_writer_has_taps (writer))
    return begin_rarely (writer, site);
  return begin_entered (writer, site, BEGIN_BY_CLOCK, kind);
}

static inline __attribute__ ((__always_inline__)) uint64_t
begin_quickly (const struct radio_site *site, enum begin begin,
               enum kind kind)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  if (unlikely (!writer))
    return begin_anew (site);
  if (unlikely (rd_writer_enter_quickly (writer) != 0))
    return begin_heeding (writer, site, kind);
  return begin_entered (writer, site, begin, kind);
}

HOT uint64_t
radio_scope_begin (const struct radio_site *site)
{
  return begin_quickly (site, BEGIN_BY_COUNTER, KIND_OF_SITE);
}

HOT uint64_t
rd_scope_begin_next (const struct radio_site *site)
{
  return begin_quickly (site, BEGIN_AT_LAST_END, KIND_OF_SITE);
}

HOT uint64_t
rd_scope_begin_running (const struct radio_site *site)
{
  return begin_quickly (site, BEGIN_BY_COUNTER, KIND_RUNNING);
}

/*------------------------------------------------------------------------
 * Within a scope
 *----------------------------------------------------------------------*/

/* Add to a counter of a frame, maybe its node's i-th. */
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

/* Whether a scope is open, and not only what stands for none. */
static inline bool
is_open (const struct rd_writer_state *writer, const struct rd_frame *frame)
{
  return likely (frame > writer->frames);
}

/* There is no writer, or it has something to heed; it may be busy already,
 * which entering it ends if it was stopped.  The writer that was entered, or
 * NULL. */
COLD static struct rd_writer_state *
enter_heeding (struct rd_writer_state *writer)
{
  if (writer && rd_writer_enter (writer))
    return writer;
  writer = rd_writer_current ();
  return writer && rd_writer_enter (writer) ? writer : NULL;
}

/* The thread's writer, entered, or NULL. */
static inline __attribute__ ((__always_inline__)) struct rd_writer_state *
enter_current (void)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  if (likely (writer != NULL)
      && likely (rd_writer_enter_quickly (writer) == 0))
    return writer;
  return enter_heeding (writer);
}

void
radio_scope_add (const struct radio_counter *counter, uint64_t value)
{
  struct rd_writer_state *writer = enter_current ();
  if (unlikely (!writer))
    return;
  if (is_open (writer, writer->top))
    add_to_frame (writer->top, counter, value, 0);
  rd_writer_leave (writer);
}

/* What the end of the frame has to clear is marked, whatever adding does. */
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

/* Where it may block and nothing was noted yet, note it. */
static void
tell_blocking (bool blocks)
{
  struct rd_writer_state *writer = enter_current ();
  if (unlikely (!writer))
    return;
  struct rd_frame *frame = writer->top;
  if (is_open (writer, frame) && frame->node->kind == RADIO_SCOPE_BLOCKING
      && !(frame->special & RD_FRAME_BLOCKING)) {
    frame->special &= (unsigned char) ~RD_FRAME_RUNNING;
    if (blocks)
      rd_frame_blocks (writer, frame);
  }
  rd_writer_leave (writer);
}

void
rd_scope_blocks (void)
{
  if (radio_profile_is_on ())
    tell_blocking (true);
}

void
rd_scope_ran (void)
{
  if (radio_profile_is_on ())
    tell_blocking (false);
}

void
radio_scope_instant (const struct radio_site *site)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  bool is_told = rd_frame_instant (writer, site)
                 && rd_writer_has_taps (writer) && !rd_tap_is_inside ();
  rd_writer_leave (writer);
  if (is_told)
    rd_tap_instant (site);
}

/*------------------------------------------------------------------------
 * End
 *----------------------------------------------------------------------*/

/* A scope of a writer that is not current any more: one below on the stack,
 * or one that the thread was taken from. */
COLD static void
end_elsewhere (uint64_t token)
{
  struct rd_writer_state *writer = rd_this_thread.mine;
  for (; writer; writer = writer->next_mine)
    if (rd_writer_enter (writer)) {
      uint64_t now = rd_clock_now (&writer->clock);
      if (rd_frame_end_and_tell (writer, token, now))
        return;
    }
}

/* The writer is entered, and left here. */
COLD static void
end_rarely (struct rd_writer_state *writer, uint64_t token, uint64_t now)
{
  if (!rd_frame_end_and_tell (writer, token, now))
    end_elsewhere (token);
}

/* The frame's span is not in the log: so its texts go. */
static void
drop_texts (struct rd_writer_state *writer, const struct rd_frame *frame)
{
  if (frame->special & RD_FRAME_NOTED)
    rd_texts_drop_last (&writer->texts, rd_frame_sequence (frame));
}

/* Nobody wrote the log's next lines before, and what is measured has little
 * room left in the caches: some spans ahead they are fetched in time. */
#define AHEAD_SLOTS 6

/* Write the span of a frame that ended, but for its extra, if it has two
 * slots. */
static inline __attribute__ ((__always_inline__)) void
write_span (union rd_log_slot *slot, const struct rd_frame *frame,
            uint64_t token, uint64_t duration, size_t nslots)
{
  __builtin_prefetch (slot + AHEAD_SLOTS, 1);
  slot->span.begin = frame->begin;
  slot->span.duration_more = duration | (nslots > 1 ? RD_SPAN_HAS_EXTRA : 0);
  slot->span.sequence_node = token + frame->node->tag;
  slot->span.parent_epoch = (frame - 1)->id;
}

static inline bool
has_room (const struct rd_writer_state *writer, size_t nslots)
{
  return (size_t) (writer->log_end - writer->log_next) >= nslots;
}

/* Log the span of a frame that ended, where there is room.  Where it is;
 * NULL: dropped. */
static inline __attribute__ ((__always_inline__)) union rd_log_slot *
log_quickly (struct rd_writer_state *writer, const struct rd_frame *frame,
             uint64_t token, uint64_t duration, size_t nslots)
{
  struct rd_node *node = frame->node;
  union rd_log_slot *slot = writer->log_next;
  if (duration < node->threshold) {
    rd_node_drop (writer, node, duration);
    return NULL;
  }
  writer->log_next = slot + nslots;
  node->nlogged++;
  write_span (slot, frame, token, duration, nslots);
  return slot;
}

/* The same where there may be none. */
static union rd_log_slot *
log_anyway (struct rd_writer_state *writer, const struct rd_frame *frame,
            uint64_t token, uint64_t duration, size_t nslots)
{
  if (has_room (writer, nslots))
    return log_quickly (writer, frame, token, duration, nslots);
  union rd_log_slot *slot = rd_log_take (writer, frame->node, duration,
                                         nslots);
  if (slot)
    write_span (slot, frame, token, duration, nslots);
  return slot;
}

/* Whether the clock says that a frame was as long as its children, and there
 * is room to log it, or no need to: mostly so, and then its end calls
 * nothing, and needs no registers for what comes after that. */
static inline __attribute__ ((__always_inline__)) bool
ends_quickly (const struct rd_writer_state *writer,
              const struct rd_frame *frame, uint64_t duration,
              size_t nslots)
{
  return likely ((int64_t) duration >= (int64_t) frame->covered)
         && (likely (has_room (writer, nslots))
             || duration < frame->node->threshold);
}

/* Take the frame off the stack. */
static inline __attribute__ ((__always_inline__)) void
end_quickly (struct rd_writer_state *writer, struct rd_frame *frame,
             uint64_t now, uint64_t duration)
{
  writer->top = frame - 1;
  writer->last_end = now;
  (frame - 1)->covered += duration;
  frame->node->total += duration;
}

/* How long a frame was that ends now.  A parent is as long as its children
 * at least, even if the clock, which is read without fences, should say
 * otherwise by a few ticks: so total is self and children, exactly. */
static inline uint64_t
duration_of (const struct rd_frame *frame, uint64_t now)
{
  uint64_t duration = now - frame->begin;
  return (int64_t) duration < (int64_t) frame->covered ? frame->covered
                                                       : duration;
}

/* What a frame that is about to end had for itself. */
static inline uint64_t
own_time (const struct rd_frame *frame, uint64_t now)
{
  int64_t own = (int64_t) (now - frame->begin - frame->covered);
  return own > 0 ? (uint64_t) own : 0;
}

/* Whether a marked frame has nothing but bytes and texts, and did not wait
 * though it could have. */
static inline bool
is_simple (const struct rd_writer_state *writer, const struct rd_frame *frame,
           uint64_t now)
{
  if (unlikely (frame->special & RD_FRAME_SPECIAL))
    return false;
  return !rd_frame_could_wait (frame)
         || likely (!rd_frame_may_have_waited (writer,
                                               own_time (frame, now)));
}

/* Leave the rare members of a simple frame zero, but for bytes and tile. */
static inline void
clear_simple (struct rd_frame *frame)
{
  if (frame->special & RD_FRAME_BLOCKING)
    frame->cpu_begin = frame->waited_before = 0;
  frame->special = 0;
}

/* The extra of a simple frame, whose members it leaves zero. */
static struct rd_log_extra
take_extra (struct rd_frame *frame)
{
  const struct rd_log_extra extra = {
    .tile = frame->tile,
    .nbytes = rd_run_bytes_take (&frame->bytes),
    .stored_nbytes = frame->stored_nbytes,
    .flags = frame->flags,
  };
  frame->tile = frame->stored_nbytes = frame->flags = 0;
  return extra;
}

/* A frame that is marked, or does not end quickly. */
static __attribute__ ((__noinline__)) void
end_marked (struct rd_writer_state *writer, struct rd_frame *frame,
            uint64_t token, uint64_t now)
{
  if (!is_simple (writer, frame, now)) {
    end_rarely (writer, token, now);
    return;
  }
  const struct rd_log_extra extra = take_extra (frame);
  const size_t nslots = extra.nbytes != 0 || extra.flags != 0 ? 2 : 1;
  const uint64_t duration = duration_of (frame, now);
  end_quickly (writer, frame, now, duration);
  union rd_log_slot *slot = log_anyway (writer, frame, token, duration,
                                        nslots);
  if (!slot)
    drop_texts (writer, frame);
  else if (nslots > 1)
    slot[1].extra = extra;
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
      && likely (ends_quickly (writer, frame, duration, 1))) {
    end_quickly (writer, frame, now, duration);
    log_quickly (writer, frame, token, duration, 1);
    rd_writer_leave (writer);
  } else if (rd_frame_token (frame) == token)
    end_marked (writer, frame, token, now);
  else
    end_rarely (writer, token, now);
}

/* The writer has something to heed; it may be busy already. */
COLD static void
end_heeding (struct rd_writer_state *writer, uint64_t token)
{
  uint64_t now = rd_clock_now (&writer->clock);
  if (!rd_writer_enter (writer))
    end_elsewhere (token);
  else if (rd_writer_has_taps (writer))
    end_rarely (writer, token, now);
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
  if (unlikely (rd_writer_enter_quickly (writer) != 0)) {
    end_heeding (writer, token);
    return;
  }
  end_entered (writer, token, now);
}

/*------------------------------------------------------------------------
 * An end with amounts
 *----------------------------------------------------------------------*/

/* The text of a scope that ends, in the log only if the span is. */
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

/* Add all to a scope that is open. */
static void
add_counting (struct rd_writer_state *writer, struct rd_frame *frame,
              const struct rd_counting *counting)
{
  if (counting->has_tile)
    set_tile (frame, counting->tile, counting->stored_nbytes);
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (counting->amounts[i] > 0)
      add_to_frame (frame, counting->set->counters[i], counting->amounts[i],
                    i);
  if (counting->text) {
    rd_frame_mark (frame, RD_FRAME_NOTED);
    add_text (writer, frame, counting, !writer->recorder->tree_only);
  }
}

/* The scope is not the innermost one, or out of the ordinary, or has bytes
 * already.  On the entered writer, which is left here. */
COLD static void
end_counting_rarely (struct rd_writer_state *writer,
                     const struct rd_counting *counting, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  while (frame > writer->frames && rd_frame_token (frame) != counting->token)
    frame--;
  if (frame > writer->frames)
    add_counting (writer, frame, counting);
  end_rarely (writer, counting->token, now);
}

/* As the log has it: the larger one of its numbers of bytes. */
static inline uint64_t
nbytes_of (const struct rd_counting *counting)
{
  return rd_min_u64 (rd_max_u64 (counting->amounts[RD_AMOUNT_BYTES],
                                 counting->amounts[RD_AMOUNT_MORE_BYTES]),
                     RD_MAX_VALUE);
}

/* Slots of the span of a scope that has nothing yet that is to be told. */
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

/* The text of a scope that ended, whose span is here in the log, or not.  It
 * goes into the span's extra, if that has one, and has room. */
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

/* The scope has a text, or could have blocked, or neither is the case for an
 * end that is plain, or quick.  On the entered writer, which is left
 * here. */
static __attribute__ ((__noinline__)) void
end_counting_marked (struct rd_writer_state *writer,
                     const struct rd_counting *counting, uint64_t now)
{
  struct rd_frame *frame = writer->top;
  if (unlikely (rd_frame_token (frame) != counting->token)
      || unlikely (frame->special & RD_FRAME_COUNTED)
      || unlikely (!is_simple (writer, frame, now))) {
    end_counting_rarely (writer, counting, now);
    return;
  }
  const uint64_t duration = duration_of (frame, now);
  const size_t nslots = nslots_of (counting);
  rd_node_add_set (frame->node, counting->set, counting->amounts);
  end_quickly (writer, frame, now, duration);
  union rd_log_slot *slot = log_anyway (writer, frame, counting->token,
                                        duration, nslots);
  if (!slot)
    drop_texts (writer, frame);
  else if (nslots > 1)
    write_extra (&slot[1], counting);
  if (counting->text)
    write_text (writer, frame, counting, slot, nslots);
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
      || unlikely (!ends_quickly (writer, frame, duration, nslots))
      || unlikely (!rd_node_add_same_set (frame->node, counting->set,
                                          counting->amounts))) {
    end_counting_marked (writer, counting, now);
    return;
  }
  end_quickly (writer, frame, now, duration);
  union rd_log_slot *slot = log_quickly (writer, frame, counting->token,
                                         duration, nslots);
  if (likely (slot != NULL) && likely (nslots > 1))
    write_extra (&slot[1], counting);
  rd_writer_leave (writer);
}

/* As end_heeding. */
COLD static void
end_counting_heeding (struct rd_writer_state *writer,
                      const struct rd_counting *counting)
{
  if (!writer || !rd_writer_enter (writer)) {
    end_elsewhere (counting->token);
    return;
  }
  uint64_t now = rd_clock_now (&writer->clock);
  if (rd_writer_has_taps (writer))
    end_counting_rarely (writer, counting, now);
  else
    end_counting_entered (writer, counting, now);
}

HOT void
rd_scope_end_counting (const struct rd_counting *counting)
{
  uint64_t now = rd_counter_read ();
  struct rd_writer_state *writer = rd_this_thread.current;
  if (likely (writer != NULL)
      && likely (rd_writer_enter_quickly (writer) == 0))
    end_counting_entered (writer, counting, now);
  else
    end_counting_heeding (writer, counting);
}
