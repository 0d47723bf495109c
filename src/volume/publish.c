/* SPDX-License-Identifier: MIT */
/* The place of a new volume, and publishing it. */
#include <config.h>

#include <string.h>

#include "src/volume/header.h"
#include "src/volume/publish.h"

static enum radio_status
check_store (struct radio_store *store)
{
  RD_TRY (rd_store_look (store));
  if (store->is_radio)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: not a store of radio's "
                  "(no attributes.radio in its zarr.json): nothing is "
                  "ingested into others' data", store->io->uri);
}

/* Volumes stand in collections, nowhere else: so listing finds them. */
enum radio_status
rd_place_check (struct radio_store *store, const char *path,
                char **collection, const char **name)
{
  RD_TRY (check_store (store));
  const char *slash = strchr (path, '/');
  if (slash == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is not COLLECTION/NAME",
                    path);
  *name = slash + 1;
  *collection = rd_strndup (path, (size_t) (slash - path));
  if (*collection == NULL)
    return rd_fail_memory (strlen (path));
  enum radio_status status = rd_node_name_check (*collection);
  if (status == RADIO_OK)
    status = rd_node_name_check (*name);
  return status == RADIO_OK ? RADIO_OK : rd_fail_in (status, "'%s'", path);
}

static enum radio_status
put_collection (struct radio_store *store, const char *collection)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  char *key RD_FREE = rd_document_key (collection);
  size_t nbytes;
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_group_doc_write (NULL, NULL, &document));
  const char *text = rd_document_text (document, &nbytes);
  if (text == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_io_put (store->io, key, text, nbytes,
                                        RD_PUT_IF_ABSENT);
  return status == RADIO_ERROR_EXISTS ? RADIO_OK : status;
}

enum radio_status
rd_place_make_collection (struct radio_store *store, const char *collection)
{
  enum rd_kind kind;
  RD_TRY (rd_node_kind (store, collection, &kind));
  if (kind == RD_KIND_NONE) {
    RD_TRY (put_collection (store, collection));
    RD_TRY (rd_node_kind (store, collection, &kind));
  }
  if (kind == RD_KIND_GROUP)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: %s is %s, not a collection",
                  store->io->uri, collection,
                  kind == RD_KIND_ARRAY ? "an array" : "an image");
}

void
rd_existing_free (struct rd_existing *existing)
{
  rd_meta_free (&existing->meta);
}

enum radio_status
rd_existing_look (struct radio_store *store, const char *path,
                  struct rd_existing *existing)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum rd_kind kind;
  enum radio_status status = rd_node_kind (store, path, &kind);
  if (status == RADIO_OK && kind == RD_KIND_NONE)
    return RADIO_OK;
  if (status == RADIO_OK && kind == RD_KIND_IMAGE)
    status = rd_group_read (store, path, &group);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;                  /* removed just now */
  existing->is_there = true;
  if (status == RADIO_OK && group)
    status = rd_meta_parse (group->attributes, path, &existing->meta);
  existing->is_ours = status == RADIO_ERROR_FORMAT
                      || (group && rd_json_member (group->attributes,
                                                   "radio"));
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED
         ? RADIO_OK : status;
}

static enum radio_status
fail_exists (const struct radio_store *store, const char *path)
{
  return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already in %s", path,
                  store->io->uri);
}

/* Only what radio wrote is replaced: of others' data nobody would know any
 * more what to remove. */
static enum radio_status
check_replaceable (const char *path, const struct rd_existing *existing)
{
  if (existing->is_ours)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s: what is there is no volume of "
                  "radio's; remove it first", path);
}

enum radio_status
rd_existing_check (struct radio_store *store, const char *path,
                   enum radio_existing how, bool *skip)
{
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  RD_TRY (rd_existing_look (store, path, &existing));
  if (!existing.is_there)
    return RADIO_OK;
  switch (how) {
  case RADIO_EXISTING_REPLACE:
    return check_replaceable (path, &existing);
  case RADIO_EXISTING_SKIP:
    *skip = true;
    return RADIO_OK;
  default:
    return fail_exists (store, path);
  }
}

/* Whether the store itself decided that a document is not written. */
static bool
is_refusal (enum radio_status status)
{
  return status == RADIO_ERROR_EXISTS || status == RADIO_ERROR_PERMISSION
         || status == RADIO_ERROR_UNSUPPORTED
         || status == RADIO_ERROR_ARGUMENT;
}

/* Whether a document that could not be published is there all the same: a
 * store may fail after it gave the object its name, as when the folder cannot
 * be synced, and one over a network may still do what it did not answer.
 * What cannot be told counts as yes, since a level that nobody names is found
 * again by gc, and one that is missing is lost. */
static bool
is_published (const struct rd_publication *publication,
              enum radio_status status)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  if (!rd_io_excludes_all (publication->store->io) && !is_refusal (status))
    return true;
  if (rd_existing_look (publication->store, publication->path, &now)
      != RADIO_OK)
    return true;
  return now.is_there && now.meta.level_path
         && strcmp (now.meta.level_path, publication->level_name) == 0;
}

