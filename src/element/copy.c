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

#include "src/base/error.h"
#include "src/element/convert.h"
#include "src/element/copy.h"

/* Rows are copied by their length: copies of a constant size become a few
 * moves, and a length between two of those is two copies that overlap. */


/* Longer rows are left to memcpy. */
#define SHORT_ROW 256

#define CACHE_LINE 64
#define NEAR_NBYTES 256

#define EACH_ROW(...)                           \
  do {                                          \
    for (size_t row = 0; row < nrows; row++) {  \
      __VA_ARGS__;                              \
      from += from_step;                        \
      to += to_step;                            \
    }                                           \
  } while (0)

/* The first `size' bytes of a row and the last, which may overlap. */
#define COPY_ENDS(size)                                                \
  do {                                                                  \
    memcpy (to, from, (size));                                          \
    memcpy (to + nbytes - (size), from + nbytes - (size), (size));      \
  } while (0)

/* Less than 16 bytes; of single elements there are many.  A function of its
 * own, since GCC would divide a longer one at a place that costs a call for
 * each tile. */
static void
copy_short (const unsigned char *from, int64_t from_step, unsigned char *to,
            int64_t to_step, size_t nbytes, size_t nrows)
{
  if (nbytes == 2)
    EACH_ROW (memcpy (to, from, 2));
  else if (nbytes == 4)
    EACH_ROW (memcpy (to, from, 4));
  else if (nbytes == 8)
    EACH_ROW (memcpy (to, from, 8));
  else if (nbytes > 8)
    EACH_ROW (COPY_ENDS (8));
  else if (nbytes > 4)
    EACH_ROW (COPY_ENDS (4));
  else if (nbytes > 2)
    EACH_ROW (COPY_ENDS (2));
  else if (nbytes == 1)
    EACH_ROW (*to = *from);
}

void
rd_rows_copy (const unsigned char *from, int64_t from_step,
              unsigned char *to, int64_t to_step, size_t nbytes,
              size_t nrows)
{
  if (nbytes > SHORT_ROW)
    EACH_ROW (memcpy (to, from, nbytes));
  else if (nbytes == 32)
    EACH_ROW (memcpy (to, from, 32));
  else if (nbytes == 64)
    EACH_ROW (memcpy (to, from, 64));
  else if (nbytes == 128)
    EACH_ROW (memcpy (to, from, 128));
  else if (nbytes >= 16)
    EACH_ROW (
      for (size_t i = 0; i + 16 < nbytes; i += 16)
        memcpy (to + i, from + i, 16);
      memcpy (to + nbytes - 16, from + nbytes - 16, 16));
  else
    copy_short (from, from_step, to, to_step, nbytes, nrows);
}

/* Prefetches the cache lines of each row by their last bytes: a line in which
 * the row only ends counts, and one in which it only begins has just been
 * written with the tile before.  Many rows lie in few sets of the cache when
 * their distance is a power of two, so each extra line would evict one that
 * is needed. */
void
rd_rows_prefetch (const unsigned char *to, int64_t to_step, size_t nbytes,
                  size_t nrows)
{
  if (nbytes == 0 || nbytes > SHORT_ROW)
    return;
  /* The hardware prefetches rows that are close to each other. */
  if (to_step > -NEAR_NBYTES && to_step < NEAR_NBYTES)
    return;
  for (size_t row = 0; row < nrows; row++, to += to_step) {
    for (size_t i = CACHE_LINE; i < nbytes; i += CACHE_LINE)
      __builtin_prefetch (to + i - 1, 1);
    __builtin_prefetch (to + nbytes - 1, 1);
  }
}

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

/* Moves contiguous elements into the opposite order, a word at a time; in
 * either byte order, since a word's parts are exchanged with each other. */
#define DEFINE_REVERSE(name, type, reverse)                             \
  static void                                                           \
  name (const unsigned char *from, int64_t from_stride,                 \
        unsigned char *to, int64_t to_stride, uint64_t n,               \
        size_t item_nbytes)                                             \
  {                                                                     \
    const int64_t size = sizeof (type), each = 8 / size;                \
    int64_t end = (int64_t) n;                                          \
    int64_t i = 0;                                                      \
    (void) item_nbytes;                                                 \
    (void) from_stride;                                                 \
    (void) to_stride;                                                   \
    for (; i + each <= end; i += each)                                  \
      MOVE_ONE (uint64_t, reverse, i * size, -(i + each - 1) * size);   \
    for (; i < end; i++)                                                \
      MOVE_ONE (type, AS_IT_IS, i * size, -i * size);                   \
  }

#define ODD_PARTS UINT64_C (0x0000ffff0000ffff)

static inline uint64_t
reverse_parts_32 (uint64_t word)
{
  return word >> 32 | word << 32;
}

static inline uint64_t
reverse_parts_16 (uint64_t word)
{
  word = reverse_parts_32 (word);
  return (word >> 16 & ODD_PARTS) | (word & ODD_PARTS) << 16;
}

DEFINE_REVERSE (reverse_8, uint8_t, bswap_64)
DEFINE_REVERSE (reverse_16, uint16_t, reverse_parts_16)
DEFINE_REVERSE (reverse_32, uint32_t, reverse_parts_32)

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

/* Finds a faster move for rows that are contiguous on both sides, but in
 * opposite orders. */
static move_fn *
find_reverse (const struct rd_type *type, bool swapped, int64_t from_stride,
              int64_t to_stride)
{
  int64_t nbytes = (int64_t) type->item_nbytes;
  if ((swapped && type->unit_nbytes > 1) || from_stride != nbytes
      || to_stride != -nbytes)
    return NULL;
  return nbytes == 1 ? reverse_8 : nbytes == 2 ? reverse_16
         : nbytes == 4 ? reverse_32 : NULL;
}

