/* SPDX-License-Identifier: MIT */
/* Span memory: one reservation of address space, faulted in as it is used, by
 * huge pages: 2 MiB at once take a tenth of the time of 512 small pages. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/thread.h"
#include "profiler/record/log.h"

#define CHUNK_SLOTS 2048      /* 64 KiB */
#define MIN_CHUNKS 64         /* of small logs, as far as there are spans */
#define STEP_CHUNKS 32        /* faulted in at once: one huge page */
#define HUGE_PAGE 0x200000
#define RESERVE_SHARE 8       /* 1/8 is reserved for newcomers: writers of
                                 less than NEWCOMER_CHUNKS */
#define NEWCOMER_CHUNKS 2

struct rd_span_memory {
  size_t chunk_slots;
  size_t nchunks;             /* limit */
  struct rd_arena *arena;     /* that has it all; or NULL */
  union rd_log_slot *slots;   /* on a huge page's boundary... */
  void *mapping;              /* ... within this; NULL: in the arena */
  size_t mapping_nbytes;
  struct rd_log_chunk *chunks;
  pthread_mutex_t mutex;
  struct {
    size_t nmade;             /* chunks that were ever taken */
    size_t nfaulted;
    struct rd_log_chunk *unused;  /* returned */
    size_t nunused;
  } synced;
};

/* Faults in the next chunks: by one system call, or else by a write to each
 * page. */
static void
fault_in_synced (struct rd_span_memory *memory)
{
  size_t n = memory->synced.nfaulted;
  size_t step = rd_min_u64 (STEP_CHUNKS, memory->nchunks - n);
  unsigned char *begin
    = (unsigned char *) (memory->slots + n * memory->chunk_slots);
  size_t nbytes = step * memory->chunk_slots * sizeof *memory->slots;
  memory->synced.nfaulted += step;
#ifdef MADV_POPULATE_WRITE
  size_t above = (uintptr_t) begin % (uintptr_t) sysconf (_SC_PAGESIZE);
  if (madvise (begin - above, nbytes + above, MADV_POPULATE_WRITE) == 0)
    return;
#endif
  for (size_t i = 0; i < nbytes; i += 4096)
    begin[i] = 0;
}

/* Reserves address space that begins at the boundary of a huge page. */
static bool
reserve_slots (struct rd_span_memory *memory)
{
  uint64_t nbytes;
  if (rd_mul_overflows (memory->nchunks, memory->chunk_slots, &nbytes)
      || rd_mul_overflows (nbytes, sizeof *memory->slots, &nbytes)
      || nbytes > SIZE_MAX / 2)
    return false;
  size_t chunks_nbytes = memory->nchunks * sizeof *memory->chunks;
  memory->chunks = rd_arena_alloc (memory->arena, 1, chunks_nbytes);
  if (!memory->chunks)
    return false;
  memset (memory->chunks, 0, chunks_nbytes);
  if (memory->arena) {
    memory->slots = rd_arena_ring (memory->arena);
    return true;
  }
  memory->mapping_nbytes = (size_t) nbytes + HUGE_PAGE;
  void *mapping = mmap (NULL, memory->mapping_nbytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return false;
  memory->mapping = mapping;
  uintptr_t begin = ((uintptr_t) mapping + HUGE_PAGE - 1)
                    & ~(uintptr_t) (HUGE_PAGE - 1);
  memory->slots = (union rd_log_slot *) begin;
#ifdef MADV_HUGEPAGE
  if (nbytes >= HUGE_PAGE)
    madvise (memory->slots, nbytes & ~(size_t) (HUGE_PAGE - 1),
             MADV_HUGEPAGE);
#endif
  return true;
}

struct rd_span_memory *
rd_span_memory_new (size_t max_spans, struct rd_arena *arena)
{
  size_t n = max_spans / MIN_CHUNKS;
  struct rd_span_memory *memory = calloc (1, sizeof *memory);
  if (!memory)
    return NULL;
  pthread_mutex_init (&memory->mutex, NULL);
  memory->arena = arena;
  memory->chunk_slots = max_spans < 2 ? 1
                        : n < 2 ? 2
                        : n > CHUNK_SLOTS ? CHUNK_SLOTS : n;
  memory->nchunks = max_spans / memory->chunk_slots;
  if (!reserve_slots (memory)) {
    rd_span_memory_free (memory);
    return NULL;
  }
  fault_in_synced (memory);
  return memory;
}

void
rd_span_memory_free (struct rd_span_memory *memory)
{
  if (!memory)
    return;
  if (memory->mapping)
    munmap (memory->mapping, memory->mapping_nbytes);
  pthread_mutex_destroy (&memory->mutex);
  rd_arena_release (memory->arena, memory->chunks,
                    memory->nchunks * sizeof *memory->chunks);
  free (memory);
}

size_t
rd_span_memory_chunk_slots (const struct rd_span_memory *memory)
{
  return memory->chunk_slots;
}

struct rd_log_chunk *
rd_span_memory_take (struct rd_span_memory *memory, size_t nchunks)
{
  RD_NO_CANCEL_SCOPE ();
  RD_LOCK_SCOPE (&memory->mutex);
  size_t left = memory->nchunks - memory->synced.nmade;
  if (nchunks >= NEWCOMER_CHUNKS
      && left + memory->synced.nunused <= memory->nchunks / RESERVE_SHARE)
    return NULL;
  struct rd_log_chunk *chunk = memory->synced.unused;
  if (chunk) {
    memory->synced.unused = chunk->next;
    memory->synced.nunused--;
  } else if (left > 0) {
    if (memory->synced.nmade == memory->synced.nfaulted)
      fault_in_synced (memory);
    size_t i = memory->synced.nmade++;
    chunk = &memory->chunks[i];
    chunk->slots = memory->slots + i * memory->chunk_slots;
  }
  if (chunk) {
    chunk->next = NULL;
    chunk->nslots = 0;
  }
  return chunk;
}

void
rd_span_memory_give (struct rd_span_memory *memory, struct rd_log_chunk *chunks)
{
  RD_NO_CANCEL_SCOPE ();
  RD_LOCK_SCOPE (&memory->mutex);
  while (chunks) {
    struct rd_log_chunk *chunk = chunks;
    chunks = chunk->next;
    chunk->next = memory->synced.unused;
    memory->synced.unused = chunk;
    memory->synced.nunused++;
  }
}
