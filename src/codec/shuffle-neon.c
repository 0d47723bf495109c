/* SPDX-License-Identifier: MIT */
/* Unshuffling by NEON, which every aarch64 has: 16 elements, or 128 of bits,
 * at a time. */
#include <config.h>

#include "src/codec/shuffle.h"

#ifdef __aarch64__
#include <arm_neon.h>
#include <string.h>

#define TARGET
#define HELPER static inline TARGET __attribute__ ((__always_inline__))

typedef uint64_t vector __attribute__ ((__vector_size__ (16)));

#define DEFINE_INTERLEAVE(name, bits, type, zip)        \
  HELPER vector                                         \
  name##_##bits (vector a, vector b)                    \
  {                                                     \
    return (vector) zip ((type) a, (type) b);           \
  }

DEFINE_INTERLEAVE (low, 8, uint8x16_t, vzip1q_u8)
DEFINE_INTERLEAVE (high, 8, uint8x16_t, vzip2q_u8)
DEFINE_INTERLEAVE (low, 16, uint16x8_t, vzip1q_u16)
DEFINE_INTERLEAVE (high, 16, uint16x8_t, vzip2q_u16)
DEFINE_INTERLEAVE (low, 32, uint32x4_t, vzip1q_u32)
DEFINE_INTERLEAVE (high, 32, uint32x4_t, vzip2q_u32)

HELPER void
store_pair (unsigned char *to, vector a, vector b, int64_t far)
{
  (void) far;
  memcpy (to, &a, sizeof a);
  memcpy (to + sizeof a, &b, sizeof b);
}

#include "src/codec/shuffle-vectors.h"

UNSHUFFLER (neon, RD_SIMD_NEON)
#endif
