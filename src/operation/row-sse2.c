/* SPDX-License-Identifier: MIT */
/* Rows of values by SSE2, which every x86-64 has. */
#include <config.h>

#ifdef __x86_64__
#include <emmintrin.h>

#define VECTOR_NBYTES 16
#define TARGET
#define MOST_F32(a, v) (vector_f32) _mm_max_ps (a, v)
#define LEAST_F32(a, v) (vector_f32) _mm_min_ps (a, v)
#define MOST_F64(a, v) (vector_f64) _mm_max_pd (a, v)
#define LEAST_F64(a, v) (vector_f64) _mm_min_pd (a, v)
#define ANY_NAN_F32(u, v) _mm_cmpunord_ps (u, v)
#define ANY_NAN_F64(u, v) _mm_cmpunord_pd (u, v)
#define SQRT_F64(v) (vector_f64) _mm_sqrt_pd (v)
#define STREAM(to, v) \
  _mm_stream_si128 ((__m128i *) (void *) (to), (__m128i) (v))

#include "src/operation/row-vectors.h"

ROW_VECTORS (sse2, RD_SIMD_SSE2)
#endif
