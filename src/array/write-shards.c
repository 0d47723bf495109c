/* SPDX-License-Identifier: MIT */
/* Shards in the order in which they were announced.  Four counters say how far
 * they are: announced, created, completed, committed, each at most the one
 * before.  A step takes the next shard from the first to the second or from
 * the third to the last; steps are done by a thread of their own or, without
 * one, by the thread that would wait for them. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/thread.h"
#include "profiler/counters.h"
#include "src/array/write-shards.h"
#include "src/element/box.h"
#include "src/element/copy.h"

/* Tiles that are appended by one call. */
#define MAX_PARTS 64

enum radio_status
rd_write_gather (const struct rd_layout *layout,
                 const struct rd_given *given, const struct radio_box *tile,
                 struct rd_scratch *scratch, const void **elements)
{
  RD_SCOPE ("gather", RD_IN_PLACE);
  const struct rd_chunk *chunk = &layout->tile;
  int64_t c_strides[RADIO_MAX_RANK] = { 0 };
  struct radio_box part;
  *elements = NULL;
  if (!rd_box_intersect (tile, &given->box, &part))
    return RADIO_OK;
  (void) rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                       c_strides);
  bool is_whole = memcmp (part.size, chunk->shape,
                          chunk->rank * sizeof part.size[0]) == 0;
  bool is_c_order = !given->swapped;
  for (size_t i = 0; i < chunk->rank && is_c_order; i++)
    is_c_order = chunk->shape[i] <= 1 || given->strides[i] == c_strides[i];
  uint64_t distance = 0;
  for (size_t i = 0; i < part.rank; i++)
    distance += (part.start[i] - given->box.start[i])
      * (uint64_t) given->strides[i];
  const unsigned char *found = given->elements + (int64_t) distance;
  if (!is_whole || !is_c_order) {
    RD_TRY (rd_buffer_reserve (&scratch->tile,
                               (size_t) layout->tile_nbytes));
    if (!is_whole)
      rd_chunk_fill (chunk, scratch->tile.data);
    struct rd_box_copy copy = {
      .rank = part.rank,
      .from = found,
      .from_type = chunk->type,
      .from_swapped = given->swapped,
      .to = scratch->tile.data,
      .to_dtype = chunk->type.dtype,
    };
    memcpy (copy.shape, part.size, sizeof copy.shape);
    memcpy (copy.from_strides, given->strides, sizeof copy.from_strides);
    memcpy (copy.to_strides, c_strides, sizeof copy.to_strides);
    RD_TRY (rd_box_copy_run (&copy));
    found = scratch->tile.data;
    scratch->tile.nbytes = (size_t) layout->tile_nbytes;
  }
  if (!rd_chunk_is_fill (chunk, found))
    *elements = found;
  return RADIO_OK;
}

enum radio_status
rd_write_tile (const struct rd_layout *layout, const struct rd_given *given,
               const struct radio_box *tile, struct rd_scratch *scratch,
               struct rd_arena *arena, struct rd_shard_entry *entry)
{
  RD_SCOPE ("encode", RD_IN_ENCODE);
  const void *elements;
  entry->offset = entry->nbytes = RD_SHARD_MISSING;
  RD_TRY (rd_write_gather (layout, given, tile, scratch, &elements));
  if (!elements)
    return RADIO_OK;
  RD_TRY (rd_chain_encode (layout->chain, &layout->tile, scratch, elements,
                           &scratch->fetched));
  RD_TILE (encoded, layout->tile_nbytes,
           rd_layout_tile_at (layout, tile->start), scratch->fetched.nbytes);
  /* The arena's size is the sum of all its tiles' bounds. */
  uint64_t nbytes = scratch->fetched.nbytes;
  uint64_t offset = atomic_fetch_add (&arena->used, nbytes);
  if (offset > arena->nbytes || nbytes > arena->nbytes - offset)
    return rd_fail (RADIO_ERROR_LIMIT, "tiles grow beyond their bound of %"
                    PRIu64 " bytes when encoded", layout->tile_bound_nbytes);
  memcpy (arena->data + offset, scratch->fetched.data, nbytes);
  entry->offset = offset;
  entry->nbytes = nbytes;
  return RADIO_OK;
}

