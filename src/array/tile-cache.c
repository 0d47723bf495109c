/* SPDX-License-Identifier: MIT */
/* Hash tables with a list in order of use, each behind a mutex.
 *
 * A tile stands in a slot of its part's share of one piece of memory, which
 * has huge pages: keeping tiles in memory allocated one by one took longer,
 * by its page faults, than decoding them.  The slots of a part are as large
 * as the largest tile that it has met since it was empty. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/array/pages.h"
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
    struct rd_uses uses;
    unsigned char *room;              /* cache->max_nbytes of slots */
    uint64_t slot_nbytes;
    uint64_t nused, ncarved;          /* slots, of those that were ever */
    struct rd_cached_tile *free;      /* those that were, in a chain */
  } synced;
};

struct rd_tile_cache {
  uint64_t max_nbytes;                /* of each part */
  bool huge_pages;
  unsigned nparts;
  pthread_mutex_t mutex;
  struct {
    unsigned char *room;              /* of all parts; made when needed */
  } synced;
  struct part parts[MAX_PARTS];
};

enum radio_status
rd_tile_cache_open (uint64_t max_nbytes, bool huge_pages,
                    struct rd_tile_cache **result)
{
  struct rd_tile_cache *cache = rd_calloc (1, sizeof *cache);
  if (!cache)
    return rd_fail_memory (sizeof *cache);
  uint64_t n = rd_min_u64 (max_nbytes / PART_NBYTES, MAX_PARTS);
  cache->nparts = (unsigned) rd_max_u64 (n, 1);
  /* Slots are aligned. */
  cache->max_nbytes = max_nbytes / cache->nparts / 16 * 16;
  cache->huge_pages = huge_pages;
  pthread_mutex_init (&cache->mutex, NULL);
  for (unsigned i = 0; i < cache->nparts; i++)
    pthread_mutex_init (&cache->parts[i].mutex, NULL);
  *result = cache;
  return RADIO_OK;
}

void
rd_tile_cache_close (struct rd_tile_cache *cache)
{
  if (!cache)
    return;
  for (unsigned i = 0; i < cache->nparts; i++) {
    struct part *part = &cache->parts[i];
    rd_free (part->synced.buckets);
    pthread_mutex_destroy (&part->mutex);
  }
  pthread_mutex_destroy (&cache->mutex);
  rd_free (cache->synced.room);
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
  uint64_t words[RADIO_MAX_RANK + 2];
  _Static_assert (sizeof words == sizeof *key, "there is padding");
  memcpy (words, key, sizeof words);
  return rd_hash_words (words, RADIO_MAX_RANK + 2);
}

static struct part *
part_of (struct rd_tile_cache *cache, uint64_t hash)
{
  return &cache->parts[(hash >> 32) % cache->nparts];
}

