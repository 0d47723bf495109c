/* SPDX-License-Identifier: MIT */
/* The sources of credentials, their precedence, and roles that are assumed,
 * with a server on loopback that answers like STS. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/s3/sign.h"
#include "io/s3/sources.h"
#include "tests/io/http-peer.h"
#include "tests/io/place.h"

#define CREDENTIALS \
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials
#define NOW_S 1369353600          /* 2013-05-24, 00:00:00 */
#define MAX_ANSWERS 8

/* Answers are a status and a body. */
#define HEAD "200 "
#define CREDENTIALS_XML                                                      \
  "<Credentials><AccessKeyId>role</AccessKeyId><SecretAccessKey>SHOWN/s+" \
  "</SecretAccessKey><SessionToken>t/+=</SessionToken><Expiration>"          \
  "2026-01-31T12:34:56Z</Expiration></Credentials>"
#define ROLE                                                                 \
  HEAD "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-"  \
  "15/\">\n <AssumeRoleResult><AssumedRoleUser><Arn>x</Arn>"                 \
  "</AssumedRoleUser>" CREDENTIALS_XML "</AssumeRoleResult>"                 \
  "<ResponseMetadata/></AssumeRoleResponse>"
#define WEB_ROLE                                                             \
  HEAD "<AssumeRoleWithWebIdentityResponse>"                                 \
  "<AssumeRoleWithWebIdentityResult>" CREDENTIALS_XML                        \
  "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
#define DOCUMENT                                                             \
  HEAD "{\"AccessKeyId\":\"container\",\"SecretAccessKey\":\"s\","           \
  "\"Token\":\"t\",\"Expiration\":\"2026-01-31T12:34:56Z\"}"
#define REFUSED                                                              \
  "403 <ErrorResponse><Error><Code>AccessDenied</Code>" \
  "<Message>SHOWN</Message></Error></ErrorResponse>"

struct bench {
  struct rd_io *objects;
  struct http_peer *peer;
  char base[64];
  char *place, *config;
  struct rd_s3_settings settings;
  char *answers[MAX_ANSWERS]; /* as they go out */
};

static void
say (struct bench *bench, const char *const *answers, size_t n)
{
  http_peer_say (bench->peer, NULL, 0);
  for (size_t i = 0; i < n; i++) {
    const char *body = answers[i] + strlen ("200 ");
    free (bench->answers[i]);
    assert_true (asprintf (&bench->answers[i], "HTTP/1.1 %.3s Said\r\n"
                           "Content-Length: %zu\r\n\r\n%s", answers[i],
                           strlen (body), body) > 0);
  }
  http_peer_say (bench->peer, (const char *const *) bench->answers, n);
}

static void
set (struct bench *bench, enum rd_s3_setting which, const char *text)
{
  assert_ok (rd_s3_settings_set (&bench->settings, which, text));
}

static int
set_up (void **state)
{
  struct bench *bench = calloc (1, sizeof *bench);
  assert_ok (rd_io_open ("memory:", true, &bench->objects));
  bench->peer = http_peer_start (bench->objects);
  snprintf (bench->base, sizeof bench->base, "%s",
            http_peer_url (bench->peer));
  bench->base[strlen (bench->base) - strlen ("/data")] = '\0';
  bench->place = place_new ();
  bench->config = place_path (bench->place, "config");
  set (bench, RD_S3_CONFIG_FILE, bench->config);
  set (bench, RD_S3_METADATA_DISABLED, "true");
  set (bench, RD_S3_ENDPOINT_STS, bench->base);
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
  free (bench->config);
  for (size_t i = 0; i < MAX_ANSWERS; i++)
    free (bench->answers[i]);
  place_remove (bench->place);
  free (bench);
  return 0;
}

static enum radio_status
find (struct bench *bench, struct rd_s3_credentials **credentials)
{
  return rd_s3_find_credentials (&bench->settings, NOW_S, credentials);
}

static void
assert_found (struct bench *bench, const char *access_key)
{
  CREDENTIALS *credentials = NULL;
  assert_ok (find (bench, &credentials));
  assert_string_equal (credentials->access_key, access_key);
}

