/* SPDX-License-Identifier: MIT */
/* Describes volumes and arrays as text and as JSON. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/json.h"
#include "tools/text.h"

uint64_t
rd_raw_nbytes (const struct radio_array_info *info)
{
  uint64_t nbytes = info->item_nbytes;
  for (size_t i = 0; i < info->rank; i++)
    if (__builtin_mul_overflow (nbytes, info->shape[i], &nbytes))
      return UINT64_MAX;
  return nbytes;
}

bool
rd_is_colour (const struct radio_volume_info *info)
{
  return strncmp (info->nifti_type, "rgb", 3) == 0
         && strchr (info->axes, 'c') != NULL;
}

size_t
rd_voxel_nbytes (const struct radio_volume_info *info)
{
  const char *c = strchr (info->axes, 'c');
  return info->array.item_nbytes
         * (rd_is_colour (info) ? info->array.shape[c - info->axes] : 1);
}

uint64_t
rd_plane_count (const struct radio_volume_info *info, enum radio_plane plane)
{
  size_t axis = info->plane_axis[plane];
  return axis < info->array.rank ? info->array.shape[axis] : 1;
}

size_t
rd_display_axes (const struct radio_volume_info *info,
                 size_t axes[RADIO_MAX_RANK])
{
  /* NIfTI's fifth to seventh dimensions are c, v and w. */
  const char *order = rd_is_colour (info) ? "xyztvw" : "xyztcvw";
  size_t n = 0;
  for (const char *letter = order; *letter; letter++) {
    const char *place = strchr (info->axes, *letter);
    if (place)
      axes[n++] = (size_t) (place - info->axes);
  }
  for (size_t i = 0; info->axes[i]; i++)
    if (strchr ("xyztcvw", info->axes[i]) == NULL)
      axes[n++] = i;
  return n;
}

const char *
rd_array_type (const struct radio_array_info *info, char text[32])
{
  if (info->dtype != RADIO_RAW)
    return radio_dtype_name (info->dtype);
  snprintf (text, 32, "r%zu", 8 * info->item_nbytes);
  return text;
}

const char *
rd_volume_type (const struct radio_volume_info *info, char text[32])
{
  if (*info->nifti_type)
    return info->nifti_type;
  return rd_array_type (&info->array, text);
}

const char *
rd_volume_tiling (const struct radio_volume_info *info,
                  char text[RD_TILING_NBYTES])
{
  const char *tiling = info->tiling;
  const char *first = strchr (tiling, 'x'), *last = strrchr (tiling, 'x');
  if (*tiling == '\0')
    return "unknown";
  if (*tiling < '0' || *tiling > '9' || first == last)
    return tiling;
  snprintf (text, RD_TILING_NBYTES, "%s,%.*s,%.*s", last + 1,
            (int) (last - first - 1), first + 1, (int) (first - tiling),
            tiling);
  return text;
}

/* Appends to allocated text; false (text freed) without memory. */
static bool
append_part (char **text, const char *between, const char *part)
{
  char *longer = rd_format ("%s%s%s", *text ? *text : "",
                            *text ? between : "", part);
  free (*text);
  *text = longer;
  return longer != NULL;
}

char *
rd_join_u64 (const uint64_t *numbers, const size_t *axes, size_t n,
             const char *between)
{
  char *text = NULL, part[RD_TEXT_NBYTES];
  for (size_t i = 0; i < n; i++) {
    snprintf (part, sizeof part, "%" PRIu64, numbers[axes[i]]);
    if (!append_part (&text, between, part))
      return NULL;
  }
  return text ? text : rd_format ("%s", "-");
}

char *
rd_join_axes (const uint64_t *shape, const size_t *axes, size_t n,
              const char *letters)
{
  char names[3 * RADIO_MAX_RANK + 1] = "";
  for (size_t i = 0, used = 0; i < n; i++, used = strlen (names))
    snprintf (names + used, sizeof names - used, "%s%c", i ? ", " : "",
              letters[axes[i]]);
  RD_FREE char *numbers = rd_join_u64 (shape, axes, n, " x ");
  if (numbers == NULL)
    return NULL;
  bool are_known = n > 0 && strchr (names, '?') == NULL;
  return rd_format ("%s%s%s%s", numbers, are_known ? " (" : "",
                    are_known ? names : "", are_known ? ")" : "");
}

char *
rd_join_double (const double *numbers, const size_t *axes, size_t n,
                const char *between)
{
  char *text = NULL, part[RD_TEXT_NBYTES];
  for (size_t i = 0; i < n; i++)
    if (!append_part (&text, between, rd_text_number (numbers[axes[i]], part)))
      return NULL;
  return text ? text : rd_format ("%s", "-");
}

