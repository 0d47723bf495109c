/* SPDX-License-Identifier: MIT */
/* Both caches are hash tables with a list in order of use.  That of indexes
 * has one mutex, which is taken once for each chunk of a read, not for
 * its tiles.
 *
 * A cached tile is in a slot of its part's share of one piece of memory, which
 * has huge pages: keeping tiles in memory allocated one by one took longer,
 * by its page faults, than decoding them.  The slots of a part are as large
 * as the largest tile since it was last empty. */
#include <config.h>

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/array/cache/reads.h"
#include "src/element/pages.h"
#include "src/element/box.h"

struct lru_list {
  struct rd_lru_link *newest, *oldest;
};

/* The entry with this synced.lru. */
#define LRU_ENTRY(link, type)                                           \
  ((struct type *) (void *) ((char *) (link)                            \
                             - offsetof (struct type, synced.lru)))

static inline void
lru_remove (struct lru_list *list, struct rd_lru_link *link)
{
  *(link->newer ? &link->newer->older : &list->newest) = link->older;
  *(link->older ? &link->older->newer : &list->oldest) = link->newer;
}

static inline void
lru_add (struct lru_list *list, struct rd_lru_link *link)
{
  link->newer = NULL;
  link->older = list->newest;
  *(list->newest ? &list->newest->newer : &list->oldest) = link;
  list->newest = link;
}

static inline void
lru_touch (struct lru_list *list, struct rd_lru_link *link)
{
  if (list->newest == link)
    return;
  lru_remove (list, link);
  lru_add (list, link);
}

/* Hashes n words; the low and the high bits may be used alone. */
static inline uint64_t
hash_words (const uint64_t *words, size_t n)
{
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ words[i]) * 0xbf58476d1ce4e5b9;
    hash ^= hash >> 29;
  }
  return hash;
}

#define FIRST_NBUCKETS 16

struct rd_index_cache {
  size_t rank;
  uint64_t max_nbytes;
  pthread_mutex_t mutex;
  struct {
    struct rd_index_entry **buckets;
    size_t nbuckets;                  /* a power of two */
    size_t n;
    uint64_t nbytes;
    uint64_t generation;
    struct lru_list lru;
  } synced;
};

enum radio_status
rd_index_cache_open (size_t rank, uint64_t max_nbytes,
                     struct rd_index_cache **result)
{
  RD_FREE struct rd_index_cache *cache = rd_calloc (1, sizeof *cache);
  if (!cache)
    return rd_fail_memory (sizeof *cache);
  cache->rank = rank;
  cache->max_nbytes = max_nbytes;
  cache->synced.nbuckets = FIRST_NBUCKETS;
  cache->synced.buckets = rd_calloc (FIRST_NBUCKETS,
                                     sizeof *cache->synced.buckets);
  if (!cache->synced.buckets)
    return rd_fail_memory (FIRST_NBUCKETS * sizeof *cache->synced.buckets);
  pthread_mutex_init (&cache->mutex, NULL);
  *result = RD_STEAL (cache);
  return RADIO_OK;
}

static void
free_index (struct rd_index_entry *entry)
{
  rd_free (entry->index);
  rd_free (entry);
}

void
rd_index_cache_close (struct rd_index_cache *cache)
{
  if (!cache)
    return;
  for (struct rd_lru_link *link = cache->synced.lru.newest, *older; link;
       link = older) {
    older = link->older;
    free_index (LRU_ENTRY (link, rd_index_entry));
  }
  rd_free (cache->synced.buckets);
  pthread_mutex_destroy (&cache->mutex);
  rd_free (cache);
}

static uint64_t
index_nbytes (const struct rd_index_entry *entry)
{
  return sizeof *entry + sizeof *entry->index
    + entry->index->n * sizeof entry->index->entries[0];
}

/* Returns the link that points to a chunk's entry, or to the end of its
 * bucket. */
static struct rd_index_entry **
find_index_synced (struct rd_index_cache *cache, const uint64_t *chunk)
{
  size_t bucket = hash_words (chunk, cache->rank)
    & (cache->synced.nbuckets - 1);
  struct rd_index_entry **link = &cache->synced.buckets[bucket];
  while (*link
         && memcmp ((*link)->chunk, chunk, cache->rank * sizeof *chunk) != 0)
    link = &(*link)->synced.chain;
  return link;
}

