/* SPDX-License-Identifier: MIT */
/* Parsing zarr.json: documents of arrays (core spec, "Array metadata") and
 * of groups. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/zarr/document.h"
#include "src/zarr/named.h"

enum radio_status
rd_document_node (struct json_object *document, const char *where,
                  enum rd_node_type *node)
{
  const char *type;
  int64_t format;

  if (!json_object_is_type (document, json_type_object))
    return rd_json_not (document, "the document", "an object", where);
  RD_TRY (rd_json_int (document, "zarr_format", where, INT64_MIN, INT64_MAX,
                       &format));
  if (format == 2)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: zarr_format is 2, and only Zarr version 3 is"
                    " supported; convert the data", where);
  if (format != 3)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: zarr_format is %lld; only 3 is supported", where,
                    (long long) format);
  RD_TRY (rd_json_string (document, "node_type", where, &type));
  if (strcmp (type, "array") == 0)
    *node = RD_NODE_ARRAY;
  else if (strcmp (type, "group") == 0)
    *node = RD_NODE_GROUP;
  else
    return rd_json_not (rd_json_member (document, "node_type"), "node_type",
                        "\"array\" or \"group\"", where);
  return RADIO_OK;
}

static void
free_text (struct json_object *document, void *text)
{
  (void) document;
  rd_free (text);
}

const char *
rd_document_text (struct json_object *document, size_t *nbytes)
{
  static const int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
                           | JSON_C_TO_STRING_NOSLASHESCAPE;
  size_t n = 0, first = 0;
  /* json-c omits what it has no memory for.  A second call, which uses the
   * memory of the first one, gives as much only if that was all. */
  (void) json_object_to_json_string_length (document, flags, &first);
  const char *text = json_object_to_json_string_length (document, flags, &n);
  char *line = text && n == first ? rd_malloc (n + 2) : NULL;

  if (line == NULL) {
    (void) rd_fail_memory (n + 2);
    return NULL;
  }
  memcpy (line, text, n);
  memcpy (line + n, "\n", 2);
  /* The document keeps it. */
  json_object_set_userdata (document, line, free_text);
  *nbytes = n + 1;
  return line;
}

/* Returns the member `attributes', NULL when it is missing. */
static enum radio_status
parse_attributes (struct json_object *document, const char *where,
                  struct json_object **attributes)
{
  if (!json_object_object_get_ex (document, "attributes", NULL))
    return RADIO_OK;
  return rd_json_object (document, "attributes", where, attributes);
}

/*------------------------------------------------------------------------
 * Arrays
 *----------------------------------------------------------------------*/

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
                    " supported; only regular is", where, named.name);
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

/* Some writers write null for no names. */
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
  for (size_t i = 0; i < doc->rank; i++) {
    struct json_object *name = json_object_array_get_idx (list, i);
    const char *text;
    if (name == NULL)
      continue;
    RD_TRY (rd_json_text (name, "an entry of dimension_names", where,
                          &text));
    doc->dimension_names[i] = rd_strdup (text);
    if (doc->dimension_names[i] == NULL)
      return rd_fail_memory (strlen (text) + 1);
  }
  return RADIO_OK;
}

/* A string's bytes follow the element. */
static enum radio_status
parse_fill (struct json_object *value, const char *where,
            struct rd_array_doc *doc)
{
  size_t nbytes = doc->type.item_nbytes, more = 0;

  if (doc->type.dtype == RADIO_STRING
      && json_object_is_type (value, json_type_string))
    more = (size_t) json_object_get_string_len (value);
  doc->fill = rd_calloc (1, nbytes + more);
  if (doc->fill == NULL)
    return rd_fail_memory (nbytes + more);
  RD_TRY (rd_fill_parse (value, &doc->type, where, doc->fill));
  if (more > 0) {
    struct rd_string string = { (char *) doc->fill + nbytes, more };
    memcpy (doc->fill + nbytes, json_object_get_string (value), more);
    memcpy (doc->fill, &string, sizeof string);
  }
  return RADIO_OK;
}

/* Parses the members in an order in which each is checked against those
 * before it. */
enum radio_status
rd_array_doc_parse (struct json_object *document, const char *where,
                    struct rd_array_doc **result)
{
  RD_SCOPE ("parse array", RD_IN_METADATA);
  static const char *const known[] = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid",
    "chunk_key_encoding", "fill_value", "codecs", "attributes",
    "storage_transformers", "dimension_names", NULL
  };
  static const char *const none[] = { NULL };
  struct rd_named named;
  enum rd_node_type node;

  RD_TRY (rd_document_node (document, where, &node));
  if (node != RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: a group, not an array",
                    where);
  RD_TRY (rd_members_check (document, known, where));
  RD_CLEANUP (rd_cleanup_array_doc) struct rd_array_doc *doc
    = rd_calloc (1, sizeof *doc);
  if (doc == NULL)
    return rd_fail_memory (sizeof *doc);

  struct json_object *list, *value, *attributes = NULL;
  RD_TRY (rd_json_array (document, "shape", where, &list));
  RD_TRY (rd_json_shape (list, "shape", where, 0, &doc->rank, doc->shape));
  RD_TRY (parse_member (document, "data_type", where, &named));
  enum radio_status status = rd_type_parse (named.name, &doc->type);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", where);
  RD_TRY (rd_named_check (&named, none, where));
  RD_TRY (parse_chunk_grid (document, where, doc));
  RD_TRY (parse_keys (document, where, doc));

  if (!json_object_object_get_ex (document, "fill_value", &value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: fill_value is missing", where);
  RD_TRY (parse_fill (value, where, doc));

  struct rd_chunk chunk = { .rank = doc->rank, .type = doc->type,
                            .fill = doc->fill };
  memcpy (chunk.shape, doc->chunk_shape, sizeof chunk.shape);
  RD_TRY (rd_json_array (document, "codecs", where, &list));
  RD_TRY (rd_chain_parse (list, &chunk, where, &doc->chain,
                          doc->tile_shape));
  doc->codecs = json_object_get (list);

  /* No transformer is supported; one that may be ignored says so. */
  size_t ntransformers = 0;
  if (json_object_object_get_ex (document, "storage_transformers", NULL)) {
    RD_TRY (rd_json_array (document, "storage_transformers", where, &list));
    ntransformers = json_object_array_length (list);
  }
  for (size_t i = 0; i < ntransformers; i++) {
    RD_TRY (rd_named_parse (json_object_array_get_idx (list, i),
                            "a storage transformer", where, &named));
    if (!named.may_be_ignored)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: storage transformer"
                      " \"%s\" is not supported", where, named.name);
  }
  RD_TRY (parse_attributes (document, where, &attributes));
  doc->attributes = json_object_get (attributes);
  RD_TRY (parse_dimension_names (document, where, doc));
  *result = RD_STEAL (doc);
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

/*------------------------------------------------------------------------
 * Groups
 *----------------------------------------------------------------------*/

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
  json_object_object_foreach (found, path, child) {
    if (!json_object_is_type (child, json_type_object))
      return rd_json_not (child, path, "a node's document", where);
  }
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
  enum rd_node_type node;

  RD_TRY (rd_document_node (document, where, &node));
  if (node != RD_NODE_GROUP)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: an array, not a group",
                    where);
  RD_TRY (rd_members_check (document, known, where));
  RD_TRY (parse_attributes (document, where, &attributes));
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
