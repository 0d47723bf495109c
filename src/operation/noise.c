/* SPDX-License-Identifier: MIT */
/* Noise of a counting generator: four voxels for each count. */
#include <config.h>

#include <math.h>

#include "src/operation/noise.h"
#include "src/operation/philox.h"

/* Makes the numbers of voxels 4 block to 4 block + 3. */
static void
draw_block (uint64_t seed, uint64_t block, double numbers[4])
{
  static const double two_pi = 0x1.921fb54442d18p+2;
  const uint64_t counter[4] = { block + 1, 0, 0, 0 }, key[2] = { seed, 0 };
  double u[4];
  rd_philox_numbers (counter, key, u);
  for (int i = 0; i < 4; i += 2) {
    double radius = sqrt (-2 * log (1 - u[i])), angle = two_pi * u[i + 1];
    numbers[i] = radius * cos (angle);
    numbers[i + 1] = radius * sin (angle);
  }
}

void
rd_noise_add (const struct rd_noise *noise, enum radio_dtype dtype,
              uint64_t index, uint64_t step, unsigned char *values, size_t n)
{
  double numbers[4];
  uint64_t drawn = UINT64_MAX;
  for (size_t i = 0; i < n; i++, index += step) {
    if (index / 4 != drawn)
      draw_block (noise->seed, drawn = index / 4, numbers);
    const double added = noise->std * numbers[index % 4];
    if (dtype == RADIO_FLOAT32) {
      float value;
      memcpy (&value, values + i * sizeof value, sizeof value);
      value = (float) ((double) value + added);
      memcpy (values + i * sizeof value, &value, sizeof value);
    } else {
      double value;
      memcpy (&value, values + i * sizeof value, sizeof value);
      value += added;
      memcpy (values + i * sizeof value, &value, sizeof value);
    }
  }
}
