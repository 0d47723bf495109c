/* SPDX-License-Identifier: MIT */
/* Names and sizes of types; half floats, all of them. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "src/element/type.h"

static uint32_t
bits_of (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/* A half's value by the definition of binary16. */
static double
half_by_definition (uint16_t half)
{
  int exponent = half >> 10 & 0x1f;
  double fraction = half & 0x3ff;
  double value = exponent ? ldexp (1024 + fraction, exponent - 25)
                          : ldexp (fraction, -24);
  return half & 0x8000 ? -value : value;
}

static void
every_core_name_is_found_with_its_size (void **state)
{
  (void) state;
  static const struct { const char *name; size_t item, unit; } rows[] = {
    { "bool", 1, 1 }, { "int8", 1, 1 }, { "int16", 2, 2 },
    { "int32", 4, 4 }, { "int64", 8, 8 }, { "uint8", 1, 1 },
    { "uint16", 2, 2 }, { "uint32", 4, 4 }, { "uint64", 8, 8 },
    { "float16", 2, 2 }, { "float32", 4, 4 }, { "float64", 8, 8 },
    { "complex64", 8, 4 }, { "complex128", 16, 8 },
    { "r8", 1, 1 }, { "r24", 3, 1 }, { "r8388608", 1048576, 1 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_type type;
    char room[24];
    assert_ok (rd_type_parse (rows[i].name, &type));
    assert_int_equal (type.item_nbytes, rows[i].item);
    assert_int_equal (type.unit_nbytes, rows[i].unit);
    assert_string_equal (rd_type_name (&type, room), rows[i].name);
    if (type.dtype == RADIO_RAW)
      continue;
    assert_int_equal (radio_dtype_nbytes (type.dtype), rows[i].item);
    struct rd_type same = rd_type_of (type.dtype);
    assert_int_equal (same.unit_nbytes, rows[i].unit);
  }
}

static void
bfloat16_is_for_reading_only (void **state)
{
  (void) state;
  enum radio_dtype dtype;
  struct rd_type type;
  assert_ok (radio_dtype_parse ("bfloat16", &dtype));
  assert_int_equal (dtype, RADIO_BFLOAT16);
  assert_string_equal (radio_dtype_name (dtype), "bfloat16");
  assert_int_equal (radio_dtype_nbytes (dtype), 2);
  assert_fails (rd_type_parse ("bfloat16", &type), RADIO_ERROR_UNSUPPORTED,
                "'bfloat16' is for reading other types");
}

static void
other_names_are_refused_by_name (void **state)
{
  (void) state;
  static const char *const names[] = {
    "", "raw", "stored", "Int16", "int16 ", "r", "r-8", "r 8",
    "r08", "r0", "r8x", "r+8", "strings",
  };
  struct rd_type type;
  enum radio_dtype dtype;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_fails (rd_type_parse (names[i], &type), RADIO_ERROR_UNSUPPORTED,
                  names[i]);
    assert_fails (radio_dtype_parse (names[i], &dtype),
                  RADIO_ERROR_UNSUPPORTED, names[i]);
  }
  assert_fails (radio_dtype_parse ("r8", &dtype), RADIO_ERROR_UNSUPPORTED,
                "r8");
  /* Only arrays have it: an element has no size. */
  assert_fails (radio_dtype_parse ("string", &dtype),
                RADIO_ERROR_UNSUPPORTED, "string");
  assert_ok (rd_type_parse ("string", &type));
  assert_int_equal (type.dtype, RADIO_STRING);
  assert_int_equal (radio_dtype_nbytes (RADIO_STRING), 0);
  assert_fails (radio_dtype_parse (NULL, &dtype), RADIO_ERROR_ARGUMENT,
                "NULL");
}

static void
raw_types_have_whole_bytes_and_a_bound (void **state)
{
  (void) state;
  struct rd_type type;
  assert_fails (rd_type_parse ("r12", &type), RADIO_ERROR_FORMAT, "of 8");
  assert_fails (rd_type_parse ("r8388616", &type), RADIO_ERROR_UNSUPPORTED,
                "r8388616");
  assert_fails (rd_type_parse ("r99999999999999999999999999999992", &type),
                RADIO_ERROR_UNSUPPORTED, "more than");
  assert_fails (rd_type_parse ("r18446744073709551624", &type),
                RADIO_ERROR_UNSUPPORTED, "more than");
}

