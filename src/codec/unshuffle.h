/* SPDX-License-Identifier: MIT */
/* Undoing the two filters of blosc: shuffle keeps the i-th bytes of all
 * elements of a block together (a plane), bitshuffle the i-th bits (a row of
 * bits, eight rows for each byte of an element).  Elements can be wanted in
 * part, and go straight to where the caller has them. */
#ifndef RD_UNSHUFFLE_H
#define RD_UNSHUFFLE_H

#include <radio/box.h>

/* A block of n elements as a filter left it. */
struct rd_shuffled {
  const unsigned char *data;  /* n * typesize bytes */
  size_t typesize;            /* 1-255 */
  size_t n;                   /* of bits: a multiple of 8 */
  bool bits;
};

/* Rows of n elements of a block, `step' elements from start to start, and
 * where they go, to_step bytes from start to start. */
struct rd_shuffled_rows {
  size_t first, n, nrows, step;
  unsigned char *to;
  int64_t to_step;
};

/* Elements first to first + count - 1 of a block, one after the other. */
void rd_unshuffle (const struct rd_shuffled *block, size_t first,
                   size_t count, unsigned char *to);

void rd_unshuffle_rows (const struct rd_shuffled *block,
                        const struct rd_shuffled_rows *rows);

/* A box of elements: its size along each axis, steps in elements of the
 * block and in bytes at `to'.  Along the last axis, unless it is of one
 * element, both follow each other. */
struct rd_shuffled_box {
  size_t rank;                /* at least 1 */
  uint64_t shape[RADIO_MAX_RANK];
  size_t first;
  int64_t steps[RADIO_MAX_RANK];
  unsigned char *to;
  int64_t to_steps[RADIO_MAX_RANK];
};

void rd_unshuffle_box (const struct rd_shuffled *block,
                       const struct rd_shuffled_box *box);

/* How it is done; for its tests. */

/* Rows of elements in planes of bytes.  Steps are in bytes. */
struct rd_planes {
  const unsigned char *from;  /* the first element's byte 0 */
  size_t plane_nbytes;        /* to its next byte */
  size_t n, nrows;            /* elements */
  size_t from_step;
  unsigned char *to;
  int64_t to_step;
};

/* False, and nothing done, when the rows are too short. */
typedef bool rd_unshuffle_bytes_fn (const struct rd_planes *planes);

/* Elements that go to `to' one after the other when they are put in order by
 * bits.  The rows of the default tiles are as long. */
#define RD_UNSHUFFLE_GROUP 32

/* ncolumns bytes of each of the rows of bits, which are row_nbytes apart:
 * each byte is eight elements.  Groups go to `to', step bytes from start to
 * start; unless that is their size, ncolumns are whole groups.  False, and
 * nothing done, when they are too few. */
typedef bool rd_unshuffle_bits_fn (const unsigned char *from,
                                   size_t row_nbytes, unsigned char *to,
                                   int64_t step, size_t ncolumns);

/* What one instruction set does, by the binary logarithm of the typesize;
 * NULL and what is too short are left to the next one. */
struct rd_unshuffler {
  const char *name;
  bool (*runs) (void);        /* on this machine */
  rd_unshuffle_bytes_fn *bytes[4];
  rd_unshuffle_bits_fn *bits[4];
};

extern const struct rd_unshuffler rd_unshuffle_sse2;
extern const struct rd_unshuffler rd_unshuffle_avx2;
extern const struct rd_unshuffler rd_unshuffle_neon;

/* All that were compiled, the fastest first, plain C last; then NULL. */
extern const struct rd_unshuffler *const rd_unshufflers[];

/* The same by one of them and those behind it. */
void rd_unshuffle_rows_by (const struct rd_unshuffler *const *by,
                           const struct rd_shuffled *block,
                           const struct rd_shuffled_rows *rows);

#endif /* RD_UNSHUFFLE_H */
