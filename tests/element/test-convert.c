/* SPDX-License-Identifier: MIT */
/* Conversions, all pairs of types, at the values where they go wrong.  Expected
 * values are computed in another way: integers in 128 bits, floats by strtod
 * and strtof of their exact decimal or hexadecimal text. */
#include <config.h>

#include <inttypes.h>
#include <math.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/element/copy.h"

/* One value, exactly: an integer, or a float. */
struct value {
  bool is_float;
  __int128 integer;
  double number;
};

static const enum radio_dtype reals[] = {
  RADIO_BOOL, RADIO_INT8, RADIO_INT16, RADIO_INT32, RADIO_INT64,
  RADIO_UINT8, RADIO_UINT16, RADIO_UINT32, RADIO_UINT64,
  RADIO_FLOAT16, RADIO_FLOAT32, RADIO_FLOAT64,
};
enum { REALS = 12 };

static __int128
low_of (enum radio_dtype dtype)
{
  switch (dtype) {
  case RADIO_INT8: return INT8_MIN;
  case RADIO_INT16: return INT16_MIN;
  case RADIO_INT32: return INT32_MIN;
  case RADIO_INT64: return INT64_MIN;
  default: return 0;
  }
}

static __int128
high_of (enum radio_dtype dtype)
{
  switch (dtype) {
  case RADIO_BOOL: return 1;
  case RADIO_INT8: return INT8_MAX;
  case RADIO_INT16: return INT16_MAX;
  case RADIO_INT32: return INT32_MAX;
  case RADIO_INT64: return INT64_MAX;
  case RADIO_UINT8: return UINT8_MAX;
  case RADIO_UINT16: return UINT16_MAX;
  case RADIO_UINT32: return UINT32_MAX;
  default: return UINT64_MAX;
  }
}

/* Write a value as an element; little-endian integers of any width. */
static void
put_integer (enum radio_dtype dtype, __int128 integer, unsigned char *to)
{
  uint64_t bits = (uint64_t) integer;
  uint8_t b8 = (uint8_t) bits;
  uint16_t b16 = (uint16_t) bits;
  uint32_t b32 = (uint32_t) bits;
  switch (radio_dtype_nbytes (dtype)) {
  case 1: memcpy (to, &b8, 1); break;
  case 2: memcpy (to, &b16, 2); break;
  case 4: memcpy (to, &b32, 4); break;
  default: memcpy (to, &bits, 8); break;
  }
}

static void
put_float (enum radio_dtype dtype, double number, unsigned char *to)
{
  char text[64];
  snprintf (text, sizeof text, "%a", number);
  float single = strtof (text, NULL);
  uint16_t half = rd_double_to_half (number);
  if (dtype == RADIO_FLOAT64)
    memcpy (to, &number, 8);
  else if (dtype == RADIO_FLOAT32)
    memcpy (to, &single, 4);
  else
    memcpy (to, &half, 2);
}

static double
nearest_double (__int128 integer)
{
  char text[48];
  if (integer < 0)
    snprintf (text, sizeof text, "%" PRId64, (int64_t) integer);
  else
    snprintf (text, sizeof text, "%" PRIu64, (uint64_t) integer);
  return strtod (text, NULL);
}

static float
nearest_float (__int128 integer)
{
  char text[48];
  if (integer < 0)
    snprintf (text, sizeof text, "%" PRId64, (int64_t) integer);
  else
    snprintf (text, sizeof text, "%" PRIu64, (uint64_t) integer);
  return strtof (text, NULL);
}

/* Converts a value to another type; false when it does not fit. */
static bool
expect_integer (const struct value *value, enum radio_dtype to,
                unsigned char *result)
{
  __int128 integer = value->integer;
  if (value->is_float) {
    double number = value->number;
    if (!(fabs (number) < 0x1p100) || number != floor (number))
      return false;
    integer = (__int128) number;
  }
  if (integer < low_of (to) || integer > high_of (to))
    return false;
  put_integer (to, integer, result);
  return true;
}

static void
expect_float (const struct value *value, enum radio_dtype to,
              unsigned char *result)
{
  if (value->is_float)
    put_float (to, value->number, result);
  else if (to == RADIO_FLOAT32) {
    float single = nearest_float (value->integer);
    memcpy (result, &single, 4);
  } else
    put_float (to, nearest_double (value->integer), result);
}

