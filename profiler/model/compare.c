/* SPDX-License-Identifier: MIT */
/* Comparing two profiles: which paths changed, and by how much, beyond the
 * differences between any two recordings.  The paths of both are one tree,
 * each above what is below it, in the order of the first profile.
 *
 * Which thread takes a piece of work is chance: so scopes that differ only by
 * the thread that ran them are one path, and its parts by thread have figures
 * but no change.  A change is of the path whose own time changed, and not of
 * those around it.  Threads that wait for others wait longer if these are
 * slower, or late: that is no change of theirs, nor of the totals that hold the
 * wait. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/structs.h"
#include "profiler/counters.h"
#include "profiler/model/builder.h"
#include "profiler/model/conditions.h"
#include "profiler/model/spread.h"
#include "profiler/model/string-table.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* All intervals together hold with this probability less than 1. */
#define ALPHA 0.05

struct radio_comparison {
  const struct radio_profile *before, *after;
  struct rd_conditions conditions;
  bool is_same_operation, is_summed;
  RD_VECTOR (struct radio_difference) paths;
};

/* A path of the union of both trees, by its edges: a part of a group. */
struct part {
  uint32_t node[2];           /* before and after, or RD_NO_INDEX */
  uint32_t group;
  uint32_t next;              /* of the group, or RD_NO_INDEX */
};

/* Paths that differ by threads only. */
struct group {
  uint32_t parent;            /* or RD_NO_INDEX */
  uint32_t first_child, last_child, next;
  uint32_t first_part, last_part, nparts;
  const char *name, *category;
  enum radio_edge kind;       /* RADIO_EDGE_CALL, or of a request */
};

/* One of the profiles. */
struct side {
  const struct radio_profile *profile;
  uint32_t *part_of;          /* [nodes] */
  size_t nruns;
  size_t n;                   /* measurements: runs, or rounds of them */
};

struct pairing {
  struct radio_comparison *comparison;
  struct side sides[2];
  bool is_by_rounds;
  RD_VECTOR (struct part) parts;
  RD_VECTOR (struct group) groups;
  uint32_t *slots;            /* of groups; RD_NO_INDEX: free */
  size_t nslots;
  uint32_t first_root, last_root;
  uint32_t *order;            /* groups, each before those below it */
  uint32_t *place;            /* [groups] in the order */
  uint32_t *size;             /* [order] of the subtree, in groups */
  uint64_t *values, *waits, *room;      /* [runs] of either */
  unsigned char *called;      /* [groups] directions, of it and those below */
  double alpha;               /* of an interval */
  double presence_alpha;      /* of a path that is new or gone */
  double least_ns;
};

static void
free_pairing (struct pairing *pairing)
{
  free (pairing->parts.at);
  free (pairing->groups.at);
  free (pairing->slots);
  free (pairing->sides[0].part_of);
  free (pairing->sides[1].part_of);
  free (pairing->order);
  free (pairing->place);
  free (pairing->size);
  free (pairing->values);
  free (pairing->waits);
  free (pairing->called);
  free (pairing->room);
}

/*------------------------------------------------------------------------
 * Pairing
 *----------------------------------------------------------------------*/

/* The slot of a group with this parent, name, category and kind, or where it
 * would be put. */
static uint32_t *
find_group (const struct pairing *pairing, const struct group *wanted)
{
  uint64_t hash = rd_mix (wanted->parent ^ ((uint64_t) wanted->kind << 32));
  for (const char *c = wanted->name; *c; c++)
    hash = rd_mix (hash ^ (unsigned char) *c);
  size_t mask = pairing->nslots - 1, i = hash & mask;
  for (; pairing->slots[i] != RD_NO_INDEX; i = (i + 1) & mask) {
    const struct group *group = &pairing->groups.at[pairing->slots[i]];
    if (group->parent == wanted->parent && group->kind == wanted->kind
        && strcmp (group->name, wanted->name) == 0
        && strcmp (group->category, wanted->category) == 0)
      break;
  }
  return &pairing->slots[i];
}

/* Makes a part of a node, in the group of its like, which is the last child of
 * its parent when it is new. */
