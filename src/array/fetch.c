/* SPDX-License-Identifier: MIT */
/* Reading tiles, part by part of a plan: read the shard indexes that are not
 * cached, plan the fetches, do them.
 *
 * If the store blocks, each worker reads for itself.  Else the calling thread
 * keeps a window of reads in flight, each with its own buffer that is used
 * again.  When one completes, the store's thread only queues its tiles for the
 * pool; workers decode them, and so does the caller while it waits.  In a run,
 * no thread waits: the one that ends the decoding starts what is next. */
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

/* Reads in flight, within the store's own limits, and the parts of the memory
 * limit that they may take. */
#define MAX_WINDOW 64
#define WINDOW_PARTS (RD_TILE_PARTS / 2)

/* A part of the plan is read as often as this while its shards are replaced,
 * each time with their new indexes. */
#define MAX_READS 8

struct rd_run;

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
  struct rd_io_get get = { .into = &scratch->fetched };
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
  struct rd_run *run;                    /* NULL: the caller waits */
  struct rd_pool *pool;
  struct flight *flights;
  unsigned window;                    /* of these */
  unsigned max_active;
  const struct radio_handoff *parent; /* of the work */
  struct radio_handoff handoff;       /* if the caller waits */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    uint32_t next;                    /* fetch to start */
    unsigned nflights;                /* and, in a run, who starts them */
    struct rd_error error;            /* the first failure */
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

/* A worker may be reading a tile again. */
static void
wait_for_workers (struct rd_job *job, pthread_cond_t *cond,
                  pthread_mutex_t *mutex)
{
  const struct async *async = ((struct flight *) job)->async;
  rd_read_stop_wait (async->job->read->stop, cond, mutex);
}

/* Called by the store's thread when a read is done: only queues its tiles. */
static void
on_arrival (struct rd_io_get *get)
{
  struct flight *flight = get->user_data;
  struct async *async = flight->async;
  enum radio_status status = rd_fetch_check_read (async->job, flight->fetch,
                                                  get, &flight->missing);
  if (async->run) {
    /* Also a failed one, whose job has only its end. */
    rd_error_save (&flight->error, status);
    if (status != RADIO_OK)
      flight->job.n = 0;
    rd_pool_post (async->pool, &flight->job);
    return;
  }
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
  if (status == RADIO_OK)
    return;
  RD_LOCK_SCOPE (&async->mutex);
  if (async->synced.error.status == RADIO_OK)
    rd_error_save (&async->synced.error, status);
}

static const struct radio_counter in_flight = {
  "requests in flight", "count"
};

/* Returns the number of flights then. */
static unsigned
count_flight (struct async *async, int change)
{
  RD_LOCK_SCOPE (&async->mutex);
  async->synced.nflights += (unsigned) change;
  if (radio_profile_is_on ())
    radio_gauge_set (&in_flight, async->synced.nflights);
  return async->synced.nflights;
}

/* Returns the next fetch that is read; NULL if none is left, or after a
 * failure. */
static const struct rd_plan_fetch *
take_fetch (struct async *async)
{
  const struct rd_plan *plan = async->job->plan;
  RD_LOCK_SCOPE (&async->mutex);
  while (async->synced.next < plan->nfetches
         && async->synced.error.status == RADIO_OK) {
    const struct rd_plan_fetch *fetch = &plan->fetches[async->synced.next++];
    if (fetch->kind != RD_FETCH_FILL && fetch->kind != RD_FETCH_CACHED)
      return fetch;
  }
  return NULL;
}

static enum radio_status flight_ended (struct rd_job *job,
                                       enum radio_status status);

/* Starts the next read; false when none is left, or after a failure.  In a run
 * it may have ended before this returns. */
