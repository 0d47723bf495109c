/* SPDX-License-Identifier: MIT */
/* The store in memory: a vector of objects sorted by key, behind a mutex.
 * Contents are immutable; a reader holds a reference while it copies, so that
 * the mutex is held only for the lookup. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/reserve.h"
#include "profiler/counters.h"
#include "io/store.h"

#define NO_SUCH_OBJECT "%s/%s: no such object"

struct blob {
  atomic_size_t n_refs;
  struct rd_buffer content;
};

struct object {
  char *key;
  struct blob *blob;
};

struct memory {
  struct rd_io base;
  pthread_mutex_t mutex;      /* guards all below */
  struct object *objects;
  size_t n;
  size_t capacity;
  struct rd_local_locks locks;
};

/* An object that is not committed yet. */
struct memory_writer {
  struct rd_io_writer base;
  struct memory *memory;
  struct blob *blob;
  enum radio_status status;   /* of the first append that failed */
  char key[];
};

static void
blob_unref (struct blob *blob)
{
  if (blob == NULL || atomic_fetch_sub (&blob->n_refs, 1) > 1)
    return;
  rd_buffer_free (&blob->content);
  rd_free (blob);
}

RD_DEFINE_CLEANUP (blob, struct blob, blob_unref);
#define BLOB_SCOPE RD_CLEANUP (rd_cleanup_blob)

static struct blob *
blob_new (void)
{
  struct blob *blob = rd_calloc (1, sizeof *blob);
  if (blob == NULL) {
    rd_fail_memory (sizeof *blob);
    return NULL;
  }
  atomic_init (&blob->n_refs, 1);
  return blob;
}

static enum radio_status
blob_append (struct blob *blob, const struct rd_part *parts, size_t n)
{
  RD_SCOPE ("write", RD_IN_DISK);
  for (size_t i = 0; i < n; i++) {
    RD_TRY (rd_buffer_append (&blob->content, parts[i].data,
                              parts[i].nbytes));
    RD_COUNT (written, parts[i].nbytes);
  }
  return RADIO_OK;
}

/* Returns the index of the first object whose key is not less. */
static size_t
lower_bound (const struct memory *memory, const char *key)
{
  size_t low = 0, high = memory->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp (memory->objects[middle].key, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static struct object *
find (struct memory *memory, const char *key)
{
  size_t i = lower_bound (memory, key);
  if (i < memory->n && strcmp (memory->objects[i].key, key) == 0)
    return &memory->objects[i];
  return NULL;
}

static enum radio_status
take_blob (struct memory *memory, const char *key, struct blob **blob)
{
  RD_LOCK_SCOPE (&memory->mutex);
  struct object *object = find (memory, key);
  if (object == NULL) {
    /* An invalid key is an error, not a missing object. */
    RD_TRY (rd_key_check (&memory->base, key));
    return rd_fail (RADIO_ERROR_NOT_FOUND, NO_SUCH_OBJECT, memory->base.uri,
                    key);
  }
  atomic_fetch_add (&object->blob->n_refs, 1);
  *blob = object->blob;
  return RADIO_OK;
}

static enum radio_status
get_one (struct memory *memory, struct rd_io_get *get)
{
  BLOB_SCOPE struct blob *blob = NULL;
  RD_TRY (take_blob (memory, get->key, &blob));
  struct rd_byte_range span;
  RD_TRY (rd_range_resolve (&memory->base, get, blob->content.nbytes,
                            &span));
  get->into->nbytes = 0;
  RD_TRY (rd_buffer_reserve (get->into, span.nbytes));
  if (span.nbytes > 0)
    memcpy (get->into->data, blob->content.data + span.offset, span.nbytes);
  get->into->nbytes = span.nbytes;
  return RADIO_OK;
}

static void
memory_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++)
    rd_get_finish (&gets[i], get_one ((struct memory *) io, &gets[i]));
}

static enum radio_status
memory_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  BLOB_SCOPE struct blob *blob = NULL;
  RD_TRY (take_blob ((struct memory *) io, key, &blob));
  *nbytes = blob->content.nbytes;
  return RADIO_OK;
}

/* The objects of one folder stand together, so that a folder is new when it is
 * not the last one seen. */
