/* SPDX-License-Identifier: MIT */
/* The two filters of blosc, which make blocks easier to compress: shuffle
 * puts the i-th bytes of all elements of a block together (a plane),
 * bitshuffle the i-th bits (a row of bits, eight rows for each byte of an
 * element).  Unshuffling can be of some elements only, which go straight to
 * the caller's memory. */
#ifndef RD_SHUFFLE_H
#define RD_SHUFFLE_H

#include <radio/base.h>
#include <radio/box.h>

#include "src/base/simd.h"

/* Shuffles a block by bytes; a remainder of less than an element stays at the
 * end.  The blocks must not overlap. */
void rd_shuffle (size_t typesize, const unsigned char *from,
                 unsigned char *to, size_t nbytes);

/* Shuffles a block by bits.  A block whose number of whole elements is not a
 * multiple of 8 is copied.  buffer is of the same size. */
void rd_bitshuffle (size_t typesize, const unsigned char *from,
                    unsigned char *to, size_t nbytes, unsigned char *buffer);

/* An instruction set.  Each function begins with the first element (the first
 * byte of a plane) and returns how many it did; the others are left to plain
 * C. */
struct rd_shuffler {
  enum rd_simd level;

  /* n elements of 2, 4, 8 bytes to as many planes of n bytes. */
  size_t (*bytes[3]) (const unsigned char *from, unsigned char *to,
                      size_t n);

  /* The bits of n bytes to 8 rows of n / 8 bytes. */
  size_t (*bits) (const unsigned char *from, unsigned char *to, size_t n);
};

/* Returns those that were compiled, best first; NULL ends the list.  For
 * tests. */
const struct rd_shuffler *const *rd_shufflers (void);

/* As rd_bitshuffle or, if buffer is NULL, as rd_shuffle, by an instruction set
 * or, if NULL, by plain C only. */
void rd_shuffle_by (const struct rd_shuffler *shuffler, size_t typesize,
                    const unsigned char *from, unsigned char *to,
                    size_t nbytes, unsigned char *buffer);

#ifdef __x86_64__
extern const struct rd_shuffler rd_shuffle_avx2;
extern const struct rd_shuffler rd_shuffle_sse2;
#endif

/* A shuffled block of n elements. */
struct rd_shuffled {
  const unsigned char *data;  /* n * typesize bytes */
  size_t typesize;            /* 1-255 */
  size_t n;                   /* of bits: a multiple of 8 */
  bool bits;
};

/* Rows of n elements of a block, `step' elements from start to start, and
 * their destination, to_step bytes from start to start. */
struct rd_shuffled_rows {
  size_t first, n, nrows, step;
  unsigned char *to;
  int64_t to_step;
};

/* Unshuffles elements first to first + count - 1 of a block. */
void rd_unshuffle (const struct rd_shuffled *block, size_t first,
                   size_t count, unsigned char *to);

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

/* Rows of elements in planes of bytes.  Steps are in bytes. */
struct rd_planes {
  const unsigned char *from;  /* the first element's byte 0 */
  size_t plane_nbytes;        /* to its next byte */
  size_t n, nrows;            /* elements */
  size_t from_step;
  unsigned char *to;
  int64_t to_step;
};

/* Returns false, and does nothing, when the rows are too short. */
typedef bool rd_unshuffle_bytes_fn (const struct rd_planes *planes);

/* Elements that are contiguous in the destination when bits are unshuffled: as
 * many as in the rows of the default tiles. */
#define RD_UNSHUFFLE_GROUP 32

/* ncolumns bytes of each of the rows of bits, which are row_nbytes apart:
 * each byte is eight elements.  Groups go to `to', step bytes from start to
 * start; unless that is their size, ncolumns are whole groups.  False, and
 * nothing done, when they are too few. */
typedef bool rd_unshuffle_bits_fn (const unsigned char *from,
                                   size_t row_nbytes, unsigned char *to,
                                   int64_t step, size_t ncolumns);

/* The functions of one instruction set, by the binary logarithm of the
 * typesize; NULL and too short rows are left to the next one. */
struct rd_unshuffler {
  enum rd_simd level;
  rd_unshuffle_bytes_fn *bytes[4];
  rd_unshuffle_bits_fn *bits[4];
};

extern const struct rd_unshuffler rd_unshuffle_sse2;
extern const struct rd_unshuffler rd_unshuffle_avx2;
extern const struct rd_unshuffler rd_unshuffle_neon;

/* All that were compiled, the fastest first, plain C last; then NULL. */
extern const struct rd_unshuffler *const rd_unshufflers[];

/* Unshuffles rows by one of them and those after it.  For tests. */
void rd_unshuffle_rows_by (const struct rd_unshuffler *const *by,
                           const struct rd_shuffled *block,
                           const struct rd_shuffled_rows *rows);

#endif /* RD_SHUFFLE_H */
