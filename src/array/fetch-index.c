/* SPDX-License-Identifier: MIT */
/* The indexes of a batch's shards: from the cache, or read, all that are
 * missing at once. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"

/* One index that is read. */
struct reading {
  struct rd_buffer buffer;
  char key[RD_KEY_NBYTES];
};

struct index_job {
  struct rd_job job;
  struct rd_fetch *fetch;
  struct rd_batch *batch;
  uint64_t generation;
  uint32_t n;
  uint32_t heads[RD_BATCH_MAX_TOUCHES];   /* touches to read for */

  /* Of reads that go on by themselves; NULL else. */
  struct rd_io_get *gets;
  struct reading *readings;
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    uint32_t narrived;
  } synced;
};

static void
ask (const struct index_job *job, uint32_t head, const char *key,
     struct rd_buffer *into, struct rd_io_get *get)
{
  const struct rd_layout *layout = &job->fetch->array->layout;
  get->key = key;
  get->file = job->batch->touches[head].file;
  get->range = layout->sharding->u.sharding.index_at_start ? RD_RANGE_SPAN
                                                           : RD_RANGE_SUFFIX;
  get->offset = 0;
  get->nbytes = (size_t) layout->index_nbytes;
  get->needed_nbytes = 0;
  get->version = 0;
  get->into = into;
}

static enum radio_status
decode (const struct index_job *job, const struct rd_io_get *get,
        struct rd_scratch *scratch, struct rd_shard_index **index)
{
  const struct rd_layout *layout = &job->fetch->array->layout;
  if (get->into->nbytes != layout->index_nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the shard has %" PRIu64 " bytes, "
                    "less than its index of %" PRIu64, get->object_nbytes,
                    layout->index_nbytes);
  RD_SCOPE ("decode index", RD_IN_METADATA);
  return rd_shard_index_decode (layout->sharding, &layout->chunk, scratch,
                                get->into->data, get->into->nbytes,
                                get->object_nbytes, index);
}

/* The tiles of this batch that need the index of a head's chunk. */
static uint64_t
count_tiles (const struct rd_batch *batch, uint32_t head)
{
  uint64_t n = batch->touches[head].n;
  for (uint32_t i = head + 1;
       i < batch->ntouches && !rd_touch_is_head (batch, i); i++)
    n += batch->touches[i].n;
  return n;
}

static enum radio_status
forgive (const struct index_job *job, uint32_t head,
         enum radio_status status)
{
  struct rd_fetch *fetch = job->fetch;
  if (!fetch->forgive)
    return status;
  job->batch->touches[head].failed = true;
  return fetch->forgive (fetch, status, count_tiles (job->batch, head),
                         head);
}

/* Take what came for a head: an index, or that there is no shard. */
static enum radio_status
accept_index (const struct index_job *job, uint32_t head,
              const struct rd_io_get *get, struct rd_scratch *scratch)
{
  struct radio_array *array = job->fetch->array;
  struct rd_touch *touch = &job->batch->touches[head];
  enum radio_status status = rd_error_raise (&get->error);
  touch->missing = status == RADIO_ERROR_NOT_FOUND;
  struct rd_shard_index *index;
  if (touch->missing) {
    status = rd_fetch_missing (job->fetch);
    touch->missing = status == RADIO_OK;
    if (status == RADIO_OK)
      return RADIO_OK;
  } else {
    RD_TRY (status);
    status = decode (job, get, scratch, &index);
  }
  if (status != RADIO_OK)
    return forgive (job, head, rd_fail_in (status, "%s/%s",
                                           array->store->io->uri, get->key));
  return rd_index_cache_add (array->indexes, touch->chunk, index,
                             get->object_nbytes, get->version,
                             job->generation, &touch->entry);
}

/* Read one index on the thread at hand. */
static enum radio_status
read_index (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct index_job *job = (struct index_job *) base;
  struct radio_array *array = job->fetch->array;
  uint32_t head = job->heads[task];
  char key[RD_KEY_NBYTES];
  struct rd_io_get get;
  rd_fetch_key (array, job->batch->touches[head].chunk, key);
  ask (job, head, key, &scratch->fetched, &get);
  enum radio_status status = rd_io_read (array->store->io, &get);
  (void) status;                      /* it is in get.error as well */
  return accept_index (job, head, &get, scratch);
}

static enum radio_status
accept_arrived (struct rd_job *base, uint64_t task,
                struct rd_scratch *scratch)
{
  struct index_job *job = (struct index_job *) base;
  return accept_index (job, job->heads[task], &job->gets[task], scratch);
}

static void
note_arrival (struct rd_io_get *get)
{
  struct index_job *job = get->user_data;
  RD_LOCK_SCOPE (&job->mutex);
  if (++job->synced.narrived == job->n)
    pthread_cond_signal (&job->arrived);
}

static void
wait_arrivals (struct index_job *job)
{
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  RD_LOCK_SCOPE (&job->mutex);
  while (job->synced.narrived < job->n)
    pthread_cond_wait (&job->arrived, &job->mutex);
}

