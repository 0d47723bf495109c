/* SPDX-License-Identifier: MIT */
/* Moving rows of elements unchanged: the rows of a tile to their places in the
 * caller's memory, also backward, or as columns. */
#ifndef RD_ROWS_H
#define RD_ROWS_H

#include <radio/base.h>

/* Rows of n elements, contiguous on both sides; steps in bytes from start to
 * start.  With `streams' the destination may be written past the caches, which
 * rd_rows_fence ends: for computed rows in whole, aligned cache lines; for
 * reversed rows in aligned vectors of 16 bytes. */
struct rd_rows {
  const unsigned char *from;
  int64_t from_step;
  unsigned char *to;
  int64_t to_step;
  size_t n, nrows;
  bool streams;
};

/* Copies nrows rows of nbytes each; steps in bytes from start to start.  The
 * sides must not overlap.  For the short rows of tiles, where a call of memcpy
 * costs more than copying the bytes. */
void rd_rows_copy (const unsigned char *from, int64_t from_step,
                   unsigned char *to, int64_t to_step, size_t nbytes,
                   size_t nrows);

/* Prefetches the memory of short rows that will be written soon.  They are
 * too far apart for the hardware's prefetcher, and waiting for each would take
 * as long as decoding a tile. */
void rd_rows_prefetch (const unsigned char *to, int64_t to_step,
                       size_t nbytes, size_t nrows);

/* Bytes of a cache line. */
#define RD_LINE_NBYTES 64

/* Returns how many elements from `to' on, `step' bytes from start to start, are
 * before the first line that begins with one, or backward ends with one; 0 if
 * none does. */
uint64_t rd_line_lead (const void *to, int64_t step);

/* Prefetches the lines of one row that is `offset' bytes from to, if it is
 * short: for loops that write rows, as many rows ahead as hide the memory's
 * latency. */
#define RD_ROWS_AHEAD 8
#define RD_ROWS_SHORT_NBYTES 256
static inline __attribute__ ((__always_inline__)) void
rd_row_prefetch (const unsigned char *to, int64_t offset, size_t nbytes)
{
  const char *row = (const char *) ((uintptr_t) to + (uintptr_t) offset);
  if (nbytes > RD_ROWS_SHORT_NBYTES)
    return;
  for (size_t i = RD_LINE_NBYTES; i < nbytes; i += RD_LINE_NBYTES)
    __builtin_prefetch (row + i - 1, 1);
  __builtin_prefetch (row + nbytes - 1, 1);
}

/* Bytes of a column that are written at a time: some cache lines, which stay in
 * the first cache with those of the rows. */
#define RD_COLUMN_NBYTES 256

/* Moves rows of elements of item_nbytes, which are to_stride bytes from start
 * to start in the destination.  Fast where they are contiguous there, forward
 * or backward, or where those of different rows are: then rows become columns.
 * The sides must not overlap. */
void rd_rows_place (const struct rd_rows *rows, size_t item_nbytes,
                    int64_t to_stride);

/* Prefetches the memory that rd_rows_place will write, if it is short rows. */
void rd_rows_place_prefetch (const struct rd_rows *rows, size_t item_nbytes,
                             int64_t to_stride);

/* Makes what was written past the caches visible to other threads, in the order
 * of later stores. */
void rd_rows_fence (void);

#endif /* RD_ROWS_H */
