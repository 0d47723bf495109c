/* SPDX-License-Identifier: MIT */
/* Documents made, in the order of members that people expect, and of the
 * forms that readers of Zarr 3.0 take: extension points are objects. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"

#define JSON RD_CLEANUP (rd_cleanup_json)

static enum radio_status
no_memory (void)
{
  return rd_fail_memory (sizeof (struct json_object *));
}

/* Give a value to an object; NULL is a failure to make it. */
static enum radio_status
add (struct json_object *object, const char *member,
     struct json_object *value)
{
  if (value && object
      && json_object_object_add (object, member, value) == 0)
    return RADIO_OK;
  json_object_put (value);
  return no_memory ();
}

static enum radio_status
append (struct json_object *list, struct json_object *value)
{
  if (json_object_array_add (list, value) == 0)
    return RADIO_OK;
  json_object_put (value);
  return no_memory ();
}

static enum radio_status
add_head (struct json_object *document, const char *node_type)
{
  RD_TRY (add (document, "zarr_format", json_object_new_int (3)));
  return add (document, "node_type", json_object_new_string (node_type));
}

static enum radio_status
add_shape (struct json_object *object, const char *member, size_t rank,
           const uint64_t *shape)
{
  struct json_object *list = json_object_new_array ();

  RD_TRY (add (object, member, list));
  for (size_t i = 0; i < rank; i++) {
    struct json_object *size = json_object_new_uint64 (shape[i]);
    if (size == NULL)
      return no_memory ();
    RD_TRY (append (list, size));
  }
  return RADIO_OK;
}

/* An extension point's object; its configuration is left to the caller. */
static enum radio_status
add_named (struct json_object *document, const char *member,
           const char *name, struct json_object **configuration)
{
  struct json_object *point = json_object_new_object ();

  RD_TRY (add (document, member, point));
  RD_TRY (add (point, "name", json_object_new_string (name)));
  *configuration = json_object_new_object ();
  return add (point, "configuration", *configuration);
}

static enum radio_status
add_grid_and_keys (struct json_object *document,
                   const struct rd_array_doc *doc)
{
  struct json_object *configuration;
  const char separator[2] = { doc->separator };

  RD_TRY (add_named (document, "chunk_grid", "regular", &configuration));
  RD_TRY (add_shape (configuration, "chunk_shape", doc->rank,
                     doc->chunk_shape));
  RD_TRY (add_named (document, "chunk_key_encoding",
                     doc->keys_v2 ? "v2" : "default", &configuration));
  return add (configuration, "separator",
              json_object_new_string (separator));
}

static enum radio_status spell_out (struct json_object *codecs);

/* The lists within a codec's configuration. */
static enum radio_status
spell_out_inner (struct json_object *codec)
{
  static const char *const members[] = { "codecs", "index_codecs" };
  struct json_object *configuration = rd_json_member (codec,
                                                      "configuration");

  for (size_t i = 0; i < 2; i++) {
    struct json_object *list = rd_json_member (configuration, members[i]);
    if (json_object_is_type (list, json_type_array))
      RD_TRY (spell_out (list));
  }
  return RADIO_OK;
}

/* Make objects of codecs that are given as a bare name.  The depth was
 * bounded when the list was parsed. */
static enum radio_status
spell_out (struct json_object *codecs)
{
  for (size_t i = 0; i < json_object_array_length (codecs); i++) {
    struct json_object *codec = json_object_array_get_idx (codecs, i);
    if (json_object_is_type (codec, json_type_object))
      RD_TRY (spell_out_inner (codec));
    if (!json_object_is_type (codec, json_type_string))
      continue;
    JSON struct json_object *object = json_object_new_object ();
    RD_TRY (add (object, "name", json_object_get (codec)));
    if (json_object_array_put_idx (codecs, i, object) != 0)
      return no_memory ();
    object = NULL;
  }
  return RADIO_OK;
}

static enum radio_status
add_codecs (struct json_object *document, struct json_object *codecs)
{
  struct json_object *copy = NULL;

  if (json_object_deep_copy (codecs, &copy, NULL) != 0)
    return no_memory ();
  RD_TRY (add (document, "codecs", copy));
  return spell_out (copy);
}

static enum radio_status
add_dimension_names (struct json_object *document,
                     const struct rd_array_doc *doc)
{
  struct json_object *list = json_object_new_array ();

  RD_TRY (add (document, "dimension_names", list));
  for (size_t i = 0; i < doc->rank; i++) {
    const char *text = doc->dimension_names[i];
    struct json_object *name = text ? json_object_new_string (text) : NULL;
    if (text && name == NULL)
      return no_memory ();
    RD_TRY (append (list, name));
  }
  return RADIO_OK;
}

/* Every group and array is written with its attributes, be they none. */
static enum radio_status
add_attributes (struct json_object *document, struct json_object *attributes)
{
  return add (document, "attributes",
              attributes ? json_object_get (attributes)
                         : json_object_new_object ());
}

enum radio_status
rd_array_doc_write (const struct rd_array_doc *doc,
                    struct json_object **document)
{
  JSON struct json_object *made = json_object_new_object ();
  struct json_object *fill = NULL;
  char name[24];

  RD_TRY (add_head (made, "array"));
  RD_TRY (add_shape (made, "shape", doc->rank, doc->shape));
  RD_TRY (add (made, "data_type",
               json_object_new_string (rd_type_name (&doc->type, name))));
  RD_TRY (add_grid_and_keys (made, doc));
  RD_TRY (rd_fill_write (&doc->type, doc->fill, &fill));
  RD_TRY (add (made, "fill_value", fill));
  RD_TRY (add_codecs (made, doc->codecs));
  RD_TRY (add_attributes (made, doc->attributes));
  if (doc->has_dimension_names)
    RD_TRY (add_dimension_names (made, doc));
  *document = RD_STEAL (made);
  return RADIO_OK;
}

/* As zarr-python reads it: readers that do not know it may go on. */
static enum radio_status
add_consolidated (struct json_object *document,
                  struct json_object *consolidated)
{
  struct json_object *member = json_object_new_object ();

  RD_TRY (add (document, "consolidated_metadata", member));
  RD_TRY (add (member, "kind", json_object_new_string ("inline")));
  RD_TRY (add (member, "must_understand", json_object_new_boolean (0)));
  return add (member, "metadata", json_object_get (consolidated));
}

enum radio_status
rd_group_doc_write (struct json_object *attributes,
                    struct json_object *consolidated,
                    struct json_object **document)
{
  JSON struct json_object *made = json_object_new_object ();

  RD_TRY (add_head (made, "group"));
  RD_TRY (add_attributes (made, attributes));
  if (consolidated)
    RD_TRY (add_consolidated (made, consolidated));
  *document = RD_STEAL (made);
  return RADIO_OK;
}
