/* SPDX-License-Identifier: MIT */
/* Weighted sums of rows: plain loops in strips of a constant length, which
 * compilers vectorize. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/each.h"
#include "src/base/error.h"
#include "src/element/strips.h"
#include "src/operation/interpolate.h"

/* Sums of many rows are made in pieces of this many elements, which stay in the
 * first-level cache. */
#define PIECE 1024

#define LOOP(...) RD_STRIPS (16, __VA_ARGS__)

/* Partial sums along a row, so that they can be computed at once: of each 8th
 * element, which are then added in pairs. */
#define LANES 8

/* Vectors of 16 bytes, which every x86-64 and aarch64 has; this many outputs of
 * them are summed at once where their weights are the same. */
typedef float lanes_float32 __attribute__ ((__vector_size__ (16)));
typedef double lanes_float64 __attribute__ ((__vector_size__ (16)));
#define NVECTORS 4

/* The next element of each output, weighted; the sum of two sums. */
#define WEIGH(v)                                                \
  memcpy (&element, from + k + v * width, sizeof element);      \
  to[v] += weights[k] * element;
#define ADD(v) a[v] += b[v];

struct range {
  uint64_t start, n;
};

/* The rows of a block that n rows of outputs need. */
static struct range
rows_used (const struct rd_weights *rows, uint64_t first, uint64_t n)
{
  uint64_t start = UINT64_MAX, end = 0;
  for (uint64_t i = first; i < first + n; i++) {
    start = rd_min_u64 (start, rows->start[i]);
    end = rd_max_u64 (end, rows->start[i] + rows->count[i]);
  }
  return (struct range) { start, end - start };
}

/* sum_rows: the sum of `count' rows, `step' elements apart, weighted, of n
 * elements.  sum_along: n sums along a row. */
