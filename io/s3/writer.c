/* SPDX-License-Identifier: MIT */
/* Objects that are written piece by piece.  What is small goes by one PUT;
 * what outgrows a part becomes an upload of many, of which a few are on
 * their way at one time: their buffers are all the memory that it takes. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/key.h"
#include "io/s3/file.h"
#include "io/s3/list.h"
#include "io/s3/write.h"
#include "io/s3/xml.h"

#define MAX_PARTS 10000
#define NLANES 4              /* parts on their way at one time */
#define MAX_ANSWER_NBYTES 65536

RD_S3_SITE (begin_site, "begin upload");
RD_S3_SITE (part_site, "put part");
RD_S3_SITE (complete_site, "complete upload");
RD_S3_SITE (abort_site, "abort upload");
RD_S3_SITE (put_site, "put");

struct writer;

/* What the end of the upload tells of a part. */
struct sent {
  char etag[sizeof ((struct rd_http_answer *) NULL)->etag];
  char crc32c[RD_S3_CRC32C_NBYTES];   /* "": it was sent without */
};

/* A part that is on its way, or a buffer for the next. */
struct lane {
  struct rd_s3_call call;     /* first */
  struct writer *writer;
  struct rd_buffer buffer;
  struct rd_part part;
  unsigned number;            /* 0: none is on its way */
  bool is_done;
};

struct writer {
  struct rd_io_writer base;
  struct rd_s3 *s3;
  struct rd_s3_upload upload; /* id: NULL: none was begun */
  char name[RD_S3_WRITER_NBYTES];
  enum radio_status status;   /* of the first that failed */
  struct rd_error error;
  uint64_t nbytes;
  unsigned nparts;
  bool has_sums;              /* the upload was begun for parts with them */
  struct rd_buffer sent;      /* a struct for each part */
  struct lane lanes[NLANES];
  size_t nlanes;              /* of them that are used */
  struct lane *filling;
  pthread_mutex_t mutex;      /* guards is_done of the lanes */
  pthread_cond_t was_done;
  char key[];
};

/*------------------------------------------------------------------------
 * Uploads
 *----------------------------------------------------------------------*/

static void
remember (struct rd_s3 *s3, struct rd_s3_upload *upload)
{
  RD_LOCK_SCOPE (&s3->mutex);
  upload->next = s3->synced.uploads;
  s3->synced.uploads = upload;
}

static void
forget (struct rd_s3 *s3, struct rd_s3_upload *upload)
{
  RD_LOCK_SCOPE (&s3->mutex);
  struct rd_s3_upload **at = &s3->synced.uploads;
  while (*at && *at != upload)
    at = &(*at)->next;
  if (*at)
    *at = upload->next;
}

static enum radio_status
take_id (const char *path, const char *text, void *user_data)
{
  char **id = user_data;
  if (strcmp (path, "InitiateMultipartUploadResult/UploadId") != 0)
    return RADIO_OK;
  return rd_s3_xml_keep (text, id);
}

/* One whose answer was lost is begun once more; sweep finds the first. */
static enum radio_status
begin_upload (struct writer *writer)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer answer = { 0 };
  RD_FREE char *id = NULL;
  char *query = RD_S3_JOIN ("uploads=");
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, writer->s3, RD_HTTP_POST, writer->key,
                           query));
  rd_s3_call_header (&call, RD_S3_WRITER_HEADER, writer->name);
  call.sum = (struct rd_s3_header) { "x-amz-checksum-algorithm", "CRC32C" };
  call.read.task.into = &answer;
  call.read.task.max_nbytes = MAX_ANSWER_NBYTES;
  RD_TRY (rd_s3_call_run (&call, &begin_site));
  RD_TRY (rd_s3_xml_read (&answer, call.name, take_id, &id));
  if (id == NULL || *id == '\0')
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the answer names no upload",
                    call.name);
  writer->upload.id = RD_STEAL (id);
  writer->has_sums = call.sent_sum;
  remember (writer->s3, &writer->upload);
  return RADIO_OK;
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
  return rd_s3_query_take (&text);
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

