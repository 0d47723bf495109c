/* SPDX-License-Identifier: MIT */
/* The parts of the HTTP engine.  All of it belongs to the engine's thread,
 * unless struct rd_http says otherwise. */
#ifndef RD_HTTP_ENGINE_H
#define RD_HTTP_ENGINE_H

#include <curl/curl.h>
#include <sys/socket.h>

#include "src/base/now.h"
#include "io/http/http.h"

/*------------------------------------------------------------------------
 * Preconnecting: connections that are open before they are needed
 *----------------------------------------------------------------------*/

/* Zero-filled, it never opens any. */
#define RD_HTTP_MAX_PRECONNECT 16
struct rd_http_preconnect {
  unsigned max, n;            /* open ones: limit, and now */
  int fds[RD_HTTP_MAX_PRECONNECT];
  struct sockaddr_storage to;
  uint64_t idle_ns;           /* after which they are closed */
  uint64_t begin_ns;          /* when the last of them were opened; 0: none
                                 were */
};

void rd_http_preconnect_init (struct rd_http_preconnect *preconnect,
                              unsigned max, uint64_t idle_ms);

/* Called when a new connection to this address is used: opens more, unless
 * there are, or were just now.  Failures are ignored. */
void rd_http_preconnect_begin (struct rd_http_preconnect *preconnect,
                               const char *address, int port);

/* Returns a socket that is connected to this address, now the caller's, or
 * -1. */
int rd_http_preconnect_take (struct rd_http_preconnect *preconnect,
                             const struct sockaddr *to);

/* The time until idle connections are closed; UINT64_MAX without any. */
uint64_t
rd_http_preconnect_left_ns (const struct rd_http_preconnect *preconnect,
                            uint64_t now_ns);

/* Closes all. */
void rd_http_preconnect_close (struct rd_http_preconnect *preconnect);

/*------------------------------------------------------------------------
 * Attempts
 *----------------------------------------------------------------------*/

/* One transfer. */
struct rd_http_attempt {
  struct rd_http_task *task;
  CURL *easy;
  struct rd_http_preconnect *preconnect;      /* NULL: it needs a connection
                                 of its own */
  bool is_new;                /* its connection was opened for it */
  bool is_preconnected;       /* or before that */
  uint64_t begin_ns;
  uint64_t activity_ns;       /* when it was sent, or bytes came */
  uint64_t requested_ns;      /* its begin, or for a hedge that of the first
                                 attempt */
  uint64_t waited_ns;         /* from then until the first byte came */
  bool is_sent, has_byte;
  bool is_hedged;             /* it has or had a hedge, or is one */
  uint64_t alone_ns;          /* its begin, or when its hedge was throttled */
  bool was_throttled;         /* the server answered with this status while */
  unsigned throttle_status;   /* the other attempt is still active */
  bool is_checked;            /* its headers were checked */
  bool is_accepted;           /* and its body is what was requested */
  bool has_no_body;           /* of the object: received bytes are ignored */
  bool is_rejected;           /* task->error says why */
  bool has_error;             /* not 2xx: conclude gets the body */
  struct rd_buffer error_body;
  struct curl_slist *headers; /* of the request */
  size_t part, part_offset;   /* the next byte of the request's body */
  uint64_t sent_nbytes;       /* of it */
  size_t expected_nbytes;     /* of an accepted body; SIZE_MAX: unknown */
  size_t ignored_nbytes;      /* of one that is not */
  char message[CURL_ERROR_SIZE];
};

/* Begins a transfer, whose handle the caller adds to a multi handle.
 * RADIO_ERROR_MEMORY. */
enum radio_status
rd_http_attempt_open (const struct rd_http_options *options,
                      struct rd_http_preconnect *preconnect,
                      struct rd_http_task *task,
                      struct rd_http_attempt **attempt) RADIO_USE_RESULT;

/* The other attempt of the same task, or NULL. */
static inline struct rd_http_attempt *
rd_http_other_attempt (const struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  return task->attempt == attempt ? task->hedge : task->attempt;
}

/* True when the other attempt received a byte first: its response is the
 * task's, and this one is to be dropped. */
static inline bool
rd_http_lost_race (const struct rd_http_attempt *attempt)
{
  const struct rd_http_attempt *other = rd_http_other_attempt (attempt);
  return other && other->has_byte;
}

/* Called when the transfer is over: checks its headers if no byte of a body
 * came.  Returns true if a good response is complete. */
bool rd_http_attempt_is_complete (struct rd_http_attempt *attempt);

/* Called when its handle is in no multi handle any more.  NULL is legal. */
void rd_http_attempt_close (struct rd_http_attempt *attempt);

/*------------------------------------------------------------------------
 * The retry policy
 *----------------------------------------------------------------------*/

struct rd_http_outcome {
  CURLcode code;              /* CURLE_OK: there is a response */
  enum radio_status status;   /* with its message */
  enum rd_http_next next;
};

/* Classifies a transfer that ended with code. */
struct rd_http_outcome rd_http_classify (struct rd_http_attempt *attempt,
                                         CURLcode code);

/* Limits the rate and the number of concurrent requests to a server, by its
 * earlier responses. */
struct rd_http_retry_policy {
  unsigned limit;             /* concurrent requests now */
  unsigned max;               /* upper bound of it */
  unsigned nsuccesses;        /* since the limit was raised */
  unsigned tokens;            /* left for retries */
  uint64_t throttled_ns;      /* when the limit was lowered */
  bool was_answered;          /* a server accepted a request once */
  uint64_t random;            /* never 0 */
};

void rd_http_retry_init (struct rd_http_retry_policy *policy,
                         const struct rd_http_options *options);

/* Called when a task succeeded. */
void rd_http_retry_on_success (struct rd_http_retry_policy *policy,
                               const struct rd_http_task *task);

/* Called when an attempt that was begun then got a transient status, while
 * its task continues by another one. */
void rd_http_retry_on_throttle (struct rd_http_retry_policy *policy,
                                unsigned status, uint64_t begin_ns,
                                uint64_t now_ns);

/* Called when an attempt failed with code, or with a response (CURLE_OK).
 * Returns false if there is no retry; else sets when. */
bool rd_http_retry_schedule (struct rd_http_retry_policy *policy,
                             const struct rd_http_options *options,
                             struct rd_http_task *task, CURLcode code,
                             enum rd_http_next next, uint64_t now_ns);

/*------------------------------------------------------------------------
 * Hedging: second requests for GETs that take long
 *----------------------------------------------------------------------*/

/* Without samples if zero-filled, except percent. */
#define RD_HTTP_HEDGE_NWAITS 100
struct rd_http_hedges {
  unsigned percent;           /* of answered GETs; 0: never hedge */
  unsigned credit;            /* percents that were saved up */
  size_t nwaits, next;
  uint64_t waits_ns[RD_HTTP_HEDGE_NWAITS];    /* the last ones; a ring */
  uint64_t after_ns;          /* by these */
};

/* Called when a GET was answered, with the time to its first byte. */
void rd_http_hedges_add_wait (struct rd_http_hedges *hedges,
                              uint64_t wait_ns);

/* The wait after which a GET is worth a second request; UINT64_MAX while
 * none is. */
uint64_t rd_http_hedges_after (const struct rd_http_hedges *hedges);

/* Called when a second request was sent. */
void rd_http_hedges_spend (struct rd_http_hedges *hedges);

#endif /* RD_HTTP_ENGINE_H */
