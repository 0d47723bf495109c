/* SPDX-License-Identifier: MIT */
/* Parsing a volume's attributes: OME-Zarr 0.5's multiscales (the finest
 * level of the first image) and omero's display window, and attributes.radio
 * with the image's header in base64, its source and its tiling. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/base64.h"
#include "src/base/error.h"
#include "src/base/json.h"
#include "src/volume/meta.h"

bool
rd_meta_is_image (struct json_object *attributes)
{
  struct json_object *ome = rd_json_member (attributes, "ome");
  struct json_object *radio = rd_json_member (attributes, "radio");
  return json_object_is_type (rd_json_member (ome, "multiscales"),
                              json_type_array)
         || rd_json_member (radio, "level") != NULL;
}

static enum radio_status
copy_string (const char *text, char **copy)
{
  *copy = rd_strdup (text);
  return *copy ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

/* *text is the member's string, or `absent' if there is no such member. */
static enum radio_status
optional_string (struct json_object *in, const char *member,
                 const char *where, const char *absent, const char **text)
{
  *text = absent;
  if (rd_json_member (in, member) == NULL)
    return RADIO_OK;
  return rd_json_string (in, member, where, text);
}

static enum radio_status
as_number (struct json_object *value, const char *name, const char *where,
           double *number)
{
  if (!json_object_is_type (value, json_type_double)
      && !json_object_is_type (value, json_type_int))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is not a number", where,
                    name);
  *number = json_object_get_double (value);
  if (!isfinite (*number))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is not finite", where, name);
  return RADIO_OK;
}

/* An axis gets one letter: t and c by its type, a space axis by its name if
 * it is x, y or z.  Other names are identified by their position, the last
 * one being x. */
static enum radio_status
parse_axis (struct json_object *axis, size_t i, size_t rank,
            const char *where, struct rd_volume_meta *meta)
{
  const char *name, *type, *unit, *value;
  size_t nafter = rank - 1 - i;
  if (!json_object_is_type (axis, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: axes[%zu] is not an object",
                    where, i);
  RD_TRY (rd_json_string (axis, "name", where, &name));
  RD_TRY (optional_string (axis, "type", where, NULL, &type));
  int lower = tolower ((unsigned char) name[0]);
  bool is_xyz = name[0] && !name[1] && strchr ("xyz", lower);
  char letter = 'c';
  if (type && strcmp (type, "time") == 0)
    letter = 't';
  else if (type && strcmp (type, "space") == 0)
    letter = is_xyz ? (char) lower : nafter < 3 ? "xyz"[nafter] : '?';
  else if (type == NULL && (is_xyz || strcmp (name, "t") == 0))
    letter = (char) lower;
  meta->axes[i] = letter;

  RD_TRY (optional_string (axis, "unit", where, NULL, &unit));
  char **to = letter == 't' ? &meta->time_unit : &meta->space_unit;
  if (unit && letter != 'c' && *to == NULL)
    RD_TRY (copy_string (unit, to));
  struct json_object *orientation = rd_json_member (axis, "orientation");
  if (orientation == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (axis, "orientation", where, &orientation));
  RD_TRY (rd_json_string (orientation, "value", where, &value));
  return copy_string (value, &meta->orientation[i]);
}

static enum radio_status
parse_axes (struct json_object *image, const char *where,
            struct rd_volume_meta *meta)
{
  struct json_object *axes;
  RD_TRY (rd_json_array (image, "axes", where, &axes));
  size_t rank = json_object_array_length (axes);
  if (rank < 2 || rank > 5)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: axes has %zu entries, not 2 to 5",
                    where, rank);
  for (size_t i = 0; i < rank; i++)
    RD_TRY (parse_axis (json_object_array_get_idx (axes, i), i, rank, where,
                        meta));
  /* A 2-D image lacks one axis of space. */
  size_t nspace = 0;
  bool is_volume = true;
  for (const char *p = "zyxtc"; *p; p++) {
    const char *found = strchr (meta->axes, *p);
    nspace += found && *p != 't' && *p != 'c';
    is_volume = is_volume && !(found && strchr (found + 1, *p));
  }
  if (!is_volume || nspace < 2)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: axes \"%s\" are not a volume's: at least two of z, "
                    "y and x, and each of z, y, x, t and c once at most",
                    where, meta->axes);
  return RADIO_OK;
}

/* Apply a list of transformations after those that meta holds already.  OME
 * allows a scale, and a translation after it: what another order means is left
 * open. */
