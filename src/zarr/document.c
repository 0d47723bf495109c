/* SPDX-License-Identifier: MIT */
/* What all documents share: the kind of node, the format's number, and the
 * text that is stored. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"

static enum radio_status
check_format (struct json_object *document, const char *where)
{
  int64_t format;

  RD_TRY (rd_json_int (document, "zarr_format", where, INT64_MIN, INT64_MAX,
                       &format));
  if (format == 2)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: zarr_format is 2: only Zarr version 3 is"
                    " supported, convert the data first", where);
  if (format != 3)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: zarr_format is %lld, only 3 is supported", where,
                    (long long) format);
  return RADIO_OK;
}

enum radio_status
rd_document_node (struct json_object *document, const char *where,
                  enum rd_node *node)
{
  const char *type;

  if (!json_object_is_type (document, json_type_object))
    return rd_json_not (document, "the document", "an object", where);
  RD_TRY (check_format (document, where));
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
  size_t n = 0;
  const char *text = json_object_to_json_string_length (
    document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
              | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
  char *line = text ? rd_malloc (n + 2) : NULL;

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
