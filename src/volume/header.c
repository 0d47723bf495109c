/* SPDX-License-Identifier: MIT */
/* The array of header bytes: one chunk, not compressed. */
#include <config.h>

#include <string.h>

#include "src/volume/codec.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

/* Each attempt after the first means that another process replaced the
 * document in between. */
#define MAX_ATTEMPTS 10

enum radio_status
rd_header_write (struct radio_store *store, const char *path,
                 const struct rd_buffer *prefix)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  char *array RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  if (array == NULL)
    return RADIO_ERROR_MEMORY;
  char *chunk RD_FREE = rd_key_join (array, "c/0");
  if (chunk == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_put (store->io, chunk, prefix->data, prefix->nbytes,
                     RD_PUT_REPLACE));
  char *key RD_FREE = rd_document_key (array);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  size_t nbytes;
  RD_TRY (rd_header_document (prefix->nbytes, &document));
  const char *text = rd_document_text (document, &nbytes);
  if (text == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (store->io, key, text, nbytes, RD_PUT_REPLACE);
}

enum radio_status
rd_header_matches (struct radio_store *store, const char *path,
                   const struct rd_buffer *prefix, bool *matches)
{
  struct radio_array *array RD_CLEANUP (rd_cleanup_array) = NULL;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct radio_array_info info = { 0 };
  char *key RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  *matches = false;
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = radio_array_open (store, key, &array);
  if (status == RADIO_OK) {
    radio_array_get_info (array, &info);
    if (info.rank != 1 || info.shape[0] != prefix->nbytes
        || info.dtype != RADIO_UINT8)
      status = rd_fail (RADIO_ERROR_FORMAT, "%s: not the %zu bytes of uint8 "
                        "that attributes.radio.nifti has", key,
                        prefix->nbytes);
  }
  if (status == RADIO_OK)
    status = rd_buffer_reserve (&bytes, prefix->nbytes + 1);
  if (status == RADIO_OK) {
    const struct radio_box box = { 1, { 0 }, { prefix->nbytes } };
    status = radio_array_read (array, &box, RADIO_UINT8, bytes.data,
                               prefix->nbytes, NULL);
  }
  switch (status) {
  case RADIO_OK:
    *matches = memcmp (bytes.data, prefix->data, prefix->nbytes) == 0;
    if (!*matches)
      rd_fail (RADIO_ERROR_CHECKSUM, "%s: differs from the header in "
               "attributes.radio.nifti", key);
    return RADIO_OK;
  case RADIO_ERROR_NOT_FOUND:
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_UNSUPPORTED:
  case RADIO_ERROR_CHECKSUM:
    return RADIO_OK;
  default:
    return status;
  }
}

/* Where locks do not exclude other processes, each process that has removed
 * or written the array, or has changed the document, compares both
 * afterwards: the last one to do so sees the final state. */
enum radio_status
rd_header_repair (struct radio_store *store, const char *path)
{
  bool matches = false;
  for (int i = 0; i < MAX_ATTEMPTS && !matches; i++) {
    struct rd_existing now RD_EXISTING_SCOPE = { 0 };
    RD_TRY (rd_existing_read (store, path, &now));
    if (!now.is_ours || !now.meta.has_nifti)
      return RADIO_OK;
    RD_TRY (rd_header_matches (store, path, &now.meta.prefix, &matches));
    if (!matches)
      RD_TRY (rd_header_write (store, path, &now.meta.prefix));
    if (rd_io_excludes_all (store->io))
      return RADIO_OK;
  }
  return RADIO_OK;
}

enum radio_status
rd_header_repair_own (struct radio_store *store, const char *path,
                      const struct rd_buffer *prefix)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  bool matches;
  if (rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  RD_TRY (rd_header_matches (store, path, prefix, &matches));
  return matches ? RADIO_OK : rd_header_repair (store, path);
}
