/* SPDX-License-Identifier: MIT */
/* The signer: the examples that S3 documents ("Signature Calculations for the
 * Authorization Header", "... in Multiple Chunks", "Authenticating Requests:
 * Using Query Parameters"), and the parts that servers parse.
 * tests/interop/test_s3_sign.py compares the signatures with botocore's. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/percent.h"
#include "io/s3/sign.h"
#include "tests/alloc-fail.h"

#define EMPTY_SHA256 \
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define NOW_S 1369353600          /* 2013-05-24, 00:00:00 */
#define SECRET "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define KEY_ID "AKIAIOSFODNN7EXAMPLE"
#define SIGNED RD_S3_SIGNED_SCOPE struct rd_s3_signed

static const struct rd_s3_credentials example = {
  .access_key = (char *) KEY_ID, .secret_key = (char *) SECRET,
};

static const struct rd_s3_signing signing = {
  .credentials = &example, .region = "us-east-1", .service = "s3",
  .now_s = NOW_S,
};

static struct rd_s3_request
get (const char *path, const char *query)
{
  return (struct rd_s3_request) {
    .method = "GET", .host = "examplebucket.s3.amazonaws.com", .path = path,
    .query = query, .payload_sha256 = EMPTY_SHA256,
  };
}

/* The value of the header of a name, or NULL. */
static const char *
line_of (const struct rd_s3_signed *out, const char *name)
{
  size_t n = strlen (name);
  for (size_t i = 0; i < out->nlines; i++)
    if (strncmp (out->lines[i], name, n) == 0
        && strncmp (out->lines[i] + n, ": ", 2) == 0)
      return out->lines[i] + n + 2;
  return NULL;
}

static void
assert_ends (const struct rd_s3_signed *out, const char *end)
{
  const char *line = line_of (out, "authorization");
  assert_non_null (line);
  assert_true (strlen (line) >= strlen (end));
  assert_string_equal (line + strlen (line) - strlen (end), end);
}

/*------------------------------------------------------------------------
 * The documented examples
 *----------------------------------------------------------------------*/

static void
get_of_a_range_is_signed_as_documented (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  struct rd_s3_request request = get ("/test.txt", NULL);
  struct rd_s3_header range = { "Range", "bytes=0-9" };
  request.headers = &range;
  request.nheaders = 1;
  assert_ok (rd_s3_sign (&signing, &request, &out));
  assert_string_equal (
    line_of (&out, "authorization"),
    "AWS4-HMAC-SHA256 Credential=" KEY_ID "/20130524/us-east-1/s3/"
    "aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
    "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb"
    "41");
  assert_string_equal (line_of (&out, "x-amz-date"), "20130524T000000Z");
  assert_string_equal (line_of (&out, "x-amz-content-sha256"), EMPTY_SHA256);
  assert_null (line_of (&out, "x-amz-security-token"));
  assert_int_equal (out.nlines, 3);
}

static void
put_of_an_object_is_signed_as_documented (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  char sha256[RD_S3_SHA256_NBYTES];
  char *path = rd_percent_encode ("/test$file.text", 15, true);
  const struct rd_part parts[] = {
    { "Welcome to ", 11 }, { NULL, 0 }, { "Amazon S3.", 10 },
  };
  const struct rd_s3_header headers[] = {
    { "x-amz-storage-class", "REDUCED_REDUNDANCY" },
    { "Date", "Fri, 24 May 2013 00:00:00 GMT" },
  };
  struct rd_s3_request request = get (path, "");
  request.method = "PUT";
  request.headers = headers;
  request.nheaders = 2;
  assert_ok (rd_s3_sha256 (parts, 3, sha256));
  request.payload_sha256 = sha256;
  assert_ok (rd_s3_sign (&signing, &request, &out));
  assert_ends (&out, "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;"
               "x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238"
               "d841ea1380cd77a1b5971af0ece108bd");
  rd_free (path);
}

