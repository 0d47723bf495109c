/* SPDX-License-Identifier: MIT */
/* Codec presets, and the documents of the arrays that an ingest writes. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/volume/codec.h"
#include "src/base/json-make.h"

/* A preset: the compressor for elements of several bytes, and for those of
 * one byte, where a shuffle of bytes does nothing. */
struct preset {
  const char *name;
  const char *cname;          /* NULL: no compression */
  int clevel;
  const char *shuffle;
  const char *byte_shuffle;
};

static const struct preset presets[] = {
  { "small", "zstd", 1, "shuffle", "noshuffle" },
  { "medium", "lz4", 5, "bitshuffle", "noshuffle" },
  { "fast", "lz4hc", 4, "bitshuffle", "noshuffle" },
  { "none", NULL, 0, NULL, NULL },
};

#define NPRESETS (sizeof presets / sizeof presets[0])

/* Append {name, configuration} and return the configuration.  Always an
 * object, as readers of Zarr 3.0 want it. */
static struct json_object *
add_codec (struct rd_json_make *make, struct json_object *codecs,
           const char *name)
{
  struct json_object *codec = json_object_new_object ();
  rd_json_add_string (make, codec, "name", name);
  struct json_object *configuration
    = rd_json_add_object (make, codec, "configuration");
  rd_json_append (make, codecs, codec);
  return make->failed ? NULL : configuration;
}

static void
add_plain_codec (struct rd_json_make *make, struct json_object *codecs,
                 const char *name)
{
  struct json_object *codec = json_object_new_object ();
  rd_json_add_string (make, codec, "name", name);
  rd_json_append (make, codecs, codec);
}

/* Elements of one byte have no byte order to declare. */
static void
add_bytes (struct rd_json_make *make, struct json_object *codecs,
           size_t unit_nbytes)
{
  if (unit_nbytes == 1) {
    add_plain_codec (make, codecs, "bytes");
    return;
  }
  struct json_object *configuration = add_codec (make, codecs, "bytes");
  rd_json_add_string (make, configuration, "endian", "little");
}

static enum radio_status
preset_codecs (const struct preset *preset, const struct rd_type *type,
               struct json_object **codecs)
{
  struct rd_json_make make = { false };
  struct json_object *list = json_object_new_array ();
  add_bytes (&make, list, type->unit_nbytes);
  if (preset->cname) {
    struct json_object *to = add_codec (&make, list, "blosc");
    rd_json_add_string (&make, to, "cname", preset->cname);
    rd_json_add_u64 (&make, to, "clevel", (uint64_t) preset->clevel);
    rd_json_add_string (&make, to, "shuffle",
                        type->item_nbytes == 1 ? preset->byte_shuffle
                                               : preset->shuffle);
    rd_json_add_u64 (&make, to, "typesize", type->item_nbytes);
    rd_json_add_u64 (&make, to, "blocksize", 0);
  }
  add_plain_codec (&make, list, "crc32c");
  return rd_json_make_end (&make, list, codecs);
}

enum radio_status
rd_codec_choose (const char *codec, const struct rd_type *type,
                 const char **name, struct json_object **codecs)
{
  if (codec == NULL)
    codec = "medium";
  for (size_t i = 0; i < NPRESETS; i++)
    if (strcmp (presets[i].name, codec) == 0) {
      *name = presets[i].name;
      return preset_codecs (&presets[i], type, codecs);
    }
  *name = "";
  if (codec[0] != '[')
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "codec: '%s' is not small, medium, fast, none or a JSON "
                    "list of Zarr codecs", codec);
  /* A list that the user wrote; whether it can be used is seen when the
   * document is parsed. */
  struct json_object *list RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status
    = rd_json_parse (codec, strlen (codec), "codec", &list);
  if (status == RADIO_ERROR_FORMAT)
    return RADIO_ERROR_ARGUMENT;
  RD_TRY (status);
  if (!json_object_is_type (list, json_type_array)
      || json_object_array_length (list) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "codec: a JSON list of Zarr codecs must not be empty");
  *codecs = RD_STEAL (list);
  return RADIO_OK;
}

