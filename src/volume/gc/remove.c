/* SPDX-License-Identifier: MIT */
/* Removing a volume. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/volume/gc/collect.h"
#include "src/volume/gc/tombstones.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

/* Remove a volume's children, except levels that a writer holds.  levels:
 * those that the document named; any other may be a live writer's even if its
 * lock is free. */
static enum radio_status
remove_children (struct radio_store *store, const struct rd_strings *levels,
                 const char *path, bool *is_busy)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, store->io, path));
  for (size_t i = 0; i < names.n; i++) {
    struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
    const char *name = names.items[i];
    if (strcmp (name, RD_TOMBSTONES_NAME) == 0)
      continue;
    if (rd_store_is_cancelled (store))
      return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
    char *child RD_FREE = rd_key_join (path, name);
    if (child == NULL)
      return RADIO_ERROR_MEMORY;
    if (rd_is_level_name (name)) {
      bool is_active = false;
      RD_TRY (store->io->ops->lock (store->io, child, false, &lock));
      if (lock != NULL && !rd_levels_have (levels, name))
        RD_TRY (rd_writer_may_be_active (store, child, &is_active));
      if (lock == NULL || is_active) {
        *is_busy = true;
        continue;
      }
    }
    RD_TRY (rd_level_remove (store, child));
  }
  return RADIO_OK;
}

/* The caller holds the volume's lock, so no writer begins meanwhile.  Where
 * locks do not exclude other processes, the remaining objects may be theirs,
 * and the removed header array may be of a volume that they have published
 * since. */
static enum radio_status
remove_data (struct radio_store *store, const struct rd_strings *levels,
             const char *path)
{
  struct rd_error error;
  bool is_busy = false;
  enum radio_status status = remove_children (store, levels, path, &is_busy);
  if (rd_io_excludes_all (store->io)) {
    RD_TRY (status);
    return is_busy ? RADIO_OK
                   : store->io->ops->remove_tree (store->io, path);
  }
  rd_error_save (&error, status);
  enum radio_status repaired = rd_header_repair (store, path);
  return status == RADIO_OK ? repaired : rd_error_raise (&error);
}

/* Called with the volume's lock held. */
static enum radio_status
remove_locked (struct radio_store *store, const char *path, const char *key)
{
  struct rd_strings levels RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_levels_read (store, path, &levels));
  if (rd_store_is_cancelled (store))
    return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled before anything of "
                    "it was removed", path);
  enum radio_status status = store->io->ops->remove (store->io, key);
  if (status == RADIO_ERROR_NOT_FOUND) {
    /* Another process was faster; taking the lock may have created the
     * folder again. */
    RD_TRY (remove_data (store, &levels, path));
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such volume in %s: "
                    "another process removed it just now", path,
                    store->io->uri);
  }
  RD_TRY (status);
  status = remove_data (store, &levels, path);
  if (status == RADIO_OK)
    return RADIO_OK;
  return rd_fail_in (status, "%s: removed, but not all of its data; gc "
                     "removes the rest", path);
}

/* The tombstone is for a copy that may be about to publish a volume with the
 * same level. */
static enum radio_status
remove_volume (struct radio_store *store, const char *path)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_tombstone tombstone = { 0 };
  enum rd_kind kind;
  RD_TRY (rd_store_read_root (store));
  enum radio_status status = rd_node_kind (store, path, &kind);
  /* A volume whose document is damaged can be removed where nothing but
   * volumes is allowed: in a collection of radio's. */
  const char *slash = strchr (path, '/');
  bool is_place = store->is_radio && slash && strchr (slash + 1, '/') == NULL;
  bool is_damaged = status == RADIO_ERROR_FORMAT
                    || status == RADIO_ERROR_UNSUPPORTED;
  if (!is_place || !is_damaged) {
    RD_TRY (status);
    if (kind == RD_KIND_NONE)
      return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such volume in %s", path,
                      store->io->uri);
    if (kind != RD_KIND_IMAGE)
      return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: %s, not a volume", path,
                      kind == RD_KIND_ARRAY ? "an array" : "a group");
  }

  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  status = rd_tombstone_put (store, path, &tombstone);
  if (status == RADIO_OK)
    status = remove_locked (store, path, key);
  return rd_tombstone_end (&tombstone, status);
}

enum radio_status
radio_store_remove (struct radio_store *store, const char *path)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  if (path[0] == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_store_remove: path is "
                    "empty; name the volume");
  RD_SCOPE ("remove", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (remove_volume (store, path));
}
