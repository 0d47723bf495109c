/* SPDX-License-Identifier: MIT */
/* Decoded tiles, kept for reads that want them again: of a whole context,
 * bounded, those least recently used going first.  The table is in parts
 * with a lock each, so that threads seldom meet. */
#ifndef RD_TILE_CACHE_H
#define RD_TILE_CACHE_H

#include <radio/box.h>

#include "src/base/error.h"
#include "src/array/uses.h"

struct rd_tile_cache;

/* Which tile.  Entries of chunk beyond the rank are 0. */
struct rd_tile_key {
  uint64_t array;                     /* no two handles have the same */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t tile;                      /* its number in the chunk */
};

/* A tile's elements in C order and the machine's byte order. */
struct rd_cached_tile {
  struct rd_tile_key key;
  size_t nbytes;

  /* The cache's own from here on. */
  uint64_t hash;
  struct {
    unsigned nusers;
    bool cached;
    struct rd_cached_tile *chain;     /* of the same bucket */
    struct rd_use use;
  } synced;
  _Alignas (16) unsigned char data[];
};

/* max_nbytes bounds all tiles with what they are kept in; not 0.  They may
 * be in huge pages. */
enum radio_status rd_tile_cache_open (uint64_t max_nbytes, bool huge_pages,
                                      struct rd_tile_cache **cache)
  RADIO_USE_RESULT;

/* No tile may be in use. */
void rd_tile_cache_close (struct rd_tile_cache *cache);

/* The most that is worth keeping of one read. */
uint64_t rd_tile_cache_share (const struct rd_tile_cache *cache);

/* A tile, in use by the caller from then on; NULL when it is not there. */
struct rd_cached_tile *rd_tile_cache_find (struct rd_tile_cache *cache,
                                           const struct rd_tile_key *key);

/* Keep a copy of a tile, if there is memory and room for it. */
void rd_tile_cache_add (struct rd_tile_cache *cache,
                        const struct rd_tile_key *key,
                        const void *elements, size_t nbytes);

/* End the use of a tile. */
void rd_tile_cache_release (struct rd_tile_cache *cache,
                            struct rd_cached_tile *tile);

/* Forget the tiles of an array. */
void rd_tile_cache_forget (struct rd_tile_cache *cache, uint64_t array);

/* Bytes of slots in use; for tests. */
uint64_t rd_tile_cache_nbytes (struct rd_tile_cache *cache);

#endif /* RD_TILE_CACHE_H */
