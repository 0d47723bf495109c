/* SPDX-License-Identifier: MIT */
/* Comparing two profiles: which paths changed, and by how much, beyond the
 * differences between any two runs.  The paths of both are one tree,
 * each above what is below it, in the order of the first profile. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/model/builder.h"
#include "profiler/model/spread.h"
#include "profiler/model/vector.h"

struct radio_comparison {
  const struct radio_profile *before, *after;
  RD_VECTOR (struct radio_difference) paths;
};

/* A path of the union, while the tree of both is made. */
struct path {
  uint32_t before, after;     /* nodes, or RD_NO_INDEX */
  uint32_t parent;            /* of the union, or RD_NO_INDEX */
  uint32_t first_child, last_child, next;
};

struct pairing {
  RD_VECTOR (struct path) paths;
  uint32_t *of_before;        /* path of each node */
  uint32_t *of_after;
  uint32_t first_root, last_root;
  uint64_t *values;           /* room for the runs of either */
};

static void
free_pairing (struct pairing *pairing)
{
  free (pairing->paths.at);
  free (pairing->of_before);
  free (pairing->of_after);
  free (pairing->values);
}

/*------------------------------------------------------------------------
 * Pairing
 *----------------------------------------------------------------------*/

/* Append a path, as the last child of its parent. */
static enum radio_status
add_path (struct pairing *pairing, uint32_t parent, uint32_t before,
          uint32_t after, uint32_t *index)
{
  struct path path = {
    before, after, parent, RD_NO_INDEX, RD_NO_INDEX, RD_NO_INDEX
  };
  if (pairing->paths.n >= RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "more than 2^32 paths");
  RD_TRY (rd_vector_append (&pairing->paths, path));
  *index = (uint32_t) (pairing->paths.n - 1);
  struct path *above =
    parent == RD_NO_INDEX ? NULL : &pairing->paths.at[parent];
  uint32_t *first = above ? &above->first_child : &pairing->first_root;
  uint32_t *last = above ? &above->last_child : &pairing->last_root;
  if (*last == RD_NO_INDEX)
    *first = *index;
  else
    pairing->paths.at[*last].next = *index;
  *last = *index;
  return RADIO_OK;
}

static uint32_t
path_above (const struct radio_profile_node *node, const uint32_t *paths)
{
  return node->parent == RADIO_NO_PARENT ? RD_NO_INDEX
                                         : paths[node->parent];
}