static enum radio_status
apply_transforms (struct json_object *in, const char *where,
                  struct rd_volume_meta *meta)
{
  struct json_object *transforms;
  size_t rank = strlen (meta->axes);
  size_t nscales = 0, ntranslations = 0;
  bool is_early = false;
  RD_TRY (rd_json_array (in, "coordinateTransformations", where,
                         &transforms));
  for (size_t t = 0; t < json_object_array_length (transforms); t++) {
    struct json_object *transform = json_object_array_get_idx (transforms, t);
    const char *type;
    double vector[RADIO_MAX_RANK];
    struct json_object *list;
    if (!json_object_is_type (transform, json_type_object))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: coordinateTransformations "
                      "holds something that is not an object", where);
    RD_TRY (rd_json_string (transform, "type", where, &type));
    bool is_scale = strcmp (type, "scale") == 0;
    if (!is_scale && strcmp (type, "translation") != 0)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: coordinateTransformations of type \"%s\"", where,
                      type);
    is_early = is_early || (!is_scale && nscales == 0);
    nscales += is_scale;
    ntranslations += !is_scale;
    RD_TRY (rd_json_array (transform, type, where, &list));
    if (json_object_array_length (list) != rank)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: %s has %zu numbers for %zu axes", where, type,
                      json_object_array_length (list), rank);
    for (size_t i = 0; i < rank; i++)
      RD_TRY (as_number (json_object_array_get_idx (list, i), type, where,
                         &vector[i]));
    for (size_t i = 0; i < rank; i++) {
      if (is_scale && vector[i] == 0)
        return rd_fail (RADIO_ERROR_FORMAT, "%s: scale of axis %zu is 0",
                        where, i);
      meta->scale[i] *= is_scale ? vector[i] : 1;
      meta->translation[i] = is_scale ? meta->translation[i] * vector[i]
                                      : meta->translation[i] + vector[i];
    }
  }
  if (nscales != 1)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: coordinateTransformations has "
                    "%zu scales, not one", where, nscales);
  if (ntranslations > 1)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: coordinateTransformations has "
                    "%zu translations, not one at most", where,
                    ntranslations);
  if (is_early)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: coordinateTransformations has "
                    "a translation before its scale", where);
  return RADIO_OK;
}

/* Keep the path of the finest level, which must be relative and stay within
 * the image. */
static enum radio_status
set_level_path (const char *path, const char *member, const char *where,
                struct rd_volume_meta *meta)
{
  bool good = path[0] != '\0';
  for (const char *p = path; good;) {
    size_t n = strcspn (p, "/");
    good = n > 0 && !(n == 1 && p[0] == '.')
           && !(n == 2 && p[0] == '.' && p[1] == '.');
    if (p[n] == '\0')
      break;
    p += n + 1;
  }
  if (good)
    return copy_string (path, &meta->level_path);
  return rd_fail (RADIO_ERROR_FORMAT, "%s: %s \"%s\" is not a path below "
                  "the image", where, member, path);
}

