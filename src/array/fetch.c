/* SPDX-License-Identifier: MIT */
/* Reading tiles, part by part of a plan: read the shard indexes that are not
 * cached, plan the fetches, do them.
 *
 * If the store blocks, each worker reads for itself.  Else the calling thread
 * keeps a window of reads in flight, each with its own buffer that is used
 * again.  When one completes, the store's thread only queues its tiles for the
 * pool; workers decode them, and so does the caller while it waits. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/refetch.h"

/* Decoding less than this takes shorter than waking another thread. */
#define ALONE_NBYTES ((uint64_t) 128 << 10)

/* The memory limit is divided in parts: one for cached indexes, one for
 * indexes in use, the rest for tiles. */
#define LIMIT_PARTS 8
#define INDEX_PARTS 1
#define TILE_PARTS 6

/* Reads in flight, within the store's own limits, and the parts of the memory
 * limit that they may take. */
#define MAX_WINDOW 64
#define WINDOW_PARTS (TILE_PARTS / 2)

/* A part of the plan is read as often as this while its shards are replaced,
 * each time with their new indexes. */
#define MAX_READS 8

/* Returns how many buffers of nbytes_each fit into some parts of the memory
 * limit; at least 1 and at most `most'. */
static unsigned
share_limit (const struct rd_tile_read *read, unsigned nparts,
             uint64_t nbytes_each, unsigned most)
{
  const struct radio_context *context = read->array->store->context;
  uint64_t n = context->work_nbytes / LIMIT_PARTS * nparts
    / rd_max_u64 (nbytes_each, 1);
  return (unsigned) rd_min_u64 (rd_max_u64 (n, 1), most);
}

/* One index that is read. */
struct index_read {
  struct rd_buffer buffer;
  char key[RD_KEY_NBYTES];
};

struct index_job {
  struct rd_job job;
  struct rd_tile_read *read;
  struct rd_plan *plan;
  uint64_t generation;
  uint32_t n;
  uint32_t chunks[RD_PLAN_MAX_CHUNKS];    /* to read indexes for */

  /* For asynchronous reads; else NULL. */
  struct rd_io_get *gets;
  struct index_read *reads;
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    uint32_t narrived;
  } synced;
};

static void
prepare_index_read (const struct index_job *job, uint32_t number,
                    const char *key, struct rd_buffer *into,
                    struct rd_io_get *get)
{
  const struct rd_layout *layout = &job->read->array->layout;
  get->key = key;
  get->file = job->plan->chunks[number].file;
  get->range = layout->sharding->u.sharding.index_at_start ? RD_RANGE_SPAN
                                                           : RD_RANGE_SUFFIX;
  get->offset = 0;
  get->nbytes = (size_t) layout->index_nbytes;
  get->needed_nbytes = 0;
  get->object_nbytes = 0;
  get->version = 0;
  get->stop = rd_read_stop_io (job->read->stop);
  get->into = into;
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
  return rd_fail (RADIO_ERROR_FORMAT, "its tiles do not have the lengths in "
                  "the volume's document (attributes.radio.tile_lengths)");
}

/* Makes the index of a chunk from the lengths in the volume's document.
 * chunk->entry stays NULL if there are none. */
static enum radio_status
use_lengths (struct rd_tile_read *read, uint64_t generation,
             struct rd_plan_chunk *chunk)
{
  struct radio_array *array = read->array;
  struct rd_shard_index *index;
  uint64_t shard_nbytes;
  RD_TRY (rd_tile_lengths_find (&array->lengths, &array->layout,
                                chunk->chunk, &index, &shard_nbytes));
  if (!index)
    return RADIO_OK;
  read->used_lengths = true;
  return rd_index_cache_add (array->indexes, chunk->chunk, index,
                             shard_nbytes, 0, generation, &chunk->entry);
}

/* Takes the result of a read: an index, or that there is no shard. */
static enum radio_status
accept_index (const struct index_job *job, uint32_t number,
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
      RD_TRY (rd_io_read (array->store->io, get));
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
  struct index_job *job = (struct index_job *) base;
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
  struct index_job *job = (struct index_job *) base;
  return accept_index (job, job->chunks[task], &job->gets[task], scratch);
}

static void
count_arrived_index (struct rd_io_get *get)
{
  struct index_job *job = get->user_data;
  RD_LOCK_SCOPE (&job->mutex);
  if (++job->synced.narrived == job->n)
    pthread_cond_signal (&job->arrived);
}

