/* SPDX-License-Identifier: MIT */
/* The options of a store in S3: the caller's values take precedence over the
 * environment's, and that before the profile's. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/array/s3-options.h"
#include "tests/unit.h"

static const char *const variables[] = {
  "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
  "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3",
  "AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
  "AWS_CA_BUNDLE", "AWS_REQUEST_CHECKSUM_CALCULATION", "RADIO_S3",
};

/* A file of profiles in a folder of its own. */
static int
set_up (void **state)
{
  char *path = strdup ("s3-options.XXXXXX");
  assert_non_null (path);
  int fd = mkstemp (path);
  FILE *file = fd < 0 ? NULL : fdopen (fd, "w");
  assert_non_null (file);
  fputs ("[default]\nregion = eu-west-1\naws_access_key_id = FILEKEY\n"
         "aws_secret_access_key = filesecret\nendpoint_url = http://file\n",
         file);
  fclose (file);
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv (variables[i]);
  setenv ("AWS_CONFIG_FILE", path, 1);
  setenv ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
  *state = path;
  return 0;
}

static int
tear_down (void **state)
{
  unlink (*state);
  free (*state);
  return 0;
}

static void
assert_resolved (const struct radio_s3_options *asked, const char *endpoint,
                 const char *region, const char *access_key)
{
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  assert_ok (rd_s3_resolve (asked, &resolved));
  assert_string_equal (resolved.options.endpoint, endpoint);
  assert_string_equal (resolved.options.region, region);
  struct rd_s3_credentials *credentials = NULL;
  assert_ok (rd_s3_find_credentials (resolved.options.provider.settings, 0,
                                     &credentials));
  assert_string_equal (credentials->access_key, access_key);
  rd_s3_credentials_free (credentials);
}

static void
the_caller_goes_before_the_environment_before_the_profile (void **state)
{
  (void) state;
  const struct radio_s3_options none = { 0 }, asked = {
    .endpoint = "http://asked", .region = "asked-1", .access_key = "ASKED",
    .secret_key = "secret",
  };
  assert_resolved (&none, "http://file", "eu-west-1", "FILEKEY");
  setenv ("AWS_ENDPOINT_URL", "http://all", 1);
  setenv ("AWS_DEFAULT_REGION", "default-1", 1);
  assert_resolved (&none, "http://all", "default-1", "FILEKEY");
  setenv ("AWS_ENDPOINT_URL_S3", "http://s3", 1);
  setenv ("AWS_REGION", "region-1", 1);
  setenv ("AWS_ACCESS_KEY_ID", "ENVKEY", 1);
  setenv ("AWS_SECRET_ACCESS_KEY", "envsecret", 1);
  assert_resolved (&none, "http://s3", "region-1", "ENVKEY");
  assert_resolved (&asked, "http://asked", "asked-1", "ASKED");
}

static void
requests_are_anonymous_only_on_request (void **state)
{
  (void) state;
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  struct radio_s3_options asked = { .anonymous = true };
  setenv ("AWS_ACCESS_KEY_ID", "ENVKEY", 1);
  setenv ("AWS_SECRET_ACCESS_KEY", "envsecret", 1);
  assert_ok (rd_s3_resolve (&asked, &resolved));
  assert_true (resolved.options.provider.settings->is_anonymous);
}

static void
hedge_percent_is_limited (void **state)
{
  (void) state;
  struct radio_s3_options asked = { .hedge_percent = 5 };
  {
    RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
    assert_ok (rd_s3_resolve (&asked, &resolved));
    assert_int_equal (resolved.options.http.hedge_percent, 5);
  }
  struct radio_store_options options = { .s3.hedge_percent = 6 };
  struct radio_store *store;
  assert_fails (radio_store_open ("s3://bucket/x", &options, &store),
                RADIO_ERROR_ARGUMENT, "hedge_percent is 6, more than 5");
}

