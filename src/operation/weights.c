/* SPDX-License-Identifier: MIT */
/* Weights along an axis: kernels are convolved, sampled at the output's
 * position, and what lies beyond the source is added to its edges. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/operation/weights.h"

/* Kernels that are convolved with the interpolation's: of odd sizes, around
 * their middles. */
struct kernel {
  size_t radius;
  double *at;                   /* 2 * radius + 1, for rd_free */
};

/* Room for making the weights of one output. */
struct maker {
  const struct rd_sampled_axis *axis;
  struct kernel spline, smooth;
  double *taps[2];              /* before and after a convolution */
};

static void
free_maker (struct maker *maker)
{
  rd_free (maker->spline.at);
  rd_free (maker->smooth.at);
  rd_free (maker->taps[0]);
  rd_free (maker->taps[1]);
}

double
rd_smooth_radius (double sigma)
{
  return floor (RD_SMOOTH_DEVIATIONS * sigma + 0.5);
}

/* The elements that interpolation takes from a filtered source. */
static size_t
interpolation_taps (const struct rd_sampled_axis *axis)
{
  return axis->interpolation == RD_INTERPOLATE_CUBIC ? 4
    : axis->interpolation == RD_INTERPOLATE_LINEAR ? 2 : 1;
}

static bool
has_spline (const struct rd_sampled_axis *axis)
{
  return axis->interpolation == RD_INTERPOLATE_CUBIC
         || axis->makes_coefficients;
}

static uint64_t
smooth_radius (const struct rd_sampled_axis *axis)
{
  return axis->sigma > 0 ? (uint64_t) rd_smooth_radius (axis->sigma) : 0;
}

/* The reach of the filters before it. */
static uint64_t
filter_radius (const struct rd_sampled_axis *axis)
{
  return (has_spline (axis) ? RD_SPLINE_RADIUS : 0) + smooth_radius (axis);
}

/* The width of an output's voxel, in elements. */
static double
voxel_width (const struct rd_sampled_axis *axis)
{
  return fmax (fabs (axis->scale), 1);
}

uint64_t
rd_weights_most (const struct rd_sampled_axis *axis)
{
  double most = (double) (interpolation_taps (axis)
                          + 2 * filter_radius (axis));
  if (axis->interpolation == RD_INTERPOLATE_MAJORITY)
    return 0;
  double size = (double) axis->source_size;
  return most < size ? (uint64_t) most : axis->source_size;
}

/* Returns the position of an output; beyond the reach of the source's edges
 * values are constant, and it stays there. */
static double
position_of (const struct rd_sampled_axis *axis, uint64_t i)
{
  double reach = (double) filter_radius (axis) + 2;
  double at = axis->offset + axis->scale * (double) i;
  return fmin (fmax (at, -reach), (double) axis->source_size - 1 + reach);
}

static uint64_t
clamp_element (const struct rd_sampled_axis *axis, int64_t i)
{
  return i < 0 ? 0 : rd_min_u64 ((uint64_t) i, axis->source_size - 1);
}

/* The elements at a position before those beyond the source are folded: from
 * *first on. */
static void
reach_of (const struct rd_sampled_axis *axis, double at, int64_t *first,
          uint64_t *n)
{
  bool is_majority = axis->interpolation == RD_INTERPOLATE_MAJORITY;
  double width = voxel_width (axis);
  if (axis->interpolation == RD_INTERPOLATE_NEAREST
      || (is_majority && width == 1)) {
    *first = (int64_t) floor (at + 0.5);
    *n = 1;
    return;
  }
  if (is_majority) {
    *first = (int64_t) ceil (at - width / 2);
    *n = (uint64_t) fmax (ceil (at + width / 2) - (double) *first, 1);
    return;
  }
  double whole = floor (at);
  /* At an element interpolation is exact, and the prefilter undone. */
  bool is_exact = at == whole && !axis->makes_coefficients;
  uint64_t radius = is_exact ? smooth_radius (axis) : filter_radius (axis);
  *first = (int64_t) whole - (int64_t) radius;
  *n = 2 * radius + 1;
  if (!is_exact && axis->interpolation == RD_INTERPOLATE_CUBIC) {
    *first -= 1;
    *n += 3;
  } else if (at != whole)
    *n += 1;
}

