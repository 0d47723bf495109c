/* SPDX-License-Identifier: MIT */
/* Requests over HTTP/1.1, by libcurl, and reads of objects by them.  An
 * engine has one thread, which owns one multi handle: a caller submits a
 * task, whose done is called from that thread.  A task is retried where that
 * may help, until its attempts or its time are used up.
 *
 * No byte of a response is used before its status and headers were checked,
 * and no more is stored than was requested: no server is trusted. */
#ifndef RD_HTTP_H
#define RD_HTTP_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "io/io.h"

struct radio_async;
struct rd_http;
struct rd_http_headers;

/* Limits; 0 selects the default. */
struct rd_http_options {
  unsigned nconnections;      /* concurrent requests; 64 */
  unsigned nattempts;         /* of a task; 8 */
  uint64_t connect_timeout_ms;        /* 5,000 */
  uint64_t first_byte_timeout_ms;     /* 15,000 */
  uint64_t stall_timeout_ms;          /* between bytes; 15,000 */
  uint64_t deadline_ms;       /* of a task since it was begun, extended while
                                 bytes keep coming or going; 120,000 */
  uint64_t backoff_ms;        /* upper bound of the first wait; 100 */
  unsigned hedge_percent;     /* percentage of the answered GETs that may be
                                 sent a second time when the first byte takes
                                 long; the first response counts; 0: none */
  unsigned npreconnect;       /* connections opened beside the first one,
                                 before they are needed; 16 at most; 0: none */
  uint64_t preconnect_idle_ms;        /* closed unused after this; 3,000 */
  const char *ca_file;        /* certificates to trust instead of those of
                                 rd_http_find_certificates */
  const char *proxy;          /* NULL: none */
};

/* The headers of a response. */
struct rd_http_response {
  unsigned status;            /* 206 */
  bool has_nbytes, has_range, has_total;
  bool is_encoded;            /* has a Content-Encoding */
  bool is_gzip;               /* which is gzip */
  bool is_chunked;            /* the body marks its own end */
  bool has_sum;               /* x-amz-checksum-crc32c */
  uint64_t nbytes;            /* of the body */
  uint64_t first, last;       /* bytes of the object that the body is */
  uint64_t total;             /* size of the object */
  uint64_t retry_after_s;     /* 0: not given */
  int64_t date_s;             /* since 1970, by the server's clock; -1 */
  char etag[128];             /* "": none, or longer */
  char region[64];            /* x-amz-bucket-region; the same */
  char writer[40];            /* x-amz-meta-radio-writer; the same */
  char redirected_to[128];    /* host and port in Location; the same */
  size_t headers_nbytes;      /* so far, of all of them */
};

/* Parses a line of the headers; a status line resets the rest. */
void rd_http_response_line (struct rd_http_response *response,
                            const char *line, size_t nbytes);

enum rd_http_method {
  RD_HTTP_GET,
  RD_HTTP_HEAD,               /* the headers alone */
  RD_HTTP_PUT,
  RD_HTTP_POST,
  RD_HTTP_DELETE,
};

/* "GET" */
const char *rd_http_method_name (enum rd_http_method method);

/* The step after an attempt. */
enum rd_http_next {
  RD_HTTP_FINISH,             /* the task is over */
  RD_HTTP_RETRY_NOW,          /* the cause of the failure was corrected */
  RD_HTTP_RETRY_SOON,         /* without a backoff: the response contradicts
                                 itself or the request */
  RD_HTTP_RETRY_LATER,        /* after a backoff */
  RD_HTTP_RETRY_SLOWER,       /* the same, with fewer concurrent requests */
};

struct rd_http_task {
  /* Set by the caller, who keeps all of it alive until done. */
  const char *url;
  const char *name;           /* for messages; NULL: its URL */
  enum rd_http_method method;
  char range[64];             /* "0-99", "-16"; "": the whole; of GET */
  const struct rd_part *parts;        /* the body of PUT and POST */
  size_t nparts;
  struct rd_buffer *into;     /* the body of the response; NULL: not wanted */

  /* A POST may be done twice, as the other methods may.  Otherwise it is
   * not retried once the server may have acted on it. */
  bool is_repeatable;

  /* A PUT or POST that leaves nothing on the server: its caller may end it as a
   * GET (radio_thread_set_cancel). */
  bool leaves_nothing;

  /* A response with the Content-Encoding gzip is what was requested: some web
   * servers say so of a file that is gzip itself. */
  bool is_gzip_file;

  /* Set by check: another response would be the same. */
  bool is_believed;

  /* Adds headers to an attempt, each of them: a signature contains its time.
   * May also change url.  Called from the engine's thread.  Without it
   * redirections of GET and HEAD are followed; with it none is, since the
   * headers are for this server alone. */
  enum radio_status (*prepare) (struct rd_http_task *task,
                                struct rd_http_headers *headers);

  /* Called with the headers: returns RADIO_OK and the number of bytes of the
   * body that are expected, at most (SIZE_MAX: any, up to max_nbytes).  Not
   * called for responses that are retried, nor, with conclude, for those
   * that report an error.  If it fails for a GET or HEAD whose status is 2xx
   * or 416, with RADIO_ERROR_IO or RADIO_ERROR_UNSUPPORTED, the response is
   * wrong, and retried unless is_believed is set.  NULL: accept any body. */
  enum radio_status (*check) (struct rd_http_task *task, size_t *nbytes);
  size_t max_nbytes;

  /* Called with a response, whose body is in into, or in error_body (at most
   * RD_HTTP_MAX_ERROR_NBYTES of it) unless the status is 2xx.  Returns the
   * result, also where it sets *next (which is RD_HTTP_FINISH) to retry:
   * there may be no other attempt.  NULL: any status that is not transient
   * ends the task. */
  enum radio_status (*conclude) (struct rd_http_task *task,
                                 const struct rd_buffer *error_body,
                                 enum rd_http_next *next);

