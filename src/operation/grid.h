/* SPDX-License-Identifier: MIT */
/* The source of each element of a derived array.  Cropping, padding, flips
 * and permutations treat each axis by itself, so that all of them together are
 * one list of segments for each axis: runs of the source's elements, forward or
 * backward, one element that is repeated, or padding of a value. */
#ifndef RD_GRID_H
#define RD_GRID_H

#include <radio/box.h>

#include "src/base/cleanup.h"
#include "src/operation/pipeline.h"

/* The most segments of an axis, and of all axes multiplied: the limit of the
 * pieces into which a read of a box is cut. */
#define RD_GRID_MAX_SEGMENTS ((uint64_t) 1 << 16)
#define RD_GRID_MAX_PIECES ((uint64_t) 1 << 20)

struct rd_segment {
  uint64_t n;                 /* elements */
  uint64_t start;             /* the source's, of the first one */
  int step;                   /* 1, -1; 0: start is repeated */
  size_t fill;                /* not 0: padding, by fill - 1 of the fills */
};

struct rd_grid_axis {
  size_t source;              /* the source's axis */
  uint64_t size;
  size_t nsegments, capacity;
  struct rd_segment *segments;
};

struct rd_grid {
  size_t rank;
  struct rd_grid_axis axes[RADIO_MAX_RANK];
};

/* Sets a grid to the source itself. */
enum radio_status rd_grid_init (struct rd_grid *grid, size_t rank,
                                const uint64_t *shape) RADIO_USE_RESULT;

void rd_grid_clear (struct rd_grid *grid);

/* Each changes one axis of a grid (or two).  After a failure the grid can only
 * be cleared.  rd_grid_crop: start + n is at most the axis' size. */
enum radio_status rd_grid_crop (struct rd_grid *grid, size_t axis,
                                uint64_t start, uint64_t n) RADIO_USE_RESULT;
enum radio_status rd_grid_flip (struct rd_grid *grid, size_t axis)
  RADIO_USE_RESULT;
void rd_grid_swap (struct rd_grid *grid, size_t a, size_t b);

/* Pads an axis as numpy.pad does; fill is that of RD_PAD_VALUE, which is
 * greater than any in the grid: where axes are padded by several, the last one
 * counts.
 * RADIO_ERROR_LIMIT: more than 2^63 - 1 elements or RD_GRID_MAX_PIECES;
 * RADIO_ERROR_ARGUMENT: there is no element to repeat. */
enum radio_status rd_grid_pad (struct rd_grid *grid, size_t axis,
                               uint64_t before, uint64_t after,
                               enum rd_pad_mode mode, size_t fill)
  RADIO_USE_RESULT;

/* RADIO_ERROR_LIMIT, with the figure, for 2^63 elements and more, and for more
 * pieces than are allowed. */
enum radio_status rd_grid_check (const struct rd_grid *grid)
  RADIO_USE_RESULT;

/* The same for the voxels of a shape alone. */
enum radio_status rd_grid_check_shape (size_t rank, const uint64_t *shape)
  RADIO_USE_RESULT;

/* A part of a box of the grid that is a box of the source, or padding. */
struct rd_grid_piece {
  size_t fill;                        /* not 0: padding */
  struct radio_box source;            /* in the source's axes; one element
                                         where it is repeated */
  uint64_t first[RADIO_MAX_RANK];     /* grid axes: of the piece, in the box */
  uint64_t size[RADIO_MAX_RANK];
  int step[RADIO_MAX_RANK];           /* of each grid axis */
};

/* Steps through the pieces of a box within the grid. */
struct rd_grid_cursor {
  const struct rd_grid *grid;
  const struct radio_box *box;
  size_t first[RADIO_MAX_RANK];       /* segments that the box touches */
  size_t n[RADIO_MAX_RANK];
  uint64_t offset[RADIO_MAX_RANK];    /* of the box in the first of them */
  size_t at[RADIO_MAX_RANK];          /* of them: the next piece's */
  uint64_t begin[RADIO_MAX_RANK];     /* of it, in the box */
  bool is_done;
};

/* Finds a box of the source that holds all elements of a box that is not empty;
 * false if it has none. */
bool rd_grid_bounds (const struct rd_grid *grid, const struct radio_box *box,
                     struct radio_box *source);

/* Returns the number of pieces. */
uint64_t rd_grid_cursor_init (struct rd_grid_cursor *cursor,
                              const struct rd_grid *grid,
                              const struct radio_box *box);

/* Gets the next piece; false after the last one. */
bool rd_grid_next (struct rd_grid_cursor *cursor,
                   struct rd_grid_piece *piece);

#endif /* RD_GRID_H */
