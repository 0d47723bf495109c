/* SPDX-License-Identifier: MIT */
/* A volume's group document: made at ingest, read at opening. */
#ifndef RD_META_H
#define RD_META_H

#include "src/volume/volume.h"

/* Read attributes into meta, which is empty.  where names the document.
 * FORMAT names the member that is missing or wrong; UNSUPPORTED what is
 * newer or other than this library reads.  On failure the caller frees meta
 * all the same. */
enum radio_status rd_meta_parse (struct json_object *attributes,
                                 const char *where,
                                 struct rd_volume_meta *meta)
  RADIO_USE_RESULT;

void rd_meta_free (struct rd_volume_meta *meta);

#define RD_META_SCOPE RD_CLEANUP (rd_meta_free)

/* The two halves of it. */
enum radio_status rd_meta_parse_ome (struct json_object *ome,
                                     const char *where,
                                     struct rd_volume_meta *meta)
  RADIO_USE_RESULT;
enum radio_status rd_meta_parse_radio (struct json_object *radio,
                                       const char *where,
                                       struct rd_volume_meta *meta)
  RADIO_USE_RESULT;

/* Whether attributes (may be NULL) are an OME-Zarr image's. */
bool rd_meta_is_image (struct json_object *attributes);

/* What an ingest knows of the volume that it makes. */
struct rd_meta_make {
  const char *name;           /* of the volume */
  const char *level_path;
  const struct rd_nifti *nifti;
  const struct rd_buffer *prefix;
  const char *source_name;    /* the file's name, without its folder */
  const char *source_sha256;
  uint64_t source_nbytes;
  uint64_t trailing_nbytes;   /* in the file, after the voxels; not kept */
  bool stripped;
  const char *tiling, *codec;
  struct json_object *level_document;
  struct json_object *header_document;
};

/* Make the group document. */
enum radio_status rd_meta_write (const struct rd_meta_make *meta,
                                 struct json_object **document)
  RADIO_USE_RESULT;

/* The scale of each axis: |pixdim|, and 1 where that says nothing. */
void rd_meta_scale (const struct rd_nifti *nifti,
                    double scale[RADIO_MAX_RANK]);

/* RFC-4's words for where an axis rises to ('R', 'L', 'A', ...), and back:
 * 0 when the words are none of these six. */
const char *rd_orientation_words (char letter);
char rd_orientation_letter (const char *words);

#endif /* RD_META_H */
