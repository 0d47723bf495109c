/* SPDX-License-Identifier: MIT */
/* Documents of nodes.  Over a network, one that cannot be right is requested
 * again. */
#include <config.h>

#include <inttypes.h>

#include "src/array/array.h"
#include "src/array/context.h"
#include "src/array/refetch.h"
#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "src/base/error.h"
#include "profiler/counters.h"

bool
rd_store_has_object (struct radio_store *store, const char *path,
                     const char *name)
{
  char key[RD_KEY_NBYTES];
  uint64_t nbytes;
  rd_path_key (path, name, key);
  return store->io->ops->size (store->io, key, &nbytes) == RADIO_OK;
}

enum radio_status
rd_store_node_exists (struct radio_store *store, const char *path,
                      bool *exists)
{
  RD_FREE char *key = rd_key_join (path, "zarr.json");
  uint64_t nbytes;
  if (!key)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = store->io->ops->size (store->io, key, &nbytes);
  *exists = status == RADIO_OK;
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

/* Checks the image's header, if the document has one with a checksum.  JSON
 * with a changed bit is mostly refused by its parser, but any base64 is some
 * header. */
static enum radio_status
check_header_text (struct json_object *document, const char *key)
{
  struct json_object *radio
    = rd_json_member (rd_json_member (document, "attributes"), "radio");
  struct json_object *text = rd_json_member (radio, "nifti");
  struct json_object *value = rd_json_member (radio, "nifti_crc32c");
  uint64_t sum;
  if (value == NULL || !json_object_is_type (text, json_type_string))
    return RADIO_OK;
  RD_TRY (rd_json_u64 (value, "attributes.radio.nifti_crc32c", key, &sum));
  uint32_t crc = rd_crc32c (0, json_object_get_string (text),
                            (size_t) json_object_get_string_len (text));
  if (crc == sum)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: attributes.radio.nifti has the "
                  "CRC-32C %" PRIu32 ", but nifti_crc32c is %" PRIu64, key,
                  crc, sum);
}

static size_t
most_nbytes (const struct radio_store *store)
{
  return (size_t) rd_min_u64 (RD_DOCUMENT_MAX_NBYTES,
                              store->context->memory_limit_nbytes);
}

static enum radio_status
parse (const struct rd_buffer *text, const char *key,
       const struct rd_document_check *check, struct json_object **document)
{
  RD_SCOPE ("parse", RD_IN_METADATA);
  RD_TRY (rd_json_parse ((const char *) text->data, text->nbytes, key,
                         document));
  RD_TRY (check_header_text (*document, key));
  return check ? check->fn (*document, key, check->user_data) : RADIO_OK;
}

enum radio_status
rd_store_parse_document (struct radio_store *store, const char *key,
                         const struct rd_document_check *check,
                         struct rd_buffer *text,
                         struct json_object **document)
{
  struct rd_refetch refetch = { 0 };
  *document = NULL;
  enum radio_status status = parse (text, key, check, document);
  while (rd_refetch_is_due (&refetch, store->io, status, text->data,
                            text->nbytes)) {
    json_object_put (*document);
    *document = NULL;
    status = rd_io_read_all (store->io, key, most_nbytes (store), text);
    if (status != RADIO_OK)
      break;
    status = parse (text, key, check, document);
  }
  if (status != RADIO_OK) {
    json_object_put (*document);
    *document = NULL;
  }
  return status;
}

static enum radio_status
read_document (struct radio_store *store, const char *path, bool is_named,
               struct json_object **document)
{
  RD_TRY (rd_pool_check (store->context->pool));
  RD_TRY (rd_path_check (path, false));
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  RD_SCOPE ("metadata", RD_IN_METADATA);
  RD_NOTE_NAME ("key", key);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  enum radio_status status = rd_io_read_all (store->io, key,
                                             most_nbytes (store), &text);
  if (status == RADIO_OK)
    status = rd_store_parse_document (store, key, NULL, &text, document);
  if (status == RADIO_ERROR_NOT_FOUND) {
    const char *slash = path[0] ? "/" : "";
    if (is_named && (rd_store_has_object (store, path, ".zgroup")
                     || rd_store_has_object (store, path, ".zarray")))
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s%s%s: Zarr version 2, and "
                      "only version 3 is read; convert it, as by "
                      "zarr-python's 'zarr migrate v3'", store->io->uri,
                      slash, path);
    return rd_fail (status, "%s%s%s: there is no zarr.json", store->io->uri,
                    slash, path);
  }
  return status;
}

enum radio_status
rd_store_read_document (struct radio_store *store, const char *path,
                        struct json_object **document)
{
  return read_document (store, path, false, document);
}

enum radio_status
rd_store_read_named (struct radio_store *store, const char *path,
                     struct json_object **document)
{
  return read_document (store, path, true, document);
}
