/* SPDX-License-Identifier: MIT */
/* Nodes of a store: their kinds, documents and names. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "src/table/heads.h"
#include "src/volume/node.h"

#define LEVEL_SUFFIX_LENGTH 8

char *
rd_document_key (const char *path)
{
  return rd_key_join (path, "zarr.json");
}

enum radio_status
rd_document_kind (struct json_object *document, const char *path,
                  enum rd_kind *kind)
{
  struct json_object *attributes = rd_json_member (document, "attributes");
  enum rd_node_type node;
  *kind = RD_KIND_NONE;
  RD_TRY (rd_document_node (document, path, &node));
  if (node == RD_NODE_ARRAY)
    *kind = RD_KIND_ARRAY;
  else if (rd_kind_of (document))
    *kind = RD_KIND_TABLES;
  else if (rd_meta_is_image (attributes)
           || (*path && rd_json_member (attributes, "radio")))
    *kind = RD_KIND_IMAGE;
  else
    *kind = RD_KIND_GROUP;
  return RADIO_OK;
}

enum radio_status
rd_node_kind (struct radio_store *store, const char *path,
              enum rd_kind *kind)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = rd_store_read_document (store, path, &document);
  *kind = RD_KIND_NONE;
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  return rd_document_kind (document, path, kind);
}

bool
rd_is_level_name (const char *name)
{
  size_t n = strspn (name, "0123456789");
  if (n == 0 || name[n] != '-')
    return false;
  const char *suffix = name + n + 1;
  return strlen (suffix) == LEVEL_SUFFIX_LENGTH
         && strspn (suffix, "0123456789abcdef") == LEVEL_SUFFIX_LENGTH;
}

enum radio_status
rd_level_name (unsigned level, char name[RD_LEVEL_NAME_NBYTES])
{
  uint32_t number;
  if (getentropy (&number, sizeof number) != 0)
    return rd_fail_errno (errno, "no random number for a level's name");
  snprintf (name, RD_LEVEL_NAME_NBYTES, "%u-%08x", level,
            (unsigned) number);
  return RADIO_OK;
}

enum radio_status
rd_group_parse (struct json_object *document, const char *path,
                struct rd_group_doc **doc)
{
  char *where RD_FREE = rd_document_key (path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  enum rd_node_type node;
  RD_TRY (rd_document_node (document, where, &node));
  if (node == RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: an array, not a volume", where);
  return rd_group_doc_parse (document, where, doc);
}

enum radio_status
rd_group_read (struct radio_store *store, const char *path,
               struct rd_group_doc **doc)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  RD_TRY (rd_store_read_document (store, path, &document));
  return rd_group_parse (document, path, doc);
}

void
rd_existing_free (struct rd_existing *existing)
{
  rd_meta_free (&existing->meta);
}

static enum radio_status
parse_existing (enum radio_status status, struct json_object *document,
                const char *path, struct rd_existing *existing)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum rd_kind kind = RD_KIND_NONE;
  if (status == RADIO_OK)
    status = rd_document_kind (document, path, &kind);
  if (status == RADIO_OK && kind == RD_KIND_IMAGE)
    status = rd_group_parse (document, path, &group);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  existing->exists = true;
  if (status == RADIO_OK && group)
    status = rd_meta_parse (group, path, &existing->meta);
  existing->is_ours = status == RADIO_ERROR_FORMAT
                      || (group && rd_json_member (group->attributes,
                                                   "radio"));
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED
         ? RADIO_OK : status;
}

enum radio_status
rd_existing_read (struct radio_store *store, const char *path,
                  struct rd_existing *existing)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = rd_store_read_named (store, path, &document);
  return parse_existing (status, document, path, existing);
}

enum radio_status
rd_existing_read_v3 (struct radio_store *store, const char *path,
                     struct rd_existing *existing)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = rd_store_read_document (store, path, &document);
  return parse_existing (status, document, path, existing);
}