/* What a tile takes. */
static uint64_t
slot_nbytes (size_t nbytes)
{
  return (sizeof (struct rd_cached_tile) + (uint64_t) nbytes + 15) / 16 * 16;
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

/* Give a slot back. */
static void
free_slot_synced (struct part *part, struct rd_cached_tile *tile)
{
  tile->synced.chain = part->synced.free;
  part->synced.free = tile;
  part->synced.nused--;
}

/* Take a tile out of the table; its slot is free now or by its last user. */
static void
remove_synced (struct part *part, struct rd_cached_tile *tile)
{
  *find_link_synced (part, &tile->key, tile->hash) = tile->synced.chain;
  rd_uses_remove (&part->synced.uses, &tile->synced.use);
  tile->synced.cached = false;
  if (tile->synced.nusers == 0)
    free_slot_synced (part, tile);
}

/* Memory for all parts at once: where it is huge pages, each has some of its
 * own.  NULL when there is none. */
static unsigned char *
find_room (struct rd_tile_cache *cache)
{
  uint64_t nbytes = cache->max_nbytes * cache->nparts;
  size_t extra = nbytes < RD_PAGES_MIN_NBYTES ? 0 : RD_PAGES_HUGE_NBYTES;
  RD_LOCK_SCOPE (&cache->mutex);
  if (!cache->synced.room && nbytes <= SIZE_MAX - extra)
    cache->synced.room = rd_malloc (nbytes + extra);
  if (!cache->synced.room || extra == 0)
    return cache->synced.room;
  unsigned char *room = rd_pages_align (cache->synced.room);
  if (cache->huge_pages)
    rd_pages_advise_memory (room, nbytes);
  return room;
}

/* Make a part ready for its first tile; false without memory. */
static bool
prepare_synced (struct rd_tile_cache *cache, struct part *part)
{
  if (!part->synced.buckets)
    part->synced.buckets = rd_calloc (NBUCKETS,
                                      sizeof (*part->synced.buckets));
  if (!part->synced.room) {
    unsigned char *room = find_room (cache);
    size_t number = (size_t) (part - cache->parts);
    if (room)
      part->synced.room = room + number * cache->max_nbytes;
  }
  return part->synced.buckets && part->synced.room;
}

/* Let those that nobody uses go, the longest unused first, until n slots at
 * most are in use. */
static void
evict_synced (struct part *part, uint64_t n)
{
  struct rd_use *use = part->synced.uses.oldest;
  while (use && part->synced.nused > n) {
    struct rd_cached_tile *tile = RD_USED_ENTRY (use, rd_cached_tile);
    use = use->newer;
    if (tile->synced.nusers == 0)
      remove_synced (part, tile);
  }
}

/* Have slots that are large enough; false while smaller ones are in use. */
static bool
fit_slots_synced (struct part *part, uint64_t nbytes)
{
  if (nbytes > part->synced.slot_nbytes)
    evict_synced (part, 0);
  if (part->synced.nused == 0) {
    part->synced.slot_nbytes = nbytes;
    part->synced.ncarved = 0;
    part->synced.free = NULL;
  }
  return nbytes <= part->synced.slot_nbytes;
}

/* A slot for a tile that is not there; NULL when there is none. */
static struct rd_cached_tile *
take_slot_synced (struct rd_tile_cache *cache, struct part *part,
                  uint64_t nbytes)
{
  if (nbytes > cache->max_nbytes || !fit_slots_synced (part, nbytes))
    return NULL;
  uint64_t nslots = cache->max_nbytes / part->synced.slot_nbytes;
  evict_synced (part, nslots - 1);
  struct rd_cached_tile *tile = part->synced.free;
  if (tile)
    part->synced.free = tile->synced.chain;
  else if (part->synced.ncarved < nslots)
    tile = (struct rd_cached_tile *) (void *) (
      part->synced.room
      + part->synced.ncarved++ * part->synced.slot_nbytes);
  part->synced.nused += tile != NULL;
  return tile;
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
  rd_uses_renew (&part->synced.uses, &tile->synced.use);
  return tile;
}

/* A slot for a tile, filled by the caller without the mutex. */
static struct rd_cached_tile *
reserve (struct rd_tile_cache *cache, struct part *part,
         const struct rd_tile_key *key, uint64_t hash, size_t nbytes)
{
  RD_LOCK_SCOPE (&part->mutex);
  if (!prepare_synced (cache, part) || *find_link_synced (part, key, hash))
    return NULL;
  return take_slot_synced (cache, part, slot_nbytes (nbytes));
}

/* Enter what was filled, unless another thread has entered the same. */
static void
enter (struct part *part, struct rd_cached_tile *tile)
{
  RD_LOCK_SCOPE (&part->mutex);
  struct rd_cached_tile **link = find_link_synced (part, &tile->key,
                                                   tile->hash);
  if (*link) {
    free_slot_synced (part, tile);
    return;
  }
  *link = tile;
  tile->synced.cached = true;
  rd_uses_add_newest (&part->synced.uses, &tile->synced.use);
}

void
rd_tile_cache_add (struct rd_tile_cache *cache,
                   const struct rd_tile_key *key, const void *elements,
                   size_t nbytes)
{
  uint64_t hash = hash_key (key);
  struct part *part = part_of (cache, hash);
  struct rd_cached_tile *tile = reserve (cache, part, key, hash, nbytes);
  if (!tile)
    return;
  memset (tile, 0, sizeof *tile);
  tile->key = *key;
  tile->hash = hash;
  tile->nbytes = nbytes;
  memcpy (tile->data, elements, nbytes);
  enter (part, tile);
}

void
rd_tile_cache_release (struct rd_tile_cache *cache,
                       struct rd_cached_tile *tile)
{
  struct part *part = part_of (cache, tile->hash);
  RD_LOCK_SCOPE (&part->mutex);
  if (--tile->synced.nusers == 0 && !tile->synced.cached)
    free_slot_synced (part, tile);
}

void
rd_tile_cache_forget (struct rd_tile_cache *cache, uint64_t array)
{
  for (unsigned i = 0; i < cache->nparts; i++) {
    struct part *part = &cache->parts[i];
    RD_LOCK_SCOPE (&part->mutex);
    struct rd_use *use = part->synced.uses.newest;
    while (use) {
      struct rd_cached_tile *tile = RD_USED_ENTRY (use, rd_cached_tile);
      use = use->older;
      if (tile->key.array == array)
        remove_synced (part, tile);
    }
  }
}

uint64_t
rd_tile_cache_nbytes (struct rd_tile_cache *cache)
{
  uint64_t nbytes = 0;
  for (unsigned i = 0; i < cache->nparts; i++) {
    RD_LOCK_SCOPE (&cache->parts[i].mutex);
    nbytes += cache->parts[i].synced.nused
      * cache->parts[i].synced.slot_nbytes;
  }
  return nbytes;
}