static bool
expect (const struct value *value, enum radio_dtype to,
        unsigned char *result)
{
  if (rd_dtype_is_integer (to))
    return expect_integer (value, to, result);
  expect_float (value, to, result);
  return true;
}

/* The values that a type has near the limits of all types, and some more. */
static size_t
integer_values (enum radio_dtype dtype, struct value *values)
{
  size_t n = 0;
  uint64_t seed = 11;
  for (int power = 0; power <= 64; power++)
    for (int step = -1; step <= 1; step++)
      for (int sign = -1; sign <= 1; sign += 2) {
        __int128 integer = sign * (((__int128) 1 << power) + step);
        if (integer >= low_of (dtype) && integer <= high_of (dtype))
          values[n++] = (struct value) { false, integer, 0 };
      }
  for (int i = 0; i < 200; i++) {
    __int128 range = high_of (dtype) - low_of (dtype) + 1;
    __int128 integer = low_of (dtype)
      + (__int128) (random_next (&seed) % (uint64_t) (range - 1));
    values[n++] = (struct value) { false, integer, 0 };
  }
  return n;
}

/* The value that a float type has for a number: what comes back of it. */
static double
as_stored (enum radio_dtype dtype, double number)
{
  char text[64];
  snprintf (text, sizeof text, "%a", number);
  if (dtype == RADIO_FLOAT32)
    return (double) strtof (text, NULL);
  if (dtype == RADIO_FLOAT16)
    return (double) rd_half_to_float (rd_double_to_half (number));
  return number;
}

static size_t
float_values (enum radio_dtype dtype, struct value *values)
{
  static const double numbers[] = {
    0.0, -0.0, 0.5, -0.5, 1.5, 1e-300, 5e-324, 1e300, 65504, 65519, 65520,
    3.4028235e38, 3.4028236e38, 1e-45, 2.5e-8, INFINITY, -INFINITY, NAN,
  };
  size_t n = 0;
  uint64_t seed = 12;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    values[n++].number = as_stored (dtype, numbers[i]);
  for (int power = 0; power <= 64; power++)
    for (int sign = -1; sign <= 1; sign += 2) {
      double number = sign * ldexp (1, power);
      values[n++].number = as_stored (dtype, number);
      values[n++].number = as_stored (dtype, number - 1);
      values[n++].number = as_stored (dtype, nextafter (number, 0));
      values[n++].number = as_stored (dtype, nextafterf ((float) number, 0));
    }
  for (int i = 0; i < 200; i++) {
    double number = ldexp ((double) random_next (&seed),
                           (int) (random_next (&seed) % 90) - 80);
    values[n++].number = as_stored (dtype, number);
  }
  for (size_t i = 0; i < n; i++)
    values[i].is_float = true;
  return n;
}

static size_t
values_of (enum radio_dtype dtype, struct value *values)
{
  return rd_dtype_is_integer (dtype) ? integer_values (dtype, values)
                                     : float_values (dtype, values);
}

static void
put_value (const struct value *value, enum radio_dtype dtype,
           unsigned char *to)
{
  if (value->is_float)
    put_float (dtype, value->number, to);
  else
    put_integer (dtype, value->integer, to);
}

enum { VALUES = 1024, ROOM = VALUES * 16 };

struct rooms {
  struct value values[VALUES];
  unsigned char from[ROOM], to[ROOM], expected[ROOM];
};

static struct rd_box_copy
row_copy (struct rooms *rooms, enum radio_dtype from, enum radio_dtype to,
          size_t n)
{
  struct rd_box_copy copy = {
    .rank = 1, .shape = { n }, .from = rooms->from,
    .from_strides = { (int64_t) radio_dtype_nbytes (from) },
    .from_type = rd_type_of (from), .to = rooms->to,
    .to_strides = { (int64_t) radio_dtype_nbytes (to) }, .to_dtype = to,
  };
  return copy;
}

