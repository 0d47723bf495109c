/* SPDX-License-Identifier: MIT */
/* The steps of Signature Version 4, for io/s3/sign.c and its tests. */
#ifndef RD_S3_CANONICAL_H
#define RD_S3_CANONICAL_H

#include <openssl/evp.h>

#include "io/s3/sign.h"

#define RD_S3_KEY_NBYTES 32

/* A digest in the making.  That adding to it failed is told by its end. */
struct rd_s3_digest {
  EVP_MD_CTX *context;
  bool has_failed;
};

enum radio_status rd_s3_digest_begin (struct rd_s3_digest *digest)
  RADIO_USE_RESULT;
void rd_s3_digest_add (struct rd_s3_digest *digest, const void *data,
                       size_t nbytes);
void rd_s3_digest_add_text (struct rd_s3_digest *digest, const char *text);
enum radio_status rd_s3_digest_end (struct rd_s3_digest *digest,
                                    char text[RD_S3_SHA256_NBYTES])
  RADIO_USE_RESULT;
void rd_s3_digest_free (struct rd_s3_digest *digest);

#define RD_S3_DIGEST_SCOPE RD_CLEANUP (rd_s3_digest_free)

void rd_s3_hex (const unsigned char *bytes, size_t n, char *text);

/* "20130524T000000Z"; its first 8 characters are the day. */
#define RD_S3_TIME_NBYTES 17

enum radio_status rd_s3_time (int64_t unix_s, char text[RD_S3_TIME_NBYTES])
  RADIO_USE_RESULT;

/* Put the headers into the order in which they are signed, and leave out
 * those that are not; *n is how many are left. */
void rd_s3_sort_headers (struct rd_s3_header *headers, size_t *n);

/* The names of sorted headers, each once: "host;range;x-amz-date". */
enum radio_status rd_s3_signed_names (const struct rd_s3_header *headers,
                                      size_t n, struct rd_buffer *names)
  RADIO_USE_RESULT;

/* The digest of a canonical request.  That of the request's headers is left
 * alone: those that count are sorted, and named by names.  The request is
 * never put together in memory, since a session token is part of it. */
enum radio_status
rd_s3_canonical_sha256 (const struct rd_s3_request *request,
                        const struct rd_s3_header *headers, size_t n,
                        const struct rd_buffer *names,
                        char text[RD_S3_SHA256_NBYTES]) RADIO_USE_RESULT;

/* The key of signing->now_s, from its cache or into it. */
enum radio_status rd_s3_signing_key (const struct rd_s3_signing *signing,
                                     const char *time,
                                     unsigned char key[RD_S3_KEY_NBYTES])
  RADIO_USE_RESULT;

/* "20130524/us-east-1/s3/aws4_request". */
enum radio_status rd_s3_append_scope (struct rd_buffer *text,
                                      const struct rd_s3_signing *signing,
                                      const char *time) RADIO_USE_RESULT;

/* The signature of a canonical request with that digest. */
enum radio_status rd_s3_signature (const struct rd_s3_signing *signing,
                                   const char *time,
                                   const char *canonical_sha256,
                                   char text[RD_S3_SHA256_NBYTES])
  RADIO_USE_RESULT;

#endif /* RD_S3_CANONICAL_H */
