/* SPDX-License-Identifier: MIT */
/* The array of header bytes: one chunk, not compressed. */
#include <config.h>

#include <string.h>

#include "src/volume/codec.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

static enum radio_status
put_document (struct radio_store *store, const char *path, size_t nbytes)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  size_t text_nbytes;
  RD_TRY (rd_header_document (nbytes, &document));
  const char *text = rd_document_text (document, &text_nbytes);
  if (text == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (store->io, key, text, text_nbytes, RD_PUT_REPLACE);
}

enum radio_status
rd_header_write (struct radio_store *store, const char *path,
                 const struct rd_buffer *prefix)
{
  char *array RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  if (array == NULL)
    return RADIO_ERROR_MEMORY;
  char *chunk RD_FREE = rd_key_join (array, "c/0");
  if (chunk == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_put (store->io, chunk, prefix->data, prefix->nbytes,
                     RD_PUT_REPLACE));
  return put_document (store, array, prefix->nbytes);
}

static enum radio_status
compare (struct radio_array *array, const struct rd_buffer *prefix,
         bool *matches)
{
  struct radio_array_info info;
  radio_array_info (array, &info);
  if (info.rank != 1 || info.shape[0] != prefix->nbytes
      || info.dtype != RADIO_UINT8) {
    rd_fail (RADIO_ERROR_FORMAT, "%s: not the %zu bytes of uint8 that "
             "attributes.radio.nifti has", array->path, prefix->nbytes);
    return RADIO_OK;
  }
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct radio_box box = { 1, { 0 }, { prefix->nbytes } };
  RD_TRY (rd_buffer_reserve (&bytes, prefix->nbytes + 1));
  RD_TRY (radio_array_read (array, &box, RADIO_UINT8, bytes.data,
                            prefix->nbytes, NULL));
  *matches = memcmp (bytes.data, prefix->data, prefix->nbytes) == 0;
  if (!*matches)
    rd_fail (RADIO_ERROR_CHECKSUM, "%s: differs from the header in "
             "attributes.radio.nifti", array->path);
  return RADIO_OK;
}

enum radio_status
rd_header_matches (struct radio_store *store, const char *path,
                   const struct rd_buffer *prefix, bool *matches)
{
  struct radio_array *array RD_CLEANUP (rd_cleanup_array) = NULL;
  char *key RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  *matches = false;
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = radio_array_open (store, key, &array);
  if (status == RADIO_OK)
    status = compare (array, prefix, matches);
  switch (status) {
  case RADIO_ERROR_NOT_FOUND:
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_UNSUPPORTED:
  case RADIO_ERROR_CHECKSUM:
    return RADIO_OK;
  default:
    return status;
  }
}
