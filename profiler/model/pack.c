/* SPDX-License-Identifier: MIT */
/* Rows for requests.  Requests overlap at will, and every viewer takes two
 * spans that overlap in one row for caller and callee, or drops one.  So a
 * request goes, with its phases, into the first row where nothing runs at
 * its time; a tree over the rows' ends finds that row in logarithmic
 * time. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/model/builder.h"
#include "profiler/model/vector.h"

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

/* The request that a phase belongs to, if it waits for a row too. */
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

/* Fill leader[]; spans that have a lane stay RD_NO_INDEX.  A chain of phases
 * is walked up to who is known, and down again by setting it. */
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

/* The time that each group takes up.  A phase whose request the log did not
 * keep is a group by itself. */
static void
make_groups (struct packing *packing)
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
                                span->begin_ns + span->duration_ns);
  }
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

/* The first row that is free from begin_ns on.  There is one: as many rows
 * as groups. */
static size_t
find_row (const struct packing *packing, uint64_t begin_ns)
{
  size_t i = 1;
  while (i < packing->nrows)
    i = packing->ends[2 * i] <= begin_ns ? 2 * i : 2 * i + 1;
  return i - packing->nrows;
}

static void
set_row_end (struct packing *packing, size_t row, uint64_t end_ns)
{
  size_t i = packing->nrows + row;
  packing->ends[i] = end_ns;
  for (i /= 2; i >= 1; i /= 2)
    packing->ends[i] = rd_min_u64 (packing->ends[2 * i],
                                   packing->ends[2 * i + 1]);
}

static enum radio_status
add_row (struct radio_profile *profile, size_t number, uint32_t *lane)
{
  char name[32];
  snprintf (name, sizeof name, "requests %zu", number);
  return rd_profile_add_lane (
    profile, &(struct rd_lane) { .name = name, .is_async = true }, lane);
}

/* Give each group a row, by time. */
static enum radio_status
place_groups (struct packing *packing)
{
  uint32_t nused = 0;
  uint32_t first = (uint32_t) packing->profile->lanes.n;
  for (size_t i = 0; i < packing->ngroups; i++) {
    struct group *group = &packing->groups[i];
    size_t row = find_row (packing, group->begin_ns);
    if (row == nused) {
      uint32_t lane;
      RD_TRY (add_row (packing->profile, ++nused, &lane));
    }
    group->lane = first + (uint32_t) row;
    set_row_end (packing, row, group->end_ns);
  }
  return RADIO_OK;
}

/* Drop what is no group, and sort the rest. */
static void
sort_groups (struct packing *packing)
{
  size_t n = 0;
  for (uint32_t i = 0; i < packing->profile->spans.n; i++)
    if (packing->leader[i] == i)
      packing->groups[n++] = packing->groups[i];
  packing->ngroups = n;
  qsort (packing->groups, n, sizeof *packing->groups, compare_groups);
}

static enum radio_status
place (struct packing *packing)
{
  packing->nrows = 1;
  while (packing->nrows < packing->ngroups)
    packing->nrows *= 2;
  void *ends;
  RD_TRY (rd_new_array (2 * packing->nrows, sizeof (uint64_t), &ends));
  packing->ends = ends;
  RD_TRY (place_groups (packing));

  struct rd_span *spans = packing->profile->spans.at;
  for (size_t i = 0; i < packing->ngroups; i++)
    spans[packing->groups[i].first].lane = packing->groups[i].lane;
  for (size_t i = 0; i < packing->profile->spans.n; i++)
    if (packing->leader[i] != RD_NO_INDEX)
      spans[i].lane = spans[packing->leader[i]].lane;
  return RADIO_OK;
}

static bool
needs_packing (const struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->spans.n; i++)
    if (profile->spans.at[i].lane == RD_NO_INDEX)
      return true;
  return false;
}

enum radio_status
rd_profile_pack (struct radio_profile *profile)
{
  if (!needs_packing (profile))
    return RADIO_OK;
  RD_CLEANUP (free_packing) struct packing packing = { .profile = profile };
  void *leader, *groups;
  size_t n = profile->spans.n;
  RD_TRY (rd_span_ids_make (profile, &packing.ids));
  RD_TRY (rd_new_array (n, sizeof (uint32_t), &leader));
  packing.leader = leader;
  RD_TRY (rd_new_array (n, sizeof (struct group), &groups));
  packing.groups = groups;
  find_leaders (&packing);
  make_groups (&packing);
  sort_groups (&packing);
  return place (&packing);
}
