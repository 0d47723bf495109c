/* SPDX-License-Identifier: MIT */
/* What the parts of exporting share. */
#ifndef RD_EXPORT_H
#define RD_EXPORT_H

#include <radio/export.h>

#include "src/volume/stream.h"
#include "src/volume/volume.h"

enum rd_format { RD_FORMAT_NIFTI, RD_FORMAT_NPY };

/* A file's format by its suffix, in any case of letters.
 * RADIO_ERROR_ARGUMENT names the file. */
enum radio_status rd_export_format (const char *file, enum rd_format *format)
  RADIO_USE_RESULT;

/* NIfTI's place of each axis of a volume: 1 to 5 for x, y, z, t, c; 0 for a
 * colour's, which lie together in a voxel. */
size_t rd_export_axis (const struct radio_volume *volume, size_t axis);

/* The bytes before the voxels of a .nii: those that were ingested when box
 * is NULL, else made from them or from the volume's geometry.  *swapped
 * tells the byte order that the voxels must have. */
enum radio_status rd_export_nifti_header (const struct radio_volume *volume,
                                          const struct radio_box *box,
                                          struct rd_buffer *out,
                                          bool *swapped) RADIO_USE_RESULT;

/* The header of a .npy with the volume as nibabel has it. */
enum radio_status rd_export_npy_header (const struct radio_volume *volume,
                                        const struct radio_box *box,
                                        const struct rd_stream *stream,
                                        struct rd_buffer *out)
  RADIO_USE_RESULT;

#endif /* RD_EXPORT_H */