  /* Called once, from the engine's thread, unless submitting fails. */
  void (*done) (struct rd_http_task *task);
  void *user_data;                    /* the caller's */
  const struct rd_io_stop *stop;      /* ends it early; or NULL */
  struct radio_async *request;        /* of profiles; NULL; the caller's */

  /* Set before done. */
  struct rd_error error;
  struct rd_http_response response;   /* the last one */
  unsigned nattempts;
  unsigned nhedges;           /* second requests beside one of these */
  bool hedge_won;             /* the last hedge replaced the first attempt */
  bool is_ambiguous;          /* the server may have acted on an attempt that
                                 was not answered, or with status 5xx */

  /* The engine's own. */
  struct rd_http_task *next;
  struct rd_http_attempt *attempt;
  struct rd_http_attempt *hedge;      /* a second one; NULL: none.  Of the two
                                 the first that receives a byte stays */
  uint64_t begin_ns, not_before_ns;
  unsigned ntokens;                   /* cost of its last attempt */
};

#define RD_HTTP_MAX_ERROR_NBYTES 65536

/* Adds "NAME: VALUE"; it is copied. */
enum radio_status rd_http_add_header (struct rd_http_headers *headers,
                                      const char *line) RADIO_USE_RESULT;

/* 2xx */
static inline bool
rd_http_is_good (unsigned status)
{
  return status >= 200 && status < 300;
}

/* True for 408, 429, 500, 502, 503, 504. */
bool rd_http_is_transient (unsigned status);

static inline const char *
rd_http_name (const struct rd_http_task *task)
{
  return task->name ? task->name : task->url;
}

/* Returns the file of the certificates to trust if the caller names none:
 * $SSL_CERT_FILE, or where some system has them; NULL: where libcurl looks. */
const char *rd_http_find_certificates (void);

/* ca_file and proxy are copied.  RADIO_ERROR_MEMORY, RADIO_ERROR_IO. */
enum radio_status rd_http_open (const struct rd_http_options *options,
                                struct rd_http **http) RADIO_USE_RESULT;

/* Called when no task is active.  NULL is legal. */
void rd_http_close (struct rd_http *http);

/* Submits a task.  RADIO_ERROR_FORKED in a child of the process that opened
 * the engine. */
enum radio_status rd_http_submit (struct rd_http *http,
                                  struct rd_http_task *task)
  RADIO_USE_RESULT;

/* Ends the tasks that were cancelled. */
void rd_http_wake (struct rd_http *http);

/* Submits a task and waits for its end, which also ends its request in
 * profiles; done and user_data of the task are overwritten. */
enum radio_status rd_http_run (struct rd_http *http,
                               struct rd_http_task *task) RADIO_USE_RESULT;

/* RADIO_ERROR_ARGUMENT unless it is an http or https URL without user, query
 * and fragment: messages would show them, and a key cannot follow them.  The
 * message begins with what the URL is, "the endpoint". */
enum radio_status rd_http_check_url (const char *what, const char *url)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Reads of objects, shared by the HTTP store and the S3 store
 *----------------------------------------------------------------------*/

/* As in other clients of object stores, reading a gap of a megabyte costs
 * less than another round trip.  The cap is smaller than theirs: all requests
 * of a large read end at about the same time, and decoding after that delays
 * the whole, so that there should be several for each connection that a link
 * can fill. */
#define RD_HTTP_GAP_NBYTES 1048576
#define RD_HTTP_CAP_NBYTES 4194304

/* Pieces of whole objects: few are active, each for a round trip. */
#define RD_HTTP_PIECE_NBYTES 8388608

/* One read. */
struct rd_http_read {
  struct rd_http_task task;           /* first */
  struct rd_io *io;
  struct rd_io_get *get;
  uint64_t expected_nbytes;           /* of the object; 0: unknown */
  uint64_t other_object;              /* identity of another one, which the
                                         last response was of; 0: none */
};

/* Submits the request for a get; the URL and the callbacks of the task are
 * set. */
enum radio_status rd_http_read_begin (struct rd_http_read *read,
                                      struct rd_http *http, struct rd_io *io,
                                      struct rd_io_get *get)
  RADIO_USE_RESULT;

/* The check of a read's task: that a response (200, 206 or 416) is the range
 * that was requested, of the object that was read before. */
enum radio_status rd_http_read_check (struct rd_http_task *task,
                                      size_t *nbytes) RADIO_USE_RESULT;

/* Called when the task is done: sets the results of get, but does not call
 * its done. */
void rd_http_read_end (struct rd_http_read *read);

/* Entries of a store's table: size by the store's get; files that are held
 * must not change meanwhile. */
enum radio_status rd_http_size (struct rd_io *io, const char *key,
                                uint64_t *nbytes) RADIO_USE_RESULT;
struct rd_io_file *rd_http_hold (struct rd_io *io, const char *key,
                                 bool keep);
void rd_http_release (struct rd_io *io, struct rd_io_file *file);

/* Opens the read-only store of the objects below a URL. */
enum radio_status rd_io_http_open (const char *url,
                                   const struct rd_http_options *options,
                                   struct rd_io **io) RADIO_USE_RESULT;

/* The same of files, whose keys are percent-encoded, as in a URL.  query
 * (NULL: none) follows the URL of each request, and is in no message: it may be
 * a signature. */
enum radio_status
rd_io_http_open_files (const char *url, const char *query,
                       const struct rd_http_options *options,
                       struct rd_io **io) RADIO_USE_RESULT;

#endif /* RD_HTTP_H */