const struct rd_header_key_form rd_header_keys[RD_HEADER_NKEYS] = {
  [RD_HEADER_KEY_SLASH] = { "c/0", "default", "/" },
  [RD_HEADER_KEY_DOT] = { "c.0", "default", "." },
  [RD_HEADER_KEY_V2] = { "0", "v2", "." },
};

/* The metadata that all arrays of a volume have in common. */
static struct json_object *
begin_array (struct rd_json_make *make, size_t rank, const uint64_t *shape,
             const char *data_type, const uint64_t *chunk_shape,
             enum rd_header_key key)
{
  struct json_object *array = json_object_new_object ();
  rd_json_add_u64 (make, array, "zarr_format", 3);
  rd_json_add_string (make, array, "node_type", "array");
  rd_json_add (make, array, "shape", rd_json_new_shape (make, rank, shape));
  rd_json_add_string (make, array, "data_type", data_type);

  struct json_object *grid = rd_json_add_object (make, array, "chunk_grid");
  rd_json_add_string (make, grid, "name", "regular");
  struct json_object *to = rd_json_add_object (make, grid, "configuration");
  rd_json_add (make, to, "chunk_shape",
               rd_json_new_shape (make, rank, chunk_shape));

  struct json_object *keys
    = rd_json_add_object (make, array, "chunk_key_encoding");
  rd_json_add_string (make, keys, "name", rd_header_keys[key].encoding);
  to = rd_json_add_object (make, keys, "configuration");
  rd_json_add_string (make, to, "separator", rd_header_keys[key].separator);
  return array;
}

/* Zero, as the type has it. */
static void
add_fill_value (struct rd_json_make *make, struct json_object *array,
                enum radio_dtype dtype)
{
  if (rd_dtype_is_complex (dtype)) {
    struct json_object *pair
      = rd_json_add_list (make, array, "fill_value");
    rd_json_append (make, pair, rd_json_new_double (0));
    rd_json_append (make, pair, rd_json_new_double (0));
  } else if (rd_dtype_is_float (dtype)) {
    rd_json_add_double (make, array, "fill_value", 0);
  } else {
    rd_json_add_u64 (make, array, "fill_value", 0);
  }
}

static void
add_dimension_names (struct rd_json_make *make, struct json_object *array,
                     const char *axes)
{
  struct json_object *names
    = rd_json_add_list (make, array, "dimension_names");
  for (const char *p = axes; *p; p++)
    rd_json_append (make, names, json_object_new_string_len (p, 1));
}

enum radio_status
rd_file_document (const struct rd_nifti *nifti,
                  struct json_object **document)
{
  char buffer[24];
  size_t order[RADIO_MAX_RANK];
  uint64_t plane[RADIO_MAX_RANK];
  size_t nplane = nifti->colour != RD_COLOUR_NONE ? 3 : 2;
  struct rd_json_make make = { false };
  rd_file_order (nifti, order);
  for (size_t i = 0; i < nifti->rank; i++)
    plane[order[i]] = i < nplane && nifti->shape[order[i]] > 0
                      ? nifti->shape[order[i]] : 1;
  struct json_object *array
    = begin_array (&make, nifti->rank, nifti->shape,
                   rd_type_name (&nifti->type, buffer), plane,
                   RD_HEADER_KEY_SLASH);
  add_fill_value (&make, array, nifti->type.dtype);
  struct json_object *codecs = rd_json_add_list (&make, array, "codecs");
  add_bytes (&make, codecs, nifti->type.unit_nbytes);
  add_dimension_names (&make, array, nifti->axes);
  return rd_json_make_end (&make, array, document);
}

