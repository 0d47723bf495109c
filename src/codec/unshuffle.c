/* SPDX-License-Identifier: MIT */
/* What is wanted of a block is done by the best vectors that this machine
 * has, and by plain C where they do not fit.  Rows that are too short for
 * vectors, or do not begin where a byte of bits does, are made with what
 * lies between them in a room that stays in the cache. */
#include <config.h>

#include <string.h>

#include "src/codec/bit-square.h"
#include "src/codec/unshuffle.h"
#include "src/element/copy.h"

#define ROOM_NBYTES 4096

/* Rows of at least so many elements are worth a call each. */
#define LONG_ROW 16

/* What the widest vectors do at once, and the room can hold. */
#define LEAST_BYTES 32
#define LEAST_BITS 256

static bool
always (void)
{
  return true;
}

static const struct rd_unshuffler plain = { .name = "c", .runs = always };

const struct rd_unshuffler *const rd_unshufflers[] = {
#ifdef __x86_64__
  &rd_unshuffle_avx2, &rd_unshuffle_sse2,
#endif
#ifdef __aarch64__
  &rd_unshuffle_neon,
#endif
  &plain, NULL
};

/* A block, and who does it. */
struct work {
  const struct rd_unshuffler *const *by;
  const struct rd_shuffled *block;
  int log2;                   /* of the typesize; -1: none */
};

static int
find_log2 (size_t typesize)
{
  switch (typesize) {
  case 1: return 0;
  case 2: return 1;
  case 4: return 2;
  case 8: return 3;
  default: return -1;
  }
}

static void
plain_bytes (const struct rd_planes *planes, size_t typesize)
{
  const unsigned char *from = planes->from;
  unsigned char *to = planes->to;
  for (size_t row = 0; row < planes->nrows; row++) {
    for (size_t i = 0; i < planes->n; i++)
      for (size_t k = 0; k < typesize; k++)
        to[i * typesize + k] = from[k * planes->plane_nbytes + i];
    from += planes->from_step;
    to += planes->to_step;
  }
}

static void
do_bytes (const struct work *work, const struct rd_shuffled_rows *rows)
{
  const struct rd_shuffled *block = work->block;
  const struct rd_planes planes = {
    .from = block->data + rows->first,
    .plane_nbytes = block->n,
    .n = rows->n,
    .nrows = rows->nrows,
    .from_step = rows->step,
    .to = rows->to,
    .to_step = rows->to_step,
  };
  for (size_t i = 0; work->log2 >= 0 && work->by[i]; i++) {
    rd_unshuffle_bytes_fn *bytes = work->by[i]->bytes[work->log2];
    if (bytes && bytes (&planes))
      return;
  }
  plain_bytes (&planes, block->typesize);
}

static void
plain_bits (const unsigned char *from, size_t row_nbytes, unsigned char *to,
            size_t ncolumns)
{
  for (size_t i = 0; i < ncolumns; i++) {
    uint64_t x = 0;
    for (unsigned k = 0; k < 8; k++)
      x |= (uint64_t) from[k * row_nbytes + i] << 8 * k;
    x = rd_transpose_bits (x);
    for (unsigned k = 0; k < 8; k++)
      to[8 * i + k] = (unsigned char) (x >> 8 * k);
  }
}

/* Groups of elements of a size that the vectors know; false when they do
 * not. */
static bool
do_groups (const struct work *work, int log2, const unsigned char *from,
           unsigned char *to, int64_t step, size_t ncolumns)
{
  size_t row_nbytes = work->block->n / 8;
  for (size_t i = 0; log2 >= 0 && work->by[i]; i++) {
    rd_unshuffle_bits_fn *bits = work->by[i]->bits[log2];
    if (bits && bits (from, row_nbytes, to, step, ncolumns))
      return true;
  }
  return false;
}

/* Elements of such a size, one after the other; single bytes in any case. */
static bool
do_bits (const struct work *work, int log2, const unsigned char *from,
         unsigned char *to, size_t ncolumns)
{
  size_t row_nbytes = work->block->n / 8;
  int64_t step = log2 >= 0 ? (int64_t) RD_UNSHUFFLE_GROUP << log2 : 0;
  if (do_groups (work, log2, from, to, step, ncolumns))
    return true;
  if (log2 != 0)
    return false;
  plain_bits (from, row_nbytes, to, ncolumns);
  return true;
}

