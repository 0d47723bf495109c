/* SPDX-License-Identifier: MIT */
/* A volume as a NIfTI image: its header, and the order of its voxels. */
#ifndef RD_IMAGE_HEADER_H
#define RD_IMAGE_HEADER_H

#include <radio/create.h>

#include "src/volume/volume.h"

/* NIfTI's number of a volume's axis: 1 to 7 for x, y, z, t, c, v, w; 0 for a
 * colour's, whose channels are adjacent in a voxel. */
size_t rd_image_axis (const struct radio_volume *volume, size_t axis);

/* The array's axes in a NIfTI file, the slowest first: w, v, c, t, z, y, x, and
 * a voxel's colours. */
void rd_image_order (const struct radio_volume *volume,
                     size_t order[RADIO_MAX_RANK]);

/* Replaces out by the bytes before the voxels of a .nii: those that were
 * ingested if box is NULL, else derived from them or from the volume's
 * geometry.  *swapped is the byte order that the voxels must have. */
enum radio_status rd_image_header (const struct radio_volume *volume,
                                   const struct radio_box *box,
                                   struct rd_buffer *out, bool *swapped)
  RADIO_USE_RESULT;

/* Makes all bytes before the voxels of the image that options describe, in out,
 * which is empty, and parses them.  Messages have the name.  Errors: those of
 * radio_volume_create. */
enum radio_status
rd_image_make_header (const struct radio_create_options *options,
                      const char *name, struct rd_buffer *out,
                      struct rd_nifti *nifti) RADIO_USE_RESULT;

#endif /* RD_IMAGE_HEADER_H */