static void
assert_not_found (struct bench *bench, enum radio_status status,
                  const char *why)
{
  CREDENTIALS *none = NULL;
  assert_fails (find (bench, &none), status, why);
  assert_null (strstr (radio_error_message (), "SHOWN"));
  assert_null (none);
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
assert_body (struct bench *bench, size_t i, const char *body)
{
  const struct rd_buffer *sent = http_peer_body (bench->peer, i);
  assert_int_equal (sent->nbytes, strlen (body));
  assert_memory_equal (sent->data, body, strlen (body));
}

/*------------------------------------------------------------------------
 * The order
 *----------------------------------------------------------------------*/

#define KEYS(id) \
  "aws_access_key_id=" id "\naws_secret_access_key=SHOWN\n"

/* Everything is set, and taken away from the front. */
static void
places_count_in_their_order (void **state)
{
  struct bench *bench = *state;
  static const char *const web[] = { WEB_ROLE }, *const box[] = { DOCUMENT };
  CREDENTIALS *anonymous = NULL;
  char *token = place_path (bench->place, "token");
  place_write (token, "token");
  place_write (bench->config, "[default]\n" KEYS ("profile"));
  set (bench, RD_S3_OWN_ACCESS_KEY, "own");
  set (bench, RD_S3_OWN_SECRET_KEY, "SHOWN");
  set (bench, RD_S3_ACCESS_KEY, "environment");
  set (bench, RD_S3_SECRET_KEY, "SHOWN");
  set (bench, RD_S3_TOKEN_FILE, token);
  set (bench, RD_S3_ROLE_ARN, "arn");
  set (bench, RD_S3_OWN_CONTAINER_URL, bench->base);
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "/box");
  bench->settings.is_anonymous = true;
  assert_ok (find (bench, &anonymous));
  assert_null (anonymous->access_key);
  bench->settings.is_anonymous = false;
  assert_found (bench, "own");
  set (bench, RD_S3_OWN_ACCESS_KEY, NULL);
  set (bench, RD_S3_OWN_SECRET_KEY, NULL);
  assert_found (bench, "environment");
  assert_int_equal (http_peer_requests (bench->peer), 0);
  set (bench, RD_S3_ACCESS_KEY, NULL);
  set (bench, RD_S3_SECRET_KEY, NULL);
  say (bench, web, 1);
  assert_found (bench, "role");
  set (bench, RD_S3_TOKEN_FILE, NULL);
  assert_found (bench, "profile");
  place_write (bench->config, "[default]\nregion=x\n");
  say (bench, box, 1);
  assert_found (bench, "container");
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, NULL);
  assert_not_found (bench, RADIO_ERROR_PERMISSION,
                    "neither AWS_ACCESS_KEY_ID nor");
  free (token);
}

static void
a_profile_of_the_caller_counts_before_the_environment (void **state)
{
  struct bench *bench = *state;
  place_write (bench->config, "[profile p]\n" KEYS ("p")
                              "[profile q]\n" KEYS ("q"));
  set (bench, RD_S3_ACCESS_KEY, "environment");
  set (bench, RD_S3_SECRET_KEY, "SHOWN");
  set (bench, RD_S3_TOKEN_FILE, "/nowhere");
  set (bench, RD_S3_PROFILE, "q");
  assert_found (bench, "environment");
  set (bench, RD_S3_OWN_PROFILE, "p");
  assert_found (bench, "p");
}

static void
half_of_the_keys_are_an_error (void **state)
{
  struct bench *bench = *state;
  place_write (bench->config, "[default]\n" KEYS ("profile"));
  set (bench, RD_S3_SECRET_KEY, "SHOWN");
  assert_not_found (bench, RADIO_ERROR_ARGUMENT, "AWS_ACCESS_KEY_ID");
  set (bench, RD_S3_OWN_ACCESS_KEY, "SHOWN");
  assert_not_found (bench, RADIO_ERROR_ARGUMENT, "were given");
}

static void
keys_that_are_given_need_no_files (void **state)
{
  struct bench *bench = *state;
  place_write (bench->config, "SHOWN");
  assert_not_found (bench, RADIO_ERROR_FORMAT, "config: line 1");
  set (bench, RD_S3_ACCESS_KEY, "environment");
  set (bench, RD_S3_SECRET_KEY, "SHOWN");
  assert_found (bench, "environment");
}

static void
a_profile_that_is_chosen_must_exist (void **state)
{
  struct bench *bench = *state;
  place_write (bench->config, "[default]\n" KEYS ("profile"));
  set (bench, RD_S3_PROFILE, "typo");
  assert_not_found (bench, RADIO_ERROR_NOT_FOUND, "the profile 'typo'");
}

