/* SPDX-License-Identifier: MIT */
/* The values of counters by node, and what parts contributed.  Most nodes have
 * few counters, and a rank runs few of all the paths: only values
 * that exist are kept, in order, so that the memory does not grow with nodes
 * times counters.
 *
 * The sums of subtrees need no table either.  Nodes are numbered in preorder;
 * each counter has running sums in this order, and the difference of two is
 * the sum of a subtree. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/builder.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* Everything is in order of a pair of numbers. */
static uint64_t
key_of (uint32_t major, uint32_t minor)
{
  return (uint64_t) major << 32 | minor;
}

/* The key of any table's entry, which begins with its two numbers. */
static uint64_t
key_at (const void *entry)
{
  uint32_t key[2];
  memcpy (key, entry, sizeof key);
  return key_of (key[0], key[1]);
}

static int
compare_keys (const void *a, const void *b)
{
  return rd_compare_u64 (key_at (a), key_at (b));
}

/* The first of n entries that is not before a key. */
static size_t
lower_bound (const void *entries, size_t n, size_t entry_nbytes, uint64_t key)
{
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (key_at ((const char *) entries + middle * entry_nbytes) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The same in a vector. */
#define LOWER_BOUND(vector, key) \
  lower_bound ((vector)->at, (vector)->n, sizeof *(vector)->at, (key))

/* Sorts a vector. */
#define SORT(vector)                                                    \
  do {                                                                  \
    if ((vector)->n > 1)                                                \
      qsort ((vector)->at, (vector)->n, sizeof *(vector)->at,           \
             compare_keys);                                             \
  } while (0)

/* Values of one node and counter are added up; zeros are removed. */
static void
join_values (struct radio_profile *profile)
{
  struct rd_value *at = profile->values.at;
  size_t n = 0;
  for (size_t i = 0; i < profile->values.n; i++) {
    if (at[i].value == 0)
      continue;
    if (n > 0 && key_at (&at[n - 1]) == key_at (&at[i])) {
      at[n - 1].value = rd_sum (at[n - 1].value, at[i].value);
      continue;
    }
    at[n] = at[i];
    at[n].value = rd_sum (at[n].value, 0);
    n++;
  }
  profile->values.n = n;
}

static void
add_share (struct radio_profile_share *to,
           const struct radio_profile_share *from)
{
  to->calls = rd_sum (to->calls, from->calls);
  to->total_ns = rd_sum (to->total_ns, from->total_ns);
  to->self_ns = rd_sum (to->self_ns, from->self_ns);
  to->work_ns = rd_sum (to->work_ns, from->work_ns);
  to->starved_ns = rd_sum (to->starved_ns,
                           rd_min_u64 (from->starved_ns, from->work_ns));
}

static void
join_shares (struct radio_profile *profile)
{
  struct rd_part_share *at = profile->shares.at;
  size_t n = 0;
  for (size_t i = 0; i < profile->shares.n; i++) {
    struct rd_part_share share = { at[i].node, at[i].part, { 0 } };
    if (at[i].share.calls == 0 && at[i].share.total_ns == 0
        && at[i].share.self_ns == 0 && at[i].share.work_ns == 0)
      continue;
    if (n > 0 && key_at (&at[n - 1]) == key_at (&at[i])) {
      add_share (&at[n - 1].share, &at[i].share);
      continue;
    }
    add_share (&share.share, &at[i].share);
    at[n++] = share;
  }
  profile->shares.n = n;
}

/*------------------------------------------------------------------------
 * Sums of trees
 *----------------------------------------------------------------------*/

enum radio_status
rd_profile_make_tables (struct radio_profile *profile)
{
  if (profile->parts.n == 1 && profile->shares.n == 0) {
    /* A single part has all of every node. */
    for (size_t i = 0; i < profile->nodes.n; i++) {
      const struct radio_profile_node *node = &profile->nodes.at[i];
      struct rd_part_share all = {
        (uint32_t) i, 0, {
          node->calls, node->total_ns, node->self_ns, node->work_ns,
          node->starved_ns
        },
      };
      RD_TRY (rd_vector_append (&profile->shares, all));
    }
  }
  SORT (&profile->values);
  SORT (&profile->shares);
  join_values (profile);
  join_shares (profile);
  /* Number the nodes so that those below a node follow it at once.  A node
   * is known by its parent, which comes before it: from the last on, each
   * adds its number of nodes to its parent's; from the first on, each takes
   * its place and leaves its siblings the next one. */
  size_t n = profile->nodes.n;
  const struct radio_profile_node *nodes = profile->nodes.at;
  RD_FREE_PLAIN void *memory = NULL;
  void *extents;
  uint32_t next_root = 0;
  RD_TRY (rd_new_array (n, sizeof *profile->extents, &extents));
  profile->extents = extents;
  RD_TRY (rd_new_array (n, sizeof (uint32_t), &memory));
  uint32_t *next = memory;
  for (size_t i = n; i-- > 0;) {
    profile->extents[i].size++;
    if (nodes[i].parent != RADIO_NO_PARENT)
      profile->extents[nodes[i].parent].size += profile->extents[i].size;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t *free_place = nodes[i].parent == RADIO_NO_PARENT
                           ? &next_root : &next[nodes[i].parent];
    profile->extents[i].place = *free_place;
    *free_place += profile->extents[i].size;
    next[i] = profile->extents[i].place + 1;
  }
  uint64_t low = 0;
  uint32_t high = 0;
  for (size_t i = 0; i < profile->values.n; i++) {
    const struct rd_value *value = &profile->values.at[i];
    struct rd_running running = {
      value->counter, profile->extents[value->node].place, value->value, 0,
    };
    RD_TRY (rd_vector_append (&profile->running, running));
  }
  SORT (&profile->running);
  for (size_t i = 0; i < profile->running.n; i++) {
    struct rd_running *running = &profile->running.at[i];
    bool is_first = i == 0 || running[-1].counter != running->counter;
    low = is_first ? 0 : low;
    high = is_first ? 0 : high;
    high += rd_add_overflows (low, running->low, &low);
    running->low = low;
    running->high = high;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Looking at them
 *----------------------------------------------------------------------*/

uint64_t
rd_profile_value (const struct radio_profile *profile, size_t node,
                  size_t counter)
{
  uint64_t key = key_of ((uint32_t) node, (uint32_t) counter);
  size_t i = LOWER_BOUND (&profile->values, key);
  bool is_there = i < profile->values.n
                  && key_at (&profile->values.at[i]) == key;
  return is_there ? profile->values.at[i].value : 0;
}

/* The sum of a counter over all places before one. */
static struct rd_running
sum_before (const struct radio_profile *profile, uint32_t counter,
            uint32_t place)
{
  size_t i = LOWER_BOUND (&profile->running, key_of (counter, place));
  if (i == 0 || profile->running.at[i - 1].counter != counter)
    return (struct rd_running) { 0 };
  return profile->running.at[i - 1];
}

uint64_t
rd_profile_tree_value (const struct radio_profile *profile, size_t node,
                       size_t counter)
{
  const struct rd_extent *extent = &profile->extents[node];
  struct rd_running from = sum_before (profile, (uint32_t) counter,
                                       extent->place);
  struct rd_running to = sum_before (profile, (uint32_t) counter,
                                     extent->place + extent->size);
  uint64_t low = to.low - from.low;
  uint32_t high = to.high - from.high - (to.low < from.low);
  return high > 0 ? RD_MAX_VALUE : rd_min_u64 (low, RD_MAX_VALUE);
}

uint64_t
rd_profile_counter_sum (const struct radio_profile *profile, size_t counter)
{
  struct rd_running all = sum_before (profile, (uint32_t) counter,
                                      UINT32_MAX);
  return all.high > 0 ? RD_MAX_VALUE : rd_min_u64 (all.low, RD_MAX_VALUE);
}

const struct rd_part_share *
rd_profile_shares (const struct radio_profile *profile, size_t node,
                   size_t *n)
{
  size_t first = LOWER_BOUND (&profile->shares, key_of ((uint32_t) node, 0));
  size_t end = LOWER_BOUND (&profile->shares, key_of ((uint32_t) node + 1, 0));
  *n = end - first;
  return *n > 0 ? &profile->shares.at[first] : NULL;
}

struct radio_profile_share
rd_profile_share (const struct radio_profile *profile, size_t node,
                  size_t part)
{
  uint64_t key = key_of ((uint32_t) node, (uint32_t) part);
  size_t i = LOWER_BOUND (&profile->shares, key);
  if (i == profile->shares.n || key_at (&profile->shares.at[i]) != key)
    return (struct radio_profile_share) { 0 };
  return profile->shares.at[i].share;
}
