/* SPDX-License-Identifier: MIT */
/* Copying boxes of elements.  The axes are first sorted by the destination's
 * strides, and axes that are contiguous on both sides are joined, so that the
 * loops below see few axes and long rows.  Rows are then copied whole, moved
 * by strides, or converted in blocks that stay in the cache.  One element
 * that is repeated becomes a row, which is copied. */
#include <config.h>

#include <byteswap.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/element/convert.h"
#include "src/element/copy.h"

/* Moves n elements with any strides (in bytes), as they are or with the bytes
 * of their units reversed.  The sides must not overlap.  item_nbytes is only
 * used for RAW types.  Each size has a function of its own, whose fixed-size
 * copies become single loads and stores, with a loop for contiguous rows. */
typedef void move_fn (const unsigned char *from, int64_t from_stride,
                      unsigned char *to, int64_t to_stride, uint64_t n,
                      size_t item_nbytes);

struct pair32 { uint32_t part[2]; };
struct pair64 { uint64_t part[2]; };

static inline struct pair32
reverse_pair32 (struct pair32 value)
{
  struct pair32 result = { { bswap_32 (value.part[0]),
                             bswap_32 (value.part[1]) } };
  return result;
}

static inline struct pair64
reverse_pair64 (struct pair64 value)
{
  struct pair64 result = { { bswap_64 (value.part[0]),
                             bswap_64 (value.part[1]) } };
  return result;
}

#define MOVE_ONE(type, change, from_offset, to_offset)          \
  do {                                                          \
    type value_;                                                \
    memcpy (&value_, from + (from_offset), sizeof value_);      \
    value_ = change (value_);                                   \
    memcpy (to + (to_offset), &value_, sizeof value_);          \
  } while (0)

/* Strips of a constant length are vectorized also at -O2. */
#define STRIP 16

#define DEFINE_MOVE(name, type, change)                                 \
  static void                                                           \
  name (const unsigned char *restrict from, int64_t from_stride,        \
        unsigned char *restrict to, int64_t to_stride, uint64_t n,      \
        size_t item_nbytes)                                             \
  {                                                                     \
    const int64_t size = sizeof (type);                                 \
    int64_t end = (int64_t) n;                                          \
    int64_t i = 0;                                                      \
    (void) item_nbytes;                                                 \
    if (from_stride == size && to_stride == size)                       \
      for (; i + STRIP <= end; i += STRIP)                              \
        for (int64_t j = i; j < i + STRIP; j++)                         \
          MOVE_ONE (type, change, j * size, j * size);                  \
    for (; i < end; i++)                                                \
      MOVE_ONE (type, change, i * from_stride, i * to_stride);          \
  }

#define AS_IT_IS(value) (value)

DEFINE_MOVE (move_8, uint8_t, AS_IT_IS)
DEFINE_MOVE (move_16, uint16_t, AS_IT_IS)
DEFINE_MOVE (move_32, uint32_t, AS_IT_IS)
DEFINE_MOVE (move_64, uint64_t, AS_IT_IS)
DEFINE_MOVE (move_pair64, struct pair64, AS_IT_IS)
DEFINE_MOVE (swap_16, uint16_t, bswap_16)
DEFINE_MOVE (swap_32, uint32_t, bswap_32)
DEFINE_MOVE (swap_64, uint64_t, bswap_64)
DEFINE_MOVE (swap_pair32, struct pair32, reverse_pair32)
DEFINE_MOVE (swap_pair64, struct pair64, reverse_pair64)

static void
move_raw (const unsigned char *from, int64_t from_stride,
          unsigned char *to, int64_t to_stride, uint64_t n,
          size_t item_nbytes)
{
  for (int64_t i = 0; i < (int64_t) n; i++)
    memcpy (to + i * to_stride, from + i * from_stride, item_nbytes);
}

static move_fn *
find_move (const struct rd_type *type, bool swapped)
{
  bool is_pair = type->item_nbytes == 2 * type->unit_nbytes;
  if (swapped && type->unit_nbytes > 1)
    switch (type->unit_nbytes) {
    case 2: return swap_16;
    case 4: return is_pair ? swap_pair32 : swap_32;
    default: return is_pair ? swap_pair64 : swap_64;
    }
  switch (type->item_nbytes) {
  case 1: return move_8;
  case 2: return move_16;
  case 4: return move_32;
  case 8: return move_64;
  case 16: return move_pair64;
  default: return move_raw;
  }
}

