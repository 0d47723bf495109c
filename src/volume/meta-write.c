/* SPDX-License-Identifier: MIT */
/* Making a volume's group document, as yaozarrs and ome-zarr-models take it:
 * OME-Zarr 0.5 with RFC-4's orientation, radio's own members, and the
 * documents of the arrays below it (inline consolidated metadata). */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/base64.h"
#include "src/base/crc32c.h"
#include "src/base/error.h"
#include "src/array/context.h"
#include "src/base/json-make.h"
#include "src/base/text.h"
#include "src/volume/meta.h"
#include "src/zarr/document.h"

/* More channels than this are no picture: no display settings for them. */
#define OMERO_MAX_CHANNELS 64

static const struct {
  char letter;
  const char *words;
} orientations[] = {
  { 'R', "left-to-right" },
  { 'L', "right-to-left" },
  { 'A', "posterior-to-anterior" },
  { 'P', "anterior-to-posterior" },
  { 'S', "inferior-to-superior" },
  { 'I', "superior-to-inferior" },
};

#define NORIENTATIONS (sizeof orientations / sizeof orientations[0])

/* RFC-4's value for a direction. */
static const char *
orientation_words (char letter)
{
  for (size_t i = 0; i < NORIENTATIONS; i++)
    if (orientations[i].letter == letter)
      return orientations[i].words;
  return NULL;
}

char
rd_orientation_letter (const char *words)
{
  for (size_t i = 0; i < NORIENTATIONS; i++)
    if (strcmp (orientations[i].words, words) == 0)
      return orientations[i].letter;
  return 0;
}

void
rd_meta_scale (const struct rd_nifti *nifti, double scale[RADIO_MAX_RANK])
{
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = rd_nifti_axis (nifti, i);
    scale[i] = axis > 0 ? rd_nifti_spacing (nifti, axis) : 1;
  }
}

static void
add_axes (struct rd_json_make *make, struct json_object *image,
          const struct rd_nifti *nifti)
{
  static const char xyz[] = "xyz";
  double affine[3][4];
  const char *source;
  char letters[4];
  size_t axis_of[3];
  rd_nifti_affine (nifti, affine, &source);
  bool is_oriented = rd_orientation (affine, letters, axis_of)
                     && strcmp (source, "pixdim") != 0;
  struct json_object *axes = rd_json_add_list (make, image, "axes");
  for (const char *p = nifti->axes; *p; p++) {
    struct json_object *axis = json_object_new_object ();
    rd_json_add (make, axis, "name", json_object_new_string_len (p, 1));
    rd_json_add_string (make, axis, "type",
                        *p == 't' ? "time" : *p == 'c' ? "channel" : "space");

    /* OME's list of units has lengths and times only. */
    const char *unit = *p == 't' ? rd_nifti_time_unit (nifti)
                       : *p == 'c' ? "" : rd_nifti_space_unit (nifti);
    if (strstr (unit, *p == 't' ? "second" : "meter"))
      rd_json_add_string (make, axis, "unit", unit);

    /* The direction in which an axis increases, if the header says: a bare
     * pixdim and a singular affine do not. */
    const char *place = strchr (xyz, *p);
    if (place && is_oriented) {
      struct json_object *to = rd_json_add_object (make, axis, "orientation");
      rd_json_add_string (make, to, "type", "anatomical");
      rd_json_add_string (make, to, "value",
                          orientation_words (letters[place - xyz]));
    }
    rd_json_append (make, axes, axis);
  }
}

static void
add_dataset (struct rd_json_make *make, struct json_object *image,
             const struct rd_meta_input *meta)
{
  double scale[RADIO_MAX_RANK];
  rd_meta_scale (meta->nifti, scale);
  struct json_object *dataset = json_object_new_object ();
  rd_json_add_string (make, dataset, "path", meta->level_path);
  struct json_object *transforms
    = rd_json_add_list (make, dataset, "coordinateTransformations");
  struct json_object *transform = json_object_new_object ();
  rd_json_add_string (make, transform, "type", "scale");
  struct json_object *list = rd_json_add_list (make, transform, "scale");
  for (size_t i = 0; i < meta->nifti->rank; i++)
    rd_json_append (make, list, rd_json_new_double (scale[i]));
  rd_json_append (make, transforms, transform);
  rd_json_append (make, rd_json_add_list (make, image, "datasets"), dataset);
}

