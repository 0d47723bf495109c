/* SPDX-License-Identifier: MIT */
/* Interpolation at the positions that a matrix maps outputs to: each is
 * gathered from the elements around its position.  Places outside of a field of
 * view get one element; elsewhere edges continue beyond the source. */
#ifndef RD_GATHER_H
#define RD_GATHER_H

#include <radio/box.h>

#include "src/element/type.h"
#include "src/operation/pipeline.h"

/* How far the spline coefficients reach beyond the source, on each side. */
#define RD_GATHER_MARGIN 2

/* The most fields of view of a result. */
#define RD_GATHER_MAX_FIELDS 16

/* The field of view of a grid: outputs whose position in its voxels is outside
 * of those, which reach from -0.5 to size - 0.5, are outside. */
struct rd_gather_field {
  double matrix[3][4];          /* position of an output, as below */
  uint64_t size[3];
};

struct rd_gather {
  /* Position of an output in the source: three rows, of which the last column
   * is added. */
  double matrix[3][4];
  uint64_t size[3];             /* of the source, without a margin */
  size_t nfields;               /* the source's own, and those of grids between
                                   it and the outputs */
  struct rd_gather_field fields[RD_GATHER_MAX_FIELDS];
  double least[3], most[3];     /* of positions that are not outside; set by
                                   rd_gather_limit */
  enum rd_interpolation interpolation;    /* not majority; elements of cubic
                                             are spline coefficients with a
                                             margin */
  struct rd_type type;
  unsigned char outside[RD_ITEM_MAX_NBYTES];
};

/* Elements of the source in memory, contiguous; their first one is at `start',
 * the margin counted. */
struct rd_gather_block {
  const unsigned char *elements;      /* NULL: all is outside */
  uint64_t start[3], size[3];
};

/* Finds the positions in the source that are in all fields of view, so that no
 * others are read. */
void rd_gather_limit (struct rd_gather *gather);

/* Finds the elements, the margin counted, that outputs from first to first +
 * n - 1 on each axis depend on, or some more; false if all are outside. */
bool rd_gather_span (const struct rd_gather *gather, const uint64_t *first,
                     const uint64_t *n, uint64_t *start, uint64_t *size);

/* Returns the arithmetic operations of an output that is not outside, by
 * formula.  The position takes 6 on each axis: a product and a sum, the sum of
 * rounding, a product and a sum for the element's number, and a difference for
 * the rest.  linear mixes 7 times, each of two elements by 4; cubic has 17 for
 * the weights of each axis, and 7 for each sum of 4: of 16 rows, 4 planes (of 4
 * columns each) and the columns. */
uint64_t rd_gather_flop (const struct rd_gather *gather);

/* Computes n outputs from `at' on along the last axis; returns how many are not
 * outside. */
uint64_t rd_gather_row (const struct rd_gather *gather,
                        const struct rd_gather_block *block, const uint64_t *at,
                        uint64_t n, unsigned char *to);

#endif /* RD_GATHER_H */
