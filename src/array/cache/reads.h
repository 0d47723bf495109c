/* SPDX-License-Identifier: MIT */
/* The caches of reads, both bounded, evicting least recently used entries
 * first: the shard indexes of an array, and the decoded tiles of a context.
 * And the history of an array's reads, which decides which tiles to keep. */
#ifndef RD_CACHE_H
#define RD_CACHE_H

#include <pthread.h>

#include <radio/box.h>

#include "src/base/error.h"
#include "src/codec/shard.h"

/* An entry's links in a list in order of use. */
struct rd_lru_link {
  struct rd_lru_link *newer, *older;
};

/* Decoded and checked shard indexes, by chunk.  An entry that is in use is
 * not evicted. */
struct rd_index_cache;

struct rd_index_entry {
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t shard_nbytes;              /* the whole object's size */
  uint64_t shard_version;             /* and its version, or 0 */
  struct rd_shard_index *index;       /* owned */

  /* Private to the cache. */
  struct {
    unsigned nusers;
    bool cached;
    struct rd_index_entry *chain;     /* of the same bucket */
    struct rd_lru_link lru;
  } synced;
};

/* max_nbytes bounds the entries that are kept without being in use. */
enum radio_status rd_index_cache_open (size_t rank, uint64_t max_nbytes,
                                       struct rd_index_cache **cache)
  RADIO_USE_RESULT;
void rd_index_cache_close (struct rd_index_cache *cache);

/* Returns the entry of a chunk, in use by the caller, or NULL.  *generation
 * (of the cache) is for adding an index that is read after this. */
struct rd_index_entry *
rd_index_cache_find (struct rd_index_cache *cache, const uint64_t *chunk,
                     uint64_t *generation);

/* A generation that no cache has. */
#define RD_NEVER_KEPT UINT64_MAX

/* Adds an index that was read; it is taken, also on failure.  *entry is in use
 * by the caller.  When any index was dropped since `generation', this one may
 * be stale: then it serves the caller, but is not kept. */
enum radio_status
rd_index_cache_add (struct rd_index_cache *cache, const uint64_t *chunk,
                    struct rd_shard_index *index, uint64_t shard_nbytes,
                    uint64_t shard_version, uint64_t generation,
                    struct rd_index_entry **entry)
  RADIO_USE_RESULT;

/* Ends the use of an entry; NULL is legal. */
void rd_index_cache_release (struct rd_index_cache *cache,
                             struct rd_index_entry *entry);

/* Removes a chunk's index, since the chunk has changed.  Returns the generation
 * that begins so. */
uint64_t rd_index_cache_drop (struct rd_index_cache *cache,
                              const uint64_t *chunk);

/* Returns the bytes kept; for tests. */
uint64_t rd_index_cache_nbytes (struct rd_index_cache *cache);

/* Decoded tiles.  The table is in parts with a lock each, so that threads
 * seldom contend. */
struct rd_tile_cache;

/* Entries of chunk beyond the rank are 0. */
struct rd_tile_key {
  uint64_t array;                     /* no two handles have the same */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t tile;                      /* its number in the chunk */
};

/* A tile's elements in C order, and the array's byte order. */
struct rd_cached_tile {
  struct rd_tile_key key;
  size_t nbytes;

  /* Private to the cache. */
  uint64_t hash;
  struct {
    unsigned nusers;
    bool cached;
    struct rd_cached_tile *chain;     /* of the same bucket */
    struct rd_lru_link lru;
  } synced;
  _Alignas (16) unsigned char data[];
};

/* max_nbytes, not 0, bounds all tiles with their headers.  They may be in huge
 * pages. */
enum radio_status rd_tile_cache_open (uint64_t max_nbytes, bool huge_pages,
                                      struct rd_tile_cache **cache)
  RADIO_USE_RESULT;

/* No tile may be in use. */
void rd_tile_cache_close (struct rd_tile_cache *cache);

/* Returns how many bytes one read may keep at most. */
uint64_t rd_tile_cache_share (const struct rd_tile_cache *cache);

/* Returns a tile, in use by the caller, or NULL. */
struct rd_cached_tile *rd_tile_cache_find (struct rd_tile_cache *cache,
                                           const struct rd_tile_key *key);

/* Keeps a copy of a tile, if there is memory and room for it. */
void rd_tile_cache_add (struct rd_tile_cache *cache,
                        const struct rd_tile_key *key,
                        const void *elements, size_t nbytes);

/* Ends the use of a tile. */
void rd_tile_cache_release (struct rd_tile_cache *cache,
                            struct rd_cached_tile *tile);

/* Removes the tiles of an array. */
void rd_tile_cache_forget (struct rd_tile_cache *cache, uint64_t array);

/* Returns the bytes of slots in use; for tests. */
uint64_t rd_tile_cache_nbytes (struct rd_tile_cache *cache);

/* The boxes that were last read of an array.  Tiles are kept only if they are
 * read a second time, or will be, since plane follows plane: random reads do
 * not pay for a cache. */
#define RD_HISTORY_MAX 4

struct rd_read_history {
  pthread_mutex_t mutex;
  struct {
    unsigned n;                       /* boxes ever added */
    struct radio_box boxes[RD_HISTORY_MAX];
  } synced;
};

void rd_read_history_init (struct rd_read_history *history);
void rd_read_history_destroy (struct rd_read_history *history);

/* Decides which tiles of a read to keep. */
struct rd_admission {
  bool is_sequential;                 /* next to an earlier box of its size */
  unsigned n;
  struct radio_box boxes[RD_HISTORY_MAX];   /* read before */
};

/* Adds a box that is read and not empty, and compares it with those before. */
void rd_read_history_add (struct rd_read_history *history,
                          const struct radio_box *box,
                          struct rd_admission *admission);

/* True if a tile of that read of a box is to be kept: it was read before or, in
 * a sequential read, it extends beyond the box and so is read again next.
 * shape is the array's. */
bool rd_admits_tile (const struct rd_admission *admission,
                     const struct radio_box *box,
                     const struct radio_box *tile, const uint64_t *shape);

#endif /* RD_CACHE_H */
