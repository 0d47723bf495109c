/* SPDX-License-Identifier: MIT */
/* Writes to S3 when responses get lost, contradict each other, or come from a
 * server that does not support the request. */
#include <config.h>

#include <sched.h>

#include "io/s3/store.h"
#include "tests/io/s3-site.h"

#define NO_CONTENT "204 No Content"
#define EXISTS "412 Precondition Failed"
#define PART_NBYTES ((size_t) 8 << 20)

/*------------------------------------------------------------------------
 * Put
 *----------------------------------------------------------------------*/

static enum radio_status
put (struct s3_site *site, enum rd_put how)
{
  return rd_io_put (site->io, "k", "bytes", 5, how);
}

/* The server shows that it can: the second of the same is refused. */
static void
say_able (struct s3_site *site)
{
  s3_say (site, "200 OK", "", "");
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  s3_say (site, NO_CONTENT, "", "");
}

static void
a_put_sends_its_length_and_digest (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "ETag: \"x\"\r\n", "");
  assert_ok (put (site, RD_PUT_REPLACE));
  s3_assert_heard (site, 0, "PUT /bucket/st/k HTTP/1.1\r\n");
  s3_assert_heard (site, 0, "\r\nContent-Length: 5\r\n");
  /* printf bytes | sha256sum */
  s3_assert_heard (site, 0, "\r\nx-amz-content-sha256: 277089d91c0bdf4f2e6862"
                   "ba7e4a07605119431f5d13f726dd352b06f1b206a9\r\n");
  s3_assert_unheard (site, 0, "if-none-match");
  assert_memory_equal (http_peer_body (site->peer, 0)->data, "bytes", 5);
}

static void
a_put_whose_answer_is_lost_is_sent_again (void **state)
{
  struct s3_site *site = *state;
  s3_say_nothing (site);
  s3_say_error (site, "503 Slow Down", "", "SlowDown");
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_REPLACE));
  assert_int_equal (http_peer_body (site->peer, 2)->nbytes, 5);
  s3_assert_all_sent (site);
}

static void
the_condition_is_probed_once_before_it_is_relied_on (void **state)
{
  struct s3_site *site = *state;
  say_able (site);
  s3_say (site, "200 OK", "", "");
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_EXISTS,
                "s3://bucket/st/k: exists already");
  s3_assert_heard (site, 0, "PUT /bucket/st/.radio-probe-");
  s3_assert_heard (site, 1, "PUT /bucket/st/.radio-probe-");
  s3_assert_heard (site, 2, "DELETE /bucket/st/.radio-probe-");
  s3_assert_heard (site, 3, "PUT /bucket/st/k ");
  for (size_t i = 0; i < 5; i++)
    if (i != 2)
      s3_assert_heard (site, i, "\r\nif-none-match: *\r\n");
  s3_assert_all_sent (site);
}

static void
a_put_to_nowhere_is_explained (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "404 Not Found", "", "");
  assert_fails (put (site, RD_PUT_REPLACE), RADIO_ERROR_IO, "k: the server "
                "cannot create it there; check the bucket's name");
  s3_assert_all_sent (site);
}

/* Without a probe, where there is an object that no one else puts. */
static void
the_condition_is_found_out_by_an_own_object (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "");
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  s3_say (site, "200 OK", "", "");
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_OWN));
  assert_ok (put (site, RD_PUT_OWN));
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  for (size_t i = 0; i < 4; i++) {
    s3_assert_heard (site, i, "PUT /bucket/st/k ");
    assert_memory_equal (http_peer_body (site->peer, i)->data, "bytes", 5);
  }
  s3_assert_unheard (site, 0, "if-none-match");
  s3_assert_heard (site, 1, "\r\nif-none-match: *\r\n");
  s3_assert_unheard (site, 2, "if-none-match");
  s3_assert_heard (site, 3, "\r\nif-none-match: *\r\n");
  s3_assert_all_sent (site);
}

