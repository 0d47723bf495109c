/* SPDX-License-Identifier: MIT */
/* Numbers in a process whose locale has a decimal comma.  Skipped where no
 * such locale is installed. */
#include <config.h>

#include <locale.h>

#include "tests/unit.h"

#include "src/base/json.h"

#define JSON RD_CLEANUP (rd_cleanup_json)

static void
the_locale_has_a_comma (void **state)
{
  (void) state;
  char text[16];
  snprintf (text, sizeof text, "%.1f", 1.5);
  assert_string_equal (text, "1,5");
}

static void
doubles_are_written_with_a_point (void **state)
{
  (void) state;
  static const struct { double value; const char *text; } cases[] = {
    { -1.5, "-1.5" }, { 0.1, "0.1" }, { 2, "2.0" }, { 1.25e-300, "1.25e-300" },
    { 0.1 + 0.2, "0.30000000000000004" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    JSON struct json_object *number = rd_json_new_double (cases[i].value);
    assert_string_equal (json_object_to_json_string (number),
                         cases[i].text);
  }
}

static void
doubles_are_read_with_a_point (void **state)
{
  (void) state;
  JSON struct json_object *list = NULL;
  const char *text = "[2.25, -1e-3, 18446744073709551616]";
  assert_ok (rd_json_parse (text, strlen (text), "x", &list));
  const double expected[] = { 2.25, -1e-3, 18446744073709551616.0 };
  for (size_t i = 0; i < 3; i++)
    assert_true (json_object_get_double (json_object_array_get_idx (list, i))
                 == expected[i]);
}

int
main (void)
{
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                       "fr_FR.UTF-8", "pt_BR.UTF-8",
                                       "ru_RU.UTF-8" };
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_locale_has_a_comma),
    cmocka_unit_test (doubles_are_written_with_a_point),
    cmocka_unit_test (doubles_are_read_with_a_point),
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (setlocale (LC_ALL, names[i]))
      return cmocka_run_group_tests (tests, NULL, NULL);
  puts ("1..0 # SKIP no locale with a decimal comma is installed");
  return 0;
}