/* Takes an entry out of the table; it is freed now or by its last user. */
static void
remove_index_synced (struct rd_index_cache *cache,
                     struct rd_index_entry *entry)
{
  *find_index_synced (cache, entry->chunk) = entry->synced.chain;
  lru_remove (&cache->synced.lru, &entry->synced.lru);
  cache->synced.n--;
  cache->synced.nbytes -= index_nbytes (entry);
  entry->synced.cached = false;
  if (entry->synced.nusers == 0)
    free_index (entry);
}

static void
evict_indexes_synced (struct rd_index_cache *cache)
{
  struct rd_lru_link *link = cache->synced.lru.oldest;
  while (link && cache->synced.nbytes > cache->max_nbytes) {
    struct rd_index_entry *entry = LRU_ENTRY (link, rd_index_entry);
    link = link->newer;
    if (entry->synced.nusers == 0)
      remove_index_synced (cache, entry);
  }
}

/* Doubles the buckets; without memory the chains just get longer. */
static void
grow_synced (struct rd_index_cache *cache)
{
  size_t n = 2 * cache->synced.nbuckets;
  struct rd_index_entry **buckets = rd_calloc (n, sizeof (*buckets));
  if (!buckets)
    return;
  rd_free (cache->synced.buckets);
  cache->synced.buckets = buckets;
  cache->synced.nbuckets = n;
  for (struct rd_lru_link *link = cache->synced.lru.newest; link;
       link = link->older) {
    struct rd_index_entry *entry = LRU_ENTRY (link, rd_index_entry);
    size_t bucket = hash_words (entry->chunk, cache->rank) & (n - 1);
    entry->synced.chain = buckets[bucket];
    buckets[bucket] = entry;
  }
}

struct rd_index_entry *
rd_index_cache_find (struct rd_index_cache *cache, const uint64_t *chunk,
                     uint64_t *generation)
{
  RD_LOCK_SCOPE (&cache->mutex);
  *generation = cache->synced.generation;
  struct rd_index_entry *entry = *find_index_synced (cache, chunk);
  if (!entry)
    return NULL;
  entry->synced.nusers++;
  lru_touch (&cache->synced.lru, &entry->synced.lru);
  return entry;
}

enum radio_status
rd_index_cache_add (struct rd_index_cache *cache, const uint64_t *chunk,
                    struct rd_shard_index *index, uint64_t shard_nbytes,
                    uint64_t shard_version, uint64_t generation,
                    struct rd_index_entry **result)
{
  struct rd_index_entry *entry = rd_calloc (1, sizeof *entry);
  if (!entry) {
    rd_free (index);
    return rd_fail_memory (sizeof *entry);
  }
  memcpy (entry->chunk, chunk, cache->rank * sizeof *chunk);
  entry->index = index;
  entry->shard_nbytes = shard_nbytes;
  entry->shard_version = shard_version;
  entry->synced.nusers = 1;
  *result = entry;
  RD_LOCK_SCOPE (&cache->mutex);
  /* Another thread may have read the same one meanwhile. */
  if (cache->synced.generation != generation
      || *find_index_synced (cache, chunk))
    return RADIO_OK;
  if (cache->synced.n >= 2 * cache->synced.nbuckets)
    grow_synced (cache);
  entry->synced.cached = true;
  *find_index_synced (cache, chunk) = entry;
  lru_add (&cache->synced.lru, &entry->synced.lru);
  cache->synced.n++;
  cache->synced.nbytes += index_nbytes (entry);
  evict_indexes_synced (cache);
  return RADIO_OK;
}

void
rd_index_cache_release (struct rd_index_cache *cache,
                        struct rd_index_entry *entry)
{
  if (!entry)
    return;
  RD_LOCK_SCOPE (&cache->mutex);
  entry->synced.nusers--;
  if (entry->synced.nusers == 0 && !entry->synced.cached)
    free_index (entry);
  else
    evict_indexes_synced (cache);
}

uint64_t
rd_index_cache_drop (struct rd_index_cache *cache, const uint64_t *chunk)
{
  RD_LOCK_SCOPE (&cache->mutex);
  struct rd_index_entry *entry = *find_index_synced (cache, chunk);
  if (entry)
    remove_index_synced (cache, entry);
  return ++cache->synced.generation;
}

uint64_t
rd_index_cache_nbytes (struct rd_index_cache *cache)
{
  RD_LOCK_SCOPE (&cache->mutex);
  return cache->synced.nbytes;
}

/* A part is as large as some hundred tiles, so that the parts evict about as
 * one list would. */