/* Another process's gc may remove it before it is put again. */
static void
an_own_object_that_vanishes_blames_no_server (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "");
  s3_say (site, "200 OK", "", "");
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  assert_ok (put (site, RD_PUT_OWN));
  s3_assert_unheard (site, 0, "if-none-match");
  s3_assert_heard (site, 1, "\r\nif-none-match: *\r\n");
  s3_assert_heard (site, 2, "\r\nif-none-match: *\r\n");
  s3_assert_all_sent (site);
}

/* At once, before data are sent for nothing. */
static void
an_own_object_finds_a_server_that_ignores_the_condition (void **state)
{
  struct s3_site *site = *state;
  for (int i = 0; i < 3; i++)
    s3_say (site, "200 OK", "", "");
  for (int i = 0; i < 2; i++)
    assert_fails (put (site, RD_PUT_OWN), RADIO_ERROR_UNSUPPORTED,
                  "--single-writer");
  assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_UNSUPPORTED,
                "--single-writer");
  s3_assert_all_sent (site);
  s3_site_open (site, S3_ACCESS_KEY, true);
  for (int i = 0; i < 3; i++)
    s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_OWN));
  s3_assert_all_sent (site);
}

static void
a_server_that_ignores_the_condition_is_found_out (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "");
  s3_say (site, "200 OK", "", "");
  s3_say (site, NO_CONTENT, "", "");
  for (int i = 0; i < 2; i++)
    assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_UNSUPPORTED,
                  "--single-writer");
  s3_assert_all_sent (site);
}

static void
a_server_that_refuses_the_condition_is_as_one_that_ignores_it (void **state)
{
  struct s3_site *site = *state;
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say (site, NO_CONTENT, "", "");
  assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_UNSUPPORTED,
                "--single-writer");
  s3_assert_all_sent (site);
}

static void
a_single_writer_looks_first (void **state)
{
  struct s3_site *site = *state;
  s3_site_open (site, S3_ACCESS_KEY, true);
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say (site, NO_CONTENT, "", "");
  s3_say (site, "404 Not Found", "", "");
  s3_say (site, "200 OK", "", "");
  s3_say_head (site, "", 5);
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_EXISTS, "st/k");
  s3_assert_heard (site, 2, "HEAD /bucket/st/k ");
  s3_assert_heard (site, 3, "PUT /bucket/st/k ");
  s3_assert_unheard (site, 3, "if-none-match");
  s3_assert_all_sent (site);
}

#define WRITTEN_BY_US "x-amz-meta-radio-writer: " HTTP_PEER_WRITER "\r\n"
#define WRITTEN_BY_OTHERS \
  "x-amz-meta-radio-writer: 00000000000000000000000000000000\r\n"

static void
a_lost_answer_to_a_conditional_put_differs_from_another_writers (
  void **state)
{
  struct s3_site *site = *state;
  say_able (site);
  s3_say_nothing (site);
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  s3_say_head (site, WRITTEN_BY_US, 5);
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  s3_assert_all_sent (site);
  s3_site_forget (site);
  s3_say_error (site, "500 Internal", "", "InternalError");
  s3_say_error (site, EXISTS, "", "PreconditionFailed");
  s3_say_head (site, WRITTEN_BY_OTHERS, 5);
  assert_fails (put (site, RD_PUT_IF_ABSENT), RADIO_ERROR_EXISTS, "st/k");
  s3_assert_all_sent (site);
}

