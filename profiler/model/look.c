/* SPDX-License-Identifier: MIT */
/* Looking at a finished profile: the public accessors. */
#include <config.h>

#include <string.h>

#include "profiler/model/builder.h"
#include "profiler/model/intern.h"

void
radio_profile_info (const struct radio_profile *profile,
                    struct radio_profile_info *info)
{
  *info = profile->info;
}

const struct radio_profile_node *
radio_profile_node (const struct radio_profile *profile, size_t i)
{
  return i < profile->nodes.n ? &profile->nodes.at[i] : NULL;
}

const char *
radio_edge_mark (enum radio_edge edge)
{
  switch (edge) {
  case RADIO_EDGE_HANDOFF: return "=> ";
  case RADIO_EDGE_ASYNC: return "~> ";
  case RADIO_EDGE_PHASE: return "~ ";
  case RADIO_EDGE_INSTANT: return "! ";
  default: return "";
  }
}

uint64_t
radio_profile_counter (const struct radio_profile *profile, size_t node,
                       const char *counter, bool inclusive)
{
  const char *name = rd_intern_find (profile->strings, counter);
  if (name == NULL || node >= profile->nodes.n)
    return 0;
  for (size_t i = 0; i < profile->counters.n; i++)
    if (profile->counters.at[i].name == name)
      return inclusive ? rd_profile_tree_value (profile, node, i)
                       : rd_profile_value (profile, node, i);
  return 0;
}

const char *
radio_profile_counter_name (const struct radio_profile *profile, size_t i,
                            const char **unit)
{
  if (i >= profile->counters.n)
    return NULL;
  if (unit)
    *unit = profile->counters.at[i].unit;
  return profile->counters.at[i].name;
}

void
radio_profile_node_part (const struct radio_profile *profile, size_t node,
                         size_t part, struct radio_profile_share *share)
{
  *share = (struct radio_profile_share) { 0 };
  if (node < profile->nodes.n && part < profile->parts.n)
    *share = rd_profile_share (profile, node, part);
}

const char *
radio_profile_part (const struct radio_profile *profile, size_t i,
                    uint64_t *wall_ns, uint64_t *work_ns)
{
  if (i >= profile->parts.n)
    return NULL;
  if (wall_ns)
    *wall_ns = profile->parts.at[i].wall_ns;
  if (work_ns)
    *work_ns = profile->parts.at[i].work_ns;
  return profile->parts.at[i].name;
}

const char *
radio_profile_fact (const struct radio_profile *profile, size_t i,
                    const char **key)
{
  if (i >= profile->facts.n)
    return NULL;
  if (key)
    *key = profile->facts.at[i].key;
  return profile->facts.at[i].value;
}

const struct radio_finding *
radio_profile_finding (const struct radio_profile *profile, size_t i)
{
  return i < profile->findings.n ? &profile->findings.at[i] : NULL;
}

/* The nodes' texts come first, by node and key. */
static int
compare_note (const struct rd_note *note, size_t node, const char *key)
{
  if (note->span != 0 || note->node > node)
    return 1;
  return note->node < node ? -1 : strcmp (note->key, key);
}

size_t
rd_profile_first_note (const struct radio_profile *profile, size_t node,
                       const char *key)
{
  size_t low = 0, high = profile->notes.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_note (&profile->notes.at[middle], node, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const char *
rd_profile_node_note (const struct radio_profile *profile, size_t node,
                      const char *key, bool *varies)
{
  size_t i = rd_profile_first_note (profile, node, key);
  if (i == profile->notes.n
      || compare_note (&profile->notes.at[i], node, key) != 0)
    return NULL;
  *varies = profile->notes.at[i].varies;
  return profile->notes.at[i].value;
}