/* Elements converted at a time. */
#define BLOCK 256

/* Bytes of rows that go by way of a buffer, and elements of each of them where
 * rows become columns. */
#define BUFFER_NBYTES 8192
#define MOST_COLUMNS 32

/* Rows of this length are written past the caches at any alignment, if this
 * many are adjacent. */
#define LONG_ROW_NBYTES 512
#define NEIGHBOURS 8

/* Without neighbours those of up to this many bytes: longer ones are as fast by
 * memcpy, which has an instruction of the processor for them. */
#define APART_ROW_NBYTES 8192

/* Rows at a multiple of this distance become columns by way of copies of this
 * many bytes of each: their lines map to a few sets of the caches, where they
 * would evict each other before all of their elements were moved.  The lines of
 * the next rows are prefetched. */
#define FAR_NBYTES 2048
#define COLLECTED_NBYTES 1024
#define COLLECTED_AHEAD 4

/* Size of the buffer that repeats one element. */
#define REPEATED_NBYTES 1024

/* A copy as the loops need it. */
struct plan {
  size_t rank;                              /* at least 1 */
  uint64_t shape[RADIO_MAX_RANK];
  int64_t from_strides[RADIO_MAX_RANK];
  int64_t to_strides[RADIO_MAX_RANK];
  struct rd_type from_type, to_type;
  enum radio_dtype from_part, to_part;      /* of complex types: a half */
  move_fn *move_in, *move_out;
  rd_convert_fn *convert;                   /* NULL: the types are equal */
  bool swapped;
};

enum radio_status
rd_box_copy_check (const struct rd_type *from, enum radio_dtype to,
                   bool scaled)
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

/* Inserts an axis into the plan, whose axes are in descending order of the
 * destination's strides. */
static void
add_axis (struct plan *plan, uint64_t size, int64_t from_stride,
          int64_t to_stride)
{
  size_t i = plan->rank++;
  while (i > 0
         && rd_abs_i64 (plan->to_strides[i - 1]) < rd_abs_i64 (to_stride)) {
    plan->shape[i] = plan->shape[i - 1];
    plan->from_strides[i] = plan->from_strides[i - 1];
    plan->to_strides[i] = plan->to_strides[i - 1];
    i--;
  }
  plan->shape[i] = size;
  plan->from_strides[i] = from_stride;
  plan->to_strides[i] = to_stride;
}

/* Returns stride * size modulo 2^64: strides that are used never wrap, and
 * those of axes of length 1 may be anything. */
static int64_t
step_over (int64_t stride, uint64_t size)
{
  return (int64_t) ((uint64_t) stride * size);
}

/* Returns false when there is nothing to copy. */
static bool
plan_axes (struct plan *plan, const struct rd_box_copy *copy)
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

  /* Join each axis to the one before it where a step of that one is the
   * whole length of this one, on both sides. */
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

/* Reports the first of n contiguous values that does not fit. */
static enum radio_status
fail_range (const struct plan *plan, const unsigned char *from, size_t n)
{
  unsigned char result[RD_ITEM_MAX_NBYTES];
  char text[64];
  while (n-- > 1 && !plan->convert (from, result, 1))
    from += plan->from_type.item_nbytes;
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
    /* With a decimal point in every locale, whose own may have several
     * bytes. */
    char raw[sizeof text];
    snprintf (raw, sizeof raw, "%.17g", value);
    char *p = text;
    for (const char *q = raw; *q; q++) {
      bool plain = strchr ("0123456789+-eainf", *q) != NULL;
      if (plain || p == text || p[-1] != '.')
        *p++ = plain ? *q : '.';
    }
    *p = '\0';
  }
  return rd_fail (RADIO_ERROR_RANGE, "value %s does not fit into %s", text,
                  radio_dtype_name (plan->to_type.dtype));
}

/* Converts or computes up to BLOCK elements that are contiguous on both
 * sides. */
static enum radio_status
convert_block (const struct plan *plan, const struct rd_box_copy *copy,
               const unsigned char *from, unsigned char *to, size_t n)
{
  double values[BLOCK];
  size_t item_nparts = plan->from_type.item_nbytes
    / radio_dtype_nbytes (plan->from_part);
  if (copy->map) {
    const struct rd_rows row = { from, 0, to, 0, n, 1, false };
    return copy->map (copy->map_data, &row);
  }
  if (copy->scaled) {
    plan->convert (from, (unsigned char *) values, n * item_nparts);
    rd_convert_scale (values, plan->to_type.dtype, to, n, copy->slope,
                      copy->inter);
  } else if (plan->convert (from, to, n * item_nparts))
    return fail_range (plan, from, n);
  return RADIO_OK;
}

