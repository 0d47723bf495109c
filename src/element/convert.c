/* SPDX-License-Identifier: MIT */
/* One function for each pair of types, made by macros from one row a type:
 * a loop without branches that the compiler can turn into vectors, and a
 * flag that gathers what did not fit.  No pair goes by way of a type that
 * loses something: integers compare as integers, up to 2^64-1, and every
 * result is rounded once. */
#include <config.h>

#include <string.h>

#include "src/element/convert.h"
#include "src/element/dtype.h"

/* Loops run in strips of a constant length, which compilers vectorize also
 * at -O2.  The body sees its index as `j'. */
#define STRIP 16
#define LOOP(...)                                       \
  do {                                                  \
    size_t i = 0;                                       \
    for (; i + STRIP <= n; i += STRIP)                  \
      for (size_t j = i; j < i + STRIP; j++)            \
        __VA_ARGS__                                     \
    for (size_t j = i; j < n; j++)                      \
      __VA_ARGS__                                       \
  } while (0)

/* The value that an element of a type is worked with as.  A stored bool may
 * be any byte; all but 0 are 1. */
typedef uint8_t value_boolean;
typedef int8_t value_int8;
typedef int16_t value_int16;
typedef int32_t value_int32;
typedef int64_t value_int64;
typedef uint8_t value_uint8;
typedef uint16_t value_uint16;
typedef uint32_t value_uint32;
typedef uint64_t value_uint64;
typedef float value_float16;
typedef float value_float32;
typedef double value_float64;

#define DEFINE_ACCESS(T)                                        \
  static inline value_##T                                       \
  load_##T (const unsigned char *from, size_t j)                \
  {                                                             \
    value_##T value;                                            \
    memcpy (&value, from + j * sizeof value, sizeof value);     \
    return value;                                               \
  }                                                             \
  static inline void                                            \
  store_##T (unsigned char *to, size_t j, value_##T value)      \
  {                                                             \
    memcpy (to + j * sizeof value, &value, sizeof value);       \
  }

DEFINE_ACCESS (int8)
DEFINE_ACCESS (int16)
DEFINE_ACCESS (int32)
DEFINE_ACCESS (int64)
DEFINE_ACCESS (uint8)
DEFINE_ACCESS (uint16)
DEFINE_ACCESS (uint32)
DEFINE_ACCESS (uint64)
DEFINE_ACCESS (float32)
DEFINE_ACCESS (float64)

static inline uint8_t
load_boolean (const unsigned char *from, size_t j)
{
  return from[j] != 0;
}

static inline float
load_float16 (const unsigned char *from, size_t j)
{
  return rd_half_to_float (load_uint16 (from, j));
}

/* Whether a value is negative, without comparing an unsigned one with 0. */
#define NEGATIVE_boolean(v) 0
#define NEGATIVE_int8(v) ((v) < 0)
#define NEGATIVE_int16(v) ((v) < 0)
#define NEGATIVE_int32(v) ((v) < 0)
#define NEGATIVE_int64(v) ((v) < 0)
#define NEGATIVE_uint8(v) 0
#define NEGATIVE_uint16(v) 0
#define NEGATIVE_uint32(v) 0
#define NEGATIVE_uint64(v) 0

/* The least value of an integer type, and the first one above its greatest:
 * powers of two, exact in every float. */
#define LOW_int8 -0x1p7f
#define LOW_int16 -0x1p15f
#define LOW_int32 -0x1p31f
#define LOW_int64 -0x1p63f
#define LOW_uint8 0.0f
#define LOW_uint16 0.0f
#define LOW_uint32 0.0f
#define LOW_uint64 0.0f
#define END_int8 0x1p7f
#define END_int16 0x1p15f
#define END_int32 0x1p31f
#define END_int64 0x1p63f
#define END_uint8 0x1p8f
#define END_uint16 0x1p16f
#define END_uint32 0x1p32f
#define END_uint64 0x1p64f

