/* SPDX-License-Identifier: MIT */
/* The document of a copy that is not to say where the image is from.  It is
 * made anew of the members that radio writes, and of no others. */
#include <config.h>

#include <string.h>

#include "src/base/crc32c.h"
#include "src/base/base64.h"
#include "src/base/json-make.h"
#include "src/volume/codec.h"
#include "src/volume/copy/copy.h"

/* Adds members that an object has to another one. */
static void
keep (struct rd_json_make *make, struct json_object *from,
      struct json_object *to, const char *const *members, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    struct json_object *value = rd_json_member (from, members[i]);
    if (value)
      rd_json_add (make, to, members[i], json_object_get (value));
  }
}

#define KEEP(make, from, to, ...)                                       \
  do {                                                                  \
    static const char *const members[] = { __VA_ARGS__ };               \
    keep (make, from, to, members, sizeof members / sizeof *members);   \
  } while (false)

/* Adds OME-Zarr's metadata with the name of the copy. */
static void
add_ome (const struct rd_copy *copy, struct json_object *attributes,
         struct rd_json_make *make, struct json_object *made)
{
  struct json_object *ome = rd_json_member (attributes, "ome");
  struct json_object *images = rd_json_member (ome, "multiscales");
  const char *slash = strrchr (copy->to_path, '/');
  if (!ome)
    return;
  struct json_object *to = rd_json_add_object (make, made, "ome");
  KEEP (make, ome, to, "version");
  struct json_object *image = json_object_new_object ();
  rd_json_add_string (make, image, "name",
                      slash ? slash + 1 : copy->to_path);
  if (json_object_is_type (images, json_type_array))
    KEEP (make, json_object_array_get_idx (images, 0), image, "axes",
          "datasets", "coordinateTransformations");
  rd_json_append (make, rd_json_add_list (make, to, "multiscales"), image);
  KEEP (make, ome, to, "omero", "image-label");
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
  KEEP (make, radio, to, "version", "level");
  if (source) {
    struct json_object *blank = rd_json_add_object (make, to, "source");
    rd_json_add_string (make, blank, "name", "");
    rd_json_add_u64 (make, blank, "nbytes",
                     meta->source_nbytes > nbytes ? meta->source_nbytes - nbytes
                                                  : 0);
    rd_json_add_string (make, blank, "sha256", "");
    KEEP (make, source, blank, "trailing_nbytes");
    rd_json_add (make, blank, "stripped", json_object_new_boolean (true));
  }
  if (derived) {
    struct json_object *blank = rd_json_add_object (make, to, "derived");
    KEEP (make, derived, blank, "pipeline");
    rd_json_add_string (make, blank, "source_sha256", "");
  }
  KEEP (make, radio, to, "tiling", "codec", "tile_lengths");
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
    keep (make, documents, made, &name, 1);
  }
  if (!meta->has_nifti || meta->header_key == RD_HEADER_KEY_NONE)
    return RADIO_OK;
  RD_TRY (rd_header_document (meta->prefix.nbytes, meta->header_key, &header));
  rd_json_add (make, made, RD_HEADER_NAME, header);
  return RADIO_OK;
}

/* The documents of levels are copied as they are. */
static enum radio_status
check_levels (const struct rd_copy *copy)
{
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct json_object *attributes
      = copy->levels[i].array->doc->attributes;
    if (attributes && json_object_object_length (attributes) > 0)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: has attributes, which "
                      "radio did not write and does not look into; remove "
                      "them first", copy->path, copy->levels[i].name);
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