void
rd_weights_span (const struct rd_sampled_axis *axis, uint64_t first,
                 uint64_t n, uint64_t *start, uint64_t *size)
{
  double a = position_of (axis, first), b = position_of (axis, first + n - 1);
  double reach = (double) filter_radius (axis) + 2;
  if (axis->interpolation == RD_INTERPOLATE_MAJORITY)
    reach += voxel_width (axis) / 2;
  *start = clamp_element (axis, (int64_t) floor (fmin (a, b) - reach));
  *size = 1 + clamp_element (axis, (int64_t) ceil (fmax (a, b) + reach))
          - *start;
}

uint64_t
rd_weights_nbytes (const struct rd_sampled_axis *axis, uint64_t n)
{
  uint64_t each = rd_add_sat (
    2 * sizeof (uint64_t),
    rd_mul_sat (rd_weights_most (axis), sizeof (double) + sizeof (float)));
  return rd_mul_sat (n, each);
}

static enum radio_status
make_kernel (struct kernel *kernel, size_t radius)
{
  kernel->radius = radius;
  kernel->at = rd_calloc (2 * radius + 1, sizeof *kernel->at);
  return kernel->at ? RADIO_OK
                    : rd_fail_memory ((2 * radius + 1) * sizeof *kernel->at);
}

/* Makes a kernel's sum 1, so that constants stay. */
static void
normalize (struct kernel *kernel)
{
  double sum = 0;
  for (size_t i = 0; i <= 2 * kernel->radius; i++)
    sum += kernel->at[i];
  for (size_t i = 0; i <= 2 * kernel->radius; i++)
    kernel->at[i] /= sum;
}

/* The prefilter's impulse response, whose terms are proportional to powers of
 * the pole sqrt (3) - 2 (Unser 1999). */
static enum radio_status
make_spline (struct kernel *kernel)
{
  double term = 1;
  RD_TRY (make_kernel (kernel, RD_SPLINE_RADIUS));
  for (size_t i = 0; i <= RD_SPLINE_RADIUS; i++) {
    kernel->at[RD_SPLINE_RADIUS - i] = kernel->at[RD_SPLINE_RADIUS + i] = term;
    term *= sqrt (3.0) - 2;
  }
  normalize (kernel);
  return RADIO_OK;
}

static enum radio_status
make_smooth (struct kernel *kernel, double sigma)
{
  size_t radius = (size_t) rd_smooth_radius (sigma);
  RD_TRY (make_kernel (kernel, radius));
  for (size_t i = 0; i <= 2 * radius; i++) {
    double x = ((double) i - (double) radius) / sigma;
    kernel->at[i] = exp (-x * x / 2);
  }
  normalize (kernel);
  return RADIO_OK;
}

static enum radio_status
begin_maker (struct maker *maker, const struct rd_sampled_axis *axis)
{
  maker->axis = axis;
  if (has_spline (axis))
    RD_TRY (make_spline (&maker->spline));
  if (axis->sigma > 0)
    RD_TRY (make_smooth (&maker->smooth, axis->sigma));
  size_t room = 4 + 2 * (size_t) filter_radius (axis);
  for (int i = 0; i < 2; i++) {
    maker->taps[i] = rd_calloc (room, sizeof *maker->taps[i]);
    if (!maker->taps[i])
      return rd_fail_memory (room * sizeof *maker->taps[i]);
  }
  return RADIO_OK;
}

/* Convolves n taps with a kernel; returns their new number. */
static size_t
convolve (struct maker *maker, size_t n, const struct kernel *kernel)
{
  double *from = maker->taps[0], *to = maker->taps[1];
  size_t width = 2 * kernel->radius + 1;
  if (!kernel->at)
    return n;
  memset (to, 0, (n + width - 1) * sizeof *to);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < width; k++)
      to[i + k] += from[i] * kernel->at[k];
  maker->taps[0] = to;
  maker->taps[1] = from;
  return n + width - 1;
}

/* Makes the taps at a position, before they are folded; returns their
 * number. */
