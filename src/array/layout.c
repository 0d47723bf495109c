/* SPDX-License-Identifier: MIT */
/* What follows from an array's document for reading and writing. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/array/layout.h"
#include "src/element/box.h"

static void
make_sizes (struct rd_layout *layout)
{
  layout->tile_nbytes = rd_chunk_nbytes (&layout->tile);
  uint64_t bound = rd_chain_bound (layout->chain, &layout->tile);
  if (bound == UINT64_MAX)
    bound = rd_add_sat (layout->tile_nbytes, layout->tile_nbytes / 8 + 65536);
  layout->tile_bound_nbytes = bound;
  /* Shards within shards may have gaps of any size. */
  const struct rd_chain *chain = layout->chain;
  bool has_bound = chain->codecs[chain->n_array].id == RD_CODEC_BYTES;
  layout->tile_most_nbytes = has_bound ? rd_add_sat (bound, 1) : UINT64_MAX;
  layout->decode_nbytes = rd_chain_decode_nbytes (layout->chain,
                                                  &layout->tile);
  layout->encode_nbytes = rd_add_sat (
    layout->tile_nbytes, rd_chain_encode_nbytes (layout->chain,
                                                 &layout->tile));
}

void
rd_layout_make (const struct rd_array_doc *doc, struct rd_layout *layout)
{
  memset (layout, 0, sizeof *layout);
  layout->rank = doc->rank;
  layout->shape = doc->shape;
  layout->chunk.rank = doc->rank;
  layout->chunk.type = doc->type;
  layout->chunk.fill = doc->fill;
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
  layout->decode_site = rd_chain_decode_site (layout->chain);
  make_sizes (layout);
}

/* The coordinates of a tile in its chunk. */
static void
locate (const struct rd_layout *layout, uint64_t tile, uint64_t *at)
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
  locate (layout, tile, at);
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
  locate (layout, tile, at);
  int n = snprintf (name, RD_TILE_NAME_NBYTES, "tile (");
  for (size_t i = 0; i < layout->rank; i++)
    n += snprintf (name + n, RD_TILE_NAME_NBYTES - (size_t) n,
                   "%s%" PRIu64, i ? ", " : "", at[i]);
  snprintf (name + n, RD_TILE_NAME_NBYTES - (size_t) n, ")");
  return name;
}
