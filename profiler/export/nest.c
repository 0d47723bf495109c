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

static struct open_span *
innermost (const struct rd_buffer *stack)
{
  if (stack->nbytes == 0)
    return NULL;
  return (struct open_span *) (void *) (stack->data + stack->nbytes) - 1;
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

enum radio_status
rd_nest_visit (const struct rd_span *spans, size_t n,
               const struct rd_nest_visitor *visitor)
{
  RD_BUFFER_SCOPE struct rd_buffer stack = { 0 };
  for (size_t i = 0; i <= n; i++) {
    struct open_span *top = innermost (&stack);
    while (top != NULL && (i == n || is_over (top, &spans[i]))) {
      if (visitor->leave != NULL)
        visitor->leave (top->span, top->end_ns, visitor->context);
      stack.nbytes -= sizeof *top;
      top = innermost (&stack);
    }
    if (i == n)
      break;
    struct open_span next = { &spans[i], rd_span_end (&spans[i]) };
    if (top != NULL)
      next.end_ns = rd_min_u64 (next.end_ns, top->end_ns);
    RD_TRY (rd_buffer_append (&stack, &next, sizeof next));
    if (visitor->enter != NULL)
      visitor->enter (next.span, next.end_ns, visitor->context);
  }
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
