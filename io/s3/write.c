/* SPDX-License-Identifier: MIT */
/* Writes to S3: a PUT for small objects, multipart uploads for large ones.  A
 * writer sends a few parts concurrently, whose buffers are all the memory
 * that it takes.  The upload of an object that is expected to be large is begun
 * while its first part fills. */
#include <config.h>

#include <inttypes.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/text.h"
#include "io/percent.h"
#include "io/s3/store.h"
#include "io/s3/xml.h"

#define MAX_PARTS 10000

/* A larger object is not copied by one request. */
#define MAX_COPY_NBYTES ((uint64_t) 5 << 30)
#define NLANES 4              /* concurrent parts */

/* Expected sizes from which an upload is begun before a part is full: those of
 * a smaller object would be requests for nothing, and they are estimates. */
#define LEAST_EXPECTED_NBYTES (RD_S3_PART_NBYTES / 2 * 3)
#define MAX_RESPONSE_NBYTES 65536

RD_S3_SITE (put_site, "put");
RD_S3_SITE (look_site, "look");
RD_S3_SITE (probe_site, "probe");
RD_S3_SITE (duplicate_site, "copy");
RD_S3_SITE (begin_site, "begin upload");
RD_S3_SITE (part_site, "put part");
RD_S3_SITE (complete_site, "complete upload");
RD_S3_SITE (abort_site, "abort upload");

/*------------------------------------------------------------------------
 * The writer of an object: a header of random digits shows after a lost
 * response whether an object is ours
 *----------------------------------------------------------------------*/

#define WRITER_NBYTES 33
#define WRITER_HEADER "x-amz-meta-radio-writer"

static enum radio_status
make_writer_name (char name[WRITER_NBYTES])
{
  unsigned char bytes[WRITER_NBYTES / 2];
  if (RAND_bytes (bytes, sizeof bytes) != 1)
    return rd_fail (RADIO_ERROR_IO, "no random numbers are available");
  rd_hex_text (bytes, sizeof bytes, name);
  return RADIO_OK;
}

/* Finds out whether the object is of this writer and size. */
static enum radio_status
is_written_by (struct rd_s3 *s3, const char *key, const char *name,
               uint64_t nbytes, bool *result)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  *result = false;
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_HEAD, key, NULL));
  enum radio_status status = rd_s3_call_run (&call, &look_site);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  const struct rd_http_response *response = &call.read.task.response;
  *result = response->has_nbytes && response->nbytes == nbytes
            && strcmp (response->writer, name) == 0;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Conditional writes.  Some servers do not know the header of the condition
 * and replace the existing object: so each store finds that out once, before
 * it relies on it, by putting an object that exists under the condition.  That
 * must be one that no other writer can have put or replaced meanwhile, else
 * such a server would lose the other's bytes.  A level's document is: it is
 * put twice.  Where something else comes first, as where a store or collection
 * is made, there is no such object yet, since the documents above a level
 * come before it; then a probe is put twice and removed.
 *----------------------------------------------------------------------*/

static uint64_t
sum_nbytes (const struct rd_part *parts, size_t n)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += parts[i].nbytes;
  return nbytes;
}

static enum radio_status
put_if_absent (struct rd_s3 *s3, const char *key,
               const struct rd_part *parts, size_t n,
               const struct radio_site *site)
{
  char name[WRITER_NBYTES];
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (make_writer_name (name));
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_PUT, key, NULL));
  RD_TRY (rd_s3_call_body (&call, parts, n));
  rd_s3_call_header (&call, "if-none-match", "*");
  rd_s3_call_header (&call, WRITER_HEADER, name);
  enum radio_status status = rd_s3_call_run (&call, site);
  if (status != RADIO_ERROR_EXISTS)
    return status;
  /* The existing object may be ours, if a response was lost. */
  struct rd_error error;
  bool is_ours = false;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  if (call.read.task.is_ambiguous)
    RD_TRY (is_written_by (s3, key, name, sum_nbytes (parts, n), &is_ours));
  return is_ours ? RADIO_OK : rd_error_raise (&error);
}