/* A server may refuse both of two concurrent writers for now. */
static void
a_conflict_is_no_object_that_exists (void **state)
{
  struct s3_site *site = *state;
  say_able (site);
  s3_say_error (site, "409 Conflict", "", "ConditionalRequestConflict");
  s3_say (site, "200 OK", "", "");
  assert_ok (put (site, RD_PUT_IF_ABSENT));
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Objects of many parts
 *----------------------------------------------------------------------*/

#define BEGUN "<InitiateMultipartUploadResult><UploadId>up+1" \
  "</UploadId></InitiateMultipartUploadResult>"
#define COMPLETE "<CompleteMultipartUploadResult><ETag>x</ETag>" \
  "</CompleteMultipartUploadResult>"

/* Parts go out at one time, so all their answers are the same. */
static void
say_two_parts (struct s3_site *site)
{
  s3_say (site, "200 OK", "", BEGUN);
  for (int i = 0; i < 2; i++)
    s3_say (site, "200 OK", "ETag: \"tag&1\"\r\n", "");
}

/* A part and a byte. */
static enum radio_status
write_two_parts (struct s3_site *site)
{
  struct rd_io_writer *writer;
  unsigned char *bytes = make_bytes (PART_NBYTES + 1);
  const struct rd_part parts[] = {
    { bytes, 100 }, { bytes + 100, PART_NBYTES - 99 },
  };
  assert_ok (site->io->ops->create (site->io, "k", &writer));
  enum radio_status status = writer->ops->append (writer, parts, 2);
  free (bytes);
  if (status == RADIO_OK)
    return writer->ops->commit (writer);
  rd_io_writer_abort (writer);
  return status;
}

static void
a_large_object_is_put_in_parts (void **state)
{
  static const char document[] = "<CompleteMultipartUpload><Part><PartNumber>"
    "1</PartNumber><ETag>&quot;tag&amp;1&quot;</ETag></Part><Part><PartNumber>"
    "2</PartNumber><ETag>&quot;tag&amp;1&quot;</ETag></Part>"
    "</CompleteMultipartUpload>";
  struct s3_site *site = *state;
  say_two_parts (site);
  s3_say (site, "200 OK", "", "\n  \n" COMPLETE);
  assert_ok (write_two_parts (site));
  s3_assert_heard (site, 0, "POST /bucket/st/k?uploads= HTTP/1.1\r\n");
  s3_assert_heard (site, 1, "&uploadId=up%2B1 HTTP/1.1\r\n");
  s3_assert_heard (site, 3, "POST /bucket/st/k?uploadId=up%2B1 HTTP/1.1\r\n");
  const struct rd_buffer *body = http_peer_body (site->peer, 3);
  assert_int_equal (body->nbytes, strlen (document));
  assert_memory_equal (body->data, document, body->nbytes);
  assert_int_equal (http_peer_body (site->peer, 1)->nbytes
                    + http_peer_body (site->peer, 2)->nbytes,
                    PART_NBYTES + 1);
  s3_assert_all_sent (site);
}

/* So each has another answer, and their order is known. */
static void
where_memory_is_scarce_parts_go_out_one_after_the_other (void **state)
{
  static const char *const tags[] = {
    "ETag: \"1\"\r\n", "ETag: \"2\"\r\n", "ETag: \"3\"\r\n",
  };
  static const char numbers[] = "123";
  char wanted[64];
  struct s3_site *site = *state;
  struct rd_s3 *s3 = (struct rd_s3 *) site->io;
  struct rd_io_writer *writer, *other;
  const struct rd_part part = { make_bytes (3 * PART_NBYTES),
                                3 * PART_NBYTES };
  s3->max_lanes = 2;
  s3_say (site, "200 OK", "", BEGUN);
  for (int i = 0; i < 3; i++)
    s3_say (site, "200 OK", tags[i], "");
  s3_say (site, "200 OK", "", COMPLETE);
  assert_ok (site->io->ops->create (site->io, "other", &other));
  assert_ok (site->io->ops->create (site->io, "k", &writer));
  assert_int_equal (s3->synced.nlanes, 2);
  assert_ok (writer->ops->append (writer, &part, 1));
  assert_int_equal (s3->synced.nlanes, 2);
  assert_ok (writer->ops->commit (writer));
  rd_io_writer_abort (other);
  assert_int_equal (s3->synced.nlanes, 0);
  const struct rd_buffer *body = http_peer_body (site->peer, 4);
  for (int i = 0; i < 3; i++) {
    snprintf (wanted, sizeof wanted, "<PartNumber>%c</PartNumber><ETag>"
              "&quot;%c&quot;", numbers[i], numbers[i]);
    assert_non_null (memmem (body->data, body->nbytes, wanted,
                             strlen (wanted)));
  }
  free ((void *) part.data);
  s3_assert_all_sent (site);
}

static void
a_part_that_fails_ends_the_upload (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", BEGUN);
  for (int i = 0; i < 2; i++)
    s3_say_error (site, "403 Forbidden", "", "AccessDenied");
  s3_say (site, NO_CONTENT, "", "");
  assert_fails (write_two_parts (site), RADIO_ERROR_PERMISSION,
                "access denied");
  s3_assert_heard (site, 3, "DELETE /bucket/st/k?uploadId=up%2B1 ");
  s3_assert_all_sent (site);
}

/* A writer of an object that is expected to be as large, whose upload has been
 * begun if it will be at once. */
static struct rd_io_writer *
expect (struct s3_site *site, uint64_t nbytes, bool begins)
{
  struct rd_io_writer *writer;
  unsigned nbefore = http_peer_requests (site->peer);
  assert_ok (site->io->ops->create (site->io, "k", &writer));
  rd_io_writer_expect (writer, nbytes);
  rd_io_writer_expect (writer, nbytes);
  while (begins && http_peer_requests (site->peer) == nbefore)
    sched_yield ();
  return writer;
}

static enum radio_status
append_zeros (struct rd_io_writer *writer, size_t nbytes)
{
  unsigned char *bytes = calloc (1, nbytes);
  const struct rd_part part = { bytes, nbytes };
  assert_non_null (bytes);
  enum radio_status status = writer->ops->append (writer, &part, 1);
  free (bytes);
  return status;
}

static void
the_upload_of_a_large_object_is_begun_before_its_bytes_are_there (
  void **state)
{
  struct s3_site *site = *state;
  say_two_parts (site);
  s3_say (site, "200 OK", "", COMPLETE);
  struct rd_io_writer *writer = expect (site, 2 * PART_NBYTES, true);
  assert_ok (append_zeros (writer, 5));
  rd_io_writer_expect (writer, 3 * PART_NBYTES);
  assert_ok (append_zeros (writer, PART_NBYTES));
  rd_io_writer_expect (writer, 3 * PART_NBYTES);
  assert_ok (writer->ops->commit (writer));
  s3_assert_heard (site, 0, "POST /bucket/st/k?uploads= HTTP/1.1\r\n");
  s3_assert_heard (site, 1, "&uploadId=up%2B1 HTTP/1.1\r\n");
  s3_assert_heard (site, 3, "POST /bucket/st/k?uploadId=up%2B1 HTTP/1.1\r\n");
  s3_assert_all_sent (site);
}

/* Without a request more. */
static void
an_object_that_is_expected_to_be_small_is_put (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "");
  struct rd_io_writer *writer = expect (site, PART_NBYTES, false);
  assert_ok (append_zeros (writer, PART_NBYTES));
  assert_ok (writer->ops->commit (writer));
  s3_assert_heard (site, 0, "PUT /bucket/st/k HTTP/1.1\r\n");
  s3_assert_all_sent (site);
}

