/* SPDX-License-Identifier: MIT */
/* Shuffling and unshuffling by SSE2, which every x86-64 has: 16 elements, or
 * 128 of bits, at a time. */
#include <config.h>

#include "src/codec/shuffle.h"

#ifdef __x86_64__
#include <emmintrin.h>
#include <string.h>

#define TARGET
#define HELPER static inline TARGET __attribute__ ((__always_inline__))

typedef uint64_t vector __attribute__ ((__vector_size__ (16)));

#define DEFINE_INTERLEAVE(name, bits, unpack)           \
  HELPER vector                                         \
  name##_##bits (vector a, vector b)                    \
  {                                                     \
    return (vector) unpack ((__m128i) a, (__m128i) b);  \
  }

DEFINE_INTERLEAVE (low, 8, _mm_unpacklo_epi8)
DEFINE_INTERLEAVE (high, 8, _mm_unpackhi_epi8)
DEFINE_INTERLEAVE (low, 16, _mm_unpacklo_epi16)
DEFINE_INTERLEAVE (high, 16, _mm_unpackhi_epi16)
DEFINE_INTERLEAVE (low, 32, _mm_unpacklo_epi32)
DEFINE_INTERLEAVE (high, 32, _mm_unpackhi_epi32)

HELPER void
store_pair (unsigned char *to, vector a, vector b, int64_t far)
{
  (void) far;
  memcpy (to, &a, sizeof a);
  memcpy (to + sizeof a, &b, sizeof b);
}

#define HAS_SHUFFLE
typedef uint16_t bit_mask;

HELPER vector
even (vector a, vector b)
{
  __m128i low = _mm_set1_epi16 (0xff);
  return (vector) _mm_packus_epi16 (_mm_and_si128 ((__m128i) a, low),
                                    _mm_and_si128 ((__m128i) b, low));
}

HELPER vector
odd (vector a, vector b)
{
  return (vector) _mm_packus_epi16 (_mm_srli_epi16 ((__m128i) a, 8),
                                    _mm_srli_epi16 ((__m128i) b, 8));
}

HELPER bit_mask
high_bits (vector a)
{
  return (bit_mask) _mm_movemask_epi8 ((__m128i) a);
}

HELPER vector
shift_bits (vector a)
{
  return (vector) _mm_add_epi8 ((__m128i) a, (__m128i) a);
}

#include "src/codec/shuffle-vectors.h"

UNSHUFFLER (sse2, RD_SIMD_SSE2)
SHUFFLER (sse2, RD_SIMD_SSE2)
#endif