/* Starts all reads at once, waits for them, and decodes on the pool. */
static enum radio_status
read_indexes_async (struct index_job *job)
{
  struct radio_store *store = job->read->array->store;
  RD_FREE struct rd_io_get *gets = rd_calloc (job->n, sizeof *gets);
  RD_FREE struct index_read *reads = rd_calloc (job->n, sizeof *reads);
  if (!gets || !reads)
    return rd_fail_memory (job->n * sizeof *reads);
  job->gets = gets;
  job->reads = reads;
  pthread_mutex_init (&job->mutex, NULL);
  pthread_cond_init (&job->arrived, NULL);
  job->synced.narrived = 0;
  for (uint32_t i = 0; i < job->n; i++) {
    rd_array_chunk_key (job->read->array,
                        job->plan->chunks[job->chunks[i]].chunk,
                        reads[i].key);
    prepare_index_read (job, job->chunks[i], reads[i].key, &reads[i].buffer,
                        &gets[i]);
    gets[i].done = count_arrived_index;
    gets[i].user_data = job;
  }
  store->io->ops->get (store->io, gets, job->n);
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    RD_LOCK_SCOPE (&job->mutex);
    while (job->synced.narrived < job->n)
      rd_read_stop_wait (job->read->stop, store->io, &job->arrived,
                         &job->mutex);
  }
  pthread_cond_destroy (&job->arrived);
  pthread_mutex_destroy (&job->mutex);
  job->job.run = accept_arrived_index;
  enum radio_status status = rd_pool_run (store->context->pool, &job->job);
  for (uint32_t i = 0; i < job->n; i++)
    rd_buffer_free (&reads[i].buffer);
  return status;
}

static const struct radio_site indexes_site = {
  "indexes", RD_IN_METADATA, "find_indexes", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Sets the index of each of the plan's chunks, from the cache or read. */
static enum radio_status
find_indexes (struct rd_tile_read *read, struct rd_plan *plan)
{
  struct radio_array *array = read->array;
  struct radio_store *store = array->store;
  struct rd_io *io = store->io;
  if (!array->layout.sharding)
    return RADIO_OK;
  RD_SCOPE ("shard index", RD_IN_METADATA);
  struct index_job job;
  uint32_t nhits = 0;
  job.read = read;
  job.plan = plan;
  job.generation = RD_NEVER_KEPT;
  job.n = 0;
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
      chunk->entry = rd_index_cache_find (array->indexes, chunk->chunk,
                                          &generation);
    if (chunk->entry) {
      nhits++;
      continue;
    }
    if (!read->fresh_indexes)
      RD_TRY (use_lengths (read, generation, chunk));
    if (chunk->entry)
      continue;
    if (job.n == 0 && !read->fresh_indexes)
      job.generation = generation;
    job.chunks[job.n++] = i;
  }
  RD_COUNT (hits, nhits);
  RD_COUNT (misses, job.n);
  if (job.n == 0)
    return RADIO_OK;

  uint64_t nbytes = rd_mul_sat (array->layout.index_nbytes, 2);
  enum radio_status status = rd_context_allows (store->context, nbytes,
                                                "a shard's index");
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s/%s", io->uri, array->path);
  job.job = (struct rd_job) {
    .run = read_index, .n = job.n, .site = &indexes_site,
    .max_active = share_limit (read, TILE_PARTS, nbytes,
                               store->context->nthreads),
  };
  return io->ops->is_blocking ? rd_pool_run (store->context->pool, &job.job)
                              : read_indexes_async (&job);
}

