/* SPDX-License-Identifier: MIT */
/* How an array is stored: chunks, which are objects, made of tiles, each of
 * which is decoded as a whole.
 *
 * Where the only codec is sharding_indexed, a tile is an inner chunk and is
 * fetched by its bytes alone.  In all other arrays (no sharding, or codecs
 * before or after it) the tile is the whole chunk. */
#ifndef RD_LAYOUT_H
#define RD_LAYOUT_H

#include <radio/array.h>

#include "src/codec/shard.h"
#include "src/zarr/document.h"

struct rd_layout {
  size_t rank;
  const uint64_t *shape;                  /* of the array */
  uint64_t chunks[RADIO_MAX_RANK];        /* of the array, by axis */
  struct rd_chunk chunk;
  struct rd_chunk tile;
  const struct rd_codec *sharding;        /* NULL: a tile is a chunk */
  const struct rd_chain *chain;           /* of a tile */
  const struct radio_site *decode_site;   /* the scope of decoding one */
  uint64_t grid[RADIO_MAX_RANK];          /* tiles of a chunk, by axis */
  uint64_t ntiles;                        /* of a chunk */
  uint64_t tile_nbytes;                   /* of its elements */
  uint64_t tile_bound_nbytes;             /* encoded, at most; a guess when no
                                             codec has a bound */
  uint64_t tile_most_nbytes;              /* to read of one: a byte more, or
                                             UINT64_MAX */
  uint64_t decode_nbytes;                 /* memory to decode one tile,
                                             besides its encoded bytes */
  uint64_t encode_nbytes;                 /* memory to encode one tile,
                                             its encoded bytes included */
  uint64_t index_nbytes;                  /* encoded; 0 without sharding */
};

/* The text of one tile of strings takes at most the memory limit divided by
 * this, so that some threads can decode one each. */
#define RD_STRINGS_SHARE 16

/* Derives the layout from a document, which must outlive it, and the context's
 * memory limit. */
void rd_layout_make (const struct rd_array_doc *doc,
                     uint64_t memory_limit_nbytes, struct rd_layout *layout);

/* Returns the box of a tile in the array, not clipped, from its chunk and its
 * number there in C order. */
struct radio_box rd_layout_tile (const struct rd_layout *layout,
                                 const uint64_t *chunk, uint64_t tile);

/* Returns the number of a chunk's first tile among all of the array, which are
 * counted chunk after chunk, in each of them in C order, those beyond the
 * array's end too; modulo 2^64. */
uint64_t rd_layout_first_tile (const struct rd_layout *layout,
                               const uint64_t *chunk);

/* Returns the number of the tile that starts at an element. */
uint64_t rd_layout_tile_at (const struct rd_layout *layout,
                            const uint64_t *start);

/* "tile (0, 3, 2)": a tile's place in its chunk; for messages. */
#define RD_TILE_NAME_NBYTES (RADIO_MAX_RANK * 22 + 8)
const char *rd_layout_tile_name (const struct rd_layout *layout,
                                 uint64_t tile,
                                 char name[RD_TILE_NAME_NBYTES]);

/* Annotations in profiles: from them, and from the numbers of tiles
 * (RD_TILE), a viewer knows which tiles an operation read or wrote.
 * docs/profile.md lists the texts. */

/* Annotates the innermost scope with the shapes of an array. */
void rd_annotate_shapes (size_t rank, const uint64_t *array,
                         const uint64_t *shard, const uint64_t *tile);

/* Annotates the innermost scope with the layout's shapes, the first box and,
 * if there are several, a list of them, which has room for some dozens.  Does
 * nothing unless a profile is recorded. */
void rd_annotate_boxes (const struct rd_layout *layout,
                        const struct radio_request *requests, size_t n);

#endif /* RD_LAYOUT_H */