static void
a_profile_may_run_a_program (void **state)
{
  struct bench *bench = *state;
  place_write (bench->config, "[default]\ncredential_process = echo "
               "'{\"Version\":1,\"AccessKeyId\":\"process\","
               "\"SecretAccessKey\":\"s\"}'\n");
  assert_found (bench, "process");
}

static void
an_instance_is_the_last_place (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = {
    HEAD "token", HEAD "role", DOCUMENT
  };
  set (bench, RD_S3_METADATA_DISABLED, "false");
  set (bench, RD_S3_METADATA_ENDPOINT, bench->base);
  say (bench, answers, 3);
  assert_found (bench, "container");
  assert_not_found (bench, RADIO_ERROR_PERMISSION, "the profile 'default', "
                    "nor of a container or instance: the instance's");
}

/*------------------------------------------------------------------------
 * Roles
 *----------------------------------------------------------------------*/

static void
a_web_identity_is_sent_unsigned (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { WEB_ROLE, WEB_ROLE };
  CREDENTIALS *credentials = NULL;
  char *token = place_path (bench->place, "token");
  place_write (token, "to.k+en/=\n");
  set (bench, RD_S3_TOKEN_FILE, token);
  set (bench, RD_S3_ROLE_ARN, "arn:aws:iam::1:role/r");
  set (bench, RD_S3_ROLE_SESSION_NAME, "me@x");
  say (bench, answers, 2);
  assert_ok (find (bench, &credentials));
  assert_string_equal (credentials->access_key, "role");
  assert_string_equal (credentials->secret_key, "SHOWN/s+");
  assert_string_equal (credentials->session_token, "t/+=");
  assert_int_equal (credentials->expires_s, 1769862896);
  assert_sent (bench, 0, "POST / HTTP/1.1\r\n");
  assert_sent (bench, 0, "application/x-www-form-urlencoded");
  assert_null (strstr (http_peer_head (bench->peer, 0), "uthorization"));
  assert_body (bench, 0, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
               "&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName="
               "me%40x&WebIdentityToken=to.k%2Ben%2F%3D");
  place_write (token, "new");
  assert_found (bench, "role");
  const struct rd_buffer *body = http_peer_body (bench->peer, 1);
  assert_memory_equal (body->data + body->nbytes - 4, "=new", 4);
  free (token);
}

static void
a_web_identity_needs_a_role_and_a_token (void **state)
{
  struct bench *bench = *state;
  set (bench, RD_S3_TOKEN_FILE, "/nowhere/token");
  assert_not_found (bench, RADIO_ERROR_ARGUMENT, "AWS_ROLE_ARN is not");
  set (bench, RD_S3_ROLE_ARN, "arn");
  assert_not_found (bench, RADIO_ERROR_NOT_FOUND, "/nowhere/token");
}

static void
a_role_is_assumed_with_the_keys_of_its_source (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { ROLE };
  char host[80];
  place_write (bench->config,
               "[default]\nrole_arn = arn\nsource_profile = base\n"
               "external_id = e/1\nduration_seconds = 900\n"
               "region = eu-central-1\n"
               "[profile base]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
               "aws_secret_access_key = SHOWN\n");
  say (bench, answers, 1);
  assert_found (bench, "role");
  assert_body (bench, 0, "Action=AssumeRole&Version=2011-06-15&RoleArn=arn"
               "&RoleSessionName=radio&ExternalId=e%2F1"
               "&DurationSeconds=900");
  assert_sent (bench, 0, "\r\nauthorization: AWS4-HMAC-SHA256 Credential="
               "AKIAIOSFODNN7EXAMPLE/20130524/eu-central-1/sts/aws4_request,"
               "SignedHeaders=content-type;host;x-amz-content-sha256;"
               "x-amz-date,Signature=");
  snprintf (host, sizeof host, "\r\nHost: %s\r\n",
            bench->base + strlen ("http://"));
  assert_sent (bench, 0, host);
  assert_null (strstr (http_peer_head (bench->peer, 0), "SHOWN"));
}

