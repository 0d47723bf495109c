/* SPDX-License-Identifier: MIT */
/* From encoded tiles to an object of the store. */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/write.h"

/* Tiles that are appended by one call. */
#define PARTS 64

/* The chunk is nothing but fill value now: an older object must go. */
static enum radio_status
remove_object (struct rd_io *io, const char *key)
{
  enum radio_status status = io->ops->remove (io, key);
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

enum radio_status
rd_write_publish_object (struct rd_write *write, const uint64_t *chunk,
                         const struct rd_buffer *encoded)
{
  struct rd_io *io = write->array->store->io;
  char key[RD_KEY_NBYTES];
  rd_fetch_key (write->array, chunk, key);
  if (!encoded)
    return remove_object (io, key);
  RD_TRY (rd_io_put (io, key, encoded->data, encoded->nbytes,
                     RD_PUT_REPLACE));
  atomic_fetch_add (&write->stored_nbytes, encoded->nbytes);
  return RADIO_OK;
}

/* Where each tile comes to lie in the shard: C order, without gaps. */
static enum radio_status
make_index (const struct rd_write *write, const struct rd_slot *slot,
            struct rd_shard_index **result)
{
  const struct rd_layout *layout = &write->array->layout;
  size_t nbytes = sizeof **result
    + (size_t) layout->ntiles * sizeof (struct rd_shard_entry);
  struct rd_shard_index *index = rd_malloc (nbytes);
  if (!index)
    return rd_fail_memory (nbytes);
  uint64_t offset = layout->sharding->u.sharding.index_at_start
    ? layout->index_nbytes : 0;
  index->n = layout->ntiles;
  for (uint64_t i = 0; i < index->n; i++) {
    index->entries[i] = slot->tiles[i];
    if (slot->tiles[i].offset == RD_SHARD_MISSING)
      continue;
    index->entries[i].offset = offset;
    offset += slot->tiles[i].nbytes;
  }
  *result = index;
  return RADIO_OK;
}

enum radio_status
rd_write_append (struct rd_io_writer *writer, const struct rd_arena *arena,
                 const struct rd_shard_entry *tiles, uint64_t ntiles)
{
  struct rd_part parts[PARTS];
  size_t n = 0;
  for (uint64_t i = 0; i < ntiles; i++) {
    if (tiles[i].offset == RD_SHARD_MISSING)
      continue;
    parts[n++] = (struct rd_part) { arena->data + tiles[i].offset,
                                    (size_t) tiles[i].nbytes };
    if (n == PARTS) {
      RD_TRY (writer->ops->append (writer, parts, n));
      n = 0;
    }
  }
  return n > 0 ? writer->ops->append (writer, parts, n) : RADIO_OK;
}

static enum radio_status
append_index (const struct rd_buffer *index, struct rd_io_writer *writer)
{
  const struct rd_part part = { index->data, index->nbytes };
  return writer->ops->append (writer, &part, 1);
}

/* Tiles and index, in their order, then commit. */
static enum radio_status
write_shard (const struct rd_write *write, const struct rd_slot *slot,
             const struct rd_buffer *index, const char *key)
{
  RD_SCOPE ("write shard", RD_IN_DISK);
  RD_NOTE_NAME ("key", key);
  struct rd_io *io = write->array->store->io;
  const struct rd_codec *sharding = write->array->layout.sharding;
  bool at_start = sharding->u.sharding.index_at_start;
  RD_CLEANUP (rd_cleanup_io_writer) struct rd_io_writer *writer = NULL;
  RD_TRY (io->ops->create (io, key, &writer));
  if (at_start)
    RD_TRY (append_index (index, writer));
  RD_TRY (rd_write_append (writer, &slot->arena, slot->tiles,
                           write->array->layout.ntiles));
  if (!at_start)
    RD_TRY (append_index (index, writer));
  struct rd_io_writer *complete = RD_STEAL (writer);
  return complete->ops->commit (complete);
}

enum radio_status
rd_write_publish_shard (struct rd_write *write, struct rd_slot *slot,
                        const uint64_t *chunk, struct rd_scratch *scratch)
{
  struct radio_array *array = write->array;
  uint64_t used = atomic_load (&slot->arena.used);
  enum radio_status status;
  if (used == 0 && !array->is_complete)
    status = rd_write_publish_object (write, chunk, NULL);
  else {
    char key[RD_KEY_NBYTES];
    rd_fetch_key (array, chunk, key);
    RD_FREE struct rd_shard_index *index = NULL;
    RD_TRY (make_index (write, slot, &index));
    RD_TRY (rd_shard_index_encode (array->layout.sharding,
                                   &array->layout.chunk, scratch, index,
                                   &scratch->fetched));
    status = write_shard (write, slot, &scratch->fetched, key);
    atomic_fetch_add (&write->stored_nbytes,
                      used + scratch->fetched.nbytes);
  }
  /* Whatever became of it: what was read before may be old now. */
  rd_index_cache_drop (array->indexes, chunk);
  return status;
}
