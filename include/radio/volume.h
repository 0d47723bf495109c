/* SPDX-License-Identifier: MIT */
/* Volumes: an image of a store, with its geometry. */
#ifndef RADIO_VOLUME_H
#define RADIO_VOLUME_H

#include <radio/array.h>
#include <radio/base.h>
#include <radio/box.h>
#include <radio/dtype.h>
#include <radio/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_volume;

/* Open a volume by its path ("collection/name"), or an OME-Zarr image that
 * someone else wrote by its group's path ("" is the root).
 * Errors: RADIO_ERROR_NOT_FOUND; RADIO_ERROR_FORMAT and
 * RADIO_ERROR_UNSUPPORTED (the message names the member of which document);
 * those of reading. */
RADIO_API enum radio_status
radio_volume_open (struct radio_store *store, const char *path,
                   struct radio_volume **volume) RADIO_USE_RESULT;

RADIO_API void radio_volume_close (struct radio_volume *volume);

enum radio_plane {
  RADIO_AXIAL = 0,      /* across the head-foot axis */
  RADIO_CORONAL,        /* across the front-back axis */
  RADIO_SAGITTAL,       /* across the left-right axis */
};

/* What a volume is.  The pointers live as long as the handle. */
struct radio_volume_info {
  const char *path;
  struct radio_array_info array;      /* of its finest level */
  const char *axes;                   /* one letter an axis: "zyx", "tczyx" */
  double spacing[RADIO_MAX_RANK];     /* of each axis, in unit */
  const char *space_unit;             /* "millimeter"; "" when unknown */
  const char *time_unit;              /* "second"; "" when unknown */
  double affine[3][4];                /* voxel x, y, z -> RAS+, space_unit */
  const char *affine_source;          /* "sform", "qform", "pixdim", "ome" */
  char orientation[4];                /* where x, y, z rise to: "RAS" */
  size_t plane_axis[3];               /* array axis of each enum radio_plane */
  double scl_slope, scl_inter;        /* 1 and 0 when there is no scaling */
  double window_low, window_high;     /* scaled values; equal when unset */
  const char *source_name;            /* file it came from; "" if unknown */
  uint64_t source_nbytes;             /* decompressed; 0 if unknown */
  const char *source_sha256;          /* hex, of all the source's bytes before
                                         and of voxels; "" if unknown */
  const char *tiling;                 /* "balanced", ..., "8x32x32"; "" */
  const char *codec;                  /* preset: "medium", ...; "" if none */
  const char *nifti_type;             /* NIfTI's name of the type, "int16",
                                         "rgb24"; "" without a header */
  size_t header_nbytes;               /* 0 when there is no NIfTI header */
  const void *header;                 /* all bytes before the voxels */
};

/* Fill in what the volume is.  Never fails. */
RADIO_API void radio_volume_info (const struct radio_volume *volume,
                                  struct radio_volume_info *info);

/* The bytes that the volume's data takes in its store, its shards and
 * documents together.  Lists the volume's objects.
 * Errors: those of listing. */
RADIO_API enum radio_status
radio_volume_stored_nbytes (struct radio_volume *volume, uint64_t *nbytes)
  RADIO_USE_RESULT;

/* Read a box of the finest level; see radio_array_read.  With
 * options->scaled dtype must be RADIO_FLOAT32 or RADIO_FLOAT64. */
RADIO_API enum radio_status
radio_volume_read (struct radio_volume *volume, const struct radio_box *box,
                   enum radio_dtype dtype, void *buffer, size_t nbytes,
                   const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* The shape of a plane, in array order: rows, then columns. */
RADIO_API void radio_volume_plane_shape (const struct radio_volume *volume,
                                         enum radio_plane plane,
                                         uint64_t shape[2]);

/* Read a plane, by its index on the axis that is closest to the anatomical
 * one (info.plane_axis), in stored order and direction.  The axes that
 * remain keep their order.  options->lead selects t and c.
 * Errors: RADIO_ERROR_ARGUMENT when index or lead is outside; else as of
 * radio_volume_read. */
RADIO_API enum radio_status
radio_volume_read_plane (struct radio_volume *volume, enum radio_plane plane,
                         uint64_t index, enum radio_dtype dtype,
                         void *buffer, size_t nbytes,
                         const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* Read several boxes at once; see radio_array_read_many. */
RADIO_API enum radio_status
radio_volume_read_many (struct radio_volume *volume,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* The finest level as an array.  Lives as long as the volume's handle and
 * is not to be closed. */
RADIO_API struct radio_array *
radio_volume_array (struct radio_volume *volume);

/* Read every tile and header byte of a volume, and compare all voxels with
 * the SHA-256 recorded at ingest.  As radio_array_check; a checksum of the
 * whole that differs is reported to damage as well.  RADIO_ERROR_NOT_FOUND:
 * the volume was replaced or removed since it was opened. */
RADIO_API enum radio_status
radio_volume_validate (struct radio_volume *volume,
                       struct radio_check *check,
                       radio_damage_fn *damage, void *user_data)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_VOLUME_H */
