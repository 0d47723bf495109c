/* SPDX-License-Identifier: MIT */
/* Hash tables with a list in order of use, each behind a mutex. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/checked.h"
#include "profiler/base/cleanup.h"
#include "src/array/tile-cache.h"

/* A part is as large as some hundred tiles, so that each has a fair share of
 * those in use at one time. */
#define PART_NBYTES ((uint64_t) 4 << 20)
#define MAX_PARTS 16

#define NBUCKETS 256                  /* a power of two */

struct part {
  pthread_mutex_t mutex;
  struct {
    struct rd_cached_tile **buckets;  /* made when first needed */
    struct rd_cached_tile *newest, *oldest;
    uint64_t nbytes;
  } synced;
};

struct rd_tile_cache {
  uint64_t max_nbytes;                /* of each part */
  unsigned nparts;
  struct part parts[MAX_PARTS];
};

enum radio_status
rd_tile_cache_open (uint64_t max_nbytes, struct rd_tile_cache **result)
{
  struct rd_tile_cache *cache = rd_calloc (1, sizeof *cache);
  if (!cache)
    return rd_fail_memory (sizeof *cache);
  uint64_t n = rd_min_u64 (max_nbytes / PART_NBYTES, MAX_PARTS);
  cache->nparts = (unsigned) rd_max_u64 (n, 1);
  cache->max_nbytes = max_nbytes / cache->nparts;
  for (unsigned i = 0; i < cache->nparts; i++)
    pthread_mutex_init (&cache->parts[i].mutex, NULL);
  *result = cache;
  return RADIO_OK;
}

static void
free_chain (struct rd_cached_tile *tile)
{
  while (tile) {
    struct rd_cached_tile *older = tile->synced.older;
    rd_free (tile);
    tile = older;
  }
}

void
rd_tile_cache_close (struct rd_tile_cache *cache)
{
  if (!cache)
    return;
  for (unsigned i = 0; i < cache->nparts; i++) {
    struct part *part = &cache->parts[i];
    free_chain (part->synced.newest);
    rd_free (part->synced.buckets);
    pthread_mutex_destroy (&part->mutex);
  }
  rd_free (cache);
}

uint64_t
rd_tile_cache_share (const struct rd_tile_cache *cache)
{
  return cache->max_nbytes * cache->nparts / 2;
}

static uint64_t
hash_key (const struct rd_tile_key *key)
{
  uint64_t words[RADIO_MAX_RANK + 2], h = 0x9e3779b97f4a7c15;
  _Static_assert (sizeof words == sizeof *key, "there is padding");
  memcpy (words, key, sizeof words);
  for (size_t i = 0; i < RADIO_MAX_RANK + 2; i++) {
    h = (h ^ words[i]) * 0xbf58476d1ce4e5b9;
    h ^= h >> 29;
  }
  return h;
}

static struct part *
part_of (struct rd_tile_cache *cache, uint64_t hash)
{
  return &cache->parts[(hash >> 32) % cache->nparts];
}

static uint64_t
tile_nbytes (const struct rd_cached_tile *tile)
{
  return sizeof *tile + tile->nbytes;
}

/* The link that points to a tile, or to the end of its bucket. */
static struct rd_cached_tile **
find_link_synced (struct part *part, const struct rd_tile_key *key,
                  uint64_t hash)
{
  struct rd_cached_tile **link
    = &part->synced.buckets[hash & (NBUCKETS - 1)];
  while (*link && ((*link)->hash != hash
                   || memcmp (&(*link)->key, key, sizeof *key) != 0))
    link = &(*link)->synced.chain;
  return link;
}

static void
unlist_synced (struct part *part, struct rd_cached_tile *tile)
{
  if (tile->synced.newer)
    tile->synced.newer->synced.older = tile->synced.older;
  else
    part->synced.newest = tile->synced.older;
  if (tile->synced.older)
    tile->synced.older->synced.newer = tile->synced.newer;
  else
    part->synced.oldest = tile->synced.newer;
}

static void
list_newest_synced (struct part *part, struct rd_cached_tile *tile)
{
  tile->synced.newer = NULL;
  tile->synced.older = part->synced.newest;
  if (part->synced.newest)
    part->synced.newest->synced.newer = tile;
  else
    part->synced.oldest = tile;
  part->synced.newest = tile;
}

/* Take a tile out of the table.  It is the caller's to free if nobody uses
 * it; else NULL is returned, and its last user frees it. */
static struct rd_cached_tile *
remove_synced (struct part *part, struct rd_cached_tile *tile)
{
  *find_link_synced (part, &tile->key, tile->hash) = tile->synced.chain;
  unlist_synced (part, tile);
  part->synced.nbytes -= tile_nbytes (tile);
  tile->synced.cached = false;
  return tile->synced.nusers == 0 ? tile : NULL;
}

/* Make room for a tile of so many bytes; false when too much is in use.  One
 * of the same size that had to go is left in *spare. */
