/* SPDX-License-Identifier: MIT */
/* Garbage collection: of one volume's folder, and of a whole store. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/reserve.h"
#include "src/base/structs.h"
#include "src/table/tables.h"
#include "src/volume/folders.h"
#include "src/volume/gc/collect.h"
#include "src/volume/gc/tombstones.h"
#include "src/volume/header.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/publish.h"

/* Totals of the objects below a prefix. */
struct summary {
  uint64_t n, nbytes;
  uint64_t age_s;             /* of the youngest */
};

static enum radio_status
summarize (const struct rd_io_entry *entry, void *user_data)
{
  struct summary *summary = user_data;
  summary->n++;
  summary->nbytes += entry->nbytes;
  summary->age_s = rd_min_u64 (summary->age_s, entry->age_s);
  return RADIO_OK;
}

enum radio_status
rd_prefix_nbytes (struct radio_store *store, const char *prefix,
                  uint64_t *nbytes)
{
  struct summary summary = { 0 };
  RD_TRY (store->io->ops->list (store->io, prefix, true, summarize,
                                &summary));
  *nbytes = summary.nbytes;
  return RADIO_OK;
}

/* Finds whether a writer may be active below a prefix that the caller locked:
 * where locks do not exclude other processes, an object there is young. */
static enum radio_status
writer_may_be_active (struct radio_store *store, const char *prefix,
                      bool *may_be)
{
  struct summary summary = { .age_s = UINT64_MAX };
  struct rd_io *io = store->io;
  *may_be = false;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  RD_TRY (io->ops->list (io, prefix, true, summarize, &summary));
  *may_be = summary.age_s < io->grace_s;
  return RADIO_OK;
}

enum radio_status
rd_level_remove (struct radio_store *store, const char *path)
{
  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_remove (store->io, key));
  return store->io->ops->remove_tree (store->io, path);
}

enum radio_status
rd_group_levels (struct json_object *attributes, struct rd_strings *levels)
{
  struct json_object *images = rd_json_member (
    rd_json_member (attributes, "ome"), "multiscales");
  size_t nimages = json_object_is_type (images, json_type_array)
                   ? json_object_array_length (images) : 0;
  for (size_t i = 0; i < nimages; i++) {
    struct json_object *datasets = rd_json_member (
      json_object_array_get_idx (images, i), "datasets");
    if (!json_object_is_type (datasets, json_type_array))
      continue;
    for (size_t j = 0; j < json_object_array_length (datasets); j++) {
      struct json_object *path = rd_json_member (
        json_object_array_get_idx (datasets, j), "path");
      if (json_object_is_type (path, json_type_string))
        RD_TRY (rd_strings_add (levels, json_object_get_string (path),
                                (size_t) json_object_get_string_len (path)));
    }
  }
  struct json_object *level = rd_json_member (
    rd_json_member (attributes, "radio"), "level");
  if (!json_object_is_type (level, json_type_string))
    return RADIO_OK;
  return rd_strings_add (levels, json_object_get_string (level),
                         (size_t) json_object_get_string_len (level));
}

/* The contents of a folder's document. */
struct folder {
  bool is_ours;               /* radio's, or without a document */
  bool has_document;
  struct rd_strings levels;   /* that the document names */
  struct rd_volume_meta meta;
};

static void
free_folder (struct folder *folder)
{
  rd_strings_free (&folder->levels);
  rd_meta_free (&folder->meta);
}

static enum radio_status
read_folder (struct radio_store *store, const char *path,
             struct folder *folder)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum radio_status status = rd_group_read (store, path, &group);
  folder->is_ours = status == RADIO_ERROR_NOT_FOUND;
  if (folder->is_ours)
    return RADIO_OK;
  if (status == RADIO_OK) {
    if (rd_json_member (group->attributes, "radio") == NULL)
      return RADIO_OK;
    status = rd_meta_parse (group, path, &folder->meta);
  }
  if (status == RADIO_OK)
    status = rd_group_levels (group->attributes, &folder->levels);
  folder->is_ours = folder->has_document = status == RADIO_OK;
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED
         ? RADIO_OK : status;
}

bool
rd_levels_have (const struct rd_strings *levels, const char *name)
{
  size_t n = strlen (name);
  for (size_t i = 0; i < levels->n; i++) {
    const char *path = levels->items[i];
    if (strncmp (path, name, n) == 0 && (path[n] == '\0' || path[n] == '/'))
      return true;
  }
  return false;
}

/* The objects that a listing showed below a volume's path. */
struct listed {
  char *path;
  bool is_plain;              /* a document, at most one level, and at most
                                 one chunk of a header array */
  char level[RD_LEVEL_NAME_NBYTES];   /* "": none */
  enum rd_header_key header_key;
};