/* Elements converted at a time. */
#define BLOCK 256

/* The same of short rows. */
#define MANY 1024

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

static uint64_t
magnitude (int64_t stride)
{
  return stride < 0 ? -(uint64_t) stride : (uint64_t) stride;
}

/* Inserts an axis into the plan, whose axes are in descending order of the
 * destination's strides. */
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
  if (copy->map)
    return copy->map (copy->map_data, from, to, n);
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

/* Copies rows along the last axis, many at a time along the one before it. */
static void
copy_whole_rows (const struct plan *plan, const struct rd_box_copy *copy)
{
  size_t axis = plan->rank - 1, nouter = axis > 0 ? 2 : 1;
  size_t nbytes = plan->shape[axis] * plan->from_type.item_nbytes;
  size_t nrows = axis > 0 ? plan->shape[axis - 1] : 1;
  int64_t from_step = axis > 0 ? plan->from_strides[axis - 1] : 0;
  int64_t to_step = axis > 0 ? plan->to_strides[axis - 1] : 0;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  rd_rows_prefetch (copy->to, to_step, nbytes, nrows);
  for (bool more = true; more;) {
    const unsigned char *from_rows = copy->from + from;
    unsigned char *to_rows = copy->to + to;
    more = next_rows (plan, nouter, at, &from, &to);
    if (more)
      rd_rows_prefetch (copy->to + to, to_step, nbytes, nrows);
    rd_rows_copy (from_rows, from_step, to_rows, to_step, nbytes, nrows);
  }
}

/* True if rows are short, and follow each other without a gap in the source, as
 * those of a tile do: then many are converted at once. */
static bool
has_short_rows (const struct plan *plan)
{
  size_t axis = plan->rank - 1;
  int64_t from_item = (int64_t) plan->from_type.item_nbytes;
  return plan->rank > 1 && !plan->swapped
         && plan->to_type.item_nbytes <= sizeof (double)
         && plan->from_strides[axis] == from_item
         && plan->shape[axis] <= MANY / 2
         && plan->from_strides[axis - 1]
            == from_item * (int64_t) plan->shape[axis];
}

/* Moves n rows of `count' elements each from where they follow each other to
 * where the rows of a plan lie. */
static void
spread_rows (const struct plan *plan, const unsigned char *from,
             unsigned char *to, size_t count, size_t n)
{
  size_t axis = plan->rank - 1, item_nbytes = plan->to_type.item_nbytes;
  size_t nbytes = count * item_nbytes;
  int64_t step = plan->to_strides[axis - 1], stride = plan->to_strides[axis];
  if (stride == (int64_t) item_nbytes) {
    rd_rows_copy (from, (int64_t) nbytes, to, step, nbytes, n);
    return;
  }
  for (; n > 0; n--, from += nbytes, to += step)
    plan->move_out (from, (int64_t) item_nbytes, to, stride, count, 0);
}

/* Converts such rows: into a buffer, from which they are moved. */
static enum radio_status
convert_short_rows (const struct plan *plan, const struct rd_box_copy *copy)
{
  _Alignas (16) unsigned char buffer[MANY * sizeof (double)];
  size_t axis = plan->rank - 1, count = (size_t) plan->shape[axis];
  size_t from_item = plan->from_type.item_nbytes;
  size_t to_item = plan->to_type.item_nbytes;
  uint64_t nrows = plan->shape[axis - 1], most = MANY / count;
  int64_t to_step = plan->to_strides[axis - 1];
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do
    for (uint64_t row = 0; row < nrows; row += most) {
      size_t n = nrows - row < most ? (size_t) (nrows - row) : (size_t) most;
      const unsigned char *source
        = copy->from + from + row * count * from_item;
      for (size_t i = 0; i < n * count; i += BLOCK) {
        size_t left = n * count - i;
        RD_TRY (convert_block (plan, copy, source + i * from_item,
                               buffer + i * to_item,
                               left < BLOCK ? left : BLOCK));
      }
      spread_rows (plan, buffer, copy->to + to + step_over (to_step, row),
                   count, n);
    }
  while (next_rows (plan, 2, at, &from, &to));
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
    copy_whole_rows (plan, &rows);
    return true;
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

  size_t axis = plan.rank - 1, item_nbytes = plan.from_type.item_nbytes;
  bool by_rows = plan.convert || copy->map;
  if (!by_rows && repeat_element (&plan, copy))
    return RADIO_OK;
  if (!by_rows && !plan.swapped
      && plan.from_strides[axis] == (int64_t) item_nbytes
      && plan.to_strides[axis] == (int64_t) item_nbytes) {
    copy_whole_rows (&plan, copy);
    return RADIO_OK;
  }
  move_fn *reverse = by_rows
    ? find_reverse (&plan.to_type, false, (int64_t) plan.to_type.item_nbytes,
                    plan.to_strides[axis])
    : find_reverse (&plan.from_type, plan.swapped, plan.from_strides[axis],
                    plan.to_strides[axis]);
  if (reverse && by_rows)
    plan.move_out = reverse;
  else if (reverse)
    plan.move_in = reverse;
  if (by_rows && has_short_rows (&plan))
    return convert_short_rows (&plan, copy);
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  int64_t from = 0, to = 0;
  do
    if (by_rows)
      RD_TRY (convert_row (&plan, copy, copy->from + from, copy->to + to));
    else
      plan.move_in (copy->from + from, plan.from_strides[axis],
                    copy->to + to, plan.to_strides[axis], plan.shape[axis],
                    item_nbytes);
  while (next_rows (&plan, 1, at, &from, &to));
  return RADIO_OK;
}
