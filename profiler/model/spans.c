/* SPDX-License-Identifier: MIT */
/* Spans of the log: checked, since they may come from a file, given lanes, and
 * put in the order in which exporters need them. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/model/builder.h"
#include "profiler/model/string-table.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/*------------------------------------------------------------------------
 * Ids
 *----------------------------------------------------------------------*/

/* Returns the slot of an id, or the free one for it; NULL where no id can be
 * so large. */
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

enum radio_status
rd_span_ids_make (const struct radio_profile *profile,
                  struct rd_span_ids *ids)
{
  /* Ids are mostly 1 to n: a slot for each takes less room than hashing does,
   * and neighbours stay neighbours.  For other ids, a hash table with at
   * most half of its slots taken. */
  size_t nslots = 16;
  uint32_t largest = 0;
  for (size_t i = 0; i < profile->spans.n; i++)
    if (profile->spans.at[i].id > largest)
      largest = profile->spans.at[i].id;
  ids->is_direct = largest / 2 <= profile->spans.n;
  if (ids->is_direct)
    nslots = (size_t) largest + 1;
  while (!ids->is_direct && nslots < 2 * profile->spans.n)
    nslots *= 2;

  ids->slots = malloc (nslots * sizeof *ids->slots);
  if (ids->slots == NULL)
    return rd_fail_memory (nslots * sizeof *ids->slots);
  ids->nslots = nslots;
  ids->seed = rd_string_table_seed (profile->strings);
  for (size_t i = 0; i < nslots; i++)
    ids->slots[i] = RD_NO_INDEX;
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    uint32_t id = profile->spans.at[i].id;
    if (id == 0)
      return rd_fail (RADIO_ERROR_FORMAT, "span %" PRIu32 " has the id 0", i);
    uint32_t *slot = find_id (ids, profile, id);
    if (*slot != RD_NO_INDEX)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "spans %" PRIu32 " and %" PRIu32 " have the same id %"
                      PRIu32, *slot, i, id);
    *slot = i;
  }
  return RADIO_OK;
}

void
rd_span_ids_free (struct rd_span_ids *ids)
{
  free (ids->slots);
  ids->slots = NULL;
}

/* From each span up to one whose place is known, and again to set it. */
void
rd_span_find_descendants (const struct radio_profile *profile,
                          const struct rd_span_ids *ids, size_t top,
                          unsigned char *places)
{
  const struct rd_span *spans = profile->spans.at;
  places[top] = RD_SPAN_INSIDE;
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    uint32_t known = i;
    while (known != RD_NO_INDEX && places[known] == 0)
      known = rd_span_ids_find (ids, profile, spans[known].parent);
    unsigned char place = known == RD_NO_INDEX ? RD_SPAN_OUTSIDE
                                               : places[known];
    for (uint32_t j = i; j != known;
         j = rd_span_ids_find (ids, profile, spans[j].parent))
      places[j] = place;
  }
}

/*------------------------------------------------------------------------
 * Spans that run at once
 *----------------------------------------------------------------------*/

static uint64_t
end_of (const struct rd_span *span)
{
  return span->begin_ns + span->duration_ns;
}

static int
compare_stretches (const void *a, const void *b)
{
  const struct rd_stretch *x = a, *y = b;
  int by = rd_compare_u64 (x->key, y->key);
  return by ? by : rd_compare_u64 (x->begin_ns, y->begin_ns);
}

void
rd_sum_unions (struct rd_stretch *stretches, size_t n, uint64_t *sums)
{
  uint64_t until = 0;
  if (n > 1)
    qsort (stretches, n, sizeof *stretches, compare_stretches);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || stretches[i].key != stretches[i - 1].key)
      until = 0;
    sums[stretches[i].key] += rd_subtract (
      stretches[i].end_ns, rd_max_u64 (stretches[i].begin_ns, until));
    until = rd_max_u64 (until, stretches[i].end_ns);
  }
}

enum radio_status
rd_span_sum_covered (const struct radio_profile *profile,
                     const struct rd_span_ids *ids, size_t top,
                     const unsigned char *places, uint64_t *covered_ns)
{
  const struct rd_span *spans = profile->spans.at;
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = 0;
  RD_TRY (rd_new_array (profile->spans.n, sizeof (struct rd_stretch), &memory));
  struct rd_stretch *children = memory;
  for (size_t i = 0; i < profile->spans.n; i++) {
    if (places[i] != RD_SPAN_INSIDE || i == top)
      continue;
    uint32_t above = rd_span_ids_find (ids, profile, spans[i].parent);
    children[n++] = (struct rd_stretch) {
      above, rd_max_u64 (spans[i].begin_ns, spans[above].begin_ns),
      rd_min_u64 (end_of (&spans[i]), end_of (&spans[above]))
    };
  }
  rd_sum_unions (children, n, covered_ns);
  return RADIO_OK;
}