static void
end_part (struct rd_http_task *task)
{
  struct lane *lane = (struct lane *) task;
  struct writer *writer = lane->writer;
  radio_async_end (task->request);
  RD_LOCK_SCOPE (&writer->mutex);
  lane->is_done = true;
  pthread_cond_broadcast (&writer->was_done);
}

static enum radio_status
keep_sent (struct writer *writer, const struct lane *lane)
{
  const struct rd_s3_call *call = &lane->call;
  struct sent sent = { .crc32c = "" };
  if (!*call->read.task.answer.etag)
    return rd_fail (RADIO_ERROR_IO, "%s: the answer to a part has no ETag",
                    call->name);
  memcpy (sent.etag, call->read.task.answer.etag, sizeof sent.etag);
  /* Who knows it says it back; others may take none in the end. */
  if (call->sent_sum && call->read.task.answer.has_sum)
    memcpy (sent.crc32c, call->crc32c, sizeof sent.crc32c);
  memcpy (writer->sent.data + (lane->number - 1) * sizeof sent, &sent,
          sizeof sent);
  return RADIO_OK;
}

/* Wait for the part of a lane, if there is one. */
static enum radio_status
finish_part (struct writer *writer, struct lane *lane)
{
  if (lane->number == 0)
    return RADIO_OK;
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    RD_LOCK_SCOPE (&writer->mutex);
    while (!lane->is_done)
      pthread_cond_wait (&writer->was_done, &writer->mutex);
  }
  enum radio_status status = rd_error_raise (&lane->call.read.task.error);
  if (status == RADIO_OK)
    status = keep_sent (writer, lane);
  rd_s3_call_free (&lane->call);
  lane->number = 0;
  lane->buffer.nbytes = 0;
  return status;
}

static enum radio_status
make_room_for_sent (struct writer *writer)
{
  static const struct sent none = { .etag = "" };
  if (writer->nparts == MAX_PARTS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s/%s: an object of more than %d "
                    "parts of %zu bytes", writer->s3->base.uri, writer->key,
                    MAX_PARTS, RD_S3_PART_NBYTES);
  return rd_buffer_append (&writer->sent, &none, sizeof none);
}

static enum radio_status
start_part (struct writer *writer, struct lane *lane)
{
  struct rd_s3_call *call = &lane->call;
  RD_TRY (make_room_for_sent (writer));
  unsigned number = ++writer->nparts;
  char *query = upload_query (writer->upload.id, number);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  lane->part = (struct rd_part) { lane->buffer.data, lane->buffer.nbytes };
  lane->is_done = false;
  enum radio_status status = rd_s3_call_init (call, writer->s3, RD_HTTP_PUT,
                                              writer->key, query);
  if (status == RADIO_OK)
    status = rd_s3_call_body (call, &lane->part, 1);
  /* One that the upload was not begun for would be refused. */
  if (!writer->has_sums)
    call->sum.name = NULL;
  call->keeps_sum = writer->has_sums;
  if (status == RADIO_OK)
    status = rd_s3_call_start (call, &part_site, end_part);
  if (status != RADIO_OK) {
    rd_s3_call_free (call);
    return status;
  }
  lane->number = number;
  return RADIO_OK;
}

/* The first of a writer is its in any case: else writers could wait for each
 * other. */
static bool
take_lane (struct rd_s3 *s3, bool is_first)
{
  RD_LOCK_SCOPE (&s3->mutex);
  if (!is_first && s3->synced.nlanes >= s3->max_lanes)
    return false;
  s3->synced.nlanes++;
  return true;
}

static void
give_lanes (struct rd_s3 *s3, size_t n)
{
  RD_LOCK_SCOPE (&s3->mutex);
  s3->synced.nlanes -= n;
}

/* One that was not used yet, or the one that was sent first. */
static struct lane *
next_lane (struct writer *writer)
{
  size_t next = (size_t) (writer->filling - writer->lanes) + 1;
  if (next == writer->nlanes && next < NLANES
      && take_lane (writer->s3, false))
    writer->nlanes++;
  return &writer->lanes[next % writer->nlanes];
}

