/* SPDX-License-Identifier: MIT */
/* Volumes: images with their geometry. */
#ifndef RADIO_VOLUME_H
#define RADIO_VOLUME_H

#include <radio/array.h>
#include <radio/base.h>
#include <radio/box.h>
#include <radio/context.h>
#include <radio/dtype.h>
#include <radio/pipeline.h>
#include <radio/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_volume;

/* Opens a volume by its path ("collection/name"), or another program's
 * OME-Zarr image by its group's path ("" is the root).  radio_store_find finds
 * the path for a bare name, by listing the store.
 * Errors: RADIO_ERROR_NOT_FOUND; RADIO_ERROR_FORMAT and
 * RADIO_ERROR_UNSUPPORTED (the message names the document and member);
 * those of reading. */
RADIO_API enum radio_status
radio_volume_open (struct radio_store *store, const char *path,
                   struct radio_volume **volume) RADIO_USE_RESULT;

struct radio_file_options {
  /* For .nii.gz: bytes inflated between two points of entry; 0: 2 MiB.  Fewer
   * points are kept where those of all files would take more than a sixteenth
   * of the context's memory limit. */
  uint64_t point_gap_nbytes;

  /* For a local .nii.gz: also keep the points of entry on disk, as FILE.points,
   * for later readers.  They are written when the volume is closed; if neither
   * the file's folder nor index_folder can be written, they are not kept, with
   * a warning. */
  bool keep_index;

  /* A folder of the user's, made if it is missing, for the points of files
   * whose own folder cannot be written; they are looked for there, too.
   * NULL: none. */
  const char *index_folder;

  /* For "s3://" only, as for a store: endpoint, credentials, timeouts.  Copied.
   * NULL: all from the environment and AWS's files. */
  const struct radio_s3_options *s3;

  /* 1: a local .nii is mapped into memory, not read.  Boxes that are small
   * against its planes take a third of the time once their pages were touched.
   * The risk: if the file is cut short, or its disk or server fails, while it
   * is read, the process gets SIGBUS, which ends it, where a read returns an
   * error.  A file that was cut short before a read is an error.  A file that
   * cannot be mapped is read.  0: it is read. */
  uint64_t map;

  /* Called with a line about the file, once for each kind: an index of another
   * file; after the voxels a missing checksum, or data that is not gzip; points
   * that cannot be kept.  By any thread that reads from the volume, before the
   * read ends, or by the one that closes it.  May be NULL. */
  radio_warning_fn *warning;
  void *user_data;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[2];
};

