/* SPDX-License-Identifier: MIT */
/* Roles that are assumed: a question to AWS's STS, or to a gateway that does
 * the same, signed with other credentials or by the token of a file. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "io/percent.h"
#include "io/s3/ask.h"
#include "io/s3/file.h"
#include "io/s3/sources.h"
#include "io/s3/xml.h"

#define STS "assuming the role by STS"
#define NATTEMPTS 3
#define TIMEOUT_MS 10000
#define GLOBAL_REGION "us-east-1"

/*------------------------------------------------------------------------
 * The question
 *----------------------------------------------------------------------*/

/* A name of a region becomes part of a host's. */
static bool
is_region (const char *text)
{
  return text[strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static enum radio_status
make_url (const struct rd_s3_search *search, const char *region,
          struct rd_buffer *url)
{
  const char *endpoint = rd_s3_endpoint (search->settings, search->profiles,
                                         "sts");
  size_t n = endpoint ? strlen (endpoint) : 0;
  if (endpoint) {
    RD_TRY (rd_http_check_url (endpoint));
    RD_TRY (rd_s3_append (url, endpoint));
    if (endpoint[n - 1] != '/')
      RD_TRY (rd_s3_append (url, "/"));
    return rd_s3_append_end (url);
  }
  RD_TRY (rd_s3_append (url, "https://sts."));
  if (region && !is_region (region))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is not a region", region);
  if (region) {
    RD_TRY (rd_s3_append (url, region));
    RD_TRY (rd_s3_append (url, "."));
  }
  RD_TRY (rd_s3_append (url, region && strncmp (region, "cn-", 3) == 0
                             ? "amazonaws.com.cn/" : "amazonaws.com/"));
  return rd_s3_append_end (url);
}

static enum radio_status
add_field (struct rd_buffer *body, const char *name, const char *value)
{
  if (value == NULL)
    return RADIO_OK;
  char *encoded = rd_percent_encode (value, strlen (value), false);
  if (encoded == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_s3_append (body, "&");
  if (status == RADIO_OK)
    status = rd_s3_append (body, name);
  if (status == RADIO_OK)
    status = rd_s3_append (body, "=");
  if (status == RADIO_OK)
    status = rd_s3_append (body, encoded);
  rd_s3_wipe (encoded);
  return status;
}

/* The token, which may be long, and the rest, encoded; at once, so that no
 * copy is left where a buffer was that grew. */
static enum radio_status
make_body (const struct rd_s3_role *role, const char *token,
           struct rd_buffer *body)
{
  const char *name = role->session_name ? role->session_name : "radio";
  size_t nbytes = strlen (role->arn) + strlen (name)
                  + (role->external_id ? strlen (role->external_id) : 0)
                  + (role->duration_s ? strlen (role->duration_s) : 0)
                  + (token ? strlen (token) : 0);
  RD_TRY (rd_buffer_reserve (body, 3 * nbytes + 512));
  RD_TRY (rd_s3_append (body, token ? "Action=AssumeRoleWithWebIdentity"
                                    : "Action=AssumeRole"));
  RD_TRY (add_field (body, "Version", "2011-06-15"));
  RD_TRY (add_field (body, "RoleArn", role->arn));
  RD_TRY (add_field (body, "RoleSessionName", name));
  RD_TRY (add_field (body, "ExternalId", role->external_id));
  RD_TRY (add_field (body, "DurationSeconds", role->duration_s));
  RD_TRY (add_field (body, "WebIdentityToken", token));
  return rd_s3_append_end (body);
}

/*------------------------------------------------------------------------
 * The answer
 *----------------------------------------------------------------------*/

struct answer {
  struct rd_buffer access_key, secret_key, token;
  char code[64];
  int64_t expires_s;
};

static void
cleanup_answer (struct answer *answer)
{
  rd_s3_buffer_wipe (&answer->access_key);
  rd_s3_buffer_wipe (&answer->secret_key);
  rd_s3_buffer_wipe (&answer->token);
}

static enum radio_status
keep (struct rd_buffer *buffer, const char *text)
{
  buffer->nbytes = 0;
  return rd_buffer_append (buffer, text, strlen (text) + 1);
}

/* Codes are letters; what else is called one is not shown. */
static void
keep_code (struct answer *answer, const char *text)
{
  size_t n = strspn (text, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (text[n] || n >= sizeof answer->code)
    return;
  memcpy (answer->code, text, n + 1);
}

/* The element's name, where it is one of a role's credentials. */
static const char *
name_of (const char *path)
{
  static const char *const fronts[] = {
    "AssumeRoleResponse/AssumeRoleResult/Credentials/",
    "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/"
    "Credentials/",
  };
  for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++)
    if (strncmp (path, fronts[i], strlen (fronts[i])) == 0)
      return path + strlen (fronts[i]);
  return "";
}

static enum radio_status
take_element (const char *path, const char *text, void *data)
{
  struct answer *answer = data;
  const char *name = name_of (path);
  if (strcmp (path, "ErrorResponse/Error/Code") == 0
      || strcmp (path, "Error/Code") == 0)
    keep_code (answer, text);
  if (strcmp (name, "AccessKeyId") == 0)
    return keep (&answer->access_key, text);
  if (strcmp (name, "SecretAccessKey") == 0)
    return keep (&answer->secret_key, text);
  if (strcmp (name, "SessionToken") == 0)
    return keep (&answer->token, text);
  if (strcmp (name, "Expiration") == 0
      && !rd_s3_parse_time (text, &answer->expires_s))
    return rd_fail (RADIO_ERROR_FORMAT, STS ": 'Expiration' is not a time");
  return RADIO_OK;
}

static bool
is_empty (const struct rd_buffer *text)
{
  return text->nbytes <= 1;
}

static enum radio_status
take_answer (const struct rd_buffer *document, unsigned status,
             struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (cleanup_answer) struct answer answer = { 0 };
  enum radio_status read = rd_s3_xml_read (document, STS, take_element,
                                           &answer);
  if (status != 200)
    return rd_fail (RADIO_ERROR_PERMISSION, STS ": answered with status %u%s"
                    "%s", status, answer.code[0] ? ", " : "", answer.code);
  RD_TRY (read);
  if (is_empty (&answer.access_key) || is_empty (&answer.secret_key)
      || is_empty (&answer.token))
    return rd_fail (RADIO_ERROR_FORMAT, STS ": the answer holds no "
                    "credentials");
  return rd_s3_credentials_new ((const char *) answer.access_key.data,
                                (const char *) answer.secret_key.data,
                                (const char *) answer.token.data,
                                answer.expires_s, credentials);
}

/*------------------------------------------------------------------------
 * Both
 *----------------------------------------------------------------------*/

static enum radio_status
ask (const struct rd_s3_search *search, const struct rd_s3_role *role,
     const char *body, struct rd_buffer *answer, unsigned *status)
{
  RD_BUFFER_SCOPE struct rd_buffer url = { 0 };
  const char *region = rd_s3_region (search->settings, search->profiles);
  const struct rd_s3_header type = {
    "content-type", "application/x-www-form-urlencoded; charset=utf-8"
  };
  RD_TRY (make_url (search, region, &url));
  const struct rd_s3_signing signing = {
    .credentials = role->source, .region = region ? region : GLOBAL_REGION,
    .service = "sts", .now_s = search->now_s,
  };
  const struct rd_s3_question question = {
    .what = STS, .url = (const char *) url.data, .method = RD_HTTP_POST,
    .headers = &type, .nheaders = 1, .body = body,
    .signing = role->token_file ? NULL : &signing, .nattempts = NATTEMPTS,
    .timeout_ms = TIMEOUT_MS, .ca_file = rd_s3_ca_file (search->settings),
  };
  return rd_s3_ask (&question, answer, status);
}

/* The token's file is read each time: what writes it renews it. */
enum radio_status
rd_s3_assume_role (const struct rd_s3_search *search,
                   const struct rd_s3_role *role,
                   struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer token = { 0 }, body = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer answer = { 0 };
  unsigned status;
  if (role->token_file)
    RD_TRY (rd_s3_file_read_token (role->token_file, &token));
  RD_TRY (make_body (role, role->token_file ? (const char *) token.data
                                            : NULL, &body));
  RD_TRY (ask (search, role, (const char *) body.data, &answer, &status));
  return take_answer (&answer, status, credentials);
}
