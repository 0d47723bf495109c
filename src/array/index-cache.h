/* SPDX-License-Identifier: MIT */
/* The indexes of an array's shards, decoded and checked, kept by chunk.
 * Those least recently used go when the cache is full; one that is in use
 * stays until it was released. */
#ifndef RD_INDEX_CACHE_H
#define RD_INDEX_CACHE_H

#include "src/array/uses.h"
#include "src/codec/shard.h"

struct rd_index_cache;

struct rd_index_entry {
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t shard_nbytes;              /* the whole object's size */
  uint64_t shard_version;             /* and its version, or 0 */
  struct rd_shard_index *index;       /* owned */

  /* The cache's own from here on. */
  struct {
    unsigned nusers;
    bool cached;
    struct rd_index_entry *chain;     /* of the same bucket */
    struct rd_use use;
  } synced;
};

/* max_nbytes bounds what is kept without being in use. */
enum radio_status rd_index_cache_open (size_t rank, uint64_t max_nbytes,
                                       struct rd_index_cache **cache)
  RADIO_USE_RESULT;
void rd_index_cache_close (struct rd_index_cache *cache);

/* The entry of a chunk, in use by the caller from then on; NULL when it is
 * not there.  *generation (of the cache) is for adding what will be read. */
struct rd_index_entry *
rd_index_cache_find (struct rd_index_cache *cache, const uint64_t *chunk,
                     uint64_t *generation);

/* No cache is ever of this generation. */
#define RD_NEVER_KEPT UINT64_MAX

/* Keep an index that was read; it is taken, also on failure.  *entry is in
 * use by the caller.  When something was dropped since `generation', what
 * was read may be older than that: then it serves the caller, but is not
 * kept. */
enum radio_status
rd_index_cache_add (struct rd_index_cache *cache, const uint64_t *chunk,
                    struct rd_shard_index *index, uint64_t shard_nbytes,
                    uint64_t shard_version, uint64_t generation,
                    struct rd_index_entry **entry)
  RADIO_USE_RESULT;

/* End the use of an entry; NULL is legal. */
void rd_index_cache_release (struct rd_index_cache *cache,
                             struct rd_index_entry *entry);

/* Forget a chunk's index, since the chunk has changed. */
void rd_index_cache_drop (struct rd_index_cache *cache,
                          const uint64_t *chunk);

/* Bytes kept; for tests. */
uint64_t rd_index_cache_nbytes (struct rd_index_cache *cache);

#endif /* RD_INDEX_CACHE_H */