static enum radio_status
put_document (const struct rd_publication *publication, enum rd_put how)
{
  char *key RD_FREE = rd_document_key (publication->path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (publication->store->io, key, publication->text,
                    publication->nbytes, how);
}

static enum radio_status
put_header (const struct rd_publication *publication)
{
  if (publication->prefix == NULL)
    return RADIO_OK;
  return rd_header_write (publication->store, publication->path,
                          publication->prefix);
}

/* A volume came between looking and writing, as it may where locks do not
 * tell of other processes, with a header array of its own.  Whose document
 * cannot be looked at stays. */
static enum radio_status
replace_late (const struct rd_publication *publication)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  if (rd_existing_look (publication->store, publication->path, &now)
      != RADIO_OK)
    return rd_error_raise (&error);
  if (now.is_there)
    RD_TRY (check_replaceable (publication->path, &now));
  RD_TRY (put_header (publication));
  return put_document (publication, RD_PUT_REPLACE);
}

/* The document, where there was none, or over the one that is replaced. */
static enum radio_status
put_new_document (const struct rd_publication *publication,
                  const struct rd_existing *existing)
{
  if (existing->is_there)
    return put_document (publication, RD_PUT_REPLACE);
  enum radio_status status = put_document (publication, RD_PUT_IF_ABSENT);
  bool is_late = status == RADIO_ERROR_EXISTS
                 && publication->existing == RADIO_EXISTING_REPLACE;
  return is_late ? replace_late (publication) : status;
}

/* The document comes last, when all that it speaks of is durable.  The
 * header array, which a volume that is replaced has, too, is written while
 * the last shards are on their way to the disk. */
static enum radio_status
publish_parts (struct rd_publication *publication,
               const struct rd_existing *existing, bool *is_ours)
{
  struct rd_error error;
  RD_TRY (put_header (publication));
  if (publication->finish)
    RD_TRY (publication->finish (publication));
  enum radio_status status = put_new_document (publication, existing);
  *is_ours = status == RADIO_OK;
  if (status == RADIO_OK)
    return RADIO_OK;
  rd_error_save (&error, status);
  *is_ours = is_published (publication, status);
  return rd_error_raise (&error);
}

/* Put back the header array of the volume that stays.  Where locks do not
 * tell of other processes that may be one which came meanwhile. */
static enum radio_status
put_back_header (const struct rd_publication *publication,
                 const struct rd_existing *existing)
{
  if (!rd_io_excludes_all (publication->store->io))
    return rd_header_mend (publication->store, publication->path);
  if (!existing->meta.has_nifti)
    return RADIO_OK;
  return rd_header_write (publication->store, publication->path,
                          &existing->meta.prefix);
}

/* When the document cannot be published, the header array is as it was;
 * whoever dies in between leaves that to gc. */
static enum radio_status
publish (struct rd_publication *publication,
         const struct rd_existing *existing, bool *is_ours)
{
  struct rd_error error;
  enum radio_status status = publish_parts (publication, existing, is_ours);
  if (status == RADIO_OK || *is_ours)
    return status;
  rd_error_save (&error, status);
  enum radio_status back = put_back_header (publication, existing);
  if (back != RADIO_OK)
    return rd_fail_in (back, "%s: header array", publication->path);
  return rd_error_raise (&error);
}

/* Another writer was faster. */
static enum radio_status
settle_race (struct rd_publication *publication,
             const struct rd_existing *existing)
{
  const char *theirs = existing->meta.source_sha256;
  if (publication->existing == RADIO_EXISTING_SKIP) {
    publication->skipped = true;
    return RADIO_OK;
  }
  bool same = theirs && strcmp (theirs, publication->sha256) == 0;
  return same ? RADIO_OK
              : fail_exists (publication->store, publication->path);
}

/* The store refused the document, since one came between looking and
 * writing: maybe of a copy of the same level, which is ours as well. */
static enum radio_status
settle_late (struct rd_publication *publication)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  if (rd_existing_look (publication->store, publication->path, &now)
      != RADIO_OK || !now.is_there)
    return rd_error_raise (&error);
  return settle_race (publication, &now);
}

enum radio_status
rd_publish (struct rd_publication *publication, bool *is_ours)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  struct rd_io *io = publication->store->io;
  *is_ours = false;
  RD_TRY (io->ops->lock (io, publication->path, true, &lock));
  RD_TRY (rd_existing_look (publication->store, publication->path,
                            &existing));
  if (existing.is_there) {
    if (publication->existing != RADIO_EXISTING_REPLACE)
      return settle_race (publication, &existing);
    RD_TRY (check_replaceable (publication->path, &existing));
  }
  enum radio_status status = publish (publication, &existing, is_ours);
  bool is_late = status == RADIO_ERROR_EXISTS
                 && publication->existing != RADIO_EXISTING_REPLACE;
  return is_late ? settle_late (publication) : status;
}
