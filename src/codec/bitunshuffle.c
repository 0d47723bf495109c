/* SPDX-License-Identifier: MIT */
/* Bit planes back to elements.  For each byte of an element there are eight
 * rows, one a bit, of one bit an element, the first element in the lowest
 * bit.  Eight rows make a plane of bytes, by transposing 8 x 8 bits, here
 * many such squares at once in eight vectors; the planes are then
 * unshuffled as bytes are. */
#include <config.h>

#include <string.h>

#include "src/codec/unshuffle.h"

/* Transpose the 8 x 8 bits of a word, whose byte k is row k. */
static inline uint64_t
transpose_word (uint64_t x)
{
  uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000cccc;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
  return x ^ t ^ t << 28;
}

/* The 8 elements of column i of the rows. */
static inline void
transpose_column (const unsigned char *from, size_t row_nbytes, size_t i,
                  unsigned char *to)
{
  uint64_t x = 0;
  for (unsigned k = 0; k < 8; k++)
    x |= (uint64_t) from[k * row_nbytes + i] << 8 * k;
  x = transpose_word (x);
  for (unsigned k = 0; k < 8; k++)
    to[8 * i + k] = (unsigned char) (x >> 8 * k);
}

#ifdef __SSE2__
#include <immintrin.h>

/* Exchange the bits of a that are `shift' above those in mask with those of
 * b in mask. */
#define EXCHANGE(V, a, b, shift, mask)                                  \
  do {                                                                  \
    V t_ = (((a) >> (shift)) ^ (b)) & (mask);                           \
    (b) ^= t_;                                                          \
    (a) ^= t_ << (shift);                                               \
  } while (0)

/* Transpose bits across eight vectors: afterwards byte i of p[k] is element
 * k of the 8 x 8 square that the bytes i were. */
#define TRANSPOSE_BITS(V, p)                                            \
  do {                                                                  \
    for (size_t k_ = 0; k_ < 8; k_ += 2)                                \
      EXCHANGE (V, p[k_], p[k_ + 1], 1, 0x5555555555555555u);           \
    for (size_t k_ = 0; k_ < 8; k_ += k_ % 4 ? 3 : 1)                   \
      EXCHANGE (V, p[k_], p[k_ + 2], 2, 0x3333333333333333u);           \
    for (size_t k_ = 0; k_ < 4; k_++)                                   \
      EXCHANGE (V, p[k_], p[k_ + 4], 4, 0x0f0f0f0f0f0f0f0fu);           \
  } while (0)

/* Interleave the bytes of eight vectors, in place: p[0] then holds the
 * first ones.  Within each 128-bit lane. */
#define INTERLEAVE(V, M, unpack, p)                                     \
  do {                                                                  \
    V q_[8];                                                            \
    for (size_t k_ = 0; k_ < 4; k_++) {                                 \
      q_[k_] = (V) unpack##lo_epi8 ((M) p[2 * k_], (M) p[2 * k_ + 1]);  \
      q_[k_ + 4] = (V) unpack##hi_epi8 ((M) p[2 * k_],                  \
                                        (M) p[2 * k_ + 1]);             \
    }                                                                   \
    for (size_t k_ = 0; k_ < 8; k_ += 4) {                              \
      V a_ = (V) unpack##lo_epi16 ((M) q_[k_], (M) q_[k_ + 1]);         \
      V b_ = (V) unpack##lo_epi16 ((M) q_[k_ + 2], (M) q_[k_ + 3]);     \
      V c_ = (V) unpack##hi_epi16 ((M) q_[k_], (M) q_[k_ + 1]);         \
      V d_ = (V) unpack##hi_epi16 ((M) q_[k_ + 2], (M) q_[k_ + 3]);     \
      p[k_] = (V) unpack##lo_epi32 ((M) a_, (M) b_);                    \
      p[k_ + 1] = (V) unpack##hi_epi32 ((M) a_, (M) b_);                \
      p[k_ + 2] = (V) unpack##lo_epi32 ((M) c_, (M) d_);                \
      p[k_ + 3] = (V) unpack##hi_epi32 ((M) c_, (M) d_);                \
    }                                                                   \
  } while (0)

typedef uint64_t vector16 __attribute__ ((__vector_size__ (16)));
typedef uint64_t vector32 __attribute__ ((__vector_size__ (32)));

static size_t
transpose_sse2 (const unsigned char *from, size_t row_nbytes,
                unsigned char *to)
{
  size_t i = 0;
  for (; i + 16 <= row_nbytes; i += 16) {
    vector16 p[8];
    for (size_t k = 0; k < 8; k++)
      memcpy (&p[k], from + k * row_nbytes + i, 16);
    TRANSPOSE_BITS (vector16, p);
    INTERLEAVE (vector16, __m128i, _mm_unpack, p);
    for (size_t k = 0; k < 8; k++)
      memcpy (to + 8 * i + 16 * k, &p[k], 16);
  }
  return i;
}

__attribute__ ((__target__ ("avx2"))) static size_t
transpose_avx2 (const unsigned char *from, size_t row_nbytes,
                unsigned char *to)
{
  size_t i = 0;
  for (; i + 32 <= row_nbytes; i += 32) {
    vector32 p[8];
    for (size_t k = 0; k < 8; k++)
      memcpy (&p[k], from + k * row_nbytes + i, 32);
    TRANSPOSE_BITS (vector32, p);
    INTERLEAVE (vector32, __m256i, _mm256_unpack, p);
    for (size_t k = 0; k < 8; k++) {
      memcpy (to + 8 * i + 16 * k, &p[k], 16);
      __m128i high = _mm256_extracti128_si256 ((__m256i) p[k], 1);
      memcpy (to + 8 * i + 128 + 16 * k, &high, 16);
    }
  }
  return i;
}

static size_t
transpose_vectors (const unsigned char *from, size_t row_nbytes,
                   unsigned char *to)
{
  if (__builtin_cpu_supports ("avx2"))
    return transpose_avx2 (from, row_nbytes, to);
  return transpose_sse2 (from, row_nbytes, to);
}

#else

static size_t
transpose_vectors (const unsigned char *from, size_t row_nbytes,
                   unsigned char *to)
{
  (void) from, (void) row_nbytes, (void) to;
  return 0;
}

#endif

/* One byte of n elements: a plane from its eight rows. */
static void
make_plane (const unsigned char *from, size_t n, unsigned char *to)
{
  size_t row_nbytes = n / 8;
  size_t i = transpose_vectors (from, row_nbytes, to);
  for (; i < row_nbytes; i++)
    transpose_column (from, row_nbytes, i, to);
}

void
rd_bitunshuffle (size_t typesize, const unsigned char *from,
                 unsigned char *to, size_t nbytes, unsigned char *room)
{
  size_t n = nbytes / typesize;
  size_t done = n * typesize;
  if (n % 8 != 0) {
    memcpy (to, from, nbytes);
    return;
  }
  unsigned char *planes = typesize == 1 ? to : room;
  for (size_t k = 0; k < typesize; k++)
    make_plane (from + k * n, n, planes + k * n);
  if (typesize > 1)
    rd_unshuffle (typesize, room, to, done);
  memcpy (to + done, from + done, nbytes - done);
}
