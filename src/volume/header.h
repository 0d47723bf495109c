/* SPDX-License-Identifier: MIT */
/* The array "nifti" of a volume: all bytes before the voxels, as nifti-zarr
 * defines it.  It is a copy for other readers; radio uses the bytes in
 * attributes.radio, which are committed with the document. */
#ifndef RD_HEADER_H
#define RD_HEADER_H

#include "src/base/buffer.h"
#include "src/array/array.h"

#define RD_HEADER_NAME "nifti"

/* Write the array of the volume at path, replacing any that exists.  The
 * caller holds the volume's lock. */
enum radio_status rd_header_write (struct radio_store *store,
                                   const char *path,
                                   const struct rd_buffer *prefix)
  RADIO_USE_RESULT;

/* Finds whether the array exists and holds exactly these bytes.  If not, the
 * thread's message says why. */
enum radio_status rd_header_matches (struct radio_store *store,
                                     const char *path,
                                     const struct rd_buffer *prefix,
                                     bool *matches) RADIO_USE_RESULT;

/* Rewrite the array if it differs from the volume's current document; do
 * nothing if there is no volume of radio's.  For callers that have removed
 * or written one of the two while other processes may have done so, too.
 * The caller holds the volume's lock. */
enum radio_status rd_header_repair (struct radio_store *store,
                                    const char *path) RADIO_USE_RESULT;

/* The same for a caller that has published a volume with these bytes and
 * has released the lock; does nothing where locks exclude other
 * processes. */
enum radio_status rd_header_repair_own (struct radio_store *store,
                                        const char *path,
                                        const struct rd_buffer *prefix)
  RADIO_USE_RESULT;

#endif /* RD_HEADER_H */
