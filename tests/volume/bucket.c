/* SPDX-License-Identifier: MIT */
/* Handles of one store, and the age of its objects. */
#include <config.h>

#include "io/store.h"
#include "io/s3/s3.h"
#include "tests/io/wrap.h"
#include "tests/volume/bucket.h"

#define MAX_STAMPS 4096
#define MAX_KEY_NBYTES 200

struct stamp {
  char key[MAX_KEY_NBYTES];
  uint64_t put_s;
};

struct bucket {
  char *path;
  struct rd_io *memory;
  pthread_mutex_t mutex;
  struct {
    uint64_t now_s;
    size_t n;
    struct stamp stamps[MAX_STAMPS];
  } synced;
};

struct handle {
  struct rd_wrap wrap;        /* first */
  struct bucket *bucket;
  bool waits;
  bucket_hook_fn *hook;
  void *user_data;
  uint64_t n;
};

struct bucket *
bucket_make (const char *path)
{
  struct bucket *bucket = calloc (1, sizeof *bucket);
  assert_non_null (bucket);
  pthread_mutex_init (&bucket->mutex, NULL);
  if (path)
    bucket->path = strdup (path);
  else
    assert_ok (rd_io_memory_open (&bucket->memory));
  return bucket;
}

void
bucket_free (struct bucket *bucket)
{
  rd_io_close (bucket->memory);
  pthread_mutex_destroy (&bucket->mutex);
  free (bucket->path);
  free (bucket);
}

void
bucket_age (struct bucket *bucket, uint64_t seconds)
{
  RD_LOCK_SCOPE (&bucket->mutex);
  bucket->synced.now_s += seconds;
}

/* The stamp of a key, made when it has none. */
static struct stamp *
find_synced (struct bucket *bucket, const char *key)
{
  size_t i = 0;
  while (i < bucket->synced.n
         && strcmp (bucket->synced.stamps[i].key, key) != 0)
    i++;
  assert_true (i < MAX_STAMPS && strlen (key) < MAX_KEY_NBYTES);
  struct stamp *stamp = &bucket->synced.stamps[i];
  if (i == bucket->synced.n) {
    strcpy (stamp->key, key);
    bucket->synced.n++;
  }
  return stamp;
}

static void
note_put (struct bucket *bucket, const char *key)
{
  RD_LOCK_SCOPE (&bucket->mutex);
  find_synced (bucket, key)->put_s = bucket->synced.now_s;
}

static uint64_t
age_of (struct bucket *bucket, const char *key)
{
  RD_LOCK_SCOPE (&bucket->mutex);
  return bucket->synced.now_s - find_synced (bucket, key)->put_s;
}

/*------------------------------------------------------------------------
 * The table
 *----------------------------------------------------------------------*/

static struct rd_io *
begin (struct rd_io *io, const char *key)
{
  struct handle *handle = (struct handle *) io;
  handle->n++;
  if (handle->hook)
    handle->hook (handle->n, key, handle->user_data);
  return handle->wrap.inner;
}

static void
handle_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct rd_io *inner = begin (io, gets[0].key);
  inner->ops->get (inner, gets, n);
}

static enum radio_status
handle_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  struct rd_io *inner = begin (io, key);
  return inner->ops->size (inner, key, nbytes);
}

/* The arguments of a listing, whose entries get ages. */
struct listing {
  struct bucket *bucket;
  const char *prefix;
  rd_io_list_fn *fn;
  void *user_data;
};

static enum radio_status
report_age (const struct rd_io_entry *entry, void *user_data)
{
  const struct listing *listing = user_data;
  struct rd_io_entry aged = *entry;
  if (!entry->is_prefix) {
    char *key = rd_key_join (listing->prefix, entry->name);
    assert_non_null (key);
    aged.age_s = age_of (listing->bucket, key);
    rd_free (key);
  }
  return listing->fn (&aged, listing->user_data);
}

static enum radio_status
handle_list (struct rd_io *io, const char *prefix, bool recursive,
             rd_io_list_fn *fn, void *user_data)
{
  struct rd_io *inner = begin (io, prefix);
  struct listing listing = {
    ((struct handle *) io)->bucket, prefix, fn, user_data
  };
  return inner->ops->list (inner, prefix, recursive, report_age, &listing);
}

