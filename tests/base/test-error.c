/* SPDX-License-Identifier: MIT */
/* Messages: one line each, whole characters, prefixes, errno's meaning. */
#include <config.h>

#include <errno.h>

#include "tests/unit.h"

#include "src/base/error.h"

static void
a_failure_sets_the_thread_message (void **state)
{
  (void) state;
  assert_int_equal (rd_fail (RADIO_ERROR_FORMAT, "%s: dim[%d] is %d", "a.nii",
                             1, -3),
                    RADIO_ERROR_FORMAT);
  assert_string_equal (radio_error_message (), "a.nii: dim[1] is -3");
}

static void
a_prefix_goes_before_the_message_that_is_there (void **state)
{
  (void) state;
  rd_fail (RADIO_ERROR_FORMAT, "inner");
  rd_fail_in (RADIO_ERROR_FORMAT, "ct/%s", "a");
  assert_string_equal (radio_error_message (), "ct/a: inner");
}

static void
control_characters_do_not_reach_a_message (void **state)
{
  (void) state;
  rd_fail (RADIO_ERROR_FORMAT, "a\nb\033[2Jc");
  assert_string_equal (radio_error_message (), "a?b?[2Jc");
  /* CSI as one character, and a mark that turns what follows around; a byte
   * of another encoding stays, as in names of files. */
  rd_fail (RADIO_ERROR_FORMAT, "a\xc2\x9b" "2Jb\xe2\x80\xae" "c\xc3\xa9\xe9");
  assert_string_equal (radio_error_message (), "a?2Jb?c\xc3\xa9\xe9");
}

static void
a_long_message_is_cut_at_a_whole_character (void **state)
{
  (void) state;
  char name[2 * RD_ERROR_NBYTES];
  for (size_t i = 0; i + 1 < sizeof name; i += 2)
    memcpy (name + i, "\xc3\xa9", 2);
  name[sizeof name - 1] = '\0';
  for (int shift = 0; shift < 2; shift++) {
    rd_fail (RADIO_ERROR_FORMAT, "%s%s", shift ? "x" : "", name);
    const char *message = radio_error_message ();
    size_t n = strlen (message);
    assert_true (n < RD_ERROR_NBYTES);
    assert_string_equal (message + n - 3, "...");
    assert_int_equal ((unsigned char) message[n - 4], 0xa9);
  }
}

static void
errno_becomes_a_status_and_its_text (void **state)
{
  (void) state;
  assert_fails (rd_fail_errno (ENOSPC, "x"), RADIO_ERROR_NO_SPACE,
                "x: No space left");
  assert_fails (rd_fail_errno (EACCES, "x"), RADIO_ERROR_PERMISSION, "x: ");
  assert_fails (rd_fail_errno (ENOENT, "x"), RADIO_ERROR_NOT_FOUND, "x: ");
  assert_fails (rd_fail_errno (EIO, "x"), RADIO_ERROR_IO, "x: ");
}

static void
memory_that_is_missing_has_its_size_if_it_is_known (void **state)
{
  (void) state;
  rd_fail_memory (0);
  assert_string_equal (radio_error_message (), "out of memory");
  rd_fail_memory (1);
  assert_string_equal (radio_error_message (),
                       "out of memory: 1 byte wanted");
  rd_fail_memory (100);
  assert_string_equal (radio_error_message (),
                       "out of memory: 100 bytes wanted");
}

static void
a_saved_failure_is_raised_again (void **state)
{
  (void) state;
  struct rd_error error;
  rd_error_save (&error, rd_fail (RADIO_ERROR_RANGE, "first"));
  rd_fail (RADIO_ERROR_IO, "second");
  assert_fails (rd_error_raise (&error), RADIO_ERROR_RANGE, "first");
}

static void
every_status_has_a_name (void **state)
{
  (void) state;
  for (int s = RADIO_OK; s <= RADIO_ERROR_FORKED; s++)
    assert_non_null (radio_status_name (s));
  assert_string_equal (radio_status_name (9999), "unknown status");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_failure_sets_the_thread_message),
    cmocka_unit_test (a_prefix_goes_before_the_message_that_is_there),
    cmocka_unit_test (control_characters_do_not_reach_a_message),
    cmocka_unit_test (a_long_message_is_cut_at_a_whole_character),
    cmocka_unit_test (errno_becomes_a_status_and_its_text),
    cmocka_unit_test (memory_that_is_missing_has_its_size_if_it_is_known),
    cmocka_unit_test (a_saved_failure_is_raised_again),
    cmocka_unit_test (every_status_has_a_name),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
