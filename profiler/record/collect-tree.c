/* SPDX-License-Identifier: MIT */
/* All writers' trees into the profile's one.
 *
 * Ticks are added up before they become nanoseconds, and they become that in
 * a way that keeps sums: each node is laid out on a line of its own time,
 * its children of the same thread one behind the other from its beginning,
 * then what it waited, then what it worked, and every boundary is rounded by
 * itself.  So nothing is negative, and where ticks add up, nanoseconds do.
 */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/model/vector.h"
#include "profiler/record/collect.h"
#include "profiler/record/tree.h"

/*------------------------------------------------------------------------
 * Paths
 *----------------------------------------------------------------------*/

/* Nodes without an index, each below the next one. */
struct way {
  struct rd_node **at;
  size_t n, capacity;
};

/* The node above, past stand-ins; NULL for roots. */
static struct rd_node *
above (const struct rd_node *node)
{
  struct rd_node *parent = node->parent;
  while (parent && !parent->site)
    parent = parent->foreign;
  return parent;
}

/* A profile has no room below: chains of handoffs may be of any length. */
static bool
is_deepest (const struct radio_profile *profile, uint32_t index)
{
  return profile->nodes.at[index].depth == RD_MAX_NODE_DEPTH - 1;
}

/* Find or add the profile's node for one whose parent has its index. */
static enum radio_status
resolve (struct radio_profile *profile, struct rd_node *node)
{
  const struct rd_node *parent = above (node);
  const struct radio_site *site = node->site;
  uint32_t parent_index = parent ? parent->index : RD_NO_INDEX;
  if (parent && is_deepest (profile, parent_index)) {
    node->index = parent_index;
    node->folded = true;
    return RADIO_OK;
  }
  node->index = rd_profile_find_node (profile, parent_index, site->name,
                                      site->category, node->edge);
  if (node->index != RD_NO_INDEX)
    return RADIO_OK;
  struct radio_profile_node new = {
    .name = site->name,
    .category = site->category,
    .function = site->function,
    .file = site->file,
    .line = site->line,
    .parent = parent ? parent_index : RADIO_NO_PARENT,
    .edge = node->edge,
    .min_ns = UINT64_MAX,
  };
  return rd_profile_add_node (profile, &new, &node->index);
}

/* Give a node, and what is above it, their indexes. */
static enum radio_status
resolve_path (struct radio_profile *profile, struct way *way,
              struct rd_node *node)
{
  for (; node && node->index == RD_NO_INDEX; node = above (node))
    RD_TRY (rd_vector_append (way, node));
  while (way->n > 0)
    RD_TRY (resolve (profile, way->at[--way->n]));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Figures, in ticks
 *----------------------------------------------------------------------*/

/* Of more counters than a profile may have, the first ones are there. */
static enum radio_status
add_counters (struct rd_collection *collection, const struct rd_node *node)
{
  struct radio_profile *profile = collection->profile;
  for (unsigned i = 0; i < node->ntallies; i++) {
    const struct rd_tally *tally = &node->tallies[i];
    uint32_t counter;
    if (!rd_profile_has_room (profile, &profile->counters,
                              tally->counter->name)) {
      collection->nvalues_lost++;
      continue;
    }
    RD_TRY (rd_profile_add_counter (profile, tally->counter->name,
                                    tally->counter->unit, &counter));
    RD_TRY (rd_profile_add_value (profile, node->index, counter,
                                  tally->value));
  }
  return RADIO_OK;
}

/* What is held, and was at most.  Of one node on several threads the peaks
 * are added: they may have been at one time. */
static void
add_memory (struct radio_profile_node *to, const struct rd_node *node)
{
  to->alloc_count += node->alloc_count;
  to->alloc_nbytes += node->alloc_nbytes;
  if (!node->account)
    return;
  int64_t live = atomic_load_explicit (&node->account->live,
                                       memory_order_relaxed);
  int64_t peak = atomic_load_explicit (&node->account->peak,
                                       memory_order_relaxed);
  to->alloc_live_nbytes += live > 0 ? (uint64_t) live : 0;
  to->alloc_peak_nbytes += peak > 0 ? (uint64_t) peak : 0;
}

/* What is of single runs; a folded node's are none of the one above. */
static void
add_runs (struct radio_profile_node *to, const struct rd_writer_state *writer,
          const struct rd_node *node)
{
  to->calls += node->calls;
  to->total_ns += node->total;
  to->queue_ns += node->queue;
  to->min_ns = rd_min_u64 (to->min_ns, node->min);
  to->max_ns = rd_max_u64 (to->max_ns, node->max);
  to->open_count += node->opens;
  to->late_count += node->lates;
  to->dropped_count += node->drops;
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    to->histogram[rd_octave_bucket (writer, i)] += node->octaves[i];
}

static enum radio_status
add_figures (struct rd_collection *collection,
             const struct rd_writer_state *writer,
             const struct rd_node *node)
{
  struct radio_profile_node *to
    = &collection->profile->nodes.at[node->index];
  if (!node->folded)
    add_runs (to, writer, node);
  to->self_ns += node->self;
  to->work_ns += node->work;
  to->wait_ns += node->wait;
  add_memory (to, node);
  return add_counters (collection, node);
}

/*------------------------------------------------------------------------
 * Nanoseconds
 *----------------------------------------------------------------------*/

/* Where on its line a node begins, and where its next child does; ticks. */
struct layout {
  uint64_t begin, next;
};

/* Whether a child ran within its parent, one after the other. */
static bool
is_sequential (const struct radio_profile_node *node)
{
  return node->parent != RADIO_NO_PARENT
         && (node->edge == RADIO_EDGE_CALL
             || node->edge == RADIO_EDGE_PHASE);
}

/* The nanoseconds from one point of a line to a later one. */
static uint64_t
length (const struct rd_rate *rate, uint64_t from, uint64_t to)
{
  return to > from ? rd_rate_ns (rate, to) - rd_rate_ns (rate, from) : 0;
}

/* Children come after their parents: all of a node's are placed before any
 * of their own. */
static void
place (struct radio_profile *profile, struct layout *layouts)
{
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    if (is_sequential (node)) {
      layouts[i].begin = layouts[node->parent].next;
      layouts[node->parent].next += node->total_ns;
    }
    layouts[i].next = layouts[i].begin;
  }
}

