/* SPDX-License-Identifier: MIT */
/* Rows of values by vectors of any instruction set.  A file that includes this
 * has defined:
 *
 *   VECTOR_NBYTES        16 or 32
 *   TARGET               the attribute of functions that use them
 *   MOST_F32, MOST_F64   (a, v): for each of a vector's values v, a if it is
 *                        greater, else v, which may be NaN
 *   LEAST_F32, LEAST_F64 (a, v): the same, a if it is less
 *   ANY_NAN_F32, ANY_NAN_F64   (u, v): a mask of the lanes in which one of two
 *                        vectors is NaN
 *   SQRT_F64             (v): a vector's square roots
 *   STREAM               (to, v): stores a vector to an aligned address past
 *                        the caches
 *
 * It ends with ROW_VECTORS (set, level).
 *
 * A strip of values passes all kernels in registers; of one kernel alone the
 * strips of a row pass a loop without choices.  Conversions are plain loops,
 * which compilers vectorize for the target. */
#include <string.h>

#include "src/base/each.h"
#include "src/element/strips.h"
#include "src/operation/normals.h"
#include "src/operation/row-levels.h"

typedef float vector_f32 __attribute__ ((__vector_size__ (VECTOR_NBYTES)));

typedef int32_t mask_32 __attribute__ ((__vector_size__ (VECTOR_NBYTES)));
typedef int64_t mask_64 __attribute__ ((__vector_size__ (VECTOR_NBYTES)));

/* The rows of the default tiles are one strip of float32.  With vectors of 32
 * bytes longer rows begin with strips of twice as many, for which kernels are
 * looked up half as often. */
#define STRIP_NBYTES 128
#define LONG_NBYTES (VECTOR_NBYTES == 32 ? 256 : STRIP_NBYTES)

/* Rows of this length begin with the bytes before the first aligned vector. */
#define ALIGNED_NBYTES 4096
#define VECTORS(nbytes) ((nbytes) / VECTOR_NBYTES)

/* Runs a statement for each vector of a strip: the length is a constant. */
#if VECTOR_NBYTES == 16
#define EACH_OF(nbytes, statement) EACH_8 (statement)
#else
#define EACH_OF(nbytes, statement)              \
  EACH_4 (statement)                            \
  if ((nbytes) > STRIP_NBYTES) {                \
    statement (4) statement (5)                 \
    statement (6) statement (7)                 \
  }
#endif

#define LOAD(k) memcpy (&v[k], from + k * sizeof v[k], sizeof v[k]);
#define STORE(k) memcpy (to + k * sizeof v[k], &v[k], sizeof v[k]);
#define STREAM_ONE(k) STREAM (to + k * sizeof v[k], v[k]);
#define SCALE(k) v[k] = v[k] * a + b;
#define RESCALE(k) v[k] = (v[k] - a) * b + c;
#define NOTE_NAN_32(k) \
  if (k % 2 == 0) nan |= (mask_32) ANY_NAN_F32 (v[k], v[k | 1]);
#define NOTE_NAN_64(k) \
  if (k % 2 == 0) nan |= (mask_64) ANY_NAN_F64 (v[k], v[k | 1]);

