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

/* The array document of the bytes before the voxels. */
enum radio_status rd_header_document (size_t nbytes,
                                      struct json_object **document)
  RADIO_USE_RESULT;

#endif /* RD_VOLUME_CODEC_H */
