/* SPDX-License-Identifier: MIT */
/* Fill values: bits of every type, there and back.  The patterns are those
 * of numpy's view of the same values. */
#include <config.h>

#include "tests/unit.h"

#include "src/zarr/document.h"

#define JSON RD_CLEANUP (rd_cleanup_json)

static enum radio_status
fill_of (const char *type_name, const char *text, void *element)
{
  JSON struct json_object *value = NULL;
  struct rd_type type;

  assert_ok (rd_type_parse (type_name, &type));
  assert_ok (rd_json_parse (text, strlen (text), "text", &value));
  return rd_fill_parse (value, &type, "a/zarr.json", element);
}

static void
assert_written (const char *type_name, const void *element,
                const char *expected)
{
  JSON struct json_object *value = NULL;
  struct rd_type type;
  unsigned char back[64];

  assert_ok (rd_type_parse (type_name, &type));
  assert_ok (rd_fill_write (&type, element, &value));
  const char *text = json_object_to_json_string_ext (value, 0);
  assert_string_equal (text, expected);
  assert_ok (fill_of (type_name, text, back));
  assert_memory_equal (back, element, type.item_nbytes);
}

static uint64_t
bits_of (const void *element, size_t nbytes)
{
  uint64_t bits = 0;
  for (size_t i = 0; i < nbytes; i++)
    bits |= (uint64_t) ((const unsigned char *) element)[i]
            << 8 * (MACHINE_IS_BIG_ENDIAN ? nbytes - 1 - i : i);
  return bits;
}

static const struct {
  const char *type, *text;
  size_t nbytes;
  uint64_t bits;
  const char *written;        /* NULL: as text */
} values[] = {
  { "bool", "true", 1, 1, NULL },
  { "bool", "false", 1, 0, NULL },
  { "bool", "1", 1, 1, "true" },
  { "bool", "0", 1, 0, "false" },
  { "int8", "-128", 1, 0x80, NULL },
  { "int8", "127", 1, 0x7f, NULL },
  { "int16", "-1024", 2, 0xfc00, NULL },
  { "int32", "-2147483648", 4, 0x80000000, NULL },
  { "int64", "-9223372036854775808", 8, UINT64_C (1) << 63, NULL },
  { "int64", "9223372036854775807", 8, INT64_MAX, NULL },
  { "uint8", "255", 1, 255, NULL },
  { "uint16", "65535", 2, 65535, NULL },
  { "uint32", "4294967295", 4, UINT32_MAX, NULL },
  { "uint64", "18446744073709551615", 8, UINT64_MAX, NULL },
  { "uint64", "9223372036854775808", 8, UINT64_C (1) << 63, NULL },
  { "float16", "1.5", 2, 0x3e00, NULL },
  { "float16", "0.1", 2, 0x2e66, "0.0999755859375" },
  { "float16", "65504", 2, 0x7bff, "65504.0" },
  { "float16", "-0.0", 2, 0x8000, NULL },
  { "float16", "\"NaN\"", 2, 0x7e00, NULL },
  { "float16", "\"-Infinity\"", 2, 0xfc00, NULL },
  { "float16", "\"0x7c01\"", 2, 0x7c01, NULL },
  { "float32", "0", 4, 0, "0.0" },
  { "float32", "0.1", 4, 0x3dcccccd, "0.10000000149011612" },
  { "float32", "-0", 4, 0x80000000, "-0.0" },
  { "float32", "1e-45", 4, 1, "1.401298464324817e-45" },
  { "float32", "\"NaN\"", 4, 0x7fc00000, NULL },
  { "float32", "\"0x7fc00000\"", 4, 0x7fc00000, "\"NaN\"" },
  { "float32", "\"0x7fa00001\"", 4, 0x7fa00001, NULL },
  { "float32", "\"0xffc00000\"", 4, 0xffc00000, NULL },
  { "float32", "\"0x7FC00001\"", 4, 0x7fc00001, "\"0x7fc00001\"" },
  { "float32", "\"0x3f800000\"", 4, 0x3f800000, "1.0" },
  { "float32", "\"Infinity\"", 4, 0x7f800000, NULL },
  { "float64", "0.1", 8, UINT64_C (0x3fb999999999999a), NULL },
  { "float64", "5e-324", 8, 1, NULL },
  { "float64", "1.7976931348623157e+308", 8,
    UINT64_C (0x7fefffffffffffff), NULL },
  { "float64", "100000000000000000000", 8, UINT64_C (0x4415af1d78b58c40),
    "1e+20" },
  { "float64", "18446744073709551615", 8, UINT64_C (0x43f0000000000000),
    "1.8446744073709552e+19" },
  { "float64", "\"NaN\"", 8, UINT64_C (0x7ff8000000000000), NULL },
  { "float64", "\"-Infinity\"", 8, UINT64_C (0xfff0000000000000), NULL },
  { "float64", "\"0x7ff0000000000001\"", 8, UINT64_C (0x7ff0000000000001),
    NULL },
};

static void
every_legal_value_has_its_bits (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    unsigned char element[8];
    assert_ok (fill_of (values[i].type, values[i].text, element));
    assert_true (bits_of (element, values[i].nbytes) == values[i].bits);
  }
}

static void
every_value_is_written_as_it_is_read (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    unsigned char element[8];
    assert_ok (fill_of (values[i].type, values[i].text, element));
    assert_written (values[i].type, element,
                    values[i].written ? values[i].written : values[i].text);
  }
}

