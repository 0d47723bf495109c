/* SPDX-License-Identifier: MIT */
/* Setting events of one nanosecond apart, in the order of the nesting. */
#include <config.h>

#include <stdlib.h>

#include "src/base/alloc.h"
#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "profiler/export/chrome-times.h"
#include "profiler/export/nest.h"

#define STEP_PS 100           /* between two events, if there is room */
#define ROOM_PS 248           /* to either side: less than a quarter */

struct event {
  size_t span;
  bool is_end;
};

/* The events of one nanosecond so far. */
struct group {
  const struct radio_profile *profile;
  struct rd_shift *shifts;
  uint64_t time_ns;
  enum radio_status status;
  struct rd_buffer events;    /* of struct event */
};

static void
free_group (struct group *group)
{
  rd_buffer_free (&group->events);
}

/* Two that begin together need not be told apart: readers put the longer
 * one first. */
static bool
is_step (const struct event *before, const struct event *after)
{
  return before->is_end || after->is_end;
}

/* How many steps after the first event the one is that keeps its time: the
 * first that begins, or what ends last. */
static int
count_steps_to_anchor (const struct event *events, size_t n)
{
  int steps = 0;
  for (size_t i = 1; i < n && events[i - 1].is_end; i++)
    steps += is_step (&events[i - 1], &events[i]);
  return steps;
}

static int
count_steps (const struct event *events, size_t n)
{
  int steps = 0;
  for (size_t i = 1; i < n; i++)
    steps += is_step (&events[i - 1], &events[i]);
  return steps;
}

static void
settle (struct group *group)
{
  const struct event *events = (const void *) group->events.data;
  size_t n = group->events.nbytes / sizeof *events;
  int steps = count_steps (events, n);
  int step_ps = steps * STEP_PS <= ROOM_PS ? STEP_PS : ROOM_PS / steps;
  int at = -count_steps_to_anchor (events, n);
  for (size_t i = 0; i < n; i++) {
    if (i > 0)
      at += is_step (&events[i - 1], &events[i]);
    struct rd_shift *shift = &group->shifts[events[i].span];
    if (events[i].is_end)
      shift->end_ps = (int16_t) (at * step_ps);
    else
      shift->begin_ps = (int16_t) (at * step_ps);
  }
  group->events.nbytes = 0;
}

static void
add_event (struct group *group, const struct rd_span *span,
           uint64_t time_ns, bool is_end)
{
  struct event event = {
    (size_t) (span - group->profile->spans.at), is_end
  };
  if (group->profile->nodes.at[span->node].edge == RADIO_EDGE_INSTANT)
    return;
  if (time_ns != group->time_ns && group->events.nbytes > 0)
    settle (group);
  group->time_ns = time_ns;
  if (group->status == RADIO_OK)
    group->status = rd_buffer_append (&group->events, &event, sizeof event);
}

static void
enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  (void) end_ns;
  add_event (context, span, span->begin_ns, false);
}

static void
leave (const struct rd_span *span, uint64_t end_ns, void *context)
{
  add_event (context, span, end_ns, true);
}

static enum radio_status
shift_lane (struct group *group, size_t first, size_t n)
{
  const struct rd_nest_visitor visitor = { enter, leave, group };
  RD_TRY (rd_nest_visit (&group->profile->spans.at[first], n, &visitor));
  RD_TRY (group->status);
  if (group->events.nbytes > 0)
    settle (group);
  return RADIO_OK;
}

enum radio_status
rd_shifts_make (const struct radio_profile *profile,
                struct rd_shift **shifts)
{
  size_t nspans = profile->spans.n;
  RD_FREE struct rd_shift *made = rd_calloc (nspans + 1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory ((nspans + 1) * sizeof *made);
  RD_CLEANUP (free_group) struct group group = {
    .profile = profile, .shifts = made
  };
  for (size_t i = 0, n; i < nspans; i += n) {
    n = rd_nest_lane_length (profile, i);
    RD_TRY (shift_lane (&group, i, n));
  }
  *shifts = RD_STEAL (made);
  return RADIO_OK;
}
