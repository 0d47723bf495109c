/* SPDX-License-Identifier: MIT */
/* Beginning and ending a level, and the act that makes it a volume. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/volume/collect.h"
#include "src/volume/header.h"
#include "src/volume/ingest.h"
#include "src/volume/meta.h"

/* Names of 32 random bits: that so many are taken means something else is
 * wrong. */
#define NAME_TRIES 100

static enum radio_status
lock_volume (struct rd_ingest *ingest, struct rd_io_lock **lock)
{
  struct rd_io *io = ingest->store->io;
  return io->ops->lock (io, ingest->path, true, lock);
}

/* What stands at the volume's path. */
struct existing {
  bool is_there;
  bool is_ours;               /* a volume of radio's, or a damaged document */
  struct rd_volume_meta meta; /* if it could be read */
};

static void
free_existing (struct existing *existing)
{
  rd_meta_free (&existing->meta);
}

static enum radio_status
look (struct rd_ingest *ingest, struct existing *existing)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum rd_kind kind;
  enum radio_status status
    = rd_node_kind (ingest->store, ingest->path, &kind);
  if (status == RADIO_OK && kind == RD_KIND_NONE)
    return RADIO_OK;
  existing->is_there = true;
  if (status == RADIO_OK && kind == RD_KIND_IMAGE)
    status = rd_group_read (ingest->store, ingest->path, &group);
  if (status == RADIO_OK && group)
    status = rd_meta_parse (group->attributes, ingest->path,
                            &existing->meta);
  existing->is_ours = status == RADIO_ERROR_FORMAT
                      || (group && rd_json_member (group->attributes,
                                                   "radio"));
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED
         ? RADIO_OK : status;
}

static enum radio_status
fail_exists (const struct rd_ingest *ingest)
{
  return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already in %s",
                  ingest->path, ingest->store->io->uri);
}

/* Only what radio wrote is replaced: of others' data nobody would know any
 * more what to remove. */
static enum radio_status
check_replaceable (const struct rd_ingest *ingest,
                   const struct existing *existing)
{
  if (existing->is_ours)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s: what is there is no volume of "
                  "radio's; remove it first", ingest->path);
}

enum radio_status
rd_ingest_check_existing (struct rd_ingest *ingest)
{
  struct existing existing RD_CLEANUP (free_existing) = { 0 };
  RD_TRY (look (ingest, &existing));
  if (!existing.is_there)
    return RADIO_OK;
  switch (ingest->options->existing) {
  case RADIO_EXISTING_REPLACE:
    return check_replaceable (ingest, &existing);
  case RADIO_EXISTING_SKIP:
    ingest->result.skipped = true;
    return RADIO_OK;
  default:
    return fail_exists (ingest);
  }
}

/* A locked folder of a name that nobody uses.  The volume's lock is held,
 * so that gc does not remove the folder before it is locked. */
static enum radio_status
lock_new_level (struct rd_ingest *ingest)
{
  struct rd_io *io = ingest->store->io;
  for (int i = 0; i < NAME_TRIES; i++) {
    struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
    uint64_t nbytes;
    RD_TRY (rd_level_name (0, ingest->level_name));
    char *path RD_FREE = rd_key_join (ingest->path, ingest->level_name);
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (io->ops->lock (io, path, false, &lock));
    if (lock == NULL)
      continue;
    RD_TRY (rd_prefix_nbytes (ingest->store, path, &nbytes));
    if (nbytes > 0)
      continue;
    ingest->level_path = RD_STEAL (path);
    ingest->level_lock = RD_STEAL (lock);
    return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_IO, "%s: no free name for a level after %d "
                  "tries", ingest->path, NAME_TRIES);
}

