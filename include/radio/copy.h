/* SPDX-License-Identifier: MIT */
/* Copying volumes from store to store, as they are. */
#ifndef RADIO_COPY_H
#define RADIO_COPY_H

#include <radio/base.h>
#include <radio/ingest.h>
#include <radio/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_copy_options {
  enum radio_existing existing;       /* a volume of that path is there */

  /* Write nothing; tell what would be sent.  Objects that are there are
   * compared by their size alone then. */
  bool dry_run;

  /* Do not read again what was written, where each byte read has its price:
   * then only its size is looked at. */
  bool no_read_back;

  /* total_nbytes is of all shards; done_nbytes those that are there. */
  radio_progress_fn *progress;
  void *user_data;                    /* of progress */
};

/* Of shards; documents and header arrays are small and not counted. */
struct radio_copy_result {
  bool skipped;
  uint64_t sent_count;                /* written by this call */
  uint64_t sent_nbytes;
  uint64_t there_count;               /* found there whole, and not sent */
  uint64_t there_nbytes;
};

/* Copy one volume that radio wrote: its shards and documents byte for byte,
 * to to_path ("COLLECTION/NAME"; NULL: path) of a store of radio's.  The
 * volume appears, or is replaced, at once when all of it is there, or not at
 * all.  Nothing is listed, so a web server can be copied from.  It is done
 * by the context of `to', in bounded memory.
 *
 * The checksums of each shard are verified before it is published, and what
 * was written is read again and compared.  Damage ends the copy.
 *
 * A copy that ended early leaves the shards that it wrote, which no volume
 * names: the next one of the same volume to the same path finds them, checks
 * them where they lie, and sends what is missing; radio_store_gc and an
 * ingest to that path remove them.  Where shards have no checksums all are
 * sent again.
 *
 * options and result may be NULL; result tells of a copy that failed as
 * well.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such volume, or it was replaced or
 * removed meanwhile); RADIO_ERROR_UNSUPPORTED (another program wrote the
 * volume or the store `to'); RADIO_ERROR_EXISTS; RADIO_ERROR_CHECKSUM and
 * RADIO_ERROR_FORMAT (the source is damaged: the message names the tile);
 * RADIO_ERROR_ARGUMENT (illegal path); RADIO_ERROR_LIMIT (a tile exceeds the
 * memory limit); RADIO_ERROR_NO_SPACE, RADIO_ERROR_PERMISSION,
 * RADIO_ERROR_IO (also: another copy to this path is under way, or what was
 * read again differs); RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_volume_copy (struct radio_store *from, const char *path,
                   struct radio_store *to, const char *to_path,
                   const struct radio_copy_options *options,
                   struct radio_copy_result *result) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_COPY_H */
