/* SPDX-License-Identifier: MIT */
/* The array "nifti" of a volume: all bytes before the voxels, as nifti-zarr
 * defines it.  It is a copy for other readers; radio uses the bytes in
 * attributes.radio, which are committed with the volume's document.
 *
 * The volume's document has a copy of the array's document, too.  A writer
 * that replaces a volume puts the new header's bytes under a key of the chunk
 * that neither of these two documents names, publishes the volume's document,
 * which names the new key, and puts the array's document last.  So both
 * documents always name a chunk that they decode.  If the writer dies before
 * the last step, the array is stale: it has the header of the volume before.
 */
#ifndef RD_HEADER_H
#define RD_HEADER_H

#include "src/base/buffer.h"
#include "src/volume/node.h"

/* Put a new header's bytes under a key that neither document names.  *key is
 * the chosen one; *is_written is set if the array has these bytes already,
 * under *key.  Two writers that choose one key at the same time, where locks
 * do not exclude other processes: a chunk is put if it is absent, else it is
 * the oldest of those not named, and is read back.  The caller holds the
 * volume's lock. */
enum radio_status rd_header_put_chunk (struct radio_store *store,
                                       const char *path,
                                       const struct rd_buffer *prefix,
                                       const struct rd_existing *existing,
                                       enum rd_header_key *key,
                                       bool *is_written) RADIO_USE_RESULT;

/* Put the array's document.  The caller holds the volume's lock. */
enum radio_status rd_header_put_document (struct radio_store *store,
                                          const char *path,
                                          const struct rd_buffer *prefix,
                                          enum rd_header_key key,
                                          enum rd_put how) RADIO_USE_RESULT;

enum rd_header_state {
  RD_HEADER_CURRENT,          /* it has the volume's header */
  RD_HEADER_STALE,            /* an earlier one; the volume's document names
                                 the right one */
  RD_HEADER_BAD,
};

/* Compare the array with the header in the volume's document, which names
 * this key.  If it is not current, the thread's message says why. */
enum radio_status rd_header_inspect (struct radio_store *store,
                                     const char *path,
                                     const struct rd_buffer *prefix,
                                     enum rd_header_key named,
                                     enum rd_header_state *state)
  RADIO_USE_RESULT;

/* Write the array again if it differs from the volume's current document; do
 * nothing if there is no volume of radio's.  For callers that have removed
 * or written one of the two while other processes may have done so, too.
 * The caller holds the volume's lock. */
enum radio_status rd_header_repair (struct radio_store *store,
                                    const char *path) RADIO_USE_RESULT;

/* The same for a caller that has published a volume with these bytes, and
 * this key, and has released the lock; does nothing where locks exclude other
 * processes.  If the array was not written after the volume's document and
 * has the bytes, it is not necessary to read that document. */
enum radio_status rd_header_repair_own (struct radio_store *store,
                                        const char *path,
                                        const struct rd_buffer *prefix,
                                        enum rd_header_key key,
                                        bool was_last) RADIO_USE_RESULT;

#endif /* RD_HEADER_H */