enum radio_status
rd_write_append (struct rd_io_writer *writer, const struct rd_arena *arena,
                 const struct rd_shard_entry *tiles, uint64_t ntiles)
{
  struct rd_part parts[MAX_PARTS];
  size_t n = 0;
  for (uint64_t i = 0; i < ntiles; i++) {
    if (tiles[i].offset == RD_SHARD_MISSING)
      continue;
    parts[n++] = (struct rd_part) { arena->data + tiles[i].offset,
                                    (size_t) tiles[i].nbytes };
    if (n == MAX_PARTS) {
      RD_TRY (writer->ops->append (writer, parts, n));
      n = 0;
    }
  }
  return n > 0 ? writer->ops->append (writer, parts, n) : RADIO_OK;
}

void
rd_write_expect (struct rd_io_writer *writer, const struct rd_layout *layout,
                 const uint64_t *chunk, uint64_t ntiles, uint64_t nbytes)
{
  uint64_t n = 1;
  for (size_t i = 0; i < layout->rank; i++) {
    uint64_t left = layout->shape[i] - chunk[i] * layout->chunk.shape[i];
    n *= rd_min_u64 (layout->grid[i],
                     rd_div_up (left, layout->tile.shape[i]));
  }
  rd_io_writer_expect (writer, rd_mul_sat (nbytes / ntiles, n));
}

/* Shards that are announced and not committed, each at most one open file.
 * There are more than shards of the layers in memory: so when this is reached,
 * there is a shard to commit, and the thread waits only for that. */
#define MAX_SHARDS 8

struct shard {
  struct rd_io_writer *writer;        /* NULL: not created, or committed */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t nbytes, ntiles;            /* so far */
  struct radio_handoff handoff;       /* of its next step */
};

struct rd_shards {
  struct radio_array *array;
  pid_t pid;                          /* of the process that opened it */
  bool has_thread;
  pthread_t thread;
  struct radio_handoff handoff;
  struct shard shards[MAX_SHARDS];    /* the n-th one at n % MAX_SHARDS */

  /* Used by the appending thread. */
  struct shard *shard;                /* NULL: none was begun */
  struct rd_shard_index *index;       /* of it */

  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* of the following */
  struct {
    uint64_t nannounced, ncreated, ncompleted, ncommitted;
    uint64_t stored_nbytes;           /* of those committed */
    bool creating, committing;
    bool closing;
    struct rd_error error;            /* the first failure */
  } synced;
};

static struct shard *
find_shard (struct rd_shards *shards, uint64_t number)
{
  return &shards->shards[number % MAX_SHARDS];
}

static const struct radio_site create_site = {
  "create shard", RD_IN_DISK, "do_step", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static const struct radio_site commit_site = {
  "commit shards", RD_IN_DISK, "do_step", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
do_step (struct rd_shards *shards, struct shard *shard, bool creates,
         bool is_thread)
{
  const struct radio_site *site = creates ? &create_site : &commit_site;
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))
  const uint64_t scope = !radio_profile_is_on () ? 0
    : is_thread ? radio_scope_receive (&shard->handoff, site)
    : radio_scope_begin (site);
  struct radio_array *array = shards->array;
  enum radio_status status;
  if (creates) {
    struct rd_io *io = array->store->io;
    char key[RD_KEY_NBYTES];
    rd_array_chunk_key (array, shard->chunk, key);
    RD_NOTE_NAME ("key", key);
    shard->nbytes = shard->ntiles = 0;
    status = io->ops->create (io, key, &shard->writer);
  } else {
    struct rd_io_writer *writer = RD_STEAL (shard->writer);
    status = writer->ops->commit (writer);
    if (status == RADIO_OK)
      rd_index_cache_drop (array->indexes, shard->chunk);
  }
  return rd_scope_end_with (status);
}

/* Does a step, if there is one that no other thread does; else false.
 * Creating comes first: some thread will wait for the file. */
