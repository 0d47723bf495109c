/* SPDX-License-Identifier: MIT */
/* Validating the document of a group above volumes, the root's or a
 * collection's; and all tables, with that of their group.  radio does not read
 * them to open a volume by its path, but other programs begin there.  Other
 * programs also put copies of documents there (consolidated_metadata), which
 * are not updated when volumes are written. */
#include <config.h>

#include <string.h>

#include <radio/index.h>
#include <radio/volume.h>

#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/table/tables.h"
#include "src/volume/documents.h"
#include "src/volume/list.h"
#include "src/volume/node.h"

struct validation {
  struct radio_store *store;
  const char *path;
  struct json_object *copies;         /* path below the group -> document */
  struct radio_check check;
  radio_damage_fn *damage;
  void *user_data;
};

/* Report the damage that the thread's message describes. */
static enum radio_status
report_damage (struct validation *validation)
{
  validation->check.damaged_count++;
  if (validation->damage)
    validation->damage (radio_error_message (), validation->user_data);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Copies of documents
 *----------------------------------------------------------------------*/

struct copy {
  struct rd_document base;            /* first */
  struct json_object *document;       /* the group's copy; not owned */
  bool is_same;
};

static enum radio_status
prepare_copy (struct rd_document *base)
{
  struct copy *copy = (struct copy *) base;
  return rd_documents_compare (base->document, copy->document, base->path,
                               &copy->is_same);
}

static enum radio_status
take_copy (struct rd_document *base, void *user_data)
{
  struct validation *validation = user_data;
  const struct copy *copy = (const struct copy *) base;
  enum radio_status status = base->error.status;
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND
      && status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_UNSUPPORTED)
    return rd_error_raise (&base->error);
  if (!copy->is_same)
    validation->check.stale_count++;
  return RADIO_OK;
}

static void
free_copy (struct rd_document *base)
{
  rd_free (base);
}

static enum radio_status
compare_copies (struct validation *validation)
{
  struct rd_documents documents RD_DOCUMENTS_SCOPE = {
    .store = validation->store, .prepare = prepare_copy, .take = take_copy,
    .free_item = free_copy, .user_data = validation,
  };
  rd_documents_init (&documents);
  json_object_object_foreach (validation->copies, name, document) {
    char *path RD_FREE = rd_key_join (validation->path, name);
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    if (rd_path_check (path, false) != RADIO_OK) {
      validation->check.stale_count++;
      continue;
    }
    struct copy *copy = rd_calloc (1, sizeof *copy);
    if (copy == NULL)
      return rd_fail_memory (sizeof *copy);
    copy->base.path = RD_STEAL (path);
    copy->document = document;
    RD_TRY (rd_documents_add (&documents, &copy->base));
  }
  return rd_documents_finish (&documents);
}

/* Programs that read the copies do not find a volume that has none. */
static enum radio_status
find_copy (const struct radio_entry *entry, void *user_data)
{
  struct validation *validation = user_data;
  size_t nskipped = *validation->path ? strlen (validation->path) + 1 : 0;
  if (*entry->path
      && !rd_json_member (validation->copies, entry->path + nskipped))
    validation->check.stale_count++;
  return RADIO_OK;
}

static enum radio_status
check_copies (struct validation *validation)
{
  const char *path = validation->path;
  RD_TRY (compare_copies (validation));
  enum radio_status status
    = radio_store_list (validation->store, *path ? path : NULL, find_copy,
                        validation);
  return status == RADIO_ERROR_UNSUPPORTED ? RADIO_OK : status;
}

/*------------------------------------------------------------------------
 * Tables
 *----------------------------------------------------------------------*/

static enum radio_status
take_fault (void *user_data)
{
  return report_damage (user_data);
}

/* Volumes without a row are no fault: a table need not have all. */
static enum radio_status
take_row (enum radio_index_fault fault, const char *path, void *user_data)
{
  if (fault != RADIO_INDEX_NO_VOLUME)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_FORMAT, "%s: a row of " RADIO_TABLE_VOLUMES " without a "
           "volume; radio index removes it", path);
  return report_damage (user_data);
}

