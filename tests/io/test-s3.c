/* SPDX-License-Identifier: MIT */
/* Requests to S3, and invalid responses: each ends in the right data or in a
 * clear error. */
#include <config.h>

#include <time.h>

#include "io/s3/store.h"
#include "tests/io/s3-site.h"

static enum radio_status
read_part (struct s3_site *site, uint64_t offset, size_t nbytes,
           struct rd_buffer *into)
{
  struct rd_io_get get = {
    .key = "k", .range = RD_RANGE_SPAN, .offset = offset, .nbytes = nbytes,
    .into = into,
  };
  return rd_io_read (site->io, &get);
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static void
a_part_is_requested_with_a_signature (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  s3_say (site, "206 Part", "Content-Range: bytes 2-4/10\r\n", "cde");
  assert_ok (read_part (site, 2, 3, &into));
  assert_int_equal (into.nbytes, 3);
  assert_memory_equal (into.data, "cde", 3);
  s3_assert_heard (site, 0, "GET /bucket/st/k HTTP/1.1\r\n");
  s3_assert_heard (site, 0, "\r\nRange: bytes=2-4\r\n");
  s3_assert_heard (site, 0, "\r\nauthorization: AWS4-HMAC-SHA256 Credential="
                S3_ACCESS_KEY "/");
  s3_assert_heard (site, 0, "/us-east-1/s3/aws4_request");
  s3_assert_heard (site, 0, "\r\nx-amz-content-sha256: e3b0c442");
  s3_assert_unheard (site, 0, S3_SECRET_KEY);
}

static void
a_hedge_request_is_signed_again (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  site->hedge_percent = 5;
  s3_site_open (site, S3_ACCESS_KEY, false);
  for (unsigned i = 0; i < 20; i++) {
    s3_say (site, "200 OK", "", "quick");
    assert_text (site->io, "k", "quick");
  }
  s3_site_forget (site);
  s3_say (site, HTTP_PEER_HOLD_1 "206 Part",
          "Content-Range: bytes 2-4/10\r\n", "---");
  s3_say (site, "206 Part", "Content-Range: bytes 2-4/10\r\n", "cde");
  assert_ok (read_part (site, 2, 3, &into));
  assert_int_equal (into.nbytes, 3);
  assert_memory_equal (into.data, "cde", 3);
  s3_assert_all_sent (site);
  for (unsigned i = 0; i < 2; i++) {
    s3_assert_heard (site, i, "GET /bucket/st/k HTTP/1.1\r\n");
    s3_assert_heard (site, i, "\r\nRange: bytes=2-4\r\n");
    s3_assert_heard (site, i, "\r\nauthorization: AWS4-HMAC-SHA256 ");
  }
}

static void
anonymous_requests_have_no_signature (void **state)
{
  struct s3_site *site = *state;
  s3_site_open (site, NULL, false);
  s3_say (site, "200 OK", "", "x");
  assert_text (site->io, "k", "x");
  s3_assert_unheard (site, 0, "authorization");
  s3_say_error (site, "403 Forbidden", "", "AccessDenied");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "without credentials");
}

static void
wrong_parts_are_refused (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  for (int i = 0; i < 4; i++)
    s3_say (site, "206 Part", "Content-Range: bytes 1-3/10\r\n", "bcd");
  assert_fails (read_part (site, 2, 3, &into), RADIO_ERROR_IO,
                "s3://bucket/st/k: the response is bytes 1-3 of 10");
  for (int i = 0; i < 4; i++)
    s3_say (site, "200 OK", "", "0123456789");
  assert_fails (read_part (site, 2, 3, &into), RADIO_ERROR_UNSUPPORTED,
                "range requests");
}

