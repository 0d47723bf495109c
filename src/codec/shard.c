/* SPDX-License-Identifier: MIT */
/* The index of a shard: an array of its own, encoded by codecs of fixed size,
 * so that its place and length are known before anything is read. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/codec/shard.h"
#include "src/element/copy.h"

void
rd_shard_layout (const struct rd_codec *sharding,
                 const struct rd_chunk *shard,
                 uint64_t *grid, struct rd_chunk *inner)
{
  *inner = *shard;
  for (size_t i = 0; i < shard->rank; i++) {
    inner->shape[i] = sharding->u.sharding.chunk_shape[i];
    grid[i] = shard->shape[i] / inner->shape[i];
  }
}

static uint64_t
count_inner (const struct rd_codec *sharding, const struct rd_chunk *shard)
{
  uint64_t n = 1;
  for (size_t i = 0; i < shard->rank; i++)
    n *= shard->shape[i] / sharding->u.sharding.chunk_shape[i];
  return n;
}

void
rd_shard_index_chunk (const struct rd_codec *sharding,
                      const struct rd_chunk *shard, struct rd_chunk *index)
{
  static const uint64_t missing = RD_SHARD_MISSING;
  struct rd_chunk inner;
  memset (index, 0, sizeof *index);
  index->type = rd_type_of (RADIO_UINT64);
  index->fill = &missing;
  if (shard->rank < RADIO_MAX_RANK) {
    index->rank = shard->rank + 1;
    rd_shard_layout (sharding, shard, index->shape, &inner);
  } else {
    index->rank = 2;
    index->shape[0] = count_inner (sharding, shard);
  }
  index->shape[index->rank - 1] = 2;
}

uint64_t
rd_shard_index_nbytes (const struct rd_codec *sharding,
                       const struct rd_chunk *shard)
{
  const struct rd_chain *chain = sharding->u.sharding.index;
  uint64_t nbytes = 16 * count_inner (sharding, shard);
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    nbytes += 4;              /* only crc32c may follow */
  return nbytes;
}

/* An entry is missing as a whole or lies within the shard.  Entries may
 * overlap: nothing forbids a writer to store equal chunks once. */
static enum radio_status
check_entry (uint64_t i, const struct rd_shard_entry *entry,
             uint64_t shard_nbytes)
{
  bool no_offset = entry->offset == RD_SHARD_MISSING;
  bool no_nbytes = entry->nbytes == RD_SHARD_MISSING;
  if (no_offset && no_nbytes)
    return RADIO_OK;
  if (no_offset || no_nbytes || entry->offset > shard_nbytes
      || entry->nbytes > shard_nbytes - entry->offset)
    return rd_fail (RADIO_ERROR_FORMAT, "shard index: entry %" PRIu64
                    ": %" PRIu64 " bytes at %" PRIu64 " do not lie within "
                    "the shard's %" PRIu64, i, entry->nbytes, entry->offset,
                    shard_nbytes);
  return RADIO_OK;
}

static enum radio_status
take_entries (const struct rd_chunk *chunk, const struct rd_view *view,
              struct rd_shard_index *index)
{
  struct rd_copy copy = {
    .rank = chunk->rank, .from = view->data, .from_type = chunk->type,
    .from_swapped = view->swapped, .to = (unsigned char *) index->entries,
    .to_dtype = RADIO_UINT64,
  };
  memcpy (copy.shape, chunk->shape, sizeof copy.shape);
  memcpy (copy.from_strides, view->strides, sizeof copy.from_strides);
  if (!rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                     copy.to_strides))
    return rd_fail (RADIO_ERROR_FORMAT, "shard index: too large");
  return rd_copy_run (&copy);
}

enum radio_status
rd_shard_index_decode (const struct rd_codec *sharding,
                       const struct rd_chunk *shard,
                       struct rd_scratch *scratch,
                       const void *encoded, size_t nbytes,
                       uint64_t shard_nbytes, struct rd_shard_index **index)
{
  struct rd_chunk chunk;
  struct rd_view view;
  uint64_t expected = rd_shard_index_nbytes (sharding, shard);
  if (nbytes != expected)
    return rd_fail (RADIO_ERROR_FORMAT, "shard index: %zu bytes instead of "
                    "%" PRIu64, nbytes, expected);
  rd_shard_index_chunk (sharding, shard, &chunk);
  enum radio_status status = rd_chain_decode (
    sharding->u.sharding.index, &chunk, scratch, encoded, nbytes, &view);
  if (status != RADIO_OK)
    return rd_fail_in (status, "shard index");

  uint64_t n = count_inner (sharding, shard);
  size_t size = sizeof (struct rd_shard_index)
    + (size_t) n * sizeof (struct rd_shard_entry);
  RD_FREE struct rd_shard_index *result = rd_malloc (size);
  if (!result)
    return rd_fail_memory (size);
  result->n = n;
  RD_TRY (take_entries (&chunk, &view, result));
  for (uint64_t i = 0; i < n; i++)
    RD_TRY (check_entry (i, &result->entries[i], shard_nbytes));
  *index = RD_STEAL (result);
  return RADIO_OK;
}

enum radio_status
rd_shard_index_encode (const struct rd_codec *sharding,
                       const struct rd_chunk *shard,
                       struct rd_scratch *scratch,
                       const struct rd_shard_index *index,
                       struct rd_buffer *out)
{
  struct rd_chunk chunk;
  rd_shard_index_chunk (sharding, shard, &chunk);
  return rd_chain_encode (sharding->u.sharding.index, &chunk, scratch,
                          index->entries, out);
}
