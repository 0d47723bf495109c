/* SPDX-License-Identifier: MIT */
/* Gathering: positions are computed in float64 from the numbers of an output
 * alone, so that every box has the bits of the whole.  Where nothing around
 * them is outside, outputs of a row are computed in strips, by loops that
 * compilers vectorize; elsewhere one by one, by the same arithmetic. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/operation/gather.h"
#include "src/operation/matrix.h"
#include "src/operation/weights.h"

/* The error that rounding may add to a position; one element more is read for
 * it. */
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

/* Finds the range of a position while numbers are from first to last. */
static void
find_range (const double row[4], const double first[3], const double last[3],
            double *low, double *high)
{
  *low = *high = row[3];
  for (int k = 0; k < 3; k++) {
    *low += fmin (row[k] * first[k], row[k] * last[k]);
    *high += fmax (row[k] * first[k], row[k] * last[k]);
  }
}

void
rd_gather_limit (struct rd_gather *gather)
{
  for (int r = 0; r < 3; r++) {
    gather->least[r] = -INFINITY;
    gather->most[r] = INFINITY;
  }
  for (size_t i = 0; i < gather->nfields; i++) {
    struct rd_gather_field *field = &gather->fields[i];
    double matrix[3][4], low, high, first[3], last[3];
    if (!rd_matrix_invert (field->matrix, matrix))
      continue;
    rd_matrix_multiply (gather->matrix, matrix, matrix);
    for (int k = 0; k < 3; k++) {
      first[k] = -0.5;
      last[k] = (double) field->size[k] - 0.5;
    }
    for (int r = 0; r < 3; r++) {
      find_range (matrix[r], first, last, &low, &high);
      gather->least[r] = fmax (gather->least[r], low);
      gather->most[r] = fmin (gather->most[r], high);
    }
  }
}

bool
rd_gather_span (const struct rd_gather *gather, const uint64_t *first,
                const uint64_t *n, uint64_t *start, uint64_t *size)
{
  double from[3], to[3], low, high;
  for (int k = 0; k < 3; k++) {
    from[k] = (double) first[k];
    to[k] = (double) (first[k] + n[k] - 1);
  }
  for (size_t i = 0; i < gather->nfields; i++) {
    const struct rd_gather_field *field = &gather->fields[i];
    for (int r = 0; r < 3; r++) {
      find_range (field->matrix[r], from, to, &low, &high);
      if (!(low - SLACK < (double) field->size[r] - 0.5)
          || !(high + SLACK > -0.5))
        return false;
    }
  }
  for (int r = 0; r < 3; r++) {
    double last = (double) gather->size[r] - 1;
    find_range (gather->matrix[r], from, to, &low, &high);
    low = fmax (low, gather->least[r]) - SLACK;
    high = fmin (high, gather->most[r]) + SLACK;
    if (!(low <= high))
      return false;
    /* Positions beyond the middles of edges are those of the edges. */
    int64_t begin = (int64_t) floor (fmin (fmax (low, 0), last));
    int64_t most = (int64_t) floor (fmax (fmin (high, last), 0));
    int64_t margin = margin_of (gather);
    int64_t end = (int64_t) gather->size[r] - 1 + 2 * margin;
    begin += margin - reach_before (gather);
    most += margin + reach_after (gather);
    *start++ = (uint64_t) begin;
    *size++ = (uint64_t) ((most < end ? most : end) - begin + 1);
  }
  return true;
}

/* The part that all positions of a row share on one axis, and the range of the
 * block's elements there. */
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

/* Finds the place of an output.  Positions are not negative where they are cut
 * to whole numbers. */
static inline void
find_place (const struct row_axis *axes, double number, struct place *place)
{
  for (int r = 0; r < 3; r++) {
    const struct row_axis *axis = &axes[r];
    double p = axis->base + axis->step * number;
    p = p > 0 ? p : 0;
    p = p > axis->last ? axis->last : p;
    int64_t whole = (int64_t) (p + axis->half);
    int64_t at = whole + axis->shift;
    /* Always so, unless the matrix is beyond the precision of numbers. */
    at = at > axis->most ? axis->most : at;
    at = at < axis->least ? axis->least : at;
    place->at[r] = (size_t) at;
    place->rest[r] = p - (double) whole;
  }
}

/*------------------------------------------------------------------------
 * Strips
 *----------------------------------------------------------------------*/

/* Outputs that are computed at once. */
#define STRIP 32
#define EACH for (size_t j = 0; j < STRIP; j++)