/* A server with support rejects to put an object again.  key: one of ours that
 * was put; NULL: a probe's. */
static enum radio_status
get_support (struct rd_s3 *s3, const char *key, const struct rd_part *parts,
             size_t n, enum rd_s3_support *support)
{
  RD_LOCK_SCOPE (&s3->probe_mutex);
  pthread_mutex_lock (&s3->mutex);
  *support = s3->synced.if_absent;
  pthread_mutex_unlock (&s3->mutex);
  if (*support != RD_S3_UNKNOWN)
    return RADIO_OK;
  char probe[sizeof RD_S3_PROBE_NAME + WRITER_NBYTES];
  enum radio_status status = RADIO_OK;
  bool is_probe = key == NULL;
  if (is_probe) {
    char random[WRITER_NBYTES];
    RD_TRY (make_writer_name (random));
    snprintf (probe, sizeof probe, RD_S3_PROBE_NAME "%s", random);
    key = probe;
    status = put_if_absent (s3, key, NULL, 0, &probe_site);
  }
  if (status == RADIO_OK)
    status = put_if_absent (s3, key, parts, n, &probe_site);
  /* Another process may have removed an object that no document names yet;
   * now it is there again. */
  if (status == RADIO_OK && !is_probe)
    status = put_if_absent (s3, key, parts, n, &probe_site);
  *support = status == RADIO_ERROR_EXISTS ? RD_S3_SUPPORTED
                                          : RD_S3_UNSUPPORTED;
  if (status == RADIO_ERROR_EXISTS || status == RADIO_ERROR_UNSUPPORTED)
    status = RADIO_OK;
  struct rd_error error;
  rd_error_save (&error, status);
  /* If that fails, sweep removes it. */
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  if (is_probe
      && rd_s3_call_init (&call, s3, RD_HTTP_DELETE, key, NULL) == RADIO_OK)
    (void) !rd_s3_call_run (&call, &probe_site);
  RD_TRY (rd_error_raise (&error));
  pthread_mutex_lock (&s3->mutex);
  s3->synced.if_absent = *support;
  pthread_mutex_unlock (&s3->mutex);
  return RADIO_OK;
}

/* Without conditional writes there may be one writer only. */
static enum radio_status
check_support (const struct rd_s3 *s3, const char *key,
               enum rd_s3_support support)
{
  if (support == RD_S3_SUPPORTED || s3->single_writer)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: the server ignores "
                  "conditions of writes (If-None-Match), so that two writers "
                  "could replace each other's data; if there is only one, use "
                  "--single-writer (in a program single_writer of "
                  "radio_s3_options)", s3->base.uri, key);
}

/*------------------------------------------------------------------------
 * Put
 *----------------------------------------------------------------------*/

static enum radio_status
put_replace (struct rd_s3 *s3, const char *key, const struct rd_part *parts,
             size_t n)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_PUT, key, NULL));
  RD_TRY (rd_s3_call_body (&call, parts, n));
  return rd_s3_call_run (&call, &put_site);
}

static enum radio_status
put_own (struct rd_s3 *s3, const char *key, const struct rd_part *parts,
         size_t n)
{
  pthread_mutex_lock (&s3->mutex);
  enum rd_s3_support support = s3->synced.if_absent;
  pthread_mutex_unlock (&s3->mutex);
  if (support == RD_S3_UNSUPPORTED)
    RD_TRY (check_support (s3, key, support));
  RD_TRY (put_replace (s3, key, parts, n));
  RD_TRY (get_support (s3, key, parts, n, &support));
  return check_support (s3, key, support);
}

enum radio_status
rd_s3_put (struct rd_io *io, const char *key, const struct rd_part *parts,
           size_t n, enum rd_put how)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  enum rd_s3_support support;
  uint64_t nbytes;
  RD_TRY (rd_key_check (io, key));
  RD_SCOPE ("write", RD_IN_NETWORK);
  RD_COUNT (written, sum_nbytes (parts, n));
  if (how == RD_PUT_REPLACE)
    return put_replace (s3, key, parts, n);
  if (how == RD_PUT_OWN)
    return put_own (s3, key, parts, n);
  RD_TRY (get_support (s3, NULL, NULL, 0, &support));
  RD_TRY (check_support (s3, key, support));
  if (support == RD_S3_SUPPORTED)
    return put_if_absent (s3, key, parts, n, &put_site);
  RD_LOCK_SCOPE (&s3->probe_mutex);
  enum radio_status status = io->ops->size (io, key, &nbytes);
  if (status == RADIO_OK)
    return rd_fail (RADIO_ERROR_EXISTS, "%s/%s: exists already", io->uri,
                    key);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  return put_replace (s3, key, parts, n);
}