static enum radio_status
add_part (struct pairing *pairing, int side, uint32_t node_index)
{
  const struct side *own = &pairing->sides[side];
  const struct radio_profile_node *node
    = &own->profile->nodes.at[node_index];
  struct part part = {
    .node = { RD_NO_INDEX, RD_NO_INDEX }, .next = RD_NO_INDEX
  };
  struct group wanted = {
    .parent = node->parent == RADIO_NO_PARENT ? RD_NO_INDEX
              : pairing->parts.at[own->part_of[node->parent]].group,
    .first_child = RD_NO_INDEX, .last_child = RD_NO_INDEX,
    .next = RD_NO_INDEX, .first_part = RD_NO_INDEX,
    .last_part = RD_NO_INDEX,
    .name = node->name, .category = node->category,
    .kind = node->edge == RADIO_EDGE_HANDOFF ? RADIO_EDGE_CALL : node->edge,
  };
  if (pairing->parts.n >= RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "more than 2^32 paths");
  uint32_t *slot = find_group (pairing, &wanted);
  if (*slot == RD_NO_INDEX) {
    uint32_t index = (uint32_t) pairing->groups.n;
    RD_TRY (rd_vector_append (&pairing->groups, wanted));
    *slot = index;
    struct group *above = wanted.parent == RD_NO_INDEX
                          ? NULL : &pairing->groups.at[wanted.parent];
    uint32_t *first = above ? &above->first_child : &pairing->first_root;
    uint32_t *last = above ? &above->last_child : &pairing->last_root;
    if (*last == RD_NO_INDEX)
      *first = index;
    else
      pairing->groups.at[*last].next = index;
    *last = index;
  }

  part.node[side] = node_index;
  part.group = *slot;
  uint32_t at = (uint32_t) pairing->parts.n;
  RD_TRY (rd_vector_append (&pairing->parts, part));
  struct group *group = &pairing->groups.at[*slot];
  if (group->last_part == RD_NO_INDEX)
    group->first_part = at;
  else
    pairing->parts.at[group->last_part].next = at;
  group->last_part = at;
  group->nparts++;
  own->part_of[node_index] = at;
  return RADIO_OK;
}

/* Makes the tree of both: all of `before', then what `after' has besides. */
static enum radio_status
pair_nodes (struct pairing *pairing)
{
  const struct radio_profile *before = pairing->sides[0].profile;
  const struct radio_profile *after = pairing->sides[1].profile;
  for (uint32_t i = 0; i < before->nodes.n; i++)
    RD_TRY (add_part (pairing, 0, i));
  for (uint32_t i = 0; i < after->nodes.n; i++) {
    const struct radio_profile_node *node = &after->nodes.at[i];
    uint32_t above = RD_NO_INDEX, partner = RD_NO_INDEX;
    if (node->parent != RADIO_NO_PARENT)
      above = pairing->parts.at[pairing->sides[1].part_of[node->parent]]
                .node[0];
    if (node->parent == RADIO_NO_PARENT || above != RD_NO_INDEX)
      partner = rd_profile_find_node (before, above, node->name,
                                      node->category, node->edge);
    if (partner == RD_NO_INDEX) {
      RD_TRY (add_part (pairing, 1, i));
    } else {
      pairing->sides[1].part_of[i] = pairing->sides[0].part_of[partner];
      pairing->parts.at[pairing->sides[1].part_of[i]].node[1] = i;
    }
  }
  return RADIO_OK;
}

/* Lists the groups, each before those below it. */
static void
order_groups (struct pairing *pairing)
{
  const struct group *groups = pairing->groups.at;
  uint32_t n = 0, i = pairing->first_root;
  while (i != RD_NO_INDEX) {
    pairing->place[i] = n;
    pairing->order[n++] = i;
    if (groups[i].first_child != RD_NO_INDEX) {
      i = groups[i].first_child;
      continue;
    }
    /* The sibling, or that of the nearest ancestor that has one. */
    while (i != RD_NO_INDEX && groups[i].next == RD_NO_INDEX)
      i = groups[i].parent;
    i = i == RD_NO_INDEX ? i : groups[i].next;
  }
  while (n-- > 0) {
    uint32_t parent = groups[pairing->order[n]].parent;
    pairing->size[n]++;
    if (parent != RD_NO_INDEX)
      pairing->size[pairing->place[parent]] += pairing->size[n];
  }
}

/* True if a group does nothing but wait for other threads. */
static bool
is_queue (const struct group *group)
{
  return strcmp (group->category, RD_IN_QUEUE) == 0;
}

/*------------------------------------------------------------------------
 * Figures
 *----------------------------------------------------------------------*/

