/* SPDX-License-Identifier: MIT */
/* One reservation of address space, of which as much is faulted in as is
 * used, by huge pages: two megabytes at once take a tenth of the time that
 * their 512 small pages would. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/record/pool.h"

#define CHUNK_SLOTS 2048      /* 64 KiB */
#define MIN_CHUNKS 64         /* of small pools, as far as there are spans */
#define STEP_CHUNKS 32        /* faulted in at once: one huge page */
#define HUGE_PAGE 0x200000
#define RESERVE_SHARE 8       /* one in so many is kept for newcomers */
#define NEWCOMER_CHUNKS 2

struct rd_pool {
  size_t chunk_slots;
  size_t nchunks;             /* that there may be */
  union rd_log_slot *memory; /* on a huge page's boundary... */
  void *mapping;              /* ... within this */
  size_t mapping_nbytes;
  struct rd_chunk *chunks;
  pthread_mutex_t mutex;
  struct {
    size_t nmade;             /* chunks that were ever given out */
    size_t nfaulted;
    struct rd_chunk *unused;  /* given back */
    size_t nunused;
  } synced;
};

static size_t
chunk_slots_of (size_t max_spans)
{
  size_t n = max_spans / MIN_CHUNKS;
  return max_spans < 2 ? 1 : n < 2 ? 2 : n > CHUNK_SLOTS ? CHUNK_SLOTS : n;
}

/* Where the kernel cannot do it at once, writing to each page does. */
static void
fault_in (unsigned char *at, size_t nbytes)
{
#ifdef MADV_POPULATE_WRITE
  uintptr_t page = (uintptr_t) sysconf (_SC_PAGESIZE);
  unsigned char *begin = at - (uintptr_t) at % page;
  if (madvise (begin, nbytes + (size_t) (at - begin),
               MADV_POPULATE_WRITE) == 0)
    return;
#endif
  for (size_t i = 0; i < nbytes; i += 4096)
    at[i] = 0;
}

static void
fault_in_more_synced (struct rd_pool *pool)
{
  size_t n = pool->synced.nfaulted;
  size_t step = rd_min_u64 (STEP_CHUNKS, pool->nchunks - n);
  fault_in ((unsigned char *) (pool->memory + n * pool->chunk_slots),
            step * pool->chunk_slots * sizeof *pool->memory);
  pool->synced.nfaulted += step;
}

/* Address space with a huge page's boundary at its beginning. */
static bool
map_memory (struct rd_pool *pool, size_t nbytes)
{
  pool->mapping_nbytes = nbytes + HUGE_PAGE;
  void *mapping = mmap (NULL, pool->mapping_nbytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return false;
  pool->mapping = mapping;
  uintptr_t begin = ((uintptr_t) mapping + HUGE_PAGE - 1)
                    & ~(uintptr_t) (HUGE_PAGE - 1);
  pool->memory = (union rd_log_slot *) begin;
#ifdef MADV_HUGEPAGE
  if (nbytes >= HUGE_PAGE)
    madvise (pool->memory, nbytes & ~(size_t) (HUGE_PAGE - 1),
             MADV_HUGEPAGE);
#endif
  return true;
}

static bool
reserve_memory (struct rd_pool *pool)
{
  uint64_t nbytes;
  if (rd_mul_overflows (pool->nchunks, pool->chunk_slots, &nbytes)
      || rd_mul_overflows (nbytes, sizeof *pool->memory, &nbytes)
      || nbytes > SIZE_MAX / 2)
    return false;
  pool->chunks = calloc (pool->nchunks, sizeof *pool->chunks);
  if (!pool->chunks)
    return false;
  return map_memory (pool, (size_t) nbytes);
}

struct rd_pool *
rd_pool_new (size_t max_spans)
{
  struct rd_pool *pool = calloc (1, sizeof *pool);
  if (!pool)
    return NULL;
  pthread_mutex_init (&pool->mutex, NULL);
  pool->chunk_slots = chunk_slots_of (max_spans);
  pool->nchunks = max_spans / pool->chunk_slots;
  if (!reserve_memory (pool)) {
    rd_pool_free (pool);
    return NULL;
  }
  fault_in_more_synced (pool);
  return pool;
}

void
rd_pool_free (struct rd_pool *pool)
{
  if (!pool)
    return;
  if (pool->mapping)
    munmap (pool->mapping, pool->mapping_nbytes);
  pthread_mutex_destroy (&pool->mutex);
  free (pool->chunks);
  free (pool);
}

size_t
rd_pool_chunk_slots (const struct rd_pool *pool)
{
  return pool->chunk_slots;
}

static struct rd_chunk *
make_chunk_synced (struct rd_pool *pool)
{
  if (pool->synced.nmade == pool->nchunks)
    return NULL;
  if (pool->synced.nmade == pool->synced.nfaulted)
    fault_in_more_synced (pool);
  size_t i = pool->synced.nmade++;
  pool->chunks[i].slots = pool->memory + i * pool->chunk_slots;
  return &pool->chunks[i];
}

struct rd_chunk *
rd_pool_take (struct rd_pool *pool, size_t nchunks)
{
  RD_LOCK_SCOPE (&pool->mutex);
  size_t left = pool->nchunks - pool->synced.nmade + pool->synced.nunused;
  if (nchunks >= NEWCOMER_CHUNKS && left <= pool->nchunks / RESERVE_SHARE)
    return NULL;
  struct rd_chunk *chunk = pool->synced.unused;
  if (chunk) {
    pool->synced.unused = chunk->next;
    pool->synced.nunused--;
  } else
    chunk = make_chunk_synced (pool);
  if (chunk) {
    chunk->next = NULL;
    chunk->nslots = 0;
  }
  return chunk;
}

void
rd_pool_give (struct rd_pool *pool, struct rd_chunk *chunks)
{
  RD_LOCK_SCOPE (&pool->mutex);
  while (chunks) {
    struct rd_chunk *chunk = chunks;
    chunks = chunk->next;
    chunk->next = pool->synced.unused;
    pool->synced.unused = chunk;
    pool->synced.nunused++;
  }
}