/* A server that gives the size in its error, and one that does not. */
static void
a_read_after_the_end_returns_nothing (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  struct rd_io_get get = {
    .key = "k", .range = RD_RANGE_SPAN, .offset = 20, .nbytes = 5,
    .into = &into,
  };
  s3_say (site, "416 Range", "", "<Error><Code>InvalidRange</Code>"
       "<ActualObjectSize>10</ActualObjectSize></Error>");
  assert_ok (rd_io_read (site->io, &get));
  assert_int_equal (into.nbytes, 0);
  assert_int_equal (get.object_nbytes, 10);
  get.object_nbytes = 0;
  s3_say (site, "416 Range", "", "");
  s3_say_head (site, "", 12);
  assert_ok (rd_io_read (site->io, &get));
  assert_int_equal (into.nbytes, 0);
  assert_int_equal (get.object_nbytes, 12);
  s3_assert_heard (site, 2, "HEAD /bucket/st/k ");
  s3_assert_all_sent (site);
}

static void
an_object_that_changes_while_held_is_an_error (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  struct rd_io_file *file = rd_io_hold (site->io, "k", true);
  struct rd_io_get get = {
    .key = "k", .file = file, .range = RD_RANGE_SPAN, .nbytes = 3,
    .into = &into,
  };
  s3_say (site, "206 Part", "ETag: \"1\"\r\nContent-Range: bytes 0-2/9\r\n",
       "abc");
  for (int i = 0; i < 2; i++)
    s3_say (site, "206 Part", "ETag: \"2\"\r\nContent-Range: bytes 0-2/9\r\n",
            "abd");
  assert_ok (rd_io_read (site->io, &get));
  assert_fails (rd_io_read (site->io, &get), RADIO_ERROR_IO,
                "replaced while it was read");
  rd_io_release (site->io, file);
}

/*------------------------------------------------------------------------
 * Problems
 *----------------------------------------------------------------------*/

static void
odd_bodies_of_problems_do_no_harm (void **state)
{
  struct s3_site *site = *state;
  char body[512] = "<";
  memset (body + 1, 'a', 300);
  memcpy (body + 301, "/>", 3);
  for (int i = 0; i < S3_NATTEMPTS; i++)
    s3_say (site, "404 Not Found", "Transfer-Encoding: chunked\r\n",
            "5\r\nabcde\r\n0\r\nX-Late: y\r\n\r\n");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "k");
  s3_say (site, "418 Teapot", "", body);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "(status 418)");
  s3_assert_all_sent (site);
}

#define NO_CODE "the server answers 404 without an S3 code; check the " \
  "endpoint (status 404)"

/* Any web server answers so: that an object is missing, and its values are
 * the fill value, says S3's code alone.  HEAD has no body for it. */
static void
a_404_without_a_code_is_no_missing_object (void **state)
{
  struct s3_site *site = *state;
  static const char *const bodies[] = {
    "<html><body>404 Not Found, nginx</body></html>", "",
    "{\"message\": \"no route\"}", "<Error><Code/></Error>",
  };
  struct listing listing = { 0 };
  uint64_t nbytes;
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    s3_site_forget (site);
    for (int n = 0; n < 2 * S3_NATTEMPTS; n++)
      s3_say (site, "404 Not Found", "", bodies[i]);
    assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "st/k: " NO_CODE);
    assert_fails (site->io->ops->list (site->io, "", true, note_entry,
                                       &listing),
                  RADIO_ERROR_IO, "bucket/st: " NO_CODE);
    s3_say (site, "404 Not Found", "", "");
    assert_fails (site->io->ops->size (site->io, "k", &nbytes),
                  RADIO_ERROR_NOT_FOUND, "st/k: no such object");
    s3_assert_all_sent (site);
  }
}

/* The next response may have come whole. */
static void
a_404_without_a_code_is_requested_again (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "404 Not Found", "", "<html/>");
  s3_say_error (site, "404 Not Found", "", "NoSuchKey");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_NOT_FOUND,
                "st/k: no such object");
  s3_assert_all_sent (site);
}

