/* SPDX-License-Identifier: MIT */
/* The shard indexes that a part of a plan needs: those that are cached or made
 * from the volume's document, and the reads of the others. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/hash.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/refetch.h"

unsigned
rd_fetch_share_limit (const struct rd_tile_read *read, unsigned nparts,
             uint64_t nbytes_each, unsigned most)
{
  const struct radio_context *context = read->array->store->context;
  uint64_t n = context->work_nbytes / RD_LIMIT_PARTS * nparts
    / rd_max_u64 (nbytes_each, 1);
  return (unsigned) rd_min_u64 (rd_max_u64 (n, 1), most);
}

/* One index that is read. */
struct rd_index_read {
  struct rd_buffer buffer;
  char key[RD_KEY_NBYTES];
};

static void
prepare_index_read (const struct rd_index_job *job, uint32_t number,
                    const char *key, struct rd_buffer *into,
                    struct rd_io_get *get)
{
  const struct rd_layout *layout = &job->read->array->layout;
  *get = (struct rd_io_get) {
    .key = key, .file = job->plan->chunks[number].file,
    .range = layout->sharding->u.sharding.index_at_start ? RD_RANGE_SPAN
                                                         : RD_RANGE_SUFFIX,
    .nbytes = (size_t) layout->index_nbytes, .into = into,
    .version = job->plan->chunks[number].version,
    .stop = rd_read_stop_io (job->read->stop),
  };
}

static enum radio_status
decode_index (const struct rd_layout *layout, const struct rd_io_get *get,
              struct rd_scratch *scratch, struct rd_shard_index **index)
{
  if (get->into->nbytes != layout->index_nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the shard has %" PRIu64 " bytes, "
                    "less than its index of %" PRIu64, get->object_nbytes,
                    layout->index_nbytes);
  RD_SCOPE ("decode index", RD_IN_METADATA);
  return rd_shard_index_decode (layout->sharding, &layout->chunk, scratch,
                                get->into->data, get->into->nbytes,
                                get->object_nbytes, index);
}

/* A check reads each index: compares it with the lengths in the volume's
 * document, by which other reads do without it. */
static enum radio_status
check_lengths (struct radio_array *array, const uint64_t *chunk,
               const struct rd_shard_index *index)
{
  RD_FREE struct rd_shard_index *other = NULL;
  uint64_t shard_nbytes;
  RD_TRY (rd_tile_lengths_find (&array->lengths, &array->layout, chunk,
                                &other, &shard_nbytes));
  if (!other || memcmp (other->entries, index->entries,
                        (size_t) index->n * sizeof *index->entries) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "the tiles' lengths differ from "
                  "attributes.radio.tile_lengths in the volume's document");
}

/* False if several tiles are stored, all of one length, as tiles that are not
 * compressed are.  If another program has rewritten such a shard with its tiles
 * in another order, their lengths and checksums do not show it. */
static bool
differs_in_lengths (const struct rd_shard_index *index)
{
  const struct rd_shard_entry *first = NULL;
  uint64_t nstored = 0;
  for (uint64_t i = 0; i < index->n; i++) {
    const struct rd_shard_entry *entry = &index->entries[i];
    if (entry->offset == RD_SHARD_MISSING)
      continue;
    if (nstored++ == 0)
      first = entry;
    else if (entry->nbytes != first->nbytes)
      return true;
  }
  return nstored <= 1;
}

/* Makes the index of a chunk from the lengths in the volume's document, to save
 * a request.  A local shard's own index is read sooner than lengths are
 * decoded, and says where tiles are also if another program has rewritten the
 * shard.  chunk->entry stays NULL if there are none. */
static enum radio_status
use_lengths (struct rd_tile_read *read, uint64_t generation,
             struct rd_plan_chunk *chunk)
{
  struct radio_array *array = read->array;
  struct rd_shard_index *index;
  uint64_t shard_nbytes;
  if (array->store->io->ops->is_blocking)
    return RADIO_OK;
  RD_TRY (rd_tile_lengths_find (&array->lengths, &array->layout,
                                chunk->chunk, &index, &shard_nbytes));
  if (index && !differs_in_lengths (index))
    rd_free (RD_STEAL (index));
  if (!index)
    return RADIO_OK;
  read->used_lengths = true;
  return rd_index_cache_add (array->indexes, chunk->chunk, index,
                             shard_nbytes, 0, generation, &chunk->entry);
}