enum what { CALLS, TOTAL, SELF, SELF_WORK, SELF_CPU };

static uint64_t
pick (enum what what, const struct radio_profile_share *share)
{
  switch (what) {
  case CALLS:
    return share->calls;
  case TOTAL:
    return share->total_ns;
  case SELF:
    return share->self_ns;
  case SELF_WORK:
    return share->work_ns;
  default:
    return rd_subtract (share->work_ns, share->starved_ns);
  }
}

/* Adds what a node did in each run. */
static void
add_runs (const struct side *side, uint32_t node_index, enum what what,
          uint64_t *values)
{
  if (node_index == RD_NO_INDEX)
    return;
  if (side->nruns == 1) {
    const struct radio_profile_node *node
      = &side->profile->nodes.at[node_index];
    struct radio_profile_share all = {
      node->calls, node->total_ns, node->self_ns, node->work_ns,
      node->starved_ns
    };
    values[0] = rd_sum (values[0], pick (what, &all));
    return;
  }
  size_t nshares;
  const struct rd_part_share *shares
    = rd_profile_shares (side->profile, node_index, &nshares);
  for (size_t i = 0; i < nshares; i++)
    values[shares[i].part] = rd_sum (values[shares[i].part],
                                     pick (what, &shares[i].share));
}

/* Puts the median of each round's runs into the first places. */
static void
join_rounds (const struct radio_profile *profile, uint64_t *values)
{
  const struct rd_profile_part *parts = profile->parts.at;
  size_t n = profile->parts.n, nrounds = 0;
  for (size_t first = 0, next; first < n; first = next) {
    next = first + 1;
    while (next < n && rd_is_same_process (&parts[next], &parts[next - 1]))
      next++;
    values[nrounds++] = (uint64_t)
      rd_spread_of (values + first, next - first, NULL).median;
  }
}

/* The spread of the measurements that `values' are, of its runs.  Processes
 * are independent, unlike runs of one: a few of them seem to be correlated by
 * chance only, and would count as less than they are. */
static struct rd_spread
spread_of_values (const struct pairing *pairing, int side)
{
  const struct side *own = &pairing->sides[side];
  if (!pairing->is_by_rounds)
    return rd_spread_of (pairing->values, own->n, pairing->room);
  memcpy (pairing->room, pairing->values,
          own->nruns * sizeof *pairing->room);
  double mean = rd_spread_of (pairing->room, own->nruns, NULL).mean;
  join_rounds (own->profile, pairing->values);
  struct rd_spread spread = rd_spread_of (pairing->values, own->n, NULL);
  spread.mean = mean;
  return spread;
}

/* The mean over the runs of `size' groups, from the group `first' in the order
 * on: 1 for a group alone.  The spread of the measurements may be NULL. */
static double
measure (const struct pairing *pairing, int side, size_t first, size_t size,
         enum what what, struct rd_spread *spread)
{
  const struct side *own = &pairing->sides[side];
  uint64_t *values = pairing->values;
  double mean = 0;
  memset (values, 0, own->nruns * sizeof *values);
  for (size_t k = first; k < first + size; k++) {
    uint32_t i = pairing->groups.at[pairing->order[k]].first_part;
    for (; i != RD_NO_INDEX; i = pairing->parts.at[i].next)
      add_runs (own, pairing->parts.at[i].node[side], what, values);
  }
  for (size_t i = 0; i < own->nruns; i++)
    mean += (double) values[i] / (double) own->nruns;
  if (spread)
    *spread = spread_of_values (pairing, side);
  return mean;
}

/* True if a node is in the time of a node of a group, on the same thread. */
static bool
is_inside (const struct pairing *pairing, int side, uint32_t node_index,
           uint32_t group)
{
  const struct side *own = &pairing->sides[side];
  for (uint32_t i = node_index;;) {
    const struct radio_profile_node *node = &own->profile->nodes.at[i];
    if (node->edge != RADIO_EDGE_CALL || node->parent == RADIO_NO_PARENT)
      return false;
    i = (uint32_t) node->parent;
    if (pairing->parts.at[own->part_of[i]].group == group)
      return true;
  }
}

