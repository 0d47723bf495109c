/* SPDX-License-Identifier: MIT */
/* Placing boxes of elements.  The axes are first brought into the order of
 * the destination's memory and those that lie seamlessly in both are joined,
 * so that the loops below see few axes and long rows.  Rows are then copied
 * whole, moved by strides, or converted in blocks that stay in the cache; one
 * element that is repeated is made a row, and copied from there. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/element/convert.h"
#include "src/element/copy.h"
#include "src/element/move.h"
#include "src/element/rows.h"

/* Elements converted at a time. */
#define BLOCK 256

/* Of a row that repeats an element, made once. */
#define REPEATED_NBYTES 1024

/* A copy as the loops need it. */
struct plan {
  size_t rank;                              /* at least 1 */
  uint64_t shape[RADIO_MAX_RANK];
  int64_t from_strides[RADIO_MAX_RANK];
  int64_t to_strides[RADIO_MAX_RANK];
  struct rd_type from_type, to_type;
  enum radio_dtype from_part, to_part;      /* of complex types: a half */
  rd_move_fn *move_in, *move_out;
  rd_convert_fn *convert;                   /* NULL: the types are equal */
  bool swapped;
};

enum radio_status
rd_copy_check (const struct rd_type *from, enum radio_dtype to, bool scaled)
{
  char name[24];
  if (scaled) {
    if (to != RADIO_FLOAT32 && to != RADIO_FLOAT64)
      return rd_fail (RADIO_ERROR_ARGUMENT, "scaled values can be delivered "
                      "as float32 or float64 only, not as %s",
                      radio_dtype_name (to));
    if (rd_convert_find (from->dtype, to))
      return RADIO_OK;
  } else if (to == RADIO_STORED || to == from->dtype)
    return RADIO_OK;
  else if (rd_convert_find (from->dtype, to))
    return RADIO_OK;
  else if (rd_dtype_is_complex (from->dtype) && rd_dtype_is_complex (to))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s values cannot be delivered as "
                  "%s%s", rd_type_name (from, name), scaled ? "scaled " : "",
                  radio_dtype_name (to));
}

static uint64_t
magnitude (int64_t stride)
{
  return stride < 0 ? -(uint64_t) stride : (uint64_t) stride;
}

/* Put an axis in among those of the plan, which descend in the destination's
 * strides. */
static void
add_axis (struct plan *plan, uint64_t size, int64_t from_stride,
          int64_t to_stride)
{
  size_t i = plan->rank++;
  while (i > 0
         && magnitude (plan->to_strides[i - 1]) < magnitude (to_stride)) {
    plan->shape[i] = plan->shape[i - 1];
    plan->from_strides[i] = plan->from_strides[i - 1];
    plan->to_strides[i] = plan->to_strides[i - 1];
    i--;
  }
  plan->shape[i] = size;
  plan->from_strides[i] = from_stride;
  plan->to_strides[i] = to_stride;
}

/* A stride times a size, modulo 2^64: strides that are used never wrap, and
 * those of axes that nobody steps along may be anything. */
static int64_t
step_over (int64_t stride, uint64_t size)
{
  return (int64_t) ((uint64_t) stride * size);
}

/* Join each axis to the one before it where a step of that one is the whole
 * length of this one, on both sides. */
static void
join_axes (struct plan *plan)
{
  size_t n = 1;
  for (size_t i = 1; i < plan->rank; i++) {
    size_t last = n - 1;
    uint64_t size = plan->shape[i];
    if (plan->from_strides[last] == step_over (plan->from_strides[i], size)
        && plan->to_strides[last] == step_over (plan->to_strides[i], size)) {
      plan->shape[last] *= size;
    } else {
      last = n++;
      plan->shape[last] = size;
    }
    plan->from_strides[last] = plan->from_strides[i];
    plan->to_strides[last] = plan->to_strides[i];
  }
  plan->rank = n;
}

/* False when there is nothing to move. */
static bool
plan_axes (struct plan *plan, const struct rd_copy *copy)
{
  plan->rank = 0;
  for (size_t i = 0; i < copy->rank; i++) {
    if (copy->shape[i] == 0)
      return false;
    if (copy->shape[i] != 1)
      add_axis (plan, copy->shape[i], copy->from_strides[i],
                copy->to_strides[i]);
  }
  if (plan->rank == 0)
    add_axis (plan, 1, (int64_t) plan->from_type.item_nbytes,
              (int64_t) plan->to_type.item_nbytes);
  join_axes (plan);
  return true;
}

static enum radio_dtype
part_of (enum radio_dtype dtype)
{
  switch (dtype) {
  case RADIO_COMPLEX64: return RADIO_FLOAT32;
  case RADIO_COMPLEX128: return RADIO_FLOAT64;
  default: return dtype;
  }
}

