/* SPDX-License-Identifier: MIT */
/* Requests to S3, signed: AWS Signature Version 4, by libcrypto's SHA-256
 * and HMAC.  (libcurl has a signer too; that of 7.88, which Debian 12 has,
 * gets two thirds of what S3 is asked wrong.)
 *
 * What is signed is what is sent.  S3 encodes a path once and does not
 * normalise it, so the bytes that go out must be those that were signed:
 * CURLOPT_PATH_AS_IS.  A path or a query that another encoder than
 * rd_percent_encode made, and that S3 would therefore understand differently,
 * is refused here instead of there.
 *
 * A signature is good for a quarter of an hour: each attempt signs anew.
 */
#ifndef RD_S3_SIGN_H
#define RD_S3_SIGN_H

#include <radio/base.h>

#include "src/base/cleanup.h"
#include "io/io.h"

/* Who asks.  Without an access key: nobody, so that nothing is signed. */
struct rd_s3_credentials {
  char *access_key, *secret_key;
  char *session_token;        /* or NULL */
  int64_t expires_s;          /* Unix time; 0: never */
};

/* Copies of the strings, all of which may be NULL.  RADIO_ERROR_MEMORY. */
enum radio_status
rd_s3_credentials_new (const char *access_key, const char *secret_key,
                       const char *session_token, int64_t expires_s,
                       struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;
enum radio_status
rd_s3_credentials_copy (const struct rd_s3_credentials *from,
                        struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* Overwrites what is secret.  NULL is legal. */
void rd_s3_credentials_free (struct rd_s3_credentials *credentials);

RD_DEFINE_CLEANUP (s3_credentials, struct rd_s3_credentials,
                   rd_s3_credentials_free);

/* Overwrite a string and free it.  NULL is legal. */
void rd_s3_wipe (char *text);

/* A line of a request's head. */
struct rd_s3_header {
  const char *name, *value;
};

struct rd_s3_request {
  const char *method;         /* "GET" */
  const char *host;           /* as sent: with the port, unless it is the
                                 scheme's */
  const char *path;           /* as sent, by rd_percent_encode; from its
                                 '/' on */
  const char *query;          /* as sent, names and values encoded so too, in
                                 any order, without '?'; NULL: none */

  /* What else is sent and shall be signed: every x-amz-* header but those
   * that signing makes, and others at will.  Those that proxies may change
   * (connection, expect, transfer-encoding, upgrade, user-agent,
   * x-amzn-trace-id) may be among them, and are not signed. */
  const struct rd_s3_header *headers;
  size_t nheaders;

  const char *payload_sha256; /* in hexadecimal, or "UNSIGNED-PAYLOAD" */
};

/* The key that a day's requests to one region are signed with.  Deriving it
 * is most of the work of signing; one that is kept is found by a digest of
 * what it is derived from.  All functions may be called from any thread,
 * several at once, but for init and wipe. */
struct rd_s3_key_cache {
  pthread_mutex_t mutex;
  struct {
    bool is_set;
    unsigned char id[32];
    unsigned char key[32];
  } synced;
};

void rd_s3_key_cache_init (struct rd_s3_key_cache *cache);
void rd_s3_key_cache_wipe (struct rd_s3_key_cache *cache);

struct rd_s3_signing {
  const struct rd_s3_credentials *credentials;
  const char *region;         /* "us-east-1" */
  const char *service;        /* "s3" */
  int64_t now_s;              /* Unix time, as the server has it */
  struct rd_s3_key_cache *cache;      /* or NULL */
};

#define RD_S3_SIGNED_NLINES 4

/* Lines to send besides, as "x-amz-date: 20130524T000000Z": x-amz-date,
 * x-amz-content-sha256, x-amz-security-token if there is one, authorization;
 * none at all when nobody asks.  Secret: not for logs. */
struct rd_s3_signed {
  char *lines[RD_S3_SIGNED_NLINES];
  size_t nlines;
};

/* Sign.  out is zero-filled.  RADIO_ERROR_ARGUMENT tells which part of the
 * request cannot be signed; no message holds anything of the credentials. */
enum radio_status rd_s3_sign (const struct rd_s3_signing *signing,
                              const struct rd_s3_request *request,
                              struct rd_s3_signed *out) RADIO_USE_RESULT;

void rd_s3_signed_free (struct rd_s3_signed *out);

#define RD_S3_SIGNED_SCOPE RD_CLEANUP (rd_s3_signed_free)

#define RD_S3_SHA256_NBYTES 65

/* The SHA-256 of what the parts hold, in hexadecimal.  RADIO_ERROR_MEMORY.
 */
enum radio_status rd_s3_sha256 (const struct rd_part *parts, size_t n,
                                char text[RD_S3_SHA256_NBYTES])
  RADIO_USE_RESULT;

#endif /* RD_S3_SIGN_H */