enum radio_status
rd_derived_document (const struct rd_array_doc *source,
                     const struct rd_type *type, const uint64_t *shape,
                     const uint64_t *tile_shape,
                     struct json_object **document)
{
  char buffer[24];
  struct rd_json_make make = { false };
  struct json_object *array;
  RD_TRY (rd_array_doc_write (source, &array));
  rd_json_add (&make, array, "shape",
               rd_json_new_shape (&make, source->rank, shape));
  rd_json_add_string (&make, array, "data_type", rd_type_name (type, buffer));
  if (type->dtype != source->type.dtype)
    add_fill_value (&make, array, type->dtype);
  struct json_object *grid = rd_json_add_object (&make, array, "chunk_grid");
  rd_json_add_string (&make, grid, "name", "regular");
  struct json_object *to = rd_json_add_object (&make, grid, "configuration");
  rd_json_add (&make, to, "chunk_shape",
               rd_json_new_shape (&make, source->rank, tile_shape));
  struct json_object *codecs = rd_json_add_list (&make, array, "codecs");
  add_bytes (&make, codecs, type->unit_nbytes);
  return rd_json_make_end (&make, array, document);
}

enum radio_status
rd_level_document (const struct rd_nifti *nifti,
                   const struct rd_tiling *tiling,
                   struct json_object *codecs, struct json_object **document)
{
  char buffer[24];
  struct rd_json_make make = { false };
  struct json_object *array
    = begin_array (&make, nifti->rank, nifti->shape,
                   rd_type_name (&nifti->type, buffer),
                   tiling->shard_shape, RD_HEADER_KEY_SLASH);
  add_fill_value (&make, array, nifti->type.dtype);

  struct json_object *outer = rd_json_add_list (&make, array, "codecs");
  struct json_object *to = add_codec (&make, outer, "sharding_indexed");
  rd_json_add (&make, to, "chunk_shape",
               rd_json_new_shape (&make, nifti->rank, tiling->tile_shape));
  rd_json_add (&make, to, "codecs", json_object_get (codecs));
  struct json_object *index = rd_json_add_list (&make, to, "index_codecs");
  add_bytes (&make, index, 8);
  add_plain_codec (&make, index, "crc32c");
  rd_json_add_string (&make, to, "index_location", "end");

  add_dimension_names (&make, array, nifti->axes);

  /* The codecs may be the user's: an error in them is the caller's mistake,
   * not the store's. */
  struct json_object *made RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  RD_TRY (rd_json_make_end (&make, array, &made));
  enum radio_status status = rd_array_doc_parse (made, "codec", &doc);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_ERROR_ARGUMENT;
  RD_TRY (status);
  *document = RD_STEAL (made);
  return RADIO_OK;
}

enum radio_status
rd_header_document (size_t nbytes, enum rd_header_key key,
                    struct json_object **document)
{
  const uint64_t shape[1] = { nbytes };
  struct rd_json_make make = { false };
  struct json_object *array = begin_array (&make, 1, shape, "uint8", shape,
                                           key);
  add_fill_value (&make, array, RADIO_UINT8);
  struct json_object *codecs = rd_json_add_list (&make, array, "codecs");
  add_bytes (&make, codecs, 1);
  return rd_json_make_end (&make, array, document);
}

enum rd_header_key
rd_header_document_key (struct json_object *document)
{
  struct json_object *encoding = rd_json_member (document,
                                                 "chunk_key_encoding");
  struct json_object *name = encoding, *separator = NULL;
  if (json_object_is_type (encoding, json_type_object)) {
    name = rd_json_member (encoding, "name");
    separator = rd_json_member (rd_json_member (encoding, "configuration"),
                                "separator");
  }
  if (!json_object_is_type (name, json_type_string))
    return RD_HEADER_KEY_NONE;
  if (strcmp (json_object_get_string (name), "v2") == 0)
    return RD_HEADER_KEY_V2;
  bool has_dot = json_object_is_type (separator, json_type_string)
                 && strcmp (json_object_get_string (separator), ".") == 0;
  return has_dot ? RD_HEADER_KEY_DOT : RD_HEADER_KEY_SLASH;
}