static void
a_query_without_value_is_signed_as_documented (void **state)
{
  (void) state;
  SIGNED out = { 0 }, other = { 0 };
  struct rd_s3_request request = get ("/", "lifecycle");
  const char *signature = "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699"
                          "e0f91ac7a200a0136783543";
  assert_ok (rd_s3_sign (&signing, &request, &out));
  assert_ends (&out, signature);
  request.query = "lifecycle=";
  assert_ok (rd_s3_sign (&signing, &request, &other));
  assert_ends (&other, signature);
}

static void
a_list_is_signed_as_documented_in_any_order (void **state)
{
  (void) state;
  static const char *const queries[] = {
    "max-keys=2&prefix=J", "prefix=J&max-keys=2",
  };
  for (size_t i = 0; i < 2; i++) {
    SIGNED out = { 0 };
    struct rd_s3_request request = get ("/", queries[i]);
    assert_ok (rd_s3_sign (&signing, &request, &out));
    assert_ends (&out, "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db"
                 "6670ed5711ef69dc6f7");
  }
}

static void
the_seed_of_chunks_is_signed_as_documented (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  const struct rd_s3_header headers[] = {
    { "x-amz-storage-class", "REDUCED_REDUNDANCY" },
    { "Content-Encoding", "aws-chunked" },
    { "x-amz-decoded-content-length", "66560" },
    { "Content-Length", "66824" },
  };
  struct rd_s3_request request = {
    .method = "PUT", .host = "s3.amazonaws.com",
    .path = "/examplebucket/chunkObject.txt", .headers = headers,
    .nheaders = 4, .payload_sha256 = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  };
  assert_ok (rd_s3_sign (&signing, &request, &out));
  assert_ends (&out, "Signature=4f232c4386841ef735655705268965c44a0e4690baa4ade"
               "a153f7db9fa80a0a9");
}

/* Where the query has the credentials, only the host is signed. */
static void
a_presigned_url_is_signed_as_documented (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer names = { 0 };
  char sha256[RD_S3_SHA256_NBYTES], signature[RD_S3_SHA256_NBYTES];
  struct rd_s3_request request = get (
    "/test.txt", "X-Amz-SignedHeaders=host&X-Amz-Algorithm=AWS4-HMAC-SHA256&"
    "X-Amz-Credential=" KEY_ID "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&"
    "X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400");
  struct rd_s3_header host = { "host", request.host };
  request.payload_sha256 = "UNSIGNED-PAYLOAD";
  assert_ok (rd_s3_signed_names (&host, 1, &names));
  assert_ok (rd_s3_canonical_sha256 (&request, &host, 1, &names, sha256));
  assert_ok (rd_s3_signature (&signing, "20130524T000000Z", sha256,
                              signature));
  assert_string_equal (signature, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4"
                       "c265957d157751f604d404");
}

/*------------------------------------------------------------------------
 * Encoding
 *----------------------------------------------------------------------*/

static void
assert_encoded (const char *bytes, bool keeps_slash, const char *encoded)
{
  char *text = rd_percent_encode (bytes, strlen (bytes), keeps_slash);
  assert_string_equal (text, encoded);
  rd_free (text);
}

static void
all_but_letters_digits_and_four_others_are_encoded (void **state)
{
  (void) state;
  assert_encoded ("AZaz09-._~", false, "AZaz09-._~");
  assert_encoded ("dir//x", true, "dir//x");
  assert_encoded ("dir//x", false, "dir%2F%2Fx");
  assert_encoded ("a/../b", true, "a/../b");
  assert_encoded ("a b+c=d&e.~!'()*@$,;:x", true,
                  "a%20b%2Bc%3Dd%26e.~%21%27%28%29%2A%40%24%2C%3B%3Ax");
  assert_encoded ("\xc3\xbc\xff\x7f%20", false, "%C3%BC%FF%7F%2520");
  assert_encoded ("", false, "");
}