/*------------------------------------------------------------------------
 * Objects that are written in pieces: one PUT, or a multipart upload of those
 * that outgrow a part
 *----------------------------------------------------------------------*/

struct writer;

/* A part that was sent, for the request that completes the upload. */
struct sent {
  char etag[sizeof ((struct rd_http_response *) NULL)->etag];
  char crc32c[RD_S3_CRC32C_NBYTES];   /* "": it was sent without one */
};

/* A part that is being sent, or a buffer for the next. */
struct lane {
  struct rd_s3_call call;     /* first */
  struct writer *writer;
  struct rd_buffer buffer;
  struct rd_part part;
  unsigned number;            /* of the part; 0: none is being sent */
  bool is_done;
};

struct writer {
  struct rd_io_writer base;
  struct rd_s3 *s3;
  struct rd_s3_upload upload; /* id: NULL: none was begun */
  struct rd_s3_call begin;    /* the request that begins it */
  struct rd_buffer begun;     /* the response to that */
  bool is_beginning;          /* the request was sent, and not waited for */
  bool was_answered;
  char name[WRITER_NBYTES];
  enum radio_status status;   /* of the first append that failed */
  struct rd_error error;
  uint64_t nbytes;
  unsigned nparts;
  bool has_sums;              /* the upload was begun for parts with them */
  struct rd_buffer sent;      /* a struct for each part */
  struct lane lanes[NLANES];
  size_t nlanes;              /* of them that are used */
  struct lane *filling;
  pthread_mutex_t mutex;      /* guards was_answered, is_done of the lanes */
  pthread_cond_t was_done;
  char key[];
};

static void
unregister_upload (struct rd_s3 *s3, struct rd_s3_upload *upload)
{
  RD_LOCK_SCOPE (&s3->mutex);
  struct rd_s3_upload **at = &s3->synced.uploads;
  while (*at && *at != upload)
    at = &(*at)->next;
  if (*at)
    *at = upload->next;
}

static enum radio_status
read_upload_id (const char *path, const char *text, void *user_data)
{
  char **id = user_data;
  if (strcmp (path, "InitiateMultipartUploadResult/UploadId") != 0)
    return RADIO_OK;
  return rd_s3_xml_keep (text, id);
}

/* Waits until another thread has set a flag of the writer's. */
static void
wait_until (struct writer *writer, const bool *flag)
{
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  RD_LOCK_SCOPE (&writer->mutex);
  while (!*flag)
    pthread_cond_wait (&writer->was_done, &writer->mutex);
}

/* Called on the engine's thread when a request of the writer's has ended. */
static void
set_flag (struct writer *writer, const struct rd_http_task *task, bool *flag)
{
  radio_async_end (task->request);
  RD_LOCK_SCOPE (&writer->mutex);
  *flag = true;
  pthread_cond_broadcast (&writer->was_done);
}

static void
begin_done (struct rd_http_task *task)
{
  struct writer *writer = task->user_data;
  set_flag (writer, task, &writer->was_answered);
}

/* Sends the request that begins an upload.  A retry after a lost response
 * begins another one; sweep removes the first. */
