/* SPDX-License-Identifier: MIT */
/* Shuffling and unshuffling by the best vectors that this machine has, and by
 * plain C where they do not fit.  To shuffle bits, bytes are shuffled first,
 * since the bits of one plane are at one position of each byte.  Rows that are
 * too short for vectors, or do not begin at a byte of bits, are unshuffled
 * together with the elements between them, in a buffer that stays in the
 * cache. */
#include <config.h>

#include <string.h>

#include "src/codec/shuffle.h"
#include "src/element/rows.h"

/* Transposes the 8 x 8 bits of a word, whose byte k is row k. */
static inline uint64_t
transpose_bits (uint64_t x)
{
  uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000cccc;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
  return x ^ t ^ t << 28;
}

const struct rd_shuffler *const *
rd_shufflers (void)
{
  static const struct rd_shuffler *const list[] = {
#ifdef __x86_64__
    &rd_shuffle_avx2,
    &rd_shuffle_sse2,
#endif
    NULL
  };
  return list;
}

/* Returns the best one that may be used. */
static const struct rd_shuffler *
choose_shuffler (void)
{
  const struct rd_shuffler *const *list = rd_shufflers ();
  while (*list && !rd_simd_is_allowed ((*list)->level))
    list++;
  return *list;
}

/* Shuffles n whole elements by bytes. */
static void
make_planes (const struct rd_shuffler *shuffler, size_t typesize,
             const unsigned char *from, unsigned char *to, size_t n)
{
  size_t done = 0;
  if (shuffler && (typesize == 2 || typesize == 4 || typesize == 8))
    done = shuffler->bytes[typesize / 4] (from, to, n);
  for (size_t i = done; i < n; i++)
    for (size_t k = 0; k < typesize; k++)
      to[k * n + i] = from[i * typesize + k];
}

void
rd_shuffle_by (const struct rd_shuffler *shuffler, size_t typesize,
               const unsigned char *from, unsigned char *to, size_t nbytes,
               unsigned char *buffer)
{
  size_t n = nbytes / typesize, done = n * typesize;
  if (!buffer)
    make_planes (shuffler, typesize, from, to, n);
  else if (n % 8 != 0)
    done = 0;
  else {
    const unsigned char *plane = typesize > 1 ? buffer : from;
    unsigned char *rows = to;
    if (typesize > 1)
      make_planes (shuffler, typesize, from, buffer, n);
    /* 8 rows of bits of each plane. */
    for (size_t k = 0; k < typesize; k++, plane += n, rows += n) {
      size_t i = shuffler ? shuffler->bits (plane, rows, n) : 0;
      for (; i < n; i += 8) {
        uint64_t x = 0;
        for (unsigned j = 0; j < 8; j++)
          x |= (uint64_t) plane[i + j] << 8 * j;
        x = transpose_bits (x);
        for (unsigned j = 0; j < 8; j++)
          rows[j * (n / 8) + i / 8] = (unsigned char) (x >> 8 * j);
      }
    }
  }
  memcpy (to + done, from + done, nbytes - done);
}

void
rd_shuffle (size_t typesize, const unsigned char *from, unsigned char *to,
            size_t nbytes)
{
  rd_shuffle_by (choose_shuffler (), typesize, from, to, nbytes, NULL);
}

void
rd_bitshuffle (size_t typesize, const unsigned char *from, unsigned char *to,
               size_t nbytes, unsigned char *buffer)
{
  rd_shuffle_by (choose_shuffler (), typesize, from, to, nbytes, buffer);
}

#define BUFFER_NBYTES 4096

/* Rows of at least this many elements are worth a call each. */
#define LONG_ROW 16

/* The elements of the widest vectors, which fit into the buffer. */
#define LEAST_BYTES 32
#define LEAST_BITS 256

static const struct rd_unshuffler plain = { .level = RD_SIMD_SCALAR };

const struct rd_unshuffler *const rd_unshufflers[] = {
#ifdef __x86_64__
  &rd_unshuffle_avx2, &rd_unshuffle_sse2,
#endif
#ifdef __aarch64__
  &rd_unshuffle_neon,
#endif
  &plain, NULL
};

/* A block, and how it is unshuffled. */
struct work {
  const struct rd_unshuffler *const *by;
  const struct rd_shuffled *block;
  int log2;                   /* of the typesize; -1: no vectors */
};

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

/* Unshuffles groups of elements by vectors; false when none fit. */
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

/* Unshuffles contiguous elements; false when no vectors fit, unless they are
 * single bytes. */
static bool
do_bits (const struct work *work, int log2, const unsigned char *from,
         unsigned char *to, size_t ncolumns)
{
  int64_t step = log2 >= 0 ? (int64_t) RD_UNSHUFFLE_GROUP << log2 : 0;
  size_t row_nbytes = work->block->n / 8;
  if (do_groups (work, log2, from, to, step, ncolumns))
    return true;
  if (log2 != 0)
    return false;
  for (size_t i = 0; i < ncolumns; i++) {
    uint64_t x = 0;
    for (unsigned k = 0; k < 8; k++)
      x |= (uint64_t) from[k * row_nbytes + i] << 8 * k;
    x = transpose_bits (x);
    for (unsigned k = 0; k < 8; k++)
      to[8 * i + k] = (unsigned char) (x >> 8 * k);
  }
  return true;
}

