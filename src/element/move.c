/* SPDX-License-Identifier: MIT */
/* Rows of elements by size: fixed-size copies that become single loads and
 * stores, with a loop of its own for contiguous rows. */
#include <config.h>

#include <byteswap.h>
#include <string.h>

#include "src/element/move.h"

struct pair32 { uint32_t part[2]; };
struct pair64 { uint64_t part[2]; };

static inline uint8_t
same_8 (uint8_t value)
{
  return value;
}

static inline uint16_t
same_16 (uint16_t value)
{
  return value;
}

static inline uint32_t
same_32 (uint32_t value)
{
  return value;
}

static inline uint64_t
same_64 (uint64_t value)
{
  return value;
}

static inline struct pair64
same_pair64 (struct pair64 value)
{
  return value;
}

static inline uint16_t
swap_16 (uint16_t value)
{
  return bswap_16 (value);
}

static inline uint32_t
swap_32 (uint32_t value)
{
  return bswap_32 (value);
}

static inline uint64_t
swap_64 (uint64_t value)
{
  return bswap_64 (value);
}

static inline struct pair32
swap_pair32 (struct pair32 value)
{
  struct pair32 result = { { bswap_32 (value.part[0]),
                             bswap_32 (value.part[1]) } };
  return result;
}

static inline struct pair64
swap_pair64 (struct pair64 value)
{
  struct pair64 result = { { bswap_64 (value.part[0]),
                             bswap_64 (value.part[1]) } };
  return result;
}

#define MOVE_ONE(type, change, from_offset, to_offset)          \
  do {                                                          \
    type value_;                                                \
    memcpy (&value_, from + (from_offset), sizeof value_);      \
    value_ = change (value_);                                   \
    memcpy (to + (to_offset), &value_, sizeof value_);          \
  } while (0)

/* Strips of a constant length are vectorized also at -O2. */
#define STRIP 16

#define DEFINE_MOVE(type, change)                                       \
  static void                                                           \
  move_##change (const unsigned char *restrict from,                    \
                 int64_t from_stride, unsigned char *restrict to,       \
                 int64_t to_stride, uint64_t n, size_t item_nbytes)     \
  {                                                                     \
    const int64_t size = sizeof (type);                                 \
    int64_t end = (int64_t) n;                                          \
    int64_t i = 0;                                                      \
    (void) item_nbytes;                                                 \
    if (from_stride == size && to_stride == size)                       \
      for (; i + STRIP <= end; i += STRIP)                              \
        for (int64_t j = i; j < i + STRIP; j++)                         \
          MOVE_ONE (type, change, j * size, j * size);                  \
    for (; i < end; i++)                                                \
      MOVE_ONE (type, change, i * from_stride, i * to_stride);          \
  }

DEFINE_MOVE (uint8_t, same_8)
DEFINE_MOVE (uint16_t, same_16)
DEFINE_MOVE (uint32_t, same_32)
DEFINE_MOVE (uint64_t, same_64)
DEFINE_MOVE (struct pair64, same_pair64)
DEFINE_MOVE (uint16_t, swap_16)
DEFINE_MOVE (uint32_t, swap_32)
DEFINE_MOVE (uint64_t, swap_64)
DEFINE_MOVE (struct pair32, swap_pair32)
DEFINE_MOVE (struct pair64, swap_pair64)

static void
move_raw (const unsigned char *from, int64_t from_stride,
          unsigned char *to, int64_t to_stride, uint64_t n,
          size_t item_nbytes)
{
  for (int64_t i = 0; i < (int64_t) n; i++)
    memcpy (to + i * to_stride, from + i * from_stride, item_nbytes);
}

static rd_move_fn *
find_swapping (const struct rd_type *type)
{
  bool pair = type->item_nbytes == 2 * type->unit_nbytes;
  switch (type->unit_nbytes) {
  case 2: return move_swap_16;
  case 4: return pair ? move_swap_pair32 : move_swap_32;
  default: return pair ? move_swap_pair64 : move_swap_64;
  }
}

rd_move_fn *
rd_move_find (const struct rd_type *type, bool swapped)
{
  if (swapped && type->unit_nbytes > 1)
    return find_swapping (type);
  switch (type->item_nbytes) {
  case 1: return move_same_8;
  case 2: return move_same_16;
  case 4: return move_same_32;
  case 8: return move_same_64;
  case 16: return move_same_pair64;
  default: return move_raw;
  }
}