static bool
step_synced (struct rd_shards *shards, bool is_thread)
{
  bool creates = !shards->synced.creating
    && shards->synced.ncreated < shards->synced.nannounced;
  bool commits = (is_thread || !shards->has_thread)
    && !shards->synced.committing
    && shards->synced.ncommitted < shards->synced.ncompleted;
  if (!creates && !commits)
    return false;
  uint64_t *done = creates ? &shards->synced.ncreated
                           : &shards->synced.ncommitted;
  bool *doing = creates ? &shards->synced.creating
                        : &shards->synced.committing;
  struct shard *shard = find_shard (shards, *done);
  *doing = true;
  pthread_mutex_unlock (&shards->mutex);
  enum radio_status status = do_step (shards, shard, creates, is_thread);
  pthread_mutex_lock (&shards->mutex);
  *doing = false;
  if (status == RADIO_OK && !creates)
    shards->synced.stored_nbytes += shard->nbytes;
  if (status == RADIO_OK)
    ++*done;
  else if (shards->synced.error.status == RADIO_OK)
    rd_error_save (&shards->synced.error, status);
  pthread_cond_broadcast (&shards->changed);
  return true;
}

static void *
run_thread (void *argument)
{
  struct rd_shards *shards = argument;
  radio_thread_name ("radio shards");
  pthread_mutex_lock (&shards->mutex);
  while (!shards->synced.closing)
    if (shards->synced.error.status != RADIO_OK
        || !step_synced (shards, true))
      pthread_cond_wait (&shards->changed, &shards->mutex);
  pthread_mutex_unlock (&shards->mutex);
  return NULL;
}

enum radio_status
rd_shards_open (struct radio_array *array, struct rd_shards **result)
{
  uint64_t n = array->layout.ntiles;
  size_t index_nbytes = sizeof (struct rd_shard_index)
    + (size_t) n * sizeof (struct rd_shard_entry);
  struct rd_shards *shards = rd_calloc (1, sizeof *shards);
  if (!shards)
    return rd_fail_memory (sizeof *shards);
  shards->array = array;
  shards->pid = getpid ();
  pthread_mutex_init (&shards->mutex, NULL);
  pthread_cond_init (&shards->changed, NULL);
  shards->index = rd_malloc (index_nbytes);
  if (!shards->index) {
    rd_shards_close (shards);
    return rd_fail_memory (index_nbytes);
  }
  shards->index->n = n;
  if (radio_profile_is_on ())
    radio_handoff_give (&shards->handoff);
  uint64_t nchunks = 1;
  for (size_t i = 0; i < array->layout.rank; i++)
    nchunks = rd_mul_sat (nchunks, array->layout.chunks[i]);
  /* A single shard leaves nothing to do meanwhile. */
  if (array->store->context->nthreads > 1 && nchunks > 1) {
    /* Without this thread it is slower, not wrong. */
    pthread_mutex_lock (&shards->mutex);
    shards->has_thread = true;        /* the thread reads it */
    if (rd_start_thread (&shards->thread, run_thread, shards) != 0)
      shards->has_thread = false;
    pthread_mutex_unlock (&shards->mutex);
  }
  *result = shards;
  return RADIO_OK;
}

typedef bool condition_fn (const struct rd_shards *shards);

static bool
has_room (const struct rd_shards *shards)
{
  return shards->synced.nannounced - shards->synced.ncommitted < MAX_SHARDS;
}

static bool
has_writer (const struct rd_shards *shards)
{
  return shards->synced.ncreated > shards->synced.ncompleted;
}

static bool
is_committed (const struct rd_shards *shards)
{
  return shards->synced.ncommitted == shards->synced.nannounced;
}

/* Waits, or does the steps that other threads do not do. */
static enum radio_status
wait_synced (struct rd_shards *shards, condition_fn *is_met)
{
  while (!is_met (shards) && shards->synced.error.status == RADIO_OK) {
    if (step_synced (shards, false))
      continue;
    RD_SCOPE_WAIT ("wait for shard", RD_IN_QUEUE);
    pthread_cond_wait (&shards->changed, &shards->mutex);
  }
  return rd_error_raise (&shards->synced.error);
}

enum radio_status
rd_shards_announce (struct rd_shards *shards, const uint64_t *chunk)
{
  uint64_t n = shards->synced.nannounced;     /* set by this thread only */
  size_t nbytes = sizeof shards->shard->chunk;
  if (n > 0 && memcmp (find_shard (shards, n - 1)->chunk, chunk, nbytes) == 0)
    return RADIO_OK;
  /* In a forked child the mutex may be held for ever. */
  RD_TRY (rd_pool_check (shards->array->store->context->pool));
  RD_LOCK_SCOPE (&shards->mutex);
  RD_TRY (wait_synced (shards, has_room));
  struct shard *shard = find_shard (shards, n);
  memcpy (shard->chunk, chunk, nbytes);
  shard->handoff = radio_handoff_again (&shards->handoff);
  shards->synced.nannounced++;
  pthread_cond_broadcast (&shards->changed);
  return RADIO_OK;
}

