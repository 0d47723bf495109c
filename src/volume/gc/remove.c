/* SPDX-License-Identifier: MIT */
/* Removing a volume.  Where locks exclude other processes its folder is
 * removed; else the objects that one listing shows, many by one request. */
#include <config.h>

#include <string.h>

#include <radio/copy.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/volume/gc/collect.h"
#include "src/volume/gc/tombstones.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

/*------------------------------------------------------------------------
 * In folders
 *----------------------------------------------------------------------*/

/* Remove a volume's children, except levels that a writer holds. */
static enum radio_status
remove_children (struct radio_store *store, const char *path, bool *is_busy)
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
      RD_TRY (store->io->ops->lock (store->io, child, false, &lock));
      if (lock == NULL) {
        *is_busy = true;
        continue;
      }
    }
    RD_TRY (rd_level_remove (store, child));
  }
  return RADIO_OK;
}

static enum radio_status
remove_folder (struct radio_store *store, const char *path)
{
  bool is_busy = false;
  RD_TRY (remove_children (store, path, &is_busy));
  return is_busy ? RADIO_OK : store->io->ops->remove_tree (store->io, path);
}

/*------------------------------------------------------------------------
 * As objects
 *----------------------------------------------------------------------*/

/* A volume's child, of which objects were listed. */
struct child {
  char *name;
  uint64_t age_s;             /* of the youngest object */
  struct rd_strings documents, others;        /* keys */
  struct rd_io_lock *lock;    /* a level's */
};

struct children {
  const char *path;
  struct child *items;
  size_t n, capacity;
};

static void
free_children (struct children *children)
{
  for (size_t i = 0; i < children->n; i++) {
    struct child *child = &children->items[i];
    rd_io_unlock (child->lock);
    rd_strings_free (&child->documents);
    rd_strings_free (&child->others);
    rd_free (child->name);
  }
  rd_free (children->items);
}

/* Objects come in the order of their keys, those of a child together.  The
 * volume's own document may be another writer's by now. */
static enum radio_status
add_object (const struct rd_io_entry *entry, void *user_data)
{
  struct children *children = user_data;
  const char *slash = strchr (entry->name, '/');
  if (slash == NULL)
    return RADIO_OK;
  size_t n = (size_t) (slash - entry->name);
  struct child *child = children->n ? &children->items[children->n - 1]
                                    : NULL;
  if (!child || strncmp (child->name, entry->name, n) != 0
      || child->name[n] != '\0') {
    RD_TRY (rd_reserve (&children->items, &children->capacity, children->n,
                        sizeof *children->items));
    child = &children->items[children->n];
    *child = (struct child) { .age_s = UINT64_MAX };
    child->name = rd_strndup (entry->name, n);
    if (child->name == NULL)
      return rd_fail_memory (n + 1);
    children->n++;
  }
  child->age_s = rd_min_u64 (child->age_s, entry->age_s);
  bool is_document = strcmp (slash, "/zarr.json") == 0;
  char *key RD_FREE = rd_key_join (children->path, entry->name);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_strings_add (is_document ? &child->documents : &child->others,
                         key, strlen (key));
}

/* Levels that no document named may be a live writer's if they are young, even
 * if their lock is free. */
static enum radio_status
take_child (struct radio_store *store, const struct rd_strings *levels,
            const char *path, struct child *child, bool *is_taken)
{
  struct rd_io *io = store->io;
  *is_taken = strcmp (child->name, RD_TOMBSTONES_NAME) != 0;
  if (!rd_is_level_name (child->name))
    return RADIO_OK;
  char *level RD_FREE = rd_key_join (path, child->name);
  if (level == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->lock (io, level, false, &child->lock));
  *is_taken = child->lock != NULL
              && (rd_levels_have (levels, child->name)
                  || child->age_s >= io->grace_s);
  return RADIO_OK;
}

/* Move the keys to the end of another list. */
static enum radio_status
move_keys (struct rd_strings *to, struct rd_strings *from)
{
  while (from->n > 0) {
    RD_TRY (rd_reserve (&to->items, &to->capacity, to->n,
                        sizeof *to->items));
    to->items[to->n++] = from->items[--from->n];
  }
  return RADIO_OK;
}

