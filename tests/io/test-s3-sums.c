/* SPDX-License-Identifier: MIT */
/* Checksums of writes to S3, and servers without support for them. */
#include <config.h>

#include "io/s3/store.h"
#include "tests/io/s3-site.h"

#define PART_NBYTES ((size_t) 8 << 20)
#define SUM "\r\nx-amz-checksum-crc32c: "

/* CRC-32C of "123456789", the check value of the CRC's catalogues, and of
 * 8 MiB and 3 bytes of 'x', by google-crc32c; all in base64. */
#define DIGITS_SUM "4waSgw=="
#define FULL_SUM "22AVaw=="
#define REST_SUM "17qABQ=="

/* As over TLS, which the server of this process does not speak. */
static int
set_up (void **state)
{
  s3_site_set_up (state);
  struct s3_site *site = *state;
  ((struct rd_s3 *) site->io)->synced.sends_sums = true;
  return 0;
}

static enum radio_status
put (struct s3_site *site, enum rd_put how)
{
  return rd_io_put (site->io, "k", "123456789", 9, how);
}

static void
a_put_goes_with_the_checksum_of_its_bytes (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_REPLACE));
  s3_assert_heard (site, 0, SUM DIGITS_SUM "\r\n");
  s3_assert_heard (site, 0, "SignedHeaders=host;x-amz-checksum-crc32c;");
  s3_assert_all_sent (site);
}

static void
without_tls_none_is_sent (void **state)
{
  struct s3_site *site = *state;
  s3_site_open (site, S3_ACCESS_KEY, false);
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_REPLACE));
  s3_assert_unheard (site, 0, "x-amz-checksum");
  s3_assert_all_sent (site);
}

static const char *const refusals[][2] = {
  { "501 Not Implemented", "<Error><Code>NotImplemented</Code></Error>" },
  { "501 Not Implemented", "" },
  { "400 Bad Request", "<Error><Code>NotImplemented</Code><Message>A header "
    "(x-amz-checksum-crc32c) is not implemented</Message></Error>" },
  { "400 Bad Request", "<Error><Code>InvalidRequest</Code><Message>Checksum "
    "algorithm is not supported</Message></Error>" },
  { "400 Bad Request", "<Error><Code>InvalidArgument</Code><ArgumentName>"
    "x-amz-checksum-crc32c</ArgumentName></Error>" },
};

static void
a_server_that_refuses_them_gets_none_from_then_on (void **state)
{
  struct s3_site *site = *state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    ((struct rd_s3 *) site->io)->synced.sends_sums = true;
    s3_site_forget (site);
    s3_say (site, refusals[i][0], "", refusals[i][1]);
    s3_say (site, "200 OK", "", "");
    s3_say (site, "200 OK", "", "");
    assert_ok (put (site, RD_PUT_REPLACE));
    assert_ok (put (site, RD_PUT_REPLACE));
    s3_assert_heard (site, 0, SUM DIGITS_SUM "\r\n");
    s3_assert_unheard (site, 1, "x-amz-checksum");
    s3_assert_unheard (site, 2, "x-amz-checksum");
    assert_int_equal (http_peer_body (site->peer, 1)->nbytes, 9);
    s3_assert_all_sent (site);
  }
}

static void
other_refusals_are_not_taken_for_that (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "400 Bad Request", "", "InvalidRequest");
  assert_fails (put (site, RD_PUT_REPLACE), RADIO_ERROR_IO,
                "InvalidRequest");
  s3_say (site, "400 Bad Request", "", "<Error><Code>BadDigest</Code><Message>"
          "The checksum did not match</Message></Error>");
  assert_fails (put (site, RD_PUT_REPLACE), RADIO_ERROR_IO,
                "the data were corrupted");
  s3_assert_heard (site, 1, SUM DIGITS_SUM "\r\n");
  s3_assert_all_sent (site);
}

