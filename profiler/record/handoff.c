/* SPDX-License-Identifier: MIT */
/* Handing a scope on, and receiving it on another thread.
 *
 * A handoff of a recorder that was stopped is as good as none.  A thread
 * that another recorder records is recorded by the handoff's for as long as
 * the received scope is open, and by its own again afterwards; but not if the
 * handoff's stands below that already: then the scope is the other one's.
 */
#include <config.h>

#include "profiler/handoff.h"
#include "profiler/record/scope.h"
#include "profiler/record/shared.h"
#include "profiler/record/tap.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

void
radio_handoff_give (struct radio_handoff *handoff)
{
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
rd_handoff_again (const struct radio_handoff *handoff)
{
  const struct rd_shared *shared = handoff->parent;
  struct radio_handoff again = *handoff;
  if (shared)
    again.submitted = rd_clock_now (&shared->recorder->clock);
  return again;
}

/* Open the scope on the entered writer; 0 if it cannot be recorded. */
static uint64_t
open_received (struct rd_writer_state *writer,
               const struct radio_handoff *handoff,
               const struct radio_site *site,
               bool attached,
               bool *is_told)
{
  struct rd_shared *shared = handoff->parent;
  struct rd_node *parent = rd_tree_stand_in (writer, shared->node);
  struct rd_node *node = parent
    ? rd_tree_child (writer, parent, site, RADIO_EDGE_HANDOFF)
    : NULL;
  struct rd_frame *frame = node ? rd_frame_open (writer, node, shared) : NULL;
  if (!frame)
    return 0;
  rd_frame_mark (frame, RD_FRAME_SPECIAL);
  frame->received = true;
  frame->attached = attached;
  frame->submitted = handoff->submitted;
  *is_told = frame->is_told;
  return rd_frame_token (frame);
}

/* How a thread stands to a recorder. */
enum standing {
  STANDS_OUTSIDE,
  STANDS_WITHIN,              /* it records what the thread does now */
  STANDS_BELOW,               /* it will again, when another one is done */
  STANDS_NOWHERE,             /* it belongs to the process that forked */
};

static enum standing
standing_of (const struct radio_recorder *recorder)
{
  const struct rd_writer_state *current = rd_this_thread.current;
  if (rd_recorder_is_forked (recorder))
    return STANDS_NOWHERE;
  for (const struct rd_writer_state *w = current; w; w = w->below) {
    if (w->recorder == recorder)
      return w == current ? STANDS_WITHIN : STANDS_BELOW;
  }
  return STANDS_OUTSIDE;
}

/* Open the scope on this thread's writer of the handoff's recorder.  False:
 * that was stopped. */
static bool
receive (const struct radio_handoff *handoff, const struct radio_site *site,
         bool attach, uint64_t *token)
{
  struct rd_shared *shared = handoff->parent;
  struct rd_writer_state *writer = attach
    ? rd_writer_push (shared->recorder)
    : rd_this_thread.current;
  *token = 0;
  if (!writer)
    return false;
  bool entered = rd_writer_enter (writer), is_told = false;
  if (entered) {
    *token = open_received (writer, handoff, site, attach, &is_told);
    rd_writer_leave (writer);
  }
  if (*token == 0 && attach)
    rd_writer_pop (writer);
  if (is_told)
    rd_tap_begin (site);
  return entered;
}

uint64_t
radio_scope_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site)
{
  const struct rd_shared *shared = handoff->parent;
  uint64_t token;
  if (shared) {
    enum standing standing = standing_of (shared->recorder);
    if ((standing == STANDS_OUTSIDE || standing == STANDS_WITHIN)
        && receive (handoff, site, standing == STANDS_OUTSIDE, &token))
      return token;
  }
  return radio_scope_begin (site);
}

void
radio_handoff_release (struct radio_handoff *handoff)
{
  rd_shared_unref (handoff->parent);
  *handoff = (struct radio_handoff) { .parent = NULL };
}
