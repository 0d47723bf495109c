/* SPDX-License-Identifier: MIT */
/* Contexts: how many threads, how much memory. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/cpu-quota.h"
#include "src/base/simd.h"
#include "src/base/structs.h"
#include "src/base/thread.h"
#include "src/array/context.h"
#include "src/array/cache/reads.h"
#include "src/array/cache/points.h"

#define DEFAULT_LIMIT_NBYTES ((uint64_t) 1 << 30)

/* Larger numbers are a mistake of the caller. */
#define MAX_THREADS 1024

/* Kept by a thread's scratch from one tile to the next; all threads together
 * keep at most a share of the limit. */
#define KEEP_NBYTES ((uint64_t) 8 << 20)
#define KEEP_SHARE 8

/* Sleeping and waking takes 10 to 50 us, reading a box of 32^3 about 100. */
#define SPIN_NS 50000

/* The tile cache, by default and at most. */
#define CACHE_NBYTES ((uint64_t) 64 << 20)
#define CACHE_MIN_LIMIT_NBYTES ((uint64_t) 512 << 20)
#define CACHE_SHARE 8

/* Points of entry take this part of the limit at most. */
#define POINTS_SHARE 16

static void
cleanup_tiles (struct rd_tile_cache **tiles)
{
  rd_tile_cache_close (*tiles);
}

static void
cleanup_points (struct rd_points_cache **points)
{
  rd_points_cache_close (*points);
}

enum radio_status
radio_context_open (const struct radio_context_options *options,
                    struct radio_context **result)
{
  static const struct radio_context_options defaults;
  if (!result)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_context_open: context is "
                    "NULL");
  if (!options)
    options = &defaults;
  RD_TRY (RD_CHECK_RESERVED (radio_context_options, options));
  RD_TRY (rd_simd_check ());
  RD_FREE struct radio_context *context = rd_calloc (1, sizeof *context);
  if (!context)
    return rd_fail_memory (sizeof *context);
  atomic_init (&context->nrefs, 1);
  context->runs.last = &context->runs.first;
  unsigned nprocessors = rd_count_cpus ();
  context->nthreads = (unsigned) rd_min_u64 (
    options->nthreads ? options->nthreads : nprocessors, MAX_THREADS);
  context->memory_limit_nbytes = options->memory_limit_nbytes
    ? options->memory_limit_nbytes : DEFAULT_LIMIT_NBYTES;
  context->no_huge_pages = options->no_huge_pages;
  uint64_t keep_nbytes = context->memory_limit_nbytes / KEEP_SHARE
    / context->nthreads;
  const struct rd_pool_options pool_options = {
    .nthreads = context->nthreads,
    .keep_nbytes = (size_t) rd_min_u64 (keep_nbytes, KEEP_NBYTES),
    .spin_ns = context->nthreads <= nprocessors ? SPIN_NS : 0,
  };
  RD_CLEANUP (cleanup_tiles) struct rd_tile_cache *tiles = NULL;
  /* Four layers of tiles of 512 x 512 float32 voxels are 32 MiB: enough for one
   * reader in each direction. */
  uint64_t cache_nbytes = rd_min_u64 (
    options->cache_nbytes, context->memory_limit_nbytes / CACHE_SHARE);
  if (options->cache_nbytes == 0
      && context->memory_limit_nbytes >= CACHE_MIN_LIMIT_NBYTES)
    cache_nbytes = CACHE_NBYTES;
  else if (options->cache_nbytes == RADIO_NO_CACHE)
    cache_nbytes = 0;
  if (cache_nbytes > 0)
    RD_TRY (rd_tile_cache_open (cache_nbytes, !options->no_huge_pages,
                                &tiles));
  RD_CLEANUP (cleanup_points) struct rd_points_cache *points = NULL;
  RD_TRY (rd_points_cache_open (context->memory_limit_nbytes / POINTS_SHARE,
                                &points));
  RD_TRY (rd_pool_open (&pool_options, &context->pool));
  context->work_nbytes = context->memory_limit_nbytes - cache_nbytes;
  context->tiles = RD_STEAL (tiles);
  context->points = RD_STEAL (points);
  pthread_mutex_init (&context->runs_mutex, NULL);
  rd_kept_init (&context->kept);
  pthread_mutex_init (&context->ingests_mutex, NULL);
  pthread_cond_init (&context->ingest_ended, NULL);
  *result = RD_STEAL (context);
  return RADIO_OK;
}

struct radio_context *
rd_context_ref (struct radio_context *context)
{
  atomic_fetch_add (&context->nrefs, 1);
  return context;
}

void
radio_context_close (struct radio_context *context)
{
  if (!context || atomic_fetch_sub (&context->nrefs, 1) != 1)
    return;
  bool is_forked = rd_pool_check (context->pool) != RADIO_OK;
  rd_pool_close (context->pool);
  /* Locks may be held for ever in a forked child. */
  if (!is_forked) {
    rd_tile_cache_close (context->tiles);
    rd_points_cache_close (context->points);
    rd_kept_clear (&context->kept);
    pthread_mutex_destroy (&context->runs_mutex);
    pthread_mutex_destroy (&context->ingests_mutex);
    pthread_cond_destroy (&context->ingest_ended);
  }
  rd_free (context);
}

enum radio_status
rd_context_allows (const struct radio_context *context, uint64_t nbytes,
                   const char *what)
{
  if (nbytes <= context->work_nbytes)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_LIMIT, "%s needs %" PRIu64 " bytes of memory, "
                  "more than the limit of %" PRIu64 "; raise it by --memory "
                  "(memory_limit_nbytes in C, memory in Python)", what, nbytes,
                  context->work_nbytes);
}

enum radio_status
rd_store_run (const struct radio_store *store, struct rd_job *job)
{
  return rd_pool_run_apart (store->io->ops->is_blocking
                            ? 1 : rd_store_max_in_flight (store), job);
}
