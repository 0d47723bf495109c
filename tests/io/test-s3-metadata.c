/* SPDX-License-Identifier: MIT */
/* Credentials of a container and of an instance, from a server on loopback
 * that answers like such services, correctly or not. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/s3/sources.h"
#include "tests/io/http-peer.h"
#include "tests/io/place.h"

#define CREDENTIALS \
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials

#define SECRET "SHOWN/secret+key"
#define ANSWER(length, body) \
  "HTTP/1.1 200 OK\r\nContent-Length: " #length "\r\n\r\n" body
#define DOCUMENT                                                             \
  ANSWER (125, "{\"Code\":\"Success\",\"AccessKeyId\":\"id\",\"Secret"       \
               "AccessKey\":\"" SECRET "\",\"Token\":\"t/+=\","              \
               "\"Expiration\":\"2026-01-31T12:34:56Z\"}")
#define FORBIDDEN "HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nSHOWN"
#define NONE "HTTP/1.1 404 No\r\nContent-Length: 5\r\n\r\nSHOWN"
#define BUSY "HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nSHOWN"

struct bench {
  struct rd_io *objects;
  struct http_peer *peer;
  char base[64];              /* "http://127.0.0.1:PORT" */
  struct rd_s3_settings settings;
  struct rd_s3_profiles profiles;
  struct rd_s3_search search;
};

static int
set_up (void **state)
{
  struct bench *bench = calloc (1, sizeof *bench);
  assert_ok (rd_io_open ("memory:", true, &bench->objects));
  bench->peer = http_peer_start (bench->objects);
  snprintf (bench->base, sizeof bench->base, "%s",
            http_peer_url (bench->peer));
  bench->base[strlen (bench->base) - strlen ("/data")] = '\0';
  bench->search = (struct rd_s3_search) {
    &bench->settings, &bench->profiles, 0
  };
  *state = bench;
  return 0;
}

static int
tear_down (void **state)
{
  struct bench *bench = *state;
  http_peer_stop (bench->peer);
  rd_io_close (bench->objects);
  rd_s3_settings_free (&bench->settings);
  free (bench);
  return 0;
}

static void
set (struct bench *bench, enum rd_s3_setting which, const char *text)
{
  assert_ok (rd_s3_settings_set (&bench->settings, which, text));
}

static void
assert_sent (struct bench *bench, size_t i, const char *part)
{
  const char *head = http_peer_head (bench->peer, i);
  assert_non_null (head);
  if (strstr (head, part) == NULL)
    fail_msg ("'%s' not in: %s", part, head);
}

static void
assert_not_sent (struct bench *bench, size_t i, const char *part)
{
  assert_null (strstr (http_peer_head (bench->peer, i), part));
}

static void
assert_good (const struct rd_s3_credentials *credentials)
{
  assert_non_null (credentials);
  assert_string_equal (credentials->access_key, "id");
  assert_string_equal (credentials->secret_key, SECRET);
  assert_string_equal (credentials->session_token, "t/+=");
  assert_int_equal (credentials->expires_s, 1769862896);
}

/*------------------------------------------------------------------------
 * The container
 *----------------------------------------------------------------------*/

static void
without_variables_no_container_gets_a_request (void **state)
{
  struct bench *bench = *state;
  CREDENTIALS *none = NULL;
  assert_ok (rd_s3_container_credentials (&bench->search, &none));
  assert_null (none);
  assert_int_equal (http_peer_requests (bench->peer), 0);
}

static void
a_container_gets_a_request_at_its_path (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { DOCUMENT };
  CREDENTIALS *credentials = NULL;
  http_peer_say (bench->peer, answers, 1);
  set (bench, RD_S3_OWN_CONTAINER_URL, bench->base);
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "/v2/credentials/x?id=1");
  assert_ok (rd_s3_container_credentials (&bench->search, &credentials));
  assert_good (credentials);
  assert_sent (bench, 0, "GET /v2/credentials/x?id=1 HTTP/1.1\r\n");
  assert_not_sent (bench, 0, "Authorization");
}