/* Start all reads and wait for them. */
static void
read_all_at_once (struct index_job *job)
{
  struct radio_array *array = job->fetch->array;
  pthread_mutex_init (&job->mutex, NULL);
  pthread_cond_init (&job->arrived, NULL);
  job->synced.narrived = 0;
  for (uint32_t i = 0; i < job->n; i++) {
    struct reading *reading = &job->readings[i];
    rd_fetch_key (array, job->batch->touches[job->heads[i]].chunk,
                  reading->key);
    ask (job, job->heads[i], reading->key, &reading->buffer,
         &job->gets[i]);
    job->gets[i].done = note_arrival;
    job->gets[i].user_data = job;
  }
  array->store->io->ops->get (array->store->io, job->gets, job->n);
  wait_arrivals (job);
  pthread_cond_destroy (&job->arrived);
  pthread_mutex_destroy (&job->mutex);
}

static enum radio_status
load_async (struct index_job *job)
{
  RD_FREE struct rd_io_get *gets = rd_calloc (job->n, sizeof *gets);
  RD_FREE struct reading *readings = rd_calloc (job->n, sizeof *readings);
  if (!gets || !readings)
    return rd_fail_memory (job->n * sizeof *readings);
  job->gets = gets;
  job->readings = readings;
  read_all_at_once (job);
  job->job.run = accept_arrived;
  enum radio_status status = rd_pool_run (
    job->fetch->array->store->context->pool, &job->job);
  for (uint32_t i = 0; i < job->n; i++)
    rd_buffer_free (&readings[i].buffer);
  return status;
}

static const struct radio_site indexes_site = {
  "indexes", RD_IN_METADATA, "rd_fetch_indexes", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
load (struct index_job *job)
{
  const struct radio_array *array = job->fetch->array;
  uint64_t nbytes;
  if (rd_mul_overflows (array->layout.index_nbytes, 2, &nbytes))
    nbytes = UINT64_MAX;
  enum radio_status status = rd_context_allows (array->store->context,
                                                nbytes, "a shard's index");
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s/%s", array->store->io->uri, array->path);
  job->job = (struct rd_job) {
    .run = read_index, .n = job->n, .site = &indexes_site,
    .max_active = rd_fetch_share (job->fetch, RD_FETCH_TILE_PARTS, nbytes,
                                  array->store->context->nthreads),
  };
  if (!array->store->io->ops->is_blocking)
    return load_async (job);
  return rd_pool_run (array->store->context->pool, &job->job);
}

/* Only what never changes is kept open from one read to the next: the shards
 * that radio has written. */
static void
hold_file (struct rd_fetch *fetch, struct rd_touch *touch)
{
  const struct radio_array *array = fetch->array;
  struct rd_io *io = array->store->io;
  if (!io->ops->hold)
    return;
  char key[RD_KEY_NBYTES];
  rd_fetch_key (array, touch->chunk, key);
  touch->file = rd_io_hold (io, key,
                            array->is_complete && !fetch->fresh_indexes);
}

/* Take what the cache has; what is missing becomes the job's. */
static void
look_up (struct rd_fetch *fetch, struct index_job *job)
{
  struct rd_batch *batch = job->batch;
  uint32_t nhits = 0;
  job->generation = RD_NEVER_KEPT;
  job->n = 0;
  for (uint32_t i = 0; i < batch->ntouches; i++) {
    uint64_t generation;
    if (!rd_touch_is_head (batch, i))
      continue;
    hold_file (fetch, &batch->touches[i]);
    if (!fetch->fresh_indexes)
      batch->touches[i].entry = rd_index_cache_find (
        fetch->array->indexes, batch->touches[i].chunk, &generation);
    if (batch->touches[i].entry) {
      nhits++;
      continue;
    }
    if (job->n == 0 && !fetch->fresh_indexes)
      job->generation = generation;
    job->heads[job->n++] = i;
  }
  RD_COUNT (hits, nhits);
  RD_COUNT (misses, job->n);
}

enum radio_status
rd_fetch_indexes (struct rd_fetch *fetch, struct rd_batch *batch)
{
  if (!fetch->array->layout.sharding)
    return RADIO_OK;
  RD_SCOPE ("shard index", RD_IN_METADATA);
  struct index_job job;
  job.fetch = fetch;
  job.batch = batch;
  look_up (fetch, &job);
  return job.n > 0 ? load (&job) : RADIO_OK;
}

void
rd_fetch_release_indexes (struct rd_fetch *fetch, struct rd_batch *batch)
{
  for (uint32_t i = 0; i < batch->ntouches; i++) {
    rd_index_cache_release (fetch->array->indexes,
                            batch->touches[i].entry);
    batch->touches[i].entry = NULL;
  }
}

void
rd_fetch_release_files (struct rd_fetch *fetch, struct rd_batch *batch)
{
  struct rd_io *io = fetch->array->store->io;
  for (uint32_t i = 0; i < batch->ntouches; i++) {
    rd_io_release (io, batch->touches[i].file);
    batch->touches[i].file = NULL;
  }
}
