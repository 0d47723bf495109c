/* SPDX-License-Identifier: MIT */
/* Boxes and grids of chunks: plain arithmetic on starts and sizes. */
#ifndef RD_BOX_H
#define RD_BOX_H

#include <radio/box.h>

/* The box of a whole array. */
struct radio_box rd_box_whole (size_t rank, const uint64_t *shape);

/* True when a box is of this rank and lies within the shape. */
bool rd_box_fits (const struct radio_box *box, size_t rank,
                  const uint64_t *shape);

/* Intersects two boxes of one rank; false when the result is empty. */
bool rd_box_intersect (const struct radio_box *a, const struct radio_box *b,
                       struct radio_box *result);

/* The box of one cell of a regular grid, not clipped to the array. */
struct radio_box rd_grid_cell (size_t rank, const uint64_t *cell_shape,
                               const uint64_t *index);

/* The cells of a regular grid that a box touches: *cells is in units of
 * cells.  The box must not be empty. */
void rd_grid_touched (const struct radio_box *box, const uint64_t *cell_shape,
                      struct radio_box *cells);

/* The coordinates of the i-th point of a box, in C order. */
void rd_box_unravel (const struct radio_box *box, uint64_t i,
                     uint64_t *coordinates);

/* Steps coordinates to the next point of a box in C order; false at the
 * end. */
bool rd_box_next (const struct radio_box *box, uint64_t *coordinates);

/* Strides in bytes of a C-order array; false when they do not fit. */
bool rd_c_strides (size_t rank, const uint64_t *shape, size_t item_nbytes,
                   int64_t *strides);

/* The same, unless other strides are given, which are copied. */
bool rd_given_strides (const int64_t *given, size_t rank,
                       const uint64_t *shape, size_t item_nbytes,
                       int64_t *strides);

/* Returns the bytes from the first one to the last of elements with strides in
 * bytes, at most UINT64_MAX, and where they begin; no axis is empty. */
uint64_t rd_strided_span (const void *element, size_t rank,
                          const uint64_t *shape, const int64_t *strides,
                          size_t item_nbytes, uintptr_t *begin);

/* A shape as text, "64,512,512"; returns text. */
#define RD_SHAPE_NBYTES (RADIO_MAX_RANK * 21 + 1)
const char *rd_shape_text (size_t rank, const uint64_t *shape,
                           char text[RD_SHAPE_NBYTES]);

#endif /* RD_BOX_H */
