/* SPDX-License-Identifier: MIT */
/* Boxes and regular grids.  A box that was checked against a shape lies
 * below 2^63 on each axis, but nothing here relies on it: sums and products
 * that would overflow saturate or fail. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/element/box.h"

uint64_t
radio_box_count (const struct radio_box *box)
{
  uint64_t count = 1;
  bool wraps = false;
  if (box == NULL)
    return 0;

  for (size_t i = 0; i < box->rank; i++) {
    if (box->size[i] == 0)
      return 0;
    wraps |= rd_mul_overflows (count, box->size[i], &count);
  }
  return wraps ? UINT64_MAX : count;
}

struct radio_box
rd_box_whole (size_t rank, const uint64_t *shape)
{
  struct radio_box box = { .rank = rank };

  memcpy (box.size, shape, rank * sizeof shape[0]);
  return box;
}

bool
rd_box_fits (const struct radio_box *box, size_t rank, const uint64_t *shape)
{
  if (box->rank != rank || rank == 0 || rank > RADIO_MAX_RANK)
    return false;
  for (size_t i = 0; i < rank; i++)
    if (box->start[i] > shape[i] || box->size[i] > shape[i] - box->start[i])
      return false;
  return true;
}

/* Returns the end of a box on an axis, saturated: a cell at the far edge of a
 * huge grid may reach past 2^64. */
static uint64_t
box_end (const struct radio_box *box, size_t axis)
{
  uint64_t end;

  if (rd_add_overflows (box->start[axis], box->size[axis], &end))
    return UINT64_MAX;
  return end;
}

bool
rd_box_intersect (const struct radio_box *a, const struct radio_box *b,
                  struct radio_box *result)
{
  struct radio_box shared = { .rank = a->rank };

  for (size_t i = 0; i < a->rank; i++) {
    uint64_t start = rd_max_u64 (a->start[i], b->start[i]);
    uint64_t end = rd_min_u64 (box_end (a, i), box_end (b, i));
    if (start >= end)
      return false;
    shared.start[i] = start;
    shared.size[i] = end - start;
  }
  *result = shared;
  return true;
}

struct radio_box
rd_grid_cell (size_t rank, const uint64_t *cell_shape, const uint64_t *index)
{
  struct radio_box cell = { .rank = rank };

  for (size_t i = 0; i < rank; i++) {
    if (rd_mul_overflows (index[i], cell_shape[i], &cell.start[i]))
      cell.start[i] = UINT64_MAX;
    cell.size[i] = cell_shape[i];
  }
  return cell;
}

void
rd_grid_touched (const struct radio_box *box, const uint64_t *cell_shape,
                 struct radio_box *cells)
{
  struct radio_box touched = { .rank = box->rank };

  for (size_t i = 0; i < box->rank; i++) {
    uint64_t first = box->start[i] / cell_shape[i];
    uint64_t last = (box_end (box, i) - 1) / cell_shape[i];
    touched.start[i] = first;
    touched.size[i] = last - first + 1;
  }
  *cells = touched;
}

void
rd_box_unravel (const struct radio_box *box, uint64_t i,
                uint64_t *coordinates)
{
  for (size_t axis = box->rank; axis-- > 0;) {
    coordinates[axis] = box->start[axis] + i % box->size[axis];
    i /= box->size[axis];
  }
}

bool
rd_box_next (const struct radio_box *box, uint64_t *coordinates)
{
  for (size_t axis = box->rank; axis-- > 0;) {
    if (++coordinates[axis] - box->start[axis] < box->size[axis])
      return true;
    coordinates[axis] = box->start[axis];
  }
  return false;
}

bool
rd_c_strides (size_t rank, const uint64_t *shape, size_t item_nbytes,
              int64_t *strides)
{
  struct radio_box whole = rd_box_whole (rank, shape);
  uint64_t nbytes = item_nbytes;

  /* Nothing is addressed in an empty array, however long its other axes. */
  if (radio_box_count (&whole) == 0) {
    memset (strides, 0, rank * sizeof strides[0]);
    return true;
  }
  for (size_t axis = rank; axis-- > 0;) {
    strides[axis] = (int64_t) nbytes;
    if (rd_mul_overflows (nbytes, shape[axis], &nbytes)
        || nbytes > INT64_MAX)
      return false;
  }
  return true;
}

bool
rd_given_strides (const int64_t *given, size_t rank, const uint64_t *shape,
                  size_t item_nbytes, int64_t *strides)
{
  if (!given)
    return rd_c_strides (rank, shape, item_nbytes, strides);
  memcpy (strides, given, rank * sizeof *strides);
  return true;
}

uint64_t
rd_strided_span (const void *element, size_t rank, const uint64_t *shape,
                 const int64_t *strides, size_t item_nbytes, uintptr_t *begin)
{
  uint64_t span = item_nbytes;
  *begin = (uintptr_t) element;
  for (size_t i = 0; i < rank; i++) {
    uint64_t length = rd_mul_sat (shape[i] - 1, rd_abs_i64 (strides[i]));
    span = rd_add_sat (span, length);
    if (strides[i] < 0)
      *begin -= (uintptr_t) length;
  }
  return span;
}

/* Recording a small read prints several of these, and snprintf would be much
 * of its cost. */
const char *
rd_shape_text (size_t rank, const uint64_t *shape, char text[RD_SHAPE_NBYTES])
{
  size_t used = 0;
  for (size_t i = 0; i < rank && i < RADIO_MAX_RANK; i++) {
    size_t ndigits = 1;
    if (i > 0)
      text[used++] = ',';
    for (uint64_t rest = shape[i] / 10; rest > 0; rest /= 10)
      ndigits++;
    uint64_t number = shape[i];
    for (size_t k = ndigits; k > 0; number /= 10)
      text[used + --k] = (char) ('0' + number % 10);
    used += ndigits;
  }
  text[used] = '\0';
  return text;
}
