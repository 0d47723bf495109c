/* SPDX-License-Identifier: MIT */
/* The presets of tilings. */
#include <config.h>

#include "src/base/checked.h"
#include "src/base/tile-shape.h"

/* Tiles of an axial plane are rows, whole where they are not longer than
 * this, and so few of them that several threads decode a plane together. */
#define AXIAL_MOST_LENGTH 512
#define AXIAL_MOST_ROWS 128

/* More axes than this, and the sizes are completed from the others. */
#define MOST_USUAL_AXES 5

const char *const rd_tiling_names[RD_NTILINGS] = {
  [RD_TILING_AXIAL] = "axial",
  [RD_TILING_BALANCED] = "balanced",
  [RD_TILING_ISOTROPIC] = "isotropic",
};

void
rd_tile_shape_sized (const struct rd_tiled_array *array,
                     const uint64_t zyx[3], uint64_t *tile)
{
  for (size_t i = 0; i < array->rank; i++) {
    bool is_space = i + 3 >= array->rank;
    tile[i] = rd_min_u64 (is_space ? zyx[i + 3 - array->rank] : 1,
                          array->shape[i]);
  }
  if (array->rank <= MOST_USUAL_AXES)
    return;
  uint64_t wanted = rd_mul_sat (rd_mul_sat (zyx[0], zyx[1]), zyx[2]);
  for (size_t i = array->rank; i-- > 0;) {
    if (i + 3 < array->rank)
      tile[i] = rd_min_u64 (rd_max_u64 (wanted, 1), array->shape[i]);
    wanted /= tile[i];
  }
}

void
rd_tile_shape_named (const struct rd_tiled_array *array,
                     enum rd_tiling_name name, uint64_t *tile)
{
  uint64_t zyx[3] = { 32, 32, 32 };
  if (name == RD_TILING_BALANCED) {
    /* Tiles of 16 to 32 KiB: they and their decoded form stay in a core's
     * private caches, and a small box does not decode much else. */
    uint64_t nbytes = array->item_nbytes;
    zyx[0] = nbytes == 1 ? 16 : nbytes <= 4 ? 8 : 4;
    zyx[1] = nbytes <= 8 ? 32 : 16;
  } else if (name == RD_TILING_AXIAL) {
    /* Planes across the head-foot axis, whichever axis of the file it is. */
    uint64_t most = AXIAL_MOST_ROWS;
    for (size_t i = 0; i < 3; i++) {
      size_t axis = array->rank + i - 3;
      zyx[i] = 1;
      if (axis == array->axial_axis || axis >= array->rank)
        continue;
      /* Equal parts, so that the last one is not mostly padding. */
      uint64_t size = array->shape[axis];
      zyx[i] = rd_div_up (size, rd_div_up (size, most));
      most = AXIAL_MOST_LENGTH;
    }
  }
  rd_tile_shape_sized (array, zyx, tile);
}
