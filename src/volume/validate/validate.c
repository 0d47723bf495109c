/* SPDX-License-Identifier: MIT */
/* Validating a volume: every tile, the header array, the checksum that was
 * recorded when the file was read, the statistics that are kept, and the
 * level's document. */
#include <config.h>

#include <string.h>

#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/volume/documents.h"
#include "src/volume/header.h"
#include "src/volume/file-slabs.h"
#include "src/volume/meta.h"
#include "src/volume/node.h"
#include "src/volume/stats/kept-stats.h"
#include "src/volume/volume.h"

struct validation {
  struct radio_volume *volume;
  struct radio_check check;
  radio_damage_fn *damage;
  void *user_data;
  bool is_level_lost;                 /* reported */
  enum radio_status level_status;     /* of its document, read once */
};

/* Fails if another writer has replaced the volume, in which case apparent
 * damage is no error.  The document says which levels are current. */
static enum radio_status
check_current (const struct radio_volume *volume)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  struct rd_volume_meta now RD_META_SCOPE = { 0 };
  enum radio_status status
    = rd_group_read (volume->array->store, volume->path, &group);
  if (status == RADIO_OK)
    status = rd_meta_parse (group, volume->path, &now);
  bool is_bad = status == RADIO_ERROR_FORMAT
                || status == RADIO_ERROR_UNSUPPORTED;
  bool is_same = status == RADIO_OK
                 && strcmp (now.level_path, volume->meta.level_path) == 0;
  if (is_same || is_bad)
    return RADIO_OK;
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    return status;
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: the volume was %s while it was "
                  "open; open it again", volume->path,
                  status == RADIO_OK ? "replaced" : "removed");
}

/* Report the damage that the thread's message describes, unless the volume
 * has been replaced. */
static enum radio_status
report_damage_if_current (struct validation *validation)
{
  struct rd_error damage;
  rd_error_save (&damage, RADIO_ERROR_FORMAT);
  RD_TRY (check_current (validation->volume));
  validation->check.damaged_count++;
  if (validation->damage)
    validation->damage (damage.message, validation->user_data);
  return RADIO_OK;
}

/* The array was not found, which may be that of a volume replaced since. */
static enum radio_status
report_lost_level (struct validation *validation)
{
  const struct radio_volume *volume = validation->volume;
  validation->is_level_lost = true;
  rd_fail (RADIO_ERROR_FORMAT, "%s: its level %s is missing", volume->path,
           volume->meta.level_path);
  return report_damage_if_current (validation);
}

/* The writer of another header puts the array's document after the volume's,
 * under the volume's lock.  So the array is inspected again under the lock, or
 * without it in a read-only store: over a network, what came the first time
 * may have been wrong. */
static enum radio_status
check_header (struct validation *validation)
{
  const struct radio_volume *volume = validation->volume;
  const struct rd_volume_meta *meta = &volume->meta;
  struct radio_store *store = volume->array->store;
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  enum rd_header_state state;
  if (!meta->has_nifti)
    return RADIO_OK;
  RD_SCOPE ("check header", RD_IN_OPERATION);
  RD_TRY (rd_header_inspect (store, volume->path, &meta->prefix,
                             meta->header_key, &state));
  if (state == RD_HEADER_CURRENT)
    return RADIO_OK;
  RD_TRY (check_current (volume));
  enum radio_status locked = store->io->ops->lock (store->io, volume->path,
                                                   true, &lock);
  (void) locked;                      /* a read-only store has no locks */
  RD_TRY (rd_header_inspect (store, volume->path, &meta->prefix,
                             meta->header_key, &state));
  if (state == RD_HEADER_BAD)
    return report_damage_if_current (validation);
  if (state == RD_HEADER_STALE) {
    RD_TRY (check_current (volume));
    validation->check.stale_count++;
  }
  return RADIO_OK;
}

/* Reads the slabs as the file had them: its order, its byte order; the shards
 * themselves, not cached tiles. */