static bool
start_flight (struct async *async, struct flight *flight)
{
  struct rd_fetch_job *job = async->job;
  const struct radio_array *array = job->read->array;
  const struct rd_plan *plan = job->plan;
  struct rd_io *io = array->store->io;
  bool is_ready = false;
  while (!is_ready && (flight->fetch = take_fetch (async))) {
    bool missing;
    rd_array_chunk_key (
      array, plan->chunks[plan->tiles[flight->fetch->first].chunk].chunk,
      flight->key);
    enum radio_status status = rd_fetch_prepare_read (
      job, flight->fetch, flight->key, &flight->get, &missing);
    is_ready = status == RADIO_OK && !missing;
    if (!is_ready)
      record_failure (async, status == RADIO_OK
                             ? rd_fetch_fill (job, flight->fetch) : status);
  }
  if (!is_ready)
    return false;
  flight->job.run = place_arrived_tile;
  flight->job.wait = wait_for_workers;
  flight->job.n = flight->fetch->n;
  flight->job.max_active = async->max_active;
  flight->job.site = &tiles_site;
  flight->job.parent = async->parent;
  flight->job.end = async->run ? flight_ended : NULL;
  flight->get.into = &flight->buffer;
  flight->get.done = on_arrival;
  flight->get.user_data = flight;
  (void) count_flight (async, 1);
  io->ops->get (io, &flight->get, 1);
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
      rd_read_stop_wait (read->stop, &async->arrived, &async->mutex);
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
  (void) count_flight (async, -1);
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
  unsigned window = rd_fetch_share_limit (
    read, WINDOW_PARTS, each,
    (unsigned) rd_min_u64 (MAX_WINDOW, job->plan->nfetches));
  unsigned ndecoders = rd_fetch_share_limit (read, RD_TILE_PARTS - WINDOW_PARTS,
                                    layout->decode_nbytes,
                                    context->nthreads);
  if (ndecoders < context->nthreads && window > ndecoders)
    window = ndecoders;
  *max_active = ndecoders < context->nthreads ? ndecoders / window
                                              : ndecoders;
  job->max_object_nbytes = context->memory_limit_nbytes;
  if (window > 1)
    job->max_object_nbytes = context->memory_limit_nbytes / RD_LIMIT_PARTS
      * WINDOW_PARTS / window + layout->decode_nbytes;
  return window;
}

/* Opens the window of a part's reads; async's job and run are set. */
static enum radio_status
open_flights (struct async *async)
{
  async->window = choose_window (async->job, &async->max_active);
  async->flights = rd_calloc (async->window, sizeof *async->flights);
  if (!async->flights)
    return rd_fail_memory (async->window * sizeof *async->flights);
  for (unsigned i = 0; i < async->window; i++)
    async->flights[i].async = async;
  async->pool = async->job->read->array->store->context->pool;
  pthread_mutex_init (&async->mutex, NULL);
  pthread_cond_init (&async->arrived, NULL);
  async->synced.next = 0;
  async->synced.nflights = 0;
  async->synced.error.status = RADIO_OK;
  async->synced.first = NULL;
  async->synced.last = &async->synced.first;
  return RADIO_OK;
}

/* Ends it when no flight is left; returns the status of the first failure. */
static enum radio_status
close_flights (struct async *async)
{
  for (unsigned i = 0; i < async->window; i++)
    rd_buffer_free (&async->flights[i].buffer);
  rd_free (async->flights);
  pthread_cond_destroy (&async->arrived);
  pthread_mutex_destroy (&async->mutex);
  return rd_error_raise (&async->synced.error);
}

/* Starts the first reads.  Fill values and cached tiles are placed while these
 * are in flight. */
static void
start_flights (struct async *async)
{
  struct rd_fetch_job *job = async->job;
  const struct rd_plan *plan = job->plan;
  for (unsigned i = 0; i < async->window; i++)
    if (!start_flight (async, &async->flights[i]))
      break;
  bool any = false;
  for (uint32_t i = 0; i < plan->nfetches; i++)
    any |= plan->fetches[i].kind == RD_FETCH_FILL
      || plan->fetches[i].kind == RD_FETCH_CACHED;
  job->job.run = do_local_fetch;
  job->job.site = &tiles_site;
  job->job.n = plan->nfetches;
  if (any)
    record_failure (async, rd_pool_run (async->pool, &job->job));
}

