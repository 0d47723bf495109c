/* SPDX-License-Identifier: MIT */
/* Fetching from a store that does not block.  The calling thread keeps a
 * window of reads under way, each into a buffer of its own that is used
 * again.  When one arrives, the store's thread only puts its tiles into the
 * pool's queue; workers decode them, and so does the caller while it waits.
 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"

/* Reads under way at one time; the store's own limits apply as well. */
#define MAX_WINDOW 64

/* The parts of the memory limit that they may take. */
#define WINDOW_PARTS (RD_FETCH_TILE_PARTS / 2)

struct async;

/* One read, then the decoding of what it brought. */
struct flight {
  struct rd_job job;                  /* one task an item */
  struct async *async;
  const struct rd_unit *unit;
  struct rd_io_get get;
  struct rd_buffer buffer;
  char key[RD_KEY_NBYTES];
  bool started;                       /* the job is in the pool's queue */
  bool missing;
  struct rd_error error;              /* when it is not */
  struct flight *following;
};

struct async {
  struct rd_fetch_job *batch_job;
  struct rd_pool *pool;
  uint32_t next;                      /* unit to fetch */
  unsigned nflying;
  unsigned max_active;
  struct radio_handoff handoff;       /* whom the work is for */
  struct rd_error error;              /* the first failure */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    struct flight *first, **last;     /* arrived, in that order */
  } synced;
};

static enum radio_status
do_item (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct flight *flight = (struct flight *) job;
  return rd_unit_item (flight->async->batch_job, flight->unit,
                       flight->unit->first + (uint32_t) task, &flight->get,
                       scratch);
}

static enum radio_status
do_fill (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct flight *flight = (struct flight *) job;
  (void) scratch;
  return rd_unit_fill_item (flight->async->batch_job,
                            flight->unit->first + (uint32_t) task);
}

