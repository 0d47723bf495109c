/* SPDX-License-Identifier: MIT */
/* A store in S3 whose endpoint is a server of this process, and the server's
 * scripted answers. */
#ifndef RD_TESTS_S3_SITE_H
#define RD_TESTS_S3_SITE_H

#include "io/s3/s3.h"
#include "tests/io/http-peer.h"
#include "tests/io/store-asserts.h"

#define S3_ACCESS_KEY "AKIDEXAMPLE"
#define S3_SECRET_KEY "verySecret/Key+"

#define S3_MAX_ANSWERS 256

/* One request. */
#define S3_NATTEMPTS 4

struct s3_site {
  struct rd_io *objects, *io;
  struct http_peer *peer;
  const char *access_key;
  unsigned hedge_percent;     /* from the next opening on */
  enum radio_status find_status;      /* of looking for credentials */
  unsigned nfound;            /* how often credentials were looked for */
  char *answers[S3_MAX_ANSWERS];
  size_t nold, n;             /* of forgotten lists, and of this one */
};

/* For cmocka: the store is "s3://bucket/st". */
int s3_site_set_up (void **state);
int s3_site_tear_down (void **state);

/* Reopens the store; without an access key: anonymously. */
void s3_site_open (struct s3_site *site, const char *access_key,
                   bool single_writer);

/* One more answer: status and headers (each with its line end), and body. */
void s3_say (struct s3_site *site, const char *status, const char *headers,
             const char *body);

/* An error response of S3, whose message contains the secret key. */
void s3_say_error (struct s3_site *site, const char *status,
                   const char *headers, const char *code);

/* To HEAD: the length is the object's. */
void s3_say_head (struct s3_site *site, const char *headers,
                  unsigned nbytes);

/* Closes the connection without an answer. */
void s3_say_nothing (struct s3_site *site);

/* Begin a new list of answers. */
void s3_site_forget (struct s3_site *site);

/* Asserts that the i-th request's head contains a text, or does not, in any
 * case. */
void s3_assert_heard (struct s3_site *site, size_t i, const char *part);
void s3_assert_unheard (struct s3_site *site, size_t i, const char *part);

/* All responses were requested, and no more. */
void s3_assert_all_sent (struct s3_site *site);

#endif /* RD_TESTS_S3_SITE_H */
