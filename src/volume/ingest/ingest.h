/* SPDX-License-Identifier: MIT */
/* Ingest from a source: a header and the voxels after it, in file order,
 * read from a file or generated (phantom). */
#ifndef RD_INGEST_H
#define RD_INGEST_H

#include <radio/ingest.h>

#include "src/base/buffer.h"
#include "src/nifti/nifti.h"

/* The base of a source.  It is used by one thread at a time and owned by
 * its creator: ingest neither closes nor frees it. */
struct rd_source {
  const char *name;           /* in messages and the volume's document: a
                                 file's name, "phantom" */
  struct rd_nifti nifti;
  struct rd_buffer prefix;    /* all bytes before the voxels */

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

#endif /* RD_INGEST_H */
