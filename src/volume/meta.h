/* SPDX-License-Identifier: MIT */
/* A volume's metadata: its group document with attributes.ome (OME-Zarr 0.5)
 * and attributes.radio, written at ingest and parsed on opening. */
#ifndef RD_META_H
#define RD_META_H

#include <radio/layout.h>

#include "src/array/array.h"
#include "src/nifti/nifti.h"
#include "src/volume/codec.h"

/* A volume's group document, parsed. */
struct rd_volume_meta {
  char *level_path;           /* datasets[0].path, or radio.level */
  char axes[RADIO_MAX_RANK + 1];
  double scale[RADIO_MAX_RANK];       /* datasets[0]'s, times the image's */
  double translation[RADIO_MAX_RANK];
  char *space_unit, *time_unit;
  char *orientation[RADIO_MAX_RANK];  /* RFC-4 values; NULL: none */
  bool has_window;
  double window_start, window_end;
  bool has_image_label;       /* OME-Zarr's metadata of labels */
  /* attributes.radio; absent in images that other programs wrote. */
  struct rd_buffer prefix;    /* all bytes before the voxels */
  bool has_nifti;
  enum rd_header_key header_key;      /* in consolidated_metadata */
  struct rd_nifti nifti;
  char *source_name, *source_sha256, *tiling, *codec;
  char *tile_lengths;         /* of the level; NULL: none */
  uint64_t source_nbytes;
  char *derived_pipeline, *derived_sha256;    /* NULL: was not derived */
  char *named_sha256;         /* NULL: the pipeline names no other volumes */
};

/* Parse a group into meta, which is empty.  where names the document.
 * RADIO_ERROR_FORMAT names the member that is missing or wrong; UNSUPPORTED
 * a version or feature that this library does not read.  On failure, too,
 * the caller frees meta. */
enum radio_status rd_meta_parse (const struct rd_group_doc *group,
                                 const char *where,
                                 struct rd_volume_meta *meta)
  RADIO_USE_RESULT;

void rd_meta_free (struct rd_volume_meta *meta);

#define RD_META_SCOPE RD_CLEANUP (rd_meta_free)

/* True if attributes (may be NULL) are an OME-Zarr image's, or those of an
 * image of radio's that has too many dimensions for OME-Zarr. */
bool rd_meta_is_image (struct json_object *attributes);

/* The input of rd_meta_write. */
struct rd_meta_input {
  const char *name;           /* of the volume */
  const char *level_path;
  const struct rd_nifti *nifti;
  const struct rd_buffer *prefix;
  const char *source_name;    /* the file's name, without its folder */
  const char *source_sha256;
  uint64_t source_nbytes;
  uint64_t trailing_nbytes;   /* in the file, after the voxels; not stored */
  bool stripped;
  const char *derived_pipeline;       /* NULL: was not derived */
  const char *derived_sha256;
  const char *named_sha256;           /* NULL: it names no other volumes */
  const char *tiling, *codec;
  const struct rd_buffer *tile_lengths;       /* NULL or empty: none */
  struct json_object *image_label;    /* of OME-Zarr; NULL: not a mask */
  struct json_object *level_document;
};

/* Creates OME-Zarr's image-label of a mask.  RADIO_ERROR_ARGUMENT if the values
 * do not ascend, or a name is NULL. */
enum radio_status rd_meta_image_label (const struct radio_label *labels,
                                       size_t nlabels,
                                       struct json_object **image_label)
  RADIO_USE_RESULT;

/* Create the group document.  Its copy of the header array's document is
 * missing: rd_publish adds it. */
enum radio_status rd_meta_write (const struct rd_meta_input *meta,
                                 struct json_object **document)
  RADIO_USE_RESULT;

/* The scale of each axis: |pixdim|, or 1 where that is not usable. */
void rd_meta_scale (const struct rd_nifti *nifti,
                    double scale[RADIO_MAX_RANK]);

/* The direction in which an axis increases ('R', 'L', 'A', ...), from RFC-4's
 * value for it; 0 for any other value. */
char rd_orientation_letter (const char *words);

#endif /* RD_META_H */
