/* SPDX-License-Identifier: MIT */
/* Writing a box: tasks encode tiles into the arena of their shard, and append
 * those that follow one another to it, so that they are on their way while the
 * next are encoded; the one that appends a shard's last tile publishes it.  (Of
 * an array that is not sharded, a task encodes and publishes one chunk.)  Tasks
 * of shards are taken in order, so few shards are in progress; one whose slot
 * is still being published is waited for. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/layout.h"
#include "src/array/write-shards.h"
#include "src/element/box.h"

/* Shards in progress at the same time: while one is being synced to the disk
 * the next is being encoded. */
#define MAX_SLOTS 2

/* Encoded tiles are appended to their shard when they are this large together,
 * or the last. */
#define APPEND_NBYTES ((uint64_t) 1 << 20)

/* The size of a tile's entries in the tables of a slot and of its index,
 * encoded and not. */
#define TILE_ENTRIES_NBYTES 64

/* A shard in progress. */
struct slot {
  _Atomic uint64_t turn;              /* number of the chunk that may use it */
  struct rd_arena arena;
  _Atomic uint64_t nencoded;          /* tiles of the box, also those that are
                                         missing since they are empty */
  struct rd_shard_entry *tiles;       /* offsets in the arena, by number */

  /* Used by the appending thread. */
  struct rd_io_writer *writer;        /* NULL: nothing was appended */
  uint64_t nappended;                 /* tiles */

  struct {                            /* guarded by the write's mutex */
    bool *encoded;                    /* by number */
    uint64_t nready;                  /* tiles, up to the first not encoded */
    uint64_t ready_nbytes;            /* of those not yet appended */
    bool appending;
  } synced;
};

struct rd_write {
  struct rd_job job;                  /* first: tasks find the write by it */
  struct radio_array *array;
  struct rd_given given;
  struct radio_box chunks;            /* of the box */
  _Atomic uint64_t stored_nbytes;
  unsigned nslots;
  struct slot slots[MAX_SLOTS];
  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* a slot's turn, or failed */
  struct {
    struct rd_error error;
  } synced;
};

/* The memory and threads of a write. */
struct budget {
  uint64_t arena_nbytes;
  uint64_t nbytes;                    /* total */
  unsigned nslots, nthreads;
};

/* The bounds of tiles of strings whose bytes are known in total: of one without
 * these bytes, of the bytes in all tiles, and of the memory to encode a tile
 * that has them all. */
static void
bound_strings (const struct rd_layout *layout, uint64_t strings_nbytes,
               uint64_t *tile_bound_nbytes, uint64_t *more_nbytes,
               uint64_t *encode_nbytes)
{
  struct rd_chunk tile = layout->tile;
  struct rd_string fill;
  uint64_t n = layout->tile_nbytes / sizeof fill;
  memcpy (&fill, tile.fill, sizeof fill);
  uint64_t padding = rd_mul_sat (n, fill.nbytes);
  tile.strings_nbytes = rd_vlen_utf8_nbytes (n, padding);
  /* Codecs round down once for each tile. */
  *tile_bound_nbytes = rd_add_sat (rd_chain_bound (layout->chain, &tile),
                                   RD_CHAIN_MAX);
  tile.strings_nbytes = strings_nbytes;
  *more_nbytes = rd_chain_bound (layout->chain, &tile);
  tile.strings_nbytes = rd_vlen_utf8_nbytes (
    n, rd_add_sat (padding, strings_nbytes));
  *encode_nbytes = rd_add_sat (layout->tile_nbytes, rd_chain_encode_nbytes (
    layout->chain, &tile));
}

/* Half of the memory limit (the library may hold the elements, too), at least
 * one shard by one thread. */