/* Opens an image in its file as a volume, which is read as one in a store:
 * NIfTI-1 or -2, .nii or a pair of .hdr and .img, either of them gzipped, in
 * either byte order.  file is a local path, "s3://BUCKET/KEY" (not
 * percent-encoded), or an "http://" or "https://" URL (percent-encoded, without
 * a user or '#').  A query, as in a presigned URL, is sent with each request,
 * and is in no message or profile.  context may be NULL: the volume has its
 * own.  options may be NULL.
 *
 * From .nii the rows of a box are read, close ones at once.  .nii.gz is
 * inflated up to the last row at first; on the way points of entry are kept, so
 * that a later read begins at the nearest one, and several threads inflate.
 * Handles of one file share the points, and the context keeps them after the
 * last handle was closed, until the file changes (device, inode, size, time, or
 * a checksum of its two ends; over a network its size or ETag).  Points of
 * entry in FILE.points or in index_folder, which have
 * checksums, are used if they are of this file; then they are trusted as the
 * file itself is.  indexed_gzip's FILE.gzidx has none: for each of its points
 * that is used one more is inflated, from the one before it, and has to end
 * with the 32 KiB that the index has there, or the index is not used, with a
 * warning.  So an index of another file is found, but not one that was made to
 * deceive.  Members that say how long they are (BGZF,
 * pgzip, mgzip, and radio_export_options.member_nbytes) are inflated by all
 * threads from the first read on; over a network as they arrive, up to 8 MiB
 * of them (a sixteenth of the memory limit) at once.  gzip's checksum is
 * verified when all voxels were read, by one read or several in order: points
 * of entry have the checksum of the output before them, and a read that passes
 * one compares.  Those of indexed_gzip have no checksum: reads of all voxels
 * begin at the file's start, and add it.  radio_volume_validate uses no points.
 *
 * A file that is cut short is opened if its first plane may be in it.  Boxes
 * that are complete are read; others are RADIO_ERROR_FORMAT (the message has
 * the bytes that exist and those needed), and so is validating it.  For .nii
 * info.missing_nbytes is the size of the rest.  A .nii.gz that is cut short
 * within the checksum at its end, or has other data after it, is read with a
 * warning; the former cannot be validated.
 *
 * A local file is kept open: one that is replaced is read as it was.  A file
 * that is written to while it is open gives any values, or errors.
 *
 * Over a network the header is one request (two of a pair), and rows that lie
 * close together are one; a .nii.gz is requested ahead of inflating, as far as
 * is expected to be needed.  An object that is replaced (its ETag or size
 * changes) is RADIO_ERROR_IO from then on: open it again.  If the server does
 * not support range requests, the whole file is read into memory, where it may
 * take half of the memory limit.
 *
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT and
 * RADIO_ERROR_UNSUPPORTED (the message names the file and the header's field),
 * RADIO_ERROR_ARGUMENT (an invalid URL), RADIO_ERROR_LIMIT, those of
 * reading. */
RADIO_API enum radio_status
radio_volume_open_file (struct radio_context *context, const char *file,
                        const struct radio_file_options *options,
                        struct radio_volume **volume) RADIO_USE_RESULT;

/* Applies a pipeline (radio/pipeline.h) to a volume: *derived is a handle for
 * all calls that read (read, planes, statistics, export), and what it describes
 * and reads are the results: shape, affine, type, voxels.  Voxels are computed
 * as they are read; a box reads the tiles that it needs and no others, besides
 * statistics of the whole volume (info.statistics_count).  These are computed
 * to their end by the first read, before an asynchronous one starts (so that
 * must not be from the callback of another); then the context keeps them.
 *
 * Positions of the pipeline are along x, y, z.  volume may have a pipeline
 * itself, and may be closed before *derived; the pipeline may be freed.
 * Validating a derived volume, and checking its array, is an error.
 * Errors: RADIO_ERROR_ARGUMENT (an operation that the volume cannot have, with
 * its number and name: a range outside of the image, values of colours, ...),
 * RADIO_ERROR_LIMIT (2^63 voxels and more), RADIO_ERROR_UNSUPPORTED (its NIfTI
 * header cannot hold the shape). */
RADIO_API enum radio_status
radio_volume_apply (struct radio_volume *volume,
                    const struct radio_pipeline *pipeline,
                    struct radio_volume **derived) RADIO_USE_RESULT;

/* Counts the statistics of the whole volume (info.statistics_count) that are
 * unknown: neither in the context nor kept in the volume
 * (radio_volume_keep_stats).  For each of them the first read reads the whole
 * volume.  A volume without a pipeline needs none.
 * Errors: those of reading. */
RADIO_API enum radio_status
radio_volume_passes (struct radio_volume *volume, size_t *passes)
  RADIO_USE_RESULT;

/* Computes how much of an image in its file is read for a box (NULL: all) of a
 * volume, as radio_volume_export reads it, slab by slab, with the passes of
 * radio_volume_passes.  *nbytes is the size of the voxels that are read, or
 * inflated; *times is how often a .nii.gz is inflated, 0 for other files.  It
 * is about 1, and more if a pipeline has the file's planes in another order, or
 * turns them, and the memory limit is small compared with the result: the
 * voxels of a slab are then scattered over the file.  From 3 on reads give a
 * warning (radio_file_options), with the limit that would make it 1.
 * Errors: RADIO_ERROR_UNSUPPORTED (it is not in a file), RADIO_ERROR_ARGUMENT
 * (the box is outside), RADIO_ERROR_LIMIT, those of radio_volume_passes. */