static void
a_nul_byte_is_encoded_too (void **state)
{
  (void) state;
  char *text = rd_percent_encode ("a\0b", 3, true);
  assert_string_equal (text, "a%00b");
  rd_free (text);
}

static void
sign (const struct rd_s3_request *request, char signature[65])
{
  SIGNED out = { 0 };
  assert_ok (rd_s3_sign (&signing, request, &out));
  const char *line = line_of (&out, "authorization");
  memcpy (signature, line + strlen (line) - 64, 65);
}

static void
every_encoded_byte_can_be_signed (void **state)
{
  (void) state;
  char key[257], query[3 * 256 + 8], signature[65], other[65];
  for (unsigned i = 1; i < 256; i++)
    key[i] = (char) i;
  key[0] = '/';
  char *path = rd_percent_encode (key, 256, true);
  char *value = rd_percent_encode (key, 256, false);
  snprintf (query, sizeof query, "%s=%s", "p", value);
  struct rd_s3_request request = get (path, query);
  sign (&request, signature);
  request.query = NULL;
  sign (&request, other);
  assert_string_not_equal (signature, other);
  rd_free (path);
  rd_free (value);
}

static void
ambiguous_paths_and_queries_are_rejected (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "", "a", "/a b", "/a=b", "/a@b", "/a%2fb", "/a%2", "/a%", "/%zz",
    "/a%41", "/\xc3\xbc", "/a+b", "/a?b", "/a#b",
  };
  static const char *const queries[] = {
    "a=b=c", "prefix=a/b", "a=b+c", "a=%2f", "a=b&", "&a=b", "a&&b", "=b",
    "a=b c", "a=%4", "a=%41",
  };
  SIGNED out = { 0 };
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    struct rd_s3_request request = get (paths[i], NULL);
    assert_fails (rd_s3_sign (&signing, &request, &out),
                  RADIO_ERROR_ARGUMENT, "the path");
  }
  for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
    struct rd_s3_request request = get ("/", queries[i]);
    assert_fails (rd_s3_sign (&signing, &request, &out),
                  RADIO_ERROR_ARGUMENT, "the query");
  }
  assert_int_equal (out.nlines, 0);
}

static void
a_path_is_signed_without_being_normalised (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "/a/../b", "/b", "/a//b", "/a/b", "/a/./b", "//a/b", "/a/b/", "/", "//",
  };
  enum { n = sizeof paths / sizeof paths[0] };
  char signatures[n][65];
  for (size_t i = 0; i < n; i++) {
    struct rd_s3_request request = get (paths[i], NULL);
    sign (&request, signatures[i]);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal (signatures[i], signatures[j]);
  }
}

/*------------------------------------------------------------------------
 * Queries and headers
 *----------------------------------------------------------------------*/

static void
assert_same_query (const char *a, const char *b)
{
  char signature[65], other[65];
  struct rd_s3_request request = get ("/", a);
  sign (&request, signature);
  request.query = b;
  sign (&request, other);
  assert_string_equal (signature, other);
}

static void
the_order_of_a_query_does_not_matter (void **state)
{
  (void) state;
  assert_same_query ("uploads", "uploads=");
  assert_same_query ("a-b=1&a=2", "a=2&a-b=1");
  assert_same_query ("a=2&a=10&a", "a&a=10&a=2");
  assert_same_query ("a%2F=1&a-=2&a=3", "a=3&a%2F=1&a-=2");
}

static void
sign_with (const struct rd_s3_header *headers, size_t n, char signature[65],
           char *names, size_t names_nbytes)
{
  SIGNED out = { 0 };
  struct rd_s3_request request = get ("/x", NULL);
  request.headers = headers;
  request.nheaders = n;
  assert_ok (rd_s3_sign (&signing, &request, &out));
  const char *line = line_of (&out, "authorization");
  const char *from = strstr (line, "SignedHeaders=") + 14;
  const char *to = strchr (from, ',');
  assert_true ((size_t) (to - from) < names_nbytes);
  memcpy (names, from, to - from);
  names[to - from] = '\0';
  memcpy (signature, line + strlen (line) - 64, 65);
}