static void
errors_are_explained_without_the_servers_message (void **state)
{
  struct s3_site *site = *state;
  static const struct {
    const char *status, *code;
    enum radio_status expected;
    const char *part;
  } rows[] = {
    { "404 Not Found", "NoSuchKey", RADIO_ERROR_NOT_FOUND,
      "s3://bucket/st/k: no such object" },
    { "404 Not Found", "NoSuchBucket", RADIO_ERROR_IO, "no such bucket" },
    { "403 Forbidden", "AccessDenied", RADIO_ERROR_PERMISSION,
      "access denied" },
    { "403 Forbidden", "SignatureDoesNotMatch", RADIO_ERROR_PERMISSION,
      "the secret key is wrong" },
    { "403 Forbidden", "InvalidAccessKeyId", RADIO_ERROR_PERMISSION,
      "does not know the access key" },
    { "403 Forbidden", "InvalidObjectState", RADIO_ERROR_IO, "archive" },
    { "501 Not", "NotImplemented", RADIO_ERROR_UNSUPPORTED,
      "does not support" },
    { "418 Teapot", "Unheard-of", RADIO_ERROR_IO, "(status 418, Unheard-" },
    { "418 Teapot", "a&lt;b&gt;", RADIO_ERROR_IO, "(status 418)" },
    { "404 Not Found", "XAdminUserNotFound", RADIO_ERROR_IO,
      "k: the server reports an error (status 404, XAdminUserNotFound)" },
    { "404 Not Found", "a&lt;b&gt;", RADIO_ERROR_IO, "(status 404)" },
    { "404 Not Found", "NoSuchUpload", RADIO_ERROR_IO,
      "k: the server reports an error (status 404, NoSuchUpload)" },
    { "301 Moved", "Redir", RADIO_ERROR_IO, "the server redirects" },
    { "307 Moved", "Redir", RADIO_ERROR_IO, "the server redirects" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    s3_site_forget (site);
    s3_say_error (site, rows[i].status, "", rows[i].code);
    assert_fails (read_key (site->io, "k"), rows[i].expected, rows[i].part);
    assert_null (strstr (radio_error_message (), S3_SECRET_KEY));
    s3_assert_all_sent (site);
  }
}

static void
messages_of_unknown_codes_are_shown_within_bounds (void **state)
{
  struct s3_site *site = *state;
  static const char *const rows[][2] = {
    { "the account is gone", "(status 404, NoSuchUser: the account is gone)" },
    { "a\nb\tc &#x7f;\xc3\xa4", ": a?b?c ?\xc3\xa4)" },
    { "the key " S3_ACCESS_KEY " is unknown", "(status 404, NoSuchUser)" },
    { "Zugriff f\xc3\xbcr alle", ": Zugriff f\xc3\xbcr alle)" },
    { "acc\xe8s refus\xe9", ": acc?s refus?)" },      /* Latin-1 */
    { "a\x1b[31mb\x01", ": a?[31mb?)" },
    { "a\xc2\x9b" "31m\xe2\x80\xae" "b", ": a?31m?b)" },
    { "up to here&#1; and not here", ": up to here)" },
    { "a &eacute; there", ": a )" },
  };
  static char body[40000];
  char words[400];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    snprintf (body, sizeof body, "<Error><Code>NoSuchUser</Code><Message>%s"
              "</Message></Error>", rows[i][0]);
    s3_say (site, "404 Not Found", "", body);
    assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, rows[i][1]);
  }
  memset (words, 'x', sizeof words);
  words[sizeof words - 1] = '\0';
  snprintf (body, sizeof body, "<Error><Code>NoSuchUser</Code><Message>%s"
            "</Message></Error>", words);
  s3_say (site, "404 Not Found", "", body);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "xxx)");
  assert_true (strlen (radio_error_message ()) < 300);
  /* A secret that is cut with the message. */
  words[130] = '\0';
  snprintf (body, sizeof body, "<Error><Code>NoSuchUser</Code><Message>%s "
            S3_SECRET_KEY "</Message></Error>", words);
  s3_say (site, "404 Not Found", "", body);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "404, NoSuchUser)");
  /* One that is cut off, and one that is longer than any text. */
  s3_say (site, "404 Not Found", "", "<Error><Code>NoSuchUser</Code><Message>"
          "the acc\xe8s");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, ": the acc?s)");
  int n = snprintf (body, sizeof body, "<Error><Code>NoSuchUser</Code>"
                    "<Message>");
  memset (body + n, 'y', 30000);
  strcpy (body + n + 30000, "</Message></Error>");
  s3_say (site, "404 Not Found", "", body);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "yyy)");
  assert_true (strlen (radio_error_message ()) < 300);
  s3_assert_all_sent (site);
}

