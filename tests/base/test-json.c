/* SPDX-License-Identifier: MIT */
/* JSON: accepted and refused texts, numbers to the last bit, and messages that
 * name document, member and value. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "src/base/json.h"

#define JSON RD_CLEANUP (rd_cleanup_json)

static struct json_object *
parse (const char *text)
{
  struct json_object *value = NULL;

  assert_ok (rd_json_parse (text, strlen (text), "x/zarr.json", &value));
  return value;
}

static enum radio_status
refuse (const char *text, size_t nbytes)
{
  struct json_object *value = NULL;
  enum radio_status status = rd_json_parse (text, nbytes, "x/zarr.json",
                                            &value);
  json_object_put (value);
  return status;
}

static void
invalid_json_is_refused_with_its_byte (void **state)
{
  (void) state;
  static const struct { const char *text, *words; } cases[] = {
    { "", "byte 0: unexpected end" },
    { "  ", "byte 2: unexpected end" },
    { "{\"a\": 1", "byte 7: unexpected end" },
    { "[1,]", "byte 3" },
    { "{\"a\": 1,}", "byte 8" },
    { "{} {}", "byte 3" },
    { "1 2", "byte 2" },
    { "99999999999999999999 x", "byte 21" },
    { "[1] // no", "byte 4" },
    { "'a'", "byte 0" },
    { "[tRUE]", "byte 2" },
    { "[01]", "byte 2" },
    { "\"\\q\"", "byte 2" },
    { "[0x10]", "byte 2" },
    { "\xef\xbb\xbf{}", "byte 0" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_fails (refuse (cases[i].text, strlen (cases[i].text)),
                  RADIO_ERROR_FORMAT, cases[i].words);
    assert_non_null (strstr (radio_error_message (), "x/zarr.json: "));
  }
}

static void
a_nul_byte_is_refused_at_any_position (void **state)
{
  (void) state;
  assert_fails (refuse ("{}\0", 3), RADIO_ERROR_FORMAT, "byte 2: a NUL");
  assert_fails (refuse ("\0", 1), RADIO_ERROR_FORMAT, "byte 0: a NUL");
  assert_fails (refuse ("[1\0]", 4), RADIO_ERROR_FORMAT, "byte 2: a NUL");
}

static void
bytes_that_are_no_utf8_are_refused (void **state)
{
  (void) state;
  assert_fails (refuse ("[\"\xff\"]", 5), RADIO_ERROR_FORMAT, "utf-8");
  assert_fails (refuse ("[\"\xc3", 3), RADIO_ERROR_FORMAT, "JSON at byte");
}

static void
depth_is_bounded (void **state)
{
  (void) state;
  char text[2 * 65];
  memset (text, '[', 65);
  memset (text + 65, ']', 65);
  assert_fails (refuse (text, sizeof text), RADIO_ERROR_FORMAT, "nesting");
  JSON struct json_object *value = NULL;
  assert_ok (rd_json_parse (text + 2, 126, "x", &value));
}

static void
text_need_not_end_in_a_nul (void **state)
{
  (void) state;
  JSON struct json_object *value = NULL;
  assert_ok (rd_json_parse ("1234", 2, "x", &value));
  assert_int_equal (json_object_get_int64 (value), 12);
}

static void
null_is_a_value (void **state)
{
  (void) state;
  struct json_object *value = (struct json_object *) 1;
  assert_ok (rd_json_parse (" null\n", 6, "x", &value));
  assert_null (value);
}

static void
a_member_named_with_a_nul_is_refused (void **state)
{
  (void) state;
  const char *text = "{\"shape\\u0000x\" : 1}";
  assert_fails (refuse (text, strlen (text)), RADIO_ERROR_FORMAT,
                "name has a NUL");
  JSON struct json_object *value = parse ("{\"a\\\\u0000\": \"\\u0000\"}");
  const char *string;
  assert_fails (rd_json_text (rd_json_member (value, "a\\u0000"), "a", "x",
                              &string),
                RADIO_ERROR_FORMAT, "x: a has a NUL character");
}

static void
of_members_with_one_name_the_last_one_stays (void **state)
{
  (void) state;
  JSON struct json_object *value = parse ("{\"a\": 1, \"a\": 2}");
  assert_int_equal (json_object_get_int (rd_json_member (value, "a")), 2);
}

static void
integers_are_exact_to_64_bits (void **state)
{
  (void) state;
  JSON struct json_object *list = parse (
    "[0, 18446744073709551615, 9223372036854775808]");
  const uint64_t expected[] = { 0, UINT64_MAX, UINT64_C (1) << 63 };
  for (size_t i = 0; i < 3; i++) {
    uint64_t number;
    assert_ok (rd_json_u64 (json_object_array_get_idx (list, i), "n", "x",
                            &number));
    assert_true (number == expected[i]);
  }
  JSON struct json_object *object = parse ("{\"a\": -9223372036854775808}");
  int64_t low;
  assert_ok (rd_json_int (object, "a", "x", INT64_MIN, 0, &low));
  assert_true (low == INT64_MIN);
}

/* json-c alone would make 18446744073709551615 of the first ones. */
static void
integers_beyond_64_bits_become_doubles (void **state)
{
  (void) state;
  static const char *const numbers[] = {
    "18446744073709551616", "99999999999999999999", "-9223372036854775809",
    "100000000000000000000000000000000000000000000000000", "-0",
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char text[80];
    snprintf (text, sizeof text, "{\"a\": [1, %s, 2]}", numbers[i]);
    JSON struct json_object *value = parse (text);
    JSON struct json_object *alone = parse (numbers[i]);
    struct json_object *number
      = json_object_array_get_idx (rd_json_member (value, "a"), 1);
    double expected = strtod (numbers[i], NULL);
    assert_true (json_object_is_type (number, json_type_double));
    assert_true (json_object_get_double (number) == expected);
    assert_true (json_object_get_double (alone) == expected);
    assert_int_equal (signbit (json_object_get_double (number)) != 0,
                      numbers[i][0] == '-');
    uint64_t whole;
    assert_fails (rd_json_u64 (number, "a", "x", &whole),
                  RADIO_ERROR_FORMAT, "not a whole number");
  }
}