static struct budget
make_budget (const struct radio_array *array, const struct radio_box *box,
             uint64_t strings_nbytes)
{
  const struct rd_layout *layout = &array->layout;
  const struct radio_context *context = array->store->context;
  struct budget budget = { .nthreads = context->nthreads };
  uint64_t encode_nbytes = layout->encode_nbytes, more_nbytes = 0;
  uint64_t tile_bound_nbytes = layout->tile_bound_nbytes;
  struct radio_box chunks;
  if (array->doc->type.dtype == RADIO_STRING)
    bound_strings (layout, strings_nbytes, &tile_bound_nbytes, &more_nbytes,
                   &encode_nbytes);
  if (radio_box_count (box) == 0)
    return budget;
  rd_grid_touched (box, layout->chunk.shape, &chunks);
  uint64_t nchunks = radio_box_count (&chunks);
  if (layout->sharding) {
    budget.nslots = nchunks > 1 ? MAX_SLOTS : 1;
    /* For the tiles of the box's largest chunk. */
    budget.arena_nbytes = tile_bound_nbytes;
    for (size_t i = 0; i < layout->rank; i++) {
      uint64_t size = rd_min_u64 (box->size[i], layout->chunk.shape[i]);
      budget.arena_nbytes = rd_mul_sat (
        budget.arena_nbytes, rd_div_up (size, layout->tile.shape[i]));
    }
    budget.arena_nbytes = rd_add_sat (budget.arena_nbytes, more_nbytes);
  } else
    budget.nthreads = (unsigned) rd_min_u64 (
      nchunks, rd_store_max_in_flight (array->store));
  uint64_t slot = rd_add_sat (budget.arena_nbytes,
                              rd_mul_sat (layout->ntiles,
                                          TILE_ENTRIES_NBYTES));
  for (;;) {
    budget.nbytes = rd_add_sat (rd_mul_sat (slot, budget.nslots),
                                rd_mul_sat (encode_nbytes,
                                            budget.nthreads));
    bool fits = budget.nbytes <= context->memory_limit_nbytes / 2;
    if (!fits && budget.nslots > 1)
      budget.nslots--;
    else if (!fits && budget.nthreads > 1)
      budget.nthreads--;
    else
      return budget;
  }
}

uint64_t
rd_write_nbytes (const struct radio_array *array, const struct radio_box *box)
{
  return make_budget (array, box, 0).nbytes;
}

/* Checks that the box consists of whole chunks. */
static enum radio_status
check_box (const struct radio_array *array, const struct radio_box *box)
{
  const struct rd_array_doc *doc = array->doc;
  RD_TRY (rd_array_check_box (array, box));
  for (size_t i = 0; i < doc->rank; i++) {
    uint64_t chunk = doc->chunk_shape[i], end = box->start[i] + box->size[i];
    if (box->start[i] % chunk || (end % chunk && end != doc->shape[i])) {
      rd_fail (RADIO_ERROR_ARGUMENT, "on axis %zu the box from %" PRIu64
               " to %" PRIu64 " does not consist of whole chunks of %" PRIu64,
               i, box->start[i], end, chunk);
      return rd_array_fail_in (array, RADIO_ERROR_ARGUMENT);
    }
  }
  return RADIO_OK;
}

/* Writes a chunk's object; NULL removes an older one, since the chunk holds
 * only the fill value now. */
static enum radio_status
publish_object (struct rd_write *write, const uint64_t *chunk,
                const struct rd_buffer *encoded)
{
  struct rd_io *io = write->array->store->io;
  char key[RD_KEY_NBYTES];
  rd_array_chunk_key (write->array, chunk, key);
  if (!encoded)
    return rd_io_remove (io, key);
  RD_TRY (rd_io_put (io, key, encoded->data, encoded->nbytes,
                     RD_PUT_REPLACE));
  atomic_fetch_add (&write->stored_nbytes, encoded->nbytes);
  return RADIO_OK;
}

/* Appends the first n tiles of a shard that are not appended yet, which makes
 * its file or upload. */
