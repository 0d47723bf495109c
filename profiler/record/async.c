/* SPDX-License-Identifier: MIT */
/* Requests and their phases.
 *
 * A request covers its parent's time as a child on another thread does.  Its
 * own time is what its phases leave.  The recorder's mutex guards all but
 * what never changes; references are dropped outside of it.
 */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/record/async.h"
#include "profiler/record/log.h"
#include "profiler/record/shared.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/* The request itself, or a phase of it. */
struct run {
  struct rd_node *node;       /* NULL: there is none */
  uint64_t begin;
  uint64_t sequence;
};

struct radio_async {
  struct rd_shared *parent;   /* a reference; it has one to the recorder */
  struct radio_async *next, **previous;         /* of the recorder's */
  struct rd_writer_state *writer;
  bool is_open;               /* not ended, nor its recorder stopped */
  struct run request, phase;
  uint64_t submitted;
  uint64_t covered;           /* by the phases that ended */
  struct rd_run_bytes bytes;
};

/*------------------------------------------------------------------------
 * Runs
 *----------------------------------------------------------------------*/

static struct run
begin_run (struct rd_writer_state *writer, struct rd_node *node,
           uint64_t now)
{
  if (writer->first_begin == 0 || now < writer->first_begin)
    writer->first_begin = now;
  return (struct run) { node, now, rd_writer_next_sequence (writer) };
}

/* Add the run to its node and to the log. */
static void
end_run (struct radio_async *async,
         const struct run *run,
         uint64_t end,
         uint64_t covered,
         struct rd_log_extra *extra)
{
  struct rd_writer_state *writer = async->writer;
  bool is_request = run == &async->request;
  uint64_t duration = end - run->begin;
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
    .parent = is_request ? async->parent->sequence : async->request.sequence,
    .extra = extra,
  };
  rd_log_append (writer, run->node, &logged);
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
    .parent_writer = async->parent->writer,
    .flags = flags | RD_LOG_REMOTE_PARENT,
  };
  end_phase (async, end, flags & RD_LOG_OPEN);
  end_run (async, &async->request, end, async->covered, &extra);
  async->is_open = false;
  *async->previous = async->next;
  if (async->next)
    async->next->previous = async->previous;
}

/*------------------------------------------------------------------------
 * Begin
 *----------------------------------------------------------------------*/

/* The request's node, and its begin; the recorder's mutex is held. */
static bool
begin_request (struct radio_async *async, const struct radio_site *site)
{
  struct radio_recorder *recorder = async->parent->recorder;
  struct rd_writer_state *writer = rd_async_writer (recorder);
  struct rd_node *node = writer
    ? rd_tree_stand_in (writer, async->parent->node)
    : NULL;
  if (node)
    node = rd_tree_child (writer, node, site, RADIO_EDGE_ASYNC);
  if (!node)
    return false;
  uint64_t now = rd_shared_enter_request (async->parent);
  async->writer = writer;
  async->request = begin_run (writer, node, now);
  if (async->submitted == 0 || async->submitted > now)
    async->submitted = now;
  node->queue += now - async->submitted;
  async->is_open = true;
  async->next = recorder->synced.asyncs;
  async->previous = &recorder->synced.asyncs;
  if (async->next)
    async->next->previous = &async->next;
  recorder->synced.asyncs = async;
  return true;
}

/* Begin a request under a parent, whose reference it takes. */
static struct radio_async *
begin (struct rd_shared *parent,
       uint64_t submitted,
       const struct radio_site *site)
{
  struct radio_async *async = calloc (1, sizeof *async);
  bool begun = false;
  if (async && !rd_recorder_is_forked (parent->recorder)) {
    RD_LOCK_SCOPE (&parent->recorder->mutex);
    async->parent = parent;
    async->submitted = submitted;
    begun = begin_request (async, site);
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
  return parent ? begin (parent, 0, site) : NULL;
}

struct radio_async *
radio_async_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site)
{
  struct rd_shared *parent = handoff->parent;
  if (!parent)
    return radio_async_begin (site);
  return begin (rd_shared_ref (parent), handoff->submitted, site);
}

/*------------------------------------------------------------------------
 * What happens to a request
 *----------------------------------------------------------------------*/

/* The mutex under which a request is changed; NULL where nothing may be. */
static pthread_mutex_t *
lock_open (struct radio_async *async)
{
  if (!async || rd_recorder_is_forked (async->parent->recorder))
    return NULL;
  pthread_mutex_t *mutex = rd_lock_mutex (&async->parent->recorder->mutex);
  if (async->is_open)
    return mutex;
  pthread_mutex_unlock (mutex);
  return NULL;
}

#define LOCK_OPEN_SCOPE(async)                          \
  RD_CLEANUP (rd_cleanup_unlock)                        \
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

static void
end_now (struct radio_async *async)
{
  LOCK_OPEN_SCOPE (async);
  uint64_t begin = async->phase.node ? async->phase.begin
                                     : async->request.begin;
  uint64_t end;
  bool late = rd_shared_leave_request (async->parent, begin, &end);
  end_request (async, end, late ? RD_LOG_LATE : 0);
}

void
radio_async_end (struct radio_async *async)
{
  if (!async)
    return;
  end_now (async);
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
