/* SPDX-License-Identifier: MIT */
/* One tile's elements, from where the caller has them. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/array/write.h"
#include "src/box.h"
#include "src/copy.h"

/* Where the first element of a part of the box lies. */
static const unsigned char *
find_element (const struct rd_write *write, const struct radio_box *part)
{
  uint64_t distance = 0;
  for (size_t i = 0; i < part->rank; i++)
    distance += (part->start[i] - write->box.start[i])
      * (uint64_t) write->strides[i];
  return write->elements + (int64_t) distance;
}

/* Whether elements with the write's strides are a C-order array of this
 * shape already. */
static bool
is_c_order (const struct rd_write *write, const uint64_t *shape,
            const int64_t *c_strides)
{
  for (size_t i = 0; i < write->box.rank; i++)
    if (shape[i] > 1 && write->strides[i] != c_strides[i])
      return false;
  return true;
}

static enum radio_status
copy_in (const struct rd_write *write, const struct radio_box *part,
         const int64_t *c_strides, void *to)
{
  const struct rd_type *type = &write->array->doc->type;
  struct rd_copy copy = {
    .rank = part->rank,
    .from = find_element (write, part),
    .from_type = *type,
    .to = to,
    .to_dtype = type->dtype,
  };
  memcpy (copy.shape, part->size, sizeof copy.shape);
  memcpy (copy.from_strides, write->strides, sizeof copy.from_strides);
  memcpy (copy.to_strides, c_strides, sizeof copy.to_strides);
  return rd_copy_run (&copy);
}

enum radio_status
rd_write_gather (const struct rd_write *write, const struct radio_box *tile,
                 struct rd_scratch *scratch, const void **elements)
{
  RD_SCOPE ("gather", RD_IN_PLACE);
  const struct rd_layout *layout = &write->array->layout;
  const struct rd_chunk *chunk = &layout->tile;
  int64_t c_strides[RADIO_MAX_RANK] = { 0 };
  struct radio_box part;
  *elements = NULL;
  if (!rd_box_intersect (tile, &write->box, &part))
    return RADIO_OK;
  (void) rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                       c_strides);
  bool is_whole = memcmp (part.size, chunk->shape,
                          chunk->rank * sizeof part.size[0]) == 0;
  const void *found = find_element (write, &part);
  if (!is_whole || !is_c_order (write, chunk->shape, c_strides)) {
    RD_TRY (rd_buffer_reserve (&scratch->tile,
                               (size_t) layout->tile_nbytes));
    found = scratch->tile.data;
    if (!is_whole)
      rd_chunk_fill (chunk, scratch->tile.data);
    RD_TRY (copy_in (write, &part, c_strides, scratch->tile.data));
    scratch->tile.nbytes = (size_t) layout->tile_nbytes;
  }
  if (!rd_chunk_is_fill (chunk, found))
    *elements = found;
  return RADIO_OK;
}
