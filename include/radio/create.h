/* SPDX-License-Identifier: MIT */
/* Volumes of voxels in memory: written to a store slab by slab, or read where
 * they are. */
#ifndef RADIO_CREATE_H
#define RADIO_CREATE_H

#include <radio/base.h>
#include <radio/box.h>
#include <radio/dtype.h>
#include <radio/ingest.h>
#include <radio/store.h>
#include <radio/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A volume that is being written.  Used by one thread at a time. */
struct radio_writer;

/* The image that is written.  Its NIfTI header is new (NIfTI-2 if an axis has
 * more than 32767 voxels, else NIfTI-1), or that of a volume like it. */
struct radio_create_options {
  /* z, y, x; t, z, y, x; or t, c, z, y, x.  A rank of 0: the shape of like. */
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];

  /* RADIO_STORED: the type of like.  RADIO_BOOL is stored as uint8, since NIfTI
   * has no such type. */
  enum radio_dtype dtype;

  /* Voxel x, y, z to RAS+ millimetres; becomes the sform.  All zero: there is
   * none.  Must be so with like. */
  double affine[3][4];

  /* The spacing of each axis, in array order, in millimetres and seconds; that
   * of z, y, x counts only without affine and like.  0: like's, else 1. */
  double spacing[RADIO_MAX_RANK];

  /* A volume with the same geometry: of the same shape its whole header is
   * taken with all extensions, of another one its affine, spacing, and units.
   * If dtype is RADIO_STORED the elements are as like has them stored; else
   * they have neither scaling nor a window. */
  struct radio_volume *like;

  /* As the volume's source_name, UTF-8; NULL: "memory". */
  const char *source_name;

  /* Tiling, codec, existing, warning, ...; progress is not called. */
  struct radio_ingest_options ingest;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Begins to write the volume at path.  Nothing of it is visible before
 * radio_volume_commit.  If it exists and options->ingest.existing is
 * RADIO_EXISTING_SKIP, *writer is NULL.  Pointers in options are not used
 * afterwards, except the warning function and its data.
 * Errors: RADIO_ERROR_ARGUMENT (illegal path, shape, affine, spacing,
 * source_name, tiling or codec); RADIO_ERROR_UNSUPPORTED (NIfTI has no such
 * type or rank); RADIO_ERROR_EXISTS; RADIO_ERROR_LIMIT (one layer of tiles
 * exceeds the memory limit); those of writing. */
RADIO_API enum radio_status
radio_volume_create (struct radio_store *store, const char *path,
                     const struct radio_create_options *options,
                     struct radio_writer **writer) RADIO_USE_RESULT;

/* Writes the next slab: a box that begins where the one before ended, in the
 * order of a NIfTI file: whole planes of a 3-D volume by z, planes or whole z,
 * y, x of a 4-D one by t, of a 5-D one by c.  In general all axes are whole up
 * to one, and those slower than that one have one element; the order is x, y,
 * z, t, c (but the channels of colours before x).  The elements have the
 * volume's type, in the machine's byte order; strides are bytes from one to the
 * next on each axis, NULL: C order of the box without gaps.  nbytes is the
 * buffer's size, and not checked with strides.  The elements are copied, and
 * encoded by the context's threads meanwhile.
 * Errors: RADIO_ERROR_ARGUMENT (not the next slab, buffer too small): nothing
 * was written, and the right one may follow.  After another error, one of
 * writing, all calls fail. */
RADIO_API enum radio_status
radio_volume_write_slab (struct radio_writer *writer,
                         const struct radio_box *box, const void *buffer,
                         size_t nbytes, const int64_t *strides)
  RADIO_USE_RESULT;

/* Waits until everything is on the disk and publishes the volume, or replaces
 * the one that was there, atomically, as radio_ingest does; as there, small
 * volumes are best written by several threads.  Releases the writer in every
 * case; after a failure nothing of the volume is left.  result may be NULL.
 * Errors: RADIO_ERROR_ARGUMENT (voxels are missing); RADIO_ERROR_EXISTS
 * (another writer published a different volume meanwhile); those of
 * writing. */
RADIO_API enum radio_status
radio_volume_commit (struct radio_writer *writer,
                     struct radio_ingest_result *result,
                     size_t result_nbytes) RADIO_USE_RESULT;
#define radio_volume_commit(writer, result) \
  radio_volume_commit (writer, result, \
                       sizeof (struct radio_ingest_result))

/* Removes what was written, and releases the writer.  NULL is legal. */
RADIO_API void radio_volume_abort (struct radio_writer *writer);

/* Opens an image in the caller's memory as a volume, for all calls that read:
 * pipelines (radio_volume_apply), statistics, export, ingesting it.  Nothing is
 * copied: the memory must stay valid until the volume, and all volumes derived
 * from it, are closed, and must not change during a read.  context may be NULL:
 * the volume has its own.  options describe the image, as for writing one; of
 * options->ingest only is_labels is used.  elements points to index 0 of each
 * axis, in the machine's byte order; nbytes is the size of the memory, which is
 * not checked with strides; strides are bytes from one element to the next on
 * each axis, also negative or 0; NULL: C order without gaps.
 *
 * A read may deliver in place: with the memory itself as its buffer, if each
 * voxel belongs where it is read, in a type of the same size, and the pipeline
 * only computes values, and no noise; and if the strides give no two voxels the
 * same memory (strides for which this takes too long to check are refused).
 * Other results must not overlap the memory.  No request of
 * radio_volume_read_many may read voxels that another one of the same call
 * overwrites so.  Statistics that a pipeline needs are those of the voxels at
 * the first read of its handle, or of another one for which radio_volume_apply
 * was called before: so apply the pipeline again after the voxels have changed.
 *
 * Errors: RADIO_ERROR_ARGUMENT (shape, type, affine, spacing, source_name; the
 * memory is NULL or too small); RADIO_ERROR_UNSUPPORTED (NIfTI has no such type
 * or rank); RADIO_ERROR_MEMORY.  Of a read: RADIO_ERROR_ARGUMENT (the result
 * overlaps the memory otherwise, or another request's voxels; nothing was
 * written). */
RADIO_API enum radio_status
radio_volume_open_memory (struct radio_context *context,
                          const struct radio_create_options *options,
                          const void *elements, size_t nbytes,
                          const int64_t *strides,
                          struct radio_volume **volume) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CREATE_H */
