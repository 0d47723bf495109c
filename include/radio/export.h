/* SPDX-License-Identifier: MIT */
/* Export: volumes, boxes and planes to files. */
#ifndef RADIO_EXPORT_H
#define RADIO_EXPORT_H

#include <radio/array.h>
#include <radio/base.h>
#include <radio/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_export_options {
  /* Replace an existing regular file instead of failing with
   * RADIO_ERROR_EXISTS. */
  bool overwrite;
  /* Write scaled float32 values instead of stored ones (.npy of a volume of
   * real numbers only). */
  bool scaled;
  /* Called if some values that a volume's pipeline computed are NaN, and if the
   * file is complete, but its temporary file is left since it could not be
   * removed; may be NULL. */
  radio_warning_fn *warning;
  void *user_data;

  /* For .nii.gz: begin a new gzip member after this many bytes, 65536 to
   * 67108864, and write its length into its header (a subfield IG, as pgzip
   * does). Such files are inflated by all threads from the first read on; they
   * are slightly larger, and some programs stop after the first member.  0: one
   * member. */
  uint64_t member_nbytes;

  /* As that of radio_read_options, also called before the file appears: if it
   * returns true, there is no file, and an existing one stays.  Called with
   * user_data; NULL: the thread's (radio_thread_set_cancel). */
  radio_cancel_fn *cancel;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[6];
};

/* Writes a volume, or a box of it (in array order; NULL: all), to a file in the
 * format of its suffix, in any case of letters:
 *  .nii, .nii.gz  with box NULL the header as ingested, so that the file equals
 *                 the decompressed source byte for byte; with a box a header
 *                 with the box's dimensions and origin; of a volume without a
 *                 NIfTI header one that is made of its geometry;
 *  .npy           as nibabel: axes x, y, z, t, c, Fortran order.
 * The file appears atomically, when it is on the disk.  Memory is bounded by
 * the context's limit, whatever the size.
 * Errors: RADIO_ERROR_ARGUMENT (unknown suffix; a box outside, without all
 * channels of colours, or empty for .nii; scaled complex values; file is a
 * folder or device); RADIO_ERROR_EXISTS; RADIO_ERROR_NOT_FOUND (no such
 * folder); RADIO_ERROR_UNSUPPORTED (a type that the format lacks, scaled
 * colours); RADIO_ERROR_FORMAT (header and array disagree);
 * RADIO_ERROR_NO_SPACE; RADIO_ERROR_CANCELLED; those of radio_array_read. */
RADIO_API enum radio_status
radio_volume_export (struct radio_volume *volume, const struct radio_box *box,
                     const char *file,
                     const struct radio_export_options *options)
  RADIO_USE_RESULT;

/* Writes an array, or a box of it (NULL: all), to a .npy file as stored, in C
 * order.
 * Errors: RADIO_ERROR_ARGUMENT (another suffix, a box outside, scaled), else as
 * radio_volume_export. */
RADIO_API enum radio_status
radio_array_export (struct radio_array *array, const struct radio_box *box,
                    const char *file,
                    const struct radio_export_options *options)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_EXPORT_H */
