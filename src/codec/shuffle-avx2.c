/* SPDX-License-Identifier: MIT */
/* Shuffling and unshuffling by AVX2: 32 elements, or 256 of bits, at a
 * time. */
#include <config.h>

#include "src/codec/shuffle.h"

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

#define HAS_SHUFFLE
typedef uint32_t bit_mask;

/* Packing works within lanes; the result's quarters are then sorted. */
HELPER vector
pack (__m256i a, __m256i b)
{
  return (vector) _mm256_permute4x64_epi64 (_mm256_packus_epi16 (a, b), 0xd8);
}

HELPER vector
even (vector a, vector b)
{
  __m256i low = _mm256_set1_epi16 (0xff);
  return pack (_mm256_and_si256 ((__m256i) a, low),
               _mm256_and_si256 ((__m256i) b, low));
}

HELPER vector
odd (vector a, vector b)
{
  return pack (_mm256_srli_epi16 ((__m256i) a, 8),
               _mm256_srli_epi16 ((__m256i) b, 8));
}

HELPER bit_mask
high_bits (vector a)
{
  return (bit_mask) _mm256_movemask_epi8 ((__m256i) a);
}

HELPER vector
shift_bits (vector a)
{
  return (vector) _mm256_add_epi8 ((__m256i) a, (__m256i) a);
}

#include "src/codec/shuffle-vectors.h"

UNSHUFFLER (avx2, RD_SIMD_AVX2)
SHUFFLER (avx2, RD_SIMD_AVX2)
#endif
