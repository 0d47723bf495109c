/* SPDX-License-Identifier: MIT */
/* Finding the ends of arrows.
 *
 * A reader gives an arrow's end to the innermost span that is open on the
 * thread at its time.  Perfetto takes a span for open until the next one of
 * the thread begins, so an arrow drawn at the true time, after some child of
 * the submitter has ended, would come out of that child.  Therefore an end
 * must lie before whatever begins next on its lane; the true time serves if
 * it does, and else the latest that does. */
#include <config.h>

#include <stdlib.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "profiler/export/chrome-flow.h"
#include "profiler/export/nest.h"

struct entry {
  uint32_t id, index;
};

static int
compare_ids (const void *pa, const void *pb)
{
  const struct entry *a = pa, *b = pb;
  return (a->id > b->id) - (a->id < b->id);
}

enum radio_status
rd_flows_make (const struct radio_profile *profile, struct rd_flows *flows)
{
  size_t n = profile->spans.n;
  RD_FREE struct entry *entries = rd_calloc (n + 1, sizeof *entries);
  flows->profile = profile;
  flows->by_id = rd_calloc (n + 1, sizeof *flows->by_id);
  if (entries == NULL || flows->by_id == NULL)
    return rd_fail_memory ((n + 1) * sizeof *entries);
  for (size_t i = 0; i < n; i++)
    entries[i] = (struct entry) { profile->spans.at[i].id, (uint32_t) i };
  qsort (entries, n, sizeof *entries, compare_ids);
  for (size_t i = 0; i < n; i++)
    flows->by_id[i] = entries[i].index;
  return RADIO_OK;
}

void
rd_flows_free (struct rd_flows *flows)
{
  rd_free (flows->by_id);
  flows->by_id = NULL;
}

/* The span of an id, or NULL. */
static const struct rd_span *
find_span (const struct rd_flows *flows, uint32_t id)
{
  const struct rd_span *spans = flows->profile->spans.at;
  size_t low = 0, high = flows->profile->spans.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (spans[flows->by_id[middle]].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == flows->profile->spans.n || spans[flows->by_id[low]].id != id)
    return NULL;
  return &spans[flows->by_id[low]];
}

/* The last moment at which a span is the innermost of its lane for every
 * reader: before its end, and before what begins next.  When that begins
 * with it, there is none, and its beginning has to do. */
static uint64_t
latest_moment (const struct rd_flows *flows, const struct rd_span *span)
{
  const struct radio_profile *profile = flows->profile;
  uint64_t limit = rd_span_end (span);
  size_t next = (size_t) (span - profile->spans.at) + 1;
  if (next < profile->spans.n
      && profile->spans.at[next].lane == span->lane)
    limit = rd_min_u64 (limit, profile->spans.at[next].begin_ns);
  return limit > span->begin_ns ? limit - 1 : span->begin_ns;
}

static uint64_t
clamp (uint64_t value, uint64_t low, uint64_t high)
{
  return rd_max_u64 (low, rd_min_u64 (value, high));
}

/* An arrow may not go back in time, not even by the little by which the
 * clocks of two processors differ. */
bool
rd_flows_find (const struct rd_flows *flows, const struct rd_span *span,
               struct rd_flow *flow)
{
  enum radio_edge edge = flows->profile->nodes.at[span->node].edge;
  if (span->parent == 0
      || (edge != RADIO_EDGE_HANDOFF && edge != RADIO_EDGE_ASYNC))
    return false;
  const struct rd_span *parent = find_span (flows, span->parent);
  if (parent == NULL
      || (parent->lane == span->lane
          && span->begin_ns <= rd_span_end (parent)))
    return false;
  flow->from_lane = parent->lane;
  flow->from_ns = clamp (span->submitted_ns, parent->begin_ns,
                         latest_moment (flows, parent));
  flow->to_ns = clamp (flow->from_ns, span->begin_ns,
                       latest_moment (flows, span));
  return flow->from_ns <= flow->to_ns;
}
