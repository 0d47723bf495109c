/* SPDX-License-Identifier: MIT */
/* Beginning and ending a level, and the act that makes it a volume. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/volume/gc/collect.h"
#include "src/volume/header.h"
#include "src/volume/ingest.h"
#include "src/volume/meta.h"
#include "src/volume/publish.h"

/* Names of 32 random bits: that so many are taken means something else is
 * wrong. */
#define NAME_TRIES 100

static enum radio_status
lock_volume (struct rd_ingest *ingest, struct rd_io_lock **lock)
{
  struct rd_io *io = ingest->store->io;
  return io->ops->lock (io, ingest->path, true, lock);
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
put_level_document (const struct rd_ingest *ingest)
{
  size_t nbytes;
  char *key RD_FREE = rd_document_key (ingest->level_path);
  const char *text = rd_document_text (ingest->level_document, &nbytes);
  if (key == NULL || text == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (ingest->store->io, key, text, nbytes, RD_PUT_REPLACE);
}

static enum radio_status
open_level (struct rd_ingest *ingest)
{
  struct rd_array_doc *doc;
  RD_TRY (put_level_document (ingest));
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

static enum radio_status
finish_layers (struct rd_publication *publication)
{
  struct rd_ingest *ingest = publication->user_data;
  return rd_layers_finish (ingest->layers, &ingest->result.stored_nbytes);
}

/* Somebody may have removed a volume here meanwhile, and with it the array
 * that was to be the new one's. */
static enum radio_status
settle_header (const struct rd_ingest *ingest)
{
  enum radio_status status
    = rd_header_mend_own (ingest->store, ingest->path, &ingest->prefix);
  if (status == RADIO_OK)
    return RADIO_OK;
  return rd_fail_in (status, "%s: published, but its header array could not "
                     "be looked at, which radio gc mends if need be",
                     ingest->path);
}

static enum radio_status
commit (struct rd_ingest *ingest, bool *is_ours)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_publication publication = {
    .store = ingest->store,
    .path = ingest->path,
    .existing = ingest->options->existing,
    .level_name = ingest->level_name,
    .sha256 = ingest->sha256,
    .prefix = &ingest->prefix,
    .finish = finish_layers,
    .user_data = ingest,
  };
  *is_ours = false;
  RD_TRY (make_document (ingest, &document));
  publication.text = rd_document_text (document, &publication.nbytes);
  if (publication.text == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_publish (&publication, is_ours);
  ingest->result.skipped = publication.skipped;
  return status == RADIO_OK && *is_ours ? settle_header (ingest) : status;
}

enum radio_status
rd_ingest_commit (struct rd_ingest *ingest, bool *is_ours)
{
  RD_SCOPE ("commit", RD_IN_OPERATION);
  return rd_scope_end_with (commit (ingest, is_ours));
}
