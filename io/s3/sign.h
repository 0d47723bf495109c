/* SPDX-License-Identifier: MIT */
/* Signing of requests: AWS Signature Version 4, by libcrypto's SHA-256 and
 * HMAC.  (The signer of libcurl 7.88, which Debian 12 has, signs two thirds
 * of the requests to S3 wrongly.)
 *
 * The bytes that are signed are the bytes that are sent: S3 encodes a path
 * once and does not normalise it, hence CURLOPT_PATH_AS_IS.  A path or a
 * query that is not encoded like rd_percent_encode does, and that S3 would
 * therefore understand differently, is rejected here.
 *
 * A signature is valid for a quarter of an hour: each attempt has its own. */
#ifndef RD_S3_SIGN_H
#define RD_S3_SIGN_H

#include <openssl/evp.h>
#include <pthread.h>

#include "io/http/http.h"
#include "io/s3/credentials.h"

/* A header of a request. */
struct rd_s3_header {
  const char *name, *value;
};

struct rd_s3_request {
  const char *method;         /* "GET" */
  const char *host;           /* as sent: with the port, unless it is the
                                 scheme's */
  const char *path;           /* as sent, by rd_percent_encode; from its
                                 '/' on */
  const char *query;          /* as sent, names and values encoded too, in
                                 any order, without '?'; NULL: none */

  /* Other headers to sign: every x-amz-* header but those that signing
   * makes, and optional ones.  Those that proxies may change (connection,
   * expect, transfer-encoding, upgrade, user-agent, x-amzn-trace-id) may be
   * among them, and are not signed. */
  const struct rd_s3_header *headers;
  size_t nheaders;

  const char *payload_sha256; /* in hexadecimal, or "UNSIGNED-PAYLOAD" */
};

/* The signing key of a day and region.  Deriving it is most of the work of
 * signing; a cached one is found by a digest of its inputs.  All functions
 * but init and free may be called from any thread, several at once. */
struct rd_s3_key_cache {
  pthread_mutex_t mutex;
  struct {
    bool is_set;
    unsigned char id[32];
    unsigned char key[32];
  } synced;
};

void rd_s3_key_cache_init (struct rd_s3_key_cache *cache);
void rd_s3_key_cache_free (struct rd_s3_key_cache *cache);

struct rd_s3_signing {
  const struct rd_s3_credentials *credentials;
  const char *region;         /* "us-east-1" */
  const char *service;        /* "s3" */
  int64_t now_s;              /* Unix time, by the server's clock */
  struct rd_s3_key_cache *cache;      /* or NULL */
};

#define RD_S3_SIGNED_NLINES 4

/* Lines to add, such as "x-amz-date: 20130524T000000Z": x-amz-date,
 * x-amz-content-sha256, x-amz-security-token if there is one, authorization;
 * none when anonymous.  Secret: not for logs. */
struct rd_s3_signed {
  char *lines[RD_S3_SIGNED_NLINES];
  size_t nlines;
};

/* Signs.  out is zero-filled.  RADIO_ERROR_ARGUMENT names the part of the
 * request that cannot be signed; no message holds any of the credentials. */
enum radio_status rd_s3_sign (const struct rd_s3_signing *signing,
                              const struct rd_s3_request *request,
                              struct rd_s3_signed *out) RADIO_USE_RESULT;

void rd_s3_signed_free (struct rd_s3_signed *out);

#define RD_S3_SIGNED_SCOPE RD_CLEANUP (rd_s3_signed_free)

/* Adds headers to an attempt; zeroizes its copies of secrets. */
enum radio_status rd_s3_add_headers (struct rd_http_headers *headers,
                                     const struct rd_s3_header *added,
                                     size_t n) RADIO_USE_RESULT;

/* Signs a request, and adds the lines to an attempt. */
enum radio_status rd_s3_add_signature (struct rd_http_headers *headers,
                                       const struct rd_s3_signing *signing,
                                       const struct rd_s3_request *request)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Digests
 *----------------------------------------------------------------------*/

#define RD_S3_SHA256_NBYTES 65

/* The SHA-256 of the parts, in hexadecimal.  RADIO_ERROR_MEMORY. */
enum radio_status rd_s3_sha256 (const struct rd_part *parts, size_t n,
                                char text[RD_S3_SHA256_NBYTES])
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * The steps of signing, for its tests
 *----------------------------------------------------------------------*/

#define RD_S3_KEY_NBYTES 32

/* "20130524T000000Z"; its first 8 characters are the day. */
#define RD_S3_TIME_NBYTES 17

enum radio_status rd_s3_time (int64_t unix_s, char text[RD_S3_TIME_NBYTES])
  RADIO_USE_RESULT;

/* The names of sorted headers, each once: "host;range;x-amz-date". */
enum radio_status rd_s3_signed_names (const struct rd_s3_header *headers,
                                      size_t n, struct rd_buffer *names)
  RADIO_USE_RESULT;

/* The digest of a canonical request.  The request's own headers are ignored:
 * the n sorted ones count, whose names are names.  The canonical request is
 * never assembled in memory, since a session token is part of it. */
enum radio_status
rd_s3_canonical_sha256 (const struct rd_s3_request *request,
                        const struct rd_s3_header *headers, size_t n,
                        const struct rd_buffer *names,
                        char text[RD_S3_SHA256_NBYTES]) RADIO_USE_RESULT;

/* The signature of a canonical request with that digest. */
enum radio_status rd_s3_signature (const struct rd_s3_signing *signing,
                                   const char *time,
                                   const char *canonical_sha256,
                                   char text[RD_S3_SHA256_NBYTES])
  RADIO_USE_RESULT;

#endif /* RD_S3_SIGN_H */