/* The range of stored values to show, and the one that they can have. */
struct window {
  double start, end, min, max;
};

/* cal_min and cal_max are of scaled values: convert them to stored ones.
 * False when the header has no display range. */
static bool
choose_window (const struct rd_nifti *nifti, struct window *window)
{
  enum radio_dtype dtype = nifti->type.dtype;
  double slope, inter;
  rd_nifti_scaling (nifti, &slope, &inter);
  double a = (nifti->cal_min - inter) / slope;
  double b = (nifti->cal_max - inter) / slope;
  if (nifti->colour != RD_COLOUR_NONE)
    *window = (struct window) { 0, 255, 0, 255 };
  else if (nifti->cal_max > nifti->cal_min && isfinite (a) && isfinite (b))
    *window = (struct window) { fmin (a, b), fmax (a, b), fmin (a, b),
                                fmax (a, b) };
  else
    return false;
  if (rd_dtype_is_integer (dtype)) {
    int nbits = 8 * (int) radio_dtype_nbytes (dtype);
    bool is_signed = dtype >= RADIO_INT8 && dtype <= RADIO_INT64;
    window->min = is_signed ? -ldexp (1, nbits - 1) : 0;
    window->max = ldexp (1, nbits - is_signed) - 1;
  }
  return true;
}

/* Display settings, where the header has a range or the type implies one. */
static void
add_omero (struct rd_json_make *make, struct json_object *ome,
           const struct rd_nifti *nifti)
{
  static const char *const colours[] = { "FF0000", "00FF00", "0000FF" };
  static const char *const labels[] = { "red", "green", "blue", "alpha" };
  struct window window;
  bool is_colour = nifti->colour != RD_COLOUR_NONE;
  const char *c = strchr (nifti->axes, 'c');
  uint64_t n = c ? nifti->shape[c - nifti->axes] : 1;
  if (n > OMERO_MAX_CHANNELS || rd_dtype_is_complex (nifti->type.dtype)
      || !choose_window (nifti, &window))
    return;
  struct json_object *omero = rd_json_add_object (make, ome, "omero");
  struct json_object *channels = rd_json_add_list (make, omero, "channels");
  for (uint64_t i = 0; i < n; i++) {
    struct json_object *channel = json_object_new_object ();
    rd_json_add_string (make, channel, "color",
                        is_colour && i < 3 ? colours[i] : "FFFFFF");
    struct json_object *to = rd_json_add_object (make, channel, "window");
    rd_json_add_double (make, to, "min", window.min);
    rd_json_add_double (make, to, "max", window.max);
    rd_json_add_double (make, to, "start", window.start);
    rd_json_add_double (make, to, "end", window.end);
    if (is_colour)
      rd_json_add_string (make, channel, "label", labels[i]);
    rd_json_add (make, channel, "active",
                 json_object_new_boolean (!(is_colour && i == 3)));
    rd_json_append (make, channels, channel);
  }
}

enum radio_status
rd_meta_image_label (const struct radio_label *labels, size_t nlabels,
                     struct json_object **image_label)
{
  struct json_object *object RD_CLEANUP (rd_cleanup_json)
    = json_object_new_object ();
  struct rd_json_make make = { false };
  struct json_object *list = nlabels > 0
    ? rd_json_add_list (&make, object, "properties") : NULL;
  for (size_t i = 0; i < nlabels; i++) {
    const char *name = labels[i].name;
    if (name == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "labels: the name of value %" PRId64
                      " is NULL", labels[i].value);
    if (i > 0 && labels[i].value <= labels[i - 1].value)
      return rd_fail (RADIO_ERROR_ARGUMENT, "labels: value %" PRId64 " follows "
                      "%" PRId64 "; sort them, each value once",
                      labels[i].value, labels[i - 1].value);
    char *text RD_FREE = rd_malloc (3 * strlen (name) + 1);
    if (text == NULL)
      return rd_fail_memory (3 * strlen (name) + 1);
    rd_utf8_repair (name, text);
    struct json_object *label = json_object_new_object ();
    rd_json_add (&make, label, "label-value",
                 json_object_new_int64 (labels[i].value));
    rd_json_add_string (&make, label, "name", text);
    rd_json_append (&make, list, label);
  }
  return rd_json_make_end (&make, RD_STEAL (object), image_label);
}