/* Strips of one kernel, which is a statement for each vector. */
#define EACH_STRIP(bits, ...)                                           \
  do {                                                                  \
    for (; i + STRIP_NBYTES <= nbytes; i += STRIP_NBYTES) {             \
      vector_f##bits v[VECTORS (STRIP_NBYTES)];                         \
      const unsigned char *from = from_row + i;                         \
      unsigned char *to = to_row + i;                                   \
      EACH_OF (STRIP_NBYTES, LOAD)                                      \
      EACH_OF (STRIP_NBYTES, __VA_ARGS__)                               \
      EACH_OF (STRIP_NBYTES, NOTE_NAN_##bits)                           \
      EACH_OF (STRIP_NBYTES, STORE)                                     \
    }                                                                   \
  } while (0)

#define DEFINE_KERNELS(T, bits)                                         \
  HELPER mask_##bits                                                    \
  run_strip_##bits (const struct rd_row_program *program,               \
                    const unsigned char *from, unsigned char *to,       \
                    size_t nbytes, bool streams)                        \
  {                                                                     \
    vector_f##bits v[VECTORS (LONG_NBYTES)];                            \
    mask_##bits nan = { 0 };                                            \
    EACH_OF (nbytes, LOAD)                                              \
    for (size_t i = 0; i < program->nkernels; i++) {                    \
      const struct rd_kernel *kernel = &program->kernels[i];            \
      const T a = (T) kernel->a, b = (T) kernel->b, c = (T) kernel->c;  \
      switch (kernel->kind) {                                           \
      case RD_KERNEL_LINEAR:                                            \
        EACH_OF (nbytes, SCALE)                                         \
        break;                                                          \
      case RD_KERNEL_CLAMP: {                                           \
        const vector_f##bits least = a - (vector_f##bits) { 0 };        \
        const vector_f##bits most = b - (vector_f##bits) { 0 };         \
        EACH_OF (nbytes, CLAMP_##bits)                                  \
        break;                                                          \
      }                                                                 \
      case RD_KERNEL_RESCALE:                                           \
        EACH_OF (nbytes, RESCALE)                                       \
        break;                                                          \
      case RD_KERNEL_GAMMA: {                                           \
        T values[LONG_NBYTES / sizeof (T)];                             \
        memcpy (values, v, nbytes);                                     \
        for (size_t j = 0; j < nbytes / sizeof (T); j++)                \
          values[j] = (T) rd_row_gamma ((double) values[j], kernel->a); \
        memcpy (v, values, nbytes);                                     \
        break;                                                          \
      }                                                                 \
      }                                                                 \
    }                                                                   \
    EACH_OF (nbytes, NOTE_NAN_##bits)                                   \
    if (streams) {                                                      \
      EACH_OF (nbytes, STREAM_ONE)                                      \
    } else {                                                            \
      EACH_OF (nbytes, STORE)                                           \
    }                                                                   \
    return nan;                                                         \
  }                                                                     \
                                                                        \
  /* Less than a strip, at least one value, which also fills it up: of  \
   * another one the result may be NaN. */                              \
  HELPER mask_##bits                                                    \
  run_rest_##bits (const struct rd_row_program *program,                \
                   const unsigned char *from, unsigned char *to,        \
                   size_t nbytes)                                       \
  {                                                                     \
    unsigned char rest[STRIP_NBYTES];                                   \
    for (size_t i = 0; i < STRIP_NBYTES; i += sizeof (T))               \
      memcpy (rest + i, from, sizeof (T));                              \
    memcpy (rest, from, nbytes);                                        \
    mask_##bits nan = run_strip_##bits (program, rest, rest,            \
                                        STRIP_NBYTES, false);           \
    memcpy (to, rest, nbytes);                                          \
    return nan;                                                         \
  }                                                                     \
                                                                        \
  /* Runs a program of one kernel on the strips of a row from byte i on, \
   * and returns where they end.  NaN are gathered in a register. */    \
  HELPER size_t                                                         \
  run_one_##bits (const struct rd_kernel *kernel,                       \
                  const unsigned char *from_row, unsigned char *to_row, \
                  size_t i, size_t nbytes, mask_##bits *found)          \
  {                                                                     \
    mask_##bits nan = { 0 };                                            \
    const T a = (T) kernel->a, b = (T) kernel->b, c = (T) kernel->c;    \
    const vector_f##bits least = a - (vector_f##bits) { 0 };            \
    const vector_f##bits most = b - (vector_f##bits) { 0 };             \
    switch (kernel->kind) {                                             \
    case RD_KERNEL_LINEAR:                                              \
      EACH_STRIP (bits, SCALE);                                         \
      break;                                                            \
    case RD_KERNEL_CLAMP:                                               \
      EACH_STRIP (bits, CLAMP_##bits);                                  \
      break;                                                            \
    case RD_KERNEL_RESCALE:                                             \
      EACH_STRIP (bits, RESCALE);                                       \
      break;                                                            \
    default:                                                            \
      break;                                                            \
    }                                                                   \
    *found |= nan;                                                      \
    return i;                                                           \
  }                                                                     \
                                                                        \
  static TARGET bool                                                    \
  run_rows_##bits (const struct rd_row_program *program,                \
                   const struct rd_rows *rows)                          \
  {                                                                     \
    const unsigned char *from_row = rows->from;                         \
    unsigned char *to_row = rows->to;                                   \
    size_t nbytes = rows->n * sizeof (T);                               \
    mask_##bits nan = { 0 }, all = { 0 };                               \
    uint64_t words[sizeof nan / sizeof (uint64_t)], any = 0;            \
    for (size_t row = 0; row < rows->nrows; row++) {                    \
      size_t i = 0;                                                     \
      if (!rows->streams) {                                             \
        rd_row_prefetch (to_row, RD_ROWS_AHEAD * rows->to_step, nbytes); \
        size_t head = -(uintptr_t) to_row % VECTOR_NBYTES;              \
        if (nbytes >= ALIGNED_NBYTES && head > 0                        \
            && head % sizeof (T) == 0) {                                \
          nan |= run_rest_##bits (program, from_row, to_row, head);     \
          i = head;                                                     \
        }                                                               \
        if (program->nkernels == 1)                                     \
          i = run_one_##bits (program->kernels, from_row, to_row, i,    \
                              nbytes, &all);                            \
        for (; i + LONG_NBYTES <= nbytes; i += LONG_NBYTES)             \
          nan |= run_strip_##bits (program, from_row + i, to_row + i,   \
                                   LONG_NBYTES, false);                 \
      }                                                                 \
      for (; i + STRIP_NBYTES <= nbytes; i += STRIP_NBYTES)             \
        nan |= run_strip_##bits (program, from_row + i, to_row + i,     \
                                 STRIP_NBYTES, rows->streams);          \
      if (i < nbytes)                                                   \
        nan |= run_rest_##bits (program, from_row + i, to_row + i,      \
                                nbytes - i);                            \
      from_row += rows->from_step;                                      \
      to_row += rows->to_step;                                          \
    }                                                                   \
    all |= nan;                                                         \
    memcpy (words, &all, sizeof words);                                 \
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)           \
      any |= words[i];                                                  \
    return any != 0;                                                    \
  }

