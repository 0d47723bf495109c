/* SPDX-License-Identifier: MIT */
/* Checking an array: the stored objects are listed (a grid can be far larger
 * than the number of stored chunks), and every tile of those that are chunks
 * is read and decoded.  Damage is collected by the threads that find it and
 * reported on the caller's, in order. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/layout.h"
#include "src/array/linear.h"
#include "src/element/box.h"

/* Chunks that are checked together. */
#define CHUNKS_AT_ONCE 1024

struct damage {
  uint64_t order;
  char *message;
};

struct check {
  struct rd_tile_read read;           /* first: callbacks cast it */
  struct rd_read_stop stop;           /* by the thread's function */
  struct rd_buffer chunks;            /* coordinates of those stored */
  size_t nchunks;
  uint64_t stored_nbytes;
  uint64_t tile_count, damaged_count; /* of the parts that were read */
  _Atomic uint64_t part_tile_count;   /* of the part that is being read */
  radio_damage_fn *report;
  void *user_data;
  pthread_mutex_t mutex;
  struct {
    uint64_t damaged_count;           /* of the part */
    struct rd_buffer list;            /* of struct damage, the same */
    char *index_message;              /* the last one about an index */
  } synced;
};

static enum radio_status
add_chunk (struct check *check, const uint64_t chunk[RADIO_MAX_RANK])
{
  const size_t nbytes = RADIO_MAX_RANK * sizeof *chunk;
  check->nchunks++;
  RD_TRY (rd_context_allows (check->read.array->store->context,
                             (uint64_t) check->chunks.nbytes + nbytes,
                             "the list of chunks"));
  return rd_buffer_append (&check->chunks, chunk, nbytes);
}

static enum radio_status
add_object (const struct rd_io_entry *entry, void *user_data)
{
  struct check *check = user_data;
  const struct radio_array *array = check->read.array;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  if (!rd_chunk_key_parse (array->doc, array->layout.chunks, entry->name,
                           chunk))
    return RADIO_OK;
  check->stored_nbytes += entry->nbytes;
  return add_chunk (check, chunk);
}

/* For a store that cannot be listed (over HTTP): every chunk of the grid. */
static enum radio_status
add_grid (struct check *check)
{
  const struct rd_layout *layout = &check->read.array->layout;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  size_t axis = 0;
  for (size_t i = 0; i < layout->rank; i++)
    if (layout->chunks[i] == 0)
      return RADIO_OK;
  do {
    RD_TRY (add_chunk (check, chunk));
    for (axis = layout->rank; axis > 0; axis--) {
      if (++chunk[axis - 1] < layout->chunks[axis - 1])
        break;
      chunk[axis - 1] = 0;
    }
  } while (axis > 0);
  return RADIO_OK;
}

static enum radio_status
count_tile (struct rd_tile_read *read, size_t request,
            const struct radio_box *box, const struct rd_view *view,
            uint64_t *nbytes)
{
  struct check *check = (struct check *) read;
  (void) request;
  (void) box;
  (void) nbytes;
  if (view)
    atomic_fetch_add_explicit (&check->part_tile_count, 1,
                               memory_order_relaxed);
  return RADIO_OK;
}

/* Keeps the thread's message until it can be reported.  A shard of very many
 * tiles is read in several parts, each of which finds its index damaged: that
 * is reported once. */
static enum radio_status
add_damage (struct rd_tile_read *read, enum radio_status status,
            uint64_t ntiles, uint64_t order)
{
  struct check *check = (struct check *) read;
  const char *message = radio_error_message ();
  bool of_index = order < RD_READ_FIRST_TILE_ORDER;
  if (status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_CHECKSUM
      && status != RADIO_ERROR_UNSUPPORTED)
    return status;
  RD_LOCK_SCOPE (&check->mutex);
  const char *last = check->synced.index_message;
  check->synced.damaged_count += ntiles;
  if (of_index && last && strcmp (last, message) == 0)
    return RADIO_OK;
  struct damage damage = { order, rd_strdup (message) };
  if (!damage.message)
    return rd_fail_memory (strlen (message));
  status = rd_buffer_append (&check->synced.list, &damage, sizeof damage);
  if (status != RADIO_OK)
    rd_free (damage.message);
  else if (of_index) {
    rd_free (check->synced.index_message);
    check->synced.index_message = rd_strdup (message);
  }
  return status;
}

