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

/* Draws four words. */
static inline void
rd_philox (const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
  uint64_t k0 = key[0], k1 = key[1];
  memcpy (out, counter, 4 * sizeof *out);
  for (int round = 0; round < 10; round++) {
    struct rd_product a = rd_multiply_u64 (UINT64_C (0xd2e7470ee14c6c93),
                                           out[0]);
    struct rd_product b = rd_multiply_u64 (UINT64_C (0xca5a826395121157),
                                           out[2]);
    uint64_t next[4] = { b.high ^ out[1] ^ k0, b.low, a.high ^ out[3] ^ k1,
                         a.low };
    memcpy (out, next, sizeof next);
    k0 += UINT64_C (0x9e3779b97f4a7c15);
    k1 += UINT64_C (0xbb67ae8584caa73b);
  }
}

/* Draws four numbers from 0 to below 1, as numpy's random() makes them. */
static inline void
rd_philox_numbers (const uint64_t counter[4], const uint64_t key[2],
                   double numbers[4])
{
  uint64_t bits[4];
  rd_philox (counter, key, bits);
  for (int i = 0; i < 4; i++)
    numbers[i] = (double) (bits[i] >> 11) * 0x1p-53;
}

#endif /* RD_PHILOX_H */
