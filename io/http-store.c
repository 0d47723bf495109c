/* SPDX-License-Identifier: MIT */
/* Stores that are only read: what a web server hands out as files, below a
 * URL.  Such a store cannot be listed. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/base/checked.h"
#include "profiler/counters.h"
#include "io/http.h"
#include "io/key.h"
#include "io/range.h"
#include "io/stores.h"

/* As the object stores' clients have it: a gap of a megabyte costs less
 * than another trip. */
#define GAP_NBYTES 1048576
#define CAP_NBYTES 16777216

struct http_store {
  struct rd_io base;
  struct rd_http *http;
};

/* An object that is held: what it was when it was first heard of. */
struct rd_io_file {
  pthread_mutex_t mutex;
  char etag[sizeof ((struct rd_http_answer *) NULL)->etag];
};

/* One read. */
struct read {
  struct rd_http_task task;           /* first */
  struct http_store *store;
  struct rd_io_get *get;
  char *url;
};

/*------------------------------------------------------------------------
 * Answers
 *----------------------------------------------------------------------*/

static enum radio_status
fail_answer (const struct rd_http_task *task)
{
  unsigned status = task->answer.status;
  switch (status) {
  case 404: case 410:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such object", task->url);
  case 401: case 403:
    return rd_fail (RADIO_ERROR_PERMISSION, "%s: the server refuses "
                    "(status %u)", task->url, status);
  default:
    return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status %u",
                    task->url, status);
  }
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
                  "read; read it again", task->url);
}

/* The whole object. */
static enum radio_status
check_whole (const struct read *read, size_t *nbytes)
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
                    "the object's size", read->task.url);
  RD_TRY (rd_range_resolve (&read->store->base, get, answer->nbytes, &span));
  if (read->task.method != RD_HTTP_HEAD && span.nbytes < answer->nbytes)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: the server does not serve "
                    "parts of objects (range requests)", read->task.url);
  *nbytes = (size_t) span.nbytes;
  return RADIO_OK;
}

static enum radio_status
check_part (const struct read *read, size_t *nbytes)
{
  const struct rd_http_answer *answer = &read->task.answer;
  struct rd_span span;
  if (!answer->has_range || !answer->has_total
      || read->get->range == RD_RANGE_ALL)
    return rd_fail (RADIO_ERROR_IO, "%s: the answer does not tell which part "
                    "of the object it is", read->task.url);
  RD_TRY (rd_range_resolve (&read->store->base, read->get, answer->total,
                            &span));
  if (answer->first != span.offset || span.nbytes == 0
      || answer->last - answer->first != span.nbytes - 1
      || (answer->has_nbytes && answer->nbytes != span.nbytes))
    return rd_fail (RADIO_ERROR_IO, "%s: bytes %" PRIu64 "-%" PRIu64 " of "
                    "%" PRIu64 " came, which were not asked for",
                    read->task.url, answer->first, answer->last,
                    answer->total);
  *nbytes = (size_t) span.nbytes;
  return RADIO_OK;
}

/* Status 416: nothing is there, as of an empty object's end. */
static enum radio_status
check_beyond (const struct read *read, size_t *nbytes)
{
  const struct rd_http_answer *answer = &read->task.answer;
  struct rd_span span;
  if (!answer->has_total || read->get->range == RD_RANGE_ALL)
    return fail_answer (&read->task);
  RD_TRY (rd_range_resolve (&read->store->base, read->get, answer->total,
                            &span));
  if (span.nbytes > 0)
    return fail_answer (&read->task);
  *nbytes = 0;
  return RADIO_OK;
}

static enum radio_status
check (struct rd_http_task *task, size_t *nbytes)
{
  struct read *read = (struct read *) task;
  switch (task->answer.status) {
  case 200:
    RD_TRY (check_etag (task, read->get->file));
    return check_whole (read, nbytes);
  case 206:
    RD_TRY (check_etag (task, read->get->file));
    return check_part (read, nbytes);
  case 416:
    RD_TRY (check_etag (task, read->get->file));
    return check_beyond (read, nbytes);
  default:
    return fail_answer (task);
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
end_request (const struct read *read)
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

static void
finish (struct rd_http_task *task)
{
  struct read *read = (struct read *) task;
  struct rd_io_get *get = read->get;
  get->error = task->error;
  if (get->error.status != RADIO_OK)
    get->into->nbytes = 0;
  else if (get->range == RD_RANGE_ALL)
    get->object_nbytes = get->into->nbytes;
  end_request (read);
  rd_free (read->url);
  rd_free (read);
  get->done (get);
}

/* A part of no bytes is asked for by the headers alone. */
static void
set_range (struct read *read)
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

static enum radio_status
submit (struct http_store *store, struct rd_io_get *get)
{
  RD_TRY (rd_key_check (&store->base, get->key));
  RD_FREE struct read *read = rd_calloc (1, sizeof *read);
  if (read == NULL)
    return rd_fail_memory (sizeof *read);
  RD_FREE char *url = rd_http_join (store->base.uri, get->key);
  if (url == NULL)
    return RADIO_ERROR_MEMORY;
  read->store = store;
  read->get = get;
  read->url = url;
  read->task = (struct rd_http_task) {
    .url = url, .into = get->into, .max_nbytes = get->nbytes,
    .check = check, .done = finish,
  };
  set_range (read);
  get->into->nbytes = 0;
  if (radio_profile_is_on ())
    read->task.request = radio_async_begin (&request_site);
  enum radio_status status = rd_http_submit (store->http, &read->task);
  if (status != RADIO_OK) {
    radio_async_end (read->task.request);
    return status;
  }
  (void) RD_STEAL (url);
  (void) RD_STEAL (read);
  return RADIO_OK;
}

static void
http_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = submit ((struct http_store *) io, &gets[i]);
    if (status != RADIO_OK)
      rd_get_finish (&gets[i], status);
  }
}