/* NaNs are equal whatever their payload. */
static void
assert_element (enum radio_dtype dtype, const unsigned char *a,
                const unsigned char *b)
{
  size_t nbytes = radio_dtype_nbytes (dtype);
  double x = 0, y = 0;
  float single[2];
  if (dtype == RADIO_FLOAT64) {
    memcpy (&x, a, 8);
    memcpy (&y, b, 8);
  } else if (dtype == RADIO_FLOAT32) {
    memcpy (&single[0], a, 4);
    memcpy (&single[1], b, 4);
    x = (double) single[0];
    y = (double) single[1];
  }
  if (isnan (x) && isnan (y))
    return;
  assert_memory_equal (a, b, nbytes);
}

/* One value at a time: each is delivered as expected, or refused. */
static void
check_single_values (struct rooms *rooms, enum radio_dtype from,
                     enum radio_dtype to)
{
  struct rd_box_copy copy = row_copy (rooms, from, to, 1);
  size_t n = values_of (from, rooms->values);
  for (size_t i = 0; i < n; i++) {
    put_value (&rooms->values[i], from, rooms->from);
    if (expect (&rooms->values[i], to, rooms->expected)) {
      assert_ok (rd_box_copy_run (&copy));
      assert_element (to, rooms->to, rooms->expected);
    } else
      assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE, "does not fit");
  }
}

/* All that fit in one row; then one that does not, among them. */
static void
check_rows (struct rooms *rooms, enum radio_dtype from, enum radio_dtype to)
{
  size_t n = values_of (from, rooms->values), kept = 0, bad = n;
  size_t from_nbytes = radio_dtype_nbytes (from);
  size_t to_nbytes = radio_dtype_nbytes (to);
  for (size_t i = 0; i < n; i++)
    if (expect (&rooms->values[i], to, rooms->expected + kept * to_nbytes)) {
      put_value (&rooms->values[i], from, rooms->from + kept * from_nbytes);
      kept++;
    } else
      bad = i;
  if (kept == 0)
    return;
  struct rd_box_copy copy = row_copy (rooms, from, to, kept);
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < kept; i++)
    assert_element (to, rooms->to + i * to_nbytes,
                    rooms->expected + i * to_nbytes);
  if (bad == n)
    return;
  put_value (&rooms->values[bad], from,
             rooms->from + (kept - 1) * from_nbytes);
  assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE,
                radio_dtype_name (to));
}

static void
every_pair_of_types_converts_or_refuses_each_value (void **state)
{
  (void) state;
  struct rooms *rooms = calloc (1, sizeof *rooms);
  assert_non_null (rooms);
  for (size_t i = 0; i < REALS; i++)
    for (size_t k = 0; k < REALS; k++) {
      check_single_values (rooms, reals[i], reals[k]);
      check_rows (rooms, reals[i], reals[k]);
    }
  free (rooms);
}

/* The values that bfloat16 has from 0 on; the last one stands for infinity,
 * where a value would be if exponents went on. */
enum { NBRAINS = 0x7f80 };

static long double
brain_value (unsigned bits)
{
  long double fraction = bits & 0x7f;
  int exponent = (int) (bits >> 7);
  return exponent ? ldexpl (128 + fraction, exponent - 134)
                  : ldexpl (fraction, -133);
}

static unsigned
nearest_brain (long double value)
{
  unsigned sign = signbit (value) ? 0x8000 : 0, low = 0, high = NBRAINS;
  value = fabsl (value);
  if (value >= brain_value (NBRAINS))
    return sign | NBRAINS;
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    *(brain_value (middle) <= value ? &low : &high) = middle;
  }
  long double below = value - brain_value (low);
  long double above = brain_value (high) - value;
  return sign | (below < above || (below == above && low % 2 == 0) ? low
                                                                   : high);
}

static void
every_type_becomes_the_nearest_bfloat16 (void **state)
{
  (void) state;
  struct rooms *rooms = calloc (1, sizeof *rooms);
  assert_non_null (rooms);
  for (size_t i = 0; i < REALS; i++) {
    struct rd_type from = rd_type_of (reals[i]);
    size_t n = values_of (reals[i], rooms->values);
    for (size_t k = 0; k < n; k++)
      put_value (&rooms->values[k], reals[i],
                 rooms->from + k * from.item_nbytes);
    struct rd_box_copy copy = row_copy (rooms, reals[i], RADIO_BFLOAT16, n);
    assert_ok (rd_box_copy_check (&from, RADIO_BFLOAT16, false));
    assert_ok (rd_box_copy_run (&copy));
    for (size_t k = 0; k < n; k++) {
      const struct value *value = &rooms->values[k];
      uint16_t got;
      memcpy (&got, rooms->to + 2 * k, 2);
      if (value->is_float && isnan (value->number))
        assert_true ((got & 0x7fff) > 0x7f80);
      else
        assert_int_equal (got, nearest_brain (
          value->is_float ? (long double) value->number
                          : (long double) value->integer));
    }
  }
  free (rooms);
}