/* Garbage collection of a store: of many folders at the same time. */
struct run {
  struct rd_job job;          /* first */
  struct radio_store *store;
  bool dry_run;
  struct listed *items;
  size_t n, capacity;
  pthread_t caller;           /* the only thread that asks to cancel */
  atomic_bool is_cancelled;
  pthread_mutex_t mutex;      /* of *result */
  struct radio_gc_result *result;
};

/* Garbage collection of one volume's folder. */
struct collection {
  struct radio_store *store;
  struct run *run;            /* NULL: of this folder alone */
  const struct listed *listed;        /* by the run; NULL: nothing is known */
  const char *path;
  bool dry_run;
  struct radio_gc_result *result;
  struct folder *folder;
  struct rd_tombstone tombstone;      /* put before the first removal */
};

static bool
is_cancelled (const struct collection *gc)
{
  struct run *run = gc->run;
  if (run == NULL)
    return rd_store_is_cancelled (gc->store);
  if (pthread_equal (run->caller, pthread_self ())
      && rd_store_is_cancelled (gc->store))
    atomic_store (&run->is_cancelled, true);
  return atomic_load (&run->is_cancelled);
}

/* True if the document shows that a child is not garbage. */
static bool
is_wanted (const struct collection *gc, const char *name)
{
  const struct folder *folder = gc->folder;
  if (!folder->is_ours)
    return true;
  if (rd_is_level_name (name))
    return rd_levels_have (&folder->levels, name);
  return folder->has_document || strcmp (name, RD_HEADER_NAME) != 0;
}

/* Finds whether an unwanted child may be removed: there may be a live
 * writer.  Where locks do not exclude other processes, that is checked again,
 * with the document, after the tombstone has been put or refreshed
 * (tombstones.h). */
static enum radio_status
may_remove (struct collection *gc, const char *path, const char *name,
            bool *may)
{
  struct radio_store *store = gc->store;
  bool is_active;
  RD_TRY (writer_may_be_active (store, path, &is_active));
  *may = !is_active;
  if (is_active || gc->dry_run || rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (rd_tombstone_put (store, gc->path, &gc->tombstone));
  free_folder (gc->folder);
  *gc->folder = (struct folder) { 0 };
  RD_TRY (read_folder (store, gc->path, gc->folder));
  RD_TRY (writer_may_be_active (store, path, &is_active));
  *may = !is_active && !is_wanted (gc, name);
  return RADIO_OK;
}

/* Remove a child that is garbage, and count it. */
static enum radio_status
collect_child (struct collection *gc, const char *name)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct radio_store *store = gc->store;
  bool is_level = rd_is_level_name (name);
  if (strcmp (name, RD_TOMBSTONES_NAME) == 0)
    return rd_tombstones_sweep (store, gc->path, gc->dry_run,
                                &gc->result->removed_count);
  if (is_wanted (gc, name))
    return RADIO_OK;
  char *child RD_FREE = rd_key_join (gc->path, name);
  if (child == NULL)
    return RADIO_ERROR_MEMORY;

  bool may = false;
  if (is_level)
    RD_TRY (store->io->ops->lock (store->io, child, false, &lock));
  if (!is_level || lock != NULL)
    RD_TRY (may_remove (gc, child, name, &may));
  if (!may) {
    gc->result->busy_count += is_level;
    return RADIO_OK;
  }

  uint64_t nbytes;
  RD_TRY (rd_prefix_nbytes (store, child, &nbytes));
  if (!gc->dry_run)
    RD_TRY (rd_level_remove (store, child));
  gc->result->removed_count++;
  gc->result->removed_nbytes += nbytes;
  if (is_level || gc->dry_run || rd_io_excludes_all (store->io))
    return RADIO_OK;
  /* That was the header array of no document.  A volume may have been
   * published since the document was read. */
  return rd_header_repair (store, gc->path);
}

/* A chunk of the header array that no document names: an earlier volume's, or
 * one whose writer died. */
static enum radio_status
collect_chunk (const struct rd_io_entry *entry, void *user_data)
{
  struct collection *gc = user_data;
  struct radio_store *store = gc->store;
  enum rd_header_key key = RD_HEADER_KEY_SLASH;
  while (key < RD_HEADER_NKEYS
         && strcmp (entry->name, rd_header_keys[key].chunk) != 0)
    key++;
  if (key == RD_HEADER_NKEYS || key == gc->folder->meta.header_key
      || entry->age_s < store->io->grace_s)
    return RADIO_OK;
  char *array RD_FREE = rd_key_join (gc->path, RD_HEADER_NAME);
  char *chunk RD_FREE = array ? rd_key_join (array, entry->name) : NULL;
  if (chunk == NULL)
    return RADIO_ERROR_MEMORY;
  if (!gc->dry_run)
    RD_TRY (rd_io_remove (store->io, chunk));
  gc->result->removed_count++;
  gc->result->removed_nbytes += entry->nbytes;
  return RADIO_OK;
}

