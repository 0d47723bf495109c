/* SPDX-License-Identifier: MIT */
/* Cleaning one volume's folder. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/volume/gc/collect.h"
#include "src/volume/header.h"
#include "src/volume/gc/marks.h"
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

/* A volume's folder while it is cleaned. */
struct cleaning {
  struct radio_store *store;
  const char *path;
  bool dry_run;
  struct radio_gc_result *result;
  struct folder folder;
  struct rd_mark mark;        /* put before the first thing is removed */
};

static void
free_cleaning (struct cleaning *cleaning)
{
  free_folder (&cleaning->folder);
}

/* Whether a child is no garbage, by the document. */
static bool
is_wanted (const struct cleaning *cleaning, const char *name)
{
  const struct folder *folder = &cleaning->folder;
  if (!folder->is_ours)
    return true;
  if (rd_is_level_name (name))
    return rd_levels_have (&folder->levels, name);
  return folder->has_document || strcmp (name, RD_HEADER_NAME) != 0;
}

/* The document is read anew behind the mark. */
static enum radio_status
put_mark (struct cleaning *cleaning)
{
  RD_TRY (rd_mark_put (cleaning->store, cleaning->path, &cleaning->mark));
  free_folder (&cleaning->folder);
  cleaning->folder = (struct folder) { 0 };
  return read_folder (cleaning->store, cleaning->path, &cleaning->folder);
}

/* Whether a child that is not wanted may be removed: what is young may be a
 * living writer's.  What was found out before the mark is found out again,
 * and the mark of the child before is put anew (marks.h). */
static enum radio_status
may_remove (struct cleaning *cleaning, const char *path, const char *name,
            bool *may)
{
  struct radio_store *store = cleaning->store;
  bool is_young;
  RD_TRY (rd_prefix_is_young (store, path, &is_young));
  *may = !is_young;
  if (is_young || cleaning->dry_run || rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (put_mark (cleaning));
  RD_TRY (rd_prefix_is_young (store, path, &is_young));
  *may = !is_young && !is_wanted (cleaning, name);
  return RADIO_OK;
}

/* Remove a folder whose lock is held, and count it. */
static enum radio_status
remove_counted (const struct cleaning *cleaning, const char *path)
{
  uint64_t nbytes;
  RD_TRY (rd_prefix_nbytes (cleaning->store, path, &nbytes));
  if (!cleaning->dry_run)
    RD_TRY (rd_level_remove (cleaning->store, path));
  cleaning->result->removed_count++;
  cleaning->result->removed_nbytes += nbytes;
  return RADIO_OK;
}

static enum radio_status
collect_level (struct cleaning *cleaning, const char *path, const char *name)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_io *io = cleaning->store->io;
  bool may = false;
  RD_TRY (io->ops->lock (io, path, false, &lock));
  if (lock != NULL)
    RD_TRY (may_remove (cleaning, path, name, &may));
  if (may)
    return remove_counted (cleaning, path);
  cleaning->result->busy_count++;
  return RADIO_OK;
}

/* A volume may have been published since the document was not there. */
static enum radio_status
collect_header (struct cleaning *cleaning, const char *path)
{
  bool may;
  RD_TRY (may_remove (cleaning, path, RD_HEADER_NAME, &may));
  if (!may)
    return RADIO_OK;
  RD_TRY (remove_counted (cleaning, path));
  return cleaning->dry_run || rd_io_excludes_all (cleaning->store->io)
         ? RADIO_OK : rd_header_mend (cleaning->store, cleaning->path);
}

static enum radio_status
collect_child (struct cleaning *cleaning, const char *name)
{
  if (strcmp (name, RD_MARKS_NAME) == 0)
    return rd_marks_sweep (cleaning->store, cleaning->path,
                           cleaning->dry_run,
                           &cleaning->result->removed_count);
  if (is_wanted (cleaning, name))
    return RADIO_OK;
  char *child RD_FREE = rd_key_join (cleaning->path, name);
  if (child == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_is_level_name (name) ? collect_level (cleaning, child, name)
                                 : collect_header (cleaning, child);
}

static enum radio_status
repair_header (const struct cleaning *cleaning)
{
  const struct rd_volume_meta *meta = &cleaning->folder.meta;
  bool matches;
  if (!cleaning->folder.has_document || !meta->has_nifti)
    return RADIO_OK;
  RD_TRY (rd_header_matches (cleaning->store, cleaning->path, &meta->prefix,
                             &matches));
  if (matches)
    return RADIO_OK;
  if (!cleaning->dry_run)
    RD_TRY (rd_header_mend (cleaning->store, cleaning->path));
  cleaning->result->repaired_count++;
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

static enum radio_status
collect_children (struct cleaning *cleaning)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, cleaning->store->io,
                                  cleaning->path));
  for (size_t i = 0; i < names.n; i++) {
    if (rd_store_is_cancelled (cleaning->store))
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled",
                      cleaning->path);
    RD_TRY (collect_child (cleaning, names.items[i]));
  }
  return repair_header (cleaning);
}

enum radio_status
rd_collect_contents (struct radio_store *store, const char *path,
                     bool dry_run, struct radio_gc_result *result)
{
  struct cleaning cleaning RD_CLEANUP (free_cleaning) = {
    .store = store, .path = path, .dry_run = dry_run, .result = result,
  };
  RD_TRY (read_folder (store, path, &cleaning.folder));
  if (!cleaning.folder.is_ours)
    return RADIO_OK;
  enum radio_status status = collect_children (&cleaning);
  return rd_mark_end (&cleaning.mark, status);
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