/* Elements of any size: each of their bytes for itself, then together. */
static void
do_bits_by_planes (const struct work *work, const unsigned char *from,
                   unsigned char *to, size_t ncolumns)
{
  _Alignas (32) unsigned char room[ROOM_NBYTES];
  const struct rd_shuffled *block = work->block;
  size_t typesize = block->typesize, most = ROOM_NBYTES / 8 / typesize;
  for (size_t i = 0; i < ncolumns; i += most) {
    size_t n = ncolumns - i < most ? ncolumns - i : most;
    for (size_t k = 0; k < typesize; k++)
      (void) do_bits (work, 0, from + k * block->n + i, room + 8 * k * n, n);
    const struct rd_planes planes = { room, 8 * n, 8 * n, 1, 0,
                                      to + 8 * i * typesize, 0 };
    plain_bytes (&planes, typesize);
  }
}

/* Elements one after the other; they begin and end with a column. */
static void
do_columns (const struct work *work, size_t first, size_t count,
            unsigned char *to)
{
  const unsigned char *from = work->block->data + first / 8;
  if (!do_bits (work, work->log2, from, to, count / 8))
    do_bits_by_planes (work, from, to, count / 8);
}

/* A few elements more than are wanted, so that vectors do them: of bits at
 * least whole columns. */
static void
widen (const struct work *work, size_t *start, size_t *end)
{
  const struct rd_shuffled *block = work->block;
  size_t least = block->bits ? LEAST_BITS : LEAST_BYTES;
  if (block->bits) {
    *start = *start / 8 * 8;
    *end = (*end + 7) / 8 * 8;
  }
  if (work->log2 < 0 || *end - *start >= least || block->n < least)
    return;
  if (*start > block->n - least)
    *start = block->n - least;
  *end = *start + least;
}

/* Elements in the room, and some before and behind.  Returns where the first
 * one is. */
static const unsigned char *
fill_room (const struct work *work, size_t first, size_t count,
           unsigned char *room)
{
  size_t start = first, end = first + count;
  widen (work, &start, &end);
  if (work->block->bits)
    do_columns (work, start, end - start, room);
  else {
    const struct rd_shuffled_rows row = { start, end - start, 1, 0, room,
                                          0 };
    do_bytes (work, &row);
  }
  return room + (first - start) * work->block->typesize;
}

/* A row that is longer than the room, piece by piece. */
static void
do_long_row (const struct work *work, size_t first, size_t n, size_t most,
             unsigned char *to)
{
  _Alignas (32) unsigned char room[ROOM_NBYTES];
  size_t typesize = work->block->typesize;
  for (size_t i = 0; i < n; i += most) {
    size_t piece = n - i < most ? n - i : most;
    const unsigned char *from = fill_room (work, first + i, piece, room);
    memcpy (to + i * typesize, from, piece * typesize);
  }
}

/* As many rows at a time as fit into the room together with what lies
 * between them. */
static void
do_by_room (const struct work *work, const struct rd_shuffled_rows *rows)
{
  _Alignas (32) unsigned char room[ROOM_NBYTES];
  size_t typesize = work->block->typesize, row_nbytes = rows->n * typesize;
  size_t most = ROOM_NBYTES / typesize - 14, taken = 0;
  unsigned char *to = rows->to;
  for (size_t i = 0; i < rows->nrows; i += taken) {
    size_t first = rows->first + i * rows->step, left = rows->nrows - i;
    taken = 1;
    if (rows->n > most)
      do_long_row (work, first, rows->n, most, to);
    else {
      if (rows->step > 0)
        taken += (most - rows->n) / rows->step;
      if (taken > left)
        taken = left;
      size_t count = (taken - 1) * rows->step + rows->n;
      const unsigned char *from = fill_room (work, first, count, room);
      rd_rows_copy (from, (int64_t) (rows->step * typesize), to,
                    rows->to_step, row_nbytes, taken);
    }
    to += (int64_t) taken * rows->to_step;
  }
}

