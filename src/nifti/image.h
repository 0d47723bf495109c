/* SPDX-License-Identifier: MIT */
/* A NIfTI image as a source of voxels: header file and voxel file (the same
 * for .nii), header parsed, everything before the voxels kept, voxels read
 * in file order. */
#ifndef RD_IMAGE_H
#define RD_IMAGE_H

#include "src/nifti/input.h"
#include "src/nifti/nifti.h"

struct rd_image {
  char *file;                 /* as messages name it */
  struct rd_input_source *source;     /* NULL: the local disk */
  struct rd_nifti nifti;
  struct rd_buffer prefix;    /* all bytes before the voxels; for a pair all
                                 of the .hdr */
  struct rd_input *voxels;    /* stands at the first voxel */
  uint64_t missing_nbytes;    /* of voxels that the header claims and the file
                                 is too short for; of gzip at least */
  uint64_t nread;             /* bytes of voxels read */
  const char *problem;        /* after the voxels, once finished; or NULL */
};

/* Open .nii, .nii.gz, .hdr, .hdr.gz, .img or .img.gz; of a pair the other
 * half is found beside it, gzipped or not.  A file that cannot hold even the
 * first plane of voxels that its header claims is refused here. */
enum radio_status rd_image_open (const char *file, struct rd_image **image)
  RADIO_USE_RESULT;

/* The same of files of a source, which lives longer; NULL: the local disk. */
enum radio_status rd_image_open_from (struct rd_input_source *source,
                                      const char *file,
                                      struct rd_image **image)
  RADIO_USE_RESULT;

/* Refuses an image of which voxels are missing. */
enum radio_status rd_image_check_whole (const struct rd_image *image)
  RADIO_USE_RESULT;
void rd_image_close (struct rd_image *image);
RD_DEFINE_CLEANUP (image, struct rd_image, rd_image_close);

/* Read exactly the next nbytes of voxels, in the file's byte order.
 * RADIO_ERROR_FORMAT when the file ends before. */
enum radio_status rd_image_read (struct rd_image *image, void *data,
                                 size_t nbytes) RADIO_USE_RESULT;

/* After the last voxel: count the bytes that follow in the file (to its end,
 * so that gzip's checksum is seen to be right), and set the image's problem. */
enum radio_status rd_image_finish (struct rd_image *image,
                                   uint64_t *trailing_nbytes)
  RADIO_USE_RESULT;

#endif /* RD_IMAGE_H */
