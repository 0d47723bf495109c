/* SPDX-License-Identifier: MIT */
/* Boxes: a start and a size on each axis, in array order. */
#ifndef RADIO_BOX_H
#define RADIO_BOX_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frozen: it stands in other structs and in arrays. */
struct radio_box {
  size_t rank;                      /* 1 to RADIO_MAX_RANK */
  uint64_t start[RADIO_MAX_RANK];   /* elements */
  uint64_t size[RADIO_MAX_RANK];    /* elements; 0 makes the box empty */
};

/* Returns a box of a 3-D array, slowest axis first. */
static inline struct radio_box
radio_box3 (uint64_t z, uint64_t nz, uint64_t y, uint64_t ny,
            uint64_t x, uint64_t nx)
{
  struct radio_box box = { 3, { z, y, x }, { nz, ny, nx } };
  return box;
}

/* Returns the number of elements in a box, or UINT64_MAX on overflow. */
RADIO_API uint64_t radio_box_count (const struct radio_box *box);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_BOX_H */