static void
plan_types (struct plan *plan, const struct rd_copy *copy)
{
  enum radio_dtype from = copy->from_type.dtype;
  enum radio_dtype to = copy->to_dtype == RADIO_STORED ? from
                                                       : copy->to_dtype;
  plan->from_type = copy->from_type;
  plan->to_type = to == from ? copy->from_type : rd_type_of (to);
  plan->from_part = part_of (from);
  plan->to_part = copy->scaled ? RADIO_FLOAT64 : part_of (to);
  plan->swapped = copy->from_swapped && plan->from_type.unit_nbytes > 1;
  plan->move_in = rd_move_find (&plan->from_type, plan->swapped);
  plan->move_out = rd_move_find (&plan->to_type, false);
  plan->convert = NULL;
  /* A stored bool may be any byte; the caller gets 0 or 1. */
  if (to != from || copy->scaled || to == RADIO_BOOL)
    plan->convert = rd_convert_find (plan->from_part, plan->to_part);
}

/* A float as text, with a point whatever the process's locale has. */
static void
print_float (double value, char *text, size_t nbytes)
{
  char raw[64];
  snprintf (raw, sizeof raw, "%.17g", value);
  size_t n = 0;
  for (const char *p = raw; *p && n + 1 < nbytes; p++) {
    bool plain = strchr ("0123456789+-eainf", *p) != NULL;
    if (plain || n == 0 || text[n - 1] != '.')
      text[n++] = plain ? *p : '.';
  }
  text[n] = '\0';
}

/* The value at `from', which did not fit, in words. */
static enum radio_status
fail_value (const struct plan *plan, const unsigned char *from)
{
  char text[64];
  if (plan->from_part == RADIO_UINT64) {
    uint64_t value;
    memcpy (&value, from, sizeof value);
    snprintf (text, sizeof text, "%" PRIu64, value);
  } else if (rd_dtype_is_integer (plan->from_part)) {
    int64_t value;
    rd_convert_find (plan->from_part, RADIO_INT64) (
      from, (unsigned char *) &value, 1);
    snprintf (text, sizeof text, "%" PRId64, value);
  } else {
    double value;
    rd_convert_find (plan->from_part, RADIO_FLOAT64) (
      from, (unsigned char *) &value, 1);
    print_float (value, text, sizeof text);
  }
  return rd_fail (RADIO_ERROR_RANGE, "value %s does not fit into %s", text,
                  radio_dtype_name (plan->to_type.dtype));
}

/* Some of n contiguous values does not fit: find the first. */
static enum radio_status
fail_block (const struct plan *plan, const unsigned char *from, size_t n)
{
  unsigned char result[RD_ITEM_MAX_NBYTES];
  size_t step = plan->from_type.item_nbytes;
  while (n > 1 && !plan->convert (from, result, 1)) {
    from += step;
    n--;
  }
  return fail_value (plan, from);
}

/* Convert up to BLOCK elements by way of contiguous rooms where the memory
 * is not. */
static enum radio_status
convert_block (const struct plan *plan, const struct rd_copy *copy,
               const unsigned char *from, unsigned char *to, size_t n)
{
  _Alignas (16) unsigned char room_in[BLOCK * RD_ITEM_MAX_NBYTES];
  _Alignas (16) unsigned char room_out[BLOCK * RD_ITEM_MAX_NBYTES];
  double values[BLOCK];
  size_t axis = plan->rank - 1;
  int64_t from_item = (int64_t) plan->from_type.item_nbytes;
  int64_t to_item = (int64_t) plan->to_type.item_nbytes;
  size_t nparts = n * (plan->from_type.item_nbytes
                       / radio_dtype_nbytes (plan->from_part));

  const unsigned char *source = from;
  if (plan->swapped || plan->from_strides[axis] != from_item) {
    plan->move_in (from, plan->from_strides[axis], room_in, from_item, n, 0);
    source = room_in;
  }
  unsigned char *target = to;
  if (plan->to_strides[axis] != to_item)
    target = room_out;
  if (copy->scaled) {
    plan->convert (source, (unsigned char *) values, nparts);
    rd_convert_scale (values, plan->to_type.dtype, target, n, copy->slope,
                      copy->inter);
  } else if (plan->convert (source, target, nparts))
    return fail_block (plan, source, n);
  if (target != to)
    plan->move_out (room_out, to_item, to, plan->to_strides[axis], n, 0);
  return RADIO_OK;
}

static enum radio_status
convert_row (const struct plan *plan, const struct rd_copy *copy,
             const unsigned char *from, unsigned char *to)
{
  size_t axis = plan->rank - 1;
  uint64_t n = plan->shape[axis];
  for (uint64_t i = 0; i < n; i += BLOCK) {
    size_t block = n - i < BLOCK ? (size_t) (n - i) : BLOCK;
    RD_TRY (convert_block (plan, copy,
                           from + step_over (plan->from_strides[axis], i),
                           to + step_over (plan->to_strides[axis], i),
                           block));
  }
  return RADIO_OK;
}