/* Takes the result of a read: an index, or that there is no shard. */
static enum radio_status
accept_index (const struct rd_index_job *job, uint32_t number,
              struct rd_io_get *get, struct rd_scratch *scratch)
{
  struct rd_tile_read *read = job->read;
  struct radio_array *array = read->array;
  const struct rd_layout *layout = &array->layout;
  struct rd_plan *plan = job->plan;
  struct rd_plan_chunk *chunk = &plan->chunks[number];
  enum radio_status status = rd_error_raise (&get->error);
  struct rd_shard_index *index = NULL;
  if (status == RADIO_ERROR_NOT_FOUND) {
    status = rd_read_missing (read);
    chunk->missing = status == RADIO_OK;
    if (chunk->missing)
      return RADIO_OK;
  } else {
    if (get->is_other)
      atomic_store (&read->found_stale, true);
    RD_TRY (status);
    struct rd_refetch refetch = { 0 };
    for (;;) {
      status = decode_index (layout, get, scratch, &index);
      if (!rd_refetch_is_due (&refetch, array->store->io, status,
                              get->into->data, get->into->nbytes))
        break;
      prepare_index_read (job, number, get->key, get->into, get);
      /* Any version: the response may have lied about that, too. */
      get->file = NULL;
      RD_TRY (rd_read_stop_io_read (read->stop, array->store->io, get));
    }
    if (status == RADIO_OK && read->fresh_indexes)
      status = check_lengths (array, chunk->chunk, index);
    if (status != RADIO_OK)
      rd_free (RD_STEAL (index));
  }
  if (status == RADIO_OK)
    return rd_index_cache_add (array->indexes, chunk->chunk, index,
                               get->object_nbytes, get->version,
                               job->generation, &chunk->entry);
  rd_fail_in (status, "%s/%s", array->store->io->uri, get->key);
  if (!read->on_error)
    return status;
  chunk->failed = true;
  uint64_t ntiles = chunk->n;
  for (uint32_t i = number + 1;
       i < plan->nchunks && !rd_plan_is_first (plan, i); i++)
    ntiles += plan->chunks[i].n;
  return read->on_error (read, status, ntiles, number);
}

/* Reads one index, blocking. */
static enum radio_status
read_index (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_index_job *job = (struct rd_index_job *) base;
  struct radio_array *array = job->read->array;
  uint32_t number = job->chunks[task];
  char key[RD_KEY_NBYTES];
  struct rd_io_get get;
  RD_TRY (rd_read_stop_check (job->read->stop));
  rd_array_chunk_key (array, job->plan->chunks[number].chunk, key);
  prepare_index_read (job, number, key, &scratch->fetched, &get);
  enum radio_status status = rd_io_read (array->store->io, &get);
  (void) status;                      /* it is in get.error as well */
  return accept_index (job, number, &get, scratch);
}

static enum radio_status
accept_arrived_index (struct rd_job *base, uint64_t task,
                      struct rd_scratch *scratch)
{
  struct rd_index_job *job = (struct rd_index_job *) base;
  return accept_index (job, job->chunks[task], &job->gets[task], scratch);
}

/* Called by the store's thread.  In a run the last index starts the job of
 * decoding them all. */
static void
count_arrived_index (struct rd_io_get *get)
{
  struct rd_index_job *job = get->user_data;
  struct rd_pool *pool = job->read->array->store->context->pool;
  bool starts = false;
  {
    RD_LOCK_SCOPE (&job->mutex);
    if (++job->synced.narrived == job->n) {
      starts = job->job.detached;
      pthread_cond_signal (&job->arrived);
    }
  }
  if (starts)
    rd_pool_post (pool, &job->job);
}

enum radio_status
rd_indexes_open_reads (struct rd_index_job *job)
{
  RD_FREE struct rd_io_get *gets = rd_calloc (job->n, sizeof *gets);
  RD_FREE struct rd_index_read *reads = rd_calloc (job->n, sizeof *reads);
  if (!gets || !reads)
    return rd_fail_memory (job->n * sizeof *reads);
  pthread_mutex_init (&job->mutex, NULL);
  pthread_cond_init (&job->arrived, NULL);
  job->synced.narrived = 0;
  job->job.run = accept_arrived_index;
  for (uint32_t i = 0; i < job->n; i++) {
    rd_array_chunk_key (job->read->array,
                        job->plan->chunks[job->chunks[i]].chunk,
                        reads[i].key);
    prepare_index_read (job, job->chunks[i], reads[i].key, &reads[i].buffer,
                        &gets[i]);
    gets[i].done = count_arrived_index;
    gets[i].user_data = job;
  }
  job->gets = RD_STEAL (gets);
  job->reads = RD_STEAL (reads);
  return RADIO_OK;
}

void
rd_indexes_close_reads (struct rd_index_job *job)
{
  pthread_cond_destroy (&job->arrived);
  pthread_mutex_destroy (&job->mutex);
  for (uint32_t i = 0; i < job->n; i++)
    rd_buffer_free (&job->reads[i].buffer);
  rd_free (job->reads);
  rd_free (job->gets);
}

