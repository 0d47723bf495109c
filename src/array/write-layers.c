/* SPDX-License-Identifier: MIT */
/* Writing layers into shards.  Each layer is a job of the pool with a task for
 * each tile; the thread that encodes the last tile of a layer appends it, and
 * all layers after it that are ready, unless another thread is appending
 * already: that one will see them.  So the order is kept, and a thread that
 * could encode never waits for the disk.
 *
 * Observing a layer is a job of its own, which the end of the one before puts
 * into the queue, before all tiles: tasks that have an order must not wait for
 * those that any thread can do at any time.  A thread that waits for a layer
 * encodes tiles of the others meanwhile. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/write-layers.h"
#include "src/array/write-shards.h"
#include "src/element/box.h"

/* Layers at one time: one being filled, one being encoded, and two so that
 * neither waits for the disk. */
#define MAX_LAYERS 4

struct observing {
  struct rd_job job;                  /* first: its task finds it so */
  struct layer *layer;
  bool started;                       /* and not yet waited for */
};

struct layer {
  struct rd_job job;                  /* first: tasks find the layer by it */
  struct observing observing;
  struct rd_layers *layers;
  struct rd_given given;
  unsigned char *elements;
  size_t nbytes;                      /* of the elements given */
  uint64_t number;                    /* counted from the first one given */
  bool started;                       /* and not yet waited for */
  _Atomic uint64_t nleft;             /* tiles not yet encoded */
  struct rd_encoded encoded;
};

/* The memory and threads of a write. */
struct budget {
  uint64_t elements_nbytes, arena_nbytes;       /* of a layer */
  uint64_t ntiles;                              /* of a layer */
  uint64_t nbytes;                              /* total */
  unsigned nlayers, nthreads;
};

struct rd_layers {
  struct radio_array *array;
  struct budget budget;
  uint64_t ngiven;
  struct layer layers[MAX_LAYERS];
  struct rd_shards *shards;
  struct rd_layers_observer observer;
  struct radio_handoff handoff;       /* of those who observe */

  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* of the following */
  struct {
    bool appending;
    bool encoded[MAX_LAYERS];         /* ready to be appended */
    uint64_t nappended;
    uint64_t nobservable, nobserved;
    struct rd_error error;            /* the first failure */
  } synced;
};

/* A single thread encodes its layer at once, while it is in the processor's
 * caches.  Several share half of the memory limit with other writers of layers;
 * at least one layer by one thread. */
static struct budget
make_budget (const struct radio_array *array, const uint64_t *shape)
{
  const struct rd_layout *layout = &array->layout;
  const struct radio_context *context = array->store->context;
  struct budget budget = { .nthreads = context->nthreads, .ntiles = 1 };
  uint64_t aim = context->memory_limit_nbytes / 2;
  aim -= rd_min_u64 (aim, atomic_load (&context->layers_nbytes));
  budget.nlayers = budget.nthreads > 1 ? MAX_LAYERS : 1;
  budget.elements_nbytes = layout->tile.type.item_nbytes;
  for (size_t i = 0; i < layout->rank; i++) {
    budget.elements_nbytes = rd_mul_sat (budget.elements_nbytes, shape[i]);
    budget.ntiles = rd_mul_sat (budget.ntiles,
                                rd_div_up (shape[i], layout->tile.shape[i]));
  }
  budget.arena_nbytes = rd_mul_sat (budget.ntiles, layout->tile_bound_nbytes);
  const uint64_t entry_nbytes = sizeof (struct rd_shard_entry);
  uint64_t layer = rd_add_sat (budget.elements_nbytes, budget.arena_nbytes);
  layer = rd_add_sat (layer, rd_mul_sat (budget.ntiles, entry_nbytes));
  uint64_t shard = rd_add_sat (rd_mul_sat (layout->ntiles, entry_nbytes),
                               rd_mul_sat (layout->index_nbytes, 2));
  for (;;) {
    budget.nbytes = rd_add_sat (
      rd_add_sat (rd_mul_sat (layer, budget.nlayers), shard),
      rd_mul_sat (layout->encode_nbytes, budget.nthreads));
    if (budget.nbytes > aim && budget.nlayers > 1)
      budget.nlayers--;
    else if (budget.nbytes > aim && budget.nthreads > 1)
      budget.nthreads--;
    else
      return budget;
  }
}