#define PART_NBYTES ((uint64_t) 4 << 20)
#define MAX_PARTS 16

#define NBUCKETS 256                  /* a power of two */

struct part {
  pthread_mutex_t mutex;
  struct {
    struct rd_cached_tile **buckets;  /* allocated when first needed */
    struct lru_list lru;
    unsigned char *slots;             /* cache->max_nbytes of them */
    uint64_t slot_nbytes;
    uint64_t nused, ncarved;          /* slots in use, and ever used */
    struct rd_cached_tile *free;      /* a chain of those ever used */
  } synced;
};

struct rd_tile_cache {
  uint64_t max_nbytes;                /* of each part */
  bool huge_pages;
  unsigned nparts;
  pthread_mutex_t mutex;
  struct {
    unsigned char *memory;            /* of all parts; allocated when needed */
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
    rd_free (cache->parts[i].synced.buckets);
    pthread_mutex_destroy (&cache->parts[i].mutex);
  }
  pthread_mutex_destroy (&cache->mutex);
  rd_free (cache->synced.memory);
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
  return hash_words (words, RADIO_MAX_RANK + 2);
}

static struct part *
part_of (struct rd_tile_cache *cache, uint64_t hash)
{
  return &cache->parts[(hash >> 32) % cache->nparts];
}