static void
headers_are_sorted_by_their_names_alone (void **state)
{
  (void) state;
  char signature[65], other[65], names[256];
  const struct rd_s3_header headers[] = {
    { "X-Amz-Meta-A-B", "1" }, { "x-amz-meta-a", "2" },
  };
  const struct rd_s3_header turned[] = {
    { "x-amz-meta-a", "2" }, { "x-amz-meta-a-b", "1" },
  };
  sign_with (headers, 2, signature, names, sizeof names);
  assert_string_equal (names, "host;x-amz-content-sha256;x-amz-date;"
                       "x-amz-meta-a;x-amz-meta-a-b");
  sign_with (turned, 2, other, names, sizeof names);
  assert_string_equal (signature, other);
}

static void
repeated_headers_are_one_in_their_order (void **state)
{
  (void) state;
  char signature[65], other[65], names[256];
  const struct rd_s3_header repeated[] = {
    { "x-amz-meta-a", "z" }, { "date", "d" }, { "X-Amz-Meta-A", "b" },
  };
  const struct rd_s3_header merged[] = {
    { "date", "d" }, { "x-amz-meta-a", "z,b" },
  };
  const struct rd_s3_header turned[] = {
    { "x-amz-meta-a", "b" }, { "x-amz-meta-a", "z" }, { "date", "d" },
  };
  sign_with (repeated, 3, signature, names, sizeof names);
  assert_string_equal (names, "date;host;x-amz-content-sha256;x-amz-date;"
                       "x-amz-meta-a");
  sign_with (merged, 2, other, names, sizeof names);
  assert_string_equal (signature, other);
  sign_with (turned, 3, other, names, sizeof names);
  assert_string_not_equal (signature, other);
}

static void
blanks_of_a_value_count_once_and_not_at_its_ends (void **state)
{
  (void) state;
  char signature[65], other[65], names[256];
  const struct rd_s3_header wide = { "x-amz-meta-a", "  a \t  b  c\t" };
  const struct rd_s3_header narrow = { "x-amz-meta-a", "a b c" };
  const struct rd_s3_header joined = { "x-amz-meta-a", "ab c" };
  const struct rd_s3_header blank = { "x-amz-meta-a", "  " };
  const struct rd_s3_header empty = { "x-amz-meta-a", "" };
  sign_with (&wide, 1, signature, names, sizeof names);
  sign_with (&narrow, 1, other, names, sizeof names);
  assert_string_equal (signature, other);
  sign_with (&joined, 1, other, names, sizeof names);
  assert_string_not_equal (signature, other);
  sign_with (&blank, 1, signature, names, sizeof names);
  sign_with (&empty, 1, other, names, sizeof names);
  assert_string_equal (signature, other);
}

static void
headers_that_proxies_change_are_not_signed (void **state)
{
  (void) state;
  char signature[65], other[65], names[256];
  const struct rd_s3_header headers[] = {
    { "Expect", "100-continue" }, { "User-Agent", "radio" },
    { "Connection", "close" }, { "Transfer-Encoding", "chunked" },
    { "Upgrade", "h2c" }, { "X-Amzn-Trace-Id", "1" },
  };
  sign_with (headers, 6, signature, names, sizeof names);
  assert_string_equal (names, "host;x-amz-content-sha256;x-amz-date");
  sign_with (NULL, 0, other, names, sizeof names);
  assert_string_equal (signature, other);
}

