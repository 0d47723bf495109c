/* SPDX-License-Identifier: MIT */
/* Random operations become definite ones.  Each has numbers of its own, from a
 * generator that counts rather than keeps a state: Philox4x64-10 (Salmon et
 * al., "Parallel random numbers: as easy as 1, 2, 3", 2011; numpy.random.Philox
 * is the same).  The key is the seed and the epoch, the counter is i, the
 * operation's place among those of its kind, and the kind: so the spatial
 * operations of an image and of its mask draw the same numbers, whatever else
 * is done with their values. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/operation/pipeline.h"

struct product {
  uint64_t high, low;
};

static struct product
multiply (uint64_t a, uint64_t b)
{
  uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
  uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
  uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
  uint64_t other = a_low * b_high + (middle & UINT32_MAX);
  return (struct product) { a_high * b_high + (middle >> 32) + (other >> 32),
                            a * b };
}

static void
philox (const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
  uint64_t k0 = key[0], k1 = key[1];
  memcpy (out, counter, 4 * sizeof *out);
  for (int round = 0; round < 10; round++) {
    struct product a = multiply (UINT64_C (0xd2e7470ee14c6c93), out[0]);
    struct product b = multiply (UINT64_C (0xca5a826395121157), out[2]);
    uint64_t next[4] = { b.high ^ out[1] ^ k0, b.low, a.high ^ out[3] ^ k1,
                         a.low };
    memcpy (out, next, sizeof next);
    k0 += UINT64_C (0x9e3779b97f4a7c15);
    k1 += UINT64_C (0xbb67ae8584caa73b);
  }
}

/* Draws four numbers from 0 to below 1, as numpy's random() makes them. */
static void
draw_numbers (const uint64_t counter[4], const uint64_t key[2],
              double numbers[4])
{
  uint64_t bits[4];
  philox (counter, key, bits);
  for (int i = 0; i < 4; i++)
    numbers[i] = (double) (bits[i] >> 11) * 0x1p-53;
}

static double
between (double low, double high, double number)
{
  return low + (high - low) * number;
}

/* Makes a definite step of a random one by its numbers; false: it is not done
 * this time. */
static bool
draw_step (const struct rd_step *random, const double numbers[4],
           struct rd_step *step)
{
  bool is_done = numbers[0] < random->probability;
  *step = (struct rd_step) { .operation = RD_OP_LINEAR };
  switch (random->operation) {
  case RD_OP_RANDOM_FLIP:
    step->operation = RD_OP_FLIP;
    is_done = false;
    for (int i = 0; i < 3; i++) {
      step->axes[i] = random->axes[i] && numbers[i] < random->probability;
      is_done = is_done || step->axes[i];
    }
    return is_done;
  case RD_OP_RANDOM_ROT90:
    step->operation = RD_OP_ROT90;
    memcpy (step->plane, random->plane, sizeof step->plane);
    step->turns = 1 + (int) (3 * numbers[1]);
    return is_done;
  case RD_OP_RANDOM_CROP:
    step->operation = RD_OP_CROP_OR_PAD;
    memcpy (step->second, random->second, sizeof step->second);
    step->has_within = true;
    memcpy (step->within, numbers, sizeof step->within);
    return true;
  case RD_OP_RANDOM_SCALE:
    step->a = 1 + between (-random->a, random->a, numbers[1]);
    return is_done;
  case RD_OP_RANDOM_SHIFT:
    step->a = 1;
    step->b = between (-random->a, random->a, numbers[1]);
    return is_done;
  default:
    step->operation = RD_OP_GAMMA;
    step->a = between (random->a, random->b, numbers[1]);
    return is_done;
  }
}

enum radio_status
radio_pipeline_draw (const struct radio_pipeline *pipeline, uint64_t seed,
                     uint64_t epoch, uint64_t i,
                     struct radio_pipeline **result)
{
  RD_NOT_NULL (pipeline);
  RD_NOT_NULL (result);
  const uint64_t key[2] = { seed, epoch };
  uint64_t nspatial = 0, nvalues = 0;
  struct radio_pipeline *drawn RD_CLEANUP (rd_cleanup_pipeline)
    = rd_calloc (1, sizeof *drawn);
  if (!drawn)
    return rd_fail_memory (sizeof *drawn);
  drawn->steps = rd_calloc (pipeline->n, sizeof *drawn->steps);
  if (!drawn->steps)
    return rd_fail_memory (pipeline->n * sizeof *drawn->steps);
  for (size_t k = 0; k < pipeline->n; k++) {
    const struct rd_step *step = &pipeline->steps[k];
    bool is_value = step->operation >= RD_OP_FIRST_RANDOM_VALUE;
    double numbers[4];
    if (!rd_step_is_random (step)) {
      RD_TRY (rd_steps_copy (step, 1, &drawn->steps[drawn->n++]));
      continue;
    }
    const uint64_t counter[4] = { i, is_value ? nvalues++ : nspatial++,
                                  is_value, 0 };
    draw_numbers (counter, key, numbers);
    drawn->n += draw_step (step, numbers, &drawn->steps[drawn->n]);
  }
  /* Nothing is left to do: a crop of all. */
  if (drawn->n == 0)
    drawn->steps[drawn->n++] = (struct rd_step) { .operation = RD_OP_CROP };
  drawn->text = rd_steps_text (drawn->steps, drawn->n);
  if (!drawn->text)
    return RADIO_ERROR_MEMORY;
  *result = RD_STEAL (drawn);
  return RADIO_OK;
}
