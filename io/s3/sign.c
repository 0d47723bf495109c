/* SPDX-License-Identifier: MIT */
/* Signing a request: what may be signed, which headers are, and the lines
 * that are sent besides.  Credentials as values, too. */
#include <config.h>

#include <openssl/crypto.h>
#include <string.h>

#include "src/base/error.h"
#include "io/s3/canonical.h"

/* The request's own, and host and those of signing. */
#define NOWN 4

/*------------------------------------------------------------------------
 * Credentials
 *----------------------------------------------------------------------*/

void
rd_s3_wipe (char *text)
{
  if (text)
    OPENSSL_cleanse (text, strlen (text));
  rd_free (text);
}

void
rd_s3_credentials_free (struct rd_s3_credentials *credentials)
{
  if (credentials == NULL)
    return;
  rd_s3_wipe (credentials->access_key);
  rd_s3_wipe (credentials->secret_key);
  rd_s3_wipe (credentials->session_token);
  rd_free (credentials);
}

static bool
copy_text (const char *from, char **to)
{
  *to = from ? rd_strdup (from) : NULL;
  return from == NULL || *to != NULL;
}

enum radio_status
rd_s3_credentials_new (const char *access_key, const char *secret_key,
                       const char *session_token, int64_t expires_s,
                       struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *made =
    rd_calloc (1, sizeof *made);
  if (made == NULL || !copy_text (access_key, &made->access_key)
      || !copy_text (secret_key, &made->secret_key)
      || !copy_text (session_token, &made->session_token))
    return rd_fail_memory (sizeof *made);
  made->expires_s = expires_s;
  *credentials = RD_STEAL (made);
  return RADIO_OK;
}

enum radio_status
rd_s3_credentials_copy (const struct rd_s3_credentials *from,
                        struct rd_s3_credentials **credentials)
{
  return rd_s3_credentials_new (from->access_key, from->secret_key,
                                from->session_token, from->expires_s,
                                credentials);
}

/*------------------------------------------------------------------------
 * What can be signed
 *----------------------------------------------------------------------*/

/* Nothing that would end a line, or that a server may drop. */
static bool
is_line (const char *text)
{
  for (const unsigned char *p = (const unsigned char *) text; *p; p++)
    if ((*p < 0x20 && *p != '\t') || *p == 0x7f)
      return false;
  return true;
}

/* The same without blanks. */
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

static bool
equals (const char *name, const char *lower)
{
  for (; *name; name++, lower++) {
    char c = *name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name;
    if (c != *lower)
      return false;
  }
  return *lower == '\0';
}

static bool
is_own_header (const char *name)
{
  static const char *const names[] = {
    "host", "authorization", "x-amz-date", "x-amz-content-sha256",
    "x-amz-security-token",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (equals (name, names[i]))
      return true;
  return false;
}

static enum radio_status
check_headers (const struct rd_s3_header *headers, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (!is_name (headers[i].name) || is_own_header (headers[i].name))
      return rd_fail (RADIO_ERROR_ARGUMENT, "a request's header cannot be "
                      "called '%s'", headers[i].name ? headers[i].name : "");
    if (headers[i].value == NULL || !is_line (headers[i].value))
      return rd_fail (RADIO_ERROR_ARGUMENT, "the value of a request's header "
                      "'%s' has control characters", headers[i].name);
  }
  return RADIO_OK;
}

static enum radio_status
check_request (const struct rd_s3_request *request)
{
  if (!is_name (request->method))
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs a method");
  if (!is_word (request->host))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is no host to sign for",
                    request->host ? request->host : "");
  if (request->path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs a path");
  if (!is_word (request->payload_sha256))
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request needs the SHA-256 of "
                    "what is sent");
  return check_headers (request->headers, request->nheaders);
}