static bool
evict_synced (struct part *part, uint64_t max_nbytes, size_t nbytes,
              struct rd_cached_tile **spare)
{
  uint64_t need = sizeof **spare + nbytes;
  struct rd_cached_tile *tile = part->synced.oldest;
  while (tile && part->synced.nbytes + need > max_nbytes) {
    struct rd_cached_tile *newer = tile->synced.newer;
    if (tile->synced.nusers == 0) {
      remove_synced (part, tile);
      if (!*spare && tile->nbytes == nbytes)
        *spare = tile;
      else
        rd_free (tile);
    }
    tile = newer;
  }
  return part->synced.nbytes + need <= max_nbytes;
}

struct rd_cached_tile *
rd_tile_cache_find (struct rd_tile_cache *cache,
                    const struct rd_tile_key *key)
{
  uint64_t hash = hash_key (key);
  struct part *part = part_of (cache, hash);
  RD_LOCK_SCOPE (&part->mutex);
  if (!part->synced.buckets)
    return NULL;
  struct rd_cached_tile *tile = *find_link_synced (part, key, hash);
  if (!tile)
    return NULL;
  tile->synced.nusers++;
  unlist_synced (part, tile);
  list_newest_synced (part, tile);
  return tile;
}

/* Count the bytes of a tile that is not there, before it is; *spare is memory
 * for it if some fell free. */
static bool
reserve (struct rd_tile_cache *cache, struct part *part,
         const struct rd_tile_key *key, uint64_t hash, size_t nbytes,
         struct rd_cached_tile **spare)
{
  RD_LOCK_SCOPE (&part->mutex);
  if (!part->synced.buckets)
    part->synced.buckets = rd_calloc (NBUCKETS,
                                      sizeof (*part->synced.buckets));
  if (!part->synced.buckets || *find_link_synced (part, key, hash)
      || !evict_synced (part, cache->max_nbytes, nbytes, spare))
    return false;
  part->synced.nbytes += sizeof **spare + nbytes;
  return true;
}

/* Enter a tile whose bytes are counted (also when it is NULL), unless
 * another thread has entered the same; it is freed then. */
static void
enter (struct part *part, struct rd_cached_tile *tile, size_t nbytes)
{
  pthread_mutex_lock (&part->mutex);
  struct rd_cached_tile **link = NULL;
  if (tile)
    link = find_link_synced (part, &tile->key, tile->hash);
  bool is_new = link && !*link;
  if (is_new) {
    *link = tile;
    tile->synced.cached = true;
    list_newest_synced (part, tile);
  } else
    part->synced.nbytes -= sizeof *tile + nbytes;
  pthread_mutex_unlock (&part->mutex);
  if (!is_new)
    rd_free (tile);
}

void
rd_tile_cache_add (struct rd_tile_cache *cache,
                   const struct rd_tile_key *key, const void *elements,
                   size_t nbytes)
{
  uint64_t hash = hash_key (key);
  struct part *part = part_of (cache, hash);
  struct rd_cached_tile *tile = NULL;
  bool has_room = nbytes <= cache->max_nbytes
    && reserve (cache, part, key, hash, nbytes, &tile);
  if (!has_room) {
    rd_free (tile);
    return;
  }
  if (!tile)
    tile = rd_malloc (sizeof *tile + nbytes);
  if (tile) {
    memset (tile, 0, sizeof *tile);
    tile->key = *key;
    tile->hash = hash;
    tile->nbytes = nbytes;
    memcpy (tile->data, elements, nbytes);
  }
  enter (part, tile, nbytes);
}

void
rd_tile_cache_release (struct rd_tile_cache *cache,
                       struct rd_cached_tile *tile)
{
  struct part *part = part_of (cache, tile->hash);
  pthread_mutex_lock (&part->mutex);
  bool is_last = --tile->synced.nusers == 0 && !tile->synced.cached;
  pthread_mutex_unlock (&part->mutex);
  if (is_last)
    rd_free (tile);
}

void
rd_tile_cache_forget (struct rd_tile_cache *cache, uint64_t array)
{
  for (unsigned i = 0; i < cache->nparts; i++) {
    struct part *part = &cache->parts[i];
    RD_LOCK_SCOPE (&part->mutex);
    struct rd_cached_tile *tile = part->synced.newest;
    while (tile) {
      struct rd_cached_tile *older = tile->synced.older;
      if (tile->key.array == array)
        rd_free (remove_synced (part, tile));
      tile = older;
    }
  }
}

uint64_t
rd_tile_cache_nbytes (struct rd_tile_cache *cache)
{
  uint64_t nbytes = 0;
  for (unsigned i = 0; i < cache->nparts; i++) {
    RD_LOCK_SCOPE (&cache->parts[i].mutex);
    nbytes += cache->parts[i].synced.nbytes;
  }
  return nbytes;
}
