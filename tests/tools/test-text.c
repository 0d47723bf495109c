/* SPDX-License-Identifier: MIT */
/* Human-readable text: widths, sizes, times and tables, and numbers parsed
 * strictly. */
#include <config.h>

#include <locale.h>

#include "tests/unit.h"

#include "tools/parse.h"
#include "tools/report.h"
#include "tools/text.h"

static void
sizes_have_three_figures_and_the_right_unit (void **state)
{
  (void) state;
  char text[RD_TEXT_NBYTES];
  assert_string_equal (rd_text_size (0, text), "0 B");
  assert_string_equal (rd_text_size (999, text), "999 B");
  assert_string_equal (rd_text_size (1000, text), "1.0 kB");
  assert_string_equal (rd_text_size (99949, text), "99.9 kB");
  assert_string_equal (rd_text_size (99950, text), "100 kB");
  assert_string_equal (rd_text_size (999500, text), "1.0 MB");
  assert_string_equal (rd_text_size (16777216, text), "16.8 MB");
  assert_string_equal (rd_text_size (UINT64_MAX, text), "18.4 EB");
}

static void
times_grow_from_seconds_to_hours (void **state)
{
  (void) state;
  char text[RD_TEXT_NBYTES];
  assert_string_equal (rd_text_time (0.418, text), "0.42 s");
  assert_string_equal (rd_text_time (9.999, text), "10.0 s");
  assert_string_equal (rd_text_time (59.97, text), "1 min 00 s");
  assert_string_equal (rd_text_time (125, text), "2 min 05 s");
  assert_string_equal (rd_text_time (3725, text), "1 h 02 min");
  assert_string_equal (rd_text_time (-1, text), "-");
  assert_string_equal (rd_text_time (1e300, text), "-");
}

static void
counts_have_commas_at_thousands (void **state)
{
  (void) state;
  char text[RD_TEXT_NBYTES];
  assert_string_equal (rd_number_grouped (0, text), "0");
  assert_string_equal (rd_number_grouped (999, text), "999");
  assert_string_equal (rd_number_grouped (1000, text), "1,000");
  assert_string_equal (rd_number_grouped (UINT64_MAX, text),
                       "18,446,744,073,709,551,615");
}

static void
exact_numbers_are_the_shortest_that_read_back (void **state)
{
  (void) state;
  char text[RD_TEXT_NBYTES];
  assert_string_equal (rd_number_exact (0.1, text), "0.1");
  assert_string_equal (rd_number_exact (-1024, text), "-1024");
  assert_string_equal (rd_number_exact (-90, text), "-90");
  assert_string_equal (rd_number_exact (100000, text), "100000");
  assert_string_equal (rd_number_exact (1e300, text), "1e+300");
  assert_string_equal (rd_number_exact (1.0 / 3, text), "0.3333333333333333");
  assert_string_equal (rd_number_exact (5e-324, text), "5e-324");
}

static void
a_ratio_without_a_size_is_a_dash (void **state)
{
  (void) state;
  char text[RD_TEXT_NBYTES];
  assert_string_equal (rd_text_ratio (10, 4, text), "2.50x");
  assert_string_equal (rd_text_ratio (1000, 10, text), "100x");
  assert_string_equal (rd_text_ratio (1, 0, text), "-");
  assert_string_equal (rd_text_ratio (0, 1, text), "-");
}

static void
numbers_are_digits_only_and_fit (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", " 1", "1 ", "+1", "-1", "0x10", "1e3", "1.0", "12a",
    "18446744073709551616", "99999999999999999999999"
  };
  uint64_t value = 77;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (rd_parse_u64 (bad[i], &value))
      fail_msg ("'%s' was taken", bad[i]);
  assert_int_equal (value, 77);
  assert_true (rd_parse_u64 ("18446744073709551615", &value));
  assert_true (value == UINT64_MAX);
  assert_true (rd_parse_u64 ("007", &value));
  assert_int_equal (value, 7);
}

