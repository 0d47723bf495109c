/* SPDX-License-Identifier: MIT */
/* Reading attributes.ome: OME-Zarr 0.5's multiscales, of which the finest
 * level of the first image counts, and omero's display window. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/volume/meta.h"

bool
rd_meta_is_image (struct json_object *attributes)
{
  struct json_object *ome = rd_json_member (attributes, "ome");
  return json_object_is_type (rd_json_member (ome, "multiscales"),
                              json_type_array);
}

static enum radio_status
copy_string (const char *text, char **copy)
{
  *copy = rd_strdup (text);
  return *copy ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

/* A member that may be missing but not be anything else than a string. */
static enum radio_status
optional_string (struct json_object *in, const char *member,
                 const char *where, const char **text)
{
  *text = NULL;
  if (rd_json_member (in, member) == NULL)
    return RADIO_OK;
  return rd_json_string (in, member, where, text);
}

static enum radio_status
as_number (struct json_object *value, const char *what, const char *where,
           double *number)
{
  if (!json_object_is_type (value, json_type_double)
      && !json_object_is_type (value, json_type_int))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is not a number", where,
                    what);
  *number = json_object_get_double (value);
  if (!isfinite (*number))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is not finite", where, what);
  return RADIO_OK;
}

/* One letter an axis: t and c by their type, space axes by their name where
 * it is x, y or z.  Other names are told apart by their place, the last one
 * being x. */
static enum radio_status
axis_letter (struct json_object *axis, size_t nafter, const char *where,
             char *letter)
{
  const char *name, *type;
  RD_TRY (rd_json_string (axis, "name", where, &name));
  RD_TRY (optional_string (axis, "type", where, &type));
  int lower = tolower ((unsigned char) name[0]);
  bool is_xyz = name[0] && !name[1] && strchr ("xyz", lower);
  if (type && strcmp (type, "time") == 0)
    *letter = 't';
  else if (type && strcmp (type, "space") == 0)
    *letter = is_xyz ? (char) lower : nafter < 3 ? "xyz"[nafter] : '?';
  else if (type == NULL && (is_xyz || strcmp (name, "t") == 0))
    *letter = (char) lower;
  else
    *letter = 'c';
  return RADIO_OK;
}

static enum radio_status
parse_orientation (struct json_object *axis, const char *where,
                   char **orientation)
{
  struct json_object *object = rd_json_member (axis, "orientation");
  const char *value;
  if (object == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (axis, "orientation", where, &object));
  RD_TRY (rd_json_string (object, "value", where, &value));
  return copy_string (value, orientation);
}

static enum radio_status
parse_axis (struct json_object *axis, size_t i, size_t rank,
            const char *where, struct rd_volume_meta *meta)
{
  const char *unit;
  if (!json_object_is_type (axis, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: axes[%zu] is not an object",
                    where, i);
  RD_TRY (axis_letter (axis, rank - 1 - i, where, &meta->axes[i]));
  RD_TRY (optional_string (axis, "unit", where, &unit));
  char letter = meta->axes[i];
  char **to = letter == 't' ? &meta->time_unit : &meta->space_unit;
  if (unit && letter != 'c' && *to == NULL)
    RD_TRY (copy_string (unit, to));
  return parse_orientation (axis, where, &meta->orientation[i]);
}

/* A volume has z, y and x once each, and t and c once at most. */
static enum radio_status
check_axes (const char *axes, const char *where)
{
  for (const char *p = "zyxtc"; *p; p++) {
    const char *found = strchr (axes, *p);
    bool is_space = p[0] != 't' && p[0] != 'c';
    if (found ? strchr (found + 1, *p) != NULL : is_space)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: axes \"%s\" are not a volume's: z, y and x once "
                      "each, t and c once at most", where, axes);
  }
  return RADIO_OK;
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
  return check_axes (meta->axes, where);
}

/* The numbers of a scale or translation, one an axis. */
static enum radio_status
parse_vector (struct json_object *transform, const char *member, size_t rank,
              const char *where, double *vector)
{
  struct json_object *list;
  RD_TRY (rd_json_array (transform, member, where, &list));
  if (json_object_array_length (list) != rank)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: %s has %zu numbers for %zu axes", where, member,
                    json_object_array_length (list), rank);
  for (size_t i = 0; i < rank; i++)
    RD_TRY (as_number (json_object_array_get_idx (list, i), member, where,
                       &vector[i]));
  return RADIO_OK;
}

