/* SPDX-License-Identifier: MIT */
/* Gathering: positions are computed in float64 from the numbers of an output
 * alone, so that every box has the bits of the whole. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/operation/gather.h"
#include "src/operation/weights.h"

/* What rounding may add to a position; an element more is read for it. */
#define SLACK 1e-3

/* The elements that interpolation takes before and after the one at or below
 * the position. */
static int64_t
reach_before (const struct rd_gather *gather)
{
  return gather->interpolation == RD_INTERPOLATE_CUBIC;
}

static int64_t
reach_after (const struct rd_gather *gather)
{
  return gather->interpolation == RD_INTERPOLATE_CUBIC ? 2 : 1;
}

static int64_t
margin_of (const struct rd_gather *gather)
{
  return gather->interpolation == RD_INTERPOLATE_CUBIC ? RD_GATHER_MARGIN : 0;
}

bool
rd_gather_span (const struct rd_gather *gather, const uint64_t *first,
                const uint64_t *n, uint64_t *start, uint64_t *size)
{
  for (int r = 0; r < 3; r++) {
    const double *row = gather->matrix[r];
    double low = row[3], high = row[3], last = (double) gather->size[r] - 1;
    for (int k = 0; k < 3; k++) {
      double a = row[k] * (double) first[k];
      double b = row[k] * (double) (first[k] + n[k] - 1);
      low += fmin (a, b);
      high += fmax (a, b);
    }
    if (!(low - SLACK < last + 0.5) || !(high + SLACK > -0.5))
      return false;
    /* Positions within the outer halves of edges are those of the edges. */
    int64_t from = (int64_t) floor (fmin (fmax (low - SLACK, 0), last));
    int64_t to = (int64_t) floor (fmax (fmin (high + SLACK, last), 0));
    int64_t margin = margin_of (gather);
    int64_t end = (int64_t) gather->size[r] - 1 + 2 * margin;
    from += margin - reach_before (gather);
    to += margin + reach_after (gather);
    *start++ = (uint64_t) from;
    *size++ = (uint64_t) ((to < end ? to : end) - from + 1);
  }
  return true;
}

/* What the positions of a row have in common on one axis, and the block's
 * elements there that may be taken. */
struct row_axis {
  double base, step, last;
  double half;                  /* of nearest; else 0 */
  int64_t shift, least, most;
};

/* Where an output is: in the block, the element at or below its position, and
 * the rest of it. */
struct place {
  size_t at[3];
  double rest[3];
};

static void
begin_row (const struct rd_gather *gather,
           const struct rd_gather_block *block, const uint64_t *at,
           struct row_axis axes[3])
{
  bool is_nearest = gather->interpolation == RD_INTERPOLATE_NEAREST;
  int64_t margin = margin_of (gather);
  for (int r = 0; r < 3; r++) {
    const double *row = gather->matrix[r];
    axes[r] = (struct row_axis) {
      .base = row[0] * (double) at[0] + row[1] * (double) at[1] + row[3],
      .step = row[2],
      .last = (double) gather->size[r] - 1,
      .half = is_nearest ? 0.5 : 0,
      .shift = margin - (int64_t) block->start[r],
      .least = reach_before (gather),
      .most = (int64_t) block->size[r] - 1 - (margin ? 2 : 0),
    };
  }
}

/* Finds the place of an output; false if it is outside.  Positions are not
 * negative where they are cut to whole numbers. */
static inline bool
find_place (const struct row_axis *axes, double number, struct place *place)
{
  for (int r = 0; r < 3; r++) {
    const struct row_axis *axis = &axes[r];
    double p = axis->base + axis->step * number;
    if (!(p >= -0.5) || !(p < axis->last + 0.5))
      return false;
    p = p < 0 ? 0 : p;
    p = p > axis->last ? axis->last : p;
    int64_t whole = (int64_t) (p + axis->half);
    int64_t at = whole + axis->shift;
    /* Always so, unless the matrix is beyond the precision of numbers. */
    at = at > axis->most ? axis->most : at;
    at = at < axis->least ? axis->least : at;
    place->at[r] = (size_t) at;
    place->rest[r] = p - (double) whole;
  }
  return true;
}

/* linear: between two elements; at the first one what the other is does not
 * count, as NaN. */
