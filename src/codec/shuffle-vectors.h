/* SPDX-License-Identifier: MIT */
/* Shuffling and unshuffling by vectors of any instruction set.  A file that
 * includes this has defined:
 *
 *   vector               uint64_t in GCC's vectors
 *   TARGET               the attribute of functions that use them
 *   HELPER               static inline functions, those always inlined
 *   low_8, high_8, ...   interleave the lower, upper halves of each 128-bit
 *                        lane of two vectors by 8, 16, 32 bits
 *   store_pair           stores the first lanes of two vectors together, and
 *                        their second lanes, if there are any, `far' bytes
 *                        away
 *
 * and, to shuffle as well, HAS_SHUFFLE and:
 *
 *   even, odd            the even, odd bytes of two vectors
 *   high_bits            of each byte, as an integer's bits, lowest first
 *   shift_bits           each byte by one bit to the left
 *   bit_mask             the type of the result of high_bits
 *
 * It ends with UNSHUFFLER (set, level) and then SHUFFLER (set, level): the
 * instruction set's name, and what it is in enum rd_simd. */

#include "src/base/each.h"

#define WIDTH sizeof (vector)

HELPER vector
load (const unsigned char *from)
{
  vector value;
  memcpy (&value, from, sizeof value);
  return value;
}

/* join_N makes elements of N bytes from vectors of their first, second ...
 * bytes: of each lane the 16 elements are contiguous, and the lanes are `far'
 * bytes apart. */
HELPER void
join_2 (const vector *p, unsigned char *to, int64_t far)
{
  store_pair (to, low_8 (p[0], p[1]), high_8 (p[0], p[1]), far);
}

HELPER void
join_4 (const vector *p, unsigned char *to, int64_t far)
{
  vector ab = low_8 (p[0], p[1]), cd = low_8 (p[2], p[3]);
  store_pair (to, low_16 (ab, cd), high_16 (ab, cd), far);
  ab = high_8 (p[0], p[1]);
  cd = high_8 (p[2], p[3]);
  store_pair (to + 32, low_16 (ab, cd), high_16 (ab, cd), far);
}

/* Four elements of 8 bytes of each lane from pairs of their bytes 0-1, 2-3,
 * 4-5, 6-7. */
HELPER void
join_pairs (vector ab, vector cd, vector ef, vector gh, unsigned char *to,
            int64_t far)
{
  vector abcd = low_16 (ab, cd), efgh = low_16 (ef, gh);
  store_pair (to, low_32 (abcd, efgh), high_32 (abcd, efgh), far);
  abcd = high_16 (ab, cd);
  efgh = high_16 (ef, gh);
  store_pair (to + 32, low_32 (abcd, efgh), high_32 (abcd, efgh), far);
}

HELPER void
join_8 (const vector *p, unsigned char *to, int64_t far)
{
  join_pairs (low_8 (p[0], p[1]), low_8 (p[2], p[3]), low_8 (p[4], p[5]),
              low_8 (p[6], p[7]), to, far);
  join_pairs (high_8 (p[0], p[1]), high_8 (p[2], p[3]), high_8 (p[4], p[5]),
              high_8 (p[6], p[7]), to + 64, far);
}

/* The last vector of a row or block ends with it, and so may overlap the one
 * before. */
static inline size_t
next_start (size_t i, size_t n)
{
  return i + 2 * WIDTH <= n ? i + WIDTH : n - WIDTH;
}

#define LOAD_PLANE(k) p[k] = load (from + k * planes->plane_nbytes);

#define DEFINE_UNSHUFFLE_BYTES(typesize)                                \
  HELPER void                                                           \
  unshuffle_at_##typesize (const struct rd_planes *planes,              \
                           const unsigned char *from, unsigned char *to) \
  {                                                                     \
    vector p[typesize];                                                 \
    EACH_##typesize (LOAD_PLANE)                                        \
    join_##typesize (p, to, 16 * typesize);                             \
  }                                                                     \
                                                                        \
  static TARGET bool                                                    \
  unshuffle_bytes_##typesize (const struct rd_planes *planes)           \
  {                                                                     \
    if (planes->n < WIDTH)                                              \
      return false;                                                     \
    const unsigned char *from = planes->from;                           \
    unsigned char *to = planes->to;                                     \
    for (size_t row = 0; row < planes->nrows; row++) {                  \
      for (size_t i = 0;; i = next_start (i, planes->n)) {              \
        unshuffle_at_##typesize (planes, from + i, to + typesize * i);  \
        if (i + WIDTH == planes->n)                                     \
          break;                                                        \
      }                                                                 \
      from += planes->from_step;                                        \
      to += planes->to_step;                                            \
    }                                                                   \
    return true;                                                        \
  }

DEFINE_UNSHUFFLE_BYTES (2)
DEFINE_UNSHUFFLE_BYTES (4)
DEFINE_UNSHUFFLE_BYTES (8)

