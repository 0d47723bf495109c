/* SPDX-License-Identifier: MIT */
/* Sampling along one axis: the elements of the source that each output is a
 * weighted sum of.  Interpolation, the prefilter of B-splines, smoothing and
 * the extension by edge values are folded into one list of weights, which
 * depends on nothing but the output's position: so every box has the bits of
 * the whole. */
#ifndef RD_WEIGHTS_H
#define RD_WEIGHTS_H

#include "src/operation/pipeline.h"

/* Smoothing reaches this many standard deviations, as scipy.ndimage does. */
#define RD_SMOOTH_DEVIATIONS 4

/* The reach of smoothing, in elements, that is allowed. */
#define RD_SMOOTH_MAX_RADIUS ((uint64_t) 1 << 16)

/* The prefilter of cubic B-splines is cut at this distance, and its sum made 1
 * again (Unser, "Splines: a perfect fit for signal and image processing", 1999:
 * its terms fall by the factor sqrt (3) - 2).  Weights of an interpolated value
 * then differ from the uncut ones by 2.76e-7 in all, which bounds the error
 * along one axis relative to the largest magnitude.  The magnitudes of the
 * weights of an axis add up to 1.55, so three axes have 3 * 1.55^2 times that.
 */
#define RD_SPLINE_RADIUS 12

/* The sampling of an axis: output i is at offset + scale * i of the source,
 * whose elements are at 0 to source_size - 1. */
struct rd_sampled_axis {
  uint64_t source_size, size;
  double scale, offset;
  enum rd_interpolation interpolation;
  double sigma;                 /* of smoothing, in elements; 0: none */
  bool makes_coefficients;      /* of the cubic B-spline, at elements; up to two
                                   beyond the source */
};

/* The weights of some outputs that follow each other. */
struct rd_weights {
  uint64_t n;                   /* outputs */
  size_t most;                  /* weights of one, at most; 0 of majority */
  bool is_identity;             /* output i is element start[0] + i */
  bool is_halved;               /* output i has the weights of the first, of the
                                   two elements from start[0] + 2 i on */
  uint64_t moved_first, moved_n;      /* outputs whose weights are the same, of
                                         elements one on from the output
                                         before */
  uint64_t *start;              /* the first element of each */
  uint64_t *count;              /* its elements: at least 1 */
  double *float64;              /* `most' for each output: */
  float *float32;               /* the same, rounded */
};

/* Returns how far smoothing by a sigma (in elements) reaches. */
double rd_smooth_radius (double sigma);

/* Returns the most weights that an output of an axis has; 0 of majority. */
uint64_t rd_weights_most (const struct rd_sampled_axis *axis);

/* Returns a range that holds all elements that the outputs from first to
 * first + n - 1 depend on; n > 0. */
void rd_weights_span (const struct rd_sampled_axis *axis, uint64_t first,
                      uint64_t n, uint64_t *start, uint64_t *size);

/* Returns the bytes that the weights of n outputs take. */
uint64_t rd_weights_nbytes (const struct rd_sampled_axis *axis, uint64_t n);

/* Makes the weights of n outputs from `first' on; n > 0.  For majority, which
 * has no weights, start and count are the elements whose centres are in the
 * output's voxel. */
enum radio_status rd_weights_make (const struct rd_sampled_axis *axis,
                                   uint64_t first, uint64_t n,
                                   struct rd_weights *weights)
  RADIO_USE_RESULT;

void rd_weights_free (struct rd_weights *weights);

/* The weights of the cubic B-spline at -1 - f, -f, 1 - f, 2 - f. */
static inline void
rd_spline_weights (double f, double weights[4])
{
  double g = 1 - f;
  weights[0] = g * g * g * (1.0 / 6);
  weights[1] = 2.0 / 3 - f * f * (2 - f) / 2;
  weights[2] = 2.0 / 3 - g * g * (2 - g) / 2;
  weights[3] = f * f * f * (1.0 / 6);
}

#endif /* RD_WEIGHTS_H */
