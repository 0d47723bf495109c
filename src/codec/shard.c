/* SPDX-License-Identifier: MIT */
/* The sharding_indexed codec.  A shard's index is an array of its own, encoded
 * by codecs of fixed size, so that its offset and length are known before
 * anything is read.  The codec itself is for shards that are in memory as a
 * whole: nested ones, and those with codecs around them.  (src/array reads
 * single tiles of stored shards.) */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/codec/chain.h"
#include "src/codec/shard.h"
#include "src/element/box.h"
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

/* Shards of other writers may have gaps: allow for an eighth and a header. */
uint64_t
rd_shard_bound (const struct rd_codec *sharding, const struct rd_chunk *shard)
{
  uint64_t grid[RADIO_MAX_RANK];
  struct rd_chunk inner;
  rd_shard_layout (sharding, shard, grid, &inner);
  uint64_t nbytes = rd_chain_bound (sharding->u.sharding.inner, &inner);
  for (size_t i = 0; i < shard->rank; i++)
    nbytes = rd_mul_sat (nbytes, grid[i]);
  nbytes = rd_add_sat (nbytes, rd_shard_index_nbytes (sharding, shard));
  return rd_add_sat (nbytes, nbytes / 8 + 1024);
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
  struct rd_box_copy copy = {
    .rank = chunk.rank, .from = view.data, .from_type = chunk.type,
    .from_swapped = view.swapped, .to = (unsigned char *) result->entries,
    .to_dtype = RADIO_UINT64,
  };
  memcpy (copy.shape, chunk.shape, sizeof copy.shape);
  memcpy (copy.from_strides, view.strides, sizeof copy.from_strides);
  if (!rd_c_strides (chunk.rank, chunk.shape, chunk.type.item_nbytes,
                     copy.to_strides))
    return rd_fail (RADIO_ERROR_FORMAT, "shard index: too large");
  RD_TRY (rd_box_copy_run (&copy));

  /* An entry is missing as a whole or lies within the shard.  Entries may
   * overlap: a writer may store equal chunks once. */
  for (uint64_t i = 0; i < n; i++) {
    const struct rd_shard_entry *entry = &result->entries[i];
    bool no_offset = entry->offset == RD_SHARD_MISSING;
    bool no_nbytes = entry->nbytes == RD_SHARD_MISSING;
    if (no_offset && no_nbytes)
      continue;
    if (no_offset || no_nbytes || entry->offset > shard_nbytes
        || entry->nbytes > shard_nbytes - entry->offset)
      return rd_fail (RADIO_ERROR_FORMAT, "shard index: entry %" PRIu64
                      ": %" PRIu64 " bytes at %" PRIu64 " do not lie within "
                      "the shard's %" PRIu64, i, entry->nbytes,
                      entry->offset, shard_nbytes);
  }
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

/* The state of a loop over inner chunks. */
struct walk {
  const struct rd_codec *sharding;
  const struct rd_chunk *shard;
  struct rd_codec_contexts *contexts;   /* of the outer scratch */
  struct rd_chunk inner;
  struct radio_box grid;
  int64_t strides[RADIO_MAX_RANK];      /* of the shard's elements */
  int64_t inner_strides[RADIO_MAX_RANK];
};

static enum radio_status
begin_walk (struct walk *walk, const struct rd_codec *sharding,
            const struct rd_chunk *shard, struct rd_scratch *scratch,
            const int64_t *strides)
{
  uint64_t grid[RADIO_MAX_RANK] = { 0 };
  walk->sharding = sharding;
  walk->shard = shard;
  walk->contexts = rd_contexts (scratch);
  if (!walk->contexts)
    return RADIO_ERROR_MEMORY;
  rd_shard_layout (sharding, shard, grid, &walk->inner);
  walk->grid = rd_box_whole (shard->rank, grid);
  size_t item_nbytes = shard->type.item_nbytes;
  bool fits = rd_c_strides (shard->rank, walk->inner.shape, item_nbytes,
                            walk->inner_strides);
  if (strides)
    memcpy (walk->strides, strides, shard->rank * sizeof strides[0]);
  else
    fits = fits && rd_c_strides (shard->rank, shard->shape, item_nbytes,
                                 walk->strides);
  if (!fits)
    return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: shard too large");
  return RADIO_OK;
}

/* Returns the offset of an inner chunk in the shard's elements, in bytes. */
static int64_t
inner_offset (const struct walk *walk, const uint64_t *at)
{
  int64_t offset = 0;
  for (size_t i = 0; i < walk->shard->rank; i++)
    offset += (int64_t) (at[i] * walk->inner.shape[i]) * walk->strides[i];
  return offset;
}

static struct rd_box_copy
inner_copy (const struct walk *walk)
{
  struct rd_box_copy copy = { .rank = walk->shard->rank,
                              .from_type = walk->shard->type,
                              .to_dtype = RADIO_STORED };
  memcpy (copy.shape, walk->inner.shape, sizeof copy.shape);
  return copy;
}

/* Adds the inner chunk to the message. */
static enum radio_status
fail_inner (const struct walk *walk, const uint64_t *at,
            enum radio_status status)
{
  char text[RADIO_MAX_RANK * 21 + 1];
  size_t n = 0;
  for (size_t i = 0; i < walk->shard->rank; i++)
    n += (size_t) snprintf (text + n, sizeof text - n, "%s%" PRIu64,
                            i ? "," : "", at[i]);
  return rd_fail_in (status, "inner chunk %s", text);
}

/* Decodes or fills one inner chunk into its place. */
static enum radio_status
decode_inner (const struct walk *walk, const struct rd_shard_entry *entry,
              struct rd_bytes in, unsigned char *to)
{
  struct rd_box_copy copy = inner_copy (walk);
  struct rd_view view = { .data = walk->shard->fill };
  if (entry->offset != RD_SHARD_MISSING)
    RD_TRY (rd_chain_decode (walk->sharding->u.sharding.inner, &walk->inner,
                             &walk->contexts->nested,
                             in.data + entry->offset, (size_t) entry->nbytes,
                             &view));
  copy.from = view.data;
  copy.from_swapped = view.swapped;
  memcpy (copy.from_strides, view.strides, sizeof copy.from_strides);
  copy.to = to;
  memcpy (copy.to_strides, walk->strides, sizeof copy.to_strides);
  return rd_box_copy_run (&copy);
}

enum radio_status
rd_sharding_decode (const struct rd_codec *sharding,
                    const struct rd_chunk *shard, struct rd_scratch *scratch,
                    struct rd_bytes in, unsigned char *out)
{
  struct walk walk = { 0 };
  RD_FREE struct rd_shard_index *index = NULL;
  RD_TRY (begin_walk (&walk, sharding, shard, scratch, NULL));
  uint64_t nbytes = rd_shard_index_nbytes (sharding, shard);
  if (in.nbytes < nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: a shard of %zu "
                    "bytes cannot hold its index of %" PRIu64, in.nbytes,
                    nbytes);
  size_t offset = sharding->u.sharding.index_at_start
    ? 0 : in.nbytes - (size_t) nbytes;
  RD_TRY (rd_shard_index_decode (sharding, shard, &walk.contexts->nested,
                                 in.data + offset, (size_t) nbytes,
                                 in.nbytes, &index));

  uint64_t at[RADIO_MAX_RANK] = { 0 };
  uint64_t i = 0;
  do {
    enum radio_status status = decode_inner (&walk, &index->entries[i++], in,
                                             out + inner_offset (&walk, at));
    if (status != RADIO_OK)
      return fail_inner (&walk, at, status);
  } while (rd_box_next (&walk.grid, at));
  return RADIO_OK;
}

/* Encodes one inner chunk and appends it, unless it is all fill value. */
static enum radio_status
encode_inner (const struct walk *walk, const unsigned char *from,
              struct rd_shard_entry *entry, struct rd_buffer *out)
{
  struct rd_scratch *nested = &walk->contexts->nested;
  uint64_t nbytes = rd_chunk_nbytes (&walk->inner);
  RD_TRY (rd_codec_reserve (&nested->tile, nbytes));
  nested->tile.nbytes = (size_t) nbytes;
  struct rd_box_copy copy = inner_copy (walk);
  copy.from = from;
  memcpy (copy.from_strides, walk->strides, sizeof copy.from_strides);
  copy.to = nested->tile.data;
  memcpy (copy.to_strides, walk->inner_strides, sizeof copy.to_strides);
  RD_TRY (rd_box_copy_run (&copy));

  entry->offset = entry->nbytes = RD_SHARD_MISSING;
  if (rd_chunk_is_fill (&walk->inner, nested->tile.data))
    return RADIO_OK;
  struct rd_buffer *inner = &walk->contexts->inner;
  RD_TRY (rd_chain_encode (walk->sharding->u.sharding.inner, &walk->inner,
                           nested, nested->tile.data, inner));
  entry->offset = out->nbytes;
  entry->nbytes = inner->nbytes;
  return rd_buffer_append (out, inner->data, inner->nbytes);
}

enum radio_status
rd_sharding_encode (const struct rd_codec *sharding,
                    const struct rd_chunk *shard, struct rd_scratch *scratch,
                    const unsigned char *elements, const int64_t *strides,
                    struct rd_buffer *out)
{
  bool index_at_start = sharding->u.sharding.index_at_start;
  struct walk walk = { 0 };
  RD_FREE struct rd_shard_index *index = NULL;
  RD_TRY (begin_walk (&walk, sharding, shard, scratch, strides));
  uint64_t n = radio_box_count (&walk.grid);
  size_t size = sizeof *index + (size_t) n * sizeof index->entries[0];
  index = rd_malloc (size);
  if (!index)
    return rd_fail_memory (size);
  index->n = n;
  if (index_at_start) {
    /* Reserve its bytes, to be overwritten later. */
    uint64_t nbytes = rd_shard_index_nbytes (sharding, shard);
    RD_TRY (rd_codec_reserve (out, nbytes));
    memset (out->data, 0, (size_t) nbytes);
    out->nbytes = (size_t) nbytes;
  }

  uint64_t at[RADIO_MAX_RANK] = { 0 };
  uint64_t i = 0;
  do {
    enum radio_status status =
      encode_inner (&walk, elements + inner_offset (&walk, at),
                    &index->entries[i++], out);
    if (status != RADIO_OK)
      return fail_inner (&walk, at, status);
  } while (rd_box_next (&walk.grid, at));
  struct rd_buffer *encoded = &walk.contexts->inner;
  RD_TRY (rd_shard_index_encode (sharding, shard, &walk.contexts->nested,
                                 index, encoded));
  if (!index_at_start)
    return rd_buffer_append (out, encoded->data, encoded->nbytes);
  memcpy (out->data, encoded->data, encoded->nbytes);
  return RADIO_OK;
}