static void
doubles_are_decimal_and_finite (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "nan", "inf", "0x1p3", "1e999", "1,5", "1.5x", " 1", "1e", "--1",
    "1-2", ".", "e5", "+-1", "1.2.3"
  };
  static const struct { const char *text; double value; } good[] = {
    { "0", 0 }, { "-12.5", -12.5 }, { "1e3", 1000 }, { ".5", 0.5 },
    { "5.", 5 }, { "+2E-2", 0.02 }
  };
  double value = 77;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (rd_parse_double (bad[i], &value))
      fail_msg ("'%s' was taken as %g", bad[i], value);
  assert_true (value == 77);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_true (rd_parse_double (good[i].text, &value));
    assert_true (value == good[i].value);
  }
}

static void
ranges_are_two_numbers_in_order (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "1", "1,", ",1", "1,1", "2,1", "1,2,3", "1;2", "a,b", "1,nan"
  };
  double low = 7, high = 7;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (rd_parse_range (bad[i], &low, &high))
      fail_msg ("'%s' was taken", bad[i]);
  assert_true (low == 7 && high == 7);
  assert_true (rd_parse_range ("-160,240.5", &low, &high));
  assert_true (low == -160 && high == 240.5);
}

static void
sizes_are_parsed_with_binary_and_decimal_units (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "M", "1X", "1 M", "-1M", "1MiBs", "1.5G", "18446744073709551615K",
    "1b", "1iB"
  };
  uint64_t n = 77;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (rd_parse_size (bad[i], &n))
      fail_msg ("'%s' was taken", bad[i]);
  assert_int_equal (n, 77);
  assert_true (rd_parse_size ("512", &n));
  assert_int_equal (n, 512);
  assert_true (rd_parse_size ("512M", &n));
  assert_int_equal (n, 512 << 20);
  assert_true (rd_parse_size ("2k", &n));
  assert_int_equal (n, 2048);
  assert_true (rd_parse_size ("3GiB", &n));
  assert_true (n == (uint64_t) 3 << 30);
  assert_true (rd_parse_size ("3MB", &n));
  assert_int_equal (n, 3000000);
}

static void
triples_are_three_numbers_or_one_for_all (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "1", "1,2", "1,2,", "1,2,3,", "1,2,3,4", "1,,3", "a,b,c", "1,2,-3"
  };
  uint64_t v[3] = { 7, 7, 7 };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (rd_parse_triple (bad[i], false, v))
      fail_msg ("'%s' was taken", bad[i]);
  assert_int_equal (v[0] + v[1] + v[2], 21);
  assert_true (rd_parse_triple ("1,20,300", false, v));
  assert_int_equal (v[0], 1);
  assert_int_equal (v[1], 20);
  assert_int_equal (v[2], 300);
  assert_true (rd_parse_triple ("64", true, v));
  assert_int_equal (v[0] + v[1] + v[2], 192);
}

static void
distance_counts_edits (void **state)
{
  (void) state;
  assert_int_equal (rd_text_distance ("ingest", "ingest"), 0);
  assert_int_equal (rd_text_distance ("ingst", "ingest"), 1);
  assert_int_equal (rd_text_distance ("infos", "info"), 1);
  assert_int_equal (rd_text_distance ("", "rm"), 2);
  assert_int_equal (rd_text_distance ("abc", "xyz"), 3);
  char big[100];
  memset (big, 'a', 99);
  big[99] = '\0';
  assert_int_equal (rd_text_distance (big, "a"), 64);
}

static void
utf8_is_decoded_strictly (void **state)
{
  (void) state;
  static const struct { const char *text; uint32_t c; size_t n; } cases[] = {
    { "a", 'a', 1 }, { "\xc3\xa9", 0xe9, 2 }, { "\xe2\x82\xac", 0x20ac, 3 },
    { "\xf0\x9f\xa7\xa0", 0x1f9e0, 4 }, { "\x80", 0xfffd, 1 },
    { "\xc0\x80", 0xfffd, 1 }, { "\xe0\x80\x80", 0xfffd, 1 },
    { "\xed\xa0\x80", 0xfffd, 1 }, { "\xf4\x90\x80\x80", 0xfffd, 1 },
    { "\xc3", 0xfffd, 1 }, { "\xe2\x82", 0xfffd, 1 }, { "\xff", 0xfffd, 1 }
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t c;
    assert_int_equal (rd_utf8_decode (cases[i].text, &c), cases[i].n);
    assert_int_equal (c, cases[i].c);
  }
}