RADIO_API enum radio_status
radio_volume_file_reads (struct radio_volume *volume,
                         const struct radio_box *box, uint64_t *nbytes,
                         double *times) RADIO_USE_RESULT;

/* Releases a volume.  Must not be called while it is in use, also by
 * asynchronous reads.  NULL is legal. */
RADIO_API void radio_volume_close (struct radio_volume *volume);

/* Called for each volume of a listing, which is closed afterwards.  volume is
 * NULL if it could not be opened: radio_error_message says why.  stored_nbytes
 * is as radio_volume_stored_nbytes returns it, and UINT64_MAX where nothing can
 * be listed. */
typedef enum radio_status radio_opened_fn (const struct radio_entry *entry,
                                           struct radio_volume *volume,
                                           uint64_t stored_nbytes,
                                           void *user_data);

/* Lists volumes as radio_store_list does, and opens them: many at the same
 * time, which over a network takes far less time than opening each from the
 * callback.
 * Errors: those of radio_store_list. */
RADIO_API enum radio_status
radio_store_list_opened (struct radio_store *store, const char *collection,
                         radio_opened_fn *callback, void *user_data)
  RADIO_USE_RESULT;

/* Called for each volume of a listing, before it is opened, in the same order;
 * sets *is_chosen.  Anything but RADIO_OK ends the listing and is returned. */
typedef enum radio_status radio_choose_fn (const struct radio_entry *entry,
                                           bool *is_chosen, void *user_data);

/* The same as radio_store_list_opened of those that choose chooses: of a store
 * of radio's no other one is opened.
 * Errors: those of radio_store_list. */
RADIO_API enum radio_status
radio_store_list_chosen (struct radio_store *store, const char *collection,
                         radio_choose_fn *choose, radio_opened_fn *callback,
                         void *user_data) RADIO_USE_RESULT;

enum radio_plane {
  RADIO_AXIAL = 0,      /* across the head-foot axis */
  RADIO_CORONAL,        /* across the front-back axis */
  RADIO_SAGITTAL,       /* across the left-right axis */
};

/* Properties of a volume.  The pointers are valid as long as the handle.  A
 * result: later versions may add members at its end. */
struct radio_volume_info {
  const char *path;
  struct radio_array_info array;      /* of its finest level */
  const char *axes;                   /* one letter per axis: "zyx", "tczyx" */
  double spacing[RADIO_MAX_RANK];     /* of each axis, in unit */
  const char *space_unit;             /* "millimeter"; "" when unknown */
  const char *time_unit;              /* "second"; "" when unknown */
  double affine[3][4];                /* voxel x, y, z -> RAS+, space_unit */
  const char *affine_source;          /* "sform", "qform", "pixdim", "ome" */
  char orientation[4];                /* directions of x, y, z: "RAS"; "" if
                                         unknown: nothing says it, or the
                                         affine is singular or not finite */
  size_t plane_axis[3];               /* array axis across each enum
                                         radio_plane (of unknown orientation
                                         z, y, x); the rank where a 2-D image
                                         has no such axis but one plane */
  double scl_slope, scl_inter;        /* 1 and 0 when there is no scaling */
  double window_low, window_high;     /* scaled values; equal if unset */
  const char *source_name;            /* the ingested file, with U+FFFD for
                                         bytes that are not UTF-8; "" if
                                         unknown */
  uint64_t source_nbytes;             /* decompressed; 0 if unknown */
  const char *source_sha256;          /* hex, of the source's header and
                                         voxels; "" if unknown */
  const char *tiling;                 /* "balanced", ..., "8x32x32"; "" */
  const char *codec;                  /* preset: "medium", ...; "" if none; of
                                         an image in its file "gzip" or
                                         "none", and its tiling is "none" */
  const char *nifti_type;             /* NIfTI's name of the type, "int16",
                                         "rgb24"; "" without a header */
  size_t header_nbytes;               /* 0 when there is no NIfTI header */
  const void *header;                 /* all bytes before the voxels */
  const char *pipeline;               /* applied to the image: its canonical
                                         text; "" if there is no pipeline */
  size_t statistics_count;            /* of the whole volume that the pipeline
                                         needs: each takes a pass over it, or
                                         more, before the first voxel is read,
                                         unless it is known */
  const char *derived_pipeline;       /* of a volume that was written by
                                         radio_ingest_volume: the pipeline's
                                         text; "" of others */
  const char *derived_sha256;         /* and the source_sha256 of the volume
                                         that it was applied to; "" */
  uint64_t missing_nbytes;            /* of an image in its file: voxels that
                                         its header claims and the file is too
                                         short for; of .nii.gz 0 until they are
                                         inflated, or more than any gzip file
                                         of this size can hold */
  bool is_labels;                     /* its values are labels, which pipelines
                                         pick rather than mix unless they say
                                         otherwise: NIfTI's intent_code 1002
                                         (LABEL), OME-Zarr's image-label, or
                                         the type bool */
  size_t interpolation_count;         /* that the pipeline does one after the
                                         other */
};

