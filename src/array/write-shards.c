/* SPDX-License-Identifier: MIT */
/* Shards in the order in which they were announced.  Four counters tell how
 * far they are: announced, created, completed, committed, each at most the
 * one before.  A step takes the next shard from the first to the second or
 * from the third to the last; steps are taken by a thread of their own, or,
 * where there is none, by whoever would have to wait for it. */
#include <config.h>

#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/write-shards.h"
#include "src/element/box.h"

/* Shards that were announced and are not committed, each an open file at
 * most.  More than layers can be of at one time: when there is no room,
 * there is one to be committed, and nothing else is waited for. */
#define MAX_SHARDS 8

struct shard {
  struct rd_io_writer *writer;        /* NULL: not created, or committed */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t nbytes;                    /* so far */
  struct radio_handoff handoff;       /* of the step that comes next */
};

struct rd_shards {
  struct radio_array *array;
  pid_t pid;                          /* who opened it */
  bool has_thread;
  pthread_t thread;
  struct radio_handoff handoff;
  struct shard shards[MAX_SHARDS];    /* the n-th one at n % MAX_SHARDS */

  /* Of whoever is appending. */
  struct shard *shard;                /* NULL: none is begun */
  struct rd_shard_index *index;       /* its */

  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* any of these */
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

static enum radio_status
create_shard (struct rd_shards *shards, struct shard *shard)
{
  struct rd_io *io = shards->array->store->io;
  char key[RD_KEY_NBYTES];
  rd_fetch_key (shards->array, shard->chunk, key);
  RD_NOTE_NAME ("key", key);
  shard->nbytes = 0;
  return io->ops->create (io, key, &shard->writer);
}

static enum radio_status
commit_shard (struct rd_shards *shards, struct shard *shard)
{
  struct rd_io_writer *writer = RD_STEAL (shard->writer);
  RD_TRY (writer->ops->commit (writer));
  rd_index_cache_drop (shards->array->indexes, shard->chunk);
  return RADIO_OK;
}

static const struct radio_site create_site = {
  "create shard", RD_IN_DISK, "create_shard", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static const struct radio_site commit_site = {
  "commit shards", RD_IN_DISK, "commit_shard", __FILE__, __LINE__,
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
  return rd_scope_end_with (creates ? create_shard (shards, shard)
                                    : commit_shard (shards, shard));
}

/* Take one step of a kind that nobody else takes. */
static void
take_step_synced (struct rd_shards *shards, bool creates, bool is_thread)
{
  uint64_t *done = creates ? &shards->synced.ncreated
                           : &shards->synced.ncommitted;
  bool *taking = creates ? &shards->synced.creating
                         : &shards->synced.committing;
  struct shard *shard = find_shard (shards, *done);
  *taking = true;
  pthread_mutex_unlock (&shards->mutex);
  enum radio_status status = do_step (shards, shard, creates, is_thread);
  pthread_mutex_lock (&shards->mutex);
  *taking = false;
  if (status == RADIO_OK && !creates)
    shards->synced.stored_nbytes += shard->nbytes;
  if (status == RADIO_OK)
    ++*done;
  else if (shards->synced.error.status == RADIO_OK)
    rd_error_save (&shards->synced.error, status);
  pthread_cond_broadcast (&shards->changed);
}

/* Somebody will wait for a file that is not there yet, so that comes first.
 * False when there is nothing to do. */
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
  take_step_synced (shards, creates, is_thread);
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

/* Signals are for the program's own threads.  Without a thread it is slower,
 * not wrong. */
static void
start_thread (struct rd_shards *shards)
{
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  /* The thread looks at it. */
  shards->has_thread = true;
  pthread_mutex_lock (&shards->mutex);
  if (pthread_create (&shards->thread, NULL, run_thread, shards) != 0)
    shards->has_thread = false;
  pthread_mutex_unlock (&shards->mutex);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
}

static enum radio_status
make_index (struct rd_shards *shards)
{
  uint64_t n = shards->array->layout.ntiles;
  size_t nbytes = sizeof (struct rd_shard_index)
    + (size_t) n * sizeof (struct rd_shard_entry);
  shards->index = rd_malloc (nbytes);
  if (!shards->index)
    return rd_fail_memory (nbytes);
  shards->index->n = n;
  return RADIO_OK;
}

enum radio_status
rd_shards_open (struct radio_array *array, struct rd_shards **result)
{
  struct rd_shards *shards = rd_calloc (1, sizeof *shards);
  if (!shards)
    return rd_fail_memory (sizeof *shards);
  shards->array = array;
  shards->pid = getpid ();
  pthread_mutex_init (&shards->mutex, NULL);
  pthread_cond_init (&shards->changed, NULL);
  enum radio_status status = make_index (shards);
  if (status != RADIO_OK) {
    rd_shards_close (shards);
    return status;
  }
  if (radio_profile_is_on ())
    radio_handoff_give (&shards->handoff);
  if (array->store->context->nthreads > 1)
    start_thread (shards);
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

/* Wait, or do what others would have to be waited for. */
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
  uint64_t n = shards->synced.nannounced;     /* only this thread's */
  size_t nbytes = sizeof shards->shard->chunk;
  if (n > 0 && memcmp (find_shard (shards, n - 1)->chunk, chunk, nbytes) == 0)
    return RADIO_OK;
  /* In a forked child nobody holds or will release the mutex. */
  RD_TRY (rd_pool_check (shards->array->store->context->pool));
  RD_LOCK_SCOPE (&shards->mutex);
  RD_TRY (wait_synced (shards, has_room));
  struct shard *shard = find_shard (shards, n);
  memcpy (shard->chunk, chunk, nbytes);
  shard->handoff = rd_handoff_again (&shards->handoff);
  shards->synced.nannounced++;
  pthread_cond_broadcast (&shards->changed);
  return RADIO_OK;
}

static enum radio_status
begin_shard (struct rd_shards *shards)
{
  struct rd_shard_index *index = shards->index;
  RD_LOCK_SCOPE (&shards->mutex);
  RD_TRY (wait_synced (shards, has_writer));
  shards->shard = find_shard (shards, shards->synced.ncompleted);
  memset (index->entries, 0xff,
          (size_t) index->n * sizeof index->entries[0]);
  return RADIO_OK;
}

/* Append the index. */
enum radio_status
rd_shards_complete (struct rd_shards *shards, struct rd_scratch *scratch)
{
  struct radio_array *array = shards->array;
  struct shard *shard = shards->shard;
  struct rd_buffer *encoded = &scratch->fetched;
  if (!shard)
    return RADIO_OK;
  RD_TRY (rd_shard_index_encode (array->layout.sharding,
                                 &array->layout.chunk, scratch,
                                 shards->index, encoded));
  const struct rd_part part = { encoded->data, encoded->nbytes };
  RD_TRY (shard->writer->ops->append (shard->writer, &part, 1));
  shard->nbytes += part.nbytes;
  shards->shard = NULL;
  RD_LOCK_SCOPE (&shards->mutex);
  shard->handoff = rd_handoff_again (&shards->handoff);
  shards->synced.ncompleted++;
  pthread_cond_broadcast (&shards->changed);
  return RADIO_OK;
}

/* Tell the shard's index where the tiles of a layer will lie. */
static void
place_tiles (struct rd_shards *shards, const struct rd_encoded *layer)
{
  const struct rd_layout *layout = &shards->array->layout;
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
    shards->index->entries[number] = (struct rd_shard_entry) {
      shard->nbytes, tile->nbytes,
    };
    shard->nbytes += tile->nbytes;
  }
}

enum radio_status
rd_shards_append (struct rd_shards *shards, const struct rd_encoded *layer,
                  struct rd_scratch *scratch)
{
  RD_SCOPE ("write shard", RD_IN_DISK);
  if (shards->shard && memcmp (layer->chunk, shards->shard->chunk,
                               sizeof layer->chunk) != 0)
    RD_TRY (rd_shards_complete (shards, scratch));
  if (!shards->shard)
    RD_TRY (begin_shard (shards));
  place_tiles (shards, layer);
  return rd_write_append (shards->shard->writer, &layer->arena,
                          layer->entries, layer->ntiles);
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

static void
stop_thread (struct rd_shards *shards)
{
  pthread_mutex_lock (&shards->mutex);
  shards->synced.closing = true;
  pthread_cond_broadcast (&shards->changed);
  pthread_mutex_unlock (&shards->mutex);
  pthread_join (shards->thread, NULL);
}

/* In a forked child the files are its parent's. */
void
rd_shards_close (struct rd_shards *shards)
{
  if (!shards || shards->pid != getpid ())
    return;
  if (shards->has_thread)
    stop_thread (shards);
  for (size_t i = 0; i < MAX_SHARDS; i++)
    rd_io_writer_abort (shards->shards[i].writer);
  if (shards->handoff.parent)
    radio_handoff_release (&shards->handoff);
  pthread_cond_destroy (&shards->changed);
  pthread_mutex_destroy (&shards->mutex);
  rd_free (shards->index);
  rd_free (shards);
}