static void
headers_that_cannot_be_sent_are_refused (void **state)
{
  (void) state;
  const struct rd_s3_header headers[] = {
    { "", "a" }, { NULL, "a" }, { "a b", "c" }, { "a:", "b" },
    { "x", "a\r\nb: c" }, { "x", "\x7f" }, { "x", NULL }, { "Host", "a" },
    { "AUTHORIZATION", "a" }, { "X-Amz-Date", "a" },
    { "x-amz-content-sha256", "a" }, { "x-amz-security-token", "a" },
  };
  SIGNED out = { 0 };
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    struct rd_s3_request request = get ("/", NULL);
    request.headers = &headers[i];
    request.nheaders = 1;
    assert_fails (rd_s3_sign (&signing, &request, &out),
                  RADIO_ERROR_ARGUMENT, "header");
  }
}

/*------------------------------------------------------------------------
 * Credentials, region and time
 *----------------------------------------------------------------------*/

static void
a_session_token_is_sent_and_signed (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  struct rd_s3_credentials credentials = example;
  struct rd_s3_signing temporary = signing;
  struct rd_s3_request request = get ("/test.txt", NULL);
  char without[65];
  sign (&request, without);
  credentials.session_token = (char *) "FwoGZXIvYXdzE//////////wEaD+/=";
  temporary.credentials = &credentials;
  assert_ok (rd_s3_sign (&temporary, &request, &out));
  assert_int_equal (out.nlines, RD_S3_SIGNED_NLINES);
  assert_string_equal (line_of (&out, "x-amz-security-token"),
                       credentials.session_token);
  const char *line = line_of (&out, "authorization");
  assert_non_null (strstr (line, ";x-amz-date;x-amz-security-token,"));
  assert_string_not_equal (line + strlen (line) - 64, without);
}

static void
anonymous_requests_are_not_signed (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  struct rd_s3_credentials none = { 0 };
  struct rd_s3_signing anonymous = signing;
  struct rd_s3_request request = get ("/", NULL);
  anonymous.credentials = &none;
  assert_ok (rd_s3_sign (&anonymous, &request, &out));
  assert_int_equal (out.nlines, 0);
}

static void
credentials_that_cannot_be_sent_are_refused_and_not_shown (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  const struct rd_s3_credentials wrong[] = {
    { (char *) "", (char *) SECRET, NULL, 0 },
    { (char *) "SHOWN", NULL, NULL, 0 },
    { (char *) "SHOWN\r\nx: y", (char *) SECRET, NULL, 0 },
    { (char *) "SHOWN", (char *) SECRET, (char *) "TO\nKEN", 0 },
    { (char *) "SHOWN", (char *) SECRET, (char *) "", 0 },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct rd_s3_signing other = signing;
    struct rd_s3_request request = get ("/", NULL);
    other.credentials = &wrong[i];
    assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                  "must");
    assert_null (strstr (radio_error_message (), "SHOWN"));
    assert_null (strstr (radio_error_message (), "KEN"));
    assert_null (strstr (radio_error_message (), SECRET));
  }
}

static void
a_place_or_time_without_name_is_rejected (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  struct rd_s3_request request = get ("/", NULL);
  struct rd_s3_signing other = signing;
  other.region = "";
  assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                "region");
  other.region = "a/b";
  assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                "'a/b': invalid region");
  other = signing;
  other.service = NULL;
  assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                "service");
  other = signing;
  other.now_s = INT64_MAX;
  assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                "Unix time");
  other.now_s = 253402300800;
  assert_fails (rd_s3_sign (&other, &request, &out), RADIO_ERROR_ARGUMENT,
                "253402300800");
  request.host = "a\nb";
  assert_fails (rd_s3_sign (&signing, &request, &out), RADIO_ERROR_ARGUMENT,
                "host");
}

static void
the_last_second_of_a_leap_year_is_written_right (void **state)
{
  (void) state;
  char text[RD_S3_TIME_NBYTES];
  assert_ok (rd_s3_time (1735689599, text));
  assert_string_equal (text, "20241231T235959Z");
  assert_ok (rd_s3_time (0, text));
  assert_string_equal (text, "19700101T000000Z");
  assert_ok (rd_s3_time (253402300799, text));
  assert_string_equal (text, "99991231T235959Z");
}