#define DEFINE(T, suffix)                                               \
  static void                                                           \
  sum_piece_##suffix (const T *restrict from, size_t step,              \
                      const T *weights, size_t count, T *restrict to,   \
                      size_t n)                                         \
  {                                                                     \
    size_t k = 2;                                                       \
    const T a = weights[0], b = weights[1];                             \
    const T *next = from + step;                                        \
    LOOP ({ to[j] = a * from[j] + b * next[j]; });                      \
    for (; k + 2 <= count; k += 2) {                                    \
      const T *first = from + k * step, *second = first + step;         \
      const T c = weights[k], d = weights[k + 1];                       \
      LOOP ({ to[j] = to[j] + c * first[j] + d * second[j]; });         \
    }                                                                   \
    if (k < count) {                                                    \
      const T *last = from + k * step;                                  \
      const T c = weights[k];                                           \
      LOOP ({ to[j] = to[j] + c * last[j]; });                          \
    }                                                                   \
  }                                                                     \
                                                                        \
  static const T *                                                      \
  sum_rows_##suffix (const T *from, size_t step, const T *weights,      \
                     uint64_t count, T *to, size_t n)                   \
  {                                                                     \
    if (count == 1)                                                     \
      return from;                                                      \
    for (size_t i = 0; i < n; i += PIECE)                               \
      sum_piece_##suffix (from + i, step, weights, (size_t) count,      \
                          to + i, n - i < PIECE ? n - i : PIECE);       \
    return to;                                                          \
  }                                                                     \
                                                                        \
  static T                                                              \
  sum_of_##suffix (const T *restrict from, const T *restrict weights,   \
                   size_t n)                                            \
  {                                                                     \
    T sums[LANES] = { 0 };                                              \
    size_t i = 0;                                                       \
    for (; i + LANES <= n; i += LANES)                                  \
      for (size_t j = 0; j < LANES; j++)                                \
        sums[j] += weights[i + j] * from[i + j];                        \
    for (size_t j = 0; i + j < n; j++)                                  \
      sums[j] += weights[i + j] * from[i + j];                          \
    for (size_t half = LANES / 2; half > 0; half /= 2)                  \
      for (size_t j = 0; j < half; j++)                                 \
        sums[j] += sums[j + half];                                      \
    return sums[0];                                                     \
  }                                                                     \
                                                                        \
  static inline void                                                    \
  sum_lane_##suffix (const T *from, const T *weights, size_t count,     \
                     size_t lane, lanes_##suffix to[NVECTORS])          \
  {                                                                     \
    const size_t width = sizeof (lanes_##suffix) / sizeof (T);          \
    lanes_##suffix element;                                             \
    memset (to, 0, NVECTORS * sizeof *to);                              \
    for (size_t k = lane; k < count; k += LANES) {                      \
      EACH_4 (WEIGH)                                                    \
    }                                                                   \
  }                                                                     \
                                                                        \
  static inline void                                                    \
  add_##suffix (lanes_##suffix a[NVECTORS],                             \
                const lanes_##suffix b[NVECTORS])                       \
  {                                                                     \
    EACH_4 (ADD)                                                        \
  }                                                                     \
                                                                        \
  /* Sums of elements that are one on from those of the output before, added \
   * as sum_of does. */                                                 \
  static void                                                           \
  sum_moved_##suffix (const T *from, const T *weights, size_t count,    \
                      T *restrict to, size_t n)                         \
  {                                                                     \
    lanes_##suffix sums[2][NVECTORS], more[NVECTORS], last[NVECTORS];   \
    const size_t strip = NVECTORS * (sizeof *more / sizeof (T));        \
    size_t i = 0;                                                       \
    for (; i + strip <= n; i += strip) {                                \
      for (size_t lane = 0; lane < 2; lane++) {                         \
        const T *first = from + i;                                      \
        sum_lane_##suffix (first, weights, count, lane, sums[lane]);    \
        sum_lane_##suffix (first, weights, count, lane + 4, last);      \
        add_##suffix (sums[lane], last);                                \
        sum_lane_##suffix (first, weights, count, lane + 2, more);      \
        sum_lane_##suffix (first, weights, count, lane + 6, last);      \
        add_##suffix (more, last);                                      \
        add_##suffix (sums[lane], more);                                \
      }                                                                 \
      add_##suffix (sums[0], sums[1]);                                  \
      memcpy (to + i, sums[0], sizeof sums[0]);                         \
    }                                                                   \
    for (; i < n; i++)                                                  \
      to[i] = sum_of_##suffix (from + i, weights, count);               \
  }                                                                     \
                                                                        \
  static void                                                           \
  sum_outputs_##suffix (const T *restrict from,                         \
                        const struct rd_weights *along,                 \
                        size_t first, size_t end, T *restrict to)       \
  {                                                                     \
    for (size_t i = first; i < end; i++)                                \
      to[i] = along->count[i] == 1 ? from[along->start[i]]              \
        : sum_of_##suffix (from + along->start[i],                      \
                           along->suffix + i * along->most,             \
                           (size_t) along->count[i]);                   \
  }                                                                     \
                                                                        \
  static void                                                           \
  sum_along_##suffix (const T *restrict from,                           \
                      const struct rd_weights *along, T *restrict to)   \
  {                                                                     \
    const uint64_t *start = along->start, *count = along->count;        \
    const T *weights = along->suffix;                                   \
    if (along->most > 2) {                                              \
      size_t first = (size_t) along->moved_first;                       \
      size_t end = first + (size_t) along->moved_n;                     \
      if (end == first || count[first] == 1)                            \
        first = end = 0;                                                \
      sum_outputs_##suffix (from, along, 0, first, to);                 \
      if (end > first)                                                  \
        sum_moved_##suffix (from + start[first],                        \
                            weights + first * along->most,              \
                            (size_t) count[first], to + first,          \
                            end - first);                               \
      sum_outputs_##suffix (from, along, end, (size_t) along->n, to);   \
      return;                                                           \
    }                                                                   \
    if (along->most == 1) {                                             \
      for (size_t i = 0; i < along->n; i++)                             \
        to[i] = from[start[i]];                                         \
      return;                                                           \
    }                                                                   \
    if (along->is_halved) {                                             \
      const T a = weights[0], b = weights[1];                           \
      const size_t n = (size_t) along->n;                               \
      from += start[0];                                                 \
      LOOP ({ to[j] = a * from[2 * j] + b * from[2 * j + 1]; });        \
      return;                                                           \
    }                                                                   \
    for (size_t i = 0; i < along->n; i++) {                             \
      T a = from[start[i]], b = from[start[i] + count[i] - 1];          \
      T sum = weights[2 * i] * a + weights[2 * i + 1] * b;              \
      to[i] = count[i] == 1 ? a : sum;                                  \
    }                                                                   \
  }                                                                     \
                                                                        \
  static void                                                           \
  sum_block_##suffix (const struct rd_sampled_block *block,             \
                      uint64_t plane, uint64_t first, uint64_t n,       \
                      T *work, T *to)                                   \
  {                                                                     \
    const struct rd_weights *across = &block->weights[0];               \
    const struct rd_weights *rows = &block->weights[1];                 \
    const struct rd_weights *along = &block->weights[2];                \
    size_t width = (size_t) block->size[2];                             \
    struct range used = rows_used (rows, first, n);                     \
    size_t nused = (size_t) used.n * width;                             \
    const T *from = (const T *) (const void *) block->elements          \
      + (across->start[plane] * block->size[1] + used.start) * width;   \
    T *row = work + nused;                                              \
    from = sum_rows_##suffix (                                          \
      from, (size_t) block->size[1] * width,                            \
      across->suffix + plane * across->most, across->count[plane],      \
      work, nused);                                                     \
    size_t shift = along->is_identity ? (size_t) along->start[0] : 0;   \
    for (uint64_t i = first; i < first + n; i++, to += along->n) {      \
      const T *sum = sum_rows_##suffix (                                \
        from + (rows->start[i] - used.start) * width + shift, width,    \
        rows->suffix + i * rows->most, rows->count[i],                  \
        along->is_identity ? to : row,                                  \
        along->is_identity ? (size_t) along->n : width);                \
      if (!along->is_identity)                                          \
        sum_along_##suffix (sum, along, to);                            \
      else if (sum != to)                                               \
        memcpy (to, sum, (size_t) along->n * sizeof *to);               \
    }                                                                   \
  }

