/* SPDX-License-Identifier: MIT */
/* Rows of values: plain loops in strips of a constant length, which compilers
 * vectorize.  The build forbids to contract a product and a sum, so that every
 * machine computes the same bits. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/element/convert.h"
#include "src/operation/row.h"

/* Values in work at a time. */
#define BLOCK 256

#define STRIP 16
#define LOOP(...)                                       \
  do {                                                  \
    size_t i_ = 0;                                      \
    for (; i_ + STRIP <= n; i_ += STRIP)                \
      for (size_t j = i_; j < i_ + STRIP; j++)          \
        __VA_ARGS__                                     \
    for (size_t j = i_; j < n; j++)                     \
      __VA_ARGS__                                       \
  } while (0)

enum radio_dtype
rd_row_compute_type (enum radio_dtype stored)
{
  switch (stored) {
  case RADIO_INT32:
  case RADIO_INT64:
  case RADIO_UINT32:
  case RADIO_UINT64:
  case RADIO_FLOAT64:
    return RADIO_FLOAT64;
  default:
    return RADIO_FLOAT32;
  }
}

/* From [low, high] to [a, b]; a constant becomes a. */
static struct rd_kernel
rescale_kernel (double low, double high, double a, double b)
{
  double factor = high > low ? (b - a) / (high - low) : 0;
  return (struct rd_kernel) { RD_KERNEL_RESCALE, low, factor, a };
}

size_t
rd_row_kernels (const struct rd_step *step,
                const struct rd_step_statistics *statistics,
                struct rd_kernel kernels[2])
{
  double low = statistics ? statistics->low : step->from_low;
  double high = statistics ? statistics->high : step->from_high;
  switch (step->operation) {
  case RD_OP_LINEAR:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_LINEAR, step->a, step->b, 0 };
    return 1;
  case RD_OP_CLAMP:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_CLAMP, step->a, step->b, 0 };
    return 1;
  case RD_OP_WINDOW:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_CLAMP, step->a, step->b, 0 };
    kernels[1] = rescale_kernel (step->a, step->b, 0, 1);
    return 2;
  case RD_OP_RESCALE:
    kernels[0] = rescale_kernel (low, high, step->a, step->b);
    return 1;
  case RD_OP_GAMMA:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_GAMMA, step->a, 0, 0 };
    return 1;
  case RD_OP_ZNORM:
    kernels[0] = (struct rd_kernel) {
      RD_KERNEL_RESCALE, statistics->mean,
      statistics->std > 0 ? 1 / statistics->std : 0, 0
    };
    return 1;
  default:
    return 0;
  }
}

/* Comparisons with NaN are false, so that it stays.  gamma is computed in
 * float64: libraries differ in the last bit of powf. */
#define DEFINE_RUN(name, T)                                             \
  static void                                                           \
  name (const struct rd_kernel *kernel, T *restrict v, size_t n)        \
  {                                                                     \
    const T a = (T) kernel->a, b = (T) kernel->b, c = (T) kernel->c;    \
    switch (kernel->kind) {                                             \
    case RD_KERNEL_LINEAR:                                              \
      LOOP ({ v[j] = v[j] * a + b; });                                  \
      break;                                                            \
    case RD_KERNEL_CLAMP:                                               \
      LOOP ({                                                           \
        T least = v[j] < a ? a : v[j];                                  \
        v[j] = least > b ? b : least;                                   \
      });                                                               \
      break;                                                            \
    case RD_KERNEL_RESCALE:                                             \
      LOOP ({ v[j] = (v[j] - a) * b + c; });                            \
      break;                                                            \
    case RD_KERNEL_GAMMA:                                               \
      for (size_t j = 0; j < n; j++)                                    \
        v[j] = (T) copysign (pow (fabs ((double) v[j]), kernel->a),     \
                             (double) v[j]);                            \
      break;                                                            \
    }                                                                   \
  }

DEFINE_RUN (run_float32, float)
DEFINE_RUN (run_float64, double)

/* An integer type as float64 has it: its minimum, and its maximum + 1. */
struct bounds {
  double low, end;
};

static struct bounds
bounds_of (enum radio_dtype dtype)
{
  switch (dtype) {
  case RADIO_BOOL: return (struct bounds) { 0, 2 };
  case RADIO_INT8: return (struct bounds) { -0x1p7, 0x1p7 };
  case RADIO_INT16: return (struct bounds) { -0x1p15, 0x1p15 };
  case RADIO_INT32: return (struct bounds) { -0x1p31, 0x1p31 };
  case RADIO_INT64: return (struct bounds) { -0x1p63, 0x1p63 };
  case RADIO_UINT8: return (struct bounds) { 0, 0x1p8 };
  case RADIO_UINT16: return (struct bounds) { 0, 0x1p16 };
  case RADIO_UINT32: return (struct bounds) { 0, 0x1p32 };
  default: return (struct bounds) { 0, 0x1p64 };
  }
}

enum radio_status
rd_row_check (enum radio_dtype to)
{
  if (rd_dtype_is_integer (to) || rd_dtype_is_float (to))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "values that a pipeline computes "
                  "cannot be delivered as %s", radio_dtype_name (to));
}