/* Whatever is wrong with them, the object may be there, and sound. */
static void
missing_credentials_are_no_missing_object (void **state)
{
  struct s3_site *site = *state;
  static const enum radio_status rows[] = {
    RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT, RADIO_ERROR_UNSUPPORTED,
    RADIO_ERROR_PERMISSION,
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    site->find_status = rows[i];
    assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                  "s3://bucket/st: no credentials: the service: answered "
                  "with status 404");
  }
  site->find_status = RADIO_ERROR_IO;
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "no credentials");
}

static void
redirections_are_reported_with_their_host (void **state)
{
  struct s3_site *site = *state;
  static const char *const statuses[] = {
    "301 Moved Permanently", "302 Found", "303 See Other",
    "307 Temporary Redirect", "308 Permanent Redirect",
  };
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    s3_say (site, statuses[i], "Location: https://me:secret@login.example:44"
            "/in?token=secret\r\n", "");
    assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO,
                  "k: the server redirects the request");
    assert_non_null (strstr (radio_error_message (), ", to login.example:44)"));
    assert_null (strstr (radio_error_message (), "secret"));
    s3_say (site, statuses[i], "Location: /in\r\n", "");
    assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO, "redirects");
    assert_null (strstr (radio_error_message (), ", to "));
  }
  s3_assert_all_sent (site);
}

static enum radio_status
read_suffix (struct s3_site *site, size_t nbytes, struct rd_buffer *into)
{
  struct rd_io_get get = {
    .key = "k", .range = RD_RANGE_SUFFIX, .nbytes = nbytes, .into = into,
  };
  return rd_io_read (site->io, &get);
}

/* As s3rver, which takes the last three bytes for the first four. */
static void
broken_suffix_ranges_are_found_out_once (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  for (int i = 0; i < 2; i++)
    s3_say (site, "206 Part", "Content-Range: bytes 0-3/10\r\n", "abcd");
  for (unsigned i = 0; i < 2; i++) {
    s3_say_head (site, "", 10);
    s3_say (site, "206 Part", "Content-Range: bytes 7-9/10\r\n", "hij");
    assert_ok (read_suffix (site, 3, &into));
    assert_int_equal (into.nbytes, 3);
    assert_memory_equal (into.data, "hij", 3);
    s3_assert_heard (site, 2 + 2 * i, "HEAD /bucket/st/k ");
    s3_assert_heard (site, 3 + 2 * i, "\r\nRange: bytes=7-9\r\n");
    s3_assert_all_sent (site);
  }
}

/* A server that was right once is wrong by accident. */
static void
working_suffix_ranges_stay_in_use (void **state)
{
  struct s3_site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  s3_say (site, "206 Part", "Content-Range: bytes 7-9/10\r\n", "hij");
  assert_ok (read_suffix (site, 3, &into));
  for (int i = 0; i < 3; i++)
    s3_say (site, "206 Part", "Content-Range: bytes 0-3/10\r\n", "abcd");
  s3_say (site, "206 Part", "Content-Range: bytes 7-9/10\r\n", "hij");
  assert_ok (read_suffix (site, 3, &into));
  assert_memory_equal (into.data, "hij", 3);
  s3_assert_heard (site, 4, "\r\nRange: bytes=-3\r\n");
  s3_assert_all_sent (site);
}

