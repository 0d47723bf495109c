/* SPDX-License-Identifier: MIT */
/* Kernels over rows of values, by one instruction set each.  Every level does
 * the arithmetic of plain C, value by value, so that the bits of all results
 * are the same. */
#ifndef RD_ROW_LEVELS_H
#define RD_ROW_LEVELS_H

#include "src/base/simd.h"
#include "src/element/rows.h"
#include "src/element/type.h"
#include "src/operation/pipeline.h"

enum rd_kernel_kind {
  RD_KERNEL_LINEAR,           /* v * a + b */
  RD_KERNEL_CLAMP,            /* at least a, at most b */
  RD_KERNEL_RESCALE,          /* (v - a) * b + c */
  RD_KERNEL_GAMMA,            /* |v|^a with the sign of v */
};

struct rd_kernel {
  enum rd_kernel_kind kind;
  double a, b, c;
  enum rd_operation operation;        /* that it is of, in profiles */
};

/* The computation of an array's values on the way to the caller. */
struct rd_row_program {
  enum radio_dtype from;      /* stored */
  enum radio_dtype compute;   /* FLOAT32 or FLOAT64 */
  double slope, inter;        /* of stored values */
  bool saturates;             /* into integers */
  size_t nkernels;
  struct rd_kernel *kernels;  /* owned */
};

/* Runs all kernels over rows of values of one type, contiguous on both sides,
 * which are the same or do not overlap; of one row the source may also begin
 * within the destination.  Returns true if some result is NaN. */
typedef bool rd_row_run_fn (const struct rd_row_program *program,
                            const struct rd_rows *rows);

/* Makes n values to compute with of stored elements. */
typedef void rd_row_load_fn (const unsigned char *from, float *to, size_t n,
                             const struct rd_row_program *program);

/* Rounds n values to integers.  Those that do not fit become the nearest that
 * does, and NaN 0; or, unless it saturates, anything: then it returns true. */
typedef bool rd_row_store_fn (const float *from, unsigned char *to, size_t n,
                              bool saturates);

/* Makes n pairs of normally distributed numbers of pairs that are evenly
 * distributed from 0 to below 1, in their place (noise.h).  n is a multiple of
 * RD_NORMALS. */
#define RD_NORMALS 4
typedef void rd_row_normals_fn (double *first, double *second, size_t n);

/* By the types of elements; NULL: left to plain C. */
struct rd_row_vectors {
  enum rd_simd level;
  rd_row_run_fn *run32, *run64;       /* float32, float64 */
  rd_row_normals_fn *normals;
  rd_row_load_fn *load[RADIO_FLOAT64 + 1];
  rd_row_store_fn *store[RADIO_FLOAT64 + 1];
};

extern const struct rd_row_vectors rd_row_avx2;
extern const struct rd_row_vectors rd_row_sse2;
extern const struct rd_row_vectors rd_row_neon;
extern const struct rd_row_vectors rd_row_plain;

/* All that were compiled, the fastest first, plain C last; then NULL.  There is
 * no AVX-512: rows are as fast as memory with AVX2, and slower with vectors of
 * a whole cache line if the destination is not aligned to one. */
extern const struct rd_row_vectors *const rd_row_levels[];

/* Returns the best that may be used. */
const struct rd_row_vectors *rd_row_choose (void);

/* |v|^exponent with the sign of v. */
double rd_row_gamma (double v, double exponent);

#endif /* RD_ROW_LEVELS_H */