/* Exchanges the bits of a that are `shift' above those in mask with those of
 * b in mask. */
HELPER void
exchange (vector *a, vector *b, int shift, uint64_t mask)
{
  vector t = ((*a >> shift) ^ *b) & mask;
  *b ^= t;
  *a ^= t << shift;
}

/* Transposes bits across eight vectors, each with bytes of one row of bits:
 * afterwards byte i of p[k] is element k of the 8 x 8 square that the bytes
 * i were. */
HELPER void
transpose_bits (vector *p)
{
  const uint64_t ones = 0x5555555555555555u, twos = 0x3333333333333333u;
  const uint64_t fours = 0x0f0f0f0f0f0f0f0fu;
  exchange (&p[0], &p[1], 1, ones);
  exchange (&p[2], &p[3], 1, ones);
  exchange (&p[4], &p[5], 1, ones);
  exchange (&p[6], &p[7], 1, ones);
  exchange (&p[0], &p[2], 2, twos);
  exchange (&p[1], &p[3], 2, twos);
  exchange (&p[4], &p[6], 2, twos);
  exchange (&p[5], &p[7], 2, twos);
  exchange (&p[0], &p[4], 4, fours);
  exchange (&p[1], &p[5], 4, fours);
  exchange (&p[2], &p[6], 4, fours);
  exchange (&p[3], &p[7], 4, fours);
}

/* Makes two lanes of elements from vectors of elements 0 and 1, 2 and 3, ... */
HELPER void
interleave_pairs (vector ab, vector cd, vector ef, vector gh, vector *result)
{
  vector abcd = low_16 (ab, cd), efgh = low_16 (ef, gh);
  result[0] = low_32 (abcd, efgh);
  result[1] = high_32 (abcd, efgh);
  abcd = high_16 (ab, cd);
  efgh = high_16 (ef, gh);
  result[2] = low_32 (abcd, efgh);
  result[3] = high_32 (abcd, efgh);
}

/* One byte of 8 * WIDTH elements, from its eight rows.  Each lane of
 * plane[j] has the elements of two columns, 2 j and 2 j + 1 of the lane. */
HELPER void
make_plane (const unsigned char *from, size_t row_nbytes, vector *plane)
{
  vector p[8] = {
    load (from), load (from + row_nbytes), load (from + 2 * row_nbytes),
    load (from + 3 * row_nbytes), load (from + 4 * row_nbytes),
    load (from + 5 * row_nbytes), load (from + 6 * row_nbytes),
    load (from + 7 * row_nbytes),
  };
  transpose_bits (p);
  interleave_pairs (low_8 (p[0], p[1]), low_8 (p[2], p[3]),
                    low_8 (p[4], p[5]), low_8 (p[6], p[7]), plane);
  interleave_pairs (high_8 (p[0], p[1]), high_8 (p[2], p[3]),
                    high_8 (p[4], p[5]), high_8 (p[6], p[7]), plane + 4);
}

/* Vector j has elements of the first or second half of row j / 2, and the
 * second lane those of a row four rows on; rows are `step' apart. */
HELPER unsigned char *
half_row (unsigned char *to, int64_t step, size_t typesize, size_t j)
{
  return to + (int64_t) (j / 2) * step + j % 2 * 16 * typesize;
}

#define PUT_ROW(j) \
  store_pair (to + j * step, p[2 * j], p[2 * j + 1], 4 * step);

HELPER void
columns_1 (const unsigned char *from, size_t row_nbytes, unsigned char *to,
           int64_t step)
{
  vector p[8];
  make_plane (from, row_nbytes, p);
  EACH_4 (PUT_ROW)
}

#define MAKE_PLANE(k) \
  make_plane (from + 8 * k * row_nbytes, row_nbytes, planes[k]);
#define TAKE_VECTOR(k) p[k] = planes[k][j];

#define PUT_2(j) put_2 (planes, j, to, step);
#define PUT_4(j) put_4 (planes, j, to, step);
#define PUT_8(j) put_8 (planes, j, to, step);