static void
set_full_uri (struct bench *bench)
{
  char uri[96];
  snprintf (uri, sizeof uri, "%s/full", bench->base);
  set (bench, RD_S3_CONTAINER_FULL_URI, uri);
}

static void
a_containers_token_is_sent (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { DOCUMENT };
  CREDENTIALS *credentials = NULL;
  http_peer_say (bench->peer, answers, 1);
  set_full_uri (bench);
  set (bench, RD_S3_CONTAINER_TOKEN, "Basic abc=");
  assert_ok (rd_s3_container_credentials (&bench->search, &credentials));
  assert_good (credentials);
  assert_sent (bench, 0, "GET /full HTTP/1.1\r\n");
  assert_sent (bench, 0, "\r\nAuthorization: Basic abc=\r\n");
}

static void
a_containers_token_file_takes_precedence_and_is_reread (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { DOCUMENT, DOCUMENT };
  char *place = place_new (), *path = place_path (place, "token");
  CREDENTIALS *first = NULL, *second = NULL;
  http_peer_say (bench->peer, answers, 2);
  set_full_uri (bench);
  set (bench, RD_S3_CONTAINER_TOKEN, "no");
  set (bench, RD_S3_CONTAINER_TOKEN_FILE, path);
  place_write (path, "one\n");
  assert_ok (rd_s3_container_credentials (&bench->search, &first));
  place_write (path, "two");
  assert_ok (rd_s3_container_credentials (&bench->search, &second));
  assert_sent (bench, 0, "\r\nAuthorization: one\r\n");
  assert_sent (bench, 1, "\r\nAuthorization: two\r\n");
  free (path);
  place_remove (place);
}

static void
a_token_that_would_make_other_headers_is_rejected (void **state)
{
  struct bench *bench = *state;
  CREDENTIALS *none = NULL;
  char *place = place_new (), *path = place_path (place, "token");
  set_full_uri (bench);
  set (bench, RD_S3_CONTAINER_TOKEN, "SHOWN\r\nX-Other: 1");
  assert_fails (rd_s3_container_credentials (&bench->search, &none),
                RADIO_ERROR_ARGUMENT, "not one line");
  place_write (path, "SHOWN\nX-Other: 1\n");
  set (bench, RD_S3_CONTAINER_TOKEN_FILE, path);
  assert_fails (rd_s3_container_credentials (&bench->search, &none),
                RADIO_ERROR_ARGUMENT, "not one line");
  assert_null (strstr (radio_error_message (), "SHOWN"));
  place_write (path, " \n");
  assert_fails (rd_s3_container_credentials (&bench->search, &none),
                RADIO_ERROR_FORMAT, "contains no token");
  assert_int_equal (http_peer_requests (bench->peer), 0);
  free (path);
  place_remove (place);
}

static void
another_machine_gets_no_request_without_tls (void **state)
{
  struct bench *bench = *state;
  static const char *const uris[] = {
    "http://example.com/x", "http://127.0.0.1.example.com/x",
    "http://10.0.0.1/x", "http://[2001:db8::1]/x", "http://169.254.170.3/x",
    "ftp://127.0.0.1/x", "file:///etc/passwd", "http://", "nothing",
    "http://localhost.example.com/", "http://a@b@example.com/",
    "http://127.0.0.1\n/",
  };
  for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
    CREDENTIALS *none = NULL;
    set (bench, RD_S3_CONTAINER_FULL_URI, uris[i]);
    assert_fails (rd_s3_container_credentials (&bench->search, &none),
                  RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  }
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "@example.com/x");
  CREDENTIALS *none = NULL;
  assert_fails (rd_s3_container_credentials (&bench->search, &none),
                RADIO_ERROR_ARGUMENT, "is not a path");
}

