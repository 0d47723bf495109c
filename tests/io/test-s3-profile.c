/* SPDX-License-Identifier: MIT */
/* The settings, the parser of AWS's INI files, and profiles. */
#include <config.h>

#include <sys/stat.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/s3/sources.h"
#include "tests/alloc-fail.h"
#include "tests/io/place.h"

#define INI RD_S3_INI_SCOPE struct rd_s3_ini
#define PROFILES RD_S3_PROFILES_SCOPE struct rd_s3_profiles
#define SETTINGS RD_S3_SETTINGS_SCOPE struct rd_s3_settings

static enum radio_status
parse (const char *text, struct rd_s3_ini *ini)
{
  return rd_s3_ini_parse (text, strlen (text), "here", ini);
}

static void
assert_value (const struct rd_s3_ini *ini, const char *section,
              const char *name, const char *value)
{
  const char *found = rd_s3_ini_get (ini, section, NULL, name);
  if (value == NULL)
    assert_null (found);
  else
    assert_string_equal (found ? found : "(none)", value);
}

/*------------------------------------------------------------------------
 * INI
 *----------------------------------------------------------------------*/

static void
properties_are_found_by_section_and_name (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("[a]\nx=1\n y \n[b]\nx = 2\nY\t=  3 4\t\n", &ini));
  assert_value (&ini, "a", "x", "1\ny");
  assert_value (&ini, "b", "x", "2");
  assert_value (&ini, "b", "y", "3 4");
  assert_value (&ini, "a", "y", NULL);
  assert_value (&ini, "c", "x", NULL);
}

static void
comments_begin_a_line_or_follow_a_blank (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("# one\n; two\n  # three\n[a] # four\n"
                    "x = 1 # five\ny = a#b;c\nz = # none\nw = 2\t;six\n",
                    &ini));
  assert_value (&ini, "a", "x", "1");
  assert_value (&ini, "a", "y", "a#b;c");
  assert_value (&ini, "a", "z", "");
  assert_value (&ini, "a", "w", "2");
}

static void
sections_may_be_quoted_and_have_blanks (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("[ profile \t \"my own\" ]\nx=1\n[profile  other]\nx=2\n"
                    "[profile 'third']\nx=3\n[profile \"]\nx=4\n", &ini));
  assert_value (&ini, "profile my own", "x", "1");
  assert_value (&ini, "profile other", "x", "2");
  assert_value (&ini, "profile third", "x", "3");
  assert_value (&ini, "profile \"", "x", "4");
}

static void
sections_of_one_name_are_one_and_the_last_value_counts (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("[a]\nx=1\ny=1\n[b]\nx=2\n[a]\nX=3\n", &ini));
  assert_value (&ini, "a", "x", "3");
  assert_value (&ini, "a", "y", "1");
  assert_true (rd_s3_ini_has_section (&ini, "b"));
  assert_false (rd_s3_ini_has_section (&ini, "c"));
}

static void
properties_may_have_others_below_them (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("[a]\nS3 =\n  endpoint_url = http://x\n\n\t# no\n"
                    "  y=2\nz=3\n", &ini));
  assert_string_equal (rd_s3_ini_get (&ini, "a", "s3", "endpoint_url"),
                       "http://x");
  assert_string_equal (rd_s3_ini_get (&ini, "a", "s3", "y"), "2");
  assert_null (rd_s3_ini_get (&ini, "a", NULL, "y"));
  assert_value (&ini, "a", "z", "3");
}

static void
values_continue_in_indented_lines (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("[a]\nx = 1   # c\n   2  \r\n\n\t3\ny = 4\n", &ini));
  assert_value (&ini, "a", "x", "1\n2\n3");
  assert_value (&ini, "a", "y", "4");
}

static void
line_ends_of_windows_and_a_byte_order_mark_are_taken (void **state)
{
  (void) state;
  INI ini = { 0 };
  assert_ok (parse ("\xef\xbb\xbf[a]\r\nx = 1\r\n\r\ny = 2", &ini));
  assert_value (&ini, "a", "x", "1");
  assert_value (&ini, "a", "y", "2");
}