static enum radio_status
do_fetches_async (struct rd_fetch_job *job)
{
  RD_SCOPE ("requests", RD_IN_OPERATION);
  struct async async = { .job = job };
  RD_TRY (open_flights (&async));
  async.parent = &async.handoff;
  if (radio_profile_is_on ())
    radio_handoff_give (&async.handoff);
  start_flights (&async);
  /* Wait for every flight, also after a failure. */
  while (count_flight (&async, 0) > 0)
    start_flight (&async, finish_next_flight (&async));
  if (async.handoff.parent)
    radio_handoff_release (&async.handoff);
  return close_flights (&async);
}

/* Plans the fetches of the plan's chunks, whose indexes were found if status is
 * RADIO_OK. */
static enum radio_status
plan_part (struct rd_tile_read *read, struct rd_plan *plan,
           enum radio_status status)
{
  const struct radio_context *context = read->array->store->context;
  struct rd_io *io = read->array->store->io;
  /* Half of the memory for tiles is for bytes that were read; the store's cap
   * does not go above that. */
  uint64_t most = context->work_nbytes / RD_LIMIT_PARTS * RD_TILE_PARTS / 2;
  const struct rd_coalesce coalesce = {
    .gap_nbytes = io->coalesce_gap_nbytes,
    .cap_nbytes = rd_min_u64 (io->coalesce_cap_nbytes, most),
    .nworkers = io->ops->is_blocking && context->nthreads > 1
      ? context->nthreads : 0,
  };
  if (status == RADIO_OK) {
    RD_SCOPE ("plan", RD_IN_METADATA);
    status = rd_plan_fetches (&read->array->layout, &coalesce, &read->cache,
                              plan);
  }
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    rd_index_cache_release (read->array->indexes, plan->chunks[i].entry);
    plan->chunks[i].entry = NULL;
  }
  return status;
}

/* Called when a part was read, or failed. */
static enum radio_status
close_part (struct rd_tile_read *read, struct rd_plan *plan,
            enum radio_status status)
{
  rd_plan_release_cached (&read->cache, plan);
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    rd_io_release (read->array->store->io, plan->chunks[i].file);
    plan->chunks[i].file = NULL;
  }
  RD_TRY (status);
  return read->part_done ? read->part_done (read) : RADIO_OK;
}