/* Converts one row in blocks of up to BLOCK elements, by way of contiguous
 * buffers where the memory is not contiguous. */
static enum radio_status
convert_row (const struct plan *plan, const struct rd_box_copy *copy,
             const unsigned char *from, unsigned char *to)
{
  _Alignas (16) unsigned char buffer_in[BLOCK * RD_ITEM_MAX_NBYTES];
  _Alignas (16) unsigned char buffer_out[BLOCK * RD_ITEM_MAX_NBYTES];
  size_t axis = plan->rank - 1;
  int64_t from_item = (int64_t) plan->from_type.item_nbytes;
  int64_t to_item = (int64_t) plan->to_type.item_nbytes;
  int64_t from_stride = plan->from_strides[axis];
  int64_t to_stride = plan->to_strides[axis];
  for (uint64_t i = 0; i < plan->shape[axis]; i += BLOCK) {
    uint64_t left = plan->shape[axis] - i;
    size_t n = left < BLOCK ? (size_t) left : BLOCK;
    const unsigned char *source = from + step_over (from_stride, i);
    unsigned char *result = to + step_over (to_stride, i);
    unsigned char *target = to_stride != to_item ? buffer_out : result;
    if (plan->swapped || from_stride != from_item) {
      plan->move_in (source, from_stride, buffer_in, from_item, n, 0);
      source = buffer_in;
    }
    RD_TRY (convert_block (plan, copy, source, target, n));
    if (target != result)
      plan->move_out (buffer_out, to_item, result, to_stride, n, 0);
  }
  return RADIO_OK;
}

/* Steps along all axes but the last n; returns false after the last step. */
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

/* Converts or computes rows into contiguous rows.  Short ones that follow each
 * other without a gap in the source, as those of a tile do, are converted
 * together, into a buffer from which they are copied. */
static enum radio_status
convert_rows (const struct plan *plan, const struct rd_box_copy *copy,
              const struct rd_rows *rows)
{
  _Alignas (16) unsigned char buffer[BLOCK * RD_ITEM_MAX_NBYTES];
  size_t from_item = plan->from_type.item_nbytes;
  size_t to_item = plan->to_type.item_nbytes;
  size_t n = rows->n, most = BLOCK / n;
  if (copy->map)
    return copy->map (copy->map_data, rows);
  if (rows->from_step != (int64_t) (n * from_item) || most < 2)
    most = 1;
  for (size_t row = 0; row < rows->nrows; row += most) {
    const unsigned char *from = rows->from + (int64_t) row * rows->from_step;
    unsigned char *to = rows->to + (int64_t) row * rows->to_step;
    size_t left = rows->nrows - row, taken = left < most ? left : most;
    if (taken > 1) {
      RD_TRY (convert_block (plan, copy, from, buffer, taken * n));
      rd_rows_copy (buffer, (int64_t) (n * to_item), to, rows->to_step,
                    n * to_item, taken);
    } else
      for (size_t i = 0; i < n; i += BLOCK)
        RD_TRY (convert_block (plan, copy, from + i * from_item,
                               to + i * to_item,
                               n - i < BLOCK ? n - i : BLOCK));
  }
  return RADIO_OK;
}

/* Converts or computes rows into a buffer, from which they are placed. */
static enum radio_status
convert_and_place (const struct plan *plan, const struct rd_box_copy *copy,
                   const struct rd_rows *rows, int64_t to_stride)
{
  _Alignas (64) unsigned char buffer[BUFFER_NBYTES];
  size_t from_item = plan->from_type.item_nbytes;
  size_t to_item = plan->to_type.item_nbytes;
  /* Wide enough for whole cache lines where rows become columns. */
  bool is_reversed = to_stride == -(int64_t) to_item;
  size_t room = BUFFER_NBYTES / to_item;
  size_t longest = is_reversed ? room : MOST_COLUMNS;
  size_t n = rows->n < longest ? rows->n : longest, most = room / n;
  for (size_t row = 0; row < rows->nrows; row += most)
    for (size_t i = 0; i < rows->n; i += n) {
      size_t left = rows->nrows - row;
      struct rd_rows part = {
        .from = rows->from + (int64_t) row * rows->from_step
                + (int64_t) (i * from_item),
        .from_step = rows->from_step,
        .to = buffer,
        .n = rows->n - i < n ? rows->n - i : n,
        .nrows = left < most ? left : most,
      };
      part.to_step = (int64_t) (part.n * to_item);
      RD_TRY (convert_rows (plan, copy, &part));
      part.from = buffer;
      part.from_step = part.to_step;
      part.to = rows->to + (int64_t) row * rows->to_step
                + (int64_t) i * to_stride;
      part.to_step = rows->to_step;
      part.streams = rows->streams;
      rd_rows_place (&part, to_item, to_stride);
    }
  return RADIO_OK;
}

