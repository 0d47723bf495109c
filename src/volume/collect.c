/* SPDX-License-Identifier: MIT */
/* Cleaning one volume's folder. */
#include <config.h>

#include <string.h>

#include "profiler/base/checked.h"
#include "src/volume/collect.h"
#include "src/volume/header.h"
#include "src/volume/meta.h"
#include "src/volume/node.h"

static enum radio_status
add_nbytes (const struct rd_io_entry *entry, void *user_data)
{
  uint64_t *sum = user_data;
  *sum += entry->nbytes;
  return RADIO_OK;
}

enum radio_status
rd_prefix_nbytes (struct radio_store *store, const char *prefix,
                  uint64_t *nbytes)
{
  *nbytes = 0;
  return store->io->ops->list (store->io, prefix, true, add_nbytes, nbytes);
}

static enum radio_status
find_youngest (const struct rd_io_entry *entry, void *user_data)
{
  uint64_t *age_s = user_data;
  *age_s = rd_min_u64 (*age_s, entry->age_s);
  return RADIO_OK;
}

enum radio_status
rd_prefix_is_young (struct radio_store *store, const char *prefix,
                    bool *is_young)
{
  struct rd_io *io = store->io;
  uint64_t age_s = UINT64_MAX;
  *is_young = false;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  RD_TRY (io->ops->list (io, prefix, true, find_youngest, &age_s));
  *is_young = age_s < io->grace_s;
  return RADIO_OK;
}

enum radio_status
rd_level_remove (struct radio_store *store, const char *path)
{
  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = store->io->ops->remove (store->io, key);
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    return status;
  return store->io->ops->remove_tree (store->io, path);
}

/* Remove a folder whose lock is held, and count it. */
static enum radio_status
remove_counted (struct radio_store *store, const char *path, bool dry_run,
                struct radio_gc_result *result)
{
  uint64_t nbytes;
  RD_TRY (rd_prefix_nbytes (store, path, &nbytes));
  if (!dry_run)
    RD_TRY (rd_level_remove (store, path));
  result->removed_count++;
  result->removed_nbytes += nbytes;
  return RADIO_OK;
}

static enum radio_status
collect_level (struct radio_store *store, const char *path, bool dry_run,
               struct radio_gc_result *result)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  bool is_young = false;
  RD_TRY (store->io->ops->lock (store->io, path, false, &lock));
  if (lock != NULL)
    RD_TRY (rd_prefix_is_young (store, path, &is_young));
  if (lock == NULL || is_young) {
    result->busy_count++;
    return RADIO_OK;
  }
  return remove_counted (store, path, dry_run, result);
}

/* What the folder's document says. */
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

/* Every level of every image that the document has, not only the finest. */
static enum radio_status
add_levels (struct json_object *image, struct rd_strings *levels)
{
  struct json_object *datasets = rd_json_member (image, "datasets");
  if (!json_object_is_type (datasets, json_type_array))
    return RADIO_OK;
  for (size_t i = 0; i < json_object_array_length (datasets); i++) {
    struct json_object *path = rd_json_member (
      json_object_array_get_idx (datasets, i), "path");
    if (json_object_is_type (path, json_type_string))
      RD_TRY (rd_strings_add (levels, json_object_get_string (path),
                              (size_t) json_object_get_string_len (path)));
  }
  return RADIO_OK;
}

enum radio_status
rd_group_levels (struct json_object *attributes, struct rd_strings *levels)
{
  struct json_object *images = rd_json_member (
    rd_json_member (attributes, "ome"), "multiscales");
  for (size_t i = 0; i < json_object_array_length (images); i++)
    RD_TRY (add_levels (json_object_array_get_idx (images, i), levels));
  return RADIO_OK;
}

static enum radio_status
parse_folder (const struct rd_group_doc *group, const char *path,
              struct folder *folder)
{
  if (rd_json_member (group->attributes, "radio") == NULL)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: not radio's", path);
  RD_TRY (rd_meta_parse (group->attributes, path, &folder->meta));
  return rd_group_levels (group->attributes, &folder->levels);
}