static enum radio_status
collect_chunks (struct collection *gc)
{
  struct rd_io *io = gc->store->io;
  char *array RD_FREE = rd_key_join (gc->path, RD_HEADER_NAME);
  if (array == NULL)
    return RADIO_ERROR_MEMORY;
  if (gc->folder->meta.header_key == RD_HEADER_KEY_NONE)
    return RADIO_OK;
  return io->ops->list (io, array, true, collect_chunk, gc);
}

/* True if the document names all that was listed.  Later objects are too young
 * to be garbage. */
static bool
is_all_named (const struct collection *gc)
{
  const struct listed *listed = gc->listed;
  const struct folder *folder = gc->folder;
  return listed && listed->is_plain && folder->has_document
         && (!*listed->level
             || rd_levels_have (&folder->levels, listed->level))
         && listed->header_key == folder->meta.header_key;
}

static enum radio_status
collect_header (struct collection *gc)
{
  const struct rd_volume_meta *meta = &gc->folder->meta;
  enum rd_header_state state;
  if (!gc->folder->has_document || !meta->has_nifti)
    return RADIO_OK;
  RD_TRY (rd_header_inspect (gc->store, gc->path, &meta->prefix,
                             meta->header_key, &state));
  if (state != RD_HEADER_CURRENT) {
    if (!gc->dry_run)
      RD_TRY (rd_header_repair (gc->store, gc->path));
    gc->result->repaired_count++;
    /* Until then another writer may use its chunk for a volume. */
    if (!rd_io_excludes_all (gc->store->io))
      return RADIO_OK;
  }
  return is_all_named (gc) ? RADIO_OK : collect_chunks (gc);
}

static enum radio_status
collect_children (struct collection *gc)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, gc->store->io, gc->path));
  for (size_t i = 0; i < names.n; i++) {
    if (is_cancelled (gc))
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", gc->path);
    RD_TRY (collect_child (gc, names.items[i]));
  }
  return collect_header (gc);
}

static enum radio_status
collect_contents (struct collection *gc)
{
  struct folder folder RD_CLEANUP (free_folder) = { 0 };
  gc->folder = &folder;
  RD_TRY (read_folder (gc->store, gc->path, &folder));
  if (!folder.is_ours)
    return RADIO_OK;
  if (is_all_named (gc))
    return collect_header (gc);
  enum radio_status status = collect_children (gc);
  return rd_tombstone_end (&gc->tombstone, status);
}

enum radio_status
rd_collect_contents (struct radio_store *store, const char *path,
                     bool dry_run, struct radio_gc_result *result)
{
  struct collection gc = {
    .store = store, .path = path, .dry_run = dry_run, .result = result,
  };
  return collect_contents (&gc);
}

/* Take the lock, remove the garbage, and the folder if it is empty then;
 * where locks do not exclude other processes there are no empty folders. */
static enum radio_status
collect_volume (struct collection *gc)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct summary summary = { 0 };
  struct rd_io *io = gc->store->io;
  RD_TRY (io->ops->lock (io, gc->path, true, &lock));
  RD_TRY (collect_contents (gc));
  if (gc->dry_run || !rd_io_excludes_all (io))
    return RADIO_OK;
  RD_TRY (io->ops->list (io, gc->path, false, summarize, &summary));
  return summary.n > 0 ? RADIO_OK : io->ops->remove_tree (io, gc->path);
}

void
rd_collect_quietly (struct radio_store *store, const char *path)
{
  struct radio_gc_result result = { 0 };
  struct collection gc = { .store = store, .path = path, .result = &result };
  if (collect_volume (&gc) != RADIO_OK)
    return;
}

/*------------------------------------------------------------------------
 * A whole store
 *----------------------------------------------------------------------*/

static enum radio_status
collect_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct run *run = (struct run *) job;
  const struct listed *listed = &run->items[task];
  struct radio_gc_result one = { 0 };
  struct collection gc = {
    .store = run->store, .run = run, .listed = listed,
    .path = listed->path, .dry_run = run->dry_run, .result = &one,
  };
  (void) scratch;
  if (is_cancelled (&gc))
    return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", gc.path);
  enum radio_status status = collect_volume (&gc);
  RD_LOCK_SCOPE (&run->mutex);
  run->result->removed_count += one.removed_count;
  run->result->removed_nbytes += one.removed_nbytes;
  run->result->repaired_count += one.repaired_count;
  run->result->busy_count += one.busy_count;
  return status;
}