const char *
rd_short_unit (const char *unit)
{
  static const char *const units[][2] = {
    { "millimeter", "mm" }, { "micrometer", "um" }, { "meter", "m" },
    { "second", "s" }, { "millisecond", "ms" }, { "microsecond", "us" },
    { "hertz", "Hz" },
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (unit, units[i][0]) == 0)
      return units[i][1];
  return unit;
}

/* Reads an integer of the header, of 2 or 4 bytes. */
static int
header_int (const unsigned char *p, size_t nbytes, bool big_endian)
{
  uint32_t value = 0;
  for (size_t i = 0; i < nbytes; i++)
    value = value << 8 | p[big_endian ? i : nbytes - 1 - i];
  return nbytes == 2 ? (int16_t) value : (int32_t) value;
}

/* Copies a text field, which need not end in a zero, without trailing spaces.
 */
static void
header_text (const unsigned char *p, size_t nbytes, char *text)
{
  size_t n = strnlen ((const char *) p, nbytes);
  memcpy (text, p, n);
  while (n > 0 && text[n - 1] == ' ')
    n--;
  text[n] = '\0';
}

void
rd_header_facts (const struct radio_volume_info *info,
                 struct rd_header_facts *facts)
{
  /* Offsets in the headers of NIfTI-1 and NIfTI-2. */
  static const struct layout {
    int size;
    size_t code_nbytes, qform, sform, intent, descrip, aux_file, intent_name;
  } layouts[] = {
    { 348, 2, 252, 254, 68, 148, 228, 328 },
    { 540, 4, 344, 348, 504, 240, 320, 508 },
  };
  const unsigned char *p = info->header;
  memset (facts, 0, sizeof *facts);
  if (info->header_nbytes < 348)
    return;
  bool big_endian = p[0] == 0;
  facts->big_endian = big_endian;
  int size = header_int (p, 4, big_endian);
  const struct layout *h = &layouts[size == 540];
  if (size != h->size || info->header_nbytes < (size_t) size)
    return;
  facts->version = size == 348 ? 1 : 2;
  facts->qform_code = header_int (p + h->qform, h->code_nbytes, big_endian);
  facts->sform_code = header_int (p + h->sform, h->code_nbytes, big_endian);
  facts->intent_code = header_int (p + h->intent, h->code_nbytes,
                                   big_endian);
  header_text (p + h->descrip, 80, facts->descrip);
  header_text (p + h->aux_file, 24, facts->aux_file);
  header_text (p + h->intent_name, 16, facts->intent_name);
  size_t used = (size_t) size + 4;
  if (info->header_nbytes > used)
    facts->extension_nbytes = info->header_nbytes - used;
}

/*------------------------------------------------------------------------
 * JSON: axes in NIfTI order (x, y, z, t, c) for volumes, in stored order for
 * arrays
 *----------------------------------------------------------------------*/

static struct json_object *
u64_by_axes (const uint64_t *numbers, const size_t *axes, size_t n)
{
  uint64_t ordered[RADIO_MAX_RANK];
  for (size_t i = 0; i < n; i++)
    ordered[i] = numbers[axes[i]];
  return rd_json_u64_list (ordered, n);
}

/* The codecs as in the document of the array. */
static void
put_codecs (struct json_object *object, const struct radio_array_info *info)
{
  rd_json_set_text (object, "codecs", info->codecs);
  rd_json_set (object, "codecs_json",
               json_tokener_parse (info->codecs_json));
}

static void
put_header (struct json_object *object, const struct radio_volume_info *info)
{
  struct rd_header_facts facts;
  rd_header_facts (info, &facts);
  if (facts.version == 0) {
    rd_json_set (object, "nifti", NULL);
    return;
  }
  struct json_object *nifti = json_object_new_object ();
  rd_json_set_u64 (nifti, "version", (uint64_t) facts.version);
  rd_json_set_text (nifti, "byte_order",
                    facts.big_endian ? "big" : "little");
  rd_json_set_text (nifti, "descrip", facts.descrip);
  rd_json_set_text (nifti, "aux_file", facts.aux_file);
  rd_json_set (nifti, "intent_code",
               json_object_new_int (facts.intent_code));
  rd_json_set_text (nifti, "intent_name", facts.intent_name);
  rd_json_set (nifti, "qform_code", json_object_new_int (facts.qform_code));
  rd_json_set (nifti, "sform_code", json_object_new_int (facts.sform_code));
  rd_json_set_u64 (nifti, "header_nbytes", info->header_nbytes);
  rd_json_set_u64 (nifti, "extension_nbytes", facts.extension_nbytes);
  rd_json_set (object, "nifti", nifti);
}

