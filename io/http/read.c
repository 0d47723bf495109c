/* SPDX-License-Identifier: MIT */
/* One read of one object over HTTP: which bytes are asked for, and whether
 * those that come are these, and of the object that they were of before. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/http/read.h"
#include "io/range.h"

/* An object that is held: what it was when it was first heard of. */
struct rd_io_file {
  pthread_mutex_t mutex;
  char etag[sizeof ((struct rd_http_answer *) NULL)->etag];
};

/*------------------------------------------------------------------------
 * Answers
 *----------------------------------------------------------------------*/

/* FNV-1a of an ETag, which is opaque and may be long; 0: there is none. */
static uint64_t
version_of (const char *etag)
{
  uint64_t hash = 0xcbf29ce484222325;
  if (!*etag)
    return 0;
  for (; *etag; etag++)
    hash = (hash ^ (unsigned char) *etag) * 0x100000001b3;
  return hash ? hash : 1;
}

/* What is held must not change: its pieces would be of two objects. */
static enum radio_status
check_etag (const struct rd_http_task *task, struct rd_io_file *file)
{
  const char *etag = task->answer.etag;
  if (!file || !*etag)
    return RADIO_OK;
  RD_LOCK_SCOPE (&file->mutex);
  if (!*file->etag)
    memcpy (file->etag, etag, sizeof file->etag);
  if (strcmp (file->etag, etag) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_IO, "%s: the object was replaced while it was "
                  "read; read it again", rd_http_name (task));
}

/* The whole object. */
static enum radio_status
check_whole (const struct rd_http_read *read, size_t *nbytes)
{
  const struct rd_http_answer *answer = &read->task.answer;
  struct rd_io_get *get = read->get;
  struct rd_span span;
  if (!answer->has_nbytes && answer->is_chunked
      && get->range == RD_RANGE_ALL) {
    *nbytes = SIZE_MAX;
    return RADIO_OK;
  }
  if (!answer->has_nbytes)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: the server does not tell "
                    "the object's size", rd_http_name (&read->task));
  RD_TRY (rd_range_resolve (read->io, get, answer->nbytes, &span));
  if (read->task.method != RD_HTTP_HEAD && span.nbytes < answer->nbytes)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: the server does not serve "
                    "parts of objects (range requests)",
                    rd_http_name (&read->task));
  *nbytes = (size_t) span.nbytes;
  return RADIO_OK;
}

static enum radio_status
check_part (const struct rd_http_read *read, size_t *nbytes)
{
  const struct rd_http_answer *answer = &read->task.answer;
  struct rd_span span;
  if (!answer->has_range || !answer->has_total
      || read->get->range == RD_RANGE_ALL)
    return rd_fail (RADIO_ERROR_IO, "%s: the answer does not tell which part "
                    "of the object it is", rd_http_name (&read->task));
  RD_TRY (rd_range_resolve (read->io, read->get, answer->total,
                            &span));
  if (answer->first != span.offset || span.nbytes == 0
      || answer->last - answer->first != span.nbytes - 1
      || (answer->has_nbytes && answer->nbytes != span.nbytes))
    return rd_fail (RADIO_ERROR_IO, "%s: bytes %" PRIu64 "-%" PRIu64 " of "
                    "%" PRIu64 " came, which were not asked for",
                    rd_http_name (&read->task), answer->first, answer->last,
                    answer->total);
  *nbytes = (size_t) span.nbytes;
  return RADIO_OK;
}

static enum radio_status
fail_beyond (const struct rd_http_read *read)
{
  return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status 416",
                  rd_http_name (&read->task));
}

/* Status 416: nothing is there, as of an empty object's end. */
static enum radio_status
check_beyond (const struct rd_http_read *read, size_t *nbytes)
{
  const struct rd_http_answer *answer = &read->task.answer;
  struct rd_span span;
  if (!answer->has_total || read->get->range == RD_RANGE_ALL)
    return fail_beyond (read);
  RD_TRY (rd_range_resolve (read->io, read->get, answer->total,
                            &span));
  if (span.nbytes > 0)
    return fail_beyond (read);
  *nbytes = 0;
  return RADIO_OK;
}