enum radio_status
rd_span_sum_nodes (const struct radio_profile *profile,
                   const unsigned char *places, uint64_t *node_ns)
{
  const struct rd_span *spans = profile->spans.at;
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = 0;
  RD_TRY (rd_new_array (profile->spans.n, sizeof (struct rd_stretch), &memory));
  struct rd_stretch *stretches = memory;
  for (size_t i = 0; i < profile->spans.n; i++)
    if (!places || places[i] == RD_SPAN_INSIDE)
      stretches[n++] = (struct rd_stretch) {
        spans[i].node, spans[i].begin_ns, end_of (&spans[i])
      };
  rd_sum_unions (stretches, n, node_ns);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Checks
 *----------------------------------------------------------------------*/

enum radio_status
rd_profile_check_spans (struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->spans.n; i++) {
    struct rd_span *span = &profile->spans.at[i];
    uint64_t end;
    if (span->node >= profile->nodes.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is of node %" PRIu32 " where there "
                      "are only %zu", span->id, span->node, profile->nodes.n);
    if (span->lane != RD_NO_INDEX && span->lane >= profile->lanes.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is in lane %" PRIu32 " where there "
                      "are only %zu", span->id, span->lane, profile->lanes.n);
    if (rd_add_overflows (span->begin_ns, span->duration_ns, &end)
        || end > RD_MAX_VALUE)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " ends later than 2^63 ns", span->id);
    if (span->nbytes > RD_MAX_VALUE)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " has more than 2^63 bytes", span->id);
    span->submitted_ns = rd_min_u64 (span->submitted_ns, span->begin_ns);
    span->wait_ns = rd_min_u64 (span->wait_ns, span->duration_ns);
    span->starved_ns = rd_min_u64 (span->starved_ns,
                                   span->duration_ns - span->wait_ns);
  }
  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_span_ids_make (profile, &ids));
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (profile->spans.n, sizeof (uint32_t), &memory));

  /* Walks from span to parent must end.  mark[i] is one more than the span
   * from which i was reached first. */
  uint32_t *mark = memory;
  const struct rd_span *spans = profile->spans.at;
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    uint32_t j = i;
    while (j != RD_NO_INDEX && mark[j] == 0) {
      mark[j] = i + 1;
      j = rd_span_ids_find (&ids, profile, spans[j].parent);
    }
    if (j != RD_NO_INDEX && mark[j] == i + 1)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is among its own parents",
                      spans[j].id);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Order
 *----------------------------------------------------------------------*/

/* Spans with equal times are ordered by node: the one above has the smaller
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

/* Spans are mostly in order already. */
static void
sort (struct radio_profile *profile)
{
  struct rd_span *spans = profile->spans.at;
  size_t n = profile->spans.n, i = 1;
  while (i < n && compare_spans (&spans[i - 1], &spans[i]) <= 0)
    i++;
  if (i < n)
    qsort (spans, n, sizeof *spans, compare_spans);
}

enum radio_status
rd_profile_sort_spans (struct radio_profile *profile)
{
  RD_FREE_PLAIN void *memory = NULL;
  bool has_cut = false;
  RD_TRY (rd_new_array (RD_MAX_NODE_DEPTH, sizeof (uint64_t), &memory));
  sort (profile);

  /* Cut spans at the end of the one around them.  ends[] are those of the
   * spans that are open at a time. */
  uint64_t *ends = memory;
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
      span->starved_ns = rd_min_u64 (span->starved_ns,
                                     span->duration_ns - span->wait_ns);
      has_cut = true;
    }
    if (depth == RD_MAX_NODE_DEPTH)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "span %" PRIu32 " is more than %d levels deep in lane %"
                      PRIu32, span->id, RD_MAX_NODE_DEPTH, span->lane);
    ends[depth++] = end_of (span);
  }
  if (has_cut)                /* lengths are part of the order */
    sort (profile);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Rows for requests.  Requests overlap at will, and every viewer takes two
 * spans that overlap in one row for caller and callee, or drops one.  So a
 * request goes, with its phases, into the first row where nothing runs at
 * its time; a tree over the rows' ends finds that row in logarithmic
 * time.
 *----------------------------------------------------------------------*/

/* A request, its phases, and phases of phases. */
struct group {
  uint64_t begin_ns, end_ns;
  uint32_t first;             /* span by which ties are broken */
  uint32_t lane;
};

struct packing {
  struct radio_profile *profile;
  struct rd_span_ids ids;
  uint32_t *leader;           /* of each span: whose group it is in */
  struct group *groups;       /* by leader, later by begin */
  size_t ngroups;
  uint64_t *ends;             /* a tree: node i has 2i and 2i + 1 below it,
                                 and the smaller of their ends */
  size_t nrows;               /* a power of 2: leaves of the tree */
};

static void
free_packing (struct packing *packing)
{
  rd_span_ids_free (&packing->ids);
  free (packing->leader);
  free (packing->groups);
  free (packing->ends);
}

/* The request that a phase belongs to, if it needs a row too. */
static uint32_t
request_of (const struct packing *packing, uint32_t i)
{
  const struct radio_profile *profile = packing->profile;
  const struct rd_span *span = &profile->spans.at[i];
  if (profile->nodes.at[span->node].edge != RADIO_EDGE_PHASE)
    return RD_NO_INDEX;
  uint32_t above = rd_span_ids_find (&packing->ids, profile, span->parent);
  if (above == RD_NO_INDEX
      || profile->spans.at[above].lane != RD_NO_INDEX)
    return RD_NO_INDEX;
  return above;
}

