/* SPDX-License-Identifier: MIT */
/* The fixture of tests of the HTTP engine: a server, an engine, and tasks whose
 * end a test waits for. */
#ifndef RD_TESTS_HTTP_SITE_H
#define RD_TESTS_HTTP_SITE_H

#include <pthread.h>

#include "io/http/http.h"
#include "tests/io/http-peer.h"

struct http_site {
  struct rd_io *objects;      /* "key" is "quick" */
  struct http_peer *peer;
  struct rd_http *http;
  char url[128];              /* of the key */
  const char *answers[16];    /* the test's, while the peer says them */
  char *texts[2];             /* long ones of them; freed with the site */
};

/* Opens a site, which a test's state gets; and closes it. */
int http_site_set_up (void **state, const struct rd_http_options *options);
int http_site_tear_down (void **state);

/* Opens the engine with other options. */
void http_site_reopen (struct http_site *site,
                       const struct rd_http_options *options);

/* A task whose end is waited for. */
struct http_job {
  struct rd_http_task task;           /* first */
  struct http_site *site;
  struct rd_buffer into;      /* for the body, if the test wants it there */
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  bool is_done;
  unsigned nprepared;         /* counted by the test's prepare */
};

#define HTTP_JOB_INIT { .mutex = PTHREAD_MUTEX_INITIALIZER, \
                        .ended = PTHREAD_COND_INITIALIZER }

/* Submits the task, for the site's URL unless it has one; may be repeated. */
void http_job_submit (struct http_site *site, struct http_job *job);

/* Waits for its end, and returns its result. */
enum radio_status http_job_await (struct http_job *job);

/* Both. */
enum radio_status http_job_run (struct http_site *site,
                                struct http_job *job);

void http_job_free (struct http_job *job);
#define HTTP_JOB_SCOPE RD_CLEANUP (http_job_free)

#endif /* RD_TESTS_HTTP_SITE_H */
