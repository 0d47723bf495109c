/* SPDX-License-Identifier: MIT */
/* The operations of a pipeline, parsed: one struct for each step, with all of
 * its arguments. */
#ifndef RD_PIPELINE_H
#define RD_PIPELINE_H

#include <radio/pipeline.h>

#include "src/base/buffer.h"

enum rd_operation {
  RD_OP_LINEAR,
  RD_OP_CLAMP,
  RD_OP_RESCALE,
  RD_OP_WINDOW,
  RD_OP_GAMMA,
  RD_OP_ZNORM,
  RD_OP_NOISE,
  RD_OP_SATURATE,
  RD_OP_FIRST_SPATIAL,
  RD_OP_CROP = RD_OP_FIRST_SPATIAL,
  RD_OP_PAD,
  RD_OP_CROP_OR_PAD,
  RD_OP_FLIP,
  RD_OP_ROT90,
  RD_OP_REORIENT,
  RD_OP_FIRST_INTERPOLATING,
  RD_OP_RESAMPLE = RD_OP_FIRST_INTERPOLATING,
  RD_OP_TO,
  RD_OP_SMOOTH,
  RD_OP_AFFINE,
  RD_OP_LIKE,
  /* Random ones are not applied: each is drawn to one of those above. */
  RD_OP_FIRST_RANDOM,
  RD_OP_RANDOM_FLIP = RD_OP_FIRST_RANDOM,
  RD_OP_RANDOM_ROT90,
  RD_OP_RANDOM_CROP,
  RD_OP_RANDOM_AFFINE,
  RD_OP_FIRST_RANDOM_VALUE,
  RD_OP_RANDOM_SCALE = RD_OP_FIRST_RANDOM_VALUE,
  RD_OP_RANDOM_SHIFT,
  RD_OP_RANDOM_GAMMA,
  RD_OP_RANDOM_NOISE,
  RD_NOPERATIONS
};

/* How values between voxels are computed. */
enum rd_interpolation {
  /* The default where the text has none: linear; for labels nearest, or
   * majority where a grid is resampled.  Applying the step replaces it. */
  RD_INTERPOLATE_DEFAULT,
  RD_INTERPOLATE_LINEAR,
  RD_INTERPOLATE_NEAREST,
  RD_INTERPOLATE_CUBIC,       /* B-spline of degree 3 */
  RD_INTERPOLATE_MAJORITY,    /* the most frequent label of an output's voxel;
                                 nearest, where that is not larger than the
                                 source's */
  RD_NINTERPOLATIONS
};

/* The default has none. */
extern const char *const rd_interpolation_names[RD_NINTERPOLATIONS];

/* True if elements are picked as they are, and none computed. */
static inline bool
rd_interpolation_picks (enum rd_interpolation interpolation)
{
  return interpolation == RD_INTERPOLATE_NEAREST
         || interpolation == RD_INTERPOLATE_MAJORITY;
}

/* The content of padding, as numpy.pad has it. */
enum rd_pad_mode { RD_PAD_VALUE, RD_PAD_EDGE, RD_PAD_REFLECT, RD_PAD_WRAP };

/* The parts of random-affine: degrees, share of the size, mm. */
enum rd_motion { RD_DEGREES, RD_SCALE, RD_SHIFT, RD_NMOTIONS };

/* The source of the input range of rescale. */
enum rd_range_from { RD_FROM_EXTREMES, RD_FROM_VALUES, RD_FROM_PERCENTILES };

/* Positions and sizes are along x, y, z; they are below 2^62 in magnitude. */
struct rd_step {
  enum rd_operation operation;

  /* linear: factor, summand; clamp, window: the range of input; rescale: that
   * of output; gamma: the exponent; noise: the standard deviation. */
  double a, b;
  uint64_t seed;                      /* of noise */
  int preset;                         /* of window; -1: centre and width */
  double centre, width;

  enum rd_range_from from;            /* of rescale */
  double from_low, from_high;         /* values or percentages */
  bool nonzero;                       /* znorm: leave zeros out; its mask is
                                         named below */

  /* crop: start, and end unless that is the axis' own; pad: before, after;
   * crop-or-pad: at, size. */
  int64_t first[3], second[3];
  bool has_end[3];                    /* of crop */
  bool has_at;                        /* of crop-or-pad: else centred, */
  bool has_within;                    /* or by parts of the room to move */
  double within[3];
  enum rd_pad_mode mode;
  double value;                       /* of padding; affine, like: outside */

  bool axes[3];                       /* of flip */
  int plane[2];                       /* of rot90: from axis to axis, */
  int turns;                          /* 1 to 3 quarters */
  char letters[4];                    /* of reorient: "RAS" */

  /* The spacing in mm (resample), the standard deviation (smooth), or the shape
   * (to, in second); 0 for an axis that is left as it is. */
  double spacing[3];
  enum rd_interpolation interpolation;
  bool is_centred;                    /* the first voxel's centre is kept, not
                                         its corner */
  bool smooths;                       /* before the image shrinks */
  double matrix[3][4];                /* of affine: from the place in space of
                                         an output to that of the source */
  bool is_about_centre;               /* with the image's centre as origin */
  char *name;                         /* of like: a volume; of znorm: its mask's
                                         collection, or NULL; owned */
  bool has_grid;                      /* of like: its grid is known, the size
                                         (second), spacing, affine (matrix) */
  double probability;                 /* of random ones, which draw a value
                                         from a to b */
  double most[RD_NMOTIONS][3];        /* of random-affine: around, or along, x,
                                         y, z */
};

/* Copies steps to n others; those are freed by rd_steps_free, also on
 * failure. */
enum radio_status rd_steps_copy (const struct rd_step *steps, size_t n,
                                 struct rd_step *copy) RADIO_USE_RESULT;

/* Frees what steps own, and they themselves. */
void rd_steps_free (struct rd_step *steps, size_t n);

struct radio_pipeline {
  size_t n;
  struct rd_step *steps;
  char *text;                         /* canonical */
};

RD_DEFINE_CLEANUP (pipeline, struct radio_pipeline, radio_pipeline_free);

/* True of the operations that move voxels; the others compute values. */
static inline bool
rd_step_is_spatial (const struct rd_step *step)
{
  return step->operation >= RD_OP_FIRST_SPATIAL;
}

static inline bool
rd_step_is_random (const struct rd_step *step)
{
  return step->operation >= RD_OP_FIRST_RANDOM;
}

/* True if a step needs a statistic of all voxels before it. */
static inline bool
rd_step_needs_statistics (const struct rd_step *step)
{
  return step->operation == RD_OP_ZNORM
         || (step->operation == RD_OP_RESCALE
             && step->from != RD_FROM_VALUES);
}

/* Defaults of random operations: medrs's, and for the affine TorchIO's. */
#define RD_PROBABILITY 0.5
#define RD_AMOUNT 0.1
#define RD_NOISE_STD 0.1
#define RD_GAMMA_LOW 0.7
#define RD_GAMMA_HIGH 1.5
extern const double rd_motion_defaults[RD_NMOTIONS];
extern const char *const rd_motion_names[RD_NMOTIONS];

const char *rd_operation_name (enum rd_operation operation);

/* Usual windows of CT, in Hounsfield units, as radio slice has them. */
struct rd_window_preset {
  const char *name;
  double low, high;
};
#define RD_NWINDOW_PRESETS 4
extern const struct rd_window_preset rd_window_presets[RD_NWINDOW_PRESETS];

/* Returns the canonical text of n steps, joined by " | "; NULL without
 * memory. */
char *rd_steps_text (const struct rd_step *steps, size_t n);

#endif /* RD_PIPELINE_H */