static void
an_object_that_turns_out_small_is_put_and_its_upload_ended (void **state)
{
  static const size_t sizes[] = { 0, 5, PART_NBYTES };
  struct s3_site *site = *state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    s3_site_forget (site);
    s3_say (site, "200 OK", "", BEGUN);
    s3_say (site, "200 OK", "", "");
    s3_say (site, NO_CONTENT, "", "");
    struct rd_io_writer *writer = expect (site, 2 * PART_NBYTES, true);
    if (sizes[i] > 0)
      assert_ok (append_zeros (writer, sizes[i]));
    assert_ok (writer->ops->commit (writer));
    s3_assert_heard (site, 1, "PUT /bucket/st/k HTTP/1.1\r\n");
    assert_int_equal (http_peer_body (site->peer, 1)->nbytes, sizes[i]);
    s3_assert_heard (site, 2, "DELETE /bucket/st/k?uploadId=up%2B1 ");
    s3_assert_all_sent (site);
    assert_null (((struct rd_s3 *) site->io)->synced.uploads);
  }
}

/* Also while the response to its begin is on its way. */
static void
an_upload_that_was_begun_is_ended_with_its_writer (void **state)
{
  struct s3_site *site = *state;
  for (int waits = 0; waits <= 1; waits++) {
    s3_site_forget (site);
    s3_say (site, "200 OK", "", BEGUN);
    s3_say (site, NO_CONTENT, "", "");
    struct rd_io_writer *writer = expect (site, 2 * PART_NBYTES, waits);
    assert_ok (append_zeros (writer, 5));
    rd_io_writer_abort (writer);
    s3_assert_heard (site, 1, "DELETE /bucket/st/k?uploadId=up%2B1 ");
    s3_assert_all_sent (site);
  }
}

