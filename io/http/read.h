/* SPDX-License-Identifier: MIT */
/* Reads of objects over HTTP, as the http store and the S3 store have them
 * in common. */
#ifndef RD_HTTP_READ_H
#define RD_HTTP_READ_H

#include "io/http/http.h"
#include "io/io.h"

/* As the object stores' clients have it, a gap of a megabyte costs less than
 * another trip.  What is joined is smaller than theirs: all requests of a
 * large read come to their ends together, and what is decoded after that
 * delays the whole, so that there should be several for each connection that
 * a link fills. */
#define RD_HTTP_GAP_NBYTES 1048576
#define RD_HTTP_CAP_NBYTES 4194304

/* Of whole objects: few pieces are under way, each for a trip. */
#define RD_HTTP_PIECE_NBYTES 8388608

/* One read. */
struct rd_http_read {
  struct rd_http_task task;           /* first */
  struct rd_io *io;
  struct rd_io_get *get;
};

/* Ask for what get says; the URL and the callbacks of the task are set. */
enum radio_status rd_http_read_begin (struct rd_http_read *read,
                                      struct rd_http *http, struct rd_io *io,
                                      struct rd_io_get *get)
  RADIO_USE_RESULT;

/* Whether the status is one that check is for: 200, 206, 416. */
bool rd_http_read_knows (const struct rd_http_read *read);

/* Whether the answer is of what was asked for, and of how many bytes. */
enum radio_status rd_http_read_check (struct rd_http_read *read,
                                      size_t *nbytes) RADIO_USE_RESULT;

/* The task is done: set what get is to tell, but for calling its done. */
void rd_http_read_end (struct rd_http_read *read);

/* As size of a store's table: by the store's get. */
enum radio_status rd_http_size (struct rd_io *io, const char *key,
                                uint64_t *nbytes) RADIO_USE_RESULT;

/* As hold, release and forget of a store's table: what is held must not
 * change while it is. */
struct rd_io_file *rd_http_hold (struct rd_io *io, const char *key,
                                 bool keep);
void rd_http_release (struct rd_io *io, struct rd_io_file *file);
void rd_http_forget (struct rd_io *io, const char *prefix);

#endif /* RD_HTTP_READ_H */