DEFINE (float, float32)
DEFINE (double, float64)

/*------------------------------------------------------------------------
 * Elements as they are
 *----------------------------------------------------------------------*/

static const unsigned char *
element_at (const struct rd_sampled_block *block, uint64_t a, uint64_t b,
            uint64_t c)
{
  return block->elements
         + ((a * block->size[1] + b) * block->size[2] + c)
           * block->type.item_nbytes;
}

#define PICK(T)                                                         \
  for (size_t i = 0; i < n; i++)                                        \
    memcpy (to + i * sizeof (T), from + start[i] * sizeof (T),          \
            sizeof (T));                                                \
  break

static void
pick_along (const unsigned char *from, const uint64_t *start, size_t n,
            size_t item_nbytes, unsigned char *to)
{
  switch (item_nbytes) {
  case 1: PICK (uint8_t);
  case 2: PICK (uint16_t);
  case 4: PICK (uint32_t);
  case 8: PICK (uint64_t);
  default:
    for (size_t i = 0; i < n; i++)
      memcpy (to + i * item_nbytes, from + start[i] * item_nbytes,
              item_nbytes);
  }
}

static void
pick_rows (const struct rd_sampled_block *block, uint64_t plane,
           uint64_t first, uint64_t n, unsigned char *to)
{
  const struct rd_weights *along = &block->weights[2];
  size_t item_nbytes = block->type.item_nbytes;
  size_t row_nbytes = (size_t) along->n * item_nbytes;
  uint64_t a = block->weights[0].start[plane];
  for (uint64_t i = first; i < first + n; i++, to += row_nbytes) {
    const unsigned char *from
      = element_at (block, a, block->weights[1].start[i], 0);
    if (along->is_identity)
      memcpy (to, from + along->start[0] * item_nbytes, row_nbytes);
    else
      pick_along (from, along->start, (size_t) along->n, item_nbytes, to);
  }
}

/*------------------------------------------------------------------------
 * Majorities
 *----------------------------------------------------------------------*/

/* The bits of an element as a number that rises with its value: signs are
 * turned, and negative floats reversed. */
static uint64_t
key_of (enum radio_dtype dtype, const unsigned char *element)
{
  uint64_t bits = 0;
  size_t nbytes = radio_dtype_nbytes (dtype);
  switch (nbytes) {
  case 1: bits = *element; break;
  case 2: { uint16_t v; memcpy (&v, element, 2); bits = v; } break;
  case 4: { uint32_t v; memcpy (&v, element, 4); bits = v; } break;
  default: memcpy (&bits, element, 8);
  }
  uint64_t sign = (uint64_t) 1 << (8 * nbytes - 1);
  if (rd_dtype_is_float (dtype))
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
  bool is_signed = dtype == RADIO_INT8 || dtype == RADIO_INT16
    || dtype == RADIO_INT32 || dtype == RADIO_INT64;
  return is_signed ? bits ^ sign : bits;
}

/* Sorts in ascending order: by insertion if there are few. */
static void
sort_keys (uint64_t *keys, size_t n)
{
  for (size_t gap = n > 64 ? n / 2 : 1; gap > 0; gap /= 2)
    for (size_t i = gap; i < n; i++) {
      uint64_t key = keys[i];
      size_t at = i;
      for (; at >= gap && keys[at - gap] > key; at -= gap)
        keys[at] = keys[at - gap];
      keys[at] = key;
    }
}

