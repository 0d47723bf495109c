/* SPDX-License-Identifier: MIT */
/* Grids: lists of segments, made by appending parts of the list before.
 * Segments that continue each other are joined, so that a list is as short as
 * it can be. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/reserve.h"
#include "src/operation/grid.h"

enum radio_status
rd_grid_init (struct rd_grid *grid, size_t rank, const uint64_t *shape)
{
  *grid = (struct rd_grid) { .rank = rank };
  for (size_t i = 0; i < rank; i++) {
    struct rd_grid_axis *axis = &grid->axes[i];
    axis->source = i;
    axis->size = shape[i];
    axis->capacity = 1;
    axis->segments = rd_malloc (sizeof *axis->segments);
    if (!axis->segments)
      return rd_fail_memory (sizeof *axis->segments);
    axis->segments[0] = (struct rd_segment) { .n = shape[i], .step = 1 };
    axis->nsegments = shape[i] > 0;
  }
  return RADIO_OK;
}

void
rd_grid_clear (struct rd_grid *grid)
{
  for (size_t i = 0; i < grid->rank; i++)
    rd_free (grid->axes[i].segments);
  *grid = (struct rd_grid) { 0 };
}

/* The source's element at a place in a segment. */
static uint64_t
source_at (const struct rd_segment *segment, uint64_t i)
{
  return segment->step < 0 ? segment->start - i
                           : segment->start + (segment->step ? i : 0);
}

/* Extends a segment by the next one, if they are one. */
static bool
join (struct rd_segment *last, const struct rd_segment *next)
{
  if (last->fill != next->fill)
    return false;
  if (last->fill == 0) {
    int64_t step = (int64_t) (next->start - source_at (last, last->n - 1));
    if (step < -1 || step > 1 || (last->n > 1 && step != last->step)
        || (next->n > 1 && step != next->step))
      return false;
    last->step = (int) step;
  }
  last->n += next->n;
  return true;
}

static enum radio_status
fail_long (double size)
{
  return rd_fail (RADIO_ERROR_LIMIT, "an axis of %.4g elements, more than "
                  "2^63 - 1", size);
}

/* Appends a segment that is not empty. */
static enum radio_status
append (struct rd_grid_axis *axis, struct rd_segment segment)
{
  double size = (double) axis->size + (double) segment.n;
  if (rd_add_overflows (axis->size, segment.n, &axis->size)
      || axis->size > INT64_MAX)
    return fail_long (size);
  if (axis->nsegments > 0
      && join (&axis->segments[axis->nsegments - 1], &segment))
    return RADIO_OK;
  if (axis->nsegments == RD_GRID_MAX_SEGMENTS)
    return rd_fail (RADIO_ERROR_LIMIT, "an axis is repeated more than %"
                    PRIu64 " times; pad less", RD_GRID_MAX_SEGMENTS);
  RD_TRY (rd_reserve (&axis->segments, &axis->capacity, axis->nsegments,
                      sizeof *axis->segments));
  axis->segments[axis->nsegments++] = segment;
  return RADIO_OK;
}

/* Appends n elements of another axis from start on. */
static enum radio_status
append_forward (struct rd_grid_axis *axis, const struct rd_grid_axis *from,
                uint64_t start, uint64_t n)
{
  uint64_t before = 0;
  for (size_t i = 0; i < from->nsegments && n > 0; i++) {
    struct rd_segment segment = from->segments[i];
    uint64_t end = before + segment.n;
    if (start < end) {
      uint64_t skipped = start - before;
      segment.start = source_at (&segment, skipped);
      segment.n = rd_min_u64 (segment.n - skipped, n);
      RD_TRY (append (axis, segment));
      start += segment.n;
      n -= segment.n;
    }
    before = end;
  }
  return RADIO_OK;
}

/* Appends n elements of another axis that end before `end', the last first. */
static enum radio_status
append_backward (struct rd_grid_axis *axis, const struct rd_grid_axis *from,
                 uint64_t end, uint64_t n)
{
  uint64_t after = from->size;
  for (size_t i = from->nsegments; i-- > 0 && n > 0;) {
    struct rd_segment segment = from->segments[i];
    uint64_t begin = after - segment.n;
    if (end > begin) {
      uint64_t last = end - begin - 1;
      segment.start = source_at (&segment, last);
      segment.step = -segment.step;
      segment.n = rd_min_u64 (last + 1, n);
      RD_TRY (append (axis, segment));
      end -= segment.n;
      n -= segment.n;
    }
    after = begin;
  }
  return RADIO_OK;
}