static void
widths_are_columns_not_bytes (void **state)
{
  (void) state;
  if (setlocale (LC_CTYPE, "C.UTF-8") == NULL)
    skip ();
  assert_int_equal (rd_text_columns ("abc"), 3);
  assert_int_equal (rd_text_columns ("caf\xc3\xa9"), 4);
  assert_int_equal (rd_text_columns ("\xe8\x84\xb3"), 2);
  assert_int_equal (rd_text_columns ("e\xcc\x81"), 1);
  assert_int_equal (rd_text_columns ("a\x1b[2J"), 5);
}

/* The text printed to a file, at most 1 KiB. */
static char printed[1024];

static void
read_back (FILE *file)
{
  rewind (file);
  size_t n = fread (printed, 1, sizeof printed - 1, file);
  printed[n] = '\0';
  fclose (file);
}

static void
control_sequences_are_not_printed (void **state)
{
  (void) state;
  FILE *file = tmpfile ();
  assert_non_null (file);
  rd_text_print (file, "a\033[2J\n\x7f\xc2\x9b" "b\xff\xe2\x80\xae" "c");
  read_back (file);
  assert_string_equal (printed, "a?[2J???b??c");
}

static void
columns_are_as_wide_as_their_widest_cell (void **state)
{
  (void) state;
  struct rd_table table = { .ncolumns = 3, .alignment = "lrl" };
  static const char *const cells[] = {
    "NAME", "SIZE", "X", "a", "12345", "yy", "longer", "1", ""
  };
  for (size_t i = 0; i < 9; i++)
    assert_true (rd_table_add (&table, cells[i]));
  FILE *file = tmpfile ();
  assert_non_null (file);
  rd_table_print (&table, file);
  rd_table_clear (&table);
  read_back (file);
  assert_string_equal (printed, "NAME     SIZE  X\n"
                                "a       12345  yy\n"
                                "longer      1  \n");
}

static void
wide_characters_stay_in_line (void **state)
{
  (void) state;
  if (setlocale (LC_CTYPE, "C.UTF-8") == NULL)
    skip ();
  struct rd_table table = { .ncolumns = 2, .alignment = "lr" };
  static const char *const cells[] = {
    "N", "S", "\xe8\x84\xb3\xe9\x83\xa8", "1", "caf\xc3\xa9", "22"
  };
  for (size_t i = 0; i < 6; i++)
    assert_true (rd_table_add (&table, cells[i]));
  FILE *file = tmpfile ();
  assert_non_null (file);
  rd_table_print (&table, file);
  rd_table_clear (&table);
  read_back (file);
  assert_string_equal (printed, "N      S\n"
                                "\xe8\x84\xb3\xe9\x83\xa8   1\n"
                                "caf\xc3\xa9  22\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sizes_have_three_figures_and_the_right_unit),
    cmocka_unit_test (times_grow_from_seconds_to_hours),
    cmocka_unit_test (counts_have_commas_at_thousands),
    cmocka_unit_test (exact_numbers_are_the_shortest_that_read_back),
    cmocka_unit_test (a_ratio_without_a_size_is_a_dash),
    cmocka_unit_test (numbers_are_digits_only_and_fit),
    cmocka_unit_test (doubles_are_decimal_and_finite),
    cmocka_unit_test (ranges_are_two_numbers_in_order),
    cmocka_unit_test (sizes_are_parsed_with_binary_and_decimal_units),
    cmocka_unit_test (triples_are_three_numbers_or_one_for_all),
    cmocka_unit_test (distance_counts_edits),
    cmocka_unit_test (utf8_is_decoded_strictly),
    cmocka_unit_test (widths_are_columns_not_bytes),
    cmocka_unit_test (control_sequences_are_not_printed),
    cmocka_unit_test (columns_are_as_wide_as_their_widest_cell),
    cmocka_unit_test (wide_characters_stay_in_line),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
