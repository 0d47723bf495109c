/* SPDX-License-Identifier: MIT */
/* The documents of arrays (core spec, "Array metadata"), member by member,
 * each checked against those before it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/zarr/document.h"
#include "src/zarr/named.h"

static enum radio_status
parse_member (struct json_object *document, const char *member,
              const char *where, struct rd_named *named)
{
  struct json_object *value;

  if (!json_object_object_get_ex (document, member, &value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is missing", where, member);
  return rd_named_parse_strict (value, member, where, named);
}

static enum radio_status
parse_data_type (struct json_object *document, const char *where,
                 struct rd_type *type)
{
  static const char *const none[] = { NULL };
  struct rd_named named;

  RD_TRY (parse_member (document, "data_type", where, &named));
  enum radio_status status = rd_type_parse (named.name, type);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: data_type", where);
  return rd_named_check (&named, none, where);
}

static enum radio_status
parse_shape (struct json_object *document, const char *where,
             struct rd_array_doc *doc)
{
  struct json_object *list;

  RD_TRY (rd_json_array (document, "shape", where, &list));
  return rd_json_shape (list, "shape", where, 0, &doc->rank, doc->shape);
}

static enum radio_status
parse_chunk_grid (struct json_object *document, const char *where,
                  struct rd_array_doc *doc)
{
  static const char *const known[] = { "chunk_shape", NULL };
  struct rd_named named;
  struct json_object *list;
  size_t rank;

  RD_TRY (parse_member (document, "chunk_grid", where, &named));
  if (strcmp (named.name, "regular") != 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: chunk_grid \"%s\" is not"
                    " supported, only regular is", where, named.name);
  RD_TRY (rd_named_check (&named, known, where));
  RD_TRY (rd_json_array (named.configuration, "chunk_shape", where, &list));
  RD_TRY (rd_json_shape (list, "chunk_shape", where, 1, &rank,
                         doc->chunk_shape));
  if (rank != doc->rank)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: chunk_shape has %zu entries,"
                    " shape has %zu", where, rank, doc->rank);
  return RADIO_OK;
}

static enum radio_status
parse_keys (struct json_object *document, const char *where,
            struct rd_array_doc *doc)
{
  static const char *const known[] = { "separator", NULL };
  struct rd_named named;
  const char *separator;

  RD_TRY (parse_member (document, "chunk_key_encoding", where, &named));
  doc->keys_v2 = strcmp (named.name, "v2") == 0;
  if (!doc->keys_v2 && strcmp (named.name, "default") != 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: chunk_key_encoding \"%s\" is not supported, only"
                    " default and v2 are", where, named.name);
  RD_TRY (rd_named_check (&named, known, where));
  separator = doc->keys_v2 ? "." : "/";
  if (json_object_object_get_ex (named.configuration, "separator", NULL))
    RD_TRY (rd_json_string (named.configuration, "separator", where,
                            &separator));
  if (strcmp (separator, "/") != 0 && strcmp (separator, ".") != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: separator is \"%s\", not \"/\""
                    " or \".\"", where, separator);
  doc->separator = separator[0];
  return RADIO_OK;
}

static enum radio_status
parse_fill (struct json_object *document, const char *where,
            struct rd_array_doc *doc)
{
  struct json_object *value;

  if (!json_object_object_get_ex (document, "fill_value", &value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: fill_value is missing", where);
  doc->fill = rd_calloc (1, doc->type.item_nbytes);
  if (doc->fill == NULL)
    return rd_fail_memory (doc->type.item_nbytes);
  return rd_fill_parse (value, &doc->type, where, doc->fill);
}

static enum radio_status
parse_codecs (struct json_object *document, const char *where,
              struct rd_array_doc *doc)
{
  struct rd_chunk chunk = { .rank = doc->rank, .type = doc->type,
                            .fill = doc->fill };
  struct json_object *list;

  memcpy (chunk.shape, doc->chunk_shape, sizeof chunk.shape);
  RD_TRY (rd_json_array (document, "codecs", where, &list));
  RD_TRY (rd_chain_parse (list, &chunk, where, &doc->chain,
                          doc->tile_shape));
  doc->codecs = json_object_get (list);
  return RADIO_OK;
}

/* No transformer exists; one that may be ignored says so. */
static enum radio_status
parse_transformers (struct json_object *document, const char *where)
{
  struct json_object *list;

  if (!json_object_object_get_ex (document, "storage_transformers", NULL))
    return RADIO_OK;
  RD_TRY (rd_json_array (document, "storage_transformers", where, &list));
  for (size_t i = 0; i < json_object_array_length (list); i++) {
    struct rd_named named;
    RD_TRY (rd_named_parse (json_object_array_get_idx (list, i),
                            "a storage transformer", where, &named));
    if (!named.may_be_ignored)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: storage transformer"
                      " \"%s\" is not supported", where, named.name);
  }
  return RADIO_OK;
}

