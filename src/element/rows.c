/* SPDX-License-Identifier: MIT */
/* Rows by their length: copies of a constant size become a few moves, and a
 * length between two of those is two copies that overlap. */
#include <config.h>

#include <string.h>

#include "src/element/rows.h"

/* Longer rows are memcpy's. */
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

/* From 16 bytes on: the last 16 may overlap those before. */
static inline void
copy_medium (unsigned char *to, const unsigned char *from, size_t nbytes)
{
  for (size_t i = 0; i + 16 < nbytes; i += 16)
    memcpy (to + i, from + i, 16);
  memcpy (to + nbytes - 16, from + nbytes - 16, 16);
}

/* The first `size' bytes of a row and the last, which may overlap. */
#define COPY_ENDS(size)                                                \
  do {                                                                  \
    memcpy (to, from, (size));                                          \
    memcpy (to + nbytes - (size), from + nbytes - (size), (size));      \
  } while (0)

/* Less than 16 bytes; of single elements there are many. */
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
    EACH_ROW (copy_medium (to, from, nbytes));
  else
    copy_short (from, from_step, to, to_step, nbytes, nrows);
}

/* The lines of a row by their last bytes: one in which the row only ends
 * counts, and one in which it only begins has just been written by whoever
 * placed the tile before.  Many rows lie in few sets of the cache when their
 * distance is a power of two, so that each line too many drives out one that
 * is waited for. */
static void
expect (const unsigned char *to, size_t nbytes)
{
  for (size_t i = CACHE_LINE; i < nbytes; i += CACHE_LINE)
    __builtin_prefetch (to + i - 1, 1);
  __builtin_prefetch (to + nbytes - 1, 1);
}

void
rd_rows_expect (const unsigned char *to, int64_t to_step, size_t nbytes,
                size_t nrows)
{
  if (nbytes == 0 || nbytes > SHORT_ROW)
    return;
  /* Rows that lie close to each other are foreseen by the machine. */
  if (to_step > -NEAR_NBYTES && to_step < NEAR_NBYTES)
    return;
  for (size_t row = 0; row < nrows; row++, to += to_step)
    expect (to, nbytes);
}
