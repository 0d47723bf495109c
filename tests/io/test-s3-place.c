/* SPDX-License-Identifier: MIT */
/* The targets of requests to S3: hosts and paths by endpoint, addressing,
 * bucket and region; and the URIs, endpoints and regions that are refused. */
#include <config.h>

#include "io/s3/store.h"
#include "tests/io/store-asserts.h"

static void
requests_go_where_the_rules_say (void **state)
{
  (void) state;
  static const struct {
    const char *uri, *endpoint;
    enum rd_s3_addressing addressing;
    const char *region, *host, *path;
  } rows[] = {
    { "s3://bucket", NULL, RD_S3_ADDRESSING_AUTO, "us-east-1",
      "bucket.s3.us-east-1.amazonaws.com", "/a%20b" },
    { "s3://bucket/x/y/", NULL, RD_S3_ADDRESSING_AUTO, "cn-north-1",
      "bucket.s3.cn-north-1.amazonaws.com.cn", "/x/y/a%20b" },
    { "s3://my.bucket/x", NULL, RD_S3_ADDRESSING_AUTO, "eu-west-3",
      "s3.eu-west-3.amazonaws.com", "/my.bucket/x/a%20b" },
    { "s3://Old_Bucket", NULL, RD_S3_ADDRESSING_AUTO, "us-east-1",
      "s3.us-east-1.amazonaws.com", "/Old_Bucket/a%20b" },
    { "s3://bucket/x", NULL, RD_S3_ADDRESSING_PATH, "us-east-1",
      "s3.us-east-1.amazonaws.com", "/bucket/x/a%20b" },
    { "s3://bucket/x", "http://localhost:8000", RD_S3_ADDRESSING_AUTO, "r",
      "localhost:8000", "/bucket/x/a%20b" },
    { "s3://bucket/x", "http://localhost:80/", RD_S3_ADDRESSING_VIRTUAL, "r",
      "bucket.localhost", "/x/a%20b" },
    { "s3://bucket/x", "https://h:443/storage/v1/s3/",
      RD_S3_ADDRESSING_AUTO, "r", "h", "/storage/v1/s3/bucket/x/a%20b" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_s3_place place = { 0 };
    const struct rd_s3_options options = {
      .endpoint = rows[i].endpoint, .addressing = rows[i].addressing,
    };
    assert_ok (rd_s3_place_parse (&place, rows[i].uri, &options));
    char *host = rd_s3_place_host (&place, rows[i].region);
    char *path = rd_s3_place_path (&place, "a b");
    assert_string_equal (host, rows[i].host);
    assert_string_equal (path, rows[i].path);
    rd_free (host);
    rd_free (path);
    rd_s3_place_free (&place);
  }
}

static void
only_an_endpoint_with_http_gets_requests_without_tls (void **state)
{
  (void) state;
  static const struct {
    const char *endpoint;
    bool is_https;
  } rows[] = {
    { NULL, true }, { "https://host", true }, { "http://host", false },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_s3_place place = { 0 };
    const struct rd_s3_options options = { .endpoint = rows[i].endpoint };
    assert_ok (rd_s3_place_parse (&place, "s3://bucket", &options));
    assert_int_equal (place.is_https, rows[i].is_https);
    rd_s3_place_free (&place);
  }
}

static void
invalid_names_are_rejected_and_secrets_are_not_repeated (void **state)
{
  (void) state;
  static const struct {
    const char *uri, *endpoint, *region, *part;
  } rows[] = {
    { "s3://", NULL, NULL, "s3://: no bucket; give s3://BUCKET/PREFIX" },
    { "s3:///x", NULL, NULL, "s3:///x: no bucket; give s3://BUCKET/PREFIX" },
    { "s3://b\xc3\xbc" "cket/x", NULL, NULL, "invalid bucket" },
    { "s3://..", NULL, NULL, "invalid bucket name" },
    { "s3://key:secret@bucket/x", NULL, NULL, "must not contain a user" },
    { "s3://bucket/a//b", NULL, NULL, "is not a key" },
    { "s3://bucket/../b", NULL, NULL, "is not a key" },
    { "s3://bucket", "ftp://host", NULL, "http://" },
    { "s3://bucket", "http://me:secret@host", NULL, "must not contain a user" },
    { "s3://bucket", "http://host/?secret", NULL, "without '?'" },
    { "s3://bucket", "host:80:80", NULL, "the endpoint" },
    { "s3://bucket", NULL, "", "region '" },
    { "s3://bucket", NULL, "evil.example.com/x", "region 'evil" },
    { "s3://bucket", NULL, "a b", "region '" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_io *io = NULL;
    const struct rd_s3_options options = {
      .endpoint = rows[i].endpoint, .region = rows[i].region,
    };
    assert_fails (rd_io_open_with (rows[i].uri, true, &options, &io),
                  RADIO_ERROR_ARGUMENT, rows[i].part);
    assert_null (strstr (radio_error_message (), "secret"));
    assert_null (io);
  }
}

static void
the_store_is_named_by_its_uri (void **state)
{
  (void) state;
  struct rd_io *io;
  assert_ok (rd_io_open ("S3://bucket/a/b%20c//", false, &io));
  assert_string_equal (io->uri, "s3://bucket/a/b%20c");
  assert_string_equal (io->ops->name, "s3");
  rd_io_close (io);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (requests_go_where_the_rules_say),
    cmocka_unit_test (only_an_endpoint_with_http_gets_requests_without_tls),
    cmocka_unit_test (invalid_names_are_rejected_and_secrets_are_not_repeated),
    cmocka_unit_test (the_store_is_named_by_its_uri),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