/* On the store's thread: queue what came, and no more. */
static void
hand_over (struct rd_io_get *get)
{
  struct flight *flight = get->user_data;
  struct async *async = flight->async;
  enum radio_status status = rd_unit_look (async->batch_job, flight->unit,
                                           get, &flight->missing);
  flight->job.run = flight->missing ? do_fill : do_item;
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
note_failure (struct async *async, enum radio_status status)
{
  if (status != RADIO_OK && async->error.status == RADIO_OK)
    rd_error_save (&async->error, status);
}

/* The next unit that must be read, asked for in the flight's get; NULL when
 * there is none or something has failed. */
static const struct rd_unit *
ask_next (struct async *async, struct flight *flight)
{
  struct rd_fetch_job *job = async->batch_job;
  const struct rd_batch *batch = job->batch;
  while (async->next < batch->nunits && async->error.status == RADIO_OK) {
    const struct rd_unit *unit = &batch->units[async->next++];
    if (unit->kind == RD_UNIT_FILL || unit->kind == RD_UNIT_CACHED)
      continue;
    const struct rd_item *item = &batch->items[unit->first];
    bool missing;
    rd_fetch_key (job->fetch->array, batch->touches[item->touch].chunk,
                  flight->key);
    enum radio_status status = rd_unit_ask (job, unit, flight->key,
                                            &flight->get, &missing);
    if (status == RADIO_OK && !missing)
      return unit;
    note_failure (async, missing ? rd_unit_fill (job, unit) : status);
  }
  return NULL;
}

static const struct radio_counter in_flight = {
  "requests in flight", "count"
};

static void
show_flying (const struct async *async)
{
  if (radio_profile_is_on ())
    radio_gauge_set (&in_flight, async->nflying);
}

/* Start the next read; false when there is none. */
static bool
launch (struct async *async, struct flight *flight)
{
  struct rd_io *io = async->batch_job->fetch->array->store->io;
  flight->unit = ask_next (async, flight);
  if (!flight->unit)
    return false;
  flight->job.n = flight->unit->n;
  flight->job.max_active = async->max_active;
  flight->job.site = &rd_fetch_tiles_site;
  flight->job.parent = &async->handoff;
  flight->get.into = &flight->buffer;
  flight->get.done = hand_over;
  flight->get.user_data = flight;
  async->nflying++;
  show_flying (async);
  io->ops->get (io, &flight->get, 1);
  return true;
}

/* The next flight that has arrived; waits for it. */
static struct flight *
take_arrived (struct async *async)
{
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  RD_LOCK_SCOPE (&async->mutex);
  while (!async->synced.first)
    pthread_cond_wait (&async->arrived, &async->mutex);
  struct flight *flight = async->synced.first;
  async->synced.first = flight->following;
  if (!async->synced.first)
    async->synced.last = &async->synced.first;
  return flight;
}

static void
land (struct async *async, struct flight *flight)
{
  note_failure (async, flight->started
                ? rd_pool_wait (async->pool, &flight->job)
                : rd_error_raise (&flight->error));
  if (flight->started && flight->missing)
    note_failure (async, rd_unit_missing (async->batch_job, flight->unit));
  async->nflying--;
  show_flying (async);
}

static enum radio_status
fill_one_unit (struct rd_job *base, uint64_t task,
               struct rd_scratch *scratch)
{
  struct rd_fetch_job *job = (struct rd_fetch_job *) base;
  const struct rd_unit *unit = &job->batch->units[task];
  (void) scratch;
  if (unit->kind == RD_UNIT_CACHED)
    return rd_unit_place_cached (job, unit);
  return unit->kind == RD_UNIT_FILL ? rd_unit_fill (job, unit) : RADIO_OK;
}

/* What is not stored, or known, is placed while the first reads are under
 * way. */
static void
fill_units (struct async *async)
{
  struct rd_fetch_job *job = async->batch_job;
  bool any = false;
  for (uint32_t i = 0; i < job->batch->nunits; i++)
    any |= job->batch->units[i].kind == RD_UNIT_FILL
      || job->batch->units[i].kind == RD_UNIT_CACHED;
  job->job.run = fill_one_unit;
  job->job.site = &rd_fetch_tiles_site;
  job->job.end = NULL;
  job->job.n = job->batch->nunits;
  job->job.max_active = 0;
  if (any)
    note_failure (async, rd_pool_run (async->pool, &job->job));
}

/* Every flight that was launched lands, also after a failure. */
static void
fly (struct async *async, struct flight *flights, unsigned window)
{
  for (unsigned i = 0; i < window; i++) {
    flights[i].async = async;
    if (!launch (async, &flights[i]))
      break;
  }
  fill_units (async);
  while (async->nflying > 0) {
    struct flight *flight = take_arrived (async);
    land (async, flight);
    launch (async, flight);
  }
}

/* How many reads are under way, and how many threads decode what one of
 * them brought: half of what tiles may take is for what came, half for
 * decoding it.  All flights that have arrived are decoded at once. */
static unsigned
choose_window (struct rd_fetch_job *job, unsigned *max_active)
{
  const struct rd_fetch *fetch = job->fetch;
  const struct radio_context *context = fetch->array->store->context;
  const struct rd_layout *layout = &fetch->array->layout;
  uint64_t each = layout->sharding ? job->batch->most_unit_nbytes
                                   : layout->tile_bound_nbytes;
  unsigned window = rd_fetch_share (
    fetch, WINDOW_PARTS, each,
    (unsigned) rd_min_u64 (MAX_WINDOW, job->batch->nunits));
  unsigned ndecoders = rd_fetch_share (
    fetch, RD_FETCH_TILE_PARTS - WINDOW_PARTS, layout->decode_nbytes,
    context->nthreads);
  if (ndecoders < context->nthreads && window > ndecoders)
    window = ndecoders;
  *max_active = ndecoders < context->nthreads ? ndecoders / window
                                              : ndecoders;
  job->most_object_nbytes = context->memory_limit_nbytes;
  if (window > 1)
    job->most_object_nbytes = context->memory_limit_nbytes / RD_FETCH_PARTS
      * WINDOW_PARTS / window + layout->decode_nbytes;
  return window;
}

enum radio_status
rd_fetch_units_async (struct rd_fetch_job *job)
{
  RD_SCOPE ("requests", RD_IN_OPERATION);
  unsigned max_active, window = choose_window (job, &max_active);
  RD_FREE struct flight *flights = rd_calloc (window, sizeof *flights);
  if (!flights)
    return rd_fail_memory (window * sizeof *flights);
  struct async async = {
    .batch_job = job,
    .pool = job->fetch->array->store->context->pool,
    .max_active = max_active,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .arrived = PTHREAD_COND_INITIALIZER,
  };
  async.synced.last = &async.synced.first;
  if (radio_profile_is_on ())
    radio_handoff_give (&async.handoff);
  fly (&async, flights, window);
  if (async.handoff.parent)
    radio_handoff_release (&async.handoff);
  for (unsigned i = 0; i < window; i++)
    rd_buffer_free (&flights[i].buffer);
  pthread_cond_destroy (&async.arrived);
  pthread_mutex_destroy (&async.mutex);
  return rd_error_raise (&async.error);
}
