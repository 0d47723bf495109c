/* SPDX-License-Identifier: MIT */
/* The library's own memory: allocated over and over, or still held when the
 * recording ended. */
#include <config.h>

#include <inttypes.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

/* An operation needs some allocations, however little it does; a tile needs
 * none. */
#define MIN_CHURN 1000
#define MIN_CHURN_PER_OPERATION 200
#define CHURN_PER_TILE 1

/* Less may be a handle that stays open. */
#define MIN_HELD_NBYTES 65536

enum what { ALLOCATED, HELD };

/* The node that allocated most often, or holds the most bytes. */
static size_t
largest (const struct rd_finder *finder, enum what what)
{
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    const struct radio_profile_node *node = &finder->profile->nodes.at[i];
    uint64_t value =
      what == HELD ? node->alloc_live_nbytes : node->alloc_count;
    if (value > most) {
      most = value;
      at = i;
    }
  }
  return at;
}

/* The name of a node, of those without one too. */
static const char *
name_of (const struct rd_finder *finder, size_t node)
{
  return node == RADIO_NO_PARENT ? "no scope"
                                 : finder->profile->nodes.at[node].name;
}

static enum radio_status
find_churn (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  uint64_t ntiles = rd_finder_sum (finder, &rd_count_tiles);
  double operations = (double) rd_max_u64 (finder->noperations, 1);
  double each = (double) info->alloc_count / operations;
  if (info->alloc_count < MIN_CHURN || each < MIN_CHURN_PER_OPERATION
      || (double) info->alloc_count < CHURN_PER_TILE * (double) ntiles)
    return RADIO_OK;
  size_t at = largest (finder, ALLOCATED);
  struct rd_claim claim = {
    "allocation-churn", "Many allocations", RADIO_FINDING_HINT, 0.1, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " allocations of %s in %" PRIu64 " operations "
                   "(%s each) and %" PRIu64 " tiles, where at most %s were "
                   "held; most in '%.60s'", info->alloc_count,
                   rd_human_nbytes (info->alloc_nbytes).text,
                   finder->noperations, rd_human_number (each).text, ntiles,
                   rd_human_nbytes (info->alloc_peak_nbytes).text,
                   name_of (finder, at));
}

static enum radio_status
find_held (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  if (info->alloc_live_nbytes < MIN_HELD_NBYTES)
    return RADIO_OK;
  size_t at = largest (finder, HELD);
  uint64_t there =
    at == RADIO_NO_PARENT
    ? 0 : finder->profile->nodes.at[at].alloc_live_nbytes;
  /* Between runs, whatever they read stays open, with its caches. */
  bool is_run = info->parts == RADIO_PARTS_RUNS;
  struct rd_claim claim = {
    "memory-held", "Memory was held at the end",
    is_run ? RADIO_FINDING_NOTE : RADIO_FINDING_HINT,
    (double) info->alloc_live_nbytes
    / (double) rd_max_u64 (info->alloc_nbytes, 1), at
  };
  return rd_found (finder, &claim,
                   "%s of %s allocated were not released when the recording "
                   "ended, %s of it from '%.60s': open handles and their "
                   "caches, or a leak",
                   rd_human_nbytes (info->alloc_live_nbytes).text,
                   rd_human_nbytes (info->alloc_nbytes).text,
                   rd_human_nbytes (there).text, name_of (finder, at));
}

enum radio_status
rd_find_memory (struct rd_finder *finder)
{
  RD_TRY (find_churn (finder));
  return find_held (finder);
}
