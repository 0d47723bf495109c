/* SPDX-License-Identifier: MIT */
/* The step that shuffling bits and undoing it share. */
#ifndef RD_BIT_SQUARE_H
#define RD_BIT_SQUARE_H

#include <stdint.h>

/* Transpose the 8 x 8 bits of a word, whose byte k is row k. */
static inline uint64_t
rd_transpose_bits (uint64_t x)
{
  uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000cccc;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
  return x ^ t ^ t << 28;
}

#endif /* RD_BIT_SQUARE_H */