static enum radio_status
check_signing (const struct rd_s3_signing *signing)
{
  const struct rd_s3_credentials *credentials = signing->credentials;
  if (!is_word (signing->region) || strchr (signing->region, '/'))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is no region to sign for",
                    signing->region ? signing->region : "");
  if (!is_word (signing->service) || strchr (signing->service, '/'))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is no service to sign for",
                    signing->service ? signing->service : "");
  if (!is_word (credentials->access_key) || credentials->secret_key == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the access key and the secret key "
                    "must both be given, on one line");
  if (credentials->session_token && !is_word (credentials->session_token))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the session token must be one "
                    "line without blanks");
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The lines
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
    rd_s3_wipe (out->lines[i]);
  *out = (struct rd_s3_signed) { 0 };
}

static enum radio_status
append_text (struct rd_buffer *buffer, const char *text)
{
  return rd_buffer_append (buffer, text, strlen (text));
}

static enum radio_status
add_authorization (struct rd_s3_signed *out,
                   const struct rd_s3_signing *signing, const char *time,
                   const struct rd_buffer *names, const char *signature)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_TRY (append_text (&text, "AWS4-HMAC-SHA256 Credential="));
  RD_TRY (append_text (&text, signing->credentials->access_key));
  RD_TRY (append_text (&text, "/"));
  RD_TRY (rd_s3_append_scope (&text, signing, time));
  RD_TRY (append_text (&text, ",SignedHeaders="));
  RD_TRY (rd_buffer_append (&text, names->data, names->nbytes));
  RD_TRY (append_text (&text, ",Signature="));
  RD_TRY (rd_buffer_append (&text, signature, RD_S3_SHA256_NBYTES));
  return add_line (out, "authorization", (const char *) text.data);
}

/* All headers that are sent, sorted; *n of them. */
static enum radio_status
gather_headers (const struct rd_s3_signing *signing,
                const struct rd_s3_request *request, const char *time,
                struct rd_s3_header **gathered, size_t *n)
{
  size_t nown = 0;
  struct rd_s3_header *headers =
    rd_calloc (request->nheaders + NOWN, sizeof *headers);
  if (headers == NULL)
    return rd_fail_memory ((request->nheaders + NOWN) * sizeof *headers);
  headers[nown++] = (struct rd_s3_header) { "host", request->host };
  headers[nown++] = (struct rd_s3_header) { "x-amz-date", time };
  headers[nown++] = (struct rd_s3_header) { "x-amz-content-sha256",
                                            request->payload_sha256 };
  if (signing->credentials->session_token)
    headers[nown++] =
      (struct rd_s3_header) { "x-amz-security-token",
                              signing->credentials->session_token };
  if (request->nheaders)
    memcpy (headers + nown, request->headers,
            request->nheaders * sizeof *headers);
  *n = request->nheaders + nown;
  rd_s3_sort_headers (headers, n);
  *gathered = headers;
  return RADIO_OK;
}

static enum radio_status
add_lines (struct rd_s3_signed *out, const struct rd_s3_signing *signing,
           const struct rd_s3_request *request, const char *time)
{
  RD_BUFFER_SCOPE struct rd_buffer names = { 0 };
  RD_FREE struct rd_s3_header *headers = NULL;
  char sha256[RD_S3_SHA256_NBYTES], signature[RD_S3_SHA256_NBYTES];
  const char *token = signing->credentials->session_token;
  size_t n = 0;
  RD_TRY (gather_headers (signing, request, time, &headers, &n));
  RD_TRY (rd_s3_signed_names (headers, n, &names));
  RD_TRY (rd_s3_canonical_sha256 (request, headers, n, &names, sha256));
  RD_TRY (rd_s3_signature (signing, time, sha256, signature));
  RD_TRY (add_line (out, "x-amz-date", time));
  RD_TRY (add_line (out, "x-amz-content-sha256", request->payload_sha256));
  if (token)
    RD_TRY (add_line (out, "x-amz-security-token", token));
  return add_authorization (out, signing, time, &names, signature);
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
  RD_TRY (check_signing (signing));
  RD_TRY (check_request (request));
  RD_TRY (rd_s3_time (signing->now_s, time));
  RD_TRY (add_lines (&made, signing, request, time));
  *out = made;
  made = (struct rd_s3_signed) { 0 };
  return RADIO_OK;
}