static void
transient_errors_are_retried_by_their_code (void **state)
{
  struct s3_site *site = *state;
  static const char *const rows[][2] = {
    { "503 Slow Down", "SlowDown" }, { "500 Internal", "InternalError" },
    { "400 Bad Request", "RequestTimeout" },
    { "409 Conflict", "OperationAborted" },
    { "400 Bad Request", "ThrottlingException" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    s3_site_forget (site);
    s3_say_error (site, rows[i][0], "", rows[i][1]);
    s3_say_error (site, rows[i][0], "", rows[i][1]);
    s3_say (site, "200 OK", "", "x");
    assert_text (site->io, "k", "x");
    s3_assert_all_sent (site);
  }
  s3_site_forget (site);
  for (int i = 0; i < 4; i++)
    s3_say_error (site, "503 Slow Down", "", "SlowDown");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_IO,
                "(status 503, SlowDown) (4 attempts in ");
}

static void
words_that_are_no_xml_or_endless_do_not_hide_the_status (void **state)
{
  enum { N = 200000 };
  struct s3_site *site = *state;
  char *body = malloc (N + 1);
  assert_non_null (body);
  memset (body, 'x', N);
  body[N] = '\0';
  memcpy (body, "<Error><Code>", 13);
  s3_say (site, "403 Forbidden", "", body);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION, "403");
  free (body);
  s3_say (site, "403 Forbidden", "", "<Error><Code>AccessDenied</Code><Mess");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "access denied");
  s3_say (site, "403 Forbidden", "", "<!DOCTYPE x [<!ENTITY a \"b\">]>"
       "<Error><Code>&a;</Code></Error>");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "(status 403)");
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Repairs
 *----------------------------------------------------------------------*/

static void
a_bucket_in_another_region_is_found_once_for_all (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "301 Moved", "x-amz-bucket-region: eu-central-1\r\n"
             "Location: http://127.0.0.1:1/\r\n", "PermanentRedirect");
  s3_say (site, "200 OK", "", "x");
  s3_say (site, "200 OK", "", "y");
  assert_text (site->io, "k", "x");
  assert_text (site->io, "k", "y");
  s3_assert_heard (site, 0, "/us-east-1/s3/");
  s3_assert_heard (site, 1, "/eu-central-1/s3/");
  s3_assert_heard (site, 2, "/eu-central-1/s3/");
  s3_assert_all_sent (site);
}

static void
a_region_is_corrected_from_the_body_too_but_only_once (void **state)
{
  struct s3_site *site = *state;
  static const char body[] = "<Error><Code>AuthorizationHeaderMalformed"
    "</Code><Region>%s</Region></Error>";
  char first[256], second[256];
  snprintf (first, sizeof first, body, "eu-west-1");
  snprintf (second, sizeof second, body, "eu-west-2");
  s3_say (site, "400 Bad Request", "", first);
  s3_say (site, "400 Bad Request", "", second);
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "region eu-west-2");
  s3_assert_heard (site, 1, "/eu-west-1/s3/");
  s3_assert_all_sent (site);
}

static void
clock_skew_is_corrected_from_the_server (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "403 Forbidden",
                "Date: Sun, 06 Nov 2044 08:49:37 GMT\r\n",
                "RequestTimeTooSkewed");
  s3_say (site, "200 OK", "", "x");
  s3_say (site, "200 OK", "", "y");
  assert_text (site->io, "k", "x");
  assert_text (site->io, "k", "y");
  s3_assert_unheard (site, 0, "x-amz-date: 20441106T");
  s3_assert_heard (site, 1, "x-amz-date: 20441106T08");
  s3_assert_heard (site, 2, "x-amz-date: 20441106T08");
  for (int i = 0; i < 2; i++)
    s3_say_error (site, "403 Forbidden",
               "Date: Sun, 06 Nov 2022 08:49:37 GMT\r\n",
               "RequestTimeTooSkewed");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "set the clock");
  s3_assert_all_sent (site);
}

static void
a_token_that_has_expired_is_renewed_once (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "400 Bad Request", "", "ExpiredToken");
  s3_say (site, "200 OK", "", "x");
  s3_say (site, "200 OK", "", "y");
  assert_text (site->io, "k", "x");
  assert_text (site->io, "k", "y");
  s3_assert_heard (site, 0, "x-amz-security-token: token-1\r\n");
  s3_assert_heard (site, 1, "x-amz-security-token: token-2\r\n");
  s3_assert_heard (site, 2, "x-amz-security-token: token-2\r\n");
  for (int i = 0; i < 2; i++)
    s3_say_error (site, "403 Forbidden", "", "InvalidToken");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION,
                "the session token is invalid");
  s3_assert_all_sent (site);
}

