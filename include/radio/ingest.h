/* SPDX-License-Identifier: MIT */
/* Ingest: NIfTI files into volumes of a store. */
#ifndef RADIO_INGEST_H
#define RADIO_INGEST_H

#include <radio/base.h>
#include <radio/layout.h>
#include <radio/store.h>
#include <radio/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The action if the volume exists. */
enum radio_existing {
  RADIO_EXISTING_ERROR = 0,   /* fail with RADIO_ERROR_EXISTS */
  RADIO_EXISTING_SKIP,        /* leave it; result->skipped is set */
  RADIO_EXISTING_REPLACE,     /* replace it at once */
};

/* Progress of reading a file.  total_nbytes is the file's size on disk
 * (compressed), done_nbytes how much of it was read.  Later versions may add
 * members at the end. */
struct radio_progress {
  uint64_t done_nbytes;
  uint64_t total_nbytes;
};

/* Called from time to time on the calling thread; anything but RADIO_OK ends
 * the operation with RADIO_ERROR_CANCELLED. */
typedef enum radio_status radio_progress_fn (const struct radio_progress *p,
                                             void *user_data);

struct radio_ingest_options {
  /* "balanced" (also NULL), "axial", "isotropic", or the tile's size as
   * "X,Y,Z". */
  const char *tiling;
  /* "small", "medium" (also NULL), "fast", "none"; or a JSON list of Zarr
   * codecs for the tiles (starting with an array->bytes codec). */
  const char *codec;
  /* Target size of a shard, uncompressed.  0: 32 MiB, and one shard up to 64
   * MiB. */
  uint64_t shard_nbytes;
  enum radio_existing existing;
  /* Blank the header's free-text fields (descrip, aux_file, intent_name,
   * and db_name) and drop the extensions; each is reported to warning. */
  bool strip;
  radio_progress_fn *progress;
  radio_warning_fn *warning;
  void *user_data;                    /* of both callbacks */

  /* The image is a mask, and what its values are, by ascending value: kept as
   * OME-Zarr's image-label, if the type is an integer's.  labels may be NULL
   * if nlabels is 0, and is used during the call only. */
  const struct radio_label *labels;
  size_t nlabels;
  bool is_labels;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[5];
};

/* A result: later versions may add members at its end. */
struct radio_ingest_result {
  bool skipped;
  uint64_t source_nbytes;             /* decompressed header and voxels */
  uint64_t stored_nbytes;             /* shards written */
};

/* Ingests one NIfTI image (.nii, .nii.gz, .hdr or .img with its pair, either
 * gzipped) as the volume at path ("collection/name").  The volume appears,
 * or is replaced, atomically once everything is on the disk.
 * options and result may be NULL.
 *
 * All voxels must be there.  A gzip file that is cut short within the checksum
 * at its end, or has other data after it, is ingested with a warning, as it is
 * read.
 *
 * It returns when the volume is durable: on a disk after several fsyncs, over a
 * network after several round trips.  So many small volumes are ingested much
 * faster by calls on several threads at the same time (the command uses 64),
 * whose fsyncs share the disk's commits, than by one call after the other.
 *
 * When two writers race for a new name, the second gets RADIO_OK if both have
 * the same bytes, else RADIO_ERROR_EXISTS; with RADIO_EXISTING_REPLACE the
 * last one wins.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such file); RADIO_ERROR_FORMAT (not
 * NIfTI, truncated, wrong header: the message names the field and value);
 * RADIO_ERROR_UNSUPPORTED (float128, one dimension, ...: named);
 * RADIO_ERROR_EXISTS; RADIO_ERROR_ARGUMENT (illegal path, tiling or
 * codec); RADIO_ERROR_LIMIT (one layer of tiles exceeds the memory
 * limit); RADIO_ERROR_NO_SPACE, RADIO_ERROR_PERMISSION, RADIO_ERROR_IO;
 * RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_ingest (struct radio_store *store, const char *file, const char *path,
              const struct radio_ingest_options *options,
              struct radio_ingest_result *result,
              size_t result_nbytes) RADIO_USE_RESULT;
#define radio_ingest(store, file, path, options, result) \
  radio_ingest (store, file, path, options, result, \
                sizeof (struct radio_ingest_result))

/* Ingests a volume, as radio_ingest does an image's file: one in another
 * store, in its file, at a URL, or one with a pipeline (radio_volume_apply),
 * whose results are then written.  Its voxels are read slab by slab, so that
 * memory is bounded; progress counts their bytes, and is also called, with 0 of
 * them, during the passes before that a pipeline needs.  options and result may
 * be NULL.
 *
 * The result of a pipeline has the pipeline's text and the source's SHA-256 in
 * its document (derived_pipeline and derived_sha256 of radio_volume_info),
 * which takes a pass over a source that has none, as images in their files.  It
 * is skipped if the volume at path has the same, and the same tiling and codec,
 * whatever options->existing is: so a cohort that was interrupted is resumed by
 * the same calls.
 *
 * volume may be of any context, and is used by this call only.
 *
 * Errors: those of radio_ingest and of reading the volume;
 * RADIO_ERROR_ARGUMENT (also: path in store is the volume that the pipeline is
 * applied to). */
RADIO_API enum radio_status
radio_ingest_volume (struct radio_store *store, struct radio_volume *volume,
                     const char *path,
                     const struct radio_ingest_options *options,
                     struct radio_ingest_result *result,
                     size_t result_nbytes) RADIO_USE_RESULT;
#define radio_ingest_volume(store, volume, path, options, result) \
  radio_ingest_volume (store, volume, path, options, result, \
                       sizeof (struct radio_ingest_result))

/* Returns the volume path for a file's name (also .npy), without reading the
 * file: the stem below collection; or, when collection is NULL, for a BIDS name
 * ("sub-01_ses-2_T1w.nii.gz") "T1w/sub-01_ses-2", and else
 * "images/STEM".  *path is allocated, the caller frees it with free ().
 * Errors: RADIO_ERROR_ARGUMENT (the name is not legal for a Zarr node). */
RADIO_API enum radio_status
radio_ingest_path (const char *file, const char *collection, char **path)
  RADIO_USE_RESULT;

/* Returns whether a file name has a suffix that radio_ingest accepts (.nii,
 * .nii.gz, .hdr, .hdr.gz; an .img is found by its .hdr). */
RADIO_API bool radio_ingest_is_image (const char *file);

struct radio_phantom_options {
  uint64_t shape[3];                  /* z, y, x; 0: 128, 256, 256 */
  uint64_t seed;                      /* of its noise */
  struct radio_ingest_options ingest; /* tiling, codec, existing, ... */

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Creates a synthetic head CT of any size (int16 Hounsfield units: air, skin,
 * skull, brain, noise; a field of 256 x 256 x 192 mm, whatever the shape) as
 * a volume, without a file.  The same options give the same voxels on every
 * machine.
 * Errors: RADIO_ERROR_ARGUMENT (an axis of more than 65535 voxels), those of
 * radio_ingest. */
RADIO_API enum radio_status
radio_phantom (struct radio_store *store, const char *path,
               const struct radio_phantom_options *options) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_INGEST_H */