static void
errors_name_the_line_but_do_not_show_it (void **state)
{
  (void) state;
  static const struct { const char *text, *why; } wrong[] = {
    { "\n[a\n", "here: line 2: a section without ']'" },
    { "[ ]\n", "here: line 1: a section without a name" },
    { "x=SHOWN\n", "line 1: a property outside" },
    { "[a]\n\nSHOWN\n", "line 3: neither" },
    { "[a]\n=SHOWN\n", "line 2: neither" },
    { "[a]\n SHOWN=1\n", "line 2: indented" },
    { "[a]\nx=\n SHOWN\n", "line 3: not a property" },
    { "[a]\nx=1\n[b]\n SHOWN=1\n", "line 4: indented" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    INI ini = { 0 };
    assert_fails (parse (wrong[i].text, &ini), RADIO_ERROR_FORMAT,
                  wrong[i].why);
    assert_null (strstr (radio_error_message (), "SHOWN"));
  }
}

static void
nul_bytes_and_too_much_are_refused (void **state)
{
  (void) state;
  INI ini = { 0 }, other = { 0 };
  assert_fails (rd_s3_ini_parse ("[a]\nx=\0\n", 8, "here", &ini),
                RADIO_ERROR_FORMAT, "here: not a text file");
  size_t nbytes = RD_S3_INI_MAX_NBYTES + 1;
  char *large = malloc (nbytes);
  memset (large, '\n', nbytes);
  assert_fails (rd_s3_ini_parse (large, nbytes, "here", &other),
                RADIO_ERROR_LIMIT, "here: more than 1048576 bytes");
  assert_ok (rd_s3_ini_parse (large, nbytes - 1, "here", &other));
  free (large);
}

static void
a_file_is_read_and_a_missing_one_is_empty (void **state)
{
  (void) state;
  char *folder = place_new ();
  char *path = place_path (folder, "config");
  INI ini = { 0 }, none = { 0 };
  place_write (path, "[a]\nx=1\n");
  assert_ok (rd_s3_ini_read (path, &ini));
  assert_value (&ini, "a", "x", "1");
  assert_ok (rd_s3_ini_read ("/nowhere/at/all", &none));
  assert_int_equal (none.n, 0);
  assert_fails (rd_s3_ini_read (folder, &none), RADIO_ERROR_IO, folder);
  free (path);
  place_remove (folder);
}

/*------------------------------------------------------------------------
 * Settings
 *----------------------------------------------------------------------*/

static void
settings_are_those_of_the_environment (void **state)
{
  (void) state;
  SETTINGS settings = { 0 }, copy = { 0 };
  setenv ("AWS_ACCESS_KEY_ID", "id", 1);
  setenv ("AWS_PROFILE", "", 1);
  unsetenv ("AWS_REGION");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_REGION, "old"));
  assert_ok (rd_s3_settings_set (&settings, RD_S3_OWN_REGION, "kept"));
  settings.is_anonymous = true;
  assert_ok (rd_s3_settings_from_environment (&settings));
  setenv ("AWS_ACCESS_KEY_ID", "other", 1);
  assert_ok (rd_s3_settings_copy (&settings, &copy));
  assert_string_equal (rd_s3_setting (&copy, RD_S3_ACCESS_KEY), "id");
  assert_null (rd_s3_setting (&copy, RD_S3_PROFILE));
  assert_null (rd_s3_setting (&copy, RD_S3_REGION));
  assert_string_equal (rd_s3_setting (&copy, RD_S3_OWN_REGION), "kept");
  assert_true (copy.is_anonymous);
  assert_ptr_not_equal (copy.texts[RD_S3_ACCESS_KEY],
                        settings.texts[RD_S3_ACCESS_KEY]);
  unsetenv ("AWS_ACCESS_KEY_ID");
  unsetenv ("AWS_PROFILE");
}

static void
true_is_true_in_any_case_and_nothing_else_is (void **state)
{
  (void) state;
  static const char *const no[] = { "", "1", "yes", "tru", "true ", "TRUEX" };
  SETTINGS settings = { 0 };
  enum rd_s3_setting which = RD_S3_METADATA_DISABLED;
  assert_false (rd_s3_setting_is_true (&settings, which));
  assert_ok (rd_s3_settings_set (&settings, which, "True"));
  assert_true (rd_s3_setting_is_true (&settings, which));
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
    assert_ok (rd_s3_settings_set (&settings, which, no[i]));
    assert_false (rd_s3_setting_is_true (&settings, which));
  }
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

