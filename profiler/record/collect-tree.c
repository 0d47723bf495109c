/* SPDX-License-Identifier: MIT */
/* The trees of all writers as the profile's one.
 *
 * Ticks are added up before they become nanoseconds, in a way that keeps
 * sums: each node is laid out on a line of its own time, its children of the
 * same thread one after the other from its begin, then its waiting time, then
 * its working time (what it was without a CPU last), and every boundary is
 * rounded by itself.  So nothing is negative, and where ticks add up,
 * nanoseconds do. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "profiler/record/collect.h"
#include "profiler/record/tree.h"

/*------------------------------------------------------------------------
 * Paths
 *----------------------------------------------------------------------*/

/* The parent, on any thread; NULL for roots. */
static struct rd_node *
parent_of (const struct rd_node *node)
{
  struct rd_node *parent = node->parent;
  while (parent && !parent->site)
    parent = parent->foreign;
  return parent;
}

/* Sets the indexes of a node and its ancestors: finds or adds the profile's
 * node for each, once its parent has one.  Nodes deeper than a profile has
 * room for are folded: chains of handoffs may be of any length. */
static enum radio_status
set_path_indexes (struct radio_profile *profile, struct rd_node *node)
{
  RD_BUFFER_SCOPE struct rd_buffer path = { 0 };
  for (; node && node->index == RD_NO_INDEX; node = parent_of (node))
    RD_TRY (rd_buffer_append (&path, &node, sizeof node));
  while (path.nbytes > 0) {
    path.nbytes -= sizeof node;
    memcpy (&node, path.data + path.nbytes, sizeof node);
    const struct rd_node *parent = parent_of (node);
    const struct radio_site *site = &node->kept;
    uint32_t parent_index = parent ? parent->index : RD_NO_INDEX;
    if (parent && profile->nodes.at[parent_index].depth
                  == RD_MAX_NODE_DEPTH - 1) {
      node->index = parent_index;
      node->folded = true;
      continue;
    }
    node->index = rd_profile_find_node (profile, parent_index, site->name,
                                        site->category, node->edge);
    if (node->index != RD_NO_INDEX)
      continue;
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
    RD_TRY (rd_profile_add_node (profile, &new, &node->index));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Figures, in ticks
 *----------------------------------------------------------------------*/

static enum radio_status
add_figures (struct rd_collection *collection,
             const struct rd_writer_state *writer,
             const struct rd_node *node)
{
  struct radio_profile *profile = collection->profile;
  struct radio_profile_node *to = &profile->nodes.at[node->index];
  if (!node->folded) {        /* a folded node's runs are not its parent's */
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
  to->self_ns += node->self;
  to->work_ns += node->work;
  to->wait_ns += node->wait;
  to->starved_ns += node->starved;
  to->alloc_count += node->alloc_count;
  to->alloc_nbytes += node->alloc_nbytes;
  if (node->account) {
    int64_t live = atomic_load_explicit (&node->account->live,
                                         memory_order_relaxed);
    int64_t peak = atomic_load_explicit (&node->account->peak,
                                         memory_order_relaxed);
    /* The peaks of several threads may have been at the same time. */
    to->alloc_live_nbytes += live > 0 ? (uint64_t) live : 0;
    to->alloc_peak_nbytes += peak > 0 ? (uint64_t) peak : 0;
  }

  /* The first counters, if there are more than a profile may have. */
  for (size_t i = 0; i < node->ntallies; i++) {
    const struct rd_tally *tally = &node->tallies[i];
    const struct radio_counter *counter = &tally->kept;
    uint32_t index;
    if (tally->is_of_set && tally->value == 0)
      continue;
    if (!rd_profile_has_room (&profile->counters, counter->name,
                              counter->unit)) {
      collection->nvalues_lost++;
      continue;
    }
    RD_TRY (rd_profile_add_counter (profile, counter->name, counter->unit,
                                    &index));
    RD_TRY (rd_profile_add_value (profile, node->index, index,
                                  tally->value));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Nanoseconds
 *----------------------------------------------------------------------*/

/* The ticks on its line at which a node begins, and its next child does. */
struct layout {
  uint64_t begin, next;
};

/* The nanoseconds from one point of a line to a later one. */
static uint64_t
length_ns (const struct rd_rate *rate, uint64_t from, uint64_t to)
{
  return to > from ? rd_rate_ns (rate, to) - rd_rate_ns (rate, from) : 0;
}

/* Children come after their parents in the profile: all children of a node
 * are placed before any of their own. */
static enum radio_status
convert_nodes (struct radio_profile *profile, const struct rd_rate *rate)
{
  size_t n = profile->nodes.n;
  struct layout *layouts = calloc (n ? n : 1, sizeof *layouts);
  if (!layouts)
    return rd_fail_memory (n * sizeof *layouts);
  for (size_t i = 0; i < n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    bool is_sequential = node->edge == RADIO_EDGE_CALL
                         || node->edge == RADIO_EDGE_PHASE;
    if (node->parent != RADIO_NO_PARENT && is_sequential) {
      layouts[i].begin = layouts[node->parent].next;
      layouts[node->parent].next += node->total_ns;
    }
    layouts[i].next = layouts[i].begin;
  }
  for (size_t i = 0; i < n; i++) {
    struct radio_profile_node *node = &profile->nodes.at[i];
    uint64_t begin = layouts[i].begin, end = begin + node->total_ns;
    uint64_t waited = layouts[i].next + node->wait_ns;
    uint64_t worked = waited + node->work_ns;
    uint64_t self = rd_min_u64 (node->self_ns, node->total_ns);
    node->total_ns = length_ns (rate, begin, end);
    node->self_ns = length_ns (rate, end - self, end);
    node->wait_ns = length_ns (rate, layouts[i].next, waited);
    uint64_t ran = worked - rd_min_u64 (node->starved_ns, node->work_ns);
    node->starved_ns = length_ns (rate, ran, worked);
    node->work_ns = length_ns (rate, waited, worked);
    node->queue_ns = rd_rate_ns (rate, node->queue_ns);
    /* Those of a single run are the total, with its rounding. */
    if (node->calls == 1)
      node->min_ns = node->max_ns = node->total_ns;
    else {
      node->min_ns = node->calls ? rd_rate_ns (rate, node->min_ns) : 0;
      node->max_ns = rd_rate_ns (rate, node->max_ns);
    }
  }
  free (layouts);
  return RADIO_OK;
}

enum radio_status
rd_collect_tree (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->nnodes; j++) {
      writer->nodes[j]->index = RD_NO_INDEX;
      writer->nodes[j]->folded = false;
    }
  }
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->nnodes; j++) {
      struct rd_node *node = writer->nodes[j];
      profile->info.alloc_count += node->alloc_count;
      profile->info.alloc_nbytes += node->alloc_nbytes;
      if (!node->site)        /* the memory of roots is only in these sums */
        continue;
      RD_TRY (set_path_indexes (profile, node));
      RD_TRY (add_figures (collection, writer, node));
      collection->nfolded += node->folded ? node->calls : 0;
    }
  }
  return convert_nodes (profile, &recorder->rate);
}
