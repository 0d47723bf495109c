/* SPDX-License-Identifier: MIT */
/* Walking a lane with a stack of the spans that are open. */
#include <config.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "profiler/export/nest.h"

struct open_span {
  const struct rd_span *span;
  uint64_t end_ns;
};

struct walk {
  const struct rd_nest_visitor *visitor;
  struct rd_buffer stack;     /* of struct open_span */
};

static void
free_walk (struct walk *walk)
{
  rd_buffer_free (&walk->stack);
}

static struct open_span *
innermost (struct walk *walk)
{
  if (walk->stack.nbytes == 0)
    return NULL;
  return (struct open_span *) (void *)
    (walk->stack.data + walk->stack.nbytes) - 1;
}

static void
leave_innermost (struct walk *walk)
{
  struct open_span *top = innermost (walk);
  if (walk->visitor->leave != NULL)
    walk->visitor->leave (top->span, top->end_ns, walk->visitor->context);
  walk->stack.nbytes -= sizeof *top;
}

/* A span that begins where another ends is beside it; but one without a
 * duration is still inside its parent there. */
static bool
is_over (const struct open_span *top, const struct rd_span *span)
{
  if (top->end_ns != span->begin_ns)
    return top->end_ns < span->begin_ns;
  return span->parent != top->span->id || span->duration_ns > 0;
}

static enum radio_status
enter (struct walk *walk, const struct rd_span *span)
{
  struct open_span *top = innermost (walk);
  struct open_span next = { span, rd_span_end (span) };
  if (top != NULL)
    next.end_ns = rd_min_u64 (next.end_ns, top->end_ns);
  RD_TRY (rd_buffer_append (&walk->stack, &next, sizeof next));
  if (walk->visitor->enter != NULL)
    walk->visitor->enter (span, next.end_ns, walk->visitor->context);
  return RADIO_OK;
}

enum radio_status
rd_nest_visit (const struct rd_span *spans, size_t n,
               const struct rd_nest_visitor *visitor)
{
  RD_CLEANUP (free_walk) struct walk walk = { visitor, { 0 } };
  for (size_t i = 0; i < n; i++) {
    while (innermost (&walk) && is_over (innermost (&walk), &spans[i]))
      leave_innermost (&walk);
    RD_TRY (enter (&walk, &spans[i]));
  }
  while (innermost (&walk))
    leave_innermost (&walk);
  return RADIO_OK;
}

size_t
rd_nest_lane_length (const struct radio_profile *profile, size_t first)
{
  size_t i = first;
  while (i < profile->spans.n
         && profile->spans.at[i].lane == profile->spans.at[first].lane)
    i++;
  return i - first;
}
