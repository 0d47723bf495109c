/* SPDX-License-Identifier: MIT */
/* The document of a copy that is not to say where the image is from.  It is
 * made again of the members that radio writes, and of no others. */
#include <config.h>

#include <string.h>

#include "src/base/crc32c.h"
#include "src/base/base64.h"
#include "src/base/json-make.h"
#include "src/base/text.h"
#include "src/operation/pipeline.h"
#include "src/volume/codec.h"
#include "src/volume/copy/copy.h"

/* A member that is kept.  For an object, or each object of a list, those in
 * members are kept; without members it is neither an object nor a list of
 * objects. */
struct member {
  const char *name;                   /* NULL: the last one */
  const struct member *members;
};

#define MEMBERS (const struct member [])

static const struct member multiscales[] = {
  { "axes", MEMBERS {
      { "name", NULL }, { "type", NULL }, { "unit", NULL },
      { "orientation", MEMBERS {
          { "type", NULL }, { "value", NULL }, { NULL, NULL } } },
      { NULL, NULL } } },
  { "datasets", MEMBERS {
      { "path", NULL },
      { "coordinateTransformations", MEMBERS {
          { "type", NULL }, { "scale", NULL }, { "translation", NULL },
          { NULL, NULL } } },
      { NULL, NULL } } },
  { "coordinateTransformations", MEMBERS {
      { "type", NULL }, { "scale", NULL }, { "translation", NULL },
      { NULL, NULL } } },
  { NULL, NULL }
};

static const struct member pictures[] = {
  { "omero", MEMBERS {
      { "channels", MEMBERS {
          { "color", NULL },
          { "window", MEMBERS {
              { "min", NULL }, { "max", NULL }, { "start", NULL },
              { "end", NULL }, { NULL, NULL } } },
          { "active", NULL }, { NULL, NULL } } },
      { NULL, NULL } } },
  { "image-label", MEMBERS {
      { "version", NULL },
      { "colors", MEMBERS {
          { "label-value", NULL }, { "rgba", NULL }, { NULL, NULL } } },
      { "properties", MEMBERS {
          { "label-value", NULL }, { "name", NULL }, { NULL, NULL } } },
      { NULL, NULL } } },
  { NULL, NULL }
};

static void keep (struct rd_json_make *make, struct json_object *from,
                  struct json_object *to, const struct member *members);

/* Returns the part of a value that is kept, which the caller frees; NULL:
 * nothing. */
static struct json_object *
kept (struct rd_json_make *make, struct json_object *value,
      const struct member *members)
{
  if (json_object_is_type (value, json_type_array)) {
    struct json_object *list = json_object_new_array ();
    make->failed |= list == NULL;
    for (size_t i = 0; i < json_object_array_length (value) && list; i++) {
      struct json_object *entry
        = json_object_array_get_idx (value, i);
      /* Lists of lists are in none of these. */
      entry = json_object_is_type (entry, json_type_array)
              ? NULL : kept (make, entry, members);
      if (entry)
        rd_json_append (make, list, entry);
    }
    return list;
  }
  bool is_object = json_object_is_type (value, json_type_object);
  if (value == NULL || is_object != (members != NULL))
    return NULL;
  if (!is_object)
    return json_object_get (value);
  struct json_object *object = json_object_new_object ();
  make->failed |= object == NULL;
  keep (make, value, object, members);
  return object;
}

/* Adds to one object the members of another that are kept. */
static void
keep (struct rd_json_make *make, struct json_object *from,
      struct json_object *to, const struct member *members)
{
  for (; members->name; members++) {
    struct json_object *value
      = kept (make, rd_json_member (from, members->name), members->members);
    if (value)
      rd_json_add (make, to, members->name, value);
  }
}

/* Adds a member without members. */
static void
keep_value (struct rd_json_make *make, struct json_object *from,
            struct json_object *to, const char *name)
{
  const struct member members[] = { { name, NULL }, { NULL, NULL } };
  keep (make, from, to, members);
}

