/* SPDX-License-Identifier: MIT */
/* Requests over HTTP/1.1, by libcurl.  An engine has one thread, which owns
 * one multi handle: whoever asks hands over a task and hears of its end by a
 * call from that thread.  A task is tried again where that may help, until
 * its attempts or its time are used up.
 *
 * No byte of an answer is used before its status and headers were looked at,
 * and no more is kept than was asked for: whatever answers is not trusted.
 */
#ifndef RD_HTTP_H
#define RD_HTTP_H

#include <radio/base.h>

#include "profiler/base/buffer.h"
#include "profiler/base/error.h"

struct radio_async;
struct rd_http;

/* Bounds; 0 is the default. */
struct rd_http_options {
  unsigned nconnections;      /* requests at one time; 32 */
  unsigned nattempts;         /* of a task; 8 */
  uint64_t connect_timeout_ms;        /* 5,000 */
  uint64_t first_byte_timeout_ms;     /* after which nothing came; 15,000 */
  uint64_t stall_timeout_ms;          /* in which nothing came; 15,000 */
  uint64_t deadline_ms;       /* of a task since it was begun, and more for
                                 what keeps coming; 120,000 */
  uint64_t backoff_ms;                /* the first wait at most; 100 */
  const char *ca_file;        /* certificates to trust; NULL: the system's */
  const char *proxy;          /* NULL: none */
};

/* What the headers of an answer say. */
struct rd_http_answer {
  unsigned status;            /* 206 */
  bool has_nbytes, has_range, has_total;
  bool is_encoded;            /* compressed on the way, or the like */
  bool is_chunked;            /* the body tells where it ends */
  uint64_t nbytes;            /* of the body */
  uint64_t first, last;       /* bytes of the object that the body is */
  uint64_t total;             /* size of the object */
  uint64_t retry_after_s;     /* 0: not told */
  char etag[128];             /* "": none, or longer */
  size_t headers_nbytes;      /* so far, of all of them */
};

/* Take a line of the headers; that of a status begins anew. */
void rd_http_answer_line (struct rd_http_answer *answer, const char *line,
                          size_t nbytes);

struct rd_http_task {
  /* Set by the caller, who keeps all of it alive until done. */
  const char *url;
  bool wants_head;            /* the headers alone */
  char range[64];             /* "0-99", "-16"; "": the whole */
  struct rd_buffer *into;     /* the body */

  /* The headers are there: RADIO_OK with the bytes of the body that are
   * expected, at most (SIZE_MAX: as many as come, which max_nbytes bounds).
   * Not called for answers that are worth another attempt. */
  enum radio_status (*check) (struct rd_http_task *task, size_t *nbytes);
  size_t max_nbytes;

  /* Called once, from the engine's thread, unless submitting fails. */
  void (*done) (struct rd_http_task *task);
  struct radio_async *request;        /* of profiles; NULL; the caller's */

  /* Set before done. */
  struct rd_error error;
  struct rd_http_answer answer;       /* the last one */
  unsigned nattempts;

  /* The engine's own. */
  struct rd_http_task *next;
  struct rd_http_attempt *attempt;
  uint64_t begin_ns, not_before_ns;
  unsigned ntokens;                   /* that its last attempt cost */
};

/* ca_file and proxy are copied.  RADIO_ERROR_MEMORY, RADIO_ERROR_IO. */
enum radio_status rd_http_open (const struct rd_http_options *options,
                                struct rd_http **http) RADIO_USE_RESULT;

/* No task is under way.  NULL is legal. */
void rd_http_close (struct rd_http *http);

/* Hand over a task.  RADIO_ERROR_FORKED in a child of the process that
 * opened the engine. */
enum radio_status rd_http_submit (struct rd_http *http,
                                  struct rd_http_task *task)
  RADIO_USE_RESULT;

/* RADIO_ERROR_ARGUMENT unless it is an http or https URL that names no user,
 * no query and no fragment: they would show in messages, and a key cannot
 * follow them. */
enum radio_status rd_http_check_url (const char *url) RADIO_USE_RESULT;

/* "URL/KEY", where all but letters, digits and -._~/ of the key is
 * percent-encoded; allocated.  NULL without memory (the message is set). */
char *rd_http_join (const char *url, const char *key);

#endif /* RD_HTTP_H */