/* Signs the received request again, and compares. */
static void
the_signature_is_of_the_request_sent (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { ROLE };
  RD_S3_SIGNED_SCOPE struct rd_s3_signed lines = { 0 };
  char sha256[RD_S3_SHA256_NBYTES], url[80];
  snprintf (url, sizeof url, "%s/some/path", bench->base);
  set (bench, RD_S3_ENDPOINT_STS, url);
  place_write (bench->config, "[default]\nrole_arn = arn\n"
                              "source_profile = default\n" KEYS ("id"));
  say (bench, answers, 1);
  assert_found (bench, "role");
  const struct rd_buffer *body = http_peer_body (bench->peer, 0);
  const struct rd_part part = { body->data, body->nbytes };
  const struct rd_s3_header type = {
    "content-type", "application/x-www-form-urlencoded; charset=utf-8"
  };
  struct rd_s3_credentials credentials = { (char *) "id", (char *) "SHOWN",
                                           NULL, 0 };
  assert_ok (rd_s3_sha256 (&part, 1, sha256));
  const struct rd_s3_request request = {
    .method = "POST", .host = bench->base + strlen ("http://"),
    .path = "/some/path/", .headers = &type, .nheaders = 1,
    .payload_sha256 = sha256,
  };
  const struct rd_s3_signing signing = {
    .credentials = &credentials, .region = "us-east-1", .service = "sts",
    .now_s = NOW_S,
  };
  assert_ok (rd_s3_sign (&signing, &request, &lines));
  assert_sent (bench, 0, "POST /some/path/ HTTP/1.1\r\n");
  for (size_t i = 0; i < lines.nlines; i++)
    assert_sent (bench, 0, lines.lines[i]);
}

static void
roles_are_assumed_one_with_another (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { ROLE, ROLE };
  place_write (bench->config,
               "[default]\nrole_arn=two\nsource_profile=one\n"
               "[profile one]\nrole_arn=one\nsource_profile=base\n"
               "[profile base]\n" KEYS ("base"));
  say (bench, answers, 2);
  assert_found (bench, "role");
  assert_sent (bench, 0, "Credential=base/");
  assert_sent (bench, 1, "Credential=role/");
  assert_sent (bench, 1, "\r\nx-amz-security-token: t/+=\r\n");
}

static void
a_role_may_be_assumed_by_the_environment_or_a_container (void **state)
{
  struct bench *bench = *state;
  static const char *const one[] = { ROLE };
  static const char *const two[] = { DOCUMENT, ROLE };
  set (bench, RD_S3_OWN_PROFILE, "e");
  set (bench, RD_S3_ACCESS_KEY, "environment");
  set (bench, RD_S3_SECRET_KEY, "SHOWN");
  set (bench, RD_S3_OWN_CONTAINER_URL, bench->base);
  set (bench, RD_S3_CONTAINER_RELATIVE_URI, "/box");
  place_write (bench->config,
               "[profile e]\nrole_arn=a\ncredential_source=Environment\n"
               "[profile c]\nrole_arn=a\ncredential_source=EcsContainer\n"
               "[profile x]\nrole_arn=a\ncredential_source=Nowhere\n");
  say (bench, one, 1);
  assert_found (bench, "role");
  assert_sent (bench, 0, "Credential=environment/");
  set (bench, RD_S3_OWN_PROFILE, "c");
  say (bench, two, 2);
  assert_found (bench, "role");
  assert_sent (bench, 1, "Credential=container/");
  set (bench, RD_S3_OWN_PROFILE, "x");
  assert_not_found (bench, RADIO_ERROR_UNSUPPORTED, "credential_source");
}

static void
a_profile_may_have_a_web_identity (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = { WEB_ROLE };
  char text[512];
  char *token = place_path (bench->place, "token");
  place_write (token, "token");
  snprintf (text, sizeof text, "[default]\nrole_arn=a\nrole_session_name=n\n"
            "web_identity_token_file=%s\n", token);
  place_write (bench->config, text);
  say (bench, answers, 1);
  assert_found (bench, "role");
  assert_body (bench, 0, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
               "&RoleArn=a&RoleSessionName=n&WebIdentityToken=token");
  free (token);
}