static void
a_containers_error_is_shown_without_its_message (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = {
    FORBIDDEN, ANSWER (7, "{\"Token"), ANSWER (5, "SHOWN"),
    ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/SHOWN\r\n"
     "Content-Length: 0\r\n\r\n"),
  };
  http_peer_say (bench->peer, answers, 4);
  set (bench, RD_S3_OWN_CONTAINER_URL, bench->base);
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "/SHOWN");
  for (size_t i = 0; i < 4; i++) {
    CREDENTIALS *none = NULL;
    assert_int_not_equal (rd_s3_container_credentials (&bench->search, &none),
                          RADIO_OK);
    assert_non_null (strstr (radio_error_message (),
                             "the container's credentials: "));
    assert_null (strstr (radio_error_message (), "SHOWN"));
  }
  assert_true (http_peer_has_sent_all (bench->peer));
}

static void
a_request_to_a_busy_container_is_retried (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { BUSY, NULL, DOCUMENT };
  CREDENTIALS *credentials = NULL;
  http_peer_say (bench->peer, answers, 3);
  set_full_uri (bench);
  assert_ok (rd_s3_container_credentials (&bench->search, &credentials));
  assert_good (credentials);
}

static void
a_container_that_stays_busy_is_an_error (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { BUSY, BUSY, BUSY };
  CREDENTIALS *none = NULL;
  http_peer_say (bench->peer, answers, 3);
  set (bench, RD_S3_OWN_CONTAINER_URL, bench->base);
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "/SHOWN");
  assert_fails (rd_s3_container_credentials (&bench->search, &none),
                RADIO_ERROR_IO, "status 503");
  assert_null (strstr (radio_error_message (), "SHOWN"));
}

/*------------------------------------------------------------------------
 * The instance
 *----------------------------------------------------------------------*/

static void
an_instance_gets_three_requests (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = {
    ANSWER (6, "tok=en"), ANSWER (9, "my role\r\n"), DOCUMENT,
  };
  CREDENTIALS *credentials = NULL;
  http_peer_say (bench->peer, answers, 3);
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  assert_ok (rd_s3_instance_credentials (&bench->search, &credentials));
  assert_good (credentials);
  assert_sent (bench, 0, "PUT /latest/api/token HTTP/1.1\r\n");
  assert_sent (bench, 0, "\r\nx-aws-ec2-metadata-token-ttl-seconds: 21600"
               "\r\n");
  assert_int_equal (http_peer_body (bench->peer, 0)->nbytes, 0);
  assert_sent (bench, 1, "GET /latest/meta-data/iam/security-credentials/ "
               "HTTP/1.1\r\n");
  assert_sent (bench, 1, "\r\nx-aws-ec2-metadata-token: tok=en\r\n");
  assert_not_sent (bench, 1, "ttl");
  assert_sent (bench, 2, "GET /latest/meta-data/iam/security-credentials/"
               "my%20role HTTP/1.1\r\n");
  assert_sent (bench, 2, "\r\nx-aws-ec2-metadata-token: tok=en\r\n");
}

static void
refuse_instance (struct bench *bench, const char *const *answers, size_t n,
                 const char *why)
{
  CREDENTIALS *none = NULL;
  http_peer_say (bench->peer, answers, n);
  assert_int_not_equal (rd_s3_instance_credentials (&bench->search, &none),
                        RADIO_OK);
  if (strstr (radio_error_message (), why) == NULL)
    fail_msg ("'%s' not in: %s", why, radio_error_message ());
  assert_null (strstr (radio_error_message (), "SHOWN"));
  assert_true (http_peer_has_sent_all (bench->peer));
}

/* No request is sent without a token, as before IMDSv2. */
static void
an_instance_without_version_2_gets_no_more_requests (void **state)
{
  struct bench *bench = *state;
  static const char *const refused[] = { FORBIDDEN };
  static const char *const missing[] = { NONE };
  static const char *const lines[] = { ANSWER (8, "SHOWN\r\na") };
  static const char *const empty[] = { ANSWER (0, "") };
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  refuse_instance (bench, refused, 1, "status 403");
  refuse_instance (bench, missing, 1, "status 404");
  refuse_instance (bench, lines, 1, "not one line");
  refuse_instance (bench, empty, 1, "not one line");
}

