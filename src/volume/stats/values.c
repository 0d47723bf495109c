/* SPDX-License-Identifier: MIT */
/* Values and ordered keys.  A signed integer's key is the number with its
 * sign bit flipped; a float's is its bits, flipped all when it is negative
 * and in the sign only when it is not (IEEE 754 orders magnitudes as their
 * bits). */
#include <config.h>

#include <string.h>

#include "src/volume/stats/values.h"

/* The mask that flips the bits of a float with the given sign bit into its
 * key, and the reverse. */
static inline uint64_t
float_flip (uint64_t bits, uint64_t sign)
{
  return bits & sign ? sign | (sign - 1) : sign;
}

static inline uint64_t
float_unflip (uint64_t key, uint64_t sign)
{
  return key & sign ? sign : sign | (sign - 1);
}

double
rd_values_of_key (enum radio_dtype dtype, uint64_t key)
{
  uint32_t bits32;
  uint64_t bits64;
  float value32;
  double value64;
  switch (dtype) {
  case RADIO_INT8: return (double) key - 0x80;
  case RADIO_INT16: return (double) key - 0x8000;
  case RADIO_INT32: return (double) key - 0x80000000;
  case RADIO_INT64:                   /* without signed overflow */
    return key >> 63 ? (double) (int64_t) (key & (UINT64_MAX >> 1))
                     : (double) ((int64_t) key + INT64_MIN);
  case RADIO_FLOAT16:
    return rd_half_to_float ((uint16_t) (key ^ float_unflip (key, 0x8000)));
  case RADIO_FLOAT32:
    bits32 = (uint32_t) (key ^ float_unflip (key, 0x80000000));
    memcpy (&value32, &bits32, sizeof value32);
    return value32;
  case RADIO_FLOAT64:
    bits64 = key ^ float_unflip (key, UINT64_C (1) << 63);
    memcpy (&value64, &bits64, sizeof value64);
    return value64;
  default: return (double) key;       /* bool and unsigned integers */
  }
}

static void
count_bytes (const uint8_t *in, size_t n, uint8_t flip, uint64_t *counts)
{
  uint64_t *others = counts + (1 << 8);
  size_t i = 0;
  for (; i + 1 < n; i += 2) {
    counts[in[i] ^ flip]++;
    others[in[i + 1] ^ flip]++;
  }
  if (i < n)
    counts[in[i] ^ flip]++;
}

static void
count_words (const uint16_t *in, size_t n, uint16_t flip, uint64_t *counts)
{
  uint64_t *others = counts + (1 << 16);
  size_t i = 0;
  for (; i + 1 < n; i += 2) {
    counts[in[i] ^ flip]++;
    others[in[i + 1] ^ flip]++;
  }
  if (i < n)
    counts[in[i] ^ flip]++;
}

void
rd_values_count (enum radio_dtype dtype, const void *elements, size_t n,
                 uint64_t *counts)
{
  const uint16_t *halves = elements;
  switch (dtype) {
  case RADIO_INT8: count_bytes (elements, n, 0x80, counts); break;
  case RADIO_INT16: count_words (elements, n, 0x8000, counts); break;
  case RADIO_UINT16: count_words (elements, n, 0, counts); break;
  case RADIO_FLOAT16:
    for (size_t i = 0; i < n; i++)
      counts[halves[i] ^ float_flip (halves[i], 0x8000)]++;
    break;
  default: count_bytes (elements, n, 0, counts); break;   /* uint8, bool */
  }
}

#define LOAD(type, bits_type, flip)                     \
  do {                                                  \
    const type *in = elements;                          \
    for (size_t i = 0; i < n; i++) {                    \
      bits_type bits;                                   \
      memcpy (&bits, &in[i], sizeof bits);              \
      values[i] = (double) in[i];                       \
      keys[i] = bits ^ (flip);                          \
    }                                                   \
  } while (0)

void
rd_values_load (enum radio_dtype dtype, const void *elements, size_t n,
                double *values, uint64_t *keys)
{
  const uint64_t sign32 = 0x80000000, sign64 = UINT64_C (1) << 63;
  switch (dtype) {
  case RADIO_INT32: LOAD (int32_t, uint32_t, sign32); break;
  case RADIO_INT64: LOAD (int64_t, uint64_t, sign64); break;
  case RADIO_UINT32: LOAD (uint32_t, uint32_t, 0); break;
  case RADIO_UINT64: LOAD (uint64_t, uint64_t, 0); break;
  case RADIO_FLOAT32:
    LOAD (float, uint32_t, float_flip (bits, sign32));
    break;
  default:
    LOAD (double, uint64_t, float_flip (bits, sign64));
    break;
  }
}
