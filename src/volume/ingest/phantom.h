/* SPDX-License-Identifier: MIT */
/* A synthetic head in Hounsfield units.  Everything is integer arithmetic,
 * and the noise a hash of the voxel's place: any row can be made on any
 * thread and on any machine, and is the same. */
#ifndef RD_PHANTOM_H
#define RD_PHANTOM_H

#include <radio/base.h>

#include "src/base/cleanup.h"

struct rd_phantom;

/* shape is z, y, x.  RADIO_ERROR_ARGUMENT names the axis that is out of
 * range. */
enum radio_status rd_phantom_open (const uint64_t shape[3], uint64_t seed,
                                   struct rd_phantom **phantom)
  RADIO_USE_RESULT;
void rd_phantom_close (struct rd_phantom *phantom);
RD_DEFINE_CLEANUP (phantom, struct rd_phantom, rd_phantom_close);

/* Make the row (z, y): as many voxels as the shape's x. */
void rd_phantom_row (const struct rd_phantom *phantom, uint64_t z,
                     uint64_t y, int16_t *row);

#endif /* RD_PHANTOM_H */
