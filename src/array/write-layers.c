/* SPDX-License-Identifier: MIT */
/* Layers on their way into shards.  Each layer is a job of the pool with a
 * task a tile; whoever encodes the last tile of a layer appends it, and all
 * layers behind it that are ready, unless another thread is appending
 * already: that one will see them.  So the order holds, and nobody waits
 * for the disk who could encode. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/base/checked.h"
#include "profiler/counters.h"
#include "src/array/write-layers.h"
#include "src/array/write-shards.h"
#include "src/box.h"

/* Layers at one time: one being filled, one being encoded, and what lets
 * both go on while the disk is waited for. */
#define MAX_LAYERS 4

struct layer {
  struct rd_job job;                  /* first: tasks find the layer by it */
  struct rd_layers *layers;
  struct rd_given given;
  unsigned char *elements;
  uint64_t number;                    /* counted from the first one given */
  bool started;                       /* and not yet waited for */
  _Atomic uint64_t nleft;             /* tiles not yet encoded */
  struct rd_encoded encoded;
};

/* How much at a time. */
struct budget {
  uint64_t elements_nbytes, arena_nbytes;       /* of a layer */
  uint64_t ntiles;                              /* of a layer */
  uint64_t nbytes;                              /* in all */
  unsigned nlayers, nthreads;
};

struct rd_layers {
  struct radio_array *array;
  struct budget budget;
  uint64_t ngiven;
  struct layer layers[MAX_LAYERS];
  struct rd_shards *shards;

  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* any of these */
  struct {
    bool appending;
    bool encoded[MAX_LAYERS];         /* waits for being appended */
    uint64_t nappended;
    struct rd_error error;            /* the first failure */
  } synced;
};

static uint64_t
total_nbytes (const struct rd_layout *layout, const struct budget *budget)
{
  uint64_t layer = rd_add_sat (budget->elements_nbytes, budget->arena_nbytes);
  layer = rd_add_sat (layer, rd_mul_sat (budget->ntiles,
                                         sizeof (struct rd_shard_entry)));
  uint64_t shard = rd_add_sat (rd_mul_sat (layout->ntiles,
                                           sizeof (struct rd_shard_entry)),
                               rd_mul_sat (layout->index_nbytes, 2));
  return rd_add_sat (rd_add_sat (rd_mul_sat (layer, budget->nlayers), shard),
                     rd_mul_sat (layout->encode_nbytes, budget->nthreads));
}

/* A single thread has its layer still in the caches when it encodes it at
 * once.  Several take what half of the limit leaves that others who write
 * layers do not hold; at least one layer by one thread. */
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
  while ((budget.nbytes = total_nbytes (layout, &budget)) > aim) {
    if (budget.nlayers > 1)
      budget.nlayers--;
    else if (budget.nthreads > 1)
      budget.nthreads--;
    else
      break;
  }
  return budget;
}

static enum radio_status
make_layer (struct layer *layer, struct rd_layers *layers)
{
  const struct budget *budget = &layers->budget;
  struct rd_encoded *encoded = &layer->encoded;
  uint64_t tiles_nbytes = rd_mul_sat (budget->ntiles,
                                      sizeof *encoded->entries);
  layer->layers = layers;
  encoded->arena.nbytes = budget->arena_nbytes;
  layer->elements = rd_malloc (budget->elements_nbytes);
  encoded->arena.data = rd_malloc (budget->arena_nbytes);
  encoded->entries = rd_malloc (tiles_nbytes);
  if (!layer->elements || !encoded->arena.data || !encoded->entries)
    return rd_fail_memory (budget->elements_nbytes + budget->arena_nbytes
                           + tiles_nbytes);
  return RADIO_OK;
}

enum radio_status
rd_layers_open (struct radio_array *array, const uint64_t *shape,
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
  atomic_fetch_add (&array->store->context->layers_nbytes, budget.nbytes);
  RD_TRY (rd_shards_open (array, &layers->shards));
  for (unsigned i = 0; i < budget.nlayers; i++)
    RD_TRY (make_layer (&layers->layers[i], layers));
  *result = RD_STEAL (layers);
  return RADIO_OK;
}

unsigned
rd_layers_count (const struct rd_layers *layers)
{
  return layers->budget.nlayers;
}