/* Starts all reads at once, waits for them, and decodes on the pool. */
static enum radio_status
read_indexes_async (struct rd_index_job *job)
{
  struct radio_store *store = job->read->array->store;
  RD_TRY (rd_indexes_open_reads (job));
  store->io->ops->get (store->io, job->gets, job->n);
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    RD_LOCK_SCOPE (&job->mutex);
    while (job->synced.narrived < job->n)
      rd_read_stop_wait (job->read->stop, &job->arrived, &job->mutex);
  }
  enum radio_status status = rd_pool_run (store->context->pool, &job->job);
  rd_indexes_close_reads (job);
  return status;
}

/* A worker may be reading an index again. */
static void
wait_for_workers (struct rd_job *job, pthread_cond_t *cond,
                  pthread_mutex_t *mutex)
{
  const struct rd_tile_read *read = ((struct rd_index_job *) job)->read;
  rd_read_stop_wait (read->stop, cond, mutex);
}

static const struct radio_site indexes_site = {
  "indexes", RD_IN_METADATA, "rd_indexes_find", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Returns a number that changes when a held file is written; 0: the file may
 * have been written just now, or that is unknown. */
static uint64_t
version_of (struct rd_io *io, struct rd_io_file *file)
{
  struct rd_file_identity identity;
  bool is_stable;
  return rd_io_identify (io, file, &identity, &is_stable) && is_stable
         ? rd_hash_bytes (&identity, sizeof identity) : 0;
}

/* Finds the cached index of a chunk, whose file is held.  Another program may
 * have replaced or written a shard that is not radio's own; tiles of such are
 * not cached. */
static struct rd_index_entry *
find_cached (struct radio_array *array, struct rd_plan_chunk *chunk,
             uint64_t *generation)
{
  struct rd_io *io = array->store->io;
  struct rd_index_entry *entry
    = rd_index_cache_find (array->indexes, chunk->chunk, generation);
  if (array->is_complete || !io->ops->identify)
    return entry;
  chunk->version = version_of (io, chunk->file);
  if (!entry || (chunk->version && entry->shard_version == chunk->version))
    return entry;
  rd_index_cache_release (array->indexes, entry);
  /* What other threads read before may be of another file. */
  *generation = rd_index_cache_drop (array->indexes, chunk->chunk);
  return NULL;
}

enum radio_status
rd_indexes_list (struct rd_index_job *job, struct rd_tile_read *read,
                 struct rd_plan *plan)
{
  struct radio_array *array = read->array;
  struct radio_store *store = array->store;
  struct rd_io *io = store->io;
  uint32_t nhits = 0;
  job->read = read;
  job->plan = plan;
  job->generation = RD_NEVER_KEPT;
  job->n = 0;
  if (!array->layout.sharding)
    return RADIO_OK;
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    struct rd_plan_chunk *chunk = &plan->chunks[i];
    uint64_t generation;
    if (!rd_plan_is_first (plan, i))
      continue;
    chunk->missing = false;           /* it may be the second attempt */
    if (io->ops->hold) {
      /* Only files that never change are kept open from one read to the
       * next: the shards that radio has written. */
      char key[RD_KEY_NBYTES];
      rd_array_chunk_key (array, chunk->chunk, key);
      chunk->file = rd_io_hold (io, key,
                                array->is_complete && !read->fresh_indexes);
    }
    if (!read->fresh_indexes)
      chunk->entry = find_cached (array, chunk, &generation);
    if (chunk->entry) {
      nhits++;
      continue;
    }
    if (!read->fresh_indexes)
      RD_TRY (use_lengths (read, generation, chunk));
    if (chunk->entry)
      continue;
    /* The last one: indexes are read after all were looked for. */
    if (!read->fresh_indexes)
      job->generation = generation;
    job->chunks[job->n++] = i;
  }
  RD_COUNT (hits, nhits);
  RD_COUNT (misses, job->n);
  if (job->n == 0)
    return RADIO_OK;

  uint64_t nbytes = rd_mul_sat (array->layout.index_nbytes, 2);
  enum radio_status status = rd_context_allows (store->context, nbytes,
                                                "a shard's index");
  if (status != RADIO_OK)
    return rd_array_fail_in (array, status);
  job->job = (struct rd_job) {
    .run = read_index, .wait = wait_for_workers, .n = job->n,
    .site = &indexes_site,
    .max_active = rd_fetch_share_limit (read, RD_TILE_PARTS, nbytes,
                               store->context->nthreads),
  };
  return RADIO_OK;
}

enum radio_status
rd_indexes_find (struct rd_tile_read *read, struct rd_plan *plan)
{
  struct radio_store *store = read->array->store;
  struct rd_index_job job;
  RD_SCOPE ("shard index", RD_IN_METADATA);
  RD_TRY (rd_indexes_list (&job, read, plan));
  if (job.n == 0)
    return RADIO_OK;
  return store->io->ops->is_blocking
         ? rd_pool_run (store->context->pool, &job.job)
         : read_indexes_async (&job);
}