enum radio_status
rd_layers_open (struct radio_array *array, const uint64_t *shape,
                const struct rd_layers_observer *observer,
                struct rd_layers **result)
{
  const struct rd_codec *sharding = array->layout.sharding;
  if (!sharding || sharding->u.sharding.index_at_start)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: only shards with their "
                    "index at the end are written by layers", array->path);
  struct budget budget = make_budget (array, shape);
  RD_TRY (rd_context_allows (array->store->context, budget.nbytes,
                             "a slab of the image"));
  RD_CLEANUP (rd_cleanup_layers) struct rd_layers *layers
    = rd_calloc (1, sizeof *layers);
  if (!layers)
    return rd_fail_memory (sizeof *layers);
  pthread_mutex_init (&layers->mutex, NULL);
  pthread_cond_init (&layers->changed, NULL);
  layers->array = array;
  layers->budget = budget;
  if (observer)
    layers->observer = *observer;
  if (radio_profile_is_on ())
    radio_handoff_give (&layers->handoff);
  atomic_fetch_add (&array->store->context->layers_nbytes, budget.nbytes);
  RD_TRY (rd_shards_open (array, &layers->shards));
  uint64_t entries_nbytes = rd_mul_sat (budget.ntiles,
                                        sizeof (struct rd_shard_entry));
  for (unsigned i = 0; i < budget.nlayers; i++) {
    struct layer *layer = &layers->layers[i];
    struct rd_encoded *encoded = &layer->encoded;
    layer->layers = layers;
    layer->observing.layer = layer;
    encoded->arena.nbytes = budget.arena_nbytes;
    layer->elements = rd_malloc (budget.elements_nbytes);
    encoded->arena.data = rd_malloc (budget.arena_nbytes);
    encoded->entries = rd_malloc (entries_nbytes);
    if (!layer->elements || !encoded->arena.data || !encoded->entries)
      return rd_fail_memory (budget.elements_nbytes + budget.arena_nbytes
                             + entries_nbytes);
  }
  *result = RD_STEAL (layers);
  return RADIO_OK;
}

unsigned
rd_layers_count (const struct rd_layers *layers)
{
  return layers->budget.nlayers;
}

/* Called when all tiles of a layer are encoded: appends it and those after it
 * in order, unless another thread does. */
static enum radio_status
end_layer (struct layer *layer, struct rd_scratch *scratch)
{
  struct rd_layers *layers = layer->layers;
  enum radio_status status = RADIO_OK;
  RD_LOCK_SCOPE (&layers->mutex);
  layers->synced.encoded[layer->number % layers->budget.nlayers] = true;
  if (layers->synced.appending || layers->synced.error.status != RADIO_OK)
    return RADIO_OK;
  layers->synced.appending = true;
  while (status == RADIO_OK) {
    size_t turn = layers->synced.nappended % layers->budget.nlayers;
    if (!layers->synced.encoded[turn])
      break;
    layers->synced.encoded[turn] = false;
    pthread_mutex_unlock (&layers->mutex);
    status = rd_shards_append (layers->shards,
                               &layers->layers[turn].encoded, scratch);
    pthread_mutex_lock (&layers->mutex);
    layers->synced.nappended += status == RADIO_OK;
    pthread_cond_broadcast (&layers->changed);
  }
  layers->synced.appending = false;
  return status;
}

static enum radio_status
encode_tile (struct layer *layer, uint64_t task, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = &layer->layers->array->layout;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  struct radio_box tile = { .rank = layout->rank };
  struct rd_encoded *encoded = &layer->encoded;
  rd_box_unravel (&encoded->tiles, task, at);
  for (size_t i = 0; i < layout->rank; i++) {
    tile.size[i] = layout->tile.shape[i];
    tile.start[i] = at[i] * tile.size[i];
  }
  RD_TRY (rd_write_tile (layout, &layer->given, &tile, scratch,
                         &encoded->arena, &encoded->entries[task]));
  if (atomic_fetch_sub (&layer->nleft, 1) > 1)
    return RADIO_OK;
  return end_layer (layer, scratch);
}

