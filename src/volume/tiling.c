/* SPDX-License-Identifier: MIT */
/* Tilings of images, and the shape of shards: a slab of whole planes
 * that is consecutive in the file, so that an image is tiled while it is
 * read. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/tile-shape.h"
#include "src/volume/tiling.h"

#define MIB ((uint64_t) 1 << 20)

void
rd_file_order (const struct rd_nifti *nifti, size_t order[RADIO_MAX_RANK])
{
  const char *letters = nifti->colour != RD_COLOUR_NONE ? "cxyzt"
                                                        : "xyztcvw";
  size_t n = 0;
  for (const char *p = letters; *p; p++) {
    const char *found = strchr (nifti->axes, *p);
    if (found)
      order[n++] = (size_t) (found - nifti->axes);
  }
}

/* A positive number of at most ten digits for each of x, y and z. */
static enum radio_status
parse_sizes (const char *text, uint64_t zyx[3])
{
  const char *p = text;
  for (size_t i = 3; i-- > 0; p++) {
    const char *start = p;
    for (zyx[i] = 0; *p >= '0' && *p <= '9' && p - start < 10; p++)
      zyx[i] = zyx[i] * 10 + (uint64_t) (*p - '0');
    if (zyx[i] == 0 || *p != (i > 0 ? ',' : '\0'))
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "tiling: '%s' is not balanced, axial, isotropic or a "
                      "tile's size X,Y,Z", text);
  }
  return RADIO_OK;
}

static enum radio_status
choose_tile (const struct rd_tiling_input *input, struct rd_tiling *tiling)
{
  const struct rd_nifti *nifti = input->nifti;
  const struct rd_tiled_array array = {
    nifti->rank, nifti->shape, nifti->type.item_nbytes, input->axial_axis,
  };
  const char *text = input->tiling ? input->tiling : "balanced";
  for (int name = 0; name < RD_NTILINGS; name++)
    if (strcmp (text, rd_tiling_names[name]) == 0) {
      rd_tile_shape_named (&array, (enum rd_tiling_name) name,
                           tiling->tile_shape);
      snprintf (tiling->name, sizeof tiling->name, "%s", text);
      return RADIO_OK;
    }
  uint64_t zyx[3];
  RD_TRY (parse_sizes (text, zyx));
  rd_tile_shape_sized (&array, zyx, tiling->tile_shape);
  snprintf (tiling->name, sizeof tiling->name,
            "%" PRIu64 "x%" PRIu64 "x%" PRIu64, zyx[0], zyx[1], zyx[2]);
  return RADIO_OK;
}

/* Colours, x and y are whole; then z, t and c as far as the bound permits.
 * Once an axis is cut the slower ones have one tile, so that a shard is
 * consecutive in the file. */
static void
choose_shard (const struct rd_tiling_input *input, struct rd_tiling *tiling)
{
  const struct rd_nifti *nifti = input->nifti;
  /* The raw bytes of a shard: a quarter of the memory at most, as two slabs
   * and an encoded one are held at a time. */
  uint64_t limit = input->limit_nbytes / 4;
  uint64_t aim = input->shard_nbytes ? input->shard_nbytes : 32 * MIB;
  aim = rd_max_u64 (rd_min_u64 (aim, limit), 1);
  uint64_t bound = rd_min_u64 (rd_mul_sat (aim, 2), limit);
  size_t order[RADIO_MAX_RANK];
  rd_file_order (nifti, order);
  size_t nwhole = nifti->colour != RD_COLOUR_NONE ? 3 : 2;
  uint64_t nbytes = nifti->type.item_nbytes;
  bool cut = false;

  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = order[i];
    uint64_t tile = tiling->tile_shape[axis];
    uint64_t whole = rd_mul_sat (rd_div_up (nifti->shape[axis], tile), tile);
    uint64_t size = whole;
    if (i >= nwhole && cut)
      size = tile;
    else if (i >= nwhole && rd_mul_sat (nbytes, whole) > bound) {
      /* As many whole tiles as come close to the aim. */
      uint64_t layers = aim / rd_mul_sat (nbytes, tile);
      size = rd_max_u64 (layers, 1) * tile;
    }
    cut = cut || size < whole;
    tiling->shard_shape[axis] = size;
    nbytes = rd_mul_sat (nbytes, size);
  }
}

enum radio_status
rd_tiling_choose (const struct rd_tiling_input *input,
                  struct rd_tiling *tiling)
{
  *tiling = (struct rd_tiling) { 0 };
  RD_TRY (choose_tile (input, tiling));
  choose_shard (input, tiling);
  return RADIO_OK;
}
