/* SPDX-License-Identifier: MIT */
/* Where a volume's voxels lie, and the rest of what its info says. */
#ifndef RD_GEOMETRY_H
#define RD_GEOMETRY_H

#include "src/volume/volume.h"

/* Fill in volume->info from its metadata and its open array. */
void rd_volume_fill_info (struct radio_volume *volume);

#endif /* RD_GEOMETRY_H */