static void
an_instance_without_role_is_an_error (void **state)
{
  struct bench *bench = *state;
  static const char *const missing[] = { ANSWER (5, "SHOWN"), NONE };
  static const char *const failed[] = {
    ANSWER (5, "SHOWN"), ANSWER (4, "role"),
    ANSWER (17, "{\"Code\":\"Failed\"}"),
  };
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  refuse_instance (bench, missing, 2, "the instance has no role");
  refuse_instance (bench, failed, 3, "'Code' is not Success");
}

static void
an_instance_gets_as_many_attempts_as_the_variable_says (void **state)
{
  struct bench *bench = *state;
  static const char *const once[] = { BUSY };
  static const char *const twice[] = {
    BUSY, ANSWER (5, "token"), ANSWER (4, "role"), DOCUMENT,
  };
  CREDENTIALS *credentials = NULL;
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  refuse_instance (bench, once, 1, "status 503");
  set (bench, RD_S3_METADATA_ATTEMPTS, "2");
  set (bench, RD_S3_METADATA_TIMEOUT, "30");
  http_peer_say (bench->peer, twice, 4);
  assert_ok (rd_s3_instance_credentials (&bench->search, &credentials));
  assert_good (credentials);
}

static void
an_instance_that_is_silent_is_given_up (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { "" };
  CREDENTIALS *none = NULL;
  http_peer_say (bench->peer, answers, 1);
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  assert_fails (rd_s3_instance_credentials (&bench->search, &none),
                RADIO_ERROR_IO, "the instance's metadata: no data for");
}

static void
variables_that_are_no_numbers_are_refused (void **state)
{
  struct bench *bench = *state;
  static const char *const texts[] = { "0", "-1", "1.5", "a", "61", "1 ",
                                       "99999999999999999999" };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CREDENTIALS *none = NULL;
    set (bench, RD_S3_METADATA_TIMEOUT, texts[i]);
    assert_fails (rd_s3_instance_credentials (&bench->search, &none),
                  RADIO_ERROR_ARGUMENT, "AWS_METADATA_SERVICE_TIMEOUT is '");
  }
  assert_int_equal (http_peer_requests (bench->peer), 0);
}

static bool
cancel_at_third (void *user_data)
{
  unsigned *ncalls = user_data;
  return ++*ncalls >= 3;
}

/* Its token is the response to a PUT. */
static void
an_instance_that_is_silent_is_left_when_the_thread_cancels (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { "" };
  CREDENTIALS *none = NULL;
  unsigned ncalls = 0;
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  set (bench, RD_S3_METADATA_TIMEOUT, "60");
  http_peer_say (bench->peer, answers, 1);
  radio_thread_set_cancel (cancel_at_third, &ncalls);
  assert_fails (rd_s3_instance_credentials (&bench->search, &none),
                RADIO_ERROR_CANCELLED, "cancelled");
  radio_thread_set_cancel (NULL, NULL);
  assert_null (none);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (without_variables_no_container_gets_a_request),
    TEST (a_container_gets_a_request_at_its_path),
    TEST (a_containers_token_is_sent),
    TEST (a_containers_token_file_takes_precedence_and_is_reread),
    TEST (a_token_that_would_make_other_headers_is_rejected),
    TEST (another_machine_gets_no_request_without_tls),
    TEST (a_containers_error_is_shown_without_its_message),
    TEST (a_request_to_a_busy_container_is_retried),
    TEST (a_container_that_stays_busy_is_an_error),
    TEST (an_instance_gets_three_requests),
    TEST (an_instance_without_version_2_gets_no_more_requests),
    TEST (an_instance_without_role_is_an_error),
    TEST (an_instance_gets_as_many_attempts_as_the_variable_says),
    TEST (an_instance_that_is_silent_is_given_up),
    TEST (an_instance_that_is_silent_is_left_when_the_thread_cancels),
    TEST (variables_that_are_no_numbers_are_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