static enum radio_status
put_document (struct radio_store *store, const char *path,
              struct json_object *document, enum rd_put how)
{
  size_t nbytes;
  char *key RD_FREE = rd_document_key (path);
  const char *text = rd_document_text (document, &nbytes);
  if (key == NULL || text == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (store->io, key, text, nbytes, how);
}

static enum radio_status
open_level (struct rd_ingest *ingest)
{
  struct rd_array_doc *doc;
  RD_TRY (put_document (ingest->store, ingest->level_path,
                        ingest->level_document, RD_PUT_REPLACE));
  RD_TRY (rd_array_doc_parse (ingest->level_document, ingest->level_path,
                              &doc));
  RD_TRY (rd_array_open_doc (ingest->store, ingest->level_path, doc,
                             &ingest->array));
  ingest->array->is_complete = true;
  return RADIO_OK;
}

/* What dead writers and replaced volumes left is removed on the way; that
 * this fails is no reason not to go on. */
enum radio_status
rd_ingest_begin_level (struct rd_ingest *ingest)
{
  RD_SCOPE ("begin level", RD_IN_METADATA);
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct radio_gc_result removed = { 0 };
  RD_TRY (lock_volume (ingest, &lock));
  enum radio_status status
    = rd_collect_contents (ingest->store, ingest->path, false,
                           &removed);
  if (status == RADIO_ERROR_MEMORY)
    return status;
  RD_TRY (lock_new_level (ingest));
  return open_level (ingest);
}

void
rd_ingest_abandon_level (struct rd_ingest *ingest)
{
  struct rd_error error;
  if (ingest->level_lock == NULL)
    return;
  rd_error_save (&error, RADIO_ERROR_IO);
  radio_array_close (RD_STEAL (ingest->array));
  bool removed
    = rd_level_remove (ingest->store, ingest->level_path) == RADIO_OK;
  rd_io_unlock (RD_STEAL (ingest->level_lock));
  if (removed)
    rd_collect_quietly (ingest->store, ingest->path);
  rd_error_raise (&error);
}

static enum radio_status
make_document (struct rd_ingest *ingest, struct json_object **document)
{
  const char *slash = strrchr (ingest->source->name, '/');
  const struct rd_meta_make meta = {
    .name = ingest->name,
    .level_path = ingest->level_name,
    .nifti = &ingest->nifti,
    .prefix = &ingest->prefix,
    .source_name = slash ? slash + 1 : ingest->source->name,
    .source_sha256 = ingest->sha256,
    .source_nbytes = ingest->result.source_nbytes,
    .trailing_nbytes = ingest->trailing_nbytes,
    .stripped = ingest->options->strip,
    .tiling = ingest->tiling.name,
    .codec = ingest->codec,
    .level_document = ingest->level_document,
    .header_document = ingest->header_document,
  };
  return rd_meta_write (&meta, document);
}

/* Whether a document that could not be published is there all the same: a
 * store may fail after it gave the object its name, as when the folder cannot
 * be synced.  What cannot be told counts as yes, since a level that nobody
 * names is found again by gc, and one that is missing is lost. */
static bool
is_published (struct rd_ingest *ingest)
{
  struct existing now RD_CLEANUP (free_existing) = { 0 };
  if (look (ingest, &now) != RADIO_OK)
    return true;
  return now.is_there && now.meta.level_path
         && strcmp (now.meta.level_path, ingest->level_name) == 0;
}

/* The document comes last, when all that it speaks of is durable.  The
 * header array, which a volume that is replaced has, too, is written while
 * the last shards are on their way to the disk. */
static enum radio_status
publish_parts (struct rd_ingest *ingest, const struct existing *existing,
               struct json_object *document, bool *is_ours)
{
  enum rd_put how = existing->is_there ? RD_PUT_REPLACE : RD_PUT_IF_ABSENT;
  struct rd_error error;
  RD_TRY (rd_header_write (ingest->store, ingest->path, &ingest->prefix));
  RD_TRY (rd_layers_finish (ingest->layers, &ingest->result.stored_nbytes));
  enum radio_status status
    = put_document (ingest->store, ingest->path, document, how);
  *is_ours = status == RADIO_OK;
  if (status == RADIO_OK)
    return RADIO_OK;
  rd_error_save (&error, status);
  *is_ours = is_published (ingest);
  return rd_error_raise (&error);
}

/* When the document cannot be published, the header array of the volume that
 * stays is put back; whoever dies in between leaves that to gc. */
static enum radio_status
publish (struct rd_ingest *ingest, const struct existing *existing,
         struct json_object *document, bool *is_ours)
{
  struct rd_error error;
  enum radio_status status
    = publish_parts (ingest, existing, document, is_ours);
  if (status == RADIO_OK || *is_ours || !existing->meta.has_nifti)
    return status;
  rd_error_save (&error, status);
  if (rd_header_write (ingest->store, ingest->path,
                       &existing->meta.prefix) != RADIO_OK)
    rd_fail_in (status, "%s: header array", ingest->path);
  return rd_error_raise (&error);
}

/* Another writer was faster. */
static enum radio_status
settle_race (struct rd_ingest *ingest, const struct existing *existing)
{
  const char *theirs = existing->meta.source_sha256;
  if (ingest->options->existing == RADIO_EXISTING_SKIP) {
    ingest->result.skipped = true;
    return RADIO_OK;
  }
  bool same = theirs && strcmp (theirs, ingest->sha256) == 0;
  return same ? RADIO_OK : fail_exists (ingest);
}

static enum radio_status
commit (struct rd_ingest *ingest, bool *is_ours)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct existing existing RD_CLEANUP (free_existing) = { 0 };
  *is_ours = false;
  RD_TRY (make_document (ingest, &document));
  RD_TRY (lock_volume (ingest, &lock));
  RD_TRY (look (ingest, &existing));
  if (existing.is_there) {
    if (ingest->options->existing != RADIO_EXISTING_REPLACE)
      return settle_race (ingest, &existing);
    RD_TRY (check_replaceable (ingest, &existing));
  }
  return publish (ingest, &existing, document, is_ours);
}

enum radio_status
rd_ingest_commit (struct rd_ingest *ingest, bool *is_ours)
{
  RD_SCOPE ("commit", RD_IN_OPERATION);
  return rd_scope_end_with (commit (ingest, is_ours));
}