/* Around each value, and half way to the next one. */
static void
all_bits_of_float32_round_to_even (void **state)
{
  (void) state;
  static const uint32_t rests[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
  for (uint32_t upper = 0; upper < 0x10000; upper++)
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
      uint32_t bits = upper << 16 | rests[i];
      float value;
      memcpy (&value, &bits, sizeof value);
      unsigned narrow = rd_float_to_bfloat16 (value);
      unsigned wide = rd_double_to_bfloat16 ((double) value);
      if (isnan (value))
        assert_true ((narrow & 0x7fff) > 0x7f80 && (wide & 0x7fff) > 0x7f80);
      else if (narrow != wide || narrow != nearest_brain ((long double) value))
        fail_msg ("%a: %#x and %#x", (double) value, narrow, wide);
    }
}

static void
a_refused_value_is_named (void **state)
{
  (void) state;
  uint64_t big = UINT64_MAX;
  double half = -2.5, nan_value = NAN;
  int16_t negative = -300;
  unsigned char to[16];
  struct rd_box_copy copy = { .rank = 1, .shape = { 1 }, .to = to };
  copy.from = (unsigned char *) &big;
  copy.from_type = rd_type_of (RADIO_UINT64);
  copy.to_dtype = RADIO_INT64;
  assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE,
                "value 18446744073709551615 does not fit into int64");
  copy.from = (unsigned char *) &negative;
  copy.from_type = rd_type_of (RADIO_INT16);
  copy.to_dtype = RADIO_UINT8;
  assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE,
                "value -300 does not fit into uint8");
  copy.from = (unsigned char *) &half;
  copy.from_type = rd_type_of (RADIO_FLOAT64);
  copy.to_dtype = RADIO_INT32;
  assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE, "value -2.5 ");
  copy.from = (unsigned char *) &nan_value;
  assert_fails (rd_box_copy_run (&copy), RADIO_ERROR_RANGE, "nan");
}

static void
swapped_strided_rows_convert_as_plain_ones (void **state)
{
  (void) state;
  enum { N = 700 };
  unsigned char from[N * 6 + 2];
  double to[2 * N];
  for (size_t i = 0; i < N; i++) {
    uint16_t value = (uint16_t) (i * 91 - 30000);
    from[6 * i] = (unsigned char) (value >> 8);
    from[6 * i + 1] = (unsigned char) value;
  }
  struct rd_box_copy copy = {
    .rank = 1, .shape = { N }, .from = from, .from_strides = { 6 },
    .from_type = rd_type_of (RADIO_INT16),
    .from_swapped = !MACHINE_IS_BIG_ENDIAN,
    .to = (unsigned char *) &to[2 * (N - 1)], .to_strides = { -16 },
    .to_dtype = RADIO_FLOAT64, .scaled = true, .slope = 0.5, .inter = -3,
  };
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < N; i++) {
    int16_t value = (int16_t) (uint16_t) (i * 91 - 30000);
    assert_true (to[2 * (N - 1 - i)] == value * 0.5 - 3);
  }
}

static void
scaled_float32_is_rounded_once_from_float64 (void **state)
{
  (void) state;
  int32_t from[100];
  float to[100];
  uint64_t seed = 4;
  for (size_t i = 0; i < 100; i++)
    from[i] = (int32_t) random_next (&seed);
  struct rd_box_copy copy = {
    .rank = 1, .shape = { 100 }, .from = (unsigned char *) from,
    .from_strides = { 4 }, .from_type = rd_type_of (RADIO_INT32),
    .to = (unsigned char *) to, .to_strides = { 4 },
    .to_dtype = RADIO_FLOAT32, .scaled = true, .slope = 0.1, .inter = 1e-3,
  };
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < 100; i++) {
    volatile double product = from[i] * 0.1;
    volatile double sum = product + 1e-3;
    assert_true (to[i] == (float) sum);
  }
}