static enum radio_status
parse_dimension_name (struct json_object *value, const char *where,
                      char **name)
{
  const char *text;

  if (value == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_text (value, "an entry of dimension_names", where, &text));
  *name = rd_strdup (text);
  return *name ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

/* null is what some writers mean by none. */
static enum radio_status
parse_dimension_names (struct json_object *document, const char *where,
                       struct rd_array_doc *doc)
{
  struct json_object *list;

  if (rd_json_member (document, "dimension_names") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_array (document, "dimension_names", where, &list));
  if (json_object_array_length (list) != doc->rank)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: dimension_names has %zu entries,"
                    " shape has %zu", where, json_object_array_length (list),
                    doc->rank);
  doc->has_dimension_names = true;
  for (size_t i = 0; i < doc->rank; i++)
    RD_TRY (parse_dimension_name (json_object_array_get_idx (list, i), where,
                                  &doc->dimension_names[i]));
  return RADIO_OK;
}

static enum radio_status
parse_members (struct json_object *document, const char *where,
               struct rd_array_doc *doc)
{
  struct json_object *attributes = NULL;

  RD_TRY (parse_shape (document, where, doc));
  RD_TRY (parse_data_type (document, where, &doc->type));
  RD_TRY (parse_chunk_grid (document, where, doc));
  RD_TRY (parse_keys (document, where, doc));
  RD_TRY (parse_fill (document, where, doc));
  RD_TRY (parse_codecs (document, where, doc));
  RD_TRY (parse_transformers (document, where));
  RD_TRY (rd_attributes_parse (document, where, &attributes));
  doc->attributes = json_object_get (attributes);
  return parse_dimension_names (document, where, doc);
}

enum radio_status
rd_array_doc_parse (struct json_object *document, const char *where,
                    struct rd_array_doc **doc)
{
  RD_SCOPE ("parse array", RD_IN_METADATA);
  static const char *const known[] = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid",
    "chunk_key_encoding", "fill_value", "codecs", "attributes",
    "storage_transformers", "dimension_names", NULL
  };
  enum rd_node node;

  RD_TRY (rd_document_node (document, where, &node));
  if (node != RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: is a group, not an array",
                    where);
  RD_TRY (rd_members_check (document, known, where));
  RD_CLEANUP (rd_cleanup_array_doc) struct rd_array_doc *parsed
    = rd_calloc (1, sizeof *parsed);
  if (parsed == NULL)
    return rd_fail_memory (sizeof *parsed);
  RD_TRY (parse_members (document, where, parsed));
  *doc = RD_STEAL (parsed);
  return RADIO_OK;
}

void
rd_array_doc_free (struct rd_array_doc *doc)
{
  if (doc == NULL)
    return;
  rd_free (doc->fill);
  rd_chain_free (doc->chain);
  json_object_put (doc->codecs);
  json_object_put (doc->attributes);
  for (size_t i = 0; i < doc->rank; i++)
    rd_free (doc->dimension_names[i]);
  rd_free (doc);
}
