/* SPDX-License-Identifier: MIT */
/* The definition of a volume's handle. */
#ifndef RD_VOLUME_H
#define RD_VOLUME_H

#include <radio/volume.h>

#include "src/operation/pipeline.h"
#include "src/volume/meta.h"

struct radio_volume {
  atomic_int nothers;                 /* references besides the first one */
  char *path;                         /* of a file: its name */
  uint64_t file_nbytes;               /* of the voxels' file */
  uint64_t missing_nbytes;            /* of voxels, at its end */
  struct radio_array *array;
  bool has_level_copy;                /* the array is opened from the copy of
                                         its document in the volume's */
  struct rd_volume_meta meta;
  struct radio_volume_info info;
  _Atomic uint64_t napplied;          /* pipelines that were applied to it */

  /* Set for a volume with a pipeline; else NULL. */
  struct radio_volume *root;          /* a reference; it has none */
  struct radio_pipeline *pipeline;    /* all that is applied to it */
};

RD_DEFINE_CLEANUP (volume, struct radio_volume, radio_volume_close);

/* Open a volume whose group document has been read. */
enum radio_status rd_volume_open_group (struct radio_store *store,
                                        const char *path,
                                        const struct rd_group_doc *group,
                                        struct radio_volume **volume)
  RADIO_USE_RESULT;

/* Opens the array of an image without tiles, in its file or in memory, which
 * has this key in a store, and adds to the volume's metadata what documents say
 * of others.  Its path, nifti and prefix are set. */
enum radio_status rd_volume_open_image (struct radio_volume *volume,
                                        struct radio_store *store,
                                        const char *key, const char *codec)
  RADIO_USE_RESULT;

/* Fills a volume's info from its metadata and its array. */
void rd_volume_fill_info (struct radio_volume *volume);

/* Sets orientation and plane_axis by the affine; no orientation unless it is
 * known. */
void rd_volume_orient (struct radio_volume *volume, bool is_oriented);

/* The axis of the array for x, y or z; the rank if a 2-D image lacks it. */
size_t rd_volume_axis (const struct radio_volume *volume, char letter);

/* True if an element is a channel of a colour. */
static inline bool
rd_volume_is_colour (const struct radio_volume *volume)
{
  return volume->meta.has_nifti
         && volume->meta.nifti.colour != RD_COLOUR_NONE;
}

#endif /* RD_VOLUME_H */