/* By the append that needs it, and all after it; an object that needs no upload
 * is written all the same. */
static void
an_upload_that_cannot_be_begun_is_an_error_where_it_is_needed (void **state)
{
  struct s3_site *site = *state;
  for (int is_small = 0; is_small <= 1; is_small++) {
    s3_site_forget (site);
    s3_say_error (site, "403 Forbidden", "", "AccessDenied");
    if (is_small)
      s3_say (site, "200 OK", "", "");
    struct rd_io_writer *writer = expect (site, 2 * PART_NBYTES, true);
    assert_ok (append_zeros (writer, 5));
    if (!is_small) {
      assert_fails (append_zeros (writer, PART_NBYTES),
                    RADIO_ERROR_PERMISSION, "st/k: access denied");
      assert_fails (append_zeros (writer, 1), RADIO_ERROR_PERMISSION,
                    "st/k: access denied");
      rd_io_writer_abort (writer);
    } else
      assert_ok (writer->ops->commit (writer));
    s3_assert_all_sent (site);
  }
}

static void
an_error_within_a_200_response_is_an_error (void **state)
{
  struct s3_site *site = *state;
  say_two_parts (site);
  s3_say (site, "200 OK", "", " \r\n<?xml version=\"1.0\"?>\n"
          "<Error><Code>InternalError</Code></Error>");
  s3_say (site, "200 OK", "", " \n<?xml version=\"1.0\"?>" COMPLETE);
  assert_ok (write_two_parts (site));
  s3_assert_all_sent (site);
  s3_site_forget (site);
  say_two_parts (site);
  s3_say (site, "200 OK", "", "<Error><Code>InvalidPart</Code></Error>");
  s3_say (site, "404 Not Found", "", "");
  s3_say (site, NO_CONTENT, "", "");
  assert_fails (write_two_parts (site), RADIO_ERROR_IO, "InvalidPart");
  s3_assert_heard (site, 5, "DELETE /bucket/st/k?uploadId=");
  s3_assert_all_sent (site);
}

static void
a_lost_answer_to_completing_is_recovered (void **state)
{
  struct s3_site *site = *state;
  static const char *const broken[] = { NULL, "<CompleteMultipartUploadRes" };
  for (size_t i = 0; i < 2; i++) {
    s3_site_forget (site);
    say_two_parts (site);
    if (broken[i])
      s3_say (site, "200 OK", "", broken[i]);
    else
      s3_say_nothing (site);
    s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
    s3_say_head (site, WRITTEN_BY_US, PART_NBYTES + 1);
    assert_ok (write_two_parts (site));
    s3_assert_all_sent (site);
  }
}

