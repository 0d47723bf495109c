/* SPDX-License-Identifier: MIT */
/* A random generator that counts rather than keeps a state: Philox4x64-10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011;
 * numpy.random.Philox is the same, and counts before it draws). */
#ifndef RD_PHILOX_H
#define RD_PHILOX_H

#include <stdint.h>
#include <string.h>

struct rd_product {
  uint64_t high, low;
};

static inline struct rd_product
rd_multiply_u64 (uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  const wide product = (wide) a * b;
  return (struct rd_product) { (uint64_t) (product >> 64), (uint64_t) product };
#else
  uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
  uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
  uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
  uint64_t other = a_low * b_high + (middle & UINT32_MAX);
  return (struct rd_product) {
    a_high * b_high + (middle >> 32) + (other >> 32), a * b
  };
#endif
}

#define RD_PHILOX_ROUNDS 10

/* Returns a key's words in a round. */
static inline uint64_t
rd_philox_key (const uint64_t key[2], int i, uint64_t round)
{
  return key[i] + round * (i == 0 ? UINT64_C (0x9e3779b97f4a7c15)
                                  : UINT64_C (0xbb67ae8584caa73b));
}

/* One round of the counter's words. */
static inline void
rd_philox_round (uint64_t words[4], uint64_t k0, uint64_t k1)
{
  struct rd_product a = rd_multiply_u64 (UINT64_C (0xd2e7470ee14c6c93),
                                         words[0]);
  struct rd_product b = rd_multiply_u64 (UINT64_C (0xca5a826395121157),
                                         words[2]);
  words[0] = b.high ^ words[1] ^ k0;
  words[1] = b.low;
  words[2] = a.high ^ words[3] ^ k1;
  words[3] = a.low;
}

/* Makes a number from 0 to below 1 of a word, as numpy's random() does. */
static inline double
rd_philox_number (uint64_t word)
{
  return (double) (int64_t) (word >> 11) * 0x1p-53;
}

/* Draws four numbers. */
static inline void
rd_philox_numbers (const uint64_t counter[4], const uint64_t key[2],
                   double numbers[4])
{
  uint64_t words[4];
  memcpy (words, counter, sizeof words);
  for (uint64_t round = 0; round < RD_PHILOX_ROUNDS; round++)
    rd_philox_round (words, rd_philox_key (key, 0, round),
                     rd_philox_key (key, 1, round));
  for (int i = 0; i < 4; i++)
    numbers[i] = rd_philox_number (words[i]);
}

#endif /* RD_PHILOX_H */