static enum radio_status
add_folder (const struct rd_folder *folder, void *user_data)
{
  struct run *run = user_data;
  RD_TRY (rd_reserve (&run->items, &run->capacity, run->n,
                      sizeof *run->items));
  struct listed *listed = &run->items[run->n];
  *listed = (struct listed) {
    .path = rd_key_join (folder->collection, folder->name),
    .is_plain = folder->has_document && !folder->has_levels
                && !folder->has_others,
    .header_key = folder->header_key,
  };
  if (listed->path == NULL)
    return RADIO_ERROR_MEMORY;
  memcpy (listed->level, folder->level, sizeof listed->level);
  run->n++;
  return RADIO_OK;
}

static enum radio_status
add_folders (struct run *run, const struct rd_strings *collections)
{
  struct rd_io *io = run->store->io;
  if (!rd_io_excludes_all (io))
    return rd_folders_list (run->store, collections->items, collections->n,
                            add_folder, run);
  for (size_t i = 0; i < collections->n; i++) {
    struct rd_strings names RD_STRINGS_SCOPE = { 0 };
    struct rd_folder folder = { .collection = collections->items[i] };
    RD_TRY (rd_strings_add_folders (&names, io, collections->items[i]));
    for (size_t j = 0; j < names.n; j++) {
      folder.name = names.items[j];
      RD_TRY (add_folder (&folder, run));
    }
  }
  return RADIO_OK;
}

static void
free_run (struct run *run)
{
  for (size_t i = 0; i < run->n; i++)
    rd_free (run->items[i].path);
  rd_free (run->items);
  pthread_mutex_destroy (&run->mutex);
}

/* Put the documents of collections that were lost: a folder without one that
 * has volumes. */
static enum radio_status
repair_collections (struct radio_store *store, const struct rd_strings *lost,
                    bool dry_run, struct rd_strings *collections,
                    struct radio_gc_result *result)
{
  for (size_t i = 0; i < lost->n; i++) {
    const char *name = lost->items[i];
    bool has_volumes;
    /* Below that are tables. */
    if (strcmp (name, RD_TABLES_NAME) == 0)
      continue;
    RD_TRY (rd_list_has_volumes (store, name, &has_volumes));
    if (!has_volumes)
      continue;
    if (!dry_run)
      RD_TRY (rd_publish_collection (store, name));
    result->repaired_count++;
    RD_TRY (rd_strings_add (collections, name, strlen (name)));
  }
  return RADIO_OK;
}

static enum radio_status
collect_store (struct radio_store *store, bool dry_run,
               struct radio_gc_result *result)
{
  static const struct radio_site site = {
    "collect", RD_IN_OPERATION, "collect_task", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  struct rd_strings collections RD_STRINGS_SCOPE = { 0 };
  struct rd_strings lost RD_STRINGS_SCOPE = { 0 };
  struct rd_io *io = store->io;
  RD_TRY (rd_store_read_root (store));
  /* On a disk temporary files have names of radio's; uploads have none.
   * They go first: those in a folder that is removed afterwards are then
   * counted as well. */
  if (store->is_radio || rd_io_excludes_all (io)) {
    struct rd_io_swept swept = { 0 };
    RD_TRY (io->ops->sweep (io, "", dry_run, &swept));
    result->removed_count += swept.n_files;
    result->removed_nbytes += swept.nbytes;
  }
  if (!store->is_radio)
    return RADIO_OK;
  RD_TRY (rd_list_collections (store, &collections, &lost));
  RD_TRY (repair_collections (store, &lost, dry_run, &collections, result));
  struct run run RD_CLEANUP (free_run) = {
    .job = { .run = collect_task, .site = &site },
    .store = store, .dry_run = dry_run, .caller = pthread_self (),
    .result = result,
  };
  pthread_mutex_init (&run.mutex, NULL);
  RD_TRY (add_folders (&run, &collections));
  run.job.n = run.n;
  RD_TRY (rd_pool_run_apart (rd_store_max_in_flight (store), &run.job));
  return rd_tables_collect (store, dry_run, result);
}

enum radio_status
(radio_store_gc) (struct radio_store *store, bool dry_run,
                  struct radio_gc_result *result, size_t result_nbytes)
{
  RD_NOT_NULL (store);
  RD_SCOPE ("gc", RD_IN_OPERATION);
  struct radio_gc_result counts = { 0 };
  enum radio_status status = collect_store (store, dry_run, &counts);
  if (result)
    rd_fill_result (result, result_nbytes, &counts, sizeof counts);
  if (status == RADIO_ERROR_CANCELLED)
    rd_fail (status, "%s: cancelled; the next gc removes the rest",
             store->io->uri);
  return rd_scope_end_with (status);
}