static void
an_upload_ended_by_another_process_is_an_error (void **state)
{
  struct s3_site *site = *state;
  say_two_parts (site);
  s3_say_nothing (site);
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  s3_say_head (site, WRITTEN_BY_OTHERS, PART_NBYTES + 1);
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  assert_fails (write_two_parts (site), RADIO_ERROR_NOT_FOUND,
                "no such upload");
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Removing
 *----------------------------------------------------------------------*/

#define LISTED "<ListBucketResult><Contents><Key>st/a&amp;b</Key><Size>1" \
  "</Size></Contents><Contents><Key>st/c</Key><Size>1</Size></Contents>" \
  "</ListBucketResult>"

static void
a_tree_is_removed_by_one_request (void **state)
{
  static const char document[] = "<Delete><Quiet>true</Quiet><Object><Key>"
    "st/a&amp;b</Key></Object><Object><Key>st/c</Key></Object></Delete>";
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", LISTED);
  s3_say (site, "200 OK", "", "<DeleteResult/>");
  assert_ok (site->io->ops->remove_tree (site->io, ""));
  s3_assert_heard (site, 1, "POST /bucket?delete= HTTP/1.1\r\n");
  s3_assert_heard (site, 1, "\r\ncontent-md5: ");
  const struct rd_buffer *body = http_peer_body (site->peer, 1);
  assert_int_equal (body->nbytes, strlen (document));
  assert_memory_equal (body->data, document, body->nbytes);
  s3_assert_all_sent (site);
}

static void
assert_removed_singly (struct s3_site *site, size_t first)
{
  s3_say (site, NO_CONTENT, "", "");
  s3_say_error (site, "403 Forbidden", "", "AccessDenied");
  assert_fails (site->io->ops->remove_tree (site->io, ""),
                RADIO_ERROR_PERMISSION, "s3://bucket/st/c: access");
  s3_assert_heard (site, first, "DELETE /bucket/st/a%26b ");
  s3_assert_all_sent (site);
}

/* A server without it is asked once. */
static void
objects_are_removed_singly_without_bulk_deletion (void **state)
{
  struct s3_site *site = *state;
  static const char *const answers[][2] = {
    { "200 OK", "<DeleteResult><Error><Code>AccessDenied</Code></Error>"
                "</DeleteResult>" },
    { "200 OK", "<DeleteResult" }, { "200 OK", "<html/>" },
    { "501 Not Implemented", "<Error><Code>NotImplemented</Code></Error>" },
  };
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    s3_site_forget (site);
    s3_say (site, "200 OK", "", LISTED);
    s3_say (site, answers[i][0], "", answers[i][1]);
    assert_removed_singly (site, 2);
  }
  s3_site_forget (site);
  s3_say (site, "200 OK", "", LISTED);
  assert_removed_singly (site, 1);
}

static void
keys_that_xml_cannot_hold_are_removed_singly (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "<ListBucketResult>"
          "<EncodingType>url</EncodingType><Contents><Key>st/a%01b"
          "</Key><Size>1</Size></Contents><Contents><Key>st/c</Key><Size>1"
          "</Size></Contents></ListBucketResult>");
  s3_say (site, NO_CONTENT, "", "");
  s3_say (site, NO_CONTENT, "", "");
  assert_ok (site->io->ops->remove_tree (site->io, ""));
  s3_assert_heard (site, 1, "DELETE /bucket/st/a%01b ");
  s3_assert_heard (site, 2, "DELETE /bucket/st/c ");
  s3_assert_all_sent (site);
}

/*------------------------------------------------------------------------
 * Sweeping
 *----------------------------------------------------------------------*/

#define UPLOAD(key, id, time) "<Upload><Key>" key "</Key><UploadId>" id \
  "</UploadId><Initiated>" time "</Initiated></Upload>"
#define UPLOADS(body) "<ListMultipartUploadsResult>" body \
  "<EncodingType>url</EncodingType></ListMultipartUploadsResult>"

#define PARTS(first, second) "<ListPartsResult><Part><PartNumber>1" \
  "</PartNumber><Size>" first "</Size></Part><Part><Size>" second \
  "</Size></Part><IsTruncated>false</IsTruncated></ListPartsResult>"