/* The lane that is filled is full: send it, and fill the next. */
static enum radio_status
send_part (struct writer *writer)
{
  if (!writer->upload.id)
    RD_TRY (begin_upload (writer));
  RD_TRY (start_part (writer, writer->filling));
  writer->filling = next_lane (writer);
  return finish_part (writer, writer->filling);
}

static enum radio_status
append_bytes (struct writer *writer, const struct rd_part *part)
{
  const unsigned char *bytes = part->data;
  for (size_t left = part->nbytes; left > 0;) {
    struct rd_buffer *buffer = &writer->filling->buffer;
    if (buffer->nbytes == RD_S3_PART_NBYTES)
      RD_TRY (send_part (writer));
    buffer = &writer->filling->buffer;
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
note_failure (struct writer *writer, enum radio_status status)
{
  if (status != RADIO_OK && writer->status == RADIO_OK) {
    writer->status = status;
    rd_error_save (&writer->error, status);
  }
  return status;
}

static enum radio_status
s3_append (struct rd_io_writer *base, const struct rd_part *parts, size_t n)
{
  struct writer *writer = (struct writer *) base;
  if (writer->status != RADIO_OK)
    return rd_error_raise (&writer->error);
  RD_SCOPE ("write", RD_IN_NETWORK);
  for (size_t i = 0; i < n; i++)
    RD_TRY (note_failure (writer, append_bytes (writer, &parts[i])));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The end
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

static void
free_writer (struct writer *writer)
{
  for (size_t i = 0; i < NLANES; i++)
    rd_buffer_free (&writer->lanes[i].buffer);
  give_lanes (writer->s3, writer->nlanes);
  rd_buffer_free (&writer->sent);
  rd_free ((char *) writer->upload.id);
  pthread_cond_destroy (&writer->was_done);
  pthread_mutex_destroy (&writer->mutex);
  rd_free (writer);
}

/* An upload that cannot be ended now is ended by sweep. */
static void
s3_abort (struct rd_io_writer *base)
{
  struct writer *writer = (struct writer *) base;
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_IO);
  (void) !finish_parts (writer);
  if (writer->upload.id) {
    (void) !rd_s3_upload_abort (writer->s3, writer->key, writer->upload.id);
    forget (writer->s3, &writer->upload);
  }
  free_writer (writer);
  rd_error_raise (&error);
}

static enum radio_status
append_element (struct rd_buffer *document, const char *begin,
                const char *text, const char *end)
{
  RD_TRY (rd_s3_append (document, begin));
  RD_TRY (rd_s3_xml_append (document, text));
  return rd_s3_append (document, end);
}

static enum radio_status
write_part (const struct sent *sent, unsigned number,
            struct rd_buffer *document)
{
  char digits[16];
  snprintf (digits, sizeof digits, "%u", number);
  RD_TRY (append_element (document, "<Part><PartNumber>", digits,
                          "</PartNumber>"));
  RD_TRY (append_element (document, "<ETag>", sent->etag, "</ETag>"));
  if (sent->crc32c[0])
    RD_TRY (append_element (document, "<ChecksumCRC32C>", sent->crc32c,
                            "</ChecksumCRC32C>"));
  return rd_s3_append (document, "</Part>");
}

static enum radio_status
write_parts (const struct writer *writer, struct rd_buffer *document)
{
  struct sent sent;
  RD_TRY (rd_s3_append (document, "<CompleteMultipartUpload>"));
  for (unsigned i = 0; i < writer->nparts; i++) {
    memcpy (&sent, writer->sent.data + i * sizeof sent, sizeof sent);
    RD_TRY (write_part (&sent, i + 1, document));
  }
  return rd_s3_append (document, "</CompleteMultipartUpload>");
}

static enum radio_status
take_completion (const char *path, const char *text, void *user_data)
{
  bool *was_done = user_data;
  (void) text;
  *was_done |= strcmp (path, "CompleteMultipartUploadResult") == 0;
  return RADIO_OK;
}

static enum radio_status
judge_completion (struct rd_s3_call *call, enum rd_http_next *next)
{
  const struct rd_buffer *body = call->read.task.into;
  bool was_done = false;
  if (!rd_http_is_good (call->problem.status))
    return rd_s3_judge (call, next);
  enum radio_status status = rd_s3_xml_read (body, call->name,
                                             take_completion, &was_done);
  if (was_done)
    return RADIO_OK;
  call->read.task.is_ambiguous = true;
  if (status != RADIO_OK) {
    *next = RD_HTTP_LATER;
    return status;
  }
  rd_s3_problem_read (&call->problem, &call->read.task.answer, body);
  *next = rd_s3_problem_next (&call->problem);
  return rd_s3_problem_fail (&call->problem, call->name, false);
}

static enum radio_status
complete (struct writer *writer)
{
  RD_BUFFER_SCOPE struct rd_buffer document = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer answer = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  bool is_ours = false;
  char *query = upload_query (writer->upload.id, 0);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, writer->s3, RD_HTTP_POST, writer->key,
                           query));
  RD_TRY (write_parts (writer, &document));
  const struct rd_part part = { document.data, document.nbytes };
  RD_TRY (rd_s3_call_body (&call, &part, 1));
  call.judge = judge_completion;
  call.read.task.into = &answer;
  call.read.task.max_nbytes = MAX_ANSWER_NBYTES;
  enum radio_status status = rd_s3_call_run (&call, &complete_site);
  /* The upload is gone when an answer before was lost. */
  if (status == RADIO_OK || !call.read.task.is_ambiguous)
    return status;
  struct rd_error error = call.read.task.error;
  RD_TRY (rd_s3_is_written_by (writer->s3, writer->key, writer->name,
                               writer->nbytes, &is_ours));
  return is_ours ? RADIO_OK : rd_error_raise (&error);
}