static void
each_type_is_of_one_kind (void **state)
{
  (void) state;
  for (int d = RADIO_STORED; d <= RADIO_RAW; d++) {
    enum radio_dtype dtype = (enum radio_dtype) d;
    int kinds = rd_dtype_is_integer (dtype) + rd_dtype_is_float (dtype)
      + rd_dtype_is_complex (dtype);
    assert_int_equal (kinds, d != RADIO_STORED && d != RADIO_RAW);
  }
  assert_true (rd_dtype_is_integer (RADIO_BOOL));
  assert_true (rd_dtype_is_float (RADIO_FLOAT16));
  assert_int_equal (radio_dtype_nbytes ((enum radio_dtype) 99), 0);
  assert_string_equal (radio_dtype_name ((enum radio_dtype) -1),
                       "unknown type");
}

static void
every_half_has_the_value_of_its_definition (void **state)
{
  (void) state;
  for (unsigned h = 0; h < 0x10000; h++) {
    float value = rd_half_to_float ((uint16_t) h);
    if ((h & 0x7c00) == 0x7c00) {
      assert_int_equal (bits_of (value), (h & 0x8000u) << 16 | 0x7f800000u
                        | (h & 0x3ff) << 13);
      continue;
    }
    assert_true ((double) value == half_by_definition ((uint16_t) h));
    assert_int_equal (bits_of (value) >> 31, h >> 15);
  }
}

static void
every_half_survives_the_way_through_float_and_double (void **state)
{
  (void) state;
  for (unsigned h = 0; h < 0x10000; h++) {
    float value = rd_half_to_float ((uint16_t) h);
    assert_int_equal (rd_float_to_half (value), h);
    if (!isnan (value))
      assert_int_equal (rd_double_to_half ((double) value), h);
  }
}

/* Between two neighbours the middle goes to the even one, and the next
 * value on either side of the middle to the nearer one. */
static void
values_between_halves_go_to_the_nearest (void **state)
{
  (void) state;
  for (unsigned h = 0; h < 0x7c00; h++) {
    double low = half_by_definition ((uint16_t) h);
    double high = h + 1 == 0x7c00 ? 65536
                                  : half_by_definition ((uint16_t) (h + 1));
    double middle = (low + high) / 2;
    unsigned even = h & 1 ? h + 1 : h;
    assert_int_equal (rd_double_to_half (middle), even);
    assert_int_equal (rd_double_to_half (-middle), even | 0x8000);
    assert_int_equal (rd_double_to_half (nextafter (middle, 0)), h);
    assert_int_equal (rd_double_to_half (nextafter (middle, 1e9)), h + 1);
    float single = (float) middle;
    assert_int_equal (rd_float_to_half (single), even);
    assert_int_equal (rd_float_to_half (nextafterf (single, 0)), h);
    assert_int_equal (rd_float_to_half (nextafterf (single, 1e9f)), h + 1);
  }
}

static void
extreme_values_become_infinity_or_zero (void **state)
{
  (void) state;
  assert_int_equal (rd_double_to_half (1e300), 0x7c00);
  assert_int_equal (rd_double_to_half (-65520), 0xfc00);
  assert_int_equal (rd_double_to_half (65519.999), 0x7bff);
  assert_int_equal (rd_float_to_half (INFINITY), 0x7c00);
  assert_int_equal (rd_double_to_half (-INFINITY), 0xfc00);
  assert_int_equal (rd_double_to_half (5e-324), 0);
  assert_int_equal (rd_float_to_half (-1e-45f), 0x8000);
  assert_int_equal (rd_double_to_half (-0.0), 0x8000);
}

static void
a_nan_stays_one_when_its_payload_does_not_fit (void **state)
{
  (void) state;
  uint32_t low = 0x7f800001;
  uint64_t low64 = 0xfff0000000000001;
  float single;
  double value;
  memcpy (&single, &low, sizeof single);
  memcpy (&value, &low64, sizeof value);
  assert_int_equal (rd_float_to_half (single), 0x7e00);
  assert_int_equal (rd_double_to_half (value), 0xfe00);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_core_name_is_found_with_its_size),
    cmocka_unit_test (bfloat16_is_for_reading_only),
    cmocka_unit_test (other_names_are_refused_by_name),
    cmocka_unit_test (raw_types_have_whole_bytes_and_a_bound),
    cmocka_unit_test (each_type_is_of_one_kind),
    cmocka_unit_test (every_half_has_the_value_of_its_definition),
    cmocka_unit_test (every_half_survives_the_way_through_float_and_double),
    cmocka_unit_test (values_between_halves_go_to_the_nearest),
    cmocka_unit_test (extreme_values_become_infinity_or_zero),
    cmocka_unit_test (a_nan_stays_one_when_its_payload_does_not_fit),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