static size_t
make_taps (struct maker *maker, double at)
{
  double f = at - floor (at);
  double *taps = maker->taps[0];
  if (f == 0) {
    size_t n = 1;
    taps[0] = 1;
    if (maker->axis->makes_coefficients)
      n = convolve (maker, n, &maker->spline);
    return convolve (maker, n, &maker->smooth);
  }
  if (maker->axis->interpolation == RD_INTERPOLATE_LINEAR) {
    taps[0] = 1 - f;
    taps[1] = f;
    return convolve (maker, 2, &maker->smooth);
  }
  rd_spline_weights (f, taps);
  return convolve (maker, convolve (maker, 4, &maker->spline),
                   &maker->smooth);
}

static void
make_output (struct maker *maker, uint64_t number, struct rd_weights *weights,
             uint64_t i)
{
  const struct rd_sampled_axis *axis = maker->axis;
  double at = position_of (axis, number);
  double *to = weights->float64 + i * weights->most;
  float *narrow = weights->float32 + i * weights->most;
  int64_t first;
  uint64_t n;
  reach_of (axis, at, &first, &n);
  uint64_t start = clamp_element (axis, first);
  uint64_t last = clamp_element (axis, first + (int64_t) n - 1);
  weights->start[i] = start;
  weights->count[i] = last - start + 1;
  if (axis->interpolation == RD_INTERPOLATE_MAJORITY)
    return;
  if (start == last)
    to[0] = 1;
  else {
    size_t ntaps = make_taps (maker, at);
    for (size_t k = 0; k < ntaps; k++)
      to[clamp_element (axis, first + (int64_t) k) - start]
        += maker->taps[0][k];
  }
  for (uint64_t k = 0; k <= last - start; k++)
    narrow[k] = (float) to[k];
}

/* Finds the most outputs in a row whose weights are the same, each of elements
 * one on from the one before. */
static void
find_moved (struct rd_weights *weights)
{
  uint64_t first = 0;
  for (uint64_t i = 0; i < weights->n; i++) {
    const double *now = weights->float64 + i * weights->most;
    if (i > first
        && (weights->start[i] != weights->start[i - 1] + 1
            || weights->count[i] != weights->count[i - 1]
            || memcmp (now, now - weights->most,
                       weights->most * sizeof *now) != 0))
      first = i;
    if (i + 1 - first > weights->moved_n) {
      weights->moved_first = first;
      weights->moved_n = i + 1 - first;
    }
  }
}

static bool
is_halved (const struct rd_weights *weights)
{
  for (uint64_t i = 0; i < weights->n; i++)
    if (weights->count[i] != 2
        || weights->start[i] != weights->start[0] + 2 * i
        || memcmp (weights->float64 + 2 * i, weights->float64,
                   2 * sizeof *weights->float64) != 0)
      return false;
  return true;
}

enum radio_status
rd_weights_make (const struct rd_sampled_axis *axis, uint64_t first,
                 uint64_t n, struct rd_weights *weights)
{
  struct maker maker RD_CLEANUP (free_maker) = { 0 };
  size_t most = (size_t) rd_weights_most (axis);
  *weights = (struct rd_weights) { .n = n, .most = most };
  uint64_t nbytes = rd_weights_nbytes (axis, n);
  if (nbytes > SIZE_MAX / 2)
    return rd_fail_memory (SIZE_MAX);
  RD_TRY (begin_maker (&maker, axis));
  weights->start = rd_calloc ((size_t) n, sizeof *weights->start);
  weights->count = rd_calloc ((size_t) n, sizeof *weights->count);
  weights->float64 = rd_calloc ((size_t) n * most, sizeof (double));
  weights->float32 = rd_calloc ((size_t) n * most, sizeof (float));
  if (!weights->start || !weights->count || !weights->float64
      || !weights->float32) {
    rd_weights_free (weights);
    return rd_fail_memory ((size_t) nbytes);
  }
  weights->is_identity = true;
  for (uint64_t i = 0; i < n; i++) {
    make_output (&maker, first + i, weights, i);
    weights->is_identity = weights->is_identity && weights->count[i] == 1
                           && weights->start[i] == weights->start[0] + i;
  }
  if (most > 2)
    find_moved (weights);
  weights->is_halved = most == 2 && is_halved (weights);
  return RADIO_OK;
}

void
rd_weights_free (struct rd_weights *weights)
{
  rd_free (weights->start);
  rd_free (weights->count);
  rd_free (weights->float64);
  rd_free (weights->float32);
  *weights = (struct rd_weights) { 0 };
}
