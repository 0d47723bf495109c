/* SPDX-License-Identifier: MIT */
/* The sharding_indexed codec for shards that are in memory as a whole:
 * nested ones, those with codecs around them, and all that are written.
 * (Reading single tiles of a shard in a store is not done here.) */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/codec/codec.h"
#include "src/codec/contexts.h"
#include "src/codec/shard.h"
#include "src/element/copy.h"

/* What stays the same from one inner chunk to the next. */
struct walk {
  const struct rd_codec *sharding;
  const struct rd_chunk *shard;
  struct rd_codec_contexts *contexts;   /* of the scratch outside */
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

/* Where an inner chunk begins among the shard's elements, in bytes. */
static int64_t
inner_offset (const struct walk *walk, const uint64_t *at)
{
  int64_t offset = 0;
  for (size_t i = 0; i < walk->shard->rank; i++)
    offset += (int64_t) (at[i] * walk->inner.shape[i]) * walk->strides[i];
  return offset;
}

static struct rd_copy
inner_copy (const struct walk *walk)
{
  struct rd_copy copy = { .rank = walk->shard->rank,
                          .from_type = walk->shard->type,
                          .to_dtype = RADIO_STORED };
  memcpy (copy.shape, walk->inner.shape, sizeof copy.shape);
  return copy;
}

/* Name the inner chunk in front of what went wrong with it. */
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

/* Decode one inner chunk, or fill it, into its place. */
static enum radio_status
decode_inner (const struct walk *walk, const struct rd_shard_entry *entry,
              struct rd_bytes in, unsigned char *to)
{
  struct rd_copy copy = inner_copy (walk);
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
  return rd_copy_run (&copy);
}

static enum radio_status
read_index (const struct walk *walk, struct rd_bytes in,
            struct rd_shard_index **index)
{
  uint64_t nbytes = rd_shard_index_nbytes (walk->sharding, walk->shard);
  if (in.nbytes < nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: a shard of %zu "
                    "bytes cannot hold its index of %" PRIu64, in.nbytes,
                    nbytes);
  size_t at = walk->sharding->u.sharding.index_at_start
    ? 0 : in.nbytes - (size_t) nbytes;
  return rd_shard_index_decode (walk->sharding, walk->shard,
                                &walk->contexts->nested, in.data + at,
                                (size_t) nbytes, in.nbytes, index);
}

enum radio_status
rd_sharding_decode (const struct rd_codec *sharding,
                    const struct rd_chunk *shard, struct rd_scratch *scratch,
                    struct rd_bytes in, unsigned char *out)
{
  struct walk walk = { 0 };
  RD_FREE struct rd_shard_index *index = NULL;
  RD_TRY (begin_walk (&walk, sharding, shard, scratch, NULL));
  RD_TRY (read_index (&walk, in, &index));

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

/* Encode one inner chunk and append it, unless all of it is fill value. */
static enum radio_status
encode_inner (const struct walk *walk, const unsigned char *from,
              struct rd_shard_entry *entry, struct rd_buffer *out)
{
  struct rd_scratch *nested = &walk->contexts->nested;
  uint64_t nbytes = rd_chunk_nbytes (&walk->inner);
  RD_TRY (rd_codec_reserve (&nested->tile, nbytes));
  nested->tile.nbytes = (size_t) nbytes;
  struct rd_copy copy = inner_copy (walk);
  copy.from = from;
  memcpy (copy.from_strides, walk->strides, sizeof copy.from_strides);
  copy.to = nested->tile.data;
  memcpy (copy.to_strides, walk->inner_strides, sizeof copy.to_strides);
  RD_TRY (rd_copy_run (&copy));

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

static enum radio_status
make_index (const struct walk *walk, struct rd_shard_index **index)
{
  uint64_t n = radio_box_count (&walk->grid);
  size_t nbytes = sizeof **index
    + (size_t) n * sizeof (struct rd_shard_entry);
  *index = rd_malloc (nbytes);
  if (!*index)
    return rd_fail_memory (nbytes);
  (*index)->n = n;
  return RADIO_OK;
}

/* Leave room for an index at the start, to be written over later. */
static enum radio_status
skip_index (const struct walk *walk, struct rd_buffer *out)
{
  uint64_t nbytes = rd_shard_index_nbytes (walk->sharding, walk->shard);
  if (!walk->sharding->u.sharding.index_at_start)
    return RADIO_OK;
  RD_TRY (rd_codec_reserve (out, nbytes));
  memset (out->data, 0, (size_t) nbytes);
  out->nbytes = (size_t) nbytes;
  return RADIO_OK;
}

static enum radio_status
write_index (const struct walk *walk, const struct rd_shard_index *index,
             struct rd_buffer *out)
{
  struct rd_buffer *encoded = &walk->contexts->inner;
  RD_TRY (rd_shard_index_encode (walk->sharding, walk->shard,
                                 &walk->contexts->nested, index, encoded));
  if (!walk->sharding->u.sharding.index_at_start)
    return rd_buffer_append (out, encoded->data, encoded->nbytes);
  memcpy (out->data, encoded->data, encoded->nbytes);
  return RADIO_OK;
}

enum radio_status
rd_sharding_encode (const struct rd_codec *sharding,
                    const struct rd_chunk *shard, struct rd_scratch *scratch,
                    const unsigned char *elements, const int64_t *strides,
                    struct rd_buffer *out)
{
  struct walk walk = { 0 };
  RD_FREE struct rd_shard_index *index = NULL;
  RD_TRY (begin_walk (&walk, sharding, shard, scratch, strides));
  RD_TRY (make_index (&walk, &index));
  RD_TRY (skip_index (&walk, out));

  uint64_t at[RADIO_MAX_RANK] = { 0 };
  uint64_t i = 0;
  do {
    enum radio_status status =
      encode_inner (&walk, elements + inner_offset (&walk, at),
                    &index->entries[i++], out);
    if (status != RADIO_OK)
      return fail_inner (&walk, at, status);
  } while (rd_box_next (&walk.grid, at));
  return write_index (&walk, index, out);
}