/* The spread of a group's total less the waits for other threads in it. */
static struct rd_spread
measure_without_waits (const struct pairing *pairing, int side, size_t place)
{
  const struct side *own = &pairing->sides[side];
  const struct group *groups = pairing->groups.at;
  memset (pairing->waits, 0, own->nruns * sizeof *pairing->waits);
  for (size_t k = place + 1; k < place + pairing->size[place]; k++) {
    uint32_t i = is_queue (&groups[pairing->order[k]])
                 ? groups[pairing->order[k]].first_part : RD_NO_INDEX;
    for (; i != RD_NO_INDEX; i = pairing->parts.at[i].next) {
      uint32_t node = pairing->parts.at[i].node[side];
      if (node != RD_NO_INDEX
          && is_inside (pairing, side, node, pairing->order[place]))
        add_runs (own, node, SELF, pairing->waits);
    }
  }
  (void) measure (pairing, side, place, 1, TOTAL, NULL);
  for (size_t i = 0; i < own->nruns; i++)
    pairing->values[i] = rd_subtract (pairing->values[i], pairing->waits[i]);
  return spread_of_values (pairing, side);
}

/* The spread of the waits of a group and those below it, on all threads, except
 * for other threads: the time that threads were in it, less their work.
 * Requests are no threads. */
static struct rd_spread
measure_waits (const struct pairing *pairing, int side, size_t place)
{
  const struct side *own = &pairing->sides[side];
  uint64_t *rest = pairing->waits;
  memset (pairing->values, 0, own->nruns * sizeof *pairing->values);
  memset (rest, 0, own->nruns * sizeof *rest);
  for (size_t k = place; k < place + pairing->size[place]; k++) {
    const struct group *group = &pairing->groups.at[pairing->order[k]];
    for (uint32_t i = group->first_part; i != RD_NO_INDEX;
         i = pairing->parts.at[i].next) {
      uint32_t node = pairing->parts.at[i].node[side];
      if (node == RD_NO_INDEX)
        continue;
      enum radio_edge edge = own->profile->nodes.at[node].edge;
      if (edge == RADIO_EDGE_HANDOFF
          || (edge == RADIO_EDGE_CALL && group->parent == RD_NO_INDEX))
        add_runs (own, node, TOTAL, pairing->values);
      add_runs (own, node, is_queue (group) ? SELF : SELF_WORK, rest);
    }
  }
  for (size_t i = 0; i < own->nruns; i++)
    pairing->values[i] = rd_subtract (pairing->values[i], rest[i]);
  return spread_of_values (pairing, side);
}

/* The first node of a group on a side, or RD_NO_INDEX. */
static uint32_t
first_node (const struct pairing *pairing, const struct group *group,
            int side)
{
  uint32_t i = group->first_part;
  while (i != RD_NO_INDEX
         && pairing->parts.at[i].node[side] == RD_NO_INDEX)
    i = pairing->parts.at[i].next;
  return i == RD_NO_INDEX ? i : pairing->parts.at[i].node[side];
}

/*------------------------------------------------------------------------
 * Classification
 *----------------------------------------------------------------------*/

/* True if a group that the other side lacks is typical of its own runs: it is
 * in all of them, or in most, and chance would put all of its occurrences on
 * one side seldom enough.  A path in only a few runs of one side is noise. */
static bool
belongs (const struct pairing *pairing, int side, size_t place)
{
  struct rd_spread spread;
  size_t n = pairing->sides[side].n, nother = pairing->sides[!side].n;
  size_t npresent = 0;
  (void) measure (pairing, side, place, 1, CALLS, &spread);
  for (size_t i = 0; i < n; i++)
    npresent += pairing->values[i] > 0;
  if (n == 1 || npresent == n)
    return true;
  double chance = 1;
  for (size_t i = 0; i < npresent; i++)
    chance *= (double) (n - i) / (double) (n + nother - i);
  return 2 * npresent > n && chance <= pairing->presence_alpha;
}

/* A time as a signed number, clamped to its range. */
static int64_t
to_ns (double value)
{
  if (!(fabs (value) < 9.2e18))
    return value > 0 ? INT64_MAX : -INT64_MAX;
  return (int64_t) (value < 0 ? value - 0.5 : value + 0.5);
}

/* The direction of a change: a path that is new takes time. */
static unsigned
direction_of (enum radio_change change)
{
  return change == RADIO_CHANGE_SLOWER || change == RADIO_CHANGE_NEW ? 1
         : change == RADIO_CHANGE_FASTER || change == RADIO_CHANGE_GONE ? 2
         : 0;
}

