/* SPDX-License-Identifier: MIT */
/* Rows of values: each operation is what its formula says, and all levels of
 * instruction sets that this machine has agree in every bit. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/operation/row.h"

enum { MOST = 70, NROWS = 3, ITEM = 8, GAP = 3, GUARD = 64,
       ROOM = NROWS * (MOST * ITEM + GAP) + 2 * GUARD };

struct bench {
  unsigned char from[ROOM], expected[ROOM], got[ROOM];
  struct rd_kernel kernels[8];
  struct rd_row_program program;
  atomic_bool has_nan;
};

static const enum radio_dtype from_types[] = {
  RADIO_BOOL, RADIO_INT8, RADIO_INT16, RADIO_INT32, RADIO_INT64, RADIO_UINT8,
  RADIO_UINT16, RADIO_UINT32, RADIO_UINT64, RADIO_FLOAT16, RADIO_FLOAT32,
  RADIO_FLOAT64,
};
#define NTYPES (sizeof from_types / sizeof *from_types)

#define KERNEL(kind, a, b, c) { kind, a, b, c, RD_OP_LINEAR }

static const struct rd_kernel programs[][4] = {
  { KERNEL (RD_KERNEL_LINEAR, 1.7, -3.3, 0) },
  { KERNEL (RD_KERNEL_CLAMP, -100, 90.5, 0) },
  { KERNEL (RD_KERNEL_RESCALE, -1000, 1 / 1400.0, 0.25) },
  { KERNEL (RD_KERNEL_GAMMA, 0.75, 0, 0) },
  { KERNEL (RD_KERNEL_CLAMP, -1000, 400, 0),
    KERNEL (RD_KERNEL_RESCALE, -1000, 0.1, 3),
    KERNEL (RD_KERNEL_LINEAR, -2, 1, 0),
    KERNEL (RD_KERNEL_CLAMP, -INFINITY, 99, 0) },
  { KERNEL (RD_KERNEL_LINEAR, 0, 0, 0), KERNEL (RD_KERNEL_GAMMA, 2, 0, 0) },
};
#define NPROGRAMS (sizeof programs / sizeof *programs)

static const double special[] = {
  0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 127, 127.5, 128, -128.5, -129, 254.5,
  255, 255.5, 32766.5, 32767, 32767.5, -32768.5, -32769, 65535, 65535.5, 4e9,
  -4e9, 3e38, 1e-40, 1e300, NAN, -NAN, INFINITY, -INFINITY,
};
#define NSPECIAL (sizeof special / sizeof *special)

/* Random bits, which are values of all magnitudes and NaNs of many kinds, and
 * in every other value of a float type a special or an ordinary one. */
static void
fill (struct bench *bench, enum radio_dtype dtype, uint64_t seed)
{
  size_t nbytes = radio_dtype_nbytes (dtype);
  for (size_t i = 0; i < ROOM; i++)
    bench->from[i] = (unsigned char) random_next (&seed);
  for (size_t row = 0; row < NROWS; row++)
    for (size_t i = 0; i < MOST && rd_dtype_is_float (dtype); i++) {
      uint64_t random = random_next (&seed);
      unsigned char *at = bench->from + GUARD
                          + row * (MOST * ITEM + GAP) + i * nbytes;
      double wide = random % 3 == 0 ? special[random / 8 % NSPECIAL]
                                    : (double) (random % 70000) / 2 - 9000;
      float narrow = (float) wide;
      uint16_t half = rd_float_to_half (narrow);
      if (random % 8 == 0)
        continue;
      memcpy (at, dtype == RADIO_FLOAT64 ? (void *) &wide
              : dtype == RADIO_FLOAT32 ? (void *) &narrow : (void *) &half,
              nbytes);
    }
}

/* Runs a level over rows of n elements that begin at an odd address. */
static enum radio_status
run (struct bench *bench, const struct rd_row_vectors *level,
     enum radio_dtype to, size_t n, unsigned char *result)
{
  const struct rd_row_map map = { &bench->program, to, &bench->has_nan };
  const struct rd_rows rows = {
    .from = bench->from + GUARD, .from_step = MOST * ITEM + GAP,
    .to = result + GUARD + 1, .to_step = MOST * ITEM + GAP, .n = n,
    .nrows = NROWS,
  };
  memset (result, 0xa5, ROOM);
  atomic_store (&bench->has_nan, false);
  return rd_row_map_run_by (level, &map, &rows);
}