/* Keeps the first failure, which all calls after it return. */
static enum radio_status
record_status (struct rd_layers *layers, enum radio_status status)
{
  if (status == RADIO_OK)
    return RADIO_OK;
  RD_LOCK_SCOPE (&layers->mutex);
  if (layers->synced.error.status == RADIO_OK)
    rd_error_save (&layers->synced.error, status);
  pthread_cond_broadcast (&layers->changed);
  return rd_error_raise (&layers->synced.error);
}

static enum radio_status
do_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct layer *layer = (struct layer *) job;
  return record_status (layer->layers, encode_tile (layer, task, scratch));
}

static enum radio_status
observe (const struct layer *layer)
{
  const struct rd_layers *layers = layer->layers;
  return layers->observer.observe (layers->observer.user_data,
                                   layer->elements, layer->nbytes);
}

static enum radio_status observe_task (struct rd_job *job, uint64_t task,
                                       struct rd_scratch *scratch);

/* Queues the next layer to be observed, if there is one. */
static enum radio_status
observe_next_synced (struct rd_layers *layers)
{
  uint64_t number = layers->synced.nobserved;
  if (number == layers->synced.nobservable
      || layers->synced.error.status != RADIO_OK)
    return RADIO_OK;
  struct layer *layer = &layers->layers[number % layers->budget.nlayers];
  layer->observing.job = (struct rd_job) {
    .run = observe_task, .n = 1, .urgent = true,
    .site = layers->observer.site, .parent = &layers->handoff,
  };
  RD_TRY (rd_pool_start (layers->array->store->context->pool,
                         &layer->observing.job));
  layer->observing.started = true;
  return RADIO_OK;
}

static enum radio_status
observe_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct observing *observing = (const struct observing *) job;
  struct rd_layers *layers = observing->layer->layers;
  (void) task;
  (void) scratch;
  RD_TRY (record_status (layers, observe (observing->layer)));
  pthread_mutex_lock (&layers->mutex);
  layers->synced.nobserved++;
  pthread_cond_broadcast (&layers->changed);
  enum radio_status status = observe_next_synced (layers);
  pthread_mutex_unlock (&layers->mutex);
  return record_status (layers, status);
}

/* True when a layer was appended and observed, or the write has failed. */
static bool
is_done_synced (const struct rd_layers *layers, const struct layer *layer)
{
  return layers->synced.error.status != RADIO_OK
    || (layers->synced.nappended > layer->number
        && (layers->synced.nobservable == 0
            || layers->synced.nobserved > layer->number));
}

/* Waits until a layer was appended and observed. */
static enum radio_status
wait_layer (struct rd_layers *layers, struct layer *layer)
{
  struct rd_pool *pool = layers->array->store->context->pool;
  enum radio_status observed = RADIO_OK;
  if (!layer->started)
    return RADIO_OK;
  /* In a forked child the mutex may be held for ever. */
  RD_TRY (rd_pool_check (pool));

  /* Meanwhile encode tiles: the layer's, then those of the layers that were
   * given after it. */
  for (uint64_t i = layer->number; i < layers->ngiven; i++) {
    struct layer *other = &layers->layers[i % layers->budget.nlayers];
    pthread_mutex_lock (&layers->mutex);
    bool is_done = is_done_synced (layers, layer);
    pthread_mutex_unlock (&layers->mutex);
    if (!other->started || is_done)
      break;
    rd_pool_help (pool, &other->job);
  }
  layer->started = false;

  /* The layers before were waited for, so the observing of this one was
   * started, unless that failed. */
  pthread_mutex_lock (&layers->mutex);
  bool is_observing = layer->observing.started;
  layer->observing.started = false;
  pthread_mutex_unlock (&layers->mutex);
  if (is_observing)
    observed = rd_pool_wait (pool, &layer->observing.job);
  RD_TRY (rd_pool_wait (pool, &layer->job));
  RD_TRY (observed);

  /* Another thread may still append it. */
  RD_LOCK_SCOPE (&layers->mutex);
  if (!is_done_synced (layers, layer)) {
    RD_SCOPE_WAIT ("wait for shard", RD_IN_QUEUE);
    while (!is_done_synced (layers, layer))
      pthread_cond_wait (&layers->changed, &layers->mutex);
  }
  return rd_error_raise (&layers->synced.error);
}

enum radio_status
rd_layers_buffer (struct rd_layers *layers, unsigned char **buffer)
{
  struct layer *layer
    = &layers->layers[layers->ngiven % layers->budget.nlayers];
  RD_TRY (wait_layer (layers, layer));
  *buffer = layer->elements;
  return RADIO_OK;
}

