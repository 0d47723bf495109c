/* SPDX-License-Identifier: MIT */
/* Gaussian noise.  The number of a voxel depends on its index alone: so any box
 * has the noise of the whole, by any number of threads. */
#ifndef RD_NOISE_H
#define RD_NOISE_H

#include "src/element/type.h"

struct rd_noise {
  double std;
  uint64_t seed;
};

/* Adds noise to n values of FLOAT32 or FLOAT64: the first is voxel `index', the
 * next one index + step, and so on.  With u the numbers from 0 to
 * below 1 that Philox4x64-10 draws with the key (seed, 0) and the counters 1, 2
 * and so on, four each, voxels 2 k and 2 k + 1 get std times
 *
 *   sqrt (-2 log (1 - u[2 k])) * cos (2 pi u[2 k + 1]), and sin of the same
 *
 * (Box and Muller, "A note on the generation of random normal deviates", 1958),
 * computed in float64; the sum is rounded once. */
void rd_noise_add (const struct rd_noise *noise, enum radio_dtype dtype,
                   uint64_t index, uint64_t step, unsigned char *values,
                   size_t n);

/* The arithmetic operations of a value, without those of the generator, which
 * are on whole numbers.  For two numbers: 28 for the logarithm of 1 - u, 2 for
 * the radius, 40 for cos and sin, and a product with the radius for each; then
 * each is multiplied by the deviation and added. */
#define RD_NOISE_FLOP ((28 + 2 + 40 + 2) / 2 + 2)

#endif /* RD_NOISE_H */
