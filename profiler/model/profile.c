/* SPDX-License-Identifier: MIT */
/* Access to a complete profile.  Sums saturate. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "profiler/model/profile.h"
#include "profiler/model/string-table.h"
#include "profiler/model/sum.h"

/*------------------------------------------------------------------------
 * Public accessors
 *----------------------------------------------------------------------*/

void
(radio_profile_get_info) (const struct radio_profile *profile,
                          struct radio_profile_info *info,
                          size_t info_nbytes)
{
  rd_fill_result (info, info_nbytes, &profile->info, sizeof profile->info);
}

const struct radio_profile_node *
radio_profile_get_node (const struct radio_profile *profile, size_t i)
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
  const char *name = rd_string_table_find (profile->strings, counter);
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
(radio_profile_node_part) (const struct radio_profile *profile, size_t node,
                           size_t part, struct radio_profile_share *share,
                           size_t share_nbytes)
{
  struct radio_profile_share full = { 0 };
  if (node < profile->nodes.n && part < profile->parts.n)
    full = rd_profile_share (profile, node, part);
  rd_fill_result (share, share_nbytes, &full, sizeof full);
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

struct rd_part_usage
rd_profile_usage (const struct radio_profile *profile)
{
  return (struct rd_part_usage) {
    .minor_fault_count = rd_profile_number (profile, RD_FACT_MINOR),
    .major_fault_count = rd_profile_number (profile, RD_FACT_MAJOR),
    .block_input_nbytes = rd_profile_number (profile, RD_FACT_BLOCK_INPUT),
  };
}

const struct rd_move rd_moves[RD_NMOVES] = {
  { "bytes delivered", "delivered" }, { "bytes encoded", "encoded" },
  { "bytes decoded", "decoded" }, { "bytes inflated", "inflated" },
  { "bytes written", "written" }, { "bytes fetched", "fetched" },
  { "bytes asked", "requested" },
};

uint64_t
rd_moved (const struct radio_profile *profile, size_t node, bool inclusive)
{
  uint64_t most = 0;
  for (size_t i = 0; i < RD_NMOVES; i++) {
    uint64_t value = radio_profile_counter (profile, node,
                                            rd_moves[i].counter, inclusive);
    if (value > 0)
      return value;
  }
  for (size_t i = 0; i < profile->counters.n; i++)
    if (strcmp (profile->counters.at[i].unit, "bytes") == 0)
      most = rd_max_u64 (most, radio_profile_counter (
        profile, node, profile->counters.at[i].name, inclusive));
  return most;
}

uint64_t
rd_unit_sum (const struct radio_profile *profile, size_t node,
             const char *unit, bool inclusive)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->counters.n; i++)
    if (strcmp (profile->counters.at[i].unit, unit) == 0)
      sum = rd_sum (sum, inclusive
                    ? rd_profile_tree_value (profile, node, i)
                    : rd_profile_value (profile, node, i));
  return sum;
}

uint64_t
rd_flop (const struct radio_profile *profile, size_t node)
{
  return rd_unit_sum (profile, node, RD_UNIT_FLOP, true);
}