static void
an_unknown_addressing_is_refused (void **state)
{
  (void) state;
  struct radio_store_options options = {
    .s3.addressing = (enum radio_s3_addressing) 3,
  };
  struct radio_store *store;
  assert_fails (radio_store_open ("s3://bucket/x", &options, &store),
                RADIO_ERROR_ARGUMENT, "addressing is 3; use");
}

static void
the_s3_environment_does_not_affect_other_stores (void **state)
{
  (void) state;
  struct radio_store *store;
  setenv ("AWS_ACCESS_KEY_ID", "alone", 1);
  assert_ok (radio_store_open ("memory:", NULL, &store));
  radio_store_close (store);
  enum radio_node node;
  assert_ok (radio_store_open ("s3://bucket/x", NULL, &store));
  assert_fails (radio_store_node (store, "", &node), RADIO_ERROR_ARGUMENT,
                "AWS_SECRET_ACCESS_KEY");
  radio_store_close (store);
}

static void
certificates_of_the_caller_hold_for_credentials_too (void **state)
{
  (void) state;
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  const struct radio_s3_options asked = { .ca_file = "asked.pem" };
  setenv ("AWS_CA_BUNDLE", "environment.pem", 1);
  assert_ok (rd_s3_resolve (&asked, &resolved));
  assert_string_equal (resolved.options.http.ca_file, "asked.pem");
  assert_string_equal (rd_s3_ca_file (resolved.options.provider.settings),
                       "asked.pem");
}

/* A folder, what is not there, and what makes no sense. */
static void
a_file_that_cannot_be_read_fails_only_who_needs_it (void **state)
{
  static const struct {
    const char *file, *profile, *endpoint;
    enum radio_status status;
  } cases[] = {
    { "/", NULL, NULL, RADIO_ERROR_IO },
    { "/", NULL, "http://s3", RADIO_OK },
    { "/", "default", "http://s3", RADIO_ERROR_IO },
    { "/dev/null/none", NULL, NULL, RADIO_OK },
    { "s3-options.broken", NULL, "http://s3", RADIO_OK },
    { "s3-options.broken", "default", "http://s3", RADIO_ERROR_FORMAT },
    { "s3-options.broken", NULL, NULL, RADIO_ERROR_FORMAT },
  };
  (void) state;
  FILE *file = fopen ("s3-options.broken", "w");
  assert_non_null (file);
  fputs ("no section\n", file);
  fclose (file);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
    const struct radio_s3_options asked = {
      .profile = cases[i].profile, .endpoint = cases[i].endpoint,
      .region = "asked-1", .anonymous = true,
    };
    setenv ("AWS_SHARED_CREDENTIALS_FILE", cases[i].file, 1);
    assert_int_equal (rd_s3_resolve (&asked, &resolved), cases[i].status);
  }
  unlink ("s3-options.broken");
}

/* As s3 of radio_store_options, down to the store that is opened by it. */
static void
assert_joins (const struct radio_s3_options *asked, uint64_t gap_nbytes,
              uint64_t cap_nbytes)
{
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  RD_CLEANUP (rd_cleanup_io) struct rd_io *io = NULL;
  assert_ok (rd_s3_resolve (asked, &resolved));
  assert_ok (rd_io_open_with ("s3://bucket/x", false, &resolved.options,
                              &io));
  assert_int_equal (io->coalesce_gap_nbytes, gap_nbytes);
  assert_int_equal (io->coalesce_cap_nbytes, cap_nbytes);
}

static void
assert_sums (bool has_sums)
{
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  const struct radio_s3_options none = { 0 };
  assert_ok (rd_s3_resolve (&none, &resolved));
  assert_int_equal (resolved.options.no_sums, !has_sums);
}

/* The environment takes precedence over the profile. */
static void
checksums_are_turned_off_as_with_the_other_clients (void **state)
{
  const char *name = "AWS_REQUEST_CHECKSUM_CALCULATION";
  assert_sums (true);
  FILE *file = fopen (*state, "a");
  assert_non_null (file);
  fputs ("request_checksum_calculation = when_required\n", file);
  fclose (file);
  assert_sums (false);
  setenv (name, "when_supported", 1);
  assert_sums (true);
  setenv (name, "WHEN_REQUIRED", 1);
  assert_sums (false);
}

