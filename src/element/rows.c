/* SPDX-License-Identifier: MIT */
/* Rows of elements: copied, reversed, or transposed.  The vectors are the
 * compiler's own, of 16 bytes, which every x86-64 and aarch64 has; elsewhere
 * they become plain C. */
#include <config.h>

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "src/base/checked.h"
#include "src/base/each.h"
#include "src/element/rows.h"

/* Rows are copied by their length: copies of a constant size become a few
 * moves, and a length between two of those is two copies that overlap. */

/* Longer rows are left to memcpy. */
#define SHORT_ROW RD_ROWS_SHORT_NBYTES

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
  for (size_t row = 0; row < nrows; row++)
    rd_row_prefetch (to, (int64_t) row * to_step, nbytes);
}

/* Stores a vector of 16 bytes, past the caches if the machine can. */
#ifdef __SSE2__
#define STREAM(to, v) \
  _mm_stream_si128 ((__m128i *) (void *) (to), (__m128i) (v))
#else
#define STREAM(to, v) memcpy (to, &(v), sizeof (v))
#endif

void
rd_rows_fence (void)
{
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

/* The shuffles of two vectors, which GCC and clang name differently. */
#ifdef __clang__
#define SHUFFLE(type, a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)
#else
#define SHUFFLE(type, a, b, ...) \
  __builtin_shuffle (a, b, (type) { __VA_ARGS__ })
#endif

typedef uint8_t vector_8 __attribute__ ((__vector_size__ (16)));
typedef uint16_t vector_16 __attribute__ ((__vector_size__ (16)));
typedef uint32_t vector_32 __attribute__ ((__vector_size__ (16)));
typedef uint64_t vector_64 __attribute__ ((__vector_size__ (16)));

#define DEFINE_SHUFFLES(bits, low, high)                        \
  static inline vector_##bits                                   \
  low_##bits (vector_##bits a, vector_##bits b)                 \
  {                                                             \
    return SHUFFLE (vector_##bits, a, b, low);                  \
  }                                                             \
  static inline vector_##bits                                   \
  high_##bits (vector_##bits a, vector_##bits b)                \
  {                                                             \
    return SHUFFLE (vector_##bits, a, b, high);                 \
  }

#define LIST(...) __VA_ARGS__
DEFINE_SHUFFLES (8,
                 LIST (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                       23),
                 LIST (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                       15, 31))
DEFINE_SHUFFLES (16, LIST (0, 8, 1, 9, 2, 10, 3, 11),
                 LIST (4, 12, 5, 13, 6, 14, 7, 15))
DEFINE_SHUFFLES (32, LIST (0, 4, 1, 5), LIST (2, 6, 3, 7))
DEFINE_SHUFFLES (64, LIST (0, 2), LIST (1, 3))

static inline vector_64
reverse_64 (vector_64 a)
{
  return SHUFFLE (vector_64, a, a, 1, 0);
}

/* Parts of a lane are exchanged by shifts: SSE2 cannot shuffle them. */
static inline vector_32
reverse_32 (vector_32 a)
{
  return SHUFFLE (vector_32, a, a, 3, 2, 1, 0);
}

static inline vector_16
reverse_16 (vector_16 a)
{
  vector_32 lanes = (vector_32) a;
  return (vector_16) reverse_32 (lanes << 16 | lanes >> 16);
}

static inline vector_8
reverse_8 (vector_8 a)
{
  vector_16 lanes = (vector_16) a;
  return (vector_8) reverse_16 (lanes << 8 | lanes >> 8);
}

/* The last vector of a row ends with it, and so may overlap the one before. */
static inline size_t
next_start (size_t i, size_t n, size_t width)
{
  return i + 2 * width <= n ? i + width : n - width;
}

/* Rows into the opposite order: the first element goes to rows->to. */
#define DEFINE_REVERSE(bits)                                            \
  static void                                                           \
  reverse_rows_##bits (const struct rd_rows *rows)                      \
  {                                                                     \
    const size_t size = (bits) / 8, width = 16 / size, n = rows->n;     \
    const unsigned char *from = rows->from;                             \
    unsigned char *to = rows->to - (n - 1) * size;                      \
    for (size_t row = 0; row < rows->nrows; row++) {                    \
      if (!rows->streams)                                               \
        rd_row_prefetch (to, RD_ROWS_AHEAD * rows->to_step, n * size);  \
      if (n >= width)                                                   \
        for (size_t i = 0;; i = next_start (i, n, width)) {             \
          vector_##bits v;                                              \
          memcpy (&v, from + i * size, sizeof v);                       \
          v = reverse_##bits (v);                                       \
          unsigned char *end = to + (n - width - i) * size;             \
          if (rows->streams)                                            \
            STREAM (end, v);                                            \
          else                                                          \
            memcpy (end, &v, sizeof v);                                 \
          if (i + width == n)                                           \
            break;                                                      \
        }                                                               \
      else                                                              \
        for (size_t i = 0; i < n; i++)                                  \
          memcpy (to + (n - 1 - i) * size, from + i * size, size);      \
      from += rows->from_step;                                          \
      to += rows->to_step;                                              \
    }                                                                   \
  }

DEFINE_REVERSE (8)
DEFINE_REVERSE (16)
DEFINE_REVERSE (32)
DEFINE_REVERSE (64)

/* Squares of elements, as many as a vector has: as often as their number has
 * bits, the first half of the vectors is interleaved with the second. */

#define LOAD(k) memcpy (&a[k], from + k * from_step, sizeof a[k]);
#define STORE(k) memcpy (to + k * to_step, &a[k], sizeof a[k]);
#define MIX(bits, x, y, k, half)                \
  y[2 * k] = low_##bits (x[k], x[k + half]);    \
  y[2 * k + 1] = high_##bits (x[k], x[k + half]);
#define MIX_8_AB(k) MIX (8, a, b, k, 8)
#define MIX_8_BA(k) MIX (8, b, a, k, 8)
#define MIX_16_AB(k) MIX (16, a, b, k, 4)
#define MIX_16_BA(k) MIX (16, b, a, k, 4)
#define MIX_32_AB(k) MIX (32, a, b, k, 2)
#define MIX_32_BA(k) MIX (32, b, a, k, 2)
#define MIX_64_AB(k) MIX (64, a, b, k, 1)
#define MIX_8 EACH_8 (MIX_8_AB) EACH_8 (MIX_8_BA) EACH_8 (MIX_8_AB) \
  EACH_8 (MIX_8_BA)
#define MIX_16 EACH_4 (MIX_16_AB) EACH_4 (MIX_16_BA) EACH_4 (MIX_16_AB) \
  a[0] = b[0]; a[1] = b[1]; a[2] = b[2]; a[3] = b[3]; a[4] = b[4]; \
  a[5] = b[5]; a[6] = b[6]; a[7] = b[7];
#define MIX_32 EACH_2 (MIX_32_AB) EACH_2 (MIX_32_BA)
#define MIX_64 EACH_1 (MIX_64_AB) a[0] = b[0]; a[1] = b[1];

#define COLUMNS 16

#define DEFINE_TRANSPOSE(bits, width)                                   \
  static inline void                                                    \
  transpose_square_##bits (const unsigned char *from, int64_t from_step, \
                           unsigned char *to, int64_t to_step)          \
  {                                                                     \
    vector_##bits a[width], b[width];                                   \
    EACH_##width (LOAD)                                                 \
    MIX_##bits                                                          \
    EACH_##width (STORE)                                                \
  }                                                                     \
                                                                        \
  static void                                                           \
  transpose_##bits (const struct rd_rows *rows, int64_t to_stride)      \
  {                                                                     \
    const int64_t size = (bits) / 8;                                    \
    for (size_t j = 0;; j = next_start (j, rows->n, width)) {           \
      const unsigned char *from = rows->from + (int64_t) j * size;      \
      unsigned char *to = rows->to + (int64_t) j * to_stride;           \
      for (size_t i = 0;; i = next_start (i, rows->nrows, width)) {     \
        transpose_square_##bits (from + (int64_t) i * rows->from_step,  \
                                 rows->from_step,                       \
                                 to + (int64_t) i * size, to_stride);   \
        if (i + width == rows->nrows)                                   \
          break;                                                        \
      }                                                                 \
      if (j + width == rows->n)                                         \
        break;                                                          \
    }                                                                   \
  }

DEFINE_TRANSPOSE (8, 16)
DEFINE_TRANSPOSE (16, 8)
DEFINE_TRANSPOSE (32, 4)
DEFINE_TRANSPOSE (64, 2)

/* The same past the caches, a whole line of a column at a time, of four
 * squares: lines that are filled in turn would be written in parts where their
 * distance is a power of two.  Of lines that a column fills in part, what it
 * fills is written past the caches, too: they would be read for it.  The next
 * lines of the rows are prefetched, which are too many for the hardware. */
#define STREAM_VECTOR(k) STREAM (to + k * to_stride, m0[k]);
#define STREAM_LINE(k)                                  \
  STREAM (to + k * to_stride, m0[k]);                   \
  STREAM (to + k * to_stride + 16, m1[k]);              \
  STREAM (to + k * to_stride + 32, m2[k]);              \
  STREAM (to + k * to_stride + 48, m3[k]);
#define SQUARE(bits, width, m)                          \
  {                                                     \
    vector_##bits a[width], b[width];                   \
    EACH_##width (LOAD)                                 \
    MIX_##bits                                          \
    memcpy (m, a, sizeof a);                            \
    from += width * from_step;                          \
  }
#define DEFINE_STREAM(bits, width)                                      \
  static void                                                           \
  stream_squares_##bits (const struct rd_rows *rows, int64_t to_stride) \
  {                                                                     \
    const int64_t from_step = rows->from_step;                          \
    const bool begins_line = (uintptr_t) rows->to % RD_LINE_NBYTES == 0; \
    for (size_t j = 0; j < rows->n; j += width) {                       \
      const unsigned char *from = rows->from + j * 16 / width;          \
      unsigned char *to = rows->to + (int64_t) j * to_stride;           \
      const bool is_line = j * 16 / width % RD_LINE_NBYTES == 0;        \
      vector_##bits m0[width], m1[width], m2[width], m3[width];         \
      size_t i = 0;                                                     \
      for (; begins_line && i + 4 * width <= rows->nrows; i += 4 * width) { \
        for (int64_t k = 0; is_line && k < 4 * width; k++)              \
          __builtin_prefetch (from + k * from_step + RD_LINE_NBYTES);   \
        SQUARE (bits, width, m0)                                        \
        SQUARE (bits, width, m1)                                        \
        SQUARE (bits, width, m2)                                        \
        SQUARE (bits, width, m3)                                        \
        EACH_##width (STREAM_LINE)                                      \
        to += RD_LINE_NBYTES;                                           \
      }                                                                 \
      for (; i < rows->nrows; i += width) {                             \
        for (int64_t k = 0; is_line && k < width; k++)                  \
          __builtin_prefetch (from + k * from_step + RD_LINE_NBYTES);   \
        SQUARE (bits, width, m0)                                        \
        EACH_##width (STREAM_VECTOR)                                    \
        to += 16;                                                       \
      }                                                                 \
    }                                                                   \
  }

DEFINE_STREAM (16, 8)
DEFINE_STREAM (32, 4)
DEFINE_STREAM (64, 2)

/* Makes columns of rows past the caches, if they are whole squares, and columns
 * are whole lines apart. */
static bool
stream_squares (const struct rd_rows *rows, size_t item_nbytes,
                int64_t to_stride)
{
  const size_t nbytes = rows->nrows * item_nbytes;
  if (((uintptr_t) rows->to | nbytes | rows->n * item_nbytes) % 16 != 0
      || to_stride % RD_LINE_NBYTES != 0)
    return false;
  switch (item_nbytes) {
  case 2: stream_squares_16 (rows, to_stride); return true;
  case 4: stream_squares_32 (rows, to_stride); return true;
  case 8: stream_squares_64 (rows, to_stride); return true;
  default: return false;
  }
}

/* Any elements, one by one. */
static void
move_elements (const struct rd_rows *rows, size_t item_nbytes,
               int64_t to_stride)
{
  const unsigned char *from = rows->from;
  unsigned char *to = rows->to;
#define MOVE_ALL(nbytes)                                                \
  for (size_t row = 0; row < rows->nrows; row++) {                      \
    for (size_t i = 0; i < rows->n; i++)                                \
      memcpy (to + (int64_t) i * to_stride, from + i * (nbytes),        \
              (nbytes));                                                \
    from += rows->from_step;                                            \
    to += rows->to_step;                                                \
  }                                                                     \
  break
  switch (item_nbytes) {
  case 1: MOVE_ALL (1);
  case 2: MOVE_ALL (2);
  case 4: MOVE_ALL (4);
  case 8: MOVE_ALL (8);
  case 16: MOVE_ALL (16);
  default: MOVE_ALL (item_nbytes);
  }
}

/* Reverses rows; false if there is no function for the size. */
static bool
reverse_rows (const struct rd_rows *rows, size_t item_nbytes)
{
  switch (item_nbytes) {
  case 1: reverse_rows_8 (rows); return true;
  case 2: reverse_rows_16 (rows); return true;
  case 4: reverse_rows_32 (rows); return true;
  case 8: reverse_rows_64 (rows); return true;
  default: return false;
  }
}

/* Transposes rows whose elements of one column follow each other. */
static bool
transpose (const struct rd_rows *rows, size_t item_nbytes, int64_t to_stride)
{
  size_t width = item_nbytes > 0 ? 16 / item_nbytes : 0;
  if (width < 2 || 16 % item_nbytes != 0 || rows->n < width
      || rows->nrows < width)
    return false;
  switch (item_nbytes) {
  case 1: transpose_8 (rows, to_stride); return true;
  case 2: transpose_16 (rows, to_stride); return true;
  case 4: transpose_32 (rows, to_stride); return true;
  default: transpose_64 (rows, to_stride); return true;
  }
}

static void
make_columns (const struct rd_rows *rows, size_t item_nbytes,
              int64_t to_stride)
{
  if (!transpose (rows, item_nbytes, to_stride))
    move_elements (rows, item_nbytes, to_stride);
}

static inline void
stream_vector (const unsigned char *from, unsigned char *to)
{
  vector_8 v;
  memcpy (&v, from, sizeof v);
  STREAM (to, v);
}

/* Copies less than a line, by the bits of its length: the smallest piece first
 * before a line, and last after one. */
#define COPY_PIECE(size)                        \
  if (nbytes & (size)) {                        \
    memcpy (to, from, (size));                  \
    from += (size);                             \
    to += (size);                               \
  }

static inline void
copy_head (const unsigned char *from, unsigned char *to, size_t nbytes)
{
  COPY_PIECE (1) COPY_PIECE (2) COPY_PIECE (4) COPY_PIECE (8)
  COPY_PIECE (16) COPY_PIECE (32)
}

static inline void
copy_tail (const unsigned char *from, unsigned char *to, size_t nbytes)
{
  COPY_PIECE (32) COPY_PIECE (16) COPY_PIECE (8) COPY_PIECE (4)
  COPY_PIECE (2) COPY_PIECE (1)
}

/* Rows that are closer are prefetched while the one before is moved: the
 * hardware stops at gaps. */
#define FAR_NBYTES 4096

/* Writes bytes past the caches, with writes_parts also those of lines that they
 * fill in part, if they are vectors.  Those at a distance ahead are
 * prefetched. */
static inline void
stream_bytes (const unsigned char *from, int64_t ahead, unsigned char *to,
              size_t nbytes, bool writes_parts)
{
  const bool is_vectors
    = writes_parts && ((uintptr_t) to | nbytes) % sizeof (vector_8) == 0;
  size_t lead = -(uintptr_t) to % RD_LINE_NBYTES, i = 0;
  if (lead > nbytes)
    lead = 0;
  if (is_vectors)
    for (; i < lead; i += sizeof (vector_8))
      stream_vector (from + i, to + i);
  else
    copy_head (from, to, lead);
  i = lead;
  for (; i + RD_LINE_NBYTES <= nbytes; i += RD_LINE_NBYTES) {
    vector_8 v[4];
    memcpy (v, from + i, sizeof v);
    if (ahead != 0)
      __builtin_prefetch ((const void *) ((uintptr_t) from + i
                                          + (uint64_t) ahead));
    STREAM (to + i, v[0]);
    STREAM (to + i + 16, v[1]);
    STREAM (to + i + 32, v[2]);
    STREAM (to + i + 48, v[3]);
  }
  if (is_vectors)
    for (; i < nbytes; i += sizeof (vector_8))
      stream_vector (from + i, to + i);
  else
    copy_tail (from + i, to + i, nbytes - i);
}

/* By way of a buffer, so that each cache line is written at once. */
static void
stream_columns (const struct rd_rows *rows, size_t item_nbytes,
                int64_t to_stride)
{
  _Alignas (16) unsigned char buffer[COLUMNS * RD_COLUMN_NBYTES];
  size_t nbytes = rows->nrows * item_nbytes;
  for (size_t j = 0; j < rows->n; j += COLUMNS) {
    struct rd_rows part = *rows;
    part.from += j * item_nbytes;
    part.to = buffer;
    part.n = rows->n - j < COLUMNS ? rows->n - j : COLUMNS;
    make_columns (&part, item_nbytes, (int64_t) nbytes);
    for (size_t k = 0; k < part.n; k++)
      stream_bytes (buffer + k * nbytes, 0,
                    rows->to + (int64_t) (j + k) * to_stride, nbytes, true);
  }
}

uint64_t
rd_line_lead (const void *to, int64_t step)
{
  uint64_t at = (uintptr_t) to;
  uint64_t nbytes = rd_abs_i64 (step);
  /* Backward lines end with an element. */
  uint64_t misfit = (step < 0 ? at + nbytes : -at) % RD_LINE_NBYTES;
  return nbytes > 0 && misfit % nbytes == 0 ? misfit / nbytes : 0;
}

void
rd_rows_place (const struct rd_rows *rows, size_t item_nbytes,
               int64_t to_stride)
{
  int64_t size = (int64_t) item_nbytes;
  if (rows->n == 0 || rows->nrows == 0)
    return;
  if (to_stride == size && rows->streams) {
    const int64_t nbytes = (int64_t) rows->n * size;
    const bool are_near = rd_abs_i64 (rows->from_step) < FAR_NBYTES;
    /* If rows go backward, the rest of a line is written much later. */
    const bool goes_back = rows->to_step == -nbytes;
    for (int64_t row = 0; row < (int64_t) rows->nrows; row++)
      stream_bytes (rows->from + row * rows->from_step,
                    are_near ? rows->from_step : 0,
                    rows->to + row * rows->to_step, (size_t) nbytes,
                    !goes_back);
    return;
  }
  if (to_stride == size) {
    rd_rows_copy (rows->from, rows->from_step, rows->to, rows->to_step,
                  rows->n * item_nbytes, rows->nrows);
    return;
  }
  if (to_stride == -size && reverse_rows (rows, item_nbytes))
    return;
  if (rows->to_step != size && rows->to_step != -size) {
    move_elements (rows, item_nbytes, to_stride);
    return;
  }
  size_t most = RD_COLUMN_NBYTES / item_nbytes;
  if (most == 0)
    most = 1;
  /* Each row is an element of a column. */
  size_t lead = rows->streams
                ? (size_t) rd_line_lead (rows->to, rows->to_step) : 0;
  for (size_t row = 0; row < rows->nrows;) {
    struct rd_rows part = *rows;
    size_t left = rows->nrows - row, n = row == 0 && lead > 0 ? lead : most;
    part.nrows = left < n ? left : n;
    part.from += (int64_t) row * rows->from_step;
    part.to += (int64_t) row * rows->to_step;
    row += part.nrows;
    if (rows->to_step < 0) {
      /* From the last row on. */
      part.from += (int64_t) (part.nrows - 1) * rows->from_step;
      part.to += (int64_t) (part.nrows - 1) * rows->to_step;
      part.from_step = -rows->from_step;
      part.to_step = size;
    }
    if (part.streams && stream_squares (&part, item_nbytes, to_stride))
      continue;
    if (part.streams && part.nrows * item_nbytes <= RD_COLUMN_NBYTES)
      stream_columns (&part, item_nbytes, to_stride);
    else
      make_columns (&part, item_nbytes, to_stride);
  }
}

void
rd_rows_place_prefetch (const struct rd_rows *rows, size_t item_nbytes,
                        int64_t to_stride)
{
  int64_t size = (int64_t) item_nbytes;
  const unsigned char *to = rows->to;
  if (rows->n == 0 || rows->nrows == 0)
    return;
  /* Rows that are reversed prefetch for themselves. */
  if (to_stride == size) {
    rd_rows_prefetch (to, rows->to_step, rows->n * item_nbytes, rows->nrows);
  } else if (rows->to_step == size || rows->to_step == -size) {
    if (rows->to_step < 0)
      to -= (rows->nrows - 1) * item_nbytes;
    rd_rows_prefetch (to, to_stride, rows->nrows * item_nbytes, rows->n);
  }
}