#define DEFINE_COLUMNS(typesize)                                        \
  HELPER void                                                           \
  put_##typesize (vector (*planes)[8], size_t j, unsigned char *to,     \
                  int64_t step)                                         \
  {                                                                     \
    vector p[typesize];                                                 \
    EACH_##typesize (TAKE_VECTOR)                                       \
    join_##typesize (p, half_row (to, step, typesize, j), 4 * step);    \
  }                                                                     \
                                                                        \
  HELPER void                                                           \
  columns_##typesize (const unsigned char *from, size_t row_nbytes,     \
                      unsigned char *to, int64_t step)                  \
  {                                                                     \
    vector planes[typesize][8];                                         \
    EACH_##typesize (MAKE_PLANE)                                        \
    EACH_8 (PUT_##typesize)                                             \
  }

DEFINE_COLUMNS (2)
DEFINE_COLUMNS (4)
DEFINE_COLUMNS (8)

/* Where groups are contiguous, their distance is known to the compiler. */
#define DEFINE_BITS(typesize)                                           \
  HELPER bool                                                           \
  groups_##typesize (const unsigned char *from, size_t row_nbytes,      \
                     unsigned char *to, int64_t step, size_t ncolumns)  \
  {                                                                     \
    for (size_t i = 0;; i = next_start (i, ncolumns)) {                 \
      columns_##typesize (from + i, row_nbytes,                         \
                          to + (int64_t) i * step / 4, step);           \
      if (i + WIDTH == ncolumns)                                        \
        return true;                                                    \
    }                                                                   \
  }                                                                     \
                                                                        \
  static TARGET bool                                                    \
  unshuffle_bits_##typesize (const unsigned char *from,                 \
                             size_t row_nbytes, unsigned char *to,      \
                             int64_t step, size_t ncolumns)             \
  {                                                                     \
    const int64_t least = RD_UNSHUFFLE_GROUP * typesize;                \
    if (ncolumns < WIDTH)                                               \
      return false;                                                     \
    if (step == least)                                                  \
      return groups_##typesize (from, row_nbytes, to, least, ncolumns); \
    return groups_##typesize (from, row_nbytes, to, step, ncolumns);    \
  }

DEFINE_BITS (1)
DEFINE_BITS (2)
DEFINE_BITS (4)
DEFINE_BITS (8)

#define UNSHUFFLER(set, its_level)                                      \
  const struct rd_unshuffler rd_unshuffle_##set = {                     \
    .level = its_level,                                                 \
    .bytes = { NULL, unshuffle_bytes_2, unshuffle_bytes_4,              \
               unshuffle_bytes_8 },                                     \
    .bits = { unshuffle_bits_1, unshuffle_bits_2, unshuffle_bits_4,     \
              unshuffle_bits_8 },                                       \
  };

#ifdef HAS_SHUFFLE
HELPER void
store (unsigned char *to, vector value)
{
  memcpy (to, &value, sizeof value);
}

/* Changes N vectors of elements to N vectors of the bytes of one plane each. */
HELPER void
take_apart_2 (vector *p)
{
  vector a = even (p[0], p[1]), b = odd (p[0], p[1]);
  p[0] = a;
  p[1] = b;
}

HELPER void
take_apart_4 (vector *p)
{
  take_apart_2 (p);
  take_apart_2 (p + 2);
  vector a = even (p[0], p[2]), b = odd (p[0], p[2]);
  vector c = even (p[1], p[3]), d = odd (p[1], p[3]);
  p[0] = a;
  p[1] = c;
  p[2] = b;
  p[3] = d;
}

HELPER void
take_apart_8 (vector *p)
{
  vector q[8];
  take_apart_4 (p);
  take_apart_4 (p + 4);
  for (size_t k = 0; k < 4; k++) {
    q[k] = even (p[k], p[k + 4]);
    q[k + 4] = odd (p[k], p[k + 4]);
  }
  for (size_t k = 0; k < 8; k++)
    p[k] = q[k];
}

#define DEFINE_SHUFFLE_BYTES(typesize)                                  \
  static TARGET size_t                                                  \
  shuffle_bytes_##typesize (const unsigned char *from,                  \
                            unsigned char *to, size_t n)                \
  {                                                                     \
    size_t i = 0;                                                       \
    for (; i + WIDTH <= n; i += WIDTH) {                                \
      vector p[typesize];                                               \
      for (size_t k = 0; k < typesize; k++)                             \
        p[k] = load (from + typesize * i + k * WIDTH);                  \
      take_apart_##typesize (p);                                        \
      for (size_t k = 0; k < typesize; k++)                             \
        store (to + k * n + i, p[k]);                                   \
    }                                                                   \
    return i;                                                           \
  }

DEFINE_SHUFFLE_BYTES (2)
DEFINE_SHUFFLE_BYTES (4)
DEFINE_SHUFFLE_BYTES (8)

static TARGET size_t
shuffle_bits (const unsigned char *from, unsigned char *to, size_t n)
{
  size_t i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    vector bytes = load (from + i);
    for (size_t k = 8; k-- > 0;) {
      bit_mask bits = high_bits (bytes);
      memcpy (to + k * (n / 8) + i / 8, &bits, sizeof bits);
      bytes = shift_bits (bytes);
    }
  }
  return i;
}

#define SHUFFLER(set, its_level)                                        \
  const struct rd_shuffler rd_shuffle_##set = {                         \
    .level = its_level,                                                 \
    .bytes = { shuffle_bytes_2, shuffle_bytes_4, shuffle_bytes_8 },     \
    .bits = shuffle_bits,                                               \
  };

#endif /* HAS_SHUFFLE */