/* Makes the axis along which the source is contiguous the last one, and the one
 * along which the destination is contiguous, if different, the one before it.
 * False without such an axis, or if elements are to be swapped. */
static bool
sort_rows (struct plan *plan)
{
  size_t axis = plan->rank;
  while (axis > 0 && plan->from_strides[axis - 1]
                     != (int64_t) plan->from_type.item_nbytes)
    axis--;
  if (axis == 0 || plan->swapped)
    return false;
  uint64_t size = plan->shape[axis - 1];
  int64_t from_stride = plan->from_strides[axis - 1];
  int64_t to_stride = plan->to_strides[axis - 1];
  for (size_t i = axis; i < plan->rank; i++) {
    plan->shape[i - 1] = plan->shape[i];
    plan->from_strides[i - 1] = plan->from_strides[i];
    plan->to_strides[i - 1] = plan->to_strides[i];
  }
  plan->shape[plan->rank - 1] = size;
  plan->from_strides[plan->rank - 1] = from_stride;
  plan->to_strides[plan->rank - 1] = to_stride;
  return true;
}

/* True if all that is written by rows is whole lines of the cache. */
static bool
writes_lines (const struct plan *plan, const unsigned char *to)
{
  uint64_t nbytes = plan->to_type.item_nbytes, n = 0, misfits = 0;
  for (size_t i = 0; i < plan->rank; i++)
    if (rd_abs_i64 (plan->to_strides[i]) == nbytes) {
      misfits |= plan->shape[i] * nbytes;
      to += plan->to_strides[i] < 0 ? nbytes : 0;
      n++;
    } else
      misfits |= (uint64_t) plan->to_strides[i];
  misfits |= (uintptr_t) to;
  return n == 1 && misfits % RD_LINE_NBYTES == 0;
}

/* True if rows become columns of some lines. */
static bool
makes_columns (const struct plan *plan)
{
  size_t axis = plan->rank - 1;
  uint64_t nbytes = plan->to_type.item_nbytes;
  return axis > 0 && rd_abs_i64 (plan->to_strides[axis - 1]) == nbytes
         && rd_abs_i64 (plan->to_strides[axis]) != nbytes
         && plan->shape[axis - 1] * nbytes >= 2 * RD_LINE_NBYTES;
}

/* True if rows are so long that the lines of which they hold a part do not
 * matter beside the others, and either next to each other, so that these lines
 * stay in the caches until the next row, or whole vectors of 16 bytes, so that
 * no line is read.  Reversed ones are both. */
static bool
scatters_long_rows (const struct plan *plan, const struct rd_box_copy *copy,
                    bool by_rows)
{
  size_t axis = plan->rank - 1;
  uint64_t nbytes = plan->to_type.item_nbytes;
  uint64_t row_nbytes = plan->shape[axis] * nbytes;
  uint64_t misfits = row_nbytes;
  if (axis == 0 || row_nbytes < LONG_ROW_NBYTES
      || rd_abs_i64 (plan->to_strides[axis]) != nbytes)
    return false;
  for (size_t i = 0; i < axis; i++)
    misfits |= (uint64_t) plan->to_strides[i];
  bool are_near = rd_abs_i64 (plan->to_strides[axis - 1]) == row_nbytes
                  && plan->shape[axis - 1] >= NEIGHBOURS;
  if (plan->to_strides[axis] < 0)
    return are_near && (misfits | ((uintptr_t) copy->to + nbytes)) % 16 == 0;
  return !by_rows
         && (are_near || (row_nbytes <= APART_ROW_NBYTES
                          && (misfits | (uintptr_t) copy->to) % 16 == 0));
}

