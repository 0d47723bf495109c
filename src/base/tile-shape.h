/* SPDX-License-Identifier: MIT */
/* The shapes of tiles that --tiling names: what ingest makes of a name, and
 * what a finding of a profile proposes. */
#ifndef RD_TILE_SHAPE_H
#define RD_TILE_SHAPE_H

#include <radio/base.h>

enum rd_tiling_name {
  RD_TILING_AXIAL, RD_TILING_BALANCED, RD_TILING_ISOTROPIC, RD_NTILINGS
};

/* "axial", "balanced", "isotropic". */
extern const char *const rd_tiling_names[RD_NTILINGS];

/* The array for which a shape is chosen; the last three axes are z, y and x. */
struct rd_tiled_array {
  size_t rank;
  const uint64_t *shape;
  uint64_t item_nbytes;
  size_t axial_axis;          /* across axial planes */
};

/* The shape of the tiles of a name, or of sizes along the last three axes.
 * Other axes have 1, and no tile is larger than the array.  Arrays of more
 * than five axes often have hardly any z, y, x (CIFTI's have one of each):
 * what is missing from the product of the sizes is taken from the other axes,
 * the last first. */
void rd_tile_shape_named (const struct rd_tiled_array *array,
                          enum rd_tiling_name name, uint64_t *tile);
void rd_tile_shape_sized (const struct rd_tiled_array *array,
                          const uint64_t zyx[3], uint64_t *tile);

#endif /* RD_TILE_SHAPE_H */
