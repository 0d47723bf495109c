/* SPDX-License-Identifier: MIT */
/* What is told of volumes and arrays, as JSON.  Axes are in NIfTI order (x,
 * y, z, t, c) for volumes and in stored order for arrays. */
#include <config.h>

#include <string.h>

#include "tools/facts.h"
#include "tools/text.h"

static struct json_object *
u64_by_axes (const uint64_t *numbers, const size_t *axes, size_t n)
{
  uint64_t ordered[RADIO_MAX_RANK];
  for (size_t i = 0; i < n; i++)
    ordered[i] = numbers[axes[i]];
  return rd_report_u64_list (ordered, n);
}

static struct json_object *
double_by_axes (const double *numbers, const size_t *axes, size_t n)
{
  double ordered[RADIO_MAX_RANK];
  for (size_t i = 0; i < n; i++)
    ordered[i] = numbers[axes[i]];
  return rd_report_double_list (ordered, n);
}

static void
put_axes (struct json_object *object, const char *letters,
          const size_t *axes, size_t n)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < n; i++) {
    char letter[2] = { letters[axes[i]], '\0' };
    json_object_array_add (list, json_object_new_string (letter));
  }
  rd_report_put (object, "axes", list);
}

static void
put_geometry (struct json_object *object,
              const struct radio_volume_info *info)
{
  size_t axes[RADIO_MAX_RANK], n = rd_display_axes (info, axes);
  put_axes (object, info->axes, axes, n);
  rd_report_put (object, "shape",
               u64_by_axes (info->array.shape, axes, n));
  rd_report_put (object, "spacing", double_by_axes (info->spacing, axes, n));
  rd_report_put_text (object, "space_unit", info->space_unit);
  rd_report_put_text (object, "time_unit", info->time_unit);
  rd_report_put_text (object, "orientation", info->orientation);
  struct json_object *affine = json_object_new_array ();
  for (int i = 0; i < 3; i++)
    json_object_array_add (affine, rd_report_double_list (info->affine[i], 4));
  rd_report_put (object, "affine", affine);
  rd_report_put_text (object, "affine_source", info->affine_source);
}

static void
put_values (struct json_object *object, const struct radio_volume_info *info)
{
  char text[32];
  double window[2] = { info->window_low, info->window_high };
  rd_report_put_text (object, "type", rd_volume_type (info, text));
  rd_report_put_text (object, "dtype", rd_array_type (&info->array, text));
  rd_report_put_double (object, "scl_slope", info->scl_slope);
  rd_report_put_double (object, "scl_inter", info->scl_inter);
  rd_report_put (object, "window",
               window[0] < window[1] ? rd_report_double_list (window, 2)
                                     : NULL);
}

/* The codecs as they stand in the array's document. */
static void
put_codecs (struct json_object *object, const struct radio_array_info *info)
{
  rd_report_put_text (object, "codecs", info->codecs);
  rd_report_put (object, "codecs_json",
               json_tokener_parse (info->codecs_json));
}

static void
put_sizes (struct json_object *object, uint64_t raw, uint64_t stored)
{
  rd_report_put_u64 (object, "raw_nbytes", raw);
  if (stored == RD_UNKNOWN_NBYTES) {
    rd_report_put (object, "stored_nbytes", NULL);
    rd_report_put (object, "ratio", NULL);
    return;
  }
  rd_report_put_u64 (object, "stored_nbytes", stored);
  rd_report_put (object, "ratio",
               stored ? rd_report_double ((double) raw / (double) stored)
                      : NULL);
}

static void
put_source (struct json_object *object, const struct radio_volume_info *info)
{
  struct json_object *source = json_object_new_object ();
  rd_report_put_text (source, "name", info->source_name);
  rd_report_put_u64 (source, "nbytes", info->source_nbytes);
  rd_report_put_text (source, "sha256", info->source_sha256);
  rd_report_put (object, "source", source);
}

static void
put_header (struct json_object *object, const struct radio_volume_info *info)
{
  struct rd_header_facts facts;
  rd_header_facts (info, &facts);
  if (facts.version == 0) {
    rd_report_put (object, "nifti", NULL);
    return;
  }
  struct json_object *nifti = json_object_new_object ();
  rd_report_put_u64 (nifti, "version", (uint64_t) facts.version);
  rd_report_put_text (nifti, "byte_order",
                    facts.big_endian ? "big" : "little");
  rd_report_put_text (nifti, "descrip", facts.descrip);
  rd_report_put_text (nifti, "aux_file", facts.aux_file);
  rd_report_put (nifti, "intent_code",
               json_object_new_int (facts.intent_code));
  rd_report_put_text (nifti, "intent_name", facts.intent_name);
  rd_report_put (nifti, "qform_code", json_object_new_int (facts.qform_code));
  rd_report_put (nifti, "sform_code", json_object_new_int (facts.sform_code));
  rd_report_put_u64 (nifti, "header_nbytes", info->header_nbytes);
  rd_report_put_u64 (nifti, "extension_nbytes", facts.extension_nbytes);
  rd_report_put (object, "nifti", nifti);
}

struct json_object *
rd_volume_json (const char *name, const struct radio_volume_info *info,
                uint64_t stored_nbytes)
{
  struct json_object *object = json_object_new_object ();
  size_t axes[RADIO_MAX_RANK], n = rd_display_axes (info, axes);
  rd_report_put_text (object, "path", name);
  rd_report_put_text (object, "kind", "volume");
  put_geometry (object, info);
  put_values (object, info);
  rd_report_put_text (object, "tiling", info->tiling);
  rd_report_put (object, "tile_shape",
               u64_by_axes (info->array.tile_shape, axes, n));
  rd_report_put (object, "chunk_shape",
               u64_by_axes (info->array.chunk_shape, axes, n));
  rd_report_put_text (object, "codec", info->codec);
  put_codecs (object, &info->array);
  put_sizes (object, rd_raw_nbytes (&info->array), stored_nbytes);
  put_source (object, info);
  put_header (object, info);
  return object;
}

struct json_object *
rd_array_json (const char *name, const struct radio_array_info *info)
{
  struct json_object *object = json_object_new_object ();
  char text[32];
  rd_report_put_text (object, "path", name);
  rd_report_put_text (object, "kind", "array");
  rd_report_put (object, "shape", rd_report_u64_list (info->shape, info->rank));
  rd_report_put_text (object, "dtype", rd_array_type (info, text));
  if (info->dimension_names) {
    struct json_object *names = json_object_new_array ();
    for (size_t i = 0; i < info->rank; i++)
      json_object_array_add (names, info->dimension_names[i]
                             ? rd_report_text (info->dimension_names[i])
                             : NULL);
    rd_report_put (object, "dimension_names", names);
  }
  rd_report_put (object, "chunk_shape",
               rd_report_u64_list (info->chunk_shape, info->rank));
  rd_report_put (object, "tile_shape",
               rd_report_u64_list (info->tile_shape, info->rank));
  rd_report_put_bool (object, "sharded", info->sharded);
  put_codecs (object, info);
  rd_report_put_u64 (object, "raw_nbytes", rd_raw_nbytes (info));
  rd_report_put (object, "attributes",
               json_tokener_parse (info->attributes_json));
  return object;
}
