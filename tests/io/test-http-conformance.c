/* SPDX-License-Identifier: MIT */
/* Reads over HTTP keep the contract of every store.  Writes go into a store in
 * memory, which a web server serves. */
#include <config.h>

#include "io/http/http.h"
#include "tests/io/wrap.h"
#include "tests/io/conformance.h"
#include "tests/io/http-peer.h"

struct served {
  struct rd_wrap wrap;                /* of the store in memory */
  struct http_peer *peer;
  struct rd_io *http;
};

static void
served_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct rd_io *http = ((struct served *) io)->http;
  http->ops->get (http, gets, n);
}

static enum radio_status
served_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  struct rd_io *http = ((struct served *) io)->http;
  return http->ops->size (http, key, nbytes);
}

static struct rd_io_file *
served_hold (struct rd_io *io, const char *key, bool keep)
{
  return rd_io_hold (((struct served *) io)->http, key, keep);
}

static void
served_release (struct rd_io *io, struct rd_io_file *file)
{
  rd_io_release (((struct served *) io)->http, file);
}

static void
served_close (struct rd_io *io)
{
  struct served *served = (struct served *) io;
  rd_io_close (served->http);
  http_peer_stop (served->peer);
  rd_wrap_finish (&served->wrap);
  rd_free (served);
}

static enum radio_status
make (void **place, struct rd_io **io)
{
  const struct rd_http_options options = { 0 };
  struct rd_io *inner;
  *place = NULL;
  struct served *served = rd_calloc (1, sizeof *served);
  if (served == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_open ("memory:", false, &inner));
  RD_TRY (rd_wrap_init (&served->wrap, "http", inner));
  served->wrap.ops.is_blocking = false;
  served->wrap.ops.get = served_get;
  served->wrap.ops.size = served_size;
  served->wrap.ops.hold = served_hold;
  served->wrap.ops.release = served_release;
  served->wrap.ops.close = served_close;
  served->peer = http_peer_start (inner);
  RD_TRY (rd_io_http_open (http_peer_url (served->peer), &options,
                           &served->http));
  *io = &served->wrap.base;
  return RADIO_OK;
}

static void
unmake (void *place)
{
  (void) place;
}

int
main (void)
{
  const struct conformance_store store = { "http", make, unmake };
  return run_conformance (&store);
}
