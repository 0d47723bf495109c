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

#include "src/base/buffer.h"
#include "src/base/error.h"

struct radio_async;
struct rd_http;
struct rd_http_headers;
struct rd_part;

/* Bounds; 0 is the default. */
struct rd_http_options {
  unsigned nconnections;      /* requests at one time; 32 */
  unsigned nattempts;         /* of a task; 8 */
  uint64_t connect_timeout_ms;        /* 5,000 */
  uint64_t first_byte_timeout_ms;     /* after which nothing came; 15,000 */
  uint64_t stall_timeout_ms;          /* in which nothing came; 15,000 */
  uint64_t deadline_ms;       /* of a task since it was begun, and more for
                                 what keeps coming or going; 120,000 */
  uint64_t backoff_ms;                /* the first wait at most; 100 */
  unsigned hedge_percent;     /* of the GETs that are answered: so many may
                                 be asked a second time when nothing came
                                 for long, and the first answer is taken;
                                 0: none */
  unsigned nahead;            /* connections opened beside the first of them,
                                 before they are needed; 16 at most; 0: none */
  const char *ca_file;        /* certificates to trust; NULL: the system's */
  const char *proxy;          /* NULL: none */
};

/* What the headers of an answer say. */
struct rd_http_answer {
  unsigned status;            /* 206 */
  bool has_nbytes, has_range, has_total;
  bool is_encoded;            /* compressed on the way, or the like */
  bool is_chunked;            /* the body tells where it ends */
  bool has_sum;               /* x-amz-checksum-crc32c */
  uint64_t nbytes;            /* of the body */
  uint64_t first, last;       /* bytes of the object that the body is */
  uint64_t total;             /* size of the object */
  uint64_t retry_after_s;     /* 0: not told */
  int64_t date_s;             /* since 1970, by the server's clock; -1 */
  char etag[128];             /* "": none, or longer */
  char region[64];            /* x-amz-bucket-region; the same */
  char writer[40];            /* x-amz-meta-radio-writer; the same */
  size_t headers_nbytes;      /* so far, of all of them */
};

/* Take a line of the headers; that of a status begins anew. */
void rd_http_answer_line (struct rd_http_answer *answer, const char *line,
                          size_t nbytes);

enum rd_http_method {
  RD_HTTP_GET,
  RD_HTTP_HEAD,               /* the headers alone */
  RD_HTTP_PUT,
  RD_HTTP_POST,
  RD_HTTP_DELETE,
};

/* What follows an answer. */
enum rd_http_next {
  RD_HTTP_END,                /* the task is over */
  RD_HTTP_AGAIN,              /* at once: what was wrong is mended */
  RD_HTTP_LATER,              /* after a wait */
  RD_HTTP_SLOWER,             /* the same, and less at one time from now on */
};

struct rd_http_task {
  /* Set by the caller, who keeps all of it alive until done. */
  const char *url;
  const char *name;           /* as messages tell it; NULL: by its URL */
  enum rd_http_method method;
  char range[64];             /* "0-99", "-16"; "": the whole; of GET */
  const struct rd_part *parts;        /* the body of PUT and POST */
  size_t nparts;
  struct rd_buffer *into;     /* the body of the answer; NULL: not wanted */

  /* A POST may be done twice, as the other methods may.  Otherwise it is
   * not tried again once the server may have acted on it. */
  bool is_repeatable;

  /* Add headers to an attempt, each of them: what is signed, is signed with
   * its time.  It may also change url.  Called from the engine's thread.
   * Without it redirections of GET and HEAD are followed; with it none is,
   * since the headers are for this server alone. */
  enum radio_status (*prepare) (struct rd_http_task *task,
                                struct rd_http_headers *headers);

  /* The headers are there: RADIO_OK with the bytes of the body that are
   * expected, at most (SIZE_MAX: as many as come, which max_nbytes bounds).
   * Not called for answers that are worth another attempt, nor with
   * conclude for those that tell of a problem.  NULL: what comes. */
  enum radio_status (*check) (struct rd_http_task *task, size_t *nbytes);
  size_t max_nbytes;

  /* An answer is there, its body in into, or in problem (at most
   * RD_HTTP_PROBLEM_NBYTES of it) where the status is none of 2xx.  What
   * that comes to, also where *next (which is RD_HTTP_END) says to try again:
   * there may be no other attempt.  NULL: what is not busy ends the task. */
  enum radio_status (*conclude) (struct rd_http_task *task,
                                 const struct rd_buffer *problem,
                                 enum rd_http_next *next);

  /* Called once, from the engine's thread, unless submitting fails. */
  void (*done) (struct rd_http_task *task);
  void *user_data;                    /* the caller's */
  struct radio_async *request;        /* of profiles; NULL; the caller's */

  /* Set before done. */
  struct rd_error error;
  struct rd_http_answer answer;       /* the last one */
  unsigned nattempts;
  unsigned nhedges;           /* second requests beside one of these */
  bool was_overtaken;         /* by the last of them, which went on instead */
  bool is_ambiguous;          /* the server may have acted on an attempt that
                                 was not answered, or with status 5xx */

  /* The engine's own. */
  struct rd_http_task *next;
  struct rd_http_attempt *attempt;
  struct rd_http_attempt *rival;      /* a second one; NULL: none.  The one
                                 that hears a byte is the only one soon */
  uint64_t begin_ns, not_before_ns;
  unsigned ntokens;                   /* that its last attempt cost */
};

#define RD_HTTP_PROBLEM_NBYTES 65536

/* Add "NAME: VALUE"; it is copied. */
enum radio_status rd_http_add_header (struct rd_http_headers *headers,
                                      const char *line) RADIO_USE_RESULT;

/* Whether a status is one of success. */
static inline bool
rd_http_is_good (unsigned status)
{
  return status >= 200 && status < 300;
}

static inline const char *
rd_http_name (const struct rd_http_task *task)
{
  return task->name ? task->name : task->url;
}

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

/* Hand over a task, and wait for its end, which also ends its request of
 * profiles; done and user_data of the task are overwritten. */
enum radio_status rd_http_run (struct rd_http *http,
                               struct rd_http_task *task) RADIO_USE_RESULT;

/* "GET" */
const char *rd_http_method_name (enum rd_http_method method);

/* RADIO_ERROR_ARGUMENT unless it is an http or https URL that names no user,
 * no query and no fragment: they would show in messages, and a key cannot
 * follow them. */
enum radio_status rd_http_check_url (const char *url) RADIO_USE_RESULT;

/* "URL/KEY", where all but letters, digits and -._~/ of the key is
 * percent-encoded; allocated.  NULL without memory (the message is set). */
char *rd_http_join (const char *url, const char *key);

#endif /* RD_HTTP_H */
