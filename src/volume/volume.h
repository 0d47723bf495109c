/* SPDX-License-Identifier: MIT */
/* The definition of a volume's handle. */
#ifndef RD_VOLUME_H
#define RD_VOLUME_H

#include <radio/volume.h>

#include "src/volume/meta.h"

struct radio_volume {
  char *path;                         /* of a file: its name */
  uint64_t file_nbytes;               /* of the voxels' file */
  struct radio_array *array;
  bool has_level_copy;                /* the array is opened from the copy of
                                         its document in the volume's */
  struct rd_volume_meta meta;
  struct radio_volume_info info;
};

RD_DEFINE_CLEANUP (volume, struct radio_volume, radio_volume_close);

/* Open a volume whose group document has been read. */
enum radio_status rd_volume_open_group (struct radio_store *store,
                                        const char *path,
                                        const struct rd_group_doc *group,
                                        struct radio_volume **volume)
  RADIO_USE_RESULT;

/* Fills a volume's info from its metadata and its array. */
void rd_volume_fill_info (struct radio_volume *volume);

#endif /* RD_VOLUME_H */