static enum radio_status
start_upload (struct writer *writer)
{
  struct rd_s3_call *call = &writer->begin;
  char *query = RD_S3_JOIN ("uploads=");
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_s3_call_init (call, writer->s3, RD_HTTP_POST,
                                              writer->key, query);
  rd_s3_call_header (call, WRITER_HEADER, writer->name);
  call->sum = (struct rd_s3_header) { "x-amz-checksum-algorithm", "CRC32C" };
  call->read.task.into = &writer->begun;
  call->read.task.max_nbytes = MAX_RESPONSE_NBYTES;
  call->read.task.user_data = writer;
  writer->was_answered = false;
  if (status == RADIO_OK)
    status = rd_s3_call_start (call, &begin_site, begin_done);
  if (status != RADIO_OK)
    rd_s3_call_free (call);
  writer->is_beginning = status == RADIO_OK;
  return status;
}

static enum radio_status
read_begun (struct writer *writer)
{
  struct rd_s3 *s3 = writer->s3;
  const struct rd_s3_call *call = &writer->begin;
  RD_FREE char *id = NULL;
  RD_TRY (rd_error_raise (&call->read.task.error));
  RD_TRY (rd_s3_xml_read (&writer->begun, call->name, read_upload_id, &id));
  if (id == NULL || *id == '\0')
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the response has no UploadId",
                    call->name);
  writer->upload.id = RD_STEAL (id);
  writer->has_sums = call->sent_sum;
  RD_LOCK_SCOPE (&s3->mutex);
  writer->upload.next = s3->synced.uploads;
  s3->synced.uploads = &writer->upload;
  return RADIO_OK;
}

/* Waits for the response to that request, if it was sent. */
static enum radio_status
finish_begin (struct writer *writer)
{
  if (!writer->is_beginning)
    return RADIO_OK;
  wait_until (writer, &writer->was_answered);
  enum radio_status status = read_begun (writer);
  rd_s3_call_free (&writer->begin);
  writer->is_beginning = false;
  return status;
}

static bool
was_begun (const struct writer *writer)
{
  return writer->upload.id || writer->is_beginning;
}

/* If the request cannot be sent, it is sent again when a part is full. */
static void
s3_expect (struct rd_io_writer *base, uint64_t nbytes)
{
  struct writer *writer = (struct writer *) base;
  if (writer->status == RADIO_OK && !was_begun (writer)
      && nbytes >= LEAST_EXPECTED_NBYTES)
    (void) !start_upload (writer);
}

static char *
upload_query (const char *id, unsigned number)
{
  char digits[16];
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  snprintf (digits, sizeof digits, "%u", number);
  if (number > 0
      && rd_s3_query_add (&text, "partNumber", digits) != RADIO_OK)
    return NULL;
  if (rd_s3_query_add (&text, "uploadId", id) != RADIO_OK)
    return NULL;
  return rd_s3_query_copy (&text);
}

enum radio_status
rd_s3_upload_abort (struct rd_s3 *s3, const char *key, const char *id)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  char *query = upload_query (id, 0);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_DELETE, key, query));
  return rd_s3_call_run (&call, &abort_site);
}

/*------------------------------------------------------------------------
 * Parts
 *----------------------------------------------------------------------*/

/* Waits for the part of a lane, if there is one, and records it. */
static enum radio_status
finish_part (struct writer *writer, struct lane *lane)
{
  const struct rd_s3_call *call = &lane->call;
  const struct rd_http_response *response = &call->read.task.response;
  struct sent sent = { .crc32c = "" };
  if (lane->number == 0)
    return RADIO_OK;
  wait_until (writer, &lane->is_done);
  enum radio_status status = rd_error_raise (&call->read.task.error);
  if (status == RADIO_OK && !*response->etag) {
    status = rd_fail (RADIO_ERROR_IO, "%s: the response to a part has no "
                      "ETag", call->name);
  } else if (status == RADIO_OK) {
    memcpy (sent.etag, response->etag, sizeof sent.etag);
    /* A server that supports checksums returns them; others may reject them
     * when the upload is completed. */
    if (call->sent_sum && response->has_sum)
      memcpy (sent.crc32c, call->crc32c, sizeof sent.crc32c);
    memcpy (writer->sent.data + (lane->number - 1) * sizeof sent, &sent,
            sizeof sent);
  }
  rd_s3_call_free (&lane->call);
  lane->number = 0;
  lane->buffer.nbytes = 0;
  return status;
}

static void
part_done (struct rd_http_task *task)
{
  struct lane *lane = (struct lane *) task;
  set_flag (lane->writer, task, &lane->is_done);
}