static void
set_program (struct bench *bench, size_t number, enum radio_dtype from,
             bool scaled, bool saturates)
{
  memcpy (bench->kernels, programs[number], sizeof programs[number]);
  size_t n = 1;
  while (n < 4 && (bench->kernels[n].a != 0 || bench->kernels[n].b != 0))
    n++;
  bench->program = (struct rd_row_program) {
    .from = from, .compute = rd_row_compute_type (from),
    .slope = scaled ? 0.37 : 1, .inter = scaled ? -1024 : 0,
    .saturates = saturates, .nkernels = n, .kernels = bench->kernels,
  };
}

static void
compare_levels (struct bench *bench, enum radio_dtype to, size_t n)
{
  enum radio_status expected = run (bench, &rd_row_plain, to, n,
                                    bench->expected);
  bool has_nan = atomic_load (&bench->has_nan);
  for (size_t i = 0; rd_row_levels[i]; i++) {
    const struct rd_row_vectors *level = rd_row_levels[i];
    if (!rd_simd_is_supported (level->level))
      continue;
    enum radio_status status = run (bench, level, to, n, bench->got);
    if (status != expected
        || (status == RADIO_OK
            && (memcmp (bench->got, bench->expected, ROOM) != 0
                || atomic_load (&bench->has_nan) != has_nan)))
      fail_msg ("%s: %zu of %s to %s, %zu kernels, slope %g: %s instead of %s",
                rd_simd_name (level->level), n,
                radio_dtype_name (bench->program.from),
                radio_dtype_name (to), bench->program.nkernels,
                bench->program.slope, radio_status_name (status),
                radio_status_name (expected));
  }
}

static void
all_levels_have_the_same_bits (void **state)
{
  (void) state;
  struct bench *bench = calloc (1, sizeof *bench);
  assert_non_null (bench);
  for (size_t f = 0; f < NTYPES; f++)
    for (size_t t = 0; t < NTYPES; t++)
      for (size_t p = 0; p < NPROGRAMS; p++)
        for (int variant = 0; variant < 4; variant++) {
          set_program (bench, p, from_types[f], variant & 1, variant & 2);
          fill (bench, from_types[f], f * 1000 + t * 10 + p);
          /* Every length for pairs with vectors, some for all. */
          size_t step = from_types[f] == RADIO_FLOAT32
                        || from_types[t] == RADIO_FLOAT32 ? 1 : 13;
          for (size_t n = 0; n <= MOST; n += step)
            compare_levels (bench, from_types[t], n);
        }
  free (bench);
}

/* One value by the formula, each operation rounded to the type. */
static double
expected_value (const struct rd_kernel *kernels, size_t n, double value,
                bool is_float32)
{
  volatile double v = value;
  for (size_t i = 0; i < n; i++) {
    /* Products of float32 are exact in float64. */
#define ROUND(x) (is_float32 ? (double) (float) (x) : (x))
    const struct rd_kernel *kernel = &kernels[i];
    double a = ROUND (kernel->a), b = ROUND (kernel->b);
    double c = ROUND (kernel->c);
    volatile double t;
    switch (kernel->kind) {
    case RD_KERNEL_LINEAR:
      t = ROUND (v * a);
      v = ROUND (t + b);
      break;
    case RD_KERNEL_CLAMP:
      v = isnan (v) ? v : fmin (fmax (v, a), b);
      break;
    case RD_KERNEL_RESCALE:
      t = ROUND (v - a);
      t = ROUND (t * b);
      v = ROUND (t + c);
      break;
    case RD_KERNEL_GAMMA:
      v = ROUND (copysign (pow (fabs (v), kernel->a), v));
      break;
    }
  }
  return v;
}

static void
check_formula (struct bench *bench, enum radio_dtype dtype, size_t number)
{
  bool is_float32 = dtype == RADIO_FLOAT32;
  size_t nbytes = radio_dtype_nbytes (dtype);
  set_program (bench, number, dtype, false, false);
  fill (bench, dtype, number);
  assert_ok (run (bench, &rd_row_plain, dtype, MOST, bench->got));
  bool has_nan = false;
  for (size_t i = 0; i < MOST; i++) {
    float narrow;
    double wide, got;
    memcpy (&narrow, bench->from + GUARD + i * nbytes, sizeof narrow);
    memcpy (&wide, bench->from + GUARD + i * nbytes, sizeof wide);
    double value = expected_value (bench->kernels, bench->program.nkernels,
                                   is_float32 ? (double) narrow : wide,
                                   is_float32);
    memcpy (&narrow, bench->got + GUARD + 1 + i * nbytes, sizeof narrow);
    memcpy (&wide, bench->got + GUARD + 1 + i * nbytes, sizeof wide);
    got = is_float32 ? (double) narrow : wide;
    has_nan = has_nan || isnan (value);
    if (!(got == value || (isnan (got) && isnan (value))))
      fail_msg ("program %zu, %s: %.17g instead of %.17g", number,
                radio_dtype_name (dtype), got, value);
  }
  /* The other rows may have some. */
  assert_true (!has_nan || atomic_load (&bench->has_nan));
}

