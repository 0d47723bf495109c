/* SPDX-License-Identifier: MIT */
/* Byte planes back to elements: by SSE2 (which every x86-64 has) for the
 * sizes that images have, element by element for the rest. */
#include <config.h>

#include <string.h>

#include "src/codec/unshuffle.h"

#ifdef __SSE2__
#include <emmintrin.h>

static inline __m128i
load (const unsigned char *from)
{
  return _mm_loadu_si128 ((const __m128i *) from);
}

static inline void
store (unsigned char *to, __m128i value)
{
  _mm_storeu_si128 ((__m128i *) to, value);
}

/* Each function does 16 elements at a time, and returns how many it did. */
static size_t
unshuffle_2 (const unsigned char *from, unsigned char *to, size_t n)
{
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m128i a = load (from + i), b = load (from + n + i);
    store (to + 2 * i, _mm_unpacklo_epi8 (a, b));
    store (to + 2 * i + 16, _mm_unpackhi_epi8 (a, b));
  }
  return i;
}

static size_t
unshuffle_4 (const unsigned char *from, unsigned char *to, size_t n)
{
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m128i a = load (from + i), b = load (from + n + i);
    __m128i c = load (from + 2 * n + i), d = load (from + 3 * n + i);
    __m128i ab = _mm_unpacklo_epi8 (a, b), cd = _mm_unpacklo_epi8 (c, d);
    store (to + 4 * i, _mm_unpacklo_epi16 (ab, cd));
    store (to + 4 * i + 16, _mm_unpackhi_epi16 (ab, cd));
    ab = _mm_unpackhi_epi8 (a, b);
    cd = _mm_unpackhi_epi8 (c, d);
    store (to + 4 * i + 32, _mm_unpacklo_epi16 (ab, cd));
    store (to + 4 * i + 48, _mm_unpackhi_epi16 (ab, cd));
  }
  return i;
}

/* Four elements of 8 bytes from pairs of their bytes 0-1, 2-3, 4-5, 6-7. */
static inline void
store_quads (unsigned char *to, __m128i ab, __m128i cd, __m128i ef,
             __m128i gh)
{
  __m128i low = _mm_unpacklo_epi16 (ab, cd);
  __m128i high = _mm_unpacklo_epi16 (ef, gh);
  store (to, _mm_unpacklo_epi32 (low, high));
  store (to + 16, _mm_unpackhi_epi32 (low, high));
  low = _mm_unpackhi_epi16 (ab, cd);
  high = _mm_unpackhi_epi16 (ef, gh);
  store (to + 32, _mm_unpacklo_epi32 (low, high));
  store (to + 48, _mm_unpackhi_epi32 (low, high));
}

static size_t
unshuffle_8 (const unsigned char *from, unsigned char *to, size_t n)
{
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m128i p[8];
    for (size_t k = 0; k < 8; k++)
      p[k] = load (from + k * n + i);
    store_quads (to + 8 * i, _mm_unpacklo_epi8 (p[0], p[1]),
                 _mm_unpacklo_epi8 (p[2], p[3]),
                 _mm_unpacklo_epi8 (p[4], p[5]),
                 _mm_unpacklo_epi8 (p[6], p[7]));
    store_quads (to + 8 * i + 64, _mm_unpackhi_epi8 (p[0], p[1]),
                 _mm_unpackhi_epi8 (p[2], p[3]),
                 _mm_unpackhi_epi8 (p[4], p[5]),
                 _mm_unpackhi_epi8 (p[6], p[7]));
  }
  return i;
}

static size_t
unshuffle_vectors (size_t typesize, const unsigned char *from,
                   unsigned char *to, size_t n)
{
  switch (typesize) {
  case 2: return unshuffle_2 (from, to, n);
  case 4: return unshuffle_4 (from, to, n);
  case 8: return unshuffle_8 (from, to, n);
  default: return 0;
  }
}

#else

static size_t
unshuffle_vectors (size_t typesize, const unsigned char *from,
                   unsigned char *to, size_t n)
{
  (void) typesize, (void) from, (void) to, (void) n;
  return 0;
}

#endif

void
rd_unshuffle (size_t typesize, const unsigned char *from, unsigned char *to,
              size_t nbytes)
{
  size_t n = nbytes / typesize;
  size_t done = n * typesize;
  for (size_t i = unshuffle_vectors (typesize, from, to, n); i < n; i++)
    for (size_t k = 0; k < typesize; k++)
      to[i * typesize + k] = from[k * n + i];
  memcpy (to + done, from + done, nbytes - done);
}
