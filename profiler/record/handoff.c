/* SPDX-License-Identifier: MIT */
/* Work that leaves its thread: scopes that are handed over and received, and
 * requests.
 *
 * A handoff of a recorder that was stopped has no effect.  A thread that
 * another recorder records is recorded by the handoff's for as long as the
 * received scope is open, and by its own again afterwards; but if the
 * handoff's is lower on the thread's stack already, the scope is the current
 * one's. */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/counters.h"
#include "profiler/record/frame.h"
#include "profiler/record/log.h"
#include "profiler/record/notes.h"
#include "profiler/record/process.h"
#include "profiler/record/shared.h"
#include "profiler/record/slow.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/*------------------------------------------------------------------------
 * Handoffs
 *----------------------------------------------------------------------*/

void
radio_handoff_give (struct radio_handoff *handoff)
{
  if (handoff == NULL)
    return;
  *handoff = (struct radio_handoff) { .parent = NULL };
  if (!radio_profile_is_on ())
    return;
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  handoff->parent = rd_shared_take (writer);
  if (handoff->parent)
    handoff->submitted = rd_clock_now (&writer->clock);
  rd_writer_leave (writer);
}

struct radio_handoff
radio_handoff_again (const struct radio_handoff *handoff)
{
  const struct rd_shared *shared = handoff->parent;
  struct radio_handoff again = *handoff;
  if (shared)
    again.submitted = rd_clock_now (&shared->recorder->clock);
  return again;
}

/* Opens the scope on this thread's writer of the handoff's recorder; attach
 * pushes that for the scope.  False: the recorder was stopped. */
static bool
receive_scope (const struct radio_handoff *handoff,
               const struct radio_site *site, bool attach, uint64_t *token)
{
  struct rd_shared *shared = handoff->parent;
  struct rd_writer_state *writer = attach
    ? rd_writer_push (shared->recorder)
    : rd_this_thread.current;
  *token = 0;
  if (!writer)
    return false;
  bool entered = rd_writer_enter (writer), is_tapped = false;
  if (entered) {
    struct rd_node *node = rd_tree_stand_in (writer,
                                             shared->cover->node);
    if (node)
      node = rd_tree_child (writer, node, site, RADIO_EDGE_HANDOFF);
    struct rd_frame *frame = node ? rd_frame_open (writer, node, shared)
                                  : NULL;
    if (frame) {
      rd_frame_mark (frame, RD_FRAME_SPECIAL);
      frame->received = true;
      frame->submitted = handoff->submitted;
      frame->attached = attach;
      is_tapped = frame->is_tapped;
      *token = rd_frame_token (frame);
    }
    rd_writer_leave (writer);
  }
  if (*token == 0 && attach)
    rd_writer_pop (writer);
  if (is_tapped)
    rd_tap_begin (site);
  return entered;
}

uint64_t
radio_scope_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site)
{
  const struct rd_shared *shared = handoff->parent;
  struct rd_writer_state *current = rd_this_thread.current, *w = current;
  uint64_t token;
  if (!shared || rd_recorder_is_forked (shared->recorder))
    return radio_scope_begin (site);
  while (w && w->recorder != shared->recorder)
    w = w->below;
  bool is_lower = w && w != current;
  if (!is_lower && receive_scope (handoff, site, w == NULL, &token))
    return token;
  return radio_scope_begin (site);
}

void
radio_handoff_release (struct radio_handoff *handoff)
{
  rd_shared_unref (handoff->parent);
  *handoff = (struct radio_handoff) { .parent = NULL };
}

/*------------------------------------------------------------------------
 * Requests and their phases.
 *
 * They are runs without a frame, written under the recorder's mutex into its
 * writer of requests, by any thread.  A request covers its parent's time as a
 * child on another thread does; its self time is the time outside its phases.
 * The recorder's mutex guards all members but the constant ones; references
 * are dropped outside of it.
 *----------------------------------------------------------------------*/

/* The request itself, or a phase of it. */
struct async_run {
  struct rd_node *node;       /* or NULL */
  uint64_t begin;
  uint64_t sequence;
};

