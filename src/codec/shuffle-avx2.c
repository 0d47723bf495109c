/* SPDX-License-Identifier: MIT */
/* Shuffling by AVX2: 32 elements at a time. */
#include <config.h>

#include "src/codec/shuffle.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__ ((__target__ ("avx2")))
#define HELPER static inline TARGET __attribute__ ((__always_inline__))

typedef __m256i vector;
typedef uint32_t mask;

/* Packing works within lanes; their quarters are put in order behind it. */
HELPER vector
pack (vector a, vector b)
{
  return _mm256_permute4x64_epi64 (_mm256_packus_epi16 (a, b), 0xd8);
}

HELPER vector
even (vector a, vector b)
{
  vector low = _mm256_set1_epi16 (0xff);
  return pack (_mm256_and_si256 (a, low), _mm256_and_si256 (b, low));
}

HELPER vector
odd (vector a, vector b)
{
  return pack (_mm256_srli_epi16 (a, 8), _mm256_srli_epi16 (b, 8));
}

HELPER mask
high_bits (vector a)
{
  return (mask) _mm256_movemask_epi8 (a);
}

HELPER vector
shift_bits (vector a)
{
  return _mm256_add_epi8 (a, a);
}

#include "src/codec/shuffle-vectors.h"

SHUFFLER (avx2, __builtin_cpu_supports ("avx2"))
#endif
