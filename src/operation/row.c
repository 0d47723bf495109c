/* SPDX-License-Identifier: MIT */
/* Rows of values, by the vectors that this machine has, else by plain C.  The
 * build forbids contracting a product and a sum, so that every machine computes
 * the same bits. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "src/element/convert.h"
#include "src/operation/row.h"

/* Values in work at a time: those that plain C converts, and those of rows that
 * pass through buffers. */
#define BLOCK 256
#define PIECE 512

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
rescale_kernel (enum rd_operation of, double low, double high, double a,
                double b)
{
  double factor = high > low ? (b - a) / (high - low) : 0;
  return (struct rd_kernel) { RD_KERNEL_RESCALE, low, factor, a, of };
}

size_t
rd_row_kernels (const struct rd_step *step,
                const struct rd_step_statistics *statistics,
                struct rd_kernel kernels[2])
{
  const enum rd_operation of = step->operation;
  double low = statistics ? statistics->low : step->from_low;
  double high = statistics ? statistics->high : step->from_high;
  switch (of) {
  case RD_OP_LINEAR:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_LINEAR, step->a, step->b, 0,
                                      of };
    return 1;
  case RD_OP_CLAMP:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_CLAMP, step->a, step->b, 0,
                                      of };
    return 1;
  case RD_OP_WINDOW:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_CLAMP, step->a, step->b, 0,
                                      of };
    kernels[1] = rescale_kernel (of, step->a, step->b, 0, 1);
    return 2;
  case RD_OP_RESCALE:
    kernels[0] = rescale_kernel (of, low, high, step->a, step->b);
    return 1;
  case RD_OP_GAMMA:
    kernels[0] = (struct rd_kernel) { RD_KERNEL_GAMMA, step->a, 0, 0, of };
    return 1;
  case RD_OP_ZNORM:
    kernels[0] = (struct rd_kernel) {
      RD_KERNEL_RESCALE, statistics->mean,
      statistics->std > 0 ? 1 / statistics->std : 0, 0, of
    };
    return 1;
  default:
    return 0;
  }
}

/* Operations per value: comparisons, sums and products count 1 each, and so
 * does a power. */
static unsigned
flop_of (enum rd_kernel_kind kind)
{
  switch (kind) {
  case RD_KERNEL_RESCALE:
    return 3;
  case RD_KERNEL_GAMMA:
    return 1;
  default:
    return 2;
  }
}

void
rd_row_count (const struct rd_row_program *program, uint64_t n)
{
  static const struct radio_counter counters[] = {
    [RD_OP_LINEAR] = { "flop of linear", "flop" },
    [RD_OP_CLAMP] = { "flop of clamp", "flop" },
    [RD_OP_RESCALE] = { "flop of rescale", "flop" },
    [RD_OP_WINDOW] = { "flop of window", "flop" },
    [RD_OP_GAMMA] = { "flop of gamma", "flop" },
    [RD_OP_ZNORM] = { "flop of znorm", "flop" },
  };
  if (!radio_profile_is_on ())
    return;
  for (size_t i = 0; i < program->nkernels; i++)
    radio_scope_add (&counters[program->kernels[i].operation],
                     rd_mul_sat (n, flop_of (program->kernels[i].kind)));
}

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

static bool
is_scaled (const struct rd_row_program *program)
{
  return program->slope != 1 || program->inter != 0;
}

static rd_row_run_fn *
find_run (const struct rd_row_vectors *vectors,
          const struct rd_row_program *program)
{
  return program->compute == RADIO_FLOAT32 ? vectors->run32 : vectors->run64;
}

/* Makes values to compute with of n stored elements. */
static void
load_values (const struct rd_row_vectors *vectors,
             const struct rd_row_program *program, const unsigned char *from,
             unsigned char *to, size_t n)
{
  double scaled[BLOCK];
  rd_row_load_fn *load = program->compute == RADIO_FLOAT32
    ? vectors->load[program->from] : NULL;
  if (load) {
    load (from, (float *) (void *) to, n, program);
    return;
  }
  if (!is_scaled (program)) {
    rd_convert_find (program->from, program->compute) (from, to, n);
    return;
  }
  rd_convert_fn *convert = rd_convert_find (program->from, RADIO_FLOAT64);
  size_t from_nbytes = radio_dtype_nbytes (program->from);
  size_t to_nbytes = radio_dtype_nbytes (program->compute);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t count = n - i < BLOCK ? n - i : BLOCK;
    convert (from + i * from_nbytes, (unsigned char *) scaled, count);
    rd_convert_scale (scaled, program->compute, to + i * to_nbytes, count,
                      program->slope, program->inter);
  }
}

