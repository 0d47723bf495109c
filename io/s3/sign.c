/* SPDX-License-Identifier: MIT */
/* Signature Version 4: the cryptography, by libcrypto; which headers are
 * signed, the canonical request, and the lines that are sent. */
#include <config.h>

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/checked.h"
#include "src/base/digest.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "io/percent.h"
#include "io/s3/sign.h"

#define TERMINATOR "aws4_request"
#define DAY_NBYTES 8

static enum radio_status
fail_crypto (void)
{
  return rd_fail (RADIO_ERROR_MEMORY, "the SHA-256 of libcrypto failed");
}

/*------------------------------------------------------------------------
 * Digests
 *----------------------------------------------------------------------*/

/* A digest in progress.  Its end returns a failure to add to it. */
struct digest {
  EVP_MD_CTX *context;
  bool has_failed;
};

static enum radio_status
digest_begin (struct digest *digest)
{
  digest->context = rd_digest_sha256 () ? EVP_MD_CTX_new () : NULL;
  digest->has_failed = false;
  if (digest->context
      && EVP_DigestInit_ex (digest->context, rd_digest_sha256 (), NULL))
    return RADIO_OK;
  return fail_crypto ();
}

static void
digest_add (struct digest *digest, const void *data, size_t nbytes)
{
  if (nbytes && !EVP_DigestUpdate (digest->context, data, nbytes))
    digest->has_failed = true;
}

static void
digest_add_text (struct digest *digest, const char *text)
{
  digest_add (digest, text, strlen (text));
}

static enum radio_status
digest_end (struct digest *digest, unsigned char bytes[32])
{
  unsigned n = 0;
  if (digest->has_failed || !EVP_DigestFinal_ex (digest->context, bytes, &n)
      || n != 32)
    return fail_crypto ();
  return RADIO_OK;
}

static enum radio_status
digest_end_hex (struct digest *digest, char text[RD_S3_SHA256_NBYTES])
{
  unsigned char bytes[32];
  RD_TRY (digest_end (digest, bytes));
  rd_hex_text (bytes, sizeof bytes, text);
  return RADIO_OK;
}

static void
digest_free (struct digest *digest)
{
  EVP_MD_CTX_free (digest->context);
  digest->context = NULL;
}

enum radio_status
rd_s3_sha256 (const struct rd_part *parts, size_t n,
              char text[RD_S3_SHA256_NBYTES])
{
  RD_CLEANUP (digest_free) struct digest digest = { 0 };
  RD_TRY (digest_begin (&digest));
  for (size_t i = 0; i < n; i++)
    digest_add (&digest, parts[i].data, parts[i].nbytes);
  return digest_end_hex (&digest, text);
}

/*------------------------------------------------------------------------
 * The time
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_time (int64_t unix_s, char text[RD_S3_TIME_NBYTES])
{
  time_t time = (time_t) unix_s;
  struct tm tm;
  if (time != unix_s || gmtime_r (&time, &tm) == NULL
      || tm.tm_year < -900 || tm.tm_year > 9999 - 1900
      || strftime (text, RD_S3_TIME_NBYTES, "%Y%m%dT%H%M%SZ", &tm)
         != RD_S3_TIME_NBYTES - 1)
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request cannot be signed at "
                    "%lld s of Unix time", (long long) unix_s);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Signing keys
 *----------------------------------------------------------------------*/

static enum radio_status
derive_key (const struct rd_s3_signing *signing, const char *day,
            unsigned char key[RD_S3_KEY_NBYTES])
{
  RD_S3_SECRET_SCOPE struct rd_buffer secret = { 0 };
  const char *text = signing->credentials->secret_key;
  RD_TRY (rd_buffer_reserve (&secret, strlen (text) + strlen ("AWS4")));
  RD_TRY (rd_s3_append (&secret, "AWS4"));
  RD_TRY (rd_s3_append (&secret, text));
  if (rd_hmac_sha256 (secret.data, secret.nbytes, day, DAY_NBYTES, key)
      && rd_hmac_sha256 (key, RD_S3_KEY_NBYTES, signing->region,
                         strlen (signing->region), key)
      && rd_hmac_sha256 (key, RD_S3_KEY_NBYTES, signing->service,
                         strlen (signing->service), key)
      && rd_hmac_sha256 (key, RD_S3_KEY_NBYTES, TERMINATOR,
                         strlen (TERMINATOR), key))
    return RADIO_OK;
  OPENSSL_cleanse (key, RD_S3_KEY_NBYTES);
  return fail_crypto ();
}

