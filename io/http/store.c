/* SPDX-License-Identifier: MIT */
/* Objects over HTTP: reads, which the S3 store shares, and the read-only
 * HTTP store. */
#include <config.h>

#include <curl/curl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "profiler/counters.h"
#include "io/http/http.h"
#include "io/percent.h"
#include "io/store.h"

/*------------------------------------------------------------------------
 * Checking responses
 *----------------------------------------------------------------------*/

/* An object that is held: its ETag in the first response. */
struct rd_io_file {
  pthread_mutex_t mutex;      /* guards the ETag */
  char etag[sizeof ((struct rd_http_response *) NULL)->etag];
};

/* A version of an object: a hash of the ETag, which is opaque and may be long;
 * 0 without one. */
static uint64_t
version_of (const struct rd_http_response *response)
{
  uint64_t hash = rd_hash_text (response->etag);
  return *response->etag ? (hash ? hash : 1) : 0;
}

/* Pieces of two objects must not be mixed: not of one that is held, nor of one
 * whose version or size the caller knows.  A single response of another object
 * may be wrong; two in a row that agree show that it was replaced. */
static enum radio_status
check_object (struct rd_http_read *read, uint64_t object_nbytes)
{
  const struct rd_http_response *response = &read->task.response;
  const struct rd_io_get *get = read->get;
  struct rd_io_file *file = get->file;
  uint64_t version = version_of (response);
  bool is_other = get->version && version && get->version != version;
  is_other |= read->expected_nbytes
              && read->expected_nbytes != object_nbytes;
  if (file && *response->etag) {
    RD_LOCK_SCOPE (&file->mutex);
    if (!*file->etag && !is_other)
      memcpy (file->etag, response->etag, sizeof file->etag);
    is_other |= strcmp (file->etag, response->etag) != 0;
  }
  read->get->is_other = is_other;
  if (!is_other)
    return RADIO_OK;
  uint64_t other = (version ^ object_nbytes) | 1;
  read->task.is_believed = read->other_object == other;
  read->other_object = other;
  return rd_fail (RADIO_ERROR_IO, "%s: the object was replaced while it was "
                  "read; read it again", rd_http_name (&read->task));
}