struct json_object *
rd_volume_json (const char *name, const struct radio_volume_info *info,
                uint64_t stored_nbytes)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *source = json_object_new_object ();
  double window[2] = { info->window_low, info->window_high };
  uint64_t raw_nbytes = rd_raw_nbytes (&info->array);
  size_t axes[RADIO_MAX_RANK], n = rd_display_axes (info, axes);
  char text[32];
  rd_json_set_text (object, "path", name);
  rd_json_set_text (object, "kind", "volume");

  struct json_object *letters = json_object_new_array ();
  struct json_object *affine = json_object_new_array ();
  double spacing[RADIO_MAX_RANK];
  for (size_t i = 0; i < n; i++) {
    char letter[2] = { info->axes[axes[i]], '\0' };
    json_object_array_add (letters, json_object_new_string (letter));
    spacing[i] = info->spacing[axes[i]];
  }
  for (int i = 0; i < 3; i++)
    json_object_array_add (affine,
                           rd_json_double_list (info->affine[i], 4));
  rd_json_set (object, "axes", letters);
  rd_json_set (object, "shape", u64_by_axes (info->array.shape, axes, n));
  rd_json_set (object, "spacing", rd_json_double_list (spacing, n));
  rd_json_set_text (object, "space_unit", info->space_unit);
  rd_json_set_text (object, "time_unit", info->time_unit);
  rd_json_set (object, "orientation", *info->orientation
               ? json_object_new_string (info->orientation) : NULL);
  rd_json_set (object, "affine", affine);
  rd_json_set_text (object, "affine_source", info->affine_source);

  rd_json_set_text (object, "type", rd_volume_type (info, text));
  rd_json_set_text (object, "dtype", rd_array_type (&info->array, text));
  rd_json_set_double (object, "scl_slope", info->scl_slope);
  rd_json_set_double (object, "scl_inter", info->scl_inter);
  rd_json_set (object, "window", window[0] < window[1]
               ? rd_json_double_list (window, 2) : NULL);
  if (*info->pipeline) {
    rd_json_set_text (object, "pipeline", info->pipeline);
    rd_json_set_u64 (object, "statistics_count", info->statistics_count);
    rd_json_set_u64 (object, "interpolation_count", info->interpolation_count);
  }
  rd_json_set_text (object, "tiling", info->tiling);
  rd_json_set (object, "tile_shape",
               u64_by_axes (info->array.tile_shape, axes, n));
  rd_json_set (object, "chunk_shape",
               u64_by_axes (info->array.chunk_shape, axes, n));
  rd_json_set_text (object, "codec", info->codec);
  put_codecs (object, &info->array);
  rd_json_set_u64 (object, "raw_nbytes", raw_nbytes);
  bool is_known = stored_nbytes != RD_UNKNOWN_NBYTES;
  /* Results of a pipeline are stored nowhere. */
  bool has_ratio = is_known && stored_nbytes > 0 && !*info->pipeline;
  rd_json_set (object, "stored_nbytes", is_known
               ? json_object_new_uint64 (stored_nbytes) : NULL);
  rd_json_set (object, "ratio", has_ratio
               ? rd_json_double_or_null ((double) raw_nbytes
                                         / (double) stored_nbytes) : NULL);
  if (info->is_labels)
    rd_json_set_bool (object, "is_labels", true);
  if (info->missing_nbytes > 0)
    rd_json_set_u64 (object, "missing_nbytes", info->missing_nbytes);
  rd_json_set_text (source, "name", info->source_name);
  rd_json_set_u64 (source, "nbytes", info->source_nbytes);
  rd_json_set_text (source, "sha256", info->source_sha256);
  rd_json_set (object, "source", source);
  if (*info->derived_pipeline) {
    struct json_object *derived = json_object_new_object ();
    rd_json_set_text (derived, "pipeline", info->derived_pipeline);
    rd_json_set_text (derived, "source_sha256", info->derived_sha256);
    rd_json_set (object, "derived", derived);
  }
  put_header (object, info);
  return object;
}

struct json_object *
rd_array_json (const char *name, const struct radio_array_info *info)
{
  struct json_object *object = json_object_new_object ();
  char text[32];
  rd_json_set_text (object, "path", name);
  rd_json_set_text (object, "kind", "array");
  rd_json_set (object, "shape", rd_json_u64_list (info->shape, info->rank));
  rd_json_set_text (object, "dtype", rd_array_type (info, text));
  if (info->dimension_names) {
    struct json_object *names = json_object_new_array ();
    for (size_t i = 0; i < info->rank; i++)
      json_object_array_add (names, info->dimension_names[i]
                             ? rd_json_new_text (info->dimension_names[i])
                             : NULL);
    rd_json_set (object, "dimension_names", names);
  }
  rd_json_set (object, "chunk_shape",
               rd_json_u64_list (info->chunk_shape, info->rank));
  rd_json_set (object, "tile_shape",
               rd_json_u64_list (info->tile_shape, info->rank));
  rd_json_set_bool (object, "sharded", info->sharded);
  put_codecs (object, info);
  if (info->dtype != RADIO_STRING)
    rd_json_set_u64 (object, "raw_nbytes", rd_raw_nbytes (info));
  rd_json_set (object, "attributes",
               json_tokener_parse (info->attributes_json));
  return object;
}
