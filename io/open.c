/* SPDX-License-Identifier: MIT */
/* Functions of every store: opening by URI, and blocking reads. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/cancel.h"
#include "profiler/counters.h"
#include "io/http/http.h"
#include "io/percent.h"
#include "io/s3/s3.h"
#include "io/store.h"

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

enum radio_status
rd_io_open (const char *uri, bool create, struct rd_io **io)
{
  return rd_io_open_with (uri, create, NULL, io);
}

/* A URI without a scheme is a local path, also with a colon in it.  Remote
 * folders are not looked for: reads fail if they do not exist. */
enum radio_status
rd_io_open_with (const char *uri, bool create,
                 const struct rd_s3_options *s3, struct rd_io **io)
{
  static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  const struct rd_http_options http = { 0 };
  const struct rd_s3_options no_s3 = { 0 };
  *io = NULL;
  if (*uri == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "the name of the store is empty");
  if (strcmp (uri, "memory:") == 0)
    return rd_io_memory_open (io);
  /* RFC 3986: a scheme begins with a letter. */
  size_t n = strspn (uri, letters);
  if (n == 0 || strchr ("0123456789+-.", uri[0])
      || strncmp (uri + n, "://", 3) != 0)
    return rd_io_posix_open (uri, create, io);
  if (strncasecmp (uri, "file:", 5) == 0) {
    const char *path = uri + strlen ("file://");
    if (strncmp (path, "localhost/", strlen ("localhost/")) == 0)
      path += strlen ("localhost");
    if (*path != '/')
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the path after 'file://' "
                      "must begin with '/'", uri);
    RD_FREE char *decoded = rd_strdup (path);
    if (decoded == NULL)
      return rd_fail_memory (strlen (path) + 1);
    if (!rd_percent_decode (decoded, false))
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "%s: '%%' without two hexadecimal digits", uri);
    return rd_io_posix_open (decoded, create, io);
  }
  if (strncasecmp (uri, "http:", 5) == 0
      || strncasecmp (uri, "https:", 6) == 0) {
    RD_TRY (rd_http_check_url ("the store's URL", uri));
    if (create)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: HTTP stores are "
                      "read-only", uri);
    return rd_io_http_open (uri, &http, io);
  }
  if (strncasecmp (uri, "s3:", 3) == 0)
    return rd_io_s3_open (uri, s3 ? s3 : &no_s3, io);
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: stores of the kind '%.*s://' are not supported; "
                  "a local path, 'memory:', 's3://' and 'http(s)://' are",
                  uri, (int) n, uri);
}

static const char *const schemes[] = { "http://", "https://", "s3://" };

/* The bytes of a URI's scheme, if it is of a network; else 0. */
static size_t
remote_scheme_nbytes (const char *uri)
{
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
    if (strncasecmp (uri, schemes[i], strlen (schemes[i])) == 0)
      return strlen (schemes[i]);
  return 0;
}

bool
rd_io_is_remote (const char *uri)
{
  return remote_scheme_nbytes (uri) > 0;
}

/* In S3 '?' and '#' are characters of a key. */
enum radio_status
rd_io_open_file (const char *url, const struct rd_s3_options *s3,
                 struct rd_io **io, char **key)
{
  const struct rd_http_options http = { 0 };
  const struct rd_s3_options no_s3 = { 0 };
  size_t scheme = remote_scheme_nbytes (url), n = strlen (url);
  bool is_http = strncasecmp (url, "http", 4) == 0;
  const char *query = NULL;
  if (is_http && strchr (url, '#'))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the file's URL: must not contain "
                    "a '#'; percent-encode it as %%23");
  if (is_http && strchr (url, '?')) {
    n = strcspn (url, "?");
    query = url + n + 1;
  }
  size_t start = n;
  while (start > scheme && url[start - 1] != '/')
    start--;
  /* The text before an '@' may be a password. */
  bool may_show = memchr (url, '@', n) == NULL;
  if (start == scheme || start == n)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the file's URL%s%.*s: names no "
                    "file", may_show ? " " : "", may_show ? (int) n : 0, url);
  RD_FREE char *folder = rd_strndup (url, start - 1);
  RD_FREE char *name = rd_strndup (url + start, n - start);
  if (folder == NULL || name == NULL)
    return rd_fail_memory (n + 2);
  RD_TRY (is_http ? rd_io_http_open_files (folder, query, &http, io)
                  : rd_io_s3_open (folder, s3 ? s3 : &no_s3, io));
  *key = RD_STEAL (name);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static void
wake (struct rd_io_get *get)
{
  rd_waiter_wake (get->user_data);
}

static void
wake_store (void *io)
{
  rd_io_wake (io);
}

static void
do_nothing (struct rd_io_get *get)
{
  (void) get;
}

static const struct radio_site fetch_site = {
  "fetch", RD_IN_DISK, "rd_io_read", __FILE__, __LINE__,
  RADIO_SCOPE_BLOCKING
};

/* A read of memory is a copy, which says nothing about files and disks. */
static const struct radio_site copy_site = {
  "fetch", RD_IN_PLACE, "rd_io_read", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

enum radio_status
rd_io_read (struct rd_io *io, struct rd_io_get *get)
{
  if (io->ops->is_blocking) {
    RD_COUNTING_SCOPE struct rd_counting counting = io->ops->reports_blocking
      ? rd_count_running_in (&fetch_site, &rd_get_set)
      : rd_count_in (&copy_site, &rd_get_set);
    get->done = do_nothing;
    io->ops->get (io, get, 1);
    if (counting.token != 0)
      rd_get_count (get, &counting);
    return rd_error_raise (&get->error);
  }
  struct rd_waiter waiter = RD_WAITER_INIT;
  struct rd_io_stop stop = { .deadline_ns = UINT64_MAX };
  bool is_ours = !get->stop && rd_thread_has_cancel ();
  get->done = wake;
  get->user_data = &waiter;
  if (is_ours)
    get->stop = &stop;
  io->ops->get (io, get, 1);
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    if (is_ours)
      rd_waiter_wait_or_cancel (&waiter, &stop, wake_store, io);
    else
      rd_waiter_wait (&waiter);
  }
  if (is_ours)
    get->stop = NULL;
  return rd_error_raise (&get->error);
}

enum radio_status
rd_io_read_all (struct rd_io *io, const char *key, size_t max_nbytes,
                struct rd_buffer *into)
{
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_ALL, .nbytes = max_nbytes, .into = into,
  };
  RD_TRY (rd_io_read (io, &get));
  if (into->nbytes == SIZE_MAX)
    return rd_fail_memory (SIZE_MAX);
  RD_TRY (rd_buffer_reserve (into, into->nbytes + 1));
  into->data[into->nbytes] = '\0';
  return RADIO_OK;
}