/* The probe is refused with and without: it is the condition. */
static void
a_condition_that_is_refused_costs_no_checksums (void **state)
{
  struct s3_site *site = *state;
  s3_site_open (site, S3_ACCESS_KEY, true);
  ((struct rd_s3 *) site->io)->synced.sends_sums = true;
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say (site, "204 No Content", "", "");
  s3_say (site, "404 Not Found", "", "");
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  s3_assert_heard (site, 0, SUM "AAAAAA==\r\n");
  s3_assert_unheard (site, 1, "x-amz-checksum");
  s3_assert_heard (site, 4, SUM DIGITS_SUM "\r\n");
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Parts
 *----------------------------------------------------------------------*/

#define BEGUN "<InitiateMultipartUploadResult><UploadId>up" \
  "</UploadId></InitiateMultipartUploadResult>"
#define COMPLETE "<CompleteMultipartUploadResult/>"
#define PART(number, sum) "<Part><PartNumber>" number "</PartNumber>" \
  "<ETag>tag</ETag>" sum "</Part>"
#define SUM_ELEMENT(sum) "<ChecksumCRC32C>" sum "</ChecksumCRC32C>"

/* A part, and three bytes. */
static void
write_two_parts (struct s3_site *site)
{
  struct rd_io_writer *writer;
  const size_t nbytes = PART_NBYTES + 3;
  unsigned char *bytes = malloc (nbytes);
  assert_non_null (bytes);
  memset (bytes, 'x', nbytes);
  const struct rd_part part = { bytes, nbytes };
  assert_ok (site->io->ops->create (site->io, "k", &writer));
  assert_ok (writer->ops->append (writer, &part, 1));
  assert_ok (writer->ops->commit (writer));
  free (bytes);
}

/* Both parts' answers, and that to the end. */
static void
say_the_rest (struct s3_site *site, const char *headers)
{
  for (int i = 0; i < 2; i++)
    s3_say (site, "200 OK", headers, "");
  s3_say (site, "200 OK", "", COMPLETE);
}

static void
assert_body (struct s3_site *site, size_t i, const char *text)
{
  const struct rd_buffer *body = http_peer_body (site->peer, i);
  assert_int_equal (body->nbytes, strlen (text));
  assert_memory_equal (body->data, text, body->nbytes);
}

static void
an_upload_sends_the_checksums_of_its_parts (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", BEGUN);
  say_the_rest (site, "ETag: tag\r\nx-amz-checksum-crc32c: AAAAAA==\r\n");
  write_two_parts (site);
  s3_assert_heard (site, 0, "\r\nx-amz-checksum-algorithm: CRC32C\r\n");
  /* Both are on their way at one time. */
  for (size_t i = 1; i <= 2; i++) {
    bool is_full = http_peer_body (site->peer, i)->nbytes == PART_NBYTES;
    s3_assert_heard (site, i, is_full ? SUM FULL_SUM : SUM REST_SUM);
  }
  s3_assert_unheard (site, 3, "x-amz-checksum");
  assert_body (site, 3, "<CompleteMultipartUpload>"
               PART ("1", SUM_ELEMENT (FULL_SUM))
               PART ("2", SUM_ELEMENT (REST_SUM))
               "</CompleteMultipartUpload>");
  s3_assert_all_sent (site);
}

/* Some servers reject unknown elements at completion. */
static void
a_server_that_ignores_checksums_gets_none_at_completion (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", BEGUN);
  say_the_rest (site, "ETag: tag\r\n");
  write_two_parts (site);
  assert_body (site, 3, "<CompleteMultipartUpload>" PART ("1", "")
               PART ("2", "") "</CompleteMultipartUpload>");
  s3_assert_all_sent (site);
}

static void
an_upload_that_was_begun_without_has_parts_without (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say (site, "200 OK", "", BEGUN);
  say_the_rest (site, "ETag: tag\r\n");
  write_two_parts (site);
  for (size_t i = 1; i <= 4; i++)
    s3_assert_unheard (site, i, "x-amz-checksum");
  assert_body (site, 4, "<CompleteMultipartUpload>" PART ("1", "")
               PART ("2", "") "</CompleteMultipartUpload>");
  s3_assert_all_sent (site);
}

#define SUM_TEST(fn) \
  cmocka_unit_test_setup_teardown (fn, set_up, s3_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SUM_TEST (a_put_goes_with_the_checksum_of_its_bytes),
    SUM_TEST (without_tls_none_is_sent),
    SUM_TEST (a_server_that_refuses_them_gets_none_from_then_on),
    SUM_TEST (other_refusals_are_not_taken_for_that),
    SUM_TEST (a_condition_that_is_refused_costs_no_checksums),
    SUM_TEST (an_upload_sends_the_checksums_of_its_parts),
    SUM_TEST (a_server_that_ignores_checksums_gets_none_at_completion),
    SUM_TEST (an_upload_that_was_begun_without_has_parts_without),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