static enum radio_status
start_part (struct writer *writer, struct lane *lane)
{
  static const struct sent none = { .etag = "" };
  struct rd_s3_call *call = &lane->call;
  if (writer->nparts == MAX_PARTS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s/%s: an object of more than %d "
                    "parts of %zu bytes", writer->s3->base.uri, writer->key,
                    MAX_PARTS, RD_S3_PART_NBYTES);
  RD_TRY (rd_buffer_append (&writer->sent, &none, sizeof none));
  if (!was_begun (writer))
    RD_TRY (start_upload (writer));
  unsigned number = ++writer->nparts;
  lane->part = (struct rd_part) { lane->buffer.data, lane->buffer.nbytes };
  lane->is_done = false;
  enum radio_status status = rd_s3_call_init (call, writer->s3, RD_HTTP_PUT,
                                              writer->key, NULL);
  /* Its digest is made while the upload is begun. */
  if (status == RADIO_OK)
    status = rd_s3_call_body (call, &lane->part, 1);
  if (status == RADIO_OK)
    status = finish_begin (writer);
  if (status == RADIO_OK) {
    call->query = upload_query (writer->upload.id, number);
    status = call->query ? RADIO_OK : RADIO_ERROR_MEMORY;
  }
  /* Only uploads that were begun with checksums accept them. */
  if (!writer->has_sums)
    call->sum.name = NULL;
  call->keeps_sum = writer->has_sums;
  if (status == RADIO_OK)
    status = rd_s3_call_start (call, &part_site, part_done);
  if (status != RADIO_OK) {
    rd_s3_call_free (call);
    return status;
  }
  lane->number = number;
  return RADIO_OK;
}

/* Reserves one of the store's lanes.  The first of a writer is unconditional:
 * else writers could deadlock. */
static bool
reserve_lane (struct rd_s3 *s3, bool is_first)
{
  RD_LOCK_SCOPE (&s3->mutex);
  if (!is_first && s3->synced.nlanes >= s3->max_lanes)
    return false;
  s3->synced.nlanes++;
  return true;
}

static enum radio_status
append_bytes (struct writer *writer, const struct rd_part *part)
{
  const unsigned char *bytes = part->data;
  for (size_t left = part->nbytes; left > 0;) {
    if (writer->filling->buffer.nbytes == RD_S3_PART_NBYTES) {
      /* Sends the full lane, and continues with an unused one, or with the
       * one that was sent first. */
      RD_TRY (start_part (writer, writer->filling));
      size_t next = (size_t) (writer->filling - writer->lanes) + 1;
      if (next == writer->nlanes && next < NLANES
          && reserve_lane (writer->s3, false))
        writer->nlanes++;
      writer->filling = &writer->lanes[next % writer->nlanes];
      RD_TRY (finish_part (writer, writer->filling));
    }
    struct rd_buffer *buffer = &writer->filling->buffer;
    size_t n = rd_min_u64 (left, RD_S3_PART_NBYTES - buffer->nbytes);
    RD_TRY (rd_buffer_append (buffer, bytes, n));
    writer->nbytes += n;
    RD_COUNT (written, n);
    bytes += n;
    left -= n;
  }
  return RADIO_OK;
}

static enum radio_status
s3_append (struct rd_io_writer *base, const struct rd_part *parts, size_t n)
{
  struct writer *writer = (struct writer *) base;
  if (writer->status != RADIO_OK)
    return rd_error_raise (&writer->error);
  RD_SCOPE ("write", RD_IN_NETWORK);
  for (size_t i = 0; i < n && writer->status == RADIO_OK; i++)
    writer->status = append_bytes (writer, &parts[i]);
  if (writer->status != RADIO_OK)
    rd_error_save (&writer->error, writer->status);
  return writer->status;
}

/*------------------------------------------------------------------------
 * Completing and aborting
 *----------------------------------------------------------------------*/

static enum radio_status
finish_parts (struct writer *writer)
{
  enum radio_status status = RADIO_OK;
  for (size_t i = 0; i < NLANES; i++) {
    enum radio_status one = finish_part (writer, &writer->lanes[i]);
    status = status == RADIO_OK ? one : status;
  }
  return status;
}