/* Rounds n values to whole numbers within the type.  Those at the type's end
 * are left at it, for the conversion: of 64 bits only integers can say what the
 * greatest is. */
static enum radio_status
round_values (const struct rd_row_map *map, double *values, size_t n)
{
  const struct bounds bounds = bounds_of (map->to);
  bool saturates = map->program->saturates;
  for (size_t j = 0; j < n; j++) {
    double v = rint (values[j]);
    if (v >= bounds.low && v < bounds.end) {
      values[j] = v;
      continue;
    }
    if (!saturates) {
      char text[RD_NUMBER_NBYTES];
      return rd_fail (RADIO_ERROR_RANGE, "value %s does not fit into %s; add "
                      "'saturate' to the pipeline, or read a wider type",
                      rd_number_exact (values[j], text),
                      radio_dtype_name (map->to));
    }
    values[j] = isnan (v) ? 0 : v < bounds.low ? bounds.low : bounds.end;
  }
  return RADIO_OK;
}

#define STORE(type, most)                                               \
  for (size_t j = 0; j < n; j++) {                                      \
    type value = values[j] < end ? (type) values[j] : (most);           \
    memcpy (to + j * sizeof value, &value, sizeof value);               \
  }                                                                     \
  break

static void
store_integers (enum radio_dtype dtype, const double *values,
                unsigned char *to, size_t n)
{
  const double end = bounds_of (dtype).end;
  switch (dtype) {
  case RADIO_BOOL: STORE (uint8_t, 1);
  case RADIO_INT8: STORE (int8_t, INT8_MAX);
  case RADIO_INT16: STORE (int16_t, INT16_MAX);
  case RADIO_INT32: STORE (int32_t, INT32_MAX);
  case RADIO_INT64: STORE (int64_t, INT64_MAX);
  case RADIO_UINT8: STORE (uint8_t, UINT8_MAX);
  case RADIO_UINT16: STORE (uint16_t, UINT16_MAX);
  case RADIO_UINT32: STORE (uint32_t, UINT32_MAX);
  default: STORE (uint64_t, UINT64_MAX);
  }
}

/* Converts computed values to the type wanted. */
static enum radio_status
store_values (const struct rd_row_map *map, const unsigned char *computed,
              unsigned char *to, size_t n)
{
  enum radio_dtype compute = map->program->compute;
  double values[BLOCK];
  if (rd_dtype_is_float (map->to)) {
    rd_convert_find (compute, map->to) (computed, to, n);
    return RADIO_OK;
  }
  rd_convert_find (compute, RADIO_FLOAT64) (computed,
                                            (unsigned char *) values, n);
  RD_TRY (round_values (map, values, n));
  store_integers (map->to, values, to, n);
  return RADIO_OK;
}

static enum radio_status
run_block (const struct rd_row_map *map, const unsigned char *from,
           unsigned char *to, size_t n)
{
  const struct rd_row_program *program = map->program;
  bool is_float32 = program->compute == RADIO_FLOAT32;
  union {
    float float32[BLOCK];
    double float64[BLOCK];
  } buffer;
  double scaled[BLOCK];
  /* In place, if that is where they go. */
  bool is_same = map->to == program->compute;
  bool is_aligned = (uintptr_t) to % sizeof (double) == 0;
  void *values = is_same && is_aligned ? (void *) to : (void *) &buffer;
  if (program->slope == 1 && program->inter == 0)
    rd_convert_find (program->from, program->compute) (from, values, n);
  else {
    rd_convert_find (program->from, RADIO_FLOAT64) (
      from, (unsigned char *) scaled, n);
    rd_convert_scale (scaled, program->compute, values, n, program->slope,
                      program->inter);
  }
  for (size_t i = 0; i < program->nkernels; i++)
    if (is_float32)
      run_float32 (&program->kernels[i], values, n);
    else
      run_float64 (&program->kernels[i], values, n);
  if (!is_same)
    return store_values (map, values, to, n);
  if (!is_aligned)
    memcpy (to, values, n * (is_float32 ? sizeof (float) : sizeof (double)));
  return RADIO_OK;
}

enum radio_status
rd_row_map_run (const void *data, const unsigned char *from,
                unsigned char *to, size_t n)
{
  const struct rd_row_map *map = data;
  size_t from_nbytes = radio_dtype_nbytes (map->program->from);
  size_t to_nbytes = radio_dtype_nbytes (map->to);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t count = n - i < BLOCK ? n - i : BLOCK;
    RD_TRY (run_block (map, from + i * from_nbytes, to + i * to_nbytes,
                       count));
  }
  return RADIO_OK;
}

double
rd_row_value (const struct rd_row_program *program, size_t first,
              double value)
{
  float narrow = (float) value;
  for (size_t i = first; i < program->nkernels; i++)
    if (program->compute == RADIO_FLOAT32)
      run_float32 (&program->kernels[i], &narrow, 1);
    else
      run_float64 (&program->kernels[i], &value, 1);
  return program->compute == RADIO_FLOAT32 ? (double) narrow : value;
}
