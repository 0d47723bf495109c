/* SPDX-License-Identifier: MIT */
/* The array "nifti" of a volume: all bytes before the voxels, as nifti-zarr
 * wants them.  It is a copy for other readers; the bytes that count are
 * those in attributes.radio, which are committed with the rest. */
#ifndef RD_HEADER_H
#define RD_HEADER_H

#include "src/base/buffer.h"
#include "src/array/array.h"

#define RD_HEADER_NAME "nifti"

/* Write the array of the volume at path, over what may be there.  The
 * caller holds the volume's lock. */
enum radio_status rd_header_write (struct radio_store *store,
                                   const char *path,
                                   const struct rd_buffer *prefix)
  RADIO_USE_RESULT;

/* Whether the array is there and holds just these bytes.  What is wrong with
 * it otherwise is left in the thread's message. */
enum radio_status rd_header_matches (struct radio_store *store,
                                     const char *path,
                                     const struct rd_buffer *prefix,
                                     bool *matches) RADIO_USE_RESULT;

/* Make the array what the document says that is there now; none if there is
 * no volume of radio's.  For who has removed or written one of the two while
 * others may have done so, too.  The caller holds the volume's lock. */
enum radio_status rd_header_mend (struct radio_store *store,
                                  const char *path) RADIO_USE_RESULT;

/* The same for who has published a volume with these bytes, and has given
 * the lock back: where locks tell there is nothing to do. */
enum radio_status rd_header_mend_own (struct radio_store *store,
                                      const char *path,
                                      const struct rd_buffer *prefix)
  RADIO_USE_RESULT;

#endif /* RD_HEADER_H */