/* One transformation, applied after those that meta holds already. */
static enum radio_status
apply_transform (struct json_object *transform, size_t rank,
                 const char *where, struct rd_volume_meta *meta)
{
  const char *type;
  double vector[RADIO_MAX_RANK];
  if (!json_object_is_type (transform, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: coordinateTransformations "
                    "holds something that is not an object", where);
  RD_TRY (rd_json_string (transform, "type", where, &type));
  bool is_scale = strcmp (type, "scale") == 0;
  if (!is_scale && strcmp (type, "translation") != 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: coordinateTransformations of type \"%s\"", where,
                    type);
  RD_TRY (parse_vector (transform, type, rank, where, vector));
  for (size_t i = 0; i < rank; i++) {
    if (is_scale && vector[i] == 0)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: scale of axis %zu is 0", where,
                      i);
    meta->scale[i] *= is_scale ? vector[i] : 1;
    meta->translation[i] = is_scale ? meta->translation[i] * vector[i]
                                    : meta->translation[i] + vector[i];
  }
  return RADIO_OK;
}

static enum radio_status
apply_transforms (struct json_object *in, const char *where,
                  struct rd_volume_meta *meta)
{
  struct json_object *list;
  RD_TRY (rd_json_array (in, "coordinateTransformations", where, &list));
  size_t rank = strlen (meta->axes);
  for (size_t i = 0; i < json_object_array_length (list); i++)
    RD_TRY (apply_transform (json_object_array_get_idx (list, i), rank,
                             where, meta));
  return RADIO_OK;
}

/* A level lies below its image: no way leads out of it. */
static enum radio_status
check_level_path (const char *path, const char *where)
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
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: datasets[0].path \"%s\" is not a path below the image",
                  where, path);
}

/* The finest level comes first. */
static enum radio_status
parse_dataset (struct json_object *image, const char *where,
               struct rd_volume_meta *meta)
{
  struct json_object *datasets;
  const char *path;
  RD_TRY (rd_json_array (image, "datasets", where, &datasets));
  struct json_object *finest = json_object_array_get_idx (datasets, 0);
  if (!json_object_is_type (finest, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: datasets[0] is not an object",
                    where);
  RD_TRY (rd_json_string (finest, "path", where, &path));
  RD_TRY (check_level_path (path, where));
  RD_TRY (copy_string (path, &meta->level_path));
  RD_TRY (apply_transforms (finest, where, meta));
  if (rd_json_member (image, "coordinateTransformations"))
    RD_TRY (apply_transforms (image, where, meta));
  return RADIO_OK;
}

/* The display window of the first channel. */
static enum radio_status
parse_omero (struct json_object *ome, const char *where,
             struct rd_volume_meta *meta)
{
  struct json_object *omero, *channels, *window;
  if (rd_json_member (ome, "omero") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (ome, "omero", where, &omero));
  RD_TRY (rd_json_array (omero, "channels", where, &channels));
  struct json_object *first = json_object_array_get_idx (channels, 0);
  if (!json_object_is_type (first, json_type_object)
      || rd_json_member (first, "window") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (first, "window", where, &window));
  RD_TRY (as_number (rd_json_member (window, "start"), "window.start", where,
                     &meta->window_start));
  RD_TRY (as_number (rd_json_member (window, "end"), "window.end", where,
                     &meta->window_end));
  meta->has_window = true;
  return RADIO_OK;
}

static enum radio_status
check_version (struct json_object *ome, const char *where)
{
  const char *version;
  RD_TRY (optional_string (ome, "version", where, &version));
  if (version == NULL || strncmp (version, "0.5", 3) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: OME-Zarr version \"%s\"; this library reads 0.5",
                  where, version);
}

enum radio_status
rd_meta_parse_ome (struct json_object *ome, const char *where,
                   struct rd_volume_meta *meta)
{
  struct json_object *multiscales;
  RD_TRY (check_version (ome, where));
  RD_TRY (rd_json_array (ome, "multiscales", where, &multiscales));
  struct json_object *image = json_object_array_get_idx (multiscales, 0);
  if (!json_object_is_type (image, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: multiscales[0] is not an object", where);
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    meta->scale[i] = 1;
  RD_TRY (parse_axes (image, where, meta));
  RD_TRY (parse_dataset (image, where, meta));
  return parse_omero (ome, where, meta);
}