static enum radio_change
classify (const struct pairing *pairing, const struct rd_spread spreads[2],
          int64_t *low_ns, int64_t *high_ns)
{
  const struct rd_conditions *conditions = &pairing->comparison->conditions;
  double before = spreads[0].median, after = spreads[1].median;
  double least = fmax (pairing->least_ns,
                       conditions->floor * fmin (before, after));
  double low, high;
  if (spreads[0].n < 2 || spreads[1].n < 2
      || conditions->basis == RADIO_BASIS_NONE)
    return RADIO_CHANGE_UNKNOWN;
  rd_spread_interval (&spreads[0], &spreads[1], pairing->alpha, &low, &high);
  *low_ns = to_ns (low);
  *high_ns = to_ns (high);
  if (fabs (after - before) <= least)
    return RADIO_CHANGE_NONE;
  /* For a path that most runs hardly have, such as decoding tiles that may be
   * cached, the median may rise while the mean falls. */
  if ((after > before) != (spreads[1].mean > spreads[0].mean))
    return RADIO_CHANGE_NONE;
  return low > 0    ? RADIO_CHANGE_SLOWER
         : high < 0 ? RADIO_CHANGE_FASTER
                    : RADIO_CHANGE_NONE;
}

static size_t
node_index (uint32_t index)
{
  return index == RD_NO_INDEX ? RADIO_NO_PARENT : index;
}

/* The figure that is compared in place of a total or self time. */
static double
measure_basis (const struct pairing *pairing, int side, size_t place,
               enum what what, struct rd_spread *spread)
{
  if (pairing->comparison->conditions.basis == RADIO_BASIS_WALL)
    return measure (pairing, side, place, 1, what, spread);
  return measure (pairing, side, place,
                  what == TOTAL ? pairing->size[place] : 1, SELF_CPU, spread);
}

/* True if the waits of a group are compared: those of an operation of both,
 * where its times on CPUs are, which have none. */
static bool
has_waits (const struct pairing *pairing, const struct group *group)
{
  return group->parent == RD_NO_INDEX
         && pairing->comparison->conditions.basis == RADIO_BASIS_CPU
         && first_node (pairing, group, 0) != RD_NO_INDEX
         && first_node (pairing, group, 1) != RD_NO_INDEX;
}

/* Sets the probabilities by the number of paths that can be called, and what
 * is relevant. */
static void
set_thresholds (struct pairing *pairing)
{
  size_t ntests = 0, nalone = 0;
  double whole[2] = { 0, 0 };
  for (size_t k = 0; k < pairing->groups.n; k++)
    for (int side = 0; side < 2; side++)
      if (pairing->groups.at[pairing->order[k]].parent == RD_NO_INDEX)
        whole[side] += measure_basis (pairing, side, k, TOTAL, NULL);
  pairing->least_ns = pairing->comparison->conditions.least_share
                      * fmax (whole[0], whole[1]);
  for (size_t k = 0; k < pairing->groups.n; k++) {
    const struct group *group = &pairing->groups.at[pairing->order[k]];
    bool is_of_both = first_node (pairing, group, 0) != RD_NO_INDEX
                      && first_node (pairing, group, 1) != RD_NO_INDEX;
    ntests += is_of_both && group->parent == RD_NO_INDEX;
    ntests += has_waits (pairing, group);
    nalone += !is_of_both && !is_queue (group);
    if (is_of_both && !is_queue (group))
      ntests += fmax (measure_basis (pairing, 0, k, SELF, NULL),
                      measure_basis (pairing, 1, k, SELF, NULL))
                > pairing->least_ns;
  }
  pairing->alpha = ALPHA / (double) rd_max_u64 (ntests, 1);
  pairing->presence_alpha = ALPHA / (double) rd_max_u64 (nalone, 1);
}

static void
compare_waits (const struct pairing *pairing, size_t place,
               struct radio_difference *difference)
{
  const struct rd_spread waits[2] = {
    measure_waits (pairing, 0, place), measure_waits (pairing, 1, place)
  };
  difference->wait_change = classify (pairing, waits,
                                      &difference->wait_low_ns,
                                      &difference->wait_high_ns);
  difference->wait_before_ns = to_ns (waits[0].median);
  difference->wait_after_ns = to_ns (waits[1].median);
}

