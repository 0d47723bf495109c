/* SPDX-License-Identifier: MIT */
/* The presets of tilings, and the shape of shards: a slab of whole planes
 * that is consecutive in the file, so that an image is tiled while it is
 * read. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/volume/tiling.h"

#define MIB ((uint64_t) 1 << 20)

/* Tiles of an axial plane are rows, whole where they are not longer than
 * this, and so few of them that several threads decode a plane together. */
#define AXIAL_MOST_LENGTH 512
#define AXIAL_MOST_ROWS 128

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

/* Three sizes z, y, x for the last three axes; the others are 1, and no
 * tile is larger than the image.  Images of more than five dimensions often
 * have hardly any z, y, x (CIFTI's have one of each): what is missing from
 * the product of the sizes is taken from the other axes, in file order. */
static void
set_tile (const struct rd_nifti *nifti, uint64_t z, uint64_t y, uint64_t x,
          struct rd_tiling *tiling)
{
  const uint64_t sizes[3] = { z, y, x };
  for (size_t i = 0; i < nifti->rank; i++) {
    bool is_space = i + 3 >= nifti->rank;
    uint64_t size = is_space ? sizes[i + 3 - nifti->rank] : 1;
    tiling->tile_shape[i] = rd_min_u64 (size, nifti->shape[i]);
  }
  if (nifti->rank <= RD_NIFTI_MAX_OME_RANK)
    return;
  uint64_t wanted = rd_mul_sat (rd_mul_sat (z, y), x);
  for (size_t i = nifti->rank; i-- > 0;) {
    uint64_t *size = &tiling->tile_shape[i];
    if (i + 3 < nifti->rank)
      *size = rd_min_u64 (rd_max_u64 (wanted, 1), nifti->shape[i]);
    wanted /= *size;
  }
}

/* Planes across the head-foot axis, whichever axis of the file it is. */
static void
set_axial (const struct rd_tiling_input *input, struct rd_tiling *tiling)
{
  const struct rd_nifti *nifti = input->nifti;
  uint64_t sizes[3], most = AXIAL_MOST_ROWS;
  for (size_t i = 0; i < 3; i++) {
    size_t axis = nifti->rank - 3 + i;
    sizes[i] = 1;
    if (axis == input->axial_axis)
      continue;
    /* Equal parts, so that the last one is not mostly padding. */
    uint64_t size = nifti->shape[axis];
    sizes[i] = rd_div_up (size, rd_div_up (size, most));
    most = AXIAL_MOST_LENGTH;
  }
  set_tile (nifti, sizes[0], sizes[1], sizes[2], tiling);
}

static enum radio_status
set_sizes (const struct rd_tiling_input *input, struct rd_tiling *tiling)
{
  uint64_t xyz[3] = { 0 };
  const char *p = input->tiling;
  for (size_t i = 0; i < 3; i++) {
    /* A positive number of at most ten digits. */
    const char *start = p;
    for (; *p >= '0' && *p <= '9' && p - start < 10; p++)
      xyz[i] = xyz[i] * 10 + (uint64_t) (*p - '0');
    if (xyz[i] == 0 || *p != (i < 2 ? ',' : '\0'))
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "tiling '%s' is not balanced, axial, isotropic or a "
                      "tile's size X,Y,Z", input->tiling);
    p++;
  }
  snprintf (tiling->name, sizeof tiling->name,
            "%" PRIu64 "x%" PRIu64 "x%" PRIu64, xyz[2], xyz[1], xyz[0]);
  set_tile (input->nifti, xyz[2], xyz[1], xyz[0], tiling);
  return RADIO_OK;
}

static enum radio_status
choose_tile (const struct rd_tiling_input *input, struct rd_tiling *tiling)
{
  const struct rd_nifti *nifti = input->nifti;
  const char *name = input->tiling ? input->tiling : "balanced";
  if (strcmp (name, "balanced") == 0) {
    /* Tiles of 16 to 32 KiB: they and their decoded form stay in a core's
     * private caches, and a small box does not decode much else. */
    size_t nbytes = nifti->type.item_nbytes;
    set_tile (nifti, nbytes == 1 ? 16 : nbytes <= 4 ? 8 : 4,
              nbytes <= 8 ? 32 : 16, 32, tiling);
  } else if (strcmp (name, "axial") == 0)
    set_axial (input, tiling);
  else if (strcmp (name, "isotropic") == 0)
    set_tile (nifti, 32, 32, 32, tiling);
  else
    return set_sizes (input, tiling);
  snprintf (tiling->name, sizeof tiling->name, "%s", name);
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