static void
each_operation_is_its_formula (void **state)
{
  (void) state;
  struct bench *bench = calloc (1, sizeof *bench);
  assert_non_null (bench);
  for (size_t p = 0; p < NPROGRAMS; p++) {
    check_formula (bench, RADIO_FLOAT32, p);
    check_formula (bench, RADIO_FLOAT64, p);
  }
  free (bench);
}

static void
nan_is_noted_at_any_position (void **state)
{
  (void) state;
  float values[MOST], result[MOST];
  atomic_bool has_nan;
  struct rd_kernel clamp = { RD_KERNEL_CLAMP, -1, 1, 0, RD_OP_CLAMP };
  const struct rd_row_program program = {
    .from = RADIO_FLOAT32, .compute = RADIO_FLOAT32, .slope = 1,
    .nkernels = 1, .kernels = &clamp,
  };
  const struct rd_row_map map = { &program, RADIO_FLOAT32, &has_nan };
  for (size_t i = 0; rd_row_levels[i]; i++)
    for (size_t n = 1; n <= MOST; n++)
      for (size_t at = 0; at <= n; at++) {
        const struct rd_rows row = {
          .from = (const unsigned char *) values,
          .to = (unsigned char *) result, .n = n, .nrows = 1,
        };
        for (size_t k = 0; k < n; k++)
          values[k] = k == at ? NAN : k % 2 ? INFINITY : -3;
        atomic_init (&has_nan, false);
        if (!rd_simd_is_supported (rd_row_levels[i]->level))
          continue;
        assert_ok (rd_row_map_run_by (rd_row_levels[i], &map, &row));
        assert_int_equal (atomic_load (&has_nan), at < n);
      }
}

/* 0, by which rows were once filled up to whole vectors, gives NaN here. */
static void
no_nan_is_noted_of_values_that_are_not_there (void **state)
{
  (void) state;
  float values[MOST], result[MOST];
  atomic_bool has_nan;
  struct rd_kernel linear = { RD_KERNEL_LINEAR, INFINITY, 0, 0, RD_OP_LINEAR };
  const struct rd_row_program program = {
    .from = RADIO_FLOAT32, .compute = RADIO_FLOAT32, .slope = 1,
    .nkernels = 1, .kernels = &linear,
  };
  const struct rd_row_map map = { &program, RADIO_FLOAT32, &has_nan };
  for (size_t i = 0; rd_row_levels[i]; i++)
    for (size_t n = 1; n <= MOST; n++) {
      const struct rd_rows row = {
        .from = (const unsigned char *) values,
        .to = (unsigned char *) result, .n = n, .nrows = 1,
      };
      for (size_t k = 0; k < n; k++)
        values[k] = 3;
      atomic_init (&has_nan, false);
      if (!rd_simd_is_supported (rd_row_levels[i]->level))
        continue;
      assert_ok (rd_row_map_run_by (rd_row_levels[i], &map, &row));
      assert_false (atomic_load (&has_nan));
      for (size_t k = 0; k < n; k++)
        assert_true (result[k] == INFINITY);
    }
}

static void
integers_are_rounded_to_even_and_refused_or_saturate (void **state)
{
  (void) state;
  static const float values[] = { -0.5f, 0.5f, 1.5f, 2.5f, 255.5f, -0.75f, NAN,
                                  INFINITY, -INFINITY, 1e9f };
  static const uint8_t expected[] = { 0, 0, 2, 2, 255, 0, 0, 255, 0, 255 };
  struct rd_row_program program = {
    .from = RADIO_FLOAT32, .compute = RADIO_FLOAT32, .slope = 1,
    .saturates = true,
  };
  const struct rd_row_map map = { &program, RADIO_UINT8, NULL };
  for (size_t i = 0; rd_row_levels[i]; i++) {
    const struct rd_row_vectors *level = rd_row_levels[i];
    uint8_t got[sizeof expected];
    struct rd_rows rows = {
      .from = (const unsigned char *) values, .to = got,
      .n = sizeof expected, .nrows = 1,
    };
    if (!rd_simd_is_supported (level->level))
      continue;
    program.saturates = true;
    assert_ok (rd_row_map_run_by (level, &map, &rows));
    assert_memory_equal (got, expected, sizeof expected);
    program.saturates = false;
    assert_fails (rd_row_map_run_by (level, &map, &rows), RADIO_ERROR_RANGE,
                  "value 255.5 does not fit into uint8");
    rows.n = 4;
    assert_ok (rd_row_map_run_by (level, &map, &rows));
    assert_memory_equal (got, expected, 4);
  }
}