/* Of a single run both are the total, however that was rounded. */
static void
convert_range (struct radio_profile_node *node, const struct rd_rate *rate)
{
  bool is_single = node->calls == 1;
  node->max_ns = is_single ? node->total_ns
                           : rd_rate_ns (rate, node->max_ns);
  node->min_ns = is_single ? node->total_ns
                           : rd_rate_ns (rate, node->calls ? node->min_ns : 0);
}

static void
convert (struct radio_profile_node *node, const struct layout *layout,
         const struct rd_rate *rate)
{
  uint64_t begin = layout->begin, end = begin + node->total_ns;
  uint64_t waited = layout->next + node->wait_ns;
  uint64_t worked = waited + node->work_ns;
  uint64_t self = rd_min_u64 (node->self_ns, node->total_ns);
  node->total_ns = length (rate, begin, end);
  node->self_ns = length (rate, end - self, end);
  node->wait_ns = length (rate, layout->next, waited);
  node->work_ns = length (rate, waited, worked);
  node->queue_ns = rd_rate_ns (rate, node->queue_ns);
  convert_range (node, rate);
}

static enum radio_status
convert_all (struct radio_profile *profile, const struct rd_rate *rate)
{
  size_t n = profile->nodes.n;
  struct layout *layouts = calloc (n ? n : 1, sizeof *layouts);
  if (!layouts)
    return rd_fail_memory (n * sizeof *layouts);
  place (profile, layouts);
  for (size_t i = 0; i < n; i++)
    convert (&profile->nodes.at[i], &layouts[i], rate);
  free (layouts);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * All of it
 *----------------------------------------------------------------------*/

/* The roots' memory is the whole's alone. */
static void
add_outside (struct radio_profile_info *info, const struct rd_node *node)
{
  info->alloc_count += node->alloc_count;
  info->alloc_nbytes += node->alloc_nbytes;
}

static enum radio_status
collect_writer (struct rd_collection *collection,
                const struct rd_writer_state *writer, struct way *way)
{
  struct radio_profile *profile = collection->profile;
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (!node->site) {
      add_outside (&profile->info, node);
      continue;
    }
    RD_TRY (resolve_path (profile, way, node));
    RD_TRY (add_figures (collection, writer, node));
    collection->nfolded += node->folded ? node->calls : 0;
    add_outside (&profile->info, node);
  }
  return RADIO_OK;
}

static void
forget_indexes (const struct radio_recorder *recorder)
{
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->nnodes; j++) {
      writer->nodes[j]->index = RD_NO_INDEX;
      writer->nodes[j]->folded = false;
    }
  }
}

static enum radio_status
collect_writers (struct rd_collection *collection, struct way *way)
{
  const struct radio_recorder *recorder = collection->recorder;
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    RD_TRY (collect_writer (collection, recorder->synced.writers.at[i],
                            way));
  return RADIO_OK;
}

enum radio_status
rd_collect_tree (struct rd_collection *collection)
{
  struct way way = { .at = NULL };
  forget_indexes (collection->recorder);
  enum radio_status status = collect_writers (collection, &way);
  free (way.at);
  RD_TRY (status);
  return convert_all (collection->profile, &collection->recorder->rate);
}