static enum radio_status
http_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer none = { 0 };
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_SPAN, .into = &none,
  };
  RD_TRY (rd_io_read (io, &get));
  *nbytes = get.object_nbytes;
  return RADIO_OK;
}

static struct rd_io_file *
http_hold (struct rd_io *io, const char *key, bool keep)
{
  (void) io, (void) key, (void) keep;
  struct rd_io_file *file = rd_calloc (1, sizeof *file);
  if (file)
    pthread_mutex_init (&file->mutex, NULL);
  return file;
}

static void
http_release (struct rd_io *io, struct rd_io_file *file)
{
  (void) io;
  pthread_mutex_destroy (&file->mutex);
  rd_free (file);
}

static void
http_forget (struct rd_io *io, const char *prefix)
{
  (void) io, (void) prefix;
}

/*------------------------------------------------------------------------
 * What cannot be done
 *----------------------------------------------------------------------*/

static enum radio_status
fail_read_only (const struct rd_io *io)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a store behind http is only "
                  "read", io->uri);
}

static enum radio_status
http_list (struct rd_io *io, const char *prefix, bool recursive,
           rd_io_list_fn *fn, void *user_data)
{
  (void) prefix, (void) recursive, (void) fn, (void) user_data;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a store behind http cannot "
                  "be listed: name the volume as COLLECTION/NAME", io->uri);
}

static enum radio_status
http_put (struct rd_io *io, const char *key, const struct rd_part *parts,
          size_t n, enum rd_put how)
{
  (void) key, (void) parts, (void) n, (void) how;
  return fail_read_only (io);
}

static enum radio_status
http_create (struct rd_io *io, const char *key, struct rd_io_writer **writer)
{
  (void) key, (void) writer;
  return fail_read_only (io);
}

static enum radio_status
http_remove (struct rd_io *io, const char *key)
{
  (void) key;
  return fail_read_only (io);
}

static enum radio_status
http_lock (struct rd_io *io, const char *prefix, bool wait,
           struct rd_io_lock **lock)
{
  (void) prefix, (void) wait, (void) lock;
  return fail_read_only (io);
}

static enum radio_status
http_sweep (struct rd_io *io, const char *prefix, bool dry_run,
            struct rd_io_swept *swept)
{
  (void) prefix, (void) dry_run, (void) swept;
  return fail_read_only (io);
}

static void
http_close (struct rd_io *io)
{
  struct http_store *store = (struct http_store *) io;
  rd_http_close (store->http);
  rd_free (io->uri);
  rd_free (store);
}

static const struct rd_io_ops http_ops = {
  .name = "http",
  .is_blocking = false,
  .coalesce_gap_nbytes = GAP_NBYTES,
  .coalesce_cap_nbytes = CAP_NBYTES,
  .close = http_close,
  .get = http_get,
  .hold = http_hold,
  .release = http_release,
  .forget = http_forget,
  .size = http_size,
  .list = http_list,
  .put = http_put,
  .create = http_create,
  .remove = http_remove,
  .remove_tree = http_remove,
  .lock = http_lock,
  .sweep = http_sweep,
};

enum radio_status
rd_io_http_open (const char *url, const struct rd_http_options *options,
                 struct rd_io **io)
{
  RD_TRY (rd_http_check_url (url));
  size_t n = strlen (url);
  while (n > 0 && url[n - 1] == '/')
    n--;
  RD_FREE struct http_store *store = rd_calloc (1, sizeof *store);
  if (store == NULL)
    return rd_fail_memory (sizeof *store);
  RD_FREE char *uri = rd_strndup (url, n);
  if (uri == NULL)
    return rd_fail_memory (n + 1);
  RD_TRY (rd_http_open (options, &store->http));
  store->base.ops = &http_ops;
  store->base.uri = RD_STEAL (uri);
  *io = &RD_STEAL (store)->base;
  return RADIO_OK;
}
