/* SPDX-License-Identifier: MIT */
/* What all documents share: the kind of node, the format's number, and the
 * text that is stored. */
#include <config.h>

#include <string.h>

#include "io/error.h"
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

const char *
rd_document_text (struct json_object *document, size_t *nbytes)
{
  size_t n;
  const char *text = json_object_to_json_string_length (
    document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
              | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

  if (text == NULL) {
    (void) rd_fail_memory (0);
    return NULL;
  }
  *nbytes = n;
  return text;
}
