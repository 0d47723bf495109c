/* SPDX-License-Identifier: MIT */
/* Validating a volume: every tile, the header array, and the checksum that
 * was recorded when the file was read. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/volume/header.h"
#include "src/volume/file-slabs.h"
#include "src/volume/volume.h"

/* What a validation carries through its steps. */
struct validation {
  struct radio_volume *volume;
  struct radio_check check;
  radio_damage_fn *damage;
  void *user_data;
};

static void
tell_damage (struct validation *validation, const char *message)
{
  validation->check.damaged_count++;
  if (validation->damage)
    validation->damage (message, validation->user_data);
}

static enum radio_status
check_header (struct validation *validation)
{
  const struct radio_volume *volume = validation->volume;
  bool matches;
  if (!volume->meta.has_nifti)
    return RADIO_OK;
  RD_SCOPE ("check header", RD_IN_OPERATION);
  RD_TRY (rd_header_matches (volume->array->store, volume->path,
                             &volume->meta.prefix, &matches));
  if (!matches)
    tell_damage (validation, radio_error_message ());
  return RADIO_OK;
}

/* Read a slab as the file had it: its order, its byte order. */
static enum radio_status
hash_slab (struct radio_volume *volume, const struct radio_box *box,
           struct rd_buffer *buffer, EVP_MD_CTX *sha)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  size_t nbytes = radio_box_count (box) * nifti->type.item_nbytes;
  int64_t strides[RADIO_MAX_RANK];
  const struct radio_read_options options = { .strides = strides };
  rd_nifti_file_strides (nifti, box->size, strides);
  RD_TRY (radio_array_read (volume->array, box, RADIO_STORED, buffer->data,
                            nbytes, &options));
  if (nifti->swapped)
    rd_swap_units (buffer->data, nbytes, nifti->type.unit_nbytes);
  return rd_sha256_add (sha, buffer->data, nbytes);
}

static enum radio_status
hash_volume (struct radio_volume *volume, char text[RD_SHA256_TEXT_NBYTES])
{
  EVP_MD_CTX *sha RD_CLEANUP (rd_cleanup_sha256) = NULL;
  struct rd_buffer buffer RD_BUFFER_SCOPE = { 0 };
  struct rd_file_slabs slabs;
  struct radio_box box;
  const struct rd_volume_meta *meta = &volume->meta;
  rd_file_slabs_begin (&slabs, &meta->nifti, volume->array->doc->chunk_shape);
  uint64_t nbytes = rd_file_slabs_nbytes (&slabs);
  RD_TRY (rd_context_allows (volume->array->store->context, nbytes,
                             "one slab of the volume"));
  RD_TRY (rd_buffer_reserve (&buffer, nbytes));
  RD_TRY (rd_sha256_begin (&sha));
  RD_TRY (rd_sha256_add (sha, meta->prefix.data, meta->prefix.nbytes));
  while (rd_file_slabs_next (&slabs, &box))
    RD_TRY (hash_slab (volume, &box, &buffer, sha));
  return rd_sha256_end (sha, text);
}

/* Only of undamaged tiles: damaged ones cannot be read, and are told.  What
 * can still be wrong is that a whole shard is missing. */
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
  if (status == RADIO_ERROR_FORMAT) {
    tell_damage (validation, radio_error_message ());
    return RADIO_OK;
  }
  RD_TRY (status);
  if (strcmp (text, meta->source_sha256) == 0)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_CHECKSUM, "%s: SHA-256 of header and voxels is %s, "
           "but %s was recorded at ingest", validation->volume->path, text,
           meta->source_sha256);
  tell_damage (validation, radio_error_message ());
  return RADIO_OK;
}

static enum radio_status
run (struct validation *validation)
{
  struct radio_array *array = validation->volume->array;
  enum radio_status status
    = radio_array_check (array, &validation->check, validation->damage,
                         validation->user_data);
  if (status != RADIO_OK && status != RADIO_ERROR_CHECKSUM)
    return status;
  RD_TRY (check_header (validation));
  if (status == RADIO_OK)
    RD_TRY (check_sha256 (validation));
  return RADIO_OK;
}

enum radio_status
radio_volume_validate (struct radio_volume *volume,
                       struct radio_check *check, radio_damage_fn *damage,
                       void *user_data)
{
  struct validation validation = { volume, { 0 }, damage, user_data };
  if (volume == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_validate: volume is "
                    "NULL");
  RD_SCOPE ("validate", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  RD_TRY (run (&validation));
  if (check)
    *check = validation.check;
  if (validation.check.damaged_count == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_CHECKSUM, "%s: %llu damaged parts",
                  volume->path,
                  (unsigned long long) validation.check.damaged_count);
}