static void
the_caller_chooses_how_requests_are_coalesced (void **state)
{
  (void) state;
  const struct radio_s3_options none = { 0 },
    asked = { .gap_nbytes = 5, .cap_nbytes = 70 };
  assert_joins (&none, 1 << 20, 4 << 20);
  assert_joins (&asked, 5, 70);
}

static void
each_bound_of_time_reaches_the_requests (void **state)
{
  (void) state;
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  const struct radio_s3_options asked = {
    .connect_timeout_ms = 1, .first_byte_timeout_ms = 2,
    .stall_timeout_ms = 3, .deadline_ms = 4,
  };
  assert_ok (rd_s3_resolve (&asked, &resolved));
  const struct rd_http_options *http = &resolved.options.http;
  assert_int_equal (http->connect_timeout_ms, 1);
  assert_int_equal (http->first_byte_timeout_ms, 2);
  assert_int_equal (http->stall_timeout_ms, 3);
  assert_int_equal (http->deadline_ms, 4);
}

static void
connections_are_opened_ahead_unless_that_is_not_wanted (void **state)
{
  (void) state;
  struct radio_s3_options asked = { 0 };
  for (int i = 0; i < 2; i++) {
    RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
    asked.no_connect_ahead = i == 1;
    assert_ok (rd_s3_resolve (&asked, &resolved));
    assert_int_equal (resolved.options.http.npreconnect, i == 0 ? 8 : 0);
  }
}

#define OPTIONS_TEST(fn) \
  cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

static enum radio_status
parse (const char *text, struct radio_s3_options *options)
{
  *options = (struct radio_s3_options) { 0 };
  return radio_s3_options_parse (text, options);
}

static void
each_setting_sets_its_field (void **state)
{
  (void) state;
  struct radio_s3_options s3 = { .hedge_percent = 3 };
  assert_ok (radio_s3_options_parse (NULL, &s3));
  assert_ok (radio_s3_options_parse ("", &s3));
  assert_ok (radio_s3_options_parse ("gap=7", &s3));
  assert_int_equal (s3.hedge_percent, 3);
  assert_ok (parse (
    "anonymous,addressing=virtual,hedge=2,gap=1,cap=2K,connect-timeout=3ms,"
    "first-byte-timeout=4s,stall-timeout=5s,deadline=6min,no-connect-ahead,"
    "single-writer,hedge=4", &s3));
  assert_true (s3.single_writer);
  assert_true (s3.anonymous);
  assert_int_equal (s3.addressing, RADIO_S3_ADDRESSING_VIRTUAL);
  assert_int_equal (s3.hedge_percent, 4);
  assert_int_equal (s3.gap_nbytes, 1);
  assert_int_equal (s3.cap_nbytes, 2048);
  assert_int_equal (s3.connect_timeout_ms, 3);
  assert_int_equal (s3.first_byte_timeout_ms, 4000);
  assert_int_equal (s3.stall_timeout_ms, 5000);
  assert_int_equal (s3.deadline_ms, 360000);
  assert_true (s3.no_connect_ahead);
  assert_ok (parse ("addressing=path", &s3));
  assert_int_equal (s3.addressing, RADIO_S3_ADDRESSING_PATH);
}