static void
complex_values_are_pairs (void **state)
{
  (void) state;
  unsigned char element[16];
  assert_ok (fill_of ("complex64", "[1.5, \"NaN\"]", element));
  assert_true (bits_of (element, 4) == 0x3fc00000);
  assert_true (bits_of (element + 4, 4) == 0x7fc00000);
  assert_written ("complex64", element, "[1.5,\"NaN\"]");
  assert_ok (fill_of ("complex128", "[\"0x7ff0000000000001\", -2]",
                      element));
  assert_true (bits_of (element, 8) == UINT64_C (0x7ff0000000000001));
  assert_written ("complex128", element, "[\"0x7ff0000000000001\",-2.0]");
}

static void
raw_values_are_bytes (void **state)
{
  (void) state;
  unsigned char element[3];
  assert_ok (fill_of ("r24", "[0, 255, 7]", element));
  assert_memory_equal (element, "\0\xff\7", 3);
  assert_written ("r24", element, "[0,255,7]");
}

/* Every pattern of 16 bits, and random ones of 32 and 64. */
static void
every_pattern_comes_back (void **state)
{
  (void) state;
  uint64_t seed = 1;
  for (unsigned i = 0; i < 65536; i++) {
    uint16_t half = (uint16_t) i, back;
    JSON struct json_object *value = NULL;
    struct rd_type type = rd_type_of (RADIO_FLOAT16);
    assert_ok (rd_fill_write (&type, &half, &value));
    assert_ok (rd_fill_parse (value, &type, "x", &back));
    assert_int_equal (back, half);
  }
  for (unsigned i = 0; i < 4000; i++) {
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407u;
    uint64_t bits = seed ^ seed >> 29, back = 0;
    for (unsigned k = 0; k < 2; k++) {
      JSON struct json_object *value = NULL;
      struct rd_type type = rd_type_of (k ? RADIO_FLOAT32 : RADIO_FLOAT64);
      assert_ok (rd_fill_write (&type, &bits, &value));
      assert_ok (rd_fill_parse (value, &type, "x", &back));
      assert_memory_equal (&back, &bits, type.item_nbytes);
    }
  }
}

/* 1 + 2^-11 is half way between two halves and goes to the even one; a
 * little more goes up, also when float32 does not see the little. */
static void
halves_are_rounded_once (void **state)
{
  (void) state;
  unsigned char element[2];
  assert_ok (fill_of ("float16", "1.00048828125", element));
  assert_int_equal (bits_of (element, 2), 0x3c00);
  assert_ok (fill_of ("float16", "1.000488281250001", element));
  assert_int_equal (bits_of (element, 2), 0x3c01);
  assert_ok (fill_of ("float16", "1.001464843749999", element));
  assert_int_equal (bits_of (element, 2), 0x3c01);
}

static void
illegal_values_are_refused_in_words (void **state)
{
  (void) state;
  static const struct { const char *type, *text, *words; } cases[] = {
    { "bool", "2", "fill_value is 2, not true, false, 0 or 1" },
    { "bool", "-1", "fill_value is -1, not true, false, 0 or 1" },
    { "bool", "0.0", "not true, false, 0 or 1" },
    { "bool", "\"true\"", "not true, false, 0 or 1" },
    { "int8", "128", "fill_value is 128, not within -128 to 127" },
    { "int8", "-129", "not within -128 to 127" },
    { "uint8", "-1", "fill_value is -1, not within 0 to 255" },
    { "uint8", "256", "not within 0 to 255" },
    { "int64", "9223372036854775808", "not within -9223372036854775808 to" },
    { "int64", "-9223372036854775809", "not a whole number" },
    { "uint64", "18446744073709551616", "not a whole number" },
    { "int16", "5.0", "fill_value is 5.0, not a whole number" },
    { "int16", "1e2", "fill_value is 1e2, not a whole number" },
    { "int16", "null", "fill_value is null" },
    { "int16", "\"NaN\"", "not a whole number" },
    { "float32", "null", "fill_value is null" },
    { "float32", "NaN", "not a number that the data type holds" },
    { "float32", "1e39", "fill_value is 1e39, not a number that" },
    { "float16", "65520", "fill_value is 65520, not a number that" },
    { "float64", "1e400", "fill_value is 1e400" },
    { "float32", "\"nan\"", "fill_value is \"nan\"" },
    { "float32", "\"0x7fc0\"", "0x and 8 digits" },
    { "float32", "\"0x7fc0000g\"", "0x and 8 digits" },
    { "float16", "\"0x7fc00000\"", "0x and 4 digits" },
    { "float32", "true", "not a number" },
    { "complex64", "1", "not a list of two numbers" },
    { "complex64", "[1]", "not a list of two numbers" },
    { "complex64", "[1, \"x\"]", "fill_value is \"x\"" },
    { "r16", "[1]", "not a list of the data type's bytes" },
    { "r16", "[1, 256]", "is 256, not within 0 to 255" },
    { "r16", "[1, -1]", "not a number of 0 or more" },
    { "r16", "\"AAA=\"", "not a list of the data type's bytes" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unsigned char element[16];
    assert_fails (fill_of (cases[i].type, cases[i].text, element),
                  RADIO_ERROR_FORMAT, cases[i].words);
    assert_non_null (strstr (radio_error_message (), "a/zarr.json: "));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_legal_value_has_its_bits),
    cmocka_unit_test (every_value_is_written_as_it_is_read),
    cmocka_unit_test (complex_values_are_pairs),
    cmocka_unit_test (raw_values_are_bytes),
    cmocka_unit_test (every_pattern_comes_back),
    cmocka_unit_test (halves_are_rounded_once),
    cmocka_unit_test (illegal_values_are_refused_in_words),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
