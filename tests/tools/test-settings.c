/* SPDX-License-Identifier: MIT */
/* Settings given as words, as in RADIO_S3. */
#include <config.h>

#include <radio/store.h>

#include "tests/unit.h"

#include "tools/parse.h"

struct fields {
  bool is_set;
  unsigned number;
  uint64_t nbytes, ms;
};

static const struct rd_setting words[] = {
  { "set", RD_SETTING_FLAG, offsetof (struct fields, is_set) },
  { "number", RD_SETTING_NUMBER, offsetof (struct fields, number) },
  { "bytes", RD_SETTING_SIZE, offsetof (struct fields, nbytes) },
  { "time", RD_SETTING_TIME, offsetof (struct fields, ms) },
  { NULL, RD_SETTING_FLAG, 0 }
};

static bool
take (const char *text, struct fields *fields)
{
  *fields = (struct fields) { 0 };
  return rd_settings_parse (text, "TEXT", words, fields);
}

static void
each_kind_of_word_sets_its_field (void **state)
{
  (void) state;
  struct fields fields;
  assert_true (take ("time=5s,set,number=3,bytes=2K", &fields));
  assert_true (fields.is_set);
  assert_int_equal (fields.number, 3);
  assert_int_equal (fields.nbytes, 2048);
  assert_int_equal (fields.ms, 5000);
}

static void
defaults_stay_and_the_last_word_counts (void **state)
{
  (void) state;
  struct fields fields = { .number = 7 };
  assert_true (rd_settings_parse (NULL, "TEXT", words, &fields));
  assert_true (rd_settings_parse ("", "TEXT", words, &fields));
  assert_true (rd_settings_parse ("bytes=1", "TEXT", words, &fields));
  assert_int_equal (fields.number, 7);
  assert_false (fields.is_set);
  assert_true (take ("number=1,number=2", &fields));
  assert_int_equal (fields.number, 2);
}

static void
anything_else_is_refused (void **state)
{
  (void) state;
  static const char *const wrong[] = {
    ",", "set,", "set=", "set=1", "Set", "number", "number=", "number=0",
    "number=-1", "number=4294967296", "bytes=0", "bytes=1X", "bytes=1 ",
    "time=5", "time=0s", "time=s", "time=5 s", "unknown", "unknown=1", "=",
  };
  struct fields fields;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (take (wrong[i], &fields))
      fail_msg ("'%s' was taken", wrong[i]);
}

static void
times_have_a_unit (void **state)
{
  (void) state;
  uint64_t ms;
  assert_true (rd_parse_ms ("250ms", &ms));
  assert_int_equal (ms, 250);
  assert_true (rd_parse_ms ("15s", &ms));
  assert_int_equal (ms, 15000);
  assert_true (rd_parse_ms ("2min", &ms));
  assert_int_equal (ms, 120000);
  assert_false (rd_parse_ms ("2m", &ms));
  assert_false (rd_parse_ms ("", &ms));
  assert_false (rd_parse_ms ("18446744073709551615s", &ms));
}

static void
the_words_of_s3_are_the_fields_of_its_options (void **state)
{
  (void) state;
  struct radio_s3_options s3 = { 0 };
  assert_true (rd_settings_parse (
    "anonymous,addressing=virtual,hedge=2,gap=1,cap=2K,connect-timeout=3ms,"
    "first-byte-timeout=4s,stall-timeout=5s,deadline=6min,"
    "no-connect-ahead",
    "TEXT", rd_s3_settings, &s3));
  assert_true (s3.anonymous);
  assert_int_equal (s3.addressing, RADIO_S3_ADDRESSING_VIRTUAL);
  assert_int_equal (s3.hedge_percent, 2);
  assert_int_equal (s3.gap_nbytes, 1);
  assert_int_equal (s3.cap_nbytes, 2048);
  assert_int_equal (s3.connect_timeout_ms, 3);
  assert_int_equal (s3.first_byte_timeout_ms, 4000);
  assert_int_equal (s3.stall_timeout_ms, 5000);
  assert_int_equal (s3.deadline_ms, 360000);
  assert_true (s3.no_connect_ahead);
  assert_true (rd_settings_parse ("addressing=path", "TEXT", rd_s3_settings,
                                  &s3));
  assert_int_equal (s3.addressing, RADIO_S3_ADDRESSING_PATH);
  assert_false (rd_settings_parse ("addressing=", "TEXT", rd_s3_settings,
                                   &s3));
  assert_false (rd_settings_parse ("addressing", "TEXT", rd_s3_settings,
                                   &s3));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_kind_of_word_sets_its_field),
    cmocka_unit_test (defaults_stay_and_the_last_word_counts),
    cmocka_unit_test (anything_else_is_refused),
    cmocka_unit_test (times_have_a_unit),
    cmocka_unit_test (the_words_of_s3_are_the_fields_of_its_options),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