/* The key of signing->now_s, from its cache or into it. */
static enum radio_status
find_signing_key (const struct rd_s3_signing *signing, const char *time,
                  unsigned char key[RD_S3_KEY_NBYTES])
{
  struct rd_s3_key_cache *cache = signing->cache;
  RD_CLEANUP (digest_free) struct digest digest = { 0 };
  unsigned char id[32];
  if (cache == NULL)
    return derive_key (signing, time, key);
  /* A digest of the inputs, each of which ends in a NUL. */
  const char *const texts[] = { signing->credentials->secret_key,
                                signing->region, signing->service };
  RD_TRY (digest_begin (&digest));
  digest_add (&digest, time, DAY_NBYTES);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    digest_add (&digest, texts[i], strlen (texts[i]) + 1);
  RD_TRY (digest_end (&digest, id));
  {
    RD_LOCK_SCOPE (&cache->mutex);
    if (cache->synced.is_set && memcmp (cache->synced.id, id, sizeof id) == 0) {
      memcpy (key, cache->synced.key, RD_S3_KEY_NBYTES);
      return RADIO_OK;
    }
  }
  RD_TRY (derive_key (signing, time, key));
  RD_LOCK_SCOPE (&cache->mutex);
  memcpy (cache->synced.id, id, sizeof id);
  memcpy (cache->synced.key, key, RD_S3_KEY_NBYTES);
  cache->synced.is_set = true;
  return RADIO_OK;
}

void
rd_s3_key_cache_init (struct rd_s3_key_cache *cache)
{
  memset (&cache->synced, 0, sizeof cache->synced);
  pthread_mutex_init (&cache->mutex, NULL);
}

void
rd_s3_key_cache_free (struct rd_s3_key_cache *cache)
{
  pthread_mutex_destroy (&cache->mutex);
  OPENSSL_cleanse (&cache->synced, sizeof cache->synced);
}

/*------------------------------------------------------------------------
 * The signature
 *----------------------------------------------------------------------*/

/* "20130524/us-east-1/s3/aws4_request". */
static enum radio_status
append_scope (struct rd_buffer *text, const struct rd_s3_signing *signing,
              const char *time)
{
  RD_TRY (rd_buffer_append (text, time, DAY_NBYTES));
  RD_TRY (rd_s3_append (text, "/"));
  RD_TRY (rd_s3_append (text, signing->region));
  RD_TRY (rd_s3_append (text, "/"));
  RD_TRY (rd_s3_append (text, signing->service));
  return rd_s3_append (text, "/" TERMINATOR);
}