static const struct radio_site tiles_site = {
  "tiles", RD_IN_OPERATION, "rd_fetch_tiles", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Does one fetch, blocking. */
static enum radio_status
do_fetch (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_fetch_job *job = (struct rd_fetch_job *) base;
  struct radio_array *array = job->read->array;
  const struct rd_plan *plan = job->plan;
  const struct rd_plan_fetch *fetch = &plan->fetches[task];
  if (fetch->kind == RD_FETCH_CACHED)
    return rd_fetch_place_cached (job, fetch);
  if (fetch->kind == RD_FETCH_FILL)
    return rd_fetch_fill (job, fetch);
  bool missing;
  char key[RD_KEY_NBYTES];
  struct rd_io_get get;
  get.into = &scratch->fetched;
  rd_array_chunk_key (
    array, plan->chunks[plan->tiles[fetch->first].chunk].chunk, key);
  RD_TRY (rd_fetch_prepare_read (job, fetch, key, &get, &missing));
  if (missing)
    return rd_fetch_fill (job, fetch);
  enum radio_status status = rd_io_read (array->store->io, &get);
  (void) status;                      /* it is in get.error as well */
  RD_TRY (rd_fetch_check_read (job, fetch, &get, &missing));
  if (missing) {
    RD_TRY (rd_fetch_missing_object (job, fetch));
    return rd_fetch_fill (job, fetch);
  }
  for (uint32_t i = 0; i < fetch->n; i++)
    RD_TRY (rd_fetch_place_tile (job, fetch, fetch->first + i, &get,
                                 scratch));
  return RADIO_OK;
}

struct async;

/* One read in flight, then the job of decoding its tiles. */
struct flight {
  struct rd_job job;                  /* one task a tile */
  struct async *async;
  const struct rd_plan_fetch *fetch;
  struct rd_io_get get;
  struct rd_buffer buffer;
  char key[RD_KEY_NBYTES];
  bool started;                       /* the job is in the pool's queue */
  bool missing;
  struct rd_error error;              /* if it is not */
  struct flight *following;
};

struct async {
  struct rd_fetch_job *job;
  struct rd_pool *pool;
  uint32_t next;                      /* fetch to start */
  unsigned nflights;
  unsigned max_active;
  struct radio_handoff handoff;       /* the parent of the work */
  struct rd_error error;              /* the first failure */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    struct flight *first, **last;     /* those that arrived, in that order */
  } synced;
};

static enum radio_status
place_arrived_tile (struct rd_job *job, uint64_t task,
                    struct rd_scratch *scratch)
{
  struct flight *flight = (struct flight *) job;
  uint32_t tile = flight->fetch->first + (uint32_t) task;
  return flight->missing
         ? rd_fetch_fill_tile (flight->async->job, tile)
         : rd_fetch_place_tile (flight->async->job, flight->fetch, tile,
                                &flight->get, scratch);
}

/* Called by the store's thread when a read is done: only queues its tiles. */
static void
on_arrival (struct rd_io_get *get)
{
  struct flight *flight = get->user_data;
  struct async *async = flight->async;
  enum radio_status status = rd_fetch_check_read (async->job, flight->fetch,
                                                  get, &flight->missing);
  if (status == RADIO_OK)
    status = rd_pool_start (async->pool, &flight->job);
  flight->started = status == RADIO_OK;
  if (!flight->started)
    rd_error_save (&flight->error, status);
  RD_LOCK_SCOPE (&async->mutex);
  flight->following = NULL;
  *async->synced.last = flight;
  async->synced.last = &flight->following;
  pthread_cond_signal (&async->arrived);
}

static void
record_failure (struct async *async, enum radio_status status)
{
  if (status != RADIO_OK && async->error.status == RADIO_OK)
    rd_error_save (&async->error, status);
}

static const struct radio_counter in_flight = {
  "requests in flight", "count"
};

static void
update_gauge (const struct async *async)
{
  if (radio_profile_is_on ())
    radio_gauge_set (&in_flight, async->nflights);
}

/* Starts the next read; false when none is left, or after a failure. */
static bool
start_flight (struct async *async, struct flight *flight)
{
  struct rd_fetch_job *job = async->job;
  const struct radio_array *array = job->read->array;
  const struct rd_plan *plan = job->plan;
  flight->fetch = NULL;
  while (!flight->fetch && async->next < plan->nfetches
         && async->error.status == RADIO_OK) {
    const struct rd_plan_fetch *fetch = &plan->fetches[async->next++];
    if (fetch->kind == RD_FETCH_FILL || fetch->kind == RD_FETCH_CACHED)
      continue;
    bool missing;
    rd_array_chunk_key (
      array, plan->chunks[plan->tiles[fetch->first].chunk].chunk,
      flight->key);
    enum radio_status status = rd_fetch_prepare_read (
      job, fetch, flight->key, &flight->get, &missing);
    if (status == RADIO_OK && !missing)
      flight->fetch = fetch;
    else
      record_failure (async, status == RADIO_OK ? rd_fetch_fill (job, fetch)
                                                : status);
  }
  if (!flight->fetch)
    return false;
  flight->job.run = place_arrived_tile;
  flight->job.n = flight->fetch->n;
  flight->job.max_active = async->max_active;
  flight->job.site = &tiles_site;
  flight->job.parent = &async->handoff;
  flight->get.into = &flight->buffer;
  flight->get.done = on_arrival;
  flight->get.user_data = flight;
  async->nflights++;
  update_gauge (async);
  array->store->io->ops->get (array->store->io, &flight->get, 1);
  return true;
}