/*------------------------------------------------------------------------
 * The key of a day
 *----------------------------------------------------------------------*/

/* The cache's key after signing, which must be as without a cache. */
static void
assert_cached_right (struct rd_s3_key_cache *cache,
                     const struct rd_s3_signing *wanted)
{
  SIGNED out = { 0 }, other = { 0 };
  struct rd_s3_request request = get ("/x", NULL);
  struct rd_s3_signing cached = *wanted;
  cached.cache = cache;
  assert_ok (rd_s3_sign (wanted, &request, &out));
  for (int i = 0; i < 2; i++) {
    assert_ok (rd_s3_sign (&cached, &request, &other));
    assert_string_equal (line_of (&out, "authorization"),
                         line_of (&other, "authorization"));
    rd_s3_signed_free (&other);
  }
}

static void
a_kept_key_serves_its_secret_day_region_and_service_only (void **state)
{
  (void) state;
  struct rd_s3_key_cache cache;
  struct rd_s3_credentials credentials = example;
  struct rd_s3_signing other = signing;
  rd_s3_key_cache_init (&cache);
  other.credentials = &credentials;
  assert_cached_right (&cache, &other);
  other.now_s += 86399;
  assert_cached_right (&cache, &other);
  other.now_s += 1;
  assert_cached_right (&cache, &other);
  other.region = "us-east-1s3";
  assert_cached_right (&cache, &other);
  other.region = "us-east-1";
  other.service = "sts";
  assert_cached_right (&cache, &other);
  credentials.secret_key = (char *) "another";
  assert_cached_right (&cache, &other);
  rd_s3_key_cache_free (&cache);
}

static void
a_kept_key_is_not_derived_again (void **state)
{
  (void) state;
  SIGNED out = { 0 };
  struct rd_s3_key_cache cache;
  struct rd_s3_signing cached = signing;
  struct rd_s3_request request = get ("/x", NULL);
  rd_s3_key_cache_init (&cache);
  cached.cache = &cache;
  assert_ok (rd_s3_sign (&cached, &request, &out));
  rd_s3_signed_free (&out);
  /* Whatever is kept is used. */
  cache.synced.key[0] ^= 1;
  assert_ok (rd_s3_sign (&cached, &request, &out));
  char right[65];
  sign (&request, right);
  const char *line = line_of (&out, "authorization");
  assert_string_not_equal (line + strlen (line) - 64, right);
  rd_s3_key_cache_free (&cache);
}

#define NTHREADS 4

static void *
sign_often (void *data)
{
  struct rd_s3_signing own = signing;
  struct rd_s3_request request = get ("/x", NULL);
  own.cache = data;
  for (int i = 0; i < 200; i++) {
    SIGNED with = { 0 }, without = { 0 };
    struct rd_s3_signing plain = own;
    own.now_s = NOW_S + i % 3 * 86400;
    plain.now_s = own.now_s;
    plain.cache = NULL;
    if (rd_s3_sign (&own, &request, &with) != RADIO_OK
        || rd_s3_sign (&plain, &request, &without) != RADIO_OK
        || strcmp (line_of (&with, "authorization"),
                   line_of (&without, "authorization")) != 0)
      return data;
  }
  return NULL;
}

static void
threads_share_a_cache (void **state)
{
  (void) state;
  struct rd_s3_key_cache cache;
  pthread_t threads[NTHREADS];
  rd_s3_key_cache_init (&cache);
  for (int i = 0; i < NTHREADS; i++)
    assert_int_equal (
      pthread_create (&threads[i], NULL, sign_often, &cache), 0);
  for (int i = 0; i < NTHREADS; i++) {
    void *failed = &cache;
    assert_int_equal (pthread_join (threads[i], &failed), 0);
    assert_null (failed);
  }
  rd_s3_key_cache_free (&cache);
}