static void
digits_within_strings_are_left_alone (void **state)
{
  (void) state;
  JSON struct json_object *value = parse (
    "{\"99999999999999999999\": \"\\\"99999999999999999999\"}");
  const char *text;
  assert_ok (rd_json_string (value, "99999999999999999999", "x", &text));
  assert_string_equal (text, "\"99999999999999999999");
}

static void
a_member_is_named_when_it_is_missing_or_of_another_type (void **state)
{
  (void) state;
  JSON struct json_object *o = parse (
    "{\"n\": null, \"f\": 3.0, \"t\": true, \"s\": \"s\", \"l\": [],"
    " \"o\": {}, \"big\": 18446744073709551615}");
  struct json_object *value;
  const char *text;
  int64_t number;
  bool flag;
  assert_fails (rd_json_object (o, "q", "x", &value), RADIO_ERROR_FORMAT,
                "x: q is missing");
  assert_fails (rd_json_object (o, "n", "x", &value), RADIO_ERROR_FORMAT,
                "x: n is null, not an object");
  assert_fails (rd_json_array (o, "o", "x", &value), RADIO_ERROR_FORMAT,
                "o is an object, not a list");
  assert_fails (rd_json_string (o, "l", "x", &text), RADIO_ERROR_FORMAT,
                "l is a list, not a string");
  assert_fails (rd_json_bool (o, "s", "x", &flag), RADIO_ERROR_FORMAT,
                "s is \"s\", not true or false");
  assert_fails (rd_json_int (o, "t", "x", 0, 9, &number),
                RADIO_ERROR_FORMAT, "t is true, not a whole number");
  assert_fails (rd_json_int (o, "f", "x", 0, 9, &number),
                RADIO_ERROR_FORMAT, "f is 3.0, not a whole number");
  assert_fails (rd_json_int (o, "big", "x", 0, INT64_MAX, &number),
                RADIO_ERROR_FORMAT, "big is 18446744073709551615, not within");
}

static void
members_of_the_right_type_are_given (void **state)
{
  (void) state;
  JSON struct json_object *o = parse (
    "{\"b\": true, \"s\": \"text\", \"l\": [1], \"o\": {\"b\": 2}}");
  struct json_object *value;
  const char *text;
  int64_t number;
  bool flag = false;
  assert_ok (rd_json_bool (o, "b", "x", &flag));
  assert_true (flag);
  assert_ok (rd_json_string (o, "s", "x", &text));
  assert_string_equal (text, "text");
  assert_ok (rd_json_array (o, "l", "x", &value));
  assert_int_equal (json_object_array_length (value), 1);
  assert_ok (rd_json_object (o, "o", "x", &value));
  assert_ok (rd_json_int (value, "b", "x", 2, 2, &number));
  assert_int_equal (number, 2);
}

static void
integers_outside_their_bounds_are_named (void **state)
{
  (void) state;
  JSON struct json_object *o = parse ("{\"low\": -1, \"high\": 10}");
  int64_t number;
  assert_fails (rd_json_int (o, "low", "x", 0, 9, &number),
                RADIO_ERROR_FORMAT, "low is -1, not within 0 to 9");
  assert_fails (rd_json_int (o, "high", "x", 0, 9, &number),
                RADIO_ERROR_FORMAT, "high is 10, not within 0 to 9");
}