#define CLAMP_32(k) v[k] = LEAST_F32 (most, MOST_F32 (least, v[k]));
#define CLAMP_64(k) v[k] = LEAST_F64 (most, MOST_F64 (least, v[k]));

DEFINE_KERNELS (float, 32)
DEFINE_KERNELS (double, 64)

#define LOOP(...) RD_STRIPS (32, __VA_ARGS__)

#define DEFINE_LOAD(name, T)                                            \
  static TARGET void                                                    \
  load_##name (const unsigned char *restrict from, float *restrict to,  \
               size_t n, const struct rd_row_program *program)          \
  {                                                                     \
    const double slope = program->slope, inter = program->inter;        \
    if (slope == 1 && inter == 0)                                       \
      LOOP ({                                                           \
        T value;                                                        \
        memcpy (&value, from + j * sizeof value, sizeof value);         \
        to[j] = (float) value;                                          \
      });                                                               \
    else                                                                \
      LOOP ({                                                           \
        T value;                                                        \
        memcpy (&value, from + j * sizeof value, sizeof value);         \
        to[j] = (float) ((double) value * slope + inter);               \
      });                                                               \
  }

DEFINE_LOAD (int8, int8_t)
DEFINE_LOAD (int16, int16_t)
DEFINE_LOAD (uint8, uint8_t)
DEFINE_LOAD (uint16, uint16_t)
DEFINE_LOAD (float32, float)

/* Values within 2^22 are rounded by adding and subtracting 1.5 * 2^23: all
 * others are limited before, to what does not fit unless the program saturates.
 * NaN is replaced by such a value, or by 0. */
#define DEFINE_STORE(name, T, low, high)                                \
  static TARGET bool                                                    \
  store_##name (const float *restrict from, unsigned char *restrict to, \
                size_t n, bool saturates)                               \
  {                                                                     \
    const float least = saturates ? (low) : (low) - 1.0f;               \
    const float most = saturates ? (high) : (high) + 1.0f;              \
    const float nan = saturates ? 0.0f : least;                         \
    int32_t bad = 0;                                                    \
    LOOP ({                                                             \
      float v = from[j] == from[j] ? from[j] : nan;                     \
      v = v < least ? least : v;                                        \
      v = v > most ? most : v;                                          \
      int32_t whole = (int32_t) ((v + 0x1.8p23f) - 0x1.8p23f);          \
      T value = (T) whole;                                              \
      bad |= (int32_t) value ^ whole;                                   \
      memcpy (to + j * sizeof value, &value, sizeof value);             \
    });                                                                 \
    return bad != 0;                                                    \
  }

DEFINE_STORE (int8, int8_t, -0x1p7f, 0x1p7f - 1)
DEFINE_STORE (int16, int16_t, -0x1p15f, 0x1p15f - 1)
DEFINE_STORE (uint8, uint8_t, 0.0f, 0x1p8f - 1)
DEFINE_STORE (uint16, uint16_t, 0.0f, 0x1p16f - 1)

#define ROW_VECTORS(set, its_level)             \
  const struct rd_row_vectors rd_row_##set = {  \
    .level = its_level,                         \
    .run32 = run_rows_32,                       \
    .run64 = run_rows_64,                       \
    .normals = make_normals,                    \
    .load = {                                   \
      [RADIO_INT8] = load_int8,                 \
      [RADIO_INT16] = load_int16,               \
      [RADIO_UINT8] = load_uint8,               \
      [RADIO_UINT16] = load_uint16,             \
      [RADIO_FLOAT32] = load_float32,           \
    },                                          \
    .store = {                                  \
      [RADIO_INT8] = store_int8,                \
      [RADIO_INT16] = store_int16,              \
      [RADIO_UINT8] = store_uint8,              \
      [RADIO_UINT16] = store_uint16,            \
    },                                          \
  };