static enum radio_status
memory_list (struct rd_io *io, const char *prefix, bool recursive,
             rd_io_list_fn *fn, void *user_data)
{
  struct memory *memory = (struct memory *) io;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_ENTRIES_SCOPE struct rd_entries entries = { 0 };
  {
    RD_LOCK_SCOPE (&memory->mutex);
    const char *last = "";
    size_t last_nbytes = 0;
    for (size_t i = lower_bound (memory, prefix); i < memory->n; i++) {
      const struct object *object = &memory->objects[i];
      if (strncmp (object->key, prefix, strlen (prefix)) != 0)
        break;
      const char *rest = rd_key_below (object->key, prefix);
      if (rest == NULL)
        continue;
      size_t nbytes = recursive ? strlen (rest) : strcspn (rest, "/");
      bool is_prefix = rest[nbytes] == '/';
      if (is_prefix && nbytes == last_nbytes
          && memcmp (rest, last, nbytes) == 0)
        continue;
      RD_TRY (rd_entries_add (&entries, rest, nbytes, is_prefix,
                              is_prefix ? 0 : object->blob->content.nbytes));
      if (is_prefix) {
        last = rest;
        last_nbytes = nbytes;
      }
    }
  }
  return rd_entries_report (&entries, fn, user_data);
}

/* Publishes a blob; the store owns the reference when this succeeds. */
static enum radio_status
publish (struct memory *memory, const char *key, struct blob *blob,
         enum rd_put how)
{
  RD_LOCK_SCOPE (&memory->mutex);
  struct object *object = find (memory, key);
  if (object && how == RD_PUT_IF_ABSENT)
    return rd_fail (RADIO_ERROR_EXISTS, "%s/%s: exists already",
                    memory->base.uri, key);
  if (object) {
    blob_unref (object->blob);
    object->blob = blob;
    return RADIO_OK;
  }
  RD_TRY (rd_reserve (&memory->objects, &memory->capacity, memory->n,
                      sizeof *memory->objects));
  char *copy = rd_strdup (key);
  if (copy == NULL)
    return rd_fail_memory (strlen (key) + 1);
  size_t i = lower_bound (memory, key);
  memmove (&memory->objects[i + 1], &memory->objects[i],
           (memory->n - i) * sizeof *memory->objects);
  memory->objects[i] = (struct object) { copy, blob };
  memory->n++;
  return RADIO_OK;
}

