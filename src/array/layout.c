/* SPDX-License-Identifier: MIT */
/* Deriving an array's layout from its document. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/layout.h"
#include "src/element/box.h"

void
rd_layout_make (const struct rd_array_doc *doc, uint64_t memory_limit_nbytes,
                struct rd_layout *layout)
{
  memset (layout, 0, sizeof *layout);
  layout->rank = doc->rank;
  layout->shape = doc->shape;
  layout->chunk.rank = doc->rank;
  layout->chunk.type = doc->type;
  layout->chunk.fill = doc->fill;
  layout->chunk.strings_nbytes = memory_limit_nbytes / RD_STRINGS_SHARE;
  for (size_t i = 0; i < doc->rank; i++) {
    layout->chunk.shape[i] = doc->chunk_shape[i];
    layout->chunks[i] = rd_div_up (doc->shape[i], doc->chunk_shape[i]);
    layout->grid[i] = 1;
  }
  layout->tile = layout->chunk;
  layout->chain = doc->chain;
  layout->ntiles = 1;
  const struct rd_codec *first = &doc->chain->codecs[0];
  if (doc->chain->n == 1 && first->id == RD_CODEC_SHARDING) {
    layout->sharding = first;
    layout->chain = first->u.sharding.inner;
    rd_shard_layout (first, &layout->chunk, layout->grid, &layout->tile);
    layout->index_nbytes = rd_shard_index_nbytes (first, &layout->chunk);
    for (size_t i = 0; i < doc->rank; i++)
      layout->ntiles *= layout->grid[i];
  }
  const struct rd_chain *chain = layout->chain;
  layout->decode_site = rd_chain_decode_site (chain);
  layout->tile_nbytes = rd_chunk_nbytes (&layout->tile);
  uint64_t bound = rd_chain_bound (chain, &layout->tile);
  if (bound == UINT64_MAX || doc->type.dtype == RADIO_STRING)
    bound = rd_add_sat (layout->tile_nbytes, layout->tile_nbytes / 8 + 65536);
  layout->tile_bound_nbytes = bound;
  /* Shards within shards may have gaps of any size. */
  bool has_bound = chain->codecs[chain->n_array].id == RD_CODEC_BYTES;
  layout->tile_most_nbytes = has_bound ? rd_add_sat (bound, 1) : UINT64_MAX;
  layout->decode_nbytes = rd_chain_decode_nbytes (chain, &layout->tile);
  layout->encode_nbytes = rd_add_sat (
    layout->tile_nbytes, rd_chain_encode_nbytes (chain, &layout->tile));
}

/* Finds the coordinates of a tile in its chunk. */
static void
locate_tile (const struct rd_layout *layout, uint64_t tile, uint64_t *at)
{
  for (size_t i = layout->rank; i-- > 0;) {
    at[i] = tile % layout->grid[i];
    tile /= layout->grid[i];
  }
}

struct radio_box
rd_layout_tile (const struct rd_layout *layout, const uint64_t *chunk,
                uint64_t tile)
{
  uint64_t at[RADIO_MAX_RANK];
  struct radio_box box = { .rank = layout->rank };
  locate_tile (layout, tile, at);
  for (size_t i = 0; i < layout->rank; i++) {
    box.size[i] = layout->tile.shape[i];
    box.start[i] = chunk[i] * layout->chunk.shape[i] + at[i] * box.size[i];
  }
  return box;
}

uint64_t
rd_layout_first_tile (const struct rd_layout *layout, const uint64_t *chunk)
{
  uint64_t number = 0;
  for (size_t i = 0; i < layout->rank; i++)
    number = number * layout->chunks[i] + chunk[i];
  return number * layout->ntiles;
}

uint64_t
rd_layout_tile_at (const struct rd_layout *layout, const uint64_t *start)
{
  uint64_t chunk[RADIO_MAX_RANK], tile = 0;
  for (size_t i = 0; i < layout->rank; i++) {
    chunk[i] = start[i] / layout->chunk.shape[i];
    tile = tile * layout->grid[i]
      + start[i] % layout->chunk.shape[i] / layout->tile.shape[i];
  }
  return rd_layout_first_tile (layout, chunk) + tile;
}

const char *
rd_layout_tile_name (const struct rd_layout *layout, uint64_t tile,
                     char name[RD_TILE_NAME_NBYTES])
{
  uint64_t at[RADIO_MAX_RANK];
  locate_tile (layout, tile, at);
  int n = snprintf (name, RD_TILE_NAME_NBYTES, "tile (");
  for (size_t i = 0; i < layout->rank; i++)
    n += snprintf (name + n, RD_TILE_NAME_NBYTES - (size_t) n,
                   "%s%" PRIu64, i ? ", " : "", at[i]);
  snprintf (name + n, RD_TILE_NAME_NBYTES - (size_t) n, ")");
  return name;
}

/* The recorder's limit of a text. */
#define LIST_NBYTES 1024

/* Appended to a truncated list. */
#define MORE " ..."

void
rd_annotate_shapes (size_t rank, const uint64_t *array,
                    const uint64_t *shard, const uint64_t *tile)
{
  char text[RD_SHAPE_NBYTES];
  RD_NOTE ("array shape", rd_shape_text (rank, array, text));
  RD_NOTE ("shard shape", rd_shape_text (rank, shard, text));
  RD_NOTE ("tile shape", rd_shape_text (rank, tile, text));
}

void
rd_annotate_boxes (const struct rd_layout *layout,
                   const struct radio_request *requests, size_t n)
{
  char start[RD_SHAPE_NBYTES], size[RD_SHAPE_NBYTES], list[LIST_NBYTES];
  if (!radio_profile_is_on ())
    return;
  rd_annotate_shapes (layout->rank, layout->shape, layout->chunk.shape,
                      layout->tile.shape);
  if (n == 0)
    return;
  const struct radio_box *box = &requests[0].box;
  RD_NOTE ("box start", rd_shape_text (box->rank, box->start, start));
  RD_NOTE ("box shape", rd_shape_text (box->rank, box->size, size));
  if (n == 1)
    return;

  /* "8,0,0+1,512,512 9,0,0+1,512,512 ...": starts and sizes. */
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    box = &requests[i].box;
    size_t room = LIST_NBYTES - used;
    int nbytes = snprintf (list + used, room, "%s%s+%s", i ? " " : "",
                           rd_shape_text (box->rank, box->start, start),
                           rd_shape_text (box->rank, box->size, size));
    if ((size_t) nbytes + sizeof MORE > room) {
      snprintf (list + used, room, "%s", MORE);
      break;
    }
    used += (size_t) nbytes;
  }
  RD_NOTE ("boxes", list);
}
