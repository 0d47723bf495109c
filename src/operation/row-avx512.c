/* SPDX-License-Identifier: MIT */
/* Rows of values by AVX-512. */
#include <config.h>

#ifdef __x86_64__
#include <immintrin.h>

#define VECTOR_NBYTES 64
#define TARGET \
  __attribute__ ((__target__ ("avx512f,avx512bw,avx512dq,avx512vl")))
#define MOST_F32(a, v) (vector_f32) _mm512_max_ps (a, v)
#define LEAST_F32(a, v) (vector_f32) _mm512_min_ps (a, v)
#define MOST_F64(a, v) (vector_f64) _mm512_max_pd (a, v)
#define LEAST_F64(a, v) (vector_f64) _mm512_min_pd (a, v)
#define STREAM(to, v) \
  _mm512_stream_si512 ((__m512i *) (void *) (to), (__m512i) (v))

#include "src/operation/row-vectors.h"

ROW_VECTORS (avx512, RD_SIMD_AVX512)
#endif