static void
a_head_response_shows_clock_skew_by_its_date (void **state)
{
  struct s3_site *site = *state;
  uint64_t nbytes = 0;
  s3_say (site, "403 Forbidden", "Date: Sun, 06 Nov 2044 08:49:37 GMT\r\n", "");
  s3_say_head (site, "", 7);
  assert_ok (site->io->ops->size (site->io, "k", &nbytes));
  assert_int_equal (nbytes, 7);
  s3_assert_all_sent (site);
}

static void
a_head_response_shows_an_expired_token_by_its_status (void **state)
{
  struct s3_site *site = *state;
  uint64_t nbytes = 0;
  s3_say (site, "400 Bad Request", "", "");
  s3_say_head (site, "", 7);
  assert_ok (site->io->ops->size (site->io, "k", &nbytes));
  assert_int_equal (nbytes, 7);
  s3_assert_heard (site, 0, "x-amz-security-token: token-1\r\n");
  s3_assert_heard (site, 1, "x-amz-security-token: token-2\r\n");
  for (int i = 0; i < 2; i++)
    s3_say (site, "400 Bad Request", "", "");
  assert_fails (site->io->ops->size (site->io, "k", &nbytes),
                RADIO_ERROR_IO, "credentials have expired");
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Listings
 *----------------------------------------------------------------------*/

#define LIST(body) "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" \
  "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" \
  "<EncodingType>url</EncodingType>" body "</ListBucketResult>"
#define OBJECT(key, size) "<Contents><Key>" key "</Key><Size>" size \
  "</Size></Contents>"
#define WRITTEN(key, time) "<Contents><LastModified>" time "</LastModified>" \
  "<Key>" key "</Key><Size>1</Size></Contents>"
#define FOLDER(key) "<CommonPrefixes><Prefix>" key "</Prefix>" \
  "</CommonPrefixes>"
#define MORE(token) "<IsTruncated>true</IsTruncated>" \
  "<NextContinuationToken>" token "</NextContinuationToken>"

static void
pages_are_requested_one_after_the_other (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", LIST (MORE ("a+/=")
                                 OBJECT ("st/a/b%2Bc%20d+e", "5")
                                 OBJECT ("st/a/d&#38;&lt;", "0")));
  s3_say (site, "200 OK", "", LIST ("<IsTruncated>false</IsTruncated>"
                                 OBJECT ("st/a/%C3%A9", "12")));
  assert_list (site->io, "a", true, "b+c d e 5\nd&< 0\n\xc3\xa9 12\n");
  s3_assert_heard (site, 0, "GET /bucket?list-type=2&encoding-type=url&prefix="
                "st%2Fa%2F HTTP/1.1\r\n");
  s3_assert_heard (site, 1, "&continuation-token=a%2B%2F%3D HTTP/1.1\r\n");
  s3_assert_all_sent (site);
}

static void
folders_and_objects_are_listed_by_name (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", LIST (OBJECT ("st/", "0") OBJECT ("st/a.txt", "1")
                                 OBJECT ("st/b", "2")
                                 OBJECT ("st/.radio-probe-0a", "0")
                                 FOLDER ("st/a/") FOLDER ("st/c/")
                                 FOLDER ("st//")));
  assert_list (site->io, "", false, "a/\na.txt 1\nb 2\nc/\n");
  s3_assert_heard (site, 0, "&delimiter=%2F");
  s3_assert_all_sent (site);
}

/* A server that does not encode keys does not claim it; one that encodes may
 * claim it after the keys. */
static void
keys_are_decoded_where_the_server_says_that_they_are_encoded (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "<ListBucketResult>" OBJECT ("st/a%2Bb+c", "1")
          "<EncodingType></EncodingType></ListBucketResult>");
  s3_say (site, "200 OK", "", "<ListBucketResult>" OBJECT ("st/a%2Bb+c", "1")
          "<EncodingType>url</EncodingType></ListBucketResult>");
  assert_list (site->io, "", true, "a%2Bb+c 1\n");
  assert_list (site->io, "", true, "a+b c 1\n");
  s3_assert_all_sent (site);
}