/* The difference of a group, by its place in the order. */
static struct radio_difference
measure_difference (const struct pairing *pairing, size_t place)
{
  const struct group *group
    = &pairing->groups.at[pairing->order[place]];
  uint32_t nodes[2];
  double total[2], self[2], self_cpu[2], cpu[2], calls[2];
  struct rd_spread walls[2], totals[2], selves[2];
  for (int side = 0; side < 2; side++) {
    nodes[side] = first_node (pairing, group, side);
    total[side] = measure (pairing, side, place, 1, TOTAL, &walls[side]);
    self[side] = measure (pairing, side, place, 1, SELF, NULL);
    self_cpu[side] = measure (pairing, side, place, 1, SELF_CPU, NULL);
    cpu[side] = measure (pairing, side, place, pairing->size[place],
                         SELF_CPU, NULL);
    calls[side] = measure (pairing, side, place, 1, CALLS, NULL);
    measure_basis (pairing, side, place, TOTAL, &totals[side]);
    measure_basis (pairing, side, place, SELF, &selves[side]);
  }
  struct radio_difference difference = {
    .name = group->name,
    .before = node_index (nodes[0]),
    .after = node_index (nodes[1]),
    .parent = group->parent == RD_NO_INDEX ? RADIO_NO_PARENT
              : pairing->place[group->parent],
    .total_before_ns = to_ns (total[0]),
    .total_after_ns = to_ns (total[1]),
    .self_before_ns = to_ns (self[0]),
    .self_after_ns = to_ns (self[1]),
    .calls_before = (uint64_t) to_ns (calls[0]),
    .calls_after = (uint64_t) to_ns (calls[1]),
    .cpu_before_ns = to_ns (cpu[0]),
    .cpu_after_ns = to_ns (cpu[1]),
    .self_cpu_before_ns = to_ns (self_cpu[0]),
    .self_cpu_after_ns = to_ns (self_cpu[1]),
    .median_before_ns = to_ns (totals[0].median),
    .median_after_ns = to_ns (totals[1].median),
  };
  if (group->parent == RD_NO_INDEX) {
    difference.wall_before_ns = to_ns (walls[0].median);
    difference.wall_after_ns = to_ns (walls[1].median);
  }
  if (nodes[0] != RD_NO_INDEX && nodes[1] != RD_NO_INDEX) {
    difference.total_change = classify (pairing, totals,
                                        &difference.delta_low_ns,
                                        &difference.delta_high_ns);
    difference.change = classify (pairing, selves, &difference.self_low_ns,
                                  &difference.self_high_ns);
    if (is_queue (group) && difference.change != RADIO_CHANGE_UNKNOWN)
      difference.change = RADIO_CHANGE_NONE;
    if (has_waits (pairing, group))
      compare_waits (pairing, place, &difference);
  } else if (!is_queue (group)) {
    int side = nodes[0] == RD_NO_INDEX;
    if (belongs (pairing, side, place))
      difference.change = side ? RADIO_CHANGE_NEW : RADIO_CHANGE_GONE;
  }
  return difference;
}

/* The figures of a part of a group that ran on several threads. */
static struct radio_difference
measure_part (const struct pairing *pairing, const struct part *part)
{
  double values[2][5] = { { 0 } };
  for (int side = 0; side < 2; side++) {
    const struct side *own = &pairing->sides[side];
    if (part->node[side] == RD_NO_INDEX)
      continue;
    const struct radio_profile_node *node
      = &own->profile->nodes.at[part->node[side]];
    const uint64_t sums[] = {
      node->calls, node->total_ns, node->self_ns,
      rd_subtract (node->tree_work_ns, node->tree_starved_ns),
      rd_subtract (node->work_ns, node->starved_ns)
    };
    for (int i = 0; i < 5; i++)
      values[side][i] = (double) sums[i] / (double) own->nruns;
  }
  return (struct radio_difference) {
    .name = pairing->groups.at[part->group].name,
    .before = node_index (part->node[0]),
    .after = node_index (part->node[1]),
    .parent = pairing->place[part->group],
    .is_split = true,
    .calls_before = (uint64_t) to_ns (values[0][0]),
    .calls_after = (uint64_t) to_ns (values[1][0]),
    .total_before_ns = to_ns (values[0][1]),
    .total_after_ns = to_ns (values[1][1]),
    .self_before_ns = to_ns (values[0][2]),
    .self_after_ns = to_ns (values[1][2]),
    .cpu_before_ns = to_ns (values[0][3]),
    .cpu_after_ns = to_ns (values[1][3]),
    .self_cpu_before_ns = to_ns (values[0][4]),
    .self_cpu_after_ns = to_ns (values[1][4]),
  };
}