static void
old_uploads_are_ended_and_young_ones_are_not (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  for (int dry_run = 1; dry_run >= 0; dry_run--) {
    s3_site_forget (site);
    s3_say (site, "200 OK", "", "<ListBucketResult></ListBucketResult>");
    s3_say (site, "200 OK", "",
            UPLOADS ("<IsTruncated>true</IsTruncated><NextKeyMarker>st/m"
                     "</NextKeyMarker><NextUploadIdMarker>9"
                     "</NextUploadIdMarker>"
                     UPLOAD ("st/old", "1", "2020-02-29T00:00:00.000Z")
                     UPLOAD ("st/young", "2", "2999-01-01T00:00:00.000Z")));
    s3_say (site, "200 OK", "", PARTS ("8388608", "17"));
    if (!dry_run)
      s3_say (site, NO_CONTENT, "", "");
    s3_say (site, "200 OK", "",
            UPLOADS (UPLOAD ("st/odd", "3", "yesterday")
                     UPLOAD ("other", "4", "2020-02-29T00:00:00.000Z")
                     "<Upload><Key>st/when</Key><UploadId>6</UploadId>"
                     "</Upload>"
                     UPLOAD ("st/x%2By", "5", "2020-02-29T00:00:00Z")));
    s3_say (site, "200 OK", "", PARTS ("3", "4"));
    if (!dry_run)
      s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
    assert_ok (site->io->ops->sweep (site->io, "", dry_run, &swept));
    assert_int_equal (swept.n_files, dry_run ? 2 : 1);
    assert_int_equal (swept.nbytes, 8388625 + (dry_run ? 7 : 0));
    s3_assert_heard (site, 2, "GET /bucket/st/old?uploadId=1 ");
    s3_assert_heard (site, 1, "?encoding-type=url&prefix=st%2F&uploads= ");
    s3_assert_heard (site, dry_run ? 3 : 4, "&key-marker=st%2Fm&"
                     "upload-id-marker=9&");
    s3_assert_all_sent (site);
  }
}

/* As Ceph lists them; and a key that is not encoded. */
static void
uploads_with_undeclared_encoded_keys_are_aborted (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  s3_say (site, "200 OK", "", "<ListBucketResult></ListBucketResult>");
  s3_say (site, "200 OK", "", "<ListMultipartUploadsResult>"
          UPLOAD ("st/sub%2001", "1", "2020-02-29T00:00:00.000Z")
          UPLOAD ("st/a%20b", "2", "2020-02-29T00:00:00.000Z")
          "</ListMultipartUploadsResult>");
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  s3_say (site, "200 OK", "", PARTS ("5", "6"));
  s3_say (site, NO_CONTENT, "", "");
  s3_say (site, "200 OK", "", PARTS ("7", "-8"));
  s3_say (site, NO_CONTENT, "", "");
  assert_ok (site->io->ops->sweep (site->io, "", false, &swept));
  assert_int_equal (swept.n_files, 2);
  assert_int_equal (swept.nbytes, 18);
  s3_assert_heard (site, 3, "DELETE /bucket/st/sub%252001?uploadId=1 ");
  s3_assert_heard (site, 5, "DELETE /bucket/st/sub%2001?uploadId=1 ");
  s3_assert_heard (site, 7, "DELETE /bucket/st/a%2520b?uploadId=2 ");
  s3_assert_all_sent (site);
}

static void
a_dry_run_measures_an_upload_by_the_key_that_it_has (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  s3_say (site, "200 OK", "", "<ListMultipartUploadsResult>"
          UPLOAD ("st/ct/sub%2001", "1", "2020-02-29T00:00:00.000Z")
          UPLOAD ("st/ct/gone", "2", "2020-02-29T00:00:00.000Z")
          "</ListMultipartUploadsResult>");
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  s3_say (site, "200 OK", "", PARTS ("5", "6"));
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  assert_ok (site->io->ops->sweep (site->io, "ct", true, &swept));
  assert_int_equal (swept.n_files, 1);
  assert_int_equal (swept.nbytes, 11);
  s3_assert_heard (site, 2, "GET /bucket/st/ct/sub%2001?uploadId=1 ");
  s3_assert_all_sent (site);
}

/* Listing parts is a right of its own. */
static void
uploads_without_a_part_list_are_aborted_too (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  static const char *const answers[][2] = {
    { "403 Forbidden", "AccessDenied" },
    { "501 Not Implemented", "NotImplemented" },
  };
  for (size_t i = 0; i < 2; i++) {
    s3_site_forget (site);
    s3_say (site, "200 OK", "",
            UPLOADS (UPLOAD ("st/ct/a", "1", "2020-02-29T00:00:00.000Z")));
    s3_say_error (site, answers[i][0], "", answers[i][1]);
    s3_say (site, NO_CONTENT, "", "");
    assert_ok (site->io->ops->sweep (site->io, "ct", false, &swept));
    assert_int_equal (swept.n_files, 1);
    assert_int_equal (swept.nbytes, 0);
    s3_assert_all_sent (site);
  }
}

