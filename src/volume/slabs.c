/* SPDX-License-Identifier: MIT */
/* The cutting of a stream's box into slabs. */
#include <config.h>

#include "src/base/checked.h"
#include "src/volume/stream.h"

/* The bytes of all elements behind one of the axis at a place of the
 * order. */
static uint64_t
inner_nbytes (const struct rd_stream *stream, size_t place)
{
  uint64_t nbytes = stream->item_nbytes;
  for (size_t i = place + 1; i < stream->box.rank; i++)
    nbytes = rd_mul_sat (nbytes, stream->box.size[stream->order[i]]);
  return nbytes;
}

/* How thick a layer of whole tiles is, in elements of the box. */
static uint64_t
layer_size (const struct rd_stream *stream, const uint64_t *tile_shape,
            size_t place)
{
  size_t axis = stream->order[place];
  return rd_min_u64 (tile_shape[axis], stream->box.size[axis]);
}

/* The slowest axis whose layers of tiles fit the target.  Cutting behind an
 * axis whose tiles are thicker than one element decodes them again and
 * again: that is done only for what max_nbytes does not allow otherwise. */
static size_t
choose_cut (const struct rd_stream *stream, const uint64_t *tile_shape,
            uint64_t target_nbytes, uint64_t max_nbytes)
{
  size_t cut = 0;
  uint64_t cut_nbytes = UINT64_MAX;
  bool decoded_once = true;
  for (size_t place = 0; place < stream->box.rank; place++) {
    if (!decoded_once && cut_nbytes <= max_nbytes)
      break;
    uint64_t layer = layer_size (stream, tile_shape, place);
    cut = place;
    cut_nbytes = rd_mul_sat (layer, inner_nbytes (stream, place));
    if (cut_nbytes <= target_nbytes)
      break;
    decoded_once = decoded_once && layer == 1;
  }
  return cut;
}

void
rd_slabs_choose (const struct rd_stream *stream, const uint64_t *tile_shape,
                 uint64_t target_nbytes, uint64_t max_nbytes,
                 struct rd_slabs *slabs)
{
  size_t cut = choose_cut (stream, tile_shape, target_nbytes, max_nbytes);
  uint64_t layer = layer_size (stream, tile_shape, cut);
  uint64_t inner = inner_nbytes (stream, cut);
  uint64_t step = target_nbytes / inner / layer * layer;
  if (step == 0)
    step = rd_mul_sat (layer, inner) <= max_nbytes ? layer
                                                   : max_nbytes / inner;
  slabs->cut = cut;
  slabs->step = rd_max_u64 (step, 1);
}

/* Set a slab's extent on the axis that is cut: up to the next multiple of
 * the step, or the box's end. */
static void
set_extent (const struct rd_stream *stream, const struct rd_slabs *slabs,
            struct radio_box *slab)
{
  size_t axis = stream->order[slabs->cut];
  uint64_t start = slab->start[axis];
  uint64_t left = stream->box.start[axis] + stream->box.size[axis] - start;
  slab->size[axis] = rd_min_u64 (slabs->step - start % slabs->step, left);
}

void
rd_slabs_first (const struct rd_stream *stream, const struct rd_slabs *slabs,
                struct radio_box *slab)
{
  *slab = stream->box;
  for (size_t i = 0; i < slabs->cut; i++)
    slab->size[stream->order[i]] = 1;
  set_extent (stream, slabs, slab);
}

bool
rd_slabs_next (const struct rd_stream *stream, const struct rd_slabs *slabs,
               struct radio_box *slab)
{
  for (size_t place = slabs->cut + 1; place-- > 0;) {
    size_t axis = stream->order[place];
    uint64_t first = stream->box.start[axis];
    slab->start[axis] += slab->size[axis];
    if (slab->start[axis] - first < stream->box.size[axis]) {
      set_extent (stream, slabs, slab);
      return true;
    }
    slab->start[axis] = first;
  }
  return false;
}