static int
compare_groups (const void *a, const void *b)
{
  const struct group *x = a, *y = b;
  if (x->begin_ns != y->begin_ns)
    return x->begin_ns < y->begin_ns ? -1 : 1;
  if (x->end_ns != y->end_ns)
    return x->end_ns > y->end_ns ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

/* Finds the leaders.  Spans that have a lane have none.  A chain of phases is
 * walked up to a span with a known leader, and again to set it. */
static void
find_leaders (struct packing *packing)
{
  const struct radio_profile *profile = packing->profile;
  for (uint32_t i = 0; i < profile->spans.n; i++)
    packing->leader[i] = RD_NO_INDEX;
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    if (profile->spans.at[i].lane != RD_NO_INDEX)
      continue;
    uint32_t top = i, above;
    while (packing->leader[top] == RD_NO_INDEX
           && (above = request_of (packing, top)) != RD_NO_INDEX)
      top = above;
    uint32_t leader = packing->leader[top];
    leader = leader == RD_NO_INDEX ? top : leader;
    packing->leader[top] = leader;
    for (uint32_t j = i; j != top; j = request_of (packing, j))
      packing->leader[j] = leader;
  }
}

/* Finds the time that each group takes, and sorts the groups.  A phase whose
 * request is not in the log is a group by itself. */
static void
find_groups (struct packing *packing)
{
  const struct radio_profile *profile = packing->profile;
  for (uint32_t i = 0; i < profile->spans.n; i++)
    packing->groups[i] = (struct group) { UINT64_MAX, 0, i, RD_NO_INDEX };
  for (uint32_t i = 0; i < profile->spans.n; i++) {
    if (packing->leader[i] == RD_NO_INDEX)
      continue;
    const struct rd_span *span = &profile->spans.at[i];
    struct group *group = &packing->groups[packing->leader[i]];
    group->begin_ns = rd_min_u64 (group->begin_ns, span->begin_ns);
    group->end_ns = rd_max_u64 (group->end_ns,
                                end_of (span));
  }

  for (uint32_t i = 0; i < profile->spans.n; i++)
    if (packing->leader[i] == i)
      packing->groups[packing->ngroups++] = packing->groups[i];
  qsort (packing->groups, packing->ngroups, sizeof *packing->groups,
         compare_groups);
}

/* Gives the group the first row that is free from its begin on.  There is
 * one: as many rows as groups. */
static size_t
take_row (struct packing *packing, const struct group *group)
{
  size_t at = 1;
  while (at < packing->nrows)
    at = packing->ends[2 * at] <= group->begin_ns ? 2 * at : 2 * at + 1;
  size_t row = at - packing->nrows;
  packing->ends[at] = group->end_ns;
  for (at /= 2; at >= 1; at /= 2)
    packing->ends[at] = rd_min_u64 (packing->ends[2 * at],
                                    packing->ends[2 * at + 1]);
  return row;
}

enum radio_status
rd_profile_assign_lanes (struct radio_profile *profile)
{
  size_t n = profile->spans.n, without_lane = 0;
  for (size_t i = 0; i < n; i++)
    without_lane += profile->spans.at[i].lane == RD_NO_INDEX;
  if (without_lane == 0)
    return RADIO_OK;
  RD_CLEANUP (free_packing) struct packing packing = { .profile = profile };
  void *leaders, *groups, *ends;
  RD_TRY (rd_span_ids_make (profile, &packing.ids));
  RD_TRY (rd_new_array (n, sizeof (uint32_t), &leaders));
  packing.leader = leaders;
  RD_TRY (rd_new_array (n, sizeof (struct group), &groups));
  packing.groups = groups;

  find_leaders (&packing);
  find_groups (&packing);
  packing.nrows = 1;
  while (packing.nrows < packing.ngroups)
    packing.nrows *= 2;
  RD_TRY (rd_new_array (2 * packing.nrows, sizeof (uint64_t), &ends));
  packing.ends = ends;

  /* Give each group a row, by time. */
  uint32_t nused = 0;
  uint32_t first = (uint32_t) profile->lanes.n;
  for (size_t i = 0; i < packing.ngroups; i++) {
    struct group *group = &packing.groups[i];
    size_t row = take_row (&packing, group);
    if (row == nused) {
      char name[32];
      snprintf (name, sizeof name, "requests %" PRIu32, ++nused);
      struct rd_lane lane = { .name = name, .is_async = true };
      RD_TRY (rd_profile_add_lane (profile, &lane, NULL));
    }
    group->lane = first + (uint32_t) row;
  }

  struct rd_span *spans = profile->spans.at;
  for (size_t i = 0; i < packing.ngroups; i++)
    spans[packing.groups[i].first].lane = packing.groups[i].lane;
  for (size_t i = 0; i < n; i++)
    if (packing.leader[i] != RD_NO_INDEX)
      spans[i].lane = spans[packing.leader[i]].lane;
  return RADIO_OK;
}