/* If aborting the upload fails, sweep removes it. */
static void
s3_abort (struct rd_io_writer *base)
{
  struct writer *writer = (struct writer *) base;
  struct rd_s3 *s3 = writer->s3;
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_IO);
  (void) !finish_begin (writer);
  (void) !finish_parts (writer);
  if (writer->upload.id) {
    (void) !rd_s3_upload_abort (s3, writer->key, writer->upload.id);
    unregister_upload (s3, &writer->upload);
  }
  for (size_t i = 0; i < NLANES; i++)
    rd_buffer_free (&writer->lanes[i].buffer);
  pthread_mutex_lock (&s3->mutex);
  s3->synced.nlanes -= writer->nlanes;
  pthread_mutex_unlock (&s3->mutex);
  rd_buffer_free (&writer->sent);
  rd_buffer_free (&writer->begun);
  rd_free ((char *) writer->upload.id);
  pthread_cond_destroy (&writer->was_done);
  pthread_mutex_destroy (&writer->mutex);
  rd_free (writer);
  rd_error_raise (&error);
}

static enum radio_status
read_completion_element (const char *path, const char *text, void *user_data)
{
  bool *was_done = user_data;
  (void) text;
  *was_done |= strcmp (path, "CompleteMultipartUploadResult") == 0
               || strcmp (path, "CopyObjectResult") == 0;
  return RADIO_OK;
}

/* A response with status 200 may contain an error. */
static enum radio_status
classify_completion (struct rd_s3_call *call, enum rd_http_next *next)
{
  const struct rd_buffer *body = call->read.task.into;
  bool was_done = false;
  if (!rd_http_is_good (call->error.status))
    return rd_s3_classify (call, next);
  enum radio_status status = rd_s3_xml_read (body, call->name,
                                             read_completion_element,
                                             &was_done);
  if (was_done)
    return RADIO_OK;
  call->read.task.is_ambiguous = true;
  if (status != RADIO_OK) {
    *next = RD_HTTP_RETRY_LATER;
    return status;
  }
  rd_s3_error_parse (&call->error, &call->read.task.response, body);
  *next = rd_s3_error_next (&call->error);
  return rd_s3_call_fail (call);
}

static enum radio_status
complete_upload (struct writer *writer)
{
  RD_BUFFER_SCOPE struct rd_buffer document = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer response = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  bool is_ours = false;
  char *query = upload_query (writer->upload.id, 0);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, writer->s3, RD_HTTP_POST, writer->key,
                           query));

  RD_TRY (rd_s3_append (&document, "<CompleteMultipartUpload>"));
  for (unsigned i = 0; i < writer->nparts; i++) {
    struct sent sent;
    char number[64];
    memcpy (&sent, writer->sent.data + i * sizeof sent, sizeof sent);
    snprintf (number, sizeof number,
              "<Part><PartNumber>%u</PartNumber><ETag>", i + 1);
    RD_TRY (rd_s3_append (&document, number));
    RD_TRY (rd_s3_xml_append (&document, sent.etag));
    RD_TRY (rd_s3_append (&document, "</ETag>"));
    if (sent.crc32c[0]) {
      RD_TRY (rd_s3_append (&document, "<ChecksumCRC32C>"));
      RD_TRY (rd_s3_xml_append (&document, sent.crc32c));
      RD_TRY (rd_s3_append (&document, "</ChecksumCRC32C>"));
    }
    RD_TRY (rd_s3_append (&document, "</Part>"));
  }
  RD_TRY (rd_s3_append (&document, "</CompleteMultipartUpload>"));

  const struct rd_part part = { document.data, document.nbytes };
  RD_TRY (rd_s3_call_body (&call, &part, 1));
  call.classify = classify_completion;
  call.read.task.into = &response;
  call.read.task.max_nbytes = MAX_RESPONSE_NBYTES;
  enum radio_status status = rd_s3_call_run (&call, &complete_site);
  /* The upload does not exist any more if a response was lost. */
  if (status == RADIO_OK || !call.read.task.is_ambiguous)
    return status;
  struct rd_error error = call.read.task.error;
  RD_TRY (is_written_by (writer->s3, writer->key, writer->name,
                         writer->nbytes, &is_ours));
  return is_ours ? RADIO_OK : rd_error_raise (&error);
}