/* The documents go first: no reader takes missing shards for zeros. */
static enum radio_status
remove_listed (struct radio_store *store, const struct rd_strings *levels,
               const char *path)
{
  struct children children RD_CLEANUP (free_children) = { .path = path };
  struct rd_strings documents RD_STRINGS_SCOPE = { 0 };
  struct rd_strings others RD_STRINGS_SCOPE = { 0 };
  struct rd_io *io = store->io;
  RD_TRY (io->ops->list (io, path, true, add_object, &children));
  for (size_t i = 0; i < children.n; i++) {
    struct child *child = &children.items[i];
    bool is_taken;
    RD_TRY (take_child (store, levels, path, child, &is_taken));
    if (!is_taken)
      continue;
    RD_TRY (move_keys (&documents, &child->documents));
    RD_TRY (move_keys (&others, &child->others));
  }
  if (rd_store_is_cancelled (store))
    return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
  RD_TRY (rd_io_remove_many (io, documents.items, documents.n));
  if (rd_store_is_cancelled (store))
    return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
  return rd_io_remove_many (io, others.items, others.n);
}

/* The remaining objects may be those of other processes, and the removed
 * header array may be of a volume that they have published since. */
static enum radio_status
remove_objects (struct radio_store *store, const struct rd_strings *levels,
                const char *path)
{
  struct rd_error error;
  enum radio_status status = remove_listed (store, levels, path);
  rd_error_save (&error, status);
  enum radio_status repaired = rd_header_repair (store, path);
  return status == RADIO_OK ? repaired : rd_error_raise (&error);
}

/*------------------------------------------------------------------------
 * The volume
 *----------------------------------------------------------------------*/

/* Checks that there is a volume.  levels: NULL, or those that its document
 * names; none if that is damaged.  A volume whose document is damaged can be
 * removed where nothing but volumes is allowed: in a collection of radio's. */
static enum radio_status
check_volume (struct radio_store *store, const char *path,
              struct rd_strings *levels)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum rd_kind kind = RD_KIND_NONE;
  const char *slash = strchr (path, '/');
  bool is_place = store->is_radio && slash && strchr (slash + 1, '/') == NULL;
  enum radio_status status = rd_store_read_document (store, path, &document);
  if (status == RADIO_OK)
    status = rd_document_kind (document, path, &kind);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (status, "%s: no such volume in %s", path,
                    store->io->uri);
  if (is_place && (status == RADIO_ERROR_FORMAT
                   || status == RADIO_ERROR_UNSUPPORTED))
    return RADIO_OK;
  RD_TRY (status);
  if (kind != RD_KIND_IMAGE)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: %s, not a volume", path,
                    kind == RD_KIND_ARRAY ? "an array" : "a group");
  if (levels == NULL)
    return RADIO_OK;
  status = rd_group_parse (document, path, &group);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_OK;
  RD_TRY (status);
  return rd_group_levels (group->attributes, levels);
}

/* Called with the volume's lock held, so that no writer begins meanwhile. */
static enum radio_status
remove_locked (struct radio_store *store, const char *path, const char *key,
               const struct rd_strings *levels)
{
  struct rd_io *io = store->io;
  bool is_folder = rd_io_excludes_all (io);
  if (rd_store_is_cancelled (store))
    return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled before anything of "
                    "it was removed", path);
  enum radio_status status = is_folder ? io->ops->remove (io, key)
                                       : rd_io_remove (io, key);
  if (status == RADIO_ERROR_NOT_FOUND) {
    /* Another process was faster; taking the lock may have created the
     * folder again. */
    RD_TRY (remove_folder (store, path));
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such volume in %s: "
                    "another process removed it just now", path, io->uri);
  }
  RD_TRY (status);
  status = is_folder ? remove_folder (store, path)
                     : remove_objects (store, levels, path);
  if (status == RADIO_OK)
    return RADIO_OK;
  return rd_fail_in (status, "%s: removed, but not all of its data; gc "
                     "removes the rest", path);
}

/* Copies keep the names of levels, which are random: so a volume that was
 * replaced since names others.  levels are the volume's; called with the locks
 * of both. */