enum radio_status
rd_s3_signature (const struct rd_s3_signing *signing, const char *time,
                 const char *canonical_sha256,
                 char text[RD_S3_SHA256_NBYTES])
{
  RD_BUFFER_SCOPE struct rd_buffer to_sign = { 0 };
  unsigned char key[RD_S3_KEY_NBYTES], signature[RD_S3_KEY_NBYTES];
  RD_TRY (rd_s3_append (&to_sign, "AWS4-HMAC-SHA256\n"));
  RD_TRY (rd_s3_append (&to_sign, time));
  RD_TRY (rd_s3_append (&to_sign, "\n"));
  RD_TRY (append_scope (&to_sign, signing, time));
  RD_TRY (rd_s3_append (&to_sign, "\n"));
  RD_TRY (rd_s3_append (&to_sign, canonical_sha256));
  RD_TRY (find_signing_key (signing, time, key));
  bool is_done = rd_hmac_sha256 (key, sizeof key, to_sign.data,
                                 to_sign.nbytes, signature);
  OPENSSL_cleanse (key, sizeof key);
  if (!is_done)
    return fail_crypto ();
  rd_hex_text (signature, sizeof signature, text);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Characters, in any locale
 *----------------------------------------------------------------------*/

static unsigned char
to_lower (unsigned char c)
{
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Returns the number of bytes up to one of stops, the end, or a byte that is
 * not encoded like rd_percent_encode does. */
static size_t
encoded_span (const char *text, const char *stops)
{
  size_t n = 0;
  while (text[n] && !strchr (stops, text[n])) {
    if (rd_is_unreserved ((unsigned char) text[n])) {
      n++;
      continue;
    }
    /* Hexadecimal digits are in upper case. */
    const char *digits = text + n + 1;
    int high = text[n] != '%' || digits[0] >= 'a' ? -1
                                                  : rd_hex_value (digits[0]);
    int low = high < 0 || digits[1] >= 'a' ? -1 : rd_hex_value (digits[1]);
    if (low < 0 || rd_is_unreserved ((unsigned char) (high * 16 + low)))
      break;
    n += 3;
  }
  return n;
}

/*------------------------------------------------------------------------
 * The query
 *----------------------------------------------------------------------*/

struct pair {
  const char *name, *value;   /* within the query */
  size_t name_nbytes, value_nbytes;
};

static int
compare_texts (const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
  size_t n = a_nbytes < b_nbytes ? a_nbytes : b_nbytes;
  int order = n ? memcmp (a, b, n) : 0;
  return order ? order : rd_compare_u64 (a_nbytes, b_nbytes);
}

static int
compare_pairs (const void *a_pointer, const void *b_pointer)
{
  const struct pair *a = a_pointer, *b = b_pointer;
  int order = compare_texts (a->name, a->name_nbytes, b->name,
                             b->name_nbytes);
  return order ? order : compare_texts (a->value, a->value_nbytes, b->value,
                                        b->value_nbytes);
}

static enum radio_status
add_query (struct digest *digest, const char *query)
{
  if (query == NULL || query[0] == '\0')
    return RADIO_OK;
  size_t n = 1;
  for (const char *p = query; (p = strchr (p, '&')); p++)
    n++;
  RD_FREE struct pair *pairs = rd_calloc (n, sizeof *pairs);
  if (pairs == NULL)
    return rd_fail_memory (n * sizeof *pairs);
  const char *at = query;
  for (size_t i = 0; i < n; i++) {
    struct pair *pair = &pairs[i];
    at += i > 0;
    *pair = (struct pair) { at, "", encoded_span (at, "=&"), 0 };
    at += pair->name_nbytes;
    if (pair->name_nbytes > 0 && *at == '=') {
      pair->value = ++at;
      pair->value_nbytes = encoded_span (at, "&");
      at += pair->value_nbytes;
    }
    if (pair->name_nbytes == 0 || (*at && *at != '&'))
      return rd_fail (RADIO_ERROR_ARGUMENT, "the query '%s' of a request is "
                      "not encoded as it is signed", query);
  }
  qsort (pairs, n, sizeof *pairs, compare_pairs);
  for (size_t i = 0; i < n; i++) {
    digest_add_text (digest, i ? "&" : "");
    digest_add (digest, pairs[i].name, pairs[i].name_nbytes);
    digest_add_text (digest, "=");
    digest_add (digest, pairs[i].value, pairs[i].value_nbytes);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Headers
 *----------------------------------------------------------------------*/

/* Compares whole names: "x-amz-meta-a" comes before "x-amz-meta-a-b", though
 * '-' comes before ':'. */
static int
compare_names (const char *a, const char *b)
{
  while (*a && to_lower ((unsigned char) *a) == to_lower ((unsigned char) *b))
    a++, b++;
  return to_lower ((unsigned char) *a) - to_lower ((unsigned char) *b);
}

/* Sorts the headers into the order in which they are signed, and removes
 * those that are not; *n is how many are left.  A stable insertion sort: they
 * are few. */
static void
sort_headers (struct rd_s3_header *headers, size_t *n)
{
  /* Proxies change or remove these. */
  static const char *const unsigned_names[] = {
    "connection", "expect", "transfer-encoding", "upgrade", "user-agent",
    "x-amzn-trace-id",
  };
  size_t nsorted = 0;
  for (size_t i = 0; i < *n; i++) {
    struct rd_s3_header header = headers[i];
    bool is_signed = true;
    for (size_t j = 0;
         j < sizeof unsigned_names / sizeof unsigned_names[0]; j++)
      is_signed &= compare_names (header.name, unsigned_names[j]) != 0;
    if (!is_signed)
      continue;
    size_t at = nsorted++;
    for (; at > 0 && compare_names (headers[at - 1].name, header.name) > 0;
         at--)
      headers[at] = headers[at - 1];
    headers[at] = header;
  }
  *n = nsorted;
}

static bool
is_repeated (const struct rd_s3_header *headers, size_t i)
{
  return i > 0 && compare_names (headers[i - 1].name, headers[i].name) == 0;
}

enum radio_status
rd_s3_signed_names (const struct rd_s3_header *headers, size_t n,
                    struct rd_buffer *names)
{
  for (size_t i = 0; i < n; i++) {
    if (is_repeated (headers, i))
      continue;
    if (i > 0)
      RD_TRY (rd_buffer_append (names, ";", 1));
    for (const char *name = headers[i].name; *name; name++) {
      unsigned char c = to_lower ((unsigned char) *name);
      RD_TRY (rd_buffer_append (names, &c, 1));
    }
  }
  return RADIO_OK;
}

static void
add_headers (struct digest *digest, const struct rd_s3_header *headers,
             size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (is_repeated (headers, i)) {
      digest_add_text (digest, ",");
    } else {
      digest_add_text (digest, i ? "\n" : "");
      for (const char *name = headers[i].name; *name; name++) {
        unsigned char c = to_lower ((unsigned char) *name);
        digest_add (digest, &c, 1);
      }
      digest_add_text (digest, ":");
    }
    /* Blanks at the ends are trimmed, others collapse to one. */
    bool is_first = true;
    for (const char *value = headers[i].value; *value; is_first = false) {
      value += strspn (value, " \t");
      size_t nbytes = strcspn (value, " \t");
      if (nbytes > 0)
        digest_add_text (digest, is_first ? "" : " ");
      digest_add (digest, value, nbytes);
      value += nbytes;
    }
  }
  digest_add_text (digest, "\n");
}

/*------------------------------------------------------------------------
 * The canonical request: a server derives it from what it received, and must
 * come to the same
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_canonical_sha256 (const struct rd_s3_request *request,
                        const struct rd_s3_header *headers, size_t n,
                        const struct rd_buffer *names,
                        char text[RD_S3_SHA256_NBYTES])
{
  RD_CLEANUP (digest_free) struct digest digest = { 0 };
  RD_TRY (digest_begin (&digest));
  digest_add_text (&digest, request->method);
  digest_add_text (&digest, "\n");
  const char *at = request->path;
  while (*at == '/')
    at += 1 + encoded_span (at + 1, "/");
  if (at == request->path)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the path '%s' of a request does "
                    "not begin with '/'", request->path);
  if (*at)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the path '%s' of a request is not "
                    "encoded as it is signed", request->path);
  digest_add_text (&digest, request->path);
  digest_add_text (&digest, "\n");
  RD_TRY (add_query (&digest, request->query));
  digest_add_text (&digest, "\n");
  add_headers (&digest, headers, n);
  digest_add_text (&digest, "\n");
  digest_add (&digest, names->data, names->nbytes);
  digest_add_text (&digest, "\n");
  digest_add_text (&digest, request->payload_sha256);
  return digest_end_hex (&digest, text);
}

/*------------------------------------------------------------------------
 * Validation
 *----------------------------------------------------------------------*/

/* False for characters that end a line, or that a server may drop. */
static bool
is_line (const char *text)
{
  for (const unsigned char *p = (const unsigned char *) text; *p; p++)
    if ((*p < 0x20 && *p != '\t') || *p == 0x7f)
      return false;
  return true;
}

/* The same, without blanks. */
static bool
is_word (const char *text)
{
  return text && text[0] && is_line (text) && !strpbrk (text, " \t");
}

/* A name of RFC 9110, 5.1. */
static bool
is_name (const char *text)
{
  static const char chars[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "!#$%&'*+-.^_`|~";
  return text && text[0] && text[strspn (text, chars)] == '\0';
}

static enum radio_status
check_inputs (const struct rd_s3_signing *signing,
              const struct rd_s3_request *request)
{
  const struct rd_s3_credentials *credentials = signing->credentials;
  static const char *const reserved[] = {
    "host", "authorization", "x-amz-date", "x-amz-content-sha256",
    "x-amz-security-token",
  };
  if (!is_word (signing->region) || strchr (signing->region, '/'))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': invalid region",
                    signing->region ? signing->region : "");
  if (!is_word (signing->service) || strchr (signing->service, '/'))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': invalid service",
                    signing->service ? signing->service : "");
  if (!is_word (credentials->access_key) || credentials->secret_key == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the access key and the secret key "
                    "must both be given, on one line");
  if (credentials->session_token && !is_word (credentials->session_token))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the session token must be one "
                    "line without blanks");
  if (!is_name (request->method))
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs a method");
  if (!is_word (request->host))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': invalid host",
                    request->host ? request->host : "");
  if (request->path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs a path");
  if (!is_word (request->payload_sha256))
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs the SHA-256 of "
                    "its body");
  for (size_t i = 0; i < request->nheaders; i++) {
    const struct rd_s3_header *header = &request->headers[i];
    bool is_valid = is_name (header->name);
    for (size_t j = 0; is_valid && j < sizeof reserved / sizeof reserved[0];
         j++)
      is_valid = compare_names (header->name, reserved[j]) != 0;
    if (!is_valid)
      return rd_fail (RADIO_ERROR_ARGUMENT, "a request's header cannot be "
                      "called '%s'", header->name ? header->name : "");
    if (header->value == NULL || !is_line (header->value))
      return rd_fail (RADIO_ERROR_ARGUMENT, "the value of a request's header "
                      "'%s' has control characters", header->name);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Signing
 *----------------------------------------------------------------------*/

static enum radio_status
add_line (struct rd_s3_signed *out, const char *name, const char *value)
{
  size_t name_nbytes = strlen (name), nbytes = strlen (value) + 1;
  char *line = rd_malloc (name_nbytes + 2 + nbytes);
  if (line == NULL)
    return rd_fail_memory (name_nbytes + 2 + nbytes);
  memcpy (line, name, name_nbytes);
  memcpy (line + name_nbytes, ": ", 2);
  memcpy (line + name_nbytes + 2, value, nbytes);
  out->lines[out->nlines++] = line;
  return RADIO_OK;
}

void
rd_s3_signed_free (struct rd_s3_signed *out)
{
  for (size_t i = 0; i < out->nlines; i++)
    rd_s3_secret_free (out->lines[i]);
  *out = (struct rd_s3_signed) { 0 };
}

/* The headers of the request, and host and those of signing. */
#define NOWN 4

static enum radio_status
add_lines (struct rd_s3_signed *out, const struct rd_s3_signing *signing,
           const struct rd_s3_request *request, const char *time)
{
  RD_BUFFER_SCOPE struct rd_buffer names = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer text = { 0 };
  char sha256[RD_S3_SHA256_NBYTES], signature[RD_S3_SHA256_NBYTES];
  const char *token = signing->credentials->session_token;
  size_t n = 0;
  RD_FREE struct rd_s3_header *headers =
    rd_calloc (request->nheaders + NOWN, sizeof *headers);
  if (headers == NULL)
    return rd_fail_memory ((request->nheaders + NOWN) * sizeof *headers);
  headers[n++] = (struct rd_s3_header) { "host", request->host };
  headers[n++] = (struct rd_s3_header) { "x-amz-date", time };
  headers[n++] = (struct rd_s3_header) { "x-amz-content-sha256",
                                         request->payload_sha256 };
  if (token)
    headers[n++] = (struct rd_s3_header) { "x-amz-security-token", token };
  for (size_t i = 0; i < request->nheaders; i++)
    headers[n++] = request->headers[i];
  sort_headers (headers, &n);
  RD_TRY (rd_s3_signed_names (headers, n, &names));
  RD_TRY (rd_s3_canonical_sha256 (request, headers, n, &names, sha256));
  RD_TRY (rd_s3_signature (signing, time, sha256, signature));
  RD_TRY (add_line (out, "x-amz-date", time));
  RD_TRY (add_line (out, "x-amz-content-sha256", request->payload_sha256));
  if (token)
    RD_TRY (add_line (out, "x-amz-security-token", token));
  /* At its full size, so that no copy stays in freed memory. */
  RD_TRY (rd_buffer_reserve (&text, strlen (signing->credentials->access_key)
                                    + strlen (signing->region)
                                    + strlen (signing->service)
                                    + names.nbytes + 256));
  RD_TRY (rd_s3_append (&text, "AWS4-HMAC-SHA256 Credential="));
  RD_TRY (rd_s3_append (&text, signing->credentials->access_key));
  RD_TRY (rd_s3_append (&text, "/"));
  RD_TRY (append_scope (&text, signing, time));
  RD_TRY (rd_s3_append (&text, ",SignedHeaders="));
  RD_TRY (rd_buffer_append (&text, names.data, names.nbytes));
  RD_TRY (rd_s3_append (&text, ",Signature="));
  RD_TRY (rd_buffer_append (&text, signature, RD_S3_SHA256_NBYTES));
  return add_line (out, "authorization", (const char *) text.data);
}

enum radio_status
rd_s3_sign (const struct rd_s3_signing *signing,
            const struct rd_s3_request *request, struct rd_s3_signed *out)
{
  RD_S3_SIGNED_SCOPE struct rd_s3_signed made = { 0 };
  char time[RD_S3_TIME_NBYTES];
  *out = (struct rd_s3_signed) { 0 };
  if (signing->credentials->access_key == NULL)
    return RADIO_OK;
  RD_TRY (check_inputs (signing, request));
  RD_TRY (rd_s3_time (signing->now_s, time));
  RD_TRY (add_lines (&made, signing, request, time));
  *out = made;
  made = (struct rd_s3_signed) { 0 };
  return RADIO_OK;
}

enum radio_status
rd_s3_add_headers (struct rd_http_headers *headers,
                   const struct rd_s3_header *added, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    RD_S3_SECRET_SCOPE struct rd_buffer line = { 0 };
    RD_TRY (rd_buffer_reserve (&line, strlen (added[i].name)
                                      + strlen (added[i].value) + 3));
    RD_TRY (rd_s3_append (&line, added[i].name));
    RD_TRY (rd_s3_append (&line, ": "));
    RD_TRY (rd_s3_append (&line, added[i].value));
    RD_TRY (rd_s3_append_end (&line));
    RD_TRY (rd_http_add_header (headers, (const char *) line.data));
  }
  return RADIO_OK;
}

enum radio_status
rd_s3_add_signature (struct rd_http_headers *headers,
                     const struct rd_s3_signing *signing,
                     const struct rd_s3_request *request)
{
  RD_S3_SIGNED_SCOPE struct rd_s3_signed made = { 0 };
  RD_TRY (rd_s3_sign (signing, request, &made));
  for (size_t i = 0; i < made.nlines; i++)
    RD_TRY (rd_http_add_header (headers, made.lines[i]));
  return RADIO_OK;
}
