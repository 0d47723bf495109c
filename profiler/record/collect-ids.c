/* SPDX-License-Identifier: MIT */
/* Ids that are unique in the profile for spans, which are known by writer
 * and sequence.  Parents are given theirs when a child names them, also if
 * the log has dropped them. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/collect.h"

struct rd_id_slot {
  uint64_t sequence;
  uint32_t writer;
  uint32_t id;                /* 0: free */
};

/* Open addressing; there is a free slot always. */
static struct rd_id_slot *
find_slot (struct rd_id_slot *slots, size_t nslots, uint32_t writer,
           uint64_t sequence)
{
  uint64_t hash = (sequence ^ ((uint64_t) writer << 48))
                  * UINT64_C (0x9e3779b97f4a7c15);
  size_t i = (hash >> 20) & (nslots - 1);
  while (slots[i].id != 0
         && (slots[i].sequence != sequence || slots[i].writer != writer))
    i = (i + 1) & (nslots - 1);
  return &slots[i];
}

static enum radio_status
grow (struct rd_ids *ids)
{
  size_t nslots = ids->nslots ? 2 * ids->nslots : 1024;
  struct rd_id_slot *slots = calloc (nslots, sizeof *slots);
  if (!slots)
    return rd_fail_memory (nslots * sizeof *slots);
  for (size_t i = 0; i < ids->nslots; i++) {
    const struct rd_id_slot *slot = &ids->slots[i];
    if (slot->id != 0)
      *find_slot (slots, nslots, slot->writer, slot->sequence) = *slot;
  }
  free (ids->slots);
  ids->slots = slots;
  ids->nslots = nslots;
  return RADIO_OK;
}

enum radio_status
rd_ids_give (struct rd_ids *ids, uint32_t writer, uint64_t sequence,
             uint32_t *id)
{
  if (2 * (ids->n + 1) > ids->nslots)
    RD_TRY (grow (ids));
  struct rd_id_slot *slot
    = find_slot (ids->slots, ids->nslots, writer, sequence);
  if (slot->id == 0)
    *slot = (struct rd_id_slot) { sequence, writer, (uint32_t) ++ids->n };
  *id = slot->id;
  return RADIO_OK;
}

uint32_t
rd_ids_find (const struct rd_ids *ids, uint32_t writer, uint64_t sequence)
{
  if (ids->nslots == 0)
    return 0;
  return find_slot (ids->slots, ids->nslots, writer, sequence)->id;
}