static enum radio_status
s3_commit (struct rd_io_writer *base)
{
  RD_CLEANUP (rd_cleanup_io_writer) struct rd_io_writer *ended = base;
  struct writer *writer = (struct writer *) ended;
  const struct rd_buffer *buffer = &writer->filling->buffer;
  const struct rd_part part = { buffer->data, buffer->nbytes };
  if (writer->status != RADIO_OK)
    return rd_fail_uncommitted (&writer->s3->base, writer->key,
                                writer->status);
  RD_SCOPE ("publish", RD_IN_NETWORK);
  /* An upload that was begun for a larger object is aborted. */
  if (writer->nparts == 0)
    return put_replace (writer->s3, writer->key, &part, 1);
  enum radio_status status = start_part (writer, writer->filling);
  enum radio_status sent = finish_parts (writer);
  RD_TRY (status == RADIO_OK ? sent : status);
  RD_TRY (complete_upload (writer));
  unregister_upload (writer->s3, &writer->upload);
  rd_free ((char *) RD_STEAL (writer->upload.id));
  return RADIO_OK;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = s3_append,
  .commit = s3_commit,
  .abort = s3_abort,
  .expect = s3_expect,
};

enum radio_status
rd_s3_create (struct rd_io *io, const char *key,
              struct rd_io_writer **result)
{
  size_t nbytes = strlen (key) + 1;
  *result = NULL;
  RD_TRY (rd_key_check (io, key));
  RD_FREE struct writer *writer = rd_calloc (1, sizeof *writer + nbytes);
  if (writer == NULL)
    return rd_fail_memory (sizeof *writer + nbytes);
  RD_TRY (make_writer_name (writer->name));
  memcpy (writer->key, key, nbytes);
  writer->base.ops = &writer_ops;
  writer->s3 = (struct rd_s3 *) io;
  writer->filling = writer->lanes;
  writer->nlanes = reserve_lane (writer->s3, true);
  for (size_t i = 0; i < NLANES; i++)
    writer->lanes[i].writer = writer;
  pthread_mutex_init (&writer->mutex, NULL);
  pthread_cond_init (&writer->was_done, NULL);
  *result = &RD_STEAL (writer)->base;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Copies by the server
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_duplicate (struct rd_io *io, const char *from, uint64_t nbytes,
                 const char *key)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer response = { 0 };
  RD_TRY (rd_key_check (io, from));
  RD_TRY (rd_key_check (io, key));
  if (nbytes > MAX_COPY_NBYTES)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: %" PRIu64 " bytes are too "
                    "many for one request", io->uri, from, nbytes);
  RD_FREE char *full = rd_s3_place_key (&s3->place, from);
  RD_FREE char *encoded = full ? rd_percent_encode (full, strlen (full), true)
                               : NULL;
  size_t nsource = encoded ? strlen (encoded) + strlen (s3->place.bucket) + 3
                           : 0;
  RD_FREE char *source = encoded ? rd_malloc (nsource) : NULL;
  if (source == NULL)
    return rd_fail_memory (nsource);
  snprintf (source, nsource, "/%s/%s", s3->place.bucket, encoded);
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_PUT, key, NULL));
  RD_TRY (rd_s3_call_body (&call, NULL, 0));
  /* It would be that of an empty body. */
  call.sum.name = NULL;
  rd_s3_call_header (&call, "x-amz-copy-source", source);
  call.classify = classify_completion;
  call.read.task.into = &response;
  call.read.task.max_nbytes = MAX_RESPONSE_NBYTES;
  enum radio_status status = rd_s3_call_run (&call, &duplicate_site);
  /* It is the source that is missing. */
  return status == RADIO_ERROR_NOT_FOUND
         ? rd_fail (status, "%s/%s: no such object", io->uri, from) : status;
}