/* Parse the first image and its first dataset, which is the finest level. */
static enum radio_status
parse_ome (struct json_object *ome, const char *where,
           struct rd_volume_meta *meta)
{
  struct json_object *multiscales, *datasets;
  struct json_object *omero, *channels, *window;
  const char *version, *path;
  RD_TRY (optional_string (ome, "version", where, NULL, &version));
  if (version && strncmp (version, "0.5", 3) != 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: OME-Zarr version \"%s\"; this library reads 0.5",
                    where, version);
  RD_TRY (rd_json_array (ome, "multiscales", where, &multiscales));
  struct json_object *image = json_object_array_get_idx (multiscales, 0);
  if (!json_object_is_type (image, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: multiscales[0] is not an object", where);
  RD_TRY (parse_axes (image, where, meta));

  RD_TRY (rd_json_array (image, "datasets", where, &datasets));
  struct json_object *finest = json_object_array_get_idx (datasets, 0);
  if (!json_object_is_type (finest, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: datasets[0] is not an object",
                    where);
  RD_TRY (rd_json_string (finest, "path", where, &path));
  RD_TRY (set_level_path (path, "datasets[0].path", where, meta));
  RD_TRY (apply_transforms (finest, where, meta));
  if (rd_json_member (image, "coordinateTransformations"))
    RD_TRY (apply_transforms (image, where, meta));

  meta->has_image_label = rd_json_member (ome, "image-label") != NULL;

  /* The display window of the first channel. */
  if (rd_json_member (ome, "omero") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (ome, "omero", where, &omero));
  RD_TRY (rd_json_array (omero, "channels", where, &channels));
  for (size_t i = 0; i < json_object_array_length (channels); i++) {
    struct json_object *channel = json_object_array_get_idx (channels, i);
    if (!json_object_is_type (channel, json_type_object))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: omero.channels[%zu] is not an "
                      "object", where, i);
    const char *color;
    RD_TRY (optional_string (channel, "color", where, NULL, &color));
  }
  struct json_object *first = json_object_array_get_idx (channels, 0);
  if (rd_json_member (first, "window") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (first, "window", where, &window));
  RD_TRY (as_number (rd_json_member (window, "start"), "window.start", where,
                     &meta->window_start));
  RD_TRY (as_number (rd_json_member (window, "end"), "window.end", where,
                     &meta->window_end));
  meta->has_window = true;
  return RADIO_OK;
}

/* Take an image that OME-Zarr cannot describe from its header alone. */
static enum radio_status
set_plain (struct json_object *radio, const char *where,
           struct rd_volume_meta *meta)
{
  const char *level;
  RD_TRY (rd_json_string (radio, "level", where, &level));
  RD_TRY (set_level_path (level, "radio.level", where, meta));
  if (!meta->has_nifti)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: attributes.radio.nifti is "
                    "missing, and there is no attributes.ome", where);
  memcpy (meta->axes, meta->nifti.axes, strlen (meta->nifti.axes) + 1);
  return RADIO_OK;
}

/* Copy a string member, "" if it is missing. */
static enum radio_status
copy_member (struct json_object *in, const char *member, const char *where,
             char **copy)
{
  const char *text;
  RD_TRY (optional_string (in, member, where, "", &text));
  return copy_string (text, copy);
}

static enum radio_status
parse_radio (struct json_object *radio, const char *where,
             struct rd_volume_meta *meta)
{
  const char *text;
  struct json_object *source = NULL, *derived = NULL;
  if (rd_json_member (radio, "nifti")) {
    RD_TRY (rd_json_string (radio, "nifti", where, &text));
    enum radio_status status
      = rd_base64_decode (text, strlen (text), &meta->prefix);
    if (status != RADIO_OK)
      return rd_fail_in (status, "%s: attributes.radio.nifti", where);
    RD_TRY (rd_nifti_parse (meta->prefix.data, meta->prefix.nbytes, where,
                            &meta->nifti));
    meta->has_nifti = true;
  }
  if (rd_json_member (radio, "source"))
    RD_TRY (rd_json_object (radio, "source", where, &source));
  RD_TRY (copy_member (source, "name", where, &meta->source_name));
  RD_TRY (copy_member (source, "sha256", where, &meta->source_sha256));
  struct json_object *nbytes = rd_json_member (source, "nbytes");
  if (nbytes)
    RD_TRY (rd_json_u64 (nbytes, "source.nbytes", where,
                         &meta->source_nbytes));
  if (rd_json_member (radio, "derived")) {
    RD_TRY (rd_json_object (radio, "derived", where, &derived));
    RD_TRY (copy_member (derived, "pipeline", where,
                         &meta->derived_pipeline));
    RD_TRY (copy_member (derived, "source_sha256", where,
                         &meta->derived_sha256));
    if (rd_json_member (derived, "named_sha256"))
      RD_TRY (copy_member (derived, "named_sha256", where,
                           &meta->named_sha256));
  }
  RD_TRY (copy_member (radio, "tiling", where, &meta->tiling));
  if (rd_json_member (radio, "tile_lengths"))
    RD_TRY (copy_member (radio, "tile_lengths", where, &meta->tile_lengths));
  return copy_member (radio, "codec", where, &meta->codec);
}

enum radio_status
rd_meta_parse (const struct rd_group_doc *group, const char *where,
               struct rd_volume_meta *meta)
{
  RD_SCOPE ("parse volume", RD_IN_METADATA);
  struct json_object *attributes = group->attributes, *ome, *radio = NULL;
  bool is_radio = false;
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    meta->scale[i] = 1;
  RD_TRY (rd_store_check_version (attributes, where, &is_radio));
  if (!rd_meta_is_image (attributes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not an OME-Zarr image: it has "
                    "no list attributes.ome.multiscales", where);
  if (is_radio) {
    RD_TRY (rd_json_object (attributes, "radio", where, &radio));
    RD_TRY (parse_radio (radio, where, meta));
  }
  meta->header_key = rd_header_document_key (
    rd_json_member (group->consolidated, RD_HEADER_NAME));
  if (rd_json_member (attributes, "ome") == NULL)
    return set_plain (radio, where, meta);
  RD_TRY (rd_json_object (attributes, "ome", where, &ome));
  return parse_ome (ome, where, meta);
}

void
rd_meta_free (struct rd_volume_meta *meta)
{
  rd_free (meta->level_path);
  rd_free (meta->space_unit);
  rd_free (meta->time_unit);
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    rd_free (meta->orientation[i]);
  rd_buffer_free (&meta->prefix);
  rd_free (meta->source_name);
  rd_free (meta->source_sha256);
  rd_free (meta->derived_pipeline);
  rd_free (meta->derived_sha256);
  rd_free (meta->named_sha256);
  rd_free (meta->tiling);
  rd_free (meta->tile_lengths);
  rd_free (meta->codec);
  *meta = (struct rd_volume_meta) { 0 };
}