/* Adds OME-Zarr's metadata with the name of the copy. */
static void
add_ome (const struct rd_copy *copy, struct json_object *attributes,
         struct rd_json_make *make, struct json_object *made)
{
  struct json_object *ome = rd_json_member (attributes, "ome");
  struct json_object *images = rd_json_member (ome, "multiscales");
  if (!ome)
    return;
  struct json_object *to = rd_json_add_object (make, made, "ome");
  keep_value (make, ome, to, "version");
  struct json_object *image = json_object_new_object ();
  rd_json_add_string (make, image, "name", rd_base_name (copy->to_path));
  if (json_object_is_type (images, json_type_array))
    keep (make, json_object_array_get_idx (images, 0), image, multiscales);
  rd_json_append (make, rd_json_add_list (make, to, "multiscales"), image);
  keep (make, ome, to, pictures);
}

/* Adds the pipeline of a derived volume, without the names of volumes and files
 * in it: those of masks' collections stay.  An invalid one is left out. */
static enum radio_status
add_pipeline (struct json_object *derived, struct rd_json_make *make,
              struct json_object *to)
{
  struct radio_pipeline *pipeline RD_CLEANUP (rd_cleanup_pipeline) = NULL;
  struct json_object *old = rd_json_member (derived, "pipeline");
  if (!json_object_is_type (old, json_type_string))
    return RADIO_OK;
  enum radio_status status
    = radio_pipeline_parse (json_object_get_string (old), &pipeline);
  if (status != RADIO_OK)
    return status == RADIO_ERROR_MEMORY ? status : RADIO_OK;
  for (size_t i = 0; i < pipeline->n; i++) {
    struct rd_step *step = &pipeline->steps[i];
    bool is_collection = step->operation != RD_OP_LIKE && step->name
                         && strchr (step->name, '/') == NULL;
    if (step->name == NULL || is_collection)
      continue;
    char *removed = rd_strdup ("removed");
    if (!removed)
      return rd_fail_memory (sizeof "removed");
    rd_free (step->name);
    step->name = removed;
  }
  char *text RD_FREE = rd_steps_text (pipeline->steps, pipeline->n);
  if (!text)
    return RADIO_ERROR_MEMORY;
  rd_json_add_string (make, to, "pipeline", text);
  return RADIO_OK;
}

static enum radio_status
add_radio (struct rd_copy *copy, struct json_object *attributes,
           struct rd_json_make *make, struct json_object *made)
{
  struct rd_volume_meta *meta = &copy->volume->meta;
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct json_object *radio = rd_json_member (attributes, "radio");
  struct json_object *to = rd_json_add_object (make, made, "radio");
  struct json_object *source = rd_json_member (radio, "source");
  struct json_object *derived = rd_json_member (radio, "derived");
  size_t nbytes = meta->prefix.nbytes;
  if (meta->has_nifti)
    rd_nifti_strip (&meta->nifti, &meta->prefix, NULL, NULL);
  nbytes -= meta->prefix.nbytes;
  keep_value (make, radio, to, "version");
  keep_value (make, radio, to, "level");
  if (source) {
    struct json_object *blank = rd_json_add_object (make, to, "source");
    rd_json_add_string (make, blank, "name", "");
    rd_json_add_u64 (make, blank, "nbytes",
                     meta->source_nbytes > nbytes ? meta->source_nbytes - nbytes
                                                  : 0);
    rd_json_add_string (make, blank, "sha256", "");
    keep_value (make, source, blank, "trailing_nbytes");
    rd_json_add (make, blank, "stripped", json_object_new_boolean (true));
  }
  if (derived) {
    struct json_object *blank = rd_json_add_object (make, to, "derived");
    RD_TRY (add_pipeline (derived, make, blank));
    rd_json_add_string (make, blank, "source_sha256", "");
  }
  keep_value (make, radio, to, "tiling");
  keep_value (make, radio, to, "codec");
  keep_value (make, radio, to, "tile_lengths");
  if (!meta->has_nifti)
    return RADIO_OK;
  RD_TRY (rd_base64_encode (meta->prefix.data, meta->prefix.nbytes, &text));
  rd_json_add (make, to, "nifti",
               json_object_new_string_len ((const char *) text.data,
                                           (int) text.nbytes));
  rd_json_add_u64 (make, to, "nifti_crc32c",
                   rd_crc32c (0, text.data, text.nbytes));
  return RADIO_OK;
}