/* Fills info.  Never fails. */
RADIO_API void radio_volume_get_info (const struct radio_volume *volume,
                                      struct radio_volume_info *info,
                                      size_t info_nbytes);
#define radio_volume_get_info(volume, info) \
  radio_volume_get_info (volume, info, \
                         sizeof (struct radio_volume_info))

/* Gets the bytes stored for the volume, shards and documents together.  Lists
 * the volume's objects.
 * Errors: those of listing. */
RADIO_API enum radio_status
radio_volume_stored_nbytes (struct radio_volume *volume, uint64_t *nbytes)
  RADIO_USE_RESULT;

/* Reads a box of the finest level; see radio_array_read.  With
 * options->scaled dtype must be RADIO_FLOAT32 or RADIO_FLOAT64. */
RADIO_API enum radio_status
radio_volume_read (struct radio_volume *volume, const struct radio_box *box,
                   enum radio_dtype dtype, void *buffer, size_t nbytes,
                   const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* Gets the shape of a plane, in array order: rows, then columns, which is also
 * the order of a plane's elements. */
RADIO_API void radio_volume_plane_shape (const struct radio_volume *volume,
                                         enum radio_plane plane,
                                         uint64_t shape[2]);

/* Reads a plane by its index on the array axis closest to the anatomical one
 * (info.plane_axis), in stored order and direction.  The remaining axes keep
 * their order.  options->lead selects t and c.
 * Errors: RADIO_ERROR_ARGUMENT (index or lead out of range), those of
 * radio_volume_read. */
RADIO_API enum radio_status
radio_volume_read_plane (struct radio_volume *volume, enum radio_plane plane,
                         uint64_t index, enum radio_dtype dtype,
                         void *buffer, size_t nbytes,
                         const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* Elements in memory that the library allocated.  A result: later versions may
 * add members at its end. */
struct radio_elements {
  void *data;                         /* C order; NULL if there are none */
  size_t nbytes;
  enum radio_dtype dtype;             /* never RADIO_STORED */
  size_t item_nbytes;
  size_t rank;                        /* 2 for a plane */
  uint64_t shape[RADIO_MAX_RANK];
};

/* Reads a box, or the whole finest level if box is NULL, into memory
 * of the library's allocator (radio/allocator.h).  The caller frees
 * elements->data with radio_free.  options->strides must be NULL.
 * Errors: those of radio_volume_read, RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_volume_read_alloc (struct radio_volume *volume,
                         const struct radio_box *box, enum radio_dtype dtype,
                         const struct radio_read_options *options,
                         struct radio_elements *elements,
                         size_t elements_nbytes) RADIO_USE_RESULT;
#define radio_volume_read_alloc(volume, box, dtype, options, elements) \
  radio_volume_read_alloc (volume, box, dtype, options, elements, \
                           sizeof (struct radio_elements))

/* The same for a plane; see radio_volume_read_plane. */
RADIO_API enum radio_status
radio_volume_read_plane_alloc (struct radio_volume *volume,
                               enum radio_plane plane, uint64_t index,
                               enum radio_dtype dtype,
                               const struct radio_read_options *options,
                               struct radio_elements *elements,
                               size_t elements_nbytes) RADIO_USE_RESULT;
#define radio_volume_read_plane_alloc(volume, plane, index, dtype, options, \
                                      elements) \
  radio_volume_read_plane_alloc (volume, plane, index, dtype, options, \
                                 elements, sizeof (struct radio_elements))

/* Reads several boxes at once; see radio_array_read_many, also for errors. */
RADIO_API enum radio_status
radio_volume_read_many (struct radio_volume *volume,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* Starts to read several boxes; see radio_array_read_async, also for errors.
 * The volume stays valid as the array does there. */
RADIO_API enum radio_status
radio_volume_read_async (struct radio_volume *volume,
                         const struct radio_request *requests, size_t n,
                         enum radio_dtype dtype,
                         const struct radio_read_options *options,
                         radio_read_done_fn *done, void *user_data,
                         struct radio_read **read) RADIO_USE_RESULT;

/* Returns the finest level as an array.  It is owned by the volume and must
 * not be closed. */
RADIO_API struct radio_array *
radio_volume_array (struct radio_volume *volume);

/* Reads every tile and header byte of a volume, compares all voxels with the
 * SHA-256 recorded at ingest, and the level's own document with the copy in the
 * volume's.  Like radio_array_check; a wrong SHA-256 or document is reported to
 * damage too, and check->stale_count is no damage.
 * Errors: those of radio_array_check, RADIO_ERROR_NOT_FOUND (the volume was
 * replaced or removed after it was opened). */
RADIO_API enum radio_status
radio_volume_validate (struct radio_volume *volume,
                       struct radio_check *check,
                       radio_damage_fn *damage, void *user_data,
                       size_t check_nbytes)
  RADIO_USE_RESULT;
#define radio_volume_validate(volume, check, damage, user_data) \
  radio_volume_validate (volume, check, damage, user_data, \
                         sizeof (struct radio_check))

/* Lists the root (path "") and the folders below it by their names: what may
 * be a group above volumes, also if its document is missing or broken.  Reads
 * none but the root's.
 * Errors: those of listing. */
RADIO_API enum radio_status
radio_store_list_groups (struct radio_store *store, radio_entry_fn *callback,
                         void *user_data) RADIO_USE_RESULT;

/* Checks the document of a group above volumes, the root's (path "") or a
 * collection's, which other programs read first.  check->damaged_count is 1 if
 * it is broken, or is missing while there are volumes below.  If another
 * program has put copies of documents into it (consolidated_metadata),
 * check->stale_count is the number of those that differ from the documents, or
 * are missing; this is no damage.  For the group of all tables ("tables") the
 * tables are read, and each fault counts and is reported: heads whose
 * generation is missing, unreadable columns, rows without a volume.  A folder
 * of another kind has no faults.  check and damage may be NULL.
 * Errors: RADIO_ERROR_CHECKSUM (it is damaged), those of reading and
 * listing. */
RADIO_API enum radio_status
radio_store_validate_group (struct radio_store *store, const char *path,
                            struct radio_check *check,
                            radio_damage_fn *damage, void *user_data,
                            size_t check_nbytes) RADIO_USE_RESULT;
#define radio_store_validate_group(store, path, check, damage, user_data) \
  radio_store_validate_group (store, path, check, damage, user_data, \
                              sizeof (struct radio_check))

#ifdef __cplusplus
}
#endif

#endif /* RADIO_VOLUME_H */