static enum radio_status
handle_put (struct rd_io *io, const char *key, const struct rd_part *parts,
            size_t n, enum rd_put how)
{
  struct rd_io *inner = begin (io, key);
  RD_TRY (inner->ops->put (inner, key, parts, n, how));
  note_put (((struct handle *) io)->bucket, key);
  return RADIO_OK;
}

static enum radio_status
handle_create (struct rd_io *io, const char *key,
               struct rd_io_writer **writer)
{
  struct rd_io *inner = begin (io, key);
  note_put (((struct handle *) io)->bucket, key);
  return inner->ops->create (inner, key, writer);
}

static enum radio_status
handle_remove (struct rd_io *io, const char *key)
{
  struct rd_io *inner = begin (io, key);
  return inner->ops->remove (inner, key);
}

static enum radio_status
add_name (const struct rd_io_entry *entry, void *user_data)
{
  return rd_entries_add (user_data, entry->name, strlen (entry->name), false,
                         0);
}

/* On a disk folders go as well. */
static enum radio_status
handle_remove_tree (struct rd_io *io, const char *prefix)
{
  struct rd_io *inner = begin (io, prefix);
  struct rd_entries names = { 0 };
  if (rd_io_excludes_all (io))
    return inner->ops->remove_tree (inner, prefix);
  assert_ok (inner->ops->list (inner, prefix, true, add_name, &names));
  for (size_t i = 0; i < names.n; i++) {
    char *key = rd_key_join (prefix, names.items[i].name);
    assert_non_null (key);
    enum radio_status status = handle_remove (io, key);
    assert_true (status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND);
    rd_free (key);
  }
  rd_entries_free (&names);
  return RADIO_OK;
}

static void
unlock_nothing (struct rd_io_lock *lock)
{
  free (lock);
}

/* In S3 a handle of another process has every lock for itself. */
static enum radio_status
handle_lock (struct rd_io *io, const char *prefix, bool wait,
             struct rd_io_lock **lock)
{
  struct handle *handle = (struct handle *) io;
  struct rd_io *inner = begin (io, prefix);
  bool is_other = !rd_io_excludes_all (io) && !handle->waits;
  if (is_other) {
    *lock = calloc (1, sizeof **lock);
    assert_non_null (*lock);
    (*lock)->unlock = unlock_nothing;
    return RADIO_OK;
  }
  RD_TRY (inner->ops->lock (inner, prefix, wait && handle->waits, lock));
  if (wait && *lock == NULL)
    return rd_fail (RADIO_ERROR_IO, "%s: would have to wait", prefix);
  return RADIO_OK;
}

static void
handle_close (struct rd_io *io)
{
  struct handle *handle = (struct handle *) io;
  if (handle->bucket->path)
    rd_io_close (handle->wrap.inner);
  rd_free (handle->wrap.base.uri);
  free (handle);
}

static void
take_table (struct rd_io_ops *ops)
{
  ops->close = handle_close;
  ops->get = handle_get;
  ops->size = handle_size;
  ops->list = handle_list;
  ops->put = handle_put;
  ops->create = handle_create;
  ops->remove = handle_remove;
  ops->remove_tree = handle_remove_tree;
  ops->lock = handle_lock;
}

struct radio_store *
bucket_open (struct bucket *bucket, bool waits, bucket_hook_fn *hook,
             void *user_data)
{
  struct radio_store_options options = { .create = true };
  const struct radio_context_options context = { .nthreads = 1 };
  struct handle *handle = calloc (1, sizeof *handle);
  struct rd_io *inner = bucket->memory;
  struct radio_store *store;
  assert_non_null (handle);
  if (bucket->path)
    assert_ok (rd_io_open (bucket->path, true, &inner));
  assert_ok (rd_wrap_init (&handle->wrap, "bucket", inner));
  take_table (&handle->wrap.ops);
  handle->wrap.base.grace_s = bucket->path ? 0 : BUCKET_GRACE_S;
  handle->bucket = bucket;
  handle->waits = waits;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_store_open_io (&handle->wrap.base, &options, &store));
  radio_context_close (options.context);
  handle->n = 0;
  handle->hook = hook;
  handle->user_data = user_data;
  return store;
}

uint64_t
bucket_count (struct radio_store *store)
{
  return ((struct handle *) store->io)->n;
}