static enum radio_status
read_folder (struct radio_store *store, const char *path,
             struct folder *folder)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum radio_status status = rd_group_read (store, path, &group);
  if (status == RADIO_ERROR_NOT_FOUND) {
    folder->is_ours = true;
    return RADIO_OK;
  }
  if (status == RADIO_OK)
    status = parse_folder (group, path, folder);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_OK;
  RD_TRY (status);
  folder->is_ours = folder->has_document = true;
  return RADIO_OK;
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

static enum radio_status
collect_child (struct radio_store *store, const struct folder *folder,
               const char *path, const char *name, bool dry_run,
               struct radio_gc_result *result)
{
  char *child RD_FREE = rd_key_join (path, name);
  if (child == NULL)
    return RADIO_ERROR_MEMORY;
  if (rd_is_level_name (name) && !rd_levels_have (&folder->levels, name))
    return collect_level (store, child, dry_run, result);
  bool is_young;
  if (folder->has_document || strcmp (name, RD_HEADER_NAME) != 0)
    return RADIO_OK;
  RD_TRY (rd_prefix_is_young (store, child, &is_young));
  return is_young ? RADIO_OK : remove_counted (store, child, dry_run, result);
}

static enum radio_status
repair_header (struct radio_store *store, const char *path,
               const struct folder *folder, bool dry_run,
               struct radio_gc_result *result)
{
  bool matches;
  if (!folder->meta.has_nifti)
    return RADIO_OK;
  RD_TRY (rd_header_matches (store, path, &folder->meta.prefix, &matches));
  if (matches)
    return RADIO_OK;
  if (!dry_run)
    RD_TRY (rd_header_write (store, path, &folder->meta.prefix));
  result->repaired_count++;
  return RADIO_OK;
}

static enum radio_status
count_entry (const struct rd_io_entry *entry, void *user_data)
{
  (void) entry;
  size_t *n = user_data;
  ++*n;
  return RADIO_OK;
}

/* A folder that holds nothing any more; where locks do not tell of other
 * processes there are none. */
static enum radio_status
remove_if_empty (struct radio_store *store, const char *path)
{
  size_t n = 0;
  if (!rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (store->io->ops->list (store->io, path, false, count_entry, &n));
  return n > 0 ? RADIO_OK : store->io->ops->remove_tree (store->io, path);
}

enum radio_status
rd_levels_read (struct radio_store *store, const char *path,
                struct rd_strings *levels)
{
  struct folder folder RD_CLEANUP (free_folder) = { 0 };
  RD_TRY (read_folder (store, path, &folder));
  *levels = folder.levels;
  folder.levels = (struct rd_strings) { 0 };
  return RADIO_OK;
}

enum radio_status
rd_collect_contents (struct radio_store *store, const char *path,
                     bool dry_run, struct radio_gc_result *result)
{
  struct folder folder RD_CLEANUP (free_folder) = { 0 };
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (read_folder (store, path, &folder));
  if (!folder.is_ours)
    return RADIO_OK;
  RD_TRY (rd_strings_add_folders (&names, store->io, path));
  for (size_t i = 0; i < names.n; i++)
    RD_TRY (collect_child (store, &folder, path, names.items[i], dry_run,
                           result));
  return folder.has_document
    ? repair_header (store, path, &folder, dry_run, result) : RADIO_OK;
}

enum radio_status
rd_collect_volume (struct radio_store *store, const char *path, bool dry_run,
                   struct radio_gc_result *result)
{
  RD_TRY (rd_collect_contents (store, path, dry_run, result));
  return dry_run ? RADIO_OK : remove_if_empty (store, path);
}

void
rd_collect_quietly (struct radio_store *store, const char *path)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct radio_gc_result result = { 0 };
  if (store->io->ops->lock (store->io, path, true, &lock) != RADIO_OK)
    return;
  if (rd_collect_volume (store, path, false, &result) != RADIO_OK)
    return;
}
