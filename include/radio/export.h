/* SPDX-License-Identifier: MIT */
/* Export: volumes, boxes and planes back into files. */
#ifndef RADIO_EXPORT_H
#define RADIO_EXPORT_H

#include <radio/array.h>
#include <radio/base.h>
#include <radio/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_export_options {
  /* Replace an existing file.  Else RADIO_ERROR_EXISTS. */
  bool overwrite;
  /* Deliver scaled float32 values instead of stored ones (.npy only). */
  bool scaled;
};

/* Write a volume, or a box of it, to a file whose suffix says the format:
 *  .nii, .nii.gz  with box NULL the header as it was ingested, so that the
 *                 file equals the decompressed source byte for byte; with a
 *                 box a header whose dimensions and origin are the box's;
 *  .npy           as nibabel has it: axes x, y, z, Fortran order.
 * The file appears at once, when it is whole.  Memory is bounded by the
 * context's limit, whatever the size.
 * Errors: RADIO_ERROR_ARGUMENT (unknown suffix, box outside),
 * RADIO_ERROR_EXISTS, RADIO_ERROR_UNSUPPORTED (a type that the format
 * lacks), those of reading and writing. */
RADIO_API enum radio_status
radio_volume_export (struct radio_volume *volume, const struct radio_box *box,
                     const char *file,
                     const struct radio_export_options *options)
  RADIO_USE_RESULT;

/* Write an array, or a box of it, to a .npy file as it is stored (C order).
 * Errors as of radio_volume_export. */
RADIO_API enum radio_status
radio_array_export (struct radio_array *array, const struct radio_box *box,
                    const char *file,
                    const struct radio_export_options *options)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_EXPORT_H */