static enum radio_status
put_whole (struct writer *writer)
{
  const struct rd_buffer *buffer = &writer->filling->buffer;
  const struct rd_part part = { buffer->data, buffer->nbytes };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_call_init (&call, writer->s3, RD_HTTP_PUT, writer->key,
                           NULL));
  RD_TRY (rd_s3_call_body (&call, &part, 1));
  return rd_s3_call_run (&call, &put_site);
}

static enum radio_status
finish_upload (struct writer *writer)
{
  enum radio_status status = start_part (writer, writer->filling);
  enum radio_status sent = finish_parts (writer);
  RD_TRY (status == RADIO_OK ? sent : status);
  RD_TRY (complete (writer));
  forget (writer->s3, &writer->upload);
  rd_free ((char *) RD_STEAL (writer->upload.id));
  return RADIO_OK;
}

static enum radio_status
commit (struct writer *writer)
{
  if (writer->status != RADIO_OK)
    return rd_fail (writer->status, "%s/%s: not committed, since an earlier "
                    "write failed", writer->s3->base.uri, writer->key);
  RD_SCOPE ("publish", RD_IN_NETWORK);
  return writer->upload.id ? finish_upload (writer) : put_whole (writer);
}

static enum radio_status
s3_commit (struct rd_io_writer *base)
{
  struct writer *writer = (struct writer *) base;
  enum radio_status status = commit (writer);
  s3_abort (base);
  return status;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = s3_append,
  .commit = s3_commit,
  .abort = s3_abort,
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
  RD_TRY (rd_s3_writer_name (writer->name));
  memcpy (writer->key, key, nbytes);
  writer->base.ops = &writer_ops;
  writer->s3 = (struct rd_s3 *) io;
  writer->filling = writer->lanes;
  writer->nlanes = take_lane (writer->s3, true);
  for (size_t i = 0; i < NLANES; i++)
    writer->lanes[i].writer = writer;
  pthread_mutex_init (&writer->mutex, NULL);
  pthread_cond_init (&writer->was_done, NULL);
  *result = &RD_STEAL (writer)->base;
  return RADIO_OK;
}