static const struct radio_site encode_site = {
  "encode tiles", RD_IN_OPERATION, "rd_layers_give", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

enum radio_status
rd_layers_give (struct rd_layers *layers, const struct radio_box *box,
                const int64_t *strides, bool swapped)
{
  struct rd_pool *pool = layers->array->store->context->pool;
  struct layer *layer
    = &layers->layers[layers->ngiven % layers->budget.nlayers];
  const struct rd_layout *layout = &layers->array->layout;
  struct rd_encoded *encoded = &layer->encoded;
  RD_TRY (rd_pool_check (pool));
  layer->given = (struct rd_given) {
    .box = *box, .elements = layer->elements, .swapped = swapped,
  };
  memcpy (layer->given.strides, strides, box->rank * sizeof *strides);
  layer->nbytes = radio_box_count (box) * layout->tile.type.item_nbytes;
  rd_grid_touched (box, layout->tile.shape, &encoded->tiles);
  encoded->ntiles = radio_box_count (&encoded->tiles);
  for (size_t i = 0; i < layout->rank; i++)
    encoded->chunk[i] = box->start[i] / layout->chunk.shape[i];
  atomic_store (&layer->nleft, encoded->ntiles);
  atomic_store (&encoded->arena.used, 0);
  layer->job = (struct rd_job) {
    .run = do_task, .n = encoded->ntiles, .site = &encode_site,
    .max_active = layers->budget.nthreads,
  };
  RD_TRY (rd_shards_announce (layers->shards, encoded->chunk));
  layer->number = layers->ngiven++;

  /* Observe it as soon as the one before was; at once if there is only one
   * layer at a time. */
  if (layers->observer.observe && layers->budget.nlayers == 1) {
    RD_SCOPE_OF (layers->observer.site);
    RD_TRY (observe (layer));
  } else if (layers->observer.observe) {
    RD_LOCK_SCOPE (&layers->mutex);
    layers->synced.nobservable++;
    if (layers->synced.nobserved + 1 == layers->synced.nobservable)
      RD_TRY (observe_next_synced (layers));
  }
  RD_TRY (rd_pool_start (pool, &layer->job));
  layer->started = true;
  return RADIO_OK;
}

enum radio_status
rd_layers_complete (struct rd_layers *layers)
{
  struct rd_pool *pool = layers->array->store->context->pool;
  unsigned n = layers->budget.nlayers;
  for (uint64_t i = 0; i < n; i++)
    RD_TRY (wait_layer (layers, &layers->layers[(layers->ngiven + i) % n]));
  struct rd_scratch *scratch = rd_pool_take_scratch (pool);
  enum radio_status status = scratch
    ? rd_shards_complete (layers->shards, scratch) : RADIO_ERROR_MEMORY;
  rd_pool_give_scratch (pool, scratch);
  return status;
}

enum radio_status
rd_layers_finish (struct rd_layers *layers, uint64_t *stored_nbytes)
{
  RD_TRY (rd_layers_complete (layers));
  return rd_shards_finish (layers->shards, stored_nbytes);
}

void
rd_layers_close (struct rd_layers *layers)
{
  if (!layers)
    return;
  struct rd_error error;
  unsigned n = layers->budget.nlayers;
  rd_error_save (&error, RADIO_ERROR_IO);
  /* In a forked child no thread does the tasks, and waiting fails at once. */
  for (uint64_t i = 0; i < n; i++)
    if (wait_layer (layers, &layers->layers[(layers->ngiven + i) % n])
        != RADIO_OK)
      rd_error_raise (&error);
  rd_shards_close (layers->shards);
  if (layers->handoff.parent)
    radio_handoff_release (&layers->handoff);
  for (unsigned i = 0; i < MAX_LAYERS; i++) {
    rd_free (layers->layers[i].elements);
    rd_free (layers->layers[i].encoded.arena.data);
    rd_free (layers->layers[i].encoded.entries);
  }
  atomic_fetch_sub (&layers->array->store->context->layers_nbytes,
                    layers->budget.nbytes);
  pthread_cond_destroy (&layers->changed);
  pthread_mutex_destroy (&layers->mutex);
  rd_free (layers);
}
