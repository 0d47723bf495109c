/* SPDX-License-Identifier: MIT */
/* Copies of images, in memory. */
#ifndef RD_SNAPSHOT_H
#define RD_SNAPSHOT_H

#include "profiler/record/record.h"

/* Memory for an image, at a page's boundary. */
struct rd_copy {
  unsigned char *at;
  size_t nbytes;
};

/* Zeroed.  Errors: RADIO_ERROR_MEMORY. */
enum radio_status rd_copy_new (size_t nbytes,
                               struct rd_copy *copy) RADIO_USE_RESULT;
void rd_copy_free (struct rd_copy *copy);

/* Copies the image of a recorder with a ring at one moment, which is its last
 * sign of life; the threads wait for as long as all but the log takes.  The
 * caller frees the copy, also after a failure.  Errors: RADIO_ERROR_MEMORY,
 * RADIO_ERROR_ARGUMENT (stopped). */
enum radio_status rd_snapshot_take (struct radio_recorder *recorder,
                                    struct rd_copy *copy) RADIO_USE_RESULT;

/* Makes a stopped recorder of such a copy, which is to be freed after it. */
enum radio_status
rd_snapshot_recover (struct radio_recorder *recorder, struct rd_copy *copy,
                     struct radio_recorder **copied) RADIO_USE_RESULT;

#endif /* RD_SNAPSHOT_H */
