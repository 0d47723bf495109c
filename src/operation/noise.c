/* SPDX-License-Identifier: MIT */
/* Noise of a counting generator: four voxels for each count, many counts at a
 * time. */
#include <config.h>

#include "src/element/strips.h"
#include "src/operation/noise.h"
#include "src/operation/philox.h"
#include "src/operation/row-levels.h"

/* Counts in work at a time, of which each has four numbers. */
#define COUNTS 64
#define NUMBERS (4 * COUNTS)

#define LOOP(...) RD_STRIPS (16, __VA_ARGS__)

/* Evenly distributed numbers. */
struct pairs {
  double first[2 * COUNTS], second[2 * COUNTS];
};

/* Keeps the pairs of a count. */
static inline void
keep_pairs (struct pairs *pairs, size_t i, const uint64_t words[4])
{
  pairs->first[2 * i] = rd_philox_number (words[0]);
  pairs->second[2 * i] = rd_philox_number (words[1]);
  pairs->first[2 * i + 1] = rd_philox_number (words[2]);
  pairs->second[2 * i + 1] = rd_philox_number (words[3]);
}

/* Makes the numbers of n counts from `count' on: of voxels 4 count and so on.
 * Two counts at a time, since each product waits for the one before. */
static void
draw (uint64_t seed, uint64_t count, size_t n, double numbers[NUMBERS])
{
  struct pairs pairs;
  const uint64_t key[2] = { seed, 0 };
  n += n % 2;
  for (size_t i = 0; i < n; i += 2) {
    uint64_t one[4] = { count + i + 1 }, other[4] = { count + i + 2 };
    for (uint64_t round = 0; round < RD_PHILOX_ROUNDS; round++) {
      const uint64_t k0 = rd_philox_key (key, 0, round);
      const uint64_t k1 = rd_philox_key (key, 1, round);
      rd_philox_round (one, k0, k1);
      rd_philox_round (other, k0, k1);
    }
    keep_pairs (&pairs, i, one);
    keep_pairs (&pairs, i + 1, other);
  }
  n *= 2;
  rd_row_choose ()->normals (pairs.first, pairs.second, n);
  LOOP ({
    numbers[2 * j] = pairs.first[j];
    numbers[2 * j + 1] = pairs.second[j];
  });
}

#define DEFINE_ADD(T, suffix)                                           \
  static void                                                           \
  add_##suffix (double std, const double *restrict numbers,             \
                unsigned char *restrict values, size_t n)               \
  {                                                                     \
    LOOP ({                                                             \
      T value;                                                          \
      memcpy (&value, values + j * sizeof value, sizeof value);         \
      value = (T) ((double) value + std * numbers[j]);                  \
      memcpy (values + j * sizeof value, &value, sizeof value);         \
    });                                                                 \
  }

DEFINE_ADD (float, float32)
DEFINE_ADD (double, float64)

void
rd_noise_add (const struct rd_noise *noise, enum radio_dtype dtype,
              uint64_t index, uint64_t step, unsigned char *values, size_t n)
{
  const size_t item_nbytes = radio_dtype_nbytes (dtype);
  double numbers[NUMBERS];
  while (n > 0) {
    /* As many voxels as have numbers; of others than neighbours one. */
    size_t first = (size_t) (index % 4), most = step == 1 ? NUMBERS - first : 1;
    size_t taken = n < most ? n : most;
    draw (noise->seed, index / 4, (first + taken + 3) / 4, numbers);
    if (dtype == RADIO_FLOAT32)
      add_float32 (noise->std, numbers + first, values, taken);
    else
      add_float64 (noise->std, numbers + first, values, taken);
    values += taken * item_nbytes;
    index += taken * step;
    n -= taken;
  }
}