/* Rows of bits that are groups follow each other in the block, as those of a
 * tile do, and go to where they belong from the vectors themselves. */
static bool
do_rows_of_groups (const struct work *work,
                   const struct rd_shuffled_rows *rows)
{
  if (rows->n != RD_UNSHUFFLE_GROUP || rows->step != rows->n
      || rows->first % 8 != 0)
    return false;
  return do_groups (work, work->log2, work->block->data + rows->first / 8,
                    rows->to, rows->to_step, rows->nrows * rows->n / 8);
}

static bool
has_whole_columns (const struct rd_shuffled_rows *rows)
{
  return ((rows->first | rows->n | rows->step) & 7) == 0;
}

void
rd_unshuffle_rows_by (const struct rd_unshuffler *const *by,
                      const struct rd_shuffled *block,
                      const struct rd_shuffled_rows *asked)
{
  const struct work work = { by, block, find_log2 (block->typesize) };
  struct rd_shuffled_rows rows = *asked;
  int64_t row_nbytes = (int64_t) (rows.n * block->typesize);
  if (rows.n == 0 || rows.nrows == 0)
    return;
  if (rows.step == rows.n && rows.to_step == row_nbytes) {
    rows.n *= rows.nrows;
    rows.nrows = 1;
  }
  if (rows.nrows == 1)
    rows.step = 0;
  if (!block->bits && rows.n >= LONG_ROW)
    do_bytes (&work, &rows);
  else if (block->bits && rows.n >= 8 * LONG_ROW && has_whole_columns (&rows))
    for (size_t i = 0; i < rows.nrows; i++)
      do_columns (&work, rows.first + i * rows.step, rows.n,
                  rows.to + (int64_t) i * rows.to_step);
  else if (!block->bits || !do_rows_of_groups (&work, &rows))
    do_by_room (&work, &rows);
}

void
rd_unshuffle_rows (const struct rd_shuffled *block,
                   const struct rd_shuffled_rows *rows)
{
  const struct rd_unshuffler *const *by = rd_unshufflers;
  while (!(*by)->runs ())
    by++;
  rd_unshuffle_rows_by (by, block, rows);
}

void
rd_unshuffle (const struct rd_shuffled *block, size_t first, size_t count,
              unsigned char *to)
{
  const struct rd_shuffled_rows row = { first, count, 1, 0, to, 0 };
  rd_unshuffle_rows (block, &row);
}

/* Step to the next rows of a box; false after the last. */
static bool
next_rows (const struct rd_shuffled_box *box, uint64_t *at,
           struct rd_shuffled_rows *rows)
{
  for (size_t i = box->rank > 1 ? box->rank - 2 : 0; i-- > 0;) {
    int64_t size = (int64_t) box->shape[i];
    rows->first += (size_t) box->steps[i];
    rows->to += box->to_steps[i];
    if (++at[i] < box->shape[i])
      return true;
    rows->first -= (size_t) (box->steps[i] * size);
    rows->to -= box->to_steps[i] * size;
    at[i] = 0;
  }
  return false;
}

static void
expect_rows (const struct rd_shuffled *block,
             const struct rd_shuffled_rows *rows)
{
  rd_rows_prefetch (rows->to, rows->to_step, rows->n * block->typesize,
                  rows->nrows);
}

void
rd_unshuffle_box (const struct rd_shuffled *block,
                  const struct rd_shuffled_box *box)
{
  size_t last = box->rank - 1;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  struct rd_shuffled_rows rows = { .first = box->first, .to = box->to,
                                   .n = (size_t) box->shape[last],
                                   .nrows = 1 };
  if (last > 0) {
    rows.nrows = (size_t) box->shape[last - 1];
    rows.step = (size_t) box->steps[last - 1];
    rows.to_step = box->to_steps[last - 1];
  }
  expect_rows (block, &rows);
  for (bool more = true; more;) {
    const struct rd_shuffled_rows now = rows;
    more = next_rows (box, at, &rows);
    if (more)
      expect_rows (block, &rows);
    rd_unshuffle_rows (block, &now);
  }
}
