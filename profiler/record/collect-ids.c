/* SPDX-License-Identifier: MIT */
/* Ids that are unique in the profile for spans, which are known by writer
 * and sequence.  Parents are given theirs when a child names them, also if
 * the log has dropped them.
 *
 * Each writer has a table of its own, in which sequences that follow each
 * other stand beside each other: a log is looked at in its order, so this
 * keeps to the caches, where a table that scatters would leave them with
 * every span. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/collect.h"

struct rd_id_slot {
  uint64_t sequence;
  uint32_t id;                /* 0: free */
};

struct rd_id_table {
  struct rd_id_slot *slots;
  size_t nslots, n;           /* nslots: a power of 2, or 0 */
};

enum radio_status
rd_ids_init (struct rd_ids *ids, size_t nwriters)
{
  *ids = (struct rd_ids) { .nwriters = nwriters };
  ids->tables = calloc (nwriters ? nwriters : 1, sizeof *ids->tables);
  return ids->tables ? RADIO_OK
                     : rd_fail_memory (nwriters * sizeof *ids->tables);
}

void
rd_ids_free (struct rd_ids *ids)
{
  for (size_t i = 0; ids->tables && i < ids->nwriters; i++)
    free (ids->tables[i].slots);
  free (ids->tables);
  ids->tables = NULL;
}

/* Where a sequence is, or would go; there is a free slot always.  Those that
 * lie a multiple of the table's size apart are scattered. */
static struct rd_id_slot *
find_slot (const struct rd_id_table *table, uint64_t sequence)
{
  size_t mask = table->nslots - 1;
  uint64_t lap = sequence / table->nslots;
  size_t i = (sequence + lap * UINT64_C (0x9e3779b97f4a7c15)) & mask;
  while (table->slots[i].id != 0 && table->slots[i].sequence != sequence)
    i = (i + 1) & mask;
  return &table->slots[i];
}

static enum radio_status
grow (struct rd_id_table *table)
{
  struct rd_id_table larger = {
    .nslots = table->nslots ? 4 * table->nslots : 256, .n = table->n
  };
  larger.slots = calloc (larger.nslots, sizeof *larger.slots);
  if (!larger.slots)
    return rd_fail_memory (larger.nslots * sizeof *larger.slots);
  for (size_t i = 0; i < table->nslots; i++) {
    const struct rd_id_slot *slot = &table->slots[i];
    if (slot->id != 0)
      *find_slot (&larger, slot->sequence) = *slot;
  }
  free (table->slots);
  *table = larger;
  return RADIO_OK;
}

enum radio_status
rd_ids_give (struct rd_ids *ids, uint32_t writer, uint64_t sequence,
             uint32_t *id)
{
  struct rd_id_table *table = &ids->tables[writer];
  if (2 * (table->n + 1) > table->nslots)
    RD_TRY (grow (table));
  struct rd_id_slot *slot = find_slot (table, sequence);
  if (slot->id == 0) {
    *slot = (struct rd_id_slot) { sequence, ++ids->n };
    table->n++;
  }
  *id = slot->id;
  return RADIO_OK;
}

uint32_t
rd_ids_find (const struct rd_ids *ids, uint32_t writer, uint64_t sequence)
{
  const struct rd_id_table *table = &ids->tables[writer];
  return table->nslots ? find_slot (table, sequence)->id : 0;
}