static void
make_profiles (const char *config, const char *credentials,
               struct rd_s3_profiles *profiles)
{
  assert_ok (parse (config, &profiles->config));
  assert_ok (parse (credentials, &profiles->credentials));
}

static void
the_credentials_file_counts_before_config (void **state)
{
  (void) state;
  PROFILES profiles = { 0 };
  make_profiles ("[profile a]\nregion=r1\noutput=json\n[a]\nregion=no\n",
                 "[a]\nregion=r2\n[profile a]\nregion=no\n", &profiles);
  assert_string_equal (rd_s3_profile_get (&profiles, "a", "region"), "r2");
  assert_string_equal (rd_s3_profile_get (&profiles, "a", "output"), "json");
  assert_null (rd_s3_profile_get (&profiles, "b", "region"));
  assert_true (rd_s3_profile_exists (&profiles, "a"));
  assert_false (rd_s3_profile_exists (&profiles, "b"));
}

static void
the_default_profile_has_two_names_in_config (void **state)
{
  (void) state;
  PROFILES both = { 0 }, one = { 0 };
  make_profiles ("[default]\nregion=no\noutput=text\n"
                 "[profile default]\nregion=yes\n", "", &both);
  assert_string_equal (rd_s3_profile_get (&both, "default", "region"), "yes");
  assert_string_equal (rd_s3_profile_get (&both, "default", "output"),
                       "text");
  make_profiles ("[default]\nregion=yes\n", "", &one);
  assert_true (rd_s3_profile_exists (&one, "default"));
}

static void
keys_come_from_one_file_together (void **state)
{
  (void) state;
  PROFILES profiles = { 0 };
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *keys =
    NULL;
  make_profiles ("[profile a]\naws_access_key_id=no\n"
                 "aws_secret_access_key=no\naws_session_token=no\n"
                 "[profile b]\naws_access_key_id=B\n"
                 "aws_secret_access_key=SB\naws_session_token=TB\n"
                 "[profile half]\naws_secret_access_key=SHOWN\n",
                 "[a]\naws_access_key_id = A\naws_secret_access_key = S/+=\n",
                 &profiles);
  assert_ok (rd_s3_profile_keys (&profiles, "a", &keys));
  assert_string_equal (keys->access_key, "A");
  assert_string_equal (keys->secret_key, "S/+=");
  assert_null (keys->session_token);
  rd_s3_credentials_free (RD_STEAL (keys));
  assert_ok (rd_s3_profile_keys (&profiles, "b", &keys));
  assert_string_equal (keys->session_token, "TB");
  rd_s3_credentials_free (RD_STEAL (keys));
  assert_ok (rd_s3_profile_keys (&profiles, "c", &keys));
  assert_null (keys);
  assert_fails (rd_s3_profile_keys (&profiles, "half", &keys),
                RADIO_ERROR_ARGUMENT, "'half': the secret key is given, but "
                "not the access key");
  assert_null (strstr (radio_error_message (), "SHOWN"));
}

static void
files_are_found_by_name_and_in_the_home_folder (void **state)
{
  (void) state;
  char *folder = place_new ();
  char *aws = place_path (folder, ".aws");
  char *config = place_path (folder, ".aws/config");
  char *other = place_path (folder, "other");
  SETTINGS settings = { 0 };
  PROFILES home = { 0 }, named = { 0 }, tilde = { 0 };
  assert_int_equal (mkdir (aws, 0700), 0);
  place_write (config, "[default]\nregion=home\n");
  place_write (other, "[default]\nregion=named\n");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_HOME, folder));
  assert_ok (rd_s3_profiles_read (&settings, &home));
  assert_string_equal (rd_s3_region (&settings, &home), "home");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_CREDENTIALS_FILE, other));
  assert_ok (rd_s3_profiles_read (&settings, &named));
  assert_string_equal (rd_s3_region (&settings, &named), "named");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_CREDENTIALS_FILE,
                                 "~/other"));
  assert_ok (rd_s3_profiles_read (&settings, &tilde));
  assert_string_equal (rd_s3_region (&settings, &tilde), "named");
  free (aws);
  free (config);
  free (other);
  place_remove (folder);
}