/* Unshuffles contiguous elements that begin and end with a column of bits. */
static void
do_columns (const struct work *work, size_t first, size_t count,
            unsigned char *to)
{
  _Alignas (32) unsigned char buffer[BUFFER_NBYTES];
  const struct rd_shuffled *block = work->block;
  const unsigned char *from = block->data + first / 8;
  size_t ncolumns = count / 8, typesize = block->typesize;
  if (do_bits (work, work->log2, from, to, ncolumns))
    return;
  /* Elements of other sizes: each of their bytes for itself, then together. */
  size_t most = BUFFER_NBYTES / 8 / typesize;
  for (size_t i = 0; i < ncolumns; i += most) {
    size_t n = ncolumns - i < most ? ncolumns - i : most;
    for (size_t k = 0; k < typesize; k++)
      (void) do_bits (work, 0, from + k * block->n + i, buffer + 8 * k * n,
                      n);
    const struct rd_planes planes = { buffer, 8 * n, 8 * n, 1, 0,
                                      to + 8 * i * typesize, 0 };
    plain_bytes (&planes, typesize);
  }
}

/* Unshuffles elements into the buffer, with some before and after them, so
 * that vectors can do it: of bits at least whole columns.  Returns the address
 * of the first one. */
static const unsigned char *
fill_buffer (const struct work *work, size_t first, size_t count,
             unsigned char *buffer)
{
  const struct rd_shuffled *block = work->block;
  size_t least = block->bits ? LEAST_BITS : LEAST_BYTES;
  size_t start = first, end = first + count;
  if (block->bits) {
    start = start / 8 * 8;
    end = (end + 7) / 8 * 8;
  }
  if (work->log2 >= 0 && end - start < least && block->n >= least) {
    if (start > block->n - least)
      start = block->n - least;
    end = start + least;
  }
  if (block->bits)
    do_columns (work, start, end - start, buffer);
  else {
    const struct rd_shuffled_rows row = { start, end - start, 1, 0, buffer,
                                          0 };
    do_bytes (work, &row);
  }
  return buffer + (first - start) * block->typesize;
}

/* Unshuffles rows by way of the buffer: as many rows at a time as fit together
 * with the elements between them, or a long row in pieces. */
static void
do_by_buffer (const struct work *work, const struct rd_shuffled_rows *rows)
{
  _Alignas (32) unsigned char buffer[BUFFER_NBYTES];
  size_t typesize = work->block->typesize, row_nbytes = rows->n * typesize;
  size_t most = BUFFER_NBYTES / typesize - 14, taken = 0;
  unsigned char *to = rows->to;
  for (size_t i = 0; i < rows->nrows; i += taken) {
    size_t first = rows->first + i * rows->step, left = rows->nrows - i;
    taken = 1;
    if (rows->n > most)
      for (size_t k = 0; k < rows->n; k += most) {
        size_t piece = rows->n - k < most ? rows->n - k : most;
        const unsigned char *from = fill_buffer (work, first + k, piece,
                                                 buffer);
        memcpy (to + k * typesize, from, piece * typesize);
      }
    else {
      if (rows->step > 0)
        taken += (most - rows->n) / rows->step;
      if (taken > left)
        taken = left;
      size_t count = (taken - 1) * rows->step + rows->n;
      const unsigned char *from = fill_buffer (work, first, count, buffer);
      rd_rows_copy (from, (int64_t) (rows->step * typesize), to,
                    rows->to_step, row_nbytes, taken);
    }
    to += (int64_t) taken * rows->to_step;
  }
}

void
rd_unshuffle_rows_by (const struct rd_unshuffler *const *by,
                      const struct rd_shuffled *block,
                      const struct rd_shuffled_rows *asked)
{
  size_t typesize = block->typesize;
  bool has_vectors = typesize <= 8 && (typesize & (typesize - 1)) == 0;
  const struct work work = {
    by, block, has_vectors ? __builtin_ctzl (typesize) : -1,
  };
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
  else if (block->bits && rows.n >= 8 * LONG_ROW
           && ((rows.first | rows.n | rows.step) & 7) == 0)
    for (size_t i = 0; i < rows.nrows; i++)
      do_columns (&work, rows.first + i * rows.step, rows.n,
                  rows.to + (int64_t) i * rows.to_step);
  else {
    /* Rows of bits that are groups and contiguous in the block, as those of a
     * tile are, go by vectors straight into the destination. */
    bool are_groups = block->bits && rows.n == RD_UNSHUFFLE_GROUP
                      && rows.step == rows.n && rows.first % 8 == 0;
    if (!are_groups
        || !do_groups (&work, work.log2, block->data + rows.first / 8,
                       rows.to, rows.to_step, rows.nrows * rows.n / 8))
      do_by_buffer (&work, &rows);
  }
}

static void
unshuffle_rows (const struct rd_shuffled *block,
                const struct rd_shuffled_rows *rows)
{
  const struct rd_unshuffler *const *by = rd_unshufflers;
  while (!rd_simd_is_allowed ((*by)->level))
    by++;
  rd_unshuffle_rows_by (by, block, rows);
}

void
rd_unshuffle (const struct rd_shuffled *block, size_t first, size_t count,
              unsigned char *to)
{
  const struct rd_shuffled_rows row = { first, count, 1, 0, to, 0 };
  unshuffle_rows (block, &row);
}

/* Steps to the next rows of a box; false after the last. */
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
  size_t nbytes = rows.n * block->typesize;
  rd_rows_prefetch (rows.to, rows.to_step, nbytes, rows.nrows);
  for (bool more = true; more;) {
    const struct rd_shuffled_rows now = rows;
    more = next_rows (box, at, &rows);
    if (more)
      rd_rows_prefetch (rows.to, rows.to_step, nbytes, rows.nrows);
    unshuffle_rows (block, &now);
  }
}