/*------------------------------------------------------------------------
 * The whole
 *----------------------------------------------------------------------*/

static enum radio_status
list_paths (struct radio_comparison *comparison,
            const struct pairing *pairing)
{
  for (size_t i = 0; i < pairing->groups.n; i++) {
    struct radio_difference difference = measure_difference (pairing, i);
    if (difference.parent != RADIO_NO_PARENT)
      difference.depth = comparison->paths.at[difference.parent].depth + 1;
    RD_TRY (rd_vector_append (&comparison->paths, difference));
  }
  for (size_t i = 0; i < pairing->groups.n; i++) {
    const struct group *group = &pairing->groups.at[pairing->order[i]];
    uint32_t k = group->nparts > 1 ? group->first_part : RD_NO_INDEX;
    for (; k != RD_NO_INDEX; k = pairing->parts.at[k].next) {
      struct radio_difference part
        = measure_part (pairing, &pairing->parts.at[k]);
      part.depth = comparison->paths.at[i].depth + 1;
      RD_TRY (rd_vector_append (&comparison->paths, part));
    }
  }
  return RADIO_OK;
}

/* A total changed if it did so without the waits for other threads, too, or if
 * what these wait for changed: a path below. */
static void
leave_out_waits (struct radio_comparison *comparison,
                 const struct pairing *pairing)
{
  int64_t low_ns, high_ns;
  unsigned char *called = pairing->called;
  if (comparison->conditions.basis != RADIO_BASIS_WALL)
    return;
  for (size_t i = pairing->groups.n; i-- > 0;) {
    struct radio_difference *d = &comparison->paths.at[i];
    unsigned direction = direction_of (d->total_change);
    called[i] |= (unsigned char) direction_of (d->change);
    if (d->parent != RADIO_NO_PARENT)
      called[d->parent] |= called[i];
    if (direction == 0 || called[i] & direction)
      continue;
    const struct rd_spread spreads[2] = {
      measure_without_waits (pairing, 0, i),
      measure_without_waits (pairing, 1, i)
    };
    if (classify (pairing, spreads, &low_ns, &high_ns) != d->total_change)
      d->total_change = RADIO_CHANGE_NONE;
  }
}

/* True if the change of a total is within the differences between processes of
 * one program and the effect of the conditions, though beyond the spread of its
 * runs, if that is known. */
static bool
is_unclear (const struct rd_conditions *conditions,
            const struct radio_difference *d)
{
  double before = (double) d->median_before_ns;
  double after = (double) d->median_after_ns;
  double change = fabs (after - before), least = fmin (before, after);
  if (change > conditions->root_floor * least)
    return false;
  /* Noise only by what the conditions add. */
  return d->total_change != RADIO_CHANGE_NONE
         || (change > conditions->least_floor * least
             && change <= conditions->floor * least
             && (d->delta_low_ns > 0 || d->delta_high_ns < 0));
}

/* Sets of each operation whether its change is unclear. */
static void
mark_unclear_roots (struct radio_comparison *comparison)
{
  for (size_t i = 0; i < comparison->paths.n; i++) {
    struct radio_difference *d = &comparison->paths.at[i];
    if (d->parent != RADIO_NO_PARENT
        || !is_unclear (&comparison->conditions, d))
      continue;
    d->is_unclear = true;
    if (d->total_change != RADIO_CHANGE_UNKNOWN)
      d->total_change = RADIO_CHANGE_NONE;
  }
}

/* True if the operations have the same name, and some root in common if both
 * have any. */
static bool
is_same_operation (const struct radio_comparison *comparison)
{
  const char *before = rd_profile_find_fact (comparison->before,
                                             "operation");
  const char *after = rd_profile_find_fact (comparison->after, "operation");
  size_t nbefore = 0, nafter = 0;
  if (before && after && strcmp (before, after) != 0)
    return false;
  for (size_t i = 0; i < comparison->paths.n; i++) {
    const struct radio_difference *d = &comparison->paths.at[i];
    if (d->parent != RADIO_NO_PARENT)
      continue;
    if (d->before != RADIO_NO_PARENT && d->after != RADIO_NO_PARENT)
      return true;
    nbefore += d->before != RADIO_NO_PARENT;
    nafter += d->after != RADIO_NO_PARENT;
  }
  return nbefore == 0 || nafter == 0;
}

