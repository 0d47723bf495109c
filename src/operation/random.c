/* SPDX-License-Identifier: MIT */
/* Random operations become definite ones.  Each has numbers of its own, from a
 * generator that counts (philox.h).  The key is the seed and the epoch, the
 * counter is i, the operation's place among those of its kind, the kind, and
 * the number of the block of four numbers: so the spatial operations of an
 * image and of its mask draw the same numbers, whatever else is done with their
 * values. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/error.h"
#include "src/operation/philox.h"
#include "src/operation/pipeline.h"

static double
between (double low, double high, double number)
{
  double range = high - low;
  return isfinite (range) ? low + range * number
                          : low * (1 - number) + high * number;
}

/* Makes the map of a result's place to the image's, with the image's centre as
 * origin.  The image is scaled by s along x, y and z, turned about x, then y,
 * then z, and shifted by t: the map is the inverse of that,
 * diag (1 / s) * transpose (Rz * Ry * Rx) * (place - t). */
static void
draw_affine (const struct rd_step *random, uint64_t counter[4],
             const uint64_t key[2], double matrix[3][4])
{
  static const double radians = 0x1.921fb54442d18p+1 / 180;     /* pi / 180 */
  double drawn[RD_NMOTIONS][3], c[3], s[3];
  for (int i = 0; i < RD_NMOTIONS; i++) {
    double numbers[4];
    counter[3]++;
    rd_philox_numbers (counter, key, numbers);
    for (int k = 0; k < 3; k++)
      drawn[i][k] = between (-random->most[i][k], random->most[i][k],
                             numbers[k]);
  }
  for (int k = 0; k < 3; k++) {
    c[k] = cos (drawn[RD_DEGREES][k] * radians);
    s[k] = sin (drawn[RD_DEGREES][k] * radians);
  }
  /* The columns of the rotation are the rows of its inverse. */
  const double turned[3][3] = {
    { c[2] * c[1], s[2] * c[1], -s[1] },
    { c[2] * s[1] * s[0] - s[2] * c[0], s[2] * s[1] * s[0] + c[2] * c[0],
      c[1] * s[0] },
    { c[2] * s[1] * c[0] + s[2] * s[0], s[2] * s[1] * c[0] - c[2] * s[0],
      c[1] * c[0] },
  };
  for (int i = 0; i < 3; i++) {
    matrix[i][3] = 0;
    for (int k = 0; k < 3; k++) {
      /* Without a minus before 0, as the text reads back. */
      matrix[i][k] = turned[i][k] / (1 + drawn[RD_SCALE][i]) + 0.0;
      matrix[i][3] -= matrix[i][k] * drawn[RD_SHIFT][k];
    }
    matrix[i][3] += 0.0;
  }
}

/* Makes a definite step of a random one; false: it is not done this time. */
static bool
draw_step (const struct rd_step *random, uint64_t counter[4],
           const uint64_t key[2], struct rd_step *step)
{
  double numbers[4];
  rd_philox_numbers (counter, key, numbers);
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
  case RD_OP_RANDOM_AFFINE:
    step->operation = RD_OP_AFFINE;
    step->is_about_centre = true;
    step->interpolation = random->interpolation;
    step->value = random->value;
    if (is_done)
      draw_affine (random, counter, key, step->matrix);
    return is_done;
  case RD_OP_RANDOM_SCALE:
    step->a = 1 + between (-random->a, random->a, numbers[1]);
    return is_done;
  case RD_OP_RANDOM_SHIFT:
    step->a = 1;
    step->b = between (-random->a, random->a, numbers[1]);
    return is_done;
  case RD_OP_RANDOM_NOISE:
    step->operation = RD_OP_NOISE;
    step->a = between (random->a, random->b, numbers[1]);
    step->seed = (uint64_t) (numbers[2] * 0x1p53);
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
    if (!rd_step_is_random (step)) {
      RD_TRY (rd_steps_copy (step, 1, &drawn->steps[drawn->n++]));
      continue;
    }
    uint64_t counter[4] = { i, is_value ? nvalues++ : nspatial++, is_value,
                            0 };
    drawn->n += draw_step (step, counter, key, &drawn->steps[drawn->n]);
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
