/* SPDX-License-Identifier: MIT */
/* A web server on loopback, in this process, that serves a store's objects; on
 * demand it violates the protocol. */
#ifndef RD_TESTS_HTTP_PEER_H
#define RD_TESTS_HTTP_PEER_H

#include "io/io.h"

enum http_fault {
  HTTP_OK,
  HTTP_BUSY,                  /* 503 */
  HTTP_BUSY_ENDLESS,          /* 503 with a body that does not end */
  HTTP_FORBIDDEN,             /* 403 */
  HTTP_TEAPOT,                /* 418 */
  HTTP_DROP_EARLY,            /* hangs up before it answers */
  HTTP_DROP_MIDWAY,           /* hangs up within the body */
  HTTP_SILENT,                /* never answers */
  HTTP_STALL,                 /* stops within the body */
  HTTP_WHOLE,                 /* 200 and the whole object for any request */
  HTTP_WHOLE_UNTOLD,          /* the same in chunks, without its size */
  HTTP_SHIFTED,               /* 206 that is one byte beside */
  HTTP_UNTOLD_RANGE,          /* 206 without Content-Range */
  HTTP_UNTOLD_TOTAL,          /* 206 with "*" as the object's size */
  HTTP_LONGER,                /* 206 with more in its body than its range */
  HTTP_SHORTER,               /* 206 of a part of the requested range */
  HTTP_OTHER_ETAG,            /* another object than before */
  HTTP_ENCODED,               /* says that the body is compressed */
  HTTP_GZIP_FILE,             /* 206 that says so, of a file that is gzip */
  HTTP_ENDLESS_HEADERS,
  HTTP_NONSENSE,              /* no HTTP at all */
  HTTP_REDIRECT,              /* 302 to the same on "/there/KEY" */
  HTTP_REDIRECT_LOOP,         /* 302 to itself */
  HTTP_OTHER_TOTAL,           /* 206 of an object that is one byte longer */
  HTTP_FLIPPED,               /* 206 with a changed bit, each time another */
  HTTP_CLAIM,                 /* 200 that claims 2^60 bytes, then hangs up */
  HTTP_HELD,                  /* right, once http_peer_release was called */
};

struct http_peer;

/* Serve the objects of a store, which stays the caller's.  Ends the program
 * when it cannot. */
struct http_peer *http_peer_start (struct rd_io *objects);
void http_peer_stop (struct http_peer *peer);

/* "http://127.0.0.1:PORT/data" */
const char *http_peer_url (const struct http_peer *peer);

/* This many answers from now on have this fault, after `after' good ones. */
void http_peer_script (struct http_peer *peer, enum http_fault fault,
                       unsigned after, unsigned times);

/* From now on wrong_percent of the responses with a range contradict the
 * request or each other, and flipped_percent have a changed bit.  Which ones
 * depends on the request and how often it came, not on time; three at most in
 * a row for one request. */
void http_peer_set_odds (struct http_peer *peer, unsigned wrong_percent,
                         unsigned flipped_percent);

/* Replaced by the last value of a request's x-amz-meta-radio-writer. */
#define HTTP_PEER_WRITER "@WRITER@"

/* Where an answer waits until as many were released. */
#define HTTP_PEER_HOLD_1 "@HOLD-1@"
#define HTTP_PEER_HOLD_2 "@HOLD-2@"
#define HTTP_PEER_HOLD_3 "@HOLD-3@"
void http_peer_release (struct http_peer *peer, unsigned n);

/* Where it ends, with its connection. */
#define HTTP_PEER_HANG_UP "@HANG-UP@"

/* The next answers to any requests, in place of the store's: each as it is
 * sent, or NULL to hang up without one; they stay the caller's.  The same
 * array with more of them resumes. */
void http_peer_say (struct http_peer *peer, const char *const *answers,
                    size_t n);

/* True if all of them were sent. */
bool http_peer_has_sent_all (struct http_peer *peer);

/* The head of the i-th request since they were set, as it came, and its
 * body; both until the next ones are set.  NULL: there was none. */
const char *http_peer_head (struct http_peer *peer, size_t i);
const struct rd_buffer *http_peer_body (struct http_peer *peer, size_t i);

/* Requests and connections so far; and those that are open. */
unsigned http_peer_requests (struct http_peer *peer);
unsigned http_peer_connections (struct http_peer *peer);
unsigned http_peer_open_connections (struct http_peer *peer);

/* Hang up on all of them. */
void http_peer_hang_up (struct http_peer *peer);

/* The path of the last request, not decoded; until the next request. */
const char *http_peer_path (struct http_peer *peer);

#endif /* RD_TESTS_HTTP_PEER_H */
