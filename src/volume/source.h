/* SPDX-License-Identifier: MIT */
/* What ingest takes in: a header and the voxels after it, in file order,
 * whether they come from a file or are made up on the way (phantom). */
#ifndef RD_SOURCE_H
#define RD_SOURCE_H

#include <radio/ingest.h>

#include "src/base/buffer.h"
#include "src/nifti/nifti.h"

/* A source begins with this.  It is used from one thread at a time and
 * stays its maker's: ingest neither closes nor frees it. */
struct rd_source {
  const char *name;           /* as messages and the volume's document have
                                 it: a file's name, "phantom" */
  struct rd_nifti nifti;
  struct rd_buffer prefix;    /* all bytes before the voxels */

  /* Read exactly the next nbytes of voxels, in the file's byte order.
   * RADIO_ERROR_FORMAT when the source ends before. */
  enum radio_status (*read) (struct rd_source *source, void *data,
                             size_t nbytes);

  /* After the last voxel: the number of bytes that follow it. */
  enum radio_status (*finish) (struct rd_source *source,
                               uint64_t *trailing_nbytes);

  /* How far reading has come.  Called between reads. */
  void (*progress) (const struct rd_source *source,
                    struct radio_progress *progress);
};

/* Ingest a source as the volume at path; all that radio_ingest says holds,
 * which is this with a file as its source.  options and result may be
 * NULL. */
enum radio_status
rd_ingest_source (struct radio_store *store, struct rd_source *source,
                  const char *path,
                  const struct radio_ingest_options *options,
                  struct radio_ingest_result *result) RADIO_USE_RESULT;

#endif /* RD_SOURCE_H */
