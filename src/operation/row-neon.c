/* SPDX-License-Identifier: MIT */
/* Rows of values by NEON, which every aarch64 has. */
#include <config.h>

#ifdef __aarch64__
#include <arm_neon.h>

/* vmaxq_f32 would make NaN of a bound and NaN, too, but another one. */
#define VECTOR_NBYTES 16
#define TARGET
#define MOST_F32(a, v) \
  (vector_f32) vbslq_f32 (vcgtq_f32 (a, v), a, v)
#define LEAST_F32(a, v) \
  (vector_f32) vbslq_f32 (vcltq_f32 (a, v), a, v)
#define MOST_F64(a, v) \
  (vector_f64) vbslq_f64 (vcgtq_f64 (a, v), a, v)
#define LEAST_F64(a, v) \
  (vector_f64) vbslq_f64 (vcltq_f64 (a, v), a, v)
#define STREAM(to, v) memcpy (to, &(v), sizeof (v))

#include "src/operation/row-vectors.h"

ROW_VECTORS (neon, RD_SIMD_NEON)
#endif