/* Waits for the next flight that arrives, and for its tiles. */
static struct flight *
finish_next_flight (struct async *async)
{
  struct rd_tile_read *read = async->job->read;
  struct flight *flight;
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    RD_LOCK_SCOPE (&async->mutex);
    while (!async->synced.first)
      rd_read_stop_wait (read->stop, read->array->store->io,
                         &async->arrived, &async->mutex);
    flight = async->synced.first;
    async->synced.first = flight->following;
    if (!async->synced.first)
      async->synced.last = &async->synced.first;
  }
  record_failure (async, flight->started
                  ? rd_pool_wait (async->pool, &flight->job)
                  : rd_error_raise (&flight->error));
  if (flight->started && flight->missing)
    record_failure (async, rd_fetch_missing_object (async->job,
                                                    flight->fetch));
  async->nflights--;
  update_gauge (async);
  return flight;
}

/* Does a fetch that needs no read. */
static enum radio_status
do_local_fetch (struct rd_job *base, uint64_t task,
                struct rd_scratch *scratch)
{
  struct rd_fetch_job *job = (struct rd_fetch_job *) base;
  const struct rd_plan_fetch *fetch = &job->plan->fetches[task];
  (void) scratch;
  if (fetch->kind == RD_FETCH_CACHED)
    return rd_fetch_place_cached (job, fetch);
  return fetch->kind == RD_FETCH_FILL ? rd_fetch_fill (job, fetch)
                                      : RADIO_OK;
}

/* Chooses how many reads are in flight, and how many threads decode the bytes
 * of one of them: half of the memory for tiles is for bytes that were read,
 * half for decoding them.  All flights that arrived are decoded at once. */
static unsigned
choose_window (struct rd_fetch_job *job, unsigned *max_active)
{
  const struct rd_tile_read *read = job->read;
  const struct radio_context *context = read->array->store->context;
  const struct rd_layout *layout = &read->array->layout;
  uint64_t each = layout->sharding ? job->plan->max_fetch_nbytes
                                   : layout->tile_bound_nbytes;
  unsigned window = share_limit (
    read, WINDOW_PARTS, each,
    (unsigned) rd_min_u64 (MAX_WINDOW, job->plan->nfetches));
  unsigned ndecoders = share_limit (read, TILE_PARTS - WINDOW_PARTS,
                                    layout->decode_nbytes,
                                    context->nthreads);
  if (ndecoders < context->nthreads && window > ndecoders)
    window = ndecoders;
  *max_active = ndecoders < context->nthreads ? ndecoders / window
                                              : ndecoders;
  job->max_object_nbytes = context->memory_limit_nbytes;
  if (window > 1)
    job->max_object_nbytes = context->memory_limit_nbytes / LIMIT_PARTS
      * WINDOW_PARTS / window + layout->decode_nbytes;
  return window;
}

static enum radio_status
do_fetches_async (struct rd_fetch_job *job)
{
  RD_SCOPE ("requests", RD_IN_OPERATION);
  const struct rd_plan *plan = job->plan;
  unsigned max_active, window = choose_window (job, &max_active);
  RD_FREE struct flight *flights = rd_calloc (window, sizeof *flights);
  if (!flights)
    return rd_fail_memory (window * sizeof *flights);
  struct async async = {
    .job = job,
    .pool = job->read->array->store->context->pool,
    .max_active = max_active,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .arrived = PTHREAD_COND_INITIALIZER,
  };
  async.synced.last = &async.synced.first;
  if (radio_profile_is_on ())
    radio_handoff_give (&async.handoff);
  for (unsigned i = 0; i < window; i++) {
    flights[i].async = &async;
    if (!start_flight (&async, &flights[i]))
      break;
  }

  /* Fill values and cached tiles are placed while the first reads are in
   * flight. */
  bool any = false;
  for (uint32_t i = 0; i < plan->nfetches; i++)
    any |= plan->fetches[i].kind == RD_FETCH_FILL
      || plan->fetches[i].kind == RD_FETCH_CACHED;
  job->job.run = do_local_fetch;
  job->job.site = &tiles_site;
  job->job.n = plan->nfetches;
  if (any)
    record_failure (&async, rd_pool_run (async.pool, &job->job));

  /* Wait for every flight, also after a failure. */
  while (async.nflights > 0)
    start_flight (&async, finish_next_flight (&async));
  if (async.handoff.parent)
    radio_handoff_release (&async.handoff);
  for (unsigned i = 0; i < window; i++)
    rd_buffer_free (&flights[i].buffer);
  pthread_cond_destroy (&async.arrived);
  pthread_mutex_destroy (&async.mutex);
  return rd_error_raise (&async.error);
}

