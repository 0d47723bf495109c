/* SPDX-License-Identifier: MIT */
/* Planning a read.  Three words are used for its pieces:
 *
 *   chunk   the part of one chunk that one request wants
 *   tile    one tile of such a chunk
 *   fetch   tiles that are read together, by one request to the store
 *
 * Boxes are split into chunks, these into tiles, and tiles are joined to
 * fetches.  A plan is made in parts, so that a box of any size is planned in
 * bounded memory; a small read's plan needs no allocation. */
#ifndef RD_PLAN_H
#define RD_PLAN_H

#include <radio/array.h>

#include "src/array/cache/reads.h"
#include "src/array/layout.h"

/* The most chunks of one part of a plan. */
#define RD_PLAN_MAX_CHUNKS 1024

struct rd_plan_chunk {
  size_t request;
  uint64_t chunk[RADIO_MAX_RANK];     /* coordinates */
  struct radio_box tiles;             /* in the chunk's grid of tiles */
  uint64_t first, n;                  /* the planned ones, in C order */
  uint64_t number_base;               /* of its first tile, among all tiles of
                                         the array */

  /* Set when the indexes were read, in the first of all requests' entries for
   * a chunk, which follow each other. */
  struct rd_index_entry *entry;
  struct rd_io_file *file;            /* its object, held, or NULL */
  uint64_t version;                   /* of that file when it was held, or 0:
                                         not of those that never change */
  bool missing;                       /* there is no such object */
  bool failed;                        /* its index is damaged */
  uint32_t first_tile;                /* in the plan's tiles */
};

struct rd_plan_tile {
  struct rd_cached_tile *cached;      /* in use until the part is done */
  uint64_t offset, nbytes;            /* in the object */
  uint64_t tile;                      /* number in the chunk, or: */
  uint32_t chunk;                     /* in the plan's chunks */
};
#define RD_TILE_WHOLE_CHUNK UINT64_MAX  /* all of a chunk that is missing */

/* The offset of a cached tile, beyond those of others. */
#define RD_OFFSET_CACHED (RD_SHARD_MISSING - 1)

enum rd_fetch_kind {
  RD_FETCH_FILL,                      /* nothing is stored */
  RD_FETCH_CACHED,                    /* cached tiles */
  RD_FETCH_SPAN,                      /* some tiles of a shard */
  RD_FETCH_OBJECT,                    /* a whole object, one tile */
};

/* Entries of tiles that are equal (of several requests) follow each other. */
struct rd_plan_fetch {
  enum rd_fetch_kind kind;
  uint32_t first, n;                  /* tiles */
  uint64_t offset, nbytes;            /* SPAN */
  uint64_t shard_nbytes;              /* SPAN */
  uint64_t shard_version;             /* SPAN */
  struct rd_io_file *file;            /* the object, held, or NULL */
};

#define RD_PLAN_INLINE 16

/* One part of a plan. */
struct rd_plan {
  struct rd_plan_chunk *chunks;
  struct rd_plan_tile *tiles;
  struct rd_plan_fetch *fetches;
  uint32_t nchunks, ntiles, nfetches;
  uint32_t max_chunks, max_tiles, max_fetches;    /* allocated */
  uint32_t ncached;                   /* tiles */
  uint64_t max_fetch_nbytes;          /* of the largest fetch */
  struct rd_plan_chunk inline_chunks[RD_PLAN_INLINE / 2];
  struct rd_plan_tile inline_tiles[RD_PLAN_INLINE];
  struct rd_plan_fetch inline_fetches[RD_PLAN_INLINE];
};

void rd_plan_init (struct rd_plan *plan);
void rd_plan_free (struct rd_plan *plan);
#define RD_PLAN_SCOPE RD_CLEANUP (rd_plan_free)

/* The progress of planning. */
struct rd_plan_cursor {
  const struct rd_layout *layout;
  const struct radio_request *requests;
  size_t n, at;
  bool inside;                        /* requests[at] was begun */
  struct radio_box chunks;            /* that it overlaps */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t first;                     /* tiles of the chunk already planned */
};

/* Replaces the plan's chunks by the next ones, those of one chunk together;
 * nchunks is 0 at the end.  max_index_nbytes bounds the indexes that they
 * need, beyond one. */
enum radio_status rd_plan_chunks (struct rd_plan_cursor *cursor,
                                  uint64_t max_index_nbytes,
                                  struct rd_plan *plan) RADIO_USE_RESULT;

/* How to join tiles to one fetch. */
struct rd_coalesce {
  uint64_t gap_nbytes, cap_nbytes;
  unsigned nworkers;                  /* that shall have some fetches each;
                                         0: fetches are as large as the cap */
};

/* The cached tiles of an array. */
struct rd_cache_ref {
  struct rd_tile_cache *tiles;        /* NULL: none */
  uint64_t array;
};

/* Returns the key of a chunk's tile in the cache. */
struct rd_tile_key rd_plan_tile_key (const struct rd_cache_ref *cache,
                                     const struct rd_plan_chunk *chunk,
                                     const struct rd_plan_tile *tile);

/* Plans tiles and fetches of the plan's chunks, whose indexes were set. */
enum radio_status rd_plan_fetches (const struct rd_layout *layout,
                                   const struct rd_coalesce *coalesce,
                                   const struct rd_cache_ref *cache,
                                   struct rd_plan *plan) RADIO_USE_RESULT;

/* Ends the use of cached tiles. */
void rd_plan_release_cached (const struct rd_cache_ref *cache,
                             struct rd_plan *plan);

/* True when the plan's chunk i is the first entry of its chunk. */
bool rd_plan_is_first (const struct rd_plan *plan, uint32_t i);

#endif /* RD_PLAN_H */