/* How rows are collected: how many at a time, of how many bytes, and the
 * distance of their copies, an odd number of lines. */
struct collecting {
  size_t nrows, nbytes, step;
};

static struct collecting
plan_collecting (const struct plan *plan)
{
  size_t item_nbytes = plan->to_type.item_nbytes;
  uint64_t row_nbytes = plan->shape[plan->rank - 1] * item_nbytes;
  struct collecting collecting = {
    .nrows = RD_COLUMN_NBYTES / item_nbytes,
    .nbytes = (size_t) rd_min_u64 (row_nbytes, COLLECTED_NBYTES
                                               / item_nbytes * item_nbytes),
  };
  collecting.step = (rd_div_up (collecting.nbytes, RD_LINE_NBYTES) | 1)
                    * RD_LINE_NBYTES;
  return collecting;
}

/* Returns the memory for copies, of which those before a line are more; NULL
 * also if they are not needed. */
static unsigned char *
reserve_copies (const struct plan *plan, const struct rd_rows *rows)
{
  size_t item_nbytes = plan->to_type.item_nbytes;
  if (!makes_columns (plan) || rows->from_step % FAR_NBYTES != 0
      || item_nbytes > RD_LINE_NBYTES)
    return NULL;
  const struct collecting collecting = plan_collecting (plan);
  return rd_malloc ((collecting.nrows + RD_LINE_NBYTES / item_nbytes)
                    * collecting.step);
}

/* Makes columns of copies of rows. */
static void
place_copies (const struct plan *plan, const struct rd_rows *rows,
              int64_t to_stride, unsigned char *copies)
{
  const struct collecting collecting = plan_collecting (plan);
  size_t item_nbytes = plan->to_type.item_nbytes;
  size_t lead = (size_t) rd_line_lead (rows->to, rows->to_step);
  for (size_t row = 0, taken; row < rows->nrows; row += taken) {
    taken = collecting.nrows + (row == 0 ? lead : 0);
    if (taken > rows->nrows - row)
      taken = rows->nrows - row;
    for (size_t i = 0; i < rows->n; i += collecting.nbytes / item_nbytes) {
      struct rd_rows part = {
        .from = copies, .from_step = (int64_t) collecting.step,
        .to = rows->to + (int64_t) row * rows->to_step
              + (int64_t) i * to_stride,
        .to_step = rows->to_step,
        .n = collecting.nbytes / item_nbytes, .nrows = taken,
        .streams = rows->streams,
      };
      if (part.n > rows->n - i)
        part.n = rows->n - i;
      const unsigned char *from = rows->from + (int64_t) row * rows->from_step
                                  + i * item_nbytes;
      for (size_t k = 0; k < taken; k++) {
        const char *ahead = (const char *) (
          (uintptr_t) from + (uint64_t) rows->from_step * COLLECTED_AHEAD);
        for (size_t at = 0; at < collecting.nbytes; at += RD_LINE_NBYTES)
          __builtin_prefetch (ahead + at);
        memcpy (copies + k * collecting.step, from, part.n * item_nbytes);
        from += rows->from_step;
      }
      rd_rows_place (&part, item_nbytes, to_stride);
    }
  }
}

/* Copies, converts or computes the rows of the last axis, those along the one
 * before it at a time; memory for the next ones is prefetched. */
static enum radio_status
copy_rows (const struct plan *plan, const struct rd_box_copy *copy,
           bool by_rows)
{
  size_t axis = plan->rank - 1, nouter = axis > 0 ? 2 : 1;
  size_t to_item = plan->to_type.item_nbytes;
  int64_t to_stride = plan->to_strides[axis];
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  struct rd_rows rows = {
    .from = copy->from,
    .from_step = axis > 0 ? plan->from_strides[axis - 1] : 0,
    .to = copy->to,
    .to_step = axis > 0 ? plan->to_strides[axis - 1] : 0,
    .n = (size_t) plan->shape[axis],
    .nrows = axis > 0 ? (size_t) plan->shape[axis - 1] : 1,
    .streams = copy->is_large && copy->from != copy->to
               && (makes_columns (plan) || writes_lines (plan, copy->to)
                   || scatters_long_rows (plan, copy, by_rows)),
  };
  /* Those that are computed prefetch for themselves. */
  bool prefetches = !rows.streams
                    && !(copy->map && to_stride == (int64_t) to_item);
  unsigned char *copies RD_FREE = by_rows ? NULL : reserve_copies (plan, &rows);
  if (prefetches)
    rd_rows_place_prefetch (&rows, to_item, to_stride);
  for (bool more = true; more;) {
    const struct rd_rows now = rows;
    more = next_rows (plan, nouter, at, &from, &to);
    rows.from = copy->from + from;
    rows.to = copy->to + to;
    if (more && prefetches)
      rd_rows_place_prefetch (&rows, to_item, to_stride);
    if (copies)
      place_copies (plan, &now, to_stride, copies);
    else if (!by_rows)
      rd_rows_place (&now, to_item, to_stride);
    else if (to_stride == (int64_t) to_item)
      RD_TRY (convert_rows (plan, copy, &now));
    else
      RD_TRY (convert_and_place (plan, copy, &now, to_stride));
  }
  if (rows.streams)
    rd_rows_fence ();
  return RADIO_OK;
}