static enum radio_status
append_tiles (const struct rd_write *write, struct slot *slot,
              const uint64_t *chunk, const char *key, uint64_t n)
{
  struct rd_io *io = write->array->store->io;
  if (!slot->writer)
    RD_TRY (io->ops->create (io, key, &slot->writer));
  if (n < write->array->layout.ntiles)
    rd_write_expect (slot->writer, &write->array->layout, chunk,
                     atomic_load (&slot->nencoded),
                     atomic_load (&slot->arena.used));
  uint64_t first = slot->nappended;
  slot->nappended = n;
  return rd_write_append (slot->writer, &slot->arena, slot->tiles + first,
                          n - first);
}

/* Writes the rest of a shard, whose tiles are in C order without gaps, and its
 * index. */
static enum radio_status
finish_shard (const struct rd_write *write, struct slot *slot,
              const uint64_t *chunk, const char *key,
              struct rd_scratch *scratch)
{
  const struct radio_array *array = write->array;
  const struct rd_layout *layout = &array->layout;
  struct rd_io *io = array->store->io;
  bool index_at_start = layout->sharding->u.sharding.index_at_start;
  size_t nbytes = sizeof (struct rd_shard_index)
    + (size_t) layout->ntiles * sizeof (struct rd_shard_entry);
  RD_FREE struct rd_shard_index *index = rd_malloc (nbytes);
  if (!index)
    return rd_fail_memory (nbytes);
  uint64_t offset = index_at_start ? layout->index_nbytes : 0;
  index->n = layout->ntiles;
  for (uint64_t i = 0; i < index->n; i++) {
    index->entries[i] = slot->tiles[i];
    if (slot->tiles[i].offset == RD_SHARD_MISSING)
      continue;
    index->entries[i].offset = offset;
    offset += slot->tiles[i].nbytes;
  }
  RD_TRY (rd_shard_index_encode (layout->sharding, &layout->chunk, scratch,
                                 index, &scratch->fetched));

  RD_SCOPE ("write shard", RD_IN_DISK);
  RD_NOTE_NAME ("key", key);
  const struct rd_part part = { scratch->fetched.data,
                                scratch->fetched.nbytes };
  if (index_at_start) {
    RD_TRY (io->ops->create (io, key, &slot->writer));
    RD_TRY (slot->writer->ops->append (slot->writer, &part, 1));
  }
  RD_TRY (append_tiles (write, slot, chunk, key, layout->ntiles));
  if (!index_at_start)
    RD_TRY (slot->writer->ops->append (slot->writer, &part, 1));
  struct rd_io_writer *complete = RD_STEAL (slot->writer);
  return complete->ops->commit (complete);
}

/* Publishes a shard whose tiles are all encoded, or removes it when all are
 * missing. */
static enum radio_status
publish_shard (struct rd_write *write, struct slot *slot,
               const uint64_t *chunk, struct rd_scratch *scratch)
{
  struct radio_array *array = write->array;
  uint64_t used = atomic_load (&slot->arena.used);
  enum radio_status status;
  if (used == 0 && !array->is_complete)
    status = publish_object (write, chunk, NULL);
  else {
    char key[RD_KEY_NBYTES];
    rd_array_chunk_key (array, chunk, key);
    status = finish_shard (write, slot, chunk, key, scratch);
    atomic_fetch_add (&write->stored_nbytes,
                      used + scratch->fetched.nbytes);
  }
  /* Also after a failure: a cached index may be stale now. */
  rd_index_cache_drop (array->indexes, chunk);
  return status;
}

static void
open_slot (struct rd_write *write, struct slot *slot, uint64_t turn)
{
  uint64_t n = write->array->layout.ntiles;
  atomic_store (&slot->arena.used, 0);
  atomic_store (&slot->nencoded, 0);
  slot->nappended = 0;
  slot->synced.nready = slot->synced.ready_nbytes = 0;
  slot->synced.appending = false;
  memset (slot->synced.encoded, 0, n * sizeof *slot->synced.encoded);
  atomic_store (&slot->turn, turn);
}