struct radio_async {
  struct rd_shared *parent;   /* a reference; it has one to the recorder */
  struct radio_async *next, **previous;         /* of the recorder's */
  struct rd_writer_state *writer;
  bool is_open;               /* not ended, nor its recorder stopped */
  struct async_run request, phase;
  uint64_t submitted;
  uint64_t covered;           /* by the phases that ended */
  struct rd_run_bytes bytes;
};

static struct async_run
begin_run (struct rd_writer_state *writer, struct rd_node *node,
           uint64_t now)
{
  if (writer->first_begin == 0 || now < writer->first_begin)
    writer->first_begin = now;
  return (struct async_run) { node, now, rd_writer_next_sequence (writer) };
}

/* Adds the run to its node and to the log. */
static void
end_run (struct radio_async *async, const struct async_run *run,
         uint64_t end, uint64_t covered, struct rd_log_extra *extra)
{
  struct rd_writer_state *writer = async->writer;
  bool is_request = run == &async->request;
  uint64_t duration = rd_min_u64 (end - run->begin, INT64_MAX);
  uint64_t self = duration - rd_min_u64 (covered, duration);
  rd_node_add_run (run->node, duration, self);
  run->node->own_above_self -= self;    /* there is no thread to work */
  run->node->opens += (extra->flags & RD_LOG_OPEN) != 0;
  run->node->lates += (extra->flags & RD_LOG_LATE) != 0;
  writer->last_end = rd_max_u64 (writer->last_end, end);
  extra->flags |= RD_LOG_ASYNC;
  const struct rd_log_run logged = {
    .begin = run->begin,
    .duration = duration,
    .sequence = run->sequence,
    .parent = is_request ? async->parent->cover->sequence
                         : async->request.sequence,
    .extra = extra,
  };
  if (rd_log_append (writer, run->node, &logged) && run->node->trigger != 0
      && !(extra->flags & RD_LOG_OPEN))
    rd_slow_check (writer, run->node, run->sequence, run->begin, duration,
                   UINT64_MAX);
}

static void
end_phase (struct radio_async *async, uint64_t end, unsigned flags)
{
  if (!async->phase.node)
    return;
  struct rd_log_extra extra = {
    .submitted = async->phase.begin, .flags = flags
  };
  end_run (async, &async->phase, end, 0, &extra);
  async->covered += end - async->phase.begin;
  async->phase.node = NULL;
}

static void
end_request (struct radio_async *async, uint64_t end, unsigned flags)
{
  struct rd_log_extra extra = {
    .submitted = async->submitted,
    .nbytes = rd_run_bytes_take (&async->bytes),
    .parent_writer = async->parent->cover->writer,
    .flags = flags | RD_LOG_REMOTE_PARENT,
  };
  end_phase (async, end, flags & RD_LOG_OPEN);
  end_run (async, &async->request, end, async->covered, &extra);
  async->is_open = false;
  *async->previous = async->next;
  if (async->next)
    async->next->previous = async->previous;
}

/* A request under a parent, whose reference it takes. */
static struct radio_async *
new_request (struct rd_shared *parent, uint64_t submitted,
             const struct radio_site *site)
{
  struct radio_recorder *recorder = parent->recorder;
  struct radio_async *async = calloc (1, sizeof *async);
  bool begun = false;
  if (async && !rd_recorder_is_forked (recorder)
      && !rd_thread_interrupts ()) {
    RD_THREAD_LOCK_SCOPE (&recorder->mutex);
    struct rd_writer_state *writer = rd_async_writer (recorder);
    struct rd_node *node = writer ? rd_tree_stand_in (writer,
                                                      parent->cover->node)
                                  : NULL;
    if (node)
      node = rd_tree_child (writer, node, site, RADIO_EDGE_ASYNC);
    if (node) {
      uint64_t now = rd_shared_enter (parent);
      bool is_known = submitted > 0 && submitted <= now;
      *async = (struct radio_async) {
        .parent = parent,
        .next = recorder->synced.asyncs,
        .previous = &recorder->synced.asyncs,
        .writer = writer,
        .is_open = true,
        .request = begin_run (writer, node, now),
        .submitted = is_known ? submitted : now,
      };
      node->queue += now - async->submitted;
      if (async->next)
        async->next->previous = &async->next;
      recorder->synced.asyncs = async;
      begun = true;
    }
  }
  if (begun)
    return async;
  rd_shared_unref (parent);
  free (async);
  return NULL;
}