/* Returns the link that points to a tile, or to the end of its bucket. */
static struct rd_cached_tile **
find_tile_synced (struct part *part, const struct rd_tile_key *key,
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
free_slot_synced (struct part *part, struct rd_cached_tile *tile)
{
  tile->synced.chain = part->synced.free;
  part->synced.free = tile;
  part->synced.nused--;
}

/* Takes a tile out of the table; its slot is freed now or by its last user. */
static void
remove_tile_synced (struct part *part, struct rd_cached_tile *tile)
{
  *find_tile_synced (part, &tile->key, tile->hash) = tile->synced.chain;
  lru_remove (&part->synced.lru, &tile->synced.lru);
  tile->synced.cached = false;
  if (tile->synced.nusers == 0)
    free_slot_synced (part, tile);
}

/* Makes a part ready for its first tile; false without memory. */
static bool
prepare_part_synced (struct rd_tile_cache *cache, struct part *part)
{
  if (!part->synced.buckets)
    part->synced.buckets = rd_calloc (NBUCKETS,
                                      sizeof (*part->synced.buckets));
  if (!part->synced.buckets || part->synced.slots)
    return part->synced.buckets;

  /* Memory for all parts at once, so that all of it is in huge pages. */
  uint64_t nbytes = cache->max_nbytes * cache->nparts;
  size_t extra = nbytes < RD_PAGES_MIN_NBYTES ? 0 : RD_PAGES_HUGE_NBYTES;
  RD_LOCK_SCOPE (&cache->mutex);
  if (!cache->synced.memory && nbytes <= SIZE_MAX - extra)
    cache->synced.memory = rd_malloc (nbytes + extra);
  unsigned char *memory = cache->synced.memory;
  if (!memory)
    return false;
  if (extra > 0) {
    memory = rd_pages_align (memory);
    if (cache->huge_pages)
      rd_pages_advise_memory (memory, nbytes);
  }
  part->synced.slots = memory
    + (size_t) (part - cache->parts) * cache->max_nbytes;
  return true;
}

/* Evicts tiles that are not in use until at most n slots are in use. */
static void
evict_tiles_synced (struct part *part, uint64_t n)
{
  struct rd_lru_link *link = part->synced.lru.oldest;
  while (link && part->synced.nused > n) {
    struct rd_cached_tile *tile = LRU_ENTRY (link, rd_cached_tile);
    link = link->newer;
    if (tile->synced.nusers == 0)
      remove_tile_synced (part, tile);
  }
}

/* Reserves a slot for a tile that is not cached, to be filled by the caller
 * without the mutex; NULL when none is free. */
static struct rd_cached_tile *
reserve_slot (struct rd_tile_cache *cache, struct part *part,
              const struct rd_tile_key *key, uint64_t hash, size_t nbytes)
{
  uint64_t needed
    = (sizeof (struct rd_cached_tile) + (uint64_t) nbytes + 15) / 16 * 16;
  RD_LOCK_SCOPE (&part->mutex);
  if (!prepare_part_synced (cache, part)
      || *find_tile_synced (part, key, hash) || needed > cache->max_nbytes)
    return NULL;

  /* Slots can only be made larger when none is in use. */
  if (needed > part->synced.slot_nbytes)
    evict_tiles_synced (part, 0);
  if (part->synced.nused == 0) {
    part->synced.slot_nbytes = needed;
    part->synced.ncarved = 0;
    part->synced.free = NULL;
  }
  if (needed > part->synced.slot_nbytes)
    return NULL;
  uint64_t nslots = cache->max_nbytes / part->synced.slot_nbytes;
  evict_tiles_synced (part, nslots - 1);
  struct rd_cached_tile *tile = part->synced.free;
  if (tile)
    part->synced.free = tile->synced.chain;
  else if (part->synced.ncarved < nslots)
    tile = (struct rd_cached_tile *) (void *) (
      part->synced.slots
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
  struct rd_cached_tile *tile = *find_tile_synced (part, key, hash);
  if (!tile)
    return NULL;
  tile->synced.nusers++;
  lru_touch (&part->synced.lru, &tile->synced.lru);
  return tile;
}

void
rd_tile_cache_add (struct rd_tile_cache *cache,
                   const struct rd_tile_key *key, const void *elements,
                   size_t nbytes)
{
  uint64_t hash = hash_key (key);
  struct part *part = part_of (cache, hash);
  struct rd_cached_tile *tile = reserve_slot (cache, part, key, hash, nbytes);
  if (!tile)
    return;
  memset (tile, 0, sizeof *tile);
  tile->key = *key;
  tile->hash = hash;
  tile->nbytes = nbytes;
  memcpy (tile->data, elements, nbytes);

  RD_LOCK_SCOPE (&part->mutex);
  struct rd_cached_tile **link = find_tile_synced (part, key, hash);
  if (*link) {                        /* another thread has added it */
    free_slot_synced (part, tile);
    return;
  }
  *link = tile;
  tile->synced.cached = true;
  lru_add (&part->synced.lru, &tile->synced.lru);
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
    struct rd_lru_link *link = part->synced.lru.newest;
    while (link) {
      struct rd_cached_tile *tile = LRU_ENTRY (link, rd_cached_tile);
      link = link->older;
      if (tile->key.array == array)
        remove_tile_synced (part, tile);
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

void
rd_read_history_init (struct rd_read_history *history)
{
  pthread_mutex_init (&history->mutex, NULL);
  history->synced.n = 0;
}

void
rd_read_history_destroy (struct rd_read_history *history)
{
  pthread_mutex_destroy (&history->mutex);
}

/* True when boxes of one size are adjacent or overlap without being equal. */
static bool
is_neighbour (const struct radio_box *a, const struct radio_box *b)
{
  bool differs = false;
  for (size_t i = 0; i < a->rank; i++) {
    uint64_t distance = a->start[i] > b->start[i]
      ? a->start[i] - b->start[i] : b->start[i] - a->start[i];
    if (a->size[i] != b->size[i] || distance > a->size[i])
      return false;
    differs |= distance > 0;
  }
  return differs;
}

void
rd_read_history_add (struct rd_read_history *history,
                     const struct radio_box *box,
                     struct rd_admission *admission)
{
  admission->is_sequential = false;
  RD_LOCK_SCOPE (&history->mutex);
  admission->n = history->synced.n < RD_HISTORY_MAX ? history->synced.n
                                                    : RD_HISTORY_MAX;
  for (unsigned i = 0; i < admission->n; i++) {
    admission->boxes[i] = history->synced.boxes[i];
    admission->is_sequential |= is_neighbour (box, &admission->boxes[i]);
  }
  history->synced.boxes[history->synced.n++ % RD_HISTORY_MAX] = *box;
  /* Only its remainder and whether it is below the maximum matter. */
  if (history->synced.n == 2 * RD_HISTORY_MAX)
    history->synced.n = RD_HISTORY_MAX;
}

bool
rd_admits_tile (const struct rd_admission *admission,
                const struct radio_box *box,
                const struct radio_box *tile, const uint64_t *shape)
{
  struct radio_box shared;
  for (size_t i = 0; admission->is_sequential && i < box->rank; i++) {
    uint64_t end = tile->start[i]
      + rd_min_u64 (tile->size[i], shape[i] - tile->start[i]);
    if (tile->start[i] < box->start[i]
        || end > box->start[i] + box->size[i])
      return true;
  }
  for (unsigned i = 0; i < admission->n; i++)
    if (rd_box_intersect (tile, &admission->boxes[i], &shared))
      return true;
  return false;
}