/* Called when a tile is encoded: appends it and those after it in order, and
 * publishes the shard with the last, unless another thread does.  After a
 * failure no thread appends to the shard again. */
static enum radio_status
end_tile (struct rd_write *write, struct slot *slot, uint64_t number,
          uint64_t tile, const uint64_t *chunk, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = &write->array->layout;
  const uint64_t n = layout->ntiles;
  char key[RD_KEY_NBYTES];
  RD_LOCK_SCOPE (&write->mutex);
  slot->synced.encoded[tile] = true;
  if (slot->synced.appending)
    return RADIO_OK;
  slot->synced.appending = true;
  for (;;) {
    uint64_t i = slot->synced.nready;
    for (; i < n && slot->synced.encoded[i]; i++)
      if (slot->tiles[i].offset != RD_SHARD_MISSING)
        slot->synced.ready_nbytes += slot->tiles[i].nbytes;
    slot->synced.nready = i;
    if (i < n && (slot->synced.ready_nbytes < APPEND_NBYTES
                  || layout->sharding->u.sharding.index_at_start))
      break;
    slot->synced.ready_nbytes = 0;
    pthread_mutex_unlock (&write->mutex);
    enum radio_status status;
    if (i == n)
      status = publish_shard (write, slot, chunk, scratch);
    else {
      rd_array_chunk_key (write->array, chunk, key);
      RD_SCOPE ("write shard", RD_IN_DISK);
      RD_NOTE_NAME ("key", key);
      status = append_tiles (write, slot, chunk, key, i);
    }
    pthread_mutex_lock (&write->mutex);
    RD_TRY (status);
    if (i < n)
      continue;
    open_slot (write, slot, number + write->nslots);
    pthread_cond_broadcast (&write->changed);
    return RADIO_OK;
  }
  slot->synced.appending = false;
  return RADIO_OK;
}

static enum radio_status
do_tile (struct rd_write *write, uint64_t task, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = &write->array->layout;
  uint64_t number = task / layout->ntiles, tile = task % layout->ntiles;
  struct slot *slot = &write->slots[number % write->nslots];
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  rd_box_unravel (&write->chunks, number, chunk);
  if (atomic_load (&slot->turn) != number) {
    /* Until a slot is free for the chunk, or the write has failed. */
    RD_SCOPE_WAIT ("wait for shard", RD_IN_QUEUE);
    RD_LOCK_SCOPE (&write->mutex);
    while (atomic_load (&slot->turn) != number
           && write->synced.error.status == RADIO_OK)
      pthread_cond_wait (&write->changed, &write->mutex);
    RD_TRY (rd_error_raise (&write->synced.error));
  }
  const struct radio_box box = rd_layout_tile (layout, chunk, tile);
  struct radio_box part;
  RD_TRY (rd_write_tile (layout, &write->given, &box, scratch, &slot->arena,
                         &slot->tiles[tile]));
  if (rd_box_intersect (&box, &write->given.box, &part))
    atomic_fetch_add (&slot->nencoded, 1);
  return end_tile (write, slot, number, tile, chunk, scratch);
}

/* The chunk of a task: threads are at different parts of the box, since making
 * a file locks its folder. */
static uint64_t
find_chunk (const struct rd_write *write, uint64_t task)
{
  uint64_t nparts = write->job.max_active, part = task % nparts;
  uint64_t n = write->job.n / nparts, nlonger = write->job.n % nparts;
  return part * n + rd_min_u64 (part, nlonger) + task / nparts;
}