RD_DEFINE_CLEANUP (comparison, struct radio_comparison,
                   radio_comparison_close);

enum radio_status
radio_profile_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct radio_comparison **comparison)
{
  RD_NOT_NULL (before);
  RD_NOT_NULL (after);
  RD_NOT_NULL (comparison);
  RD_CLEANUP (rd_cleanup_comparison) struct radio_comparison *made
    = calloc (1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory (sizeof *made);
  made->before = before;
  made->after = after;
  RD_TRY (rd_conditions_compare (before, after, &made->conditions));

  RD_CLEANUP (free_pairing) struct pairing pairing = {
    .comparison = made,
    .sides = { { .profile = before }, { .profile = after } },
    .is_by_rounds = rd_is_by_rounds (before, after),
    .first_root = RD_NO_INDEX, .last_root = RD_NO_INDEX
  };
  void *at;
  for (int i = 0; i < 2; i++) {
    struct side *side = &pairing.sides[i];
    RD_TRY (rd_new_array (side->profile->nodes.n, sizeof (uint32_t), &at));
    side->part_of = at;
    side->nruns = rd_count_runs (side->profile);
    side->n = pairing.is_by_rounds ? rd_count_rounds (side->profile)
                                   : side->nruns;
  }
  size_t nruns = rd_max_u64 (pairing.sides[0].nruns, pairing.sides[1].nruns);
  RD_TRY (rd_new_array (nruns, sizeof (uint64_t), &at));
  pairing.values = at;
  RD_TRY (rd_new_array (nruns, sizeof (uint64_t), &at));
  pairing.waits = at;
  RD_TRY (rd_new_array (nruns, sizeof (uint64_t), &at));
  pairing.room = at;
  pairing.nslots = 64;
  while (pairing.nslots / 2 < before->nodes.n + after->nodes.n + 1)
    pairing.nslots *= 2;
  RD_TRY (rd_new_array (pairing.nslots, sizeof (uint32_t), &at));
  pairing.slots = at;
  memset (at, 0xff, pairing.nslots * sizeof (uint32_t));
  RD_TRY (pair_nodes (&pairing));

  uint32_t **const arrays[] = {
    &pairing.order, &pairing.place, &pairing.size
  };
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    RD_TRY (rd_new_array (pairing.groups.n, sizeof (uint32_t), &at));
    *arrays[i] = at;
  }
  RD_TRY (rd_new_array (pairing.groups.n, 1, &at));
  pairing.called = at;
  order_groups (&pairing);
  set_thresholds (&pairing);
  RD_TRY (list_paths (made, &pairing));
  leave_out_waits (made, &pairing);
  mark_unclear_roots (made);
  made->is_same_operation = is_same_operation (made);
  made->is_summed = made->conditions.basis == RADIO_BASIS_WALL
                    && (rd_is_summed (before) || rd_is_summed (after));
  *comparison = RD_STEAL (made);
  return RADIO_OK;
}

void
(radio_comparison_get_info) (const struct radio_comparison *comparison,
                             struct radio_comparison_info *info,
                             size_t info_nbytes)
{
  struct radio_comparison_info full = {
    .basis = comparison->conditions.basis,
    .is_unfair = comparison->conditions.is_unfair,
    .is_same_operation = comparison->is_same_operation,
    .is_summed = comparison->is_summed,
    .nconditions = comparison->conditions.list.n,
    .floor = comparison->conditions.floor,
    .root_floor = comparison->conditions.root_floor,
  };
  rd_fill_result (info, info_nbytes, &full, sizeof full);
}

const struct radio_condition *
radio_comparison_condition (const struct radio_comparison *comparison,
                            size_t i)
{
  return i < comparison->conditions.list.n
         ? &comparison->conditions.list.at[i] : NULL;
}

size_t
radio_comparison_count (const struct radio_comparison *comparison)
{
  return comparison->paths.n;
}

const struct radio_difference *
radio_comparison_get (const struct radio_comparison *comparison, size_t i)
{
  return i < comparison->paths.n ? &comparison->paths.at[i] : NULL;
}

void
radio_comparison_close (struct radio_comparison *comparison)
{
  if (comparison == NULL)
    return;
  free (comparison->conditions.list.at);
  free (comparison->paths.at);
  free (comparison);
}