static void
a_region_is_the_first_of_four_places (void **state)
{
  (void) state;
  SETTINGS settings = { 0 };
  PROFILES profiles = { 0 };
  make_profiles ("[default]\nregion=d\n[profile p]\nregion=p\n", "",
                 &profiles);
  assert_string_equal (rd_s3_region (&settings, &profiles), "d");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_PROFILE, "p"));
  assert_string_equal (rd_s3_region (&settings, &profiles), "p");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_DEFAULT_REGION, "e"));
  assert_string_equal (rd_s3_region (&settings, &profiles), "e");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_REGION, "f"));
  assert_string_equal (rd_s3_region (&settings, &profiles), "f");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_OWN_REGION, "g"));
  assert_string_equal (rd_s3_region (&settings, &profiles), "g");
}

static void
an_endpoint_is_the_first_of_five_places (void **state)
{
  (void) state;
  SETTINGS settings = { 0 };
  PROFILES profiles = { 0 };
  make_profiles ("[default]\nendpoint_url=all\nservices=own\n"
                 "[services own]\ns3 =\n  endpoint_url = s3\n", "",
                 &profiles);
  assert_string_equal (rd_s3_endpoint (&settings, &profiles, "s3"), "s3");
  assert_string_equal (rd_s3_endpoint (&settings, &profiles, "sts"), "all");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_ENDPOINT, "env"));
  assert_string_equal (rd_s3_endpoint (&settings, &profiles, "s3"), "env");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_ENDPOINT_S3, "envs3"));
  assert_string_equal (rd_s3_endpoint (&settings, &profiles, "s3"), "envs3");
  assert_string_equal (rd_s3_endpoint (&settings, &profiles, "sts"), "env");
  assert_ok (rd_s3_settings_set (&settings, RD_S3_IGNORE_ENDPOINTS, "true"));
  assert_null (rd_s3_endpoint (&settings, &profiles, "s3"));
}

static enum radio_status
read_everything (const struct rd_s3_settings *settings)
{
  PROFILES profiles = { 0 };
  SETTINGS copy = { 0 };
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *keys =
    NULL;
  RD_TRY (rd_s3_settings_copy (settings, &copy));
  RD_TRY (rd_s3_profiles_read (&copy, &profiles));
  return rd_s3_profile_keys (&profiles, "default", &keys);
}

static void
without_memory_nothing_leaks (void **state)
{
  (void) state;
  char *folder = place_new ();
  char *path = place_path (folder, "file");
  static const char text[] = "[default]\naws_access_key_id=A\n"
                             "aws_secret_access_key=S\n";
  SETTINGS settings = { 0 };
  place_write (path, text);
  assert_ok (rd_s3_settings_set (&settings, RD_S3_CREDENTIALS_FILE, path));
  assert_ok (rd_s3_settings_set (&settings, RD_S3_CONFIG_FILE, path));
  uint64_t live = rd_alloc_live_count ();
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = read_everything (&settings);
    bool failed = alloc_fail_end ();
    assert_int_equal (rd_alloc_live_count (), live);
    if (!failed) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  free (path);
  place_remove (folder);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (properties_are_found_by_section_and_name),
    cmocka_unit_test (comments_begin_a_line_or_follow_a_blank),
    cmocka_unit_test (sections_may_be_quoted_and_have_blanks),
    cmocka_unit_test (sections_of_one_name_are_one_and_the_last_value_counts),
    cmocka_unit_test (properties_may_have_others_below_them),
    cmocka_unit_test (values_continue_in_indented_lines),
    cmocka_unit_test (line_ends_of_windows_and_a_byte_order_mark_are_taken),
    cmocka_unit_test (errors_name_the_line_but_do_not_show_it),
    cmocka_unit_test (nul_bytes_and_too_much_are_refused),
    cmocka_unit_test (a_file_is_read_and_a_missing_one_is_empty),
    cmocka_unit_test (settings_are_those_of_the_environment),
    cmocka_unit_test (true_is_true_in_any_case_and_nothing_else_is),
    cmocka_unit_test (the_credentials_file_counts_before_config),
    cmocka_unit_test (the_default_profile_has_two_names_in_config),
    cmocka_unit_test (keys_come_from_one_file_together),
    cmocka_unit_test (files_are_found_by_name_and_in_the_home_folder),
    cmocka_unit_test (a_region_is_the_first_of_four_places),
    cmocka_unit_test (an_endpoint_is_the_first_of_five_places),
    cmocka_unit_test (without_memory_nothing_leaks),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