/* Reads the plan's chunks. */
static enum radio_status
read_chunks (struct rd_tile_read *read, struct rd_plan *plan)
{
  const struct rd_layout *layout = &read->array->layout;
  const struct radio_context *context = read->array->store->context;
  struct rd_io *io = read->array->store->io;
  enum radio_status status = plan_part (read, plan,
                                        rd_indexes_find (read, plan));
  struct rd_fetch_job job = { .read = read, .plan = plan };
  if (status == RADIO_OK && plan->nfetches > 0 && io->ops->is_blocking) {
    uint64_t fetch_nbytes = layout->sharding ? plan->max_fetch_nbytes
                                             : layout->tile_bound_nbytes;
    unsigned nthreads = rd_fetch_share_limit (
      read, RD_TILE_PARTS, rd_add_sat (fetch_nbytes, layout->decode_nbytes),
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
  return close_part (read, plan, status);
}

/* True when a part of the plan that failed may succeed with other indexes,
 * which are read then. */
static bool
may_read_again (struct rd_tile_read *read, const struct rd_plan *plan,
                enum radio_status status)
{
  bool is_stale = atomic_load (&read->found_stale);
  if (read->part_again)
    read->part_again (read);
  if (!read->used_lengths
      || (status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_CHECKSUM
          && status != RADIO_ERROR_NOT_FOUND && !is_stale))
    return is_stale;
  /* The shards' own indexes decide. */
  rd_tile_lengths_drop (&read->array->lengths);
  for (uint32_t i = 0; i < plan->nchunks; i++)
    rd_index_cache_drop (read->array->indexes, plan->chunks[i].chunk);
  return true;
}

/* Plans the next part; its chunks are none at the end. */
static enum radio_status
plan_next (struct rd_tile_read *read, struct rd_plan_cursor *cursor,
           struct rd_plan *plan)
{
  plan->nchunks = 0;
  if (cursor->at == cursor->n)
    return RADIO_OK;
  RD_SCOPE ("plan", RD_IN_METADATA);
  const struct radio_context *context = read->array->store->context;
  return rd_plan_chunks (cursor, context->memory_limit_nbytes / RD_LIMIT_PARTS
                         * RD_INDEX_PARTS, plan);
}

enum radio_status
rd_fetch_tiles (struct rd_tile_read *read)
{
  struct rd_plan_cursor cursor = {
    .layout = &read->array->layout,
    .requests = read->requests,
    .n = read->n,
  };
  RD_PLAN_SCOPE struct rd_plan plan;
  rd_plan_init (&plan);
  for (;;) {
    RD_TRY (plan_next (read, &cursor, &plan));
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

/*------------------------------------------------------------------------
 * Runs: each function is called by the thread that ended the step before, and
 * its last call starts the next step, after which the run may be gone
 *----------------------------------------------------------------------*/

struct rd_run {
  struct rd_job step;                 /* has only its end: plans a part, or
                                         starts its flights */
  struct rd_tile_read *read;
  rd_tiles_done_fn *done;
  struct radio_handoff handoff;       /* of the thread that started it */
  struct rd_plan_cursor cursor;
  struct rd_plan plan;
  unsigned nattempts;                 /* at the part */
  struct rd_index_job indexes;
  struct rd_fetch_job fetches;
  struct async async;
  uint64_t window_nbytes;             /* reserved for them */
  struct rd_run *following;           /* of those that wait for that */
};

/* Opens a scope below the one that the read was started in; 0: none. */
static uint64_t
enter_run (const struct rd_run *run)
{
  static const struct radio_site site = {
    "read", RD_IN_OPERATION, "rd_fetch_tiles_start", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  return radio_profile_is_on () ? radio_scope_receive (&run->handoff, &site)
                                : 0;
}

static void
finish_run (struct rd_run *run, enum radio_status status)
{
  struct rd_tile_read *read = run->read;
  rd_tiles_done_fn *done = run->done;
  rd_plan_free (&run->plan);
  if (run->handoff.parent)
    radio_handoff_release (&run->handoff);
  rd_free (run);
  done (read, status);
}

static void begin_part (struct rd_run *run);
static enum radio_status step_ended (struct rd_job *job,
                                     enum radio_status status);
static enum radio_status flights_started (struct rd_job *job,
                                          enum radio_status status);

/* One is always allowed. */
static bool
may_reserve_synced (const struct rd_run *run)
{
  const struct radio_context *context = run->read->array->store->context;
  uint64_t most = context->work_nbytes / RD_LIMIT_PARTS * WINDOW_PARTS;
  return context->runs.nbytes == 0
    || rd_add_sat (context->runs.nbytes, run->window_nbytes) <= most;
}

static void
end_part (struct rd_run *run, enum radio_status status)
{
  struct rd_tile_read *read = run->read;
  status = close_part (read, &run->plan, status);
  if (status == RADIO_OK) {
    run->step.end = step_ended;
    rd_pool_post (read->array->store->context->pool, &run->step);
  } else if (++run->nattempts < MAX_READS
           && may_read_again (read, &run->plan, status))
    begin_part (run);
  else
    finish_run (run, status);
}

static struct radio_context *
context_of (const struct rd_run *run)
{
  return run->read->array->store->context;
}

/* Takes a run out of those that wait, and lets it go on. */
static void
resume_synced (struct rd_run **at)
{
  struct rd_run *run = *at;
  struct radio_context *context = context_of (run);
  context->runs.nbytes += run->window_nbytes;
  *at = run->following;
  if (context->runs.last == &run->following)
    context->runs.last = at;
  run->step.end = flights_started;
  rd_pool_post (context->pool, &run->step);
}

/* Lets the runs go on whose deadlines are over, to end by that; and sets the
 * alarm for the first of the others. */
static void
resume_overdue (void *user_data)
{
  struct radio_context *context = user_data;
  uint64_t first_ns = UINT64_MAX;
  RD_LOCK_SCOPE (&context->runs_mutex);
  struct rd_run **at = &context->runs.first;
  while (*at) {
    const struct rd_read_stop *stop = (*at)->read->stop;
    if (rd_read_stop_check ((*at)->read->stop) != RADIO_OK) {
      resume_synced (at);
      continue;
    }
    if (stop)
      first_ns = rd_min_u64 (first_ns, stop->io.deadline_ns);
    at = &(*at)->following;
  }
  rd_pool_set_alarm (context->pool, first_ns, resume_overdue, context);
}

/* Reserves the bytes of the window, within the part of the memory limit that
 * one read may take.  False: the flights are started when others have ended. */
static bool
reserve_window (struct rd_run *run)
{
  struct radio_context *context = context_of (run);
  const struct rd_layout *layout = &run->read->array->layout;
  run->window_nbytes = rd_mul_sat (
    run->async.window, layout->sharding ? run->plan.max_fetch_nbytes
                                        : layout->tile_bound_nbytes);
  RD_LOCK_SCOPE (&context->runs_mutex);
  /* One that was cancelled does not wait: rd_fetch_tiles_wake was called. */
  if ((!context->runs.first && may_reserve_synced (run))
      || rd_read_stop_check (run->read->stop) != RADIO_OK) {
    context->runs.nbytes += run->window_nbytes;
    return true;
  }
  run->following = NULL;
  *context->runs.last = run;
  context->runs.last = &run->following;
  if (run->read->stop)
    rd_pool_set_alarm (context->pool, run->read->stop->io.deadline_ns,
                       resume_overdue, context);
  return false;
}

/* Gives the bytes back, and starts the reads that waited for them, in order. */
static void
release_window (struct rd_run *run)
{
  struct radio_context *context = context_of (run);
  RD_LOCK_SCOPE (&context->runs_mutex);
  context->runs.nbytes -= run->window_nbytes;
  while (context->runs.first && may_reserve_synced (context->runs.first))
    resume_synced (&context->runs.first);
}

void
rd_fetch_tiles_wake (struct rd_tile_read *read)
{
  struct radio_context *context = read->array->store->context;
  {
    RD_LOCK_SCOPE (&context->runs_mutex);
    struct rd_run **at = &context->runs.first;
    while (*at && (*at)->read != read)
      at = &(*at)->following;
    if (*at)
      resume_synced (at);
  }
  rd_io_wake (read->array->store->io);
}

/* Ends the part with its last flight. */
static void
leave_flights (struct async *async)
{
  struct rd_run *run = async->run;
  if (count_flight (async, -1) > 0)
    return;
  enum radio_status status = close_flights (async);
  release_window (run);
  end_part (run, status);
}

static enum radio_status
flight_ended (struct rd_job *job, enum radio_status status)
{
  struct flight *flight = (struct flight *) job;
  struct async *async = flight->async;
  if (status == RADIO_OK)
    status = rd_error_raise (&flight->error);
  if (status == RADIO_OK && flight->missing)
    status = rd_fetch_missing_object (async->job, flight->fetch);
  record_failure (async, status);
  (void) start_flight (async, flight);
  leave_flights (async);
  return RADIO_OK;
}

static void
start_run_flights (struct rd_run *run)
{
  uint64_t scope = enter_run (run);
  record_failure (&run->async, rd_read_stop_check (run->read->stop));
  (void) count_flight (&run->async, 1);
  start_flights (&run->async);
  radio_scope_end (scope);
  leave_flights (&run->async);
}

static void
fetch_part (struct rd_run *run, enum radio_status status)
{
  uint64_t scope = enter_run (run);
  status = plan_part (run->read, &run->plan, status);
  run->fetches = (struct rd_fetch_job) { .read = run->read,
                                         .plan = &run->plan };
  run->async.job = &run->fetches;
  run->async.run = run;
  run->async.parent = &run->handoff;
  bool has_flights = status == RADIO_OK && run->plan.nfetches > 0;
  if (has_flights)
    status = open_flights (&run->async);
  radio_scope_end (scope);
  if (!has_flights || status != RADIO_OK)
    end_part (run, status);
  else if (reserve_window (run))
    start_run_flights (run);
}

static enum radio_status
flights_started (struct rd_job *job, enum radio_status status)
{
  struct rd_run *run = (struct rd_run *) job;
  record_failure (&run->async, status);
  start_run_flights (run);
  return RADIO_OK;
}

static enum radio_status
indexes_ended (struct rd_job *job, enum radio_status status)
{
  struct rd_index_job *indexes = (struct rd_index_job *) job;
  struct rd_run *run = (struct rd_run *) ((char *) indexes
                                    - offsetof (struct rd_run, indexes));
  rd_indexes_close_reads (indexes);
  fetch_part (run, status);
  return RADIO_OK;
}

static void
begin_part (struct rd_run *run)
{
  struct rd_tile_read *read = run->read;
  struct rd_index_job *indexes = &run->indexes;
  struct rd_io *io = read->array->store->io;
  uint64_t scope = enter_run (run);
  atomic_store (&read->found_stale, false);
  read->used_lengths = false;
  enum radio_status status = rd_indexes_list (indexes, read, &run->plan);
  bool reads = status == RADIO_OK && indexes->n > 0;
  if (reads) {
    status = rd_indexes_open_reads (indexes);
    indexes->job.end = indexes_ended;
    indexes->job.detached = true;
    indexes->job.parent = &run->handoff;
  }
  radio_scope_end (scope);
  if (reads && status == RADIO_OK)
    io->ops->get (io, indexes->gets, indexes->n);
  else
    fetch_part (run, status);
}

static enum radio_status
step_ended (struct rd_job *job, enum radio_status status)
{
  struct rd_run *run = (struct rd_run *) job;
  uint64_t scope = enter_run (run);
  if (status == RADIO_OK)
    status = plan_next (run->read, &run->cursor, &run->plan);
  radio_scope_end (scope);
  if (status != RADIO_OK || run->plan.nchunks == 0) {
    finish_run (run, status);
    return RADIO_OK;
  }
  run->nattempts = 0;
  begin_part (run);
  return RADIO_OK;
}

enum radio_status
rd_fetch_tiles_start (struct rd_tile_read *read, rd_tiles_done_fn *done)
{
  RD_FREE struct rd_run *run = rd_calloc (1, sizeof *run);
  if (!run)
    return rd_fail_memory (sizeof *run);
  run->read = read;
  run->done = done;
  run->cursor = (struct rd_plan_cursor) {
    .layout = &read->array->layout, .requests = read->requests, .n = read->n,
  };
  rd_plan_init (&run->plan);
  run->step = (struct rd_job) {
    .end = step_ended, .site = &tiles_site, .parent = &run->handoff,
  };
  struct rd_pool *pool = read->array->store->context->pool;
  RD_TRY (rd_pool_need_worker (pool));
  if (radio_profile_is_on ())
    radio_handoff_give (&run->handoff);
  rd_pool_post (pool, &RD_STEAL (run)->step);
  return RADIO_OK;
}
