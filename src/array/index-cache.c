/* SPDX-License-Identifier: MIT */
/* A hash table with a list in order of use, behind one mutex that is taken
 * once for each chunk of a read, not for its tiles. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/array/index-cache.h"

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
    struct rd_uses uses;
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
free_entry (struct rd_index_entry *entry)
{
  rd_free (entry->index);
  rd_free (entry);
}

void
rd_index_cache_close (struct rd_index_cache *cache)
{
  if (!cache)
    return;
  for (struct rd_use *use = cache->synced.uses.newest, *older; use;
       use = older) {
    older = use->older;
    free_entry (RD_USED_ENTRY (use, rd_index_entry));
  }
  rd_free (cache->synced.buckets);
  pthread_mutex_destroy (&cache->mutex);
  rd_free (cache);
}

static uint64_t
entry_nbytes (const struct rd_index_entry *entry)
{
  return sizeof *entry + sizeof *entry->index
    + entry->index->n * sizeof entry->index->entries[0];
}

static size_t
bucket_of (const struct rd_index_cache *cache, const uint64_t *chunk,
           size_t nbuckets)
{
  return rd_hash_words (chunk, cache->rank) & (nbuckets - 1);
}

/* The link that points to a chunk's entry, or to the end of its bucket. */
static struct rd_index_entry **
find_link_synced (struct rd_index_cache *cache, const uint64_t *chunk)
{
  size_t bucket = bucket_of (cache, chunk, cache->synced.nbuckets);
  struct rd_index_entry **link = &cache->synced.buckets[bucket];
  while (*link
         && memcmp ((*link)->chunk, chunk, cache->rank * sizeof *chunk) != 0)
    link = &(*link)->synced.chain;
  return link;
}

/* Take an entry out of the table; it is freed now or by its last user. */
static void
remove_synced (struct rd_index_cache *cache, struct rd_index_entry *entry)
{
  *find_link_synced (cache, entry->chunk) = entry->synced.chain;
  rd_uses_remove (&cache->synced.uses, &entry->synced.use);
  cache->synced.n--;
  cache->synced.nbytes -= entry_nbytes (entry);
  entry->synced.cached = false;
  if (entry->synced.nusers == 0)
    free_entry (entry);
}

static void
evict_synced (struct rd_index_cache *cache)
{
  struct rd_use *use = cache->synced.uses.oldest;
  while (use && cache->synced.nbytes > cache->max_nbytes) {
    struct rd_index_entry *entry = RD_USED_ENTRY (use, rd_index_entry);
    use = use->newer;
    if (entry->synced.nusers == 0)
      remove_synced (cache, entry);
  }
}

/* Twice the buckets; without memory the chains just get longer. */
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
  for (struct rd_use *use = cache->synced.uses.newest; use;
       use = use->older) {
    struct rd_index_entry *entry = RD_USED_ENTRY (use, rd_index_entry);
    size_t bucket = bucket_of (cache, entry->chunk, n);
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
  struct rd_index_entry *entry = *find_link_synced (cache, chunk);
  if (!entry)
    return NULL;
  entry->synced.nusers++;
  rd_uses_renew (&cache->synced.uses, &entry->synced.use);
  return entry;
}

static struct rd_index_entry *
new_entry (const struct rd_index_cache *cache, const uint64_t *chunk,
           struct rd_shard_index *index, uint64_t shard_nbytes)
{
  struct rd_index_entry *entry = rd_calloc (1, sizeof *entry);
  if (!entry) {
    rd_fail_memory (sizeof *entry);
    return NULL;
  }
  memcpy (entry->chunk, chunk, cache->rank * sizeof *chunk);
  entry->index = index;
  entry->shard_nbytes = shard_nbytes;
  entry->synced.nusers = 1;
  return entry;
}

static void
insert_synced (struct rd_index_cache *cache, struct rd_index_entry *entry)
{
  if (cache->synced.n >= 2 * cache->synced.nbuckets)
    grow_synced (cache);
  struct rd_index_entry **link = find_link_synced (cache, entry->chunk);
  entry->synced.chain = NULL;
  *link = entry;
  entry->synced.cached = true;
  rd_uses_add_newest (&cache->synced.uses, &entry->synced.use);
  cache->synced.n++;
  cache->synced.nbytes += entry_nbytes (entry);
  evict_synced (cache);
}

enum radio_status
rd_index_cache_add (struct rd_index_cache *cache, const uint64_t *chunk,
                    struct rd_shard_index *index, uint64_t shard_nbytes,
                    uint64_t shard_version, uint64_t generation,
                    struct rd_index_entry **result)
{
  struct rd_index_entry *entry = new_entry (cache, chunk, index,
                                            shard_nbytes);
  if (!entry) {
    rd_free (index);
    return RADIO_ERROR_MEMORY;
  }
  entry->shard_version = shard_version;
  RD_LOCK_SCOPE (&cache->mutex);
  /* Another thread may have read the same one meanwhile. */
  bool is_current = cache->synced.generation == generation;
  if (is_current && !*find_link_synced (cache, chunk))
    insert_synced (cache, entry);
  *result = entry;
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
    free_entry (entry);
  else
    evict_synced (cache);
}

void
rd_index_cache_drop (struct rd_index_cache *cache, const uint64_t *chunk)
{
  RD_LOCK_SCOPE (&cache->mutex);
  cache->synced.generation++;
  struct rd_index_entry *entry = *find_link_synced (cache, chunk);
  if (entry)
    remove_synced (cache, entry);
}

uint64_t
rd_index_cache_nbytes (struct rd_index_cache *cache)
{
  RD_LOCK_SCOPE (&cache->mutex);
  return cache->synced.nbytes;
}