static void
complex_values_convert_part_by_part (void **state)
{
  (void) state;
  enum { N = 300 };
  float from[2 * N];
  double wide[2 * N];
  float back[2 * N];
  for (size_t i = 0; i < 2 * N; i++)
    from[i] = (float) i / 3;
  struct rd_box_copy copy = {
    .rank = 1, .shape = { N }, .from = (unsigned char *) from,
    .from_strides = { 8 }, .from_type = rd_type_of (RADIO_COMPLEX64),
    .to = (unsigned char *) wide, .to_strides = { 16 },
    .to_dtype = RADIO_COMPLEX128,
  };
  assert_ok (rd_box_copy_run (&copy));
  copy.from = (unsigned char *) &wide[2 * (N - 1)];
  copy.from_strides[0] = -16;
  copy.from_type = rd_type_of (RADIO_COMPLEX128);
  copy.to = (unsigned char *) &back[2 * (N - 1)];
  copy.to_strides[0] = -8;
  copy.to_dtype = RADIO_COMPLEX64;
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < 2 * N; i++) {
    assert_true (wide[i] == (double) from[i]);
    assert_true (back[i] == from[i]);
  }
}

static void
pairs_that_never_convert_are_refused_by_name (void **state)
{
  (void) state;
  struct rd_type raw, complex64 = rd_type_of (RADIO_COMPLEX64);
  struct rd_type int16 = rd_type_of (RADIO_INT16);
  assert_ok (rd_type_parse ("r24", &raw));
  assert_fails (rd_box_copy_check (&raw, RADIO_UINT8, false),
                RADIO_ERROR_ARGUMENT, "r24 values cannot be delivered as "
                "uint8");
  assert_fails (rd_box_copy_check (&complex64, RADIO_FLOAT64, false),
                RADIO_ERROR_ARGUMENT, "complex64");
  assert_fails (rd_box_copy_check (&int16, RADIO_COMPLEX64, false),
                RADIO_ERROR_ARGUMENT, "int16");
  assert_fails (rd_box_copy_check (&int16, RADIO_RAW, false),
                RADIO_ERROR_ARGUMENT, "raw");
  assert_fails (rd_box_copy_check (&int16, (enum radio_dtype) 77, false),
                RADIO_ERROR_ARGUMENT, "unknown");
  assert_fails (rd_box_copy_check (&int16, RADIO_INT32, true),
                RADIO_ERROR_ARGUMENT, "scaled");
  assert_fails (rd_box_copy_check (&int16, RADIO_STORED, true),
                RADIO_ERROR_ARGUMENT, "scaled");
  assert_fails (rd_box_copy_check (&complex64, RADIO_FLOAT32, true),
                RADIO_ERROR_ARGUMENT, "complex64");
}

static void
pairs_that_convert_are_accepted (void **state)
{
  (void) state;
  struct rd_type raw, complex64 = rd_type_of (RADIO_COMPLEX64);
  struct rd_type half = rd_type_of (RADIO_FLOAT16);
  assert_ok (rd_type_parse ("r24", &raw));
  assert_ok (rd_box_copy_check (&raw, RADIO_RAW, false));
  assert_ok (rd_box_copy_check (&raw, RADIO_STORED, false));
  assert_ok (rd_box_copy_check (&complex64, RADIO_COMPLEX128, false));
  assert_ok (rd_box_copy_check (&complex64, RADIO_COMPLEX64, false));
  assert_ok (rd_box_copy_check (&half, RADIO_BOOL, false));
  assert_ok (rd_box_copy_check (&half, RADIO_FLOAT32, true));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_pair_of_types_converts_or_refuses_each_value),
    cmocka_unit_test (every_type_becomes_the_nearest_bfloat16),
    cmocka_unit_test (all_bits_of_float32_round_to_even),
    cmocka_unit_test (a_refused_value_is_named),
    cmocka_unit_test (swapped_strided_rows_convert_as_plain_ones),
    cmocka_unit_test (scaled_float32_is_rounded_once_from_float64),
    cmocka_unit_test (complex_values_convert_part_by_part),
    cmocka_unit_test (pairs_that_never_convert_are_refused_by_name),
    cmocka_unit_test (pairs_that_convert_are_accepted),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
