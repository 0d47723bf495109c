/* SPDX-License-Identifier: MIT */
/* The log of a profile: checked, since it may come from a file, and put in
 * the order that exporters go through it. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/model/builder.h"
#include "profiler/model/intern.h"
#include "profiler/model/vector.h"

/*------------------------------------------------------------------------
 * Ids
 *----------------------------------------------------------------------*/

/* Where a span with this id is or would be; NULL where no id can be so
 * large. */
static uint32_t *
find_id (const struct rd_span_ids *ids, const struct radio_profile *profile,
         uint32_t id)
{
  if (ids->is_direct)
    return id < ids->nslots ? &ids->slots[id] : NULL;
  size_t mask = ids->nslots - 1;
  size_t i = rd_mix (ids->seed ^ id) & mask;
  while (ids->slots[i] != RD_NO_INDEX
         && profile->spans.at[ids->slots[i]].id != id)
    i = (i + 1) & mask;
  return &ids->slots[i];
}

uint32_t
rd_span_ids_find (const struct rd_span_ids *ids,
                  const struct radio_profile *profile, uint32_t id)
{
  const uint32_t *slot = id ? find_id (ids, profile, id) : NULL;
  return slot ? *slot : RD_NO_INDEX;
}

static enum radio_status
add_id (struct rd_span_ids *ids, const struct radio_profile *profile,
        uint32_t i)
{
  uint32_t id = profile->spans.at[i].id;
  if (id == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "span %" PRIu32 " has the id 0", i);
  uint32_t *slot = find_id (ids, profile, id);
  if (*slot != RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "spans %" PRIu32 " and %" PRIu32 " have the same id %"
                    PRIu32, *slot, i, id);
  *slot = i;
  return RADIO_OK;
}

static uint32_t
largest_id (const struct radio_profile *profile)
{
  uint32_t largest = 0;
  for (size_t i = 0; i < profile->spans.n; i++)
    if (profile->spans.at[i].id > largest)
      largest = profile->spans.at[i].id;
  return largest;
}

/* Ids are mostly 1 to n: a slot for each takes less room than hashing does,
 * and neighbours stay neighbours.  Where a file has others, so many slots
 * that no more than half of them are taken. */
static size_t
choose_slots (const struct radio_profile *profile, bool *is_direct)
{
  size_t n = profile->spans.n, nslots = 16;
  uint32_t largest = largest_id (profile);
  *is_direct = largest / 2 <= n;
  if (*is_direct)
    return (size_t) largest + 1;
  while (nslots < 2 * n)
    nslots *= 2;
  return nslots;
}

enum radio_status
rd_span_ids_make (const struct radio_profile *profile,
                  struct rd_span_ids *ids)
{
  size_t nslots = choose_slots (profile, &ids->is_direct);
  ids->slots = malloc (nslots * sizeof *ids->slots);
  if (ids->slots == NULL)
    return rd_fail_memory (nslots * sizeof *ids->slots);
  ids->nslots = nslots;
  ids->seed = rd_intern_seed (profile->strings);
  for (size_t i = 0; i < nslots; i++)
    ids->slots[i] = RD_NO_INDEX;
  for (size_t i = 0; i < profile->spans.n; i++)
    RD_TRY (add_id (ids, profile, (uint32_t) i));
  return RADIO_OK;
}

void
rd_span_ids_free (struct rd_span_ids *ids)
{
  free (ids->slots);
  ids->slots = NULL;
}

/*------------------------------------------------------------------------
 * Checks
 *----------------------------------------------------------------------*/

static enum radio_status
check_span (const struct radio_profile *profile, struct rd_span *span)
{
  uint64_t end;
  if (span->node >= profile->nodes.n)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "span %" PRIu32 " is of node %" PRIu32 " where there are "
                    "only %zu", span->id, span->node, profile->nodes.n);
  if (span->lane != RD_NO_INDEX && span->lane >= profile->lanes.n)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "span %" PRIu32 " is in lane %" PRIu32 " where there are "
                    "only %zu", span->id, span->lane, profile->lanes.n);
  if (rd_add_overflows (span->begin_ns, span->duration_ns, &end)
      || end > RD_MAX_VALUE)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "span %" PRIu32 " ends later than 2^63 ns", span->id);
  if (span->nbytes > RD_MAX_VALUE)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "span %" PRIu32 " has more than 2^63 bytes", span->id);
  span->submitted_ns = rd_min_u64 (span->submitted_ns, span->begin_ns);
  span->wait_ns = rd_min_u64 (span->wait_ns, span->duration_ns);
  return RADIO_OK;
}

