/* SPDX-License-Identifier: MIT */
/* Batch after batch: plan it, read the indexes it needs, fetch its units.
 * Of a store that blocks each worker reads for itself. */
#include <config.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"

/* Decoding less than this is done before another thread is awake. */
#define ALONE_NBYTES ((uint64_t) 128 << 10)

unsigned
rd_fetch_share (const struct rd_fetch *fetch, unsigned part,
                uint64_t nbytes_each, unsigned most)
{
  const struct radio_context *context = fetch->array->store->context;
  uint64_t n = context->work_nbytes / RD_FETCH_PARTS * part
    / rd_max_u64 (nbytes_each, 1);
  return (unsigned) rd_min_u64 (rd_max_u64 (n, 1), most);
}

/* What a thread holds at one time. */
static uint64_t
thread_nbytes (const struct rd_fetch_job *job)
{
  const struct rd_layout *layout = &job->fetch->array->layout;
  uint64_t unit = layout->sharding ? job->batch->most_unit_nbytes
                                   : layout->tile_bound_nbytes;
  return rd_add_sat (unit, layout->decode_nbytes);
}

static bool
is_small (const struct rd_fetch_job *job)
{
  return rd_mul_sat (job->batch->nitems,
                     job->fetch->array->layout.tile_nbytes) <= ALONE_NBYTES;
}

const struct radio_site rd_fetch_tiles_site = {
  "tiles", RD_IN_OPERATION, "rd_fetch_run", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Read a unit and place its tiles. */
static enum radio_status
get_unit (struct rd_fetch_job *job, const struct rd_unit *unit,
          struct rd_scratch *scratch, bool *missing)
{
  struct radio_array *array = job->fetch->array;
  const struct rd_item *item = &job->batch->items[unit->first];
  char key[RD_KEY_NBYTES];
  struct rd_io_get get;
  get.into = &scratch->fetched;
  rd_fetch_key (array, job->batch->touches[item->touch].chunk, key);
  RD_TRY (rd_unit_ask (job, unit, key, &get, missing));
  if (*missing)
    return RADIO_OK;
  enum radio_status status = rd_io_read (array->store->io, &get);
  (void) status;                      /* it is in get.error as well */
  RD_TRY (rd_unit_look (job, unit, &get, missing));
  if (*missing)
    return rd_unit_missing (job, unit);
  for (uint32_t i = 0; i < unit->n && !*missing; i++)
    RD_TRY (rd_unit_item (job, unit, unit->first + i, &get, scratch));
  return RADIO_OK;
}

static enum radio_status
do_unit (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_fetch_job *job = (struct rd_fetch_job *) base;
  const struct rd_unit *unit = &job->batch->units[task];
  if (unit->kind == RD_UNIT_CACHED)
    return rd_unit_place_cached (job, unit);
  bool missing = unit->kind == RD_UNIT_FILL;
  if (!missing)
    RD_TRY (get_unit (job, unit, scratch, &missing));
  return missing ? rd_unit_fill (job, unit) : RADIO_OK;
}

static enum radio_status
do_units (struct rd_fetch *fetch, struct rd_batch *batch)
{
  struct radio_store *store = fetch->array->store;
  struct rd_fetch_job job = { .fetch = fetch, .batch = batch };
  if (!store->io->ops->is_blocking)
    return rd_fetch_units_async (&job);
  job.job.run = do_unit;
  job.job.site = &rd_fetch_tiles_site;
  job.job.n = batch->nunits;
  job.job.spread = true;
  const struct radio_context *context = store->context;
  unsigned nthreads = rd_fetch_share (fetch, RD_FETCH_TILE_PARTS,
                                      thread_nbytes (&job),
                                      context->nthreads);
  job.most_object_nbytes = context->memory_limit_nbytes / nthreads;
  job.job.max_active = is_small (&job) ? 1 : nthreads;
  return rd_pool_run (store->context->pool, &job.job);
}

static enum radio_status
plan_touches (const struct rd_fetch *fetch, struct rd_walk *walk,
              struct rd_batch *batch)
{
  RD_SCOPE ("plan", RD_IN_METADATA);
  const struct radio_context *context = fetch->array->store->context;
  return rd_plan_touches (walk, context->memory_limit_nbytes
                          / RD_FETCH_PARTS * RD_FETCH_INDEX_PARTS, batch);
}

static enum radio_status
plan_units (const struct rd_fetch *fetch, const struct rd_coalesce *coalesce,
            struct rd_batch *batch)
{
  RD_SCOPE ("plan", RD_IN_METADATA);
  return rd_plan_units (&fetch->array->layout, coalesce, &fetch->known,
                        batch);
}

/* Half of what tiles may take is for what was read of them: a caller's cap
 * does not go above that. */
static uint64_t
most_joined_nbytes (const struct radio_context *context)
{
  return context->work_nbytes / RD_FETCH_PARTS * RD_FETCH_TILE_PARTS / 2;
}

static enum radio_status
do_batch (struct rd_fetch *fetch, struct rd_batch *batch)
{
  const struct radio_store *store = fetch->array->store;
  const struct rd_io *io = store->io;
  unsigned nthreads = store->context->nthreads;
  const struct rd_coalesce coalesce = {
    .gap_nbytes = io->coalesce_gap_nbytes,
    .cap_nbytes = rd_min_u64 (io->coalesce_cap_nbytes,
                              most_joined_nbytes (store->context)),
    .nworkers = io->ops->is_blocking && nthreads > 1 ? nthreads : 0,
  };
  enum radio_status status = rd_fetch_indexes (fetch, batch);
  if (status == RADIO_OK)
    status = plan_units (fetch, &coalesce, batch);
  rd_fetch_release_indexes (fetch, batch);
  if (status == RADIO_OK && batch->nunits > 0)
    status = do_units (fetch, batch);
  rd_plan_release (&fetch->known, batch);
  rd_fetch_release_files (fetch, batch);
  RD_TRY (status);
  return fetch->batch_done ? fetch->batch_done (fetch) : RADIO_OK;
}

enum radio_status
rd_fetch_check_array (const struct radio_array *array)
{
  struct rd_io *io = array->store->io;
  char key[RD_KEY_NBYTES];
  uint64_t nbytes;
  rd_path_key (array->path, "zarr.json", key);
  enum radio_status status = io->ops->size (io, key, &nbytes);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  return rd_fail (status, "%s/%s: the array was removed or replaced while it "
                  "was open; open it again", io->uri, key);
}

enum radio_status
rd_fetch_missing (struct rd_fetch *fetch)
{
  fetch->found_missing = true;
  if (!fetch->array->is_complete)
    return RADIO_OK;
  RD_TRY (rd_fetch_check_array (fetch->array));
  const char *what = fetch->array->layout.sharding ? "shard" : "chunk";
  return rd_fail (RADIO_ERROR_FORMAT, "the %s is missing: radio stores "
                  "every %s, so this one was lost", what, what);
}

enum radio_status
rd_fetch_run (struct rd_fetch *fetch)
{
  struct rd_walk walk = {
    .layout = &fetch->array->layout,
    .requests = fetch->requests,
    .n = fetch->n,
  };
  RD_BATCH_SCOPE struct rd_batch batch;
  rd_batch_init (&batch);
  for (;;) {
    RD_TRY (plan_touches (fetch, &walk, &batch));
    if (batch.ntouches == 0)
      return RADIO_OK;
    RD_TRY (do_batch (fetch, &batch));
  }
}