#define DEFINE(T, suffix)                                               \
  static T                                                              \
  between_##suffix (T a, T b, T f)                                      \
  {                                                                     \
    T sum = (1 - f) * a + f * b;                                        \
    return f == 0 ? a : sum;                                            \
  }                                                                     \
                                                                        \
  static T                                                              \
  linear_##suffix (const struct rd_gather_block *block,                 \
                   const struct place *place)                           \
  {                                                                     \
    size_t steps[3] = { (size_t) (block->size[1] * block->size[2]),     \
                        (size_t) block->size[2], 1 };                   \
    const T *e = (const T *) (const void *) block->elements;            \
    T f[3];                                                             \
    for (int r = 0; r < 3; r++) {                                       \
      e += place->at[r] * steps[r];                                     \
      f[r] = (T) place->rest[r];                                        \
      if (place->at[r] + 1 >= block->size[r])                           \
        steps[r] = 0;                                                   \
    }                                                                   \
    const T *g = e + steps[0];                                          \
    const size_t y = steps[1], x = steps[2];                            \
    T a = between_##suffix (                                            \
      between_##suffix (e[0], e[x], f[2]),                              \
      between_##suffix (e[y], e[y + x], f[2]), f[1]);                   \
    T b = between_##suffix (                                            \
      between_##suffix (g[0], g[x], f[2]),                              \
      between_##suffix (g[y], g[y + x], f[2]), f[1]);                   \
    return between_##suffix (a, b, f[0]);                               \
  }                                                                     \
                                                                        \
  static T                                                              \
  cubic_##suffix (const struct rd_gather_block *block,                  \
                  const struct place *place)                            \
  {                                                                     \
    double weights[3][4], sum = 0;                                      \
    const size_t y = (size_t) block->size[2];                           \
    const size_t z = y * (size_t) block->size[1];                       \
    const T *first = (const T *) (const void *) block->elements         \
      + (place->at[0] - 1) * z + (place->at[1] - 1) * y                 \
      + place->at[2] - 1;                                               \
    for (int r = 0; r < 3; r++)                                         \
      rd_spline_weights (place->rest[r], weights[r]);                   \
    for (size_t i = 0; i < 4; i++) {                                    \
      double plane = 0;                                                 \
      for (size_t j = 0; j < 4; j++) {                                  \
        const T *e = first + i * z + j * y;                             \
        plane += weights[1][j]                                          \
          * ((weights[2][0] * (double) e[0]                             \
              + weights[2][1] * (double) e[1])                          \
             + (weights[2][2] * (double) e[2]                           \
                + weights[2][3] * (double) e[3]));                      \
      }                                                                 \
      sum += weights[0][i] * plane;                                     \
    }                                                                   \
    return (T) sum;                                                     \
  }                                                                     \
                                                                        \
  static void                                                           \
  gather_##suffix (const struct rd_gather *gather,                      \
                   const struct rd_gather_block *block,                 \
                   const struct row_axis *axes, uint64_t first,         \
                   uint64_t n, T *to)                                   \
  {                                                                     \
    bool is_cubic = gather->interpolation == RD_INTERPOLATE_CUBIC;      \
    T outside;                                                          \
    memcpy (&outside, gather->outside, sizeof outside);                 \
    for (uint64_t i = 0; i < n; i++) {                                  \
      struct place place;                                               \
      to[i] = !find_place (axes, (double) (first + i), &place)          \
        ? outside                                                       \
        : is_cubic ? cubic_##suffix (block, &place)                     \
                   : linear_##suffix (block, &place);                   \
    }                                                                   \
  }

DEFINE (float, float32)
DEFINE (double, float64)

static void
gather_nearest (const struct rd_gather *gather,
                const struct rd_gather_block *block,
                const struct row_axis *axes, uint64_t first, uint64_t n,
                unsigned char *to)
{
  size_t item_nbytes = gather->type.item_nbytes;
  for (uint64_t i = 0; i < n; i++, to += item_nbytes) {
    struct place place;
    const unsigned char *from = gather->outside;
    if (find_place (axes, (double) (first + i), &place))
      from = block->elements
             + ((place.at[0] * block->size[1] + place.at[1]) * block->size[2]
                + place.at[2]) * item_nbytes;
    memcpy (to, from, item_nbytes);
  }
}

void
rd_gather_row (const struct rd_gather *gather,
               const struct rd_gather_block *block, const uint64_t *at,
               uint64_t n, unsigned char *to)
{
  struct row_axis axes[3];
  if (!block->elements) {
    for (uint64_t i = 0; i < n; i++)
      memcpy (to + i * gather->type.item_nbytes, gather->outside,
              gather->type.item_nbytes);
    return;
  }
  begin_row (gather, block, at, axes);
  if (gather->interpolation == RD_INTERPOLATE_NEAREST)
    gather_nearest (gather, block, axes, at[2], n, to);
  else if (gather->type.dtype == RADIO_FLOAT32)
    gather_float32 (gather, block, axes, at[2], n, (float *) (void *) to);
  else
    gather_float64 (gather, block, axes, at[2], n, (double *) (void *) to);
}