/* Without recursion all pages are gathered: a server must not fill the
 * memory with them. */
static void
a_listing_that_does_not_fit_is_rejected (void **state)
{
  struct s3_site *site = *state;
  struct listing listing = { 0 };
  ((struct rd_s3 *) site->io)->max_listed_nbytes
    = 2 * (sizeof (struct rd_io_entry) + 2);
  s3_say (site, "200 OK", "", LIST (MORE ("1") OBJECT ("st/a", "1")
                                    OBJECT ("st/b", "1")));
  s3_say (site, "200 OK", "", LIST (MORE ("2") OBJECT ("st/c", "1")));
  assert_fails (site->io->ops->list (site->io, "", false, note_entry,
                                     &listing),
                RADIO_ERROR_LIMIT, "names in a folder");
  s3_assert_all_sent (site);
}

static enum radio_status
keep_age (const struct rd_io_entry *entry, void *user_data)
{
  uint64_t *ages = user_data;
  ages[entry->name[0] - 'a'] = entry->age_s;
  return RADIO_OK;
}

/* Objects without a time count as young. */
static void
objects_are_as_old_as_the_server_says (void **state)
{
  struct s3_site *site = *state;
  uint64_t ages[4] = { 9, 9, 9, 9 };
  s3_say (site, "200 OK", "", LIST (
            WRITTEN ("st/a", "2026-01-31T12:34:56.000Z")
            WRITTEN ("st/b", "2999-01-01T00:00:00.000Z")
            WRITTEN ("st/c", "yesterday") OBJECT ("st/d", "1")));
  assert_ok (site->io->ops->list (site->io, "", true, keep_age, ages));
  int64_t written_s = (int64_t) time (NULL) - (int64_t) ages[0];
  assert_in_range (written_s, 1769862896 - 60, 1769862896 + 60);
  assert_int_equal (ages[1], 0);
  assert_int_equal (ages[2], 0);
  assert_int_equal (ages[3], 0);
  assert_true (site->io->grace_s > 0);
}