/* Append the next layers as long as they are ready, one after the other,
 * without the mutex. */
static enum radio_status
append_ready_synced (struct rd_layers *layers, struct rd_scratch *scratch)
{
  enum radio_status status = RADIO_OK;
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

/* All tiles of a layer are encoded. */
static enum radio_status
end_layer (struct layer *layer, struct rd_scratch *scratch)
{
  struct rd_layers *layers = layer->layers;
  RD_LOCK_SCOPE (&layers->mutex);
  layers->synced.encoded[layer->number % layers->budget.nlayers] = true;
  if (layers->synced.appending || layers->synced.error.status != RADIO_OK)
    return RADIO_OK;
  return append_ready_synced (layers, scratch);
}

static enum radio_status
do_tile (struct layer *layer, uint64_t task, struct rd_scratch *scratch)
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

/* The first failure is told to all that come after it. */
static enum radio_status
do_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct layer *layer = (struct layer *) job;
  struct rd_layers *layers = layer->layers;
  enum radio_status status = do_tile (layer, task, scratch);
  if (status == RADIO_OK)
    return RADIO_OK;
  RD_LOCK_SCOPE (&layers->mutex);
  if (layers->synced.error.status == RADIO_OK)
    rd_error_save (&layers->synced.error, status);
  pthread_cond_broadcast (&layers->changed);
  return rd_error_raise (&layers->synced.error);
}

/* Wait until a layer was appended, by whomever. */
static enum radio_status
wait_appended (struct rd_layers *layers, const struct layer *layer)
{
  RD_LOCK_SCOPE (&layers->mutex);
  if (layers->synced.nappended <= layer->number
      && layers->synced.error.status == RADIO_OK) {
    RD_SCOPE_WAIT ("wait for shard", RD_IN_QUEUE);
    while (layers->synced.nappended <= layer->number
           && layers->synced.error.status == RADIO_OK)
      pthread_cond_wait (&layers->changed, &layers->mutex);
  }
  return rd_error_raise (&layers->synced.error);
}

static enum radio_status
wait_layer (struct rd_layers *layers, struct layer *layer)
{
  if (!layer->started)
    return RADIO_OK;
  layer->started = false;
  RD_TRY (rd_pool_wait (layers->array->store->context->pool, &layer->job));
  return wait_appended (layers, layer);
}

enum radio_status
rd_layers_room (struct rd_layers *layers, unsigned char **room)
{
  struct layer *layer
    = &layers->layers[layers->ngiven % layers->budget.nlayers];
  RD_TRY (wait_layer (layers, layer));
  *room = layer->elements;
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
  const struct rd_layout *layout = &layers->array->layout;
  struct layer *layer
    = &layers->layers[layers->ngiven % layers->budget.nlayers];
  struct rd_encoded *encoded = &layer->encoded;
  layer->given = (struct rd_given) {
    .box = *box, .elements = layer->elements, .swapped = swapped,
  };
  memcpy (layer->given.strides, strides, box->rank * sizeof *strides);
  rd_grid_touched (box, layout->tile.shape, &encoded->tiles);
  encoded->ntiles = radio_box_count (&encoded->tiles);
  for (size_t i = 0; i < layout->rank; i++)
    encoded->chunk[i] = box->start[i] / layout->chunk.shape[i];
  RD_TRY (rd_shards_announce (layers->shards, encoded->chunk));
  layer->number = layers->ngiven++;
  atomic_store (&layer->nleft, encoded->ntiles);
  atomic_store (&encoded->arena.used, 0);
  layer->job = (struct rd_job) {
    .run = do_task, .n = encoded->ntiles, .site = &encode_site,
    .max_active = layers->budget.nthreads,
  };
  RD_TRY (rd_pool_start (layers->array->store->context->pool, &layer->job));
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

/* In a forked child the tasks are nobody's, and waiting fails at once. */
static void
stop (struct rd_layers *layers)
{
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_IO);
  for (unsigned i = 0; i < layers->budget.nlayers; i++)
    if (wait_layer (layers, &layers->layers[i]) != RADIO_OK)
      rd_error_raise (&error);
}

void
rd_layers_close (struct rd_layers *layers)
{
  if (!layers)
    return;
  stop (layers);
  rd_shards_close (layers->shards);
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