static enum radio_status
copy_row (const struct plan *plan, const struct rd_copy *copy,
          const unsigned char *from, unsigned char *to)
{
  size_t axis = plan->rank - 1;
  size_t item_nbytes = plan->from_type.item_nbytes;
  if (plan->convert)
    return convert_row (plan, copy, from, to);
  plan->move_in (from, plan->from_strides[axis], to, plan->to_strides[axis],
                 plan->shape[axis], item_nbytes);
  return RADIO_OK;
}

/* Step along the axes but the last n; false after the last step. */
static bool
next_rows (const struct plan *plan, size_t n, uint64_t *at, int64_t *from,
           int64_t *to)
{
  for (size_t i = plan->rank - n; i-- > 0;) {
    *from += plan->from_strides[i];
    *to += plan->to_strides[i];
    if (++at[i] < plan->shape[i])
      return true;
    *from -= step_over (plan->from_strides[i], plan->shape[i]);
    *to -= step_over (plan->to_strides[i], plan->shape[i]);
    at[i] = 0;
  }
  return false;
}

/* Rows along the last axis, many at a time along the one before it. */
static void
copy_whole_rows (const struct plan *plan, const struct rd_copy *copy)
{
  size_t axis = plan->rank - 1, nouter = axis > 0 ? 2 : 1;
  size_t nbytes = plan->shape[axis] * plan->from_type.item_nbytes;
  size_t nrows = axis > 0 ? plan->shape[axis - 1] : 1;
  int64_t from_step = axis > 0 ? plan->from_strides[axis - 1] : 0;
  int64_t to_step = axis > 0 ? plan->to_strides[axis - 1] : 0;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  rd_rows_expect (copy->to, to_step, nbytes, nrows);
  for (bool more = true; more;) {
    const unsigned char *from_rows = copy->from + from;
    unsigned char *to_rows = copy->to + to;
    more = next_rows (plan, nouter, at, &from, &to);
    if (more)
      rd_rows_expect (copy->to + to, to_step, nbytes, nrows);
    rd_rows_copy (from_rows, from_step, to_rows, to_step, nbytes, nrows);
  }
}

/* Whether it is all one element, as a fill value is, in rows that are
 * contiguous where they go. */
static bool
repeats_element (const struct plan *plan)
{
  size_t item_nbytes = plan->from_type.item_nbytes;
  for (size_t i = 0; i < plan->rank; i++)
    if (plan->from_strides[i] != 0)
      return false;
  return item_nbytes <= REPEATED_NBYTES
    && plan->to_strides[plan->rank - 1] == (int64_t) item_nbytes;
}

/* Rows that are longer than what was made of them, which is n elements. */
static void
repeat_long_rows (const struct plan *plan, const struct rd_copy *copy,
                  uint64_t n)
{
  size_t axis = plan->rank - 1, item_nbytes = plan->from_type.item_nbytes;
  size_t piece_nbytes = (size_t) n * item_nbytes;
  uint64_t npieces = plan->shape[axis] / n;
  size_t rest_nbytes = (size_t) (plan->shape[axis] % n) * item_nbytes;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do {
    unsigned char *row = copy->to + to;
    rd_rows_copy (copy->from, 0, row, (int64_t) piece_nbytes, piece_nbytes,
                  npieces);
    rd_rows_copy (copy->from, 0, row + npieces * piece_nbytes, 0,
                  rest_nbytes, 1);
  } while (next_rows (plan, 1, at, &from, &to));
}

static void
repeat_element (const struct plan *plan, const struct rd_copy *copy)
{
  _Alignas (16) unsigned char made[REPEATED_NBYTES];
  size_t item_nbytes = plan->from_type.item_nbytes;
  uint64_t n = plan->shape[plan->rank - 1];
  uint64_t most = REPEATED_NBYTES / item_nbytes;
  struct rd_copy rows = *copy;
  rows.from = made;
  plan->move_in (copy->from, 0, made, (int64_t) item_nbytes,
                 n < most ? n : most, item_nbytes);
  if (n > most)
    repeat_long_rows (plan, &rows, most);
  else
    copy_whole_rows (plan, &rows);
}

enum radio_status
rd_copy_run (const struct rd_copy *copy)
{
  struct plan plan;
  plan_types (&plan, copy);
  if (!plan_axes (&plan, copy))
    return RADIO_OK;
  int64_t item = (int64_t) plan.from_type.item_nbytes;
  size_t axis = plan.rank - 1;
  if (!plan.convert && repeats_element (&plan)) {
    repeat_element (&plan, copy);
    return RADIO_OK;
  }
  if (!plan.convert && !plan.swapped && plan.from_strides[axis] == item
      && plan.to_strides[axis] == item) {
    copy_whole_rows (&plan, copy);
    return RADIO_OK;
  }
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do
    RD_TRY (copy_row (&plan, copy, copy->from + from, copy->to + to));
  while (next_rows (&plan, 1, at, &from, &to));
  return RADIO_OK;
}