static enum radio_status
check_copy (struct radio_store *store, const char *path,
            const struct rd_strings *levels, const char *copy)
{
  struct rd_strings copied RD_STRINGS_SCOPE = { 0 };
  RD_TRY (check_volume (store, copy, &copied));
  bool is_same = levels->n > 0 && levels->n == copied.n;
  for (size_t i = 0; is_same && i < levels->n; i++)
    is_same = rd_levels_have (&copied, levels->items[i]);
  return is_same ? RADIO_OK
    : rd_fail (RADIO_ERROR_NOT_FOUND, "%s: it or %s was replaced since it was "
               "copied; it is kept", path, copy);
}

/* The conditions of a removal. */
struct condition {
  const char *copy;           /* a volume with the same levels is at this
                                 path; NULL: none is needed */
  bool has_level;
  const char *level;          /* then the volume names this one; NULL: none */
};

/* levels are the volume's, none of one whose document is damaged; called with
 * its lock. */
static enum radio_status
check_level (const char *path, const struct rd_strings *levels,
             const char *level)
{
  if (level && levels->n == 0)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: its document is damaged, so it "
                    "may not be the volume of its row; it is kept; remove it "
                    "by its name", path);
  bool is_same = level == NULL && levels->n == 0;
  for (size_t i = 0; level && !is_same && i < levels->n; i++)
    is_same = strcmp (levels->items[i], level) == 0;
  return is_same ? RADIO_OK
    : rd_fail (RADIO_ERROR_NOT_FOUND, "%s: it was replaced since its row was "
               "written; it is kept, and radio index writes the row again",
               path);
}

/* A lock creates the folder, so the volume is looked for before that.  In S3
 * it is looked for with the lock alone: its levels are those of the removed
 * document, except for another process's.  The tombstone is for a copy that
 * may be about to publish a volume with the same level.  Locks are taken in the
 * order of paths, so that two opposite moves do not wait for each other. */
static enum radio_status
remove_volume (struct radio_store *store, const char *path,
               const struct condition *condition)
{
  const char *copy = condition->copy;
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_io_lock *other RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_strings levels RD_STRINGS_SCOPE = { 0 };
  struct rd_tombstone tombstone = { 0 };
  RD_TRY (rd_store_read_root (store));
  bool is_folder = rd_io_excludes_all (store->io);
  if (is_folder)
    RD_TRY (check_volume (store, path, NULL));
  if (is_folder && copy)
    RD_TRY (check_volume (store, copy, NULL));
  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  if (copy && strcmp (copy, path) < 0)
    RD_TRY (store->io->ops->lock (store->io, copy, true, &other));
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  if (copy && other == NULL)
    RD_TRY (store->io->ops->lock (store->io, copy, true, &other));
  if (copy || condition->has_level || !is_folder)
    RD_TRY (check_volume (store, path, &levels));
  if (condition->has_level)
    RD_TRY (check_level (path, &levels, condition->level));
  if (copy)
    RD_TRY (check_copy (store, path, &levels, copy));
  enum radio_status status = rd_tombstone_put (store, path, &tombstone);
  if (status == RADIO_OK)
    status = remove_locked (store, path, key, &levels);
  return rd_tombstone_end (&tombstone, status);
}

/* name is the function's. */
static enum radio_status
remove_if (const char *name, struct radio_store *store, const char *path,
           const struct condition *condition)
{
  if (path[0] == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: path is empty; name the volume",
                    name);
  RD_SCOPE ("remove", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (remove_volume (store, path, condition));
}

enum radio_status
radio_store_remove (struct radio_store *store, const char *path)
{
  const struct condition always = { 0 };
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  return remove_if ("radio_store_remove", store, path, &always);
}

enum radio_status
radio_store_remove_level (struct radio_store *store, const char *path,
                          const char *level)
{
  const struct condition same_level = { .has_level = true, .level = level };
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  return remove_if ("radio_store_remove_level", store, path, &same_level);
}

enum radio_status
radio_store_remove_copied (struct radio_store *store, const char *path,
                           const char *copy)
{
  const struct condition has_copy = { .copy = copy };
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (copy);
  if (path[0] == '\0' || copy[0] == '\0' || strcmp (path, copy) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_store_remove_copied: '%s' "
                    "and '%s' are not the paths of a volume and of its copy",
                    path, copy);
  return remove_if ("radio_store_remove_copied", store, path, &has_copy);
}