static void
a_long_value_is_cut_at_a_whole_character (void **state)
{
  (void) state;
  for (size_t shift = 0; shift < 2; shift++) {
    char text[512] = "{\"a\": \"";
    if (shift)
      text[strlen (text)] = 'x';
    while (strlen (text) < 300)
      memcpy (text + strlen (text), "\xc3\xa9", 3);
    memcpy (text + strlen (text), "\"}", 3);
    JSON struct json_object *o = parse (text);
    bool flag;
    assert_fails (rd_json_bool (o, "a", "x", &flag), RADIO_ERROR_FORMAT,
                  "\xc3\xa9...\", not true");
    assert_true (strlen (radio_error_message ()) < 100);
  }
}

static enum radio_status
shape_of (const char *text, uint64_t low, size_t *rank, uint64_t *shape)
{
  JSON struct json_object *list = parse (text);

  return rd_json_shape (list, "shape", "x", low, rank, shape);
}

static void
a_shape_is_of_1_to_8_sizes_below_2_to_the_63 (void **state)
{
  (void) state;
  uint64_t shape[RADIO_MAX_RANK];
  size_t rank;
  assert_ok (shape_of ("[0, 5, 9223372036854775807]", 0, &rank, shape));
  assert_int_equal (rank, 3);
  assert_int_equal (shape[1], 5);
  assert_true (shape[2] == INT64_MAX);
  assert_fails (shape_of ("[]", 0, &rank, shape), RADIO_ERROR_UNSUPPORTED,
                "shape has 0 entries");
  assert_fails (shape_of ("[1,2,3,4,5,6,7,8,9]", 0, &rank, shape),
                RADIO_ERROR_UNSUPPORTED, "shape has 9 entries");
  assert_fails (shape_of ("[1, 9223372036854775808]", 0, &rank, shape),
                RADIO_ERROR_FORMAT, "shape[1] is 9223372036854775808");
  assert_fails (shape_of ("[1, -1]", 0, &rank, shape), RADIO_ERROR_FORMAT,
                "shape[1] is -1");
  assert_fails (shape_of ("[1, 0]", 1, &rank, shape), RADIO_ERROR_FORMAT,
                "shape[1] is 0");
  assert_fails (shape_of ("[1, 2.0]", 1, &rank, shape), RADIO_ERROR_FORMAT,
                "shape[1] is 2.0, not a whole number");
  assert_fails (shape_of ("5", 1, &rank, shape), RADIO_ERROR_FORMAT,
                "shape is 5, not a list");
}

static void
doubles_read_back_to_the_bit_in_few_digits (void **state)
{
  (void) state;
  static const struct { double value; const char *text; } cases[] = {
    { 0.1, "0.1" }, { 3, "3.0" }, { -0.0, "-0.0" }, { 1e300, "1e+300" },
    { 1.0 / 3, "0.3333333333333333" }, { 5e-324, "5e-324" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 0.1 + 0.2, "0.30000000000000004" }, { 100, "100.0" },
    { -32768, "-32768.0" }, { 150.5, "150.5" }, { 1e15, "1e+15" },
    { 123456789012345678.0, "1.2345678901234568e+17" }, { 1e-7, "1e-07" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    JSON struct json_object *number = rd_json_new_double (cases[i].value);
    const char *text = json_object_to_json_string (number);
    assert_string_equal (text, cases[i].text);
    JSON struct json_object *again = parse (text);
    double back = json_object_get_double (again);
    assert_memory_equal (&back, &cases[i].value, sizeof back);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (invalid_json_is_refused_with_its_byte),
    cmocka_unit_test (a_nul_byte_is_refused_at_any_position),
    cmocka_unit_test (bytes_that_are_no_utf8_are_refused),
    cmocka_unit_test (depth_is_bounded),
    cmocka_unit_test (text_need_not_end_in_a_nul),
    cmocka_unit_test (null_is_a_value),
    cmocka_unit_test (a_member_named_with_a_nul_is_refused),
    cmocka_unit_test (of_members_with_one_name_the_last_one_stays),
    cmocka_unit_test (integers_are_exact_to_64_bits),
    cmocka_unit_test (integers_beyond_64_bits_become_doubles),
    cmocka_unit_test (digits_within_strings_are_left_alone),
    cmocka_unit_test (
      a_member_is_named_when_it_is_missing_or_of_another_type),
    cmocka_unit_test (members_of_the_right_type_are_given),
    cmocka_unit_test (integers_outside_their_bounds_are_named),
    cmocka_unit_test (a_long_value_is_cut_at_a_whole_character),
    cmocka_unit_test (a_shape_is_of_1_to_8_sizes_below_2_to_the_63),
    cmocka_unit_test (doubles_read_back_to_the_bit_in_few_digits),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