static int
compare_damage (const void *a, const void *b)
{
  const struct damage *x = a, *y = b;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Reports the damage of one part of the read. */
static enum radio_status
report_damage (struct rd_tile_read *read)
{
  struct check *check = (struct check *) read;
  struct rd_buffer *list = &check->synced.list;
  struct damage *damage = (struct damage *) (void *) list->data;
  size_t n = list->nbytes / sizeof *damage;
  if (n > 0)
    qsort (damage, n, sizeof *damage, compare_damage);
  for (size_t i = 0; i < n; i++) {
    if (check->report)
      check->report (damage[i].message, check->user_data);
    rd_free (damage[i].message);
  }
  list->nbytes = 0;
  check->tile_count += atomic_exchange (&check->part_tile_count, 0);
  check->damaged_count += check->synced.damaged_count;
  check->synced.damaged_count = 0;
  return RADIO_OK;
}

/* Forgets the part of the read that failed. */
static void
forget_part (struct rd_tile_read *read)
{
  struct check *check = (struct check *) read;
  struct rd_buffer *list = &check->synced.list;
  const struct damage *damage = (const void *) list->data;
  for (size_t i = 0; i < list->nbytes / sizeof *damage; i++)
    rd_free (damage[i].message);
  list->nbytes = 0;
  rd_free (RD_STEAL (check->synced.index_message));
  check->synced.damaged_count = 0;
  atomic_store (&check->part_tile_count, 0);
}

static void
free_check (struct check *check)
{
  forget_part (&check->read);
  rd_buffer_free (&check->synced.list);
  rd_buffer_free (&check->chunks);
  pthread_mutex_destroy (&check->mutex);
}

/* Reads an array without tiles: there are none to be counted.  Damage ends it.
 */
static enum radio_status
check_linear (struct check *check, struct radio_check *result)
{
  const struct rd_layout *layout = &check->read.array->layout;
  const struct radio_request whole = {
    .box = rd_box_whole (layout->rank, layout->shape),
  };
  check->read.requests = &whole;
  check->read.n = 1;
  enum radio_status status = rd_linear_read (&check->read);
  if (status != RADIO_ERROR_FORMAT)
    return status;
  result->damaged_count = 1;
  if (check->report)
    check->report (radio_error_message (), check->user_data);
  return rd_fail_in (RADIO_ERROR_CHECKSUM, "damaged");
}

static enum radio_status
run_check (struct check *check, struct radio_check *result)
{
  const struct radio_array *array = check->read.array;
  const struct rd_layout *layout = &array->layout;
  const struct radio_box whole = rd_box_whole (layout->rank, layout->shape);
  struct rd_io *io = array->store->io;
  RD_TRY (rd_pool_check (array->store->context->pool));
  {
    RD_SCOPE_BLOCKING ("list", RD_IN_DISK);
    enum radio_status status = io->ops->list (io, array->path, true,
                                              add_object, check);
    if (status == RADIO_ERROR_UNSUPPORTED)
      status = add_grid (check);
    RD_TRY (status);
  }

  size_t most = rd_min_u64 (check->nchunks, CHUNKS_AT_ONCE);
  RD_FREE struct radio_request *requests = rd_calloc (most + 1,
                                                      sizeof *requests);
  if (!requests)
    return rd_fail_memory (most * sizeof *requests);
  check->read.requests = requests;
  for (size_t first = 0; first < check->nchunks; first += most) {
    check->read.n = rd_min_u64 (most, check->nchunks - first);
    for (size_t i = 0; i < check->read.n; i++) {
      uint64_t chunk[RADIO_MAX_RANK];
      memcpy (chunk, check->chunks.data + (first + i) * sizeof chunk,
              sizeof chunk);
      struct radio_box cell = rd_grid_cell (layout->rank,
                                            layout->chunk.shape, chunk);
      requests[i].box = (struct radio_box) { .rank = layout->rank };
      (void) rd_box_intersect (&cell, &whole, &requests[i].box);
    }
    RD_TRY (rd_fetch_tiles (&check->read));
  }

  struct radio_box tiles = { .rank = layout->rank };
  for (size_t i = 0; i < layout->rank; i++)
    tiles.size[i] = rd_div_up (layout->shape[i], layout->tile.shape[i]);
  uint64_t ntiles = radio_box_count (&tiles);     /* stored or not */
  result->tile_count = check->tile_count;
  result->damaged_count = check->damaged_count;
  result->missing_count = ntiles - result->tile_count
    - result->damaged_count;
  result->stored_nbytes = check->stored_nbytes;
  if (result->damaged_count == 0)
    return RADIO_OK;
  return rd_array_fail_in (array, rd_fail (
    RADIO_ERROR_CHECKSUM, "%" PRIu64 " of %" PRIu64 " tiles are damaged",
    result->damaged_count, ntiles));
}

enum radio_status
(radio_array_check) (struct radio_array *array, struct radio_check *result,
                     radio_damage_fn *damage, void *user_data,
                     size_t result_nbytes)
{
  if (!array || !result)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_array_check: %s is NULL",
                    array ? "check" : "array");
  RD_SCOPE ("check", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  RD_TRY (rd_array_check_stored (array, "checked"));
  const struct rd_layout *layout = &array->layout;
  rd_annotate_shapes (layout->rank, layout->shape, layout->chunk.shape,
                  layout->tile.shape);
  RD_CLEANUP (free_check) struct check check = {
    .read = {
      .array = array,
      .fresh_indexes = true,
      .place = count_tile,
      .on_error = add_damage,
      .part_done = report_damage,
      .part_again = forget_part,
    },
    .report = damage,
    .user_data = user_data,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
  };
  check.read.stop = rd_read_stop_of_thread (&check.stop, array->store->io);
  struct radio_check full = { 0 };
  enum radio_status status = array->linear ? check_linear (&check, &full)
                                           : run_check (&check, &full);
  if (status == RADIO_OK || status == RADIO_ERROR_CHECKSUM)
    rd_fill_result (result, result_nbytes, &full, sizeof full);
  return rd_scope_end_with (status);
}