enum radio_status
rd_http_read_check (struct rd_http_task *task, size_t *nbytes)
{
  struct rd_http_read *read = (struct rd_http_read *) task;
  const struct rd_http_response *response = &task->response;
  const char *name = rd_http_name (task);
  struct rd_io_get *get = read->get;
  struct rd_byte_range span = { 0, SIZE_MAX };
  /* Twice is enough for a caller that can do without ranges. */
  bool is_enough = get->may_be_whole && task->nattempts > 1;
  switch (response->status) {
  case 206:
    if (!response->has_range || !response->has_total
        || get->range == RD_RANGE_ALL)
      return rd_fail (RADIO_ERROR_IO, "%s: the response does not say which "
                      "range of the object it is", name);
    RD_TRY (rd_range_resolve (read->io, get, response->total, &span));
    if (response->first != span.offset || span.nbytes == 0
        || response->last - response->first != span.nbytes - 1
        || (response->has_nbytes && response->nbytes != span.nbytes))
      return rd_fail (RADIO_ERROR_IO, "%s: the response is bytes %" PRIu64
                      "-%" PRIu64 " of %" PRIu64 ", which were not requested",
                      name, response->first, response->last,
                      response->total);
    RD_TRY (check_object (read, response->total));
    break;
  case 416:
    /* The range is empty, like the end of an empty object. */
    if (response->has_total && get->range != RD_RANGE_ALL)
      RD_TRY (rd_range_resolve (read->io, get, response->total, &span));
    if (span.nbytes > 0)
      return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status "
                      "416", name);
    RD_TRY (check_object (read, response->total));
    break;
  default:
    if (!response->has_nbytes && response->is_chunked
        && get->range == RD_RANGE_ALL)
      break;
    if (!response->has_nbytes) {
      /* Some servers never do; only a range has it in another header. */
      task->is_believed = !task->range[0] || task->method == RD_HTTP_HEAD
                          || is_enough;
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: the server does not send "
                      "the object's size", name);
    }
    RD_TRY (rd_range_resolve (read->io, get, response->nbytes, &span));
    if (task->method != RD_HTTP_HEAD && span.nbytes < response->nbytes) {
      task->is_believed = is_enough;
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: the server does not "
                      "support range requests", name);
    }
    RD_TRY (check_object (read, response->nbytes));
  }
  *nbytes = (size_t) span.nbytes;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static const struct radio_site request_site = {
  "fetch", RD_IN_NETWORK, "http_get", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

void
rd_http_read_end (struct rd_http_read *read)
{
  struct rd_io_get *get = read->get;
  struct radio_async *request = read->task.request;
  struct rd_counting counting = { 0 };
  get->version = version_of (&read->task.response);
  get->error = read->task.error;
  get->is_other &= get->error.status != RADIO_OK;
  if (get->error.status != RADIO_OK)
    get->into->nbytes = 0;
  else if (get->range == RD_RANGE_ALL)
    get->object_nbytes = get->into->nbytes;
  if (request == NULL)
    return;
  rd_get_count (get, &counting);
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (counting.amounts[i] > 0)
      radio_async_add (request, rd_get_set.counters[i], counting.amounts[i]);
  radio_async_text (request, "key", get->key, RADIO_TEXT_NAME);
  radio_async_end (request);
}

enum radio_status
rd_http_read_begin (struct rd_http_read *read, struct rd_http *http,
                    struct rd_io *io, struct rd_io_get *get)
{
  struct rd_http_task *task = &read->task;
  read->io = io;
  read->get = get;
  read->expected_nbytes = get->object_nbytes;
  task->into = get->into;
  task->stop = get->stop;
  task->max_nbytes = get->nbytes;
  /* An empty range is requested by HEAD. */
  if (get->range != RD_RANGE_ALL && get->nbytes == 0)
    task->method = RD_HTTP_HEAD;
  else if (get->range == RD_RANGE_SUFFIX)
    snprintf (task->range, sizeof task->range, "-%zu", get->nbytes);
  else if (get->range == RD_RANGE_SPAN)
    /* Some servers (versitygw) ignore a range beyond 63 bits. */
    snprintf (task->range, sizeof task->range, "%" PRIu64 "-%" PRIu64,
              rd_min_u64 (get->offset, INT64_MAX),
              rd_min_u64 (rd_add_sat (get->offset, get->nbytes - 1),
                          INT64_MAX));
  get->into->nbytes = 0;
  get->is_other = false;
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

/*------------------------------------------------------------------------
 * URLs
 *----------------------------------------------------------------------*/

static bool
has_part (CURLU *url, CURLUPart part)
{
  char *text = NULL;
  bool found = curl_url_get (url, part, &text, 0) == CURLUE_OK;
  curl_free (text);
  return found;
}

enum radio_status
rd_http_check_url (const char *what, const char *text)
{
  /* Secrets may stand before an '@', or in a query. */
  bool may_show = strpbrk (text, "@?#") == NULL;
  CURLU *url = curl_url ();
  if (url == NULL)
    return rd_fail_memory (0);
  CURLUcode code = curl_url_set (url, CURLUPART_URL, text, 0);
  bool has_secret = has_part (url, CURLUPART_USER)
                    || has_part (url, CURLUPART_PASSWORD);
  curl_url_cleanup (url);
  if (code != CURLUE_OK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s%s%s: %s", what,
                    may_show ? " " : "", may_show ? text : "",
                    curl_url_strerror (code));
  if (has_secret)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: must not contain a user or a "
                    "password", what);
  if (strpbrk (text, "?#"))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: must end with its path, "
                    "without '?' or '#'", what);
  return RADIO_OK;
}

/* "URL/KEY", where all but letters, digits and -._~/ of the key is
 * percent-encoded; allocated.  NULL without memory (the message is set). */
static char *
join_url (const char *url, const char *key)
{
  RD_FREE char *encoded = rd_percent_encode (key, strlen (key), true);
  return encoded ? rd_key_join (url, encoded) : NULL;
}

/*------------------------------------------------------------------------
 * The store
 *----------------------------------------------------------------------*/

struct http_store {
  struct rd_io base;
  struct rd_http *http;
  bool has_encoded_keys;
  char *query;                /* NULL: none */
};

static enum radio_status
check_response (struct rd_http_task *task, size_t *nbytes)
{
  unsigned status = task->response.status;
  switch (status) {
  case 200: case 206: case 416:
    return rd_http_read_check (task, nbytes);
  case 404: case 410:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such object",
                    rd_http_name (task));
  case 401: case 403:
    return rd_fail (RADIO_ERROR_PERMISSION, "%s: the server denies access "
                    "(status %u)", rd_http_name (task), status);
  default:
    return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status %u",
                    rd_http_name (task), status);
  }
}

static void
finish_get (struct rd_http_task *task)
{
  struct rd_http_read *read = (struct rd_http_read *) task;
  struct rd_io_get *get = read->get;
  rd_http_read_end (read);
  if (task->url != task->name)
    rd_free ((char *) task->url);
  rd_free ((char *) task->name);
  rd_free (read);
  get->done (get);
}

/* "URL?QUERY"; allocated.  NULL without memory (the message is set). */
static char *
join_query (const char *url, const char *query)
{
  size_t url_nbytes = strlen (url), query_nbytes = strlen (query);
  char *joined = rd_malloc (url_nbytes + 1 + query_nbytes + 1);
  if (joined == NULL) {
    rd_fail_memory (url_nbytes + query_nbytes + 2);
    return NULL;
  }
  memcpy (joined, url, url_nbytes);
  joined[url_nbytes] = '?';
  memcpy (joined + url_nbytes + 1, query, query_nbytes + 1);
  return joined;
}