/* Begins a new list; the axis before is returned, for the caller to free. */
static struct rd_grid_axis
begin_axis (struct rd_grid *grid, size_t axis)
{
  struct rd_grid_axis before = grid->axes[axis];
  grid->axes[axis] = (struct rd_grid_axis) { .source = before.source };
  return before;
}

static void
clear_axis (struct rd_grid_axis *axis)
{
  rd_free (axis->segments);
}

enum radio_status
rd_grid_crop (struct rd_grid *grid, size_t axis, uint64_t start, uint64_t n)
{
  struct rd_grid_axis before RD_CLEANUP (clear_axis)
    = begin_axis (grid, axis);
  return append_forward (&grid->axes[axis], &before, start, n);
}

enum radio_status
rd_grid_flip (struct rd_grid *grid, size_t axis)
{
  struct rd_grid_axis before RD_CLEANUP (clear_axis)
    = begin_axis (grid, axis);
  return append_backward (&grid->axes[axis], &before, before.size,
                          before.size);
}

void
rd_grid_swap (struct rd_grid *grid, size_t a, size_t b)
{
  struct rd_grid_axis axis = grid->axes[a];
  grid->axes[a] = grid->axes[b];
  grid->axes[b] = axis;
}

/* Appends one element n times. */
static enum radio_status
append_edge (struct rd_grid_axis *axis, const struct rd_grid_axis *from,
             uint64_t i, uint64_t n)
{
  struct rd_grid_axis one RD_CLEANUP (clear_axis) = { .source = 0 };
  if (n == 0)
    return RADIO_OK;
  RD_TRY (append_forward (&one, from, i, 1));
  struct rd_segment segment = one.segments[0];
  segment.n = n;
  segment.step = 0;
  return append (axis, segment);
}

/* Appends n elements of an endless repetition of another axis, from the place i
 * of its period on. */
static enum radio_status
append_period (struct rd_grid_axis *axis, const struct rd_grid_axis *from,
               bool reflects, uint64_t i, uint64_t n)
{
  uint64_t size = from->size;
  while (n > 0) {
    if (!reflects || i < size - 1) {
      uint64_t part = rd_min_u64 (size - reflects - i, n);
      RD_TRY (append_forward (axis, from, i, part));
      i += part;
      n -= part;
    } else {
      /* From the last element down to the second. */
      uint64_t end = 2 * size - 1 - i;
      uint64_t part = rd_min_u64 (end - 1, n);
      RD_TRY (append_backward (axis, from, end, part));
      i += part;
      n -= part;
    }
    if (i == (reflects ? 2 * (size - 1) : size))
      i = 0;
  }
  return RADIO_OK;
}

enum radio_status
rd_grid_pad (struct rd_grid *grid, size_t axis, uint64_t before,
             uint64_t after, enum rd_pad_mode mode, size_t fill)
{
  uint64_t size = grid->axes[axis].size;
  if (before == 0 && after == 0)
    return RADIO_OK;
  if (mode != RD_PAD_VALUE && size == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "no element to repeat; pad with a "
                    "value");
  struct rd_grid_axis from RD_CLEANUP (clear_axis) = begin_axis (grid, axis);
  struct rd_grid_axis *to = &grid->axes[axis];
  if (mode == RD_PAD_VALUE) {
    const struct rd_segment padding = { .n = before, .fill = fill };
    if (before > 0)
      RD_TRY (append (to, padding));
    RD_TRY (append_forward (to, &from, 0, size));
    const struct rd_segment rest = { .n = after, .fill = fill };
    return after > 0 ? append (to, rest) : RADIO_OK;
  }
  /* numpy reflects a single element as edge does; and of equal elements the
   * period would have no end. */
  bool is_constant = from.nsegments == 1
    && (from.segments[0].fill > 0 || from.segments[0].step == 0);
  if (mode == RD_PAD_EDGE || size == 1 || is_constant) {
    RD_TRY (append_edge (to, &from, 0, before));
    RD_TRY (append_forward (to, &from, 0, size));
    return append_edge (to, &from, size - 1, after);
  }
  bool reflects = mode == RD_PAD_REFLECT;
  uint64_t period = reflects ? 2 * (size - 1) : size;
  uint64_t total;
  if (rd_add_overflows (before, after, &total)
      || rd_add_overflows (total, size, &total))
    return fail_long ((double) before + (double) after + (double) size);
  return append_period (to, &from, reflects,
                        (period - before % period) % period, total);
}

