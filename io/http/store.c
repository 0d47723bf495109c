/* SPDX-License-Identifier: MIT */
/* Stores that are only read: what a web server hands out as files, below a
 * URL.  Such a store cannot be listed. */
#include <config.h>

#include <string.h>

#include "io/http/read.h"
#include "io/key.h"
#include "io/range.h"
#include "io/stores.h"

struct http_store {
  struct rd_io base;
  struct rd_http *http;
};

/*------------------------------------------------------------------------
 * Reads
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

static enum radio_status
check (struct rd_http_task *task, size_t *nbytes)
{
  struct rd_http_read *read = (struct rd_http_read *) task;
  return rd_http_read_knows (read) ? rd_http_read_check (read, nbytes)
                                   : fail_answer (task);
}

static void
finish (struct rd_http_task *task)
{
  struct rd_http_read *read = (struct rd_http_read *) task;
  struct rd_io_get *get = read->get;
  rd_http_read_end (read);
  rd_free ((char *) task->url);
  rd_free (read);
  get->done (get);
}

static enum radio_status
submit (struct http_store *store, struct rd_io_get *get)
{
  RD_TRY (rd_key_check (&store->base, get->key));
  RD_FREE struct rd_http_read *read = rd_calloc (1, sizeof *read);
  if (read == NULL)
    return rd_fail_memory (sizeof *read);
  RD_FREE char *url = rd_http_join (store->base.uri, get->key);
  if (url == NULL)
    return RADIO_ERROR_MEMORY;
  read->task.url = url;
  read->task.check = check;
  read->task.done = finish;
  RD_TRY (rd_http_read_begin (read, store->http, &store->base, get));
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
  .close = http_close,
  .get = http_get,
  .hold = rd_http_hold,
  .release = rd_http_release,
  .forget = rd_http_forget,
  .size = rd_http_size,
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
  store->base.coalesce_gap_nbytes = RD_HTTP_GAP_NBYTES;
  store->base.coalesce_cap_nbytes = RD_HTTP_CAP_NBYTES;
  store->base.piece_nbytes = RD_HTTP_PIECE_NBYTES;
  store->base.uri = RD_STEAL (uri);
  *io = &RD_STEAL (store)->base;
  return RADIO_OK;
}
