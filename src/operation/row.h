/* SPDX-License-Identifier: MIT */
/* The operations on values, done on a row while it is in the cache: stored
 * elements are scaled, pass all operations in one type, and are converted to
 * the type wanted.
 *
 * That type is float32, and float64 if the stored type is float64 or an integer
 * of 32 or 64 bits, which float32 would round.  Each operation rounds once to
 * it, so that the result is that of the operations one after the other. */
#ifndef RD_ROW_H
#define RD_ROW_H

#include <stdatomic.h>

#include "src/element/copy.h"
#include "src/operation/pipeline.h"
#include "src/operation/row-levels.h"

/* Mean and deviation, or the range, that a step uses; of its input. */
struct rd_step_statistics {
  double low, high;           /* of rescale: becomes a and b */
  double mean, std;           /* of znorm */
  bool has_infinite;          /* some value is; the others do not count it */
};

/* Returns the type in which values of a stored type are computed. */
enum radio_dtype rd_row_compute_type (enum radio_dtype stored);

/* Makes a step's kernels: none for saturate, up to two for a window; returns
 * their number.  statistics: for a step that needs them, or NULL. */
size_t rd_row_kernels (const struct rd_step *step,
                       const struct rd_step_statistics *statistics,
                       struct rd_kernel kernels[2]);

/* Counts the arithmetic operations with n values in the innermost scope: a
 * counter of the unit "flop" for each operation of pipelines. */
void rd_row_count (const struct rd_row_program *program, uint64_t n);

/* A program and the type to be delivered. */
struct rd_row_map {
  const struct rd_row_program *program;
  enum radio_dtype to;
  atomic_bool *has_nan;               /* set if some value is NaN; or NULL */
};

/* RADIO_ERROR_ARGUMENT unless computed values can be delivered as a type: bool,
 * integers and floats. */
enum radio_status rd_row_check (enum radio_dtype to) RADIO_USE_RESULT;

/* Computes rows: the rd_map_fn of a map.  Integers are rounded to nearest even.
 * RADIO_ERROR_RANGE names the first value that does not fit, unless the program
 * saturates: then it becomes the nearest that does, and NaN 0. */
enum radio_status rd_row_map_run (const void *map, const struct rd_rows *rows)
  RADIO_USE_RESULT;

/* The same by one level.  For tests. */
enum radio_status rd_row_map_run_by (const struct rd_row_vectors *vectors,
                                     const struct rd_row_map *map,
                                     const struct rd_rows *rows)
  RADIO_USE_RESULT;

/* Computes one value from the kernel `first' on, as a row does. */
double rd_row_value (const struct rd_row_program *program, size_t first,
                     double value);

#endif /* RD_ROW_H */
