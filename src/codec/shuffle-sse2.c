/* SPDX-License-Identifier: MIT */
/* Shuffling by SSE2, which every x86-64 has: 16 elements at a time. */
#include <config.h>

#include "src/codec/shuffle.h"

#ifdef __x86_64__
#include <emmintrin.h>
#include <string.h>

#define TARGET
#define HELPER static inline TARGET __attribute__ ((__always_inline__))

typedef __m128i vector;
typedef uint16_t mask;

HELPER vector
even (vector a, vector b)
{
  vector low = _mm_set1_epi16 (0xff);
  return _mm_packus_epi16 (_mm_and_si128 (a, low), _mm_and_si128 (b, low));
}

HELPER vector
odd (vector a, vector b)
{
  return _mm_packus_epi16 (_mm_srli_epi16 (a, 8), _mm_srli_epi16 (b, 8));
}

HELPER mask
high_bits (vector a)
{
  return (mask) _mm_movemask_epi8 (a);
}

HELPER vector
shift_bits (vector a)
{
  return _mm_add_epi8 (a, a);
}

#include "src/codec/shuffle-vectors.h"

SHUFFLER (sse2, true)
#endif
