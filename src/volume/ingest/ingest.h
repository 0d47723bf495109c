/* SPDX-License-Identifier: MIT */
/* Ingest: a header and the voxels after it, in file order, which are pulled
 * from a source (a file, the phantom) or pushed (from a program's memory). */
#ifndef RD_INGEST_H
#define RD_INGEST_H

#include <radio/ingest.h>

#include "src/base/buffer.h"
#include "src/nifti/nifti.h"

/* The image, except its voxels. */
struct rd_ingest_image {
  const char *name;           /* in messages and the volume's document: a
                                 file's name, "phantom" */
  struct rd_nifti nifti;
  struct rd_buffer prefix;    /* all bytes before the voxels */

  /* For an image that a pipeline made: its text, and the SHA-256 of the image
   * that it was applied to.  A volume already made by the same pipeline, with
   * the same tiling and codec, is skipped.  Else NULL. */
  const char *derived_pipeline, *derived_sha256;

  /* The SHA-256 of the grids and masks that it takes from other volumes, which
   * are to be the same, too; NULL: it names no volumes. */
  const char *named_sha256;
  const char *derived_level;  /* the source's level, which is not replaced by
                                 this image; NULL: it has none */
};

struct rd_ingest;

/* Begin to ingest an image.  The image and path are copied; what options point
 * to is used during this call only, except their callback of warnings.
 * *ingest is NULL if the volume exists and the options say to skip it then. */
enum radio_status
rd_ingest_begin (struct radio_store *store, const char *path,
                 const struct rd_ingest_image *image,
                 const struct radio_ingest_options *options,
                 struct rd_ingest **ingest) RADIO_USE_RESULT;

/* The room for the next voxels, in the file's order of elements and bytes:
 * *nbytes, at most a layer of tiles; 0 after the last voxel. */
enum radio_status
rd_ingest_room (struct rd_ingest *ingest, unsigned char **room,
                size_t *nbytes) RADIO_USE_RESULT;

/* Take nbytes that were put at the beginning of the room. */
enum radio_status
rd_ingest_take (struct rd_ingest *ingest, size_t nbytes) RADIO_USE_RESULT;

/* Publish the volume once all voxels were taken.  trailing_nbytes followed them
 * in the file.  The ingest is to be aborted in any case: that releases it. */
enum radio_status
rd_ingest_commit (struct rd_ingest *ingest, uint64_t trailing_nbytes,
                  struct radio_ingest_result *result) RADIO_USE_RESULT;

/* Release an ingest and, unless it was committed, remove what it has written.
 * NULL is legal.  The thread's message is kept. */
void rd_ingest_abort (struct rd_ingest *ingest);
RD_DEFINE_CLEANUP (ingest, struct rd_ingest, rd_ingest_abort);

/* The base of a source.  It is used by one thread at a time and owned by
 * its creator: ingest neither closes nor frees it. */
struct rd_source {
  struct rd_ingest_image image;

  /* Set by finish: what is wrong after the voxels, which are whole; or NULL. */
  const char *problem;

  /* Read exactly the next nbytes of voxels, in the file's byte order.
   * RADIO_ERROR_FORMAT when the source ends before. */
  enum radio_status (*read) (struct rd_source *source, void *data,
                             size_t nbytes);

  /* After the last voxel: the number of bytes that follow it. */
  enum radio_status (*finish) (struct rd_source *source,
                               uint64_t *trailing_nbytes);

  /* The progress of reading.  Called between reads. */
  void (*progress) (const struct rd_source *source,
                    struct radio_progress *progress);
};

/* Ingest a source as the volume at path.  The contract is radio_ingest's,
 * which calls this with a file as the source.  options and result may be
 * NULL. */
enum radio_status
rd_ingest_source (struct radio_store *store, struct rd_source *source,
                  const char *path,
                  const struct radio_ingest_options *options,
                  struct radio_ingest_result *result) RADIO_USE_RESULT;

/* Runs an ingest, whose status it returns: again, when fewer are in progress,
 * if the process lacked descriptors.  data is run's. */
enum radio_status
rd_ingest_in_turn (struct radio_context *context,
                   enum radio_status (*run) (void *data), void *data)
  RADIO_USE_RESULT;

#endif /* RD_INGEST_H */