enum radio_status
rd_grid_check_shape (size_t rank, const uint64_t *shape)
{
  uint64_t exact = 1;
  double count = 1;
  for (size_t i = 0; i < rank; i++) {
    exact = rd_mul_sat (exact, shape[i]);
    count *= (double) shape[i];
  }
  if (exact <= INT64_MAX)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_LIMIT, "the result has %.4g voxels, more than "
                  "2^63 - 1", count);
}

enum radio_status
rd_grid_check (const struct rd_grid *grid)
{
  uint64_t npieces = 1, shape[RADIO_MAX_RANK];
  for (size_t i = 0; i < grid->rank; i++) {
    npieces = rd_mul_sat (npieces, rd_max_u64 (grid->axes[i].nsegments, 1));
    shape[i] = grid->axes[i].size;
  }
  RD_TRY (rd_grid_check_shape (grid->rank, shape));
  if (npieces > RD_GRID_MAX_PIECES)
    return rd_fail (RADIO_ERROR_LIMIT, "the result is put together of %" PRIu64
                    " pieces, more than %" PRIu64 "; pad less", npieces,
                    RD_GRID_MAX_PIECES);
  return RADIO_OK;
}

uint64_t
rd_grid_cursor_init (struct rd_grid_cursor *cursor, const struct rd_grid *grid,
                     const struct radio_box *box)
{
  uint64_t npieces = 1;
  *cursor = (struct rd_grid_cursor) { .grid = grid, .box = box };
  for (size_t i = 0; i < grid->rank; i++) {
    const struct rd_grid_axis *axis = &grid->axes[i];
    uint64_t start = box->start[i], end = start + box->size[i], before = 0;
    cursor->is_done = cursor->is_done || box->size[i] == 0;
    for (size_t k = 0; k < axis->nsegments && before < end; k++) {
      uint64_t after = before + axis->segments[k].n;
      if (after > start && cursor->n[i]++ == 0) {
        cursor->first[i] = k;
        cursor->offset[i] = start - before;
      }
      before = after;
    }
    npieces *= cursor->n[i];
  }
  return cursor->is_done ? 0 : npieces;
}

bool
rd_grid_bounds (const struct rd_grid *grid, const struct radio_box *box,
                struct radio_box *source)
{
  source->rank = grid->rank;
  for (size_t i = 0; i < grid->rank; i++) {
    const struct rd_grid_axis *axis = &grid->axes[i];
    uint64_t before = 0, least = UINT64_MAX, most = 0;
    for (size_t k = 0; k < axis->nsegments; k++) {
      const struct rd_segment *segment = &axis->segments[k];
      uint64_t start = rd_max_u64 (before, box->start[i]);
      uint64_t end = rd_min_u64 (before + segment->n,
                                 box->start[i] + box->size[i]);
      if (segment->fill == 0 && start < end) {
        uint64_t first = source_at (segment, start - before);
        uint64_t last = source_at (segment, end - 1 - before);
        least = rd_min_u64 (least, rd_min_u64 (first, last));
        most = rd_max_u64 (most, rd_max_u64 (first, last));
      }
      before += segment->n;
    }
    if (least > most)
      return false;
    source->start[axis->source] = least;
    source->size[axis->source] = most - least + 1;
  }
  return true;
}

bool
rd_grid_next (struct rd_grid_cursor *cursor, struct rd_grid_piece *piece)
{
  const struct rd_grid *grid = cursor->grid;
  if (cursor->is_done)
    return false;
  *piece = (struct rd_grid_piece) { .source.rank = grid->rank };
  for (size_t i = 0; i < grid->rank; i++) {
    const struct rd_grid_axis *axis = &grid->axes[i];
    const struct rd_segment *segment
      = &axis->segments[cursor->first[i] + cursor->at[i]];
    uint64_t skipped = cursor->at[i] == 0 ? cursor->offset[i] : 0;
    uint64_t n = rd_min_u64 (segment->n - skipped,
                             cursor->box->size[i] - cursor->begin[i]);
    piece->first[i] = cursor->begin[i];
    piece->size[i] = n;
    piece->step[i] = segment->step;
    if (segment->fill > piece->fill)
      piece->fill = segment->fill;
    if (segment->fill > 0)
      continue;
    uint64_t start = source_at (segment, skipped);
    piece->source.start[axis->source] = segment->step < 0 ? start - (n - 1)
                                                          : start;
    piece->source.size[axis->source] = segment->step ? n : 1;
  }
  for (size_t i = grid->rank; i-- > 0;) {
    cursor->begin[i] += piece->size[i];
    if (++cursor->at[i] < cursor->n[i])
      return true;
    cursor->at[i] = 0;
    cursor->begin[i] = 0;
  }
  cursor->is_done = true;
  return true;
}
