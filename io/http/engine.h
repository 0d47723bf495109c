/* SPDX-License-Identifier: MIT */
/* What the files of the HTTP engine share.  All of it is the engine's
 * thread's, but for what struct rd_http says. */
#ifndef RD_HTTP_ENGINE_H
#define RD_HTTP_ENGINE_H

#include <curl/curl.h>
#include <sys/socket.h>
#include <time.h>

#include "io/http/http.h"
#include "io/io.h"

/* Connections that are there before they are needed.  Zero-filled, it is one
 * that never has any. */
#define RD_HTTP_MAX_AHEAD 16
struct rd_http_ahead {
  unsigned most, n;           /* at one time; and now */
  int fds[RD_HTTP_MAX_AHEAD];
  struct sockaddr_storage to;
  uint64_t begin_ns;          /* when the last of them were opened; 0: none
                                 were */
};

void rd_http_ahead_init (struct rd_http_ahead *ahead, unsigned most);

/* A new connection to this address is used: open more, unless there are, or
 * were just now.  Nothing comes of it where that fails. */
void rd_http_ahead_begin (struct rd_http_ahead *ahead, const char *address,
                          int port);

/* A socket that is connected to this address, the caller's from now on; -1:
 * there is none. */
int rd_http_ahead_take (struct rd_http_ahead *ahead,
                        const struct sockaddr *to);

/* How long they may wait; UINT64_MAX: there are none. */
uint64_t rd_http_ahead_left_ns (const struct rd_http_ahead *ahead,
                                uint64_t now_ns);

/* Close all. */
void rd_http_ahead_end (struct rd_http_ahead *ahead);

/* One transfer. */
struct rd_http_attempt {
  struct rd_http_task *task;
  CURL *easy;
  struct rd_http_ahead *ahead;        /* NULL: its connection is to be new */
  bool is_first;              /* its connection was opened for it */
  bool is_ahead;              /* or before that */
  uint64_t begin_ns;
  uint64_t heard_ns;          /* when it was sent, or bytes came */
  uint64_t asked_ns;          /* its begin, or that of the one whose rival it
                                 was begun as */
  uint64_t waited_ns;         /* from then until the first byte came */
  bool is_sent, has_byte;
  bool is_hedged;             /* it has or had a rival, or was begun as one */
  uint64_t alone_ns;          /* its begin, or when its rival was put off */
  bool is_shunned;            /* it asked to come again by this status, */
  unsigned shunned_status;    /* and its rival is still waited for */
  bool is_judged;             /* its headers were looked at */
  bool is_accepted;           /* and its body is what was asked for */
  bool has_no_body;           /* of the object: what comes is ignored */
  bool is_refused;            /* task->error says why */
  bool has_problem;           /* no 2xx: conclude is to see the body */
  struct rd_buffer problem;
  struct curl_slist *headers; /* of the request */
  size_t part, part_offset;   /* the next byte of the request's body */
  uint64_t sent_nbytes;       /* of it */
  size_t expected_nbytes;     /* of an accepted body; SIZE_MAX: unknown */
  size_t ignored_nbytes;      /* of one that is not */
  char message[CURL_ERROR_SIZE];
};

/* Begin a transfer; its handle is to be given to a multi handle.
 * RADIO_ERROR_MEMORY. */
enum radio_status
rd_http_attempt_open (const struct rd_http_options *options,
                      struct rd_http_ahead *ahead, struct rd_http_task *task,
                      struct rd_http_attempt **attempt) RADIO_USE_RESULT;

/* The other one of two.  NULL: there is none. */
static inline struct rd_http_attempt *
rd_http_rival_of (const struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  return task->attempt == attempt ? task->rival : task->attempt;
}

/* Whether the other one of two is answered: its answer is the task's, to
 * which this one adds nothing any more. */
static inline bool
rd_http_is_beaten (const struct rd_http_attempt *attempt)
{
  const struct rd_http_attempt *rival = rd_http_rival_of (attempt);
  return rival && rival->has_byte;
}

/* Make its request's headers; tell its handle what to send. */
enum radio_status
rd_http_send_prepare (struct rd_http_attempt *attempt) RADIO_USE_RESULT;
bool rd_http_send_set (struct rd_http_attempt *attempt);

/* The transfer is over: judge its headers if no byte of a body came.
 * Whether all came that was to come of a good answer. */
bool rd_http_attempt_is_whole (struct rd_http_attempt *attempt);

/* What an attempt came to. */
struct rd_http_outcome {
  CURLcode code;              /* CURLE_OK: an answer came */
  enum radio_status status;   /* with its message */
  enum rd_http_next next;
};

/* The transfer ended with code. */
struct rd_http_outcome rd_http_judge (struct rd_http_attempt *attempt,
                                      CURLcode code);

/* Its handle is in no multi handle any more.  NULL is legal. */
void rd_http_attempt_close (struct rd_http_attempt *attempt);

/* What the engine learned of the other side, for how often it may be asked
 * again and how much at one time. */
struct rd_http_manners {
  unsigned limit;             /* requests at one time now */
  unsigned most;              /* ever */
  unsigned nsuccesses;        /* since the limit was raised */
  unsigned tokens;            /* left for attempts beyond the first */
  uint64_t slowed_ns;         /* when the limit was lowered */
  bool was_answered;          /* something took a request once */
  uint64_t random;            /* never 0 */
};

void rd_http_manners_begin (struct rd_http_manners *manners,
                            const struct rd_http_options *options);

/* A task was answered. */
void rd_http_manners_praise (struct rd_http_manners *manners,
                             const struct rd_http_task *task);

/* An attempt that was begun then was told to come again, and its task goes
 * on by another one. */
void rd_http_manners_heed (struct rd_http_manners *manners, unsigned status,
                           uint64_t begin_ns, uint64_t now_ns);

/* Whether a status asks to come again: 408, 429, 500, 502, 503, 504. */
bool rd_http_is_busy (unsigned status);

/* What follows an attempt that failed with code, or with a status that asks
 * to come again (CURLE_OK). */
enum rd_http_next rd_http_next_after (const struct rd_http_task *task,
                                      CURLcode code);

/* An attempt failed with code, or with an answer (CURLE_OK).  Whether there
 * is another one, and when. */
bool rd_http_manners_again (struct rd_http_manners *manners,
                            const struct rd_http_options *options,
                            struct rd_http_task *task, CURLcode code,
                            enum rd_http_next next, uint64_t now_ns);

/* Second requests of GETs that take long (hedging): how long they usually
 * take, and how many more may be asked twice.  Zero-filled but for percent,
 * it is one that was told nothing yet. */
#define RD_HTTP_HEDGE_NWAITS 100
struct rd_http_hedges {
  unsigned percent;           /* of what was answered; 0: none ever */
  unsigned credit;            /* percents that were saved up */
  size_t nwaits, next;
  uint64_t waits_ns[RD_HTTP_HEDGE_NWAITS];    /* of the last ones; a ring */
  uint64_t after_ns;          /* by these */
};

/* A GET was answered; its first byte came after wait_ns. */
void rd_http_hedges_note (struct rd_http_hedges *hedges, uint64_t wait_ns);

/* How long a GET is waited for before it is worth a second request;
 * UINT64_MAX while none is. */
uint64_t rd_http_hedges_after (const struct rd_http_hedges *hedges);

/* One was made. */
void rd_http_hedges_spend (struct rd_http_hedges *hedges);

static inline uint64_t
rd_http_now (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

#endif /* RD_HTTP_ENGINE_H */
