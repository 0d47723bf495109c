/* SPDX-License-Identifier: MIT */
/* Collecting the garbage of a whole store. */
#include <config.h>

#include "profiler/counters.h"
#include "src/volume/gc/collect.h"
#include "src/volume/list.h"

static enum radio_status
collect_locked (struct radio_store *store, const char *path, bool dry_run,
                struct radio_gc_result *result)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  return rd_collect_volume (store, path, dry_run, result);
}

static enum radio_status
collect_collection (struct radio_store *store, const char *collection,
                    bool dry_run, struct radio_gc_result *result)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, store->io, collection));
  for (size_t i = 0; i < names.n; i++) {
    char *path RD_FREE = rd_key_join (collection, names.items[i]);
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (collect_locked (store, path, dry_run, result));
  }
  return RADIO_OK;
}

static enum radio_status
sweep (struct radio_store *store, bool dry_run,
       struct radio_gc_result *result)
{
  struct rd_io_swept swept = { 0 };
  RD_TRY (store->io->ops->sweep (store->io, "", dry_run, &swept));
  result->removed_count += swept.n_files;
  result->removed_nbytes += swept.nbytes;
  return RADIO_OK;
}

/* Temporary files go first: those in a folder that is removed afterwards
 * are then counted as well. */
static enum radio_status
collect_all (struct radio_store *store, bool dry_run,
             struct radio_gc_result *result)
{
  struct rd_strings collections RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_store_look (store));
  /* On a disk temporary files have names of radio's; uploads have none. */
  if (store->is_radio || rd_io_excludes_all (store->io))
    RD_TRY (sweep (store, dry_run, result));
  if (store->is_radio)
    RD_TRY (rd_list_collections (store, &collections));
  for (size_t i = 0; i < collections.n; i++)
    RD_TRY (collect_collection (store, collections.items[i], dry_run,
                                result));
  return RADIO_OK;
}

static enum radio_status
collect (struct radio_store *store, bool dry_run,
         struct radio_gc_result *result)
{
  struct radio_gc_result counts = { 0 };
  enum radio_status status = collect_all (store, dry_run, &counts);
  if (result)
    *result = counts;
  if (status != RADIO_ERROR_CANCELLED)
    return status;
  return rd_fail (status, "%s: cancelled: what is left the next gc takes",
                  store->io->uri);
}

enum radio_status
radio_store_gc (struct radio_store *store, bool dry_run,
                struct radio_gc_result *result)
{
  if (store == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_store_gc: store is NULL");
  RD_SCOPE ("gc", RD_IN_OPERATION);
  return rd_scope_end_with (collect (store, dry_run, result));
}