/* Adds the documents of the levels, and of the header's array. */
static enum radio_status
add_documents (const struct rd_copy *copy, struct rd_json_make *make,
               struct json_object *made)
{
  const struct rd_volume_meta *meta = &copy->volume->meta;
  struct json_object *header = NULL;
  struct json_object *documents = rd_json_member (
    rd_json_member (copy->document, "consolidated_metadata"), "metadata");
  for (size_t i = 0; i < copy->nlevels; i++) {
    const char *name = copy->levels[i].name;
    struct json_object *document = rd_json_member (documents, name);
    if (document)
      rd_json_add (make, made, name, json_object_get (document));
  }
  if (!meta->has_nifti || meta->header_key == RD_HEADER_KEY_NONE)
    return RADIO_OK;
  RD_TRY (rd_header_document (meta->prefix.nbytes, meta->header_key, &header));
  rd_json_add (make, made, RD_HEADER_NAME, header);
  return RADIO_OK;
}

/* Returns whether a value has a member must_understand that is false, at any
 * depth: no other members are accepted that are not Zarr's own. */
static bool
has_unknown (struct json_object *value)
{
  bool has = false;
  if (json_object_is_type (value, json_type_array))
    for (size_t i = 0; i < json_object_array_length (value) && !has; i++)
      has = has_unknown (json_object_array_get_idx (value, i));
  if (!json_object_is_type (value, json_type_object))
    return has;
  struct json_object *must = rd_json_member (value, "must_understand");
  if (json_object_is_type (must, json_type_boolean)
      && !json_object_get_boolean (must))
    return true;
  json_object_object_foreach (value, name, member) {
    (void) name;
    has = has || has_unknown (member);
  }
  return has;
}

/* Returns whether axes have other names than radio gives them. */
static bool
has_other_names (const struct rd_array_doc *doc, const char *axes)
{
  for (size_t i = 0; i < doc->rank && doc->has_dimension_names; i++) {
    const char *name = doc->dimension_names[i];
    if (name && (i >= strlen (axes) || name[0] != axes[i] || name[1]))
      return true;
  }
  return false;
}

/* The documents of levels are copied as they are. */
static enum radio_status
check_levels (const struct rd_copy *copy)
{
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
    const struct rd_copy_level *level = &copy->levels[i];
    const struct rd_array_doc *doc = level->array->doc;
    RD_TRY (rd_json_parse ((const char *) level->text.data,
                           level->text.nbytes, level->name, &document));
    bool has_attributes
      = doc->attributes && json_object_object_length (doc->attributes) > 0;
    const char *what = has_attributes ? "attributes"
      : has_unknown (document) ? "members that are not Zarr's"
      : has_other_names (doc, copy->volume->meta.axes) ? "names of axes"
      : NULL;
    if (what)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: has %s, which radio "
                      "did not write and does not look into; remove them "
                      "first", copy->path, level->name, what);
  }
  return RADIO_OK;
}

enum radio_status
rd_copy_strip (struct rd_copy *copy)
{
  struct json_object *made RD_CLEANUP (rd_cleanup_json)
    = json_object_new_object ();
  struct json_object *documents RD_CLEANUP (rd_cleanup_json)
    = json_object_new_object ();
  struct json_object *attributes RD_CLEANUP (rd_cleanup_json) = NULL;
  struct json_object *consolidated RD_CLEANUP (rd_cleanup_json) = NULL;
  struct json_object *document;
  struct rd_json_make make = { made == NULL || documents == NULL };
  struct json_object *old = rd_json_member (copy->document, "attributes");
  struct rd_volume_meta *meta = &copy->volume->meta;
  RD_TRY (check_levels (copy));
  add_ome (copy, old, &make, made);
  RD_TRY (add_radio (copy, old, &make, made));
  RD_TRY (rd_json_make_end (&make, RD_STEAL (made), &attributes));
  RD_TRY (add_documents (copy, &make, documents));
  RD_TRY (rd_json_make_end (&make, RD_STEAL (documents), &consolidated));
  RD_TRY (rd_group_doc_write (attributes, consolidated, &document));
  json_object_put (copy->document);
  copy->document = document;
  if (meta->source_sha256)
    *meta->source_sha256 = '\0';
  return RADIO_OK;
}
