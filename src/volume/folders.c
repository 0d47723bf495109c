/* SPDX-License-Identifier: MIT */
/* Listing the folders of collections.  Threads list some collections ahead;
 * their objects wait, in bounded memory, until the calling thread has reported
 * those of the collections before. */
#include <config.h>

#include <string.h>

#include "io/store.h"
#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/volume/folders.h"

/* Listed at the same time: a page takes up to a megabyte while it is parsed.
 */
#define MAX_ACTIVE 16

/* Objects that wait: of each collection, and of all but the one that is being
 * reported. */
#define MAX_WAITING ((size_t) 1 << 14)
#define MAX_ALL_WAITING ((size_t) 1 << 16)

/*------------------------------------------------------------------------
 * Objects to folders
 *----------------------------------------------------------------------*/

struct summing {
  rd_folder_fn *fn;
  void *user_data;
  struct rd_folder folder;
  char *name;                         /* of the folder; NULL: none yet */
};

static void
free_summing (struct summing *summing)
{
  rd_free (summing->name);
}

static enum radio_status
end_folder (struct summing *summing)
{
  char *name RD_FREE = RD_STEAL (summing->name);
  if (name == NULL)
    return RADIO_OK;
  summing->folder.name = name;
  return summing->fn (&summing->folder, summing->user_data);
}

/* Adds an object to its folder; below: its path there. */
static void
add_to_folder (struct rd_folder *folder, const char *below)
{
  const char *slash = strchr (below, '/');
  const char *rest = slash ? slash + 1 : "";
  char first[RD_LEVEL_NAME_NBYTES] = "";
  size_t nfirst = slash ? (size_t) (slash - below) : sizeof first;
  if (nfirst < sizeof first)
    memcpy (first, below, nfirst);
  if (strcmp (below, "zarr.json") == 0) {
    folder->has_document = true;
  } else if (rd_is_level_name (first)) {
    folder->has_levels |= *folder->level
                          && strcmp (folder->level, first) != 0;
    memcpy (folder->level, first, sizeof first);
  } else if (strcmp (first, RD_HEADER_NAME) != 0) {
    folder->has_others = true;
  } else if (strcmp (rest, "zarr.json") != 0) {
    enum rd_header_key key = RD_HEADER_KEY_SLASH;
    while (key < RD_HEADER_NKEYS
           && strcmp (rest, rd_header_keys[key].chunk) != 0)
      key++;
    folder->has_others |= key == RD_HEADER_NKEYS
                          || folder->header_key != RD_HEADER_KEY_NONE;
    folder->header_key = key == RD_HEADER_NKEYS ? RD_HEADER_KEY_NONE : key;
  }
}

static enum radio_status
add_object (struct summing *summing, const char *collection,
            const struct rd_io_entry *entry)
{
  size_t n = strcspn (entry->name, "/");
  struct rd_folder *folder = &summing->folder;
  if (entry->name[n] == '\0')
    return RADIO_OK;                  /* of the collection itself */
  bool is_same = summing->name && folder->collection == collection
                 && strncmp (summing->name, entry->name, n) == 0
                 && summing->name[n] == '\0';
  if (!is_same) {
    RD_TRY (end_folder (summing));
    *folder = (struct rd_folder) { .collection = collection };
    summing->name = rd_strndup (entry->name, n);
    if (summing->name == NULL)
      return rd_fail_memory (n + 1);
  }
  add_to_folder (folder, entry->name + n + 1);
  folder->nbytes = rd_add_sat (folder->nbytes, entry->nbytes);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * One collection, or several at the same time
 *----------------------------------------------------------------------*/

/* A collection, while it is listed. */
struct source {
  struct ahead *ahead;
  const char *prefix;
  struct summing *summing;            /* of the thread that reports */

  /* Under the mutex. */
  struct rd_entries entries;          /* that wait */
  bool is_done;
  struct rd_error error;              /* of listing */
};

struct ahead {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  struct source *sources;
  size_t n;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct {
    size_t current;                   /* source that is being reported */
    size_t nwaiting;
    bool is_stopped;
  } synced;
};

static enum radio_status
report_object (const struct rd_io_entry *entry, void *user_data)
{
  struct source *source = user_data;
  return add_object (source->summing, source->prefix, entry);
}

/* Called by the thread that lists.  The source that is reported only waits for
 * its own objects to be taken, so that all come to an end. */
static enum radio_status
add_waiting (const struct rd_io_entry *entry, void *user_data)
{
  struct source *source = user_data;
  struct ahead *ahead = source->ahead;
  RD_LOCK_SCOPE (&ahead->mutex);
  while (!ahead->synced.is_stopped
         && (source->entries.n >= MAX_WAITING
             || (ahead->synced.nwaiting >= MAX_ALL_WAITING
                 && source != &ahead->sources[ahead->synced.current])))
    pthread_cond_wait (&ahead->changed, &ahead->mutex);
  if (ahead->synced.is_stopped)
    return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
  RD_TRY (rd_entries_add (&source->entries, entry->name,
                          strlen (entry->name), false, entry->nbytes));
  ahead->synced.nwaiting++;
  if (source->entries.n == 1)
    pthread_cond_broadcast (&ahead->changed);
  return RADIO_OK;
}

static enum radio_status
list_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct ahead *ahead = (struct ahead *) job;
  struct source *source = &ahead->sources[task];
  struct rd_io *io = ahead->store->io;
  (void) scratch;
  pthread_mutex_lock (&ahead->mutex);
  bool is_stopped = ahead->synced.is_stopped;
  pthread_mutex_unlock (&ahead->mutex);
  enum radio_status status = RADIO_OK;
  if (!is_stopped)
    status = io->ops->list (io, source->prefix, true, add_waiting, source);
  RD_LOCK_SCOPE (&ahead->mutex);
  if (status != RADIO_OK)
    rd_error_save (&source->error, status);
  source->is_done = true;
  pthread_cond_broadcast (&ahead->changed);
  return RADIO_OK;
}

