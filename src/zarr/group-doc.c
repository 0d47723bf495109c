/* SPDX-License-Identifier: MIT */
/* The documents of groups, and the metadata of their children that may
 * stand in them (core spec, "Consolidated metadata"). */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"
#include "src/zarr/named.h"

/* Each entry is the document of one child. */
static enum radio_status
check_entries (struct json_object *metadata, const char *where)
{
  json_object_object_foreach (metadata, path, document) {
    if (!json_object_is_type (document, json_type_object))
      return rd_json_not (document, path, "a node's document", where);
  }
  return RADIO_OK;
}

/* Older writers leave must_understand out, or write null for "none". */
static enum radio_status
parse_consolidated (struct json_object *document, const char *where,
                    struct json_object **metadata)
{
  struct json_object *member, *found;
  const char *kind = "";
  bool must_understand = true;

  if (rd_json_member (document, "consolidated_metadata") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (document, "consolidated_metadata", where,
                          &member));
  if (json_object_object_get_ex (member, "must_understand", NULL))
    RD_TRY (rd_json_bool (member, "must_understand", where,
                          &must_understand));
  if (json_object_object_get_ex (member, "kind", NULL))
    RD_TRY (rd_json_string (member, "kind", where, &kind));
  if (strcmp (kind, "inline") != 0) {
    if (!must_understand)
      return RADIO_OK;
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: consolidated_metadata is of kind \"%s\", only"
                    " inline is supported", where, kind);
  }
  RD_TRY (rd_json_object (member, "metadata", where, &found));
  RD_TRY (check_entries (found, where));
  *metadata = found;
  return RADIO_OK;
}

enum radio_status
rd_group_doc_parse (struct json_object *document, const char *where,
                    struct rd_group_doc **doc)
{
  static const char *const known[] = {
    "zarr_format", "node_type", "attributes", "consolidated_metadata", NULL
  };
  struct json_object *attributes = NULL, *consolidated = NULL;
  enum rd_node node;

  RD_TRY (rd_document_node (document, where, &node));
  if (node != RD_NODE_GROUP)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: is an array, not a group",
                    where);
  RD_TRY (rd_members_check (document, known, where));
  RD_TRY (rd_attributes_parse (document, where, &attributes));
  RD_TRY (parse_consolidated (document, where, &consolidated));
  struct rd_group_doc *parsed = rd_calloc (1, sizeof *parsed);
  if (parsed == NULL)
    return rd_fail_memory (sizeof *parsed);
  parsed->attributes = json_object_get (attributes);
  parsed->consolidated = json_object_get (consolidated);
  *doc = parsed;
  return RADIO_OK;
}

void
rd_group_doc_free (struct rd_group_doc *doc)
{
  if (doc == NULL)
    return;
  json_object_put (doc->attributes);
  json_object_put (doc->consolidated);
  rd_free (doc);
}