static void
roles_that_cannot_be_assumed_are_errors (void **state)
{
  struct bench *bench = *state;
  static const struct { const char *config, *why; } wrong[] = {
    { "[default]\nrole_arn=a\n", "no source_profile" },
    { "[default]\nrole_arn=a\nsource_profile=default\n", "no source_" },
    { "[default]\nrole_arn=a\nsource_profile=gone\n", "'gone' is in neither" },
    { "[default]\nrole_arn=a\nsource_profile=b\n"
      "[profile b]\nrole_arn=b\nsource_profile=default\n", "too long a chain" },
    { "[default]\nrole_arn=a\nsource_profile=b\nmfa_serial=m\n"
      "[profile b]\n" KEYS ("b"), "mfa_serial" },
    { "[default]\nsso_session=s\n", "signs in by SSO" },
    { "[default]\nrole_arn=a\nsource_profile=b\n"
      "[profile b]\naws_access_key_id=SHOWN\n", "but not the secret key" },
    { "[default]\nrole_arn=a\nsource_profile=b\nregion=x.evil/\n"
      "[profile b]\n" KEYS ("b"), "not a region" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CREDENTIALS *none = NULL;
    bool needs_region = i + 1 == sizeof wrong / sizeof wrong[0];
    set (bench, RD_S3_ENDPOINT_STS, needs_region ? NULL : bench->base);
    place_write (bench->config, wrong[i].config);
    assert_int_not_equal (find (bench, &none), RADIO_OK);
    if (strstr (radio_error_message (), wrong[i].why) == NULL)
      fail_msg ("'%s' not in: %s", wrong[i].why, radio_error_message ());
    assert_null (strstr (radio_error_message (), "SHOWN"));
  }
  assert_int_equal (http_peer_requests (bench->peer), 0);
}

static void
errors_of_sts_show_their_code (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = {
    REFUSED,
    "400 <ErrorResponse><Error><Code>"
    "SHOWN 1</Code></Error></ErrorResponse>",
    HEAD "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>"
    "SHOWN</AccessKeyId></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>",
    HEAD "<AssumeRoleResponse><AssumeRoleResult>SHOWN",
    HEAD "<!DOCTYPE a [<!ENTITY b 'SHOWN'>]><AssumeRoleResponse/>",
    HEAD "<AssumeRoleResponse><AssumeRoleResult><Credentials><Expiration>"
    "SHOWN</Expiration></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>",
  };
  static const char *const whys[] = {
    "status 403, AccessDenied", "status 400", "contains no credentials", "XML",
    "document type", "'Expiration' is not a time",
  };
  enum { n = sizeof answers / sizeof answers[0] };
  place_write (bench->config, "[default]\nrole_arn = arn\n"
                              "source_profile = default\n" KEYS ("id"));
  say (bench, answers, n);
  for (size_t i = 0; i < n; i++) {
    CREDENTIALS *none = NULL;
    assert_int_not_equal (find (bench, &none), RADIO_OK);
    if (strstr (radio_error_message (), whys[i]) == NULL)
      fail_msg ("'%s' not in: %s", whys[i], radio_error_message ());
    assert_null (strstr (radio_error_message (), "SHOWN"));
  }
  assert_true (http_peer_has_sent_all (bench->peer));
}

static void
a_request_to_a_busy_sts_is_retried (void **state)
{
  struct bench *bench = *state;
  static const char *const answers[] = {
    "500 SHOWN", ROLE,
  };
  place_write (bench->config, "[default]\nrole_arn = arn\n"
                              "source_profile = default\n" KEYS ("id"));
  say (bench, answers, 2);
  assert_found (bench, "role");
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (places_count_in_their_order),
    TEST (a_profile_of_the_caller_counts_before_the_environment),
    TEST (half_of_the_keys_are_an_error),
    TEST (keys_that_are_given_need_no_files),
    TEST (a_profile_that_is_chosen_must_exist),
    TEST (a_profile_may_run_a_program),
    TEST (an_instance_is_the_last_place),
    TEST (a_web_identity_is_sent_unsigned),
    TEST (a_web_identity_needs_a_role_and_a_token),
    TEST (a_role_is_assumed_with_the_keys_of_its_source),
    TEST (the_signature_is_of_the_request_sent),
    TEST (roles_are_assumed_one_with_another),
    TEST (a_role_may_be_assumed_by_the_environment_or_a_container),
    TEST (a_profile_may_have_a_web_identity),
    TEST (roles_that_cannot_be_assumed_are_errors),
    TEST (errors_of_sts_show_their_code),
    TEST (a_request_to_a_busy_sts_is_retried),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
