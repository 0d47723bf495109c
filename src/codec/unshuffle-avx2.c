/* SPDX-License-Identifier: MIT */
/* Unshuffling by AVX2: 32 elements, or 256 of bits, at a time. */
#include <config.h>

#include "src/codec/unshuffle.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__ ((__target__ ("avx2")))
#define HELPER static inline TARGET __attribute__ ((__always_inline__))

typedef uint64_t vector __attribute__ ((__vector_size__ (32)));

#define DEFINE_INTERLEAVE(name, bits, unpack)           \
  HELPER vector                                         \
  name##_##bits (vector a, vector b)                    \
  {                                                     \
    return (vector) unpack ((__m256i) a, (__m256i) b);  \
  }

DEFINE_INTERLEAVE (low, 8, _mm256_unpacklo_epi8)
DEFINE_INTERLEAVE (high, 8, _mm256_unpackhi_epi8)
DEFINE_INTERLEAVE (low, 16, _mm256_unpacklo_epi16)
DEFINE_INTERLEAVE (high, 16, _mm256_unpackhi_epi16)
DEFINE_INTERLEAVE (low, 32, _mm256_unpacklo_epi32)
DEFINE_INTERLEAVE (high, 32, _mm256_unpackhi_epi32)

HELPER void
store_pair (unsigned char *to, vector a, vector b, int64_t far)
{
  __m256i first = _mm256_permute2x128_si256 ((__m256i) a, (__m256i) b, 0x20);
  __m256i second = _mm256_permute2x128_si256 ((__m256i) a, (__m256i) b,
                                              0x31);
  _mm256_storeu_si256 ((__m256i *) to, first);
  _mm256_storeu_si256 ((__m256i *) (to + far), second);
}

#include "src/codec/unshuffle-vectors.h"

UNSHUFFLER (avx2, __builtin_cpu_supports ("avx2"))
#endif