static void
listings_that_cannot_be_are_refused (void **state)
{
  struct s3_site *site = *state;
  static const char *const rows[][2] = {
    { LIST (OBJECT ("st/b", "1") OBJECT ("st/a", "1")), "not in order" },
    { LIST (OBJECT ("st/b", "1") OBJECT ("st/b", "1")), "not in order" },
    { LIST (OBJECT ("other/b", "1")), "outside of the prefix" },
    { LIST (OBJECT ("st/b%zz", "1")), "has no key" },
    { LIST (OBJECT ("st/b", "-1")), "has no size" },
    { LIST ("<IsTruncated>true</IsTruncated>"), "does not end" },
    { "<Other/>", "invalid ListObjects response" },
    { "<ListBucketResult><Contents>", "not valid XML" },
    { "not xml", "not valid XML" },
    { "", "not valid XML" },
    { LIST ("<a><b><c><d><e><f><g><h/></g></f></e></d></c></b></a>"),
      "too deeply" },
    { "<!DOCTYPE a [<!ENTITY x \"y\">]><ListBucketResult/>",
      "document type" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct listing listing = { 0 };
    s3_site_forget (site);
    for (int n = 0; n < S3_NATTEMPTS; n++)
      s3_say (site, "200 OK", "", rows[i][0]);
    assert_fails (site->io->ops->list (site->io, "", true, note_entry,
                                       &listing),
                  RADIO_ERROR_IO, rows[i][1]);
    s3_assert_all_sent (site);
  }
}

/* Nothing of a wrong page is kept, and all of the pages before. */
static void
a_wrong_page_is_requested_again (void **state)
{
  struct s3_site *site = *state;
  static const char *const rows[] = {
    "<ListBucketResult>" OBJECT ("st/c", "1") "<Cont", "", "<html/>",
    LIST (OBJECT ("st/c", "1") OBJECT ("st/d", "x")),
    LIST (OBJECT ("st/c", "1") OBJECT ("su/d", "1")),
    LIST (OBJECT ("st/c", "1") "<IsTruncated>true</IsTruncated>"),
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int recursive = 0; recursive < 2; recursive++) {
      s3_site_forget (site);
      s3_say (site, "200 OK", "", LIST (MORE ("1") OBJECT ("st/a", "1")
                                        OBJECT ("st/b", "1")));
      s3_say (site, "200 OK", "", rows[i]);
      s3_say (site, "200 OK", "", LIST (OBJECT ("st/c", "1")
                                        OBJECT ("st/d", "2")));
      assert_list (site->io, "", recursive, "a 1\nb 1\nc 1\nd 2\n");
      for (size_t n = 1; n < 3; n++)
        s3_assert_heard (site, n, "&continuation-token=1 HTTP/1.1\r\n");
      s3_assert_all_sent (site);
    }
}

/* One that gives the same page for ever, under other tokens. */
static void
a_listing_that_goes_round_comes_to_an_end (void **state)
{
  struct s3_site *site = *state;
  struct listing listing = { 0 };
  s3_say (site, "200 OK", "", LIST (MORE ("1") OBJECT ("st/a", "1")));
  for (int n = 0; n < S3_NATTEMPTS; n++)
    s3_say (site, "200 OK", "", LIST (MORE ("2") OBJECT ("st/a", "1")));
  assert_fails (site->io->ops->list (site->io, "", true, note_entry,
                                     &listing),
                RADIO_ERROR_IO, "not in order");
  s3_assert_all_sent (site);
}

#define SITE_TEST(fn) \
  cmocka_unit_test_setup_teardown (fn, s3_site_set_up, s3_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_TEST (a_part_is_requested_with_a_signature),
    SITE_TEST (a_hedge_request_is_signed_again),
    SITE_TEST (anonymous_requests_have_no_signature),
    SITE_TEST (wrong_parts_are_refused),
    SITE_TEST (a_read_after_the_end_returns_nothing),
    SITE_TEST (an_object_that_changes_while_held_is_an_error),
    SITE_TEST (odd_bodies_of_problems_do_no_harm),
    SITE_TEST (a_404_without_a_code_is_no_missing_object),
    SITE_TEST (a_404_without_a_code_is_requested_again),
    SITE_TEST (errors_are_explained_without_the_servers_message),
    SITE_TEST (messages_of_unknown_codes_are_shown_within_bounds),
    SITE_TEST (missing_credentials_are_no_missing_object),
    SITE_TEST (redirections_are_reported_with_their_host),
    SITE_TEST (broken_suffix_ranges_are_found_out_once),
    SITE_TEST (working_suffix_ranges_stay_in_use),
    SITE_TEST (transient_errors_are_retried_by_their_code),
    SITE_TEST (words_that_are_no_xml_or_endless_do_not_hide_the_status),
    SITE_TEST (a_bucket_in_another_region_is_found_once_for_all),
    SITE_TEST (a_region_is_corrected_from_the_body_too_but_only_once),
    SITE_TEST (clock_skew_is_corrected_from_the_server),
    SITE_TEST (a_token_that_has_expired_is_renewed_once),
    SITE_TEST (a_head_response_shows_an_expired_token_by_its_status),
    SITE_TEST (a_head_response_shows_clock_skew_by_its_date),
    SITE_TEST (pages_are_requested_one_after_the_other),
    SITE_TEST (folders_and_objects_are_listed_by_name),
    SITE_TEST (keys_are_decoded_where_the_server_says_that_they_are_encoded),
    SITE_TEST (a_listing_that_does_not_fit_is_rejected),
    SITE_TEST (objects_are_as_old_as_the_server_says),
    SITE_TEST (listings_that_cannot_be_are_refused),
    SITE_TEST (a_wrong_page_is_requested_again),
    SITE_TEST (a_listing_that_goes_round_comes_to_an_end),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
