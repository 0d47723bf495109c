/* SPDX-License-Identifier: MIT */
/* Interpolation of rows from a block of elements in memory, axis after axis:
 * weighted sums of planes, then of rows, then along the row.  Each output is
 * summed in one order, whatever the block and the thread. */
#ifndef RD_INTERPOLATE_H
#define RD_INTERPOLATE_H

#include "src/element/type.h"
#include "src/operation/weights.h"

/* A block of elements of three axes, contiguous, and what is computed of it. */
struct rd_sampled_block {
  const unsigned char *elements;
  uint64_t size[3];             /* the last axis is the fastest */
  struct rd_type type;          /* float32 or float64; of nearest any; of
                                   majority an integer or a float */
  enum rd_interpolation interpolation;
  const struct rd_weights *weights;   /* three; starts are within the block */
};

/* RADIO_ERROR_ARGUMENT unless elements of a type can be interpolated so. */
enum radio_status
rd_interpolate_check (enum rd_interpolation interpolation,
                      enum radio_dtype dtype) RADIO_USE_RESULT;

/* Returns the room that rd_interpolate_rows needs. */
size_t rd_interpolate_nbytes (const struct rd_sampled_block *block,
                              uint64_t first, uint64_t n);

/* Returns the arithmetic operations of such rows by formula: a sum of k
 * weighted elements has 2 k - 1, a copied element has 0.  Planes are summed
 * first, for the rows in use, then rows, then elements along them. */
uint64_t rd_interpolate_flop (const struct rd_sampled_block *block,
                              uint64_t plane, uint64_t first, uint64_t n);

/* Computes n rows of the plane `plane' of the outputs, from `first' on, to n
 * contiguous rows.  work is that room, aligned as from rd_malloc. */
void rd_interpolate_rows (const struct rd_sampled_block *block,
                          uint64_t plane, uint64_t first, uint64_t n,
                          void *work, unsigned char *to);

#endif /* RD_INTERPOLATE_H */