static enum radio_status
hash_volume (struct radio_volume *volume, char text[RD_SHA256_TEXT_NBYTES])
{
  EVP_MD_CTX *sha RD_CLEANUP (rd_cleanup_sha256) = NULL;
  struct rd_buffer buffer RD_BUFFER_SCOPE = { 0 };
  struct rd_file_slabs slabs;
  struct radio_box box;
  const struct rd_volume_meta *meta = &volume->meta;
  const struct rd_nifti *nifti = &meta->nifti;
  rd_file_slabs_begin (&slabs, nifti, volume->array->doc->chunk_shape);
  /* The largest slab; the image's own size is known not to overflow. */
  uint64_t room = nifti->type.item_nbytes;
  for (size_t i = 0; i < nifti->rank; i++)
    room *= slabs.shape[i];
  RD_TRY (rd_context_allows (volume->array->store->context, room,
                             "one slab of the volume"));
  RD_TRY (rd_buffer_reserve (&buffer, room));
  RD_TRY (rd_sha256_begin (&sha));
  RD_TRY (rd_sha256_add (sha, meta->prefix.data, meta->prefix.nbytes));
  while (rd_file_slabs_next (&slabs, &box)) {
    size_t nbytes = radio_box_count (&box) * nifti->type.item_nbytes;
    int64_t strides[RADIO_MAX_RANK];
    const struct radio_request request = { box, buffer.data, nbytes, strides };
    rd_nifti_file_strides (nifti, box.size, strides);
    {
      RD_SCOPE ("read", RD_IN_OPERATION);
      RD_TRY (rd_array_read_once (volume->array, &request, RADIO_STORED,
                                  NULL, NULL));
    }
    if (nifti->swapped)
      rd_swap_units (buffer.data, nbytes, nifti->type.unit_nbytes);
    RD_TRY (rd_sha256_add (sha, buffer.data, nbytes));
  }
  return rd_sha256_end (sha, text);
}

/* Called if all tiles are undamaged, since damaged ones cannot be read and
 * have been reported.  A whole shard, or all of the level, may still be
 * missing: the read fails by the format, or finds no array. */
static enum radio_status
check_sha256 (struct validation *validation)
{
  const struct rd_volume_meta *meta = &validation->volume->meta;
  char text[RD_SHA256_TEXT_NBYTES];
  if (!meta->has_nifti || meta->source_sha256 == NULL
      || meta->source_sha256[0] == '\0')
    return RADIO_OK;
  RD_SCOPE ("check sha256", RD_IN_OPERATION);
  enum radio_status status = hash_volume (validation->volume, text);
  if (status == RADIO_ERROR_NOT_FOUND)
    return report_lost_level (validation);
  if (status == RADIO_ERROR_FORMAT)
    return report_damage_if_current (validation);
  RD_TRY (status);
  if (strcmp (text, meta->source_sha256) == 0)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_CHECKSUM, "%s: SHA-256 of header and voxels is %s, "
           "but %s was recorded at ingest", validation->volume->path, text,
           meta->source_sha256);
  return report_damage_if_current (validation);
}

/* Statistics beside the level are computed again: they do not depend on how the
 * voxels are read.  Statistics of another level or of other shards are not
 * used, so they are no damage. */
static enum radio_status
check_statistics (struct validation *validation)
{
  struct radio_volume *volume = validation->volume;
  struct rd_kept_stats kept, now;
  struct radio_stats full;
  enum rd_kept_state state;
  RD_TRY (rd_kept_stats_get (volume, NULL, &kept, &state));
  if (state == RD_KEPT_NONE || state == RD_KEPT_STALE)
    return RADIO_OK;
  RD_SCOPE ("check statistics", RD_IN_OPERATION);
  if (state == RD_KEPT_BAD)
    return report_damage_if_current (validation);
  RD_TRY (rd_kept_stats_compute (volume, &now, &full));
  if (rd_kept_stats_equal (&kept, &now))
    return RADIO_OK;
  rd_fail (RADIO_ERROR_FORMAT, "%s: the kept statistics do not match the "
           "voxels; compute them again by radio stats --keep",
           volume->path);
  return report_damage_if_current (validation);
}

/* Compares the level's own document, which other programs read, with the copy
 * in the volume's, which opened the array. */
static enum radio_status
compare_level (const struct radio_volume *volume, struct json_object *document)
{
  struct rd_array_doc *doc RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  char *where RD_FREE = rd_document_key (volume->array->path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_array_doc_parse (document, where, &doc));
  const char *member = rd_array_doc_difference (doc, volume->array->doc);
  if (member == NULL)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: %s differs from the copy in the "
                  "consolidated_metadata of %s/zarr.json", where, member,
                  volume->path);
}

static enum radio_status
take_level (struct rd_document *item, void *user_data)
{
  struct validation *validation = user_data;
  enum radio_status status = item->error.status;
  if (status == RADIO_OK)
    status = compare_level (validation->volume, item->document);
  validation->level_status = status;
  return RADIO_OK;
}

