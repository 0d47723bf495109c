/* SPDX-License-Identifier: MIT */
/* Rows of values by AVX2. */
#include <config.h>

#ifdef __x86_64__
#include <immintrin.h>

#define VECTOR_NBYTES 32
#define TARGET __attribute__ ((__target__ ("avx2")))
#define MOST_F32(a, v) (vector_f32) _mm256_max_ps (a, v)
#define LEAST_F32(a, v) (vector_f32) _mm256_min_ps (a, v)
#define MOST_F64(a, v) (vector_f64) _mm256_max_pd (a, v)
#define LEAST_F64(a, v) (vector_f64) _mm256_min_pd (a, v)
#define ANY_NAN_F32(u, v) _mm256_cmp_ps (u, v, _CMP_UNORD_Q)
#define ANY_NAN_F64(u, v) _mm256_cmp_pd (u, v, _CMP_UNORD_Q)
#define SQRT_F64(v) (vector_f64) _mm256_sqrt_pd (v)
#define STREAM(to, v) \
  _mm256_stream_si256 ((__m256i *) (void *) (to), (__m256i) (v))

#include "src/operation/row-vectors.h"

ROW_VECTORS (avx2, RD_SIMD_AVX2)
#endif