/* Converts n computed values to the type wanted. */
static enum radio_status
store_values (const struct rd_row_vectors *vectors,
              const struct rd_row_map *map, const unsigned char *computed,
              unsigned char *to, size_t n)
{
  enum radio_dtype compute = map->program->compute;
  double values[BLOCK];
  if (rd_dtype_is_float (map->to)) {
    rd_convert_find (compute, map->to) (computed, to, n);
    return RADIO_OK;
  }
  rd_row_store_fn *store = compute == RADIO_FLOAT32
    ? vectors->store[map->to] : NULL;
  if (store && !store ((const float *) (const void *) computed, to, n,
                       map->program->saturates))
    return RADIO_OK;
  size_t from_nbytes = radio_dtype_nbytes (compute);
  size_t to_nbytes = radio_dtype_nbytes (map->to);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t count = n - i < BLOCK ? n - i : BLOCK;
    rd_convert_find (compute, RADIO_FLOAT64) (
      computed + i * from_nbytes, (unsigned char *) values, count);
    RD_TRY (round_values (map, values, count));
    store_integers (map->to, values, to + i * to_nbytes, count);
  }
  return RADIO_OK;
}

/* Threads do not contend for a flag that is set already. */
static void
note_nan (const struct rd_row_map *map, bool is_nan)
{
  if (is_nan && map->has_nan
      && !atomic_load_explicit (map->has_nan, memory_order_relaxed))
    atomic_store_explicit (map->has_nan, true, memory_order_relaxed);
}

/* Computes rows by way of buffers; all rows have PIECE elements at most. */
static enum radio_status
run_piece (const struct rd_row_vectors *vectors, const struct rd_row_map *map,
           const struct rd_rows *rows)
{
  const struct rd_row_program *program = map->program;
  rd_row_run_fn *run = find_run (vectors, program);
  size_t from_nbytes = radio_dtype_nbytes (program->from);
  size_t nbytes = radio_dtype_nbytes (program->compute);
  size_t to_nbytes = radio_dtype_nbytes (map->to);
  size_t count = rows->n * rows->nrows;
  _Alignas (64) unsigned char values[PIECE * sizeof (double)];
  _Alignas (64) unsigned char result[PIECE * sizeof (double)];
  struct rd_rows now = *rows;
  if (program->from != program->compute || is_scaled (program)) {
    bool is_one = rows->from_step == (int64_t) (rows->n * from_nbytes);
    size_t step = is_one ? count : rows->n;
    for (size_t i = 0, row = 0; i < count; i += step, row++)
      load_values (vectors, program,
                   rows->from + (int64_t) row * rows->from_step,
                   values + i * nbytes, step);
    now.from = values;
    now.from_step = (int64_t) (rows->n * nbytes);
  }
  if (map->to == program->compute) {
    note_nan (map, run (program, &now));
    return RADIO_OK;
  }
  now.to = values;
  now.to_step = (int64_t) (rows->n * nbytes);
  now.streams = false;
  note_nan (map, run (program, &now));
  if (rows->nrows == 1)
    return store_values (vectors, map, values, rows->to, count);
  RD_TRY (store_values (vectors, map, values, result, count));
  rd_rows_copy (result, (int64_t) (rows->n * to_nbytes), rows->to,
                rows->to_step, rows->n * to_nbytes, rows->nrows);
  return RADIO_OK;
}

enum radio_status
rd_row_map_run_by (const struct rd_row_vectors *vectors,
                   const struct rd_row_map *map, const struct rd_rows *rows)
{
  const struct rd_row_program *program = map->program;
  size_t from_nbytes = radio_dtype_nbytes (program->from);
  size_t to_nbytes = radio_dtype_nbytes (map->to);
  if (program->from == program->compute && map->to == program->compute
      && !is_scaled (program)) {
    note_nan (map, find_run (vectors, program) (program, rows));
    return RADIO_OK;
  }
  size_t most = rows->n > 0 && rows->n < PIECE ? PIECE / rows->n : 1;
  for (size_t row = 0; row < rows->nrows; row += most)
    for (size_t i = 0; i < rows->n; i += PIECE) {
      struct rd_rows piece = *rows;
      piece.n = rows->n - i < PIECE ? rows->n - i : PIECE;
      piece.nrows = rows->nrows - row < most ? rows->nrows - row : most;
      piece.from += (int64_t) row * rows->from_step
                    + (int64_t) (i * from_nbytes);
      piece.to += (int64_t) row * rows->to_step + (int64_t) (i * to_nbytes);
      RD_TRY (run_piece (vectors, map, &piece));
    }
  return RADIO_OK;
}

enum radio_status
rd_row_map_run (const void *map, const struct rd_rows *rows)
{
  return rd_row_map_run_by (rd_row_choose (), map, rows);
}

double
rd_row_value (const struct rd_row_program *program, size_t first,
              double value)
{
  bool is_float32 = program->compute == RADIO_FLOAT32;
  struct rd_row_program rest = *program;
  float narrow = (float) value;
  unsigned char *only = is_float32 ? (unsigned char *) &narrow
                                   : (unsigned char *) &value;
  const struct rd_rows row = { .from = only, .to = only, .n = 1, .nrows = 1 };
  rest.kernels += first;
  rest.nkernels -= first;
  (void) find_run (&rd_row_plain, &rest) (&rest, &row);
  return is_float32 ? (double) narrow : value;
}