static void
free_level (struct rd_document *item)
{
  rd_free (item);
}

/* Starts to read the level's document: on a network it comes while the tiles
 * do. */
static enum radio_status
request_level (struct validation *validation, struct rd_documents *documents)
{
  const struct radio_volume *volume = validation->volume;
  if (!volume->has_level_copy)
    return RADIO_OK;
  struct rd_document *item = rd_calloc (1, sizeof *item);
  if (item == NULL)
    return rd_fail_memory (sizeof *item);
  item->path = rd_strdup (volume->array->path);
  if (item->path == NULL) {
    rd_free (item);
    return rd_fail_memory (strlen (volume->array->path) + 1);
  }
  return rd_documents_add (documents, item);
}

/* A wrong document is read once more, as the header array is. */
static enum radio_status
check_level_document (struct validation *validation,
                      struct rd_documents *documents)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  const struct radio_volume *volume = validation->volume;
  RD_TRY (rd_documents_finish (documents));
  if (validation->level_status == RADIO_OK || validation->is_level_lost)
    return RADIO_OK;
  enum radio_status status
    = rd_store_read_document (volume->array->store, volume->array->path,
                              &document);
  if (status == RADIO_OK)
    status = compare_level (volume, document);
  if (status == RADIO_ERROR_NOT_FOUND)
    rd_fail (RADIO_ERROR_FORMAT, "%s/zarr.json: missing, while %s/zarr.json "
             "has a copy of it", volume->array->path, volume->path);
  bool is_damage = status == RADIO_ERROR_NOT_FOUND
                   || status == RADIO_ERROR_FORMAT
                   || status == RADIO_ERROR_UNSUPPORTED;
  return is_damage ? report_damage_if_current (validation) : status;
}

/* A file has no documents. */
static enum radio_status
validate_file (struct validation *validation, struct radio_check *check,
               size_t check_nbytes)
{
  struct radio_volume *volume = validation->volume;
  enum radio_status status
    = radio_array_check (volume->array, &validation->check,
                         validation->damage, validation->user_data);
  validation->check.stored_nbytes = volume->file_nbytes;
  if (check && (status == RADIO_OK || status == RADIO_ERROR_CHECKSUM))
    rd_fill_result (check, check_nbytes, &validation->check,
                    sizeof validation->check);
  return status;
}

static enum radio_status
validate (struct radio_volume *volume, struct radio_check *check,
          size_t check_nbytes, radio_damage_fn *damage, void *user_data)
{
  struct validation validation = {
    .volume = volume, .damage = damage, .user_data = user_data,
  };
  if (volume->array->linear)
    return validate_file (&validation, check, check_nbytes);
  struct rd_documents documents RD_DOCUMENTS_SCOPE = {
    .store = volume->array->store, .take = take_level,
    .free_item = free_level, .user_data = &validation,
  };
  rd_documents_init (&documents);
  RD_TRY (request_level (&validation, &documents));
  enum radio_status status
    = radio_array_check (volume->array, &validation.check, damage, user_data);
  /* The level is not there any more: the volume was replaced, or has lost
   * it. */
  if (status == RADIO_ERROR_NOT_FOUND) {
    RD_TRY (report_lost_level (&validation));
    status = RADIO_ERROR_CHECKSUM;
  }
  if (status != RADIO_OK && status != RADIO_ERROR_CHECKSUM)
    return status;
  RD_TRY (check_header (&validation));
  if (status == RADIO_OK) {
    RD_TRY (check_sha256 (&validation));
    RD_TRY (check_statistics (&validation));
  }
  RD_TRY (check_level_document (&validation, &documents));
  if (check)
    rd_fill_result (check, check_nbytes, &validation.check,
                    sizeof validation.check);
  if (validation.check.damaged_count == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_CHECKSUM, "%s: %llu damaged parts",
                  volume->path,
                  (unsigned long long) validation.check.damaged_count);
}

enum radio_status
(radio_volume_validate) (struct radio_volume *volume,
                         struct radio_check *check, radio_damage_fn *damage,
                         void *user_data, size_t check_nbytes)
{
  RD_NOT_NULL (volume);
  RD_SCOPE ("validate", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  RD_TRY (rd_array_check_stored (volume->array, "validated"));
  return rd_scope_end_with (
    validate (volume, check, check_nbytes, damage, user_data));
}