static void
normal_numbers_are_box_and_mullers_by_all_levels (void **state)
{
  (void) state;
  enum { N = 4096 };
  static double first[N], second[N], wanted[2][N], got[2][N];
  static const double edges[] = { 0, 0x1p-53, 0.125, 0.25, 0.375, 0.5, 0.75,
                                  1 - 0x1p-53 };
  enum { NEDGES = sizeof edges / sizeof *edges };
  uint64_t seed = 1;
  for (size_t i = 0; i < N; i++) {
    bool is_edge = i < NEDGES * NEDGES;
    first[i] = is_edge ? edges[i / NEDGES]
                       : (double) (random_next (&seed) >> 11) * 0x1p-53;
    second[i] = is_edge ? edges[i % NEDGES]
                        : (double) (random_next (&seed) >> 11) * 0x1p-53;
  }
  memcpy (wanted[0], first, sizeof first);
  memcpy (wanted[1], second, sizeof second);
  rd_row_plain.normals (wanted[0], wanted[1], N);
  for (size_t i = 0; i < N; i++) {
    double radius = sqrt (-2 * log1p (-first[i]));
    double angle = 0x1.921fb54442d18p+2 * second[i];
    assert_true (fabs (wanted[0][i] - radius * cos (angle))
                 <= 1e-15 * radius);
    assert_true (fabs (wanted[1][i] - radius * sin (angle))
                 <= 1e-15 * radius);
  }
  for (size_t i = 0; rd_row_levels[i]; i++) {
    if (!rd_simd_is_supported (rd_row_levels[i]->level))
      continue;
    memcpy (got[0], first, sizeof first);
    memcpy (got[1], second, sizeof second);
    rd_row_levels[i]->normals (got[0], got[1], N);
    assert_memory_equal (got, wanted, sizeof got);
  }
}

/* As files are read: the source begins at some bytes of the result. */
static void
rows_may_begin_within_their_result (void **state)
{
  (void) state;
  enum { N = 2200, MOST_SHIFT = 64 };
  static _Alignas (64) unsigned char room[(N + 64) * sizeof (float)];
  static float values[N], expected[N];
  static struct rd_kernel kernels[] = {
    { RD_KERNEL_LINEAR, 1.5, -3, 0, RD_OP_LINEAR },
    { RD_KERNEL_CLAMP, -100, 4000, 0, RD_OP_CLAMP },
  };
  struct rd_row_program program = {
    .from = RADIO_FLOAT32, .compute = RADIO_FLOAT32, .slope = 1,
    .nkernels = 2, .kernels = kernels,
  };
  const struct rd_row_map map = { &program, RADIO_FLOAT32, NULL };
  for (size_t i = 0; i < N; i++) {
    values[i] = (float) (i * 31 % 5003) - 777.25f;
    expected[i] = values[i];
  }
  struct rd_rows rows = {
    .from = (unsigned char *) expected, .to = (unsigned char *) expected,
    .n = N, .nrows = 1,
  };
  assert_ok (rd_row_map_run_by (&rd_row_plain, &map, &rows));
  for (size_t i = 0; rd_row_levels[i]; i++)
    for (size_t at = 0; at < 64; at += 4)
      for (size_t shift = 0; shift < MOST_SHIFT; shift += 4) {
        if (!rd_simd_is_supported (rd_row_levels[i]->level))
          continue;
        for (size_t n = 1022; n <= N; n += N - 1022) {
          rows.to = room + at;
          rows.from = room + at + shift;
          rows.n = n;
          memcpy (room + at + shift, values, n * sizeof (float));
          assert_ok (rd_row_map_run_by (rd_row_levels[i], &map, &rows));
          assert_memory_equal (room + at, expected, n * sizeof (float));
        }
      }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (all_levels_have_the_same_bits),
    cmocka_unit_test (each_operation_is_its_formula),
    cmocka_unit_test (nan_is_noted_at_any_position),
    cmocka_unit_test (no_nan_is_noted_of_values_that_are_not_there),
    cmocka_unit_test (integers_are_rounded_to_even_and_refused_or_saturate),
    cmocka_unit_test (normal_numbers_are_box_and_mullers_by_all_levels),
    cmocka_unit_test (rows_may_begin_within_their_result),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