static void
wrong_settings_are_refused (void **state)
{
  (void) state;
  static const char *const wrong[][2] = {
    { ",", "unknown setting ''; use one of anonymous, " },
    { "anonymous,", "unknown setting ''" },
    { "Anonymous", "setting 'Anonymous'" },
    { "anonymous=", "'anonymous' takes no value" },
    { "anonymous=1", "takes no value" },
    { "hedge", "'hedge' needs a value: a number above 0" },
    { "hedge=", "hedge: '' is not a number" }, { "hedge=0", "'0'" },
    { "hedge=-1", "'-1'" }, { "hedge=4294967296", "not a number" },
    { "gap=0", "'0' is not a size above 0" }, { "gap=1X", "'1X'" },
    { "gap=1 ", "'1 '" }, { "deadline=5", "'5' is not a time" },
    { "deadline=0s", "'0s'" }, { "deadline=s", "'s'" },
    { "deadline=2m", "'2m'" }, { "deadline=5 s", "'5 s'" },
    { "deadline=18446744073709551615s", "not a time" },
    { "addressing=", "'' is not 'path' or 'virtual'" },
    { "addressing", "needs a value" }, { "unknown=1", "setting 'unknown'" },
    { "=", "unknown setting ''" },
  };
  struct radio_s3_options s3;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_fails (parse (wrong[i][0], &s3), RADIO_ERROR_ARGUMENT,
                  wrong[i][1]);
  assert_fails (radio_s3_options_parse ("anonymous", NULL),
                RADIO_ERROR_ARGUMENT, "options is NULL");
}

/* Any program that links the library, as the command. */
static void
RADIO_S3_sets_what_the_caller_does_not (void **state)
{
  (void) state;
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved resolved = { 0 };
  const struct radio_s3_options none = { 0 }, asked = {
    .stall_timeout_ms = 7, .hedge_percent = 1, .access_key = "ASKED",
    .secret_key = "secret",
  };
  setenv ("RADIO_S3", "anonymous,stall-timeout=5s,deadline=9s,hedge=2,gap=3,"
          "no-connect-ahead,addressing=virtual", 1);
  assert_ok (rd_s3_resolve (&none, &resolved));
  assert_true (resolved.settings.is_anonymous);
  assert_int_equal (resolved.options.http.stall_timeout_ms, 5000);
  assert_int_equal (resolved.options.http.deadline_ms, 9000);
  assert_int_equal (resolved.options.http.hedge_percent, 2);
  assert_int_equal (resolved.options.http.npreconnect, 0);
  assert_int_equal (resolved.options.gap_nbytes, 3);
  assert_int_equal (resolved.options.addressing, RD_S3_ADDRESSING_VIRTUAL);
  rd_s3_resolved_free (&resolved);
  assert_ok (rd_s3_resolve (&asked, &resolved));
  assert_false (resolved.settings.is_anonymous);
  assert_int_equal (resolved.options.http.stall_timeout_ms, 7);
  assert_int_equal (resolved.options.http.deadline_ms, 9000);
  assert_int_equal (resolved.options.http.hedge_percent, 1);
  rd_s3_resolved_free (&resolved);
  setenv ("RADIO_S3", "deadline", 1);
  assert_fails (rd_s3_resolve (&none, &resolved), RADIO_ERROR_ARGUMENT,
                "RADIO_S3: 'deadline' needs a value");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    OPTIONS_TEST (the_caller_goes_before_the_environment_before_the_profile),
    OPTIONS_TEST (requests_are_anonymous_only_on_request),
    OPTIONS_TEST (hedge_percent_is_limited),
    OPTIONS_TEST (an_unknown_addressing_is_refused),
    OPTIONS_TEST (certificates_of_the_caller_hold_for_credentials_too),
    OPTIONS_TEST (a_file_that_cannot_be_read_fails_only_who_needs_it),
    OPTIONS_TEST (checksums_are_turned_off_as_with_the_other_clients),
    OPTIONS_TEST (the_caller_chooses_how_requests_are_coalesced),
    OPTIONS_TEST (each_bound_of_time_reaches_the_requests),
    OPTIONS_TEST (connections_are_opened_ahead_unless_that_is_not_wanted),
    OPTIONS_TEST (the_s3_environment_does_not_affect_other_stores),
    cmocka_unit_test (each_setting_sets_its_field),
    cmocka_unit_test (wrong_settings_are_refused),
    cmocka_unit_test_setup_teardown (RADIO_S3_sets_what_the_caller_does_not,
                                     set_up, tear_down),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
