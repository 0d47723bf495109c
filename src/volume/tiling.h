/* SPDX-License-Identifier: MIT */
/* Tilings: the shapes of tiles and shards, from a preset or a size. */
#ifndef RD_TILING_H
#define RD_TILING_H

#include "src/nifti/nifti.h"

struct rd_tiling_input {
  const char *tiling;         /* as radio_ingest_options has it */
  const struct rd_nifti *nifti;
  size_t axial_axis;          /* array axis across axial planes */
  uint64_t shard_nbytes;      /* raw bytes to aim at; 0: the default */
  uint64_t limit_nbytes;      /* of memory */
};

/* Room for the longest name: three numbers and two 'x'. */
#define RD_TILING_NAME_NBYTES 64

struct rd_tiling {
  char name[RD_TILING_NAME_NBYTES];   /* the preset, or "8x32x32" */
  uint64_t tile_shape[RADIO_MAX_RANK];
  uint64_t shard_shape[RADIO_MAX_RANK];
};

/* Choose the shapes.  RADIO_ERROR_ARGUMENT when the tiling is neither a
 * preset nor three sizes. */
enum radio_status rd_tiling_choose (const struct rd_tiling_input *input,
                                    struct rd_tiling *tiling)
  RADIO_USE_RESULT;

/* The array axes of an image in the order of its file, fastest first: the
 * colours' c, then x, y, z, t, and a 5-D image's c. */
void rd_file_order (const struct rd_nifti *nifti,
                    size_t order[RADIO_MAX_RANK]);

#endif /* RD_TILING_H */