/* Whoever walks from span to parent must come to an end.  mark[i] is one
 * more than the span from which i was reached first. */
static enum radio_status
check_cycles (const struct radio_profile *profile,
              const struct rd_span_ids *ids, uint32_t *mark)
{
  const struct rd_span *spans = profile->spans.at;
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    uint32_t j = i;
    while (j != RD_NO_INDEX && mark[j] == 0) {
      mark[j] = i + 1;
      j = rd_span_ids_find (ids, profile, spans[j].parent);
    }
    if (j != RD_NO_INDEX && mark[j] == i + 1)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is among its own parents",
                      spans[j].id);
  }
  return RADIO_OK;
}

enum radio_status
rd_profile_check_spans (struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->spans.n; i++)
    RD_TRY (check_span (profile, &profile->spans.at[i]));
  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_span_ids_make (profile, &ids));
  RD_FREE_PLAIN void *mark = NULL;
  RD_TRY (rd_new_array (profile->spans.n, sizeof (uint32_t), &mark));
  return check_cycles (profile, &ids, mark);
}

/*------------------------------------------------------------------------
 * Order
 *----------------------------------------------------------------------*/

/* Of spans with equal times, the node above comes first: it has the smaller
 * index. */
static int
compare_spans (const void *a, const void *b)
{
  const struct rd_span *x = a, *y = b;
  int by = rd_compare_u64 (x->lane, y->lane);
  by = by ? by : rd_compare_u64 (x->begin_ns, y->begin_ns);
  by = by ? by : rd_compare_u64 (y->duration_ns, x->duration_ns);
  by = by ? by : rd_compare_u64 (x->node, y->node);
  return by ? by : rd_compare_u64 (x->id, y->id);
}

static bool
is_sorted (const struct rd_span *spans, size_t n)
{
  for (size_t i = 1; i < n; i++)
    if (compare_spans (&spans[i - 1], &spans[i]) > 0)
      return false;
  return true;
}

static uint64_t
end_of (const struct rd_span *span)
{
  return span->begin_ns + span->duration_ns;
}

/* Cut what sticks out of the span around it.  ends[] are those of the spans
 * open at a time; whether any was cut is left in *has_cut: lengths are part
 * of the order. */
static enum radio_status
cut_to_nest (struct radio_profile *profile, uint64_t *ends, bool *has_cut)
{
  size_t depth = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    struct rd_span *span = &profile->spans.at[i];
    if (i > 0 && span->lane != span[-1].lane)
      depth = 0;
    while (depth > 0 && ends[depth - 1] <= span->begin_ns)
      depth--;
    if (depth > 0 && end_of (span) > ends[depth - 1]) {
      span->duration_ns = ends[depth - 1] - span->begin_ns;
      span->wait_ns = rd_min_u64 (span->wait_ns, span->duration_ns);
      *has_cut = true;
    }
    if (depth == RD_MAX_NODE_DEPTH)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is more than %d levels deep in lane %"
                      PRIu32, span->id, RD_MAX_NODE_DEPTH, span->lane);
    ends[depth++] = end_of (span);
  }
  return RADIO_OK;
}

static void
sort (struct radio_profile *profile)
{
  if (!is_sorted (profile->spans.at, profile->spans.n))
    qsort (profile->spans.at, profile->spans.n, sizeof *profile->spans.at,
           compare_spans);
}

enum radio_status
rd_profile_sort_spans (struct radio_profile *profile)
{
  RD_FREE_PLAIN void *ends = NULL;
  bool has_cut = false;
  RD_TRY (rd_new_array (RD_MAX_NODE_DEPTH, sizeof (uint64_t), &ends));
  sort (profile);
  RD_TRY (cut_to_nest (profile, ends, &has_cut));
  if (has_cut)
    sort (profile);
  return RADIO_OK;
}