static enum radio_status
submit_get (struct http_store *store, struct rd_io_get *get)
{
  RD_TRY (rd_key_check (&store->base, get->key));
  RD_FREE struct rd_http_read *read = rd_calloc (1, sizeof *read);
  if (read == NULL)
    return rd_fail_memory (sizeof *read);
  RD_FREE char *name = store->has_encoded_keys
                       ? rd_key_join (store->base.uri, get->key)
                       : join_url (store->base.uri, get->key);
  if (name == NULL)
    return RADIO_ERROR_MEMORY;
  RD_FREE char *url = store->query ? join_query (name, store->query) : NULL;
  if (store->query && url == NULL)
    return RADIO_ERROR_MEMORY;
  read->task.name = name;
  read->task.url = url ? url : name;
  read->task.is_gzip_file = rd_ends_with (get->key, ".gz");
  read->task.check = check_response;
  read->task.done = finish_get;
  RD_TRY (rd_http_read_begin (read, store->http, &store->base, get));
  (void) RD_STEAL (name);
  (void) RD_STEAL (url);
  (void) RD_STEAL (read);
  return RADIO_OK;
}

static void
http_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = submit_get ((struct http_store *) io,
                                           &gets[i]);
    if (status != RADIO_OK)
      rd_get_finish (&gets[i], status);
  }
}

static void
http_wake (struct rd_io *io)
{
  rd_http_wake (((struct http_store *) io)->http);
}

static enum radio_status
fail_read_only (const struct rd_io *io)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: HTTP stores are read-only",
                  io->uri);
}

static enum radio_status
http_list (struct rd_io *io, const char *prefix, bool recursive,
           rd_io_list_fn *fn, void *user_data)
{
  (void) prefix, (void) recursive, (void) fn, (void) user_data;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: HTTP stores cannot be "
                  "listed; name the volume as COLLECTION/NAME, or a collection "
                  "that has a table", io->uri);
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
  if (store->query)
    OPENSSL_cleanse (store->query, strlen (store->query));
  rd_free (store->query);
  rd_free (io->uri);
  rd_free (store);
}

static const struct rd_io_ops http_ops = {
  .name = "http",
  .is_blocking = false,
  .lists_nothing = true,
  .close = http_close,
  .get = http_get,
  .wake = http_wake,
  .hold = rd_http_hold,
  .release = rd_http_release,
  .size = rd_http_size,
  .list = http_list,
  .put = http_put,
  .create = http_create,
  .remove = http_remove,
  .remove_tree = http_remove,
  .lock = http_lock,
  .sweep = http_sweep,
};

static enum radio_status
open_store (const char *url, const char *query, bool has_encoded_keys,
            const struct rd_http_options *options, struct rd_io **io)
{
  size_t n = strlen (url);
  while (n > 0 && url[n - 1] == '/')
    n--;
  RD_FREE struct http_store *store = rd_calloc (1, sizeof *store);
  if (store == NULL)
    return rd_fail_memory (sizeof *store);
  RD_FREE char *uri = rd_strndup (url, n);
  RD_FREE char *copy = query ? rd_strdup (query) : NULL;
  if (uri == NULL || (query && copy == NULL))
    return rd_fail_memory (n + 1);
  RD_TRY (rd_http_open (options, &store->http));
  store->base.ops = &http_ops;
  store->base.coalesce_gap_nbytes = RD_HTTP_GAP_NBYTES;
  store->base.coalesce_cap_nbytes = RD_HTTP_CAP_NBYTES;
  store->base.piece_nbytes = RD_HTTP_PIECE_NBYTES;
  store->base.uri = RD_STEAL (uri);
  store->has_encoded_keys = has_encoded_keys;
  store->query = RD_STEAL (copy);
  *io = &RD_STEAL (store)->base;
  return RADIO_OK;
}

enum radio_status
rd_io_http_open (const char *url, const struct rd_http_options *options,
                 struct rd_io **io)
{
  RD_TRY (rd_http_check_url ("the store's URL", url));
  return open_store (url, NULL, false, options, io);
}

enum radio_status
rd_io_http_open_files (const char *url, const char *query,
                       const struct rd_http_options *options,
                       struct rd_io **io)
{
  RD_TRY (rd_http_check_url ("the file's URL", url));
  for (const char *p = query ? query : ""; *p; p++)
    if (*p <= ' ' || *p >= 0x7f)
      return rd_fail (RADIO_ERROR_ARGUMENT, "the file's URL: a character of "
                      "its query must be percent-encoded");
  return open_store (url, query, true, options, io);
}