/*------------------------------------------------------------------------
 * Memory
 *----------------------------------------------------------------------*/

static enum radio_status
copy_and_sign (const struct rd_s3_request *request, struct rd_s3_signed *out)
{
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *made =
    NULL;
  struct rd_s3_signing own = signing;
  RD_TRY (rd_s3_credentials_new (KEY_ID, SECRET, "token", 0, &made));
  own.credentials = made;
  return rd_s3_sign (&own, request, out);
}

static void
without_memory_nothing_is_signed_and_nothing_leaks (void **state)
{
  (void) state;
  const struct rd_s3_header header = { "range", "bytes=0-9" };
  struct rd_s3_request request = get ("/test.txt", "a=b");
  request.headers = &header;
  request.nheaders = 1;
  uint64_t live = rd_alloc_live_count ();
  for (size_t nth = 1;; nth++) {
    SIGNED out = { 0 };
    alloc_fail_nth (nth);
    enum radio_status status = copy_and_sign (&request, &out);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_int_equal (out.nlines, 0);
    assert_int_equal (rd_alloc_live_count (), live);
  }
  assert_int_equal (rd_alloc_live_count (), live);
}

static void
credentials_are_copied_whole (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *a = NULL;
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *b = NULL;
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *c = NULL;
  assert_ok (rd_s3_credentials_new ("id", "secret", "token", 7, &a));
  assert_ok (rd_s3_credentials_copy (a, &b));
  assert_string_equal (b->access_key, "id");
  assert_string_equal (b->secret_key, "secret");
  assert_string_equal (b->session_token, "token");
  assert_int_equal (b->expires_s, 7);
  assert_ptr_not_equal (a->secret_key, b->secret_key);
  assert_ok (rd_s3_credentials_new (NULL, NULL, NULL, 0, &c));
  assert_null (c->access_key);
  rd_s3_credentials_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (get_of_a_range_is_signed_as_documented),
    cmocka_unit_test (put_of_an_object_is_signed_as_documented),
    cmocka_unit_test (a_query_without_value_is_signed_as_documented),
    cmocka_unit_test (a_list_is_signed_as_documented_in_any_order),
    cmocka_unit_test (the_seed_of_chunks_is_signed_as_documented),
    cmocka_unit_test (a_presigned_url_is_signed_as_documented),
    cmocka_unit_test (all_but_letters_digits_and_four_others_are_encoded),
    cmocka_unit_test (a_nul_byte_is_encoded_too),
    cmocka_unit_test (every_encoded_byte_can_be_signed),
    cmocka_unit_test (ambiguous_paths_and_queries_are_rejected),
    cmocka_unit_test (a_path_is_signed_without_being_normalised),
    cmocka_unit_test (the_order_of_a_query_does_not_matter),
    cmocka_unit_test (headers_are_sorted_by_their_names_alone),
    cmocka_unit_test (repeated_headers_are_one_in_their_order),
    cmocka_unit_test (blanks_of_a_value_count_once_and_not_at_its_ends),
    cmocka_unit_test (headers_that_proxies_change_are_not_signed),
    cmocka_unit_test (headers_that_cannot_be_sent_are_refused),
    cmocka_unit_test (a_session_token_is_sent_and_signed),
    cmocka_unit_test (anonymous_requests_are_not_signed),
    cmocka_unit_test (
      credentials_that_cannot_be_sent_are_refused_and_not_shown),
    cmocka_unit_test (a_place_or_time_without_name_is_rejected),
    cmocka_unit_test (the_last_second_of_a_leap_year_is_written_right),
    cmocka_unit_test (
      a_kept_key_serves_its_secret_day_region_and_service_only),
    cmocka_unit_test (a_kept_key_is_not_derived_again),
    cmocka_unit_test (threads_share_a_cache),
    cmocka_unit_test (without_memory_nothing_is_signed_and_nothing_leaks),
    cmocka_unit_test (credentials_are_copied_whole),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
