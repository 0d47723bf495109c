/* SPDX-License-Identifier: MIT */
/* Names and numbers of lanes. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "profiler/export/lanes.h"

/* Linux has no larger numbers; those above are for lanes without one.  They
 * stay below 2^32, where some tools end. */
#define FIRST_MADE_UP ((uint64_t) 1 << 22)

struct entry {
  uint64_t os_tid;
  uint32_t lane;
};

static int
compare_entries (const void *pa, const void *pb)
{
  const struct entry *a = pa, *b = pb;
  if (a->os_tid != b->os_tid)
    return a->os_tid < b->os_tid ? -1 : 1;
  return (a->lane > b->lane) - (a->lane < b->lane);
}

enum radio_status
rd_lane_ids_make (const struct radio_profile *profile,
                  struct rd_lane_ids *ids)
{
  size_t n = profile->lanes.n;
  RD_FREE struct entry *entries = rd_calloc (n + 1, sizeof *entries);
  ids->tid = rd_calloc (n + 1, sizeof *ids->tid);
  if (entries == NULL || ids->tid == NULL)
    return rd_fail_memory ((n + 1) * sizeof *entries);
  for (size_t i = 0; i < n; i++)
    entries[i] = (struct entry) { profile->lanes.at[i].os_tid,
                                  (uint32_t) i };
  qsort (entries, n, sizeof *entries, compare_entries);
  for (size_t i = 0; i < n; i++) {
    bool usable = entries[i].os_tid > 0 && entries[i].os_tid < FIRST_MADE_UP;
    bool again = i > 0 && entries[i].os_tid == entries[i - 1].os_tid;
    ids->tid[entries[i].lane] = usable && !again
      ? entries[i].os_tid : FIRST_MADE_UP + entries[i].lane;
  }
  return RADIO_OK;
}

void
rd_lane_ids_free (struct rd_lane_ids *ids)
{
  rd_free (ids->tid);
  ids->tid = NULL;
}

const char *
rd_lane_short_name (const struct radio_profile *profile, uint32_t lane)
{
  const struct rd_lane *of = &profile->lanes.at[lane];
  const char *part = profile->parts.at[of->part].name;
  size_t nbytes = strlen (part);
  if (profile->info.parts == RADIO_PARTS_RANKS
      && strncmp (of->name, part, nbytes) == 0
      && strncmp (of->name + nbytes, ": ", 2) == 0)
    return of->name + nbytes + 2;
  return of->name;
}

size_t
rd_lanes_first_note (const struct radio_profile *profile, uint32_t span_id)
{
  size_t low = 0, high = profile->notes.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (profile->notes.at[middle].span < span_id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
