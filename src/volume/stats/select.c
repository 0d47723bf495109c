/* SPDX-License-Identifier: MIT */
/* Selection by counting (see select.h). */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/volume/stats/select.h"

#define NBUCKETS ((size_t) 1 << 16)

/* A range of keys that are counted in buckets of 2^shift keys. */
struct group {
  uint64_t low, high;         /* both included */
  unsigned shift;
  uint64_t nbelow;            /* keys less than low */
  uint64_t *counts;           /* NBUCKETS */
};

struct wanted {
  uint64_t rank;
  uint64_t key;               /* when found */
  bool found;
  size_t group;               /* that contains it, until found */
};

struct rd_select {
  uint64_t min_key, max_key;  /* of those seen in the first pass */
  size_t max_nranks, nwanted, ngroups;
  struct wanted *wanted;
  struct group *groups;       /* ascending, disjoint */
  struct group *next_groups;
  uint64_t *tables;           /* 2 * max_nranks times NBUCKETS */
  bool first_pass;
  /* The first group that may contain a key, by its distance to min_key. */
  uint8_t *map;               /* NBUCKETS */
  unsigned map_shift;
};

/* The smallest shift that leaves a difference below NBUCKETS. */
static unsigned
shift_for (uint64_t difference)
{
  unsigned shift = 0;
  while (difference >> shift >= NBUCKETS)
    shift++;
  return shift;
}

uint64_t
rd_select_nbytes (size_t max_nranks)
{
  return 2 * max_nranks * NBUCKETS * sizeof (uint64_t) + NBUCKETS;
}

enum radio_status
rd_select_open (unsigned key_nbits, size_t max_nranks,
                struct rd_select **result)
{
  RD_CLEANUP (rd_cleanup_select) struct rd_select *select
    = rd_calloc (1, sizeof *select);
  if (select == NULL)
    return rd_fail_memory (sizeof *select);
  select->wanted = rd_calloc (max_nranks, sizeof *select->wanted);
  select->groups = rd_calloc (max_nranks, sizeof *select->groups);
  select->next_groups = rd_calloc (max_nranks, sizeof *select->next_groups);
  select->tables = rd_calloc (2 * max_nranks * NBUCKETS, sizeof (uint64_t));
  select->map = rd_calloc (NBUCKETS, 1);
  if (!select->wanted || !select->groups || !select->next_groups
      || !select->tables || !select->map)
    return rd_fail_memory (rd_select_nbytes (max_nranks));
  select->max_nranks = max_nranks;
  select->first_pass = true;
  select->min_key = UINT64_MAX;
  select->ngroups = 1;
  select->groups[0] = (struct group) {
    .high = UINT64_MAX >> (64 - key_nbits),
    .shift = key_nbits - 16,
    .counts = select->tables,
  };
  *result = RD_STEAL (select);
  return RADIO_OK;
}

void
rd_select_close (struct rd_select *select)
{
  if (select == NULL)
    return;
  rd_free (select->map);
  rd_free (select->tables);
  rd_free (select->next_groups);
  rd_free (select->groups);
  rd_free (select->wanted);
  rd_free (select);
}

void
rd_select_add (struct rd_select *select, const uint64_t *keys, size_t n)
{
  uint64_t low = select->min_key, high = select->max_key;
  if (select->first_pass) {
    uint64_t *counts = select->groups[0].counts;
    unsigned shift = select->groups[0].shift;
    for (size_t i = 0; i < n; i++) {
      low = keys[i] < low ? keys[i] : low;
      high = keys[i] > high ? keys[i] : high;
      counts[keys[i] >> shift]++;
    }
    select->min_key = low;
    select->max_key = high;
    return;
  }
  const struct group *end = select->groups + select->ngroups;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = keys[i];
    /* A key outside the range of the first pass belongs to data that
     * changed; narrowing will miss the keys that it replaced. */
    if (key < low || key > high)
      continue;
    const struct group *g
      = select->groups + select->map[(key - low) >> select->map_shift];
    while (g < end && key > g->high)
      g++;
    if (g < end && key >= g->low)
      g->counts[(key - g->low) >> g->shift]++;
  }
}

/* Clear tables for the new groups, in the half that the old ones do not
 * use, and build the map from keys to groups. */
static void
prepare_pass (struct rd_select *select, const uint64_t *old_tables)
{
  uint64_t *tables = select->tables;
  if (old_tables == tables)
    tables += select->max_nranks * NBUCKETS;
  memset (tables, 0, select->ngroups * NBUCKETS * sizeof *tables);
  for (size_t i = 0; i < select->ngroups; i++)
    select->groups[i].counts = tables + i * NBUCKETS;
  select->map_shift = shift_for (select->max_key - select->min_key);
  size_t group = 0;
  for (size_t i = 0; i < NBUCKETS; i++) {
    uint64_t offset = (uint64_t) i << select->map_shift;
    if (offset > select->max_key - select->min_key)
      break;
    while (group < select->ngroups
           && select->groups[group].high < select->min_key + offset)
      group++;
    select->map[i] = (uint8_t) group;
  }
}

enum radio_status
rd_select_narrow (struct rd_select *select)
{
  struct group *old = select->groups;
  const uint64_t *old_tables = old[0].counts;
  size_t current = SIZE_MAX, bucket = 0;
  uint64_t nbelow = 0;
  select->ngroups = 0;
  for (size_t i = 0; i < select->nwanted; i++) {
    struct wanted *wanted = &select->wanted[i];
    if (wanted->found)
      continue;
    if (wanted->group != current) {
      current = wanted->group;
      bucket = 0;
      nbelow = old[current].nbelow;
    }
    /* Ranks ascend: continue from the bucket of the one before. */
    const uint64_t *counts = old[current].counts;
    while (bucket < NBUCKETS && wanted->rank - nbelow >= counts[bucket])
      nbelow += counts[bucket++];
    if (bucket == NBUCKETS)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "the array's values changed while they were read");

    /* The keys in the bucket are the next pass's group, unless that is a
     * single key. */
    const struct group *group = &old[current];
    uint64_t low = group->low + ((uint64_t) bucket << group->shift);
    uint64_t width = ((uint64_t) 1 << group->shift) - 1;
    uint64_t high = group->high - low < width ? group->high : low + width;
    low = low > select->min_key ? low : select->min_key;
    high = high < select->max_key ? high : select->max_key;
    wanted->found = low == high;
    wanted->key = low;
    if (wanted->found)
      continue;
    struct group *last = select->next_groups + select->ngroups - 1;
    if (select->ngroups == 0 || last->low != low)
      select->next_groups[select->ngroups++] = (struct group) {
        .low = low, .high = high, .nbelow = nbelow,
        .shift = shift_for (high - low),
      };
    wanted->group = select->ngroups - 1;
  }
  select->groups = select->next_groups;
  select->next_groups = old;
  prepare_pass (select, old_tables);
  return RADIO_OK;
}

enum radio_status
rd_select_want (struct rd_select *select, const uint64_t *ranks,
                size_t nranks)
{
  for (size_t i = 0; i < nranks; i++)
    select->wanted[i] = (struct wanted) { .rank = ranks[i] };
  select->nwanted = nranks;
  select->first_pass = false;
  return rd_select_narrow (select);
}

bool
rd_select_done (const struct rd_select *select)
{
  return select->ngroups == 0;
}

uint64_t
rd_select_key (const struct rd_select *select, size_t i)
{
  return select->wanted[i].key;
}