/* Writes a chunk that is an object by itself. */
static enum radio_status
do_chunk (struct rd_write *write, uint64_t task, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = &write->array->layout;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  const void *elements;
  rd_box_unravel (&write->chunks, find_chunk (write, task), chunk);
  {
    RD_SCOPE ("encode", RD_IN_ENCODE);
    const struct radio_box box = rd_layout_tile (layout, chunk, 0);
    RD_TRY (rd_write_gather (layout, &write->given, &box, scratch,
                             &elements));
    if (elements) {
      RD_COUNT (encoded, layout->tile_nbytes);
      RD_COUNT (tiles, 1);
      RD_TRY (rd_chain_encode (layout->chain, &layout->tile, scratch,
                               elements, &scratch->fetched));
    }
  }
  return publish_object (write, chunk, elements ? &scratch->fetched : NULL);
}

/* A failure is passed to the threads that wait for a slot before the pool sees
 * it, so that they fail with the same one. */
static enum radio_status
do_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_write *write = (struct rd_write *) job;
  enum radio_status status = write->array->layout.sharding
    ? do_tile (write, task, scratch) : do_chunk (write, task, scratch);
  if (status == RADIO_OK)
    return RADIO_OK;
  RD_LOCK_SCOPE (&write->mutex);
  if (write->synced.error.status == RADIO_OK)
    rd_error_save (&write->synced.error, status);
  pthread_cond_broadcast (&write->changed);
  return rd_error_raise (&write->synced.error);
}

static void
free_write (struct rd_write *write)
{
  if (!write)
    return;
  for (unsigned i = 0; i < MAX_SLOTS; i++) {
    rd_io_writer_abort (write->slots[i].writer);
    rd_free (write->slots[i].arena.data);
    rd_free (write->slots[i].tiles);
    rd_free (write->slots[i].synced.encoded);
  }
  pthread_cond_destroy (&write->changed);
  pthread_mutex_destroy (&write->mutex);
  rd_free (write);
}

RD_DEFINE_CLEANUP (write, struct rd_write, free_write);

static const struct radio_site encode_site = {
  "encode tiles", RD_IN_OPERATION, "rd_write_start", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
new_write (struct radio_array *array, const struct radio_box *box,
           const void *elements, const int64_t *strides,
           uint64_t strings_nbytes, struct rd_write **result)
{
  const struct rd_layout *layout = &array->layout;
  RD_TRY (rd_pool_check (array->store->context->pool));
  RD_TRY (check_box (array, box));
  const struct budget budget = make_budget (array, box, strings_nbytes);
  enum radio_status status = rd_context_allows (array->store->context,
                                                budget.nbytes,
                                                "writing a chunk");
  if (status != RADIO_OK)
    return rd_array_fail_in (array, status);
  RD_CLEANUP (rd_cleanup_write) struct rd_write *write
    = rd_calloc (1, sizeof *write);
  if (!write)
    return rd_fail_memory (sizeof *write);
  pthread_mutex_init (&write->mutex, NULL);
  pthread_cond_init (&write->changed, NULL);
  array->is_written = true;
  write->job.run = do_task;
  write->job.site = &encode_site;
  write->array = array;
  write->given.box = *box;
  write->given.elements = elements;
  if (!rd_given_strides (strides, box->rank, box->size,
                         array->doc->type.item_nbytes, write->given.strides))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the box has more elements than "
                    "memory can hold");
  if (radio_box_count (box) == 0) {
    *result = RD_STEAL (write);
    return RADIO_OK;
  }

  /* A task for each tile, and the slots that they need. */
  rd_grid_touched (box, layout->chunk.shape, &write->chunks);
  if (rd_mul_overflows (radio_box_count (&write->chunks), layout->ntiles,
                        &write->job.n))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the box has more than 2^64 "
                    "tiles");
  write->job.max_active = budget.nthreads;
  write->nslots = layout->sharding ? budget.nslots : 0;
  size_t nbytes = (size_t) layout->ntiles * sizeof (struct rd_shard_entry);
  for (unsigned i = 0; i < write->nslots; i++) {
    struct slot *slot = &write->slots[i];
    slot->arena.nbytes = budget.arena_nbytes;
    slot->arena.data = rd_malloc (budget.arena_nbytes);
    slot->tiles = rd_malloc (nbytes);
    slot->synced.encoded = rd_malloc ((size_t) layout->ntiles);
    if (!slot->arena.data || !slot->tiles || !slot->synced.encoded)
      return rd_fail_memory (budget.arena_nbytes + nbytes);
    open_slot (write, slot, i);
  }
  *result = RD_STEAL (write);
  return RADIO_OK;
}