#define DEFINE_PAIR(S, T, ...)                                          \
  static bool                                                           \
  S##_to_##T (const unsigned char *restrict from,                       \
              unsigned char *restrict to, size_t n)                     \
  {                                                                     \
    value_##S bad = 0;                                                  \
    LOOP ({ value_##S v = load_##S (from, j); __VA_ARGS__ });           \
    return bad != 0;                                                    \
  }

/* An integer fits when it survives the way there and back with its sign. */
#define INTEGER_TO_INTEGER(S, T)                                        \
  DEFINE_PAIR (S, T,                                                    \
               value_##T t = (value_##T) v;                             \
               bad |= (value_##S) (((value_##S) t != v)                 \
                                   | (NEGATIVE_##S (v)                  \
                                      != NEGATIVE_##T (t)));            \
               store_##T (to, j, t);)

#define INTEGER_TO_BOOLEAN(S)                                           \
  DEFINE_PAIR (S, boolean,                                              \
               bad |= (value_##S) ((v != 0) & (v != 1));                \
               to[j] = v != 0;)

#define INTEGER_TO_FLOAT(S)                                             \
  DEFINE_PAIR (S, float16,                                              \
               store_uint16 (to, j, rd_double_to_half ((double) v));)   \
  DEFINE_PAIR (S, float32, store_float32 (to, j, (float) v);)           \
  DEFINE_PAIR (S, float64, store_float64 (to, j, (double) v);)

/* A float fits when it lies within the type, which NaN does not, and is
 * whole. */
#define FLOAT_TO_INTEGER(S, T)                                          \
  DEFINE_PAIR (S, T,                                                    \
               int within = (v >= LOW_##T) & (v < END_##T);             \
               value_##T t = (value_##T) (within ? v : 0);              \
               if (!within | ((value_##S) t != v))                      \
                 bad = 1;                                               \
               store_##T (to, j, t);)

#define FLOAT_TO_BOOLEAN(S)                                             \
  DEFINE_PAIR (S, boolean,                                              \
               if (!((v == 0) | (v == 1)))                              \
                 bad = 1;                                               \
               to[j] = v != 0;)

#define EACH_INTEGER(M, S)                                              \
  M (S, int8) M (S, int16) M (S, int32) M (S, int64)                    \
  M (S, uint8) M (S, uint16) M (S, uint32) M (S, uint64)

#define FROM_INTEGER(S)                                                 \
  EACH_INTEGER (INTEGER_TO_INTEGER, S)                                  \
  INTEGER_TO_BOOLEAN (S)                                                \
  INTEGER_TO_FLOAT (S)

#define FROM_FLOAT(S)                                                   \
  EACH_INTEGER (FLOAT_TO_INTEGER, S)                                    \
  FLOAT_TO_BOOLEAN (S)                                                  \
  DEFINE_PAIR (S, float32, store_float32 (to, j, (float) v);)           \
  DEFINE_PAIR (S, float64, store_float64 (to, j, (double) v);)

FROM_INTEGER (boolean)
FROM_INTEGER (int8)
FROM_INTEGER (int16)
FROM_INTEGER (int32)
FROM_INTEGER (int64)
FROM_INTEGER (uint8)
FROM_INTEGER (uint16)
FROM_INTEGER (uint32)
FROM_INTEGER (uint64)
FROM_FLOAT (float16)
FROM_FLOAT (float32)
FROM_FLOAT (float64)

DEFINE_PAIR (float16, float16, store_uint16 (to, j, rd_float_to_half (v));)
DEFINE_PAIR (float32, float16, store_uint16 (to, j, rd_float_to_half (v));)
DEFINE_PAIR (float64, float16, store_uint16 (to, j, rd_double_to_half (v));)

#define ROW(S)                                                          \
  {                                                                     \
    [RADIO_BOOL] = S##_to_boolean,                                      \
    [RADIO_INT8] = S##_to_int8,                                         \
    [RADIO_INT16] = S##_to_int16,                                       \
    [RADIO_INT32] = S##_to_int32,                                       \
    [RADIO_INT64] = S##_to_int64,                                       \
    [RADIO_UINT8] = S##_to_uint8,                                       \
    [RADIO_UINT16] = S##_to_uint16,                                     \
    [RADIO_UINT32] = S##_to_uint32,                                     \
    [RADIO_UINT64] = S##_to_uint64,                                     \
    [RADIO_FLOAT16] = S##_to_float16,                                   \
    [RADIO_FLOAT32] = S##_to_float32,                                   \
    [RADIO_FLOAT64] = S##_to_float64,                                   \
  }

#define NTYPES (RADIO_FLOAT64 + 1)

static rd_convert_fn *const convert_table[NTYPES][NTYPES] = {
  [RADIO_BOOL] = ROW (boolean),
  [RADIO_INT8] = ROW (int8),
  [RADIO_INT16] = ROW (int16),
  [RADIO_INT32] = ROW (int32),
  [RADIO_INT64] = ROW (int64),
  [RADIO_UINT8] = ROW (uint8),
  [RADIO_UINT16] = ROW (uint16),
  [RADIO_UINT32] = ROW (uint32),
  [RADIO_UINT64] = ROW (uint64),
  [RADIO_FLOAT16] = ROW (float16),
  [RADIO_FLOAT32] = ROW (float32),
  [RADIO_FLOAT64] = ROW (float64),
};

rd_convert_fn *
rd_convert_find (enum radio_dtype from, enum radio_dtype to)
{
  if ((size_t) from >= NTYPES || (size_t) to >= NTYPES)
    return NULL;
  return convert_table[from][to];
}

void
rd_convert_scale (const double *from, enum radio_dtype to_dtype,
                  unsigned char *to, size_t n, double slope, double inter)
{
  if (to_dtype == RADIO_FLOAT32)
    LOOP ({
      store_float32 (to, j, (float) (from[j] * slope + inter));
    });
  else
    LOOP ({
      store_float64 (to, j, from[j] * slope + inter);
    });
}
