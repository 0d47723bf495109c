/* SPDX-License-Identifier: MIT */
/* Rows of values by NEON, which every aarch64 has. */
#include <config.h>

#ifdef __aarch64__
#include <arm_neon.h>

#define VECTOR_NBYTES 16
#define TARGET

/* Not vmaxq, which of a NaN makes another one. */
#define SELECT(compare, select, type, a, v)                             \
  select (compare ((type) (a), (type) (v)), (type) (a), (type) (v))
#define MOST_F32(a, v) \
  (vector_f32) SELECT (vcgtq_f32, vbslq_f32, float32x4_t, a, v)
#define LEAST_F32(a, v) \
  (vector_f32) SELECT (vcltq_f32, vbslq_f32, float32x4_t, a, v)
#define MOST_F64(a, v) \
  (vector_f64) SELECT (vcgtq_f64, vbslq_f64, float64x2_t, a, v)
#define LEAST_F64(a, v) \
  (vector_f64) SELECT (vcltq_f64, vbslq_f64, float64x2_t, a, v)
#define ANY_NAN_F32(u, v) (((u) != (u)) | ((v) != (v)))
#define ANY_NAN_F64(u, v) (((u) != (u)) | ((v) != (v)))
#define SQRT_F64(v) (vector_f64) vsqrtq_f64 ((float64x2_t) (v))
#define STREAM(to, v) memcpy (to, &(v), sizeof (v))

#include "src/operation/row-vectors.h"

ROW_VECTORS (neon, RD_SIMD_NEON)
#endif
