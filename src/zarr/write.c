/* SPDX-License-Identifier: MIT */
/* Writing documents, with members in the order that people expect, and in
 * the forms that readers of Zarr 3.0 accept: extension points are objects. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/base/json-make.h"
#include "src/zarr/document.h"

static void
add_head (struct rd_json_make *make, struct json_object *document,
          const char *node_type)
{
  rd_json_add (make, document, "zarr_format", json_object_new_int (3));
  rd_json_add_string (make, document, "node_type", node_type);
}

/* Adds an extension point and returns its configuration. */
static struct json_object *
add_named (struct rd_json_make *make, struct json_object *document,
           const char *member, const char *name)
{
  struct json_object *point = rd_json_add_object (make, document, member);

  rd_json_add_string (make, point, "name", name);
  return rd_json_add_object (make, point, "configuration");
}

/* Replaces codecs that are given as a bare name by objects.  The depth was
 * bounded when the list was parsed. */
static void
spell_out (struct rd_json_make *make, struct json_object *codecs)
{
  static const char *const members[] = { "codecs", "index_codecs" };

  for (size_t i = 0; i < json_object_array_length (codecs); i++) {
    struct json_object *codec = json_object_array_get_idx (codecs, i);
    struct json_object *configuration
      = json_object_is_type (codec, json_type_object)
        ? rd_json_member (codec, "configuration") : NULL;
    for (size_t k = 0; configuration && k < 2; k++) {
      struct json_object *list = rd_json_member (configuration, members[k]);
      if (json_object_is_type (list, json_type_array))
        spell_out (make, list);
    }
    if (!json_object_is_type (codec, json_type_string))
      continue;
    struct json_object *object = json_object_new_object ();
    rd_json_add (make, object, "name", json_object_get (codec));
    if (object && json_object_array_put_idx (codecs, i, object) != 0) {
      json_object_put (object);
      make->failed = true;
    }
  }
}

/* Every group and array is written with its attributes, even without any. */
static void
add_attributes (struct rd_json_make *make, struct json_object *document,
                struct json_object *attributes)
{
  rd_json_add (make, document, "attributes",
               attributes ? json_object_get (attributes)
                          : json_object_new_object ());
}

enum radio_status
rd_array_doc_write (const struct rd_array_doc *doc,
                    struct json_object **document)
{
  struct rd_json_make make = { false };
  struct json_object *fill = NULL, *codecs = NULL;
  const char separator[2] = { doc->separator };
  char name[24];

  RD_TRY (rd_fill_write (&doc->type, doc->fill, &fill));
  struct json_object *made = json_object_new_object ();
  add_head (&make, made, "array");
  rd_json_add (&make, made, "shape",
               rd_json_new_shape (&make, doc->rank, doc->shape));
  rd_json_add_string (&make, made, "data_type",
                      rd_type_name (&doc->type, name));

  struct json_object *to = add_named (&make, made, "chunk_grid", "regular");
  rd_json_add (&make, to, "chunk_shape",
               rd_json_new_shape (&make, doc->rank, doc->chunk_shape));
  to = add_named (&make, made, "chunk_key_encoding",
                  doc->keys_v2 ? "v2" : "default");
  rd_json_add_string (&make, to, "separator", separator);

  rd_json_add (&make, made, "fill_value", fill);
  if (json_object_deep_copy (doc->codecs, &codecs, NULL) == 0)
    spell_out (&make, codecs);
  rd_json_add (&make, made, "codecs", codecs);
  add_attributes (&make, made, doc->attributes);

  if (doc->has_dimension_names) {
    struct json_object *list
      = rd_json_add_list (&make, made, "dimension_names");
    for (size_t i = 0; i < doc->rank && list; i++)
      if (doc->dimension_names[i])
        rd_json_append (&make, list,
                        json_object_new_string (doc->dimension_names[i]));
      else if (json_object_array_add (list, NULL) != 0)
        make.failed = true;
  }
  return rd_json_make_end (&make, made, document);
}

enum radio_status
rd_group_doc_write (struct json_object *attributes,
                    struct json_object *consolidated,
                    struct json_object **document)
{
  struct rd_json_make make = { false };
  struct json_object *made = json_object_new_object ();

  add_head (&make, made, "group");
  add_attributes (&make, made, attributes);
  if (consolidated) {
    /* As zarr-python reads it: other readers may ignore it. */
    struct json_object *member
      = rd_json_add_object (&make, made, "consolidated_metadata");
    rd_json_add_string (&make, member, "kind", "inline");
    rd_json_add (&make, member, "must_understand",
                 json_object_new_boolean (0));
    rd_json_add (&make, member, "metadata",
                 json_object_get (consolidated));
  }
  return rd_json_make_end (&make, made, document);
}