static enum radio_status
memory_put (struct rd_io *io, const char *key, const struct rd_part *parts,
            size_t n, enum rd_put how)
{
  RD_TRY (rd_key_check (io, key));
  BLOB_SCOPE struct blob *blob = blob_new ();
  if (blob == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (blob_append (blob, parts, n));
  RD_TRY (publish ((struct memory *) io, key, blob, how));
  (void) RD_STEAL (blob);
  return RADIO_OK;
}

static enum radio_status
writer_append (struct rd_io_writer *writer, const struct rd_part *parts,
               size_t n)
{
  struct memory_writer *w = (struct memory_writer *) writer;
  if (w->status == RADIO_OK)
    w->status = blob_append (w->blob, parts, n);
  return w->status;
}

static void
writer_abort (struct rd_io_writer *writer)
{
  blob_unref (((struct memory_writer *) writer)->blob);
  rd_free (writer);
}

static enum radio_status
writer_commit (struct rd_io_writer *writer)
{
  struct memory_writer *w = (struct memory_writer *) writer;
  enum radio_status status = w->status;
  if (status == RADIO_OK)
    status = publish (w->memory, w->key, w->blob, RD_PUT_REPLACE);
  else
    rd_fail_uncommitted (&w->memory->base, w->key, status);
  if (status == RADIO_OK)
    w->blob = NULL;
  writer_abort (writer);
  return status;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = writer_append,
  .commit = writer_commit,
  .abort = writer_abort,
};

static enum radio_status
memory_create (struct rd_io *io, const char *key,
               struct rd_io_writer **writer)
{
  *writer = NULL;
  RD_TRY (rd_key_check (io, key));
  BLOB_SCOPE struct blob *blob = blob_new ();
  if (blob == NULL)
    return RADIO_ERROR_MEMORY;
  size_t nbytes = strlen (key) + 1;
  struct memory_writer *w = rd_malloc (sizeof *w + nbytes);
  if (w == NULL)
    return rd_fail_memory (sizeof *w + nbytes);
  *w = (struct memory_writer) {
    .base.ops = &writer_ops,
    .memory = (struct memory *) io,
    .blob = RD_STEAL (blob),
  };
  memcpy (w->key, key, nbytes);
  *writer = &w->base;
  return RADIO_OK;
}

/* Removes n objects from index i on. */
static void
remove_objects (struct memory *memory, size_t i, size_t n)
{
  for (size_t j = i; j < i + n; j++) {
    rd_free (memory->objects[j].key);
    blob_unref (memory->objects[j].blob);
  }
  if (n > 0)
    memmove (&memory->objects[i], &memory->objects[i + n],
             (memory->n - i - n) * sizeof *memory->objects);
  memory->n -= n;
}

static enum radio_status
memory_remove (struct rd_io *io, const char *key)
{
  struct memory *memory = (struct memory *) io;
  RD_TRY (rd_key_check (io, key));
  RD_LOCK_SCOPE (&memory->mutex);
  struct object *object = find (memory, key);
  if (object == NULL)
    return rd_fail (RADIO_ERROR_NOT_FOUND, NO_SUCH_OBJECT, io->uri, key);
  remove_objects (memory, (size_t) (object - memory->objects), 1);
  return RADIO_OK;
}

static enum radio_status
memory_remove_tree (struct rd_io *io, const char *prefix)
{
  struct memory *memory = (struct memory *) io;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_LOCK_SCOPE (&memory->mutex);
  for (size_t i = lower_bound (memory, prefix); i < memory->n;) {
    size_t n = 0;
    while (i + n < memory->n
           && rd_key_below (memory->objects[i + n].key, prefix))
      n++;
    remove_objects (memory, i, n);
    /* "a.b" stands between "a" and "a/b": skip it. */
    if (n == 0 && strncmp (memory->objects[i].key, prefix,
                           strlen (prefix)) != 0)
      break;
    i += n == 0;
  }
  return RADIO_OK;
}

static enum radio_status
memory_lock (struct rd_io *io, const char *prefix, bool wait,
             struct rd_io_lock **lock)
{
  *lock = NULL;
  RD_TRY (rd_prefix_check (io, prefix));
  return rd_local_locks_lock (&((struct memory *) io)->locks, prefix, wait,
                              lock);
}

/* Unfinished objects are invisible, and end with the process. */
static enum radio_status
memory_sweep (struct rd_io *io, const char *prefix, bool dry_run,
              struct rd_io_swept *swept)
{
  (void) dry_run;
  *swept = (struct rd_io_swept) { 0 };
  return rd_prefix_check (io, prefix);
}

static void
memory_close (struct rd_io *io)
{
  struct memory *memory = (struct memory *) io;
  remove_objects (memory, 0, memory->n);
  rd_free (memory->objects);
  rd_local_locks_free (&memory->locks);
  pthread_mutex_destroy (&memory->mutex);
  rd_free (memory->base.uri);
  rd_free (memory);
}

static const struct rd_io_ops memory_ops = {
  .name = "memory",
  .is_blocking = true,
  .close = memory_close,
  .get = memory_get,
  .size = memory_size,
  .list = memory_list,
  .put = memory_put,
  .create = memory_create,
  .remove = memory_remove,
  .remove_tree = memory_remove_tree,
  .lock = memory_lock,
  .sweep = memory_sweep,
};

enum radio_status
rd_io_memory_open (struct rd_io **io)
{
  RD_FREE struct memory *memory = rd_calloc (1, sizeof *memory);
  RD_FREE char *uri = rd_strdup ("memory:");
  if (memory == NULL || uri == NULL)
    return rd_fail_memory (sizeof *memory);
  if (pthread_mutex_init (&memory->mutex, NULL) != 0)
    return rd_fail_memory (sizeof memory->mutex);
  if (rd_local_locks_init (&memory->locks) != RADIO_OK) {
    pthread_mutex_destroy (&memory->mutex);
    return RADIO_ERROR_MEMORY;
  }
  memory->base.ops = &memory_ops;
  memory->base.uri = RD_STEAL (uri);
  *io = &RD_STEAL (memory)->base;
  return RADIO_OK;
}
