/* SPDX-License-Identifier: MIT */
/* The list of levels, and the kernels in plain C: loops in strips of a constant
 * length, which compilers vectorize. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/element/strips.h"
#include "src/operation/row-levels.h"

/* Vectors of one value. */
#define VECTOR_NBYTES 8
#define TARGET
#define SQRT_F64(v) ((vector_f64) { sqrt ((v)[0]) })
#include "src/operation/normals.h"

/* Values in work at a time. */
#define BLOCK 256

#define LOOP(...) RD_STRIPS (16, __VA_ARGS__)

double
rd_row_gamma (double v, double exponent)
{
  return copysign (pow (fabs (v), exponent), v);
}

/* Comparisons with NaN are false, so that it stays.  gamma is computed in
 * float64: libraries differ in the last bit of powf. */
#define DEFINE_RUN(T, bits)                                             \
  static void                                                           \
  run_kernel_##bits (const struct rd_kernel *kernel, T *restrict v,     \
                     size_t n)                                          \
  {                                                                     \
    const T a = (T) kernel->a, b = (T) kernel->b, c = (T) kernel->c;    \
    switch (kernel->kind) {                                             \
    case RD_KERNEL_LINEAR:                                              \
      LOOP ({ v[j] = v[j] * a + b; });                                  \
      break;                                                            \
    case RD_KERNEL_CLAMP:                                               \
      LOOP ({                                                           \
        T least = v[j] < a ? a : v[j];                                  \
        v[j] = least > b ? b : least;                                   \
      });                                                               \
      break;                                                            \
    case RD_KERNEL_RESCALE:                                             \
      LOOP ({ v[j] = (v[j] - a) * b + c; });                            \
      break;                                                            \
    case RD_KERNEL_GAMMA:                                               \
      for (size_t j = 0; j < n; j++)                                    \
        v[j] = (T) rd_row_gamma ((double) v[j], kernel->a);             \
      break;                                                            \
    }                                                                   \
  }                                                                     \
                                                                        \
  static bool                                                           \
  run_rows_##bits (const struct rd_row_program *program,                \
                   const struct rd_rows *rows)                          \
  {                                                                     \
    T values[BLOCK];                                                    \
    int nan = 0;                                                        \
    for (size_t row = 0; row < rows->nrows; row++) {                    \
      const unsigned char *from                                         \
        = rows->from + (int64_t) row * rows->from_step;                 \
      unsigned char *to = rows->to + (int64_t) row * rows->to_step;     \
      for (size_t i = 0; i < rows->n; i += BLOCK) {                     \
        size_t n = rows->n - i < BLOCK ? rows->n - i : BLOCK;           \
        memcpy (values, from + i * sizeof (T), n * sizeof (T));         \
        for (size_t k = 0; k < program->nkernels; k++)                  \
          run_kernel_##bits (&program->kernels[k], values, n);          \
        LOOP ({ nan |= values[j] != values[j]; });                      \
        memcpy (to + i * sizeof (T), values, n * sizeof (T));           \
      }                                                                 \
    }                                                                   \
    return nan != 0;                                                    \
  }

DEFINE_RUN (float, 32)
DEFINE_RUN (double, 64)

const struct rd_row_vectors rd_row_plain = {
  .level = RD_SIMD_SCALAR, .run32 = run_rows_32, .run64 = run_rows_64,
  .normals = make_normals,
};

const struct rd_row_vectors *const rd_row_levels[] = {
#ifdef __x86_64__
  &rd_row_avx2, &rd_row_sse2,
#endif
#ifdef __aarch64__
  &rd_row_neon,
#endif
  &rd_row_plain, NULL
};

const struct rd_row_vectors *
rd_row_choose (void)
{
  const struct rd_row_vectors *const *list = rd_row_levels;
  while (!rd_simd_is_allowed ((*list)->level))
    list++;
  return *list;
}
