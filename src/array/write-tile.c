/* SPDX-License-Identifier: MIT */
/* One tile: its elements, from where the caller has them, and its bytes. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/array/write.h"
#include "src/element/box.h"
#include "src/element/copy.h"

/* Where the first element of a part of the box lies. */
static const unsigned char *
find_element (const struct rd_given *given, const struct radio_box *part)
{
  uint64_t distance = 0;
  for (size_t i = 0; i < part->rank; i++)
    distance += (part->start[i] - given->box.start[i])
      * (uint64_t) given->strides[i];
  return given->elements + (int64_t) distance;
}

/* Whether the elements given are a C-order array of this shape already. */
static bool
is_c_order (const struct rd_given *given, const uint64_t *shape,
            const int64_t *c_strides)
{
  for (size_t i = 0; i < given->box.rank; i++)
    if (shape[i] > 1 && given->strides[i] != c_strides[i])
      return false;
  return !given->swapped;
}

static enum radio_status
copy_in (const struct rd_type *type, const struct rd_given *given,
         const struct radio_box *part, const int64_t *c_strides, void *to)
{
  struct rd_copy copy = {
    .rank = part->rank,
    .from = find_element (given, part),
    .from_type = *type,
    .from_swapped = given->swapped,
    .to = to,
    .to_dtype = type->dtype,
  };
  memcpy (copy.shape, part->size, sizeof copy.shape);
  memcpy (copy.from_strides, given->strides, sizeof copy.from_strides);
  memcpy (copy.to_strides, c_strides, sizeof copy.to_strides);
  return rd_copy_run (&copy);
}

enum radio_status
rd_write_gather (const struct rd_layout *layout,
                 const struct rd_given *given, const struct radio_box *tile,
                 struct rd_scratch *scratch, const void **elements)
{
  RD_SCOPE ("gather", RD_IN_PLACE);
  const struct rd_chunk *chunk = &layout->tile;
  int64_t c_strides[RADIO_MAX_RANK] = { 0 };
  struct radio_box part;
  *elements = NULL;
  if (!rd_box_intersect (tile, &given->box, &part))
    return RADIO_OK;
  (void) rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                       c_strides);
  bool is_whole = memcmp (part.size, chunk->shape,
                          chunk->rank * sizeof part.size[0]) == 0;
  const void *found = find_element (given, &part);
  if (!is_whole || !is_c_order (given, chunk->shape, c_strides)) {
    RD_TRY (rd_buffer_reserve (&scratch->tile,
                               (size_t) layout->tile_nbytes));
    found = scratch->tile.data;
    if (!is_whole)
      rd_chunk_fill (chunk, scratch->tile.data);
    RD_TRY (copy_in (&chunk->type, given, &part, c_strides,
                     scratch->tile.data));
    scratch->tile.nbytes = (size_t) layout->tile_nbytes;
  }
  if (!rd_chunk_is_fill (chunk, found))
    *elements = found;
  return RADIO_OK;
}

/* Room in an arena, which was made for all its tiles. */
static enum radio_status
keep (const struct rd_layout *layout, const struct rd_buffer *encoded,
      struct rd_arena *arena, struct rd_shard_entry *entry)
{
  uint64_t nbytes = encoded->nbytes;
  uint64_t offset = atomic_fetch_add (&arena->used, nbytes);
  if (offset > arena->nbytes || nbytes > arena->nbytes - offset)
    return rd_fail (RADIO_ERROR_LIMIT, "tiles grow beyond their bound of %"
                    PRIu64 " bytes when encoded", layout->tile_bound_nbytes);
  memcpy (arena->data + offset, encoded->data, nbytes);
  entry->offset = offset;
  entry->nbytes = nbytes;
  return RADIO_OK;
}

enum radio_status
rd_write_tile (const struct rd_layout *layout, const struct rd_given *given,
               const struct radio_box *tile, struct rd_scratch *scratch,
               struct rd_arena *arena, struct rd_shard_entry *entry)
{
  RD_SCOPE ("encode", RD_IN_ENCODE);
  const void *elements;
  entry->offset = entry->nbytes = RD_SHARD_MISSING;
  RD_TRY (rd_write_gather (layout, given, tile, scratch, &elements));
  if (!elements)
    return RADIO_OK;
  RD_TRY (rd_chain_encode (layout->chain, &layout->tile, scratch, elements,
                           &scratch->fetched));
  RD_TILE (encoded, layout->tile_nbytes,
           rd_layout_tile_at (layout, tile->start), scratch->fetched.nbytes);
  return keep (layout, &scratch->fetched, arena, entry);
}
