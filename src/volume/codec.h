/* SPDX-License-Identifier: MIT */
/* Codec presets of volumes, and the document of a level's array. */
#ifndef RD_VOLUME_CODEC_H
#define RD_VOLUME_CODEC_H

#include "src/nifti/nifti.h"
#include "src/volume/tiling.h"
#include "src/zarr/document.h"

/* The codecs of a tile as Zarr's JSON: of a preset, or of the list that the
 * user gives.  *name is the preset's, or "" (static).  ARGUMENT when it is
 * neither. */
enum radio_status rd_codec_choose (const char *codec,
                                   const struct rd_type *type,
                                   const char **name,
                                   struct json_object **codecs)
  RADIO_USE_RESULT;

/* The array document of an image's finest level: sharded, tiles encoded by
 * codecs (not taken), dimension_names from the axes.  ARGUMENT when the
 * codecs cannot be used for it. */
enum radio_status rd_level_document (const struct rd_nifti *nifti,
                                     const struct rd_tiling *tiling,
                                     struct json_object *codecs,
                                     struct json_object **document)
  RADIO_USE_RESULT;

/* The array document of an image in its file, whose chunks are planes. */
enum radio_status rd_file_document (const struct rd_nifti *nifti,
                                    struct json_object **document)
  RADIO_USE_RESULT;

/* The document of an array derived from another one, with its axes and
 * attributes: of this type, shape and tile shape, as bytes. */
enum radio_status rd_derived_document (const struct rd_array_doc *source,
                                       const struct rd_type *type,
                                       const uint64_t *shape,
                                       const uint64_t *tile_shape,
                                       struct json_object **document)
  RADIO_USE_RESULT;

/* The array of header bytes. */
#define RD_HEADER_NAME "nifti"

/* The key of its only chunk, which its chunk_key_encoding chooses: so the
 * bytes of a new header do not replace those of the current one. */
enum rd_header_key {
  RD_HEADER_KEY_NONE,         /* there is no such array */
  RD_HEADER_KEY_SLASH,
  RD_HEADER_KEY_DOT,
  RD_HEADER_KEY_V2,
  RD_HEADER_NKEYS
};

struct rd_header_key_form {
  const char *chunk;          /* "c/0", below the array */
  const char *encoding, *separator;
};

extern const struct rd_header_key_form rd_header_keys[RD_HEADER_NKEYS];

/* Its document. */
enum radio_status rd_header_document (size_t nbytes, enum rd_header_key key,
                                      struct json_object **document)
  RADIO_USE_RESULT;

/* The key that such a document (NULL: none) chooses. */
enum rd_header_key rd_header_document_key (struct json_object *document);

#endif /* RD_VOLUME_CODEC_H */