struct strip {
  int32_t at[STRIP];            /* in the block, as in struct place */
  double rest[3][STRIP];
};

/* Returns the first of n outputs, from the output `first' on, whose position is
 * at a bound or, if strict, past it; n if no position is.  Positions only rise
 * along a row, or only fall. */
static uint64_t
find_crossing (const struct row_axis *axis, uint64_t first, uint64_t n,
               double bound, bool is_strict)
{
  uint64_t begin = 0;
  while (begin < n) {
    uint64_t middle = begin + (n - begin) / 2;
    double p = axis->base + axis->step * (double) (first + middle);
    bool is_past = axis->step < 0 ? p < bound : p > bound;
    if (is_past || (!is_strict && p == bound))
      n = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/* Limits the outputs of a row, from *begin to *end - 1, to those within a field
 * of view; leaves *begin == *end if there are none. */
static void
limit_row (const struct rd_gather_field *field, const uint64_t *at,
           uint64_t *begin, uint64_t *end)
{
  for (int r = 0; r < 3 && *begin < *end; r++) {
    const double *row = field->matrix[r];
    const struct row_axis axis = {
      .base = row[0] * (double) at[0] + row[1] * (double) at[1] + row[3],
      .step = row[2],
    };
    double high = (double) field->size[r] - 0.5;
    bool falls = axis.step < 0;
    uint64_t first = at[2] + *begin, n = *end - *begin;
    uint64_t from = find_crossing (&axis, first, n, falls ? high : -0.5,
                                   falls);
    uint64_t to = find_crossing (&axis, first, n, falls ? -0.5 : high, falls);
    *end = *begin + rd_max_u64 (from, to);
    *begin += from;
  }
}

/* Finds the outputs of a row, from *begin to *end - 1, whose positions need no
 * limits: of linear, the element after each is in the block, too, but along
 * axes that the row does not move on. */
static void
find_inner (const struct rd_gather *gather,
            const struct rd_gather_block *block, const struct row_axis *axes,
            uint64_t first, uint64_t n, uint64_t *begin, uint64_t *end)
{
  uint64_t count = 1;
  *begin = 0;
  *end = n;
  for (int r = 0; r < 3; r++) {
    const struct row_axis *axis = &axes[r];
    bool is_open = gather->interpolation == RD_INTERPOLATE_LINEAR
                   && axis->step != 0;
    bool falls = axis->step < 0;
    double low = falls ? axis->last : 0, high = falls ? 0 : axis->last;
    *begin = rd_max_u64 (*begin, find_crossing (axis, first, n, low,
                                                falls && is_open));
    *end = rd_min_u64 (*end, find_crossing (axis, first, n, high,
                                            falls || !is_open));
    count = rd_mul_sat (count, block->size[r]);
    if (*begin >= *end || gather->size[r] > INT32_MAX || count > INT32_MAX) {
      *end = *begin;
      return;
    }
    for (int k = 0; k < 2; k++) {
      uint64_t i = k ? *end - 1 : *begin;
      double p = axis->base + axis->step * (double) (first + i);
      int64_t at = (int64_t) (p + axis->half) + axis->shift;
      if (at < axis->least || at > axis->most - is_open)
        *end = *begin;
    }
  }
}

/* Finds the places of a strip.  Their numbers in the block are exact as
 * float64, too, of which the smallest machines have products. */
static void
find_strip (const struct rd_gather_block *block, const struct row_axis *axes,
            double first, struct strip *strip)
{
  const double row = (double) block->size[2];
  const double strides[3] = { row * (double) block->size[1], row, 1 };
  double at[STRIP], start = 0;
  for (int r = 0; r < 3; r++)
    start += (double) axes[r].shift * strides[r];
  EACH at[j] = start;
  for (int r = 0; r < 3; r++) {
    const double base = axes[r].base, step = axes[r].step;
    const double half = axes[r].half, stride = strides[r];
    EACH {
      double p = base + step * (first + (double) (int32_t) j);
      double whole = (double) (int32_t) (p + half);
      at[j] += whole * stride;
      strip->rest[r][j] = p - whole;
    }
  }
  EACH strip->at[j] = (int32_t) at[j];
}

/*------------------------------------------------------------------------
 * Interpolation
 *----------------------------------------------------------------------*/

/* The steps from an element to the next ones, but to those that are outside. */
static void
set_steps (const struct rd_gather_block *block, const size_t at[3],
           size_t steps[3])
{
  steps[0] = (size_t) (block->size[1] * block->size[2]);
  steps[1] = (size_t) block->size[2];
  steps[2] = 1;
  for (int r = 0; r < 3; r++)
    if (at[r] + 1 >= block->size[r])
      steps[r] = 0;
}

/* Vectors of 16 bytes, which every x86-64 and aarch64 has. */
typedef float lanes_float32 __attribute__ ((__vector_size__ (16)));
typedef double lanes_float64 __attribute__ ((__vector_size__ (16)));
typedef int32_t mask_float32 __attribute__ ((__vector_size__ (16)));
typedef int64_t mask_float64 __attribute__ ((__vector_size__ (16)));

/* linear: between two elements; at the first one what the other is does not
 * count, as NaN.  cubic: sums over rows, planes and then columns. */
#define DEFINE(T, suffix)                                               \
  static inline lanes_##suffix                                          \
  between_##suffix (lanes_##suffix a, lanes_##suffix b,                 \
                    lanes_##suffix f)                                   \
  {                                                                     \
    lanes_##suffix sum = (1 - f) * a + f * b;                           \
    mask_##suffix is_first = f == 0;                                    \
    return (lanes_##suffix) ((is_first & (mask_##suffix) a)             \
                             | (~is_first & (mask_##suffix) sum));      \
  }                                                                     \
                                                                        \
  /* v: the elements around positions, f: the rests, each `step' apart. */ \
  static inline lanes_##suffix                                          \
  mix_##suffix (const lanes_##suffix *v, const lanes_##suffix *f,       \
                size_t step)                                            \
  {                                                                     \
    const lanes_##suffix z = f[0], y = f[step], x = f[2 * step];        \
    return between_##suffix (                                           \
      between_##suffix (                                                \
        between_##suffix (v[0], v[step], x),                            \
        between_##suffix (v[2 * step], v[3 * step], x), y),             \
      between_##suffix (                                                \
        between_##suffix (v[4 * step], v[5 * step], x),                 \
        between_##suffix (v[6 * step], v[7 * step], x), y), z);         \
  }                                                                     \
                                                                        \
  static T                                                              \
  linear_##suffix (const struct rd_gather_block *block,                 \
                   const struct place *place)                           \
  {                                                                     \
    size_t steps[3];                                                    \
    const T *e = (const T *) (const void *) block->elements             \
      + (place->at[0] * block->size[1] + place->at[1]) * block->size[2] \
      + place->at[2];                                                   \
    set_steps (block, place->at, steps);                                \
    const T *g = e + steps[0];                                          \
    const size_t y = steps[1], x = steps[2];                            \
    const lanes_##suffix v[8] = {                                       \
      { e[0] }, { e[x] }, { e[y] }, { e[y + x] },                       \
      { g[0] }, { g[x] }, { g[y] }, { g[y + x] },                       \
    };                                                                  \
    const lanes_##suffix f[3] = {                                       \
      { (T) place->rest[0] }, { (T) place->rest[1] },                   \
      { (T) place->rest[2] },                                           \
    };                                                                  \
    return mix_##suffix (v, f, 1)[0];                                   \
  }                                                                     \
                                                                        \
  static void                                                           \
  linear_strip_##suffix (const T *elements, const size_t *steps,        \
                         const struct strip *strip, T *restrict to)     \
  {                                                                     \
    const size_t z = steps[0], y = steps[1], x = steps[2];              \
    enum { NLANES = sizeof (lanes_##suffix) / sizeof (T) };             \
    lanes_##suffix v[8][STRIP / NLANES], f[3][STRIP / NLANES], mixed;   \
    for (int r = 0; r < 3; r++)                                         \
      EACH ((T *) f[r])[j] = (T) strip->rest[r][j];                     \
    EACH {                                                              \
      const T *e = elements + strip->at[j], *g = e + z;                 \
      ((T *) v[0])[j] = e[0];                                           \
      ((T *) v[1])[j] = e[x];                                           \
      ((T *) v[2])[j] = e[y];                                           \
      ((T *) v[3])[j] = e[y + x];                                       \
      ((T *) v[4])[j] = g[0];                                           \
      ((T *) v[5])[j] = g[x];                                           \
      ((T *) v[6])[j] = g[y];                                           \
      ((T *) v[7])[j] = g[y + x];                                       \
    }                                                                   \
    for (size_t k = 0; k < STRIP / NLANES; k++) {                       \
      mixed = mix_##suffix (&v[0][k], &f[0][k], STRIP / NLANES);        \
      memcpy (to + k * NLANES, &mixed, sizeof mixed);                   \
    }                                                                   \
  }                                                                     \
                                                                        \
  static inline lanes_##suffix                                          \
  load_##suffix (const T *e)                                            \
  {                                                                     \
    lanes_##suffix lanes;                                               \
    memcpy (&lanes, e, sizeof lanes);                                   \
    return lanes;                                                       \
  }                                                                     \
                                                                        \
  static inline lanes_##suffix                                          \
  sum_rows_##suffix (const T *e, size_t y, const T w[4])                \
  {                                                                     \
    return (w[0] * load_##suffix (e) + w[1] * load_##suffix (e + y))    \
           + (w[2] * load_##suffix (e + 2 * y)                          \
              + w[3] * load_##suffix (e + 3 * y));                      \
  }                                                                     \
                                                                        \
  static inline lanes_##suffix                                          \
  sum_planes_##suffix (const T *e, size_t z, size_t y, T w[3][4])       \
  {                                                                     \
    return (w[0][0] * sum_rows_##suffix (e, y, w[1])                    \
            + w[0][1] * sum_rows_##suffix (e + z, y, w[1]))             \
           + (w[0][2] * sum_rows_##suffix (e + 2 * z, y, w[1])          \
              + w[0][3] * sum_rows_##suffix (e + 3 * z, y, w[1]));      \
  }                                                                     \
                                                                        \
  static T                                                              \
  cubic_##suffix (const struct rd_gather_block *block, size_t at,       \
                  const double rest[3])                                 \
  {                                                                     \
    enum { NLANES = sizeof (lanes_##suffix) / sizeof (T) };             \
    T w[3][4], columns[4];                                              \
    const size_t y = (size_t) block->size[2];                           \
    const size_t z = y * (size_t) block->size[1];                       \
    const T *e = (const T *) (const void *) block->elements             \
      + at - z - y - 1;                                                 \
    for (int r = 0; r < 3; r++) {                                       \
      double weights[4];                                                \
      rd_spline_weights (rest[r], weights);                             \
      for (int i = 0; i < 4; i++)                                       \
        w[r][i] = (T) weights[i];                                       \
    }                                                                   \
    for (size_t i = 0; i < 4; i += NLANES) {                            \
      lanes_##suffix sum = sum_planes_##suffix (e + i, z, y, w);        \
      memcpy (columns + i, &sum, sizeof sum);                           \
    }                                                                   \
    return (w[2][0] * columns[0] + w[2][1] * columns[1])                \
           + (w[2][2] * columns[2] + w[2][3] * columns[3]);             \
  }                                                                     \
                                                                        \
  static void                                                           \
  gather_##suffix (const struct rd_gather *gather,                      \
                   const struct rd_gather_block *block,                 \
                   const struct row_axis *axes, uint64_t first,         \
                   uint64_t n, T *to)                                   \
  {                                                                     \
    bool is_cubic = gather->interpolation == RD_INTERPOLATE_CUBIC;      \
    for (uint64_t i = 0; i < n; i++) {                                  \
      struct place place;                                               \
      find_place (axes, (double) (first + i), &place);                  \
      to[i] = is_cubic                                                  \
        ? cubic_##suffix (block, block_at (block, &place), place.rest)  \
        : linear_##suffix (block, &place);                              \
    }                                                                   \
  }                                                                     \
                                                                        \
  static void                                                           \
  gather_strip_##suffix (const struct rd_gather *gather,                \
                         const struct rd_gather_block *block,           \
                         const size_t *steps, const struct strip *strip, \
                         T *to)                                         \
  {                                                                     \
    if (gather->interpolation != RD_INTERPOLATE_CUBIC) {                \
      linear_strip_##suffix ((const T *) (const void *) block->elements, \
                             steps, strip, to);                         \
      return;                                                           \
    }                                                                   \
    EACH {                                                              \
      const double rest[3] = { strip->rest[0][j], strip->rest[1][j],    \
                               strip->rest[2][j] };                     \
      to[j] = cubic_##suffix (block, (size_t) strip->at[j], rest);      \
    }                                                                   \
  }

/* Returns the number of a place's element in the block. */
static inline size_t
block_at (const struct rd_gather_block *block, const struct place *place)
{
  return (place->at[0] * block->size[1] + place->at[1]) * block->size[2]
         + place->at[2];
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
    find_place (axes, (double) (first + i), &place);
    memcpy (to, block->elements + block_at (block, &place) * item_nbytes,
            item_nbytes);
  }
}

#define MOVE_STRIP(nbytes)                                              \
  EACH memcpy (to + j * (nbytes), block->elements                       \
               + (size_t) strip->at[j] * (nbytes), (nbytes));           \
  break

static void
move_strip (const struct rd_gather_block *block, const struct strip *strip,
            size_t item_nbytes, unsigned char *to)
{
  switch (item_nbytes) {
  case 1: MOVE_STRIP (1);
  case 2: MOVE_STRIP (2);
  case 4: MOVE_STRIP (4);
  case 8: MOVE_STRIP (8);
  default: MOVE_STRIP (item_nbytes);
  }
}

static void
gather_some (const struct rd_gather *gather,
             const struct rd_gather_block *block, const struct row_axis *axes,
             uint64_t first, uint64_t n, unsigned char *to)
{
  if (gather->interpolation == RD_INTERPOLATE_NEAREST)
    gather_nearest (gather, block, axes, first, n, to);
  else if (gather->type.dtype == RADIO_FLOAT32)
    gather_float32 (gather, block, axes, first, n, (float *) (void *) to);
  else
    gather_float64 (gather, block, axes, first, n, (double *) (void *) to);
}

static void
gather_strip (const struct rd_gather *gather,
              const struct rd_gather_block *block, const size_t *steps,
              const struct strip *strip, unsigned char *to)
{
  if (gather->interpolation == RD_INTERPOLATE_NEAREST)
    move_strip (block, strip, gather->type.item_nbytes, to);
  else if (gather->type.dtype == RADIO_FLOAT32)
    gather_strip_float32 (gather, block, steps, strip, (float *) (void *) to);
  else
    gather_strip_float64 (gather, block, steps, strip,
                          (double *) (void *) to);
}

static void
copy_outside (const struct rd_gather *gather, uint64_t n, unsigned char *to)
{
  size_t item_nbytes = gather->type.item_nbytes;
  for (uint64_t i = 0; i < n; i++)
    memcpy (to + i * item_nbytes, gather->outside, item_nbytes);
}

/* Gathers n outputs, none of which is outside. */
static void
gather_inside (const struct rd_gather *gather,
               const struct rd_gather_block *block,
               const struct row_axis *axes, uint64_t first, uint64_t n,
               unsigned char *to)
{
  size_t item_nbytes = gather->type.item_nbytes, steps[3];
  uint64_t begin, end;
  find_inner (gather, block, axes, first, n, &begin, &end);
  if (end - begin < STRIP) {
    gather_some (gather, block, axes, first, n, to);
    return;
  }
  struct place place;
  find_place (axes, (double) (first + begin), &place);
  set_steps (block, place.at, steps);
  gather_some (gather, block, axes, first, begin, to);
  /* The last strip ends with the inner outputs, and may overlap the one
   * before. */
  for (uint64_t i = begin; i < end; i += STRIP) {
    uint64_t start = rd_min_u64 (i, end - STRIP);
    struct strip strip;
    find_strip (block, axes, (double) (first + start), &strip);
    gather_strip (gather, block, steps, &strip, to + start * item_nbytes);
  }
  gather_some (gather, block, axes, first + end, n - end,
               to + end * item_nbytes);
}

uint64_t
rd_gather_flop (const struct rd_gather *gather)
{
  const uint64_t position = 3 * 6;
  switch (gather->interpolation) {
  case RD_INTERPOLATE_NEAREST:
    return position;
  case RD_INTERPOLATE_CUBIC:
    return position + 3 * 17 + 7 * (16 + 4 + 1);
  default:
    return position + 7 * 4;
  }
}

uint64_t
rd_gather_row (const struct rd_gather *gather,
               const struct rd_gather_block *block, const uint64_t *at,
               uint64_t n, unsigned char *to)
{
  struct row_axis axes[3];
  size_t item_nbytes = gather->type.item_nbytes;
  uint64_t begin = 0, end = block->elements ? n : 0;
  for (size_t i = 0; i < gather->nfields && begin < end; i++)
    limit_row (&gather->fields[i], at, &begin, &end);
  copy_outside (gather, begin, to);
  if (begin < end) {
    begin_row (gather, block, at, axes);
    gather_inside (gather, block, axes, at[2] + begin, end - begin,
                   to + begin * item_nbytes);
  }
  copy_outside (gather, n - end, to + end * item_nbytes);
  return end - begin;
}