static enum radio_status
check_table (const struct radio_table_entry *entry, void *user_data)
{
  struct validation *validation = user_data;
  const struct radio_index_options options = {
    .check = true, .report = take_row, .user_data = validation,
  };
  bool is_sound;
  RD_TRY (rd_table_check (validation->store, entry->path, take_fault,
                          validation, &is_sound));
  if (!is_sound || entry->collection == NULL)
    return RADIO_OK;
  enum radio_status status = radio_store_index (
    validation->store, entry->collection, &options, NULL);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  rd_fail (RADIO_ERROR_FORMAT, "%s: the table of a collection that is not "
           "there; radio index empties it", entry->path);
  return report_damage (validation);
}

static enum radio_status
check_tables (struct validation *validation)
{
  enum radio_status status = radio_table_list (validation->store, check_table,
                                               validation);
  return status == RADIO_ERROR_FORMAT ? report_damage (validation) : status;
}

/*------------------------------------------------------------------------
 * The group
 *----------------------------------------------------------------------*/

/* Without its document, or with an array's, a folder is no collection, and its
 * volumes are not listed; the root is no store.  A folder of another kind has
 * none. */
static enum radio_status
check_other (struct validation *validation, const char *what)
{
  const char *path = validation->path;
  bool has_volumes;
  if (!validation->store->is_radio)
    return RADIO_OK;
  RD_TRY (rd_list_has_volumes (validation->store, path, &has_volumes));
  if (!has_volumes)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_FORMAT, "%s%szarr.json: %s, while there are volumes "
           "below", path, *path ? "/" : "", what);
  return report_damage (validation);
}

static enum radio_status
check_group (struct validation *validation)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  const char *path = validation->path;
  enum rd_kind kind = RD_KIND_NONE;
  char *where RD_FREE = rd_document_key (path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  /* A collection can be checked under any root. */
  enum radio_status status = rd_store_read_root (validation->store);
  bool is_open = status == RADIO_OK, is_radio;
  if (is_open || *path)
    status = rd_store_read_document (validation->store, path, &document);
  if (status == RADIO_OK)
    status = rd_document_kind (document, path, &kind);
  if (status == RADIO_ERROR_NOT_FOUND && (*path || is_open))
    return check_other (validation, "missing");
  if (status == RADIO_OK && kind == RD_KIND_ARRAY)
    return check_other (validation, "of an array");
  if (status == RADIO_OK && kind == RD_KIND_GROUP)
    status = rd_group_doc_parse (document, where, &group);
  if (group && *path == '\0')
    status = rd_store_check_version (group->attributes, where, &is_radio);
  if (status == RADIO_ERROR_FORMAT)
    return report_damage (validation);
  RD_TRY (status);
  if (kind == RD_KIND_TABLES && strcmp (path, RD_TABLES_NAME) == 0)
    return check_tables (validation);
  if (group == NULL || group->consolidated == NULL)
    return RADIO_OK;
  validation->copies = group->consolidated;
  return check_copies (validation);
}

enum radio_status
(radio_store_validate_group) (struct radio_store *store, const char *path,
                              struct radio_check *check,
                              radio_damage_fn *damage, void *user_data,
                              size_t check_nbytes)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_SCOPE ("validate group", RD_IN_OPERATION);
  struct validation validation = {
    .store = store, .path = path, .damage = damage, .user_data = user_data,
  };
  enum radio_status status = check_group (&validation);
  if (status == RADIO_OK && check)
    rd_fill_result (check, check_nbytes, &validation.check,
                    sizeof validation.check);
  if (status == RADIO_OK && validation.check.damaged_count > 0)
    status = rd_fail (RADIO_ERROR_CHECKSUM, "%s%szarr.json: damaged", path,
                      *path ? "/" : "");
  return rd_scope_end_with (status);
}