/* Copies the most frequent element of a box, the smallest of several. */
static void
vote (const struct rd_sampled_block *block, const uint64_t *start,
      const uint64_t *count, uint64_t *keys, unsigned char *to)
{
  enum radio_dtype dtype = block->type.dtype;
  size_t item_nbytes = block->type.item_nbytes, n = 0, most = 0;
  const unsigned char *first = element_at (block, start[0], start[1],
                                           start[2]);
  bool is_one = true;
  for (uint64_t a = 0; a < count[0]; a++)
    for (uint64_t b = 0; b < count[1]; b++) {
      const unsigned char *row = element_at (block, start[0] + a,
                                             start[1] + b, start[2]);
      for (uint64_t c = 0; c < count[2]; c++, row += item_nbytes) {
        is_one = is_one && memcmp (row, first, item_nbytes) == 0;
        keys[n++] = key_of (dtype, row);
      }
    }
  if (is_one) {
    memcpy (to, first, item_nbytes);
    return;
  }
  sort_keys (keys, n);
  uint64_t winner = 0;
  for (size_t i = 0, begin = 0; i < n; i++) {
    if (keys[i] != keys[begin])
      begin = i;
    if (i + 1 - begin > most) {
      most = i + 1 - begin;
      winner = keys[i];
    }
  }
  for (uint64_t a = 0; a < count[0]; a++)
    for (uint64_t b = 0; b < count[1]; b++) {
      const unsigned char *row = element_at (block, start[0] + a,
                                             start[1] + b, start[2]);
      for (uint64_t c = 0; c < count[2]; c++, row += item_nbytes)
        if (key_of (dtype, row) == winner) {
          memcpy (to, row, item_nbytes);
          return;
        }
    }
}

static void
vote_rows (const struct rd_sampled_block *block, uint64_t plane,
           uint64_t first, uint64_t n, uint64_t *keys, unsigned char *to)
{
  const struct rd_weights *weights = block->weights;
  for (uint64_t i = first; i < first + n; i++)
    for (uint64_t j = 0; j < weights[2].n; j++) {
      const uint64_t start[3] = {
        weights[0].start[plane], weights[1].start[i], weights[2].start[j]
      };
      const uint64_t count[3] = {
        weights[0].count[plane], weights[1].count[i], weights[2].count[j]
      };
      vote (block, start, count, keys, to);
      to += block->type.item_nbytes;
    }
}

/*------------------------------------------------------------------------
 * Any of them
 *----------------------------------------------------------------------*/

enum radio_status
rd_interpolate_check (enum rd_interpolation interpolation,
                      enum radio_dtype dtype)
{
  if (interpolation == RD_INTERPOLATE_NEAREST || rd_dtype_is_integer (dtype)
      || rd_dtype_is_float (dtype))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the image is of %s; only real numbers "
                  "are interpolated; use nearest", radio_dtype_name (dtype));
}

static uint64_t
most_elements (const struct rd_weights *weights)
{
  uint64_t most = 0;
  for (uint64_t i = 0; i < weights->n; i++)
    most = rd_max_u64 (most, weights->count[i]);
  return most;
}

size_t
rd_interpolate_nbytes (const struct rd_sampled_block *block, uint64_t first,
                       uint64_t n)
{
  if (block->interpolation == RD_INTERPOLATE_NEAREST)
    return 0;
  if (block->interpolation == RD_INTERPOLATE_MAJORITY) {
    uint64_t most = 1;
    for (int i = 0; i < 3; i++)
      most = rd_mul_sat (most, most_elements (&block->weights[i]));
    return (size_t) rd_mul_sat (most, sizeof (uint64_t));
  }
  /* The rows used, and one more. */
  struct range used = rows_used (&block->weights[1], first, n);
  return (size_t) ((used.n + 1) * block->size[2] * block->type.item_nbytes);
}

/* The operations of a sum of weighted elements. */
static uint64_t
flop_of_sum (uint64_t count)
{
  return count > 1 ? 2 * count - 1 : 0;
}

uint64_t
rd_interpolate_flop (const struct rd_sampled_block *block, uint64_t plane,
                     uint64_t first, uint64_t n)
{
  const struct rd_weights *weights = block->weights;
  if (rd_interpolation_picks (block->interpolation))
    return 0;
  uint64_t used = rows_used (&weights[1], first, n).n, along = 0;
  uint64_t flop = used * block->size[2]
                  * flop_of_sum (weights[0].count[plane]);
  uint64_t width = weights[2].is_identity ? weights[2].n : block->size[2];
  for (uint64_t i = 0; i < weights[2].n; i++)
    along += flop_of_sum (weights[2].count[i]);
  for (uint64_t i = first; i < first + n; i++)
    flop += width * flop_of_sum (weights[1].count[i]) + along;
  return flop;
}

void
rd_interpolate_rows (const struct rd_sampled_block *block, uint64_t plane,
                     uint64_t first, uint64_t n, void *work,
                     unsigned char *to)
{
  if (block->interpolation == RD_INTERPOLATE_NEAREST)
    pick_rows (block, plane, first, n, to);
  else if (block->interpolation == RD_INTERPOLATE_MAJORITY)
    vote_rows (block, plane, first, n, work, to);
  else if (block->type.dtype == RADIO_FLOAT32)
    sum_block_float32 (block, plane, first, n, work, (float *) (void *) to);
  else
    sum_block_float64 (block, plane, first, n, work, (double *) (void *) to);
}