/* Reports the objects of a source as they come. */
static enum radio_status
report_source (struct ahead *ahead, size_t i)
{
  struct source *source = &ahead->sources[i];
  for (;;) {
    struct rd_entries entries RD_ENTRIES_SCOPE = { 0 };
    {
      RD_SCOPE_WAIT ("wait for listings", RD_IN_NETWORK);
      RD_LOCK_SCOPE (&ahead->mutex);
      ahead->synced.current = i;
      pthread_cond_broadcast (&ahead->changed);
      while (source->entries.n == 0 && !source->is_done)
        pthread_cond_wait (&ahead->changed, &ahead->mutex);
      entries = source->entries;
      source->entries = (struct rd_entries) { 0 };
      ahead->synced.nwaiting -= entries.n;
    }
    if (entries.n == 0)
      return rd_error_raise (&source->error);
    RD_TRY (rd_entries_report (&entries, report_object, source));
  }
}

static enum radio_status
report_ahead (struct ahead *ahead)
{
  static const struct radio_site site = {
    "list collections", RD_IN_METADATA, "list_task", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  /* The calling thread reports. */
  const struct rd_pool_options options = {
    .nthreads = 1 + (unsigned) rd_min_u64 (ahead->n, MAX_ACTIVE),
  };
  struct rd_pool *pool;
  enum radio_status status = RADIO_OK;
  struct rd_error error;
  RD_TRY (rd_pool_open (&options, &pool));
  ahead->job.run = list_task;
  ahead->job.n = ahead->n;
  ahead->job.site = &site;
  status = rd_pool_start (pool, &ahead->job);
  for (size_t i = 0; status == RADIO_OK && i < ahead->n; i++)
    status = report_source (ahead, i);
  rd_error_save (&error, status);
  pthread_mutex_lock (&ahead->mutex);
  ahead->synced.is_stopped = true;
  pthread_cond_broadcast (&ahead->changed);
  pthread_mutex_unlock (&ahead->mutex);
  status = rd_pool_wait (pool, &ahead->job);
  rd_pool_close (pool);
  return error.status == RADIO_OK ? status : rd_error_raise (&error);
}

static enum radio_status
list_sources (struct ahead *ahead)
{
  struct rd_io *io = ahead->store->io;
  if (ahead->n == 1)
    return io->ops->list (io, ahead->sources[0].prefix, true, report_object,
                          &ahead->sources[0]);
  pthread_mutex_init (&ahead->mutex, NULL);
  pthread_cond_init (&ahead->changed, NULL);
  enum radio_status status = report_ahead (ahead);
  pthread_cond_destroy (&ahead->changed);
  pthread_mutex_destroy (&ahead->mutex);
  for (size_t i = 0; i < ahead->n; i++)
    rd_entries_free (&ahead->sources[i].entries);
  return status;
}

enum radio_status
rd_folders_list (struct radio_store *store, char *const *collections,
                 size_t n, rd_folder_fn *fn, void *user_data)
{
  if (n == 0)
    return RADIO_OK;
  RD_TRY (rd_pool_check (store->context->pool));
  struct source *sources RD_FREE = rd_calloc (n, sizeof *sources);
  if (sources == NULL)
    return rd_fail_memory (n * sizeof *sources);
  struct summing summing RD_CLEANUP (free_summing) = {
    .fn = fn, .user_data = user_data,
  };
  struct ahead ahead = { .store = store, .sources = sources, .n = n };
  for (size_t i = 0; i < n; i++)
    sources[i] = (struct source) {
      .ahead = &ahead, .prefix = collections[i], .summing = &summing,
      .error.status = RADIO_OK,
    };
  RD_TRY (list_sources (&ahead));
  return end_folder (&summing);
}