/* Plans the fetches of the plan's chunks, and does them. */
static enum radio_status
read_chunks (struct rd_tile_read *read, struct rd_plan *plan)
{
  const struct rd_layout *layout = &read->array->layout;
  const struct radio_context *context = read->array->store->context;
  struct rd_io *io = read->array->store->io;
  /* Half of the memory for tiles is for bytes that were read; the store's cap
   * does not go above that. */
  uint64_t most = context->work_nbytes / LIMIT_PARTS * TILE_PARTS / 2;
  const struct rd_coalesce coalesce = {
    .gap_nbytes = io->coalesce_gap_nbytes,
    .cap_nbytes = rd_min_u64 (io->coalesce_cap_nbytes, most),
    .nworkers = io->ops->is_blocking && context->nthreads > 1
      ? context->nthreads : 0,
  };
  enum radio_status status = find_indexes (read, plan);
  if (status == RADIO_OK) {
    RD_SCOPE ("plan", RD_IN_METADATA);
    status = rd_plan_fetches (layout, &coalesce, &read->cache, plan);
  }
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    rd_index_cache_release (read->array->indexes, plan->chunks[i].entry);
    plan->chunks[i].entry = NULL;
  }

  struct rd_fetch_job job = { .read = read, .plan = plan };
  if (status == RADIO_OK && plan->nfetches > 0 && io->ops->is_blocking) {
    uint64_t fetch_nbytes = layout->sharding ? plan->max_fetch_nbytes
                                             : layout->tile_bound_nbytes;
    unsigned nthreads = share_limit (
      read, TILE_PARTS, rd_add_sat (fetch_nbytes, layout->decode_nbytes),
      context->nthreads);
    bool is_small = rd_mul_sat (plan->ntiles, layout->tile_nbytes)
      <= ALONE_NBYTES;
    job.max_object_nbytes = context->memory_limit_nbytes / nthreads;
    job.job.run = do_fetch;
    job.job.site = &tiles_site;
    job.job.n = plan->nfetches;
    job.job.spread = true;
    job.job.max_active = is_small ? 1 : nthreads;
    status = rd_pool_run (context->pool, &job.job);
  } else if (status == RADIO_OK && plan->nfetches > 0)
    status = do_fetches_async (&job);
  rd_plan_release_cached (&read->cache, plan);
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    rd_io_release (io, plan->chunks[i].file);
    plan->chunks[i].file = NULL;
  }
  RD_TRY (status);
  return read->part_done ? read->part_done (read) : RADIO_OK;
}

/* True when a part of the plan that failed may succeed with other indexes,
 * which are read then. */
static bool
may_read_again (struct rd_tile_read *read, const struct rd_plan *plan,
                enum radio_status status)
{
  bool is_stale = atomic_load (&read->found_stale);
  if (!read->used_lengths
      || (status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_CHECKSUM
          && status != RADIO_ERROR_NOT_FOUND && !is_stale))
    return is_stale && !read->part_done;
  /* The shards' own indexes decide. */
  rd_tile_lengths_drop (&read->array->lengths);
  for (uint32_t i = 0; i < plan->nchunks; i++)
    rd_index_cache_drop (read->array->indexes, plan->chunks[i].chunk);
  return true;
}

enum radio_status
rd_fetch_tiles (struct rd_tile_read *read)
{
  const struct radio_context *context = read->array->store->context;
  struct rd_plan_cursor cursor = {
    .layout = &read->array->layout,
    .requests = read->requests,
    .n = read->n,
  };
  RD_PLAN_SCOPE struct rd_plan plan;
  rd_plan_init (&plan);
  for (;;) {
    {
      RD_SCOPE ("plan", RD_IN_METADATA);
      RD_TRY (rd_plan_chunks (&cursor, context->memory_limit_nbytes
                              / LIMIT_PARTS * INDEX_PARTS, &plan));
    }
    if (plan.nchunks == 0)
      return RADIO_OK;
    unsigned n = 0;
    enum radio_status status;
    do {
      atomic_store (&read->found_stale, false);
      read->used_lengths = false;
      status = read_chunks (read, &plan);
    } while (status != RADIO_OK && ++n < MAX_READS
             && may_read_again (read, &plan, status));
    RD_TRY (status);
  }
}