enum radio_status
rd_shards_complete (struct rd_shards *shards, struct rd_scratch *scratch)
{
  struct radio_array *array = shards->array;
  struct shard *shard = shards->shard;
  struct rd_buffer *encoded = &scratch->fetched;
  if (!shard)
    return RADIO_OK;
  RD_TRY (rd_tile_lengths_add (&array->lengths, &array->layout, shard->chunk,
                               shards->index));
  RD_TRY (rd_shard_index_encode (array->layout.sharding,
                                 &array->layout.chunk, scratch,
                                 shards->index, encoded));
  const struct rd_part part = { encoded->data, encoded->nbytes };
  RD_TRY (shard->writer->ops->append (shard->writer, &part, 1));
  shard->nbytes += part.nbytes;
  shards->shard = NULL;
  RD_LOCK_SCOPE (&shards->mutex);
  shard->handoff = radio_handoff_again (&shards->handoff);
  shards->synced.ncompleted++;
  pthread_cond_broadcast (&shards->changed);
  return RADIO_OK;
}

enum radio_status
rd_shards_append (struct rd_shards *shards, const struct rd_encoded *layer,
                  struct rd_scratch *scratch)
{
  RD_SCOPE ("write shard", RD_IN_DISK);
  const struct rd_layout *layout = &shards->array->layout;
  struct rd_shard_index *index = shards->index;
  if (shards->shard && memcmp (layer->chunk, shards->shard->chunk,
                               sizeof layer->chunk) != 0)
    RD_TRY (rd_shards_complete (shards, scratch));
  if (!shards->shard) {
    RD_LOCK_SCOPE (&shards->mutex);
    RD_TRY (wait_synced (shards, has_writer));
    shards->shard = find_shard (shards, shards->synced.ncompleted);
    memset (index->entries, 0xff,
            (size_t) index->n * sizeof index->entries[0]);
  }

  /* Set the tiles' offsets in the shard's index. */
  struct shard *shard = shards->shard;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  for (uint64_t i = 0; i < layer->ntiles; i++) {
    const struct rd_shard_entry *tile = &layer->entries[i];
    uint64_t number = 0;
    if (tile->offset == RD_SHARD_MISSING)
      continue;
    rd_box_unravel (&layer->tiles, i, at);
    for (size_t axis = 0; axis < layout->rank; axis++)
      number = number * layout->grid[axis] + at[axis] % layout->grid[axis];
    index->entries[number] = (struct rd_shard_entry) {
      shard->nbytes, tile->nbytes,
    };
    shard->nbytes += tile->nbytes;
  }
  shard->ntiles += layer->ntiles;
  rd_write_expect (shard->writer, layout, shard->chunk, shard->ntiles,
                   shard->nbytes);
  return rd_write_append (shard->writer, &layer->arena, layer->entries,
                          layer->ntiles);
}

enum radio_status
rd_shards_finish (struct rd_shards *shards, uint64_t *stored_nbytes)
{
  RD_TRY (rd_pool_check (shards->array->store->context->pool));
  RD_LOCK_SCOPE (&shards->mutex);
  RD_TRY (wait_synced (shards, is_committed));
  *stored_nbytes += shards->synced.stored_nbytes;
  return RADIO_OK;
}

/* In a forked child the files are its parent's. */
void
rd_shards_close (struct rd_shards *shards)
{
  if (!shards || shards->pid != getpid ())
    return;
  if (shards->has_thread) {
    pthread_mutex_lock (&shards->mutex);
    shards->synced.closing = true;
    pthread_cond_broadcast (&shards->changed);
    pthread_mutex_unlock (&shards->mutex);
    pthread_join (shards->thread, NULL);
  }
  for (size_t i = 0; i < MAX_SHARDS; i++)
    rd_io_writer_abort (shards->shards[i].writer);
  if (shards->handoff.parent)
    radio_handoff_release (&shards->handoff);
  pthread_cond_destroy (&shards->changed);
  pthread_mutex_destroy (&shards->mutex);
  rd_free (shards->index);
  rd_free (shards);
}