struct radio_async *
radio_async_begin (const struct radio_site *site)
{
  if (!radio_profile_is_on ())
    return NULL;
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return NULL;
  struct rd_shared *parent = rd_shared_take (writer);
  rd_writer_leave (writer);
  return parent ? new_request (parent, 0, site) : NULL;
}

struct radio_async *
radio_async_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site)
{
  struct rd_shared *parent = handoff->parent;
  if (!parent)
    return radio_async_begin (site);
  return new_request (rd_shared_ref (parent), handoff->submitted, site);
}

/* Locks and returns the mutex under which a request is changed; NULL where
 * nothing may be. */
static pthread_mutex_t *
lock_open (struct radio_async *async)
{
  if (!async || rd_recorder_is_forked (async->parent->recorder)
      || rd_thread_interrupts ())
    return NULL;
  pthread_mutex_t *mutex = rd_thread_lock (&async->parent->recorder->mutex);
  if (async->is_open)
    return mutex;
  rd_thread_unlock (mutex);
  return NULL;
}

#define LOCK_OPEN_SCOPE(async)                          \
  RD_CLEANUP (rd_cleanup_thread_unlock)                 \
  pthread_mutex_t *locked = lock_open (async);          \
  if (!locked)                                          \
    return

void
radio_async_phase (struct radio_async *async, const struct radio_site *phase)
{
  LOCK_OPEN_SCOPE (async);
  uint64_t now = rd_clock_now (&async->parent->recorder->clock);
  now = rd_max_u64 (now, async->request.begin);
  if (async->phase.node)
    now = rd_max_u64 (now, async->phase.begin);
  end_phase (async, now, 0);
  struct rd_node *node = rd_tree_child (async->writer, async->request.node,
                                        phase, RADIO_EDGE_PHASE);
  if (node)
    async->phase = begin_run (async->writer, node, now);
}

void
radio_async_add (struct radio_async *async,
                 const struct radio_counter *counter,
                 uint64_t value)
{
  LOCK_OPEN_SCOPE (async);
  const struct rd_tally *tally
    = rd_node_count (async->request.node, counter, value, 0);
  if (tally && tally->slot < RD_NSLOTS)
    rd_run_bytes_add (&async->bytes, tally, value);
}

void
radio_async_text (struct radio_async *async,
                  const char *key,
                  const char *value,
                  enum radio_text_kind kind)
{
  LOCK_OPEN_SCOPE (async);
  struct rd_log_text text = {
    .sequence = async->request.sequence, .kind = kind, .key = key
  };
  rd_texts_add (&async->writer->texts, async->request.node,
                !async->parent->recorder->tree_only, &text, value);
}

/* References are dropped without the mutex. */
void
radio_async_end (struct radio_async *async)
{
  if (!async)
    return;
  pthread_mutex_t *locked = lock_open (async);
  if (locked) {
    uint64_t begin = async->phase.node ? async->phase.begin
                                       : async->request.begin;
    uint64_t end;
    bool late = rd_shared_leave_request (async->parent, begin, &end);
    end_request (async, end, late ? RD_LOG_LATE : 0);
    rd_thread_unlock (locked);
  }
  rd_shared_unref (async->parent);
  free (async);
}

void
rd_async_stop (struct radio_recorder *recorder, uint64_t now)
{
  while (recorder->synced.asyncs) {
    struct radio_async *async = recorder->synced.asyncs;
    uint64_t end = rd_max_u64 (now, async->request.begin);
    if (async->phase.node)
      end = rd_max_u64 (end, async->phase.begin);
    bool late = rd_shared_has_ended (async->parent);
    end_request (async, end, RD_LOG_OPEN | (late ? RD_LOG_LATE : 0));
  }
}