/* If all is one element, as a fill value is, in rows that are contiguous in
 * the destination: makes a row of it, and copies that.  False if it is not. */
static bool
repeat_element (const struct plan *plan, const struct rd_box_copy *copy)
{
  _Alignas (16) unsigned char repeated[REPEATED_NBYTES];
  size_t item_nbytes = plan->from_type.item_nbytes;
  for (size_t i = 0; i < plan->rank; i++)
    if (plan->from_strides[i] != 0)
      return false;
  if (item_nbytes > REPEATED_NBYTES
      || plan->to_strides[plan->rank - 1] != (int64_t) item_nbytes)
    return false;

  uint64_t n = plan->shape[plan->rank - 1];
  uint64_t most = REPEATED_NBYTES / item_nbytes;
  plan->move_in (copy->from, 0, repeated, (int64_t) item_nbytes,
                 n < most ? n : most, item_nbytes);
  if (n <= most) {
    struct rd_box_copy rows = *copy;
    rows.from = repeated;
    return copy_rows (plan, &rows, false) == RADIO_OK;
  }
  size_t piece_nbytes = (size_t) most * item_nbytes;
  uint64_t npieces = n / most;
  size_t rest_nbytes = (size_t) (n % most) * item_nbytes;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do {
    unsigned char *row = copy->to + to;
    rd_rows_copy (repeated, 0, row, (int64_t) piece_nbytes, piece_nbytes,
                  npieces);
    rd_rows_copy (repeated, 0, row + npieces * piece_nbytes, 0, rest_nbytes,
                  1);
  } while (next_rows (plan, 1, at, &from, &to));
  return true;
}

enum radio_status
rd_box_copy_run (const struct rd_box_copy *copy)
{
  enum radio_dtype from_dtype = copy->from_type.dtype;
  enum radio_dtype to_dtype
    = copy->to_dtype == RADIO_STORED ? from_dtype : copy->to_dtype;
  struct plan plan;
  plan.from_type = copy->from_type;
  plan.to_type = to_dtype == from_dtype ? copy->from_type
                                        : rd_type_of (to_dtype);
  plan.from_part = part_of (from_dtype);
  plan.to_part = copy->scaled ? RADIO_FLOAT64 : part_of (to_dtype);
  plan.swapped = copy->from_swapped && plan.from_type.unit_nbytes > 1;
  plan.move_in = find_move (&plan.from_type, plan.swapped);
  plan.move_out = find_move (&plan.to_type, false);
  plan.convert = NULL;
  /* A stored bool may be any byte; the caller gets 0 or 1. */
  if (to_dtype != from_dtype || copy->scaled || to_dtype == RADIO_BOOL)
    plan.convert = rd_convert_find (plan.from_part, plan.to_part);
  if (!plan_axes (&plan, copy))
    return RADIO_OK;

  bool by_rows = plan.convert || copy->map;
  if (!by_rows && repeat_element (&plan, copy))
    return RADIO_OK;
  if (sort_rows (&plan))
    return copy_rows (&plan, copy, by_rows);
  size_t axis = plan.rank - 1;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do
    if (by_rows)
      RD_TRY (convert_row (&plan, copy, copy->from + from, copy->to + to));
    else
      plan.move_in (copy->from + from, plan.from_strides[axis],
                    copy->to + to, plan.to_strides[axis], plan.shape[axis],
                    plan.from_type.item_nbytes);
  while (next_rows (&plan, 1, at, &from, &to));
  return RADIO_OK;
}
