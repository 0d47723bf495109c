/* SPDX-License-Identifier: MIT */
/* The inside of a volume's handle, and how its group document is made and
 * read: attributes.ome (OME-Zarr 0.5) and attributes.radio. */
#ifndef RD_VOLUME_H
#define RD_VOLUME_H

#include <radio/volume.h>

#include "src/array/array.h"
#include "src/nifti/nifti.h"

/* What a group document says of a volume, parsed. */
struct rd_volume_meta {
  char *level_path;           /* datasets[0].path */
  char axes[RADIO_MAX_RANK + 1];
  double scale[RADIO_MAX_RANK];       /* datasets[0]'s, times the image's */
  double translation[RADIO_MAX_RANK];
  char *space_unit, *time_unit;
  char *orientation[RADIO_MAX_RANK];  /* RFC-4 values; NULL: none */
  bool has_window;
  double window_start, window_end;
  /* attributes.radio; absent in other people's images. */
  struct rd_buffer prefix;    /* all bytes before the voxels */
  bool has_nifti;
  struct rd_nifti nifti;
  char *source_name, *source_sha256, *tiling, *codec;
  uint64_t source_nbytes;
};

struct radio_volume {
  char *path;
  struct radio_array *array;
  struct rd_volume_meta meta;
  struct radio_volume_info info;
};

RD_DEFINE_CLEANUP (volume, struct radio_volume, radio_volume_close);

/* Open a volume from its document, which was read. */
enum radio_status rd_volume_open_group (struct radio_store *store,
                                        const char *path,
                                        const struct rd_group_doc *group,
                                        struct radio_volume **volume)
  RADIO_USE_RESULT;

#endif /* RD_VOLUME_H */