bool
rd_http_read_knows (const struct rd_http_read *read)
{
  unsigned status = read->task.answer.status;
  return status == 200 || status == 206 || status == 416;
}

enum radio_status
rd_http_read_check (struct rd_http_read *read, size_t *nbytes)
{
  RD_TRY (check_etag (&read->task, read->get->file));
  switch (read->task.answer.status) {
  case 206:
    return check_part (read, nbytes);
  case 416:
    return check_beyond (read, nbytes);
  default:
    return check_whole (read, nbytes);
  }
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static const struct radio_site request_site = {
  "fetch", RD_IN_NETWORK, "http_get", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static void
end_request (const struct rd_http_read *read)
{
  struct radio_async *request = read->task.request;
  struct rd_counting counting = { 0 };
  if (request == NULL)
    return;
  rd_get_count (read->get, &counting);
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (counting.amounts[i] > 0)
      radio_async_add (request, rd_get_set.counters[i], counting.amounts[i]);
  radio_async_text (request, "key", read->get->key, RADIO_TEXT_NAME);
  radio_async_end (request);
}

void
rd_http_read_end (struct rd_http_read *read)
{
  struct rd_io_get *get = read->get;
  get->error = read->task.error;
  get->version = version_of (read->task.answer.etag);
  if (get->error.status != RADIO_OK)
    get->into->nbytes = 0;
  else if (get->range == RD_RANGE_ALL)
    get->object_nbytes = get->into->nbytes;
  end_request (read);
}

/* A part of no bytes is asked for by the headers alone. */
static void
set_range (struct rd_http_read *read)
{
  const struct rd_io_get *get = read->get;
  struct rd_http_task *task = &read->task;
  char *range = task->range;
  size_t room = sizeof task->range;
  if (get->range != RD_RANGE_ALL && get->nbytes == 0)
    task->method = RD_HTTP_HEAD;
  if (get->range == RD_RANGE_ALL || task->method == RD_HTTP_HEAD)
    return;
  if (get->range == RD_RANGE_SUFFIX)
    snprintf (range, room, "-%zu", get->nbytes);
  else
    snprintf (range, room, "%" PRIu64 "-%" PRIu64, get->offset,
              rd_add_sat (get->offset, get->nbytes - 1));
}

enum radio_status
rd_http_read_begin (struct rd_http_read *read, struct rd_http *http,
                    struct rd_io *io, struct rd_io_get *get)
{
  struct rd_http_task *task = &read->task;
  read->io = io;
  read->get = get;
  task->into = get->into;
  task->max_nbytes = get->nbytes;
  set_range (read);
  get->into->nbytes = 0;
  if (radio_profile_is_on ())
    task->request = radio_async_begin (&request_site);
  enum radio_status status = rd_http_submit (http, task);
  if (status != RADIO_OK)
    radio_async_end (task->request);
  return status;
}

enum radio_status
rd_http_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer none = { 0 };
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_SPAN, .into = &none,
  };
  RD_TRY (rd_io_read (io, &get));
  *nbytes = get.object_nbytes;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Objects that are held
 *----------------------------------------------------------------------*/

struct rd_io_file *
rd_http_hold (struct rd_io *io, const char *key, bool keep)
{
  (void) io, (void) key, (void) keep;
  struct rd_io_file *file = rd_calloc (1, sizeof *file);
  if (file)
    pthread_mutex_init (&file->mutex, NULL);
  return file;
}

void
rd_http_release (struct rd_io *io, struct rd_io_file *file)
{
  (void) io;
  pthread_mutex_destroy (&file->mutex);
  rd_free (file);
}

void
rd_http_forget (struct rd_io *io, const char *prefix)
{
  (void) io, (void) prefix;
}
