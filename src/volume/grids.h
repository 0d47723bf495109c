/* SPDX-License-Identifier: MIT */
/* Comparing the grids of two volumes: where their voxels lie. */
#ifndef RD_GRIDS_H
#define RD_GRIDS_H

#include <radio/volume.h>

/* The grid of a volume along x, y, z. */
struct rd_volume_grid {
  uint64_t shape[3];          /* 1 without such an axis */
  uint64_t time_count;        /* 1 without time */
  double affine[3][4];
  char orientation[4];
  char unit[16];              /* of space; "": unknown */
};

void rd_volume_grid_get (const struct radio_volume_info *info,
                         struct rd_volume_grid *grid);

/* A grid and the name of its volume. */
struct rd_named_grid {
  const char *name;
  const struct rd_volume_grid *grid;
};

/* Check that a grid agrees with another: in its shape, and in time if both have
 * more than one point of it; in its unit, if both are known; and that no voxel
 * lies more than tolerance voxels of the other, along any axis of that, from
 * the voxel of the same index.  If an affine cannot be inverted, all numbers
 * must be equal.  RADIO_ERROR_ARGUMENT: the message has both names and both
 * values. */
enum radio_status rd_grids_check_shape (const struct rd_named_grid *a,
                                        const struct rd_named_grid *other)
  RADIO_USE_RESULT;
enum radio_status rd_grids_check_unit (const struct rd_named_grid *a,
                                       const struct rd_named_grid *other)
  RADIO_USE_RESULT;
enum radio_status rd_grids_check_affine (const struct rd_named_grid *a,
                                         const struct rd_named_grid *other,
                                         double tolerance) RADIO_USE_RESULT;

/* Checks all three of a mask against its volume, with a tolerance of 0.001
 * voxels. */
enum radio_status rd_grids_check_mask (const struct radio_volume_info *mask,
                                       const struct radio_volume_info *volume)
  RADIO_USE_RESULT;

#endif /* RD_GRIDS_H */
