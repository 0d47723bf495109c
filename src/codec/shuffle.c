/* SPDX-License-Identifier: MIT */
/* Shuffling: vectors as far as they go, then plain C.  Bits are taken from
 * planes of bytes, since those of one plane are at one place of each byte. */
#include <config.h>

#include <string.h>

#include "src/codec/bit-square.h"
#include "src/codec/shuffle.h"

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

/* The best of those that this processor runs. */
static const struct rd_shuffler *
choose (void)
{
  const struct rd_shuffler *const *list = rd_shufflers ();
  while (*list && !(*list)->runs ())
    list++;
  return *list;
}

static size_t
shuffle_by_vectors (const struct rd_shuffler *shuffler, size_t typesize,
                    const unsigned char *from, unsigned char *to, size_t n)
{
  switch (shuffler ? typesize : 0) {
  case 2: return shuffler->bytes[0] (from, to, n);
  case 4: return shuffler->bytes[1] (from, to, n);
  case 8: return shuffler->bytes[2] (from, to, n);
  default: return 0;
  }
}

/* Whole elements. */
static void
make_planes (const struct rd_shuffler *shuffler, size_t typesize,
             const unsigned char *from, unsigned char *to, size_t n)
{
  size_t done = shuffle_by_vectors (shuffler, typesize, from, to, n);
  for (size_t i = done; i < n; i++)
    for (size_t k = 0; k < typesize; k++)
      to[k * n + i] = from[i * typesize + k];
}

/* A plane of n bytes to its 8 rows of bits; n is a multiple of 8. */
static void
make_rows (const struct rd_shuffler *shuffler, const unsigned char *from,
           unsigned char *to, size_t n)
{
  size_t done = shuffler ? shuffler->bits (from, to, n) : 0;
  for (size_t i = done; i < n; i += 8) {
    uint64_t x = 0;
    for (unsigned k = 0; k < 8; k++)
      x |= (uint64_t) from[i + k] << 8 * k;
    x = rd_transpose_bits (x);
    for (unsigned k = 0; k < 8; k++)
      to[k * (n / 8) + i / 8] = (unsigned char) (x >> 8 * k);
  }
}

static void
make_all_rows (const struct rd_shuffler *shuffler, size_t typesize,
               const unsigned char *from, unsigned char *to, size_t n,
               unsigned char *room)
{
  const unsigned char *planes = typesize > 1 ? room : from;
  if (typesize > 1)
    make_planes (shuffler, typesize, from, room, n);
  for (size_t k = 0; k < typesize; k++)
    make_rows (shuffler, planes + k * n, to + k * n, n);
}

void
rd_shuffle_by (const struct rd_shuffler *shuffler, size_t typesize,
               const unsigned char *from, unsigned char *to, size_t nbytes,
               unsigned char *room)
{
  size_t n = nbytes / typesize, done = n * typesize;
  if (room && n % 8 != 0)
    done = 0;
  else if (room)
    make_all_rows (shuffler, typesize, from, to, n, room);
  else
    make_planes (shuffler, typesize, from, to, n);
  memcpy (to + done, from + done, nbytes - done);
}

void
rd_shuffle (size_t typesize, const unsigned char *from, unsigned char *to,
            size_t nbytes)
{
  rd_shuffle_by (choose (), typesize, from, to, nbytes, NULL);
}

void
rd_bitshuffle (size_t typesize, const unsigned char *from, unsigned char *to,
               size_t nbytes, unsigned char *room)
{
  rd_shuffle_by (choose (), typesize, from, to, nbytes, room);
}