enum radio_status
rd_write_start (struct radio_array *array, const struct radio_box *box,
                const void *elements, const int64_t *strides,
                struct rd_write **result)
{
  RD_CLEANUP (rd_cleanup_write) struct rd_write *write = NULL;
  RD_TRY (new_write (array, box, elements, strides, 0, &write));
  RD_TRY (rd_pool_start (array->store->context->pool, &write->job));
  *result = RD_STEAL (write);
  return RADIO_OK;
}

enum radio_status
rd_write_finish (struct rd_write *write, uint64_t *stored_nbytes)
{
  struct rd_pool *pool = write->array->store->context->pool;
  /* In a forked child no thread does its tasks. */
  RD_TRY (rd_pool_check (pool));
  enum radio_status status = rd_pool_wait (pool, &write->job);
  if (stored_nbytes)
    *stored_nbytes += atomic_load (&write->stored_nbytes);
  free_write (write);
  return status;
}

static enum radio_status
run_write (struct radio_array *array, const struct radio_box *box,
           const void *elements, uint64_t strings_nbytes)
{
  RD_CLEANUP (rd_cleanup_write) struct rd_write *write = NULL;
  RD_TRY (new_write (array, box, elements, NULL, strings_nbytes, &write));
  const struct radio_request request = { .box = *box };
  rd_annotate_boxes (&array->layout, &request, 1);
  /* Tasks that each put an object wait for a network most of the time. */
  if (!array->layout.sharding && !array->store->io->ops->is_blocking)
    return rd_pool_run_apart (write->job.max_active, &write->job);
  return rd_pool_run (array->store->context->pool, &write->job);
}

enum radio_status
rd_array_write_refs (struct radio_array *array, const struct radio_box *box,
                     const struct rd_string *strings, uint64_t nbytes)
{
  return run_write (array, box, strings, nbytes);
}

static enum radio_status
write_box (struct radio_array *array, const struct radio_box *box,
           const void *buffer, size_t nbytes)
{
  RD_TRY (check_box (array, box));
  if (array->doc->type.dtype == RADIO_STRING)
    return rd_array_fail_in (array, rd_fail (
      RADIO_ERROR_ARGUMENT, "an array of strings; use "
      "radio_array_write_strings"));
  uint64_t count = radio_box_count (box), needed;
  if (count > 0 && !buffer)
    return rd_array_fail_in (array, rd_fail (RADIO_ERROR_ARGUMENT,
                                             "the buffer is NULL"));
  if (count == UINT64_MAX
      || rd_mul_overflows (count, array->doc->type.item_nbytes, &needed)
      || needed > nbytes) {
    rd_fail (RADIO_ERROR_ARGUMENT, "the buffer has %zu bytes, the box needs %"
             PRIu64 " elements of %zu bytes", nbytes, count,
             array->doc->type.item_nbytes);
    return rd_array_fail_in (array, RADIO_ERROR_ARGUMENT);
  }
  return run_write (array, box, buffer, 0);
}

enum radio_status
radio_array_write (struct radio_array *array, const struct radio_box *box,
                   const void *buffer, size_t nbytes)
{
  RD_NOT_NULL (array);
  RD_NOT_NULL (box);
  RD_SCOPE ("write", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  RD_TRY (rd_array_check_stored (array, "written"));
  return rd_scope_end_with (write_box (array, box, buffer, nbytes));
}