/* Makes the tree of both: all of `before', then what `after' has besides. */
static enum radio_status
pair_nodes (struct pairing *pairing, const struct radio_profile *before,
            const struct radio_profile *after)
{
  for (uint32_t i = 0; i < before->nodes.n; i++) {
    uint32_t parent = path_above (&before->nodes.at[i], pairing->of_before);
    RD_TRY (add_path (pairing, parent, i, RD_NO_INDEX,
                      &pairing->of_before[i]));
  }
  for (uint32_t i = 0; i < after->nodes.n; i++) {
    const struct radio_profile_node *node = &after->nodes.at[i];
    uint32_t parent = path_above (node, pairing->of_after);
    uint32_t above = parent == RD_NO_INDEX ? RD_NO_INDEX
                                           : pairing->paths.at[parent].before;
    uint32_t partner = RD_NO_INDEX;
    if (parent == RD_NO_INDEX || above != RD_NO_INDEX)
      partner = rd_profile_find_node (before, above, node->name,
                                      node->category, node->edge);
    if (partner == RD_NO_INDEX) {
      RD_TRY (add_path (pairing, parent, RD_NO_INDEX, i,
                        &pairing->of_after[i]));
    } else {
      pairing->of_after[i] = pairing->of_before[partner];
      pairing->paths.at[pairing->of_after[i]].after = i;
    }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Classification
 *----------------------------------------------------------------------*/

/* The number of runs to compare; ranks ran once, together. */
static size_t
count_runs (const struct radio_profile *profile)
{
  return profile->info.parts == RADIO_PARTS_RUNS ? profile->parts.n : 1;
}

enum what { CALLS, TOTAL, SELF };

static uint64_t
pick (enum what what, uint64_t calls, uint64_t total_ns, uint64_t self_ns)
{
  return what == CALLS ? calls : what == TOTAL ? total_ns : self_ns;
}

/* The spread of a node over the runs; nothing where there is no node. */
static struct rd_spread
spread_of (const struct radio_profile *profile, uint32_t i, enum what what,
           uint64_t *values)
{
  size_t n = count_runs (profile);
  if (i == RD_NO_INDEX)
    return (struct rd_spread) { .n = n };
  if (n == 1) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    values[0] = pick (what, node->calls, node->total_ns, node->self_ns);
    return rd_spread_of (values, 1);
  }
  size_t nshares;
  const struct rd_part_share *shares = rd_profile_shares (profile, i,
                                                          &nshares);
  memset (values, 0, n * sizeof *values);
  for (size_t j = 0; j < nshares; j++)
    values[shares[j].part] = pick (what, shares[j].share.calls,
                                   shares[j].share.total_ns,
                                   shares[j].share.self_ns);
  return rd_spread_of (values, n);
}

/* A time as a signed number, clamped to its range. */
static int64_t
to_ns (double value)
{
  if (!(fabs (value) < 9.2e18))
    return value > 0 ? INT64_MAX : -INT64_MAX;
  return (int64_t) (value < 0 ? value - 0.5 : value + 0.5);
}

/* True if a node that all nother runs lack is typical of its own runs: it is
 * in all of them, or in most, and chance would put all of its occurrences on
 * one side with a probability of 5 % at most.  A path in only a few runs of
 * one side, as a wait that seldom happens, is noise. */
static bool
belongs (const struct radio_profile *profile, size_t node, size_t nother)
{
  size_t n = count_runs (profile), npresent = 0, nshares;
  if (n == 1)
    return true;
  const struct rd_part_share *shares = rd_profile_shares (profile, node,
                                                          &nshares);
  for (size_t i = 0; i < nshares; i++)
    npresent += shares[i].share.calls > 0;
  if (npresent == n)
    return true;
  double chance = 1;
  for (size_t i = 0; i < npresent; i++)
    chance *= (double) (n - i) / (double) (n + nother - i);
  return 2 * npresent > n && chance <= 0.05;
}

static size_t
node_index (uint32_t index)
{
  return index == RD_NO_INDEX ? RADIO_NO_PARENT : index;
}

/* The difference of a path, whose parent has the index `parent' and the
 * depth one less. */
static struct radio_difference
measure (const struct radio_comparison *comparison, const struct path *path,
         uint64_t *values)
{
  const struct radio_profile *before = comparison->before;
  const struct radio_profile *after = comparison->after;
  struct rd_spread total[2] = {
    spread_of (before, path->before, TOTAL, values),
    spread_of (after, path->after, TOTAL, values),
  };
  struct radio_difference difference = {
    .name = path->before != RD_NO_INDEX
            ? before->nodes.at[path->before].name
            : after->nodes.at[path->after].name,
    .before = node_index (path->before),
    .after = node_index (path->after),
    .total_before_ns = to_ns (total[0].median),
    .total_after_ns = to_ns (total[1].median),
    .self_before_ns =
      to_ns (spread_of (before, path->before, SELF, values).median),
    .self_after_ns =
      to_ns (spread_of (after, path->after, SELF, values).median),
    .calls_before = (uint64_t)
      to_ns (spread_of (before, path->before, CALLS, values).median),
    .calls_after = (uint64_t)
      to_ns (spread_of (after, path->after, CALLS, values).median),
  };
  if (path->before == RD_NO_INDEX) {
    difference.change = belongs (after, path->after, total[0].n)
                          ? RADIO_CHANGE_NEW : RADIO_CHANGE_NONE;
  } else if (path->after == RD_NO_INDEX) {
    difference.change = belongs (before, path->before, total[1].n)
                          ? RADIO_CHANGE_GONE : RADIO_CHANGE_NONE;
  } else if (total[0].n < 2 || total[1].n < 2) {
    difference.change = RADIO_CHANGE_UNKNOWN;
  } else {
    double low, high;
    rd_spread_interval (&total[0], &total[1], &low, &high);
    difference.delta_low_ns = to_ns (low);
    difference.delta_high_ns = to_ns (high);
    difference.change = low > 0    ? RADIO_CHANGE_SLOWER
                        : high < 0 ? RADIO_CHANGE_FASTER
                                   : RADIO_CHANGE_NONE;
  }
  return difference;
}

/*------------------------------------------------------------------------
 * The whole
 *----------------------------------------------------------------------*/

/* Go through the tree, each path before those below it.  places[] is where a
 * path came to stand. */
static enum radio_status
list_paths (struct radio_comparison *comparison,
            const struct pairing *pairing, uint32_t *places)
{
  uint32_t i = pairing->first_root;
  while (i != RD_NO_INDEX) {
    const struct path *path = &pairing->paths.at[i];
    struct radio_difference difference =
      measure (comparison, path, pairing->values);
    difference.parent = RADIO_NO_PARENT;
    if (path->parent != RD_NO_INDEX) {
      difference.parent = places[path->parent];
      difference.depth =
        comparison->paths.at[difference.parent].depth + 1;
    }
    places[i] = (uint32_t) comparison->paths.n;
    RD_TRY (rd_vector_append (&comparison->paths, difference));
    if (path->first_child != RD_NO_INDEX) {
      i = path->first_child;
      continue;
    }
    /* The sibling, or that of the nearest ancestor that has one. */
    while (i != RD_NO_INDEX && pairing->paths.at[i].next == RD_NO_INDEX)
      i = pairing->paths.at[i].parent;
    i = i == RD_NO_INDEX ? i : pairing->paths.at[i].next;
  }
  return RADIO_OK;
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
  RD_CLEANUP (free_pairing) struct pairing pairing = {
    .first_root = RD_NO_INDEX, .last_root = RD_NO_INDEX
  };
  made->before = before;
  made->after = after;
  RD_FREE_PLAIN void *places = NULL;
  void *at;
  RD_TRY (rd_new_array (before->nodes.n, sizeof (uint32_t), &at));
  pairing.of_before = at;
  RD_TRY (rd_new_array (after->nodes.n, sizeof (uint32_t), &at));
  pairing.of_after = at;
  RD_TRY (rd_new_array (rd_max_u64 (before->parts.n, after->parts.n),
                        sizeof (uint64_t), &at));
  pairing.values = at;
  RD_TRY (pair_nodes (&pairing, before, after));
  RD_TRY (rd_new_array (pairing.paths.n, sizeof (uint32_t), &places));
  RD_TRY (list_paths (made, &pairing, places));
  *comparison = RD_STEAL (made);
  return RADIO_OK;
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
  free (comparison->paths.at);
  free (comparison);
}