static enum radio_status
add_radio (struct rd_json_make *make, struct json_object *attributes,
           const struct rd_meta_input *meta)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  RD_TRY (rd_base64_encode (meta->prefix->data, meta->prefix->nbytes,
                            &text));
  struct json_object *radio = rd_json_add_object (make, attributes, "radio");
  rd_json_add_string (make, radio, "version", RD_FORMAT_VERSION);
  if (meta->nifti->rank > RD_NIFTI_MAX_OME_RANK)
    rd_json_add_string (make, radio, "level", meta->level_path);

  struct json_object *source = rd_json_add_object (make, radio, "source");
  rd_json_add_string (make, source, "name", meta->source_name);
  rd_json_add_u64 (make, source, "nbytes", meta->source_nbytes);
  rd_json_add_string (make, source, "sha256", meta->source_sha256);
  if (meta->trailing_nbytes > 0)
    rd_json_add_u64 (make, source, "trailing_nbytes", meta->trailing_nbytes);
  if (meta->stripped)
    rd_json_add (make, source, "stripped",
                 json_object_new_boolean (true));

  if (meta->derived_pipeline) {
    struct json_object *derived = rd_json_add_object (make, radio, "derived");
    rd_json_add_string (make, derived, "pipeline", meta->derived_pipeline);
    rd_json_add_string (make, derived, "source_sha256",
                        meta->derived_sha256);
    if (meta->named_sha256)
      rd_json_add_string (make, derived, "named_sha256", meta->named_sha256);
  }

  rd_json_add_string (make, radio, "tiling", meta->tiling);
  rd_json_add_string (make, radio, "codec", meta->codec);
  if (meta->tile_lengths && meta->tile_lengths->nbytes > 0)
    rd_json_add (make, radio, "tile_lengths",
                 json_object_new_string_len (
                   (const char *) meta->tile_lengths->data,
                   (int) meta->tile_lengths->nbytes));
  rd_json_add (make, radio, "nifti",
               json_object_new_string_len ((const char *) text.data,
                                           (int) text.nbytes));
  rd_json_add_u64 (make, radio, "nifti_crc32c",
                   rd_crc32c (0, text.data, text.nbytes));
  return RADIO_OK;
}

static void
add_ome (struct rd_json_make *make, struct json_object *attributes,
         const struct rd_meta_input *meta)
{
  struct json_object *ome = rd_json_add_object (make, attributes, "ome");
  rd_json_add_string (make, ome, "version", "0.5");
  struct json_object *image = json_object_new_object ();
  rd_json_add_string (make, image, "name", meta->name);
  add_axes (make, image, meta->nifti);
  add_dataset (make, image, meta);
  rd_json_append (make, rd_json_add_list (make, ome, "multiscales"), image);
  add_omero (make, ome, meta->nifti);
  if (meta->image_label)
    rd_json_add (make, ome, "image-label",
                 json_object_get (meta->image_label));
}

enum radio_status
rd_meta_write (const struct rd_meta_input *meta, struct json_object **document)
{
  struct json_object *attributes RD_CLEANUP (rd_cleanup_json)
    = json_object_new_object ();
  struct json_object *consolidated RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_json_make make = { false };
  if (meta->nifti->rank <= RD_NIFTI_MAX_OME_RANK)
    add_ome (&make, attributes, meta);
  RD_TRY (add_radio (&make, attributes, meta));

  struct json_object *documents = json_object_new_object ();
  rd_json_add (&make, documents, meta->level_path,
               json_object_get (meta->level_document));
  RD_TRY (rd_json_make_end (&make, documents, &consolidated));
  return rd_group_doc_write (attributes, consolidated, document);
}
