/* SPDX-License-Identifier: MIT */
/* Copying volumes from store to store, byte for byte. */
#ifndef RADIO_COPY_H
#define RADIO_COPY_H

#include <radio/base.h>
#include <radio/ingest.h>
#include <radio/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_copy_options {
  /* If a volume has that path.  With RADIO_EXISTING_ERROR, and not by_store,
   * one that is what the copy would be (same level and document) is skipped. */
  enum radio_existing existing;

  /* Write nothing; report what would be sent.  Existing objects are then
   * compared by size only. */
  bool dry_run;

  /* Do not read back what was written, where reading costs money: only its
   * size is compared. */
  bool no_read_back;

  /* If both are one store, opened once: its shards are not read, but linked on
   * a disk, and copied by the server in S3, where that is possible.  Their
   * checksums are not verified, and damage of one that is linked is that of
   * both: for a volume whose old path is removed afterwards, so one with
   * other programs' groups or arrays in its folder, which are not copied, is
   * refused (RADIO_ERROR_UNSUPPORTED). */
  bool by_store;

  /* Blank the image's origin in the documents: the header's texts and
   * extensions, as strip of struct radio_ingest_options does, the name and the
   * SHA-256 of the source, that of the image that it was derived from, all
   * attributes that radio did not write, and the volume's name in OME-Zarr's
   * metadata, which becomes that of to_path.  The axes, transformations, colors
   * and windows of channels, and labels of this metadata stay.  A level with
   * attributes, or with members that are not Zarr's, is refused
   * (RADIO_ERROR_UNSUPPORTED).  Voxels, affine, and the level's name stay, so
   * the copy can be recognised by comparison with the source. */
  bool strip;

  /* total_nbytes counts all shards; done_nbytes those already copied. */
  radio_progress_fn *progress;
  void *user_data;                    /* of progress */

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Counts of shards; documents and header arrays are not counted.  A result:
 * later versions may add members at its end. */
struct radio_copy_result {
  bool skipped;
  uint64_t sent_count;                /* written by this call */
  uint64_t sent_nbytes;
  uint64_t there_count;               /* found complete, not sent */
  uint64_t there_nbytes;
};

/* Copies one volume that radio wrote, its shards and documents byte for byte,
 * to to_path ("COLLECTION/NAME"; NULL: path) of a store that radio made.  The
 * volume appears, or is replaced, atomically once all of it is copied.  Nothing
 * is listed, so the source may be a web server.  The copy runs in the context
 * of `to', in bounded memory.
 *
 * The checksums of each shard are verified before it is published, and what
 * was written is read back and compared.  Damage ends the copy.
 *
 * An interrupted copy leaves its shards, which no volume names: the next copy
 * of the same volume to the same path verifies them in place and sends the
 * missing ones; radio_store_gc and an ingest to that path remove them.  Shards
 * without checksums are always sent again.
 *
 * options and result may be NULL; result is also filled for a failed copy.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such volume, or it was replaced or
 * removed during the copy); RADIO_ERROR_UNSUPPORTED (another program wrote the
 * volume or the store `to'); RADIO_ERROR_EXISTS; RADIO_ERROR_CHECKSUM and
 * RADIO_ERROR_FORMAT (the source is damaged: the message names the tile);
 * RADIO_ERROR_ARGUMENT (illegal path); RADIO_ERROR_LIMIT (a tile exceeds the
 * memory limit); RADIO_ERROR_NO_SPACE, RADIO_ERROR_PERMISSION,
 * RADIO_ERROR_IO (also: another copy to this path is running, or what was
 * read back differs); RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_volume_copy (struct radio_store *from, const char *path,
                   struct radio_store *to, const char *to_path,
                   const struct radio_copy_options *options,
                   struct radio_copy_result *result,
                   size_t result_nbytes) RADIO_USE_RESULT;
#define radio_volume_copy(from, path, to, to_path, options, result) \
  radio_volume_copy (from, path, to, to_path, options, result, \
                     sizeof (struct radio_copy_result))

/* Removes a volume of which there is a copy in the store, as radio_store_remove
 * does, but only if both are still what they were when it was copied: they name
 * the same levels.  So of two processes that move a volume, or of one that
 * replaces it meanwhile, none loses anything.  In S3, where no lock holds
 * between processes, a volume that is replaced in the moment between this check
 * and the removal is removed.
 * Errors: those of radio_store_remove; RADIO_ERROR_NOT_FOUND (also: one of them
 * was replaced, nothing was removed); RADIO_ERROR_ARGUMENT (equal paths). */
RADIO_API enum radio_status
radio_store_remove_copied (struct radio_store *store, const char *path,
                           const char *copy) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_COPY_H */