#define PROBE(key, time) "<Contents><Key>st/.radio-probe-" key "</Key>" \
  "<LastModified>" time "</LastModified><Size>0</Size></Contents>"

static void
probes_that_were_left_are_swept (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  s3_say (site, "200 OK", "", "<ListBucketResult>"
          PROBE ("0a", "2020-02-29T00:00:00Z")
          PROBE ("0b", "2999-01-01T00:00:00Z") "</ListBucketResult>");
  s3_say (site, NO_CONTENT, "", "");
  s3_say (site, "200 OK", "", UPLOADS (""));
  assert_ok (site->io->ops->sweep (site->io, "", false, &swept));
  assert_int_equal (swept.n_files, 1);
  s3_assert_heard (site, 0, "&prefix=st%2F.radio-probe- ");
  s3_assert_heard (site, 1, "DELETE /bucket/st/.radio-probe-0a ");
  s3_assert_all_sent (site);
}

/* A prefix that is swept has none. */
static void
a_server_without_uploads_has_none_to_sweep (void **state)
{
  struct s3_site *site = *state;
  struct rd_io_swept swept;
  s3_say_error (site, "501 Not Implemented", "", "NotImplemented");
  s3_say_error (site, "404 Not Found", "", "NoSuchUpload");
  for (unsigned i = 0; i < 2; i++) {
    assert_ok (site->io->ops->sweep (site->io, "ct", false, &swept));
    assert_int_equal (swept.n_files, 0);
  }
  s3_assert_all_sent (site);
}

#define SITE_TEST(fn) \
  cmocka_unit_test_setup_teardown (fn, s3_site_set_up, s3_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_TEST (a_put_sends_its_length_and_digest),
    SITE_TEST (a_put_whose_answer_is_lost_is_sent_again),
    SITE_TEST (the_condition_is_probed_once_before_it_is_relied_on),
    SITE_TEST (a_put_to_nowhere_is_explained),
    SITE_TEST (the_condition_is_found_out_by_an_own_object),
    SITE_TEST (an_own_object_that_vanishes_blames_no_server),
    SITE_TEST (an_own_object_finds_a_server_that_ignores_the_condition),
    SITE_TEST (a_server_that_ignores_the_condition_is_found_out),
    SITE_TEST (a_server_that_refuses_the_condition_is_as_one_that_ignores_it),
    SITE_TEST (a_single_writer_looks_first),
    SITE_TEST (a_lost_answer_to_a_conditional_put_differs_from_another_writers),
    SITE_TEST (a_conflict_is_no_object_that_exists),
    SITE_TEST (a_large_object_is_put_in_parts),
    SITE_TEST (where_memory_is_scarce_parts_go_out_one_after_the_other),
    SITE_TEST (a_part_that_fails_ends_the_upload),
    SITE_TEST (
      the_upload_of_a_large_object_is_begun_before_its_bytes_are_there),
    SITE_TEST (an_object_that_is_expected_to_be_small_is_put),
    SITE_TEST (an_object_that_turns_out_small_is_put_and_its_upload_ended),
    SITE_TEST (an_upload_that_was_begun_is_ended_with_its_writer),
    SITE_TEST (an_upload_that_cannot_be_begun_is_an_error_where_it_is_needed),
    SITE_TEST (an_error_within_a_200_response_is_an_error),
    SITE_TEST (a_lost_answer_to_completing_is_recovered),
    SITE_TEST (an_upload_ended_by_another_process_is_an_error),
    SITE_TEST (a_tree_is_removed_by_one_request),
    SITE_TEST (objects_are_removed_singly_without_bulk_deletion),
    SITE_TEST (keys_that_xml_cannot_hold_are_removed_singly),
    SITE_TEST (old_uploads_are_ended_and_young_ones_are_not),
    SITE_TEST (uploads_with_undeclared_encoded_keys_are_aborted),
    SITE_TEST (a_dry_run_measures_an_upload_by_the_key_that_it_has),
    SITE_TEST (uploads_without_a_part_list_are_aborted_too),
    SITE_TEST (probes_that_were_left_are_swept),
    SITE_TEST (a_server_without_uploads_has_none_to_sweep),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
